"""What ``figlang data prefetch`` and ``figlang data check`` do, by the loaders that the tasks use.

A check goes on after a fault where a run would stop, and downloads nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core import hub
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError, Snapshot

OPEN = ("irfl", "nykms", "flute")
"""Benchmarks with something to download that nobody has to ask for."""
VFLUTE_TEST = {
    "vismet": 101,
    "irfl_metaphor_simile": 120,
    "irfl_idiom": 100,
    "muse": 106,
    "memecap": 196,
    "nycartoons": 100,
}
"""Rows of the test split by source (arXiv 2405.01474, Table 3)."""
NYKMS_POSITIVES = {"nyk_m": 692, "nyk_s": 687}
"""Rows with a metaphor, with sarcasm (arXiv 2409.01037, Table 6, whose headings are shifted by one column)."""


# --- prefetch --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fetched:
    """Something that is on this machine now.

    Attributes:
        what: in words.
        folder: where.
        revision: commit of the hub, ``local``, or a hash of the files.
    """

    what: str
    folder: Path
    revision: str


def prefetch(benchmark: str) -> Iterator[Fetched]:
    """Download what the tasks of a benchmark read, and read it once as they do.

    Args:
        benchmark: key of :data:`figlang_tasks.core.hub.DATASETS`.

    Raises:
        DataError: it cannot be had, or is not what was published; the message says what to do.
    """
    yield from _PREFETCH[benchmark]()


def _prefetch_vflute() -> Iterator[Fetched]:
    source = hub.source("V-FLUTE")
    for split, rows in source.splits.items():
        found = hub.snapshot(source, ["README.md", f"*{split}-*.parquet"])
        hub.load_split(source.name, split)
        yield Fetched(f"V-FLUTE/{split}, {rows} rows", found.folder, found.revision)


def _prefetch_irfl() -> Iterator[Fetched]:
    from figlang_tasks.benchmarks.irfl import tables
    from figlang_tasks.benchmarks.irfl.pictures import ARCHIVE, pictures

    source = hub.source("IRFL")
    found = hub.snapshot(source, ["*.csv"])
    read = [tables.read(source.name, name) for name in tables.ROWS]
    yield Fetched(f"IRFL, {len(read)} tables", found.folder, found.revision)
    pictures(source.name)
    yield Fetched(f"IRFL, pictures ({ARCHIVE}, read without unpacking)", found.folder, found.revision)


def _prefetch_nykms() -> Iterator[Fetched]:
    from figlang_tasks.benchmarks.nykms.rows import CONTEST_CONFIG, CONTESTS

    found = hub.snapshot(hub.source(CONTESTS), [f"{CONTEST_CONFIG}/*.parquet"])
    if not any((found.folder / CONTEST_CONFIG).glob("*.parquet")):
        raise DataError(f"{CONTESTS}: no file {CONTEST_CONFIG}/*.parquet in {found.folder}: load the dataset again")
    yield Fetched("NYK-MS, the cartoons and descriptions (its annotations are yours)", found.folder, found.revision)


def _prefetch_flute() -> Iterator[Fetched]:
    from figlang_tasks.benchmarks.flute import rows

    source = hub.source("FLUTE")
    count = len(rows.load(source.name, "train"))
    found = hub.snapshot(source, ["README.md", "*.parquet", "*.jsonl"])
    yield Fetched(f"FLUTE, {count} rows", found.folder, found.revision)


def _prefetch_metaclue() -> Iterator[Fetched]:
    from figlang_tasks.benchmarks.metaclue import annotations

    table = annotations.read("MetaCLUE")
    yield Fetched(f"MetaCLUE, {len(table.rows)} images: yours, nothing to download", table.folder, table.revision)


_PREFETCH: Mapping[str, Callable[[], Iterator[Fetched]]] = {
    "vflute": _prefetch_vflute,
    "irfl": _prefetch_irfl,
    "nykms": _prefetch_nykms,
    "metaclue": _prefetch_metaclue,
    "flute": _prefetch_flute,
}


def scorer_weights() -> dict[Any, str]:
    """The weights of the papers' scorers, each with the scorers that it is for.

    Keys are :class:`figlang_tasks.metrics.explanation.weights.Weights`; ``locate`` downloads them.
    """
    from figlang_tasks.metrics.explanation.scorers import SCORERS

    users: dict[Any, list[str]] = {}
    for name, recipe in SCORERS.items():
        for weights in (recipe.bertscore, recipe.bleurt):
            if weights is not None and not weights.package:
                users.setdefault(weights, []).append(name)
    return {weights: ", ".join(names) for weights, names in users.items()}


# --- check -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes:
        lines: to be printed; the faults are among them.
        faults: how many of them name something that has to be put right.
    """

    lines: tuple[str, ...]
    faults: int


