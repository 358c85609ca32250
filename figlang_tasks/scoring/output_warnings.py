"""Warnings about the outputs of a task, for the screen, ``figlang compare`` and the report.

They say what a user has to know before reading the task's numbers: answers that could not be read,
empty ones, thoughts without an answer, and values that depend on the reader.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from figlang_tasks.answers.output import answer_span
from figlang_tasks.core.record import Record
from figlang_tasks.core.text import listing, printable
from figlang_tasks.scoring.measure import Measure
from figlang_tasks.scoring.readings import (
    READ_BY,
    WITHOUT_WORDS,
    Readings,
    count_readings,
    counts_text,
    has_unread_words,
    offers_choice,
)

MIN_READ_SHARE = 0.5
"""Share of outputs that must be read, for the metrics to be about the model."""

MAX_UNREAD_SHARE = 0.05
"""Share of outputs that may be left unread, before the score is called a lower bound."""

MAX_DISPUTED_SHARE = 0.1
"""Share of outputs that the paper's rules and our reader may take for different labels."""

_MOST_EXAMPLES = 3
"""How many rows or outputs a warning names."""

_MOST_CHARACTERS = 80
"""How many characters of an output a warning quotes."""


def _is_unfinished(record: Record) -> float:
    """1 if the output of a record is a thought with no answer after it, else 0."""
    return float(record.get("unfinished", False))


UNFINISHED = Measure(
    "unfinished",
    description="Share of answers that are a thought alone, with no answer after it.",
    source="figlang_tasks",
    value_of_record=_is_unfinished,
    role="diagnostic",
    omit_zero=True,
    higher_is_better=False,
)


def is_thought_alone(output: str | None) -> bool:
    """Whether an output is a thought with no answer after it."""
    if not isinstance(output, str):
        return False
    text, start, end = answer_span(output)  # without thoughts
    return text != output and not text[start:end].strip()


class OutputWarning(NamedTuple):
    """A warning about the outputs of a task.

    Attributes:
        kind: what is the matter, without numbers; the same for all tasks that it is about.
        extent: how many outputs it is about: ``3 of 723``.
        text: the whole warning, in one line without a full stop.
        remedy: what may help, with ``RUN`` for the path of the run; "" for nothing. Also in `text`.
    """

    kind: str
    extent: str
    text: str
    remedy: str = ""


def output_warnings(
    measures: Mapping[str, Measure],
    records: Sequence[Record],
    outputs: Sequence[str | None],
    run_path: str = "RUN",
) -> list[str]:
    """The texts of `find_output_warnings`, which takes the same arguments."""
    warnings = find_output_warnings(measures, records, outputs, run_path)
    return [warning.text for warning in warnings]


def find_output_warnings(
    measures: Mapping[str, Measure],
    records: Sequence[Record],
    outputs: Sequence[str | None],
    run_path: str = "RUN",
) -> list[OutputWarning]:
    """Warnings about the outputs of a task.

    Args:
        measures: those of the task, by name.
        records: those of the task.
        outputs: what the model said, in the order of the records; empty if that was not kept.
        run_path: the path of the run, for a command that a warning suggests; ``RUN`` stands for it
            while the run has no path.
    """
    readings = count_readings(records)
    warnings = [
        _unfinished_warning(records),
        _empty_warning(records),
        _unread_answers_warning(readings, records, outputs, run_path),
    ]
    # Where few answers could be read, readers also disagree, and the warning above says it all.
    if not has_too_few_read(readings):
        warnings.append(_disagreement_warning(measures, records, outputs))
    return [warning for warning in warnings if warning is not None]


def _unfinished_warning(records: Sequence[Record]) -> OutputWarning | None:
    """A warning about unfinished outputs, which are a thought alone; None if there are none."""
    unfinished = [record["id"] for record in records if record.get(UNFINISHED.name)]
    if not unfinished:
        return None
    count = f"{len(unfinished)} of {len(records)}"
    remedy = "Allow more tokens (--gen_kwargs max_new_tokens=4096), or turn thinking off"
    return OutputWarning(
        "Unfinished: answers are a thought alone, with no answer after it",
        count,
        f"unfinished: {count} answers are a thought alone, with no answer after it (rows"
        f" {listing(unfinished, _MOST_EXAMPLES)}). {remedy}",
        remedy,
    )


def _empty_warning(records: Sequence[Record]) -> OutputWarning | None:
    """A warning about empty answers, ``3 of 723 answers are empty (rows ...)``; None without any.

    Outputs that are a thought alone are not among them: `_unfinished_warning` names those.
    """
    empty: list[str] = []
    for record in records:
        if record.get("status") in WITHOUT_WORDS and not record.get(UNFINISHED.name):
            empty.append(record["id"])
    if not empty:
        return None
    count = f"{len(empty)} of {len(records)}"
    rows = listing(empty, _MOST_EXAMPLES)
    return OutputWarning("Empty answers", count, f"{count} answers are empty (rows {rows})")


