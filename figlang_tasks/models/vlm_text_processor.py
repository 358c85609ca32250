"""A language model's tokenizer as the processor of ``figlang_vlm``, for tasks without pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transformers import BatchFeature

from .messages import Message, MessagePart

if TYPE_CHECKING:
    from PIL import Image
    from transformers import PreTrainedTokenizerBase


class TextProcessor:
    """The tokenizer of a language model, with the interface of a processor of transformers.

    It has what `FigLangVLM` needs of one.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        self.chat_template: str | None = tokenizer.chat_template

    def apply_chat_template(self, messages: Sequence[Message], **options: Any) -> str:
        """The prompt that the chat template makes of messages.

        Templates of language models expect a text as the content of a message, not a list of parts.
        """
        plain_messages: list[dict[str, Any]] = []
        for message in messages:
            plain_messages.append({**message, "content": _text_of(message)})
        prompt: str = self.tokenizer.apply_chat_template(
            plain_messages, chat_template=self.chat_template, **options
        )
        return prompt

    def __call__(
        self, text: Sequence[str], images: Sequence[Image.Image] | None = None, **options: Any
    ) -> BatchFeature:
        """The tensors of texts; pictures are refused."""
        if images is not None:
            raise ValueError("the prompt has pictures, and this language model reads text alone")
        return BatchFeature(dict(self.tokenizer(text, return_token_type_ids=False, **options)))


def _text_of(message: Message) -> str:
    """The texts of a message as one."""
    content: str | list[MessagePart] = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part.get("text", "") for part in content)
