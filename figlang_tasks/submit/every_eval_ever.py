"""Runs in the form of Every Eval Ever, schema 0.3.0: aggregate results as JSON, samples as JSONL.

The form is that of https://github.com/evaleval/every_eval_ever (package 0.3.0); a test runs its
validator. Files lie as the datastore wants them: ``data/COLLECTION/DEVELOPER/MODEL/UUID.json`` and
``UUID_samples.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import figlang_tasks
from figlang_tasks.core.redaction import redacted
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure
from figlang_tasks.submit import (
    ReportedValue,
    SubmissionError,
    brief,
    check_whole,
    hub_source,
    reported_values,
)
from figlang_tasks.submit.every_eval_ever_metrics import REGISTRY_REVISION, metric_id
from figlang_tasks.submit.every_eval_ever_samples import (
    SCHEMA_VERSION,
    JsonObject,
    SampleIds,
    details,
    sample_rows,
)

DATASTORE = "https://huggingface.co/datasets/evaleval/EEE_datastore"
CONFIDENCE = 0.95
"""The level of all intervals of this package."""

_FOLDER_NAME = re.compile(r"[\w-](?:[\w.-]*[\w-])?")  # neither begins nor ends with a dot
_GENERATION_ARGUMENTS = {
    "max_new_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "top_k": "top_k",
}
"""The schema's name of each option of generation that it knows, by the harness's name."""


class Evaluator(NamedTuple):
    """Who evaluated.

    Attributes:
        organization: its name.
        relationship: to the developers of the model, as the schema has it (``third_party``).
    """

    organization: str
    relationship: str


def write(
    runs: Sequence[Run],
    folder: Path,
    organization: str,
    relationship: str,
    model: str | None = None,
    with_samples: bool = True,
) -> list[Path]:
    """Write the files of each run and dataset, and return the paths of these files.

    A run has one or two files for each dataset: the aggregate results, and the samples if they are
    wanted. From the same samples files come files with the same names again.

    Args:
        folder: the files are written below its folder ``data``.
        organization: who evaluated.
        relationship: of the organization to the model's developers, as the schema has it
            (``third_party``).
        model: DEVELOPER/MODEL, for runs whose given name is not of this form; None or "": as the
            arguments of each run name it.
        with_samples: whether to write samples beside the aggregate results.

    Raises:
        SubmissionError: a run is not whole, or names no model. No file is written then.
    """
    evaluator = Evaluator(organization, relationship)
    contents: dict[str, bytes] = {}
    for run in runs:
        check_whole(run)
        tasks_by_dataset: dict[str, list[TaskRun]] = {}
        for task in run.tasks.values():
            tasks_by_dataset.setdefault(task.data.dataset, []).append(task)
        checked_model = _checked_model(run, model)
        for tasks in tasks_by_dataset.values():
            contents.update(_files(run, tasks, checked_model, evaluator, with_samples))
    for path, content in contents.items():
        write_whole(folder / path, content)
    return [folder / path for path in contents]


def model_id(run: Run) -> str | None:
    """The model's id on the hub (ORG/NAME) in the run's arguments; None if they name none."""
    name = r"[A-Za-z0-9][\w.-]*"  # so no path: neither /home/me/model nor ./model
    keys = "pretrained|model|model_version|model_id"
    # The form is KEY=TEXT,KEY=TEXT: "pretrained=llava-hf/llava-1.5-7b-hf,batch_size=1".
    model_args = provenance.option_text(run, "model_args")
    match = re.search(rf"(?:^|,)(?:{keys})=({name}/{name})(?:,|$)", model_args)
    return match[1] if match else None


def _checked_model(run: Run, model: str | None) -> str:
    """The model as DEVELOPER/MODEL, two names that can be folders; an error otherwise.

    Args:
        model: what the user gave for all runs; None or "" to take what the run's arguments name.
    """
    if run.given_name and "/" in run.given_name:
        model = run.given_name
    model = model or model_id(run)
    if model is None:
        raise SubmissionError(
            f"{run.path}: the run does not name a model as DEVELOPER/MODEL: give it with --model,"
            " or before each run (DEVELOPER/MODEL=RUN)"
        )
    names = model.split("/")
    # The datastore's own folder is called data.
    can_be_folders = all(_FOLDER_NAME.fullmatch(name) and name != "data" for name in names)
    if len(names) != 2 or not can_be_folders:
        raise SubmissionError(
            f"{brief(model)!r} must have the form DEVELOPER/MODEL, with names that can be folders"
        )
    return model


def _files(
    run: Run, tasks: Sequence[TaskRun], model: str, evaluator: Evaluator, with_samples: bool
) -> dict[str, bytes]:
    """The contents of the files about one dataset, by their path below the output folder.

    They are the samples of all its tasks, if they are wanted, and the aggregate results.

    Args:
        tasks: all tasks of the run on the dataset; at least one.
        model: DEVELOPER/MODEL.
        with_samples: whether samples are wanted.
    """
    collection = tasks[0].data.dataset.lower()
    stem = f"data/{collection}/{model}/{_uuid(collection, model, tasks)}"
    now = f"{time.time():.3f}"
    ids = SampleIds(evaluation_id=f"{collection}/{model}/{now}", model_id=model)
    rows: list[JsonObject] = []
    if with_samples:
        for task in tasks:
            rows += sample_rows(task, ids)

    aggregate: JsonObject = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": ids.evaluation_id,
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "figlang_tasks",
            "source_type": "evaluation_run",
            "source_organization_name": evaluator.organization,
            "evaluator_relationship": evaluator.relationship,
        },
        "eval_library": _library(run),
        "model_info": _model_info(run, model),
        "evaluation_results": _results(run, tasks),
    }
    date = provenance.evaluated_at(run)
    if date is not None:
        aggregate["evaluation_timestamp"] = f"{date.timestamp():.0f}"
    files = {}
    if rows:
        samples_path = f"{stem}_samples.jsonl"
        files[samples_path] = _json_lines(rows)
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples_path,
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(files[samples_path]).hexdigest(),
            "total_rows": len(rows),
        }
    # Files are written in this order. The aggregate comes last, so that its samples are there
    # whenever it is, even if writing was interrupted.
    files[f"{stem}.json"] = _json(aggregate, indent=2) + b"\n"
    return files


def _uuid(collection: str, model: str, tasks: Sequence[TaskRun]) -> uuid.UUID:
    """The UUID of a file name, which depends only on dataset, model and samples files.

    It has the form of a random UUID (version 4).
    """
    digests = "/".join(task.sha256 for task in tasks)
    digest = hashlib.sha256(f"{collection}/{model}/{digests}".encode()).digest()
    return uuid.UUID(bytes=digest[:16], version=4)


def _json_lines(rows: Iterable[JsonObject]) -> bytes:
    return b"".join(_json(row) + b"\n" for row in rows)


def _json(content: JsonObject, indent: int | None = None) -> bytes:
    return json.dumps(content, ensure_ascii=False, indent=indent).encode("utf-8")


# --- parts of the aggregate ---


def _library(run: Run) -> JsonObject:
    """``eval_library``: the harness, with the version of this package."""
    name, version = provenance.harness(run)
    return {
        "name": name,
        "version": version,
        "additional_details": details(figlang_tasks=figlang_tasks.__version__),
    }


def _model_info(run: Run, model: str) -> JsonObject:
    """``model_info``: the model, and how the harness ran it."""
    return {
        "name": run.name,  # the model's name, unless the user gave the run another
        "id": model,
        "developer": model.partition("/")[0],
        "additional_details": details(
            # The schema asks for these two, which a run does not tell.
            deployment_type="unknown",
            model_availability="unknown",
            model_class=(run.results.get("config") or {}).get("model"),
            model_args=provenance.option_text(run, "model_args") or None,
        ),
    }


def _results(run: Run, tasks: Sequence[TaskRun]) -> list[JsonObject]:
    """``evaluation_results``: one for each value of the tasks, in every scope."""
    results = []
    for task in tasks:
        source_data = _source_data(task)
        generation_config = _generation_config(run, task)
        for value in reported_values(task, all_scopes=True):
            results.append(_result(task, value, source_data, generation_config))
    return results


def _result(
    task: TaskRun, value: ReportedValue, source_data: JsonObject, generation_config: JsonObject
) -> JsonObject:
    """A member of ``evaluation_results``: a value, its metric, its data, and how answers came.

    Args:
        source_data: ``source_data`` of the task.
        generation_config: ``generation_config`` of the task.
    """
    name, measure, estimate, scope = value
    low, high = measure.bounds
    # An evaluation has one value for each id of a metric: each scope is an evaluation.
    evaluation = task.task if scope == OVERALL else f"{task.task}.{scope}"
    # A measure with `percent` is displayed times 100, but its stored value, which is given here, is
    # a proportion.
    unit = "proportion" if measure.percent else "points"
    return {
        "evaluation_result_id": f"{task.task}/{name}",
        "evaluation_name": evaluation,
        "source_data": source_data,
        "metric_config": {
            "evaluation_description": f"{name} of the task {task.task} of figlang_tasks",
            "metric_id": metric_id(measure.name),
            "metric_name": measure.name,
            "metric_unit": unit,
            "lower_is_better": not measure.higher_is_better,
            "score_type": "continuous",
            "min_score": _bound(low),
            "max_score": _bound(high),
            "additional_details": details(
                meaning=measure.meaning,
                metric_id_registry_revision=REGISTRY_REVISION,
                explanation_scorer=task.signature,
            ),
        },
        "score_details": _score_details(measure, estimate),
        "generation_config": generation_config,
    }


def _bound(bound: float) -> float | str:
    """A bound of a metric; ``"Infinity"`` and its like are texts, since JSON has no such number."""
    if math.isfinite(bound):
        return bound
    return "Infinity" if bound > 0 else "-Infinity"


def _score_details(measure: Measure, estimate: Estimate) -> JsonObject:
    """``score_details``: a value, with its interval if it has one.

    Args:
        measure: the metric; it names the method of the interval.
    """
    score: JsonObject = {"score": estimate.value}
    limits = estimate.limits
    if limits is None:
        return score
    uncertainty: JsonObject = {
        "confidence_interval": {
            "lower": limits.low,
            "upper": limits.high,
            "confidence_level": CONFIDENCE,
            "method": measure.interval.name,
        }
    }
    if estimate.rows is not None:
        uncertainty["num_samples"] = estimate.rows
    if measure.interval.resamples is not None:
        uncertainty["num_bootstrap_samples"] = measure.interval.resamples
    score["uncertainty"] = uncertainty
    return score


def _source_data(task: TaskRun) -> JsonObject:
    """``source_data``: the dataset of a task, as a repository of the hub or another source."""
    repository, revision = hub_source(task)
    additional_details = details(
        part=task.data.part,
        digest=task.data.digest,
        revision=revision,
        figlang_tasks_data=str(task.data),  # the name that this package has for all of it
    )
    if repository is None:
        return {
            "dataset_name": task.data.dataset,
            "source_type": "other",
            "additional_details": additional_details,
        }
    return {
        "dataset_name": task.data.dataset,
        "source_type": "hf_dataset",
        "hf_repo": repository,
        # The schema takes this number only for a dataset of the hub.
        "samples_number": len(task.samples),
        "additional_details": additional_details,
    }


def _generation_config(run: Run, task: TaskRun) -> JsonObject:
    """``generation_config``: options that the schema knows, and all others as details.

    The values of secret options are redacted.
    """
    generation_kwargs = task.config.get("generation_kwargs")
    options: Mapping[str, Any] = {}
    # No mapping: the run names no options of generation, or its results file is damaged.
    if isinstance(generation_kwargs, Mapping):
        options = redacted(generation_kwargs)
    known_options = {}
    for name, schema_name in _GENERATION_ARGUMENTS.items():
        if options.get(name) is not None:
            known_options[schema_name] = options[name]
    # The details hold the options of the whole run (model_args, seed ...), and
    # those of generation that the schema does not know.
    other_options = provenance.option_texts(run)
    for name, setting in options.items():
        if name not in _GENERATION_ARGUMENTS:
            other_options[name] = json.dumps(setting)
    additional_details = details(
        **other_options,
        task_version=task.version,
        prompt_hash=task.metadata.get("prompt_hash"),
        samples_sha256=task.sha256,
    )
    return {"generation_args": known_options, "additional_details": additional_details}
