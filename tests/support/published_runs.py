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
    kinds: list[tuple[str, str, str]] = []
    for (source, phenomenon), (_, entailments, contradictions) in KINDS.items():
        kinds += [(source, phenomenon, "entailment")] * entailments
        kinds += [(source, phenomenon, "contradiction")] * contradictions
    random.Random(7).shuffle(kinds)
    rows_of_split: list[VFluteRow] = []
    for number, (source, phenomenon, label) in enumerate(kinds):
        meaning = MEANINGS[number % 4]
        row = VFluteRow(
            f"{source}-test-{number}", f"Claim {number}.", label, meaning, phenomenon, source
        )
        rows_of_split.append(row)
    return rows_of_split


def _record(row: VFluteRow, number: int) -> dict[str, Any]:
    """The record of an answer to a row: a wrong label in every fourth row, from the third.

    The explanation is that of the row, another one, its beginning or empty, in groups of four rows.
    """
    gold = int(row.label == "entailment")
    has_wrong_label = number % 4 == 2
    explanations = (
        row.explanation,
        "A kettle, I think.",
        f"{row.explanation[:14]}, a thing that somebody put there.",
        "",
    )
    report_group, *_ = KINDS[row.source_dataset, row.phenomenon]
    return {
        "task": "vflute",
        "request": REQUEST,
        "id": row.id,
        "data": DATA,
        "gold": gold,
        "predicted": 1 - gold if has_wrong_label else gold,
        "explanation": explanations[(number // 4) % 4],
        "status": "read",
        "rule": "marker-entail",
        "predicted_strict": gold,
        "report_group": report_group,
        "reference": row.explanation,
        "unit": row.claim,
    }


def records() -> list[dict[str, Any]]:
    """The records of a run on all rows, without explanation scores."""
    return [_record(row, number) for number, row in enumerate(rows())]


def macro_f1(judged_records: Sequence[dict[str, Any]]) -> float:
    """Macro F1 of the predicted labels, by scikit-learn."""
    gold = [record["gold"] for record in judged_records]
    predicted = [record["predicted"] for record in judged_records]
    return float(f1_score(gold, predicted, average="macro"))


def write_run(
    folder: Path,
    saved_records: Sequence[dict[str, Any]],
    results: dict[str, Any] | None = None,
) -> Path:
    """Write the samples file of a run, and its results file if there is one; return the folder.

    Args:
        folder: where the files are written.
        saved_records: the records of the samples file.
        results: the content of the results file; None if the run has none.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / NAME).open("w", encoding="utf-8") as file:
        for number, record in enumerate(saved_records):
            line = {"doc_id": number, "target": "", "filtered_resps": "", "input": "Why?"}
            file.write(json.dumps({**line, "sample": record}) + "\n")
    if results is not None:
        results_name = NAME.replace("samples_vflute.jsonl", "results.json")
        (folder / results_name).write_text(json.dumps(results))
    return folder


@lru_cache(maxsize=1)
def whole_estimates() -> Mapping[str, Mapping[str, Estimate]]:
    """The estimates of a run with `records`, checked here against scikit-learn and counts."""
    estimates = estimates_of(records())
    in_muse = [record for record in records() if record["report_group"] == "muse"]
    assert math.isclose(estimates["f1@0"]["all"].value, macro_f1(records()))
    assert math.isclose(estimates["f1@0"]["muse"].value, macro_f1(in_muse))
    assert math.isclose(estimates["acc"]["all"].value, 542 / 723)  # 181 of the records are wrong
    return estimates


def estimates_of(
    judged_records: Sequence[Mapping[str, Any]],
) -> Mapping[str, Mapping[str, Estimate]]:
    """The estimates of records, by metric and scope."""
    return evaluate(judged_records, VFLUTE.measures)


def results(
    changed_values: Mapping[str, float] | None = None,
    estimates: Mapping[str, Mapping[str, Estimate]] | None = None,
    **changed: Any,
) -> dict[str, Any]:
    """The content of a results file.

    Args:
        changed_values: values over all rows, by metric, in place of those of `estimates`.
        estimates: of the run, by metric and scope; by default those of `records`.
        changed: other entries of the file.
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
