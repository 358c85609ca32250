"""COLUMBUS as documents: from the hub's repository, or from an archive of the authors' repository.

Both hold one of two releases: v1 has 1,008 rows, v2 leaves three of them out. The number of rows
says which one it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from figlang_tasks.core import hub, images, row_files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.errors import DataError, PartMissing
from figlang_tasks.core.hub import USE_THE_RELEASE
from figlang_tasks.core.request import Request
from figlang_tasks.core.row_files import brief

if TYPE_CHECKING:
    import datasets

NAME = "COLUMBUS"
LETTERS = "ABCD"
RELEASES = {1008: "v1", 1005: "v2"}
ORDERS = ("benchmark", "published")
DESCRIPTIONS = {"nodes": "nodes", "graph": "nodes_and_edges"}
"""The description that each prompt shows."""
OUTPUTS = "results/analysis/results/prompt_3/blip-2_flan-t5-xxl_prompt_3.json"
"""Of the archive: it has the published runs' order of options, and the descriptions."""
EXTRACTED = ("options_published_runs.json", "graph_descriptions.json")
"""The same by id, in two files of their own."""

_SUFFIX = re.compile(r"(_\d+)?(_icon|_non-icon)?\Z")


def here() -> hub.Snapshot:
    """The release on this machine, or downloaded from the hub."""
    return hub.snapshot(source_of(NAME), ["metadata.jsonl", "images/*"])


@hub.cached(maxsize=8)
def load(dataset: str, order: str, graph: bool = False) -> datasets.Dataset:
    """The `documents` of the release in `here`."""
    return documents(here(), dataset, order, graph)


