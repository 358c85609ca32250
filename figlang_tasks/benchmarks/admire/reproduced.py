"""The official scorer's results on its own sample submissions, by our measures (``figlang
reproduce``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.admire import measures
from figlang_tasks.core.row_files import content_of, released_table
from figlang_tasks.scoring import OVERALL, evaluate


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Name of each number, the number as it was printed, and ours."""
    rankings = {"acc": "acc", "dcg": "dcg", "corr": "file_name_correlation"}
    boards = [("a", board, "test", measures.RANK, rankings) for board in ("en", "xe", "pt", "xp")]
    boards.append(
        ("b", "en", "train", measures.SEQUENCE, {"item": "item_acc", "sent": "sense_acc"})
    )
    for part, board, split, declared, names in boards:
        submission = f"{part}_submission_{board}{'_train' if part == 'b' else ''}.tsv"
        handed_in = {
            row["compound"]: row
            for row in released_table(folder / "official_sample" / submission, "\t")
        }
        records = []
        for row in released_table(folder / "targets" / f"{part}_{board}_{split}_targets.tsv", "\t"):
            both = (row, handed_in[row["compound"]])
            gold, predicted = (
                (
                    each["expected_item"]
                    if part == "b"
                    else re.findall(r"\w+\.png", each["expected_order"])
                )
                for each in both
            )
            record = {
                "id": row["compound"],
                "gold": gold,
                "predicted": predicted,
                "status": "read",
                "scores": None,
            }
            records.append(
                record
                | {
                    "sense": row["sentence_type"],
                    "predicted_sense": both[1]["sentence_type"],
                }
            )
        found = evaluate(records, declared, 0)
        official = json.loads(
            content_of(folder / "official_sample" / f"{part}_scores_{split}_phase.json")
        )
        for theirs, name in names.items():
            for suffix, scope in (("all", OVERALL), ("id", "idiomatic"), ("lit", "literal")):
                cell = f"{theirs}_{suffix}_{board}"
                yield (
                    f"{part.upper()} {cell}",
                    f"{round(official[cell], 9) + 0.0:.9f}",
                    found[name][scope].value,
                )
