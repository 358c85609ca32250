"""The 30 configurations of the release as documents.

The name of a configuration is ``matching``, ``ranking`` or ``explanation``, then ``_from_pixels``
where the description is left out, then ``_1`` to ``_4`` for the other folds. Its folder has one or
more Parquet files for each split. A task asks for all five folds (``fold=all``) or for one of them
(``fold=3``).
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.benchmarks.nycc.configurations import ALL, DESCRIPTION, Config, config, configs
from figlang_tasks.benchmarks.nycc.counts import SEEN, TEST, count_of
from figlang_tasks.core import hub, images, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId, digest_of_rows
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.prompting import render
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

OPTIONS = {"matching": "ABCDE", "ranking": "AB", "explanation": ""}


@hub.cached(maxsize=8)
def load(dataset: str, name: str, fold: str = ALL, check_images: bool = True) -> datasets.Dataset:
    """The test rows of one fold, or of all, as documents.

    `family` is the contest, whose captions are not independent; `candidates` are as the paper gives
    them to CLIP; `label` is a letter, or the reference explanation.
    """
    import datasets

    folds = [_fold(dataset, each, check_images) for each in configs({"config": name, "fold": fold})]
    if len(folds) == 1:
        return folds[0]
    known = [DataId.parse(each[0]["data"]) for each in folds]
    digest = hashlib.sha256("\n".join(each.digest for each in known).encode()).hexdigest()[:12]
    data = str(replace(known[0], part=f"{name}_{ALL}", digest=digest))
    found = datasets.concatenate_datasets([each.remove_columns("data") for each in folds])
    return found.add_column("data", [data] * len(found))


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``NYCC,config=matching,fold=all``; errors as of `load`."""
    return load(request.dataset, request["config"], request["fold"], check_images)


def _fold(dataset: str, name: str, check_images: bool) -> datasets.Dataset:
    import datasets

    of = config(name)
    table, revision = _table(dataset, name, "test")

    def document(row: Mapping[str, Any], where: str) -> dict[str, Any]:
        made = _document(row, where, of)
        if check_images:
            images.check(row["image"], where)
        return made

    places = ((f"{dataset}/{name}, test row {number}", row) for number, row in enumerate(table))
    found, faults = row_files.validate_rows(
        places, document, lambda made: f"instance_id {made['id']}"
    )
    row_files.raise_first_fault([*faults, *_other_number(dataset, name, len(table))], "nycc")
    common: dict[str, Any] = {
        "dataset": dataset,
        "config": name,
        "fold": of.fold,
        "revision": revision,
    }
    common["data"] = str(DataId(dataset, name, digest_of_rows(found), revision))
    documents = datasets.Dataset.from_list([common | made for made in found])
    return documents.cast_column("image", datasets.Image(decode=False))


def _other_number(dataset: str, name: str, rows: int) -> list[str]:
    """Faults of the number of test rows; warns if it differs from one that was only inferred."""
    expected = count_of(name)
    if rows != expected and name in SEEN:
        return [
            f"{dataset}/{name} has {rows} test rows, the published one has {expected}."
            f" {hub.USE_THE_RELEASE}"
        ]
    if rows != expected:
        logger.warning(
            f"figlang_tasks: {dataset}/{name} has {rows} test rows, where {expected} were expected."
            " The hub's pages do not show this number: it was inferred from other folds and may be"
            " wrong (docs/cards/nycc.md)"
        )
    return []


@hub.cached(maxsize=8)
def _table(dataset: str, name: str, split: str) -> tuple[datasets.Dataset, str]:
    """The rows of a split, pictures undecoded, and the revision that was read; a `DataError` if
    they are not there.
    """
    columns = list(config(name).columns)
    found = hub.snapshot(source_of(dataset), [f"{name}/{split}-*.parquet"])
    where = f"{dataset}/{name}: split {split!r} in {found.folder}"
    files = parquet_files.split_files(dataset, split, found.folder / name)
    if not files:
        raise PartMissing(
            f"{where}: there is no file {name}/{split}-*.parquet. {hub.USE_THE_RELEASE}"
        )
    table = parquet_files.read_parquet(files, columns, where)
    return images.undecoded(table, where), found.revision