def for_request(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``COLUMBUS,order=benchmark,graph=true``; errors as of
    `load`.
    """
    return load(request.dataset, request["order"], "graph" in request)


def documents(
    found: hub.Snapshot, dataset: str, order: str, graph: bool = False
) -> datasets.Dataset:
    """The documents of a release, sorted by id.

    `unit` is the phrase; `overlap` says that the puzzle is there in both kinds. The `order` of
    options is that of the release (``benchmark``) or of the published runs; with `graph` there are
    descriptions of the picture.
    """
    if order not in ORDERS:
        raise DataError(f"dataset_name: order={order}; valid: {', '.join(ORDERS)}")
    rows, faults = read(found.folder)
    row_files.raise_first_fault(faults, "columbus")
    part = [
        RELEASES[len(rows)],
        *(["published"] if order == "published" else []),
        *(["graph"] if graph else []),
    ]
    if len(part) > 1:
        runs = _published_runs(found.folder, rows)
        for row in rows:
            if order == "published":
                right = row["candidates"][LETTERS.index(row["answer"])]
                row["candidates"] = [runs[row["id"]]["options"][letter] for letter in LETTERS]
                row["answer"] = LETTERS[row["candidates"].index(right)]
            if graph:
                row |= {name: runs[row["id"]][name] for name in DESCRIPTIONS.values()}
    return row_files.as_documents(rows, dataset, "-".join(part), found.revision)


def read(folder: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The valid rows of a release, sorted by id, and what is wrong with the others."""
    table = folder / "benchmark.json"
    if table.exists():
        lines = [
            (f"{table}, row {number}", row) for number, row in enumerate(_json(table), start=1)
        ]
    else:
        table = folder / "metadata.jsonl"
        lines = list(row_files.read_rows(table))
    pictures = folder / "results" / "benchmark" / "images"

    def row(values: Any, where: str) -> dict[str, Any]:
        made = _row(where, values, pictures if pictures.is_dir() else folder / "images")
        if RELEASES.get(len(lines)) == "v1":  # whose tables count by the names: one flag is wrong
            made["kind"] = "icon" if made["id"].endswith("_icon") else "text"
        return made

    found, faults = row_files.validate_rows(lines, row, lambda made: made["id"])
    if len(lines) not in RELEASES:
        sizes = " or ".join(f"{count:,} ({name})" for count, name in RELEASES.items())
        faults = [f"{table} has {len(lines)} rows, must have {sizes}. {USE_THE_RELEASE}", *faults]
    return sorted(found, key=lambda made: made["id"]), faults


def _json(path: Path) -> Any:
    try:
        return json.loads(row_files.content_of(path))
    except ValueError as error:
        raise DataError(f"{path} is not valid JSON ({error}). {USE_THE_RELEASE}") from error


def _row(where: str, values: Any, pictures: Path) -> dict[str, Any]:
    """A row as a document, but for the identity of the data; a `DataError` if it is not valid."""
    given = values if isinstance(values, Mapping) else {}
    name = PurePosixPath(str(given.get("image") or given.get("file_name"))).name
    row_id = name.removesuffix(".png")
    if row_id == name:
        raise DataError(f"{where} names no .png file as its image. {USE_THE_RELEASE}")
    where = f"{where} ({row_id})"
    options, right = given.get("options"), given.get("correct")
    texts: Any = (
        list(options.values())
        if isinstance(options, Mapping) and [*options] == [*LETTERS]
        else options
    )
    whole = isinstance(texts, list) and all(
        isinstance(text, str) and text.strip() for text in texts
    )
    if (
        not whole
        or len(texts) != len(LETTERS)
        or len({text.casefold() for text in texts}) < len(LETTERS)
    ):
        raise DataError(
            f"{where}: options is {brief(options)}, must be four different texts. {USE_THE_RELEASE}"
        )
    for text in texts:
        row_files.require_no_placeholder(text, "options", where)
    if isinstance(
        right, Mapping
    ):  # the hub's library gives all four letters, of which three have no text
        right = {letter: text for letter, text in right.items() if text is not None}
    answers = [
        letter
        for letter, text in zip(LETTERS, texts, strict=True)
        if right in (letter, text, {letter: text})
    ]
    if len(answers) != 1:
        raise DataError(
            f"{where}: correct is {brief(right)}, which is none of the options. {USE_THE_RELEASE}"
        )
    for flag in ("is_icon", "is_overlap"):
        if not isinstance(given.get(flag), bool):
            raise DataError(
                f"{where}: {flag} is {brief(given.get(flag))}, must be true or false."
                f" {USE_THE_RELEASE}"
            )
    # Of the hub's a link, which the path of an image may not be: so the bytes are taken.
    image = {"bytes": images.read_bytes(pictures / name, where), "path": None}
    images.check(image, where)
    return {
        "id": row_id,
        "unit": _SUFFIX.sub("", row_id).replace("_", " "),
        "kind": "icon" if given["is_icon"] else "text",
        "overlap": given["is_overlap"],
        "candidates": texts,
        "answer": answers[0],
        "image": image,
    }


def _published_runs(folder: Path, rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """What the published runs were asked, by id: `options` by letter, `nodes` and
    `nodes_and_edges`.
    """
    if (folder / OUTPUTS).is_file():
        answered = _json(folder / OUTPUTS)["results"]
        runs = {PurePosixPath(row["image"]).stem: row | row["metadata"] for row in answered}
    elif all((folder / name).is_file() for name in EXTRACTED):
        options, descriptions = (_json(folder / name) for name in EXTRACTED)
        runs = {row_id: options[row_id] | descriptions[row_id] for row_id in options}
    else:
        raise PartMissing(
            f"{folder} has no {OUTPUTS}: descriptions and order=published need the archive of the"
            " authors' repository in place of the hub's files (docs/cards/columbus.md)"
        )
    for row in rows:
        options = runs.get(row["id"], {}).get("options", {})
        if sorted(options.values()) != sorted(row["candidates"]):
            raise DataError(
                f"{folder}: the published runs do not have the options of {row['id']}."
                f" {USE_THE_RELEASE}"
            )
        for name in DESCRIPTIONS.values():
            row_files.require_no_placeholder(runs[row["id"]][name], name, f"{folder}: {row['id']}")
    return runs
