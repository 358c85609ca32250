"""The row of IRFL's leaderboard, which is sent in by e-mail: detection accuracies in percent, as in
Table 3.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445.
Accuracies are counted from the samples and compared with what the run reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import figlang_tasks
from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.core.text import listing, table
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.submit import SubmissionError, answered, brief, tasks_of

BOARD = "https://irfl-dataset.github.io"
UPLOAD = f"the leaderboard accepts rows by e-mail: the address is on {BOARD}"
FAMILIES: Mapping[str, tuple[str, str]] = {
    "irfl_match": ("irfl_match_{}", "matching scores"),
    "irfl_detect": ("irfl_detect_{}", "four images, answers in words"),
    "irfl_detect_grid": ("irfl_detect_{}_grid", "four images in one picture, answers in words"),
}
"""Names of the tasks of each family, and how they are answered."""
COLUMNS = (
    "Idiom-Figurative",
    "Idiom-Figurative-Literal",
    "Metaphor",
    "Open Simile",
    "Closed Simile",
)
_PHRASES = ("idiom", "metaphor", "open_simile", "simile")


def email(found: Sequence[Run]) -> str:
    """An e-mail with the row of one model, and what the organisers need to judge it."""
    told = [
        (run.results.get("model_source"), (run.results.get("config") or {}).get("model_args"))
        for run in found
    ]
    if any(each != told[0] for each in told):
        # Without keys
        named = dict.fromkeys(
            provenance.option_text(run, "model_args") or run.name for run in found
        )
        raise SubmissionError(
            f"the runs are of several models ({listing(named)}), but a row is of one model"
        )
    tasks = tasks_of(found)
    pattern, how = FAMILIES[_family(tasks)]
    used = [tasks[pattern.format(phrase)] for phrase in _PHRASES]
    model = brief(found[0].name)
    parts = [_row(model, used, "acc")]
    retrieval = [tasks[name] for phrase in _PHRASES if (name := f"irfl_retrieve_{phrase}") in tasks]
    if len(retrieval) == len(_PHRASES):
        parts += ["Retrieval, precision@k:", _row(model, retrieval, "p@k")]
        used += retrieval
    revisions = listing(sorted({task.data.revision or "unknown" for task in used}))
    rows = "\n\n".join(parts)
    return (
        f"Subject: IRFL leaderboard: {model}\n\nDear IRFL team,\n\nplease add this model to the"
        f" leaderboard (zero-shot; accuracy in percent):\n\n{rows}\n\nHow it was evaluated: {how};"
        f" all rows of the four detection tables, IRFL revision {revisions};\nfiglang_tasks"
        f" {figlang_tasks.__version__}.\n"
    )


def _family(tasks: Mapping[str, TaskRun]) -> str:
    """The one family whose tasks are there, all four of them."""
    lacking = {
        family: [name for phrase in _PHRASES if (name := pattern.format(phrase)) not in tasks]
        for family, (pattern, _) in FAMILIES.items()
    }
    some = [family for family, names in lacking.items() if len(names) < len(_PHRASES)]
    if len(some) != 1:
        raise SubmissionError(
            f"the runs have tasks of {' and '.join(some) or 'other benchmarks or prompts'}, but a"
            f" row is of one of {', '.join(FAMILIES)}: give runs, or samples files, of one"
        )
    if names := lacking[some[0]]:
        raise SubmissionError(f"the runs lack {', '.join(names)}: a row needs all of {some[0]}")
    return some[0]


def _row(model: str, tasks: Iterable[TaskRun], measure: str) -> str:
    """The table of the model's row: a value of each task, two of idioms."""
    idiom, *others = (_values(task, measure) for task in tasks)
    values = (idiom["figurative"], idiom["figurative_literal"], *(each[OVERALL] for each in others))
    return table([["Model", *COLUMNS], [model, *(f"{100 * value:.1f}" for value in values)]])


def _values(task: TaskRun, measure: str) -> dict[str, float]:
    """The values of a measure, as the rows have them, by type."""
    part = task.data.part
    answered(task, None if part in tables.INFERRED else tables.ROWS.get(part))
    needs_scores = task.task.startswith("irfl_match")
    unscored = [record["id"] for record in task.records if needs_scores and not record["scores"]]
    if unscored:
        raise SubmissionError(
            f"{task.path}: {len(unscored)} rows have no matching scores ({listing(unscored)}): use"
            " a model class that gives them, or submit irfl_detect"
        )
    return {
        scope: found.total() for (name, scope), found in task.statistics.items() if name == measure
    }
