"""`TaskFile`: a task file of lmms-eval, read without the harness.

It gives what is needed to judge answers that exist already: the documents, their prompts, and the
functions that judge.
"""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import Benchmark, parse_request
from figlang_tasks.core.blocks import DEFAULT, OPTIONS, SETTINGS, options_for_words
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.homes import foreign_homes
from figlang_tasks.core.prompting import ChatTurn, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.core.task_files import ALL_TASKS, TaskConfig
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.scoring.judging import AnswerJudge
from figlang_tasks.scoring.task import Document, Task

if TYPE_CHECKING:
    import datasets
    from PIL import Image


def _is_of_a_benchmark(name: str) -> bool:
    """Whether a function or module is ours, or of the package of another benchmark, by its name."""
    packages = ["figlang_tasks", *[home.package for home in foreign_homes().values()]]
    return f"{name}.".startswith(tuple(f"{package}." for package in packages))


@dataclass(frozen=True)
class TaskFile:
    """A task file, for a model that answers in words.

    Attributes:
        name: of the task.
        config: the content of the file with what it includes; functions are names.
        benchmark: the benchmark that it is of.
        request: what it asks of the dataset.
        kind: the kind of task that judges the answers.
    """

    name: str
    config: TaskConfig
    benchmark: Benchmark
    request: Request
    kind: Task

    @classmethod
    def read(cls, name_or_path: str) -> TaskFile:
        """Read one of our task files by the name of its task, or a file of the user's by its path.

        Raises:
            FigLangError: there is no such task, it is a group, or the file is no task file of ours.
        """
        path = _path_of(name_or_path)
        config = task_files.read(path.resolve())
        _check_content(path, config)
        if "group" in config:
            members = listing(config["task"], 12)
            raise FigLangError(
                f"{name_or_path} is a group of tasks: name one of its tasks, {members}"
            )
        if "task" not in config or "dataset_name" not in config:
            raise FigLangError(
                f"{path} is no task file of figlang_tasks: it must have task and dataset_name, or"
                " include a file that has them"
            )
        benchmark, request = parse_request(config["dataset_name"])
        kind = benchmark.task_for(request)
        return cls(str(config["task"]), config, benchmark, request, kind)

    @property
    def options(self) -> dict[str, Any]:
        """The options that a model which answers in words gets, whatever its class."""
        return options_for_words(self.config)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of generation that the file has for a model which answers in words.

        What depends on the backend is not among them (`figlang_tasks.harness.backend_settings`).
        """
        blocks = self.config.get(SETTINGS) or {}
        return {**(self.config.get("generation_kwargs") or {}), **(blocks.get(DEFAULT) or {})}

    @property
    def asks_for_scores_alone(self) -> bool:
        """Whether the file has settings for models that give scores, and none for words."""
        blocks = self.config.get(SETTINGS) or {}
        return bool(blocks) and DEFAULT not in blocks

    @property
    def has_two_rounds(self) -> bool:
        """Whether a model is asked twice, and the output is a JSON object of both answers."""
        return self.config.get("output_type") == "generate_until_agentic"

    @cached_property
    def documents(self) -> list[dict[str, Any]]:
        """The documents of the task; a picture in one is only named, by its file, or is None.

        Raises:
            DataError: the data is missing or has faults.
        """
        return _without_pictures(self.benchmark.documents(self.request))

    @property
    def data_id(self) -> DataId:
        """The identity of the data that all documents have."""
        return DataId.parse(self.documents[0]["data"])

    def prompt(self, document: Document) -> str:
        """The prompt of a document as one text, as the harness saves it."""
        return str(self.function("doc_to_text")(document, self.options))

    def messages(self, document: Document) -> list[ChatTurn]:
        """The prompt of a document as chat turns with decoded pictures, as the harness sends it.

        Args:
            document: with its pictures, as `Benchmark.documents` has it.
        """
        if self.config.get("doc_to_messages") is not None:
            doc_to_messages = self.function("doc_to_messages")
            turns: list[ChatTurn] = doc_to_messages(document, self.options)
            return turns
        # The harness then puts the pictures before the text.
        pictures: list[Image.Image] = []
        if self.config.get("doc_to_visual") is not None:
            pictures = self.function("doc_to_visual")(document, self.options)
        return [user_turn(pictures, self.prompt(document))]

    def picture_file(self, document: Document) -> Path | None:
        """The file of the one picture that a document has as bytes; None if it has no file.

        The module ``tasks`` of a benchmark may declare the function ``picture_file``.
        """
        declared = getattr(self.benchmark.tasks_module, "picture_file", None)
        if declared is None:
            return None
        file: Path = declared(document)
        return file

    def function(self, key: str) -> Callable[..., Any]:
        """A function that the file names, ``doc_to_text`` for example.

        Raises:
            FigLangError: it is not one of figlang_tasks; code of others is not imported.
        """
        name = str(self.config.get(key))
        if not _is_of_a_benchmark(name):
            raise FigLangError(
                f"{self.name}: its {key} is {name}, which is not of figlang_tasks: answers to it"
                " can be scored in a run of lmms_eval alone"
            )
        try:
            function = _function_of_name(name)
        except (ImportError, AttributeError, ValueError) as error:
            raise FigLangError(
                f"{self.name}: its {key} is {name}, and there is no such function: see the task"
                " files of figlang_tasks for the names that stand there"
            ) from error
        # A module of ours has names of others too, those that it imports.
        module = str(getattr(function, "__module__", ""))
        if not callable(function) or not _is_of_a_benchmark(module):
            raise FigLangError(
                f"{self.name}: its {key} is {name}, which is no function of figlang_tasks: see its"
                " task files for the names that stand there"
            )
        return function

    def judge(self, prompts: Mapping[str, str] | None = None) -> AnswerJudge:
        """What judges the answers to the task.

        Args:
            prompts: the prompts that the model got, by the id of the document, where they are
                known; the others are those of the task.
        """
        doc_to_text = self.function("doc_to_text")
        options = self.options

        def prompt_of(document: Document) -> str:
            """The prompt that the model got, or else the one of the task."""
            known_prompt = prompts.get(document["id"]) if prompts else None
            if known_prompt is not None:
                return known_prompt
            return str(doc_to_text(document, options))

        # What is left out at 0 is no key of a sample in the harness's files either.
        metrics = [measure.name for measure in self.kind.measures.in_table if not measure.omit_zero]
        return AnswerJudge.of(
            [self.benchmark.tasks_module, _module_of(doc_to_text)],
            process_results=self.function("process_results"),
            doc_to_text=prompt_of,
            task_kind=self.kind,
            metrics=metrics,
        )


def _check_content(path: Path, config: TaskConfig) -> None:
    """Raise a `FigLangError` if a key of a task file has content of another kind."""
    for key in (OPTIONS, SETTINGS, "generation_kwargs"):
        block = config.get(key) or {}
        if not isinstance(block, dict):
            raise FigLangError(f"{path}: its {key} must be keys with values, not {block!r}")
        if not isinstance(block.get(DEFAULT) or {}, dict):
            raise FigLangError(f"{path}: {DEFAULT} in its {key} must be keys with values")
    for key in ("task", "dataset_name"):
        if key in config and "group" not in config and not isinstance(config[key], str):
            raise FigLangError(f"{path}: its {key} must be a name, not {config[key]!r}")


def _module_of(function: Callable[..., Any]) -> ModuleType:
    """The module in which a function is defined."""
    return sys.modules[function.__module__]


@cache  # It is asked for with each answer.
def _function_of_name(name: str) -> Callable[..., Any]:
    """The function of ours with a name such as ``figlang_tasks.scoring.process_results``."""
    function: Callable[..., Any] = pkgutil.resolve_name(name)
    return function


def _without_pictures(documents: datasets.Dataset) -> list[dict[str, Any]]:
    """The documents with the name of the file in place of each picture; no picture is read."""
    import datasets

    picture_columns: list[str] = []
    for column, feature in documents.features.items():
        if isinstance(feature, datasets.Image):
            picture_columns.append(column)
    rows: list[dict[str, Any]] = documents.remove_columns(picture_columns).to_list()
    # Not by `add_column`, which takes a digest of the whole table.
    for column in picture_columns:
        for row, file_name in zip(rows, _picture_file_names(documents, column), strict=True):
            row[column] = file_name
    return rows


def _picture_file_names(documents: datasets.Dataset, column: str) -> list[str | None]:
    """The name of the file of each picture in a column; None where the data does not tell.

    A picture is stored as a struct of its bytes and its path. In the form of Arrow, the bytes of a
    dataset on the disk are not loaded, which may be gigabytes.
    """
    import pyarrow.compute

    file_names: list[str | None] = []
    pictures = documents.select_columns(column).with_format("arrow")
    for batch in pictures.iter(batch_size=100):
        paths = pyarrow.compute.struct_field(batch.column(column), "path")
        file_names += paths.to_pylist()
    return file_names


def _path_of(name_or_path: str) -> Path:
    """The path of a task file.

    Args:
        name_or_path: the name of one of our tasks, or the path of a ``.yaml`` file.

    Raises:
        FigLangError: there is no such task or file.
    """
    is_path = name_or_path.endswith((".yaml", ".yml"))
    if is_path:
        path = Path(name_or_path)
        if not path.is_file():
            raise FigLangError(f"{path} does not exist: --task takes a task file, or a task's name")
        return path
    our_files = task_files.files("lmms_eval")
    if name_or_path not in our_files:
        hint = did_you_mean(name_or_path, our_files)
        raise FigLangError(f"no task {name_or_path!r}{hint}. {ALL_TASKS}")
    return our_files[name_or_path]
