"""Keeps keys and tokens out of what a run prints and saves, and what would steer a terminal out of logs.

The harness masks them in its results files. But it logs the hub's token among the arguments of its tracker, prints the
arguments of the model, an ``api_key`` among them (lmms-eval 0.7.3, ``__main__.py``, lines 647 and 620), and saves what
a server says in place of an answer, which may repeat the key that it was sent. Logs are what people paste into bug
reports, and samples what they publish.
"""

from __future__ import annotations

import base64
import json
import os
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from loguru import logger

from figlang_tasks.core.text import printable_lines

HIDDEN = "[REDACTED]"
"""What stands in place of a secret; the harness's own word."""

# --- by name: name=value, name: value, "name": "value", --name value -------------------------------------------------

_OF = r"api|access|secret|private|account|subscription|master|encryption|signing|ssh|client|service"
_TOKEN_OF = rf"{_OF}|auth|oauth|bearer|refresh|session|id|bot|user|hub|hf|huggingface|github|gitlab|slack|wandb|jwt"
# What stands under such a name is a secret, whatever it looks like ...
_SURE = (
    rf"(?:[\w-]*[_-])?(?:(?:{_OF})[_-]?key|(?:{_TOKEN_OF})[_-]?token|password|passwd|passphrase|pwd)"
    r"|[\w-]+[_-](?:secret|credentials?)"
)
# ... under such a one it is, if it looks like one: `sort_key=name`, `stop_token=END`, "Authorization: missing". These
# words alone, with a = behind them, are sure, too: `token=x`, but "Secret: patience".
_ALONE = ("token", "secret", "auth")
_MAYBE = r"(?:[\w-]*[_-])?(?:key|token|secret|authorization|auth|credentials?|bearer)"
_SURE_NAME = re.compile(_SURE, re.IGNORECASE)
_SECRET_NAME = re.compile(f"{_SURE}|{_MAYBE}", re.IGNORECASE)
_OF_A_MODEL = re.compile(
    r"(?:pad|eos|bos|unk|sep|cls|mask|image|video|audio|max|min|num)[_-](?:token|key)", re.IGNORECASE
)
_SETTING = re.compile(r"[+-]?\d+(?:\.\d+)?|true|false|none|null", re.IGNORECASE)  # use_auth_token=True
_SCHEME = r"(?:Bearer|Basic|Token|ApiKey)\s+"
_ASSIGNED = re.compile(
    rf"""(?<![\w-])(["']?-{{0,2}}(?P<name>{_SURE}|{_MAYBE})["']?\s*[=:]\s*|--(?P<option>{_SURE}|{_MAYBE})\s+)"""
    rf"""(?!\[REDACTED\])(?P<value>"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|(?:{_SCHEME})?[^\s,;&"'{{}}]+)""",
    re.IGNORECASE,
)
_WITH_SCHEME = re.compile(rf"{_SCHEME}\S+", re.IGNORECASE)

# --- by shape ---------------------------------------------------------------------------------------------------------

