"""Candidate statements of retrieval: one of the image's own, the others drawn with a published seed (paper, 3.2).

The paper's candidates were not released. Ours are a function of seed, setting, image and the set of annotations alone:
neither of the order of the file nor of Python's version. All test images with metaphors take part.

- The positive is one of the image's own statements, drawn: "exactly one positive (correct) metaphorical statement from
  its ground truth messages".
- ``random``: the others are drawn from all distinct statements of the other test images. Those of a smaller K are the
  first of those of a larger one.
- ``neg_prim``, ``neg_sec``, ``neg_prim_rel``, ``neg_sec_rel``: in the positive, the primary (secondary) concept, or the
  concept and the relationship together, are replaced by those of an annotation of an image of another topic.
- ``swap``: primary and secondary concept change places; K = 2.

No negative is a ground truth of its image, and no concept that is put in is one that the image's own annotations have
at that place. All candidates of an image differ. Comparisons ignore case, spacing and a final full stop.

Such rows can be written (``python -m figlang_tasks.benchmarks.metaclue.candidates FOLDER``), edited and read back: a
file ``candidates/random50.jsonl`` beside the annotations is taken in place of a draw.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue.annotations import Table
from figlang_tasks.benchmarks.metaclue.schema import TEXT, Annotation, Metaphor, is_text, statement
from figlang_tasks.core import hub, json_lines
from figlang_tasks.core.checks import end_with_the_first
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.text import printable

SEED = 2023
FOLDER = "candidates"
_HARD = {"neg_prim": ("primary",), "neg_sec": ("secondary",)} | {
    "neg_prim_rel": ("primary", "relationship"),
    "neg_sec_rel": ("secondary", "relationship"),
}


@dataclass(frozen=True)
class Setting:
    """What is drawn: `kind` ``random``, one of the hard ones, or ``swap``; `count` candidates."""

    kind: str
    count: int


SETTINGS = {f"random{count}": Setting("random", count) for count in (50, 100, 500, 1000)}
SETTINGS |= {kind: Setting(kind, 50) for kind in _HARD} | {"swap": Setting("swap", 2)}


@dataclass(frozen=True)
class Candidates:
    """The candidates of one image.

    Attributes:
        image: its path.
        texts: in the order shown; all different.
        answer: place of the right one.
    """

    image: str
    texts: tuple[str, ...]
    answer: int


@hub.kept(maxsize=12)
def load(dataset: str, name: str) -> tuple[tuple[Candidates, ...], str]:
    """Return the candidates of a setting, read or drawn, in the order of the annotations, and a digest of them.

    Args:
        dataset: ``MetaCLUE`` or ``figlang_mini_metaclue``.
        name: one of :data:`SETTINGS`.

    Raises:
        DataError: the annotations are not available or do not suffice, or a file of candidates is not valid.
    """
    if name not in SETTINGS:
        raise DataError(f"MetaCLUE has no retrieval setting {name!r}; known: {', '.join(SETTINGS)}")
    given = of_file(dataset, name)
    rows, faults = given or (draw(dataset, name), [])
    end_with_the_first(faults, "metaclue")
    logger.info(
        f"figlang_tasks: {dataset}/retrieve_{name}: {len(rows)} images x {SETTINGS[name].count} candidates, "
        + (f"from {annotation_file.read(dataset).folder / FOLDER}" if given else f"drawn, seed {SEED}")
    )
    return tuple(rows), digest(rows)


def of_file(dataset: str, name: str) -> tuple[list[Candidates], list[str]] | None:
    """The candidates that a file has for a setting, and its faults; None if there is no file.

    Raises:
        DataError: the annotations are not available or do not suffice.
    """
    table = annotation_file.read(dataset)
    path = table.folder / FOLDER / f"{name}.jsonl"
    try:
        lines, faults = json_lines.read(path)
    except DataError as error:
        if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
            return None
        return [], [f"{error}: correct or delete it"]  # not to be taken for no file: a draw would stand in its place
    return _checked(lines, faults, path, name, pool_of(dataset, table))


def digest(rows: Iterable[Candidates]) -> str:
    """Return the first 12 hex digits of the SHA-256 over candidates, the same for drawn and read ones."""
    found = hashlib.sha256()
    for row in rows:
        found.update(f"{row.image}\n{row.answer}\n".encode() + "\n".join(row.texts).encode() + b"\0")
    return found.hexdigest()[:12]


def pool_of(dataset: str, table: Table) -> list[Annotation]:
    """The test images that take part: those with metaphors.

    Raises:
        DataError: there are none.
    """
    rows = [row for row in table.select("test", "metaphor") if row.metaphors]
    if not rows:
        raise DataError(f"{dataset}/{annotation_file.FILE} has no test image with metaphors, which retrieval needs")
    return rows


def draw(dataset: str, name: str) -> list[Candidates]:
    """Draw the candidates of a setting.

    Raises:
        DataError: as :func:`load`.
    """
    setting = SETTINGS[name]
    rows = pool_of(dataset, annotation_file.read(dataset))
    if setting.kind == "swap":
        return list(_swapped(dataset, rows))
    negatives = _random_negatives(rows) if setting.kind == "random" else _hard_negatives(dataset, rows, setting.kind)
    return [_drawn(dataset, name, row, negatives) for row in rows]


# --- the three kinds -------------------------------------------------------------------------------------------------

# For an image and its positive: how the draws are named, the pool, and what a drawn one reads like (None: not this).
_Negatives = Callable[[Annotation, Metaphor], tuple[str, Sequence[Any], Callable[[Any], "str | None"]]]


def _drawn(dataset: str, name: str, row: Annotation, negatives: _Negatives) -> Candidates:
    setting = SETTINGS[name]
    chosen = positive(row)
    key, pool, read = negatives(row, chosen)
    taken = {normal(metaphor.statement) for metaphor in row.metaphors}
    texts: list[str] = []
    for attempt, number in enumerate(numbers(key, len(pool)) if pool else ()):
        if len(texts) == setting.count - 1:
            break
        if attempt == 4 * len(pool) + setting.count:  # rarely: reading the whole pool costs more than the draw
            break
        text = read(pool[number])
        if text is not None and (known := normal(text)) not in taken:
            taken.add(known)
            texts.append(text)
    if len(texts) < setting.count - 1:
        texts += _rest(dataset, row, name, f"{key}/rest", [text for text in map(read, pool) if text], taken, len(texts))
    return _placed(name, row.image, chosen.statement, texts)


def _rest(
    dataset: str, row: Annotation, name: str, key: str, usable: Sequence[str], taken: set[str], found: int
) -> list[str]:
    """Draw what is missing from the few that are left."""
    wanted = SETTINGS[name].count - 1 - found
    left = [text for text in _distinct(usable) if normal(text) not in taken]
    if len(left) < wanted:
        raise DataError(
            f"{annotation_file.where(dataset, row)}: {len(left) + found} distinct negatives for retrieve_{name}, which "
            f"needs {SETTINGS[name].count - 1}: the other test images do not have enough annotations"
        )
    draws = numbers(key, 1 << 62)
    return [left.pop(next(draws) % len(left)) for _ in range(wanted)]


def _placed(name: str, image: str, answer: str, negatives: list[str]) -> Candidates:
    place = next(numbers(f"{SEED}/place/{name}/{image}", len(negatives) + 1))
    return Candidates(image, (*negatives[:place], answer, *negatives[place:]), place)


def _random_negatives(rows: Sequence[Annotation]) -> _Negatives:
    pool = _distinct(metaphor.statement for row in rows for metaphor in row.metaphors)

    def of(row: Annotation, chosen: Metaphor) -> tuple[str, Sequence[Any], Callable[[Any], str | None]]:
        return f"{SEED}/random/{row.image}", pool, lambda text: text

    return of


def _hard_negatives(dataset: str, rows: Sequence[Annotation], kind: str) -> _Negatives:
    parts = _HARD[kind]
    found: dict[tuple[str, ...], tuple[tuple[str, ...], set[str]]] = {}
    for row in rows:
        if row.topic is None:
            raise DataError(
                f"{annotation_file.where(dataset, row)}: topic is missing, and metaclue_retrieve_{kind} takes "
                f"negatives from images of another topic. Import again with Topics.json of the Pitt Ads."
            )
        for metaphor in row.metaphors:
            values = tuple(getattr(metaphor, part) for part in parts)
            shown, topics = found.setdefault(tuple(map(normal, values)), (values, set()))
            topics.add(row.topic)
            found[tuple(map(normal, values))] = (min(shown, values), topics)
    pools: dict[str, list[tuple[str, ...]]] = {}

    def of(row: Annotation, chosen: Metaphor) -> tuple[str, Sequence[Any], Callable[[Any], str | None]]:
        assert row.topic is not None
        if row.topic not in pools:
            pools[row.topic] = [found[key][0] for key in sorted(found) if found[key][1] - {row.topic}]
        own = {normal(getattr(metaphor, parts[0])) for metaphor in row.metaphors}

        def read(values: tuple[str, ...]) -> str | None:
            if normal(values[0]) in own:
                return None
            words = {"primary": chosen.primary, "relationship": chosen.relationship, "secondary": chosen.secondary}
            return statement(**(words | dict(zip(parts, values, strict=True))))

        return f"{SEED}/{kind}/{row.image}", pools[row.topic], read

    return of


def _swapped(dataset: str, rows: Sequence[Annotation]) -> Iterator[Candidates]:
    left_out = []
    for row in rows:
        usable = _swappable(row)
        if not usable:
            left_out.append(row.image)
            continue
        chosen = positive(row, usable)
        yield _placed("swap", row.image, chosen.statement, [_turned(chosen)])
    if left_out:
        logger.warning(
            f"figlang_tasks: {dataset}/retrieve_swap leaves out {len(left_out)} image(s), e.g. {left_out[0]}: with "
            "swapped concepts all their statements are still ground truths"
        )


def _swappable(row: Annotation) -> list[Metaphor]:
    """The metaphors of an image that are none of its ground truths with their concepts swapped."""
    own = {normal(metaphor.statement) for metaphor in row.metaphors}
    return [metaphor for metaphor in row.metaphors if normal(_turned(metaphor)) not in own]


def _turned(metaphor: Metaphor) -> str:
    return statement(metaphor.secondary, metaphor.relationship, metaphor.primary)


def positive(row: Annotation, among: Sequence[Metaphor] | None = None) -> Metaphor:
    """Return the statement of an image that is the right one, drawn from its own (or from `among`)."""
    # By their words, so that the order of annotators says nothing.
    ordered = sorted(
        row.metaphors if among is None else among, key=lambda each: (normal(each.statement), each.statement)
    )
    return ordered[next(numbers(f"{SEED}/positive/{row.image}", len(ordered)))]


# --- draws -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 14)  # a statement is drawn for many images
def normal(text: str) -> str:
    """Return a text as comparisons take it: lower case, single spaces, no final full stop."""
    return " ".join(text.casefold().split()).rstrip(".").rstrip()


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order of their normal forms; of those with the same one, the first in order."""
    found: dict[str, str] = {}
    for text in texts:
        key = normal(text)
        found[key] = min(text, found.get(key, text))
    return [found[key] for key in sorted(found)]


