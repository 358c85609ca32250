"""The kind ``pair`` of probes: does the picture show what the text says?

IRFL's trained system (arXiv 2303.15445, section 4.1): a classifier on top of a dual encoder: the
features of text and picture, side by side, through one hidden layer (none if ``hidden`` is 0) to
the logit of a match. Its score is the probability, 0 to 1. It answers score requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from lmms_eval.api.instance import Instance
from PIL import Image
from torch.nn import functional

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import KEY, only_scores_message
from figlang_tasks.models.dual_encoder import Features, FigLangCLIP
from figlang_tasks.models.dual_networks import Floats
from figlang_tasks.models.probe import DocumentsByTask, Probe, Weights
from figlang_tasks.models.requests import Document, SimpleArguments


class Network:
    """A probe with its encoder."""

    def __init__(
        self, probe: Probe, weights: Weights, *, device: str | None, batch_size: int | str
    ) -> None:
        self._probe = probe
        self._weights = weights
        self._encoder = FigLangCLIP(
            probe.settings["encoder"],
            probe.settings["revision"],
            device=device,
            batch_size=batch_size,
        )

    def generate_until(self, requests: list[Instance], documents: DocumentsByTask) -> list[str]:
        """Answer score requests, in their order; requests for words are refused."""
        arguments_of_requests = [SimpleArguments.of(request) for request in requests]
        for arguments in arguments_of_requests:
            if KEY not in arguments.generation_kwargs:
                raise FigLangError(only_scores_message("figlang_probe", arguments.task))
        # The encoder finds documents as lmms-eval's models do.
        self._encoder.task_dict = documents
        features = self._encoder.features(arguments_of_requests)
        self._probe.refuse_seen(features.all_keys())
        return answers(features, self._weights)


def features(
    encoder: FigLangCLIP,
    documents: Sequence[Document],
    text_of: Callable[[Document], str],
    pictures_of: Callable[[Document], Sequence[Image.Image]],
) -> Features:
    """The features of each document's text with its pictures, in the order of the documents.

    Args:
        encoder: the dual encoder.
        documents: training data.
        text_of: gives a document's text.
        pictures_of: gives its pictures.
    """
    # The encoder is asked as lmms-eval asks it: here of a task "train" with one split, "train".
    encoder.task_dict = {"train": {"train": documents}}
    match_request: Mapping[str, object] = {KEY: {"kind": "match"}}
    requests: list[SimpleArguments] = []
    for number, document in enumerate(documents):
        request = SimpleArguments(
            context=text_of(document),
            generation_kwargs=match_request,
            doc_to_visual=pictures_of,
            doc_id=number,
            task="train",
            split="train",
        )
        requests.append(request)
    return encoder.features(requests)


def train(
    pairs: Features,
    labels: Sequence[bool],
    hidden: int,
    *,
    seed: int,
    epochs: int,
    batch_size: int,
    learning_rate: float,
) -> dict[str, torch.Tensor]:
    """Train a classifier of pairs by Adam; return its weights, by name.

    Args:
        pairs: features of one text and one picture each.
        labels: whether each pair matches.
        hidden: units of the hidden layer; 0 for none.
        seed: seeds weights and batches; the state of torch's generator stays as it is.
        epochs, batch_size, learning_rate: of Adam.
    """
    rows_of_pairs = [_side_by_side(images, texts) for images, texts in pairs.pairs()]
    rows = torch.from_numpy(np.concatenate(rows_of_pairs))
    gold_labels = torch.tensor(labels, dtype=torch.float32)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = new_head(rows.shape[1], hidden).train()
        optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
        for _ in range(epochs):
            for batch in torch.randperm(len(rows)).split(batch_size):
                optimizer.zero_grad()
                logits = network(rows[batch])[:, 0]
                batch_labels = gold_labels[batch]
                loss = functional.binary_cross_entropy_with_logits(logits, batch_labels)
                loss.backward()
                optimizer.step()
    weights: dict[str, torch.Tensor] = {}
    for name, weight in network.state_dict().items():
        weights[name] = weight.detach().contiguous()
    return weights


def answers(pairs: Features, weights: Weights) -> list[str]:
    """The answer of a probe with these weights to each request: the scores of its pairs."""
    head = _trained_head(weights)

    def score(images: Floats, texts: Floats) -> list[float]:
        """The probabilities that images and texts match."""
        return _scores(head, images, texts)

    return pairs.answers(score)


def new_head(width: int, hidden: int) -> torch.nn.Module:
    """A classifier with random weights: rows [n, width] to logits of a match [n, 1].

    Args:
        width: of text and picture side by side.
        hidden: units of the hidden layer; 0 for none.
    """
    if not hidden:
        return torch.nn.Sequential(torch.nn.Linear(width, 1))
    return torch.nn.Sequential(
        torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
    )


def _trained_head(weights: Weights) -> torch.nn.Module:
    """The classifier that has these weights.

    Its form is read from them: the layers are 0 (linear), 1 (ReLU, without weights) and 2 (linear),
    or 0 alone if there is no hidden layer.
    """
    units, width = weights["0.weight"].shape
    has_hidden_layer = "2.weight" in weights
    head = new_head(width, units if has_hidden_layer else 0)
    head.load_state_dict(dict(weights))
    return head


def _side_by_side(images: Floats, texts: Floats) -> Floats:
    """Text and picture of each pair, float32 [n, 2 x width].

    One of them may be a single row, which then goes with each row of the other.
    """
    count = max(len(images), len(texts))
    text_rows = np.broadcast_to(texts, (count, texts.shape[1]))
    image_rows = np.broadcast_to(images, (count, images.shape[1]))
    return np.concatenate([text_rows, image_rows], axis=1)


def _scores(head: torch.nn.Module, images: Floats, texts: Floats) -> list[float]:
    """The probabilities that images and texts match, one for each pair.

    In float64, so that several that are nearly 1 can still be told apart.
    """
    with torch.inference_mode():
        logits = head(torch.from_numpy(_side_by_side(images, texts)))[:, 0]
    return logits.double().sigmoid().tolist()
