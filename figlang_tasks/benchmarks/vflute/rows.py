"""V-FLUTE rows as documents: ids, the instruction of each row, report groups, few-shot exemplars.

Serves every dataset in V-FLUTE's schema (V-FLUTE itself and figlang_mini), and rows of the user in
the place of one: ``$FIGLANG_DATA_DIR/V-FLUTE/test.csv``, else ``test.jsonl`` (also ``train``,
``validation``), with the columns `REQUIRED` and, where the user has them, `OPTIONAL`
(docs/cards/vflute.md). A source gets results of its own.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.exemplars import drawn
from figlang_tasks.metrics.units import link_rows

if TYPE_CHECKING:
    import datasets

TEXTS = ("claim", "label", "explanation", "phenomenon", "source_dataset")
REQUIRED = ("id", "image", "claim", "label", "explanation")
OPTIONAL = ("source_dataset", "phenomenon")
NO_SOURCE = "other"
"""The source of rows that name none."""
# It becomes part of the names of metrics
_SOURCE = re.compile(r"(?!all$|.*ci_(low|high)$)[\w-]{1,60}")
LABELS = {"entailment": 1, "contradiction": 0}
INSTRUCTION_COUNT = 21  # Table 8 of the paper
INSTRUCTION_SEED = 42  # reproduces all 723 released prompts of the test split
REPORT_GROUPS = ("vismet", "irfl_metaphor_simile", "irfl_idiom", "muse", "memecap", "nycartoons")


def instruction_numbers(split_sizes: dict[str, int], split: str) -> list[int]:
    """The instruction (1 to 21, Table 8's order) of each row of `split`, as published.

    One generator draws for the rows of all splits, in the order of `split_sizes`: train,
    validation, test.
    """
    generator = random.Random(INSTRUCTION_SEED)
    numbers = range(1, INSTRUCTION_COUNT + 1)
    return {
        name: [generator.choice(numbers) for _ in range(rows)] for name, rows in split_sizes.items()
    }[split]


def report_group(source_dataset: str, phenomenon: str) -> str:
    """The paper's source group of a row.

    `phenomenon` splits IRFL alone, as in the official scorer: the hub's values for HAIVMet differ
    from the paper's.
    """
    if source_dataset == "irfl":
        return "irfl_idiom" if phenomenon == "idiom" else "irfl_metaphor_simile"
    return source_dataset


@hub.kept(maxsize=8)
def load(name: str, split: str, check_images: bool = True) -> datasets.Dataset:
    """The documents of one split.

    Beside the dataset's columns (`image` undecoded) they have `dataset`, `data`, `id`,
    `instruction` (1 to 21) and `report_group`; with `check_images`, which looks at every picture,
    `family`: the first id of the rows that share a claim or a picture with it (a meme of MemeCap
    has a claim and its opposite). Rows of the user have the instructions of the release's rows in
    the same places, and `revision`: ``own``.
    """
    import datasets

    folder = hub.local_folder(source_of(name))
    files = [folder / f"{split}{suffix}" for suffix in (".csv", ".jsonl")] if folder else []
    own = next((path for path in files if path.exists()), None)
    table, faults = _own(own, f"{name}/{split}") if own else _released(name, split)
    columns = table.select_columns([*TEXTS, "image"] if check_images else [*TEXTS])

    def valid(row: dict[str, Any], where: str) -> tuple[dict[str, Any], str]:
        cell = row.pop("image", None)
        if wrong := _wrong(row, any_source=own is not None):
            raise DataError(
                f"{where}: {wrong}. {'Correct the row.' if own else hub.USE_THE_RELEASE}"
            )
        if check_images:
            images.check(cell, where, name)
        return row, _picture(cell) if check_images else ""

    places = zip(table["where"][:], row_files.progress(columns, f"{name}/{split}"), strict=True)
    found, wrong = row_files.valid(places, valid)
    row_files.end_with_the_first([*faults, *wrong], "vflute")
    texts = [row for row, _ in found]
    digest = hashlib.sha256(
        "".join(json.dumps(row, sort_keys=True) for row in texts).encode()
    ).hexdigest()
    added = {
        "dataset": [name] * len(texts),
        "data": [str(DataId(name, split, digest[:12]))] * len(texts),
        "instruction": instruction_numbers({**source_of(name).splits, split: len(texts)}, split),
        "report_group": [
            report_group(row["source_dataset"], row["phenomenon"]) or NO_SOURCE for row in texts
        ],
        **({"revision": [hub.OWN] * len(texts)} if own else {}),
    }
    if check_images:
        ids, shown = (
            table["id"][:],
            [(("claim", row["claim"]), ("picture", picture)) for row, picture in found],
        )
        added["family"] = [ids[first] for first in link_rows(shown)]
    return datasets.concatenate_datasets(
        [table.remove_columns("where"), datasets.Dataset.from_dict(added)], axis=1
    )


def with_all_instructions(documents: datasets.Dataset) -> datasets.Dataset:
    """Each document of `load` once for each instruction, with ids of their own; `row` is the id of
    the row.
    """
    numbers = range(1, INSTRUCTION_COUNT + 1)
    found = documents.select([place for place in range(len(documents)) for _ in numbers])
    asked = [number for _ in range(len(documents)) for number in numbers]
    ids = [f"{row}-instruction{number}" for row, number in zip(found["id"], asked, strict=True)]
    found = found.rename_column("id", "row").add_column("id", ids)
    return found.remove_columns("instruction").add_column("instruction", asked)


def _released(name: str, split: str) -> tuple[datasets.Dataset, Sequence[str]]:
    """The published rows, with an `id` and the place (`where`) of each; and the fault of their
    number, if any.
    """
    origin = source_of(name)
    if split not in origin.splits:
        raise DataError(f"{name} has no split {split!r}; it has: {', '.join(origin.splits)}")
    folder = hub.snapshot(origin, ["README.md", f"*{split}-*.parquet"]).folder
    files = hub.split_files(name, split, folder)
    if not files:
        present = (
            ", ".join(sorted(str(path.relative_to(folder)) for path in folder.glob("**/*.parquet")))
            or "none"
        )
        raise PartMissing(
            f"{name}: no file {split}-*.parquet for split {split!r} in {folder} (parquet files"
            f" there: {present}). The folder must have the layout of the hub repository:"
            " data/<split>-00000-of-0000N.parquet"
            + (f"; for rows of your own see {origin.bring}" if origin.bring else "")
        )
    columns, where = ["image", *TEXTS], f"{name}: split {split!r} in {folder}"
    rows, faults = hub.read_parquet(files, columns, where), []
    if len(rows) != origin.splits[split]:
        faults.append(
            f"{where} has {len(rows)} rows, the published one has {origin.splits[split]}. Ids and"
            " instructions depend on the row order of the whole split; to run fewer rows use"
            " --limit."
        )
    ids = [f"{source}-{split}-{number}" for number, source in enumerate(rows["source_dataset"])]
    places = [f"{name}/{split} row {number} ({row_id})" for number, row_id in enumerate(ids)]
    rows = images.undecoded(rows, f"{name}/{split}")
    return rows.add_column("id", ids).add_column("where", places), faults


def _own(path: Path, what: str) -> tuple[datasets.Dataset, Sequence[str]]:
    """The rows of a user's file, in the columns of `_released`, and the faults of those that are
    left out.
    """
    import datasets

    found, faults = row_files.valid(
        row_files.lines(path, REQUIRED), _own_row, key=lambda row: f"the id {row['id']}"
    )
    if not found and not faults:
        faults = [
            f"{path} has no rows: write one for each picture and claim (`figlang data template"
            " vflute` does)"
        ]
    logger.info(f"figlang_tasks: {what}: {len(found)} rows of your own from {path}")
    text = datasets.Value("string")
    features = datasets.Features(
        {**dict.fromkeys((*TEXTS, "id", "where"), text), "image": datasets.Image(decode=False)}
    )
    return (
        datasets.Dataset.from_dict(
            {name: [row[name] for row in found] for name in features}, features
        ),
        faults,
    )


def _own_row(values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The cells of a row of the user; its claim, label and picture are not looked at."""
    where = f"{where} ({row_files.text(values, 'id', where)[:80]})"
    cells = {column: row_files.text(values, column, where) for column in REQUIRED}
    cells |= {column: row_files.text(values, column, where, optional=True) for column in OPTIONAL}
    if cells["source_dataset"] and not _SOURCE.fullmatch(cells["source_dataset"]):
        raise DataError(
            f"{where}: source_dataset is {row_files.brief(cells['source_dataset'])}; it becomes"
            " part of the names of metrics: write letters, digits, _ and - (60 at most), not `all`"
        )
    return {**cells, "where": where, "image": {"bytes": None, "path": cells["image"]}}


def _picture(cell: Mapping[str, Any]) -> str:
    """What tells a picture from others: the SHA-256 of its bytes, or the path of its file."""
    return str(cell["path"]) if cell["bytes"] is None else hashlib.sha256(cell["bytes"]).hexdigest()


def _wrong(texts: Mapping[str, Any], any_source: bool) -> str:
    """What is wrong with the texts of a row; "" where nothing is."""
    for column, value in texts.items():
        if not isinstance(value, str):
            return f"{column} is {row_files.brief(value)}, not text"
        if fault := row_files.placeholder_fault(value):
            return f"{column} is {row_files.brief(value)}: it {fault}"
    if not texts["claim"].strip():
        return "claim is empty"
    if texts["label"] not in LABELS:
        return (
            f"unknown label {row_files.brief(texts['label'])}; it must be one of"
            f" {', '.join(LABELS)}"
        )
    if (
        not any_source
        and report_group(texts["source_dataset"], texts["phenomenon"]) not in REPORT_GROUPS
    ):
        known = ", ".join(REPORT_GROUPS)
        return (
            f"unknown source_dataset {row_files.brief(texts['source_dataset'])}; results are"
            f" reported for {known}"
        )
    return ""


@hub.kept(maxsize=8)
def exemplars(name: str, count: int, seed: int) -> tuple[dict[str, Any], ...]:
    """Few-shot exemplars of the *train* split, drawn over sources and labels.

    So 5 exemplars hold every source of V-FLUTE once. The paper's own were not released. Their
    `image` is decoded.
    """
    documents = load(name, "train", check_images=False)
    shots = []
    for number in drawn(
        documents["source_dataset"][:], documents["label"][:], tuple(LABELS), count, seed
    ):
        document = dict(documents[number])
        document["image"] = images.decode(
            document["image"], f"{name}/train row {number} ({document['id']})", name
        )
        shots.append(document)
    logger.info(
        f"figlang_tasks: {count} exemplars (seed {seed}): {', '.join(shot['id'] for shot in shots)}"
    )
    return tuple(shots)
