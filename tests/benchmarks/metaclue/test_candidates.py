"""Other candidate statements are drawn, or other ones in another order, if this fails."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from metaclue_rows import metaphor, negative, row, write

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import candidates
from figlang_tasks.benchmarks.metaclue.candidates import SETTINGS, normalize
from figlang_tasks.core import hub
from figlang_tasks.core.errors import DataError


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path


def put(folder: Path, rows: list[dict[str, Any]]) -> None:
    write(folder, rows, pictures=False)
    hub.clear_caches()


# The draw as it is published: a change makes scores incomparable, so raise the version of the task
# files then.
DIGESTS = {
    "random50": "e17d3459adcd",
    "random100": "81b8b412b02f",
    "random500": "e89446f21cb7",
    "random1000": "f184d2c38e78",
    "neg_prim": "53dab1a98342",
    "neg_sec": "4a0e8f439999",
    "neg_prim_rel": "62c9e0986e02",
    "neg_sec_rel": "da007c0a4b8a",
    "swap": "533bfabfa4ad",
}


@pytest.mark.parametrize("name", SETTINGS)
def test_of_the_published_candidates_one_is_the_images_own(name: str) -> None:
    drawn = candidates.draw("figlang_mini_metaclue", name)
    rows = {row.image: row for row in annotation_file.read("figlang_mini_metaclue").rows}
    pool = {
        normalize(each.statement)
        for row in rows.values()
        if row.split == "test"
        for each in row.metaphors
    }
    for image, texts, answer in drawn:
        own = {normalize(each.statement) for each in rows[image].metaphors}
        said = [normalize(text) for text in texts]
        assert len(set(said)) == SETTINGS[name].candidate_count and rows[image].split == "test"
        assert [place for place, text in enumerate(said) if text in own] == [answer]
        assert SETTINGS[name].method != "random" or pool.issuperset(said)
    assert candidates.digest(drawn) == DIGESTS[name]


@pytest.mark.parametrize("name", ["random50", "neg_prim_rel", "swap"])
def test_the_order_of_images_and_annotators_is_of_no_effect(name: str, local: Path) -> None:
    rows = [*map(row, range(80)), row(80, split="train"), negative(81)]
    put(local, rows)
    before = candidates.draw("MetaCLUE", name)
    mixed = random.Random(1).sample(rows, len(rows))
    put(
        local,
        [
            each | {"metaphors": each["metaphors"][::-1]} if "metaphors" in each else each
            for each in mixed
        ],
    )
    assert sorted(candidates.draw("MetaCLUE", name)) == sorted(before)


def test_a_swap_that_is_right_too_is_not_asked(local: Path, warnings_of_loguru: list[str]) -> None:
    both = [
        metaphor(0, primary="a", secondary="b"),
        metaphor(0, primary="b", secondary="a", best=False),
    ]
    one = [*both, metaphor(0, primary="a", secondary="c", best=False)]
    put(local, [row(0, metaphors=both), row(1, metaphors=one), row(2)])
    found = {each.image: each for each in candidates.draw("MetaCLUE", "swap")}
    assert set(found) == {"1/1.jpg", "2/2.jpg"}
    assert set(found["1/1.jpg"].texts) == {"a is as odd 0 as c", "c is as odd 0 as a"}
    assert any("leaves out 1 image(s), e.g. 0/0.jpg" in message for message in warnings_of_loguru)


def test_too_few_statements_are_told(local: Path) -> None:
    put(local, [row(number) for number in range(10)])  # 50 statements, 45 of them of other images
    with pytest.raises(
        DataError,
        match=r"line 1 \(0/0.jpg\): 45 distinct negatives for retrieve_random50, .*needs 49",
    ):
        candidates.draw("MetaCLUE", "random50")
    put(local, [row(0, metaphors=[], boxes=None), negative(1)])
    with pytest.raises(DataError, match="has no test image with metaphors"):
        candidates.draw("MetaCLUE", "random50")
    put(local, [row(number, topic="cars") for number in range(60)])
    with pytest.raises(DataError, match="0 distinct negatives"):
        candidates.draw("MetaCLUE", "neg_prim")
