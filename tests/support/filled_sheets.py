"""Keys and sheets for the tests: of runs on our mini benchmarks, and filled in by the test."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks.core.request import Request
from figlang_tasks.judge import key, sheet

Item = Mapping[str, Any]
Cells = Mapping[str, str]


def save_run(
    path: Path, answer: Callable[[Mapping[str, Any]], str], scores: Callable[[int], float | None]
) -> Path:
    """A samples file of figlang_mini: every document judged by the task's own function."""
    from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
    from figlang_tasks.scoring import process_results

    lines = []
    documents = BENCHMARK.documents(Request.of("figlang_mini", split="test"), check_images=True)
    for number, doc in enumerate(documents):
        record = process_results(doc, [answer(doc)])["sample"]
        if (score := scores(number)) is not None:
            record["explanation_scores"] = {"scorer": "embedded", "bertscore": score, "mean": score}
        lines.append(
            json.dumps({"doc_id": number, "target": doc["claim"], "sample": record}) + "\n"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def key_of(
    systems: Sequence[str],
    gold: Sequence[int],
    scores: Sequence[Sequence[float | None]] | None = None,
) -> dict[str, Any]:
    """A key with one item for each gold label; letters turn from item to item."""
    items = []
    for number, label in enumerate(gold, start=1):
        turn = number % len(systems)
        order = dict(zip(sheet.LETTERS, [*range(turn, len(systems)), *range(turn)], strict=False))
        items.append(
            {
                "number": number,
                "id": f"muse-test-{number}",
                "gold": label,
                "systems": {letter: systems[index] for letter, index in order.items()},
                "scores": {
                    letter: scores and scores[number - 1][index] for letter, index in order.items()
                },
            }
        )
    about = {
        "benchmark": "vflute",
        "data": "V-FLUTE/test:0123456789ab",
        "scorer": "embedded" if scores else None,
    }
    return key.sign(**about, seed=0, systems=list(systems), items=items)


def save_key(folder: Path, made: Mapping[str, Any]) -> Path:
    path = folder / "sheet.key.json"
    path.write_text(json.dumps(made))
    return path


def sheet_of(
    made: Mapping[str, Any],
    annotator: str,
    label: Callable[[Item], str],
    judgement: Callable[[Item, str], tuple[str, str]],
    preferred: Callable[[Item], str] = lambda item: "",
) -> list[dict[str, str]]:
    """Rows of a filled sheet: `judgement` gives the cells `adequate` and `error` of an item and the
    name of a system, `preferred` the name of the best system, or a cell as it is."""
    rows = []
    for item in made["items"]:
        by_name = {name: letter for letter, name in item["systems"].items()}
        for letter, name in item["systems"].items():
            adequate, error = judgement(item, name)
            row = dict.fromkeys(sheet.COLUMNS, "") | {
                "item": str(item["number"]),
                "letter": letter,
                "sheet": made["sheet"],
            }
            row |= {
                "adequate": adequate,
                "error": error,
                "annotator": annotator,
                "explanation": f"= {name}?",
            }
            if letter == "A":
                row |= {
                    "label": label(item),
                    "preferred": by_name.get(preferred(item), preferred(item)),
                }
            rows.append(row)
    return rows


def save_sheet(path: Path, rows: Sequence[Cells], columns: Sequence[str] = sheet.COLUMNS) -> Path:
    path.write_bytes(sheet.csv_bytes(columns, rows))
    return path


def right_label(item: Item) -> str:
    return ("contradiction", "entailment")[item["gold"]]


def kappa(first: list[Any], second: list[Any]) -> Any:
    """Cohen's kappa by its definition, to compare with; None where it is undefined."""
    n = len(first) or 1
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    by_chance = sum(first.count(label) * second.count(label) for label in {*first}) / n**2
    return (
        None
        if not first or by_chance == 1
        else pytest.approx((observed - by_chance) / (1 - by_chance), abs=1e-12)
    )
