"""Reads a server's reply to a request for a chat completion of OpenAI's protocol.

Servers differ, and gateways answer in their place. A reply that cannot be read as a chat completion
is a `ReplyFault`, whose message names the server and says what is wrong and what to do. What is no
part of the answer, such as the count of tokens, is left out if it cannot be read, because the
answer is paid for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from loguru import logger
from pydantic import (
    BaseModel,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
    ValidationError,
)

from figlang_tasks.core import redaction
from figlang_tasks.core.row_files import brief, first_fault
from figlang_tasks.core.text import LONGEST_NAME, printable

NO_LOGPROBS = (
    "this API gives no logprobs, so it cannot answer score requests. vLLM (`vllm serve MODEL`, with"
    " --max-logprobs 20 or more) and SGLang (`python -m sglang.launch_server --model-path MODEL`)"
    " give logprobs; so do OpenAI's models that do not reason"
)
_REMEDY = "Look into the log of the server, or use another server"

_LONGEST_REPLY = 64_000_000  # bytes: more than any limit of tokens allows
_QUOTED = 100  # characters of a reply or an error that a message quotes

_TEXT_FIELDS = {"text": "text", "output_text": "text"}
"""The field with the text in a part of a content, by the type of the part."""
_KNOWN_PART_TYPES = (*_TEXT_FIELDS, "refusal", "thinking", "reasoning")
_LARGEST_LOGPROB = 1e-3  # servers round, and the logprob of a certain token may lie above 0


class ReplyFault(ValueError):
    """A reply is no chat completion, or lacks what the request asked for."""


class NoText(ReplyFault):
    """A reply is a chat completion, but its content is no text."""


# --- the form of a reply ---


# Servers fill the fields of type `object` in many ways. They are checked where they are used.


class _Message(BaseModel):
    content: object = None
    refusal: object = None
    tool_calls: object = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: object = None
    logprobs: object = None
    error: object = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: object = None
    usage: object = None


class _TopToken(BaseModel):
    token: StrictStr
    logprob: StrictFloat


class _FirstToken(BaseModel):
    top_logprobs: list[_TopToken] | None = None


class _Logprobs(BaseModel):
    content: list[_FirstToken] | None = None


_TOKEN_COUNT: TypeAdapter[int] = TypeAdapter(Annotated[StrictInt, Field(ge=0, le=10**12)])

TokenLogprobs: TypeAlias = list[tuple[str, float]]
"""Tokens with the logarithms of their probabilities."""


@dataclass(frozen=True)
class ChatReply:
    """A reply that is a chat completion.

    Attributes:
        server: its address, for messages.
        text: the model's answer, or the words of its refusal. Empty if it said nothing.
        refusal: ``refusal`` or ``content_filter`` if the answer was refused; "" for an answer.
        finish_reason: why the answer ended, in the server's word; "" if it gives none.
        served_by: the model's name as the server has it; "" if it gives none.
        tokens_read: tokens of the request as the server counts them; None if it does not.
        tokens_written: tokens of the answer, with its thoughts; None if the server does not count.
        tokens_thought: tokens of these thoughts alone; None if the server does not count.
        calls_tools: whether the model asks for tools, and has not answered yet.
        logprobs: the logprobs as the server sent them; `first_tokens` reads them.
    """

    server: str
    text: str
    refusal: str = ""
    finish_reason: str = ""
    served_by: str = ""
    tokens_read: int | None = None
    tokens_written: int | None = None
    tokens_thought: int | None = None
    calls_tools: bool = False
    logprobs: object = None

    @property
    def is_truncated(self) -> bool:
        """Whether the answer ended at the limit of tokens."""
        return self.finish_reason == "length"

    def first_tokens(self) -> TokenLogprobs:
        """The most probable first tokens of the answer, with their logprobs (at most 0).

        Raises:
            ReplyFault: the server sent none, or a number that is no logarithm of a probability.
        """
        try:
            logprobs = _Logprobs.model_validate({} if self.logprobs is None else self.logprobs)
        except ValidationError as error:
            raise ReplyFault(
                f"{self.server} sent unknown logprobs: {_first_fault(error)}. {_REMEDY}"
            ) from error
        top_tokens = logprobs.content[0].top_logprobs if logprobs.content else None
        if not top_tokens:
            raise ReplyFault(f"{self.server}: {NO_LOGPROBS}")

        tokens: TokenLogprobs = []
        for top_token in top_tokens:
            if math.isnan(top_token.logprob) or top_token.logprob > _LARGEST_LOGPROB:
                raise ReplyFault(
                    f"{self.server} sent {top_token.logprob:g} as the logprob of"
                    f" {brief(top_token.token)}, which is the logarithm of no probability."
                    f" {_REMEDY}"
                )
            tokens.append((top_token.token, min(top_token.logprob, 0.0)))
        return tokens


# --- reading ---


def read_reply(body: bytes, server: str) -> ChatReply:
    """Read the body of a reply that came without an error of HTTP.

    Args:
        body: the body.
        server: the address of the server, for messages (`address`).

    Raises:
        ReplyFault: the body is no chat completion.
    """
    completion = _completion(body, server)
    choice = completion.choices[0]
    if choice.error:
        raise ReplyFault(
            f"{server} broke off with an error: {_error_message(choice.error)}. {_REMEDY}"
        )

    finish_reason = choice.finish_reason if isinstance(choice.finish_reason, str) else ""
    text, refusal = _text_and_refusal(choice.message, server)
    if finish_reason == "content_filter" and not refusal:
        refusal = finish_reason

    served_by = ""
    if isinstance(completion.model, str):
        served_by = printable(completion.model, LONGEST_NAME)
    usage = completion.usage if isinstance(completion.usage, Mapping) else {}
    return ChatReply(
        server=server,
        text=text,
        refusal=refusal,
        finish_reason=finish_reason,
        served_by=served_by,
        tokens_read=_token_count(usage, "prompt_tokens"),
        tokens_written=_token_count(usage, "completion_tokens"),
        tokens_thought=_token_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        calls_tools=finish_reason == "tool_calls" and bool(choice.message.tool_calls),
        logprobs=choice.logprobs,
    )


def _completion(body: bytes, server: str) -> _Completion:
    """Check that a body has the form of a chat completion; a `ReplyFault` if it has not."""
    if len(body) > _LONGEST_REPLY:
        raise ReplyFault(
            f"{server} sent {len(body):,} bytes, which is more than an answer. {_REMEDY}"
        )
    try:
        reply = json.loads(body)
    except RecursionError:
        raise _no_completion(server, "it is nested too deeply", body) from None
    except ValueError:
        raise _no_completion(server, "it is no JSON", body) from None
    if not isinstance(reply, Mapping):
        raise _no_completion(server, "it is no JSON object", body)
    if reply.get("error") and not reply.get("choices"):
        message = _error_message(reply["error"])
        raise ReplyFault(f"{server} sent an error in place of an answer: {message}. {_REMEDY}")
    try:
        return _Completion.model_validate(reply)
    except ValidationError as error:
        raise _no_completion(server, _first_fault(error), body) from error


def _first_fault(error: ValidationError) -> str:
    """The first field of the reply that is not valid, in the words of JSON and not of Python."""
    fault = first_fault(error).replace("dictionary", "object")
    # pydantic writes "... or instance of" and the name of our class.
    return fault.partition(" or instance of ")[0]


def _no_completion(server: str, fault: str, body: bytes) -> ReplyFault:
    """The error for a reply that is no chat completion, which quotes its beginning."""
    start = printable(body[: 2 * _QUOTED].decode("utf-8", "replace"), _QUOTED)
    return ReplyFault(
        f"{server} sent no chat completion ({fault}). Check that the address is of OpenAI's"
        f" protocol and the server well. It sent: {start or 'nothing'}"
    )


def _error_message(error: object) -> str:
    """The message of an error that a server sent in place of an answer.

    Args:
        error: an object of JSON with ``message``, or the message itself.
    """
    message = error.get("message") if isinstance(error, Mapping) else error
    if isinstance(message, str):
        return printable(message.rstrip("."), _QUOTED)
    return brief(error)


def _text_and_refusal(message: _Message, server: str) -> tuple[str, str]:
    """The text of a message and "", or the words of a refusal and ``refusal``.

    The content of a message is a text, nothing (None, then the text is ""), or a list of parts:
    ``[{"type": "text", "text": "B"}]``.

    Raises:
        NoText: the content is no text, and there is no refusal.
    """
    content = message.content
    refusal = message.refusal
    unreadable: list[object] = []  # what stands in the content and is no text
    if isinstance(content, list):
        unreadable = [part for part in content if not _is_known(part)]
        # A part {"type": "refusal", "refusal": "I cannot ..."} has its words under that key.
        refusal = refusal or _text_of_parts(content, {"refusal": "refusal"})
        content = _text_of_parts(content, _TEXT_FIELDS)
    elif content is not None and not isinstance(content, str):
        unreadable = [content]

    if isinstance(refusal, str) and refusal.strip():
        return refusal, "refusal"
    if unreadable:
        raise NoText(
            f"{server} sent {brief(unreadable[0])} as the content of the answer, which is no text."
            f" {_REMEDY}"
        )
    return (content if isinstance(content, str) else ""), ""


def _type_of(part: object) -> str:
    """The type that a part of a content says it has; "" if it says none."""
    part_type = part.get("type") if isinstance(part, Mapping) else None
    return part_type if isinstance(part_type, str) else ""


def _is_known(part: object) -> bool:
    """Whether a part of a content is of a known type, and holds a text if its type has one."""
    part_type = _type_of(part)
    if part_type in _TEXT_FIELDS:
        return isinstance(part, Mapping) and isinstance(part.get(_TEXT_FIELDS[part_type]), str)
    return part_type in _KNOWN_PART_TYPES


def _text_of_parts(parts: list[object], field_by_type: Mapping[str, str]) -> str:
    """The texts of the parts of some types, joined; parts of other types are left out.

    Args:
        parts: the parts of a content.
        field_by_type: the field with the text, for each of the types, such as `_TEXT_FIELDS`.
    """
    texts: list[str] = []
    for part in parts:
        field = field_by_type.get(_type_of(part))
        if field is not None and isinstance(part, Mapping):
            text = part.get(field)
            if isinstance(text, str):
                texts.append(text)
    return "".join(texts)


def _token_count(usage: object, name: str) -> int | None:
    """A number of tokens that a server reports; None if it reports none, or no plausible number.

    Args:
        usage: the part of the reply with the numbers, of any form.
        name: the name of the number.
    """
    if not isinstance(usage, Mapping):
        return None
    try:
        return _TOKEN_COUNT.validate_python(usage.get(name))
    except ValidationError:
        return None


# --- who answered ---


def address(base_url: object) -> str:
    """The address of a server for messages, without what is secret in it."""
    text: str = redaction.redacted(str(base_url).rstrip("/"))
    return printable(text, LONGEST_NAME)


# "gpt-4o" is answered by "gpt-4o-2024-08-06", "gemini-1.5-pro" by "gemini-1.5-pro-002"; "gpt-4" is
# not "gpt-4-32k".
_VERSION = re.compile(r"[-@:](?:\d{3,8}(?:-\d\d){0,2}|latest|free)")


def is_same_model(requested: str, served: str) -> bool:
    """Whether two names are of one model, of which one may have a date, a version or an owner more.

    So are ``gpt-4o`` and ``gpt-4o-2024-08-06``, or ``Qwen/Qwen3`` and ``qwen3:latest``. The order
    of the names does not matter.
    """
    names = [requested.casefold().rstrip("/"), served.casefold().rstrip("/")]
    # Owners (OWNER/NAME) are compared only if both names have one.
    if not all("/" in name for name in names):
        names = [name.rpartition("/")[2] for name in names]
    shorter, longer = sorted(names, key=len)
    if shorter == longer:
        return True
    # All that the longer name has behind the shorter one must be a version.
    return longer.startswith(shorter) and _VERSION.fullmatch(longer, len(shorter)) is not None


class ModelNames:
    """Warns, once, if a server answers with another model than the one in the request."""

    def __init__(self) -> None:
        self._has_warned = False

    def check(self, requested: object, reply: ChatReply) -> None:
        """Warn, once in a run, if a reply names another model than its request.

        Args:
            requested: the model's name in the request.
            reply: the reply; one that names no model is not checked.
        """
        if self._has_warned or not reply.served_by:
            return
        if is_same_model(str(requested), reply.served_by):
            return
        self._has_warned = True
        logger.warning(
            f"figlang_tasks: {reply.server} was asked for the model"
            f" {printable(requested, LONGEST_NAME)}, and {reply.served_by} answered: check that"
            " this is the model that you mean"
        )
