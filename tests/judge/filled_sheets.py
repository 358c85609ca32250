"""Keys and sheets for the tests: of runs on our mini benchmarks, and filled in by the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.judge import sheet
from figlang_tasks.judge.key import Item, Key, PictureKey, System

Cells = Mapping[str, str]


def save_run(path: Path, answer: Callable[[Mapping[str, Any]], str], scores: Callable[[int], float | None]) -> Path:
    """A samples file of figlang_mini: every document judged by the task's own function."""
    from figlang_tasks.benchmarks.vflute import rows, task

    lines = []
    for number, doc in enumerate(rows.load("figlang_mini", "test")):
        record = task.process_results(doc, [answer(doc)])["sample"]
        if (score := scores(number)) is not None:
            record["explanation_scores"] = {"scorer": "embedded", "bertscore": score, "mean": score}
        lines.append(json.dumps({"doc_id": number, "target": doc["claim"], "sample": record}) + "\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def key_of(systems: Sequence[str], gold: Sequence[int], scores: Sequence[Sequence[float | None]] | None = None) -> Key:
    """A key with one item for each gold label; letters turn from item to item."""
    items = []
    for number, label in enumerate(gold, start=1):
        turn = number % len(systems)
        order = [*range(turn, len(systems)), *range(turn)]
        letters = sheet.LETTERS[: len(systems)]
        items.append(
            Item(
                number,
                f"muse-test-{number}",
                label,
                "muse",
                {letter: systems[index] for letter, index in zip(letters, order, strict=True)},
                {
                    letter: None if scores is None else scores[number - 1][index]
                    for letter, index in zip(letters, order, strict=True)
                },
            )
        )
    scorer = None if scores is None else "embedded"
    made = tuple(System(name, "vflute", f"{name}.jsonl", "00", scorer, None) for name in systems)
    return Key("vflute", "V-FLUTE/test:0123456789ab", 0, made, tuple(items))


def save_key(folder: Path, key: Key | PictureKey) -> Path:
    path = folder / "sheet.key.json"
    path.write_bytes(key.content())
    return path


def sheet_of(
    key: Key,
    annotator: str,
    label: Callable[[Item], str],
    judgement: Callable[[Item, str], tuple[str, str]],
    preferred: Callable[[Item], str] = lambda item: "",
) -> list[dict[str, str]]:
    """Rows of a filled sheet.

    Args:
        key: of the export.
        annotator: the name in it.
        label: cell of each item, in its first row.
        judgement: cells `adequate` and `error` of an item and the name of a system.
        preferred: name of the system that is best, or a cell as it is.
    """
    rows = []
    for item in key.items:
        by_name = {name: letter for letter, name in item.systems.items()}
        for letter, name in item.systems.items():
            adequate, error = judgement(item, name)
            row = dict.fromkeys(sheet.COLUMNS, "") | {"item": str(item.number), "letter": letter, "sheet": key.code}
            row |= {"adequate": adequate, "error": error, "annotator": annotator, "explanation": f"= {name}?"}
            if letter == "A":
                row |= {"label": label(item), "preferred": by_name.get(preferred(item), preferred(item))}
            rows.append(row)
    return rows


def save_sheet(path: Path, rows: Sequence[Cells], columns: Sequence[str] = sheet.COLUMNS) -> Path:
    path.write_bytes(sheet.content_of(columns, rows))
    return path


def right_label(item: Item) -> str:
    return ("contradiction", "entailment")[item.gold]
