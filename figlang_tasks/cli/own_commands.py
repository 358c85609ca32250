"""Commands that benchmarks declare: each has the name of its benchmark."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer

from figlang_tasks.cli import failing, say
from figlang_tasks.core.benchmark import benchmarks, names


def group(declared: str, make: Callable[[str], Callable[..., None]]) -> typer.Typer:
    """A group of commands, to which each benchmark that declares something adds one: what `make` gives for its name.

    Benchmarks are imported when one is looked for.
    """

    class Group(typer.core.TyperGroup):
        # Any: typer may bring its own copy of click.
        def list_commands(self, ctx: Any) -> list[str]:
            own = [name for name, each in benchmarks().items() if getattr(each, declared)]
            return [*super().list_commands(ctx), *own]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            if cmd_name not in names() or not getattr(benchmarks()[cmd_name], declared):
                return super().get_command(ctx, cmd_name)
            app = typer.Typer(rich_markup_mode=None, add_completion=False)
            app.command(cmd_name)(make(cmd_name))
            return typer.main.get_command(app)

    return typer.Typer(cls=Group, no_args_is_help=True)


def of_functions(declared: str, verb: str) -> typer.Typer:
    """A group whose commands are functions that benchmarks declare; what one returns is printed.

    Parameters without a default are arguments, the others options, each ``Annotated[type, "help"]``.
    """

    def make(name: str) -> Callable[..., None]:
        function = getattr(benchmarks()[name], declared)

        def command(**given: Any) -> None:
            with failing(verb):
                say(function(**given))

        parameters = []
        for each in inspect.signature(function, eval_str=True).parameters.values():
            kind, text = get_args(each.annotation)
            shown = typer.Argument(help=text) if each.default is each.empty else typer.Option(help=text)
            parameters.append(each.replace(annotation=Annotated[kind, shown], kind=each.KEYWORD_ONLY))
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__doc__ = (function.__doc__ or "").partition("\n    Args:")[0]
        return command

    return group(declared, make)
