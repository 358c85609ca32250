"""Commands that benchmarks declare: each has the name of its benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from figlang_tasks.core.benchmark import benchmarks, names


def group(declared: str, make: Callable[[str, Any], Callable[..., None]]) -> typer.Typer:
    """A group of commands, and one more for each benchmark that declares something: `make` of its name and of that.

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
            app.command(cmd_name)(make(cmd_name, getattr(benchmarks()[cmd_name], declared)))
            return typer.main.get_command(app)

    return typer.Typer(cls=Group, no_args_is_help=True)
