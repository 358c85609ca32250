"""If these fail, a score loses digits on its way, or a wrong request for scores is sent."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.core.score_requests import (
    KEY,
    ScoreRequest,
    answer,
    read_answer,
    score_request,
)

DOC = {
    "id": "a",
    "statements": ["love is as sweet as honey", "time is money"],
    "empty": [],
    "text": "x",
}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        # The keys yes and no, as YAML reads them without quotation marks.
        (
            {"kind": "match", True: "Ja", False: "Nein"},
            ScoreRequest(kind="match", yes="Ja", no="Nein"),
        ),
        (
            {"kind": "candidates", "candidates": ["A", "B"]},
            ScoreRequest(kind="candidates", candidates=("A", "B")),
        ),
        (
            {"kind": "candidates", "candidates": "statements", "normalize": "tokens"},
            ScoreRequest(
                kind="candidates",
                candidates=("love is as sweet as honey", "time is money"),
                normalize="tokens",
            ),
        ),
    ],
)
def test_a_valid_request_is_read(settings: dict[str, Any], expected: ScoreRequest) -> None:
    assert score_request({"temperature": 0, KEY: settings}, DOC) == expected


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (True, "valid: a mapping with kind: candidates or match"),
        ({"kind": "rank"}, "kind is 'rank': must be 'candidates' or 'match'"),
        (
            {"kind": "match", "maybe": "Perhaps"},
            "maybe is 'Perhaps': Extra inputs are not permitted",
        ),
        ({"kind": "candidates", "candidates": "empty"}, "candidates is empty; valid: a list"),
        ({"kind": "candidates", "candidates": "text"}, "candidates is 'x': must be a valid tuple"),
        (
            {"kind": "candidates", "candidates": "phrases"},
            "no column 'phrases'; it has: id, statements, empty, text",
        ),
        ({"kind": "candidates", "candidates": ["A", ""]}, r"candidates\[1\] is ''"),
        ({"kind": "candidates", "candidates": ["A", 3]}, r"candidates\[1\] is 3"),
        # The words yes and no as YAML reads them without quotation marks.
        ({"kind": "match", True: True, False: False}, "yes is True: must be a valid string"),
    ],
)
def test_the_error_of_an_invalid_request_names_the_valid_values(
    settings: object, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        score_request({KEY: settings}, DOC)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_an_answer_is_read_back_to_the_last_bit(scores: list[float]) -> None:
    assert read_answer(answer(scores)) == scores


def test_an_infinite_score_is_refused() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        answer([0.5, math.inf])


@pytest.mark.parametrize(
    "output",
    [
        None,
        "Yes",
        "[0.5]",
        "{}",
        '{"scores": 1}',
        '{"scores": ["a"]}',
        '{"scores": [true]}',
        '{"scores": [NaN]}',
        f'{{"scores": [{"9" * 400}]}}',  # infinite as a float
        '{"a":' * 9999,
    ],
)
def test_an_answer_without_finite_scores_is_one_in_words(output: str | None) -> None:
    assert read_answer(output) is None
