"""``figlang data``: data ahead of a run: download, check, example files; and for training:
export.
"""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from figlang_tasks import finetuning
from figlang_tasks.cli import new_folder, say, warn
from figlang_tasks.cli.tasks import MINI, requests_of
from figlang_tasks.core import checks, hub
from figlang_tasks.core.benchmark import Benchmark, benchmarks, names, names_with
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.text import did_you_mean, listing, printable
from figlang_tasks.metrics.explanation.scorers import scorer_weights
from figlang_tasks.metrics.explanation.weights import Weights, WeightsError, locate

app = typer.Typer(no_args_is_help=True)


@app.callback()
def data() -> None:
    """Download and check data, or bring your own."""


def _named(name: str) -> Benchmark:
    if name == MINI:
        raise typer.BadParameter(
            f"{MINI} is part of the package: there is nothing to download, to check or to bring"
        )
    if name not in names():
        meant = did_you_mean(name, names())
        raise typer.BadParameter(
            f"unknown benchmark {printable(name)}{meant}; there are: {', '.join(names())}"
        )
    return benchmarks()[name]


Named: TypeAlias = Annotated[
    Benchmark,
    typer.Argument(parser=_named, metavar="BENCHMARK", help=f"One of {', '.join(names())}."),
]


@app.command()
def prefetch(
    wanted: Annotated[
        list[Benchmark] | None,
        typer.Argument(
            parser=_named,
            metavar="BENCHMARK",
            help=f"Of {', '.join(names())}. [default: all open ones]",
        ),
    ] = None,
    scorers: Annotated[
        bool,
        typer.Option(
            "--scorers",
            help="Also download the weights of the papers' explanation scorers (5.4 GB).",
        ),
    ] = False,
) -> None:
    """Download data before a run, and check it.

    A run then works without a network. V-FLUTE (4.8 GB) is gated: it is downloaded only if you name
    it. If one download fails, the others continue, and the exit status is 1. figlang doctor names
    what is not on the hub.

    \b
    figlang data prefetch vflute flute --scorers
    HF_HUB_OFFLINE=1 lmms_eval --tasks vflute ...
    """
    every = benchmarks().values()
    are_open = [
        each
        for each in every
        if not each.source.gated and any(source.repository for source in each.sources)
    ]
    downloads = [(each.name, partial(_fetch, each)) for each in wanted or are_open]
    if scorers:
        downloads += [
            ("scorers", partial(_fetch_weights, *each)) for each in scorer_weights().items()
        ]
    failed = False
    for name, fetch in downloads:
        try:
            fetch()
        except (DataError, WeightsError) as error:
            failed = True
            warn(f"{name}: {error}")
    if failed:
        raise typer.Exit(1)


def _fetch(benchmark: Benchmark) -> None:
    """Download what the tasks of a benchmark ask for, and print each part of the data with its rows
    and folder.
    """

    def tell(what: str, found: hub.Snapshot) -> None:
        say(f"{benchmark.name}: {what}: {found.folder} (revision {found.revision})")

    fetching = benchmark.module("fetch")
    if fetching is not None:
        tell("what the hub has for your rows", fetching.fetch())
    elif benchmark.source.repository is None:
        say(f"{benchmark.name}: its rows are not on the hub: {benchmark.source.bring}")
    if benchmark.source.repository is None:
        return
    for request in checks.parts(benchmark, requests_of(benchmark.name)):
        try:
            rows = checks.rows_of(benchmark.documents(request))
            tell(f"{checks.label(request)}: {rows} rows", hub.snapshot(benchmark.source))
        except PartMissing as error:
            say(f"{benchmark.name}: {checks.label(request)}: {error}")


def _fetch_weights(weights: Weights, users: str) -> None:
    found = locate(weights)
    say(f"scorers: {weights.name} ({users}): {found.folder} ({found.identity})")


@app.command()
def check(benchmark: Named) -> None:
    """Check the data of a benchmark, and list all errors.

    The command loads what each task asks for, compares the number of rows with the published one,
    and opens every picture. It looks where the tasks look, in $FIGLANG_DATA_DIR and then in the
    hub's cache, and downloads nothing. If it finds an error, the exit status is 1.

    \b
    FIGLANG_DATA_DIR=my_data figlang data check metaclue
    """
    with hub.downloading_nothing():
        lines, faults = checks.check(benchmark, requests_of(benchmark.name))
    say("\n".join(lines))
    if faults:
        raise typer.Exit(1)


TEMPLATES = ", ".join(names_with("template"))


@app.command()
def template(
    benchmark: Annotated[
        Benchmark, typer.Argument(parser=_named, metavar="BENCHMARK", help=f"One of {TEMPLATES}.")
    ],
    output: Annotated[
        Path,
        typer.Option(
            help="Folder to write into; it becomes your FIGLANG_DATA_DIR.", show_default="here"
        ),
    ] = Path("."),
) -> None:
    """Write example files for data of your own.

    \b
    figlang data template vflute --output my_data
    FIGLANG_DATA_DIR=my_data lmms_eval --tasks vflute --model ...
    """
    templates = benchmark.module("template")
    if templates is None:
        raise typer.BadParameter(
            f"there is no template for {benchmark.name}; there are: {TEMPLATES}"
        )
    folder = output / benchmark.source.name
    with new_folder(folder) as made:
        written = templates.template(made)
    say(f"written: {folder} ({len(written)} files)")
    variable = f"{hub.DATA_DIR_VARIABLE}={shlex.quote(str(output))}"
    say(f"next: replace the rows by yours, then {variable} figlang data check {benchmark.name}")


@app.command()
def export(
    task: Annotated[
        str,
        typer.Argument(
            metavar="TASK", help="A task or a group, whose prompt is written: vflute, flute_v1."
        ),
    ],
    form: Annotated[
        finetuning.Form,
        typer.Option("--format", help="messages: for TRL; sharegpt: for LLaMA-Factory."),
    ],
    output: Annotated[
        Path, typer.Option(help="Folder to write into; the split becomes a folder in it.")
    ],
    split: Annotated[
        finetuning.Split, typer.Option(help="The rows of the test are never written.")
    ] = "train",
    rows: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the rows, if the task's data has no such split.", show_default=False
        ),
    ] = None,
    keep_shared: Annotated[
        bool,
        typer.Option(
            "--keep-shared", help="Keep rows that share a picture or a text with evaluated rows."
        ),
    ] = False,
) -> None:
    """Write the training rows of a benchmark for fine-tuning.

    Each row has the prompt of the task and the reference answer in the form that the prompt asks
    for. Rows that share a picture or a text with the rows that the task evaluates are left out.

    \b
    figlang data export vflute --format messages --output my_training --split validation
    figlang data export flute_v1 --format sharegpt --output my_training
    figlang data export nykms --rows my_train --format messages --output my_training
    """
    folder = output / split
    with new_folder(folder) as made:
        written, left_out = finetuning.write(task, split, form, made, rows, keep_shared)
    say(f"{folder}: {written} rows of {split}, with the prompt of {task}")
    for why, ids in left_out.items():
        say(f"left out, because they {why}: {len(ids)} ({listing(ids, 5)})")
