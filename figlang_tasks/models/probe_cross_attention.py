"""The kind ``cross_attention`` of probes: NYK-MS's trained baselines (`cross_attention`).

It answers tasks that ask for words, with the word of the label. Here are its training and its
answers; the network is in `figlang_tasks.models.cross_attention`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import torch
import transformers
from accelerate import Accelerator
from lmms_eval.api.instance import Instance
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional
from tqdm import tqdm

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics import classification
from figlang_tasks.models.checkpoints import commit_of
from figlang_tasks.models.cross_attention import (
    CrossAttention,
    Example,
    Settings,
    contrastive_loss,
    encoders_of,
    load_part,
    transport_loss,
)
from figlang_tasks.models.probe import DocumentsByTask, Probe, Weights
from figlang_tasks.models.requests import Document, SimpleArguments

AUTO_BATCH = 64
"""Examples of a batch of answers with ``--batch_size auto``."""


def pinned(settings: Settings) -> Settings:
    """The settings with the hub's commit as the revision of each encoder that is used.

    A folder has no commit: it keeps its revision.
    """
    commits: dict[str, str | None] = {}
    for encoder_input, encoder in encoders_of(settings).items():
        # This brings the file into the hub's cache, whose folders are named after commits.
        load_part(transformers.AutoConfig, encoder)
        commit = commit_of(encoder.name, encoder.revision)
        # the field text_revision or image_revision of the settings
        commits[f"{encoder_input}_revision"] = commit or encoder.revision
    return replace(settings, **commits)  # type: ignore[arg-type]


# --- training ---


class Trained(NamedTuple):
    """What came out of a training.

    Attributes:
        weights: of the best epoch, on the CPU, by name.
        epochs: of each epoch the mean ``loss``, and the macro F1 on the validation rows, 0 to 1
            (``validation_macro_f1``).
        best: the index of the best epoch.
    """

    weights: dict[str, Tensor]
    epochs: list[dict[str, float]]
    best: int


def train(
    settings: Settings,
    rows: Sequence[Example],
    validation: Sequence[Example],
    seed: int,
    device: torch.device,
) -> Trained:
    """Train a network; return the weights of the epoch that is best on the validation rows.

    Best is the highest macro F1, and of several such epochs the first. On a CPU, the same seed
    gives the same weights. The state of torch's generators stays as it is.

    Args:
        settings: of the network and its training.
        rows: what it is trained on.
        validation: the validation rows.
        seed: seeds weights and batches.
        device: where it is trained.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = CrossAttention(settings, trained=True).to(device)
        steps = settings.epochs * math.ceil(len(rows) / settings.batch_size)
        optimizer = _optimizer(settings, network)
        schedule = transformers.get_linear_schedule_with_warmup(
            optimizer, round(settings.warmup * steps), steps
        )
        epochs: list[dict[str, float]] = []
        best_weights: dict[str, Tensor] = {}
        best = 0
        progress = tqdm(range(settings.epochs), f"seed {seed}", unit="epoch")
        for epoch in progress:
            loss = _train_epoch(network, rows, optimizer, schedule)
            score = _macro_f1(network, validation)
            epochs.append({"loss": loss, "validation_macro_f1": score})
            progress.set_postfix(epochs[-1])
            if epoch == 0 or score > epochs[best]["validation_macro_f1"]:
                best = epoch
                best_weights = copy.deepcopy(network.state_dict())
    weights = {name: weight.cpu().contiguous() for name, weight in best_weights.items()}
    return Trained(weights, epochs, best)


def _train_epoch(
    network: CrossAttention,
    rows: Sequence[Example],
    optimizer: torch.optim.Optimizer,
    schedule: torch.optim.lr_scheduler.LRScheduler,
) -> float:
    """Train on all rows once, in a random order; return their mean loss."""
    settings = network.settings
    network.train()
    losses: list[float] = []
    for batch in torch.randperm(len(rows)).split(settings.batch_size):
        loss = _loss(network, [rows[index] for index in batch.tolist()])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), settings.max_norm)
        optimizer.step()
        schedule.step()
        losses += [loss.item()] * len(batch)  # once for each row of the batch
    return math.fsum(losses) / len(losses)


def _macro_f1(network: CrossAttention, examples: Sequence[Example]) -> float:
    """The macro F1 of a network's labels, 0 to 1."""
    predicted = labels(network, examples, network.settings.batch_size)
    gold = [example.label for example in examples]
    is_right = [label == true for label, true in zip(predicted, gold, strict=True)]
    cells = classification.confusion_cells(gold, is_right)
    counts = cells.sum(axis=0)  # of true and false negatives and positives: tn, fp, fn, tp
    return float(classification.macro_f1(counts))


