"""The rows of runs as cards of the gallery, by what each benchmark shows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.core.card import Answer, Card, Texts, clip, plain_answer, plain_card
from figlang_tasks.core.record import Document
from figlang_tasks.results.task_run import TaskRun, outputs
from figlang_tasks.scoring.readings import is_unread

Line = Mapping[str, Any]


def card_id(line: Line) -> str:
    """Card key: the document id, or the row id in image rankings."""
    record = line["sample"]
    return str(record["row"] if "images" in record else record["id"])


def card(task: TaskRun, lines: Sequence[Line], document: Document) -> Card:
    """The card of a row, without answers."""
    module = task.benchmark.module("card")
    describe = plain_card if module is None else module.card
    shown: Card = {
        "task": task.task,
        "id": card_id(lines[0]),
        "prompt": prompt(lines[0]),
        "facts": [],
        "gold": [],
        "source": "",
        "pictures": [],
    }
    with task.reporting_damage(f"a row, {lines[0]['sample']['id']},"):
        shown.update(describe(task.data, [line["sample"] for line in lines], document))
    shown["facts"] = _clipped(shown["facts"])
    shown["gold"] = _clipped(shown["gold"])
    return shown


def _clipped(texts: Texts) -> Texts:
    """The texts that say something, none too long for a page."""
    return [(name, clip(text)) for name, text in texts if text not in (None, "")]


def answer(task: TaskRun, lines: Sequence[Line]) -> Answer:
    """What a run answered to a row."""
    records = [line["sample"] for line in lines]
    module = task.benchmark.module("card")
    with task.reporting_damage(f"a row, {records[0]['id']},"):
        if module is None:
            judged = plain_answer(records[0], task.kind.answer_field)
        else:
            judged = module.answer(records)
    unread = filter(is_unread, records)
    record = next(unread, records[0])  # of a row of several pictures one that needs a look
    shown: Answer = {"status": record.get("status", ""), "rule": record.get("rule", "")}
    shown.update(judged)
    shown["said"] = _clipped(judged.get("said", []))
    shown["predicted"] = clip(judged["predicted"], 300)
    if len(lines) == 1:
        shown["output"] = clip(said(lines[0]))
    else:
        shown["output"] = "\n".join(clip(said(line), 80) for line in lines)
    return shown


def said(line: Line) -> str:
    """The output that was judged."""
    return next(iter(outputs(line)), "")


def prompt(line: Line) -> str:
    """The prompt; lm-eval keeps it among the arguments."""
    if "input" in line:
        return clip(line["input"])
    found = line.get("arguments")
    while isinstance(found, Mapping | list | tuple) and found:
        found = next(iter(found.values())) if isinstance(found, Mapping) else found[0]
    return clip(found) if isinstance(found, str) else ""
