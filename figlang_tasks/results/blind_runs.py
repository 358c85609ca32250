"""Finds runs whose model did not see the pictures, and the runs that they belong to.

A run is blind by its record, whatever it is called: its task has the option ``blind``, or its model
is of the class ``figlang_blind``. A samples file without its results file records neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from figlang_tasks.core.blocks import OPTIONS
from figlang_tasks.results.comparability import RunsByName
from figlang_tasks.results.model_table import REFERENCE_CLASSES
from figlang_tasks.results.provenance import option_text
from figlang_tasks.results.results_file import model_name
from figlang_tasks.results.task_run import Run, TaskRun

BLIND_CLASS = "figlang_blind"
"""The model class that sees a white picture in place of each one, in any task."""

BLIND_OPTION = "blind"
"""The option of a task file that shows a white square in place of each picture to any model."""

_OPTIONS_OUTSIDE_THE_TEXT = (BLIND_OPTION, "scorer")
"""Options that change nothing of the text that a model reads. Whether runs have one explanation
scorer is checked where they are compared.
"""


@dataclass(frozen=True)
class RunOfTask:
    """What a run recorded of one of its tasks.

    Attributes:
        name: of the run.
        task: the name of the task.
        repeats: its results, one for each repeat.
        model: the name of the model; "" if unknown.
        model_class: the name of its class; "" if unknown.
        is_blind: whether the model did not see the pictures.
    """

    name: str
    task: str
    repeats: Sequence[TaskRun]
    model: str
    model_class: str
    is_blind: bool

    @property
    def question(self) -> tuple[object, ...]:
        """What the task asks, apart from the pictures: data, kind, rounds and other options."""
        task_run = self.repeats[0]
        options = _options(task_run, self.model_class)
        # An option that is not given is 0, False or None.
        given = {
            name: value
            for name, value in options.items()
            if value and name not in _OPTIONS_OUTSIDE_THE_TEXT
        }
        has_two_rounds = task_run.config.get("output_type") == "generate_until_agentic"
        return (
            task_run.kind.name,
            task_run.request,
            task_run.data,
            repr(sorted(given.items())),  # as a text, since an option may be a list
            has_two_rounds,
        )


class SeeingAndBlind(NamedTuple):
    """A run of a task, and one that differs from it in that its model saw no pictures."""

    seeing: RunOfTask
    blind: RunOfTask

    @property
    def is_of_one_model(self) -> bool:
        """Whether both runs name the same model."""
        return self.seeing.model == self.blind.model

    @property
    def task(self) -> str:
        """The name of the task; of two tasks both, as in a comparison across tasks."""
        return " / ".join(dict.fromkeys([self.seeing.task, self.blind.task]))

    @property
    def runs_by_name(self) -> RunsByName:
        """The results, the blind ones first; those of one run have the names of its two tasks."""
        if self.seeing.name == self.blind.name:
            return {self.blind.task: self.blind.repeats, self.seeing.task: self.seeing.repeats}
        return {self.blind.name: self.blind.repeats, self.seeing.name: self.seeing.repeats}


def seeing_and_blind(runs: Sequence[Run]) -> list[SeeingAndBlind]:
    """Each seeing run of a task with each blind one that was asked the same.

    A blind run of the same task, or of another task in the same run, goes before those of other
    tasks in other runs. Where runs of one model are among them, runs of unlike models are left out.

    Args:
        runs: those of one name are repeats.
    """
    runs_of_tasks = _runs_of_tasks(runs)
    pairs_by_task: dict[tuple[object, ...], list[SeeingAndBlind]] = {}
    for seeing in runs_of_tasks:
        if not seeing.is_blind:
            pairs = _pairs_of(seeing, runs_of_tasks)
            pairs_by_task.setdefault((seeing.task, *seeing.question), []).extend(pairs)

    chosen: list[SeeingAndBlind] = []
    for pairs in pairs_by_task.values():
        of_one_model = [pair for pair in pairs if pair.is_of_one_model]
        chosen += of_one_model or pairs
    return chosen


def _pairs_of(seeing: RunOfTask, runs_of_tasks: Sequence[RunOfTask]) -> list[SeeingAndBlind]:
    """A seeing run with the blind ones that were asked the same, those nearest to it."""
    near: list[SeeingAndBlind] = []
    far: list[SeeingAndBlind] = []
    for blind in runs_of_tasks:
        if not blind.is_blind or blind.question != seeing.question:
            continue
        is_near = blind.task == seeing.task or blind.name == seeing.name
        pairs = near if is_near else far
        pairs.append(SeeingAndBlind(seeing, blind))
    return near or far


def _runs_of_tasks(runs: Sequence[Run]) -> list[RunOfTask]:
    """What the runs recorded of each task, but for models that read nothing (`figlang_random`).

    Repeats of which only some are blind, or of several models or classes, are left out.
    """
    records_by_task: dict[tuple[str, str], list[RunOfTask]] = {}
    for run in runs:
        model_class = option_text(run, "model")
        if model_class in REFERENCE_CLASSES and model_class != BLIND_CLASS:
            continue
        for task, task_run in run.tasks.items():
            is_blind = model_class == BLIND_CLASS
            is_blind |= _options(task_run, model_class).get(BLIND_OPTION) is True
            model = model_name(run.results)
            record = RunOfTask(run.name, task, [task_run], model, model_class, is_blind)
            records_by_task.setdefault((run.name, task), []).append(record)

    merged: list[RunOfTask] = []
    for records in records_by_task.values():
        first = records[0]
        kinds_of_run = {(record.model, record.model_class, record.is_blind) for record in records}
        if len(kinds_of_run) == 1:
            repeats = [record.repeats[0] for record in records]
            merged.append(replace(first, repeats=repeats))
    return merged


def _options(task_run: TaskRun, model_class: str) -> dict[str, Any]:
    """The options that the model got from the task file, as far as they were recorded.

    Blocks for some models stand among the options; one for this class replaces the others.
    """
    recorded = task_run.config.get(OPTIONS)
    if not isinstance(recorded, Mapping):
        return {}
    own_block = recorded.get(model_class)
    options = own_block if isinstance(own_block, Mapping) else recorded
    return {name: option for name, option in options.items() if not isinstance(option, Mapping)}
