"""Builds `figlang_mini_metaclue`, a small MetaCLUE in its layout: `python -m tools.mini.metaclue`.

An advertisement is composed of drawings, marks and words that are put into place here, which is how their boxes are
known.
"""

from __future__ import annotations

import io
import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.mini import DATA_DIR as _FIGLANG_MINI

from . import command
from .draw import CONCEPTS, INK, SUPERSAMPLE, WHITE, draw
from .metaclue_texts import FIRST_SEED, METAPHORS, NEGATIVES, Metaphor, Negative

DATA_DIR: Path = _FIGLANG_MINI.parent / "figlang_mini_metaclue"
WIDTH, HEIGHT = 160, 128
TILE = 64
MARK = 26
LETTERS = 13
_QUALITY = 82
_PAPERS = ((244, 236, 216), (222, 236, 226), (230, 228, 242), (250, 226, 218), (216, 232, 244))
_BRANDS = ((196, 62, 52), (44, 96, 164), (40, 128, 90), (120, 70, 150))

_Pixels = tuple[int, int, int, int]


@dataclass(frozen=True)
class Advertisement:
    """A picture with its name and its row of the annotation file."""

    row: schema.Annotation
    picture: Image.Image

    @property
    def content(self) -> bytes:
        """The picture as a file of the kind that its name says."""
        buffer = io.BytesIO()
        if self.row.image.endswith(".png"):
            self.picture.save(buffer, "PNG", optimize=True)
        else:
            self.picture.save(buffer, "JPEG", quality=_QUALITY)
        return buffer.getvalue()


def name(number: int) -> str:
    """The path of a picture, as the Pitt Ads name theirs: by the last digit; PNG files lie in the folder 10."""
    if number % 17 == 16:
        return f"10/{170_000 + number}.png"
    return f"{number % 10}/{100_000 + number}.jpg"


def advertisements() -> list[Advertisement]:
    """All pictures, in the order of the annotation file."""
    entries: list[Metaphor | Negative] = [*METAPHORS, *NEGATIVES]
    # Sets and splits mixed, so that no reader can rely on their order.
    random.Random("figlang_mini_metaclue/order").shuffle(entries)
    return [_advertisement(entry, number) for number, entry in enumerate(entries)]


