"""FLUTE's rows: the release in both forms, types, ids, the held-out part, and what can be wrong with a file."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import ClassLabel, Dataset, Features, Value
from flute_rows import Values, as_on_the_hub, blind_rows, released_shape, write_lines
from run_and_check import accepted, faults, refused

from figlang_tasks.benchmarks.flute import rows
from figlang_tasks.benchmarks.flute.benchmark import BENCHMARK
from figlang_tasks.core import hub

PORTIONS = {"sarcasm": (241, 509), "simile": (125, 125), "metaphor": (125, 125), "idiom": (125, 125)}


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """FIGLANG_DATA_DIR/FLUTE, empty."""
    folder = tmp_path / "data" / "FLUTE"
    folder.mkdir(parents=True)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(folder.parent))
    return folder


def put(shared_file: Path, data_dir: Path) -> None:
    (data_dir / shared_file.name).symlink_to(shared_file)


def sentences(documents: Dataset) -> set[str]:
    texts = [*documents["premise"][:], *documents["hypothesis"][:]]
    return {" ".join(text.split()).lower() for text in texts}


# --- the release -----------------------------------------------------------------------------------------------------


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
    held, rest = rows.load("FLUTE", "heldout"), rows.load("FLUTE", "rest")
    assert not warnings_of_loguru, "the digest of its ids is that of HELDOUT_DIGEST"
    assert held["id"][0] == "metaphor-453-561f5bf8"
    shots = [shot["id"] for shot in rows.exemplars("FLUTE", 4, "v2")]  # as the card names them
    assert shots == ["sarcasm-1301-84ea6770", "metaphor-532-d7ad93b6", "simile-556-6ec7b2cd", "idiom-803-6c3506f3"]
    check_parts(held, rest)


def check_parts(held: Dataset, rest: Dataset) -> None:
    labels = zip(held["id"][:], held["label"][:], strict=True)
    counts = Counter((row_id.split("-")[0], label) for row_id, label in labels)
    for portion, (entailments, contradictions) in PORTIONS.items():
        assert (counts[portion, "Entailment"], counts[portion, "Contradiction"]) == (entailments, contradictions)
    assert (len(held), len(rest)) == (1500, 6034)
    assert not set(held["id"][:]) & set(rest["id"][:])
    assert not sentences(held) & sentences(rest), "no premise and no hypothesis stands in both"
    pairs = Counter(zip(held["premise"][:], held["hypothesis"][:], strict=True))
    assert max(pairs.values()) == 1
    assert all(text.strip() for text in held["explanation"][:])


@pytest.fixture(scope="module")
def invented() -> list[Values]:
    return released_shape()


def parts_of() -> dict[str, Dataset]:
    """The documents of each part, read from the files as they are now."""
    hub.look_again()
    return {part: rows.load("FLUTE", part) for part in rows.PARTS}


def write_parquet(folder: Path, values: list[Values], classes: bool) -> None:
    features = Features({name: Value("int64" if name == "id" else "string") for name in values[0]})
    if classes:
        features["label"] = ClassLabel(names=["Contradiction", "Entailment"])
    table = Dataset.from_list(values, features=features)
    for shard in range(2):
        path = folder / "data" / f"train-{shard:05d}-of-00002.parquet"
        path.parent.mkdir(exist_ok=True)
        table.shard(2, shard, contiguous=True).to_parquet(str(path))


@pytest.mark.slow
def test_parquet_in_another_order_gives_the_same_ids_and_parts(data_dir: Path, invented: list[Values]) -> None:
    lines = write_lines(data_dir / "train.jsonl", invented)
    by_lines = parts_of()
    shots = [shot["id"] for shot in rows.exemplars("FLUTE", 4, "v2")]
    lines.unlink()
    for classes in (False, True):
        write_parquet(data_dir, as_on_the_hub(invented), classes)
        documents = parts_of()
        for part, before in by_lines.items():
            after = documents[part]
            assert after["data"][0] == before["data"][0]
            assert sorted(after["id"][:]) == sorted(before["id"][:])
            assert Counter(after["report_group"][:]) == Counter(before["report_group"][:])
        held = documents["heldout"]
        assert held["id"][:] == by_lines["heldout"]["id"][:], "also in the same order"
        check_parts(held, documents["rest"])
        assert [shot["id"] for shot in rows.exemplars("FLUTE", 4, "v2")] == shots
        assert 0 < Counter(held["report_group"][:100])["idiom"] < 40, "--limit takes a mixture"


def test_texts_other_than_the_released_ones_are_told(
    data_dir: Path, invented: list[Values], warnings_of_loguru: list[str]
) -> None:
    write_lines(data_dir / "train.jsonl", invented)
    rows.load("FLUTE", "heldout")
    assert any("texts differ from those of the fixed held-out part" in message for message in warnings_of_loguru)


def small(*pairs: tuple[str, str]) -> list[rows.Pair]:
    return [rows.Pair("0", premise, hypothesis, "Entailment", "why", "simile") for premise, hypothesis in pairs]


def test_families_are_linked_by_sentences_and_by_ids() -> None:
    def pair(row_id: str, premise: str, hypothesis: str, group: str = "simile") -> rows.Pair:
        return rows.Pair(row_id, premise, hypothesis, "Entailment", "why", group)

    found = rows.families(
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
    assert found == [[0, 1, 2, 3, 4], [5], [6]]


def test_the_held_out_part_is_drawn_by_the_rule_in_words(invented: list[Values]) -> None:
    """Computed again here, apart from the package: families by flooding, numbers by hashlib."""
    from hashlib import sha256

    checked = [found for values in invented if isinstance(found := rows._pair(values), rows.Pair)]
    by_sentence: dict[str, list[int]] = {}
    for number, values in enumerate(invented):
        for text in (values["premise"], values["hypothesis"]):
            by_sentence.setdefault(text, []).append(number)
    numbers = [
        sha256(f"{rows.HELDOUT_SEED}\n{values['premise']}\n{values['hypothesis']}".encode()).hexdigest()
        for values in invented
    ]
    seen: set[int] = set()
    families = []
    for start in range(len(invented)):
        family, waiting = set(), [start] if start not in seen else []
        while waiting:
            number = waiting.pop()
            if number not in family:
                family.add(number)
                texts = (invented[number]["premise"], invented[number]["hypothesis"])
                waiting += [other for text in texts for other in by_sentence[text]]
        if family:
            families.append(family)
            seen |= family
    left = {
        (portion, label): size for portion, sizes in PORTIONS.items() for label, size in zip("EC", sizes, strict=True)
    }
    expected: list[int] = []
    for family in sorted(families, key=lambda members: min(numbers[number] for number in members)):
        size = Counter((invented[number]["type"], invented[number]["label"][0]) for number in family)
        if all(left[stratum] >= count for stratum, count in size.items()):
            expected += family
            for stratum, count in size.items():
                left[stratum] -= count
    assert sorted(rows.heldout(checked)) == sorted(expected)
    shuffled = random.Random(5).sample(checked, len(checked))
    again = {shuffled[number] for number in rows.heldout(shuffled)}
    assert again == {checked[number] for number in expected}


def test_rows_of_the_same_content_have_ids_of_their_own() -> None:
    twice = small(("a", "b"), ("a ", "b"))
    first, second = rows.row_ids(twice)
    assert second == f"{first}-2"
    assert first == f"simile-0-{twice[0].key[:8]}"


# --- what is wrong with a file ---------------------------------------------------------------------------------------


def change(**values: Any) -> Callable[[list[Values]], Any]:
    return lambda found: found[4].update(values)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda found: found[4].pop("hypothesis"), r"train.jsonl, line 5 lacks hypothesis \(it has: type, id, premise"),
        (change(label="neutral"), "line 5: unknown label 'neutral'; it must be one of Entailment, Contradiction"),
        (change(type="Hyperbole"), "line 5: unknown type 'Hyperbole'; it must be one of Sarcasm, Simile"),
        (change(premise=None), "line 5: premise is None, not text"),
        (change(premise=" \t"), "line 5: premise is empty"),
        (change(id=None), "line 5: id is None, not a number or text"),
        (change(type="CreativeParaphrase", label="Contradiction"), "line 5: type is .* but paraphrases entail"),
        (change(explanation="half \ud800"), "line 5: explanation contains half a surrogate pair"),
    ],
)
def test_a_row_that_is_not_valid_is_named(
    damage: Callable[[list[Values]], Any], message: str, data_dir: Path, invented: list[Values]
) -> None:
    """Also where too few rows are there: those are named first."""
    refuses(invented[:20], damage, message, data_dir)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda found: found.append(found[4]), "has 7535 rows, the published train split has 7534"),
        (lambda found: found.pop(), "has 7533 rows, the published train split has 7534. To run .* --limit"),
        (
            change(label="Entailment"),
            r"not hold the released rows .*'Contradiction'\): 2215.* instead of",
        ),
    ],
)
def test_valid_rows_that_are_not_the_released_ones(
    damage: Callable[[list[Values]], Any], message: str, data_dir: Path, invented: list[Values]
) -> None:
    refuses(invented, damage, message, data_dir)


def refuses(values: list[Values], damage: Callable[[list[Values]], Any], message: str, data_dir: Path) -> None:
    found = [dict(each) for each in values]
    damage(found)
    write_lines(data_dir / "train.jsonl", found)
    told = refused(BENCHMARK, dataset="FLUTE", part="train")
    assert re.search(message, told) and "Use the files of the original release" in told


@pytest.mark.parametrize("same", [{"premise": "It rains."}, {"explanation": " "}], ids=["one family", "none to score"])
def test_rows_that_no_held_out_part_can_be_drawn_of(same: Values, data_dir: Path, invented: list[Values]) -> None:
    write_lines(data_dir / "train.jsonl", [values | same for values in invented])
    assert "1500 rows cannot be drawn" in refused(BENCHMARK, dataset="FLUTE", part="heldout")


def test_all_faults_are_found(data_dir: Path, invented: list[Values]) -> None:
    found = [dict(values) for values in invented[:20]]
    found[3]["label"], found[7]["premise"] = "neutral", None
    path = write_lines(data_dir / "train.jsonl", found)
    path.write_bytes(path.read_bytes() + b"{\n")
    places = [re.sub(r".*train\.jsonl", "", fault)[:10].split(":")[0] for fault in faults(BENCHMARK)]
    assert places == [", line 21 ", ", line 4", ", line 8", " has 21 ro"]
    told = refused(BENCHMARK, dataset="FLUTE", part="train")
    assert told.endswith(" 3 more fault(s): `figlang data check flute` lists them.")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"id": 1, \n', "line 1 is not valid JSON"),
        (b"", "has 0 rows"),
    ],
)
def test_no_json(content: bytes, message: str, data_dir: Path) -> None:
    (data_dir / "train.jsonl").write_bytes(content)
    assert re.search(message, refused(BENCHMARK, dataset="FLUTE", part="train"))


def test_columns_called_as_ours_are_left_out(data_dir: Path, invented: list[Values]) -> None:
    write_lines(data_dir / "train.jsonl", [values | {"data": 3, "family": "theirs"} for values in invented])
    assert "theirs" not in accepted(BENCHMARK, dataset="FLUTE", part="heldout")["family"]


def without_type(folder: Path, values: list[Values]) -> None:
    write_parquet(folder, [{name: row[name] for name in row if name != "type"} for row in values], classes=False)


def a_null(folder: Path, values: list[Values]) -> None:
    write_parquet(folder, [*values[:7], values[7] | {"premise": None}, *values[8:]], classes=False)


def an_unknown_class(folder: Path, values: list[Values]) -> None:
    write_parquet(folder, values, classes=True)
    path = folder / "data" / "train-00000-of-00002.parquet"
    table = pq.read_table(path)
    place, labels = table.column_names.index("label"), [5, *table["label"].to_pylist()[1:]]
    pq.write_table(table.set_column(place, table.schema.field("label"), pa.array(labels, pa.int64())), path)


def half_a_download(folder: Path, values: list[Values]) -> None:
    write_parquet(folder, values, classes=False)
    (folder / "data" / "train-00001-of-00002.parquet").unlink()


def a_damaged_file(folder: Path, values: list[Values]) -> None:
    (folder / "train-00000-of-00001.parquet").write_bytes(b"PAR1 no table")


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (without_type, r"train-00000-of-00002.parquet lacks column\(s\) type .*Use the files"),
        (a_null, "train-00000-of-00002.parquet, row 7: premise is None, not text"),
        (an_unknown_class, "train-00000-of-00002.parquet, row 0: label is 5, not text"),
        (half_a_download, "1 of 2 files of split 'train' are in .*the others are missing"),
        (a_damaged_file, "train-00000-of-00001.parquet cannot be read .*Delete the damaged file"),
    ],
)
def test_parquet_that_is_not_valid(
    write: Callable[[Path, list[Values]], None], message: str, data_dir: Path, invented: list[Values]
) -> None:
    write(data_dir, as_on_the_hub(invented[:20]))
    assert re.search(message, refused(BENCHMARK, dataset="FLUTE", part="train"))


def test_no_file_and_several_files(data_dir: Path) -> None:
    told = refused(BENCHMARK, dataset="FLUTE", part="train")
    assert re.search(r"train.jsonl.*datasets/ColumbiaNLP/FLUTE; there is none", told)
    for name in ("train.jsonl", "flute_train.jsonl"):
        write_lines(data_dir / name, [])
    told = refused(BENCHMARK, dataset="FLUTE", part="train")
    assert "there is flute_train.jsonl, train.jsonl" in told


# --- the shared task's blind rows ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared_file", [f"data/{rows.BLIND_FILE}"], indirect=True)
def test_the_shared_tasks_file_loads_in_full(shared_file: Path, data_dir: Path) -> None:
    put(shared_file, data_dir)
    documents = rows.load_blind()
    raw = [json.loads(line) for line in shared_file.read_text(encoding="utf-8").split("\n") if line]
    assert documents["codalab_id"][:] == list(range(1500))
    assert documents["source_id"][:] == [values["id"] for values in raw]
    assert documents["premise"][:] == [values["premise"] for values in raw]
    assert "label" not in documents.column_names


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda found: found.pop(), "has 1499 rows, the shared task's file has 1500.*--limit"),
        (lambda found: found.pop(3), "line 4: codalab_id is 4, must be 3"),
        (lambda found: found[4].pop("premise"), "line 5 lacks premise"),
        (change(id="12"), "line 5: id is '12', not a whole number"),
        (change(codalab_id=True), "line 5: codalab_id is True, not a whole number"),
        (change(hypothesis=" "), "line 5: hypothesis is empty"),
    ],
)
def test_blind_rows_that_are_not_valid(damage: Callable[[list[Values]], Any], message: str, data_dir: Path) -> None:
    found = blind_rows()
    damage(found)
    write_lines(data_dir / rows.BLIND_FILE, found)
    assert re.search(message, refused(BENCHMARK, dataset="FLUTE", part="codalab"))


def test_no_blind_file(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(hub.DataError, match=rf"put it at \$FIGLANG_DATA_DIR/FLUTE/{rows.BLIND_FILE}"):
        rows.load_blind()
    monkeypatch.delenv(hub.DATA_DIR_VARIABLE)
    with pytest.raises(hub.DataError, match="FIGLANG_DATA_DIR is not set"):
        rows.load_blind()