class _Found:
    """Collects counts, remarks and faults."""

    def __init__(self) -> None:
        self.counts: list[tuple[str, int | None, int | None]] = []
        self.remarks: list[str] = []
        self.faults: list[str] = []

    def count(self, name: str, here: int | None, published: int | None) -> None:
        self.counts.append((name, here, published))

    @contextmanager
    def fault(self) -> Iterator[None]:
        """Note the fault that the block ends with, once: several tasks may stumble over the same row."""
        try:
            yield
        except DataError as error:
            if str(error) not in self.faults:
                self.faults.append(str(error))

    @contextmanager
    def refused(self, what: str) -> Iterator[None]:
        """Remark that the data does not suffice for some tasks, by the fault that the block ends with.

        The loaders' warnings are left out: the counts say it.
        """
        logger.disable("figlang_tasks")
        try:
            yield
        except DataError as error:
            self.remarks.append(f"{what}: {error}")
        finally:
            logger.enable("figlang_tasks")

    def report(self, title: str) -> Report:
        width = max((len(name) for name, _, _ in self.counts), default=0)
        lines = [title, "", f"{'':{width}}  {'here':>8}  published"]
        for name, here, published in self.counts:
            cells = ["-" if number is None else f"{number}" for number in (here, published)]
            lines.append(f"{name:{width}}  {cells[0]:>8}  {cells[1]}{_difference(here, published)}")
        return Report((*lines, "", *self.remarks, *self.verdict()), len(self.faults))

    def verdict(self) -> list[str]:
        """The last lines: every fault, and how many there are."""
        return [*self.faults, f"{len(self.faults)} fault(s)"] if self.faults else ["no faults"]


def _difference(here: int | None, published: int | None) -> str:
    if here is None or published is None or here == published:
        return "  (not here)" if here is None else ""
    return f"  ({abs(here - published)} {'missing' if here < published else 'more'})"


def check(benchmark: str, folder: Path | None = None) -> Report:
    """Read the data of a benchmark by its tasks' loaders; count beside the published counts, and list the faults.

    Args:
        benchmark: key of :data:`figlang_tasks.core.hub.DATASETS`.
        folder: the folder of its data, or the one above it; None: what the tasks would read without a download,
            ``$FIGLANG_DATA_DIR`` or the hub's cache.

    Raises:
        DataError: there is nothing to check.
    """
    with _downloading_nothing(), _reading(hub.DATASETS[benchmark], folder):
        return _CHECKS[benchmark]()


@contextmanager
def _reading(name: str, folder: Path | None) -> Iterator[None]:
    """Let the loaders read `folder`."""
    if folder is None:
        yield
        return
    place = folder.expanduser().absolute()
    if place.name != name and (place / name).is_dir():
        place = place / name
    if not place.is_dir():
        raise DataError(f"{folder} is no folder")
    if place.name != name:
        raise DataError(f"{folder}: tasks read a folder called {name}: rename it, or name the folder above that one")
    before = os.environ.get(DATA_DIR_VARIABLE)
    os.environ[DATA_DIR_VARIABLE] = str(place.parent)
    try:
        yield
    finally:
        if before is None:
            del os.environ[DATA_DIR_VARIABLE]
        else:
            os.environ[DATA_DIR_VARIABLE] = before


@contextmanager
def _downloading_nothing() -> Iterator[None]:
    from huggingface_hub import constants

    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


