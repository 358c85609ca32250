"""CONTRIBUTING.md: a new metric is one declaration."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from documents import ROOT, shell

DOCUMENT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FOLDERS = (
    "figlang_tasks",
    "metrics",
    "prompts",
    "task_yamls",
    "tests",
    "docs",
    "tools",
    "examples",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the package, its tests and its documents are made of."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in FOLDERS:
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "demo_model")
        )
    for path in ROOT.iterdir():
        if path.suffix in (".md", ".toml", ".cff") or path.name == "Makefile":
            shutil.copyfile(path, folder / path.name)
    return folder


def test_a_new_metric_is_one_declaration(checkout: Path) -> None:
    changes = re.findall(r"`([^`\n]+)`:\n\n```diff\n(.*?)```\n", DOCUMENT, re.DOTALL)
    assert changes
    for name, change in changes:
        context, *added = change.splitlines()
        source = (checkout / name).read_text(encoding="utf-8")
        assert context.startswith(" ") and source.count(context[1:] + "\n") == 1
        text = "\n".join([context[1:], *(line.removeprefix("+") for line in added), ""])
        (checkout / name).write_text(source.replace(context[1:] + "\n", text))
    output = shell(
        checkout,
        'python -c "from figlang_tasks.benchmarks.irfl.measures import DETECT; m ='
        " DETECT.by_name['random_preference']; print([m.value_of_record({'chosen': place, 'roles':"
        " ['answer', 'random']}) for place in (None, 0, 1)])\"",
        checkout,
    )
    assert output == "[None, 0.0, 1.0]\n"
