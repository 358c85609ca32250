"""The judgements of people of finished runs, for the commands that show them beside the scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.judge import agree, powered, sheet
from figlang_tasks.judge import key as keys
from figlang_tasks.judge.draw import score_of
from figlang_tasks.judge.key import ExplanationKey, MachineRow
from figlang_tasks.judge.reports import ExplanationReport, PoweredEstimate
from figlang_tasks.judge.sheet import JUDGED_COLUMNS
from figlang_tasks.results import measures
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.scoring.explained import MEAN_SCORE

_MACHINE_METRICS = {
    powered.MACRO_F1: ("f1@60",),
    powered.RIGHT_REASON: ("acc@60",),
    powered.ADEQUATE: ("explained@60", MEAN_SCORE),
}
"""The metrics that stand beside each estimate: the first that a task has."""


@dataclass(frozen=True)
class JudgedRuns:
    """What people say of some runs.

    Attributes:
        key: of the export.
        report: on the sheets beside the key, of the runs that are named alone.
        tasks: the judged task of each run, by the name of the run.
    """

    key: ExplanationKey
    report: ExplanationReport
    tasks: dict[str, TaskRun]

    def machine_text(self, estimate: PoweredEstimate) -> str:
        """The machine's number for an estimate, of a difference too: ``f1@60 57.0``; or ""."""
        for metric in _MACHINE_METRICS[estimate["measure"]]:
            value = self._machine_value(metric, estimate["system"])
            if value is None:
                continue
            if estimate["baseline"] is not None:
                baseline_value = self._machine_value(metric, estimate["baseline"])
                if baseline_value is None:
                    continue
                value -= baseline_value
            return f"{metric} {measures.value_text(metric, value)}"
        return ""

    def _machine_value(self, metric: str, system: str) -> float | None:
        """The value of a metric of a run over all rows; None without one."""
        estimates = self.tasks[system].estimates.get(metric, {})
        return estimates[OVERALL].value if OVERALL in estimates else None

    @property
    def sheets_text(self) -> str:
        """Which sheets were read, in a sentence."""
        sheets = listing(annotator["file"] for annotator in self.report["annotators"])
        return f"Judged in {sheets}, beside the key."

    @property
    def signature(self) -> str:
        """What was judged by how many: ``s-0123456789|drawn:95 of 723, simple, seed 0|...``."""
        annotators = len(self.report["annotators"])
        parts = [f"judged:{self.key['sheet']}", f"data:{self.key['data']}"]
        if "draw" in self.key:
            draw = self.key["draw"]
            parts.append(
                f"drawn:{draw['drawn']} of {draw['rows']}, {draw['method']}, seed {draw['seed']}"
            )
        parts += [f"annotators:{annotators}", f"scorer:{self.key['scorer'] or 'none'}"]
        return "|".join(parts)


def read(key_path: Path, runs: Sequence[Run]) -> JudgedRuns:
    """Read the judgements of runs from an export: all filled sheets of people beside its key.

    Args:
        key_path: the key of the export.
        runs: those that are shown; others of the export are left out.

    Raises:
        FigLangError: the key is of pictures or of none of the runs, fewer than two sheets are
            filled in, or the judged rows have other answers than a run.
    """
    content = keys.read(key_path)
    if "pictures" in content:
        raise FigLangError(f"{key_path} is of generated pictures: give a key of explanations")
    key = cast(ExplanationKey, content)
    tasks: dict[str, TaskRun] = {}
    for run in runs:
        for task in run.tasks.values():
            if run.name in key["systems"] and _is_judged_task(key, run.name, task):
                _check_answers(key_path, key, run.name, task)
                tasks[run.name] = task
    if not tasks:
        raise FigLangError(
            f"{key_path} is of {listing(key['systems'])} on {key['data']}, but the runs are"
            f" {listing(run.name for run in runs)}: name a run as in the export (NAME=RUN)"
        )

    sheet_paths = list(_filled_sheets(key_path, key["sheet"]))
    if len(sheet_paths) < 2:
        raise FigLangError(
            f"{key_path.parent} has {len(sheet_paths)} filled sheets of people that belong to"
            f" {key_path.name}, must be two or more: put them beside the key"
        )
    report = cast(ExplanationReport, agree.agree(key_path, sheet_paths))
    estimates: list[PoweredEstimate] = []
    for estimate in report["all_rows"]["estimates"]:
        if {estimate["system"], estimate["baseline"]} <= {*tasks, None}:
            estimates.append(estimate)
    report["all_rows"]["estimates"] = estimates
    return JudgedRuns(key, report, tasks)


def _is_judged_task(key: ExplanationKey, name: str, task: TaskRun) -> bool:
    """Whether people judged a task of the run with this name; the key has it."""
    if str(task.data) != key["data"]:
        return False
    if "tasks" in key:
        return task.task == key["tasks"][name]
    return task.has_explanations


def _filled_sheets(key_path: Path, code: str) -> Iterator[Path]:
    """The sheets beside a key that belong to it and that a person has filled in."""
    for path in sorted(key_path.parent.glob("*.csv")):
        filled = sheet.read(path)
        is_of_person = not sheet.is_language_model(filled.annotator)
        columns = [column for column in JUDGED_COLUMNS if column in filled.rows]
        has_judgements = bool(filled.rows[columns].apply(_has_text).any(axis=None))
        if filled.code == code and is_of_person and has_judgements:
            yield path


def _has_text(cells: object) -> object:
    """Which cells of a column are not blank."""
    return cells.str.strip().ne("")  # type: ignore[attr-defined]


def _check_answers(key_path: Path, key: ExplanationKey, name: str, task: TaskRun) -> None:
    """Raise a `FigLangError` unless a run has the labels and scores that the key has of it.

    A key without labels, or with verdicts in place of scores, cannot tell.
    """
    asks_label = key.get("asks_label", True)
    has_verdicts = sheet.is_language_model(key["scorer"] or "")
    records = {record["id"]: record for record in task.records}
    rows: list[MachineRow] = key.get("rows", [])
    for row in rows:
        record = records.get(row["id"])
        is_same = record is not None
        if record is not None and asks_label:
            is_same = (record["gold"], record["predicted"]) == (row["gold"], row["predicted"][name])
        if record is not None and not has_verdicts:
            is_same = is_same and score_of(record) == row["scores"][name]
        if not is_same:
            raise FigLangError(
                f"{key_path}: row {row['id']} of {name} has another label or score in the run than"
                " when it was exported: give the run that was judged"
            )
