"""Generated images: FID, CLIP similarity, and which of two images people prefer.

FID is computed by torch-fidelity, features and distance both, which repeats the numbers of the
original TensorFlow code (the extra ``generation``). CLIP similarity needs transformers only:
torchmetrics' CLIPScore does not run on transformers 5.

Source: MetaCLUE (arXiv 2212.09898), section 3.4, Table 5 and Figure 8; FID: arXiv 1706.08500.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import DISTRIBUTION
from .array_types import Floats
from .explanation.weights import (
    WEIGHTS_DIR_VARIABLE,
    Weights,
    WeightsError,
    load,
    locate,
    read_config,
)

if TYPE_CHECKING:
    from PIL import Image
    from torch import Tensor

__all__ = [
    "CLIP_MODEL",
    "PAPER_IMAGES",
    "ImageMetricError",
    "Similarity",
    "clip_similarity",
    "fid",
    "inception_features",
    "preference_shares",
]


FEATURES = 2048
"""Width of Inception's last pooling layer, the one that FID is defined on."""

PAPER_IMAGES = 300
"""Images that the paper's FID was computed from, fewer than `FEATURES` (section 3.4)."""

CLIP_MODEL = "openai/clip-vit-base-patch32"
"""Our choice: the paper says "the CLIP model" and no more. Larger ones give lower similarities."""

BATCH = 32  # images that go through CLIP together

EXTRA = f"{DISTRIBUTION}[generation]"
INCEPTION_SHA256 = "6726825d"  # the beginning of the hash, as torch.hub checks it
INCEPTION_FILE = f"weights-inception-2015-12-05-{INCEPTION_SHA256}.pth"
INCEPTION_URL = (
    f"https://github.com/toshas/torch-fidelity/releases/download/v0.2.0/{INCEPTION_FILE}"
)


class ImageMetricError(Exception):
    """The metric cannot be computed; the message says what to do.

    There are too few images, or a package or weights are missing.
    """


# --- FID ---


def fid(real: npt.ArrayLike, generated: npt.ArrayLike) -> float:
    """The Frechet distance of two sets of images, from their features.

    With mean ``m`` and covariance ``C`` of the features of each set::

        |m_r - m_g|**2 + trace(C_r + C_g - 2 * sqrt(C_r C_g))

    The estimate is biased upwards by an amount that depends on the number of images and on the
    generator (Chong and Forsyth, arXiv 1911.07023); the authors of FID recommend 10,000 images
    (README of bioinf-jku/TTUR). The paper's own figures are of `PAPER_IMAGES`, so fewer are
    refused; compare values of equal numbers of images only.

    Args:
        real: features of n images, shape [n, d], from `inception_features`.
        generated: features of m images, shape [m, d].

    Returns:
        The distance, at least 0 up to rounding; 0 for equal sets.

    Raises:
        ImageMetricError: a set has fewer than `PAPER_IMAGES` images, or torch-fidelity is not
            installed.
        ValueError: a feature that is not finite.

    Examples:
        Two sets of 300 images, whose two features differ by 1 each:

        >>> real = np.random.default_rng(0).normal(size=(300, 2))
        >>> round(fid(real, real + 1), 6)
        2.0

    Source: arXiv 1706.08500; MetaCLUE, Table 5.
    """
    features_by_set = {
        "real": np.array(real, dtype=np.float64),
        "generated": np.array(generated, dtype=np.float64),
    }
    fewest = min(len(features) for features in features_by_set.values())
    if fewest < PAPER_IMAGES:
        raise ImageMetricError(f"FID of {fewest} images is refused: it takes {PAPER_IMAGES}")
    for name, features in features_by_set.items():
        if not np.isfinite(features).all():
            index = int(np.argmin(np.isfinite(features).all(axis=1)))
            raise ValueError(f"features of {name}[{index}] are not finite")

    metric_fid = _torch_fidelity("torch_fidelity.metric_fid")
    import torch

    real_statistics, generated_statistics = (
        metric_fid.fid_features_to_statistics(torch.from_numpy(features))
        for features in features_by_set.values()
    )
    distances = metric_fid.fid_statistics_to_metric(
        real_statistics, generated_statistics, verbose=False
    )
    return float(distances[metric_fid.KEY_METRIC_FID])


