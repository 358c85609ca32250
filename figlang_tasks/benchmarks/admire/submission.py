"""The files that the boards of AdMIRe take (CodaBench 4345 for rankings, 4814 for sequences)."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from figlang_tasks.benchmarks.admire.counts import ROWS, is_sequence_table
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.optional_modules import Submission
from figlang_tasks.core.record import Record
from figlang_tasks.core.text import listing
from figlang_tasks.scoring.readings import has_answer

# The ends of the file names that the official scorers want, submission_EN.tsv say, by table.
FILES = {"en_test": "EN", "en_extended": "XE", "pt_test": "PT", "pt_extended": "XP"}
FILES |= {"sequence_test": "EN", "sequence_extended": "XE"}


def files(records: Mapping[str, Sequence[Record]]) -> dict[str, bytes]:
    """The files of a submission: content by file name, such as ``submission_EN.tsv``.

    Args:
        records: the records of a run by table; tables are the keys of `FILES`.

    Raises:
        DataError: tables of both boards, rows are missing, or a row has no answer, at which the
            official scorer stops.
    """
    has_sequences = any(is_sequence_table(table) for table in records)
    has_rankings = any(not is_sequence_table(table) for table in records)
    if has_sequences == has_rankings:  # both, which have boards of their own, or no table
        raise DataError(
            f"tables {listing(records)}: hand in rankings or sequences: give samples files of one"
            " kind"
        )
    content_by_name: dict[str, bytes] = {}
    for table, table_records in records.items():
        _require_all_answers(table, table_records)
        file_name = f"submission_{FILES[table]}.tsv"
        content_by_name[file_name] = _file_of_table(table, table_records)
    return content_by_name


def _require_all_answers(table: str, records: Sequence[Record]) -> None:
    """Raise a `DataError` unless each row of a table has a record with an answer."""
    if len(records) != ROWS[table]:
        raise DataError(
            f"{len(records)} of the {ROWS[table]} rows of {table}: evaluate all rows of the release"
        )
    unanswered_ids = [record["id"] for record in records if not has_answer(record)]
    if unanswered_ids:
        raise DataError(
            f"{len(unanswered_ids)} of {len(records)} rows of {table} have no complete answer"
            f" ({listing(unanswered_ids)}), at which the official scorer stops: this package does"
            " not guess"
        )


def _file_of_table(table: str, records: Sequence[Record]) -> bytes:
    """The content of the file of a table: a header, and a line for each record, in TSV.

    A ranking is written as a list as Python writes it: ``['1.png', '2.png']``.
    """
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    if is_sequence_table(table):
        writer.writerow(["compound", "sentence_type", "expected_item"])
        for record in records:
            writer.writerow([record["unit"], record["predicted_sense"], record["predicted"]])
    else:
        writer.writerow(["compound", "expected_order"])
        for record in records:
            ranking = list(record["predicted"])
            writer.writerow([record["unit"], str(ranking)])
    return text.getvalue().encode("utf-8")


SUBMISSION = Submission(
    parts=FILES,
    files=files,
    upload="CodaBench, competition 4345 for rankings, 4814 for sequences",
)
