"""The rows of runs as cards of the gallery, by what each benchmark shows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.core.card import Answer, Card, Document, clip, plain_answer, plain_card
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
    made: Card = {"facts": [], "gold": [], "source": "", "pictures": []}
    with task.reading(f"a row, {lines[0]['sample']['id']},"):
        made |= describe(task.data, [line["sample"] for line in lines], document)
    made["facts"] = [[name, clip(text)] for name, text in made["facts"] if text not in (None, "")]
    made["gold"] = [[name, clip(text)] for name, text in made["gold"] if text not in (None, "")]
    return {"task": task.task, "id": card_id(lines[0]), "prompt": prompt(lines[0])} | made


def answer(task: TaskRun, lines: Sequence[Line]) -> Answer:
    """What a run answered to a row."""
    records = [line["sample"] for line in lines]
    module = task.benchmark.module("card")
    judge = plain_answer if module is None else module.answer
    with task.reading(f"a row, {records[0]['id']},"):
        made = judge(records)
    unread = filter(is_unread, records)
    shown = next(unread, records[0])  # of a row of several pictures one that needs a look
    made = {"status": shown.get("status", ""), "rule": shown.get("rule", "")} | made
    made["said"] = [[name, clip(text)] for name, text in made.get("said", []) if text not in (None, "")]
    output = clip(said(lines[0])) if len(lines) == 1 else "\n".join(clip(said(line), 80) for line in lines)
    return {**made, "predicted": clip(made["predicted"], 300), "output": output}


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
