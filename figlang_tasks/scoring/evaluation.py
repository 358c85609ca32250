"""The measures of all records of a task, inside a harness and outside of one.

A harness calls an aggregator once a metric: the first call computes all measures, the others look up. An exception
inside one would lose every model output of the run (lmms-eval 0.7.3), so a failure is logged with its cause, gives NaN
for that metric alone, and status 1 at the end of our ``lmms_eval`` command.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple, TypeVar

from loguru import logger

from figlang_tasks.answers.thoughts import EXPLAINED
from figlang_tasks.core import notes, status
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.estimates import OVERALL, Estimate, Estimates, flat, full_name
from figlang_tasks.scoring.measure import REPEAT, Measure, Record, by_repeat, row_of
from figlang_tasks.scoring.notices import UNFINISHED, is_thought_alone, notices
from figlang_tasks.scoring.readings import count_readings

STDERR_RESAMPLES = 1_000
"""Resamples of the bootstrap of a standard error: it is then known to about 2 % of itself."""

_Value = TypeVar("_Value")


class Measures(list[dict[str, Any]]):
    """All measures of a kind of task; made by `of`. As a list it is the ``metric_list`` of its task files.

    Attributes:
        by_name: the measures, in the order of tables.
        row: the row of the benchmark that a record is of.
    """

    by_name: dict[str, Measure]
    row: Callable[[Record], str]

    @classmethod
    def of(cls, *measures: Measure, row: Callable[[Record], str] = row_of) -> Measures:
        """The measures, in the order of tables; beside ``parse_rate`` the share of unfinished answers."""
        found = cls()
        found.by_name, found.row = {}, row
        for measure in measures:
            if found.by_name.setdefault(measure.name, measure) is not measure:
                raise ValueError(f"two measures of one name: {measure.name}")
            if measure.name == "parse_rate":
                found.by_name[UNFINISHED.name] = UNFINISHED
        for measure in (each for each in found.all if each.in_table):
            entry = {"metric": measure.name, "aggregation": aggregator(measure.name, found)}
            found.append({**entry, "higher_is_better": measure.higher_is_better})
        return found

    @property
    def all(self) -> tuple[Measure, ...]:
        return tuple(self.by_name.values())

    @property
    def sums(self) -> Measures:
        """Functions of sums over records; the others may need Java, large models or a run's pictures."""
        return Measures.of(*(measure for measure in self.all if measure.estimate_of is None), row=self.row)

    def rows(self, records: Iterable[Record]) -> int:
        """Number of rows of the benchmark in `records`: rotations, pictures and several answers of a row count once.

        A ranking of which a limit has cut pictures does not count, as the measures leave it out.
        """
        found: dict[str, dict[str, Any]] = {}  # of each row its documents, with the number of pictures of a ranking
        for record in records:
            found.setdefault(self.row(record), {})[record["id"]] = record.get("images")
        return sum(set(ids.values()) <= {len(ids), None} for ids in found.values())


# --- from documents to aggregators: a harness hands over what a document has for the metric, and nothing else ---


def judged(record: Record, measures: Measures) -> dict[str, Any]:
    """What ``process_results`` returns of one document: under ``sample`` the record, and its number by measure.

    Of the measures in the harness's table that it counts for; None where a measure is no mean of numbers of records.
    """
    counted = [each for each in measures.all if each.in_table and not each.omit_zero and each.counts(record)]
    return {
        "sample": record,
        **{each.name: each.value_of_record(record) if each.value_of_record else None for each in counted},
    }


class Source(NamedTuple):
    """What the number of a document comes from."""

    record: dict[str, Any]
    output: str | None = None  # what the model said
    scorer: str | Literal[False] | None = None  # the task's option
    task: str = ""  # its name in messages


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
    """A `Number` or `Judged` for each answer to a document that was asked several times."""


def with_source(found: Mapping[str, Any], names: Iterable[str], source: Source) -> dict[str, Any]:
    """What :func:`judged` returned, with the record behind the value of each of the metrics `names`.

    Every document has every key: the first metric that is aggregated must get all records.
    """
    is_read_elsewhere = source.record.get("status") == "scores" or source.record.get("rule") == EXPLAINED
    if not is_read_elsewhere and is_thought_alone(source.output):
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
    """What comes of all records of a task."""

    records: Sequence[Record]
    outputs: Sequence[str | None]
    estimates: Estimates
    scored: explanations.Scored | None  # None of a task without explanations
    repeats: Mapping[str, Any] | None  # of :func:`of_repeats`


class Value(float):
    """The value of a measure, with the evaluation that it comes from: lmms-eval hands on nothing else."""

    evaluation: Evaluation | None = None


_last: tuple[object, set[str], Evaluation] | None = None  # what it is of, the metrics that it was given for, and it


def evaluation(name: str, items: Sequence[Any], measures: Measures) -> Evaluation:
    """The evaluation of all records of a task; computed once, when its first metric is aggregated.

    Each metric gets its own items, and of several processes its own copies of their records. One that is aggregated
    once more is of another run. Explanation scores are added to the records.
    """
    global _last
    sources: list[Source] = [each.source for item in items for each in (item if isinstance(item, Answers) else [item])]
    first, records, outputs = sources[0], [each.record for each in sources], [each.output for each in sources]
    key = (id(measures), [record["id"] for record in records], outputs)
    if _last is not None and _last[0] == key and name not in _last[1]:
        _last[1].add(name)
        return _last[2]
    status.tell("computing the metrics and their intervals ...")
    scored = explanations.score(records, first.scorer)
    told: list[str] = guarded("parse_rate", lambda: notices(measures.by_name, records, outputs), [])
    for notice in told:
        logger.warning(f"figlang_tasks: {first.task}: {notice}")
    estimates = evaluate(records, measures, STDERR_RESAMPLES, in_run=True)
    repeats = guarded("maj@K", lambda: of_repeats(records, measures, estimates), None)
    found = Evaluation(records, outputs, estimates, scored, repeats)
    _last = (key, {name}, found)
    return found


