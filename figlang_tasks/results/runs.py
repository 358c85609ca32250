"""Finished runs: the one reader of what a harness saved, lmms-eval or lm-eval.

A run is a samples file, a results file, or a folder that holds them; ``figlang score`` writes runs of the same form.
A samples file has one JSON object a line, with what a harness knows of a sample (``target``, ``filtered_resps``, ...),
one key for each metric, and under ``sample`` the record of our task (`figlang_tasks.scoring.explained`).
"""

from __future__ import annotations

import glob
import hashlib
import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from loguru import logger
from pydantic import BaseModel, StrictInt, ValidationError

from figlang_tasks import scoring
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import Benchmark, of_dataset
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, RunError
from figlang_tasks.core.hub import OWN
from figlang_tasks.core.row_files import first_fault, saved_lines
from figlang_tasks.core.text import LONGEST_NAME, listing, shortened, whole_characters
from figlang_tasks.results.contradictions import SavedTask, find_contradictions
from figlang_tasks.results.files import (
    facts_of,
    measured_metadata,
    missing_samples,
    results_file,
    results_path,
    samples_files,
)
from figlang_tasks.results.published import Measured
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, Measures, Record
from figlang_tasks.scoring.explained import is_explained
from figlang_tasks.scoring.measure import REPEAT
from figlang_tasks.scoring.notices import notices
from figlang_tasks.scoring.read_by_model import with_read_by_model

if TYPE_CHECKING:
    from figlang_tasks.metrics.significance import Statistic

_Value = TypeVar("_Value")

AGAIN = "evaluate again (figlang_replay scores saved outputs without the model)"


