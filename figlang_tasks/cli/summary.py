"""A short table of our tasks' results: one line per source, intervals beside the values, in percent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from figlang_tasks import markdown, metric_names, published, runs
from figlang_tasks.metric_names import ENDS, OVERALL


def summary_table(results: Mapping[str, Any]) -> str:
    """Return a Markdown table of every task whose metrics carry our confidence intervals; "" if there is none.

    Below a table stand the signature of the explanation scorer, where one was used, and what was published for the
    task, where that is known and comparable: the paper's figures for the same metrics, with a line that says how they
    came about; else a line that says why they are left out.

    Args:
        results: what ``simple_evaluate`` returns (or a results file): ``results["results"][task]["metric,filter"]``,
            ``results["configs"][task]``.
    """
    parts = []
    for task, values in results["results"].items():
        metrics = {key.partition(",")[0]: value for key, value in values.items() if "," in key}
        metadata = results.get("configs", {}).get(task, {}).get("metadata")
        metadata = metadata if isinstance(metadata, Mapping) else {}
        counts = metadata.get("counts", {})
        table = metrics_table(task, metrics, counts)
        if not table:
            continue
        parts.append(table)
        scorer = metadata.get("explanation_scorer")
        if scorer is not None:
            parts.append(scorer_line(scorer))
        run = published.Measured(max(counts.values(), default=0), runs.cut(results, [task]), scorer)
        shown, left_out = published.comparable(task, metrics, [run])
        if shown:
            about = f"{published.protocol(task, shown)}; n = {run.rows}"
            parts.append(f"published, not measured here ({about}):\n\n{published.beside(task, shown)}")
        if left_out:
            parts.append(left_out)
    return "\n\n".join(parts)


def scorer_line(signature: str) -> str:
    """The line that says what the explanation scores were computed with."""
    return f"explanation scorer: {signature}"


def metrics_table(title: str, metrics: Mapping[str, Any], counts: Mapping[str, int]) -> str:
    """Return a Markdown table of `metrics`; "" if none of them carries our confidence intervals.

    Shares are in percent; ``figlang_tasks.metric_names.NO_SHARES`` are as they are.

    Args:
        title: head of the first column.
        metrics: values by name: ``{metric}`` and ``{metric}_{source}``, each with ``..._ci_low`` and ``..._ci_high``
            where it has an interval.
        counts: by name of a metric the rows that it was taken over, for the column ``n``; a metric that was taken over
            fewer than others of its source has its own beside its value.
    """
    shown = [name for name in metrics if metric_names.is_metric(name) and isinstance(metrics[name], float)]
    if not any(name + end in metrics for name in shown for end in ENDS):
        return ""
    scoped = metric_names.scoped(shown)
    heads = list(dict.fromkeys(metric for metric, _ in scoped.values()))
    names = {place: name for name, place in scoped.items()}
    rows = [[title, "n", *heads]]
    for scope in dict.fromkeys([OVERALL, *(scope for _, scope in scoped.values())]):
        of_scope = {head: names[head, scope] for head in heads if (head, scope) in names}
        n = max((counts[name] for name in of_scope.values() if name in counts), default=None)
        cells = [_cell(metrics, of_scope[head], head) if head in of_scope else "" for head in heads]
        own = [counts.get(of_scope.get(head, ""), n) for head in heads]
        rows.append(
            [
                scope,
                "" if n is None else str(n),
                *(cell + metric_names.of_fewer(count, n) for cell, count in zip(cells, own, strict=True)),
            ]
        )
    return markdown.table(rows)


def _cell(metrics: Mapping[str, Any], name: str, head: str) -> str:
    values = [metrics[name + end] for end in ("", *ENDS) if name + end in metrics]
    if math.isnan(values[0]):
        return "failed, see the log"
    texts = [metric_names.text(value, head) for value in values]
    return texts[0] if len(texts) == 1 else f"{texts[0]} [{texts[1]}, {texts[2]}]"
