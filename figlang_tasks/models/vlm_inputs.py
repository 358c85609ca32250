"""Inputs for ``figlang_vlm``: chat template and processor make tensors of conversations."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger
from transformers import IdeficsProcessor

from figlang_tasks.metrics.explanation.compute import is_out_of_memory

from . import DocumentIdsByTask
from .vlm_conversations import Conversation, VLMError, errors_naming_row, rows_of, texts_and_images
from .vlm_pictures import PictureProcessing, sizes
from .vlm_prompts import ChatTemplate

if TYPE_CHECKING:
    import torch
    from transformers import BatchFeature, ProcessorMixin


class Batch(NamedTuple):
    """Conversations with the same number of images each, and their tensors on the CPU.

    The conversations have their prompts.
    """

    conversations: Sequence[Conversation]
    inputs: BatchFeature


class InputMaker:
    """Makes the tensors of batches, on the CPU, for one thread at a time.

    Attributes:
        padded_pictures: the documents of which a picture was padded, because the processor refuses
            its shape, by task.
    """

    def __init__(
        self,
        processor: ProcessorMixin,
        template: ChatTemplate,
        pictures: PictureProcessing,
        context_length: int | None,
    ) -> None:
        """Make inputs for a model.

        Args:
            processor: the model's.
            template: the processor's chat template.
            pictures: how the processor treats pictures.
            context_length: tokens of prompt and answer; None without a limit.
        """
        self._processor = processor
        self._tokenizer = processor.tokenizer
        self._template = template
        self._pictures = pictures
        self._context_length = context_length
        self.padded_pictures: DocumentIdsByTask = {}

    def for_another_thread(self) -> InputMaker:
        """A maker with a copy of the processor; both note padded pictures in one place.

        They share the chat template: whoever replaces it replaces it for both.
        """
        shared = (self._template, self.padded_pictures)
        return copy.deepcopy(self, {id(part): part for part in shared})

    def make(self, conversations: Sequence[Conversation]) -> Batch:
        """A batch of conversations: their prompts and tensors are made.

        If the processor fails and a picture is the cause, the picture gets a white margin.

        Raises:
            VLMError: the chat template leaves out a text or an image, the processor refuses a
                picture with any margin, or a prompt does not fit into the model's context.
        """
        prompted = [self._with_prompt(conversation) for conversation in conversations]
        with errors_naming_row(rows_of(conversations)):
            try:
                inputs = self.process(prompted)
            except Exception as error:
                # Each family raises its own class for a refused picture.
                if is_out_of_memory(error):
                    raise
                accepted: list[Conversation] = []
                for conversation in prompted:
                    accepted.append(self._with_accepted_pictures(conversation))
                if accepted == prompted:  # no picture is at fault
                    raise
                prompted = accepted
                inputs = self.process(prompted)
        self._require_room(prompted, inputs)
        return Batch(prompted, inputs)

    def process(self, conversations: Sequence[Conversation]) -> BatchFeature:
        """The tensors of conversations with the same number of images each, padded on the left."""
        call_arguments: dict[str, Any] = {}
        if isinstance(self._processor, IdeficsProcessor):
            call_arguments["text"] = list(map(texts_and_images, conversations))
        else:
            call_arguments["text"] = [conversation.prompt for conversation in conversations]
            if conversations[0].images:
                call_arguments["images"] = [conversation.images for conversation in conversations]
                call_arguments.update(self._pictures.call_options)
        call_arguments.update(padding=True, return_tensors="pt")

        # By default a processor of transformers (5.24) adds special tokens as its model was trained
        # with. Some write the first token a second time, behind that of the chat template; they are
        # then told to add none.
        if self.adds_special_tokens(conversations[0]):
            inputs = self._processor(**call_arguments)
            if not self._begins_twice(conversations, inputs):
                return inputs
        inputs = self._processor(**call_arguments, add_special_tokens=False)
        if not self._begins_twice(conversations, inputs):
            return inputs
        raise ValueError(
            f"the chat template and {type(self._processor).__name__} both write"
            f" {self._tokenizer.bos_token} at the start of the prompt: remove it from the chat"
            " template"
        )

    def adds_special_tokens(self, conversation: Conversation) -> bool:
        """Whether the tokenizer is to add special tokens.

        It is not where the chat template has written the first token already.
        """
        first_token = self._tokenizer.bos_token
        if not first_token:
            return True
        return not conversation.prompt.startswith(first_token)

    def remedy(self, conversation: Conversation) -> str:
        """What a user can do about a conversation that takes too much room, as one sentence."""
        if conversation.images:
            shorter = self._pictures.remedy
        else:
            shorter = "show fewer examples (num_shots of the task)"
        return (
            f"To go on, {shorter}, or take another model; with --use_cache nothing is answered"
            " twice"
        )

    def _with_prompt(self, conversation: Conversation) -> Conversation:
        """A conversation with the prompt that the chat template makes of it."""
        with errors_naming_row(conversation.row):
            prompt = self._template.render(conversation.messages)
            if conversation.score_request is not None:
                self._template.require_answer(prompt)
            return conversation.with_prompt(prompt, self._template.open_thought(prompt))

    def _with_accepted_pictures(self, conversation: Conversation) -> Conversation:
        """A conversation with a white margin around the pictures that the processor refuses.

        `padded_pictures` notes its document: the results report it.
        """
        with errors_naming_row(conversation.row):
            accepted = [self._pictures.accepted(image) for image in conversation.images]
        if accepted == conversation.images:
            return conversation
        self.padded_pictures.setdefault(conversation.task, set()).add(conversation.doc_id)
        logger.warning(
            f"figlang_vlm: {conversation.row}: {type(self._processor).__name__} refuses a picture"
            f" of this shape. It was padded with white: {sizes(conversation.images)} became"
            f" {sizes(accepted)}"
        )
        return conversation.with_images(accepted)

    def _require_room(self, conversations: Sequence[Conversation], inputs: BatchFeature) -> None:
        """Refuse a prompt that leaves no room for an answer in the model's context."""
        if self._context_length is None:
            return
        lengths = inputs["attention_mask"].sum(dim=1).tolist()
        for conversation, length in zip(conversations, lengths, strict=True):
            if length >= self._context_length:
                raise VLMError(
                    f"figlang_vlm: {conversation.row}: the prompt has {length:,} tokens, with"
                    f" {sizes(conversation.images)}, and the context of the model has"
                    f" {self._context_length:,}, for prompt and answer."
                    f" {self.remedy(conversation)}"
                )

    def _begins_twice(self, conversations: Sequence[Conversation], inputs: BatchFeature) -> bool:
        """Whether some input has a first token (BOS) too many.

        That is: more than one, and more than the text of its prompt holds.
        """
        first_token = self._tokenizer.bos_token
        if not first_token:
            return False
        is_first_token = inputs["input_ids"] == self._tokenizer.bos_token_id
        # Some tokenizers pad with the first token: padding does not count.
        is_prompt: torch.Tensor = inputs["attention_mask"] == 1
        counts = (is_first_token & is_prompt).sum(dim=1).tolist()
        for conversation, count in zip(conversations, counts, strict=True):
            if count > max(1, conversation.prompt.count(first_token)):
                return True
        return False


