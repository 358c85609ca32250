"""``figlang report``: one HTML file about finished runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from figlang_tasks.cli import fail, failing, say
from figlang_tasks.core.text import printable
from figlang_tasks.metrics.files import write_whole

if TYPE_CHECKING:
    from figlang_tasks.report.page import Page


def report(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]RUN",
            help="Samples file, results file or folder of a run; NAME is its name in the report.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path("report.html"),
    title: Annotated[str, typer.Option(help="Title of the page.")] = "Figurative-language evaluation",
    no_images: Annotated[bool, typer.Option("--no-images", help="Do not include pictures.")] = False,
    thumbnail_size: Annotated[
        int, typer.Option(min=32, max=512, help="Pixels of the pictures' long side; all together stay under 20 MB.")
    ] = 320,
    max_samples: Annotated[int, typer.Option(min=0, help="Rows in the gallery, over all tasks. 0: no gallery.")] = 6000,
    no_published: Annotated[bool, typer.Option("--no-published", help="Do not show the papers' results.")] = False,
    show: Annotated[bool, typer.Option("--open", help="Open the report in the browser.")] = False,
) -> None:
    """Write an HTML report of runs: charts, tables and samples.

    The report is one file that works offline. It also says how each run was made. It contains texts and small pictures
    of the benchmark: check the dataset's conditions before you share it. Pictures come from data on this machine;
    nothing is downloaded.

    \b
    figlang report results/my_model
    figlang report base=results/base tuned=results/tuned -o base_and_tuned.html
    figlang report run_samples_vflute.jsonl --no-images --title "V-FLUTE, first try"
    """
    from figlang_tasks.report import page
    from figlang_tasks.results import runs as finished

    with failing("report"):
        _check(output)
        made = page.build(
            finished.read_all(runs),
            title,
            pictures=not no_images,
            size=thumbnail_size,
            most=max_samples,
            published=not no_published,
            command=shlex.join(["figlang", *sys.argv[1:]]),
        )
        write_whole(output, made.content)
    for notice in made.notices:
        say(f"figlang report: {printable(notice)}", err=True)
    say(f"written: {printable(output)} ({_size(made)})")
    if show:
        typer.launch(output.absolute().as_uri())


def _size(made: Page) -> str:
    return f"{made.samples} samples, {made.pictures} pictures, {len(made.content) / 1e6:.1f} MB"


def _check(output: Path) -> None:
    """Refuse what cannot be written, before anything is computed."""
    from figlang_tasks.report import page

    if output.is_dir():
        fail("report", f"{output} is a folder: give a file, -o {output / 'report.html'}")
    if not output.parent.is_dir():
        fail("report", f"the folder {output.parent} does not exist: create it, or choose another -o")
    if output.exists() and not page.is_report(output):
        fail("report", f"{output} exists and is not a report, so it is not replaced: choose another -o")
