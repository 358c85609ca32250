"""The format of ``annotations.jsonl``, one image on each line: a JSON schema, and the checked result.

MetaCLUE (Akula et al. 2023, arXiv 2212.09898) has no public release, so this format is ours.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from figlang_tasks.core.errors import DataError

VERSION = 1
SETS = ("metaphor", "symbolic_negative", "literal_negative")
SPLITS = ("train", "test")
PARTS = ("primary", "relationship", "secondary")
ROLES = ("primary", "secondary")
BOX_TYPES = ("explicit", "contextual", "logo", "text")
VOTE_KINDS = ("grammar", "concepts", "relationship")

# A line break would tear the numbered list of candidates, <image> marks the place of a picture in prompts, and half a
# surrogate pair has no UTF-8.
_LINE = r"\A(?!\s)(?:(?!<image>)[^\r\n\ud800-\udfff])+(?<!\s)\Z"
_VOTES = {"type": "integer", "minimum": 0, "maximum": 5}


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


@dataclass(frozen=True)
class Metaphor:
    """One interpretation of an image: the blanks of "... is as ... as ...".

    Attributes:
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
    """A region that invokes a concept of the best metaphor; `bbox`: left, top, right, bottom in the upright picture."""

    role: str
    type: str
    bbox: tuple[float, float, float, float]


@dataclass(frozen=True)
class Annotation:
    """One image.

    Attributes:
        where: file, line and image, for messages.
        image: path, ``{folder}/{file}``.
        topic: None if not given.
        metaphors: of an image of the set ``metaphor``; exactly one of them is the best, if there are any.
        boxes: empty too where none were annotated.
    """

    where: str
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


def check(found: Mapping[str, Any], where: str) -> Annotation:
    """The object of a line as an annotation.

    Raises:
        DataError: it is not valid; names `where` and the field.
    """
    if wrong := _wrong_form(found) or _wrong_meaning(found):
        raise DataError(f"{where}: {wrong}")
    return Annotation(
        where=f"{where} ({found['image']})",
        image=found["image"],
        split=found["split"],
        set=found["set"],
        topic=found.get("topic"),
        metaphors=tuple(Metaphor(*map(each.get, (*PARTS, "best"))) for each in found.get("metaphors", ())),
        boxes=tuple(Box(each["role"], each["type"], tuple(each["bbox"])) for each in found.get("boxes", ())),
    )


def _wrong_form(found: Mapping[str, Any]) -> str:
    from jsonschema.exceptions import best_match

    error = best_match(_validator().iter_errors(found))
    if error is None:
        return ""
    place = error.json_path.removeprefix("$").removeprefix(".")
    if described := error.schema.get("description"):
        return f"{place} is {json.dumps(error.instance)[:80]}, must be {described}"
    return f"{place}: {error.message}" if place else error.message


def _wrong_meaning(found: Mapping[str, Any]) -> str:
    """What is wrong beside the form; "" where nothing is."""
    metaphors, boxes = found.get("metaphors"), found.get("boxes")
    if found["set"] == "metaphor" and metaphors is None:
        return "metaphors is missing, must be a list (empty if no annotation passed validation)"
    if found["set"] != "metaphor" and (metaphors is not None or boxes):
        return f"set is {found['set']}, which has neither metaphors nor boxes"
    if metaphors and (count := sum(each["best"] for each in metaphors)) != 1:
        return f"metaphors: best is true {count} times, must be so once"
    if boxes and not metaphors:
        return "boxes without metaphors: they show the concepts of the best one"
    for place, box in enumerate(boxes or ()):
        left, top, right, bottom = box["bbox"]
        if not (left < right < 1e9 and top < bottom < 1e9):
            return (
                f"boxes[{place}].bbox is {box['bbox']}, must be [left, top, right, bottom] in pixels of the upright "
                "picture, left < right and top < bottom"
            )
    return ""
