"""``--model figlang_vlm``: any image-text-to-text model of transformers as a model of lmms-eval.

Prompts are the task's chat messages in the words of the processor's own chat template. Requests run
in real batches, score requests (`core.score_requests`) included; threads decode and process the
pictures of the next batches meanwhile. What cannot be answered ends the run, with the task and the
document in the message.

Not a subclass of lmms-eval 0.7.3's own classes, none of which runs our tasks: its ``huggingface``
fails for every model, because it passes a keyword that transformers 5 refuses (``audios``); its
``llava_hf`` takes one request at a time, and turns any exception of ``generate`` into the answer
"".
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from lmms_eval.api.instance import GenerationResult, Instance
from loguru import logger
from PIL import Image
from tqdm import tqdm
from transformers import AutoModelForCausalLM

from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import FigLangError

from . import DocumentIdsByTask, vlm_loading
from .ahead import BatchRunner
from .arguments import check_arguments, require_checkpoint, whole_number
from .base import ModelBase
from .messages import Message, parts_of
from .requests import ChatArguments, Document, GenerationKwargs
from .vlm_batches import MAKERS, batches_ahead
from .vlm_conversations import (
    Conversation,
    RequestsByIndex,
    VLMError,
    by_generation_kwargs,
    errors_naming_row,
    make_conversations,
    read_messages,
    row_of,
    rows_of,
    to_rgb,
)
from .vlm_generation import generate_answers, generation_settings, stop_strings
from .vlm_inputs import Batch, InputMaker, InputMakers
from .vlm_pictures import PictureProcessing, sizes
from .vlm_prompts import ChatTemplate
from .vlm_scoring import Scorer

if TYPE_CHECKING:
    from transformers import BatchFeature, PretrainedConfig

_ONE_AT_A_TIME = {
    "emu3": "pads the pictures of a batch before it encodes them, which changes answers",
    "perception_lm": "makes no batch of pictures of unlike shapes",
}
"""What is wrong with a batch of a model in transformers 5.24, by ``model_type``."""

_Output: TypeAlias = GenerationResult | float
"""What comes of a conversation: an answer, or the score of one image of a match."""

_RunBatch: TypeAlias = Callable[[Sequence[Conversation], "BatchFeature"], Sequence[_Output]]
"""``(conversations, tensors on the model's device) -> an output for each conversation``."""


class FigLangVLM(ModelBase):
    """Any ``AutoModelForImageTextToText`` behind its processor's chat template.

    For tasks without pictures also a language model (``AutoModelForCausalLM``).

    Args:
        pretrained: hub id or folder.
        revision: of the checkpoint on the hub.
        gguf_file: of a language model: the file in `pretrained` with its weights (package
            ``gguf``).
        dtype: ``auto``, ``bfloat16``, ``float16`` or ``float32``; default ``auto`` on a GPU,
            float32 on the CPU.
        device: default the accelerator of the process if there is one, else the CPU.
        device_map: as in transformers (``auto`` spreads the model over all GPUs of one process).
        batch_size: requests per forward pass; halved where memory runs out.
        attn_implementation: as in transformers.
        peft: folder or hub id of a LoRA-like adapter.
        trust_remote_code: run code that the checkpoint brings.
        load_in_4bit, load_in_8bit: quantise by bitsandbytes.
        chat_template: file with a chat template (Jinja) in place of the checkpoint's.
        enable_thinking: handed to the chat template; default: the template decides.
        image_options: any keyword of the checkpoint's image processor, such as ``max_pixels`` of
            Qwen2-VL.

    Attributes:
        on_answer: called with the position of a request and its answer, as soon as it is there:
            ``--use_cache`` stores it. None: nobody is called.

    Raises:
        FigLangError: an argument is unknown or invalid, or the model cannot be loaded; the message
            says what to do.
    """

    is_simple = False
    answers_score_requests: tuple[str, ...] = score_requests.KINDS
    on_answer: Callable[[int, GenerationResult], None] | None = None

    def __init__(
        self,
        pretrained: str = "",
        revision: str | None = None,
        gguf_file: str | None = None,
        dtype: str | torch.dtype | None = None,
        device: str | None = None,
        device_map: str | dict[str, Any] | None = None,
        batch_size: int | str = 1,
        attn_implementation: str | None = None,
        peft: str | None = None,
        trust_remote_code: bool = False,
        load_in_4bit: bool = False,
        load_in_8bit: bool = False,
        chat_template: str | None = None,
        enable_thinking: bool | None = None,
        **image_options: Any,
    ) -> None:
        super().__init__()
        flags = {"trust_remote_code": trust_remote_code, "enable_thinking": enable_thinking}
        # Only a checkpoint says which image options there are: `_set_image_options` checks them
        # once it is loaded. Without a checkpoint, all are unknown.
        unknown = () if pretrained else image_options
        check_arguments(vlm_loading.NAME, FigLangVLM, unknown, flags)
        require_checkpoint(vlm_loading.NAME, pretrained)
        requests_per_batch = whole_number(vlm_loading.NAME, "batch_size", batch_size)
        placement = vlm_loading.placement(self.accelerator, device, device_map)
        source = vlm_loading.source(revision, trust_remote_code, gguf_file)

        # The configuration first, a single file: where no hub can be reached, transformers (5.24)
        # tries each of the processor's six for half a minute.
        config = vlm_loading.load_config(pretrained, **source)
        self._batch_runner = BatchRunner(_usable_batch_size(config, requests_per_batch), "request")
        self.processor = vlm_loading.load_processor(pretrained, chat_template, **source)
        self.pictures = PictureProcessing(self.processor)
        self._set_image_options(image_options)
        self.template = ChatTemplate(self.processor, enable_thinking)
        self.model = vlm_loading.load_model(
            pretrained,
            config,
            placement=placement,
            dtype=vlm_loading.dtype_for(dtype, placement),
            attn_implementation=attn_implementation,
            peft=peft,
            load_in_4bit=load_in_4bit,
            load_in_8bit=load_in_8bit,
            **source,
        )
        self.device = self.model.device
        self.input_maker = InputMaker(
            self.processor,
            self.template,
            self.pictures,
            vlm_loading.context_length_of(self.model.config),
        )
        self._input_makers = InputMakers(self.input_maker, MAKERS)
        # A tokenizer of transformers (5.24) is for one thread: the model's has this copy.
        self.tokenizer = self.processor.tokenizer
        self._tokenizer_of_model = copy.deepcopy(self.tokenizer)
        self.scorer = Scorer(self.model, self._tokenizer_of_model)

    @classmethod
    def reads_text_alone(
        cls,
        pretrained: str = "",
        revision: str | None = None,
        trust_remote_code: bool = False,
        gguf_file: str | None = None,
        **other_arguments: object,
    ) -> bool:
        """Whether a language model would be loaded, which tasks with pictures cannot use.

        False if the configuration cannot be read: loading the model will say why.
        """
        source = vlm_loading.source(revision, trust_remote_code, gguf_file)
        try:
            config = vlm_loading.load_config(pretrained, **source)
            auto_class = vlm_loading.auto_class(pretrained, config, **source)
        except FigLangError:
            return False
        return auto_class is AutoModelForCausalLM

    @property
    def batch_size(self) -> int:
        """Requests of a batch; falls when memory runs out."""
        return self._batch_runner.size

    @property
    def padded_pictures(self) -> DocumentIdsByTask:
        """The documents of which a picture was padded with white, by task; results report them."""
        return self.input_maker.padded_pictures

    @property
    def pictures_first(self) -> bool:
        """Whether the chat template moves pictures of a message before its texts.

        Task files have prompts for such models.
        """
        with errors_naming_row("the chat template"):
            return self.template.pictures_first

    @torch.inference_mode()
    def generate_until(self, requests: list[Instance]) -> list[GenerationResult]:
        """Answer the requests, in their order, and hand each answer to `on_answer` at once."""
        answers: dict[int, GenerationResult] = {}
        # Whoever gets each answer by `on_answer` shows a bar.
        is_bar_hidden = self.rank != 0 or self.on_answer is not None
        with tqdm(total=len(requests), disable=is_bar_hidden, desc="Model Responding") as bar:
            for generation_kwargs, requests_by_index in by_generation_kwargs(requests):
                for index, answer in self._answer_all(requests_by_index, generation_kwargs):
                    answers[index] = answer
                    if self.on_answer:
                        self.on_answer(index, answer)
                    bar.update()
        return [answers[index] for index in range(len(requests))]

    def _set_image_options(self, image_options: dict[str, Any]) -> None:
        """Set keywords of the image processor, after a check that it has them."""
        keywords = self.pictures.keywords
        also_valid = ""
        if keywords:
            also_valid = f"; of the checkpoint's image processor: {', '.join(keywords)}"
        unknown = image_options.keys() - set(keywords)
        check_arguments(vlm_loading.NAME, FigLangVLM, unknown, also_valid=also_valid)
        # lmms-eval 0.7.3 hands it to every class; it is no option of pictures.
        image_options.pop("max_batch_size", None)
        self.pictures.set(image_options)

    # --- answers ---

    def _answer_all(
        self, requests: RequestsByIndex, generation_kwargs: GenerationKwargs
    ) -> Iterator[tuple[int, GenerationResult]]:
        """Yield the answers to requests of equal settings, each with the index of its request.

        They come as soon as they are there, not in the order of the requests.
        """
        settings = generation_settings(generation_kwargs)
        run_batch = partial(self._run_batch, settings, stop_strings(generation_kwargs))
        scores_by_request: dict[int, list[float]] = {}
        for conversation, output in self._outputs(requests, run_batch):
            index = conversation.request_index
            if isinstance(output, GenerationResult):
                yield index, output
                continue
            # The score of one image of a match. The images of a request come in their order.
            scores = scores_by_request.setdefault(index, [])
            scores.append(output)
            if len(scores) == conversation.conversations_of_request:
                del scores_by_request[index]
                yield index, GenerationResult(score_requests.answer(scores))

    def _run_batch(
        self,
        settings: dict[str, Any],
        stops: Sequence[str],
        conversations: Sequence[Conversation],
        inputs: BatchFeature,
    ) -> Sequence[_Output]:
        """Run the model on a batch: answers in words, scores of candidates, or scores of a match.

        Args:
            settings: keyword arguments of ``generate``, for answers in words.
            stops: strings that end an answer in words.
            conversations: the batch; it has one conversation if candidates are scored.
            inputs: its tensors, on the model's device.
        """
        first = conversations[0]
        # All conversations of a batch have equal generation_kwargs: they ask for the same.
        score_request = first.score_request
        if score_request is None:
            return generate_answers(
                self.model, self._tokenizer_of_model, conversations, inputs, settings, stops
            )
        add_special_tokens = self.input_maker.adds_special_tokens(first)
        if score_request.kind == "match":
            prompts = [conversation.prompt for conversation in conversations]
            yes, no = score_request.yes, score_request.no
            return self.scorer.match_scores(inputs, prompts, yes, no, add_special_tokens)

        # Candidates: they are those of the only conversation.
        log_probs_of_candidates = self.scorer.candidate_log_probs(
            inputs, first.prompt, score_request.candidates, add_special_tokens
        )
        scores: list[float] = []
        for log_probs in log_probs_of_candidates:
            score = sum(log_probs)
            if score_request.normalize == "tokens":
                score /= len(log_probs)
            scores.append(score)
        return [GenerationResult(score_requests.answer(scores))]

    # --- batches ---

    def _outputs(
        self, requests: RequestsByIndex, run_batch: _RunBatch
    ) -> Iterator[tuple[Conversation, _Output]]:
        """Yield each conversation of the requests with what the model gives for it."""
        batches = batches_ahead(
            requests, self.conversations_of, self._input_makers, self._batch_runner
        )
        with closing(batches):  # stops the threads that make batches, also after an error
            for batch in batches:
                yield from self._run_within_memory(batch, run_batch)

    def _run_within_memory(
        self, batch: Batch, run_batch: _RunBatch
    ) -> list[tuple[Conversation, _Output]]:
        """The conversations of a batch with their outputs; the batch is halved if memory runs out.

        Raises:
            VLMError: the model fails, or has not enough memory for a single conversation.
        """
        attempted = batch.conversations[0]  # the first conversation of the latest attempt

        def step(conversations: Sequence[Conversation]) -> Sequence[_Output]:
            """Run the whole batch as it was made, or a part of it, whose tensors are made anew."""
            nonlocal attempted
            attempted = conversations[0]
            is_whole = len(conversations) == len(batch.conversations)
            inputs = batch.inputs if is_whole else self._input_makers.process(conversations)
            return run_batch(conversations, inputs.to(self.device, dtype=self.model.dtype))

        outputs: list[tuple[Conversation, _Output]] = []
        with errors_naming_row(rows_of(batch.conversations)):
            try:
                for conversations, outputs_of_part in self._batch_runner.run(
                    batch.conversations, step
                ):
                    outputs.extend(zip(conversations, outputs_of_part, strict=True))
            except MemoryError as error:
                raise self._out_of_memory(error, attempted) from error
        return outputs

    def _out_of_memory(self, error: MemoryError, conversation: Conversation) -> VLMError:
        """The error for a conversation that needs too much memory, though it ran alone."""
        return VLMError(
            f"figlang_vlm: {conversation.row}: MemoryError: {error}, with"
            f" {sizes(conversation.images)}. {self.input_maker.remedy(conversation)}. A model needs"
            " less memory by dtype=bfloat16, load_in_4bit=True or device_map=auto in --model_args"
        )

    def conversations_of(self, request_index: int, request: Instance) -> list[Conversation]:
        """The conversations of a request, without prompts; a match has one for each image."""
        arguments = ChatArguments.of(request)
        with errors_naming_row(row_of(arguments)):
            doc = self.task_dict[arguments.task][arguments.split][arguments.doc_id]
            messages = self._messages(arguments, doc)
            score_request = score_requests.score_request(arguments.generation_kwargs, doc)
            return make_conversations(request_index, arguments, messages, score_request)

    def _messages(self, arguments: ChatArguments, doc: Document) -> list[Message]:
        """The messages of a request; a subclass may change them."""
        return read_messages(arguments, doc)


class FigLangBlind(FigLangVLM):
    """`FigLangVLM` with a white picture of the same size in place of each image.

    It shows what the text of a task alone gives away.
    """

    def _messages(self, arguments: ChatArguments, doc: Document) -> list[Message]:
        messages = super()._messages(arguments, doc)
        for part in parts_of(messages):
            if part["type"] == "image":
                part["image"] = Image.new("RGB", to_rgb(part["image"]).size, "white")
        return messages


class FigLangLlava(FigLangVLM):
    """``llava_hf`` and ``llava``: `FigLangVLM` with LLaVA as the default, for answers in words."""

    # As lmms-eval's class of that name: a task asks it in words, so that results stay comparable.
    answers_score_requests = ()

    def __init__(self, pretrained: str = "llava-hf/llava-1.5-7b-hf", **arguments: Any) -> None:
        super().__init__(pretrained, **arguments)


def _usable_batch_size(config: PretrainedConfig, batch_size: int) -> int:
    """The batch size; 1, with a warning, for a model whose batches transformers gets wrong."""
    fault = _ONE_AT_A_TIME.get(config.model_type)
    if fault is None or batch_size == 1:
        return batch_size
    logger.warning(f"figlang_vlm: one request at a time, not {batch_size}: transformers {fault}")
    return 1
