"""FLUTE's rows as documents: checks, ids, types, the held-out part; and the blind rows of the shared task.

Serves every dataset in FLUTE's schema (FLUTE itself and figlang_mini_flute).
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import re
import reprlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.core import hub
from figlang_tasks.core.data_id import DataId
from figlang_tasks.metrics.intervals import linked
from figlang_tasks.scoring.records import flute_scopes

if TYPE_CHECKING:
    import datasets

LABELS = {"Entailment": 1, "Contradiction": 0}
REPORT_GROUPS = ("sarcasm", "simile", "metaphor", "idiom", "creative_paraphrase")
SCOPES = tuple(dict.fromkeys(scope for group in REPORT_GROUPS for scope in (group, *flute_scopes(group)[1:])))
PARTS = ("heldout", "rest", "train")
COLUMNS = ("id", "premise", "hypothesis", "label", "explanation", "type")
USE_THE_RELEASE = "Use the files of the original release."

_TYPES = {name.replace("_", ""): name for name in REPORT_GROUPS}  # Sarcasm, CreativeParaphrase, in any case

RELEASED_COUNTS = {
    "FLUTE": {
        ("sarcasm", "Entailment"): 1050,
        ("sarcasm", "Contradiction"): 2216,
        ("simile", "Entailment"): 625,
        ("simile", "Contradiction"): 625,
        ("metaphor", "Entailment"): 625,
        ("metaphor", "Contradiction"): 625,
        ("idiom", "Entailment"): 884,
        ("idiom", "Contradiction"): 884,
    }
}
"""Rows by portion (sarcasm with its paraphrases) and label, counted in the released file."""

HELDOUT_SEED = "figlang_tasks FLUTE held-out 1"
HELDOUT_SIZES = {
    ("sarcasm", "Entailment"): 241,
    ("sarcasm", "Contradiction"): 509,
    ("simile", "Entailment"): 125,
    ("simile", "Contradiction"): 125,
    ("metaphor", "Entailment"): 125,
    ("metaphor", "Contradiction"): 125,
    ("idiom", "Entailment"): 125,
    ("idiom", "Contradiction"): 125,
}
"""1,500 rows in the portions of the shared task's test set; labels within a portion as in the released rows."""

HELDOUT_DIGEST = "d75fcb192f3c"
"""First 12 hex digits of the SHA-256 over the sorted ids of the held-out part, joined by newlines."""

BLIND_FILE = "flute_codalab_test_blind.jsonl"
BLIND_ROWS = 1500
BLIND_COLUMNS = ("codalab_id", "id", "premise", "hypothesis")


@dataclass(frozen=True)
class Row:
    """A row of the release, checked.

    Attributes:
        source_id: the release's `id`, which several rows share, within a type and across types.
        premise, hypothesis, label, explanation: as released.
        report_group: one of :data:`REPORT_GROUPS`.
        key: SHA-256 (hex) of the texts and the label, white space collapsed.
    """

    source_id: str
    premise: str
    hypothesis: str
    label: str
    explanation: str
    report_group: str

    @property
    def portion(self) -> str:
        """The paper's portion of the data: a paraphrase belongs to the sarcasm that was made from it."""
        return "sarcasm" if self.report_group == "creative_paraphrase" else self.report_group

    @property
    def key(self) -> str:
        return _sha256(*map(_plain, (self.premise, self.hypothesis, self.label, self.explanation)))

    @property
    def pair(self) -> tuple[str, str]:
        return _folded(self.premise), _folded(self.hypothesis)


# Rules of our own for white space and case: Python's follow its Unicode version.
_SPACE = re.compile("[ \t\r\n\f\v\u00a0]+")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text).strip(" ")


def _folded(text: str) -> str:
    return _plain(text).translate(_LOWER)


