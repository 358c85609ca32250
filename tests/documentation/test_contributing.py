"""CONTRIBUTING.md: examples/emblems, copied into a checkout, is a benchmark; a new metric is one
declaration.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from documents import ROOT, blocks, shell

DOCUMENT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
EMBLEMS = ROOT / "examples" / "emblems"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the package is made of, and the example in its place."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("figlang_tasks", "metrics", "prompts", "task_yamls", "examples/emblems"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "demo_model")
        )
    shutil.copyfile(ROOT / "pyproject.toml", folder / "pyproject.toml")
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
    said = shell(
        checkout,
        'python -c "from figlang_tasks.benchmarks.irfl.measures import DETECT; m ='
        " DETECT.by_name['random_preference']; print([m.value_of_record({'chosen': place, 'roles':"
        " ['answer', 'random']}) for place in (None, 0, 1)])\"",
        checkout,
    )
    assert said == "[None, 0.0, 1.0]\n"


@pytest.mark.slow
def test_a_new_benchmark_is_its_own_files_and_is_evaluated_as_described(checkout: Path) -> None:
    names = [path.relative_to(EMBLEMS) for path in EMBLEMS.rglob("*") if path.is_file()]
    assert not any((ROOT / name).exists() for name in names)  # no file of the repository changes
    (commands,) = (
        block.text for block in blocks(DOCUMENT) if block.text.startswith("cp -r examples/emblems")
    )
    said = shell(checkout, commands, checkout)
    assert "10 passed" in said and "no faults" in said
    assert "## emblems" in said  # the comparison
    # Half of the eight sayings fit, and a constant answer is right for these.
    assert re.search(r"majority *\| +8 \| +50\.0", said), said[-3000:]
    assert (checkout / "report.html").read_text(encoding="utf-8").count("data:image/") >= 8
    (command,) = re.findall(r'`(python -c ".*?")` prints the `prompt_hash`', DOCUMENT)
    declaration = (checkout / "figlang_tasks/benchmarks/emblems/benchmark.py").read_text(
        encoding="utf-8"
    )
    assert f'prompt_hash="{shell(checkout, command, checkout).strip()}"' in declaration
