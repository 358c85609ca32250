"""``figlang report``: one HTML file about finished runs."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from figlang_tasks.cli import say, saying_new_folder, warn
from figlang_tasks.cli.judged import Judged, read_judged, section_of
from figlang_tasks.cli.options import Runs
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.metrics.files import write_whole


def report(
    runs: Runs,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str, typer.Option(help="Title of the page.")
    ] = "Figurative-language evaluation",
    no_images: Annotated[
        bool, typer.Option("--no-images", help="Do not include pictures.")
    ] = False,
    max_samples: Annotated[
        int, typer.Option(min=0, help="Rows in the gallery, over all tasks. 0: no gallery.")
    ] = 6000,
    judged: Judged = None,
    opens_browser: Annotated[
        bool, typer.Option("--open", help="Open the report in the browser.")
    ] = False,
) -> None:
    """Write an HTML report of runs: charts, tables and samples.

    The report is one file that works offline. It also says how each run was made. It contains texts
    and small pictures of the benchmark: check the dataset's conditions before you share it.
    Pictures come from data on this machine; nothing is downloaded.

    \b
    figlang report base=results/base tuned=results/tuned -o base_and_tuned.html
    figlang report run_samples_vflute.jsonl --no-images --title "V-FLUTE, first try"
    """
    from figlang_tasks.report import page
    from figlang_tasks.results.runs import read_all

    if output.exists() and not page.is_report(output):
        raise FigLangError(
            f"{output} exists and is not a report, so it is not replaced: choose another -o"
        )
    command = shlex.join(["figlang", *sys.argv[1:]])
    shown_runs = read_all(runs)
    section = None if judged is None else section_of(read_judged(judged, shown_runs))
    report_page = page.build(
        shown_runs,
        title,
        with_pictures=not no_images,
        max_cards=max_samples,
        command=command,
        judged=section,
    )
    with saying_new_folder(output):
        write_whole(output, report_page.content)
    for warning in report_page.warnings:
        warn(warning)
    megabytes = len(report_page.content) / 1e6
    size = f"{report_page.samples} samples, {report_page.pictures} pictures, {megabytes:.1f} MB"
    say(f"written: {output} ({size})")
    if opens_browser:
        typer.launch(output.absolute().as_uri())
