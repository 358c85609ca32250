"""The schema of ``annotations.jsonl``: what a row holds, what is valid, and the checked result.

MetaCLUE (Akula et al. 2023, arXiv 2212.09898) has no public release, so this format is ours. One line of JSON is one
image. `FIELDS`, `METAPHOR_FIELDS` and `BOX_FIELDS` declare every key once: the reader, the importer and the table in
``docs/cards/metaclue.md`` go by them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from figlang_tasks.core.text import HALF_A_PAIR
from figlang_tasks.metrics import captions

VERSION = 1
SETS = ("metaphor", "symbolic_negative", "literal_negative")
SPLITS = ("train", "test")
PARTS = ("primary", "relationship", "secondary")
ROLES = ("primary", "secondary")
BOX_TYPES = ("explicit", "contextual", "logo", "text")
VOTE_KINDS = ("grammar", "concepts", "relationship")
VOTERS = 5
YES_VOTES = 3  # an image is a metaphor with three or more of five

# "#" parts the image from the question in the ids of documents; what stands for no character fits no file name.
_IMAGE = re.compile(r"(10|[0-9])/([^/\\#\x00-\x1f\ud800-\udfff]+\.[A-Za-z]+)")
_NAME_BYTES = 255  # the longest file name of common file systems


class SchemaError(ValueError):
    """A row is not valid; the message names the field and what would be valid."""

    def __init__(self, message: str) -> None:
        super().__init__(message.encode("utf-8", "backslashreplace").decode("utf-8"))  # to be printed anywhere


@dataclass(frozen=True)
class Field:
    """One key of a JSON object.

    Attributes:
        valid: what is valid, in words, to follow "must be".
        check: whether a value is.
        required: whether the key must be there.
    """

    valid: str
    check: Callable[[Any], bool]
    required: bool = True


def is_text(value: Any) -> bool:
    """Whether a value is what :data:`TEXT` says."""
    # A line break would tear the numbered list of candidates, <image> marks the place of a picture in prompts. Half a
    # surrogate pair, which JSON can hold, has no UTF-8.
    return (
        isinstance(value, str)
        and value == value.strip() != ""
        and not re.search(r"[\r\n]|<image>", value)
        and not HALF_A_PAIR.search(value)
    )


def _part(value: Any) -> bool:
    # A reference without a token would end the scoring of a finished run. An ASCII letter or digit always is in one.
    return is_text(value) and bool(re.search("[A-Za-z0-9]", value) or captions.tokenize(value))


def _image(value: Any) -> bool:
    found = _IMAGE.fullmatch(value) if isinstance(value, str) else None
    return found is not None and len(found[2].encode("utf-8")) <= _NAME_BYTES


def _votes(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= VOTERS


def _number(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # JSON has integers of any size
        return False


def _box(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 4 or not all(map(_number, value)):
        return False
    left, top, right, bottom = value
    return 0 <= left < right and 0 <= top < bottom


def _vote_object(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == set(VOTE_KINDS) and all(map(_votes, value.values()))


def _one_of(values: Sequence[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in values


TEXT = "a text that is not empty, without spaces around it, line breaks or <image>, in valid Unicode"
_PART = f"{TEXT}, and with more than punctuation"

FIELDS = {
    "schema": Field(f"{VERSION}, the version of this format", lambda value: value is not True and value == VERSION),
    "image": Field(
        f"the picture's path in the layout of the Pitt Ads, 0/name.jpg to 10/name.png, without #, the name of at most "
        f"{_NAME_BYTES} bytes",
        _image,
    ),
    "split": Field(" or ".join(SPLITS), _one_of(SPLITS)),
    "set": Field(f"one of {', '.join(SETS)}", _one_of(SETS)),
    "votes": Field(f"the number of annotators of {VOTERS} who see a metaphor, 0 to {VOTERS}", _votes, required=False),
    "topic": Field(TEXT, is_text, required=False),
    "metaphors": Field("a list of objects", lambda value: isinstance(value, list), required=False),
    "boxes": Field("a list of objects", lambda value: isinstance(value, list), required=False),
}
METAPHOR_FIELDS = {part: Field(_PART, _part) for part in PARTS} | {
    "best": Field("true or false", lambda value: isinstance(value, bool)),
    "votes": Field(f"an object of {', '.join(VOTE_KINDS)}, each 0 to {VOTERS}", _vote_object, required=False),
}
BOX_FIELDS = {
    "role": Field(" or ".join(ROLES), _one_of(ROLES)),
    "type": Field(f"one of {', '.join(BOX_TYPES)}", _one_of(BOX_TYPES)),
    "bbox": Field("[left, top, right, bottom] in pixels of the upright picture, left < right and top < bottom", _box),
}


@dataclass(frozen=True)
class Metaphor:
    """One interpretation of an image.

    Attributes:
        primary, relationship, secondary: the blanks of "... is as ... as ...".
        best: the one with the best validation of its image; boxes belong to it.
        votes: of five validators, by `VOTE_KINDS`; empty if not given.
    """

    primary: str
    relationship: str
    secondary: str
    best: bool = False
    votes: tuple[int, ...] = ()

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
        votes: of five annotators, for a metaphor; None if not given.
        topic: None if not given.
        metaphors: of an image of the set ``metaphor``; exactly one of them is the best, if there are any.
        boxes: empty too where none were annotated.
    """

    row: int
    image: str
    split: str
    set: str
    votes: int | None = None
    topic: str | None = None
    metaphors: tuple[Metaphor, ...] = ()
    boxes: tuple[Box, ...] = ()

    @property
    def best(self) -> Metaphor:
        """The best metaphor; only where there are metaphors."""
        return next(metaphor for metaphor in self.metaphors if metaphor.best)


