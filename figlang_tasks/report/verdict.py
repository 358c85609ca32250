"""Says in one sentence which run is better: ``figlang compare`` ends with it, a report begins with
it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from figlang_tasks.core.text import listing, printable
from figlang_tasks.results import measures
from figlang_tasks.results.comparison import Difference, adjust_p_values, compare
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05
LEAST_P = 0.00005
"""With four digits, less reads as 0."""


def verdicts(differences: Sequence[Difference]) -> list[str]:
    """A sentence for each task, by its headline metric: which of two runs is better, or a ranking
    of several.

    Number, sign, interval and p are those of the tables: the candidate minus the baseline, p
    adjusted for all tests. What differs significantly comes first.
    """
    tasks: dict[str, dict[tuple[str, str], list[Difference]]] = {}
    for each in differences:
        tasks.setdefault(each.task, {}).setdefault((each.baseline, each.candidate), []).append(each)
    tests = count_tests(differences)
    found: dict[str, bool] = {}
    for pairs in tasks.values():
        heads = [headline(pair) for pair in pairs.values()]
        is_ranking = (
            len(heads) > 1
            and len({each.name for each in heads}) == 1
            and count_tests(heads) == len(heads)
        )
        if is_ranking:
            found[_ranking(heads, tests)] = any(map(better, heads))
        else:
            found |= {_sentence(each, tests): better(each) is not None for each in heads}
    return [printable(sentence) for sentence in sorted(found, key=found.__getitem__, reverse=True)]


def against(baseline: Run, runs: Sequence[Run]) -> list[str]:
    """A sentence for each task that `runs` of one model share with `baseline`: whether it is
    better.
    """
    for task in baseline.tasks.values():
        task.check_consistent()
    if baseline.name in {run.name for run in runs}:
        baseline = replace(baseline, name="the baseline")
    shared = [run for run in runs if run.tasks.keys() & baseline.tasks.keys()] or runs
    return verdicts(adjust_p_values([each for run in shared for each in compare([baseline, run])]))


def headline(pair: Sequence[Difference]) -> Difference:
    """The difference that stands for two runs on a task: by its headline metric; a tested one, if
    any is.
    """
    tested = [each for each in pair if each.p is not None] or pair
    whole = [each for each in tested if each.scope == OVERALL] or tested
    metric = measures.headline_metric(each.metric for each in whole)
    return next(each for each in whole if each.metric == metric)


def _ranking(heads: Sequence[Difference], tests: int) -> str:
    """The order of more than two runs on a task, and which of them cannot be told apart."""
    one = heads[0]
    values = {each.baseline: each.baseline_value for each in heads} | {
        each.candidate: each.candidate_value for each in heads
    }
    order = sorted(
        values, key=values.__getitem__, reverse=measures.measure_of(one.metric).higher_is_better
    )
    places = "; ".join(f"{name} {measures.value_text(one.metric, values[name])}" for name in order)
    groups = _alike(order, heads)
    alike = "; ".join(", ".join(filter(group.__contains__, order)) for group in groups)
    told = f"Cannot be told apart: {alike} (p ≥" if groups else "All differ (p <"
    name = measures.name_text(one.name)
    return f"Ranking on {one.task} by {name}: {places}. {told} {ALPHA}, adjusted for {tests} tests)"


def _alike(order: Sequence[str], heads: Sequence[Difference]) -> list[frozenset[str]]:
    """The largest groups of runs of which no two differ significantly, best first; a run may be in
    several.
    """
    groups = [frozenset(order)]
    for each in filter(better, heads):
        pair = {each.baseline, each.candidate}
        parts = [group - {name} for group in groups if pair <= group for name in pair]
        parts += [group for group in groups if not pair <= group]
        groups = [
            group for group in dict.fromkeys(parts) if not any(group < other for other in parts)
        ]
    found = [group for group in groups if len(group) > 1]
    return sorted(found, key=lambda group: [order.index(name) for name in order if name in group])


def _sentence(each: Difference, tests: int) -> str:
    number = f"{measures.name_text(each.name)} {difference_text(each)}"
    number += " (lower is better)" * (not measures.measure_of(each.metric).higher_is_better)
    if each.p_holm is None:
        return f"No test of {each.candidate} against {each.baseline} on {each.task}: {number}"
    number += f", p {p_text(each.p_holm)}" + f" (adjusted for {tests} tests)" * (tests > 1)
    if winner := better(each):
        word = "better" if winner == each.candidate else "worse"
        return f"{each.candidate} is {word} than {each.baseline} on {each.task}: {number}"
    rows = f" with {rows_text(each)} rows" * bool(rows_text(each))
    return (
        f"Cannot tell {each.candidate} from {each.baseline} on {each.task}{rows}: {number};"
        f" {_why(each)}"
    )


def _why(each: Difference) -> str:
    """Why the rows show no difference."""
    if each.p is not None and each.p < ALPHA:
        return f"p {p_text(each.p)} alone, but there are too many tests at once"
    if each.low is not None and each.high is not None and each.low * each.high > 0:
        return "the interval is approximate with so few rows, and p decides"
    if each.smallest is None:
        return "too few rows differ"
    points = " points" * measures.measure_of(each.metric).percent
    return (
        f"differences below {measures.value_text(each.metric, each.smallest)}{points} do not show"
    )


def better(each: Difference) -> str | None:
    """The name of the run that is significantly better; None if neither is."""
    if each.p_holm is None or each.p_holm >= ALPHA:
        return None
    return (
        each.candidate
        if (each.difference > 0) == measures.measure_of(each.metric).higher_is_better
        else each.baseline
    )


def difference_text(each: Difference) -> str:
    """A difference with its interval: ``+28.7 [18.6, 39.4]``."""
    text = f"{'+' * (each.difference > 0)}{measures.value_text(each.metric, each.difference)}"
    if each.low is None or each.high is None:
        return text
    low = measures.value_text(each.metric, each.low)
    return f"{text} [{low}, {measures.value_text(each.metric, each.high)}]"


def p_text(p: float) -> str:
    """A p-value as papers print it, ``= .021``: below .01 with four digits, as tables, or ``<
    .0001``.
    """
    if p < LEAST_P:
        return "< .0001"
    return f"= {p:.{3 if p >= 0.01 else 4}f}".replace("0.", ".", 1)


def count_tests(differences: Sequence[Difference]) -> int:
    """The number of tests among some differences."""
    return sum(each.p is not None for each in differences)


def rows_text(each: Difference) -> str:
    """How many rows a difference is over, ``76``, or ``12 / 15`` if the runs differ; "" if
    unknown.
    """
    return " / ".join(
        dict.fromkeys(str(n) for n in (each.baseline_rows, each.candidate_rows) if n is not None)
    )


def caveats(run: Run, tasks: Collection[str] = (), run_path: str | None = None) -> list[str]:
    """Warnings for readers of a run's numbers, without a full stop at the end.

    Args:
        tasks: names of the tasks that are meant; all of the run if it has none of them.
        run_path: the run in the commands that a warning names; by default its path as it was given.
    """
    found = [f"{run.name}: {sentence}" for sentence in run.missing]
    if run.partial:
        found.append(f"{run.name} was cut short: {run.partial}")
    chosen: Iterable[TaskRun] = [
        run.tasks[name] for name in tasks if name in run.tasks
    ] or run.tasks.values()
    for task in chosen:
        told = task.warnings(run_path or str(run.path))
        if task.unanswered:
            told.insert(
                0,
                f"{task.unanswered} of {len(task.samples)} rows have no answer and count as wrong",
            )
        if task.sampling:
            told.append(f"answers were sampled ({task.sampling}); another run gives other answers")
        found += [f"{run.name}, {task.task}: {each}" for each in told]
    return found


def contradicted(tasks: Iterable[tuple[Run, TaskRun]]) -> list[str]:
    """Tasks whose results file says otherwise than the samples, with what it says."""
    return [
        contradiction(run, task, task.contradictions) for run, task in tasks if task.contradictions
    ]


def contradiction(run: Run, task: TaskRun, contradictions: Sequence[str]) -> str:
    """Says what the results file of a task has otherwise than its samples."""
    question = "are these files of two runs, or was one changed? The samples are used"
    return f"{run.name}, results of {task.task}: {listing(contradictions)}: {question}"


def of_differences(found: Sequence[Difference]) -> pd.DataFrame:
    """A DataFrame of texts: a line for each difference of two runs, with its test."""
    import pandas as pd

    baseline, candidate = found[0].baseline, found[0].candidate
    lines = []
    for each in found:
        lines.append(
            [
                measures.name_with_arrow(each.metric),
                measures.scope_text(each.scope),
                rows_text(each),
                *(
                    measures.value_text(each.metric, value)
                    for value in (each.baseline_value, each.candidate_value)
                ),
                difference_text(each),
                "" if each.smallest is None else measures.value_text(each.metric, each.smallest),
                *_p_values(each),
            ]
        )
    return pd.DataFrame(
        lines,
        columns=[
            "metric",
            "part",
            "n",
            baseline,
            candidate,
            "difference",
            "smallest",
            "p",
            "p Holm",
        ],
    )


def _p_values(each: Difference) -> tuple[str, str]:
    """Both p of a difference, before and after adjustment, ``.0018`` and ``.021*``."""
    if each.p is None or each.p_holm is None:
        return "no test", ""
    p, adjusted = (p_text(found).removeprefix("= ") for found in (each.p, each.p_holm))
    return p, adjusted + ("*" if each.p_holm < ALPHA else " ")
