"""A measure has a wrong value, interval, standard error or scope, or files lose it, if this
fails.
"""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging import task_with
from scipy.stats import binomtest
from sklearn.metrics import f1_score

import figlang_tasks
from figlang_tasks.core import notes
from figlang_tasks.metrics.classification import macro_f1
from figlang_tasks.scoring import (
    BOOTSTRAP,
    OVERALL,
    TWO_CLASSES,
    Measure,
    Measures,
    Record,
    by_field,
    evaluate,
    failed_metrics,
    from_json,
    grouped,
    to_json,
)
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, values_for_lm_eval
from figlang_tasks.scoring.task_evaluation import JudgedAnswer

ACC = Measure(
    "acc",
    "Share of hits.",
    "this test",
    value_of_record=lambda record: record["hit"],
    scopes=by_field("part", ("easy", "hard", "never")),
)
LENGTH = Measure(
    "length",
    "Mean length.",
    "this test",
    value_of_record=lambda record: record.get("length"),
    interval=BOOTSTRAP,
    percent=False,
)


def counts_of_labels(records: Sequence[Record]) -> Any:
    cells = np.eye(4)[[2 * record["gold"] + record["said"] for record in records]]
    return grouped([record["id"] for record in records], cells, partial(macro_f1, skip_absent=True))


F1 = Measure(
    "f1", "Macro F1.", "this test", statistic=counts_of_labels, interval=TWO_CLASSES, in_table=False
)
ALL = Measures.of(ACC, LENGTH, F1)


def record(
    number: int, hit: int = 1, length: float | None = None, unit: str | None = None, **more: Any
) -> dict[str, Any]:
    found = {
        "id": str(number),
        "hit": float(hit),
        "part": "hard" if number % 3 else "easy",
        "gold": 1,
        "said": hit,
    }
    found |= {} if length is None else {"length": length}
    return found | ({} if unit is None else {"unit": unit}) | more


rows = st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 5)), min_size=1, max_size=30)


@given(rows=rows, order=st.randoms(use_true_random=False))
def test_values_are_those_of_independent_code_and_lie_in_their_intervals(
    rows: list[tuple[bool, bool, int]], order: random.Random
) -> None:
    records = [record(at, gold == said, unit=str(unit), gold=int(gold), said=int(said))
               for at, (gold, said, unit) in enumerate(rows)]  # fmt: skip
    found = evaluate(records, ALL, stderr_resamples=50)
    shuffled = order.sample(records, len(records))
    assert evaluate(shuffled, ALL, stderr_resamples=50) == found, (
        "the order of the records does not matter"
    )
    gold, said = zip(*[(row[0], row[1]) for row in rows], strict=True)
    assert found["f1"][OVERALL].value == pytest.approx(
        f1_score(gold, said, average="macro", zero_division=0)
    )
    assert found["acc"][OVERALL].value == pytest.approx(np.mean(np.equal(gold, said)))
    for scopes in found.values():
        for estimate in scopes.values():
            if estimate.low is not None and estimate.high is not None:
                assert estimate.low <= estimate.value <= estimate.high
    assert set(found) == {"acc", "f1"}, "no record has a length"


def test_a_share_has_wilsons_interval_and_the_standard_error_of_its_bootstrap() -> None:
    found = evaluate([record(at, at < 60) for at in range(100)], ALL)["acc"]
    wilson = binomtest(60, 100).proportion_ci(method="wilson")
    assert found[OVERALL][:3] == pytest.approx((0.6, wilson.low, wilson.high))
    # Of the mean of 100 rows
    assert found[OVERALL].stderr == pytest.approx(math.sqrt(0.6 * 0.4 / 99), rel=0.1)
    assert list(found) == [OVERALL, "easy", "hard"] and found["easy"].stderr is None
    assert (found["easy"].rows, found["hard"].rows) == (34, 66)


