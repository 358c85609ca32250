"""What the reports of explanations and of pictures share: who judged, agreement, and numbers as
people read them.

Tables have a row for each thing that was judged, and a column for each annotator.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.metrics import cohen_kappa_score

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.judge import sheet
from figlang_tasks.judge.sheet import Accepted
from figlang_tasks.metrics.agreement import krippendorff_alpha


def gathered(
    found: Mapping[str, Any],
    sheet_paths: Sequence[Path],
    places: pd.Index,
    columns: Mapping[str, Accepted],
) -> tuple[dict[str, pd.DataFrame], dict[str, Any]]:
    """A table of what annotators say for each of some columns, by place (item and letter); the head
    of the report.
    """
    said: dict[str, pd.DataFrame] = {}
    about = []
    for path in sheet_paths:
        filled = sheet.read(path, columns)
        if filled.code != found["sheet"]:
            raise FigLangError(
                f"{path} is a sheet of {filled.code}, but the key is of {found['sheet']}: give the"
                " key of this sheet"
            )
        if filled.annotator in said:
            raise FigLangError(
                f"{path} is of {filled.annotator}, like another sheet: give each annotator a"
                " separate sheet, or write the annotator's name into the column annotator"
            )
        own = sheet.meanings(filled, columns)
        if own[[*columns]].isna().all(axis=None):
            raise FigLangError(f"{path} is empty: fill it in first")
        for number in own["row"][~own.index.isin(places)]:
            raise FigLangError(
                f"{path}, row {number}: the key has no such item and letter: restore it as it was"
                " exported"
            )
        said[filled.annotator] = own.reindex(places)
        about.append(
            {
                "name": filled.annotator,
                "llm": filled.annotator.startswith(sheet.LLM),
                "file": path.name,
            }
        )
    tables = {
        column: pd.DataFrame({name: own[column] for name, own in said.items()})
        for column in columns
    }
    head = {
        "written_by": "figlang judge agree",
        "key": {"sheet": found["sheet"]},
        "data": found["data"],
    }
    return tables, {**head, "annotators": about}


def share(part: float, whole: float) -> float | None:
    """None where it is undefined."""
    return int(part) / int(whole) if whole else None


def unanimous(said: pd.DataFrame) -> pd.Series:
    """The judgements that all annotators agree on, where none is missing."""
    return said[said.nunique(axis=1, dropna=False).eq(1)].iloc[:, 0].dropna()


def majority(said: pd.Series) -> Any:
    """The judgement of more than half of all annotators; None if there is none."""
    return next(
        (each for each, count in said.value_counts().items() if 2 * count > len(said)), None
    )


def kappa(said: pd.DataFrame) -> float | None:
    """Cohen's kappa of two annotators, where both say something; None where it is undefined."""
    first, second = said.dropna().to_numpy(dtype=object).T.tolist()
    if len({*first, *second}) < 2:  # both always say the same, or nothing: expected agreement is 1
        return None
    return float(cohen_kappa_score(first, second))


def alpha(said: pd.DataFrame) -> float | None:
    """Krippendorff's alpha of all annotators; None where it is undefined."""
    found = krippendorff_alpha(row.dropna().tolist() for _, row in said.iterrows())
    return None if math.isnan(found) else found


def annotators_text(report: Mapping[str, Any]) -> str:
    """Who judged, a line each; ``labels_right`` where it is known."""
    lines = []
    for each in report["annotators"]:
        right = (
            f", labels right {percent(each['labels_right'])} %" if "labels_right" in each else ""
        )
        lines.append(f"{each['name']}: {each['file']}{right}")
        if gaps := each["missing"]:
            lines[-1] += f", {len(gaps)} judgements missing: {listing(gaps, 20)}"
    if any(each["llm"] for each in report["annotators"]):
        lines.append(
            "one of the annotators is a language model: this is not agreement between people"
        )
    return "\n".join(lines)


def percent(part: float | None) -> str:
    return "-" if part is None else f"{100 * part:.2f}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
