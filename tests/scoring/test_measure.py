"""Values, intervals, standard errors or scopes of measures are wrong if these tests fail."""

from __future__ import annotations

import copy
import math
import pickle
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.metrics import f1_score
from tasks_without_harness import task_with

import figlang_tasks
from figlang_tasks.core import notes
from figlang_tasks.metrics.classification import macro_f1
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    OVERALL,
    TWO_CLASSES,
    Estimate,
    Measure,
    Measures,
    Record,
    by_field,
    evaluate,
    failed_metrics,
    flat,
    from_json,
    grouped,
    to_json,
)
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, values_for_lm_eval
from figlang_tasks.scoring.task_evaluation import JudgedAnswer


def hit_of(record: Record) -> float:
    """1 if a record is a hit."""
    hit: float = record["hit"]
    return hit


def length_of(record: Record) -> float | None:
    """The length in a record; None if it has none."""
    length: float | None = record.get("length")
    return length


def count_labels(records: Sequence[Record]) -> Statistic:
    """The cells tn, fp, fn, tp of gold and predicted labels."""
    cells = np.eye(4)[[2 * record["gold"] + record["predicted"] for record in records]]
    units = [record["id"] for record in records]
    return grouped(units, cells, partial(macro_f1, skip_absent=True))


ACC = Measure(
    "acc",
    "Share of hits.",
    "this test",
    value_of_record=hit_of,
    scopes=by_field("part", ("easy", "hard", "never")),
)
LENGTH = Measure(
    "length",
    "Mean length.",
    "this test",
    value_of_record=length_of,
    interval=BOOTSTRAP,
    percent=False,
)
F1 = Measure(
    "f1", "Macro F1.", "this test", statistic=count_labels, interval=TWO_CLASSES, in_table=False
)
ALL = Measures.of(ACC, LENGTH, F1)


def record(number: int, hit: int = 1, **fields: Any) -> dict[str, Any]:
    """A record with an id, of an easy part (every third one) or a hard one."""
    return {
        "id": str(number),
        "hit": float(hit),
        "part": "hard" if number % 3 else "easy",
        "gold": 1,
        "predicted": hit,
        **fields,
    }


rows = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=1, max_size=30)


@given(rows=rows, order=st.randoms(use_true_random=False))
def test_values_are_those_of_independent_code_and_lie_in_their_intervals(
    rows: list[tuple[bool, bool, int]], order: random.Random
) -> None:
    records: list[dict[str, Any]] = []
    for number, (gold, predicted, unit) in enumerate(rows):
        labels = {"gold": int(gold), "predicted": int(predicted)}
        records.append(record(number, gold == predicted, unit=str(unit), **labels))
    estimates = evaluate(records, ALL, stderr_resamples=50)
    assert set(estimates) == {"acc", "f1"}, "no record has a length"
    shuffled = order.sample(records, len(records))
    assert evaluate(shuffled, ALL, stderr_resamples=50) == estimates, "order does not matter"

    gold_labels = [gold for gold, _, _ in rows]
    predicted_labels = [predicted for _, predicted, _ in rows]
    f1 = f1_score(gold_labels, predicted_labels, average="macro", zero_division=0)
    accuracy = np.mean(np.equal(gold_labels, predicted_labels))
    assert estimates["f1"][OVERALL].value == pytest.approx(f1)
    assert estimates["acc"][OVERALL].value == pytest.approx(accuracy)
    for _, _, estimate in flat(estimates):
        if estimate.low is not None and estimate.high is not None:
            assert estimate.low <= estimate.value <= estimate.high


def test_a_share_has_wilsons_interval_and_the_standard_error_of_its_bootstrap() -> None:
    records = [record(number, number < 60) for number in range(100)]
    accuracy = evaluate(records, ALL)["acc"]
    wilson = binomtest(60, 100).proportion_ci(method="wilson")
    assert accuracy[OVERALL][:3] == pytest.approx((0.6, wilson.low, wilson.high))
    standard_error_of_mean = math.sqrt(0.6 * 0.4 / 99)
    assert accuracy[OVERALL].stderr == pytest.approx(standard_error_of_mean, rel=0.1)
    assert list(accuracy) == [OVERALL, "easy", "hard"]
    assert accuracy["easy"].stderr is None
    assert accuracy["easy"].rows == 34
    assert accuracy["hard"].rows == 66


