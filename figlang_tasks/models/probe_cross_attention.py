"""The kind ``cross_attention`` of probes: NYK-MS's trained baselines (arXiv 2409.01037, section
4.2).

BERT reads the text and ViT the picture; both are trained along. After each a two-layer MLP, then
layers of cross attention from text to picture, then a classifier. It answers tasks that ask for
words, with the word of the label.

Where the paper is silent, this is the network of its authors' earlier work, which it says that it
follows (Zhang et al., LREC-COLING 2024, https://github.com/ChangKe123/CLFA, without that work's
knowledge branch): ReLU in the MLPs, width 512, three layers of eight heads (self-attention, cross
attention, 2,048 GELU units, each normalised after its residual), features that are means over
tokens, and the epoch that is best on the validation rows. Ours: with one kind of input there is
nothing to attend to, and its mean goes to the classifier.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import torch
import transformers
from accelerate import Accelerator
from lmms_eval.api.instance import Instance
from PIL import Image
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics import classification
from figlang_tasks.models.probe import Probe, Weights


@dataclass(frozen=True, kw_only=True)
class Settings:
    """A network and its training. Defaults are the paper's; "ours": neither it nor the earlier work
    says one.
    """

    text_encoder: str = "google-bert/bert-base-uncased"  # a hub id or folder, as the image encoder
    text_revision: str | None = None  # a commit of the hub; None for the newest, or for folders
    image_encoder: str = "google/vit-base-patch32-224-in21k"
    image_revision: str | None = None
    modality: str = "both"  # or text, or picture
    alignment: str = "none"  # added to the loss of the labels: contrastive, ot or none
    alignment_weight: float = 1.0  # the earlier work's
    temperature: float = 0.1  # of the contrastive loss
    hidden: int = 1536  # units of the MLPs
    width: int = 512  # of the cross attention, as the next two (the earlier work's)
    layers: int = 3
    heads: int = 8
    dropout: float = 0.1  # there, and before the classifier
    max_length: int = 77  # tokens that a text is cut to (the earlier work's)
    epochs: int = 15
    batch_size: int = 8
    learning_rate: float = (
        1e-5  # of AdamW; it rises in the share `warmup` of the steps, then falls linearly to 0
    )
    warmup: float = 0.1
    weight_decay: float = 0.01  # none of biases and norms (the earlier work's)
    max_norm: float = 1.0  # of all gradients together (ours; the earlier work cuts each tensor's)

    def __post_init__(self) -> None:
        valid = {
            "modality": ("both", "text", "picture"),
            "alignment": ("none", "contrastive", "ot"),
        }
        for name, values in valid.items():
            if (given := getattr(self, name)) not in values:
                raise FigLangError(f"{name} is {given!r}; valid: {', '.join(values)}")
        if self.alignment != "none" and self.modality != "both":
            raise FigLangError(
                f"alignment={self.alignment} needs both text and picture, not"
                f" modality={self.modality}"
            )
        for name in ("epochs", "batch_size", "learning_rate"):
            if not getattr(self, name) > 0:
                raise FigLangError(f"{name} is {getattr(self, name)}, must be above 0")


class Example(NamedTuple):
    """A text, what opens its picture, and the label, 0 or 1."""

    text: str
    picture: Callable[[], Image.Image]
    label: int = 0


# --- losses ---


def contrastive_loss(texts: Tensor, pictures: Tensor, temperature: float) -> Tensor:
    """How badly each text finds its own picture in the batch, and each picture its text.

    The paper prints the mean of the probabilities themselves; we take their logarithms, as CLIP,
    from which it has the loss, and the earlier work do.
    """
    cosines = functional.normalize(texts) @ functional.normalize(pictures).T / temperature
    own = torch.arange(len(cosines), device=cosines.device)
    return (functional.cross_entropy(cosines, own) + functional.cross_entropy(cosines.T, own)) / 2


def transport_loss(texts: Tensor, pictures: Tensor) -> Tensor:
    """The least cost of moving the texts of a batch onto its pictures (equations 5 to 11).

    Cost is the squared Euclidean distance, and each row weighs 1/batch. With such weights a best
    plan is a permutation (Birkhoff), so the assignment problem's solution is exact; the paper
    approximates it by geomloss's Sinkhorn, with settings that it does not name. Gradients go
    through the costs alone, as the paper says.
    """
    costs = (texts[:, None] - pictures[None]).square().sum(dim=-1)
    rows, columns = linear_sum_assignment(costs.detach().double().cpu().numpy())
    return costs[rows, columns].mean() / len(costs) ** 2


# --- the network ---


class CrossAttention(nn.Module):
    """The network with its tokenizer and image processor; a part is None where its input is not
    read.

    With ``trained=False`` the encoders have only their form, into which a probe's weights are then
    put.
    """

    def __init__(self, settings: Settings, trained: bool) -> None:
        super().__init__()
        self.settings, names = settings, _encoders(settings)
        self.text: Any = _encoder(*names["text"], trained) if "text" in names else None
        self.image: Any = _encoder(*names["image"], trained) if "image" in names else None
        self.text_mlp = None if self.text is None else _mlp(self.text.config.hidden_size, settings)
        self.image_mlp = (
            None if self.image is None else _mlp(self.image.config.hidden_size, settings)
        )
        self.attention = None
        if settings.modality == "both":
            layer = nn.TransformerDecoderLayer(
                settings.width,
                settings.heads,
                4 * settings.width,
                settings.dropout,
                "gelu",
                batch_first=True,
            )
            self.attention = nn.TransformerDecoder(layer, settings.layers)
        self.classifier = nn.Sequential(nn.Dropout(settings.dropout), nn.Linear(settings.width, 2))
        self.tokenizer: Any = self.text and _loaded(transformers.AutoTokenizer, *names["text"])
        self.processor: Any = self.image and _loaded(
            transformers.AutoImageProcessor, *names["image"]
        )

    def forward(self, examples: Sequence[Example]) -> tuple[Tensor, list[Tensor]]:
        """The logits [batch, 2] of the labels, and the features [batch, width] of texts and of
        pictures.
        """
        features = []
        device = next(self.parameters()).device
        if self.text_mlp is not None:
            tokens = self.tokenizer(
                [example.text for example in examples],
                padding=True,
                truncation=True,
                max_length=self.settings.max_length,
                return_tensors="pt",
            ).to(device)
            mask = tokens["attention_mask"].bool()
            texts = self.text_mlp(self.text(**tokens).last_hidden_state)
            features.append(_mean(texts, mask))
        if self.image_mlp is not None:
            shown = [example.picture().convert("RGB") for example in examples]
            pixels = self.processor(images=shown, return_tensors="pt")["pixel_values"].to(device)
            pictures = self.image_mlp(self.image(pixel_values=pixels).last_hidden_state)
            features.append(pictures.mean(dim=1))
        if self.attention is None:
            return self.classifier(features[0]), features
        attended = self.attention(texts, pictures, tgt_key_padding_mask=~mask)
        return self.classifier(_mean(attended, mask)), features


def _mlp(width: int, settings: Settings) -> nn.Module:
    return nn.Sequential(
        nn.Linear(width, settings.hidden), nn.ReLU(), nn.Linear(settings.hidden, settings.width)
    )


def _mean(states: Tensor, mask: Tensor) -> Tensor:
    """The mean over the tokens that are no padding: [batch, tokens, width] to [batch, width]."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(dim=1) / weights.sum(dim=1)


