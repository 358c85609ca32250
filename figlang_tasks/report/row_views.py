"""What ``figlang show`` prints of the rows of a run, as plain data: the cards of the gallery."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from figlang_tasks.core import images
from figlang_tasks.core.card import Answer, CardPicture, Texts
from figlang_tasks.core.errors import DataError, RunError
from figlang_tasks.core.record import Record, RowIfKnown
from figlang_tasks.core.text import did_you_mean, listing
from figlang_tasks.report import cards
from figlang_tasks.report.cards import Sample
from figlang_tasks.report.correctness import Correctness
from figlang_tasks.report.originals import Originals, find_originals
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring.readings import has_answer


class PictureView(TypedDict):
    """A picture of a row.

    Attributes:
        label: what stands beside it: its letter or position.
        role: what it is in its row.
        right: whether it is right; None for pictures that are neither right nor wrong.
        path: of its file on this machine; None if it has no file of its own.
        problem: why it has no path; "" if it has one.
    """

    label: str
    role: str
    right: bool | None
    path: str | None
    problem: str


class AnswerView(TypedDict):
    """An answer to a row.

    Attributes:
        output: what the model wrote.
        status, rule: what became of the output, and by which rule; "" if it needs no reading.
        predicted: what was read in it, in words.
        explanation: the model's explanation; "" for none.
        other_texts: other texts about it, with their names.
        right: whether it is right; None where nothing decides it.
        scores: what it contributes to each measure, and the scores of its explanation; 0 to 1.
    """

    output: str
    status: str
    rule: str
    predicted: str
    explanation: str
    other_texts: Texts
    right: bool | None
    scores: dict[str, float]


class RowView(TypedDict):
    """A row of a task with its answers, of which there are several with ``--repeats``.

    Attributes:
        prompt: what the model was asked, word for word.
        facts: the texts of the row in the data.
        options: what can be answered, by label.
        gold: what is right.
        reference: the reference explanation; "" for none.
    """

    id: str
    prompt: str
    facts: Texts
    pictures: list[PictureView]
    options: dict[str, str]
    answers: list[AnswerView]
    gold: Texts
    reference: str


class TaskView(TypedDict):
    """Rows of a task of a run.

    Attributes:
        rows: the number of rows in the run.
        matching: the number of those that were asked for.
        right: what a right answer is (`Correctness.meaning`).
        missing: what is not on this machine, and what to do about it; "" if all is there.
        cards: the first of the matching rows.
    """

    task: str
    rows: int
    matching: int
    right: str
    missing: str
    cards: list[RowView]


@dataclass(frozen=True)
class RowChoice:
    """Which rows a user wants to see.

    At most one of `wrong`, `unread` and `row_id` is set; without them all rows match.

    Attributes:
        most: the most rows of a task.
        wrong: rows with a wrong answer.
        unread: rows with an answer that was not read.
        row_id: the row with this id.
    """

    most: int
    wrong: bool = False
    unread: bool = False
    row_id: str | None = None

    def matches(
        self, row: str, task: TaskRun, correctness: Correctness, answers: Sequence[Sequence[Sample]]
    ) -> bool:
        """Whether a row matches.

        Args:
            row: the id of its card.
            task: the task of the run.
            correctness: that of the task.
            answers: the answers to the row.
        """
        if self.wrong:
            return any(correctness.is_right(task, samples) is False for samples in answers)
        if self.unread:
            return any(map(_is_unread, answers))
        if self.row_id is not None:
            return self.row_id == row or _has_record(answers, self.row_id)
        return True


def view_tasks(run: Run, task: str | None, choice: RowChoice) -> list[TaskView]:
    """The rows of a run that a user wants to see, in the order of the files.

    Nothing is downloaded. Tasks that lack a row of which the id is given are left out.

    Args:
        task: the name of a task; None for all.

    Raises:
        RunError: the run does not have this task, or this row; or a record is damaged.
    """
    task_names = list(run.tasks)
    if task is not None:
        if task not in run.tasks:
            suggestion = did_you_mean(task, task_names)
            raise RunError(
                f"{run.path} has no task {task}{suggestion}: it has {listing(run.tasks)}"
            )
        task_names = [task]
    views: list[TaskView] = []
    for name in task_names:
        view = _view_task(run.tasks[name], choice)
        if view["matching"] or choice.row_id is None:
            views.append(view)
    if not views:
        tasks = [run.tasks[name] for name in task_names]
        raise RunError(f"{run.path} has no row {choice.row_id}: {_similar_rows(choice, tasks)}")
    return views


def _similar_rows(choice: RowChoice, tasks: Iterable[TaskRun]) -> str:
    """What a user may have meant by an id: for each task its number of rows and similar ids."""
    texts: list[str] = []
    for task in tasks:
        rows = cards.answers_by_row(task)
        texts.append(f"{task.task} has {len(rows)} rows{did_you_mean(choice.row_id or '', rows)}")
    return listing(texts)


def _view_task(task: TaskRun, choice: RowChoice) -> TaskView:
    """The rows of a task that match a choice, no more than it asks for."""
    correctness = Correctness.of_task(task)
    answers_by_row = cards.answers_by_row(task)
    matching: list[str] = []
    for row, answers in answers_by_row.items():
        if choice.matches(row, task, correctness, answers):
            matching.append(row)

    originals: Originals | None = None
    missing = ""
    if matching:  # else the data need not be read
        originals, missing = find_originals(task)
    views: list[RowView] = []
    for row in matching[: choice.most]:
        views.append(_view_row(task, answers_by_row[row], correctness, originals))
    return {
        "task": task.task,
        "rows": len(answers_by_row),
        "matching": len(matching),
        "right": correctness.meaning,
        "missing": missing,
        "cards": views,
    }


def _is_unread(samples: Sequence[Sample]) -> bool:
    """Whether an answer was not read, that for one image at least where images are ranked."""
    records = [sample["sample"] for sample in samples]
    return any("status" in record and not has_answer(record) for record in records)


def _has_record(answers: Sequence[Sequence[Sample]], record_id: str) -> bool:
    """Whether a sample of the answers to a row has this id, as each image of a ranking has one."""
    for samples in answers:
        if any(sample["sample"]["id"] == record_id for sample in samples):
            return True
    return False


# --- one row ---


def _view_row(
    task: TaskRun,
    answers: Sequence[Sequence[Sample]],
    correctness: Correctness,
    originals: Originals | None,
) -> RowView:
    """A row with its answers.

    Args:
        originals: the rows and pictures of the benchmark; None if they are not at hand.
    """
    record = answers[0][0]["sample"]
    document = None if originals is None else originals.document(str(record["id"]))
    card = cards.make_card(task, answers[0], document)
    pictures = [_view_picture(picture, originals) for picture in card["pictures"]]
    return {
        "id": card["id"],
        "prompt": card["prompt"],
        "facts": card["facts"],
        "pictures": pictures,
        "options": _options(task, record, document),
        "answers": [_view_answer(task, samples, document, correctness) for samples in answers],
        "gold": card["gold"],
        "reference": card.get("reference", ""),
    }


def _options(task: TaskRun, record: Record, document: RowIfKnown) -> dict[str, str]:
    """What can be answered, by label; {} if the task offers no choice or the row is not here."""
    choice = task.benchmark.choice(record)
    if choice is None or (choice.needs_document and document is None):
        return {}
    with task.reporting_damage(f"a row, {record['id']},"):
        return dict(choice.options(record, document))


def _view_picture(picture: CardPicture, originals: Originals | None) -> PictureView:
    """A picture with the path of its file."""
    path, problem = _picture_path(picture["name"], originals)
    return {
        "label": picture.get("label", ""),
        "role": picture.get("role", ""),
        "right": picture.get("right"),
        "path": path,
        "problem": problem,
    }


def _picture_path(name: str, originals: Originals | None) -> tuple[str | None, str]:
    """The path of a picture's file and ""; None and the reason if it has no file of its own."""
    original = None if originals is None else originals.picture(name)
    if original is None:
        return None, "not on this machine"
    try:
        stored = images.stored_picture(original.read())
    except DataError as error:
        return None, str(error)
    if stored is None or stored.file is None:
        return None, "inside the data files; figlang report shows it"
    return str(stored.file), ""


