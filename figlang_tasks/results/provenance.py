"""Where the numbers of a run come from: facts for reports, model cards and registries, without secrets."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.results.runs import Run, TaskRun, limited
from figlang_tasks.scoring import OVERALL, Estimate, Measure, full_name

# What of lmms-eval's command line changes a result, in the order of the command.
OPTIONS = (
    "model",
    "model_args",
    "tasks",
    "batch_size",
    "device",
    "num_fewshot",
    "gen_kwargs",
    "limit",
    "offset",
    "samples",
    "seed",
    "use_cache",
    "system_instruction",
    "apply_chat_template",
    "fewshot_as_multiturn",
    "force_simple",
    "max_tokens",
    "reasoning_tags",
)
_DEFAULTS = {"offset": 0, "reasoning_tags": '[["<think>", "</think>"], ["<analysis>", "</analysis>"]]'}
# Those of a machine change no result; a run that was cut is not published.
PUBLISHED = tuple(each for each in OPTIONS if each not in ("device", "use_cache", "limit", "offset", "samples"))
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Value:
    """A reported metric: the value of a measure in a scope."""

    measure: Measure
    scope: str
    estimate: Estimate

    @property
    def name(self) -> str:
        """Measure and scope in one word: ``f1@0``, ``f1@0_muse``."""
        return full_name(self.measure.name, self.scope)

    def shown(self) -> tuple[str, str]:
        """Value and interval as people read them."""
        shown, found = self.measure.text, self.estimate
        interval = "" if found.low is None or found.high is None else f"{shown(found.low)} to {shown(found.high)}"
        return shown(found.value), interval


@dataclass(frozen=True)
class Data:
    """The data of a task.

    Attributes:
        dataset: its name here.
        part, digest: as of :class:`figlang_tasks.core.data_id.DataId`.
        repository: dataset on the hub; None if it has none, or the rows are not the release's.
        revision: 40-hex commit of it; None where the files came from elsewhere.
    """

    dataset: str
    part: str
    digest: str
    repository: str | None
    revision: str | None


def of_run(run: Run) -> dict[str, str]:
    """Facts about a run; what its files do not tell is left out."""
    date = evaluated_at(run)
    return _told(
        {
            "read from": run.path,
            "cut to": limited(run),
            "options": options(run, OPTIONS),
            "harness": " ".join(harness(run)) if run.results else None,
            "transformers": run.results.get("transformers_version"),
            "date": date and f"{date:%Y-%m-%d %H:%M} UTC",
            "chat template": run.results.get("chat_template_sha"),
            "seconds": run.results.get("total_evaluation_time_seconds"),
        }
    )


def of_task(task: TaskRun) -> dict[str, str]:
    """Facts about a task of a run; what its files do not tell is left out."""
    about = task.metadata
    return _told(
        {
            "version": task.version,
            "data": str(task.data),
            "data revision": about.get("data_revision"),
            "rows": len(task.lines),
            "versions": about.get("versions"),
            "prompt hash": about.get("prompt_hash"),
            "generation": task.config.get("generation_kwargs"),
            "task options": task.config.get("lmms_eval_specific_kwargs"),
            "few-shot exemplars": task.config.get("num_fewshot"),
            "explanation scorer": task.signature or task.scorer,
            "samples file": task.path.name,
            "SHA-256 of it": task.sha256,
        }
    )


def _told(facts: Mapping[str, Any]) -> dict[str, str]:
    """The facts that there are, as texts without secrets."""
    shown = {name: redacted(value) for name, value in facts.items() if value not in (None, "", {})}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in shown.items()
    }


def values(task: TaskRun, scopes: bool = False) -> list[Value]:
    """The task's metrics, in the order of tables."""
    if not task.reported and not task.config:
        raise RunError(
            f"{task.path}: no metrics: the results file of the run (*results*.json) is not next to it, or has no "
            f"results of {task.task}"
        )
    shown = (OVERALL, *benchmarks()[task.benchmark].parts.in_short)
    found = [
        Value(measure, scope, estimate)
        for measure in task.measures.all
        for scope, estimate in task.estimates.get(measure.name, {}).items()
        if scopes or scope in shown
    ]
    for value in found:
        low, high = value.measure.bounds
        if not low <= value.estimate.value <= high:
            raise RunError(
                f"{task.path}: {value.name} is {value.estimate.value:g}, which is not between {low:g} and {high:g}: "
                "restore the results file that the harness wrote"
            )
    return found


