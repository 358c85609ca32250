"""The measures of all records of a task, inside a harness and outside of one.

A harness calls an aggregator once a metric: the first call computes all measures, the others look up. An exception
inside one would lose every model output of the run (lmms-eval 0.7.3), so a failure is logged with its cause, gives NaN
for that metric alone, and status 1 at the end of our ``lmms_eval`` command.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from loguru import logger

from figlang_tasks.core import notes, status
from figlang_tasks.metrics import __version__
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.measure import OVERALL, Estimate, Estimates, Measure, Record
from figlang_tasks.scoring.notices import notices

if TYPE_CHECKING:
    from figlang_tasks.scoring.measure import Measures

STDERR_RESAMPLES = 1_000
"""Resamples of the bootstrap of a standard error: it is then known to about 2 % of itself."""

VERSION = "figlang_tasks"
"""The name under which lm-eval's results tell the version of this package."""

FORMAT = 1
"""Version of the shape that `to_json` writes."""

_Value = TypeVar("_Value")


def judged(record: Record, measures: Measures) -> dict[str, Any]:
    """What ``process_results`` returns of one document.

    Returns:
        ``sample``: the record. And for each headline measure that it counts for its number, None where a measure is no
        mean of numbers of records: the harness writes it to the samples.
    """
    values = {}
    for measure in measures.all:
        if measure.headline and measure.counts(record):
            values[measure.name] = None if measure.each is None else measure.each(record)
    return {"sample": record, **values}


# --- from documents to aggregators: both harnesses hand over what a document has for the metric, and nothing else -----


class Source(NamedTuple):
    """Where the number of a document comes from.

    Attributes:
        record: what was judged.
        output: what the model said; None if that is not known.
        scorer: the task's option of that name.
        task: its name in messages.
    """

    record: Record
    output: str | None = None
    scorer: str | Literal[False] | None = None
    task: str = ""


class Number(float):
    """The number of a document."""

    source: Source


class Judged:
    """A document whose record the measure has no number of; `counts`: whether it counts for the measure."""

    def __init__(self, source: Source, counts: bool) -> None:
        self.source, self.counts = source, counts

    def __str__(self) -> str:  # lm-eval writes it to the samples, where the record stands once, under "sample"
        return "see sample"


def with_source(found: Mapping[str, Any], names: Iterable[str], source: Source) -> dict[str, Any]:
    """Return what :func:`judged` returned, with the record behind the value of each of the metrics `names`.

    Every document has every key: the first metric that is aggregated must get all records.
    """
    items: dict[str, Any] = {}
    for name in names:
        value = found.get(name)
        if value is None:
            items[name] = Judged(source, counts=name in found)
        else:
            items[name] = Number(value)
            items[name].source = source
    return {**found, **items}


class Evaluation(NamedTuple):
    """What comes of all records of a task.

    Attributes:
        records: as given.
        outputs: what the model said of each; None where that is not known.
        estimates: of all measures.
        scored: the explanation scores; None of a task without explanations.
    """

    records: Sequence[Record]
    outputs: Sequence[str | None]
    estimates: Estimates
    scored: explanations.Scored | None = None

    def value(self, name: str) -> float | None:
        """The value of a measure over all records; None if it has none."""
        own = self.estimates.get(name, {}).get(OVERALL)
        return None if own is None else own.value


class Value(float):
    """The value of a measure, with the evaluation that it comes from: lmms-eval hands on nothing else."""

    evaluation: Evaluation | None = None


_last: tuple[object, list[Record], Evaluation] | None = None  # what it was computed with, of what, and what came of it


