"""ExplanationScore inside the tasks: which scorer, when it runs, and what comes of its scores.

The scores are computed once a task, lazily in the first aggregator that asks, on rank 0 (the harness aggregates nowhere
else), when the evaluated model has given its memory back.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
from loguru import logger

from figlang_tasks import failures, interrupts
from figlang_tasks.metric_names import ENDS
from figlang_tasks.metrics import entailment, intervals
from figlang_tasks.metrics.entailment import macro_f1_from_counts
from figlang_tasks.metrics.intervals import Estimated

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import ExplanationScores, Scorer

SCORER_VARIABLE = "FIGLANG_SCORER"
DTYPE_VARIABLE = "FIGLANG_SCORER_DTYPE"
DEVICE_VARIABLE = "FIGLANG_SCORER_DEVICE"
DEFAULT = "vflute25"
OFF = "off"
CHOICES = ("vflute25", "figlang24", "flute22", "flute22-xlarge", "embedded", OFF)

THRESHOLDS = {"f1@0": 0.0, "f1@53": 0.53, "f1@60": 0.60}
"""V-FLUTE's thresholds (section 4.2), by metric name."""

TIME_TO_WRITE = 60.0
"""Seconds that an interrupted scoring leaves for the results without its scores."""

MEAN_SCORE = "explanation_score"
METRICS = (*THRESHOLDS, MEAN_SCORE)


@dataclass(frozen=True)
class Scheme:
    """How a benchmark turns labels and explanation scores into its headline numbers.

    Attributes:
        thresholds: by metric name; the first metric has a value without scores too: the labels' own.
        explained: for an accuracy, which right rows must be explained, by metric name; empty: macro F1.
        scorer: the paper's, where neither environment nor task name another.
    """

    thresholds: Mapping[str, float]
    explained: Mapping[str, entailment.Explained]
    scorer: str

    @property
    def of_labels(self) -> str:
        """The metric that has a value without scores."""
        return next(iter(self.thresholds))

    @property
    def need_scores(self) -> tuple[str, ...]:
        return (*list(self.thresholds)[1:], MEAN_SCORE)

    @property
    def without_scorer(self) -> str:
        """What stands in the results in place of a signature."""
        return f"none ({self.of_labels} counts labels alone)"


_ALL: Mapping[str, entailment.Explained] = {"acc@50": "all", "acc@60": "all"}
_V1: Mapping[str, entailment.Explained] = {"v1_acc@50": "contradiction", "v1_acc@60": "contradiction"}

SCHEMES: Mapping[str, Scheme] = {
    # V-FLUTE, section 4.2.
    "f1": Scheme(THRESHOLDS, {}, DEFAULT),
    # FLUTE as in the FigLang 2022 shared task; beside it the definition of the paper's first version.
    "all": Scheme(
        {"acc@0": 0.0, "acc@50": 0.5, "acc@60": 0.6, "v1_acc@50": 0.5, "v1_acc@60": 0.6}, {**_ALL, **_V1}, "flute22"
    ),
    # FLUTE as in arXiv 2205.12404v1, section 3: entailments are answered "No." and have no explanation.
    "contradiction": Scheme(
        {"acc@0": 0.0, "acc@50": 0.5, "acc@60": 0.6}, {"acc@50": "contradiction", "acc@60": "contradiction"}, "flute22"
    ),
}

WITHOUT_SCORER = SCHEMES["f1"].without_scorer

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Explained:
    """What the explanation metrics need of one row.

    Attributes:
        id: released id.
        gold: 1 entailment, 0 contradiction.
        predicted: predicted label, None if none was found.
        reference: reference explanation.
        explanation: predicted explanation, None if there is none (scored as "").
        unit: what the row shares with the rows that it is not independent of: its family (see `load` of its benchmark).
        scheme: key of :data:`SCHEMES`.
        scorer: the task's own choice of scorer, where its rows bring it along (lm-eval tells aggregators nothing else).
    """

    id: str
    gold: int
    predicted: int | None
    reference: str
    explanation: str | None
    unit: str
    scheme: str = "f1"
    scorer: str | None = None

    @property
    def needs_score(self) -> bool:
        """Whether an explanation is asked for: by the paper's first version of FLUTE, of contradictions alone."""
        return self.scheme != "contradiction" or self.gold == 0

    @property
    def pair(self) -> tuple[str, str]:
        return self.reference, self.explanation or ""

    def __str__(self) -> str:
        # The harness writes the value of every metric to samples.jsonl; the texts stand there once, under "sample".
        return f"gold {self.gold}, predicted {self.predicted}"


