"""Rows of explainable entailment as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.card import OPEN, WRONG, Answer, Card, Document, Record, clip, outcome
from figlang_tasks.core.data_id import DataId

_LABELS = {1: "entailment", 0: "contradiction"}


def card(data: DataId, records: Sequence[Record], document: Document) -> Card:
    """A row as a card: its texts, the gold label and the reference explanation."""
    record = records[0]
    known = document or record  # the blind rows of FLUTE hold their texts themselves
    return {
        "source": record.get("report_group", ""),
        "facts": [(name, known.get(name)) for name in ("claim", "premise", "hypothesis", "phenomenon")],
        "gold": [("label", _LABELS[record["gold"]])] if "gold" in record else [],
        "reference": clip(record.get("reference", "")),
    }


def answer(records: Sequence[Record]) -> Answer:
    """The predicted label and explanation, with the explanation score where there is one."""
    record = records[0]
    predicted, strict = record["predicted"], record["predicted_strict"]
    scores = {name: value for name, value in record.get("explanation_scores", {}).items() if name != "scorer"}
    made: Answer = {
        "predicted": _LABELS.get(predicted, "none"),
        "outcome": outcome(predicted == record.get("gold"), predicted is not None, WRONG if "gold" in record else OPEN),
        "explanation": clip(record["explanation"] or ""),
        "said": [("a careful reader sees", _LABELS.get(strict, "no label"))] if strict != predicted else [],
    }
    return made | (
        {"score": float(scores["mean"]), "score_name": "explanation score", "scores": scores}
        if "mean" in scores
        else {}
    )
