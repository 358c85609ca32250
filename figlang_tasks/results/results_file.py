"""Reads results files: their tasks, estimates and metadata, and whether the run is whole."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, StrictBool, StrictInt, ValidationError

from figlang_tasks import scoring
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, read_file
from figlang_tasks.core.row_files import first_fault
from figlang_tasks.core.text import LONGEST_NAME, listing, shortened
from figlang_tasks.scoring import OVERALL, Estimate, Estimates
from figlang_tasks.scoring.lm_eval import FACTS

Results: TypeAlias = Mapping[str, Any]
"""The content of a results file, or what ``simple_evaluate`` of a harness returns."""

EVALUATE_AGAIN = "evaluate again (with --use_cache FOLDER no answer is computed twice)"

_OBJECTS = ("config", "usage")
"""Members of a results file that are objects."""

_OBJECTS_BY_TASK = ("configs", "results", "n-samples")
"""Members that have an object for each task."""


def read_results_file(path: Path) -> dict[str, Any]:
    """The content of a results file, whose members have been checked to be objects or missing.

    Raises:
        RunError: the file cannot be read, or is not as a harness writes it.
    """
    try:
        results = json.loads(read_file(path, MOST_BYTES_OF_SAMPLES).decode("utf-8"))
        _check_form(results)
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(
            f"{path} cannot be read ({error}). Was the file cut off (a kill, a full disk)? Restore"
            f" the file that the harness wrote, or {EVALUATE_AGAIN}"
        ) from error
    return results


def _check_form(results: object) -> None:
    """Raise a `ValueError` for the first member that should be an object and is none.

    A missing member is no error.
    """
    if not isinstance(results, dict):
        raise ValueError("it holds no object")
    for key in (*_OBJECTS, *_OBJECTS_BY_TASK):
        member = results.get(key) or {}
        if not isinstance(member, dict):
            raise ValueError(f"its {key!r} is no object")
        if key not in _OBJECTS_BY_TASK:
            continue
        for entry in member.values():
            if not isinstance(entry, dict):
                raise ValueError(f"an entry of its {key!r} is no object")


# --- which tasks are in it, and what it says of each ---


def tasks_of_ours(results: Results) -> list[str]:
    """The names of the tasks in results that are tasks of figlang_tasks."""
    tasks = []
    for task, config in (results.get("configs") or {}).items():
        if measured_metadata(results, task) is not None or lm_eval_facts(config):
            tasks.append(task)
    return tasks


def unscored_tasks(results: Results) -> list[str]:
    """The names of our tasks in results that were evaluated with ``--predict_only``."""
    tasks = []
    for task, values in (results.get("results") or {}).items():
        metadata = ((results.get("configs") or {}).get(task) or {}).get("metadata")
        versions = metadata.get("versions") if isinstance(metadata, Mapping) else None
        is_ours = isinstance(versions, Mapping) and "figlang-tasks" in versions
        # What lmms-eval 0.7.3 writes in place of scores
        if is_ours and "bypass,none" in values:
            tasks.append(task)
    return tasks


def score_command(path: Path, tasks: Sequence[str]) -> str:
    """What to type to score outputs that were saved without scores.

    Args:
        path: of the run.
        tasks: the names of its tasks; at least one.
    """
    others = f" (likewise {listing(tasks[1:])})" if len(tasks) > 1 else ""
    return f"figlang score {shlex.quote(str(path))} --task {tasks[0]}{others}"


def measured_metadata(results: Results, task: str) -> Mapping[str, Any] | None:
    """The metadata of a task of ours, which hold its estimates; None for any other task."""
    config = (results.get("configs") or {}).get(task) or {}
    metadata = config.get("metadata")
    if isinstance(metadata, Mapping) and "measures" in metadata:
        return metadata
    return None


def lm_eval_facts(config_of_task: Mapping[str, Any]) -> Mapping[str, Any]:
    """What our tasks told lm-eval about a run (versions, scorer), by name; {} if nothing.

    That harness has no place for it but the entry of the first metric in the task's config:
    ``{"metric": "acc", "figlang_tasks": {"data": ...}}``. Version 0.5 moves it into the entry's
    ``kwargs``.

    Args:
        config_of_task: the entry of a task under ``configs``.
    """
    metrics = config_of_task.get("metric_list")
    if not isinstance(metrics, list) or not metrics:
        return {}
    if not isinstance(metrics[0], Mapping):
        return {}
    kwargs = metrics[0].get("kwargs")
    facts = kwargs.get(FACTS) if isinstance(kwargs, Mapping) else metrics[0].get(FACTS)
    return facts if isinstance(facts, Mapping) else {}


class _Generation(BaseModel):
    """The generation settings that this package uses."""

    temperature: float | None = None


class _Readings(BaseModel):
    """The counts of how answers were read; see `figlang_tasks.scoring.readings.Readings`."""

    read: dict[str, StrictInt]
    left: dict[str, StrictInt]
    scores: StrictInt
    left_count_as: str


class _Metadata(BaseModel):
    """The metadata of a task that this package uses, beside the estimates."""

    versions: dict[str, Any] | None = None
    prompt_hash: str | None = None
    explanation_scorer: str | None = None
    readings: _Readings | None = None
    offers_choice: StrictBool | None = None


class _Config(BaseModel):
    """What this package uses of the entry of a task under ``configs``."""

    generation_kwargs: _Generation | None = None
    metadata: _Metadata | None = None


def task_config(results: Results, task: str, path: Path) -> Mapping[str, Any]:
    """The entry of a task under ``configs``, with complete metadata; {} if there is no entry.

    lm-eval cannot add to a task's metadata, so those of its runs are completed by `lm_eval_facts`.

    Args:
        path: of the results file, for messages.

    Raises:
        RunError: the entry is damaged.
    """
    config = (results.get("configs") or {}).get(task) or {}
    try:
        _Config.model_validate(config)  # checks only; the entry itself is returned
    except ValidationError as error:
        raise RunError(
            f"{path}: {task}: {first_fault(error)}: restore what the harness wrote"
        ) from error
    if not config:
        return {}
    metadata = {**lm_eval_facts(config), **(config.get("metadata") or {})}
    return {**config, "metadata": metadata}


def reported_estimates(results: Results) -> dict[str, Estimates]:
    """The estimates of each task of ours, by task in the order of the run; NaN if a metric failed.

    Raises:
        RunError: estimates are damaged.
    """
    # The harness sorts `configs`; `results` has the order in which tasks were run.
    tasks_in_order = results.get("results") or ()
    tasks = results.get("configs") or ()
    estimates_by_task: dict[str, Estimates] = {}
    for task in dict.fromkeys([*tasks_in_order, *tasks]):
        metadata = measured_metadata(results, task)
        if metadata:
            estimates_by_task[task] = estimates_of(metadata, task)
    return estimates_by_task


def estimates_of(metadata: Mapping[str, Any], task: str) -> Estimates:
    """The estimates in the metadata of a task; {} if they have none.

    A metric that failed has NaN over all rows.

    Args:
        task: how messages call the task.

    Raises:
        RunError: the estimates are damaged.
    """
    content = metadata.get("measures")
    if content is None:
        return {}
    try:
        estimates = scoring.from_json(content)
    except ValueError as error:
        raise RunError(
            f"the results of {task} are damaged ({error}): evaluate again, or score again"
        ) from error
    for metric in scoring.failed_metrics(content):
        estimates.setdefault(metric, {OVERALL: Estimate(math.nan)})
    return estimates


# --- the run ---


def model_name(results: Results) -> str:
    """The model's name without its folders: ``b`` of ``a/b``; "" if the results have none."""
    name = results.get("model_name") or results.get("model_source") or ""
    return shortened(Path(str(name)).name, LONGEST_NAME)


