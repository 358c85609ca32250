"""The rows of a task in a stratified order, so that `--limit` takes a fair part of every kind.

A task file of this folder names one function of this module as its ``process_docs``. The first 300
rows then have each kind of row in its share of the whole task, and the run is marked as partial:

lmms_eval --include_path examples/stratified_rows --tasks flute_stratified --limit 300 ...

The order depends on the seed and on the rows' ids alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.benchmark import process_docs

if TYPE_CHECKING:
    import datasets

SEED = 57

Document = dict[str, Any]


def flute(stub: datasets.Dataset) -> datasets.Dataset:
    """FLUTE's documents, stratified by figure type and label."""
    return _in_stratified_order(process_docs(stub), _flute_stratum)


def columbus(stub: datasets.Dataset) -> datasets.Dataset:
    """COLUMBUS's documents, stratified by kind of rebus and by whether both kinds have it."""
    return _in_stratified_order(process_docs(stub), _columbus_stratum)


def _flute_stratum(document: Document) -> Hashable:
    """The figure type and the label of a row."""
    return document["report_group"], document["label"]


def _columbus_stratum(document: Document) -> Hashable:
    """The kind of a rebus, text or icon, and whether the same puzzle is there in both kinds."""
    return document["kind"], document["overlap"]


def _in_stratified_order(
    documents: datasets.Dataset, stratum_of: Callable[[Document], Hashable]
) -> datasets.Dataset:
    """The documents in an order whose first rows have each stratum in its share."""
    indices_by_stratum: dict[Hashable, list[int]] = {}
    for index, document in enumerate(documents):
        indices_by_stratum.setdefault(stratum_of(document), []).append(index)

    ids = documents["id"]
    hashes = [hashlib.sha256(f"{SEED}\n{row_id}".encode()).hexdigest() for row_id in ids]
    positions: dict[int, tuple[float, str]] = {}
    for indices in indices_by_stratum.values():
        drawn_order = sorted(indices, key=lambda index: hashes[index])
        for rank, index in enumerate(drawn_order):
            # The rows of a stratum are spread evenly from 0 to 1; equal places go by their hashes.
            positions[index] = ((rank + 0.5) / len(indices), hashes[index])
    return documents.select(sorted(positions, key=lambda index: positions[index]))
