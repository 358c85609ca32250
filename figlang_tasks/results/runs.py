"""Finished runs: what a harness saved of the evaluation of one model, as one object.

``figlang compare``, ``report``, ``submit`` and ``judge`` start from it. A run is named by a samples file, a results
file, or a folder that holds them. ``figlang score`` writes runs of the same form.
"""

from __future__ import annotations

import glob
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loguru import logger

from figlang_tasks import scoring
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import benchmarks, of_dataset
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, RunError
from figlang_tasks.core.hub import OWN
from figlang_tasks.core.json_lines import SAMPLES_NAME
from figlang_tasks.core.text import listing
from figlang_tasks.results import samples
from figlang_tasks.results.published import Measured
from figlang_tasks.results.samples import OfAnotherTask
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measures, Record, flat, full_name
from figlang_tasks.scoring.evaluation import FACTS
from figlang_tasks.scoring.explained import is_explained
from figlang_tasks.scoring.measure import REPEAT
from figlang_tasks.scoring.notices import notices

if TYPE_CHECKING:
    from figlang_tasks.metrics.significance import Statistic

_RESULTS_NAME = re.compile(r"(?:(?P<before>.+)_)?results(?:_(?P<after>\d{4}-\d\d-\d\dT[\d.-]+))?\.json")
_SCORED_BESIDE = re.compile(r"(?:.+_)?samples_.+\.[a-z][^.]*\.jsonl")
_BY_TASK = ("results", "configs", "versions", "n-samples")
_SHOWN = 5
_ROUNDING = 1e-6
_MOST_MEAN = 2.0  # BERTScore is at most 1; BLEURT, which has no bounds, is about 0 to 1
_DAMAGE = (LookupError, TypeError, ValueError, AttributeError)  # of computing with records that a task did not write
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class TaskRun:
    """The saved results of one task of a run.

    Attributes:
        task: its name.
        benchmark: the package of its benchmark (:class:`figlang_tasks.core.benchmark.Benchmark`).
        path: the samples file that was read.
        sha256: hex digest of that file.
        data: data of all rows.
        lines: every line, in the order of the file: ``sample`` (our record), the numbers of the headline measures, and
            what the harness adds.
        reported: the estimates that the results file holds. Empty where no results file tells any (lm-eval).
        config: the task's entry in the results file; empty if there is no such file.
        tabled: the harness's own table of it, by measure.
        scorer: the explanation scorer behind the rows' scores; None if they have none.
        signature: its signature, None if it is not known.
        failed: measures whose computation failed in the run: the results file has no number of them.
        cut: why the task is partial: ``limit 8``, ``offset 4``; None for a whole one, or if there is no results file.
    """

    task: str
    benchmark: str
    path: Path
    sha256: str
    data: DataId
    lines: tuple[Mapping[str, Any], ...]
    reported: Estimates
    config: Mapping[str, Any]
    scorer: str | None
    signature: str | None
    failed: tuple[str, ...] = ()
    cut: str | None = None
    tabled: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """The rows' ids in the order of the file."""
        return tuple(line["sample"]["id"] for line in self.lines)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The record of each line."""
        return tuple(line["sample"] for line in self.lines)

    @cached_property
    def measures(self) -> Measures:
        """The measures of the task."""
        return self.computed(lambda own, records: own)

    @cached_property
    def rows(self) -> int:
        """How many rows of the benchmark the lines are of."""
        return self.computed(lambda own, records: own.rows(records))

    @cached_property
    def estimates(self) -> Estimates:
        """The reported estimates; where there are none, those of the samples."""
        return self.reported or self.of_samples

    @cached_property
    def of_samples(self) -> Estimates:
        """The estimates that the samples give (without METEOR and the like)."""
        return self.computed(lambda own, records: scoring.evaluate(records, own.sums, 0))

    @cached_property
    def statistics(self) -> dict[tuple[str, str], Statistic]:
        """The sufficient statistics of each measure in each scope; of METEOR, FID and the like there are none."""
        return self.computed(
            lambda measures, records: {
                (measure.name, scope): statistic
                for measure in measures.all
                for scope, statistic in measure.statistics(records).items()
            }
        )

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """The values of the results file that its samples do not give: ``acc 0.900000 (its samples: 0.500000)``."""
        told = [(name, OVERALL, value) for name, value in self.tabled.items()]
        told += [(name, scope, estimate.value) for name, scope, estimate in flat(self.reported)]
        found: dict[str, None] = {}
        for name, scope, value in told:
            measure = self.measures.by_name.get(name)
            if measure is None or measure.own is not None:
                continue
            given = self.statistics[name, scope].total() if (name, scope) in self.statistics else math.nan
            if not abs(given - value) <= _ROUNDING:
                text = "none" if math.isnan(given) else f"{given:.6f}"
                found[f"{full_name(name, scope)} {value:.6f} (its samples: {text})"] = None
        return tuple(found)

    def computed(self, compute: Callable[[Measures, Sequence[Record]], _Value]) -> _Value:
        """What `compute` makes of the measures of the task and of its records."""

        def of(records: Sequence[Record]) -> _Value:
            return compute(benchmarks()[self.benchmark].measures(records), records)

        try:
            return of(self.records)
        except _DAMAGE as error:
            raise RunError(
                f"{self.path}, line {_damaged_line(self.records, of)} is not as the task {self.task} writes it "
                f"({type(error).__name__}: {error}): restore the file that the harness wrote; if an earlier version of "
                "figlang_tasks did, evaluate again (figlang_replay scores saved outputs again without the model)"
            ) from error

    @cached_property
    def unanswered(self) -> int:
        """How many requests have no answer: the harness wrote its error text instead."""
        return sum(any(map(notes.is_no_answer, _texts(line.get("filtered_resps")))) for line in self.lines)

    @cached_property
    def notices(self) -> list[str]:
        """What to know of the outputs before the numbers are read (`scoring.notices`)."""
        outputs = [next(_texts(line.get("filtered_resps")), None) for line in self.lines]
        return self.computed(lambda own, records: notices(own.by_name, records, outputs))

    @property
    def sampled(self) -> str | None:
        """The setting by which answers were drawn at random (``temperature 0.7``); None: none tells so."""
        settings = self.config.get("generation_kwargs")
        found = settings if isinstance(settings, Mapping) else {}
        try:
            temperature = float(found["temperature"])
        except (LookupError, TypeError, ValueError):  # none is given
            return "do_sample" if str(found.get("do_sample")).lower() in ("true", "1") else None
        return f"temperature {temperature:g}" if temperature > 0 else None  # at 0 the most probable word is taken

    @property
    def explained(self) -> bool:
        """Whether the rows are of explainable entailment, with a published answer (`EntailmentRecord`)."""
        return any(map(is_explained, self.records))  # what one damaged record lacks, its reader tells

    @property
    def dataset(self) -> str:
        """Name of the dataset, a key of :func:`figlang_tasks.core.hub.sources`."""
        return self.data.dataset

    @property
    def own(self) -> bool:
        """Whether the user brought the rows, in place of the release's."""
        return any(record.get("revision") == OWN for record in self.records)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What the results file says of the task beside its values; empty if it says nothing."""
        return self.config.get("metadata") or {}

    @property
    def version(self) -> str | None:
        """The task's version, ``N-X``; None where no results file tells it."""
        version = self.metadata.get("version")
        return None if version is None else str(version)


