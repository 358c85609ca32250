"""Finds out which picture of the authors' repository each row is, and so its kind and its pair.

The rows of the hub have no names. A row is the picture of which people said the same
(`Fingerprint`), if that is one picture alone. No name reaches a model: its letter gives away the
answer in 90 % of the rows.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from loguru import logger

from figlang_tasks.benchmarks.humordb.records import Kind
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, USE_THE_RELEASE, Source, local_folder
from figlang_tasks.core.row_files import brief, content_of

LABELS = Source(name="HumorDB_labels")
"""The authors' files, in a folder of this name. They are no dataset that tasks could ask for."""

_CARD = "docs/cards/humordb.md"


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
    """The authors' files.

    Attributes:
        fingerprints: by the name of a picture, of all splits.
        partners: the other picture of the pair by the name of each.
    """

    fingerprints: Mapping[str, Fingerprint]
    partners: Mapping[str, str]


def find_pictures(fingerprints: Sequence[Fingerprint], location: str) -> list[Picture]:
    """Kind and pair of each row of a split, as far as the authors' files tell them.

    A pair has a funny picture and one that is not. A message says once what is not known.

    Args:
        fingerprints: those of all rows of the split.
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
    names = find_names(fingerprints, release)
    fingerprint_by_name = dict(zip(names, fingerprints, strict=True))
    pictures: list[Picture] = []
    for name, fingerprint in zip(names, fingerprints, strict=True):
        if name is None:
            pictures.append(Picture())
            continue
        partner = fingerprint_by_name.get(release.partners.get(name, ""))
        pair = ""
        if partner is not None and partner.is_funny != fingerprint.is_funny:
            pair = "+".join(sorted((name, release.partners[name])))
        pictures.append(Picture(kind_of(name), pair))
    _say_what_is_not_known(names, fingerprints, release, location)
    return pictures


def kind_of(name: str) -> Kind:
    """The kind of a picture by its name: M and FM are edited, O and F originals."""
    return "edited" if name.lstrip("F").startswith("M") else "original"


# --- names ---


def find_names(fingerprints: Sequence[Fingerprint], release: Release) -> list[str | None]:
    """The name of each row of a split; None where several pictures could be the row.

    If pictures of other splits have the fingerprint too, the pairs decide: both pictures of a pair
    are always in one split.
    """
    candidates_by_fingerprint: dict[Fingerprint, list[str]] = defaultdict(list)
    for name, fingerprint in release.fingerprints.items():
        candidates_by_fingerprint[fingerprint].append(name)
    row_counts = Counter(fingerprints)

    def is_in_split(name: str) -> bool | None:
        """Whether a picture is in the split, as far as its partner tells; None if it does not."""
        partner = release.fingerprints.get(release.partners.get(name, ""))
        if partner is None:
            return None
        if partner not in row_counts:
            return False
        return True if len(candidates_by_fingerprint[partner]) == 1 else None

    names: list[str | None] = []
    for fingerprint in fingerprints:
        candidates = candidates_by_fingerprint.get(fingerprint, [])
        sure = [name for name in candidates if is_in_split(name)]
        possible = [name for name in candidates if is_in_split(name) is not False]
        if len(candidates) > 1:
            candidates = sure if len(sure) == 1 else possible
        is_one = len(candidates) == 1 and row_counts[fingerprint] == 1
        names.append(candidates[0] if is_one else None)
    return names


def _say_what_is_not_known(
    names: Sequence[str | None],
    fingerprints: Sequence[Fingerprint],
    release: Release,
    location: str,
) -> None:
    """Log which rows have no name, and which pairs they may belong to."""
    rows_without_name = [str(row) for row, name in enumerate(names) if name is None]
    if not rows_without_name:
        return
    unnamed = {
        fingerprint for name, fingerprint in zip(names, fingerprints, strict=True) if name is None
    }
    pairs: list[str] = []
    for name in filter(None, names):
        partner = release.partners.get(name, "")
        if partner not in names and release.fingerprints.get(partner) in unnamed:
            pairs.append(f"{name} and {partner}")
    logger.warning(
        f"figlang_tasks: {location}: {len(rows_without_name)} of {len(names)} rows cannot be told"
        f" apart by what people said of them, and count in no scope of pictures (rows"
        f" {', '.join(rows_without_name)}); {len(pairs)} pair(s) are left out with them:"
        f" {', '.join(sorted(pairs))}"
    )


# --- the authors' files ---


def read_release(folder: Path) -> Release:
    """The fingerprints and pairs in the authors' files.

    Raises:
        DataError: a file is missing or damaged.
    """
    ratings = read_means(folder / "range_ratings_mean.txt")
    funny_shares = read_means(folder / "binary_ratings_mean.txt")
    words = read_words(folder / "image_common_words.txt")
    labels = read_json(folder / "labels_dict.json")  # its keys are "O1204.jpg_M319.jpg"
    fingerprints: dict[str, Fingerprint] = {}
    for name in dict.fromkeys(key.partition("_")[0] for key in labels):
        try:
            comparisons = [int(labels[f"{name}_{anchor}"]) for anchor in ANCHORS]
            is_funny = funny_shares[name] >= 0.5
            rating = ratings[name]
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"{folder}: the files do not have all ratings of {brief(name)} ({error!r})."
                f" {USE_THE_RELEASE}"
            ) from error
        common_words = [words.get(name, "")]
        fingerprints[name] = Fingerprint.of(is_funny, rating, comparisons, common_words)
    return Release(fingerprints, read_partners(folder))


def read_partners(folder: Path) -> dict[str, str]:
    """The other picture of the pair of each picture that has one, from ``mod2org.json``."""
    partners: dict[str, str] = {}
    for edited, original in read_json(folder / "mod2org.json").items():
        partners[edited] = original
        partners[original] = edited
    return partners


def read_means(path: Path) -> dict[str, float]:
    """The means in a file with lines such as ``O1204.jpg,0.6``, by picture."""
    means: dict[str, float] = {}
    for number, line in enumerate(_lines(path), start=1):
        name, _, mean = line.rpartition(",")
        try:
            means[name] = float(mean)
        except ValueError as error:
            raise DataError(
                f"{path}, line {number} is {brief(line)}, must be NAME,MEAN. {USE_THE_RELEASE}"
            ) from error
    return means


def read_words(path: Path) -> dict[str, str]:
    """The words in a file with lines such as ``O1360.jpg, lamp dog``, by picture."""
    return {name: words for name, _, words in (line.partition(",") for line in _lines(path))}


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file of the authors; a `DataError` if there is none."""
    try:
        content = json.loads(content_of(path))
    except ValueError as error:
        raise DataError(f"{path} is not valid JSON ({error}). {USE_THE_RELEASE}") from error
    if not isinstance(content, dict):
        raise DataError(f"{path} is {brief(content)}, must be an object. {USE_THE_RELEASE}")
    return content


def _lines(path: Path) -> list[str]:
    """The lines of a text file that are not empty."""
    try:
        text = content_of(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 ({error}). {USE_THE_RELEASE}") from error
    return [line for line in text.splitlines() if line.strip()]
