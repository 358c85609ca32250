"""``figlang data``: downloads, checks, example files, prompts, and data for training."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from figlang_tasks import finetuning
from figlang_tasks.cli import say, warn
from figlang_tasks.cli.data_prompts import prompts
from figlang_tasks.cli.tasks import MINI, requests_of
from figlang_tasks.core import checks, hub
from figlang_tasks.core.benchmark import Benchmark, benchmarks, names, names_with
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.text import did_you_mean, listing, printable
from figlang_tasks.core.whole_paths import new_folder
from figlang_tasks.metrics.explanation.scorers import scorer_weights
from figlang_tasks.metrics.explanation.weights import Weights, WeightsError, locate

app = typer.Typer(no_args_is_help=True)


@app.callback()
def data() -> None:
    """Download and check data, or bring your own."""


def _parse_benchmark(name: str) -> Benchmark:
    """The benchmark of a name on the command line.

    Raises:
        typer.BadParameter: no benchmark has this name, or it is that of the small shipped data.
    """
    if name == MINI:
        raise typer.BadParameter(
            f"{MINI} is part of the package: there is nothing to download, to check or to bring"
        )
    if name not in names():
        hint = did_you_mean(name, names())
        raise typer.BadParameter(
            f"unknown benchmark {printable(name)}{hint}; there are: {', '.join(names())}"
        )
    return benchmarks()[name]


BenchmarkArgument: TypeAlias = Annotated[
    Benchmark,
    typer.Argument(
        parser=_parse_benchmark, metavar="BENCHMARK", help=f"One of {', '.join(names())}."
    ),
]


# --- prefetch ---


@app.command()
def prefetch(
    named_benchmarks: Annotated[
        list[Benchmark] | None,
        typer.Argument(
            parser=_parse_benchmark,
            metavar="BENCHMARK",
            help=f"Of {', '.join(names())}. [default: all open ones]",
        ),
    ] = None,
    scorers: Annotated[
        bool,
        typer.Option(
            "--scorers",
            help="Also download the weights of the papers' explanation scorers (6.8 GB).",
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
    downloads: list[tuple[str, Callable[[], None]]] = []
    for benchmark in named_benchmarks or _open_benchmarks():
        downloads.append((benchmark.name, partial(_download_data, benchmark)))
    if scorers:
        for weights, scorer_names in scorer_weights().items():
            downloads.append(("scorers", partial(_download_weights, weights, scorer_names)))

    has_failed = False
    for name, download in downloads:
        try:
            download()
        except (DataError, WeightsError) as error:
            has_failed = True
            warn(f"{name}: {error}")
    if has_failed:
        raise typer.Exit(1)


def _open_benchmarks() -> list[Benchmark]:
    """The benchmarks whose data can be downloaded from the hub by everybody."""
    open_benchmarks = []
    for benchmark in benchmarks().values():
        has_data_on_hub = any(source.repository for source in benchmark.sources)
        if has_data_on_hub and not benchmark.source.gated:
            open_benchmarks.append(benchmark)
    return open_benchmarks


def _download_data(benchmark: Benchmark) -> None:
    """Download what the hub has of a benchmark, and print where it is, or how users get the rest.

    A benchmark has its rows on the hub, or a module ``fetch``, or neither; none has both.

    Raises:
        DataError: a download failed.
    """
    fetch_module = benchmark.module("fetch")
    has_rows_on_hub = benchmark.source.repository is not None
    if fetch_module is not None:
        # Users bring the rows, and the hub has additions to them.
        snapshot = fetch_module.fetch()
        _say_downloaded(benchmark, "what the hub has for your rows", snapshot)
    elif benchmark.source.folder is not None:
        say(f"{benchmark.name}: its rows are part of its package: there is nothing to download")
    elif not has_rows_on_hub:
        # Users bring everything.
        say(f"{benchmark.name}: its rows are not on the hub: {benchmark.source.bring}")
    if has_rows_on_hub:
        _download_rows(benchmark)


def _download_rows(benchmark: Benchmark) -> None:
    """Download the rows of a benchmark, and print each part with its rows and its folder.

    A part that is missing although others are there is printed with the reason.
    """
    for request in checks.data_requests(benchmark, requests_of(benchmark.name)):
        label = checks.request_label(request)
        try:
            documents = benchmark.documents(request)  # downloads them
        except PartMissing as error:
            say(f"{benchmark.name}: {label}: {error}")
            continue
        rows = checks.count_rows(documents)
        _say_downloaded(benchmark, f"{label}: {rows} rows", hub.snapshot(benchmark.source))


def _say_downloaded(benchmark: Benchmark, content: str, snapshot: hub.Snapshot) -> None:
    """Print what of a benchmark is in a folder, e.g. ``FLUTE, train: 7534 rows``."""
    say(f"{benchmark.name}: {content}: {snapshot.folder} (revision {snapshot.revision})")


def _download_weights(weights: Weights, scorer_names: Sequence[str]) -> None:
    """Download the weights of a model, and print where they are and for which scorers.

    Args:
        weights: those of the model.
        scorer_names: the scorers that use it.
    """
    located = locate(weights)  # downloads them if they are not here
    scorers = ", ".join(scorer_names)
    say(f"scorers: {weights.name} ({scorers}): {located.folder} ({located.identity})")


# --- check ---


@app.command()
def check(benchmark: BenchmarkArgument) -> None:
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


# --- template ---


TEMPLATES = ", ".join(names_with("template"))
"""The names of the benchmarks that have example files."""


@app.command()
def template(
    benchmark: Annotated[
        Benchmark,
        typer.Argument(parser=_parse_benchmark, metavar="BENCHMARK", help=f"One of {TEMPLATES}."),
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
    template_module = benchmark.module("template")
    if template_module is None:
        raise typer.BadParameter(
            f"there is no template for {benchmark.name}; there are: {TEMPLATES}"
        )
    folder = output / benchmark.source.name
    with new_folder(folder) as partial_folder:
        files = template_module.template(partial_folder)
    say(f"written: {folder} ({len(files)} files)")
    variable = f"{hub.DATA_DIR_VARIABLE}={shlex.quote(str(output))}"
    say(
        f"next: replace the rows with your own, then {variable} figlang data check {benchmark.name}"
    )


# --- export ---


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
    with new_folder(folder) as partial_folder:
        row_count, ids_by_reason = finetuning.write(
            task, split, form, partial_folder, rows, keep_shared=keep_shared
        )
    say(f"{folder}: {row_count} rows of {split}, with the prompt of {task}")
    for reason, ids in ids_by_reason.items():
        say(f"left out, because they {reason}: {len(ids)} ({listing(ids, 5)})")


# --- prompts ---

app.command()(prompts)
