"""Blind annotation sheets from the saved samples of several systems."""

from __future__ import annotations

import io
import math
import random
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figlang_tasks.core import hub, images
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.text import listing
from figlang_tasks.judge import JudgeError, sheet
from figlang_tasks.judge.key import Item, Key, PictureKey, System
from figlang_tasks.results import runs, samples
from figlang_tasks.results.runs import Run, RunError, TaskRun
from figlang_tasks.results.samples import SamplesError

NO_EXPLANATION = "(no explanation)"
PAPER_SAMPLES = 95  # arXiv 2405.01474


@dataclass(frozen=True)
class _Chosen:
    """A system, and its rows by id: explanation and ExplanationScore."""

    system: System
    run: TaskRun
    rows: Mapping[str, tuple[str, float | None]]


def export(
    arguments: Sequence[str],
    output: Path,
    *,
    count: int | None,
    seed: int,
    annotators: int,
    separator: str,
) -> list[Path]:
    """Write a sheet for each annotator, the pictures and the key. After an error nothing is written.

    Args:
        arguments: runs as `results.runs.read` takes them, each with one explainable-entailment task, on the same
            samples.
        output: ``DIR/NAME.csv`` becomes ``DIR/NAME.annotator1.csv``, ..., ``DIR/NAME.images/`` and
            ``DIR/NAME.key.json``.
        count: samples to draw; None: as many as the paper judged, all where there are fewer.
        seed: of the draw and of the letters.
        annotators: sheets to write.
        separator: see `figlang_tasks.judge.sheet.content_of`.

    Returns:
        What was written, the key last.

    Raises:
        JudgeError: a run cannot be used, the runs are not of the same samples, there are too few, the data is not
            there, or an output is there already.
    """
    try:
        systems = [_chosen(run) for run in runs.read_all(arguments)]
    except RunError as error:
        raise JudgeError(str(error)) from error
    if len(systems) > len(sheet.LETTERS):
        raise JudgeError(f"{len(systems)} runs: at most {len(sheet.LETTERS)} are possible, one for each letter")
    _check_same_samples(systems)
    first = systems[0].run
    if count is None:
        count = min(PAPER_SAMPLES, len(first.ids))
    if count > len(first.ids):
        raise JudgeError(
            f"--n {count} is more than the {len(first.ids)} samples in {first.path}: use --n {len(first.ids)}"
        )
    key = _key(systems, count, seed)
    try:
        documents = _documents(key)
        pictures = _pictures(documents)
    except hub.DataError as error:
        raise JudgeError(str(error)) from error
    columns = [column for column in sheet.COLUMNS if column != ("premise" if pictures else "image")]
    if len(systems) == 1:
        columns.remove("preferred")
    return write(output, pictures, columns, _rows(key, systems, documents), key, annotators, separator)


# --- runs ------------------------------------------------------------------------------------------------------------


def _chosen(run: Run) -> _Chosen:
    found = [task for task in run.tasks.values() if task.explained]
    if not found:
        raise JudgeError(
            f"{run.path} holds no explanations to judge (tasks: {listing(run.tasks, 20)}): name a run of "
            f"{samples.tasks_of(lambda benchmark: benchmark.scorer is not None)}"
        )
    if len(found) > 1:
        tasks = listing([task.task for task in found], 20)
        raise JudgeError(f"{run.path} holds several tasks with explanations ({tasks}): name one samples file of it")
    (task,) = found
    try:
        records = [row.record for row in samples.read(task.path).rows]
    except SamplesError as error:
        raise JudgeError(str(error)) from error
    rows = {
        record.id: ((record.explanation or "").strip() or NO_EXPLANATION, _score(task, number, line))
        for number, (record, line) in enumerate(zip(records, task.lines, strict=True), start=1)
    }
    system = System(run.name, task.task, task.path.name, task.sha256, task.scorer, task.signature)
    return _Chosen(system, task, rows)


def _score(task: TaskRun, number: int, line: Mapping[str, Any]) -> float | None:
    scores = line["sample"].get("explanation_scores")
    if scores is None:
        return None
    mean = scores.get("mean") if isinstance(scores, Mapping) else None
    if isinstance(mean, bool) or not isinstance(mean, int | float) or not math.isfinite(mean):
        raise JudgeError(f"{task.path}, line {number}: explanation_scores has no mean: score the file again")
    return float(mean)


def _check_same_samples(systems: Sequence[_Chosen]) -> None:
    """All of the same data, with the same ids."""
    first = systems[0].run
    for other in (each.run for each in systems[1:]):
        if other.data != first.data:
            raise JudgeError(
                f"{first.path} is of {first.data}, {other.path} of {other.data}: judge runs on the same data"
            )
        problems = [
            f"{one.path} lacks {len(lacks)} of the samples of {of.path}: {listing(lacks, 20)}"
            for one, of in ((first, other), (other, first))
            if (lacks := [row_id for row_id in of.ids if row_id not in set(one.ids)])
        ]
        if problems:
            raise JudgeError("; ".join(problems) + ". Evaluate both on the same samples")


