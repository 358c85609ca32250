"""The ``lmms_eval`` command: the harness's own command line, with the figlang tasks always registered.

On a terminal it says what it is doing. It ends with short tables of our tasks and the next command. Where something
failed it exits with status 1; the harness prints the error and exits with 0.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from figlang_tasks import resource_dir
from figlang_tasks.cli.output import guarded_output
from figlang_tasks.core import interrupts, notes, redaction, status
from figlang_tasks.core.task_files import ALL_TASKS
from figlang_tasks.core.text import did_you_mean, printable, printable_lines

KEPT = "Downloads and the answers that --use_cache has stored are kept: the same command goes on from there."
_NO_TASK = "Tasks not found: "  # begins the harness's message
_LISTS = {"list", "list_groups", "list_tags", "list_subtasks"}  # of --tasks: the harness prints them as its log


@interrupts.ending_within_seconds("lmms_eval", KEPT)
@guarded_output("lmms_eval")
def main() -> None:
    """Run the harness's command line on ``sys.argv``."""
    arguments = sys.argv[1:]
    if not arguments or {"-h", "--help", "version"} & set(arguments):  # reads no task
        from lmms_eval.cli.dispatch import main as dispatch

        dispatch()
    else:
        _run(arguments, of_evaluation=arguments[0] == "eval" or arguments[0].startswith("-"))


def _run(arguments: Sequence[str], of_evaluation: bool) -> None:
    """Register the tasks, run the command, tell how it went."""
    if of_evaluation:
        refuse_misspelt(arguments)
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_MININTERVAL", "10")  # seconds: each time a bar is drawn, a file gets longer
    elif of_evaluation:
        status.show()
    # Each task would show one for its stub; downloads have bars of their own.
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    status.tell("loading lmms-eval and the tasks ...")

    from figlang_tasks.harness import plugin

    plugin.register()
    from lmms_eval.cli.dispatch import main as dispatch

    if of_evaluation:
        # --verbosity, cut short or not
        keep_log = any(each.startswith("--v") or each.rpartition("=")[2] in _LISTS for each in arguments)
        _stand_around(keep_log)
    dispatch()
    noted = notes.noted()
    for note in noted:
        print(printable(f"lmms_eval: {redaction.redacted(note)}"), file=sys.stderr)
    if noted:
        sys.exit(1)


def refuse_misspelt(arguments: Sequence[str]) -> None:
    """End with what was meant, if an option, or a task that looks like ours, is misspelt; in a second.

    The harness takes some ten seconds to be imported.
    """
    harness = find_spec("lmms_eval")
    assert harness is not None and harness.origin is not None, "lmms-eval is not installed"
    code = Path(harness.origin).with_name("__main__.py").read_text(encoding="utf-8")
    known = {*re.findall(r'"(--[\w-]+)"', code), "--help"}
    for name in (each.partition("=")[0] for each in arguments if re.match(r"--\w", each)):
        if not any(each.startswith(name) for each in known):  # options may be cut short
            sys.exit(f"figlang_tasks: no option {name}{did_you_mean(name, known)}; `lmms_eval --help` lists them")
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tasks", default="")
    parser.add_argument("--include_path")
    given, _ = parser.parse_known_args(arguments)
    if given.include_path:  # tasks of the user's own
        return
    files = (resource_dir("task_yamls") / "lmms_eval").rglob("*.yaml")
    texts = "\n".join(path.read_text(encoding="utf-8") for path in files)
    own = set(re.findall(r"^(?:task|group): *(\w+)", texts, re.MULTILINE))
    for name in given.tasks.split(","):
        is_close = difflib.get_close_matches(name, own, cutoff=0.8)  # no task of the harness is
        if is_close and name not in own and "*" not in name and not Path(name).exists():
            sys.exit(f"figlang_tasks: no task {name!r}{did_you_mean(name, own)}. {ALL_TASKS}")


