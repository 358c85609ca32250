"""Rows of a benchmark as data for fine-tuning: the prompts of its evaluation, each with the
reference answer.

A row that shares a picture or a text with the rows of the evaluation is left out.
docs/finetuning.md describes the two forms that are written; pictures are files beside them.
"""

from __future__ import annotations

import json
import os
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from figlang_tasks.core import hub, images, row_files, task_files
from figlang_tasks.core.benchmark import names, names_with, parse_request
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.optional_modules import FineTuning
from figlang_tasks.core.prompting import user_turn
from figlang_tasks.core.text import folded

Split: TypeAlias = Literal["train", "validation"]
Form: TypeAlias = Literal["messages", "sharegpt"]
_PLACE: Final = "<image>"
_IN_SEVERAL_STEPS: Final = "generate_until_agentic"


@dataclass(frozen=True)
class Example:
    """A row of a task: `prompt` has None for each picture; `answer` is the reference, as the prompt
    asks for it.
    """

    id: str
    prompt: Sequence[str | None]
    pictures: Sequence[str]
    answer: str


def write(
    name: str,
    split: Split,
    form: Form,
    folder: Path,
    rows_from: Path | None = None,
    keep_shared: bool = False,
) -> tuple[int, Mapping[str, Sequence[str]]]:
    """Write the rows that a model can be trained on for a task, or for each task of a group.

    Args:
        rows_from: a data folder that the rows are read from, in place of the one that the task
            evaluates.
        keep_shared: keep rows that share a picture or a text with a row of the evaluation, but not
            all of them.

    Returns:
        The number of rows written, and the ids of the others by what is wrong with them, in words.
    """
    tasks = list(map(TrainingTask, members(name)))
    evaluated = {
        task.subject(doc) for task in tasks for doc in task.benchmark.documents(task.request)
    }
    parts: frozenset[str] = frozenset() if keep_shared else frozenset().union(*evaluated)
    (folder / "images").mkdir(parents=True)
    rows: list[Example] = []
    left_out: dict[str, list[str]] = {}
    with reading(tasks[0].benchmark.source.name, rows_from):
        for task in tasks:
            for doc in row_files.progress(task.documents(split, rows_from), f"{task.name} {split}"):
                subject = task.subject(doc)
                if subject in evaluated or subject & parts:
                    fault = f"share a picture or a text with the rows that {name} evaluates"
                else:
                    fault = task.fault(doc)
                if fault:
                    left_out.setdefault(fault, []).append(f"{task.name}/{doc['id']}")
                else:
                    rows.append(task.example(doc, folder))
    if not rows:
        counts = ", ".join(f"{len(ids)} {wrong}" for wrong, ids in left_out.items())
        raise DataError(f"{name}: no row of {split} is left: {counts}")
    if not any(row.pictures for row in rows):
        (folder / "images").rmdir()
    for file, text in _FORMS[form](rows).items():
        (folder / file).write_text(text, encoding="utf-8")
    return len(rows), left_out


@contextmanager
def reading(name: str, folder: Path | None) -> Iterator[None]:
    """Make the loaders read `folder`, or the one in it, inside the block, and in any case look at
    the files again.
    """
    hub.clear_caches()
    if folder is None:
        yield
        return
    place = folder.expanduser().absolute()
    if place.name != name:
        place /= name
    if not place.is_dir():
        raise DataError(
            f"{folder}: the tasks read a folder with the name {name}: give it, or the folder"
            " above it"
        )
    before = os.environ.get(hub.DATA_DIR_VARIABLE)
    os.environ[hub.DATA_DIR_VARIABLE] = str(place.parent)
    try:
        yield
    finally:
        del os.environ[hub.DATA_DIR_VARIABLE]
        if before is not None:
            os.environ[hub.DATA_DIR_VARIABLE] = before
        hub.clear_caches()


# --- the task ---


def members(name: str) -> Iterator[dict[str, Any]]:
    """The task file of a task, or those of a group's tasks."""
    path = task_files.files("lmms_eval").get(name)
    if path is None:
        if name in names():
            raise _no_rows(name)
        raise DataError(f"there is no task {name}: `figlang tasks '*'` lists all")
    config = task_files.read(path.resolve())
    if "group" not in config:
        yield config
    else:
        for each in config["task"]:
            yield from members(each)


def _no_rows(benchmark: str) -> DataError:
    return DataError(
        f"{benchmark} has no rows for training; there are those of"
        f" {', '.join(names_with('finetuning'))}"
    )


