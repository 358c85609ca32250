"""Commands that benchmarks declare: a function of a benchmark is a command with its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer

from figlang_tasks.cli import failing, say
from figlang_tasks.core.benchmark import benchmarks, names
from figlang_tasks.core.text import printable


def group(declared: str, verb: str) -> typer.Typer:
    """A command for each benchmark that declares a function; benchmarks are imported when one is looked for.

    Parameters of the function without a default are arguments, the others options, each ``Annotated[type, "help"]``.
    What it returns is printed.
    """

    class Group(typer.core.TyperGroup):
        def list_commands(self, ctx: Any) -> list[str]:
            return [name for name, each in benchmarks().items() if getattr(each, declared)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            function = getattr(benchmarks()[cmd_name], declared) if cmd_name in names() else None
            if function is None:
                there = ", ".join(self.list_commands(ctx))
                wrong = f"there is no {declared} for {printable(cmd_name)}; there are: {there}"
                raise typer.BadParameter(wrong, ctx=ctx)
            return single(cmd_name, _command(function, verb))

    return typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


def single(name: str, function: Callable[..., None]) -> Any:
    """The command that a function is."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name)(function)
    return typer.main.get_command(app)


def _command(function: Callable[..., str], verb: str) -> Callable[..., None]:
    def command(**given: Any) -> None:
        with failing(verb.removeprefix("figlang ")):
            say(function(**given))

    asked = inspect.signature(function, eval_str=True).parameters.values()
    parameters = []
    for each in asked:
        kind, text = get_args(each.annotation)
        shown = typer.Argument(help=text) if each.default is each.empty else typer.Option(help=text)
        parameters.append(each.replace(annotation=Annotated[kind, shown], kind=each.KEYWORD_ONLY))
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__doc__ = (function.__doc__ or "").partition("\n    Args:")[0]
    return command
