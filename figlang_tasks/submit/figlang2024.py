"""The FigLang 2024 shared task on multimodal figurative language: its submission file, and its scores.

Participants hand in a zip with ``pred.csv``: id, label (1 entailment, 0 contradiction), explanation, for the 723 rows
of V-FLUTE's test split. The board takes macro F1 at 0, .50 and .60 with BERTScore F1 alone (Kulkarni et al. 2024, "A
Report on the FigLang 2024 Shared Task on Multimodal Figurative Language", 2024.figlang-1.16).

The board's scorer is public. It reads ``pred.csv`` with pandas, which takes an empty field for a missing value. A
missing label becomes the wrong one. A missing explanation is scored as the text ``nan``, but in the first row it makes
the metric's loader (the package ``evaluate``) raise, and the whole submission fails.
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

from figlang_tasks import scoring
from figlang_tasks.core import hub
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import printable
from figlang_tasks.results import samples
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.explained import pair
from figlang_tasks.scoring.records import EntailmentRecord
from figlang_tasks.submit import (
    SubmissionError,
    answered,
    brief,
    listing,
    plain,
    repeated,
    the_task,
    write_checked,
)

if TYPE_CHECKING:
    from figlang_tasks.metrics.explanation import Scorer

MEMBER = "pred.csv"
COLUMNS = ("id", "label", "explanation")
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
# What pandas 2 reads as a missing value (``na_values`` of ``read_csv``).
_MISSING = frozenset(
    ("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA")
    + ("NULL", "NaN", "None", "n/a", "nan", "null")
)
_AS_SCORED = "nan"  # what the board scores in place of a missing explanation
# With a missing label in the column pandas writes the others as 1.0 and 0.0.
_LABEL = re.compile(r"\s*([01])(?:\.0*)?\s*")
_MAX_BYTES = 50_000_000  # 723 explanations are a few hundred kB: more is no submission, or a zip made to fill a memory
_ID = re.compile(r"[a-z]+-test-(0|[1-9]\d*)")


@dataclass(frozen=True)
class Prediction:
    """A row of ``pred.csv``: released id, 1 entailment or 0 contradiction (None: no label), explanation as written."""

    id: str
    label: int | None
    explanation: str

    @property
    def explained(self) -> bool:
        """Whether the board finds an explanation: it reads ``None``, ``NA`` and the like as a missing one."""
        return self.explanation not in _MISSING


@dataclass(frozen=True)
class Written:
    """The content of the written file.

    Attributes:
        rows: predictions, in the order of the test split, but that one with an explanation comes first.
        unlabelled: how many have no label; the board counts them as wrong.
        empty: how many have no explanation.
        data: dataset, split and digest of what was asked.
    """

    rows: tuple[Prediction, ...]
    unlabelled: int
    empty: int
    data: str


# --- the file --------------------------------------------------------------------------------------------------------


def write(run: Run, output: Path, task: str | None = None) -> Written:
    """Write the zip of a run on V-FLUTE's test split.

    An output without a label gets an empty one, which the board counts as wrong. Where the first row of the split has
    no explanation, the first row that has one is written before it: the board finds rows by their ids.

    Args:
        run: the run.
        output: the zip; replaced whole or not at all.
        task: which of the run's tasks, where several are of that split.

    Raises:
        SubmissionError: rows are missing, twice there or foreign, no row has an explanation, the run was cut short, or
            the file cannot be written.
    """
    candidates = {name: each for name, each in run.tasks.items() if each.data.name == f"{DATASET}/{SPLIT}"}
    # A task that asks for labels alone is none to choose from, but samples.explained says more when it is all there is.
    explained = {name for name, each in candidates.items() if _asks_for_explanation(each)} or set(candidates)
    chosen = the_task(
        run, f"{DATASET}'s {SPLIT} split", lambda each: each.task in explained | ({task} & set(candidates)), task
    )
    try:
        checked = samples.explained(answered(chosen).path, chosen.lines)
    except RunError as error:
        raise SubmissionError(str(error)) from error
    records = _complete(chosen.path, checked)
    predictions = [Prediction(record.id, record.predicted, plain(record.explanation or "")) for record in records]
    first = next((row for row in predictions if row.explained), None)
    if first is None:
        raise SubmissionError(
            f"{chosen.path}: none of the {len(predictions)} rows has an explanation, and the board's scorer fails "
            f"where its first row has none: evaluate a model that explains its answers"
        )
    rows = (first, *(row for row in predictions if row is not first))

    def check(path: Path) -> None:
        if tuple(read(path)) != rows:
            raise SubmissionError(f"{output} does not read back as it was written: an explanation that CSV cannot hold")

    write_checked(output, _zip(rows), check)
    unlabelled = sum(row.label is None for row in rows)
    unexplained = sum(not (row.explained and row.explanation.strip()) for row in rows)
    return Written(rows, unlabelled, unexplained, str(chosen.data))


def _asks_for_explanation(task: TaskRun) -> bool:
    return task.lines[0]["sample"].get("asks_for_explanation") is not False


def _complete(path: Path, records: Sequence[EntailmentRecord]) -> list[EntailmentRecord]:
    """All rows of the test split in its order, or an error."""
    count = hub.source(DATASET).splits[SPLIT]
    foreign = [record.id for record in records if not _ID.fullmatch(record.id)]
    if foreign:
        raise SubmissionError(f"{path}: {len(foreign)} ids are not in the {SPLIT} split ({listing(foreign)})")
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
            f"{listing(beyond) or 'none'}): restore the file that the harness wrote"
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
    writer.writerows((row.id, "" if row.label is None else row.label, row.explanation) for row in rows)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        # Its date is always 1980: with that of today a file of the same rows would have other bytes each time.
        member = zipfile.ZipInfo(MEMBER)
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
                f"{path}: the first line of {MEMBER} must name the columns {', '.join(COLUMNS)}, each once, but "
                f"{', '.join(absent)} is missing or occurs twice (it has: {brief(', '.join(head)) or 'nothing'})"
            )
        for number, values in enumerate(reader, start=2):
            if not values:
                continue
            fields = dict(zip(head, values, strict=False))
            if len(values) != len(head):
                problems.append(f"row {number} has {len(values)} values, not {len(head)}")
            elif fields["label"] in _MISSING:
                rows.append(Prediction(fields["id"], None, fields["explanation"]))
            elif label := _LABEL.fullmatch(fields["label"]):
                rows.append(Prediction(fields["id"], int(label[1]), fields["explanation"]))
            else:
                problems.append(f"row {number} ({fields['id']}) has the label {fields['label']!r}, not 0, 1 or none")
    except csv.Error as error:
        raise SubmissionError(f"{path}: {MEMBER} is not CSV ({error}, near line {reader.line_num})") from error
    if problems:
        raise SubmissionError(f"{path}: {len(problems)} rows of {MEMBER} are not valid: {listing(problems)}")
    if twice := repeated(row.id for row in rows):
        raise SubmissionError(f"{path}: {len(twice)} ids occur more than once: {listing(twice)}")
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
                raise SubmissionError(
                    f"{path}: {MEMBER} has {info.file_size:,} bytes unpacked, too many for a submission"
                )
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise SubmissionError(f"{path}: {MEMBER} is not compressed with Deflate: make a plain zip again")
            return archive.read(MEMBER).decode("utf-8-sig")
    except OSError as error:
        raise SubmissionError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SubmissionError(f"{path}: {MEMBER} is not UTF-8 (byte {error.start}): save it as UTF-8") from error
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError) as error:
        # RuntimeError: it is encrypted, or packed in a way that zipfile does not know.
        raise SubmissionError(f"{path} is not a readable zip ({error}): zip {MEMBER} again") from error


# --- its scores ------------------------------------------------------------------------------------------------------


def answers(path: Path) -> tuple[list[dict[str, Any]], str]:
    """Join the predictions of a submission with the references, as the board does.

    Args:
        path: a zip, by whatever tool it was made. The order of its rows does not matter, but that the first one must
            have an explanation.

    Returns:
        Records of the rows of the test split in its order, as ``scoring.explained`` takes them, and what was read:
        dataset, split and digest.

    Raises:
        SubmissionError: the file is not valid, its ids are not those of the test split, or the board's scorer would
            fail, as its first row has no explanation.
        hub.DataError: the references (V-FLUTE's test split) are not available.
    """
    from figlang_tasks.benchmarks.vflute import rows as vflute_rows

    submitted = read(path)
    if submitted and not submitted[0].explained:
        raise SubmissionError(
            f"{path}: the first row of {MEMBER} ({printable(submitted[0].id)}) has no explanation, and the board's "
            f"scorer fails on such a file: put a row with an explanation first (the order of the rows does not matter)"
        )
    predictions = {row.id: row for row in submitted}
    references = vflute_rows.load(DATASET, SPLIT).select_columns(["id", "label", "explanation", "family", "data"])
    wanted = dict.fromkeys(references["id"])
    if missing := [row_id for row_id in wanted if row_id not in predictions]:
        raise SubmissionError(f"{path}: {len(missing)} of {len(wanted)} rows are missing: {listing(missing)}")
    if foreign := [row_id for row_id in predictions if row_id not in wanted]:
        raise SubmissionError(f"{path}: {len(foreign)} ids are not in the {SPLIT} split: {listing(foreign)}")
    rows = [
        {
            "id": row["id"],
            "gold": vflute_rows.LABELS[row["label"]],
            "predicted": predictions[row["id"]].label,
            "reference": row["explanation"],
            "explanation": predictions[row["id"]].explanation if predictions[row["id"]].explained else _AS_SCORED,
            "unit": row["family"],
        }
        for row in references
    ]
    return rows, references[0]["data"]


def score(path: Path, scorer: Scorer) -> dict[str, Any]:
    """Compute what the board would for a submission.

    A missing label, and one whose explanation scores at or below the threshold, counts as the wrong one; macro F1 over
    the two labels. A missing explanation is scored as the text ``nan``.

    Args:
        path: as of `answers`.
        scorer: ``figlang24`` (`figlang_tasks.metrics.explanation.get_scorer`), or another in its place.

    Returns:
        file, data, n, ``without_label``, ``without_explanation``, ``scorer``, ``signature``, and
        ``measures``: f1@0, f1@50, f1@60, explanation_score and acc, as ``scoring.to_json`` writes estimates.

    Raises:
        SubmissionError, hub.DataError: as `answers`.
        WeightsError: the scorer's weights are not available.
    """
    from figlang_tasks.benchmarks.vflute.measures import FIGLANG24

    rows, data = answers(path)
    scored = scorer.score(*zip(*map(pair, rows), strict=True))
    details = explanations.by_pair(list(map(pair, rows)), scored)
    for row in rows:
        row["explanation_scores"] = details[pair(row)]
    return {
        "file": str(path),
        "data": data,
        "n": len(rows),
        "without_label": sum(row["predicted"] is None for row in rows),
        "without_explanation": sum(row["explanation"].strip() in ("", _AS_SCORED) for row in rows),
        "scorer": scorer.name,
        "signature": scored.signature,
        "measures": scoring.to_json(scoring.evaluate(rows, FIGLANG24, stderr_resamples=0)),
    }
