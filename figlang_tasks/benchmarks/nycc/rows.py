"""The rows of the New Yorker Caption Contest as documents, from the 30 configurations on the hub.

The folder of a configuration (`configurations`) has one or more Parquet files for each split. A
task asks for all five folds (``fold=all``) or for one of them (``fold=3``).
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.benchmarks.nycc.configurations import (
    ALL,
    DESCRIPTION,
    Configuration,
    fold_names,
    parse_name,
)
from figlang_tasks.benchmarks.nycc.counts import SEEN, TEST, count_of
from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId, digest_of_rows
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.prompting import render
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

    from figlang_tasks.scoring.task import Document

OPTIONS = {"matching": "ABCDE", "ranking": "AB", "explanation": ""}
"""The letters of the captions that a task offers; "" for explanation, which offers no choice."""


# --- test rows ---


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The rows for a request such as ``NYCC,config=matching,fold=all`` (see `load`)."""
    return load(request.dataset, request["config"], request["fold"], check_images)


@hub.cached(maxsize=8)
def load(dataset: str, name: str, fold: str = ALL, check_images: bool = True) -> datasets.Dataset:
    """The test rows of one fold, or of all folds one after the other, as documents.

    Beside what `_document` makes of a row they have:

    - ``dataset``, ``config``, ``fold``, ``revision``: where the row is from.
    - ``data``: what identifies the texts of all rows (`DataId`).

    Args:
        dataset: ``NYCC``.
        name: a configuration without a fold.
        fold: 0 to 4, or `ALL`.
        check_images: whether to decode every picture, which finds damaged ones.

    Raises:
        PartMissing: a split is missing.
        DataError: there is no such configuration, or rows have faults.
    """
    import datasets

    names = fold_names({"config": name, "fold": fold})
    folds = [_load_fold(dataset, fold_name, check_images) for fold_name in names]
    if len(folds) == 1:
        return folds[0]

    # Each fold has a `DataId` of its own; the rows of all folds get a common one in its place.
    data_ids = [DataId.parse(fold_rows[0]["data"]) for fold_rows in folds]
    digests = "\n".join(data_id.digest for data_id in data_ids)
    digest = hashlib.sha256(digests.encode()).hexdigest()[:12]
    data = str(replace(data_ids[0], part=f"{name}_{ALL}", digest=digest))
    all_rows = datasets.concatenate_datasets(
        [fold_rows.remove_columns("data") for fold_rows in folds]
    )
    return all_rows.add_column("data", [data] * len(all_rows))


def _load_fold(dataset: str, name: str, check_images: bool) -> datasets.Dataset:
    """The test rows of a configuration, which is one fold, as documents.

    Args:
        dataset: ``NYCC``.
        name: the configuration: ``matching_3``.
        check_images: whether to decode every picture, which finds damaged ones.

    Raises:
        PartMissing: the test split is missing.
        DataError: rows have faults, or are not as many as published.
    """
    import datasets

    configuration = parse_name(name)
    table, revision = _read_split(dataset, name, "test")

    def make_document(row: Mapping[str, Any], location: str) -> dict[str, object]:
        """The document of a row; raises a `DataError` if texts or picture have a fault."""
        document = _document(row, location, configuration)
        if check_images:
            images.check(row["image"], location)
        return document

    def unique_key(document: Mapping[str, object]) -> str:
        """The id of a row, which must be unique, as messages name it."""
        return f"instance_id {document['id']}"

    located_rows = ((f"{dataset}/{name}, test row {index}", row) for index, row in enumerate(table))
    row_documents, faults = row_files.validate_rows(located_rows, make_document, unique_key)
    faults = [*faults, *_row_count_faults(dataset, name, len(table))]
    row_files.raise_first_fault(faults, "nycc")

    origin = {
        "dataset": dataset,
        "config": name,
        "fold": configuration.fold,
        "revision": revision,
        "data": str(DataId(dataset, name, digest_of_rows(row_documents), revision)),
    }
    documents = datasets.Dataset.from_list([{**origin, **document} for document in row_documents])
    return documents.cast_column("image", datasets.Image(decode=False))


def _row_count_faults(dataset: str, name: str, row_count: int) -> list[str]:
    """The fault of a wrong number of test rows, alone in a list; an empty list if there is none.

    If the right number is only inferred (not in `SEEN`), a warning is logged and there is no fault.

    Args:
        dataset: ``NYCC``.
        name: a configuration.
        row_count: how many test rows it has.
    """
    expected = count_of(name)
    if row_count == expected:
        return []
    if name in SEEN:
        return [
            f"{dataset}/{name} has {row_count} test rows, the published one has {expected}."
            f" {hub.USE_THE_RELEASE}"
        ]
    logger.warning(
        f"figlang_tasks: {dataset}/{name} has {row_count} test rows, where {expected} were"
        " expected. The hub's pages do not show this number: it was inferred from other folds and"
        " may be wrong (docs/cards/nycc.md)"
    )
    return []


