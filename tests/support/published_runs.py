"""Runs on all 723 rows of V-FLUTE's test split, with invented texts: as many rows of each kind as
were published.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import huggingface_hub
from flute_rows import VFluteRow
from sklearn.metrics import f1_score

from figlang_tasks.benchmarks.vflute.tasks import VFLUTE
from figlang_tasks.scoring import Estimate, evaluate, to_json

WRITES_EVAL_RESULTS = hasattr(huggingface_hub, "parse_eval_result_entries")
"""Whether this huggingface_hub writes .eval_results: that of transformers 4 does not."""
NAME = "2026-01-02T03-04-05_samples_vflute.jsonl"
DATA = "V-FLUTE/test:0123456789ab"
REQUEST = "V-FLUTE,split=test"
# Table 3 of the paper: its group of a source and phenomenon; entailment and contradiction.
KINDS = {
    ("vismet", "metaphor"): ("vismet", 44, 57),
    ("irfl", "metaphor"): ("irfl_metaphor_simile", 59, 61),
    ("irfl", "idiom"): ("irfl_idiom", 51, 49),
    ("muse", "sarcasm"): ("muse", 53, 53),
    ("memecap", "humor"): ("memecap", 98, 98),
    ("nycartoons", "humor"): ("nycartoons", 100, 0),
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
        for (source, phenomenon), (_, *counts) in KINDS.items()
        for label, count in zip(("entailment", "contradiction"), counts, strict=True)
        for _ in range(count)
    ]
    random.Random(7).shuffle(kinds)
    return [
        VFluteRow(
            f"{source}-test-{number}",
            f"Claim {number}.",
            label,
            MEANINGS[number % 4],
            phenomenon,
            source,
        )
        for number, (source, phenomenon, label) in enumerate(kinds)
    ]


def _record(row: VFluteRow, number: int) -> dict[str, Any]:
    """What a task judged of a row: of four, two are right, one wrong, and one right without a
    word.
    """
    gold = int(row.label == "entailment")
    return {
        "task": "vflute",
        "request": REQUEST,
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
        "report_group": KINDS[row.source_dataset, row.phenomenon][0],
        "reference": row.explanation,
        "unit": row.claim,
    }


def records() -> list[dict[str, Any]]:
    return [_record(row, number) for number, row in enumerate(rows())]


def macro_f1(found: Sequence[dict[str, Any]]) -> float:
    """Macro F1 of the labels."""
    gold, predicted = ([each[name] for each in found] for name in ("gold", "predicted"))
    return float(f1_score(gold, predicted, average="macro"))


def write_run(
    folder: Path, found: Sequence[dict[str, Any]], results: dict[str, Any] | None = None
) -> Path:
    """Write the samples file of those records, and a results file where there is one; return the
    folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        {"doc_id": number, "target": "", "filtered_resps": "", "input": "Why?", "sample": each}
        for number, each in enumerate(found)
    ]
    (folder / NAME).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    if results is not None:
        (folder / NAME.replace("samples_vflute.jsonl", "results.json")).write_text(
            json.dumps(results)
        )
    return folder


@lru_cache(maxsize=1)
def whole_estimates() -> Mapping[str, Mapping[str, Estimate]]:
    """What a run reports of `records`; its values are checked against scikit-learn and counts."""
    estimates = estimates_of(records())
    in_muse = [record for record in records() if record["report_group"] == "muse"]
    assert math.isclose(estimates["f1@0"]["all"].value, macro_f1(records()))
    assert math.isclose(estimates["f1@0"]["muse"].value, macro_f1(in_muse))
    assert math.isclose(estimates["acc"]["all"].value, 542 / 723)  # 181 of the records are wrong
    return estimates


def estimates_of(found: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, Estimate]]:
    return evaluate(found, VFLUTE.measures)


def results(
    changed_values: Mapping[str, float] | None = None,
    estimates: Mapping[str, Mapping[str, Estimate]] | None = None,
    **changed: Any,
) -> dict[str, Any]:
    """A results file; `changed_values` are values of all rows that the records do not give, or not
    all of them.
    """
    measures = {name: dict(scopes) for name, scopes in (estimates or whole_estimates()).items()}
    for name, value in (changed_values or {}).items():
        measures.setdefault(name, {"all": Estimate(value)})
        measures[name]["all"] = measures[name]["all"]._replace(value=value)
    return {
        "configs": {
            "vflute": {
                "generation_kwargs": {
                    "max_new_tokens": 256,
                    "temperature": 0,
                    "top_p": None,
                    "num_beams": 3,
                },
                "metadata": {
                    "version": "1-0",
                    "prompt_hash": "5b1910affe97",
                    "versions": {"lmms-eval": "0.7.3"},
                    "measures": to_json(measures),
                },
            }
        },
        "config": {
            "model": "llava_hf",
            "model_args": "pretrained=org/model,api_key=hf_secret",
            "batch_size": 1,
            "resolved_cli_args": {"timezone": "Asia/Singapore"},
        },
        "n-samples": {"vflute": {"original": 723, "effective": 723}},
        "model_name": "org/model",
        "date": "20261122_033916",
        **changed,
    }
