"""Cross attention on BERT and ViT: the losses against independent computations, and what training
gives.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_encoders
import torch
from PIL import Image
from scipy.optimize import linprog

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.models import probe_cross_attention as kind
from figlang_tasks.models.cross_attention import (
    Example,
    Settings,
    contrastive_loss,
    transport_loss,
)

WORDS = "the a is warm cold house snail".split()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    text, image = tiny_encoders.write_towers(tmp_path_factory.mktemp("towers"), WORDS)
    small = {"hidden": 32, "width": 16, "heads": 2, "layers": 2, "epochs": 6, "learning_rate": 5e-3}
    return Settings(text_encoder=text, image_encoder=image, **small)  # type: ignore[arg-type]


def examples(count: int) -> list[Example]:
    """Label 1: a caption with "warm" and a red picture; 0: "cold" and blue."""
    captions = (["the house is cold", "a cold snail"], ["a warm house", "the snail is warm the"])
    colours = ("blue", "red")

    def picture(number: int) -> Callable[[], Image.Image]:
        return lambda: Image.new("RGB", (20 + number, 30), colours[number % 2])

    return [Example(captions[n % 2][n // 2 % 2], picture(n), n % 2) for n in range(count)]


@pytest.mark.parametrize("batch", [1, 5])
def test_transport_is_the_optimum_of_the_linear_program(batch: int) -> None:
    """Equations 7 to 11 as they are printed, solved by scipy's linear programming."""
    generator = torch.Generator().manual_seed(batch)
    texts, pictures = (
        torch.randn(batch, 6, generator=generator, dtype=torch.float64) for _ in range(2)
    )
    costs = np.array([[float(((t - i) ** 2).sum()) for i in pictures] for t in texts])
    each = np.eye(batch)
    sums = np.vstack([np.kron(each, np.ones(batch)), np.kron(np.ones(batch), each)])
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
    unit = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (texts, pictures)]
    exponents = np.exp(unit[0] @ unit[1].T / 0.1)
    own = np.diag(exponents)
    expected = (
        -(np.log(own / exponents.sum(axis=1)).mean() + np.log(own / exponents.sum(axis=0)).mean())
        / 2
    )
    assert float(
        contrastive_loss(torch.tensor(texts), torch.tensor(pictures), 0.1)
    ) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("modality", "alignment"), [("both", "none"), ("both", "contrastive"), ("picture", "none")]
)
def test_training_learns(modality: str, alignment: str, settings: Settings) -> None:
    """`ot` and text alone: tests/benchmarks/nykms/test_training.py."""
    asked = dataclasses.replace(settings, modality=modality, alignment=alignment)
    found = kind.train(asked, examples(24), examples(8), 0, torch.device("cpu"))
    assert found.epochs[-1]["loss"] < 0.7 * found.epochs[0]["loss"]
    assert found.epochs[found.best]["validation_macro_f1"] == 1
    assert found.best == [each["validation_macro_f1"] for each in found.epochs].index(1.0), (
        "the first of the best"
    )


@pytest.mark.slow
def test_the_seed_decides_the_weights(settings: Settings) -> None:
    asked = dataclasses.replace(settings, alignment="ot", epochs=2)
    cpu = torch.device("cpu")
    first = kind.train(asked, examples(24), examples(8), 0, cpu)
    torch.manual_seed(5)
    again = kind.train(asked, examples(24), examples(8), 0, cpu)
    assert again.epochs == first.epochs
    assert all(torch.equal(value, again.weights[name]) for name, value in first.weights.items())
    other = kind.train(asked, examples(24), examples(8), 1, cpu)
    assert not torch.equal(
        other.weights["classifier.1.weight"], first.weights["classifier.1.weight"]
    )


def test_the_weights_are_those_of_the_best_epoch(settings: Settings) -> None:
    """With wrong labels in validation the network grows worse there: the last epoch is not the
    best.
    """
    wrong = [example._replace(label=1 - example.label) for example in examples(8)]
    cpu = torch.device("cpu")
    found = kind.train(
        dataclasses.replace(settings, learning_rate=1e-4), examples(24), wrong, 0, cpu
    )
    assert (
        found.epochs[-1]["validation_macro_f1"]
        == 0
        < found.epochs[found.best]["validation_macro_f1"]
    )
    labels = kind.labels(kind.with_weights(settings, found.weights, cpu), wrong, 4)
    assert labels != [1 - each.label for each in wrong], "as the last epoch has them"


@pytest.mark.parametrize("modality", ["both", "text"])
def test_padding_plays_no_part(modality: str, settings: Settings) -> None:
    asked = dataclasses.replace(settings, modality=modality)
    network = kind.CrossAttention(asked, trained=True).eval()
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
def test_settings_that_are_not_valid(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FigLangError, match=message):
        Settings(**change)


def test_what_is_no_encoder_is_refused(settings: Settings, tmp_path: Path) -> None:
    clip = str(tiny_encoders.write("clip", tmp_path / "clip"))
    with pytest.raises(FigLangError, match=r"clip \(clip\) is not an encoder of one kind of input"):
        kind.CrossAttention(dataclasses.replace(settings, image_encoder=clip), trained=True)
    with pytest.raises(FigLangError, match="there is no folder"):
        kind.CrossAttention(
            dataclasses.replace(settings, text_encoder=str(tmp_path / "none")), trained=True
        )