def check_consistent(task: TaskRun) -> None:
    """Check that the samples give what the results file says."""
    if task.contradictions:
        raise RunError(
            f"{task.path}: the results file says {listing(task.contradictions)}. Are these files of two runs, or of "
            "another version of figlang_tasks, or was one changed? Restore what the harness wrote, or evaluate again "
            "(figlang_replay scores saved outputs again without the model)"
        )


def _damaged_line(records: Sequence[Record], compute: Callable[[Sequence[Record]], object]) -> str:
    """The first line that cannot be read alone."""
    for number, record in enumerate(records, start=1):
        try:
            compute([record])
        except _DAMAGE:
            return str(number)
    return "unknown"


@dataclass(frozen=True)
class Run:
    """The saved results of one evaluation of one model.

    Attributes:
        name: for people: as given, else the model's.
        path: what the user named.
        tasks: by name.
        results: content of the results file; empty if there is none.
    """

    name: str
    path: Path
    tasks: Mapping[str, TaskRun]
    results: Mapping[str, Any]


def by_repeat(run: Run) -> list[Run]:
    """The first answers of a run to all rows, the second ones, and so on (``--repeats``), as runs of one name."""
    numbers = {name: {record.get(REPEAT, 1) for record in task.records} for name, task in run.tasks.items()}
    if all(len(own) == 1 for own in numbers.values()):
        return [run]
    found = []
    for number in sorted(set().union(*numbers.values())):
        lines = {
            name: tuple(line for line in task.lines if line["sample"].get(REPEAT, 1) == number)
            for name, task in run.tasks.items()
        }
        tasks = {
            name: replace(run.tasks[name], lines=own, reported={}, tabled={}) for name, own in lines.items() if own
        }
        found.append(replace(run, tasks=tasks))
    return found


