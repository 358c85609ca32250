"""How many judgements give an interval of a wanted width: ``figlang judge export --power``."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.core.text import markdown_table
from figlang_tasks.judge.export import read_tasks
from figlang_tasks.judge.powered import LEAST_LABELS
from figlang_tasks.metrics.prediction_powered import needed_labels

HALF_WIDTHS = (0.05, 0.075, 0.1, 0.15)
"""From the estimate to an end of its interval."""

CORRELATIONS = (0.0, 0.3, 0.5, 0.7, 0.9)
"""Of the score with what people say: from useless to nearly perfect scores."""


def text(arguments: Sequence[str], task: str | None = None) -> str:
    """A table of the labels that runs need, by width of the interval and quality of the scores.

    Args:
        arguments: the runs as a command line names them.
        task: the name of the task; None if each run has a single one with explanations.
    """
    explained = next(iter(read_tasks(arguments, task).values()))
    n_rows = len(explained.explanations)
    rows = [["interval of a share of 50 %", *(f"r = {value:g}" for value in CORRELATIONS)]]
    for half_width in HALF_WIDTHS:
        cells = [f"+- {100 * half_width:g} points"]
        for correlation in CORRELATIONS:
            labels = needed_labels(2 * half_width, 0.5, correlation, n_rows)
            cells.append("-" if labels is None else str(max(labels, LEAST_LABELS)))
        rows.append(cells)
    condition = "chose its right label and agree" if explained.asks_label else "agree"
    return (
        f"labels that count for a system, of {n_rows} rows; r: correlation of its explanation"
        f" scores with what people say (0: none or useless); - more than all rows\n\n"
        f"{markdown_table(rows)}\n\n"
        f"Draw more: an explanation counts only if all annotators {condition} on its adequacy. In"
        " the paper of V-FLUTE, 67 to 75 of 95 did."
    )
