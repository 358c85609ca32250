"""Describes the mini benchmarks in Croissant: `python -m tools.mini.croissant` writes a file into each folder.

The file is `croissant.json`, in MLCommons' form of JSON-LD for data (https://docs.mlcommons.org/croissant). All that it
says comes from the folder: its card, the digests of its files, and the columns of its tables. Needs `mlcroissant`.
"""

from __future__ import annotations

import csv
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
from huggingface_hub import DatasetCard

from figlang_tasks.mini import DATA_DIR

if TYPE_CHECKING:
    import mlcroissant as mlc

NAME = "croissant.json"
FOLDERS = tuple(sorted(folder for folder in DATA_DIR.parent.iterdir() if folder.is_dir()))
FORMATS = {
    ".csv": "text/csv",
    ".jsonl": "application/jsonlines",
    ".parquet": "application/x-parquet",
    ".zip": "application/zip",
    ".jpg": "image/jpeg",
    ".png": "image/png",
}
KINDS = {str: "Text", int: "Integer", bool: "Boolean"}


def files(folder: Path) -> list[Path]:
    """The data files of a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in (NAME, "README.md"))


def columns(table: Path) -> dict[str, str]:
    """Croissant's data type of each column of a table; none if the file is no table.

    Columns of lists and objects are left out: a value of any depth has no type in Croissant.
    """
    if table.suffix == ".csv":
        with table.open(encoding="utf-8", newline="") as file:
            return dict.fromkeys(next(csv.reader(file)), "Text")
    if table.suffix == ".parquet":
        return {each.name: "ImageObject" if each.name == "image" else "Text" for each in pq.read_schema(table)}
    if table.suffix == ".jsonl":
        rows = [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
        kinds: dict[str, set[type]] = {}
        for row in rows:
            for name, value in row.items():
                kinds.setdefault(name, set()).add(type(value))
        return {name: KINDS[found.pop()] for name, found in kinds.items() if not found & {list, dict}}
    return {}


def describe(folder: Path) -> mlc.Metadata:
    """The description of a folder of data."""
    import mlcroissant as mlc

    card = DatasetCard.load(folder / "README.md")
    declared = card.data.to_dict()
    paths = [path.relative_to(folder).as_posix() for path in files(folder)]
    tables = {path: Path(path).stem.partition("-")[0] for path in paths if columns(folder / path)}
    return mlc.Metadata(
        name=folder.name,
        description=" ".join(card.text.split("\n\n")[1].split()),
        license=[declared["license"]],
        keywords=declared["tags"],
        in_language=declared["language"],
        conforms_to="http://mlcommons.org/croissant/1.1",
        distribution=[
            mlc.FileObject(
                id=path,
                name=path,
                content_url=path,
                encoding_formats=[FORMATS[Path(path).suffix]],
                sha256=hashlib.sha256((folder / path).read_bytes()).hexdigest(),
            )
            for path in paths
        ],
        record_sets=[
            mlc.RecordSet(
                id=table,
                name=table,
                fields=[
                    mlc.Field(
                        id=f"{table}/{name}",
                        name=name,
                        data_types=[f"https://schema.org/{kind}"],
                        source=mlc.Source(file_object=path, extract=mlc.Extract(column=name), transforms=_inside(kind)),
                    )
                    for name, kind in columns(folder / path).items()
                ],
            )
            for path, table in tables.items()
        ],
    )


def _inside(kind: str) -> list[Any]:
    """Pictures of parquet tables are the bytes of a structure."""
    import mlcroissant as mlc

    return [mlc.Transform(json_path="bytes")] if kind == "ImageObject" else []


def main() -> None:
    for folder in FOLDERS:
        described = describe(folder)
        text = json.dumps(described.to_json(), indent=2, ensure_ascii=False, default=str)
        (folder / NAME).write_text(text + "\n", encoding="utf-8")
        print(f"{folder / NAME}: {len(described.distribution)} files, {len(described.record_sets)} tables")


if __name__ == "__main__":
    main()
