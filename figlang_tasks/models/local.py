"""Asks a model of transformers outside of an evaluation, by `FigLangVLM`: no task, no server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from lmms_eval.api.instance import GenerationResult, Instance
from lmms_eval.utils import simple_parse_args_string

from figlang_tasks.core.prompting import ChatTurn
from figlang_tasks.models.vlm import FigLangVLM

_TASK = "questions"
_SPLIT = "all"
"""Names in messages, and keys of `task_dict`, which an evaluation would have set."""

MakeTurn: TypeAlias = Callable[[], ChatTurn]
"""Makes the turn of the user that asks a question, with its pictures."""


class LocalAnswer(NamedTuple):
    """An answer of a local model.

    Attributes:
        text: what the model said.
        tokens_read: tokens of the prompt, with its pictures.
        tokens_written: tokens of the answer.
    """

    text: str
    tokens_read: int | None
    tokens_written: int | None


def load(pretrained: str, model_args: str) -> FigLangVLM:
    """Load a model for `answer_all`.

    Args:
        pretrained: hub id or folder.
        model_args: further arguments of `FigLangVLM`, as after ``--model_args``:
            ``batch_size=8,dtype=bfloat16``.

    Raises:
        FigLangError: an argument is unknown or invalid, or the model cannot be loaded.
    """
    return FigLangVLM(**{**simple_parse_args_string(model_args), "pretrained": pretrained})


def answer_all(
    lm: FigLangVLM,
    make_turns: Sequence[MakeTurn],
    max_tokens: int,
    on_answer: Callable[[int, LocalAnswer], None],
) -> None:
    """Answer questions in batches, greedily, and hand over each answer as soon as it is there.

    Args:
        lm: the model.
        make_turns: a function for each question.
        max_tokens: the longest answer, with its thinking.
        on_answer: called with the position of a question and its answer.

    Raises:
        FigLangError: a question cannot be answered.
    """
    generation_kwargs = {"max_new_tokens": max_tokens, "do_sample": False, "until": []}

    def messages_of(position: int) -> list[ChatTurn]:
        """The conversation of a question: `task_dict` has its position as its document."""
        return [make_turns[position]()]

    requests: list[Instance] = []
    for position in range(len(make_turns)):
        # The arguments are those of `ChatArguments`.
        request = Instance(
            request_type="generate_until",
            arguments=("", messages_of, generation_kwargs, position, _TASK, _SPLIT),
            idx=0,
            metadata={"task": _TASK, "doc_id": position, "repeats": 1},
        )
        requests.append(request)

    def take(position: int, result: GenerationResult) -> None:
        """Hand over an answer with its counts of tokens."""
        counts = result.token_counts
        tokens_read = None if counts is None else counts.input_tokens
        tokens_written = None if counts is None else counts.output_tokens
        on_answer(position, LocalAnswer(result.text, tokens_read, tokens_written))

    lm.task_dict = {_TASK: {_SPLIT: list(range(len(make_turns)))}}
    lm.on_answer = take
    try:
        lm.generate_until(requests)
    finally:
        lm.on_answer = None
