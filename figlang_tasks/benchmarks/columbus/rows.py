"""COLUMBUS's rows as documents, from the hub's repository or an archive of the authors'.

Both hold one of two releases: v1 has 1,008 rows, and v2 leaves three of them out. The number of
rows says which release it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, TypedDict

from figlang_tasks.benchmarks.columbus.counts import RELEASES
from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.record import Row
from figlang_tasks.core.request import Request
from figlang_tasks.core.row_files import brief

if TYPE_CHECKING:
    import datasets

NAME = "COLUMBUS"
LETTERS = "ABCD"

ORDERS = ("benchmark", "published")
"""The orders of the options: that of the release, and that of the published runs."""

DESCRIPTION_COLUMNS = {"nodes": "nodes", "graph": "nodes_and_edges"}
"""The column with the description of a rebus, by the prompt that shows it (prompts 3 and 4)."""

ARCHIVE_TABLE = "benchmark.json"
"""The rows in an archive of the authors' repository."""

HUB_TABLE = "metadata.jsonl"
"""The rows in the files of the hub."""

ARCHIVE_PICTURES = "results/benchmark/images"
"""The folder of the pictures in an archive."""

HUB_PICTURES = "images"
"""The folder of the pictures in the files of the hub."""

PUBLISHED_OUTPUTS = "results/analysis/results/prompt_3/blip-2_flan-t5-xxl_prompt_3.json"
"""The file of the archive with the order of options of the published runs, and descriptions."""

EXTRACTED_FILES = ("options_published_runs.json", "graph_descriptions.json")
"""Two files that may stand in its place: options by id, and descriptions by id."""

# high_up_2, big_shoes_to_fill_1_icon, square_one_non-icon: the end that is not of the phrase.
_END_OF_ID = re.compile(r"(_\d+)?(_icon|_non-icon)?\Z")


class Puzzle(TypedDict):
    """A row without faults, in the columns of a document.

    Attributes:
        id: the name of the picture without its ending: ``high_up_2``.
        unit: the phrase that the rebus conveys: ``high up``.
        kind: ``icon`` if the picture has one, else ``text``.
        overlap: whether the same puzzle is there in both kinds.
        candidates: the texts of the options A to D.
        answer: the letter of the right option.
        image: the picture, undecoded.
    """

    id: str
    unit: str
    kind: Literal["text", "icon"]
    overlap: bool
    candidates: list[str]
    answer: str
    image: images.ImageCell


class PublishedQuestion(TypedDict):
    """What the published runs showed of a rebus.

    Attributes:
        options: the text of each option by its letter.
        nodes: the description of its elements (prompt 3).
        nodes_and_edges: the same with the relations of the elements (prompt 4).
    """

    options: dict[str, str]
    nodes: str
    nodes_and_edges: str


# --- documents ---


def find_release() -> hub.Snapshot:
    """The folder of the release: on this machine, else downloaded from the hub."""
    return hub.snapshot(source_of(NAME), [HUB_TABLE, f"{HUB_PICTURES}/*"])


@hub.cached(maxsize=1)
def picture_folder() -> Path:
    """The folder with the pictures of the release that `find_release` finds."""
    return _picture_folder(find_release().folder)


