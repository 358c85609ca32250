"""Says in one sentence which run is better.

``figlang compare`` ends with these sentences, and a report begins with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from figlang_tasks.core.text import printable
from figlang_tasks.report.difference import (
    ALPHA,
    count_tests,
    difference_text,
    is_improvement,
    is_significant,
    p_text,
    rows_text,
)
from figlang_tasks.results import measures
from figlang_tasks.results.comparison import Difference, adjust_p_values, compare
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import OVERALL


def verdicts(differences: Sequence[Difference]) -> list[str]:
    """Say in a sentence for each task which run is better, by the task's main metric.

    More than two runs are ranked in one sentence if all pairs of them were tested by one metric;
    otherwise each pair has its sentence. Numbers are those of the tables: the candidate minus the
    baseline, p adjusted for all tests. Sentences about significant differences come first.
    """
    tests = count_tests(differences)
    significant: list[str] = []
    others: list[str] = []
    for main_differences in _main_differences(differences).values():
        if _can_be_ranked(main_differences):
            any_significant = any(map(is_significant, main_differences))
            sentences = significant if any_significant else others
            sentences.append(_ranking_sentence(main_differences, tests))
            continue
        for difference in main_differences:
            sentences = significant if is_significant(difference) else others
            sentences.append(_pair_sentence(difference, tests))
    return [printable(sentence) for sentence in dict.fromkeys([*significant, *others])]


def verdicts_against(baseline: Run, runs: Sequence[Run]) -> list[str]:
    """Say for each task that a model shares with a baseline whether it is better.

    Args:
        runs: of one model.
    """
    for task in baseline.tasks.values():
        task.check_consistent()
    if baseline.name in {run.name for run in runs}:
        baseline = replace(baseline, name="the baseline")
    # Where no run shares a task, the comparison of the first says so.
    sharing = [run for run in runs if run.tasks.keys() & baseline.tasks.keys()] or runs
    differences: list[Difference] = []
    for run in sharing:
        differences += compare([baseline, run])
    return verdicts(adjust_p_values(differences))


def _main_differences(differences: Sequence[Difference]) -> dict[str, list[Difference]]:
    """By task, the difference of each pair of runs that stands for the pair."""
    by_task: dict[str, dict[tuple[str, str], list[Difference]]] = {}
    for difference in differences:
        pair = (difference.baseline, difference.candidate)
        by_task.setdefault(difference.task, {}).setdefault(pair, []).append(difference)
    return {task: list(map(_main_difference, pairs.values())) for task, pairs in by_task.items()}


def _main_difference(differences: Sequence[Difference]) -> Difference:
    """Choose the difference that stands for two runs on a task: the one by the main metric.

    Differences that were tested are preferred, among them those over all rows.
    """
    candidates = [each for each in differences if each.p is not None] or differences
    candidates = [each for each in candidates if each.scope == OVERALL] or candidates
    main_metric = measures.headline_metric(difference.metric for difference in candidates)
    return next(difference for difference in candidates if difference.metric == main_metric)


# --- several runs ---


def _can_be_ranked(differences: Sequence[Difference]) -> bool:
    """Whether there are several pairs of runs, and all were tested by one metric."""
    metrics = {difference.name for difference in differences}
    all_tested = count_tests(differences) == len(differences)
    return len(differences) > 1 and len(metrics) == 1 and all_tested


def _ranking_sentence(differences: Sequence[Difference], tests: int) -> str:
    """Rank runs on a task, and say which of them cannot be told apart.

    Args:
        differences: one for each pair of runs, by one metric.
        tests: for how many p is adjusted.
    """
    metric = differences[0].metric
    values: dict[str, float] = {}
    for difference in differences:
        values[difference.baseline] = difference.baseline_value
        values[difference.candidate] = difference.candidate_value
    higher_is_better = measures.measure_of(metric).higher_is_better
    ranking = sorted(values, key=values.__getitem__, reverse=higher_is_better)

    ranked_values = "; ".join(
        f"{run} {measures.value_text(metric, values[run])}" for run in ranking
    )
    groups = _indistinguishable_groups(ranking, differences)
    if groups:
        group_texts = "; ".join(", ".join(group) for group in groups)
        conclusion = f"Cannot be told apart: {group_texts} (p ≥"
    else:
        conclusion = "All differ (p <"
    name = measures.name_text(differences[0].name)
    return (
        f"Ranking on {differences[0].task} by {name}: {ranked_values}."
        f" {conclusion} {ALPHA}, adjusted for {tests} tests)"
    )


def _indistinguishable_groups(
    ranking: Sequence[str], differences: Sequence[Difference]
) -> list[list[str]]:
    """Find the largest groups of runs of which no two differ significantly, best group first.

    A run may be in several groups. The method is insert and absorb (Piepho 2004, "An Algorithm for
    a Letter-Based Representation of All-Pairwise Comparisons", JCGS 13(2)).
    """
    groups = [frozenset(ranking)]
    for difference in filter(is_significant, differences):
        groups = _split(groups, difference.baseline, difference.candidate)
    ranked_groups = []
    for group in groups:
        if len(group) > 1:
            ranked_groups.append([run for run in ranking if run in group])
    return sorted(ranked_groups, key=lambda group: [ranking.index(run) for run in group])


def _split(groups: Sequence[frozenset[str]], run: str, other: str) -> list[frozenset[str]]:
    """Split groups of runs so that none holds both of two runs that differ.

    A group with both becomes two, each without one of them. Groups that are part of another are
    left out.
    """
    split: list[frozenset[str]] = []
    for group in groups:
        if run in group and other in group:
            split += [group - {run}, group - {other}]
        else:
            split.append(group)
    return [group for group in dict.fromkeys(split) if not _is_part_of_another(group, split)]


def _is_part_of_another(group: frozenset[str], groups: Sequence[frozenset[str]]) -> bool:
    return any(group < larger for larger in groups)


# --- two runs ---


def _pair_sentence(difference: Difference, tests: int) -> str:
    """Say whether the candidate is better or worse, or cannot be told from the baseline.

    Args:
        tests: for how many p is adjusted.
    """
    baseline = difference.baseline
    candidate = difference.candidate
    task = difference.task
    numbers = f"{measures.name_text(difference.name)} {difference_text(difference)}"
    if not measures.measure_of(difference.metric).higher_is_better:
        numbers += " (lower is better)"
    if difference.p_holm is None:
        return f"No test of {candidate} against {baseline} on {task}: {numbers}"
    numbers += f", p {p_text(difference.p_holm)}"
    if tests > 1:
        numbers += f" (adjusted for {tests} tests)"
    if is_significant(difference):
        comparative = "better" if is_improvement(difference) else "worse"
        return f"{candidate} is {comparative} than {baseline} on {task}: {numbers}"
    rows = rows_text(difference)
    with_rows = f" with {rows} rows" if rows else ""
    reason = _reason_not_significant(difference)
    return f"Cannot tell {candidate} from {baseline} on {task}{with_rows}: {numbers}; {reason}"


def _excludes_zero(difference: Difference) -> bool:
    """Whether a difference has an interval, and 0 is outside of it."""
    if difference.low is None or difference.high is None:
        return False
    return difference.low * difference.high > 0


def _reason_not_significant(difference: Difference) -> str:
    """Explain why a difference is not significant."""
    if difference.p is not None and difference.p < ALPHA:
        return f"p {p_text(difference.p)} alone, but there are too many tests at once"
    if _excludes_zero(difference):
        return "the interval is approximate with so few rows, and p decides"
    if difference.smallest is None:
        return "too few rows differ"
    smallest = measures.value_text(difference.metric, difference.smallest)
    if measures.measure_of(difference.metric).percent:
        smallest += " points"
    return f"differences below {smallest} do not show"