def _sha256(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


# --- documents -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=8)
def load(name: str, part: str, prompt: str = "v2", scorer: str = "") -> datasets.Dataset:
    """Return the documents of one part of a dataset.

    Columns: `dataset`; `data` (dataset, part, and the first 12 hex digits of the SHA-256 over its sorted texts: the
    same for the same rows in any order and any file format); `id` (`{portion}-{id of the release}-{8 hex digits of the
    texts}`, unique); `premise`, `hypothesis`, `label`, `explanation`; `report_group`; `family`
    (the first id of the rows that share a sentence with it, :func:`families`); `revision` (commit on the hub,
    ``local`` or ``package``); and, for lm-eval, which hands task functions nothing but the document, the options
    `prompt` and `scorer`.

    The held-out part is in the order of a hash, so that ``--limit`` takes a mixture; the others are in released order.

    Args:
        name: a dataset of :data:`figlang_tasks.core.hub.SOURCES` in FLUTE's schema.
        part: ``heldout`` and ``rest`` (which share no sentence), or ``train``: all rows.
        prompt: ``v2`` or ``v1``.
        scorer: explanation scorer of the task; "" for the paper's.

    Raises:
        hub.DataError: data not available, or a row that is not valid; the message names file and row.
    """
    import datasets

    if part not in PARTS:
        raise hub.DataError(f"{name} has no part {part!r}; it has: {', '.join(PARTS)}")
    rows, revision = _rows(name)
    ids = row_ids(rows)
    chosen = list(range(len(rows)))
    if part != "train":
        held = heldout(rows)
        digest = _sha256(*sorted(ids[number] for number in held))[:12]
        if name in RELEASED_COUNTS and digest != HELDOUT_DIGEST:
            logger.warning(
                f"figlang_tasks: {name}: the texts differ from those that the held-out part was written down for "
                f"({digest}, not {HELDOUT_DIGEST}): compare results only with others of the same digest of data"
            )
        chosen = held if part == "heldout" else sorted(set(chosen) - set(held))
        logger.info(
            f"figlang_tasks: {name} is released with a train split only ({len(rows)} rows); this is the part {part!r}, "
            f"{len(chosen)} rows (seed {HELDOUT_SEED!r})"
        )
    texts = sorted("\n".join((rows[number].report_group, ids[number], rows[number].key)) for number in chosen)
    found = [rows[number] for number in chosen]
    family_of = {number: min(ids[member] for member in family) for family in families(rows) for number in family}
    return datasets.Dataset.from_dict(
        {
            "dataset": [name] * len(found),
            "data": [str(DataId(name, part, _sha256(*texts)[:12]))] * len(found),
            "id": [ids[number] for number in chosen],
            "premise": [row.premise for row in found],
            "hypothesis": [row.hypothesis for row in found],
            "label": [row.label for row in found],
            "explanation": [row.explanation for row in found],
            "report_group": [row.report_group for row in found],
            "family": [family_of[number] for number in chosen],
            "revision": [revision] * len(found),
            "prompt": [prompt] * len(found),
            "scorer": [scorer] * len(found),
        }
    )


def row_ids(rows: Sequence[Row]) -> list[str]:
    """A name for each row that depends on its content alone; of rows with the same content the later ones count up."""
    seen: Counter[str] = Counter()
    ids = []
    for row in rows:
        row_id = f"{row.portion}-{row.source_id}-{row.key[:8]}"
        seen[row_id] += 1
        ids.append(row_id if seen[row_id] == 1 else f"{row_id}-{seen[row_id]}")
    return ids


# --- the held-out part -----------------------------------------------------------------------------------------------


def families(rows: Sequence[Row]) -> list[list[int]]:
    """The rows that belong together, as indices: those linked by a sentence or by the release's id within a portion.

    A premise stands in up to six rows (with both labels), a hypothesis in up to four. White space and the case of
    ASCII letters are ignored.
    """
    found: dict[int, list[int]] = {}
    for number, first in enumerate(linked([(*row.pair, (row.portion, row.source_id)) for row in rows])):
        found.setdefault(first, []).append(number)
    return list(found.values())


def heldout(rows: Sequence[Row]) -> list[int]:
    """Draw the held-out rows: a rule on texts alone, whatever the order of the rows or the version of Python.

    1. Rows are grouped into :func:`families`. A family with a sentence pair that stands there twice, or with an empty
       explanation, is left out: the pair would count twice or has two answers, the explanation cannot be scored.
    2. Each row has the number SHA-256(seed, premise, hypothesis; newlines between, white space collapsed), each family
       the smallest of its rows'.
    3. Families are taken in the order of their numbers, whole, each that still fits into :data:`HELDOUT_SIZES`.

    Returns:
        Indices of the rows, in the order of their numbers.

    Raises:
        hub.DataError: the sizes cannot be reached with these rows.
    """
    numbers = [_sha256(HELDOUT_SEED, _plain(row.premise), _plain(row.hypothesis)) for row in rows]
    pairs = Counter(row.pair for row in rows)
    wanted = Counter(HELDOUT_SIZES)
    held: list[int] = []
    for family in sorted(families(rows), key=lambda members: min(numbers[member] for member in members)):
        if any(pairs[rows[member].pair] > 1 or not _plain(rows[member].explanation) for member in family):
            continue
        size = Counter((rows[member].portion, rows[member].label) for member in family)
        if all(count <= wanted[stratum] for stratum, count in size.items()):
            wanted -= size
            held += family
    if +wanted:
        missing = ", ".join(f"{count} of {portion} {label}" for (portion, label), count in (+wanted).items())
        raise hub.DataError(f"a held-out part of {sum(HELDOUT_SIZES.values())} rows cannot be drawn: {missing} missing")
    return sorted(held, key=lambda number: numbers[number])


# --- reading ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def _rows(name: str) -> tuple[tuple[Row, ...], str]:
    """All rows of a dataset, and the revision they are of."""
    origin = hub.source(name)
    snapshot = hub.snapshot(origin, ["README.md", "*.parquet", "*.jsonl"])
    path, raw = _raw_rows(name, snapshot.folder)
    rows = tuple(_row(values, where) for where, values in raw)
    expected = origin.splits["train"]
    if len(rows) != expected:
        raise hub.DataError(
            f"{name}: {path} has {len(rows)} rows, the published train split has {expected}. To run fewer rows use "
            f"--limit. {USE_THE_RELEASE}"
        )
    counts = Counter((row.portion, row.label) for row in rows)
    released = RELEASED_COUNTS.get(name)
    if released is not None and counts != released:
        strata = sorted({*counts, *released})
        differing = "; ".join(
            f"{portion} {label}: {counts[portion, label]} instead of {released.get((portion, label), 0)}"
            for portion, label in strata
            if counts[portion, label] != released.get((portion, label), 0)
        )
        raise hub.DataError(f"{name}: {path} does not hold the released rows ({differing}). {USE_THE_RELEASE}")
    return rows, snapshot.revision


def _raw_rows(name: str, folder: Path) -> tuple[str, Iterator[tuple[str, Mapping[str, Any]]]]:
    """The train split's rows, each with the words that say where it stands."""
    parquet = sorted(folder.glob("**/train-*.parquet"))
    if parquet:
        return f"{parquet[0].parent}/train-*.parquet", _parquet_rows(name, parquet)
    lines = sorted(path for path in folder.glob("**/*train*.jsonl"))
    if len(lines) != 1:
        found = f"several: {', '.join(path.name for path in lines)}; keep one" if lines else "none"
        raise hub.DataError(
            f"{name}: its train split is looked for in {folder} as data/train-00000-of-0000N.parquet or one JSON lines "
            f"file with `train` in its name (train.jsonl), as in the hub's repository {origin_page(name)}; "
            f"there is {found}"
        )
    return str(lines[0]), json_lines(lines[0], name)


def origin_page(name: str) -> str:
    origin = hub.source(name)
    return origin.page if origin.repository else ""


def _parquet_rows(name: str, paths: Sequence[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    import datasets

    for path in paths:
        try:
            rows = datasets.load_dataset(
                "parquet", data_files={"train": str(path)}, split="train", verification_mode="no_checks"
            )
        except (datasets.exceptions.DatasetGenerationError, OSError, ValueError) as error:
            cause = error.__cause__ or error
            raise hub.DataError(
                f"{name}: {path} cannot be read ({type(cause).__name__}: {cause}). Delete the damaged file and load it "
                f"again."
            ) from error
        classes = {key: found for key, found in rows.features.items() if isinstance(found, datasets.ClassLabel)}
        for number, values in enumerate(rows):
            for key, feature in classes.items():
                if values[key] is not None:
                    values[key] = feature.int2str(values[key])
            yield f"{name}: {path}, row {number}", values


def json_lines(path: Path, name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Objects of a JSON lines file, each with the words that say where it stands.

    Raises:
        hub.DataError: a line is no JSON object.
    """
    try:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
    except OSError as error:
        raise hub.DataError(f"{name}: {path} cannot be read: {error.strerror}") from error
    lines = content.split(b"\n")  # not splitlines: texts may hold other line separators, unescaped
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{name}: {path}, line {number}"
        try:
            values = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or error
            raise hub.DataError(
                f"{where} is not JSON ({reason}): get the whole file again. {USE_THE_RELEASE}"
            ) from error
        if not isinstance(values, dict):
            raise hub.DataError(f"{where} is {reprlib.repr(values)}, not a row (a JSON object). {USE_THE_RELEASE}")
        yield where, values


def _row(values: Mapping[str, Any], where: str) -> Row:
    missing = [column for column in COLUMNS if column not in values]
    if missing:
        raise hub.DataError(
            f"{where} lacks {', '.join(missing)} (it has: {', '.join(map(str, values))}). {USE_THE_RELEASE}"
        )
    source_id = values["id"]
    if not isinstance(source_id, str | int) or isinstance(source_id, bool) or not str(source_id).strip():
        raise hub.DataError(f"{where}: id is {reprlib.repr(source_id)}, not a number or text. {USE_THE_RELEASE}")
    if _half_a_pair(str(source_id)):
        raise hub.DataError(f"{where}: id holds half a surrogate pair: a damaged file? {USE_THE_RELEASE}")
    for column in COLUMNS[1:]:
        if not isinstance(values[column], str):
            raise hub.DataError(f"{where}: {column} is {reprlib.repr(values[column])}, not text. {USE_THE_RELEASE}")
        if _half_a_pair(values[column]):
            raise hub.DataError(f"{where}: {column} holds half a surrogate pair: a damaged file? {USE_THE_RELEASE}")
    for column in ("premise", "hypothesis"):
        if not _plain(values[column]):
            raise hub.DataError(f"{where}: {column} is empty. {USE_THE_RELEASE}")
    if values["label"] not in LABELS:
        raise hub.DataError(
            f"{where}: unknown label {reprlib.repr(values['label'])}; it must be one of {', '.join(LABELS)}. "
            f"{USE_THE_RELEASE}"
        )
    group = _TYPES.get(values["type"].replace(" ", "").replace("_", "").lower())
    if group is None:
        raise hub.DataError(
            f"{where}: unknown type {reprlib.repr(values['type'])}; it must be one of Sarcasm, Simile, Metaphor, "
            f"Idiom, CreativeParaphrase. {USE_THE_RELEASE}"
        )
    if group == "creative_paraphrase" and values["label"] == "Contradiction":
        raise hub.DataError(
            f"{where}: type is {values['type']!r} and label is Contradiction, but paraphrases entail (the paper's "
            f"Table 1). {USE_THE_RELEASE}"
        )
    if group == "sarcasm" and values["label"] == "Entailment":
        # All sarcasm contradicts (the paper's Table 1). In the JSON lines form the paraphrases, which all entail, are
        # called sarcasm too.
        group = "creative_paraphrase"
    texts = {column: values[column] for column in COLUMNS[1:-1]}
    return Row(source_id=str(source_id).strip(), report_group=group, **texts)


def _half_a_pair(text: str) -> bool:
    """Whether there is half a surrogate pair, which UTF-8 has no bytes for."""
    return any("\ud800" <= character <= "\udfff" for character in text)


# --- the shared task's blind rows ------------------------------------------------------------------------------------


@lru_cache(maxsize=2)
def load_blind() -> datasets.Dataset:
    """Return the shared task's 1,500 test rows, which come without answers, as documents.

    Columns: `dataset`, `data`, `id` (``codalab-{codalab_id}``), `codalab_id`, `source_id`, `premise`, `hypothesis`,
    `prompt`.

    Raises:
        hub.DataError: the file is not there, or a row is not valid; the message names file and row.
    """
    import datasets

    path = _blind_file()
    rows: list[dict[str, Any]] = []
    for where, values in json_lines(path, "flute_codalab"):
        missing = [column for column in BLIND_COLUMNS if column not in values]
        if missing:
            raise hub.DataError(f"{where} lacks {', '.join(missing)} (it has: {', '.join(map(str, values))})")
        for column in BLIND_COLUMNS:
            kind, words = (int, "a whole number") if column.endswith("id") else (str, "text")
            if not isinstance(values[column], kind) or isinstance(values[column], bool):
                raise hub.DataError(f"{where}: {column} is {reprlib.repr(values[column])}, not {words}")
            if kind is str and _half_a_pair(values[column]):
                raise hub.DataError(f"{where}: {column} holds half a surrogate pair: a damaged file?")
            if kind is str and not _plain(values[column]):
                raise hub.DataError(f"{where}: {column} is empty")
        if values["codalab_id"] != len(rows):
            raise hub.DataError(
                f"{where}: codalab_id is {reprlib.repr(values['codalab_id'])}, must be {len(rows)}: the released rows "
                f"are numbered from 0 in order. Use the file as it was published."
            )
        rows.append({column: values[column] for column in BLIND_COLUMNS})
    if len(rows) != BLIND_ROWS:
        raise hub.DataError(
            f"flute_codalab: {path} has {len(rows)} rows, the shared task's file has {BLIND_ROWS}. A submission needs "
            f"all; to try out fewer rows use --limit."
        )
    return datasets.Dataset.from_dict(
        {
            "dataset": ["FLUTE"] * len(rows),
            "data": [blind_data(rows)] * len(rows),
            "id": [f"codalab-{row['codalab_id']}" for row in rows],
            "codalab_id": [row["codalab_id"] for row in rows],
            "source_id": [row["id"] for row in rows],
            "premise": [row["premise"] for row in rows],
            "hypothesis": [row["hypothesis"] for row in rows],
            "prompt": ["v2"] * len(rows),
        }
    )


def blind_data(rows: Sequence[Mapping[str, Any]]) -> str:
    """The name of blind rows (:data:`BLIND_COLUMNS` of each, in order), with a digest of them."""
    digest = _sha256(*(json.dumps({column: row[column] for column in BLIND_COLUMNS}, sort_keys=True) for row in rows))
    return str(DataId("FLUTE", "codalab", digest[:12]))


def _blind_file() -> Path:
    root = os.environ.get(hub.DATA_DIR_VARIABLE)
    path = Path(root or "").expanduser() / "FLUTE" / BLIND_FILE
    if not root or not path.is_file():
        now = f"{hub.DATA_DIR_VARIABLE} is {root}" if root else f"{hub.DATA_DIR_VARIABLE} is not set"
        raise hub.DataError(
            f"flute_codalab reads the blind test file of the FigLang 2022 shared task (CodaLab competition 5908), "
            f"which is not part of the dataset on the hub: put it to ${hub.DATA_DIR_VARIABLE}/FLUTE/{BLIND_FILE} "
            f"({now})"
        )
    return path


def count(asked: Mapping[str, Any]) -> int:
    """How many rows a task has that asks for a part."""
    sizes = {"heldout": sum(HELDOUT_SIZES.values()), "codalab": BLIND_ROWS}
    return sizes.get(asked["part"]) or hub.source(asked["dataset"]).splits["train"]
