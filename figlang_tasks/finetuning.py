"""Data for fine-tuning: the prompts of a benchmark's rows, each with the reference answer.

The prompts are those of the evaluation. A row that shares a picture or a text with the rows of the
evaluation is left out. docs/finetuning.md describes the two forms that are written; pictures are
files beside them.
"""

from __future__ import annotations

import json
import os
import pkgutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from figlang_tasks.core import hub, images, row_files, task_files
from figlang_tasks.core.benchmark import names, names_with, parse_request
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.optional_modules import FineTuning
from figlang_tasks.core.prompting import ChatTurn
from figlang_tasks.core.record import Row
from figlang_tasks.core.task_files import TaskConfig
from figlang_tasks.core.text import folded
from figlang_tasks.scoring.task_file import TaskFile

Split: TypeAlias = Literal["train", "validation"]
Form: TypeAlias = Literal["messages", "sharegpt"]
Subject: TypeAlias = frozenset[str]
"""What a row is about: its parts, which are its texts and the key of what its picture shows."""

_PICTURE_SIGN: Final = "<image>"
_IN_SEVERAL_STEPS: Final = "generate_until_agentic"
"""The ``output_type`` of tasks whose prompts depend on earlier answers of the model."""


@dataclass(frozen=True)
class Example:
    """A row to train on.

    Attributes:
        id: the task and the id of the row: ``vflute/12``.
        prompt: the texts of the prompt in order, with None in place of each picture.
        pictures: the files of the pictures in that order, relative to the output folder.
        answer: the reference answer, in the form that the prompt asks for.
    """

    id: str
    prompt: Sequence[str | None]
    pictures: Sequence[str]
    answer: str


class Export(NamedTuple):
    """What was written.

    Attributes:
        rows: the number of rows written.
        left_out: the ids of the other rows, by what is wrong with them, in words.
    """

    rows: int
    left_out: Mapping[str, Sequence[str]]


def write(
    name: str,
    split: Split,
    form: Form,
    folder: Path,
    rows_from: Path | None = None,
    keep_shared: bool = False,
) -> Export:
    """Write the rows that a model can be trained on for a task, or for each task of a group.

    Args:
        name: of the task or group.
        split: the rows to write.
        form: of the files.
        folder: where they are written; it must not hold a folder ``images`` yet.
        rows_from: a data folder that the rows are read from, in place of the one that the task
            evaluates; None for that one.
        keep_shared: keep rows that share some of their texts and pictures with a row of the
            evaluation. A row that shares all of them is left out in any case.

    Raises:
        DataError: there are no such rows, or none that can be trained on.
    """
    tasks = [TrainingTask(config) for config in members(name)]
    # Loaded before `reading` lets the loaders read another folder.
    evaluated_subjects = _evaluated_subjects(tasks)
    # The texts and pictures that a row must not share with any of the evaluation; none with
    # `keep_shared`, where only whole subjects count.
    evaluated_parts: Subject = frozenset()
    if not keep_shared:
        evaluated_parts = evaluated_parts.union(*evaluated_subjects)

    (folder / "images").mkdir(parents=True)
    examples: list[Example] = []
    left_out: dict[str, list[str]] = {}
    with reading(tasks[0].benchmark.source.name, rows_from):  # all tasks are of one benchmark
        for task in tasks:
            documents = task.documents(split, rows_from)
            for doc in row_files.progress(documents, f"{task.name} {split}"):
                subject = task.subject(doc)
                if subject in evaluated_subjects or subject & evaluated_parts:
                    fault = f"share a picture or a text with the rows that {name} evaluates"
                else:
                    fault = task.fault(doc)
                if fault:
                    left_out.setdefault(fault, []).append(f"{task.name}/{doc['id']}")
                else:
                    examples.append(task.example(doc, folder))
    if not examples:
        counts = ", ".join(f"{len(ids)} {fault}" for fault, ids in left_out.items())
        raise DataError(f"{name}: no row of {split} is left: {counts}")
    if not _have_pictures(examples):
        (folder / "images").rmdir()
    for file_name, text in _FORMS[form](examples).items():
        (folder / file_name).write_text(text, encoding="utf-8")
    return Export(len(examples), left_out)


def _evaluated_subjects(tasks: Iterable[TrainingTask]) -> set[Subject]:
    """The subjects of all rows that tasks evaluate."""
    subjects: set[Subject] = set()
    for task in tasks:
        for doc in task.benchmark.documents(task.request):
            subjects.add(task.subject(doc))
    return subjects


def _have_pictures(examples: Iterable[Example]) -> bool:
    return any(example.pictures for example in examples)


