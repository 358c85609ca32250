"""Runs in the form of Every Eval Ever, schema 0.3.0: an aggregate JSON file and a JSON lines file of samples.

The form is that of https://github.com/evaleval/every_eval_ever (package 0.3.0). ``every_eval_ever.schema.json`` beside
this module is ours: what of it these files use, and stricter. Files lie as the datastore wants them:
``data/COLLECTION/DEVELOPER/MODEL/UUID.json`` and ``UUID_samples.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import figlang_tasks
from figlang_tasks.core.redaction import redacted, without_paths
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.submit import SubmissionError, all_rows, brief, plain, provenance, write_checked
from figlang_tasks.submit.provenance import CONFIDENCE, Value

VERSION = "0.3.0"
DATASTORE = "https://huggingface.co/datasets/evaleval/EEE_datastore"
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
DEPLOYMENTS = ("self_deployed", "externally_managed", "unknown")
AVAILABILITIES = ("open_weights", "closed_weights", "unknown")

_SCHEMA = Path(__file__).with_name("every_eval_ever.schema.json")
_COMPONENT = re.compile(r"[\w-](?:[\w.-]*[\w-])?")
_WHOLE_NUMBERS = ("max_tokens",)
_ARGUMENTS = {"max_new_tokens": "max_tokens", "temperature": "temperature", "top_p": "top_p", "top_k": "top_k"}
# What says of one row whether it was right, in the order in which it is looked for.
_PER_ROW = ("acc", "acc@0", "em", "p@1", "bleu4")


@dataclass(frozen=True)
class About:
    """Facts that a run's files do not contain.

    Attributes:
        organization: who evaluated.
        relationship: one of :data:`RELATIONSHIPS`: of them to the model's developers.
        model: ``DEVELOPER/MODEL``; None: as the run's arguments name it.
        deployment: one of :data:`DEPLOYMENTS`.
        availability: one of :data:`AVAILABILITIES`.
    """

    organization: str
    relationship: str
    model: str | None = None
    deployment: str = "unknown"
    availability: str = "unknown"


def write(found: Sequence[Run], folder: Path, about: About, samples: bool = True) -> list[Path]:
    """Write two files for each run and dataset, checked against the schema; return their paths.

    The same samples get the same file names again.

    Args:
        found: the runs.
        folder: folder to write ``data`` into.
        about: what the runs do not say.
        samples: write the file of samples too. It holds prompts, references and outputs.

    Raises:
        SubmissionError: a run was cut short or reported no metrics, its model has no name that the datastore takes, or
            a file cannot be written.
    """
    made: dict[Path, bytes] = {}
    for run in found:
        of_dataset: dict[str, list[TaskRun]] = {}
        for task in all_rows(run).tasks.values():
            of_dataset.setdefault(task.dataset, []).append(task)
        for tasks in of_dataset.values():
            for name, content in _files(run, tasks, about, samples).items():
                if made.setdefault(folder / name, content) is not content:
                    raise SubmissionError(f"{run.path}: its samples are those of another given run: give each run once")
    for path, content in made.items():
        if path.suffix == ".jsonl":
            _check_samples(path.name, content)
        else:
            _check(json.loads(content), "aggregate", path.name)
    for path, content in made.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SubmissionError(f"{path.parent} cannot be written: {error.strerror}") from error
        write_checked(path, content)
    return list(made)


def _files(run: Run, tasks: Sequence[TaskRun], about: About, samples: bool) -> dict[str, bytes]:
    """Content of the two files for tasks of one dataset, by path below the folder."""
    model = _model(run, about)
    collection = tasks[0].dataset.lower()
    digest = hashlib.sha256(f"{collection}/{model}/{'/'.join(task.sha256 for task in tasks)}".encode()).digest()
    stem = f"data/{collection}/{model}/{uuid.UUID(bytes=digest[:16], version=4)}"
    now = f"{time.time():.3f}"
    log_id = f"{collection}/{model}/{now}"
    rows = [row for task in tasks for row in _rows(task, log_id, model)] if samples else []
    lines = b"".join(_json(row) + b"\n" for row in rows)
    aggregate: dict[str, Any] = {
        "schema_version": VERSION,
        "evaluation_id": log_id,
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "figlang_tasks",
            "source_type": "evaluation_run",
            "source_organization_name": about.organization,
            "evaluator_relationship": about.relationship,
        },
        "eval_library": _library(run),
        "model_info": {
            "name": run.name,
            "id": model,
            "developer": model.partition("/")[0],
            "additional_details": _texts(
                deployment_type=about.deployment,
                model_availability=about.availability,
                model_class=(run.results.get("config") or {}).get("model"),
                model_args=provenance.model_arguments(run) or None,
            ),
        },
        "evaluation_results": [
            _result(run, task, value) for task in tasks for value in provenance.values(task, scopes=True)
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


def _model(run: Run, about: About) -> str:
    model = about.model or provenance.model_id(run)
    if model is None:
        raise SubmissionError(f"{run.path}: the run does not name a model as DEVELOPER/MODEL: give it with --model")
    parts = model.split("/")
    if len(parts) != 2 or not all(_COMPONENT.fullmatch(part) and part != "data" for part in parts):
        raise SubmissionError(f"{brief(model)!r} must have the form DEVELOPER/MODEL, with names that can be folders")
    return model


def _library(run: Run) -> dict[str, Any]:
    name, version = provenance.harness(run)
    return {
        "name": name,
        "version": version,
        "additional_details": _texts(figlang_tasks=figlang_tasks.__version__),
    }


# --- aggregate -------------------------------------------------------------------------------------------------------


def _result(run: Run, task: TaskRun, value: Value) -> dict[str, Any]:
    measure, found = value.measure, value.estimate
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
        "evaluation_result_id": _result_id(task, value.name),
        "evaluation_name": task.task,
        "source_data": _source(task),
        "metric_config": {
            "evaluation_description": f"{value.name} of the task {task.task} of figlang_tasks",
            "metric_id": f"figlang_tasks.{value.name}",
            "metric_name": value.name,
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


def _result_id(task: TaskRun, metric: str) -> str:
    return f"{task.task}/{metric}"


def _bound(value: float) -> float | str:
    return value if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _source(task: TaskRun) -> dict[str, Any]:
    data = provenance.data(task)
    details = _texts(part=data.part, digest=data.digest, revision=data.revision, figlang_tasks_data=task.data)
    if data.repository is None:
        return {"dataset_name": data.dataset, "source_type": "other", "additional_details": details}
    return {
        "dataset_name": data.dataset,
        "source_type": "hf_dataset",
        "hf_repo": data.repository,
        "samples_number": len(task.lines),
        "additional_details": details,
    }


def _generation(run: Run, task: TaskRun) -> dict[str, Any]:
    options = task.config.get("generation_kwargs")
    options = redacted(options) if isinstance(options, Mapping) else {}
    arguments: dict[str, Any] = {}
    for ours, theirs in _ARGUMENTS.items():
        value = options.get(ours)
        wanted = int if theirs in _WHOLE_NUMBERS else int | float
        if isinstance(value, wanted) and not isinstance(value, bool) and math.isfinite(value):
            arguments[theirs] = value
    rest = {name: json.dumps(value) for name, value in options.items() if name not in _ARGUMENTS}
    details = _texts(
        **rest,
        task_version=task.version,
        prompt_hash=provenance.metadata(task, "prompt_hash"),
        samples_sha256=task.sha256,
        options=provenance.options(run) or None,
    )
    return {"generation_args": arguments, "additional_details": details}


def _texts(**values: Any) -> dict[str, str]:
    return {name: plain(without_paths(str(value))) for name, value in values.items() if value is not None}


# --- samples ---------------------------------------------------------------------------------------------------------


def _rows(task: TaskRun, log_id: str, model: str) -> list[dict[str, Any]]:
    """One row for each sample with a score; no rows if the task has no metric of single samples."""
    metric = _per_row(task)
    if metric is None:
        return []
    each = task.measures.by_name[metric].each
    assert each is not None  # else no line has a number of it
    rows = []
    for number, line in enumerate(task.lines, start=1):
        score = line.get(metric)
        if score is None:
            continue  # e.g. a negative, in a metric of the positives
        if not isinstance(score, int | float) or not math.isfinite(score):
            raise SubmissionError(
                f"{task.path}, line {number}: {metric} is {brief(score)}, must be a finite number: restore the file "
                "that the harness wrote"
            )
        sample = line["sample"]
        if each(sample) != score:
            raise SubmissionError(
                f"{task.path}, line {number}: {metric} is {score}, but its `sample` gives {each(sample)}: restore the "
                "file that the harness wrote"
            )
        prompt, reference = plain(str(line.get("input", ""))), plain(str(line.get("target", "")))
        rows.append(
            {
                "schema_version": VERSION,
                "evaluation_id": log_id,
                "model_id": model,
                "evaluation_name": task.task,
                "evaluation_result_id": _result_id(task, metric),
                "sample_id": plain(sample["id"]),
                "sample_hash": hashlib.sha256((prompt + reference).encode()).hexdigest(),
                "interaction_type": "single_turn",
                "input": {"raw": prompt, "reference": [reference]},
                "output": {"raw": [plain(text) for text in _outputs(line)]},
                "answer_attribution": [
                    {
                        "turn_idx": 0,
                        "source": "output.raw",
                        "extracted_value": plain(_extracted(sample)),
                        "extraction_method": f"figlang_tasks: {sample.get('rule') or sample.get('status') or 'custom'}",
                        "is_terminal": True,
                    }
                ],
                "evaluation": {"score": float(score), "is_correct": score == 1},
                "metadata": _texts(
                    status=sample.get("status"), report_group=sample.get("report_group"), type=sample.get("type")
                ),
            }
        )
    return rows


def _per_row(task: TaskRun) -> str | None:
    """The metric that says whether a sample is right; in NYK-MS its name begins with the question."""
    names = [
        name for name in task.measures.by_name if any(isinstance(line.get(name), int | float) for line in task.lines)
    ]
    for wanted in _PER_ROW:
        for name in names:
            if name == wanted or name.endswith(f"_{wanted}"):
                return name
    return None


def _outputs(line: Mapping[str, Any]) -> list[str]:
    found = line.get("filtered_resps", "")
    return [str(text) for text in found] if isinstance(found, list) else [str(found)]


def _extracted(sample: Mapping[str, Any]) -> str:
    for name in ("predicted", "chosen_text", "chosen", "caption", "answer"):
        if name in sample:
            value = sample[name]
            return value if isinstance(value, str) else json.dumps(value)
    return ""


# --- writing and checking --------------------------------------------------------------------------------------------


def _json(content: Any, indent: int | None = None) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=indent).encode("utf-8")


@lru_cache(maxsize=2)
def _validator(part: str) -> Any:
    """Validator of ``aggregate`` or ``sample``."""
    from jsonschema import Draft7Validator

    schema = json.loads(_SCHEMA.read_text(encoding="utf-8"))
    return Draft7Validator({"$schema": schema["$schema"], "definitions": schema["definitions"], **schema[part]})


def _check_samples(name: str, content: bytes) -> None:
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        _check(json.loads(line), "sample", f"{name}, line {number}")


def _check(content: Any, part: str, where: str) -> None:
    from jsonschema.exceptions import best_match

    error = best_match(_validator(part).iter_errors(content))
    if error is not None:
        place = "/".join(str(step) for step in error.absolute_path) or "the top"
        raise SubmissionError(f"{where}: not what schema {VERSION} wants at {place}: {brief(error.message)}")