@hub.cached(maxsize=8)
def _read_split(dataset: str, name: str, split: str) -> tuple[datasets.Dataset, str]:
    """The rows of a split, their pictures undecoded, and the revision that was read.

    Raises:
        PartMissing: the split is missing.
        DataError: its files are damaged, or lack a column.
    """
    snapshot = hub.snapshot(source_of(dataset), [f"{name}/{split}-*.parquet"])
    location = f"{dataset}/{name}: split {split!r} in {snapshot.folder}"
    files = parquet_files.split_files(dataset, split, snapshot.folder / name)
    if not files:
        raise PartMissing(
            f"{location}: there is no file {name}/{split}-*.parquet. {hub.USE_THE_RELEASE}"
        )
    table = parquet_files.read_parquet(files, parse_name(name).columns, location)
    return images.undecoded(table, location), snapshot.revision


# --- a row as a document ---


def _document(
    row: Mapping[str, Any], location: str, configuration: Configuration
) -> dict[str, object]:
    """A row of the release as a document; raises a `DataError` with the first fault.

    Its columns:

    - ``id``, ``image``, ``label``: as released; the label is a letter or the explanation.
    - ``captions``: the options; for explanation the caption alone.
    - ``family``: the contest. Rows of one contest depend on each other.
    - ``candidates``: the captions as the paper gives them to CLIP; for matching and ranking.
    - ``claim``, ``explanation``, ``report_group``: for explanation, what its scoring needs.
    - ``winner_source``: for ranking, who chose the better caption.
    - ``location``, ``description``, ``uncanny_description``, ``entities``: what describes the
      cartoon, unless the model sees it.

    Args:
        row: the row.
        location: configuration, split and number of the row, for messages.
        configuration: the configuration that it is of.
    """
    row_id = row_files.text(row, "instance_id", location)
    label = row_files.text(row, "label", location)
    location = f"{location} ({row_id})"
    letters = OPTIONS[configuration.task]
    captions = _captions(row["caption_choices"], letters, location)
    if letters and label not in tuple(letters):  # a tuple: "AB" is in the text "ABCDE"
        raise DataError(
            f"{location}: label is {row_files.brief(label)}, must be one of {', '.join(letters)}"
        )

    document: dict[str, object] = {
        "id": row_id,
        "image": row["image"],
        "captions": captions,
        "label": label,
        "family": f"contest {row['contest_number']}",
    }
    if letters:
        candidates = [render("nycc/clip.jinja", caption=caption) for caption in captions]
        document["candidates"] = candidates
    else:
        document["claim"] = captions[0]
        document["explanation"] = label
        document["report_group"] = "nycc"
    if configuration.task == "ranking":
        document["winner_source"] = row_files.text(row, "winner_source", location)
    if not configuration.from_pixels:
        for name, column in DESCRIPTION.items():
            row_files.text(row, column, location, optional=True)  # raises an error for a fault
            document[name] = row[column] or ""  # with its white space, as released
        document["entities"] = _entities(row["entities"], location)
    return document


def _captions(caption_choices: Any, letters: str, location: str) -> list[str]:
    """The captions of a row, one for each letter, or the only one without letters.

    Args:
        caption_choices: the cell of the release.
        letters: those of the task (`OPTIONS`); "" for explanation, whose row has one caption.
        location: of the row, for messages.

    Raises:
        DataError: they are not so many texts, or hold a placeholder of a picture.
    """
    # The release has a list for matching and ranking, and a text for explanation.
    captions: list[str] = caption_choices if letters else [caption_choices]
    is_complete = isinstance(captions, list) and len(captions) == max(1, len(letters))
    if not is_complete or not all(_is_filled_text(caption) for caption in captions):
        expected = f"{len(letters)} texts" if letters else "a text"
        raise DataError(
            f"{location}: caption_choices is {row_files.brief(caption_choices)}, must be {expected}"
        )
    for caption in captions:
        row_files.require_no_placeholder(caption, "caption_choices", location)
    return captions


def _is_filled_text(caption: object) -> bool:
    """Whether a caption is a text with more than white space."""
    return isinstance(caption, str) and caption.strip() != ""


