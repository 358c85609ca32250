"""Optional modules of benchmarks: what only some have, in files that are found by their names.

`OPTIONAL_MODULES` lists them, and CONTRIBUTING.md says what each holds.
`figlang_tasks.core.benchmark.Benchmark.module` imports such a module when it is used.
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
    "files": OptionalModule(("needed_files",), "figlang doctor"),
    "finetuning": OptionalModule(("FINETUNING",), "figlang data export"),
    "parts": OptionalModule(("PARTS",), "figlang score"),
    "picture": OptionalModule(("picture",), "figlang report"),
    "reproduced": OptionalModule(("cells",), "figlang reproduce"),
    "rubric": OptionalModule(("TEMPLATE", "explanation_of"), "figlang judge"),
    "sorting": OptionalModule(("SORTING",), "figlang judge export"),
    "submission": OptionalModule(("SUBMISSION",), "figlang submit"),
    "template": OptionalModule(("template",), "figlang data template"),
    "training": OptionalModule(("train",), "figlang train"),
}
"""The optional modules of a benchmark by file name."""


@dataclass(frozen=True)
class Submission:
    """The zip for the leaderboard of a benchmark, which ``figlang submit NAME`` makes.

    Attributes:
        parts: the parts of the data that are handed in.
        files: ``(records by part) -> content by file name``. Raises `DataError` for records that
            cannot be handed in.
        upload: where users hand it in.
    """

    parts: Collection[str]
    files: Callable[[Mapping[str, Sequence[Record]]], Mapping[str, bytes]]
    upload: str


@dataclass(frozen=True, kw_only=True)
class Sorting:
    """Pictures of text-to-image models that people sort into categories.

    Attributes:
        task: the name of the task.
        inputs: what prompts are made from, in the order of the paper's table.
        categories: for each category, the texts in a cell of a sheet that mean it, in lower case.
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
    """Which rows of a benchmark models may be fine-tuned on (`figlang_tasks.finetuning`).

    Attributes:
        splits: the parameters of the request for ``train`` and for ``validation``, which replace
            those of the task. Tasks that ask for a ``split`` do not need them. If a task has
            neither, the user names a folder with other rows.
        texts: the columns of documents that say what a row is about. A row that shares such a text,
            or the picture in ``image``, with a row of the evaluation is left out.
        right: whether a record shows that its answer was read as the gold label; called with the
            record of a reference answer.
    """

    splits: Mapping[str, Mapping[str, str]] = field(hash=False, default_factory=dict)
    texts: tuple[str, ...]
    right: Callable[[Record], bool] = is_gold
