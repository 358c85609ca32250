"""Score requests: a task asks a model for numbers instead of words.

A score request is an ordinary ``generate_until`` request whose ``generation_kwargs`` carry the key :data:`KEY`, so that
every harness feature (cache, limit, several processes) works with it. A scoring backend (``figlang_clip``,
``figlang_vlm``) answers ``{"scores": [...]}``; any other backend answers in words, and the task reads those instead.

Two kinds, as a task's YAML file writes them::

    generation_kwargs:
      figlang_score: {kind: candidates, candidates: [entailment, contradiction]}   # or the name of a column of the doc
      figlang_score: {kind: match}

``candidates``: one score for each candidate text, given all images and the prompt. For a generative model its
log-probability as the answer (nats, at most 0; with ``normalize: tokens`` divided by its number of tokens), for a dual
encoder the similarity of image and candidate (the prompt plays no part).

``match``: one score for each image of the request, taken alone with the text of the request. For a generative model
P(yes) / (P(yes) + P(no)) of its first answer token (0 to 1; words by ``yes`` and ``no``, default "Yes" and "No"), for a
dual encoder the similarity of image and text, for an image-text-matching head its probability of a match.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

KEY = "figlang_score"
KINDS = ("candidates", "match")
NORMALIZATIONS = ("none", "tokens")
REPLAY = "figlang_replay"
"""The model class that is asked for nothing and gives what was saved, scores too."""


class ScoreRequestError(ValueError):
    """A task's score request is not valid; the message names the key and the valid values."""


@dataclass(frozen=True)
class ScoreRequest:
    """What is to be scored.

    Attributes:
        kind: ``candidates`` or ``match``.
        candidates: the texts to score, at least one, in the order of the answer; empty for ``match``.
        normalize: ``none`` or ``tokens``.
        yes, no: the two answers that ``match`` compares.
    """

    kind: str
    candidates: tuple[str, ...] = ()
    normalize: str = "none"
    yes: str = "Yes"
    no: str = "No"


def score_request(generation_kwargs: Mapping[str, Any], doc: Mapping[str, Any]) -> ScoreRequest | None:
    """Return the score request in the settings of a harness request; None if it asks for words.

    Args:
        generation_kwargs: settings of the request.
        doc: its document, from which a named column of candidates is read.

    Raises:
        ScoreRequestError: unknown key, kind or normalization, or no candidates.
    """
    given = generation_kwargs.get(KEY)
    if given is None:
        return None
    if isinstance(given, Mapping):
        # YAML reads the bare keys yes and no as true and false.
        given = {{True: "yes", False: "no"}.get(key, key): value for key, value in given.items()}
    if not isinstance(given, Mapping) or given.get("kind") not in KINDS:
        raise ScoreRequestError(f"{KEY}={given!r}; valid: a mapping with kind: {' or '.join(KINDS)}")
    known = {"kind", "candidates", "normalize"} if given["kind"] == "candidates" else {"kind", "yes", "no"}
    if unknown := sorted(map(str, set(given) - known)):
        raise ScoreRequestError(f"{KEY}: unknown {', '.join(unknown)}; valid for {given['kind']}: {sorted(known)}")
    if given.get("normalize", "none") not in NORMALIZATIONS:
        raise ScoreRequestError(f"{KEY}: normalize={given['normalize']!r}; valid: {', '.join(NORMALIZATIONS)}")
    for name in ("yes", "no"):
        if not isinstance(given.get(name, "x"), str) or not given.get(name, "x").strip():
            raise ScoreRequestError(f"{KEY}: {name}={given[name]!r}, must be a word (in YAML within quotation marks)")
    values = dict(given)
    if given["kind"] == "candidates":
        values["candidates"] = _candidates(given.get("candidates"), doc)
    return ScoreRequest(**values)


def is_asked(config: Mapping[str, Any]) -> bool:
    """Whether a task asks a model for scores; the task file alone decides that.

    Args:
        config: the task's YAML as a dict, and under ``model`` the name after ``--model``, or None.
    """
    by_model = config.get("model_specific_generation_kwargs") or {}
    own = by_model.get(config.get("model"), by_model.get("default"))  # as the harness chooses
    return {**(config.get("generation_kwargs") or {}), **(own or {})}.get(KEY) is not None


def _candidates(given: Any, doc: Mapping[str, Any]) -> tuple[str, ...]:
    if isinstance(given, str):
        if given not in doc:
            raise ScoreRequestError(f"{KEY}: the document has no column {given!r}; it has: {', '.join(doc)}")
        given = doc[given]
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ScoreRequestError(f"{KEY}: candidates={given!r}; valid: a list of texts, or the name of such a column")
    for index, text in enumerate(given):
        if not isinstance(text, str) or not text:
            raise ScoreRequestError(f"{KEY}: candidates[{index}] is {text!r}, must be a text that is not empty")
    return tuple(given)


def answer(scores: Sequence[float]) -> str:
    """Return the answer to a score request.

    Raises:
        ValueError: a score is NaN or infinite (names its index).
    """
    for index, score in enumerate(scores):
        if not math.isfinite(score):
            raise ValueError(f"scores[{index}] is {score}, must be finite")
    return json.dumps({"scores": [float(score) for score in scores]})


def read_answer(output: str | None) -> list[float] | None:
    """Return the scores in a scoring backend's answer, all finite; None if the output is in words, or there is none."""
    if output is None or not output.lstrip().startswith("{"):
        return None
    try:
        found = json.loads(output)
    except (ValueError, RecursionError):  # what a model writes may be nested without end
        return None
    if not isinstance(found, dict) or found.keys() != {"scores"} or not isinstance(found["scores"], list):
        return None
    scores = found["scores"]
    if any(isinstance(score, bool) or not isinstance(score, (int, float)) for score in scores):
        return None
    try:
        values = [float(score) for score in scores]
    except OverflowError:
        return None
    return values if all(map(math.isfinite, values)) else None
