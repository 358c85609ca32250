"""Facts about a finished run for registries and model cards: metrics, data, command and versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.results.options import OPTIONS, given, text
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, full_name
from figlang_tasks.submit import SubmissionError

CONFIDENCE = 0.95

# Those of a machine change no result; a run that was cut is not published.
_PUBLISHED = tuple(each for each in OPTIONS if each not in ("device", "use_cache", "limit", "offset", "samples"))
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


def values(task: TaskRun, scopes: bool = False) -> list[Value]:
    """The task's metrics, in the order of tables.

    Args:
        task: the task.
        scopes: also those of parts of the benchmark. Without, those alone that the benchmark shows in short.

    Raises:
        SubmissionError: the run reported none: there is no results file beside the samples; or one that cannot be.
        RunError: the results file tells no metrics (lm-eval's tells no intervals), and a row is not as its task writes
            it.
    """
    if not task.reported and not task.config:
        raise SubmissionError(
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
            raise SubmissionError(
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
    """When the run was evaluated, in UTC; None if its results file does not say.

    Raises:
        SubmissionError: the results file has a number for it that is no time.
    """
    date = run.results.get("date")
    if isinstance(date, int | float):  # lm-eval: seconds since 1970
        try:
            return datetime.fromtimestamp(date, timezone.utc).replace(microsecond=0)
        except (ValueError, OverflowError, OSError) as error:
            raise SubmissionError(
                f"{run.path}: the results file has the date {date}, which is no time in seconds: restore the file that "
                "the harness wrote"
            ) from error
    arguments = (run.results.get("config") or {}).get("resolved_cli_args") or {}
    try:
        zone = ZoneInfo(arguments.get("timezone") or "Asia/Singapore")  # lmms-eval's default
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
        found = task.config.get("metadata")
        recorded = found.get("versions") if isinstance(found, Mapping) else None
        if isinstance(recorded, Mapping) and recorded.get("lmms-eval"):
            return "lmms_eval", str(recorded["lmms-eval"])
    for name in ("lmms_eval", "lm_eval"):
        version = str(run.results.get(f"{name}_version") or "")
        if version and "@" not in version:
            return name, version
    return ("lmms_eval" if "lmms_eval_version" in run.results else "unknown"), "unknown"


def model_arguments(run: Run) -> str:
    """``--model_args`` of the run as one text, keys and passwords in it masked."""
    return _arguments(run, "model_args")


def generation_arguments(run: Run) -> str:
    """``--gen_kwargs`` of the run, as `model_arguments`."""
    return _arguments(run, "gen_kwargs")


def _arguments(run: Run, option: str) -> str:
    return text((run.results.get("config") or {}).get(option) or "")


def model_id(run: Run) -> str | None:
    """The model's id on the hub (ORG/NAME) by the run's arguments; None if they name no such thing."""
    name = r"[A-Za-z0-9][\w.-]*"  # so no path: neither /home/me/model nor ./model
    options = "pretrained|model|model_version|model_id"
    found = re.search(rf"(?:^|,)(?:{options})=({name}/{name})(?:,|$)", model_arguments(run))
    return found[1] if found else None


def options(run: Run) -> str:
    """The options of the run that change a result, by its results file; "" if it tells none."""
    config = run.results.get("config") or {}
    told = config.get("resolved_cli_args")
    return given({**config, **(told if isinstance(told, Mapping) else {})}, _PUBLISHED)


def metadata(task: TaskRun, name: str) -> str | None:
    """An entry of the task's metadata in the results file, as text; None if it is not there."""
    found = task.config.get("metadata")
    value = found.get(name) if isinstance(found, Mapping) else None
    return None if value is None else str(value)
