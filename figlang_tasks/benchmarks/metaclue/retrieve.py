"""Which of K statements is this image's? Judging of ``metaclue_retrieve_*`` (paper, 3.2, Table 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from loguru import logger

from figlang_tasks.answers.option import option
from figlang_tasks.benchmarks.metaclue.measures import RETRIEVE, SCORES, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document
from figlang_tasks.core import notes, score_requests
from figlang_tasks.metrics import ranking

_SCORES = re.compile(r"\s*\{\s*\"scores\"")


@dataclass(frozen=True)
class RetrieveRecord:
    """The record of one document.

    Attributes:
        id: the image's path.
        data: dataset, task, revision and digests of annotations and candidates.
        candidates: how many there are.
        answer: place of the right one, from 0.
        chosen: place of the chosen one; None if there is none, as where several have the highest score.
        answer_text, chosen_text: the statements there.
        rank: of the right one, 1 best; None for an answer in words.
        status, rule: outcome of reading (``figlang_tasks.answers.option``), or ``scores`` and ``argmax``;
            ``unreadable`` and ``scores`` where an answer in scores does not have one for each candidate.
    """

    id: str
    data: str
    candidates: int
    answer: int
    chosen: int | None
    answer_text: str
    chosen_text: str | None
    rank: int | None
    status: str
    rule: str


def doc_to_target(doc: Document) -> str:
    """Return the right statement."""
    return doc["candidates"][doc["answer"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``)."""
    labels = [str(number) for number in range(1, len(doc["candidates"]) + 1)]
    return {label: label for label in labels}, labels[doc["answer"]]


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge a choice: by scores where the backend gives them, else by the number of a statement in words.

    A tie goes against the model: the right statement stands behind all others with its score. An answer in words has no
    rank.

    Returns:
        The :class:`RetrieveRecord` and its measures (``figlang_tasks.scoring.judged``).
    """
    texts, answer = doc["candidates"], doc["answer"]
    scores = score_requests.read_answer(results[0])
    if scores is not None and len(scores) == len(texts):
        positives = [place == answer for place in range(len(texts))]
        rank: int | None = ranking.best_rank(scores, positives)
        chosen = None if ranking.tied_at_top(scores) else scores.index(max(scores))
        status, rule = SCORES, "argmax"
    elif scores is not None or _SCORES.match(results[0] or ""):
        # The numbers in it are scores, and none is a choice.
        _report_broken_scores(doc["data"], len(texts))
        notes.note("metaclue_retrieve: answers without a score for each candidate have no rank, see the log")
        chosen, rank, status, rule = None, None, "unreadable", SCORES
    else:
        if results[0]:
            _report_no_scores()
        found = option(results[0], len(texts), letters=False)
        chosen, rank, status, rule = found.value, None, found.status, found.rule
    record = RetrieveRecord(
        id=doc["id"],
        data=doc["data"],
        candidates=len(texts),
        answer=answer,
        chosen=chosen,
        answer_text=texts[answer],
        chosen_text=None if chosen is None else texts[chosen],
        rank=rank,
        status=status,
        rule=rule,
    )
    return judged_of_image(asdict(record), RETRIEVE)


@lru_cache(maxsize=32)  # once for the documents of a task
def _report_broken_scores(data: str, count: int) -> None:
    logger.error(
        f"figlang_tasks: {data}: an answer must be a list of {count} finite scores, one for each candidate. Other "
        f"answers count as wrong (status unreadable, rule {SCORES})"
    )


@lru_cache(maxsize=1)  # once a process
def _report_no_scores() -> None:
    logger.warning(
        "figlang_tasks: metaclue_retrieve: this model answers with a number, so p@1 is reported but rank is not. A "
        "model class with scores (figlang_clip, figlang_vlm) has both."
    )
