"""Runs in the form of Every Eval Ever, schema 0.3.0: an aggregate JSON file and a JSON lines file
of samples.

The form is that of https://github.com/evaleval/every_eval_ever (package 0.3.0), whose validator
tests ask. Files lie as the datastore wants them: ``data/COLLECTION/DEVELOPER/MODEL/UUID.json`` and
``UUID_samples.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import figlang_tasks
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import without_paths
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run, TaskRun, outputs
from figlang_tasks.scoring import Estimate, Measure
from figlang_tasks.submit import SubmissionError, all_rows, brief, plain, released, values

VERSION = "0.3.0"
DATASTORE = "https://huggingface.co/datasets/evaleval/EEE_datastore"
CONFIDENCE = 0.95

_COMPONENT = re.compile(r"[\w-](?:[\w.-]*[\w-])?")
_ARGUMENTS = {
    "max_new_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
}


def write(
    found: Sequence[Run],
    folder: Path,
    organization: str,
    relationship: str,
    model: str | None = None,
    samples: bool = True,
) -> list[Path]:
    """Write two files for each run and dataset; return their paths.

    The same samples get the same file names again. `organization` evaluated, `relationship` is that
    to the model's developers, `model` is DEVELOPER/MODEL where the run's arguments do not name it.
    """
    source = {
        "source_name": "figlang_tasks",
        "source_type": "evaluation_run",
        "source_organization_name": organization,
        "evaluator_relationship": relationship,
    }
    made: dict[str, bytes] = {}
    for run in found:
        of_dataset: dict[str, list[TaskRun]] = {}
        for task in all_rows(run).tasks.values():
            of_dataset.setdefault(task.data.dataset, []).append(task)
        for tasks in of_dataset.values():
            made |= _files(run, tasks, _model(run, model), source, samples)
    for name, content in made.items():
        write_whole(folder / name, content)
    return [folder / name for name in made]


def _files(
    run: Run, tasks: Sequence[TaskRun], model: str, source: Mapping[str, str], samples: bool
) -> dict[str, bytes]:
    """Content of the two files for tasks of one dataset, by path below the folder."""
    collection = tasks[0].data.dataset.lower()
    digest = hashlib.sha256(
        f"{collection}/{model}/{'/'.join(task.sha256 for task in tasks)}".encode()
    ).digest()
    stem = f"data/{collection}/{model}/{uuid.UUID(bytes=digest[:16], version=4)}"
    now = f"{time.time():.3f}"
    log_id = f"{collection}/{model}/{now}"
    rows = [row for task in tasks for row in _rows(task, log_id, model)] if samples else []
    lines = b"".join(_json(row) + b"\n" for row in rows)
    aggregate: dict[str, Any] = {
        "schema_version": VERSION,
        "evaluation_id": log_id,
        "retrieved_timestamp": now,
        "source_metadata": source,
        "eval_library": {
            **dict(zip(("name", "version"), provenance.harness(run), strict=True)),
            "additional_details": _texts(figlang_tasks=figlang_tasks.__version__),
        },
        "model_info": {
            "name": run.name,
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": _texts(
                # The schema asks for these two; a run does not tell them
                deployment_type="unknown",
                model_availability="unknown",
                model_class=(run.results.get("config") or {}).get("model"),
                model_args=provenance.option_text(run, "model_args") or None,
            ),
        },
        "evaluation_results": [
            _result(run, task, *value) for task in tasks for value in values(task, scopes=True)
        ],
    }
    date = provenance.evaluated_at(run)
    if date is not None:
        aggregate["evaluation_timestamp"] = f"{date.timestamp():.0f}"
    files = {}
    if rows:
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{stem}_samples.jsonl",
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(lines).hexdigest(),
            "total_rows": len(rows),
        }
        files[f"{stem}_samples.jsonl"] = lines
    # The aggregate last: where it is, its samples are.
    return {**files, f"{stem}.json": _json(aggregate, indent=2) + b"\n"}


def model_id(run: Run) -> str | None:
    """The model's id on the hub (ORG/NAME) by the run's arguments; None if they name no such
    thing.
    """
    name = r"[A-Za-z0-9][\w.-]*"  # so no path: neither /home/me/model nor ./model
    arguments = "pretrained|model|model_version|model_id"
    found = re.search(
        rf"(?:^|,)(?:{arguments})=({name}/{name})(?:,|$)", provenance.option_text(run, "model_args")
    )
    return found[1] if found else None


def _model(run: Run, given: str | None) -> str:
    model = given or model_id(run)
    if model is None:
        raise SubmissionError(
            f"{run.path}: the run does not name a model as DEVELOPER/MODEL: give it with --model"
        )
    parts = model.split("/")
    if len(parts) != 2 or not all(_COMPONENT.fullmatch(part) and part != "data" for part in parts):
        raise SubmissionError(
            f"{brief(model)!r} must have the form DEVELOPER/MODEL, with names that can be folders"
        )
    return model


# --- aggregate ---


def _result(
    run: Run, task: TaskRun, name: str, measure: Measure, found: Estimate
) -> dict[str, Any]:
    low, high = measure.bounds
    score: dict[str, Any] = {"score": found.value}
    if found.low is not None and found.high is not None:
        numbers = {"num_samples": found.rows, "num_bootstrap_samples": measure.interval.resamples}
        score["uncertainty"] = {
            "confidence_interval": {
                "lower": found.low,
                "upper": found.high,
                "confidence_level": CONFIDENCE,
                "method": measure.interval.name,
            },
            **{name: number for name, number in numbers.items() if number is not None},
        }
    return {
        "evaluation_result_id": f"{task.task}/{name}",
        "evaluation_name": task.task,
        "source_data": _source(task),
        "metric_config": {
            "evaluation_description": f"{name} of the task {task.task} of figlang_tasks",
            "metric_id": f"figlang_tasks.{name}",
            "metric_name": name,
            "metric_unit": "proportion" if measure.percent else "points",
            "lower_is_better": not measure.higher_is_better,
            "score_type": "continuous",
            "min_score": _bound(low),
            "max_score": _bound(high),
            "additional_details": _texts(explanation_scorer=task.signature),
        },
        "score_details": score,
        "generation_config": _generation(run, task),
    }


def _bound(value: float) -> float | str:
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _source(task: TaskRun) -> dict[str, Any]:
    repository, revision = released(task)
    details = _texts(
        part=task.data.part,
        digest=task.data.digest,
        revision=revision,
        figlang_tasks_data=task.data,
    )
    if repository is None:
        return {
            "dataset_name": task.data.dataset,
            "source_type": "other",
            "additional_details": details,
        }
    return {
        "dataset_name": task.data.dataset,
        "source_type": "hf_dataset",
        "hf_repo": repository,
        "samples_number": len(task.samples),
        "additional_details": details,
    }


def _generation(run: Run, task: TaskRun) -> dict[str, Any]:
    options = task.config.get("generation_kwargs")
    options = redacted(options) if isinstance(options, Mapping) else {}
    arguments = {
        theirs: options[ours]
        for ours, theirs in _ARGUMENTS.items()
        if options.get(ours) is not None
    }
    rest = {name: json.dumps(value) for name, value in options.items() if name not in _ARGUMENTS}
    details = _texts(
        **{**provenance.option_texts(run), **rest},
        task_version=task.version,
        prompt_hash=task.metadata.get("prompt_hash"),
        samples_sha256=task.sha256,
    )
    return {"generation_args": arguments, "additional_details": details}


def _texts(**values: Any) -> dict[str, str]:
    return {
        name: plain(without_paths(str(value)))
        for name, value in values.items()
        if value is not None
    }


# --- samples ---


def _rows(task: TaskRun, log_id: str, model: str) -> list[dict[str, Any]]:
    """One row for each sample with a score; no rows if the task has no metric of single samples."""
    measure = _per_row(task)
    if measure is None or measure.value_of_record is None:
        return []
    rows = []
    for line in task.samples:
        sample = line["sample"]
        score = measure.value_of_record(sample) if measure.counts(sample) else None
        if score is None:
            continue  # e.g. a negative, in a metric of the positives
        prompt, reference = plain(str(line.get("input", ""))), plain(str(line.get("target", "")))
        rows.append(
            {
                "schema_version": VERSION,
                "evaluation_id": log_id,
                "model_id": model,
                "evaluation_name": task.task,
                "evaluation_result_id": f"{task.task}/{measure.name}",
                "sample_id": plain(sample["id"]),
                "sample_hash": hashlib.sha256((prompt + reference).encode()).hexdigest(),
                "interaction_type": "single_turn",
                "input": {"raw": prompt, "reference": [reference]},
                "output": {"raw": [plain(text) for text in outputs(line)]},
                "answer_attribution": [
                    {
                        "turn_idx": 0,
                        "source": "output.raw",
                        "extracted_value": plain(_as_text(sample[task.kind.answer_field])),
                        "extraction_method": (
                            "figlang_tasks:"
                            f" {sample.get('rule') or sample.get('status') or 'custom'}"
                        ),
                        "is_terminal": True,
                    }
                ],
                "evaluation": {"score": float(score), "is_correct": score == 1},
                "metadata": _texts(
                    status=sample.get("status"),
                    report_group=sample.get("report_group"),
                    type=sample.get("type"),
                ),
            }
        )
    return rows


def _per_row(task: TaskRun) -> Measure | None:
    """The first metric that has a number of each sample and says how good it is; None if there is
    none.
    """
    for measure in task.measures.all:
        if measure.value_of_record is None or measure.is_diagnostic:
            continue
        if any(map(measure.counts, task.records)):
            return measure
    return None


def _as_text(answer: object) -> str:
    """What was read from an answer; what is no text as JSON."""
    return answer if isinstance(answer, str) else json.dumps(answer)


def _json(content: Any, indent: int | None = None) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=indent).encode("utf-8")
