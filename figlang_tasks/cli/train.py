"""``figlang train``: the systems that papers trained on their own benchmark."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer

from figlang_tasks.cli import failing, say
from figlang_tasks.core.benchmark import benchmarks

app = typer.Typer(no_args_is_help=True)


def command(trainer: Callable[..., str]) -> Callable[..., None]:
    """The command of a trainer: parameters without a default are arguments, others options; what it returns is said."""

    def train(**given: Any) -> None:
        with failing("train"):
            say(trainer(**given))

    parameters = []
    for each in inspect.signature(trainer, eval_str=True).parameters.values():
        kind, text = get_args(each.annotation)
        shown = typer.Argument(help=text) if each.default is each.empty else typer.Option(help=text)
        parameters.append(each.replace(annotation=Annotated[kind, shown], kind=each.KEYWORD_ONLY))
    train.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    train.__doc__ = (trainer.__doc__ or "").partition("\n    Args:")[0]
    return train


for _benchmark in benchmarks().values():
    if _benchmark.trainer is not None:
        app.command(_benchmark.name)(command(_benchmark.trainer))


@app.callback()
def train() -> None:
    """Train the system that a paper trained on its own benchmark, and test it.

    It writes a folder, which runs as a model: lmms_eval --model figlang_probe --model_args probe=FOLDER.

    \b
    figlang train irfl --encoder openai/clip-vit-base-patch32 --seeds 5 --output probe
    """
