"""An evaluation as the harness's command runs it, for a caller in Python.

It calls the function behind the command, so that the saved files are those of the command.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.task_files import ALL_TASKS, files
from figlang_tasks.core.text import did_you_mean
from figlang_tasks.harness import plugin
from figlang_tasks.harness.command_line import NO_TASK
from figlang_tasks.harness.early_checks import check_options

if TYPE_CHECKING:
    from figlang_tasks.harness.saving import CheckedTracker

# They log, plan or ask beside an evaluation, which `cli_evaluate_single` does not do, or they would
# leave a run without scores.
_OF_THE_COMMAND = {"config", "help", "power_analysis", "predict_only", "tui"}
_BEGINNINGS_OF_THE_COMMAND = ("wandb_", "swanlab_")

# As in the harness's command: a process may wait for another until that has scored everything.
_LONGEST_WAIT = datetime.timedelta(seconds=60000)


def evaluate_and_save(options: Mapping[str, Any]) -> CheckedTracker | None:
    """Evaluate as the command does, and save results and samples.

    Args:
        options: those of the command by name, with ``_`` for ``-``; None for the default.

    Returns:
        The tracker, which knows the saved files; None in all processes but the first.

    Raises:
        FigLangError: an option is wrong, or a check has failed.
    """
    plugin.register()
    arguments = _arguments(options)
    check_options(arguments)

    from lmms_eval.__main__ import cli_evaluate_single

    accelerator = _join_processes()
    with _checked_trackers() as trackers:
        try:
            results, _ = cli_evaluate_single(arguments)
        except SystemExit as error:
            # For the harness's command, our checks end with an exit (`simple_evaluate_hook`).
            if isinstance(error.__cause__, FigLangError):
                raise error.__cause__ from None
            raise FigLangError(f"figlang_tasks: nothing was evaluated ({error.code})") from error
        except ValueError as error:
            if not str(error).startswith(NO_TASK):
                raise
            raise FigLangError(_no_task_message(str(error))) from None
    if accelerator is not None:
        accelerator.wait_for_everyone()
    return trackers[0] if results is not None else None


def text_of_pairs(option: str, pairs: str | Mapping[str, Any] | None) -> str:
    """Pairs as the command takes them: ``pretrained=ORG/NAME,device=cpu``; "" for none.

    Args:
        option: the name of the option, for the message.
        pairs: that text, or values by name; one that is None is left out.

    Raises:
        FigLangError: a value cannot be written so.
    """
    if pairs is None or isinstance(pairs, str):
        return pairs or ""
    from lmms_eval.utils import simple_parse_args_string

    texts: dict[str, str] = {}
    for name, value in pairs.items():
        if isinstance(value, dict | list):
            texts[name] = json.dumps(value)
        elif value is not None:
            texts[name] = str(value)
    text = ",".join(f"{name}={value}" for name, value in texts.items())
    try:
        is_whole = list(simple_parse_args_string(text)) == list(texts)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise FigLangError(
            f"figlang_tasks: {option} {redacted(text)}: lmms-eval divides it at each comma, so no"
            " value may hold one"
        )
    return text


# --- the arguments of the command ---


def _arguments(options: Mapping[str, Any]) -> argparse.Namespace:
    """The command's arguments: its defaults, with the options in the types of the command.

    Raises:
        FigLangError: there is no such option, or a value has the wrong type.
    """
    from lmms_eval.__main__ import parse_eval_args

    # The harness's function makes its parser and reads `sys.argv` in one.
    words = sys.argv
    sys.argv = ["lmms_eval"]
    try:
        parser, arguments = parse_eval_args()
    finally:
        sys.argv = words

    actions = {action.dest: action for action in parser._actions if not _is_of_command(action)}
    for name, value in options.items():
        if name not in actions:
            hint = did_you_mean(name, actions)
            raise FigLangError(f"figlang_tasks: evaluate has no option {name}{hint}")
        if value is not None:
            setattr(arguments, name, _converted(actions[name], value))
    return arguments


def _is_of_command(action: argparse.Action) -> bool:
    """Whether an option is one that the command alone has."""
    return action.dest in _OF_THE_COMMAND or action.dest.startswith(_BEGINNINGS_OF_THE_COMMAND)


def _converted(action: argparse.Action, value: object) -> object:
    """The value of an option in the type that the command's parser gives it.

    Raises:
        FigLangError: it cannot be converted.
    """
    is_flag = action.nargs == 0
    if is_flag:
        return bool(value)
    convert = action.type if callable(action.type) else str
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    try:
        return convert(text)
    except (TypeError, ValueError, argparse.ArgumentTypeError) as error:
        raise FigLangError(f"figlang_tasks: {action.dest}={value!r}: {error}") from error


def _no_task_message(message: str) -> str:
    """What to say where the harness does not know a task.

    Args:
        message: the harness's, "Tasks not found: a, b. Try ...".
    """
    unknown_names = message.partition(". Try")[0].removeprefix(NO_TASK).split(", ")
    our_tasks = files("lmms_eval")
    names = [f"no task {name!r}{did_you_mean(name, our_tasks)}" for name in unknown_names]
    return f"figlang_tasks: {'; '.join(names)}. {ALL_TASKS}"


# --- around the evaluation ---


def _join_processes() -> Any:
    """Join the processes that run together, as the command does; return what waits for them.

    Returns:
        An ``Accelerator``; None where the caller's process belongs to a group already.
    """
    import torch
    from accelerate import Accelerator
    from accelerate.utils import InitProcessGroupKwargs

    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return None
    return Accelerator(kwargs_handlers=[InitProcessGroupKwargs(timeout=_LONGEST_WAIT)])


@contextmanager
def _checked_trackers() -> Iterator[list[CheckedTracker]]:
    """Have the harness save by `CheckedTracker`; the list gets each that it makes."""
    import lmms_eval.__main__ as harness

    from figlang_tasks.harness.saving import CheckedTracker

    trackers: list[CheckedTracker] = []

    def make_tracker(**arguments: Any) -> CheckedTracker:
        trackers.append(CheckedTracker(**arguments))
        return trackers[-1]

    original = harness.EvaluationTracker
    harness.EvaluationTracker = make_tracker
    try:
        yield trackers
    finally:
        harness.EvaluationTracker = original
