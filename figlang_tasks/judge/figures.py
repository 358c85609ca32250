"""What the reports of explanations and of pictures share: who judged, agreement, and numbers as people read them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.core.text import printable
from figlang_tasks.judge import JudgeError
from figlang_tasks.judge.sheet import Sheet
from figlang_tasks.metrics.agreement import cohen_kappa, krippendorff_alpha

WRITTEN_BY = "figlang judge agree"


def check_sheets(sheets: Sequence[Sheet], code: str) -> None:
    """Check that sheets are of one export, and of different annotators.

    Raises:
        JudgeError: they are not.
    """
    paths: dict[str, Path] = {}
    for filled in sheets:
        if filled.code != code:
            raise JudgeError(
                f"{filled.path} is a sheet of {filled.code}, but the key is of {code}: give the key of this sheet"
            )
        other = paths.setdefault(filled.annotator, filled.path)
        if other is not filled.path:
            raise JudgeError(
                f"{other} and {filled.path} are both of {filled.annotator}: give each annotator a separate sheet, or "
                "write the annotator's name into the column annotator"
            )


def about(filled: Sheet, missing: int) -> dict[str, Any]:
    """What a report says of an annotator with so many missing judgements."""
    named = {"name": filled.annotator, "llm": filled.llm, "file": filled.path.name, "sha256": filled.sha256}
    return {**named, "missing": missing}


def of_annotators(annotators: Iterable[dict[str, Any]]) -> list[str]:
    """Lines for people of what `about` says; ``labels_right`` where it is known."""
    found = list(annotators)
    lines = []
    for each in found:
        right = f", labels right {percent(each['labels_right'])} %" if "labels_right" in each else ""
        missing = f", {each['missing']} judgements missing" if each["missing"] else ""
        lines.append(f"{each['name']}: {printable(each['file'])}{right}{missing}")
    if any(each["llm"] for each in found):
        lines.append("one of the annotators is a language model: this is not agreement between people")
    return lines


def share(part: int, whole: int) -> float | None:
    """None where it is undefined."""
    return part / whole if whole else None


def majority(said: Iterable[str | None]) -> str | None:
    """What more than half of all annotators say; None if there is no such judgement."""
    counts = Counter(said)
    (most, count), *_ = counts.most_common(1)
    return most if 2 * count > counts.total() else None


def kappa(said: Iterable[Sequence[str | None]]) -> float | None:
    """Cohen's kappa of what two say, where both say something; None where it is undefined."""
    both = [pair for pair in said if None not in pair]
    found = cohen_kappa(*zip(*both, strict=True)) if both else math.nan
    return None if math.isnan(found) else found


def alpha(said: Iterable[Sequence[str | None]]) -> float | None:
    """Krippendorff's alpha of what all say; None where it is undefined."""
    found = krippendorff_alpha([label for label in labels if label is not None] for labels in said)
    return None if math.isnan(found) else found


def percent(part: float | None) -> str:
    return "-" if part is None else f"{100 * part:.2f}"


def number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
