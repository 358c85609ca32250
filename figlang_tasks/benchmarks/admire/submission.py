"""The files that the boards of AdMIRe take (CodaBench 4345 for rankings, 4814 for sequences)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from figlang_tasks.benchmarks.admire.counts import ROWS
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.optional_modules import Submission
from figlang_tasks.core.record import Record
from figlang_tasks.core.text import listing
from figlang_tasks.scoring.readings import has_answer

FILES = {"en_test": "EN", "en_extended": "XE", "pt_test": "PT", "pt_extended": "XP"}
FILES |= {"sequence_test": "EN", "sequence_extended": "XE"}


def files(records: Mapping[str, Sequence[Record]]) -> dict[str, bytes]:
    """The files of a submission by name, from the records of tasks by table.

    Raises:
        DataError: tables of both boards, rows are missing, or a row has no answer: the scorer stops
            there.
    """
    if len({table.startswith("sequence") for table in records}) != 1:
        raise DataError(
            f"tables {listing(records)}: hand in rankings or sequences: give samples files of one"
            " kind"
        )
    found = {}
    for table, rows in records.items():
        if len(rows) != ROWS[table]:
            raise DataError(
                f"{len(rows)} of the {ROWS[table]} rows of {table}: evaluate all rows of the"
                " release"
            )
        if lacking := [row["id"] for row in rows if not has_answer(row)]:
            raise DataError(
                f"{len(lacking)} of {len(rows)} rows of {table} have no complete answer"
                f" ({listing(lacking)}), at which the official scorer stops: this package does not"
                " guess"
            )
        text, is_sequence = io.StringIO(), table.startswith("sequence")
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow(
            [
                "compound",
                *(["sentence_type", "expected_item"] if is_sequence else ["expected_order"]),
            ]
        )
        for row in rows:
            answer = (
                [row["predicted_sense"], row["predicted"]]
                if is_sequence
                else [str(list(row["predicted"]))]
            )
            writer.writerow([row["unit"], *answer])
        found[f"submission_{FILES[table]}.tsv"] = text.getvalue().encode("utf-8")
    return found


SUBMISSION = Submission(
    parts=FILES,
    files=files,
    upload="CodaBench, competition 4345 for rankings, 4814 for sequences",
)
