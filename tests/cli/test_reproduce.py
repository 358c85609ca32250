"""``figlang reproduce``: what was released gives the published numbers; a difference is status
1.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import cells, figlang, refused


@pytest.mark.parametrize(
    ("name", "shared_file", "last"),
    [
        (
            "admire",
            "data/admire/targets/b_en_train_targets.tsv",
            "42 cells, 42 equal, largest difference 0.000000000",
        ),
        ("irfl", "data/irfl/idiom_detection_task.csv", "7 cells, 7 equal, largest difference 0"),
        ("vflute", "data/vflute_test.csv", "7 cells, 7 equal, largest difference 0"),
        ("columbus", "data/columbus/benchmark.json", "9 cells, 9 equal, largest difference 0.0"),
    ],
    indirect=["shared_file"],
)
def test_what_was_released_gives_the_published_numbers(
    name: str, shared_file: Path, last: str
) -> None:
    done = figlang(
        "reproduce",
        name,
        "--data",
        shared_file.parents[1] if name == "admire" else shared_file.parent,
    )
    assert (
        done.exit_code == 0
        and done.stdout.splitlines()[-1] == last
        and "-0.000000000" not in done.stdout
    )


def test_a_difference_is_status_1(tmp_path: Path) -> None:
    (tmp_path / "metaphor_retrieval_task.csv").write_text("type\n" + "FvsPL\n" * 33)
    done = figlang("reproduce", "irfl", "--data", tmp_path)
    assert done.exit_code == 1 and "1 cells, 0 equal, largest difference 1" in done.stdout
    assert cells(done.stdout)[0] == ["cell", "in the release", "ours", "difference"]
    assert cells(done.stdout)[2] == ["metaphor-retrieval-task (the paper: 35)", "34", "33", "-1"]


@pytest.mark.parametrize("name", ["admire", "columbus", "irfl", "vflute"])
def test_missing_data_is_one_line(name: str, tmp_path: Path) -> None:
    assert "--data names the folder of what was released" in refused(
        "reproduce", name, "--data", tmp_path
    )


def test_a_file_that_was_not_released_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "vflute_test.csv").write_text("a,b\n1,2\n")
    told = refused("reproduce", "vflute", "--data", tmp_path)
    assert "is not as vflute released it (KeyError('id'))" in told
