"""If these fail, a server's reply ends in a traceback, a paid answer is lost, or is misread."""

from __future__ import annotations

import math
import re

import pytest
from misbehaving_replies import CASES, LOGPROBS, SCORES, Case, body, of_tokens, saying, token

from figlang_tasks.core import notes
from figlang_tasks.core.chat_reply import (
    ChatReply,
    ModelNames,
    NoText,
    ReplyFault,
    address,
    is_same_model,
    read_reply,
)

SERVER = "http://localhost:8000/v1"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_every_reply_is_read_or_its_fault_is_told_in_one_line(case: Case) -> None:
    if case.text is not None:
        reply = read_reply(case.body, SERVER)
        assert (reply.text, reply.refusal) == (case.text, case.refusal)
        assert len(reply.served_by) <= 200 and reply.served_by.isprintable()
        return
    with pytest.raises(NoText if case.is_completion else ReplyFault, match=case.fault) as raised:
        read_reply(case.body, SERVER)
    message = str(raised.value)
    assert message.startswith(f"{SERVER} ")
    assert message.isprintable() and len(message) < 500
    assert ("Check that the address" in message) or ("Look into the log" in message)


def test_a_reply_with_all_fields_is_read() -> None:
    reply = read_reply(body(saying("Yes.", finish_reason="length")), SERVER)
    assert reply == ChatReply(
        SERVER,
        "Yes.",
        finish_reason="length",
        served_by="served-model",
        tokens_read=3,
        tokens_written=2,
    )
    assert reply.is_truncated


def test_tokens_of_thoughts_are_read() -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 8},
    }
    reply = read_reply(body({**saying("Yes."), "usage": usage}), SERVER)
    assert (reply.tokens_read, reply.tokens_written, reply.tokens_thought) == (7, 9, 8)


@pytest.mark.parametrize(
    "name", [name for name in LOGPROBS if "words" not in name or name == "no words"]
)
def test_logprobs_that_cannot_be_read_are_refused(name: str) -> None:
    content, fault = LOGPROBS[name]
    with pytest.raises(ReplyFault, match=fault) as raised:
        read_reply(content, SERVER).first_tokens()
    assert SERVER in str(raised.value)


def test_logprobs_of_first_tokens_are_read_and_rounded_to_at_most_0() -> None:
    tokens = read_reply(
        of_tokens(token("Yes", -1), token(" No", -2.5), token("b", 1e-6)), SERVER
    ).first_tokens()
    assert tokens == [("Yes", -1.0), (" No", -2.5), ("b", 0.0)]
    impossible = read_reply(SCORES["one impossible word"][0], SERVER).first_tokens()
    assert impossible[0] == ("Yes", -math.inf)


@pytest.mark.parametrize(
    ("requested", "served", "is_same"),
    [
        ("gpt-4o", "gpt-4o", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4", "gpt-4-0613", True),
        ("gpt-4-turbo", "gpt-4-turbo-2024-04-09", True),
        ("gemini-1.5-pro", "gemini-1.5-pro-002", True),
        ("claude-3-5-sonnet", "claude-3-5-sonnet-20241022", True),
        ("claude-3-sonnet", "claude-3-sonnet@20240229", True),
        ("openai/gpt-4o", "gpt-4o-2024-08-06", True),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2.5-vl-7b-instruct", True),
        ("/data/llava/", "llava", True),
        ("google/gemma-3-27b-it:free", "google/gemma-3-27b-it", True),
        ("llava:latest", "llava", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("gpt-4o", "gpt-4o-mini-2024-07-18", False),
        ("gpt-4", "gpt-4-32k", False),
        ("gpt-4", "gpt-4.1", False),
        ("gpt-4", "gpt-4o", False),
        ("gpt-4o-2024-08-06", "gpt-4o-2024-11-20", False),
        ("o1", "o1-preview", False),
        ("llama-3", "llama-3-70", False),
        ("llava", "llava:34b", False),
        ("Qwen/Qwen2.5-VL-7B-Instruct", "Qwen/Qwen2.5-VL-72B-Instruct", False),
        ("first/llava", "second/llava", False),
    ],
)
def test_which_names_are_of_one_model(requested: str, served: str, is_same: bool) -> None:
    assert is_same_model(requested, served) is is_same
    assert is_same_model(served, requested) is is_same


def test_an_answer_of_another_model_is_warned_of_once(warnings_of_loguru: list[str]) -> None:
    names = ModelNames()
    for served in ("", "gpt-4o-2024-08-06", "gpt-4o-mini", "gpt-3.5-turbo", "gpt-4o-mini"):
        names.check("gpt-4o", ChatReply(SERVER, "Yes.", served_by=served))
    (warning,) = warnings_of_loguru
    assert f"{SERVER} was asked for the model gpt-4o, and gpt-4o-mini answered" in warning


def test_an_address_is_shown_without_its_password() -> None:
    text = address("https://me:s3cret-word@example.org/v1/")
    assert "s3cret" not in text and text.endswith("@example.org/v1")


# --- the texts in place of an answer ---


@pytest.mark.parametrize(
    ("finish_reason", "tokens_thought", "words"),
    [
        ("length", None, r"tokens were spent before it \(finish_reason length\).*max_new_tokens"),
        ("length", 4096, r"\(finish_reason length, 4,096 tokens of thoughts\).*max_new_tokens"),
        ("stop", 100, r"\(finish_reason stop, 100 tokens of thoughts\).*max_new_tokens"),
        ("stop", None, r"is empty \(finish_reason stop\): look into the server's log"),
        ("stop", 0, r"is empty \(finish_reason stop\): look into the server's log"),
        ("", None, "may have spent its tokens.*max_new_tokens"),
    ],
)
def test_an_empty_answer_counts_as_none_and_names_the_cause(
    finish_reason: str, tokens_thought: int | None, words: str
) -> None:
    text = notes.empty_answer(finish_reason, tokens_thought)
    assert notes.is_no_answer(text) and not notes.is_refusal(text)
    assert re.search(words, text)


@pytest.mark.parametrize(
    ("text", "is_refused"),
    [
        (notes.refused_request("refusal", "I can't help."), True),
        (notes.refused_request("content_filter", ""), True),
        ("[SAFETY_BLOCKED:finish_reason=FinishReason.SAFETY]", True),  # lmms-eval's gemini
        ("[SAFETY_BLOCKED:unknown]", True),
        ('{"scene_graph": "A mule.", "answer": "[FIGLANG_REFUSED: refusal] No."}', True),
        ('{"scene_graph": "[FIGLANG_REFUSED: refusal] No.", "answer": "Yes."}', False),
        ('{"scene_graph": "[FIGLANG_REFUSED: ', False),
        ('["[FIGLANG_REFUSED: refusal]"]', False),
        ("I'm sorry, I can't help with that.", False),
        ("", False),
        (None, False),
    ],
)
def test_which_texts_stand_for_refusals(text: str | None, is_refused: bool) -> None:
    assert notes.is_refusal(text) is is_refused
    assert not notes.is_no_answer(text)


@pytest.mark.parametrize(
    "reason", ["MAX_TOKENS", "FinishReason.MAX_TOKENS", "STOP", "FinishReason.STOP"]
)
def test_an_answer_that_gemini_calls_blocked_though_it_is_empty_counts_as_none(reason: str) -> None:
    text = notes.text_of(f"[SAFETY_BLOCKED:finish_reason={reason}]")
    assert notes.is_no_answer(text) and ("max_new_tokens" in text) is ("MAX_TOKENS" in reason)
