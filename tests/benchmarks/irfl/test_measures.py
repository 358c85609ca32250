"""A value of IRFL's measures is wrong, or one is given of rows that are not whole, if this
fails.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
from irfl_docs import ROTATIONS, choice_doc, pair_doc, scores
from judging import measures_of

from figlang_tasks.benchmarks.irfl import measures, tasks
from figlang_tasks.core import notes
from figlang_tasks.scoring import Estimate, Measures, evaluate, process_results

Records = list[dict[str, Any]]


def found(records: Records, of: Measures) -> dict[str, Estimate]:
    """All measures of all records, as a run has them."""
    return {
        name: scopes["all"] for name, scopes in evaluate(records, of, 1000, in_run=True).items()
    }


def ranked(*table: Sequence[tuple[bool, float]], **changed: Any) -> Records:
    """Records of rows given as (positive, score) of each image."""
    return [
        process_results(
            pair_doc(
                positive, place, len(row), f"r{number}", **{"phrase": f"phrase {number}"} | changed
            ),
            scores(value),
        )["sample"]
        for number, row in enumerate(table)
        for place, (positive, value) in enumerate(row)
    ]


def turns(*table: str) -> Records:
    """Records of rows given by what was answered in each rotation, whose answers stand at A, B, C,
    D.
    """
    return [
        process_results(
            choice_doc(
                request=ROTATIONS,
                id=f"r{number}-rotation{turn}",
                row=f"r{number}",
                phrase=f"phrase {number}",
                answer=turn,
            ),
            [said],
        )["sample"]
        for number, row in enumerate(table)
        for turn, said in enumerate(row)
    ]


HIT, MISS, TIE = [
    [(True, 0.9), (False, 0.1)],
    [(True, 0.1), (False, 0.9)],
    [(True, 0.5), (False, 0.5)],
]
# Of ties drawn at random one of two is found
ALL_TIED = [(True, 0.5), (True, 0.5), (False, 0.5), (False, 0.5)]
RANDOM = {"request": "IRFL,table=random4-simile", "data": "IRFL/random4-simile@0123:4567"}
# k = 3, one found (by hand)
ONE_OF_THREE = [(True, 0.9), (True, 0.2), (True, 0.1), (False, 0.8), (False, 0.7)]


@pytest.mark.parametrize(
    ("of", "records", "expected"),
    [
        (
            measures.RETRIEVE,
            ranked(HIT, ONE_OF_THREE),
            {
                "p@k": 2 / 3,
                "expected_p@k": 2 / 3,
                "pooled_p@k": 2 / 4,
                "tie_rate": 0,
                "parse_rate": 1,
            },
        ),
        # Are ranked apart
        (measures.RETRIEVE, ranked(HIT, MISS, phrase="one phrase"), {"p@k": 0.5}),
        # Against the model
        (measures.RETRIEVE, ranked(TIE, HIT), {"p@k": 0.5, "expected_p@k": 0.75, "tie_rate": 0.5}),
        # Pooled ones too
        (measures.RETRIEVE, ranked(ALL_TIED), {"p@k": 0, "expected_p@k": 0.5, "pooled_p@k": 0}),
        (
            measures.CIRCULAR,
            turns("ABCD", "AAAA", "AB??"),
            {
                "acc": 7 / 12,
                "all_rotations_acc": 1 / 3,
                **{"share_A": 6 / 10, "share_B": 2 / 10, "share_C": 1 / 10, "share_D": 1 / 10},
                "parse_rate": 10 / 12,
            },
        ),
        (
            measures.RANDOM,
            [process_results(choice_doc(**RANDOM), ["A"])["sample"]],
            {"acc": 0, "parse_rate": 1},
        ),
    ],
)
def test_values(
    of: Measures, records: Records, expected: dict[str, float], warnings_of_loguru: list[str]
) -> None:
    assert measures_of(records) is of
    values = {name: estimate.value for name, estimate in found(records, of).items()}
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    random.Random(0).shuffle(records)
    assert {name: estimate.value for name, estimate in found(records, of).items()} == values
    assert warnings_of_loguru == []


@pytest.mark.parametrize("kind", ["idiom", "simile", "open-simile"])
def test_idioms_alone_are_told_apart_by_type(kind: str) -> None:
    changed = {"data": f"IRFL/{kind}-detection-task@0123:4567", "type": "figurative_literal"}
    record = process_results(choice_doc(**changed), ["B"])["sample"]
    for records, of, name in (
        ([record], measures.DETECT, "acc"),
        (ranked(HIT, **changed), measures.RETRIEVE, "p@k"),
    ):
        scopes = evaluate(records, of)[name]
        assert list(scopes) == (["all", "figurative_literal"] if kind == "idiom" else ["all"])


CUT = "rows are not complete (--limit?) and left out of"
NONE_WHOLE = "could not be computed: no row is complete (--limit?)"


@pytest.mark.parametrize(
    ("of", "records", "metric", "value", "warning"),
    [
        (measures.RETRIEVE, ranked(HIT, MISS)[:3], "p@k", 1.0, f"1 of 2 {CUT} p@k"),
        (measures.RETRIEVE, ranked(HIT)[:1], "p@k", None, f"1 of 1 {CUT} p@k"),
        (
            measures.CIRCULAR,
            turns("ABCD", "AB"),
            "all_rotations_acc",
            1.0,
            f"1 of 2 {CUT} all_rotations_acc",
        ),
        (
            measures.CIRCULAR,
            turns("AB"),
            "all_rotations_acc",
            None,
            f"1 of 1 {CUT} all_rotations_acc",
        ),
    ],
)
def test_rows_cut_by_a_limit_are_left_out(
    of: Measures,
    records: Records,
    metric: str,
    value: float | None,
    warning: str,
    warnings_of_loguru: list[str],
) -> None:
    """It is told once, not by each scope, and in a run alone; where nothing is left, the run has
    failed.
    """
    notes.take_failures()
    records = [record | {"data": "IRFL/idiom-retrieval-task@0123:4567"} for record in records]
    estimates = found(records, of)
    assert warnings_of_loguru == [f"figlang_tasks: {warning}"]
    assert notes.take_failures() == ([f"{metric} {NONE_WHOLE}"] if value is None else [])
    assert (estimates[metric].value if metric in estimates else None) == value
    assert "parse_rate" in estimates
    if value is None and of is measures.RETRIEVE:
        assert set(estimates) == {"parse_rate"}
    evaluate(records, of)
    assert len(warnings_of_loguru) == 1 and not notes.take_failures()


# --- the order of a simile's images ---


def order(doc: dict[str, Any], *values: float) -> list[float | None]:
    """Of matching scores: whether the figurative image is above the source's, and that above the
    target's.
    """
    record = tasks.match_process_results(doc, scores(*values))["sample"]
    both = (
        measures.DETECT.by_name[name].value_of_record
        for name in ("figurative_over_source", "source_over_target")
    )
    return [each(record) for each in both if each]


def test_the_order_of_a_simile_needs_three_roles() -> None:
    assert order(choice_doc(), 0.1, 0.4, 0.2, 0.3) == order(choice_doc(), 3, 4, 3, 0) == [1, 0]
    assert order(choice_doc(), 0.5, 0.4, 0.2, 0.3) == order(choice_doc(), 3, 3, 1, 0) == [0, 1]
    roles = ["answer", "source", "target"]
    assert order(choice_doc(candidates=["1", "2", "3"], roles=roles, answer=0), 3, 2, 1) == [1, 1]
    assert order(choice_doc(roles=[*roles[:2], "random", "random"]), 3, 2, 1, 0) == [None, None]
