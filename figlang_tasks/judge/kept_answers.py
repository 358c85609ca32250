"""The answers of a language model, kept in a file as they arrive: no answer is asked, or paid for,
twice.
"""

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
        text: its answer.
        served_by: its name as the server has it.
        is_truncated: the answer ended at the limit of tokens.
        max_tokens: that limit.
        tokens_read: tokens of the prompt as the server counted them; None if it did not.
        tokens_written: the same of the answer.
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
    """What an answer is known by: the model, and the whole prompt with the output in it."""
    return hashlib.sha256(json.dumps([model, prompt]).encode()).hexdigest()


class KeptAnswers:
    """The answers of one model about one run, in the folder of its readings.

    Args:
        folder: need not exist.
        origin: what the answers are about: the model, and the digest of each samples file by name.

    Raises:
        FigLangError: the folder holds something else.
    """

    def __init__(self, folder: Path, origin: Mapping[str, Any]) -> None:
        self.path = folder / NAME
        self._origin = dict(origin)
        self._by_key: dict[str, KeptAnswer] = {}
        if self.path.exists():
            self._read()
        elif folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
            raise FigLangError(
                f"{folder} exists already and is not overwritten: remove it, or choose another"
                " --output"
            )

    @property
    def is_empty(self) -> bool:
        """Whether there is no answer at all."""
        return not self._by_key

    def get(self, key: str, max_tokens: int) -> KeptAnswer | None:
        """The answer by its key; None if it must be asked, as one that ended at a lower limit of
        tokens than now.
        """
        answer = self._by_key.get(key)
        if answer is not None and answer.is_truncated and answer.max_tokens < max_tokens:
            return None
        return answer

    def open(self) -> None:
        """Make the folder and the file, before anything is paid for."""
        if not self.path.exists():
            write_whole(self.path, _line(self._origin))
        elif not self.path.read_bytes().endswith(b"\n"):  # a kill has cut the last line
            self._append(b"\n")

    def add(self, key: str, reply: Reply, max_tokens: int) -> None:
        """Keep an answer at the end of the file."""
        answer = KeptAnswer(
            key,
            reply.text,
            reply.served_by,
            reply.is_truncated,
            max_tokens,
            reply.tokens_read,
            reply.tokens_written,
        )
        self._by_key[key] = answer
        self._append(_line(asdict(answer)))

    def _append(self, content: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(content)

    def _read(self) -> None:
        """Read the file: first what the answers are about, then an answer in each line."""
        lines = self._objects()
        origin = next(lines, {})
        if origin.get("model") != self._origin["model"]:
            raise FigLangError(
                f"{self.path} holds answers of {origin.get('model')}, not of"
                f" {self._origin['model']}: choose another --output"
            )
        if origin.get("samples") != self._origin["samples"]:
            raise FigLangError(
                f"{self.path} holds answers about another run: choose another --output"
            )
        for values in lines:
            if _FIELDS <= values.keys():
                answer = KeptAnswer(**{name: values[name] for name in _FIELDS})
                self._by_key[answer.key] = answer

    def _objects(self) -> Iterator[dict[str, Any]]:
        """The JSON objects of the file, a line each; a line that a kill has cut is left out."""
        content = files.read_file(self.path, files.MOST_BYTES_OF_SAMPLES)
        for number, line in enumerate(content.splitlines(), start=1):
            try:
                values = json.loads(line)
            except (ValueError, RecursionError):
                values = None
            if isinstance(values, dict):
                yield values
            elif line.strip():
                logger.warning(
                    f"figlang_tasks: {self.path}, line {number} is no answer and is left out"
                )


def _line(values: Mapping[str, Any]) -> bytes:
    return (json.dumps(values) + "\n").encode("ascii")
