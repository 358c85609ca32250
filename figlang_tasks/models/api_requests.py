"""Requests to a server that answers for a model: how long one may take, and which of them waits.

The harness's ``openai`` (lmms-eval 0.7.3) takes a ``timeout`` and leaves it unused, and no time-out of an HTTP client
ends an answer that comes byte by byte. :func:`prepare` gives both of the harness's classes, and ``figlang_openai``, one
limit for a whole request, from when it is sent until its answer is read. A request that is over it counts as one that
failed: it is asked again, ``max_retries`` times in all.
"""

from __future__ import annotations

import asyncio
import copy
import importlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from loguru import logger

from figlang_tasks.core import interrupts
from figlang_tasks.core.errors import FigLangError

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance

VARIABLE = "FIGLANG_REQUEST_TIMEOUT"
DEFAULT = 600.0
"""Seconds for one try of a request, unless the argument ``timeout`` or the environment sets another number."""

NOTICE = 60.0
"""Seconds after which requests that wait are named."""

_MODULES = (
    "lmms_eval.models.simple.openai",
    "lmms_eval.models.chat.openai",
    "lmms_eval.models.chat.async_openai",
)
_LIMIT = "_figlang_tasks_timeout"
_Result = TypeVar("_Result")
Wrap = Callable[[Any, str, Callable[..., Any]], None]


class NoAnswer(Exception):
    """A request was not answered within its time; the message names it."""


class Named(list[Any]):
    """Messages in the form of the API, and the request that they are for."""

    def __init__(self, messages: Sequence[Any], where: str) -> None:
        super().__init__(messages)
        self.where = where


class _NamedText(str):
    """The prompt of a simple model, which the harness sends as it is, and the request that it is for."""

    where: str


def name_of(request: Instance) -> str:
    """Task and document of a request, for messages."""
    _, _, _, doc_id, task, _ = request.args
    return f"task {task}, doc {doc_id}"


def limit(given: object) -> float:
    """Seconds for one try of a request: the argument ``timeout``, else the environment's, else :data:`DEFAULT`.

    Raises:
        FigLangError: it is no number above 0.
    """
    told, value = ("timeout", given) if given is not None else (VARIABLE, os.environ.get(VARIABLE) or DEFAULT)
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = math.nan
    if not 0 < seconds <= threading.TIMEOUT_MAX:
        raise FigLangError(
            f"figlang_tasks: {told}={value}: must be a number above 0, the seconds for one request to a server"
        )
    return seconds


# --- around the harness's classes ------------------------------------------------------------------------------------


def prepare(wrap: Wrap, model: object, model_args: object) -> None:
    """Put the limit around the API classes of the harness, if the model is one of them; safe to call again.

    Args:
        wrap: replaces a method by ``replacement(original, ...)``, once.
        model: name given to ``--model``, or an object.
        model_args: the arguments of the model, to check the time-out before anything is loaded.

    Raises:
        FigLangError: the time-out is not valid.
    """
    if isinstance(model, str):
        from lmms_eval import models

        try:
            path = models.MODEL_REGISTRY_V2.resolve(model).class_path
        except ValueError:
            return  # the harness says that there is none
        if "openai" not in path:
            return
        from lmms_eval.utils import simple_parse_args_string

        given = simple_parse_args_string(model_args) if isinstance(model_args, str) else model_args
        limit(given.get("timeout") if isinstance(given, Mapping) else None)
        for name in _MODULES:
            importlib.import_module(name)
    replacements: tuple[tuple[str, dict[str, Callable[..., Any]]], ...] = (
        ("OpenAICompatible", {"__init__": _init, "generate_until": _generate_until}),
        ("AsyncOpenAIChat", {"__init__": _init, "maybe_forward_with_tool": _forward}),
    )
    for name, methods in replacements:
        for module in _MODULES:
            owner = getattr(sys.modules.get(module), name, None)
            for method, replacement in methods.items():
                if owner is not None and method in vars(owner):
                    wrap(owner, method, replacement)
    if protocol := sys.modules.get("lmms_eval.protocol"):
        wrap(protocol.ChatMessages, "to_openai_messages", _to_openai_messages)


def _init(original: Callable[..., None], lm: Any, *args: Any, **kwargs: Any) -> None:
    setattr(lm, _LIMIT, limit(kwargs.get("timeout")))
    original(lm, *args, **kwargs)


def _limit_of(lm: Any) -> float:
    found = getattr(lm, _LIMIT, None)  # None: made before prepare was called
    return limit(None) if found is None else float(found)


def put_limit(lm: Any) -> None:
    """Put the limit around the client of an object of the harness's ``openai``, once."""
    completions = lm.client.chat.completions
    if not hasattr(completions, _LIMIT):
        setattr(completions, _LIMIT, True)
        completions.create = _with_limit(completions.create, _limit_of(lm), str(lm.client.base_url))
        hooks = lm.client._client.event_hooks
        lm.client._client.event_hooks = {**hooks, "request": [*hooks["request"], _ask_no_more]}


