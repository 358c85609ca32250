"""Says in one sentence which run is better.

``figlang compare`` ends with these sentences, and a report begins with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from figlang_tasks.core.text import printable
from figlang_tasks.report.difference import difference_text, p_text, rows_text
from figlang_tasks.results import measures
from figlang_tasks.results.comparison import Difference, adjust_p_values, compare
from figlang_tasks.results.groups import (
    ALPHA,
    count_tests,
    indistinguishable_groups,
    significance,
)
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import OVERALL


def verdicts(differences: Sequence[Difference]) -> list[str]:
    """Sentences that say for each task which run is better, by the task's main metric.

    More than two runs are ranked if all pairs of them were tested by one metric; otherwise each
    pair has its sentence. Numbers are those of the tables: the candidate minus the baseline, p
    adjusted for all tests. What is about significant differences comes first.

    Args:
        differences: all that were tested together, with `p_holm`.

    Returns:
        A text for each ranking, and for each pair of runs that is not in one.
    """
    tests = count_tests(differences)
    significant: list[str] = []
    others: list[str] = []
    for main_differences in _main_differences(differences).values():
        if _can_be_ranked(main_differences):
            any_significant = any(map(significance, main_differences))  # None is false
            texts = significant if any_significant else others
            texts.append(_ranking_text(main_differences, tests))
            continue
        for difference in main_differences:
            texts = significant if significance(difference) else others
            texts.append(_pair_sentence(difference, tests))
    return [printable(text) for text in [*significant, *others]]


def verdicts_against(baseline: Run, runs: Sequence[Run]) -> list[str]:
    """Sentences that say for each task whether a model is better than a baseline.

    Args:
        runs: the runs of the model.

    Raises:
        ComparisonError: no run shares a task with the baseline, or they cannot be compared.
    """
    for task in baseline.tasks.values():
        task.check_consistent()
    if baseline.name in {run.name for run in runs}:
        baseline = replace(baseline, name="the baseline")
    runs_that_share_a_task: list[Run] = []
    for run in runs:
        if run.tasks.keys() & baseline.tasks.keys():
            runs_that_share_a_task.append(run)
    differences: list[Difference] = []
    # If no run shares a task, `compare` raises the error that says so.
    for run in runs_that_share_a_task or runs:
        differences += compare([baseline, run])
    # Each comparison adjusted its p for its own tests; the sentences are about all of them.
    return verdicts(adjust_p_values(differences))


def _main_differences(differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    """The differences by the main metric, one for each pair of runs, by task."""
    # By task, and then by the names of baseline and candidate
    pairs_by_task: dict[str, dict[tuple[str, str], list[Difference]]] = {}
    for difference in differences:
        pairs_of_task = pairs_by_task.setdefault(difference.task, {})
        pairs_of_task.setdefault(difference.pair, []).append(difference)

    main_differences: dict[str, list[Difference]] = {}
    for task, pairs_of_task in pairs_by_task.items():
        main_differences[task] = list(map(_main_difference, pairs_of_task.values()))
    return main_differences


def _main_difference(differences: Sequence[Difference]) -> Difference:
    """The difference by the main metric, from all differences of two runs on a task.

    Differences that were tested are preferred, and among them those over all rows.
    """
    tested = [difference for difference in differences if difference.p is not None]
    preferred = tested or differences
    overall = [difference for difference in preferred if difference.scope == OVERALL]
    preferred = overall or preferred
    main_metric = measures.headline_metric(difference.metric for difference in preferred)
    by_main_metric = [difference for difference in preferred if difference.metric == main_metric]
    return by_main_metric[0]  # of several scopes, the first in the order of tables


# --- several runs ---


def _can_be_ranked(differences: Sequence[Difference]) -> bool:
    """Whether there are more than two runs, and all pairs of them were tested by one metric.

    Args:
        differences: one for each pair of runs on a task that could be compared.
    """
    runs: set[str] = set()
    for difference in differences:
        runs.update(difference.pair)
    all_compared = len(differences) == math.comb(len(runs), 2)  # a pair may be missing
    metrics = {difference.name for difference in differences}
    all_tested = count_tests(differences) == len(differences)
    return len(runs) > 2 and all_compared and len(metrics) == 1 and all_tested


def _ranking_text(differences: Sequence[Difference], tests: int) -> str:
    """Two sentences: the ranking of the runs on a task, and which of them cannot be told apart.

    Args:
        differences: one for each pair of runs, all by one metric.
        tests: the number of tests that p is adjusted for.
    """
    task = differences[0].task
    metric = differences[0].metric
    values: dict[str, float] = {}
    for difference in differences:
        values[difference.baseline] = difference.baseline_value
        values[difference.candidate] = difference.candidate_value
    higher_is_better = measures.measure_of(metric).higher_is_better
    ranking = sorted(values, key=values.__getitem__, reverse=higher_is_better)

    ranked_values: list[str] = []
    for run in ranking:
        ranked_values.append(f"{run} {measures.value_text(metric, values[run])}")
    groups = [group for group in indistinguishable_groups(ranking, differences) if len(group) > 1]
    adjusted = f"adjusted for {tests} tests"
    if groups:
        group_texts = "; ".join(", ".join(group) for group in groups)
        conclusion = f"Cannot be told apart: {group_texts} (p ≥ {ALPHA}, {adjusted})"
    else:
        conclusion = f"All differ (p < {ALPHA}, {adjusted})"
    metric_text = measures.name_text(differences[0].name)
    return f"Ranking on {task} by {metric_text}: {'; '.join(ranked_values)}. {conclusion}"


# --- two runs ---


def _pair_sentence(difference: Difference, tests: int) -> str:
    """A sentence that says whether the candidate of a pair is better or worse than the baseline.

    Or that it cannot be told from the baseline, and why; or that there was no test.

    Args:
        tests: the number of tests that p is adjusted for.
    """
    baseline = difference.baseline
    candidate = difference.candidate
    task = difference.task
    numbers = difference_text(difference.metric, difference.estimate)
    numbers = f"{measures.name_text(difference.name)} {numbers}"
    if not measures.measure_of(difference.metric).higher_is_better:
        numbers += " (lower is better)"
    if difference.p_holm is None:
        return f"No test of {candidate} against {baseline} on {task}: {numbers}"
    numbers += f", p {p_text(difference.p_holm)}"
    if tests > 1:
        numbers += f" (adjusted for {tests} tests)"
    better_or_worse = significance(difference)
    if better_or_worse is not None:
        return f"{candidate} is {better_or_worse} than {baseline} on {task}: {numbers}"
    rows = rows_text(difference)
    with_rows = f" with {rows} rows" if rows else ""
    reason = _reason_not_significant(difference)
    return f"Cannot tell {candidate} from {baseline} on {task}{with_rows}: {numbers}; {reason}"


def _excludes_zero(difference: Difference) -> bool:
    """Whether a difference has an interval, and 0 is outside of it."""
    if difference.low is None or difference.high is None:
        return False
    return difference.low > 0 or difference.high < 0


def _reason_not_significant(difference: Difference) -> str:
    """Why a tested difference is not significant, as a clause: ``too few rows differ``."""
    if difference.p is not None and difference.p < ALPHA:
        return f"p {p_text(difference.p)} alone, but there are too many tests at once"
    if _excludes_zero(difference):
        return "the interval is approximate with so few rows, and p decides"
    if difference.smallest_detectable is None:  # unknown if too few units differ
        return "too few rows differ"
    smallest = measures.value_text(difference.metric, difference.smallest_detectable)
    if measures.measure_of(difference.metric).percent:
        smallest += " points"
    return f"differences below {smallest} do not show"
