"""The ``lmms_eval`` command: the harness's own command line, which always knows our tasks.

On a terminal it says what it is doing. It ends with short tables of our tasks and the next command.
If something failed, it exits with status 1, where the harness prints the error and exits with 0.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from figlang_tasks.cli.output import guarded_output
from figlang_tasks.core import interrupts, notes, redaction, status
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import printable, printable_lines
from figlang_tasks.harness import early_checks
from figlang_tasks.harness.command_line import LISTS, NO_TASK

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
    """Register our tasks and run the harness's command; exit with status 1 if something failed.

    Args:
        arguments: those of ``lmms_eval``, at least one.
    """
    # Other commands begin with a name of their own. Without a name the harness evaluates.
    is_evaluation = arguments[0] == "eval" or arguments[0].startswith("-")
    if is_evaluation:
        refuse_mistakes(arguments)
    is_terminal = sys.stderr.isatty()
    set_up_bars(is_terminal)

    with status.printing(is_evaluation and is_terminal):
        status.tell("loading lmms-eval and the tasks ...")

        # These imports take long, so they come after the line above.
        with no_garbage_collection():
            from figlang_tasks.harness import plugin

            plugin.register()
            from lmms_eval.cli.dispatch import main as dispatch

            if is_evaluation:
                _wrap_evaluation(shows_log=_asks_for_log(arguments))
        dispatch()

    failures = notes.take_failures()  # of the evaluation, of metrics, and of saving
    for failure in failures:
        print(printable(f"lmms_eval: {redaction.redacted(failure)}"), file=sys.stderr)
    if failures:
        sys.exit(1)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Look for no garbage while modules are imported, nor in what was imported until the end.

    Nearly all of it stays in use. To find that out would take a seventh of the import's time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
        # Some libraries (Triton) say at the end of a process that what is left of them is a leak.
        atexit.register(gc.unfreeze)


def set_up_bars(is_terminal: bool) -> None:
    """Set how progress bars look in this process and its children, where the user has not.

    Args:
        is_terminal: whether standard error is a terminal; else it may be a file.
    """
    settings = dict(BARS)
    if not is_terminal:
        settings.update(_BARS_IN_FILES)
    # Each task would show bars for its stub dataset. Downloads have bars of their own.
    settings["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
    for name, setting in settings.items():
        os.environ.setdefault(name, setting)


# --- mistakes ---


def refuse_mistakes(arguments: Sequence[str]) -> None:
    """Exit with a message if an evaluation's arguments have a mistake that can be known early.

    The harness would notice only after an import of some ten seconds.
    """
    try:
        early_checks.check_command_line(arguments)
    except FigLangError as error:
        sys.exit(printable_lines(error))


# --- the evaluation ---


def _asks_for_log(arguments: Sequence[str]) -> bool:
    """Whether the user wants the harness's log: with --verbosity, or a list that is in the log."""
    for argument in arguments:
        if argument.startswith("--v"):  # --verbosity, perhaps shortened
            return True
        text_behind_sign = argument.rpartition("=")[2]  # --tasks=list; without a sign, all of it
        if text_behind_sign in LISTS:
            return True
    return False


class _PrintingEvaluation:
    """The harness's evaluation, which prints our tables in place of the harness's.

    Args:
        evaluate: the harness's function.
        make_table: the harness's function that makes a table of results.
        shows_log: whether all of the harness's log is shown, or warnings alone.
    """

    def __init__(self, evaluate: Evaluate, make_table: Callable[..., str], shows_log: bool) -> None:
        self._evaluate = evaluate
        self._make_table = make_table
        self._shows_log = shows_log
        self._tracker: CheckedTracker | None = None

    def make_tracker(self, **arguments: Any) -> CheckedTracker:
        """Make the tracker that saves an evaluation; the harness does so once in each."""
        from figlang_tasks.harness.saving import CheckedTracker

        self._tracker = CheckedTracker(**arguments)
        return self._tracker

    def run(self, args: argparse.Namespace) -> tuple[Any, Any]:
        """Evaluate and print; return the samples, and the results only for wandb or swanlab.

        Returns:
            Results and samples. The results are None unless wandb or swanlab gets them, since the
            harness would print its tables of them. Both are None on all processes but the first.

        Raises:
            Exception: of the evaluation, after a note for the exit status.
        """
        if not self._shows_log:
            _log_warnings_alone()
        results, samples = _note_failure_of(self._evaluate, args)
        if results is None:
            return None, None
        assert self._tracker is not None, "the harness has evaluated without a tracker"
        print(printable_lines(_heading(args)))
        text = _tables(results, self._make_table) + ending(results, self._tracker.written)
        print(printable_lines(text))
        is_sent = args.wandb_args or args.swanlab_args
        return (results, samples) if is_sent else (None, samples)