@dataclass(frozen=True)
class TaskRun:
    """The saved results of one task of a run."""

    task: str
    path: Path  # of the samples file
    sha256: str
    data: DataId
    lines: tuple[Mapping[str, Any], ...]
    reported: Estimates  # of the results file; empty without one, and of lm-eval; NaN where the computation failed
    config: Mapping[str, Any]  # the task's entry in the results file; empty without one
    scorer: str | None  # of the explanation scores
    signature: str | None
    cut: str | None = None  # why the task is partial: ``limit 8``; None for a whole one, or without a results file
    table: Mapping[str, Any] = field(default_factory=dict)  # the task's row of the harness's own table

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
        """The measures of the task; of one that a language model has read, with that of its readings."""
        with self.reading("a record"):
            return with_read_by_model(self.benchmark.measures(self.records), self.records)

    @cached_property
    def rows(self) -> int:
        """How many rows of the benchmark the lines are of."""
        return self.computed(lambda own, records: own.rows(records))

    @cached_property
    def estimates(self) -> Estimates:
        """The reported estimates of known measures; of the samples (without METEOR, FID) if they give others."""
        if self.reported and not self.contradictions:
            return self.reported_estimates
        return self.computed(lambda own, records: scoring.evaluate(records, own.sums, 0))

    @property
    def reported_estimates(self) -> Estimates:
        """The reported estimates of known measures, in the order of tables."""
        return {name: self.reported[name] for name in self.measures.by_name if name in self.reported}

    @cached_property
    def statistics(self) -> dict[tuple[str, str], Statistic]:
        """The sufficient statistics of each measure in each scope; of METEOR, FID and the like there are none."""
        return self.computed(
            lambda own, records: {
                (measure.name, scope): statistic
                for measure in own.all
                for scope, statistic in measure.statistics(records).items()
            }
        )

    @cached_property
    def contradictions(self) -> tuple[str, ...]:
        """What the results file says, and the samples do not: ``acc 0.900000 (its samples: 0.500000)``."""
        return self.contradictions_of(self.measures.by_name)

    def contradictions_of(self, metrics: Collection[str]) -> tuple[str, ...]:
        """The same, with standard errors and intervals of these metrics alone: their resamples take time."""

        def find(measures: Measures, records: Sequence[Record]) -> list[str]:
            saved = SavedTask(measures, records, self.reported, self.table, self.config, str(self.data), self.scorer)
            return find_contradictions(saved, metrics)

        return tuple(self.computed(find))

    def computed(self, compute: Callable[[Measures, Sequence[Record]], _Value]) -> _Value:
        """The result of ``compute(measures, records)``; a damaged record is a RunError."""
        measures = self.measures
        with self.reading("a record"):
            return compute(measures, self.records)

    @contextmanager
    def reading(self, what: str) -> Iterator[None]:
        """Turns an error of reading a damaged record into one that names the file."""
        try:
            yield
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            raise RunError(
                f"{self.path} has {what} that is not as the task {self.task} writes it ({type(error).__name__}: "
                f"{error}). If an earlier version of figlang_tasks wrote it, {AGAIN}"
            ) from error

    @cached_property
    def unanswered(self) -> int:
        """How many requests have no answer: the harness wrote its error text instead."""
        return sum(any(map(notes.is_no_answer, outputs(line))) for line in self.lines)

    def notices(self, run: str) -> list[str]:
        """Warnings about the outputs, to be read before the numbers; `run` as a command line takes it."""
        first_outputs = [next(iter(outputs(line)), None) for line in self.lines]
        return self.computed(lambda measures, records: notices(measures.by_name, records, first_outputs, run))

    @property
    def sampled(self) -> str | None:
        """The setting by which answers were drawn at random (``temperature 0.7``); None: none tells so."""
        settings = self.config.get("generation_kwargs") or {}
        temperature = settings.get("temperature")
        if temperature is None:
            return "do_sample" if str(settings.get("do_sample")).lower() in ("true", "1") else None
        return f"temperature {float(temperature):g}" if float(temperature) > 0 else None

    @property
    def explained(self) -> bool:
        """Whether it asks for explanations, and its rows have published ones."""
        return any(is_explained(each) and each.get("asks_for_explanation") is not False for each in self.records)

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark that the data belongs to."""
        return of_dataset(self.data.dataset)

    @property
    def own(self) -> bool:
        """Whether the user brought the rows, in place of the release's."""
        return any(record.get("revision") == OWN for record in self.records)

    @property
    def measured(self) -> Measured:
        """Rows, cut and scorer: whether published results are comparable depends on these."""
        return Measured(self.rows, self.cut, self.signature or self.scorer, self.own, self.data.name)

    @property
    def metadata(self) -> Mapping[str, Any]:
        """Metadata of the task in the results file; empty if it has none."""
        return self.config.get("metadata") or {}

    @property
    def version(self) -> str | None:
        """The task's version, ``N-X``; None where no results file tells it."""
        version = self.metadata.get("version")
        return None if version is None else str(version)


@dataclass(frozen=True)
class Run:
    """The saved results of one evaluation of one model."""

    name: str  # as given, else the model's
    path: Path  # as given
    tasks: Mapping[str, TaskRun]
    results: Mapping[str, Any]  # content of the results file, the last of several; empty if there is none
    given: str | None = None  # the name that it was given; runs that share one are repeats
    missing: tuple[str, ...] = ()  # a sentence for each results file with values of tasks that have no samples


# --- reading ---


def read_all(arguments: Sequence[str], repeats: bool = False, whole: bool = False) -> list[Run]:
    """Read several runs; names that two of them share are followed by their paths.

    ``NAME=PATTERN`` names several; with `repeats`, runs of one given name keep it. `whole` is that of `read`.
    """
    arguments = [each for argument in arguments for each in _matching(argument)]
    found = [read(argument, whole) for argument in arguments]
    files = Counter(task.path.resolve() for run in found for task in run.tasks.values())
    if twice := [path for path, count in files.items() if count > 1]:
        raise RunError(f"{twice[0]} is given {files[twice[0]]} times: give each run once")
    names = Counter(run.name for run in found)
    for place, run in enumerate(found):
        if names[run.name] > 1 and not (repeats and run.given):
            found[place] = replace(run, name=f"{run.name} ({run.path})")
    return found


