"""``figlang train``: the systems that papers trained on their own benchmark."""

from __future__ import annotations

import typer

from figlang_tasks.cli import say
from figlang_tasks.core.benchmark import benchmarks

app = typer.Typer(no_args_is_help=True, result_callback=say)  # a trainer returns what is to be said


@app.callback()
def train() -> None:
    """Train a system that a paper trained on its own benchmark.

    It writes a folder, which runs as a model: lmms_eval --model figlang_probe --model_args probe=FOLDER.

    \b
    figlang train irfl --encoder openai/clip-vit-base-patch32 --seeds 5 --output probe
    """


for _benchmark in benchmarks().values():
    if _benchmark.trainer is not None:
        app.command(_benchmark.name)(_benchmark.trainer)
