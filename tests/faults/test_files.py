"""A command waits for ever, or fills the memory, if this fails: what is no file of a plausible size
is not opened.
"""

from __future__ import annotations

import io
import os
import socket
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from PIL import Image

from figlang_tasks.benchmarks.columbus import rows as columbus_rows
from figlang_tasks.benchmarks.irfl.archive import ARCHIVE, Pictures
from figlang_tasks.benchmarks.metaclue import annotations as metaclue_annotations
from figlang_tasks.core import files, images, parquet_files, row_files, samples_files
from figlang_tasks.core.errors import DataError, FigLangError
from figlang_tasks.judge import key, sheet
from figlang_tasks.models import probe, vlm_loading
from figlang_tasks.results.results_file import read_results_file
from figlang_tasks.results.runs import read
from figlang_tasks.submit import SubmissionError, figlang2024, hub_results

HUGE = 30 << 30


def pipe(path: Path) -> None:
    """Make a named pipe."""
    os.mkfifo(path)


def socket_file(path: Path) -> None:
    """Make the file of a socket that nobody listens to."""
    folder = Path.cwd()
    os.chdir(path.parent)  # the path of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(folder)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder_in_its_place(path: Path) -> None:
    path.mkdir()


def huge(path: Path) -> None:
    """A file with a hole of 30 GB, which takes no room."""
    path.touch()
    os.truncate(path, HUGE)


def read_lines(path: Path) -> None:
    list(row_files.read_rows(path))


def read_samples(path: Path) -> None:
    list(samples_files.saved_lines(path))


def read_picture(path: Path) -> None:
    images.decode_file(path, "row 1")


def read_size(path: Path) -> None:
    images.size_of(path, "row 1")


def read_table(path: Path) -> None:
    parquet_files.read_parquet([path], ["text"], "the table")


def read_pictures(path: Path) -> None:
    path.rename(path.with_name(ARCHIVE))
    Pictures(path.parent)


def read_probe(path: Path) -> None:
    probe.read(path.parent)


READERS: dict[str, Callable[[Path], object]] = {
    "rows.jsonl": read_lines,
    "rows.csv": read_lines,
    "rows.tsv": read_lines,
    "samples_vflute.jsonl": read_samples,
    "results.json": read_results_file,
    "picture.png": read_picture,
    "picture.jpg": read_size,
    "test-00000-of-00001.parquet": read_table,
    "pictures.zip": read_pictures,
    "sheet.csv": sheet.read,
    "key.json": key.read,
    "submission.zip": figlang2024.read,
    "README.md": hub_results.read_card,
    "template.jinja": vlm_loading.read_template,
    probe.FILE: read_probe,
}


@pytest.mark.parametrize("make", [pipe, socket_file, device, folder_in_its_place, huge])
@pytest.mark.parametrize("name", READERS)
def test_what_is_no_file_of_a_plausible_size_is_refused(
    tmp_path: Path, name: str, make: Callable[[Path], None]
) -> None:
    path = tmp_path / name
    make(path)
    with pytest.raises((FigLangError, OSError)) as raised:
        READERS[name](path)
    error = raised.value
    message = str(error)
    if isinstance(error, OSError):
        message = str(error.strerror)
    kinds: dict[Callable[[Path], None], str] = {
        pipe: "a named pipe",
        socket_file: "a socket",
        device: "a device",
        folder_in_its_place: "a folder",
    }
    if make is huge:
        assert "the file has 30.0 GB" in message
    else:
        assert f"this is {kinds[make]}, where a file is needed" in message


def read_metaclue() -> object:
    return metaclue_annotations.read("MetaCLUE")


def read_columbus() -> object:
    return columbus_rows.read_release(columbus_rows.find_release().folder)


@pytest.mark.parametrize(
    ("name", "load"),
    [
        ("annotations.jsonl", read_metaclue),
        ("metadata.jsonl", read_columbus),
        ("benchmark.json", read_columbus),
    ],
)
@pytest.mark.parametrize("make", [pipe, huge])
def test_a_table_of_a_benchmark_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    load: Callable[[], object],
    make: Callable[[Path], None],
) -> None:
    for dataset in ("MetaCLUE", "COLUMBUS"):
        (tmp_path / dataset).mkdir()
        make(tmp_path / dataset / name)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    message = rf"{name} cannot be read: (this is a named pipe|the file has 30\.0 GB)"
    with pytest.raises(DataError, match=message):
        load()


def test_a_samples_file_of_a_run_is_refused(tmp_path: Path) -> None:
    pipe(tmp_path / "2026-01-01T00-00-00_samples_vflute.jsonl")
    with pytest.raises(FigLangError, match="this is a named pipe"):
        read(str(tmp_path))