def _advertisement(entry: Metaphor | Negative, number: int) -> Advertisement:
    r = random.Random(f"figlang_mini_metaclue/{entry.split}/{entry.topic}/{entry.headline}/{entry.drawn}")
    sheet = _Sheet(r)
    seed = FIRST_SEED + 10 * number
    if isinstance(entry, Negative):
        sheet.tile(entry.drawn, seed, middle=WIDTH // 2)
        sheet.words(entry.headline)
        votes = r.randint(0, schema.YES_VOTES - 1) if entry.set == "symbolic_negative" else None
        row = schema.Annotation(number + 1, name(number), entry.split, entry.set, votes, entry.topic)
        return Advertisement(row, sheet.picture)
    boxes: list[schema.Box] = []
    sides = (WIDTH // 4, WIDTH - WIDTH // 4)
    for role, shown, drawn, middle in zip(schema.ROLES, entry.shown, entry.drawn, sides, strict=True):
        for kind in shown.split("+"):
            if kind == "text":
                box = sheet.words(entry.headline)
            elif kind == "logo":
                box = sheet.mark(middle)
            else:
                box = sheet.tile(drawn, seed + len(boxes), middle, faint=kind == "contextual")
            boxes.append(schema.Box(role, kind, box))
    if not any("text" in shown.split("+") for shown in entry.shown):
        sheet.words(entry.headline)
    row = schema.Annotation(
        row=number + 1,
        image=name(number),
        split=entry.split,
        set="metaphor",
        votes=r.randint(schema.YES_VOTES, schema.VOTERS),
        topic=entry.topic,
        metaphors=_metaphors(entry, r),
        boxes=tuple(boxes),
    )
    return Advertisement(row, sheet.picture)


def _metaphors(entry: Metaphor, r: random.Random) -> tuple[schema.Metaphor, ...]:
    """All combinations of the wordings, mixed; the first one written has all votes and is the best."""
    parts = list(itertools.product(entry.primary, entry.relationship, entry.secondary))
    found = [schema.Metaphor(*parts[0], best=True, votes=(5, 5, 5))]
    for words in parts[1:]:
        found.append(schema.Metaphor(*words, votes=(r.randint(4, 5), r.randint(3, 5), r.randint(3, 4))))
    r.shuffle(found)
    return tuple(found)


class _Sheet:
    """An advertisement while it is made. Each method puts something into place and returns its box."""

    def __init__(self, r: random.Random) -> None:
        self.picture = Image.new("RGB", (WIDTH, HEIGHT), r.choice(_PAPERS))
        self._ink = ImageDraw.Draw(self.picture)
        self._r = r
        self._brand = r.choice(_BRANDS)

    def tile(self, concept: str, seed: int, middle: int, faint: bool = False) -> _Pixels:
        """A drawing in the upper part; a faint one is a hint at it."""
        side = TILE + self._r.randint(-6, 6)
        left, top = middle - side // 2 + self._r.randint(-3, 3), 8 + self._r.randint(0, 12)
        drawing = draw(concept, seed, side)
        if faint:
            paper = self.picture.crop((left, top, left + side, top + side))
            drawing = Image.blend(paper, drawing, 0.3)
        self.picture.paste(drawing, (left, top))
        return left, top, left + side, top + side

    def mark(self, middle: int) -> _Pixels:
        """A brand's sign: a coloured badge with a shape in it."""
        side = MARK + self._r.randint(0, 10)
        left, top = middle - side // 2 + self._r.randint(-6, 6), 20 + self._r.randint(0, 24)
        large = Image.new("RGB", (side * SUPERSAMPLE,) * 2, self.picture.getpixel((left, top)))
        pen, edge = ImageDraw.Draw(large), side * SUPERSAMPLE - 1
        pen.ellipse((0, 0, edge, edge), fill=self._brand)
        third = edge / 3.2
        sides = self._r.choice((3, 4, 6))
        pen.regular_polygon((edge / 2, edge / 2, third), sides, rotation=self._r.choice((0, 30)), fill=WHITE)
        self.picture.paste(large.reduce(SUPERSAMPLE), (left, top))
        return left, top, left + side, top + side

    def words(self, text: str) -> _Pixels:
        """Words below the drawings."""
        font = ImageFont.load_default(size=LETTERS)
        place = (WIDTH / 2 + self._r.randint(-4, 4), 108 + self._r.randint(-4, 6))
        box = self._ink.textbbox(place, text, font=font, anchor="mm")
        self._ink.text(place, text, fill=INK, font=font, anchor="mm")
        return round(box[0]) - 1, round(box[1]) - 1, round(box[2]) + 1, round(box[3]) + 1


def validate(made: Sequence[Advertisement]) -> None:
    """Check the pictures and rows against the schema and the rules of this set.

    Raises:
        ValueError: a rule is broken; the message names the picture.
    """
    spoken: dict[str, str] = {}
    for entry in METAPHORS:
        for role, shown, drawn in zip(schema.ROLES, entry.shown, entry.drawn, strict=True):
            if (drawn != "") != any(kind in ("explicit", "contextual") for kind in shown.split("+")):
                raise ValueError(f"{entry.headline}: the {role} concept is {shown}, but what is drawn is {drawn!r}")
            if drawn and drawn not in CONCEPTS:
                raise ValueError(f"{entry.headline}: unknown concept {drawn!r}; known: {', '.join(CONCEPTS)}")
    for each in made:
        row = each.row
        if schema.check(json.loads(schema.as_json(row)), row.row) != row:
            raise ValueError(f"{row.image}: does not read back as it was written")
        for box in row.boxes:
            if box.bbox[2] > WIDTH or box.bbox[3] > HEIGHT:
                raise ValueError(f"{row.image}: the {box.type} box of the {box.role} concept leaves the picture")
        for metaphor in row.metaphors:
            text = metaphor.statement.casefold()
            if spoken.setdefault(text, row.image) != row.image:
                raise ValueError(f"{row.image}: {metaphor.statement!r} is said of {spoken[text]} too")


_CARD = """---
license: apache-2.0
language:
- en
pretty_name: figlang_mini_metaclue
size_categories:
- n<1K
task_categories:
- image-classification
- visual-question-answering
- object-detection
tags:
- figurative-language
- metaphor
- advertising
- synthetic
---
# figlang_mini_metaclue

A small benchmark of visual metaphors in advertisements: is there one, which statement says it, what are its concepts
and where are they. It exists so that an evaluation on MetaCLUE can be run, tested and shown from end to end without a
download, an account or a GPU. **It is no substitute for MetaCLUE**, and a score on it says little about a real model.

| set | train | test |
|---|---:|---:|
{counts}

- {pictures} pictures of {width} x {height} pixels in the layout of the Pitt Ads (`0/` to `10/`; JPEG, in `10/` PNG).
- {metaphors} metaphors, 27 for each metaphorical picture: three wordings of each of the three parts, combined.
- {boxes} boxes: {types}.
- {topics} topics. Always answering Yes is right on {majority:.1f} % of the symbolic test images.
- `annotations.jsonl` is in the format of `docs/cards/metaclue.md`.

## Making

Everything is this project's own work. Pictures are composed by seeded code (`tools/mini/metaclue.py`) of
drawings (`tools/mini/draw.py`), marks and words that were put into place there, so that every box is known
exactly. The words are written by hand (`tools/mini/metaclue_texts.py`), and
`python -m tools.mini.metaclue` writes this folder again. Brands do not exist. Votes are made up to agree
with the rest; nobody has voted.

## Limits

A "contextual" concept is a faint drawing. Most secondary concepts are drawn plainly, so that a model that names what it
sees does better here than on real advertisements.

## Licence

Apache-2.0.
"""


def _card(made: Sequence[Advertisement]) -> str:
    rows = [each.row for each in made]
    counts = Counter((row.set, row.split) for row in rows)
    test = [row.set for row in rows if row.split == "test" and row.set != "literal_negative"]
    types = Counter(box.type for row in rows for box in row.boxes)
    return _CARD.format(
        counts="\n".join(f"| {kind} | {counts[kind, 'train']} | {counts[kind, 'test']} |" for kind in schema.SETS),
        pictures=len(rows),
        width=WIDTH,
        height=HEIGHT,
        metaphors=sum(len(row.metaphors) for row in rows),
        boxes=sum(types.values()),
        types=", ".join(f"{types[kind]} {kind}" for kind in schema.BOX_TYPES),
        topics=len({row.topic for row in rows}),
        majority=100 * test.count("metaphor") / len(test),
    )


def write(folder: Path) -> int:
    """Write pictures, annotations and the data set card into `folder` (made when missing).

    Returns:
        Number of pictures.

    Raises:
        ValueError: a rule of `validate` is broken.
    """
    made = advertisements()
    validate(made)
    for each in made:
        path = folder / each.row.image
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(each.content)
    lines = "".join(f"{schema.as_json(each.row)}\n" for each in made)
    (folder / annotation_file.FILE).write_bytes(lines.encode("utf-8"))
    (folder / "README.md").write_bytes(_card(made).encode("utf-8"))
    return len(made)


def main(argv: Sequence[str] | None = None) -> int:
    """The command line (``tools.mini.command``)."""
    return command.run("metaclue", __doc__, DATA_DIR, lambda folder: f"{write(folder)} pictures", argv)


if __name__ == "__main__":
    raise SystemExit(main())
