"""Which rows of FLUTE a model may be fine-tuned on (`FineTuning`): those that are not held out.

They share no sentence with a row of the evaluation.
"""

from __future__ import annotations

from figlang_tasks.core.optional_modules import FineTuning

FINETUNING = FineTuning(splits={"train": {"part": "rest"}}, texts=("premise", "hypothesis"))