def aggregator(name: str, measures: Measures) -> Callable[[Sequence[Any]], Value]:
    """The function that a harness calls for a metric of a task; NaN where it has no value."""

    def value(items: Sequence[Any]) -> Value:
        found = evaluation(name, items, measures)
        own = found.estimates.get(name, {}).get(OVERALL)
        made = Value(math.nan if own is None else own.value)
        made.evaluation = found
        return made

    def aggregate(items: Sequence[Any]) -> Value:
        return guarded(name, lambda: value(items), Value(math.nan))

    aggregate.__name__ = name
    aggregate.measures = measures  # type: ignore[attr-defined]
    return aggregate


def facts(found: Evaluation) -> dict[str, Any]:
    """What a task file could not say and the records do: scorer, kernel, data revision, settings of BLEU, readings."""
    metadata: dict[str, Any] = {}
    if found.scored:
        scores = found.scored.scores
        metadata["explanation_scorer"] = scores.signature
        if scores.kernel:
            metadata["explanation_kernel"] = scores.kernel
    for field, name in (("revision", "data_revision"), ("bleu", "bleu")):
        if texts := sorted({str(record[field]) for record in found.records if field in record}):
            metadata[name] = ", ".join(texts)
    if readings := count_readings(found.records):
        metadata["readings"] = readings
    return metadata


# --- all measures of a task ---


def guarded(name: str, compute: Callable[[], _Value], otherwise: _Value) -> _Value:
    """What `compute` returns; `otherwise` if it raises, with the cause in the log and a note of the failure."""
    try:
        return compute()
    except Exception:  # whatever it is, the outputs of the run must still be written
        logger.exception(f"figlang_tasks: {name} failed; its value is NaN")
        notes.note(f"{name} failed; its value is NaN, see the log")
        return otherwise


def evaluate(
    records: Sequence[Record], measures: Measures, stderr_resamples: int = STDERR_RESAMPLES, in_run: bool = False
) -> dict[str, dict[str, Estimate]]:
    """Every measure of a task, of all records and of each scope, where it has a value.

    Measures in the harness's table have a standard error, of so many resamples. In a run a measure that fails is
    :func:`guarded`, and measures warn of what they leave out.
    """
    found = {}
    for measure in measures.all:
        compute = partial(_in_scopes, measure, records, measures, stderr_resamples * measure.in_table, in_run)
        own = guarded(measure.name, compute, {OVERALL: Estimate(math.nan)}) if in_run else compute()
        if own:
            found[measure.name] = own
    return found


def _in_scopes(
    measure: Measure, records: Sequence[Record], measures: Measures, stderr_resamples: int, in_run: bool
) -> dict[str, Estimate]:
    found: dict[str, Estimate] = {}
    for scope, own in measure.in_scopes(records).items():
        resamples = stderr_resamples if scope == OVERALL else 0
        if in_run and measure.warn and scope == OVERALL:
            measure.warn(by_repeat(own)[0])
        estimate = measure.estimate(own, scope, resamples)
        if estimate is not None:
            found[scope] = estimate._replace(rows=measures.rows(own), stderr=estimate.stderr if resamples else None)
        elif scope == OVERALL:
            return {}  # what has no value has none in a scope
    return found


def headlines(records: Sequence[Record], measures: Measures) -> dict[str, float]:
    """Values of the measures in the harness's table that are no diagnostics, by full name."""
    return {
        full_name(name, scope): estimate.value
        for name, scope, estimate in flat(evaluate(records, measures, stderr_resamples=0))
        if measures.by_name[name].in_table and not measures.by_name[name].is_diagnostic
    }


def of_repeats(records: Sequence[Record], measures: Measures, estimates: Estimates) -> dict[str, Any] | None:
    """The headline metric of a task whose rows were asked several times (``--repeats K``), else None.

    Returns:
        ``answers``: how many a row has; ``metric``: its name; ``mean``: its mean over all answers. And, where answers
        are labels or options, its value if each row has the answer of its majority, under ``maj@K``: of answers that
        were given equally often the first one; what could not be read has no vote, unless nothing could be read.
    """
    rounds = by_repeat(records)
    known = [measure for measure in measures.all if measure.name in estimates]
    if len(rounds) == 1 or not known:
        return None
    headline = min(known, key=lambda measure: measure.order)
    found = {"answers": len(rounds), "metric": headline.name, "mean": estimates[headline.name][OVERALL].value}
    if headline.answer is not None:
        rows: dict[str, list[Record]] = {}
        for record in (record for answers in rounds for record in answers):
            rows.setdefault(record["id"], []).append(record)
        chosen = [_of_majority(own, headline.answer) for own in rows.values()]
        counted = [record for record in chosen if headline.counts(record)]
        statistic = headline.statistic_of(counted) if counted else None
        if statistic is not None:
            found[f"maj@{len(rounds)}"] = statistic.total()
    return found


def _of_majority(records: Sequence[Record], answer: Callable[[Record], Hashable]) -> Record:
    """The first record with the answer that most have, as if the row had been asked once."""
    votes = Counter(said for record in records if (said := answer(record)) is not None)
    winner = votes.most_common(1)[0][0] if votes else None
    chosen = next(record for record in records if answer(record) == winner)
    return {name: value for name, value in chosen.items() if name != REPEAT}
