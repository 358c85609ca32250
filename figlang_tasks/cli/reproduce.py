"""``figlang reproduce``: published numbers, computed again from the released files."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from figlang_tasks.cli import error_message, say
from figlang_tasks.core.benchmark import benchmarks, names_with
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.text import markdown_table

Cell: TypeAlias = tuple[str, str, float]
"""What a number is, the number as it was printed, and the number as computed again."""

_REMEDY = "Give --data the folder with the released files, which docs/reproduced.md lists"


def reproduce(
    name: Annotated[str, typer.Argument(metavar="BENCHMARK", help="One of docs/reproduced.md.")],
    data: Annotated[
        Path,
        typer.Option(
            help="Folder with the released files: docs/reproduced.md.",
            exists=True,
            file_okay=False,
        ),
    ] = Path("."),
) -> None:
    """Compute published numbers again, and compare them.

    The exit status is 0 if all are equal in the digits that were printed.

    \b
    figlang reproduce columbus --data my_data/COLUMBUS
    """
    reproducible = names_with("reproduced")
    if name not in reproducible:
        raise typer.BadParameter(
            f"no released files of {name} give its numbers; there are some of:"
            f" {', '.join(reproducible)}"
        )
    cells, column = _compute_cells(name, data)

    rows = [["cell", column, "ours", "difference"]]  # the head of the table
    differences = []
    for label, published, computed in cells:
        rounded = _rounded_like(published, computed)
        difference = rounded - Decimal(published)
        differences.append(difference)
        rows.append([label, published, f"{rounded:f}", f"{difference:f}"])
    say(markdown_table(rows))
    for line in _left_out(name, data):
        say(f"left out: {line}")
    largest = max(abs(difference) for difference in differences)
    say(
        f"{len(cells)} cells, {differences.count(Decimal(0))} equal, largest difference {largest:f}"
    )
    if any(differences):
        raise typer.Exit(1)


def _compute_cells(name: str, folder: Path) -> tuple[list[Cell], str]:
    """Compute a benchmark's published numbers again; return them, and what they are compared with.

    Args:
        name: of the benchmark, which has a module ``reproduced``.
        folder: with the files that the paper's authors released.

    Returns:
        The numbers, and the head of the column of those that they are compared with.

    Raises:
        FigLangError: a file is missing, or is not as it was released.
    """
    try:
        module = benchmarks()[name].module("reproduced")
        assert module is not None, f"{name} has no module to reproduce its numbers"
        cells: list[Cell] = list(module.cells(folder))
    except (DataError, OSError) as error:
        raise FigLangError(f"{error_message(error).removesuffix('.')}. {_REMEDY}") from error
    except (LookupError, TypeError, ValueError) as error:
        raise FigLangError(
            f"{folder} has a file that is not as {name} released it ({error!r}). {_REMEDY}"
        ) from error
    if not cells:
        raise FigLangError(f"{folder} has no released files of {name}. {_REMEDY}")
    # Most modules compare with numbers that were printed. One that does not names its column.
    return cells, getattr(module, "COMPARED_WITH", "published")


def _left_out(name: str, folder: Path) -> list[str]:
    """The numbers that cannot be computed for want of a file, of a module that can name them."""
    left_out = getattr(benchmarks()[name].module("reproduced"), "left_out", None)
    return [] if left_out is None else left_out(folder)


def _rounded_like(published: str, computed: float) -> Decimal:
    """A computed number, rounded to the digits after the point of the published one; half up."""
    rounded = Decimal(repr(computed)).quantize(Decimal(published), ROUND_HALF_UP)
    return rounded + 0  # This turns -0 into 0.
