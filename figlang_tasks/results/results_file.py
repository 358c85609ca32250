"""Reads results files: their tasks, estimates and metadata, and whether the run is whole."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, StrictInt, ValidationError

from figlang_tasks import scoring
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, read_file
from figlang_tasks.core.row_files import first_fault
from figlang_tasks.core.text import LONGEST_NAME, shortened
from figlang_tasks.scoring import OVERALL, Estimate, Estimates
from figlang_tasks.scoring.lm_eval import FACTS

Results: TypeAlias = Mapping[str, Any]
"""The content of a results file, or what ``simple_evaluate`` of a harness returns."""

EVALUATE_AGAIN = "evaluate again (with --use_cache FOLDER no answer is computed twice)"

_OBJECTS = ("config", "usage")
_OBJECTS_BY_TASK = ("configs", "results", "n-samples")


def read_results_file(path: Path) -> dict[str, Any]:
    """Read a results file, and check the form of what is read from its content later.

    Raises:
        RunError: the file cannot be read, or the harness did not write it so.
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
    """Raise a `ValueError` that names the first member that should be an object and is none."""
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
                raise ValueError(f"its {key!r} is no object")


# --- which tasks are in it, and what it says of each ---


def tasks_of_ours(results: Results) -> list[str]:
    """The tasks of figlang_tasks that results have values of."""
    tasks = []
    for task, config in (results.get("configs") or {}).items():
        if measured_metadata(results, task) is not None or lm_eval_facts(config):
            tasks.append(task)
    return tasks


def measured_metadata(results: Results, task: str) -> Mapping[str, Any] | None:
    """The metadata of a task if they hold estimates, as those of our tasks do; else None."""
    config = (results.get("configs") or {}).get(task) or {}
    metadata = config.get("metadata")
    if isinstance(metadata, Mapping) and "measures" in metadata:
        return metadata
    return None


def lm_eval_facts(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The facts of a run that our tasks store in their first metric under lm-eval; {} if none.

    That harness has no other place for them.
    """
    metrics = config.get("metric_list")
    if not isinstance(metrics, list) or not metrics or not isinstance(metrics[0], Mapping):
        return {}
    facts = metrics[0].get(FACTS)
    return facts if isinstance(facts, Mapping) else {}


class _Generation(BaseModel):
    """The generation settings that are read."""

    temperature: float | None = None


class _Readings(BaseModel):
    """The counts of how answers were read; see `figlang_tasks.scoring.readings.Readings`."""

    read: dict[str, StrictInt]
    left: dict[str, StrictInt]
    scores: StrictInt
    left_count_as: str


class _Metadata(BaseModel):
    """The metadata of a task that are read, beside the estimates."""

    versions: dict[str, Any] | None = None
    prompt_hash: str | None = None
    explanation_scorer: str | None = None
    readings: _Readings | None = None


class _Config(BaseModel):
    """What is read from the entry of a task under ``configs``."""

    generation_kwargs: _Generation | None = None
    metadata: _Metadata | None = None


def task_config(results: Results, task: str, path: Path) -> Mapping[str, Any]:
    """The entry of a task under ``configs``; {} if the results have none.

    lm-eval cannot add to a task's metadata: for its runs they are completed with `lm_eval_facts`.

    Args:
        path: of the results file, for messages.

    Raises:
        RunError: the entry is damaged.
    """
    config = (results.get("configs") or {}).get(task) or {}
    try:
        _Config.model_validate(config)
    except ValidationError as error:
        raise RunError(
            f"{path}: {task}: {first_fault(error)}: restore what the harness wrote"
        ) from error
    if not config:
        return {}
    metadata = {**lm_eval_facts(config), **(config.get("metadata") or {})}
    return {**config, "metadata": metadata}


def reported_estimates(results: Results) -> dict[str, Estimates]:
    """The estimates of each task of ours in results, in their order; NaN for failed metrics."""
    # The harness sorts `configs`; `results` has the order in which tasks were run.
    tasks = dict.fromkeys([*(results.get("results") or ()), *(results.get("configs") or ())])
    estimates_by_task: dict[str, Estimates] = {}
    for task in tasks:
        metadata = measured_metadata(results, task)
        if metadata:
            estimates_by_task[task] = estimates_of(metadata, task)
    return estimates_by_task


def estimates_of(metadata: Mapping[str, Any], task: str) -> Estimates:
    """The estimates in the metadata of a task; NaN over all rows for failed metrics.

    Args:
        task: how messages call it.

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
    """The last part of the model's name; "" if the results have none."""
    name = results.get("model_name") or results.get("model_source") or ""
    return shortened(Path(str(name)).name, LONGEST_NAME)


def partial_reason(results: Results, task: str, documents: int | None = None) -> str | None:
    """Why a run evaluated only some rows of a task: ``limit 8``; None if it evaluated all.

    Args:
        documents: how many the samples have, if that is known.
    """
    config = results.get("config") or {}
    counts = (results.get("n-samples") or {}).get(task) or {}
    evaluated = counts.get("effective")  # The harness takes a limit alone into account.
    limit_reaches_all = bool(counts) and evaluated == counts.get("original")

    reasons = []
    if _leaves_rows_out(config.get("limit")) and not limit_reaches_all:
        reasons.append(_option_text("limit", config["limit"]))
    has_chosen_rows = False
    for option in ("offset", "samples"):
        if _leaves_rows_out(config.get(option)):
            reasons.append(_option_text(option, config[option]))
            has_chosen_rows = True
    if (results.get("usage") or {}).get("budget_exceeded"):
        reasons.append("--max_tokens spent")
    if documents is not None and isinstance(evaluated, int) and not has_chosen_rows:
        if documents < evaluated:
            reasons.append(f"{documents} of {evaluated} documents are in the samples")
    return ", ".join(reasons) or None


def _leaves_rows_out(value: object) -> bool:
    """Whether the value of an option leaves rows out: -1 means all rows."""
    return bool(value) and value != -1


def _option_text(option: str, value: object) -> str:
    """An option as the user wrote it: the harness makes 8.0 of a limit of 8."""
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}"
