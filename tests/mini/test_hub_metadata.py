"""What the hub and dataset search read of the mini benchmarks and the demo model: cards and Croissant."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from huggingface_hub import DatasetCard, ModelCard

from figlang_tasks.mini import DEMO_MODEL_DIR
from tools.mini.croissant import FOLDERS, NAME, columns, files

NAMES = [folder.name for folder in FOLDERS]


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_dataset_cards_have_the_fields_of_the_hub(folder: Path) -> None:
    card = DatasetCard.load(folder / "README.md").data.to_dict()
    assert card["license"] == "apache-2.0" and card["language"] == ["en"] and card["pretty_name"] == folder.name
    assert card["size_categories"] == ["n<1K"] and card["task_categories"] and card["tags"]
    tables = {split["path"] for config in card.get("configs", []) for split in config["data_files"]}
    assert all(list(folder.glob(path)) for path in tables)


def test_the_model_card_has_the_fields_of_the_hub() -> None:
    card = ModelCard.load(DEMO_MODEL_DIR / "README.md").data.to_dict()
    assert card["license"] == "apache-2.0" and card["language"] == ["en"] and card["tags"]
    assert (card["library_name"], card["pipeline_tag"]) == ("transformers", "image-text-to-text")


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_croissant_describes_every_file_and_column(folder: Path) -> None:
    described = json.loads((folder / NAME).read_text(encoding="utf-8"))
    found = {path.relative_to(folder).as_posix(): path for path in files(folder)}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in found.items()}
    assert {file["contentUrl"]: file["sha256"] for file in described["distribution"]} == digests
    tables = {
        fields[0]["source"]["fileObject"]["@id"]: {
            each["name"]: each["dataType"].removeprefix("sc:") for each in fields
        }
        for fields in (table["field"] for table in described["recordSet"])
    }
    assert tables == {name: columns(path) for name, path in found.items() if columns(path)}


@pytest.mark.parametrize("folder", FOLDERS, ids=NAMES)
def test_mlcroissant_accepts_it_and_reads_every_row(folder: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install mlcroissant")
    dataset = mlcroissant.Dataset(folder / NAME)
    assert not dataset.metadata.ctx.issues.errors and dataset.metadata.record_sets
    for table in dataset.metadata.record_sets:
        rows = list(dataset.records(table.id))
        assert rows and all(set(row) == {f"{table.id}/{field.name}" for field in table.fields} for row in rows)
