"""Predictions of models in files of any form, and which rows of a task they answer.

Each form has a reader of its own, which returns a `PredictionFile`; `forms` chooses the reader,
`matching` finds the row of each prediction, and `judged` judges them as a run would.
"""
