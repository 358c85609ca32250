"""docs/own_benchmark.md: its commands run, and so do those of examples/emblems."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT, blocks, shell

DOCUMENT = ROOT / "docs" / "own_benchmark.md"
PICTURES = ROOT / "examples" / "emblems" / "figlang_emblems" / "data" / "images"


@pytest.fixture
def program_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip installs into, and where Python looks for packages."""
    site = tmp_path / "site"
    monkeypatch.setenv("PIP_TARGET", str(site))
    monkeypatch.setenv("PIP_NO_DEPS", "1")
    monkeypatch.setenv("PIP_NO_BUILD_ISOLATION", "0")  # as the option: 0 stands for "without"
    monkeypatch.setenv("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    return site


def run_script(folder: Path, script: str, site: Path) -> str:
    """What the commands of a document print, with a package that they install on the way."""
    path = Path(os.pathsep.join([str(site), str(ROOT)]))
    return shell(folder, script, path)


@pytest.mark.long
def test_the_commands_from_a_table_to_a_report_run(tmp_path: Path, program_path: Path) -> None:
    texts = {block.language: block.text for block in blocks(DOCUMENT.read_text(encoding="utf-8"))}
    (tmp_path / "rows.csv").write_text(texts["text"], encoding="utf-8")
    (tmp_path / "pictures").mkdir()
    for number in (1, 2):
        shutil.copyfile(PICTURES / f"{number}.png", tmp_path / "pictures" / f"{number}.png")
    # `pip install -e` cannot install into a folder; the package itself is the same.
    script = texts["sh"].replace("pip install -e", "python -m pip install -q")
    output = run_script(tmp_path, script, program_path)
    assert "kind: choice (multiple choice), because of the columns A, B, C, D" in output
    assert "no faults" in output
    assert re.search(r"figlang_random on proverbs: acc [\d.]+ \[.*\], 2 rows", output)
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '"gold":[["gold","B"]]' in report and '"gold":[["gold","A"]]' in report


@pytest.mark.long
def test_the_example_is_installed_and_evaluated_as_its_readme_says(
    tmp_path: Path, program_path: Path
) -> None:
    readme = (ROOT / "examples" / "emblems" / "README.md").read_text(encoding="utf-8")
    (block,) = blocks(readme)
    script = block.text.replace("pip install ./", f"python -m pip install -q {ROOT}/")
    script += "figlang report results/emblems -o report.html\n"
    output = run_script(tmp_path, script, program_path)
    assert "emblems      8  Does the picture convey the saying?" in output
    # Four of the eight sayings fit, and a constant answer is right for these.
    assert "figlang_majority on emblems: acc 50.0" in output
    tests = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-n",
            "0",
            "--rootdir",
            str(tmp_path),
            str(ROOT / "examples" / "emblems" / "tests"),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(program_path), str(ROOT)])},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert "7 passed" in tests.stdout, tests.stdout[-2000:]
