"""The workflows of the forge: a release is of its tag, and what pyproject.toml declares is
tried.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import yaml

import figlang_tasks

ROOT = Path(__file__).resolve().parents[1]
CI = ROOT / ".github/workflows/ci.yml"


def test_a_tag_is_compared_with_the_version() -> None:
    release = (CI.parent / "release.yml").read_text(encoding="utf-8")
    (command,) = re.findall(r'= "v\$\((sed .*)\)"', release)
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout == f"{figlang_tasks.__version__}\n"


def test_ci_tries_the_declared_versions() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    matrix = yaml.safe_load(CI.read_text(encoding="utf-8"))["jobs"]["tests"]["strategy"]["matrix"]
    assert matrix["python"] == re.findall(r'"Programming Language :: Python :: (3\.\d+)"', project)
    assert f'requires-python = ">={matrix["python"][0]}"' in project
    assert f'"transformers>={matrix["transformers"][0]}"' in project
