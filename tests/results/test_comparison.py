"""Differences of runs by statistics of their records; runs that cannot be compared are refused."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import varied_runs
from scipy import stats

from figlang_tasks.core.data_id import DataId
from figlang_tasks.results import comparison, measures, runs
from figlang_tasks.results.comparability import ComparisonError
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Estimate


@pytest.fixture(scope="module")
def weak() -> Run:
    return runs.read(f"weak={varied_runs.weak()}")


@pytest.fixture(scope="module")
def strong() -> Run:
    return runs.read(f"strong={varied_runs.strong()}")


def changed(run: Run, task: str, **values: Any) -> Run:
    own = dataclasses.replace(run.tasks[task], **values)
    return dataclasses.replace(run, name=f"{run.name}, changed", tasks={task: own})


def refused(match: str, *found: Run, **options: Any) -> None:
    with pytest.raises(ComparisonError, match=match):
        comparison.compare(found, resamples=100, **options)


def test_a_run_against_another(weak: Run, strong: Run) -> None:
    found = comparison.compare([weak, strong], tasks=["figlang_mini"], resamples=1000, every=True)
    by_name = {each.name: each for each in found}
    f1 = by_name["f1@60"]
    assert (f1.task, f1.metric, f1.scope, f1.baseline, f1.candidate) == (
        "figlang_mini",
        "f1@60",
        "all",
        "weak",
        "strong",
    )
    assert f1.baseline_value == pytest.approx(
        weak.tasks["figlang_mini"].reported["f1@60"]["all"].value
    )
    assert (f1.baseline_rows, f1.candidate_rows, by_name["f1@60_muse"].baseline_rows) == (
        76,
        76,
        12,
    )
    assert f1.low is not None and f1.high is not None and 0 < f1.low <= f1.difference <= f1.high
    assert f1.p_randomization == 1 / 1001  # the strong one is far better
    assert f1.p_holm is not None and f1.p_holm > f1.p_randomization
    assert by_name["f1@60_muse"].scope == "muse"
    assert not {"parse_rate", "parse_disagreement"} & {each.metric for each in found}


def test_metrics_without_sums_have_a_difference_and_no_test(weak: Run, strong: Run) -> None:
    task = "figlang_mini_metaclue_caption"
    with_meteor = [
        changed(
            run, task, reported={**run.tasks[task].reported, "meteor": {"all": Estimate(value)}}
        )
        for run, value in ((weak, 0.25), (strong, 0.375))
    ]
    found = comparison.compare(with_meteor, overall=True, resamples=100, every=True)
    assert {each.metric: each.p_randomization is not None for each in found} == {
        "em": True, "bleu4": True, "rouge_l": True, "cider": True, "meteor": False
    }  # fmt: skip
    assert [(each.difference, each.p_holm) for each in found if each.metric == "meteor"] == [
        (0.125, None)
    ]


def test_runs_of_one_name_are_repeats(
    weak: Run, strong: Run, warnings_of_loguru: list[str]
) -> None:
    repeats = [dataclasses.replace(run, name="both") for run in (weak, strong)]
    options: dict[str, Any] = {
        "metrics": ["acc", "parse_rate"],
        "tasks": ["figlang_mini"],
        "resamples": 200,
    }
    found = {each.name: each for each in comparison.compare([*repeats, strong], **options)}
    acc, values = (
        found["acc"],
        [run.tasks["figlang_mini"].reported["acc"]["all"].value for run in (weak, strong)],
    )
    assert acc.baseline_value == pytest.approx(
        np.mean(values)
    ) and acc.baseline_sd == pytest.approx(np.std(values, ddof=1))
    assert (acc.baseline_repeats, acc.candidate_repeats, acc.candidate_sd, acc.baseline_rows) == (
        2,
        1,
        None,
        76,
    )
    assert (
        acc.p_randomization is None
        and acc.p == acc.p_repeats is not None
        and acc.p_holm is not None
    )
    assert found["parse_rate"].p is None and found["parse_rate"].baseline_repeats == 2
    single = comparison.compare([weak, strong], **options)
    beside = comparison.compare(
        [*(dataclasses.replace(run, name="both") for run in (weak, weak)), weak, strong], **options
    )
    assert [each.p for each in beside if each.baseline == "weak"] == [each.p for each in single]
    (told,) = warnings_of_loguru
    assert "figlang_mini: repeats of both have equal answers in all rows: leave out copies" in told


def asked_again(name: str, *answers: Run) -> Run:
    """A run with an answer of each of some runs to each row of figlang_mini, as ``--repeats`` has
    them.
    """
    first, *_ = answers
    lines = []
    for number, run in enumerate(answers, start=1):
        for line in run.tasks["figlang_mini"].samples:
            lines.append({**line, "sample": {**line["sample"], "repeat": number}})
    task = dataclasses.replace(first.tasks["figlang_mini"], samples=tuple(lines), reported={})
    return dataclasses.replace(first, name=name, tasks={"figlang_mini": task})


def means_of_rows(run: Run) -> dict[str, float]:
    """The share of right labels among the answers to each row."""
    answers: dict[str, list[bool]] = {}
    for record in run.tasks["figlang_mini"].records:
        answers.setdefault(record["id"], []).append(record["predicted"] == record["gold"])
    return {row: float(np.mean(right)) for row, right in answers.items()}


def test_answers_to_one_row_are_compared_by_their_mean(weak: Run, strong: Run) -> None:
    """Those of one run have no seed in common: taken for runs of two seeds they would show nothing
    (p = .41).
    """
    two, three = asked_again("two", weak, strong), asked_again("three", strong, strong, weak)
    options: dict[str, Any] = {"metrics": ["acc", "f1@60"], "overall": True}
    units = {record["id"]: record["unit"] for record in weak.tasks["figlang_mini"].records}
    for baseline, candidate in ((two, strong), (two, three), (weak, three)):
        found = {each.name: each for each in comparison.compare([baseline, candidate], **options)}
        acc, f1 = found["acc"], found["f1@60"]
        # An independent test: the sums of units change their signs.
        before, after = means_of_rows(baseline), means_of_rows(candidate)
        differences = dict.fromkeys(units.values(), 0.0)
        for row, unit in units.items():
            differences[unit] += (after[row] - before[row]) / len(units)
        signs = np.random.default_rng(0).choice([-1, 1], size=(20_000, len(differences)))
        of_units = np.array(list(differences.values()))
        assert acc.difference == pytest.approx(of_units.sum())
        expected = float((abs(signs @ of_units) >= abs(of_units.sum()) - 1e-9).mean())
        assert acc.p_randomization == pytest.approx(expected, abs=0.01) and acc.p_repeats is None
        # The mean of unit sums has the error of independent units, from which the interval is not
        # far.
        error = of_units.std(ddof=1) * len(of_units) ** 0.5
        assert acc.high is not None and acc.low is not None
        assert acc.high - acc.low == pytest.approx(
            2 * stats.t.ppf(0.975, len(of_units) - 1) * error, rel=0.1
        )
        assert (acc.baseline_repeats, acc.baseline_sd, acc.baseline_rows, acc.candidate_rows) == (
            1,
            None,
            76,
            76,
        )
        assert f1.p_randomization is not None and f1.low is not None and f1.low < f1.difference
    f1_of = {
        run.name: run.tasks["figlang_mini"].reported["f1@60"]["all"].value for run in (weak, strong)
    }
    assert f1.candidate_value == pytest.approx((f1_of["weak"] + 2 * f1_of["strong"]) / 3)


def test_the_same_answers_once_more_change_no_comparison(weak: Run, strong: Run) -> None:
    once, again = asked_again("two", weak, strong), asked_again("two", weak, strong, weak, strong)
    options: dict[str, Any] = {
        "metrics": ["acc", "f1@60", "explanation_score"],
        "overall": True,
        "resamples": 300,
    }
    (*expected,), (*found,) = (
        comparison.compare([run, strong], **options) for run in (once, again)
    )
    for one, other in zip(expected, found, strict=True):
        for field in (
            "name",
            "baseline_value",
            "difference",
            "low",
            "high",
            "p_randomization",
            "smallest",
        ):
            assert getattr(one, field) == pytest.approx(getattr(other, field)), field


def test_seeds_whose_rows_are_asked_again_stay_seeds(weak: Run, strong: Run) -> None:
    seeds = [asked_again("seeds", weak, weak, strong), asked_again("seeds", strong, strong, weak)]
    (acc,) = comparison.compare([*seeds, strong], ["acc"], overall=True, resamples=200)
    values = [float(np.mean(list(means_of_rows(run).values()))) for run in seeds]
    assert (acc.baseline_repeats, acc.candidate_repeats) == (2, 1) and acc.p_repeats is not None
    assert acc.baseline_value == pytest.approx(
        np.mean(values)
    ) and acc.baseline_sd == pytest.approx(np.std(values, ddof=1))


def test_rows_with_fewer_answers_than_others_are_refused(weak: Run, strong: Run) -> None:
    two = asked_again("two", weak, strong)
    task = two.tasks["figlang_mini"]
    cut = dataclasses.replace(
        two, tasks={"figlang_mini": dataclasses.replace(task, samples=task.samples[:-1])}
    )
    refused("figlang_mini: two has up to 2 answers to a row, but 151 to 76 rows", cut, strong)


def test_repeats_that_are_none(weak: Run, strong: Run) -> None:
    first = dataclasses.replace(weak, name="strong")
    refused("only one run", first, strong)
    left = dataclasses.replace(first, tasks={"figlang_mini": first.tasks["figlang_mini"]})
    refused("1 of the 2 repeats of strong have it", left, strong, weak)
    cut = dataclasses.replace(
        first.tasks["figlang_mini"], samples=first.tasks["figlang_mini"].samples[1:]
    )
    cut_run = dataclasses.replace(first, tasks={"figlang_mini": cut})
    refused(
        r"strong \(.*jsonl\) and strong \(.*jsonl\) were not evaluated on the same rows",
        cut_run,
        strong,
        weak,
    )


def test_runs_of_other_units_are_not_compared(weak: Run, strong: Run) -> None:
    """Paired by other units nothing would be paired: half of each run against nothing."""
    task = "figlang_mini_nykms_metaphor"
    of = strong.tasks[task]
    earlier = [
        {**line, "sample": {**line["sample"], "unit": line["sample"]["id"]}} for line in of.samples
    ]
    told = r"not evaluated on the same rows; only in weak: 12 .*; only in strong, changed: 12 "
    refused(told, weak, changed(strong, task, samples=tuple(earlier)), tasks=[task])


def test_choice_of_metrics_and_sources(weak: Run, strong: Run) -> None:
    def names(**options: Any) -> set[str]:
        found = comparison.compare([weak, strong], tasks=["figlang_mini"], resamples=100, **options)
        return {each.name for each in found}

    assert names() == {"f1@60"} and names(every=True) > {"acc", "acc_muse", "f1@60"}
    assert names(metrics=["acc"]) > {"acc", "acc_muse"} and "f1@0" not in names(metrics=["acc"])
    assert names(metrics=["acc"], overall=True) == {"acc"}
    assert names(metrics=["acc_muse", "parse_rate"], overall=True) == {"acc_muse", "parse_rate"}
    refused(
        "no metric 'f1' in these runs; there are: acc, ",
        weak,
        strong,
        tasks=["figlang_mini"],
        metrics=["f1"],
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["f1@0", "f1@53", "f1@60", "acc", "parse_rate"], "f1@60"),
        (["f1@0", "acc", "parse_rate"], "f1@0"),  # explanations were not scored
        # NYCC: those of thresholds are no paper's
        (["bleu4", "rouge_l", "explained@0", "explained@60"], "bleu4"),
        (["parse_rate", "of my own"], "of my own"),
        ([], ""),
    ],
)
def test_the_headline_of_what_has_a_value(names: list[str], expected: str) -> None:
    assert measures.headline_metric(names) == expected


def test_the_headline_of_each_task_is_compared(weak: Run, strong: Run) -> None:
    heads = {"figlang_mini_flute": "acc@60", "figlang_mini_nykms_metaphor": "mc_macro_f1"}
    heads["figlang_mini_irfl_retrieve_metaphor"] = "p@k"  # which has no parts
    found = comparison.compare([weak, strong], tasks=list(heads), resamples=100)
    assert {each.task: each.name for each in found} == heads


def test_one_run_across_its_tasks(weak: Run) -> None:
    image = changed(weak, "figlang_mini")
    own = dataclasses.replace(weak.tasks["figlang_mini"], task="figlang_mini_blind")
    blind = dataclasses.replace(weak, tasks={own.task: own})
    found = comparison.compare([image, blind], ["acc"], overall=True, resamples=100)
    assert [(each.task, each.difference, each.p_randomization) for each in found] == [
        ("figlang_mini / figlang_mini_blind", 0, 1)
    ]


def test_what_cannot_be_compared(weak: Run, strong: Run) -> None:
    task = "figlang_mini"
    mini = strong.tasks[task]

    ids = ", ".join(sorted(mini.ids[:52])[:5])
    told = (
        rf"not evaluated on the same rows; only in weak: 52 \({ids}, and 47 more\)\. Evaluate both"
        r" .*--limit"
    )
    refused(told, weak, changed(strong, task, samples=mini.samples[52:]))
    other_data = dataclasses.replace(mini, data=DataId.parse("figlang_mini/test:000000000000"))
    refused("evaluate both on one version", weak, changed(strong, task, data=other_data.data))
    other_scorer = changed(strong, task, signature="vflute25|...")
    refused("the explanations have different scorers .*figlang score", weak, other_scorer)
    refused("different scorers", weak, other_scorer, metrics=["f1@60_muse", "acc"])
    refused(
        "of task version 5-0, .* of 1-4",
        weak,
        changed(strong, task, config={"metadata": {"version": "1-4"}}),
    )
    # a samples file alone tells the scorer, not the models behind it
    lone = changed(strong, task, signature=None)
    assert (
        comparison.compare([weak, lone], ["f1@60"], overall=True, resamples=100)[0].difference > 0
    )
    refused("different scorers", weak, changed(lone, task, scorer="vflute25"))
    only_labels = changed(strong, task, signature=None, scorer=None)
    refused("different scorers .*no scores", weak, only_labels)
    assert (
        comparison.compare([weak, only_labels], ["acc"], overall=True, resamples=100)[0].metric
        == "acc"
    )
    refused(
        "no two of the runs share a task", weak, dataclasses.replace(strong, tasks={"other": mini})
    )
    newer = dataclasses.replace(strong, tasks={"other": other_data})
    refused(
        "figlang_mini on .* figlang_mini on figlang_mini/test:000000000000 in strong",
        changed(weak, task),
        newer,
    )
    refused("share the task vflute; they share: figlang_mini", weak, strong, tasks=["vflute"])


def test_other_prompts_of_a_task_are_told(
    weak: Run, strong: Run, warnings_of_loguru: list[str]
) -> None:
    runs = [
        changed(run, "figlang_mini", config={"metadata": {"prompt_hash": text}})
        for run, text in ((weak, "x"), (strong, "y"))
    ]
    comparison.compare(runs, ["acc"], overall=True, resamples=100)
    assert any("used different prompts" in message for message in warnings_of_loguru)


def test_of_rows_that_count_in_one_run_alone_nothing_is_added(weak: Run, strong: Run) -> None:
    task = "figlang_mini_irfl_detect_idiom"
    (found,) = comparison.compare([weak, strong], ["literal_preference"], [task], resamples=100)
    assert found.baseline_rows != found.candidate_rows and found.p is not None
    values = [run.tasks[task].reported["literal_preference"]["all"].value for run in (weak, strong)]
    assert [found.baseline_value, found.candidate_value] == values
