"""Reads the samples file that a harness writes with ``--log_samples``; the one place that knows its shape.

That of lmms-eval, and that of lm-eval for our text tasks: one JSON object a line, in the order of the documents of
each process, with what a harness knows of a sample (``doc_id``, ``target``, ``filtered_resps``, ...), one key for each
metric, and what our tasks add under ``sample`` (`figlang_tasks.scoring.explained`).
"""

from __future__ import annotations

import re
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from figlang_tasks.core import data_id
from figlang_tasks.core.benchmark import Benchmark, benchmarks
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.json_lines import SAMPLES_NAME, SavedLine, SavedLines
from figlang_tasks.scoring.explained import BlindRecord, EntailmentRecord, entailment_record
from figlang_tasks.scoring.measure import REPEAT

_EXPECTED = {str: "a text", str | None: "a text or null", int: "0 or 1", int | None: "0, 1 or null"}
_PATTERNS = {  # they become names of metrics, and are printed
    "report_group": re.compile(r"(?!.*ci_(low|high)$)[\w-]+"),
    "data": data_id.PATTERN,
    "explained": re.compile("all|contradiction|alone"),
}


class OfAnotherTask(RunError):
    """A samples file is of a task that it cannot be used for; nothing says that it is damaged."""


@dataclass(frozen=True)
class Samples:
    """A samples file of any task of ours.

    Attributes:
        path: the file.
        sha256: hex digest of its content.
        data: the data of all rows.
        lines: every line as it is, no answer twice; ``line["sample"]`` is a record with texts ``id`` and ``data``.
    """

    path: Path
    sha256: str
    data: DataId
    lines: tuple[Mapping[str, Any], ...]


def read(path: Path) -> Samples:
    """The samples file of any task of ours; of the records only ``id`` and ``data`` are checked."""
    lines = SavedLines(path)
    found: list[dict[str, Any]] = []
    parsed = lines.values()
    for line in parsed:
        if not _is_ours(line):
            told = f"{line.where} has no `sample` record of figlang_tasks ({_shown(line.values)})"
            if found or _has_ours(parsed):
                raise RunError(f"{told}, but other lines have one: restore the file that the harness wrote")
            raise _of_another_task(path, told, f"every task of figlang_tasks: {tasks_of()}")
        record = line.values["sample"]
        for field in ("id", "data"):
            if not isinstance(record[field], str):
                raise RunError(f"{line.where}: `sample` has no text {field!r}: restore the file that the harness wrote")
        _check_pattern(line.where, "data", record["data"])
        found.append(line.values)
    seen: dict[tuple[str, Any], int] = {}
    for number, values in enumerate(found, start=1):
        first = seen.setdefault((values["sample"]["id"], values["sample"].get(REPEAT)), number)
        if first != number:
            raise RunError(
                f"{path}: lines {first} and {number} both hold the row {values['sample']['id']}: are these several "
                "runs? Split the file, one for each run"
            )
    counts = Counter(values["sample"]["data"] for values in found)
    if len(counts) > 1:
        each = ", ".join(f"{data} ({count} rows)" for data, count in counts.most_common(5))
        raise RunError(
            f"{path} mixes the rows of {len(counts)} datasets, splits or versions of one: {each}. Split the file, one "
            "for each"
        )
    return Samples(path, lines.sha256(), DataId.parse(next(iter(counts))), tuple(found))


def _is_ours(line: SavedLine) -> bool:
    record = line.values.get("sample") if isinstance(line.values, dict) else None
    return isinstance(record, dict) and {"id", "data"} <= record.keys()


def _has_ours(rest: Iterator[SavedLine]) -> bool:
    """Whether a line holds a record of figlang_tasks, up to where one cannot be read."""
    try:
        return any(map(_is_ours, rest))
    except RunError:
        return False


def _shown(values: Any) -> str:
    return f"its keys are {reprlib.repr(sorted(values))}" if isinstance(values, dict) else reprlib.repr(values)


