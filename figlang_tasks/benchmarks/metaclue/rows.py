"""MetaCLUE's annotations as documents: what each task's prompts and judgements need of an image.

A document holds the path of a picture, which is read when it is shown. Sections are those of the
paper (arXiv 2212.09898).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import candidates
from figlang_tasks.benchmarks.metaclue.annotations import (
    FILE,
    PARTS,
    ROLES,
    Annotation,
    AnnotationSet,
    Metaphor,
)
from figlang_tasks.benchmarks.metaclue.counts import (
    CLASSIFY_PREFIX,
    GENERATED_IMAGES,
    RETRIEVE_PREFIX,
)
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.prompting import render
from figlang_tasks.core.request import Request

if TYPE_CHECKING:
    import datasets

BOX_CONVENTIONS = {
    "localize": "thousand",  # 0 to 1000 of width and height: Qwen2-VL, Qwen3-VL, InternVL
    "localize_unit": "unit",  # 0 to 1: LLaVA
    "localize_pixel": "pixel",  # pixels of the picture
    # Pixels of the picture as Qwen2.5-VL sees it: its sides are multiples of 28.
    "localize_pixel28": "pixel28",
    "localize_thousand_yx": "thousand_yx",  # 0 to 1000, y before x: Gemini
    "localize_loc1024": "loc1024",  # <loc0000> to <loc1023>: PaliGemma
}
"""How the numbers of boxes are written, by localization task."""

QUESTION_NUMBERS = (1, 2)
"""The numbers of the question templates of each part: ``question_primary_1.jinja``, say."""

_NewDocument: TypeAlias = dict[str, Any]
"""A document while it is made; `datasets` takes its columns from the first one."""


# --- the documents of a task ---


class _TaskImages(NamedTuple):
    """The annotated images that the documents of a task are made of.

    Attributes:
        dataset: ``MetaCLUE`` or the mini benchmark.
        task: the task in the request: ``classify_symbolic``.
        annotation_set: all annotations.
        rows: those of the images that the task is about.
    """

    dataset: str
    task: str
    annotation_set: AnnotationSet
    rows: Sequence[Annotation]

    def new_document(self, row: Annotation, question: str = "") -> _NewDocument:
        """A new document with what all tasks have: id, identity of the data, dataset and image.

        Args:
            row: the annotation of the image.
            question: what tells documents of one image apart, e.g. ``primary``; "" if the image has
                only one.
        """
        digest = self.annotation_set.digest
        data_id = DataId(self.dataset, self.task, digest, revision=self.annotation_set.revision)
        return {
            "id": f"{row.image}#{question}" if question else row.image,
            "data": str(data_id),
            "dataset": self.dataset,
            "image": row.image,
        }


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request such as ``MetaCLUE,task=caption`` (see `load`)."""
    return load(request.dataset, request["task"], check_images)


@hub.cached(maxsize=48)
def load(dataset: str, task: str, check_images: bool = False) -> datasets.Dataset:
    """The documents of one of `TASKS`.

    All have ``id``, ``data`` (`DataId`), ``dataset`` and ``image``, a path. The function that
    `TASKS` names says what else they have.

    Args:
        dataset: ``MetaCLUE`` or ``figlang_mini_metaclue``.
        task: the task.
        check_images: whether to decode every picture, which finds damaged ones, and to check that
            the boxes of localization lie within them.

    Raises:
        DataError: there is no such task, or the annotations or pictures have faults; the message
            has file, line and remedy.
        PartMissing: the annotations are valid, but not enough for this task.
    """
    import datasets

    if task not in TASKS:
        raise DataError(f"MetaCLUE has no task {task!r}; known: {', '.join(TASKS)}")
    annotation_set = annotation_file.read(dataset)
    rows = _rows_of_task(dataset, task, annotation_set)
    if check_images:
        _check_images(dataset, task, annotation_set, rows)
    make_documents = TASKS[task]
    new_documents = make_documents(_TaskImages(dataset, task, annotation_set, rows))
    if not new_documents:
        raise PartMissing(f"{dataset}/{FILE} has no image for the task {task}")
    return datasets.Dataset.from_list(new_documents)


def _rows_of_task(dataset: str, task: str, annotation_set: AnnotationSet) -> list[Annotation]:
    """The annotations of the images that a task is about, in the order of the file.

    Classification takes all test images of two sets, the other tasks the test metaphors.
    """
    if not task.startswith(CLASSIFY_PREFIX):
        return candidates.images_with_metaphors(dataset, annotation_set)
    negatives = task.removeprefix(CLASSIFY_PREFIX)  # symbolic or literal
    sets = ["metaphor", f"{negatives}_negative"]
    rows = annotation_set.select("test", *sets)
    sets_with_images = {row.set for row in rows}
    if len(sets_with_images) < len(sets):
        raise PartMissing(
            f"{dataset}/{FILE}: {task} needs test images of the sets {' and '.join(sets)}"
        )
    return rows


