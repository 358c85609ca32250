"""Replies of servers of OpenAI's protocol, checked before a model class of the harness reads them.

The harness's classes take the content of a reply as it is. While our tasks are asked, the method of
their client that sends a request is one that checks the reply, and puts a text in place of an
answer that is empty or refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from figlang_tasks.core import notes
from figlang_tasks.core.chat_reply import ChatReply, ModelNames, NoText, address, read_reply
from figlang_tasks.core.text import is_blank

# Of lmms-eval 0.7.3, by the names of their modules: they speak other protocols, and give "" where a
# request has failed.
_OTHER_APIS = ("claude", "gemini", "litellm", "qwen_vl_api", "reka")


def is_api(lm: Any) -> bool:
    """Whether a model answers over the network, where an empty answer is a failure; of other models
    it is an answer.
    """
    if _completions_of(lm) is not None:
        return True
    modules = [model_class.__module__ for model_class in type(lm).__mro__]
    return any(
        module.startswith("lmms_eval.models.") and module.rpartition(".")[2] in _OTHER_APIS
        for module in modules
    )


@contextmanager
def checked_replies(lm: Any, model_names: ModelNames) -> Iterator[None]:
    """Check what a model's server replies, if it has a client of OpenAI's package, or one that is
    made alike.

    A reply that is no chat completion is an error, after which the class asks again.
    """
    completions = _completions_of(lm)
    if completions is None:
        yield
        return
    unchecked_create = completions.create
    raw_create = completions.with_raw_response.create
    server = address(lm.client.base_url)

    def create(**request: Any) -> Any:
        if request.get("stream"):
            return unchecked_create(**request)
        response = raw_create(**request)
        return (
            received(response, request)
            if inspect.isawaitable(response)
            else completion(response, request)
        )

    async def received(response: Any, request: dict[str, Any]) -> Any:
        return completion(await response, request)

    def completion(response: Any, request: dict[str, Any]) -> Any:
        try:
            reply = read_reply(response.content, server)
        except NoText as fault:  # asked again, it would be the same
            return _with_text(response.parse(), notes.failed_request(str(fault)), None)
        model_names.check(request.get("model"), reply)
        return _with_text(response.parse(), answer_text(reply), reply)

    completions.create = create
    try:
        yield
    finally:
        del completions.create  # the method of its class is behind it


def answer_text(reply: ChatReply) -> str:
    """The answer in a reply, or the text that stands in its place."""
    if reply.refusal:
        return notes.refused_request(reply.refusal, reply.text)
    if reply.calls_tools or not is_blank(reply.text):
        return reply.text
    return notes.empty_answer(reply.finish_reason, reply.tokens_thought)


def _completions_of(lm: Any) -> Any:
    """The part of a model's client that asks for chat completions; None without such a client."""
    chat = getattr(getattr(lm, "client", None), "chat", None)
    completions = getattr(chat, "completions", None)
    return completions if hasattr(completions, "with_raw_response") else None


def _with_text(completion: Any, text: str, reply: ChatReply | None) -> Any:
    """A completion of OpenAI's package with this text, and with token counts that are numbers."""
    from openai.types import CompletionUsage
    from openai.types.completion_usage import CompletionTokensDetails

    completion.choices[0].message.content = text
    completion.usage = None
    if reply and (reply.tokens_read is not None or reply.tokens_written is not None):
        completion.usage = CompletionUsage(
            prompt_tokens=reply.tokens_read or 0,
            completion_tokens=reply.tokens_written or 0,
            total_tokens=(reply.tokens_read or 0) + (reply.tokens_written or 0),
            completion_tokens_details=CompletionTokensDetails(
                reasoning_tokens=reply.tokens_thought
            ),
        )
    return completion
