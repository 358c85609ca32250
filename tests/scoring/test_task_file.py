"""A user's own task file with a mistake ends with one message that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.task_files import files
from figlang_tasks.scoring.task_file import TaskFile

FLUTE = files("lmms_eval")["figlang_mini_flute"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "own.yaml is no task file: it must have keys"),
        ("- task: own", "own.yaml is no task file: it must have keys"),
        ("task: [own", "own.yaml is not valid YAML"),
        ("task: !other own", "own.yaml is not valid YAML"),
        ("include: own.yaml", "own.yaml includes itself"),
        ("include: {a: b}", "own.yaml: its include must be the path"),
        ("include: none.yaml", "own.yaml includes none.yaml, and there is no such file"),
        (f"include: {FLUTE}\nlmms_eval_specific_kwargs: [a]", "_kwargs must be keys with values"),
        (f"include: {FLUTE}\ntask: [a]", "own.yaml: its task must be a name"),
    ],
)
def test_a_file_with_a_mistake_is_named(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(content)
    with pytest.raises(FigLangError) as error:
        TaskFile.read(str(path))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("figlang_tasks.scoring.process_resluts", "there is no such function"),
        ("figlang_tasks.none.process_results", "there is no such function"),
        ("figlang_tasks.scoring.task_file.dataclass", "which is no function of figlang_tasks"),
        ("figlang_tasks.scoring", "which is no function of figlang_tasks"),
        ("os.system", "which is not of figlang_tasks"),
    ],
)
def test_a_function_that_is_not_ours_is_refused(name: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(f"include: {FLUTE}\nprocess_results: {name}\n")
    with pytest.raises(FigLangError) as error:
        TaskFile.read(str(path)).function("process_results")
    assert name in str(error.value) and message in str(error.value)
