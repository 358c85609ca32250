"""FID, CLIP similarity or the shares of preference of MetaCLUE are wrong if this fails."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_models
import torch
from PIL import Image

from figlang_tasks.metrics import generated_images as module
from figlang_tasks.metrics.explanation.weights import Weights, locate
from figlang_tasks.metrics.generated_images import (
    ImageMetricError,
    clip_similarity,
    fid,
    fid_signature,
    inception_features,
    preference_shares,
)

# --- FID ---


def test_fid_of_features_of_known_distance(capfd: pytest.CaptureFixture[str]) -> None:
    """A shift adds its square.

    Twice the features have four times the covariance S: S + 4 S - 2 * 2 S is S.
    """
    pytest.importorskip("torch_fidelity")
    real = np.random.default_rng(0).normal(1, size=(300, 4))
    shift = np.array([1, -2, 0, 0])
    assert fid(real, real[::-1] + shift) == pytest.approx(5, abs=1e-5)
    expected = float(np.square(real.mean(axis=0)).sum() + np.trace(np.cov(real, rowvar=False)))
    assert fid(real, 2 * real) == pytest.approx(expected, rel=1e-5)
    assert capfd.readouterr() == ("", ""), "the library prints its progress by default"
    library = version("torch-fidelity")
    assert (
        fid_signature(300)
        == f"fid|features:inception-v3-compat-2048|images:300|torch-fidelity:{library}"
    )


def test_too_few_images_or_no_library_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImageMetricError, match=r"FID of 299 images is refused: it takes 300$"):
        fid(np.zeros((500, 20)), np.zeros((299, 20)))
    damaged = np.zeros((300, 2))
    damaged[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"features of generated\[7\] are not finite"):
        fid(np.zeros((300, 2)), damaged)
    for name in [
        "torch_fidelity",
        *(name for name in sys.modules if name.startswith("torch_fidelity.")),
    ]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImageMetricError, match=r"pip install 'figlang-tasks\[generation\]'"):
        fid(np.zeros((300, 2)), np.zeros((300, 2)))
    with pytest.raises(ImageMetricError, match=r"pip install 'figlang-tasks\[generation\]'"):
        inception_features([])


@pytest.fixture(scope="module")
def random_inception(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights of the right shapes that mean nothing.

    The network's class does not build without a file.
    """
    package = pytest.importorskip("torch_fidelity")
    path = tmp_path_factory.mktemp("inception") / module.INCEPTION_FILE
    network_class = package.FeatureExtractorInceptionV3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network_class, "load_state_dict", lambda self, state: None)
        torch.manual_seed(0)
        torch.save({}, path)
        network = network_class(
            "inception-v3-compat", ["2048"], feature_extractor_weights_path=str(path)
        )
    torch.save(network.state_dict(), path)
    return path


def picture(seed: int, size: tuple[int, int] = (40, 30)) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(
        0, 256, size=(size[1], size[0], 3), dtype=np.uint8
    )
    return Image.fromarray(pixels)


SIZES = [(40, 30), (64, 20), (40, 30)]


