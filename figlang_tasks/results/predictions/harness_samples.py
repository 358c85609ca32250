"""Reads predictions from samples files of lmms-eval and lm-eval, also of their own tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.samples_files import saved_lines, task_of
from figlang_tasks.results.predictions.json_fields import field_at
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile

_ANSWERS = ("resps", "filtered_resps")
"""Keys of the answers to a document, as the model gave them and as filters left them.

lmms-eval leaves the first one out where filters changed nothing.
"""


def is_sample(line: Mapping[str, object]) -> bool:
    """Whether an object of a JSON Lines file is a sample: a document's number, and answers."""
    return "doc_id" in line and any(key in line for key in _ANSWERS)


def read_samples(path: Path) -> PredictionFile:
    """Read the answers in a samples file.

    Tasks of lm-eval may have several filters, and a line for each of them; then the lines of the
    first one are read, since all have the same answers.

    Raises:
        RunError: the file is damaged, or an answer is no text.
    """
    predictions: list[Prediction] = []
    is_of_lm_eval = False
    settings: Mapping[str, object] = {}
    answers_key = _ANSWERS[0]
    first_filter: object = None
    for location, sample in saved_lines(path):
        if not predictions:
            is_of_lm_eval = isinstance(sample.get("arguments"), Mapping)
            settings = _settings(sample)
            first_filter = sample.get("filter")
        if sample.get("filter") != first_filter:
            continue
        answers_key = _answers_key(location, sample)
        row_number = _row_number(location, sample)
        for output in _outputs(location, sample[answers_key]):
            predictions.append(
                Prediction(
                    location=location,
                    id=_recorded_id(sample),
                    row_number=row_number,
                    texts=_document_texts(sample),
                    output=output,
                    prompt=None if is_of_lm_eval else _text(sample, "input"),
                    target=_text(sample, "target"),
                    data=_recorded(sample, "data"),
                )
            )
    columns = {"row number": "doc_id", "output": answers_key}
    if predictions[0].id is not None:
        columns = {"id": "doc.id" if is_of_lm_eval else "sample.id", **columns}
    return PredictionFile(
        path=path,
        form=f"samples of {'lm-eval' if is_of_lm_eval else 'lmms-eval'}",
        content="words",
        predictions=predictions,
        columns=columns,
        task=task_of(path) or None,
        settings=settings,
    )


def _row_number(location: str, sample: Mapping[str, Any]) -> int:
    number = sample.get("doc_id")
    if not isinstance(number, int):
        raise RunError(f"{location}: doc_id is {brief(number)}, must be a number")
    return number


def _recorded_id(sample: Mapping[str, Any]) -> str | None:
    """The id of the row, where a task of ours recorded it, or lm-eval saved the row; else None."""
    for key in ("sample", "doc"):
        row_id = field_at(sample, f"{key}.id")
        if isinstance(row_id, str):
            return row_id
    return None


def _document_texts(sample: Mapping[str, Any]) -> dict[str, str]:
    """The texts of the row by column, where lm-eval saved the row."""
    document = sample.get("doc")
    if not isinstance(document, Mapping):
        return {}
    return {column: text for column, text in document.items() if isinstance(text, str)}


def _settings(sample: Mapping[str, Any]) -> Mapping[str, object]:
    """The settings of generation that lm-eval saved with a sample; empty if it has none."""
    settings = field_at(sample, "arguments.gen_args_0.arg_1")
    return settings if isinstance(settings, Mapping) else {}


def _recorded(sample: Mapping[str, Any], field: str) -> str | None:
    """A text in the record that a task of ours makes; None if the sample is of another task."""
    record = sample.get("sample")
    return _text(record, field) if isinstance(record, Mapping) else None


def _text(fields: Mapping[str, Any], field: str) -> str | None:
    """The text in a field; None if there is none."""
    content = fields.get(field)
    return content if isinstance(content, str) else None


def _answers_key(location: str, sample: Mapping[str, Any]) -> str:
    """The key under which a sample has its answers.

    A task of ours reads the whole answer, and keeps under ``filtered_resps`` what it judged.
    """
    keys = reversed(_ANSWERS) if "sample" in sample else _ANSWERS
    for key in keys:
        if key in sample:
            return key
    raise RunError(f"{location} has no answer ({' or '.join(_ANSWERS)})")


def _outputs(location: str, answers: object) -> list[str | None]:
    """The answers to a document, usually one; one that is None for an empty list.

    Raises:
        RunError: they are no texts, as where a task compares the likelihoods of texts.
    """
    # lm-eval has a list for each request of a document, and lmms-eval a list, or the text alone.
    while isinstance(answers, list) and len(answers) == 1 and isinstance(answers[0], list):
        answers = answers[0]
    if answers == []:
        return [None]  # the row keeps its place, as one without an answer
    outputs: list[str | None] = []
    for answer in answers if isinstance(answers, list) else [answers]:
        if not isinstance(answer, str | None):
            raise RunError(
                f"{location}: its answer is {brief(json.dumps(answer, default=str))}, must be a"
                " text: does its task compare likelihoods?"
            )
        outputs.append(answer)
    return outputs
