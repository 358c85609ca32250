"""FLUTE's rows as documents: checks, ids, types, the held-out part; and the blind rows of the
shared task.

Serves every dataset in FLUTE's schema (FLUTE itself and figlang_mini_flute).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from figlang_tasks.benchmarks.flute.counts import BLIND_ROWS, HELDOUT_SIZES
from figlang_tasks.core import hub, parquet_files, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.exemplars import draw_exemplars
from figlang_tasks.core.text import LONE_SURROGATE
from figlang_tasks.metrics.units import link_rows

if TYPE_CHECKING:
    import datasets

LABELS = {"Entailment": 1, "Contradiction": 0}
REPORT_GROUPS = ("sarcasm", "simile", "metaphor", "idiom", "creative_paraphrase")
PARAPHRASE_AND_SARCASM = "paraphrase_sarcasm"
PARTS = ("heldout", "rest", "train")
COLUMNS = ("id", "premise", "hypothesis", "label", "explanation", "type")

# Sarcasm, CreativeParaphrase, in any case
_TYPES = {name.replace("_", ""): name for name in REPORT_GROUPS}

HELDOUT_SEED = "figlang_tasks FLUTE held-out 1"
HELDOUT_DIGEST = "d75fcb192f3c"
"""First 12 hex digits of the SHA-256 over the sorted ids of the held-out part, joined by
newlines.
"""

BLIND_FILE = "flute_codalab_test_blind.jsonl"
BLIND_COLUMNS = ("codalab_id", "id", "premise", "hypothesis")


@dataclass(frozen=True)
class Pair:
    """A valid row of the release; several rows share the release's `id`, within a type and across
    types.
    """

    source_id: str
    premise: str
    hypothesis: str
    label: str
    explanation: str
    report_group: str

    @property
    def portion(self) -> str:
        """The paper's portion of the data: a paraphrase belongs to the sarcasm that was made from
        it.
        """
        return "sarcasm" if self.report_group == "creative_paraphrase" else self.report_group

    @cached_property
    def key(self) -> str:
        return _sha256(*map(_plain, (self.premise, self.hypothesis, self.label, self.explanation)))

    @cached_property
    def sentences(self) -> tuple[str, str]:
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


# --- documents ---


@hub.cached(maxsize=8)
def load(name: str, part: str, prompt: str = "v2", scorer: str = "") -> datasets.Dataset:
    """The documents of one part of a dataset.

    `data` is the same for the same rows in any order and any file format. `family` is the first id
    of the rows that belong together (:func:`families`). The options `prompt` and `scorer` are
    columns, as lm-eval hands task functions nothing but the document.

    The parts are ``heldout`` and ``rest``, which share no sentence, and ``train``, all rows. The
    held-out part is in the order of a hash, so that ``--limit`` takes a mixture; the others are in
    released order.
    """
    import datasets

    if part not in PARTS:
        raise DataError(f"{name} has no part {part!r}; it has: {', '.join(PARTS)}")
    rows, revision = _released(name)
    ids = row_ids(rows)
    chosen = list(range(len(rows)))
    if part != "train":
        held = heldout(rows)
        digest = _sha256(*sorted(ids[number] for number in held))[:12]
        if name == "FLUTE" and digest != HELDOUT_DIGEST:
            logger.warning(
                f"figlang_tasks: {name}: the texts differ from those of the fixed held-out part"
                f" ({digest}, not {HELDOUT_DIGEST}): compare results only with runs of the same"
                " data digest"
            )
        chosen = held if part == "heldout" else sorted(set(chosen) - set(held))
        logger.info(f"figlang_tasks: {name}: the part {part} has {len(chosen)} of {len(rows)} rows")
    texts = sorted(
        "\n".join((rows[number].report_group, ids[number], rows[number].key)) for number in chosen
    )
    found = [rows[number] for number in chosen]
    family_of = {
        number: min(ids[member] for member in family)
        for family in families(rows)
        for number in family
    }
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


EXEMPLAR_SEED = 42


@hub.cached(maxsize=4)
def exemplars(name: str, count: int, prompt: str) -> tuple[dict[str, Any], ...]:
    """Few-shot exemplars of the part ``rest``, drawn over the figurative types and the labels.

    So 4 exemplars hold each type once, and each label twice. The draw does not depend on the order
    of the file. A paraphrase is not figurative, and what has no explanation shows no answer.
    """
    documents = sorted(load(name, "rest", prompt), key=lambda document: document["id"])
    shown = [
        document
        for document in documents
        if document["report_group"] != "creative_paraphrase" and _plain(document["explanation"])
    ]
    types, labels = (
        [document["report_group"] for document in shown],
        [document["label"] for document in shown],
    )
    shots = [
        shown[place] for place in draw_exemplars(types, labels, tuple(LABELS), count, EXEMPLAR_SEED)
    ]
    logger.info(f"figlang_tasks: {count} exemplars: {', '.join(shot['id'] for shot in shots)}")
    return tuple(shots)


def row_ids(rows: Sequence[Pair]) -> list[str]:
    """An id for each row, made from its content; rows with the same content are numbered."""
    seen: Counter[str] = Counter()
    ids = []
    for row in rows:
        row_id = f"{row.portion}-{row.source_id}-{row.key[:8]}"
        seen[row_id] += 1
        ids.append(row_id if seen[row_id] == 1 else f"{row_id}-{seen[row_id]}")
    return ids


# --- the held-out part ---


def families(rows: Sequence[Pair]) -> list[list[int]]:
    """The rows that belong together, as indices: linked by a sentence, or the id within a portion.

    A premise stands in up to six rows (with both labels), a hypothesis in up to four. White space
    and the case of ASCII letters are ignored.
    """
    found: dict[int, list[int]] = {}
    for number, first in enumerate(
        link_rows([(*row.sentences, (row.portion, row.source_id)) for row in rows])
    ):
        found.setdefault(first, []).append(number)
    return list(found.values())


def heldout(rows: Sequence[Pair]) -> list[int]:
    """The held-out rows, as indices: drawn by texts alone, whatever the order of the rows or
    Python's version.

    1. Rows are grouped into :func:`families`. A family with a sentence pair that stands there
       twice, or with an empty explanation, is left out: the pair would count twice or has two
       answers, the explanation cannot be scored.
    2. Each row has the number SHA-256(seed, premise, hypothesis; newlines between, white space
       collapsed), each family the smallest of its rows'.
    3. Families are taken in the order of their numbers, whole, each that still fits into
       :data:`HELDOUT_SIZES`.
    """
    numbers = [_sha256(HELDOUT_SEED, _plain(row.premise), _plain(row.hypothesis)) for row in rows]
    repeated = Counter(row.sentences for row in rows)
    wanted = Counter(HELDOUT_SIZES)
    held: list[int] = []
    for family in sorted(
        families(rows), key=lambda members: min(numbers[member] for member in members)
    ):
        if any(
            repeated[rows[member].sentences] > 1 or not _plain(rows[member].explanation)
            for member in family
        ):
            continue
        size = Counter((rows[member].portion, rows[member].label) for member in family)
        if all(count <= wanted[stratum] for stratum, count in size.items()):
            wanted -= size
            held += family
    if +wanted:
        missing = ", ".join(
            f"{count} of {portion} {label}" for (portion, label), count in (+wanted).items()
        )
        raise DataError(
            f"a held-out part of {sum(HELDOUT_SIZES.values())} rows cannot be drawn: {missing}"
            " missing"
        )
    return sorted(held, key=lambda number: numbers[number])


# --- reading ---


def _released(name: str) -> tuple[Sequence[Pair], str]:
    """The rows of a dataset, and the revision they are of: commit, ``local`` or ``package``."""
    origin = source_of(name)
    snapshot = hub.snapshot(origin, ["README.md", "*.parquet", "*.jsonl"])
    where, lines = _lines(origin, snapshot.folder)
    rows, faults = row_files.validate_rows(lines, _pair)
    faults = [f"{fault}. {hub.USE_THE_RELEASE}" for fault in faults]
    total = len(rows) + len(faults)
    if total != (published := origin.splits["train"]):
        faults.append(
            f"{where} has {total} rows, the published train split has {published}. To run fewer"
            f" rows use --limit. {hub.USE_THE_RELEASE}"
        )
    row_files.raise_first_fault(faults, "flute")
    return rows, snapshot.revision


def _lines(origin: hub.Source, folder: Path) -> tuple[str, Iterable[tuple[str, Any]]]:
    """The place of the train split, and its rows as `row_files.validate_rows` takes them."""
    if parquet := parquet_files.split_files(origin.name, "train", folder):
        where = f"{origin.name}: {parquet[0].parent}/train-*.parquet"
        table = parquet_files.read_parquet(parquet, COLUMNS, where)
        return where, ((f"{where}, row {number}", values) for number, values in enumerate(table))
    files = sorted(folder.glob("**/*train*.jsonl"))
    if len(files) != 1:
        raise DataError(
            f"{origin.name}: the train split must be in {folder}, as"
            " data/train-00000-of-0000N.parquet or as one JSON lines file with `train` in its name"
            " (train.jsonl), as in the hub's repository"
            f" {origin.page if origin.repository else ''}; there is"
            f" {', '.join(path.name for path in files) or 'none'}"
        )
    return f"{origin.name}: {files[0]}", row_files.read_rows(files[0], COLUMNS)


def _pair(values: Mapping[str, Any], where: str) -> Pair:
    """A row of the release; a `DataError` if it is not valid."""
    for column in COLUMNS[1:]:
        may_be_blank = column not in ("premise", "hypothesis") and values[column] is not None
        row_files.text(values, column, where, optional=may_be_blank)
    source_id, label, kind = values["id"], values["label"], values["type"]
    if (
        not isinstance(source_id, str | int)
        or not str(source_id).strip()
        or LONE_SURROGATE.search(str(source_id))
    ):
        raise DataError(f"{where}: id is {row_files.brief(source_id)}, not a number or text")
    if label not in LABELS:
        known = ", ".join(LABELS)
        raise DataError(
            f"{where}: unknown label {row_files.brief(label)}; it must be one of {known}"
        )
    group = _TYPES.get(kind.replace(" ", "").replace("_", "").lower())
    if group is None:
        known = "Sarcasm, Simile, Metaphor, Idiom, CreativeParaphrase"
        raise DataError(f"{where}: unknown type {row_files.brief(kind)}; it must be one of {known}")
    if group == "sarcasm" and label == "Entailment":
        # All sarcasm contradicts (the paper's Table 1). In the JSON lines form the paraphrases,
        # which all entail, are called sarcasm too.
        group = "creative_paraphrase"
    texts = {column: values[column] for column in COLUMNS[1:-1]}
    return Pair(source_id=str(source_id).strip(), report_group=group, **texts)


# --- the shared task's blind rows ---


def load_blind() -> datasets.Dataset:
    """The shared task's 1,500 test rows, which come without answers, as documents."""
    import datasets

    folder = hub.local_folder(source_of("FLUTE"))
    if folder is None or not (path := folder / BLIND_FILE).exists():
        raise PartMissing(
            "flute_codalab reads the blind test file of the FigLang 2022 shared task (CodaLab"
            " competition 5908), which the dataset on the hub does not contain: put it at"
            f" ${hub.DATA_DIR_VARIABLE}/FLUTE/{BLIND_FILE}"
        )
    rows, faults = row_files.validate_rows(row_files.read_rows(path, BLIND_COLUMNS), _blind)
    faults = [f"{fault}. Use the file as it was published." for fault in faults]
    numbers = [row["codalab_id"] for row in rows]
    if not faults and numbers != [*range(BLIND_ROWS)]:
        faults.append(
            f"{path}: the released rows are numbered from 0 to {BLIND_ROWS - 1} in order"
            f" (codalab_id), these {len(rows)} are not. Use the file as it was published; to try"
            " out fewer rows use --limit."
        )
    row_files.raise_first_fault(faults, "flute")
    return datasets.Dataset.from_dict(
        {
            "dataset": ["FLUTE"] * len(rows),
            "data": [blind_data(rows)] * len(rows),
            "id": [f"codalab-{row['codalab_id']}" for row in rows],
            "codalab_id": numbers,
            "source_id": [row["id"] for row in rows],
            "premise": [row["premise"] for row in rows],
            "hypothesis": [row["hypothesis"] for row in rows],
            "prompt": ["v2"] * len(rows),
        }
    )


def _blind(values: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    for column in BLIND_COLUMNS[:2]:
        if not isinstance(values[column], int) or isinstance(values[column], bool):
            raise DataError(
                f"{where}: {column} is {row_files.brief(values[column])}, not a whole number"
            )
    for column in BLIND_COLUMNS[2:]:
        row_files.text(values, column, where)
    return values


def blind_data(rows: Sequence[Mapping[str, Any]]) -> str:
    """The name of blind rows (:data:`BLIND_COLUMNS` of each, in order), with a digest."""
    digest = _sha256(
        *(
            json.dumps({column: row[column] for column in BLIND_COLUMNS}, sort_keys=True)
            for row in rows
        )
    )
    return str(DataId("FLUTE", "codalab", digest[:12]))
