"""What reports on explanations and on pictures share: judgements, agreement, numbers for people.

A table of judgements has a row for each thing that was judged, and a column for each annotator.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.metrics import cohen_kappa_score

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.judge import sheet
from figlang_tasks.judge.key import ExplanationKey, PictureKey
from figlang_tasks.judge.reports import Annotator, ReportHead
from figlang_tasks.judge.sheet import Sheet, Spellings
from figlang_tasks.metrics.agreement import krippendorff_alpha

# --- judgements ---


def gather_judgements(
    key: ExplanationKey | PictureKey,
    sheet_paths: Sequence[Path],
    judged: pd.Index,
    spellings_by_column: Mapping[str, Spellings],
) -> tuple[dict[str, pd.DataFrame], list[Annotator]]:
    """Read filled sheets into tables of judgements, and list the annotators.

    Args:
        key: the key of the sheets.
        sheet_paths: a sheet of each annotator.
        judged: item and letter of everything that was judged.
        spellings_by_column: the columns to read, each with its values and the cells that mean them.

    Returns:
        For each of these columns a table by item and letter, with a column per annotator and None
        for a missing judgement; and the annotators in the order of their sheets, without `missing`
        and `labels_right`.

    Raises:
        FigLangError: a sheet cannot be read, is empty or belongs to another key, or two are of one
            annotator.
    """
    columns = list(spellings_by_column)
    judgements_by_annotator: dict[str, pd.DataFrame] = {}
    annotators: list[Annotator] = []
    for path in sheet_paths:
        filled = sheet.read(path, columns)
        _check_origin(filled, key, judgements_by_annotator)
        judgements = sheet.read_judgements(filled, spellings_by_column)
        if judgements[columns].isna().all(axis=None):
            raise FigLangError(f"{path} is empty: fill it in first")
        is_unknown = ~judgements.index.isin(judged)
        # The column `row` has the number of each row in the sheet.
        for number in judgements["row"][is_unknown]:  # raises at the first one
            raise FigLangError(
                f"{path}, row {number}: the key has no such item and letter:"
                " restore it as it was exported"
            )
        # In the order of `judged`; what the sheet has no row for is a missing judgement.
        judgements_by_annotator[filled.annotator] = judgements.reindex(judged)
        is_llm = sheet.is_language_model(filled.annotator)
        annotators.append({"name": filled.annotator, "llm": is_llm, "file": path.name})

    tables: dict[str, pd.DataFrame] = {}
    for column in columns:
        by_annotator: dict[str, pd.Series] = {}
        for annotator, judgements in judgements_by_annotator.items():
            by_annotator[annotator] = judgements[column]
        tables[column] = pd.DataFrame(by_annotator)
    return tables, annotators


def _check_origin(
    filled: Sheet, key: ExplanationKey | PictureKey, earlier_annotators: Container[str]
) -> None:
    """Raise a `FigLangError` if a sheet has another key, or an annotator of an earlier sheet."""
    if filled.code != key["sheet"]:
        raise FigLangError(
            f"{filled.path} is a sheet of {filled.code}, but the key is of {key['sheet']}:"
            " give the key of this sheet"
        )
    if filled.annotator in earlier_annotators:
        raise FigLangError(
            f"{filled.path} is of {filled.annotator}, like another sheet:"
            " give each annotator a separate sheet, or write the annotator's name into the column"
            " annotator"
        )


def report_head(key: ExplanationKey | PictureKey, annotators: Sequence[Annotator]) -> ReportHead:
    """What every report begins with: the command, the key, its data and the annotators."""
    return {
        "written_by": "figlang judge agree",
        "key": {"sheet": key["sheet"]},
        "data": key["data"],
        "annotators": list(annotators),
    }


# --- agreement ---


def share(part: float, whole: float) -> float | None:
    """The ratio of two counts, 0 to 1; None where it is undefined, as the whole is 0."""
    return int(part) / int(whole) if whole else None


def unanimous(judgements: pd.DataFrame) -> pd.Series:
    """The common judgement of each thing that all annotators judge alike; the others are left out.

    A thing that some annotator has not judged is left out too.
    """
    is_unanimous = judgements.nunique(axis=1, dropna=False).eq(1)
    # All annotators say the same there, so the first stands for all; nothing if none has judged.
    return judgements[is_unanimous].iloc[:, 0].dropna()


def majority(judgements: pd.Series) -> Any:
    """The judgement of more than half of all annotators of one thing; None if there is none.

    Annotators who have not judged the thing count among all.
    """
    for judgement, count in judgements.value_counts().items():  # counts no missing judgements
        if 2 * count > len(judgements):
            return judgement
    return None


def kappa(judgements: pd.DataFrame) -> float | None:
    """Cohen's kappa of two annotators, over what both have judged; None where it is undefined.

    Args:
        judgements: a table with two columns.
    """
    first, second = judgements.dropna().to_numpy(dtype=object).T.tolist()
    if len({*first, *second}) < 2:  # only one judgement occurs, or none: kappa would be 0 / 0
        return None
    return float(cohen_kappa_score(first, second))


def alpha(judgements: pd.DataFrame) -> float | None:
    """Krippendorff's alpha of all annotators; None where it is undefined."""
    units = [row.dropna().tolist() for _, row in judgements.iterrows()]
    coefficient = krippendorff_alpha(units)
    return None if math.isnan(coefficient) else coefficient


# --- text ---


def annotators_text(annotators: Sequence[Annotator]) -> str:
    """The annotators in a line each: sheet, share of right labels if known, missing judgements."""
    lines: list[str] = []
    for annotator in annotators:
        line = f"{annotator['name']}: {annotator['file']}"
        if "labels_right" in annotator:
            line += f", labels right {percent(annotator['labels_right'])} %"
        missing = annotator["missing"]
        if missing:
            line += f", {len(missing)} judgements missing: {listing(missing, 20)}"
        lines.append(line)
    if any(annotator["llm"] for annotator in annotators):
        lines.append(
            "one of the annotators is a language model: this is not agreement between people"
        )
    return "\n".join(lines)


def percent(proportion: float | None) -> str:
    """A share, 0 to 1, in percent with two decimals; "-" where it is undefined (None)."""
    return "-" if proportion is None else f"{100 * proportion:.2f}"


def number(coefficient: float | None) -> str:
    """A coefficient with two decimals; "-" where it is undefined (None)."""
    return "-" if coefficient is None else f"{coefficient:.2f}"
