"""The ``lmms_eval`` command: the harness's own command line, with the figlang tasks always
registered.

On a terminal it says what it is doing. It ends with short tables of our tasks and the next command.
Where something failed it exits with status 1; the harness prints the error and exits with 0.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figlang_tasks.cli.output import guarded_output
from figlang_tasks.core import interrupts, notes, redaction, status, task_files
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import did_you_mean, printable, printable_lines
from figlang_tasks.harness import installed

if TYPE_CHECKING:
    from figlang_tasks.harness.saving import CheckedTracker

KEPT = (
    "Downloads and the answers that --use_cache has stored are kept: the same command goes on from"
    " there."
)

BARS = {"TQDM_DELAY": "2", "TQDM_LEAVE": ""}
"""Settings of tqdm, which reads them when it is imported: a bar is shown after 2 seconds, and goes
when it is full.
"""

_IN_FILES = {"TQDM_MININTERVAL": "10"}  # seconds: each time a bar is drawn, a file gets longer
_NO_TASK = "Tasks not found: "  # begins the harness's message
# Of --tasks: the harness prints them as its log
_LISTS = {"list", "list_groups", "list_tags", "list_subtasks"}


@interrupts.ending_within_seconds("lmms_eval", KEPT)
@guarded_output("lmms_eval")
def main() -> None:
    """Run the harness's command line on ``sys.argv``."""
    arguments = sys.argv[1:]
    if not arguments or {"-h", "--help", "version"} & set(arguments):  # reads no task
        from lmms_eval.cli.dispatch import main as dispatch

        dispatch()
    else:
        _run(arguments, is_evaluation=arguments[0] == "eval" or arguments[0].startswith("-"))


def _run(arguments: Sequence[str], is_evaluation: bool) -> None:
    """Register the tasks, run the command, tell how it went."""
    if is_evaluation:
        refuse_misspelt(arguments)
    is_terminal = sys.stderr.isatty()
    set_up_bars(is_terminal)

    with status.shown(is_evaluation and is_terminal):
        status.tell("loading lmms-eval and the tasks ...")

        from figlang_tasks.harness import plugin

        plugin.register()
        from lmms_eval.cli.dispatch import main as dispatch

        if is_evaluation:
            _stand_around_evaluations(shows_log=_wants_log(arguments))
        dispatch()

    failures = notes.noted()
    for failure in failures:
        print(printable(f"lmms_eval: {redaction.redacted(failure)}"), file=sys.stderr)
    if failures:
        sys.exit(1)


