"""MetaCLUE's annotations as documents, one kind for each task. They hold paths of pictures; one is
read when shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import candidates
from figlang_tasks.benchmarks.metaclue.annotations import (
    FILE,
    PARTS,
    ROLES,
    Annotation,
    Metaphor,
    Table,
)
from figlang_tasks.benchmarks.metaclue.counts import CLASSIFY, GENERATED, RETRIEVE
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.prompting import render
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

# task -> the convention that boxes are read in
BOX_CONVENTIONS = {
    "localize": "thousand",  # 0 to 1000 of width and height: Qwen2-VL, Qwen3-VL, InternVL
    "localize_unit": "unit",  # 0 to 1: LLaVA
    "localize_pixel": "pixel",  # of the picture
    # Of the picture as Qwen2.5-VL sees it: its sides are multiples of 28
    "localize_pixel28": "pixel28",
    "localize_thousand_yx": "thousand_yx",  # 0 to 1000, y before x: Gemini
    "localize_loc1024": "loc1024",  # <loc0000> to <loc1023>: PaliGemma
}
# Question templates of VQA, two for each role: prompts/metaclue/question_{role}_{number}.jinja
TEMPLATES = (1, 2)


@hub.kept(maxsize=48)
def load(dataset: str, task: str, check_images: bool = False) -> datasets.Dataset:
    """The documents of one of :data:`TASKS`.

    With `check_images` all can be decoded, and boxes lie within them. A `DataError` names file,
    line and remedy.
    """
    import datasets

    if task not in TASKS:
        raise DataError(f"MetaCLUE has no task {task!r}; known: {', '.join(TASKS)}")
    table = annotation_file.read(dataset)
    rows = _rows(dataset, task, table)
    if check_images:
        check = partial(_check, dataset, table.folder if task in BOX_CONVENTIONS else None)
        row_files.end_with_the_first(
            row_files.valid(((row.where, row) for row in rows), check)[1], "metaclue"
        )
    found = TASKS[task](dataset, task, table, rows)
    if not found:
        raise PartMissing(f"{dataset}/{FILE} has no image for the task {task}")
    return datasets.Dataset.from_list(found)


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``MetaCLUE,task=caption``; errors as of `load`."""
    return load(request.dataset, request["task"], check_images)


def _check(dataset: str, folder: Path | None, row: Annotation, where: str) -> None:
    """Check the picture of a row, and its boxes where the folder of pictures is given."""
    _check_picture(dataset, row.image, where)
    if folder is not None and row.boxes:
        annotation_file.check_boxes(row, folder / row.image)


@hub.kept(maxsize=1 << 14)  # the tasks of a group have the same pictures
def _check_picture(dataset: str, image: str, where: str) -> None:
    images.check({"path": image}, where, dataset)


def _rows(dataset: str, task: str, table: Table) -> list[Annotation]:
    """The images that a task is about."""
    if not task.startswith(CLASSIFY):
        return candidates.pool_of(dataset, table)
    sets = ["metaphor", f"{task.removeprefix(CLASSIFY)}_negative"]
    rows = table.select("test", *sets)
    if len({row.set for row in rows}) < 2:
        raise PartMissing(
            f"{dataset}/{FILE}: {task} needs test images of the sets {' and '.join(sets)}"
        )
    return rows


def _common(
    dataset: str, task: str, table: Table, row: Annotation, suffix: str = ""
) -> dict[str, Any]:
    return {
        "id": f"{row.image}{suffix}",
        "data": str(DataId(dataset, task, table.digest, revision=table.revision)),
        "dataset": dataset,
        "image": row.image,
    }


def _classify(
    dataset: str, task: str, table: Table, rows: Sequence[Annotation]
) -> list[dict[str, Any]]:
    """A document for each test metaphor and negative: `metaphor` is the answer."""
    return [
        _common(dataset, task, table, row) | {"metaphor": row.set == "metaphor"} for row in rows
    ]


