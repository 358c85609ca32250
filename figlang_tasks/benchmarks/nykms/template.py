"""Writes files of NYK-MS that users fill in: ``figlang data template nykms``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from figlang_tasks import mini
from figlang_tasks.benchmarks.nykms import counts
from figlang_tasks.benchmarks.nykms.contests import CONTESTS
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of

_README = """NYK-MS for figlang_tasks: files to fill in
==========================================

The annotations of NYK-MS (arXiv 2409.01037) have no public release. Put yours here, in place of these example rows
(which this project wrote and drew), and set {variable} to the folder above this one.

nyk_m.jsonl   metaphor, one JSON object a line; the paper has {nyk_m} rows
nyk_s.jsonl   sarcasm, likewise; the paper has {nyk_s} rows
images/       the cartoons that the rows name

id               a text, once in the file, e.g. NYK_722_3 (contest 722, its third caption)
image            path of the cartoon below this folder; left out or empty: that of the contest in the hub dataset
                 {repository}
description      the cartoon in words, for the text-only tasks; left out or empty: likewise
caption          a text
split            train, validation or test; left out: about 8:1:1, by cartoon (figlang train)
MC / SC          1: there is a metaphor (sarcasm), 0: there is none
MW, ME           of a positive in nyk_m.jsonl: word or object, and explanation; of a negative empty
SW, ST, SE       of a positive in nyk_s.jsonl: word or object, target, and explanation; of a negative empty

MW, SW and ST: words of the caption as they are; "[I] object" for an object in the image; "[I]" alone for the whole
image (not ST); "[S] text" for words of one's own.

Check, with FIGLANG_DATA_DIR set to the folder above this one: figlang data check nykms
Try:   lmms_eval --tasks nykms_joint --model figlang_random --limit 5
"""  # noqa: E501


def template(folder: Path) -> list[Path]:
    """Write example files in the import format, and how to fill them in; return the files.

    The examples are the rows of figlang_mini_nykms.

    Args:
        folder: where to write; it gets ``README.txt``, ``nyk_m.jsonl``, ``nyk_s.jsonl`` and
            ``images/``.
    """
    (folder / "images").mkdir(parents=True)
    for picture in (mini.NYKMS_DIR / "images").iterdir():
        shutil.copyfile(picture, folder / "images" / picture.name)
    for stem in counts.PAPER_ROWS:
        _write_examples(mini.NYKMS_DIR / f"{stem}.jsonl", folder / f"{stem}.jsonl")
    readme = _README.format(
        variable=hub.DATA_DIR_VARIABLE,
        repository=source_of(CONTESTS).repository,
        **counts.PAPER_ROWS,
    )
    (folder / "README.txt").write_text(readme, encoding="utf-8")
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


def _write_examples(mini_file: Path, example_file: Path) -> None:
    """Write the rows of a file of figlang_mini_nykms as examples of the import format."""
    json_lines: list[str] = []
    for line in mini_file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        # The import format has no such field: the id names the contest.
        row.pop("contest_number", None)
        json_lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    example_file.write_text("".join(json_lines), encoding="utf-8")
