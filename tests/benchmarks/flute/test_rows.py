"""FLUTE's rows: the release in both forms, types, ids, the held-out part, and what can be wrong
with a file.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from datasets import Dataset
from flute_rows import Values, as_on_the_hub, invented_flute_rows, write_flute_parquet, write_lines
from tasks_without_harness import refused_data

from figlang_tasks.benchmarks.flute import blind, rows
from figlang_tasks.benchmarks.flute.benchmark import BENCHMARK
from figlang_tasks.benchmarks.flute.heldout import families
from figlang_tasks.benchmarks.flute.pairs import Pair
from figlang_tasks.core import hub

PORTIONS = {
    "sarcasm": (241, 509),
    "simile": (125, 125),
    "metaphor": (125, 125),
    "idiom": (125, 125),
}


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FIGLANG_DATA_DIR/FLUTE, empty."""
    folder = tmp_path / "data" / "FLUTE"
    folder.mkdir(parents=True)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(folder.parent))
    return folder


def put(shared_file: Path, data_dir: Path) -> None:
    """Let FLUTE's folder hold a released file."""
    (data_dir / shared_file.name).symlink_to(shared_file)


def sentences(documents: Dataset) -> set[str]:
    """All premises and hypotheses, without differences of white space and case."""
    texts = [*documents["premise"][:], *documents["hypothesis"][:]]
    return {" ".join(text.split()).lower() for text in texts}


# --- the release ---


@pytest.mark.parametrize("shared_file", ["data/flute_train.jsonl"], indirect=True)
def test_the_released_file_loads_in_full(shared_file: Path, data_dir: Path) -> None:
    put(shared_file, data_dir)
    documents = rows.load("FLUTE", "train")
    assert len(documents) == 7534
    assert len(set(documents["id"][:])) == 7534
    assert Counter(zip(documents["report_group"][:], documents["label"][:], strict=True)) == {
        ("sarcasm", "Contradiction"): 2216,
        ("creative_paraphrase", "Entailment"): 1050,
        ("simile", "Entailment"): 625,
        ("simile", "Contradiction"): 625,
        ("metaphor", "Entailment"): 625,
        ("metaphor", "Contradiction"): 625,
        ("idiom", "Entailment"): 884,
        ("idiom", "Contradiction"): 884,
    }
    raw = [json.loads(line) for line in shared_file.read_text(encoding="utf-8").split("\n") if line]
    for column in ("premise", "hypothesis", "label", "explanation"):
        assert documents[column][:] == [values[column] for values in raw]


@pytest.mark.slow
@pytest.mark.parametrize("shared_file", ["data/flute_train.jsonl"], indirect=True)
def test_the_held_out_part_of_the_release_is_the_one_written_down(
    shared_file: Path, data_dir: Path, warnings_of_loguru: list[str]
) -> None:
    put(shared_file, data_dir)
    heldout = rows.load("FLUTE", "heldout")
    rest = rows.load("FLUTE", "rest")
    assert not warnings_of_loguru, "the digest of its ids is that of HELDOUT_DIGEST"
    assert heldout["id"][0] == "metaphor-453-561f5bf8"
    shots = [shot["id"] for shot in rows.exemplars("FLUTE", 4, "v2")]  # as the card names them
    assert shots == [
        "sarcasm-1301-84ea6770",
        "metaphor-532-d7ad93b6",
        "simile-556-6ec7b2cd",
        "idiom-803-6c3506f3",
    ]
    check_parts(heldout, rest)


def check_parts(heldout: Dataset, rest: Dataset) -> None:
    """Check sizes and proportions of the two parts, and that they share no sentence."""
    counts: Counter[tuple[str, str]] = Counter()
    for row_id, label in zip(heldout["id"][:], heldout["label"][:], strict=True):
        counts[row_id.split("-")[0], label] += 1
    for portion, (entailments, contradictions) in PORTIONS.items():
        assert counts[portion, "Entailment"] == entailments
        assert counts[portion, "Contradiction"] == contradictions
    assert (len(heldout), len(rest)) == (1500, 6034)
    assert not set(heldout["id"][:]) & set(rest["id"][:])
    assert not sentences(heldout) & sentences(rest), "no premise and no hypothesis stands in both"
    pairs = Counter(zip(heldout["premise"][:], heldout["hypothesis"][:], strict=True))
    assert max(pairs.values()) == 1
    assert all(text.strip() for text in heldout["explanation"][:])


