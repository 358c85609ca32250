"""Other candidate statements are drawn, or other ones in another order, if this fails."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from metaclue_rows import metaphor, negative, row, write

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import candidates
from figlang_tasks.benchmarks.metaclue.annotations import PARTS, Annotation
from figlang_tasks.benchmarks.metaclue.candidates import SETTINGS, Candidates, normal
from figlang_tasks.core import hub
from figlang_tasks.core.errors import DataError

HARD = [name for name in SETTINGS if name.startswith("neg_")]


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path


def put(folder: Path, rows: list[dict[str, Any]]) -> None:
    write(folder, rows, pictures=False)
    hub.look_again()


def own(row: Annotation) -> set[str]:
    return {normal(metaphor.statement) for metaphor in row.metaphors}


def annotated() -> dict[str, Annotation]:
    return {row.image: row for row in annotation_file.read("MetaCLUE").rows}


def many(count: int = 220) -> list[dict[str, Any]]:
    """Images of five topics; train images and negatives, which must not take part, say what no other does."""
    train = [row(1000 + number, split="train") for number in range(20)]
    return [*(row(number) for number in range(count)), *train, negative(2000)]


# --- properties ------------------------------------------------------------------------------------------------------


def check(name: str, rows: list[Candidates], images: dict[str, Annotation]) -> None:
    """What holds of every draw."""
    taking_part = [each for each in images.values() if each.split == "test" and each.metaphors]
    pool = {text for each in taking_part for text in own(each)}
    for found in rows:
        image = images[found.image]
        assert len(found.texts) == SETTINGS[name][1] == len({normal(text) for text in found.texts})
        right = found.texts[found.answer]
        assert normal(right) in own(image)
        wrong = [text for place, text in enumerate(found.texts) if place != found.answer]
        assert not {normal(text) for text in wrong} & own(image)
        if SETTINGS[name][0] == "random":
            assert {normal(text) for text in wrong} <= pool


_name = st.sampled_from(["a cat", "The cat", "a dog", "dust", "this car", "a rocket", "ice", "fire", "an owl", "gold"])
_words = st.tuples(_name, st.sampled_from(["fast", "cold", "bright"]), _name)
_images = st.lists(
    st.tuples(st.lists(_words, max_size=4), st.sampled_from(["cars", "food", "health"]), st.booleans()),
    min_size=3,
    max_size=14,
)


@given(_images, st.sampled_from(["random", *HARD, "swap"]), st.integers(2, 6), st.randoms())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_annotations(
    local: Path,
    monkeypatch: pytest.MonkeyPatch,
    found: list[tuple[list[tuple[str, str, str]], str, bool]],
    kind: str,
    count: int,
    order: random.Random,
) -> None:
    rows = []
    for number, (words, topic, is_test) in enumerate(found):
        said = [
            {"primary": a, "relationship": b, "secondary": c, "best": place == 0}
            for place, (a, b, c) in enumerate(words)
        ]
        changed = {"metaphors": said, "topic": topic, "split": "test" if is_test else "train", "boxes": None}
        rows.append(row(number, **changed))
    put(local, rows)
    count = 2 if kind == "swap" else count
    monkeypatch.setitem(SETTINGS, "some", (kind, count))
    try:
        drawn = candidates.draw("MetaCLUE", "some")
    except DataError as error:
        message = str(error)
        taking_part = [image for image in annotated().values() if image.split == "test" and image.metaphors]
        if "no test image with metaphors" in message:
            assert not taking_part
        else:
            assert "do not have enough annotations" in message
            if kind == "random":
                pool = {text for image in taking_part for text in own(image)}
                assert min(len(pool - own(image)) for image in taking_part) < count - 1
        return
    check("some", drawn, annotated())
    order.shuffle(rows)
    for each in rows:
        order.shuffle(each["metaphors"])
    put(local, rows)
    again = {each.image: each for each in candidates.draw("MetaCLUE", "some")}
    assert again == {each.image: each for each in drawn}


@pytest.mark.parametrize("name", HARD)
def test_hard_negatives_replace_by_what_another_topic_has(local: Path, name: str) -> None:
    put(local, many(80))
    images = annotated()
    parts = {"prim": ["primary"], "sec": ["secondary"]}[name.split("_")[1]]
    parts += ["relationship"] * name.endswith("_rel")
    has: dict[str, set[tuple[str, ...]]] = {}
    for image in images.values():
        if image.split == "test" and image.topic is not None:
            values = {tuple(getattr(each, part) for part in parts) for each in image.metaphors}
            has.setdefault(image.topic, set()).update(values)
    for found in candidates.draw("MetaCLUE", name):
        image = images[found.image]
        others = set().union(*(values for topic, values in has.items() if topic != image.topic))
        (chosen,) = [each for each in image.metaphors if each.statement == found.texts[found.answer]]
        for place, text in enumerate(found.texts):
            if place == found.answer:
                continue
            words = text.replace(" is as ", " as ").split(" as ")
            replaced = dict(zip(PARTS, words, strict=True))
            assert tuple(replaced[part] for part in parts) in others
            kept = [part for part in PARTS if part not in parts]
            assert all(replaced[part] == getattr(chosen, part) for part in kept)
            assert not any(getattr(each, parts[0]) == replaced[parts[0]] for each in image.metaphors)


def test_a_swap_that_is_right_too_is_not_asked(local: Path, warnings_of_loguru: list[str]) -> None:
    both = [metaphor(0, primary="a", secondary="b"), metaphor(0, primary="b", secondary="a", best=False)]
    one = [*both, metaphor(0, primary="a", secondary="c", best=False)]
    put(local, [row(0, metaphors=both), row(1, metaphors=one), row(2)])
    found = {each.image: each for each in candidates.draw("MetaCLUE", "swap")}
    assert set(found) == {"1/1.jpg", "2/2.jpg"}
    assert set(found["1/1.jpg"].texts) == {"a is as odd 0 as c", "c is as odd 0 as a"}
    assert any("leaves out 1 image(s), e.g. 0/0.jpg" in message for message in warnings_of_loguru)


def test_the_draw_is_the_published_one() -> None:
    """A change of these digests makes scores incomparable: raise the version of the task files then."""
    found = {name: candidates.digest(candidates.draw("figlang_mini_metaclue", name)) for name in SETTINGS}
    assert found == DIGESTS


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


def test_too_few_statements_are_told(local: Path) -> None:
    put(local, [row(number) for number in range(10)])  # 50 statements, 45 of them of other images
    with pytest.raises(DataError, match=r"line 1 \(0/0.jpg\): 45 distinct negatives for retrieve_random50, .*needs 49"):
        candidates.draw("MetaCLUE", "random50")
    put(local, [row(0, metaphors=[], boxes=None), negative(1)])
    with pytest.raises(DataError, match="has no test image with metaphors"):
        candidates.draw("MetaCLUE", "random50")
    put(local, [row(number, topic="cars") for number in range(60)])
    with pytest.raises(DataError, match="0 distinct negatives"):
        candidates.draw("MetaCLUE", "neg_prim")
