"""Blind annotation sheets for the explanations of several systems, from their saved samples."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from figlang_tasks.core.rubric import TEXT_COLUMNS
from figlang_tasks.judge import draw, sheet, verdicts
from figlang_tasks.judge import key as keys
from figlang_tasks.judge.explained import ExplainedTask, read_explained
from figlang_tasks.judge.export_folder import png_bytes, write_export
from figlang_tasks.judge.key import BY_SOURCE, DrawRecord, KeyItem, MachineRow
from figlang_tasks.results.comparability import check_same_scorer


@dataclass(frozen=True)
class _Item:
    """A sample whose explanations are judged.

    Attributes:
        number: of the item in the sheets.
        machine_row: what machines say of it.
        row_texts: the texts of its row, by column.
        picture: the picture of its row; None if it has none.
        explanations: by letter.
        system_of_letter: the system behind each letter.
    """

    number: int
    machine_row: MachineRow
    row_texts: Mapping[str, str]
    picture: Image.Image | None
    explanations: dict[str, str]
    system_of_letter: dict[str, str]

    @property
    def image(self) -> str:
        """The path of the picture in the export; nothing of the data is in its name."""
        return f"images/{self.number:03}.png"

    def key_item(self) -> KeyItem:
        """The item in the key, which holds what annotators must not see."""
        scores: dict[str, float | None] = {}
        for letter, system in self.system_of_letter.items():
            scores[letter] = self.machine_row["scores"][system]
        return {
            "number": self.number,
            "id": self.machine_row["id"],
            "gold": self.machine_row["gold"],
            "systems": self.system_of_letter,
            "scores": scores,
        }

    def rows(self) -> list[dict[str, object]]:
        """The rows of the item in the sheets: one for the explanation of each letter."""
        cells: dict[str, object] = {"item": self.number, **self.row_texts}
        if self.picture is not None:
            cells["image"] = self.image
        rows: list[dict[str, object]] = []
        for letter, explanation in self.explanations.items():
            rows.append({**cells, "letter": letter, "explanation": explanation})
        return rows


def export(
    arguments: Sequence[str],
    output: Path,
    *,
    count: int,
    seed: int,
    annotators: int,
    by_source: bool = False,
    task: str | None = None,
    scores: Path | None = None,
) -> list[str]:
    """Draw samples of several runs and write blind sheets of their explanations.

    Args:
        arguments: the runs as a command line names them, with explanations of the same rows.
        output: an empty folder.
        count: how many samples to draw, at most; all if there are fewer.
        seed: of the draw and of the letters.
        annotators: the number of sheets.
        by_source: draws from each source of rows in proportion to its rows, not from all rows.
        task: the name of the task; None if each run has a single one with explanations.
        scores: a file of verdicts, which stand in the key in place of ExplanationScores.

    Returns:
        The names of what was written into `output`: sheets, pictures and the key.

    Raises:
        FigLangError: the runs cannot be judged together, their data is not here, or the verdicts
            are not of their explanations.
    """
    explained_by_system = read_tasks(arguments, task)
    first = next(iter(explained_by_system.values()))
    generator = random.Random(seed)
    records = list(first.records.values())
    row_ids = draw.draw_rows(records, count, generator, by_source=by_source)
    draw_record = DrawRecord(
        method=BY_SOURCE if by_source else "simple",
        seed=seed,
        rows=len(records),
        drawn=len(row_ids),
    )
    machine_rows = draw.machine_rows(explained_by_system)
    scorer = first.task.signature or first.task.scorer
    if scores is not None:
        scorer = verdicts.replace_scores(machine_rows, scores, explained_by_system)

    pictures: dict[str, bytes] = {}
    rows: list[dict[str, object]] = []
    key_items: list[KeyItem] = []
    for item in _items(explained_by_system, row_ids, machine_rows, generator):
        if item.picture is not None:
            pictures[item.image] = png_bytes(item.picture)
        rows += item.rows()
        key_items.append(item.key_item())
    key = _key(explained_by_system, scorer, key_items, draw_record, machine_rows)
    columns = _columns(rows, first.asks_label, len(explained_by_system) > 1)
    for row in rows:
        row["benchmark"] = first.task.benchmark.name
    return write_export(output, pictures, columns, rows, annotators, key)


def read_tasks(arguments: Sequence[str], task: str | None) -> dict[str, ExplainedTask]:
    """The task with explanations of each run, all of the same rows and with scores of one scorer.

    Args:
        arguments: the runs as a command line names them.
        task: the name of the task; None if each run has a single one with explanations.

    Raises:
        FigLangError: the runs cannot be judged together.
    """
    explained_by_system = read_explained(arguments, task)
    first = next(iter(explained_by_system.values()))
    # It takes a list of the repeats of each system, of which there is one here.
    repeats = {name: [explained.task] for name, explained in explained_by_system.items()}
    if first.task.has_explanations:
        check_same_scorer(first.task.task, repeats)
    return explained_by_system


def _items(
    explained_by_system: Mapping[str, ExplainedTask],
    row_ids: Sequence[str],
    machine_rows: Sequence[MachineRow],
    generator: random.Random,
) -> list[_Item]:
    """The items of the drawn rows, with the systems in random order behind the letters.

    Args:
        explained_by_system: the task of each system, by the name of its run; all of the same rows.
        row_ids: the rows that were drawn.
        machine_rows: what machines say of all rows.
        generator: of the order.
    """
    first = next(iter(explained_by_system.values()))
    records = first.records
    machine_row_of_id = {row["id"]: row for row in machine_rows}
    items: list[_Item] = []
    for number, row_id in enumerate(row_ids, start=1):
        order = list(explained_by_system)
        generator.shuffle(order)
        letters = sheet.LETTERS[: len(order)]
        system_of_letter = dict(zip(letters, order, strict=True))
        explanations: dict[str, str] = {}
        for letter, name in system_of_letter.items():
            explanations[letter] = explained_by_system[name].text(row_id)
        has_picture = row_id in first.rows_with_picture
        items.append(
            _Item(
                number=number,
                machine_row=machine_row_of_id[row_id],
                row_texts=first.explanations[row_id].row_texts,
                picture=first.read_picture(records[row_id]) if has_picture else None,
                explanations=explanations,
                system_of_letter=system_of_letter,
            )
        )
    return items


def _key(
    explained_by_system: Mapping[str, ExplainedTask],
    scorer: str | None,
    items: Sequence[KeyItem],
    draw_record: DrawRecord,
    machine_rows: Sequence[MachineRow],
) -> dict[str, object]:
    """The signed key (`ExplanationKey`)."""
    first = next(iter(explained_by_system.values()))
    return keys.sign(
        benchmark=first.task.benchmark.name,
        data=str(first.task.data),
        seed=draw_record["seed"],
        scorer=scorer,
        asks_label=first.asks_label,
        tasks={name: explained.task.task for name, explained in explained_by_system.items()},
        systems=list(explained_by_system),
        items=items,
        draw=draw_record,
        rows=machine_rows,
    )


def _columns(
    rows: Sequence[Mapping[str, object]], asks_label: bool, has_several_systems: bool
) -> list[str]:
    """The columns of a sheet: what its rows tell, and what annotators fill in.

    Args:
        rows: those of the sheet.
        asks_label: whether annotators choose a label.
        has_several_systems: whether annotators prefer one of several explanations.
    """
    unused_columns: set[str] = set()
    for column in ("image", *TEXT_COLUMNS):
        if not any(row.get(column) for row in rows):
            unused_columns.add(column)
    if not asks_label:
        unused_columns.add("label")
    if not has_several_systems:
        unused_columns.add("preferred")
    return [column for column in sheet.COLUMNS if column not in unused_columns]