def evaluation(items: Sequence[Any], measures: Measures) -> Evaluation:
    """Return the evaluation of all records of a task; computed once, when its first metric is aggregated.

    Each metric gets its own items, and of several processes its own copies of their records. Explanation scores are
    added to the records.
    """
    global _last
    records, outputs = [item.source.record for item in items], [item.source.output for item in items]
    first: Source = items[0].source
    setting = (id(measures), first.scorer, explanations.settings())
    if _last is not None and _last[0] == setting and _same(_last[1], records):
        if _last[2].scored:
            _last[2].scored.add_to(records)
        return _last[2]
    status.tell("computing the metrics and their intervals ...")
    before: list[Record] = [dict(record) for record in records]
    scored = explanations.score(records, first.scorer)
    told: list[str] = guarded("parse_rate", lambda: notices(measures, records, outputs), [])
    for notice in told:
        logger.warning(f"figlang_tasks: {first.task}: {notice}")
    found = Evaluation(records, outputs, evaluate(records, measures, STDERR_RESAMPLES, guarded), scored)
    _last = (setting, before, found)
    return found


def forget() -> None:
    """Let go of the last evaluation: the next run may come to other scores of the same records."""
    global _last
    _last = None


def _same(before: Sequence[Record], records: Sequence[Record]) -> bool:
    """Whether records are those of before, to some of which scores were added."""
    pairs = zip(before, records, strict=False)
    return len(before) == len(records) and all(first.items() <= second.items() for first, second in pairs)


def aggregator(measure: Measure, measures: Measures) -> Callable[[Sequence[Any]], Value]:
    """The function that lmms-eval calls for a measure: its value, or NaN where it has none."""

    def compute(items: Sequence[Any]) -> Value:
        found = evaluation(items, measures)
        own = found.value(measure.name)
        value = Value(math.nan if own is None else own)
        value.evaluation = found
        return value

    aggregate = _aggregating(measure.name, compute)
    aggregate.measures = measures  # type: ignore[attr-defined]
    return aggregate


