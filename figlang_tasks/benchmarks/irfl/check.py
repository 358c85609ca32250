"""IRFL's data: what is fetched, what is checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from figlang_tasks.benchmarks.irfl import candidates, tables
from figlang_tasks.benchmarks.irfl.pictures import ARCHIVE, Pictures, pictures
from figlang_tasks.core import hub
from figlang_tasks.core.checks import Fetched, Findings, Report, on_this_machine, progress


def fetch() -> Iterator[Fetched]:

    source = hub.source("IRFL")
    found = hub.snapshot(source, ["*.csv"])
    read = [tables.read(source.name, name) for name in tables.ROWS]
    yield Fetched(f"IRFL, {len(read)} tables", found.folder, found.revision)
    pictures(source.name)
    yield Fetched(f"IRFL, pictures ({ARCHIVE}, read without unpacking)", found.folder, found.revision)


def check() -> Report:

    here, found = on_this_machine("irfl", hub.source("IRFL")), Findings()
    read: set[str] = set()
    wanted: dict[str, str] = {}  # the picture of each uuid, and the first row that names it
    for name, published in tables.ROWS.items():
        if not (here.folder / (name.replace("-", "_") + ".csv")).is_file():
            found.count(name, None, published)
            if name.endswith("-task"):
                found.faults.append(f"IRFL/{name}: there is no {name.replace('-', '_')}.csv in {here.folder}. Get it")
            else:
                found.remarks.append(f"{name} is not here: irfl_random* need it")
            continue
        with found.fault():
            table = tables.read("IRFL", name)
            read.add(name)
            found.count(name, len(table.rows), published)
            for kind, count in tables.TYPES.get(name, {}).items():
                found.count(f"{name}, {kind}", sum(row.get("type") == kind for row in table.rows), count)
            for where, uuids in _rows(table, found):
                for uuid in uuids:
                    wanted.setdefault(uuid, where)
    for name, (_, base, _) in candidates.CONFIGURATIONS.items():
        with found.fault():
            drawn = candidates.read("IRFL", name)
            if drawn is None and base in read:
                drawn = candidates.draw("IRFL", name)
            for row in drawn[0] if drawn else ():
                for uuid in (row.answer, *row.distractors):
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


def _rows(table: Any, found: Findings) -> Iterator[tuple[str, list[str]]]:
    """The rows of a table, each with the uuids of its pictures; faulty ones are noted and left out."""

    name, before = table.name, len(found.faults)
    if name.endswith("-detection-task"):
        for number, cells in enumerate(table.rows):
            with found.fault():
                where = f"IRFL/{name} row {number}"
                row = tables.detection_row(cells, name.removesuffix("-detection-task"), where)
                yield where, [row.answer, *row.distractors]
        if len(found.faults) == before:  # what a row says of its pictures; the loader ends at the first fault
            with found.fault():
                tables.detection("IRFL", name)
    elif name.endswith("-retrieval-task"):
        for ranked in tables.retrieval("IRFL", name)[0]:
            yield ranked.where, [*ranked.positives, *ranked.negatives]
    else:
        for number, image in enumerate(tables.images("IRFL", name)[0]):
            yield f"IRFL/{name} row {number}", [image.uuid]
