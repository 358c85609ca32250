"""The command ``figlang``, in this process."""

from __future__ import annotations

import os
import re
from typing import Any

from typer.testing import CliRunner, Result

from figlang_tasks.cli.figlang import app

FINDING = re.compile(r"  (ok|warning|problem) +(.+?)(?: \[(.+?)\])?: (.*)")


def figlang(*arguments: object) -> Result:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def done(*arguments: object) -> str:
    """Standard output of a call that went well."""
    result = figlang(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: object) -> str:
    """The one message that a call ended with; libraries may log what they let go of meanwhile."""
    result = figlang(*arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    told = [line for line in result.stderr.splitlines() if line.startswith("figlang: ")]
    assert len(told) == 1, result.stderr
    return told[0]


def cells(text: str) -> list[list[str]]:
    """The cells of all tables in a text."""
    return [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def doctor(*arguments: str) -> tuple[int, dict[str, dict[str, Any]]]:
    """The status and the findings of ``figlang doctor``, by name; it shows no token."""
    result = figlang("doctor", *arguments)
    token = os.environ.get("HF_TOKEN")
    assert not token or token not in result.output
    found: dict[str, dict[str, Any]] = {}
    for line in result.stdout.splitlines():
        if told := FINDING.fullmatch(line):
            status, name, concerns, text = told.groups()
            found[name] = {
                "status": status,
                "concerns": (concerns or "").split(", "),
                "text": text,
                "remedy": "",
            }
        elif line.startswith("           -> "):
            found[name]["remedy"] = line.strip()
    counts = [
        sum(each["status"] == status for each in found.values())
        for status in ("problem", "warning")
    ]
    assert "{} problem(s), {} warning(s)".format(*counts) in result.stdout
    assert result.exit_code == (1 if counts[0] else 0)
    return result.exit_code, found
