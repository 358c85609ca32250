"""IRFL's supervised model (arXiv 2303.15445, sections 4.1 and 4.2): ``figlang train irfl``.

"We add a binary classifier on top of pre-trained embeddings to classify whether a given image is
figurative" (section 4.1). It is trained on the base table of idioms, and tested on a table whose
images and phrases it has never seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict

from typer import Option

from figlang_tasks.benchmarks.irfl import rows, tables
from figlang_tasks.benchmarks.irfl.archive import pictures
from figlang_tasks.benchmarks.irfl.tasks import DETECT, RETRIEVE, doc_to_visual
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import folded
from figlang_tasks.scoring.evaluation import headline_values
from figlang_tasks.scoring.task import Document

if TYPE_CHECKING:
    from PIL import Image

    from figlang_tasks.models.dual_encoder import Features, FigLangCLIP

BASE = "idioms-dataset"

FIGURATIVE = ("figurative", "figurative+literal")
"""The categories of images that the classifier is to call figurative."""

CATEGORIES = (*FIGURATIVE, "literal", "partial literal", "none")
"""The categories of images that it is trained on."""

BATCH_SIZE = 12
LEARNING_RATE = 0.001
"""Of Adam, as the size of a batch is: section 4.1."""

_Encoder = Annotated[str, Option(help="Dual encoder: an id of the hub, or a folder.")]
_Revision = Annotated[str | None, Option(help="Of the encoder's repository.")]
_TestTable = Annotated[
    str,
    Option(
        help=(
            "Table to test on, such as idiom-retrieval-task; its pictures and phrases are not"
            " trained on."
        )
    ),
]
_Seeds = Annotated[int, Option(min=1, help="How many networks: seeds 0, 1, 2 ...")]
_Output = Annotated[Path, Option(help="Folder to write.")]
_PhraseOnly = Annotated[
    bool, Option(help="Train and test with the idiom alone, without its definitions.")
]
_Hidden = Annotated[int, Option(min=0, help="Units of the hidden layer; 0: no hidden layer.")]
_Epochs = Annotated[int, Option(min=1, help="Passes over the training data.")]
_Dataset = Annotated[str, Option(help="IRFL, or figlang_mini_irfl, small data of this package.")]


def train(
    encoder: _Encoder = "openai/clip-vit-base-patch32",
    revision: _Revision = None,
    table: _TestTable = "idiom-detection-task",
    seeds: _Seeds = 5,
    output: _Output = Path("irfl_probe"),
    phrase_only: _PhraseOnly = False,
    hidden: _Hidden = 512,
    epochs: _Epochs = 7,
    dataset: _Dataset = "IRFL",
) -> str:
    """Train IRFL's classifier of idioms (Tables 6 and 8).

    It prints the encoder's own numbers, the mean and the standard deviation of the seeds, and the
    paper's.

    \b
    figlang train irfl --output probe
    figlang train irfl --table idiom-retrieval-task --output probe_retrieval
    lmms_eval --tasks irfl_match_idiom --model figlang_probe --model_args probe=probe,seed=0 ...
    """
    # Importing these takes seconds, because they import torch.
    from figlang_tasks.models import probe
    from figlang_tasks.models.dual_encoder import FigLangCLIP

    probe.refuse_existing(output)
    test_documents = _test_documents(dataset, table)
    training_documents = trainable(dataset, test_documents)  # none has a phrase of the test
    encoder_name = probe.encoder_name(encoder)
    dual_encoder = FigLangCLIP(encoder_name, revision, batch_size="auto")
    settings = _Settings(
        encoder=encoder_name,
        revision=dual_encoder.commit or revision,
        phrase_only=phrase_only,
        hidden=hidden,
        optimizer="Adam",
        epochs=epochs,
        batch_size=BATCH_SIZE,
        learning_rate=LEARNING_RATE,
    )
    test = _encode(dual_encoder, test_documents, phrase_only)
    training = _encode(dual_encoder, training_documents, phrase_only)
    # Equal pictures are found by the keys of their features: now none has a picture of the test.
    training = _without_test_inputs(training, test.features.all_keys())
    if not training.documents:
        raise DataError(
            f"{dataset}: {BASE} has only pictures and phrases of {table}: nothing to train on"
        )
    trained_on = _summary_of(training.documents, dataset, tested_on=test_documents[0]["data"])
    values = _train_and_write(output, settings, training, test, seeds, trained_on)
    results = _table_of_results(values, dataset, table, phrase_only)
    # The command line prints what this returns.
    return "\n".join([_sentence_of(trained_on), "", results, "", f"{output} written"])


class _Settings(TypedDict):
    """The settings of a classifier, as its folder keeps them.

    Attributes:
        encoder: the dual encoder, an id of the hub or a folder.
        revision: the commit of the encoder; else the revision that was asked for, or None.
        phrase_only: whether idioms stand alone, without their definitions.
        hidden: units of the hidden layer; 0 for no hidden layer.
        optimizer: the optimizer's name.
        epochs: passes over the training data.
        batch_size: images in a batch.
        learning_rate: of the optimizer.
    """

    encoder: str
    revision: str | None
    phrase_only: bool
    hidden: int
    optimizer: str
    epochs: int
    batch_size: int
    learning_rate: float


class _TestValues(NamedTuple):
    """Values of the test table's measures, 0 to 1, by full name: ``{"acc": 0.58, ...}``.

    Attributes:
        encoder: those of the encoder itself.
        by_seed: those of the classifier of each seed.
    """

    encoder: dict[str, float]
    by_seed: dict[int, dict[str, float]]


def _train_and_write(
    output: Path,
    settings: _Settings,
    training: _EncodedDocuments,
    test: _EncodedDocuments,
    seed_count: int,
    trained_on: _Summary,
) -> _TestValues:
    """Train a classifier for each seed, test it, and write all of them; return the test values.

    Args:
        output: the folder to write.
        settings: those of the classifiers.
        training: what to train on.
        test: what to test on.
        seed_count: how many classifiers: seeds 0, 1, 2 and so on.
        trained_on: what the folder says about the training data.
    """
    from figlang_tasks.models import probe, probe_pair

    labels = _is_figurative(training.documents)
    encoder_values = _values(test.documents, test.features.cosines())
    weights_by_seed: dict[int, probe.Weights] = {}
    values_by_seed: dict[int, dict[str, float]] = {}
    for seed in range(seed_count):
        weights = probe_pair.train(
            training.features,
            labels,
            settings["hidden"],
            seed=seed,
            epochs=settings["epochs"],
            batch_size=settings["batch_size"],
            learning_rate=settings["learning_rate"],
        )
        weights_by_seed[seed] = weights
        answers = probe_pair.answers(test.features, weights)
        values_by_seed[seed] = _values(test.documents, answers)
    probe.write(
        output,
        "pair",  # the kind of probe: it judges pairs of text and image
        settings=settings,
        trained_on=trained_on,
        seen=training.features.all_keys(),
        weights=weights_by_seed,
        measured={"encoder": encoder_values, "seeds": values_by_seed},
    )
    return _TestValues(encoder_values, values_by_seed)


# --- what is trained on, and what is tested ---


class _EncodedDocuments(NamedTuple):
    """Documents to train on or to test on, with the encoder's features.

    Attributes:
        documents: those to train on have one image each, and its ``category``.
        features: the encoder's features of each document's text and images, in the same order.
    """

    documents: list[Document]
    features: Features


def _test_documents(dataset: str, table: str) -> list[Document]:
    """The documents of the table to test on, which must be one of detection or retrieval."""
    if not table.endswith(("-detection-task", "-retrieval-task")):
        raise DataError(
            f"--table {table}: must be a table of detection or retrieval, such as"
            " idiom-detection-task"
        )
    return list(rows.load(dataset, table))


def trainable(dataset: str, test_documents: Sequence[Document]) -> list[Document]:
    """Documents to train on: the base table's images, but those whose phrase is in the test.

    "[We make] sure the training data does not contain any of the images or idioms that appear in
    the task" (section 4.1). Phrases are the same if they differ in spelling alone (`folded`). The
    images of the test are not left out here: `train` does that, when it has their keys.

    Args:
        dataset: ``IRFL`` or ``figlang_mini_irfl``.
        test_documents: the rows to test on.
    """
    test_phrases = {folded(document["phrase"]) for document in test_documents}
    documents: list[Document] = []
    for image in tables.read_base_table(dataset, BASE).rows:
        if folded(image.phrase) in test_phrases or image.type not in CATEGORIES:
            continue
        pictures(dataset).check(image.uuids, image.location)
        documents.append(
            {
                "dataset": dataset,
                "id": image.location,
                "phrase": image.phrase,
                "definitions": image.definitions,
                "category": image.type,
                "candidates": image.uuids,
            }
        )
    return documents


def _encode(
    dual_encoder: FigLangCLIP, documents: list[Document], phrase_only: bool
) -> _EncodedDocuments:
    """Documents with the encoder's features of their texts and images."""
    from figlang_tasks.models import probe_pair

    def text_of(document: Document) -> str:
        """The phrase, with its definitions if they are asked for."""
        return rows.phrase_text(document, phrase_only)

    def images_of(document: Document) -> list[Image.Image]:
        """The images of the document, each apart: the prompt ``text`` makes no grid of them."""
        return doc_to_visual(document, {"prompt": "text"})

    features = probe_pair.features(dual_encoder, documents, text_of, images_of)
    return _EncodedDocuments(documents, features)


