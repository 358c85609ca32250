"""If this fails, other candidate statements are drawn, or the same ones in another order."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from rows_with_images import (
    MetaclueRow,
    metaclue_metaphor,
    metaclue_negative,
    metaclue_row,
    write_metaclue,
)

from figlang_tasks.benchmarks.metaclue import annotations as annotation_file
from figlang_tasks.benchmarks.metaclue import candidates
from figlang_tasks.benchmarks.metaclue.annotations import Annotation
from figlang_tasks.benchmarks.metaclue.candidates import SETTINGS, normalize
from figlang_tasks.core import hub
from figlang_tasks.core.errors import DataError

MINI = "figlang_mini_metaclue"


@pytest.fixture
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that holds the data of the user."""
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path


def write_rows(folder: Path, rows: list[MetaclueRow]) -> None:
    """Write an annotation file in place of the one that was read before."""
    write_metaclue(folder, rows, pictures=False)
    hub.clear_caches()


# The draw as it is published. A change makes scores incomparable: raise the version of the task
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


@pytest.mark.parametrize("setting_name", SETTINGS)
def test_the_published_candidates_stay_as_they_are(setting_name: str) -> None:
    drawn = candidates.draw(MINI, setting_name)
    assert candidates.digest(drawn) == DIGESTS[setting_name]


def statements(row: Annotation) -> set[str]:
    """The normal forms of an image's statements."""
    return {normalize(metaphor.statement) for metaphor in row.metaphors}


@pytest.mark.parametrize("setting_name", SETTINGS)
def test_exactly_one_candidate_is_the_images_own(setting_name: str) -> None:
    method, candidate_count = SETTINGS[setting_name]
    row_by_image = {row.image: row for row in annotation_file.read(MINI).rows}
    statements_of_test_images: set[str] = set()
    for annotation in row_by_image.values():
        if annotation.split == "test":
            statements_of_test_images |= statements(annotation)

    for image, texts, answer in candidates.draw(MINI, setting_name):
        own_statements = statements(row_by_image[image])
        forms = [normalize(text) for text in texts]
        right_indices = [index for index, form in enumerate(forms) if form in own_statements]
        assert right_indices == [answer]
        assert len(set(forms)) == candidate_count
        assert row_by_image[image].split == "test"
        if method == "random":
            assert statements_of_test_images.issuperset(forms)


@pytest.mark.parametrize("setting_name", ["random50", "neg_prim_rel", "swap"])
def test_the_order_of_images_and_annotators_has_no_effect(
    setting_name: str, data_folder: Path
) -> None:
    rows = [metaclue_row(number) for number in range(80)]
    rows += [metaclue_row(80, split="train"), metaclue_negative(81)]
    write_rows(data_folder, rows)
    drawn = candidates.draw("MetaCLUE", setting_name)

    shuffled_rows = random.Random(1).sample(rows, len(rows))
    for shuffled_row in shuffled_rows:
        if "metaphors" in shuffled_row:
            shuffled_row["metaphors"] = shuffled_row["metaphors"][::-1]
    write_rows(data_folder, shuffled_rows)
    assert sorted(candidates.draw("MetaCLUE", setting_name)) == sorted(drawn)


def test_a_swapped_statement_that_is_right_too_is_no_negative(
    data_folder: Path, warnings_of_loguru: list[str]
) -> None:
    both_orders = [
        metaclue_metaphor(0, primary="a", secondary="b"),
        metaclue_metaphor(0, primary="b", secondary="a", best=False),
    ]
    one_order = metaclue_metaphor(0, primary="a", secondary="c", best=False)
    rows = [
        metaclue_row(0, metaphors=both_orders),
        metaclue_row(1, metaphors=[*both_orders, one_order]),
        metaclue_row(2),
    ]
    write_rows(data_folder, rows)

    texts_by_image: dict[str, tuple[str, ...]] = {}
    for image, texts, _ in candidates.draw("MetaCLUE", "swap"):
        texts_by_image[image] = texts
    assert set(texts_by_image) == {"1/1.jpg", "2/2.jpg"}
    assert set(texts_by_image["1/1.jpg"]) == {"a is as odd 0 as c", "c is as odd 0 as a"}
    warning = "leaves out 1 image(s), e.g. 0/0.jpg"
    assert any(warning in message for message in warnings_of_loguru)


# Ten images have 50 statements, 45 of which are those of other images.
TEN_IMAGES = [metaclue_row(number) for number in range(10)]
NO_METAPHORS = [metaclue_row(0, metaphors=[], boxes=None), metaclue_negative(1)]
ONE_TOPIC = [metaclue_row(number, topic="cars") for number in range(60)]


@pytest.mark.parametrize(
    ("rows", "setting_name", "message"),
    [
        (
            TEN_IMAGES,
            "random50",
            r"line 1 \(0/0.jpg\): 45 distinct negatives for retrieve_random50, .*needs 49",
        ),
        (NO_METAPHORS, "random50", "has no test image with metaphors"),
        (ONE_TOPIC, "neg_prim", "0 distinct negatives"),
    ],
    ids=["ten images", "no metaphors", "one topic"],
)
def test_too_few_statements_end_with_a_message(
    rows: list[MetaclueRow], setting_name: str, message: str, data_folder: Path
) -> None:
    write_rows(data_folder, rows)
    with pytest.raises(DataError, match=message):
        candidates.draw("MetaCLUE", setting_name)
