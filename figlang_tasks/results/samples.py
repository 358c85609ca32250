"""Reads the samples file that a harness writes with ``--log_samples``; the one place that knows its shape.

That of lmms-eval, and that of lm-eval for our text tasks: one JSON object a line, in the order of the documents of
each process, with what a harness knows of a sample (``doc_id``, ``target``, ``filtered_resps``, ...), one key for each
metric, and what our tasks add under ``sample`` (`figlang_tasks.scoring.records`).
"""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

from figlang_tasks.core import data_id, hub
from figlang_tasks.core.benchmark import Benchmark, benchmarks
from figlang_tasks.core.data_id import DataId
from figlang_tasks.scoring.records import BlindRecord, EntailmentRecord, entailment_record

_EXPECTED = {str: "a text", str | None: "a text or null", int: "0 or 1", int | None: "0, 1 or null"}
_PATTERNS = {  # they become names of metrics, and are printed
    "report_group": re.compile(r"(?!.*ci_(low|high)$)[\w-]+"),
    "data": data_id.PATTERN,
    "explained": re.compile("all|contradiction|alone"),
}
# lmms-eval: DATE_samples_TASK.jsonl; lm-eval: samples_TASK_DATE.jsonl
_TASK_IN_NAME = re.compile(r"(?:^|_)samples_([^.]+?)(?:_\d{4}-\d\d-\d\dT[\d-]+)?(?:\.|$)")
_SHORT = 64  # characters; longer texts are hardly ever the same in two lines

SCORED_BY = "figlang score"
"""What the reports of ``figlang score`` say under ``written_by``."""


class SamplesError(Exception):
    """A samples file cannot be used; the message names file, line and what to do."""


class NothingToScore(SamplesError):
    """A samples file is of a task that it cannot be used for; nothing says that it is damaged."""


@dataclass(frozen=True)
class ScoredLine:
    """One line.

    Attributes:
        values: all of it, also what this package does not know.
        record: its ``sample``, checked.
    """

    values: Mapping[str, Any]
    record: EntailmentRecord


@dataclass(frozen=True)
class Samples:
    """A samples file.

    Attributes:
        path: the file.
        sha256: hex digest of its content.
        task: task that its name tells, None if it tells none.
        data: the data of all rows.
        rows: at least one, in the order of the file, no id twice.
    """

    path: Path
    sha256: str
    task: str | None
    data: DataId
    rows: tuple[ScoredLine, ...]


@dataclass(frozen=True)
class BlindSamples:
    """A samples file of a task without published answers; attributes as of `Samples`."""

    path: Path
    rows: tuple[BlindRecord, ...]


@dataclass(frozen=True)
class AnySamples:
    """A samples file of any task of ours.

    Attributes:
        path, sha256, data: as of `Samples`.
        lines: every line as it is, no id twice; ``line["sample"]`` is a record with texts ``id`` and ``data``.
    """

    path: Path
    sha256: str
    data: DataId
    lines: tuple[Mapping[str, Any], ...]


def read_ours(path: Path, judged: bool = False) -> AnySamples | None:
    """As `read_any`; None where no line holds a record of figlang_tasks.

    Args:
        path: the file.
        judged: whether the results file has measures of the task: then it is ours.
    """
    lines = _Lines(path)
    parsed = lines.values()
    first = next(parsed)
    if _is_ours(first):
        return _any(path, lines, chain([first], parsed))
    if _has_ours(parsed):
        return read_any(path)  # which says what the first lines lack
    if judged:
        raise SamplesError(
            f"{path}, line 1 has no `sample` record, but the results file has measures of its task by figlang_tasks: "
            "restore the file that the harness wrote"
        )
    return None


def _is_ours(line: _Parsed) -> bool:
    record = line.values.get("sample") if isinstance(line.values, dict) else None
    return isinstance(record, dict) and {"id", "data"} <= record.keys()


def _has_ours(rest: Iterator[_Parsed]) -> bool:
    """Whether a line holds a record of figlang_tasks, up to where one cannot be read."""
    try:
        return any(map(_is_ours, rest))
    except SamplesError:
        return False


def read_any(path: Path) -> AnySamples:
    """Read the samples file of any task of ours; of the records only ``id`` and ``data`` are checked.

    Raises:
        SamplesError: it is not readable, empty, damaged, of another task, or mixed.
    """
    lines = _Lines(path)
    return _any(path, lines, lines.values())


def _any(path: Path, lines: _Lines, parsed: Iterator[_Parsed]) -> AnySamples:
    found = []
    for where, values, record in _records(path, parsed, _any_task()):
        for field in ("id", "data"):
            if not isinstance(record.get(field), str):
                raise SamplesError(f"{where}: `sample` has no text {field!r}: restore the file that the harness wrote")
        _check_pattern(where, "data", record["data"])
        found.append(values)
    _check_ids(path, [values["sample"]["id"] for values in found])
    data = _one_data(path, [values["sample"]["data"] for values in found])
    return AnySamples(path, lines.sha256(), data, tuple(found))