def _without_test_inputs(training: _EncodedDocuments, test_keys: set[str]) -> _EncodedDocuments:
    """The training data without documents that share a text or an image with the test.

    Args:
        training: the training data.
        test_keys: texts of the test, and keys of its images (`Features.all_keys`). Equal images
            have equal keys, whatever their uuid is.
    """
    kept_indices: list[int] = []
    for index, training_keys in enumerate(training.features.keys_of_requests()):
        if test_keys.isdisjoint(training_keys):
            kept_indices.append(index)
    comparisons = [training.features.comparisons[index] for index in kept_indices]
    documents = [training.documents[index] for index in kept_indices]
    return _EncodedDocuments(documents, replace(training.features, comparisons=comparisons))


def _is_figurative(documents: Sequence[Document]) -> list[bool]:
    """The gold label of each training document."""
    return [document["category"] in FIGURATIVE for document in documents]


# --- results ---


class _Summary(TypedDict):
    """What a classifier was trained on, as its folder says.

    Attributes:
        data: the base table, the text of a `DataId`.
        without: the data that it is tested on.
        pictures: how many images.
        idioms: how many different idioms.
        categories: how many images of each category.
    """

    data: str
    without: str
    pictures: int
    idioms: int
    categories: dict[str, int]


def _summary_of(documents: Sequence[Document], dataset: str, tested_on: str) -> _Summary:
    """The `_Summary` of the training documents; `tested_on` is the `DataId` of the test, a text."""
    return {
        "data": tables.read_base_table(dataset, BASE).data,
        "without": tested_on,
        "pictures": len(documents),
        "idioms": len({document["phrase"] for document in documents}),
        "categories": dict(Counter(document["category"] for document in documents)),
    }


