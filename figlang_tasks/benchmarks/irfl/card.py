"""IRFL's rows as cards of the report (:mod:`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from figlang_tasks.benchmarks.irfl import tasks
from figlang_tasks.benchmarks.irfl.records import DetectionRecord, RetrievalRecord
from figlang_tasks.benchmarks.irfl.rows import LETTERS, figurative_type
from figlang_tasks.core.card import OPEN, Answer, Card, CardPicture, no_choice, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import Document
from figlang_tasks.metrics.ranking import precision_at_k


def card(data: DataId, records: Sequence[Any], document: Document) -> Card:
    """A row as a card: the phrase, the pictures with their roles, and which are right."""
    record = records[0]
    document = document or {}
    if record["task"] == tasks.RETRIEVE.name:
        pictures = [_ranked_picture(image, place) for place, image in enumerate(records, start=1)]
        gold = ("right images", f"{sum(image['positive'] for image in records)} of {len(records)}")
    else:
        pictures = [_candidate(record, place) for place in range(len(record["candidates"]))]
        gold = ("image", LETTERS[record["answer"]])
    kind = figurative_type(data.part) or data.part
    return {
        "source": f"{kind}, {record['type'].replace('_', ' + ')}",
        "facts": [
            ("phrase", document.get("phrase")),
            ("meaning", "; ".join(document.get("definitions") or [])),
        ],
        "gold": [gold],
        "pictures": pictures,
    }


def _ranked_picture(image: RetrievalRecord, place: int) -> CardPicture:
    """A picture of a row of retrieval, by its place in the row."""
    return _picture(image["uuid"], str(place), image["role"], image["positive"])


def _candidate(record: DetectionRecord, place: int) -> CardPicture:
    """A candidate of a row of detection, by its letter."""
    return _picture(
        record["candidates"][place],
        LETTERS[place],
        record["roles"][place],
        place == record["answer"],
    )


def _picture(uuid: str, label: str, role: str, is_right: bool) -> CardPicture:
    picture: CardPicture = {"name": uuid, "label": label, "role": role}
    if is_right:
        picture["right"] = True
    return picture


def answer(records: Sequence[Any]) -> Answer:
    """The choice among the pictures, or precision@k of their ranking."""
    if records[0]["task"] == tasks.RETRIEVE.name:
        return _ranking(records)
    return _choice(records[0])


def _ranking(records: Sequence[RetrievalRecord]) -> Answer:
    """Precision@k of the pictures of a row; a row that a limit has cut has none."""
    values = [float(record["value"]) for record in records]
    positives = [bool(record["positive"]) for record in records]
    if len(records) != records[0]["images"] or not any(positives):
        return {
            "predicted": "row cut by a limit",
            "outcome": OPEN,
            "values": values,
            "ranked": True,
        }
    k = sum(positives)
    precision = precision_at_k(values, positives)
    return {
        "score": precision,
        "score_name": "precision@k",
        "predicted": f"{round(k * precision)} of {k} right images on top",
        "outcome": outcome(precision == 1),
        "values": values,
        "ranked": True,
    }


def _choice(record: DetectionRecord) -> Answer:
    """The chosen picture, and the scores of all where it was chosen by scores."""
    chosen = record["chosen"]
    if chosen is None:
        predicted, is_answered = no_choice(record)
    else:
        predicted, is_answered = f"{LETTERS[chosen]}: {record['roles'][chosen]}", True
    answer: Answer = {
        "predicted": predicted,
        "outcome": outcome(chosen == record["answer"], is_answered),
        "chosen": chosen,
    }
    if record["scores"]:
        answer["values"] = record["scores"]
    return answer
