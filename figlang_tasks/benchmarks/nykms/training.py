"""``figlang train nykms``: the paper's trained baselines.

Source: NYK-MS, arXiv 2409.01037, section 4.2 and Table 11.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from PIL import Image
from typer import Option

from figlang_tasks.benchmarks.nykms import measures, rows, tasks
from figlang_tasks.benchmarks.nykms.annotation_files import SPLITS
from figlang_tasks.benchmarks.nykms.records import CartoonRecord
from figlang_tasks.core import images
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.scoring.evaluation import headline_values
from figlang_tasks.scoring.task import Document

if TYPE_CHECKING:
    # These modules are imported where they are needed: only training needs torch.
    import torch

    from figlang_tasks.models.cross_attention import Example, Settings
    from figlang_tasks.models.probe_cross_attention import Trained

ASKS: Mapping[str, tuple[str, ...]] = {"metaphor": ("mc", "metaphor"), "sarcasm": ("sc", "sarcasm")}
"""The questions that a trained network answers, by topic: those that begin with the label."""

ANSWERS = ("No", "Yes")
"""The answer that stands for each label: No for 0, Yes for 1."""

TABLE_11 = {
    ("text", "none"): "Baseline (Text-only)",
    ("picture", "none"): "Baseline (Image-only)",
    ("both", "none"): "Baseline",
    ("both", "contrastive"): "Baseline + Contrastive",
    ("both", "ot"): "Baseline + OT",
}
"""The name of a system in Table 11, by modality and alignment."""

_TRAINING_SPLITS = ("train", "validation")


def train(
    output: Annotated[Path, Option(help="Folder to write.")] = Path("nykms_probe"),
    topic: Annotated[str, Option(help="metaphor or sarcasm.")] = "metaphor",
    dataset: Annotated[str, Option(help="A dataset in NYK-MS's form.")] = "NYK-MS",
    modality: Annotated[
        str, Option(help="What is read: both, text (the caption) or picture.")
    ] = "both",
    alignment: Annotated[
        str, Option(help="Loss that aligns text and picture: none, contrastive or ot.")
    ] = "none",
    text_encoder: Annotated[
        str, Option(help="Hub id or folder, like BERT.")
    ] = "google-bert/bert-base-uncased",
    image_encoder: Annotated[
        str, Option(help="Hub id or folder, like ViT.")
    ] = "google/vit-base-patch32-224-in21k",
    seeds: Annotated[
        int, Option(min=1, help="How many networks to train, with the seeds 0, 1 ...")
    ] = 5,
    epochs: Annotated[int, Option(min=1, help="Passes over the training rows.")] = 15,
    batch_size: Annotated[int, Option(help="Rows of a step.")] = 8,
    learning_rate: Annotated[float, Option(help="The highest.")] = 1e-5,
) -> str:
    """Train BERT and ViT with cross attention.

    They tell whether a cartoon with its caption has a metaphor (or sarcasm). The command reads the
    rows of the splits train and validation. The defaults are the paper's baseline; --alignment ot
    is its best system without further data. It prints mean and standard deviation of the seeds on
    the rows of the split test, and the paper's values.
    """
    # The docstring is the help of the command, which prints what this function returns.
    from figlang_tasks.models import probe
    from figlang_tasks.models.cross_attention import Settings

    if topic not in ASKS:
        raise FigLangError(f"topic is {topic!r}; valid: {', '.join(ASKS)}")
    settings = Settings(
        text_encoder=probe.encoder_name(text_encoder),
        image_encoder=probe.encoder_name(image_encoder),
        modality=modality,
        alignment=alignment,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
    )
    probe.refuse_existing(output)
    return _train_and_write(settings, output, topic, dataset, seeds)


def _train_and_write(settings: Settings, output: Path, topic: str, dataset: str, seeds: int) -> str:
    """Train networks, write them as a probe, and return what the command prints.

    Args:
        settings: those of the networks, as the user gave them.
        output: the folder that is written.
        topic: ``metaphor`` or ``sarcasm``.
        dataset: a dataset in NYK-MS's form.
        seeds: how many networks are trained.
    """
    import torch

    from figlang_tasks.models import probe, probe_cross_attention

    # Both questions of a topic are asked of all rows, with the same label.
    documents_by_split = _load_documents(dataset, question=ASKS[topic][0])
    # The split must not show a cartoon of the test in training. The probe also keeps what it was
    # trained on, so that it later refuses to answer such rows, of whatever dataset.
    _refuse_shared_cartoons(documents_by_split, dataset)
    training_keys = _training_keys(documents_by_split)
    examples = {split: _examples(documents) for split, documents in documents_by_split.items()}

    pinned_settings = probe_cross_attention.pinned(settings)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trained_by_seed = _train_seeds(pinned_settings, examples, seeds, device)
    scores_by_seed: dict[int, dict[str, float]] = {}
    for seed, trained in trained_by_seed.items():
        network = probe_cross_attention.with_weights(pinned_settings, trained.weights, device)
        labels = probe_cross_attention.labels(network, examples["test"], settings.batch_size)
        scores_by_seed[seed] = _scores(documents_by_split["test"], labels)

    probe.write(
        output,
        "cross_attention",
        settings=_probe_settings(pinned_settings, topic, trained_by_seed),
        trained_on={
            "data": documents_by_split["train"][0]["data"],
            "rows": {split: len(documents_by_split[split]) for split in _TRAINING_SPLITS},
        },
        seen=training_keys,
        weights={seed: trained.weights for seed, trained in trained_by_seed.items()},
        measured=scores_by_seed,
    )
    row_counts = [f"{split} {len(documents):,}" for split, documents in documents_by_split.items()]
    table_11 = _published_scores(TABLE_11[settings.modality, settings.alignment])
    table = probe.table_of_seeds(
        list(scores_by_seed.values()), before={}, after={"Table 11": table_11}
    )
    return f"rows: {', '.join(row_counts)}\n\n{table}\n\n{output} written"


def _train_seeds(
    settings: Settings,
    examples: Mapping[str, Sequence[Example]],
    seeds: int,
    device: torch.device,
) -> dict[int, Trained]:
    """Train one network for each of the seeds 0, 1 ...; return weights and epochs by seed.

    Args:
        settings: those of the networks, with pinned encoders.
        examples: the rows by split.
        seeds: how many networks.
        device: where they are trained.
    """
    from figlang_tasks.models import probe_cross_attention

    trained_by_seed: dict[int, Trained] = {}
    for seed in range(seeds):
        trained_by_seed[seed] = probe_cross_attention.train(
            settings, examples["train"], examples["validation"], seed, device
        )
    return trained_by_seed


def _probe_settings(
    settings: Settings, topic: str, trained_by_seed: Mapping[int, Trained]
) -> dict[str, object]:
    """What ``probe.json`` says of the networks, the questions they answer, and their epochs.

    Those who load the probe read it: which column the networks read beside the picture ("reads"),
    which questions they answer ("asks"), and the answers for the labels 0 and 1 ("answers").
    """
    epochs_by_seed: dict[int, dict[str, object]] = {}
    for seed, trained in trained_by_seed.items():
        # `best` is the index of the epoch whose weights are kept. People count epochs from 1.
        epochs_by_seed[seed] = {"chosen": trained.best + 1, "all": trained.epochs}
    return {
        "network": asdict(settings),
        "reads": "caption",
        "asks": ASKS[topic],
        "answers": ANSWERS,
        "epochs": epochs_by_seed,
    }


def _load_documents(dataset: str, question: str) -> dict[str, list[Document]]:
    """The rows of each split, in the order of `SPLITS`."""
    documents_by_split: dict[str, list[Document]] = {}
    for split in SPLITS:
        documents_by_split[split] = list(rows.load(dataset, question, "image", split=split))
    return documents_by_split


def _training_keys(documents_by_split: Mapping[str, Sequence[Document]]) -> list[str]:
    """What identifies each row that is trained on, its cartoon and caption, for `Probe.seen`."""
    from figlang_tasks.models import probe_cross_attention

    keys: list[str] = []
    for split in _TRAINING_SPLITS:
        for document in documents_by_split[split]:
            keys.append(probe_cross_attention.training_key(document, "caption"))
    return keys


def _examples(documents: Sequence[Document]) -> list[Example]:
    """The rows as a network reads them. Their pictures are decoded when they are needed."""
    from figlang_tasks.models.cross_attention import Example

    return [Example(doc["caption"], partial(_picture, doc), doc["label"]) for doc in documents]


def _scores(documents: Sequence[Document], labels: Sequence[int]) -> dict[str, float]:
    """The values of Table 11's measures for the labels of a network, 0 to 1, by name.

    Args:
        documents: the rows of the split test.
        labels: the label, 0 or 1, that a network gives each of them.
    """
    records: list[CartoonRecord] = []
    for document, label in zip(documents, labels, strict=True):
        records.append(tasks.record(document, ANSWERS[label]))
    question = records[0]["question"]  # that of all of them
    return headline_values(records, measures.BY_QUESTION[question])


def _published_scores(system: str) -> dict[str, str]:
    """The scores of a system in Table 11 in percent, such as "64.31", by metric.

    They are of other test rows than ours: the paper's split is not published.
    """
    path = Path(__file__).parent / "published.json"
    published_records = json.loads(path.read_text(encoding="utf-8"))["records"]
    scores: dict[str, str] = {}
    for published in published_records:
        if published["table"] == "Table 11" and published["model"] == system:
            scores[published["metric"]] = f"{100 * published['value']:.2f}"
    return scores


def _picture(document: Document) -> Image.Image:
    """The cartoon of a row as RGB."""
    return tasks.doc_to_visual(document)[0]


def _refuse_shared_cartoons(
    documents_by_split: Mapping[str, Sequence[Document]], dataset: str
) -> None:
    """Raise a `DataError` if a test row shows a cartoon that is trained on.

    Cartoons are the same if they are of one contest or file, or have the same pixels.
    """
    training_cartoons: set[str] = set()
    for split in _TRAINING_SPLITS:
        for document in documents_by_split[split]:
            training_cartoons |= _cartoon_keys(document)
    shared = [
        document
        for document in documents_by_split["test"]
        if not training_cartoons.isdisjoint(_cartoon_keys(document))
    ]
    if shared:
        raise DataError(
            f"{dataset}: {len(shared)} rows of the split test show a cartoon that is also in train"
            f" or validation, such as {shared[0]['id']} ({shared[0]['cartoon']}): correct the field"
            " split, with one value for all rows of a cartoon"
        )


def _cartoon_keys(document: Document) -> set[str]:
    """Two keys of the cartoon of a row: its contest or file, and a digest of its pixels.

    Cartoons that share one of them are the same.
    """
    return {document["cartoon"], images.content_key(_picture(document))}
