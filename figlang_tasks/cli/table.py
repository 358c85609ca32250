"""``figlang table``: models by tasks, for a paper, a page or a spreadsheet."""

from __future__ import annotations

import re
from typing import Annotated, Literal, TypeAlias

import typer

from figlang_tasks.cli import say, say_tables, warn
from figlang_tasks.cli.options import Runs
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import did_you_mean, listing

Style: TypeAlias = Annotated[
    Literal["md", "latex", "csv", "html"],
    typer.Option(
        "--format",
        help=(
            "md: Markdown. latex: for a paper (package booktabs). csv: values and limits in columns"
            " of their own. html: one table element."
        ),
    ),
]
Tasks: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Show only this task; may be repeated.", show_default="all"),
]


def _check_label(label: str) -> str:
    """The label itself; an error if LaTeX would not take it."""
    if not re.fullmatch(r"[\w:.+/-]+", label, re.ASCII):
        raise typer.BadParameter(f"{label!r} is no label: use letters, digits and : . + / - _")
    return label


def table(
    runs: Runs,
    style: Style = "md",
    task: Tasks = None,
    paper: Annotated[bool, typer.Option("--paper", help="Also show the papers' results.")] = False,
    caption: Annotated[
        str | None, typer.Option(help="Caption (latex, html).", show_default="what the values are")
    ] = None,
    label: Annotated[
        str, typer.Option(callback=_check_label, help="Label of the table (latex).")
    ] = "tab:results",
) -> None:
    """Print one table of many runs: models by tasks.

    A cell is the main metric of the task over all rows, with its 95 % interval. Bold: the best
    model, with those that cannot be told apart from it (as figlang compare tests them, for each
    task). Baselines (figlang_random, figlang_majority, figlang_blind) stand below. Runs that cannot
    be compared with the others of a task have a mark, and a footnote says why. With more than 8
    tasks, tasks are the rows.

    Runs of one name are repeats: the cell is their mean and standard deviation.

    \b
    figlang table results/*
    figlang table base=results/a tuned=results/b --paper
    figlang table results/* --format latex --label tab:main > table.tex
    """
    from figlang_tasks.cli import table_formats
    from figlang_tasks.report.run_warnings import contradiction_warnings, run_warnings
    from figlang_tasks.results.model_table import ModelTable
    from figlang_tasks.results.runs import read_all

    saved_runs = read_all(runs, repeats=True)
    tasks = list(dict.fromkeys(name for run in saved_runs for name in run.tasks))
    for name in task or ():
        if name not in tasks:
            hint = did_you_mean(name, tasks)
            raise FigLangError(f"no run has the task {name}{hint}; they have: {listing(tasks)}")
    shown_tasks = [name for name in tasks if not task or name in task]

    model_table = ModelTable(saved_runs, shown_tasks, shows_papers=paper)
    warnings = run_warnings(saved_runs, shown_tasks)
    for run in saved_runs:
        compared_tasks = [(run, run.tasks[name]) for name in shown_tasks if name in run.tasks]
        warnings += contradiction_warnings(compared_tasks)
    for warning in warnings:
        warn(warning)
    caption = caption or table_formats.default_caption(model_table)
    if style == "latex":
        say(table_formats.latex(model_table, caption, label))
    elif style == "html":
        say(table_formats.html(model_table, caption))
    elif style == "csv":
        say(table_formats.csv(model_table))
    else:
        say_tables(table_formats.markdown(model_table))