def _aggregating(name: str, compute: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    def aggregate(items: Sequence[Any]) -> Any:
        return guarded(name, lambda: compute(items), Value(math.nan))

    aggregate.__name__ = name
    return aggregate


# --- lm-eval, which has no hook --------------------------------------------------------------------------------------


def judged_for_lm_eval(record: Record, measures: Measures, *facts: str, results: Sequence[str] = ()) -> dict[str, Any]:
    """What ``process_results`` returns to lm-eval of one document: as :func:`judged`, each value with the record.

    Args:
        facts: the names given to :func:`metric_list_of_lm_eval`.
        results: what the model said, for the notices on the run.
    """
    names = [*(row["metric"] for row in measures), *facts, VERSION]
    source = Source(record, next(iter(results), None), record.get("scorer"), record["data"])
    return with_source(judged(record, measures), names, source)


def metric_list_of_lm_eval(measures: Measures, **facts: Callable[[Evaluation], str]) -> list[dict[str, Any]]:
    """The ``metric_list`` of task files of lm-eval.

    Args:
        measures: as in lmms-eval.
        facts: what else results say, by name: a text made of the evaluation. lm-eval aggregates whatever
            ``process_results`` returns, and has no other place to say which scorer was used, say.
    """

    def of_evaluation(name: str, get: Callable[[Evaluation], Any]) -> dict[str, Any]:
        aggregate = _aggregating(name, lambda items: get(evaluation(items, measures)))
        return {"metric": name, "aggregation": aggregate, "higher_is_better": True}

    def of_measure(row: Mapping[str, Any]) -> dict[str, Any]:
        of_value = of_evaluation(row["metric"], lambda found: found.value(row["metric"]))
        return {**row, "aggregation": of_value["aggregation"]}

    facts |= {VERSION: lambda found: __version__}
    return [
        {"metric": "sample", "aggregation": _aggregating("data", _data), "higher_is_better": True},
        *(of_evaluation(name, fact) for name, fact in facts.items()),
        *map(of_measure, measures),
    ]


def provenance_of_scores(found: Evaluation) -> str:
    """What explanations were scored by."""
    return found.scored.provenance if found.scored else ""


def _data(records: Sequence[Record]) -> str:
    """What was read: dataset, part and digest of the texts, and the revision where the records say it."""
    found = {record["data"] + (f" ({record['revision']})" if "revision" in record else "") for record in records}
    return ", ".join(sorted(found))


# --- all measures of a task -------------------------------------------------------------------------------------------


def guarded(name: str, compute: Callable[[], _Value], otherwise: _Value) -> _Value:
    """What `compute` returns; `otherwise` if it raises, with the cause in the log and a note of the failure."""
    try:
        return compute()
    except Exception:  # whatever it is, the outputs of the run must still be written
        logger.exception(f"figlang_tasks: {name} failed; its value is NaN")
        notes.note(f"{name} failed; its value is NaN, see the log")
        return otherwise


def evaluate(
    records: Sequence[Record],
    measures: Measures,
    stderr_resamples: int = STDERR_RESAMPLES,
    guard: Callable[[str, Callable[[], dict[str, Estimate]], dict[str, Estimate]], dict[str, Estimate]] | None = None,
) -> dict[str, dict[str, Estimate]]:
    """Every measure, of all records and of each scope, where it has a value.

    Args:
        records: of one task, in any order.
        measures: of that task.
        stderr_resamples: of the standard error of the headline measures; 0: none is computed.
        guard: stands around each measure: :func:`guarded` in a run. Only there measures make their remarks.
    """
    found = {}
    for measure in measures.all:
        compute = functools.partial(
            _in_scopes, measure, records, measures, stderr_resamples * measure.headline, in_run=guard is not None
        )
        own = guard(measure.name, compute, {OVERALL: Estimate(math.nan)}) if guard else compute()
        if own:
            found[measure.name] = own
    return found


def _in_scopes(
    measure: Measure, records: Sequence[Record], measures: Measures, stderr_resamples: int, in_run: bool
) -> dict[str, Estimate]:
    found = {}
    for scope, own in measure.in_scopes(records).items():
        if in_run and measure.remark and scope == OVERALL:
            measure.remark(own)
        estimate = measure.estimate(own, scope, stderr_resamples if scope == OVERALL else 0)
        if estimate is not None:
            known = estimate if scope == OVERALL and stderr_resamples else estimate._replace(stderr=None)
            found[scope] = known._replace(rows=measures.rows(own))
        elif scope == OVERALL:
            return {}  # what has no value has none in a scope
    return found


# --- in files ---------------------------------------------------------------------------------------------------------


def to_json(estimates: Estimates) -> dict[str, Any]:
    """Estimates as results files hold them under ``configs.<task>.metadata.measures``.

    Returns:
        ``{"format": 1, "values": {measure: {scope: {"value": ..., "low": ..., "high": ..., "stderr": ..., "rows":
        ...}}}, "failed": [measure]}``; the scope of all rows is ``all``. What is not known is left out; ``failed`` are
        those whose value is no number.
    """
    return {
        "format": FORMAT,
        "failed": [
            measure
            for measure, scopes in estimates.items()
            if not all(math.isfinite(estimate.value) for estimate in scopes.values())
        ],
        "values": {
            measure: {
                scope: {key: value for key, value in estimate._asdict().items() if value is not None}
                for scope, estimate in scopes.items()
                if math.isfinite(estimate.value)
            }
            for measure, scopes in estimates.items()
            if any(math.isfinite(estimate.value) for estimate in scopes.values())
        },
    }


def from_json(content: Any) -> dict[str, dict[str, Estimate]]:
    """Estimates of what :func:`to_json` returned.

    Raises:
        ValueError: it is damaged, or of a later version of figlang_tasks.
    """
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise ValueError(f"measures do not have the format {FORMAT}: did another version of figlang_tasks write them?")
    try:
        return {
            str(measure): {str(scope): _estimate(of) for scope, of in scopes.items()}
            for measure, scopes in content["values"].items()
        }
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"measures are damaged ({type(error).__name__}: {error})") from error


def failed(content: Mapping[str, Any]) -> tuple[str, ...]:
    """The measures whose computation failed, of what :func:`to_json` returned."""
    return tuple(map(str, content.get("failed") or ()))


def _estimate(of: Mapping[str, Any]) -> Estimate:
    for key, value in of.items():
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise TypeError(f"{key} is {value!r}, must be a number")
    return Estimate(**of)