def test_rows_of_one_unit_count_together() -> None:
    """300 rows of 50 phrases, right or wrong by phrase, are the evidence of 50 rows."""
    hits = [at % 30 < 18 for at in range(300)]
    alone = evaluate([record(at, hit) for at, hit in enumerate(hits)], ALL)["acc"][OVERALL]
    together = evaluate([record(at, hit, unit=f"{at // 6}") for at, hit in enumerate(hits)], ALL)[
        "acc"
    ][OVERALL]
    fifty = evaluate([record(at, hit) for at, hit in enumerate(hits[::6])], ALL)["acc"][OVERALL]
    assert together.value == alone.value == 0.6
    assert together[1:3] == pytest.approx(fifty[1:3], abs=0.01)
    assert (
        together.stderr == pytest.approx(fifty.stderr, rel=0.1)
        and together.stderr > 2 * alone.stderr  # type: ignore[operator]
    )


def test_rotations_count_once_and_a_ranking_that_a_limit_has_cut_does_not_count() -> None:
    pictures = [{"id": f"{row}-{n}", "row": row, "images": 3} for row in "ab" for n in range(3)]
    assert ALL.count_rows(pictures) == 2 and ALL.count_rows(pictures[:-1]) == 1
    assert ALL.count_rows([{"id": f"a-{n}", "row": "a"} for n in range(4)]) == 1


def test_a_measure_that_fails_costs_itself_alone() -> None:
    broken = Measure("broken", "Fails.", "this test", value_of_record=lambda record: 1 / 0)
    notes.noted()
    found = evaluate([record(1), record(2)], Measures.of(ACC, broken), in_run=True)
    assert math.isnan(found["broken"][OVERALL].value) and found["acc"][OVERALL].value == 1
    assert notes.noted() == ["broken failed; its value is NaN, see the log"]
    written = to_json(found)
    assert "broken" not in written["values"] and failed_metrics(written) == ("broken",)
    with pytest.raises(ZeroDivisionError):
        evaluate([record(1)], Measures.of(broken))


def test_declarations_that_are_refused() -> None:
    computations: Any
    for computations in (
        {},
        {"value_of_record": lambda record: 1.0, "estimate_of": lambda records, scope: None},
    ):
        with pytest.raises(
            ValueError,
            match="x must have exactly one of value_of_record, statistic and estimate_of",
        ):
            Measure("x", "Anything.", "this test", **computations)
    with pytest.raises(
        ValueError, match="measure acc must have a description in one line, has ' '"
    ):
        replace(ACC, description=" ")
    with pytest.raises(
        ValueError, match=r"measure acc must have a source in one line, has 'a\\nb'"
    ):
        replace(ACC, source="a\nb")
    with pytest.raises(ValueError, match="two measures of one name: acc"):
        Measures.of(ACC, replace(ACC))


def test_a_share_counts_0_or_1() -> None:
    """Wilson's interval of other numbers would be wrong."""
    with pytest.raises(
        ValueError, match="acc of row 1 is 0.5: a share counts 0 or 1 .* has interval=BOOTSTRAP"
    ):
        evaluate([record(0), record(1) | {"hit": 0.5}], ALL)


# --- in a harness ---


def test_a_document_leaves_its_record_and_the_numbers_of_the_measures_in_the_table() -> None:
    own = record(1, length=2.5)
    assert ALL.values(own) == {"sample": own, "acc": 1.0, "length": 2.5}
    assert ALL.values(record(2)) == {
        "sample": record(2),
        "acc": 1.0,
        "length": None,
    }, "it has no length"
    assert [entry["metric"] for entry in task_with(ALL).metric_list] == [
        "acc",
        "length",
    ], "f1 is no headline"


