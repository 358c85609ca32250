"""Keeps keys and tokens out of what a run prints.

The harness masks them in its results files. But it logs the hub's token among the arguments of its tracker, and prints
the arguments of the model, an ``api_key`` among them (lmms-eval 0.7.3, ``__main__.py``, lines 647 and 620); and logs
are what people paste into bug reports.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from loguru import logger

HIDDEN = "[REDACTED]"
"""What stands in place of a secret; the harness's own word."""

_NAME = r"(?:\w*[_-])?(?:api_?key|key|token|secret|password|passwd|pwd|authorization|auth|credentials?|bearer)"
_SECRET_NAME = re.compile(_NAME, re.IGNORECASE)
_OF_A_MODEL = re.compile(
    r"(?:pad|eos|bos|unk|sep|cls|mask|image|video|audio|max|min|num)[_-](?:token|key)", re.IGNORECASE
)
_SETTING = re.compile(r"[+-]?\d+(?:\.\d+)?|true|false|none|null", re.IGNORECASE)  # use_auth_token=True
# name=value, name: value, "name": "value", --name value
_ASSIGNED = re.compile(
    rf"""(?<![\w-])(["']?-{{0,2}}(?P<name>{_NAME})["']?\s*[=:]\s*|--(?P<option>{_NAME})\s+)"""
    r"""(?!\[REDACTED\])(?P<value>"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|(?:Bearer\s+)?[^\s,;&"'{}]+)""",
    re.IGNORECASE,
)
_RECOGNIZED = (
    (re.compile(r"\bBearer\s+(?!\[)[\w.~+/=-]+", re.IGNORECASE), f"Bearer {HIDDEN}"),
    (re.compile(r"(?<=://)[^/@\s]+@"), f"{HIDDEN}@"),  # user and password of an address
    (re.compile(r"\b(?:hf|sk|ghp|gho|xox[abp])[_-][\w-]{8,}"), HIDDEN),  # tokens of well-known services
)
_NO_SECRETS = ("PWD",)  # variables: the working directory
_SHORTEST = 8  # of a secret that is looked for wherever it stands: "key=1" must not hide every 1
_given: set[str] = set()


def hide_in_logs() -> None:
    """Hide secrets in every message that loguru logs, for all its handlers; safe to call again."""
    before = getattr(logger, "_core").patcher  # noqa: B009  (loguru has no other way to ask for it)
    if getattr(before, "__module__", None) == __name__:
        return

    def patch(record: Any) -> None:
        if before is not None:
            before(record)
        record["message"] = hidden(record["message"])

    logger.configure(patcher=patch)


def remember(model_args: object) -> None:
    """Look from now on for the secrets among the arguments of a model, a text ``name=value,...`` or a mapping."""
    named: Iterable[tuple[Any, Any]] = ()
    if isinstance(model_args, str):
        named = [(found["name"] or found["option"], found["value"]) for found in _ASSIGNED.finditer(model_args)]
    elif isinstance(model_args, Mapping):
        named = model_args.items()
    _given.update(str(value) for name, value in named if _is_secret(str(name), value) and _is_long(value))


def hidden(text: str) -> str:
    """Return a text without secrets: those of the environment (``HF_TOKEN``, ``OPENAI_API_KEY`` and whatever is called
    so), those of :func:`remember`, and what :func:`redacted` finds."""
    named = (value for name, value in os.environ.items() if _SECRET_NAME.fullmatch(name) and name not in _NO_SECRETS)
    values = set(filter(_is_long, named))
    for value in sorted(values | _given, key=len, reverse=True):  # the longer first: one may be the start of another
        text = text.replace(value, HIDDEN)
    return str(redacted(text))


def redacted(value: Any) -> Any:
    """Return a text, or mappings and lists of texts, with :data:`HIDDEN` in place of keys, tokens and passwords.

    Hidden is what stands under a name like ``api_key``, in a mapping or in a text like ``model=m,api_key=...``, user
    and password of an address, and what looks like a token of a well-known service.
    """
    if isinstance(value, Mapping):
        return {
            str(name): HIDDEN if each and _is_secret(str(name), each) else redacted(each)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [redacted(each) for each in value]
    if not isinstance(value, str | int | float | bool | None):
        value = str(value)
    if isinstance(value, str):
        value = _ASSIGNED.sub(_without_value, value)
        for pattern, shown in _RECOGNIZED:
            value = pattern.sub(shown, value)
    return value


def _without_value(found: re.Match[str]) -> str:
    secret = _is_secret(found["name"] or found["option"], found["value"])
    return f"{found[1]}{HIDDEN}" if secret else found[0]


def _is_secret(name: str, value: object) -> bool:
    if not _SECRET_NAME.fullmatch(name) or _OF_A_MODEL.fullmatch(name):
        return False
    a_setting = name.lower().endswith(("token", "key")) and not name.lower().endswith(("api_key", "apikey"))
    return not (a_setting and _SETTING.fullmatch(str(value)))


def _is_long(value: object) -> bool:
    return isinstance(value, str) and len(value) >= _SHORTEST
