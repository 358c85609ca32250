"""Refuses tables whose columns may mean two things: the model's, and the right ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import listing
from figlang_tasks.results.predictions.prediction import ColumnNames

_SIGN_OF_A_MODEL = re.compile(
    r".*(?:pred|model|llm|gen|hyp(?!othes[ie]s)|output|response|completion).*"
    r"|.+(?:label|explanation|answer)",
    re.DOTALL,
)
"""A name that makes another column doubtful: ``pred_label``, ``gold_label``, ``model``."""

_EXPLANATION = re.compile("explanation|rationale")
_LABELS_AND_EXPLANATIONS: Final = ("label", "predicted", "explanation", "rationale")


def folded_column(column: str) -> str:
    """The name of a column without capitals and without spaces around it."""
    return column.strip().lower()


def check_answer(path: Path, column_names: Sequence[str], answer: str, has_scores: bool) -> None:
    """Raise a `RunError` if the column `answer` may have the right answers.

    Args:
        path: of the table.
        column_names: of the table.
        answer: the name of the column, as the table writes it.
        has_scores: whether the table has scores of candidates.
    """
    others = [
        column
        for column in column_names
        if column != answer and (folded_column(column) == "question" or _says_model(column))
    ]
    if not others and not has_scores:
        return
    beside = listing(map(repr, others)) if others else "scores"
    raise RunError(
        f"{path} has {answer!r} beside {beside}, and no prediction: {answer} may be the right"
        f" answer, as in sheets of VLMEvalKit. If a model said what stands there, add"
        f" --output {answer!r}; if another column has it, --output COLUMN or --label COLUMN;"
        f" else remove {answer}"
    )


def check_output(path: Path, column_names: Sequence[str], output: str, named: ColumnNames) -> None:
    """Raise a `RunError` if an explanation, or a label, would be left out beside an output.

    Args:
        path: of the table.
        column_names: of the table.
        output: the column that was taken for the output.
        named: the columns that the user named.
    """
    if named.output is not None:
        for option, column in (("--label", named.label), ("--explanation", named.explanation)):
            if column is not None:
                raise RunError(
                    f"{path}: --output and {option} cannot both be given: a whole output holds the"
                    f" label and the explanation. Leave out {option}; or leave out --output, and"
                    " name the label with --label"
                )
        return
    explanations = [
        column
        for column in column_names
        if column != output
        and (column == named.explanation or _EXPLANATION.search(folded_column(column)))
    ]
    if explanations:
        raise RunError(
            f"{path} has {output!r} and {listing(map(repr, explanations))}: if {output} holds the"
            f" label, give --label {output!r}; if it holds the whole output, --output {output!r}"
        )


def check_label(
    path: Path,
    column_names: Sequence[str],
    label: str,
    explanation: str | None,
    named: ColumnNames,
) -> None:
    """Raise a `RunError` if a label or an explanation that nobody named may be the right one.

    Args:
        path: of the table.
        column_names: of the table.
        label: the column that was taken for the label.
        explanation: the column that was taken for the explanation; None if there is none.
        named: the columns that the user named.
    """
    others = [column for column in column_names if column not in (label, named.id)]
    doubtful = [column for column in others if _says_model(column)]
    if named.label is None and doubtful:
        raise RunError(
            f"{path} has {label!r} beside {listing(map(repr, doubtful))}, and one of them may be"
            " the right label: name those of the model with --label COLUMN [--explanation COLUMN]"
        )
    if explanation is None or named.explanation is not None:
        return
    doubtful = [
        column
        for column in others
        if column != explanation
        and (_says_model(column) or folded_column(column) in _LABELS_AND_EXPLANATIONS)
    ]
    if doubtful:
        raise RunError(
            f"{path} has {explanation!r} beside {listing(map(repr, doubtful))}, and it may be the"
            " right explanation: name the one of the model with --explanation COLUMN; if it gave"
            f" none, remove {explanation}"
        )


def _says_model(column: str) -> bool:
    """Whether the name of a column says that a model, or a dataset, wrote what others may hold."""
    return _SIGN_OF_A_MODEL.fullmatch(folded_column(column)) is not None
