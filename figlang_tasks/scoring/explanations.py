"""ExplanationScore inside the tasks: which scorer, when it runs, and what comes of its scores.

The scores are computed once a task, before its measures, for rank 0 (the harness aggregates nowhere else), when the
evaluated model has given its memory back. In lmms-eval the other ranks wait for it at a barrier.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from loguru import logger

from figlang_tasks.core import notes, status
from figlang_tasks.scoring import explained
from figlang_tasks.scoring.measure import Record

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import ExplanationScores, Scorer

SCORER_VARIABLE = "FIGLANG_SCORER"
DTYPE_VARIABLE = "FIGLANG_SCORER_DTYPE"
DEVICE_VARIABLE = "FIGLANG_SCORER_DEVICE"
DEFAULT = "vflute25"
OFF = "off"
Name = Literal["vflute25", "figlang24", "flute22", "flute22-xlarge", "embedded", "off"]
Choice = Name | Literal[False] | None
"""The option `scorer` of a task: None where the task file names none; YAML reads ``off`` as False."""
CHOICES = get_args(Name)

ADDED = ("explanation_scores", "asks_for_explanation")
"""What `Scored.add_to` adds to records."""

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


def short(signature: str) -> str:
    """The signature of a scorer with abbreviated names, as sacreBLEU has two forms of its own.

    ``vflute25|bertscore:microsoft/deberta-xlarge-mnli@5b07a9086c1d...,layer:40,idf:no,...|bleurt:...|dtype:fp32|...``
    becomes ``vflute25|bs:deberta-xlarge-mnli@5b07a90,l:40|bl:BLEURT-20@e22b9eb|dt:fp32|v:0.1.0``. What is the same in
    every signature (idf, rescale, max) is left out.

    Args:
        signature: of :class:`figlang_tasks.metrics.explanation.Scorer`.
    """
    name, *parts = signature.split("|")
    return "|".join([name, *map(_short_part, parts)])


_ABBREVIATIONS = {"bertscore": "bs", "bleurt": "bl", "dtype": "dt", "version": "v"}


def _short_part(part: str) -> str:
    key, _, value = part.partition(":")
    model, *settings = value.split(",")
    model = re.sub(r"@(sha256:)?([0-9a-f]{7})[0-9a-f]*$", r"@\2", model.rpartition("/")[2])
    layers = [setting.replace("layer:", "l:") for setting in settings if setting.startswith("layer:")]
    return f"{_ABBREVIATIONS.get(key, key)}:{','.join([model, *layers])}"


_scorers: dict[tuple[str, str, str], Scorer] = {}
_interrupted = False  # so that one Ctrl-C ends the scoring of all tasks


def scorer(name: str) -> Scorer:
    """The scorer `name`, its weights located; kept for the next task.

    Raises:
        WeightsError: the weights are not available.
        ValueError: ``$FIGLANG_SCORER_DTYPE`` or ``$FIGLANG_SCORER_DEVICE`` is not valid.
    """
    from figlang_tasks.metrics.explanation import get_scorer

    device, dtype = os.environ.get(DEVICE_VARIABLE, "auto"), os.environ.get(DTYPE_VARIABLE, "fp32")
    if (name, device, dtype) not in _scorers:
        _scorers[name, device, dtype] = get_scorer(name, device=device, dtype=dtype)
    return _scorers[name, device, dtype]


def settings() -> tuple[str | None, ...]:
    """What the environment says of the scorer."""
    return tuple(map(os.environ.get, (SCORER_VARIABLE, DTYPE_VARIABLE, DEVICE_VARIABLE)))


def release() -> None:
    """Let go of the scorers and their memory."""
    global _interrupted
    for kept in _scorers.values():
        kept.release()
    _scorers.clear()
    _interrupted = False


def preflight(option: str | Literal[False] | None, default: str = DEFAULT, required: bool = False) -> None:
    """Check the choice of the scorer, and fetch its weights, before a model answers.

    Weights that are not available cost no run: the thresholded metrics are left out of it, and a warning says so now.

    Args:
        option, default: as in `choose`.
        required: whether such weights end the run: lm-eval would end it with status 0.

    Raises:
        ValueError: there is no such scorer, or an environment variable is not valid; required weights are missing.
    """
    from figlang_tasks.metrics.explanation import WeightsError

    name = choose(option, default)
    if name == OFF or not status.in_first_process():
        return
    try:
        scorer(name)
    except WeightsError as error:
        if required:
            raise ValueError(
                f"explanations cannot be scored: {error}. Or evaluate without scores ({SCORER_VARIABLE}={OFF}) and add "
                "them afterwards: figlang score SAMPLES.jsonl"
            ) from error
        logger.warning(
            f"figlang_tasks: explanations will not be scored unless you correct this before the run ends: {error}"
        )


# --- scoring of one task ---------------------------------------------------------------------------------------------


class Scored(NamedTuple):
    """The explanation scores of a task.

    Attributes:
        name: of the scorer, or ``off``.
        provenance: its signature, or what was counted without one.
        labels_alone: whether the task asks for no explanations.
        details: bertscore, bleurt (where the scorer has it) and mean of each pair of texts.
    """

    name: str
    provenance: str
    labels_alone: bool
    details: Mapping[tuple[str, str], Mapping[str, float]]

    def add_to(self, records: Iterable[Any]) -> None:
        """Write the scores into records of the task, under ``explanation_scores``."""
        for record in filter(explained.is_explained, records):
            details = self.details.get(explained.pair(record))
            if details and explained.needs_score(record):
                record["explanation_scores"] = {"scorer": self.name, **details}
            if self.labels_alone:
                record["asks_for_explanation"] = False


def score(records: Sequence[Record], option: str | Literal[False] | None = None) -> Scored | None:
    """Score the explanations of all records of a task, and write the scores into them; None if it has none.

    Args:
        records: those that are of no explainable entailment are left alone.
        option: the task's option `scorer`.
    """
    own = [record for record in records if explained.is_explained(record)]
    if not own:
        return None
    scheme = explained.scheme_of(own[0])
    option = own[0].get("scorer") if option is None else option
    name = choose(option, scheme.scorer)
    pairs = sorted({explained.pair(record) for record in own if explained.needs_score(record)})
    found = _scores(name, pairs, scheme) if pairs and name != OFF else None
    signature, details = found or (scheme.without_scorer, {})
    scored = Scored(name, signature, option in (OFF, False), details)
    scored.add_to(own)
    return scored


def _scores(
    name: str, pairs: Sequence[tuple[str, str]], scheme: explained.Scheme
) -> tuple[str, dict[tuple[str, str], dict[str, float]]] | None:
    """Signature of the scorer and scores of the pairs; None after a failure, which is logged and noted."""
    from figlang_tasks.metrics.explanation import WeightsError, near_threshold

    global _interrupted
    try:
        if _interrupted:  # in an earlier task of this evaluation
            raise KeyboardInterrupt
        status.tell(f"scoring {len(pairs):,} explanations ({name}) ...")
        chosen = scorer(name)
        references, candidates = zip(*pairs, strict=True)
        scored = chosen.score(references, candidates)
    except (Exception, KeyboardInterrupt) as error:  # hours of model output must not be lost for a score
        _interrupted = isinstance(error, KeyboardInterrupt)
        cause = str(error) if isinstance(error, WeightsError) else f"{type(error).__name__}: {error}"
        is_told = isinstance(error, WeightsError | KeyboardInterrupt)
        logger.opt(exception=None if is_told else error).error(
            f"figlang_tasks: explanations were not scored: {cause}. {', '.join(scheme.need_scores)} are missing, and "
            f"{scheme.of_labels} counts labels alone. With saved samples (--log_samples) you can add them later "
            f"without the model: figlang score SAMPLES.jsonl --scorer {name}"
        )
        notes.note(f"explanations were not scored, so {', '.join(scheme.need_scores)} are missing")
        return None
    if chosen.dtype == "fast":
        # BERTScore of an empty text is 0 in every dtype.
        near = near_threshold(scored.mean[scored.mean != 0], list(scheme.by_name.values()))
        logger.warning(f"figlang_tasks: dtype fast: {near} of {len(pairs)} explanations lie within .005 of a threshold")
    return scored.signature, by_pair(pairs, scored)


def by_pair(pairs: Sequence[tuple[str, str]], scored: ExplanationScores) -> dict[tuple[str, str], dict[str, float]]:
    """Scores as plain numbers: bertscore, bleurt (where there is one) and mean of each pair."""
    columns = {"bertscore": scored.bertscore, "bleurt": scored.bleurt, "mean": scored.mean}
    return {
        pair: {name: float(column[index]) for name, column in columns.items() if column is not None}
        for index, pair in enumerate(pairs)
    }