@pytest.fixture(scope="module")
def invented() -> list[Values]:
    return invented_flute_rows()


def load_parts() -> dict[str, Dataset]:
    """The documents of each part, read from the files as they are now."""
    hub.clear_caches()
    return {part: rows.load("FLUTE", part) for part in rows.PARTS}


@pytest.mark.slow
def test_parquet_in_another_order_gives_the_same_ids_and_parts(
    data_dir: Path, invented: list[Values]
) -> None:
    lines = write_lines(data_dir / "train.jsonl", invented)
    parts_of_json_lines = load_parts()
    shots = [shot["id"] for shot in rows.exemplars("FLUTE", 4, "v2")]
    lines.unlink()
    write_flute_parquet(data_dir, as_on_the_hub(invented))
    parts_of_parquet = load_parts()
    for part, before in parts_of_json_lines.items():
        after = parts_of_parquet[part]
        assert after["data"][0] == before["data"][0]
        assert sorted(after["id"][:]) == sorted(before["id"][:])
        assert Counter(after["report_group"][:]) == Counter(before["report_group"][:])
    heldout = parts_of_parquet["heldout"]
    assert heldout["id"][:] == parts_of_json_lines["heldout"]["id"][:], "also in the same order"
    check_parts(heldout, parts_of_parquet["rest"])
    assert [shot["id"] for shot in rows.exemplars("FLUTE", 4, "v2")] == shots
    assert 0 < Counter(heldout["report_group"][:100])["idiom"] < 40, "--limit takes a mixture"


def test_texts_other_than_the_released_ones_give_a_warning(
    data_dir: Path, invented: list[Values], warnings_of_loguru: list[str]
) -> None:
    write_lines(data_dir / "train.jsonl", invented)
    rows.load("FLUTE", "heldout")
    # The digest is that of what the rule in words gives (`draw_heldout`), computed once apart from
    # the package.
    warning = "texts differ from those of the fixed held-out part (13c602320331, not d75fcb192f3c)"
    assert any(warning in message for message in warnings_of_loguru)


def test_families_are_linked_by_sentences_and_by_ids() -> None:
    def pair(row_id: str, premise: str, hypothesis: str, group: str = "simile") -> Pair:
        return Pair(row_id, premise, hypothesis, "Entailment", "why", group)

    indices_of_families = families(
        [
            pair("1", "It  rains.", "It pours"),
            pair("2", "it rains. ", "It drips"),
            pair("3", "Sun.", "It drips"),
            pair("4", "It pours", "Wind."),
            pair("3", "Snow.", "Ice."),
            pair("3", "Fog.", "Mist.", "idiom"),
            pair("9", "Dew.", "Frost."),
        ]
    )
    assert indices_of_families == [[0, 1, 2, 3, 4], [5], [6]]


def test_no_file_and_several_files_are_refused(data_dir: Path) -> None:
    message = refused_data(BENCHMARK, dataset="FLUTE", part="train")
    assert re.search(r"train.jsonl.*datasets/ColumbiaNLP/FLUTE; there is none", message)
    for name in ("train.jsonl", "flute_train.jsonl"):
        write_lines(data_dir / name, [])
    message = refused_data(BENCHMARK, dataset="FLUTE", part="train")
    assert "there is flute_train.jsonl, train.jsonl" in message


# --- the shared task's blind rows ---


@pytest.mark.parametrize("shared_file", [f"data/{blind.BLIND_FILE}"], indirect=True)
def test_the_shared_tasks_file_loads_in_full(shared_file: Path, data_dir: Path) -> None:
    put(shared_file, data_dir)
    documents = blind.load_blind()
    raw = [json.loads(line) for line in shared_file.read_text(encoding="utf-8").split("\n") if line]
    assert documents["codalab_id"][:] == list(range(1500))
    assert documents["source_id"][:] == [values["id"] for values in raw]
    assert documents["premise"][:] == [values["premise"] for values in raw]
    assert "label" not in documents.column_names
