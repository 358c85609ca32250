"""FID, CLIP similarity or the shares of preference of MetaCLUE are wrong, or weights do harm, if this fails."""

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
import tiny_encoders
import torch
import warm
from hub_server import HubServer
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import load_file, save_file

from figlang_tasks.metrics import generated_images as module
from figlang_tasks.metrics.generated_images import (
    ImageMetricError,
    PreferenceShares,
    Side,
    clip_similarity,
    fid,
    fid_signature,
    inception_features,
    preference_shares,
)

# --- FID --------------------------------------------------------------------------------------------------------------


def frechet(a: np.ndarray, b: np.ndarray) -> float:
    """The distance by scipy's matrix root of the symmetric form, which shares nothing with the library's way."""
    from scipy.linalg import sqrtm

    root = np.real(sqrtm(np.cov(a, rowvar=False)))
    middle = np.real(sqrtm(root @ np.cov(b, rowvar=False) @ root))
    difference = a.mean(axis=0) - b.mean(axis=0)
    return float(difference @ difference + np.trace(np.cov(a, rowvar=False) + np.cov(b, rowvar=False) - 2 * middle))


def features(rng: np.random.Generator, count: int, width: int) -> np.ndarray:
    return rng.normal(size=(count, width)) @ rng.normal(size=(width, width)) + rng.normal(size=width)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(0, 40), st.integers(0, 40))
@settings(max_examples=20)
def test_fid_equals_the_matrix_root(seed: int, width: int, more_real: int, more_generated: int) -> None:
    pytest.importorskip("torch_fidelity")
    rng = np.random.default_rng(seed)
    real, generated = features(rng, 300 + more_real, width), features(rng, 300 + more_generated, width)
    assert fid(real, generated) == pytest.approx(frechet(real, generated), rel=1e-5, abs=1e-5)


def test_fid_of_equal_sets_is_zero(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch_fidelity")
    real = features(np.random.default_rng(0), 300, 8)
    assert fid(real, real[::-1]) == pytest.approx(0, abs=1e-6)
    assert capfd.readouterr() == ("", ""), "the library tells its progress unless told not to"
    assert fid(real, real + 3) == pytest.approx(8 * 9, rel=1e-6)


def test_fid_of_fewer_images_than_the_papers_is_refused() -> None:
    with pytest.raises(ImageMetricError, match="FID of 299 images is refused: it takes 300$"):
        fid(np.zeros((500, 20)), np.zeros((299, 20)))


def test_signature_of_fid() -> None:
    library = version("torch-fidelity")
    assert fid_signature(300) == f"fid|features:inception-v3-compat-2048|images:300|torch-fidelity:{library}"


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the package is installed or not."""
    for name in ["torch_fidelity", *(name for name in sys.modules if name.startswith("torch_fidelity."))]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImageMetricError, match=r"pip install 'figlang-tasks\[generation\]'"):
        fid(np.zeros((300, 2)), np.zeros((300, 2)))
    with pytest.raises(ImageMetricError, match=r"pip install 'figlang-tasks\[generation\]'"):
        inception_features([])


@pytest.fixture(scope="module")
def random_inception(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights of the right shapes that mean nothing; the network's class does not build without a file."""
    package = pytest.importorskip("torch_fidelity")
    path = tmp_path_factory.mktemp("inception") / "random.pth"
    network_class = package.FeatureExtractorInceptionV3
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network_class, "load_state_dict", lambda self, state: None)
        torch.manual_seed(0)
        torch.save({}, path)
        network = network_class("inception-v3-compat", ["2048"], feature_extractor_weights_path=str(path))
    torch.save(network.state_dict(), path)
    return path


