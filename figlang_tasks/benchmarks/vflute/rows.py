"""V-FLUTE's rows as documents: everything that a prompt and a judgement need of a row.

They serve every dataset in V-FLUTE's schema (V-FLUTE itself and figlang_mini), and rows of the user
in its place (`figlang_tasks.benchmarks.vflute.row_tables`, docs/cards/vflute.md). "The paper" is
arXiv 2405.01474.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger

from figlang_tasks.benchmarks.vflute import row_tables
from figlang_tasks.benchmarks.vflute.row_tables import TEXT_COLUMNS
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.exemplars import draw_exemplars
from figlang_tasks.metrics.units import link_rows

if TYPE_CHECKING:
    import datasets

    from figlang_tasks.scoring.task import Document

LABELS = {"entailment": 1, "contradiction": 0}
"""The numbers that stand for the labels in records."""

# --- the instruction of each row: Table 8 and Appendix D ---

INSTRUCTION_COUNT = 21
"""How many instructions Table 8 has (section 4.1 says 21 too, Appendix D says 20).

``prompts/vflute/question.jinja`` holds them in the order of Table 8.
"""

INSTRUCTION_NUMBERS = range(1, INSTRUCTION_COUNT + 1)
"""1 to 21, as Table 8 numbers the instructions."""

INSTRUCTION_SEED = 42
"""The paper states no seed for this draw. This one gives the prompts of all 723 released test rows.
"""


def instruction_numbers(split_sizes: Mapping[str, int], split: str) -> list[int]:
    """The number (1 to 21, in Table 8) of the instruction that the authors assigned to each row.

    "[We] randomly assign one of them to every instance in the training, validation, and testing
    set" (Appendix D). One generator draws for all splits, one after the other, so that the numbers
    of a split depend on the sizes of those before it.

    Args:
        split_sizes: the number of rows by split, in the order of the release: train, validation,
            test.
        split: the split whose numbers are returned.
    """
    generator = random.Random(INSTRUCTION_SEED)
    numbers_by_split: dict[str, list[int]] = {}
    for drawn_split, size in split_sizes.items():
        numbers = [generator.choice(INSTRUCTION_NUMBERS) for _ in range(size)]
        numbers_by_split[drawn_split] = numbers
    return numbers_by_split[split]


# --- the report group of each row: Tables 3 and 7 ---

REPORT_GROUPS = ("vismet", "irfl_metaphor_simile", "irfl_idiom", "muse", "memecap", "nycartoons")
"""The groups of rows that have results of their own, in the order of Table 3.

