"""V-FLUTE rows as documents: ids, the instruction of each row, report groups, few-shot exemplars.

Serves every dataset in V-FLUTE's schema (V-FLUTE itself and figlang_mini).
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.core import hub, images
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics.intervals import linked

if TYPE_CHECKING:
    import datasets

LABELS = {"entailment": 1, "contradiction": 0}
INSTRUCTION_COUNT = 21  # Table 8 of the paper
INSTRUCTION_SEED = 42  # reproduces all 723 released prompts of the test split
REPORT_GROUPS = ("vismet", "irfl_metaphor_simile", "irfl_idiom", "muse", "memecap", "nycartoons")


def instruction_numbers(split_sizes: dict[str, int], split: str) -> list[int]:
    """Return the instruction (1 to 21, Table 8's order) of each row of `split`, as published.

    One generator is seeded once and drawn from per row over train, validation and test, in the hub's row order.

    Args:
        split_sizes: rows of every split, in that order.
        split: one of them.
    """
    generator = random.Random(INSTRUCTION_SEED)
    numbers = range(1, INSTRUCTION_COUNT + 1)
    for name, rows in split_sizes.items():
        drawn = [generator.choice(numbers) for _ in range(rows)]
        if name == split:
            return drawn
    raise ValueError(f"no split {split!r} in {list(split_sizes)}")


def report_group(source_dataset: str, phenomenon: str) -> str:
    """Return the paper's source group of a row.

    IRFL is split into idioms and the rest, which is what the official scorer does; `phenomenon` is used for nothing
    else, because the hub's values for HAIVMet similes differ from the paper's.
    """
    if source_dataset == "irfl":
        return "irfl_idiom" if phenomenon == "idiom" else "irfl_metaphor_simile"
    return source_dataset


@lru_cache(maxsize=8)
def load(name: str, split: str, check_images: bool = True) -> datasets.Dataset:
    """Return the documents of one split.

    Columns: the dataset's own, with `image` left undecoded (bytes and path), and `dataset`, `data` (dataset, split and
    the first 12 hex digits of the SHA-256 of all its texts), `id` (the released id), `instruction` (1 to 21) and
    `report_group`; with `check_images` `family`: the first id of the rows that share a claim or a picture with it (a
    meme of MemeCap has a claim and its opposite).

    Args:
        name: a dataset of :data:`figlang_tasks.core.hub.SOURCES` in V-FLUTE's schema.
        split: one of its splits.
        check_images: look at every picture now; an error then costs no model time.

    Raises:
        hub.DataError: data not available, or a row that is not valid; the message names dataset and row.
    """
    import datasets

    rows = hub.load_split(name, split).cast_column("image", datasets.Image(decode=False))
    texts = rows.select_columns(["claim", "label", "explanation", "phenomenon", "source_dataset"])
    ids, groups = [], []
    digest = hashlib.sha256()
    for number, row in enumerate(texts):
        digest.update(json.dumps(row, sort_keys=True).encode())
        row_id = f"{row['source_dataset']}-{split}-{number}"
        _check_texts(row, f"{name}/{split} row {number} ({row_id})")
        ids.append(row_id)
        groups.append(report_group(row["source_dataset"], row["phenomenon"]))
    added = {
        "dataset": [name] * len(rows),
        "data": [str(DataId(name, split, digest.hexdigest()[:12]))] * len(rows),
        "id": ids,
        "instruction": instruction_numbers(hub.source(name).splits, split),
        "report_group": groups,
    }
    if check_images:
        keys = []
        for number, row in enumerate(rows.select_columns(["claim", "image"])):
            images.check(row["image"], f"{name}/{split} row {number} ({ids[number]})", name)
            keys.append((("claim", row["claim"]), ("picture", _picture(row["image"]))))
        added["family"] = [ids[first] for first in linked(keys)]
    return datasets.concatenate_datasets([rows, datasets.Dataset.from_dict(added)], axis=1)


def _picture(cell: Mapping[str, Any]) -> str:
    """What tells a picture from others: its bytes, or the path of its file."""
    return str(cell["path"]) if cell["bytes"] is None else hashlib.sha256(cell["bytes"]).hexdigest()


def _check_texts(row: dict[str, Any], where: str) -> None:
    for column, value in row.items():
        if not isinstance(value, str):
            raise hub.DataError(f"{where}: {column} is {value!r}, not text. Use the files of the original release.")
    if not row["claim"].strip():
        raise hub.DataError(f"{where}: claim is empty. Use the files of the original release.")
    if row["label"] not in LABELS:
        raise hub.DataError(
            f"{where}: unknown label {row['label']!r}; it must be one of {', '.join(LABELS)}. "
            "Use the files of the original release."
        )
    group = report_group(row["source_dataset"], row["phenomenon"])
    if group not in REPORT_GROUPS:
        raise hub.DataError(
            f"{where}: unknown source_dataset {row['source_dataset']!r}; results are reported for "
            f"{', '.join(REPORT_GROUPS)}. Use the files of the original release."
        )


@lru_cache(maxsize=8)
def exemplars(name: str, count: int, seed: int) -> tuple[dict[str, Any], ...]:
    """Draw few-shot exemplars from the *train* split, stratified over sources and labels.

    Sources take turns, in an order drawn with the seed; within a source the label that has been used less so far is
    taken where the source has it. So 5 exemplars hold every source of V-FLUTE once, 10 hold each twice. The paper's
    own exemplars were not released.

    Args:
        name: dataset.
        count: number of exemplars, at least 1.
        seed: recorded in the task's YAML.

    Returns:
        Documents as in :func:`load`, with `image` decoded (RGB).
    """
    documents = load(name, "train", check_images=False)
    pools: dict[str, dict[str, list[int]]] = {}
    for number, (origin, label) in enumerate(zip(documents["source_dataset"], documents["label"], strict=True)):
        pools.setdefault(origin, {}).setdefault(label, []).append(number)
    if not 1 <= count <= len(documents):
        raise hub.DataError(f"{name}: {count} exemplars asked for; the train split has {len(documents)} rows")

    generator = random.Random(seed)
    order = sorted(pools)
    generator.shuffle(order)
    used: Counter[str] = Counter()
    chosen: list[int] = []
    while len(chosen) < count:
        for origin in order:
            available = [label for label in LABELS if pools[origin].get(label)]
            if not available or len(chosen) == count:
                continue
            fewest = min(used[label] for label in available)
            label = generator.choice([label for label in available if used[label] == fewest])
            pool = pools[origin][label]
            chosen.append(pool.pop(generator.randrange(len(pool))))
            used[label] += 1

    shots = []
    for number in chosen:
        document = dict(documents[number])
        document["image"] = images.decode(document["image"], f"{name}/train row {number} ({document['id']})", name)
        shots.append(document)
    logger.info(f"figlang_tasks: {count} exemplars (seed {seed}): {', '.join(shot['id'] for shot in shots)}")
    return tuple(shots)
