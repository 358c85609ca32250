"""Networks behind ``figlang_clip``: dual encoders and matching heads of transformers."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
import transformers
from PIL import Image
from torch.nn import functional
from transformers.modeling_outputs import BaseModelOutput

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics.explanation.compute import exact_float32, without_surrogates
from figlang_tasks.models.checkpoints import loading, require_weights

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, ProcessorMixin
    from transformers.modeling_outputs import ModelOutput

RETRIEVAL_CLASSES = {
    "blip": "BlipForImageTextRetrieval",
    "blip-2": "Blip2ForImageTextRetrieval",
    "vilt": "ViltForImageAndTextRetrieval",
}
"""Classes of transformers with a matching head, by ``model_type``."""

# These were trained with texts padded to the maximum length. SigLIP has no attention mask, so that
# padding matters to it; the processors (transformers 5.24) do not pad so unless they are told.
_PADDED_TO_MAXIMUM = ("siglip", "siglip2", "align")
_LONGEST_TEXT_OF_ALIGN = 64  # tokens in its training; its configuration names more

Floats: TypeAlias = npt.NDArray[np.float32]
Tensors: TypeAlias = Mapping[str, torch.Tensor]
"""Inputs of a model, by name; [n, ...] each."""


class Network:
    """A dual encoder with its processor.

    Attributes:
        limit: tokens that a text is cut to.
    """

    def __init__(
        self, model: PreTrainedModel, processor: ProcessorMixin, device: torch.device
    ) -> None:
        self.model = model.eval().to(device)
        self.processor = processor
        self._device = device
        self._model_type: str = model.config.model_type
        self.limit = self._text_limit()
        if isinstance(self, Matcher):  # its models have no features of a text alone
            read_text = model.forward
        else:
            read_text = model.get_text_features
        text_parameters = inspect.signature(read_text).parameters
        self._takes_token_types = "token_type_ids" in text_parameters

    def _text_limit(self) -> int:
        """The most tokens of a text that both the tokenizer and the model take."""
        limits = [self.processor.tokenizer.model_max_length]
        # The text_config of BLIP-2 is that of a language model, which plays no part here.
        config = self.model.config
        text_config_name = "text_config"
        if self._model_type == "blip-2":
            text_config_name = "qformer_config"
        text_config = getattr(config, text_config_name, config)
        positions = getattr(text_config, "max_position_embeddings", None)
        if positions is not None:
            if self._model_type == "altclip":
                # RoBERTa: its positions begin behind that of padding.
                positions -= text_config.pad_token_id + 1
            limits.append(positions)
        if self._model_type == "align":
            limits.append(_LONGEST_TEXT_OF_ALIGN)
        return min(limits)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text before it is cut."""
        readable_texts = [without_surrogates(text) for text in texts]
        encoded = self.processor.tokenizer(readable_texts, verbose=False)
        return [len(tokens) for tokens in encoded["input_ids"]]

    def image_features(self, images: Sequence[Image.Image]) -> Floats:
        """The normalised features of images, float32 [n, width]."""
        with torch.inference_mode(), exact_float32():
            features = self.model.get_image_features(**self._pixels(images))
            return self._normalised(features, len(images))

    def text_features(self, texts: Sequence[str]) -> Floats:
        """The normalised features of texts, float32 [n, width]."""
        with torch.inference_mode(), exact_float32():
            features = self.model.get_text_features(**self._tokens(texts))
            return self._normalised(features, len(texts))

    def _pixels(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        """The tensors of images on the device: the model's arguments, such as ``pixel_values``."""
        # The whole processor wherever it takes images alone: its own defaults stand above those of
        # its image processor. That of ViLT needs a text too.
        processor = self.processor
        if self._model_type == "vilt":
            processor = self.processor.image_processor
        return self._moved(processor(images=list(images), return_tensors="pt"))

    def _tokens(self, texts: Sequence[str]) -> dict[str, torch.Tensor]:
        """The tensors of texts on the device: the model's arguments, such as ``input_ids``.

        Texts are cut to `limit`.
        """
        inputs = self.processor.tokenizer(
            [without_surrogates(text) for text in texts],
            padding="max_length" if self._model_type in _PADDED_TO_MAXIMUM else True,
            truncation=True,
            max_length=self.limit,
            return_tensors="pt",
        )
        if not self._takes_token_types:
            inputs.pop("token_type_ids", None)
        return self._moved(inputs)

    def _moved(self, inputs: Tensors) -> dict[str, torch.Tensor]:
        """The inputs on the device; numbers with a fraction get the dtype of the weights."""
        moved: dict[str, torch.Tensor] = {}
        for name, tensor in inputs.items():
            dtype = self.model.dtype if tensor.is_floating_point() else None  # None: as it is
            moved[name] = tensor.to(self._device, dtype)
        return moved

    def _normalised(self, features: torch.Tensor | ModelOutput, count: int) -> Floats:
        """Features scaled to length 1, float32 [count, width].

        Args:
            features: what the model's ``get_image_features`` or ``get_text_features`` returned.
            count: the number of images or texts that were given.

        Raises:
            ValueError: there is not one row of features for each of them.
        """
        # transformers 4 returns the features, transformers 5 puts them into an output with others.
        if not isinstance(features, torch.Tensor):
            features = features.pooler_output
        if features.shape[:-1] != (count,):
            name = type(self.model).__name__
            raise ValueError(
                f"figlang_clip: {name} gives features of shape {tuple(features.shape)}, not"
                f" [{count}, d]"
            )
        return functional.normalize(features.float(), dim=-1).cpu().numpy()


class Matcher(Network):
    """A model that looks at image and text together, and scores how well they match (ViLT)."""

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        """What `match` needs of each image, [n, ...]; done once for all texts of an image."""
        return self._pixels(images)

    def match(
        self, image_inputs: Tensors, image_indices: Sequence[int], texts: Sequence[str]
    ) -> list[float]:
        """The scores of pairs, 0 to 1.

        Args:
            image_inputs: what `look` returns.
            image_indices: for each pair, the index of its image there.
            texts: for each pair, its text.
        """
        inputs_of_pairs = {
            name: tensor[list(image_indices)] for name, tensor in image_inputs.items()
        }
        # ViLT draws random numbers for the places of padding or, without padding, for the order of
        # the patches. Neither matters but to rounding; the seed makes also that the same.
        with torch.inference_mode(), exact_float32(), torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            logits = self._logits(inputs_of_pairs, self._tokens(texts)).double()
            if logits.shape[1] == 1:  # a ranking head
                return logits[:, 0].sigmoid().tolist()
            return logits.softmax(dim=-1)[:, 1].tolist()  # classes: no match, match

    def _logits(self, image_inputs: Tensors, tokens: Tensors) -> torch.Tensor:
        """The logits of pairs: [n, 1] of a ranking head, [n, 2] of a classifier of matches."""
        return self.model(**tokens, **image_inputs).logits


class BlipMatcher(Matcher):
    """BLIP: its vision tower reads each image once.

    transformers (5.24) takes no features of images there. So the tower is taken out of the model,
    which gets the tower's output in place of pixels.
    """

    def __init__(
        self, model: PreTrainedModel, processor: ProcessorMixin, device: torch.device
    ) -> None:
        super().__init__(model, processor, device)
        self.tower = model.vision_model
        model.vision_model = _FeaturesAsPixels()

    def look(self, images: Sequence[Image.Image]) -> dict[str, torch.Tensor]:
        """The features of each image, under the name of its pixels."""
        with torch.inference_mode(), exact_float32():
            return {"pixel_values": self.tower(**self._pixels(images)).last_hidden_state}

    def _logits(self, image_inputs: Tensors, tokens: Tensors) -> torch.Tensor:
        return self.model(**image_inputs, **tokens, use_itm_head=True).itm_score


class Blip2Matcher(BlipMatcher):
    """BLIP-2: as BLIP, with query tokens between image and text."""

    def _logits(self, image_inputs: Tensors, tokens: Tensors) -> torch.Tensor:
        """The logits of pairs, [n, 2]: no match, match."""
        config = self.model.config
        # With an image token, the model (transformers 5.24) takes the first tokens of a text for
        # places of its queries: it cuts them off the input_ids, and reads their attention_mask as
        # that of the queries. So as many places are put before the text. 1 in the mask says that
        # the queries are seen; among the input_ids any number would do.
        if config.image_token_index is not None:
            before_and_after = (config.num_query_tokens, 0)
            tokens = {
                name: functional.pad(tokens[name], before_and_after, value=1)
                for name in ("input_ids", "attention_mask")
            }
        output = self.model(**image_inputs, **tokens, use_image_text_matching_head=True)
        return output.logits_per_image


class _FeaturesAsPixels(torch.nn.Module):
    """Stands in place of a vision tower, and returns the tower's earlier output."""

    def forward(self, pixel_values: torch.Tensor, **options: object) -> BaseModelOutput:
        """The features that are handed over as pixels."""
        return BaseModelOutput(last_hidden_state=pixel_values)


def load(
    pretrained: str, source: Mapping[str, str | bool], dtype: str, device: torch.device
) -> Network:
    """Load a dual encoder or a matching head with its processor.

    Args:
        pretrained: hub id or folder.
        source: arguments of every ``from_pretrained``: revision, trust_remote_code.
        dtype: of the weights.
        device: where it runs.

    Raises:
        FigLangError: it cannot be loaded, or is another kind of model.
    """
    with loading("figlang_clip", "the configuration of", pretrained):
        config = transformers.AutoConfig.from_pretrained(pretrained, **source)
    model_type = config.model_type
    model_class = _model_class(config)
    if model_class is None:
        raise FigLangError(
            f"figlang_clip: {pretrained} ({', '.join(config.architectures or [model_type])}) is not"
            " a dual encoder. Generative models run as --model figlang_vlm. Supported: models of"
            " transformers with get_image_features and get_text_features (clip, siglip, siglip2,"
            " align, altclip, chinese_clip, metaclip_2 ...),"
            f" {', '.join(RETRIEVAL_CLASSES.values())}"
        )
    options: dict[str, object] = {"dtype": dtype, **source}
    if model_type == "aimv2":
        # In a batch without padding, transformers (5.24) leaves out the mask that keeps the texts
        # of AIMv2 causal. Its faster kinds of attention then read a text in both directions.
        options["attn_implementation"] = "eager"
    with loading("figlang_clip", "model and processor", pretrained):
        model, loading_info = model_class.from_pretrained(
            pretrained, output_loading_info=True, **options
        )
        processor = transformers.AutoProcessor.from_pretrained(pretrained, **source)
    require_weights("figlang_clip", pretrained, model, loading_info)
    network_classes = {"blip": BlipMatcher, "blip-2": Blip2Matcher, "vilt": Matcher}
    return network_classes.get(model_type, Network)(model, processor, device)


def _model_class(config: PretrainedConfig) -> type[PreTrainedModel] | None:
    """The class of transformers that loads the model; None if it cannot score pairs.

    It is the matching head (`RETRIEVAL_CLASSES`), else the checkpoint's own code, else the class of
    the dual encoder, which has ``get_image_features`` and ``get_text_features``. A checkpoint with
    code of its own may turn out to be no dual encoder: that is seen only when it runs.
    """
    if config.model_type in RETRIEVAL_CLASSES:
        name = RETRIEVAL_CLASSES[config.model_type]
        if name not in (config.architectures or []):
            return None
        return getattr(transformers, name)
    # `auto_map` names the classes of a checkpoint that has code of its own.
    if "AutoModel" in getattr(config, "auto_map", {}):
        return transformers.AutoModel
    # None if transformers does not know the configuration; then it lacks both methods too.
    model_class = transformers.MODEL_MAPPING.get(type(config), None)
    for method in ("get_image_features", "get_text_features"):
        if not hasattr(model_class, method):
            return None
    return model_class