def test_rows_of_one_unit_count_together() -> None:
    """300 rows of 50 phrases, right or wrong by phrase, are the evidence of 50 rows."""

    def accuracy(records: Sequence[Record]) -> Estimate:
        return evaluate(records, ALL)["acc"][OVERALL]

    hits = [number % 30 < 18 for number in range(300)]
    alone = accuracy([record(number, hit) for number, hit in enumerate(hits)])
    together = accuracy(
        [record(number, hit, unit=f"{number // 6}") for number, hit in enumerate(hits)]
    )
    fifty = accuracy([record(number, hit) for number, hit in enumerate(hits[::6])])
    assert together.value == alone.value == 0.6
    assert together[1:3] == pytest.approx(fifty[1:3], abs=0.01)
    assert together.stderr is not None and alone.stderr is not None
    assert together.stderr == pytest.approx(fifty.stderr, rel=0.1)
    assert together.stderr > 2 * alone.stderr


def test_rotations_count_once_and_a_ranking_that_lacks_pictures_does_not_count() -> None:
    pictures: list[dict[str, Any]] = []
    for row in ("a", "b"):
        for number in range(3):
            pictures.append({"id": f"{row}-{number}", "row": row, "images": 3})
    assert ALL.count_rows(pictures) == 2
    assert ALL.count_rows(pictures[:-1]) == 1
    rotations = [{"id": f"a-{number}", "row": "a"} for number in range(4)]
    assert ALL.count_rows(rotations) == 1


def test_a_measure_that_fails_costs_itself_alone() -> None:
    broken = Measure("broken", "Fails.", "this test", value_of_record=lambda record: 1 / 0)
    notes.take_failures()
    estimates = evaluate([record(1), record(2)], Measures.of(ACC, broken), in_run=True)
    assert math.isnan(estimates["broken"][OVERALL].value)
    assert estimates["acc"][OVERALL].value == 1
    assert notes.take_failures() == ["broken failed; its value is NaN, see the log"]
    saved = to_json(estimates)
    assert "broken" not in saved["values"]
    assert failed_metrics(saved) == ("broken",)
    with pytest.raises(ZeroDivisionError):
        evaluate([record(1)], Measures.of(broken))


def test_a_bootstrap_that_fails_costs_a_standard_error_alone() -> None:
    """The value of one sum can be right where that of many sums at a time fails."""

    def share_of_one_sum(sums: Any) -> Any:
        return sums[0] / sums[1]

    def count_hits(records: Sequence[Record]) -> Statistic:
        units = [record["id"] for record in records]
        return grouped(units, [[1, 2]] * len(records), share_of_one_sum)

    broken = Measure("broken", "Fails.", "this test", statistic=count_hits)
    records = [record(number) for number in range(4)]
    notes.take_failures()
    estimates = evaluate(records, Measures.of(ACC, broken), in_run=True)
    assert estimates["broken"][OVERALL].value == 0.5
    assert estimates["broken"][OVERALL].stderr is None
    assert estimates["acc"][OVERALL].stderr == 0
    assert notes.take_failures() == [
        "the bootstrap of broken failed; it has no standard error, see the log"
    ]
    with pytest.raises(ValueError, match="value makes"):
        evaluate(records, Measures.of(broken))


def test_draws_that_fail_cost_a_run_its_standard_errors_alone() -> None:
    records = [record(number) for number in range(4)]
    too_many = 10**30  # no list can say how many resamples each of so many blocks has
    notes.take_failures()
    estimates = evaluate(records, Measures.of(ACC), stderr_resamples=too_many, in_run=True)
    assert np.isfinite(estimates["acc"][OVERALL].value)
    assert estimates["acc"][OVERALL].stderr is None
    assert notes.take_failures() == [
        "the bootstrap of all metrics failed; no metric has a standard error, see the log"
    ]
    with pytest.raises(OverflowError):
        evaluate(records, Measures.of(ACC), stderr_resamples=too_many)


