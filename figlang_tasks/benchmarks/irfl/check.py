"""IRFL's data: download and check."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from figlang_tasks.benchmarks.irfl import random_tables, tables
from figlang_tasks.benchmarks.irfl.archive import ARCHIVE, Pictures, pictures
from figlang_tasks.core import hub
from figlang_tasks.core.checks import Fetched, Findings, Report, on_this_machine, progress


def fetch() -> Iterator[Fetched]:
    source = hub.source("IRFL")
    found = hub.snapshot(source, ["*.csv"])
    read = [tables.read(source.name, name).whole() for name in tables.ROWS]
    yield Fetched(f"IRFL, {len(read)} tables", found.folder, found.revision)
    pictures(source.name)
    yield Fetched(f"IRFL, pictures ({ARCHIVE}, read without unpacking)", found.folder, found.revision)


def check() -> Report:
    here, found = on_this_machine("irfl", hub.source("IRFL")), Findings()
    read: list[tables.Table[Any]] = []
    bases: set[str] = set()  # the tables that candidates can be drawn from
    for name, published in tables.ROWS.items():
        is_base = name.endswith("-dataset")
        if is_base and not (here.folder / tables.file_name(name)).is_file():
            found.count(name, None, published)
            found.remarks.append(f"{name} is missing: irfl_random* need it")
            continue
        lines = [line.cells for line in tables.read("IRFL", name).rows]
        found.count(name, len(lines) or None, published)
        for kind, count in tables.TYPES.get(name, {}).items() if lines else ():
            found.count(f"{name}, {kind}", sum(cells.get("type") == kind for cells in lines), count)
        of = tables.images if is_base else tables.detection if name.endswith("-detection-task") else tables.retrieval
        read.append(of("IRFL", name))
        if is_base and not read[-1].faults:
            bases.add(name)
    for name, (_, base, _) in random_tables.CONFIGURATIONS.items():
        with found.fault():
            if base in bases:
                read.append(random_tables.draw("IRFL", name))
    wanted: dict[str, str] = {}  # the picture of each uuid, and the first row that names it
    for table in read:
        found.note(table.faults)
        for row in table.rows:
            for uuid in row.uuids:
                wanted.setdefault(uuid, row.where)
    store = None
    with found.fault():
        store = Pictures(here.folder)
    intact = 0
    for uuid, where in progress(wanted.items(), "IRFL") if store else ():
        with found.fault():
            store.read(uuid, where)
            intact += 1
    found.count("pictures that the tables name", intact if store else None, len(wanted))
    return found.report(f"{here.folder} ({here.revision})")