@contextmanager
def reading(dataset: str, folder: Path | None) -> Iterator[None]:
    """Make the loaders read a dataset from another folder inside the block.

    Args:
        dataset: the name of the dataset, which is that of its folder.
        folder: that folder, or the one above it; None to read the dataset from where it is.

    Raises:
        DataError: there is no such folder.
    """
    hub.clear_caches()  # so that the loaders look at the files again, also without a folder
    if folder is None:
        yield
        return
    dataset_folder = folder.expanduser().absolute()
    if dataset_folder.name != dataset:
        dataset_folder /= dataset
    if not dataset_folder.is_dir():
        raise DataError(
            f"{folder}: the tasks read a folder with the name {dataset}:"
            " give it, or the folder above it"
        )
    data_dir_before = os.environ.get(hub.DATA_DIR_VARIABLE)
    os.environ[hub.DATA_DIR_VARIABLE] = str(dataset_folder.parent)
    try:
        yield
    finally:
        if data_dir_before is None:
            del os.environ[hub.DATA_DIR_VARIABLE]
        else:
            os.environ[hub.DATA_DIR_VARIABLE] = data_dir_before
        hub.clear_caches()


# --- the task ---


def members(name: str) -> Iterator[TaskConfig]:
    """Yield the task file of a task, or those of all tasks of a group and of the groups in it.

    Raises:
        DataError: there is no task or group of this name.
    """
    path = task_files.files("lmms_eval").get(name)
    if path is None:
        if name in names():  # also has benchmarks without task files; for these say why
            raise _no_training_rows_error(name)
        raise DataError(f"there is no task {name}: `figlang tasks '*'` lists all")
    config = task_files.read(path.resolve())
    if "group" not in config:
        yield config
        return
    for member_name in config["task"]:  # a member may be a group itself
        yield from members(member_name)


def _no_training_rows_error(benchmark: str) -> DataError:
    """The error for a benchmark without rows for training."""
    return DataError(
        f"{benchmark} has no rows for training; there are those of"
        f" {', '.join(names_with('finetuning'))}"
    )


class TrainingTask:
    """A task whose prompts and reference answers a model can be trained on.

    Attributes:
        name: the name of the task.
        config: its task file.
        benchmark: its benchmark.
        request: the rows that it evaluates.
        finetuning: what the benchmark declares about its rows for training.
    """

    def __init__(self, config: TaskConfig) -> None:
        """Take a task from its task file; a `DataError` if nobody can train on it."""
        self.name: str = config["task"]
        self.config = config
        self.benchmark, self.request = parse_request(config["dataset_name"])
        module = self.benchmark.module("finetuning")
        if module is None:
            raise _no_training_rows_error(self.benchmark.name)
        if config["output_type"] == _IN_SEVERAL_STEPS:
            raise DataError(
                f"{self.name} asks in several steps: name a task with one prompt (`figlang tasks`)"
            )
        self.finetuning: FineTuning = module.FINETUNING

    def documents(self, split: Split, rows_from: Path | None) -> Iterable[Row]:
        """The documents of a split for training, with their pictures checked.

        They are those that the benchmark declares for the split; else, if the task asks for a
        ``split``, the rows of this split; else those that the task asks for, in the user's folder.

        Args:
            split: the rows to load.
            rows_from: the folder that the user names for them; None for none. The loaders must
                read it already (`reading`).

        Raises:
            DataError: the task has no such rows; or it has, and the user names others.
        """
        # How the request for these rows differs from that of the task; empty if the dataset has no
        # rows for training.
        parameters = self.finetuning.splits.get(split, {})
        if not parameters and "split" in self.request:
            parameters = {"split": split}
        # A dataset that has rows for one split does not take the user's for the other.
        if rows_from is not None and (parameters or self.finetuning.splits):
            raise DataError(
                f"{self.name}: {self.request.dataset} has training rows of its own: leave"
                " --rows out"
            )
        if rows_from is None and not parameters:
            raise DataError(
                f"{self.name}: {self.request.dataset} has no rows for {split}, apart from those"
                " that the task evaluates: name a data folder with others, for example --rows"
                f" my_{split}"
            )
        request = self.request.with_parameters(parameters)
        documents: Iterable[Row] = self.benchmark.documents(request, check_images=True)
        return documents

    def subject(self, doc: Row) -> Subject:
        """What a row is about: its texts as `folded`, and the key of what its picture shows."""
        keys = [folded(doc[column]) for column in self.finetuning.texts if column in doc]
        if "image" in doc:
            picture = images.decode(doc["image"], doc["id"], self.request.dataset)
            keys.append(images.content_key(picture))
        return frozenset(keys)

    def call(self, key: str, *args: object) -> Any:
        """Call the function that the task file has under a key (``doc_to_text``), as a run does."""
        return pkgutil.resolve_name(self.config[key])(*args)

    def fault(self, doc: Row) -> str:
        """Why a model cannot learn from a row, as "have no explanation ..."; "" if it can.

        The text is the end of a sentence that begins with the number of such rows.
        """
        answer = self.call("doc_to_target", doc)
        lacks_explanation = "explanation" in doc and not doc["explanation"].strip()
        if lacks_explanation:
            # The answer of some tasks holds an explanation for some labels only: it does for this
            # row if it changes with the explanation.
            explained_doc = {**doc, "explanation": "It is."}
            explained_answer = self.call("doc_to_target", explained_doc)
            if explained_answer != answer:
                return "have no explanation, which the answer must hold"
        record = self.call("process_results", doc, [answer])["sample"]
        if not self.finetuning.right(record):
            return "have a reference answer that the benchmark's parser does not read back"
        return ""

    def turns(self, doc: Row) -> list[ChatTurn]:
        """The prompt of a row as turns of a chat, as the harness sends it."""
        kind = self.benchmark.task_for(self.request)
        task_file = TaskFile(self.name, self.config, self.benchmark, self.request, kind)
        return task_file.messages(doc)

    def example(self, doc: Row, folder: Path) -> Example:
        """The row as an example; its pictures are written to ``images`` in the folder.

        Raises:
            DataError: the prompt has several turns.
        """
        turns = self.turns(doc)
        if len(turns) > 1:
            raise DataError(
                f"{self.name} shows examples before its question: name a task without"
                " (`figlang tasks`)"
            )
        prompt: list[str | None] = []
        pictures: list[str] = []
        for part in turns[0]["content"]:
            if part["type"] == "text":
                prompt.append(part["text"])
                continue
            picture = part["url"]  # the decoded picture itself
            file_name = f"images/{images.content_key(picture)[:24]}.png"
            if not (folder / file_name).exists():  # several rows may have the same picture
                picture.save(folder / file_name, compress_level=1)
            prompt.append(None)  # stands in the place of the picture
            pictures.append(file_name)
        return Example(
            id=f"{self.name}/{doc['id']}",
            prompt=prompt,
            pictures=pictures,
            answer=self.call("doc_to_target", doc),
        )


