"""Parts of the data that hold nothing, and folders of answers that cannot be used: one message,
before a model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from demo_runs import evaluate, mini_tasks

from figlang_tasks import FigLangError

# Told first if it were loaded first
NO_MODEL = ("figlang_vlm", "pretrained=/there/is/no/such/model")
CIRCULAR = "mini_irfl_detect_idiom_circular"
RETRIEVE = "figlang_mini_irfl_retrieve_metaphor"


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("figlang_mini", {"limit": 0}, "--limit 0: must be a number of rows"),
        (
            "figlang_mini",
            {"gen_kwargs": "max_new_tokens"},
            "--gen_kwargs max_new_tokens: must be NAME=VALUE",
        ),
        (
            "figlang_mini",
            {"offset": -1},
            "task figlang_mini: --offset -1: must be the number of rows to skip",
        ),
        (
            "figlang_mini",
            {"offset": 76},
            "--offset 76: must be the number of rows to skip at the start, of 76",
        ),
        (
            CIRCULAR,
            {"limit": 3},
            f"task {CIRCULAR}: .*idiom-detection-task-0 has 4 documents.*Use --limit 4, or",
        ),
        (
            CIRCULAR,
            {"limit": 4, "offset": 6},
            "idiom-detection-task-1 has 4 documents.*Use --limit 4 --offset 4,",
        ),
        (CIRCULAR, {"limit": 0.01}, f"task {CIRCULAR}: .*leave no complete row"),
        (
            RETRIEVE,
            {"limit": 5},
            f"task {RETRIEVE}: .*metaphor-retrieval-task-0 has 6 documents.*Use --limit 6, or",
        ),
    ],
)
def test_nothing_to_run_or_to_compute(task: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(FigLangError, match=message):
        evaluate(task, *NO_MODEL, include_path=mini_tasks(), **options)


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = f"{tmp_path / 'file'}/answers"
    with pytest.raises(
        FigLangError, match=f"--use_cache {folder}: .*Not a directory.*Name a folder"
    ):
        evaluate("figlang_mini", *NO_MODEL, use_cache=folder)
    with pytest.raises(
        FigLangError, match=f"--output_path {folder}: Not a directory. Name a folder"
    ):
        evaluate("figlang_mini", *NO_MODEL, saved=Path(folder))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_run_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    """The folder of the results is checked before the model is loaded, and not made."""
    with pytest.raises(FigLangError, match="/there/is/no/such/model"):
        evaluate("figlang_mini", *NO_MODEL, saved=tmp_path / "results" / "new")
    assert list(tmp_path.iterdir()) == []
