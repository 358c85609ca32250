"""Where the numbers of a run come from, as names and values; secrets of a command line are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import listing
from figlang_tasks.results import options
from figlang_tasks.results.runs import Run, TaskRun, limited


@dataclass(frozen=True)
class Facts:
    """Names and values under a title."""

    title: str
    facts: list[tuple[str, str]]


@dataclass(frozen=True)
class Provenance:
    """What is known about a run.

    Attributes:
        name: of the run.
        limited: how it was cut, as `figlang_tasks.results.runs.limited` says it.
        contradictions: the values of its results file that its samples do not give, with both.
        facts: about the run.
        tasks: about each task.
    """

    name: str
    limited: str | None
    contradictions: list[str]
    facts: list[tuple[str, str]]
    tasks: list[Facts]


def of(run: Run) -> Provenance:
    """Return what the files of a run tell; what they do not tell is left out."""
    results, config = run.results, run.results.get("config") or {}
    cut, told = limited(run), config.get("resolved_cli_args")
    facts = {
        "read from": run.path,
        "cut to": cut,
        "command": f"lmms_eval {options.given(told)}" if isinstance(told, Mapping) else None,
        "model": config.get("model"),
        "model class": config.get("model_backend"),
        "arguments of the model": config.get("model_args"),
        "batch size": config.get("batch_size"),
        "device": config.get("device"),
        "generation arguments of the command": config.get("gen_kwargs"),
        "seeds": ", ".join(
            f"{name.removesuffix('_seed')} {config[name]}" for name in config if str(name).endswith("_seed")
        ),
        "response cache": config.get("use_cache"),
        "lm-eval": results.get("lm_eval_version"),
        "transformers": results.get("transformers_version"),
        # That of lmms-eval is of the folder above its package, whatever that is a part of, or a variable's (utils.py).
        "git commit of the working folder": results.get("git_hash") if "lm_eval_version" in results else None,
        "date": results.get("date"),
        "chat template": results.get("chat_template_sha"),
        "seconds": _rounded(results.get("total_evaluation_time_seconds")),
    }
    contradictions = [
        f"{task.task}: {listing(task.contradictions)}" for task in run.tasks.values() if task.contradictions
    ]
    return Provenance(run.name, cut, contradictions, _told(facts), [_task(task) for task in run.tasks.values()])


def _task(task: TaskRun) -> Facts:
    metadata = task.config.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    options = task.config.get("lmms_eval_specific_kwargs")
    facts = {
        "version": task.version,
        "data": str(task.data),
        "data revision": metadata.get("data_revision"),
        "rows": len(task.lines),
        "versions": metadata.get("versions"),
        "prompt hash": metadata.get("prompt_hash"),
        "generation": task.config.get("generation_kwargs"),
        "task options": options,
        "few-shot exemplars": task.config.get("num_fewshot"),
        "explanation scorer": task.signature or task.scorer,
        "samples file": task.path.name,
        "SHA-256 of it": task.sha256,
    }
    return Facts(task.task, _told(facts))


def _told(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The facts that there are, as texts without secrets."""
    found = []
    for name, value in facts.items():
        if value is None or value == "" or value == {}:
            continue
        shown = redacted(value)
        found.append((name, shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False, default=str)))
    return found


def _rounded(seconds: Any) -> str | None:
    try:
        return f"{float(seconds):.0f}"
    except (TypeError, ValueError):
        return None
