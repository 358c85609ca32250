"""`figlang_openai` has the scores of the same model in this process, and guesses none.

The demo model begins every answer with "The". Among its 20 most probable first tokens are " image",
" bridge" and " anchor" too, which serve as the words here; "Yes" and "No" are not among them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

import pytest
from lmms_eval.api.instance import GenerationResult
from lmms_eval.models.model_utils import usage_metrics
from misbehaving_replies import LOGPROBS, MODEL, REFUSED, SCORES, body, of_tokens, saying, token
from openai_server import BodiesServer, OpenAIServer
from vlm_requests import GREEDY, asked, text, user

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.vflute import rows, tasks
from figlang_tasks.core import notes
from figlang_tasks.core.score_requests import KEY, ScoreRequest, read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models.openai_scores import FigLangOpenAI, match_score
from figlang_tasks.models.vlm import FigLangVLM

WORDS = {"yes": "image", "no": "bridge"}
MATCH: dict[str, Any] = GREEDY | {KEY: {"kind": "match"}}


@cache
def conversations() -> list[list[dict]]:
    """Three questions, with one, two and three pictures."""
    docs = rows.load("figlang_mini", "test").select(range(3))
    pictures = [{"type": "image", "url": tasks.doc_to_visual(doc)[0]} for doc in docs]
    questions: list[list[dict]] = []
    for index, doc in enumerate(docs):
        questions.append([user(*pictures[: index + 1], text(f"Does it match? {doc['claim']}"))])
    return questions


def scores(lm: FigLangVLM | FigLangOpenAI, **score_request: object) -> list[list[float]]:
    """The scores of the pictures of each conversation."""
    settings = GREEDY | {KEY: {"kind": "match"} | score_request}
    scores_of_conversations: list[list[float]] = []
    for answer in asked(lm, conversations(), settings):
        answered_scores = read_answer(answer)
        assert answered_scores is not None
        scores_of_conversations.append(answered_scores)
    return scores_of_conversations


def model_of(server: OpenAIServer | BodiesServer, **arguments: Any) -> FigLangOpenAI:
    """The model class, for a server."""
    defaults: dict[str, Any] = {
        "model_version": server.name,
        "num_concurrent": 1,
        "retry_backoff_s": 0.1,
    }
    return FigLangOpenAI(base_url=server.url, api_key="none", **{**defaults, **arguments})


def test_match_is_that_of_the_same_model_in_process(server: OpenAIServer) -> None:
    # With a space, figlang_vlm counts the tokens " image" and " bridge" alone. Without, it would
    # also count "im" and "b", with which the words begin when no space precedes them. Their
    # probabilities are below the 20 that the API tells of, and would move these scores by up to
    # 0.005.
    expected = scores(FigLangVLM(str(DEMO_MODEL_DIR), device="cpu"), yes=" image", no=" bridge")
    scores_of_api = scores(model_of(server, num_concurrent=2), **WORDS)
    assert [len(image_scores) for image_scores in scores_of_api] == [1, 2, 3]
    flat_scores = list(chain(*scores_of_api))
    assert flat_scores == pytest.approx(list(chain(*expected)), abs=1e-3)
    assert len({round(score, 3) for score in flat_scores}) == 6
    assert 0.05 < min(flat_scores) < max(flat_scores) < 0.95


def test_match_asks_for_one_token_about_one_picture(server: OpenAIServer) -> None:
    scores(model_of(server), **WORDS)
    assert [request.images for request in server.requests] == [1] * 6
    body = server.requests[0].body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    settings = {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 20}
    assert {name: body[name] for name in settings} == settings


@pytest.mark.parametrize(
    ("score_request", "message"),
    [
        ({}, "neither 'Yes' nor 'No' is among the first tokens: 'The' -0.00"),
        ({"kind": "candidates", "candidates": ["a", "b"]}, "no log-probabilities of candidates"),
    ],
)
def test_what_the_api_does_not_tell_ends_the_run(
    score_request: dict[str, object], message: str, server: OpenAIServer
) -> None:
    with pytest.raises(FigLangError, match=f"task probe, doc 0: ValueError: .*{message}"):
        scores(model_of(server), **score_request)


def test_one_missing_word_is_counted(server: OpenAIServer, warnings_of_loguru: list[str]) -> None:
    assert scores(model_of(server), yes="The", no="No") == [[1.0], [1.0] * 2, [1.0] * 3]
    [warning] = [message for message in warnings_of_loguru if "figlang_openai" in message]
    assert "for 6 images one word of a match" in warning


@pytest.mark.parametrize("server", [{"logprobs": False}], indirect=True)
def test_a_server_without_logprobs_ends_the_run(server: OpenAIServer) -> None:
    with pytest.raises(FigLangError, match=r"task probe, doc 0: .*gives no logprobs.*vllm serve"):
        scores(model_of(server), **WORDS)


# In a row, so that the OpenAI client (two retries of its own) gives up and the class has to try
# again.
@pytest.mark.parametrize("server", [{"faults": ["429"] * 3 + ["drop"]}], indirect=True)
def test_refusals_and_dropped_connections_are_tried_again(server: OpenAIServer) -> None:
    counts = [len(image_scores) for image_scores in scores(model_of(server), **WORDS)]
    assert counts == [1, 2, 3]
    assert [request.status for request in server.requests] == [429] * 3 + [None] + [200] * 6


@pytest.mark.parametrize("server", [{"faults": ["drop"] * 2}], indirect=True)
def test_a_request_that_fails_to_the_end_ends_the_run(server: OpenAIServer) -> None:
    with pytest.raises(FigLangError, match="doc 0: APIConnectionError"):
        scores(model_of(server, max_retries=1), **WORDS)
    with pytest.raises(FigLangError, match=r"NotFoundError: .*'other' does not exist"):
        scores(model_of(server, max_retries=1, model_version="other"), **WORDS)


# --- replies that are not as they should be ---


def score_one(content: bytes) -> str:
    """The answer to a score request about one picture, by a server that sends this body."""
    with BodiesServer(lambda prompt: content) as server:
        (answer,) = asked(model_of(server, max_retries=1), conversations()[:1], MATCH)
    return answer


@pytest.mark.parametrize("name", LOGPROBS)
def test_a_reply_without_a_score_is_one_message_with_server_and_row(name: str) -> None:
    content, fault = LOGPROBS[name]
    with pytest.raises(FigLangError, match=fault) as raised:
        score_one(content)
    message = str(raised.value)
    causes = r"(ReplyFault: http://127.0.0.1:\d+/v1|ValueError: neither)"
    assert re.match(f"figlang_openai: task probe, doc 0: {causes}", message)
    assert message.isprintable()


@pytest.mark.parametrize("name", SCORES)
def test_a_reply_is_read_as_its_score(name: str) -> None:
    content, score = SCORES[name]
    assert read_answer(score_one(content)) == pytest.approx([score], abs=1e-12)


@pytest.mark.parametrize("case", REFUSED, ids=[case.name for case in REFUSED])
def test_a_refusal_is_the_answer_to_a_score_request(case: Any) -> None:
    answer = score_one(case.body)
    assert notes.is_refusal(answer)
    assert case.text in answer
    assert read_answer(answer) is None


def test_what_was_answered_before_and_beside_a_failure_is_handed_on() -> None:
    """With four requests at a time the second fails; the others are on their way, and paid for."""
    good = of_tokens(token("Yes", -1.0), token("No", -1.0))
    answers_handed_on: dict[int, GenerationResult] = {}
    (second_message,) = conversations()[1]
    failing_prompt = second_message["content"][-1]["text"]

    def reply(prompt: str) -> bytes:
        return body(saying("")) if prompt == failing_prompt else good

    with BodiesServer(reply) as server:
        lm = model_of(server, max_retries=1, num_concurrent=4)
        lm.on_answer = answers_handed_on.__setitem__
        with pytest.raises(FigLangError, match="task probe, doc 1: "):
            asked(lm, conversations(), MATCH)
    scores_by_number = {
        number: read_answer(answer.text) for number, answer in answers_handed_on.items()
    }
    assert scores_by_number == {0: [0.5], 2: [0.5] * 3}


def test_a_server_that_answers_with_another_model_is_warned_of_once(
    warnings_of_loguru: list[str],
) -> None:
    good = of_tokens(token("Yes", -1.0), token("No", -1.0))
    with BodiesServer(lambda prompt: good) as server:
        asked(model_of(server, model_version="other"), conversations(), MATCH)
        asked(model_of(server, model_version=MODEL), conversations(), MATCH)
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
    with BodiesServer(lambda prompt: good) as server:
        first_answer, *later_answers = asked(model_of(server), conversations(), MATCH)
        assert len(server.requests) == 1
    assert read_answer(first_answer) == [0.5]
    assert later_answers == ["[LMMS_EVAL_BUDGET_EXCEEDED]"] * 2
    assert all(map(notes.is_no_answer, later_answers))


def test_a_timeout_that_is_no_number_is_refused(server: OpenAIServer) -> None:
    with pytest.raises(FigLangError, match="figlang_openai: timeout='abc'; valid: seconds"):
        model_of(server, timeout="abc")


def test_tokens_of_both_spellings_count() -> None:
    score_request = ScoreRequest(kind="match")
    logprobs = [
        ("Yes", math.log(0.4)),
        (" Yes", math.log(0.1)),
        ("No", math.log(0.2)),
        (" No", math.log(0.05)),
    ]
    other_words = [("yes", -1.0), ("Yesterday", -1.0)]
    assert match_score([*logprobs, *other_words], score_request) == pytest.approx(0.5 / 0.75)
    assert match_score(logprobs[:2], score_request) == 1