def _unread_answers_warning(
    readings: Readings | None,
    records: Sequence[Record],
    outputs: Sequence[str | None],
    run_path: str,
) -> OutputWarning | None:
    """The warning of `unread_warning` with examples and remedies; None without one.

    Args:
        readings: how the answers were read.
        run_path: the path of the run, not yet quoted for a shell.
    """
    if readings is None or not readings["left"]:
        return None
    unread_indices = [index for index, record in enumerate(records) if has_unread_words(record)]
    about_unread = unread_warning(readings, _examples(unread_indices, outputs))
    if not about_unread:
        return None
    if has_too_few_read(readings):
        kind = "Most answers could not be read: the scores say nothing about the model"
    else:
        kind = f"{_meaning_of_unread(readings)}: many answers could not be read"
    return OutputWarning(
        kind,
        f"{sum(readings['left'].values())} of {_count_answers(readings)}",
        ". ".join([about_unread, *_remedies(readings, records, run_path)]),
        ". ".join(_remedies(readings, records, "RUN")),
    )


def unread_warning(readings: Readings | None, examples: str = "") -> str:
    """What unread answers mean for the score of a task; "" if nearly all answers were read.

    ``The score is a lower bound: 80 of 723 answers could not be read and count as wrong (...)``. If
    fewer than half were read, it says that the scores say nothing about the model. If at least half
    were read, it is also "" where all others are empty: no reader could have read more.

    Args:
        readings: None if the task has no answers in words, which gives "".
        examples: some unread answers, quoted; "" for none.
    """
    if readings is None:
        return ""
    left = readings["left"]  # {"unreadable": 78, "empty": 2}
    unread = sum(left.values())
    answers = _count_answers(readings)
    if has_too_few_read(readings):
        quoted = f" (for example {examples})" if examples else ""
        return (
            f"No answer could be read in {unread} of {answers} outputs{quoted}: these scores say"
            " nothing about the model"
        )
    if unread <= MAX_UNREAD_SHARE * answers or not has_unread_texts(readings):
        return ""

    details = counts_text(left)
    if examples:
        details += f"; for example {examples}"
    return (
        f"{_meaning_of_unread(readings)}: {unread} of {answers} answers could not be read and"
        f" count as {readings['left_count_as']} ({details})"
    )


def _meaning_of_unread(readings: Readings) -> str:
    """What it means for the score that answers were not read: ``The score is a lower bound``."""
    if readings["left_count_as"] == "wrong":
        return "The score is a lower bound"
    return "The score may be too high or too low"


def has_too_few_read(readings: Readings | None) -> bool:
    """Whether so few answers were read that the scores are not about the model.

    False for None, which stands for a task without answers in words.
    """
    if readings is None:
        return False
    return sum(readings["left"].values()) > (1 - MIN_READ_SHARE) * _count_answers(readings)


def has_unread_texts(readings: Readings | None) -> bool:
    """Whether any unread answer holds words, which a language model may read; False for None."""
    if readings is None:
        return False
    return any(status not in WITHOUT_WORDS for status in readings["left"])


def _count_answers(readings: Readings) -> int:
    """The number of outputs: answers that were read, that were left, and scores."""
    return sum(readings["read"].values()) + sum(readings["left"].values()) + readings["scores"]


def _remedies(readings: Readings | None, records: Sequence[Record], run_path: str) -> list[str]:
    """What may help against unread answers, in sentences without a full stop.

    Args:
        readings: how the answers were read.
        records: those of the task.
        run_path: the path of the run, not yet quoted for a shell.
    """
    remedies: list[str] = []
    is_read_by_model = any(READ_BY in record for record in records)
    # Either all records of a task offer a choice or none does.
    can_be_read = has_unread_texts(readings) and offers_choice(records[0])
    if can_be_read and not is_read_by_model:
        remedies.append(f"`{read_command(run_path)}` has a language model read them")
    if has_too_few_read(readings):
        remedies.append(
            "The model's chat template (lm_eval: --apply_chat_template), a few-shot task or a"
            " larger model may help"
        )
    return remedies


def read_command(run_path: str) -> str:
    """The command that has a language model read the answers that a run left unread."""
    return f"figlang judge read {shlex.quote(run_path)}"


def _disagreement_warning(
    measures: Mapping[str, Measure], records: Sequence[Record], outputs: Sequence[str | None]
) -> OutputWarning | None:
    """A warning if the paper's rules and a careful reader differ in many outputs, else None."""
    disputed_indices = _disputed_indices(measures, records)
    if len(disputed_indices) <= MAX_DISPUTED_SHARE * len(records):
        return None
    count = f"{len(disputed_indices)} of {len(records)}"
    text = (
        "its values depend on the reader: the paper's rules and a careful reader differ in"
        f" {count} outputs (parse_disagreement)"
    )
    examples = _examples(disputed_indices, outputs)
    if examples:
        text += f", such as {examples}"
    return OutputWarning("Values depend on the reader (parse_disagreement)", count, text)


def _disputed_indices(measures: Mapping[str, Measure], records: Sequence[Record]) -> list[int]:
    """The indices of the records that the paper's rules and a careful reader read differently.

    Empty for a task without the measure ``parse_disagreement``.
    """
    measure = measures.get("parse_disagreement")
    if measure is None:
        return []
    disputed_indices: list[int] = []
    for index, record in enumerate(records):
        if measure.number_of(record):
            disputed_indices.append(index)
    return disputed_indices


def _examples(indices: Sequence[int], outputs: Sequence[str | None]) -> str:
    """Quote the first different outputs at these indices; "" if outputs are empty or not kept."""
    if not outputs:
        return ""
    texts = [printable(outputs[index] or "", _MOST_CHARACTERS).strip() for index in indices]
    different_texts = list(dict.fromkeys(text for text in texts if text))
    return ", ".join(f'"{text}"' for text in different_texts[:_MOST_EXAMPLES])
