"""Is this a visual metaphor? Judging of ``metaclue_classify_symbolic`` and ``_literal`` (paper, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.metaclue.measures import CLASSIFY, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document

ANSWERS = ("No", "Yes")
METAPHOR = "metaphors?|metaphorical"
"""What an answer in words speaks of."""


@dataclass(frozen=True)
class ClassifyRecord:
    """The record of one document.

    Attributes:
        id: the image's path.
        data: dataset, task, revision and digest.
        gold: 1 for a metaphor.
        predicted: None if the output says neither yes nor no.
        status, rule: outcome of reading (``figlang_tasks.answers.yes_no``).
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
        The :class:`ClassifyRecord` and its measures (``figlang_tasks.scoring.judged``).
    """
    found = yes_no(results[0], about=METAPHOR)
    predicted = None if found.value is None else int(found.value)
    record = ClassifyRecord(doc["id"], doc["data"], int(doc["metaphor"]), predicted, found.status, found.rule)
    return judged_of_image(asdict(record), CLASSIFY)
