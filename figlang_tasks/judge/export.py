"""Blind annotation sheets from the saved samples of several systems."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.judge import key, sheet
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.results import runs
from figlang_tasks.results.comparability import check_same_rows, check_same_scorer
from figlang_tasks.results.task_run import Run, TaskRun

NO_EXPLANATION = "(no explanation)"


def export(
    arguments: Sequence[str], output: Path, *, count: int, seed: int, annotators: int
) -> list[str]:
    """Names of what was written into `output`, an empty folder: sheets, pictures and the key."""
    systems = {run.name: _explained(run) for run in runs.read_all(arguments)}
    (first_name, first), *others = systems.items()
    for name, other in others:
        check_same_rows(first.task, first_name, first, name, other)
    check_same_scorer(first.task, {name: [run] for name, run in systems.items()})
    documents = RunDocuments(first)
    records = {
        name: {record["id"]: record for record in run.records} for name, run in systems.items()
    }
    generator = random.Random(seed)
    items, rows, pictures = [], [], {}
    for number, row_id in enumerate(
        generator.sample(sorted(first.ids), min(count, len(first.ids))), start=1
    ):
        order = list(systems)
        generator.shuffle(order)
        by_letter = dict(zip(sheet.LETTERS[: len(order)], order, strict=True))
        judged = {letter: records[name][row_id] for letter, name in by_letter.items()}
        scores = {
            letter: (each.get("explanation_scores") or {}).get("mean")
            for letter, each in judged.items()
        }
        gold = judged["A"]["gold"]
        items.append(
            {"number": number, "id": row_id, "gold": gold, "systems": by_letter, "scores": scores}
        )
        document = documents[row_id]
        image = f"images/{number:03}.png"  # nothing of the data is in the name
        if "image" in document:
            where = f"{document['dataset']} {row_id}"
            pictures[image] = png(images.decode(document["image"], where, document["dataset"]))
        shown = {
            "item": number,
            "image": image,
            "premise": document.get("premise", ""),
            "claim": document.get("claim") or document.get("hypothesis", ""),
            "reference": document["explanation"],
        }
        for letter, each in judged.items():
            said = (each["explanation"] or "").strip() or NO_EXPLANATION
            rows.append({**shown, "letter": letter, "explanation": said})
    columns = [column for column in sheet.COLUMNS if column != ("premise" if pictures else "image")]
    if len(systems) == 1:
        columns.remove("preferred")
    return write(
        output,
        pictures,
        columns,
        rows,
        annotators,
        benchmark=first.benchmark.name,
        data=str(first.data),
        seed=seed,
        scorer=first.signature or first.scorer,
        systems=list(systems),
        items=items,
    )


def _explained(run: Run) -> TaskRun:
    """The one task of a run that has explanations."""
    found = [task for task in run.tasks.values() if task.has_explanations]
    if len(found) != 1:
        named = listing(task.task for task in found)
        raise FigLangError(
            f"{run.path} holds {len(found)} tasks with explanations ({named}): name the samples"
            " of one"
        )
    if (answers := len(found[0].samples)) != len(set(found[0].ids)):
        raise FigLangError(
            f"{run.path}: {answers} answers to {len(set(found[0].ids))} rows: leave out --repeats"
        )
    found[0].check_explanations()
    found[0].check_consistent()
    return found[0]


def png(picture: Image.Image) -> bytes:
    """A picture as a file without metadata: that of generators may tell model and prompt."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write(
    folder: Path,
    contents: Mapping[str, bytes],
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    annotators: int,
    **of_key: Any,
) -> list[str]:
    """Names of what was written into an empty folder: pictures, a sheet for each annotator, and the
    key.
    """
    signed = key.signed(**of_key)
    files = dict(contents)
    for number in range(1, annotators + 1):
        own = {"annotator": f"annotator {number}", "sheet": signed["sheet"]}
        files[f"annotator{number}.csv"] = sheet.content_of(
            columns, [{**row, **own} for row in rows]
        )
    files["key.json"] = json.dumps(signed, indent=1).encode()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(dict.fromkeys(name.partition("/")[0] for name in files))
