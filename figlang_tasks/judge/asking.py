"""Asks a language model what no kept answer settles, and counts what that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from figlang_tasks.judge.kept_answers import KeptAnswers
from figlang_tasks.judge.server import Content, ModelServer, Reply, ask_all

_BYTES_PER_TOKEN = 4


class KeyedQuestion(Protocol):
    """A question whose answer is kept."""

    @property
    def key(self) -> str:
        """The key under which the answer is kept."""

    @property
    def row(self) -> str:
        """The row that it is about, for messages."""

    @property
    def content(self) -> Content:
        """The parts of the user's turn."""

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens the prompt has."""


Question = TypeVar("Question", bound=KeyedQuestion)

AskAll: TypeAlias = Callable[[Sequence[Question], Callable[[Question, Reply], None]], None]
"""``(questions, keep)``: asks the questions and hands each reply to `keep` as it arrives."""


@dataclass
class Usage:
    """The requests of one call and their tokens.

    Attributes:
        requests: those that were sent, failed ones too.
        failed: how many of them failed.
        error: the last failure, with the row that it was about; "" without one.
        unreported: answers whose tokens the server did not report.
        tokens_read: tokens of the prompts.
        tokens_written: tokens of the answers.
    """

    requests: int = 0
    failed: int = 0
    error: str = ""
    unreported: int = 0
    tokens_read: int = 0
    tokens_written: int = 0

    def add(self, reply: Reply, row: str) -> None:
        """Count the reply to a question; `row` is the row that it is about, for `error`."""
        self.requests += 1
        if reply.error:
            self.failed += 1
            self.error = f"{reply.error} ({row})"
        elif reply.tokens_read is None or reply.tokens_written is None:
            self.unreported += 1
        else:
            self.tokens_read += reply.tokens_read
            self.tokens_written += reply.tokens_written


def estimated_tokens(prompt: str) -> int:
    """About how many tokens a prompt has."""
    return len(prompt.encode()) // _BYTES_PER_TOKEN


def unanswered(
    questions: Sequence[Question], kept_answers: KeptAnswers, max_tokens: int
) -> list[Question]:
    """The questions that no kept answer settles, and so are still to be asked, each once.

    An answer that was cut at a lower limit than `max_tokens` settles none.
    """
    open_questions: dict[str, Question] = {}
    for question in questions:
        if kept_answers.get(question.key, max_tokens) is None:
            open_questions.setdefault(question.key, question)
    return list(open_questions.values())


def connect(
    model: str, max_tokens: int, *, concurrency: int, title: str, kept_in: object
) -> AskAll[Question]:
    """A function that asks a model at the server that ``OPENAI_BASE_URL`` names.

    Args:
        model: its name there.
        max_tokens: the longest answer, with its thinking.
        concurrency: requests at the same time.
        title: of the progress bar.
        kept_in: where the answers are, for a message.

    Raises:
        FigLangError: there is no key.
    """
    server = ModelServer(model, max_tokens)
    return partial(ask_all, server, concurrency=concurrency, title=title, kept_in=kept_in)


def ask(
    questions: Sequence[Question],
    connect: Callable[[], AskAll[Question]],
    kept_answers: KeptAnswers,
    usage: Usage,
    max_tokens: int,
) -> None:
    """Ask a model questions, and keep each answer in `kept_answers` as it arrives.

    Args:
        questions: those that are still to be asked, as `unanswered` gives them.
        connect: connects to the server, or loads the model; called only if there are questions.
        kept_answers: those of the model so far.
        usage: counts the requests.
        max_tokens: the longest answer, with its thinking.

    Raises:
        FigLangError: there is no key, or several requests failed one after the other.
    """
    if not questions:
        kept_answers.open()  # so that the file is there in any case
        return  # without a server, for which nobody may have a key

    def keep(question: Question, reply: Reply) -> None:
        """Count a reply, and keep its answer; a failure is asked again by the next call."""
        usage.add(reply, question.row)
        if not reply.error:
            kept_answers.add(question.key, reply, max_tokens)

    ask_all_of_model = connect()  # raises an error before a file is written
    kept_answers.open()
    ask_all_of_model(questions, keep)
