"""`Evaluation`, what a call of the harness is to evaluate, and `Fault`, what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from figlang_tasks import models
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.task_files import TaskConfig


@dataclass(frozen=True)
class Evaluation:
    """What ``simple_evaluate`` is to evaluate; options have its names and its types.

    Attributes:
        model: the name after ``--model``, or an object.
        model_of_tasks: the model that the tasks are built for. It is another name than `model`
            where the task manager was made for one.
        tasks: the content of our task files.
        limit: a number of rows, or a share of them below 1; None or -1 for all.
        model_args: a text ``name=value,...``, or a mapping.
        gen_kwargs: likewise.
    """

    model: object
    model_of_tasks: object
    tasks: Sequence[TaskConfig]
    limit: float | None
    offset: int | None
    num_fewshot: int | None
    model_args: object
    gen_kwargs: object

    @property
    def model_name(self) -> str | None:
        """The name that blocks of task files are chosen by; None for an object without one."""
        return self.model_of_tasks if isinstance(self.model_of_tasks, str) else None

    @cached_property
    def model_class(self) -> type | None:
        """The class of the model; None if it is known to answer in words alone."""
        return models.scoring_class(self.model_of_tasks)

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the tasks of ours."""
        return tuple(config["task"] for config in self.tasks)

    @property
    def limit_is_shared(self) -> bool:
        """Whether the limit is a share of rows, and there are several tasks.

        lmms-eval 0.7.3 computes the number of rows for the first task, and takes as many of each
        other (``evaluate`` writes it over its own argument).
        """
        return self.limit is not None and 0 < self.limit < 1 and len(self.tasks) > 1

    @property
    def limit_of_each_task(self) -> float | None:
        """The limit; None where it is shared, since the rows of each task are then not known."""
        return None if self.limit_is_shared else self.limit


@dataclass(frozen=True)
class Fault:
    """Something that is wrong with an evaluation.

    Attributes:
        message: what is wrong, and the remedy.
        tasks: the names of the tasks that it concerns; none where it concerns the command.
        is_of_data: whether the data of a task is at fault.
    """

    message: str
    tasks: tuple[str, ...] = ()
    is_of_data: bool = False


def raise_faults(faults: Iterable[Fault]) -> None:
    """Raise one error with all faults, if there are any; equal messages of several tasks are one.

    Raises:
        DataError: the data of a task is among the faults.
        FigLangError: only other things are.
    """
    tasks_by_message: dict[str, list[str]] = {}
    error_type: type[FigLangError] = FigLangError
    for fault in faults:
        tasks_by_message.setdefault(fault.message, []).extend(fault.tasks)
        if fault.is_of_data:
            error_type = DataError

    sentences: list[str] = []
    for message, tasks in tasks_by_message.items():
        subject = f"{name_tasks(tasks)}: " if tasks else ""
        sentences.append(f"figlang_tasks: {subject}{message}")
    if sentences:
        raise error_type("\n".join(sentences))


def name_tasks(names: Sequence[str]) -> str:
    """Names of tasks in a sentence: ``tasks a, b`` or ``9 tasks (a, b, c ...)``."""
    if len(names) == 1:
        return f"task {names[0]}"
    if len(names) <= 4:
        return f"tasks {', '.join(names)}"
    return f"{len(names)} tasks ({', '.join(names[:3])} ...)"
