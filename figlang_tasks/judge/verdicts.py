"""Verdicts of ``figlang judge llm RUN``: what a language model says of each explanation."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from figlang_tasks.core import files, row_files
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.row_files import brief
from figlang_tasks.core.text import listing
from figlang_tasks.judge.explained import ExplainedTask
from figlang_tasks.judge.key import MachineRow
from figlang_tasks.judge.questions import Status


class Verdict(TypedDict):
    """What a judge says of one explanation: a line of the output.

    Attributes:
        id: the row of the benchmark.
        system: the name of the run.
        verdict: 1 if the explanation is adequate, 0 if not; None if that was not read.
        error: the main error of an explanation that is not adequate.
        status: what became of the question.
        preferred: 1 if the explanation is preferred in both orders of the systems, 0 if another one
            or none is; None with a single system, or if the preference changes with the order.
        judge: the name of the judge, with the version of its prompts.
        task: the name of the task.
        data: the identity of the data.
    """

    id: str
    system: str
    verdict: int | None
    error: str | None
    status: Status
    preferred: int | None
    judge: str
    task: str
    data: str


_TEXTS = ("id", "system", "judge", "task", "data")


def replace_scores(
    machine_rows: Sequence[MachineRow], path: Path, explained_by_system: Mapping[str, ExplainedTask]
) -> str:
    """Put the verdicts of a file in place of the ExplanationScores of all rows.

    A verdict that was not read leaves an explanation without a score. Verdicts of other systems and
    of rows that the runs lack are left out.

    Args:
        machine_rows: what machines say of all rows of the runs; their scores are replaced.
        path: the file of verdicts.
        explained_by_system: the runs.

    Returns:
        The name of the judge.

    Raises:
        FigLangError: the file holds no verdicts, those of several judges or of other data, or lacks
            an explanation.
    """
    verdict_of_place, judge = _read(path, explained_by_system)
    missing: list[str] = []
    for row in machine_rows:
        for system in explained_by_system:
            place = (row["id"], system)
            if place not in verdict_of_place:
                missing.append(f"row {row['id']} of {system}")
                continue
            row["scores"][system] = verdict_of_place[place]
    if missing:
        raise FigLangError(
            f"{path} has no verdict of {listing(missing, 3)}: give figlang judge llm all runs of"
            " the export, under the same names"
        )
    return judge


def _read(
    path: Path, explained_by_system: Mapping[str, ExplainedTask]
) -> tuple[dict[tuple[str, str], float | None], str]:
    """The verdict of each row and system, and the name of the judge.

    Raises:
        FigLangError: a line is no verdict, is of another task or judge, or judges an explanation a
            second time.
    """
    tasks = {explained.task.task for explained in explained_by_system.values()}
    data = {str(explained.task.data) for explained in explained_by_system.values()}
    verdict_of_place: dict[tuple[str, str], float | None] = {}
    judges: dict[str, None] = {}
    required = list(Verdict.__annotations__)
    for location, row in row_files.read_rows(path, required, files.MOST_BYTES_OF_SAMPLES):
        if isinstance(row, str):
            raise FigLangError(f"{location} {row}")
        verdict = _checked(location, row)
        if row["task"] not in tasks or row["data"] not in data:
            raise FigLangError(
                f"{location} is of {brief(row['task'])} on {brief(row['data'])}, but the runs are"
                f" of {listing(sorted(tasks))} on {listing(sorted(data))}: give the verdicts of"
                " these runs"
            )
        place = (row["id"], row["system"])
        if place in verdict_of_place:
            raise FigLangError(
                f"{location} judges row {brief(row['id'])} of {brief(row['system'])} a second time:"
                " give the file as figlang judge llm wrote it"
            )
        verdict_of_place[place] = verdict
        judges[row["judge"]] = None
    if len(judges) != 1:
        raise FigLangError(
            f"{path} has verdicts of {len(judges)} judges, must be of one: give the file as figlang"
            " judge llm wrote it"
        )
    return verdict_of_place, next(iter(judges))


def _checked(location: str, row: MutableMapping[str, Any]) -> float | None:
    """The verdict of a line, after a check of the fields that are used."""
    verdict = row["verdict"]
    is_verdict = verdict is None or (isinstance(verdict, int) and verdict in (0, 1))
    if not is_verdict or not all(isinstance(row[name], str) for name in _TEXTS):
        raise FigLangError(
            f"{location} is no verdict: give the file that figlang judge llm RUN wrote"
        )
    return None if verdict is None else float(verdict)
