"""Rows of explainable entailment as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.core.card import OPEN, Answer, Card, Texts, clip, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document, Record

_LABELS = {1: "entailment", 0: "contradiction"}


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card: its texts, the gold label and the reference explanation."""
    record = records[0]
    return {
        "source": record["report_group"],
        "facts": texts_of(document or {}),
        "gold": [("label", _LABELS[record["gold"]])],
        "reference": clip(record["reference"]),
    }


def texts_of(row: Mapping[str, Any]) -> Texts:
    """The texts that a row is about, with their names."""
    return [(name, row.get(name)) for name in ("claim", "premise", "hypothesis", "phenomenon")]


def answer(records: Sequence[Record]) -> Answer:
    """The predicted label and explanation, with the explanation score where there is one."""
    record = records[0]
    predicted = record["predicted"]
    shown = blind_answer(records)
    shown["outcome"] = outcome(predicted == record["gold"], predicted is not None)
    scores = {
        name: value
        for name, value in record.get("explanation_scores", {}).items()
        if name != "scorer"
    }
    if "mean" in scores:
        shown.update(
            {"score": float(scores["mean"]), "score_name": "explanation score", "scores": scores}
        )
    return shown


def blind_answer(records: Sequence[Record]) -> Answer:
    """The same of a row whose right answer is not published."""
    record = records[0]
    predicted, strict = record["predicted"], record["predicted_strict"]
    is_disputed = strict != predicted
    return {
        "predicted": _LABELS.get(predicted, "none"),
        "outcome": outcome(False, predicted is not None, OPEN),
        "explanation": clip(record["explanation"] or ""),
        "said": [("a careful reader sees", _LABELS.get(strict, "no label"))] if is_disputed else [],
    }