def _here(benchmark: str) -> Snapshot:
    source = hub.source(hub.DATASETS[benchmark])
    try:
        return hub.snapshot(source, ["*"])
    except DataError as error:
        if isinstance(error.__cause__, FileNotFoundError):  # the hub's client: not in the cache
            raise DataError(
                f"{source.name} is neither in ${DATA_DIR_VARIABLE} nor in the hub's cache: download it with `figlang "
                f"data prefetch {benchmark}`, or name the folder that it is in"
            ) from error
        raise


def _progress(rows: Iterable[Any], what: str) -> Iterable[Any]:
    """A progress bar on a terminal."""
    from tqdm.auto import tqdm

    return tqdm(rows, desc=what, unit="picture", disable=None, leave=False)


def _check_vflute() -> Report:
    import datasets

    from figlang_tasks.benchmarks.vflute import rows
    from figlang_tasks.core import images

    source, here, found = hub.source("V-FLUTE"), _here("vflute"), _Found()
    for split, published in source.splits.items():
        files = sorted(here.folder.glob(f"**/{split}-*.parquet"))
        if not files and split != "test":
            found.count(split, None, published)
            found.remarks.append(f"{split} is not here: {_NEEDED[split]} need(s) it")
            continue
        loaded = None
        with found.fault():
            loaded = hub.load_split(source.name, split)
        if loaded is None:
            found.count(split, _parquet_rows(files), published)
            continue
        groups: Counter[str] = Counter()
        pictures, before = 0, len(found.faults)
        undecoded = loaded.cast_column("image", datasets.Image(decode=False))
        for number, row in enumerate(_progress(undecoded, f"V-FLUTE/{split}")):
            name = f"V-FLUTE/{split} row {number}"
            with found.fault():
                rows._check_texts({key: row[key] for key in source.columns if key != "image"}, name)
                groups[rows.report_group(row["source_dataset"], row["phenomenon"])] += 1
            with found.fault():
                images.check(row["image"], name, source.name)
                pictures += 1
        if len(found.faults) == before:  # what is wrong with no single row
            with found.fault():
                rows.load(source.name, split, check_images=False)
        found.count(split, len(loaded), published)
        found.count(f"{split}, pictures", pictures, published)
        for group, count in VFLUTE_TEST.items() if split == "test" else ():
            found.count(f"{split}, {group}", groups[group], count)
    return found.report(f"{here.folder} ({here.revision})")


_NEEDED = {"train": "vflute_5shot, vflute_10shot", "validation": "vflute_val"}


def _parquet_rows(files: list[Path]) -> int | None:
    """Rows by the files' own word; None if one is damaged."""
    import pyarrow.parquet as pq
    from pyarrow import ArrowException

    try:
        return sum(pq.read_metadata(path).num_rows for path in files) if files else None
    except (ArrowException, OSError):
        return None


def _check_irfl() -> Report:
    from figlang_tasks.benchmarks.irfl import candidates, tables
    from figlang_tasks.benchmarks.irfl.pictures import Pictures

    here, found = _here("irfl"), _Found()
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
            for where, uuids in _irfl_rows(table, found):
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
    for uuid, where in _progress(wanted.items(), "IRFL") if store else ():
        with found.fault():
            store.read(uuid, where)
            intact += 1
    found.count("pictures that the tables name", intact if store else None, len(wanted))
    return found.report(f"{here.folder} ({here.revision})")


def _irfl_rows(table: Any, found: _Found) -> Iterator[tuple[str, list[str]]]:
    """The rows of a table, each with the uuids of its pictures; faulty ones are noted and left out."""
    from figlang_tasks.benchmarks.irfl import tables

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