# --- metrics ---------------------------------------------------------------------------------------------------------


def kept(
    rows: Sequence[Explained], scores: Floats | None, threshold: float, explained: entailment.Explained | None = None
) -> Bools:
    """Whether each of n rows is right and explained well enough: of F1@threshold (None) by a score above it, of an
    accuracy as `entailment.explained_well` says. Without scores: whether it is right."""
    right = np.array([row.predicted == row.gold for row in rows], dtype=bool)
    if scores is None:
        return right
    asked = np.array([explained != "contradiction" or row.gold == 0 for row in rows], dtype=bool)
    given = np.where(asked, scores, np.inf)
    return right & (entailment.explained_well(given, threshold, explained) if explained else given > threshold)


def cells(rows: Sequence[Explained], hits: Bools) -> Floats:
    """``tn, fp, fn, tp`` of each of n rows, shape [n, 4]; a row that is no hit has the wrong label."""
    return np.eye(4)[[3 * row.gold if hit else 2 - row.gold for row, hit in zip(rows, hits, strict=True)]]


def f1_at(rows: Sequence[Explained], scores: Floats | None, threshold: float) -> Estimated:
    """F1@threshold of n rows with their n explanation scores; without scores (None) the macro F1 of the labels."""
    gold, predicted = [row.gold for row in rows], [row.predicted for row in rows]
    if scores is None:
        value = entailment.macro_f1(gold, predicted)
    else:
        value = entailment.f1_at(gold, predicted, list(scores), threshold)
    _, sums = intervals.sums_by_unit(_units(rows), cells(rows, kept(rows, scores, threshold)))
    return Estimated.of(value, intervals.of_two_classes(sums, macro_f1_from_counts))


def accuracy_at(
    rows: Sequence[Explained], scores: Floats, threshold: float, explained: entailment.Explained
) -> Estimated:
    """Acc@threshold of n rows with their n explanation scores (see ``figlang_tasks.metrics.entailment``)."""
    value = entailment.accuracy_at(
        [row.gold for row in rows], [row.predicted for row in rows], list(scores), threshold, explained
    )
    return Estimated.of(value, intervals.mean(kept(rows, scores, threshold, explained), _units(rows), is_share=True))


def accuracy(rows: Sequence[Explained]) -> Estimated:
    """Accuracy of the labels of n rows."""
    value = entailment.accuracy([row.gold for row in rows], [row.predicted for row in rows])
    return Estimated.of(value, intervals.mean(kept(rows, None, 0), _units(rows), is_share=True))


def _units(rows: Sequence[Explained]) -> list[str]:
    return [row.unit for row in rows]


def mean_score(rows: Sequence[Explained], scores: Floats) -> Estimated:
    """Mean ExplanationScore of n rows."""
    return Estimated.of(math.fsum(scores) / len(scores), intervals.mean(scores, _units(rows)))


def scheme_of(rows: Sequence[Explained]) -> Scheme:
    """The one scheme of n rows.

    Raises:
        ValueError: they have several.
    """
    names = {row.scheme for row in rows}
    if len(names) != 1:
        raise ValueError(f"rows of several schemes: {', '.join(sorted(names))}")
    return SCHEMES[names.pop()]


def metric(name: str, rows: Sequence[Explained], scores: Floats | None) -> Estimated | None:
    """One explanation metric of n rows; None where it has no value.

    Args:
        name: of a threshold metric of the rows' scheme, or ``explanation_score``.
        rows: n rows of one scheme.
        scores: their explanation scores, shape [n], NaN where a row needs none; None if there are no scores.

    Raises:
        ValueError: the rows' scheme has no such metric.
    """
    scheme = scheme_of(rows)
    if name == MEAN_SCORE:
        needed = np.array([scores is not None and row.needs_score for row in rows], dtype=bool)
        if scores is None or not needed.any():
            return None
        return mean_score([row for row, asked in zip(rows, needed, strict=True) if asked], scores[needed])
    if name not in scheme.thresholds:
        raise ValueError(f"no metric {name!r}; there are: {', '.join((*scheme.thresholds, MEAN_SCORE))}")
    threshold = scheme.thresholds[name]
    if not scheme.explained:
        return None if scores is None and name != scheme.of_labels else f1_at(rows, scores, threshold)
    if name == scheme.of_labels:
        # "A threshold of 0% does not account for the quality of NLE and is equivalent to simply reporting label
        # accuracy" (arXiv 2205.12404v1, section 4; the shared task's page says the same).
        return accuracy(rows)
    return None if scores is None else accuracy_at(rows, scores, threshold, scheme.explained[name])


