"""``figlang reproduce``: published numbers, computed again from what was released."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Annotated, Any

import typer

from figlang_tasks.cli import error_message, say
from figlang_tasks.core.benchmark import benchmarks, names_with
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.core.text import table


def reproduce(
    name: Annotated[str, typer.Argument(metavar="BENCHMARK", help="One of docs/reproduced.md.")],
    data: Annotated[
        Path,
        typer.Option(
            help="Folder of what was released: docs/reproduced.md.", exists=True, file_okay=False
        ),
    ] = Path("."),
) -> None:
    """Compute published numbers again, and compare them.

    The exit status is 0 if all are equal in the digits that were printed.

    \b
    figlang reproduce columbus --data my_data/COLUMBUS
    """
    known = names_with("reproduced")
    if name not in known:
        raise typer.BadParameter(
            f"nothing was released that gives numbers of {name}; there are: {', '.join(known)}"
        )
    where = "--data names the folder of what was released: docs/reproduced.md"
    try:
        reproduced: Any = benchmarks()[name].module("reproduced")
        cells = list(reproduced.cells(data))
    except (DataError, OSError) as error:
        raise FigLangError(f"{error_message(error)}. {where}") from error
    except (LookupError, TypeError, ValueError) as error:
        raise FigLangError(
            f"{data} has a file that is not as {name} released it ({error!r}). {where}"
        ) from error
    if not cells:
        raise FigLangError(f"{data} has nothing of {name}. {where}")
    # Most modules have numbers that were printed; one that has others says what they are.
    lines, differences = (
        [["cell", getattr(reproduced, "COMPARED_WITH", "published"), "ours", "difference"]],
        [],
    )
    for what, published, own in cells:
        ours = Decimal(repr(own)).quantize(Decimal(published), ROUND_HALF_UP) + 0  # -0 is 0
        differences.append(ours - Decimal(published))
        lines.append([what, published, f"{ours:f}", f"{differences[-1]:f}"])
    say(table(lines))
    say(
        f"{len(cells)} cells, {differences.count(Decimal(0))} equal, largest difference"
        f" {max(map(abs, differences)):f}"
    )
    raise typer.Exit(int(any(differences)))
