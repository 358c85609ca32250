"""What a finished run says of itself: metrics, data, command and versions, as registries and model cards want them."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from figlang_tasks import hub, metric_names, row_counts
from figlang_tasks.metric_names import ENDS
from figlang_tasks.redaction import redacted
from figlang_tasks.runs import Run, TaskRun
from figlang_tasks.submit import SubmissionError

CONFIDENCE = 0.95

_INFINITY = float("inf")
# Bounds of what is no share from 0 to 1, by metric; values in points, not percent, unless they are explanation scores.
_BOUNDS = {
    "rank": (1.0, _INFINITY),
    "cider": (0.0, _INFINITY),
    "fid": (0.0, _INFINITY),
    "clip_similarity": (-_INFINITY, _INFINITY),
    "explanation_score": (-_INFINITY, _INFINITY),  # BLEURT is not bounded
}
_NAME = re.compile(r"[a-z][\w@.-]*")
_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True)
class Value:
    """A reported metric.

    Attributes:
        name: of the metric, with the scope that it is of: ``f1@0``, ``f1@0_muse``.
        value: 0 to 1 if `is_share`, else points.
        low, high: ends of its 95 % interval; None where there is none.
        rows: of the benchmark that it was taken over (``figlang_tasks.row_counts``); None where the samples do not say.
    """

    name: str
    value: float
    low: float | None
    high: float | None
    rows: int | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        """Least and greatest possible value."""
        return next((of for name, of in _BOUNDS.items() if metric_names.is_one_of(self.name, [name])), (0.0, 1.0))

    @property
    def is_share(self) -> bool:
        """Whether people write it in percent."""
        return metric_names.is_share(self.name)

    @property
    def lower_is_better(self) -> bool:
        return metric_names.is_one_of(self.name, metric_names.LOWER_IS_BETTER)

    @property
    def diagnostic(self) -> bool:
        """Whether it says how the run went (how the outputs could be read, say), not how good they are."""
        return metric_names.is_one_of(self.name, (*metric_names.DIAGNOSTICS, "share"))

    def shown(self) -> tuple[str, str]:
        """Value and interval as people read them."""
        scale, digits = (100, 1) if self.is_share else (1, 2)
        interval = (
            ""
            if self.low is None or self.high is None
            else f"{scale * self.low:.{digits}f} to {scale * self.high:.{digits}f}"
        )
        return f"{scale * self.value:.{digits}f}", interval


@dataclass(frozen=True)
class Data:
    """What a task was evaluated on.

    Attributes:
        dataset: name here, e.g. ``IRFL``.
        part: split or table.
        digest: of the texts, 12 hex digits.
        repository: dataset on the hub; None if it has none.
        revision: 40-hex commit of it; None where the files came from elsewhere.
    """

    dataset: str
    part: str
    digest: str
    repository: str | None
    revision: str | None


def values(task: TaskRun, scopes: bool = False) -> list[Value]:
    """The task's metrics, without facts of the data (``metric_names.FACTS``).

    Args:
        task: the task.
        scopes: also those of parts of the benchmark. Without, of idioms still the two categories that IRFL reports.

    Raises:
        SubmissionError: the run reported none: there is no results file beside the samples.
    """
    if not task.metrics:
        raise SubmissionError(
            f"{task.path}: no metrics: the results file of the run (*results*.json) is not beside it, or holds no "
            f"results of {task.task}"
        )
    known = [name for name in task.metrics if _NAME.fullmatch(name) and metric_names.is_metric(name)]
    chosen = [name for name in known if scopes or _of_the_whole(name, known)]
    # What is not finite: its aggregation has failed.
    numbers = {name: value for name, value in task.metrics.items() if math.isfinite(value)}
    low, high = ENDS
    counts = row_counts.of_lines(task.lines)
    return [
        Value(name, numbers[name], numbers.get(name + low), numbers.get(name + high), counts.get(name))
        for name in chosen
        if name in numbers
    ]


def _of_the_whole(name: str, names: list[str]) -> bool:
    """Whether a metric is of the whole benchmark: `acc` is, and `acc_muse` its value for one source."""
    whole = not any(name.startswith(f"{other}_") for other in names)
    return whole or name.endswith(("_figurative", "_figurative_literal"))


def data(task: TaskRun) -> Data:
    """What the task was evaluated on, by its rows."""
    source = hub.source(task.dataset)
    part, _, rest = task.data.partition("/")[2].partition("@" if "@" in task.data else ":")
    named, _, digest = rest.rpartition(":")
    record = task.lines[0]["sample"]
    # V-FLUTE's rows do not say where they came from: this package reads one commit of it.
    revision = named or record.get("revision") or source.revision or ""
    return Data(
        dataset=task.dataset,
        part=part,
        digest=digest,
        repository=source.repository,
        revision=revision if _COMMIT.fullmatch(revision) else None,
    )


def evaluated_at(run: Run) -> datetime | None:
    """When the run was evaluated, in UTC; None where its results file does not tell."""
    date = run.results.get("date")
    if isinstance(date, int | float):  # lm-eval: seconds since 1970
        return datetime.fromtimestamp(date, timezone.utc).replace(microsecond=0)
    arguments = (run.results.get("config") or {}).get("resolved_cli_args") or {}
    try:
        zone = ZoneInfo(arguments.get("timezone") or "Asia/Singapore")  # lmms-eval's default
        local = datetime.strptime(str(date), "%Y%m%d_%H%M%S").replace(tzinfo=zone)
    except (ValueError, TypeError, ZoneInfoNotFoundError):
        return None
    return local.astimezone(timezone.utc)


def harness(run: Run) -> tuple[str, str]:
    """Name and version of the harness; ``unknown`` where the results file does not tell.

    What lmms-eval calls its version is ``BRANCH@COMMIT`` of the git folder that it was started in (0.7.3, ``utils.py``,
    line 840), so of any project: that is none. The plugin records the package's.
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
    arguments = redacted((run.results.get("config") or {}).get("model_args") or "")
    if isinstance(arguments, Mapping):
        return ",".join(f"{name}={value}" for name, value in arguments.items())
    return str(arguments)


def model_id(run: Run) -> str | None:
    """The model's id on the hub (ORG/NAME) by the run's arguments; None if they name no such thing."""
    name = r"[A-Za-z0-9][\w.-]*"  # so no path: neither /home/me/model nor ./model
    options = "pretrained|model|model_version|model_id"
    found = re.search(rf"(?:^|,)(?:{options})=({name}/{name})(?:,|$)", model_arguments(run))
    return found[1] if found else None


def command(run: Run, tasks: list[str]) -> str | None:
    """A command that evaluates those tasks like the run did; None where its results file does not tell."""
    config: Mapping[str, Any] = run.results.get("config") or {}
    name = harness(run)[0]
    if not isinstance(config.get("model"), str) or name == "unknown":
        return None
    words = [name, "--model", config["model"], "--tasks", ",".join(tasks)]
    for option, value in (
        ("--model_args", model_arguments(run)),
        ("--batch_size", config.get("batch_size")),
        ("--gen_kwargs", redacted(config.get("gen_kwargs"))),
    ):
        words += [option, str(value)] if value else []
    return shlex.join([*words, "--log_samples", "--output_path", "results"])


def metadata(task: TaskRun, name: str) -> str | None:
    """An entry of the task's metadata in the results file, as text; None if it is not there."""
    found = task.config.get("metadata")
    value = found.get(name) if isinstance(found, Mapping) else None
    return None if value is None else str(value)
