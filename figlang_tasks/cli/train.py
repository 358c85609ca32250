"""``figlang train``: the systems that papers trained on their own benchmark."""

from __future__ import annotations

import typer

from figlang_tasks.cli import say
from figlang_tasks.cli.lazy import LazyCommand, LazyGroup, lazy_command
from figlang_tasks.core.benchmark import names_with
from figlang_tasks.core.homes import home_of


class _TrainCommands(LazyGroup):
    """The commands of ``figlang train``: one for each benchmark that has a module ``training``."""

    def lazy_commands(self) -> list[LazyCommand]:
        commands = []
        for name in names_with("training"):
            commands.append(lazy_command(name, f"{home_of(name).package}.training", "train"))
        return commands


# The function `train` of a benchmark returns a text, which is then printed.
app = typer.Typer(cls=_TrainCommands, no_args_is_help=True, result_callback=say)


@app.callback()
def train() -> None:
    """Train a system that a paper trained on its own benchmark.

    It writes a folder, which runs as a model: lmms_eval --model figlang_probe --model_args
    probe=FOLDER.

    \b
    figlang train irfl --encoder openai/clip-vit-base-patch32 --seeds 5 --output probe
    """
