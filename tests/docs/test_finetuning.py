"""docs/finetuning.md: its files are in our style, and its commands train a model that is better than before."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest
from docs.documents import ROOT, blocks, files_of
from docs.test_commands import write_programs

from figlang_tasks.mini import DEMO_MODEL_DIR

DOCUMENT = (ROOT / "docs" / "finetuning.md").read_text(encoding="utf-8")


def run(folder: Path, commands: str) -> str:
    import subprocess

    environment = os.environ | {"HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(ROOT)}
    environment |= {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=folder, env=environment, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in files_of(DOCUMENT).items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    write_programs(tmp_path / "bin")
    return tmp_path


def test_its_files_are_in_the_style_of_the_project(folder: Path) -> None:
    names = " ".join(files_of(DOCUMENT))
    assert names == "make_sayings.py finetune.py"
    ruff, settings = f"{sys.executable} -m ruff", f"--config {ROOT / 'pyproject.toml'}"
    run(folder, f"{ruff} check {settings} {names} && {ruff} format --check {settings} {names}")


@pytest.mark.long
def test_the_model_is_better_at_what_it_was_trained_for(folder: Path) -> None:
    pytest.importorskip("trl")
    (commands,) = (block.text for block in blocks(DOCUMENT) if "finetune.py" in block.text and block.language == "sh")
    commands = commands.replace("figlang_tasks/mini/demo_model", str(DEMO_MODEL_DIR))
    said = run(folder, re.sub(r"^pip .*$", "", commands, flags=re.MULTILINE))
    assert "240 rows of train, with the prompt of vflute" in said and "left out, because" not in said
    gain = re.search(r"^vflute: my_model is better: f1@60 \+([\d.]+)", said, re.MULTILINE)
    assert gain is not None and float(gain[1]) > 30, said[-1500:]