class TrainingTask:
    def __init__(self, config: Mapping[str, Any]) -> None:
        self.name, self.config = config["task"], config
        self.benchmark, self.request = parse_request(config["dataset_name"])
        module = self.benchmark.module("finetuning")
        if module is None:
            raise _no_rows(self.benchmark.name)
        if config["output_type"] == _IN_SEVERAL_STEPS:
            raise DataError(
                f"{self.name} asks in several steps: name a task with one prompt (`figlang tasks`)"
            )
        self.finetuning: FineTuning = module.FINETUNING

    def documents(self, split: Split, rows_from: Path | None) -> Any:
        instead = self.finetuning.splits.get(split) or (
            {"split": split} if "split" in self.request else {}
        )
        if rows_from is not None and (instead or self.finetuning.splits):
            raise DataError(
                f"{self.name}: {self.request.dataset} has training rows of its own: leave"
                " --rows out"
            )
        if not instead and rows_from is None:
            raise DataError(
                f"{self.name}: {self.request.dataset} has no rows for {split}, apart from those"
                " that the task evaluates: name a data folder with others, for example --rows"
                f" my_{split}"
            )
        return self.benchmark.documents(self.request.with_parameters(instead), check_images=True)

    def subject(self, doc: Mapping[str, Any]) -> frozenset[str]:
        """What a row is about: its texts, and the key of what its picture shows."""
        keys = [folded(doc[column]) for column in self.finetuning.texts if column in doc]
        if "image" in doc:
            keys.append(
                images.content_key(images.decode(doc["image"], doc["id"], self.request.dataset))
            )
        return frozenset(keys)

    def call(self, key: str, *args: Any) -> Any:
        """What the function of the task file says."""
        return pkgutil.resolve_name(self.config[key])(*args)

    def fault(self, doc: Mapping[str, Any]) -> str:
        """Why a model cannot learn from a row; "" if it can."""
        answer = self.call("doc_to_target", doc)
        explained = {**doc, "explanation": "It is."}
        if (
            not doc.get("explanation", "none").strip()
            and self.call("doc_to_target", explained) != answer
        ):
            return "have no explanation, which the answer must hold"
        if not self.finetuning.right(self.call("process_results", doc, [answer])["sample"]):
            return "have a reference answer that the benchmark's parser does not read back"
        return ""

    def turns(self, doc: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The prompt of a row as turns of a chat.

        A task file without ``doc_to_messages`` has one turn, the pictures before the text, as the
        harness makes it.
        """
        options = self.config.get("lmms_eval_specific_kwargs") or {}
        options = options.get("default", options)
        if self.config.get("doc_to_messages"):
            turns: list[dict[str, Any]] = self.call("doc_to_messages", doc, options)
            return turns
        pictures = []
        if self.config.get("doc_to_visual"):
            pictures = self.call("doc_to_visual", doc, options)
        return [user_turn(pictures, self.call("doc_to_text", doc, options))]

    def example(self, doc: Mapping[str, Any], folder: Path) -> Example:
        """The row, its pictures written."""
        turns = self.turns(doc)
        if len(turns) > 1:
            raise DataError(
                f"{self.name} shows examples before its question: name a task without (`figlang"
                " tasks`)"
            )
        prompt: list[str | None] = []
        pictures = []
        for part in turns[0]["content"]:
            if part["type"] == "text":
                prompt.append(part["text"])
            else:
                prompt.append(None)
                name = f"images/{images.content_key(part['url'])[:24]}.png"
                if not (folder / name).exists():  # one picture can have several rows
                    part["url"].save(folder / name, compress_level=1)
                pictures.append(name)
        return Example(
            f"{self.name}/{doc['id']}", prompt, pictures, self.call("doc_to_target", doc)
        )


# --- forms ---


def _messages(rows: Sequence[Example]) -> dict[str, str]:
    shown = any(row.pictures for row in rows)
    lines = []
    for row in rows:
        asked: Any = [
            {"type": "image"} if each is None else {"type": "text", "text": each}
            for each in row.prompt
        ]
        answer: Any = [{"type": "text", "text": row.answer}]
        if not shown:  # templates of language models take plain texts
            asked, answer = "\n".join(filter(None, row.prompt)), row.answer
        turns = [{"role": "user", "content": asked}, {"role": "assistant", "content": answer}]
        lines.append(
            {"id": row.id, "messages": turns} | ({"file_names": row.pictures} if shown else {})
        )
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return {"metadata.jsonl" if shown else "data.jsonl": text}


def _sharegpt(rows: Sequence[Example]) -> dict[str, str]:
    columns = {"messages": "conversations"} | (
        {"images": "images"} if any(row.pictures for row in rows) else {}
    )
    found: list[dict[str, Any]] = []
    for row in rows:
        asked = "\n".join(_PLACE if each is None else each for each in row.prompt)
        turns = [{"from": "human", "value": asked}, {"from": "gpt", "value": row.answer}]
        found.append(
            {"id": row.id, "conversations": turns}
            | ({"images": row.pictures} if "images" in columns else {})
        )
    info = {"figlang": {"file_name": "data.json", "formatting": "sharegpt", "columns": columns}}
    return {
        "data.json": json.dumps(found, ensure_ascii=False, indent=1),
        "dataset_info.json": json.dumps(info, indent=1),
    }


_FORMS: Final[Mapping[Form, Callable[[Sequence[Example]], dict[str, str]]]] = {
    "messages": _messages,
    "sharegpt": _sharegpt,
}  # from all rows to the texts of files, by name
