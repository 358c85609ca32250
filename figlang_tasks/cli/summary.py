"""A short table of our tasks' results: one line per scope, intervals beside the values, in percent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from figlang_tasks import scoring
from figlang_tasks.core.text import table
from figlang_tasks.results import measures, published, runs
from figlang_tasks.scoring import OVERALL, Estimate, Estimates


def summary_table(results: Mapping[str, Any]) -> str:
    """Return a Markdown table of every task of ours; "" if there is none.

    Below a table stand the signature of the explanation scorer, where one was used, and what was published for the
    task, where that is known and comparable: the paper's figures for the same metrics, with a line that says how they
    came about; else a line that says why they are left out.

    Args:
        results: what ``simple_evaluate`` returns (or a results file): ``results["results"]``,
            ``results["configs"][task]["metadata"]["measures"]``.
    """
    parts = []
    for task in results["results"]:
        metadata = results.get("configs", {}).get(task, {}).get("metadata")
        if not isinstance(metadata, Mapping) or "measures" not in metadata:
            continue
        estimates = scoring.from_json(metadata["measures"])
        failed = {name: {OVERALL: Estimate(math.nan)} for name in scoring.failed(metadata["measures"])}
        parts.append(estimates_table(task, estimates | failed))
        scorer = metadata.get("explanation_scorer")
        if scorer is not None:
            parts.append(scorer_line(scorer))
        counts = [estimate.rows for _, _, estimate in scoring.flat(estimates) if estimate.rows is not None]
        run = published.Measured(max(counts, default=0), runs.cut(results, [task]), scorer)
        names = [scoring.full_name(measure, scope) for measure, scope, _ in scoring.flat(estimates)]
        shown, left_out = published.comparable(task, names, [run])
        if shown:
            about = f"{published.protocol(task, shown)}; n = {run.rows}"
            parts.append(f"published, not measured here ({about}):\n\n{published.beside(task, shown)}")
        if left_out:
            parts.append(left_out)
    return "\n\n".join(parts)


def scorer_line(signature: str) -> str:
    """The line that says what the explanation scores were computed with."""
    return f"explanation scorer: {signature}"


def estimates_table(title: str, estimates: Estimates) -> str:
    """Return a Markdown table: a line for each scope, a column for each measure.

    Column ``n`` has the rows of the scope; a measure that was taken over fewer has its own number beside its value.

    Args:
        title: head of the first column.
        estimates: by measure and scope.
    """
    rows = [[title, "n", *estimates]]
    for scope in dict.fromkeys([OVERALL, *(scope for _, scope, _ in scoring.flat(estimates))]):
        of_scope = {name: scopes[scope] for name, scopes in estimates.items() if scope in scopes}
        n = max((each.rows for each in of_scope.values() if each.rows is not None), default=None)
        cells = [measures.estimate_text(name, of_scope[name], n) if name in of_scope else "" for name in estimates]
        rows.append([scope, "" if n is None else str(n), *cells])
    return table(rows)
