"""NYK-MS's cross attention on BERT and ViT (arXiv 2409.01037, section 4.2): network and losses.

BERT reads the text and ViT the picture; both are trained along. After each a two-layer MLP, then
layers of cross attention from text to picture, then a classifier.

Where the paper is silent, this is the network of its authors' earlier work, which it says that it
follows (Zhang et al., LREC-COLING 2024, https://github.com/ChangKe123/CLFA, without that work's
knowledge branch): ReLU in the MLPs, width 512, three layers of eight heads (self-attention, cross
attention, 2,048 GELU units, each normalised after its residual), features that are means over
tokens, and the epoch that is best on the validation rows. Ours: with one kind of input there is
nothing to attend to, and its mean goes to the classifier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import torch
import transformers
from PIL import Image
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn
from torch.nn import functional

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.models.arguments import require_checkpoint
from figlang_tasks.models.checkpoints import loading, require_weights

if TYPE_CHECKING:
    from transformers import BaseImageProcessor, PreTrainedModel, PreTrainedTokenizerBase

_VALID_CHOICES = {
    "modality": ("both", "text", "picture"),
    "alignment": ("none", "contrastive", "ot"),
}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A network and its training.

    Defaults are the paper's, or else those of the earlier work; "ours" where neither says one.

    Attributes:
        text_encoder, image_encoder: hub ids or folders.
        text_revision, image_revision: commits of the hub; None for the newest, or for folders.
        modality: what the network reads: ``both``, ``text`` or ``picture``.
        alignment: the loss that is added to that of the labels: ``contrastive``, ``ot`` (optimal
            transport) or ``none``.
        alignment_weight: factor of that loss (the earlier work's).
        temperature: of the contrastive loss.
        hidden: units of the MLPs.
        width, layers, heads: of the cross attention (the earlier work's).
        dropout: in the cross attention, and before the classifier.
        max_length: tokens that a text is cut to (the earlier work's).
        epochs, batch_size: of the training.
        learning_rate: of AdamW. It rises in the share `warmup` of the steps, then falls linearly to
            0.
        warmup: see `learning_rate`.
        weight_decay: of matrices; biases and norms have none (the earlier work's).
        max_norm: of all gradients together (ours; the earlier work cuts each tensor's).
    """

    text_encoder: str = "google-bert/bert-base-uncased"
    text_revision: str | None = None
    image_encoder: str = "google/vit-base-patch32-224-in21k"
    image_revision: str | None = None
    modality: str = "both"
    alignment: str = "none"
    alignment_weight: float = 1.0
    temperature: float = 0.1
    hidden: int = 1536
    width: int = 512
    layers: int = 3
    heads: int = 8
    dropout: float = 0.1
    max_length: int = 77
    epochs: int = 15
    batch_size: int = 8
    learning_rate: float = 1e-5
    warmup: float = 0.1
    weight_decay: float = 0.01
    max_norm: float = 1.0

    def __post_init__(self) -> None:
        """Refuse settings that are not valid, or do not go together."""
        for name, valid in _VALID_CHOICES.items():
            choice = getattr(self, name)
            if choice not in valid:
                raise FigLangError(f"{name} is {choice!r}; valid: {', '.join(valid)}")
        if self.alignment != "none" and self.modality != "both":
            raise FigLangError(
                f"alignment={self.alignment} needs both text and picture, not"
                f" modality={self.modality}"
            )
        for name in ("epochs", "batch_size", "learning_rate"):
            number = getattr(self, name)
            if not number > 0:
                raise FigLangError(f"{name} is {number}, must be above 0")


class Example(NamedTuple):
    """A row of the data.

    Attributes:
        text: what BERT reads.
        picture: opens the picture.
        label: 0 or 1.
    """

    text: str
    picture: Callable[[], Image.Image]
    label: int = 0


# --- losses ---


def contrastive_loss(texts: Tensor, pictures: Tensor, temperature: float) -> Tensor:
    """How badly each text finds its own picture in the batch, and each picture its text.

    The mean of two cross entropies over the cosines, divided by the temperature, of all texts with
    all pictures. The paper prints the mean of the probabilities themselves; we take their
    logarithms, as CLIP, from which it has the loss, and the earlier work do.

    Args:
        texts, pictures: features, [batch, width]; row i of both belongs to the same example.
        temperature: divides the cosines.
    """
    cosines = functional.normalize(texts) @ functional.normalize(pictures).T / temperature
    matching = torch.arange(len(cosines), device=cosines.device)
    # The pictures compete for each text, then the texts for each picture.
    picture_loss = functional.cross_entropy(cosines, matching)
    text_loss = functional.cross_entropy(cosines.T, matching)
    return (picture_loss + text_loss) / 2


