"""The time of every reader of foreign text, and of redaction, grows no faster than the text, of 4
to 256 KB.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from functools import cache, partial
from typing import Any

import pytest
from text_readers import HOSTILE_PIECES, answer_readers, expressions, repeated_texts, text_makers

from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option import option
from figlang_tasks.answers.thoughts import explanation_in_thought, open_thought
from figlang_tasks.benchmarks.admire import parse as admire
from figlang_tasks.benchmarks.ciibench import parse as ciibench
from figlang_tasks.benchmarks.columbus import parse as columbus
from figlang_tasks.benchmarks.flute import parse as flute
from figlang_tasks.benchmarks.humordb import parse as humordb
from figlang_tasks.benchmarks.metaclue import generated as metaclue
from figlang_tasks.benchmarks.nycc import parse as nycc
from figlang_tasks.benchmarks.nykms import parse as nykms
from figlang_tasks.core import redaction, score_requests
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import latex, markdown_table, printable, without_paths
from figlang_tasks.judge.server import last_object
from figlang_tasks.metrics import captions as caption_metrics
from figlang_tasks.metrics import overlap

Reader = Callable[[str], Any]


def read_annotation(text: str) -> nykms.Annotation | None:
    """An annotation of a row; None where it is faulty."""
    try:
        return nykms.read_annotation(text, "metaphor")
    except DataError:
        return None


def table_with(text: str) -> str:
    """A table with a text in two cells."""
    return markdown_table([["a", "b"], [text, text]])


CHOICES = Choices(3, texts=("the boat", "a big boat", "boat"))
OPTIONS = dict(zip("ABCD", ("boat", "big boat", "sea", "no"), strict=True))
FURTHER: dict[str, Reader] = {
    "answers.option, texts": partial(option, options=CHOICES),
    "answers.thought": explanation_in_thought,
    "answers.open thought": open_thought,
    "admire, sequence": partial(admire.sequence, count=4),
    "ciibench.official": partial(ciibench.parse_official, options=OPTIONS),
    "columbus": partial(columbus.letter, options=OPTIONS),
    "columbus.official": partial(columbus.parse_official, options=OPTIONS),
    "flute, careful": partial(flute.parse_careful, prompt="v2"),
    "humordb": humordb.rating,
    "humordb, not funny": humordb.is_not_funny,
    "metaclue, picture": partial(metaclue.generated_picture, number=1),
    "nycc": partial(nycc.letter, options=5, pixels=True),
    "nycc.official": partial(nycc.parse_official, options=5, pixels=True),
    "nycc.explanation": nycc.explanation,
    "nykms, annotation": read_annotation,
    "nykms, mark": nykms.without_mark,
    "score requests": score_requests.read_answer,
    "judge": partial(last_object, key="label"),
    "redaction": redaction.redacted,
    "redaction, saved": redaction.without_secrets,
    "redaction, arguments": redaction.remember,
    "paths": without_paths,
    "printable": printable,
    "latex": latex,
    "metrics, tokens of captions": caption_metrics.tokenize,
    "metrics, relaxed match": partial(overlap.relaxed_match, reference="a"),
    "table": table_with,
}
ALL = answer_readers() | text_makers() | FURTHER

# fmt: off
WORDS = (
    "A ", "B, ", "(A) and ", "1. B\n", "image B ", "A > ", "A - no, B - yes\n", "[x] Yes ",
    "[ ] No ", "yes ", "No, ", "not ", "entails ", "contradicts ", "The answer is B. ",
    "Label: entailment\n", "Wait, no, B. ", "I think ", "if ", "the image contains a metaphor. ",
    "the image does not support the claim. ", "\"a b\" ", "'a b' ", "\"boat ", "is ", "boat ",
    "<think>", "</think>", "</reason>", "<answer>", "</answer>", "\n \n", "\n@", "Claim: a b\n",
    "a b ", "{\"bbox_2d\": [1, 2, 3, 4]}, ", "[[", "{\"", "\"answer\": \"B\", ", "\\boxed{B} ",
    "1, ", "(1, 2) to ", "token=\"\\a", "api_key=", "token='", "://a@", "Bearer ", "eyJa.", "sk-",
    "x/", "primary: ",
)
# fmt: on
CHARACTERS = "a A1-.,:?'\"([{]<>/\\|*#@=\n\ufffc"
ALPHABET = [*CHARACTERS, *WORDS]

SMALL = 4_000
LONGER = (16_000, 64_000)
LONGEST = (*LONGER, 256_000)
_MOST_GROWTH = (
    10  # of time where a text is four times as long: 4 if the time is linear, 16 if it is quadratic
)
_ALWAYS_ALLOWED = 0.03  # seconds


def numbered(length: int) -> str:
    """A list whose items have thousands of different numbers, all of up to four digits."""
    return "".join(f"{number % 10_000}:\n" for number in range(length // 6))


def repeat(piece: str, length: int) -> str:
    """A text of about this length, of one piece again and again."""
    return piece * (length // len(piece))


def seconds(read: Reader, text: str) -> float:
    """The time that a reader takes of the processor."""
    before = time.thread_time()
    read(text)
    return time.thread_time() - before


def grows_too_fast(read: Reader, text_of: Callable[[int], str], lengths: Iterable[int]) -> str:
    """The lengths and times between which the time of a reader grows faster than allowed; "" if
    there are none.
    """
    shortest, *longer = lengths
    former = seconds(read, text_of(shortest))
    for length in longer:
        present = seconds(read, text_of(length))
        for _ in range(3):
            if present <= max(_MOST_GROWTH * former, _ALWAYS_ALLOWED):
                break
            former = max(former, seconds(read, text_of(length // 4)))
            present = min(present, seconds(read, text_of(length)))
        else:
            return f"{length // 4} characters: {former:.3f} s, {length}: {present:.3f} s"
        former = present
    return ""


def most_suspicious(read: Reader, pieces: Iterable[str], count: int) -> list[str]:
    """The pieces of which a reader takes longest to read a short text, and those with which its
    time grows fastest.
    """
    times = {}
    growths = {}
    for piece in pieces:
        times[piece] = seconds(read, repeat(piece, SMALL // 2))
        growths[piece] = times[piece] / seconds(read, repeat(piece, SMALL // 8))
    by_time = sorted(times, key=times.__getitem__, reverse=True)
    by_growth = sorted(growths, key=growths.__getitem__, reverse=True)
    return list(dict.fromkeys(by_time[:count] + by_growth[:count]))


def assert_linear(read: Reader, pieces: Iterable[str], lengths: Iterable[int]) -> None:
    """No repeated piece, and no list of numbers, takes a reader more than linear time."""
    lengths = list(lengths)
    for piece in pieces:
        growth = grows_too_fast(read, partial(repeat, piece), lengths)
        assert not growth, f"{piece!r} again and again, {growth}"
    growth = grows_too_fast(read, numbered, lengths)
    assert not growth, f"numbers, {growth}"


@pytest.mark.parametrize("name", ALL)
def test_readers_take_linear_time(name: str) -> None:
    ALL[name]("")
    assert_linear(ALL[name], most_suspicious(ALL[name], ALPHABET, 2), (SMALL, 4 * SMALL))


@cache
def generated() -> list[str]:
    """What the expressions of the package repeat, and pieces of real answers."""
    pieces = {*ALPHABET, *HOSTILE_PIECES}
    for pattern in expressions().values():
        pieces |= repeated_texts(pattern)
    return sorted(pieces)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_readers_take_linear_time_on_longer_texts(name: str) -> None:
    assert_linear(ALL[name], most_suspicious(ALL[name], ALPHABET, 1), LONGER)


@pytest.mark.long
@pytest.mark.parametrize("name", ALL)
def test_readers_take_linear_time_on_long_texts_of_what_expressions_repeat(name: str) -> None:
    assert_linear(ALL[name], most_suspicious(ALL[name], generated(), 6), LONGEST)


@pytest.mark.parametrize(("expression", "piece"), [(r"\w+@", "a"), (r"\[[^\]]*\]", "[")])
def test_a_quadratic_reader_is_found(expression: str, piece: str) -> None:
    pattern = re.compile(expression)
    assert piece in repeated_texts(pattern)
    lengths = (SMALL // 2, 2 * SMALL)  # a text of 4 * SMALL takes half a second
    # On a busy machine one measurement may take the shorter text for a slow one.
    attempts = (grows_too_fast(pattern.findall, partial(repeat, piece), lengths) for _ in range(10))
    assert any(growth.startswith("2000 characters: ") for growth in attempts)