def _wrap_evaluation(shows_log: bool) -> None:
    """Replace the harness's evaluation by one that notes errors and prints our tables.

    The tracker that saves its results is replaced too, by a `CheckedTracker`.

    Args:
        shows_log: whether all of the harness's log is shown, or warnings alone.
    """
    import lmms_eval.__main__ as harness
    from loguru import logger

    evaluation = _PrintingEvaluation(harness.cli_evaluate_single, harness.make_table, shows_log)
    harness.cli_evaluate_single = evaluation.run
    harness.EvaluationTracker = evaluation.make_tracker
    if not shows_log:
        # Silent until `_log_warnings_alone` has set up the log: the harness, which sets it up
        # before, logs that.
        logger.disable(harness.__name__)


def _log_warnings_alone() -> None:
    """Log warnings and errors in short lines, and nothing else.

    The option ``--verbosity`` would do so too, but would then stand in the results files.
    """
    from loguru import logger

    logger.remove()
    logger.add(sys.stdout, level="WARNING", format="<level>{level}: {message}</level>")
    logger.enable("lmms_eval.__main__")


def _note_failure_of(evaluate: Evaluate, args: argparse.Namespace) -> tuple[Any, Any]:
    """Call the harness's evaluation; if it fails, note that for the exit status, and raise.

    Of a task that does not exist there is no note: that exits at once with a message.
    """
    try:
        return evaluate(args)
    except Exception as error:
        message = str(error)
        if message.startswith(NO_TASK):  # The harness would show a traceback.
            # "Tasks not found: a, b. Try ...", with the harness's own advice at the end
            which_task = message.partition(". Try")[0]
            sys.exit(f"figlang_tasks: {which_task}. {ALL_TASKS}")
        # The harness prints the error and exits with 0; `_run` exits with 1 after a note.
        notes.note_failure("an evaluation failed, see above")
        raise


# --- what is printed at the end ---


def _heading(args: argparse.Namespace) -> str:
    """A line with the model and the main options of a run, in the words of the harness's own."""
    return (
        f"{args.model} ({args.model_args}), gen_kwargs: ({args.gen_kwargs}), limit: {args.limit}, "
        f"offset: {args.offset}, num_fewshot: {args.num_fewshot}, batch_size: {args.batch_size}"
    )


def _tables(results: Mapping[str, Any], make_table: Callable[..., str]) -> str:
    """The harness's tables for other tasks, then our tables for ours; "" if there are none."""
    from figlang_tasks.cli.summary import is_ours, summary_table

    tables = []
    for key in ("results", "groups"):
        scores_of_others = {}
        for name, scores in results.get(key, {}).items():
            # With --predict_only nothing was scored, and the harness would show 999.
            was_scored = "bypass,none" not in scores
            if was_scored and not is_ours(results, name):
                scores_of_others[name] = scores
        if scores_of_others:
            tables.append(make_table({**results, key: scores_of_others}, key))
    our_table = summary_table(results)
    if our_table:
        tables.append("figlang tasks, shares in percent, with 95 % intervals:")
        tables.append(our_table)
    return "".join(f"\n{table}\n" for table in tables)


def ending(results: Mapping[str, Any], written: Sequence[Path]) -> str:
    """The last lines of a run: where its files were saved, and what to type next.

    Args:
        results: the harness's results.
        written: the saved files, the results file first; empty if nothing was saved.
    """
    from figlang_tasks.cli.summary import is_ours, next_commands
    from figlang_tasks.results.results_file import score_command, unscored_tasks

    if not written:
        hint = "add --output_path FOLDER --log_samples to keep results and answers"
        return f"{_skipped_line(results)}\nnothing was saved: {hint}"
    folder = written[0].parent
    saved = f"{_skipped_line(results)}\nsaved to {folder}"
    unscored = unscored_tasks(results)
    if unscored:
        return f"{saved}\nnext: {score_command(folder, unscored)}"
    if not any(is_ours(results, name) for name in results["results"]):
        return saved
    has_samples = any(path.suffix == ".jsonl" for path in written)
    if not has_samples:
        hint = "add --log_samples to keep the answers too, for figlang report and figlang compare"
        return f"{saved}\n{hint}"
    return f"{saved}\n{next_commands([results], folder)}"


def _skipped_line(results: Mapping[str, Any]) -> str:
    """A line with the tasks that groups have left out; "" if there are none."""
    from figlang_tasks.harness.skipped_tasks import skipped_text

    skipped = results.get("config", {}).get("skipped")
    if not skipped:
        return ""
    # Only groups with a mean of their own have results.
    means = ". The means of groups are without them" if results.get("groups") else ""
    return f"\n{skipped_text(skipped)}{means}"


if __name__ == "__main__":
    main()