def _view_answer(
    task: TaskRun, samples: Sequence[Sample], document: RowIfKnown, correctness: Correctness
) -> AnswerView:
    """An answer to a row, with its scores."""
    answer = cards.make_answer(task, samples, document)
    return {
        "output": answer["output"],
        "status": answer["status"],
        "rule": answer["rule"],
        "predicted": str(answer["predicted"]),
        "explanation": answer.get("explanation", ""),
        "other_texts": answer["said"],
        "right": correctness.is_right(task, samples),
        "scores": _scores(task, samples, answer),
    }


def _scores(task: TaskRun, samples: Sequence[Sample], answer: Answer) -> dict[str, float]:
    """What an answer contributes to each measure, and its own scores; all that are numbers."""
    numbers: dict[str, float | None] = {}
    if len(samples) == 1:  # a ranking of images contributes as a whole
        record = samples[0]["sample"]
        with task.reporting_damage(f"a row, {record['id']},"):
            for measure in task.measures.all:
                if not measure.is_diagnostic:
                    numbers[measure.name] = measure.number_of(record)
    if "score" in answer:
        numbers[answer["score_name"]] = answer["score"]
    for name, score in answer.get("scores", {}).items():
        if name != "mean":  # that is `score`
            numbers[name] = score
    scores: dict[str, float] = {}
    for name, number in numbers.items():
        if number is not None and math.isfinite(number):
            scores[name] = number
    return scores
