"""The report's charts of IRFL: accuracy, literal preference, order of a simile's images, retrieval.

The charts also show the level of chance on the rows of a run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from figlang_tasks.benchmarks.irfl.complete_rows import complete_rows
from figlang_tasks.benchmarks.irfl.measures import LITERAL_ROLES, images_of
from figlang_tasks.benchmarks.irfl.rows import IDIOM_TYPES
from figlang_tasks.core.presentation import ChartCategory, ChartSection
from figlang_tasks.core.record import Record

# irfl_detect_open_simile_grid: family "detect", subject "open_simile", variant "_grid"
_TASK_NAME = re.compile(
    r"(?P<family>detect|match|random2|random4|retrieve)_(?P<subject>[a-z_]+?)"
    r"(?P<variant>_grid|_circular|_phrase_only)?"
)
ScopesByMeasure: TypeAlias = Mapping[str, Collection[str]]

# --- levels of chance ---


def _of_type(idiom_type: str | None, records: Sequence[Record]) -> list[Record]:
    """The records of one type of idioms; all records if it is None."""
    if idiom_type is None:
        return list(records)
    return [record for record in records if record["type"] == idiom_type]


def _chance_of_right_choice(idiom_type: str | None, records: Sequence[Record]) -> float:
    """The expected accuracy of a random choice among the images of each row."""
    shares = [1 / len(record["roles"]) for record in _of_type(idiom_type, records)]
    return float(np.mean(shares))


def _chance_of_literal_failure(idiom_type: str | None, records: Sequence[Record]) -> float:
    """The expected literal preference of a random wrong choice.

    It is the share of partially literal images among the wrong ones of a row, mean over rows.
    """
    shares: list[float] = []
    for record in _of_type(idiom_type, records):
        wrong_roles = [role for role in record["roles"] if role != "answer"]
        literal_count = sum(role in LITERAL_ROLES for role in wrong_roles)
        shares.append(literal_count / len(wrong_roles))
    return float(np.mean(shares))


def _chance_of_retrieval(idiom_type: str | None, records: Sequence[Record]) -> float:
    """The expected precision@k of a random order, mean over complete rows; NaN if there is none."""
    shares: list[float] = []
    for row_images in complete_rows(_of_type(idiom_type, records), images_of):
        positive_count = sum(image["positive"] for image in row_images)
        shares.append(positive_count / len(row_images))
    return float(np.mean(shares)) if shares else math.nan


def _chance_of_order(records: Sequence[Record]) -> float:
    """One half: of two images each is as likely to score higher."""
    return 0.5


# --- categories ---


class _ChartedMeasure(NamedTuple):
    """A measure that has a chart for each family of tasks.

    Attributes:
        measure: its name.
        title: of its chart.
        label: of the axis.
        chance: ``(type of idioms, records) -> level of chance``; the type is None for all rows.
    """

    measure: str
    title: str
    label: str
    chance: Callable[[str | None, Sequence[Record]], float]


_CHARTED_MEASURES = (
    _ChartedMeasure("acc", "accuracy", "accuracy (percent)", _chance_of_right_choice),
    _ChartedMeasure(
        "literal_preference",
        "literal preference",
        "literal preference (percent of failures)",
        _chance_of_literal_failure,
    ),
    _ChartedMeasure("p@k", "precision@k", "precision@k (percent)", _chance_of_retrieval),
)


def _categories(dataset: str, task: str, scopes: ScopesByMeasure) -> Iterator[ChartCategory]:
    """Yield the categories of a task's charts: one for a measure, or one for each type of idioms.

    They are yielded for every charted measure, whether the task has it or not: the report draws
    those with values.

    Args:
        dataset: the name of the dataset.
        task: the name of the task; one that is not ours has no categories.
        scopes: by measure, the scopes that it has a value in.
    """
    # What stands before "irfl_" is left out: figlang_mini_irfl_detect_idiom is charted too.
    name = _TASK_NAME.fullmatch(task.rpartition("irfl_")[2])
    if name is None:
        return
    family = name["family"]
    panel = (family + (name["variant"] or "")).replace("_", " ")
    subject = name["subject"].replace("_", " ")

    for charted in _CHARTED_MEASURES:
        has_both_types = set(IDIOM_TYPES) <= set(scopes.get(charted.measure, ()))
        idiom_types = IDIOM_TYPES if has_both_types else (None,)  # None: all rows together
        for idiom_type in idiom_types:
            category = subject
            if idiom_type is not None:
                # "idiom, figurative + literal"
                category = f"{subject}, {idiom_type.replace('_', ' + ')}"
            yield ChartCategory(
                title=f"{dataset}: {charted.title} ({family})",
                label=charted.label,
                measure=charted.measure,
                category=category,
                panel=panel,
                chance=partial(charted.chance, idiom_type),
                scope=idiom_type,
            )
    for measure in ("figurative_over_source", "source_over_target"):
        yield ChartCategory(
            title=f"{dataset}: order of the images of a simile",
            label="share of similes (percent)",
            measure=measure,
            category=measure.replace("_", " "),
            panel=f"{panel}: {subject}",
            chance=_chance_of_order,
        )


CHARTS = (
    ChartSection(
        id="detection",
        title="Detection and retrieval",
        intro=(
            "Which image shows the figurative meaning? Dashed lines are chance on the rows of these"
            " runs."
        ),
        categories=_categories,
    ),
)
