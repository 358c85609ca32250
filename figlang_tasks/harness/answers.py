"""The answers of a run: given from a file where they are known, asked of the model otherwise.

The harness hands all requests to the method ``execute`` of an object that ``evaluate`` is given as its cache of
responses; ours is :class:`Answers`. What a model answers to our tasks becomes a text that can be stored, and with
``--use_cache`` it is stored batch by batch. The requests of other tasks go to the harness's own cache.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger
from PIL import Image
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core import notes, redaction, score_requests, status
from figlang_tasks.core.chat_reply import ModelNames
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import is_blank, printable, whole_characters
from figlang_tasks.harness.api_replies import checked_replies, is_api
from figlang_tasks.models.ahead import THREADS, threads

if TYPE_CHECKING:
    from lmms_eval.api.instance import GenerationResult, Instance
    from lmms_eval.caching.response_cache import ResponseCache

BATCHES = 16
"""Batches that a class is asked for at once if none of them gets lost: it makes the next while it works on one."""

_SUMMARIES = "lmms_eval.models.model_utils.gen_metrics"  # logs a line for each call; its sums stand in the results

IN_ROUNDS = "generate_until_agentic"
"""The harness's output type of tasks that ask again after an answer, row by row."""


class Answers:
    """Answers the requests of a run.

    Args:
        tasks: ours, by name.
        store: where their answers are kept; None without ``--use_cache``.
        others: the harness's cache, for other tasks; None asks the model.
    """

    def __init__(self, tasks: Mapping[str, Any], store: Store | None, others: ResponseCache | None) -> None:
        self._tasks, self._store, self._others = tasks, store, others
        self._bar: Any = None
        self._right: list[float] = []  # of each answer to a question whose accuracy is measured
        self._asked: Counter[str] = Counter()  # how often a request was asked in this run, by its digest
        self._found = self._all = 0
        self._model_names = ModelNames()
        self.padded_pictures: dict[str, set[Any]] = {}  # by task, the documents of which a picture was padded

    def execute(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[Any]:
        """Answer requests in order; called by the harness."""
        answers: list[Any] = []
        for is_ours, group in groupby(requests, key=lambda request: request.task_name in self._tasks):
            members = list(group)
            if is_ours:
                answers += self._answer(lm, kind, members)
            elif self._others:
                answers += self._others.execute(lm, kind, members)
            else:
                answers += getattr(lm, kind)(members)
        # Now, because after this the processes wait for each other, and later one of them may end by Ctrl-C. Rounds are
        # not equally many in all processes, so of tasks in rounds the pictures of this process alone are known.
        is_in_rounds = any(
            request.task_name in self._tasks and self._tasks[request.task_name].OUTPUT_TYPE == IN_ROUNDS
            for request in requests
        )
        for task, documents in models.padded_pictures(lm, of_all_processes=not is_in_rounds).items():
            self.padded_pictures.setdefault(task, set()).update(documents)
        return answers

    def close(self) -> None:
        """End the bar, and tell how many answers were stored."""
        if self._bar is not None:
            self._bar.close()
        if self._store:
            status.tell(f"{self._found:,} of {self._all:,} answers are from the cache")

    @contextmanager
    def _one_bar(self, lm: Any, requests: Sequence[Instance]) -> Iterator[None]:
        """One bar for all of the run, where those of the model would be of the few requests that it gets at a time."""
        task = self._tasks[requests[0].task_name]
        if answers_at_once(lm) and task.OUTPUT_TYPE != IN_ROUNDS:
            yield
            return
        if self._bar is None:
            rounds = {
                name: (each.config.generation_kwargs or {}).get("max_agentic_steps", 1)
                for name, each in self._tasks.items()
            }
            all_requests = (request for each in self._tasks.values() for request in each.instances)
            total = sum(request.repeats * rounds[request.task_name] for request in all_requests)
            known = self._all - len(requests)
            hidden = not status.in_first_process()
            self._bar = tqdm(total=total, initial=known, desc="Model Responding", disable=hidden)
        before = self._bar.n
        logger.disable(_SUMMARIES)
        try:
            with status.without_bars():
                yield
        finally:
            logger.enable(_SUMMARIES)
        self._bar.update(before + len(requests) - self._bar.n)

    def _answer(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[GenerationResult]:
        """The answers to requests, in several calls of the model, between which the bar moves.

        A class that :func:`answers_at_once` gets all requests in one call. Others get several batches; where answers
        are stored, and the class does not tell them one by one, one batch. Calls are cut by place, so that a run that
        goes on has the same batches.
        """
        self._all += len(requests)
        keys, answers = [""] * len(requests), {}
        if self._store is not None:
            keys = self._keys(lm, requests, self._store.seed)
            answers = self._store.look_up(keys)
            self._found += len(answers)
        if len(answers) == len(keys):  # all are known: there is nothing to show a bar for
            return [answers[place] for place in range(len(keys))]
        with self._one_bar(lm, requests):
            tells_each = hasattr(type(lm), "on_answer")  # calls it with the number of a request and its answer
            batches = BATCHES if tells_each or self._store is None else 1
            size = len(requests) if answers_at_once(lm) else batch_size(lm) * batches
            for start in range(0, len(requests), size):
                missing = [at for at in range(start, min(start + size, len(requests))) if at not in answers]
                if missing:
                    found = self._ask(lm, kind, [requests[at] for at in missing], [keys[at] for at in missing])
                    answers |= zip(missing, found, strict=True)
        return [answers[place] for place in range(len(keys))]

    def _ask(self, lm: Any, kind: str, requests: Sequence[Instance], keys: Sequence[str]) -> list[GenerationResult]:
        """The model's answers to requests of one call, with a store kept batch by batch as it tells them."""
        told: dict[int, GenerationResult] = {}
        new: list[tuple[str, str, Any, str]] = []  # what is not stored yet
        store, size = self._store, batch_size(lm)
        # Asked again by the next run, whose results must tell of the padding, too.
        padded: Mapping[str, Collection[Any]] = getattr(lm, "padded_pictures", {})

        def take(number: int, answer: Any) -> None:
            request, told[number] = requests[number], _text(answer, lm)
            self._show(request, told[number].text)
            if store and request.doc_id not in padded.get(request.task_name, ()):
                new.append((keys[number], request.task_name, request.doc_id, told[number].text))
                if len(new) >= size:
                    store.keep(new)
                    new.clear()

        lm.on_answer = take
        try:
            with checked_replies(lm, self._model_names):
                found: list[Any] = getattr(lm, kind)(list(requests))[: len(requests)]  # some classes give one too many
        finally:
            lm.on_answer = None  # what it is asked next may not be for us
            if store:
                store.keep(new)  # also where the next request has ended the run
                new.clear()
        for number, answer in enumerate(found):
            if number not in told:
                take(number, answer)
        if store:
            store.keep(new)
        return [told[number] for number in range(len(requests))]

    def _show(self, request: Instance, answer: str) -> None:
        """Move the bar by one answer, which is judged as it will be at the end."""
        if self._bar is None or self._bar.disable or (request.metadata or {}).get("__padding_only__"):
            return
        self._bar.update()
        task, (doc_id, _, split) = self._tasks[request.task_name], request.args[3:6]
        if task.OUTPUT_TYPE == IN_ROUNDS:  # it may be no last answer
            return
        right = task.process_results(task.dataset_no_image[split][doc_id], [answer]).get("acc")
        if isinstance(right, float):
            self._right.append(right)
            self._bar.set_postfix_str(f"accuracy {sum(self._right) / len(self._right):.1%}", refresh=False)

    def _keys(self, lm: Any, requests: Sequence[Instance], seed: Any) -> list[str]:
        """What each request is known by: what it shows, its settings, and how often it was asked before.

        Taken before the model is asked: some classes write into the settings.
        """
        different = {id(request): request for request in requests}  # repeats of a request are one object
        with threads(THREADS) as pool:  # pictures are decoded for this
            found = pool.map(lambda request: digest(lm, request, seed), different.values())
            digests = dict(zip(different, found, strict=True))
        keys = []
        for request in requests:
            known = digests[id(request)]
            padding = (request.metadata or {}).get("__padding_only__")  # the harness drops the answer
            row = f"{request.task_name} {request.doc_id} {known}"
            keys.append(f"{known}-{0 if padding else self._asked[row]}")
            self._asked[row] += not padding
        return keys


def _text(answer: Any, lm: Any) -> GenerationResult:
    """What a model class gave, as a text that a file of UTF-8 can hold; what is no text is a failed request.

    So is an empty text of an API.
    """
    from lmms_eval.api.instance import GenerationResult, unwrap_generation_output

    found, counts = (None, None) if answer is None else unwrap_generation_output(answer)
    text = notes.text_of(found)
    if is_blank(text) and is_api(lm):
        text = notes.empty_answer()
    whole = whole_characters(text)
    if whole != text:
        logger.warning("figlang_tasks: in an answer U+FFFD stands for half of a surrogate pair, which is no character")
    return GenerationResult(whole, counts)


def batch_size(lm: Any) -> int:
    """What a model works on at a time; one that finds its batch size by itself counts as 1."""
    sizes = [getattr(lm, name, 1) for name in ("batch_size", "batch_size_per_gpu", "num_concurrent")]
    return max([1, *(size for size in sizes if isinstance(size, int))])


def answers_at_once(lm: Any) -> bool:
    """Whether a model is to get all requests in one call.

    It reuses work between requests (``answers_at_once``), or each call begins an event loop, and its client keeps
    connections of that of the call before, which are closed (``async_openai``).
    """
    code = getattr(inspect.unwrap(type(lm).generate_until), "__code__", None)
    return getattr(lm, "answers_at_once", False) or (code is not None and {"asyncio", "run"} <= {*code.co_names})


# --- what a request is known by ---


def digest(lm: Any, request: Instance, seed: Any = None) -> str:
    """SHA-256 of what the model gets to see, of its settings, of the data, and of the seed where an answer is drawn."""
    from lmms_eval.caching.response_cache import is_deterministic

    first, second, doc_id, task, split = request.args[1:6]
    doc = lm.task_dict[task][split][doc_id]
    chat = callable(first)
    settings = second if chat else first
    shown = first(doc) if chat else [request.args[0], second(doc)]
    scored = settings.get(score_requests.KEY) and repr(score_requests.score_request(settings, doc))
    drawn = None if is_deterministic(request.request_type, settings) else [seed]
    return content_digest(["chat" if chat else "simple", shown, settings, doc.get("data"), scored, drawn])


def content_digest(value: Any) -> str:
    """SHA-256 of what JSON holds, and of pixels."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_pixels).encode()).hexdigest()


def _pixels(value: Any) -> Any:
    if isinstance(value, Image.Image):
        return ["image", value.mode, value.size, hashlib.sha256(value.tobytes()).hexdigest()]
    return repr(value)


# --- the file ---

_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, task TEXT, doc_id, answer TEXT NOT NULL)"
_TABLES = {"answers": ["key", "task", "doc_id", "answer"]}  # with their columns
_HEADER_BYTES = 100  # with which each file of SQLite begins
_FILES = "figlang_*.db"  # of a process each


class Store:
    """Answers in a folder: each process writes a file of its own, and reads those of all.

    A failed request is never stored, nor is an empty answer: some classes give one after an error. What cannot be
    stored is tried again with later answers, and costs no run. SQLite's log (WAL) is quicker than its journal, but not
    for folders that several machines share.

    Args:
        named: the folder, as ``--use_cache`` names it.
        model: the key of the model, :func:`figlang_tasks.harness.identity.model_key`.
        seed: of what is drawn while a model answers.
    """

    def __init__(self, named: str, model: str, rank: int = 0, seed: Any = None) -> None:
        self.named, self.model, self.seed = named, model, seed
        self._waiting: list[tuple[Any, ...]] = []
        self._told: set[str] = set()
        # The harness takes the name of a database for that of its folder.
        folder = Path(named).parent if named.endswith(".db") else Path(named)
        own = folder / _FILES.replace("*", str(rank))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.own = _opened(own, named)
            self.own.execute("PRAGMA user_version = 1")  # writes
        except (OSError, sqlite3.OperationalError) as error:
            raise _unusable(named, error) from error
        others = [path for path in sorted(folder.glob(_FILES)) if path != own]
        self._all = {own: self.own, **{path: _opened(path, named) for path in others}}

    def look_up(self, keys: Sequence[str]) -> dict[int, GenerationResult]:
        """The answers that are known, by the place of their key."""
        from lmms_eval.api.instance import GenerationResult

        query = "SELECT answer FROM answers WHERE key = ?"
        found = {}
        for place, key in enumerate(keys):
            for path, database in self._all.items():
                try:
                    row = database.execute(query, [f"{self.model}-{key}"]).fetchone()
                except sqlite3.Error as error:  # also of bytes that are not UTF-8
                    raise _damaged(path, error) from error
                if row is None:
                    continue
                if not isinstance(row[0], str):
                    raise _damaged(path, f"an answer is of type {type(row[0]).__name__}, not a text")
                found[place] = GenerationResult(row[0])
                break
        return found

    def keep(self, answers: Iterable[tuple[str, str, Any, str]]) -> None:
        """Store answers, each with its key, task and document."""
        self._waiting += [
            (f"{self.model}-{key}", task, doc_id, redaction.without_secrets(answer))
            for key, task, doc_id, answer in answers
            if not is_blank(answer) and not notes.is_no_answer(answer)
        ]
        if not self._waiting:
            return
        try:
            with self.own:
                self.own.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", self._waiting)
            self._waiting = []
        except sqlite3.Error as error:
            message = f"--use_cache {self.named}: answers could not be stored ({error})"
            if message not in self._told:
                self._told.add(message)
                notes.note(message)
                logger.error(
                    f"figlang_tasks: {message}. The run goes on. Make room: they are tried again with each later "
                    "answer; what cannot be stored by the end is asked again by the next run"
                )

    def close(self) -> None:
        self.keep([])
        for database in self._all.values():
            database.close()


def _opened(path: Path, named: str) -> sqlite3.Connection:
    """The database in a file, which is made if it is not there; `named`: the folder, as ``--use_cache`` names it."""
    if path.exists() and not path.is_file():
        raise _damaged(path, "it is no ordinary file")
    if path.exists() and 0 < path.stat().st_size < _HEADER_BYTES:  # SQLite would overwrite it
        raise _damaged(path, "file is not a database")
    try:
        database = sqlite3.connect(path, timeout=60)
        (report,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if report != "ok":
            raise _damaged(path, report.splitlines()[-1])
        tables = _tables(database)
        if tables == {}:
            database.execute(_TABLE)
    except sqlite3.OperationalError as error:
        raise _unusable(named, f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from error
    if tables not in ({}, _TABLES):
        contents = "; ".join(f"{name}: {', '.join(columns)}" for name, columns in tables.items())
        raise _damaged(path, f"it is a database of something else, with {contents:.300}")
    return database


def _tables(database: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of each table and view, without those that SQLite keeps for itself."""
    rows = database.execute("SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
    tables = {}
    for kind, name in rows.fetchall():
        if not name.startswith("sqlite_"):
            columns = database.execute("SELECT name FROM pragma_table_info(?)", [name])
            tables[name if kind == "table" else f"{kind} {name}"] = [column for (column,) in columns]
    return tables


def _damaged(path: Path, cause: object) -> FigLangError:
    return FigLangError(
        f"figlang_tasks: the answers in {path} cannot be used ({printable(cause)}): remove it, or name another folder "
        "after --use_cache"
    )


def _unusable(named: str, cause: object) -> FigLangError:
    remedy = "Name a folder that can be written to and has room"
    return FigLangError(f"figlang_tasks: --use_cache {named}: {cause}. {remedy}")
