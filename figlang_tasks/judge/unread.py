"""Which answers of a finished run our readers left, and what a language model is asked about them.

It is told the question in general, the options and the answer, and nothing else of the row or its
record.
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
_NOTHING_TO_READ: Final = ("read", "empty", "missing", *_BY_SCORES)
"""Statuses of records in whose answer nothing is left to read: it was read, is in scores, or has no
words.
"""

_HEAD, _TAIL = 4_000, 8_000
"""Characters of a long answer that are shown from its beginning and from its end."""

_CHARACTERS_OF_A_TOKEN = 4
_AROUND_A_LABEL = " \t\n()[].:*\"'"


@dataclass(frozen=True)
class UnreadAnswer:
    """An answer that our readers left.

    Attributes:
        row: of which task and row it is, for messages.
        place: of its line in the samples file, from 0.
        labels: of the options.
        prompt: what the model is asked about it.
        key: by which the model's answer is kept.
    """

    row: str
    place: int
    labels: tuple[str, ...]
    prompt: str
    key: str

    @property
    def content(self) -> Content:
        """The user's turn."""
        return [{"type": "text", "text": self.prompt}]

    @property
    def estimated_tokens(self) -> int:
        """About how many tokens the prompt has."""
        return len(self.prompt.encode()) // _CHARACTERS_OF_A_TOKEN


@dataclass(frozen=True)
class ReadableTask:
    """A task whose answers choose something."""

    task: TaskRun
    choice: Choice
    unread: tuple[UnreadAnswer, ...]


@dataclass(frozen=True)
class UnreadAnswers:
    """What a language model has to read of a run.

    Attributes:
        run: the run.
        model: that is to read it.
        tasks: those that offer a choice, by name.
        left_out: why the other tasks are left out, by name.
    """

    run: Run
    model: str
    tasks: Mapping[str, ReadableTask]
    left_out: Mapping[str, str]

    @property
    def origin(self) -> dict[str, Any]:
        """What the model's answers are about."""
        samples = {
            readable.task.path.name: readable.task.sha256 for readable in self.tasks.values()
        }
        return {"model": self.model, "samples": samples}

    @property
    def questions(self) -> list[UnreadAnswer]:
        """One of each different prompt."""
        by_key: dict[str, UnreadAnswer] = {}
        for readable in self.tasks.values():
            for answer in readable.unread:
                by_key.setdefault(answer.key, answer)
        return list(by_key.values())


def find_unread(run: Run, model: str) -> UnreadAnswers:
    """Find the answers of a run that our readers left.

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
        tasks[name] = ReadableTask(task, choice, _unread_of(task, choice, model))
    if not tasks:
        reasons = listing(f"{name}: {reason}" for name, reason in left_out.items())
        raise FigLangError(
            f"{run.path} has no task whose answers choose something in words ({reasons})"
        )
    return UnreadAnswers(run, model, tasks, left_out)


def choice_of(benchmark: Benchmark, task: TaskRun) -> Choice | None:
    """What a task offers to choose; None if it offers nothing (`figlang_tasks.core.choice`)."""
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
    headline = task.compute_from_records(headline_measure)
    return "it has no main metric with a value" if headline is None else ""


def _unread_of(task: TaskRun, choice: Choice, model: str) -> tuple[UnreadAnswer, ...]:
    """The answers of a task that our readers left, in the order of the samples file."""
    documents = RunDocuments(task)
    unread: list[UnreadAnswer] = []
    for place, line in enumerate(task.samples):
        record: Record = line["sample"]
        if record["status"] in _NOTHING_TO_READ:
            continue
        output = _output(task, line)
        if notes.is_refusal(output):
            continue
        output = _shown(choice.answer_in(output))
        if not output:
            continue
        document = documents[record["id"]] if choice.needs_document else None
        with task.reporting_damage(f"a record, {record['id']},"):
            options = choice.options(record, document)
        if options:
            prompt = _prompt(choice.question, options, output)
            unread.append(
                UnreadAnswer(
                    f"{task.task}, row {record['id']}",
                    place,
                    tuple(options),
                    prompt,
                    key_of(model, prompt),
                )
            )
    return tuple(unread)


def _prompt(question: str, options: Mapping[str, str], output: str) -> str:
    """What the model is asked about an answer; each option is one line."""
    in_one_line = {label: " ".join(text.split()) for label, text in options.items()}
    return whole_characters(
        render("judge/read.jinja", question=question, options=in_one_line, output=output)
    )


def _output(task: TaskRun, line: Mapping[str, Any]) -> str:
    """What the evaluated model said."""
    texts = outputs(line)
    if not texts:
        raise RunError(
            f"{task.path}: row {line['sample']['id']} has no output (filtered_resps), so nobody can"
            " read it: restore the file that the harness wrote"
        )
    return texts[0]


def _shown(output: str) -> str:
    """The part of an output that a model gets to see: without thoughts, of a long one both ends.
    May be empty.
    """
    text = Answer.of(output).raw.strip()
    if len(text) <= _HEAD + _TAIL:
        return text
    return f"{text[:_HEAD]}\n[...]\n{text[-_TAIL:]}"


def read_option(answer: str, labels: Sequence[str]) -> tuple[ReadingStatus, str | None]:
    """How a language model's answer is read, and the label that it gives by its last JSON
    object.
    """
    value = last_object(answer, "option").get("option", "")
    if value is None:
        return "none", None
    if isinstance(value, bool):
        value = "Yes" if value else "No"
    if not isinstance(value, str | int):
        return "unreadable", None
    spelling = str(value).strip(_AROUND_A_LABEL).casefold()
    for label in labels:
        if label.casefold() == spelling:
            return "read", label
    return ("none", None) if spelling == "none" else ("unreadable", None)
