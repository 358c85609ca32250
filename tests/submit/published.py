"""Runs on all 723 rows of V-FLUTE's test split, with invented texts: as many rows of each kind as were published."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import huggingface_hub
from vflute_hub import VFluteRow

WRITES_EVAL_RESULTS = hasattr(huggingface_hub, "parse_eval_result_entries")
"""Whether this huggingface_hub writes .eval_results: that of transformers 4 does not."""
NAME = "2026-01-02T03-04-05_samples_vflute.jsonl"
DATA = "V-FLUTE/test:0123456789ab"
# Table 3 of the paper; entailment and contradiction.
KINDS = {
    ("vismet", "metaphor", "vismet"): (44, 57),
    ("irfl", "metaphor", "irfl_metaphor_simile"): (59, 61),
    ("irfl", "idiom", "irfl_idiom"): (51, 49),
    ("muse", "sarcasm", "muse"): (53, 53),
    ("memecap", "humor", "memecap"): (98, 98),
    ("nycartoons", "humor", "nycartoons"): (100, 0),
}
MEANINGS = (
    "The lawyer is shown with fins, which calls him a shark.",
    "The snail stands for an office that works slowly.",
    "The picture shows a party, so nobody is bored.",
    "A locked door means that nobody gets through.",
)


def rows() -> list[VFluteRow]:
    """The rows of the split in its order, as on the hub."""
    kinds = [
        (source, phenomenon, label)
        for (source, phenomenon, _), counts in KINDS.items()
        for label, count in zip(("entailment", "contradiction"), counts, strict=True)
        for _ in range(count)
    ]
    random.Random(7).shuffle(kinds)
    return [
        VFluteRow(f"{source}-test-{number}", f"Claim {number}.", label, MEANINGS[number % 4], phenomenon, source)
        for number, (source, phenomenon, label) in enumerate(kinds)
    ]


def record(row: VFluteRow, number: int) -> dict[str, Any]:
    """What a task judged of a row: of four, two are right, one wrong, and one right without a word."""
    gold = int(row.label == "entailment")
    return {
        "id": row.id,
        "data": DATA,
        "gold": gold,
        "predicted": 1 - gold if number % 4 == 2 else gold,
        "explanation": (
            row.explanation,
            "A kettle, I think.",
            f"{row.explanation[:14]}, a thing that somebody put there.",
            "",
        )[(number // 4) % 4],
        "status": "read",
        "rule": "marker-entail",
        "predicted_strict": gold,
        "report_group": next(group for kind, group in groups().items() if kind == (row.source_dataset, row.phenomenon)),
        "reference": row.explanation,
        "unit": row.claim,
    }


def groups() -> dict[tuple[str, str], str]:
    return {(source, phenomenon): group for source, phenomenon, group in KINDS}


def records() -> list[dict[str, Any]]:
    return [record(row, number) for number, row in enumerate(rows())]


def macro_f1(found: Sequence[dict[str, Any]]) -> float:
    """Macro F1 of the labels: the mean of 2 TP / (2 TP + FP + FN) of the two classes."""
    of_class = []
    for label in (0, 1):
        right = sum(each["gold"] == each["predicted"] == label for each in found)
        wrong = sum(each["gold"] != each["predicted"] for each in found)  # FP of one class are FN of the other
        of_class.append(2 * right / (2 * right + wrong))
    return sum(of_class) / 2


def write_run(folder: Path, found: Sequence[dict[str, Any]], results: dict[str, Any] | None = None) -> Path:
    """Write the samples file of those records, and a results file where there is one; return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"doc_id": number, "target": "", "filtered_resps": "", "input": "Why?", "sample": each}
        for number, each in enumerate(found)
    ]
    (folder / NAME).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    if results is not None:
        (folder / NAME.replace("samples_vflute.jsonl", "results.json")).write_text(json.dumps(results))
    return folder
