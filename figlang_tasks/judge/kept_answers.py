"""The answers of a language model, kept in a file as they arrive so that none is paid for twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from loguru import logger

from figlang_tasks.core import files
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge.server import Reply
from figlang_tasks.metrics.files import write_whole

NAME: Final = "model_answers.jsonl"


@dataclass(frozen=True)
class KeptAnswer:
    """What a model answered to one prompt.

    Attributes:
        key: `key_of` the model and the prompt.
        text: the model's answer.
        served_by: the model's name as the server has it.
        is_truncated: the answer ended at the limit of tokens.
        max_tokens: the limit of tokens when it was asked.
        tokens_read: tokens of the prompt as the server counted them; None if it did not.
        tokens_written: tokens of the answer, likewise.
    """

    key: str
    text: str
    served_by: str
    is_truncated: bool
    max_tokens: int
    tokens_read: int | None
    tokens_written: int | None


_FIELDS = {field.name for field in fields(KeptAnswer)}


def key_of(model: str, prompt: str) -> str:
    """The key of an answer: a digest of the model and the whole prompt, with the output in it."""
    return hashlib.sha256(json.dumps([model, prompt]).encode()).hexdigest()


class KeptAnswers:
    """The answers of one model about the same data, in a file.

    The file's first line is the origin (below), each other line is a `KeptAnswer` as JSON. The
    constructor reads what is there and writes nothing; call `open` once before the first `add`.

    Args:
        path: the file; it need not exist, nor its folder.
        origin: what the answers are about: the ``model``, and under ``samples`` what names the
            data, such as the digest of each samples file.

    Raises:
        FigLangError: the file holds answers of another model or about something else.
    """

    def __init__(self, path: Path, origin: Mapping[str, object]) -> None:
        """Read the answers that the file holds already."""
        self.path = path
        self._origin = dict(origin)
        self._by_key: dict[str, KeptAnswer] = {}
        if self.path.exists():
            self._read()

    @classmethod
    def in_folder(cls, folder: Path, origin: Mapping[str, object]) -> KeptAnswers:
        """Those in a folder that holds what the same command has written, or nothing.

        Raises:
            FigLangError: the folder holds something else.
        """
        kept_answers = cls(folder / NAME, origin)
        if not kept_answers.path.exists():
            files.check_is_free(folder)
        return kept_answers

    @property
    def is_empty(self) -> bool:
        """Whether there is no answer at all."""
        return not self._by_key

    def get(self, key: str, max_tokens: int) -> KeptAnswer | None:
        """The answer with this key; None if there is none, or it was cut at fewer tokens.

        An answer that was cut at a lower limit than `max_tokens` is to be asked again.
        """
        answer = self._by_key.get(key)
        if answer is not None and answer.is_truncated and answer.max_tokens < max_tokens:
            return None
        return answer

    def get_latest(self, key: str) -> KeptAnswer | None:
        """The answer with this key, even one that was cut at the limit; None if there is none."""
        return self._by_key.get(key)

    def open(self) -> None:
        """Make the folder and the file ready for `add`, before anything is paid for."""
        if not self.path.exists():
            write_whole(self.path, _line(self._origin))
        elif not self.path.read_bytes().endswith(b"\n"):  # the last line was cut by a kill
            self._append(b"\n")  # so that the next answer has a line of its own

    def add(self, key: str, reply: Reply, max_tokens: int) -> None:
        """Keep the reply to a question: for `get`, and at the end of the file.

        Args:
            key: `key_of` the model and the question.
            max_tokens: the limit with which it was asked.
        """
        answer = KeptAnswer(
            key=key,
            text=reply.text,
            served_by=reply.served_by,
            is_truncated=reply.is_truncated,
            max_tokens=max_tokens,
            tokens_read=reply.tokens_read,
            tokens_written=reply.tokens_written,
        )
        self._by_key[key] = answer
        self._append(_line(asdict(answer)))

    def _append(self, content: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(content)

    def _read(self) -> None:
        """Read the file into `_by_key`: its first line is the origin, each other one an answer.

        Raises:
            FigLangError: the answers are of another model or about another run.
        """
        json_objects = self._read_objects()
        origin = next(json_objects, {})  # {}: the file has no line that can be read
        if "model" not in origin:
            raise FigLangError(
                f"{self.path} does not begin with the model that answered: choose another --output"
            )
        if origin["model"] != self._origin["model"]:
            raise FigLangError(
                f"{self.path} holds answers of {origin['model']}, not of"
                f" {self._origin['model']}: choose another --output"
            )
        if origin.get("samples") != self._origin["samples"]:
            raise FigLangError(
                f"{self.path} holds answers about another run or sheet: choose another --output"
            )
        for json_object in json_objects:
            # An answer that lacks a field is left out, as if its question had not been asked.
            has_all_fields = json_object.keys() >= _FIELDS
            if has_all_fields:
                answer = KeptAnswer(**{name: json_object[name] for name in _FIELDS})
                self._by_key[answer.key] = answer

    def _read_objects(self) -> Iterator[dict[str, Any]]:
        """Yield the JSON object of each line; a line without one is left out with a warning.

        Such a line was cut by a kill.
        """
        content = files.read_file(self.path, files.MOST_BYTES_OF_SAMPLES)
        for number, line in enumerate(content.splitlines(), start=1):
            try:
                json_object = json.loads(line)
            except (ValueError, RecursionError):
                json_object = None  # not JSON, or nested too deeply
            if isinstance(json_object, dict):
                yield json_object
            elif line.strip():
                logger.warning(
                    f"figlang_tasks: {self.path}, line {number} is no answer and is left out"
                )


def _line(json_object: Mapping[str, object]) -> bytes:
    """A JSON object as a line of the file."""
    return (json.dumps(json_object) + "\n").encode("ascii")