def statement(primary: str, relationship: str, secondary: str) -> str:
    """Return a metaphor in the paper's syntax: ``{primary} is as {relationship} as {secondary}``."""
    return f"{primary} is as {relationship} as {secondary}"


def check(found: Mapping[str, Any], row: int) -> Annotation:
    """Return the object of a line, checked.

    Raises:
        SchemaError: it is not valid; names the field.
    """
    _check_object(found, FIELDS, "")
    metaphors = [_metaphor(each, f"metaphors[{place}]") for place, each in enumerate(found.get("metaphors", []))]
    boxes = [_box_of(each, f"boxes[{place}]") for place, each in enumerate(found.get("boxes", []))]
    annotation = Annotation(
        row=row,
        image=found["image"],
        split=found["split"],
        set=found["set"],
        votes=found.get("votes"),
        topic=found.get("topic"),
        metaphors=tuple(metaphors),
        boxes=tuple(boxes),
    )
    _check_meaning(annotation, "metaphors" in found)
    return annotation


def as_json(annotation: Annotation) -> str:
    """Return the line whose object `check` takes for this annotation."""
    found: dict[str, Any] = {"schema": VERSION, "image": annotation.image, "split": annotation.split}
    found["set"] = annotation.set
    if annotation.votes is not None:
        found["votes"] = annotation.votes
    if annotation.topic is not None:
        found["topic"] = annotation.topic
    if annotation.set == "metaphor":
        found["metaphors"] = [_metaphor_json(metaphor) for metaphor in annotation.metaphors]
    if annotation.boxes:
        found["boxes"] = [{"role": box.role, "type": box.type, "bbox": list(box.bbox)} for box in annotation.boxes]
    return json.dumps(found, ensure_ascii=False)


def _metaphor_json(metaphor: Metaphor) -> dict[str, Any]:
    found: dict[str, Any] = {part: getattr(metaphor, part) for part in PARTS} | {"best": metaphor.best}
    if metaphor.votes:
        found["votes"] = dict(zip(VOTE_KINDS, metaphor.votes, strict=True))
    return found


def _check_object(found: Any, fields: Mapping[str, Field], where: str) -> None:
    if not isinstance(found, dict):
        raise SchemaError(f"{where} is {_shown(found)}, must be an object with {', '.join(fields)}")
    prefix = f"{where}." if where else ""
    for name in _missing(found, fields):
        raise SchemaError(f"{prefix}{name} is missing, must be {fields[name].valid}")
    for name, value in found.items():
        if name not in fields:
            raise SchemaError(f"{prefix}{name} is not a field of this format; valid: {', '.join(fields)}")
        if not fields[name].check(value):
            raise SchemaError(f"{prefix}{name} is {_shown(value)}, must be {fields[name].valid}")


def _missing(found: Mapping[str, Any], fields: Mapping[str, Field]) -> Iterator[str]:
    return (name for name, field in fields.items() if field.required and name not in found)


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _metaphor(found: Any, where: str) -> Metaphor:
    _check_object(found, METAPHOR_FIELDS, where)
    votes = tuple(found["votes"][kind] for kind in VOTE_KINDS) if "votes" in found else ()
    return Metaphor(found["primary"], found["relationship"], found["secondary"], found["best"], votes)


def _box_of(found: Any, where: str) -> Box:
    _check_object(found, BOX_FIELDS, where)
    return Box(found["role"], found["type"], tuple(found["bbox"]))


def _check_meaning(found: Annotation, has_metaphors: bool) -> None:
    """What no single field tells."""
    if found.votes is not None and found.set != "literal_negative":
        meant = "metaphor" if found.votes >= YES_VOTES else "symbolic_negative"
        if found.set != meant:
            raise SchemaError(
                f"set is {found.set}, but votes is {found.votes}: {YES_VOTES} or more of {VOTERS} make a metaphor, "
                f"fewer a symbolic_negative"
            )
    if found.set != "metaphor":
        if has_metaphors or found.boxes:
            raise SchemaError(f"set is {found.set}, which has neither metaphors nor boxes")
        return
    if not has_metaphors:
        raise SchemaError("metaphors is missing, must be a list (empty if no annotation passed validation)")
    if found.metaphors and (count := sum(metaphor.best for metaphor in found.metaphors)) != 1:
        raise SchemaError(f"metaphors: best is true {count} times, must be so once")
    if found.boxes and not found.metaphors:
        raise SchemaError("boxes without metaphors: they show the concepts of the best one")