def read_all(arguments: Sequence[str], repeats: bool = False) -> list[Run]:
    """Read several runs; names that two of them share are followed by their paths."""
    if repeats:
        arguments = [each for argument in arguments for each in _matching(argument)]
    given = [_argument(argument)[0] is not None for argument in arguments]
    found = list(map(read, arguments))
    files = Counter(task.path.resolve() for run in found for task in run.tasks.values())
    if twice := [path for path, count in files.items() if count > 1]:
        raise RunError(f"{twice[0]} is given {files[twice[0]]} times: give each run once")
    names = Counter(run.name for run in found)
    found = [
        run
        if names[run.name] == 1 or (repeats and is_given)
        else Run(f"{run.name} ({run.path})", run.path, run.tasks, run.results)
        for run, is_given in zip(found, given, strict=True)
    ]
    return [each for run in found for each in by_repeat(run)] if repeats else found


def read(argument: str) -> Run:
    """Read a run."""
    name, path = _argument(argument)
    files = samples_files(path)
    results, cuts = _results(files)
    tasks = {task: _task_run(task, file, results, cuts.get(task)) for task, file in files.items()}
    found = {task: run for task, run in tasks.items() if run is not None}
    if not found:
        raise RunError(
            f"{path} has only samples of other tasks, or of --predict_only ({', '.join(sorted(files)[:_SHOWN])}): name "
            "a scored run of a task of figlang_tasks (figlang_replay scores saved outputs without the model)"
        )
    name = name or model_name(results) or (path.stem if path.suffix else path.name)
    return Run(name, path, found, results)


def reported(results: Mapping[str, Any]) -> dict[str, Estimates]:
    """All measures that a results file tells, by task of ours; NaN where the computation failed."""
    found: dict[str, Estimates] = {}
    for task in dict.fromkeys([*(results.get("results") or ()), *(results.get("configs") or ())]):  # these are sorted
        if metadata := measured_metadata(results, task):
            estimates = _reported(f"the results of {task} are", metadata["measures"])
            found[task] = with_failed(estimates, scoring.failed(metadata["measures"]))
    return found


def measured_metadata(results: Mapping[str, Any], task: str) -> Mapping[str, Any] | None:
    """The metadata of a task of ours with its measures; None if a results file has none."""
    configs = results.get("configs")
    config = configs.get(task) if isinstance(configs, Mapping) else None
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    return metadata if isinstance(metadata, Mapping) and "measures" in metadata else None


def with_failed(estimates: Estimates, failed: Iterable[str]) -> Estimates:
    """The estimates, and NaN for measures whose computation failed."""
    return {**estimates, **{name: {OVERALL: Estimate(math.nan)} for name in failed if name not in estimates}}


