"""Builds `figlang_mini_irfl`, a small IRFL in the hub's layout: `python -m tools.mini.irfl`."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from figlang_tasks import mini

from . import command
from .draw import CONCEPTS, INK, SUPERSAMPLE, WHITE, Colour, draw
from .irfl_texts import CORPUS, FIRST_SEED, KINDS, Corpus, Detection, Kind, Phrase, Picture, Retrieval

IMAGE_SIZE = 112
ZIP_NAME = "IRFL_images.zip"
EFFECTS = ("aglow", "close", "cold", "many", "moving", "off", "ringing", "top")

_QUALITY = 85
_DEFLATE_EVERY = 10  # JPEG does not shrink, but readers of the zip must cope with both methods
_SECOND_SEED = 10_000  # between the seeds of the drawings that make one picture
_DATE = (2024, 1, 1, 0, 0, 0)
_LITERAL_CATEGORIES = ("Figurative Literal", "Partial Objects", "Caption")
# the names of the roles in `images_metadata` ...
_CATEGORIES: dict[Kind, dict[str, dict[str, str]]] = {
    "idiom": {
        role: {"category": name}
        for role, name in zip(
            "FBPCNU",
            ("Figurative", "Figurative Literal", "Partial Objects", "Caption", "None", "No Category"),
            strict=True,
        )
    },
    "metaphor": {
        "F": {"category": "figurative"},
        "P": {"category": "literal"},
        "N": {"category": "none"},
    },
    "simile": {
        "F": {"category": "figurative"},
        "T": {"category": "literal", "sub_category": "target"},
        "S": {"category": "literal", "sub_category": "source"},
    },
}
# ... and in the base tables
_BASE_CATEGORIES = {
    "F": "Figurative",
    "B": "Figurative+Literal",
    "C": "Literal",
    "P": "Partial Literal",
    "S": "Partial Literal",
    "T": "Partial Literal",
    "N": "None",
    "U": "None",
}
_NEGATIVES: dict[Kind, str] = {"idiom": "P", "metaphor": "P", "simile": "TS"}

_DETECTION = ("distractors", "answer", "images_metadata", "figurative_type", "type", "phrase")
_RETRIEVAL = ("type", "figurative_type", "images_metadata", "first_category", "second_category", "phrase")
_BASE = ("phrase", "category", "source", "uuid", "figurative_type", "definition")
COLUMNS: dict[str, tuple[str, ...]] = {
    "idiom_detection_task": (
        *("query", "distractors", "answer", "figurative_type"),
        *("images_metadata", "type", "definition", "phrase"),
    ),
    "metaphor_detection_task": _DETECTION,
    "simile_detection_task": _DETECTION,
    "open_simile_detection_task": _DETECTION,
    "idiom_retrieval_task": (*_RETRIEVAL[:-1], "definition", "phrase"),
    "metaphor_retrieval_task": _RETRIEVAL,
    "simile_retrieval_task": _RETRIEVAL,
    "open_simile_retrieval_task": _RETRIEVAL,
    "idioms_dataset": _BASE,
    "metaphors_dataset": _BASE,
    "similes_dataset": _BASE,
}

ROWS: dict[str, int] = {
    "idiom_detection_task": 12,
    "metaphor_detection_task": 8,
    "simile_detection_task": 10,
    "open_simile_detection_task": 10,
    "idiom_retrieval_task": 10,
    "metaphor_retrieval_task": 5,
    "simile_retrieval_task": 6,
    "open_simile_retrieval_task": 6,
    "idioms_dataset": 60,
    "metaphors_dataset": 33,
    "similes_dataset": 41,
}

Table = list[dict[str, str]]


def uuid(picture: Picture) -> str:
    """The name of a picture: a SHA-256 in decimal digits, as many as those of the original."""
    name = f"figlang_mini_irfl/{picture.scene}/{picture.seed}"
    return str(int(hashlib.sha256(name.encode()).hexdigest(), 16))


def drawings(picture: Picture) -> list[tuple[str, int]]:
    """(concept, seed) of every drawing that a picture is composed of.

    Raises:
        ValueError: the scene has an unknown concept or effect.
    """
    concepts = re.split(" with | then ", picture.scene, maxsplit=1)
    concept, _, effect = concepts[0].partition(", ")
    if effect and (len(concepts) > 1 or effect not in EFFECTS):
        raise ValueError(f"scene {picture.scene!r}: unknown effect {effect!r}; known: {', '.join(EFFECTS)}")
    concepts = [concept] * 4 if effect == "many" else [concept, *concepts[1:]]
    for name in concepts:
        if name not in CONCEPTS:
            raise ValueError(f"scene {picture.scene!r}: unknown concept {name!r}")
    return [(name, picture.seed + _SECOND_SEED * i) for i, name in enumerate(concepts)]


def source(picture: Picture) -> str:
    """Where a picture comes from: the code that drew it, the scene and the seed; never an address.

    The shipped data name the folder of this code so; they stay as they are, to the last byte.
    """
    module = "draw" if picture.scene in CONCEPTS else "irfl"
    return f"figlang_tasks/mini/{module}.py:{picture.scene}:{picture.seed}"


# ---------------------------------------------------------------- pictures


class _Overlay:
    """Strokes of one colour over a picture; coordinates and widths are fractions of its side."""

    def __init__(self, size: int) -> None:
        self.side = size * SUPERSAMPLE
        self.mask = Image.new("L", (self.side, self.side))
        self.ink = ImageDraw.Draw(self.mask)

    def line(self, points: Sequence[tuple[float, float]], width: float) -> None:
        """Open polyline."""
        self.ink.line([(x * self.side, y * self.side) for x, y in points], 255, max(1, round(width * self.side)))

    def circle(self, x: float, y: float, radius: float) -> None:
        """Filled circle."""
        box = ((x - radius) * self.side, (y - radius) * self.side, (x + radius) * self.side, (y + radius) * self.side)
        self.ink.ellipse(box, 255)

    def arc(self, x: float, y: float, radius: float, start: float, end: float, width: float) -> None:
        """Part of a circle's line; angles in degrees, 0 is right and 90 down."""
        box = ((x - radius) * self.side, (y - radius) * self.side, (x + radius) * self.side, (y + radius) * self.side)
        self.ink.arc(box, start, end, 255, max(1, round(width * self.side)))

    def lay(self, picture: Image.Image, paint: Colour | Image.Image) -> None:
        """Lay the strokes, in a colour or cut out of another picture, on a picture."""
        picture.paste(paint, (0, 0, *picture.size), self.mask.reduce(SUPERSAMPLE))


