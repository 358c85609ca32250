"""Makes the gallery of a report: the cards of all tasks and runs, and their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tqdm import tqdm

from figlang_tasks.core.card import Answer, Card
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import listing
from figlang_tasks.report import cards
from figlang_tasks.report.buckets import TaskBuckets
from figlang_tasks.report.cards import Sample
from figlang_tasks.report.originals import Originals, Picture, find_originals
from figlang_tasks.report.thumbnails import Thumbnail, make_thumbnails
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.readings import is_unread

MAX_CARDS = 6000
"""Cards of a report, all tasks together; if there are more rows, each task shows some of them."""

Row: TypeAlias = Mapping[int, Sequence[Sample]]
"""The samples of a row by run number: one for each image where images are ranked, else one.

A run number is the position of a run among all runs of the report. A run that lacks the row is not
in the mapping.
"""


@dataclass(frozen=True)
class Gallery:
    """What the page's script shows.

    Attributes:
        cards: in the order of tasks and rows. The ``picture`` of each of a card's pictures is a
            position in `pictures`, or None if the picture is damaged or not on this machine.
        pictures: thumbnails; None for a damaged picture.
        warnings: what is missing, and what to do about it.
    """

    cards: list[Card]
    pictures: list[Thumbnail | None]
    warnings: list[str]


def build(
    runs: Sequence[Run],
    with_pictures: bool = True,
    max_cards: int = MAX_CARDS,
    buckets: Sequence[TaskBuckets] = (),
) -> Gallery:
    """Make the gallery of some runs: a card for each row, with the answers of all runs to it.

    Args:
        with_pictures: whether cards show their pictures.
        max_cards: the limit of all tasks together; 0 for an empty gallery. If there are more rows,
            each task has the same share of the cards (but one at least), and rows with unread
            answers are chosen first.
        buckets: of the tasks whose rows have one, which the cards name.
    """
    if max_cards == 0:
        return Gallery(cards=[], pictures=[], warnings=[])
    rows_by_task: dict[str, list[Row]] = {}
    for run in runs:
        for task in run.tasks:
            if task not in rows_by_task:
                rows_by_task[task] = _collect_rows(task, runs)
    task_limit = max_cards
    if sum(map(len, rows_by_task.values())) > max_cards:
        task_limit = max(1, max_cards // len(rows_by_task))

    bucket_by_row = {task_buckets.task: task_buckets.by_row for task_buckets in buckets}
    all_cards: list[Card] = []
    album: dict[str, Picture] = {}  # all pictures of the gallery, by their key
    tasks_by_warning: dict[str, list[str]] = {}
    for task, rows in rows_by_task.items():
        # All runs of a task asked for the same rows, so the first will do.
        first_run = next(run for run in runs if task in run.tasks)
        originals, warning = find_originals(first_run.tasks[task])
        # Tasks with the same warning share one sentence.
        if warning:
            tasks_by_warning.setdefault(warning, []).append(task)
        shown_rows = rows
        if len(rows) > task_limit:
            unread_positions = _find_unread(rows)
            shown_rows = _choose_rows(rows, unread_positions, task_limit)
            limit_warning = _limit_warning(len(rows), task_limit, bool(unread_positions))
            tasks_by_warning.setdefault(limit_warning, []).append(task)
        for row in shown_rows:
            card = _make_card(task, runs, row, originals)
            bucket = bucket_by_row.get(task, {}).get(card["id"])
            if bucket is not None:
                card["bucket"] = bucket
            # Writes into the card and the album
            _add_pictures(card, originals if with_pictures else None, album)
            all_cards.append(card)

    pictures, picture_warnings = _make_pictures(album)
    _number_pictures(all_cards, list(album), pictures)  # writes into the cards
    warnings = []
    for warning, warned_tasks in tasks_by_warning.items():
        sentence = f"{listing(warned_tasks, 3)}: {warning}."
        # The error in a warning may end with a full stop of its own.
        warnings.append(sentence.replace("..", "."))
    return Gallery(all_cards, pictures, warnings + picture_warnings)


# --- rows ---


def _collect_rows(task: str, runs: Sequence[Run]) -> list[Row]:
    """The rows of a task with their samples, in the order of the first run's file.

    If a run answered each row several times (``--repeats``), only samples of its first answer are
    taken. A run still has several samples of a row where images are ranked: one for each image.
    """
    # The samples of each row by run number (the position of the run in `runs`), see `Row`.
    rows_by_card_id: dict[str, dict[int, list[Sample]]] = {}
    for run_number, run in enumerate(runs):
        if task not in run.tasks:
            continue
        for card_id, samples in cards.first_answer_by_row(run.tasks[task]).items():
            rows_by_card_id.setdefault(card_id, {})[run_number] = samples
    return list(rows_by_card_id.values())


def _find_unread(rows: Sequence[Row]) -> list[int]:
    """The positions of the rows to which an answer of any run could not be read."""
    return [position for position, row in enumerate(rows) if _has_unread(row)]


def _has_unread(row: Row) -> bool:
    """Whether any run's answer to a row could not be read."""
    for samples in row.values():
        for sample in samples:
            if is_unread(sample["sample"]):
                return True
    return False


