"""Hides keys and tokens in what a run prints and saves, by their value, name and usual shape.

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

# What keys and tokens are of: API_KEY, hf_token.
_OWNER = (
    r"api|access|secret|private|auth|oauth|bearer|client|service|account|session|security"
    r"|subscription|user|hub|bot|refresh|jwt|(?<![a-z])id|hf|huggingface|github|gh|gitlab|slack"
    r"|wandb|openai|anthropic|azure|gemini|google|mistral|cohere|groq|together|fireworks|deepinfra"
    r"|deepseek|openrouter|replicate|nvidia|perplexity|xai|dashscope"
)
_NAME = (
    r"(?i:"
    rf"[\w-]*(?:(?:{_OWNER})[_-]?(?:keys?|token)"  # api_key, my_hf_token
    r"|password|passwd|passphrase|authorization|credentials?)"  # db_password
    r"|[\w-]*[_-]secret|[\w-]*client_?secret"  # app-secret, clientsecret
    r"|-{0,2}(?:token|secret|auth))"  # token, --auth
    r"(?:_?\d+)?"  # api_key_2
    r"|(?:[A-Z\d_]*_)?(?:KEY|TOKEN|SECRET|PASS)"  # SMTP_PASS, of an environment variable
)
_SEPARATOR = r"(?::=|=>|[=:])"
# The sign in YAML before a value that stands in the next line, or in a list.
_YAML_SIGN = r"(?:(?:-|[|>][+-]?)\s+)?"
_VALUE = (
    r"""\\+["'][^"'\\]*(?:\\+["'])?"""  # \"abc\": JSON in a text of JSON
    r"""|[bfru]{0,2}"(?:\\.|[^"\\])*"?"""  # "abc", or b"abc" in Python
    r"""|[bfru]{0,2}'(?:\\.|[^'\\])*'?"""  # 'abc'
    r"""|\w{0,30}[(\[{][^)\]}]*[)\]}]?"""  # ["abc", "def"] or SecretStr(...)
    r"""|(?:(?:Bearer|Basic|Token)\s+)?[^\s,;&"'{}]+"""  # abc, or Bearer abc
)
_IN_ADDRESS = r"(?<=[?&])(?i:key|sig|x-amz-signature|x-goog-signature)="
# What looks like a named secret but is prose: "token: the" and "unexpected token: name".
_PROSE = r"(?i:token|secret|auth|key|pass):\s+(?:[A-Za-z]{1,15}|\d{1,7})(?![\w~+/=-])"
# The start of a word, also behind the \n of a text that is quoted.
_START = r"(?:(?<![\w-])|(?<=\\[nrt]))"
_SECRET_NAME = re.compile(_NAME)
_NAMED = re.compile(
    rf"""{_START}(?!{_PROSE})"""
    rf"""(?P<name>(?:{_NAME})"""  # The group "name" has what stands before the value:
    r"""(?:"""
    rf"""\\*["']\s*(?:{_SEPARATOR}|,)"""  # "api_key": in JSON, or 'api_key',
    rf"""|>|\s*{_SEPARATOR}|%3[AaDd]"""  # api_key> in XML, api_key =, api_key%3D in an address
    rf""")\s*{_YAML_SIGN}"""
    rf"""|(?=--)(?:{_NAME})\s+"""  # --api-key abc
    rf"""|{_IN_ADDRESS})"""  # ?key=abc
    rf"""(?!\\*["']?\[REDACTED\])(?P<value>{_VALUE})""",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))(?:"  # Where (?=...\d) stands, a token has a digit.
    r"(?:hf|hf_jwt|hf_oauth|gh[oprsu]|npm|tgp_v1)_"  # Hugging Face, GitHub, npm, Together
    r"(?:[A-Za-z0-9]{30,}|(?=[A-Za-z]{0,100}\d)[A-Za-z0-9]{16,})[\w-]*"
    # How keys of OpenAI and of others begin
    r"|(?:c?sk-|pk-|sk_live_|gsk_|r8_|xai-|glpat-|pplx-|nvapi-|xox[abeprs]-|github_pat_"
    r"|AIza|ya29\.)"
    r"(?=[\w-]{0,100}\d)[\w-]{16,}"
    r"|A[KS]IA[A-Z\d]{16}"  # Amazon's access keys
    r"|(?:[Bb]earer|Basic)\s+(?=[\w.~+/=-]{0,100}\d)[\w.~+/=-]{8,}"  # a header of HTTP
    r"|eyJ[\w-]{8,500}\.eyJ[\w.-]+"  # a JSON Web Token
    r"|(?<=-----BEGIN )[A-Z ]{0,20}PRIVATE KEY-----[^-]*)"
)
_USER_IN_ADDRESS = re.compile(r"""(?<=://)[^/\s"<>\\]+@""")

