"""What users see of the matrix of architectures (`families.yaml`), and the part of docs/models.md
that shows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from tiny_vlms import DATA

DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"
COLUMNS = (
    "architecture",
    "batches",
    "several pictures",
    "no picture",
    "candidate scores",
    "remarks",
)
HEAD = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"


@dataclass(frozen=True)
class Family:
    """What `figlang_vlm` does with an architecture; `families.yaml` says what each field means."""

    name: str
    ci: bool = False
    refused: Mapping[str, str] = field(default_factory=dict)
    one_at_a_time: bool = False
    moves: str = ""
    fast: bool = True
    mark: str = ""
    auto: str = "AutoModelForImageTextToText"
    needs: str = ""
    remark: str = ""
    broken_in: str = ""

    def cells(self) -> list[str]:
        """Return its cells of the table, without the name."""
        if "load" in self.refused:
            return ["–", "–", "–", "–", f"not loaded: {self.remark}"]

        def works(kind: str) -> str:
            return "no" if kind in self.refused else "yes"

        batches, fast = "no" if self.one_at_a_time else "yes", "fast" if self.fast else "slow"
        several = works("four pictures")
        if "one picture" in self.refused:
            batches, several, fast = "–", "no picture at all", "–"
        elif several == "yes" and self.moves:
            several = f"yes, {self.moves}"
        needs = f"needs `{self.needs}`" if self.needs else ""
        return [
            batches,
            several,
            works("no picture"),
            fast,
            "; ".join(filter(None, [needs, self.remark])),
        ]


FAMILIES = {
    key: Family(**{own.name: data[own.name] for own in fields(Family) if own.name in data})
    for key, data in DATA.items()
}


def table() -> str:
    """Return the names of the families with which all works, and a table of the others."""
    families = sorted(FAMILIES.values(), key=lambda found: found.name.lower())
    whole = [found.name for found in families if found.cells() == ["yes", "yes", "yes", "fast", ""]]
    rows = [
        f"| {' | '.join([found.name, *found.cells()])} |\n"
        for found in families
        if found.name not in whole
    ]
    return f"All of this works with: {', '.join(whole)}.\n\n{HEAD}{''.join(rows)}"


def document() -> str:
    """Return docs/models.md, which ends in the table, with it written anew."""
    return DOCUMENT.read_text(encoding="utf-8").partition("All of this works with: ")[0] + table()


if __name__ == "__main__":
    DOCUMENT.write_text(document(), encoding="utf-8")