The rows of a source (``source_dataset``) are one group; those of IRFL are two. The paper calls the
source ``vismet`` HAIVMet.
"""

NO_SOURCE = "other"
"""The report group of rows that name no source, which only rows of the user may do."""


def report_group(source_dataset: str, phenomenon: str) -> str:
    """The group that a row's results are reported in: ``irfl_idiom``, ``muse``; "" without source.

    The groups are those of Tables 3 and 7 and of the authors' scorer: IRFL is divided by
    `phenomenon`, and any other source is a group as a whole. So is HAIVMet (``vismet``), whose
    metaphors and similes the tables do not tell apart. Its `phenomenon` is not looked at: the hub
    seems to call metaphors the rows that the released ``vflute_test.csv`` calls similes.
    """
    if source_dataset == "irfl":
        return "irfl_idiom" if phenomenon == "idiom" else "irfl_metaphor_simile"
    return source_dataset


# --- the documents of a split ---


@hub.cached(maxsize=8)
def load(
    dataset: str, split: str, check_images: bool = True, with_families: bool = True
) -> datasets.Dataset:
    """The documents of one split, one for each row.

    They have the columns of the dataset (`image` undecoded) and:

    - ``id``: ``muse-test-7``, as released; rows of the user have their own.
    - ``dataset``: the name of the dataset.
    - ``data``: dataset, split and a digest of all texts (`DataId`).
    - ``instruction``: the number of the row's instruction, 1 to 21. Rows of the user get those of
      the released rows at the same positions.
    - ``report_group``: see `report_group`; `NO_SOURCE` if the row names no source.
    - ``revision``: ``own``, for rows of the user alone.
    - ``family``, unless `with_families` is False: the id of the first row that shares a claim or a
      picture with the row, directly or through others. Such rows depend on each other: MemeCap and
      MuSE have each picture with a claim and its opposite.

    Args:
        dataset: ``V-FLUTE``, or another dataset in its schema.
        split: ``train``, ``validation`` or ``test``.
        check_images: whether to decode every picture, which finds damaged ones.
        with_families: whether to read the bytes of every picture, which tell the families.

    Raises:
        DataError: the rows cannot be read, or some have faults; the message has the first one.
    """
    import datasets

    user_file = row_tables.find_user_file(dataset, split)
    if user_file is None:
        has_user_rows = False
        table, table_faults = row_tables.read_release(dataset, split)
    else:
        has_user_rows = True
        table, table_faults = row_tables.read_user_file(user_file, f"{dataset}/{split}")
    rows, row_faults = _check_rows(
        table, dataset, split, has_user_rows, check_images, with_families
    )
    row_files.raise_first_fault([*table_faults, *row_faults], "vflute")

    texts_of_rows = [row.texts for row in rows]
    data_id = DataId(dataset, split, _digest_of_texts(texts_of_rows))
    # The draw goes through the splits one after the other, so it needs the sizes of those before.
    # Only the split that is loaded gets its own size, as the user's file may have more or fewer
    # rows: the other splits count as released, whatever files the user has of them.
    split_sizes = {**source_of(dataset).splits, split: len(rows)}
    added_columns: dict[str, list[str] | list[int]] = {
        "dataset": [dataset] * len(rows),
        "data": [str(data_id)] * len(rows),
        "instruction": instruction_numbers(split_sizes, split),
        "report_group": [_report_group_or_none(texts) for texts in texts_of_rows],
    }
    if has_user_rows:
        added_columns["revision"] = [hub.USER_ROWS] * len(rows)
    if with_families:
        added_columns["family"] = _families(table["id"][:], rows)  # `[:]` makes a list
    table = table.remove_columns("location")
    additions = datasets.Dataset.from_dict(added_columns)
    return datasets.concatenate_datasets([table, additions], axis=1)


def _report_group_or_none(texts: Mapping[str, str]) -> str:
    """The report group of a row; `NO_SOURCE` if the row names no source, as the user's may."""
    return report_group(texts["source_dataset"], texts["phenomenon"]) or NO_SOURCE


def with_all_instructions(documents: datasets.Dataset) -> datasets.Dataset:
    """Each document of `load` 21 times, once with each instruction of Table 8.

    The id of the row moves to the column ``row``; ``id`` becomes ``muse-test-7-instruction21``. The
    column ``instruction`` has that number in place of the assigned one.
    """
    row_indices: list[int] = []
    instructions: list[int] = []
    ids: list[str] = []
    for row_index, row_id in enumerate(documents["id"][:]):
        for number in INSTRUCTION_NUMBERS:
            row_indices.append(row_index)
            instructions.append(number)
            ids.append(f"{row_id}-instruction{number}")
    repeated = documents.select(row_indices)
    repeated = repeated.rename_column("id", "row").add_column("id", ids)
    repeated = repeated.remove_columns("instruction")
    return repeated.add_column("instruction", instructions)


class _CheckedRow(NamedTuple):
    """A row without faults.

    Attributes:
        texts: its texts by column (`TEXT_COLUMNS`).
        picture_key: equal for equal pictures; "" if pictures were not read.
    """

    texts: dict[str, str]
    picture_key: str


def _check_rows(
    table: datasets.Dataset,
    dataset: str,
    split: str,
    has_user_rows: bool,
    check_images: bool,
    with_families: bool,
) -> tuple[list[_CheckedRow], list[str]]:
    """The rows of a table that have no faults, and a message for each of the others.

    Args:
        table: a `RowTable.rows`.
        dataset: the name of the dataset.
        split: the name of the split.
        has_user_rows: whether the rows are the user's, whose sources may have any name.
        check_images: whether to decode every picture.
        with_families: whether to read every picture for its `_CheckedRow.picture_key`, which else
            is "" unless pictures are decoded.
    """
    remedy = "Correct the row." if has_user_rows else hub.USE_THE_RELEASE

    def check(cells: Mapping[str, Any], location: str) -> _CheckedRow:
        """Check the texts and the picture of a row; raise a `DataError` with its first fault."""
        texts = {column: cells[column] for column in TEXT_COLUMNS}
        fault = _text_fault(texts, has_user_rows)
        if fault:
            raise DataError(f"{location}: {fault}. {remedy}")
        if not reads_pictures:
            return _CheckedRow(texts, picture_key="")
        picture = cells["image"]
        if check_images or picture is None:  # a missing picture is a fault in any case
            images.check(picture, location, dataset)
        return _CheckedRow(texts, _picture_key(picture))

    reads_pictures = check_images or with_families
    columns = [*TEXT_COLUMNS, "image"] if reads_pictures else [*TEXT_COLUMNS]
    cells_of_rows = row_files.progress(
        row_files.rows_of_table(table.select_columns(columns)),
        f"{dataset}/{split}",
        count=len(table),
    )
    # `validate_rows` takes a row after its location, and hands both to `check` in the other order.
    located_rows = zip(table["location"][:], cells_of_rows, strict=True)
    return row_files.validate_rows(located_rows, check)


