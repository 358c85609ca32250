"""Explanation scores in the tasks: which scorer computes them, when, and what becomes of them.

The scores of a task are computed once, before its measures, when the evaluated model has given its
memory back. Only the first process (rank 0) does so, since the harness aggregates nowhere else; in
lmms-eval the others wait for it at a barrier.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from loguru import logger

from figlang_tasks.core import notes, status
from figlang_tasks.core.benchmark import of_dataset
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import explained

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer

SCORER_VARIABLE = "FIGLANG_SCORER"
DTYPE_VARIABLE = "FIGLANG_SCORER_DTYPE"
DEVICE_VARIABLE = "FIGLANG_SCORER_DEVICE"

OFF = "off"
"""The choice of no scorer."""

ScorerName: TypeAlias = Literal[
    "vflute25", "figlang24", "flute22", "flute22-xlarge", "yesbut24", "embedded", "off"
]
SCORER_NAMES = get_args(ScorerName)

ScorerOption: TypeAlias = Literal[ScorerName, False] | None
"""The option `scorer` of a task file: None if it names none; False is ``off`` as YAML reads it."""

TextPair: TypeAlias = tuple[str, str]
"""A reference explanation and a predicted one."""

# --- choice of the scorer ---


def choose_scorer(scorer_option: str | Literal[False] | None, default: str) -> str:
    """The scorer's name: `OFF` if the task says so, else $FIGLANG_SCORER, the option, the default.

    A task whose option is `OFF` asks for no explanations. The environment variable may say ``off``
    too: then there is no scorer either.

    Args:
        scorer_option: the option `scorer` of the task file (`ScorerOption`). False means the same
            as `OFF`: it is what YAML reads in ``off``.
        default: the scorer of the paper (`default_scorer`).

    Raises:
        ValueError: there is no scorer of this name.
    """
    if scorer_option is False or scorer_option == OFF:
        return OFF
    name = os.environ.get(SCORER_VARIABLE)
    origin = f"${SCORER_VARIABLE}"
    if not name:
        name = scorer_option or default
        origin = "task option scorer"
    if name not in SCORER_NAMES:
        raise ValueError(f"{origin}={name!r}; valid: {', '.join(SCORER_NAMES)}")
    return name


def default_scorer(dataset: str) -> str:
    """The name of the scorer of the paper whose benchmark a dataset belongs to: ``vflute25``.

    Raises:
        ValueError: the benchmark declares no scorer.
    """
    benchmark = of_dataset(dataset)
    if benchmark.scorer is None:
        raise ValueError(
            f"{benchmark.name} declares no scorer of explanations: name one in its benchmark.py"
        )
    return benchmark.scorer


_scorers: dict[tuple[str, str, str], Scorer] = {}
"""Loaded scorers by name, device and dtype."""

_interrupted = False
"""Whether a scoring was interrupted: one Ctrl-C ends the scoring of all tasks."""


def load_scorer(name: str) -> Scorer:
    """The scorer of this name, loaded once and kept for the next task.

    Device and number format are those of the environment (`DEVICE_VARIABLE`, `DTYPE_VARIABLE`).

    Raises:
        WeightsError: its weights are missing.
    """
    from figlang_tasks.metrics.explanation import get_scorer

    device = os.environ.get(DEVICE_VARIABLE, "auto")
    dtype = os.environ.get(DTYPE_VARIABLE, "fp32")
    key = (name, device, dtype)
    if key not in _scorers:
        _scorers[key] = get_scorer(name, device=device, dtype=dtype)
    return _scorers[key]


def release() -> None:
    """Let go of all loaded scorers and their memory, and forget an interruption."""
    global _interrupted
    for scorer in _scorers.values():
        scorer.release()
    _scorers.clear()
    _interrupted = False


def preflight(
    dataset: str, scorer_option: str | Literal[False] | None, required: bool = False
) -> None:
    """Check the choice of the scorer for a dataset, and fetch its weights, before a model answers.

    Missing weights do not end the run: a warning says now that the thresholded metrics will be left
    out.

    Args:
        dataset: the name of the dataset.
        scorer_option: the option `scorer` of the task file (`ScorerOption`).
        required: whether missing weights raise an error. So it is for lm-eval, which would leave
            metrics out and end with status 0.

    Raises:
        ValueError: there is no such scorer, or its weights are missing and required.
    """
    from figlang_tasks.metrics.explanation import WeightsError

    name = choose_scorer(scorer_option, default_scorer(dataset))
    if name == OFF or not status.in_first_process():
        return
    try:
        load_scorer(name)
    except WeightsError as error:
        if required:
            raise ValueError(
                f"explanations cannot be scored: {error}. Or evaluate without scores"
                f" ({SCORER_VARIABLE}={OFF}) and add them afterwards: figlang score SAMPLES.jsonl"
            ) from error
        logger.warning(
            f"figlang_tasks: explanations will not be scored: {error}. Answers are kept;"
            " `figlang score` can add scores later"
        )


# --- scoring of one task ---


class PairScores(NamedTuple):
    """The explanation scores of pairs of texts.

    Attributes:
        signature: of the scorer, or what was counted without one.
        kernel: the library that computed them, on which the seventh digit depends; no part of the
            signature. Empty without scores.
        details: ``bertscore``, ``bleurt`` if there is one, and ``mean``, by pair of texts.
    """

    signature: str
    kernel: str
    details: Mapping[TextPair, Mapping[str, float]]


class Scored(NamedTuple):
    """The explanation scores of a task.

    Attributes:
        name: of the scorer, or ``off``.
        asks_for_labels_alone: whether the task asks for no explanations.
        scores: the scores; without details if there is no scorer, or after a failure.
        scheme: which records need a score.
    """

    name: str
    asks_for_labels_alone: bool
    scores: PairScores
    scheme: explained.Scheme

    def add_to(self, records: Iterable[dict[str, Any]]) -> None:
        """Write the scores into records of the task, under ``explanation_scores``.

        Where the task asks for labels alone, ``asks_for_explanation`` is set to False: saved
        samples then tell that no scores are missing (`TaskRun.has_explanations`).
        """
        for record in records:
            # Equal texts were scored once, so that scores are looked up by their texts.
            scores_of_pair = self.scores.details.get(explained.text_pair(record))
            # A record that needs no score may have the same texts as one that does.
            if scores_of_pair and self.scheme.needs_score(record):
                record["explanation_scores"] = {"scorer": self.name, **scores_of_pair}
            if self.asks_for_labels_alone:
                record["asks_for_explanation"] = False


def score(
    records: Sequence[dict[str, Any]],
    scheme: explained.Scheme,
    scorer_option: str | Literal[False] | None = None,
) -> Scored | None:
    """Score the explanations of a task, and write the scores into its records.

    Args:
        records: all records of the task.
        scheme: which of them need a score.
        scorer_option: the option `scorer` of the task file; None takes that of the first record.

    Returns:
        What was written; None only if there are no records. A failure is logged and noted, and
        then no record has scores.
    """
    if not records:
        return None
    if scorer_option is None:
        scorer_option = records[0].get("scorer")  # the same in all records of a task
    dataset = Request.parse(records[0]["request"]).dataset
    name = choose_scorer(scorer_option, default_scorer(dataset))

    pairs = {explained.text_pair(record) for record in records if scheme.needs_score(record)}
    scores = None
    if pairs and name != OFF:
        scores = _scores_or_failure(name, sorted(pairs), scheme)
    if scores is None:
        scores = PairScores(signature_without_scores(scheme), kernel="", details={})
    # Only the task's own option changes what the task asks for. With $FIGLANG_SCORER=off it asks
    # for explanations, which have no scores.
    asks_for_labels_alone = scorer_option in (OFF, False)
    scored = Scored(name, asks_for_labels_alone, scores, scheme)
    scored.add_to(records)
    return scored


def signature_without_scores(scheme: explained.Scheme) -> str:
    """What results have as the signature of the scorer where explanations have no scores."""
    return f"none ({scheme.label_metric} counts labels alone)"


def _scores_or_failure(
    name: str, pairs: Sequence[TextPair], scheme: explained.Scheme
) -> PairScores | None:
    """The scores of the pairs; None after a failure or Ctrl-C, which is logged and noted.

    Args:
        name: of the scorer.
        scheme: for the message about a failure.
    """
    global _interrupted
    if _interrupted:  # by Ctrl-C in an earlier task, which ends the scoring of all tasks
        _report_failure(KeyboardInterrupt(), name, scheme)
        return None
    try:
        status.tell(f"scoring {len(pairs):,} explanations ({name}) ...")
        return score_pairs(pairs, load_scorer(name))
    except KeyboardInterrupt as interrupt:
        _interrupted = True
        _report_failure(interrupt, name, scheme)
    except Exception as error:
        # Whatever it is: hours of model output must not be lost for a score.
        _report_failure(error, name, scheme)
    return None


def _report_failure(error: BaseException, name: str, scheme: explained.Scheme) -> None:
    """Log why explanations were not scored and how to add the scores later; note the failure."""
    from figlang_tasks.metrics.explanation import WeightsError

    cause = f"{type(error).__name__}: {error}"
    if isinstance(error, WeightsError):
        cause = str(error)
    # The message of missing weights says all, and Ctrl-C is no fault.
    needs_traceback = not isinstance(error, WeightsError | KeyboardInterrupt)
    traceback = error if needs_traceback else None
    metrics = ", ".join(scheme.score_metrics)
    logger.opt(exception=traceback).error(
        f"figlang_tasks: explanations were not scored: {cause}. {metrics} are missing, and"
        f" {scheme.label_metric} counts labels alone. With saved samples (--log_samples) you can"
        f" add them later without the model: figlang score SAMPLES.jsonl --scorer {name}"
    )
    notes.note_failure(f"explanations were not scored, so {metrics} are missing")


DIGITS = 6
"""Digits of a score in a record, behind the point.

The next one depends on the kernels, which are chosen by speed.
"""


def score_pairs(pairs: Sequence[TextPair], scorer: Scorer) -> PairScores:
    """The scorer's signature and kernel, and the scores of each pair as records have them.

    Scores are rounded to `DIGITS`; thresholds see the rounded scores only.
    """
    references = [reference for reference, _ in pairs]
    candidates = [candidate for _, candidate in pairs]
    scores = scorer.score(references, candidates)
    columns = {"bertscore": scores.bertscore}
    if scores.bleurt is not None:
        columns["bleurt"] = scores.bleurt
    columns["mean"] = scores.mean

    details: dict[TextPair, dict[str, float]] = {}
    for index, pair in enumerate(pairs):
        details[pair] = {
            name: round(float(column[index]), DIGITS) for name, column in columns.items()
        }
    return PairScores(scores.signature, scorer.kernel, details)
