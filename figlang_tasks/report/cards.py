"""How the rows of each benchmark become cards of the gallery: plain data, which the page's script shows as text.

A card is a dict: ``task``, ``id``, ``source``; ``facts``, ``gold`` (texts with their names, what was asked and what is
right); ``reference`` (explanation); ``prompt``; ``pictures`` (each with ``name``, by which the originals know it,
``label``, ``role``, and ``right`` for the right ones); ``boxes`` (annotated ones); ``answers``.

An answer is a dict: ``run`` (its number); ``predicted`` (short); ``outcome``; ``status`` and ``rule`` of parsing;
``said`` (texts with their names); ``explanation``; ``score`` (of the explanation or the ranking, 0 to 1) and ``scores``
(its parts); ``chosen`` (a picture's place), ``values`` (of each picture, by place), ``boxes``; ``output``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.results.runs import RunError, TaskRun

Card = dict[str, Any]
Answer = dict[str, Any]
Record = Mapping[str, Any]
Document = Mapping[str, Any] | None
Line = Mapping[str, Any]

RIGHT, WRONG, NO_ANSWER, OPEN = "right", "wrong", "no answer", "open"
"""Outcomes; ``open``: an answer in words that no exact comparison decides."""

_LONGEST = 6000  # characters of a text; scores of 1,000 candidates are longer
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_ENTAILMENT = {1: "entailment", 0: "contradiction"}
_YES = {1: "yes", 0: "no"}
_NYKMS = {
    "MC": "metaphor?",
    "MW": "metaphorical word",
    "ME": "explanation of the metaphor",
    "SC": "sarcasm?",
    "SW": "sarcastic word",
    "ST": "target of the sarcasm",
    "SE": "explanation of the sarcasm",
}


def card_id(line: Line) -> str:
    """What a line belongs to: its row; all images of a row of IRFL's retrieval make one card."""
    record = line["sample"]
    return str(record["row"] if "positive" in record else record["id"])


def card(task: TaskRun, lines: Sequence[Line], document: Document) -> Card:
    """The card of a row, without answers.

    Args:
        task: the run that the lines are of.
        lines: of one `card_id`.
        document: the row; None if it is not at hand: then the card has the prompt alone.

    Raises:
        RunError: a line is not as the task writes it.
    """
    record = lines[0]["sample"]
    try:
        made: Card = {"facts": [], "gold": [], "source": "", "pictures": []} | _DESCRIBE.get(task.benchmark, _any)(
            task, [line["sample"] for line in lines], document
        )
    except _DAMAGED as error:
        raise _not_ours(task, record, error) from error
    made["facts"] = [[name, clip(text)] for name, text in made["facts"] if text not in (None, "")]
    made["gold"] = [[name, clip(text)] for name, text in made["gold"] if text not in (None, "")]
    return {"task": task.task, "id": card_id(lines[0]), "prompt": prompt(lines[0])} | made


def answer(task: TaskRun, lines: Sequence[Line]) -> Answer:
    """What a run answered to a row.

    Args and errors as in `card`.
    """
    record = lines[0]["sample"]
    try:
        made = _ANSWER.get(task.benchmark, _any_answer)([line["sample"] for line in lines])
    except _DAMAGED as error:
        raise _not_ours(task, record, error) from error
    made = {"status": record.get("status", ""), "rule": record.get("rule", "")} | made
    made["said"] = [[name, clip(text)] for name, text in made.get("said", []) if text not in (None, "")]
    output = clip(said(lines[0])) if len(lines) == 1 else "\n".join(clip(said(line), 80) for line in lines)
    return {**made, "predicted": clip(made["predicted"], 300), "output": output}


_DAMAGED = (LookupError, TypeError, ValueError, AttributeError)


def _not_ours(task: TaskRun, record: Record, error: Exception) -> RunError:
    return RunError(
        f"{task.path}: the row {record['id']} is not as a task of figlang_tasks writes it "
        f"({type(error).__name__}: {error}): evaluate again with --log_samples"
    )


