"""Requests to figlang_vlm as the harness makes them, and its answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from lmms_eval.api.instance import Instance
from PIL import Image

from figlang_tasks.core.score_requests import KEY, read_answer
from figlang_tasks.models.vlm import FigLangVLM
from figlang_tasks.models.vlm_conversations import Conversation

Build = Callable[..., FigLangVLM]
GREEDY: dict[str, Any] = {
    "max_new_tokens": 6,
    "do_sample": False,
    "temperature": 0,
    "top_p": None,
    "num_beams": 1,
    "until": [],
}
CANDIDATES = ["yes", "a burning house that nobody sees", "the mule is stubborn", "no", "image"]


def image(seed: int, width: int = 56) -> dict[str, Any]:
    pixels = np.random.default_rng(seed).integers(
        0, 255, (32 + 8 * (seed % 4), width, 3), dtype="uint8"
    )
    return {"type": "image", "url": Image.fromarray(pixels)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def instance(
    messages: list[dict] | Callable[[Any], list[dict]], settings: dict[str, Any], number: int = 0
) -> Instance:
    """A request as the harness makes it."""
    read = messages if callable(messages) else lambda doc: messages
    return Instance(
        request_type="generate_until",
        arguments=(str(number), read, settings, number, "probe", "test"),
        idx=0,
        metadata={"task": "probe", "doc_id": number, "repeats": 1},
    )


def answers(lm: FigLangVLM, requests: list[Instance]) -> list[str]:
    lm.task_dict = {"probe": {"test": [{}] * len(requests)}}
    return [answer.text for answer in lm.generate_until(requests)]


def asked(
    lm: FigLangVLM, conversations: Sequence[list[dict]], settings: dict[str, Any]
) -> list[str]:
    """The answers to conversations, asked as the harness asks."""
    return answers(
        lm, [instance(messages, settings, i) for i, messages in enumerate(conversations)]
    )


def scores(lm: FigLangVLM, messages: list[dict], **request: Any) -> list[float]:
    [answer] = asked(lm, [messages], GREEDY | {KEY: request})
    found = read_answer(answer)
    assert found is not None
    return found


def made(lm: FigLangVLM, messages: list[dict]) -> tuple[Conversation, Any]:
    """The conversation of messages with its prompt, and its tensors."""
    lm.task_dict = {"probe": {"test": [{}]}}
    (conversation,), inputs = lm.input_maker.make(
        lm.conversations_of(0, instance(messages, GREEDY))
    )
    return conversation, inputs


CONVERSATIONS = [
    [user(image(1), text("What is it?"))],
    [user(image(2), text("Which of the two"), image(3), text("shows a mule and not a house?"))],
    [user(text("Nothing to see."))],
    [
        {"role": "system", "content": [text("Be brief.")]},
        user(image(4), text("A longer question, what can it mean?")),
    ],
    [
        user(image(5), text("First.")),
        {"role": "assistant", "content": [text("A snail.")]},
        user(image(6), image(7), text("And now?")),
    ],
    [user(image(8), text("Is it so?"))],
]
