"""Blind annotation sheets for the explanations of several systems, from their saved samples."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.record import Record
from figlang_tasks.core.text import listing
from figlang_tasks.judge import draw, sheet
from figlang_tasks.judge import key as keys
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.judge.export_folder import png_bytes, write_export
from figlang_tasks.judge.key import BY_SOURCE, DrawRecord, KeyItem
from figlang_tasks.results import runs
from figlang_tasks.results.comparability import check_same_rows, check_same_scorer
from figlang_tasks.results.task_run import Run, TaskRun

NO_EXPLANATION = "(no explanation)"
"""Stands in a sheet in place of an empty explanation."""


@dataclass(frozen=True)
class _Item:
    """A sample whose explanations are judged.

    Attributes:
        number: of the item in the sheets.
        document: the row of the benchmark.
        system_of_letter: the system behind each letter.
        records: of the answers, by letter.
    """

    number: int
    document: Mapping[str, Any]
    system_of_letter: dict[str, str]
    records: dict[str, Record]

    @property
    def image(self) -> str:
        """The path of the picture in the export; nothing of the data is in its name."""
        return f"images/{self.number:03}.png"

    def key_item(self) -> KeyItem:
        """The item in the key, which holds what annotators must not see."""
        scores: dict[str, float | None] = {}
        for letter, record in self.records.items():
            scores[letter] = draw.score_of(record)
        return {
            "number": self.number,
            "id": self.document["id"],
            "gold": self.records["A"]["gold"],  # the same for every system
            "systems": self.system_of_letter,
            "scores": scores,
        }

    def rows(self) -> list[dict[str, object]]:
        """The rows of the item in the sheets: one for the explanation of each letter."""
        texts = {
            "item": self.number,
            "image": self.image,
            "premise": self.document.get("premise", ""),
            "claim": self.document.get("claim") or self.document.get("hypothesis", ""),
            "reference": self.document["explanation"],
        }
        rows: list[dict[str, object]] = []
        for letter, record in self.records.items():
            explanation = (record["explanation"] or "").strip() or NO_EXPLANATION
            rows.append({**texts, "letter": letter, "explanation": explanation})
        return rows


def export(
    arguments: Sequence[str],
    output: Path,
    *,
    count: int,
    seed: int,
    annotators: int,
    by_source: bool = False,
) -> list[str]:
    """Draw samples of several runs and write blind sheets of their explanations.

    Args:
        arguments: the runs as a command line names them, with explanations of the same rows.
        output: an empty folder.
        count: how many samples to draw, at most; all if there are fewer.
        seed: of the draw and of the letters.
        annotators: the number of sheets.
        by_source: draws from each source of rows in proportion to its rows, not from all rows.

    Returns:
        The names of what was written into `output`: sheets, pictures and the key.

    Raises:
        FigLangError: the runs cannot be judged together, or their data is not here.
    """
    task_by_system = read_tasks(arguments)
    first_task = next(iter(task_by_system.values()))
    generator = random.Random(seed)
    row_ids = draw.draw_rows(first_task.records, count, generator, by_source=by_source)

    pictures: dict[str, bytes] = {}
    rows: list[dict[str, object]] = []
    key_items: list[KeyItem] = []
    for item in _items(task_by_system, row_ids, generator):
        if "image" in item.document:
            pictures[item.image] = _picture(item.document)
        rows += item.rows()
        key_items.append(item.key_item())
    key = keys.sign(
        benchmark=first_task.benchmark.name,
        data=str(first_task.data),
        seed=seed,
        scorer=first_task.signature or first_task.scorer,
        systems=list(task_by_system),
        items=key_items,
        draw=DrawRecord(
            method=BY_SOURCE if by_source else "simple",
            seed=seed,
            rows=len(first_task.ids),
            drawn=len(row_ids),
        ),
        rows=draw.machine_rows(task_by_system),
    )
    has_several_systems = len(task_by_system) > 1
    columns = _columns(has_pictures=bool(pictures), has_several_systems=has_several_systems)
    return write_export(output, pictures, columns, rows, annotators, key)


def read_tasks(arguments: Sequence[str]) -> dict[str, TaskRun]:
    """The task with explanations of each run, by the name of the run, all of the same rows.

    Args:
        arguments: the runs as a command line names them.

    Raises:
        FigLangError: the runs cannot be judged together.
    """
    task_by_system = {run.name: _explained_task(run) for run in runs.read_all(arguments)}
    first_name, first_task = next(iter(task_by_system.items()))
    for name, task in task_by_system.items():
        if name != first_name:
            check_same_rows(first_task.task, first_name, first_task, name, task)
    # It takes a list of the repeats of each system, of which there is one here.
    check_same_scorer(first_task.task, {name: [task] for name, task in task_by_system.items()})
    return task_by_system


def _explained_task(run: Run) -> TaskRun:
    """The one task of a run that has explanations, after a check of its samples.

    Raises:
        FigLangError: several tasks have explanations or none, a row has several answers, or the
            samples are damaged.
    """
    tasks = [task for task in run.tasks.values() if task.has_explanations]
    if not tasks:
        raise FigLangError(
            f"{run.path} has no explanations to judge: {listing(run.tasks)} asks for none, or its"
            " rows have none to compare with. Name a run of vflute, flute or figlang_mini, say"
        )
    if len(tasks) != 1:
        names = listing(task.task for task in tasks)
        raise FigLangError(
            f"{run.path} holds {len(tasks)} tasks with explanations ({names}):"
            " name the samples of one"
        )
    task = tasks[0]
    answers = len(task.samples)
    rows = len(set(task.ids))
    if answers != rows:
        raise FigLangError(f"{run.path}: {answers} answers to {rows} rows: leave out --repeats")
    task.check_explanations()
    task.check_consistent()
    return task


def _items(
    task_by_system: Mapping[str, TaskRun], row_ids: Sequence[str], generator: random.Random
) -> list[_Item]:
    """The items of the drawn rows, with the systems in random order behind the letters.

    Args:
        task_by_system: the task of each system, by the name of its run; all of the same rows.
        row_ids: the rows that were drawn.
        generator: of the order.
    """
    first_task = next(iter(task_by_system.values()))
    documents = RunDocuments(first_task)
    # In each, the record of a row by its id.
    records_by_system: dict[str, dict[str, Record]] = {}
    for name, task in task_by_system.items():
        records_by_system[name] = {record["id"]: record for record in task.records}

    items: list[_Item] = []
    for number, row_id in enumerate(row_ids, start=1):
        order = list(task_by_system)
        generator.shuffle(order)
        letters = sheet.LETTERS[: len(order)]
        system_of_letter = dict(zip(letters, order, strict=True))
        records: dict[str, Record] = {}
        for letter, name in system_of_letter.items():
            records[letter] = records_by_system[name][row_id]
        items.append(_Item(number, documents[row_id], system_of_letter, records))
    return items


def _picture(document: Mapping[str, Any]) -> bytes:
    """The picture of a document as a file that tells nothing of its origin."""
    dataset = document["dataset"]
    picture = images.decode(document["image"], f"{dataset} {document['id']}", dataset)
    return png_bytes(picture)


def _columns(has_pictures: bool, has_several_systems: bool) -> list[str]:
    """The columns of a sheet: a picture or a premise, and a preference among several systems."""
    unused_columns = {"premise"} if has_pictures else {"image"}
    if not has_several_systems:
        unused_columns.add("preferred")
    return [column for column in sheet.COLUMNS if column not in unused_columns]
