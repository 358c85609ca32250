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
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from figlang_tasks import resource_dir
from figlang_tasks.core import interrupts
from figlang_tasks.core.text import did_you_mean, printable, printable_lines

KEPT = "Downloads and the answers that --use_cache has stored are kept: the same command goes on from there."
_LISTS = {"list", "list_groups", "list_tags", "list_subtasks"}  # of --tasks: the harness prints them as its log


@interrupts.ending_within_seconds("lmms_eval", KEPT)
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
    from figlang_tasks.core import notes, redaction, status

    asked_for_log = any(each.startswith("--v") for each in arguments)  # --verbosity, cut short or not
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_MININTERVAL", "10")  # seconds: each time a bar is drawn, a file gets longer
    elif of_evaluation:
        status.show()
    # Each task would show one for its stub; downloads have bars of their own.
    os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")
    status.tell("loading lmms-eval and the tasks ...")

    errors: list[Exception] = []
    from figlang_tasks.harness import plugin

    plugin.register()
    from lmms_eval.cli.dispatch import main as dispatch

    if of_evaluation:
        keep_log = asked_for_log or bool(_LISTS & {each.rpartition("=")[2] for each in arguments})
        _stand_around(errors, keep_log)
    dispatch()
    noted = notes.noted()
    for note in noted:
        print(printable(f"lmms_eval: {redaction.redacted(note)}"), file=sys.stderr)
    if errors:
        print(printable(f"lmms_eval: {len(errors)} evaluation(s) failed, see above."), file=sys.stderr)
    if errors or noted:
        sys.exit(1)


def refuse_misspelt(arguments: Sequence[str]) -> None:
    """End with what was meant, if an option, or a task or model that looks like ours, is misspelt; in a second.

    The harness takes some ten seconds to be imported.
    """
    harness = find_spec("lmms_eval")
    if harness is None or harness.origin is None:
        return
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--model", default="")
    parser.add_argument("--tasks", default="")
    parser.add_argument("--include_path")
    given, _ = parser.parse_known_args(arguments)
    folder = Path(harness.origin).parent
    told = _unknown_options(arguments, folder) + _unknown_model(given.model)
    if not (told or given.include_path):  # tasks of the user's own
        told = _unknown_tasks(filter(None, given.tasks.split(",")), folder)
    if told:
        sys.exit(f"figlang_tasks: {'; '.join(told)}")


def _unknown_options(arguments: Sequence[str], harness: Path) -> list[str]:
    """The options that the harness does not know, which may be cut short."""
    known = set(re.findall(r'"(--\w+)"', (harness / "__main__.py").read_text(encoding="utf-8"))) | {"--help"}
    given = {each.partition("=")[0] for each in arguments if re.match(r"--\w", each)}
    unknown = sorted(name for name in given if not any(each.startswith(name) for each in known))
    return [f"no option {name}{did_you_mean(name, known)}; `lmms_eval --help` lists them" for name in unknown]


def _unknown_model(name: str) -> list[str]:
    """The model class, if it is none and its name looks like one of ours."""
    classes = Path(__file__).parents[1] / "models" / "__init__.py"
    ours = re.findall(r'ModelManifest\("(figlang_\w+)"', classes.read_text(encoding="utf-8"))
    meant = difflib.get_close_matches(name, ours, cutoff=0.8)
    return [f"no model class {name!r} (did you mean `{meant[0]}`?)"] if meant and name not in ours else []


def _unknown_tasks(tasks: Iterable[str], harness: Path) -> list[str]:
    """The tasks that no file has, and whose names look like ours."""
    own = _names_in(resource_dir("task_yamls") / "lmms_eval")
    unknown = {name: difflib.get_close_matches(name, own, cutoff=0.8) for name in set(tasks) - own - _LISTS}
    theirs = _names_in(harness / "tasks") if any(unknown.values()) else set()
    found = [
        f"no task {name!r} (did you mean {' or '.join(f'`{each}`' for each in meant)}?)"
        for name, meant in sorted(unknown.items())
        if meant and name not in theirs and "*" not in name and not Path(name).exists()
    ]
    return [f"{'; '.join(found)}. `figlang tasks '*'` lists ours, `lmms_eval tasks list` all of them"] if found else []


def _names_in(folder: Path) -> set[str]:
    """The words behind ``task:``, ``group:`` and ``tag:`` in task files."""
    found: set[str] = set()
    for path in folder.rglob("*.yaml"):
        found.update(re.findall(r"^\W*(?:task|group|tag): *([\w.-]+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    return found


def _stand_around(errors: list[Exception], keep_log: bool) -> None:
    """Stand around the harness's evaluation: note `errors`, say less (unless `keep_log`), end with our tables."""
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
            sys.exit(fault)
        try:
            results, samples = evaluate(args)
        except Exception as error:
            errors.append(error)
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
    from figlang_tasks.cli.summary import is_ours

    if not written:
        return "\nnothing was saved: --output_path FOLDER --log_samples keeps results and answers"
    folder = written[0].parent
    said = f"\nsaved to {folder}"
    if not any(is_ours(results, name) for name in results["results"]):
        return said
    if not any(path.suffix == ".jsonl" for path in written):
        return f"{said}\nwith --log_samples the answers are saved too, for figlang report and figlang compare"
    return f"{said}\nnext: figlang report {shlex.quote(str(folder))} -o report.html"


if __name__ == "__main__":
    main()
