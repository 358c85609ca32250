"""Commands that are imported only when they are named, so that ``figlang --help`` is quick."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

Implementation: TypeAlias = Callable[..., Any] | typer.Typer
"""What a command does: a function whose parameters are its options, or a group of commands."""


class _Settings(TypedDict):
    add_completion: bool
    rich_markup_mode: None
    pretty_exceptions_enable: bool


SETTINGS: _Settings = {
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}
"""Settings of `typer` for all commands: help and errors are plain texts."""


class LazyCommand(TyperCommand):
    """Stands for a command that is not imported yet.

    Args:
        name: of the command.
        help_text: returns its help, without importing it.
        import_implementation: imports what the command does, and returns it.
    """

    def __init__(
        self,
        name: str,
        help_text: Callable[[], str],
        import_implementation: Callable[[], Implementation],
    ) -> None:
        """Make a command that knows its name and help; typer does not see its options yet."""
        super().__init__(name)
        self._help_text = help_text
        self._import_implementation = import_implementation

    def get_short_help_str(self, limit: int = 45) -> str:
        """The first sentence of the help, for a list of commands; cut at `limit` characters."""
        self.help = self._help_text()
        return super().get_short_help_str(limit)

    def import_command(self) -> Any:
        """Import the command, and return the object of `click` that runs it."""
        implementation = self._import_implementation()
        # Typer makes such objects only for the members of a group.
        parent = typer.Typer(**SETTINGS)
        if isinstance(implementation, typer.Typer):
            parent.add_typer(implementation, name=self.name)
        else:
            parent.command(self.name)(implementation)
        return get_group(parent).commands[str(self.name)]


class LazyGroup(TyperGroup):
    """A group of commands, some of which are imported only when they are named."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        lazy_commands = {str(command.name): command for command in self.lazy_commands()}
        # The order of the help.
        self.commands = {**lazy_commands, **self.commands}

    def lazy_commands(self) -> Sequence[LazyCommand]:
        """The commands that are not imported yet; the help lists them before the others."""
        raise NotImplementedError

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Split arguments into the name of a command, the command, now imported, and the rest."""
        name, command, remaining_args = super().resolve_command(ctx, args)
        if isinstance(command, LazyCommand):
            command = command.import_command()
        return name, command, remaining_args


def lazy_command(name: str, module: str, function: str) -> LazyCommand:
    """A command that is a function in a module, or the group ``app`` there if it has one.

    Args:
        name: of the command.
        module: its full name.
        function: the name of a function in it, whose docstring is the help, for a group too.
    """
    return LazyCommand(
        name,
        help_text=partial(docstring, module, function),
        import_implementation=partial(_import_implementation, module, function),
    )


def _import_implementation(module: str, function: str) -> Implementation:
    """Import a module, and return the group ``app`` in it if it has one, else the function."""
    imported_module = import_module(module)
    name = "app" if hasattr(imported_module, "app") else function
    implementation: Implementation = getattr(imported_module, name)
    return implementation


def docstring(module: str, function: str) -> str:
    """The docstring of a function, read from the source of its module; "" if it has none.

    The module is not imported, which may take seconds.
    """
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None, module
    for statement in ast.parse(Path(spec.origin).read_bytes()).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == function:
            return ast.get_docstring(statement) or ""
    raise LookupError(f"{module} has no function {function}")
