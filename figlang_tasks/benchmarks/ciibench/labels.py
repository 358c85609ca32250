"""The Chinese labels of CII-Bench's rows, and the English names of the scopes that they stand for.

The columns are those of the release; its counts are in docs/cards/ciibench.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from figlang_tasks.core.errors import DataError
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.row_files import brief

SCOPES_BY_LABEL: Mapping[str, Mapping[str, str]] = {
    "domain": {
        "生活": "life",
        "艺术": "art",
        "社会": "society",
        "政治": "politics",
        "环境": "environment",
        "中华传统文化": "chinese_culture",
    },
    "emotion": {"积极": "positive", "消极": "negative", "中性": "neutral"},
    "difficulty": {"简单": "easy", "中等": "medium", "困难": "hard"},
    "image_type": {
        "插画(Illustration)": "illustration",
        "绘画(Painting)": "painting",
        "海报(Poster)": "poster",
        "单格漫画(Single-panel Comic)": "single_panel",
        "多格漫画(Multi-panel Comic)": "multi_panel",
        "梗图(Meme)": "meme",
    },
    "rhetoric": {
        "隐喻": "metaphor",
        "夸张": "exaggeration",
        "象征": "symbolism",
        "对比": "contrast",
        "视觉错位": "visual_dislocation",
        "拟人": "personification",
        "类比": "analogy",
        "对立": "antithesis",
        "其他": "other_rhetoric",
    },
}
"""The scope of each label, by column, in the order of Tables 1, 6, 7 and 8 of the paper."""

SPLITS = ("test", "dev")
"""The splits of the release, which are scopes too."""


def scope_names() -> tuple[str, ...]:
    """All scopes in the order of tables: those of the labels, then the splits."""
    names: list[str] = []
    for scope_by_label in SCOPES_BY_LABEL.values():
        names.extend(scope_by_label.values())
    return (*names, *SPLITS)


@cache
def _label_pattern(column: str) -> str:
    """A pattern that matches each label of a column."""
    return "|".join(map(re.escape, SCOPES_BY_LABEL[column]))


def labels_of(cell: object, column: str, location: str) -> list[str]:
    """The labels in a cell: of ``隐喻`` that one, of ``{'choices': ['隐喻', '象征']}`` both.

    The archive has several labels as a dict, and the hub has them as the text that Python prints
    for it. So the text of either is matched with the known labels, and nothing is evaluated.

    Args:
        cell: a label, a dict of several, or the text of such a dict.
        column: a key of `SCOPES_BY_LABEL`.
        location: file, row and id, for messages.

    Raises:
        DataError: the cell has another form, or a label that is not of this column.
    """
    label = _label_pattern(column)
    several = rf"\{{'choices': \['(?:{label})'(?:, '(?:{label})')*\]\}}"
    if not re.fullmatch(f"{label}|{several}", str(cell)):
        known_labels = ", ".join(SCOPES_BY_LABEL[column])
        raise DataError(
            f"{location}: {column} is {brief(cell)}, must be of: {known_labels}. {USE_THE_RELEASE}"
        )
    return re.findall(label, str(cell))
