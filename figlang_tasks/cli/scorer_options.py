"""Options of the commands that score explanations."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from figlang_tasks.scoring import explanations

Dtype: TypeAlias = Annotated[
    Literal["fp32", "fast"],
    typer.Option(
        envvar=explanations.DTYPE_VARIABLE, help="fp32 for official results; fast is bfloat16, on some CPUs no faster."
    ),
]
Cache: TypeAlias = Annotated[
    Path | None, typer.Option(help="Folder of the score cache. [default: $FIGLANG_CACHE or the user's cache folder]")
]
BertscoreModel: TypeAlias = Annotated[
    str | None, typer.Option(help="Another model for BERTScore: a folder, ORG/NAME or ORG/NAME@COMMIT.")
]
BertscoreLayer: TypeAlias = Annotated[int | None, typer.Option(min=1, help="The layer of that model to use.")]
