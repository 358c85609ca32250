"""Candidate statements of retrieval: the image's own and others (section 3.2, Table 2).

"In our candidate set, we choose exactly one positive (correct) metaphorical statement from its
ground truth messages and uniformly sample K - 1 random negative statements from other images."
Hard negatives (HN) are made from the positive statement:

- ``random``: statements of the other test images. Those of a smaller K are the first of those of a
  larger one.
- ``neg_prim``, ``neg_sec``: the primary (secondary) concept is replaced by that of "images having
  different topic" (footnote 5).
- ``neg_prim_rel``, ``neg_sec_rel``: the relationship is replaced with it.
- ``swap``: primary and secondary concept change places. "With swapping K is always 2" (footnote 6).

The paper's candidates were not released. Ours depend on a published seed, the setting, the image
and the set of annotations alone: neither on the order of the file nor on Python's version. No
negative is a ground truth of its image. Comparisons ignore case, spacing and a final full stop.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeAlias, TypeVar

from loguru import logger

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue.annotations import (
    PARTS,
    Annotation,
    AnnotationSet,
    Metaphor,
    statement,
)
from figlang_tasks.core import hub
from figlang_tasks.core.errors import PartMissing

SEED = 2023

# --- the settings of Table 2 ---


class Setting(NamedTuple):
    """How the candidates of a task are drawn.

    Attributes:
        method: ``random``, ``swap``, or a key of `REPLACED_PARTS`.
        candidate_count: how many candidates an image has, the positive one among them: the paper's
            K.
    """

    method: str
    candidate_count: int


REPLACED_PARTS = {
    "neg_prim": ("primary",),
    "neg_sec": ("secondary",),
    "neg_prim_rel": ("primary", "relationship"),
    "neg_sec_rel": ("secondary", "relationship"),
}
"""The parts of the positive statement that hard negatives replace, by method; the concept first."""

SETTINGS = {
    "random50": Setting("random", 50),
    "random100": Setting("random", 100),
    "random500": Setting("random", 500),
    "random1000": Setting("random", 1000),
    "neg_prim": Setting("neg_prim", 50),
    "neg_sec": Setting("neg_sec", 50),
    "neg_prim_rel": Setting("neg_prim_rel", 50),
    "neg_sec_rel": Setting("neg_sec_rel", 50),
    "swap": Setting("swap", 2),
}


# --- the candidates of all images ---


class Candidates(NamedTuple):
    """The candidates of one image.

    Attributes:
        image: the path of the image.
        texts: the statements in the order of the prompt, all different.
        answer: the index of the right one.
    """

    image: str
    texts: tuple[str, ...]
    answer: int


def digest(candidates_of_images: Iterable[Candidates]) -> str:
    """The first 12 hex digits of a SHA-256 of the candidates of all images, in their order."""
    sha256 = hashlib.sha256()
    for candidates in candidates_of_images:
        sha256.update(f"{candidates.image}\n{candidates.answer}\n".encode())
        sha256.update("\n".join(candidates.texts).encode() + b"\0")
    return sha256.hexdigest()[:12]


def images_with_metaphors(dataset: str, annotation_set: AnnotationSet) -> list[Annotation]:
    """The test images that have metaphors, in the order of the file.

    Raises:
        PartMissing: there are none.
    """
    rows = [row for row in annotation_set.select("test", "metaphor") if row.metaphors]
    if not rows:
        raise PartMissing(
            f"{dataset}/{annotation_file.FILE} has no test image with metaphors, which retrieval"
            " needs"
        )
    return rows


@hub.cached(maxsize=12)
def draw(dataset: str, setting_name: str) -> list[Candidates]:
    """The candidates of each image in one of `SETTINGS`, in the order of the annotations.

    Raises:
        PartMissing: the annotations do not have enough negatives, or no topics.
    """
    setting = SETTINGS[setting_name]
    rows = images_with_metaphors(dataset, annotation_file.read(dataset))
    logger.info(
        f"figlang_tasks: {dataset}/retrieve_{setting_name}: {len(rows)} images x"
        f" {setting.candidate_count} candidates, seed {SEED}"
    )
    if setting.method == "swap":
        return _draw_swapped(dataset, rows)
    if setting.method == "random":
        return _draw_random(setting_name, rows)
    return _draw_hard(setting_name, rows)


# --- random negatives ---


def _draw_random(setting_name: str, rows: Sequence[Annotation]) -> list[Candidates]:
    """The candidates of each image; the negatives are statements of any test image."""
    statements: list[str] = []
    for row in rows:
        statements += [metaphor.statement for metaphor in row.metaphors]
    pool = _distinct(statements)
    candidates_of_images: list[Candidates] = []
    for row in rows:
        negatives = _draw_members(pool, SETTINGS[setting_name].method, row)
        candidates_of_images.append(_first_negatives(setting_name, row, negatives))
    return candidates_of_images


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of normal forms.

    Of texts with the same normal form the one that is first in the alphabet stays.
    """
    text_by_form: dict[str, str] = {}
    for text in texts:
        form = normalize(text)
        text_by_form[form] = min(text, text_by_form.get(form, text))
    return [text_by_form[form] for form in sorted(text_by_form)]


