"""Score requests: a task asks a model for numbers instead of words.

docs/adding_a_vlm.md says which numbers.

A score request is an ordinary ``generate_until`` request whose ``generation_kwargs`` have the key
`KEY`, so that every harness feature (cache, limit, several processes) works with it. A model class
that declares that it can answers ``{"scores": [...]}``. Any other class answers in words, and the
task reads those instead.

No task file names classes. It has blocks for both sorts of classes beside ``default``
(`figlang_tasks.core.blocks`). Without ``default``, it is only for classes that answer in scores.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from figlang_tasks.core.record import Row
from figlang_tasks.core.row_files import first_fault

KEY = "figlang_score"
Kind = Literal["candidates", "match"]
KINDS = get_args(Kind)


class ScoreRequest(BaseModel):
    """A request for scores of texts, or of how well pictures match a text.

    Attributes:
        kind: ``candidates`` for a score of each candidate, ``match`` for a score of each picture of
            the prompt.
        candidates: the texts to score, in the order of the answer's scores.
        normalize: ``none`` for the sum of the log-probabilities of a candidate's tokens,
            ``tokens`` for their mean.
        yes: for ``match``, the word that says that the picture matches.
        no: for ``match``, the word that says that it does not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    # Texts, but pydantic's own check would refuse a text with half of a surrogate pair.
    candidates: tuple[Any, ...] = ()
    normalize: Literal["none", "tokens"] = "none"
    yes: Annotated[str, Field(pattern=r"\S")] = "Yes"
    no: Annotated[str, Field(pattern=r"\S")] = "No"


def score_request(generation_kwargs: Mapping[str, Any], doc: Row) -> ScoreRequest | None:
    """The score request in the settings of a harness request; None if it asks for words.

    Args:
        generation_kwargs: the settings. Under `KEY`, ``candidates`` is a list of texts, or the name
            of the column of the document that holds one.
        doc: the document of the request.

    Raises:
        ValueError: a key, kind or normalization is unknown, or there are no candidates; the message
            names the valid ones.
    """
    settings = generation_kwargs.get(KEY)
    if settings is None:
        return None
    if not isinstance(settings, Mapping):
        raise ValueError(f"{KEY}={settings!r}; valid: a mapping with kind: {' or '.join(KINDS)}")
    fields = {_unquoted_key(key): setting for key, setting in settings.items()}
    column = fields.get("candidates")
    if isinstance(column, str):
        if column not in doc:
            raise ValueError(
                f"{KEY}: the document has no column {column!r}; it has: {', '.join(doc)}"
            )
        fields["candidates"] = doc[column]
    try:
        request = ScoreRequest.model_validate(fields)
    except ValidationError as error:
        raise ValueError(f"{KEY}: {first_fault(error)}") from error
    for index, text in enumerate(request.candidates):
        if not isinstance(text, str) or not text:
            raise ValueError(
                f"{KEY}: candidates[{index}] is {text!r}, must be a text that is not empty"
            )
    if request.kind == "candidates" and not request.candidates:
        raise ValueError(
            f"{KEY}: candidates is empty; valid: a list of texts, or the name of such a column"
        )
    return request


def _unquoted_key(key: object) -> object:
    """The key as it was meant: YAML reads the bare keys yes and no as True and False."""
    if key is True:
        return "yes"
    if key is False:
        return "no"
    return key


def only_scores_message(model: str, task: str) -> str:
    """The message for a task that asks for words, with a model that gives only scores."""
    return (
        f"{model}: task {task} asks for an answer in words, but this model only scores candidates:"
        f" it runs tasks whose generation_kwargs have {KEY}. Use a generative model (figlang_vlm,"
        f" llava_hf ...) for {task}"
    )


# --- the answer ---


_ANSWER = TypeAdapter(dict[Literal["scores"], list[FiniteFloat]], config=ConfigDict(strict=True))


def answer(scores: Sequence[float]) -> str:
    """The answer to a score request, ``{"scores": [...]}``; a `ValueError` for NaN or infinity."""
    if not all(map(math.isfinite, scores)):
        raise ValueError("scores must be finite, but the model gave NaN or infinity")
    return json.dumps({"scores": [float(score) for score in scores]})


def read_answer(output: str | None) -> list[float] | None:
    """The scores in the answer to a score request, all finite.

    Args:
        output: the answer, ``{"scores": [...]}``; None if there is none.

    Returns:
        None for an answer in words, or for none.
    """
    if output is None:
        return None
    try:
        return _ANSWER.validate_json(output)["scores"]
    except (KeyError, ValidationError):
        return None