def _check_nykms() -> Report:
    from figlang_tasks.benchmarks.nykms import rows
    from figlang_tasks.benchmarks.nykms.parse import Question

    here, found = _here("nykms"), _Found()
    parts: tuple[tuple[str, Question, Question], ...] = (("nyk_m", "metaphor", "mw"), ("nyk_s", "sarcasm", "sw"))
    for part, question, word in parts:
        path = here.folder / f"{part}.jsonl"
        if not path.is_file():
            found.count(part, None, rows.PAPER_ROWS[part])
            found.remarks.append(f"{path} is not here: the tasks on {question} need it")
            continue
        before = len(found.faults)
        annotated = list(_nykms_rows(path, found))
        if len(found.faults) == before:  # ids, positives, and what is joined from the contest dataset
            for of in (question, word):
                with found.fault():
                    rows.load("NYK-MS", of, "image")
            with found.refused(f"{part}: a run refuses the tasks on descriptions (nykms_*_text)"):
                rows.load("NYK-MS", question, "text")
        found.count(part, len(annotated), rows.PAPER_ROWS[part])
        found.count(f"{part}, positives", sum(row.label for row in annotated), NYKMS_POSITIVES[part])
        found.count(f"{part}, cartoons in files", len({row.image for row in annotated if row.image}), None)
        for what, count in (
            ("cartoon", sum(row.image is None for row in annotated)),
            ("description", sum(not row.description for row in annotated)),
        ):
            if count:
                found.remarks.append(
                    f"{part}: {count} rows have no {what} of their own: taken from the hub's contest dataset "
                    f"(figlang data prefetch nykms)"
                )
    if all(here_ is None for _, here_, _ in found.counts):
        found.faults.append(f"{here.folder} holds no annotations: `figlang data template nykms` writes example files")
    return found.report(f"{here.folder} ({here.revision})")


def _nykms_rows(path: Path, found: _Found) -> Iterator[Any]:
    """The valid rows of a file; its faults are noted, those of the pictures too."""
    from figlang_tasks.benchmarks.nykms import rows
    from figlang_tasks.core import images

    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        found.faults.append(f"{path} is not UTF-8 ({error.reason} at byte {error.start}): save it as UTF-8")
        return
    shown: set[Path] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        with found.fault():
            row = rows._row(rows._object(line, where), where, path.parent, rows._ANSWERS[path.stem], True)
            if row.image is not None and row.image not in shown:
                shown.add(row.image)
                images.check(rows._cell(row, {}, path.parent), row.where, "NYK-MS")
            yield row


def _check_flute() -> Report:
    from figlang_tasks.benchmarks.flute import rows

    here, found = _here("flute"), _Found()
    valid = []
    with found.fault():
        _, raw = rows._raw_rows("FLUTE", here.folder)
        for where, values in raw:
            with found.fault():
                valid.append(rows._row(values, where))
    if not found.faults:
        with found.fault():
            rows.load("FLUTE", "heldout")
    found.count("train", len(valid), hub.source("FLUTE").splits["train"])
    counts = Counter((row.portion, row.label) for row in valid)
    for (portion, label), published in rows.RELEASED_COUNTS["FLUTE"].items():
        found.count(f"train, {portion}, {label}", counts[portion, label], published)
    blind = None
    if (here.folder / rows.BLIND_FILE).is_file():
        with found.fault():
            blind = len(rows.load_blind())
    else:
        found.remarks.append(f"{rows.BLIND_FILE} is not here: flute_codalab needs it, and nothing else")
    found.count("blind test rows of FigLang 2022", blind, rows.BLIND_ROWS)
    return found.report(f"{here.folder} ({here.revision})")


def _check_metaclue() -> Report:
    """A table of its own: the paper counts images, metaphors and boxes."""
    from figlang_tasks.benchmarks.metaclue import annotations, candidates, rows

    rows_found = annotations.check_folder()
    if rows_found.faults:
        return Report(rows_found.lines, rows_found.faults)
    folder, found = hub.snapshot(hub.source("MetaCLUE"), []).folder, _Found()
    for task in rows.TASKS:
        yours = (folder / candidates.FOLDER / f"{task.removeprefix(rows.RETRIEVE)}.jsonl").is_file()
        with found.fault() if yours else found.refused(f"a run refuses metaclue_{task}"):
            rows.load("MetaCLUE", task)
    return Report((*rows_found.lines[:-1], *found.remarks, *found.verdict()), len(found.faults))


_CHECKS: Mapping[str, Callable[[], Report]] = {
    "vflute": _check_vflute,
    "irfl": _check_irfl,
    "nykms": _check_nykms,
    "metaclue": _check_metaclue,
    "flute": _check_flute,
}
