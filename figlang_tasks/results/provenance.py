"""Where the numbers of a run come from: facts for reports, model cards and registries, without
secrets.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import without_paths
from figlang_tasks.results.task_run import Run, TaskRun

# What of lmms-eval's command line changes a result of all rows, in the order of the command.
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


def run_facts(run: Run) -> dict[str, str]:
    """Facts about a run; what its files do not tell is left out."""
    date = evaluated_at(run)
    return _told(
        {
            "read from": run.path,
            "cut to": run.partial,
            **option_texts(run),
            "harness": " ".join(harness(run)) if run.results else None,
            "date": date and f"{date:%Y-%m-%d %H:%M} UTC",
            "chat template": run.results.get("chat_template_sha"),
            "seconds": str(run.results.get("total_evaluation_time_seconds", "")).partition(".")[0],
        }
    )


def task_facts(task: TaskRun) -> dict[str, str]:
    """Facts about a task of a run; what its files do not tell is left out."""
    about = task.metadata
    data, revision = str(task.data), about.get("data_revision")
    return _told(
        {
            "version": task.version,
            "data": data,
            "data revision": None if str(revision) in data else revision,
            "rows": len(task.samples),
            "versions": about.get("versions"),
            "prompt hash": about.get("prompt_hash"),
            "generation": task.config.get("generation_kwargs"),
            "task options": task.config.get("lmms_eval_specific_kwargs"),
            "few-shot exemplars": task.config.get("num_fewshot"),
            "explanation scorer": task.signature or task.scorer,
            "kernel of the scorer": about.get("explanation_kernel"),
            "samples file": task.path.name,
            "SHA-256 of the samples": task.sha256,
        }
    )


def _told(facts: Mapping[str, Any]) -> dict[str, str]:
    """The facts that there are, as texts without secrets and local paths."""
    shown = {name: redacted(value) for name, value in facts.items() if value not in (None, "", {})}
    return {
        name: without_paths(
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        )
        for name, value in shown.items()
    }


def evaluated_at(run: Run) -> datetime | None:
    """When the run was evaluated, in UTC; None if its results file does not say."""
    date = run.results.get("date")
    try:
        if isinstance(date, int | float):  # lm-eval: seconds since 1970
            return datetime.fromtimestamp(date, timezone.utc).replace(microsecond=0)
        zone = ZoneInfo(_arguments(run).get("timezone") or "Asia/Singapore")  # lmms-eval's default
        local = datetime.strptime(str(date), "%Y%m%d_%H%M%S").replace(tzinfo=zone)
    except (ValueError, LookupError, OverflowError, OSError):  # a number may be no time
        return None
    return local.astimezone(timezone.utc)


def harness(run: Run) -> tuple[str, str]:
    """Name and version of the harness; ``unknown`` if the results file does not say."""
    # lmms-eval's own may be a commit of the git folder above its package: the plugin records the
    # package's.
    for task in run.tasks.values():
        if version := (task.metadata.get("versions") or {}).get("lmms-eval"):
            return "lmms_eval", str(version)
    version = run.results.get("lm_eval_version")
    return ("lm_eval", str(version)) if version else ("unknown", "unknown")


def option_text(run: Run, name: str) -> str:
    """The value of an option of the run as a command line has it (``a=1,b=2``), without secrets; ""
    without one.
    """
    shown = redacted(_arguments(run).get(name) or "")
    if isinstance(shown, Mapping):
        shown = [f"{key}={each}" for key, each in shown.items()]
    return ",".join(map(str, shown)) if isinstance(shown, list) else str(shown)


def option_texts(run: Run) -> dict[str, str]:
    """The options of the run that change a result."""
    return {name: text for name in OPTIONS if (text := option_text(run, name))}


def _arguments(run: Run) -> Mapping[str, Any]:
    """The harness's config, with options of the command line that it does not have."""
    config = run.results.get("config") or {}
    told = config.get("resolved_cli_args")
    return {**(told if isinstance(told, Mapping) else {}), **config}