def partial_reason(results: Results, task: str, sampled_documents: int | None = None) -> str | None:
    """Why a run evaluated only some rows of a task: ``limit 8``; None if it evaluated all.

    Reasons are the options --limit, --offset, --samples and --max_tokens, rows that a file of
    predictions left out, and documents that are missing in the samples file. Several stand in one
    text, with commas between them.

    Args:
        sampled_documents: the number of documents in the samples file; None if unknown.
    """
    config = results.get("config") or {}
    # {"original": 723, "effective": 8}: the documents of the task, and those within the limit.
    counts = (results.get("n-samples") or {}).get(task) or {}
    documents_in_limit = counts.get("effective")

    reasons = []
    limit = limit_text(results, task)
    if limit:
        reasons.append(limit)
    other_options = [
        option for option in ("offset", "samples") if _leaves_rows_out(config.get(option))
    ]
    for option in other_options:
        reasons.append(_option_text(option, config[option]))
    if not reasons and _has_fewer_rows(counts):
        # A file of predictions has no option that leaves rows out.
        reasons.append(f"{counts['effective']} of {counts['original']} rows")
    if (results.get("usage") or {}).get("budget_exceeded"):
        reasons.append("--max_tokens spent")
    # The harness counts `effective` without offset and samples: with one of these two options it is
    # not the number of documents to expect.
    if sampled_documents is not None and not other_options:
        if isinstance(documents_in_limit, int) and sampled_documents < documents_in_limit:
            reasons.append(
                f"{sampled_documents} of {documents_in_limit} documents are in the samples"
            )
    return ", ".join(reasons) or None


def limit_text(results: Results, task: str) -> str:
    """The option --limit of a run, ``limit 8``; "" if it left out no row of a task."""
    limit = (results.get("config") or {}).get("limit")
    counts = (results.get("n-samples") or {}).get(task) or {}
    reaches_all = bool(counts) and counts.get("effective") == counts.get("original")
    if reaches_all or not _leaves_rows_out(limit):
        return ""
    return _option_text("limit", limit)


def _has_fewer_rows(counts: Mapping[str, object]) -> bool:
    """Whether fewer documents were evaluated than a task has, by the counts in its results."""
    original = counts.get("original")
    effective = counts.get("effective")
    return isinstance(original, int) and isinstance(effective, int) and effective < original


def _leaves_rows_out(value: object) -> bool:
    """Whether the value of an option leaves rows out: -1 means all rows."""
    return bool(value) and value != -1


def _option_text(option: str, value: object) -> str:
    """An option as the user wrote it: the harness makes 8.0 of a limit of 8."""
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}"
