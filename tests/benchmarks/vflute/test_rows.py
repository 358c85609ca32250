"""Ids, published instructions, report groups, exemplars, and rows that are not valid."""

from __future__ import annotations

import csv
import hashlib
import io
import random
import re
import struct
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image, ImageFile
from run_and_check import accepted, faults, refused
from vflute_hub import SPLIT_SIZES, TINY, draw_picture, make_tiny, synthetic_rows, write

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.core import hub, images
from figlang_tasks.core.prompting import render


@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_all_723_released_prompts_and_ids(shared_file: Path) -> None:
    with shared_file.open(newline="", encoding="utf-8") as file:
        released = {row["id"]: row for row in csv.DictReader(file)}
    numbers = rows.instruction_numbers(SPLIT_SIZES, "test")
    matching = 0
    for row_id, row in released.items():
        source, split, position = row_id.rsplit("-", 2)
        assert (source, split) == (row["source_dataset"], "test")
        prompt = render("vflute/question.jinja", instruction=numbers[int(position)], claim=row["claim"])
        matching += prompt == row["prompt"].replace("REPLACE_CLAIM", '"' + row["claim"] + '"')
    assert (matching, len(released)) == (723, 723)


def test_instructions_of_the_released_test_split() -> None:
    # Read off the prompts of the released test file, not computed: first twelve, and a digest of all 723.
    numbers = rows.instruction_numbers(SPLIT_SIZES, "test")
    assert numbers[:12] == [9, 10, 19, 12, 13, 5, 4, 8, 15, 6, 4, 7]
    digest = "00c1ff7fbeb0e09f3c314f64a5cd5a80aa4a50543c52d11ab957cbb337eff878"
    assert hashlib.sha256(bytes(numbers)).hexdigest() == digest


@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_report_groups_have_the_sizes_of_table_3(shared_file: Path) -> None:
    with shared_file.open(newline="", encoding="utf-8") as file:
        groups = Counter(rows.report_group(row["source_dataset"], row["phenomenon"]) for row in csv.DictReader(file))
    assert groups == {
        "vismet": 101,
        "irfl_metaphor_simile": 120,
        "irfl_idiom": 100,
        "muse": 106,
        "memecap": 196,
        "nycartoons": 100,
    }


def test_instructions_are_one_stream_over_train_validation_and_test() -> None:
    generator = random.Random(42)
    stream = [generator.choice(list(range(1, 22))) for _ in range(4578 + 726 + 723)]
    drawn = [rows.instruction_numbers(SPLIT_SIZES, split) for split in ("train", "validation", "test")]
    assert drawn[0] + drawn[1] + drawn[2] == stream


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small dataset in V-FLUTE's schema and layout, found through FIGLANG_DATA_DIR as V-FLUTE."""
    make_tiny(monkeypatch)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    folder = tmp_path / "V-FLUTE"
    for split, count in TINY.items():
        write(folder, split, synthetic_rows(split, count))
    return folder


def test_documents(tiny: Path) -> None:
    documents = rows.load("V-FLUTE", "test")
    assert documents["id"][:2] == ["irfl-test-0", "irfl-test-1"]
    assert documents["instruction"] == rows.instruction_numbers(TINY, "test")
    assert set(documents["report_group"]) == set(rows.REPORT_GROUPS)
    assert documents[0]["image"]["bytes"].startswith(b"\x89PNG"), "left undecoded"


@pytest.mark.parametrize("count", [1, 5, 10, 17])
def test_exemplars_are_stratified_train_rows_and_depend_on_the_seed_alone(tiny: Path, count: int) -> None:
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


def test_other_seeds_draw_other_exemplars(tiny: Path) -> None:
    draws = {tuple(shot["id"] for shot in rows.exemplars("V-FLUTE", 5, seed)) for seed in range(5)}
    assert len(draws) == 5


