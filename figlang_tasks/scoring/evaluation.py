"""The measures of all records of a task, inside a harness and outside of one.

A harness calls an aggregator once a metric: the first call computes all measures, the others look up. An exception
inside one would lose every model output of the run (lmms-eval 0.7.3), so a failure is logged with its cause, gives NaN
for that metric alone, and status 1 at the end of our ``lmms_eval`` command.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from loguru import logger

from figlang_tasks.core import notes, status
from figlang_tasks.metrics import __version__
from figlang_tasks.scoring import explanations, repeats
from figlang_tasks.scoring.measure import (
    OVERALL,
    Estimate,
    Estimates,
    Measure,
    Record,
    by_repeat,
    flat,
    full_name,
    row_of,
)
from figlang_tasks.scoring.notices import UNFINISHED, is_thought_alone, notices

STDERR_RESAMPLES = 1_000
"""Resamples of the bootstrap of a standard error: it is then known to about 2 % of itself."""

_Value = TypeVar("_Value")


class Measures(list[dict[str, Any]]):
    """All measures of a kind of task; made by `of`.

    As a list it is the ``metric_list`` of its task files: the headline measures with their aggregators. (A harness may
    rebuild it as a list of plain rows.)

    Attributes:
        by_name: the measures, in the order of tables.
        row: which row of the benchmark a record is of.
    """

    by_name: dict[str, Measure]
    row: Callable[[Record], str]

    @classmethod
    def of(cls, *measures: Measure, row: Callable[[Record], str] = row_of) -> Measures:
        """The measures, in the order of tables; beside ``parse_rate`` the share of unfinished answers.

        Raises:
            ValueError: two have one name.
        """
        found = cls()
        found.by_name, found.row = {}, row
        for measure in measures:
            if measure is UNFINISHED and measure.name in found.by_name:
                continue  # of measures that another list had
            if measure.name in found.by_name:
                raise ValueError(f"two measures of one name: {', '.join(measure.name for measure in measures)}")
            found.by_name[measure.name] = measure
            if measure.name == "parse_rate":
                found.by_name[UNFINISHED.name] = UNFINISHED
        found.extend(
            {
                "metric": measure.name,
                "aggregation": aggregator(measure.name, found),
                "higher_is_better": measure.higher_is_better,
            }
            for measure in found.all
            if measure.headline
        )
        return found

    @property
    def all(self) -> tuple[Measure, ...]:
        return tuple(self.by_name.values())

    @property
    def sums(self) -> Measures:
        """Those that are functions of sums over records; others may need Java, large models or a run's pictures."""
        return Measures.of(*(measure for measure in self.all if measure.own is None), row=self.row)

    def rows(self, records: Iterable[Record]) -> int:
        """How many rows of the benchmark `records` are of.

        The rotations of a row, its pictures and several answers to it count once; a ranking of which a limit has cut
        pictures does not count, as the measures leave it out.
        """
        sizes: dict[str, int] = {}  # of rankings: pictures of a row
        found: dict[str, set[str]] = {}
        for record in records:
            row = self.row(record)
            found.setdefault(row, set()).add(record["id"])
            if isinstance(size := record.get("images"), int):
                sizes[row] = size
        return sum(len(ids) == sizes.get(row, len(ids)) for row, ids in found.items())


# --- from documents to aggregators: both harnesses hand over what a document has for the metric, and nothing else -----


def judged(record: Record, measures: Measures) -> dict[str, Any]:
    """What ``process_results`` returns of one document.

    Returns:
        ``sample``: the record. And for each headline measure that it counts for its number, None where a measure is no
        mean of numbers of records: the harness writes it to the samples.
    """
    values = {}
    for measure in measures.all:
        if measure.headline and not measure.rare and measure.counts(record):
            values[measure.name] = None if measure.each is None else measure.each(record)
    return {"sample": record, **values}


class Source(NamedTuple):
    """Where the number of a document comes from.

    Attributes:
        record: what was judged.
        output: what the model said; None if that is not known.
        scorer: the task's option of that name.
        task: its name in messages.
    """

    record: dict[str, Any]
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


class Answers(list[Any]):
    """What a document has for a metric where it was asked several times: of each answer a `Number` or `Judged`."""


