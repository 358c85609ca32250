"""Makes the cards of the gallery: what each benchmark shows of a row, and of a run's answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from figlang_tasks.core.card import OPEN, RIGHT, Answer, Card, Texts, clip, plain_answer, plain_card
from figlang_tasks.core.record import Record, Row, RowIfKnown
from figlang_tasks.results.task_run import TaskRun, outputs
from figlang_tasks.scoring.readings import is_unread
from figlang_tasks.scoring.records import REPEAT

Sample: TypeAlias = Mapping[str, Any]
"""A line of a samples file; its record is under ``sample``."""


def card_id(sample: Sample) -> str:
    """The id of the card that a sample belongs to: samples of one row have the same."""
    record = sample["sample"]
    # Where images are ranked, each image of a row has a sample of its own, with an id of its own.
    if "images" in record:
        return str(record["row"])
    return str(record["id"])


def answers_by_row(task: TaskRun) -> dict[str, list[list[Sample]]]:
    """The answers to each row of a task by the id of its card, in the order of the file.

    A row has one answer, or several in a run with ``--repeats``. An answer is a list of samples:
    one for each image where images are ranked, else a single one.
    """
    samples_by_row: dict[str, dict[int, list[Sample]]] = {}  # and then by number of the answer
    for sample in task.samples:
        samples_by_answer = samples_by_row.setdefault(card_id(sample), {})
        answer_number = sample["sample"].get(REPEAT, 1)
        samples_by_answer.setdefault(answer_number, []).append(sample)
    answers: dict[str, list[list[Sample]]] = {}
    for row, samples_by_answer in samples_by_row.items():
        answers[row] = [samples_by_answer[number] for number in sorted(samples_by_answer)]
    return answers


def first_answer_by_row(task: TaskRun) -> dict[str, list[Sample]]:
    """The first answer to each row of a task: `answers_by_row` without answers of later repeats."""
    first_answers: dict[str, list[Sample]] = {}
    first_numbers: dict[str, int] = {}
    for sample in task.samples:
        row = card_id(sample)
        number = sample["sample"].get(REPEAT, 1)
        first_number = first_numbers.get(row)
        if first_number is None or number < first_number:
            first_numbers[row] = number
            first_answers[row] = [sample]
        elif number == first_number:
            first_answers[row].append(sample)
    return first_answers


def make_card(task: TaskRun, samples: Sequence[Sample], document: RowIfKnown) -> Card:
    """Make the card of a row (its question, gold answer and pictures), without answers of models.

    Args:
        task: a task of a run that has the row.
        samples: the samples of the row in that run: one for each image where images are ranked,
            else a single one.
        document: the row of the benchmark; None if it is not at hand.
    """
    module = task.card_module
    describe_row = plain_card if module is None else module.card
    card: Card = {
        "task": task.task,
        "id": card_id(samples[0]),
        "prompt": prompt_of(samples[0]),
        # What the benchmark's own card may lack
        "facts": [],
        "gold": [],
        "source": "",
        "pictures": [],
    }
    records = [sample["sample"] for sample in samples]
    with task.reporting_damage(f"a row, {records[0]['id']},"):
        card.update(describe_row(task.data, records, document))
    if module is None and document is not None and not _has_picture(task, document):
        card["pictures"] = []
    card["facts"] = _clipped_texts(card["facts"])
    card["gold"] = _clipped_texts(card["gold"])
    return card


def _has_picture(task: TaskRun, document: Row) -> bool:
    """Whether a row has a picture, in its column ``image`` or by the module ``picture``."""
    return document.get("image") is not None or task.benchmark.module("picture") is not None


def make_answer(task: TaskRun, samples: Sequence[Sample], document: RowIfKnown = None) -> Answer:
    """Make the answer of a run to a row, as the row's card shows it.

    Args:
        task: the task of the run.
        samples: the samples of the row in the run: one for each image where images are ranked, else
            a single one.
        document: the row of the benchmark; None if it is not at hand.
    """
    records = [sample["sample"] for sample in samples]
    benchmark_answer = _make_benchmark_answer(task, records, document)
    # If the answer for any image was not read, a reader should look at that one.
    status_record = next(filter(is_unread, records), records[0])
    answer: Answer = {
        "status": status_record.get("status", ""),
        "rule": status_record.get("rule", ""),
    }
    answer.update(benchmark_answer)
    answer["said"] = _clipped_texts(benchmark_answer.get("said", []))
    answer["predicted"] = clip(benchmark_answer["predicted"], 300)
    if len(samples) == 1:
        answer["output"] = clip(judged_output(samples[0]))
    else:
        lines = []  # a short one for each image
        for sample in samples:
            lines.append(clip(judged_output(sample), 80))
        answer["output"] = "\n".join(lines)
    return answer


def outcome_of(task: TaskRun, samples: Sequence[Sample]) -> str:
    """The outcome of an answer, as `make_answer` has it."""
    records = [sample["sample"] for sample in samples]
    return _make_benchmark_answer(task, records, document=None)["outcome"]


def _make_benchmark_answer(
    task: TaskRun, records: Sequence[Record], document: RowIfKnown
) -> Answer:
    """What a benchmark shows of an answer, with its outcome.

    Args:
        task: the task of the run.
        records: those of the answer: one for each image where images are ranked, else one.
        document: the row of the benchmark; None if it is not at hand.
    """
    module = task.card_module
    benchmark_answer: Answer
    with task.reporting_damage(f"a row, {records[0]['id']},"):
        if module is None:
            benchmark_answer = plain_answer(records[0], task.kind.answer_field, document)
        else:
            benchmark_answer = module.answer(records)
    scheme = task.kind.scheme
    if scheme is not None and not scheme.asks_label and benchmark_answer["outcome"] == RIGHT:
        benchmark_answer["outcome"] = OPEN  # only the explanation may be right
    return benchmark_answer


def judged_output(sample: Sample) -> str:
    """The output that the task judged, which is the first of a sample; "" if there is none."""
    return next(iter(outputs(sample)), "")


def prompt_of(sample: Sample) -> str:
    """The prompt of a sample; "" if the harness did not keep it."""
    if "input" in sample:  # in samples of lmms-eval
        return clip(sample["input"])
    # In samples of lm-eval, the prompt is the first of the arguments of a request. These are
    # nested: a dictionary of dictionaries, or a list of lists.
    argument = sample.get("arguments")
    while isinstance(argument, Mapping | list | tuple) and argument:
        arguments = argument.values() if isinstance(argument, Mapping) else argument
        argument = next(iter(arguments))
    return clip(argument) if isinstance(argument, str) else ""


def _clipped_texts(texts: Texts) -> Texts:
    """The texts without empty ones; what is too long for a page is cut."""
    return [(name, clip(text)) for name, text in texts if text not in (None, "")]
