"""``figlang reproduce``: released files give the published numbers; a difference is status 1."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import cells, figlang, refused


@pytest.mark.parametrize(
    ("name", "shared_file", "last_line"),
    [
        (
            "admire",
            "data/admire/targets/b_en_train_targets.tsv",
            "42 cells, 42 equal, largest difference 0.000000000",
        ),
        ("irfl", "data/irfl/idiom_detection_task.csv", "7 cells, 7 equal, largest difference 0"),
        ("vflute", "data/vflute_test.csv", "7 cells, 7 equal, largest difference 0"),
        ("columbus", "data/columbus/benchmark.json", "9 cells, 9 equal, largest difference 0.0"),
        ("humordb", "data/humordb/index.csv", "22 cells, 22 equal, largest difference 0"),
    ],
    indirect=["shared_file"],
)
def test_released_files_give_the_published_numbers(
    name: str, shared_file: Path, last_line: str
) -> None:
    folder = shared_file.parents[1] if name == "admire" else shared_file.parent
    result = figlang("reproduce", name, "--data", folder)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == last_line
    assert "-0.000000000" not in result.stdout


def test_a_difference_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "metaphor_retrieval_task.csv").write_text("type\n" + "FvsPL\n" * 33)
    result = figlang("reproduce", "irfl", "--data", tmp_path)
    assert result.exit_code == 1
    assert "1 cells, 0 equal, largest difference 1" in result.stdout
    rows = cells(result.stdout)
    assert rows[0] == ["cell", "in the release", "ours", "difference"]
    assert rows[2] == ["metaphor-retrieval-task (the paper: 35)", "34", "33", "-1"]


@pytest.mark.parametrize("name", ["admire", "columbus", "humordb", "irfl", "vflute"])
def test_missing_data_is_one_line(name: str, tmp_path: Path) -> None:
    message = refused("reproduce", name, "--data", tmp_path)
    assert "Give --data the folder with the released files" in message


def test_a_file_that_was_not_released_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "vflute_test.csv").write_text("a,b\n1,2\n")
    message = refused("reproduce", "vflute", "--data", tmp_path)
    assert "is not as vflute released it (KeyError('id'))" in message