def _encoders(settings: Settings) -> dict[str, tuple[str, str | None]]:
    """Name and revision of the encoders that are used: ``text``, ``image`` or both."""
    found = {
        "text": (settings.text_encoder, settings.text_revision),
        "image": (settings.image_encoder, settings.image_revision),
    }
    left_out = {"text": "image", "picture": "text"}.get(settings.modality)
    return {kind: encoder for kind, encoder in found.items() if kind != left_out}


def pinned(settings: Settings) -> Settings:
    """The settings with the hub's commits of the encoders that are used."""
    commits: dict[str, Any] = {}
    for kind, (name, revision) in _encoders(settings).items():
        _loaded(transformers.AutoConfig, name, revision)
        commits[f"{kind}_revision"] = models.commit_of(name, revision) or revision
    return replace(settings, **commits)


def _loaded(loader: Any, name: str, revision: str | None, **options: Any) -> Any:
    models.require_checkpoint("figlang_probe", name)
    with models.loading("figlang_probe", "the encoder", name):
        return loader.from_pretrained(
            name, **({"revision": revision} if revision else {}), **options
        )


def _encoder(name: str, revision: str | None, trained: bool) -> Any:
    config = _loaded(transformers.AutoConfig, name, revision)
    if not hasattr(config, "hidden_size"):
        raise FigLangError(
            f"{name} ({config.model_type}) is not an encoder of one kind of input, such as BERT"
            " or ViT"
        )
    if not trained:
        return transformers.AutoModel.from_config(config)
    model, found = _loaded(
        transformers.AutoModel, name, revision, output_loading_info=True, dtype=torch.float32
    )
    # Not used
    found["missing_keys"] = [key for key in found["missing_keys"] if not key.startswith("pooler.")]
    models.require_weights("figlang_probe", name, model, found)
    return model


# --- training ---


class Trained(NamedTuple):
    """What came out of a training."""

    weights: dict[str, Tensor]  # of the best epoch, on the CPU
    # Of each the mean loss, and the macro F1 on the validation rows (0 to 1)
    epochs: list[dict[str, float]]
    best: int  # index of that epoch