def _stand_around(keep_log: bool) -> None:
    """Stand around the harness's evaluation: note errors, say less (unless `keep_log`), end with our tables."""
    import lmms_eval.__main__ as harness
    import lmms_eval.api.task
    from lmms_eval import evaluator

    from figlang_tasks.harness.preflight import limit_fault
    from figlang_tasks.harness.saving import CheckedTracker

    trackers: list[CheckedTracker] = []
    evaluate, make_table = harness.cli_evaluate_single, harness.make_table
    endings: dict[int, str] = {}  # by the id of results

    def evaluate_and_take_note(args: argparse.Namespace) -> Any:
        if args.tasks is None:
            sys.exit("figlang_tasks: no task is named: --tasks NAME (`figlang tasks '*'` lists ours)")
        if (args.log_samples or args.predict_only) and not args.output_path:  # the harness would show a traceback
            sys.exit("figlang_tasks: --log_samples and --predict_only need --output_path FOLDER")
        if fault := limit_fault(args.limit):
            sys.exit(f"figlang_tasks: {fault}")
        try:
            results, samples = evaluate(args)
        except Exception as error:
            if str(error).startswith(_NO_TASK):  # the harness would show a traceback
                sys.exit(f"figlang_tasks: {str(error).partition('. Try')[0]}. {ALL_TASKS}")
            notes.note("an evaluation failed, see above")
            raise
        if results is not None:  # they are on all ranks but the first
            endings[id(results)] = ending(results, trackers[-1].written)
        return results, samples

    def tracker(**arguments: Any) -> Any:
        trackers.append(CheckedTracker(**arguments))
        return trackers[-1]

    def tables(results: Mapping[str, Any], column: str = "results") -> str:
        """All tables of a run in place of the harness's first one."""
        return "" if column == "groups" else printable_lines(_tables(results, make_table) + endings[id(results)])

    harness.cli_evaluate_single = evaluate_and_take_note
    harness.make_table = tables
    harness.EvaluationTracker = tracker
    harness.get_eval_banner = lambda **_: ""
    if not keep_log:
        harness.eval_logger = _of_warnings(harness.eval_logger)
    for module in (lmms_eval.api.task, evaluator):  # what takes no time needs no bar
        module.tqdm = functools.partial(module.tqdm, delay=2, leave=False)


def _of_warnings(logger: Any) -> Any:
    """The harness's logger, whose handlers show warnings alone, in short lines and in colour on a terminal alone.

    The level cannot be given as ``--verbosity``: that stands in the results files.
    """
    shown = {"level": "WARNING", "format": "<level>{level}: {message}</level>", "colorize": None}
    again = logger.bind()  # another object with the same handlers
    again.add = lambda sink, **options: logger.add(sink, **{**options, **shown})
    return again


def _tables(results: Mapping[str, Any], make_table: Callable[..., str]) -> str:
    """The harness's tables of other tasks, and ours."""
    from figlang_tasks.cli.summary import is_ours, summary_table

    parts = []
    for column in ("results", "groups"):
        rows = results.get(column, {})  # of --predict_only the harness shows 999 for each task
        rows = {name: of for name, of in rows.items() if not ("bypass,none" in of or is_ours(results, name))}
        if rows:
            parts.append(make_table({**results, column: rows}, column))
    if found := summary_table(results):
        parts += ["figlang tasks, shares in percent, with 95 % intervals:", found]
    return "".join(f"\n{part}\n" for part in parts)


def ending(results: Mapping[str, Any], written: Sequence[Path]) -> str:
    """Where the files that were written are, and what to type next."""
    from figlang_tasks.cli.summary import is_ours, next_commands

    if not written:
        return "\nnothing was saved: --output_path FOLDER --log_samples keeps results and answers"
    folder = written[0].parent
    said = f"\nsaved to {folder}"
    if not any(is_ours(results, name) for name in results["results"]):
        return said
    if not any(path.suffix == ".jsonl" for path in written):
        return f"{said}\nwith --log_samples the answers are saved too, for figlang report and figlang compare"
    return f"{said}\n{next_commands([results], folder)}"


if __name__ == "__main__":
    main()
