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


class SampleIds(NamedTuple):
    """What ties samples to their evaluation: its id, and that of the model (DEVELOPER/MODEL)."""

    evaluation_id: str
    model_id: str


def sample_rows(task: TaskRun, ids: SampleIds) -> list[JsonObject]:
    """A line of the samples file for each sample that has a score, in the order of the samples.

    There is none if no metric of the task scores single samples.
    """
    measure = _sample_measure(task)
    if measure is None:
        return []
    rows = []
    for line in task.samples:
        record = line["sample"]
        score = measure.number_of(record)
        if score is not None:  # a metric of the positives, say, does not count a negative
            rows.append(_sample_row(task, line, measure.name, score, ids))
    return rows


def _sample_measure(task: TaskRun) -> Measure | None:
    """The first metric that scores single samples by how good they are; None if there is none.

    It must have a value for at least one sample of the task.
    """
    for measure in task.measures.all:
        if measure.is_diagnostic:
            continue
        has_any_value = any(measure.number_of(record) is not None for record in task.records)
        if has_any_value:
            return measure
    return None


def _sample_row(
    task: TaskRun, line: Mapping[str, Any], metric: str, score: float, ids: SampleIds
) -> JsonObject:
    """A sample for Every Eval Ever: prompt, outputs, what was read from them, and the score.

    Args:
        line: the sample in the run's own samples file: a line of it, with the record under
            ``sample``.
        metric: the name of the metric that the score is of.
        score: the value of `metric` for this sample alone.
        ids: of the evaluation and of the model.
    """
    record = line["sample"]
    prompt = utf8_text(str(line.get("input", "")))
    reference = utf8_text(str(line.get("target", "")))
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": ids.evaluation_id,
        "model_id": ids.model_id,
        "evaluation_name": task.task,
        "evaluation_result_id": f"{task.task}/{metric}",
        "sample_id": utf8_text(record["id"]),
        "sample_hash": hashlib.sha256((prompt + reference).encode()).hexdigest(),
        "interaction_type": "single_turn",
        "input": {"raw": prompt, "reference": [reference]},
        "output": {"raw": list(map(utf8_text, outputs(line)))},
        "answer_attribution": [_attribution(record, record[task.kind.answer_field])],
        "evaluation": {"score": float(score), "is_correct": score == 1},
        "metadata": details(
            status=record.get("status"),
            report_group=record.get("report_group"),
            type=record.get("type"),
        ),
    }


def _attribution(record: Record, answer: object) -> JsonObject:
    """``answer_attribution``: the answer that was read from an output, and the rule that read it.

    An answer that is not a text is written as JSON.
    """
    answer_text = answer if isinstance(answer, str) else json.dumps(answer)
    # Where no rule read an answer, the status says what happened instead: `no_scores`.
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
