"""Command-line entry points, and how all commands print."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figlang_tasks.core.errors import FigLangError, remedy_of_writing
from figlang_tasks.core.text import printable, printable_lines

# --- printing ---

_BOLD = re.compile(r"\*\*(\S+)\*\*")
"""A word in bold, in Markdown; its group is the word without the stars."""


def say(text: object, err: bool = False) -> None:
    """Print a text without characters that steer a terminal, to standard error if `err` is set."""
    import typer  # Not above: the command lmms_eval, which imports this package, needs no typer.

    typer.echo(printable_lines(text), err=err)


def say_json(content: object) -> None:
    """Print an object as JSON, in ASCII."""
    import typer

    typer.echo(json.dumps(content, indent=2))


def say_tables(tables: str) -> None:
    """Print tables in Markdown, on a terminal with words in bold in place of ``**word**``."""
    output = printable_lines(tables)
    if sys.stdout.isatty():
        # Only now, since `printable_lines` would remove what makes a terminal write in bold.
        output = _BOLD.sub(_in_bold, output)
    import typer

    typer.echo(output)


def _in_bold(bold_word: re.Match[str]) -> str:
    """The word in a match of `_BOLD`, in bold for a terminal, with spaces in place of the stars.

    So it is as wide as before, and columns stay aligned.
    """
    import typer

    return "    " + typer.style(bold_word[1], bold=True)


def warn(text: object) -> None:
    """Print a line on standard error."""
    say(f"figlang: {printable(text)}", err=True)


def error_message(error: Exception) -> str:
    """The message of an error; for one of the file system, the file, the reason and a remedy.

    For example ``report.html: No space left on device: make room there, or name another place``.
    """
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    message = error.strerror
    if error.filename:
        message = f"{error.filename}: {message}"
    remedy = remedy_of_writing(error)
    if remedy:
        message += f": {remedy}, or name another place"
    return message


def next_report_line(run: Path) -> str:
    """The line with the command to type after a run: ``next: figlang report RUN -o report.html``.

    Args:
        run: the folder of its samples.
    """
    return f"next: figlang report {shlex.quote(str(run))} -o report.html"


# --- where a command writes ---


@contextmanager
def saying_new_folder(output: Path) -> Iterator[None]:
    """Say at the end of a block that the folder of a file was made, if it did not exist before."""
    is_new = not output.absolute().parent.exists()
    yield
    if is_new:
        say(f"new folder: {output.parent}")


def folder_beside(run: Path, suffix: str) -> Path:
    """The path of a folder beside a run: the run's name with a suffix.

    ``results/model`` or ``results/model.json`` and ``scored`` give ``results/model_scored``.

    Args:
        run: the path of its folder or of one of its files.
        suffix: without the underscore.
    """
    has_no_name = not run.name.strip(".")  # as in `figlang score .`
    path = run.resolve() if has_no_name else run
    name = path.name if path.is_dir() else path.stem
    return path.with_name(f"{name}_{suffix}")
