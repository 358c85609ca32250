"""The command ``figlang``, in this process, and what is logged meanwhile."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from loguru import logger
from typer.testing import CliRunner, Result

from figlang_tasks.cli.figlang import app

if TYPE_CHECKING:
    from loguru import Message

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
    messages = [line for line in result.stderr.splitlines() if line.startswith("figlang: ")]
    assert len(messages) == 1, result.stderr
    return messages[0]


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
    findings: dict[str, dict[str, Any]] = {}
    for line in result.stdout.splitlines():
        if finding := FINDING.fullmatch(line):
            status, name, concerns, text = finding.groups()
            findings[name] = {
                "status": status,
                "concerns": (concerns or "").split(", "),
                "text": text,
                "remedy": "",
            }
        elif line.startswith("           -> "):
            findings[name]["remedy"] = line.strip()
    statuses = [finding["status"] for finding in findings.values()]
    problems = statuses.count("problem")
    warnings = statuses.count("warning")
    assert f"{problems} problem(s), {warnings} warning(s)" in result.stdout
    assert result.exit_code == (1 if problems else 0)
    return result.exit_code, findings


@contextmanager
def logged_warnings() -> Iterator[list[str]]:
    """A list to which each message of level WARNING and above is added while the block runs."""
    messages: list[str] = []

    def add(message: Message) -> None:
        messages.append(message.record["message"])

    handler = logger.add(add, level="WARNING")
    try:
        yield messages
    finally:
        logger.remove(handler)
