"""FLUTE's released rows, each a pair of sentences: reading, checks and ids.

They serve every dataset in FLUTE's schema (FLUTE itself and figlang_mini_flute).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from figlang_tasks.core import hub, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import LONE_SURROGATE

LABELS = {"Entailment": 1, "Contradiction": 0}
"""The numbers that stand for the labels in records."""

REPORT_GROUPS = ("sarcasm", "simile", "metaphor", "idiom", "creative_paraphrase")
"""The types of rows, which have results of their own."""

PARAPHRASE_AND_SARCASM = "paraphrase_sarcasm"
"""The scope of the paper's "Paraphrase + Sarcasm" (Table 1)."""

JSON_LINES = "**/*train*.jsonl"
"""The pattern of the JSON lines file that may stand in place of the Parquet files."""

COLUMNS = ("id", "premise", "hypothesis", "label", "explanation", "type")

# The types by their released names in lower case, without blanks: "creativeparaphrase".
_GROUP_BY_TYPE = {group.replace("_", ""): group for group in REPORT_GROUPS}


@dataclass(frozen=True)
class Pair:
    """A valid row of the release.

    Attributes:
        source_id: the release's id, which several rows share, within a type and across types.
        premise, hypothesis: the two sentences.
        label: ``Entailment`` or ``Contradiction``.
        explanation: the reference explanation; some are empty.
        report_group: the row's type, one of `REPORT_GROUPS`.
    """

    source_id: str
    premise: str
    hypothesis: str
    label: str
    explanation: str
    report_group: str

    @property
    def portion(self) -> str:
        """The paper's portion of the data: a paraphrase belongs to the sarcasm made from it."""
        return "sarcasm" if self.report_group == "creative_paraphrase" else self.report_group

    @cached_property
    def key(self) -> str:
        """A SHA-256 that rows with the same texts and label share, whatever their white space."""
        texts = (self.premise, self.hypothesis, self.label, self.explanation)
        return sha256_of(*map(collapse_spaces, texts))

    @cached_property
    def sentences(self) -> tuple[str, str]:
        """Premise and hypothesis without differences of white space and of case."""
        return _fold(self.premise), _fold(self.hypothesis)


# --- texts ---

# Python's own rules for white space and case follow its Unicode version, and so would the draw of
# the held-out part.
_SPACE = re.compile("[ \t\r\n\f\v\u00a0]+")
_LOWER_CASE = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def collapse_spaces(text: str) -> str:
    """A text with one blank for each stretch of white space, and none at its ends."""
    return _SPACE.sub(" ", text).strip(" ")


def _fold(text: str) -> str:
    """A text with collapsed white space and ASCII letters in lower case."""
    return collapse_spaces(text).translate(_LOWER_CASE)


def sha256_of(*texts: str) -> str:
    """The SHA-256 of texts, joined by newlines, in hex digits."""
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def row_ids(rows: Sequence[Pair]) -> list[str]:
    """An id for each row, made from its content: ``simile-556-6ec7b2cd``.

    Rows with the same content are numbered from the second one on: ``simile-556-6ec7b2cd-2``.
    """
    occurrences: Counter[str] = Counter()
    ids: list[str] = []
    for row in rows:
        row_id = f"{row.portion}-{row.source_id}-{row.key[:8]}"
        occurrences[row_id] += 1
        number = occurrences[row_id]
        ids.append(row_id if number == 1 else f"{row_id}-{number}")
    return ids


# --- reading ---


def read_release(dataset: str) -> tuple[Sequence[Pair], str]:
    """The rows of a dataset, and the revision they are of: commit, ``local`` or ``package``.

    Raises:
        DataError: the rows cannot be read, are not as many as published, or have faults.
    """
    source = source_of(dataset)
    snapshot = hub.snapshot(source, ["README.md", "*.parquet", "*.jsonl"])
    location, located_rows = _read_train_split(source, snapshot.folder)
    rows, row_faults = row_files.validate_rows(located_rows, _read_pair)
    faults = [f"{fault}. {hub.USE_THE_RELEASE}" for fault in row_faults]
    row_count = len(rows) + len(row_faults)  # a row that is not valid has one fault
    published_count = source.splits["train"]
    if row_count != published_count:
        faults.append(
            f"{location} has {row_count} rows, the published train split has {published_count}. To"
            f" run fewer rows use --limit. {hub.USE_THE_RELEASE}"
        )
    row_files.raise_first_fault(faults, "flute")
    return rows, snapshot.revision


