"""`Prediction`: one answer in a file, and what tells which row it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

Content: TypeAlias = Literal["words", "labels", "scores"]
"""What the predictions of a file are: outputs in words, labels with or without explanations, or a
score for each candidate.
"""


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """One answer in a file.

    Attributes:
        location: the file and the line, row or entry, for messages.
        id: the id of the row that is answered, as the file has it; None if it has no ids.
        row_number: the number of the row, from 0; None if the file has none.
        texts: other texts of the row by column, by which it may be found.
        output: what the model said; None if there is no answer.
        label: the label that the file gives in place of words; None if it gives none.
        explanation: the explanation beside the label; None if there is none.
        scores: the score of each candidate, in the order of the task's candidates; None if the
            model answered in words.
        prompt: the prompt that the model got, where the file has it.
        target: the right answer that a harness saved beside it; None if the file has none.
        data: the identity of the data that a task of ours recorded; None elsewhere.
    """

    location: str
    id: str | None = None
    row_number: int | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    output: str | None = None
    label: str | None = None
    explanation: str | None = None
    scores: Sequence[float] | None = None
    prompt: str | None = None
    target: str | None = None
    data: str | None = None


@dataclass(frozen=True, kw_only=True)
class PredictionFile:
    """The predictions of one model for one task, as a file has them.

    Attributes:
        path: of the file.
        form: what the file is, for people: ``CSV``, ``samples of lmms-eval``.
        content: what the predictions are.
        predictions: in the order of the file, at least one.
        columns: which column was taken for what: ``{"id": "sample_id", "output": "response"}``.
        model: the model that the file names; None if it names none.
        task: the task that the file names; None if it names none.
        settings: the generation settings that the file names.
    """

    path: Path
    form: str
    content: Content
    predictions: Sequence[Prediction]
    columns: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    task: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """What was read, in one line: ``answers.csv: 723 predictions (CSV): id from sample_id``."""
        text = f"{self.path}: {len(self.predictions):,} predictions ({self.form})"
        if self.columns:
            origins = [f"{meaning} from {column}" for meaning, column in self.columns.items()]
            text += f": {', '.join(origins)}"
        return text


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The columns that the user named, each None where the usual names are looked for."""

    id: str | None = None
    output: str | None = None
    label: str | None = None
    explanation: str | None = None
