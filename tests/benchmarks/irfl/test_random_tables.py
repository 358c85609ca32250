"""IRFL's random candidates: if this fails, other ones are drawn than before."""

from __future__ import annotations

import pytest

from figlang_tasks.benchmarks.irfl import random_tables, tables

# The draw as it is published. Another draw makes scores incomparable: raise the version of the
# tasks then.
DIGESTS = {
    "random2-idiom-figurative": "56e85c03b146",
    "random4-idiom-figurative": "64d15f875598",
    "random4-idiom-figurative-literal": "23933e8ce82a",
    "random2-metaphor": "c67f7c94d55a",
    "random4-metaphor": "5e057959b47d",
    "random2-simile": "122879350e47",
    "random4-simile": "096d7bc3729c",
}


@pytest.mark.parametrize(("name", "digest"), DIGESTS.items())
def test_the_draw_is_the_published_one(name: str, digest: str) -> None:
    data = random_tables.load("figlang_mini_irfl", name).data
    assert data.rpartition(":")[2] == digest


@pytest.mark.parametrize("name", DIGESTS)
def test_each_image_of_a_category_is_the_answer_once(name: str) -> None:
    configuration = random_tables.CONFIGURATIONS[name]
    images = tables.read_base_table("figlang_mini_irfl", configuration.base_table).rows
    expected: set[tuple[str, str]] = set()
    for image in images:
        if image.type == configuration.category:
            expected.add((image.phrase, image.answer))
    rows = random_tables.load("figlang_mini_irfl", name).rows
    assert sorted((row.phrase, row.answer) for row in rows) == sorted(expected)


@pytest.mark.parametrize("name", DIGESTS)
def test_distractors_are_different_images_of_other_phrases(name: str) -> None:
    configuration = random_tables.CONFIGURATIONS[name]
    images = tables.read_base_table("figlang_mini_irfl", configuration.base_table).rows
    all_images = {image.answer for image in images}
    for row in random_tables.load("figlang_mini_irfl", name).rows:
        images_of_phrase = {image.answer for image in images if image.phrase == row.phrase}
        assert len(set(row.negatives)) == configuration.candidates - 1
        assert set(row.negatives) <= all_images - images_of_phrase
        assert row.roles == dict.fromkeys(row.negatives, "random")
