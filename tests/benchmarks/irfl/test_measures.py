"""IRFL's metrics: if this fails, a value is wrong, or one is of rows that are not complete."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeAlias

import pytest
from irfl_release import ROTATIONS, choice_doc, pair_doc, scores
from tasks_without_harness import measures_of

from figlang_tasks.benchmarks.irfl import measures, tasks
from figlang_tasks.core import notes
from figlang_tasks.scoring import Estimate, Measures, evaluate, process_results

Records: TypeAlias = list[dict[str, Any]]
Ranking: TypeAlias = Sequence[tuple[bool, float]]
"""The images of a row: whether each is positive, and its score."""


def overall_estimates(records: Records, task_measures: Measures) -> dict[str, Estimate]:
    """The estimates of all records, computed as in a run."""
    estimates = evaluate(records, task_measures, 1000, in_run=True)
    return {metric: scopes["all"] for metric, scopes in estimates.items()}


def retrieval_records(*rankings: Ranking, **changed_columns: Any) -> Records:
    """The records of rows of retrieval, each of a phrase of its own."""
    records: Records = []
    for row_number, images in enumerate(rankings):
        columns = {"phrase": f"phrase {row_number}", **changed_columns}
        for image_number, (positive, score) in enumerate(images):
            doc = pair_doc(positive, image_number, len(images), f"r{row_number}", **columns)
            records.append(process_results(doc, scores(score))["sample"])
    return records


def rotation_records(*answers_by_row: str) -> Records:
    """The records of rows in rotations, by the letter that was answered in each rotation.

    The right answers are A, B, C, D in this order.
    """
    records: Records = []
    for row_number, letters in enumerate(answers_by_row):
        for turn, letter in enumerate(letters):
            doc = choice_doc(
                request=ROTATIONS,
                id=f"r{row_number}-rotation{turn}",
                row=f"r{row_number}",
                phrase=f"phrase {row_number}",
                answer=turn,
            )
            records.append(process_results(doc, [letter])["sample"])
    return records


HIT: Ranking = [(True, 0.9), (False, 0.1)]
MISS: Ranking = [(True, 0.1), (False, 0.9)]
TIE: Ranking = [(True, 0.5), (False, 0.5)]
# If ties are broken at random, one of the two positives is expected among the best two.
ALL_TIED: Ranking = [(True, 0.5), (True, 0.5), (False, 0.5), (False, 0.5)]
# Three positives, one of them among the best three.
ONE_OF_THREE: Ranking = [(True, 0.9), (True, 0.2), (True, 0.1), (False, 0.8), (False, 0.7)]
RANDOM_CANDIDATES = {
    "request": "IRFL,table=random4-simile",
    "data": "IRFL/random4-simile@0123:4567",
}


@pytest.mark.parametrize(
    ("task_measures", "records", "expected"),
    [
        pytest.param(
            measures.RETRIEVE,
            retrieval_records(HIT, ONE_OF_THREE),
            {
                "p@k": 2 / 3,
                "expected_p@k": 2 / 3,
                "pooled_p@k": 2 / 4,
                "tie_rate": 0,
                "parse_rate": 1,
            },
            id="retrieval",
        ),
        pytest.param(
            measures.RETRIEVE,
            retrieval_records(HIT, MISS, phrase="one phrase"),
            {"p@k": 0.5},
            id="rows of one phrase are ranked apart",
        ),
        pytest.param(
            measures.RETRIEVE,
            retrieval_records(TIE, HIT),
            {"p@k": 0.5, "expected_p@k": 0.75, "tie_rate": 0.5},
            id="ties go against the model",
        ),
        pytest.param(
            measures.RETRIEVE,
            retrieval_records(ALL_TIED),
            {"p@k": 0, "expected_p@k": 0.5, "pooled_p@k": 0},
            id="ties go against the model in pooled precision too",
        ),
        pytest.param(
            measures.CIRCULAR,
            rotation_records("ABCD", "AAAA", "AB??"),
            {
                "acc": 7 / 12,
                "all_rotations_acc": 1 / 3,
                **{"share_A": 6 / 10, "share_B": 2 / 10, "share_C": 1 / 10, "share_D": 1 / 10},
                "parse_rate": 10 / 12,
            },
            id="rotations",
        ),
        pytest.param(
            measures.RANDOM,
            [process_results(choice_doc(**RANDOM_CANDIDATES), ["A"])["sample"]],
            {"acc": 0, "parse_rate": 1},
            id="random candidates",
        ),
    ],
)
def test_values_are_those_by_hand_in_any_order_of_records(
    task_measures: Measures,
    records: Records,
    expected: dict[str, float],
    warnings_of_loguru: list[str],
) -> None:
    assert measures_of(records) is task_measures
    estimates = overall_estimates(records, task_measures)
    values = {metric: estimate.value for metric, estimate in estimates.items()}
    assert {metric: values[metric] for metric in expected} == pytest.approx(expected)

    shuffled = list(records)
    random.Random(0).shuffle(shuffled)
    estimates = overall_estimates(shuffled, task_measures)
    assert {metric: estimate.value for metric, estimate in estimates.items()} == values
    assert warnings_of_loguru == []


@pytest.mark.parametrize(
    ("figure", "scopes"),
    [
        ("idiom", ["all", "figurative_literal"]),
        ("simile", ["all"]),
        ("open-simile", ["all"]),
    ],
)
def test_only_idioms_have_values_by_type(figure: str, scopes: list[str]) -> None:
    columns = {"data": f"IRFL/{figure}-detection-task@0123:4567", "type": "figurative_literal"}
    choice = process_results(choice_doc(**columns), ["B"])["sample"]
    ranking = retrieval_records(HIT, **columns)
    assert list(evaluate([choice], measures.DETECT)["acc"]) == scopes
    assert list(evaluate(ranking, measures.RETRIEVE)["p@k"]) == scopes


# --- rows that a limit has cut ---


@pytest.mark.parametrize(
    ("task_measures", "records", "metric", "value", "incomplete"),
    [
        (measures.RETRIEVE, retrieval_records(HIT, MISS)[:3], "p@k", 1.0, "1 of 2"),
        (measures.RETRIEVE, retrieval_records(HIT)[:1], "p@k", None, "1 of 1"),
        (measures.CIRCULAR, rotation_records("ABCD", "AB"), "all_rotations_acc", 1.0, "1 of 2"),
        (measures.CIRCULAR, rotation_records("AB"), "all_rotations_acc", None, "1 of 1"),
    ],
)
def test_incomplete_rows_are_left_out_with_one_warning(
    task_measures: Measures,
    records: Records,
    metric: str,
    value: float | None,
    incomplete: str,
    warnings_of_loguru: list[str],
) -> None:
    """Idioms have scopes, which do not repeat the warning. Without any row the run has failed."""
    notes.take_failures()  # forgets the failures of other tests
    records = [{**record, "data": "IRFL/idiom-retrieval-task@0123:4567"} for record in records]
    estimates = overall_estimates(records, task_measures)
    assert warnings_of_loguru == [
        f"figlang_tasks: {incomplete} rows are not complete (--limit?) and left out of {metric}"
    ]
    if value is None:
        failure = f"{metric} could not be computed: no row is complete (--limit?)"
        assert metric not in estimates
        assert notes.take_failures() == [failure]
    else:
        assert estimates[metric].value == value
        assert notes.take_failures() == []
    assert "parse_rate" in estimates


def test_without_a_complete_row_a_ranking_has_only_its_parse_rate() -> None:
    assert set(overall_estimates(retrieval_records(HIT)[:1], measures.RETRIEVE)) == {"parse_rate"}


@pytest.mark.parametrize(
    ("task_measures", "records"),
    [
        (measures.RETRIEVE, retrieval_records(HIT)[:1]),
        (measures.CIRCULAR, rotation_records("AB")),
    ],
)
def test_only_a_run_warns_of_incomplete_rows(
    task_measures: Measures, records: Records, warnings_of_loguru: list[str]
) -> None:
    notes.take_failures()  # forgets the failures of other tests
    evaluate(records, task_measures)
    assert warnings_of_loguru == []
    assert notes.take_failures() == []


# --- the order of a simile's images ---


def simile_order(doc: dict[str, Any], *image_scores: float) -> list[float | None]:
    """Whether the figurative image is above the source's, and that above the target's."""
    record = tasks.match_process_results(doc, scores(*image_scores))["sample"]
    values: list[float | None] = []
    for metric in ("figurative_over_source", "source_over_target"):
        value_of_record = measures.DETECT.by_name[metric].value_of_record
        assert value_of_record is not None
        values.append(value_of_record(record))
    return values


@pytest.mark.parametrize(
    ("image_scores", "order"),  # scores of the source, the figurative image, the target, another
    [
        ((0.1, 0.4, 0.2, 0.3), [1, 0]),
        ((3, 4, 3, 0), [1, 0]),
        ((0.5, 0.4, 0.2, 0.3), [0, 1]),
        ((3, 3, 1, 0), [0, 1]),
    ],
)
def test_a_similes_images_are_in_order_if_one_scores_higher(
    image_scores: tuple[float, ...], order: list[int]
) -> None:
    assert simile_order(choice_doc(), *image_scores) == order


def test_the_order_of_a_similes_images_needs_all_three_roles() -> None:
    roles = ["answer", "source", "target"]
    three_images = choice_doc(candidates=["1", "2", "3"], roles=roles, answer=0)
    assert simile_order(three_images, 3, 2, 1) == [1, 1]
    without_target = choice_doc(roles=["answer", "source", "random", "random"])
    assert simile_order(without_target, 3, 2, 1, 0) == [None, None]