def train(
    settings: Settings,
    rows: Sequence[Example],
    validation: Sequence[Example],
    seed: int,
    device: torch.device,
) -> Trained:
    """Train a network, on a CPU the same for the same seed; of equally good epochs the first is
    taken.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = CrossAttention(settings, trained=True).to(device)
        steps = settings.epochs * math.ceil(len(rows) / settings.batch_size)
        optimizer, schedule = _optimizer(settings, network, steps)
        epochs: list[dict[str, float]] = []
        weights: dict[str, Tensor] = {}
        best = 0
        for epoch in (progress := tqdm(range(settings.epochs), f"seed {seed}", unit="epoch")):
            network.train()
            losses = []
            for batch in torch.randperm(len(rows)).split(settings.batch_size):
                loss = _loss(network, [rows[index] for index in batch.tolist()])
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(network.parameters(), settings.max_norm)
                optimizer.step()
                schedule.step()
                losses += [loss.item()] * len(batch)
            found = labels(network, validation, settings.batch_size)
            gold = [example.label for example in validation]
            right = [label == true for true, label in zip(gold, found, strict=True)]
            score = float(
                classification.macro_f1(classification.confusion_cells(gold, right).sum(axis=0))
            )
            epochs.append({"loss": math.fsum(losses) / len(losses), "validation_macro_f1": score})
            progress.set_postfix(epochs[-1])
            if epoch == 0 or score > epochs[best]["validation_macro_f1"]:
                best, weights = epoch, copy.deepcopy(network.state_dict())
    return Trained(
        {name: value.cpu().contiguous() for name, value in weights.items()}, epochs, best
    )


def _optimizer(
    settings: Settings, network: nn.Module, steps: int
) -> tuple[torch.optim.Optimizer, Any]:
    matrices, others = (
        [p for p in network.parameters() if (p.ndim > 1) is wanted] for wanted in (True, False)
    )
    optimizer = torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": others, "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
    )
    return optimizer, transformers.get_linear_schedule_with_warmup(
        optimizer, round(settings.warmup * steps), steps
    )


def _loss(network: CrossAttention, examples: Sequence[Example]) -> Tensor:
    settings, (logits, features) = network.settings, network(examples)
    gold = torch.tensor([example.label for example in examples], device=logits.device)
    loss = functional.cross_entropy(logits, gold)
    if settings.alignment == "contrastive":
        loss = loss + settings.alignment_weight * contrastive_loss(
            features[0], features[1], settings.temperature
        )
    elif settings.alignment == "ot":
        loss = loss + settings.alignment_weight * transport_loss(features[0], features[1])
    return loss


# --- answers ---


def with_weights(settings: Settings, weights: Weights, device: torch.device) -> CrossAttention:
    """A trained network."""
    network = CrossAttention(settings, trained=False)
    network.load_state_dict(dict(weights))
    return network.to(device)


def labels(network: CrossAttention, examples: Sequence[Example], batch_size: int) -> list[int]:
    """The labels, 0 or 1, that a network gives."""
    network.eval()
    found: list[int] = []
    with torch.inference_mode():
        for start in range(0, len(examples), batch_size):
            found += network(examples[start : start + batch_size])[0].argmax(dim=1).tolist()
    return found


class Network:
    """A probe that answers; ``nykms/training.py`` writes its settings."""

    def __init__(self, probe: Probe, weights: Weights, **loading: Any) -> None:
        self._probe, state = probe, Accelerator()
        given, batch_size = loading["device"], str(loading["batch_size"])
        device = torch.device(given) if given and state.num_processes == 1 else state.device
        self._batch_size = 64 if batch_size.startswith("auto") else int(batch_size)
        self.network = with_weights(Settings(**probe.settings["network"]), weights, device)

    def generate_until(self, requests: list[Instance], documents: Mapping[str, Any]) -> list[str]:
        """Answer each request with the word of its label."""
        reads, asks = self._probe.settings["reads"], self._probe.settings["asks"]
        asked = []
        for request in requests:
            _, _, doc_to_visual, number, task, split = request.args
            document = documents[task][split][number]
            if document.get("question") not in asks:
                raise FigLangError(
                    f"figlang_probe: task {task}: the probe was trained for the questions"
                    f" {', '.join(asks)} of {self._probe.trained_on['data']}"
                )
            asked.append(
                (document, Example(document[reads], partial(_first, doc_to_visual, document)))
            )
        self._probe.refuse_seen(seen(document, reads) for document, _ in asked)
        found = labels(self.network, [example for _, example in asked], self._batch_size)
        return [self._probe.settings["answers"][label] for label in found]


def _first(
    doc_to_visual: Callable[[Any], list[Image.Image]], document: Mapping[str, Any]
) -> Image.Image:
    if not (shown := doc_to_visual(document)):
        raise FigLangError(
            "figlang_probe: the probe reads a picture, and this task shows none: run the task"
            " without _text"
        )
    return shown[0]


def seen(document: Mapping[str, Any], reads: str) -> str:
    """What ``Probe.seen`` keeps of a row: its picture's name, and its text."""
    return f"{document['cartoon']}\n{document[reads]}"