def read(argument: str, whole: bool = False) -> Run:
    """Read a run: a path, or ``NAME=PATH``.

    Results without samples are a warning; where a run has to be `whole`, they are an error.
    """
    name, path = _argument(argument)
    files = samples_files(path)
    contents: dict[Path, dict[str, Any]] = {}
    for beside in map(results_path, files.values()):
        if beside not in contents and beside.exists():
            contents[beside] = results_file(beside)

    missing = tuple(missing_samples(path, files, contents))
    if missing and whole:
        raise RunError(f"{missing[0]}. Or give the samples file of one task alone")
    for sentence in missing:
        logger.warning(f"figlang_tasks: {sentence}")
    runs = {task: _task_run(task, file, contents.get(results_path(file), {})) for task, file in files.items()}
    found = {run.task: run for run in runs.values() if run is not None}
    if not found:
        raise RunError(
            f"{path} has only samples of other tasks, or of --predict_only ({listing(files)}): name another run, or "
            f"{AGAIN}"
        )
    results = contents[max(contents)] if contents else {}
    shown_name = name or model_name(results) or (path.stem if path.suffix else path.name)
    return Run(whole_characters(shown_name), path, found, results, name, missing)


def _argument(argument: str) -> tuple[str | None, Path]:
    """Name and path that the user gave."""
    name, sign, path = argument.partition("=")
    if sign and not os.path.exists(argument):
        return shortened(name, LONGEST_NAME), Path(path)
    return None, Path(argument)


def _matching(argument: str) -> list[str]:
    """``NAME=PATH`` for each path that a pattern after a name matches; else the argument."""
    name, path = _argument(argument)
    return [f"{name}={each}" for each in sorted(glob.glob(str(path))) if name and not path.exists()] or [argument]


def _task_run(task: str, path: Path, results: Mapping[str, Any]) -> TaskRun | None:
    """One task, None if it is none of ours."""
    lines: list[dict[str, Any]] = []
    without = ""  # the first place without a record
    for where, line in saved_lines(path):
        found = line.get("sample")
        record = found if isinstance(found, dict) else {}
        texts = record.get("id"), record.get("status", "")
        if "data" in record and all(isinstance(each, str) for each in texts) and isinstance(record.get(REPEAT, 1), int):
            lines.append(line)
        else:
            without = without or where
    if not lines and measured_metadata(results, task) is None:
        return None
    if without:
        raise RunError(
            f"{without} has no `sample` record of figlang_tasks (id, data, status: a text; repeat: a number), but "
            "other lines or the results file have the task: restore the file that the harness wrote"
        )
    records = [line["sample"] for line in lines]
    rows = Counter((record["id"], str(record.get(REPEAT))) for record in records)
    (row, _), count = rows.most_common(1)[0]
    of_data = {str(record["data"]): None for record in records}
    if count > 1 or len(of_data) > 1:
        more = f"{count} lines of the row {row}" if count > 1 else f"rows of {listing(of_data)}"
        raise RunError(f"{path} has {more}: are these several runs? Split the file, one for each")
    try:
        data = DataId.parse(next(iter(of_data)))
        of_dataset(data.dataset)
    except (ValueError, DataError) as error:
        raise RunError(f"{path}: {error}") from error
    config = (results.get("configs") or {}).get(task) or {}
    try:
        _Config.model_validate(config)
    except ValidationError as error:
        raise RunError(f"{results_path(path)}: {task}: {first_fault(error)}: restore what the harness wrote") from error
    metadata = _metadata(config)
    scorer = _scorer(path, records)
    run = TaskRun(
        task=whole_characters(task),  # a file may have any name
        path=path,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        data=data,
        lines=tuple(lines),
        reported=_reported(f"{task} in {results_path(path)}", metadata),
        config=config and {**config, "metadata": metadata},
        scorer=scorer,
        signature=metadata.get("explanation_scorer") if scorer else None,
        cut=cut(results, task, len({str(line.get("doc_id")) for line in lines})),
        table=(results.get("results") or {}).get(task) or {},
    )
    if run.unanswered:
        logger.warning(
            f"figlang_tasks: {path}: {run.unanswered} of {len(lines)} rows have no answer and count as wrong"
        )
    return run


