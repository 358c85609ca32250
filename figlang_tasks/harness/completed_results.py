"""Completes what the harness's ``evaluate`` returns with what our evaluation of a task says.

lmms-eval 0.7.3 has no place for standard errors and intervals of custom metrics, for the scopes of
a benchmark, or for what else belongs to a value. Its results are dictionaries, so they are
completed in place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from loguru import logger

from figlang_tasks.core import notes, redaction
from figlang_tasks.core.packages import package_versions
from figlang_tasks.harness.harness_types import Results, Sample
from figlang_tasks.harness.identity import PACKAGES
from figlang_tasks.harness.judgement import JudgedTask
from figlang_tasks.scoring import OVERALL, to_json
from figlang_tasks.scoring.judging import SAMPLE
from figlang_tasks.scoring.task_evaluation import JudgedAnswer, TaskEvaluation

_PACKAGES = (*PACKAGES, "torch")
"""The packages that a value depends on."""

_COLUMNS = ("", "_stderr", "_stderr_clt", "_stderr_clustered")
"""What lmms-eval 0.7.3 writes behind the name of a metric: its value, and three standard errors."""


def complete_results(
    results: Results, judged_task: JudgedTask, padded_documents: Collection[int]
) -> None:
    """Complete the results of one task, in place.

    Its row of the table gets values and standard errors, its metadata all measures in all scopes,
    signatures and versions, and its samples their records.

    Args:
        results: what the harness's ``evaluate`` has returned, of all tasks.
        judged_task: the task, with its evaluation.
        padded_documents: of which a picture was padded, because the model's processor refuses its
            shape.
    """
    name = judged_task.name
    samples = results.get("samples", {}).get(name, [])
    metadata = _new_metadata(judged_task, samples, padded_documents)
    _complete_row(results["results"].get(name, {}), judged_task)

    config = results["configs"][name]
    metadata_of_file = config.get("metadata") or {}
    if isinstance(metadata_of_file, Mapping):
        config["metadata"] = {**metadata_of_file, **metadata}
    else:  # a user's list, or text
        config["metadata"] = [*metadata_of_file, metadata]

    # lmms-eval 0.7.3 puts the samples of several processes one process after the other.
    samples.sort(key=lambda sample: sample["doc_id"])
    samples_of_answers: list[Sample] = []
    for sample in samples:
        samples_of_answers += _samples_of_answers(sample, judged_task.metrics)
    samples[:] = samples_of_answers
    for sample in samples:
        _complete_sample(sample, judged_task)


# --- metadata ---


def _new_metadata(
    judged_task: JudgedTask, samples: Sequence[Sample], padded_documents: Collection[int]
) -> dict[str, object]:
    """What is added to the metadata of a task: versions, measures, and what went wrong."""
    evaluation = judged_task.evaluation
    metadata: dict[str, object] = {"versions": package_versions(_PACKAGES)}
    metadata.update(_count_without_answer(judged_task.name, evaluation, samples))
    if padded_documents:
        metadata["padded_pictures"] = sorted(padded_documents)
    if evaluation is not None:
        metadata.update(evaluation.metadata())
        if evaluation.estimates:
            metadata["measures"] = to_json(evaluation.estimates)
        if evaluation.repeats:
            metadata["repeats"] = evaluation.repeats
    elif judged_task.metrics:
        _log_missing_records(judged_task)
    return metadata


def _log_missing_records(judged_task: JudgedTask) -> None:
    """Log that our metrics have no value, because the task makes no records."""
    name = judged_task.name
    logger.error(
        f"figlang_tasks: {name}: its process_results returns no record under `sample`,"
        f" of which {', '.join(judged_task.metrics)} are made: let it return TASK.values(doc,"
        " record) of its figlang_tasks.scoring.Task, or give the task file a metric_list"
        " of its own"
    )
    notes.note_failure(f"{name}: no records, so that its metrics are missing, see the log")


def _count_without_answer(
    name: str, evaluation: TaskEvaluation | None, samples: Sequence[Sample]
) -> dict[str, int]:
    """Count the requests without an answer, and log them: ``{"refused": 2, "unanswered": 1}``.

    What there is none of is left out. A run with unanswered requests has failed, whatever its
    numbers are: that is also noted for the end of the command.

    Args:
        name: of the task.
        evaluation: None if there are no records; then the samples are counted.
        samples: those of the task.
    """
    from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded

    if is_budget_exceeded():
        notes.note_failure("--max_tokens is spent: what was left got no answer and counts as wrong")
    rows_and_outputs = _rows_and_outputs(evaluation, samples)

    counts: dict[str, int] = {}
    refused = sum(notes.is_refusal(output) for _, output in rows_and_outputs)
    if refused:
        logger.warning(
            f"figlang_tasks: {name}: {refused} answers were refused by the server and count as"
            " wrong"
        )
        counts["refused"] = refused

    unanswered = [(row, output) for row, output in rows_and_outputs if notes.is_no_answer(output)]
    if unanswered:
        row, output = unanswered[0]
        logger.error(
            f"figlang_tasks: {name}: {len(unanswered)} requests got no answer, that of row {row}"
            f" for example: {output:.400}. They count as wrong answers. Repair the cause and type"
            " the same command again; with --use_cache FOLDER they alone are asked again"
        )
        notes.note_failure(f"{name}: requests got no answer and count as wrong, see the log")
        counts["unanswered"] = len(unanswered)
    return counts


def _rows_and_outputs(
    evaluation: TaskEvaluation | None, samples: Sequence[Sample]
) -> list[tuple[object, object]]:
    """Pairs of row and output: the row is its id, or without an evaluation its number."""
    if evaluation is not None:
        ids = [record["id"] for record in evaluation.records]
        return list(zip(ids, evaluation.outputs, strict=True))
    rows_and_outputs: list[tuple[object, object]] = []
    for sample in samples:
        for output in sample["filtered_resps"]:
            rows_and_outputs.append((sample["doc_id"], output))
    return rows_and_outputs


# --- the row of the table ---


def _complete_row(row: dict[str, object], judged_task: JudgedTask) -> None:
    """Give a task's row of the table the values and standard errors of our metrics, in place.

    What has no value is left out, and so is what is no metric of the task file. Keys of the row
    are e.g. ``acc,none`` and ``acc_stderr,none``: metric and column, then the filter.
    """
    metric_by_name: dict[str, str] = {}  # by what stands before the comma
    for metric in judged_task.all_metrics:
        for column in _COLUMNS:
            metric_by_name[f"{metric}{column}"] = metric
    estimates = judged_task.evaluation.estimates if judged_task.evaluation else {}

    for key in list(row):  # keys are deleted and added below
        if "," not in key:
            continue
        name, _, filter_name = key.rpartition(",")
        if name not in metric_by_name:
            del row[key]
            continue
        metric = metric_by_name[name]
        if metric not in judged_task.metrics:  # a metric of the harness, or of the user's
            continue
        estimate = estimates.get(metric, {}).get(OVERALL)
        if estimate is None:
            del row[key]
        elif name == metric:
            stderr = "N/A" if estimate.stderr is None else estimate.stderr
            row[key] = float(estimate.value)
            row[f"{metric}_stderr,{filter_name}"] = stderr


# --- samples ---


def _samples_of_answers(sample: Sample, metrics: Sequence[str]) -> list[Sample]:
    """A sample for each of the several answers to a document; the sample itself if it has one.

    Args:
        sample: that of a document; with ``--repeats`` it has lists.
        metrics: those that have a list with an entry for each answer.
    """
    judged_answers = sample.get(SAMPLE)
    if not isinstance(judged_answers, list):
        return [sample]
    texts = sample["filtered_resps"][0]
    samples: list[Sample] = []
    for index in range(len(judged_answers)):
        text = texts[index] if index < len(texts) else ""  # --max_tokens may be spent
        sample_of_answer = {**sample, "resps": [[text]], "filtered_resps": [text]}
        for name in (SAMPLE, *metrics):
            if name in sample:
                sample_of_answer[name] = sample[name][index]
        if index > 0:  # lmms-eval 0.7.3 keeps the token counts of the first answer alone.
            sample_of_answer["token_counts"] = [None]
        samples.append(sample_of_answer)
    return samples


def _complete_sample(sample: Sample, judged_task: JudgedTask) -> None:
    """Put the record into a sample, with its explanation scores, and hide keys of servers in it."""
    judged_answer = sample.get(SAMPLE)
    if isinstance(judged_answer, JudgedAnswer):
        record = judged_answer.record
        sample[SAMPLE] = record
        evaluation = judged_task.evaluation
        if evaluation is not None and evaluation.explanation_scores:
            evaluation.explanation_scores.add_to([record])  # writes the scores into the record
        if judged_task.task_kind is not None:
            for measure in judged_task.task_kind.measures.in_table:
                if measure.omit_zero:
                    sample.pop(measure.name, None)
    # A server may repeat the key that it was sent. The harness does not save the document.
    fields = {field: value for field, value in sample.items() if field != "doc"}
    sample.update(redaction.without_secrets(fields))
