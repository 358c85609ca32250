"""What a run refuses: if this fails, it takes faulty data or options, or does not say what is wrong
with them.

The faults of a benchmark are in ``NAME/faults.yaml``. Its head says:

- ``dataset``: the folder in which files are changed;
- ``valid``: its files without faults, each a list of rows for a JSON Lines file; a small picture is
  drawn for every value of a row that ends in ``.png``;
- ``support``, in place of ``valid``: a function in a module of ``tests/support``, as
  ``irfl_release.write_valid_irfl``, or of a folder here, as ``yesbut.release.write_valid``; called
  with a folder and the arguments of ``with``, it writes data without faults;
- ``faults``: a list; each key of a fault may also stand in the head, for those that do not have it.

A fault says what is changed in the valid data, what is requested, and which words the message must
have:

- ``with``: the arguments of the function in ``support``, for data of another kind;
- ``file``: below the folder of the dataset; JSON Lines, a JSON list, CSV, TSV or Parquet;
- ``row``: one of its rows, from 1, with ``set`` (values by field; ``a.0.b`` is one inside a list),
  ``without`` (fields, taken out) or ``line`` (a text in the place of the line); with ``row: null``,
  ``set`` and ``without`` change all rows;
- ``rows``: how many rows are kept;
- ``content``: the text of the whole file; ``cut``: how many bytes are kept; ``append``: a text at
  its end;
- ``remove: true``: no such file or folder; ``link: true``: the file is moved out of the folder, and
  a link is there;
- ``request``: the keys of ``dataset_name``; with ``options``, those of the task are checked too;
- ``says``: words of the message, or a list of words;
- ``part: true``: other tasks can run, so that the check lists a warning and no fault.
"""

from __future__ import annotations

import io
import json
import os
import pkgutil
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from rows_with_images import drawing
from tasks_without_harness import check_data, check_task

from figlang_tasks.cli.doctor_checks.data_files import find_missing_files
from figlang_tasks.core.benchmark import Benchmark, benchmarks, source_of
from figlang_tasks.core.errors import FigLangError, PartMissing
from figlang_tasks.core.request import Request

HERE = Path(__file__).parent
CHANGES = {"set", "without", "line", "rows", "content", "cut", "append", "remove", "link"}
Rows = list[dict[str, Any]]


def head(name: str) -> dict[str, Any]:
    """The file ``faults.yaml`` of a benchmark."""
    text = (HERE / name / "faults.yaml").read_text(encoding="utf-8")
    # By the parser in Python: the one in C, which `fast_yaml` puts in its place, refuses the lone
    # surrogates that some faults have.
    return dict(yaml.load(text, yaml.loader.SafeLoader))


def faults_of(name: str) -> list[dict[str, Any]]:
    """The faults of a benchmark, each with the keys of the head that it does not have itself."""
    common = head(name)
    return [{**common, **fault} for fault in common["faults"]]


NAMES = sorted(path.parent.name for path in HERE.glob("*/faults.yaml"))
FAULTS = [(name, fault) for name in NAMES for fault in faults_of(name)]


@pytest.fixture(scope="session")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Valid data, written once for each kind."""

    @cache
    def write_by_support(support: str, arguments: str) -> Path:
        folder = tmp_path_factory.mktemp(support)
        pkgutil.resolve_name(support)(folder, **json.loads(arguments))
        return folder

    @cache
    def write_rows(dataset: str, rows_by_file: str) -> Path:
        folder = tmp_path_factory.mktemp(dataset)
        for file, rows in json.loads(rows_by_file).items():
            write_json_lines(folder / dataset / file, rows)
        return folder

    def write(fault: dict[str, Any]) -> Path:
        if "valid" in fault:
            return write_rows(fault["dataset"], json.dumps(fault["valid"]))
        assert "support" in fault, f"the faults of {fault['dataset']} need `valid` or `support`"
        return write_by_support(fault["support"], json.dumps(fault.get("with", {})))

    return write


def write_json_lines(path: Path, rows: Rows) -> None:
    """Write rows, and draw the pictures that they name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for row in rows:
        for value in row.values():
            if str(value).endswith(".png"):
                picture = path.parent / value
                picture.parent.mkdir(parents=True, exist_ok=True)
                drawing(value, 8).save(picture)


@pytest.fixture
def written(
    valid: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Path]:
    """A copy of valid data, where runs look for it."""

    def copy(fault: dict[str, Any]) -> Path:
        """The folder of the dataset; its files are links to the valid ones."""
        data_dir = tmp_path / "data"
        monkeypatch.setenv("FIGLANG_DATA_DIR", str(data_dir))
        shutil.copytree(valid(fault), data_dir, copy_function=os.link)
        return data_dir / str(fault["dataset"])

    return copy


@pytest.mark.parametrize("name", NAMES)
def test_doctor_looks_for_the_files_of_valid_data(
    name: str, written: Callable[..., Path], tmp_path: Path
) -> None:
    """It would else say that data is missing which is there, or the other way round."""
    valid_head = head(name)
    folder = written(valid_head)
    source = source_of(valid_head["dataset"])
    request = Request.of(source.name, **valid_head["request"])
    assert find_missing_files(source, folder, [request]).files == []
    (tmp_path / "empty").mkdir()
    missing = find_missing_files(source, tmp_path / "empty", [request])
    assert missing.files
    assert missing.stop_all_tasks


