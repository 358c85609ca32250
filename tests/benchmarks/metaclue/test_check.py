"""What a run of any MetaCLUE task refuses, ``figlang data check metaclue`` finds."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from metaclue_rows import negative, row, write

from figlang_tasks.benchmarks.metaclue import rows as tasks
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.core import hub
from figlang_tasks.core.hub import DataError

IMAGES = [*(row(number) for number in range(20)), negative(20), negative(21, "literal"), row(22, split="train")]
FILE = "annotations.jsonl"


def line(number: int, change: Callable[[str], str]) -> Callable[[Path], None]:
    """Change a line of the annotations."""

    def damage(folder: Path) -> None:
        lines = (folder / FILE).read_text(encoding="utf-8").splitlines()
        lines[number - 1] = change(lines[number - 1])
        (folder / FILE).write_text("\n".join(lines), encoding="utf-8")

    return damage


def fields(number: int, **changed: Any) -> Callable[[Path], None]:
    """Change fields of a line of the annotations."""
    return line(number, lambda text: json.dumps(json.loads(text) | changed))


def rows(*given: dict[str, Any]) -> Callable[[Path], None]:
    """Other annotations."""

    def damage(folder: Path) -> None:
        (folder / FILE).write_text("".join(f"{json.dumps(each)}\n" for each in given), encoding="utf-8")

    return damage


def picture(content: bytes | None) -> Callable[[Path], None]:
    """Another picture of line 3, or none."""

    def damage(folder: Path) -> None:
        (folder / "2/2.jpg").unlink()
        if content is not None:
            (folder / "2/2.jpg").write_bytes(content)

    return damage


def linked(folder: Path) -> None:
    (folder / "2/2.jpg").rename(folder.parent / "elsewhere.jpg")
    (folder / "2/2.jpg").symlink_to(folder.parent / "elsewhere.jpg")


def cut(folder: Path) -> None:
    whole = (folder / "2/2.jpg").read_bytes()
    (folder / "2/2.jpg").write_bytes(whole[: len(whole) // 2])


BEYOND = [{"role": "primary", "type": "logo", "bbox": [0, 0, 33, 10]}]
# damage -> what is done, a task that refuses it, what is said, and whether it is a fault: something to be put right
DAMAGES: dict[str, tuple[Callable[[Path], object], str, str, bool]] = {
    "not JSON": (line(3, lambda text: text[:-9]), "caption", "line 3 is not valid JSON", True),
    "image twice": (fields(3, image="0/0.jpg"), "caption", "line 3: image 0/0.jpg is also in line 1", True),
    "only in train": (fields(23, topic=" "), "caption", "line 23: topic is", True),
    "no rows": (rows(), "caption", f"{FILE} has no rows", True),
    "no file": (lambda folder: (folder / FILE).unlink(), "caption", f"{FILE} cannot be read", True),
    "no folder": (shutil.rmtree, "caption", "MetaCLUE is not on the hub", True),
    "box beyond": (fields(3, boxes=BEYOND), "localize", "line 3 (2/2.jpg): boxes[0].bbox is [0, 0, 33, 10], but", True),
    "picture missing": (picture(None), "caption", "line 3 (2/2.jpg): there is no picture 2/2.jpg", True),
    "picture of a negative": (
        lambda folder: (folder / "1/21.jpg").unlink(), "classify_literal", "there is no picture 1/21.jpg", True
    ),
    "picture cut off": (cut, "localize_pixel", "line 3 (2/2.jpg): the image cannot be decoded", True),
    "picture linked": (linked, "caption", "line 3 (2/2.jpg): image '2/2.jpg' points outside of", True),
    # What does not suffice for a task is no fault: other tasks run.
    "too few statements": (lambda _: None, "retrieve_random500", "distinct negatives for retrieve_random500", False),
    "no topic": (rows(*IMAGES, row(70, topic=None)), "retrieve_neg_prim", "topic is missing", False),
    "no negatives": (rows(row(0)), "classify_literal", "needs test images of the sets", False),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path, [*IMAGES, row(70)], same=True)))
    rows(*IMAGES)(tmp_path / "MetaCLUE")  # the picture of image 70 is there for one of the damages
    return tmp_path / "MetaCLUE"


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_a_run_refuses_the_check_finds(folder: Path, damage: str) -> None:
    change, task, message, is_fault = DAMAGES[damage]
    change(folder)
    hub.look_again()  # the drawing of candidates has read them
    with pytest.raises(DataError) as refused:
        BENCHMARK.load({"dataset": "MetaCLUE", "task": task}, True)
    assert message in str(refused.value)
    try:
        report = BENCHMARK.check() if BENCHMARK.check else None
    except DataError as error:
        assert message in str(error) and not (folder / FILE).exists()
        return
    assert report is not None
    assert (report.faults > 0) == is_fault
    start = "" if is_fault else f"a run refuses metaclue_{task}: "
    (found,) = [each for each in report.lines if each.startswith(start) and message in each]
    assert found.startswith("a run refuses ") != is_fault


def test_what_no_task_refuses_has_no_fault(folder: Path) -> None:
    report = BENCHMARK.check() if BENCHMARK.check else None
    assert report is not None and report.faults == 0
    refused = {each.split(":")[0] for each in report.lines if each.startswith("a run refuses ")}
    for task in tasks.TASKS:
        if f"a run refuses metaclue_{task}" not in refused:
            assert len(BENCHMARK.load({"dataset": "MetaCLUE", "task": task}, True))
    too_few = ("retrieve_random100", "retrieve_random500", "retrieve_random1000", "retrieve_neg_sec")
    assert refused == {f"a run refuses metaclue_{task}" for task in too_few}


def test_a_run_ends_with_the_first_fault_and_tells_of_the_others(folder: Path) -> None:
    for number in (2, 3, 5):
        os.unlink(folder / f"{number}/{number}.jpg")
    with pytest.raises(DataError) as refused:
        BENCHMARK.load({"dataset": "MetaCLUE", "task": "caption"}, True)
    assert "there is no picture 2/2.jpg" in str(refused.value) and "3/3.jpg" not in str(refused.value)
    assert str(refused.value).endswith(". 2 more fault(s): `figlang data check metaclue` lists them.")
