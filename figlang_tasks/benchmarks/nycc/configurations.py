"""The configurations of the New Yorker Caption Contest: their names on the hub, and what they
mean.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from figlang_tasks.core.errors import DataError

TASKS = ("matching", "ranking", "explanation")
ALL = "all"
"""What a task file says for all folds, and the end of the name of their data."""

DESCRIPTION = {name: f"image_{name}" for name in ("location", "description", "uncanny_description")}
_CONFIG = re.compile(rf"(?P<task>{'|'.join(TASKS)})(?P<pixels>_from_pixels)?(_(?P<fold>[1-4]))?")


class Config(NamedTuple):
    """A configuration: its task, whether the model sees the cartoon (else its description), and its
    fold, 0 to 4.
    """

    task: str
    pixels: bool
    fold: int

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read; the release has more."""
        told = () if self.pixels else (*DESCRIPTION.values(), "entities")
        ranked = ("winner_source",) if self.task == "ranking" else ()
        return (
            "image",
            "contest_number",
            "caption_choices",
            *told,
            *ranked,
            "label",
            "instance_id",
        )


def config(name: str) -> Config:
    """The configuration that a name means; a `DataError` if it means none."""
    found = _CONFIG.fullmatch(name)
    if found is None:
        raise DataError(
            f"NYCC has no configuration {name!r}; valid: {', '.join(TASKS)}, with _from_pixels, _1"
            " to _4"
        )
    return Config(found["task"], found["pixels"] is not None, int(found["fold"] or 0))


def configs(request: Mapping[str, str]) -> list[str]:
    """The configurations that a task reads, one for each of its folds; a `DataError` if there are
    none such.
    """
    name, fold = request["config"], request["fold"]
    if config(name).fold:
        raise DataError(f"NYCC,config={name}: write the fold apart, as config=matching,fold=3")
    if fold != ALL and fold not in tuple("01234"):
        raise DataError(
            f"NYCC,config={name},fold={fold}: the fold must be all, or one of 0, 1, 2, 3, 4"
        )
    return [
        name if number == "0" else f"{name}_{number}"
        for number in ("01234" if fold == ALL else fold)
    ]
