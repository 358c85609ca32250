"""What the harness's answer cache (``--use_cache``) needs so that it can be trusted with our tasks.

As it is (lmms-eval 0.7.3), it stores answers when all of them are there, so a run that dies keeps none; it never looks
at what a run that died has left; and it knows a request by its text alone, so that it gives the old answer after a
picture, an exemplar or the messages of a chat model have changed. The module ``plugin`` puts the functions here around
the harness's own. Requests of other tasks are handled as before.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger
from PIL import Image

from figlang_tasks.core import notes, redaction, score_requests, status
from figlang_tasks.harness import saving
from figlang_tasks.models.ahead import THREADS, threads

if TYPE_CHECKING:
    from lmms_eval.api.instance import Instance
    from lmms_eval.caching.response_cache import ResponseCache

BATCHES = 16
"""Batches whose answers are stored together: what a run that dies can lose."""

_COLUMNS = "cache_key, request_type, task_name, doc_id, idx, gen_kwargs, response, created_at"
_OURS = "_figlang_tasks_ours"
_shown: dict[int, str] = {}  # digest of what a request shows, by the id of the request, while it is being executed


def create(
    original: Callable[..., ResponseCache], ours: Callable[[Any], bool], *args: Any, **kwargs: Any
) -> ResponseCache:
    """Open a cache, with the answers that runs which did not end have left in its folder.

    Args:
        original: ``ResponseCache.create``.
        ours: whether a task object is one of our tasks.
        args, kwargs: of `original`; ``task_dict`` and ``model_args`` are by name.
    """
    names = {name for name, task in tasks_of(kwargs.get("task_dict") or {}) if ours(task)}
    if names:
        kwargs["model_args"] = _without_secrets(kwargs.get("model_args") or "")
    cache = original(*args, **kwargs)
    setattr(cache, _OURS, names)
    if names:
        _keep_no_failures(cache)
        _go_on_without_room(cache)
        _keep_no_secrets(cache)
        _take_over(cache)
    return cache


def check_folder(use_cache: str) -> None:
    """Write to the folder of ``--use_cache`` as a run does, before a model is loaded.

    Raises:
        FigLangError: it cannot be written to, or there is no room for 64 KiB.
    """
    # The harness takes the name of a database for that of its folder.
    folder = Path(use_cache).parent if use_cache.endswith(".db") else Path(use_cache)
    files = [folder / "cache.db", folder / "cache.audit.jsonl"]
    saving.check_folder("--use_cache", use_cache, folder / "runs", files)


def execute(
    original: Callable[..., list[Any]], cache: ResponseCache, lm: Any, reqtype: str, requests: Sequence[Instance]
) -> list[Any]:
    """Answer requests, from the cache or by the model; those of our tasks piece by piece.

    Pieces are cut by place, so that a run that goes on after another one asks for the same pieces, and a batch holds
    the same requests. Of a model class with ``answers_at_once`` (it reuses work between requests) all are one piece;
    one with ``needs_no_cache`` is asked each time.
    """
    if getattr(lm, "needs_no_cache", False):
        return list(getattr(lm, reqtype)(requests))
    ours: set[str] = getattr(cache, _OURS, set())
    pieces: list[tuple[bool, list[Instance]]] = []
    for is_ours, group in groupby(requests, key=lambda request: request.task_name in ours):
        members = list(group)
        size = _piece_size(lm) if is_ours and not getattr(lm, "answers_at_once", False) else len(members)
        pieces += [(is_ours, members[start : start + size]) for start in range(0, len(members), size)]
    answers: list[Any] = []
    with status.one_bar(requests, moved_by_models=True) if len(pieces) > 1 else nullcontext() as bar:
        for is_ours, piece in pieces:
            with _showing(lm, piece if is_ours else []):
                answers += original(cache, lm, reqtype, piece)
            if bar is not None:
                bar.update(len(answers) - bar.n)
    return answers


def content_hash(original: Callable[[Instance], str], request: Instance) -> str:
    """What the key of an answer says about the content of a request: its text, and all that it shows."""
    shown = _shown.get(id(request))
    return original(request) + (f":{shown}" if shown else "")


def _without_secrets(model_args: str | dict[str, Any]) -> str | dict[str, Any]:
    """The arguments of a model as the database may keep them, with a digest of all of them where one is hidden.

    Other arguments must stay another model: what looks like a secret need not be one.
    """
    shown = redaction.redacted(model_args)
    if redaction.HIDDEN not in str(shown):
        return model_args
    given = json.dumps(model_args, sort_keys=True, default=str)
    digest = hashlib.sha256(given.encode()).hexdigest()[:16]
    return f"{shown},sha256={digest}" if isinstance(shown, str) else {**shown, "sha256": digest}


def tasks_of(found: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Names and tasks in the harness's ``task_dict``, from groups too."""
    for name, task in found.items():
        if isinstance(task, Mapping):
            yield from tasks_of(task)
        else:
            yield name, task