def _text_fault(texts: Mapping[str, object], has_user_rows: bool) -> str:
    """What is wrong with the texts of a row: ``claim is empty``; "" if nothing is.

    A text must not contain a placeholder such as ``<image>``, which models take for the place of a
    picture.
    """
    for column, text in texts.items():
        if not isinstance(text, str):
            return f"{column} is {row_files.brief(text)}, not text"
        placeholder_fault = row_files.placeholder_fault(text)
        if placeholder_fault:
            return f"{column} is {row_files.brief(text)}: it {placeholder_fault}"
    if not str(texts["claim"]).strip():
        return "claim is empty"
    label = texts["label"]
    if label not in LABELS:
        known_labels = ", ".join(LABELS)
        return f"unknown label {row_files.brief(label)}; it must be one of {known_labels}"
    if has_user_rows:  # their sources may have any name
        return ""
    source_dataset = str(texts["source_dataset"])
    if report_group(source_dataset, str(texts["phenomenon"])) not in REPORT_GROUPS:
        known_groups = ", ".join(REPORT_GROUPS)
        return (
            f"unknown source_dataset {row_files.brief(source_dataset)}; results are reported for"
            f" {known_groups}"
        )
    return ""


def _picture_key(picture: Mapping[str, Any]) -> str:
    """A text that equal pictures share: the SHA-256 of the bytes, or the path of the file."""
    if picture["bytes"] is None:
        return str(picture["path"])
    return hashlib.sha256(picture["bytes"]).hexdigest()


def _digest_of_texts(texts_of_rows: Sequence[Mapping[str, str]]) -> str:
    """The first 12 hex digits of a SHA-256 of the texts of all rows, in their order."""
    digest = hashlib.sha256()
    encoder = json.JSONEncoder(sort_keys=True)
    for texts in texts_of_rows:
        digest.update(encoder.encode(texts).encode())
    return digest.hexdigest()[:12]


def _families(ids: Sequence[str], rows: Sequence[_CheckedRow]) -> list[str]:
    """For each row the id of the first row of its family, whose rows share a claim or a picture.

    They may share it through others: see `load`.
    """
    keys_of_rows: list[list[tuple[str, str]]] = []
    for row in rows:
        keys_of_rows.append([("claim", row.texts["claim"]), ("picture", row.picture_key)])
    # `link_rows` gives the index of the first row of each row's family.
    return [ids[first_index] for first_index in link_rows(keys_of_rows)]


# --- few-shot exemplars: Table 4 ---


@hub.cached(maxsize=8)
def exemplars(dataset: str, count: int, seed: int) -> tuple[Document, ...]:
    """Few-shot exemplars: documents of the train split whose `image` is a decoded picture.

    The source datasets take turns, and each turn takes a row whose label was drawn least so far
    (`figlang_tasks.core.exemplars.draw_exemplars`): five exemplars hold each of V-FLUTE's five
    source datasets once. The paper's own exemplars were not released.

    Args:
        dataset: ``V-FLUTE``, or another dataset in its schema.
        count: how many.
        seed: the seed of the draw.

    Raises:
        DataError: the train split has fewer rows, or one of the pictures is damaged.
    """
    documents = load(dataset, "train", check_images=False, with_families=False)
    sources = documents["source_dataset"][:]
    labels = documents["label"][:]
    chosen_indices = draw_exemplars(sources, labels, tuple(LABELS), count, seed)

    shots: list[Document] = []
    for row_index in chosen_indices:
        document = documents[row_index]
        location = f"{dataset}/train row {row_index} ({document['id']})"
        picture = images.decode(document["image"], location, dataset)
        picture.load()  # also where keys are made: it is kept for the prompts of all rows
        shots.append({**document, "image": picture})
    shot_ids = ", ".join(shot["id"] for shot in shots)
    logger.info(f"figlang_tasks: {count} exemplars (seed {seed}): {shot_ids}")
    return tuple(shots)