# --- hard negatives: parts of the positive statement are replaced ---

_Words: TypeAlias = tuple[str, ...]
"""What stands for the replaced parts: a concept, or a concept and a relationship."""


def _draw_hard(setting_name: str, rows: Sequence[Annotation]) -> list[Candidates]:
    """The candidates of each image; the negatives have parts of images of another topic.

    Args:
        setting_name: a setting whose method is a key of `REPLACED_PARTS`.
        rows: the annotations of the images.
    """
    method = SETTINGS[setting_name].method
    words_by_topic = _words_of_other_topics(rows, method)
    candidates_of_images: list[Candidates] = []
    for row in rows:
        drawn_words = _draw_members(words_by_topic[row.topic], method, row)
        negatives = _replace_parts(row, drawn_words, REPLACED_PARTS[method])
        candidates_of_images.append(_first_negatives(setting_name, row, negatives))
    return candidates_of_images


def _words_of_other_topics(
    rows: Sequence[Annotation], method: str
) -> dict[str | None, list[_Words]]:
    """For each topic the words that may replace parts of a statement about an image of that topic.

    They are in the order of normal forms. No key is None: the type is that of `Annotation.topic`.

    Raises:
        PartMissing: an image has no topic.
    """
    words_by_form: dict[_Words, _Words] = {}
    topics_by_form: dict[_Words, set[str]] = defaultdict(set)
    for row in rows:
        if row.topic is None:
            raise PartMissing(
                f"{row.location}: topic is missing, and metaclue_retrieve_{method} takes negatives"
                " from images of another topic. Import again with Topics.json of the Pitt Ads."
            )
        for metaphor in row.metaphors:
            words = tuple(metaphor.part(name) for name in REPLACED_PARTS[method])
            form = tuple(normalize(text) for text in words)
            # Of several spellings the first in the alphabet counts, in whatever order they come.
            words_by_form[form] = min(words, words_by_form.get(form, words))
            topics_by_form[form].add(row.topic)

    words_by_topic: dict[str | None, list[_Words]] = {}
    for topic in {row.topic for row in rows}:
        # Some image of another topic must have the words.
        forms = [form for form in sorted(words_by_form) if topics_by_form[form] - {topic}]
        words_by_topic[topic] = [words_by_form[form] for form in forms]
    return words_by_topic


def _replace_parts(
    row: Annotation, drawn_words: Iterable[_Words], part_names: Sequence[str]
) -> Iterator[str]:
    """Yield the positive statement of an image with some parts replaced by drawn words.

    Words are skipped if an annotation of the image has the same concept in that part, so that the
    negative could be right.

    Args:
        part_names: the replaced parts; the concept is the first.
    """
    positive = choose_positive(row.image, row.metaphors)
    concept_name = part_names[0]
    concepts_of_image = {normalize(metaphor.part(concept_name)) for metaphor in row.metaphors}
    for words in drawn_words:
        concept = words[0]
        if normalize(concept) in concepts_of_image:
            continue
        parts = {name: positive.part(name) for name in PARTS}
        parts.update(zip(part_names, words, strict=True))
        yield statement(**parts)


# --- swapped concepts ---


