"""V-FLUTE's rows have other ids, instructions, groups or exemplars than the released ones if this
fails.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from pathlib import Path

import pytest
from vflute_hub import SPLIT_SIZES, synthetic_rows, write_vflute_repo

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.prompting import render


@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_all_723_released_prompts_and_ids_and_the_groups_of_table_3(shared_file: Path) -> None:
    with shared_file.open(newline="", encoding="utf-8") as file:
        released = {row["id"]: row for row in csv.DictReader(file)}
    numbers = rows.instruction_numbers(SPLIT_SIZES, "test")
    matching = 0
    for row_id, row in released.items():
        source, split, position = row_id.rsplit("-", 2)
        assert (source, split) == (row["source_dataset"], "test")
        prompt = render(
            "vflute/question.jinja", instruction=numbers[int(position)], claim=row["claim"]
        )
        matching += prompt == row["prompt"].replace("REPLACE_CLAIM", '"' + row["claim"] + '"')
    assert (matching, len(released)) == (723, 723)
    groups = Counter(
        rows.report_group(row["source_dataset"], row["phenomenon"]) for row in released.values()
    )
    assert groups == {
        "vismet": 101,
        "irfl_metaphor_simile": 120,
        "irfl_idiom": 100,
        "muse": 106,
        "memecap": 196,
        "nycartoons": 100,
    }


def test_instructions_of_the_released_test_split() -> None:
    # Read off the prompts of the released test file, not computed: first twelve, and a digest of
    # all 723.
    numbers = rows.instruction_numbers(SPLIT_SIZES, "test")
    assert numbers[:12] == [9, 10, 19, 12, 13, 5, 4, 8, 15, 6, 4, 7]
    digest = "00c1ff7fbeb0e09f3c314f64a5cd5a80aa4a50543c52d11ab957cbb337eff878"
    assert hashlib.sha256(bytes(numbers)).hexdigest() == digest


TINY = {"train": 100, "validation": 8, "test": 30}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small dataset in V-FLUTE's schema and layout, found through FIGLANG_DATA_DIR as V-FLUTE."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    for split, count in TINY.items():
        monkeypatch.setitem(source_of("V-FLUTE").splits, split, count)
    write_vflute_repo(
        tmp_path / "V-FLUTE", {split: synthetic_rows(split, count) for split, count in TINY.items()}
    )
    return tmp_path / "V-FLUTE"


def test_documents(tiny: Path) -> None:
    documents = rows.load("V-FLUTE", "test")
    assert documents["id"][:2] == ["irfl-test-0", "irfl-test-1"]
    assert documents["instruction"] == rows.instruction_numbers(TINY, "test")
    assert set(documents["report_group"]) == set(rows.REPORT_GROUPS)
    assert documents[0]["image"]["bytes"].startswith(b"\x89PNG"), "left undecoded"


@pytest.mark.parametrize(
    ("source", "phenomenon", "group"),  # the columns of the paper's Table 7
    [
        ("irfl", "idiom", "irfl_idiom"),
        ("irfl", "metaphor", "irfl_metaphor_simile"),
        ("irfl", "simile", "irfl_metaphor_simile"),
        ("vismet", "idiom", "vismet"),
        ("memecap", "humor", "memecap"),
    ],
)
def test_irfl_alone_is_split_by_phenomenon(source: str, phenomenon: str, group: str) -> None:
    assert rows.report_group(source, phenomenon) == group


@pytest.mark.parametrize("count", [1, 10])
def test_exemplars_are_stratified_train_rows_and_depend_on_the_seed_alone(
    tiny: Path, count: int
) -> None:
    shots = rows.exemplars("V-FLUTE", count, 42)
    assert all("-train-" in shot["id"] for shot in shots)
    assert len({shot["id"] for shot in shots}) == count
    sources = Counter(shot["source_dataset"] for shot in shots)
    assert max(sources.values()) - min((sources[name] for name in sources), default=0) <= 1
    assert len(sources) == min(count, 5)
    labels = Counter(shot["label"] for shot in shots)
    assert abs(labels["entailment"] - labels["contradiction"]) <= 1 + sources["nycartoons"]
    again = [shot["id"] for shot in rows.exemplars("V-FLUTE", count, 42)]
    assert again == [shot["id"] for shot in shots]
    assert shots[0]["image"].mode == "RGB"
