"""IRFL's supervised classifier (arXiv 2303.15445, sections 4.1 and 4.2): ``figlang train irfl``.

It is trained on the base table of idioms, and tested on a table whose pictures and phrases it has
never seen.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from figlang_tasks.benchmarks.irfl import rows, tables
from figlang_tasks.benchmarks.irfl.archive import pictures
from figlang_tasks.benchmarks.irfl.tasks import DETECT, RETRIEVE, doc_to_visual
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import folded
from figlang_tasks.scoring.evaluation import headline_values

Document = Mapping[str, Any]

BASE = "idioms-dataset"
FIGURATIVE = ("figurative", "figurative+literal")
CATEGORIES = (*FIGURATIVE, "literal", "partial literal", "none")
BATCH, LEARNING_RATE = 12, 0.001  # of Adam


def train(
    encoder: Annotated[
        str, Option(help="Dual encoder: an id of the hub, or a folder.")
    ] = "openai/clip-vit-base-patch32",
    revision: Annotated[str | None, Option(help="Of the encoder's repository.")] = None,
    table: Annotated[
        str,
        Option(
            help=(
                "Table to test on, such as idiom-retrieval-task; its pictures and phrases are not"
                " trained on."
            )
        ),
    ] = "idiom-detection-task",
    seeds: Annotated[int, Option(min=1, help="How many networks: seeds 0, 1, 2 ...")] = 5,
    output: Annotated[Path, Option(help="Folder to write.")] = Path("irfl_probe"),
    phrase_only: Annotated[
        bool, Option(help="Train and test with the idiom alone, without its definitions.")
    ] = False,
    hidden: Annotated[
        int, Option(min=0, help="Units of the hidden layer; 0: no hidden layer.")
    ] = 512,
    epochs: Annotated[int, Option(min=1, help="Passes over the training data.")] = 7,
    dataset: Annotated[
        str, Option(help="IRFL, or figlang_mini_irfl, small data of this package.")
    ] = "IRFL",
) -> str:
    """Train IRFL's classifier of idioms (Tables 6 and 8).

    It prints the encoder's own numbers, the mean and the standard deviation of the seeds, and the
    paper's.

    \b
    figlang train irfl --output probe
    figlang train irfl --table idiom-retrieval-task --output probe_retrieval
    lmms_eval --tasks irfl_match_idiom --model figlang_probe --model_args probe=probe,seed=0 ...
    """
    from figlang_tasks.models import probe, probe_pair
    from figlang_tasks.models.dual_encoder import FigLangCLIP

    probe.refuse_existing(output)
    tested = _tested(dataset, table)
    documents = trainable(dataset, tested)
    encoder = probe.encoder_name(encoder)
    own = FigLangCLIP(encoder, revision, batch_size="auto")
    settings = {"encoder": encoder, "revision": own.commit or revision}

    def features(of: Sequence[Document]) -> Any:
        return probe_pair.features(
            own,
            of,
            lambda doc: rows.text(doc, phrase_only),
            lambda doc: doc_to_visual(doc, {"prompt": "text"}),
        )

    test, pairs = features(tested), features(documents)
    known = test.seen()
    # No picture of the test
    kept = [place for place, shown in enumerate(pairs.shown()) if known.isdisjoint(shown)]
    if not kept:
        raise DataError(
            f"{dataset}: {BASE} has only pictures and phrases of {table}: nothing to train on"
        )
    pairs, documents = (
        replace(pairs, plan=[pairs.plan[each] for each in kept]),
        [documents[each] for each in kept],
    )
    labels = [document["category"] in FIGURATIVE for document in documents]
    fitting: dict[str, Any] = {
        "epochs": epochs,
        "batch_size": BATCH,
        "learning_rate": LEARNING_RATE,
    }
    weights = {
        seed: probe_pair.train(pairs, labels, hidden, seed=seed, **fitting) for seed in range(seeds)
    }
    before = _values(tested, test.cosines())
    after = {
        seed: _values(tested, probe_pair.answers(test, each)) for seed, each in weights.items()
    }
    trained_on: dict[str, Any] = {
        "data": tables.read_base_table(dataset, BASE).data,
        "without": tested[0]["data"],
        "pictures": len(documents),
        "idioms": len({document["phrase"] for document in documents}),
        "categories": dict(Counter(document["category"] for document in documents)),
    }
    probe.write(
        output,
        "pair",
        settings=settings
        | {"phrase_only": phrase_only, "hidden": hidden, "optimizer": "Adam"}
        | fitting,
        trained_on=trained_on,
        seen=pairs.seen(),
        weights=weights,
        measured={"encoder": before, "seeds": after},
    )
    alone = {name: f"{100 * value:.1f}" for name, value in before.items()}
    published = {"paper": published_values(table, phrase_only)} if dataset == "IRFL" else {}
    shown = probe.table_of_seeds(list(after.values()), {"encoder": alone}, published)
    counts = ", ".join(f"{name} {count:,}" for name, count in trained_on["categories"].items())
    told = (
        f"trained on {trained_on['pictures']:,} pictures of {trained_on['idioms']} idioms"
        f" ({counts})"
    )
    return "\n".join([told, "", shown, "", f"{output} written"])


def trainable(dataset: str, tested: Sequence[Document]) -> list[Document]:
    """The rows of the base table whose phrase no test document has, in the shape of those
    documents.
    """
    phrases = {folded(document["phrase"]) for document in tested}
    images = [
        each
        for each in tables.read_base_table(dataset, BASE).rows
        if folded(each.phrase) not in phrases
    ]
    chosen = [each for each in images if each.type in CATEGORIES]
    for image in chosen:
        pictures(dataset).check(image.uuids, image.location)
    return [
        {
            **asdict(image),
            "category": image.type,
            "dataset": dataset,
            "id": image.location,
            "candidates": image.uuids,
        }
        for image in chosen
    ]


def _tested(dataset: str, table: str) -> list[Document]:
    if not table.endswith(("-detection-task", "-retrieval-task")):
        raise DataError(
            f"--table {table}: must be a table of detection or retrieval, such as"
            " idiom-detection-task"
        )
    return list(rows.load(dataset, table))


def _values(tested: Sequence[Document], answers: Sequence[str]) -> dict[str, float]:
    """The measures of the table, by full name, of matching scores as answers."""
    task = RETRIEVE if "positive" in tested[0] else DETECT
    records = [
        task.answer_record(document, answer)
        for document, answer in zip(tested, answers, strict=True)
    ]
    return headline_values(records, task.measures)


def published_values(table: str, phrase_only: bool) -> dict[str, str]:
    """What the paper has of its classifier, by full name of the measure, in percent."""
    kind, _, way = table.removesuffix("-task").rpartition("-")
    name = (
        f"irfl_{'match' if way == 'detection' else 'retrieve'}_{kind}"
        f"{'_phrase_only' if phrase_only else ''}"
    )
    records = json.loads((Path(__file__).parent / "published.json").read_text(encoding="utf-8"))[
        "records"
    ]
    return {
        record["metric"]: (
            f"{100 * record['value']:g}"
            + (f" ± {100 * record['std']:g}" if "std" in record else "")
        )
        for record in records
        if record["setting"].startswith("supervised;") and name in [record["task"], *record["task"]]
    }