def _check_images(
    dataset: str, task: str, annotation_set: AnnotationSet, rows: Sequence[Annotation]
) -> None:
    """Check that a task's pictures are sound, and that the boxes of localization lie in them.

    Raises:
        DataError: pictures or boxes have faults; the message has the first one.
    """
    folder = annotation_set.folder if task in BOX_CONVENTIONS else None
    located_rows = ((row.location, row) for row in rows)
    # Only the faults count: the check returns nothing to keep.
    _, faults = row_files.validate_rows(located_rows, partial(_check_row, dataset, folder))
    row_files.raise_first_fault(faults, "metaclue")


def _check_row(dataset: str, folder: Path | None, row: Annotation, location: str) -> None:
    """Raise a `DataError` if the picture of an annotation is damaged, or a box reaches outside it.

    Args:
        folder: the folder of the dataset if the task asks for boxes (`BOX_CONVENTIONS`); else None,
            which leaves the boxes, and only them, unchecked.
    """
    _check_picture(dataset, row.image, location)
    if folder is not None and row.boxes:
        annotation_file.check_boxes(row, folder / row.image)


@hub.cached(maxsize=1 << 14)  # The tasks of a group have the same pictures.
def _check_picture(dataset: str, image: str, location: str) -> None:
    """Decode the picture at a path below the dataset's folder; a `DataError` if it is damaged."""
    images.check({"path": image}, location, dataset)


# --- classification (section 3.1) ---


def _classification_documents(task_images: _TaskImages) -> list[_NewDocument]:
    """A document for each test metaphor and negative.

    ``metaphor``: whether the image is a metaphor.
    """
    new_documents: list[_NewDocument] = []
    for row in task_images.rows:
        document = task_images.new_document(row)
        document["metaphor"] = row.set == "metaphor"
        new_documents.append(document)
    return new_documents


# --- retrieval (section 3.2, Table 2) ---


def _retrieval_documents(task_images: _TaskImages) -> list[_NewDocument]:
    """A document for each image that has candidate statements (`candidates.draw`).

    ``candidates``: the statements; ``answer``: the index of the right one. ``data`` has the digest
    of all candidates too.
    """
    dataset, task, annotation_set, rows = task_images
    candidates_of_images = candidates.draw(dataset, task.removeprefix(RETRIEVE_PREFIX))
    digest = f"{annotation_set.digest}+{candidates.digest(candidates_of_images)}"
    data_id = DataId(dataset, task, digest, revision=annotation_set.revision)
    row_by_image = {row.image: row for row in rows}
    new_documents: list[_NewDocument] = []
    for image, texts, answer in candidates_of_images:
        document = task_images.new_document(row_by_image[image])
        document["data"] = str(data_id)
        document["candidates"] = texts
        document["answer"] = answer
        new_documents.append(document)
    return new_documents


# --- captioning (section 3.2, Table 3) ---


def _caption_documents(task_images: _TaskImages) -> list[_NewDocument]:
    """A document for each image, with the references of a caption.

    ``references``: the statements of all its metaphors; ``references_primary``,
    ``references_relationship``, ``references_secondary``: the parts of these statements.
    """
    new_documents: list[_NewDocument] = []
    for row in task_images.rows:
        document = task_images.new_document(row)
        document["references"] = _distinct(metaphor.statement for metaphor in row.metaphors)
        for part in PARTS:
            texts = [metaphor.part(part) for metaphor in row.metaphors]
            document[f"references_{part}"] = _distinct(texts)
        new_documents.append(document)
    return new_documents


def _distinct(texts: Iterable[str]) -> list[str]:
    """Each text once, in the order in which it first comes."""
    return list(dict.fromkeys(texts))


# --- visual question answering (section 3.2, Table 3) ---


class _Question(NamedTuple):
    """A question about an image.

    Attributes:
        role: the part of a metaphor that is the answer.
        number: the number of the template.
        text: the question in words.
    """

    role: str
    number: int
    text: str


def _question_documents(task_images: _TaskImages) -> list[_NewDocument]:
    """A document for each distinct question about an image.

    ``role``: the part that is asked for; ``question``; ``references``: the answers that all
    metaphors of the image give to it. ``vqa_best`` asks about the best metaphor alone.
    """
    asks_about_best = task_images.task.endswith("_best")
    new_documents: list[_NewDocument] = []
    for row in task_images.rows:
        metaphors = [row.best] if asks_about_best else row.metaphors
        # "primary-2-1" is the first question of the second template about the primary concept.
        question_counts: Counter[tuple[str, int]] = Counter()
        for asked_question, answers in _answers_by_question(metaphors).items():
            role, number, text = asked_question
            question_counts[role, number] += 1
            name = f"{role}-{number}-{question_counts[role, number]}"
            document = task_images.new_document(row, name)
            document["role"] = role
            document["question"] = text
            document["references"] = _distinct(answers)
            new_documents.append(document)
    return new_documents


