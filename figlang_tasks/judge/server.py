"""Requests to a language model at any server of OpenAI's protocol, and the JSON in its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import openai
from tqdm import tqdm

from figlang_tasks.answers.thoughts import without_thoughts
from figlang_tasks.core import redaction
from figlang_tasks.core.chat_reply import ModelNames, address, read_reply
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import printable

Content: TypeAlias = list[dict[str, Any]]
"""The parts of a user's turn, texts and pictures, as the protocol has them."""

_RETRIES = 5

_MOST_FAILURES_IN_A_ROW = 3
"""How many failures in a row end the work: the server is gone, or the key is wrong."""

_WITHOUT_TEMPERATURE = ("gpt-5", "o1", "o3", "o4")
"""Beginnings of the names of OpenAI's models that take no temperature.

They also take the limit of tokens under another name.
"""

_FLAT_OBJECT = re.compile(r"\{[^{}]*\}")
"""A JSON object without objects inside."""


class Question(Protocol):
    """Anything that a model can be asked."""

    @property
    def content(self) -> Content:
        """The parts of the user's turn."""


_AnyQuestion = TypeVar("_AnyQuestion", bound=Question)


@dataclass(frozen=True)
class Reply:
    """The answer to one request, or why there is none.

    Attributes:
        text: the model's answer without the secrets of this machine: it is saved, and may be
            published.
        error: why there is no answer; "" if there is one.
        served_by: the model's name as the server has it.
        is_truncated: the answer ended at the limit of tokens.
        tokens_read: tokens of the request as the server counts them; None if it does not.
        tokens_written: tokens of the answer, likewise.
    """

    text: str
    error: str = ""
    served_by: str = ""
    is_truncated: bool = False
    tokens_read: int | None = None
    tokens_written: int | None = None


class ModelServer:
    """A language model at the server that ``OPENAI_BASE_URL`` names.

    Args:
        model: its name there.
        max_tokens: the longest answer, with its thinking.

    Raises:
        FigLangError: there is no key.
    """

    def __init__(self, model: str, max_tokens: int) -> None:
        """Connect to the server; nothing is sent yet."""
        self.model = model
        self._settings: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens}
        if model.startswith(_WITHOUT_TEMPERATURE):
            self._settings = {"max_completion_tokens": max_tokens}
        try:
            self._client = openai.OpenAI(max_retries=_RETRIES)
        except openai.OpenAIError as error:
            raise FigLangError(f"{error} A local server takes any OPENAI_API_KEY") from error
        self._address = address(self._client.base_url)
        self._model_names = ModelNames()

    def ask(self, content: Content) -> Reply:
        """Send one request; its failure is a reply with an error, and raises nothing."""
        messages: Any = [{"role": "user", "content": content}]
        completions = self._client.chat.completions.with_raw_response
        try:
            response = completions.create(model=self.model, messages=messages, **self._settings)
            reply = read_reply(response.content, self._address)
        except (openai.OpenAIError, ValueError) as error:
            # A ValueError says that the reply is no chat completion, or that the request cannot be
            # sent (a key that HTTP cannot carry).
            message = redaction.redacted(str(error).rstrip("."))
            reason = f"{type(error).__name__}: {printable(message, limit=300)}"
            return Reply("", error=reason)
        # Warns once if the server gives the model another name.
        self._model_names.check(self.model, reply)
        return Reply(
            redaction.without_secrets(reply.text),
            served_by=reply.served_by,
            is_truncated=reply.is_truncated,
            tokens_read=reply.tokens_read,
            tokens_written=reply.tokens_written,
        )


def ask_all(
    server: ModelServer,
    questions: Sequence[_AnyQuestion],
    keep: Callable[[_AnyQuestion, Reply], None],
    *,
    concurrency: int,
    title: str,
    kept_in: object,
) -> None:
    """Ask several questions at a time, and hand each reply to `keep` as it arrives, in this thread.

    Replies that are on their way when the work is interrupted are waited for and kept, since they
    are paid for.

    Args:
        server: the model.
        questions: what to ask.
        keep: stores the reply to a question, or counts a failure.
        concurrency: requests at the same time.
        title: of the progress bar.
        kept_in: where the answers are, for the message.

    Raises:
        FigLangError: several requests failed one after the other.
    """
    pool = ThreadPoolExecutor(concurrency)
    waiting: dict[Future[Reply], _AnyQuestion] = {}  # those whose reply was not handed to `keep`
    failures_in_a_row = 0
    try:
        for question in questions:
            # The content is made when it is sent: all pictures at once would fill the memory.
            waiting[pool.submit(_ask, server, question)] = question
        completed = as_completed(list(waiting))  # a copy, since `waiting` shrinks below
        # With disable=None there is a bar on a terminal only.
        for future in tqdm(completed, title, len(waiting), unit="request", disable=None):
            reply = future.result()
            keep(waiting.pop(future), reply)
            if not reply.error:
                failures_in_a_row = 0
                continue
            failures_in_a_row += 1
            if failures_in_a_row == _MOST_FAILURES_IN_A_ROW:
                raise FigLangError(
                    f"{server.model}: {failures_in_a_row} requests failed one after the other,"
                    f" the last with {reply.error}. The answers so far are in {kept_in}:"
                    " run the command again to continue"
                )
    finally:
        pool.shutdown(cancel_futures=True)  # waits for the requests that are on their way
        # What is still waiting after an interruption: its reply arrived, or it was not sent.
        for future, question in waiting.items():
            if future.done() and not future.cancelled():
                keep(question, future.result())


def _ask(server: ModelServer, question: Question) -> Reply:
    """Send a question; return the reply."""
    return server.ask(question.content)


# --- JSON in answers ---


def last_object(answer: str, key: str) -> Mapping[str, Any]:
    """The last JSON object with this key in an answer, outside of its thoughts; empty if none."""
    last: Mapping[str, Any] = {}
    for json_object in _json_objects(without_thoughts(answer)):
        if key in json_object:
            last = json_object
    return last


def _json_objects(text: str) -> Iterator[Mapping[str, Any]]:
    """Yield the JSON objects in a text that have no object inside."""
    for match in _FLAT_OBJECT.finditer(text):
        try:
            yield json.loads(match[0])
        except (ValueError, RecursionError):  # text in braces that is not JSON
            continue