def _aglow(concept: str, seed: int, size: int) -> Image.Image:
    """Shining in the dark."""
    day = draw(concept, seed, size)
    night = Image.blend(day, Image.new("RGB", day.size, (14, 14, 46)), 0.72)
    light = _Overlay(size)
    light.circle(0.5, 0.47, 0.36)
    mask = light.mask.reduce(SUPERSAMPLE).filter(ImageFilter.GaussianBlur(size * 0.09))
    bright = ImageChops.add(day, Image.new("RGB", day.size, (44, 38, 6)))
    return Image.composite(bright, night, mask)


def _off(concept: str, seed: int, size: int) -> Image.Image:
    """Grey and without light."""
    grey = draw(concept, seed, size).convert("L").convert("RGB")
    return Image.blend(grey, Image.new("RGB", grey.size, (40, 42, 58)), 0.5)


def _cold(concept: str, seed: int, size: int) -> Image.Image:
    """Frozen blue, with snowflakes."""
    grey = draw(concept, seed, size).convert("L")
    picture = Image.merge("RGB", (grey.point(lambda v: 16 + v * 0.66), grey.point(lambda v: 66 + v * 0.68), grey))
    picture = ImageChops.add(picture, Image.new("RGB", picture.size, (0, 0, 90)))
    flakes = _Overlay(size)
    r = random.Random(f"figlang_mini_irfl/flakes/{seed}")
    for _ in range(11):
        x, y, arm = r.uniform(0.06, 0.94), r.uniform(0.06, 0.94), r.uniform(0.03, 0.05)
        for dx, dy in ((1.0, 0.0), (0.5, 0.87), (0.5, -0.87)):
            flakes.line([(x - dx * arm, y - dy * arm), (x + dx * arm, y + dy * arm)], 0.014)
    flakes.lay(picture, WHITE)
    return picture


