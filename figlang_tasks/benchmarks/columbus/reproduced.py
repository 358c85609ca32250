"""Tables of the paper's first version, from released outputs of three models (``figlang
reproduce``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from figlang_tasks.benchmarks.columbus import measures, rows, tasks
from figlang_tasks.core.hub import Snapshot
from figlang_tasks.core.row_files import content_of
from figlang_tasks.scoring import evaluate

_FILES = {
    "CLIP ViT-B/32": "clip",
    "BLIP-2 Flan-T5-XXL": "blip-2_flan-t5-xxl",
    "Qwen-VL-Chat": "qwenvl",
}
_PROMPTS = {"columbus_match": "2", "columbus": "2", "columbus_plain": "1", "columbus_nodes": "3"}


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Name of each number, the number as it was printed, and ours."""
    released = rows.documents(Snapshot(folder, "local"), rows.NAME, "published").remove_columns(
        "image"
    )
    documents = {doc["id"]: doc for doc in released}
    for figure in json.loads(Path(__file__).with_name("published.json").read_bytes())["records"]:
        model, prompt = _FILES.get(figure["model"]), _PROMPTS.get(figure["task"])
        if not (
            model and prompt and figure["setting"].endswith("; v1")
        ):  # of "v1; not comparable" the card says why
            continue
        where = "clip.json" if model == "clip" else f"prompt_{prompt}/{model}_prompt_{prompt}.json"
        whole, extract = (
            folder / "results" / "analysis" / "results" / where,
            folder / "rows" / f"rows_{model}.json",
        )
        if whole.exists():
            outputs = [
                (Path(row["image"]).stem, row["output"])
                for row in json.loads(content_of(whole))["results"]
            ]
        else:
            outputs = [row[:2] for row in json.loads(content_of(extract))["runs"][prompt]["rows"]]
        records = [
            tasks.COLUMBUS.answer_record(documents[row_id], output) for row_id, output in outputs
        ]
        value = evaluate(records, measures.COLUMBUS, 0)["acc_official"][
            figure["metric"].split("_")[-1]
        ].value
        name = f"{figure['table']} {figure['model']}, prompt {prompt}, {figure['metric']}"
        yield name, f"{100 * figure['value']:.1f}", 100 * value
