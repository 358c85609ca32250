"""The row of IRFL's leaderboard, sent in by e-mail: detection accuracies in percent, as in Table 3.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445.
Accuracies are counted from the samples and compared with what the run reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import figlang_tasks
from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.core.text import listing, markdown_table
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.submit import SubmissionError, brief, check_answers, tasks_by_name

BOARD = "https://irfl-dataset.github.io"
UPLOAD = f"the leaderboard accepts rows by e-mail: the address is on {BOARD}"
COLUMNS = (
    "Idiom-Figurative",
    "Idiom-Figurative-Literal",
    "Metaphor",
    "Open Simile",
    "Closed Simile",
)
_PHRASES = ("idiom", "metaphor", "open_simile", "simile")
"""The kinds of phrases, in the order of `COLUMNS`; idioms have the first two columns."""

_RETRIEVAL = [f"irfl_retrieve_{phrase}" for phrase in _PHRASES]


class Family(NamedTuple):
    """Four detection tasks, one for each kind of phrase, that are answered by one method.

    All families are about the same four tables of IRFL and differ in the method.

    Attributes:
        task_pattern: the names of its tasks, with ``{}`` for the kind of phrase.
        method: how they are answered, for the e-mail.
    """

    task_pattern: str
    method: str

    def tasks(self) -> list[str]:
        """The names of its tasks, one for each of `_PHRASES`."""
        return [self.task_pattern.format(phrase) for phrase in _PHRASES]


FAMILIES: Mapping[str, Family] = {
    "irfl_match": Family("irfl_match_{}", "matching scores"),
    "irfl_detect": Family("irfl_detect_{}", "four images, answers in words"),
    "irfl_detect_grid": Family(
        "irfl_detect_{}_grid", "four images in one picture, answers in words"
    ),
}


def email(runs: Sequence[Run]) -> str:
    """The text of an e-mail with the row of one model, and what the organisers need to judge it.

    The e-mail has a second table if the runs have all retrieval tasks too.

    Raises:
        SubmissionError: the runs are of several models, or do not have all tasks of one `Family`.
    """
    _check_one_model(runs)
    tasks = tasks_by_name(runs)
    family = FAMILIES[_complete_family_name(tasks)]
    model = brief(runs[0].name)
    detection = [tasks[name] for name in family.tasks()]
    submitted = list(detection)
    paragraphs = [_row_table(model, detection, "acc")]
    has_all_retrieval = all(name in tasks for name in _RETRIEVAL)
    if has_all_retrieval:
        retrieval = [tasks[name] for name in _RETRIEVAL]
        paragraphs += ["Retrieval, precision@k:", _row_table(model, retrieval, "p@k")]
        submitted += retrieval
    revisions = listing(sorted({task.data.revision or "unknown" for task in submitted}))
    row_tables = "\n\n".join(paragraphs)
    return (
        f"Subject: IRFL leaderboard: {model}\n\nDear IRFL team,\n\nplease add this model to the"
        f" leaderboard (zero-shot; accuracy in percent):\n\n{row_tables}\n\nHow it was evaluated:"
        f" {family.method}; all rows of the four detection tables, IRFL revision {revisions};\n"
        f"figlang_tasks {figlang_tasks.__version__}.\n"
    )


def _check_one_model(runs: Sequence[Run]) -> None:
    """Raise a `SubmissionError` if the runs are of several models."""
    models = []  # the model class of each run, and its arguments
    for run in runs:
        config = run.results.get("config") or {}
        models.append((run.results.get("model_source"), config.get("model_args")))
    if any(model != models[0] for model in models):
        # The text of an option has no secrets, while the arguments may.
        names = dict.fromkeys(provenance.option_text(run, "model_args") or run.name for run in runs)
        raise SubmissionError(
            f"the runs are of several models ({listing(names)}), but a row is of one model"
        )


def _complete_family_name(tasks: Mapping[str, TaskRun]) -> str:
    """The family of which the runs have all tasks, by its name in `FAMILIES`; only one may occur.

    Args:
        tasks: the tasks of all runs by name.

    Raises:
        SubmissionError: there are tasks of no family or of several, or the family lacks a task.
    """
    missing_by_family: dict[str, list[str]] = {}  # of families with at least one task
    for family_name, family in FAMILIES.items():
        missing_tasks = [task for task in family.tasks() if task not in tasks]
        has_any_task = len(missing_tasks) < len(family.tasks())
        if has_any_task:
            missing_by_family[family_name] = missing_tasks
    if len(missing_by_family) != 1:
        present = " and ".join(missing_by_family) or "other benchmarks or prompts"
        raise SubmissionError(
            f"the runs have tasks of {present}, but a row is of one of {', '.join(FAMILIES)}: give"
            " runs, or samples files, of one"
        )
    ((name, missing),) = missing_by_family.items()  # the only one
    if missing:
        raise SubmissionError(f"the runs lack {', '.join(missing)}: a row needs all of {name}")
    return name


def _row_table(model: str, tasks: Sequence[TaskRun], metric: str) -> str:
    """The row of a model below the head of the leaderboard, as a Markdown table in percent.

    Args:
        tasks: one for each of `_PHRASES`, in their order.
        metric: the one that all cells show: ``acc`` or ``p@k``.

    Raises:
        SubmissionError: a task lacks answers.
    """
    # The task of idioms has two columns, its scopes; each other task has one.
    idiom_task, *other_tasks = tasks
    idiom_values = _values_by_scope(idiom_task, metric)
    values = [idiom_values["figurative"], idiom_values["figurative_literal"]]
    values += [_values_by_scope(task, metric)[OVERALL] for task in other_tasks]
    cells = [f"{100 * value:.1f}" for value in values]
    return markdown_table([["Model", *COLUMNS], [model, *cells]])


def _values_by_scope(task: TaskRun, metric: str) -> dict[str, float]:
    """The values of a metric by scope, 0 to 1, counted from the samples after a check of these.

    Raises:
        SubmissionError: not all rows have an answer, or in matching not all have scores.
    """
    part = task.data.part
    # How many rows some parts have is only inferred, so their number is not checked.
    expected_rows = None if part in tables.INFERRED else tables.ROWS.get(part)
    check_answers(task, expected_rows)
    if task.task.startswith("irfl_match"):  # a task of this one of `FAMILIES`
        _check_has_match_scores(task)
    values = {}
    for (name, scope), statistic in task.statistics.items():
        if name == metric:
            values[scope] = statistic.total()
    return values


def _check_has_match_scores(task: TaskRun) -> None:
    """Raise a `SubmissionError` unless all rows have scores.

    They say how well each image of a row matches its phrase.
    """
    unscored = [record["id"] for record in task.records if not record["scores"]]
    if unscored:
        raise SubmissionError(
            f"{task.path}: {len(unscored)} rows have no matching scores ({listing(unscored)}): use"
            " a model class that gives them, or submit irfl_detect"
        )
