"""Is this a visual metaphor? Judging of ``metaclue_classify_symbolic`` and ``_literal`` (paper, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from figlang_tasks.aggregate import with_ends
from figlang_tasks.metaclue.parse import parse_yes_no
from figlang_tasks.metaclue.task import Document

ANSWERS = ("No", "Yes")


@dataclass(frozen=True)
class ClassifyRecord:
    """What was judged for one document.

    Attributes:
        id: the image's path.
        data: dataset, task, revision and digest.
        gold: 1 for a metaphor.
        predicted: None if the output says neither yes nor no.
        status, rule: outcome of parsing (``figlang_tasks.metaclue.parse``).
    """

    id: str
    data: str
    gold: int
    predicted: int | None
    status: str
    rule: str


def doc_to_target(doc: Document) -> str:
    """Return the right answer, Yes or No."""
    return ANSWERS[doc["metaphor"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``)."""
    return {label: label for label in ANSWERS}, doc_to_target(doc)


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge a yes or no; an output that is neither is wrong.

    Returns:
        ``sample``: the :class:`ClassifyRecord` as a dict (in no metric list: only logged); ``acc``; ``acc_metaphor`` or
        ``acc_negative``; ``yes_rate`` and ``parse_rate``. Each also with ``_ci_low`` and ``_ci_high``.
    """
    found = parse_yes_no(results[0])
    gold = int(doc["metaphor"])
    correct = float(found.label == gold)
    values = {"acc": correct, "acc_metaphor" if gold else "acc_negative": correct}
    values |= {"yes_rate": float(found.label == 1), "parse_rate": float(found.label is not None)}
    record = ClassifyRecord(doc["id"], doc["data"], gold, found.label, found.status, found.rule)
    return {"sample": asdict(record), **with_ends(values, doc["id"])}