def fid_signature(images: int) -> str:
    """The signature of FID: features, number of images and version of torch-fidelity.

    Args:
        images: the number of images of the smaller set, without which FID means little.
    """
    return (
        f"fid|features:inception-v3-compat-{FEATURES}|images:{images}"
        f"|torch-fidelity:{version('torch-fidelity')}"
    )


def inception_features(images: Iterable[Image.Image]) -> npt.NDArray[np.float32]:
    """The features of images for `fid`: the last pooling layer of the original Inception network.

    Computed by torch-fidelity. Images go through one by one in their own size, and are scaled to
    299 x 299 as the original code does it; on the first GPU, else the CPU. The weights are
    `INCEPTION_FILE` in ``$FIGLANG_WEIGHTS_DIR`` or torch.hub's cache, else a download from
    `INCEPTION_URL` (91 MB), checked by hash.

    Args:
        images: at least one picture; lay transparent ones on a background before.

    Returns:
        float32 array of shape [images, 2048].

    Raises:
        ImageMetricError: torch-fidelity is not installed, or the weights are not available or are
            damaged.

    Examples:
        Skipped by doctest, as it takes the weights:

        >>> inception_features([Image.open("picture.png")]).shape  # doctest: +SKIP
        (1, 2048)

    Source: arXiv 1706.08500.
    """
    import torch

    from .explanation.compute import exact_float32

    device = _device()
    extractor = _inception_extractor().to(device).eval()
    rows: list[npt.NDArray[np.float32]] = []
    with torch.inference_mode(), exact_float32():
        for image in images:
            pixels = torch.from_numpy(np.array(image.convert("RGB")))  # [height, width, 3]
            batch = pixels.permute(2, 0, 1)[None].to(device)  # [1, 3, height, width]
            pooled, *_ = extractor(batch)  # a tuple: one tensor for each layer asked for
            rows.append(pooled.float().cpu().numpy())
    return np.concatenate(rows)


def _inception_extractor() -> Any:  # torch-fidelity has no types
    """torch-fidelity's Inception network, its weights found or downloaded.

    Raises:
        ImageMetricError: torch-fidelity is not installed, or the weights are not available or are
            damaged.
    """
    import torch

    torch_fidelity = _torch_fidelity("torch_fidelity")
    # Without the variable, the file may lie in the working folder.
    path = Path(os.environ.get(WEIGHTS_DIR_VARIABLE, "")).expanduser() / INCEPTION_FILE
    if not path.is_file():
        path = Path(torch.hub.get_dir()) / "checkpoints" / INCEPTION_FILE
    try:
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            torch.hub.download_url_to_file(
                INCEPTION_URL, str(path), INCEPTION_SHA256, progress=False
            )
        # A safe load first: torch-fidelity would unpickle whatever is in the file.
        torch.load(path, map_location="cpu", weights_only=True)
        return torch_fidelity.FeatureExtractorInceptionV3(
            "inception-v3-compat", [str(FEATURES)], feature_extractor_weights_path=str(path)
        )
    except Exception as error:  # of torch.load, of load_state_dict, of urllib or of the disk
        reason = next(iter(str(error).splitlines()), "no message")
        raise ImageMetricError(
            f"FID's Inception weights cannot be read ({type(error).__name__}: {reason}). Remove"
            f" {path} if it is there, get {INCEPTION_URL} and put it into ${WEIGHTS_DIR_VARIABLE}"
        ) from error


