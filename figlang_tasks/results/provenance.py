"""Facts about how a run was made, for reports, model cards and registries; without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import without_paths
from figlang_tasks.results.task_run import Run, TaskRun

_MOST_PARAMETERS = 10**18
"""A larger number of parameters in a results file is a mistake."""

OPTIONS = (
    "model",
    "model_args",
    "tasks",
    "batch_size",
    "num_fewshot",
    "gen_kwargs",
    "seed",
    "system_instruction",
    "apply_chat_template",
    "fewshot_as_multiturn",
    "force_simple",
    "max_tokens",
)
"""The options of lmms-eval that can change the results of a whole run, in the command's order."""


def run_facts(run: Run) -> dict[str, str]:
    """Facts about a run by name, as texts; those that its files do not have are left out."""
    date = evaluated_at(run)
    seconds = str(run.results.get("total_evaluation_time_seconds", ""))  # "73.25"
    whole_seconds = seconds.partition(".")[0]
    return _fact_texts(
        {
            "read from": run.path,
            "partial": run.partial,
            **option_texts(run),
            "harness": " ".join(harness(run)) if run.results else None,
            "date": f"{date:%Y-%m-%d %H:%M} UTC" if date else None,
            "chat template": run.results.get("chat_template_sha"),
            "seconds": whole_seconds,
        }
    )


def task_facts(task: TaskRun) -> dict[str, str]:
    """Facts about a task of a run by name, as texts; those that its files lack are left out."""
    metadata = task.metadata
    data = str(task.data)
    revision = metadata.get("data_revision")
    is_revision_in_data = str(revision) in data  # "DATASET/PART@REVISION:..."
    return _fact_texts(
        {
            "version": task.version,
            "data": data,
            "data revision": None if is_revision_in_data else revision,
            "rows": len(task.samples),
            "versions": metadata.get("versions"),
            "prompt hash": metadata.get("prompt_hash"),
            "generation": task.config.get("generation_kwargs"),
            "task options": task.config.get("lmms_eval_specific_kwargs"),
            "few-shot exemplars": task.config.get("num_fewshot"),
            "explanation scorer": task.signature or task.scorer,
            "kernel of the scorer": metadata.get("explanation_kernel"),
            "samples file": task.path.name,
            "SHA-256 of the samples": task.sha256,
        }
    )


def _fact_texts(facts: Mapping[str, object]) -> dict[str, str]:
    """The facts as texts without secrets and local paths; those of None, "" and {} are left out."""
    texts: dict[str, str] = {}
    for name, fact in facts.items():
        if fact in (None, "", {}):
            continue
        redacted_fact = redacted(fact)
        if not isinstance(redacted_fact, str):
            redacted_fact = json.dumps(redacted_fact, ensure_ascii=False)
        texts[name] = without_paths(redacted_fact)
    return texts


def evaluated_at(run: Run) -> datetime | None:
    """When the run was evaluated, in UTC; None if its results file does not say."""
    date = run.results.get("date")
    try:
        if isinstance(date, int | float):  # lm-eval: seconds since 1970
            return datetime.fromtimestamp(date, timezone.utc).replace(microsecond=0)
        zone = ZoneInfo(_arguments(run).get("timezone") or "Asia/Singapore")  # lmms-eval's default
        local = datetime.strptime(str(date), "%Y%m%d_%H%M%S").replace(tzinfo=zone)
    except (ValueError, LookupError, OverflowError, OSError):
        return None  # No date, or a number that is no time, or a time zone that is unknown.
    return local.astimezone(timezone.utc)


def parameters(run: Run) -> int | None:
    """How many parameters the model has; None if unknown. lm-eval writes it, lmms-eval does not."""
    count = (run.results.get("config") or {}).get("model_num_parameters")
    if not isinstance(count, int) or isinstance(count, bool):
        return None
    # lm-eval writes -1 for an unknown number. No model has as many as the limit.
    return count if 0 < count < _MOST_PARAMETERS else None


def harness(run: Run) -> tuple[str, str]:
    """The name and the version of the harness; both ``unknown`` if the results file has neither."""
    # The version that lmms-eval writes may be a commit of a git folder above its package, so the
    # plugin records the package's version.
    for task in run.tasks.values():
        versions = task.metadata.get("versions") or {}
        if versions.get("lmms-eval"):
            return "lmms_eval", str(versions["lmms-eval"])
    version = run.results.get("lm_eval_version")
    if version:
        return "lm_eval", str(version)
    return "unknown", "unknown"


def option_text(run: Run, name: str) -> str:
    """The value of an option of the run as a command line has it: ``a=1,b=2``; "" if not given.

    An option that is 0, False or empty counts as not given. Secrets are hidden.
    """
    value = redacted(_arguments(run).get(name) or "")
    if isinstance(value, Mapping):
        value = [f"{key}={argument}" for key, argument in value.items()]
    if isinstance(value, list):
        return ",".join(str(argument) for argument in value)
    return str(value)


def option_texts(run: Run) -> dict[str, str]:
    """The values of `OPTIONS` by name, as a command line has them: ``{"batch_size": "8"}``.

    Options that `option_text` takes for not given are left out.
    """
    texts: dict[str, str] = {}
    for name in OPTIONS:
        text = option_text(run, name)
        if text:
            texts[name] = text
    return texts


def _arguments(run: Run) -> Mapping[str, Any]:
    """The options of the run by name: the harness's config, and what else the user gave."""
    config = run.results.get("config") or {}
    command_line_options = config.get("resolved_cli_args")
    if not isinstance(command_line_options, Mapping):
        return config
    return {**command_line_options, **config}  # An option that is in both is as in the config.