# Values that are not hidden wherever they occur: "key=1" must not hide every 1, nor a placeholder
# that a local server is given as its key ("EMPTY") every use of that word.
_NO_SECRET = re.compile(r".{,7}|[A-Za-z_-]{,15}", re.DOTALL)
# The harness truncates messages anywhere, also within a secret. So the first 12 characters of a
# secret are hidden too, if they are no word, path or address.
_BEGINNING = 12
_NO_WORD = re.compile(r"(?=.*(?:[^A-Za-z]|[a-z][A-Z]))[\w.~+=-]+")
given_secrets: set[str] = set()
"""The secrets among the arguments of models, as `remember` adds them."""


def remember(model_args: object) -> None:
    """Hide the secrets among the arguments of a model from now on.

    Args:
        model_args: a text ``name=value,...``, or a mapping.
    """
    if isinstance(model_args, Mapping):
        for name, value in model_args.items():
            if is_secret_name(str(name)):
                given_secrets.add(str(value))
    else:
        # In "pretrained=x,api_key='abc'" the pattern finds "api_key=" (name) and "'abc'" (value).
        for argument in _NAMED.finditer(str(model_args)):
            given_secrets.add(argument["value"].strip("\"'"))


# A run asks for each variable of the environment once for each of its samples.
@lru_cache(maxsize=1024)
def is_secret_name(name: str) -> bool:
    """Whether an option, argument or variable of this name holds a secret."""
    return bool(_SECRET_NAME.fullmatch(name))


def without_secrets(value: Any) -> Any:
    """A copy of a value with `HIDDEN` in place of known secrets and of what looks like a token.

    For the answers that a run saves: their words are left alone otherwise (see `redacted`).

    Args:
        value: a text, or a value of JSON with texts in it.
    """
    return _hide(value, _secrets_pattern(), by_name=False)


def redacted(value: Any) -> Any:
    """A copy of a value with `HIDDEN` in place of all that may be a secret, for logs and settings.

    Hidden are known secrets, what looks like a token, what stands behind or under a name like
    ``api_key``, and passwords in addresses.

    Args:
        value: a text, or mappings and lists of any values; other objects become texts.
    """
    return _hide(value, _secrets_pattern(), by_name=True)


def _hide(value: Any, secrets: re.Pattern[str], by_name: bool) -> Any:
    """A copy of a value, with all that it holds, without secrets.

    Args:
        value: as in `redacted`.
        secrets: the pattern of the known secrets.
        by_name: whether values with the name of a secret are hidden too, users and passwords in
            addresses as well, and other objects than texts and numbers become texts. If not, only
            known secrets and tokens are hidden.
    """
    if isinstance(value, Mapping):
        entries: dict[Any, Any] = {}
        for name, entry in value.items():
            if by_name and entry and is_secret_name(str(name)):
                entries[name] = HIDDEN
            else:
                entries[name] = _hide(entry, secrets, by_name)
        return entries
    if isinstance(value, list | tuple):
        return [_hide(entry, secrets, by_name) for entry in value]
    if by_name and not isinstance(value, str | int | float | bool | None):
        value = str(value)
    if not isinstance(value, str):
        return value

    text = secrets.sub(HIDDEN, value)
    text = _TOKEN.sub(HIDDEN, text)
    if by_name:
        text = _NAMED.sub(rf"\g<name>{HIDDEN}", text)  # "api_key=abc" to "api_key=[REDACTED]"
        text = _USER_IN_ADDRESS.sub(f"{HIDDEN}@", text)
    return text


def _secrets_pattern() -> re.Pattern[str]:
    """A pattern of the secrets in the environment and among the arguments of models.

    Values that are too short, or words, are left out (`_NO_SECRET`).
    """
    values = set(given_secrets)
    for name, value in os.environ.items():
        if is_secret_name(name):
            values.add(value)
    return _pattern_of_values(
        frozenset(value for value in values if not _NO_SECRET.fullmatch(value))
    )


@lru_cache(maxsize=4)
def _pattern_of_values(secrets: frozenset[str]) -> re.Pattern[str]:
    """A pattern of secrets; without secrets, a pattern that matches nothing.

    Also of truncated ones: the first `_BEGINNING` characters of a secret, and what follows them.
    """
    patterns: list[str] = []
    # The longest first, because a shorter one may be the beginning of it.
    for secret in sorted(secrets, key=len, reverse=True):
        patterns.append(re.escape(secret))
        beginning = secret[:_BEGINNING]
        # A beginning that is a word, a path or an address would hide that everywhere.
        if _NO_WORD.fullmatch(beginning):
            patterns.append(re.escape(beginning) + r"[\w+=/-]*")
    return re.compile("|".join(patterns) or "(?!)")
