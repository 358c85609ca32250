"""NYCC's rows are not those of the release, or a fold sees another's exemplars, if this fails."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
import rows_with_images

from figlang_tasks.benchmarks.nycc import configurations, counts, rows
from figlang_tasks.benchmarks.nycc.benchmark import BENCHMARK
from figlang_tasks.core.request import Request

CONFIGS: list[str] = []
for task_name, pixels in product(counts.TEST, ("", "_from_pixels")):
    CONFIGS += configurations.fold_names({"config": f"{task_name}{pixels}", "fold": "all"})

# Train, validation and test rows of each fold as the hub's pages show them; None if they do not.
ROWS_ON_THE_HUB: dict[str, list[tuple[int | None, int | None, int | None]]] = {
    "matching": [
        (1632, None, 528),
        (None, None, 531),
        (1605, 540, 546),
        (1605, 546, 540),
        (1617, 528, 546),
    ],
    "ranking": [
        (1596, 506, 513),
        (1575, 534, 506),
        (1550, 531, 534),
        (1553, 531, 531),
        (None, None, None),
    ],
    # From a description there are six training rows for each caption.
    "explanation": [(2340 // 6, 130, 131), *[(None, None, None)] * 4],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def test_there_are_30_configurations() -> None:
    assert len(CONFIGS) == len({configurations.parse_name(name) for name in CONFIGS}) == 30
    assert set(CONFIGS) > counts.SEEN
    assert len(counts.SEEN) == 12


@pytest.mark.parametrize(
    ("task", "total"), [("matching", 2691), ("ranking", 2615), ("explanation", 651)]
)
def test_numbers_of_rows_are_those_of_the_hub(task: str, total: int) -> None:
    test_rows = counts.TEST[task]
    assert sum(test_rows) == total
    for fold, rows_on_the_hub in enumerate(ROWS_ON_THE_HUB[task]):
        # The validation rows of a fold are the test rows of the next one.
        validation_rows = test_rows[(fold + 1) % 5]
        training_rows = total - test_rows[fold] - validation_rows
        row_counts = (training_rows, validation_rows, test_rows[fold])
        for count_on_the_hub, row_count in zip(rows_on_the_hub, row_counts, strict=True):
            assert count_on_the_hub in (None, row_count), f"fold {fold}"


@pytest.mark.parametrize(
    ("config", "fold", "row_count"),
    [
        ("ranking", "1", 507),
        ("ranking_from_pixels", "1", 506),
        ("matching_from_pixels", "all", 2691),
    ],
)
def test_the_rows_of_a_request_are_those_of_its_folds(
    config: str, fold: str, row_count: int
) -> None:
    assert counts.count(Request.of("NYCC", config=config, fold=fold)) == row_count


@pytest.mark.parametrize(("name", "fold"), [("matching", "3"), ("ranking_from_pixels", "2")])
def test_documents_of_a_choice(folder: Path, name: str, fold: str) -> None:
    config = f"{name}_{fold}"
    rows_with_images.write_nycc(folder, config)
    documents = rows.load("NYCC", name, fold)
    document = documents[0]
    released_row = rows_with_images.nycc_row(config, 0)
    assert len(documents) == counts.count(Request.of("NYCC", config=name, fold=fold))
    assert document["data"].startswith(f"NYCC/{config}@local:")
    assert document["id"] == released_row["instance_id"]
    captions = released_row["caption_choices"]
    assert document["captions"] == captions
    clip_text = f"a new yorker cartoon with winning caption: {captions[0]}"
    assert document["candidates"][0] == clip_text
    configuration = configurations.parse_name(config)
    assert ("winner_source" in released_row) == (configuration.task == "ranking")
    assert ("entities" in document) != configuration.from_pixels
    assert document.get("entities", ["Snail", "Watch"]) == ["Snail", "Watch"]


def test_documents_of_all_folds_name_their_fold_and_share_their_data(folder: Path) -> None:
    for name in configurations.fold_names({"config": "explanation_from_pixels", "fold": "all"}):
        rows_with_images.write_nycc(folder, name, test=2)
    all_folds = BENCHMARK.documents(
        Request.of("NYCC", config="explanation_from_pixels", fold="all")
    )
    fold_3 = BENCHMARK.documents(Request.of("NYCC", config="explanation_from_pixels", fold="3"))
    assert all_folds["fold"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert all_folds["id"][6:8] == fold_3["id"]
    (data,) = set(all_folds["data"])
    assert data.startswith("NYCC/explanation_from_pixels_all@local:")
    assert fold_3["data"][0].startswith("NYCC/explanation_from_pixels_3@local:")
    for documents in (all_folds, fold_3):
        loaded_by_request = BENCHMARK.documents(Request.parse(documents["request"][0]))
        assert loaded_by_request["id"] == documents["id"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://en.wikipedia.org/wiki/Rule_of_three_(writing)", "Rule of three (writing)"),
        ("https://en.wikipedia.org/wiki/Bar_joke#History", "Bar joke"),
        (
            "https://en.wikipedia.org/?title=Santa%27s_(disambiguation)&redirect=no",
            "Santa'",
        ),  # their replacement takes the s
    ],
)
def test_entities_are_cleaned_as_in_the_released_script(url: str, name: str) -> None:
    assert rows.entity(url, "row 3") == name


def test_another_number_than_the_inferred_one_is_a_warning(
    folder: Path, warnings_of_loguru: list[str]
) -> None:
    rows_with_images.write_nycc_split(
        folder,
        "ranking_4",
        "test",
        [rows_with_images.nycc_row("ranking_4", number) for number in range(3)],
    )
    assert len(rows.load("NYCC", "ranking", "4")) == 3
    warning = "ranking_4 has 3 test rows, where 531 were expected"
    assert any(warning in message for message in warnings_of_loguru)


def test_exemplars_are_of_contests_drawn_for_each_row(folder: Path) -> None:
    rows_with_images.write_nycc(folder, "matching", train=24)
    exemplars = rows.exemplars("NYCC", "matching", "one", shots=5, seed=42)
    exemplars_of_another_row = rows.exemplars("NYCC", "matching", "two", shots=5, seed=42)
    assert exemplars == rows.exemplars("NYCC", "matching", "one", shots=5, seed=42)
    assert exemplars != exemplars_of_another_row
    for shots in (exemplars, exemplars_of_another_row):
        assert len({shot["family"] for shot in shots}) == 5
        assert all(shot["id"].startswith("train") for shot in shots)
