"""Reads predictions from samples files of lmms-eval and lm-eval, also of their own tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from figlang_tasks.core.errors import RunError
from figlang_tasks.core.files import MOST_BYTES_OF_SAMPLES, check_file
from figlang_tasks.core.row_files import brief, json_lines
from figlang_tasks.core.samples_files import saved_lines, task_of
from figlang_tasks.results.predictions.prediction import Prediction, PredictionFile

_ANSWERS = ("filtered_resps", "resps")
"""Keys of the answers to a document, as filters left them and as the model gave them."""


def is_samples_file(path: Path) -> bool:
    """Whether a file is one of samples: its first line has a document's number and answers."""
    if path.suffix.lower() != ".jsonl":
        return False
    try:
        check_file(path, MOST_BYTES_OF_SAMPLES)
        with path.open("rb") as file:
            first_line = next(json_lines(file), None)
    except OSError:
        return False
    if first_line is None or isinstance(first_line[1], str):  # empty, or no JSON
        return False
    sample = first_line[1]
    return "doc_id" in sample and any(key in sample for key in _ANSWERS)


def read_samples(path: Path) -> PredictionFile:
    """Read the answers in a samples file.

    Raises:
        RunError: the file is damaged, or an answer is no text.
    """
    predictions: list[Prediction] = []
    is_of_lm_eval = False
    for location, sample in saved_lines(path):
        arguments = sample.get("arguments")
        is_of_lm_eval = isinstance(arguments, Mapping)
        for output in _outputs(location, sample):
            predictions.append(
                Prediction(
                    location=location,
                    id=_recorded(sample, "id"),
                    row_number=_row_number(location, sample),
                    output=output,
                    prompt=None if is_of_lm_eval else _text(sample, "input"),
                    target=_text(sample, "target"),
                    data=_recorded(sample, "data"),
                )
            )
    return PredictionFile(
        path=path,
        form=f"samples of {'lm-eval' if is_of_lm_eval else 'lmms-eval'}",
        content="words",
        predictions=predictions,
        columns={"row number": "doc_id", "output": "filtered_resps"},
        task=task_of(path) or None,
    )


def _row_number(location: str, sample: Mapping[str, Any]) -> int:
    number = sample.get("doc_id")
    if not isinstance(number, int):
        raise RunError(f"{location}: doc_id is {brief(number)}, must be a number")
    return number


def _recorded(sample: Mapping[str, Any], field: str) -> str | None:
    """A text in the record that a task of ours makes; None if the sample is of another task."""
    record = sample.get("sample")
    return _text(record, field) if isinstance(record, Mapping) else None


def _text(fields: Mapping[str, Any], field: str) -> str | None:
    """The text in a field; None if there is none."""
    content = fields.get(field)
    return content if isinstance(content, str) else None


def _outputs(location: str, sample: Mapping[str, Any]) -> list[str | None]:
    """The answers to a document, usually one.

    Raises:
        RunError: they are no texts, as where a task compares the likelihoods of texts.
    """
    key = next((key for key in _ANSWERS if key in sample), None)
    if key is None:
        raise RunError(f"{location} has no answer ({' or '.join(_ANSWERS)})")
    answers = sample[key]
    # lm-eval has a list for each request of a document, and lmms-eval a list, or the text alone.
    while isinstance(answers, list) and len(answers) == 1 and isinstance(answers[0], list):
        answers = answers[0]
    if not isinstance(answers, list):
        answers = [answers]
    for answer in answers:
        if not isinstance(answer, str | None):
            raise RunError(
                f"{location}: its answer is {brief(json.dumps(answer, default=str))}, must be a"
                " text: does its task compare likelihoods?"
            )
    return answers
