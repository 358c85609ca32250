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
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.judge import key, sheet
from figlang_tasks.results import runs
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring.explained import the_scheme

NO_EXPLANATION = "(no explanation)"


def export(arguments: Sequence[str], output: Path, *, count: int, seed: int, annotators: int) -> list[str]:
    """Names of what was written into `output`, an empty folder: sheets, pictures and the key."""
    systems = {run.name: _explained(run) for run in runs.read_all(arguments)}
    if len(systems) > len(sheet.LETTERS):
        raise FigLangError(f"{len(systems)} runs, but an item has {len(sheet.LETTERS)} letters: judge fewer together")
    first, *others = systems.values()
    for other in others:
        _check_alike(first, other)
    count = min(count, len(first.ids))
    records = {name: {record["id"]: record for record in run.records} for name, run in systems.items()}
    signed = _key(systems, records, count, seed)
    rows, pictures = _rows(signed, records)
    columns = [column for column in sheet.COLUMNS if column != ("premise" if pictures else "image")]
    if len(systems) == 1:
        columns.remove("preferred")
    return write(output, pictures, columns, rows, signed, annotators)


def _explained(run: Run) -> TaskRun:
    """The one task of a run that has explanations."""
    found = [task for task in run.tasks.values() if task.explained]
    if not found:
        raise FigLangError(
            f"{run.path} holds no explanations to judge (tasks: {listing(run.tasks, 20)}): name a run of "
            f"{listing(name for name, each in benchmarks().items() if each.scorer)}"
        )
    if len(found) > 1:
        tasks = listing([task.task for task in found], 20)
        raise FigLangError(f"{run.path} holds several tasks with explanations ({tasks}): name one samples file of it")
    if (answers := len(found[0].lines)) != len(set(found[0].ids)):
        raise FigLangError(f"{run.path}: {answers} answers to {len(set(found[0].ids))} rows: leave out --repeats")
    found[0].computed(lambda _, records: the_scheme(records))
    runs.check_consistent(found[0])
    return found[0]


def _check_alike(first: TaskRun, other: TaskRun) -> None:
    if other.data != first.data:
        raise FigLangError(f"{first.path} is of {first.data}, {other.path} of {other.data}: judge runs on equal data")
    if differ := sorted({*first.ids} ^ {*other.ids}):
        raise FigLangError(
            f"{first.path} and {other.path} differ in {len(differ)} samples: {listing(differ, 20)}. Evaluate both on "
            "the same samples"
        )
    # A lone samples file has no signature.
    if first.scorer != other.scorer or len({first.signature, other.signature} - {None}) > 1:
        told = ", ".join(f"{task.path}: {task.signature or task.scorer}" for task in (first, other))
        raise FigLangError(f"the explanation scores are of different scorers ({told}): figlang score both by one")


def _key(systems: Mapping[str, TaskRun], records: Mapping[str, Any], count: int, seed: int) -> dict[str, Any]:
    first = next(iter(systems.values()))
    generator = random.Random(seed)
    items = []
    for number, row_id in enumerate(generator.sample(sorted(first.ids), count), start=1):
        order = list(systems)
        generator.shuffle(order)
        by_letter = dict(zip(sheet.LETTERS[: len(order)], order, strict=True))
        judged = {letter: records[name][row_id] for letter, name in by_letter.items()}
        scores = {letter: (each.get("explanation_scores") or {}).get("mean") for letter, each in judged.items()}
        gold = judged["A"]["gold"]
        items.append({"number": number, "id": row_id, "gold": gold, "systems": by_letter, "scores": scores})
    return key.signed(
        benchmark=first.benchmark.name,
        data=str(first.data),
        seed=seed,
        scorer=first.signature or first.scorer,
        systems=list(systems),
        items=items,
    )


def _rows(signed: Mapping[str, Any], records: Mapping[str, Any]) -> tuple[list[dict[str, object]], dict[str, bytes]]:
    """The rows of a sheet, and the pictures by name. A name is the item's number: nothing of the data is in it."""
    found = benchmarks()[signed["benchmark"]].documents(DataId.parse(signed["data"]), {})
    if found["data"][0] != signed["data"]:
        raise FigLangError(
            f"the samples are of {signed['data']}, but the data on this machine is {found['data'][0]}: use the data of "
            "the run"
        )
    places = {row_id: index for index, row_id in enumerate(found["id"])}
    rows, pictures = [], {}
    for item in signed["items"]:
        document, name = found[places[item["id"]]], f"{item['number']:03}.png"
        if "image" in document:
            where = f"{document['dataset']} {item['id']}"
            pictures[name] = png(images.decode(document["image"], where, document["dataset"]))
        context = {
            "premise": document.get("premise", ""),
            "claim": document.get("claim") or document.get("hypothesis", ""),
            "reference": document["explanation"],
        }
        for letter, system in item["systems"].items():
            said = (records[system][item["id"]]["explanation"] or "").strip() or NO_EXPLANATION
            rows.append({"item": item["number"], "letter": letter, "image": name, **context, "explanation": said})
    return rows, pictures


def png(picture: Image.Image) -> bytes:
    """A picture as a file without metadata: that of generators may tell model and prompt."""
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def write(
    folder: Path,
    pictures: Mapping[str, bytes],
    columns: Sequence[str],
    rows: Iterable[Mapping[str, object]],
    signed: Mapping[str, Any],
    annotators: int,
) -> list[str]:
    """Names of what was written into an empty folder: pictures, a sheet for each annotator, and the key."""
    rows = [{**row, "image": f"images/{row['image']}", "sheet": signed["sheet"]} for row in rows]
    files = {f"images/{name}": content for name, content in pictures.items()}
    for number in range(1, annotators + 1):
        own = [{**row, "annotator": f"annotator {number}"} for row in rows]
        files[f"annotator{number}.csv"] = sheet.content_of(columns, own)
    files["key.json"] = json.dumps(signed, indent=1).encode()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return list(dict.fromkeys(name.partition("/")[0] for name in files))