def test_declarations_that_are_refused() -> None:
    exactly_one = "x must have exactly one of value_of_record, statistic and estimate_of"
    with pytest.raises(ValueError, match=exactly_one):
        Measure("x", "Anything.", "this test")
    with pytest.raises(ValueError, match=exactly_one):
        Measure("x", "Anything.", "this test", value_of_record=hit_of, statistic=count_labels)
    no_description = "measure acc must have a description in one line, has ' '"
    with pytest.raises(ValueError, match=no_description):
        replace(ACC, description=" ")
    two_lines = r"measure acc must have a source in one line, has 'a\\nb'"
    with pytest.raises(ValueError, match=two_lines):
        replace(ACC, source="a\nb")
    with pytest.raises(ValueError, match="two measures of one name: acc"):
        Measures.of(ACC, replace(ACC))


@pytest.mark.parametrize("hit", (0.5, math.nan, [1]))
def test_a_share_counts_0_or_1(hit: object) -> None:
    """Wilson's interval of other numbers would be wrong."""
    damaged = {**record(1), "hit": hit}
    number = re.escape(str(hit))
    message = f"acc of row 1 is {number}: a share counts 0 or 1 .* has interval=BOOTSTRAP"
    with pytest.raises(ValueError, match=message):
        evaluate([record(0), damaged], ALL)


# --- in a harness ---


def test_a_document_leaves_its_record_and_the_numbers_of_the_measures_in_the_table() -> None:
    with_length = record(1, length=2.5)
    assert ALL.values(with_length) == {"sample": with_length, "acc": 1.0, "length": 2.5}
    without_length = record(2)
    assert ALL.values(without_length) == {"sample": without_length, "acc": 1.0, "length": None}
    metrics = [entry["metric"] for entry in task_with(ALL).metric_list]
    assert metrics == ["acc", "length"], "f1 is not in the table"


