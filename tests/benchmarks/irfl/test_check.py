"""What a run refuses, ``figlang data check irfl`` finds, in the same words."""

from __future__ import annotations

import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from irfl_hub import METADATA, drawn, table_of, uuid, valid, write_table
from run_and_check import report

from figlang_tasks.benchmarks.irfl import random_tables, tables, task
from figlang_tasks.benchmarks.irfl.benchmark import BENCHMARK
from figlang_tasks.core.hub import DATA_DIR_VARIABLE, DataError

DETECT = [name for name in tables.ROWS if name.endswith("-detection-task")]
TASKS = [*DETECT, *(name for name in tables.ROWS if name.endswith("-retrieval-task"))]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return valid(tmp_path_factory.mktemp("released"))


@pytest.fixture
def folder(released: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(DATA_DIR_VARIABLE, str(tmp_path))
    return Path(shutil.copytree(released, tmp_path / "IRFL"))


def run(table: str, **asked: str) -> None:
    """Load the documents as a task does, and show the first pictures."""
    documents = BENCHMARK.load({"dataset": "IRFL", "table": table, **asked}, True)
    for number in range(3):
        assert task.doc_to_visual(documents[number], {"prompt": "choose"})


Damage = Callable[[Path], object]


def cells(table: str, **changed: Any) -> tuple[str, Damage]:
    return table, lambda folder: write_table(folder, table, table_of(table, **changed))


def without(table: str, column: str) -> tuple[str, Damage]:
    rows = [{name: cell for name, cell in row.items() if name != column} for row in table_of(table)]
    return table, lambda folder: write_table(folder, table, rows)


def content(table: str, change: Callable[[bytes], bytes]) -> tuple[str, Damage]:
    def damage(folder: Path) -> None:
        path = folder / tables.file_name(table)
        path.write_bytes(change(path.read_bytes()))

    return table, damage


def archive(change: Callable[[dict[str, bytes]], object], names: str = "images/{}.jpeg") -> tuple[str, Damage]:
    def damage(folder: Path) -> None:
        files = {names.format(uuid(number)): drawn()[number] for number in range(8)}
        change(files)
        with zipfile.ZipFile(folder / "IRFL_images.zip", "w") as written:
            for name, data in files.items():
                written.writestr(name, data)

    return "idiom-detection-task", damage


def last_of_kind(kind: object) -> list[dict[str, object]]:
    return [*METADATA[:3], {"uuid": uuid(3), "sub_category": kind}]


def a_cell_more(data: bytes) -> bytes:
    first, second, *lines = data.splitlines(keepends=True)
    return b"".join([first, second, lines[0].rstrip() + b",more\r\n", *lines[1:]])


IDIOM, METAPHOR, SIMILE, RANKED = (
    "idiom-detection-task",
    "metaphor-detection-task",
    "simile-detection-task",
    "idiom-retrieval-task",
)
PICTURE = f"images/{uuid(1)}.jpeg"
DAMAGES: list[tuple[tuple[str, Damage], str]] = [
    # of a file
    ((IDIOM, lambda folder: (folder / tables.file_name(IDIOM)).unlink()), "idiom_detection_task.csv cannot be read"),
    (content(RANKED, lambda data: b"\xff\xfe" + data), "is not a CSV file in UTF-8"),
    (content(METAPHOR, lambda data: b""), "metaphor_detection_task.csv has no rows"),
    (content(METAPHOR, lambda data: data + b'"'), "is not a CSV file in UTF-8"),
    (content(METAPHOR, lambda data: data + b"x\r\n"), "metaphor-detection-task row 333: the number of cells is not"),
    (content(METAPHOR, a_cell_more), "metaphor-detection-task row 1: the number of cells is not"),
    (content(METAPHOR, lambda data: data[: data[:-2].rindex(b"\n") + 1]), "has 332 rows, the published one has 333"),
    (cells(IDIOM, type="figurative+literal"), "'figurative': 130.*, the published one has"),
    # of a row of detection
    (without(METAPHOR, "distractors"), "metaphor_detection_task.csv has no column distractors"),
    (without(IDIOM, "definition"), "idiom_detection_task.csv has no column definition"),
    (cells(METAPHOR, answer="[1"), "row 1: answer is not JSON"),
    (cells(METAPHOR, answer="7"), "row 1: answer is not a list"),
    (cells(METAPHOR, answer=["1.0e+76"]), "row 1: answer holds '1.0e.76', which is not a uuid.*save it as a number"),
    (cells(METAPHOR, answer=[uuid(0), uuid(4)]), r"row 1: 2 answer\(s\)"),
    (cells(METAPHOR, distractors=[uuid(1), uuid(1), uuid(2)]), "row 1: a uuid occurs twice"),
    (cells(METAPHOR, type="literal"), "row 1: type 'literal'"),
    (cells(METAPHOR, phrase="<image>"), "row 1: phrase is '<image>', must be a text, without <image>"),
    (cells(METAPHOR, images_metadata=METADATA[:3]), "row 1: images_metadata does not describe"),
    (cells(SIMILE, images_metadata=last_of_kind(5)), "row 1: images_metadata is 5"),
    (cells(SIMILE, images_metadata=last_of_kind("target")), "row 1: its distractors are"),
    (cells(IDIOM, definition=[]), "row 1: definition is ''"),
    (cells(IDIOM, definition=["half \ud800"]), "row 1: definition is"),
    # of a row of retrieval
    (without(RANKED, "first_category"), "idiom_retrieval_task.csv has no column first_category"),
    (cells(RANKED, first_category=[]), "row 1: a ranking needs images of both categories"),
    (cells(RANKED, type="PLvsF"), "row 1: type 'PLvsF'"),
    ((SIMILE, cells("simile-retrieval-task", type="PLvsF")[1]), "simile-retrieval-task row 1: type 'PLvsF'"),
    # of random candidates
    (("random2-metaphor", cells("metaphors-dataset", uuid="1e76")[1]), "metaphors-dataset row 1: uuid holds"),
    (("random4-simile", without("similes-dataset", "category")[1]), "similes_dataset.csv has no column category"),
    (
        ("random4-simile", lambda folder: write_table(folder, "similes-dataset", table_of("similes-dataset")[:3])),
        "too few images of other phrases",
    ),
    # of pictures
    ((IDIOM, lambda folder: (folder / "IRFL_images.zip").unlink()), "has neither IRFL_images.zip nor a folder"),
    ((IDIOM, lambda folder: (folder / "IRFL_images.zip").write_bytes(b"PK")), "IRFL_images.zip cannot be read"),
    (archive(lambda files: files.pop(PICTURE)), f"row 0: there is no picture {uuid(1)}"),
    (archive(lambda files: files.update({PICTURE: b""})), f"picture {uuid(1)}: the image has zero bytes"),
    (archive(lambda files: files.update({PICTURE: b"GIF"})), f"picture {uuid(1)}: the image cannot be decoded"),
    (archive(lambda files: files.update({PICTURE: files[PICTURE][:200]})), f"picture {uuid(1)}: .*cannot be decoded"),
    (archive(lambda files: files.update({f"more/{uuid(1)}.jpeg": b""})), f"has the picture {uuid(1)} twice"),
]


@pytest.mark.parametrize(("damage", "told"), DAMAGES, ids=[f"{damage[0]}: {told:.60}" for damage, told in DAMAGES])
def test_what_a_run_refuses_the_check_finds(folder: Path, damage: tuple[str, Damage], told: str) -> None:
    table, make = damage
    make(folder)
    with pytest.raises(DataError, match=told):
        run(table)
    if table in DETECT:
        with pytest.raises(DataError, match=told):
            run(table, rotations="true")
    found = report(BENCHMARK)
    assert found.faults and any(re.search(told, line) for line in found.lines), found.lines


def test_tables_without_faults_run_and_pass(folder: Path) -> None:
    found = report(BENCHMARK)
    assert (found.faults, found.lines[-1]) == ((), "no faults")
    for table in [*TASKS, *(name for name in random_tables.CONFIGURATIONS if "idiom" not in name)]:
        run(table)
        if table in DETECT:
            run(table, rotations="true")
    with pytest.raises(DataError, match="idioms_dataset.csv cannot be read"):
        run("random2-idiom-figurative")
    assert any(re.search("random2-idiom-figurative: .*idioms_dataset.csv cannot be read", line) for line in found.lines)


def test_a_run_says_how_many_faults_there_are_and_the_check_lists_them(folder: Path) -> None:
    rows = table_of(METAPHOR)
    for number in range(10, 15):
        rows[number] = rows[number] | {"type": "?"}
    write_table(folder, METAPHOR, rows)
    with pytest.raises(DataError, match="row 10: type .* release. 4 more fault.s.: `figlang data check irfl` lists"):
        run(METAPHOR)
    found = report(BENCHMARK)
    assert len(found.faults) == 5
    assert [re.findall(r"row (\d+): type", line) for line in found.lines[-6:-1]] == [[f"{n}"] for n in range(10, 15)]
