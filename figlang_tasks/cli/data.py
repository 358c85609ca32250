"""``figlang data``: data ahead of a run: downloaded, imported, written down to be filled in, checked."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from figlang_tasks.cli import say, say_json
from figlang_tasks.core import hub
from figlang_tasks.core.text import printable

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

Benchmark = Literal["vflute", "irfl", "nykms", "metaclue", "flute"]
BENCHMARKS: tuple[Benchmark, ...] = get_args(Benchmark)

_NYKMS_README = """NYK-MS for figlang_tasks: files to fill in
==========================================

The annotations of NYK-MS (arXiv 2409.01037) have no public release. Put yours here, in place of these example rows
(which this project wrote and drew), and set {variable} to the folder above this one.

nyk_m.jsonl   metaphor, one JSON object a line; the paper has {nyk_m} rows
nyk_s.jsonl   sarcasm, likewise; the paper has {nyk_s} rows
images/       the cartoons that the rows name

id               a text, once in the file, e.g. NYK_722_3 (contest 722, its third caption)
contest_number   a whole number; may be left out where the id tells it
image            path of the cartoon below this folder; left out or empty: taken by contest_number from the hub dataset
                 {repository}
description      the cartoon in words, for the text-only tasks; left out or empty: likewise
caption          a text
MC / SC          1: there is a metaphor (sarcasm), 0: there is none
MW, ME           of a positive in nyk_m.jsonl: word or object, and explanation; of a negative empty
SW, ST, SE       of a positive in nyk_s.jsonl: word or object, target, and explanation; of a negative empty

MW, SW and ST: words of the caption as they are; "[I] object" for an object in the image; "[I]" alone for the whole
image (not ST); "[S] text" for words of one's own.

