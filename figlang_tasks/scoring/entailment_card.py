"""Cards of the report for rows of explainable entailment (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from figlang_tasks.core.card import OPEN, Answer, Card, Texts, clip, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Record, RowIfKnown
from figlang_tasks.scoring.explained import LABEL_NAMES


def card(data: DataId, records: Sequence[Record], document: RowIfKnown) -> Card:
    """The card of a row: its texts, the gold label and the reference explanation.

    Args:
        data: the data that the row is of.
        records: of answers to this row; all of them hold the same gold label and reference.
        document: the row; empty if the data is not at hand.
    """
    record = records[0]
    return {
        "source": record["report_group"],
        "facts": texts_of(document or {}),
        "gold": [("label", LABEL_NAMES[record["gold"]])],
        "reference": clip(record["reference"]),
    }


def texts_of(row: Mapping[str, object]) -> Texts:
    """The texts of a row with their names, in the order of the card; None for those it lacks."""
    return [(name, row.get(name)) for name in ("claim", "premise", "hypothesis", "phenomenon")]


def answer(records: Sequence[Record]) -> Answer:
    """A model's answer to a row: that of `blind_answer`, with the outcome and explanation scores.

    The outcome says whether the label is right. An answer without scores has no score fields.

    Args:
        records: the records of this row in one run, of which a row of this task has one.
    """
    record = records[0]
    predicted = record["predicted"]
    card_answer = blind_answer(records)
    card_answer["outcome"] = outcome(predicted == record["gold"], predicted is not None)

    # {"scorer": "vflute25", "bertscore": 0.61, "bleurt": 0.52, "mean": 0.565}
    scores = dict(record.get("explanation_scores", {}))
    scores.pop("scorer", None)  # a name, no score
    if "mean" in scores:
        card_answer["score"] = float(scores["mean"])
        card_answer["score_name"] = "explanation score"
        card_answer["scores"] = scores
    return card_answer


def blind_answer(records: Sequence[Record]) -> Answer:
    """What the card shows of an answer to a row whose gold label is not published.

    It is the label that the paper's rules read, and the explanation. Where a careful reader takes
    the output for another label, or for none, a further line (``said``) shows that.

    Args:
        records: the records of this row in one run, of which a row of this task has one.
    """
    record = records[0]
    predicted = record["predicted"]
    strict_label = record["predicted_strict"]  # what a careful reader takes the output for
    card_answer: Answer = {
        "predicted": LABEL_NAMES.get(predicted, "none"),
        "outcome": outcome(is_right=False, is_answered=predicted is not None, otherwise=OPEN),
        "explanation": clip(record["explanation"] or ""),
        "said": [],
    }
    if strict_label != predicted:
        card_answer["said"] = [("a careful reader sees", LABEL_NAMES.get(strict_label, "no label"))]
    return card_answer
