"""The 30 configurations of the New Yorker Caption Contest on the hub, and what their names mean.

A name is ``matching``, ``ranking`` or ``explanation``, then ``_from_pixels`` if the model sees the
cartoon and not its description, then ``_1`` to ``_4`` for all folds but the first:
``matching_from_pixels_3``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from figlang_tasks.core.errors import DataError

TASKS = ("matching", "ranking", "explanation")
FOLDS = ("0", "1", "2", "3", "4")
ALL = "all"
"""What a task file says for all folds, and the end of the name of their data."""

DESCRIPTION = {
    "location": "image_location",
    "description": "image_description",
    "uncanny_description": "image_uncanny_description",
}
"""The texts that describe a cartoon: their names in documents, and their columns on the hub."""

_NAME = re.compile(rf"(?P<task>{'|'.join(TASKS)})(?P<pixels>_from_pixels)?(_(?P<fold>[1-4]))?")


class Configuration(NamedTuple):
    """What the name of a configuration means.

    Attributes:
        task: one of `TASKS`.
        from_pixels: whether the model sees the cartoon; otherwise it reads its description.
        fold: the cross-validation fold, 0 to 4.
    """

    task: str
    from_pixels: bool
    fold: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read; the release has more."""
        columns = ["image", "contest_number", "caption_choices"]
        if not self.from_pixels:
            columns += [*DESCRIPTION.values(), "entities"]
        if self.task == "ranking":
            columns.append("winner_source")
        return (*columns, "label", "instance_id")


def parse_name(name: str) -> Configuration:
    """The configuration that a name means: task matching, fold 3 for ``matching_3``.

    Raises:
        DataError: there is no configuration of that name.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise DataError(
            f"NYCC has no configuration {name!r}; valid: {', '.join(TASKS)}, with _from_pixels, _1"
            " to _4"
        )
    return Configuration(
        task=match["task"],
        from_pixels=match["pixels"] is not None,
        fold=int(match["fold"] or 0),
    )


def fold_names(request: Mapping[str, str]) -> list[str]:
    """The names of the configurations that a task reads, one a fold: ``matching``, ``matching_1``.

    Args:
        request: its ``config`` is a name without a fold; its ``fold`` is 0 to 4, or `ALL`.

    Raises:
        DataError: there is no such configuration, or no such fold.
    """
    name = request["config"]
    fold = request["fold"]
    if parse_name(name).fold:
        raise DataError(f"NYCC,config={name}: write the fold apart, as config=matching,fold=3")
    if fold != ALL and fold not in FOLDS:
        raise DataError(
            f"NYCC,config={name},fold={fold}: the fold must be all, or one of {', '.join(FOLDS)}"
        )
    folds = FOLDS if fold == ALL else (fold,)
    return [_fold_name(name, fold) for fold in folds]


def _fold_name(name: str, fold: str) -> str:
    """The name of a fold of a configuration; the first one has the name of the configuration."""
    return name if fold == "0" else f"{name}_{fold}"
