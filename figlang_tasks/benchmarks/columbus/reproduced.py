"""Recomputes tables of COLUMBUS's first version (v1), for ``figlang reproduce``.

The authors released the outputs of three models that can be had (docs/reproduced.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from figlang_tasks.benchmarks.columbus import measures, rows, tasks
from figlang_tasks.core.hub import Snapshot
from figlang_tasks.core.row_files import content_of
from figlang_tasks.scoring import evaluate

_FILE_NAMES = {
    "CLIP ViT-B/32": "clip",
    "BLIP-2 Flan-T5-XXL": "blip-2_flan-t5-xxl",
    "Qwen-VL-Chat": "qwenvl",
}
# The paper's number of the prompt by task. The released file of CLIP, which has no prompt, is "2".
_PROMPT_NUMBERS = {
    "columbus_match": "2",
    "columbus": "2",
    "columbus_plain": "1",
    "columbus_nodes": "3",
}


class _ReleasedOutput(NamedTuple):
    """What a model answered to a rebus, by the rebus's id."""

    row_id: str
    output: str


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, published number and our number, both in percent, of each released accuracy.

    The published number is a text with one decimal.

    Args:
        folder: an archive of the authors' repository, or a folder with its data and extracts of
            the released outputs (``rows/rows_clip.json``).
    """
    release = Snapshot(folder, "local")
    documents = rows.documents(release, rows.NAME, "published").remove_columns("image")
    documents_by_id = {document["id"]: document for document in documents}
    published_file = Path(__file__).with_name("published.json")
    for figure in json.loads(published_file.read_bytes())["records"]:
        model_file = _FILE_NAMES.get(figure["model"])
        prompt_number = _PROMPT_NUMBERS.get(figure["task"])
        # docs/reproduced.md explains the figures that are not comparable.
        is_comparable = "not comparable" not in figure["setting"]
        is_of_v1 = figure.get("release") == "v1" and is_comparable
        if model_file is None or prompt_number is None or not is_of_v1:
            continue
        records = []
        for row_id, output in _released_outputs(folder, model_file, prompt_number):
            records.append(tasks.COLUMBUS.answer_record(documents_by_id[row_id], output))
        estimates = evaluate(records, measures.COLUMBUS, stderr_resamples=0)
        scope = figure["metric"].removeprefix("acc_official_")  # text or icon
        accuracy = estimates["acc_official"][scope].value
        name = f"{figure['table']} {figure['model']}, prompt {prompt_number}, {figure['metric']}"
        yield name, f"{100 * figure['value']:.1f}", 100 * accuracy


def _released_outputs(folder: Path, model_file: str, prompt_number: str) -> list[_ReleasedOutput]:
    """The released outputs of a model: those of the archive, else those of the extract.

    Args:
        folder: the archive, or the folder with the extract.
        model_file: a value of `_FILE_NAMES`.
        prompt_number: a value of `_PROMPT_NUMBERS`.
    """
    if model_file == "clip":
        file_name = "clip.json"
    else:
        file_name = f"prompt_{prompt_number}/{model_file}_prompt_{prompt_number}.json"
    archive_file = folder / "results" / "analysis" / "results" / file_name
    outputs: list[_ReleasedOutput] = []
    if archive_file.exists():
        for row in json.loads(content_of(archive_file))["results"]:
            outputs.append(_ReleasedOutput(Path(row["image"]).stem, row["output"]))
        return outputs
    extract = json.loads(content_of(folder / "rows" / f"rows_{model_file}.json"))
    # The first two columns are the rebus and the answer; further ones may follow.
    for row_id, output, *_ in extract["runs"][prompt_number]["rows"]:
        outputs.append(_ReleasedOutput(row_id, output))
    return outputs
