"""The answers of a run: given from a file where they are known, asked of the model otherwise.

The harness hands all requests to the method ``execute`` of an object that ``evaluate`` is given as its cache of
responses; ours is :class:`Answers`. What a model answers to our tasks becomes a text that can be stored, and with
``--use_cache`` it is stored batch by batch. The requests of other tasks go to the harness's own cache.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger
from PIL import Image

from figlang_tasks.core import interrupts, notes, redaction, score_requests, status
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import whole_characters
from figlang_tasks.models.ahead import THREADS, threads

if TYPE_CHECKING:
    from lmms_eval.api.instance import GenerationResult, Instance
    from lmms_eval.caching.response_cache import ResponseCache

BATCHES = 16
"""Batches whose keys are computed together, and that a class which works ahead or in parallel is asked for at once."""

IN_ROUNDS = "generate_until_agentic"
"""The harness's output type of tasks that ask again after an answer, row by row."""


class Answers:
    """Answers the requests of a run; a context, since it may show a bar of several calls.

    Args:
        tasks: ours, by name.
        store: where their answers are kept; None without ``--use_cache``.
        others: the harness's cache, for other tasks; None asks the model.
        seed: of what is drawn while a model answers.
    """

    def __init__(
        self,
        tasks: Mapping[str, Any],
        store: Store | None = None,
        others: ResponseCache | None = None,
        seed: Any = None,
    ) -> None:
        self._tasks, self._store, self._others, self._seed = tasks, store, others, seed
        self._bars = ExitStack()
        self._bar: Any = None
        self._rows: set[tuple[str, Any]] = set()  # of a task in rounds, those that were begun
        self._right: list[float] = []  # of each answer to a question whose accuracy is measured
        self._asked: Counter[str] = Counter()  # how often a request was asked in this run, by its digest
        self.halves = self.found = self.all = 0

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.close()
        if self.halves:
            logger.warning(
                f"figlang_tasks: {self.halves} answers with half of a surrogate pair, which is no character: U+FFFD "
                "stands in its place"
            )
        if self._store:
            status.tell(f"{self.found:,} of {self.all:,} answers are from the cache")

    def execute(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[Any]:
        """Answer requests in order; called by the harness.

        Pieces are cut by place, so that a run that goes on after another one asks for the same pieces, and a batch
        holds the same requests. All are one piece for a model class that :func:`answers_at_once`.
        """
        if not requests:
            return []
        answers: list[Any] = []
        pieces: list[tuple[bool, Sequence[Instance]]] = []
        for is_ours, group in groupby(requests, key=lambda request: request.task_name in self._tasks):
            members = list(group)
            at_once = not (is_ours and self._store) or answers_at_once(lm)
            size = len(members) if at_once else BATCHES * batch_size(lm)
            pieces += [(is_ours, members[start : start + size]) for start in range(0, len(members), size)]
        with self._progress(requests) as bar:
            for is_ours, piece in pieces:
                if is_ours:
                    answers += self._answer(lm, kind, piece)
                elif self._others:
                    answers += self._others.execute(lm, kind, piece)
                else:
                    answers += getattr(lm, kind)(piece)
                if bar is not None:
                    bar.update(len(answers) - bar.n)
                    if is_ours and not bar.disable and self._judge(piece, answers[-len(piece) :]):
                        bar.set_postfix_str(f"accuracy {sum(self._right) / len(self._right):.1%}")
        return answers

    def _judge(self, requests: Sequence[Instance], answers: Sequence[GenerationResult]) -> list[float]:
        """Judge answers as they will be judged at the end; whether each is right, of all so far."""
        for request, answer in zip(requests, answers, strict=True):
            task, (doc_id, _, split) = self._tasks[request.task_name], request.args[3:6]
            right = task.process_results(task.dataset_no_image[split][doc_id], [answer.text]).get("acc")
            if isinstance(right, float) and not (request.metadata or {}).get("__padding_only__"):
                self._right.append(right)
        return self._right

    @contextmanager
    def _progress(self, requests: Sequence[Instance]) -> Iterator[Any]:
        """One bar for several calls of the model, and for the many of a task in rounds."""
        first = requests[0]
        task = self._tasks.get(first.task_name)
        if task is not None and task.OUTPUT_TYPE == IN_ROUNDS:
            if self._bar is None:
                rows = sum(len(each.instances) for each in self._tasks.values() if each.OUTPUT_TYPE == IN_ROUNDS)
                self._bar = self._bars.enter_context(status.one_bar(range(rows)))
            self._rows.add((first.task_name, first.doc_id))
            self._bar.update(len(self._rows) - self._bar.n)
            yield None
            return
        self._bars.close()
        self._bar = None
        with status.one_bar(requests, moved_by_models=True) if self._store else nullcontext() as bar:
            yield bar

    def _answer(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[GenerationResult]:
        """The answers to some requests; what the model answers is stored batch by batch.

        A class with the attribute ``on_answer`` calls that with the number of a request and its answer. Others are
        asked for a batch at a time, unless they ask a server for several answers at a time.
        """
        if self._store is None or getattr(lm, "needs_no_cache", False):
            return self._ask(lm, kind, requests)
        keys, size = self._keys(lm, requests), batch_size(lm)
        answers = self._store.look_up(keys)
        self.all += len(keys)
        self.found += len(answers)
        if is_asked_at_once(lm) or answers_at_once(lm):
            batches = [range(len(keys))]
        else:
            batches = [range(start, min(start + size, len(keys))) for start in range(0, len(keys), size)]
        new: list[int] = []  # places of what is not stored yet

        def store(keep: Callable[[list[tuple[str, str, Any, str]]], None] = self._store.keep) -> None:
            keep([(keys[at], requests[at].task_name, requests[at].doc_id, answers[at].text) for at in new])
            new.clear()

        for batch in batches:
            missing = [place for place in batch if place not in answers]

            def take(number: int, answer: Any, missing: Sequence[int] = missing) -> None:
                answers[missing[number]] = self._text(answer)
                new.append(missing[number])
                if len(new) >= size:
                    store()

            lm.on_answer = take
            try:
                found = self._ask(lm, kind, [requests[place] for place in missing]) if missing else []
            finally:
                lm.on_answer = None  # what it is asked next may not be for us
            for number, answer in enumerate(found):
                if missing[number] not in answers:
                    take(number, answer)
            store()
        return [answers[place] for place in range(len(keys))]

    def _ask(self, lm: Any, kind: str, requests: Sequence[Instance]) -> list[GenerationResult]:
        with interrupts.time_to_keep(0):  # also where others get time to wait for the first process
            answers = getattr(lm, kind)(list(requests))
        return [self._text(answer) for answer in answers[: len(requests)]]  # some classes give one too many

    def _text(self, answer: Any) -> GenerationResult:
        """What a model class gave, as a text: what is none is a failed request."""
        from lmms_eval.api.instance import GenerationResult, unwrap_generation_output

        found, counts = (None, None) if answer is None else unwrap_generation_output(answer)
        text = notes.text_of(found)
        whole = whole_characters(text)  # half a surrogate pair, which JSON can spell, no file of UTF-8 holds
        self.halves += whole != text
        return GenerationResult(whole, counts)

    def _keys(self, lm: Any, requests: Sequence[Instance]) -> list[str]:
        """What each request is known by: what it shows, its settings, and how often it was asked before.

        Taken before the model is asked: some classes write into the settings.
        """
        different = list({id(request): request for request in requests}.values())  # repeated ones are the same object
        with threads(THREADS) as pool:  # pictures are decoded for this
            found = pool.map(lambda request: digest(lm, request, self._seed), different)
            digests = dict(zip(map(id, different), found, strict=True))
        keys = []
        for request in requests:
            known = digests[id(request)]
            padding = (request.metadata or {}).get("__padding_only__")  # the harness drops the answer
            row = f"{request.task_name} {request.doc_id} {known}"
            keys.append(f"{known}-{0 if padding else self._asked[row]}")
            self._asked[row] += not padding
        return keys


def batch_size(lm: Any) -> int:
    """What a model works on at a time; one that finds its batch size by itself counts as 1."""
    sizes = [getattr(lm, name, 1) for name in ("batch_size", "batch_size_per_gpu", "num_concurrent")]
    return max([1, *(size for size in sizes if isinstance(size, int))])


def answers_at_once(lm: Any) -> bool:
    """Whether a model is to get all requests in one call.

    It reuses work between requests (``answers_at_once``), or its client keeps connections of the event loop of a call,
    which the next call finds closed (``async_openai``).
    """
    of = getattr(lm, "of", type(lm))
    return getattr(lm, "answers_at_once", False) or of.__name__ == "AsyncOpenAIChat"


def is_asked_at_once(lm: Any) -> bool:
    """Whether a model is to get several batches at a time: it tells each answer, or has several requests on the way."""
    return hasattr(getattr(lm, "of", type(lm)), "on_answer") or getattr(lm, "num_concurrent", 1) != 1


# --- what a request is known by --------------------------------------------------------------------------------------


def digest(lm: Any, request: Instance, seed: Any = None) -> str:
    """SHA-256 of what the model gets to see: messages or text, pixels, candidates; of its settings, and of the data.

    Args:
        seed: counts where an answer is drawn.
    """
    from lmms_eval.caching.response_cache import is_deterministic

    first, second, doc_id, task, split = request.args[1:6]
    doc = lm.task_dict[task][split][doc_id]
    chat = callable(first)
    settings = second if chat else first
    shown = first(doc) if chat else [request.args[0], second(doc)]
    found = hashlib.sha256(b"chat" if chat else b"simple")
    found.update(getattr(lm, "given_template", "").encode())  # of a file, whose name alone is among the arguments
    _update(found, shown)
    _update(found, {**settings, "": doc.get("data")})
    if settings.get(score_requests.KEY) is not None:
        found.update(repr(score_requests.score_request(settings, doc)).encode())
    if not is_deterministic(request.request_type, settings):
        _update(found, seed)
    return found.hexdigest()


def _update(found: Any, value: Any) -> None:
    """Add a value; lengths and types keep different values from looking alike."""
    if isinstance(value, Image.Image):
        found.update(f"image {value.mode} {value.size} ".encode() + value.tobytes())
    elif isinstance(value, Mapping):
        found.update(f"mapping {len(value)} ".encode())
        for key in sorted(value):
            _update(found, key)
            _update(found, value[key])
    elif isinstance(value, list | tuple):
        found.update(f"list {len(value)} ".encode())
        for each in value:
            _update(found, each)
    else:
        found.update(json.dumps(value, default=repr).encode() + b" ")


def model_key(model: str, model_args: Any) -> str:
    """What a model is known by: its class and its arguments, of which no secret can be told from it."""
    from lmms_eval.utils import simple_parse_args_string

    given = simple_parse_args_string(model_args) if isinstance(model_args, str) else model_args
    return hashlib.sha256(json.dumps([model, given], sort_keys=True, default=str).encode()).hexdigest()


# --- the file --------------------------------------------------------------------------------------------------------

_TABLES = """
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, task TEXT, doc_id, answer TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS models (key TEXT PRIMARY KEY, facts TEXT NOT NULL);
"""
FILES = "figlang_*.db"
"""Of a process each."""


def folder_of(use_cache: str) -> Path:
    """The folder of ``--use_cache``: the harness takes the name of a database for that of its folder."""
    return Path(use_cache).parent if use_cache.endswith(".db") else Path(use_cache)


class Store:
    """Answers in a folder: each process writes a file of its own, and reads those of all.

    A failed request is never stored, nor is an empty answer: some classes give one after an error. What cannot be
    stored is tried again with later answers, and costs no run. SQLite's own journal is used: its log (WAL) is quicker
    (0.04 in place of 1.5 ms a batch), but not for folders that several machines share.

    Args:
        use_cache: the folder.
        model: :func:`model_key`.
        rank: of the process.

    Raises:
        FigLangError: a file is damaged.
    """

    def __init__(self, use_cache: str, model: str, rank: int = 0) -> None:
        folder = folder_of(use_cache)
        folder.mkdir(parents=True, exist_ok=True)
        self._named, self._model = use_cache, model
        self._waiting: list[tuple[Any, ...]] = []
        self._told: set[str] = set()
        own = folder / FILES.replace("*", str(rank))
        self._own = _opened(own)
        self._all = [self._own, *(_opened(path) for path in sorted(folder.glob(FILES)) if path != own)]

    def look_up(self, keys: Sequence[str]) -> dict[int, GenerationResult]:
        """The answers that are known, by the place of their key."""
        from lmms_eval.api.instance import GenerationResult

        query = "SELECT answer FROM answers WHERE key = ?"
        found = {}
        for place, key in enumerate(keys):
            for database in self._all:
                if row := database.execute(query, [f"{self._model}-{key}"]).fetchone():
                    found[place] = GenerationResult(row[0])
                    break
        return found

    def keep(self, answers: Iterable[tuple[str, str, Any, str]]) -> None:
        """Store answers, each with its key, task and document."""
        self._waiting += [
            (f"{self._model}-{key}", task, doc_id, redaction.without_secrets(answer))
            for key, task, doc_id, answer in answers
            if answer.strip() and not notes.is_no_answer(answer)
        ]
        if self._waiting and self._write("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", self._waiting):
            self._waiting = []

    def facts(self, of: str) -> dict[str, Any] | None:
        """What is known of a model that was loaded before."""
        query = "SELECT facts FROM models WHERE key = ?"
        rows = (database.execute(query, [f"{self._model}-{of}"]).fetchone() for database in self._all)
        return next((json.loads(row[0]) for row in rows if row), None)

    def keep_facts(self, of: str, facts: Mapping[str, Any]) -> None:
        """Store what is to be known of a model before it is loaded again."""
        self._write("INSERT OR REPLACE INTO models VALUES (?, ?)", [(f"{self._model}-{of}", json.dumps(facts))])

    def close(self) -> None:
        for database in self._all:
            database.close()

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> bool:
        try:
            with self._own:
                self._own.executemany(statement, rows)
            return True
        except sqlite3.Error as error:
            message = f"--use_cache {self._named}: answers could not be stored ({error})"
            if message not in self._told:
                self._told.add(message)
                notes.note(message)
                logger.error(
                    f"figlang_tasks: {message}. The run goes on. Make room: they are tried again with each later "
                    "answer; what cannot be stored by the end is asked again by the next run"
                )
            return False


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=60)
    try:
        (said,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise sqlite3.DatabaseError(said.splitlines()[-1])
        database.executescript(_TABLES)
    except sqlite3.DatabaseError as error:
        raise FigLangError(f"figlang_tasks: the answers in {path} cannot be used ({error}): remove it") from error
    return database
