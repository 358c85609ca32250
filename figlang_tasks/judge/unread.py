"""The answers of a finished run that our readers left, and the prompts about them.

A prompt tells a language model the question in general, the options and the answer, and nothing
else of the row or its record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from figlang_tasks.answers.text import Answer
from figlang_tasks.core import notes
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.errors import FigLangError, RunError
from figlang_tasks.core.prompting import render
from figlang_tasks.core.record import Record
from figlang_tasks.core.text import listing, whole_characters
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.judge.kept_answers import key_of
from figlang_tasks.judge.server import Content, last_object
from figlang_tasks.results.task_run import Run, TaskRun, outputs
from figlang_tasks.scoring.read_by_model import ReadingStatus, headline_measure
from figlang_tasks.scoring.readings import READ_BY

_BY_SCORES: Final = ("scores", "no_scores")
"""Statuses of answers that are scores."""

_NOTHING_TO_READ: Final = ("read", "empty", "missing", *_BY_SCORES)
"""Statuses of answers that were read, have no words, or are scores."""

_HEAD_CHARACTERS = 4_000
_TAIL_CHARACTERS = 8_000
"""How much of a long answer a prompt shows, from its beginning and from its end."""

_BYTES_PER_TOKEN = 4
_AROUND_LABELS = " \t\n()[].:*\"'"
"""Characters that may stand around a label."""


@dataclass(frozen=True)
class UnreadAnswer:
    """An answer that our readers left, with the question about it.

    Attributes:
        row: its task and row, for messages.
        index: of its sample in the samples file, from 0.
        labels: the labels of the options.
        prompt: what the model is asked about it.
        key: the key under which the model's answer is kept.
    """

    row: str
    index: int
    labels: tuple[str, ...]
    prompt: str
    key: str

    @property
    def content(self) -> Content:
        """The parts of the user's turn."""
        return [{"type": "text", "text": self.prompt}]

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens the prompt has."""
        return len(self.prompt.encode()) // _BYTES_PER_TOKEN


@dataclass(frozen=True)
class ReadableTask:
    """A task whose answers choose something.

    Attributes:
        task: the task.
        choice: what it offers to choose.
        unread: its answers that our readers left, in the order of the samples.
    """

    task: TaskRun
    choice: Choice
    unread: tuple[UnreadAnswer, ...]


@dataclass(frozen=True)
class UnreadAnswers:
    """The answers of a run that a language model has to read.

    Attributes:
        run: the run.
        model: the model that is to read it.
        tasks: the tasks that offer a choice, by name.
        left_out: why the other tasks are left out, by name.
    """

    run: Run
    model: str
    tasks: Mapping[str, ReadableTask]
    left_out: Mapping[str, str]

    @property
    def origin(self) -> dict[str, Any]:
        """What the model's answers are about: the model, and the digest of each samples file."""
        digests: dict[str, str] = {}
        for readable in self.tasks.values():
            digests[readable.task.path.name] = readable.task.sha256
        return {"model": self.model, "samples": digests}

    @property
    def questions(self) -> list[UnreadAnswer]:
        """The unread answers without those whose prompt is the same as an earlier one."""
        by_key: dict[str, UnreadAnswer] = {}
        for readable in self.tasks.values():
            for answer in readable.unread:
                by_key.setdefault(answer.key, answer)
        return list(by_key.values())


def find_unread(run: Run, model: str) -> UnreadAnswers:
    """Find the answers of a run that our readers left, for a model to read.

    Raises:
        FigLangError: no task offers a choice, a language model has read the run already, its files
            contradict each other, or its data is not here.
    """
    tasks: dict[str, ReadableTask] = {}
    left_out: dict[str, str] = {}
    for name, task in run.tasks.items():
        choice = choice_of(task.benchmark, task)
        reason = _why_left_out(task, choice)
        if choice is None or reason:
            left_out[name] = reason
            continue
        if any(READ_BY in record for record in task.records):
            raise FigLangError(
                f"{task.path}: a language model has read this run: give the run that it was made"
                " from"
            )
        task.check_consistent()
        tasks[name] = ReadableTask(task, choice, _unread_answers(task, choice, model))
    if not tasks:
        reasons = listing(f"{name}: {reason}" for name, reason in left_out.items())
        raise FigLangError(
            f"{run.path} has no task whose answers choose something in words ({reasons})"
        )
    return UnreadAnswers(run, model, tasks, left_out)