@pytest.mark.parametrize("count", [0, 101])
def test_no_exemplars_and_more_than_rows_are_an_error(tiny: Path, count: int) -> None:
    with pytest.raises(hub.DataError, match=f"{count} exemplars asked for; there are 100 rows"):
        rows.exemplars("V-FLUTE", count, 42)


def pictures(bad: object, at: int = 7) -> list:
    cells: list = [{"bytes": draw_picture(row, 16), "path": None} for row in synthetic_rows("test", TINY["test"])]
    cells[at] = bad
    return cells


def jpeg_with_thumbnail() -> bytes:
    """A JPEG whose EXIF block holds a whole small JPEG, with an end mark of its own."""
    small, large = io.BytesIO(), io.BytesIO()
    noise = Image.effect_noise((320, 240), 90).convert("RGB")
    noise.resize((32, 24)).save(small, "JPEG")
    exif = b"Exif\0\0" + struct.pack("<2sHLHL", b"II", 42, 8, 0, 14) + struct.pack("<H", 2)
    exif += struct.pack("<HHLL", 0x0201, 4, 1, 44) + struct.pack("<HHLL", 0x0202, 4, 1, len(small.getvalue()))
    exif += struct.pack("<L", 0) + small.getvalue()
    noise.save(large, "JPEG", exif=exif)
    return large.getvalue()


JPEG = jpeg_with_thumbnail()
PNG = draw_picture(synthetic_rows("test", 1)[0], 64)


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (None, "the image is missing"),
        ({"bytes": None, "path": None}, "the image is missing"),
        ({"bytes": b"", "path": None}, "the image has zero bytes"),
        ({"bytes": b"not a picture", "path": None}, "the image cannot be decoded"),
        ({"bytes": PNG[:-30], "path": None}, "the image cannot be decoded"),
        ({"bytes": JPEG[: len(JPEG) // 2], "path": None}, "the image cannot be decoded"),
        ({"bytes": None, "path": "gone.png"}, "image file .*/V-FLUTE/gone.png does not exist"),
    ],
    ids=["none", "empty cell", "zero bytes", "no image", "cut off", "cut off JPEG", "no file"],
)
def test_bad_images_are_named_by_dataset_and_row_with_a_remedy(
    tiny: Path, cell: object, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as lmms_eval.api.task sets it for the process
    write(tiny, "test", synthetic_rows("test", TINY["test"]), image=pictures(cell))
    told = refused(BENCHMARK, dataset="V-FLUTE", split="test")
    assert re.search(r"V-FLUTE/test row 7 \(irfl-test-7\): " + message + r".*\. .*[Ll]oad", told)


def test_a_whole_jpeg_passes() -> None:
    images.check({"bytes": JPEG, "path": None}, "here")
    assert images.decode({"bytes": JPEG, "path": None}, "here").size == (320, 240)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("label", "neutral", "unknown label 'neutral'; it must be one of entailment, contradiction"),
        ("label", "Entailment", "unknown label 'Entailment'"),
        ("claim", None, "claim is None, not text"),
        ("claim", " \n", "claim is empty"),
        ("explanation", None, "explanation is None, not text"),
        ("phenomenon", None, "phenomenon is None, not text"),
        ("source_dataset", "elsewhere", "unknown source_dataset 'elsewhere'"),
    ],
)
def test_bad_texts_are_named_by_row(tiny: Path, column: str, value: str | None, message: str) -> None:
    items = synthetic_rows("test", TINY["test"])
    values = [getattr(item, column) for item in items]
    values[3] = value
    write(tiny, "test", items, **{column: values})
    told = refused(BENCHMARK, dataset="V-FLUTE", split="test")
    assert re.search(rf"^V-FLUTE/test row 3 \(.*-test-3\): {message}.*Use the files", told)


def with_column(name: str, values: Callable[[pa.Table], pa.Array]) -> Callable[[Path], None]:
    """A damage: the column is added, or takes the place of the one of that name."""

    def change(path: Path) -> None:
        table = pq.read_table(path)
        if name in table.column_names:
            changed = table.set_column(table.column_names.index(name), name, values(table))
        else:
            changed = table.append_column(name, values(table))
        pq.write_table(changed.replace_schema_metadata(None), path)

    return change


