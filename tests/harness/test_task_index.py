"""Task files are read quickly, and as the harness reads them."""

from __future__ import annotations

import io
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmms_eval.tasks
import pytest
import yaml
from lmms_eval import utils
from lmms_eval.tasks import TaskManager

from figlang_tasks.harness import plugin, task_index
from figlang_tasks.harness.plugin import tasks_dir

HARNESS = Path(lmms_eval.tasks.__file__).parent
QUICK = task_index.QuickYaml()
MARKS = [
    "\t",
    " ",
    "\n",
    "\r\n",
    ": ",
    "- ",
    "#",
    "'",
    '"',
    "|\n",
    ">-\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a ",
    "*a",
    "? ",
    "%",
]
MARKS += [
    "!function ",
    "!!python/tuple ",
    "!!python/name:len ",
    "!!int ",
    "!mine ",
    "@",
    "`",
    "\u2028",
    "\x85",
    "\x00",
    "…",
    "😀",
]
MARKS += [
    "---\n",
    "...\n",
    "<<: ",
    "1_000",
    "0o7",
    "1:30",
    "2020-01-01",
    ".inf",
    "~",
    "yes",
    "\\x41",
    "\ufeff",
    ":",
    "-",
]


class File(io.BytesIO):
    name = "task.yaml"


@pytest.fixture
def of_the_harness(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The harness reads task files by its own parser."""
    with monkeypatch.context() as context:
        context.setattr(utils, "yaml", yaml)
        yield


def plain(value: Any) -> Any:
    """Something that compares: an unread function by its name, each value with its type, mappings in their order."""
    if isinstance(value, yaml.Node):
        return type(value).__name__, value.tag, plain(value.value)
    if isinstance(value, dict):
        return [(plain(key), plain(each)) for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    return type(value).__name__, repr(value)


def read(by: Any, content: bytes) -> Any:
    try:
        return plain(by.full_load(File(content)))
    except (yaml.YAMLError, ValueError) as error:  # of a value, such as a date
        return type(error).__name__, str(error)


def test_task_files_are_read_quickly() -> None:
    if not yaml.__with_libyaml__:
        pytest.skip("PyYAML is without libyaml")
    plugin.register()
    assert isinstance(utils.yaml, task_index.QuickYaml)
    assert issubclass(task_index._QuickLoader, yaml.CFullLoader)


@pytest.mark.parametrize("step", [10, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_files_of_the_harness_are_read_as_it_reads_them(step: int) -> None:
    utils.load_yaml_config(yaml_config={}, yaml_dir="", mode="simple")  # registers !function
    files = sorted(HARNESS.rglob("*.yaml"))
    assert len(files) > 1900
    contents = {file.read_bytes() for file in files[::step]}
    assert [content for content in contents if read(QUICK, content) != read(yaml, content)] == []


def test_changed_files_are_read_or_refused_as_the_harness_does() -> None:
    utils.load_yaml_config(yaml_config={}, yaml_dir="", mode="simple")
    choose = random.Random(0)
    contents = [file.read_text()[:800] for file in sorted(tasks_dir().rglob("*.yaml"))]
    for _ in range(500):
        content = choose.choice(contents)
        for _ in range(choose.choice([1, 1, 2, 3])):
            place = choose.randrange(len(content) + 1)
            content = content[:place] + choose.choice(MARKS) + content[place + choose.choice([0, 0, 1, 3]) :]
        assert read(QUICK, content.encode()) == read(yaml, content.encode()), content


def test_the_index_of_our_tasks_is_that_of_the_harness(of_the_harness: None, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = {"include_defaults": False, "include_path": str(tasks_dir())}
    theirs = TaskManager(**folder).task_index
    monkeypatch.setattr(utils, "yaml", QUICK)
    ours = TaskManager(**folder).task_index
    assert ours == theirs and list(ours) == list(theirs) and len(ours) > 150


FILES = {
    "one/a.yaml": "task: a\ntag: [t, u]\ngroup: g\n",
    "one/b.yaml": "task: b\ntag: t\ninclude: c/_base.yaml\n",
    "one/c/_base.yaml": "output_type: generate_until\ninclude: [_first.yaml, _second.yaml]\n",
    "one/c/_first.yaml": "metric_list: [{metric: m}]\n",
    "one/c/_second.yaml": "metric_list: []\ndataset_kwargs: {data_files: x.json}\ndataset_path: json\n",
    "one/c/x.json": "{}",
    "one/same.yaml": "task: a\ndescription: a second of this name\n",
    "one/group.yaml": "group: all\ntask:\n- a\n- task: b\n  task_alias: of b\n",
    "one/python.yaml": "task: own\nclass: !function own.Own\n",
    "one/own.py": "class Own: pass\ndef text(doc): return ''\n",
    "one/function.yaml": "task: function\ndoc_to_text: !function own.text\nprocess_docs: !function os.path.join\n",
    "one/odd.yaml": "task: !function own.text\ntag: odd\n",
    "two/a.yaml": "task: a\ntag: other\n",
    "two/tab.yaml": "task: tab # \t\n",
}


@pytest.mark.parametrize("which", [["one"], ["one", "two"], ["two", "one"]], ids="+".join)
def test_users_tasks_are_found_and_read_as_by_the_harness(
    which: list[str], tmp_path: Path, of_the_harness: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    folders = [str(tmp_path / name) for name in which]

    def found() -> tuple[Any, ...]:
        manager = TaskManager(include_defaults=False, include_path=folders)
        files = [file for folder in folders for file in sorted(Path(folder).rglob("*.yaml"))]
        simple = [plain(utils.load_yaml_config(str(file), mode="simple")) for file in files]
        full = [utils.load_yaml_config(str(file), mode="full") for file in files if file.parent.name == "one"]
        named = [
            {key: f"{each.__module__}.{each.__qualname__}" if callable(each) else each for key, each in config.items()}
            for config in full
        ]
        return manager.task_index, list(manager.task_index), manager.all_tags, manager.all_groups, simple, named

    theirs = found()
    monkeypatch.setattr(utils, "yaml", QUICK)
    assert found() == theirs
    assert {"type": "python_task", "yaml_path": str(tmp_path / "one/python.yaml")} in theirs[0].values() or which[
        0
    ] == "two"


def test_an_error_in_a_file_is_in_the_words_of_the_harness(
    tmp_path: Path, of_the_harness: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "bad.yaml"
    told = []
    for content in ("task: [a\n", "task: !mine a\n", "task:\ta\n", "doc_to_text: !function there.is_none\n"):
        file.write_text(content)
        for by in (yaml, QUICK):
            monkeypatch.setattr(utils, "yaml", by)
            with pytest.raises((yaml.YAMLError, ImportError)) as caught:
                utils.load_yaml_config(str(file), mode="full")
            told.append(f"{caught.type.__name__}: {caught.value}")
    assert told[::2] == told[1::2] and len(set(told)) == 4 and os.fspath(file) in told[0]