def _draw_swapped(dataset: str, rows: Sequence[Annotation]) -> list[Candidates]:
    """The two candidates of each image: a statement, and the same with its concepts swapped.

    An image is left out, with a warning, if the swapped statement is always a ground truth too.
    """
    candidates_of_images: list[Candidates] = []
    left_out: list[str] = []
    for row in rows:
        forms_of_image = {normalize(metaphor.statement) for metaphor in row.metaphors}
        metaphors: list[Metaphor] = []
        for metaphor in row.metaphors:
            if normalize(_swapped(metaphor)) not in forms_of_image:
                metaphors.append(metaphor)
        if not metaphors:
            left_out.append(row.image)
            continue
        positive = choose_positive(row.image, metaphors)
        negatives = [_swapped(positive)]
        candidates_of_images.append(_in_order("swap", row.image, positive.statement, negatives))
    if left_out:
        logger.warning(
            f"figlang_tasks: {dataset}/retrieve_swap leaves out {len(left_out)} image(s), e.g."
            f" {left_out[0]}: with swapped concepts all their statements are still ground truths"
        )
    return candidates_of_images


def _swapped(metaphor: Metaphor) -> str:
    """The statement of a metaphor in which the concepts change places."""
    return statement(metaphor.secondary, metaphor.relationship, metaphor.primary)


# --- what all settings share ---

_Member = TypeVar("_Member")


def _draw_members(pool: Sequence[_Member], method: str, row: Annotation) -> Iterator[_Member]:
    """Yield members of a pool, drawn for one image with replacement: one may come again.

    It ends after 100 draws for each member, so that a pool with too few members is no endless
    loop: by then, none is left that was not drawn.
    """
    if not pool:
        return
    numbers = draw_numbers(f"{SEED}/{method}/{row.image}", len(pool))
    for number in itertools.islice(numbers, 100 * len(pool)):
        yield pool[number]


def _first_negatives(setting_name: str, row: Annotation, negatives: Iterable[str]) -> Candidates:
    """The candidates of an image: its positive, and the first negatives that are not its own.

    Args:
        negatives: drawn statements; one may come again, or be a ground truth of the image.

    Raises:
        PartMissing: there are too few.
    """
    needed_count = SETTINGS[setting_name].candidate_count - 1
    used_forms = {normalize(metaphor.statement) for metaphor in row.metaphors}
    chosen_negatives: list[str] = []
    for negative in negatives:
        form = normalize(negative)
        if form in used_forms:
            continue
        used_forms.add(form)
        chosen_negatives.append(negative)
        if len(chosen_negatives) == needed_count:
            positive = choose_positive(row.image, row.metaphors)
            return _in_order(setting_name, row.image, positive.statement, chosen_negatives)
    raise PartMissing(
        f"{row.location}: {len(chosen_negatives)} distinct negatives for retrieve_{setting_name},"
        f" which needs {needed_count}: the other test images do not have enough annotations"
    )


def _in_order(setting_name: str, image: str, positive: str, negatives: Sequence[str]) -> Candidates:
    """The candidates of an image in the order of the prompt: the positive at a drawn index."""
    key = f"{SEED}/place/{setting_name}/{image}"
    index = next(draw_numbers(key, len(negatives) + 1))
    return Candidates(image, (*negatives[:index], positive, *negatives[index:]), index)


def choose_positive(image: str, metaphors: Sequence[Metaphor]) -> Metaphor:
    """The metaphor of an image whose statement is the right one, drawn from `metaphors`."""
    # In the order of their words, so that the order of annotators says nothing.
    ordered = sorted(metaphors, key=_order_of_metaphor)
    return ordered[next(draw_numbers(f"{SEED}/positive/{image}", len(ordered)))]


def _order_of_metaphor(metaphor: Metaphor) -> tuple[str, str]:
    """Sort key of a metaphor: the normal form of its statement, then the statement."""
    return normalize(metaphor.statement), metaphor.statement


@lru_cache(maxsize=1 << 14)  # A statement is drawn for many images.
def normalize(text: str) -> str:
    """The normal form of a text, by which texts are compared.

    It is in lower case, with single spaces and without a final full stop.
    """
    return " ".join(text.casefold().split()).rstrip(".").rstrip()


def draw_numbers(key: str, count: int) -> Iterator[int]:
    """Yield numbers from 0 to count - 1 without end, which follow from a key.

    They are the 64-bit words of SHA-256 of ``{key}/0``, ``{key}/1`` and so on, modulo `count`.
    """
    for block in itertools.count():
        words = hashlib.sha256(f"{key}/{block}".encode()).digest()
        for start in range(0, len(words), 8):
            yield int.from_bytes(words[start : start + 8], "big") % count
