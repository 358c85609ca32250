"""Keeps secrets, and what would steer a terminal, out of logs and tracebacks."""

from __future__ import annotations

import traceback
from typing import Any

from loguru import logger

from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import printable_lines


def clean_logs() -> None:
    """Hide secrets, and what would steer a terminal, in all that loguru logs; safe to call
    again.
    """
    logger.configure(patcher=_clean_record)


def _clean_record(record: Any) -> None:
    record["message"] = _clean(record["message"])
    if record["exception"]:
        # loguru shows it as it is, with the values of variables: the message, and what was sent,
        # among them.
        trace = "".join(traceback.format_exception(*record["exception"]))
        record["message"] += "\n" + _clean(trace.rstrip())
        record["exception"] = None


def clean_error(error: BaseException) -> None:
    """Hide secrets, and what would steer a terminal, in an error and those it comes from: a
    traceback shows them.
    """
    errors = [error]
    for current in errors:
        current.args = tuple(
            _clean(value) if isinstance(value, str) else value for value in current.args
        )
        if isinstance(current, SystemExit) and isinstance(current.code, str):
            current.code = _clean(current.code)
        for origin in (current.__cause__, current.__context__):
            if origin is not None and origin not in errors:
                errors.append(origin)


def _clean(text: str) -> str:
    return printable_lines(redacted(text))
