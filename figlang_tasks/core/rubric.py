"""An explanation to judge, with all that people or a language model are told of its row.

A benchmark whose answers hold an explanation, or a caption, has a module ``rubric``. Its
``TEMPLATE`` tells a language model the row and what a good explanation is; ``explanation_of(record,
document)`` gives what it is rendered with, which is also what a sheet shows people.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from figlang_tasks.core.images import ImageCell

TEXT_COLUMNS = ("topic", "description", "premise", "claim", "caption", "reference")
"""What a judge may be told of a row, as columns of a sheet."""


@dataclass(frozen=True)
class ExplanationToJudge:
    """An explanation of a model, and the texts of its row.

    Nothing in it tells the model's name, its label or a score.

    Attributes:
        text: what the model wrote; "" if it gave no explanation.
        row_texts: the values of the rubric's template, by the names of `TEXT_COLUMNS`; the same
            for all models.
        picture: the undecoded picture of the row; None if the row has none.
    """

    text: str
    row_texts: Mapping[str, str]
    picture: ImageCell = None