def test_lm_eval_gets_the_records_with_the_numbers() -> None:
    shown = Measures.of(ACC, replace(F1, in_table=True))
    rows = metric_list_for_lm_eval(task_with(shown))
    records = [
        record(at, at % 2, data="b" if at else "a") | ({} if at else {"revision": "v9"})
        for at in range(4)
    ]
    of_documents = [values_for_lm_eval(shown.values(each), []) for each in records]
    assert [dict(each)["sample"] for each in of_documents] == records, "what lm-eval saves"
    assert {name for each in of_documents for name, _ in each.items()} == {
        "acc",
        "f1",
    }, "what it makes rows of"
    kept = copy.deepcopy(rows)[0]["figlang_tasks"]  # lm-eval copies task files before a run
    found = {
        row["metric"]: row["aggregation"](
            [dict(each.items())[row["metric"]] for each in of_documents]
        )
        for row in rows
    }
    assert found == {"acc": 0.5, "f1": pytest.approx(1 / 3)}
    assert kept == {
        "data": "a, b",
        "data_revision": "v9",
        "versions": {"figlang-tasks": figlang_tasks.__version__},
    }
    without = values_for_lm_eval(ALL.values(record(9, data="b") | {"length": None}), [])
    assert set(without) == {"sample", "acc", "length"}, "every process has every key"
    length = metric_list_for_lm_eval(task_with(ALL))[1]["aggregation"]
    (item,) = {id(item): item for _, item in without.items()}.values()
    assert length([item]) is None, "no record counts"
    other = next(iter(values_for_lm_eval(ALL.values(record(8, data="b", length=2.5)), []).items()))[
        1
    ]
    assert length([item, other]) == 2.5
    sent = pickle.loads(pickle.dumps(dict(of_documents[1].items())["acc"]))
    assert sent == JudgedAnswer(records[1], None)
    assert (of_documents[1]["acc"], of_documents[1]["f1"]) == (1.0, None), "what lm-eval saves"
    notes.noted()
    assert math.isnan(rows[0]["aggregation"]([object()])), (
        "an error in an aggregator would cost the whole run"
    )
    assert notes.noted() == ["acc failed; its value is NaN, see the log"] and kept == {}


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
def test_a_damaged_file_is_told(content: Any, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        from_json(content)


# --- a mean of parts that repeat one measurement, as folds do ---

AVERAGED = replace(ACC, scopes=by_field("part", ("easy", "hard"))._replace(averaged=True))


def in_parts(hits: Mapping[str, Sequence[int]], units: Mapping[str, Sequence[str]]) -> list[Record]:
    """A record for each hit or miss of a part, with its unit."""
    records: list[Record] = []
    for part, of_part in hits.items():
        for hit, unit in zip(of_part, units[part], strict=True):
            records.append(
                {"id": f"{part} {len(records)}", "hit": float(hit), "part": part, "unit": unit}
            )
    return records


def test_a_mean_of_parts_counts_each_part_once_whatever_its_size() -> None:
    """The limits are those of a mean of independent values: the distances of Wilson's limits, added
    in squares.
    """
    hits = {"easy": [1] * 3 + [0], "hard": [1] * 5 + [0] * 5}
    units = {"easy": [f"e{n}" for n in range(4)], "hard": [f"h{n}" for n in range(10)]}
    whole = evaluate(in_parts(hits, units), Measures.of(AVERAGED))["acc"][OVERALL]
    limits = [
        binomtest(right, of).proportion_ci(method="wilson") for right, of in ((3, 4), (5, 10))
    ]
    below = math.hypot(0.75 - limits[0].low, 0.5 - limits[1].low) / 2
    above = math.hypot(limits[0].high - 0.75, limits[1].high - 0.5) / 2
    assert (whole.value, whole.low, whole.high) == pytest.approx(
        (0.625, 0.625 - below, 0.625 + above)
    )


def test_parts_of_the_same_units_are_resampled_together() -> None:
    """What is right in one part is wrong in the other, so that no resample of units changes the
    mean.
    """
    names = [f"u{n}" for n in range(8)]
    hits = {"easy": [1, 0] * 4, "hard": [0, 1] * 4}
    whole = evaluate(in_parts(hits, {"easy": names, "hard": names}), Measures.of(AVERAGED))["acc"][
        OVERALL
    ]
    assert (whole.value, whole.low, whole.high) == (0.5, None, None)
