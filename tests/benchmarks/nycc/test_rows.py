"""NYCC's rows are other ones than the release has, or a fold sees another's exemplars, if this
fails.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import nycc_release as release
import pytest

from figlang_tasks.benchmarks.nycc import configurations, counts, rows
from figlang_tasks.benchmarks.nycc.benchmark import BENCHMARK
from figlang_tasks.core.request import Request

CONFIGS = [
    name
    for task, pixels in product(counts.TEST, ("", "_from_pixels"))
    for name in configurations.fold_names({"config": f"{task}{pixels}", "fold": "all"})
]
# Train, validation and test as the hub's pages show them (facts: neighbours.md 1.2); None where
# they were not seen.
SHOWN: dict[str, list[tuple[int | None, int | None, int | None]]] = {
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
    # a description has six rows of each to train
    "explanation": [(2340 // 6, 130, 131), *[(None, None, None)] * 4],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def test_numbers_of_rows_are_those_of_the_hub() -> None:
    assert len(CONFIGS) == len({configurations.parse_name(name) for name in CONFIGS}) == 30
    totals = {"matching": 2691, "ranking": 2615, "explanation": 651}
    for task, folds in SHOWN.items():
        test = counts.TEST[task]
        assert sum(test) == totals[task]
        for fold, shown in enumerate(folds):
            # The test of a fold is the validation of the one before
            following = test[(fold + 1) % 5]
            found = (totals[task] - test[fold] - following, following, test[fold])
            assert all(known in (None, own) for known, own in zip(shown, found, strict=True)), (
                task,
                fold,
            )
    assert [
        counts.count(Request.of("NYCC", config=name, fold="1"))
        for name in ("ranking", "ranking_from_pixels")
    ] == [
        507,
        506,
    ]
    assert counts.count(Request.of("NYCC", config="matching_from_pixels", fold="all")) == 2691
    assert set(CONFIGS) > counts.SEEN and len(counts.SEEN) == 12


@pytest.mark.parametrize(("name", "fold"), [("matching", "3"), ("ranking_from_pixels", "2")])
def test_documents_of_a_choice(folder: Path, name: str, fold: str) -> None:
    config = f"{name}_{fold}"
    release.release(folder, config)
    found, of = rows.load("NYCC", name, fold), configurations.parse_name(config)
    assert len(found) == counts.count(Request.of("NYCC", config=name, fold=fold))
    assert found[0]["data"].startswith(f"NYCC/{config}@local:")
    first = release.row(config, 0)
    assert (found[0]["id"], found[0]["captions"]) == (
        first["instance_id"],
        first["caption_choices"],
    )
    assert (
        found[0]["candidates"][0]
        == f"a new yorker cartoon with winning caption: {first['caption_choices'][0]}"
    )
    assert ("entities" in found.column_names) != of.from_pixels and ("winner_source" in first) == (
        of.task == "ranking"
    )
    if not of.from_pixels:
        assert found[0]["entities"] == ["Snail", "Watch"]


def test_documents_of_all_folds_tell_their_fold_and_share_their_data(folder: Path) -> None:
    for name in configurations.fold_names({"config": "explanation_from_pixels", "fold": "all"}):
        release.release(folder, name, test=2)
    found, alone = (
        BENCHMARK.documents(Request.of("NYCC", config="explanation_from_pixels", fold=fold))
        for fold in ("all", "3")
    )
    assert found["fold"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] and found["id"][6:8] == alone["id"]
    (data,) = set(found["data"])
    assert data.startswith("NYCC/explanation_from_pixels_all@local:")
    assert alone["data"][0].startswith("NYCC/explanation_from_pixels_3@local:")
    for documents in (found, alone):
        again = BENCHMARK.documents(Request.parse(documents["request"][0]))
        assert again["id"] == documents["id"]


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


def test_a_number_that_was_inferred_is_no_fault(
    folder: Path, warnings_of_loguru: list[str]
) -> None:
    release.write(
        folder, "ranking_4", "test", [release.row("ranking_4", number) for number in range(3)]
    )
    assert len(rows.load("NYCC", "ranking", "4")) == 3
    assert any(
        "ranking_4 has 3 test rows, where 531 were expected" in each for each in warnings_of_loguru
    )


def test_exemplars_are_of_contests_drawn_for_each_row(folder: Path) -> None:
    release.release(folder, "matching", train=24)
    drawn = {row: rows.exemplars("NYCC", "matching", row, 5, 42) for row in ("one", "two")}
    assert drawn["one"] == rows.exemplars("NYCC", "matching", "one", 5, 42) != drawn["two"]
    assert all(len({each["family"] for each in found}) == 5 for found in drawn.values())
    assert all(each["id"].startswith("train") for found in drawn.values() for each in found)
