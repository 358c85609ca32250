"""Recomputes what AdMIRe's official scorers give their own samples, for ``figlang reproduce``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from figlang_tasks.benchmarks.admire import measures
from figlang_tasks.benchmarks.admire.rows import QUOTED_NAME
from figlang_tasks.core.row_files import content_of, released_table
from figlang_tasks.scoring import OVERALL, Measures, evaluate


class _Sample(NamedTuple):
    """A sample submission of the organisers.

    Attributes:
        subtask: ``a``, rankings, or ``b``, sequences.
        board: the table in the scorer's words: ``en``, ``pt``; ``xe`` and ``xp`` are extended.
        phase: the phase of the shared task: ``train`` or ``test``.
        file_name: the file of the submission.
        measures: our measures of the subtask.
        official_names: the name of each of our measures by the scorer's name.
    """

    subtask: str
    board: str
    phase: str
    file_name: str
    measures: Measures
    official_names: Mapping[str, str]


_SCOPES_BY_OFFICIAL_SUFFIX = {"all": OVERALL, "id": "idiomatic", "lit": "literal"}


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, the official scorer's number (as text) and ours, for each of its numbers.

    A name is ``A acc_all_en``, say. The scorer's number has nine decimals.

    Args:
        folder: the folder with ``official_sample`` (submissions and scores) and ``targets``.
    """
    for sample in _samples():
        records = _records_of(sample, folder)
        estimates = evaluate(records, sample.measures, stderr_resamples=0)
        scores_file = f"{sample.subtask}_scores_{sample.phase}_phase.json"
        official = json.loads(content_of(folder / "official_sample" / scores_file))
        for official_name, our_name in sample.official_names.items():
            for suffix, scope in _SCOPES_BY_OFFICIAL_SUFFIX.items():
                key = f"{official_name}_{suffix}_{sample.board}"
                number = round(official[key], 9) + 0.0  # turns -0.0 into 0.0
                our_number = estimates[our_name][scope].value
                yield f"{sample.subtask.upper()} {key}", f"{number:.9f}", our_number


def _samples() -> list[_Sample]:
    """The sample submissions: four of rankings, one of sequences."""
    samples: list[_Sample] = []
    for board in ("en", "xe", "pt", "xp"):
        sample = _Sample(
            subtask="a",
            board=board,
            phase="test",
            file_name=f"a_submission_{board}.tsv",
            measures=measures.RANK,
            official_names={"acc": "acc", "dcg": "dcg", "corr": "file_name_correlation"},
        )
        samples.append(sample)
    sequences = _Sample(
        subtask="b",
        board="en",
        phase="train",
        file_name="b_submission_en_train.tsv",
        measures=measures.SEQUENCE,
        official_names={"item": "item_acc", "sent": "sense_acc"},
    )
    samples.append(sequences)
    return samples


def _records_of(sample: _Sample, folder: Path) -> list[dict[str, object]]:
    """A record for each row of a sample submission: what is expected, and what it says.

    A record has the fields of both subtasks, of which our measures look up those of one.
    """
    submission = released_table(folder / "official_sample" / sample.file_name, "\t")
    submitted_by_compound = {row["compound"]: row for row in submission}
    targets_file = f"{sample.subtask}_{sample.board}_{sample.phase}_targets.tsv"
    records: list[dict[str, object]] = []
    for target in released_table(folder / "targets" / targets_file, "\t"):
        submitted = submitted_by_compound[target["compound"]]
        record: dict[str, object] = {
            "id": target["compound"],
            "gold": _answer_of(target, sample.subtask),
            "predicted": _answer_of(submitted, sample.subtask),
            "status": "read",
            "scores": None,
            "sense": target["sentence_type"],
            "predicted_sense": submitted["sentence_type"],
        }
        records.append(record)
    return records


def _answer_of(row: Mapping[str, str], subtask: str) -> str | list[str]:
    """The answer in a row: a file name of subtask B, or the file names in order of subtask A."""
    if subtask == "b":
        return row["expected_item"]
    return QUOTED_NAME.findall(row["expected_order"])