def aggregated(entry: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> Any:
    """The value of an entry of a metric list, as lm-eval computes it from values of documents."""
    answers = [dict(document.items())[entry["metric"]] for document in documents]
    return entry["aggregation"](answers)


class RunOfLMEval(NamedTuple):
    """A task with accuracy and F1 in lm-eval, before anything is aggregated.

    Attributes:
        entries: the metric list of the task.
        records: of four rows.
        documents: what lm-eval gets of each row.
    """

    entries: list[dict[str, Any]]
    records: list[dict[str, Any]]
    documents: list[Any]


@pytest.fixture
def run_of_lm_eval() -> RunOfLMEval:
    """The task and what lm-eval gets of four rows, new for each test."""
    measures = Measures.of(ACC, replace(F1, in_table=True))
    entries = metric_list_for_lm_eval(task_with(measures))
    records = [record(0, 0, data="a")]
    records += [record(number, number % 2, data="b", revision="v9") for number in (1, 2, 3)]
    documents = [values_for_lm_eval(measures.values(record), []) for record in records]
    return RunOfLMEval(entries, records, documents)


def test_lm_eval_gets_records_with_the_numbers(run_of_lm_eval: RunOfLMEval) -> None:
    _, records, documents = run_of_lm_eval
    assert [dict(document)["sample"] for document in documents] == records, "lm-eval saves them"
    assert documents[1]["acc"] == 1.0, "lm-eval saves numbers"
    assert documents[1]["f1"] is None
    for document in documents:
        assert {metric for metric, _ in document.items()} == {"acc", "f1"}, "it aggregates these"
    sent_to_another_process = pickle.loads(pickle.dumps(dict(documents[1].items())["acc"]))
    assert sent_to_another_process == JudgedAnswer(records[1], None)


def test_lm_eval_saves_facts_of_the_run_whose_values_it_aggregates(
    run_of_lm_eval: RunOfLMEval,
) -> None:
    entries, _, documents = run_of_lm_eval
    saved_facts = copy.deepcopy(entries)[0]["figlang_tasks"]  # lm-eval copies them before a run
    values = {entry["metric"]: aggregated(entry, documents) for entry in entries}
    assert values == {"acc": 0.5, "f1": pytest.approx(1 / 3)}
    assert saved_facts == {
        "data": "a, b",
        "data_revision": "v9",
        "versions": {"figlang-tasks": figlang_tasks.__version__},
    }


def test_an_error_in_an_aggregator_of_lm_eval_is_nan_and_a_failure(
    run_of_lm_eval: RunOfLMEval,
) -> None:
    entries, _, documents = run_of_lm_eval
    saved_facts = copy.deepcopy(entries)[0]["figlang_tasks"]
    aggregated(entries[0], documents)  # leaves facts of a run, which the next one replaces
    assert saved_facts
    notes.take_failures()  # forgets those of other tests
    no_answers = [object()]
    value = entries[0]["aggregation"](no_answers)
    assert math.isnan(value), "an error in an aggregator would cost the whole run"
    assert notes.take_failures() == ["acc failed; its value is NaN, see the log"]
    assert saved_facts == {}


def test_lm_eval_gets_none_where_no_record_counts() -> None:
    length_entry = metric_list_for_lm_eval(task_with(ALL))[1]
    record_without_length = record(9, data="b", length=None)
    without_length = values_for_lm_eval(ALL.values(record_without_length), [])
    assert set(without_length) == {"sample", "acc", "length"}, "every process has every key"
    assert aggregated(length_entry, [without_length]) is None
    with_length = values_for_lm_eval(ALL.values(record(8, data="b", length=2.5)), [])
    assert aggregated(length_entry, [without_length, with_length]) == 2.5


# --- in files (they are read as they were written: test_measures.py) ---


@pytest.mark.parametrize(
    ("content", "match"),
    [
        ({"format": 9, "values": {}}, "not have the format 1: did another version"),
        ([], "not have the format 1"),
        (
            {"format": 1, "values": {"acc": {"all": {"value": None}}}},
            "acc.all.value: Input should be a valid number",
        ),
        ({"format": 1, "values": {"acc": {"all": {"valu": 1}}}}, "damaged"),
        (
            {"format": 1, "values": {"acc": {"all": {"value": True}}}},
            "acc.all.value: Input should be a valid number",
        ),
    ],
)
def test_damaged_estimates_are_refused(content: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        from_json(content)


# --- a mean of scopes that repeat one measurement, as folds do ---

AVERAGED = replace(ACC, scopes=by_field("part", ("easy", "hard"))._replace(averaged=True))


def averaged_accuracy(
    hits: Mapping[str, Sequence[int]], units: Mapping[str, Sequence[str]]
) -> Estimate:
    """The mean accuracy of the scopes, from the hits and misses of each scope and their units."""
    records: list[Record] = []
    for scope, hits_of_scope in hits.items():
        for hit, unit in zip(hits_of_scope, units[scope], strict=True):
            name = f"{scope} {len(records)}"
            records.append({"id": name, "hit": float(hit), "part": scope, "unit": unit})
    return evaluate(records, Measures.of(AVERAGED))["acc"][OVERALL]


def test_an_average_counts_each_scope_once_whatever_its_size() -> None:
    """The limits are those of a mean of independent values (MOVER).

    The distances of Wilson's limits from the values are added in squares.
    """
    hits = {"easy": [1] * 3 + [0], "hard": [1] * 5 + [0] * 5}
    units = {
        "easy": [f"e{number}" for number in range(4)],
        "hard": [f"h{number}" for number in range(10)],
    }
    estimate = averaged_accuracy(hits, units)
    easy = binomtest(3, 4).proportion_ci(method="wilson")
    hard = binomtest(5, 10).proportion_ci(method="wilson")
    below = math.hypot(0.75 - easy.low, 0.5 - hard.low) / 2
    above = math.hypot(easy.high - 0.75, hard.high - 0.5) / 2
    assert estimate[:3] == pytest.approx((0.625, 0.625 - below, 0.625 + above))


def test_scopes_of_the_same_units_are_resampled_together() -> None:
    """No resample of units changes the mean if all hits of one scope are misses of the other."""
    units = [f"u{number}" for number in range(8)]
    hits = {"easy": [1, 0] * 4, "hard": [0, 1] * 4}
    estimate = averaged_accuracy(hits, {"easy": units, "hard": units})
    assert estimate[:3] == (0.5, None, None)
