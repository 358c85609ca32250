"""The report's charts of IRFL: accuracy of choices, literal preference, the order of pairs,
retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from figlang_tasks.benchmarks.irfl.measures import LITERAL_ROLES, by_row, images_of
from figlang_tasks.benchmarks.irfl.rows import CLASSES
from figlang_tasks.core.presentation import ChartCategory, ChartSection
from figlang_tasks.core.record import Record

_TASK = re.compile(
    r"(?P<family>detect|match|random2|random4|retrieve)_(?P<what>[a-z_]+?)(?P<variant>_grid|_circular|_phrase_only)?"
)
Scopes = Mapping[str, Collection[str]]


def _roles(records: Sequence[Record], kind: str | None = None) -> list[list[str]]:
    return [record["roles"] for record in records if kind is None or record["type"] == kind]


def _chance_of_choice(records: Sequence[Record], kind: str | None = None) -> float:
    return float(np.mean([1 / len(roles) for roles in _roles(records, kind)]))


def _chance_of_literal(records: Sequence[Record], kind: str | None = None) -> float:
    """The share of partially literal images among the wrong ones, mean over rows."""
    wrong = [[role for role in roles if role != "answer"] for roles in _roles(records, kind)]
    return float(
        np.mean([sum(role in LITERAL_ROLES for role in roles) / len(roles) for roles in wrong])
    )


def _chance_of_retrieval(records: Sequence[Record], kind: str | None = None) -> float:
    """The expected precision@k of a random order, mean over the rows that are complete; NaN if none
    is.
    """
    whole, _ = by_row(
        [record for record in records if kind is None or record["type"] == kind], images_of
    )
    shares = [sum(record["positive"] for record in own) / len(own) for own in whole]
    return float(np.mean(shares)) if shares else float("nan")


# measure -> title of its chart, label of the axis, and the share by chance
_MEASURES = {
    "acc": ("accuracy", "accuracy (percent)", _chance_of_choice),
    "literal_preference": (
        "literal preference",
        "literal preference (percent of failures)",
        _chance_of_literal,
    ),
    "p@k": ("precision@k", "precision@k (percent)", _chance_of_retrieval),
}


def _choices(dataset: str, task: str, scopes: Scopes) -> Iterator[ChartCategory]:
    """Yield the chart categories of a task, the two classes of idioms apart where it has both."""
    named = _TASK.fullmatch(task.rpartition("irfl_")[2])
    if named is None:  # none of our tasks
        return
    panel, what = (
        (named["family"] + (named["variant"] or "")).replace("_", " "),
        named["what"].replace("_", " "),
    )
    for measure, (title, label, chance) in _MEASURES.items():
        for kind in CLASSES if set(CLASSES) <= set(scopes.get(measure, ())) else (None,):
            yield ChartCategory(
                title=f"{dataset}: {title} ({named['family']})",
                label=label,
                measure=measure,
                category=f"{what}, {kind.replace('_', ' + ')}" if kind else what,
                panel=panel,
                chance=partial(chance, kind=kind),
                scope=kind,
            )
    for measure in ("figurative_over_source", "source_over_target"):
        yield ChartCategory(
            title=f"{dataset}: order of the images of a simile",
            label="share of similes (percent)",
            measure=measure,
            category=measure.replace("_", " "),
            panel=f"{panel}: {what}",
            chance=lambda _: 0.5,
        )


CHARTS = (
    ChartSection(
        id="detection",
        title="Detection and retrieval",
        intro=(
            "Which image shows the figurative meaning? Dashed lines are chance on the rows of these"
            " runs."
        ),
        categories=_choices,
    ),
)