def _moving(concept: str, seed: int, size: int) -> Image.Image:
    """Blurred sideways, with streaks across the picture."""
    still = draw(concept, seed, size)
    picture = still
    for i in (1, 2, 3):
        shifted = still.transform(still.size, Image.Transform.AFFINE, (1, 0, -0.05 * i * size, 0, 1, 0))
        # what the shift uncovers at the edge stays as it was
        shifted.paste(still.crop((0, 0, round(0.05 * i * size), size)), (0, 0))
        picture = Image.blend(picture, shifted, 0.2)
    streaks = _Overlay(size)
    r = random.Random(f"figlang_mini_irfl/streaks/{seed}")
    for i in range(7):
        x, y = r.uniform(0.0, 0.5), 0.14 + 0.11 * i
        streaks.line([(x, y), (x + r.uniform(0.25, 0.5), y)], 0.018)
    streaks.lay(picture, WHITE)
    return picture


def _ringing(concept: str, seed: int, size: int) -> Image.Image:
    """With waves of sound on either side."""
    picture = draw(concept, seed, size)
    waves = _Overlay(size)
    for radius in (0.38, 0.43, 0.48):
        for middle in (0, 180):
            waves.arc(0.5, 0.46, radius, middle - 38, middle + 38, 0.022)
    waves.lay(picture, (206, 50, 40))
    return picture


def _crop(concept: str, seed: int, size: int, top: float) -> Image.Image:
    """The middle of a drawing, or its upper part, at twice the scale; `top` in fractions of the drawing."""
    x, y = size // 2, round(top * 2 * size)
    return draw(concept, seed, 2 * size).crop((x, y, x + size, y + size))