# --- pieces ----------------------------------------------------------------------------------------------------------


def _piece_size(lm: Any) -> int:
    """Batches times what the model works on at a time; one that finds its batch size by itself counts as 1."""
    sizes = [getattr(lm, name, 1) for name in ("batch_size", "batch_size_per_gpu", "num_concurrent")]
    return BATCHES * max([1, *(size for size in sizes if isinstance(size, int))])


# --- what a request shows --------------------------------------------------------------------------------------------


@contextmanager
def _showing(lm: Any, requests: Sequence[Instance]) -> Iterator[None]:
    try:
        different = list({id(request): request for request in requests}.values())  # repeated ones are the same object
        with threads(THREADS) as pool:  # pictures are decoded for this
            for request, digest in zip(different, pool.map(partial(_digest, lm), different), strict=True):
                _shown[id(request)] = digest
        yield
    finally:
        for request in requests:
            _shown.pop(id(request), None)


def _digest(lm: Any, request: Instance) -> str:
    """SHA-256 of what the model gets to see: messages or text, pixels of the images, candidates."""
    first, second, doc_id, task, split = request.args[1:6]
    doc = lm.task_dict[task][split][doc_id]
    chat = callable(first)
    settings = second if chat else first
    shown = first(doc) if chat else [request.args[0], second(doc)]
    digest = hashlib.sha256(b"chat" if chat else b"simple")
    digest.update(getattr(lm, "given_template", "").encode())  # of a file, whose name alone is among the arguments
    _update(digest, shown)
    if settings.get(score_requests.KEY) is not None:
        digest.update(repr(score_requests.score_request(settings, doc)).encode())
    return digest.hexdigest()[:32]


def _update(digest: Any, value: Any) -> None:
    """Add a value; lengths and types keep different values from looking alike."""
    if isinstance(value, Image.Image):
        digest.update(f"image {value.mode} {value.size} ".encode() + value.tobytes())
    elif isinstance(value, Mapping):
        digest.update(f"mapping {len(value)} ".encode())
        for key in sorted(value):
            _update(digest, key)
            _update(digest, value[key])
    elif isinstance(value, list | tuple):
        digest.update(f"list {len(value)} ".encode())
        for each in value:
            _update(digest, each)
    else:
        digest.update(json.dumps(value, default=repr).encode() + b" ")


# --- requests that got no answer -------------------------------------------------------------------------------------


def _keep_no_failures(cache: ResponseCache) -> None:
    """Let the cache store and give no request of ours that got no answer: it would stand in place of one for ever."""
    look_up, is_valid, log = cache._lookup, cache._is_valid_response, cache._log_to_audit

    def failed(response: Any) -> bool:
        return bool(_shown) and notes.is_no_answer(getattr(response, "text", response))

    def look_up_answer(key: str) -> Any:
        found = look_up(key)
        return None if failed(found) else found

    def valid(response: Any, reqtype: str) -> bool:
        return is_valid(response, reqtype) and not failed(response)

    def log_answer(*args: Any, **kwargs: Any) -> None:
        if not failed(args[5]):  # a run of the same name puts what is logged into its cache
            log(*args, **kwargs)

    setattr(cache, "_lookup", look_up_answer)  # noqa: B010  (methods, for this object alone)
    setattr(cache, "_is_valid_response", valid)  # noqa: B010
    setattr(cache, "_log_to_audit", log_answer)  # noqa: B010


