"""Reads the samples file that the harness writes with ``--log_samples``; the one place that knows its shape.

One JSON object a line, in the order of the documents of each process: ``doc_id``, ``target``, ``filtered_resps``,
``input``, one key for each metric, and what our tasks add under ``sample`` (`figlang_tasks.records`).
"""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from figlang_tasks.records import EntailmentRecord

_TYPES = get_type_hints(EntailmentRecord)
_EXPECTED = {str: "a text", str | None: "a text or null", int: "0 or 1", int | None: "0, 1 or null"}
_PATTERNS = {  # they become names of metrics, and are printed
    "report_group": re.compile(r"(?!.*ci_(low|high)$)[\w-]+"),
    "data": re.compile(r"[\w./:+-]+"),
}
_TASK_IN_NAME = re.compile(r"_samples_([^.]+)")


class SamplesError(Exception):
    """A samples file cannot be used; the message names file, line and what to do."""


@dataclass(frozen=True)
class Row:
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
        data: the data of all rows (``figlang_tasks.vflute.rows.load``).
        rows: at least one, in the order of the file, no id twice.
    """

    path: Path
    sha256: str
    task: str | None
    data: str
    rows: tuple[Row, ...]


def read(path: Path) -> Samples:
    """Read and check the samples file of an explainable-entailment task.

    Raises:
        SamplesError: it is not readable, empty, damaged, of another task, or mixed.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SamplesError(f"{path} cannot be read: {error.strerror}") from error
    lines = content.split(b"\n")  # not splitlines: texts hold other line separators, unescaped
    if not lines[-1]:
        lines.pop()
    if not lines:
        raise SamplesError(f"{path} is empty: the run that wrote it has failed; evaluate again with --log_samples")
    rows = tuple(_row(path, number, line, last=number == len(lines)) for number, line in enumerate(lines, start=1))
    _check_ids(path, rows)
    return Samples(path, hashlib.sha256(content).hexdigest(), _task(path), _data(path, rows), rows)


def _row(path: Path, number: int, line: bytes, last: bool) -> Row:
    where = f"{path}, line {number}"
    try:
        values = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if last:
            remedy = (
                "cut off by a kill, a full disk or a copy? Get the whole file, or delete this line to do without it"
            )
        else:
            remedy = "get the file again as the harness wrote it"
        raise SamplesError(f"{where} is not JSON ({getattr(error, 'msg', error)}): {remedy}") from error
    record = values.get("sample") if isinstance(values, dict) else None
    if not isinstance(record, dict):
        found = f"its keys are {reprlib.repr(sorted(values))}" if isinstance(values, dict) else reprlib.repr(values)
        task = f"a file of the task {_task(path)}?" if _task(path) else "a file of another task?"
        raise SamplesError(
            f"{where} holds no `sample` record of figlang_tasks ({found}): {task} This works on the files that "
            f"--log_samples writes for vflute*, figlang_mini and other explainable-entailment tasks of figlang_tasks"
        )
    for field in fields(EntailmentRecord):
        if field.name not in record:
            raise SamplesError(
                f"{where}: `sample` lacks {field.name!r}: written by another version of figlang_tasks, or by a task of "
                f"another kind. Evaluate again with --log_samples (where that run had --use_cache, without the model)"
            )
        value, wanted = record[field.name], _TYPES[field.name]
        is_label = isinstance(value, int)
        if not isinstance(value, wanted) or isinstance(value, bool) or (is_label and value not in (0, 1)):
            raise SamplesError(
                f"{where}: `sample` has {field.name}={reprlib.repr(value)}, must be {_EXPECTED[wanted]}: get the file "
                f"again as the harness wrote it"
            )
    if record.get("asks_for_explanation") is False:
        raise SamplesError(
            f"{where}: the task of this file asks for labels alone (its option scorer is off): there is no explanation "
            f"to score"
        )
    for name, pattern in _PATTERNS.items():
        if not pattern.fullmatch(record[name]):
            found = reprlib.repr(record[name])
            raise SamplesError(f"{where}: `sample` has {name}={found}, which no task of figlang_tasks writes")
    return Row(values, EntailmentRecord(**{name: record[name] for name in _TYPES}))


def _check_ids(path: Path, rows: tuple[Row, ...]) -> None:
    seen: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        first = seen.setdefault(row.record.id, number)
        if first != number:
            raise SamplesError(
                f"{path}: lines {first} and {number} both hold the row {row.record.id}: several runs in one file? "
                f"Split it, one file for each run"
            )


def _data(path: Path, rows: tuple[Row, ...]) -> str:
    counts = Counter(row.record.data for row in rows)
    if len(counts) > 1:
        found = ", ".join(f"{data} ({count} rows)" for data, count in counts.most_common(5))
        raise SamplesError(
            f"{path} mixes the rows of {len(counts)} datasets, splits or versions of one: {found}. Split it, one file "
            f"for each"
        )
    return rows[0].record.data


def _task(path: Path) -> str | None:
    found = _TASK_IN_NAME.search(path.name)
    return found[1] if found else None
