"""Hides keys and tokens in what a run prints and saves: by their value, by their name and by their
usual shapes.

The harness logs the hub's token and prints the arguments of the model, and a server may repeat the
key that it was sent. Logs are what people paste into bug reports, and samples what they publish.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

HIDDEN = "[REDACTED]"
"""What stands in place of a secret; the harness's own word."""

_OWNER = (
    r"api|access|secret|private|auth|oauth|bearer|client|service|account|session|security"
    r"|subscription|user|hub"
)
_OWNER += r"|bot|refresh|jwt|(?<![a-z])id|hf|huggingface|github|gh|gitlab|slack|wandb"
_OWNER += (
    r"|openai|anthropic|azure|gemini|google|mistral|cohere|groq|together|fireworks|deepinfra"
    r"|deepseek"
)
_OWNER += r"|openrouter|replicate|nvidia|perplexity|xai|dashscope"
_NAME = (
    rf"(?i:[\w-]*(?:(?:{_OWNER})[_-]?(?:keys?|token)|password|passwd|passphrase|authorization|credentials?)"
    r"|[\w-]*[_-]secret|[\w-]*client_?secret|-{0,2}(?:token|secret|auth))(?:_?\d+)?"
    r"|(?:[A-Z\d_]*_)?(?:KEY|TOKEN|SECRET|PASS)"  # of an environment variable
)
_SEPARATOR = r"(?::=|=>|[=:])"
_YAML_SIGN = (  # behind which the value stands in the next line, or in a list
    r"(?:(?:-|[|>][+-]?)\s+)?"
)
_VALUE = (
    r"""\\+["'][^"'\\]*(?:\\+["'])?"""  # JSON in a text of JSON
    r"""|[bfru]{0,2}"(?:\\.|[^"\\])*"?|[bfru]{0,2}'(?:\\.|[^'\\])*'?|\w{0,30}[(\[{][^)\]}]*[)\]}]?"""
    r"""|(?:(?:Bearer|Basic|Token)\s+)?[^\s,;&"'{}]+"""
)
_IN_ADDRESS = r"(?<=[?&])(?i:key|sig|x-amz-signature|x-goog-signature)="
# As :data:`_NO_SECRET`: "token: the" is a sentence, and neither is "unexpected token: name" a
# secret.
_PROSE = r"(?i:token|secret|auth|key|pass):\s+(?:[A-Za-z]{1,15}|\d{1,7})(?![\w~+/=-])"
_START = r"(?:(?<![\w-])|(?<=\\[nrt]))"  # of a word, also behind the \n of a text that is quoted
_SECRET_NAME = re.compile(_NAME)
_NAMED = re.compile(
    rf"""{_START}(?!{_PROSE})"""
    rf"""(?P<name>(?:{_NAME})(?:\\*["']\s*(?:{_SEPARATOR}|,)|>|\s*{_SEPARATOR}|%3[AaDd])\s*{_YAML_SIGN}"""
    rf"""|(?=--)(?:{_NAME})\s+|{_IN_ADDRESS})"""
    rf"""(?!\\*["']?\[REDACTED\])(?P<value>{_VALUE})""",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:"
    r"(?:hf|hf_jwt|hf_oauth|gh[oprsu]|npm|tgp_v1)_(?:[A-Za-z0-9]{30,}|(?=[A-Za-z]{0,100}\d)[A-Za-z0-9]{16,})[\w-]*"
    r"|(?:c?sk-|pk-|sk_live_|gsk_|r8_|xai-|glpat-|pplx-|nvapi-|xox[abeprs]-|github_pat_|AIza|ya29\.)"
    r"(?=[\w-]{0,100}\d)[\w-]{16,}"
    r"|A[KS]IA[A-Z\d]{16}"
    r"|(?:[Bb]earer|Basic)\s+(?=[\w.~+/=-]{0,100}\d)[\w.~+/=-]{8,}"
    r"|eyJ[\w-]{8,500}\.eyJ[\w.-]+"  # a JSON Web Token
    r"|(?<=-----BEGIN )[A-Z ]{0,20}PRIVATE KEY-----[^-]*)"
)
_USER_IN_ADDRESS = re.compile(r"""(?<=://)[^/\s"<>\\]+@""")

# Not looked for by value: "key=1" must not hide every 1, nor the placeholders that local servers
# are given their word.
_NO_SECRET = re.compile(r".{,7}|[A-Za-z_-]{,15}", re.DOTALL)
# The harness cuts messages, and a secret in them, off anywhere: so much of it is hidden as well, if
# it is no word, path or address.
_BEGINNING = 12
_NO_WORD = re.compile(r"(?=.*(?:[^A-Za-z]|[a-z][A-Z]))[\w.~+=-]+")
given_secrets: set[str] = set()


def remember(model_args: object) -> None:
    """Add the secrets among the arguments of a model, a text ``name=value,...`` or a mapping, to
    those hidden.
    """
    if isinstance(model_args, Mapping):
        values = [
            str(value) for name, value in model_args.items() if _SECRET_NAME.fullmatch(str(name))
        ]
    else:
        values = [argument["value"].strip("\"'") for argument in _NAMED.finditer(str(model_args))]
    given_secrets.update(values)


def is_secret_name(name: str) -> bool:
    """Whether an option, argument or variable of this name holds a secret."""
    return bool(_SECRET_NAME.fullmatch(name))


def without_secrets(value: Any) -> Any:
    """A value whose texts have :data:`HIDDEN` for known secrets and usual tokens: for what is saved
    of an answer.
    """
    return _hide(value, _known_secrets(), by_name=False)


def redacted(value: Any) -> Any:
    """As :func:`without_secrets`, also for what stands under a name like ``api_key``, and passwords
    in addresses.
    """
    return _hide(value, _known_secrets(), by_name=True)


def _hide(value: Any, known: re.Pattern[str], by_name: bool) -> Any:
    """A value, and all that it holds, without secrets."""
    if isinstance(value, Mapping):
        return {name: _hide_entry(name, entry, known, by_name) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_hide(entry, known, by_name) for entry in value]
    if by_name and not isinstance(value, str | int | float | bool | None):
        value = str(value)
    if not isinstance(value, str):
        return value

    text = _TOKEN.sub(HIDDEN, known.sub(HIDDEN, value))
    if by_name:
        text = _USER_IN_ADDRESS.sub(f"{HIDDEN}@", _NAMED.sub(rf"\g<name>{HIDDEN}", text))
    return text


def _hide_entry(name: object, entry: Any, known: re.Pattern[str], by_name: bool) -> Any:
    if by_name and entry and _SECRET_NAME.fullmatch(str(name)):
        return HIDDEN
    return _hide(entry, known, by_name)


def _known_secrets() -> re.Pattern[str]:
    """A pattern of the secrets of the environment and of the arguments of the model."""
    secrets = {
        value for name, value in os.environ.items() if _SECRET_NAME.fullmatch(name)
    } | given_secrets
    return _pattern_of_values(
        frozenset(secret for secret in secrets if not _NO_SECRET.fullmatch(secret))
    )


@lru_cache(maxsize=4)
def _pattern_of_values(secrets: frozenset[str]) -> re.Pattern[str]:
    """A pattern of secrets, each whole or cut off; the longest first, for a shorter one may begin
    it.
    """
    values = []
    for secret in sorted(secrets, key=len, reverse=True):
        values.append(re.escape(secret))
        beginning = secret[:_BEGINNING]
        if _NO_WORD.fullmatch(beginning):
            values.append(re.escape(beginning) + r"[\w+=/-]*")
    return re.compile("|".join(values) or "(?!)")