# --- forms: from all examples to the texts of files, by name ---


def _messages(examples: Sequence[Example]) -> dict[str, str]:
    """The file for TRL: JSON Lines with ``messages``; with pictures, a ``metadata.jsonl``."""
    have_pictures = _have_pictures(examples)
    lines: list[str] = []
    for example in examples:
        prompt: str | list[dict[str, str]]
        answer: str | list[dict[str, str]]
        if have_pictures:
            prompt = [_message_part(text) for text in example.prompt]
            answer = [_message_part(example.answer)]
        else:  # templates of language models take plain texts
            prompt = "\n".join(text for text in example.prompt if text)
            answer = example.answer
        turns = [
            {"role": "user", "content": prompt},
            {"role": "assistant", "content": answer},
        ]
        row: dict[str, object] = {"id": example.id, "messages": turns}
        if have_pictures:
            row["file_names"] = example.pictures
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    file_name = "metadata.jsonl" if have_pictures else "data.jsonl"
    return {file_name: "".join(lines)}


def _message_part(text: str | None) -> dict[str, str]:
    """A part of a message: a text, or a picture for None."""
    return {"type": "image"} if text is None else {"type": "text", "text": text}


def _sharegpt(examples: Sequence[Example]) -> dict[str, str]:
    """The files for LLaMA-Factory: conversations in the form of ShareGPT, and their description."""
    have_pictures = _have_pictures(examples)
    rows: list[dict[str, object]] = []
    for example in examples:
        prompt = "\n".join(_PICTURE_SIGN if text is None else text for text in example.prompt)
        turns = [{"from": "human", "value": prompt}, {"from": "gpt", "value": example.answer}]
        row: dict[str, object] = {"id": example.id, "conversations": turns}
        if have_pictures:
            row["images"] = example.pictures
        rows.append(row)

    columns = {"messages": "conversations"}
    if have_pictures:
        columns["images"] = "images"
    info = {"figlang": {"file_name": "data.json", "formatting": "sharegpt", "columns": columns}}
    return {
        "data.json": json.dumps(rows, ensure_ascii=False, indent=1),
        "dataset_info.json": json.dumps(info, indent=1),
    }


_FORMS: Final[Mapping[Form, Callable[[Sequence[Example]], dict[str, str]]]] = {
    "messages": _messages,
    "sharegpt": _sharegpt,
}
