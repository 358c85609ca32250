"""What a results file says: the tasks in it, their measures and metadata, and whether the run is
whole.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, StrictInt, ValidationError

from figlang_tasks import scoring
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, read_file
from figlang_tasks.core.row_files import first_fault
from figlang_tasks.core.text import LONGEST_NAME, shortened
from figlang_tasks.scoring import OVERALL, Estimate, Estimates
from figlang_tasks.scoring.lm_eval import FACTS

EVALUATE_AGAIN = "evaluate again (with --use_cache FOLDER no answer is computed twice)"

_OBJECTS = ("config", "usage")
_OBJECTS_BY_TASK = ("configs", "results", "n-samples")


def read_results_file(path: Path) -> dict[str, Any]:
    """Read a results file, and check that what is read of it later has the form that the harness
    writes.
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
    """Raise a `ValueError` for the first part of a results file that should be an object and is
    none.
    """
    if not isinstance(results, dict):
        raise ValueError("it holds no object")
    for key in (*_OBJECTS, *_OBJECTS_BY_TASK):
        part = results.get(key) or {}
        if not isinstance(part, dict):
            raise ValueError(f"its {key!r} is no object")
        if key in _OBJECTS_BY_TASK and not all(isinstance(entry, dict) for entry in part.values()):
            raise ValueError(f"its {key!r} is no object")


# --- which tasks are in it, and what it says of each ---


def tasks_of_ours(results: Mapping[str, Any]) -> list[str]:
    """The tasks of ours that results have values of."""
    configs = results.get("configs") or {}
    return [
        task
        for task in configs
        if measured_metadata(results, task) is not None or lm_eval_facts(configs[task])
    ]


def measured_metadata(results: Mapping[str, Any], task: str) -> Mapping[str, Any] | None:
    """The metadata of a task of ours with its measures; None if a results file has none."""
    metadata = ((results.get("configs") or {}).get(task) or {}).get("metadata")
    return metadata if isinstance(metadata, Mapping) and "measures" in metadata else None


def lm_eval_facts(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the first metric of a task of lm-eval says of the run; that harness has no place for it
    elsewhere.
    """
    metrics = config.get("metric_list")
    if not isinstance(metrics, list) or not metrics or not isinstance(metrics[0], Mapping):
        return {}
    facts = metrics[0].get(FACTS)
    return facts if isinstance(facts, Mapping) else {}


class _Generation(BaseModel):
    temperature: float | None = None


class _Readings(BaseModel):
    read: dict[str, StrictInt]
    left: dict[str, StrictInt]
    scores: StrictInt
    left_count_as: str


class _Metadata(BaseModel):
    versions: dict[str, Any] | None = None
    prompt_hash: str | None = None
    explanation_scorer: str | None = None
    readings: _Readings | None = None


class _Config(BaseModel):
    """What is read of the entry of a task."""

    generation_kwargs: _Generation | None = None
    metadata: _Metadata | None = None


def task_config(results: Mapping[str, Any], task: str, path: Path) -> Mapping[str, Any]:
    """The entry of a task with all its metadata; empty if the results have none.

    lm-eval cannot add to a task's metadata: there it is completed by what the first metric says of
    the run.
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
    return {**config, "metadata": {**lm_eval_facts(config), **(config.get("metadata") or {})}}


def reported_estimates(results: Mapping[str, Any]) -> dict[str, Estimates]:
    """All estimates in a results file, by task of ours; NaN where the computation failed."""
    # The harness sorts `configs`; the order of the tasks is that of `results`.
    tasks = dict.fromkeys([*(results.get("results") or ()), *(results.get("configs") or ())])
    estimates: dict[str, Estimates] = {}
    for task in tasks:
        metadata = measured_metadata(results, task)
        if metadata:
            estimates[task] = estimates_of(metadata, task)
    return estimates


def estimates_of(metadata: Mapping[str, Any], task: str) -> Estimates:
    """The estimates in the metadata of a task, which a `RunError` calls `task`; NaN where the
    computation failed.
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
    failed = {
        name: {OVERALL: Estimate(math.nan)}
        for name in scoring.failed_metrics(content)
        if name not in estimates
    }
    return {**estimates, **failed}


# --- the run ---


def model_name(results: Mapping[str, Any]) -> str:
    """The last part of the model's name, as it is shown; "" if the results have none."""
    name = results.get("model_name") or results.get("model_source") or ""
    return shortened(Path(str(name)).name, LONGEST_NAME)


def partial_reason(
    results: Mapping[str, Any], task: str, documents: int | None = None
) -> str | None:
    """Why a run evaluated only a part of a task (``limit 8``); None if it is whole.

    `documents`: how many the samples have, if that is known.
    """
    config = results.get("config") or {}
    counts = (results.get("n-samples") or {}).get(task) or {}
    evaluated = counts.get("effective")  # The harness reckons with a limit alone.
    limit_reaches_all = bool(counts) and evaluated == counts.get("original")

    reasons = []
    if _selects_rows(config.get("limit")) and not limit_reaches_all:
        reasons.append(_option_text("limit", config["limit"]))
    has_parts = False
    for option in ("offset", "samples"):
        if _selects_rows(config.get(option)):
            reasons.append(_option_text(option, config[option]))
            has_parts = True
    if (results.get("usage") or {}).get("budget_exceeded"):
        reasons.append("--max_tokens spent")
    if (
        documents is not None
        and isinstance(evaluated, int)
        and documents < evaluated
        and not has_parts
    ):
        reasons.append(f"{documents} of {evaluated} documents are in the samples")
    return ", ".join(reasons) or None


def _selects_rows(value: object) -> bool:
    """Whether the value of an option leaves rows out: -1 means all rows."""
    return bool(value) and value != -1


def _option_text(option: str, value: object) -> str:
    """An option as the user wrote it: the harness makes 8.0 of a limit of 8."""
    return f"{option} {value:g}" if isinstance(value, float) else f"{option} {value}"
