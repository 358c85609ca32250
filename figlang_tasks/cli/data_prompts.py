"""``figlang data prompts``: the prompts of a task, for models that are run elsewhere."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from figlang_tasks.cli import say, saying_new_folder, warn
from figlang_tasks.core import images
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.whole_paths import new_file, new_folder
from figlang_tasks.harness.backend_settings import for_backend
from figlang_tasks.scoring.prompts import Origin, check_can_be_asked, prompt_lines
from figlang_tasks.scoring.task_file import TaskFile

if TYPE_CHECKING:
    from PIL import Image


def prompts(
    task: Annotated[
        str, typer.Option(help="The task whose rows are asked: vflute, irfl_detect_idiom, ...")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, JSON Lines.")],
    copy_images: Annotated[
        bool,
        typer.Option(
            "--copy-images",
            help="Write all pictures into a folder beside the file, e.g. prompts_images.",
        ),
    ] = False,
) -> None:
    """Write the prompts of a task, to run a model elsewhere.

    Each line has the id of a row, its prompt as chat messages and as one text, the paths of its
    pictures, and the settings of generation of a run. Let your model answer, write a file with id
    and output, and score it.

    Pictures that are files on this machine are named where they are. Others stand as bytes in
    the data, or are drawn by the task: they have no path unless you copy them. PNG and JPEG are
    copied as they are; other pictures become PNG.

    \b
    figlang data prompts --task vflute -o prompts.jsonl --copy-images
    figlang score answers.jsonl --task vflute --model my-model
    """
    task_file = TaskFile.read(task)
    check_can_be_asked(task_file)
    settings = for_backend(None, task_file.settings)
    folder = output.with_name(f"{output.stem}_images")
    row_count = 0
    # How many pictures have no path, by where they are from.
    origins_without_path: Counter[Origin] = Counter()
    with (
        saying_new_folder(output),
        new_file(output) as file,
        _picture_files(folder, copy_images) as picture_files,
    ):
        for line in prompt_lines(task_file, settings, picture_files.path_of):
            file.write(json.dumps(line) + "\n")
            row_count += 1
            for picture in line["images"]:
                if picture["file"] is None:
                    origins_without_path[picture["origin"]] += 1
    say(f"written: {output} ({row_count:,} prompts of {task_file.name})")
    if isinstance(picture_files, _CopiedPictures) and picture_files.name_by_key:
        say(f"written: {folder} ({len(picture_files.name_by_key):,} pictures)")
    if origins_without_path:
        say(_no_path_message(origins_without_path, folder))
    _warn_of_conditions(task_file)
    say(
        "next: let your model answer, write its answers into a file with id and output, and\n"
        f"  figlang score answers.jsonl --task {shlex.quote(task)}"
    )


def _no_path_message(origins: Counter[Origin], folder: Path) -> str:
    """The message about pictures that have no path.

    Args:
        origins: how many of them are inside of the data, and how many are drawn.
        folder: the one that they would be copied into.
    """
    reasons: list[str] = []
    if origins["data"]:
        reasons.append(f"{origins['data']:,} are read as bytes out of the data")
    if origins["drawn"]:
        reasons.append(f"{origins['drawn']:,} are drawn by the task")
    return (
        f"{origins.total():,} pictures have no path (null in the lines): {', '.join(reasons)}."
        f" --copy-images writes all pictures into {folder}"
    )


def _warn_of_conditions(task_file: TaskFile) -> None:
    """Warn if the data is gated, and if the task is meant for scores and not for words."""
    dataset = task_file.request.dataset
    if source_of(dataset).gated:
        warn(
            f"{dataset} is gated on the hub: the prompts hold its texts, and copied pictures are"
            " under its conditions too; do not publish them"
        )
    if task_file.asks_for_scores_alone:
        warn(
            f"{task_file.name} is meant for scores of candidates, and words may have no value: see"
            f" figlang score --task {task_file.name} --columns"
        )


# --- the files of pictures ---


class _PicturesInPlace:
    """Names the files that pictures have already."""

    def path_of(self, picture: Image.Image, stored: images.StoredPicture | None) -> str | None:
        """The path of the file with a picture; None if it has none (`PictureNaming`)."""
        if stored is None or stored.file is None:
            return None
        return str(stored.file.absolute())


@dataclass(frozen=True)
class _CopiedPictures:
    """Writes pictures into a folder, equal ones once.

    Attributes:
        partial_folder: the folder while it is written.
        folder_name: its name when it is whole.
        name_by_key: the names of the files that were written, by `images.content_key`.
    """

    partial_folder: Path
    folder_name: str
    name_by_key: dict[str, str] = field(default_factory=dict)

    def path_of(self, picture: Image.Image, stored: images.StoredPicture | None) -> str:
        """Write a picture unless it is there; return its path from the folder's parent."""
        key = images.content_key(picture)
        if key not in self.name_by_key:
            content, suffix = images.encode(picture)
            name = f"{key[:24]}{suffix}"
            (self.partial_folder / name).write_bytes(content)
            self.name_by_key[key] = name
        return f"{self.folder_name}/{self.name_by_key[key]}"


@contextmanager
def _picture_files(folder: Path, copy_images: bool) -> Iterator[_PicturesInPlace | _CopiedPictures]:
    """Yield what names the files of pictures; copies are in `folder` when the block ends.

    Args:
        folder: does not exist.
        copy_images: whether to write copies. Without pictures, there is no folder then.

    Raises:
        FigLangError: copies are asked for, and the folder is not empty.
    """
    if not copy_images:
        yield _PicturesInPlace()
        return
    with new_folder(folder) as partial_folder:
        copied_pictures = _CopiedPictures(partial_folder, folder.name)
        yield copied_pictures
    if not copied_pictures.name_by_key:
        folder.rmdir()
