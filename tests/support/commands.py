"""The command ``figlang``, in this process."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from figlang_tasks.cli.figlang import app


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
    told = [line for line in result.stderr.splitlines() if line.startswith("figlang ")]
    assert len(told) == 1, result.stderr
    return told[0]