def _entities(links: object, location: str) -> list[str]:
    """The names of the entities in a cartoon, from links to their pages of Wikipedia.

    Raises:
        DataError: these are no such links, or a name holds a placeholder of a picture.
    """
    if not isinstance(links, list) or not all(isinstance(link, str) for link in links):
        raise DataError(
            f"{location}: entities is {row_files.brief(links)}, must be a list of links."
            f" {hub.USE_THE_RELEASE}"
        )
    names = [entity(link, location) for link in links]
    for name in names:
        row_files.require_no_placeholder(name, "entities", location)
    return names


def entity(url: str, location: str) -> str:
    """The name in a link to a page of Wikipedia, cleaned exactly as the released script does.

    It is ``Santa' workshop`` for ``https://en.wikipedia.org/wiki/Santa%27s_workshop#History``: the
    script drops the s.

    Raises:
        DataError: the link is to no page of Wikipedia.
    """
    # Two forms are read: https://en.wikipedia.org/?title=Name&redirect=no and .../wiki/Name.
    page = url.split("#")[0].replace("&redirect=no", "")
    page = page.replace("https://en.wikipedia.org/?title=", "/wiki/")
    if "/wiki/" not in page:
        raise DataError(
            f"{location}: entities holds {url!r}, which is no page of Wikipedia."
            f" {hub.USE_THE_RELEASE}"
        )
    name = page.split("/wiki/")[1].replace("%27s", "'")
    name = name.replace("(disambiguation)", "").replace("_", " ")
    return " ".join(name.split())


# --- training rows, of which exemplars are drawn ---


def exemplars(dataset: str, name: str, row_id: str, shots: int, seed: int) -> list[Document]:
    """Training rows to show before the question of a row, one of each of `shots` contests.

    The released script draws them for each row, too. The draw depends on the seed and the row's id,
    not on the order of rows.

    Args:
        dataset: ``NYCC``.
        name: the configuration of the row.
        row_id: the id of the row.
        shots: how many exemplars.
        seed: the seed of the draw.

    Raises:
        PartMissing: the training rows are missing.
        DataError: they are of too few contests, or a drawn row has a fault.
    """
    table, _ = _read_split(dataset, name, "train")
    indices_by_contest = _indices_by_contest(dataset, name)
    if shots > len(indices_by_contest):
        raise DataError(
            f"{dataset}/{name}: {shots} exemplars asked for; there are {len(indices_by_contest)}"
            " train contests"
        )
    generator = random.Random(f"{seed}/{row_id}")
    row_indices: list[int] = []
    for contest in generator.sample(sorted(indices_by_contest), shots):
        row_indices.append(generator.choice(indices_by_contest[contest]))

    configuration = parse_name(name)
    drawn_rows: list[Document] = []
    for row_index in row_indices:
        location = f"{dataset}/{name}, train row {row_index}"
        drawn_rows.append(_document(table[row_index], location, configuration))
    return drawn_rows


def check_exemplars(dataset: str, name: str) -> None:
    """Check the training rows of a configuration, any of which may become an exemplar.

    Pictures are not opened.

    Raises:
        PartMissing: the training rows are missing.
        DataError: rows have faults; its `faults` has them all.
    """
    table, _ = _read_split(dataset, name, "train")
    rows = table.remove_columns("image")
    configuration = parse_name(name)

    def make_document(row: Mapping[str, Any], location: str) -> dict[str, object]:
        """The document of a row without its picture; raises a `DataError` for a fault."""
        return _document({**row, "image": None}, location, configuration)

    located_rows = ((f"{dataset}/{name}, train row {index}", row) for index, row in enumerate(rows))
    _, faults = row_files.validate_rows(located_rows, make_document)
    row_files.raise_first_fault(faults, "nycc")


def training_faults(dataset: str) -> Iterator[DataError]:
    """Yield the faults of the training rows of all 30 configurations; missing ones are no fault."""
    fold_suffixes = ("", "_1", "_2", "_3", "_4")  # matching, matching_1 ...
    for task, pixels, fold in itertools.product(TEST, ("", "_from_pixels"), fold_suffixes):
        try:
            check_exemplars(dataset, f"{task}{pixels}{fold}")
        except PartMissing:  # Only tasks with exemplars need these rows.
            continue
        except DataError as error:
            # An error about a whole file has no list of faults.
            for fault in error.faults or [str(error)]:
                yield DataError(fault)


@hub.cached(maxsize=8)
def _indices_by_contest(dataset: str, name: str) -> dict[int, list[int]]:
    """The indices of the training rows of each contest, by the number of the contest."""
    table, _ = _read_split(dataset, name, "train")
    indices_by_contest: dict[int, list[int]] = {}
    for row_index, contest in enumerate(table["contest_number"]):
        indices_by_contest.setdefault(contest, []).append(row_index)
    return indices_by_contest
