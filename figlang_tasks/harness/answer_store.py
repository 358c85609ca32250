"""Answers of a model in files of SQLite, for ``--use_cache``."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from loguru import logger

from figlang_tasks.core import notes, redaction
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import is_blank, printable

if TYPE_CHECKING:
    from lmms_eval.api.instance import GenerationResult

_CREATE_TABLE = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, task TEXT, doc_id, answer TEXT NOT"
    " NULL)"
)
_COLUMNS_BY_TABLE = {"answers": ["key", "task", "doc_id", "answer"]}
_HEADER_BYTES = 100
"""The size of the header with which each file of SQLite begins."""


class StoredAnswer(NamedTuple):
    """A row of the table ``answers``; `key` is that of the request, `text` what the model said."""

    key: str
    task: str
    doc_id: object
    text: str


class Store:
    """Answers in a folder: each process writes a file of its own, and reads those of all.

    A failed request is never stored, nor is an empty answer: some classes of lmms-eval 0.7.3 give
    one after an error. What cannot be stored is tried again with later answers, and costs no run.
    SQLite's log (WAL) would be quicker than its journal, but it does not work in folders that
    several machines share.

    Args:
        folder_name: the folder, as ``--use_cache`` names it.
        model: the key of the model, `figlang_tasks.harness.identity.model_key`.
        rank: the number of this process among those of the run.
        seed: that of answers that are drawn.

    Attributes:
        database: the file of this process.

    Raises:
        FigLangError: the folder cannot be written to, or a file in it is damaged.
    """

    def __init__(self, folder_name: str, model: str, rank: int = 0, seed: object = None) -> None:
        self.folder_name = folder_name
        self.model = model
        self.seed = seed
        self._unsaved: list[StoredAnswer] = []
        self._logged_messages: set[str] = set()
        folder = Path(folder_name)
        if folder_name.endswith(".db"):
            # lmms-eval 0.7.3, too, takes the name of a database for that of its folder.
            folder = folder.parent
        path_of_process = folder / f"figlang_{rank}.db"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.database = _open_database(path_of_process, folder_name)
            # The first write shows whether there is room, and permission.
            self.database.execute("PRAGMA user_version = 1")
        except (OSError, sqlite3.OperationalError) as error:
            raise _unusable(folder_name, error) from error
        self._database_by_path = {path_of_process: self.database}
        for path in sorted(folder.glob("figlang_*.db")):
            if path != path_of_process:
                self._database_by_path[path] = _open_database(path, folder_name)

    def look_up(self, keys: Sequence[str]) -> dict[int, GenerationResult]:
        """The stored answers, by the index of their key in `keys`; other keys are left out.

        Raises:
            FigLangError: a file is damaged.
        """
        from lmms_eval.api.instance import GenerationResult

        answers: dict[int, GenerationResult] = {}
        for index, key in enumerate(keys):
            text = self._stored_text(f"{self.model}-{key}")
            if text is not None:
                answers[index] = GenerationResult(text)
        return answers

    def _stored_text(self, key: str) -> str | None:
        """The answer under a key, from the first file that has it; None if none has."""
        query = "SELECT answer FROM answers WHERE key = ?"
        for path, database in self._database_by_path.items():
            try:
                row = database.execute(query, [key]).fetchone()
            except sqlite3.Error as error:  # also of bytes that are not UTF-8
                raise _damaged(path, error) from error
            if row is None:
                continue
            (text,) = row
            if not isinstance(text, str):
                raise _damaged(path, f"an answer is of type {type(text).__name__}, not a text")
            return text
        return None

    def keep(self, answers: Iterable[StoredAnswer]) -> None:
        """Store answers, but for empty ones and failed requests; without known secrets.

        Answers that could not be stored before are tried again. Of two answers with one key, the
        first stays.
        """
        for answer in answers:
            if is_blank(answer.text) or notes.is_no_answer(answer.text):
                continue
            key = f"{self.model}-{answer.key}"
            text = redaction.without_secrets(answer.text)
            self._unsaved.append(answer._replace(key=key, text=text))
        if not self._unsaved:
            return
        try:
            with self.database:
                self.database.executemany(
                    "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", self._unsaved
                )
            self._unsaved = []
        except sqlite3.Error as error:
            self._log_once(f"--use_cache {self.folder_name}: answers could not be stored ({error})")

    def _log_once(self, message: str) -> None:
        """Log that answers could not be stored, each message once; note it for the run's end."""
        if message in self._logged_messages:
            return
        self._logged_messages.add(message)
        notes.note_failure(message)
        logger.error(
            f"figlang_tasks: {message}. The run goes on. Make room: they are tried again with each"
            " later answer; what cannot be stored by the end is asked again by the next run"
        )

    def close(self) -> None:
        """Try once more to store what could not be stored, and close all files."""
        self.keep([])
        for database in self._database_by_path.values():
            database.close()


# --- opening a file ---


def _open_database(path: Path, folder_name: str) -> sqlite3.Connection:
    """The database in a file, which is made if it does not exist.

    Args:
        path: the file.
        folder_name: its folder, as ``--use_cache`` names it, for messages.

    Raises:
        FigLangError: the file cannot be read or written, is damaged, or holds something else.
    """
    if path.exists() and not path.is_file():
        raise _damaged(path, "it is no ordinary file")
    if path.exists() and 0 < path.stat().st_size < _HEADER_BYTES:
        # SQLite takes such a file for a new one, and would write over it.
        raise _damaged(path, "file is not a database")
    try:
        database = sqlite3.connect(path, timeout=60)
        (report,) = database.execute("PRAGMA quick_check(1)").fetchone()
        if report != "ok":
            # A heading with the name of the database may stand above the problem.
            raise _damaged(path, report.splitlines()[-1])
        columns_by_table = _columns_by_table(database)
        if not columns_by_table:
            database.execute(_CREATE_TABLE)
    except sqlite3.OperationalError as error:
        raise _unusable(folder_name, f"{path}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path, error) from error

    if columns_by_table and columns_by_table != _COLUMNS_BY_TABLE:
        tables = [f"{name}: {', '.join(columns)}" for name, columns in columns_by_table.items()]
        contents = "; ".join(tables)
        raise _damaged(path, f"it is a database of something else, with {contents:.300}")
    return database


def _columns_by_table(database: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of each table and view, e.g. ``{"answers": ["key", ...], "view names": [...]}``.

    Tables that SQLite keeps for itself are left out.
    """
    tables_and_views = database.execute(
        "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    ).fetchall()
    columns_by_table: dict[str, list[str]] = {}
    for table_or_view, name in tables_and_views:
        if name.startswith("sqlite_"):
            continue
        title = name if table_or_view == "table" else f"view {name}"
        columns = database.execute("SELECT name FROM pragma_table_info(?)", [name])
        columns_by_table[title] = [column for (column,) in columns]
    return columns_by_table


def _damaged(path: Path, cause: object) -> FigLangError:
    return FigLangError(
        f"figlang_tasks: the answers in {path} cannot be used ({printable(cause)}): remove it, or"
        " name another folder after --use_cache"
    )


def _unusable(folder_name: str, cause: object) -> FigLangError:
    return FigLangError(
        f"figlang_tasks: --use_cache {folder_name}: {cause}. Name a folder that can be written to"
        " and has room"
    )