@pytest.fixture(scope="module")
def features_of_three(random_inception: Path) -> np.ndarray:
    """Features of three pictures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_WEIGHTS_DIR", str(random_inception.parent))
        return inception_features(map(picture, range(3), SIZES))


def test_features_equal_those_of_the_library(
    random_inception: Path, features_of_three: np.ndarray, tmp_path: Path
) -> None:
    utils = pytest.importorskip("torch_fidelity.utils")
    for seed in range(3):
        picture(seed, SIZES[seed]).save(tmp_path / f"{seed}.png")
    quiet: dict[str, Any] = {"cuda": False, "verbose": False, "batch_size": 1}
    extractor = utils.create_feature_extractor(
        "inception-v3-compat",
        ["2048"],
        feature_extractor_weights_path=str(random_inception),
        **quiet,
    )
    expected = utils.extract_featuresdict_from_input_id_cached(
        1, extractor, input1=str(tmp_path), cache=False, save_cpu_ram=True, **quiet
    )["2048"].numpy()
    assert np.ptp(expected, axis=0).max() > 0
    np.testing.assert_allclose(
        features_of_three, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max()
    )


def test_weights_are_downloaded_once_and_damaged_ones_are_refused(
    random_inception: Path,
    features_of_three: np.ndarray,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path / "own"))  # which does not hold them
    monkeypatch.setattr(module, "INCEPTION_URL", "file:///nowhere/at/all.pth")
    with pytest.raises(
        ImageMetricError, match=r"cannot be read \(URLError.* put it into \$FIGLANG_WEIGHTS_DIR"
    ):
        inception_features([picture(0)])
    monkeypatch.setattr(module, "INCEPTION_URL", random_inception.as_uri())
    digest = hashlib.sha256(random_inception.read_bytes()).hexdigest()
    monkeypatch.setattr(module, "INCEPTION_SHA256", digest[:8])
    capfd.readouterr()
    assert np.array_equal(inception_features([picture(0)]), features_of_three[:1])
    assert "%" not in capfd.readouterr().err, "no progress bar"
    monkeypatch.setattr(module, "INCEPTION_URL", "file:///nowhere/at/all.pth")
    assert np.array_equal(inception_features([picture(0)]), features_of_three[:1])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / module.INCEPTION_FILE).write_bytes(b"no weights")
    with pytest.raises(ImageMetricError, match=rf"cannot be read \(.*Remove {tmp_path}/own"):
        inception_features([picture(0)])


# --- CLIP similarity ---


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.write_encoder("clip", tmp_path_factory.mktemp("weights") / "tiny-clip")


PICTURES = [picture(seed, (50, 36)) for seed in range(5)]
TEXTS = ["love is sweet", "a stone", "fire and ice and the sea", "\ud800 stone", "word " * 60]


def test_clip_similarity_equals_the_cosine_of_the_two_towers(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import transformers

    network = transformers.CLIPModel.from_pretrained(clip).eval()
    processor = transformers.CLIPProcessor.from_pretrained(clip)
    expected = []
    with torch.inference_mode():
        for image, text in zip(PICTURES, TEXTS, strict=True):
            pixels = processor(images=image, return_tensors="pt")
            tokens = processor(
                text=text.replace("\ud800", "\ufffd"), return_tensors="pt", truncation=True
            )
            image_vector = network.visual_projection(network.vision_model(**pixels).pooler_output)
            text_vector = network.text_projection(network.text_model(**tokens).pooler_output)
            cosine = torch.nn.functional.cosine_similarity(image_vector[0], text_vector[0], dim=0)
            expected.append(100 * float(cosine))
    monkeypatch.setattr(module, "BATCH", 2)
    similarity = clip_similarity(PICTURES, TEXTS, str(clip))
    assert similarity.per_image == pytest.approx(expected, abs=1e-3)
    assert similarity.value == pytest.approx(sum(expected) / 5, abs=1e-3)
    assert np.ptp(similarity.per_image) > 1
    identity = locate(Weights(str(clip))).identity
    assert similarity.signature == f"clip|{identity}|transformers:{transformers.__version__}"
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(clip.parent))
    assert clip_similarity(PICTURES, TEXTS, "somebody/tiny-clip").signature == similarity.signature


def test_a_model_that_is_no_clip_or_not_there_is_refused(
    clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIGLANG_WEIGHTS_DIR", raising=False)
    folder = shutil.copytree(clip, tmp_path / "copy")
    (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(ImageMetricError, match="type bert, not clip"):
        clip_similarity(PICTURES, TEXTS, str(folder))
    (folder / "config.json").write_text((clip / "config.json").read_text())
    (folder / "preprocessor_config.json").unlink(missing_ok=True)
    (folder / "processor_config.json").unlink(missing_ok=True)
    with pytest.raises(ImageMetricError, match="copy cannot be used: "):
        clip_similarity(PICTURES, TEXTS, str(folder))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(
        ImageMetricError, match=r"somebody/none cannot be used: .* into \$FIGLANG_WEIGHTS_DIR/none"
    ):
        clip_similarity(PICTURES, TEXTS, "somebody/none")


# --- preference ---


def test_five_of_seven_ratings_decide() -> None:
    assert preference_shares(range(8)) == (37.5, 25.0, 37.5)


@pytest.mark.parametrize("ratings", [[], [8], [3, -1]])
def test_numbers_of_ratings_that_are_none_are_refused(ratings: list[int]) -> None:
    with pytest.raises(ValueError, match="numbers from 0 to 7"):
        preference_shares(ratings)
