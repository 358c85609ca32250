"""docs/finetuning.md: the rows of examples/finetuning are valid, and its commands make a model
better than it was.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from documents import ROOT, blocks, shell

from figlang_tasks.benchmarks.vflute import rows as vflute
from figlang_tasks.mini import DEMO_MODEL_DIR

DOCUMENT = (ROOT / "docs" / "finetuning.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a copy of the example."""
    shutil.copytree(ROOT / "examples" / "finetuning", tmp_path / "examples" / "finetuning")
    return tmp_path


@pytest.mark.slow
def test_its_rows_are_valid_and_differ(folder: Path) -> None:
    shell(folder, "python examples/finetuning/make_sayings.py my_data", ROOT)
    pictures = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_DATA_DIR", str(folder / "my_data"))
        for split in ("train", "test"):
            pictures += [cell["path"] for cell in vflute.load("V-FLUTE", split)["image"]]
    assert len(pictures) == 336
    assert len(set(pictures)) == 336


@pytest.mark.long
def test_the_model_is_better_at_what_it_was_trained_for(folder: Path) -> None:
    pytest.importorskip("trl")
    scripts = [block.text for block in blocks(DOCUMENT) if block.language == "sh"]
    (script,) = (script for script in scripts if "finetune.py" in script)
    script = script.replace("figlang_tasks/mini/demo_model", str(DEMO_MODEL_DIR))
    script = re.sub(r"^pip .*$", "", script, flags=re.MULTILINE)
    output = shell(folder, script, ROOT)
    assert "240 rows of train, with the prompt of vflute" in output
    assert "left out, because" not in output
    verdict = r"^my_model is better than \w+ on vflute: f1@60 \+([\d.]+)"
    gain = re.search(verdict, output, re.MULTILINE)
    assert gain is not None and float(gain[1]) > 30, output[-1500:]
