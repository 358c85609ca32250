"""IRFL's rows as cards of the report's gallery (`figlang_tasks.core.card`)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.irfl import tasks
from figlang_tasks.benchmarks.irfl.records import DetectionRecord, RetrievalRecord
from figlang_tasks.benchmarks.irfl.rows import LETTERS, figurative_type
from figlang_tasks.core.card import OPEN, Answer, Card, CardPicture, no_choice, outcome
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.record import RowIfKnown
from figlang_tasks.metrics.ranking import precision_at_k
from figlang_tasks.scoring.records import AnyRecord


def card(data: DataId, records: Sequence[AnyRecord], document: RowIfKnown) -> Card:
    """The card of a row: the phrase, the pictures with their roles, and which are right.

    Args:
        data: the data that the row is of.
        records: records of the row in one run: one in detection, one for each image in retrieval.
        document: the row; None if the data is not at hand.
    """
    record = records[0]
    if record["task"] == tasks.RETRIEVE.name:
        positive_count = sum(image["positive"] for image in records)
        gold = ("right images", f"{positive_count} of {len(records)}")
        pictures = _ranked_pictures(records)
    else:
        gold = ("image", LETTERS[record["answer"]])
        pictures = _candidates(record)
    figure = figurative_type(data.part) or data.part  # the part is a table
    columns = document or {}
    return {
        # "idiom, figurative + literal"
        "source": f"{figure}, {record['type'].replace('_', ' + ')}",
        "facts": [
            ("phrase", columns.get("phrase")),
            ("meaning", "; ".join(columns.get("definitions") or [])),
        ],
        "gold": [gold],
        "pictures": pictures,
    }


def _ranked_pictures(images: Sequence[RetrievalRecord]) -> list[CardPicture]:
    """The pictures of a row of retrieval, numbered from 1."""
    pictures: list[CardPicture] = []
    for number, image in enumerate(images, start=1):
        pictures.append(_picture(image["uuid"], str(number), image["role"], image["positive"]))
    return pictures


def _candidates(record: DetectionRecord) -> list[CardPicture]:
    """The candidates of a row of detection, each with its letter."""
    pictures: list[CardPicture] = []
    for index, uuid in enumerate(record["candidates"]):
        is_right = index == record["answer"]
        pictures.append(_picture(uuid, LETTERS[index], record["roles"][index], is_right))
    return pictures


def _picture(uuid: str, label: str, role: str, is_right: bool) -> CardPicture:
    """A picture of a card; only a right one has the field ``right``."""
    picture = CardPicture(name=uuid, label=label, role=role)
    if is_right:
        picture["right"] = True
    return picture


def answer(records: Sequence[AnyRecord]) -> Answer:
    """A model's answer to a row: the choice among the pictures, or precision@k of their ranking.

    Args:
        records: records of the row in one run: one in detection, one for each image in retrieval.
    """
    if records[0]["task"] == tasks.RETRIEVE.name:
        return _ranking(records)
    return _choice(records[0])


def _ranking(images: Sequence[RetrievalRecord]) -> Answer:
    """The ranking of the pictures of a row, with its precision@k if it has all of them."""
    values = [float(image["value"]) for image in images]
    positives = [bool(image["positive"]) for image in images]
    is_complete = len(images) == images[0]["images"]
    if not is_complete or not any(positives):  # a limit has left pictures out
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
    """The chosen picture (``B: literal``), and all scores if it was chosen by scores."""
    chosen = record["chosen"]
    if chosen is None:
        predicted, is_answered = no_choice(record)
    else:
        predicted = f"{LETTERS[chosen]}: {record['roles'][chosen]}"
        is_answered = True
    choice: Answer = {
        "predicted": predicted,
        "outcome": outcome(chosen == record["answer"], is_answered),
        "chosen": chosen,
    }
    if record["scores"]:
        choice["values"] = record["scores"]
    return choice
