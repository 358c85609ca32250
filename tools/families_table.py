"""Write the table of architectures in docs/models.md, from tests/support/families.yaml.

make families-table

With ``--tested`` it writes instead, above the table, when its tests passed and with which versions:
today, and those of this environment.
"""

from __future__ import annotations

import datetime
import platform
import re
import sys
from importlib.metadata import version
from pathlib import Path

from tiny_models import FAMILIES, Family

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "models.md"
COLUMNS = (
    "architecture",
    "batches",
    "several pictures",
    "no picture",
    "candidate scores",
    "remarks",
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
START_OF_TABLE = "All of this works with: "
LAST_RUN = re.compile(r"^The tests of this table last passed on .*\n\n", re.MULTILINE)
NOTHING_SPECIAL = ["yes", "yes", "yes", "fast", ""]


def cells(family: Family) -> list[str]:
    """Return the table cells of a model family, without its name."""
    if "load" in family.refused:
        return ["–", "–", "–", "–", f"not loaded: {family.remark}"]
    batches = "no" if family.one_at_a_time else "yes"
    several = "no" if "four pictures" in family.refused else "yes"
    no_picture = "no" if "no picture" in family.refused else "yes"
    scores = "fast" if family.fast else "slow"
    if "one picture" in family.refused:
        batches = scores = "–"
        several = "no picture at all"
    elif several == "yes" and family.moves:
        several = f"yes, {family.moves}"
    needs = f"needs `{family.needs}`" if family.needs else ""
    remarks = "; ".join(filter(None, [needs, family.remark]))
    return [batches, several, no_picture, scores, remarks]


def table() -> str:
    """List the families that support everything, then a table of all others."""
    whole: list[str] = []
    rows: list[str] = []
    for family in sorted(FAMILIES.values(), key=lambda family: family.name.lower()):
        family_cells = cells(family)
        if family_cells == NOTHING_SPECIAL:
            whole.append(family.name)
        else:
            rows.append(f"| {' | '.join([family.name, *family_cells])} |\n")
    return f"{START_OF_TABLE}{', '.join(whole)}.\n\n{HEAD}{''.join(rows)}"


def document() -> str:
    """Return the text of docs/models.md with a new table at its end."""
    before, _, _ = DOCUMENT.read_text(encoding="utf-8").partition(START_OF_TABLE)
    return before + table()


def document_after_run() -> str:
    """Return the text of docs/models.md, with today's date and the versions that were tested."""
    versions = [f"Python {platform.python_version()}"]
    for package in ("transformers", "torch"):
        versions.append(f"{package} {version(package)}")
    today = datetime.date.today()
    sentence = f"The tests of this table last passed on {today}, with {', '.join(versions)}."
    before, start, after = DOCUMENT.read_text(encoding="utf-8").partition(START_OF_TABLE)
    return f"{LAST_RUN.sub('', before)}{sentence}\n\n{start}{after}"


if __name__ == "__main__":
    text = document_after_run() if sys.argv[1:] == ["--tested"] else document()
    DOCUMENT.write_text(text, encoding="utf-8")
