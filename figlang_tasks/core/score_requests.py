"""Score requests: a task asks a model for numbers instead of words; docs/adding_a_vlm.md says which
numbers.

A score request is an ordinary ``generate_until`` request whose ``generation_kwargs`` carry the key
:data:`KEY`, so that every harness feature (cache, limit, several processes) works with it. A model
class that declares that it can answers ``{"scores": [...]}``; any other class answers in words, and
the task reads those instead. No task file names classes; it has blocks for both sorts beside
``default`` (:mod:`figlang_tasks.core.blocks`). Without ``default`` it is for the former alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from figlang_tasks.core.row_files import first_fault

KEY = "figlang_score"
Kind = Literal["candidates", "match"]
KINDS = get_args(Kind)


class ScoreRequest(BaseModel):
    """What is to be scored: texts (`candidates`, in the order of the answer), or how well pictures
    match.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    candidates: tuple[Any, ...] = ()  # texts: pydantic takes none with half of a surrogate pair
    normalize: Literal["none", "tokens"] = "none"
    yes: Annotated[str, Field(pattern=r"\S")] = "Yes"
    no: Annotated[str, Field(pattern=r"\S")] = "No"


def score_request(
    generation_kwargs: Mapping[str, Any], doc: Mapping[str, Any]
) -> ScoreRequest | None:
    """The score request in the settings of a harness request; None if it asks for words.

    Raises:
        ValueError: unknown key, kind or normalization, or no candidates; the message names the
            valid ones.
    """
    given = generation_kwargs.get(KEY)
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"{KEY}={given!r}; valid: a mapping with kind: {' or '.join(KINDS)}")
    # YAML reads the bare keys yes and no as true and false.
    given = {{True: "yes", False: "no"}.get(key, key): value for key, value in given.items()}
    if isinstance(column := given.get("candidates"), str):
        if column not in doc:
            raise ValueError(
                f"{KEY}: the document has no column {column!r}; it has: {', '.join(doc)}"
            )
        given["candidates"] = doc[column]
    try:
        found = ScoreRequest.model_validate(given)
    except ValidationError as error:
        raise ValueError(f"{KEY}: {first_fault(error)}") from error
    for index, text in enumerate(found.candidates):
        if not isinstance(text, str) or not text:
            raise ValueError(
                f"{KEY}: candidates[{index}] is {text!r}, must be a text that is not empty"
            )
    if found.kind == "candidates" and not found.candidates:
        raise ValueError(
            f"{KEY}: candidates is empty; valid: a list of texts, or the name of such a column"
        )
    return found


def only_scores_message(model: str, task: str) -> str:
    """The message for a task that asks for words, with a model that gives only scores."""
    return (
        f"{model}: task {task} asks for an answer in words, but this model only scores candidates:"
        f" it runs tasks whose generation_kwargs have {KEY}. Use a generative model (figlang_vlm,"
        f" llava_hf ...) for {task}"
    )


_ANSWER = TypeAdapter(dict[Literal["scores"], list[FiniteFloat]], config=ConfigDict(strict=True))


def answer(scores: Sequence[float]) -> str:
    """The answer to a score request; raises `ValueError` for a score that is NaN or infinite."""
    if not all(map(math.isfinite, scores)):
        raise ValueError("scores must be finite, but the model gave NaN or infinity")
    return json.dumps({"scores": [float(score) for score in scores]})


def read_answer(output: str | None) -> list[float] | None:
    """The scores in a scoring backend's answer, all finite; None if the output is in words, or
    there is none.
    """
    try:
        return None if output is None else _ANSWER.validate_json(output)["scores"]
    except (KeyError, ValidationError):
        return None
