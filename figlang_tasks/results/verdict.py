"""Says in one sentence which of two runs is better: ``figlang compare`` ends with it, a report begins with it."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.text import printable
from figlang_tasks.results import measures
from figlang_tasks.results.comparison import Difference, headline

ALPHA = 0.05
LEAST_P = 0.00005
"""With four digits, less reads as 0."""


def verdicts(differences: Sequence[Difference]) -> list[str]:
    """A sentence for every two runs on every task, by its headline metric.

    Number, sign, interval and p are those of the tables: the second run minus the first, p adjusted for all tests.

    Args:
        differences: all that were adjusted together (`figlang_tasks.results.comparison.compare`).
    """
    pairs: dict[tuple[str, str, str], list[Difference]] = {}
    for each in differences:
        pairs.setdefault((each.task, each.first, each.second), []).append(each)
    tests = count_tests(differences)
    return [printable(_sentence(headline(pair), tests)) for pair in pairs.values()]


def _sentence(each: Difference, tests: int) -> str:
    number = f"{each.name} {difference_text(each)}" + " (lower is better)" * (not _higher_is_better(each))
    if each.p_holm is None:
        return f"no test of {each.second} against {each.first} on {each.task}: {number}"
    number += f", p {p_text(each.p_holm)}" + f" (adjusted for {tests} tests)" * (tests > 1)
    if winner := better(each):
        word = "better" if winner == each.second else "worse"
        return f"{each.second} is {word} than {each.first} on {each.task}: {number}"
    counts = dict.fromkeys(str(count) for count in (each.n_first, each.n_second) if count is not None)
    rows = f" with {' / '.join(counts)} rows" * bool(counts)
    return f"cannot tell {each.second} from {each.first} on {each.task}{rows}: {number}; {_why(each)}"


def _why(each: Difference) -> str:
    """Why the rows show no difference."""
    if each.p is not None and each.p < ALPHA:
        return "too many tests at once"
    if each.smallest is None:
        return "they differ in too few rows"
    found = measures.named(each.metric)
    points = " points" * (found is not None and found[0].percent)
    return f"differences below {measures.text(each.metric, each.smallest)}{points} do not show"


def better(each: Difference) -> str | None:
    """The name of the run that is significantly better; None if neither is."""
    if each.p_holm is None or each.p_holm >= ALPHA:
        return None
    return each.second if (each.difference > 0) == _higher_is_better(each) else each.first


def _higher_is_better(each: Difference) -> bool:
    found = measures.named(each.metric)
    return found is None or found[0].higher_is_better


def difference_text(each: Difference) -> str:
    """A difference with its interval: ``+28.7 [18.6, 39.4]``."""
    text = f"{'+' * (each.difference > 0)}{measures.text(each.metric, each.difference)}"
    if each.low is None or each.high is None:
        return text
    return f"{text} [{measures.text(each.metric, each.low)}, {measures.text(each.metric, each.high)}]"


def p_text(p: float) -> str:
    """A p-value as papers print it, ``= .021``: below .01 with four digits, as tables, or ``< .0001``."""
    if p < LEAST_P:
        return "< .0001"
    return f"= {p:.{3 if p >= 0.01 else 4}f}".replace("0.", ".", 1)


def count_tests(differences: Sequence[Difference]) -> int:
    """The number of tests among some differences."""
    return sum(each.p is not None for each in differences)
