"""The rows of `figlang_mini`, as written and as shipped."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import datasets
import numpy as np
import pytest

from figlang_tasks.mini import DATA_DIR
from tools.mini.build import COLUMNS, IMAGE_SIZE, PHENOMENA, SPLITS, build_split, picture, validate, write
from tools.mini.texts import Row, Split, rows

ALL_ROWS = [row for split in SPLITS for row in rows(split)]
GROUPS = ("vismet", "irfl_metaphor_simile", "irfl_idiom", "muse", "memecap", "nycartoons")


def _group(source: str, phenomenon: str) -> str:
    """Report group of V-FLUTE, computed here apart from the package's own rule."""
    if source != "irfl":
        return source
    return "irfl_idiom" if phenomenon == "idiom" else "irfl_metaphor_simile"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> datasets.DatasetDict:
    cache = tmp_path_factory.mktemp("cache")  # a cache of its own, so that no older build is served
    return datasets.load_dataset(str(DATA_DIR), cache_dir=str(cache))


@pytest.fixture(scope="module")
def built() -> dict[Split, datasets.Dataset]:
    return {split: build_split(split) for split in SPLITS}


def test_shipped_schema(shipped: datasets.DatasetDict) -> None:
    assert sorted(shipped) == ["test", "train"]
    for split in SPLITS:
        features = shipped[split].features
        assert tuple(features) == COLUMNS
        assert isinstance(features["image"], datasets.Image)
        assert all(features[name] == datasets.Value("string") for name in COLUMNS[1:])


def test_counts_and_groups(shipped: datasets.DatasetDict) -> None:
    test, train = shipped["test"], shipped["train"]
    assert len(test) >= 72
    assert len(train) >= 24
    cells = Counter(
        (_group(s, p), label)
        for s, p, label in zip(test["source_dataset"], test["phenomenon"], test["label"], strict=True)
    )
    assert {group for group, _ in cells} == set(GROUPS)
    for group in GROUPS:
        entailed, contradicted = cells[group, "entailment"], cells[group, "contradiction"]
        if group == "nycartoons":
            assert contradicted == 0 < entailed
        else:
            assert min(entailed, contradicted) >= 6
            assert abs(entailed - contradicted) <= 2
    majority = max(Counter(test["label"]).values()) / len(test)
    assert 0.5 <= majority <= 0.55
    assert set(test["phenomenon"]) == set(train["phenomenon"]) == {"metaphor", "simile", "idiom", "sarcasm", "humor"}
    assert set(train["source_dataset"]) == set(PHENOMENA)


def test_shipped_files_are_small_and_carry_a_card() -> None:
    files = [path for path in DATA_DIR.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 2_000_000
    names = {path.relative_to(DATA_DIR).as_posix() for path in files}
    assert names == {
        "README.md",
        "croissant.json",
        "data/train-00000-of-00001.parquet",
        "data/test-00000-of-00001.parquet",
    }
    card = (DATA_DIR / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlicense: apache-2.0\n")
    assert f"{len(rows('train'))} train and {len(rows('test'))} test rows" in card


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_shipped_equals_a_rebuild(
    shipped: datasets.DatasetDict, built: dict[Split, datasets.Dataset], split: Split
) -> None:
    old, new = shipped[split], built[split]
    assert old.features == new.features
    for name in COLUMNS[1:]:
        assert list(old[name]) == list(new[name])
    for before, after in zip(old["image"], new["image"], strict=True):
        assert before.size == after.size == (IMAGE_SIZE, IMAGE_SIZE)
        assert before.mode == after.mode == "RGB"
        # near, not equal: another Pillow may place the edge of a shape a little differently
        gap = np.abs(np.asarray(before, dtype=np.int16) - np.asarray(after, dtype=np.int16))
        assert gap.mean() < 2


@pytest.mark.slow
def test_build_is_deterministic(built: dict[Split, datasets.Dataset], tmp_path: Path) -> None:
    assert write(tmp_path / "written") == {"train": len(rows("train")), "test": len(rows("test"))}
    for split, rebuilt in built.items():
        (written,) = (tmp_path / "written").rglob(f"{split}-*.parquet")
        rebuilt.to_parquet(str(tmp_path / "again.parquet"))
        assert written.read_bytes() == (tmp_path / "again.parquet").read_bytes()


def test_texts_are_hand_written_and_complete() -> None:
    validate(ALL_ROWS)
    assert len({row.claim.casefold() for row in ALL_ROWS}) == len(ALL_ROWS)
    assert len({row.explanation for row in ALL_ROWS}) == len(ALL_ROWS)
    for row in ALL_ROWS:
        assert row.claim[-1] in '.!?"'
        assert row.explanation.endswith(".")
        assert 40 <= len(row.explanation) <= 260
    # hard cases for prompt building that V-FLUTE has too
    assert any('"' in row.claim for row in rows("test"))
    assert any("?" in row.claim for row in rows("test"))


def test_no_picture_is_used_twice() -> None:
    assert len({(row.concept, row.seed) for row in ALL_ROWS}) == len(ALL_ROWS)


def test_cartoons_are_grey_and_the_rest_is_not() -> None:
    for row in rows("test")[::3] + rows("test")[-2:]:
        red, green, blue = (np.asarray(band) for band in picture(row, 48).split())
        grey = bool((red == green).all() and (green == blue).all())
        assert grey == (row.source_dataset == "nycartoons")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim": " x"}, "untrimmed"),
        ({"explanation": ""}, "empty"),
        ({"explanation": "So LABEL: entailment"}, "must not hold a label"),
        ({"label": "neutral"}, "unknown label 'neutral'"),
        ({"phenomenon": "idiom"}, "does not occur in 'vismet'"),
        ({"source_dataset": "flute"}, "does not occur in 'flute'"),
        ({"concept": "unicorn"}, "unknown concept 'unicorn'"),
    ],
)
def test_validation_names_the_fault(change: dict[str, str], message: str) -> None:
    good: Row = rows("test")[0]
    with pytest.raises(ValueError, match=message):
        validate([replace(good, **change)])  # type: ignore[arg-type]


def test_validation_finds_repetition() -> None:
    good = rows("test")[0]
    with pytest.raises(ValueError, match="claim occurs twice"):
        validate([good, replace(good, seed=1)])
    with pytest.raises(ValueError, match="picture occurs twice"):
        validate([good, replace(good, claim="Another claim.")])


def test_unknown_split() -> None:
    with pytest.raises(ValueError, match="'validation'"):
        rows("validation")  # type: ignore[arg-type]
