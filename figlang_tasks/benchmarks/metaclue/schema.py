"""The format of ``annotations.jsonl``, one image on each line: a JSON schema, and the checked result.

MetaCLUE (Akula et al. 2023, arXiv 2212.09898) has no public release, so this format is ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

VERSION = 1
SETS = ("metaphor", "symbolic_negative", "literal_negative")
SPLITS = ("train", "test")
PARTS = ("primary", "relationship", "secondary")
ROLES = ("primary", "secondary")
BOX_TYPES = ("explicit", "contextual", "logo", "text")
VOTE_KINDS = ("grammar", "concepts", "relationship")
VOTERS = 5
YES_VOTES = 3  # an image is a metaphor with three or more of five

# A line break would tear the numbered list of candidates, <image> marks the place of a picture in prompts, and half a
# surrogate pair has no UTF-8.
_LINE = r"\A(?!\s)(?:(?!<image>)[^\r\n\ud800-\udfff])+(?<!\s)\Z"
_VOTES = {"type": "integer", "minimum": 0, "maximum": VOTERS}


def _text(pattern: str, described: str) -> dict[str, Any]:
    return {"type": "string", "pattern": pattern, "description": described}


def _object(properties: Mapping[str, Any], *optional: str) -> dict[str, Any]:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_TEXT = "a text that is not empty, without spaces around it, line breaks or <image>, in valid Unicode"
# A reference without a word would end the scoring of a finished run.
_PART = _text(rf"(?=.*[^\W_]){_LINE}", f"{_TEXT}, with a letter or digit")
_BOX = {
    "role": {"enum": [*ROLES]},
    "type": {"enum": [*BOX_TYPES]},
    "bbox": {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 4, "maxItems": 4},
}
_METAPHOR = dict.fromkeys(PARTS, _PART) | {
    "best": {"type": "boolean"},
    "votes": _object(dict.fromkeys(VOTE_KINDS, _VOTES)),
}
SCHEMA = _object(
    {
        "schema": {"const": VERSION},
        # "#" parts the image from the question in the ids of documents.
        "image": _text(
            r"\A(10|[0-9])/[^/\\#\x00-\x1f\ud800-\udfff]{1,240}\.[A-Za-z]{1,9}\Z",
            "the picture's path in the layout of the Pitt Ads, 0/name.jpg to 10/name.png, without #",
        ),
        "split": {"enum": [*SPLITS]},
        "set": {"enum": [*SETS]},
        "votes": _VOTES,
        "topic": _text(_LINE, _TEXT),
        "metaphors": {"type": "array", "items": _object(_METAPHOR, "votes")},
        "boxes": {"type": "array", "items": _object(_BOX)},
    },
    "votes",
    "topic",
    "metaphors",
    "boxes",
)


class SchemaError(ValueError):
    """A row is not valid; the message names the field and what would be valid."""

    def __init__(self, message: str) -> None:
        super().__init__(message.encode("utf-8", "backslashreplace").decode("utf-8"))  # to be printed anywhere


@dataclass(frozen=True)
class Metaphor:
    """One interpretation of an image.

    Attributes:
        primary, relationship, secondary: the blanks of "... is as ... as ...".
        best: the one with the best validation of its image; boxes belong to it.
    """

    primary: str
    relationship: str
    secondary: str
    best: bool = False

    @property
    def statement(self) -> str:
        """The metaphor in the paper's syntax."""
        return statement(self.primary, self.relationship, self.secondary)


@dataclass(frozen=True)
class Box:
    """A region that invokes a concept of the best metaphor.

    Attributes:
        role: the concept, one of `ROLES`.
        type: one of `BOX_TYPES`.
        bbox: left, top, right, bottom in pixels of the upright picture.
    """

    role: str
    type: str
    bbox: tuple[float, float, float, float]


@dataclass(frozen=True)
class Annotation:
    """One image.

    Attributes:
        row: line of the file, from 1.
        image: path, ``{folder}/{file}``.
        split: one of `SPLITS`.
        set: one of `SETS`.
        topic: None if not given.
        metaphors: of an image of the set ``metaphor``; exactly one of them is the best, if there are any.
        boxes: empty too where none were annotated.
    """

    row: int
    image: str
    split: str
    set: str
    topic: str | None = None
    metaphors: tuple[Metaphor, ...] = ()
    boxes: tuple[Box, ...] = ()

    @property
    def best(self) -> Metaphor:
        """The best metaphor; only where there are metaphors."""
        return next(metaphor for metaphor in self.metaphors if metaphor.best)


def statement(primary: str, relationship: str, secondary: str) -> str:
    """A metaphor in the paper's syntax: ``{primary} is as {relationship} as {secondary}``."""
    return f"{primary} is as {relationship} as {secondary}"


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(SCHEMA)


def check(found: Mapping[str, Any], row: int) -> Annotation:
    """The object of a line as an annotation.

    Raises:
        SchemaError: it is not valid; names the field.
    """
    from jsonschema.exceptions import best_match

    error = best_match(_validator().iter_errors(found))
    if error is not None:
        place = error.json_path.removeprefix("$").removeprefix(".")
        described = error.schema.get("description")
        if described is None:
            raise SchemaError(f"{place}: {error.message}" if place else error.message)
        raise SchemaError(f"{place} is {json.dumps(error.instance)[:80]}, must be {described}")
    _check_meaning(found)
    return Annotation(
        row=row,
        image=found["image"],
        split=found["split"],
        set=found["set"],
        topic=found.get("topic"),
        metaphors=tuple(Metaphor(*map(each.get, (*PARTS, "best"))) for each in found.get("metaphors", ())),
        boxes=tuple(Box(each["role"], each["type"], tuple(each["bbox"])) for each in found.get("boxes", ())),
    )


def _check_meaning(found: Mapping[str, Any]) -> None:
    """Check what a JSON schema cannot tell.

    Raises:
        SchemaError: see there.
    """
    kind, votes, metaphors, boxes = found["set"], found.get("votes"), found.get("metaphors"), found.get("boxes")
    if votes is not None and kind != "literal_negative" and (votes >= YES_VOTES) != (kind == "metaphor"):
        raise SchemaError(
            f"set is {kind}, but votes is {votes}: {YES_VOTES} or more of {VOTERS} make a metaphor, fewer a "
            "symbolic_negative"
        )
    if kind == "metaphor" and metaphors is None:
        raise SchemaError("metaphors is missing, must be a list (empty if no annotation passed validation)")
    if kind != "metaphor" and (metaphors is not None or boxes):
        raise SchemaError(f"set is {kind}, which has neither metaphors nor boxes")
    if metaphors and (count := sum(each["best"] for each in metaphors)) != 1:
        raise SchemaError(f"metaphors: best is true {count} times, must be so once")
    if boxes and not metaphors:
        raise SchemaError("boxes without metaphors: they show the concepts of the best one")
    for place, box in enumerate(boxes or ()):
        left, top, right, bottom = box["bbox"]
        if not (left < right < 1e9 and top < bottom < 1e9):
            raise SchemaError(
                f"boxes[{place}].bbox is {box['bbox']}, must be [left, top, right, bottom] in pixels of the upright "
                "picture, left < right and top < bottom"
            )
