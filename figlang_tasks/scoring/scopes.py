"""`Scopes`: the parts of a benchmark for which a measure has a value of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from figlang_tasks.core.record import Record
from figlang_tasks.core.text import LONE_SURROGATE
from figlang_tasks.scoring.records import AnyRecord


class Scopes(NamedTuple):
    """The parts of a benchmark for which a measure has a value of its own.

    Attributes:
        names: all scopes, in the order of tables.
        scopes_of: the scopes in which a record counts.
        record_in: the record as it counts in a scope, if a scope is a part of each record (one of
            the texts of a caption); None if a record counts as it is.
        averaged: whether the value of all rows is the unweighted mean of the scopes' values. Such
            scopes repeat one measurement (folds, wordings of a prompt).
    """

    names: tuple[str, ...]
    scopes_of: Callable[[AnyRecord], Iterable[str]]
    record_in: Callable[[AnyRecord, str], Record] | None = None
    averaged: bool = False

    def split(self, records: Sequence[Record]) -> dict[str, list[Record]]:
        """The records of each scope that has any, in the order of tables.

        They are as they count in the scope (`record_in`): of a record that has several parts, one
        for each part.

        Raises:
            ValueError: a record names a scope that is not a text, or one that cannot be written.
        """
        records_by_scope: dict[str, list[Record]] = {name: [] for name in self.names}
        for record in records:
            for scope in self.scopes_of(record):
                if not isinstance(scope, str) or scope not in records_by_scope:
                    _check_scope(scope, record)
                    records_by_scope[scope] = []
                if self.record_in is None:
                    records_by_scope[scope].append(record)
                else:
                    records_by_scope[scope].append(self.record_in(record, scope))
        return {scope: members for scope, members in records_by_scope.items() if members}


def _check_scope(scope: object, record: Record) -> None:
    """Raise a `ValueError` unless a scope is a text that can be written.

    It may come from a field of a damaged record.
    """
    # No results file could hold a lone surrogate, for which UTF-8 has no bytes.
    if not isinstance(scope, str) or LONE_SURROGATE.search(scope):
        raise ValueError(
            f"row {record['id']} counts in the scope {scope!r:.80}, which must be a text"
        )


def by_field(field: str, names: Sequence[str]) -> Scopes:
    """One scope per value of a record field; `names` are these values in the order of tables."""

    def scopes_of(record: Record) -> tuple[str]:
        return (record[field],)

    return Scopes(tuple(names), scopes_of)