def _document(row: Mapping[str, Any], where: str, of: Config) -> dict[str, Any]:
    """A row of the release as a document; a `DataError` if it is not valid."""
    row_id, label = (row_files.text(row, column, where) for column in ("instance_id", "label"))
    where, letters, choices = f"{where} ({row_id})", OPTIONS[of.task], row["caption_choices"]
    captions = choices if letters else [choices]
    whole = isinstance(captions, list) and all(
        isinstance(caption, str) and caption.strip() for caption in captions
    )
    if not whole or len(captions) != max(1, len(letters)):
        wanted = f"{len(letters)} texts" if letters else "a text"
        raise DataError(f"{where}: caption_choices is {row_files.brief(choices)}, must be {wanted}")
    for caption in captions:
        row_files.require_no_placeholder(caption, "caption_choices", where)
    if letters and label not in tuple(letters):
        raise DataError(
            f"{where}: label is {row_files.brief(label)}, must be one of {', '.join(letters)}"
        )
    made: dict[str, Any] = {
        "id": row_id,
        "image": row["image"],
        "captions": captions,
        "label": label,
    }
    made["family"] = f"contest {row['contest_number']}"
    if letters:
        made["candidates"] = [render("nycc/clip.jinja", caption=caption) for caption in captions]
    else:
        made |= {"claim": choices, "explanation": label, "report_group": "nycc"}
    if of.task == "ranking":
        made["winner_source"] = row_files.text(row, "winner_source", where)
    if not of.pixels:
        for name, column in DESCRIPTION.items():
            row_files.text(row, column, where, optional=True)
            made[name] = row[column] or ""  # with its white space, as released
        if not isinstance(row["entities"], list) or not all(
            isinstance(url, str) for url in row["entities"]
        ):
            found = row_files.brief(row["entities"])
            raise DataError(
                f"{where}: entities is {found}, must be a list of links. {hub.USE_THE_RELEASE}"
            )
        made["entities"] = [entity(url, where) for url in row["entities"]]
        for name in made["entities"]:
            row_files.require_no_placeholder(name, "entities", where)
    return made


def entity(url: str, where: str) -> str:
    """The name in a link to Wikipedia, cleaned exactly as the released script does; a `DataError`
    if it is none.
    """
    text = (
        url.split("#")[0]
        .replace("&redirect=no", "")
        .replace("https://en.wikipedia.org/?title=", "/wiki/")
    )
    if "/wiki/" not in text:
        raise DataError(
            f"{where}: entities holds {url!r}, which is no page of Wikipedia. {hub.USE_THE_RELEASE}"
        )
    text = (
        text.split("/wiki/")[1]
        .replace("%27s", "'")
        .replace("(disambiguation)", "")
        .replace("_", " ")
    )
    return " ".join(text.split())


def exemplars(dataset: str, name: str, row_id: str, shots: int, seed: int) -> list[dict[str, Any]]:
    """Training rows to show before the question of a row: as released, one of each of `shots`
    contests.

    The draw depends on the seed and the row's id, not on the order of rows.
    """
    table, _ = _table(dataset, name, "train")
    contests = _contests(dataset, name)
    if shots > len(contests):
        raise DataError(
            f"{dataset}/{name}: {shots} exemplars asked for; there are {len(contests)} train"
            " contests"
        )
    generator = random.Random(f"{seed}/{row_id}")
    numbers = [
        generator.choice(contests[contest]) for contest in generator.sample(sorted(contests), shots)
    ]
    return [
        _document(table[number], f"{dataset}/{name}, train row {number}", config(name))
        for number in numbers
    ]


def check_exemplars(dataset: str, name: str) -> None:
    """Check the training rows of a configuration, of which each may become an exemplar; pictures
    are not opened.
    """
    table, _ = _table(dataset, name, "train")
    texts = enumerate(table.remove_columns("image"))
    rows = (
        (f"{dataset}/{name}, train row {number}", {**row, "image": None}) for number, row in texts
    )
    wanted = config(name)
    faults = row_files.validate_rows(rows, lambda row, where: _document(row, where, wanted))[1]
    row_files.raise_first_fault(faults, "nycc")


def training_faults(dataset: str) -> Iterator[DataError]:
    """The faults of the training rows that are on this machine."""
    for task, pixels, fold in itertools.product(
        TEST, ("", "_from_pixels"), ("", "_1", "_2", "_3", "_4")
    ):
        try:
            check_exemplars(dataset, f"{task}{pixels}{fold}")
        except PartMissing:  # they are needed by tasks with exemplars alone
            continue
        except DataError as error:
            yield from map(DataError, error.faults or [str(error)])


@hub.cached(maxsize=8)
def _contests(dataset: str, name: str) -> dict[int, list[int]]:
    """The training rows of each contest."""
    found: dict[int, list[int]] = {}
    for number, contest in enumerate(_table(dataset, name, "train")[0]["contest_number"]):
        found.setdefault(contest, []).append(number)
    return found