@pytest.mark.parametrize(
    ("name", "fault"), FAULTS, ids=[f"{name}: {fault['says']!s:.60}" for name, fault in FAULTS]
)
def test_a_fault_is_named(name: str, fault: dict[str, Any], written: Callable[..., Path]) -> None:
    folder = written(fault)
    if CHANGES & fault.keys():
        change(folder, fault)
    with pytest.raises(FigLangError) as raised:
        run(benchmarks()[name], fault)
    message = str(raised.value)
    expected_words = [fault["says"]] if isinstance(fault["says"], str) else fault["says"]
    for words in expected_words:
        assert words in message
    assert isinstance(raised.value, PartMissing) == fault.get("part", False)
    message.encode("utf-8")  # it can be printed


@pytest.mark.parametrize("name", benchmarks())
def test_every_benchmark_refuses_placeholders_of_pictures(name: str) -> None:
    file = f"tests/benchmarks/{name}/faults.yaml"
    assert name in NAMES, (
        f"{file} is missing: write the faults of rows that a run must refuse into it, as in"
        " tests/benchmarks/columbus"
    )
    messages = [str(fault["says"]) for fault in head(name)["faults"]]
    assert any("must not contain <image>" in message for message in messages), (
        f"{file} puts no <image> into a text of a row: models would take it for a picture, so that"
        " the loader must refuse it (row_files.text does)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_check_passes_valid_data_and_finds_what_a_run_refuses(
    name: str, written: Callable[..., Path]
) -> None:
    folder = written(head(name))
    lines, faults = check_data(benchmarks()[name])
    assert (faults, lines[-1]) == ([], "no faults")

    first_faulty_cell = next(fault for fault in faults_of(name) if "set" in fault)
    change(folder, first_faulty_cell)
    lines, faults = check_data(benchmarks()[name])
    assert any(first_faulty_cell["says"] in fault for fault in faults)
    assert lines[-1].endswith(" fault(s)")


def run(benchmark: Benchmark, fault: dict[str, Any]) -> None:
    """Load the data that a fault requests, or check a task with its options."""
    request = Request.of(fault["dataset"], **fault.get("request", {}))
    if "options" not in fault:
        benchmark.documents(request, check_images=True)
        return
    config = {"task": "mine", "dataset_name": str(request)}
    check_task(config | {"lmms_eval_specific_kwargs": {"default": fault["options"]}})


# --- what is changed ---


def change(folder: Path, fault: dict[str, Any]) -> None:
    """Change a file; it is another one then, as the valid one is linked to."""
    path = folder / fault["file"]
    if "remove" in fault:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        return
    if "link" in fault:
        path.symlink_to(path.rename(folder.parents[1] / "elsewhere"))
        return
    content = path.read_bytes()
    path.unlink()
    if "content" in fault:
        content = fault["content"].encode("utf-8", "surrogateescape")
    elif "line" in fault:
        lines = content.decode().splitlines()
        lines[fault["row"] - 1] = fault["line"]
        content = "\n".join(lines).encode()
    elif fault.keys() & {"set", "without", "rows"}:
        content = changed(path.suffix, content, fault)
    path.write_bytes(content[: fault.get("cut")] + fault.get("append", "").encode())


def changed(suffix: str, content: bytes, fault: dict[str, Any]) -> bytes:
    """The table with other rows, in the same format."""
    rows, write = FORMATS[suffix](content)
    rows = rows[: fault.get("rows")]
    changed_rows = rows
    if fault.get("row"):
        changed_rows = rows[fault["row"] - 1 : fault["row"]]
    for row in changed_rows:
        for path, value in fault.get("set", {}).items():
            set_value(row, path, value)
        for field in fault.get("without", ()):
            del row[field]
    return write(rows)


def set_value(row: dict[str, Any], path: str, value: Any) -> None:
    """Write a value into a field of a row, or inside one: ``a.0.b``."""
    *outer_keys, last_key = [int(key) if key.isdigit() else key for key in path.split(".")]
    cell: Any = row
    for key in outer_keys:
        cell = cell[key]
    cell[last_key] = value


Format = tuple[Rows, Callable[[Rows], bytes]]
"""The rows of a file, and what writes rows in its format."""


def json_lines(content: bytes) -> Format:
    def write(rows: Rows) -> bytes:
        return "".join(f"{json.dumps(row)}\n" for row in rows).encode()

    return [json.loads(line) for line in content.decode().splitlines()], write


def json_list(content: bytes) -> Format:
    def write(rows: Rows) -> bytes:
        return json.dumps(rows).encode()

    return json.loads(content), write


def csv_file(content: bytes) -> Format:
    return separated(content, ",")


def tsv_file(content: bytes) -> Format:
    return separated(content, "\t")


def separated(content: bytes, delimiter: str) -> Format:
    """The rows of a CSV or TSV file, whose cells are texts."""
    table: Any = pandas.read_csv(
        io.BytesIO(content), sep=delimiter, dtype=str, keep_default_na=False
    )

    def write(rows: Rows) -> bytes:
        columns = list(rows[0] if rows else table.columns)
        text = pandas.DataFrame(rows, columns=columns).to_csv(sep=delimiter, index=False)
        return text.encode()

    return table.to_dict("records"), write


def parquet(content: bytes) -> Format:
    """The rows of a Parquet file, which keeps its schema as far as the changed rows allow it."""
    table = pq.read_table(io.BytesIO(content))

    def write(rows: Rows) -> bytes:
        columns = [column for column in table.schema if column.name in rows[0]]
        schema = pa.schema(columns, table.schema.metadata)
        try:
            changed_table = pa.Table.from_pylist(rows, schema=schema)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a column is of another type
            changed_table = pa.Table.from_pylist(rows)
        file = io.BytesIO()
        pq.write_table(changed_table, file)
        return file.getvalue()

    return table.to_pylist(), write


FORMATS: dict[str, Callable[[bytes], Format]] = {
    ".jsonl": json_lines,
    ".json": json_list,
    ".csv": csv_file,
    ".tsv": tsv_file,
    ".parquet": parquet,
}
