"""`figlang_openai` has other scores than the same model in this process, or guesses them, if this
fails.

The demo model begins every answer with "The". Among its 20 most probable first tokens are " image",
" bridge" and " anchor" too, which serve as the words here; "Yes" and "No" are not among them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from lmms_eval.models.model_utils import usage_metrics
from misbehaving_replies import LOGPROBS, MODEL, REFUSED, SCORES, body, of_tokens, saying, token
from openai_server import BodiesServer, OpenAIServer
from vlm_requests import GREEDY, asked, text, user

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.vflute import rows, tasks
from figlang_tasks.core import notes
from figlang_tasks.core.score_requests import KEY, ScoreRequest, read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models.openai_scores import FigLangOpenAI, match
from figlang_tasks.models.vlm import FigLangVLM

WORDS = {"yes": "image", "no": "bridge"}


@cache
def conversations() -> list[list[dict[str, Any]]]:
    """Three questions, with one, two and three pictures."""
    docs = rows.load("figlang_mini", "test").select(range(3))
    pictures = [{"type": "image", "url": tasks.doc_to_visual(doc)[0]} for doc in docs]
    return [
        [user(*pictures[: i + 1], text(f"Does it match? {doc['claim']}"))]
        for i, doc in enumerate(docs)
    ]


def scores(lm: Any, **request: Any) -> list[list[float]]:
    found = [
        read_answer(answer)
        for answer in asked(lm, conversations(), GREEDY | {KEY: {"kind": "match"} | request})
    ]
    return [values for values in found if values is not None]


def of(server: OpenAIServer, **more: Any) -> FigLangOpenAI:
    given: dict[str, Any] = {
        "model_version": server.name,
        "num_concurrent": 1,
        "retry_backoff_s": 0.1,
    } | more
    return FigLangOpenAI(base_url=server.url, api_key="none", **given)


def test_match_is_that_of_the_same_model_in_process(server: OpenAIServer) -> None:
    # With a space, figlang_vlm counts the tokens " image" and " bridge" alone. Without, it would
    # also count "im" and "b", with which the words begin when no space precedes them. Their
    # probabilities are below the 20 that the API tells of, and would move these scores by up to
    # 0.005.
    expected = scores(FigLangVLM(str(DEMO_MODEL_DIR), device="cpu"), yes=" image", no=" bridge")
    found = scores(of(server, num_concurrent=2), **WORDS)
    assert [len(values) for values in found] == [1, 2, 3]
    assert sum(found, []) == pytest.approx(sum(expected, []), abs=1e-3)
    assert len({round(value, 3) for value in sum(found, [])}) == 6 and all(
        0.05 < v < 0.95 for v in sum(found, [])
    )
    assert [request.images for request in server.requests] == [1] * 6
    body = server.requests[0].body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    settings = {
        name: body[name] for name in ("max_tokens", "temperature", "logprobs", "top_logprobs")
    }
    assert settings == {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 20}


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({}, "neither 'Yes' nor 'No' is among the first tokens: 'The' -0.00"),
        ({"kind": "candidates", "candidates": ["a", "b"]}, "no log-probabilities of candidates"),
    ],
)
def test_what_the_api_does_not_tell_ends_the_run(
    request_: dict[str, Any], message: str, server: OpenAIServer
) -> None:
    with pytest.raises(FigLangError, match=f"task probe, doc 0: ValueError: .*{message}"):
        scores(of(server), **request_)


def test_one_missing_word_is_counted(server: OpenAIServer, warnings_of_loguru: list[str]) -> None:
    assert scores(of(server), yes="The", no="No") == [[1.0], [1.0] * 2, [1.0] * 3]
    [line] = [line for line in warnings_of_loguru if "figlang_openai" in line]
    assert "for 6 images one word of a match" in line


@pytest.mark.parametrize("server", [{"logprobs": False}], indirect=True)
def test_a_server_without_logprobs(server: OpenAIServer) -> None:
    with pytest.raises(FigLangError, match="task probe, doc 0: .*gives no logprobs.*vllm serve"):
        scores(of(server), **WORDS)


# In a row, so that the OpenAI client (two retries of its own) gives up and the class has to try
# again.
@pytest.mark.parametrize("server", [{"faults": ["429"] * 3 + ["drop"]}], indirect=True)
def test_refusals_and_dropped_connections_are_tried_again(server: OpenAIServer) -> None:
    assert [len(values) for values in scores(of(server), **WORDS)] == [1, 2, 3]
    assert [request.status for request in server.requests] == [429] * 3 + [None] + [200] * 6


@pytest.mark.parametrize("server", [{"faults": ["drop"] * 2}], indirect=True)
def test_a_request_that_fails_to_the_end_ends_the_run(server: OpenAIServer) -> None:
    with pytest.raises(FigLangError, match="doc 0: APIConnectionError"):
        scores(of(server, max_retries=1), **WORDS)
    with pytest.raises(FigLangError, match="NotFoundError: .*'other' does not exist"):
        scores(of(server, max_retries=1, model_version="other"), **WORDS)


# --- replies that are not as they should be ---


def score_one(content: bytes) -> str:
    """The answer to a score request about one picture, by a server that sends this body."""
    with BodiesServer(lambda prompt: content) as running:
        (answer,) = asked(
            of(running, max_retries=1), conversations()[:1], GREEDY | {KEY: {"kind": "match"}}
        )
    return answer


@pytest.mark.parametrize("name", LOGPROBS)
def test_a_reply_without_a_score_is_one_message_with_server_and_row(name: str) -> None:
    content, fault = LOGPROBS[name]
    with pytest.raises(FigLangError, match=fault) as raised:
        score_one(content)
    message = str(raised.value)
    assert re.match(
        r"figlang_openai: task probe, doc 0: (ReplyFault: http://127.0.0.1:\d+/v1|ValueError:"
        r" neither)",
        message,
    )
    assert message.isprintable()


@pytest.mark.parametrize("name", SCORES)
def test_a_reply_with_a_score(name: str) -> None:
    content, score = SCORES[name]
    assert read_answer(score_one(content)) == pytest.approx([score], abs=1e-12)


@pytest.mark.parametrize("case", REFUSED, ids=[case.name for case in REFUSED])
def test_a_refusal_is_the_answer_to_a_score_request(case: Any) -> None:
    answer = score_one(case.body)
    assert notes.is_refusal(answer) and case.text in answer and read_answer(answer) is None


def test_what_was_answered_before_and_beside_a_failure_is_handed_on() -> None:
    """With four requests at a time the second fails; the others are on their way, and paid for."""
    good = of_tokens(token("Yes", -1.0), token("No", -1.0))
    handed_on: dict[int, Any] = {}
    failing = next(
        part["text"] for part in conversations()[1][0]["content"] if part["type"] == "text"
    )
    with BodiesServer(lambda prompt: body(saying("")) if prompt == failing else good) as running:
        lm = of(running, max_retries=1, num_concurrent=4)
        lm.on_answer = handed_on.__setitem__
        with pytest.raises(FigLangError, match="task probe, doc 1: "):
            asked(lm, conversations(), GREEDY | {KEY: {"kind": "match"}})
    assert {number: read_answer(answer.text) for number, answer in handed_on.items()} == {
        0: [0.5],
        2: [0.5] * 3,
    }


def test_another_model_is_told_of_once(warnings_of_loguru: list[str]) -> None:
    good = of_tokens(token("Yes", -1.0), token("No", -1.0))
    with BodiesServer(lambda prompt: good) as running:
        asked(
            of(running, model_version="other"), conversations(), GREEDY | {KEY: {"kind": "match"}}
        )
        asked(of(running, model_version=MODEL), conversations(), GREEDY | {KEY: {"kind": "match"}})
    (warning,) = warnings_of_loguru
    assert f"was asked for the model other, and {MODEL} answered" in warning


@pytest.fixture
def budget() -> Iterator[None]:
    """A limit of one token for the run, as ``--max_tokens 1`` sets it."""
    usage_metrics.reset_usage_metrics()
    usage_metrics.set_budget(1)
    yield
    usage_metrics.reset_usage_metrics()


@pytest.mark.usefixtures("budget")
def test_nothing_is_asked_once_max_tokens_are_spent() -> None:
    good = of_tokens(token("Yes", -1.0), token("No", -1.0))
    with BodiesServer(lambda prompt: good) as running:
        answers = asked(of(running), conversations(), GREEDY | {KEY: {"kind": "match"}})
        assert len(running.requests) == 1
    assert read_answer(answers[0]) == [0.5]
    assert answers[1:] == ["[LMMS_EVAL_BUDGET_EXCEEDED]"] * 2 and all(
        map(notes.is_no_answer, answers[1:])
    )


def test_a_time_limit_that_is_no_number(server: OpenAIServer) -> None:
    with pytest.raises(FigLangError, match="figlang_openai: timeout='abc'; valid: seconds"):
        of(server, timeout="abc")


def test_tokens_of_both_spellings_count() -> None:
    wanted = ScoreRequest(kind="match")
    told = [
        ("Yes", math.log(0.4)),
        (" Yes", math.log(0.1)),
        ("No", math.log(0.2)),
        (" No", math.log(0.05)),
    ]
    assert match([*told, ("yes", -1.0), ("Yesterday", -1.0)], wanted) == pytest.approx(0.5 / 0.75)
    assert match(told[:2], wanted) == 1
