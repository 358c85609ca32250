"""``figlang doctor``: what this machine can run, what is missing, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Annotated, Literal, TypeAlias

import typer

from figlang_tasks.cli import say
from figlang_tasks.cli.doctor_checks import Check, Finding, run_check
from figlang_tasks.cli.doctor_checks.hub_access import check_hub
from figlang_tasks.cli.doctor_checks.libraries import check_installed, check_libraries
from figlang_tasks.cli.doctor_checks.scorers import check_java, check_weights
from figlang_tasks.cli.doctor_checks.versions import check_packages
from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.text import printable

Section: TypeAlias = Literal["versions", "libraries", "hub", "scorers"]

CHECKS: dict[Section, tuple[Check, ...]] = {
    "versions": (check_packages,),
    "libraries": (check_installed,),
    "hub": (check_hub,),
    "scorers": (check_weights, check_java),
}
"""The checks of each section of the report."""

DEEP_CHECKS: dict[Section, tuple[Check, ...]] = {**CHECKS, "libraries": (check_libraries,)}
"""The checks with ``--deep``: libraries are imported, which finds what is broken."""

_NEEDED_BY_ALL: tuple[Section, ...] = ("versions", "libraries")
"""A problem in one of these sections stops every run."""


def doctor(
    section: Annotated[
        Section | None, typer.Argument(help="Check only this.", show_default="all")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not contact any server.")] = False,
    deep: Annotated[
        bool,
        typer.Option(
            "--deep", help="Also import torch, transformers and lmms-eval (20 seconds or more)."
        ),
    ] = False,
) -> None:
    """Check what this machine can run, and say what is missing.

    A warning: some tasks, models or metrics do not work; the benchmarks that they belong to stand
    in brackets. A problem: runs fail, and the exit status is 1. Without a section, the last lines
    name the benchmarks that you can run now. Of data, only the names of files are looked at:
    figlang data check reads them. Tokens are never shown.
    """
    checks = DEEP_CHECKS if deep else CHECKS
    sections: Iterable[Section] = checks if section is None else [section]
    findings: list[Finding] = []
    can_run = True
    with hub.downloading_nothing() if offline else nullcontext():
        for name in sections:
            section_findings = _run_section(name, checks[name])
            findings.extend(section_findings)
            if name in _NEEDED_BY_ALL and _has_problem(section_findings):
                can_run = False

    counts = Counter(finding.status for finding in findings)
    say(f"\n{counts['problem']} problem(s), {counts['warning']} warning(s)")
    if section is None:
        _say_what_can_run(findings, can_run)
        if not deep:
            say("Libraries were not imported: `figlang doctor --deep` finds those that are broken")
    if counts["problem"]:
        raise typer.Exit(1)


def _run_section(section: Section, checks: Iterable[Check]) -> list[Finding]:
    """Run the checks of a section, print each finding as it comes, and return all."""
    findings = []
    say(section)
    for check in checks:
        for finding in run_check(check):
            say(_finding_text(finding))
            findings.append(finding)
    return findings


def _has_problem(findings: Iterable[Finding]) -> bool:
    return any(finding.status == "problem" for finding in findings)


def _finding_text(finding: Finding) -> str:
    """A finding as a line, ``warning  Java [nycc]: there is none``; a second one has the remedy."""
    name = printable(finding.name)
    names_itself = finding.concerns == (finding.name.lower(),)  # IRFL concerns irfl.
    if finding.concerns and not names_itself:
        name += f" [{', '.join(finding.concerns)}]"
    text = f"  {finding.status:8} {name}: {printable(finding.text)}"
    if finding.remedy:
        text += f"\n{' ' * 11}-> {printable(finding.remedy)}"
    return text


def _say_what_can_run(findings: Iterable[Finding], can_run: bool) -> None:
    """Print which benchmarks can be run now.

    Args:
        findings: those of all sections.
        can_run: False if a problem stops every run.
    """
    not_ok = {finding.name for finding in findings if finding.status != "ok"}
    ready = []
    if can_run:
        ready.append(MINI)  # Its data are part of the package.
        for benchmark in benchmarks().values():
            # A finding about a dataset has the dataset's name.
            has_data = benchmark.source.name not in not_ok
            if has_data:
                ready.append(benchmark.name)
    not_ready = [name for name in benchmarks() if name not in ready]
    say(f"Can run now: {', '.join(ready) or 'nothing'} (`figlang tasks NAME` lists the tasks)")
    say(f"Cannot run yet: {', '.join(not_ready) or 'none'}")
