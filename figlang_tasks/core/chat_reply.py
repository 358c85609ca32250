"""A server's reply to a chat completion of OpenAI's protocol, in a form that is safe to read.

Servers differ, and gateways answer in their place. What cannot be read as a chat completion is a
`ReplyFault`, whose message names the server, says what is wrong, and what to do. What is no part of
the answer, such as the count of tokens, is left out where it cannot be read: the answer is paid
for.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

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
_SHOWN = 100  # characters of a reply or an error that a message shows

_TEXT_PARTS = {"text": "text", "output_text": "text"}
"""The field with the text in parts of a content, by the type of the part."""
_KNOWN_PARTS = (*_TEXT_PARTS, "refusal", "thinking", "reasoning")
_ROUNDING = 1e-3  # so far above 0 the logprob of a certain token may lie


class ReplyFault(ValueError):
    """A reply is no chat completion, or lacks what was asked for."""


class NoText(ReplyFault):
    """A reply is a chat completion, but its content is no text."""


# --- the form of a reply ---


class _Message(BaseModel):
    content: Any = None
    refusal: Any = None
    tool_calls: Any = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: Any = None
    logprobs: Any = None
    error: Any = None


class _Completion(BaseModel):
    choices: Annotated[list[_Choice], Field(min_length=1)]
    model: Any = None
    usage: Any = None


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
        text: what the model said, or the words of its refusal. Empty if it said nothing.
        refusal: ``refusal`` or ``content_filter`` where there is a refusal in place of an answer;
            "" for an answer.
        finish_reason: why the answer ended, in the server's word; "" if it gives none.
        served_by: the model's name as the server has it; "" if it gives none.
        tokens_read: tokens of the request as the server counts them; None if it does not.
        tokens_written: the same of the answer, with thoughts.
        tokens_thought: how many tokens of the answer are thoughts.
        calls_tools: the model asks for tools, and has not answered yet.
        logprobs: as the server sent them; see `first_tokens`.
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
    logprobs: Any = None

    @property
    def is_truncated(self) -> bool:
        """Whether the answer ended at the limit of tokens."""
        return self.finish_reason == "length"

    def first_tokens(self) -> TokenLogprobs:
        """The most probable first tokens of the answer.

        Raises:
            ReplyFault: the server sent none, or a number that is no logarithm of a probability.
        """
        try:
            logprobs = _Logprobs.model_validate({} if self.logprobs is None else self.logprobs)
        except ValidationError as error:
            raise ReplyFault(
                f"{self.server} sent unknown logprobs: {_fault(error)}. {_REMEDY}"
            ) from error
        top_tokens = logprobs.content[0].top_logprobs if logprobs.content else None
        if not top_tokens:
            raise ReplyFault(f"{self.server}: {NO_LOGPROBS}")

        tokens: TokenLogprobs = []
        for top_token in top_tokens:
            if math.isnan(top_token.logprob) or top_token.logprob > _ROUNDING:
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

    Raises:
        ReplyFault: it is no chat completion.
    """
    completion = _completion(body, server)
    choice = completion.choices[0]
    if choice.error:
        raise ReplyFault(
            f"{server} broke off with an error: {_error_message(choice.error)}. {_REMEDY}"
        )

    finish_reason = choice.finish_reason if isinstance(choice.finish_reason, str) else ""
    text, refusal = _words(choice.message, server)
    if finish_reason == "content_filter" and not refusal:
        refusal = finish_reason

    usage = completion.usage if isinstance(completion.usage, Mapping) else {}
    return ChatReply(
        server=server,
        text=text,
        refusal=refusal,
        finish_reason=finish_reason,
        served_by=(
            printable(completion.model, LONGEST_NAME) if isinstance(completion.model, str) else ""
        ),
        tokens_read=_token_count(usage, "prompt_tokens"),
        tokens_written=_token_count(usage, "completion_tokens"),
        tokens_thought=_token_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
        calls_tools=finish_reason == "tool_calls" and bool(choice.message.tool_calls),
        logprobs=choice.logprobs,
    )