# --- zips ---


def zip_of(
    path: Path, content: bytes, method: int = zipfile.ZIP_DEFLATED, name: str = "pred.csv"
) -> Path:
    """Write a zip of one file, and return its path."""
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, content)
    return path


def with_false_size(path: Path, size: int) -> Path:
    """The zip, whose two headers give another size of the one file in it."""
    data = bytearray(path.read_bytes())
    # The size stands 22 bytes behind the start of the local header, 24 behind that of the other.
    for signature, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<L", data, data.index(signature) + offset, size)
    path.write_bytes(data)
    return path


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> int:
    """A limit that is quick to reach."""
    assert files.MOST_BYTES_OF_A_MEMBER == 64 << 20
    monkeypatch.setattr(files, "MOST_BYTES_OF_A_MEMBER", 1 << 20)
    return 1 << 20


def test_a_member_of_a_zip_has_at_most_the_limit(tmp_path: Path, low_limit: int) -> None:
    with zipfile.ZipFile(zip_of(tmp_path / "whole.zip", bytes(low_limit))) as archive:
        assert len(files.read_member(archive, "pred.csv")) == low_limit
    large = zip_of(tmp_path / "large.zip", bytes(low_limit + 1))
    refused = pytest.raises(zipfile.BadZipFile, match=r"pred\.csv has 1 MB unpacked, at most 1 MB")
    with zipfile.ZipFile(large) as archive, refused:
        files.read_member(archive, "pred.csv")
    with pytest.raises(SubmissionError, match=r"large.zip is not a readable zip .*at most 1 MB"):
        figlang2024.read(tmp_path / "large.zip")


def test_a_header_that_lies_makes_nobody_unpack_the_rest(tmp_path: Path) -> None:
    path = with_false_size(zip_of(tmp_path / "false.zip", bytes(40 << 20)), 1000)
    tracemalloc.start()
    with pytest.raises(SubmissionError, match=r"false\.zip is not a readable zip .*Bad CRC-32"):
        figlang2024.read(path)
    _, most_memory = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most_memory < 10 << 20


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_unpack_without_a_limit_are_refused(tmp_path: Path, method: int) -> None:
    path = zip_of(tmp_path / "rare.zip", b"id,label,explanation\n", method)
    message = f"packed by method {method}: pack it with the method deflate"
    with pytest.raises(SubmissionError, match=message):
        figlang2024.read(path)


def test_a_picture_in_irfls_zip_has_at_most_the_limit(tmp_path: Path, low_limit: int) -> None:
    zip_of(tmp_path / ARCHIVE, bytes(3 * low_limit), name="images/a.jpeg")
    message = r"IRFL: the picture a in .* is damaged .*has 3 MB unpacked, at most 1 MB"
    with pytest.raises(DataError, match=message):
        Pictures(tmp_path).read("a", "IRFL")


# --- what a table says of its columns ---


def test_no_column_of_a_table_is_opened_as_a_picture(tmp_path: Path) -> None:
    """A file says itself which of its columns are pictures; `datasets` opens these in any
    format.
    """
    stream = io.BytesIO()
    Image.new("RGB", (4, 4)).save(stream, "PPM")
    cells = [{"bytes": stream.getvalue(), "path": None}]
    columns: dict[str, tuple[Any, list[Any]]] = {
        "text": (datasets.Image(), cells),
        "texts": (datasets.List(datasets.Image()), [cells]),
    }
    for column, (feature, values) in columns.items():
        path = tmp_path / f"{column}.parquet"
        table = datasets.Dataset.from_dict({column: values}, datasets.Features({column: feature}))
        table.to_parquet(path)
        assert b"Image" in parquet.read_schema(path).metadata[b"huggingface"]
        message = f"the table: the column {column} holds .*Image.*, not texts or numbers"
        with pytest.raises(DataError, match=message):
            parquet_files.read_parquet([path], [column], "the table")
    path = tmp_path / "other.parquet"
    features = datasets.Features({"text": datasets.Value("string"), "more": datasets.Image()})
    datasets.Dataset.from_dict({"text": ["a"], "more": cells}, features).to_parquet(path)
    assert list(parquet_files.read_parquet([path], ["text"], "the table")) == [{"text": "a"}]


def test_a_table_of_texts_and_lists_is_read(tmp_path: Path) -> None:
    path = tmp_path / "plain.parquet"
    parquet.write_table(pa.table({"text": ["a"], "texts": [["b", "c"]], "number": [1]}), path)
    assert parquet_files.read_parquet([path], ["text", "texts", "number"], "the table")[0] == {
        "text": "a",
        "texts": ["b", "c"],
        "number": 1,
    }
