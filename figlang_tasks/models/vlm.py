"""``--model figlang_vlm``: any image-text-to-text model of transformers as a model of the harness.

Prompts are the task's chat messages in the words of the processor's own chat template. Requests run
in real batches, score requests (`core.score_requests`) included; threads decode and process the
pictures of the next batches meanwhile. Nothing is swallowed: what cannot be answered ends the run
with the task and the document in the message.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, replace
from typing import Any

import torch
from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts
from lmms_eval.protocol import ChatMessages
from loguru import logger
from PIL import Image
from tqdm import tqdm
from transformers import AutoModelForCausalLM, IdeficsProcessor
from transformers.image_utils import load_image

from figlang_tasks import models
from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics.explanation.compute import is_out_of_memory

from . import vlm_loading
from .ahead import THREADS, Batches, ahead, threads
from .base import ModelBase
from .vlm_generation import Until, count_tokens, cut_at, generation_settings, stop_strings
from .vlm_pictures import PictureProcessing, context_of, sizes
from .vlm_prompts import ChatTemplate
from .vlm_scoring import Scorer

BATCHES_AHEAD = 2  # that are made, or wait for the model, while it works on one
# By model_type: what is wrong with a batch of them in transformers.
ONE_AT_A_TIME = {
    "emu3": "pads the pictures of a batch before it encodes them, which changes answers",
    "perception_lm": "makes no batch of pictures of unlike shapes",
}
_IDEFICS_IMAGE = re.compile("(?:<fake_token_around_image>)?<image>(?:<fake_token_around_image>)?")


class VLMError(FigLangError):
    """A request cannot be answered; the message names task and document."""


@dataclass(frozen=True)
class Prompt:
    """One prompt of a request; a request for matching scores has one for each image."""

    request: int  # its index
    task: str
    doc_id: Any
    where: str  # task and document, for messages
    messages: list[dict[str, Any]]  # in the form of transformers
    images: list[Image.Image]  # RGB, in the order of their places in the messages
    wanted: score_requests.ScoreRequest | None = None
    of: int = 1  # prompts of the request
    text: str = (
        ""  # what the chat template makes of the messages, with a placeholder for each image
    )
    thought: str = ""  # the tag of a thought that the text opens at its end


class FigLangVLM(ModelBase):
    """Any ``AutoModelForImageTextToText`` behind its processor's chat template; for tasks without
    pictures also a language model (``AutoModelForCausalLM``).

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

    Raises:
        FigLangError: an argument is unknown or invalid, or the model cannot be loaded; the message
            says what to do.
    """

    is_simple = False
    answers_score_requests: tuple[str, ...] = score_requests.KINDS
    on_answer: Callable[[int, GenerationResult], None] | None = None
    """Called with the number of a request and its answer, as soon as it is there: ``--use_cache``
    stores it.
    """

    def __init__(
        self,
        pretrained: str = "",
        revision: str | None = None,
        gguf_file: str | None = None,
        dtype: str | torch.dtype | None = None,
        device: str | None = None,
        device_map: Any = None,
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
        # Which options of pictures there are, only the checkpoint says.
        models.check_arguments(
            vlm_loading.NAME, FigLangVLM, () if pretrained else image_options, flags
        )
        models.require_checkpoint(vlm_loading.NAME, pretrained)
        self._batches = Batches(
            models.whole_number(vlm_loading.NAME, "batch_size", batch_size), "request"
        )
        where = vlm_loading.placement(self.accelerator, device, device_map)
        source = vlm_loading.source(revision, trust_remote_code, gguf_file)
        # One file first: where no hub can be reached, each of the processor's six would be tried
        # for half a minute.
        config = vlm_loading.load_config(pretrained, **source)
        if self.batch_size > 1 and (why := ONE_AT_A_TIME.get(config.model_type)):
            logger.warning(
                f"figlang_vlm: one request at a time, not {batch_size}: transformers {why}"
            )
            self._batches.size = 1
        self.processor = vlm_loading.load_processor(pretrained, chat_template, **source)
        self.pictures = PictureProcessing(self.processor)
        unknown = image_options.keys() - {*self.pictures.keywords}
        further = ""
        if self.pictures.keywords:
            further = f"; of the checkpoint's image processor: {', '.join(self.pictures.keywords)}"
        models.check_arguments(vlm_loading.NAME, FigLangVLM, unknown, further=further)
        # Of the command line; memory sets the limit itself
        image_options.pop("max_batch_size", None)
        self.pictures.set(image_options)
        # By task, the documents of which a picture was padded, because the processor refuses its
        # shape.
        self.padded_pictures: dict[str, set[Any]] = {}
        self.template = ChatTemplate(self.processor, enable_thinking)
        self.model = vlm_loading.load_model(
            pretrained,
            config,
            where=where,
            dtype=vlm_loading.dtype_for(dtype, where),
            attn_implementation=attn_implementation,
            peft=peft,
            load_in_4bit=load_in_4bit,
            load_in_8bit=load_in_8bit,
            **source,
        )
        self.device = self.model.device
        self._context = context_of(self.model.config)
        # A tokenizer is for one thread: one that makes prompts has the processor's, the one that
        # runs the model this.
        self.tokenizer = self.processor.tokenizer
        self._tokenizer = copy.deepcopy(self.tokenizer)
        self.scorer = Scorer(self.model, self._tokenizer)

    @classmethod
    def reads_text_alone(
        cls,
        pretrained: str = "",
        revision: str | None = None,
        trust_remote_code: bool = False,
        gguf_file: str | None = None,
        **others: Any,
    ) -> bool:
        """Whether a language model would be loaded, which tasks with pictures cannot use."""
        source = vlm_loading.source(revision, trust_remote_code, gguf_file)
        try:
            config = vlm_loading.load_config(pretrained, **source)
            return vlm_loading.auto_class(pretrained, config, **source) is AutoModelForCausalLM
        except FigLangError:  # loading tells what is wrong, where a model is needed at all
            return False

    @property
    def batch_size(self) -> int:
        """Requests of a batch; falls when memory runs out."""
        return self._batches.size

    @property
    def pictures_first(self) -> bool:
        """Whether the chat template moves pictures of a message before its texts; task files have a
        prompt for that.
        """
        with _naming("the chat template"):
            return self.template.pictures_first

    @torch.inference_mode()
    def generate_until(self, requests: list[Instance]) -> list[GenerationResult]:
        """Answer the requests, in their order."""
        answers: dict[int, GenerationResult] = {}
        # Whoever gets each answer shows a bar
        is_bar_hidden = self.rank != 0 or self.on_answer is not None
        with tqdm(total=len(requests), disable=is_bar_hidden, desc="Model Responding") as bar:
            for group in _by_settings(requests):
                for index, answer in self._answered(group, requests[next(iter(group))].args[2]):
                    answers[index] = answer
                    if self.on_answer:
                        self.on_answer(index, answer)
                    bar.update()
        return [answers[index] for index in range(len(requests))]

    def _answered(
        self, group: Mapping[int, Instance], gen_kwargs: Mapping[str, Any]
    ) -> Iterator[tuple[int, GenerationResult]]:
        """Yield the answers to requests of the same settings, each with the index of its
        request.
        """
        settings, until = generation_settings(gen_kwargs), stop_strings(gen_kwargs)

        def run(batch: Sequence[Prompt], inputs: Any) -> list[Any]:
            wanted = batch[0].wanted  # that of all: their settings are equal
            if wanted is None:
                return self.generate(batch, inputs, settings, until)
            texts, special = [prompt.text for prompt in batch], self._adds_special_tokens(batch[0])
            if wanted.kind == "match":
                return self.scorer.match(inputs, texts, wanted.yes, wanted.no, special)
            values = self.scorer.candidates(inputs, texts[0], wanted.candidates, special)
            scores = [
                sum(row) / (len(row) if wanted.normalize == "tokens" else 1) for row in values
            ]
            return [GenerationResult(score_requests.answer(scores))]

        matches: dict[int, list[float]] = {}
        for prompt, result in self._in_batches(group, run):
            if isinstance(result, float):  # of one image of a match; they keep their order
                scores = matches.setdefault(prompt.request, [])
                scores.append(result)
                if len(scores) < prompt.of:
                    continue
                result = GenerationResult(score_requests.answer(matches.pop(prompt.request)))
            yield prompt.request, result

    # --- batches ---

    def _in_batches(
        self, group: Mapping[int, Instance], run: Callable[[Sequence[Prompt], Any], list[Any]]
    ) -> Iterator[tuple[Prompt, Any]]:
        """Yield each prompt with its result by `run`."""
        with closing(self._loaded(group)) as loaded:
            for whole, made in loaded:
                tried: list[Prompt] = []  # the last batch that the model worked on

                def step(
                    part: Sequence[Prompt],
                    whole: Any = whole,
                    made: Any = made,
                    tried: list[Prompt] = tried,
                ) -> list[Any]:
                    tried[:] = part
                    inputs = made if len(part) == len(whole) else self._processed(part)
                    return run(part, inputs.to(self.device, dtype=self.model.dtype))

                with _naming("; ".join(prompt.where for prompt in whole)):
                    try:
                        answered = list(self._batches.run(whole, step))
                    except MemoryError as error:
                        raise self._out_of_memory(error, tried[0]) from error
                for part, results in answered:
                    yield from zip(part, results, strict=True)

    def _out_of_memory(self, error: MemoryError, prompt: Prompt) -> VLMError:
        """The error that names the prompt for which memory did not suffice, though it was alone in
        its batch.
        """
        return VLMError(
            f"figlang_vlm: {prompt.where}: MemoryError: {error}, with {sizes(prompt.images)}."
            f" {self._remedy(prompt)}. A model needs less memory by dtype=bfloat16,"
            " load_in_4bit=True or device_map=auto in --model_args"
        )

    def _loaded(self, group: Mapping[int, Instance]) -> Generator[tuple[Sequence[Prompt], Any]]:
        """Yield batches with their tensors on the CPU, made while the model works on others."""
        with threads(THREADS) as readers, threads(1) as maker:
            at_once = max(THREADS, self.batch_size)
            read = ahead(
                lambda each: readers.submit(self.prompts_of, *each), group.items(), at_once
            )
            batches = self._grouped(prompt for _, prompts in read for prompt in prompts)
            for _, made in ahead(
                lambda batch: maker.submit(self.tensors_of, batch), batches, BATCHES_AHEAD
            ):
                yield made

    def _grouped(self, prompts: Iterable[Prompt]) -> Iterator[list[Prompt]]:
        """Yield batches, each of prompts with as many images; one whose candidates are scored is
        alone.
        """
        waiting: dict[int, list[Prompt]] = {}
        for prompt in prompts:
            batch = waiting.setdefault(len(prompt.images), [])
            batch.append(prompt)
            if len(batch) >= self.batch_size or (
                prompt.wanted and prompt.wanted.kind == "candidates"
            ):
                yield waiting.pop(len(prompt.images))
        yield from waiting.values()

    def prompts_of(self, index: int, request: Instance) -> list[Prompt]:
        """The prompts of a request, without their texts."""
        _, _, gen_kwargs, doc_id, task, split = request.args
        where = f"task {task}, doc {doc_id}"
        with _naming(where):
            doc = self.task_dict[task][split][doc_id]
            messages = self._messages(request, doc)
            wanted = score_requests.score_request(gen_kwargs, doc)
            parts = [part for message in messages for part in message["content"]]
            images = [_rgb(part["image"]) for part in parts if part["type"] == "image"]
            if wanted is None or wanted.kind != "match":
                return [Prompt(index, task, doc_id, where, messages, images, wanted)]
            if not images:
                raise ValueError("a score request of kind match needs an image")
            alone = models.each_image_alone(messages, "image")
            return [
                Prompt(
                    index, task, doc_id, f"{where}, image {i}", own, [image], wanted, len(images)
                )
                for i, (own, image) in enumerate(zip(alone, images, strict=True))
            ]

    def _messages(self, request: Instance, doc: Any) -> list[dict[str, Any]]:
        """A request's messages in the form of transformers."""
        messages = ChatMessages(messages=request.args[1](doc))
        _, videos, audios = messages.extract_media()
        if videos or audios:
            raise ValueError("messages hold video or audio; figlang_vlm reads images and text")
        return messages.to_hf_messages()

    def tensors_of(self, batch: Sequence[Prompt]) -> tuple[Sequence[Prompt], Any]:
        """Prompts of a batch with their texts, and its tensors."""
        rendered = []
        for prompt in batch:
            with _naming(prompt.where):
                text = self.template.render(prompt.messages)
                if prompt.wanted is not None:
                    self.template.require_answer(text)
                rendered.append(
                    replace(prompt, text=text, thought=self.template.open_thought(text))
                )
        with _naming("; ".join(prompt.where for prompt in batch)):
            try:
                inputs = self._processed(rendered)
            except (
                Exception
            ) as error:  # each family raises its own kind for a picture that it refuses
                if is_out_of_memory(error):
                    raise
                accepted = [self._with_accepted_pictures(prompt) for prompt in rendered]
                if accepted == rendered:
                    raise
                rendered = accepted
                inputs = self._processed(rendered)
        self._require_room(rendered, inputs)
        return rendered, inputs

    def _with_accepted_pictures(self, prompt: Prompt) -> Prompt:
        """The prompt with a white margin around the pictures that the processor refuses, which the
        results tell of.
        """
        with _naming(prompt.where):
            accepted = [self.pictures.accepted(picture) for picture in prompt.images]
        if accepted == prompt.images:
            return prompt
        self.padded_pictures.setdefault(prompt.task, set()).add(prompt.doc_id)
        logger.warning(
            f"figlang_vlm: {prompt.where}: {type(self.processor).__name__} refuses a picture of"
            f" this shape. It was padded with white: {sizes(prompt.images)} became"
            f" {sizes(accepted)}"
        )
        return replace(prompt, images=accepted)

    def _require_room(self, batch: Sequence[Prompt], inputs: Any) -> None:
        """Refuse a prompt that is longer than the context of the model."""
        for prompt, length in zip(batch, inputs["attention_mask"].sum(dim=1).tolist(), strict=True):
            if self._context is not None and length >= self._context:
                raise VLMError(
                    f"figlang_vlm: {prompt.where}: the prompt has {length:,} tokens, with"
                    f" {sizes(prompt.images)}, and the context of the model has {self._context:,},"
                    f" for prompt and answer. {self._remedy(prompt)}"
                )

    def _remedy(self, prompt: Prompt) -> str:
        shorter = (
            self.pictures.remedy if prompt.images else "show fewer examples (num_shots of the task)"
        )
        return (
            f"To go on, {shorter}, or take another model; with --use_cache nothing is answered"
            " twice"
        )

    def _processed(self, batch: Sequence[Prompt]) -> Any:
        """The tensors of prompts with as many images each, padded on the left."""
        given: dict[str, Any] = {"text": [prompt.text for prompt in batch]}
        if isinstance(self.processor, IdeficsProcessor):
            given = {"text": [_interleaved(prompt) for prompt in batch]}
        elif batch[0].images:
            given["images"] = [prompt.images for prompt in batch]
            given |= self.pictures.call_options
        # Told nothing, a processor does as its model was trained; some write the first token
        # themselves.
        ways: list[dict[str, Any]] = [{}] if self._adds_special_tokens(batch[0]) else []
        for way in (*ways, {"add_special_tokens": False}):
            inputs = self.processor(**given, padding=True, return_tensors="pt", **way)
            if not self._begins_twice(batch, inputs):
                return inputs
        raise ValueError(
            f"the chat template and {type(self.processor).__name__} both write"
            f" {self.tokenizer.bos_token} at the start of the prompt: remove it from the chat"
            " template"
        )

    def _begins_twice(self, batch: Sequence[Prompt], inputs: Any) -> bool:
        first = self.tokenizer.bos_token
        if not first:
            return False
        begins = (inputs["input_ids"] == self.tokenizer.bos_token_id) & (
            inputs["attention_mask"] == 1
        )
        return any(
            n > max(1, prompt.text.count(first))
            for prompt, n in zip(batch, begins.sum(dim=1).tolist(), strict=True)
        )

    def _adds_special_tokens(self, prompt: Prompt) -> bool:
        """False where the template has written the first token already."""
        first = self.tokenizer.bos_token
        return not (first and prompt.text.startswith(first))

    # --- answers ---

    def generate(
        self, batch: Sequence[Prompt], inputs: Any, settings: dict[str, Any], until: list[str]
    ) -> list[GenerationResult]:
        length = inputs["input_ids"].shape[1]
        options = dict(settings, pad_token_id=self._tokenizer.pad_token_id)
        ends = getattr(self.model.generation_config, "eos_token_id", None)
        if ends is None:
            ends = options["eos_token_id"] = self._tokenizer.eos_token_id
        if until and options.get("num_beams", 1) == 1:
            options["stopping_criteria"] = [Until(until, self._tokenizer, length)]
        generated = self.model.generate(**inputs, **options)
        if not torch.equal(generated[:, :length], inputs["input_ids"]):
            raise ValueError(
                f"the output of {type(self.model).__name__} does not begin with the prompt, so the"
                " answer cannot be separated from it. figlang_vlm runs models that continue their"
                " prompt"
            )
        generated = generated[:, length:]
        texts = self._tokenizer.batch_decode(generated, skip_special_tokens=True)
        ends = {ends} if isinstance(ends, int) else set(ends or ())
        read = inputs["attention_mask"].sum(dim=1).tolist()
        return [
            GenerationResult(
                prompt.thought + cut_at(text, until),
                TokenCounts(n, count_tokens(row, ends, options["pad_token_id"])),
            )
            for prompt, text, n, row in zip(batch, texts, read, generated.tolist(), strict=True)
        ]