def _device() -> str:
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def _torch_fidelity(module: str) -> ModuleType:
    """Import a module of torch-fidelity; ImageMetricError if it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImageMetricError(
            f"FID needs torch-fidelity ({error}): pip install '{EXTRA}'"
        ) from error


# --- CLIP similarity ---


@dataclass(frozen=True)
class Similarity:
    """CLIP similarity of images with their texts.

    Attributes:
        value: mean of `per_image`.
        per_image: float64 array of shape [n], 100 times the cosine, so -100 to 100 (of trained
            models some 15 to 40).
        signature: model, commit or hash of its weights, and version of transformers.
    """

    value: float
    per_image: Floats
    signature: str


def clip_similarity(
    images: Sequence[Image.Image], texts: Sequence[str], model: str = CLIP_MODEL
) -> Similarity:
    """CLIP similarity: 100 times the cosine of the features of an image and of its text, averaged.

    Args:
        images: n pictures, at least one.
        texts: n texts, the prompt of each picture; cut at the model's length (77 tokens).
        model: hub repository or folder of a CLIP model of transformers. A repository is looked for
            in ``$FIGLANG_WEIGHTS_DIR/NAME`` (last part of its name) first. It runs on the first
            GPU, else the CPU.

    Returns:
        `Similarity`: the mean, and a number for each image.

    Raises:
        ValueError: no images, or unequal numbers.
        ImageMetricError: the model cannot be loaded, or is no CLIP model.

    Examples:
        Skipped by doctest, as it takes the weights (600 MB):

        >>> clip_similarity([Image.open("cat.png")], ["a cat"]).per_image.shape  # doctest: +SKIP
        (1,)

    Source: MetaCLUE, section 3.4 and Table 5.
    """
    if not len(images) == len(texts) > 0:
        raise ValueError(
            f"there are {len(images)} images and {len(texts)} texts: give a text for each image"
        )
    import torch

    from .explanation.compute import exact_float32, without_surrogates

    network, processor, identity = _load_clip(model)
    device = _device()
    network = network.to(device)
    blocks: list[Floats] = []
    with torch.inference_mode(), exact_float32():
        for start in range(0, len(images), BATCH):
            block = slice(start, start + BATCH)
            inputs = processor(
                text=[without_surrogates(text) for text in texts[block]],
                images=[image.convert("RGB") for image in images[block]],
                return_tensors="pt",
                padding=True,
                truncation=True,
            )
            # The call of the network gives normalised features with any version of transformers.
            outputs = network(**inputs.to(device))
            blocks.append(_similarities(outputs.image_embeds, outputs.text_embeds))
    per_image = np.concatenate(blocks)
    if not np.isfinite(per_image).all():
        index = int(np.argmin(np.isfinite(per_image)))
        raise ImageMetricError(
            f"the CLIP similarity of images[{index}] is {per_image[index]}: is the model damaged?"
        )
    signature = f"clip|{identity}|transformers:{version('transformers')}"
    return Similarity(float(per_image.mean()), per_image, signature)


def _similarities(image_features: Tensor, text_features: Tensor) -> Floats:
    """100 times the cosine of the features of each image and of its text, shape [n]."""
    image_features = image_features.double()
    text_features = text_features.double()
    products = (image_features * text_features).sum(dim=-1)
    norms = image_features.norm(dim=-1) * text_features.norm(dim=-1)
    similarities: Floats = (100 * products / norms).cpu().numpy()
    return similarities


def _load_clip(name: str) -> tuple[Any, Any, str]:
    """Load a CLIP model; return its network, its processor and the identity of its weights.

    Raises:
        ImageMetricError: the weights are not available, or are those of another model.
    """
    import torch
    import transformers

    try:
        located = locate(Weights.parse(name))
        model_type = read_config(located).get("model_type")
        if model_type != "clip":  # another model would load with the weights that happen to fit
            raise WeightsError(f"{name} is a model of type {model_type}, not clip")
        network = load(transformers.CLIPModel, located, config=None, dtype=torch.float32)
        processor = transformers.CLIPProcessor.from_pretrained(located.folder)
    except (WeightsError, OSError, ValueError) as error:
        raise ImageMetricError(f"the CLIP model {name} cannot be used: {error}") from error
    return network, processor, located.identity


# --- preference ---


def preference_shares(lefts: Sequence[int]) -> tuple[float, float, float]:
    """How often people prefer the left image of a pair, neither, or the right one, in percent.

    Of 7 ratings of a pair 5 or more decide; "3-out-of-7 or 4-out-of-7" are a tie.

    Args:
        lefts: for each pair, how many of its 7 ratings prefer the left image, 0 to 7; at least one
            pair.

    Returns:
        Shares of left, tie and right, 0 to 100 each and 100 together.

    Raises:
        ValueError: no pairs, or another number.

    Examples:
        >>> preference_shares([5, 4])
        (50.0, 50.0, 0.0)

    Source: MetaCLUE, section 3.4 and Figure 8.
    """
    ratings_for_left = np.asarray(lefts)
    if ratings_for_left.size == 0 or not np.isin(ratings_for_left, range(8)).all():
        raise ValueError(f"lefts must be some numbers from 0 to 7: {lefts}")
    left = 100 * float(np.mean(ratings_for_left >= 5))
    right = 100 * float(np.mean(ratings_for_left <= 2))
    return left, 100 - left - right, right
