"""The right answers of AdMIRe, which the organisers released apart for some tables."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from figlang_tasks.core import hub, row_files
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.record import Row


class Target(NamedTuple):
    """The right answer of a row in a file of targets.

    Attributes:
        location: file and line, for messages.
        compound: the compound of the row.
        sense: the cell ``sentence_type``.
        answer: the cell ``expected_order`` or ``expected_item``.
    """

    location: str
    compound: str
    sense: str
    answer: str


def find_target(root: Path, answer_column: str, cells: Row, location: str) -> Target:
    """The right answer of a row whose cell for it is empty, from the files of targets.

    Args:
        root: the folder of the dataset, somewhere below which those files are.
        answer_column: ``expected_order`` or ``expected_item``.
        cells: the row as it stands in its file, by column.
        location: file and line of the row, for messages.

    Raises:
        DataError: no file has it, or two files have different ones.
    """
    picture_names = [cell for column, cell in cells.items() if column.endswith("_name")]
    targets: list[Target] = []
    for target in _read_targets(root, answer_column):
        # A compound has targets in several tables. Those of this row name its pictures.
        names_a_picture = any(name in target.answer for name in picture_names)
        if target.compound == cells["compound"] and names_a_picture:
            targets.append(target)
    if not targets:
        raise DataError(
            f"{location}: {answer_column} is empty, and no file *targets*.tsv below {root} has it:"
            " put the targets of the official scoring program there"
        )
    first_target = targets[0]
    for target in targets:
        if (target.sense, target.answer) != (first_target.sense, first_target.answer):
            raise DataError(
                f"{location}: {first_target.location} and {target.location} have different targets"
                " of this row: leave one"
            )
    return first_target


@hub.cached(maxsize=2)
def _read_targets(root: Path, answer_column: str) -> list[Target]:
    """The rows of all files of targets below a folder that have a cell in `answer_column`."""
    needed_columns = {"compound", "sentence_type", answer_column}
    targets: list[Target] = []
    for path in sorted(root.rglob("*targets*.tsv")):
        for location, cells in row_files.read_rows(path):
            # A text in place of cells is a message about a row that cannot be read.
            if isinstance(cells, str) or not needed_columns <= cells.keys():
                continue
            target = Target(
                location,
                compound=cells["compound"],
                sense=cells["sentence_type"],
                answer=cells[answer_column],
            )
            targets.append(target)
    return targets
