"""Keeps keys and tokens out of what a run prints and saves, and what would steer a terminal out of logs.

The harness masks them in its results files. But it logs the hub's token, prints the arguments of the model, and saves
what a server says in place of an answer, which may repeat the key that it was sent. Logs are what people paste into bug
reports, and samples what they publish.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from loguru import logger

from figlang_tasks.core.text import printable_lines

HIDDEN = "[REDACTED]"
"""What stands in place of a secret; the harness's own word."""

# --- by name: name=value, name: value, "name": "value", --name value ---

_OF = r"api|access|secret|private|auth|oauth|bearer|client|service|account|session|user|hub|hf|github|wandb"
_NAME = (
    rf"(?:[\w-]*[_-])?(?:(?:{_OF})[_-]?(?:key|token)|password|passwd|authorization|credentials?)"
    r"|[\w-]+[_-]secret|token|secret|auth"
)
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_ASSIGNED = re.compile(
    rf"""(?<![\w-])(["']?-{{0,2}}(?:{_NAME})["']?\s*[=:]\s*|--(?:{_NAME})\s+)"""
    r"""(?!\[REDACTED\])(?P<value>"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|(?:(?:Bearer|Basic)\s+)?[^\s,;&"'{}]+)""",
    re.IGNORECASE,
)

# --- by shape ---

# Of the services that most people ask for data and answers: Hugging Face, GitHub, OpenAI and Anthropic, Google.
_SHAPE = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:hf|gh[oprsu])_[A-Za-z0-9]{30,}|(?:sk-|github_pat_|AIza)(?=[\w-]{0,200}\d)[\w-]{16,})[\w-]*"
)
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+@")  # user and password

# Behind =, a space, a bracket or a quote; an address has //.
_PATH = re.compile(
    r"""(?<![^\s,;:=|"'`\[({])(?!//)(?:file://|~|\.{1,2})?/[^\s,;|"'`\])}]+"""
    r"""|(?<![^\s,;=|"'`\[({])[\w.-]+(?:/[\w.-]+){2,}/?"""  # ORG/NAME is of a hub
)

# --- by value ---

# Not looked for wherever they stand: "key=1" must not hide every 1, nor "api_key=anything", which local servers are
# given, each "anything".
_SHORT = re.compile(r".{,7}|[A-Za-z_-]{,15}")
_BEGINNING = 12  # so much of a secret is hidden too: the harness cuts error texts off anywhere
_OPAQUE = re.compile(r"(?=.*(?:[^A-Za-z]|[a-z][A-Z]))[\w.~+=-]+")  # a beginning that no word, path or address has
given_secrets: set[str] = set()


def clean_logs() -> None:
    """Hide secrets, and what would steer a terminal, in all that loguru logs; safe to call again."""
    logger.configure(patcher=_clean_record)


def _clean_record(record: Any) -> None:
    record["message"] = _shown(record["message"])
    if record["exception"]:
        # loguru shows it as it is, with the values of variables: the message, and what was sent, among them.
        trace = "".join(traceback.format_exception(*record["exception"]))
        record["message"] += "\n" + _shown(trace.rstrip())
        record["exception"] = None


def remember(model_args: object) -> None:
    """Look from now on for the secrets among the arguments of a model, a text ``name=value,...`` or a mapping."""
    if isinstance(model_args, Mapping):
        values = [str(value) for name, value in model_args.items() if _SECRET_NAME.fullmatch(str(name))]
    else:
        values = [found["value"].strip("\"'") for found in _ASSIGNED.finditer(str(model_args))]
    given_secrets.update(value for value in values if not _SHORT.fullmatch(value))


def is_secret_name(name: str) -> bool:
    """Whether an option, argument or variable of this name holds a secret."""
    return bool(_SECRET_NAME.fullmatch(name))


def clean_error(error: BaseException) -> None:
    """Hide secrets, and what would steer a terminal, in the messages of an error and of those it comes from: a
    traceback shows them as they are."""
    found = [error]
    for each in found:
        each.args = tuple(_shown(value) if isinstance(value, str) else value for value in each.args)
        if isinstance(each, SystemExit) and isinstance(each.code, str):
            each.code = _shown(each.code)
        found += [other for other in (each.__cause__, each.__context__) if other is not None and other not in found]


def _shown(text: str) -> str:
    return printable_lines(redacted(text))


def without_secrets(value: Any) -> Any:
    """A value with :data:`HIDDEN` in its texts for secrets of the environment and of :func:`remember`, whole or cut.

    Also for what looks like a token of a well-known service. It is for what is saved: ``key: value`` may be anybody's.
    """
    named = {each for name, each in os.environ.items() if _SECRET_NAME.fullmatch(name) and not _SHORT.fullmatch(each)}
    pattern = _pattern(frozenset(named | given_secrets))
    return _changed(value, lambda text: pattern.sub(HIDDEN, text))


@lru_cache(maxsize=4)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str]:
    known = [re.escape(secret) for secret in sorted(secrets, key=len, reverse=True)]
    beginnings = {secret[:_BEGINNING] for secret in secrets}
    known += [re.escape(each) + r"[\w+=/-]*" for each in beginnings if _OPAQUE.fullmatch(each)]
    return re.compile("|".join([*known, _SHAPE.pattern]))


def redacted(value: Any) -> Any:
    """As :func:`without_secrets`, also for what stands under a name like ``api_key``, and passwords in addresses."""
    return _changed(without_secrets(value), _without_named, by_name=True)


def without_paths(text: str) -> str:
    """A text with paths of this machine cut down to the last name: ``[local]/model``."""
    return _PATH.sub(lambda found: "[local]/" + found[0].rstrip("/").rpartition("/")[2], text)


def _changed(value: Any, change: Callable[[str], str], by_name: bool = False) -> Any:
    """A value with all its texts changed; `by_name` hides what stands under the name of a secret."""
    if isinstance(value, Mapping):
        return {
            name: HIDDEN if by_name and each and _SECRET_NAME.fullmatch(str(name)) else _changed(each, change, by_name)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [_changed(each, change, by_name) for each in value]
    if by_name and not isinstance(value, str | int | float | bool | None):
        value = str(value)
    return change(value) if isinstance(value, str) else value


def _without_named(text: str) -> str:
    return _IN_ADDRESS.sub(f"{HIDDEN}@", _ASSIGNED.sub(rf"\1{HIDDEN}", text))