def measured(task: TaskRun) -> Measured:
    """What decides whether published results are comparable with a task of a run."""
    return Measured(task.rows, task.cut, task.signature or task.scorer, task.own)


def limited(run: Run) -> str | None:
    """Why a run is partial, with the tasks where others are whole; None for a whole run (`TaskRun.cut`)."""
    tasks: dict[str, list[str]] = {}
    for task in run.tasks.values():
        if task.cut:
            tasks.setdefault(task.cut, []).append(task.task)
    told = {how: "" if len(names) == len(run.tasks) else f" in {listing(names)}" for how, names in tasks.items()}
    return ", ".join(how + where for how, where in told.items()) or None


def cut(results: Mapping[str, Any], tasks: Iterable[str]) -> str | None:
    """How a run was cut short in some tasks, by the content of its results file."""
    config, counts = results.get("config") or {}, results.get("n-samples") or {}
    rows = {
        task: (count.get("effective"), count.get("original")) for task in tasks for count in [counts.get(task) or {}]
    }
    is_whole = bool(rows) and all(effective == original is not None for effective, original in rows.values())
    given = [(option, config.get(option)) for option in ("limit", "offset", "samples")]
    # The harness makes 8.0 of a limit of 8; -1 is all rows, as is a limit that no task reaches.
    cuts = [
        f"{option} {f'{value:g}' if isinstance(value, float) else value}"
        for option, value in given
        if value and value != -1 and not (option == "limit" and is_whole)
    ]
    usage = results.get("usage")
    if isinstance(usage, Mapping) and usage.get("budget_exceeded"):
        cuts.append("--max_tokens spent")
    for task, (effective, original) in rows.items():
        if not cuts and effective != original:
            cuts.append(f"{effective} of {original} rows of {task}")
    return ", ".join(cuts) or None


def caveats(run: Run, tasks: Collection[str] = ()) -> list[str]:
    """Warnings for readers of a run's numbers: one sentence each, without a full stop."""
    found = [f"{run.name} was cut short: {how}"] if (how := limited(run)) else []
    for task in [run.tasks[name] for name in tasks if name in run.tasks] or run.tasks.values():
        where = f"{run.name}, {task.task}"
        if task.unanswered:
            found.append(f"{where}: {task.unanswered} of {len(task.lines)} rows have no answer and count as wrong")
        found += [f"{where}: {notice}" for notice in task.notices]
        if task.sampled:
            found.append(f"{where}: answers were sampled ({task.sampled}); another run gives other answers")
    return found


