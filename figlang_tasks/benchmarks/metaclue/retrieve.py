"""Which of K statements is this image's? Judging of ``metaclue_retrieve_*`` (paper, 3.2, Table 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from loguru import logger

from figlang_tasks.answers.option import option
from figlang_tasks.benchmarks.metaclue.measures import RETRIEVE, SCORES, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document
from figlang_tasks.core import notes, score_requests
from figlang_tasks.metrics import ranking

_SCORES = re.compile(r"\s*\{\s*\"scores\"")


def doc_to_target(doc: Document) -> str:
    """Return the right statement."""
    return doc["candidates"][doc["answer"]]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``)."""
    labels = [str(number) for number in range(1, len(doc["candidates"]) + 1)]
    return {label: label for label in labels}, labels[doc["answer"]]


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record of one choice and its numbers: by scores where the backend gives them, else in words.

    A tie goes against the model: the right statement stands behind all others with its score. An answer in words has no
    rank.
    """
    texts, answer, output = doc["candidates"], doc["answer"], results[0]
    scores = score_requests.read_answer(output)
    rank: int | None = None
    if scores is not None and len(scores) == len(texts):
        rank = ranking.best_rank(scores, [place == answer for place in range(len(texts))])
        chosen = None if ranking.tied_at_top(scores) else scores.index(max(scores))
        status, rule = SCORES, "argmax"
    elif scores is not None or _SCORES.match(output or ""):  # the numbers in it are scores, and none is a choice
        _report_broken_scores(doc["data"], len(texts))
        notes.note("metaclue_retrieve: answers without a score for each candidate have no rank, see the log")
        chosen, status, rule = None, "unreadable", SCORES
    else:
        found = option(output, len(texts), letters=False)
        chosen, status, rule = found.value, found.status, found.rule
    record = {
        "id": doc["id"],
        "data": doc["data"],
        "candidates": len(texts),
        "answer": answer,
        "chosen": chosen,
        "answer_text": texts[answer],
        "chosen_text": None if chosen is None else texts[chosen],
        "rank": rank,
        "status": status,
        "rule": rule,
    }
    return judged_of_image(record, RETRIEVE)


@cache  # once for the documents of a task
def _report_broken_scores(data: str, count: int) -> None:
    logger.error(
        f"figlang_tasks: {data}: an answer must be a list of {count} finite scores, one for each candidate. Other "
        f"answers count as wrong (status unreadable, rule {SCORES})"
    )
