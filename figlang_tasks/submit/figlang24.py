"""The FigLang 2024 shared task on multimodal figurative language: its submission file, and its scores.

Participants hand in a zip with ``pred.csv``: id, label (1 entailment, 0 contradiction), explanation, for the 723 rows
of V-FLUTE's test split. The board takes macro F1 at 0, .50 and .60 with BERTScore F1 alone (Kulkarni et al. 2024, "A
Report on the FigLang 2024 Shared Task on Multimodal Figurative Language", 2024.figlang-1.16).
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks import explanations, hub, samples
from figlang_tasks.explanations import Explained
from figlang_tasks.records import EntailmentRecord
from figlang_tasks.runs import Run, TaskRun
from figlang_tasks.samples import SamplesError
from figlang_tasks.submit import (
    SubmissionError,
    answered,
    listing,
    plain,
    printable,
    repeated,
    the_task,
    whole,
    write_checked,
)

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer

MEMBER = "pred.csv"
COLUMNS = ("id", "label", "explanation")
LABELS = {"entailment": 1, "contradiction": 0}
THRESHOLDS = {"f1@0": 0.0, "f1@50": 0.50, "f1@60": 0.60}
DATASET, SPLIT = "V-FLUTE", "test"
UPLOAD = "CodaBench, the competition of the FigLang 2024 shared task on multimodal figurative language"

# Rows of the test split by source group (V-FLUTE, Table 3) and label.
_PUBLISHED = {
    ("vismet", 1): 44,
    ("vismet", 0): 57,
    ("irfl_metaphor_simile", 1): 59,
    ("irfl_metaphor_simile", 0): 61,
    ("irfl_idiom", 1): 51,
    ("irfl_idiom", 0): 49,
    ("muse", 1): 53,
    ("muse", 0): 53,
    ("memecap", 1): 98,
    ("memecap", 0): 98,
    ("nycartoons", 1): 100,
}
_MAX_BYTES = 50_000_000  # 723 explanations are a few hundred kB: more is no submission, or a zip made to fill a memory
_ID = re.compile(r"[a-z]+-test-(0|[1-9]\d*)")


@dataclass(frozen=True)
class Prediction:
    """A row of ``pred.csv``: released id, 1 entailment or 0 contradiction, explanation ("" if there is none)."""

    id: str
    label: int
    explanation: str


@dataclass(frozen=True)
class Written:
    """What was handed over.

    Attributes:
        rows: predictions, in the order of the test split.
        fallbacks: how many got the fallback label.
        empty: how many have no explanation.
        data: dataset, split and digest of what was asked.
    """

    rows: tuple[Prediction, ...]
    fallbacks: int
    empty: int
    data: str


# --- the file --------------------------------------------------------------------------------------------------------


def write(run: Run, output: Path, fallback: str | None = None, task: str | None = None) -> Written:
    """Write the zip of a run on V-FLUTE's test split.

    Args:
        run: the run.
        output: the zip; replaced whole or not at all.
        fallback: ``entailment`` or ``contradiction`` for outputs without a label, which are an error otherwise: the
            shared task knows no third answer, and this package does not guess.
        task: which of the run's tasks, where several are of that split.

    Raises:
        SubmissionError: rows are missing, twice there, foreign or without a label, the run was cut short, or the file
            cannot be written.
        ValueError: unknown fallback.
    """
    if fallback is not None and fallback not in LABELS:
        raise ValueError(f"fallback is {fallback!r}; valid: {', '.join(LABELS)}")
    candidates = {name: each for name, each in whole(run).tasks.items() if each.data.startswith(f"{DATASET}/{SPLIT}:")}
    # A task that asks for labels alone is none to choose from, but samples.read says more when it is all there is.
    explained = {name for name, each in candidates.items() if _asks_for_explanation(each)} or set(candidates)
    chosen = the_task(
        run, f"{DATASET}'s {SPLIT} split", lambda each: each.task in explained | ({task} & set(candidates)), task
    )
    try:
        found = samples.read(answered(chosen).path)
    except SamplesError as error:
        raise SubmissionError(str(error)) from error
    records = _complete(found.path, [row.record for row in found.rows])
    unlabelled = [record.id for record in records if record.predicted is None]
    if unlabelled and fallback is None:
        raise SubmissionError(
            f"{found.path}: {len(unlabelled)} outputs have no label ({listing(unlabelled)}): answer them again, or say "
            f"which label they shall have (--fallback)"
        )
    rows = tuple(
        Prediction(
            record.id,
            LABELS[fallback] if record.predicted is None and fallback else int(record.predicted or 0),
            plain(record.explanation or ""),
        )
        for record in records
    )

    def check(path: Path) -> None:
        if tuple(read(path)) != rows:
            raise SubmissionError(f"{output} does not read back as it was written: an explanation that CSV cannot hold")

    write_checked(output, _zip(rows), check)
    return Written(rows, len(unlabelled), sum(not row.explanation.strip() for row in rows), found.data)


def _asks_for_explanation(task: TaskRun) -> bool:
    return task.lines[0]["sample"].get("asks_for_explanation") is not False


def _complete(path: Path, records: Sequence[EntailmentRecord]) -> list[EntailmentRecord]:
    """All rows of the test split in its order, or an error."""
    count = hub.source(DATASET).splits[SPLIT]
    foreign = [record.id for record in records if not _ID.fullmatch(record.id)]
    if foreign:
        raise SubmissionError(f"{path}: {len(foreign)} ids are none of the {SPLIT} split ({listing(foreign)})")
    by_number = {_number(record.id): record for record in records}
    missing = [number for number in range(count) if number not in by_number]
    if missing:
        raise SubmissionError(
            f"{path}: {len(missing)} of {count} rows are missing (rows {listing(missing)} of the split, from 0): "
            f"evaluate again without --limit"
        )
    if len(records) != count:
        twice = repeated(str(_number(record.id)) for record in records)
        beyond = [record.id for number, record in by_number.items() if number >= count]
        raise SubmissionError(
            f"{path}: {len(records)} rows, the split has {count} (twice: {listing(twice) or 'none'}; not in it: "
            f"{listing(beyond) or 'none'}): get the file again as the harness wrote it"
        )
    counts = Counter((record.report_group, record.gold) for record in records)
    if counts != _PUBLISHED:
        wrong = [
            f"{group} {'entailment' if gold else 'contradiction'}: {counts[group, gold]}, not {_PUBLISHED.get(key, 0)}"
            for key in dict.fromkeys([*_PUBLISHED, *counts])
            for group, gold in [key]
            if counts[key] != _PUBLISHED.get(key, 0)
        ]
        raise SubmissionError(f"{path}: these are not the rows of the published {SPLIT} split ({listing(wrong)})")
    return [by_number[number] for number in range(count)]


def _number(row_id: str) -> int:
    return int(row_id.rpartition("-")[2])


def _zip(rows: Sequence[Prediction]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((row.id, row.label, row.explanation) for row in rows)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        # With a date of its own a file of the same rows would have other bytes each time.
        member = zipfile.ZipInfo(MEMBER, date_time=(1980, 1, 1, 0, 0, 0))
        member.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(member, text.getvalue().encode("utf-8"))
    return packed.getvalue()


def read(path: Path) -> list[Prediction]:
    """Read a submission, by whatever tool it was made, in the order of its rows.

    Raises:
        SubmissionError: it is no zip with a ``pred.csv`` of the three columns, or rows are not valid or twice there.
    """
    rows, problems = [], []
    # Universal newlines are off: an explanation keeps its own.
    reader = csv.reader(io.StringIO(_member(path), newline=""), strict=True)
    try:
        head = [name.strip() for name in next(reader, [])]
        if absent := [name for name in COLUMNS if head.count(name) != 1]:
            raise SubmissionError(
                f"{path}: the first line of {MEMBER} must name the columns {', '.join(COLUMNS)}, each once; "
                f"{', '.join(absent)}: not so (it has: {printable(', '.join(head)) or 'nothing'})"
            )
        for number, values in enumerate(reader, start=2):
            if not values:
                continue
            fields = dict(zip(head, values, strict=False))
            if len(values) != len(head):
                problems.append(f"row {number} has {len(values)} values, not {len(head)}")
            elif fields["label"] not in ("0", "1"):
                problems.append(f"row {number} ({fields['id']}) has the label {fields['label']!r}, not 0 or 1")
            else:
                rows.append(Prediction(fields["id"], int(fields["label"]), fields["explanation"]))
    except csv.Error as error:
        raise SubmissionError(f"{path}: {MEMBER} is no CSV ({error}, near line {reader.line_num})") from error
    if problems:
        raise SubmissionError(f"{path}: {len(problems)} rows of {MEMBER} are not valid: {listing(problems)}")
    if twice := repeated(row.id for row in rows):
        raise SubmissionError(f"{path}: {len(twice)} ids are there more than once: {listing(twice)}")
    return rows


def _member(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if names.count(MEMBER) != 1:
                raise SubmissionError(
                    f"{path}: must hold one {MEMBER}, at the top and not in a folder (it holds: "
                    f"{listing(names) or 'nothing'})"
                )
            info = archive.getinfo(MEMBER)
            if info.file_size > _MAX_BYTES:
                raise SubmissionError(f"{path}: {MEMBER} has {info.file_size:,} bytes unpacked: that is no submission")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise SubmissionError(f"{path}: {MEMBER} is not packed by Deflate: pack it again as a plain zip")
            return archive.read(MEMBER).decode("utf-8-sig")
    except OSError as error:
        raise SubmissionError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{path}: {MEMBER} is not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError) as error:
        # RuntimeError: it is encrypted, or packed in a way that zipfile does not know.
        raise SubmissionError(f"{path} is no zip that can be read ({error}): pack {MEMBER} again") from error


# --- its scores ------------------------------------------------------------------------------------------------------


def answers(path: Path) -> tuple[list[Explained], str]:
    """Put the predictions of a submission beside the references.

    Args:
        path: a zip, by whatever tool it was made; the order of its rows does not matter.

    Returns:
        The rows of the test split in its order, and what was read: dataset, split and digest.

    Raises:
        SubmissionError: the file is not valid, or its ids are not those of the test split.
        hub.DataError: the references (V-FLUTE's test split) cannot be had.
    """
    from figlang_tasks.vflute import rows as vflute_rows

    predictions = {row.id: row for row in read(path)}
    references = vflute_rows.load(DATASET, SPLIT, check_images=False).select_columns(
        ["id", "label", "explanation", "claim", "data"]
    )
    wanted = dict.fromkeys(references["id"])
    if missing := [row_id for row_id in wanted if row_id not in predictions]:
        raise SubmissionError(f"{path}: {len(missing)} of {len(wanted)} rows are missing: {listing(missing)}")
    if foreign := [row_id for row_id in predictions if row_id not in wanted]:
        raise SubmissionError(f"{path}: {len(foreign)} ids are none of the {SPLIT} split: {listing(foreign)}")
    rows = [
        Explained(
            row["id"],
            vflute_rows.LABELS[row["label"]],
            predictions[row["id"]].label,
            row["explanation"],
            predictions[row["id"]].explanation,
            row["claim"],
        )
        for row in references
    ]
    return rows, references[0]["data"]


def score(path: Path, scorer: Scorer) -> dict[str, Any]:
    """Compute what the board would for a submission.

    A label whose explanation scores at or below the threshold counts as the other one; macro F1 over the two labels.

    Args:
        path: as of `answers`.
        scorer: ``figlang24`` (`figlang_tasks.metrics.explanation.get_scorer`), or another in its place.

    Returns:
        file, data, n, ``without_explanation``, ``scorer``, ``signature``, and ``metrics``: f1@0, f1@50, f1@60, acc and
        explanation_score, 0 to 1, each with the ends of its 95 % interval.

    Raises:
        SubmissionError, hub.DataError: as `answers`.
        WeightsError: the scorer's weights cannot be had.
    """
    rows, data = answers(path)
    scored = scorer.score([row.reference for row in rows], [row.explanation for row in rows])
    metrics: dict[str, float] = {}
    for name, threshold in THRESHOLDS.items():
        metrics |= explanations.as_metrics(name, explanations.f1_at(rows, scored.mean, threshold))
    metrics |= explanations.as_metrics("acc", explanations.accuracy(rows))
    metrics |= explanations.as_metrics(explanations.MEAN_SCORE, explanations.mean_score(rows, scored.mean))
    return {
        "file": str(path),
        "data": data,
        "n": len(rows),
        "without_explanation": sum(not (row.explanation or "").strip() for row in rows),
        "scorer": scorer.name,
        "signature": scored.signature,
        "metrics": metrics,
    }
