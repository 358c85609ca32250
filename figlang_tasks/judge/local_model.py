"""A local model of transformers in place of a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from tqdm import tqdm

from figlang_tasks.core import redaction
from figlang_tasks.core.prompting import ChatTurn, user_turn
from figlang_tasks.judge.asking import AskAll
from figlang_tasks.judge.questions import JudgeQuestion
from figlang_tasks.judge.server import Reply


def load(model: str, model_args: str, max_tokens: int) -> AskAll[JudgeQuestion]:
    """Load a model; return a function that asks it.

    The harness, whose class `figlang_vlm` is, is imported only here.

    Args:
        model: hub id or folder.
        model_args: further arguments of figlang_vlm: ``batch_size=8,dtype=bfloat16``.
        max_tokens: the longest answer, with its thinking.

    Raises:
        FigLangError: an argument is invalid, or the model cannot be loaded.
    """
    from figlang_tasks.models import local

    lm = local.load(model, model_args)

    def ask_all(
        questions: Sequence[JudgeQuestion], keep: Callable[[JudgeQuestion, Reply], None]
    ) -> None:
        """Ask the questions in batches, and hand each answer to `keep`."""
        with tqdm(total=len(questions), desc="figlang judge llm", disable=None) as bar:

            def take(position: int, answer: local.LocalAnswer) -> None:
                """Hand over an answer."""
                reply = Reply(
                    redaction.without_secrets(answer.text),
                    served_by=model,
                    is_truncated=(answer.tokens_written or 0) >= max_tokens,
                    tokens_read=answer.tokens_read,
                    tokens_written=answer.tokens_written,
                )
                keep(questions[position], reply)
                bar.update()

            make_turns = [partial(turn_of, question) for question in questions]
            local.answer_all(lm, make_turns, max_tokens, take)

    return ask_all


def turn_of(question: JudgeQuestion) -> ChatTurn:
    """The turn of the user with the picture of a question, if it has one, and its prompt."""
    read_picture = question.item.read_picture
    pictures = [] if read_picture is None else [read_picture()]
    return user_turn(pictures, question.prompt)
