"""Detection with random candidates: the answer among images of other phrases (Tables 4 and 5).

The paper's rows were not released. Here each image of a category is the answer of one row, and its
distractors are drawn from the images of all other phrases of the table. Seed, configuration, phrase
and uuids alone decide the draw: neither the order of the table nor the version of Python does.
"""

from __future__ import annotations

import csv
import hashlib
import io
import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from loguru import logger

from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.benchmarks.irfl.tables import Row, Table
from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError

SEED = 2023


class Configuration(NamedTuple):
    """A configuration of Table 4 or 5.

    Attributes:
        candidates: how many images a row shows, with the answer.
        base_table: the table that the images are from.
        category: that of the answers.
    """

    candidates: int
    base_table: str
    category: str


CONFIGURATIONS = {
    "random2-idiom-figurative": Configuration(2, "idioms-dataset", "figurative"),
    "random4-idiom-figurative": Configuration(4, "idioms-dataset", "figurative"),
    "random4-idiom-figurative-literal": Configuration(4, "idioms-dataset", "figurative+literal"),
    "random2-metaphor": Configuration(2, "metaphors-dataset", "figurative"),
    "random4-metaphor": Configuration(4, "metaphors-dataset", "figurative"),
    "random2-simile": Configuration(2, "similes-dataset", "figurative"),
    "random4-simile": Configuration(4, "similes-dataset", "figurative"),
}

_CSV_COLUMNS = ("distractors", "answer", "figurative_type", "type", "definition", "phrase")


@hub.cached(maxsize=8)
def load(dataset: str, name: str) -> Table:
    """The rows of a configuration, each an answer with distractors of the role ``random``.

    Distractors are images that the base table has of other phrases only.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        name: a key of `CONFIGURATIONS`.

    Raises:
        DataError: the base table cannot be read, or has too few images.
    """
    configuration = CONFIGURATIONS[name]
    base_table = tables.read_base_table(dataset, configuration.base_table)
    answer_rows = _answer_rows(base_table, configuration.category)
    pool_by_phrase = _images_of_other_phrases(base_table, answer_rows)

    distractor_count = configuration.candidates - 1
    rows: list[Row] = []
    for row_number, answer_row in enumerate(answer_rows):
        phrase = answer_row.phrase
        pool = pool_by_phrase[phrase]
        if len(pool) < distractor_count:
            raise DataError(
                f"{base_table.data}: too few images of other phrases than {phrase!r} to draw"
                f" {distractor_count}"
            )
        draws = _distinct_draws(f"{SEED}/{name}/{phrase}/{answer_row.answer}", pool)
        distractors = tuple(itertools.islice(draws, distractor_count))
        rows.append(
            replace(
                answer_row,
                location=f"{dataset}/{name} row {row_number}",
                negatives=distractors,
                roles=dict.fromkeys(distractors, "random"),
            )
        )
    logger.info(
        f"figlang_tasks: {len(rows)} rows of {dataset}/{name}, drawn from {base_table.data}, seed"
        f" {SEED}"
    )
    digest = hashlib.sha256(_as_csv(rows, name)).hexdigest()[:12]
    # The dataset and its revision are those of the base table.
    data_id = replace(DataId.parse(base_table.data), part=name, digest=digest)
    return Table(tuple(rows), str(data_id))


def _answer_rows(base_table: Table, category: str) -> list[Row]:
    """The rows of a base table whose image has a category, in the order of phrase and uuid.

    A table may list an image twice for a phrase, with other definitions. The row whose definitions
    sort last stands for both, whatever the order of the table.

    Raises:
        DataError: no image has this category.
    """
    rows = [row for row in base_table.rows if row.type == category]
    if not rows:
        raise DataError(f"{base_table.data} has no image of the category {category!r}")
    row_by_phrase_and_uuid: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=_definitions):
        # The later of two rows replaces the earlier one.
        row_by_phrase_and_uuid[row.phrase, row.answer] = row
    return [row_by_phrase_and_uuid[key] for key in sorted(row_by_phrase_and_uuid)]


def _definitions(row: Row) -> tuple[str, ...]:
    return row.definitions


def _images_of_other_phrases(base_table: Table, answer_rows: Sequence[Row]) -> dict[str, list[str]]:
    """By the phrase of each answer, the sorted uuids of all images that are of other phrases only.

    Images of all categories are among them.
    """
    uuids_by_phrase: dict[str, set[str]] = {}
    for row in base_table.rows:
        uuids_by_phrase.setdefault(row.phrase, set()).add(row.answer)
    all_uuids = set().union(*uuids_by_phrase.values())

    pool_by_phrase: dict[str, list[str]] = {}
    for answer_row in answer_rows:
        phrase = answer_row.phrase
        if phrase not in pool_by_phrase:  # sorted once, since phrases have many images
            pool_by_phrase[phrase] = sorted(all_uuids - uuids_by_phrase[phrase])
    return pool_by_phrase


def _distinct_draws(seed: str, pool: Sequence[str]) -> Iterator[str]:
    """Yield different items of a pool, in an order that a seed decides.

    The caller stops in time: after the last item of the pool this would look for another one
    forever.
    """
    drawn: set[str] = set()
    for attempt in itertools.count():
        digest = hashlib.sha256(f"{seed}/{attempt}".encode()).hexdigest()
        item = pool[int(digest, 16) % len(pool)]
        if item not in drawn:
            drawn.add(item)
            yield item


def _as_csv(rows: Sequence[Row], name: str) -> bytes:
    """The rows of a configuration as a CSV file like the hub's detection tables.

    It is only digested, so that a change of any cell changes the `DataId`. ``name`` is a key of
    `CONFIGURATIONS`.
    """
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        definition = json.dumps(row.definitions, ensure_ascii=False) if row.definitions else ""
        writer.writerow(
            {
                "distractors": json.dumps(row.negatives),
                "answer": json.dumps([row.answer]),
                "figurative_type": name.split("-")[1],  # random2-idiom-figurative
                "type": row.type,
                "definition": definition,
                "phrase": row.phrase,
            }
        )
    return text.getvalue().encode()