# What services give out, by their own documents and those of scanners for secrets. Lengths are a lower bound.
_SHAPES = (
    r"sk-(?=[\w-]{0,200}\d)[\w-]{16,}",  # OpenAI, Anthropic (sk-ant-), OpenRouter (sk-or-), DeepSeek, LiteLLM, Langfuse
    r"sk_[0-9a-f]{40,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}",  # ElevenLabs; Stripe
    r"(?:hf|api_org)_[A-Za-z0-9]{30,}",  # Hugging Face
    r"gh[oprsu]_[A-Za-z0-9]{30,}|github_pat_\w{22,}",  # GitHub
    r"gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-[\w.-]{20,}",  # GitLab
    r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}",  # Slack
    r"AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}|AQ\.[\w-]{40,}",  # Google
    r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])|ABSK[A-Za-z0-9+/]{60,}={0,2}",  # Amazon
    r"nvapi-[\w-]{20,}",  # NVIDIA
    r"r8_[A-Za-z0-9]{30,}",  # Replicate
    r"(?:gsk_|xai-|csk-|pplx-)[A-Za-z0-9]{20,}",  # Groq, xAI, Cerebras, Perplexity
    r"tgp_v1_[\w-]{20,}|fw_[A-Za-z0-9]{20,}",  # Together, Fireworks
    r"wandb_v1_[\w-]{20,}|lsv2_(?:pt|sk)_\w{20,}",  # Weights & Biases, LangSmith
    r"dapi[0-9a-f]{32}|dckr_pat_[\w-]{20,}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}",  # Databricks, Docker, npm, PyPI
    r"eyJ[\w-]{8,600}\.eyJ[\w-]{8,}\.[\w-]*",  # JSON web token
)
_SHAPE = re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(_SHAPES)})[\w-]*")
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)", re.S
)
_BEARER = re.compile(r"\b(Bearer|Basic)\s+(?P<value>[\w.~+/=-]+)", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+@")  # user and password

# --- paths: behind =, a space, a bracket or a quote; an address has // ----------------------------------------------

_PATH = re.compile(
    r"""(?<![^\s,;:=|"'`\[({])(?!//)(?:file://|~|\.{1,2}|[A-Za-z]:)?[/\\][^\s,;|"'`\])}]+"""
    r"""|(?<![^\s,;=|"'`\[({])[\w.-]+(?:[/\\][\w.-]+){2,}[/\\]?"""  # ORG/NAME is of a hub
)

# --- by value ---------------------------------------------------------------------------------------------------------

_NO_SECRETS = ("PWD", "OLDPWD")  # variables: folders
_SHORTEST = 8  # of a secret that is looked for wherever it stands: "key=1" must not hide every 1
_PLAIN = re.compile(r"[A-Za-z_-]{,15}")  # nor "api_key=anything", which local servers are given, each "anything"
_BEGINNING = 12  # so much of a secret is hidden too: error texts are cut off anywhere
_OPAQUE = re.compile(
    r"(?=.*(?:[^A-Za-z]|[a-z][A-Z]))[\w.~+=-]+"
)  # its beginning means nothing: no path, no address, no word
_given: set[str] = set()


def clean_logs() -> None:
    """Hide secrets, and what would steer a terminal, in all that loguru logs, for all its handlers; safe to call
    again."""
    before = getattr(logger, "_core").patcher  # noqa: B009  (loguru has no other way to ask for it)
    if getattr(before, "__module__", None) == __name__:
        return

    def patch(record: Any) -> None:
        if before is not None:
            before(record)
        record["message"] = _shown(record["message"])
        if record["exception"]:
            # loguru shows it as it is, with the values of variables: the message, and what was sent, among them.
            trace = "".join(traceback.format_exception(*record["exception"]))
            record["message"] += "\n" + _shown(trace.rstrip())
            record["exception"] = None

    logger.configure(patcher=patch)


def remember(model_args: object) -> None:
    """Look from now on for the secrets among the arguments of a model, a text ``name=value,...`` or a mapping."""
    named: Iterable[tuple[Any, Any]] = ()
    if isinstance(model_args, str):
        named = [(found["name"] or found["option"], found["value"]) for found in _ASSIGNED.finditer(model_args)]
    elif isinstance(model_args, Mapping):
        named = model_args.items()
    values = (value.strip("\"'") for name, value in named if isinstance(value, str) and _is_secret(str(name), value))
    _given.update(filter(_is_long, values))


def clean_error(error: BaseException) -> None:
    """Hide secrets, and what would steer a terminal, in the messages of an error and of those it comes from: a
    traceback shows them as they are."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is not None and id(each) not in seen:
            seen.add(id(each))
            each.args = tuple(_shown(value) if isinstance(value, str) else value for value in each.args)
            if isinstance(each, SystemExit) and isinstance(each.code, str):
                each.code = _shown(each.code)
            pending += [each.__cause__, each.__context__]


def _shown(text: str) -> str:
    return printable_lines(hidden(text))


def hidden(text: str) -> str:
    """Return a text without secrets: what :func:`without_secrets` and :func:`redacted` find."""
    return str(redacted(without_secrets(text)))


def without_secrets(value: Any) -> Any:
    """Return a text, or mappings and lists of texts, with :data:`HIDDEN` in place of secrets that are known, and of
    what looks like a token of a well-known service; for what is saved, where ``key: value`` may be anybody's words.

    Known are the values of the environment (``HF_TOKEN``, ``OPENAI_API_KEY`` and whatever is called so) and those of
    :func:`remember`, as they are, cut off, in base64 (within a longer text too), and as JSON or an address spells them.
    """
    return _without_known(value, _known())


def redacted(value: Any) -> Any:
    """Return a text, or mappings and lists of texts, with :data:`HIDDEN` in place of keys, tokens and passwords.

    Hidden is what stands under a name like ``api_key``, in a mapping or in a text like ``model=m,api_key=...``; under
    one like ``sort_key`` where it looks like a secret; user and password of an address; and what looks like a token of
    a well-known service.
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
        value = _BEARER.sub(_without_bearer, value)
        value = _IN_ADDRESS.sub(f"{HIDDEN}@", value)
        value = _without_shapes(value)
    return value


def without_paths(text: str) -> str:
    """Return a text with paths of this machine cut down to the last name: ``[local]/model``."""
    return _PATH.sub(lambda found: "[local]/" + re.split(r"[/\\]", found[0].rstrip("/"))[-1], text)


def _without_value(found: re.Match[str]) -> str:
    secret = _is_secret(found["name"] or found["option"], found["value"], ":" not in found[1])
    return f"{found[1]}{HIDDEN}" if secret else found[0]


def _without_bearer(found: re.Match[str]) -> str:
    return f"{found[1]} {HIDDEN}" if _looks_random(found["value"]) else found[0]


def _is_secret(name: str, value: object, is_argument: bool = True) -> bool:
    if not _SECRET_NAME.fullmatch(name) or _OF_A_MODEL.fullmatch(name):
        return False
    text = str(value).strip("\"'")
    if _SURE_NAME.fullmatch(name):
        return not (name.lower().endswith("token") and _SETTING.fullmatch(text))
    if is_argument and name.lower() in _ALONE:
        return not _SETTING.fullmatch(text)
    return _looks_random(text) or bool("auth" in name.lower() and _WITH_SCHEME.fullmatch(text))


def _looks_random(text: str) -> bool:
    """Whether a text has a part that is no word: letters and digits mixed, or very long. Names such as ``resnet50`` are
    words."""
    for part in re.findall("[A-Za-z0-9]+", text):
        mixed = re.search("[A-Za-z]", part) and re.search("[0-9]", part)
        if len(part) >= 20 or (len(part) >= 6 and mixed and not re.fullmatch(r"[A-Za-z]+\d{1,3}", part)):
            return True
    return bool(re.search(r"[A-Za-z0-9+/]{7,}={1,2}$", text))  # base64


def _without_known(value: Any, known: Sequence[str]) -> Any:
    if isinstance(value, str):
        for form in known:
            value = _without(value, form)
        return _without_shapes(value)
    if isinstance(value, Mapping):
        return {name: _without_known(each, known) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_known(each, known) for each in value]
    return value


def _without_shapes(text: str) -> str:
    return _SHAPE.sub(HIDDEN, _PRIVATE_KEY.sub(HIDDEN, text))


def _known() -> list[str]:
    """All forms of the secrets that are looked for, the longer first: one may be the start of another."""
    named = (value for name, value in os.environ.items() if _SECRET_NAME.fullmatch(name) and name not in _NO_SECRETS)
    forms = {form for value in {*filter(_is_long, named), *_given} for form in _forms(value)}
    return sorted(forms, key=lambda form: (-len(form), form))


@lru_cache(maxsize=256)
def _forms(secret: str) -> tuple[str, ...]:
    spelled = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], quote(secret, safe="")}
    content = secret.encode("utf-8", "surrogateescape")
    for before in range(3):  # base64 takes three bytes at a time: where in them the secret begins is not known
        whole = base64.b64encode(bytes(before) + content).decode("ascii")
        ours = whole[(0, 2, 3)[before] : len(whole) - (0, 3, 2)[(before + len(content)) % 3]]
        spelled |= {ours, ours.replace("+", "-").replace("/", "_")}
    return tuple(each for each in spelled if len(each) >= _SHORTEST)


def _without(text: str, secret: str) -> str:
    text = text.replace(secret, HIDDEN)
    beginning = secret[:_BEGINNING]
    if len(beginning) < _BEGINNING or not _OPAQUE.fullmatch(beginning) or beginning in HIDDEN:
        return text
    start = text.find(beginning)
    while start >= 0:
        length = len(os.path.commonprefix((text[start : start + len(secret)], secret)))
        text = text[:start] + HIDDEN + text[start + length :]
        start = text.find(beginning, start + len(HIDDEN))
    return text


def _is_long(value: str) -> bool:
    return len(value) >= _SHORTEST and not _PLAIN.fullmatch(value)