def explained(path: Path, lines: Sequence[Mapping[str, Any]]) -> list[EntailmentRecord]:
    """The records of an explainable-entailment task, with all their fields checked."""
    found = [_explained(path, f"{path}, line {n}", line["sample"]) for n, line in enumerate(lines, start=1)]
    schemes = Counter(record.scheme for record in found)
    if len(schemes) > 1:
        told = ", ".join(f"{scheme} ({count} rows)" for scheme, count in schemes.most_common())
        raise RunError(f"{path} mixes rows that are scored in different ways: {told}. Split the file, one for each")
    return found


def blind(path: Path, lines: Sequence[Mapping[str, Any]]) -> list[BlindRecord]:
    """The records of a task for a submission, with all their fields checked; arguments and errors as of `explained`."""
    found = []
    for where, record in ((f"{path}, line {n}", line["sample"]) for n, line in enumerate(lines, start=1)):
        if "codalab_id" not in record:
            raise RunError(f"{where}: a row of {record['data']}, not of a task for a submission")
        found.append(BlindRecord(**_checked(where, record, BlindRecord)))
    return found


def tasks_of(which: Callable[[Benchmark], bool] = lambda benchmark: True) -> str:
    """The names of some benchmarks."""
    return ", ".join(name for name, benchmark in benchmarks().items() if which(benchmark))


def _of_another_task(path: Path, what: str, wanted: str) -> OfAnotherTask:
    named = SAMPLES_NAME.fullmatch(path.name)
    task = f"a file of the task {named['task']}?" if named else "a file of another task?"
    return OfAnotherTask(f"{what}: {task} This works on the files that --log_samples writes for {wanted}")


def _explained(path: Path, where: str, record: Mapping[str, Any]) -> EntailmentRecord:
    if "codalab_id" in record:
        raise OfAnotherTask(
            f"{where}: these rows have no reference answers (the shared task's test set), so they cannot be scored. "
            "figlang submit makes the file for the shared task"
        )
    if not record.keys() & {"explanation", "reference", "report_group"}:  # the shape before the values: not damaged
        found = f"its `sample` has {reprlib.repr(sorted(record))}"
        wanted = f"explainable entailment: {tasks_of(lambda benchmark: benchmark.scorer is not None)}"
        raise _of_another_task(path, f"{where} has no explanation to score ({found})", wanted)
    kind = entailment_record(record)
    checked = _checked(where, record, kind)
    if record.get("asks_for_explanation") is False:
        raise OfAnotherTask(
            f"{where}: the task of this file asks for labels alone (its option scorer is off): there is no explanation "
            f"to score"
        )
    return kind(**checked)


_types = cache(get_type_hints)


def _checked(where: str, record: Mapping[str, Any], kind: type[EntailmentRecord] | type[BlindRecord]) -> dict[str, Any]:
    """The fields of a record, each of the type that it must have."""
    types = _types(kind)  # type: ignore[arg-type]  # mypy takes a class to be no more hashable than its instances
    for field in fields(kind):
        if field.name not in record:
            raise RunError(
                f"{where}: `sample` lacks {field.name!r}: written by another version of figlang_tasks, or by a task of "
                f"another kind. Evaluate again with --log_samples (where that run had --use_cache, without the model)"
            )
        value, wanted = record[field.name], types[field.name]
        number = field.name.endswith("_id")
        out_of_range = isinstance(value, int) and value not in (0, 1) and not number
        if not isinstance(value, wanted) or isinstance(value, bool) or out_of_range:
            raise RunError(
                f"{where}: `sample` has {field.name}={reprlib.repr(value)}, must be "
                f"{'a whole number' if number else _EXPECTED[wanted]}: restore the file that the harness wrote"
            )
    for name in _PATTERNS:
        if name in types:
            _check_pattern(where, name, record[name])
    return {name: record[name] for name in types}


def _check_pattern(where: str, name: str, value: str) -> None:
    if not _PATTERNS[name].fullmatch(value):
        raise RunError(f"{where}: `sample` has {name}={reprlib.repr(value)}, which no task of figlang_tasks writes")
