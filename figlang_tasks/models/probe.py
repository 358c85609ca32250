"""`figlang_probe`: a system that a paper trained on its own benchmark.

    --model figlang_probe --model_args probe=FOLDER,seed=0

``figlang train`` writes the folder. It holds ``probe.json`` (:class:`Probe`) and the weights of
each seed, ``seed-0.safetensors``. What the network is, and how it answers, its kind says: a module
``probe_KIND.py`` of this package with a class ``Network``.
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
from typing import Any, Literal, Protocol, TypeAlias

import safetensors.torch
import torch
import transformers
from lmms_eval.api.instance import Instance
from pydantic import ConfigDict, TypeAdapter

import figlang_tasks
from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import KINDS
from figlang_tasks.core.text import markdown_table
from figlang_tasks.models.arguments import check_arguments, require_probe
from figlang_tasks.models.base import ModelBase
from figlang_tasks.models.requests import Document

FILE = "probe.json"

Weights: TypeAlias = Mapping[str, torch.Tensor]
"""The weights of a network, by name."""

Kind: TypeAlias = Literal["pair", "cross_attention"]
"""What the network of a probe is."""

ValueByMeasure: TypeAlias = Mapping[str, float]
"""Values of measures, 0 to 1, by full name."""

Column: TypeAlias = Mapping[str, str]
"""A column of a table: text by full name of a measure."""

DocumentsByTask: TypeAlias = Mapping[str, Mapping[str, Sequence[Document]]]
"""The documents of each split of each task, as lmms-eval gives them to a model (`task_dict`)."""


class AnsweringNetwork(Protocol):
    """What ``probe_KIND.Network`` does: a trained network that answers requests."""

    def generate_until(self, requests: list[Instance], documents: DocumentsByTask) -> list[str]:
        """The answers, in the order of the requests."""
        ...


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What ``probe.json`` says.

    Attributes:
        kind: which module answers: ``probe_KIND.py``.
        settings: all that makes the network and its training, for people and for the kind.
        trained_on: identities of the training data, and counts.
        seen: digests of the pictures and texts of the training data, sorted. No answer is given for
            them.
        seeds: for each there is a file of weights.
        measured: what the training measured on the test data.
        versions: of the programs that trained it.
    """

    __pydantic_config__ = ConfigDict(extra="forbid")

    kind: Kind
    settings: Mapping[str, Any]
    trained_on: Mapping[str, Any]
    seen: tuple[str, ...]
    seeds: tuple[int, ...]
    measured: Mapping[str, Any]
    versions: Mapping[str, str]

    def refuse_seen(self, pictures_and_texts: Iterable[str]) -> None:
        """End a run that asks about training data.

        Args:
            pictures_and_texts: texts, and keys of pictures (`images.content_key`), of the run.

        Raises:
            FigLangError: one of them was in the training data.
        """
        keys = list(pictures_and_texts)
        training_digests = set(self.seen).intersection(map(digest, keys))
        if training_digests:
            raise FigLangError(
                f"figlang_probe: {len(training_digests)} of {len(keys)} pictures and texts of this"
                " run were in the probe's training data, so its scores would mean nothing."
                f" {FILE} says what it was trained on, and without what: run tasks of that, or"
                " train a probe for these (figlang train)"
            )


class FigLangProbe(ModelBase):
    """Answers by a network that ``figlang train`` trained.

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
        **unknown: object,
    ) -> None:
        super().__init__()
        check_arguments("figlang_probe", FigLangProbe, unknown)
        require_probe(probe)
        read_probe, weights = read(Path(str(probe)).expanduser(), seed)
        kind = import_module(f"figlang_tasks.models.probe_{read_probe.kind}")
        # Both kinds, probe_pair and probe_cross_attention, have a class of this name.
        self.network: AnsweringNetwork = kind.Network(
            read_probe, weights, device=device, batch_size=batch_size
        )

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer the requests, in their order, by the network of the seed."""
        return self.network.generate_until(requests, self.task_dict)


