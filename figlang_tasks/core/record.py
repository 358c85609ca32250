"""Records: what is known of an answer once it is judged.

``process_results`` returns the record of a document under ``sample``, and the harness writes it to
its samples file. Each kind of task has its own fields, declared as a `TypedDict` in the module
``records`` of its benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

if TYPE_CHECKING:
    from figlang_tasks.answers.verdict import Status

Record: TypeAlias = Mapping[str, Any]
"""A record of any kind, as code takes it that serves several."""

Document: TypeAlias = Mapping[str, Any] | None
"""The row that a record is of; None where it is not at hand."""


class OptionalFields(TypedDict, total=False):
    """Fields that have these names in every kind of record that has them.

    Attributes:
        task: the name of the kind of task; `Task` adds it and `request` to what a benchmark
            returns.
        request: what the task file asked for (``V-FLUTE,split=test``): its documents are found by
            it.
        unit: what dependent records share, and is resampled as one; without it a document depends
            on no other.
        row: the row of the benchmark, where several documents are of one (rotations, pictures of a
            ranking).
        images: the number of documents of a row that are ranked together.
        status: what became of the output.
        rule: which rule read it.
        revision: of the data where that is no commit; ``own`` of the user's rows.
        bleu: the settings of BLEU-4.
        repeat: number of the answer, from 1, where a row was asked several times.
        unfinished: the output ends in a thought.
        unread_counts_as: the label that an answer counts as which was not read, by the rules of a
            paper.
        read_by: the reading of a language model (``figlang judge read``).
    """

    task: str
    request: str
    unit: str
    row: str
    images: int
    status: Status
    rule: str
    revision: str
    bleu: str
    repeat: int
    unfinished: bool
    unread_counts_as: str
    read_by: dict[str, Any]


class SharedFields(OptionalFields):
    """The fields that a benchmark's records share, whatever the kind.

    Attributes:
        id: of the document.
        data: the rows that were read: dataset, part, revision and a digest of their content.
    """

    id: str
    data: str
