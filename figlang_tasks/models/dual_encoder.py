"""`figlang_clip`: ranks images and texts with dual encoders (CLIP, SigLIP, ALIGN ...) and image-text matching heads.

    --model figlang_clip --model_args pretrained=openai/clip-vit-base-patch32 --batch_size 64

It answers score requests (`core.score_requests`) and nothing else. The scores, always computed in float32 or better:

- dual encoders: cosine of the two L2-normalised features, -1 to 1, **not** multiplied by the model's logit scale;
- BLIP, BLIP-2 (``BlipForImageTextRetrieval``, ``Blip2ForImageTextRetrieval``): probability of a match, 0 to 1;
- ViLT (``ViltForImageAndTextRetrieval``): sigmoid of the logit of its ranking head, whose order alone means something.

Dual encoders see every distinct image and text of a run once, matching heads each distinct pair. Features are kept in
memory (4 bytes times width each), pictures only until their batch is full.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers
from lmms_eval.api.instance import Instance
from loguru import logger
from PIL import Image
from torch.nn import functional
from tqdm import tqdm
from transformers.modeling_outputs import BaseModelOutput

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.images import content_key
from figlang_tasks.core.score_requests import KEY, KINDS, answer, only_ranks, score_request
from figlang_tasks.metrics.explanation.compute import exact_float32, without_surrogates

from .ahead import THREADS, Batches, ahead, threads
from .base import ModelBase

RETRIEVAL_CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "blip-2": "Blip2ForImageTextRetrieval",
    "vilt": "ViltForImageAndTextRetrieval",
}
AUTO_BATCH = 64
TEXTS = 256  # of a batch

# What a model was trained with, where its processor does not do it unless told (ALIGN: with 64 tokens). SigLIP has no
# attention mask.
_PADDED_TO_MAXIMUM = ("siglip", "siglip2", "align")

_Floats = npt.NDArray[np.float32]


class FigLangCLIP(ModelBase):
    """The model class of the harness; ``--batch_size`` is the number of images (matching heads: and of pairs).

    Args:
        pretrained: hub id or folder of a dual encoder, `RETRIEVAL_CLASSES` included.
        revision: of the hub repository.
        dtype: of the weights, as in transformers; official results take float32.
        device: torch device; by default the GPU of this process if there is one.
        batch_size: images of a batch; ``auto`` is `AUTO_BATCH`. Out of memory halves it.
        trust_remote_code: as in transformers.

    Raises:
        FigLangError: unknown or wrong argument, or not a dual encoder.
    """

    is_simple = True
    answers_score_requests = KINDS
    answers_words = False
    answers_at_once = True  # each image and text is encoded once (figlang_tasks.harness.answers)

    def __init__(
        self,
        pretrained: str = "",
        revision: str | int | None = None,
        dtype: str = "float32",
        device: str | None = None,
        batch_size: int | str = 1,
        trust_remote_code: bool = False,
        **unknown: Any,
    ) -> None:
        super().__init__()
        models.check_arguments("figlang_clip", FigLangCLIP, unknown, {"trust_remote_code": trust_remote_code})
        models.require_checkpoint("figlang_clip", pretrained)
        auto = str(batch_size).startswith("auto")
        size = AUTO_BATCH if auto else models.whole_number("figlang_clip", "batch_size", batch_size)
        self.images, self.texts, self.pairs = Batches(size, "image"), Batches(TEXTS, "text"), Batches(size, "pair")
        self.device = torch.device(device) if device and self._world_size == 1 else self.accelerator.device
        source = {"revision": str(revision or "main"), "trust_remote_code": trust_remote_code}
        self.network = _load(pretrained, source, dtype, self.device)
        self.commit = models.commit_of(pretrained, str(source["revision"]))

    @property
    def batch_size(self) -> int:
        """Images of a batch; falls when memory runs out."""
        return self.images.size

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer score requests; what is kept of one call is not used by the next."""
        for request in requests:
            if KEY not in request.args[1]:
                raise ValueError(only_ranks("figlang_clip", request.args[4]))
        asked = [request.args for request in requests]
        if isinstance(self.network, _Matcher):
            return self._matched(self.network, asked)
        return self.features(asked).cosines()

    def features(self, requests: Sequence[tuple[Any, ...]]) -> Features:
        """The features of what score requests, by their ``args``, compare; others are read meanwhile."""
        network = self.network
        if isinstance(network, _Matcher):
            raise FigLangError(f"{type(network.model).__name__} has no features of a picture alone: use a dual encoder")
        images: dict[str, _Floats] = {}
        waiting: dict[str, Image.Image] = {}

        def encode() -> None:
            for keys, values in self.images.run(
                list(waiting), lambda keys: network.image_features([waiting[key] for key in keys])
            ):
                images.update(zip(keys, values, strict=True))
            waiting.clear()

        plan = []
        for asked, pictures in self._read_all(requests):
            plan.append(asked)
            waiting.update((key, shown) for key, shown in zip(asked.images, pictures, strict=True) if key not in images)
            if len(waiting) >= self.images.size:
                encode()
        encode()
        texts: dict[str, _Floats] = {}
        for said, values in self.texts.run(self._measured(plan), network.text_features):
            texts.update(zip(said, values, strict=True))
        return Features(plan, images, texts)

    def _matched(self, network: _Matcher, requests: Sequence[tuple[Any, ...]]) -> list[str]:
        """Match the pairs that were not matched before, a few batches of them at a time."""
        scores: dict[tuple[str, str], float] = {}
        waiting: dict[tuple[str, str], Image.Image] = {}

        def match() -> None:
            pictures = {key: picture for (key, _), picture in waiting.items()}
            for keys, seen in self.images.run(list(pictures), lambda keys: network.look([pictures[k] for k in keys])):

                def step(
                    pairs: Sequence[tuple[str, str]], keys: Sequence[str] = keys, seen: Mapping[str, Any] = seen
                ) -> list[float]:
                    return network.match(seen, [keys.index(key) for key, _ in pairs], [text for _, text in pairs])

                for pairs, found in self.pairs.run([pair for pair in waiting if pair[0] in keys], step):
                    scores.update(zip(pairs, found, strict=True))
            waiting.clear()

        plan = []
        for asked, pictures in self._read_all(requests):
            plan.append(asked)
            for key, picture in zip(asked.images, pictures, strict=True):
                waiting.update(((key, text), picture) for text in asked.texts if (key, text) not in scores)
            if len(waiting) >= self.pairs.size:
                match()
        match()
        self._measured(plan)
        return [asked.answer([scores[key, text] for key in asked.images for text in asked.texts]) for asked in plan]

    def _read_all(self, requests: Sequence[tuple[Any, ...]]) -> Iterator[tuple[_Asked, list[Image.Image]]]:
        """Yield what each request compares, with its pictures; threads read the next ones meanwhile."""
        said: dict[str, str] = {}  # equal texts of several requests are kept once
        with (
            threads(THREADS) as pool,
            closing(ahead(lambda each: pool.submit(self._read, each), requests, THREADS)) as read,
        ):
            for _, (where, keys, texts, pictures) in tqdm(
                read, "Model Responding", len(requests), disable=self.rank != 0
            ):
                yield _Asked(where, keys, [said.setdefault(text, text) for text in texts]), pictures

    def _read(self, request: tuple[Any, ...]) -> tuple[str, list[str], Sequence[str], list[Image.Image]]:
        """A request's task and document, the keys of its pictures, its texts and its pictures."""
        context, settings, doc_to_visual, doc_id, task, split = request
        where = f"task {task}, document {doc_id}"
        doc = self.task_dict[task][split][doc_id]
        try:
            asked = score_request(settings, doc)
        except ValueError as error:
            raise ValueError(f"figlang_clip: {where}: {error}") from error
        assert asked is not None
        pictures = [
            picture if picture.mode == "RGB" else picture.convert("RGB") for picture in doc_to_visual(doc) or []
        ]
        if not pictures or (asked.kind == "candidates" and len(pictures) > 1):
            raise ValueError(
                f"figlang_clip: {where}: {len(pictures)} images; a request of kind {asked.kind} needs "
                f"{'one' if asked.kind == 'candidates' else 'at least one'}"
            )
        if asked.kind == "match" and "<image>" in context:
            raise ValueError(
                f"figlang_clip: {where}: its text contains <image>, which this model does not use. Give the task a "
                "block only_scores in lmms_eval_specific_kwargs"
            )
        return where, [content_key(picture) for picture in pictures], asked.candidates or (context,), pictures

    def _measured(self, plan: Sequence[_Asked]) -> list[str]:
        """All texts, the longest first; the log tells how many are cut."""
        said = list(dict.fromkeys(text for asked in plan for text in asked.texts))
        lengths = self.network.lengths(said) if said else []
        cut = sum(length > self.network.limit for length in lengths)
        logger.log(
            "WARNING" if cut else "INFO",
            f"figlang_clip: {sum(len(asked.images) * len(asked.texts) for asked in plan)} pairs of image and text; "
            f"{cut} of {len(said)} texts cut to {self.network.limit} tokens",
        )
        # Sorted by the text too, so that the order of the requests does not decide what shares a batch.
        return [text for _, text in sorted(zip(lengths, said, strict=True), reverse=True)]


