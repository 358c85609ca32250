"""What to know of a task's outputs before its numbers are read: for the screen, ``figlang compare``
and the report.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from figlang_tasks.answers.text import Answer
from figlang_tasks.core.text import listing, printable
from figlang_tasks.scoring.measure import Measure, Record
from figlang_tasks.scoring.readings import (
    READ_BY,
    WITHOUT_WORDS,
    Readings,
    count_readings,
    counts_text,
    has_unread_words,
)

LEAST_READ = 0.5
"""Share of outputs that must be read, for the metrics to be about the model."""

MOST_UNREAD = 0.05
"""Share of outputs that may be left unread, before the score is called a lower bound."""

MOST_DISSENT = 0.1
"""Share of outputs that the paper's rules and our reader may take for different labels."""


def _is_unfinished(record: Record) -> float:
    """Whether the answer of a record is a thought alone; no answer stands behind it."""
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

_SHOWN = 3
_LONGEST = 80  # characters of an output


def output_warnings(
    measures: Mapping[str, Measure],
    records: Sequence[Record],
    outputs: Sequence[str | None],
    run: str = "RUN",
) -> list[str]:
    """Notices about the outputs of a task, a line each without a full stop.

    Args:
        outputs: empty where they were not kept.
        run: the run, as a command line takes it.
    """
    sentences = []
    unfinished = [record["id"] for record in records if record.get(UNFINISHED.name)]
    if unfinished:
        sentences.append(
            f"unfinished: {_share(unfinished, records)} answers are a thought alone, with no answer"
            f" after it (rows {listing(unfinished, _SHOWN)}). Allow more tokens (--gen_kwargs"
            " max_new_tokens=4096), or turn thinking off"
        )
    without_words = [record for record in records if record.get("status") in WITHOUT_WORDS]
    empty = [record["id"] for record in without_words if not record.get(UNFINISHED.name)]
    if empty:
        sentences.append(
            f"{_share(empty, records)} answers are empty (rows {listing(empty, _SHOWN)})"
        )

    readings = count_readings(records)
    unread = [place for place, record in enumerate(records) if has_unread_words(record)]
    if about_unread := unread_warning(readings, _examples(unread, outputs)):
        sentences.append(". ".join([about_unread, *_remedies(readings, records, run)]))
    if says_nothing(readings):
        return sentences  # and readers that differ are no news

    apart = _dissent(measures, records)
    if len(apart) > MOST_DISSENT * len(records):
        notice = (
            "its values depend on the reader: the paper's rules and a careful reader differ in "
            f"{_share(apart, records)} outputs (parse_disagreement)"
        )
        examples = _examples(apart, outputs)
        sentences.append(f"{notice}, such as {examples}" if examples else notice)
    return sentences


def unread_warning(readings: Readings | None, examples: str = "") -> str:
    """What the answers that were not read mean for the score of a task; "" where nearly all were
    read.

    Where all that is left is empty, no reader could have read more.
    """
    if readings is None:
        return ""
    left = readings["left"]
    unread, answers = sum(left.values()), _answers(readings)
    if says_nothing(readings):
        in_brackets = f" (for example {examples})" if examples else ""
        return (
            f"No answer could be read in {unread} of {answers} outputs{in_brackets}: these scores"
            " say nothing about the model"
        )
    if unread <= MOST_UNREAD * answers or not leaves_words(readings):
        return ""
    in_brackets = f"{counts_text(left)}; for example {examples}" if examples else counts_text(left)
    counts_as = readings["left_count_as"]
    meaning = (
        "The score is a lower bound"
        if counts_as == "wrong"
        else "The score may be too high or too low"
    )
    return (
        f"{meaning}: {unread} of {answers} answers could not be read and count as {counts_as}"
        f" ({in_brackets})"
    )


def says_nothing(readings: Readings | None) -> bool:
    """Whether so few answers were read that the scores are not about the model."""
    return readings is not None and sum(readings["left"].values()) > (1 - LEAST_READ) * _answers(
        readings
    )


def leaves_words(readings: Readings | None) -> bool:
    """Whether an answer that was not read holds words, which a language model may read."""
    return readings is not None and not set(readings["left"]) <= set(WITHOUT_WORDS)


def _answers(readings: Readings) -> int:
    return sum(readings["read"].values()) + sum(readings["left"].values()) + readings["scores"]


def _remedies(readings: Readings | None, records: Sequence[Record], run: str) -> list[str]:
    """What may help against unread answers, in sentences without a full stop."""
    remedies = []
    if leaves_words(readings) and not any(READ_BY in record for record in records):
        remedies.append(f"`{read_command(run)}` has a language model read them")
    if says_nothing(readings):
        remedies.append(
            "The model's chat template (lm_eval: --apply_chat_template), a few-shot task or a"
            " larger model may help"
        )
    return remedies


def read_command(run: str) -> str:
    """The command that has a language model read what is left of a run."""
    return f"figlang judge read {shlex.quote(run)}"


def is_thought_alone(output: str | None) -> bool:
    """Whether an output is a thought with no answer after it."""
    answer = Answer.of(output) if isinstance(output, str) else None
    return answer is not None and answer.has_thought and not answer.text


def _dissent(measures: Mapping[str, Measure], records: Sequence[Record]) -> list[int]:
    """The places of the records that the paper's rules and a careful reader read differently."""
    measure = measures.get("parse_disagreement")
    if measure is None or measure.value_of_record is None:
        return []
    places: list[int] = []
    for place, record in enumerate(records):
        if measure.applies(record) and measure.value_of_record(record):
            places.append(place)
    return places


def _share(some: Sequence[object], records: Sequence[Record]) -> str:
    return f"{len(some)} of {len(records)}"


def _examples(places: Sequence[int], outputs: Sequence[str | None]) -> str:
    """The first of different outputs that are not empty, in quotation marks."""
    if not outputs:
        return ""
    texts = [printable(outputs[place] or "", _LONGEST).strip() for place in places]
    different = list(dict.fromkeys(filter(None, texts)))
    return ", ".join(f'"{text}"' for text in different[:_SHOWN])