def _texts(value: Any) -> Iterator[str]:
    """The texts in lists of lists, as deep as lm-eval nests them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


# --- finding the files -----------------------------------------------------------------------------------------------


def _argument(argument: str) -> tuple[str | None, Path]:
    if not Path(argument).exists() and "=" in argument:
        name, _, path = argument.partition("=")
        if not name:
            raise RunError(f"{argument}: the name before = is empty")
        return name, Path(path)
    return None, Path(argument)


def _matching(argument: str) -> list[str]:
    """``NAME=PATH`` for each path that a pattern after a name matches; else the argument."""
    name, path = _argument(argument)
    if name is None or path.exists():
        return [argument]
    return [f"{name}={each}" for each in sorted(glob.glob(str(path)))] or [argument]


def samples_files(path: Path) -> dict[str, Path]:
    """The samples file of each task of a run."""
    if not path.exists():
        raise RunError(f"{path} does not exist: give a samples file, a results file or the folder of a run")
    if path.suffix == ".jsonl":
        named = SAMPLES_NAME.fullmatch(path.name)
        return {named["task"] if named else path.stem.replace(".", "_"): path}
    if path.is_file():
        named = _RESULTS_NAME.fullmatch(path.name)
        if named is None:
            raise RunError(f"{path} is neither a samples file (*.jsonl) nor a results file (*results*.json)")
        found = [(task, file) for task, date, file in _in_folder(path.parent) if date == _date(named)]
        if not found:
            raise RunError(f"there are no samples next to {path}: evaluate with --log_samples")
        return dict(sorted(found))
    files: dict[str, list[tuple[str, Path]]] = {}
    for task, date, file in _in_folder(path):
        files.setdefault(task, []).append((date, file))
    if not files:
        below = sorted({file.parent for file in path.glob("*/*samples_*.jsonl")})
        if len(below) == 1:  # the harness's own folder, named after the model
            return samples_files(below[0])
        hint = f"; these folders have some: {', '.join(map(str, below[:_SHOWN]))}" if below else ""
        raise RunError(f"there are no samples files in {path} (evaluate with --log_samples){hint}")
    if again := sorted(task for task, runs in files.items() if len(runs) > 1):
        used = ", ".join(sorted({max(files[task])[0] for task in again}))
        logger.warning(f"figlang_tasks: {path} holds several runs of {listing(again)}: the newest is used, of {used}")
    return {task: max(runs)[1] for task, runs in sorted(files.items())}


def below(folder: Path) -> list[Path]:
    """A file of each run in a folder and below it: its results file, or its samples files where it has none."""
    results = {file: named for file in folder.rglob("*.json") if (named := _RESULTS_NAME.fullmatch(file.name))}
    dated = {(file.parent, _date(named)) for file, named in results.items()}
    folders = {file.parent for file in folder.rglob("*samples_*.jsonl")}
    samples = [(each, date, file) for each in folders for _, date, file in _in_folder(each)]
    return sorted([*results, *(file for each, date, file in samples if (each, date) not in dated)])


def _in_folder(folder: Path) -> list[tuple[str, str, Path]]:
    """Task, date and path of the harness's samples files in a folder."""
    files = sorted(folder.glob("*.jsonl"))
    if old := [file.name for file in files if _SCORED_BESIDE.fullmatch(file.name)]:
        logger.warning(
            f"figlang_tasks: {folder}: {listing(old)}: not read, because an earlier version of figlang score wrote "
            f"them. figlang score {folder} writes a run with scores (from its cache)"
        )
    found = [(file, named) for file in files if (named := SAMPLES_NAME.fullmatch(file.name))]
    return [(named["task"], _date(named), file) for file, named in found]


def _date(named: re.Match[str]) -> str:
    return named["before"] or named["after"] or ""


def results_files(files: Mapping[str, Path]) -> Iterator[tuple[Path, dict[str, Any], set[str]]]:
    """Each results file of samples files, its content, and the tasks of these: a folder may hold a run of each task."""
    tasks: dict[tuple[Path, str], set[str]] = {}
    for task, file in files.items():
        if named := SAMPLES_NAME.fullmatch(file.name):
            tasks.setdefault((file.parent, _date(named)), set()).add(task)
    for (folder, date), own in sorted(tasks.items()):
        for path in sorted(folder.glob("*results*.json")):
            named = _RESULTS_NAME.fullmatch(path.name)
            if named is not None and _date(named) == date:
                yield path, results_file(path), own


def _results(files: Mapping[str, Path]) -> tuple[Mapping[str, Any], Mapping[str, str | None]]:
    """The results files of samples files, as one, and `TaskRun.cut` by task."""
    merged: dict[str, Any] = {}
    cuts: dict[str, str | None] = {}
    for _, content, own in results_files(files):
        cuts |= {task: cut(content, [task]) for task in own}
        for key, value in content.items():
            if key in _BY_TASK and isinstance(value, Mapping):
                value = merged.get(key, {}) | {task: of for task, of in value.items() if task in own}
            merged[key] = value
    return merged, cuts


def results_file(path: Path) -> dict[str, Any]:
    """The content of a results file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path} cannot be read ({error}): restore the file that the harness wrote") from error
    if not isinstance(content, dict):
        raise RunError(f"{path} is not a results file: restore the file that the harness wrote")
    return content


def model_name(results: Mapping[str, Any]) -> str:
    """The last part of the model's name by the content of a results file; "" if it has none."""
    return Path(str(results.get("model_name") or results.get("model_source") or "")).name


