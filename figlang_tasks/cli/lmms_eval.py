"""The ``lmms_eval`` command: the harness's own command line, which always knows our tasks.

On a terminal it says what it is doing. It ends with short tables of our tasks and the next command.
If something failed, it exits with status 1, where the harness prints the error and exits with 0.
"""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks.cli.output import guarded_output
from figlang_tasks.core import interrupts, notes, redaction, status, task_files
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import did_you_mean, printable, printable_lines
from figlang_tasks.harness import installed

if TYPE_CHECKING:
    from figlang_tasks.harness.saving import CheckedTracker

    Evaluate: TypeAlias = Callable[[argparse.Namespace], tuple[Any, Any]]
    """The harness's function that evaluates; returns results and samples, untyped in the harness.
    Both are None in all processes but the first."""

KEPT = (
    "Downloads and the answers that --use_cache has stored are kept: the same command goes on from"
    " there."
)

BARS = {"TQDM_DELAY": "2", "TQDM_LEAVE": ""}
"""Environment variables that tqdm reads when it is imported.

A progress bar appears after 2 seconds, and is removed when it is full.
"""

# In a file each redrawn bar is another line, so a bar is drawn every 10 seconds only.
_BARS_IN_FILES = {"TQDM_MININTERVAL": "10"}
_NO_TASK = "Tasks not found: "  # The harness's message begins so.
# With one of these after --tasks, the harness logs a list and evaluates nothing.
_LISTS = {"list", "list_groups", "list_tags", "list_subtasks"}
_HELP = {"-h", "--help", "version"}


@interrupts.ending_within_seconds("lmms_eval", KEPT)
@guarded_output("lmms_eval")
def main() -> None:
    """Run the harness's command line on ``sys.argv``."""
    arguments = sys.argv[1:]
    needs_no_tasks = not arguments or bool(_HELP & set(arguments))
    if needs_no_tasks:
        from lmms_eval.cli.dispatch import main as dispatch

        dispatch()
    else:
        _run(arguments)


def _run(arguments: Sequence[str]) -> None:
    """Register our tasks and run the command; exit with status 1 if something failed."""
    is_evaluation = arguments[0] == "eval" or arguments[0].startswith("-")
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
            _wrap_evaluation(shows_log=_asks_for_log(arguments))
        dispatch()

    failures = notes.noted()
    for failure in failures:
        print(printable(f"lmms_eval: {redaction.redacted(failure)}"), file=sys.stderr)
    if failures:
        sys.exit(1)


