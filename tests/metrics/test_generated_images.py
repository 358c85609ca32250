from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import warm
from hub_server import HubServer
from hypothesis import given, settings
from hypothesis import strategies as st
from models import tiny_encoders
from PIL import Image
from safetensors.torch import load_file, save_file

from figlang_tasks.metrics import generated_images as module
from figlang_tasks.metrics.generated_images import (
    PAPER_IMAGES,
    ImageMetricError,
    PreferenceShares,
    Side,
    Verdict,
    clip_similarity,
    fid,
    fid_signature,
    inception_features,
    preference,
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
@settings(max_examples=40)
def test_fid_equals_the_matrix_root(seed: int, width: int, more_real: int, more_generated: int) -> None:
    pytest.importorskip("torch_fidelity")
    rng = np.random.default_rng(seed)
    real, generated = features(rng, width + 1 + more_real, width), features(rng, width + 1 + more_generated, width)
    assert fid(real, generated) == pytest.approx(frechet(real, generated), rel=1e-5, abs=1e-5)


def test_fid_of_equal_sets_is_zero(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch_fidelity")
    real = features(np.random.default_rng(0), 60, 8)
    assert fid(real, real[::-1]) == pytest.approx(0, abs=1e-6)
    assert capfd.readouterr() == ("", ""), "the library tells its progress unless told not to"
    assert fid(real, real + 3) == pytest.approx(8 * 9, rel=1e-6)


@pytest.mark.parametrize("images", [2, 9])
def test_fid_of_few_images_where_allowed(images: int) -> None:
    pytest.importorskip("torch_fidelity")
    rng = np.random.default_rng(1)
    real, generated = features(rng, images, 20), features(rng, images, 20)
    assert fid(real, generated, minimum=images) == pytest.approx(frechet(real, generated), rel=1e-4)


def test_signature_of_fid() -> None:
    library = version("torch-fidelity")
    assert fid_signature(300) == f"fid|features:inception-v3-compat-2048|images:300|torch-fidelity:{library}"


@pytest.mark.parametrize(
    ("real", "generated", "minimum", "message"),
    [
        (20, 21, None, "FID of 20 real images is refused: it takes 21"),
        (21, 20, None, "FID of 20 generated images is refused: it takes 21.*more than its 20 features"),
        (500, 299, PAPER_IMAGES, "FID of 299 generated images is refused: it takes 300$"),
        (0, 21, None, "FID of 0 real images"),
    ],
)
def test_fid_refuses_too_few(real: int, generated: int, minimum: int | None, message: str) -> None:
    with pytest.raises(ImageMetricError, match=message):
        fid(np.zeros((real, 20)), np.zeros((generated, 20)), minimum)


@pytest.mark.parametrize(
    ("real", "generated", "minimum", "message"),
    [
        (np.zeros(5), np.zeros((5, 2)), None, r"real must have shape \[images, features\]"),
        (np.zeros((5, 2)), np.zeros((5, 3)), None, "real has 2 features, generated has 3"),
        (np.zeros((5, 2)), np.array([[0, 0], [0, np.nan], [0, 0]]), None, r"generated\[1\] has a feature"),
        (np.zeros((5, 2)), np.zeros((5, 2)), 1, "minimum is 1"),
        (np.zeros((5, 1)), np.zeros((5, 1)), None, "2 features or more"),
    ],
)
def test_fid_refuses_what_is_no_set_of_features(real: Any, generated: Any, minimum: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fid(real, generated, minimum)


def test_without_the_extra_the_message_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the package is installed or not."""
    for name in ["torch_fidelity", *(name for name in sys.modules if name.startswith("torch_fidelity."))]:
        monkeypatch.setitem(sys.modules, name, None)
    three = [[0.0, 1.0], [1.0, 2.0], [3.0, 3.0]]
    with pytest.raises(ImageMetricError, match=r"pip install 'figlang-tasks\[generation\]'"):
        fid(three, three)
    with pytest.raises(ImageMetricError, match=r"pip install 'figlang-tasks\[generation\]'"):
        inception_features([])


def test_importing_the_module_imports_no_library() -> None:
    program = (
        "import sys; import figlang_tasks.metrics.generated_images\n"
        "print([name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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
    return inception_features(map(picture, range(3)), device="cpu", weights=random_inception)


@pytest.mark.slow
def test_inception_features(random_inception: Path, of_three: np.ndarray) -> None:
    pictures = [picture(1, (64, 20)), picture(2).convert("L"), picture(0)]
    device = "cpu" if torch.cuda.is_available() else None  # by itself
    found = inception_features(pictures, device=device, weights=random_inception)
    assert found.shape == of_three.shape == (3, 2048)
    assert found.dtype == np.float32
    assert np.array_equal(found[2], of_three[0])
    assert not np.allclose(found[0], of_three[1])
    assert inception_features([], device="cpu", weights=random_inception).shape == (0, 2048)


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
    with pytest.raises(ImageMetricError, match="is damaged: its SHA-256 does not begin with 6726825d"):
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
    assert np.array_equal(inception_features([picture(0)], "cpu"), of_three[:1])
    assert "%" not in capfd.readouterr().err, "no progress bar"
    monkeypatch.setattr(module, "INCEPTION_URL", "file:///nowhere/at/all.pth")
    assert np.array_equal(inception_features([picture(0)], "cpu"), of_three[:1])


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
    found = clip_similarity(PICTURES, TEXTS, str(clip), device="cpu", batch_size=2)
    assert found.per_image == pytest.approx(expected, abs=1e-3)
    assert found.value == pytest.approx(sum(expected) / 5, abs=1e-3)
    assert np.ptp(found.per_image) > 1
    assert found.signature.startswith("clip|tiny-clip@sha256:")
    if not torch.cuda.is_available():
        assert np.array_equal(clip_similarity(PICTURES, TEXTS, str(clip), batch_size=2).per_image, found.per_image)


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
    found = clip_similarity(PICTURES[:1], TEXTS[:1], str(folder), "cpu").signature
    assert found.split("|")[1] == f"clip@sha256:{expected}"


def test_clip_similarity_does_not_depend_on_the_batch(clip: Path) -> None:
    one, all_ = (clip_similarity(PICTURES, TEXTS, str(clip), "cpu", size).per_image for size in (1, 8))
    assert one == pytest.approx(all_, abs=1e-3)


def test_clip_weights_from_the_folder_of_weights(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(clip.parent))
    found = clip_similarity(PICTURES, TEXTS, "somebody/tiny-clip", "cpu")
    assert found.per_image == pytest.approx(clip_similarity(PICTURES, TEXTS, str(clip), "cpu").per_image)
    assert found.signature.startswith("clip|tiny-clip@sha256:")


def test_the_signature_of_a_model_of_the_hub_has_its_commit(clip: Path, tmp_path: Path) -> None:
    picture(0, (50, 36)).save(tmp_path / "picture.png")
    call = "from PIL import Image; from figlang_tasks.metrics.generated_images import clip_similarity; "
    call += "print(clip_similarity([Image.open('picture.png')], ['a'], 'somebody/clip', 'cpu').signature)"
    with HubServer() as hub:
        commit = hub.add_repo("somebody/clip", clip, repo_type="model")
        done = warm.run(["python", "-c", call], cwd=tmp_path, env=hub.env(tmp_path))
    assert done.stdout.startswith(f"clip|somebody/clip@{commit}|"), done.stderr


def test_half_a_surrogate_pair_in_a_text(clip: Path) -> None:
    assert np.isfinite(clip_similarity(PICTURES[:1], ["\ud800 love"], str(clip), "cpu").value)


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
        clip_similarity(PICTURES, TEXTS, str(folder), "cpu")


@pytest.mark.parametrize(
    ("pictures", "texts", "batch_size", "message"),
    [([], [], 1, "no images"), (PICTURES[:1], [], 1, "1 images and 0 texts"), (PICTURES, TEXTS, 0, "batch_size")],
)
def test_clip_refusals(pictures: list[Image.Image], texts: list[str], batch_size: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        clip_similarity(pictures, texts, "nowhere/none", batch_size=batch_size)


# --- preference -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "verdict"),
    [(0, "right"), (1, "right"), (2, "right"), (3, "tie"), (4, "tie"), (5, "left"), (6, "left"), (7, "left")],
)
def test_preference(left: int, verdict: Verdict) -> None:
    ratings: list[Side] = ["left"] * left + ["right"] * (7 - left)
    for order in itertools.islice(itertools.permutations(ratings), 0, 5040, 97):
        assert preference(order) == verdict


@given(st.lists(st.sampled_from(["left", "right"]), min_size=7, max_size=7))
def test_exchanging_the_sides_exchanges_the_verdict(ratings: list[Side]) -> None:
    other: dict[str, Any] = {"left": "right", "right": "left", "tie": "tie"}
    assert preference([other[rating] for rating in ratings]) == other[preference(ratings)]


@pytest.mark.parametrize("ratings", [[], ["left"] * 6, ["left"] * 8, ["left"] * 6 + ["tie"], ["left"] * 6 + [True]])
def test_preference_refusals(ratings: Any) -> None:
    with pytest.raises(ValueError, match="ratings"):
        preference(ratings)


def test_shares() -> None:
    assert preference_shares(["left", "left", "tie", "right"]) == PreferenceShares(50.0, 25.0, 25.0, 4)
    assert preference_shares(["tie"]) == PreferenceShares(0.0, 100.0, 0.0, 1)
    # Halves are rounded up, as people do and Python does not.
    assert str(PreferenceShares(12.5, 24.5, 63.0, 200)) == "13% 25% 63%"
    assert str(PreferenceShares(12.46, 24.54, 63.0, 5000)) == "12% 25% 63%"
    for bad in ([], ["left", "draw"]):
        with pytest.raises(ValueError, match="verdicts"):
            preference_shares(bad)


@pytest.mark.parametrize("shared_file", ["facts/published_results.json"], indirect=True)
def test_shares_give_the_rows_of_the_paper(shared_file: Path) -> None:
    """Figure 8, of 300 pairs each: whole percents of 300 are whole pairs."""
    rows: dict[str, dict[str, int]] = {}
    for fact in json.loads(shared_file.read_text(encoding="utf-8")):
        if fact["benchmark"] == "MetaCLUE" and fact["task"] == "generation user study":
            rows.setdefault(fact["model"], {})[fact["metric"].removesuffix("%").split()[0]] = fact["value"]
    whole = {name: row for name, row in rows.items() if len(row) == 3}
    assert sorted(whole) == ["Real vs Imagen", "SD vs Imagen", "SD vs SD-FT"]
    assert rows.keys() - whole.keys() == {"Real vs SD"}  # of which one number is legible
    for row in whole.values():
        assert sum(row.values()) == 100
        verdicts: list[Verdict] = []
        for verdict, left in (("left", 6), ("tied", 3), ("right", 1)):
            ratings: list[Side] = ["left"] * left + ["right"] * (7 - left)
            verdicts += [preference(ratings)] * (row[verdict] * 3)
        assert str(preference_shares(verdicts)) == f"{row['left']}% {row['tied']}% {row['right']}%"


def test_many_pairs_are_quick() -> None:
    start = time.process_time()
    preference_shares([preference(["left", "right", "left", "left", "left", "right", "left"])] * 20_000)
    assert time.process_time() - start < 10
