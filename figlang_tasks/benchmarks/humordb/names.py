"""Finds out which picture of the authors' repository each row is, and so its kind and its pair.

The rows of the hub have no names. A row is the picture of its split of which people said the same
(`Fingerprint`), if that is one picture alone. No name reaches a model: its letter gives away the
answer in 90 % of the rows.
"""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from loguru import logger

from figlang_tasks.benchmarks.humordb.benchmark import BENCHMARK
from figlang_tasks.benchmarks.humordb.records import Kind
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, USE_THE_RELEASE, Source, local_folder
from figlang_tasks.core.row_files import brief, content_of

LABELS = Source(name="HumorDB_labels")
"""The authors' repository, in a folder of this name. It is no dataset that tasks could ask for."""

_CARD = "docs/cards/humordb.md"

_Parsed = TypeVar("_Parsed")


class Anchor(NamedTuple):
    """What tells the row of an anchor.

    Attributes:
        split: where it is.
        rating: its mean rating.
        comparisons: its labels against the anchors, in the order of `ANCHORS`.
    """

    split: str
    rating: float
    comparisons: tuple[int, ...]


ANCHORS: Final = {
    "M319.jpg": Anchor("train", 16 / 3, (0, -1, 0, -1, -1, -1, -1, -1)),
    "M37.jpg": Anchor("test", 5.7, (1, 0, -1, -1, 1, 0, -1, -1)),
    "O1058.jpg": Anchor("train", 35 / 6, (0, 1, 0, -1, -1, -1, -1, -1)),
    "M637.jpg": Anchor("test", 5.1, (1, 1, 1, 0, -1, -1, -1, 0)),
    "O1709.jpg": Anchor("train", 1.0, (1, -1, 1, 1, 0, -1, -1, -1)),
    "O1360.jpg": Anchor("train", 7.6, (1, 0, 1, 1, 1, 0, -1, -1)),
    "O1748.jpg": Anchor("train", 20 / 3, (1, 1, 1, 1, 1, 1, 0, 0)),
    "O8.jpg": Anchor("train", 19 / 3, (1, 1, 1, 0, 1, 1, 0, 0)),
}
"""The pictures that all others were compared with, by the names of the release's columns.

No other picture has the mean rating and the labels of one of them (kreimanlab/HumorDB d08268a,
``range_ratings_mean.txt`` and ``labels_dict.json``).
"""


class Fingerprint(NamedTuple):
    """What people said of a picture.

    Attributes:
        is_funny: whether most found it funny.
        rating: their mean rating, 1 to 10, rounded so that equal means are equal.
        comparisons: in the order of `ANCHORS`, 1 if it is funnier, -1 if the anchor is, 0 for a
            draw.
        words: what makes it funny, in alphabetical order.
    """

    is_funny: bool
    rating: float
    comparisons: tuple[int, ...]
    words: tuple[str, ...]

    @classmethod
    def of(
        cls, is_funny: bool, rating: float, comparisons: Iterable[int], words: Iterable[str]
    ) -> Fingerprint:
        """The fingerprint of a picture, in the form in which fingerprints are compared."""
        single_words = sorted(" ".join(words).split())
        return cls(is_funny, round(rating, 9), tuple(comparisons), tuple(single_words))


class Picture(NamedTuple):
    """What is known of a row: its kind, and its pair (`records.PictureFields`)."""

    kind: Kind = ""
    pair: str = ""


class Release(NamedTuple):
    """The authors' repository.

    Attributes:
        splits: the split of each picture by its name.
        fingerprints: by the name of a picture, of all splits.
        partners: the other picture of the pair by the name of each.
    """

    splits: Mapping[str, str]
    fingerprints: Mapping[str, Fingerprint]
    partners: Mapping[str, str]

    def pair_of(self, name: str) -> str:
        """The names of a picture and its partner; "" if there is none, or if both are funny or not.

        Both pictures of a pair are in one split.
        """
        partner = self.partners.get(name, "")
        if self.splits.get(partner) != self.splits[name]:
            return ""
        is_funny = self.fingerprints[name].is_funny
        if self.fingerprints[partner].is_funny == is_funny:
            return ""
        return "+".join(sorted((name, partner)))

    def names_in(self, split: str) -> list[str]:
        """The names of the pictures in a split."""
        return [name for name, split_of_name in self.splits.items() if split_of_name == split]


def find_pictures(fingerprints: Sequence[Fingerprint], split: str, location: str) -> list[Picture]:
    """Kind and pair of each row of a split, as far as the authors' files tell them.

    A pair has a funny picture and one that is not. A message says once what is not known.

    Args:
        fingerprints: those of all rows of the split.
        split: its name.
        location: dataset and split, for messages.

    Raises:
        DataError: a file of the authors is missing or damaged.
    """
    folder = local_folder(LABELS)
    if folder is None:
        logger.warning(
            f"figlang_tasks: {location}: without the authors' files in"
            f" ${DATA_DIR_VARIABLE}/{LABELS.name} there are no values for pairs, originals and"
            f" edited pictures ({_CARD})"
        )
        return [Picture()] * len(fingerprints)
    release = read_release(folder)
    names = find_names(fingerprints, release, split)
    whole_pairs = Counter(release.pair_of(name) for name in names if name is not None)
    pictures: list[Picture] = []
    for name in names:
        if name is None:
            pictures.append(Picture())
            continue
        pair = release.pair_of(name)
        pictures.append(Picture(kind_of(name), pair if whole_pairs[pair] == 2 else ""))

    rows_without_name = [str(row) for row, name in enumerate(names) if name is None]
    pairs = {release.pair_of(name) for name in release.names_in(split)} - {""}
    pairs_left_out = sorted(pairs - {picture.pair for picture in pictures})
    if rows_without_name:
        logger.warning(
            f"figlang_tasks: {location}: {len(rows_without_name)} of {len(names)} rows cannot be"
            " told apart by what people said of them, and count in no scope of pictures (rows"
            f" {', '.join(rows_without_name)}); {len(pairs_left_out)} pair(s) are left out with"
            f" them: {', '.join(pairs_left_out)}"
        )
    return pictures