def _optimizer(settings: Settings, network: nn.Module) -> torch.optim.Optimizer:
    """AdamW with weight decay for matrices, and none for biases and norms, which are vectors."""
    matrices = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": settings.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=settings.learning_rate,
    )


def _loss(network: CrossAttention, examples: Sequence[Example]) -> Tensor:
    """The loss of the labels of a batch, plus the weighted alignment loss if there is one."""
    settings = network.settings
    logits, features = network(examples)
    gold = torch.tensor([example.label for example in examples], device=logits.device)
    loss = functional.cross_entropy(logits, gold)
    if settings.alignment == "none":
        return loss
    texts, pictures = features  # both are there: `Settings` lets only such networks align
    if settings.alignment == "contrastive":
        alignment_loss = contrastive_loss(texts, pictures, settings.temperature)
    else:
        alignment_loss = transport_loss(texts, pictures)
    return loss + settings.alignment_weight * alignment_loss


# --- answers ---


def with_weights(settings: Settings, weights: Weights, device: torch.device) -> CrossAttention:
    """The network that has these weights."""
    network = CrossAttention(settings, trained=False)
    network.load_state_dict(dict(weights))
    return network.to(device)


def labels(network: CrossAttention, examples: Sequence[Example], batch_size: int) -> list[int]:
    """The label, 0 or 1, that a network gives each example, without dropout."""
    network.eval()
    predicted: list[int] = []
    with torch.inference_mode():
        for start in range(0, len(examples), batch_size):
            logits, _ = network(examples[start : start + batch_size])
            predicted += logits.argmax(dim=1).tolist()
    return predicted


class Network:
    """A probe that answers; ``nykms/training.py`` writes its settings."""

    def __init__(
        self, probe: Probe, weights: Weights, *, device: str | None, batch_size: int | str
    ) -> None:
        self._probe = probe
        state = Accelerator()
        network_device = state.device
        if device and state.num_processes == 1:  # of several processes each has its own device
            network_device = torch.device(device)
        is_auto = str(batch_size).startswith("auto")
        self._batch_size = AUTO_BATCH if is_auto else int(str(batch_size))
        self.network = with_weights(Settings(**probe.settings["network"]), weights, network_device)

    def generate_until(self, requests: list[Instance], documents: DocumentsByTask) -> list[str]:
        """Answer each request with the word of its label.

        Raises:
            FigLangError: a task asks another question than the probe was trained for, or about its
                training data.
        """
        # Besides "network", the settings of a probe of this kind hold "reads", the column of the
        # text ("caption"); "asks", the questions; and "answers", the words of the labels 0 and 1.
        column: str = self._probe.settings["reads"]
        examples: list[Example] = []
        training_keys: list[str] = []
        for request in requests:
            arguments = SimpleArguments.of(request)
            document = documents[arguments.task][arguments.split][arguments.doc_id]
            self._require_question(arguments.task, document)
            picture = partial(_first_picture, arguments.doc_to_visual, document)
            examples.append(Example(document[column], picture))
            training_keys.append(training_key(document, column))
        self._probe.refuse_seen(training_keys)
        answer_words: Sequence[str] = self._probe.settings["answers"]
        predicted = labels(self.network, examples, self._batch_size)
        return [answer_words[label] for label in predicted]

    def _require_question(self, task: str, document: Document) -> None:
        """Refuse a task that asks another question than the probe was trained for."""
        questions: Sequence[str] = self._probe.settings["asks"]
        if document.get("question") not in questions:
            raise FigLangError(
                f"figlang_probe: task {task}: the probe was trained for the questions"
                f" {', '.join(questions)} of {self._probe.trained_on['data']}"
            )


def _first_picture(
    doc_to_visual: Callable[[Document], Sequence[Image.Image] | None], document: Document
) -> Image.Image:
    """The first picture that a task shows with a document; a task without one is refused."""
    pictures = doc_to_visual(document)
    if not pictures:
        raise FigLangError(
            "figlang_probe: the probe reads a picture, and this task shows none: run the task"
            " without _text"
        )
    return pictures[0]


def training_key(document: Document, reads: str) -> str:
    """What identifies a row in ``Probe.seen``: its picture's name, a line break and its text."""
    return f"{document['cartoon']}\n{document[reads]}"
