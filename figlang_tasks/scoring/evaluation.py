"""The measures of all records of a task, inside a harness and outside of one.

The harness calls an aggregator once a metric. An exception inside one would lose every model output of the run (facts
of lmms-eval 0.7.3), so a failure is logged with its cause, gives NaN for that metric alone, and status 1 at the end of
our ``lmms_eval`` command.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.metrics import __version__
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
    """What ``process_results`` returns to lmms-eval of one document.

    Returns:
        ``sample``: the record. And for each headline measure that it counts for its number, None where a measure is no
        mean of numbers of records: the harness asks for the aggregators of what it finds here, and writes it to the
        samples.
    """
    values = {}
    for measure in measures.all:
        if measure.headline and measure.counts(record):
            values[measure.name] = None if measure.each is None else measure.each(record)
    return {"sample": record, **values}


# --- lmms-eval --------------------------------------------------------------------------------------------------------

_current: Mapping[str, float | None] = {}


@contextmanager
def evaluated(values: Mapping[str, float | None]) -> Iterator[None]:
    """Let the aggregators inside the block return values that were computed of all records of a task at once."""
    global _current
    before, _current = _current, values
    try:
        yield
    finally:
        _current = before


def aggregator(measure: Measure, measures: Measures) -> Callable[[Sequence[Any]], float | None]:
    """The function that lmms-eval calls for a measure; None takes the metric out of the results.

    It returns what the plugin has computed (`evaluated`): one pass over the records gives values, intervals and scopes.
    """

    def aggregate(items: Sequence[Any]) -> float | None:
        return _current.get(measure.name)

    aggregate.__name__ = measure.name
    aggregate.measures = measures  # type: ignore[attr-defined]  # for the plugin, which sees functions only
    return aggregate


# --- lm-eval ----------------------------------------------------------------------------------------------------------


class Number(float):
    """The number of a record, the record and its output: lm-eval hands an aggregator nothing else."""

    record: Record
    output: str | None

    def __new__(cls, value: float, record: Record, output: str | None) -> Number:
        number = super().__new__(cls, value)
        number.record, number.output = record, output
        return number

    # Processes send their records to the first one.
    def __reduce__(self) -> tuple[type[Number], tuple[float, Record, str | None]]:
        return type(self), (float(self), self.record, self.output)


class Judged:
    """A record whose measure is no mean of numbers of records."""

    def __init__(self, record: Record) -> None:
        self.record = record

    def __str__(self) -> str:  # lm-eval writes it to the samples, where the record stands once, under "sample"
        return "see sample"


def judged_for_lm_eval(record: Record, measures: Measures, *facts: str, results: Sequence[str] = ()) -> dict[str, Any]:
    """What ``process_results`` returns to lm-eval of one document: as :func:`judged`, each value with the record.

    Every document has every key: of several processes lm-eval asks for those of the first one's documents.

    Args:
        facts: the names given to :func:`metric_list_of_lm_eval`.
        results: what the model said, for the notices on the run.
    """
    output = next(iter(results), None)
    found = dict.fromkeys([*(row["metric"] for row in measures), *facts, VERSION]) | judged(record, measures)
    return {
        name: value if name == "sample" else Judged(record) if value is None else Number(value, record, output)
        for name, value in found.items()
    }


def metric_list_of_lm_eval(
    measures: Measures,
    prepare: Callable[[Sequence[Any]], object] = lambda records: None,
    **facts: Callable[[Sequence[Any]], str],
) -> list[dict[str, Any]]:
    """The ``metric_list`` of task files of lm-eval, which has no hook and asks metric by metric.

    Args:
        measures: as in lmms-eval.
        prepare: called with all records before a value is computed of them.
        facts: what else results say, by name: a text made of all records. lm-eval aggregates whatever
            ``process_results`` returns, and has no other place to say which texts were read, say.
    """

    def value_of(measure: Measure) -> Callable[[Sequence[Any]], float | None]:
        def compute(items: Sequence[Any]) -> float | None:
            records = [item.record for item in items]
            prepare(records)
            if measure.name == "parse_rate":  # of every record; asked for once
                for notice in notices(measures, records, [item.output for item in items]):
                    logger.warning(f"figlang_tasks: {records[0]['data']}: {notice}")
            counted = [record for record in records if measure.counts(record)]
            found = measure.estimate(counted) if counted else None
            return None if found is None else found.value

        return _aggregating(measure.name, compute)

    facts |= {VERSION: lambda records: __version__}
    told = {name: _aggregating(name, functools.partial(_tell, fact)) for name, fact in facts.items()}
    return [
        {"metric": "sample", "aggregation": _aggregating("data", _data), "higher_is_better": True},
        *({"metric": name, "aggregation": tell, "higher_is_better": True} for name, tell in told.items()),
        *(row | {"aggregation": value_of(measures.by_name[row["metric"]])} for row in measures),
    ]


def _aggregating(name: str, compute: Callable[[Sequence[Any]], Any]) -> Callable[[Sequence[Any]], Any]:
    def aggregate(items: Sequence[Any]) -> Any:
        return guarded(name, lambda: compute(items), math.nan)

    aggregate.__name__ = name
    return aggregate


def _tell(fact: Callable[[Sequence[Any]], str], items: Sequence[Any]) -> str:
    return fact([item.record for item in items])


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