def picture(seed: int, size: tuple[int, int] = (40, 30)) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 256, size=(size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


@pytest.fixture(scope="module")
def of_three(random_inception: Path) -> np.ndarray:
    """Features of three pictures."""
    return inception_features(map(picture, range(3)), weights=random_inception)


@pytest.mark.slow
def test_inception_features(random_inception: Path, of_three: np.ndarray) -> None:
    pictures = [picture(1, (64, 20)), picture(2).convert("L"), picture(0)]
    found = inception_features(pictures, weights=random_inception)
    assert found.shape == of_three.shape == (3, 2048)
    assert found.dtype == np.float32
    assert np.array_equal(found[2], of_three[0])
    assert not np.allclose(found[0], of_three[1])


def test_features_equal_those_of_the_library(random_inception: Path, of_three: np.ndarray, tmp_path: Path) -> None:
    utils = pytest.importorskip("torch_fidelity.utils")
    for seed in range(3):
        picture(seed).save(tmp_path / f"{seed}.png")
    quiet: dict[str, Any] = {"cuda": False, "verbose": False}
    extractor = utils.create_feature_extractor(
        "inception-v3-compat", ["2048"], feature_extractor_weights_path=str(random_inception), **quiet
    )
    expected = utils.extract_featuresdict_from_input_id_cached(
        1, extractor, input1=str(tmp_path), cache=False, save_cpu_ram=True, **quiet
    )["2048"].numpy()
    assert np.ptp(expected, axis=0).max() > 0
    np.testing.assert_allclose(of_three, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_damaged_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch_fidelity")
    bad = tmp_path / module.INCEPTION_FILE
    bad.write_bytes(b"no weights")
    with pytest.raises(ImageMetricError, match=r"cannot be read \("):
        inception_features([picture(0)], weights=bad)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    with pytest.raises(ImageMetricError, match=r"cannot be read \("):
        inception_features([picture(0)])


def test_weights_that_cannot_be_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch_fidelity")
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.delenv("FIGLANG_WEIGHTS_DIR", raising=False)
    monkeypatch.setattr(module, "INCEPTION_URL", "file:///nowhere/at/all.pth")
    for _ in range(2):
        with pytest.raises(ImageMetricError, match=r"cannot be downloaded .* put it into \$FIGLANG_WEIGHTS_DIR"):
            inception_features([picture(0)])
        monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))  # which does not hold them