def of_rows(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    return lambda path: pq.write_table(change(pq.read_table(path)).replace_schema_metadata(None), path)


def of_bytes(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


def not_utf8(table: pa.Table) -> pa.Array:
    texts = pa.array([b"\xff\xfe", *(text.encode() for text in table["claim"].to_pylist()[1:])], pa.binary())
    return pa.StringArray.from_buffers(len(texts), *texts.buffers()[1:])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (of_rows(lambda table: table.drop_columns(["claim"])), r"lacks column\(s\) claim .*Use the files"),
        (of_rows(lambda table: table.append_column("claim", table["claim"])), "cannot be read .*Multiple matches"),
        (with_column("claim", lambda table: table["claim"].cast(pa.binary())), "row 0 .*claim is b'.*29 more fault"),
        (with_column("claim", lambda table: pa.array([0] * len(table), pa.timestamp("s"))), "claim is datetime.* text"),
        (with_column("claim", not_utf8), "cannot be read .*Invalid UTF8.*Delete the damaged file"),
        (with_column("label", lambda table: pa.array([0] * len(table))), "row 0 .*label is 0, not text"),
        (
            with_column("image", lambda table: pa.array([0] * len(table))),
            "image holds .*int64.*, not pictures. Use the",
        ),
        (with_column("image", lambda table: pa.nulls(len(table))), "row 0 .*the image is missing"),
        (of_rows(lambda table: table.slice(0, 20)), "has 20 rows, the published one has 30"),
        (of_rows(lambda table: pa.concat_tables([table, table])), "has 60 rows, the published one has 30"),
        (of_bytes(lambda content: b""), "cannot be read .*Delete the damaged file"),
        (of_bytes(lambda content: content[:-30]), "cannot be read .*Delete the damaged file"),
        (
            of_bytes(lambda content: content[:200] + b"x" * 300 + content[500:]),
            "cannot be read .*Delete the damaged file",
        ),
        (
            lambda path: path.rename(path.with_name("test-00000-of-00002.parquet")),
            "1 of 2 files .*the others are missing",
        ),
        (lambda path: path.unlink(), "no file test-.*data/<split>-00000"),
    ],
)
def test_what_a_run_refuses_of_a_table_the_check_finds(
    tiny: Path, damage: Callable[[Path], object], message: str
) -> None:
    (path,) = tiny.glob("data/test-*.parquet")
    damage(path)
    assert re.search(message, refused(BENCHMARK, dataset="V-FLUTE", split="test"), re.S)


@pytest.mark.parametrize("name", ["id", "dataset", "data", "instruction", "report_group", "family"])
def test_a_column_called_as_one_of_ours_is_left_out(tiny: Path, name: str, warnings_of_loguru: list[str]) -> None:
    before = rows.load("V-FLUTE", "test")[name]
    hub.look_again()
    (path,) = tiny.glob("data/test-*.parquet")
    with_column(name, lambda table: pa.array(["theirs"] * len(table)))(path)
    assert accepted(BENCHMARK, dataset="V-FLUTE", split="test")[name] == before
    assert any(f"has unused columns: {name}" in message for message in warnings_of_loguru)


def test_all_faults_of_a_row_and_of_the_number_of_rows_are_found(tiny: Path) -> None:
    cells = pictures(None)[:20]
    write(tiny, "test", synthetic_rows("test", 20), image=cells, label=["neutral"] * 20)
    found = faults(BENCHMARK)
    assert len(found) == 22 and "has 20 rows" in found[0]
    assert ["unknown label" in fault for fault in found].count(True) == 20 and "row 7 " in found[9]
    with pytest.raises(hub.DataError, match=r"limit\. 21 more fault\(s\): `figlang data check vflute` lists them"):
        rows.load("V-FLUTE", "test")
