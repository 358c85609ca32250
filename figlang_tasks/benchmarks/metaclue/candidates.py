"""Candidate statements of retrieval: one of the image's own, the others drawn with a published seed
(paper, 3.2).

The paper's candidates were not released. Ours are a function of seed, setting, image and the set of
annotations alone: neither of the order of the file nor of Python's version.

- ``random``: the others are drawn from all distinct statements of the other test images. Those of a
  smaller K are the first of those of a larger one.
- ``neg_prim``, ``neg_sec``, ``neg_prim_rel``, ``neg_sec_rel``: in the positive, the primary
  (secondary) concept, or the concept and the relationship together, are replaced by those of an
  annotation of an image of another topic.
- ``swap``: primary and secondary concept change places.

No negative is a ground truth of its image. Comparisons ignore case, spacing and a final full stop.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from loguru import logger

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue.annotations import (
    PARTS,
    Annotation,
    Metaphor,
    Table,
    statement,
)
from figlang_tasks.core import hub
from figlang_tasks.core.errors import PartMissing

SEED = 2023
_HARD = {"neg_prim": ("primary",), "neg_sec": ("secondary",)} | {
    "neg_prim_rel": ("primary", "relationship"),
    "neg_sec_rel": ("secondary", "relationship"),
}


# name -> what is drawn (`random`, one of the hard ones, `swap`), and how many candidates there are
SETTINGS = {f"random{count}": ("random", count) for count in (50, 100, 500, 1000)}
SETTINGS |= {kind: (kind, 50) for kind in _HARD} | {"swap": ("swap", 2)}


class Candidates(NamedTuple):
    """The candidates of one image: its path, texts in the order shown (all different), and place of
    the right one.
    """

    image: str
    texts: tuple[str, ...]
    answer: int


def digest(rows: Iterable[Candidates]) -> str:
    """The first 12 hex digits of the SHA-256 over candidates."""
    found = hashlib.sha256()
    for row in rows:
        found.update(
            f"{row.image}\n{row.answer}\n".encode() + "\n".join(row.texts).encode() + b"\0"
        )
    return found.hexdigest()[:12]


def pool_of(dataset: str, table: Table) -> list[Annotation]:
    """The test images that take part: those with metaphors."""
    rows = [row for row in table.select("test", "metaphor") if row.metaphors]
    if not rows:
        raise PartMissing(
            f"{dataset}/{annotation_file.FILE} has no test image with metaphors, which retrieval"
            " needs"
        )
    return rows


@hub.cached(maxsize=12)
def draw(dataset: str, name: str) -> list[Candidates]:
    """The candidates of one of :data:`SETTINGS`, in the order of the annotations."""
    kind, count = SETTINGS[name]
    rows = pool_of(dataset, annotation_file.read(dataset))
    logger.info(
        f"figlang_tasks: {dataset}/retrieve_{name}: {len(rows)} images x {count} candidates, seed"
        f" {SEED}"
    )
    if kind == "swap":
        return list(_swapped(dataset, rows))
    if kind == "random":
        pool = _distinct(metaphor.statement for row in rows for metaphor in row.metaphors)
        return [_drawn(name, row, pool, str) for row in rows]
    pools = _replacements(rows, kind)
    return [
        _drawn(name, row, pools[row.topic], partial(_replaced, row, positive(row), _HARD[kind]))
        for row in rows
    ]


def _drawn(
    name: str, row: Annotation, pool: Sequence[Any], read: Callable[[Any], str | None]
) -> Candidates:
    """The right statement of an image among negatives drawn from `pool`.

    `read` makes a statement of what was drawn; None if it is not for this image.
    """
    kind, count = SETTINGS[name]
    key, wanted = f"{SEED}/{kind}/{row.image}", count - 1
    taken = {normal(metaphor.statement) for metaphor in row.metaphors}
    texts: list[str] = []
    for number in itertools.islice(numbers(key, len(pool)), 100 * len(pool)) if pool else ():
        if len(texts) == wanted:
            break
        text = read(pool[number])
        if text is not None and normal(text) not in taken:
            taken.add(normal(text))
            texts.append(text)
    if len(texts) < wanted:  # after so many draws nothing is left
        raise PartMissing(
            f"{row.where}: {len(texts)} distinct negatives for retrieve_{name}, which needs"
            f" {wanted}: the other test images do not have enough annotations"
        )
    return _placed(name, row.image, positive(row).statement, texts)


def _placed(name: str, image: str, answer: str, negatives: list[str]) -> Candidates:
    place = next(numbers(f"{SEED}/place/{name}/{image}", len(negatives) + 1))
    return Candidates(image, (*negatives[:place], answer, *negatives[place:]), place)


def _replacements(rows: Sequence[Annotation], kind: str) -> dict[str | None, list[tuple[str, ...]]]:
    """The concepts, by topic of the image they are put in, that images of other topics have."""
    found: dict[tuple[str, ...], tuple[tuple[str, ...], set[str]]] = {}
    for row in rows:
        if row.topic is None:
            raise PartMissing(
                f"{row.where}: topic is missing, and metaclue_retrieve_{kind} takes negatives from"
                " images of another topic. Import again with Topics.json of the Pitt Ads."
            )
        for metaphor in row.metaphors:
            values = tuple(getattr(metaphor, part) for part in _HARD[kind])
            shown, topics = found.get(tuple(map(normal, values)), (values, set()))
            found[tuple(map(normal, values))] = (min(shown, values), topics | {row.topic})
    topics = {row.topic for row in rows}
    return {
        topic: [found[key][0] for key in sorted(found) if found[key][1] - {topic}]
        for topic in topics
    }


def _replaced(
    row: Annotation, chosen: Metaphor, parts: Sequence[str], values: Sequence[str]
) -> str | None:
    """The statement with other concepts; None if an annotation of the image has the first of them
    at that place.
    """
    if normal(values[0]) in {normal(getattr(metaphor, parts[0])) for metaphor in row.metaphors}:
        return None
    words = {part: getattr(chosen, part) for part in PARTS} | dict(zip(parts, values, strict=True))
    return statement(**words)


def _swapped(dataset: str, rows: Sequence[Annotation]) -> Iterator[Candidates]:
    left_out = []
    for row in rows:
        own = {normal(metaphor.statement) for metaphor in row.metaphors}
        usable = [metaphor for metaphor in row.metaphors if normal(_turned(metaphor)) not in own]
        if not usable:
            left_out.append(row.image)
            continue
        chosen = positive(row, usable)
        yield _placed("swap", row.image, chosen.statement, [_turned(chosen)])
    if left_out:
        logger.warning(
            f"figlang_tasks: {dataset}/retrieve_swap leaves out {len(left_out)} image(s), e.g."
            f" {left_out[0]}: with swapped concepts all their statements are still ground truths"
        )


def _turned(metaphor: Metaphor) -> str:
    return statement(metaphor.secondary, metaphor.relationship, metaphor.primary)


def positive(row: Annotation, among: Sequence[Metaphor] | None = None) -> Metaphor:
    """The statement of an image that is the right one, drawn from its own (or from `among`)."""
    # By their words, so that the order of annotators says nothing.
    ordered = sorted(
        row.metaphors if among is None else among,
        key=lambda each: (normal(each.statement), each.statement),
    )
    return ordered[next(numbers(f"{SEED}/positive/{row.image}", len(ordered)))]


@lru_cache(maxsize=1 << 14)  # a statement is drawn for many images
def normal(text: str) -> str:
    """A text as comparisons take it: lower case, single spaces, no final full stop."""
    return " ".join(text.casefold().split()).rstrip(".").rstrip()


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of their normal forms; of those with the same one, the first in
    order.
    """
    found: dict[str, str] = {}
    for text in texts:
        key = normal(text)
        found[key] = min(text, found.get(key, text))
    return [found[key] for key in sorted(found)]


def numbers(key: str, count: int) -> Iterator[int]:
    """Yield numbers from 0 to count - 1 without end: 64-bit words of SHA-256 of ``{key}/{block}``,
    modulo `count`.
    """
    block = 0
    while True:
        words = hashlib.sha256(f"{key}/{block}".encode()).digest()
        for start in range(0, 32, 8):
            yield int.from_bytes(words[start : start + 8], "big") % count
        block += 1
