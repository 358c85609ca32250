"""A measure of AdMIRe is not the official scorer's, or counts what is no ranking, if this fails."""

from __future__ import annotations

import csv
import json
import math
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import dcg_score
from tasks_without_harness import measures_of

from figlang_tasks.benchmarks.admire import measures, rows
from figlang_tasks.benchmarks.admire.benchmark import BENCHMARK
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import OVERALL, Measures, evaluate, process_results

NAMES = ("07.png", "12.png", "3.png", "41.png", "5.png")
ORDERS = st.permutations(NAMES)


def table_of(path: Path) -> dict[str, dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["compound"]: row for row in csv.DictReader(file, delimiter="\t")}


def request_for(table: str) -> str:
    return f"AdMIRe,table={table},shown=pictures"


@pytest.mark.parametrize(
    ("table", "task", "expected"),
    [
        ("en_test", "admire_rank", measures.RANK),
        ("pt_both", "admire_rank_both", measures.RANK_BOTH),
        ("sequence_dev", "admire_sequence", measures.SEQUENCE),
        ("sequence_both", "admire_sequence_both", measures.SEQUENCE_BOTH),
    ],
)
def test_the_table_decides_the_kind_of_task(table: str, task: str, expected: Measures) -> None:
    kind = BENCHMARK.task_for(Request.of("AdMIRe", table=table, shown="pictures"))
    assert (kind.name, kind.measures) == (task, expected)


def document(kind: str, row: dict[str, str]) -> dict[str, Any]:
    """What the loader makes of a row of the official targets, which have no captions."""
    names = (
        sorted(rows.QUOTED_NAME.findall(row["expected_order"])) if "expected_order" in row else []
    )
    cells = row | {f"image{number}_name": name for number, name in enumerate(names, 1)}
    found = rows.document_of(cells, f"{kind}_test", "pictures", "")
    known = {"request": request_for(f"{kind}_test"), "data": f"AdMIRe/{kind}_test:0"}
    return found | known | {"id": row["compound"], "paths": names}


@pytest.mark.parametrize(
    "shared_file", ["data/admire/official_sample/a_scores_test_phase.json"], indirect=True
)
def test_rankings_score_as_the_official_scorer_scored_its_own_samples(shared_file: Path) -> None:
    official = json.loads(shared_file.read_text())
    for board, kind in (("en", "en"), ("xe", "en"), ("pt", "pt"), ("xp", "pt")):
        targets = table_of(shared_file.parents[1] / "targets" / f"a_{board}_test_targets.tsv")
        handed_in = table_of(shared_file.with_name(f"a_submission_{board}.tsv"))
        records = []
        for compound, row in targets.items():
            doc = document(kind, row)
            order = rows.QUOTED_NAME.findall(handed_in[compound]["expected_order"])
            answer = " > ".join(rows.LETTERS[doc["names"].index(name)] for name in order)
            records.append(process_results(doc, [answer])["sample"])
            assert records[-1]["predicted"] == order
        found = evaluate(records, measures.RANK, 0)
        for ours, theirs in (("acc", "acc"), ("dcg", "dcg"), ("file_name_correlation", "corr")):
            for scope, suffix in ((OVERALL, "all"), ("idiomatic", "id"), ("literal", "lit")):
                expected = official[f"{theirs}_{suffix}_{board}"]
                assert found[ours][scope].value == pytest.approx(expected, rel=1e-15, abs=1e-15), (
                    board,
                    ours,
                    scope,
                )


@pytest.mark.parametrize(
    "shared_file", ["data/admire/official_sample/b_scores_train_phase.json"], indirect=True
)
def test_sequences_score_as_the_official_scorer_scored_its_own_samples(shared_file: Path) -> None:
    official = json.loads(shared_file.read_text())
    targets = table_of(shared_file.parents[1] / "targets" / "b_en_train_targets.tsv")
    candidates = table_of(shared_file.parents[1] / "subtask_b_en_train.tsv")
    handed_in = table_of(shared_file.with_name("b_submission_en_train.tsv"))
    records = []
    for compound, row in targets.items():
        doc = document("sequence", candidates[compound] | row)
        given = handed_in[compound]
        answer = (
            f"Image: {rows.LETTERS[doc['names'].index(given['expected_item'])]}\nSense:"
            f" {given['sentence_type']}"
        )
        records.append(process_results(doc, [answer])["sample"])
    found = evaluate(records, measures.SEQUENCE, 0)
    for ours, theirs in (("item_acc", "item"), ("sense_acc", "sent")):
        for scope, suffix in ((OVERALL, "all"), ("idiomatic", "id"), ("literal", "lit")):
            assert found[ours][scope].value == official[f"{theirs}_{suffix}_en"], (ours, scope)


