"""ExplanationScore inside the tasks: which scorer, when it runs, and what comes of its scores.

The scores are computed once a task, before its measures, for rank 0 (the harness aggregates nowhere
else), when the evaluated model has given its memory back. In lmms-eval the other ranks wait for it
at a barrier.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from loguru import logger

from figlang_tasks.core import notes, status
from figlang_tasks.core.benchmark import of_dataset
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import explained
from figlang_tasks.scoring.measure import Record

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer

SCORER_VARIABLE = "FIGLANG_SCORER"
DTYPE_VARIABLE = "FIGLANG_SCORER_DTYPE"
DEVICE_VARIABLE = "FIGLANG_SCORER_DEVICE"
OFF = "off"
Name = Literal["vflute25", "figlang24", "flute22", "flute22-xlarge", "embedded", "off"]
Choice = Literal[Name, False] | None
"""The option `scorer` of a task: None where the task file names none; YAML reads ``off`` as
False.
"""
CHOICES = get_args(Name)

# --- choice of the scorer ---


def choose_scorer(option: str | Literal[False] | None, papers: str) -> str:
    """The scorer to use: ``$FIGLANG_SCORER``, else the task's option, else that of the paper.

    A task whose option is ``off`` (in YAML also without quotation marks, which reads as false) asks
    for no explanations: it stays off whatever the environment says.
    """
    if option is False or option == OFF:
        return OFF
    named = os.environ.get(SCORER_VARIABLE)
    name, where = (
        (named, f"${SCORER_VARIABLE}") if named else (option or papers, "task option scorer")
    )
    if name not in CHOICES:
        raise ValueError(f"{where}={name!r}; valid: {', '.join(CHOICES)}")
    return name


def default_scorer(dataset: str) -> str:
    """The scorer of the paper whose benchmark a dataset belongs to."""
    benchmark = of_dataset(dataset)
    if benchmark.scorer is None:
        raise ValueError(
            f"{benchmark.name} declares no scorer of explanations: name one in its benchmark.py"
        )
    return benchmark.scorer


_scorers: dict[tuple[str, str, str], Scorer] = {}
_interrupted = False  # so that one Ctrl-C ends the scoring of all tasks


def scorer(name: str) -> Scorer:
    """The scorer `name`, its weights located; kept for the next task."""
    from figlang_tasks.metrics.explanation import get_scorer

    device, dtype = os.environ.get(DEVICE_VARIABLE, "auto"), os.environ.get(DTYPE_VARIABLE, "fp32")
    if (name, device, dtype) not in _scorers:
        _scorers[name, device, dtype] = get_scorer(name, device=device, dtype=dtype)
    return _scorers[name, device, dtype]


def release() -> None:
    """Let go of the scorers and their memory."""
    global _interrupted
    for kept in _scorers.values():
        kept.release()
    _scorers.clear()
    _interrupted = False


def preflight(dataset: str, option: str | Literal[False] | None, required: bool = False) -> None:
    """Check the choice of the scorer for a dataset, and fetch its weights, before a model answers.

    Weights that are not available cost no run: the thresholded metrics are left out of it, and a
    warning says so now. Where they are `required` they end it: lm-eval would end it with status 0.
    """
    from figlang_tasks.metrics.explanation import WeightsError

    name = choose_scorer(option, default_scorer(dataset))
    if name == OFF or not status.in_first_process():
        return
    try:
        scorer(name)
    except WeightsError as error:
        if required:
            raise ValueError(
                f"explanations cannot be scored: {error}. Or evaluate without scores"
                f" ({SCORER_VARIABLE}={OFF}) and add them afterwards: figlang score SAMPLES.jsonl"
            ) from error
        logger.warning(
            "figlang_tasks: explanations will not be scored unless you correct this before the run"
            f" ends: {error}"
        )


# --- scoring of one task ---


class PairScores(NamedTuple):
    """The explanation scores of pairs of texts.

    Attributes:
        signature: of the scorer, or what was counted without one.
        kernel: the library that computed them, on which the seventh digit depends; no part of the
            signature. Empty without scores.
        details: bertscore, bleurt if there is one, and mean, by pair of texts.
    """

    signature: str
    kernel: str
    details: Mapping[tuple[str, str], Mapping[str, float]]


class Scored(NamedTuple):
    """The explanation scores of a task."""

    name: str  # of the scorer, or off
    labels_alone: bool  # whether the task asks for no explanations
    scores: PairScores
    scheme: explained.Scheme

    def add_to(self, records: Iterable[Any]) -> None:
        """Write the scores into records of the task, under ``explanation_scores``."""
        for record in records:
            details = self.scores.details.get(explained.text_pair(record))
            if details and self.scheme.needs_score(record):
                record["explanation_scores"] = {"scorer": self.name, **details}
            if self.labels_alone:
                record["asks_for_explanation"] = False


def score(
    records: Sequence[Record], scheme: explained.Scheme, option: str | Literal[False] | None = None
) -> Scored | None:
    """Score the explanations of all records of a task, and write the scores into them; None without
    records.
    """
    if not records:
        return None
    option = records[0].get("scorer") if option is None else option
    name = choose_scorer(option, default_scorer(Request.parse(records[0]["request"]).dataset))
    pairs = sorted(
        {explained.text_pair(record) for record in records if scheme.needs_score(record)}
    )
    scores = _scores(name, pairs, scheme) if pairs and name != OFF else None
    if scores is None:
        scores = PairScores(f"none ({scheme.label_metric} counts labels alone)", "", {})
    scored = Scored(name, option in (OFF, False), scores, scheme)
    scored.add_to(records)
    return scored


def _scores(
    name: str, pairs: Sequence[tuple[str, str]], scheme: explained.Scheme
) -> PairScores | None:
    """The scores of the pairs; None after a failure, which is logged and noted."""
    from figlang_tasks.metrics.explanation import WeightsError

    global _interrupted
    try:
        if _interrupted:  # in an earlier task of this evaluation
            raise KeyboardInterrupt
        status.tell(f"scoring {len(pairs):,} explanations ({name}) ...")
        return score_pairs(pairs, scorer(name))
    except (
        Exception,
        KeyboardInterrupt,
    ) as error:  # hours of model output must not be lost for a score
        _interrupted = isinstance(error, KeyboardInterrupt)
        cause = (
            str(error) if isinstance(error, WeightsError) else f"{type(error).__name__}: {error}"
        )
        is_told = isinstance(error, WeightsError | KeyboardInterrupt)
        logger.opt(exception=None if is_told else error).error(
            f"figlang_tasks: explanations were not scored: {cause}."
            f" {', '.join(scheme.score_metrics)} are missing, and {scheme.label_metric} counts"
            " labels alone. With saved samples (--log_samples) you can add them later"
            f" without the model: figlang score SAMPLES.jsonl --scorer {name}"
        )
        notes.note(
            f"explanations were not scored, so {', '.join(scheme.score_metrics)} are missing"
        )
        return None


DIGITS = 6
"""Digits of a score in a record, behind the point: the next one depends on the kernels, which are
chosen by speed.
"""


def score_pairs(pairs: Sequence[tuple[str, str]], scorer: Scorer) -> PairScores:
    """The scores of each pair of texts, as records have them: rounded before any threshold is
    applied.
    """
    scored = scorer.score(
        [reference for reference, _ in pairs], [candidate for _, candidate in pairs]
    )
    columns = {"bertscore": scored.bertscore, "bleurt": scored.bleurt, "mean": scored.mean}
    details: dict[tuple[str, str], dict[str, float]] = {}
    for place, pair in enumerate(pairs):
        details[pair] = {
            name: round(float(column[place]), DIGITS)
            for name, column in columns.items()
            if column is not None
        }
    return PairScores(scored.signature, scorer.kernel, details)