def transport_loss(texts: Tensor, pictures: Tensor) -> Tensor:
    """The least cost, over batch**2, of moving texts onto pictures, by exact assignment.

    Equations 5 to 11: cost is the squared Euclidean distance, and each row weighs 1/batch. With
    such weights a best plan is a permutation (Birkhoff), so the assignment problem's solution is
    exact; the paper approximates it by geomloss's Sinkhorn, with settings that it does not name.
    Gradients go through the costs alone, as the paper says. It divides the least cost by batch**2
    in its loss (Loss_OT, without a number, after equation 11), although the weights hold 1/batch.

    Args:
        texts, pictures: features, [batch, width].
    """
    costs = (texts[:, None] - pictures[None]).square().sum(dim=-1)  # [batch, batch]
    rows, columns = linear_sum_assignment(costs.detach().double().cpu().numpy())
    # Each of the pairs moves the weight 1/batch, so that the cost of the plan is their mean.
    plan_cost = costs[rows, columns].mean()
    return plan_cost / len(costs) ** 2  # batch**2, as in the paper's Loss_OT


# --- the network ---


class CrossAttention(nn.Module):
    """The network with its tokenizer and image processor.

    Encoder, MLP and tokenizer or image processor of an input that is not read are None, and so is
    the attention unless both are read.
    """

    text: PreTrainedModel | None
    image: PreTrainedModel | None
    tokenizer: PreTrainedTokenizerBase | None
    processor: BaseImageProcessor | None

    def __init__(self, settings: Settings, trained: bool) -> None:
        """Make the network; everything behind the encoders has random weights.

        Args:
            settings: of the network.
            trained: whether the encoders have the weights of their checkpoints. Otherwise they have
                only their form, into which a probe's weights are then put.
        """
        super().__init__()
        self.settings = settings
        encoders = encoders_of(settings)
        text_encoder = encoders.get("text")
        image_encoder = encoders.get("image")
        # The order in which modules are made decides which random weights a seed gives them.
        self.text = load_encoder(text_encoder, trained) if text_encoder else None
        self.image = load_encoder(image_encoder, trained) if image_encoder else None
        self.text_mlp = _mlp(self.text, settings) if self.text is not None else None
        self.image_mlp = _mlp(self.image, settings) if self.image is not None else None
        self.attention = None
        if settings.modality == "both":
            layer = nn.TransformerDecoderLayer(
                d_model=settings.width,
                nhead=settings.heads,
                dim_feedforward=4 * settings.width,
                dropout=settings.dropout,
                activation="gelu",
                batch_first=True,
            )
            self.attention = nn.TransformerDecoder(layer, settings.layers)
        dropout = nn.Dropout(settings.dropout)
        self.classifier = nn.Sequential(dropout, nn.Linear(settings.width, 2))
        self.tokenizer = None
        if text_encoder:
            self.tokenizer = load_part(transformers.AutoTokenizer, text_encoder)
        self.processor = None
        if image_encoder:
            self.processor = load_part(transformers.AutoImageProcessor, image_encoder)

    def forward(self, examples: Sequence[Example]) -> tuple[Tensor, list[Tensor]]:
        """The logits of the labels of a batch, and the features of what is read.

        Returns:
            The logits, [batch, 2]; and a list of features, [batch, width] each: those of the texts,
            of the pictures, or of both in this order.
        """
        features: list[Tensor] = []
        if self.text_mlp is not None:
            texts, mask = self._read_texts([example.text for example in examples])
            features.append(_mean_of_tokens(texts, mask))
        if self.image_mlp is not None:
            pictures = self._read_pictures([example.picture() for example in examples])
            features.append(pictures.mean(dim=1))
        if self.attention is None:  # one kind of input, and so one entry of features
            return self.classifier(features[0]), features
        # torch's mask is True for padding, ours for the tokens of a text.
        attended = self.attention(tgt=texts, memory=pictures, tgt_key_padding_mask=~mask)
        return self.classifier(_mean_of_tokens(attended, mask)), features

    def _read_texts(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """The states of texts, and a mask of their tokens.

        Returns:
            The states, [batch, tokens, width]; and the mask, bool [batch, tokens], which is False
            for padding.
        """
        assert self.tokenizer is not None and self.text is not None and self.text_mlp is not None
        tokens = self.tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=self.settings.max_length,
            return_tensors="pt",
        ).to(self._device)
        states = self.text_mlp(self.text(**tokens).last_hidden_state)
        return states, tokens["attention_mask"].bool()

    def _read_pictures(self, pictures: Sequence[Image.Image]) -> Tensor:
        """The states of pictures, [batch, patches, width]."""
        assert self.processor is not None and self.image is not None and self.image_mlp is not None
        rgb_pictures = [picture.convert("RGB") for picture in pictures]
        inputs = self.processor(images=rgb_pictures, return_tensors="pt")
        pixels = inputs["pixel_values"].to(self._device)
        return self.image_mlp(self.image(pixel_values=pixels).last_hidden_state)

    @property
    def _device(self) -> torch.device:
        return next(self.parameters()).device


