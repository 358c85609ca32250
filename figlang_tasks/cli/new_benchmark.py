"""``figlang new-benchmark``: an installable benchmark from a table of questions."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from figlang_tasks.cli import say, warn
from figlang_tasks.cli.new_benchmark_files import SUMMARIES, package_files
from figlang_tasks.cli.new_benchmark_rows import Table, read_questions
from figlang_tasks.core import row_files, task_files
from figlang_tasks.core.benchmark import sources
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.files import check_is_free
from figlang_tasks.core.homes import HARNESSES, VALID_NAME, is_reserved, names
from figlang_tasks.core.text import printable
from figlang_tasks.core.whole_paths import new_folder
from figlang_tasks.harness.command_line import LISTS
from figlang_tasks.scoring.simple_rows import Kind

MOST_FAULTS = 50
"""How many faults of a table are printed."""


def new_benchmark(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="The name of the benchmark and of its task: proverbs."),
    ],
    table: Annotated[
        Path, typer.Option("--from", help="The table with the questions: .csv, .tsv or .jsonl.")
    ],
    images: Annotated[
        Path | None,
        typer.Option(
            help="The folder that paths of pictures are relative to.",
            show_default="the folder of the table",
        ),
    ] = None,
    kind: Annotated[
        Kind | None,
        typer.Option(help="How the questions are answered.", show_default="what the columns say"),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            help="Words before each question; without a column question, the question of all rows.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder to write the folder figlang-NAME into."),
    ] = Path("."),
) -> None:
    """Write a benchmark from a table of questions, as a package that pip installs.

    The table has a row for each question, and the columns id, image (the path of a picture),
    question and answer. For a choice it also has the options: A, B, C ..., or option_1, option_2
    ..., or options with a list in JSON; the answer is then the letter or the text of an option. If
    all answers are yes or no, the question is one of yes or no. Any other answer is free, and is
    compared without case, surrounding punctuation and a leading article. id and image may be
    missing. Rows and pictures are copied.

    \b
    figlang new-benchmark proverbs --from rows.csv
    figlang new-benchmark sayings --from rows.jsonl --images pictures --kind yes-no
    """
    _check_name(name)
    if prompt is not None:
        _check_prompt(prompt)
    # lmms-eval takes a folder with the name of a task for one with task files.
    folder = output / f"figlang-{name.replace('_', '-')}"
    check_is_free(folder)
    try:
        questions = read_questions(table, name, images or table.parent, kind, prompt)
    except DataError as error:
        _warn_of_faults(table, error.faults or [str(error)])
        raise typer.Exit(1) from error
    _write(folder, name, questions, prompt)
    _say_what_was_written(folder, name, questions, kind is None)


def _check_prompt(prompt: str) -> None:
    """Raise a `FigLangError` if words for a template are not text, or mean more than they say."""
    row_files.text({"--prompt": prompt}, "--prompt", "figlang new-benchmark")
    if re.search(r"\{[{%#]", prompt):
        raise FigLangError("--prompt must not contain {{, {% or {#, which mean something in Jinja")


def _check_name(name: str) -> None:
    """Raise a `FigLangError` if a new benchmark cannot have this name."""
    if not VALID_NAME.fullmatch(name):
        raise FigLangError(
            f"the name {printable(name)} must begin with a letter from a to z, and have only such"
            " letters, digits and _: choose another one"
        )
    taken = {*names(), *sources(), *LISTS}
    for harness in HARNESSES:
        taken.update(task_files.files(harness))
    is_taken = name in taken or is_reserved(name) or find_spec(f"figlang_{name}") is not None
    if is_taken or _is_task_of_harness(name):
        raise FigLangError(
            f"the name {name} is taken, by a benchmark, a task or a package: choose another one"
        )


def _is_task_of_harness(name: str) -> bool:
    """Whether lmms-eval has a task file of this name; the harness is not imported."""
    spec = find_spec("lmms_eval")
    if spec is None or not spec.submodule_search_locations:
        return False
    folder = Path(next(iter(spec.submodule_search_locations))) / "tasks"
    return any(folder.rglob(f"{name}.yaml"))


def _warn_of_faults(table: Path, faults: Sequence[str]) -> None:
    """Print the faults of a table, and that nothing was written."""
    for fault in faults[:MOST_FAULTS]:
        warn(fault)
    if len(faults) > MOST_FAULTS:
        warn(f"and {len(faults) - MOST_FAULTS} more")
    warn(f"{table}: {len(faults)} fault(s). Nothing was written: correct them, and type it again")


def _write(folder: Path, name: str, questions: Table, prompt: str | None) -> None:
    """Write the package, and copy its pictures."""
    with new_folder(folder) as partial_folder:
        for path, text in package_files(name, questions, prompt).items():
            file = partial_folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        data_folder = partial_folder / f"figlang_{name}" / "data"
        for picture_name, picture in questions.picture_by_name.items():
            copy = data_folder / picture_name
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, copy)


def _say_what_was_written(folder: Path, name: str, questions: Table, is_inferred: bool) -> None:
    """Print what the package has, and the three commands to type next."""
    kind = questions.kind
    reason = "by --kind"
    if is_inferred and questions.option_columns:
        reason = f"because of the columns {', '.join(questions.option_columns)}"
    elif is_inferred:
        reason = "because all answers are" + (" yes or no" if kind == "yes-no" else " texts")
    say(f"kind: {kind} ({SUMMARIES[kind]}), {reason}")
    say(
        f"written: {folder} ({len(questions.rows)} rows, {len(questions.picture_by_name)} pictures)"
    )
    model = "figlang_random"
    if kind == "free":  # There is nothing to draw a random answer from.
        model = "figlang_vlm --model_args pretrained=MODEL"
    path = str(folder) if folder.is_absolute() else f"./{folder}"
    say("next:")
    say(f"  pip install -e {shlex.quote(path)}")
    say(f"  figlang data check {name}")
    say(f"  lmms_eval --tasks {name} --model {model} --log_samples --output_path results/{name}")
