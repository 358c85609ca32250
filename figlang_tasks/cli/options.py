"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from figlang_tasks.scoring import explanations

Run: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="RUN", help="Folder, results file or samples file of a run.", show_default=False
    ),
]
Runs: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="[NAME=]RUN",
        help="Folders, results files or samples files of runs. NAME replaces the model's name.",
        show_default=False,
    ),
]
FolderOfRuns: TypeAlias = Annotated[
    Path,
    typer.Argument(
        metavar="FOLDER",
        help="Runs are looked for in it and below.",
        exists=True,
        file_okay=False,
    ),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Dtype: TypeAlias = Annotated[
    Literal["fp32", "fast"],
    typer.Option(
        envvar=explanations.DTYPE_VARIABLE,
        help="fp32 for official results; fast is bfloat16, on some CPUs no faster.",
    ),
]
Device: TypeAlias = Annotated[
    str,
    typer.Option(
        envvar=explanations.DEVICE_VARIABLE,
        help="auto (a GPU, the CPU if its memory is too small), cpu, cuda:1, ...",
    ),
]
