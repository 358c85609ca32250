"""Makes a prompt from messages by a processor's chat template, and checks that the prompt contains
all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from transformers import IdeficsProcessor

from figlang_tasks.answers import thoughts

from . import vlm_loading

Messages = Sequence[Mapping[str, Any]]

SWITCH = "enable_thinking"


class ChatTemplate:
    """The chat template of a processor, which is looked up for each prompt."""

    def __init__(self, processor: Any, enable_thinking: bool | None = None) -> None:
        self.processor = processor
        if enable_thinking is not None and not self._has_switch:
            vlm_loading.stop(
                f"{SWITCH}={enable_thinking}: the chat template does not have this option. Remove"
                " it, or give a template that has it: chat_template=PATH"
            )
        self._options = {} if enable_thinking is None else {SWITCH: enable_thinking}
        # What stands for a picture in a prompt; nothing where a prompt takes one, before its text
        # (BLIP-2).
        named = [getattr(processor, name, None) for name in ("image_token", "boi_token")]
        self.marks = {mark for mark in named if isinstance(mark, str) and mark}
        if isinstance(processor, IdeficsProcessor):  # it names none, and reads this one
            self.marks = {"<image>"}

    @property
    def pictures_first(self) -> bool:
        """Whether pictures between the texts of a message are moved before them."""
        picture = {"type": "image"}
        content = [
            {"type": "text", "text": "First:"},
            picture,
            {"type": "text", "text": "Second:"},
            picture,
        ]
        prompt = self._applied([{"role": "user", "content": content}])
        mark = next((mark for mark in self.marks if prompt.count(mark) == 2), None)
        if mark is None:
            return False
        places = [
            prompt.find("First:"),
            prompt.find(mark),
            prompt.find("Second:"),
            prompt.rfind(mark),
        ]
        return places != sorted(places)

    def render(self, messages: Messages) -> str:
        """The prompt of messages in the form of transformers, each with a list of parts as its
        content.
        """
        parts = [part for message in messages for part in message["content"]]
        images = sum(part["type"] == "image" for part in parts)
        if images > 1 and not self.marks:
            raise ValueError(
                f"{images} images, and the processor has no image placeholder: such a model takes"
                " one image in a prompt. Use a task with one image (irfl_detect_grid for"
                " irfl_detect), or another model"
            )
        prompt = self._applied(messages)
        places = max((prompt.count(mark) for mark in self.marks), default=images)
        if places != images:
            self._require_no_mark([part["text"] for part in parts if part["type"] == "text"])
            raise ValueError(
                f"{images} images, but {places} image placeholders in the rendered prompt"
                f" ({' or '.join(sorted(self.marks))}): the chat template leaves images out. Give"
                f" another: chat_template=PATH in --model_args. The prompt begins: {prompt[:300]!r}"
            )
        self._require_texts(messages, prompt)
        return prompt

    def _require_no_mark(self, texts: Sequence[str]) -> None:
        """Refuse a text that contains what stands for a picture in this model's prompts."""
        for text in texts:
            for mark in sorted(self.marks):
                if mark in text:
                    raise ValueError(
                        f"a text contains {mark}, which this model takes for the place of a"
                        " picture: write it in another way in the row, or leave the row out. The"
                        f" text: {text[:300]!r}"
                    )

    def open_thought(self, prompt: str) -> str:
        """The tag by which a prompt opens a thought, "" if it opens none: an answer that is cut off
        needs it.
        """
        tag = thoughts.open_thought(prompt)
        # Where the tag is a special token, so is the one that ends the thought, and no answer shows
        # it.
        return (
            ""
            if any(token in tag for token in self.processor.tokenizer.all_special_tokens)
            else tag
        )

    def require_answer(self, prompt: str) -> None:
        """Check that what follows a prompt is an answer, whose words can be scored."""
        tag = thoughts.open_thought(prompt)
        messages = [{"role": "user", "content": [{"type": "text", "text": "?"}]}]
        thinks = self._has_switch and self._applied(messages) != self._applied(
            messages, **{SWITCH: False}
        )
        if not tag and not thinks:
            return
        state = f"the prompt ends in an open thought ({tag})" if tag else "the model thinks first"
        remedy = (
            f"add {SWITCH}=False to --model_args"
            if thinks
            else (
                f"its chat template does not close it by {SWITCH}=False. Take a checkpoint that"
                " answers at once, or give a template that closes the thought (chat_template=PATH"
                " in --model_args)"
            )
        )
        raise ValueError(f"scores are of answers, but {state}: {remedy}")

    @property
    def _has_switch(self) -> bool:
        return SWITCH in str(self.processor.chat_template)

    def _applied(self, messages: Messages, **options: Any) -> str:
        """The prompt. Some templates (GLM-4.1V, Gemma 4, Pixtral) want a text for a message without
        images.
        """
        options = {"tokenize": False, "add_generation_prompt": True, **self._options, **options}
        apply: Callable[[Messages], str] = partial(self.processor.apply_chat_template, **options)
        try:
            prompt = apply(messages)
        except TypeError:
            try:
                return apply([_with_text(message) for message in messages])
            except TypeError as error:
                raise ValueError(
                    "the chat template fails on messages whose content is a list of texts and"
                    f" images ({error}). Give a template that accepts them: chat_template=PATH in"
                    " --model_args"
                ) from error
        plain = [
            _with_text(message) if str(message["content"]) in prompt else message
            for message in messages
        ]
        return prompt if plain == messages else apply(plain)

    def _require_texts(self, messages: Messages, prompt: str) -> None:
        """Templates may cut white space at the ends of a text, nothing else."""
        parts = [
            (m["role"], part) for m in messages for part in m["content"] if part["type"] == "text"
        ]
        needed = Counter(part["text"].strip() for _, part in parts)
        for role, part in parts:
            text = part["text"].strip()
            if prompt.count(text) < needed[text] or str(part) in prompt:
                raise ValueError(
                    f"the chat template leaves out or changes a text of the role {role}:"
                    f" {text[:100]!r}. Give a template that has it (chat_template=PATH in"
                    f" --model_args). The prompt begins: {prompt[:300]!r}"
                )


def _with_text(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message with its texts as one; one with an image as it is."""
    parts = message["content"]
    if any(part["type"] != "text" for part in parts):
        return message
    return {**message, "content": "".join(part["text"] for part in parts)}