def numbers(key: str, count: int) -> Iterator[int]:
    """Yield numbers from 0 to count - 1 without end: 64-bit words of SHA-256 of ``{key}/{block}``, modulo `count`."""
    block = 0
    while True:
        words = hashlib.sha256(f"{key}/{block}".encode()).digest()
        for start in range(0, 32, 8):
            yield int.from_bytes(words[start : start + 8], "big") % count
        block += 1


# --- files -----------------------------------------------------------------------------------------------------------


def write(rows: Iterable[Candidates], path: Path) -> None:
    """Write candidates as JSON lines: ``{"image": ..., "answer": place, "candidates": [...]}``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            found = {"image": row.image, "answer": row.answer, "candidates": row.texts}
            file.write(json.dumps(found, ensure_ascii=False) + "\n")
    part.replace(path)


def _checked(
    lines: Iterable[json_lines.Line], faults: list[str], path: Path, name: str, pool: Sequence[Annotation]
) -> tuple[list[Candidates], list[str]]:
    """The candidates of the lines in the order of `pool`, and `faults` with theirs."""
    if name == "swap":
        pool = [row for row in pool if _swappable(row)]
    own = {row.image: {normal(metaphor.statement) for metaphor in row.metaphors} for row in pool}
    found: dict[str, Candidates] = {}
    for where, values, _ in lines:
        try:
            row = _candidates_of(values, SETTINGS[name].count, where)
            if row.image not in own:
                of_swap = " that can be swapped" if name == "swap" else ""
                raise DataError(
                    f"{where}: image {row.image!r} is not a test image with metaphors{of_swap} in "
                    f"{annotation_file.FILE}"
                )
            if row.image in found:
                raise DataError(f"{where}: image {row.image} occurs twice")
            _check_answer(row, own[row.image], where)
        except DataError as error:
            faults.append(str(error))
        else:
            found[row.image] = row
    missing = [image for image in own if image not in found]
    if missing and not faults:  # else those of the lines that were refused
        faults = [f"{path} lacks {len(missing)} image(s), e.g. {missing[0]}. Write it again."]
    return [found[image] for image in own if image in found], faults


def _check_answer(row: Candidates, own: set[str], where: str) -> None:
    for place, text in enumerate(row.texts):
        if (normal(text) in own) != (place == row.answer):
            raise DataError(
                f"{where}: candidates[{place}], {text!r}, is {'no' if place == row.answer else 'a'} ground truth of "
                f"{row.image}, and answer is {row.answer}: the answer alone must be one"
            )


def _candidates_of(found: Mapping[str, Any], count: int, where: str) -> Candidates:
    if set(found) != {"image", "answer", "candidates"}:
        raise DataError(f"{where}: must be an object with image, answer and candidates")
    texts, answer = found["candidates"], found["answer"]
    if not isinstance(found["image"], str):
        raise DataError(f"{where}: image must be the path of a picture")
    if not isinstance(texts, list):
        raise DataError(f"{where}: candidates must be a list")
    for place, text in enumerate(texts):
        if not is_text(text):
            raise DataError(f"{where}: candidates[{place}] must be {TEXT}")
    if len(texts) != count or len({normal(text) for text in texts}) != count:
        raise DataError(f"{where}: {len({normal(text) for text in texts})} different candidates, must be {count}")
    if isinstance(answer, bool) or not isinstance(answer, int) or not 0 <= answer < count:
        raise DataError(f"{where}: answer is {answer!r}, must be a place from 0 to {count - 1}")
    return Candidates(found["image"], tuple(texts), answer)


def main(argv: Sequence[str] | None = None) -> int:
    """``python -m figlang_tasks.benchmarks.metaclue.candidates FOLDER``: draw all settings and write them there."""
    parser = argparse.ArgumentParser(prog="python -m figlang_tasks.benchmarks.metaclue.candidates", description=__doc__)
    parser.add_argument("folder", type=Path, help="output folder; the tasks read $FIGLANG_DATA_DIR/MetaCLUE/candidates")
    parser.add_argument("--dataset", default="MetaCLUE", choices=["MetaCLUE", "figlang_mini_metaclue"])
    parser.add_argument("--setting", action="append", choices=[*SETTINGS], help="only this setting; may be repeated")
    args = parser.parse_args(argv)
    faults: dict[str, None] = {}  # each said once, in order
    for name in args.setting or SETTINGS:
        try:
            rows = draw(args.dataset, name)
            write(rows, args.folder / f"{name}.jsonl")
        except (DataError, OSError) as error:  # other settings need less: of topics, or of images
            faults[f"figlang_tasks: {error}"] = None
            continue
        print(printable(f"{args.folder / name}.jsonl: {len(rows)} images, seed {SEED}, {digest(rows)}"))
    for fault in faults:
        print(printable(fault), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
