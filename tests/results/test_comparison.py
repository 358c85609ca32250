"""Differences of runs by statistics of their records; runs that cannot be compared are refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

import demo_runs
import numpy as np
import pytest
from scipy import stats

from figlang_tasks.core.data_id import DataId
from figlang_tasks.results import measures, runs
from figlang_tasks.results.comparability import ComparisonError
from figlang_tasks.results.comparison import Difference, compare
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimate

MINI = "figlang_mini"


@pytest.fixture(scope="module")
def weak() -> Run:
    return runs.read(f"weak={demo_runs.weak_run()}")


@pytest.fixture(scope="module")
def strong() -> Run:
    return runs.read(f"strong={demo_runs.strong_run()}")


def changed(run: Run, task: str, **fields: Any) -> Run:
    """A run of one task alone, some of whose fields are replaced."""
    changed_task = dataclasses.replace(run.tasks[task], **fields)
    return dataclasses.replace(run, name=f"{run.name}, changed", tasks={task: changed_task})


def refused(match: str, *compared_runs: Run, **options: Any) -> None:
    with pytest.raises(ComparisonError, match=match):
        compare(compared_runs, resamples=100, **options)


def by_name(differences: list[Difference]) -> dict[str, Difference]:
    return {difference.name: difference for difference in differences}


def reported_value(run: Run, metric: str, task: str = MINI) -> float:
    """The value of a metric over all rows in the results file."""
    return run.tasks[task].reported[metric]["all"].value


@pytest.fixture(scope="module")
def all_differences(weak: Run, strong: Run) -> dict[str, Difference]:
    """The differences of two runs of figlang_mini in all metrics and scopes, by name."""
    return by_name(compare([weak, strong], tasks=[MINI], resamples=1000, all_metrics=True))


def test_a_difference_names_the_runs_their_rows_and_the_value_of_the_baseline(
    weak: Run, all_differences: dict[str, Difference]
) -> None:
    f1 = all_differences["f1@60"]
    assert (f1.task, f1.metric, f1.scope) == (MINI, "f1@60", "all")
    assert (f1.baseline, f1.candidate) == ("weak", "strong")
    assert f1.baseline_value == pytest.approx(reported_value(weak, "f1@60"))
    assert (f1.baseline_rows, f1.candidate_rows) == (76, 76)


def test_a_better_run_has_an_interval_above_zero_and_a_small_p(
    all_differences: dict[str, Difference],
) -> None:
    f1 = all_differences["f1@60"]
    assert f1.low is not None and f1.high is not None and 0 < f1.low <= f1.difference <= f1.high
    assert f1.p_randomization == 1 / 1001  # the strong one is far better
    assert f1.p_holm is not None and f1.p_holm > f1.p_randomization


def test_all_scopes_are_compared_and_all_metrics_but_those_of_reading(
    all_differences: dict[str, Difference],
) -> None:
    assert all_differences["f1@60_muse"].baseline_rows == 12
    assert all_differences["f1@60_muse"].scope == "muse"
    compared_metrics = {difference.metric for difference in all_differences.values()}
    assert not {"parse_rate", "parse_disagreement"} & compared_metrics


def test_metrics_without_sums_have_a_difference_and_no_test(weak: Run, strong: Run) -> None:
    task = "figlang_mini_metaclue_caption"
    with_meteor = []
    for run, value in ((weak, 0.25), (strong, 0.375)):
        reported = {**run.tasks[task].reported, "meteor": {"all": Estimate(value)}}
        with_meteor.append(changed(run, task, reported=reported))
    differences = by_name(compare(with_meteor, only_overall=True, resamples=100, all_metrics=True))
    metrics_with_test = set()
    for name, difference in differences.items():
        if difference.p_randomization is not None:
            metrics_with_test.add(name)
    assert set(differences) == {"em", "bleu4", "rouge_l", "cider", "meteor"}
    assert metrics_with_test == {"em", "bleu4", "rouge_l", "cider"}
    assert differences["meteor"].difference == 0.125
    assert differences["meteor"].p_holm is None


# --- repeats ---


OPTIONS_OF_REPEATS: dict[str, Any] = {
    "metrics": ["acc", "parse_rate"],
    "tasks": [MINI],
    "resamples": 200,
}


def test_runs_of_one_name_are_repeats(
    weak: Run, strong: Run, warnings_of_loguru: list[str]
) -> None:
    repeats = [dataclasses.replace(run, name="both") for run in (weak, strong)]
    differences = by_name(compare([*repeats, strong], **OPTIONS_OF_REPEATS))
    acc = differences["acc"]
    values = [reported_value(run, "acc") for run in (weak, strong)]
    assert acc.baseline_value == pytest.approx(np.mean(values))
    assert acc.baseline_sd == pytest.approx(np.std(values, ddof=1))
    assert acc.candidate_sd is None
    assert (acc.baseline_repeats, acc.candidate_repeats, acc.baseline_rows) == (2, 1, 76)
    assert acc.p_randomization is None
    assert acc.p == acc.p_repeats is not None and acc.p_holm is not None
    parse_rate = differences["parse_rate"]
    assert (parse_rate.p, parse_rate.baseline_repeats) == (None, 2)
    assert warnings_of_loguru == []


def test_repeats_change_no_test_of_two_single_runs_beside_them(
    weak: Run, strong: Run, warnings_of_loguru: list[str]
) -> None:
    single_differences = compare([weak, strong], **OPTIONS_OF_REPEATS)
    copies = [dataclasses.replace(weak, name="both"), dataclasses.replace(weak, name="both")]
    differences = compare([*copies, weak, strong], **OPTIONS_OF_REPEATS)
    p_values: list[float | None] = []
    for difference in differences:
        if difference.baseline == "weak":
            p_values.append(difference.p)
    assert p_values == [difference.p for difference in single_differences]
    (warning,) = warnings_of_loguru
    assert "figlang_mini: repeats of both have equal answers in all rows: leave out copies" in (
        warning
    )


def asked_again(name: str, *answering_runs: Run) -> Run:
    """A run of figlang_mini with the answers of several runs to each row, as by ``--repeats``."""
    samples = []
    for number, run in enumerate(answering_runs, start=1):
        for sample in run.tasks[MINI].samples:
            samples.append({**sample, "sample": {**sample["sample"], "repeat": number}})
    task = dataclasses.replace(answering_runs[0].tasks[MINI], samples=tuple(samples), reported={})
    return dataclasses.replace(answering_runs[0], name=name, tasks={MINI: task})


def mean_by_row(run: Run) -> dict[str, float]:
    """The share of right labels among the answers to each row."""
    hits_by_row: dict[str, list[bool]] = {}
    for record in run.tasks[MINI].records:
        hits_by_row.setdefault(record["id"], []).append(record["predicted"] == record["gold"])
    return {row: float(np.mean(hits)) for row, hits in hits_by_row.items()}


def difference_by_unit(baseline: Run, candidate: Run) -> Any:
    """What each unit adds to the difference of two accuracies, [units]."""
    records = baseline.tasks[MINI].records
    unit_by_row = {record["id"]: record["unit"] for record in records}
    baseline_means = mean_by_row(baseline)
    candidate_means = mean_by_row(candidate)
    differences = dict.fromkeys(unit_by_row.values(), 0.0)
    for row, unit in unit_by_row.items():
        differences[unit] += (candidate_means[row] - baseline_means[row]) / len(unit_by_row)
    return np.array(list(differences.values()))


class ComparedAnswers(NamedTuple):
    """A comparison of two runs, one of which has several answers to each row.

    Attributes:
        acc: the difference of their accuracies.
        f1: the difference of their F1@60.
        unit_differences: what each unit adds to the difference of the accuracies, [units].
    """

    acc: Difference
    f1: Difference
    unit_differences: Any


@pytest.fixture(scope="module")
def compared_answers(weak: Run, strong: Run) -> list[ComparedAnswers]:
    """Three comparisons of runs with one, two or three answers to each row.

    In the last one, two of three answers are those of the strong run.
    """
    two_answers = asked_again("two", weak, strong)
    three_answers = asked_again("three", strong, strong, weak)
    pairs = ((two_answers, strong), (two_answers, three_answers), (weak, three_answers))
    comparisons: list[ComparedAnswers] = []
    for baseline, candidate in pairs:
        differences = by_name(
            compare([baseline, candidate], metrics=["acc", "f1@60"], only_overall=True)
        )
        unit_differences = difference_by_unit(baseline, candidate)
        comparisons.append(
            ComparedAnswers(differences["acc"], differences["f1@60"], unit_differences)
        )
    return comparisons


def test_answers_to_one_row_are_tested_by_their_mean(
    compared_answers: list[ComparedAnswers],
) -> None:
    """The answers of one run have no seed in common.

    Taken for runs of two seeds they would show nothing (p = .41).
    """
    for acc, _, unit_differences in compared_answers:
        assert acc.difference == pytest.approx(unit_differences.sum())

        # An independent test: the sums of units change their signs.
        signs = np.random.default_rng(0).choice([-1, 1], size=(20_000, len(unit_differences)))
        swapped_differences = abs(signs @ unit_differences)
        is_extreme = swapped_differences >= abs(unit_differences.sum()) - 1e-9
        assert acc.p_randomization == pytest.approx(float(is_extreme.mean()), abs=0.01)
        assert acc.p_repeats is None


def test_the_mean_of_answers_has_the_interval_of_independent_units(
    compared_answers: list[ComparedAnswers],
) -> None:
    for acc, f1, unit_differences in compared_answers:
        # The mean of unit sums has the error of independent units; its interval is about the same.
        units = len(unit_differences)
        error = unit_differences.std(ddof=1) * units**0.5
        width = 2 * stats.t.ppf(0.975, units - 1) * error
        assert acc.high is not None and acc.low is not None
        assert acc.high - acc.low == pytest.approx(width, rel=0.1)
        assert f1.p_randomization is not None and f1.low is not None and f1.low < f1.difference


def test_several_answers_to_a_row_are_one_run(
    weak: Run, strong: Run, compared_answers: list[ComparedAnswers]
) -> None:
    for acc, _, _ in compared_answers:
        assert (acc.baseline_repeats, acc.baseline_sd) == (1, None)
        assert (acc.baseline_rows, acc.candidate_rows) == (76, 76)

    f1_of_three_answers = compared_answers[-1].f1
    weak_f1 = reported_value(weak, "f1@60")
    strong_f1 = reported_value(strong, "f1@60")
    expected = (weak_f1 + 2 * strong_f1) / 3
    assert f1_of_three_answers.candidate_value == pytest.approx(expected)


def test_the_same_answers_once_more_change_no_comparison(weak: Run, strong: Run) -> None:
    options: dict[str, Any] = {
        "metrics": ["acc", "f1@60", "explanation_score"],
        "only_overall": True,
        "resamples": 300,
    }
    once = compare([asked_again("two", weak, strong), strong], **options)
    twice = compare([asked_again("two", weak, strong, weak, strong), strong], **options)
    fields = "name baseline_value difference low high p_randomization smallest_detectable".split()
    for difference, same_difference in zip(once, twice, strict=True):
        for field in fields:
            expected = pytest.approx(getattr(same_difference, field))
            assert getattr(difference, field) == expected, field


def test_seeds_whose_rows_are_asked_again_stay_seeds(weak: Run, strong: Run) -> None:
    seeds = [asked_again("seeds", weak, weak, strong), asked_again("seeds", strong, strong, weak)]
    (acc,) = compare([*seeds, strong], ["acc"], only_overall=True, resamples=200)
    values = [float(np.mean(list(mean_by_row(run).values()))) for run in seeds]
    assert (acc.baseline_repeats, acc.candidate_repeats) == (2, 1) and acc.p_repeats is not None
    assert acc.baseline_value == pytest.approx(np.mean(values))
    assert acc.baseline_sd == pytest.approx(np.std(values, ddof=1))


def test_rows_with_fewer_answers_than_others_are_refused(weak: Run, strong: Run) -> None:
    two_answers = asked_again("two", weak, strong)
    task = two_answers.tasks[MINI]
    shorter_task = dataclasses.replace(task, samples=task.samples[:-1])
    shorter = dataclasses.replace(two_answers, tasks={MINI: shorter_task})
    refused("figlang_mini: two has up to 2 answers to a row, but 151 to 76 rows", shorter, strong)


def test_repeats_that_are_none(weak: Run, strong: Run) -> None:
    renamed = dataclasses.replace(weak, name="strong")
    refused("only one run: give at least two", strong)
    refused("all 2 runs are named strong, and runs of one name are repeats", renamed, strong)
    task = renamed.tasks[MINI]
    of_one_task = dataclasses.replace(renamed, tasks={MINI: task})
    refused("1 of the 2 repeats of strong have it", of_one_task, strong, weak)
    shorter_task = dataclasses.replace(task, samples=task.samples[1:])
    shorter = dataclasses.replace(renamed, tasks={MINI: shorter_task})
    message = r"strong \(.*jsonl\) and strong \(.*jsonl\) were not evaluated on the same rows"
    refused(message, shorter, strong, weak)


# --- which metrics ---


def test_choice_of_metrics_and_sources(weak: Run, strong: Run) -> None:
    def names(**options: Any) -> set[str]:
        return set(by_name(compare([weak, strong], tasks=[MINI], resamples=100, **options)))

    assert names() == {"f1@60"} and names(all_metrics=True) > {"acc", "acc_muse", "f1@60"}
    assert names(metrics=["acc"]) > {"acc", "acc_muse"} and "f1@0" not in names(metrics=["acc"])
    assert names(metrics=["acc"], only_overall=True) == {"acc"}
    assert names(metrics=["acc_muse", "parse_rate"], only_overall=True) == {
        "acc_muse",
        "parse_rate",
    }
    message = r"no metric 'f1@61' in these runs \(did you mean `f1@60` or .*\?\); `figlang tasks"
    refused(message, weak, strong, tasks=[MINI], metrics=["f1@61"])


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["f1@0", "f1@53", "f1@60", "acc", "parse_rate"], "f1@60"),
        (["f1@0", "acc", "parse_rate"], "f1@0"),  # explanations were not scored
        # NYCC: the metrics with thresholds are no paper's
        (["bleu4", "rouge_l", "explained@0", "explained@60"], "bleu4"),
        (["parse_rate", "of my own"], "of my own"),
        ([], ""),
    ],
)
def test_the_headline_of_what_has_a_value(names: list[str], expected: str) -> None:
    assert measures.headline_metric(names) == expected


def test_the_headline_of_each_task_is_compared(weak: Run, strong: Run) -> None:
    headlines = {
        "figlang_mini_flute": "acc@60",
        "figlang_mini_nykms_metaphor": "mc_macro_f1",
        "figlang_mini_irfl_retrieve_metaphor": "p@k",  # has no scopes
    }
    differences = compare([weak, strong], tasks=list(headlines), resamples=100)
    assert {difference.task: difference.name for difference in differences} == headlines


def test_rows_that_count_in_one_run_alone_add_nothing(weak: Run, strong: Run) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    metric = "literal_preference"
    (difference,) = compare([weak, strong], [metric], [task], resamples=100)
    assert difference.baseline_rows != difference.candidate_rows and difference.p is not None
    assert difference.baseline_value == reported_value(weak, metric, task)
    assert difference.candidate_value == reported_value(strong, metric, task)


# --- which runs ---


def test_runs_of_other_units_are_not_compared(weak: Run, strong: Run) -> None:
    """Tests pair by units: with other ones, half of each run would be compared with nothing."""
    task = "figlang_mini_nykms_metaphor"
    samples = []
    for sample in strong.tasks[task].samples:
        record = {**sample["sample"], "unit": sample["sample"]["id"]}
        samples.append({**sample, "sample": record})
    message = r"not evaluated on the same rows; only in weak: 12 .*; only in strong, changed: 12 "
    refused(message, weak, changed(strong, task, samples=tuple(samples)), tasks=[task])


def test_one_run_across_its_tasks(weak: Run) -> None:
    blind_task = dataclasses.replace(weak.tasks[MINI], task="figlang_mini_blind")
    blind = dataclasses.replace(weak, tasks={blind_task.task: blind_task})
    seeing = changed(weak, MINI)
    (acc,) = compare([seeing, blind], ["acc"], only_overall=True, resamples=100)
    assert acc.task == "figlang_mini / figlang_mini_blind"
    assert (acc.difference, acc.p_randomization) == (0, 1)


def test_a_metric_of_one_of_two_tasks_alone_is_left_out(weak: Run) -> None:
    """Also where the tasks have unlike numbers of answers to a row."""
    asked_twice = asked_again("twice", weak, weak)
    task = weak.tasks[MINI]
    fewer_measures = dataclasses.replace(task.kind.measures, by_name=without(task, "f1@53"))
    kind = dataclasses.replace(task.kind, measures=fewer_measures)
    blind_task = dataclasses.replace(task, task="figlang_mini_blind", kind=kind)
    blind = dataclasses.replace(weak, name="blind", tasks={blind_task.task: blind_task})
    differences = by_name(
        compare([asked_twice, blind], all_metrics=True, only_overall=True, resamples=100)
    )
    assert "acc" in differences and "f1@53" not in differences


def without(task: Any, metric: str) -> Mapping[str, Any]:
    """The measures of a task but one, by name."""
    measures_by_name = dict(task.kind.measures.by_name)
    del measures_by_name[metric]
    return measures_by_name


def test_other_rows_data_and_versions_are_refused(weak: Run, strong: Run) -> None:
    mini = strong.tasks[MINI]
    first_ids = ", ".join(sorted(mini.ids[:52])[:5])
    message = (
        rf"not evaluated on the same rows; only in weak: 52 \({first_ids}, and 47 more\)\."
        r" Evaluate both .*--limit"
    )
    refused(message, weak, changed(strong, MINI, samples=mini.samples[52:]))
    other_data = DataId.parse("figlang_mini/test:000000000000")
    refused("evaluate both on one version", weak, changed(strong, MINI, data=other_data))
    old_version = changed(strong, MINI, config={"metadata": {"version": "1-4"}})
    refused("of task version 5-0, .* of 1-4", weak, old_version)


def test_other_scorers_are_refused(weak: Run, strong: Run) -> None:
    other_scorer = changed(strong, MINI, signature="vflute25|...")
    refused("the explanations have different scorers .*figlang score", weak, other_scorer)
    refused("different scorers", weak, other_scorer, metrics=["f1@60_muse", "acc"])
    # A samples file alone names the scorer, not the models behind it.
    samples_alone = changed(strong, MINI, signature=None)
    (f1,) = compare([weak, samples_alone], ["f1@60"], only_overall=True, resamples=100)
    assert f1.difference > 0
    refused("different scorers", weak, changed(samples_alone, MINI, scorer="vflute25"))
    labels_alone = changed(strong, MINI, signature=None, scorer=None)
    refused("different scorers .*no scores", weak, labels_alone)
    (acc,) = compare([weak, labels_alone], ["acc"], only_overall=True, resamples=100)
    assert acc.metric == "acc"


def test_runs_without_a_common_task_are_refused(weak: Run, strong: Run) -> None:
    mini = strong.tasks[MINI]
    of_another_task = dataclasses.replace(strong, tasks={"other": mini})
    refused("These runs have no task in common. weak: .*; strong: other", weak, of_another_task)
    other_data = DataId.parse("figlang_mini/test:000000000000")
    on_other_data = dataclasses.replace(mini, data=other_data)
    newer = dataclasses.replace(strong, tasks={"other": on_other_data})
    message = "figlang_mini on .* strong: other on figlang_mini/test:000000000000"
    refused(message, changed(weak, MINI), newer)
    refused("share the task vflute; they share: figlang_mini", weak, strong, tasks=["vflute"])


def test_other_prompts_of_a_task_are_a_warning(
    weak: Run, strong: Run, warnings_of_loguru: list[str]
) -> None:
    baseline = changed(weak, MINI, config={"metadata": {"prompt_hash": "x"}})
    candidate = changed(strong, MINI, config={"metadata": {"prompt_hash": "y"}})
    compare([baseline, candidate], ["acc"], only_overall=True, resamples=100)
    assert any("used different prompts" in message for message in warnings_of_loguru)