def _read_train_split(source: hub.Source, folder: Path) -> tuple[str, Iterable[tuple[str, Any]]]:
    """The location of the train split for messages, and its unchecked rows, each with its location.

    Args:
        source: the dataset.
        folder: the folder with its files: Parquet files, or one file of JSON lines. Parquet files
            come first.

    Raises:
        DataError: there are no such files, or several of JSON lines, or they cannot be read.
    """
    files = parquet_files.split_files(source.name, "train", folder)
    if files:
        location = f"{source.name}: {files[0].parent}/train-*.parquet"
        table = parquet_files.read_parquet(files, COLUMNS, location)
        rows = ((f"{location}, row {index}", row) for index, row in enumerate(table))
        return location, rows

    json_files = sorted(folder.glob(JSON_LINES))
    if len(json_files) != 1:
        page = source.page if source.repository else ""
        names = ", ".join(path.name for path in json_files) or "none"
        raise DataError(
            f"{source.name}: the train split must be in {folder}, as"
            " data/train-00000-of-0000N.parquet or as one JSON lines file with `train` in its name"
            f" (train.jsonl), as in the hub's repository {page}; there is {names}"
        )
    return f"{source.name}: {json_files[0]}", row_files.read_rows(json_files[0], COLUMNS)


def _read_pair(cells: Mapping[str, Any], location: str) -> Pair:
    """A row of the release; raises a `DataError` with its first fault.

    Args:
        cells: the cells of the row by column (`COLUMNS`).
        location: file and number of the row, for messages.
    """
    # `row_files.text` is called for the errors that it raises. It takes None and "" for a fault
    # unless the text is optional. None is a fault in every column. "" is one only in premise and
    # hypothesis: explanations may be empty, and label and type are checked below.
    for column in ("premise", "hypothesis", "label", "explanation", "type"):
        is_sentence = column in ("premise", "hypothesis")
        may_be_empty = not is_sentence and cells[column] is not None
        row_files.text(cells, column, location, optional=may_be_empty)
    source_id = _read_source_id(cells["id"], location)
    label = cells["label"]
    if label not in LABELS:
        known_labels = ", ".join(LABELS)
        raise DataError(
            f"{location}: unknown label {row_files.brief(label)}; it must be one of {known_labels}"
        )
    return Pair(
        source_id=source_id,
        premise=cells["premise"],
        hypothesis=cells["hypothesis"],
        label=label,
        explanation=cells["explanation"],
        report_group=_report_group(cells["type"], label, location),
    )


def _read_source_id(source_id: object, location: str) -> str:
    """The release's id of a row as a text; raises a `DataError` if it is no number or text."""
    is_number_or_text = isinstance(source_id, str | int)
    text = str(source_id)
    if not is_number_or_text or not text.strip() or LONE_SURROGATE.search(text):
        raise DataError(f"{location}: id is {row_files.brief(source_id)}, not a number or text")
    return text.strip()


def _report_group(released_type: str, label: str, location: str) -> str:
    """The type of a row, one of `REPORT_GROUPS`; raises a `DataError` if it is unknown.

    An entailed row that the release calls sarcasm is a ``creative_paraphrase``.

    Args:
        released_type: the type as released: ``CreativeParaphrase``, ``Sarcasm``.
        label: ``Entailment`` or ``Contradiction``.
        location: file and number of the row, for the message.
    """
    plain_type = released_type.replace(" ", "").replace("_", "").lower()
    group = _GROUP_BY_TYPE.get(plain_type)
    if group is None:
        known_types = "Sarcasm, Simile, Metaphor, Idiom, CreativeParaphrase"
        raise DataError(
            f"{location}: unknown type {row_files.brief(released_type)}; it must be one of"
            f" {known_types}"
        )
    if group == "sarcasm" and label == "Entailment":
        # All sarcasm contradicts (the paper's Table 1). In the JSON lines form the paraphrases,
        # which all entail, are called sarcasm too.
        return "creative_paraphrase"
    return group
