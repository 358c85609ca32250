"""Commands that are imported when they are named, so that ``figlang --help`` answers at once."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}
"""What `typer` is told of all commands: plain texts, as they are written."""


class LazyCommand(TyperCommand):
    """Stands in a list of commands for one that is not imported yet.

    Args:
        name: of the command.
        help_text: returns its help, without an import.
        imported: imports the function of the command, or its group of commands, and returns it.
    """

    def __init__(
        self,
        name: str,
        help_text: Callable[[], str],
        imported: Callable[[], Callable[..., Any] | typer.Typer],
    ) -> None:
        super().__init__(name)
        self._help_text = help_text
        self._imported = imported

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence of the help, for a list."""
        self.help = self._help_text()
        return super().get_short_help_str(limit)

    def import_command(self) -> Any:
        """The command itself."""
        command = self._imported()
        holder = typer.Typer(**SETTINGS)
        if isinstance(command, typer.Typer):
            holder.add_typer(command, name=self.name)
        else:
            holder.command(self.name)(command)
        return get_group(holder).commands[str(self.name)]


class LazyGroup(TyperGroup):
    """A group of commands, of which those of `lazy_commands` are imported when they are named."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        lazy = {str(command.name): command for command in self.lazy_commands()}
        self.commands = {**lazy, **self.commands}

    def lazy_commands(self) -> Sequence[LazyCommand]:
        """The commands that are not imported, in the order of the list; a group has them before its
        others.
        """
        raise NotImplementedError

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The name, the command and the arguments behind it, from the arguments of a call."""
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.import_command()
        return name, command, rest


def lazy_command(name: str, module: str, function: str) -> LazyCommand:
    """The command of a function in a module, or of the group ``app`` there whose help is the
    function's docstring.
    """

    def help_text() -> str:
        return docstring(module, function)

    def imported() -> Callable[..., Any] | typer.Typer:
        namespace = vars(import_module(module))
        command: Callable[..., Any] | typer.Typer = namespace.get("app", namespace[function])
        return command

    return LazyCommand(name, help_text, imported)


def docstring(module: str, function: str) -> str:
    """The docstring of a function, read from the source of its module, which is not imported."""
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module
    for statement in ast.parse(Path(spec.origin).read_bytes()).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == function:
            return ast.get_docstring(statement) or ""
    raise LookupError(f"{module} has no function {function}")
