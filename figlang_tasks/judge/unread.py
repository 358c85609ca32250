"""The answers of a finished run that our own rules could not read, and the prompts about them.

A prompt tells a language model the question in general, the options and the answer, and nothing
else of the row or its record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from figlang_tasks.answers.text import Answer
from figlang_tasks.core import notes
from figlang_tasks.core.choice import Choice
from figlang_tasks.core.errors import FigLangError, RunError
from figlang_tasks.core.prompting import render
from figlang_tasks.core.record import Record
from figlang_tasks.core.text import listing, whole_characters
from figlang_tasks.judge.asking import estimated_tokens
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.judge.kept_answers import key_of
from figlang_tasks.judge.server import Content, last_object
from figlang_tasks.results.task_run import Run, TaskRun, outputs
from figlang_tasks.scoring.read_by_model import ReadingStatus, headline_measure
from figlang_tasks.scoring.readings import READ_BY, has_unread_words

PROMPT: Final = "judge/read.jinja"
"""The template of the question about an answer."""

_BY_SCORES: Final = ("scores", "no_scores")
"""Statuses of answers that are scores."""

_HEAD_CHARACTERS = 4_000
_TAIL_CHARACTERS = 8_000
"""How much of a long answer a prompt shows, from its beginning and from its end."""

_AROUND_LABELS = " \t\n()[].:*\"'"
"""Characters that may stand around a label."""


@dataclass(frozen=True)
class UnreadAnswer:
    """An answer that was left unread, with the question about it.

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
        return estimated_tokens(self.prompt)


@dataclass(frozen=True)
class ReadableTask:
    """A task whose answers choose something.

    Attributes:
        task: the task.
        choice: what it offers to choose.
        unread: its answers that were left unread, in the order of the samples.
    """

    task: TaskRun
    choice: Choice
    unread: tuple[UnreadAnswer, ...]


