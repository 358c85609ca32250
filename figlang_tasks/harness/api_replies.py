"""Replies of servers of OpenAI's protocol, checked before a model class of the harness reads them.

The classes of lmms-eval 0.7.3 take the content of a reply as it is: an empty one, the words of a
refusal, or that of something which is no chat completion. While our tasks are asked, the method of
their client that sends a request is one that checks the reply, and puts a text in place of an
answer that is empty or refused.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from figlang_tasks.core import notes
from figlang_tasks.core.chat_reply import ChatReply, ModelNames, NoText, address, read_reply
from figlang_tasks.core.text import is_blank
from figlang_tasks.harness.harness_types import Model

_OTHER_APIS = ("claude", "gemini", "litellm", "qwen_vl_api", "reka")
"""Modules of lmms-eval 0.7.3 whose classes speak other protocols than OpenAI's.

They give "" where a request has failed.
"""


def is_api(lm: object) -> bool:
    """Whether a model answers over the network, where an empty answer is a failed request.

    An empty answer of any other model is an answer.
    """
    if _completions_of(lm) is not None:
        return True
    for model_class in type(lm).__mro__:
        module = model_class.__module__
        if not module.startswith("lmms_eval.models."):
            continue
        module_name = module.rpartition(".")[2]  # claude of lmms_eval.models.simple.claude
        if module_name in _OTHER_APIS:
            return True
    return False


@contextmanager
def checked_replies(lm: Model, model_names: ModelNames) -> Iterator[None]:
    """Within the block, check what a model's server replies; does nothing for a model without one.

    The model must have a client of OpenAI's package, or one that is made alike. A reply that is no
    chat completion raises an error, after which the model class asks again.

    Args:
        lm: the model.
        model_names: compares the model that answers with the one that was asked.
    """
    completions = _completions_of(lm)
    if completions is None:
        yield
        return
    unchecked_create = completions.create
    raw_create = completions.with_raw_response.create
    server = address(lm.client.base_url)

    def completion_of(response: Any, request: Mapping[str, object]) -> Any:
        """The completion in a response, with a text of ours where the answer is no text."""
        try:
            reply = read_reply(response.content, server)
        except NoText as fault:  # asked again, it would be the same
            failure = notes.failed_request(str(fault))
            return _with_text(response.parse(), failure, reply=None)
        model_names.check(request.get("model"), reply)
        return _with_text(response.parse(), answer_text(reply), reply)

    async def awaited_completion(response: Any, request: Mapping[str, object]) -> Any:
        return completion_of(await response, request)

    def checked_create(**request: object) -> Any:
        """Send a request; returns a completion, or from an asynchronous client a coroutine."""
        if request.get("stream"):  # the reply comes in pieces, which are not checked
            return unchecked_create(**request)
        response = raw_create(**request)
        if inspect.isawaitable(response):
            return awaited_completion(response, request)
        return completion_of(response, request)

    completions.create = checked_create
    try:
        yield
    finally:
        # The attribute hides the method of the class, which is found again without it.
        del completions.create


def answer_text(reply: ChatReply) -> str:
    """The answer in a reply, or the text that stands in its place."""
    if reply.refusal:
        return notes.refused_request(reply.refusal, reply.text)
    if reply.calls_tools or not is_blank(reply.text):
        return reply.text
    return notes.empty_answer(reply.finish_reason, reply.tokens_thought)


def _completions_of(lm: object) -> Any:
    """``lm.client.chat.completions``, as clients of OpenAI's package have it; None without it."""
    client = getattr(lm, "client", None)
    chat = getattr(client, "chat", None)
    completions = getattr(chat, "completions", None)
    # Some classes of lmms-eval 0.7.3 (vllm, sglang) have an engine on this machine as `client`.
    if not hasattr(completions, "with_raw_response"):
        return None
    return completions


def _with_text(completion: Any, text: str, reply: ChatReply | None) -> Any:
    """Put a text and the checked token counts into a completion, and return it.

    Args:
        completion: of OpenAI's package; it is changed.
        text: the answer.
        reply: has the token counts; without any, or if it is None, the completion gets no usage.
    """
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