def _key(systems: Sequence[_Chosen], count: int, seed: int) -> Key:
    first = systems[0].run
    records = {line["sample"]["id"]: line["sample"] for line in first.lines}
    generator = random.Random(seed)
    items = []
    for number, row_id in enumerate(generator.sample(sorted(records), count), start=1):
        order = list(systems)
        generator.shuffle(order)
        by_letter = dict(zip(sheet.LETTERS, order, strict=False))
        items.append(
            Item(
                number=number,
                id=row_id,
                gold=records[row_id]["gold"],
                report_group=records[row_id]["report_group"],
                systems={letter: each.system.name for letter, each in by_letter.items()},
                scores={letter: each.rows[row_id][1] for letter, each in by_letter.items()},
            )
        )
    return Key(first.benchmark, str(first.data), seed, tuple(each.system for each in systems), tuple(items))


# --- data ------------------------------------------------------------------------------------------------------------


def _documents(key: Key) -> dict[int, Mapping[str, Any]]:
    """The benchmark's document of each item, by number."""
    data = DataId.parse(key.data)
    found = benchmarks()[key.benchmark].documents(data, {})
    if found["data"][0] != key.data:
        raise JudgeError(
            f"the samples are of {key.data}, but the data on this machine is {found['data'][0]}: use the data of the "
            "run"
        )
    places = {row_id: index for index, row_id in enumerate(found["id"])}
    return {item.number: found[places[item.id]] for item in key.items}


def _pictures(documents: Mapping[int, Mapping[str, Any]]) -> dict[str, bytes]:
    """Name and content (PNG) of the picture of each item; empty for texts.

    The name is the item's number: nothing of the data is in it.
    """
    found = {}
    for number, document in documents.items():
        if "image" in document:
            buffer = io.BytesIO()
            dataset = document["dataset"]
            images.decode(document["image"], f"{dataset} {document['id']}", dataset).save(buffer, "PNG")
            found[f"{number:03}.png"] = buffer.getvalue()
    return found


def _rows(key: Key, systems: Sequence[_Chosen], documents: Mapping[int, Mapping[str, Any]]) -> Iterator[dict[str, str]]:
    by_name = {each.system.name: each for each in systems}
    for item in key.items:
        document = documents[item.number]
        for letter, name in item.systems.items():
            yield {
                "item": str(item.number),
                "letter": letter,
                "image": f"{item.number:03}.png",
                "premise": document.get("premise", ""),
                "claim": document.get("claim") or document.get("hypothesis", ""),
                "reference": document["explanation"],
                "explanation": by_name[name].rows[item.id][0],
            }


def write(
    output: Path,
    pictures: Mapping[str, bytes],
    columns: Sequence[str],
    rows: Iterable[Mapping[str, str]],
    key: Key | PictureKey,
    annotators: int,
    separator: str,
) -> list[Path]:
    """Write an export: a folder of pictures, a sheet for each annotator, the key.

    All is written into a temporary folder first, so that an interruption or a full disk leaves no partial export.

    Args:
        output: ``DIR/NAME.csv``, as of `export`.
        pictures: content by name.
        columns: of the sheets.
        rows: cells by column; `image` is the name of a picture.
        key: of the export.
        annotators: sheets to write.
        separator: see `figlang_tasks.judge.sheet.content_of`.

    Returns:
        What was written, the key last.

    Raises:
        JudgeError: one of the files is there already, or cannot be written.
    """
    parent, stem = output.parent, output.name.removesuffix(".csv")
    rows = [{**row, "image": f"{stem}.images/{row['image']}", "sheet": key.code} for row in rows]
    files = {f"{stem}.images/{name}": content for name, content in pictures.items()}
    for number in range(1, annotators + 1):
        own = [{**row, "annotator": f"annotator {number}"} for row in rows]
        files[f"{stem}.annotator{number}.csv"] = sheet.content_of(columns, own, separator)
    files[f"{stem}.key.json"] = key.content()
    written = [parent / name for name in dict.fromkeys(name.partition("/")[0] for name in files)]
    if there := [path for path in written if path.exists()]:
        raise JudgeError(
            f"{there[0]} exists and may contain judgements, so it is not replaced: choose another -o, or remove it"
        )
    try:
        parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent) as staged:
            for name, content in files.items():
                path = Path(staged, name)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            for path in written:
                Path(staged, path.name).rename(path)
    except OSError as error:
        raise JudgeError(f"{error.filename or parent} cannot be written: {error.strerror or error}") from error
    return written