def data(task: TaskRun) -> Data:
    """The data of the task, by its rows."""
    source = hub.source(task.dataset)
    record = task.lines[0]["sample"]
    # Rows of a dataset that is read at one commit alone do not say where they came from.
    revision = task.data.revision or record.get("revision") or source.revision or ""
    return Data(
        dataset=task.dataset,
        part=task.data.part,
        digest=task.data.digest,
        repository=None if task.own else source.repository,
        revision=revision if _COMMIT.fullmatch(revision) else None,
    )


def evaluated_at(run: Run) -> datetime | None:
    """When the run was evaluated, in UTC; None if its results file does not say."""
    date = run.results.get("date")
    if isinstance(date, int | float):  # lm-eval: seconds since 1970
        try:
            return datetime.fromtimestamp(date, timezone.utc).replace(microsecond=0)
        except (ValueError, OverflowError, OSError) as error:
            raise RunError(
                f"{run.path}: the results file has the date {date}, which is no time in seconds: restore the file that "
                "the harness wrote"
            ) from error
    try:
        zone = ZoneInfo(_arguments(run).get("timezone") or "Asia/Singapore")  # lmms-eval's default
        local = datetime.strptime(str(date), "%Y%m%d_%H%M%S").replace(tzinfo=zone)
    except (ValueError, TypeError, ZoneInfoNotFoundError):
        return None
    return local.astimezone(timezone.utc)


def harness(run: Run) -> tuple[str, str]:
    """Name and version of the harness; ``unknown`` if the results file does not say.

    What lmms-eval calls its version is ``BRANCH@COMMIT`` of the git folder above its package, if there is one (0.7.3,
    ``utils.py``, line 840), so of any project: that is none. The plugin records the package's.
    """
    for task in run.tasks.values():
        recorded = task.metadata.get("versions")
        if isinstance(recorded, Mapping) and recorded.get("lmms-eval"):
            return "lmms_eval", str(recorded["lmms-eval"])
    for name in ("lmms_eval", "lm_eval"):
        version = str(run.results.get(f"{name}_version") or "")
        if version and "@" not in version:
            return name, version
    return ("lmms_eval" if "lmms_eval_version" in run.results else "unknown"), "unknown"


def model_arguments(run: Run) -> str:
    """``--model_args`` of the run as one text, keys and passwords in it masked."""
    return text(_config(run).get("model_args") or "")


def generation_arguments(run: Run) -> str:
    """``--gen_kwargs`` of the run, as `model_arguments`."""
    return text(_config(run).get("gen_kwargs") or "")


def model_id(run: Run) -> str | None:
    """The model's id on the hub (ORG/NAME) by the run's arguments; None if they name no such thing."""
    name = r"[A-Za-z0-9][\w.-]*"  # so no path: neither /home/me/model nor ./model
    arguments = "pretrained|model|model_version|model_id"
    found = re.search(rf"(?:^|,)(?:{arguments})=({name}/{name})(?:,|$)", model_arguments(run))
    return found[1] if found else None


def options(run: Run, names: Iterable[str] = PUBLISHED) -> str:
    """The options of the run as a command line has them, without those at their default and without secrets.

    The default are those that change a result; "" if the results file tells none.
    """
    told, words = _arguments(run), []
    for name in names:
        value = told.get(name)
        if value in (None, "", False, [], {}) or value == _DEFAULTS.get(name):
            continue
        words.append(f"--{name}")
        if value is not True:
            words.append(shlex.quote(text(value)))
    return " ".join(words)


def text(value: Any) -> str:
    """The value of an option as a command line has it, without secrets: ``a=1,b=2`` of a mapping, ``a,b`` of a list."""
    shown = redacted(value)
    if isinstance(shown, Mapping):
        shown = [f"{key}={each}" for key, each in shown.items()]
    return ",".join(map(str, shown)) if isinstance(shown, list) else str(shown)


def metadata(task: TaskRun, name: str) -> str | None:
    """An entry of the task's metadata in the results file, as text; None if it is not there."""
    value = task.metadata.get(name)
    return None if value is None else str(value)


def _config(run: Run) -> Mapping[str, Any]:
    return run.results.get("config") or {}


def _arguments(run: Run) -> Mapping[str, Any]:
    """What the command was given, where the harness tells it, else what it made of that."""
    told = _config(run).get("resolved_cli_args")
    return {**_config(run), **(told if isinstance(told, Mapping) else {})}
