"""`figlang_probe`: a system that a paper trained on its own benchmark, as ``figlang train`` writes
it.

    --model figlang_probe --model_args probe=FOLDER,seed=0

A folder holds ``probe.json`` (:class:`Probe`) and the weights of each seed, ``seed-0.safetensors``.
What the network is, and how it answers, its kind says: a module ``probe_KIND.py`` of this package
with a class ``Network``.
"""

from __future__ import annotations

import hashlib
import json
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import safetensors.torch
import torch
import transformers
from lmms_eval.api.instance import Instance
from pydantic import ConfigDict, TypeAdapter

import figlang_tasks
from figlang_tasks import models
from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import KINDS
from figlang_tasks.core.text import markdown_table
from figlang_tasks.models.base import ModelBase

FILE = "probe.json"
Weights = Mapping[str, torch.Tensor]


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What ``probe.json`` says."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Literal["pair", "cross_attention"]
    # All that makes the network and its training, for people and for the kind
    settings: Mapping[str, Any]
    trained_on: Mapping[str, Any]  # identities of data, counts
    # Digests of the pictures and texts of the training data: no answer is given for them
    seen: tuple[str, ...]
    seeds: tuple[int, ...]  # of each there is a file of weights
    measured: Mapping[str, Any]  # by the training, on the test data
    versions: Mapping[str, str]  # of what trained it

    def refuse_seen(self, shown: Iterable[str]) -> None:
        """End a run that asks about training data; `shown`: texts, and keys of pictures
        (``images.content_key``).
        """
        asked = list(shown)
        if known := set(self.seen) & set(map(digest, asked)):
            raise FigLangError(
                f"figlang_probe: {len(known)} of {len(asked)} pictures and texts of this run were"
                f" in the probe's training data, so its scores would mean nothing. {FILE} says what"
                " it was trained on, and without what: run tasks of that, or train a probe for"
                " these (figlang train)"
            )


class FigLangProbe(ModelBase):
    """The model class of the harness.

    Args:
        probe: a folder that ``figlang train`` wrote.
        seed: which of its networks; by default the first.
        device, batch_size: of the encoders.

    Raises:
        FigLangError: unknown or wrong argument, or a folder that ``figlang train`` did not write.
    """

    is_simple = True
    answers_score_requests = KINDS
    scores_text_alone = True
    answers_at_once = True

    def __init__(
        self,
        probe: str = "",
        seed: int | None = None,
        device: str | None = None,
        batch_size: int | str = 1,
        **unknown: Any,
    ) -> None:
        super().__init__()
        models.check_arguments("figlang_probe", FigLangProbe, unknown)
        if not probe:
            raise FigLangError("figlang_probe: the probe is missing: --model_args probe=FOLDER")
        found, weights = read(Path(str(probe)).expanduser(), seed)
        kind = import_module(f"figlang_tasks.models.probe_{found.kind}")
        self.network: Any = kind.Network(found, weights, device=device, batch_size=batch_size)

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer by the network of the seed; see its kind."""
        answers: list[str] = self.network.generate_until(requests, self.task_dict)
        return answers


def digest(text: str) -> str:
    """What `Probe.seen` keeps of a text or of the key of a picture."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def write(
    folder: Path,
    kind: Literal["pair", "cross_attention"],
    *,
    settings: Mapping[str, Any],
    trained_on: Mapping[str, Any],
    seen: Iterable[str],
    weights: Mapping[int, Weights],
    measured: Mapping[Any, Any] | None = None,
) -> None:
    """Write a probe into a new folder; `FILE` comes last, so that a folder without it is not
    whole.
    """
    refuse_existing(folder)
    parts = {"figlang_tasks": figlang_tasks, "torch": torch, "transformers": transformers}
    versions = {"python": platform.python_version()} | {
        name: str(part.__version__) for name, part in parts.items()
    }
    probe = Probe(
        kind=kind,
        settings=settings,
        trained_on=trained_on,
        seen=tuple(sorted(map(digest, set(seen)))),
        seeds=tuple(weights),
        measured=measured or {},
        versions=versions,
    )
    try:
        folder.mkdir(parents=True)
        for seed, own in weights.items():
            safetensors.torch.save_file(dict(own), _weights(folder, seed))
        (folder / FILE).write_text(json.dumps(asdict(probe), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise FigLangError(f"{folder} cannot be written: {error.strerror}") from error


def table_of_seeds(
    seeds: Sequence[Mapping[str, float]],
    before: Mapping[str, Mapping[str, str]],
    after: Mapping[str, Mapping[str, str]],
) -> str:
    """A table in percent: mean and sample standard deviation over the seeds that have a value of a
    measure.
    """
    lines = [["percent", *before, f"{len(seeds)} seeds", *after]]
    for name in dict.fromkeys(name for values in (*before.values(), *seeds) for name in values):
        found = [100 * values[name] for values in seeds if name in values]
        spread = f" ± {statistics.stdev(found):.1f}" if len(found) > 1 else ""
        own = f"{statistics.mean(found):.1f}{spread}" if found else ""
        others = (
            [column.get(name, "") for column in columns.values()] for columns in (before, after)
        )
        lines.append([name, *next(others), own, *next(others)])
    return markdown_table(lines)


def encoder_name(given: str) -> str:
    """What a probe keeps of an encoder: the id of the hub, or the whole path of a folder."""
    folder = Path(given).expanduser()
    return str(folder.resolve()) if folder.is_dir() else given


def refuse_existing(folder: Path) -> None:
    """Check, before the training, that its folder can be written."""
    if folder.exists():
        raise FigLangError(
            f"{folder} already exists and is not overwritten: choose another --output"
        )


def read(folder: Path, seed: int | None = None) -> tuple[Probe, Weights]:
    """A probe and the weights of a seed, by default of the first."""
    path = folder / FILE
    try:
        probe = TypeAdapter(Probe).validate_json(files.read_file(path))
        chosen = probe.seeds[0] if seed is None else seed
        if chosen not in probe.seeds:
            raise FigLangError(
                f"figlang_probe: seed={seed}; {folder} has: {', '.join(map(str, probe.seeds))}"
            )
        path = _weights(folder, chosen)
        files.check_file(path)
        return probe, safetensors.torch.load_file(path)
    except OSError as error:
        raise FigLangError(
            f"figlang_probe: {path} cannot be read ({error.strerror}); figlang train writes it"
        ) from error
    except (ValueError, IndexError, safetensors.SafetensorError) as error:
        raise FigLangError(
            f"figlang_probe: {path} is not what figlang train writes ({error}): train it again"
        ) from error


def _weights(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}.safetensors"
