"""The stand-in for V-FLUTE has the shape of the dataset on the hub and loads from it by name."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

import pytest
import warm
from hub_server import HubServer
from vflute_hub import (
    REPO_ID,
    REVISION,
    SPLIT_SIZES,
    TEXT_COLUMNS,
    VFluteRow,
    draw_picture,
    released_csv,
    released_test_rows,
    synthetic_rows,
    write_vflute_repo,
)

needs_csv = pytest.mark.skipif(
    not released_csv().is_file(), reason="the released test rows (../shared/data/vflute_test.csv) are not here"
)


@needs_csv
def test_released_rows_are_in_hub_order() -> None:
    rows = released_test_rows(released_csv())
    assert [row.index for row in rows] == list(range(723))
    assert Counter(row.label for row in rows) == {"entailment": 405, "contradiction": 318}
    sources = {"irfl": 220, "memecap": 196, "muse": 106, "vismet": 101, "nycartoons": 100}
    assert Counter(row.source_dataset for row in rows) == sources
    assert all(row.id == f"{row.source_dataset}-test-{row.index}" for row in rows)
    assert all(f'"{row.claim}"' in row.prompt and "REPLACE_CLAIM" not in row.prompt for row in rows)


@needs_csv
def test_released_rows_of_vismet_are_metaphors_on_the_hub_only() -> None:
    def vismet(as_on_hub: bool) -> Counter[str]:
        rows = released_test_rows(released_csv(), as_on_hub=as_on_hub)
        return Counter(row.phenomenon for row in rows if row.source_dataset == "vismet")

    assert vismet(True) == {"metaphor": 101}
    assert vismet(False) == {"metaphor": 59, "simile": 42}


def test_released_rows_with_a_gap_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    header = "id,source_dataset,phenomenon,path,claim,label,explanation,prompt"
    path.write_text(f"{header}\nmuse-test-1,muse,sarcasm,p,c,entailment,e,i\n", encoding="utf-8")
    with pytest.raises(ValueError, match="not 0 to 0"):
        released_test_rows(path)


def test_synthetic_rows_cover_sources_and_labels() -> None:
    rows = synthetic_rows("train", 100)
    kinds = {(row.source_dataset, row.phenomenon, row.label) for row in rows}
    assert {kind[:2] for kind in kinds if kind[2] == "contradiction"} == {
        ("irfl", "metaphor"),
        ("irfl", "simile"),
        ("irfl", "idiom"),
        ("memecap", "humor"),
        ("muse", "sarcasm"),
        ("vismet", "metaphor"),
    }
    assert ("nycartoons", "humor", "entailment") in kinds and ("nycartoons", "humor", "contradiction") not in kinds
    claims = [row.claim for row in rows]
    assert len(set(claims)) == 100
    for awkward in ('"', "\n", "?"):
        assert any(awkward in claim for claim in claims)
    assert synthetic_rows("train", 5) == rows[:5]
    assert [row.id for row in synthetic_rows("validation", 1)] == ["irfl-validation-0"]


def test_pictures_are_fixed_and_distinct() -> None:
    rows = synthetic_rows("test", 723)
    pictures = [draw_picture(row) for row in rows]
    assert len(set(pictures)) == 723
    assert pictures[:3] == [draw_picture(row) for row in rows[:3]]


LOAD = f"""
import io, json
import datasets
data = datasets.load_dataset({REPO_ID!r}, revision={REVISION!r})
out = {{split: {{name: part[name][:] for name in part.features if name != "image"}} for split, part in data.items()}}
raw = data.cast_column("image", datasets.Image(decode=False))
pictures = {{split: [part[i]["image"]["bytes"].hex() for i in (0, len(part) - 1)] for split, part in raw.items()}}
mode = [data["test"][0]["image"].mode, data["test"][0]["image"].size]
print(json.dumps([out, pictures, mode, repr(data["test"].features["image"])]))
"""


def test_whole_dataset_is_served_gated_and_loads_by_name(tmp_path: Path) -> None:
    """All 6027 rows; the test split is the released one where its CSV is at hand."""
    rows: dict[str, list[VFluteRow]] = {split: synthetic_rows(split, count) for split, count in SPLIT_SIZES.items()}
    if released_csv().is_file():
        rows["test"] = released_test_rows(released_csv())
    folder = tmp_path / "repo"
    write_vflute_repo(folder, rows)
    assert sorted(path.name for path in (folder / "data").iterdir()) == [
        "test-00000-of-00001.parquet",
        "train-00000-of-00003.parquet",
        "train-00001-of-00003.parquet",
        "train-00002-of-00003.parquet",
        "validation-00000-of-00001.parquet",
    ]
    with HubServer() as hub:
        hub.add_repo(REPO_ID, folder, commit=REVISION, gated=True, granted_tokens={"hf_good"})
        done = warm.run([sys.executable, "-c", LOAD], cwd=tmp_path, env=hub.env(tmp_path, "hf_good"), timeout=600)
    assert done.returncode == 0, done.stderr
    loaded, pictures, mode, image_feature = json.loads(done.stdout.splitlines()[-1])
    assert {split: len(columns["claim"]) for split, columns in loaded.items()} == SPLIT_SIZES
    for split, expected in rows.items():
        assert list(loaded[split]) == list(TEXT_COLUMNS)
        for name in TEXT_COLUMNS:
            assert loaded[split][name] == [getattr(row, name) for row in expected]
        assert pictures[split] == [draw_picture(expected[0]).hex(), draw_picture(expected[-1]).hex()]
    assert mode == ["RGB", [64, 64]]
    assert image_feature == "Image(mode=None, decode=True)"
