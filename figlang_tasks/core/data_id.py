"""The identity of data: the field ``data`` of documents and records. Only this module writes and
parses it.
"""

from __future__ import annotations

import hashlib
import json
import re
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

_NAME = r"[\w.-]+"
PATTERN = re.compile(
    rf"(?P<dataset>{_NAME})/(?P<part>{_NAME})(@(?P<revision>{_NAME}))?"
    rf":(?P<digest>\w+(\+\w+)?)(\+(?P<joined>{_NAME}:{_NAME}))?"
)
"""All texts that are one: ``dataset/part@revision:digest+joined``, without ``@revision`` and
``+joined`` for some.
"""


@dataclass(frozen=True)
class DataId:
    """Which data, and a digest of it: ``IRFL/idiom-detection-task@{revision}:{digest}``.

    Attributes:
        dataset: a key of :func:`figlang_tasks.core.benchmark.sources`.
        part: split, table, file or task of it.
        digest: the first 12 hex digits of a SHA-256 of what is asked and compared;
            ``annotations+candidates``: two.
        revision: 40-hex commit of the hub, ``local`` or ``package``; None: it tells none (V-FLUTE,
            FLUTE, NYK-MS).
        joined: another dataset that pictures or descriptions are from, with 12 digits of its
            commit, or ``local``: ``NewYorkerCaptionContest:{revision}`` (NYK-MS); None: there is
            none.
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
        """Take apart what ``str`` of one made."""
        found = PATTERN.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{reprlib.repr(text)} does not name data: it must be dataset/part:digest or "
                "dataset/part@revision:digest"
            )
        return DataId(**found.groupdict())

    @property
    def name(self) -> str:
        """``dataset/part``."""
        return f"{self.dataset}/{self.part}"

    @property
    def texts(self) -> DataId:
        """What all copies of the same texts share: it tells not which revision they are from, nor
        what was joined.
        """
        return replace(self, revision=None, joined=None)


def digest_of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """The first 12 hex digits of a SHA-256 of rows, without their pictures (column ``image``)."""
    texts = []
    for row in rows:
        texts.append({column: value for column, value in row.items() if column != "image"})
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]
