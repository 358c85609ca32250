"""Language models behind ``figlang_vlm``: a tokenizer in the place of a processor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from transformers import BatchFeature


class TextProcessor:
    """What `FigLangVLM` needs of a processor, from a tokenizer. Messages have one text each, as such templates want."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.chat_template = tokenizer.chat_template

    def apply_chat_template(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> str:
        plain = [
            {**message, "content": "".join(part.get("text", "") for part in message["content"])}
            if isinstance(message["content"], list)
            else message
            for message in messages
        ]
        text: str = self.tokenizer.apply_chat_template(plain, chat_template=self.chat_template, **options)
        return text

    def __call__(self, text: Sequence[str], images: Any = None, **options: Any) -> BatchFeature:
        """Return the tensors of texts."""
        if images is not None:
            raise ValueError("the prompt has pictures, and this language model reads text alone")
        return BatchFeature(dict(self.tokenizer(text, return_token_type_ids=False, **options)))
