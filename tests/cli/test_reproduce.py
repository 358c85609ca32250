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
        ("columbus", "data/columbus/benchmark.json", "15 cells, 15 equal, largest difference 0.0"),
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


@pytest.mark.parametrize("shared_file", ["data/yesbut/files.csv"], indirect=True)
def test_two_cells_of_yesbut_do_not_follow_from_the_other_table(shared_file: Path) -> None:
    """Facts, section 4: 18 of 20. The human evaluation is not in the shared folder."""
    result = figlang("reproduce", "yesbut", "--data", shared_file.parent)
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "24 cells, 22 equal, largest difference 0.0066"
    rows = {row[0]: row[1:] for row in cells(result.stdout)[2:]}
    assert rows["always Y: F1 of satirical"] == ["59.71", "59.71", "0.00"]
    assert rows["always N: accuracy"] == ["57.44", "57.44", "0.00"]
    table = "Table 6, stage 2, from Table 8"
    assert rows[f"{table}: MiniGPT4, rouge_l"] == ["0.1237", "0.1303", "0.0066"]
    assert rows[f"{table}: Gemini, rouge_l"] == ["0.1973", "0.1974", "0.0001"]


def test_a_difference_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "metaphor_retrieval_task.csv").write_text("type\n" + "FvsPL\n" * 33)
    result = figlang("reproduce", "irfl", "--data", tmp_path)
    assert result.exit_code == 1
    assert "1 cells, 0 equal, largest difference 1" in result.stdout
    rows = cells(result.stdout)
    assert rows[0] == ["cell", "in the release", "ours", "difference"]
    assert rows[2] == ["metaphor-retrieval-task (the paper: 35)", "34", "33", "-1"]


@pytest.mark.parametrize(
    "name", ["admire", "ciibench", "columbus", "humordb", "irfl", "vflute", "yesbut"]
)
def test_missing_data_is_one_line(name: str, tmp_path: Path) -> None:
    message = refused("reproduce", name, "--data", tmp_path)
    assert "Give --data the folder with the released files" in message


def test_a_file_that_was_not_released_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "vflute_test.csv").write_text("a,b\n1,2\n")
    message = refused("reproduce", "vflute", "--data", tmp_path)
    assert "is not as vflute released it (KeyError('id'))" in message
