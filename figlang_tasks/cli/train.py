"""``figlang train``: the systems that papers trained on their own benchmark."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from figlang_tasks.cli import failing, say
from figlang_tasks.core.benchmark import benchmarks

app = typer.Typer(no_args_is_help=True)


def _command(trainer: Callable[..., str]) -> Callable[..., None]:
    """The command of a trainer: what it returns is said."""

    @wraps(trainer)
    def train(**given: Any) -> None:
        with failing("train"):
            say(trainer(**given))

    return train


for _benchmark in benchmarks().values():
    if _benchmark.trainer is not None:
        app.command(_benchmark.name)(_command(_benchmark.trainer))


@app.callback()
def train() -> None:
    """Train a system that a paper trained on its own benchmark.

    It writes a folder, which runs as a model: lmms_eval --model figlang_probe --model_args probe=FOLDER.

    \b
    figlang train irfl --encoder openai/clip-vit-base-patch32 --seeds 5 --output probe
    """
