"""V-FLUTE's rows: if this fails, their ids, instructions, sources or exemplars are not those of the
release.
"""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from pathlib import Path

import pytest
from flute_rows import VFLUTE_SPLIT_SIZES, invented_vflute_rows, write_vflute_repo

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.prompting import render


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_prompts_and_ids_of_all_723_test_rows_are_those_of_the_release(shared_file: Path) -> None:
    instructions = rows.instruction_numbers(VFLUTE_SPLIT_SIZES, "test")
    released_rows = read_csv(shared_file)
    equal_prompts = 0
    for row in released_rows:
        source, split, row_index = row["id"].rsplit("-", 2)
        assert (source, split) == (row["source_dataset"], "test")
        claim = row["claim"]
        instruction = instructions[int(row_index)]
        prompt = render("vflute/question.jinja", instruction=instruction, claim=claim)
        equal_prompts += prompt == row["prompt"].replace("REPLACE_CLAIM", f'"{claim}"')
    assert len({row["id"] for row in released_rows}) == len(released_rows)
    assert (equal_prompts, len(released_rows)) == (723, 723)


@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_the_test_rows_of_each_source_are_as_many_as_in_table_3(shared_file: Path) -> None:
    group_sizes: Counter[str] = Counter()
    for row in read_csv(shared_file):
        group_sizes[rows.report_group(row["source_dataset"], row["phenomenon"])] += 1
    assert group_sizes == {
        "vismet": 101,
        "irfl_metaphor_simile": 120,
        "irfl_idiom": 100,
        "muse": 106,
        "memecap": 196,
        "nycartoons": 100,
    }


def test_instructions_of_the_test_split_are_the_authors() -> None:
    # Read off the prompts of the released test file: the first twelve, and a digest of all 723.
    first_twelve = [9, 10, 19, 12, 13, 5, 4, 8, 15, 6, 4, 7]
    digest = "00c1ff7fbeb0e09f3c314f64a5cd5a80aa4a50543c52d11ab957cbb337eff878"
    instructions = rows.instruction_numbers(VFLUTE_SPLIT_SIZES, "test")
    assert instructions[:12] == first_twelve
    assert hashlib.sha256(bytes(instructions)).hexdigest() == digest


TINY = {"train": 100, "validation": 8, "test": 30}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small dataset in V-FLUTE's schema and layout, found through FIGLANG_DATA_DIR as V-FLUTE."""
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    for split, count in TINY.items():
        monkeypatch.setitem(source_of("V-FLUTE").splits, split, count)
    rows_by_split = {split: invented_vflute_rows(split, count) for split, count in TINY.items()}
    write_vflute_repo(tmp_path / "V-FLUTE", rows_by_split)
    return tmp_path / "V-FLUTE"


def test_documents_have_ids_instructions_and_sources_and_undecoded_pictures(tiny: Path) -> None:
    documents = rows.load("V-FLUTE", "test")
    assert documents["id"][:2] == ["irfl-test-0", "irfl-test-1"]
    assert documents["instruction"] == rows.instruction_numbers(TINY, "test")
    assert set(documents["report_group"]) == set(rows.REPORT_GROUPS)
    assert documents[0]["image"]["bytes"].startswith(b"\x89PNG")


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
def test_exemplars_are_train_rows_spread_over_sources_and_labels(tiny: Path, count: int) -> None:
    exemplars = rows.exemplars("V-FLUTE", count, 42)
    assert all("-train-" in exemplar["id"] for exemplar in exemplars)
    assert len({exemplar["id"] for exemplar in exemplars}) == count

    sources = Counter(exemplar["source_dataset"] for exemplar in exemplars)
    assert max(sources.values()) - min(sources.values()) <= 1
    assert len(sources) == min(count, 5)
    labels = Counter(exemplar["label"] for exemplar in exemplars)
    most_apart = 1 + sources["nycartoons"]  # which has entailment alone
    assert abs(labels["entailment"] - labels["contradiction"]) <= most_apart


def test_exemplars_are_decoded_and_depend_on_the_seed_alone(tiny: Path) -> None:
    exemplars = rows.exemplars("V-FLUTE", 10, 42)
    assert exemplars[0]["image"].mode == "RGB"
    ids = [exemplar["id"] for exemplar in exemplars]
    hub.clear_caches()  # else the exemplars above are returned again
    assert [exemplar["id"] for exemplar in rows.exemplars("V-FLUTE", 10, 42)] == ids