def _keep_no_secrets(cache: ResponseCache) -> None:
    """Let the cache store an answer of ours without the key that a server may have repeated in it."""
    store, log = cache._store, cache._log_to_audit

    def store_answer(*args: Any) -> None:
        store(*args[:-1], redaction.without_secrets(args[-1]) if _shown else args[-1])

    def log_answer(*args: Any, **kwargs: Any) -> None:
        log(*args[:5], redaction.without_secrets(args[5]) if _shown else args[5], **kwargs)

    setattr(cache, "_store", store_answer)  # noqa: B010  (methods, for this object alone)
    setattr(cache, "_log_to_audit", log_answer)  # noqa: B010


# --- answers that cannot be stored -----------------------------------------------------------------------------------


def _go_on_without_room(cache: ResponseCache) -> None:
    """Let a run go on whose answers cannot be stored, and try them again with each later one: there may be room then.

    The harness would end it, and lose the results of one that is complete where the last merge fails.
    """
    store, log, finalize = cache._store, cache._log_to_audit, cache.finalize
    waiting: deque[tuple[Any, ...]] = deque()

    def tell(error: Exception) -> None:
        message = f"--use_cache {cache._cache_root}: answers could not be stored ({error})"
        if message not in told:
            told.add(message)
            notes.note(message)
            logger.error(
                f"figlang_tasks: {message}. The run goes on. Make room: they are tried again with each later answer; "
                "what cannot be stored by the end is asked again by the next run"
            )

    told: set[str] = set()

    def store_all(*args: Any) -> None:
        waiting.append(args)
        try:
            while waiting:
                store(*waiting[0])
                waiting.popleft()
        except (OSError, sqlite3.Error) as error:
            with suppress(sqlite3.Error):
                assert cache.db is not None
                cache.db.rollback()
            tell(error)

    def log_answer(*args: Any, **kwargs: Any) -> None:
        try:
            log(*args, **kwargs)
        except OSError as error:
            tell(error)

    def finish(*args: Any, **kwargs: Any) -> None:
        status.tell(f"{cache._hits:,} of {cache._hits + cache._misses + cache._skipped:,} answers are from the cache")
        try:
            finalize(*args, **kwargs)
        except (OSError, sqlite3.Error) as error:  # what this run has stored is taken over by the next
            tell(error)

    for name, method in (("_store", store_all), ("_log_to_audit", log_answer), ("finalize", finish)):
        setattr(cache, name, method)  # for this object alone


# --- answers of runs that did not end --------------------------------------------------------------------------------


def _take_over(cache: ResponseCache) -> None:
    """Copy the answers of runs that were never merged into this run's own file; keys tell which of them fit."""
    assert cache._cache_root is not None and cache.db is not None
    taken = 0
    for path in sorted(Path(cache._cache_root).glob("runs/*/rank_*.db")):
        if path == Path(cache.db_path) or (path.parent / ".merged").exists():
            continue
        try:
            with closing(sqlite3.connect(path, timeout=30)) as left:
                rows = left.execute(f"SELECT {_COLUMNS} FROM responses").fetchall()
        except sqlite3.Error as error:
            logger.warning(f"figlang_tasks: answers of an earlier run in {path} cannot be read ({error}): not used")
            continue
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        cache.db.executemany(f"INSERT OR IGNORE INTO responses ({_COLUMNS}) VALUES ({marks})", rows)
        taken += len(rows)
    cache.db.commit()
    if taken and status.in_first_process():
        logger.info(f"figlang_tasks: {taken} answers of runs that did not end are in the cache {cache._cache_root}")
