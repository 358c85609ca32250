"""The key of an export: which letter is which system, and what annotators must not see."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from figlang_tasks.judge import JudgeError

WRITTEN_BY = "figlang judge export"


@dataclass(frozen=True)
class System:
    """A system whose explanations are judged.

    Attributes:
        name: of the run.
        task: its task.
        samples: name of its samples file.
        sha256: hex digest of that file.
        scorer, signature: what its explanation scores were computed with; None if it has none, or is not known.
    """

    name: str
    task: str
    samples: str
    sha256: str
    scorer: str | None
    signature: str | None


@dataclass(frozen=True)
class Item:
    """A sample that is judged.

    Attributes:
        number: in the sheet, from 1.
        id: its released id.
        gold: 1 entailment, 0 contradiction.
        report_group: its part of the benchmark.
        systems: name of the system by letter.
        scores: ExplanationScore by letter; None where there is none.
    """

    number: int
    id: str
    gold: int
    report_group: str
    systems: Mapping[str, str]
    scores: Mapping[str, float | None]


@dataclass(frozen=True)
class _Signed:
    """A key as a file: a dataclass of what JSON holds."""

    @cached_property
    def code(self) -> str:
        """What every row of its sheets carries: a digest of all of it, no number to a spreadsheet program."""
        content = json.dumps(asdict(self), sort_keys=True).encode()
        return "s-" + hashlib.sha256(content).hexdigest()[:10]

    def content(self) -> bytes:
        """The file."""
        values = {"written_by": WRITTEN_BY, "sheet": self.code, **asdict(self)}
        return (json.dumps(values, indent=1) + "\n").encode("ascii")


@dataclass(frozen=True)
class Key(_Signed):
    """An export of explanations.

    Attributes:
        benchmark: its name.
        data: data of the samples: dataset, part and digest.
        seed: of the choice of samples and of the letters.
        systems: in the order that the runs were named in.
        items: in the order of the sheet.
    """

    benchmark: str
    data: str
    seed: int
    systems: tuple[System, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Picture:
    """A generated picture that is sorted.

    Attributes:
        number: of its item in the sheet, from 1.
        letter: within the item.
        system: what drew it.
        input: the kind of its prompt.
        prompt: the text that it was drawn from.
        file: its name in the folder of the system.
        sha256: hex digest of that file.
    """

    number: int
    letter: str
    system: str
    input: str
    prompt: str
    file: str
    sha256: str


@dataclass(frozen=True)
class PictureKey(_Signed):
    """An export of generated pictures.

    Attributes:
        benchmark, data, seed: as of `Key`.
        systems: their names.
        asked: how many pictures each system was asked for, by input.
        pictures: in the order of the sheet.
    """

    benchmark: str
    data: str
    seed: int
    systems: tuple[str, ...]
    asked: Mapping[str, int]
    pictures: tuple[Picture, ...]


def read(path: Path) -> Key | PictureKey:
    """Read a key.

    Raises:
        JudgeError: it is not readable, no key, or was changed.
    """
    key: Key | PictureKey
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        written_by, code = values.pop("written_by"), values.pop("sheet")
        if "pictures" in values:
            pictures = tuple(Picture(**picture) for picture in values.pop("pictures"))
            key = PictureKey(pictures=pictures, systems=tuple(values.pop("systems")), **values)
        else:
            systems = tuple(System(**system) for system in values.pop("systems"))
            items = tuple(Item(**item) for item in values.pop("items"))
            key = Key(systems=systems, items=items, **values)
        changed = written_by != WRITTEN_BY or key.code != code
    except OSError as error:
        raise JudgeError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise JudgeError(f"{path} is not a key: give the *.key.json that figlang judge export wrote") from error
    if changed:
        raise JudgeError(f"{path} was changed after figlang judge export wrote it: restore the original file")
    return key