def read(path: Path) -> Samples:
    """Read and check the samples file of an explainable-entailment task.

    Raises:
        SamplesError: it is not readable, empty, damaged, of another task, or mixed.
    """
    lines = _Lines(path)
    rows = [_row(path, where, values, record) for where, values, record in _records(path, lines.values(), _explained())]
    data = _data(path, rows)
    return Samples(path, lines.sha256(), _task(path), data, tuple(rows))


def check_explained(path: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Check lines as `read` does: of an explainable-entailment task, already read by `read_any`.

    Args:
        path: the file, for messages.
        lines: all lines.

    Raises:
        SamplesError: a record is damaged, of another task, or the file is mixed.
    """
    _data(path, [_row(path, f"{path}, line {n}", line, line["sample"]) for n, line in enumerate(lines, start=1)])


def read_blind(path: Path, task: str) -> BlindSamples:
    """Read and check the samples file of a task for a submission.

    Args:
        path: the file.
        task: the name of such a task, for messages.

    Raises:
        SamplesError: as `read`.
    """
    rows: list[BlindRecord] = []
    for where, _, record in _records(path, _Lines(path).values(), task):
        if "codalab_id" not in record:
            raise SamplesError(f"{where}: a row of {record.get('data')}, not of a task for a submission")
        rows.append(BlindRecord(**_checked(where, record, BlindRecord)))
    _check_ids(path, [row.id for row in rows])
    return BlindSamples(path, tuple(rows))


class _Lines:
    """The lines of a file, one at a time: of a large one neither the bytes nor their lines are held in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digest = hashlib.sha256()
        self._texts: dict[str, str] = {}

    def values(self) -> Iterator[_Parsed]:
        """Each line as JSON.

        Raises:
            SamplesError: the file cannot be read, is empty, or a line of it is not JSON.
        """
        before: bytes | None = None
        number = 0
        try:
            with self._path.open("rb") as file:
                for line in file:  # ends at \n alone: texts hold other line separators, unescaped
                    self._digest.update(line)
                    if before is not None:
                        yield self._parsed(number, before, last=False)
                    number, before = number + 1, line
        except OSError as error:
            raise SamplesError(f"{self._path} cannot be read: {error.strerror}") from error
        if before is None:
            raise SamplesError(
                f"{self._path} is empty: the run that wrote it has failed; evaluate again with --log_samples"
            )
        yield self._parsed(number, before, last=True)

    def sha256(self) -> str:
        """Hex digest of the file, once all its values are read."""
        return self._digest.hexdigest()

    def _parsed(self, number: int, line: bytes, last: bool) -> _Parsed:
        where = f"{self._path}, line {number}"
        return _Parsed(where, _json(where, line.removesuffix(b"\n"), last, self._shared))

    def _shared(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object whose keys and short texts are those of the lines before: half of what 10^5 lines would take."""
        share = self._texts.setdefault
        return {
            share(name, name): share(value, value) if isinstance(value, str) and len(value) < _SHORT else value
            for name, value in pairs
        }


class _Parsed(NamedTuple):
    """A line: where it stands, for messages, and what it says."""

    where: str
    values: Any


def tasks_of(which: Callable[[Benchmark], bool] = lambda benchmark: True) -> str:
    """The tasks of some benchmarks, in words: ``NAME*``, and those on what this package ships.

    Without ``*`` is the name of a dataset that one of another benchmark begins with: ``figlang_mini``.
    """
    found = [benchmark for benchmark in benchmarks().values() if which(benchmark)]
    shipped = [source.name for benchmark in found for source in benchmark.sources if source.folder]
    others = hub.sources().keys() - shipped
    begun = [name for name in shipped if any(other.startswith(f"{name}_") for other in others)]
    names = (*(benchmark.name for benchmark in found), *shipped)
    return ", ".join(name if name in begun else f"{name}*" for name in names)


def _any_task() -> str:
    return f"every task of figlang_tasks: {tasks_of()}"


def _explained() -> str:
    return f"explainable entailment: {tasks_of(lambda benchmark: benchmark.scorer is not None)}"


def _records(
    path: Path, parsed: Iterator[_Parsed], wanted: str
) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Of each line where it stands, all of it, and the record of figlang_tasks in it.

    Args:
        path: the file.
        parsed: its lines.
        wanted: the tasks whose files the caller takes, in words.

    Raises:
        NothingToScore: no line has a record.
        SamplesError: a line has none.
    """
    some = False
    for where, values in parsed:
        record = values.get("sample") if isinstance(values, dict) else None
        if not isinstance(record, dict):
            found = f"its keys are {reprlib.repr(sorted(values))}" if isinstance(values, dict) else reprlib.repr(values)
            told = f"{where} has no `sample` record of figlang_tasks ({found})"
            if some or _has_ours(parsed):
                raise SamplesError(f"{told}, but other lines have one: restore the file that the harness wrote")
            raise _of_another_task(path, told, wanted)
        some = True
        yield where, values, record


def _json(where: str, line: bytes, last: bool, shared: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> Any:
    try:
        return json.loads(line.decode("utf-8"), object_pairs_hook=shared)
    except (ValueError, RecursionError) as error:
        if last:
            remedy = "was the file cut off (an interruption, a full disk)? Restore the whole file, or delete this line"
        else:
            remedy = "restore the file that the harness wrote"
        raise SamplesError(f"{where} is not JSON ({getattr(error, 'msg', error)}): {remedy}") from error


def _of_another_task(path: Path, what: str, wanted: str) -> NothingToScore:
    task = f"a file of the task {_task(path)}?" if _task(path) else "a file of another task?"
    return NothingToScore(f"{what}: {task} This works on the files that --log_samples writes for {wanted}")


def _row(path: Path, where: str, values: Mapping[str, Any], record: Mapping[str, Any]) -> ScoredLine:
    if "codalab_id" in record:
        raise NothingToScore(
            f"{where}: these rows have no reference answers (the shared task's test set), so they cannot be scored. "
            "figlang submit makes the file for the shared task"
        )
    if not record.keys() & {"explanation", "reference", "report_group"}:  # the shape before the values: not damaged
        found = f"its `sample` has {reprlib.repr(sorted(record))}"
        raise _of_another_task(path, f"{where} has no explanation to score ({found})", _explained())
    kind = entailment_record(record)
    checked = _checked(where, record, kind)
    if record.get("asks_for_explanation") is False:
        raise NothingToScore(
            f"{where}: the task of this file asks for labels alone (its option scorer is off): there is no explanation "
            f"to score"
        )
    return ScoredLine(values, kind(**checked))


_types = cache(get_type_hints)


def _checked(where: str, record: Mapping[str, Any], kind: type[EntailmentRecord] | type[BlindRecord]) -> dict[str, Any]:
    """The fields of a record, each of the type that it must have."""
    types = _types(kind)  # type: ignore[arg-type]  # mypy takes a class to be no more hashable than its instances
    for field in fields(kind):
        if field.name not in record:
            raise SamplesError(
                f"{where}: `sample` lacks {field.name!r}: written by another version of figlang_tasks, or by a task of "
                f"another kind. Evaluate again with --log_samples (where that run had --use_cache, without the model)"
            )
        value, wanted = record[field.name], types[field.name]
        number = field.name.endswith("_id")
        out_of_range = isinstance(value, int) and value not in (0, 1) and not number
        if not isinstance(value, wanted) or isinstance(value, bool) or out_of_range:
            raise SamplesError(
                f"{where}: `sample` has {field.name}={reprlib.repr(value)}, must be "
                f"{'a whole number' if number else _EXPECTED[wanted]}: restore the file that the harness wrote"
            )
    for name in _PATTERNS:
        if name in types:
            _check_pattern(where, name, record[name])
    return {name: record[name] for name in types}


def _check_pattern(where: str, name: str, value: str) -> None:
    if not _PATTERNS[name].fullmatch(value):
        raise SamplesError(f"{where}: `sample` has {name}={reprlib.repr(value)}, which no task of figlang_tasks writes")


def _check_ids(path: Path, ids: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for number, row_id in enumerate(ids, start=1):
        first = seen.setdefault(row_id, number)
        if first != number:
            raise SamplesError(
                f"{path}: lines {first} and {number} both hold the row {row_id}: are these several runs? Split the "
                "file, one for each run"
            )


def _data(path: Path, rows: Sequence[ScoredLine]) -> DataId:
    _check_ids(path, [row.record.id for row in rows])
    schemes = Counter(row.record.scheme for row in rows)
    if len(schemes) > 1:
        found = ", ".join(f"{scheme} ({count} rows)" for scheme, count in schemes.most_common())
        raise SamplesError(
            f"{path} mixes rows that are scored in different ways: {found}. Split the file, one for each"
        )
    return _one_data(path, [row.record.data for row in rows])


def _one_data(path: Path, found_data: Sequence[str]) -> DataId:
    counts = Counter(found_data)
    if len(counts) > 1:
        found = ", ".join(f"{data} ({count} rows)" for data, count in counts.most_common(5))
        raise SamplesError(
            f"{path} mixes the rows of {len(counts)} datasets, splits or versions of one: {found}. Split the file, one "
            "for each"
        )
    return DataId.parse(found_data[0])


def _task(path: Path) -> str | None:
    found = _TASK_IN_NAME.search(path.name)
    return found[1] if found else None
