"""AdMIRe's measures: if this fails, one is not the official scorer's, or it counts answers without
a ranking in another way than its description says.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
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
from figlang_tasks.scoring import OVERALL, Measures, Record, evaluate, process_results

NAMES = ("07.png", "12.png", "3.png", "41.png", "5.png")
"""The candidates of a row in the expected order, which is also the order shown."""

ORDERS = st.permutations(NAMES)

OFFICIAL_SCOPES = {OVERALL: "all", "idiomatic": "id", "literal": "lit"}
"""The ends of the official scorer's names (``acc_id_en``), by our scope."""


def request_for(table: str) -> str:
    return f"AdMIRe,table={table},shown=pictures"


def identity_of(table: str, row_id: str) -> dict[str, str]:
    """The fields of a document that say which row it is."""
    return {"id": row_id, "request": request_for(table), "data": f"AdMIRe/{table}:0"}


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


# --- the official scorer's own samples ---


def read_tsv(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a released file, by compound."""
    with path.open(encoding="utf-8", newline="") as file:
        return {row["compound"]: row for row in csv.DictReader(file, delimiter="\t")}


def official_document(table: str, target: dict[str, str]) -> dict[str, Any]:
    """What the loader makes of a row of the official targets.

    The targets of rankings do not name the candidates in columns of their own.
    """
    cells = dict(target)
    names = sorted(rows.QUOTED_NAME.findall(target.get("expected_order", "")))
    for number, name in enumerate(names, 1):
        cells[f"image{number}_name"] = name
    fields = rows.document_of(cells, table, "pictures", location="")
    return {**fields, **identity_of(table, target["compound"]), "paths": names}


@pytest.mark.parametrize(
    ("board", "table"),
    [("en", "en_test"), ("xe", "en_test"), ("pt", "pt_test"), ("xp", "pt_test")],
)
@pytest.mark.parametrize(
    "shared_file", ["data/admire/official_sample/a_scores_test_phase.json"], indirect=True
)
def test_rankings_score_as_the_official_scorer_scored_its_own_samples(
    shared_file: Path, board: str, table: str
) -> None:
    targets = read_tsv(shared_file.parents[1] / "targets" / f"a_{board}_test_targets.tsv")
    submission = read_tsv(shared_file.with_name(f"a_submission_{board}.tsv"))
    records: list[Record] = []
    for compound, target in targets.items():
        doc = official_document(table, target)
        order = rows.QUOTED_NAME.findall(submission[compound]["expected_order"])
        letters = [rows.LETTERS[doc["names"].index(name)] for name in order]
        record = process_results(doc, [" > ".join(letters)])["sample"]
        assert record["predicted"] == order
        records.append(record)

    official_scores = json.loads(shared_file.read_text())
    estimates = evaluate(records, measures.RANK, 0)
    official_names = {"acc": "acc", "dcg": "dcg", "file_name_correlation": "corr"}
    for metric, official_name in official_names.items():
        for scope, suffix in OFFICIAL_SCOPES.items():
            official_score = official_scores[f"{official_name}_{suffix}_{board}"]
            expected = pytest.approx(official_score, rel=1e-15, abs=1e-15)
            assert estimates[metric][scope].value == expected, (metric, scope)


@pytest.mark.parametrize(
    "shared_file", ["data/admire/official_sample/b_scores_train_phase.json"], indirect=True
)
def test_sequences_score_as_the_official_scorer_scored_its_own_samples(shared_file: Path) -> None:
    targets = read_tsv(shared_file.parents[1] / "targets" / "b_en_train_targets.tsv")
    candidates = read_tsv(shared_file.parents[1] / "subtask_b_en_train.tsv")
    submission = read_tsv(shared_file.with_name("b_submission_en_train.tsv"))
    records: list[Record] = []
    for compound, target in targets.items():
        doc = official_document("sequence_test", candidates[compound] | target)
        submitted_row = submission[compound]
        letter = rows.LETTERS[doc["names"].index(submitted_row["expected_item"])]
        answer = f"Image: {letter}\nSense: {submitted_row['sentence_type']}"
        records.append(process_results(doc, [answer])["sample"])

    official_scores = json.loads(shared_file.read_text())
    estimates = evaluate(records, measures.SEQUENCE, 0)
    for metric, official_name in {"item_acc": "item", "sense_acc": "sent"}.items():
        for scope, suffix in OFFICIAL_SCOPES.items():
            official_score = official_scores[f"{official_name}_{suffix}_en"]
            assert estimates[metric][scope].value == official_score, (metric, scope)


# --- the numbers of one ranking ---


def ranks_of_names(order: Sequence[str]) -> list[int]:
    """The rank of each of `NAMES` in an order."""
    return [order.index(name) for name in NAMES]


@given(ORDERS, ORDERS)
def test_the_dcg_is_that_of_scikit_learn(gold: list[str], predicted: list[str]) -> None:
    gains = [measures.WEIGHTS[rank] for rank in ranks_of_names(gold)]
    scores = [-rank for rank in ranks_of_names(predicted)]
    expected = dcg_score([gains], [scores])
    assert measures.dcg(gold, predicted) == pytest.approx(expected, rel=1e-12)


@given(ORDERS, ORDERS)
def test_the_rank_correlation_is_that_of_scipy(gold: list[str], predicted: list[str]) -> None:
    expected = spearmanr(ranks_of_names(gold), ranks_of_names(predicted)).statistic
    assert measures.rank_correlation(gold, predicted) == pytest.approx(expected, abs=1e-12)


@given(ORDERS, ORDERS)
def test_the_file_name_correlation_ranks_the_names_by_the_alphabet(
    gold: list[str], predicted: list[str]
) -> None:
    """The organisers' program gives scipy the names themselves, which compares them as texts."""
    gold_positions = np.unique(gold, return_inverse=True)[1]
    predicted_positions = np.unique(predicted, return_inverse=True)[1]
    expected = spearmanr(gold_positions, predicted_positions).statistic
    assert measures.file_name_correlation(gold, predicted) == pytest.approx(expected, abs=1e-12)


def test_the_dcg_of_all_orders_has_the_bounds_and_the_mean_of_the_official_scorer() -> None:
    # neighbours.md, section 3.3: computed with the official scorer.
    values = [measures.dcg(NAMES, order) for order in permutations(NAMES)]
    bounds = [round(value, 5) for value in (max(values), min(values))]
    assert bounds == [3.63093, 1.59123]
    assert math.fsum(values) / len(values) == pytest.approx(2.35877, abs=5e-6)


def test_the_dcg_of_an_order_with_the_expected_picture_first_is_high() -> None:
    orders = [order for order in permutations(NAMES) if order[0] == NAMES[0]]
    assert min(measures.dcg(NAMES, order) for order in orders) > 3.38684


def test_the_dcg_without_a_ranking_is_0() -> None:
    assert measures.dcg(NAMES, None) == 0


# --- both senses of a compound ---


def ranking_record(compound: str, sense: str, is_right: bool | None) -> dict[str, Any]:
    """A record of ``en_both``.

    Args:
        compound: its compound.
        sense: the sense of its row.
        is_right: whether the expected picture comes first; None for an unreadable answer.
    """
    record: dict[str, Any] = {
        **identity_of("en_both", f"{compound}-{sense}"),
        "task": "admire_rank_both",
        "unit": compound,
        "sense": sense,
        "gold": list(NAMES),
        "predicted": None,
        "status": "unreadable",
        "scores": None,
    }
    if is_right is not None:
        record["predicted"] = list(NAMES if is_right else NAMES[::-1])
        record["status"] = "read"
    return record


def test_a_compound_counts_as_right_only_in_both_senses() -> None:
    half_compound = ranking_record("half", "literal", is_right=True)  # a limit left out the other
    records = [
        ranking_record("a", "idiomatic", is_right=True),
        ranking_record("a", "literal", is_right=True),
        ranking_record("b", "idiomatic", is_right=True),
        ranking_record("b", "literal", is_right=False),
        ranking_record("c", "idiomatic", is_right=True),
        ranking_record("c", "literal", is_right=None),
        half_compound,
    ]
    assert measures_of(records) is measures.RANK_BOTH
    estimates = evaluate(records, measures.RANK_BOTH, 0)
    assert estimates["both_senses_acc"][OVERALL].value == pytest.approx(1 / 3)
    assert estimates["acc"][OVERALL].value == pytest.approx(5 / 7)
    assert estimates["parse_rate"][OVERALL].value == pytest.approx(6 / 7)
    assert estimates["rank_correlation"][OVERALL].rows == 6, "a correlation is of a ranking alone"
    assert "both_senses_acc" not in evaluate([half_compound], measures.RANK_BOTH, 0)


# --- scores ---


def test_equal_scores_keep_the_order_shown_and_are_counted() -> None:
    doc: dict[str, Any] = {
        **identity_of("en_test", "en_test-0"),
        "shown": "pictures",
        "sense": "literal",
        "compound": "a b",
        "names": list(NAMES),
        "order": list(NAMES),
    }
    records: list[Record] = []
    for scores in ([1.0, 3.0, 3.0, 0.0, 2.0], [5.0, 4.0, 3.0, 2.0, 1.0]):
        answer = json.dumps({"scores": scores})
        records.append(process_results(doc, [answer])["sample"])
    assert records[0]["predicted"] == [NAMES[index] for index in (1, 2, 4, 0, 3)]

    estimates = evaluate(records, measures_of(records), 0)
    expected = {"tie_rate": 0.5, "parse_rate": 1, "acc": 0.5}
    assert {metric: estimates[metric][OVERALL].value for metric in expected} == expected


# --- sequences ---


@pytest.mark.parametrize(
    ("part", "expected_measures"), [("test", measures.SEQUENCE), ("both", measures.SEQUENCE_BOTH)]
)
def test_picture_and_sense_of_a_sequence_count_apart(
    part: str, expected_measures: Measures
) -> None:
    doc: dict[str, Any] = {
        **identity_of(f"sequence_{part}", "sequence_dev-0"),
        "shown": "pictures",
        "compound": "a b",
        "names": list(NAMES[:4]),
        "order": [NAMES[2]],
    }
    answers = [
        ("idiomatic", "Image: C\nSense: idiomatic"),
        ("literal", "Image: C"),
        ("literal", "Sense: literal"),
    ]
    records: list[Record] = []
    for sense, answer in answers:
        records.append(process_results({**doc, "sense": sense}, [answer])["sample"])
    assert measures_of(records[:1]) is expected_measures
    assert [record["status"] for record in records] == ["read", "unreadable", "unreadable"]

    estimates = evaluate(records, expected_measures, 0)
    expected = {"item_acc": 2 / 3, "sense_acc": 2 / 3, "parse_rate": 1 / 3}
    values = {metric: estimates[metric][OVERALL].value for metric in expected}
    assert values == pytest.approx(expected)
    assert estimates["sense_acc"]["literal"].value == 0.5
    assert ("both_senses_acc" in expected_measures.by_name) == (part == "both")
