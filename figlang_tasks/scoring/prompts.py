"""The prompts of a task as lines of JSON, for models that are run outside of a harness."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.prompting import ChatTurn
from figlang_tasks.scoring.task import Document
from figlang_tasks.scoring.task_file import TaskFile

if TYPE_CHECKING:
    from PIL import Image

Origin: TypeAlias = Literal["file", "data", "drawn"]
"""Where a picture of a prompt is from.

``file``: a file on this machine. ``data``: bytes inside of a table or a zip. ``drawn``: the task
makes it, as a grid of pictures.
"""

PictureNaming: TypeAlias = Callable[["Image.Image", images.StoredPicture | None], str | None]
"""Gives the path of the file with a picture, or None if there is none.

Its arguments are the picture, and where the data has it: None for one that the task draws.
"""


class PromptPicture(TypedDict):
    """A picture of a prompt.

    Attributes:
        row: the id of the row whose prompt shows it.
        file: the path of its file; None if it has none.
        origin: where it is from.
    """

    row: str
    file: str | None
    origin: Origin


class PromptLine(TypedDict):
    """The prompt of a row, as one line of the file.

    Attributes:
        id: of the row; a file of predictions names it.
        task: the name of the task.
        messages: the prompt as chat turns, in which a picture is the path of its file.
        prompt: the prompt as one text.
        images: the pictures, in the order of the messages.
        generation_kwargs: the settings of generation.
    """

    id: str
    task: str
    messages: list[ChatTurn]
    prompt: str
    images: list[PromptPicture]
    generation_kwargs: Mapping[str, object]


def check_can_be_asked(task_file: TaskFile) -> None:
    """Raise an error unless all prompts of a task can be written before a model answers.

    Raises:
        FigLangError: the second prompt of the task holds the first answer, or an option of the task
            file is wrong.
    """
    if task_file.has_two_rounds:
        raise FigLangError(
            f"{task_file.name} asks a model twice, and its second prompt holds the first answer: it"
            f" cannot be written before. Run it with lmms_eval --tasks {task_file.name}"
        )
    try:
        task_file.kind.options.blocks(task_file.config)
    except ValueError as error:
        raise FigLangError(f"{task_file.name}: {error}") from error


def prompt_lines(
    task_file: TaskFile, settings: Mapping[str, object], name_picture: PictureNaming
) -> Iterator[PromptLine]:
    """Yield the prompt of each row, in the order of the rows.

    A row's pictures are decoded when its turn comes, so that few are in memory.

    Args:
        task_file: the task.
        settings: the settings of generation.
        name_picture: is called once with each picture of each row.

    Raises:
        DataError: the data is missing or has faults.
    """
    for document in task_file.benchmark.documents(task_file.request, check_images=True):
        messages, pictures = _messages_with_paths(task_file, document, name_picture)
        yield {
            "id": document["id"],
            "task": task_file.name,
            "messages": messages,
            "prompt": task_file.prompt(document),
            "images": pictures,
            "generation_kwargs": settings,
        }


def _messages_with_paths(
    task_file: TaskFile, document: Document, name_picture: PictureNaming
) -> tuple[list[ChatTurn], list[PromptPicture]]:
    """The prompt of a row as chat turns with the paths of its pictures, and these pictures."""
    file_of_bytes = task_file.picture_file(document)
    pictures: list[PromptPicture] = []
    messages: list[ChatTurn] = []
    for turn in task_file.messages(document):
        content: list[Mapping[str, Any]] = []
        for part in turn["content"]:
            if part["type"] != "image":
                content.append(part)
                continue
            stored = images.stored_picture(part["url"])
            if stored is not None and stored.file is None:
                stored = images.StoredPicture(file_of_bytes, stored.content)
            path = name_picture(part["url"], stored)
            content.append({"type": "image", "image": path})
            pictures.append({"row": document["id"], "file": path, "origin": _origin(stored)})
        messages.append({"role": turn["role"], "content": content})
    return messages, pictures


def _origin(stored: images.StoredPicture | None) -> Origin:
    """Where a picture of a prompt is from; `stored` is None for one that the task draws."""
    if stored is None:
        return "drawn"
    return "data" if stored.file is None else "file"