# --- one task --------------------------------------------------------------------------------------------------------


def _task_run(task: str, path: Path, results: Mapping[str, Any], cut_to: str | None) -> TaskRun | None:
    """One task, None if it is none of ours."""
    try:
        read = samples.read(path)
    except OfAnotherTask as error:
        if measured_metadata(results, task) is None:
            return None
        raise RunError(
            f"{path}, line 1 has no `sample` record, but the results file has measures of its task by figlang_tasks: "
            "restore the file that the harness wrote"
        ) from error
    try:
        benchmark = of_dataset(read.data.dataset)
    except DataError as error:
        raise RunError(f"{path}: rows of {read.data}, which no task of figlang_tasks reads") from error
    config = _of_task(path, results, "configs", task)
    metadata = {**_told_by_lm_eval(config), **(config.get("metadata") or {})}
    config = config and {**config, "metadata": metadata}
    of_task = _of_task(path, results, "results", task)
    scorer = _scorer(read) if benchmark.scorer else None
    run = TaskRun(
        task=task,
        benchmark=benchmark.name,
        path=path,
        sha256=read.sha256,
        data=read.data,
        lines=read.lines,
        reported=_reported(f"the results file next to {path} is", metadata.get("measures")),
        config=config,
        scorer=scorer,
        signature=metadata.get("explanation_scorer") if scorer else None,
        failed=scoring.failed(metadata.get("measures") or {}),
        cut=cut_to,
        tabled={
            name.partition(",")[0]: value
            for name, value in of_task.items()
            if isinstance(value, int | float) and math.isfinite(value)
        },
    )
    if run.unanswered:
        logger.warning(
            f"figlang_tasks: {path}: {run.unanswered} of {len(run.lines)} rows have no answer and count as wrong"
        )
    return run


def _told_by_lm_eval(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a run in lm-eval, which cannot add to the metadata, said of a task beside values."""
    entries = config.get("metric_list")
    first = entries[0] if isinstance(entries, list) and entries else None
    told = first.get(FACTS) if isinstance(first, Mapping) else None
    return told if isinstance(told, Mapping) else {}


def _of_task(path: Path, results: Mapping[str, Any], key: str, task: str) -> Mapping[str, Any]:
    by_task = results.get(key) or {}
    found = (by_task.get(task) or {}) if isinstance(by_task, Mapping) else None
    if not isinstance(found, Mapping) or not isinstance(found.get("metadata") or {}, Mapping):
        raise RunError(
            f"the results file next to {path} is damaged ({key!r} of {task}): restore the file that the harness wrote"
        )
    return found


def _reported(what: str, content: Any) -> Estimates:
    """The estimates of a results file; `what` begins the message if they are damaged."""
    try:
        return {} if content is None else scoring.from_json(content)
    except ValueError as error:
        raise RunError(f"{what} damaged: {error}. Evaluate again, or score again") from error


def _scorer(read: samples.Samples) -> str | None:
    """The scorer of the explanations; None if they have no scores."""
    found: dict[str, int] = {}
    for number, line in enumerate(read.lines, start=1):
        scores = line["sample"].get("explanation_scores")
        if scores is None:
            continue
        where = f"{read.path}, line {number}"
        scorer, mean = (scores.get("scorer"), scores.get("mean")) if isinstance(scores, Mapping) else (None, None)
        if not isinstance(scorer, str) or not isinstance(mean, int | float) or not math.isfinite(mean):
            raise RunError(f"{where}: explanation_scores must hold a scorer and a finite mean: score the run again")
        if abs(mean) > _MOST_MEAN:
            raise RunError(
                f"{where}: the mean of explanation_scores is {mean:g}, but scores of {scorer} are about 0 to 1: score "
                "the run again"
            )
        found.setdefault(scorer, number)
    if len(found) > 1:
        lines = ", ".join(f"{scorer} in line {number}" for scorer, number in found.items())
        raise RunError(f"{read.path} has scores of several scorers ({lines}): score the run again")
    return next(iter(found), None)
