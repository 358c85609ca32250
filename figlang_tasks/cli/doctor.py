"""``figlang doctor``: what is installed, what can be reached, what is missing, and what to do about it."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from figlang_tasks.cli import say, say_json
from figlang_tasks.cli.doctor_checks import SECTIONS, Finding, Section, examine
from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.text import printable

WIDTH = 100


def doctor(
    sections: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SECTION]...", help=f"Check only these: {', '.join(SECTIONS)}. [default: all]", show_default=False
        ),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not contact any server.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object when all is done.")] = False,
) -> None:
    """Check what this machine can run, and say what is missing.

    The command checks versions, libraries, memory, access to the hub, data, metric models, and whether lmms-eval finds
    our tasks. A warning: some tasks, models or metrics are not available. A problem: runs fail, and the exit status is
    1. Without a SECTION, the last lines name the benchmarks that you can run now, and what the others lack. Tokens are
    never shown.

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
        if wanted == list(SECTIONS):
            report["can_run"] = can_run(findings)
        say_json(report)
    else:
        say(f"\n{counts['problem']} problem(s), {counts['warning']} warning(s)")
        if wanted == list(SECTIONS):
            say(_ending(findings))
    if counts["problem"]:
        raise typer.Exit(1)


def can_run(findings: Sequence[tuple[Section, Finding]]) -> list[str]:
    """The benchmarks that can be run now, by the findings of all sections."""
    if _broken(findings):
        return []
    lacking = {finding.name for _, finding in findings if finding.status != "ok"}
    return [MINI, *(each.name for each in benchmarks().values() if each.source.name not in lacking)]


def _broken(findings: Sequence[tuple[Section, Finding]]) -> list[str]:
    """What no run works with."""
    at_fault = [f for section, f in findings if section in ("versions", "libraries", "harness")]
    return [finding.name for finding in at_fault if finding.status == "problem"]


def _ending(findings: Sequence[tuple[Section, Finding]]) -> str:
    """What can be run now, and what each other benchmark lacks: the first remedy of those above."""
    runs = can_run(findings)
    lines = [f"\nCan run now: {', '.join(runs) or 'nothing'}" + " (`figlang tasks NAME` lists the tasks)" * bool(runs)]
    if broken := _broken(findings):
        lines.append(f"All runs need a repair of {printable(', '.join(broken))}: see the problems above.")
    for title, names in (
        ("Can run, but lack a part:", runs),
        ("Cannot run yet:", [name for name in benchmarks() if name not in runs]),
    ):
        lacks = [line for name in names for line in _lacks(name, findings)]
        lines += [title, *lacks] * bool(lacks)
    return "\n".join(lines)


def _lacks(benchmark: str, findings: Sequence[tuple[Section, Finding]]) -> list[str]:
    """A line for each remedy, with all that it is for."""
    of_remedy: dict[str, list[str]] = {}
    for _, finding in findings:
        if finding.status != "ok" and benchmark in finding.concerns:
            of_remedy.setdefault(finding.remedy.partition(", or ")[0], []).append(finding.name)
    return [f"  {benchmark:12} {printable(', '.join(of))} -> {printable(remedy)}" for remedy, of in of_remedy.items()]


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