def as_metrics(name: str, found: Estimated) -> dict[str, float]:
    """A metric and the ends of its interval, where it has one, by the names of a results file."""
    ends = zip(("", *ENDS), found, strict=True)
    return {name + end: value for end, value in ends if value is not None}


def all_metrics(
    rows: Sequence[Explained], scores: Floats, groups: Sequence[str] | Sequence[tuple[str, ...]]
) -> dict[str, float]:
    """Every explanation metric of n rows, overall and (as ``{metric}_{group}``) for each group, with intervals.

    Args:
        rows: n rows.
        scores: their explanation scores, shape [n].
        groups: the report group, or groups, of each row.
    """
    of_rows = [(own,) if isinstance(own, str) else own for own in groups]
    scopes = {"": np.ones(len(rows), dtype=bool)}
    for group in dict.fromkeys(name for own in of_rows for name in own):
        scopes[f"_{group}"] = np.array([group in own for own in of_rows])
    values: dict[str, float] = {}
    for suffix, chosen in scopes.items():
        members = [row for row, inside in zip(rows, chosen, strict=True) if inside]
        for name in (*scheme_of(rows).thresholds, MEAN_SCORE):
            found = metric(name, members, scores[chosen])
            values |= as_metrics(name + suffix, found) if found else {}
    return values


