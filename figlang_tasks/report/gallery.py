"""The gallery of a report: the cards of all tasks and runs, and their pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tqdm import tqdm

from figlang_tasks.core.errors import DataError
from figlang_tasks.report import cards
from figlang_tasks.report.cards import Card, Line
from figlang_tasks.report.originals import PREFETCH, Originals
from figlang_tasks.report.thumbnails import Album
from figlang_tasks.results.runs import Run, TaskRun, by_repeat

MOST_CARDS = 6000
"""Cards of a report; of larger tasks the first rows are shown."""


@dataclass(frozen=True)
class Gallery:
    """What the page's script shows.

    Attributes:
        cards: in the order of tasks and rows (:mod:`figlang_tasks.report.cards`); a picture's ``name`` has become
            ``picture``, its number, or None if it is not at hand.
        pictures: thumbnails by number: ``src``, ``width`` and ``height`` of the original; None for a damaged one.
        notices: what is missing, and what to do about it.
    """

    cards: list[Card]
    pictures: list[dict[str, Any] | None]
    notices: list[str]


def build(runs: Sequence[Run], pictures: bool = True, most: int = MOST_CARDS) -> Gallery:
    """The gallery of some runs; a card holds the answers of all runs to a row.

    Of at most `most` cards each task has the same share, and small ones leave theirs to the others.
    """
    album, found, notices = Album(), [], list[str]()
    tasks = {task: _by_card(task, runs) for task in dict.fromkeys(task for run in runs for task in run.tasks)}
    share = _share([len(rows) for rows in tasks.values()], most) if most else 0
    for task, rows in tasks.items():
        of_runs = [run.tasks[task] for run in runs if task in run.tasks]
        originals = _originals(of_runs[0], notices) if share else None
        if 0 < share < len(rows):
            notices.append(f"{task}: the first {share} of {len(rows)} rows are in the gallery")
        for lines in list(rows.values())[:share]:
            found.append(_card(task, runs, lines, originals, album if pictures else None))
    made, damaged = _thumbnails(album)
    for picture in (picture for card in found for picture in card["pictures"]):
        if picture["picture"] is not None and made[picture["picture"]] is None:
            picture["picture"] = None
    return Gallery(found, made, [*_merged(notices), *damaged])


def _by_card(task: str, runs: Sequence[Run]) -> dict[str, dict[int, list[Line]]]:
    """The lines of a task by card and number of the run, in the order of the first run's file."""
    found: dict[str, dict[int, list[Line]]] = {}
    for number, run in enumerate(runs):
        for line in by_repeat(run)[0].tasks[task].lines if task in run.tasks else ():  # the first answers
            found.setdefault(cards.card_id(line), {}).setdefault(number, []).append(line)
    return found


def _share(sizes: Sequence[int], most: int) -> int:
    """Rows of each task that make at most `most` cards altogether; small tasks leave theirs to the others."""
    left, share = most, 0
    for place, size in enumerate(sorted(sizes)):
        share = max(1, left // (len(sizes) - place))
        if size > share:
            return share
        left -= size
    return max(sizes, default=0)


def _originals(task: TaskRun, notices: list[str]) -> Originals | None:
    try:
        return Originals(task)
    except DataError as error:
        notices.append(f"{task.task}: pictures and texts of {task.dataset} are not shown: {error}")
        return None


def _card(
    task: str, runs: Sequence[Run], lines: Mapping[int, list[Line]], originals: Originals | None, album: Album | None
) -> Card:
    first = next(iter(lines))
    row_id = str(lines[first][0]["sample"]["id"])
    card = cards.card(runs[first].tasks[task], lines[first], originals.document(row_id) if originals else None)
    for picture in card["pictures"]:
        original = originals.picture(picture.pop("name")) if originals and album is not None else None
        picture.pop("name", None)
        picture["picture"] = album.place(original) if original and album is not None else None
    card["answers"] = []
    for number, own in lines.items():
        answer = {"run": number, **cards.answer(runs[number].tasks[task], own)}
        if (asked := cards.prompt(own[0])) != card["prompt"]:
            answer["prompt"] = asked
        card["answers"].append(answer)
    return card


def _thumbnails(album: Album) -> tuple[list[dict[str, Any] | None], list[str]]:
    made: list[dict[str, Any] | None] = []
    problems: list[str] = []
    for found in tqdm(album.thumbnails(), "thumbnails", len(album), delay=2, leave=False):
        made.append(None if isinstance(found, DataError) else found)
        if isinstance(found, DataError):
            problems.append(str(found))
    more = f" ({len(problems)} pictures cannot be read)" if len(problems) > 1 else ""
    return made, [problems[0] + more] if problems else []


def _merged(notices: Sequence[str]) -> list[str]:
    """Notices of several tasks that say the same, as one."""
    tasks: dict[str, list[str]] = {}
    for notice in notices:
        task, _, rest = notice.partition(": ")
        tasks.setdefault(rest, []).append(task)
    shown = []
    for rest, names in tasks.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        remedy = f" {PREFETCH}." if "not shown" in rest else ""
        shown.append(f"{', '.join(names[:3])}{more}: {rest}.{remedy}".replace("..", "."))
    return shown
