"""``figlang show``: rows of a run in the terminal, with what the model was asked and answered."""

from __future__ import annotations

from typing import Annotated

import typer

from figlang_tasks.cli import say, say_json
from figlang_tasks.cli.options import AsJson, Run


def show(
    run: Run,
    task: Annotated[
        str | None, typer.Option(help="A task of the run. [default: all]", show_default=False)
    ] = None,
    count: Annotated[int, typer.Option("--n", min=1, help="Rows of each task.")] = 5,
    wrong: Annotated[bool, typer.Option("--wrong", help="Rows with a wrong answer.")] = False,
    unread: Annotated[
        bool, typer.Option("--unread", help="Rows with an answer that could not be read.")
    ] = False,
    row_id: Annotated[
        str | None, typer.Option("--id", help="The row with this id.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show rows of a run: prompt, picture, answer, how it was read, gold, scores.

    Rows come in the order of the samples file. With --repeats, a row is shown with all its answers,
    and --wrong and --unread take it if one of them is. Nothing is downloaded.

    \b
    figlang show results/MODEL --task vflute --wrong
    figlang show results/MODEL --unread --n 20
    figlang show results/MODEL --id vismet-test-0 --json
    """
    if sum([wrong, unread, row_id is not None]) > 1:
        raise typer.BadParameter("--wrong, --unread and --id exclude each other")
    from figlang_tasks.cli.show_text import task_text
    from figlang_tasks.report.row_views import RowChoice, view_tasks
    from figlang_tasks.results.runs import read

    saved_run = read(run)
    choice = RowChoice(count, wrong, unread, row_id)
    views = view_tasks(saved_run, task, choice)
    if as_json:
        say_json({"run": saved_run.name, "path": str(saved_run.path), "tasks": views})
        return
    say("\n\n".join(task_text(view, choice) for view in views))