def _many(parts: Sequence[tuple[str, int]], size: int) -> Image.Image:
    """Four drawings in a square."""
    half = size // 2
    picture = Image.new("RGB", (size, size), WHITE)
    for i, (concept, seed) in enumerate(parts):
        picture.paste(draw(concept, seed, half - 1), (i % 2 * (half + 1), i // 2 * (half + 1)))
    return picture


def _with(parts: Sequence[tuple[str, int]], size: int) -> Image.Image:
    """A drawing, moved to the lower left, with another one in a thought bubble."""
    side = round(0.8 * size)
    thinker, bubble = draw(*parts[0], side), draw(*parts[1], round(0.46 * size))
    picture = Image.new("RGB", (size, size), WHITE)
    picture.paste(thinker, (0, size - side))
    # the background goes on as it ends at the edges
    picture.paste(thinker.crop((0, 0, side, 1)).resize((side, size - side)), (0, 0))
    picture.paste(picture.crop((side - 1, 0, side, size)).resize((size - side, size)), (side, 0))
    thought = Image.new("RGB", picture.size, WHITE)
    corner = (size - bubble.width - 2, 2)
    thought.paste(bubble, corner)
    x, y = ((start + bubble.width / 2) / size for start in corner)
    for grown, paper in ((0.015, INK), (0.0, WHITE), (-0.025, thought)):
        shape = _Overlay(size)
        shape.circle(x, y, 0.215 + grown)
        if paper is not thought:
            shape.circle(x - 0.2, y + 0.18, 0.034 + grown)
            shape.circle(x - 0.25, y + 0.24, 0.02 + grown)
        shape.lay(picture, paper)
    return picture


def _then(parts: Sequence[tuple[str, int]], size: int) -> Image.Image:
    """Two panels, the first at the upper left, the second at the lower right."""
    picture = Image.new("RGB", (size, size), (236, 230, 220))
    side, edge = round(0.56 * size), 2
    for (concept, seed), corner in zip(parts, (edge, size - side - edge), strict=True):
        picture.paste(WHITE, (corner - edge, corner - edge, corner + side + edge, corner + side + edge))
        picture.paste(draw(concept, seed, side), (corner, corner))
    return picture


def paint(picture: Picture, size: int = IMAGE_SIZE) -> Image.Image:
    """Paint one picture.

    Args:
        picture: what to paint; see `irfl_texts` for the scenes.
        size: side of the square in pixels.

    Returns:
        RGB image.

    Raises:
        ValueError: the scene has an unknown concept or effect.
    """
    parts = drawings(picture)
    concept, seed = parts[0]
    effect = picture.scene.partition(", ")[2]
    if effect == "many":
        return _many(parts, size)
    if effect in ("close", "top"):
        return _crop(concept, seed, size, 0.25 if effect == "close" else 0.0)
    if effect:
        return {"aglow": _aglow, "cold": _cold, "moving": _moving, "off": _off, "ringing": _ringing}[effect](
            concept, seed, size
        )
    if len(parts) == 1:
        return draw(concept, seed, size)
    return (_with if " with " in picture.scene else _then)(parts, size)


def pictures(corpus: Corpus = CORPUS) -> list[Picture]:
    """Every picture once, in the order of the phrases."""
    return list(
        dict.fromkeys(
            picture for phrase in corpus.phrases.values() for shots in phrase.pictures.values() for picture in shots
        )
    )


def zip_bytes(corpus: Corpus = CORPUS) -> bytes:
    """The zip of all pictures, members `images/{uuid}.jpeg`; the same bytes under one Pillow and zlib version.

    Raises:
        ValueError: two pictures look the same.
    """
    buffer = io.BytesIO()
    seen: dict[bytes, Picture] = {}
    with zipfile.ZipFile(buffer, "w") as archive:
        for i, picture in enumerate(pictures(corpus)):
            jpeg = io.BytesIO()
            paint(picture).save(jpeg, format="JPEG", quality=_QUALITY, optimize=True)
            if jpeg.getvalue() in seen:
                raise ValueError(f"{source(picture)} looks like {source(seen[jpeg.getvalue()])}")
            seen[jpeg.getvalue()] = picture
            member = zipfile.ZipInfo(f"images/{uuid(picture)}.jpeg", _DATE)
            member.create_system = 3  # the same file on every system
            member.external_attr = 0o100644 << 16
            member.compress_type = zipfile.ZIP_STORED if i % _DEFLATE_EVERY else zipfile.ZIP_DEFLATED
            archive.writestr(member, jpeg.getvalue())
    return buffer.getvalue()


# ---------------------------------------------------------------- tables


def _resolve(corpus: Corpus, own: str, reference: str) -> tuple[str, str, Picture]:
    """The phrase's key, role and picture that a reference such as `F1` or `cage:F2` means in a row of phrase `own`.

    Raises:
        ValueError: there is no such phrase or picture.
    """
    other, _, place = reference.rpartition(":")
    key, role = other or own, place[:1]
    shots = corpus.phrases[key].pictures.get(role, ()) if key in corpus.phrases else ()
    if not place[1:].isdecimal() or not 1 <= int(place[1:]) <= len(shots):
        raise ValueError(f"there is no picture {reference!r} (phrase {key!r})")
    return key, role, shots[int(place[1:]) - 1]


def _candidates(corpus: Corpus, row: Detection) -> list[tuple[str, str, Picture]]:
    """Answer and distractors of a row, resolved; the answer first."""
    return [_resolve(corpus, row.phrase, reference) for reference in (row.answer, *row.distractors.split())]


def _annotations(role: str, seed: int) -> list[str]:
    """Five votes with a majority for the role; now and then a voter or two disagree."""
    name = _CATEGORIES["idiom"][role]["category"]
    votes = [name] * 5
    dissent = "Partial Objects" if role in "BC" else "Figurative" if role == "N" else "None"
    for i in range(seed % 3):
        votes[(seed + 2 * i) % 5] = dissent
    return votes


def _query(phrase: Phrase, role: str, picture: Picture) -> str:
    """The words with which the picture would have been searched: the phrase or one of its definitions."""
    if _CATEGORIES["idiom"][role]["category"] in _LITERAL_CATEGORIES:
        return phrase.text
    return phrase.definitions[picture.seed % len(phrase.definitions)]


def _idiom_metadata(phrase: Phrase, role: str, picture: Picture) -> dict[str, Any]:
    """What the idiom tables say of a picture, in the original's order of keys."""
    name, query = uuid(picture), _query(phrase, role, picture)
    found = [shot for code, shots in phrase.pictures.items() for shot in shots if _query(phrase, code, shot) == query]
    return {
        "IRFL_id": f"{name}_{phrase.text}",
        **({} if role == "U" else {"annotations": _annotations(role, picture.seed)}),
        **_CATEGORIES["idiom"][role],
        "literal_candidate": query == phrase.text,
        "phrase": phrase.text,
        "query": query,
        "rank": found.index(picture) + 1,
        "source": source(picture),
        "uuid": name,
    }


def _metadata(phrase: Phrase, role: str, picture: Picture) -> dict[str, Any]:
    """What the tables say of a picture of this phrase."""
    if phrase.kind == "idiom":
        return _idiom_metadata(phrase, role, picture)
    return {"source": source(picture), "uuid": uuid(picture), **_CATEGORIES[phrase.kind][role]}


def _detection_row(corpus: Corpus, row: Detection, open_form: bool = False) -> dict[str, str]:
    """The fields of a detection row; a table takes those that it has."""
    phrase = corpus.phrases[row.phrase]
    answer, *distractors = _candidates(corpus, row)
    candidates = [*distractors, answer]
    metadata = [_metadata(corpus.phrases[key], role, picture) for key, role, picture in candidates]
    if phrase.kind == "metaphor":
        random.Random(f"figlang_mini_irfl/{row.phrase}/{row.answer}").shuffle(metadata)
    if phrase.kind == "simile":
        # the original marks the source concept alone; the retrieval table tells the target from the random one
        for (key, role, _), entry in zip(candidates, metadata, strict=True):
            if (key, role) != (row.phrase, "S"):
                entry.pop("category")
                entry.pop("sub_category", None)
    return {
        "query": _query(phrase, *answer[1:]) if phrase.kind == "idiom" else "",
        "distractors": json.dumps([uuid(picture) for _, _, picture in distractors]),
        "answer": json.dumps([uuid(answer[2])]),
        "figurative_type": phrase.kind,
        "images_metadata": json.dumps(metadata),
        "type": "figurative+literal" if answer[1] == "B" else "figurative",
        "definition": json.dumps(phrase.definitions),
        "phrase": phrase.open_text if open_form else phrase.text,
    }


def _sides(phrase: Phrase, row: Retrieval) -> tuple[list[tuple[str, Picture]], list[tuple[str, Picture]]]:
    """Positives and negatives of a retrieval row, with their roles."""
    roles = ("B" if row.type == "FLvsPL" else "F", _NEGATIVES[phrase.kind])
    first, second = ([(role, shot) for role in side for shot in phrase.pictures.get(role, ())] for side in roles)
    return first, second


def _retrieval_row(corpus: Corpus, row: Retrieval, open_form: bool = False) -> dict[str, str]:
    """The fields of a retrieval row; a table takes those that it has."""
    phrase = corpus.phrases[row.phrase]
    first, second = _sides(phrase, row)
    metadata = [_metadata(phrase, role, picture) for role, picture in (*first, *second)]
    if phrase.kind != "simile":
        random.Random(f"figlang_mini_irfl/{row.phrase}/{row.type}").shuffle(metadata)
    return {
        "type": row.type,
        "figurative_type": phrase.kind,
        "images_metadata": json.dumps(metadata),
        "first_category": json.dumps([uuid(picture) for _, picture in first]),
        "second_category": json.dumps([uuid(picture) for _, picture in second]),
        "definition": json.dumps(phrase.definitions),
        "phrase": phrase.open_text if open_form else phrase.text,
    }


def _base_rows(corpus: Corpus, kind: Kind) -> Iterator[dict[str, str]]:
    """Every picture of every phrase of a kind."""
    for key in corpus.keys[kind]:
        phrase = corpus.phrases[key]
        for role, shots in phrase.pictures.items():
            for picture in shots:
                yield {
                    "phrase": phrase.text,
                    "category": _BASE_CATEGORIES[role],
                    "source": source(picture),
                    "uuid": uuid(picture),
                    "figurative_type": kind,
                    "definition": json.dumps(phrase.definitions) if phrase.definitions else "",
                }


def tables(corpus: Corpus = CORPUS) -> dict[str, Table]:
    """Every table by its name, rows as they stand in the CSV files."""
    built: dict[str, Table] = {}
    for kind in KINDS:
        mine = [row for row in corpus.detections if row.phrase in corpus.keys[kind]]
        sought = [entry for entry in corpus.retrievals if entry.phrase in corpus.keys[kind]]
        built[f"{kind}_detection_task"] = [_detection_row(corpus, row) for row in mine]
        built[f"{kind}_retrieval_task"] = [_retrieval_row(corpus, entry) for entry in sought]
        built[f"{kind}s_dataset"] = list(_base_rows(corpus, kind))
        if kind == "simile":
            built["open_simile_detection_task"] = [_detection_row(corpus, row, open_form=True) for row in mine]
            built["open_simile_retrieval_task"] = [_retrieval_row(corpus, entry, open_form=True) for entry in sought]
    return {name: [{key: row[key] for key in columns} for row in built[name]] for name, columns in COLUMNS.items()}


def csv_bytes(table: Table, columns: Sequence[str]) -> bytes:
    """A table as CSV in UTF-8, quoted and ended like the original's."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    return buffer.getvalue().encode("utf-8")


# ---------------------------------------------------------------- checks


def _check_phrase(key: str, phrase: Phrase) -> None:
    """Raise ValueError unless a phrase is complete."""
    where = f"phrase {key!r}"
    for text in (phrase.text, *phrase.definitions):
        if not text or text != text.strip():
            raise ValueError(f"{where}: empty or untrimmed text")
        if "<image>" in text:
            raise ValueError(f"{where}: <image> stands for a picture in prompts and must not occur in a text")
    if phrase.kind == "idiom" and not 1 <= len(phrase.definitions) <= 3:
        raise ValueError(f"{where}: an idiom has one to three definitions, not {len(phrase.definitions)}")
    if phrase.kind != "idiom" and phrase.definitions:
        raise ValueError(f"{where}: only idioms have definitions")
    unknown = set(phrase.pictures) - set(_CATEGORIES[phrase.kind])
    if unknown:
        raise ValueError(f"{where}: unknown role(s) {', '.join(sorted(unknown))} of pictures of a {phrase.kind}")
    for role in "F" + _NEGATIVES[phrase.kind]:
        if not phrase.pictures.get(role):
            raise ValueError(f"{where}: no picture of role {role}")
    shots = [picture for group in phrase.pictures.values() for picture in group]
    if len(set(shots)) < len(shots):
        raise ValueError(f"{where}: a picture occurs twice")
    try:
        _ = phrase.open_text
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error


def _check_pictures(corpus: Corpus) -> None:
    """Raise ValueError unless every picture can be painted and differs from every other one."""
    drawn: dict[tuple[str, int], Picture] = {}
    names: dict[str, Picture] = {}
    for picture in pictures(corpus):
        if picture.seed < FIRST_SEED:
            raise ValueError(f"{source(picture)}: the seed must be at least {FIRST_SEED}")
        for part in drawings(picture):
            if part in drawn:
                raise ValueError(f"{source(picture)}: its {part[0]} is that of {source(drawn[part])}")
            drawn[part] = picture
        name = uuid(picture)
        if not 75 <= len(name) <= 78:
            raise ValueError(f"{source(picture)}: uuid of {len(name)} digits, not 75 to 78; choose another seed")
        if name in names:
            raise ValueError(f"{source(picture)}: uuid of {source(names[name])}")
        names[name] = picture


def _check_detection(corpus: Corpus, row: Detection) -> None:
    """Raise ValueError unless a detection row keeps the rules of its kind."""
    where = f"detection row {row.phrase!r} {row.answer} ({row.distractors})"
    if row.phrase not in corpus.phrases:
        raise ValueError(f"{where}: unknown phrase")
    phrase = corpus.phrases[row.phrase]
    try:
        answer, *distractors = _candidates(corpus, row)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if len(distractors) != 3:
        raise ValueError(f"{where}: {len(distractors)} distractors, not 3")
    if len({picture for _, _, picture in (answer, *distractors)}) < 4:
        raise ValueError(f"{where}: a picture occurs twice")
    if answer[0] != row.phrase or answer[1] not in ("FB" if phrase.kind == "idiom" else "F"):
        raise ValueError(f"{where}: the answer is no figurative picture of the phrase")
    own = "".join(sorted(role for key, role, _ in distractors if key == row.phrase))
    allowed = {"idiom": ("P", "PP"), "metaphor": ("P", "PP", "PPP"), "simile": ("ST",)}[phrase.kind]
    if own not in allowed:
        raise ValueError(f"{where}: distractors of roles {own!r} of the phrase itself; allowed: {', '.join(allowed)}")
    for key, role, picture in distractors:
        other = corpus.phrases[key]
        if other.kind != phrase.kind:
            raise ValueError(f"{where}: {key!r} is no {phrase.kind}")
        if key == row.phrase:
            continue
        if phrase.kind == "metaphor" and role not in "FN":
            raise ValueError(f"{where}: the random picture {key}:{role} is literal")
        # pictures of the same comparison are no random ones, whichever property it names
        for rival in corpus.phrases.values():
            if rival.open_text == phrase.open_text and picture in sum(rival.pictures.values(), ()):
                raise ValueError(f"{where}: the random picture {key}:{role} belongs to {rival.text!r}")


def _check_retrieval(corpus: Corpus, row: Retrieval) -> None:
    """Raise ValueError unless a retrieval row keeps the rules of its kind."""
    where = f"retrieval row {row.phrase!r} {row.type}"
    if row.phrase not in corpus.phrases:
        raise ValueError(f"{where}: unknown phrase")
    phrase = corpus.phrases[row.phrase]
    if row.type not in ("FvsPL", "FLvsPL") or (row.type == "FLvsPL" and phrase.kind != "idiom"):
        raise ValueError(f"{where}: a {phrase.kind} has no such row")
    first, second = _sides(phrase, row)
    if not first or len(second) < 2:
        raise ValueError(f"{where}: {len(first)} positives and {len(second)} negatives; at least 1 and 2 are needed")


def validate(corpus: Corpus = CORPUS) -> None:
    """Check phrases, pictures and rows against the rules of the format.

    Raises:
        ValueError: a rule is broken; the message names the phrase, the picture or the row.
    """
    texts: set[str] = set()
    for key, phrase in corpus.phrases.items():
        _check_phrase(key, phrase)
        if phrase.text.casefold() in texts:
            raise ValueError(f"phrase {key!r}: the text occurs twice")
        texts.add(phrase.text.casefold())
    _check_pictures(corpus)
    for row in corpus.detections:
        _check_detection(corpus, row)
    for entry in corpus.retrievals:
        _check_retrieval(corpus, entry)
    keys = [(row.phrase, row.answer, frozenset(row.distractors.split())) for row in corpus.detections]
    for row, key_of_row in zip(corpus.detections, keys, strict=True):
        if keys.count(key_of_row) > 1:
            raise ValueError(f"detection row {row.phrase!r} {row.answer} ({row.distractors}) occurs twice")
    sought = [(entry.phrase, entry.type) for entry in corpus.retrievals]
    for entry in corpus.retrievals:
        if sought.count((entry.phrase, entry.type)) > 1:
            raise ValueError(f"retrieval row {entry.phrase!r} {entry.type} occurs twice")
    for row in corpus.detections:
        # a reader learns from the retrieval row which distractor is the target
        if row.phrase in corpus.keys["simile"] and (row.phrase, "FvsPL") not in sought:
            raise ValueError(f"detection row {row.phrase!r} {row.answer}: the simile has no retrieval row")


def check_files(built: Mapping[str, Table], images: bytes) -> None:
    """Check the finished tables against each other and the zip, by what they say and not by what they were made of.

    Raises:
        ValueError: a number of rows is not that of `ROWS`, a row names a picture twice or one that the zip lacks, or
            the zip holds a picture twice or one that no base table names.
    """
    with zipfile.ZipFile(io.BytesIO(images)) as archive:
        members = archive.namelist()
    if len(set(members)) < len(members):
        raise ValueError(f"{ZIP_NAME} has a member twice")
    unused = set(members)
    for name, table in built.items():
        if len(table) != ROWS[name]:
            raise ValueError(f"{name} has {len(table)} rows, not {ROWS[name]}")
        seen: set[tuple[str, str]] = set()
        for i, row in enumerate(table):
            where = f"{name} row {i} {row['phrase']!r}"
            if "uuid" in row:
                named = [row["uuid"]]
                unused.discard(f"images/{row['uuid']}.jpeg")
                if (row["phrase"], row["uuid"]) in seen:
                    raise ValueError(f"{where}: the picture {row['uuid']} occurs twice for the phrase")
                seen.add((row["phrase"], row["uuid"]))
            else:
                sides = ("answer", "distractors") if "answer" in row else ("first_category", "second_category")
                named = [picture for side in sides for picture in json.loads(row[side])]
                listed = [entry["uuid"] for entry in json.loads(row["images_metadata"])]
                if len(set(named)) < len(named) or sorted(named) != sorted(listed):
                    raise ValueError(
                        f"{where}: {', '.join(sides)} and images_metadata do not name the same pictures once"
                    )
            for picture in named:
                if f"images/{picture}.jpeg" not in members:
                    raise ValueError(f"{where}: {ZIP_NAME} has no picture {picture}")
    if unused:
        raise ValueError(f"{ZIP_NAME} has pictures of no phrase: {', '.join(sorted(unused))}")


# ---------------------------------------------------------------- card and files

_CARD = """---
license: apache-2.0
language:
- en
pretty_name: figlang_mini_irfl
size_categories:
- n<1K
task_categories:
- image-classification
- visual-question-answering
tags:
- figurative-language
- idioms
- metaphors
- similes
- synthetic
configs:
{configs}
---
# figlang_mini_irfl

A small benchmark of figurative phrases and pictures: choose the picture that shows what an idiom, a metaphor or a
simile means (detection), or rank such pictures before those that show only its words (retrieval). It exists so that
an evaluation on IRFL can be run, tested and shown from end to end without a download, an account or a GPU. **It is no
substitute for IRFL**, and a score on it says little about a real model.

| table | rows |
|---|---|
{rows}

- {pictures} pictures, JPEG of {size} x {size} pixels, in `IRFL_images.zip` as `images/{{uuid}}.jpeg`.
- {idioms} idioms, {metaphors} metaphors and {similes} similes. Idiom detection: {figurative} rows figurative,
  {both} figurative+literal. Chance is 25 % in detection.
- Files, columns, their order and the JSON in them are those of IRFL's repository; no row, picture or text is taken
  from it. `source` names the code, the scene and the seed that drew a picture in place of a web address.
- A `uuid` is a decimal string of 75 to 78 digits. In the tables `*_dataset.csv` it stands bare: read it as text.

## What to know when reading it

As in IRFL: the answer stands apart from the distractors, so a reader has to mix them. In simile detection only the
source concept carries a category; the target without the property is the other distractor that occurs in the
simile's retrieval row. Open similes leave the property out, so two of them read alike ("The lamp is like the sun").
One metaphor occurs in detection alone. In idiom detection a "Partial Objects" distractor may belong to another idiom.

The three base tables hold every picture of every phrase. Their `category` is "Figurative", "Figurative+Literal",
"Literal", "Partial Literal" or "None" (also for pictures without annotations); metaphors and similes have no
"Figurative+Literal" and no "Literal". Two similes share their pictures.

## Making

Everything is this project's own work. The pictures are drawn and composed by seeded code
(`tools/mini/draw.py`, `tools/mini/irfl.py`), the phrases, definitions and the choice of pictures are
written by hand (`tools/mini/irfl_texts.py`), and `python -m tools.mini.irfl` writes this folder again.
Idioms, metaphors and similes are those of everyday English. The annotators' votes are made up to agree with the
categories.

## Limits

With two dozen things to draw, meanings are pictured by simple signs: a thought bubble, two panels, a glow. The author
who wrote the phrases also chose the pictures, and nobody else has judged them.

## Licence

Apache-2.0.
"""


def _card(built: Mapping[str, Table]) -> str:
    """The data set card."""
    configs = []
    for name in built:
        split = "dataset" if COLUMNS[name] == _BASE else "test"
        configs.append(
            f"- config_name: {name.replace('_', '-')}\n  data_files:\n  - split: {split}\n    path: {name}.csv"
        )
        if COLUMNS[name] == _BASE:
            # left to guess, pandas takes a uuid for a number and the category "None" for a missing value
            features = "".join(f"\n  - name: {column}\n    dtype: string" for column in _BASE)
            configs.append(f"  keep_default_na: false\n  features:{features}")
    types = [row["type"] for row in built["idiom_detection_task"]]
    return _CARD.format(
        configs="\n".join(configs),
        rows="\n".join(f"| `{name}.csv` | {len(table)} |" for name, table in built.items()),
        pictures=len(pictures()),
        size=IMAGE_SIZE,
        idioms=len(CORPUS.keys["idiom"]),
        metaphors=len(CORPUS.keys["metaphor"]),
        similes=len(CORPUS.keys["simile"]),
        figurative=types.count("figurative"),
        both=types.count("figurative+literal"),
    )


def write(folder: Path) -> dict[str, int]:
    """Write tables, pictures and the data set card into `folder` (made when missing).

    Returns:
        Number of rows of each table.

    Raises:
        ValueError: the texts do not pass `validate`, or the files not `check_files`.
    """
    validate()
    built, images = tables(), zip_bytes()
    check_files(built, images)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in built.items():
        (folder / f"{name}.csv").write_bytes(csv_bytes(table, COLUMNS[name]))
    (folder / ZIP_NAME).write_bytes(images)
    (folder / "README.md").write_bytes(_card(built).encode("utf-8"))
    return {name: len(table) for name, table in built.items()}


def main(argv: Sequence[str] | None = None) -> int:
    """The command line (``tools.mini.command``)."""
    return command.run("irfl", __doc__, mini.IRFL_DIR, lambda folder: command.listed(write(folder).items()), argv)


if __name__ == "__main__":
    raise SystemExit(main())