def _scorer(path: Path, records: Sequence[Record]) -> str | None:
    """The scorer of the explanations; None if they have no scores."""
    found: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        if (scores := record.get("explanation_scores")) is not None:
            scorer, mean = map(scores.get, ("scorer", "mean")) if isinstance(scores, Mapping) else (None, None)
            if not (isinstance(scorer, str) and isinstance(mean, int | float) and abs(mean) <= 2):  # it is about 0 to 1
                raise RunError(f"{path}, line {number}: explanation_scores are damaged: score the run again")
            found.setdefault(scorer, number)
    if len(found) > 1:
        lines = ", ".join(f"{scorer} in line {number}" for scorer, number in found.items())
        raise RunError(f"{path} has scores of several scorers ({lines}): score the run again")
    return next(iter(found), None)


def outputs(line: Mapping[str, Any]) -> list[str]:
    """All answers to a row, flattened from the nested lists of lm-eval."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, list):
            for each in value:
                yield from texts(each)
        elif value is not None:
            yield str(value)

    return list(texts(line.get("filtered_resps")))


# --- what results files say ---


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


def reported(results: Mapping[str, Any]) -> dict[str, Estimates]:
    """All measures that a results file tells, by task of ours; NaN where the computation failed."""
    tasks = dict.fromkeys([*(results.get("results") or ()), *(results.get("configs") or ())])  # configs are sorted
    told = {task: measured_metadata(results, task) for task in tasks}
    return {task: _reported(task, metadata) for task, metadata in told.items() if metadata}


def _reported(what: str, metadata: Mapping[str, Any]) -> Estimates:
    content = metadata.get("measures")
    if content is None:
        return {}
    try:
        found = scoring.from_json(content)
    except ValueError as error:
        raise RunError(f"the results of {what} are damaged ({error}): evaluate again, or score again") from error
    return found | {name: {OVERALL: Estimate(math.nan)} for name in scoring.failed(content) if name not in found}


def _metadata(config: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a task; of lm-eval, which cannot add to it, with what the first metric tells of the run."""
    return {**facts_of(config), **(config.get("metadata") or {})}


def model_name(results: Mapping[str, Any]) -> str:
    """The last part of the model's name by the content of a results file, as it is shown; "" if it has none."""
    return shortened(Path(str(results.get("model_name") or results.get("model_source") or "")).name, LONGEST_NAME)


def cut(results: Mapping[str, Any], task: str, documents: int | None = None) -> str | None:
    """How a run was cut short in a task, by the content of its results file; None if it is whole.

    `documents`: how many the samples have, if that is known.
    """
    config = results.get("config") or {}
    count = (results.get("n-samples") or {}).get(task) or {}
    is_whole = bool(count) and count.get("effective") == count.get("original")
    told = []
    for option in ("limit", "offset", "samples"):
        value = config.get(option)
        # The harness makes 8.0 of a limit of 8; -1 is all rows, as is a limit that the task does not reach.
        if value and value != -1 and not (option == "limit" and is_whole):
            told.append(f"{option} {f'{value:g}' if isinstance(value, float) else value}")
    if (results.get("usage") or {}).get("budget_exceeded"):
        told.append("--max_tokens spent")
    evaluated = count.get("effective")  # the harness reckons with a limit alone
    has_parts = any(text.startswith(("offset", "samples")) for text in told)
    if documents is not None and isinstance(evaluated, int) and documents < evaluated and not has_parts:
        told.append(f"{documents} of {evaluated} documents are in the samples")
    return ", ".join(told) or None


def limited(run: Run) -> str | None:
    """Why a run is partial, with the tasks where others are whole; None for a whole run (`TaskRun.cut`)."""
    tasks: dict[str, list[str]] = {}
    for task in run.tasks.values():
        if task.cut:
            tasks.setdefault(task.cut, []).append(task.task)
    told = (how if len(own) == len(run.tasks) else f"{how} in {listing(own)}" for how, own in tasks.items())
    return ", ".join(told) or None


def check_consistent(task: TaskRun) -> None:
    """Check that the samples give what the results file says."""
    if task.contradictions:
        raise RunError(
            f"{task.path}: the results file says {listing(task.contradictions)}. Are these files of two runs, or was "
            f"one changed? Restore what the harness wrote, or {AGAIN}"
        )
