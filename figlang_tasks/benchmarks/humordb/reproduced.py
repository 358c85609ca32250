"""Recomputes HumorDB's labels from the answers of people, and Table 1, for ``figlang reproduce``.

The answers stand in the authors' folders (``user_binary/``, a file for each person), or in one JSON
file (``user_binary.json``). Range means and most deviations of Table 1 do not come out
(docs/reproduced.md).
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from figlang_tasks.benchmarks.humordb import names
from figlang_tasks.core.row_files import content_of

_LINES_ABOUT_THE_PERSON = 4
"""At the beginning of each person's file."""

_MOST_DEVIATIONS = 1.95
"""Answers that lie more standard deviations above the mean are dropped (``analyse_data.ipynb``).

Those below the mean stay, as a bracket is in the wrong place.
"""

_EQUAL = 1e-9

# Table 1: pairs, and the mean share of people who found the funny pictures and the others funny.
# The row "pairs" is of the test pictures that are in pairs.
_TABLE_1 = {
    "train": ("2136", "698", "0.79", "0.12"),
    "validation": ("703", "273", "0.78", "0.12"),
    "test": ("706", "300", "0.77", "0.14"),
    "pairs": ("600", "300", "0.77", "0.13"),
    "all": (None, "1271", "0.79", "0.13"),  # the paper prints 3,542 pictures, which are 3,545
}

Answers = list[list[Any]]
"""The answers of a person, in their order: ``["O1204.jpg", 1]``, or two pictures, 1 or 2."""


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, published number and our number of each label file, of Table 1, and of chance.

    Args:
        folder: the authors' repository, or a folder with its data; the splits are in
            ``index.csv`` or in the repository's ``LlaVA_files``.
    """
    people = read_people(folder, "binary")
    means = names.read_means(folder)
    for task, people_of_task in (("binary", people), ("range", read_people(folder, "range"))):
        released = means[task]
        equal_means = _equal_means(released, people_of_task)
        yield f"{task} means from answers", str(len(released)), equal_means
    if (folder / "user_comp").is_dir() or (folder / "user_comp.json").is_file():
        labels = names.read_labels(folder)
        equal_labels = _equal_labels(labels, read_people(folder, "comp"))
        yield "comparison labels from answers", str(len(labels)), equal_labels

    release = names.read_release(folder)
    shares = {name: fmean(answers) for name, answers in answers_by_picture(people).items()}
    for part, (size, pairs, funny_share, other_share) in _TABLE_1.items():
        pictures = _pictures_of(part, release)
        if size is not None:
            yield f"Table 1, {part}, pictures", size, len(pictures)
        pairs_of_part = {release.pair_of(name) for name in pictures} - {""}
        yield f"Table 1, {part}, pairs", pairs, len(pairs_of_part)
        shares_by_label: dict[bool, list[float]] = {True: [], False: []}
        for name in pictures:
            shares_by_label[release.fingerprints[name].is_funny].append(shares[name])
        yield f"Table 1, {part}, funny, binary mean", funny_share, fmean(shares_by_label[True])
        yield f"Table 1, {part}, not funny, binary mean", other_share, fmean(shares_by_label[False])
    test_ratings = [means["range"][name] for name in release.names_in("test")]
    yield "Table 3, chance uniform 1 to 10, testAllSet", "3.58", uniform_error(test_ratings)


def _pictures_of(part: str, release: names.Release) -> list[str]:
    """The pictures of a part of Table 1."""
    if part == "all":
        return list(release.splits)
    if part == "pairs":
        return [name for name in release.names_in("test") if release.pair_of(name)]
    return release.names_in(part)


def uniform_error(ratings: Sequence[float]) -> float:
    """The root mean square error expected of ratings that are drawn from 1 to 10 with equal chance.

    A drawn rating has mean 5.5 and variance 8.25.
    """
    return fmean((rating - 5.5) ** 2 + 8.25 for rating in ratings) ** 0.5


# --- labels from the answers of people ---


def read_people(folder: Path, task: str) -> list[Answers]:
    """The answers of each person in a task: ``binary``, ``range`` or ``comp``.

    Raises:
        DataError: there is neither the folder nor the file.
    """
    files = sorted(path for path in (folder / f"user_{task}").glob("*") if path.is_file())
    if not files:
        content: dict[str, Answers] = json.loads(content_of(folder / f"user_{task}.json"))
        return list(content.values())
    people: list[Answers] = []
    for file in files:
        lines = content_of(file).decode("utf-8").splitlines()[_LINES_ABOUT_THE_PERSON:]
        people.append([row for row in csv.reader(lines) if row])
    return people


def answers_by_picture(people: Sequence[Answers]) -> dict[str, list[float]]:
    """The answers to each picture; of a person who gave several, the first."""
    answers: dict[str, list[float]] = defaultdict(list)
    for rows in people:
        first_answers: dict[str, float] = {}
        for name, answer, *_ in rows:
            first_answers.setdefault(name, float(answer))
        for name, first_answer in first_answers.items():
            answers[name].append(first_answer)
    return answers


def mean_without_high(answers: Sequence[float]) -> float:
    """The mean of answers without those far above it (`_MOST_DEVIATIONS`)."""
    limit = fmean(answers) + _MOST_DEVIATIONS * pstdev(answers)
    return fmean(answer for answer in answers if answer <= limit)


def _equal_means(released: Mapping[str, float], people: Sequence[Answers]) -> int:
    """How many released means come out of the answers."""
    answers = answers_by_picture(people)
    count = 0
    for name, mean in released.items():
        if name in answers and abs(mean_without_high(answers[name]) - mean) < _EQUAL:
            count += 1
    return count


def _equal_labels(labels: Mapping[str, int], people: Sequence[Answers]) -> int:
    """How many comparison labels are the sign of the votes: of those for minus those against."""
    votes: dict[tuple[str, str], int] = defaultdict(int)
    for rows in people:
        winners: dict[frozenset[str], str] = {}  # of each two pictures, by the first answer
        for first, second, answer, *_ in rows:
            winner = first if int(answer) == 1 else second
            winners.setdefault(frozenset((first, second)), winner)
        for pictures, winner in winners.items():
            for loser in pictures - {winner}:
                votes[winner, loser] += 1
                votes[loser, winner] -= 1
    count = 0
    for key, label in labels.items():
        name, _, anchor = key.partition("_")
        vote = votes.get((name, anchor), 0)
        count += (vote > 0) - (vote < 0) == label
    return count