def choice_of(benchmark: Benchmark, task: TaskRun) -> Choice | None:
    """The choice that a task offers; None if its answers choose nothing."""
    module = benchmark.module("choice")
    if module is None:
        return None
    with task.reporting_damage("a record"):
        choice: Choice | None = module.choice_of(task.records[0])
    return choice


def _why_left_out(task: TaskRun, choice: Choice | None) -> str:
    """Why a model cannot read the answers of a task; "" if it can."""
    if choice is None:
        return "its answers choose nothing"
    if all(record["status"] in _BY_SCORES for record in task.records):
        return "answered by scores"
    if task.compute_from_records(headline_measure) is None:
        return "it has no main metric with a value"
    return ""


def _unread_answers(task: TaskRun, choice: Choice, model: str) -> tuple[UnreadAnswer, ...]:
    """The answers of a task that our readers left, in the order of the samples."""
    documents = RunDocuments(task)
    unread: list[UnreadAnswer] = []
    for index, sample in enumerate(task.samples):
        record: Record = sample["sample"]
        answer = _answer_to_show(task, sample, choice)
        if not answer:
            continue
        document = documents[record["id"]] if choice.needs_document else None
        with task.reporting_damage(f"a record, {record['id']},"):
            options = choice.options(record, document)
        if not options:
            continue
        prompt = _prompt(choice.question, options, answer)
        unread.append(
            UnreadAnswer(
                row=f"{task.task}, row {record['id']}",
                index=index,
                labels=tuple(options),
                prompt=prompt,
                key=key_of(model, prompt),
            )
        )
    return tuple(unread)


def _answer_to_show(task: TaskRun, sample: Mapping[str, Any], choice: Choice) -> str:
    """The answer of a sample as a model gets to see it; "" if nothing is left to read in it."""
    if sample["sample"]["status"] in _NOTHING_TO_READ:
        return ""
    output = _output(task, sample)
    if notes.is_refusal(output):
        return ""
    return _shortened(choice.answer_in(output))


def _output(task: TaskRun, sample: Mapping[str, Any]) -> str:
    """What the evaluated model said.

    Raises:
        RunError: the sample has no output.
    """
    texts = outputs(sample)
    if not texts:
        raise RunError(
            f"{task.path}: row {sample['sample']['id']} has no output (filtered_resps), so nobody"
            " can read it: restore the file that the harness wrote"
        )
    return texts[0]


def _shortened(output: str) -> str:
    """An output without its thoughts, and of a long one both ends; it may be empty."""
    text = Answer.of(output).raw.strip()
    if len(text) <= _HEAD_CHARACTERS + _TAIL_CHARACTERS:
        return text
    return f"{text[:_HEAD_CHARACTERS]}\n[...]\n{text[-_TAIL_CHARACTERS:]}"


def _prompt(question: str, options: Mapping[str, str], answer: str) -> str:
    """What the model is asked about an answer; each option stands in one line."""
    options_in_a_line = {label: " ".join(text.split()) for label, text in options.items()}
    prompt = render("judge/read.jinja", question=question, options=options_in_a_line, output=answer)
    return whole_characters(prompt)


def read_option(answer: str, labels: Sequence[str]) -> tuple[ReadingStatus, str | None]:
    """Read which option a language model names, in the last JSON object of its answer.

    Args:
        answer: what the language model said.
        labels: the labels of the options.

    Returns:
        The status of the reading, and the label of the option if the status is ``read``.
    """
    option = last_object(answer, "option").get("option", "")
    if option is None:
        return "none", None
    if isinstance(option, bool):
        option = "Yes" if option else "No"
    if not isinstance(option, str | int):
        return "unreadable", None
    spelling = str(option).strip(_AROUND_LABELS).casefold()
    for label in labels:
        if label.casefold() == spelling:
            return "read", label
    if spelling == "none":
        return "none", None
    return "unreadable", None
