"""Makes the gallery of a report: the cards of all tasks and runs, and their pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tqdm import tqdm

from figlang_tasks.core.card import Answer, Card
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import listing
from figlang_tasks.report import cards
from figlang_tasks.report.cards import Sample
from figlang_tasks.report.originals import Originals, Picture
from figlang_tasks.report.thumbnails import Thumbnail, make_thumbnails
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.readings import is_unread
from figlang_tasks.scoring.records import REPEAT

MAX_CARDS = 6000
"""Cards of a report; larger tasks show some of their rows."""

Row: TypeAlias = Mapping[int, Sequence[Sample]]
"""The samples of a row by the number of their run; several where the row has several images."""


@dataclass(frozen=True)
class Gallery:
    """What the page's script shows.

    Attributes:
        cards: in the order of tasks and rows. The ``picture`` of each of its pictures is a number
            in `pictures`, or None if there is no such picture on this machine.
        pictures: thumbnails; None for a damaged picture.
        warnings: what is missing, and what to do about it.
    """

    cards: list[Card]
    pictures: list[Thumbnail | None]
    warnings: list[str]


def build(runs: Sequence[Run], with_pictures: bool = True, max_cards: int = MAX_CARDS) -> Gallery:
    """Make the gallery of some runs; a card holds the answers of all runs to a row.

    If there are more than `max_cards` rows, each task has the same share of the cards, and rows
    with unread answers are chosen first.
    """
    if max_cards == 0:
        return Gallery([], [], [])
    rows_by_task: dict[str, list[Row]] = {}
    for run in runs:
        for task in run.tasks:
            if task not in rows_by_task:
                rows_by_task[task] = _collect_rows(task, runs)
    task_limit = max_cards
    if sum(map(len, rows_by_task.values())) > max_cards:
        task_limit = max(1, max_cards // len(rows_by_task))

    all_cards: list[Card] = []
    album: dict[str, Picture] = {}
    tasks_by_warning: dict[str, list[str]] = {}
    for task, rows in rows_by_task.items():
        originals, warning = _find_originals(task, runs)
        if warning:
            tasks_by_warning.setdefault(warning, []).append(task)
        if len(rows) > task_limit:
            tasks_by_warning.setdefault(_limit_warning(rows, task_limit), []).append(task)
        for row in _choose_rows(rows, task_limit):
            card = _make_card(task, runs, row, originals)
            _add_pictures(card, originals if with_pictures else None, album)
            all_cards.append(card)

    pictures, damaged = _make_pictures(album)
    _number_pictures(all_cards, album, pictures)
    warnings = []
    for warning, warned_tasks in tasks_by_warning.items():
        warnings.append(f"{listing(warned_tasks, 3)}: {warning}.".replace("..", "."))
    return Gallery(all_cards, pictures, warnings + damaged)


# --- rows ---


def _collect_rows(task: str, runs: Sequence[Run]) -> list[Row]:
    """Group the samples of a task by row and run, in the order of the first run's file.

    Of several answers of a run to a row (``--repeats``) the first is taken.
    """
    rows: dict[str, dict[int, list[Sample]]] = {}
    for number, run in enumerate(runs):
        if task not in run.tasks:
            continue
        task_run = run.tasks[task]
        first_repeat = min(record.get(REPEAT, 1) for record in task_run.records)
        for sample in task_run.samples:
            if sample["sample"].get(REPEAT, 1) == first_repeat:
                row = rows.setdefault(cards.card_id(sample), {})
                row.setdefault(number, []).append(sample)
    return list(rows.values())


def _choose_rows(rows: Sequence[Row], limit: int) -> list[Row]:
    """At most `limit` rows: those with an unread answer, then the first others; in their order."""
    unread = [position for position, row in enumerate(rows) if _has_unread(row)]
    by_priority = list(dict.fromkeys([*unread, *range(len(rows))]))
    return [rows[position] for position in sorted(by_priority[:limit])]


def _has_unread(row: Row) -> bool:
    """Whether the answer of any run to a row was not read."""
    for samples in row.values():
        if any(is_unread(sample["sample"]) for sample in samples):
            return True
    return False


def _limit_warning(rows: Sequence[Row], limit: int) -> str:
    """Say that only `limit` rows of a task are shown, and which."""
    if any(map(_has_unread, rows)):
        return (
            f"{limit} of {len(rows)} rows are in the gallery: those with unread answers, and the"
            " first others"
        )
    return f"the first {limit} of {len(rows)} rows are in the gallery"


# --- cards ---


def _find_originals(task: str, runs: Sequence[Run]) -> tuple[Originals | None, str]:
    """Load the benchmark's rows behind a task; None and a warning if they are missing."""
    task_run = next(run.tasks[task] for run in runs if task in run.tasks)
    try:
        return Originals(task_run), ""
    except DataError as error:
        dataset = task_run.data.dataset
        remedy = "`figlang data prefetch` gets the data"
        return None, f"pictures and texts of {dataset} are not shown: {error}. {remedy}"


def _make_card(task: str, runs: Sequence[Run], row: Row, originals: Originals | None) -> Card:
    """Make the card of a row of a task with the answers of all runs."""
    first_run = next(iter(row))
    row_id = str(row[first_run][0]["sample"]["id"])
    document = None if originals is None else originals.document(row_id)
    card = cards.make_card(runs[first_run].tasks[task], row[first_run], document)
    card["answers"] = []
    for number, samples in row.items():
        answer: Answer = {"run": number}
        answer.update(cards.make_answer(runs[number].tasks[task], samples))
        prompt = cards.prompt_of(samples[0])
        if prompt != card["prompt"]:
            answer["prompt"] = prompt
        card["answers"].append(answer)
    return card


# --- pictures ---


def _add_pictures(card: Card, originals: Originals | None, album: dict[str, Picture]) -> None:
    """Add the pictures of a card to the album, and put their keys there into the card.

    Args:
        originals: where pictures are found by their names; None if none are to be shown.
    """
    for picture in card["pictures"]:
        name = picture.pop("name")
        original = None if originals is None else originals.picture(name)
        if original is None:
            picture["picture"] = None
        else:
            picture["picture"] = original.key
            album.setdefault(original.key, original)


def _make_pictures(album: Mapping[str, Picture]) -> tuple[list[Thumbnail | None], list[str]]:
    """Make the thumbnails of an album; None and a warning for damaged pictures."""
    thumbnails = make_thumbnails(album.values())
    # A bar on a terminal if it takes longer than two seconds
    progress = tqdm(thumbnails, "thumbnails", len(album), delay=2, leave=False, disable=None)
    pictures: list[Thumbnail | None] = []
    damaged: list[str] = []
    for thumbnail in progress:
        if isinstance(thumbnail, DataError):
            pictures.append(None)
            damaged.append(str(thumbnail))
        else:
            pictures.append(thumbnail)
    if len(damaged) > 1:
        return pictures, [f"{damaged[0]} ({len(damaged)} pictures cannot be read)"]
    return pictures, damaged


def _number_pictures(
    all_cards: Sequence[Card], album: Collection[str], pictures: Sequence[Thumbnail | None]
) -> None:
    """Replace the key of each picture in the cards by its number; None for a damaged picture."""
    number_by_key = {}
    for number, key in enumerate(album):
        if pictures[number] is not None:
            number_by_key[key] = number
    for card in all_cards:
        for picture in card["pictures"]:
            picture["picture"] = number_by_key.get(picture["picture"])
