"""The gallery of a report: the cards of all tasks and runs, and their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from figlang_tasks.core.card import Answer, Card
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import listing
from figlang_tasks.report import cards
from figlang_tasks.report.cards import Line
from figlang_tasks.report.originals import Originals, Picture
from figlang_tasks.report.thumbnails import thumbnails
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.readings import is_unread
from figlang_tasks.scoring.records import REPEAT

MOST_CARDS = 6000
"""Cards of a report; of larger tasks some rows are shown."""


@dataclass(frozen=True)
class Gallery:
    """What the page's script shows.

    Attributes:
        cards: in the order of tasks and rows (:mod:`figlang_tasks.report.cards`); a picture's
            ``name`` has become ``picture``, its number, or None if it is not at hand.
        pictures: thumbnails by number: ``src``, ``width`` and ``height`` of the original; None for
            a damaged one.
        notices: what is missing, and what to do about it.
    """

    cards: list[Card]
    pictures: list[dict[str, Any] | None]
    notices: list[str]


def build(runs: Sequence[Run], pictures: bool = True, most: int = MOST_CARDS) -> Gallery:
    """The gallery of some runs; a card holds the answers of all runs to a row.

    If there are more than `most` rows, each task has the same share of the cards, rows with unread
    answers first.
    """
    album: dict[str, Picture] = {}
    found, notices = [], dict[str, list[str]]()  # the tasks of each notice
    tasks = {
        task: _by_card(task, runs)
        for task in dict.fromkeys(task for run in runs for task in run.tasks)
    }
    share = most if sum(map(len, tasks.values())) <= most else min(most, max(1, most // len(tasks)))
    for task, rows in tasks.items():
        of, originals = next(run.tasks[task] for run in runs if task in run.tasks), None
        try:
            originals = Originals(of) if share else None
        except DataError as error:
            remedy = "`figlang data prefetch` gets the data"
            told = f"pictures and texts of {of.data.dataset} are not shown: {error}. {remedy}"
            notices.setdefault(told, []).append(task)
        if 0 < share < len(rows):
            notice = f"the first {share} of {len(rows)} rows are in the gallery"
            if any(map(_has_unread, rows.values())):
                notice = (
                    f"{share} of {len(rows)} rows are in the gallery: those with unread answers,"
                    " and the first others"
                )
            notices.setdefault(notice, []).append(task)
        for lines in _unread_and_first(list(rows.values()), share):
            found.append(_card(task, runs, lines, originals, album if pictures else None))
    made = list(
        tqdm(
            thumbnails(album.values()), "thumbnails", len(album), delay=2, leave=False, disable=None
        )
    )
    shown = [None if isinstance(each, DataError) else each for each in made]
    places = {key: number for number, key in enumerate(album) if shown[number]}
    for picture in (picture for card in found for picture in card["pictures"]):
        picture["picture"] = places.get(picture["picture"])
    damaged = [str(each) for each in made if isinstance(each, DataError)]
    of_tasks = [
        f"{listing(names, 3)}: {notice}.".replace("..", ".") for notice, names in notices.items()
    ]
    more = f" ({len(damaged)} pictures cannot be read)" if len(damaged) > 1 else ""
    return Gallery(found, shown, [*of_tasks, *(text + more for text in damaged[:1])])


def _unread_and_first(
    rows: Sequence[Mapping[int, list[Line]]], most: int
) -> list[Mapping[int, list[Line]]]:
    """At most so many rows, in their order: those with an unread answer, and where room is left the
    first others.
    """
    unread = [place for place, lines_by_run in enumerate(rows) if _has_unread(lines_by_run)]
    places = dict.fromkeys([*unread, *range(len(rows))])
    chosen = list(places)[:most]
    return [rows[place] for place in sorted(chosen)]


def _has_unread(lines_by_run: Mapping[int, list[Line]]) -> bool:
    """Whether an answer of some run to a row was not read."""
    return any(is_unread(line["sample"]) for lines in lines_by_run.values() for line in lines)


def _by_card(task: str, runs: Sequence[Run]) -> dict[str, dict[int, list[Line]]]:
    """The lines of a task by card and number of the run, in the order of the first run's file.

    Of several answers to a row (``--repeats``) they are the first.
    """
    found: dict[str, dict[int, list[Line]]] = {}
    for number, run in enumerate(runs):
        if task not in run.tasks:
            continue
        first_answer = min(record.get(REPEAT, 1) for record in run.tasks[task].records)
        for line in run.tasks[task].samples:
            if line["sample"].get(REPEAT, 1) == first_answer:
                found.setdefault(cards.card_id(line), {}).setdefault(number, []).append(line)
    return found


def _card(
    task: str,
    runs: Sequence[Run],
    lines: Mapping[int, list[Line]],
    originals: Originals | None,
    album: dict[str, Picture] | None,
) -> Card:
    """The card of a row with the answers of all runs; the key of each of its pictures in `album` is
    its ``picture``.
    """
    first = next(iter(lines))
    row_id = str(lines[first][0]["sample"]["id"])
    card = cards.card(
        runs[first].tasks[task], lines[first], originals.document(row_id) if originals else None
    )
    for picture in card["pictures"]:
        name = picture.pop("name")
        original = originals.picture(name) if originals and album is not None else None
        picture["picture"] = original and original.key
        if original and album is not None:
            album.setdefault(original.key, original)
    card["answers"] = []
    for number, own in lines.items():
        answer: Answer = {"run": number}
        answer.update(cards.answer(runs[number].tasks[task], own))
        prompt = cards.prompt(own[0])
        if prompt != card["prompt"]:
            answer["prompt"] = prompt
        card["answers"].append(answer)
    return card