@given(ORDERS, ORDERS)
def test_scores_of_an_order_are_those_of_other_libraries(
    gold: list[str], predicted: list[str]
) -> None:
    gain = [measures.WEIGHTS[gold.index(name)] for name in NAMES]
    place = [-predicted.index(name) for name in NAMES]
    assert measures.dcg(gold, predicted) == pytest.approx(dcg_score([gain], [place]), rel=1e-12)
    ranks = [[order.index(name) for name in NAMES] for order in (gold, predicted)]
    assert measures.rank_correlation(gold, predicted) == pytest.approx(
        spearmanr(*ranks).statistic, abs=1e-12
    )
    # The organisers' program ranks the names themselves, in alphabetical order.
    as_official = spearmanr(
        *(np.unique(order, return_inverse=True)[1] for order in (gold, predicted))
    ).statistic
    assert measures.file_name_correlation(gold, predicted) == pytest.approx(as_official, abs=1e-12)


def test_bounds_and_chance_of_the_dcg() -> None:
    every = [measures.dcg(NAMES, order) for order in permutations(NAMES)]
    # neighbours.md, section 3.3: computed with the official scorer.
    assert [round(value, 5) for value in (max(every), min(every))] == [3.63093, 1.59123]
    assert math.fsum(every) / len(every) == pytest.approx(2.35877, abs=5e-6)
    assert (
        min(measures.dcg(NAMES, order) for order in permutations(NAMES) if order[0] == NAMES[0])
        > 3.38684
    )
    assert measures.dcg(NAMES, None) == 0


def record(compound: str, sense: str, right: bool | None) -> dict[str, Any]:
    predicted = None if right is None else list(NAMES if right else NAMES[::-1])
    status = "unreadable" if right is None else "read"
    found = {
        "id": f"{compound}-{sense}",
        "unit": compound,
        "sense": sense,
        "gold": list(NAMES),
        "predicted": predicted,
    }
    found |= {
        "task": "admire_rank_both",
        "request": request_for("en_both"),
        "data": "AdMIRe/en_both:0",
    }
    return found | {"status": status, "scores": None}


def test_a_compound_is_right_in_both_senses_or_not() -> None:
    records = [
        record("a", "idiomatic", True),
        record("a", "literal", True),
        record("b", "idiomatic", True),
    ]
    records += [
        record("b", "literal", False),
        record("c", "idiomatic", True),
        record("c", "literal", None),
    ]
    records += [record("cut", "literal", True)]  # a limit has cut its other row
    assert measures_of(records) is measures.RANK_BOTH
    found = evaluate(records, measures.RANK_BOTH, 0)
    assert found["both_senses_acc"][OVERALL].value == pytest.approx(1 / 3)
    assert found["acc"][OVERALL].value == pytest.approx(5 / 7)
    assert found["parse_rate"][OVERALL].value == pytest.approx(6 / 7)
    assert found["rank_correlation"][OVERALL].rows == 6, "a correlation is of a ranking alone"
    assert "both_senses_acc" not in evaluate(records[-1:], measures.RANK_BOTH, 0)


def test_ties_keep_the_order_shown_and_are_counted() -> None:
    doc: dict[str, Any] = {
        "id": "en_test-0",
        "request": request_for("en_test"),
        "data": "AdMIRe/en_test:0",
        "shown": "pictures",
        "sense": "literal",
        "compound": "a b",
    }
    doc |= {"names": list(NAMES), "order": list(NAMES)}
    found = []
    for scores in ([1.0, 3.0, 3.0, 0.0, 2.0], [5.0, 4.0, 3.0, 2.0, 1.0]):
        found.append(process_results(doc, [json.dumps({"scores": scores})])["sample"])
    assert found[0]["predicted"] == [NAMES[place] for place in (1, 2, 4, 0, 3)]
    values = evaluate(found, measures_of(found), 0)
    assert {name: values[name][OVERALL].value for name in ("tie_rate", "parse_rate", "acc")} == {
        "tie_rate": 0.5,
        "parse_rate": 1,
        "acc": 0.5,
    }


@pytest.mark.parametrize(
    ("part", "expected"), [("test", measures.SEQUENCE), ("both", measures.SEQUENCE_BOTH)]
)
def test_sequences(part: str, expected: Measures) -> None:
    doc: dict[str, Any] = {
        "id": "sequence_dev-0",
        "request": request_for(f"sequence_{part}"),
        "data": f"AdMIRe/sequence_{part}:0",
        "shown": "pictures",
        "compound": "a b",
    }
    doc |= {"names": list(NAMES[:4]), "order": [NAMES[2]]}
    answers = [
        ("idiomatic", "Image: C\nSense: idiomatic"),
        ("literal", "Image: C"),
        ("literal", "Sense: literal"),
    ]
    records = [process_results(doc | {"sense": sense}, [said])["sample"] for sense, said in answers]
    assert measures_of(records[:1]) is expected
    assert [record["status"] for record in records] == ["read", "unreadable", "unreadable"]
    found = evaluate(records, expected, 0)
    values = {name: found[name][OVERALL].value for name in ("item_acc", "sense_acc", "parse_rate")}
    assert values == pytest.approx({"item_acc": 2 / 3, "sense_acc": 2 / 3, "parse_rate": 1 / 3})
    assert found["sense_acc"]["literal"].value == 0.5
    assert ("both_senses_acc" in expected.by_name) == (part == "both")