class FigLangBlind(FigLangVLM):
    """The same model with a white picture in place of each image: what the text alone gives away,
    for any task.
    """

    def _messages(self, request: Instance, doc: Any) -> list[dict[str, Any]]:
        messages = super()._messages(request, doc)
        for part in (
            part for message in messages for part in message["content"] if part["type"] == "image"
        ):
            part["image"] = Image.new("RGB", _rgb(part["image"]).size, "white")
        return messages


class FigLangLlava(FigLangVLM):
    """``llava_hf`` and ``llava``: the same with LLaVA's checkpoint as the default, for answers in
    words.
    """

    # As the harness's class of that name, so that tasks ask it what they have always asked
    answers_score_requests = ()

    def __init__(self, pretrained: str = "llava-hf/llava-1.5-7b-hf", **others: Any) -> None:
        super().__init__(pretrained, **others)


def _by_settings(requests: Sequence[Instance]) -> list[dict[int, Instance]]:
    """The requests by their index, those with equal settings together."""
    groups: dict[str, dict[int, Instance]] = {}
    for index, request in enumerate(requests):
        groups.setdefault(repr(sorted(request.args[2].items())), {})[index] = request
    return list(groups.values())


def _naming(where: str) -> AbstractContextManager[None]:
    return models.naming(VLMError, f"figlang_vlm: {where}")


def _interleaved(prompt: Prompt) -> list[Any]:
    """Texts and images in their order: Idefics 1 would put images that are apart from the text
    behind it.
    """
    texts = _IDEFICS_IMAGE.split(prompt.text)
    return [
        texts[0],
        *(part for pair in zip(prompt.images, texts[1:], strict=True) for part in pair),
    ]


def _rgb(image: Any) -> Image.Image:
    if isinstance(image, str):
        return load_image(image)
    return image if image.mode == "RGB" else image.convert("RGB")