def _completion(body: bytes, server: str) -> _Completion:
    """A body in the form of a chat completion."""
    if len(body) > _LONGEST_REPLY:
        raise ReplyFault(
            f"{server} sent {len(body):,} bytes, which is more than an answer. {_REMEDY}"
        )
    try:
        value = json.loads(body)
    except RecursionError:
        raise _no_completion(server, "it is nested too deeply", body) from None
    except ValueError:
        raise _no_completion(server, "it is no JSON", body) from None
    if not isinstance(value, Mapping):
        raise _no_completion(server, "it is no JSON object", body)
    if value.get("error") and not value.get("choices"):
        message = _error_message(value["error"])
        raise ReplyFault(f"{server} sent an error in place of an answer: {message}. {_REMEDY}")
    try:
        return _Completion.model_validate(value)
    except ValidationError as error:
        raise _no_completion(server, _fault(error), body) from error


def _fault(error: ValidationError) -> str:
    """The first field of another form, without the names of our classes."""
    return first_fault(error).replace("dictionary", "object").partition(" or instance of ")[0]


def _no_completion(server: str, fault: str, body: bytes) -> ReplyFault:
    """What is said of a reply that is no chat completion."""
    start = printable(body[: 2 * _SHOWN].decode("utf-8", "replace"), _SHOWN)
    return ReplyFault(
        f"{server} sent no chat completion ({fault}). Check that the address is of OpenAI's"
        f" protocol and the server well. It sent: {start or 'nothing'}"
    )


def _error_message(error: object) -> str:
    """What an error says that a server sent in place of an answer."""
    message = error.get("message") if isinstance(error, Mapping) else error
    if isinstance(message, str):
        return printable(message.rstrip("."), _SHOWN)
    return brief(error)


def _words(message: _Message, server: str) -> tuple[str, str]:
    """What a message says, and ``refusal`` if that is a refusal, else ""."""
    content, refusal = message.content, message.refusal
    no_text: list[Any] = []
    if isinstance(content, list):
        no_text = [part for part in content if not _is_known(part)]
        refusal = refusal or _text_of_parts(content, {"refusal": "refusal"})
        content = _text_of_parts(content, _TEXT_PARTS)
    elif content is not None and not isinstance(content, str):
        no_text = [content]

    if isinstance(refusal, str) and refusal.strip():
        return refusal, "refusal"
    if no_text:
        raise NoText(
            f"{server} sent {brief(no_text[0])} as the content of the answer, which is no text."
            f" {_REMEDY}"
        )
    return content or "", ""


def _kind_of(part: object) -> str:
    """The type that a part of a content says it has."""
    kind = part.get("type") if isinstance(part, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _is_known(part: Any) -> bool:
    """Whether a part of a content is of a known type, and its text, if it should have one, is a
    text.
    """
    kind = _kind_of(part)
    return kind in _KNOWN_PARTS and (
        kind not in _TEXT_PARTS or isinstance(part.get(_TEXT_PARTS[kind]), str)
    )


def _text_of_parts(parts: list[Any], field_by_kind: Mapping[str, str]) -> str:
    """The texts of some kinds of parts, joined."""
    texts: list[str] = []
    for part in parts:
        field = field_by_kind.get(_kind_of(part))
        if field and isinstance(part.get(field), str):
            texts.append(part[field])
    return "".join(texts)


def _token_count(usage: object, name: str) -> int | None:
    """A number of tokens that a server reports; None if it does not."""
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


def is_same_model(asked: str, served: str) -> bool:
    """Whether two names are of one model: one may have a date, a version or an owner more than the
    other.
    """
    names = [asked.casefold().rstrip("/"), served.casefold().rstrip("/")]
    if not all("/" in name for name in names):
        names = [name.rpartition("/")[2] for name in names]
    shorter, longer = sorted(names, key=len)
    if shorter == longer:
        return True
    return longer.startswith(shorter) and _VERSION.fullmatch(longer, len(shorter)) is not None


class ModelNames:
    """Warns, once, if a server answers with another model than the one asked for."""

    def __init__(self) -> None:
        self._is_told = False

    def check(self, asked: object, reply: ChatReply) -> None:
        """Compare the name in a request with that in the reply, if it has one."""
        if self._is_told or not reply.served_by or is_same_model(str(asked), reply.served_by):
            return
        self._is_told = True
        logger.warning(
            f"figlang_tasks: {reply.server} was asked for the model"
            f" {printable(asked, LONGEST_NAME)}, and {reply.served_by} answered: check that this is"
            " the model that you mean"
        )