def for_request(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request such as ``COLUMBUS,order=benchmark,graph=true`` (see `load`).

    Every picture is checked, whatever `check_images` says: its bytes become part of the document.
    """
    return load(request.dataset, request["order"], graph="graph" in request)


@hub.cached(maxsize=8)
def load(dataset: str, order: str, graph: bool = False) -> datasets.Dataset:
    """The documents of the release that `find_release` finds, kept for later calls."""
    return documents(find_release(), dataset, order, graph)


def documents(
    release: hub.Snapshot, dataset: str, order: str, graph: bool = False
) -> datasets.Dataset:
    """The documents of a release, sorted by id: the columns of `Puzzle`, and ``data``.

    Args:
        release: the folder of the release, and its revision.
        dataset: ``COLUMBUS``.
        order: the order of the options, one of `ORDERS`.
        graph: whether to add descriptions of the picture, as columns ``nodes`` and
            ``nodes_and_edges``.

    Raises:
        DataError: the order is unknown, or the release has a fault.
        PartMissing: the release lacks what the published runs showed, which `graph` and
            ``order=published`` need.
    """
    if order not in ORDERS:
        raise DataError(f"dataset_name: order={order}; valid: {', '.join(ORDERS)}")
    puzzles, faults = read_release(release.folder)
    row_files.raise_first_fault(faults, "columbus")

    part = RELEASES[len(puzzles)]
    rows: list[Row] = [*puzzles]
    if order == "published" or graph:
        questions_by_id = _published_questions(release.folder, puzzles)
        if order == "published":
            part += "-published"
            rows = [with_options(row, questions_by_id[row["id"]]["options"]) for row in rows]
        if graph:
            part += "-graph"
            rows = [_with_descriptions(row, questions_by_id[row["id"]]) for row in rows]
    return row_files.as_documents(rows, dataset, part, release.revision)


def with_options(row: Row, options: Mapping[str, str]) -> Row:
    """A row with its options in another order, and the letter that is then right.

    Args:
        row: a `Puzzle`, or a document.
        options: the texts of the row's options by their letter.
    """
    right_text = row["candidates"][LETTERS.index(row["answer"])]
    candidates = [options[letter] for letter in LETTERS]
    right_letter = LETTERS[candidates.index(right_text)]
    return {**row, "candidates": candidates, "answer": right_letter}


def _with_descriptions(row: Row, question: PublishedQuestion) -> Row:
    """A row with the two descriptions of its picture."""
    return {
        **row,
        "nodes": question["nodes"],
        "nodes_and_edges": question["nodes_and_edges"],
    }


# --- the rows of a release ---


def read_release(folder: Path) -> tuple[list[Puzzle], list[str]]:
    """The valid rows of a release, sorted by id, and a message for each fault of the others.

    Args:
        folder: an archive of the authors' repository, unpacked (`ARCHIVE_TABLE`), or the hub's
            files (`HUB_TABLE`).
    """
    rows: list[tuple[str, object]] = []  # the location of each, and its cells
    table = folder / ARCHIVE_TABLE
    if table.exists():
        for number, row in enumerate(row_files.released_json(table), start=1):
            rows.append((f"{table}, row {number}", row))
    else:
        table = folder / HUB_TABLE
        rows.extend(row_files.read_rows(table))
    pictures = _picture_folder(folder)
    is_v1 = RELEASES.get(len(rows)) == "v1"

    def parse(row: object, location: str) -> Puzzle:
        """A row as a `Puzzle`; a `DataError` if the row has a fault."""
        puzzle = _puzzle(row, location, pictures)
        if is_v1:
            # The tables of v1 go by the names of the pictures. The flag of high_up_2 is wrong.
            puzzle["kind"] = "icon" if puzzle["id"].endswith("_icon") else "text"
        return puzzle

    puzzles, faults = row_files.validate_rows(rows, parse, key=lambda puzzle: puzzle["id"])
    if len(rows) not in RELEASES:
        sizes = " or ".join(f"{size:,} ({release})" for size, release in RELEASES.items())
        faults.insert(0, f"{table} has {len(rows)} rows, must have {sizes}. {USE_THE_RELEASE}")
    return sorted(puzzles, key=lambda puzzle: puzzle["id"]), faults


def _picture_folder(folder: Path) -> Path:
    """The folder with the pictures of a release."""
    folder_of_archive = folder / ARCHIVE_PICTURES
    return folder_of_archive if folder_of_archive.is_dir() else folder / HUB_PICTURES


def _puzzle(row: object, location: str, picture_folder: Path) -> Puzzle:
    """A row of a release as a `Puzzle`, with the bytes of its picture.

    Args:
        row: the row as it stands in the file.
        location: file and line, for messages.
        picture_folder: where the pictures are.

    Raises:
        DataError: the row is not valid, or its picture is missing or damaged.
    """
    cells: Row = row if isinstance(row, Mapping) else {}  # which names no picture
    # benchmark.json names the picture in `image`, and metadata.jsonl in `file_name`.
    picture_name = PurePosixPath(str(cells.get("image") or cells.get("file_name"))).name
    if not picture_name.endswith(".png"):
        raise DataError(f"{location} names no .png file as its image. {USE_THE_RELEASE}")
    row_id = picture_name.removesuffix(".png")
    location = f"{location} ({row_id})"

    texts = _option_texts(cells.get("options"), location)
    right_letter = _right_letter(cells.get("correct"), texts, location)
    is_icon = _flag(cells, "is_icon", location)
    is_overlap = _flag(cells, "is_overlap", location)

    # The hub's files are links, to which the path of an image must not lead. So the document has
    # the bytes of the picture.
    picture_bytes = images.read_bytes(picture_folder / picture_name, location)
    image: images.ImageCell = {"bytes": picture_bytes, "path": None}
    images.check(image, location)
    return {
        "id": row_id,
        "unit": _END_OF_ID.sub("", row_id).replace("_", " "),
        "kind": "icon" if is_icon else "text",
        "overlap": is_overlap,
        "candidates": texts,
        "answer": right_letter,
        "image": image,
    }


def _option_texts(options: object, location: str) -> list[str]:
    """The texts of the options A to D, from a cell that has them by letter or in a list.

    Args:
        options: the cell: texts by letter, or a list of them.
        location: file, line and id, for messages.

    Raises:
        DataError: they are not four different texts, or one holds a placeholder of a picture.
    """
    texts = options
    if isinstance(options, Mapping) and list(options) == list(LETTERS):
        texts = list(options.values())
    if not isinstance(texts, list) or not _are_four_different_texts(texts):
        raise DataError(
            f"{location}: options is {brief(options)}, must be four different texts."
            f" {USE_THE_RELEASE}"
        )
    for text in texts:
        row_files.require_no_placeholder(text, "options", location)
    return texts


def _are_four_different_texts(texts: list[object]) -> bool:
    """Whether a list has four texts, none of them empty, that differ by more than their case."""
    distinct_texts: set[str] = set()
    for text in texts:
        if not isinstance(text, str) or not text.strip():
            return False
        distinct_texts.add(text.casefold())
    return len(texts) == len(distinct_texts) == len(LETTERS)


def _right_letter(correct: object, texts: Sequence[str], location: str) -> str:
    """The letter of the right option, from the cell that names it in one of three forms.

    Args:
        correct: the cell: a letter, the text of an option, or both as ``{"B": "high up"}``.
        texts: the texts of the options A to D.
        location: file, line and id, for messages.

    Raises:
        DataError: the cell names none of the options, or several.
    """
    if isinstance(correct, Mapping):
        # The hub's library gives all four letters, of which three have no text.
        correct = {letter: text for letter, text in correct.items() if text is not None}
    right_letters: list[str] = []
    for letter, text in zip(LETTERS, texts, strict=True):
        if correct in (letter, text, {letter: text}):
            right_letters.append(letter)
    if len(right_letters) != 1:
        raise DataError(
            f"{location}: correct is {brief(correct)}, which is none of the options."
            f" {USE_THE_RELEASE}"
        )
    return right_letters[0]


def _flag(cells: Row, column: str, location: str) -> bool:
    """The flag in a column of a row; a `DataError` if there is none."""
    flag = cells.get(column)
    if not isinstance(flag, bool):
        raise DataError(
            f"{location}: {column} is {brief(flag)}, must be true or false. {USE_THE_RELEASE}"
        )
    return flag


# --- what the published runs showed ---


def _published_questions(folder: Path, puzzles: Sequence[Puzzle]) -> dict[str, PublishedQuestion]:
    """What the published runs showed of each rebus, by id, checked against the release.

    Args:
        folder: the archive, or a folder with the files `EXTRACTED_FILES`.
        puzzles: the rows of the release, whose options must be those of the published runs.

    Raises:
        PartMissing: the folder has neither file.
        DataError: the options differ, or a description holds a placeholder of a picture.
    """
    questions_by_id = _read_published_questions(folder)
    for puzzle in puzzles:
        row_id = puzzle["id"]
        question = questions_by_id.get(row_id)
        # The file may lack the options.
        if question is None or not has_options(puzzle, question.get("options", {})):
            raise DataError(
                f"{folder}: the published runs do not have the options of {row_id}."
                f" {USE_THE_RELEASE}"
            )
        location = f"{folder}: {row_id}"
        row_files.require_no_placeholder(question["nodes"], "nodes", location)
        row_files.require_no_placeholder(question["nodes_and_edges"], "nodes_and_edges", location)
    return questions_by_id


def has_options(row: Row, options: Mapping[str, str]) -> bool:
    """Whether four options have the texts of a `Puzzle` or document, in whatever order."""
    has_letters = sorted(options) == list(LETTERS)
    return has_letters and sorted(options.values()) == sorted(row["candidates"])


def _read_published_questions(folder: Path) -> dict[str, PublishedQuestion]:
    """What the published runs showed, by id, as it stands in the archive or in `EXTRACTED_FILES`.

    Raises:
        PartMissing: the folder has neither.
    """
    questions_by_id: dict[str, PublishedQuestion] = {}
    if (folder / PUBLISHED_OUTPUTS).is_file():
        for row in row_files.released_json(folder / PUBLISHED_OUTPUTS)["results"]:
            row_id = PurePosixPath(row["image"]).stem
            # A row has the options, and the two descriptions in its field metadata.
            questions_by_id[row_id] = row | row["metadata"]
        return questions_by_id
    extracted_paths = [folder / name for name in EXTRACTED_FILES]
    if all(path.is_file() for path in extracted_paths):
        options_by_id, descriptions_by_id = map(row_files.released_json, extracted_paths)
        # {"high_up_2": {"options": ...}}, and {"high_up_2": {"nodes": ..., "nodes_and_edges": ...}}
        for row_id, options in options_by_id.items():
            questions_by_id[row_id] = options | descriptions_by_id[row_id]
        return questions_by_id
    raise PartMissing(
        f"{folder} has no {PUBLISHED_OUTPUTS}: descriptions and order=published need the archive of"
        " the authors' repository in place of the hub's files (docs/cards/columbus.md)"
    )
