"""The ``lmms_eval`` command: the harness's own command line, with the figlang tasks always registered.

It differs from ``lmms-eval`` in four ways: it takes the name that many people type, ``lmms_eval tasks list`` shows our
tasks too, it ends with a short table of our tasks, and it exits with status 1 when an evaluation failed, a metric could
not be computed, a request got no answer or a file could not be written (the harness prints the error and exits 0).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from figlang_tasks.core import interrupts

EXIT_FAILED = 1
KEPT = "Downloads and the answers that --use_cache has stored are kept: the same command goes on from there."


@interrupts.ending_within_seconds("lmms_eval", KEPT)
def main() -> None:
    """Run the harness's command line on ``sys.argv``."""
    from figlang_tasks.cli.summary import summary_table
    from figlang_tasks.core import notes, part_of_data, redaction
    from figlang_tasks.core.errors import ending_the_command
    from figlang_tasks.core.text import printable, printable_lines
    from figlang_tasks.harness import plugin
    from figlang_tasks.harness.versions import UnusableHarness

    try:
        plugin.register()
    except UnusableHarness as error:
        sys.exit(f"lmms_eval: {printable(error)}")

    import lmms_eval.__main__ as harness
    from lmms_eval.cli.dispatch import main as dispatch

    errors: list[Exception] = []
    finished: list[Any] = []
    evaluate = harness.cli_evaluate_single

    def evaluate_and_take_note(args: argparse.Namespace) -> Any:
        with ending_the_command():  # the harness would show a traceback
            part_of_data.check_values(args.limit, args.offset)
        try:
            results, samples = evaluate(args)
        except Exception as error:
            errors.append(error)
            raise
        except SystemExit as exit:
            if args.tasks is None:  # the harness says so, and leaves with status 0
                raise SystemExit(EXIT_FAILED) from exit
            raise
        finished.append(results)
        return results, samples

    harness.cli_evaluate_single = evaluate_and_take_note
    dispatch()
    # Results are None on all ranks but the first.
    tables = [summary_table(results) for results in finished if results is not None]
    if any(tables):
        head = "\nfiglang tasks, shares in percent, with 95 % intervals:"
        print(printable_lines("\n\n".join([head, *filter(None, tables)])))
    noted = notes.noted()
    for note in noted:
        print(printable(f"lmms_eval: {redaction.hidden(note)}"), file=sys.stderr)
    if errors:
        print(printable(f"lmms_eval: {len(errors)} evaluation(s) failed, see above."), file=sys.stderr)
    if errors or noted:
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
