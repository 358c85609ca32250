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

    samples: list[str] = []
    documents = BENCHMARK.documents(Request.of("figlang_mini", split="test"), check_images=True)
    for number, doc in enumerate(documents):
        record = process_results(doc, [answer(doc)])["sample"]
        score = scores(number)
        if score is not None:
            record["explanation_scores"] = {"scorer": "embedded", "bertscore": score, "mean": score}
        samples.append(json.dumps({"doc_id": number, "target": doc["claim"], "sample": record}))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(samples) + "\n", encoding="utf-8")
    return path


def key_of(
    systems: Sequence[str],
    gold: Sequence[int],
    scores: Sequence[Sequence[float | None]] | None = None,
) -> dict[str, Any]:
    """A key with one item for each gold label; letters turn from item to item.

    Args:
        systems: the names of the systems.
        gold: the gold label of each item.
        scores: the ExplanationScores of each item, in the order of the systems.
    """
    items: list[dict[str, Any]] = []
    for number, label in enumerate(gold, start=1):
        turn = number % len(systems)
        order = [*range(turn, len(systems)), *range(turn)]
        system_of_letter: dict[str, str] = {}
        score_of_letter: dict[str, float | None] = {}
        for letter, index in zip(sheet.LETTERS, order, strict=False):
            system_of_letter[letter] = systems[index]
            score_of_letter[letter] = scores[number - 1][index] if scores else None
        items.append(
            {
                "number": number,
                "id": f"muse-test-{number}",
                "gold": label,
                "systems": system_of_letter,
                "scores": score_of_letter,
            }
        )
    return key.sign(
        benchmark="vflute",
        data="V-FLUTE/test:0123456789ab",
        scorer="embedded" if scores else None,
        seed=0,
        systems=list(systems),
        items=items,
    )


def save_key(folder: Path, content: Mapping[str, Any]) -> Path:
    """Write a key into a folder."""
    path = folder / "sheet.key.json"
    path.write_text(json.dumps(content))
    return path


def no_preference(item: Item) -> str:
    """An empty cell: nobody is asked which explanation is best."""
    return ""


def sheet_of(
    key_content: Mapping[str, Any],
    annotator: str,
    label: Callable[[Item], str],
    judgement: Callable[[Item, str], tuple[str, str]],
    preferred: Callable[[Item], str] = no_preference,
) -> list[dict[str, str]]:
    """The rows of a filled sheet.

    Args:
        key_content: the key of the export.
        annotator: the name of the annotator.
        label: the cell `label` of an item.
        judgement: the cells `adequate` and `error` of an item and the name of a system.
        preferred: the name of the best system of an item, or the cell `preferred` as it is.
    """
    rows: list[dict[str, str]] = []
    for item in key_content["items"]:
        letter_of_system = {system: letter for letter, system in item["systems"].items()}
        for letter, system in item["systems"].items():
            row = dict.fromkeys(sheet.COLUMNS, "")
            row["item"] = str(item["number"])
            row["letter"] = letter
            row["sheet"] = key_content["sheet"]
            row["adequate"], row["error"] = judgement(item, system)
            row["annotator"] = annotator
            row["explanation"] = f"= {system}?"
            if letter == "A":
                best = preferred(item)
                row["label"] = label(item)
                row["preferred"] = letter_of_system.get(best, best)
            rows.append(row)
    return rows


def save_sheet(path: Path, rows: Sequence[Cells], columns: Sequence[str] = sheet.COLUMNS) -> Path:
    """Write the rows of a sheet into a file."""
    path.write_bytes(sheet.csv_bytes(columns, rows))
    return path


def right_label(item: Item) -> str:
    """The gold label of an item as an annotator writes it."""
    return ("contradiction", "entailment")[item["gold"]]


def kappa(first: list[Any], second: list[Any]) -> Any:
    """Cohen's kappa by its definition, to compare with; None where it is undefined."""
    if not first:
        return None
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    by_chance = sum(first.count(label) * second.count(label) for label in {*first}) / n**2
    if by_chance == 1:
        return None
    return pytest.approx((observed - by_chance) / (1 - by_chance), abs=1e-12)
