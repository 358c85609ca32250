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

_SUFFIXES = ("", "_stderr", "_stderr_clt", "_stderr_clustered")
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
        samples_of_answers += _samples_of_answers(sample, judged_task.our_metrics)
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
    elif judged_task.our_metrics:  # they need records, and there are none
        _log_missing_records(judged_task)
    return metadata


def _log_missing_records(judged_task: JudgedTask) -> None:
    """Log that our metrics have no value, because the task makes no records."""
    name = judged_task.name
    logger.error(
        f"figlang_tasks: {name}: its process_results returns no record under `sample`,"
        f" of which {', '.join(judged_task.our_metrics)} are made: let it return TASK.values(doc,"
        " record) of its figlang_tasks.scoring.Task, or give the task file a metric_list"
        " of its own"
    )
    notes.note_failure(f"{name}: no records, so that its metrics are missing, see the log")


def _count_without_answer(
    name: str, evaluation: TaskEvaluation | None, samples: Sequence[Sample]
) -> dict[str, int]:
    """Count the requests without an answer, and log them: ``{"refused": 2, "unanswered": 1}``.

    A count of 0 is left out. A refused request was answered by the server. A run with unanswered
    requests, or whose ``--max_tokens`` is spent, has failed, whatever its numbers are: that is also
    noted for the end of the command.

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
    """Pairs of a row and the model's output: ``("row_7", "B")``, or ``(7, "B")`` from samples.

    Without an evaluation there are no ids, so that a row has its number among the documents.
    """
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
    """Set values and standard errors of our metrics in a task's row of the table, in place.

    Those of our metrics that have no value are deleted, and so is what is no metric of the task
    file. Metrics of the harness, or of the user's, stay as they are.

    Args:
        row: is changed. A key such as ``acc_stderr,none`` has the metric and a suffix of
            `_SUFFIXES`, then the filter. Keys without a comma, such as ``alias``, stay.
        judged_task: the task, with its evaluation.
    """
    metric_by_column: dict[str, str] = {}  # {"acc": "acc", "acc_stderr": "acc", ...}
    for metric in judged_task.metrics_of_file:
        for suffix in _SUFFIXES:
            metric_by_column[f"{metric}{suffix}"] = metric
    estimates = judged_task.evaluation.estimates if judged_task.evaluation else {}

    for key in list(row):  # a copy, because keys are deleted and added below
        column, comma, filter_name = key.rpartition(",")
        if not comma:
            continue
        if column not in metric_by_column:  # such as "sample", made of the judged answers
            del row[key]
            continue
        metric = metric_by_column[column]
        if metric not in judged_task.our_metrics:
            continue
        estimate = estimates.get(metric, {}).get(OVERALL)
        if estimate is None:
            del row[key]
        elif column == metric:  # not one of its standard errors, which are set here or stay
            stderr = "N/A" if estimate.stderr is None else estimate.stderr
            row[key] = float(estimate.value)
            row[f"{metric}_stderr,{filter_name}"] = stderr


# --- samples ---


def _samples_of_answers(sample: Sample, metrics: Sequence[str]) -> list[Sample]:
    """Divide the sample of a document into one for each answer; with one answer, it stays.

    Args:
        sample: that of a document; with ``--repeats`` it has lists with an entry for each answer,
            under `SAMPLE`, under the names of our metrics, and as its only filtered response.
        metrics: the names of our metrics.
    """
    judged_answers = sample.get(SAMPLE)
    if not isinstance(judged_answers, list):
        return [sample]
    texts = sample["filtered_resps"][0]  # the texts of all answers
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
    """Complete a sample in place: put its record in, and take out what is not to be saved.

    The record, with its explanation scores, takes the place of the `JudgedAnswer`. Taken out are
    measures that are left out of tables when they are 0 (`omit_zero`), and secrets.
    """
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