def _choose_rows(rows: Sequence[Row], unread_positions: Sequence[int], limit: int) -> list[Row]:
    """Choose at most `limit` rows, those with an unread answer first; the order of rows stays."""
    # Unread positions, then all others; fromkeys drops those that come a second time.
    by_priority = list(dict.fromkeys([*unread_positions, *range(len(rows))]))
    return [rows[position] for position in sorted(by_priority[:limit])]


def _limit_warning(row_count: int, limit: int, has_unread: bool) -> str:
    """The warning for a task with more than `limit` rows: how many and which rows are shown.

    Args:
        has_unread: whether rows have unread answers; those come first, as in `_choose_rows`.
    """
    if has_unread:
        return (
            f"{limit} of {row_count} rows are in the gallery: those with unread answers, and the"
            " first others"
        )
    return f"the first {limit} of {row_count} rows are in the gallery"


# --- cards ---


def _make_card(task: str, runs: Sequence[Run], row: Row, originals: Originals | None) -> Card:
    """Make the card of a row from its samples and `originals`, the benchmark's own rows.

    The card has the answer of each run that has the row.

    Args:
        row: the row's samples by run number, the position in `runs`.
        originals: None if the benchmark's rows are not at hand.
    """
    # The card is described by the first run that has the row.
    first_number = next(iter(row))
    first_samples = row[first_number]
    # If the row has several samples, any of their documents describes it.
    document_id = str(first_samples[0]["sample"]["id"])
    document = None if originals is None else originals.document(document_id)
    card = cards.make_card(runs[first_number].tasks[task], first_samples, document)
    card["answers"] = []
    for run_number, samples in row.items():
        answer: Answer = {"run": run_number}
        answer.update(cards.make_answer(runs[run_number].tasks[task], samples, document))
        prompt = cards.prompt_of(samples[0])
        if prompt != card["prompt"]:  # that of the first run, which the card shows
            answer["prompt"] = prompt
        card["answers"].append(answer)
    return card


# --- pictures ---


def _add_pictures(card: Card, originals: Originals | None, album: dict[str, Picture]) -> None:
    """Add the pictures of a card to the album; in the card, the key replaces the picture's name.

    The key, under ``picture``, is None for a picture that is not found. The name goes in any case.

    Args:
        originals: where pictures are found by their names; None to show no pictures, so that every
            key is None.
        album: all pictures of the gallery by key; rows may share a picture.
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
    """The thumbnails of an album in its order, and a list with at most one warning.

    Returns:
        The thumbnails, None for each damaged picture; and a warning about all damaged pictures, []
        if there are none.
    """
    # A bar on a terminal if it takes longer than two seconds
    progress = tqdm(
        make_thumbnails(album.values()),
        desc="thumbnails",
        total=len(album),
        delay=2,
        leave=False,
        disable=None,
    )
    pictures: list[Thumbnail | None] = []
    errors: list[str] = []
    for thumbnail in progress:
        if isinstance(thumbnail, DataError):
            pictures.append(None)
            errors.append(str(thumbnail))
        else:
            pictures.append(thumbnail)
    if len(errors) > 1:
        return pictures, [f"{errors[0]} ({len(errors)} pictures cannot be read)"]
    return pictures, errors  # the only error, or none


def _number_pictures(
    all_cards: Sequence[Card], album_keys: Sequence[str], pictures: Sequence[Thumbnail | None]
) -> None:
    """Replace the key of each picture in the cards by its position among all pictures.

    It becomes None for a damaged picture, and stays None for one that is not at hand.

    Args:
        album_keys: the key of each of the `pictures`, in the same order.
    """
    position_by_key: dict[str, int] = {}
    for position, (key, thumbnail) in enumerate(zip(album_keys, pictures, strict=True)):
        if thumbnail is not None:
            position_by_key[key] = position
    for card in all_cards:
        for picture in card["pictures"]:
            picture["picture"] = position_by_key.get(picture["picture"])
