"""What the command line of ``lmms_eval`` asks for, read without importing the harness.

A configuration file (``--config``) may ask for several evaluations.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.files import read_file
from figlang_tasks.core.task_files import TaskConfig
from figlang_tasks.core.text import did_you_mean
from figlang_tasks.harness import installed
from figlang_tasks.harness.command_checks import split_pairs
from figlang_tasks.harness.faults import Evaluation, Fault, raise_faults
from figlang_tasks.harness.task_selection import selected_tasks, yaml_files

LISTS = {"list", "list_groups", "list_tags", "list_subtasks"}
"""With one of these after --tasks, the harness logs a list and evaluates nothing."""

NO_TASK = "Tasks not found: "
"""How the harness's message for unknown tasks begins."""


@dataclass(frozen=True)
class Command:
    """The options of one evaluation.

    Attributes:
        options: with the names and the defaults of the harness, but no default for ``model``.
        sets_environment: whether a configuration sets variables, such as a key.
    """

    options: argparse.Namespace
    sets_environment: bool = False

    @property
    def model(self) -> str | None:
        """The name after ``--model``."""
        return self.options.model

    @property
    def has_own_tasks(self) -> bool:
        """Whether a name like one of ours may be a task of the user's."""
        return bool(self.options.include_path or os.environ.get("LMMS_EVAL_PLUGINS"))

    @property
    def task_names(self) -> list[str]:
        """The names, patterns and files after ``--tasks``; empty for a folder of task files."""
        selection = self.options.tasks or ""
        if os.path.isdir(selection):
            return []
        return [name for name in selection.split(",") if name.strip()]

    @property
    def include_folders(self) -> list[str]:
        """The folders after ``--include_path``; a configuration may have a list of them."""
        folders = self.options.include_path or []
        return [folders] if isinstance(folders, str) else list(folders)

    @cached_property
    def user_task_files(self) -> list[Path]:
        """The user's task files that the harness reads: those named, and those in folders."""
        files: list[Path] = []
        for folder in self.include_folders:
            files += yaml_files(Path(folder))
        selection = self.options.tasks or ""
        if os.path.isdir(selection):
            files += sorted(Path(selection).glob("*.yaml"))
        files += [Path(name) for name in self.task_names if os.path.isfile(name)]
        return files

    @cached_property
    def our_tasks(self) -> Sequence[TaskConfig]:
        """The content of the task files that are ours, or include ours, among the selected ones."""
        return selected_tasks(self.task_names, self.user_task_files)

    @cached_property
    def model_args(self) -> Mapping[str, object] | None:
        """The arguments after ``--model_args`` by name; None if they are not pairs."""
        arguments = self.options.model_args or {}
        if isinstance(arguments, Mapping):
            return arguments
        with suppress(ValueError):
            return split_pairs(str(arguments))
        return None

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation, as the checks before a model is loaded take it."""
        options = self.options
        return Evaluation(
            model=options.model,
            model_of_tasks=options.model,
            tasks=self.our_tasks,
            limit=options.limit,
            offset=options.offset,
            num_fewshot=options.num_fewshot,
            model_args=options.model_args,
            gen_kwargs=options.gen_kwargs,
        )


def read_commands(arguments: Sequence[str]) -> list[Command]:
    """The evaluations that a command line asks for; none if it asks for something else.

    Args:
        arguments: behind ``lmms_eval``.

    Raises:
        FigLangError: an option is misspelt, or there is something wrong in a configuration file.
        SystemExit: an option has no value, or one of a wrong type.
    """
    # `lmms_eval eval` alone and --tui ask for the options.
    if list(arguments) == ["eval"] or "--tui" in arguments:
        return []
    if arguments[0] == "eval":
        arguments = arguments[1:]
    parser = installed.evaluation_parser()
    raise_faults(_option_faults(arguments, installed.option_names(parser)))
    options = parser.parse_args(arguments)
    if options.power_analysis:
        return []
    if not options.config:
        return [Command(options)]

    # As the harness does it: options of the line that are no defaults replace those of the file.
    defaults = vars(parser.parse_args([]))
    given = {name: value for name, value in vars(options).items() if value != defaults[name]}
    commands: list[Command] = []
    for config in _read_config(Path(options.config), parser):
        variables = config.pop("env", None)
        merged = argparse.Namespace(**{**defaults, **config, **given})
        commands.append(Command(merged, sets_environment=bool(variables)))
    return commands


def _option_faults(arguments: Sequence[str], known_options: set[str]) -> Iterator[Fault]:
    """A fault for each option that the harness lacks; it names the nearest one."""
    for argument in arguments:
        option = argument.partition("=")[0]  # --option=value
        is_long_option = option.startswith("--") and option != "--"
        if not is_long_option:
            continue
        # The harness takes a shortened option, too.
        is_known = any(name.startswith(option) for name in known_options)
        if not is_known:
            hint = did_you_mean(option, known_options)
            yield Fault(f"no option {option}{hint}; `lmms_eval --help` lists them")


# --- configuration files ---


def _read_config(path: Path, parser: argparse.ArgumentParser) -> list[dict[str, Any]]:
    """The evaluations of a configuration file: their options by name.

    Raises:
        FigLangError: the file cannot be read, or an option is unknown or has a wrong value; all
            such options are named.
    """
    try:
        content = yaml.safe_load(read_file(path))
    except OSError as error:
        raise FigLangError(f"figlang_tasks: --config {path}: {error.strerror}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise FigLangError(f"figlang_tasks: --config {path} is not valid YAML: {reason}") from error
    configs = content if isinstance(content, list) else [content]
    faults: list[Fault] = []
    for config in configs:
        if isinstance(config, dict):
            faults += _config_faults(config, parser, path)
        else:
            message = "must have options with values, such as `tasks: vflute`, or a list of such"
            faults.append(Fault(f"--config {path}: {message}"))
    raise_faults(faults)
    return configs


def _config_faults(
    config: Mapping[object, object], parser: argparse.ArgumentParser, path: Path
) -> Iterator[Fault]:
    """Faults of one evaluation in a configuration file: unknown options, and values' types."""
    action_by_name = {action.dest: action for action in parser._actions}
    for name, value in config.items():
        action = action_by_name.get(str(name))
        if name == "env":
            if value is not None and not isinstance(value, dict):
                yield Fault(f"--config {path}: env must have variables with values")
        elif action is None:
            hint = did_you_mean(str(name), action_by_name)
            yield Fault(
                f"--config {path}: no option {name}{hint}; `lmms_eval --help` lists them (without"
                " the --)"
            )
        else:
            reason = _value_fault(action, value)
            if reason:
                yield Fault(f"--config {path}: {name}: {value!r} must be {reason}")


def _value_fault(action: argparse.Action, value: object) -> str:
    """What a value in a configuration file must be and is not; "" if nothing is wrong.

    The harness takes any value, and fails with it later.
    """
    if value is None:
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if action.type is int and (not is_number or isinstance(value, float)):
        return "a whole number"
    if action.type is float and not is_number:
        return "a number"
    if action.nargs == 0 and not isinstance(value, bool):  # an option without a value
        return "true or false"
    is_text_needed = action.dest in ("tasks", "model", "output_path", "config")
    if is_text_needed and not isinstance(value, str):
        return "a text"
    return ""
