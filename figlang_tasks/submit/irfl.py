"""The row of IRFL's leaderboard, which is sent in by e-mail: detection accuracies in percent, as in Table 3.

IRFL: Yosef et al. 2023, "IRFL: Image Recognition of Figurative Language", arXiv 2303.15445. Accuracies are counted from
the samples and compared with what the run reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import figlang_tasks
from figlang_tasks.benchmarks.irfl import tables
from figlang_tasks.core.text import listing, table
from figlang_tasks.results import provenance
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.submit import SubmissionError, answered, brief, tasks_of

BOARD = "https://irfl-dataset.github.io"
UPLOAD = f"the leaderboard accepts rows by e-mail: the address is on {BOARD}"
FAMILIES: Mapping[str, tuple[str, str]] = {
    "match": ("irfl_match_{}", "matching scores"),
    "detect": ("irfl_detect_{}", "four images, answers in words"),
    "detect_grid": ("irfl_detect_{}_grid", "four images in one picture, answers in words"),
}
"""Names of the tasks of each family, and how they are answered."""
COLUMNS = ("Idiom-Figurative", "Idiom-Figurative-Literal", "Metaphor", "Open Simile", "Closed Simile")
_PHRASES = ("idiom", "metaphor", "open_simile", "simile")


@dataclass(frozen=True)
class BoardRow:
    """A model's row."""

    model: str
    family: str  # key of FAMILIES
    detection: Mapping[str, float]  # accuracy by COLUMNS, 0 to 1
    retrieval: Mapping[str, float] | None  # mean precision at k, where all retrieval tasks are there
    revision: str  # of the tables


def row(found: Sequence[Run], family: str | None = None) -> BoardRow:
    """Return the row of one model."""
    told = [(run.results.get("model_source"), (run.results.get("config") or {}).get("model_args")) for run in found]
    if any(each != told[0] for each in told):
        named = dict.fromkeys(provenance.option(run, "model_args") or run.name for run in found)  # without keys
        raise SubmissionError(f"the runs are of several models ({listing(named)}), but a row is of one model")
    tasks = tasks_of(found)
    chosen = _family(tasks, family)
    used = _names(chosen)
    detection, retrieval = _values(tasks, used, _accuracies), None
    wanted = [f"irfl_retrieve_{phrase}" for phrase in _PHRASES]
    if all(name in tasks for name in wanted):
        retrieval = _values(tasks, wanted, _precisions)
        used += wanted
    revisions = sorted({tasks[name].data.revision or "" for name in used})
    if len(revisions) > 1:
        raise SubmissionError(
            f"the tasks used several revisions of IRFL ({listing(revisions)}): evaluate them on one revision"
        )
    return BoardRow(found[0].name, chosen, detection, retrieval, revisions[0])


def _names(family: str) -> list[str]:
    """The four tasks of a family."""
    return [FAMILIES[family][0].format(phrase) for phrase in _PHRASES]


def _family(tasks: Mapping[str, TaskRun], asked: str | None) -> str:
    some = [each for each in FAMILIES if asked in (None, each) and not tasks.keys().isdisjoint(_names(each))]
    if not some:
        families = f"irfl_{asked}" if asked else "irfl_match, irfl_detect or irfl_detect_grid"
        raise SubmissionError(
            f"no task of {families} in the runs: lmms_eval --tasks irfl_{asked or 'match'} --log_samples ..."
        )
    if len(some) > 1:
        raise SubmissionError(
            f"the runs have {' and '.join(some)}, but a row is of one of them: choose it with --family"
        )
    if lacking := [name for name in _names(some[0]) if name not in tasks]:
        raise SubmissionError(f"the runs lack {', '.join(lacking)}: a row needs all of irfl_{some[0]}")
    return some[0]


def _values(
    tasks: Mapping[str, TaskRun], names: Sequence[str], compute: Callable[[TaskRun], dict[str, float]]
) -> dict[str, float]:
    """Values by column: `compute` gives one for each task, two for idioms."""
    idiom, *others = (compute(answered(tasks[name])) for name in names)
    values = (idiom["figurative"], idiom["figurative_literal"], *(each[OVERALL] for each in others))
    return dict(zip(COLUMNS, values, strict=True))


def _accuracies(task: TaskRun) -> dict[str, float]:
    """Accuracy of a detection task, by type."""
    _check_rows(task)
    unscored = [record["id"] for record in task.records if not record.get("scores")]
    if unscored and task.task.startswith("irfl_match"):
        raise SubmissionError(
            f"{task.path}: {len(unscored)} rows have no matching scores ({listing(unscored)}): use a model class that "
            "gives them, or submit irfl_detect"
        )
    return _of_rows(task, "acc")


def _precisions(task: TaskRun) -> dict[str, float]:
    """Mean precision at k of a retrieval task, by type."""
    _check_rows(task)
    values = _of_rows(task, "p@k")
    found = Counter(record["row"] for record in task.records)
    for record in task.records:
        if found[record["row"]] != record["images"]:
            raise SubmissionError(
                f"{task.path}: row {brief(record['row'])} has {found[record['row']]} of {record['images']} images"
            )
    return values


def _check_rows(task: TaskRun) -> None:
    """Check that all rows of the release are there."""
    table = task.data.part
    if task.dataset != "IRFL" or table not in tables.ROWS:
        raise SubmissionError(f"{task.path}: rows of {brief(str(task.data))}, not of IRFL's release")
    rows = {str(record.get("row")) for record in task.records}
    count = None if table in tables.INFERRED else tables.ROWS[table]
    wanted = {f"{table}-{number}" for number in range(count or len(rows))}
    if rows != wanted:
        missing, foreign = sorted(wanted - rows), sorted(rows - wanted)
        raise SubmissionError(
            f"{task.path}: {len(rows)} rows, {table} has {len(wanted)} (missing: {listing(missing) or 'none'}; not in "
            f"it: {listing(foreign) or 'none'}): evaluate {task.task} again without --limit"
        )


def _of_rows(task: TaskRun, name: str) -> dict[str, float]:
    """The values of a measure, as the rows have them, by type."""
    return {scope: found.total() for (measure, scope), found in task.statistics.items() if measure == name}


def as_email(found: BoardRow) -> str:
    """An e-mail with the row, and what the organisers need to judge it."""
    model = brief(found.model)
    parts = [table([["Model", *COLUMNS], [model, *_percent(found.detection)]])]
    if found.retrieval is not None:
        parts += ["Retrieval, precision@k:", table([["Model", *COLUMNS], [model, *_percent(found.retrieval)]])]
    tables_of_row = "\n\n".join(parts)
    return (
        f"Subject: IRFL leaderboard: {model}\n\n"
        f"Dear IRFL team,\n\n"
        f"please add this model to the leaderboard (zero-shot; accuracy in percent):\n\n"
        f"{tables_of_row}\n\n"
        f"How it was evaluated: {FAMILIES[found.family][1]}; all rows of the four detection tables, IRFL revision "
        f"{brief(found.revision)};\nfiglang_tasks {figlang_tasks.__version__}.\n"
    )


def _percent(values: Mapping[str, float]) -> list[str]:
    return [f"{100 * values[name]:.1f}" for name in COLUMNS]