@dataclass(frozen=True)
class _Asked:
    """The comparison of one request: several images (their keys) with one text, or one image with several texts."""

    where: str
    images: list[str]
    texts: list[str]

    def answer(self, scores: Any) -> str:
        try:
            return answer(scores)
        except ValueError as error:
            raise ValueError(f"figlang_clip: {self.where}: {error}") from error


@dataclass(frozen=True)
class Features:
    """Normalised features, float32 [width] each, of the images (by `content_key`) and texts of requests."""

    plan: list[_Asked]
    images: dict[str, _Floats]
    texts: dict[str, _Floats]

    def shown(self) -> list[set[str]]:
        """The keys of the images, and the texts, of each request."""
        return [{*own.images, *own.texts} for own in self.plan]

    def seen(self) -> set[str]:
        """Those of all requests."""
        return {key for shown in self.shown() for key in shown}

    def pairs(self) -> Iterator[tuple[_Floats, _Floats]]:
        """Yield images and texts, float32 [n, width] each, of each request; one of them is [1, width]."""
        for asked in self.plan:
            yield np.stack([self.images[key] for key in asked.images]), np.stack([self.texts[t] for t in asked.texts])

    def answers(self, score: Callable[[_Floats, _Floats], Any]) -> list[str]:
        """The answers by ``(images, texts) -> scores``, of the pairs of a request, in the order of requests."""
        return [asked.answer(score(*pair)) for asked, pair in zip(self.plan, self.pairs(), strict=True)]

    def cosines(self) -> list[str]:
        """The answers of the encoder itself."""
        # Row by row rather than by a matrix product: equal features must give equal scores, wherever they stand.
        return self.answers(lambda images, texts: (images * texts).sum(axis=1))


