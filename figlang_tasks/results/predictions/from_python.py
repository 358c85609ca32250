"""`score`: predictions that a script holds, scored from Python."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from loguru import logger

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics.explanation.weights import WeightsError
from figlang_tasks.results.explanation_scores import ScorerChoice
from figlang_tasks.results.predictions.forms import read_predictions
from figlang_tasks.results.predictions.matching import MissingRows
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile
from figlang_tasks.results.predictions.scored_run import ScoringOptions, score_predictions
from figlang_tasks.results.predictions.tables import predictions_of_frame, predictions_of_mapping
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.task_file import TaskFile

if TYPE_CHECKING:
    import pandas as pd


def score(
    predictions: str | os.PathLike[str] | pd.DataFrame | Mapping[str, str | None],
    task: str,
    *,
    model: str | None = None,
    scorer: str | None = None,
    missing_rows: MissingRows = "refuse",
    in_order: bool = False,
    id: str | None = None,
    output: str | None = None,
    label: str | None = None,
    explanation: str | None = None,
) -> Run:
    """Score outputs that you have, as a run of the harness would (``figlang score``).

    Args:
        predictions: a path of a file of any form; a DataFrame with a row for each prediction; or
            the output by the id of the row.
        task: the name of the task that they answer, or the path of a task file.
        model: the name of the model; default that of the file.
        scorer: of explanations; default the paper's, if its weights are on this machine; ``off``
            for none.
        missing_rows: what becomes of rows without a prediction: ``refuse`` raises an error,
            ``wrong`` counts them as wrong, ``partial`` leaves them out and marks the run.
        in_order: whether there is one prediction for each row, in the order of the rows.
        id, output, label, explanation: the columns that hold these; default the usual names.

    Returns:
        The run: `Run.table` has its numbers, `Run.estimates` the same by task, metric and scope,
        `Run.save` writes it for the commands.

    Raises:
        DataError: the data of the task is missing.
        FigLangError: there is no such task, or predictions do not fit its rows.

    Examples:
        >>> import figlang_tasks
        >>> answers = {f"idiom-detection-task-{row}": "A" for row in range(12)}
        >>> task = "figlang_mini_irfl_detect_idiom"
        >>> run = figlang_tasks.score(answers, task, model="always A")
        >>> table = run.table()
        >>> table[(table.metric == "acc") & (table.scope == "all")][["run", "value", "n"]]
                run  value   n
        0  always A    0.5  12
    """
    task_file = TaskFile.read(task)
    names = ColumnNames(id=id, output=output, label=label, explanation=explanation)
    options = ScoringOptions(
        model=model, missing_rows=missing_rows, in_order=in_order, scorer=ScorerChoice(scorer)
    )
    file = _read(predictions, names, task_file.name)
    try:
        scored = score_predictions(file, task_file, options)
    except WeightsError as error:
        raise FigLangError(str(error)) from error
    for remark in scored.remarks:
        logger.info(f"figlang_tasks: {remark}")
    return scored.run


def _read(
    predictions: str | os.PathLike[str] | pd.DataFrame | Mapping[str, str | None],
    names: ColumnNames,
    task_name: str,
) -> PredictionFile:
    """The predictions in a file, a DataFrame or a mapping (see `score`)."""
    if isinstance(predictions, str | os.PathLike):
        return read_predictions(Path(predictions), names, task_name)
    if isinstance(predictions, Mapping):
        return predictions_of_mapping(predictions, names)
    return predictions_of_frame(predictions, names)
