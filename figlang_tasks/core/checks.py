"""What ``figlang data check`` and ``figlang data prefetch`` do, from the declarations of
benchmarks.

A check loads what the tasks ask for as a run does. It continues after an error, where a run would
stop, and it downloads nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.request import Request
from figlang_tasks.core.text import markdown_table

if TYPE_CHECKING:
    import datasets


def data_requests(benchmark: Benchmark, requests: Iterable[Request]) -> list[Request]:
    """The parts of the published data that tasks ask for, each once, and its other splits; options
    are left out.
    """
    source = benchmark.source
    wanted: dict[Request, None] = {}
    for request in requests:
        if request.dataset == source.name:
            wanted[Request.of(source.name, **{key: request[key] for key in benchmark.keys})] = None
    if benchmark.keys == ("split",):
        for split in source.splits:
            wanted[Request.of(source.name, split=split)] = None
    return list(wanted)


def count_rows(documents: datasets.Dataset) -> int:
    """The number of rows that documents are of: some rows have several."""
    return len(set(documents["row"])) if "row" in documents.column_names else len(documents)


def request_label(request: Request) -> str:
    """A part of the data as commands name it: ``FLUTE, heldout``."""
    return ", ".join([request.dataset, *request.values()])


def check(benchmark: Benchmark, requests: Iterable[Request]) -> tuple[list[str], list[str]]:
    """What to print of the published data of a benchmark on this machine, with its faults; and the
    faults alone.

    `requests` are those of its tasks. That a part is missing is a fault if no other part is there.
    """
    # a part of a repository is enough: the check says what is missing
    here = hub.snapshot(benchmark.source)
    rows = [["", "here", "published", ""]]
    faults: list[str] = []
    lacking: dict[str, list[str]] = {}  # what is missing, and for which parts
    own = False
    for request in data_requests(benchmark, requests):
        count, published, remark = "-", str(benchmark.rows(request) or "-"), ""
        try:
            documents = benchmark.documents(request, check_images=True)
            count = str(count_rows(documents))
            if hub.USER_ROWS in documents[:1].get("revision", ()):
                own, published, remark = (
                    True,
                    "-",
                    "rows of your own: no published results are shown with them",
                )
            elif count != published:
                remark = DataId.parse(documents[0]["data"]).name
        except PartMissing as error:
            lacking.setdefault(str(error), []).append(" ".join(request.values()))
            remark = "not here"
        except DataError as error:
            faults += error.faults or [str(error)]
            remark = "faulty"
        rows.append([request_label(request), count, published, remark])
    try:
        module = benchmark.module("check")
        if module is not None:
            faults += map(str, module.check())
    except PartMissing as error:
        lacking.setdefault(str(error), ["pictures"])
    except DataError as error:
        faults += error.faults or [str(error)]
    if all(remark == "not here" for *_, remark in rows[1:]):
        faults, lacking = [*faults, *lacking], {}
    missing = [
        f"not here: {', '.join(names)}: {what}" for what, names in lacking.items() if not own
    ]
    faults = list(dict.fromkeys(faults))
    verdict = [*faults, f"{len(faults)} fault(s)"] if faults else ["no faults"]
    return [
        f"{here.folder} ({here.revision})",
        "",
        markdown_table(rows),
        "",
        *missing,
        *verdict,
    ], faults