@dataclass(frozen=True)
class UnreadAnswers:
    """The answers of a run that a language model has to read.

    Attributes:
        run: the run.
        model: the language model that is to read them, not the one that gave them.
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
        """The questions to ask: of unread answers with the same prompt, the first alone."""
        by_key: dict[str, UnreadAnswer] = {}
        for readable in self.tasks.values():
            for answer in readable.unread:
                by_key.setdefault(answer.key, answer)
        return list(by_key.values())


def find_unread(run: Run, model: str) -> UnreadAnswers:
    """Find the answers of a run that were left unread, with a question about each.

    Tasks whose answers a model cannot read are left out (`UnreadAnswers.left_out`).

    Args:
        run: the finished run.
        model: the language model that is to read them.

    Raises:
        FigLangError: no task offers a choice, a language model has read the run already, its files
            contradict each other, or its data is not here.
    """
    tasks: dict[str, ReadableTask] = {}
    left_out: dict[str, str] = {}
    for name, task in run.tasks.items():
        with task.reporting_damage():
            choice = task.benchmark.choice(task.records[0])
        reason = _why_left_out(task, choice)
        if choice is None or reason:  # without a choice there is always a reason
            left_out[name] = reason
            continue
        if any(READ_BY in record for record in task.records):
            raise FigLangError(
                f"{task.path}: a language model has read this run: give the run that it was made"
                " from"
            )
        task.check_consistent()
        unread = _unread_answers(task, choice, reading_model=model)
        tasks[name] = ReadableTask(task, choice, unread)
    if not tasks:
        reasons = listing(f"{name}: {reason}" for name, reason in left_out.items())
        raise FigLangError(
            f"{run.path} has no task whose answers choose something in words ({reasons})"
        )
    return UnreadAnswers(run, model, tasks, left_out)


def _why_left_out(task: TaskRun, choice: Choice | None) -> str:
    """Why a model cannot read the answers of a task; "" if it can."""
    if choice is None and task.benchmark.module("choice") is None:
        benchmark = task.benchmark.name
        return f"{benchmark} has no module choice.py, which says what its answers choose"
    if choice is None:
        return "its answers choose nothing"
    if all(record["status"] in _BY_SCORES for record in task.records):
        return "answered by scores"
    with task.reporting_damage():
        headline = headline_measure(task.measures, task.records)
    if headline is None:
        return "it has no main metric with a value"
    return ""


def _unread_answers(task: TaskRun, choice: Choice, reading_model: str) -> tuple[UnreadAnswer, ...]:
    """The unread answers of a task in the order of the samples, each with its prompt and key.

    Args:
        task: the task.
        choice: what the benchmark offers to choose in each row.
        reading_model: the name of the model that is to be asked, for the keys alone.
    """
    documents = RunDocuments(task)
    unread: list[UnreadAnswer] = []
    for index, sample in enumerate(task.samples):
        record: Record = sample["sample"]
        unread_text = _unread_text(task, sample, offered_choice=choice)
        if not unread_text:
            continue
        document = documents[record["id"]] if choice.needs_document else None
        with task.reporting_damage(f"a record, {record['id']},"):
            options = choice.options(record, document)
        if not options:  # the benchmark finds nothing left to read (`Choice.options`)
            continue
        prompt = _prompt(choice.question, options, unread_text)
        unread.append(
            UnreadAnswer(
                row=f"{task.task}, row {record['id']}",
                index=index,
                labels=tuple(options),
                prompt=prompt,
                key=key_of(reading_model, prompt),
            )
        )
    return tuple(unread)


def _unread_text(task: TaskRun, sample: Mapping[str, Any], offered_choice: Choice) -> str:
    """The text of an answer as the reading model gets to see it; "" if it is not to be read.

    The text is without thoughts, and cut in the middle if it is long.

    Args:
        task: the task, for messages.
        sample: a line of its samples file.
        offered_choice: what the task offers to choose; it knows where in an output the answer is.
    """
    record = sample["sample"]
    # False if our readers have read the answer, if it is empty, or if it is scores.
    if not has_unread_words(record):
        return ""
    output = _output(task, sample)
    if notes.is_refusal(output):  # by the server of the evaluated model
        return ""
    return _shortened(offered_choice.answer_in(output))  # "" if only thoughts were left


def _output(task: TaskRun, sample: Mapping[str, Any]) -> str:
    """The first output of the evaluated model for a sample.

    Raises:
        RunError: the sample has no output.
    """
    texts = outputs(sample)
    if not texts:
        row_id = sample["sample"]["id"]
        raise RunError(
            f"{task.path}: row {row_id} has no output (filtered_resps), so nobody can read it:"
            " restore the file that the harness wrote"
        )
    return texts[0]


def _shortened(output: str) -> str:
    """An output without its thoughts, cut in the middle if it is long; "" if nothing is left."""
    text = Answer.of(output).raw.strip()
    if len(text) <= _HEAD_CHARACTERS + _TAIL_CHARACTERS:
        return text
    return f"{text[:_HEAD_CHARACTERS]}\n[...]\n{text[-_TAIL_CHARACTERS:]}"


def _prompt(question: str, options: Mapping[str, str], unread_text: str) -> str:
    """The prompt for the reading model about one answer; each option stands in one line.

    Args:
        question: what the benchmark asks, in general.
        options: the text of each option by its label.
        unread_text: the answer.
    """
    one_line_options = {label: " ".join(text.split()) for label, text in options.items()}
    prompt = render(PROMPT, question=question, options=one_line_options, output=unread_text)
    # An answer may hold half a character (a lone surrogate), which could not be sent as UTF-8.
    return whole_characters(prompt)


def read_option(answer: str, labels: Sequence[str]) -> tuple[ReadingStatus, str | None]:
    """Read which option a language model names: the last ``{"option": ...}`` of its answer.

    Args:
        answer: what the language model said.
        labels: the labels of the options.

    Returns:
        ``read`` and the label of the option; or None as the label, with ``none`` if the model finds
        that the answer chooses nothing (null, or the text "none" if no label is so), or
        ``unreadable`` if it names no option.
    """
    # Without such an object there is no option: "", which is unreadable.
    option = last_object(answer, "option").get("option", "")
    if option is None:  # null: the model finds that the answer chooses nothing
        return "none", None
    if isinstance(option, bool):  # of a question that offers Yes and No
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
