"""Makes a prompt from messages by a processor's chat template, and checks that nothing is left out.

A prompt is the text that the model reads, with a placeholder for each picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from transformers import IdeficsProcessor

from figlang_tasks.answers import thoughts

from . import vlm_loading
from .messages import Message, MessagePart, parts_of

if TYPE_CHECKING:
    from transformers import ProcessorMixin

SWITCH = "enable_thinking"
"""The option of a chat template by which a model thinks before its answer, or does not."""


class ChatTemplate:
    """The chat template of a processor. It is looked up for each prompt, since it may be replaced.

    Attributes:
        placeholders: texts of which one stands for a picture in a prompt. Empty for a model that
            takes one picture in front of its text (BLIP-2).
    """

    def __init__(self, processor: ProcessorMixin, enable_thinking: bool | None = None) -> None:
        """Use the processor's template.

        Args:
            processor: that of the checkpoint.
            enable_thinking: handed to the template; None lets the template decide.

        Raises:
            FigLangError: the template has no such option.
        """
        self._processor = processor
        self._options: dict[str, bool] = {}
        if enable_thinking is not None:
            if not self._has_switch:
                vlm_loading.stop(
                    f"{SWITCH}={enable_thinking}: the chat template does not have this option."
                    " Remove it, or give a template that has it: chat_template=PATH"
                )
            self._options[SWITCH] = enable_thinking
        self.placeholders = _placeholders_of(processor)

    @property
    def pictures_first(self) -> bool:
        """Whether the template moves pictures that stand between texts before these texts."""
        picture = {"type": "image"}
        content: list[MessagePart] = [
            {"type": "text", "text": "First:"},
            picture,
            {"type": "text", "text": "Second:"},
            picture,
        ]
        prompt = self._apply([{"role": "user", "content": content}])
        for placeholder in self.placeholders:
            if prompt.count(placeholder) == 2:  # the one that the template writes
                positions = [
                    prompt.find("First:"),
                    prompt.find(placeholder),
                    prompt.find("Second:"),
                    prompt.rfind(placeholder),
                ]
                return positions != sorted(positions)
        return False  # a model that takes a single picture, or a template that writes none

    def render(self, messages: Sequence[Message]) -> str:
        """The prompt of messages in the form of transformers, with nothing left out.

        Raises:
            ValueError: the template leaves out an image or a text or changes a text, a text
                contains the model's placeholder, or the model takes fewer images.
        """
        parts = list(parts_of(messages))
        texts = [part["text"] for part in parts if part["type"] == "text"]
        image_count = sum(part["type"] == "image" for part in parts)
        if image_count > 1 and not self.placeholders:
            raise ValueError(
                f"{image_count} images, and the processor has no image placeholder: such a model"
                " takes one image in a prompt. Use a task with one image (irfl_detect_grid for"
                " irfl_detect), or another model"
            )

        prompt = self._apply(messages)
        if self.placeholders:
            # A processor may have several; the template writes one of them.
            placeholder_count = max(map(prompt.count, self.placeholders))
            if placeholder_count != image_count:
                self._refuse_placeholder_in(texts)
                raise ValueError(
                    f"{image_count} images, but {placeholder_count} image placeholders in the"
                    f" rendered prompt ({' or '.join(sorted(self.placeholders))}): the chat"
                    " template leaves images out. Give another: chat_template=PATH in --model_args."
                    f" The prompt begins: {prompt[:300]!r}"
                )
        _require_texts(messages, prompt)
        return prompt

    def _refuse_placeholder_in(self, texts: Sequence[str]) -> None:
        """Raise a `ValueError` if a text contains what stands for a picture in prompts."""
        for text in texts:
            for placeholder in sorted(self.placeholders):
                if placeholder in text:
                    raise ValueError(
                        f"a text contains {placeholder}, which this model takes for the place of a"
                        " picture: write it in another way in the row, or leave the row out. The"
                        f" text: {text[:300]!r}"
                    )

    def open_thought(self, prompt: str) -> str:
        """The tag by which a prompt opens a thought at its end; "" if answers need no such tag.

        An answer is cut off from its prompt. It needs the tag so that its reader knows where the
        thought ends.
        """
        tag = thoughts.open_thought(prompt)
        # Where the tag is a special token, so is the one that ends the thought. Answers are decoded
        # without special tokens: no reader could find the end.
        special_tokens = self._processor.tokenizer.all_special_tokens
        if any(token in tag for token in special_tokens):
            return ""
        return tag

    def require_answer(self, prompt: str) -> None:
        """Check that the model answers at once after a prompt, so that its words can be scored.

        Raises:
            ValueError: a thought comes first; the message says how to switch it off.
        """
        tag = thoughts.open_thought(prompt)
        can_switch_off = self._thinks_unless_switched_off()
        if not tag and not can_switch_off:
            return
        state = "the model thinks first"
        if tag:
            state = f"the prompt ends in an open thought ({tag})"
        if can_switch_off:
            remedy = f"add {SWITCH}=False to --model_args"
        else:
            remedy = (
                f"its chat template does not close it by {SWITCH}=False. Take a checkpoint that"
                " answers at once, or give a template that closes the thought (chat_template=PATH"
                " in --model_args)"
            )
        raise ValueError(f"scores are of answers, but {state}: {remedy}")

    def _thinks_unless_switched_off(self) -> bool:
        """Whether the template, as it is used now, differs from the one with the switch off."""
        if not self._has_switch:
            return False
        question: Message = {"role": "user", "content": [{"type": "text", "text": "?"}]}
        return self._apply([question]) != self._apply([question], **{SWITCH: False})

    @property
    def _has_switch(self) -> bool:
        return SWITCH in str(self._processor.chat_template)

    def _apply(self, messages: Sequence[Message], **options: bool) -> str:
        """The prompt that the template makes of messages, unchecked.

        Most templates of transformers 5 take lists of parts as contents. Some (GLM-4.1V, Gemma 4,
        Pixtral) want a text for a message without images: they fail on a list, or write it as
        Python shows it. They get texts.

        Args:
            messages: in the form of transformers.
            options: of the template, in place of those that the user gave.
        """
        apply_template: Callable[[Sequence[object]], str] = partial(
            self._processor.apply_chat_template,
            tokenize=False,
            add_generation_prompt=True,
            **{**self._options, **options},
        )
        try:
            prompt = apply_template(messages)
        except TypeError:  # the template adds a list to a text
            try:
                return apply_template([_with_plain_text(message) for message in messages])
            except TypeError as error:
                raise ValueError(
                    "the chat template fails on messages whose content is a list of texts and"
                    f" images ({error}). Give a template that accepts them: chat_template=PATH in"
                    " --model_args"
                ) from error

        # Only the messages that it wrote wrongly become texts.
        readable_messages: list[object] = []
        for message in messages:
            is_written_as_python = str(message["content"]) in prompt  # "[{'type': 'text', ..."
            readable_messages.append(_with_plain_text(message) if is_written_as_python else message)
        if readable_messages == list(messages):
            return prompt
        return apply_template(readable_messages)


def _placeholders_of(processor: ProcessorMixin) -> set[str]:
    """The texts of which one stands for a picture in prompts for this processor."""
    if isinstance(processor, IdeficsProcessor):
        # It has no attribute for the one that it reads.
        return {"<image>"}
    placeholders: set[str] = set()
    # The token of an image ("<image>"), and that of its beginning ("<start_of_image>", Gemma 3).
    for attribute in ("image_token", "boi_token"):
        placeholder = getattr(processor, attribute, None)
        if isinstance(placeholder, str) and placeholder:
            placeholders.add(placeholder)
    return placeholders


def _require_texts(messages: Sequence[Message], prompt: str) -> None:
    """Check that a prompt contains every text; only white space at a text's ends may be cut.

    Raises:
        ValueError: a text is missing, or a part is written as Python shows it.
    """
    text_parts: list[tuple[str, MessagePart]] = []  # the role of the message, and the part
    for message in messages:
        for part in message["content"]:
            if part["type"] == "text":
                text_parts.append((message["role"], part))
    # A text that occurs in two parts must stand in the prompt twice.
    needed_counts = Counter(part["text"].strip() for _, part in text_parts)
    for role, part in text_parts:
        text = part["text"].strip()
        is_missing = prompt.count(text) < needed_counts[text]
        is_written_as_python = str(part) in prompt
        if is_missing or is_written_as_python:
            raise ValueError(
                f"the chat template leaves out or changes a text of the role {role}:"
                f" {text[:100]!r}. Give a template that has it (chat_template=PATH in"
                f" --model_args). The prompt begins: {prompt[:300]!r}"
            )


def _with_plain_text(message: Message) -> object:
    """A message with its texts as one text in place of a list; with an image, it stays as it is."""
    parts = message["content"]
    if any(part["type"] != "text" for part in parts):
        return message
    return {**message, "content": "".join(part["text"] for part in parts)}