class _Network:
    """A model with its processor."""

    def __init__(self, model: Any, processor: Any, device: torch.device) -> None:
        self.model = model.eval().to(device)
        self.processor = processor
        self._device = device
        self._kind = model.config.model_type
        # The text_config of BLIP-2 is that of a language model, which plays no part here.
        of_text = "qformer_config" if self._kind == "blip-2" else "text_config"
        text = getattr(model.config, of_text, model.config)
        positions = getattr(text, "max_position_embeddings", None)
        if positions is not None and self._kind == "altclip":  # of RoBERTa: they begin behind that of padding
            positions -= text.pad_token_id + 1
        limits = (processor.tokenizer.model_max_length, positions, 64 if self._kind == "align" else None)
        self.limit: int = min(limit for limit in limits if limit is not None)
        reads = model.forward if isinstance(self, _Matcher) else model.get_text_features
        self._takes_types = "token_type_ids" in inspect.signature(reads).parameters

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text before it is cut."""
        clean = [without_surrogates(text) for text in texts]
        return [len(ids) for ids in self.processor.tokenizer(clean, verbose=False)["input_ids"]]

    def image_features(self, images: Sequence[Image.Image]) -> _Floats:
        """Normalised features, float32 [n, width]."""
        with torch.inference_mode(), exact_float32():
            return self._normalised(self.model.get_image_features(**self._pixels(images)), len(images))

    def text_features(self, texts: Sequence[str]) -> _Floats:
        """Normalised features, float32 [n, width]."""
        with torch.inference_mode(), exact_float32():
            return self._normalised(self.model.get_text_features(**self._tokens(texts)), len(texts))

    def _pixels(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        # The whole processor where it takes images alone: its own defaults stand above the image processor's.
        processor = self.processor.image_processor if self._kind == "vilt" else self.processor
        return self._moved(processor(images=list(images), return_tensors="pt"))

    def _tokens(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        inputs = self.processor.tokenizer(
            [without_surrogates(text) for text in texts],
            padding="max_length" if self._kind in _PADDED_TO_MAXIMUM else True,
            truncation=True,
            max_length=self.limit,
            return_tensors="pt",
        )
        if not self._takes_types:
            inputs.pop("token_type_ids", None)
        return self._moved(inputs)

    def _moved(self, inputs: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The inputs on the device; numbers with a fraction in the model's precision."""
        dtype = self.model.dtype
        return {
            name: value.to(self._device, dtype if value.is_floating_point() else None) for name, value in inputs.items()
        }

    def _normalised(self, features: Any, count: int) -> _Floats:
        if not isinstance(features, torch.Tensor):  # transformers 5 puts them into an output of several
            features = features.pooler_output
        if features.shape[:-1] != (count,):
            name = type(self.model).__name__
            raise ValueError(f"figlang_clip: {name} gives features of shape {tuple(features.shape)}, not [{count}, d]")
        return functional.normalize(features.float(), dim=-1).cpu().numpy()


