"""What task files of lm-eval name: it has no hook, so each value brings its record along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.metrics import __version__
from figlang_tasks.scoring.evaluation import Measures, Source, facts, judged, with_source


class _Judged(dict[str, Any]):
    """What lm-eval gets of a document: it saves all of it, and makes a row of its table of each of the `items`."""

    def items(self) -> Any:
        return {name: value for name, value in super().items() if name != "sample"}.items()


class _Facts(dict[str, Any]):
    """What results say beside values, in the task's configuration, which lm-eval copies before a run: it stays one."""

    def __deepcopy__(self, memo: object) -> _Facts:
        return self


FACTS = "figlang_tasks"
"""The key of the facts, in the first entry of a ``metric_list`` that :func:`metric_list_of_lm_eval` made."""


def judged_for_lm_eval(record: dict[str, Any], measures: Measures, results: Sequence[str]) -> dict[str, Any]:
    """As :func:`judged`, each value with its record; `results` is what the model said, for the notices on the run."""
    source = Source(record, next(iter(results), None), task=record["data"])
    return _Judged(with_source(judged(record, measures), (row["metric"] for row in measures), source))


def metric_list_of_lm_eval(measures: Measures) -> list[dict[str, Any]]:
    """The ``metric_list`` of task files of lm-eval.

    A run writes :func:`facts` and the version of this package into its first entry: lm-eval saves the configuration of
    a task once its metrics are there.
    """
    told = _Facts()

    def of(row: Mapping[str, Any]) -> dict[str, Any]:
        def aggregate(items: Sequence[Any]) -> float | None:
            told.clear()  # of the task before, where this evaluation fails
            value = row["aggregation"](items)
            if (found := value.evaluation) is not None:
                data = sorted({record["data"] for record in found.records})
                told.update(facts(found), data=", ".join(data), versions={"figlang-tasks": __version__})
                return float(value) if row["metric"] in found.estimates else None
            return float(value)

        return {**row, "aggregation": aggregate}

    first, *others = map(of, measures)
    return [{**first, FACTS: told}, *others]
