"""Checks the data of a benchmark on this machine: ``figlang data check`` and ``data prefetch``.

A check loads what the tasks ask for as a run does. It continues after an error, where a run would
stop, and it downloads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.request import Request
from figlang_tasks.core.text import markdown_table

if TYPE_CHECKING:
    import datasets

_NOT_HERE = "not here"
"""What the table says of a part that is not on this machine."""


class DataCheck(NamedTuple):
    """The outcome of a check of a benchmark's data.

    Attributes:
        report: the lines to print, the faults among them.
        faults: the faults alone.
    """

    report: list[str]
    faults: list[str]


def data_requests(benchmark: Benchmark, requests: Iterable[Request]) -> list[Request]:
    """One request for each part of the published data: those that tasks ask for, and other splits.

    Args:
        benchmark: the benchmark.
        requests: those of its tasks. Their optional parameters are left out, and so are requests
            for other datasets than the published one.
    """
    source = benchmark.source
    parts = dict.fromkeys(_parts_of_tasks(benchmark, requests))  # an ordered set
    if benchmark.keys == ("split",):  # its parts are splits, and all are declared
        for split in source.splits:
            parts[Request.of(source.name, split=split)] = None
    return list(parts)


def _parts_of_tasks(benchmark: Benchmark, requests: Iterable[Request]) -> list[Request]:
    """The parts of the published data that tasks ask for; arguments as of `data_requests`."""
    parts: list[Request] = []
    for request in requests:
        if request.dataset == benchmark.source.name:
            parameters = {key: request[key] for key in benchmark.keys}
            parts.append(Request.of(benchmark.source.name, **parameters))
    return parts


def count_rows(documents: datasets.Dataset) -> int:
    """The number of rows that documents are made of: some rows have several documents."""
    if "row" in documents.column_names:
        return len(set(documents["row"]))
    return len(documents)


def request_label(request: Request) -> str:
    """A part of the data as commands name it: ``FLUTE, heldout``."""
    return ", ".join([request.dataset, *request.values()])


def check(benchmark: Benchmark, requests: Iterable[Request]) -> DataCheck:
    """Check the published data of a benchmark on this machine.

    A part that is missing is a fault only if no task can run with the parts that are here.

    Args:
        benchmark: the benchmark.
        requests: those of its tasks.
    """
    # Without patterns: a part of a repository is enough, because the check says what is missing.
    snapshot = hub.snapshot(benchmark.source)
    requests = list(requests)
    findings = _Findings()
    for request in data_requests(benchmark, requests):
        _check_part(benchmark, request, findings)
    _check_other_files(benchmark, findings)

    faults = findings.faults
    missing = findings.missing
    parts_of_tasks = {request_label(part) for part in _parts_of_tasks(benchmark, requests)}
    missing_parts = {row.label for row in findings.rows if row.remark == _NOT_HERE}
    if parts_of_tasks <= missing_parts:
        faults = [*faults, *missing]
        missing = {}
    faults = list(dict.fromkeys(faults))
    verdict = [*faults, f"{len(faults)} fault(s)"] if faults else ["no faults"]
    missing_lines: list[str] = []
    if not findings.has_user_rows:
        for message, parts in missing.items():
            missing_lines.append(f"{_NOT_HERE}: {', '.join(parts)}: {message}")
    table = markdown_table([["", "here", "published", ""], *findings.rows])
    report = [
        f"{snapshot.folder} ({snapshot.revision})",
        "",
        table,
        "",
        *missing_lines,
        *verdict,
    ]
    return DataCheck(report, faults)


class _TableRow(NamedTuple):
    """A part of the data in the table: its label, the rows here, those published, and a remark."""

    label: str
    rows_here: str
    published_rows: str
    remark: str


@dataclass
class _Findings:
    """What a check has found so far.

    Attributes:
        rows: the rows of the table, one for each part of the data.
        faults: messages.
        missing: the names of missing parts, by the message that says where they come from.
        has_user_rows: whether rows are the user's own, and not those of the release.
    """

    rows: list[_TableRow] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    missing: dict[str, list[str]] = field(default_factory=dict)
    has_user_rows: bool = False


def _check_part(benchmark: Benchmark, request: Request, findings: _Findings) -> None:
    """Load a part of the data as a run does; add its table row and its faults to the findings."""
    rows_here = "-"
    published_rows = str(benchmark.rows(request) or "-")
    remark = ""
    try:
        documents = benchmark.documents(request, check_images=True)
        row_count = count_rows(documents)
        rows_here = str(row_count)
        if row_count in benchmark.releases:
            published_rows = rows_here
            remark = f"release {benchmark.releases[row_count]}"
        # A list with the revision of the first row; empty where documents have no such column.
        revision_of_first_row = documents[:1].get("revision", ())
        if hub.USER_ROWS in revision_of_first_row:
            findings.has_user_rows = True
            published_rows = "-"
            remark = "rows of your own: no published results are shown with them"
        elif rows_here != published_rows:  # The remark says which rows these are.
            remark = DataId.parse(documents[0]["data"]).name
    except PartMissing as error:
        findings.missing.setdefault(str(error), []).append(" ".join(request.values()))
        remark = _NOT_HERE
    except DataError as error:
        findings.faults += error.faults or [str(error)]
        remark = "faulty"
    findings.rows.append(_TableRow(request_label(request), rows_here, published_rows, remark))


def _check_other_files(benchmark: Benchmark, findings: _Findings) -> None:
    """Run the check that a benchmark has of its own, its module ``check``, if it has one."""
    try:
        module = benchmark.module("check")
        if module is not None:
            findings.faults += map(str, module.check())
    except PartMissing as error:
        # Unless a part lacks the same, in which case the message names that part.
        findings.missing.setdefault(str(error), ["pictures"])
    except DataError as error:
        findings.faults += error.faults or [str(error)]