class InputMakers:
    """Makes the tensors of several batches at once.

    A tokenizer of transformers (5.24) is for one thread at a time. So each thread borrows an
    `InputMaker`, whose processor nobody else uses meanwhile.
    """

    def __init__(self, input_maker: InputMaker, count: int) -> None:
        """Begin with a maker, and copies of it: `count` in all, or one if it cannot be copied."""
        self._idle: SimpleQueue[InputMaker] = SimpleQueue()
        self._idle.put(input_maker)
        try:
            for _ in range(count - 1):
                self._idle.put(input_maker.for_another_thread())
        except Exception as error:  # code of a checkpoint may hold whatever it likes
            logger.warning(
                "figlang_vlm: the processor cannot be copied, so the tensors of one batch at a time"
                f" are made, which may take longer ({type(error).__name__}: {error})"
            )

    def make(self, conversations: Sequence[Conversation]) -> Batch:
        """A batch of conversations, as `InputMaker.make` makes it; waits for an idle maker."""
        with self._borrowed() as input_maker:
            return input_maker.make(conversations)

    def process(self, conversations: Sequence[Conversation]) -> BatchFeature:
        """The tensors of conversations with prompts, by `InputMaker.process`; waits likewise."""
        with self._borrowed() as input_maker:
            return input_maker.process(conversations)

    @contextmanager
    def _borrowed(self) -> Iterator[InputMaker]:
        """Yield a maker that nobody else uses."""
        input_maker = self._idle.get()
        try:
            yield input_maker
        finally:
            self._idle.put(input_maker)
