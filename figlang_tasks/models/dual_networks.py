"""Networks behind ``figlang_clip``: dual encoders and matching heads of transformers, each with its
processor.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers
from PIL import Image
from torch.nn import functional
from transformers.modeling_outputs import BaseModelOutput

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics.explanation.compute import exact_float32, without_surrogates

RETRIEVAL_CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "blip-2": "Blip2ForImageTextRetrieval",
    "vilt": "ViltForImageAndTextRetrieval",
}

# What a model was trained with, where its processor does not do it unless told (ALIGN: with 64
# tokens). SigLIP has no attention mask.
_PADDED_TO_MAXIMUM = ("siglip", "siglip2", "align")

Floats = npt.NDArray[np.float32]


class Network:
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
        if (
            positions is not None and self._kind == "altclip"
        ):  # of RoBERTa: they begin behind that of padding
            positions -= text.pad_token_id + 1
        limits = (
            processor.tokenizer.model_max_length,
            positions,
            64 if self._kind == "align" else None,
        )
        self.limit: int = min(limit for limit in limits if limit is not None)
        reads = model.forward if isinstance(self, Matcher) else model.get_text_features
        self._takes_types = "token_type_ids" in inspect.signature(reads).parameters

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text before it is cut."""
        clean = [without_surrogates(text) for text in texts]
        return [len(ids) for ids in self.processor.tokenizer(clean, verbose=False)["input_ids"]]

    def image_features(self, images: Sequence[Image.Image]) -> Floats:
        """Normalised features, float32 [n, width]."""
        with torch.inference_mode(), exact_float32():
            return self._normalised(
                self.model.get_image_features(**self._pixels(images)), len(images)
            )

    def text_features(self, texts: Sequence[str]) -> Floats:
        """Normalised features, float32 [n, width]."""
        with torch.inference_mode(), exact_float32():
            return self._normalised(self.model.get_text_features(**self._tokens(texts)), len(texts))

    def _pixels(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        # The whole processor where it takes images alone: its own defaults stand above the image
        # processor's.
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
            name: value.to(self._device, dtype if value.is_floating_point() else None)
            for name, value in inputs.items()
        }

    def _normalised(self, features: Any, count: int) -> Floats:
        if not isinstance(
            features, torch.Tensor
        ):  # transformers 5 puts them into an output of several
            features = features.pooler_output
        if features.shape[:-1] != (count,):
            name = type(self.model).__name__
            raise ValueError(
                f"figlang_clip: {name} gives features of shape {tuple(features.shape)}, not"
                f" [{count}, d]"
            )
        return functional.normalize(features.float(), dim=-1).cpu().numpy()


class Matcher(Network):
    """A model that looks at image and text together."""

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        """What the model needs of each image: tensors [n, ...]."""
        return self._pixels(images)

    def match(
        self, seen: Mapping[str, torch.Tensor], images: Sequence[int], texts: Sequence[str]
    ) -> list[float]:
        """The scores, 0 to 1, of the pairs of ``seen[images[i]]`` and ``texts[i]``."""
        shown = {name: value[list(images)] for name, value in seen.items()}
        # ViLT draws the padding, and where there is none the order of the patches: neither matters
        # but to rounding.
        with torch.inference_mode(), exact_float32(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            logits = self._logits(shown, self._tokens(texts)).double()
            return (
                logits[:, 0].sigmoid() if logits.shape[1] == 1 else logits.softmax(dim=-1)[:, 1]
            ).tolist()

    def _logits(
        self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]
    ) -> torch.Tensor:
        return self.model(**tokens, **shown).logits


class BlipMatcher(Matcher):
    """Its vision tower reads each image once: the model's ``forward`` gets what it gave."""

    def __init__(self, model: Any, processor: Any, device: torch.device) -> None:
        super().__init__(model, processor, device)
        self.tower, model.vision_model = model.vision_model, _Seen()

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        with torch.inference_mode(), exact_float32():
            return {"pixel_values": self.tower(**self._pixels(images)).last_hidden_state}

    def _logits(
        self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]
    ) -> torch.Tensor:
        return self.model(**shown, **tokens, use_itm_head=True).itm_score


class Blip2Matcher(BlipMatcher):
    def _logits(
        self, shown: Mapping[str, torch.Tensor], tokens: Mapping[str, torch.Tensor]
    ) -> torch.Tensor:
        if (
            self.model.config.image_token_index is not None
        ):  # it takes the places of the queries off the text
            places = (self.model.config.num_query_tokens, 0)
            tokens = {
                name: functional.pad(tokens[name], places, value=1)
                for name in ("input_ids", "attention_mask")
            }
        return self.model(**shown, **tokens, use_image_text_matching_head=True).logits_per_image


class _Seen(torch.nn.Module):
    """In place of a vision tower: returns what that gave for the images."""

    def forward(self, pixel_values: torch.Tensor, **others: Any) -> BaseModelOutput:
        return BaseModelOutput(last_hidden_state=pixel_values)


def load(pretrained: str, source: Mapping[str, Any], dtype: str, device: torch.device) -> Network:
    with models.loading("figlang_clip", "the configuration of", pretrained):
        config = transformers.AutoConfig.from_pretrained(pretrained, **source)
    kind = config.model_type
    model_class = _model_class(config)
    if model_class is None:
        raise FigLangError(
            f"figlang_clip: {pretrained} ({', '.join(config.architectures or [kind])}) is not a"
            " dual encoder. Generative models run as --model figlang_vlm. Supported: models of"
            " transformers with get_image_features and get_text_features (clip, siglip, siglip2,"
            " align, altclip, chinese_clip, metaclip_2 ...),"
            f" {', '.join(RETRIEVAL_CLASSES.values())}"
        )
    # The only one that keeps the texts of AIMv2 causal in a batch without padding: transformers
    # leaves the mask out there, and the faster ones then read a text in both directions.
    attention = {"attn_implementation": "eager"} if kind == "aimv2" else {}
    with models.loading("figlang_clip", "model and processor", pretrained):
        options = {"dtype": dtype, **attention, **source}
        model, loaded = model_class.from_pretrained(pretrained, output_loading_info=True, **options)
        processor = transformers.AutoProcessor.from_pretrained(pretrained, **source)
    models.require_weights("figlang_clip", pretrained, model, loaded)
    matchers = {"blip": BlipMatcher, "blip-2": Blip2Matcher, "vilt": Matcher}
    return matchers.get(kind, Network)(model, processor, device)


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
