"""The rows of `figlang_mini_flute`, as written and as shipped."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from figlang_tasks import mini
from figlang_tasks.benchmarks.flute import rows as flute_rows
from figlang_tasks.core.hub import sources
from tools.mini.flute import FILE, TYPES, validate, write
from tools.mini.flute_texts import Row, rows

COLUMNS = ["id", "premise", "hypothesis", "label", "explanation", "split", "type", "idiom"]


@pytest.fixture(scope="module")
def shipped() -> list[dict]:
    return [json.loads(line) for line in (mini.FLUTE_DIR / FILE).read_text(encoding="utf-8").split("\n")[:-1]]


def test_shipped_equals_a_rebuild(tmp_path: Path) -> None:
    assert write(tmp_path) == sources()["figlang_mini_flute"].splits["train"]
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (mini.FLUTE_DIR / path.name).read_bytes()
    shipped = {path.name for path in mini.FLUTE_DIR.iterdir()}
    assert shipped == {"croissant.json", *(path.name for path in tmp_path.iterdir())}


def test_columns_types_and_labels_are_the_hubs(shipped: list[dict]) -> None:
    assert all(list(row) == COLUMNS for row in shipped)
    assert {row["type"] for row in shipped} == set(TYPES)
    assert {row["label"] for row in shipped} == set(flute_rows.LABELS)
    kinds = Counter((row["type"], row["label"]) for row in shipped)
    for kind in ("Simile", "Metaphor", "Idiom"):
        assert kinds[kind, "Entailment"] == kinds[kind, "Contradiction"] >= 3
    labels = Counter(row["label"] for row in shipped)
    assert max(labels.values()) / len(shipped) < 0.55


def test_it_loads_as_flute_does() -> None:
    documents = flute_rows.load("figlang_mini_flute", "train")
    assert len(set(documents["id"])) == len(documents) == 32
    assert set(documents["report_group"]) == set(flute_rows.REPORT_GROUPS)
    assert documents["revision"][0] == "package"


def test_texts_are_complete_and_hold_what_is_hard_for_prompts() -> None:
    validate(rows())
    assert len({row.explanation for row in rows()}) == len(rows())
    assert all(row.explanation.endswith(".") and 40 <= len(row.explanation) <= 200 for row in rows())
    assert any('"' in row.premise for row in rows())


@pytest.mark.parametrize("shared_file", ["data/flute_train.jsonl"], indirect=True)
def test_no_sentence_is_flutes(shared_file: Path) -> None:
    released = [json.loads(line) for line in shared_file.read_text(encoding="utf-8").split("\n") if line]
    known = {values[column] for values in released for column in ("premise", "hypothesis", "explanation")}
    assert not known & {text for row in rows() for text in (row.premise, row.hypothesis, row.explanation)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"premise": " x"}, "untrimmed"),
        ({"explanation": ""}, "empty"),
        ({"label": "Neutral"}, "unknown label 'Neutral'"),
        ({"type": "Pun"}, "unknown type 'Pun'"),
        ({"label": "Contradiction"}, "CreativeParaphrase is never Contradiction"),
        ({"idiom": "by heart"}, "idioms, and nothing else, name their idiom"),
    ],
)
def test_validation_names_the_fault(change: dict[str, str], message: str) -> None:
    good: Row = rows()[0]
    with pytest.raises(ValueError, match=message):
        validate([replace(good, **change)])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the pair occurs twice"):
        validate([good, good])