def digest(text: str) -> str:
    """What `Probe.seen` keeps of a text, or of the key of a picture."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# --- the folder of a probe ---


def write(
    folder: Path,
    kind: Kind,
    *,
    settings: Mapping[str, Any],
    trained_on: Mapping[str, Any],
    seen: Iterable[str],
    weights: Mapping[int, Weights],
    measured: Mapping[Any, Any] | None = None,
) -> None:
    """Write a probe into a new folder.

    Args:
        folder: must not exist.
        kind, settings, trained_on, measured: see `Probe`.
        seen: texts, and keys of pictures, of the training data; their digests are written.
        weights: by seed.

    Raises:
        FigLangError: the folder exists, or cannot be written.
    """
    refuse_existing(folder)
    versions = {
        "python": platform.python_version(),
        "figlang_tasks": str(figlang_tasks.__version__),
        "torch": str(torch.__version__),
        "transformers": str(transformers.__version__),
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
        for seed, weights_of_seed in weights.items():
            weights_path = _weights_path(folder, seed)
            safetensors.torch.save_file(dict(weights_of_seed), weights_path)
        # Last, so that a folder without this file is known to be incomplete.
        description = json.dumps(asdict(probe), indent=1) + "\n"
        (folder / FILE).write_text(description, encoding="utf-8")
    except OSError as error:
        raise FigLangError(f"{folder} cannot be written: {error.strerror}") from error


def read(folder: Path, seed: int | None = None) -> tuple[Probe, Weights]:
    """Read a probe, and the weights of a seed, or of the probe's first seed if it is None.

    Raises:
        FigLangError: the folder has no such seed, or is not what ``figlang train`` writes.
    """
    path = folder / FILE  # the file that is being read, which the messages below name
    try:
        probe = TypeAdapter(Probe).validate_json(files.read_file(path))
        chosen_seed = probe.seeds[0] if seed is None else seed
        if chosen_seed not in probe.seeds:
            raise FigLangError(
                f"figlang_probe: seed={seed}; {folder} has: {', '.join(map(str, probe.seeds))}"
            )
        path = _weights_path(folder, chosen_seed)
        files.check_file(path)
        return probe, safetensors.torch.load_file(path)
    except OSError as error:
        raise FigLangError(
            f"figlang_probe: {path} cannot be read ({error.strerror}); figlang train writes it"
        ) from error
    # IndexError: the list of seeds is empty
    except (ValueError, IndexError, safetensors.SafetensorError) as error:
        raise FigLangError(
            f"figlang_probe: {path} is not what figlang train writes ({error}): train it again"
        ) from error


def _weights_path(folder: Path, seed: int) -> Path:
    return folder / f"seed-{seed}.safetensors"


# --- for `figlang train` ---


def table_of_seeds(
    seeds: Sequence[ValueByMeasure],
    before: Mapping[str, Column],
    after: Mapping[str, Column],
) -> str:
    """A table in percent: for each measure, mean and sample standard deviation over seeds.

    A seed without a value of a measure is left out there. For example, with the column "encoder"
    before and the column "paper" after those::

        | percent            | encoder |     2 seeds |    paper |
        |--------------------|--------:|------------:|---------:|
        | acc                |    12.5 | 75.0 ± 35.4 | 58 ± 4.2 |
        | literal_preference |         |        25.0 |          |

    Args:
        seeds: the values of each seed.
        before, after: columns to the left and to the right, by heading. A measure that only a
            column to the right has gets no row.
    """
    measures: dict[str, None] = {}  # an ordered set
    for column in (*before.values(), *seeds):
        measures.update(dict.fromkeys(column))
    rows = [["percent", *before, f"{len(seeds)} seeds", *after]]
    for measure in measures:
        percents = [100 * values[measure] for values in seeds if measure in values]
        left = [column.get(measure, "") for column in before.values()]
        right = [column.get(measure, "") for column in after.values()]
        rows.append([measure, *left, _mean_and_deviation(percents), *right])
    return markdown_table(rows)


def _mean_and_deviation(percents: Sequence[float]) -> str:
    """The mean with the standard deviation ("75.0 ± 35.4"), alone for one value, "" for none."""
    if not percents:
        return ""
    mean = f"{statistics.mean(percents):.1f}"
    if len(percents) == 1:
        return mean
    return f"{mean} ± {statistics.stdev(percents):.1f}"


def encoder_name(encoder: str) -> str:
    """What a probe keeps of an encoder: the id of the hub, or the whole path of a folder."""
    folder = Path(encoder).expanduser()
    return str(folder.resolve()) if folder.is_dir() else encoder


def refuse_existing(folder: Path) -> None:
    """Refuse a folder that exists: a training checks before it begins, not only at its end."""
    if folder.exists():
        raise FigLangError(
            f"{folder} already exists and is not overwritten: choose another --output"
        )
