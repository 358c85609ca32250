"""What people would say of all rows as a table: of ``judge agree``, ``compare`` and ``report``."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from figlang_tasks.core.text import markdown_table
from figlang_tasks.judge.key import BY_SOURCE
from figlang_tasks.judge.reports import PoweredEstimate, PoweredReport

MachineText = Callable[[PoweredEstimate], str]
"""Gives the machine's number for an estimate: ``f1@60 57.0``; "" where there is none."""


def table(report: PoweredReport, machine_text: MachineText | None = None) -> pd.DataFrame:
    """The estimates as texts, shares in percent and differences in points.

    Args:
        report: with estimates.
        machine_text: gives the last column, the machine's numbers; None for no such column.
    """
    rows: list[dict[str, str]] = []
    for estimate in report["estimates"]:
        system = estimate["system"]
        if estimate["baseline"] is not None:
            system = f"{system} - {estimate['baseline']}"
        labels_alone = estimate["labels_alone"]
        row = {
            "of all rows": estimate["measure"],
            "system": system,
            "people": _value_text(estimate["value"], estimate["interval"]),
            "labels alone": _value_text(labels_alone["value"], labels_alone["interval"]),
            "labels": str(estimate["labels"]),
            "worth": f"{estimate['effective_labels']:.0f}",
        }
        if machine_text is not None:
            row["machine"] = machine_text(estimate)
        rows.append(row)
    return pd.DataFrame(rows)


def _value_text(value: float, interval: list[float] | None) -> str:
    """A share in percent with its interval: ``57.0 [55.1, 58.9]``."""
    text = f"{100 * value:.1f}"
    if interval is None:
        return text
    low, high = interval
    return f"{text} [{100 * low:.1f}, {100 * high:.1f}]"


def notes(report: PoweredReport) -> list[str]:
    """Sentences about the draw, what is missing, and what is refused."""
    sentences: list[str] = []
    if report["estimates"]:
        draw = report["draw"]
        method = "from each source" if draw["method"] == BY_SOURCE else "at random"
        sentences.append(
            f"What people would say of all {draw['rows']} rows, where they agree: in percent, with"
            f" 95 % intervals. {draw['drawn']} rows were drawn {method} (seed {draw['seed']});"
            " explanation scores of all rows sharpen the estimate (PPI++). labels: judgements that"
            " count. worth: how many labels alone would be as precise."
        )
        if report["unjudged"]:
            sentences.append(
                f"{report['unjudged']} drawn explanations are not judged: the estimates take them"
                " to be missing by chance."
            )
    for refusal in report["refused"]:
        sentences.append(f"No estimate for all rows: {refusal}.")
    return sentences


def text(report: PoweredReport, machine_text: MachineText | None = None) -> str:
    """Notes and table as paragraphs."""
    paragraphs = notes(report)
    if report["estimates"]:
        frame = table(report, machine_text)
        rows = [list(frame.columns), *frame.to_numpy().tolist()]
        paragraphs.append(markdown_table(rows))
    return "\n\n".join(paragraphs)
