"""If these fail, a server that misbehaves ends a run, or its errors are taken for answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from lmms_eval.models.chat.async_openai import AsyncOpenAIChat
from misbehaving_replies import ANSWERS, EMPTY, MODEL, NO_COMPLETION, NO_TEXT, REFUSED, body, saying
from openai_server import BodiesServer
from vlm_requests import GREEDY, asked, text, user

from figlang_tasks.core import notes
from figlang_tasks.core.chat_reply import ChatReply, ModelNames
from figlang_tasks.harness.answers import answer_as_text
from figlang_tasks.harness.api_replies import answer_text, checked_replies, is_api
from figlang_tasks.models.openai_scores import FigLangOpenAI

Build = Callable[[BodiesServer], Any]


def sync_class(server: BodiesServer) -> FigLangOpenAI:
    """Words are of the harness's class `openai`."""
    return FigLangOpenAI(
        model_version=MODEL,
        base_url=server.url,
        api_key="none",
        num_concurrent=1,
        retry_backoff_s=0,
        max_retries=1,
    )


def async_class(server: BodiesServer) -> AsyncOpenAIChat:
    return AsyncOpenAIChat(
        model_version=MODEL,
        base_url=server.url,
        api_key="none",
        num_cpus=1,
        retry_backoff_s=0,
        max_retries=1,
    )


CLASSES = pytest.mark.parametrize("build", [sync_class, async_class])


def ask(lm: Any, count: int) -> list[str]:
    """What a model says to questions with numbers; some classes ask them in another order."""
    with checked_replies(lm, ModelNames()):
        return asked(lm, [[user(text(f"number {number}"))] for number in range(count)], GREEDY)


def number_in(prompt: str) -> int:
    return int(prompt.rpartition(" ")[2])


def answers_to(bodies: Sequence[bytes], build: Build) -> list[str]:
    """What a class answers to as many questions, by a server that sends these bodies."""
    with BodiesServer(lambda prompt: bodies[number_in(prompt)]) as server:
        return ask(build(server), len(bodies))


GROUPS = {
    "no completion": NO_COMPLETION,
    "no text": NO_TEXT,
    "empty": EMPTY,
    "refused": REFUSED,
    "answer": ANSWERS,
}


@CLASSES
@pytest.mark.parametrize("group", GROUPS)
def test_each_reply_is_an_answer_or_none(group: str, build: Build) -> None:
    cases = [case for case in GROUPS[group] if len(case.body) < 10_000_000]
    answers = answers_to([case.body for case in cases], build)
    for case, answer in zip(cases, answers, strict=True):
        if group == "answer":
            assert answer == case.text, case.name
        elif group == "refused":
            assert notes.is_refusal(answer), case.name
            assert case.text is not None and case.text in answer, case.name
        else:
            assert notes.is_no_answer(answer), case.name
            assert group == "empty" or "http://127.0.0.1" in answer, case.name


@CLASSES
def test_what_is_no_completion_is_asked_again_and_what_is_no_text_is_not(build: Build) -> None:
    no_completion = b"<html>"
    no_text = NO_TEXT[0].body
    empty = EMPTY[0].body
    yes = ANSWERS[0].body
    bodies_by_question = [
        iter([no_completion, no_completion, yes]),
        iter([no_text]),
        iter([empty]),
        iter([yes]),
    ]
    with BodiesServer(lambda prompt: next(bodies_by_question[number_in(prompt)])) as server:
        lm = build(server)
        lm.max_retries = 3
        answers = ask(lm, 4)
        assert len(server.requests) == 6
    assert [notes.is_no_answer(answer) for answer in answers] == [False, True, True, False]


def test_the_client_is_as_before_afterwards() -> None:
    with BodiesServer(lambda prompt: EMPTY[0].body) as server:
        lm = sync_class(server)
        create = lm.client.chat.completions.create
        with pytest.raises(KeyError), checked_replies(lm, ModelNames()):
            assert lm.client.chat.completions.create != create
            raise KeyError
        assert lm.client.chat.completions.create == create
        assert asked(lm, [[user(text("Does it match?"))]], GREEDY) == [""]


@CLASSES
def test_a_run_warns_once_if_another_model_answers(
    build: Build, warnings_of_loguru: list[str]
) -> None:
    answers_to([body({**saying("Yes."), "model": "another-model"})] * 3, build)
    assert sum("another-model answered" in warning for warning in warnings_of_loguru) == 1


def test_tools_are_left_to_the_class() -> None:
    assert answer_text(ChatReply("", "", finish_reason="tool_calls", calls_tools=True)) == ""
    assert notes.is_no_answer(answer_text(ChatReply("", "", finish_reason="tool_calls")))


# --- classes with other clients ---


def model_of_module(module: str) -> Any:
    """A model whose class is defined in a module of this name."""
    return type("Model", (), {"__module__": module})()


@pytest.mark.parametrize(
    ("module", "is_of_api"),
    [
        ("lmms_eval.models.simple.claude", True),
        ("lmms_eval.models.chat.gemini", True),
        ("lmms_eval.models.chat.litellm", True),
        ("lmms_eval.models.simple.reka", True),
        ("lmms_eval.models.simple.qwen_vl_api", True),
        ("lmms_eval.models.chat.vllm", False),
        ("lmms_eval.models.chat.qwen2_5_vl", False),
        ("mine.claude", False),
    ],
)
def test_an_empty_answer_is_a_failed_request_of_an_api_alone(module: str, is_of_api: bool) -> None:
    lm = model_of_module(module)
    assert is_api(lm) is is_of_api
    for empty in ("", " \n"):
        assert notes.is_no_answer(answer_as_text(empty, lm).text) is is_of_api
    assert answer_as_text("Yes.", lm).text == "Yes."


def test_a_local_engine_that_is_called_client_is_no_api() -> None:
    lm = model_of_module("lmms_eval.models.chat.vllm")
    lm.client = type("LLM", (), {"chat": lambda self: None})()
    assert not is_api(lm)
    with checked_replies(lm, ModelNames()):
        pass
