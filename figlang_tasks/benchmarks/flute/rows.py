"""FLUTE's rows as documents: everything that a prompt and a judgement need of a row.

`pairs` reads the released rows, `heldout` draws those that are evaluated, and `blind` reads those
of the shared task.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from loguru import logger

from figlang_tasks.benchmarks.flute.heldout import HELDOUT_DIGEST, draw_heldout, families
from figlang_tasks.benchmarks.flute.pairs import (
    LABELS,
    Pair,
    collapse_spaces,
    read_release,
    row_ids,
    sha256_of,
)
from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.exemplars import draw_exemplars

if TYPE_CHECKING:
    import datasets

    from figlang_tasks.scoring.task import Document

PARTS = ("heldout", "rest", "train")
"""The parts of the released rows: ``heldout`` and ``rest`` share no sentence, ``train`` is both."""

EXEMPLAR_SEED = 42


# --- the documents of a part ---


@hub.cached(maxsize=8)
def load(dataset: str, part: str, prompt: str = "v2", scorer: str = "") -> datasets.Dataset:
    """The documents of one part, one for each row.

    The held-out part is in the order of a hash, so that ``--limit`` takes a mixture. The others are
    in released order. Beside what a `Pair` holds the documents have:

    - ``id``: made from the row's content (`row_ids`).
    - ``dataset``, ``revision``: where the row is from.
    - ``data``: what identifies the texts of the part, in any order and any file format (`DataId`).
    - ``family``: the first id of the rows that depend on each other (`families`).
    - ``prompt``, ``scorer``: the arguments, since lm-eval hands task functions the document alone.

    Args:
        dataset: ``FLUTE``, or another dataset in its schema.
        part: one of `PARTS`.
        prompt: ``v1`` or ``v2``.
        scorer: the name of the explanation scorer; "" for the benchmark's own.

    Raises:
        DataError: there is no such part, or the rows have faults.
    """
    import datasets

    if part not in PARTS:
        raise DataError(f"{dataset} has no part {part!r}; it has: {', '.join(PARTS)}")
    all_rows, revision = read_release(dataset)
    all_ids = row_ids(all_rows)
    # Families of all rows: none of them is divided between heldout and rest.
    family_ids = _family_ids(all_rows, all_ids)
    indices = _indices_of_part(dataset, part, all_rows, all_ids)

    rows = [all_rows[index] for index in indices]
    ids = [all_ids[index] for index in indices]
    texts: list[str] = []
    for row, row_id in zip(rows, ids, strict=True):
        texts.append("\n".join((row.report_group, row_id, row.key)))
    digest = sha256_of(*sorted(texts))[:12]  # sorted, so that the order of rows does not matter
    return datasets.Dataset.from_dict(
        {
            "dataset": [dataset] * len(rows),
            "data": [str(DataId(dataset, part, digest))] * len(rows),
            "id": ids,
            "premise": [row.premise for row in rows],
            "hypothesis": [row.hypothesis for row in rows],
            "label": [row.label for row in rows],
            "explanation": [row.explanation for row in rows],
            "report_group": [row.report_group for row in rows],
            "family": [family_ids[index] for index in indices],
            "revision": [revision] * len(rows),
            "prompt": [prompt] * len(rows),
            "scorer": [scorer] * len(rows),
        }
    )


def _indices_of_part(
    dataset: str, part: str, rows: Sequence[Pair], ids: Sequence[str]
) -> list[int]:
    """The indices of the rows of a part, in the order of the part.

    They are those of ``heldout`` by hash, and those of ``rest`` and ``train`` as released. If
    FLUTE's held-out rows are not those with the digest `HELDOUT_DIGEST`, a warning says so.

    Args:
        dataset: ``FLUTE``, or another dataset in its schema.
        part: one of `PARTS`.
        rows: all rows of the dataset.
        ids: the id of each row.
    """
    all_indices = list(range(len(rows)))
    if part == "train":
        return all_indices
    heldout = draw_heldout(rows)
    digest = sha256_of(*sorted(ids[index] for index in heldout))[:12]
    if dataset == "FLUTE" and digest != HELDOUT_DIGEST:
        logger.warning(
            f"figlang_tasks: {dataset}: the texts differ from those of the fixed held-out part"
            f" ({digest}, not {HELDOUT_DIGEST}): compare results only with runs of the same"
            " data digest"
        )
    if part == "heldout":
        indices = heldout
    else:  # rest
        indices = sorted(set(all_indices) - set(heldout))
    logger.info(f"figlang_tasks: {dataset}: the part {part} has {len(indices)} of {len(rows)} rows")
    return indices


def _family_ids(rows: Sequence[Pair], ids: Sequence[str]) -> dict[int, str]:
    """The id of each row's family, by the index of the row: the alphabetically first of its ids."""
    family_ids: dict[int, str] = {}
    for family in families(rows):
        family_id = min(ids[index] for index in family)
        for index in family:
            family_ids[index] = family_id
    return family_ids


# --- few-shot exemplars ---


@hub.cached(maxsize=4)
def exemplars(dataset: str, count: int, prompt: str) -> tuple[Document, ...]:
    """Few-shot exemplars: documents of the part ``rest``, drawn over figurative types and labels.

    So 4 exemplars hold each type once, and each label twice. The draw does not depend on the order
    of the file. Paraphrases are left out, since they are not figurative, and rows without an
    explanation, since they show no answer.

    Args:
        dataset: ``FLUTE``, or another dataset in its schema.
        count: how many.
        prompt: ``v1`` or ``v2``.

    Raises:
        DataError: there are fewer such rows.
    """
    suitable: list[Document] = []
    for document in sorted(load(dataset, "rest", prompt), key=lambda document: document["id"]):
        is_figurative = document["report_group"] != "creative_paraphrase"
        if is_figurative and collapse_spaces(document["explanation"]):
            suitable.append(document)
    types = [document["report_group"] for document in suitable]
    labels = [document["label"] for document in suitable]
    chosen_indices = draw_exemplars(types, labels, tuple(LABELS), count, EXEMPLAR_SEED)
    shots = [suitable[index] for index in chosen_indices]
    shot_ids = ", ".join(shot["id"] for shot in shots)
    logger.info(f"figlang_tasks: {count} exemplars: {shot_ids}")
    return tuple(shots)