Check, with FIGLANG_DATA_DIR set to the folder above this one: figlang data check nykms
Try:   lmms_eval --tasks nykms_joint --model figlang_random --limit 5
"""


@app.callback()
def data() -> None:
    """Data ahead of a run: download it, check it; and files to fill in and import where the data is yours to bring.

    \b
    figlang data prefetch flute --scorers
    figlang data check flute
    figlang data template nykms --output my_data
    figlang data import metaclue pitt_ads metaphors.csv --output my_data/MetaCLUE

    Exit status: 0 done, 1 failed (check: faults were found), 2 wrong usage.
    """


@app.command()
def prefetch(
    benchmarks: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BENCHMARK]...", help=f"Of {', '.join(BENCHMARKS)}. [default: the open ones]"),
    ] = None,
    scorers: Annotated[
        bool, typer.Option("--scorers", help="Also the weights of the papers' explanation scorers (5.4 GB).")
    ] = False,
) -> None:
    """Download what the tasks of benchmarks read, and read it once as they do, so that a run needs no network.

    V-FLUTE (4.8 GB) is gated: it is fetched where it is named. If one cannot be had the others still are, and the exit
    status is 1.

    \b
    figlang data prefetch
    figlang data prefetch vflute flute --scorers
    HF_HUB_OFFLINE=1 lmms_eval --tasks vflute ...
    """
    from figlang_tasks.cli import data_checks

    if unknown := [name for name in benchmarks or () if name not in BENCHMARKS]:
        raise typer.BadParameter(
            f"unknown benchmark {printable(', '.join(unknown))}; there are: {', '.join(BENCHMARKS)}"
        )
    _warnings_alone()
    failed = False
    for name in dict.fromkeys(benchmarks or data_checks.OPEN):
        try:
            for found in data_checks.prefetch(name):
                say(f"{name}: {found.what}: {printable(found.folder)} (revision {found.revision})")
        except hub.DataError as error:
            failed = True
            say(f"figlang data: {name}: {printable(error)}", err=True)
    if not benchmarks:
        page = hub.source("V-FLUTE").page
        say(f"vflute: left out, gated: accept the conditions on {page}, then: figlang data prefetch vflute")
        say("metaclue, nykms: their annotations have no public release: see figlang data import, template")
    if scorers:
        failed = not _prefetch_scorers() or failed
    if failed:
        raise typer.Exit(1)


def _prefetch_scorers() -> bool:
    """Whether all weights are here now."""
    from figlang_tasks.cli.data_checks import scorer_weights
    from figlang_tasks.metrics.explanation.weights import WeightsError, locate

    complete = True
    for weights, users in scorer_weights().items():
        try:
            found = locate(weights)
            say(f"scorers: {weights.name} ({users}): {printable(found.folder)} ({printable(found.identity)})")
        except WeightsError as error:
            complete = False
            say(f"figlang data: scorers: {printable(error)}", err=True)
    return complete


def _warnings_alone() -> None:
    """Leave out what loaders tell of their progress: the lines of the command say it."""
    from loguru import logger

    try:
        logger.remove(0)  # loguru's own handler
    except ValueError:  # whoever removed it has set up another
        return
    logger.add(lambda message: say(message, nl=False, err=True), level="WARNING", format="{message}")


@app.command("import")
def import_(
    benchmark: Annotated[Literal["metaclue"], typer.Argument(help="The benchmark that the data is for.")],
    pitt: Annotated[Path, typer.Argument(help="The Pitt Ads: folders 0 to 10 of pictures, and Topics.json.")],
    table: Annotated[Path, typer.Argument(help="CSV or JSON lines with the metaphors of each picture.")],
    output: Annotated[
        Path | None, typer.Option(help="Folder to make.", show_default="$FIGLANG_DATA_DIR/MetaCLUE")
    ] = None,
    boxes: Annotated[Path | None, typer.Option(help="CSV or JSON lines with boxes.", show_default=False)] = None,
    topics: Annotated[
        Path | None, typer.Option(help="Topics.json, if it is not with the pictures.", show_default=False)
    ] = None,
) -> None:
    """Make the folder that the MetaCLUE tasks read, from the Pitt Ads and a table of annotations (docs/metaclue.md).

    \b
    figlang data import metaclue pitt_ads metaphors.csv --boxes boxes.csv --output my_data/MetaCLUE
    """
    from figlang_tasks.benchmarks.metaclue import annotations

    try:
        say(printable(annotations.import_files(pitt, table, output, boxes, topics)))
    except hub.DataError as error:
        say(f"figlang data: {printable(error)}", err=True)
        raise typer.Exit(1) from error


@app.command()
def check(
    benchmark: Annotated[Benchmark, typer.Argument(help="The benchmark that the data is for.")],
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="The folder of its data, or the one above it. [default: what the tasks would read: "
            "$FIGLANG_DATA_DIR/NAME, or the hub's cache]",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of lines.")] = False,
) -> None:
    """Read the data as the tasks do, count beside the published counts, list the faults; exit status 1 if any.

    Nothing is downloaded. Every picture is looked at.

    \b
    figlang data check vflute
    figlang data check metaclue my_data/MetaCLUE
    """
    from figlang_tasks.cli import data_checks

    _warnings_alone()
    try:
        report = data_checks.check(benchmark, folder)
    except hub.DataError as error:
        say(f"figlang data: {printable(error)}", err=True)
        raise typer.Exit(1) from error
    content = {"benchmark": benchmark, "faults": report.faults, "lines": report.lines}
    if as_json:
        say_json(content)
    else:
        say("\n".join(map(printable, report.lines)))
    if report.faults:
        raise typer.Exit(1)


@app.command()
def template(
    benchmark: Annotated[Literal["nykms"], typer.Argument(help="The benchmark that the files are for.")],
    output: Annotated[
        Path, typer.Option(help="Folder to write into; it becomes your FIGLANG_DATA_DIR.", show_default="here")
    ] = Path("."),
) -> None:
    """Write example files in the import format, to be replaced by your data. Nothing is overwritten.

    \b
    figlang data template nykms --output my_data
    FIGLANG_DATA_DIR=my_data lmms_eval --tasks nykms_joint --model ...
    """
    folder = output / "NYK-MS"
    if folder.exists():
        say(
            f"figlang data: {printable(folder)} is already there, and nothing is overwritten: name another --output",
            err=True,
        )
        raise typer.Exit(1)
    # All of it beside its place first: the next try would refuse the half that a kill or a full disk leaves there.
    staged = output / f".{folder.name}.{os.getpid()}.tmp"
    try:
        for left_by_a_kill in output.glob(f".{folder.name}.*.tmp"):
            shutil.rmtree(left_by_a_kill)
        try:
            written = _write_nykms(staged)
            staged.rename(folder)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        say(f"figlang data: {printable(folder)} cannot be written: {error.strerror}", err=True)
        raise typer.Exit(1) from error
    say("\n".join(printable(folder / path.relative_to(staged)) for path in written))


def _write_nykms(folder: Path) -> list[Path]:
    from figlang_tasks.benchmarks.nykms.rows import CONTESTS, PAPER_ROWS

    (folder / "images").mkdir(parents=True)
    written = []
    for name, mark_fields in (("nyk_m", ("MW",)), ("nyk_s", ("SW", "ST"))):
        chosen = _one_of_each_kind(name, mark_fields)
        path = folder / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen), encoding="utf-8")
        written.append(path)
        for row in chosen:
            picture = folder / row["image"]
            shutil.copyfile(hub.MINI_NYKMS_DIR / row["image"], picture)
            written.append(picture)
    readme = folder / "README.txt"
    readme.write_text(
        _NYKMS_README.format(variable=hub.DATA_DIR_VARIABLE, repository=hub.source(CONTESTS).repository, **PAPER_ROWS),
        encoding="utf-8",
    )
    return [readme, *dict.fromkeys(written)]


def _one_of_each_kind(name: str, mark_fields: tuple[str, ...]) -> list[dict[str, Any]]:
    """Rows of the shipped benchmark in this format: one of each kind of answer, and a negative."""
    lines = (hub.MINI_NYKMS_DIR / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    seen: set[tuple[str, str]] = set()
    chosen = []
    for row in map(json.loads, lines):
        kinds = {(field, _mark(row[field])) for field in mark_fields}
        if kinds - seen:
            seen |= kinds
            chosen.append(row)
    return chosen


def _mark(answer: str) -> str:
    """``[I]``, ``[I] ``, ``[S] ``, a blank for words of the caption, nothing for a negative."""
    return answer[:4] if answer.startswith("[") else " " * bool(answer)