def _sentence_of(summary: _Summary) -> str:
    """A summary in words: ``trained on 90 pictures of 50 idioms (figurative 40, literal 50)``."""
    counts: list[str] = []
    for category, count in summary["categories"].items():
        counts.append(f"{category} {count:,}")
    return (
        f"trained on {summary['pictures']:,} pictures of {summary['idioms']} idioms"
        f" ({', '.join(counts)})"
    )


def _values(documents: Sequence[Document], answers: Sequence[str]) -> dict[str, float]:
    """The values of the test table's measures, 0 to 1, by full name: ``{"acc_figurative": 0.58}``.

    Args:
        documents: the rows to test on, all of one table.
        answers: the matching scores of each row, in the JSON of score requests.
    """
    is_retrieval = "positive" in documents[0]  # a column of retrieval's documents alone
    task = RETRIEVE if is_retrieval else DETECT
    records = []
    for document, answer in zip(documents, answers, strict=True):
        records.append(task.answer_record(document, answer))
    return headline_values(records, task.measures)


def _table_of_results(values: _TestValues, dataset: str, table: str, phrase_only: bool) -> str:
    """The results as a Markdown table: encoder, mean and spread of the seeds; of IRFL the paper."""
    from figlang_tasks.models import probe

    encoder_column = {name: f"{100 * value:.1f}" for name, value in values.encoder.items()}
    published: dict[str, dict[str, str]] = {}
    if dataset == "IRFL":
        published["paper"] = published_values(table, phrase_only)
    seeds = list(values.by_seed.values())
    return probe.table_of_seeds(seeds, {"encoder": encoder_column}, published)


def published_values(table: str, phrase_only: bool) -> dict[str, str]:
    """The paper's results of its classifier (Tables 6 and 8), in percent: ``58 ± 4.2``.

    Args:
        table: the table that was tested on.
        phrase_only: whether the idiom stood alone, without its definitions.

    Returns:
        Texts by full name (``acc_figurative``); empty if the paper has no such result.
    """
    # The results are filed under the name of our task: irfl_match_idiom_phrase_only.
    figure, _, task_kind = table.removesuffix("-task").rpartition("-")  # open-simile-detection-task
    family = "match" if task_kind == "detection" else "retrieve"
    task = f"irfl_{family}_{figure}"
    if phrase_only:
        task += "_phrase_only"
    path = Path(__file__).parent / "published.json"
    records = json.loads(path.read_text(encoding="utf-8"))["records"]

    values: dict[str, str] = {}
    for record in records:
        # A record names one task, or several of them in a list.
        tasks = [record["task"]] if isinstance(record["task"], str) else record["task"]
        is_of_classifier = record["setting"].startswith("supervised;")
        if not is_of_classifier or task not in tasks:
            continue
        text = f"{100 * record['value']:g}"
        if "std" in record:
            text += f" ± {100 * record['std']:g}"
        values[record["metric"]] = text
    return values
