"""Our task files are read quickly, and as the harness reads them."""

from __future__ import annotations

from pathlib import Path

import pytest
from lmms_eval import utils
from lmms_eval.tasks import TaskManager

from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.harness.task_index import read_quickly

HARNESS = utils.load_yaml_config


def test_the_index_is_that_of_the_harness() -> None:
    manager = TaskManager(include_defaults=False)
    theirs = manager._get_task_and_group(str(tasks_dir()))
    with read_quickly(tasks_dir()):
        ours = manager._get_task_and_group(str(tasks_dir()))
    assert ours == theirs and list(ours) == list(theirs) and len(ours) > 150


def test_only_our_files_and_only_their_names_are_read_so(tmp_path: Path) -> None:
    mine = tmp_path / "mine.yaml"
    mine.write_text(f"include: {tasks_dir()}/vflute/vflute.yaml\ntask: mine\nprocess_results: !function utils.f\n")
    (tmp_path / "utils.py").write_text("def f(doc, results): return {}\n")
    with read_quickly(tasks_dir()):
        named = utils.load_yaml_config(str(mine), mode="simple")
        whole = utils.load_yaml_config(yaml_path=str(mine), mode="full")
        ours = utils.load_yaml_config(str(tasks_dir() / "vflute" / "vflute.yaml"), mode="full")
    assert named["task"] == whole["task"] == "mine" and "include" not in named
    assert whole["process_results"].__name__ == "f" and callable(whole["process_docs"])
    assert callable(ours["process_results"])


def test_the_first_file_that_is_included_wins_and_the_file_itself_before_it(tmp_path: Path) -> None:
    files = {
        "a": "tag: [a]\ngroup: a",
        "b": "tag: b\ngroup: b\nclass: b\nmetric_list:\n  - metric: m\n    task: no",
        "c": "# of a test\ninclude: [a.yaml, b.yaml]\n\ntask:\n- c\n# still\n\n- d\nx:\n  task: no\ngroup: c",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    path = str(tmp_path / "c.yaml")
    with read_quickly(tmp_path):
        ours = utils.load_yaml_config(path, mode="simple")
    theirs = utils.load_yaml_config(path, mode="simple")
    assert ours == theirs
    assert {key: ours[key] for key in ("tag", "group", "class", "task")} == {
        "tag": ["a"],
        "group": "c",
        "class": "b",
        "task": ["c", "d"],
    }


def test_the_reader_of_the_harness_is_put_back() -> None:
    with pytest.raises(KeyError), read_quickly(tasks_dir()):
        assert utils.load_yaml_config is not HARNESS
        raise KeyError
    assert utils.load_yaml_config is HARNESS
