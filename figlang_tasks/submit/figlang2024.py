"""The FigLang 2024 shared task on multimodal figurative language: its submission file, and its
scores.

Participants hand in a zip with ``pred.csv``: id, label (1 entailment, 0 contradiction),
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
from typing import TYPE_CHECKING, Any

from figlang_tasks import scoring
from figlang_tasks.core import files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.text import listing, printable
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import explanations
from figlang_tasks.scoring.explained import text_pair
from figlang_tasks.submit import SubmissionError, answered, plain, the_task, zipped

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.metrics.explanation import Scorer

MEMBER = "pred.csv"
COLUMNS = ("id", "label", "explanation")
DATASET, SPLIT = "V-FLUTE", "test"
UPLOAD = (
    "CodaBench, the competition of the FigLang 2024 shared task on multimodal figurative language"
)

_AS_SCORED = "nan"  # what the board scores in place of a missing explanation


# --- the file ---


def write(run: Run, output: Path) -> dict[str, Any]:
    """Write the zip of a run on V-FLUTE's test split.

    An output without a label gets an empty one, which the board counts as wrong. Where the first
    row of the split has no explanation, the first row that has one is written before it: the board
    finds rows by their ids.
    """
    chosen = the_task(run, f"{DATASET}'s {SPLIT} split with explanations", _fits)
    answered(chosen, source_of(DATASET).splits[SPLIT])
    rows = chosen.compute_from_records(
        lambda _, records: [
            (each["id"], each["predicted"], plain(each["explanation"] or ""))
            # The order of the split
            for each in sorted(records, key=lambda each: int(each["id"].rpartition("-")[2]))
        ]
    )
    missing = [not text for text in _read(_csv(rows))["explanation"].notna()]
    if all(missing):
        raise SubmissionError(
            f"{chosen.path}: none of the {len(rows)} rows has an explanation, and the board's"
            " scorer fails where its first row has none: evaluate a model that explains its"
            " answers"
        )
    first = rows[missing.index(False)]
    write_whole(
        output, zipped({MEMBER: _csv([first, *(each for each in rows if each is not first)])})
    )
    return {
        "data": str(chosen.data),
        "n": len(rows),
        "without_label": sum(label is None for _, label, _ in rows),
        "without_explanation": sum(
            absent or not text.strip() for (*_, text), absent in zip(rows, missing, strict=True)
        ),
    }


def _fits(task: TaskRun) -> bool:
    return (
        task.has_explanations and task.data.name == f"{DATASET}/{SPLIT}" and not task.has_user_rows
    )


def _csv(rows: Sequence[tuple[str, int | None, str]]) -> bytes:
    import pandas as pd

    return (
        pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)
        .to_csv(index=False, lineterminator="\n")
        .encode()
    )


def _read(content: bytes) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(io.BytesIO(content), dtype={"id": str, "explanation": str})


def read(path: Path) -> pd.DataFrame:
    """Read a submission, by whatever tool it was made: its columns id, label and explanation, as
    the board does.
    """
    import pandas as pd

    try:
        files.check_file(path)
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if names.count(MEMBER) != 1:
                raise SubmissionError(
                    f"{path}: must hold one {MEMBER}, at the top and not in a folder (it holds: "
                    f"{listing(names) or 'nothing'})"
                )
            content = files.read_member(archive, MEMBER)
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError) as error:
        # RuntimeError: it is encrypted, or packed in a way that zipfile does not know.
        raise SubmissionError(
            f"{path} is not a readable zip ({error}): zip {MEMBER} again"
        ) from error
    try:
        found = _read(content).rename(columns=str.strip)
        rows = found[list(COLUMNS)]
    except UnicodeDecodeError as error:
        raise SubmissionError(
            f"{path}: {MEMBER} is not UTF-8 (byte {error.start}): save it as UTF-8"
        ) from error
    except (ValueError, KeyError) as error:
        raise SubmissionError(
            f"{path}: {MEMBER} is not CSV with the columns {', '.join(COLUMNS)}"
            f" ({printable(error, limit=200)})"
        ) from error
    labels = pd.to_numeric(rows["label"], errors="coerce")
    if (wrong := rows[rows["label"].notna() & ~labels.isin([0, 1])]).size:
        told = [f"{each.id} has {each.label}" for each in wrong.itertuples()]
        raise SubmissionError(f"{path}: {len(told)} labels are not 0, 1 or none: {listing(told)}")
    if (twice := rows["id"][rows["id"].duplicated()]).size:
        raise SubmissionError(f"{path}: {len(twice)} ids occur more than once: {listing(twice)}")
    return rows.assign(label=labels)


# --- its scores ---


def answers(path: Path) -> tuple[list[dict[str, Any]], str]:
    """Join the predictions of a submission with the references, as the board does."""
    from figlang_tasks.benchmarks.vflute import rows as vflute_rows

    submitted = read(path)
    if submitted["explanation"].isna().head(1).any():
        raise SubmissionError(
            f"{path}: the first row of {MEMBER} ({printable(submitted['id'].iloc[0])}) has no"
            " explanation, and the board's scorer fails on such a file: put a row with an"
            " explanation first (the order of the rows does not matter)"
        )
    submitted = submitted.astype(object).where(submitted.notna(), None)
    predictions = submitted.set_index("id").to_dict("index")
    references = vflute_rows.load(DATASET, SPLIT).select_columns(
        ["id", "label", "explanation", "family", "data"]
    )
    wanted = dict.fromkeys(references["id"])
    if missing := [row_id for row_id in wanted if row_id not in predictions]:
        raise SubmissionError(
            f"{path}: {len(missing)} of {len(wanted)} rows are missing: {listing(missing)}"
        )
    if foreign := [row_id for row_id in predictions if row_id not in wanted]:
        raise SubmissionError(
            f"{path}: {len(foreign)} ids are not in the {SPLIT} split: {listing(foreign)}"
        )
    rows = []
    for row in references:
        label, explanation = (predictions[row["id"]][column] for column in ("label", "explanation"))
        rows.append(
            {
                "id": row["id"],
                "gold": vflute_rows.LABELS[row["label"]],
                "predicted": None if label is None else int(label),
                "reference": row["explanation"],
                "explanation": _AS_SCORED if explanation is None else explanation,
                "unit": row["family"],
            }
        )
    return rows, references[0]["data"]


def score(path: Path, get_scorer: Callable[[], Scorer]) -> dict[str, Any]:
    """Compute what the board would for a submission; a file that is not valid costs no loading of a
    scorer.

    A missing label, and one whose explanation scores at or below the threshold, counts as the wrong
    one; macro F1 over the two labels. A missing explanation is scored as the text ``nan``.
    """
    from figlang_tasks.benchmarks.vflute.measures import FIGLANG24

    rows, data = answers(path)
    scorer = get_scorer()
    scores = explanations.score_pairs(list(map(text_pair, rows)), scorer)
    for row in rows:
        row["explanation_scores"] = scores.details[text_pair(row)]
    return {
        "file": str(path),
        "data": data,
        "n": len(rows),
        "without_label": sum(row["predicted"] is None for row in rows),
        "without_explanation": sum(row["explanation"].strip() in ("", _AS_SCORED) for row in rows),
        "scorer": scorer.name,
        "signature": scores.signature,
        "measures": scoring.to_json(scoring.evaluate(rows, FIGLANG24, stderr_resamples=0)),
    }
