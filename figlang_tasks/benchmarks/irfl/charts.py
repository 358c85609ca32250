"""The report's charts of IRFL: accuracy of choices, literal preference, the order of pairs, retrieval, letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial

import numpy as np

from figlang_tasks.benchmarks.irfl.measures import LITERAL_ROLES, by_row, images_of
from figlang_tasks.benchmarks.irfl.rows import CLASSES, LETTERS
from figlang_tasks.core.presentation import BarChart, Bars, BarSection, Records

_TASK = re.compile(
    r"(?P<family>detect|match|random2|random4|retrieve)_(?P<what>[a-z_]+?)(?:_(?P<variant>grid|circular|phrase_only))?"
)
_PANELS = {
    "detect": "Choice among four images, in words",
    "detect_grid": "Choice among the four parts of one picture",
    "detect_circular": "Choice in words, mean of all four rotations",
    "detect_phrase_only": "Choice in words, idioms without definitions",
    "match": "Highest matching score of four images",
    "match_phrase_only": "Highest matching score, idioms without definitions",
    "random4": "Answer among three random images",
    "random4_phrase_only": "Answer among three random images, idioms without definitions",
    "random2": "Answer and one random image",
    "random2_phrase_only": "Answer and one random image, idioms without definitions",
    "retrieve": "Figurative above partial-literal images",
    "retrieve_phrase_only": "Figurative above partial-literal images, idioms without definitions",
}
_DETECTION = {
    "detect": "in words",
    "match": "by matching scores",
    "random2": "among random images",
    "random4": "among random images",
}
_ORDERS = ("figurative_over_source", "source_over_target")

Scopes = Mapping[str, Collection[str]]


def _choices(dataset: str, task: str, scopes: Scopes) -> Iterator[Bars]:
    named = _TASK.fullmatch(task.rpartition("irfl_")[2])
    panel = named and _PANELS.get("_".join(filter(None, (named["family"], named["variant"]))))
    if named is None or panel is None:  # none of our tasks
        return
    what = named["what"].replace("_", " ")
    by_class = partial(_by_class, scopes, panel, what)
    if named["family"] == "retrieve":
        yield from by_class(BarChart(f"{dataset}: retrieval", "precision@k (percent)"), "p@k", _chance_of_retrieval)
        return
    accuracy = BarChart(f"{dataset}: detection {_DETECTION[named['family']]}", "accuracy (percent)")
    yield from by_class(accuracy, "acc", _chance_of_choice)
    preference = BarChart(f"{dataset}: literal preference", "literal preference (percent of failures)")
    yield Bars(chart=preference, measure="literal_preference", category=what, panel=panel, chance=_chance_of_literal)
    orders = BarChart(f"{dataset}: order of the images of a simile", "share of similes (percent)")
    for measure in _ORDERS:
        category = measure.replace("_", " ")
        yield Bars(chart=orders, measure=measure, category=category, panel=f"{panel}: {what}", chance=lambda _: 0.5)


def _by_class(
    scopes: Scopes, panel: str, what: str, chart: BarChart, measure: str, chance: Callable[..., float]
) -> Iterator[Bars]:
    """Yield the bars of a task, an idiom's classes apart where the task has both."""
    if not set(CLASSES) <= set(scopes.get(measure, ())):
        yield Bars(chart=chart, measure=measure, category=what, panel=panel, chance=chance)
        return
    for kind in CLASSES:
        category, of_kind = f"{what}, {kind.replace('_', ' + ')}", partial(chance, kind=kind)
        yield Bars(chart=chart, measure=measure, category=category, panel=panel, chance=of_kind, scope=kind)


def _roles(records: Records, kind: str | None = None) -> list[list[str]]:
    return [record["roles"] for record in records if kind is None or record["type"] == kind]


def _chance_of_choice(records: Records, kind: str | None = None) -> float:
    return float(np.mean([1 / len(roles) for roles in _roles(records, kind)]))


def _chance_of_literal(records: Records) -> float:
    """Return the share of partially literal images among the wrong ones, mean over rows."""
    wrong = [[role for role in roles if role != "answer"] for roles in _roles(records)]
    return float(np.mean([sum(role in LITERAL_ROLES for role in roles) / len(roles) for roles in wrong]))


def _chance_of_retrieval(records: Records, kind: str | None = None) -> float:
    """Return the expected precision@k of a random order, mean over the rows that are complete; NaN if none is."""
    whole, _ = by_row([record for record in records if kind is None or record["type"] == kind], images_of)
    shares = [sum(record["positive"] for record in own) / len(own) for own in whole]
    return float(np.mean(shares)) if shares else float("nan")


def _letters(dataset: str, task: str, scopes: Scopes) -> Iterator[Bars]:
    chart = BarChart(f"{task}: letters named", "share of the letters named (percent)")
    for letter in LETTERS:
        yield Bars(chart=chart, measure=f"share_{letter}", category=letter, chance=lambda _: 1 / len(LETTERS))


CHARTS = (
    BarSection(
        id="detection",
        title="Detection and retrieval",
        intro="Which image shows the figurative meaning? Dashed lines are chance on the rows of these runs.",
        bars=_choices,
    ),
    BarSection(
        id="position",
        title="Position bias",
        intro="Every row was asked in all four orders of its images: each letter is right equally often.",
        bars=_letters,
    ),
)