def _generate_until(original: Callable[..., list[Any]], lm: Any, requests: Sequence[Instance]) -> list[Any]:
    put_limit(lm)
    return original(lm, [_named(request) for request in requests])


_building = threading.local()  # .where: the request whose messages this thread makes


def _named(request: Instance) -> Instance:
    """A request whose messages, or prompt, know which it is."""
    first, second, *others = request.args
    where = name_of(request)
    named = copy.copy(request)
    if callable(second):  # chat: doc_to_messages
        make = second

        def doc_to_messages(*args: Any, **kwargs: Any) -> Any:
            _building.where = where
            return make(*args, **kwargs)

        named.arguments = (first, doc_to_messages, *others)
    else:
        text = _NamedText(first)
        text.where = where
        named.arguments = (text, second, *others)
    return named


def _to_openai_messages(original: Callable[..., list[Any]], messages: Any, *args: Any, **kwargs: Any) -> list[Any]:
    made = original(messages, *args, **kwargs)
    where = getattr(_building, "where", None)
    return made if where is None else Named(made, where)


def _where(messages: Any) -> str:
    if isinstance(messages, Named):
        return messages.where
    parts = [part for message in messages for part in message["content"] if isinstance(part, Mapping)]
    return next((part["text"].where for part in parts if isinstance(part.get("text"), _NamedText)), "a request")


def _with_limit(create: Callable[..., _Result], seconds: float, url: str) -> Callable[..., _Result]:
    def create_within(**payload: Any) -> _Result:
        where = _where(payload["messages"])
        payload["messages"] = list(payload["messages"])
        return _answered(lambda: create(**payload), where, seconds, url)

    return create_within


class _Asking(threading.Thread):
    """A request under way. A daemon: nobody waits for it at the end of the program."""

    def __init__(self, ask: Callable[[], Any]) -> None:
        super().__init__(name="figlang-request", daemon=True)
        self.ask = ask
        self.done = threading.Event()
        self.given_up = False
        self.answer: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.answer = self.ask()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()


def _ask_no_more(request: Any) -> None:
    """Hook of the HTTP client: it tries a request again by itself."""
    thread = threading.current_thread()
    if isinstance(thread, _Asking) and thread.given_up:
        raise NoAnswer("given up")


def _answered(ask: Callable[[], _Result], where: str, seconds: float, url: str) -> _Result:
    thread = _Asking(ask)
    until = time.monotonic() + seconds
    with _waiting(where, seconds, url):
        thread.start()
        while not thread.done.wait(min(0.2, max(0.0, until - time.monotonic()))):
            if interrupts.happened():
                thread.given_up = True
                raise KeyboardInterrupt  # so that no further try is made
            if time.monotonic() >= until:
                thread.given_up = True
                raise NoAnswer(_over(where, seconds, url))
    if thread.error is not None:
        raise thread.error
    answer: _Result = thread.answer
    return answer


async def _forward(original: Callable[..., Any], lm: Any, request: Instance, *args: Any, **kwargs: Any) -> Any:
    where, seconds, url = name_of(request), _limit_of(lm), str(lm.client.base_url)
    with _waiting(where, seconds, url):
        try:
            return await asyncio.wait_for(original(lm, request, *args, **kwargs), seconds)
        except asyncio.TimeoutError as error:
            raise NoAnswer(_over(where, seconds, url)) from error


def _over(where: str, seconds: float, url: str) -> str:
    return f"{where}: {url} has not answered within {seconds:g} seconds (model argument timeout, or {VARIABLE})"


# --- which requests wait ---------------------------------------------------------------------------------------------

_lock = threading.Lock()
_under_way: dict[object, tuple[float, str, float, str]] = {}  # since, where, limit, server
_teller: threading.Thread | None = None


@contextmanager
def _waiting(where: str, seconds: float, url: str) -> Iterator[None]:
    global _teller
    key = object()
    with _lock:
        _under_way[key] = (time.monotonic(), where, seconds, url)
        if _teller is None:
            _teller = threading.Thread(target=_tell, name="figlang-waiting", daemon=True)
            _teller.start()
    try:
        yield
    finally:
        with _lock:
            del _under_way[key]


def _tell() -> None:
    """Name the request that has waited longest, now and then, while there is one."""
    global _teller
    last = -math.inf
    while True:
        time.sleep(0.2)
        now = time.monotonic()
        with _lock:
            if not _under_way:
                _teller = None
                return
            since, where, seconds, url = min(_under_way.values())
            others = len(_under_way) - 1
        notice = min(NOTICE, seconds / 2)
        if now - since >= notice and now - last >= notice:
            last = now
            more = f"; {others} more are under way" if others else ""
            logger.warning(
                f"figlang_tasks: {where} has waited {now - since:.0f} of {seconds:g} seconds for {url}{more}. Set "
                f"another limit by the model argument timeout, or {VARIABLE}"
            )
