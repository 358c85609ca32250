"""Chat messages whose content is a list of texts and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypedDict

MessagePart: TypeAlias = dict[str, Any]
"""A text or a picture of a message: ``{"type": "text", "text": ...}``.

A picture is ``{"type": "image", "image": ...}`` for transformers, and of the type ``image_url`` in
OpenAI's protocol.
"""


class Message(TypedDict):
    """One turn of a conversation."""

    role: str
    content: list[MessagePart]


def parts_of(messages: Sequence[Message]) -> Iterator[MessagePart]:
    """Yield the parts of all messages, in their order."""
    for message in messages:
        yield from message["content"]


def each_image_alone(messages: Sequence[Message], image_type: str) -> list[list[Message]]:
    """One copy of the conversation for each of its images, with that image and no other.

    Args:
        messages: the conversation.
        image_type: the type of a part that is an image: ``image`` or ``image_url``.
    """
    images = [part for part in parts_of(messages) if part["type"] == image_type]
    return [_with_one_image(messages, image, image_type) for image in images]


def _with_one_image(
    messages: Sequence[Message], image: MessagePart, image_type: str
) -> list[Message]:
    """A copy of the conversation that keeps one of its images, and leaves out the others.

    Args:
        messages: the conversation.
        image: the image to keep, a part of one of the messages.
        image_type: the type of a part that is an image.
    """
    copies: list[Message] = []
    for message in messages:
        content: list[MessagePart] = []
        for part in message["content"]:
            # Two equal pictures are two images: identity tells them apart.
            if part["type"] != image_type or part is image:
                content.append(part)
        copies.append({**message, "content": content})
    return copies
