"""The drawings of `figlang_mini`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tools.mini.draw import CONCEPTS, draw

ROOT = Path(__file__).resolve().parents[2]


def _array(image: Image.Image) -> np.ndarray:
    return np.asarray(image, dtype=np.float64)


@pytest.mark.parametrize("concept", CONCEPTS)
def test_same_arguments_same_pixels(concept: str) -> None:
    first = draw(concept, 5, 64)
    assert first.mode == "RGB"
    assert first.size == (64, 64)
    assert first.tobytes() == draw(concept, 5, 64).tobytes()


@pytest.mark.parametrize("concept", CONCEPTS)
def test_seeds_give_different_pictures(concept: str) -> None:
    assert len({draw(concept, seed, 48).tobytes() for seed in range(8)}) == 8


@pytest.mark.parametrize("concept", CONCEPTS)
def test_size_changes_only_the_resolution(concept: str) -> None:
    small = draw(concept, 11, 56)
    large = draw(concept, 11, 224).resize((56, 56), Image.Resampling.BOX)
    assert np.abs(_array(small) - _array(large)).mean() < 8


def test_pixels_do_not_depend_on_the_process() -> None:
    code = (
        "import hashlib; from tools.mini.draw import CONCEPTS, draw;"
        "print(hashlib.sha256(b''.join(draw(c, 3, 32).tobytes() for c in CONCEPTS)).hexdigest())"
    )
    digests = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
        for _ in range(2)
    }
    assert len(digests) == 1


@pytest.mark.slow
def test_pictures_are_told_apart_by_their_shapes() -> None:
    """A picture resembles the mean picture of its own concept more often than chance allows (1 in 24)."""

    def grey(concept: str, seeds: range) -> np.ndarray:
        return np.array([_array(draw(concept, seed, 32).convert("L")).ravel() for seed in seeds])

    means = [grey(concept, range(16)).mean(axis=0) for concept in CONCEPTS]
    hits = []
    for number, concept in enumerate(CONCEPTS):
        scores = np.corrcoef(grey(concept, range(100, 104)), means)[:4, 4:]
        hits += list(scores.argmax(axis=1) == number)
    assert np.mean(hits) > 0.5


@pytest.mark.parametrize("seed", [0, -3, 10**12])
def test_any_integer_is_a_seed(seed: int) -> None:
    assert draw("mule", seed, 16).size == (16, 16)


def test_one_pixel_is_a_size() -> None:
    for concept in CONCEPTS:
        assert draw(concept, 0, 1).size == (1, 1)


def test_errors_name_the_cause() -> None:
    with pytest.raises(ValueError, match="unknown concept 'unicorn'.*mule"):
        draw("unicorn", 0)
    with pytest.raises(ValueError, match="size must be at least 1"):
        draw("mule", 0, 0)