def clip(text: Any, most: int = _LONGEST) -> str:
    """A text, its end left out where it is too long."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[:most]} … ({len(whole) - most:,} more characters)"


def said(line: Line) -> str:
    """The output that was judged (lm-eval keeps a list of one)."""
    found = line.get("filtered_resps")
    while isinstance(found, list | tuple) and found:
        found = found[0]
    return "" if found is None or found == [] else str(found)


def prompt(line: Line) -> str:
    """The prompt; lm-eval keeps it among the arguments."""
    if "input" in line:
        return clip(line["input"])
    found = line.get("arguments")
    while isinstance(found, Mapping | list | tuple) and found:
        found = next(iter(found.values())) if isinstance(found, Mapping) else found[0]
    return clip(found) if isinstance(found, str) else ""


def _no_choice(record: Record) -> tuple[str, bool]:
    """What is shown of a record without a choice, and whether the model answered: scores that tie are an answer."""
    return ("none: a tie", True) if record["status"] == "scores" else ("none", False)


def _outcome(right: bool, answered: bool = True, otherwise: str = WRONG) -> str:
    return NO_ANSWER if not answered else RIGHT if right else otherwise


# --- V-FLUTE and FLUTE -----------------------------------------------------------------------------------------------


def _entailment(task: TaskRun, records: Sequence[Record], document: Document) -> Card:
    record = records[0]
    known = document or record  # the blind rows of FLUTE hold their texts themselves
    pictures = [{"name": record["id"], "label": "", "role": ""}] if task.benchmark == "vflute" else []
    return {
        "source": record.get("report_group", ""),
        "facts": [(name, known.get(name)) for name in ("claim", "premise", "hypothesis", "phenomenon")],
        "gold": [("label", _ENTAILMENT[record["gold"]])] if "gold" in record else [],
        "reference": clip(record.get("reference", "")),
        "pictures": pictures,
    }


def _entailment_answer(records: Sequence[Record]) -> Answer:
    record = records[0]
    predicted, strict = record["predicted"], record["predicted_strict"]
    scores = {name: value for name, value in record.get("explanation_scores", {}).items() if name != "scorer"}
    made: Answer = {
        "predicted": _ENTAILMENT.get(predicted, "none"),
        "outcome": _outcome(
            predicted == record.get("gold"), predicted is not None, WRONG if "gold" in record else OPEN
        ),
        "explanation": clip(record["explanation"] or ""),
        "said": [("a careful reader sees", _ENTAILMENT.get(strict, "no label"))] if strict != predicted else [],
    }
    return made | ({"score": float(scores["mean"]), "scores": scores} if "mean" in scores else {})


# --- IRFL ------------------------------------------------------------------------------------------------------------


def _irfl(task: TaskRun, records: Sequence[Record], document: Document) -> Card:
    record = records[0]
    if "positive" in record:
        shown = [(each["uuid"], str(place), each["role"], each["positive"]) for place, each in enumerate(records, 1)]
        gold: list[tuple[str, Any]] = [("right images", f"{sum(each[3] for each in shown)} of {len(shown)}")]
    else:
        each = zip(record["candidates"], record["roles"], strict=True)
        shown = [(uuid, _LETTERS[place], role, place == record["answer"]) for place, (uuid, role) in enumerate(each)]
        gold = [("image", _LETTERS[record["answer"]])]
    known = document or {}
    table = task.data.part
    kind = next((kind for kind in ("idiom", "metaphor", "simile") if kind in table.split("-")), table)
    return {
        "source": f"{kind}, {record['type'].replace('_', ' + ')}",
        "facts": [("phrase", known.get("phrase")), ("meaning", "; ".join(known.get("definitions") or []))],
        "gold": gold,
        "pictures": [
            {"name": uuid, "label": label, "role": role} | ({"right": True} if right else {})
            for uuid, label, role, right in shown
        ],
    }


def _irfl_answer(records: Sequence[Record]) -> Answer:
    from figlang_tasks.metrics.ranking import precision_at_k

    record = records[0]
    if "positive" in record:
        values, positives = [float(each["value"]) for each in records], [bool(each["positive"]) for each in records]
        whole = len(records) == record["images"] and any(positives)
        reached = precision_at_k(values, positives) if whole else None
        found: Answer = {"score": reached} if reached is not None else {}
        return found | {
            "predicted": "row cut by a limit" if reached is None else f"p@k {100 * reached:.0f} %",
            "outcome": OPEN if reached is None else _outcome(reached == 1),
            "values": values,
            "ranked": True,
        }
    chosen = record["chosen"]
    found = {"values": record["scores"]} if record["scores"] else {}
    predicted, answered = (
        _no_choice(record) if chosen is None else (f"{_LETTERS[chosen]}: {record['roles'][chosen]}", True)
    )
    return found | {
        "predicted": predicted,
        "outcome": _outcome(chosen == record["answer"], answered),
        "chosen": chosen,
    }


# --- NYK-MS ----------------------------------------------------------------------------------------------------------


def _nykms(task: TaskRun, records: Sequence[Record], document: Document) -> Card:
    record, known = records[0], document or {}
    shown = record["modality"] == "image"
    return {
        "source": "metaphor" if any(name.startswith("M") for name in record["gold"]) else "sarcasm",
        "facts": [("caption", known.get("caption")), ("cartoon", known.get("description"))],
        "gold": [(_NYKMS[name], _YES.get(value, value)) for name, value in record["gold"].items()],
        "pictures": [{"name": record["id"], "label": "", "role": ""}] if shown else [],
    }


def _nykms_answer(records: Sequence[Record]) -> Answer:
    record = records[0]
    fields = list(record["predicted"].items())
    name, value = fields[0]
    if isinstance(value, int):
        outcome = _outcome(value == record["gold"][name], record["status"] == "answered")
    else:
        is_match = record["words"].get(name, {}).get("em") == 1
        outcome = _outcome(is_match, record["status"] == "answered", OPEN)
    scores = {
        f"{_NYKMS[each]}, BLEU-4": float(record["words"][each]["bleu4"])
        for each, _ in fields
        if each in record["words"]
    }
    return {
        "predicted": _YES.get(value, value) if value != "" else "nothing",
        "outcome": outcome,
        "said": [(_NYKMS[each], _YES.get(text, text)) for each, text in fields],
        **({"scores": scores, "score": [*scores.values()][-1]} if scores else {}),
    }


# --- MetaCLUE --------------------------------------------------------------------------------------------------------


def _metaclue(task: TaskRun, records: Sequence[Record], document: Document) -> Card:
    record, known = records[0], document or {}
    facts, gold, source = [], [], ""
    if "gold" in record:
        source = "metaphor" if record["gold"] else "no metaphor"
        gold = [("metaphor?", _YES[record["gold"]])]
    elif "chosen_text" in record:
        facts = [("candidates", record["candidates"])]
        gold = [("statement", record["answer_text"])]
    elif "question" in record:
        source = record["role"]
        facts = [("question", record["question"])]
        gold = [("right answers", "\n".join(record["references"]))]
    elif "truth" in record:
        source = record["role"]
        facts = [("concept", record["concept"])]
        gold = [("boxes", ", ".join(f"{kind} {_box(box)}" for box, kind in zip(*_truth(record), strict=True)))]
    elif "caption" in record:
        gold = [("statements", "\n".join(known.get("references") or []))]
    else:
        facts = [("asked for", record["prompt"])]
    return {
        "source": source,
        "facts": facts,
        "gold": gold,
        "pictures": [{"name": record["id"].partition("#")[0], "label": "", "role": ""}],
        **({"boxes": record["truth"]} if "truth" in record else {}),
    }


def _metaclue_answer(records: Sequence[Record]) -> Answer:
    record = records[0]
    if "gold" in record:
        predicted = record["predicted"]
        return {
            "predicted": _YES.get(predicted, "none"),
            "outcome": _outcome(predicted == record["gold"], predicted is not None),
        }
    if "chosen_text" in record:
        chosen, rank = record["chosen"], record["rank"]
        predicted, answered = _no_choice(record) if chosen is None else (record["chosen_text"], True)
        return {
            "predicted": predicted,
            "outcome": _outcome(chosen == record["answer"], answered),
            "said": [("rank of the right one", rank)],
        }
    if "question" in record:
        words = record["answer"]
        return {"predicted": words or "nothing", "outcome": _outcome(record["em"], bool(words), OPEN)}
    if "truth" in record:
        boxes = record["predicted"]
        listed = ", ".join(map(_box, boxes))
        return {
            "predicted": f"{len(boxes)} box{'es' * (len(boxes) != 1)}",
            "outcome": OPEN if boxes else NO_ANSWER,
            "said": [("boxes", listed), ("left out", record["dropped"] or "")],
            "boxes": boxes,
        }
    if "caption" in record:
        words = record["caption"]
        parts = [(part, record[part]) for part in ("primary", "relationship", "secondary")]
        return {"predicted": words or "nothing", "outcome": _outcome(record["em"], bool(words), OPEN), "said": parts}
    return {"predicted": record["file"] or "no picture", "outcome": OPEN if record["file"] else NO_ANSWER}


def _truth(record: Record) -> tuple[Sequence[Sequence[float]], Sequence[str]]:
    return record["truth"], record["types"]


def _box(edges: Sequence[float]) -> str:
    left, top, right, bottom = edges
    return f"({left:.0f}, {top:.0f}) to ({right:.0f}, {bottom:.0f})"


# --- a benchmark that has nothing of its own here ---------------------------------------------------------------------


def _any(task: TaskRun, records: Sequence[Record], document: Document) -> Card:
    """The texts of the row."""
    record = records[0]
    texts = [(name, text) for name, text in (document or {}).items() if isinstance(text, str)]
    return {
        "facts": [(name, text) for name, text in texts if name not in ("id", "data")],
        "gold": [("gold", record["gold"])] if "gold" in record else [],
        "pictures": [{"name": record["id"], "label": "", "role": ""}],
    }


def _any_answer(records: Sequence[Record]) -> Answer:
    record = records[0]
    predicted = record.get("predicted")
    return {
        "predicted": "none" if predicted is None else predicted,
        "outcome": _outcome(
            predicted == record.get("gold"), predicted is not None, WRONG if "gold" in record else OPEN
        ),
    }


_DESCRIBE = {"vflute": _entailment, "flute": _entailment, "irfl": _irfl, "nykms": _nykms, "metaclue": _metaclue}
_ANSWER = {
    "vflute": _entailment_answer,
    "flute": _entailment_answer,
    "irfl": _irfl_answer,
    "nykms": _nykms_answer,
    "metaclue": _metaclue_answer,
}
