"""Keeps secrets, and characters that would steer a terminal, out of logs and tracebacks."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from loguru import logger

from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import printable_lines

if TYPE_CHECKING:
    from loguru import Record


def clean_logs() -> None:
    """Hide secrets and control characters in all that loguru logs; safe to call again."""
    logger.configure(patcher=_clean_record)


def _clean_record(record: Record) -> None:
    """Clean a record of loguru before it is written, with the traceback of its exception."""
    record["message"] = _clean(record["message"])
    if record["exception"]:
        # loguru would print the exception unchanged, with its message and the values of variables.
        # So the traceback, without them and cleaned, becomes a part of the message.
        trace = "".join(traceback.format_exception(*record["exception"]))
        record["message"] += "\n" + _clean(trace.rstrip())
        record["exception"] = None


def clean_error(error: BaseException) -> None:
    """Hide secrets and control characters in an error and in its causes, which tracebacks show."""
    errors = [error]
    for current in errors:  # the loop also reaches the errors that it appends
        current.args = tuple(
            _clean(argument) if isinstance(argument, str) else argument for argument in current.args
        )
        if isinstance(current, SystemExit) and isinstance(current.code, str):
            current.code = _clean(current.code)
        for origin in (current.__cause__, current.__context__):
            if origin is not None and origin not in errors:
                errors.append(origin)


def _clean(text: str) -> str:
    return printable_lines(redacted(text))