@pytest.mark.slow
def test_weights_are_downloaded_once(
    random_inception: Path,
    of_three: np.ndarray,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.delenv("FIGLANG_WEIGHTS_DIR", raising=False)
    monkeypatch.setattr(module, "INCEPTION_URL", random_inception.as_uri())
    digest = hashlib.sha256(random_inception.read_bytes()).hexdigest()
    monkeypatch.setattr(module, "_INCEPTION_SHA256", digest[:8])
    capfd.readouterr()
    assert np.array_equal(inception_features([picture(0)]), of_three[:1])
    assert "%" not in capfd.readouterr().err, "no progress bar"
    monkeypatch.setattr(module, "INCEPTION_URL", "file:///nowhere/at/all.pth")
    assert np.array_equal(inception_features([picture(0)]), of_three[:1])


# --- CLIP similarity --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoders.write("clip", tmp_path_factory.mktemp("weights") / "tiny-clip")


PICTURES = [picture(seed, (50, 36)) for seed in range(5)]
TEXTS = ["love is sweet", "a stone", "fire and ice and the sea", "A stone", "word " * 60]


def test_clip_similarity_equals_the_cosine_of_the_two_towers(clip: Path) -> None:
    import transformers

    network = transformers.CLIPModel.from_pretrained(clip).eval()
    processor = transformers.CLIPProcessor.from_pretrained(clip)
    expected = []
    with torch.inference_mode():
        for image, text in zip(PICTURES, TEXTS, strict=True):
            pixels = processor(images=image, return_tensors="pt")
            tokens = processor(text=text, return_tensors="pt", truncation=True)
            seen = network.visual_projection(network.vision_model(**pixels).pooler_output)[0]
            read = network.text_projection(network.text_model(**tokens).pooler_output)[0]
            expected.append(100 * float(torch.nn.functional.cosine_similarity(seen, read, dim=0)))
    found = clip_similarity(PICTURES, TEXTS, str(clip), batch_size=2)
    assert found.per_image == pytest.approx(expected, abs=1e-3)
    assert found.value == pytest.approx(sum(expected) / 5, abs=1e-3)
    assert np.ptp(found.per_image) > 1
    assert found.signature.startswith("clip|tiny-clip@sha256:")
    in_one = clip_similarity(PICTURES, TEXTS, str(clip)).per_image
    assert in_one == pytest.approx(found.per_image, abs=1e-3)


def test_the_signature_of_a_folder_is_a_digest_of_all_its_weights(clip: Path, tmp_path: Path) -> None:
    """The digests of the files in the order of their names, and these hashed once more: 12 digits."""
    folder = tmp_path / "clip"
    shutil.copytree(clip, folder)
    for name in "gecadfb":
        (folder / f"{name}.bin").write_text(name)
    (folder / "notes.txt").write_text("no weights")
    names = sorted(["model.safetensors", *(f"{name}.bin" for name in "abcdefg")])
    digests = "".join(hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names)
    expected = hashlib.sha256(digests.encode()).hexdigest()[:12]
    found = clip_similarity(PICTURES[:1], TEXTS[:1], str(folder)).signature
    assert found.split("|")[1] == f"clip@sha256:{expected}"


def test_clip_weights_from_the_folder_of_weights(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(clip.parent))
    found = clip_similarity(PICTURES, TEXTS, "somebody/tiny-clip")
    assert found.per_image == pytest.approx(clip_similarity(PICTURES, TEXTS, str(clip)).per_image)
    assert found.signature.startswith("clip|tiny-clip@sha256:")


def test_the_signature_of_a_model_of_the_hub_has_its_commit(clip: Path, tmp_path: Path) -> None:
    picture(0, (50, 36)).save(tmp_path / "picture.png")
    call = "from PIL import Image; from figlang_tasks.metrics.generated_images import clip_similarity; "
    call += "print(clip_similarity([Image.open('picture.png')], ['a'], 'somebody/clip').signature)"
    with HubServer() as hub:
        commit = hub.add_repo("somebody/clip", clip, repo_type="model")
        done = warm.run(["python", "-c", call], cwd=tmp_path, env=hub.env(tmp_path))
    assert done.stdout.startswith(f"clip|somebody/clip@{commit}|"), done.stderr


def test_half_a_surrogate_pair_in_a_text(clip: Path) -> None:
    assert np.isfinite(clip_similarity(PICTURES[:1], ["\ud800 love"], str(clip)).value)


def test_no_clip_model(clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_WEIGHTS_DIR", raising=False)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(ImageMetricError, match="type bert, not clip"):
        clip_similarity(PICTURES, TEXTS, str(tmp_path))
    (tmp_path / "config.json").write_text((clip / "config.json").read_text())
    with pytest.raises(ImageMetricError, match="cannot be loaded"):
        clip_similarity(PICTURES, TEXTS, str(tmp_path))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ImageMetricError, match=r"somebody/none cannot be loaded .* into \$FIGLANG_WEIGHTS_DIR/none"):
        clip_similarity(PICTURES, TEXTS, "somebody/none")


def test_a_clip_model_with_a_weight_missing(clip: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(clip, tmp_path / "copy")
    weights = load_file(folder / "model.safetensors")
    del weights["visual_projection.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ImageMetricError, match=r"lacks 1 weights, such as visual_projection"):
        clip_similarity(PICTURES, TEXTS, str(folder))


# --- preference -------------------------------------------------------------------------------------------------------


def pair(left: int) -> list[Side]:
    return ["left"] * left + ["right"] * (7 - left)


def test_three_or_four_of_seven_are_a_tie() -> None:
    assert preference_shares([pair(left) for left in range(8)]) == PreferenceShares(37.5, 25.0, 37.5, 8)
    # Halves are rounded up, as people do and Python does not.
    assert str(PreferenceShares(12.5, 24.5, 63.0, 200)) == "13% 25% 63%"
    assert str(PreferenceShares(12.46, 24.54, 63.0, 5000)) == "12% 25% 63%"


@pytest.mark.parametrize("ratings", [[], [["left"] * 6], [["left"] * 8], [pair(3), ["left"] * 6 + ["tie"]]])
def test_ratings_that_are_none(ratings: Any) -> None:
    with pytest.raises(ValueError, match="ratings"):
        preference_shares(ratings)


@pytest.mark.parametrize(
    "shares", [(88, 2, 10), (28, 21, 51), (41, 24, 35)], ids=["Real vs Imagen", "SD vs Imagen", "SD vs SD-FT"]
)
def test_shares_give_the_rows_of_the_paper(shares: tuple[int, int, int]) -> None:
    """Figure 8 of arXiv 2212.09898, of 300 pairs each: whole percents of 300 are whole pairs."""
    ratings = [pair(left) for left, share in zip((6, 3, 1), shares, strict=True) for _ in range(share * 3)]
    assert str(preference_shares(ratings)) == "{}% {}% {}%".format(*shares)
