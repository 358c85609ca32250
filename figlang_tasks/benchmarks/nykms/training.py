"""``figlang train nykms``: the paper's trained baselines (arXiv 2409.01037, section 4.2, Table
11).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from figlang_tasks.benchmarks.nykms import measures, rows, tasks
from figlang_tasks.core import images
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.scoring.evaluation import headline_values

ASKS: Mapping[str, tuple[str, ...]] = {"metaphor": ("mc", "metaphor"), "sarcasm": ("sc", "sarcasm")}
"""The questions whose first answer says whether there is one, by topic."""
ANSWERS = ("No", "Yes")
TABLE_11 = {
    ("text", "none"): "Baseline (Text-only)",
    ("picture", "none"): "Baseline (Image-only)",
    ("both", "none"): "Baseline",
    ("both", "contrastive"): "Baseline + Contrastive",
    ("both", "ot"): "Baseline + OT",
}
"""The paper's name of a system, by what is read and how it is aligned."""


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
    import torch

    from figlang_tasks.models import probe
    from figlang_tasks.models import probe_cross_attention as kind

    if topic not in ASKS:
        raise FigLangError(f"topic is {topic!r}; valid: {', '.join(ASKS)}")
    settings = kind.Settings(
        text_encoder=probe.encoder_name(text_encoder),
        image_encoder=probe.encoder_name(image_encoder),
        modality=modality,
        alignment=alignment,
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
    )
    probe.refuse_existing(output)
    documents = {
        split: list(rows.load(dataset, ASKS[topic][0], "image", split=split))
        for split in rows.SPLITS
    }
    known = [
        kind.training_key(document, "caption")
        for split in ("train", "validation")
        for document in documents[split]
    ]
    _refuse_shared_cartoons(documents, dataset)
    examples = {
        split: [
            kind.Example(each["caption"], partial(_picture, each), each["label"])
            for each in documents[split]
        ]
        for split in rows.SPLITS
    }
    settings = kind.pinned(settings)
    on = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    runs = {
        seed: kind.train(settings, examples["train"], examples["validation"], seed, on)
        for seed in range(seeds)
    }
    measured = {
        seed: _values(
            documents["test"],
            kind.labels(kind.with_weights(settings, run.weights, on), examples["test"], batch_size),
        )
        for seed, run in runs.items()
    }
    probe.write(
        output,
        "cross_attention",
        settings={
            "network": asdict(settings),
            "reads": "caption",
            "asks": ASKS[topic],
            "answers": ANSWERS,
            "epochs": {
                seed: {"chosen": run.best + 1, "all": run.epochs} for seed, run in runs.items()
            },
        },
        trained_on={
            "data": documents["train"][0]["data"],
            "rows": {split: len(documents[split]) for split in ("train", "validation")},
        },
        seen=known,
        weights={seed: run.weights for seed, run in runs.items()},
        measured=measured,
    )
    counts = ", ".join(f"{split} {len(found):,}" for split, found in documents.items())
    shown = probe.table_of_seeds(
        list(measured.values()), {}, {"Table 11": _published(TABLE_11[modality, alignment])}
    )
    return f"rows: {counts}\n\n{shown}\n\n{output} written"


def _values(documents: Sequence[Any], labels: Sequence[int]) -> dict[str, float]:
    """The measures of Table 11 of labels 0 and 1."""
    answered = zip(documents, labels, strict=True)
    records = [tasks.record(document, ANSWERS[label]) for document, label in answered]
    return headline_values(records, measures.BY_QUESTION[records[0]["question"]])


def _published(system: str) -> dict[str, str]:
    """Table 11 in percent, of other test rows."""
    records = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))[
        "records"
    ]
    own = [each for each in records if (each["table"], each["model"]) == ("Table 11", system)]
    return {each["metric"]: f"{100 * each['value']:.2f}" for each in own}


def _picture(document: Any) -> Any:
    return tasks.doc_to_visual(document)[0]


def _refuse_shared_cartoons(documents: Mapping[str, Sequence[Any]], dataset: str) -> None:
    """Raise if a test row shows a cartoon that is trained on: of the same contest or file, or with
    the same pixels.
    """

    def names(document: Any) -> set[str]:
        return {document["cartoon"], images.content_key(_picture(document))}

    known = {
        name
        for split in ("train", "validation")
        for document in documents[split]
        for name in names(document)
    }
    shared = [document for document in documents["test"] if not known.isdisjoint(names(document))]
    if shared:
        raise DataError(
            f"{dataset}: {len(shared)} rows of the split test show a cartoon that is also in train"
            f" or validation, such as {shared[0]['id']} ({shared[0]['cartoon']}): correct the field"
            " split, with one value for all rows of a cartoon"
        )
