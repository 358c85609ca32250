"""The identity of data: the field ``data`` of documents and records.

Only this module writes and parses it.
"""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from figlang_tasks.core.record import Row

_NAME = r"[\w.-]+"
PATTERN = re.compile(
    rf"(?P<dataset>{_NAME})/(?P<part>{_NAME})(@(?P<revision>{_NAME}))?"
    rf":(?P<digest>\w+(\+\w+)?)(\+(?P<joined>{_NAME}:{_NAME}))?"
)
"""The text of an identity: ``dataset/part@revision:digest+joined``.

``@revision`` and ``+joined`` may be missing. The digest may itself be two, with a ``+`` between.
"""


@dataclass(frozen=True)
class DataId:
    """Which data was read, with a digest: ``IRFL/idiom-detection-task@{revision}:{digest}``.

    Attributes:
        dataset: a key of `figlang_tasks.core.benchmark.sources`.
        part: the split, table, file or task of the dataset.
        digest: the first 12 hex digits of a SHA-256 of what is asked and compared. MetaCLUE's
            retrieval has two, ``annotations+candidates``.
        revision: a 40-hex commit of the hub, ``local`` or ``package``; None for benchmarks that do
            not tell one (V-FLUTE, FLUTE, NYK-MS).
        joined: the other dataset that pictures or descriptions come from, with the first 12 digits
            of its commit, or ``local``: ``NewYorkerCaptionContest:{revision}`` (NYK-MS). None if
            there is no other.
    """

    dataset: str
    part: str
    digest: str
    revision: str | None = None
    joined: str | None = None

    def __str__(self) -> str:
        revision = "" if self.revision is None else f"@{self.revision}"
        joined = "" if self.joined is None else f"+{self.joined}"
        return f"{self.name}{revision}:{self.digest}{joined}"

    @staticmethod
    @lru_cache(maxsize=64)  # all rows of a task hold the same text
    def parse(text: str) -> DataId:
        """Read an identity from its text, as ``str`` writes it; `ValueError` if it is none."""
        match = PATTERN.fullmatch(text)
        if match is None:
            raise ValueError(
                f"{reprlib.repr(text)} does not name data: it must be dataset/part:digest or "
                "dataset/part@revision:digest"
            )
        return DataId(**match.groupdict())  # the groups have the names of the fields

    @property
    def name(self) -> str:
        """``dataset/part``."""
        return f"{self.dataset}/{self.part}"

    @property
    def texts(self) -> DataId:
        """The identity without `revision` and `joined`: equal for all copies of the same texts."""
        return replace(self, revision=None, joined=None)


def shipped_revision(data_ids: Iterable[DataId]) -> str:
    """The revision of rows that this package ships; the digest of their texts where it has none."""
    revisions = {data_id.revision or data_id.digest for data_id in data_ids}
    return ", ".join(sorted(revisions))


def digest_of_rows(rows: Iterable[Row]) -> str:
    """The first 12 hex digits of a SHA-256 of rows, without their pictures (column ``image``)."""
    texts = []
    for row in rows:
        texts.append({column: value for column, value in row.items() if column != "image"})
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]