def counts(rows: Sequence[Explained], groups: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """How many of n rows each metric of :func:`all_metrics` was taken over, by its name; `groups` as there."""
    found: dict[str, int] = {}
    for group in ("", *dict.fromkeys(name for own in groups for name in own)):
        members = [row for row, own in zip(rows, groups, strict=True) if not group or group in own]
        suffix = f"_{group}" * bool(group)
        found |= {f"{name}{suffix}": len(members) for name in scheme_of(rows).thresholds}
        found[MEAN_SCORE + suffix] = sum(row.needs_score for row in members)
    return found


# --- choice of the scorer --------------------------------------------------------------------------------------------


def choose(option: str | Literal[False] | None, default: str = DEFAULT) -> str:
    """The scorer to use: ``$FIGLANG_SCORER``, else the task's option, else the paper's (`default`).

    A task whose option is ``off`` (in YAML also without quotation marks, which reads as false) asks for no
    explanations: it stays off whatever the environment says.

    Raises:
        ValueError: there is no such scorer; the message lists the valid ones.
    """
    if option is False or option == OFF:
        return OFF
    named = os.environ.get(SCORER_VARIABLE)
    name, where = (named, f"${SCORER_VARIABLE}") if named else (option or default, "task option scorer")
    if name not in CHOICES:
        raise ValueError(f"{where}={name!r}; valid: {', '.join(CHOICES)}")
    return name


_scorers: dict[tuple[str, str, str], Scorer] = {}
_interrupted = False  # so that one Ctrl-C ends the scoring of all tasks


def scorer(name: str) -> Scorer:
    """The scorer `name`, its weights located; kept for the next task.

    Raises:
        WeightsError: the weights cannot be had.
        ValueError: ``$FIGLANG_SCORER_DTYPE`` or ``$FIGLANG_SCORER_DEVICE`` is not valid.
    """
    from figlang_tasks.metrics.explanation import get_scorer

    device, dtype = os.environ.get(DEVICE_VARIABLE, "auto"), os.environ.get(DTYPE_VARIABLE, "fp32")
    if (name, device, dtype) not in _scorers:
        _scorers[name, device, dtype] = get_scorer(name, device=device, dtype=dtype)
    return _scorers[name, device, dtype]


def release() -> None:
    """Let go of the scorers and their memory, and of the scores kept for aggregators outside of a session."""
    global _interrupted
    for kept in _scorers.values():
        kept.release()
    _scorers.clear()
    _outside.clear()
    _interrupted = False


def preflight(option: str | Literal[False] | None, default: str = DEFAULT) -> None:
    """Check the choice of the scorer, and fetch its weights, before a model is loaded.

    Weights that cannot be had cost no run: the thresholded metrics are left out of it, and a warning says so now.

    Raises:
        ValueError: there is no such scorer, or an environment variable is not valid.
    """
    from figlang_tasks.metrics.explanation import WeightsError

    name = choose(option, default)
    if name == OFF or os.environ.get("RANK", "0") != "0":
        return
    try:
        scorer(name)
    except WeightsError as error:
        logger.warning(f"figlang_tasks: explanations will not be scored unless this is repaired by then: {error}")


# --- scoring of one task ---------------------------------------------------------------------------------------------


class Session:
    """The explanation scores of one task, computed at the first call of `scores`.

    Args:
        name: scorer, or ``off``.
        rows: all rows of the task.
    """

    def __init__(self, name: str, rows: Iterable[Explained]) -> None:
        self.name = name
        self.signature: str | None = None
        rows = list(rows)
        self._pairs = sorted({row.pair for row in rows if row.needs_score})
        self.scheme = SCHEMES[rows[0].scheme if rows else "f1"]
        self._scores: dict[tuple[str, str], dict[str, float]] | None = None

    def scores(self, rows: Sequence[Explained]) -> Floats | None:
        """ExplanationScore of each row, float64 of shape [n], NaN where a row needs none; None without scores.

        There are none if the scorer is off or could not run.
        """
        if self._scores is None:
            self._scores = self._compute()
        if not self._scores and self._pairs:
            return None
        known = self._scores
        return np.array([known[row.pair]["mean"] if row.needs_score else math.nan for row in rows], dtype=np.float64)

    def covers(self, name: str, rows: Iterable[Explained]) -> bool:
        """Whether this is the session for those rows, or others and those, by that scorer."""
        return name == self.name and {row.pair for row in rows if row.needs_score} <= set(self._pairs)

    def details(self, pair: tuple[str, str]) -> dict[str, float] | None:
        """bertscore, bleurt (where the scorer has it) and mean of a pair, if it was scored."""
        return (self._scores or {}).get(pair)

    def _compute(self) -> dict[tuple[str, str], dict[str, float]]:
        global _interrupted
        if self.name == OFF or not self._pairs:
            return {}  # nothing to score
        try:
            if _interrupted:  # in an earlier task of this evaluation
                raise KeyboardInterrupt
            with interrupts.time_to_keep(TIME_TO_WRITE):
                return self._score_pairs()
        except (Exception, KeyboardInterrupt) as error:  # hours of model output must not be lost for a score
            from figlang_tasks.metrics.explanation import WeightsError

            _interrupted = isinstance(error, KeyboardInterrupt) or interrupts.happened()
            cause = str(error) if isinstance(error, WeightsError) else f"{type(error).__name__}: {error}"
            is_told = isinstance(error, WeightsError | KeyboardInterrupt)
            logger.opt(exception=None if is_told else error).error(
                f"figlang_tasks: explanations were not scored: {cause}. Left out: "
                f"{', '.join(self.scheme.need_scores)}; {self.scheme.of_labels} counts labels alone. To add them "
                f"later, without the model, from samples (--log_samples): figlang score SAMPLES.jsonl "
                f"--scorer {self.name}"
            )
            failures.note(f"explanations were not scored, so that {', '.join(self.scheme.need_scores)} are missing")
            return {}

    def _score_pairs(self) -> dict[tuple[str, str], dict[str, float]]:
        from figlang_tasks.metrics.explanation import near_threshold

        chosen = scorer(self.name)
        references, candidates = zip(*self._pairs, strict=True)
        scored = chosen.score(references, candidates)
        self.signature = scored.signature
        if _current is not self:
            chosen.release()  # nobody else will: the plugin, which does it after an evaluation, is not in place
        if chosen.dtype == "fast":
            # BERTScore of an empty text is 0 in every dtype.
            near = near_threshold(scored.mean[scored.mean != 0], list(self.scheme.thresholds.values()))
            logger.warning(
                f"figlang_tasks: dtype fast: {near} of {len(self._pairs)} explanations lie within .005 of a threshold"
            )
        return by_pair(self._pairs, scored)


def by_pair(pairs: Sequence[tuple[str, str]], scored: ExplanationScores) -> dict[tuple[str, str], dict[str, float]]:
    """Scores as plain numbers: bertscore, bleurt (where there is one) and mean of each pair."""
    columns = {"bertscore": scored.bertscore, "bleurt": scored.bleurt, "mean": scored.mean}
    return {
        pair: {name: float(column[index]) for name, column in columns.items() if column is not None}
        for index, pair in enumerate(pairs)
    }


_current: Session | None = None


@contextmanager
def session(name: str, rows: Iterable[Explained]) -> Iterator[Session]:
    """Serve the aggregators inside the block with the scores of `rows` by the scorer `name`."""
    global _current
    before, _current = _current, Session(name, rows)
    try:
        yield _current
    finally:
        _current = before


_outside: deque[Session] = deque(maxlen=8)


def current(rows: Sequence[Explained]) -> Session:
    """The session of the task that is being aggregated.

    Outside one (in lm-eval, which has no place for our hook) the harness asks metric by metric, the whole task first:
    a session is kept for all that comes after it with the same rows or some of them, so that each text is scored once
    and a failure is told once.
    """
    if _current is not None:
        return _current
    name = choose(rows[0].scorer, SCHEMES[rows[0].scheme].scorer)
    for kept in _outside:
        if kept.covers(name, rows):
            return kept
    _outside.appendleft(Session(name, rows))
    return _outside[0]


def aggregate_task(original: Any, task_output: Any, *args: Any, **kwargs: Any) -> Any:
    """Stands around the harness's ``TaskOutput.calculate_aggregate_metric``, for all tasks.

    Aggregators see their records only. So this hands them the task's choice of scorer and all its rows, takes metrics
    out of the results that have no value, and writes scores and signature to where users look for them.
    """
    rows = {item for items in task_output.sample_metrics.values() for item in items if isinstance(item, Explained)}
    if not rows:
        return original(task_output, *args, **kwargs)
    option = (task_output.task.lmms_eval_specific_kwargs or {}).get("scorer")
    some_row = next(iter(rows))
    if option is None:
        option = some_row.scorer
    try:
        name = choose(option, SCHEMES[some_row.scheme].scorer)
    except ValueError as error:  # preflight was not called
        logger.error(f"figlang_tasks: {error}; explanations are not scored")
        failures.note("explanations were not scored, see the log")
        name = OFF
    with session(name, rows) as scoring:
        result = original(task_output, *args, **kwargs)
    try:
        drop_metrics_without_value(task_output)
        _add_provenance(task_output, scoring, asked=option not in (OFF, False))
    except Exception:  # a task of the user's own may shape records and metadata in other ways: no reason to lose a run
        logger.exception("figlang_tasks: explanation scores could not be added to the samples")
        failures.note("explanation scores could not be added to the samples, see the log")
    return result


def drop_metrics_without_value(task_output: Any) -> None:
    """Take metrics whose aggregator returned None out of a task's results."""
    for metric, filter_key in list(task_output.sample_metrics):
        if task_output.agg_metrics.get(f"{metric},{filter_key}") is None:
            del task_output.sample_metrics[metric, filter_key]
            for suffix in ("", "_stderr"):
                task_output.agg_metrics.pop(f"{metric}{suffix},{filter_key}", None)


def add_metadata(task_output: Any, found: Mapping[str, Any]) -> None:
    """Add to what the results file holds under ``configs.<task>.metadata``."""
    metadata = task_output.task_config.get("metadata") or {}
    task_output.task_config["metadata"] = {**metadata, **found} if isinstance(metadata, Mapping) else [*metadata, found]


def _add_provenance(task_output: Any, scoring: Session, asked: bool) -> None:
    add_metadata(task_output, {"explanation_scorer": scoring.signature or scoring.scheme.without_scorer})
    # Of a dataset whose commit the task file could not name.
    revisions = {
        sample["sample"]["revision"] for sample in task_output.logged_samples if "revision" in sample["sample"]
    }
    if revisions:
        add_metadata(task_output, {"data_revision": ", ".join(sorted(revisions))})
    for sample in task_output.logged_samples:
        record = sample["sample"]
        if not asked:
            record["asks_for_explanation"] = False
        if details := scoring.details((record["reference"], record["explanation"] or "")):
            record["explanation_scores"] = {"scorer": scoring.name, **details}