def with_source(found: Mapping[str, Any], names: Iterable[str], source: Source) -> dict[str, Any]:
    """Return what :func:`judged` returned, with the record behind the value of each of the metrics `names`.

    Every document has every key: the first metric that is aggregated must get all records.
    """
    if is_thought_alone(source.output):
        source.record[UNFINISHED.name] = True
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
        repeats: the headline metric where each row was asked several times (:func:`repeats.summary`).
    """

    records: Sequence[Record]
    outputs: Sequence[str | None]
    estimates: Estimates
    scored: explanations.Scored | None = None
    repeats: Mapping[str, Any] | None = None


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
    sources: list[Source] = [each.source for item in items for each in (item if isinstance(item, Answers) else [item])]
    first, records, outputs = sources[0], [each.record for each in sources], [each.output for each in sources]
    setting = (id(measures), first.scorer, explanations.settings())
    if _last is not None and _last[0] == setting and _same(_last[1], records):
        if _last[2].scored:
            _last[2].scored.add_to(records)
        return _last[2]
    status.tell("computing the metrics and their intervals ...")
    before: list[Record] = [dict(record) for record in records]
    scored = explanations.score(records, first.scorer)
    told: list[str] = guarded("parse_rate", lambda: notices(measures.by_name, records, outputs), [])
    for notice in told:
        logger.warning(f"figlang_tasks: {first.task}: {notice}")
    estimates = evaluate(records, measures, STDERR_RESAMPLES, guarded)
    answers = guarded("maj@K", lambda: repeats.summary(records, measures.all, estimates), None)
    found = Evaluation(records, outputs, estimates, scored, answers)
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


def aggregator(
    name: str, measures: Measures, get: Callable[[Evaluation], Any] | None = None
) -> Callable[[Sequence[Any]], Any]:
    """The function that a harness calls for a metric.

    Args:
        name: of the metric.
        measures: of its task.
        get: what the metric is of the evaluation of all records; by default the value of the measure of that name, NaN
            where it has none.
    """

    def value(found: Evaluation) -> Value:
        own = found.estimates.get(name, {}).get(OVERALL)
        made = Value(math.nan if own is None else own.value)
        made.evaluation = found
        return made

    def aggregate(items: Sequence[Any]) -> Any:
        return guarded(name, lambda: (get or value)(evaluation(items, measures)), Value(math.nan))

    aggregate.__name__ = name
    aggregate.measures = measures  # type: ignore[attr-defined]
    return aggregate


# --- lm-eval, which has no hook --------------------------------------------------------------------------------------


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
    """Return what ``process_results`` hands to lm-eval: as :func:`judged`, each value with the record.

    Args:
        record, measures: as in :func:`judged`.
        results: what the model said, for the notices on the run.
    """
    source = Source(record, next(iter(results), None), record.get("scorer"), record["data"])
    return _Judged(with_source(judged(record, measures), (row["metric"] for row in measures), source))


def metric_list_of_lm_eval(measures: Measures) -> list[dict[str, Any]]:
    """Return the ``metric_list`` of task files of lm-eval.

    A run writes :func:`facts` and the version of this package into its first entry: lm-eval saves the configuration of
    a task once its metrics are there.
    """
    told = _Facts()

    def of(row: Mapping[str, Any]) -> dict[str, Any]:
        def value(found: Evaluation) -> float | None:
            data = sorted({record["data"] for record in found.records})
            told.update(facts(found), data=", ".join(data), versions={"figlang-tasks": __version__})
            own = found.estimates.get(row["metric"], {}).get(OVERALL)
            return None if own is None else own.value

        compute = aggregator(row["metric"], measures, value)

        def aggregate(items: Sequence[Any]) -> Any:
            told.clear()  # of the task before, where this evaluation fails
            return compute(items)

        return {**row, "aggregation": aggregate}

    first, *others = map(of, measures)
    return [{**first, FACTS: told}, *others]


def facts(found: Evaluation) -> dict[str, str]:
    """Return what a task file could not say and the records do: scorer, revision of the data, settings of BLEU."""
    told = {"explanation_scorer": found.scored.provenance} if found.scored else {}
    for field, name in (("revision", "data_revision"), ("bleu", "bleu")):
        if said := sorted({str(record[field]) for record in found.records if field in record}):
            told[name] = ", ".join(said)
    return told


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


def headlines(records: Sequence[Record], measures: Measures) -> dict[str, float]:
    """Return the values of the headline measures that are no diagnostics, by full name."""
    return {
        full_name(name, scope): estimate.value
        for name, scope, estimate in flat(evaluate(records, measures, stderr_resamples=0))
        if measures.by_name[name].headline and not measures.by_name[name].diagnostic
    }


def _in_scopes(
    measure: Measure, records: Sequence[Record], measures: Measures, stderr_resamples: int, in_run: bool
) -> dict[str, Estimate]:
    found = {}
    for scope, own in measure.in_scopes(records).items():
        if in_run and measure.remark and scope == OVERALL:
            measure.remark(by_repeat(own)[0])
        estimate = measure.estimate(own, scope, stderr_resamples if scope == OVERALL else 0)
        if estimate is not None:
            known = estimate if scope == OVERALL and stderr_resamples else estimate._replace(stderr=None)
            found[scope] = known._replace(rows=measures.rows(own))
        elif scope == OVERALL:
            return {}  # what has no value has none in a scope
    return found