def _retrieve(
    dataset: str, task: str, table: Table, rows: Sequence[Annotation]
) -> list[dict[str, Any]]:
    """A document for each image with its candidate statements: `answer` is the place of the right
    one.
    """
    found = candidates.draw(dataset, task.removeprefix(RETRIEVE))
    digest = f"{table.digest}+{candidates.digest(found)}"
    data = str(DataId(dataset, task, digest, revision=table.revision))
    by_image = {row.image: row for row in rows}
    return [
        _common(dataset, task, table, by_image[each.image])
        | {
            "candidates": each.texts,
            "answer": each.answer,
            "data": data,
        }
        for each in found
    ]


def _caption(
    dataset: str, task: str, table: Table, rows: Sequence[Annotation]
) -> list[dict[str, Any]]:
    """A document for each image with all its statements, and the parts of those."""
    return [
        _common(dataset, task, table, row)
        | {"references": _once(metaphor.statement for metaphor in row.metaphors)}
        | {
            f"references_{part}": _once(getattr(each, part) for each in row.metaphors)
            for part in PARTS
        }
        for row in rows
    ]


def _ask(dataset: str, task: str, table: Table, rows: Sequence[Annotation]) -> list[dict[str, Any]]:
    """One document for each distinct question about an image; `references` are all answers that its
    metaphors give.
    """
    found = []
    for row in rows:
        asked: dict[tuple[str, int, str], list[str]] = {}
        for metaphor in [row.best] if task.endswith("_best") else row.metaphors:
            for role in PARTS:
                for template in TEMPLATES:
                    asked.setdefault(
                        (role, template, question(role, template, metaphor)), []
                    ).append(getattr(metaphor, role))
        counts: dict[tuple[str, int], int] = {}
        for (role, template, text), answers in asked.items():
            number = counts[role, template] = counts.get((role, template), 0) + 1
            common = _common(dataset, task, table, row, f"#{role}-{template}-{number}")
            found.append(common | {"role": role, "question": text, "references": _once(answers)})
    return found


def question(role: str, template: int, metaphor: Metaphor) -> str:
    """The question whose answer is a part of a metaphor."""
    words = {part: getattr(metaphor, part) for part in PARTS if part != role}
    return render(f"metaclue/question_{role}_{template}.jinja", **words)


def _once(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _localize(
    dataset: str, task: str, table: Table, rows: Sequence[Annotation]
) -> list[dict[str, Any]]:
    """One document for each concept of the best metaphor of an image that has boxes."""
    found = []
    for row, role in itertools.product(rows, ROLES):
        if not (boxes := [box for box in row.boxes if box.role == role]):
            continue
        width, height = annotation_file.picture_size(table.folder / row.image, row.where)
        own = {
            "convention": BOX_CONVENTIONS[task],
            "role": role,
            "concept": getattr(row.best, role),
            "boxes": [list(box.bbox) for box in boxes],
            "types": [box.type for box in boxes],
            "width": width,
            "height": height,
        }
        found.append(_common(dataset, task, table, row, f"#{role}") | own)
    return found


def _generate(
    dataset: str, task: str, table: Table, rows: Sequence[Annotation]
) -> list[dict[str, Any]]:
    """A document for each image whose best metaphor a text-to-image model draws, in the order of
    their paths.

    `number` is what the harness's text-to-image classes name their files by.
    """
    by_image = {row.image: row for row in rows}
    found: list[dict[str, Any]] = []
    for image in _sample([*by_image], GENERATED):
        words = {part: getattr(by_image[image].best, part) for part in PARTS}
        found.append(
            _common(dataset, task, table, by_image[image]) | words | {"number": len(found)}
        )
    return found


def _sample(images: Sequence[str], count: int) -> list[str]:
    """`count` of the images (all, if they are fewer), whatever their order."""
    ordered, found = sorted(images), set[str]()
    for number in candidates.numbers(f"{candidates.SEED}/generate", len(ordered)):
        if len(found) == min(count, len(ordered)):
            break
        found.add(ordered[number])
    return sorted(found)


TASKS: dict[str, Callable[[str, str, Table, Sequence[Annotation]], list[dict[str, Any]]]] = {
    "classify_symbolic": _classify,
    "classify_literal": _classify,
    **{f"{RETRIEVE}{name}": _retrieve for name in candidates.SETTINGS},
    "caption": _caption,
    "caption_careful": _caption,
    "vqa": _ask,
    "vqa_best": _ask,
    **dict.fromkeys(BOX_CONVENTIONS, _localize),
    "generate": _generate,
}
