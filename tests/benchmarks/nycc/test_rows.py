"""The data: what is read of the release, what is refused, and exemplars."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import nycc_release as release
import pytest
from datasets import Features, Value
from loguru import logger

from figlang_tasks.benchmarks.nycc import rows
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.hub import DataError

NYCC = benchmarks()["nycc"]
CONFIGS = [
    name
    for task, pixels in product(rows.TEST, ("", "_from_pixels"))
    for name in rows.configs({"config": f"{task}{pixels}", "fold": "all"})
]
# Train, validation and test as the hub's pages show them (facts: neighbours.md 1.2); None where they were not seen.
SHOWN: dict[str, list[tuple[int | None, int | None, int | None]]] = {
    "matching": [(1632, None, 528), (None, None, 531), (1605, 540, 546), (1605, 546, 540), (1617, 528, 546)],
    "ranking": [(1596, 506, 513), (1575, 534, 506), (1550, 531, 534), (1553, 531, 531), (None, None, None)],
    "explanation": [(2340 // 6, 130, 131), *[(None, None, None)] * 4],  # a description has six rows of each to train
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def test_numbers_of_rows_are_those_of_the_hub() -> None:
    assert len(CONFIGS) == len({rows.config(name) for name in CONFIGS}) == 30
    totals = {"matching": 2691, "ranking": 2615, "explanation": 651}
    for task, folds in SHOWN.items():
        test = rows.TEST[task]
        assert sum(test) == totals[task]
        for fold, shown in enumerate(folds):
            following = test[(fold + 1) % 5]  # the test of a fold is the validation of the one before
            found = (totals[task] - test[fold] - following, following, test[fold])
            assert all(known in (None, own) for known, own in zip(shown, found, strict=True)), (task, fold)
    assert [rows.count({"config": name, "fold": "1"}) for name in ("ranking", "ranking_from_pixels")] == [507, 506]
    assert rows.count({"config": "matching_from_pixels", "fold": "all"}) == 2691
    assert set(CONFIGS) > rows.SEEN and len(rows.SEEN) == 12


def test_what_is_fetched_is_all_folds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "TEST", {"matching": (2,) * 5})  # rows of each fold; hundreds in the release
    names = [name for name in CONFIGS if name.startswith("matching")]
    for name in names:
        release.write(folder, name, "test", [release.row(name, number) for number in range(2)])
    assert [each.what for each in rows.fetch()] == [f"NYCC/{name}, 2 rows" for name in names]


@pytest.mark.parametrize(("name", "fold"), [("matching", "3"), ("ranking_from_pixels", "2")])
def test_documents_of_a_choice(folder: Path, name: str, fold: str) -> None:
    config = f"{name}_{fold}"
    release.release(folder, config)
    found, of = rows.load("NYCC", name, fold), rows.config(config)
    assert len(found) == rows.count({"config": name, "fold": fold})
    assert found[0]["data"].startswith(f"NYCC/{config}@local:")
    first = release.row(config, 0)
    assert (found[0]["id"], found[0]["captions"]) == (first["instance_id"], first["caption_choices"])
    assert found[0]["candidates"][0] == f"a new yorker cartoon with winning caption: {first['caption_choices'][0]}"
    assert ("entities" in found.column_names) != of.pixels and ("winner_source" in first) == (of.task == "ranking")
    if not of.pixels:
        assert found[0]["entities"] == ["Snail", "Watch"]


def test_documents_of_all_folds_tell_their_fold_and_share_their_data(folder: Path) -> None:
    for name in rows.configs({"config": "explanation_from_pixels", "fold": "all"}):
        release.release(folder, name, test=2)
    found, alone = (rows.load("NYCC", "explanation_from_pixels", fold) for fold in ("all", "3"))
    assert found["fold"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4] and found["id"][6:8] == alone["id"]
    (data,) = set(found["data"])
    assert data.startswith("NYCC/explanation_from_pixels_all@local:")
    assert alone["data"][0].startswith("NYCC/explanation_from_pixels_3@local:")
    for documents in (found, alone):
        again = NYCC.documents(DataId.parse(documents["data"][0]), documents[0])
        assert again["id"] == documents["id"]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://en.wikipedia.org/wiki/Rule_of_three_(writing)", "Rule of three (writing)"),
        ("https://en.wikipedia.org/wiki/Bar_joke#History", "Bar joke"),
        ("https://en.wikipedia.org/w/index.php?title=X&redirect=no", None),
        (
            "https://en.wikipedia.org/?title=Santa%27s_(disambiguation)&redirect=no",
            "Santa'",
        ),  # their replacement takes the s
    ],
)
def test_entities_are_cleaned_as_in_the_released_script(url: str, name: str | None) -> None:
    if name is None:
        with pytest.raises(DataError, match="row 3: entities holds .* no page of Wikipedia"):
            rows.entity(url, "row 3")
    else:
        assert rows.entity(url, "row 3") == name


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("matching_1", {"caption_choices": ["a", "b"]}, "caption_choices is ['a', 'b'], must be 5 texts"),
        ("ranking", {"label": "C"}, "label is 'C', must be one of A, B"),
        ("explanation_1", {"label": " "}, "label is empty"),
        ("explanation_1", {"caption_choices": ""}, "caption_choices is '', must be a text"),
        ("matching_1", {"image": {"bytes": b"x", "path": "1.jpeg"}}, "the image cannot be decoded"),
        ("matching_1", {"instance_id": "testmatching1000-0"}, "testmatching1000-0 is also that of an earlier row"),
        ("ranking_1", None, "ranking_1 has 1 test rows, the published one has 507"),
    ],
)
def test_what_a_run_refuses(folder: Path, name: str, changes: dict[str, Any] | None, message: str) -> None:
    found = [release.row(name, number) for number in range(2 if changes else 1)]  # enough where none were shown
    found[-1] |= changes or {}
    release.write(folder, name, "test", found)
    with pytest.raises(DataError) as told:
        NYCC.load(rows.asked_by(DataId("NYCC", name, "0"), {}), True)
    assert message in str(told.value) and "NYCC" in str(told.value)


@pytest.mark.parametrize(
    ("column", "value", "kind", "message"),
    [
        ("image_location", 7, Value("int64"), "test row 1 (testmatching0-1): image_location is 7, must be a text"),
        ("entities", None, release.TEXTS, "test row 1 (testmatching0-1): entities is None, must be a list of links"),
        ("entities", [None], release.TEXTS, "test row 1 (testmatching0-1): entities is [None], must be a list of"),
        ("image", 7, Value("int64"), "image holds Value('int64'), not pictures. Use the files of the original release"),
    ],
)
def test_a_column_of_another_type_is_refused(
    column: str, value: Any, kind: Any, message: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = Features({**release.features("matching"), column: kind})
    monkeypatch.setattr(release, "features", lambda _: columns)
    first: dict[str, Any] = {} if kind is release.TEXTS else {column: value}
    second: dict[str, Any] = {column: value}
    found = [release.row("matching", 0, **first), release.row("matching", 1, **second)]
    release.write(folder, "matching", "test", found)
    with pytest.raises(DataError) as told:
        rows.load("NYCC", "matching", "0")
    assert message in " ".join(getattr(told.value, "faults", [str(told.value)]))


def test_a_number_that_was_inferred_is_no_fault(folder: Path) -> None:
    release.write(folder, "ranking_4", "test", [release.row("ranking_4", number) for number in range(3)])
    told: list[str] = []
    logger.enable("figlang_tasks")
    handler = logger.add(told.append, format="{message}")
    assert len(rows.load("NYCC", "ranking", "4")) == 3
    logger.remove(handler)
    assert any("ranking_4 has 3 test rows, where 531 were expected" in each and "inferred" in each for each in told)


@pytest.mark.parametrize(
    ("name", "fold", "message"),
    [
        ("captions", "all", "has no configuration"),
        ("matching_3", "all", "write the fold apart"),
        ("matching", "5", "the fold must be all, or one of 0, 1, 2, 3, 4"),
    ],
)
def test_a_configuration_or_fold_that_does_not_exist(name: str, fold: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        NYCC.load({"dataset": "NYCC", "config": name, "fold": fold}, True)


def test_exemplars_are_of_contests_drawn_for_each_row(folder: Path) -> None:
    release.release(folder, "matching", train=24)
    drawn = {row: rows.exemplars("NYCC", "matching", row, 5, 42) for row in ("one", "two")}
    assert drawn["one"] == rows.exemplars("NYCC", "matching", "one", 5, 42) != drawn["two"]
    assert all(len({each["family"] for each in found}) == 5 for found in drawn.values())
    assert all(each["id"].startswith("train") for found in drawn.values() for each in found)
    with pytest.raises(DataError, match="13 exemplars asked for; there are 12 train contests"):
        rows.exemplars("NYCC", "matching", "one", 13, 42)
