"""Conversations for ``figlang_vlm``: what a request of lmms-eval asks the model to go on from."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

from lmms_eval.api.instance import Instance
from lmms_eval.protocol import ChatMessages
from PIL import Image
from transformers.image_utils import load_image

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import ScoreRequest

from .messages import Message, each_image_alone, parts_of
from .requests import ChatArguments, Document, GenerationKwargs, errors_naming

# The place of a picture in a prompt of Idefics 1: "<image>", with the marks around it if the chat
# template writes them: "<fake_token_around_image><image><fake_token_around_image>".
_IDEFICS_IMAGE = re.compile("(?:<fake_token_around_image>)?<image>(?:<fake_token_around_image>)?")

RequestsByIndex: TypeAlias = Mapping[int, Instance]
"""Requests by their position in the call of ``generate_until``."""


class VLMError(FigLangError):
    """A request cannot be answered; the message names task and document."""


def errors_naming_row(row: str) -> AbstractContextManager[None]:
    """Turn any exception raised inside into a `VLMError` that begins with `row`."""
    return errors_naming(VLMError, f"figlang_vlm: {row}")


@dataclass(frozen=True)
class Conversation:
    """Messages from which the model goes on once.

    A request for matching scores has a conversation for each of its images; any other request has
    one.

    Attributes:
        request_index: the position of its request in the call of ``generate_until``.
        task, doc_id: the task's name, and the document's number.
        row: task and document, of a match also the image, for messages to the user.
        messages: in the form of transformers.
        images: RGB, in the order of their places in the messages.
        score_request: None if an answer in words is asked for.
        conversations_of_request: how many conversations the request has.
        prompt: the text that the chat template makes of the messages, with a placeholder for each
            image; "" until `with_prompt`.
        open_thought: the tag of a thought that the prompt opens at its end; "" if it opens none.
    """

    request_index: int
    task: str
    doc_id: int
    row: str
    messages: Sequence[Message]
    images: Sequence[Image.Image]
    score_request: ScoreRequest | None = None
    conversations_of_request: int = 1
    prompt: str = ""
    open_thought: str = ""

    def with_prompt(self, prompt: str, open_thought: str) -> Conversation:
        """The same conversation with its prompt."""
        return dataclasses.replace(self, prompt=prompt, open_thought=open_thought)

    def with_images(self, images: Sequence[Image.Image]) -> Conversation:
        """The same conversation with other images in the places of its own."""
        return dataclasses.replace(self, images=images)


def make_conversations(
    request_index: int,
    arguments: ChatArguments,
    messages: Sequence[Message],
    score_request: ScoreRequest | None,
) -> list[Conversation]:
    """The conversations of a request, still without prompts: for a match one for each image.

    Args:
        request_index: the position of the request in the call of ``generate_until``.
        arguments: those of the request.
        messages: what the request shows the model.
        score_request: None if an answer in words is asked for.

    Raises:
        ValueError: matching scores are asked for, and the messages have no image.
    """
    row = row_of(arguments)
    image_parts = [part for part in parts_of(messages) if part["type"] == "image"]
    images = [to_rgb(part["image"]) for part in image_parts]
    whole_conversation = Conversation(
        request_index,
        arguments.task,
        arguments.doc_id,
        row,
        messages,
        images,
        score_request,
    )
    if score_request is None or score_request.kind != "match":
        return [whole_conversation]
    if not images:
        raise ValueError("a score request of kind match needs an image")

    conversations: list[Conversation] = []
    messages_of_images = each_image_alone(messages, "image")
    for number, image in enumerate(images):
        conversation = dataclasses.replace(
            whole_conversation,
            row=f"{row}, image {number}",
            messages=messages_of_images[number],
            images=[image],
            conversations_of_request=len(images),
        )
        conversations.append(conversation)
    return conversations


def row_of(arguments: ChatArguments) -> str:
    """Task and document of a request, for messages to the user."""
    return f"task {arguments.task}, doc {arguments.doc_id}"


def rows_of(conversations: Sequence[Conversation]) -> str:
    """The tasks and documents of a batch, for messages to the user."""
    return "; ".join(conversation.row for conversation in conversations)


def read_messages(arguments: ChatArguments, doc: Document) -> list[Message]:
    """The messages of a request with its document, in the form of transformers.

    ``doc_to_messages`` gives pictures as ``{"type": "image", "url": ...}``. lmms-eval 0.7.3 turns
    them into transformers' own form by ``to_hf_messages``.

    Raises:
        ValueError: the messages hold video or audio.
    """
    chat_messages = ChatMessages(messages=arguments.doc_to_messages(doc))
    _, videos, audios = chat_messages.extract_media()
    if videos or audios:
        raise ValueError("messages hold video or audio; figlang_vlm reads images and text")
    messages: list[Message] = chat_messages.to_hf_messages()
    return messages


def by_generation_kwargs(
    requests: Sequence[Instance],
) -> list[tuple[GenerationKwargs, RequestsByIndex]]:
    """The requests in groups of equal ``generation_kwargs``, which a batch must share."""
    groups: dict[str, tuple[GenerationKwargs, dict[int, Instance]]] = {}
    for index, request in enumerate(requests):
        generation_kwargs = ChatArguments.of(request).generation_kwargs
        # As a text, because its values may be lists and so no keys of a dict.
        group_key = repr(sorted(generation_kwargs.items()))
        _, requests_of_group = groups.setdefault(group_key, (generation_kwargs, {}))
        requests_of_group[index] = request
    return list(groups.values())


def texts_and_images(conversation: Conversation) -> list[str | Image.Image]:
    """The prompt's texts and the images in their order, as the processor of Idefics 1 takes them.

    Given images apart from the text, that processor (transformers 5.24) puts them behind it.
    """
    return list(_interleaved(_IDEFICS_IMAGE.split(conversation.prompt), conversation.images))


def _interleaved(
    texts: Sequence[str], images: Sequence[Image.Image]
) -> Iterator[str | Image.Image]:
    """Yield a text, an image, a text and so on; there is one text more than images."""
    yield texts[0]
    for image, text in zip(images, texts[1:], strict=True):
        yield image
        yield text


def to_rgb(image: Image.Image | str) -> Image.Image:
    """An image, or the image at a path or address, in RGB."""
    if isinstance(image, str):
        return load_image(image)
    return image if image.mode == "RGB" else image.convert("RGB")
