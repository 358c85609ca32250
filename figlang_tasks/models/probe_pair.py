"""The kind ``pair`` of probes: does the picture show what the text says? (IRFL, arXiv 2303.15445,
section 4.1)

A classifier on top of a dual encoder: the features of text and picture, side by side, through one
hidden layer (none if ``hidden`` is 0) to the logit of a match. Its score is the probability, 0 to
1. It answers score requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from lmms_eval.api.instance import Instance
from PIL import Image
from torch.nn import functional

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import KEY, only_scores_message
from figlang_tasks.models.dual_encoder import Features, FigLangCLIP
from figlang_tasks.models.probe import Probe, Weights

_Floats = npt.NDArray[np.float32]


class Network:
    """A probe with its encoder."""

    def __init__(self, probe: Probe, weights: Weights, **loading: Any) -> None:
        self._probe, self._weights = probe, weights
        self._encoder = FigLangCLIP(
            probe.settings["encoder"], probe.settings["revision"], **loading
        )

    def generate_until(self, requests: list[Instance], documents: Mapping[str, Any]) -> list[str]:
        """Answer score requests."""
        for request in requests:
            if KEY not in request.args[1]:
                raise FigLangError(only_scores_message("figlang_probe", request.args[4]))
        self._encoder.task_dict = documents
        features = self._encoder.features([request.args for request in requests])
        self._probe.refuse_seen(features.seen())
        return answers(features, self._weights)


def features(
    own: FigLangCLIP,
    documents: Sequence[Mapping[str, Any]],
    text: Callable[[Mapping[str, Any]], str],
    pictures: Callable[[Mapping[str, Any]], list[Image.Image]],
) -> Features:
    """The features of each document's text with its pictures."""
    own.task_dict = {"train": {"train": documents}}
    return own.features(
        [
            (text(document), {KEY: {"kind": "match"}}, pictures, number, "train", "train")
            for number, document in enumerate(documents)
        ]
    )


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
    """The weights of a classifier that Adam trained; with 0 hidden units it has one layer."""
    rows = torch.from_numpy(np.concatenate([_side_by_side(*pair) for pair in pairs.pairs()]))
    gold = torch.tensor(labels, dtype=torch.float32)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = new_head(rows.shape[1], hidden).train()
        optimizer = torch.optim.Adam(network.parameters(), lr=learning_rate)
        for _ in range(epochs):
            for batch in torch.randperm(len(rows)).split(batch_size):
                optimizer.zero_grad()
                functional.binary_cross_entropy_with_logits(
                    network(rows[batch])[:, 0], gold[batch]
                ).backward()
                optimizer.step()
    return {name: value.detach().contiguous() for name, value in network.state_dict().items()}


def answers(pairs: Features, weights: Weights) -> list[str]:
    """What a probe with these weights answers."""
    head = _trained(weights)
    return pairs.answers(lambda images, texts: _scores(head, images, texts))


def new_head(width: int, hidden: int) -> torch.nn.Module:
    if not hidden:
        return torch.nn.Sequential(torch.nn.Linear(width, 1))
    return torch.nn.Sequential(
        torch.nn.Linear(width, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, 1)
    )


def _trained(weights: Weights) -> torch.nn.Module:
    hidden, width = weights["0.weight"].shape
    head = new_head(width, hidden if "2.weight" in weights else 0)
    head.load_state_dict(dict(weights))
    return head


def _side_by_side(images: _Floats, texts: _Floats) -> _Floats:
    """Text and picture of each pair, float32 [n, 2 x width]."""
    count = max(len(images), len(texts))
    return np.concatenate(
        [np.broadcast_to(part, (count, part.shape[1])) for part in (texts, images)], axis=1
    )


def _scores(head: torch.nn.Module, images: _Floats, texts: _Floats) -> list[float]:
    """Probabilities of a match; in float64, so that the best of several sure ones can still be told
    apart.
    """
    with torch.inference_mode():
        logits = head(torch.from_numpy(_side_by_side(images, texts)))[:, 0]
    return logits.double().sigmoid().tolist()
