"""The FigLang 2024 shared task on multimodal figurative language: its submission and its scores.

Participants hand in a zip with ``pred.csv``: id, label (1 entailment, 0 contradiction) and
explanation, for the 723 rows of V-FLUTE's test split. The board takes macro F1 at 0, .50 and .60
with BERTScore F1 alone (Kulkarni et al. 2024, "A Report on the FigLang 2024 Shared Task on
Multimodal Figurative Language", 2024.figlang-1.16).

The board's scorer is public. It reads ``pred.csv`` with pandas, as this module does: an empty
field, ``NA``, ``None`` and the like are missing values. A missing label becomes the wrong one. A
missing explanation is scored as the text ``nan``, but in the first row it makes the metric's loader
(the package ``evaluate``) raise, and the whole submission fails.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from figlang_tasks import scoring
from figlang_tasks.core import files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.text import listing, printable
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import Record, explanations
from figlang_tasks.scoring.explained import text_pair
from figlang_tasks.submit import (
    SubmissionError,
    check_answers,
    single_task,
    utf8_text,
    zip_files,
)

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.metrics.explanation import Scorer
    from figlang_tasks.scoring.estimates import SavedEstimates

MEMBER = "pred.csv"
COLUMNS = ("id", "label", "explanation")
DATASET = "V-FLUTE"
SPLIT = "test"
UPLOAD = (
    "CodaBench, the competition of the FigLang 2024 shared task on multimodal figurative language"
)

_MISSING_EXPLANATION = "nan"
"""What the board scores in place of a missing explanation."""


# --- writing the submission ---


class Prediction(NamedTuple):
    """A row of the submission; the label is None, or the explanation "", if the output has none."""

    id: str
    label: int | None
    explanation: str


class SubmissionCounts(TypedDict):
    """What a submission holds.

    Attributes:
        data: the rows that were answered.
        n: their number.
        without_label: how many have no label, which the board counts as wrong.
        without_explanation: how many have no explanation, as the board reads it, or a blank one.
    """

    data: str
    n: int
    without_label: int
    without_explanation: int


def write(run: Run, output: Path) -> SubmissionCounts:
    """Write the zip of a run on V-FLUTE's test split, and return what it holds.

    The board fails if the first row of the file has no explanation, and finds rows by their ids. So
    the first row with an explanation is written before all others.

    Args:
        output: the path of the zip.

    Raises:
        SubmissionError: the run cannot be submitted, or no row has an explanation.
    """
    description = f"{DATASET}'s {SPLIT} split with explanations"
    task = single_task(run, description, can_be_submitted=_is_submittable)
    check_answers(task, source_of(DATASET).splits[SPLIT])
    with task.reporting_damage():
        predictions = _predictions(task.records)
    # Whether each row has an explanation once the board has read it: "NA" is a missing one too.
    # The rows are read back in the order of `predictions`.
    rows_of_board = _parse_csv(_to_csv(predictions))
    is_explained = list(rows_of_board["explanation"].notna())
    if not any(is_explained):
        raise SubmissionError(
            f"{task.path}: none of the {len(predictions)} rows has an explanation, and the board's"
            " scorer fails where its first row has none: evaluate a model that explains its"
            " answers"
        )
    first = predictions[is_explained.index(True)]
    others = [prediction for prediction in predictions if prediction is not first]
    write_whole(output, zip_files({MEMBER: _to_csv([first, *others])}))

    # The board reads a blank explanation as a text, but here it counts as none.
    without_explanation = 0
    for prediction, has_explanation in zip(predictions, is_explained, strict=True):
        is_blank = not prediction.explanation.strip()
        if is_blank or not has_explanation:
            without_explanation += 1
    return {
        "data": str(task.data),
        "n": len(predictions),
        "without_label": sum(prediction.label is None for prediction in predictions),
        "without_explanation": without_explanation,
    }


def _is_submittable(task: TaskRun) -> bool:
    """Whether a task asked for explanations of the released rows of the test split."""
    is_test_split = task.data.name == f"{DATASET}/{SPLIT}"
    return task.has_explanations and is_test_split and not task.has_user_rows


def _predictions(records: Sequence[Record]) -> list[Prediction]:
    """The rows of the submission in the order of the split."""
    predictions = []
    for record in sorted(records, key=_position_in_split):
        explanation = utf8_text(record["explanation"] or "")
        predictions.append(Prediction(record["id"], record["predicted"], explanation))
    return predictions


def _position_in_split(record: Record) -> int:
    """The position of a record in the split: 12 for the id ``vflute-test-12``."""
    return int(record["id"].rpartition("-")[2])


def _to_csv(predictions: Sequence[Prediction]) -> bytes:
    """The content of ``pred.csv``, with an empty field for what is missing."""
    import pandas as pd

    table = pd.DataFrame(predictions, columns=list(COLUMNS), dtype=object)
    return table.to_csv(index=False, lineterminator="\n").encode()


def _parse_csv(content: bytes) -> pd.DataFrame:
    """The table in a ``pred.csv`` as the board reads it, with NaN for what is missing."""
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), dtype={"id": str, "explanation": str})


# --- reading a submission ---


def read(path: Path) -> pd.DataFrame:
    """Read the zip of a submission that any tool made, as the board does.

    Returns:
        The columns ``id``, ``label`` (0, 1 or NaN) and ``explanation`` (a text or NaN), with a row
        for each id.

    Raises:
        SubmissionError: the file is not such a zip, or has other labels, or an id twice.
    """
    import pandas as pd

    content = _read_member(path)
    try:
        table = _parse_csv(content).rename(columns=str.strip)
        predictions = table[list(COLUMNS)]
    except UnicodeDecodeError as error:
        raise SubmissionError(
            f"{path}: {MEMBER} is not UTF-8 (byte {error.start}): save it as UTF-8"
        ) from error
    except (ValueError, KeyError) as error:
        raise SubmissionError(
            f"{path}: {MEMBER} is not CSV with the columns {', '.join(COLUMNS)}"
            f" ({printable(error, limit=200)})"
        ) from error

    labels = pd.to_numeric(predictions["label"], errors="coerce")  # NaN for words
    has_wrong_label = predictions["label"].notna() & ~labels.isin([0, 1])
    if has_wrong_label.any():
        wrong_rows = predictions[has_wrong_label]
        ids_and_labels = zip(wrong_rows["id"], wrong_rows["label"], strict=True)
        examples = [f"{row_id} has {label}" for row_id, label in ids_and_labels]
        raise SubmissionError(
            f"{path}: {len(wrong_rows)} labels are not 0, 1 or none: {listing(examples)}"
        )
    repeated_ids = predictions["id"][predictions["id"].duplicated()]
    if repeated_ids.size:
        raise SubmissionError(
            f"{path}: {len(repeated_ids)} ids occur more than once: {listing(repeated_ids)}"
        )
    return predictions.assign(label=labels)


def _read_member(path: Path) -> bytes:
    """The content of ``pred.csv`` in the zip at `path`.

    Raises:
        SubmissionError: the file is not a readable zip, or does not hold exactly one ``pred.csv``.
        OSError: there is no regular file at `path`.
    """
    content = None  # stays so if the zip does not hold exactly one pred.csv
    try:
        files.check_file(path)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if names.count(MEMBER) == 1:
                content = files.read_member(archive, MEMBER)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError) as error:
        # zipfile raises a RuntimeError if a zip is encrypted or packed in an unknown way, and
        # a ValueError if a name in it is damaged (not UTF-8).
        raise SubmissionError(
            f"{path} is not a readable zip ({error}): zip {MEMBER} again"
        ) from error
    if content is None:
        raise SubmissionError(
            f"{path}: must hold one {MEMBER}, at the top and not in a folder (it holds: "
            f"{listing(names) or 'nothing'})"
        )
    return content


# --- scoring a submission ---


class BoardScores(TypedDict):
    """What the board computes for a submission.

    Attributes:
        file: the path of the submission.
        data: the name of the data whose references were used.
        n: the number of rows.
        without_label, without_explanation: how many rows lack one.
        scorer, signature: of the explanations: the scorer's name, and its name with versions.
        measures: the values, as results files hold them (`figlang_tasks.scoring.to_json`).
    """

    file: str
    data: str
    n: int
    without_label: int
    without_explanation: int
    scorer: str
    signature: str
    measures: SavedEstimates


def score(path: Path, get_scorer: Callable[[], Scorer]) -> BoardScores:
    """Compute the scores that the board would give a submission: macro F1 over the two labels.

    A missing label counts as the wrong one, as does a label whose explanation scores at or below
    the threshold. A missing explanation is scored as the text ``nan``, which `join_references` puts
    in its place.

    Args:
        path: the zip of the submission.
        get_scorer: loads the scorer of explanations; not called for a file that is not valid.

    Raises:
        SubmissionError: the board would not take the file.
    """
    from figlang_tasks.benchmarks.vflute.measures import FIGLANG24

    records, data = join_references(path)
    scorer = get_scorer()  # takes time, so it comes after the file was checked
    scores = explanations.score_pairs(list(map(text_pair, records)), scorer)
    for record in records:
        # The measures below read this field.
        record["explanation_scores"] = scores.details[text_pair(record)]
    estimates = scoring.evaluate(records, FIGLANG24, stderr_resamples=0)
    without_explanation = 0
    for record in records:
        # The board reads a blank explanation as a text, but here it counts as none.
        explanation = record["explanation"].strip()
        if explanation in ("", _MISSING_EXPLANATION):
            without_explanation += 1
    return {
        "file": str(path),
        "data": data,
        "n": len(records),
        "without_label": sum(record["predicted"] is None for record in records),
        "without_explanation": without_explanation,
        "scorer": scorer.name,
        "signature": scores.signature,
        "measures": scoring.to_json(estimates),
    }


def join_references(path: Path) -> tuple[list[dict[str, Any]], str]:
    """The records of a submission's rows, joined with the references, and the name of their data.

    Rows are joined by id, as the board does it. A missing explanation becomes the text ``nan``.

    Args:
        path: the zip of the submission.

    Returns:
        A record for each row of the split, in the order of the split, without explanation scores;
        and the name of the data.

    Raises:
        SubmissionError: the board would not take the file.
    """
    from figlang_tasks.benchmarks.vflute import rows as vflute_rows

    predictions = read(path)
    first_explanation = predictions["explanation"].head(1)
    first_is_unexplained = first_explanation.isna().any()  # False without rows
    if first_is_unexplained:
        raise SubmissionError(
            f"{path}: the first row of {MEMBER} ({printable(predictions['id'].iloc[0])}) has no"
            " explanation, and the board's scorer fails on such a file: put a row with an"
            " explanation first (the order of the rows does not matter)"
        )
    references = vflute_rows.load(DATASET, SPLIT).select_columns(
        ["id", "label", "explanation", "family", "data"]
    )
    # None in place of NaN
    predictions = predictions.astype(object).where(predictions.notna(), None)
    _check_ids(path, list(predictions["id"]), references["id"])
    prediction_by_id = predictions.set_index("id").to_dict("index")
    records = []
    for row in references:
        prediction = prediction_by_id[row["id"]]
        label = prediction["label"]
        explanation = prediction["explanation"]
        records.append(
            {
                "id": row["id"],
                "gold": vflute_rows.LABELS[row["label"]],
                "predicted": None if label is None else int(label),
                "reference": row["explanation"],
                "explanation": _MISSING_EXPLANATION if explanation is None else explanation,
                "unit": row["family"],
            }
        )
    return records, references[0]["data"]


def _check_ids(path: Path, submitted_ids: Sequence[str], split_ids: Sequence[str]) -> None:
    """Raise a `SubmissionError` unless a submission has the rows of the split and no others."""
    submitted = set(submitted_ids)
    missing = [row_id for row_id in split_ids if row_id not in submitted]
    if missing:
        raise SubmissionError(
            f"{path}: {len(missing)} of {len(split_ids)} rows are missing: {listing(missing)}"
        )
    expected = set(split_ids)
    foreign = [row_id for row_id in submitted_ids if row_id not in expected]
    if foreign:
        raise SubmissionError(
            f"{path}: {len(foreign)} ids are not in the {SPLIT} split: {listing(foreign)}"
        )
