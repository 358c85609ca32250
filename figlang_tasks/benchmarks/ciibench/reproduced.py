"""Recomputes Table 4 of CII-Bench, for ``figlang reproduce``: descriptions of 130 paintings.

GPT-4o described paintings of traditional Chinese culture, and GPT-4o scored the descriptions from 1
to 5. Table 4 has the mean of the scores, of all and by label.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from figlang_tasks.benchmarks.ciibench.labels import SCOPES_BY_LABEL
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.row_files import brief, released_json

_ARCHIVE_FILE = "CTC_Evaluation/exp_CTC_with_scores.json"
"""The released judgements in the archive of the authors."""

_EXTRACTS = "ctc_rows*.json"
"""Files in the form of `_ARCHIVE_FILE`, each with some of its rows, that may stand in its place."""

_JUDGEMENTS = 130
_TABLE_4 = {
    "all": "2.71",
    "easy": "3.0",
    "medium": "3.2",
    "hard": "2.35",
    "positive": "2.63",
    "negative": "3.0",
    "neutral": "2.82",
}
"""The means as the paper prints them."""


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, published number (as text) and our number of each cell of Table 4.

    Args:
        folder: the archive of the authors, or a folder with `_EXTRACTS`.

    Raises:
        DataError: the folder does not have all judgements.
    """
    judgements = _read_judgements(folder)
    if len(judgements) != _JUDGEMENTS:
        raise DataError(
            f"{folder} has {len(judgements)} of the {_JUDGEMENTS} released judgements of paintings"
            f" ({_ARCHIVE_FILE} or {_EXTRACTS}): Table 4 needs all of them"
        )
    means = mean_scores(judgements)
    for scope, published in _TABLE_4.items():
        yield f"Table 4 GPT-4o, {scope}", published, means[scope]


def _read_judgements(folder: Path) -> list[dict[str, Any]]:
    """The released judgements that a folder has, each once."""
    paths = [folder / _ARCHIVE_FILE]
    if not paths[0].exists():
        paths = sorted(folder.glob(_EXTRACTS))
    judgements: list[dict[str, Any]] = []
    for path in paths:
        for judgement in released_json(path):
            if judgement not in judgements:  # two extracts may overlap
                judgements.append(judgement)
    return judgements


def mean_scores(judgements: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """The mean score of all paintings, and of those of each difficulty and emotion.

    A score is the first number in the reply of the judge: ``[3]``, which words may follow.
    """
    scores_by_scope: dict[str, list[int]] = {scope: [] for scope in _TABLE_4}
    for judgement in judgements:
        number = re.search(r"\d+", judgement["score"])
        if number is None:
            raise DataError(f"painting {judgement['id']}: {brief(judgement['score'])} has no score")
        difficulty = SCOPES_BY_LABEL["difficulty"][judgement["difficulty"]]
        emotion = SCOPES_BY_LABEL["emotion"][judgement["emotion"]]
        for scope in ("all", difficulty, emotion):
            scores_by_scope[scope].append(int(number[0]))
    return {scope: fmean(scores) for scope, scores in scores_by_scope.items()}
