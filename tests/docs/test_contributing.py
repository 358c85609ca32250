"""The benchmark in examples/emblems, copied into a checkout as CONTRIBUTING says, is checked, run and compared."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import warm
from documents import ROOT, blocks, changes_of

DOCUMENT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BIN = Path(sys.executable).parent
EMBLEMS = ROOT / "examples" / "emblems"


def apply(change: str, path: Path) -> None:
    """Put the lines that a diff adds behind the one line that it shows."""
    context, *added = change.splitlines()
    text = path.read_text(encoding="utf-8")
    assert context.startswith(" ") and all(line.startswith("+") for line in added)
    assert text.count(context[1:] + "\n") == 1, f"{path.name} has not one line {context}"
    path.write_text(text.replace(context[1:] + "\n", "\n".join([context[1:], *(line[1:] for line in added), ""])))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package with the benchmark in it."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("figlang_tasks", "metrics", "prompts", "task_yamls"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "demo_model"))
    shutil.copyfile(ROOT / "pyproject.toml", folder / "pyproject.toml")
    shutil.copytree(EMBLEMS, folder / "examples" / "emblems", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(EMBLEMS, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(folder: Path, commands: str, programs: Path = BIN) -> str:
    environment = {"PYTHONPATH": str(folder), "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
    environment["PATH"] = f"{programs}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_a_new_benchmark_is_its_own_files_and_nothing_else(checkout: Path) -> None:
    names = {path.relative_to(EMBLEMS).as_posix() for path in EMBLEMS.rglob("*") if path.is_file()}
    assert not any((ROOT / name).exists() for name in names)
    assert all("emblems" in name.lower() for name in names)
    assert not any("emblems" in change.lower() for change in changes_of(DOCUMENT).values())
    (command,) = re.findall(r'`python -c "(.*?)"` prints the `prompt_hash`', DOCUMENT)
    printed = run(checkout, f'python -c "{command}"').strip()
    task = (EMBLEMS / "task_yamls/lmms_eval/emblems/emblems.yaml").read_text(encoding="utf-8")
    assert re.findall(r"prompt_hash: (\w+)", task) == [printed]


def test_a_new_metric_is_one_declaration(checkout: Path) -> None:
    for name, change in changes_of(DOCUMENT).items():
        apply(change, checkout / name)
    said = run(
        checkout,
        'python -c "from figlang_tasks.benchmarks.irfl.measures import DETECT; '
        "m = DETECT.by_name['random_preference']; "
        "print([m.each({'chosen': place, 'roles': ['answer', 'random']}) for place in (None, 0, 1)])\"",
    )
    assert said == "[None, 0.0, 1.0]\n"


def commands() -> str:
    (found,) = [block.text for block in blocks(DOCUMENT) if "examples/emblems" in block.text and block.language == "sh"]
    return found


@pytest.mark.slow
def test_a_new_benchmark_is_checked_and_evaluated(checkout: Path, tmp_path: Path) -> None:
    """The commands as far as the first run."""
    warm.write_programs(tmp_path / "bin", "figlang", "lmms_eval", "python", harness=False)
    first = commands().partition("lmms_eval --tasks emblems --model figlang_random")[0].splitlines()
    wanted = (line for line in first if "pytest" not in line and " tasks " not in line)
    said = run(checkout, "\n".join(wanted), tmp_path / "bin")
    assert "no faults" in said and said.count("| emblems |") == 1


@pytest.mark.long
def test_a_new_benchmark_is_evaluated_and_compared_as_described(checkout: Path) -> None:
    said = run(checkout, commands())
    assert "10 passed" in said
    assert "no faults" in said  # figlang data check
    assert said.count("| emblems |") >= 2  # the short table after each run
    assert "# emblems, docs/cards/emblems.md" in said  # the list of tasks
    assert "## emblems" in said  # the comparison
    report = (checkout / "report.html").read_text(encoding="utf-8")
    assert report.count("data:image/") >= 8 and "emblems" in report
    # Half of the eight sayings fit, and a constant answer is right for these.
    assert re.search(r"majority *\| +8 \| +50\.0", said), said[-3000:]
