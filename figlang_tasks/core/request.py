"""`Request`: the rows that a task file asks for, ``V-FLUTE,split=test``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from figlang_tasks.core.errors import DataError


@dataclass(frozen=True)
class Request(Mapping[str, str]):
    """A request for rows of a dataset; a mapping of its parameters.

    It is written ``DATASET,KEY=VALUE,...``: as ``dataset_name`` in a task file, and as ``request``
    in every record. The keys that a dataset takes are those of its benchmark
    (`figlang_tasks.core.benchmark.parse_request`).

    Attributes:
        dataset: the name of a `figlang_tasks.core.hub.Source`.
        parameters: keys with their values, in the order of the benchmark's keys.
    """

    dataset: str
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, dataset: str, **parameters: str) -> Request:
        """The request for rows of a dataset with these parameters."""
        return cls(dataset, tuple(parameters.items()))

    @classmethod
    def parse(cls, text: str) -> Request:
        """Read a request from its text, ``DATASET,KEY=VALUE,...``.

        Raises:
            DataError: a part behind the first comma is not ``KEY=VALUE``, or a key is there twice.
        """
        dataset, *assignments = text.split(",")
        parameters: dict[str, str] = {}
        for assignment in assignments:
            key, _, value = assignment.partition("=")
            if not key or not value:
                raise DataError(f"{assignment!r} must be KEY=VALUE")
            if key in parameters:
                raise DataError(f"{key} is there twice")
            parameters[key] = value
        return cls(dataset, tuple(parameters.items()))

    def __str__(self) -> str:
        return ",".join([self.dataset, *(f"{key}={value}" for key, value in self.parameters)])

    def __getitem__(self, key: str) -> str:
        for name, value in self.parameters:
            if name == key:
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def with_parameters(self, parameters: Mapping[str, str]) -> Request:
        """A copy in which these parameters replace those of the same names; others are added."""
        return Request.of(self.dataset, **{**self, **parameters})