def find_names(
    fingerprints: Sequence[Fingerprint], release: Release, split: str
) -> list[str | None]:
    """The name of each row of a split; None where several pictures could be the row, or no one."""
    names_by_fingerprint: dict[Fingerprint, list[str]] = defaultdict(list)
    for name in release.names_in(split):
        names_by_fingerprint[release.fingerprints[name]].append(name)
    row_counts = Counter(fingerprints)
    names: list[str | None] = []
    for fingerprint in fingerprints:
        candidates = names_by_fingerprint.get(fingerprint, [])
        is_one = len(candidates) == 1 and row_counts[fingerprint] == 1
        names.append(candidates[0] if is_one else None)
    return names


def kind_of(name: str) -> Kind:
    """The kind of a picture by its name: M and FM are edited, O and F originals."""
    return "edited" if name.lstrip("F").startswith("M") else "original"


# --- the authors' repository ---


def read_release(folder: Path) -> Release:
    """The splits, fingerprints and pairs in the authors' files.

    Raises:
        DataError: a file is missing or damaged.
    """
    means = read_means(folder)
    words = _read(folder / "image_common_words.txt", _values_by_name)
    partners = _read(folder / "mod2org.json", _partners)
    labels = read_labels(folder)
    splits = _read_splits(folder, [key.partition("_")[0] for key in labels])
    fingerprints: dict[str, Fingerprint] = {}
    for name in splits:
        try:
            comparisons = [labels[f"{name}_{anchor}"] for anchor in ANCHORS]
            is_funny = means["binary"][name] >= 0.5
            rating = means["range"][name]
        except KeyError as error:
            raise DataError(
                f"{folder}: the files do not have all ratings of {brief(name)} ({error!r})."
                f" {USE_THE_RELEASE}"
            ) from error
        common_words = [words.get(name, "")]
        fingerprints[name] = Fingerprint.of(is_funny, rating, comparisons, common_words)
    return Release(splits, fingerprints, partners)


def read_means(folder: Path) -> dict[str, dict[str, float]]:
    """The released means of people's answers by task, ``binary`` and ``range``, and by picture."""
    means: dict[str, dict[str, float]] = {}
    for task in ("binary", "range"):
        means[task] = _read(folder / f"{task}_ratings_mean.txt", _means)
    return means


def read_labels(folder: Path) -> dict[str, int]:
    """The released comparison labels by the names of both pictures: ``O1204.jpg_M319.jpg``."""
    return _read(folder / "labels_dict.json", _labels)


def _read_splits(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The split of each picture: from ``index.csv``, or else from the rows for fine-tuning.

    The repository has rows for fine-tuning of two splits; the third is the rest.
    """
    if (folder / "index.csv").is_file():
        splits = _read(folder / "index.csv", _splits_of_index)
    else:
        splits = dict.fromkeys(names, "validation")
        for split in ("train", "test"):
            for name in _read(folder / "LlaVA_files" / f"{split}_data.json", _names_of_rows):
                if name in splits:
                    splits[name] = split
    counts = dict(Counter(splits.values()))
    published_counts = BENCHMARK.source.splits
    if counts != published_counts:
        raise DataError(
            f"{folder}: the files have these numbers of pictures: {counts}; must be"
            f" {published_counts}. {USE_THE_RELEASE}"
        )
    return splits


def _read(path: Path, parse: Callable[[str], _Parsed]) -> _Parsed:
    """What `parse` makes of a file of the authors; a `DataError` if it cannot be parsed."""
    try:
        return parse(content_of(path).decode("utf-8"))
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise DataError(
            f"{path} is not as it was released ({type(error).__name__}: {brief(str(error))})."
            f" {USE_THE_RELEASE}"
        ) from error


def _values_by_name(text: str) -> dict[str, str]:
    """What follows the first comma of each line: in ``O1360.jpg, lamp dog`` the words."""
    lines = [line.partition(",") for line in text.splitlines() if line.strip()]
    return {name: value for name, _, value in lines}


def _means(text: str) -> dict[str, float]:
    """The means in lines such as ``O1204.jpg,0.6``."""
    return {name: float(mean) for name, mean in _values_by_name(text).items()}


def _labels(text: str) -> dict[str, int]:
    """The labels in a JSON object."""
    return {key: int(label) for key, label in json.loads(text).items()}


def _partners(text: str) -> dict[str, str]:
    """Both directions of a JSON object of edited pictures and their originals."""
    originals = json.loads(text)
    return {**originals, **{original: edited for edited, original in originals.items()}}


def _splits_of_index(text: str) -> dict[str, str]:
    """The splits in a CSV table."""
    return {row["image"]: row["split"] for row in csv.DictReader(text.splitlines())}


def _names_of_rows(text: str) -> list[str]:
    """The names of pictures in rows for fine-tuning, whose ids are names without their ending."""
    return [f"{row['id']}.jpg" for row in json.loads(text)]