def _answers_by_question(metaphors: Iterable[Metaphor]) -> dict[_Question, list[str]]:
    """The answers to each question that the metaphors of an image give, e.g. ``["this phone"]``.

    Metaphors with the same words in two parts share a question about the third one.
    """
    answers_by_question: dict[_Question, list[str]] = {}
    for metaphor in metaphors:
        for role in PARTS:
            for number in QUESTION_NUMBERS:
                asked_question = _Question(role, number, question(role, number, metaphor))
                answers_by_question.setdefault(asked_question, []).append(metaphor.part(role))
    return answers_by_question


def question(role: str, number: int, metaphor: Metaphor) -> str:
    """A question whose answer is one part of a metaphor: "What is as light as feathers?".

    "We use fixed templates to generate 2 VQA questions whose answer is the primary concept, 2 for
    secondary concept, and 2 for relationship" (section 3.2).

    Args:
        role: the part that is the answer.
        number: the number of the template, of `QUESTION_NUMBERS`.
        metaphor: whose other parts stand in the question.
    """
    other_parts = {name: metaphor.part(name) for name in PARTS if name != role}
    return render(f"metaclue/question_{role}_{number}.jinja", **other_parts)


# --- localization (section 3.3) ---


def _localization_documents(task_images: _TaskImages) -> list[_NewDocument]:
    """A document for each concept that has boxes, of the best metaphor of each image.

    ``convention`` (`BOX_CONVENTIONS`); ``role`` and ``concept``, in words; ``boxes`` and their
    ``types``; ``width`` and ``height`` of the picture.
    """
    folder = task_images.annotation_set.folder
    new_documents: list[_NewDocument] = []
    for row in task_images.rows:
        for role in ROLES:
            boxes = [box for box in row.boxes if box.role == role]
            if not boxes:
                continue
            width, height = annotation_file.picture_size(folder / row.image, row.location)
            document = task_images.new_document(row, role)
            document["convention"] = BOX_CONVENTIONS[task_images.task]
            document["role"] = role
            document["concept"] = row.best.part(role)
            document["boxes"] = [list(box.bbox) for box in boxes]
            document["types"] = [box.type for box in boxes]
            document["width"] = width
            document["height"] = height
            new_documents.append(document)
    return new_documents


# --- generation (section 3.4) ---


def _generation_documents(task_images: _TaskImages) -> list[_NewDocument]:
    """A document for each of 300 images, whose best metaphor a model draws, in the order of paths.

    ``primary``, ``relationship``, ``secondary``; ``number``: from 0, by which lmms-eval's
    text-to-image classes name their files.
    """
    row_by_image = {row.image: row for row in task_images.rows}
    new_documents: list[_NewDocument] = []
    for number, image in enumerate(_draw_images(list(row_by_image), GENERATED_IMAGES)):
        row = row_by_image[image]
        document = task_images.new_document(row)
        for part in PARTS:
            document[part] = row.best.part(part)
        document["number"] = number
        new_documents.append(document)
    return new_documents


def _draw_images(image_paths: Sequence[str], count: int) -> list[str]:
    """Some of the images, drawn with the published seed, sorted; all if they are not more.

    The order in which they are given has no effect. The paper's own 300 were not released.
    """
    ordered_paths = sorted(image_paths)
    drawn_count = min(count, len(ordered_paths))
    drawn_paths: set[str] = set()
    # The numbers have no end, and one may come again.
    for index in candidates.draw_numbers(f"{candidates.SEED}/generate", len(ordered_paths)):
        if len(drawn_paths) == drawn_count:
            break
        drawn_paths.add(ordered_paths[index])
    return sorted(drawn_paths)


# --- all tasks ---

_RETRIEVAL_TASKS = [f"{RETRIEVE_PREFIX}{name}" for name in candidates.SETTINGS]

TASKS: dict[str, Callable[[_TaskImages], list[_NewDocument]]] = {
    "classify_symbolic": _classification_documents,
    "classify_literal": _classification_documents,
    **dict.fromkeys(_RETRIEVAL_TASKS, _retrieval_documents),
    "caption": _caption_documents,
    "caption_careful": _caption_documents,
    "vqa": _question_documents,
    "vqa_best": _question_documents,
    **dict.fromkeys(BOX_CONVENTIONS, _localization_documents),
    "generate": _generation_documents,
}
"""The function that makes the documents of each task, by the task's name in requests."""
