"""An explanation to judge, with all that a language model is told of its row.

A benchmark whose answers hold an explanation, or a caption, has a module ``rubric``. Its
``TEMPLATE`` tells a judge the row and what a good explanation is; ``explanation_of(record,
document)`` gives what it is rendered with (`figlang_tasks.judge.llm`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from figlang_tasks.core.images import ImageCell


@dataclass(frozen=True)
class ExplanationToJudge:
    """An explanation of a model, and the texts of its row.

    Nothing in it tells the model's name, its label or a score.

    Attributes:
        text: what the model wrote; "" if it gave no explanation.
        row_texts: the values of the rubric's template, which are the same for all models.
        picture: the undecoded picture of the row; None if the row has none.
    """

    text: str
    row_texts: Mapping[str, object]
    picture: ImageCell = None