class _Matcher(_Network):
    """A model that looks at image and text together."""

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        """What the model needs of each image: tensors [n, ...]."""
        return self._pixels(images)

    def match(self, seen: Mapping[str, torch.Tensor], images: Sequence[int], texts: Sequence[str]) -> list[float]:
        """The scores, 0 to 1, of the pairs of ``seen[images[i]]`` and ``texts[i]``."""
        shown = {name: value[list(images)] for name, value in seen.items()}
        # ViLT draws the padding, and where there is none the order of the patches: neither matters but to rounding.
        with torch.inference_mode(), exact_float32(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            logits = self._logits(shown, self._tokens(texts)).double()
            return (logits[:, 0].sigmoid() if logits.shape[1] == 1 else logits.softmax(dim=-1)[:, 1]).tolist()

    def _logits(self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return self.model(**tokens, **shown).logits


class _BlipMatcher(_Matcher):
    """Its vision tower reads each image once: the model's ``forward`` gets what it gave."""

    def __init__(self, model: Any, processor: Any, device: torch.device) -> None:
        super().__init__(model, processor, device)
        self.tower, model.vision_model = model.vision_model, _Seen()

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        with torch.inference_mode(), exact_float32():
            return {"pixel_values": self.tower(**self._pixels(images)).last_hidden_state}

    def _logits(self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        return self.model(**shown, **tokens, use_itm_head=True).itm_score


class _Blip2Matcher(_BlipMatcher):
    def _logits(self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]) -> torch.Tensor:
        if self.model.config.image_token_index is not None:  # it takes the places of the queries off the text
            places = (self.model.config.num_query_tokens, 0)
            tokens = {name: functional.pad(tokens[name], places, value=1) for name in ("input_ids", "attention_mask")}
        return self.model(**shown, **tokens, use_image_text_matching_head=True).logits_per_image


class _Seen(torch.nn.Module):
    """In place of a vision tower: returns what that gave for the images."""

    def forward(self, pixel_values: torch.Tensor, **others: Any) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=pixel_values)


def _load(pretrained: str, source: Mapping[str, Any], dtype: str, device: torch.device) -> _Network:
    with models.loading("figlang_clip", "the configuration of", pretrained):
        config = transformers.AutoConfig.from_pretrained(pretrained, **source)
    kind = config.model_type
    model_class = _model_class(config)
    if model_class is None:
        raise FigLangError(
            f"figlang_clip: {pretrained} ({', '.join(config.architectures or [kind])}) is not a dual encoder. "
            "Generative models run as --model figlang_vlm. Supported: models of transformers with get_image_features "
            "and get_text_features (clip, siglip, siglip2, align, altclip, chinese_clip, metaclip_2 ...), "
            f"{', '.join(RETRIEVAL_CLASSES.values())}"
        )
    # The only one that keeps the texts of AIMv2 causal in a batch without padding: transformers leaves the mask out
    # there, and the faster ones then read a text in both directions.
    attention = {"attn_implementation": "eager"} if kind == "aimv2" else {}
    with models.loading("figlang_clip", "model and processor", pretrained):
        options = {"dtype": dtype, **attention, **source}
        model, loaded = model_class.from_pretrained(pretrained, output_loading_info=True, **options)
        processor = transformers.AutoProcessor.from_pretrained(pretrained, **source)
    models.require_weights("figlang_clip", pretrained, model, loaded)
    matchers = {"blip": _BlipMatcher, "blip-2": _Blip2Matcher, "vilt": _Matcher}
    return matchers.get(kind, _Network)(model, processor, device)


def _model_class(config: Any) -> Any:
    """The transformers class to load; None if it would not do."""
    if config.model_type in RETRIEVAL_CLASSES:
        name = RETRIEVAL_CLASSES[config.model_type]
        return getattr(transformers, name) if name in (config.architectures or []) else None
    if "AutoModel" in getattr(config, "auto_map", {}):
        return transformers.AutoModel
    found = transformers.MODEL_MAPPING.get(type(config), None)
    dual = all(hasattr(found, method) for method in ("get_image_features", "get_text_features"))
    return found if dual else None
