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

Row: TypeAlias = Mapping[str, Any]
"""A row of a dataset, by column: one of a file, or a document that the harness asks about."""

Record: TypeAlias = Mapping[str, Any]
"""A record of any kind of task, in code that serves several kinds."""

RowIfKnown: TypeAlias = Row | None
"""The row that a record is of; None where the row is not at hand."""


class OptionalFields(TypedDict, total=False):
    """Fields that only some kinds of records have; each has one meaning wherever it is.

    Attributes:
        task: the name of the kind of task. `Task` adds it and `request` to each record that a
            benchmark returns.
        request: the request of the task file (``V-FLUTE,split=test``), by which the documents of
            the record can be loaded again.
        unit: what documents that depend on each other share; such documents are resampled
            together. A document without a unit depends on no other.
        row: the row of the benchmark, where it has several documents (rotations, pictures of a
            ranking).
        images: the number of documents of a row that are ranked together.
        status: what became of the output.
        rule: the name of the rule that read the answer.
        revision: the revision of the data where it is not a commit; ``own`` for the user's rows.
        bleu: the settings of BLEU-4.
        repeat: the number of the answer, from 1, where a row was asked several times.
        unfinished: whether the output ends inside a thought.
        unread_counts_as: the label that an unread answer counts as, by the rules of a paper.
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
    """The fields that every record has, whatever its kind.

    Attributes:
        id: the id of the document.
        data: the data that was read: dataset, part, revision and a digest of the content
            (`figlang_tasks.core.data_id.DataId`).
    """

    id: str
    data: str
