"""Scores a file of predictions: the way from the file to a run with values and intervals."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import shipped_revision
from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.core.packages import package_versions
from figlang_tasks.core.task_files import files
from figlang_tasks.results.explanation_scores import ScorerChoice, score_explanations, scorer_for
from figlang_tasks.results.predictions.judged import judge_predictions
from figlang_tasks.results.predictions.matching import Matching, MissingRows, match
from figlang_tasks.results.predictions.prediction import PredictionFile
from figlang_tasks.results.predictions.saved_rows import check_saved_rows
from figlang_tasks.results.results_file import partial_reason
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.results.writing import harness_row
from figlang_tasks.scoring import Estimates, evaluate, to_json
from figlang_tasks.scoring.explanations import OFF, signature_without_scores
from figlang_tasks.scoring.repeats import evaluate_repeats
from figlang_tasks.scoring.task_evaluation import metadata_of_records
from figlang_tasks.scoring.task_file import TaskFile

_MOST_SECONDS_OF_SEARCH = 8
"""How long a message waits for the tasks that may be meant: a large dataset takes a minute."""

MODEL_CLASS = "predictions"
"""Stands in results for the class of a model, which a file does not tell."""


@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """What a user decides about the scoring of a file.

    Attributes:
        model: the name of the model; None takes that in the file, else the file's own name.
        missing_rows: what becomes of rows without a prediction.
        in_order: whether predictions are in the order of the task's rows.
        scorer: the scorer of explanations.
    """

    model: str | None = None
    missing_rows: MissingRows = "refuse"
    in_order: bool = False
    scorer: ScorerChoice = field(default_factory=ScorerChoice)


@dataclass(frozen=True)
class ScoredRun:
    """A run that was made from predictions.

    Attributes:
        run: the run, in memory.
        remarks: what a user has to know about it, a sentence each: how rows were found, which of
            them have no prediction, why explanations have no scores.
    """

    run: Run
    remarks: Sequence[str]


def score_predictions(
    file: PredictionFile, task_file: TaskFile, options: ScoringOptions
) -> ScoredRun:
    """Judge predictions as a run would, and compute all measures with their intervals.

    Args:
        file: the predictions.
        task_file: the task that they answer.
        options: what the user decides.

    Raises:
        DataError: the data of the task is missing or has faults.
        RunError: the predictions do not fit the task.
        WeightsError: the weights of a scorer that the user named are not available.
    """
    matching = match(
        file,
        task_file.documents,
        task_name=task_file.name,
        missing_rows=options.missing_rows,
        in_order=options.in_order,
        other_tasks=lambda ids: tasks_with_ids(ids, but=task_file.name),
    )
    remarks = [f"rows were found by {matching.key}"]
    if matching.answers_per_row > 1:
        remarks.append(f"each row has {matching.answers_per_row} answers, which count as repeats")
    remarks += check_saved_rows(file, matching, task_file)
    samples = judge_predictions(file, matching, task_file)
    if matching.missing:
        consequence = "count as wrong" if options.missing_rows == "wrong" else "are left out"
        remarks.append(
            f"{matching.missing:,} of {len(task_file.documents):,} rows have no prediction, and"
            f" {consequence}"
        )

    task = _task_run(file, task_file, samples)
    metadata = _metadata(file, task_file, matching, options)
    if task.has_explanations:
        scorer, reason = scorer_for(task, options.scorer)
        if scorer is None:
            remarks.append(reason)
            assert task.kind.scheme is not None, "a task with explanations has one"
            metadata["explanation_scorer"] = signature_without_scores(task.kind.scheme)
        else:
            task, scorer_metadata = score_explanations(task, scorer)
            metadata.update(scorer_metadata)

    estimates = evaluate(task.records, task.kind.measures, in_run=True)
    repeats = evaluate_repeats(task.records, task.kind.measures, estimates)
    if repeats:
        metadata["repeats"] = repeats
    metadata.update(metadata_of_records(task.records))
    metadata["measures"] = to_json(estimates)
    return ScoredRun(_run(file, task_file, task, estimates, metadata, options), remarks)


# --- the run ---


def _task_run(
    file: PredictionFile, task_file: TaskFile, samples: Sequence[Mapping[str, Any]]
) -> TaskRun:
    """The task of a run without values."""
    has_labels_alone = file.content == "labels" and "explanation" not in file.columns
    asks_for_labels_alone = task_file.options.get("scorer") in (OFF, False)
    if task_file.kind.scheme is not None and (has_labels_alone or asks_for_labels_alone):
        for sample in samples:
            sample["sample"]["asks_for_explanation"] = False
    return TaskRun(
        task=task_file.name,
        path=Path(f"{_date()}_samples_{task_file.name}.jsonl"),
        saved_sha256=None,
        kind=task_file.kind,
        request=task_file.request,
        data=task_file.data_id,
        samples=tuple(samples),
        reported={},
        config={"lmms_eval_specific_kwargs": task_file.options},
        scorer=None,
        signature=None,
    )


def _run(
    file: PredictionFile,
    task_file: TaskFile,
    task: TaskRun,
    estimates: Estimates,
    metadata: Mapping[str, Any],
    options: ScoringOptions,
) -> Run:
    """The run of one task, with its values in the form of the harness."""
    name = options.model or file.model or file.path.stem
    config = {
        "task": task.task,
        "dataset_name": str(task.request),
        "generation_kwargs": dict(file.settings),
        "lmms_eval_specific_kwargs": task_file.options,
        "metadata": dict(metadata),
    }
    answered_documents = {sample["doc_id"] for sample in task.samples}
    counts = {"original": len(task_file.documents), "effective": len(answered_documents)}
    table = harness_row(task.measures, estimates)
    results = {
        "results": {task.task: {"alias": task.task, **table}},
        "configs": {task.task: config},
        "versions": {task.task: metadata["version"]},
        "n-samples": {task.task: counts},
        "config": {"model": MODEL_CLASS, "timezone": "UTC"},
        "date": _date(),
        "model_source": MODEL_CLASS,
        "model_name": name,
    }
    finished_task = replace(
        task,
        reported=estimates,
        config=config,
        partial=partial_reason(results, task.task),
        table=table,
    )
    return Run(name, file.path, {task.task: finished_task}, results)


def _metadata(
    file: PredictionFile, task_file: TaskFile, matching: Matching, options: ScoringOptions
) -> dict[str, Any]:
    """What results say of the task beside its values.

    They do not have the hash of the prompts: a file does not tell which prompt its model got.
    """
    metadata: dict[str, Any] = dict(
        task_file.benchmark.metadata(source_of(task_file.request.dataset))
    )
    del metadata["prompt_hash"]
    # Data that ships with this package has a revision of its own.
    is_shipped = source_of(task_file.request.dataset).folder is not None
    if is_shipped:
        metadata["data_revision"] = shipped_revision([task_file.data_id])
    metadata["data"] = str(task_file.data_id)
    metadata["versions"] = package_versions(["figlang-tasks"])
    predictions: dict[str, Any] = {
        "file": file.path.name,
        "form": file.form,
        "content": file.content,
        "columns": dict(file.columns),
        "rows_found_by": matching.key,
    }
    if file.path.is_file():
        predictions["sha256"] = hashlib.sha256(file.path.read_bytes()).hexdigest()
    if matching.missing and options.missing_rows == "wrong":
        predictions["missing_rows_count_as_wrong"] = matching.missing
    metadata["predictions"] = predictions
    return metadata


def _date() -> str:
    """The time as the harness writes it into names of files, here in UTC: ``20261129_101610``."""
    return f"{datetime.now(timezone.utc):%Y%m%d_%H%M%S}"


# --- which other task has these rows ---


def tasks_with_ids(ids: Sequence[str], but: str) -> list[str]:
    """The names of our tasks that have rows with all these ids, of data on this machine.

    After `_MOST_SECONDS_OF_SEARCH` no further data is loaded.

    Args:
        ids: those in a file.
        but: the name of a task that does not have them.
    """
    wanted_ids = set(ids)
    fitting_tasks: list[str] = []
    rows_by_request: dict[str, frozenset[str]] = {}
    search_start = time.monotonic()
    with downloading_nothing():
        for name in files("lmms_eval"):
            try:
                task_file = TaskFile.read(name)
                request = str(task_file.request)
                if request not in rows_by_request:
                    if time.monotonic() - search_start > _MOST_SECONDS_OF_SEARCH:
                        continue
                    rows_by_request[request] = frozenset(
                        document["id"] for document in task_file.documents
                    )
            except Exception as error:  # a group, or data that is not here
                logger.debug(f"figlang_tasks: {name}: {error}")
                continue
            if name != but and wanted_ids <= rows_by_request[request]:
                fitting_tasks.append(name)
    return fitting_tasks
