"""`Request`: what a task file asks of a dataset, ``V-FLUTE,split=test``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from figlang_tasks.core.errors import DataError


@dataclass(frozen=True)
class Request(Mapping[str, str]):
    """A dataset and the parameters of a request for its rows; a mapping of the parameters.

    It is written ``DATASET,KEY=VALUE,...``: as ``dataset_name`` in a task file, and as ``request``
    in every record. The keys that a dataset takes are those of its benchmark
    (:func:`figlang_tasks.core.benchmark.parse_request`).

    Attributes:
        dataset: name of a :class:`figlang_tasks.core.hub.Source`.
        parameters: keys with their values, in the order of the benchmark's keys.
    """

    dataset: str
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, dataset: str, **parameters: str) -> Request:
        """The request with these parameters."""
        return cls(dataset, tuple(parameters.items()))

    @classmethod
    def parse(cls, text: str) -> Request:
        """Take apart what ``str`` of a request gives.

        Raises:
            DataError: a part behind the first comma is not ``KEY=VALUE``, or a key is there twice.
        """
        dataset, *parts = text.split(",")
        parameters: dict[str, str] = {}
        for part in parts:
            key, sign, value = part.partition("=")
            if not (key and sign and value):
                raise DataError(f"{part!r} must be KEY=VALUE")
            if key in parameters:
                raise DataError(f"{key} is there twice")
            parameters[key] = value
        return cls.of(dataset, **parameters)

    def __str__(self) -> str:
        return ",".join([self.dataset, *(f"{key}={value}" for key, value in self.parameters)])

    def __getitem__(self, key: str) -> str:
        for known, value in self.parameters:
            if known == key:
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)

    def with_parameters(self, parameters: Mapping[str, str]) -> Request:
        """The request with these parameters in place of its own of the same names, or behind
        them.
        """
        return Request.of(self.dataset, **{**self, **parameters})
