"""Cross attention on BERT and ViT: losses against independent computations, and training."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from PIL import Image
from scipy.optimize import linprog

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.models import probe_cross_attention as kind
from figlang_tasks.models.cross_attention import (
    CrossAttention,
    Example,
    Settings,
    contrastive_loss,
    transport_loss,
)

WORDS = "the a is warm cold house snail".split()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    text, image = tiny_models.write_towers(tmp_path_factory.mktemp("towers"), WORDS)
    small = {"hidden": 32, "width": 16, "heads": 2, "layers": 2, "epochs": 6, "learning_rate": 5e-3}
    return Settings(text_encoder=text, image_encoder=image, **small)  # type: ignore[arg-type]


def examples(count: int) -> list[Example]:
    """Label 1: a caption with "warm" and a red picture; 0: "cold" and blue."""
    captions = (["the house is cold", "a cold snail"], ["a warm house", "the snail is warm the"])
    colours = ("blue", "red")

    def picture(number: int) -> Image.Image:
        return Image.new("RGB", (20 + number, 30), colours[number % 2])

    rows: list[Example] = []
    for number in range(count):
        label = number % 2
        caption = captions[label][number // 2 % 2]
        rows.append(Example(caption, functools.partial(picture, number), label))
    return rows


@pytest.mark.parametrize("batch", [1, 5])
def test_transport_is_the_optimum_of_the_linear_program(batch: int) -> None:
    """Equations 7 to 11 as they are printed, solved by scipy's linear programming."""
    generator = torch.Generator().manual_seed(batch)
    texts = torch.randn(batch, 6, generator=generator, dtype=torch.float64)
    pictures = torch.randn(batch, 6, generator=generator, dtype=torch.float64)
    costs = np.zeros((batch, batch))
    for row in range(batch):
        for column in range(batch):
            costs[row, column] = float(((texts[row] - pictures[column]) ** 2).sum())
    identity = np.eye(batch)
    row_sums = np.kron(identity, np.ones(batch))
    column_sums = np.kron(np.ones(batch), identity)
    sums = np.vstack([row_sums, column_sums])
    solved = linprog(
        costs.ravel(), A_eq=sums, b_eq=np.full(2 * batch, 1 / batch), bounds=(0, 1 / batch)
    )
    expected = solved.fun / batch**2
    moved = texts.clone().requires_grad_()
    loss = transport_loss(moved, pictures)
    assert float(loss.detach()) == pytest.approx(expected, rel=1e-9)
    loss.backward()
    plan = solved.x.reshape(batch, batch)  # through the costs alone: the plan is a constant
    gradient = 2 * (plan.sum(1)[:, None] * texts.numpy() - plan @ pictures.numpy()) / batch**2
    assert moved.grad is not None
    np.testing.assert_allclose(moved.grad.numpy(), gradient, atol=1e-12)


def test_contrastive_loss_is_the_mean_of_both_directions() -> None:
    generator = np.random.default_rng(1)
    texts, pictures = generator.normal(size=(2, 5, 4))
    unit_texts = texts / np.linalg.norm(texts, axis=1, keepdims=True)
    unit_pictures = pictures / np.linalg.norm(pictures, axis=1, keepdims=True)
    exponents = np.exp(unit_texts @ unit_pictures.T / 0.1)
    matching = np.diag(exponents)
    picture_for_text = np.log(matching / exponents.sum(axis=1)).mean()
    text_for_picture = np.log(matching / exponents.sum(axis=0)).mean()
    loss = contrastive_loss(torch.tensor(texts), torch.tensor(pictures), 0.1)
    assert float(loss) == pytest.approx(-(picture_for_text + text_for_picture) / 2)


@pytest.mark.parametrize(
    ("modality", "alignment"), [("both", "none"), ("both", "contrastive"), ("picture", "none")]
)
def test_training_learns(modality: str, alignment: str, settings: Settings) -> None:
    """`ot` and text alone: tests/benchmarks/nykms/test_training.py."""
    changed_settings = dataclasses.replace(settings, modality=modality, alignment=alignment)
    trained = kind.train(changed_settings, examples(24), examples(8), 0, torch.device("cpu"))
    assert trained.epochs[-1]["loss"] < 0.7 * trained.epochs[0]["loss"]
    macro_f1s = [epoch["validation_macro_f1"] for epoch in trained.epochs]
    assert macro_f1s[trained.best] == 1
    assert trained.best == macro_f1s.index(1.0), "the first of the best"


@pytest.mark.slow
def test_the_seed_decides_the_weights(settings: Settings) -> None:
    two_epochs = dataclasses.replace(settings, alignment="ot", epochs=2)
    cpu = torch.device("cpu")
    first = kind.train(two_epochs, examples(24), examples(8), 0, cpu)
    torch.manual_seed(5)
    again = kind.train(two_epochs, examples(24), examples(8), 0, cpu)
    assert again.epochs == first.epochs
    for name, weight in first.weights.items():
        assert torch.equal(weight, again.weights[name]), name
    of_other_seed = kind.train(two_epochs, examples(24), examples(8), 1, cpu)
    classifier = "classifier.1.weight"
    assert not torch.equal(of_other_seed.weights[classifier], first.weights[classifier])


def test_the_weights_are_those_of_the_best_epoch(settings: Settings) -> None:
    """With wrong labels in validation, the network grows worse there from epoch to epoch."""
    wrong = [example._replace(label=1 - example.label) for example in examples(8)]
    cpu = torch.device("cpu")
    slow_settings = dataclasses.replace(settings, learning_rate=1e-4)
    trained = kind.train(slow_settings, examples(24), wrong, 0, cpu)
    assert trained.epochs[-1]["validation_macro_f1"] == 0
    assert trained.epochs[trained.best]["validation_macro_f1"] > 0
    labels = kind.labels(kind.with_weights(settings, trained.weights, cpu), wrong, 4)
    labels_of_last_epoch = [1 - example.label for example in wrong]
    assert labels != labels_of_last_epoch


@pytest.mark.parametrize("modality", ["both", "text"])
def test_padding_plays_no_part(modality: str, settings: Settings) -> None:
    changed_settings = dataclasses.replace(settings, modality=modality)
    network = CrossAttention(changed_settings, trained=True).eval()
    with torch.inference_mode():
        together = network(examples(4))[0]
        alone = torch.cat([network([example])[0] for example in examples(4)])
    torch.testing.assert_close(together, alone)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"modality": "sound"}, "modality is 'sound'; valid: both, text, picture"),
        ({"alignment": "ot", "modality": "text"}, "alignment=ot needs both text and picture"),
        ({"epochs": 0}, "epochs is 0, must be above 0"),
    ],
)
def test_settings_that_are_not_valid_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FigLangError, match=message):
        Settings(**change)


def test_what_is_no_encoder_is_refused(settings: Settings, tmp_path: Path) -> None:
    clip = str(tiny_models.write_encoder("clip", tmp_path / "clip"))
    with_clip = dataclasses.replace(settings, image_encoder=clip)
    with pytest.raises(FigLangError, match=r"clip \(clip\) is not an encoder of one kind of input"):
        CrossAttention(with_clip, trained=True)
    without_folder = dataclasses.replace(settings, text_encoder=str(tmp_path / "none"))
    with pytest.raises(FigLangError, match="there is no folder"):
        CrossAttention(without_folder, trained=True)