def _mlp(encoder: PreTrainedModel, settings: Settings) -> nn.Module:
    """The layers between an encoder and the cross attention."""
    return nn.Sequential(
        nn.Linear(encoder.config.hidden_size, settings.hidden),
        nn.ReLU(),
        nn.Linear(settings.hidden, settings.width),
    )


def _mean_of_tokens(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens that are no padding: [batch, tokens, width] to [batch, width]."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


# --- encoders ---


class Encoder(NamedTuple):
    """A checkpoint: hub id or folder, and the hub's commit or None."""

    name: str
    revision: str | None


class Loader(Protocol):
    """A class of transformers that loads a part of a checkpoint, such as ``AutoTokenizer``."""

    def from_pretrained(self, name: str, **options: Any) -> Any:
        """The part of the checkpoint."""
        ...


EncoderInput: TypeAlias = Literal["text", "image"]


def encoders_of(settings: Settings) -> dict[EncoderInput, Encoder]:
    """The encoders that the settings' modality uses: under "text", under "image", or both."""
    encoders: dict[EncoderInput, Encoder] = {}
    if settings.modality in ("both", "text"):
        encoders["text"] = Encoder(settings.text_encoder, settings.text_revision)
    if settings.modality in ("both", "picture"):
        encoders["image"] = Encoder(settings.image_encoder, settings.image_revision)
    return encoders


# Any: the loader decides what is returned
def load_part(loader: Loader, encoder: Encoder, **options: Any) -> Any:
    """Load a part of a checkpoint: configuration, tokenizer, processor or weights.

    Args:
        loader: a class of transformers with ``from_pretrained``.
        encoder: the checkpoint.
        options: of ``from_pretrained``.
    """
    require_checkpoint("figlang_probe", encoder.name)
    if encoder.revision:
        options["revision"] = encoder.revision
    with loading("figlang_probe", "the encoder", encoder.name):
        return loader.from_pretrained(encoder.name, **options)


def load_encoder(encoder: Encoder, trained: bool) -> PreTrainedModel:
    """An encoder with the weights of its checkpoint, or with random ones.

    Args:
        encoder: the checkpoint.
        trained: whether to load the checkpoint's weights; otherwise only its configuration is
            loaded, and the weights are random.

    Raises:
        FigLangError: it cannot be loaded, lacks weights, or reads several kinds of input.
    """
    config = load_part(transformers.AutoConfig, encoder)
    # CLIP's configuration, say, holds one for texts and one for pictures, and no size of its own.
    if not hasattr(config, "hidden_size"):
        raise FigLangError(
            f"{encoder.name} ({config.model_type}) is not an encoder of one kind of input,"
            " such as BERT or ViT"
        )
    if not trained:
        return transformers.AutoModel.from_config(config)
    model, loading_info = load_part(
        transformers.AutoModel, encoder, output_loading_info=True, dtype=torch.float32
    )
    # The pooler is not used: many checkpoints have no weights for it.
    missing_keys: list[str] = []
    for key in loading_info["missing_keys"]:
        if not key.startswith("pooler."):
            missing_keys.append(key)
    require_weights("figlang_probe", encoder.name, model, {"missing_keys": missing_keys})
    return model
