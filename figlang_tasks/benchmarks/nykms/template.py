"""The files of NYK-MS that users fill in (``figlang data template nykms``)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.core import hub

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
split            train, validation or test, in all rows or in none; left out: about 8:1:1, by cartoon (figlang train)
MC / SC          1: there is a metaphor (sarcasm), 0: there is none
MW, ME           of a positive in nyk_m.jsonl: word or object, and explanation; of a negative empty
SW, ST, SE       of a positive in nyk_s.jsonl: word or object, target, and explanation; of a negative empty

MW, SW and ST: words of the caption as they are; "[I] object" for an object in the image; "[I]" alone for the whole
image (not ST); "[S] text" for words of one's own.

Check, with FIGLANG_DATA_DIR set to the folder above this one: figlang data check nykms
Try:   lmms_eval --tasks nykms_joint --model figlang_random --limit 5
"""


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
