"""NYK-MS's data: what is fetched, what is checked, and files to fill in."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.benchmarks.nykms.parse import Question
from figlang_tasks.core import hub, images
from figlang_tasks.core.checks import Fetched, Findings, Report, on_this_machine
from figlang_tasks.core.hub import DataError

_README = """NYK-MS for figlang_tasks: files to fill in
==========================================

The annotations of NYK-MS (arXiv 2409.01037) have no public release. Put yours here, in place of these example rows
(which this project wrote and drew), and set {variable} to the folder above this one.

nyk_m.jsonl   metaphor, one JSON object a line; the paper has {nyk_m} rows
nyk_s.jsonl   sarcasm, likewise; the paper has {nyk_s} rows
images/       the cartoons that the rows name

id               a text, once in the file, e.g. NYK_722_3 (contest 722, its third caption)
contest_number   a whole number; may be left out where the id tells it
image            path of the cartoon below this folder; left out or empty: taken by contest_number from the hub dataset
                 {repository}
description      the cartoon in words, for the text-only tasks; left out or empty: likewise
caption          a text
MC / SC          1: there is a metaphor (sarcasm), 0: there is none
MW, ME           of a positive in nyk_m.jsonl: word or object, and explanation; of a negative empty
SW, ST, SE       of a positive in nyk_s.jsonl: word or object, target, and explanation; of a negative empty

MW, SW and ST: words of the caption as they are; "[I] object" for an object in the image; "[I]" alone for the whole
image (not ST); "[S] text" for words of one's own.

Check, with FIGLANG_DATA_DIR set to the folder above this one: figlang data check nykms
Try:   lmms_eval --tasks nykms_joint --model figlang_random --limit 5
"""


def fetch() -> Iterator[Fetched]:

    found = hub.snapshot(hub.source(rows.CONTESTS), [f"{rows.CONTEST_CONFIG}/*.parquet"])
    if not any((found.folder / rows.CONTEST_CONFIG).glob("*.parquet")):
        raise DataError(
            f"{rows.CONTESTS}: no file {rows.CONTEST_CONFIG}/*.parquet in {found.folder}: load the dataset again"
        )
    yield Fetched("NYK-MS, the cartoons and descriptions (its annotations are yours)", found.folder, found.revision)


def check() -> Report:

    here, found = on_this_machine("nykms", hub.source("NYK-MS")), Findings()
    parts: tuple[tuple[str, Question, Question], ...] = (("nyk_m", "metaphor", "mw"), ("nyk_s", "sarcasm", "sw"))
    for part, question, word in parts:
        path = here.folder / f"{part}.jsonl"
        if not path.is_file():
            found.count(part, None, rows.PAPER_ROWS[part])
            found.remarks.append(f"{path} is not here: the tasks on {question} need it")
            continue
        before = len(found.faults)
        annotated = list(_rows(path, found))
        if len(found.faults) == before:  # ids, positives, and what is joined from the contest dataset
            for of in (question, word):
                with found.fault():
                    rows.load("NYK-MS", of, "image")
            with found.refused(f"{part}: a run refuses the tasks on descriptions (nykms_*_text)"):
                rows.load("NYK-MS", question, "text")
        found.count(part, len(annotated), rows.PAPER_ROWS[part])
        found.count(f"{part}, positives", sum(row.label for row in annotated), rows.PAPER_POSITIVES[part])
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


def _rows(path: Path, found: Findings) -> Iterator[Any]:
    """The valid rows of a file; its faults are noted, those of the pictures too."""

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


def template(folder: Path) -> list[Path]:
    """Write a folder of example files in the import format, and words that say how to fill them in."""

    (folder / "images").mkdir(parents=True)
    written = []
    for name, mark_fields in (("nyk_m", ("MW",)), ("nyk_s", ("SW", "ST"))):
        chosen = _one_of_each_kind(name, mark_fields)
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen), encoding="utf-8")
        written.append(path)
        for row in chosen:
            picture = folder / row["image"]
            shutil.copyfile(mini.NYKMS_DIR / row["image"], picture)
            written.append(picture)
    readme = folder / "README.txt"
    readme.write_text(
        _README.format(
            variable=hub.DATA_DIR_VARIABLE, repository=hub.source(rows.CONTESTS).repository, **rows.PAPER_ROWS
        ),
        encoding="utf-8",
    )
    return [readme, *dict.fromkeys(written)]


def _one_of_each_kind(name: str, mark_fields: tuple[str, ...]) -> list[dict[str, Any]]:
    """Rows of the shipped benchmark in this format: one of each kind of answer, and a negative."""
    lines = (mini.NYKMS_DIR / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    seen: set[tuple[str, str]] = set()
    chosen = []
    for row in map(json.loads, lines):
        kinds = {(field, _mark(row[field])) for field in mark_fields}
        if kinds - seen:
            seen |= kinds
            chosen.append(row)
    return chosen


def _mark(answer: str) -> str:
    """``[I]``, ``[I] ``, ``[S] ``, a blank for words of the caption, nothing for a negative."""
    return answer[:4] if answer.startswith("[") else " " * bool(answer)
