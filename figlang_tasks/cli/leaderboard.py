"""``figlang leaderboard``: a static site with the rankings of all runs below a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from figlang_tasks.cli import say, saying_new_folder, warn
from figlang_tasks.cli.options import FolderOfRuns
from figlang_tasks.core.errors import FigLangError, RunError
from figlang_tasks.core.text import listing, printable

if TYPE_CHECKING:
    from figlang_tasks.leaderboard.board import Leaderboard
    from figlang_tasks.results.task_run import Run

_DEFAULT_OUTPUT = Path("site")

_NOT_CHECKED = (
    "Not checked: whether the model wrote these outputs, and whether ids, texts and right answers"
    " are those of the release. A change in the samples is noticed only if it contradicts the"
    " values in the results file."
)
"""What a maintainer who accepts a run must know about the check."""


class _ReadRuns(NamedTuple):
    """The runs below a folder, each with a name of its own, and why others cannot be read."""

    runs: list[Run]
    reason_by_unreadable_run: dict[str, str]


def leaderboard(
    folder: FolderOfRuns,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=f"The folder to write; a former leaderboard is replaced. [{_DEFAULT_OUTPUT}]",
            show_default=False,
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Only check the runs, as for a pull request; write nothing."),
    ] = False,
    with_samples: Annotated[
        bool,
        typer.Option(
            "--with-samples", help="Add a report of each run, with texts and pictures of its rows."
        ),
    ] = False,
    allow_gated: Annotated[
        bool,
        typer.Option(
            "--allow-gated", help="Also add reports of runs on gated data, or data that you bring."
        ),
    ] = False,
) -> None:
    """Write a leaderboard of the runs below a folder: a static site for any web host.

    It ranks the runs of each task, with intervals, and letters for runs that cannot be told apart.
    Published results stand beside them. Runs that are partial, contradict their samples, or have
    another scorer or task version are not ranked. The site holds figures only, and loads nothing
    from elsewhere.

    \b
    figlang leaderboard results -o site
    figlang leaderboard results/new_run --check
    """
    if not check:
        _write_site(folder, output or _DEFAULT_OUTPUT, with_samples, allow_gated)
    elif output or with_samples or allow_gated:
        raise typer.BadParameter(
            "--check writes nothing: leave out -o, --with-samples and --allow-gated"
        )
    else:
        _print_check(folder)


def _read_runs(folder: Path) -> _ReadRuns:
    """Read all runs below a folder, and compute their values, so that damage in them shows.

    Raises:
        RunError: there is no run, not even one that cannot be read.
    """
    from figlang_tasks.results.files import find_runs
    from figlang_tasks.results.run_names import paths_by_name
    from figlang_tasks.results.runs import read

    runs: list[Run] = []
    reason_by_unreadable_run: dict[str, str] = {}
    for name, path in paths_by_name(folder, find_runs(folder)).items():
        try:
            run = read(str(path))
            for task_run in run.tasks.values():
                # Computed here and kept: rows, contradictions, and the sums that tests compare.
                _ = task_run.rows, task_run.estimates, task_run.statistics
        except RunError as error:
            reason_by_unreadable_run[name] = str(error)
        else:
            runs.append(replace(run, name=name))
    if not runs and not reason_by_unreadable_run:
        raise RunError(f"no run in {folder}: evaluate with --output_path and --log_samples")
    return _ReadRuns(runs, reason_by_unreadable_run)


# --- the check ---


def _print_check(folder: Path) -> None:
    """Print a line for each run, and below it what is wrong; exit with 1 if anything is."""
    from figlang_tasks.leaderboard.checks import faults_of_run

    runs, reason_by_unreadable_run = _read_runs(folder)
    faults_by_run: dict[str, list[str]] = {}
    for name, reason in reason_by_unreadable_run.items():
        faults_by_run[name] = [reason]
    for run in runs:
        faults_by_run[run.name] = faults_of_run(run)
        if not faults_by_run[run.name]:
            # In one line: a name with a line break could forge the line of another run.
            say(f"ok    {printable(run.name)} ({', '.join(run.tasks)})")
    good_runs = 0
    for name, faults in faults_by_run.items():
        if not faults:
            good_runs += 1
            continue
        say(f"fail  {printable(name)}")
        for fault in faults:
            say(f"      {printable(fault)}")
    say(f"{good_runs} of {len(faults_by_run)} runs can be added")
    say(_NOT_CHECKED)
    if good_runs < len(faults_by_run):
        raise typer.Exit(1)


# --- the site ---


def _refuse_gated(runs: Sequence[Run]) -> None:
    """Raise a `FigLangError` if a run is on data that is gated, or that users must bring."""
    from figlang_tasks.core.benchmark import source_of

    closed_datasets: dict[str, None] = {}  # a set that keeps its order
    for run in runs:
        for task_run in run.tasks.values():
            access = source_of(task_run.data.dataset).access
            if access in ("gated", "bring your own"):
                closed_datasets[f"{task_run.data.dataset}, {access}"] = None
    if closed_datasets:
        raise FigLangError(
            "--with-samples would publish texts and pictures of data without open access"
            f" ({listing(closed_datasets, separator='; ')}): leave it out, or add --allow-gated if"
            " the conditions of the data let you publish them"
        )


def _write_site(folder: Path, output: Path, with_samples: bool, allow_gated: bool) -> None:
    """Write the site, and say where it is; exit with 1 if a run could not be read.

    Args:
        folder: the runs are below it.
        output: the folder of the site.
        with_samples, allow_gated: as the options of the command.
    """
    from figlang_tasks.leaderboard import board, site

    site.check_output(output)  # before the work is done
    runs, reason_by_unreadable_run = _read_runs(folder)
    for name, reason in reason_by_unreadable_run.items():
        warn(f"{name}: {reason}")
    if runs:
        path_of_report: dict[str, str] = {}
        if with_samples:
            if not allow_gated:
                _refuse_gated(runs)
            for number, run in enumerate(runs, start=1):
                path_of_report[run.name] = site.report_path(number)
        rankings = board.build(runs, list(reason_by_unreadable_run), path_of_report)
        with saying_new_folder(output):
            site.write(output, rankings, _reports(runs, path_of_report))
        say(f"written: {output}/index.html ({len(rankings.tasks)} tasks, {len(runs)} runs)")
        _tell_unranked(rankings)
    if reason_by_unreadable_run:
        raise typer.Exit(1)


def _tell_unranked(rankings: Leaderboard) -> None:
    """Print the names of runs that are not ranked on any task."""
    ranked_runs: set[str] = set()
    for task in rankings.tasks:
        ranked_runs.update(ranked.run for ranked in task.ranked)
    unranked_runs = [facts.run for facts in rankings.runs if facts.run not in ranked_runs]
    if unranked_runs:
        say(f"not ranked on any task: {listing(unranked_runs)}; the page says why")


def _reports(runs: Sequence[Run], path_of_report: dict[str, str]) -> Iterator[tuple[str, bytes]]:
    """Path and content of the report of each run that has a path."""
    from figlang_tasks.report import page

    for run in runs:
        if run.name in path_of_report:
            yield path_of_report[run.name], page.build([run], title=run.name).content
