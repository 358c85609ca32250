"""What only some benchmarks have: modules of a benchmark's folder that are found by their file
names.

`OPTIONAL_MODULES` lists them, and CONTRIBUTING.md says what each holds.
:meth:`figlang_tasks.core.benchmark.Benchmark.module` imports such a module when it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from figlang_tasks.core.record import Record


@dataclass(frozen=True)
class OptionalModule:
    """A module that a benchmark may have.

    Attributes:
        defines: the names that the module must define.
        used_by: the command that needs them.
    """

    defines: tuple[str, ...]
    used_by: str


OPTIONAL_MODULES: Mapping[str, OptionalModule] = {
    "agreement": OptionalModule(("PUBLISHED",), "figlang judge agree"),
    "card": OptionalModule(("card", "answer"), "figlang report"),
    "charts": OptionalModule(("CHARTS",), "figlang report"),
    "check": OptionalModule(("check",), "figlang data check"),
    "choice": OptionalModule(("choice_of",), "figlang judge read"),
    "counts": OptionalModule(("count",), "figlang tasks"),
    "fetch": OptionalModule(("fetch",), "figlang data prefetch"),
    "finetuning": OptionalModule(("FINETUNING",), "figlang data export"),
    "parts": OptionalModule(("PARTS",), "figlang score"),
    "picture": OptionalModule(("picture",), "figlang report"),
    "reproduced": OptionalModule(("cells",), "figlang reproduce"),
    "sorting": OptionalModule(("SORTING",), "figlang judge export"),
    "submission": OptionalModule(("SUBMISSION",), "figlang submit"),
    "template": OptionalModule(("template",), "figlang data template"),
    "training": OptionalModule(("train",), "figlang train"),
}
"""The optional modules of a benchmark by file name."""


@dataclass(frozen=True)
class Submission:
    """What the leaderboard of a benchmark takes: a zip, which ``figlang submit NAME`` makes.

    Attributes:
        parts: of the data, those that are handed in.
        files: ``(records by part) -> content by name of file``. Raises `DataError` for what cannot
            be handed in.
        upload: where it is handed in.
    """

    parts: Collection[str]
    files: Callable[[Mapping[str, Sequence[Record]]], Mapping[str, bytes]]
    upload: str


@dataclass(frozen=True, kw_only=True)
class Sorting:
    """Pictures of text-to-image models that people sort into categories.

    Attributes:
        task: its name.
        inputs: the kinds of prompts, in the order of the paper's table.
        categories: the cells of a sheet that mean each, in lower case.
        prompts: the module that writes the prompts.
        published: the paper's table: its ``source``, and ``rows`` with ``system``, ``input``,
            ``pictures`` and the share of each of the ``categories``, 0 to 1.
    """

    task: str
    inputs: tuple[str, ...]
    categories: Mapping[str, tuple[str, ...]]
    prompts: str
    published: Mapping[str, Any]


def is_gold(record: Record) -> bool:
    """Whether a record has the gold label as its answer."""
    return bool(record["predicted"] == record["gold"])


@dataclass(frozen=True, kw_only=True)
class FineTuning:
    """Which rows of a benchmark models may be fine-tuned on (:mod:`figlang_tasks.finetuning`).

    Attributes:
        splits: parameters of the request for ``train`` and ``validation``, in place of the task's
            own. Not needed where the tasks ask for a ``split``; where there is neither, the user
            names another folder of rows.
        texts: columns of documents that say what a row is about: a row that shares such a text, or
            the picture in ``image``, with a row of the evaluation is left out.
        right: whether the record of a reference answer says that the answer was read as it is
            meant.
    """

    splits: Mapping[str, Mapping[str, str]] = field(hash=False, default_factory=dict)
    texts: tuple[str, ...]
    right: Callable[[Record], bool] = is_gold
