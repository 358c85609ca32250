"""Is this a visual metaphor? Judging of ``metaclue_classify_symbolic`` and ``_literal`` (paper, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.metaclue.measures import CLASSIFY, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document

ANSWERS = ("No", "Yes")
METAPHOR = "metaphors?|metaphorical"
"""What an answer in words speaks of."""


def doc_to_target(doc: Document) -> str:
    """Return the right answer, Yes or No."""
    return ANSWERS[doc["metaphor"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``)."""
    return {label: label for label in ANSWERS}, doc_to_target(doc)


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record of one document and its numbers; an output that is neither yes nor no is wrong."""
    found = yes_no(results[0], about=METAPHOR)
    record = {
        "id": doc["id"],
        "data": doc["data"],
        "gold": int(doc["metaphor"]),
        "predicted": None if found.value is None else int(found.value),
        "status": found.status,
        "rule": found.rule,
    }
    return judged_of_image(record, CLASSIFY)