def set_up_bars(is_terminal: bool) -> None:
    """Set what bars of tqdm look like in this process, and in those that it starts; settings of the
    user stay.
    """
    settings = BARS if is_terminal else BARS | _IN_FILES
    # Each task would show bars of datasets for its stub; downloads have bars of their own.
    for name, value in (settings | {"HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}).items():
        os.environ.setdefault(name, value)


# --- spelling ---


def refuse_misspelt(arguments: Sequence[str]) -> None:
    """End with what was meant, if an option, or a task that looks like ours, is misspelt; in a
    second.

    The harness takes some ten seconds to be imported.
    """
    _refuse_misspelt_option(arguments)
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--include_path")
    options, _ = parser.parse_known_args(arguments)
    if not options.include_path:  # where the user's own tasks are
        _refuse_misspelt_task(options.tasks.split(","))


def _refuse_misspelt_option(arguments: Sequence[str]) -> None:
    known_options = installed.evaluation_options()
    for argument in arguments:
        option = argument.partition("=")[0]
        if not option.startswith("--") or option == "--":
            continue
        # An option may be cut short
        is_known = any(known.startswith(option) for known in known_options)
        if not is_known:
            hint = did_you_mean(option, known_options)
            sys.exit(f"figlang_tasks: no option {option}{hint}; `lmms_eval --help` lists them")


def _refuse_misspelt_task(names: Sequence[str]) -> None:
    """End if a name is close to one of our tasks; no task of the harness is."""
    our_tasks = task_files.files("lmms_eval")
    for name in names:
        if name in our_tasks or "*" in name or Path(name).exists():
            continue
        if difflib.get_close_matches(name, our_tasks, cutoff=0.8):
            sys.exit(f"figlang_tasks: no task {name!r}{did_you_mean(name, our_tasks)}. {ALL_TASKS}")


# --- the evaluation ---


def _wants_log(arguments: Sequence[str]) -> bool:
    """Whether the user asks for the harness's log, by --verbosity, cut short or not, or for a list
    that is in it.
    """
    for argument in arguments:
        if argument.startswith("--v") or argument.rpartition("=")[2] in _LISTS:
            return True
    return False


def _stand_around_evaluations(shows_log: bool) -> None:
    """Stand around each evaluation of the harness: note errors, log warnings alone (or all), print
    our tables.

    The harness prints the tables of results that it gets back. It gets none, unless it is to send
    them somewhere.
    """
    import lmms_eval.__main__ as harness
    from loguru import logger

    from figlang_tasks.harness.saving import CheckedTracker

    evaluate = harness.cli_evaluate_single
    make_table = harness.make_table
    trackers: list[CheckedTracker] = []

    def make_tracker(**arguments: Any) -> CheckedTracker:
        trackers.append(CheckedTracker(**arguments))
        return trackers[-1]

    def evaluate_and_print(args: argparse.Namespace) -> tuple[Any, Any]:
        _check(args)
        if not shows_log:
            _log_warnings_alone()
        results, samples = _evaluate(evaluate, args)
        if results is None:  # in all processes but the first
            return None, None
        print(printable_lines(_heading(args)))
        print(printable_lines(_tables(results, make_table) + ending(results, trackers[-1].written)))
        is_sent = args.wandb_args or args.swanlab_args
        return (results if is_sent else None), samples

    harness.cli_evaluate_single = evaluate_and_print
    harness.EvaluationTracker = make_tracker
    if not shows_log:
        # Until the harness has set up its log, which it says there
        logger.disable(harness.__name__)


def _check(args: argparse.Namespace) -> None:
    """End with a message for arguments that the harness would answer with a traceback."""
    from figlang_tasks.harness.preflight import limit_fault

    if args.tasks is None:
        sys.exit("figlang_tasks: no task is named: --tasks NAME (`figlang tasks '*'` lists ours)")
    if (args.log_samples or args.predict_only) and not args.output_path:
        sys.exit("figlang_tasks: --log_samples and --predict_only need --output_path FOLDER")
    fault = limit_fault(args.limit)
    if fault:
        sys.exit(f"figlang_tasks: {fault}")


def _log_warnings_alone() -> None:
    """Let loguru show warnings and errors alone, in short lines and in colour on a terminal alone.

    The level cannot be given as ``--verbosity``: that stands in the results files.
    """
    from loguru import logger

    logger.remove()
    logger.add(sys.stdout, level="WARNING", format="<level>{level}: {message}</level>")
    logger.enable("lmms_eval.__main__")


def _evaluate(evaluate: Callable[..., Any], args: argparse.Namespace) -> tuple[Any, Any]:
    """Results and samples of an evaluation; where it fails, the command will end with status 1."""
    try:
        results, samples = evaluate(args)
    except Exception as error:
        message = str(error)
        if message.startswith(_NO_TASK):  # the harness would show a traceback
            sys.exit(f"figlang_tasks: {message.partition('. Try')[0]}. {ALL_TASKS}")
        notes.note("an evaluation failed, see above")
        raise
    return results, samples


# --- what is printed at the end ---


def _heading(args: argparse.Namespace) -> str:
    """What was run, in the harness's words."""
    return (
        f"{args.model} ({args.model_args}), gen_kwargs: ({args.gen_kwargs}), limit: {args.limit}, "
        f"offset: {args.offset}, num_fewshot: {args.num_fewshot}, batch_size: {args.batch_size}"
    )


def _tables(results: Mapping[str, Any], make_table: Callable[..., str]) -> str:
    """The harness's tables of other tasks, and ours."""
    from figlang_tasks.cli.summary import is_ours, summary_table

    parts = []
    for column in ("results", "groups"):
        other_tasks = {}
        for name, values in results.get(column, {}).items():
            # Of --predict_only, for which the harness shows 999
            is_prediction_alone = "bypass,none" in values
            if not is_prediction_alone and not is_ours(results, name):
                other_tasks[name] = values
        if other_tasks:
            parts.append(make_table({**results, column: other_tasks}, column))
    our_table = summary_table(results)
    if our_table:
        parts.append("figlang tasks, shares in percent, with 95 % intervals:")
        parts.append(our_table)
    return "".join(f"\n{part}\n" for part in parts)


def ending(results: Mapping[str, Any], written: Sequence[Path]) -> str:
    """Where the files that were written are, and what to type next."""
    from figlang_tasks.cli.summary import is_ours, next_commands

    if not written:
        return "\nnothing was saved: --output_path FOLDER --log_samples keeps results and answers"
    folder = written[0].parent
    saved = f"\nsaved to {folder}"
    if not any(is_ours(results, name) for name in results["results"]):
        return saved
    if not any(path.suffix == ".jsonl" for path in written):
        return (
            f"{saved}\nwith --log_samples the answers are saved too, for figlang report and figlang"
            " compare"
        )
    return f"{saved}\n{next_commands([results], folder)}"


if __name__ == "__main__":
    main()
