"""The samples of a task in the form of Every Eval Ever; see `every_eval_ever`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from figlang_tasks.core.text import without_paths
from figlang_tasks.results.task_run import TaskRun, outputs
from figlang_tasks.scoring import Measure, Record
from figlang_tasks.submit import utf8_text

SCHEMA_VERSION = "0.3.0"

JsonObject: TypeAlias = dict[str, Any]
"""An object of the schema, to be written as JSON."""


_UNKNOWN = "unknown: the score says only whether there is an answer"


class SampleIds(NamedTuple):
    """What ties samples to their evaluation: its id, and that of the model (DEVELOPER/MODEL)."""

    evaluation_id: str
    model_id: str


def sample_rows(task: TaskRun, ids: SampleIds) -> list[JsonObject]:
    """A row of the samples file for each sample that has a score, in their order.

    The scores of all samples are of one metric. If no metric says of a single answer how
    good it is, it is a diagnostic one: whether there is an answer (``parse_rate``).
    """
    measure = _sample_measure(task, diagnostic=False)
    if measure is None:
        measure = _sample_measure(task, diagnostic=True)
    if measure is None:
        return []
    rows = []
    for sample in task.samples:
        score = measure.number_of(sample["sample"])  # the record stands under this key
        if score is not None:  # a metric of the positives, say, does not count a negative
            rows.append(_sample_row(task, sample, measure, score, ids))
    return rows


def _sample_measure(task: TaskRun, diagnostic: bool) -> Measure | None:
    """The first metric with a value that scores single samples; None without one.

    Args:
        diagnostic: whether to look among diagnostic metrics, or among all others.
    """
    for measure in task.measures.all:
        if measure.is_diagnostic != diagnostic or measure.name not in task.estimates:
            continue
        for record in task.records:
            if measure.number_of(record) is not None:
                return measure
    return None


def _sample_row(
    task: TaskRun,
    sample: Mapping[str, Any],
    measure: Measure,
    score: float,
    ids: SampleIds,
) -> JsonObject:
    """A sample's prompt and outputs, what was read from them, and the score.

    Args:
        sample: a line of the run's own samples file, with the record under ``sample``.
        measure: the metric that the score is of.
        score: its value for this sample alone.
        ids: of the evaluation and of the model.
    """
    record = sample["sample"]
    prompt = utf8_text(str(sample.get("input", "")))
    reference = utf8_text(str(sample.get("target", "")))
    # The schema demands a verdict. An answer of unknown worth is not called right.
    is_correct = score == 1 and not measure.is_diagnostic
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": ids.evaluation_id,
        "model_id": ids.model_id,
        "evaluation_name": task.task,
        "evaluation_result_id": f"{task.task}/{measure.name}",
        "sample_id": utf8_text(record["id"]),
        "sample_hash": hashlib.sha256((prompt + reference).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": prompt, "reference": [reference]},
        "output": {"raw": list(map(utf8_text, outputs(sample)))},
        "answer_attribution": [_attribution(record, record[task.kind.answer_field])],
        "evaluation": {"score": float(score), "is_correct": is_correct},
        "metadata": details(
            is_correct=_UNKNOWN if measure.is_diagnostic else None,
            status=record.get("status"),
            report_group=record.get("report_group"),
            type=record.get("type"),
        ),
    }


def _attribution(record: Record, answer: object) -> JsonObject:
    """``answer_attribution``: the answer that was read from an output, and how it was read.

    Args:
        record: the record of the sample.
        answer: what was read, a text or a number, say; all but texts is written as JSON, so that
            None, which stands for no answer, becomes ``null``.
    """
    answer_text = answer if isinstance(answer, str) else json.dumps(answer)
    # A record names the rule that read the output, but with the status `no_scores` none read it. It
    # has neither if its task takes the whole output as the answer (`metaclue_vqa`).
    method = record.get("rule") or record.get("status") or "custom"
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": utf8_text(answer_text),
        "extraction_method": f"figlang_tasks: {method}",
        "is_terminal": True,
    }


def details(**facts: object) -> dict[str, str]:
    """Facts as ``additional_details``: texts without paths of this machine; None is left out."""
    texts = {}
    for name, fact in facts.items():
        if fact is not None:
            texts[name] = utf8_text(without_paths(str(fact)))
    return texts
