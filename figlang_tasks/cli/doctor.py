"""``figlang doctor``: what is installed, what can be reached, what is missing, and what to do about it."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import asdict
from typing import Annotated

import typer

from figlang_tasks.cli import say, say_json
from figlang_tasks.cli.doctor_checks import SECTIONS, Finding, Section, examine
from figlang_tasks.core.text import printable

WIDTH = 100


def doctor(
    sections: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SECTION]...", help=f"Only these of {', '.join(SECTIONS)}. [default: all]", show_default=False
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no server.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when all is done.")] = False,
) -> None:
    """Look at versions, libraries, memory, hub access and data, metric models, and what the harness finds of ours.

    A warning: some tasks, models or metrics cannot be had. A problem: runs fail. Exit status 1 if there is a problem.
    Tokens are never shown.

    \b
    figlang doctor
    figlang doctor hub scorers
    figlang doctor --offline --json
    """
    if unknown := sorted(set(sections or ()) - set(SECTIONS)):
        raise typer.BadParameter(f"no section {printable(', '.join(unknown))}; there are: {', '.join(SECTIONS)}")
    findings: list[tuple[Section, Finding]] = []
    wanted = [section for section in SECTIONS if section in (sections or SECTIONS)]
    for section, finding in examine(wanted, online=not offline):
        if not as_json:
            if section not in {known for known, _ in findings}:
                say(f"{section}")
            say(_lines(finding))
        findings.append((section, finding))
    counts = Counter(finding.status for _, finding in findings)
    if as_json:
        rows = [{"section": section, **asdict(finding)} for section, finding in findings]
        report = {"problems": counts["problem"], "warnings": counts["warning"], "findings": rows}
        say_json(report)
    else:
        say(f"\n{counts['problem']} problem(s), {counts['warning']} warning(s)")
    if counts["problem"]:
        raise typer.Exit(1)


def _lines(finding: Finding) -> str:
    head = f"  {finding.status:8} {printable(finding.name)}: "
    text = textwrap.fill(
        printable(finding.text),
        WIDTH,
        initial_indent=head,
        subsequent_indent=" " * 13,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return f"{text}\n{' ' * 13}-> {printable(finding.remedy)}" if finding.remedy else text