def set_up_bars(is_terminal: bool) -> None:
    """Set how progress bars look in this process and its children, where the user has not."""
    settings = dict(BARS)
    if not is_terminal:
        settings.update(_BARS_IN_FILES)
    # Each task would show bars for its stub dataset. Downloads have bars of their own.
    settings["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
    for name, setting in settings.items():
        os.environ.setdefault(name, setting)


# --- misspelt options and tasks ---


def refuse_misspelt(arguments: Sequence[str]) -> None:
    """End at once if an option, or the name of a task of ours, is misspelt; say what was meant.

    The harness would notice only after an import of some ten seconds.
    """
    _refuse_misspelt_option(arguments)
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--include_path")
    options, _ = parser.parse_known_args(arguments)
    if not options.include_path:  # That folder has tasks of the user's own.
        _refuse_misspelt_task(options.tasks.split(","))


def _refuse_misspelt_option(arguments: Sequence[str]) -> None:
    """End if the harness has no such option; say which one was meant."""
    known_options = installed.evaluation_options()
    for argument in arguments:
        option = argument.partition("=")[0]
        if not option.startswith("--") or option == "--":
            continue
        # The harness takes a shortened option, too.
        is_known = any(name.startswith(option) for name in known_options)
        if not is_known:
            hint = did_you_mean(option, known_options)
            sys.exit(f"figlang_tasks: no option {option}{hint}; `lmms_eval --help` lists them")


def _refuse_misspelt_task(names: Sequence[str]) -> None:
    """End if a name is almost that of one of our tasks; no task of the harness has such a name."""
    our_tasks = task_files.files("lmms_eval")
    for name in names:
        if name in our_tasks or "*" in name or Path(name).exists():
            continue
        if difflib.get_close_matches(name, our_tasks, cutoff=0.8):
            sys.exit(f"figlang_tasks: no task {name!r}{did_you_mean(name, our_tasks)}. {ALL_TASKS}")


# --- the evaluation ---


def _asks_for_log(arguments: Sequence[str]) -> bool:
    """Whether the user wants the harness's log: with --verbosity, or a list that is in the log."""
    for argument in arguments:
        if argument.startswith("--v"):  # --verbosity, perhaps shortened
            return True
        if argument.rpartition("=")[2] in _LISTS:
            return True
    return False


def _wrap_evaluation(shows_log: bool) -> None:
    """Replace the harness's evaluation by one that notes errors and prints our tables.

    Args:
        shows_log: whether all of the harness's log is shown, or warnings alone.
    """
    import lmms_eval.__main__ as harness
    from loguru import logger

    from figlang_tasks.harness.saving import CheckedTracker

    evaluate = harness.cli_evaluate_single
    make_table = harness.make_table
    trackers: list[CheckedTracker] = []

    def make_tracker(**arguments: Any) -> CheckedTracker:
        """Make the tracker that saves an evaluation, and remember it."""
        trackers.append(CheckedTracker(**arguments))
        return trackers[-1]

    def evaluate_and_print(args: argparse.Namespace) -> tuple[Any, Any]:
        """Evaluate, and print our tables in place of the harness's."""
        _check_arguments(args)
        if not shows_log:
            _log_warnings_alone()
        results, samples = _evaluate(evaluate, args)
        if results is None:
            return None, None
        print(printable_lines(_heading(args)))
        text = _tables(results, make_table) + ending(results, trackers[-1].written)
        print(printable_lines(text))
        # The harness prints tables of the results that are returned. It needs them only to send
        # them to wandb or swanlab.
        if args.wandb_args or args.swanlab_args:
            return results, samples
        return None, samples

    harness.cli_evaluate_single = evaluate_and_print
    harness.EvaluationTracker = make_tracker
    if not shows_log:
        # The harness logs how it sets up its log. `_log_warnings_alone` enables this logger again.
        logger.disable(harness.__name__)


def _check_arguments(args: argparse.Namespace) -> None:
    """End with a message for arguments that the harness would answer with a traceback."""
    from figlang_tasks.harness.preflight import limit_fault

    if args.tasks is None:
        sys.exit("figlang_tasks: name a task with --tasks NAME (`figlang tasks '*'` lists ours)")
    if (args.log_samples or args.predict_only) and not args.output_path:
        sys.exit("figlang_tasks: --log_samples and --predict_only need --output_path FOLDER")
    fault = limit_fault(args.limit)
    if fault:
        sys.exit(f"figlang_tasks: {fault}")


def _log_warnings_alone() -> None:
    """Log warnings and errors in short lines, and nothing else.

    The option ``--verbosity`` would do so too, but would then stand in the results files.
    """
    from loguru import logger

    logger.remove()
    logger.add(sys.stdout, level="WARNING", format="<level>{level}: {message}</level>")
    logger.enable("lmms_eval.__main__")


def _evaluate(evaluate: Evaluate, args: argparse.Namespace) -> tuple[Any, Any]:
    """Call the harness's evaluation; if it fails, note that for the exit status."""
    try:
        results, samples = evaluate(args)
    except Exception as error:
        message = str(error)
        if message.startswith(_NO_TASK):  # The harness would show a traceback.
            sys.exit(f"figlang_tasks: {message.partition('. Try')[0]}. {ALL_TASKS}")
        notes.note("an evaluation failed, see above")
        raise
    return results, samples


# --- what is printed at the end ---


def _heading(args: argparse.Namespace) -> str:
    """The model and the main options of a run, in the harness's words."""
    return (
        f"{args.model} ({args.model_args}), gen_kwargs: ({args.gen_kwargs}), limit: {args.limit}, "
        f"offset: {args.offset}, num_fewshot: {args.num_fewshot}, batch_size: {args.batch_size}"
    )


def _tables(results: Mapping[str, Any], make_table: Callable[..., str]) -> str:
    """The harness's tables for other tasks, then our tables for ours."""
    from figlang_tasks.cli.summary import is_ours, summary_table

    tables = []
    for column in ("results", "groups"):
        other_tasks = {}
        for name, scores in results.get(column, {}).items():
            # With --predict_only nothing was scored, and the harness would show 999.
            was_scored = "bypass,none" not in scores
            if was_scored and not is_ours(results, name):
                other_tasks[name] = scores
        if other_tasks:
            tables.append(make_table({**results, column: other_tasks}, column))
    our_table = summary_table(results)
    if our_table:
        tables.append("figlang tasks, shares in percent, with 95 % intervals:")
        tables.append(our_table)
    return "".join(f"\n{table}\n" for table in tables)


def ending(results: Mapping[str, Any], written: Sequence[Path]) -> str:
    """The last lines of a run: where the files were saved, and what to type next.

    Args:
        results: the harness's results.
        written: the saved files, the results file first.
    """
    from figlang_tasks.cli.summary import is_ours, next_commands

    if not written:
        hint = "add --output_path FOLDER --log_samples to keep results and answers"
        return f"\nnothing was saved: {hint}"
    folder = written[0].parent
    saved = f"\nsaved to {folder}"
    if not any(is_ours(results, name) for name in results["results"]):
        return saved
    if not any(path.suffix == ".jsonl" for path in written):
        hint = "add --log_samples to keep the answers too, for figlang report and figlang compare"
        return f"{saved}\n{hint}"
    return f"{saved}\n{next_commands([results], folder)}"


if __name__ == "__main__":
    main()
