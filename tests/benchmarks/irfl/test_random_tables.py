"""Other random candidates are drawn, or a draw does not repeat, if this fails."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from irfl_hub import uuid, write_table

from figlang_tasks.benchmarks.irfl import random_tables, tables
from figlang_tasks.core import hub

NAME = "random4-idiom-figurative"


def base_rows(phrases: int = 5, each: int = 6) -> list[dict[str, object]]:
    """Of each phrase two figurative images, one figurative+literal and the rest of other kinds; one image is shared."""
    kinds = ["Figurative", "Figurative", "Figurative+Literal", "Literal", "Partial Literal", "None"]
    rows: list[dict[str, object]] = []
    for phrase in range(phrases):
        for number in range(each):
            row: dict[str, object] = {"phrase": f"phrase {phrase}", "category": kinds[number], "definition": ["a", "b"]}
            rows.append(row | {"uuid": uuid(10 * phrase + number)})
    return [*rows, rows[0] | {"phrase": "phrase 1", "category": "None"}]


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    folder = tmp_path / "figlang_mini_irfl"
    write_table(folder, "idioms-dataset", base_rows())
    return folder


def load(name: str = NAME) -> tuple[tuple[tables.Row, ...], str]:
    table = random_tables.load("figlang_mini_irfl", name)
    return table.rows, table.data


@pytest.mark.usefixtures("local")
def test_each_image_of_the_category_is_the_answer_once() -> None:
    rows, data = load()
    assert [row.answer for row in rows] == [uuid(10 * phrase + number) for phrase in range(5) for number in range(2)]
    assert {row.type for row in rows} == {"figurative"}
    assert all(row.definitions == ("a", "b") for row in rows)
    assert data.startswith(f"figlang_mini_irfl/{NAME}@local:")
    others, _ = load("random4-idiom-figurative-literal")
    assert [row.answer for row in others] == [uuid(10 * phrase + 2) for phrase in range(5)]


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(("name", "count"), [(NAME, 3), ("random2-idiom-figurative", 1)])
def test_distractors_show_other_phrases(name: str, count: int) -> None:
    shows: dict[str, set[str]] = {}
    for row in base_rows():
        shows.setdefault(str(row["phrase"]), set()).add(str(row["uuid"]))
    for drawn in load(name)[0]:
        assert len(set(drawn.negatives)) == count
        assert not set(drawn.negatives) & shows[drawn.phrase]
        assert set(drawn.roles.values()) == {"random"}


def test_the_order_of_the_table_is_of_no_effect(local: Path) -> None:
    before, data = load()
    hub.look_again()
    shuffled = base_rows()
    random.Random(1).shuffle(shuffled)
    write_table(local, "idioms-dataset", shuffled)
    assert load() == (before, data)


def test_the_draw_is_the_published_one() -> None:
    """A change of these digests makes scores incomparable: raise the version of the task files then."""
    found = {name: random_tables.load("figlang_mini_irfl", name).data for name in random_tables.CONFIGURATIONS}
    assert {name: data.rpartition(":")[2] for name, data in found.items()} == DIGESTS


DIGESTS = {
    "random2-idiom-figurative": "56e85c03b146",
    "random4-idiom-figurative": "64d15f875598",
    "random4-idiom-figurative-literal": "23933e8ce82a",
    "random2-metaphor": "c67f7c94d55a",
    "random4-metaphor": "5e057959b47d",
    "random2-simile": "122879350e47",
    "random4-simile": "096d7bc3729c",
}
