"""Options of commands that ask a language model, and what the requests cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from figlang_tasks.cli import say
from figlang_tasks.core.errors import FigLangError

if TYPE_CHECKING:
    from figlang_tasks.judge.asking import AskAll, Question, Usage
    from figlang_tasks.judge.kept_answers import KeptAnswers

Model: TypeAlias = Annotated[
    str, typer.Option(help="Name of the model at the server.", show_default=False)
]
DryRun: TypeAlias = Annotated[
    bool, typer.Option("--dry-run", help="Say what would be asked. Ask and write nothing.")
]
Concurrency: TypeAlias = Annotated[
    int, typer.Option(min=1, max=64, help="Requests at the same time.")
]
MaxTokens: TypeAlias = Annotated[
    int, typer.Option(min=16, help="Tokens of an answer, with its thinking.")
]
PriceRead: TypeAlias = Annotated[
    float | None,
    typer.Option(min=0, help="Price of a million tokens that the model reads.", show_default=False),
]
PriceWritten: TypeAlias = Annotated[
    float | None,
    typer.Option(min=0, help="Price of a million tokens that it writes.", show_default=False),
]


class Prices(NamedTuple):
    """What a million tokens cost that the model reads or writes; None where no price was given."""

    read: float | None
    written: float | None

    def text(self, tokens_read: int, tokens_written: int) -> str:
        """The price of some tokens to append: ``; price 0.0123``; "" if no price was given."""
        if self.read is None and self.written is None:
            return ""
        price_read = self.read or 0
        price_written = self.written or 0
        price = (tokens_read * price_read + tokens_written * price_written) / 1e6
        return f"; price {price:,.4f}"


def ask(
    questions: Sequence[Question],
    connect: Callable[[], AskAll[Question]],
    kept_answers: KeptAnswers,
    prices: Prices,
    max_tokens: int,
) -> Usage:
    """Ask the questions that are still open, keep the answers, and return what that took.

    If it fails or is interrupted, print what it has cost so far, and raise the error again.

    Args:
        questions: those that are still open.
        connect: connects to the server, or loads the model.
        kept_answers: gets the answers.
        prices: of the tokens.
        max_tokens: the longest answer.
    """
    from figlang_tasks.judge import asking

    usage = asking.Usage()
    try:
        # This counts each request in `usage`, and adds each answer to `kept_answers`.
        asking.ask(questions, connect, kept_answers, usage, max_tokens)
    except (FigLangError, OSError, KeyboardInterrupt):
        if usage.requests:
            say(cost_text(usage, prices), err=True)
        raise
    return usage


def requests_failed(count: int, last_error: str) -> FigLangError:
    """The error that a command ends with after requests to a model failed."""
    return FigLangError(
        f"{count} requests failed, the last with {last_error}: run the command again to ask them"
        " again"
    )


def estimated_cost_text(
    questions: Sequence[Question], max_tokens: int, prices: Prices, pictures: int = 0
) -> str:
    """What it would cost at most to ask these questions, and that they were not asked.

    Args:
        questions: the questions.
        max_tokens: the longest answer.
        prices: of the tokens.
        pictures: how many of the questions show a picture, whose tokens only the server knows.
    """
    tokens_to_read = sum(question.estimated_tokens for question in questions)
    tokens_to_write = len(questions) * max_tokens
    tokens = f"about {tokens_to_read:,} tokens to read, at most {tokens_to_write:,} to write"
    price = prices.text(tokens_to_read, tokens_to_write)
    not_counted = f"; and {pictures:,} pictures, which are not counted" if pictures else ""
    return f"{tokens}{price}{not_counted}\nnothing was asked or written"


def cost_text(usage: Usage, prices: Prices) -> str:
    """What the requests have cost: ``3 requests: 900 tokens read, 60 written; price 0.0123``."""
    tokens = f"{usage.tokens_read:,} tokens read, {usage.tokens_written:,} written"
    if usage.unreported:
        tokens += f" (the server reported none of {usage.unreported} answers)"
    price = prices.text(usage.tokens_read, usage.tokens_written)
    return f"{usage.requests} requests: {tokens}{price}"
