"""Code that a checkpoint brings runs only where the user asked for it by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from figlang_tasks import FigLangError
from figlang_tasks.models.dual_encoder import FigLangCLIP
from figlang_tasks.models.vlm import FigLangVLM


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose configuration and processor are code that leaves a file behind."""
    monkeypatch.setenv("FIGLANG_TEST_MARK", str(tmp_path / "it-ran"))
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    code = (
        "import os, pathlib\nfrom transformers import PretrainedConfig\n"
        "pathlib.Path(os.environ['FIGLANG_TEST_MARK']).touch()\n"
        "class Own(PretrainedConfig):\n    model_type = 'own-code-of-a-test'\n"
    )
    (folder / "own.py").write_text(code)
    auto_map = {
        "AutoConfig": "own.Own",
        "AutoProcessor": "own.Own",
        "AutoTokenizer": ["own.Own", "own.Own"],
    }
    (folder / "config.json").write_text(
        json.dumps({"model_type": "own-code-of-a-test", "auto_map": auto_map})
    )
    (folder / "processor_config.json").write_text(json.dumps({"auto_map": auto_map}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": auto_map}))
    return folder


@pytest.mark.parametrize("model", [FigLangVLM, FigLangCLIP])
def test_code_of_a_checkpoint_runs_where_it_is_asked_for_alone(
    model: Any, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules")
    )
    with pytest.raises(FigLangError, match="trust_remote_code"):
        model(pretrained=str(checkpoint), device="cpu")
    assert not (tmp_path / "it-ran").exists()
    with pytest.raises(FigLangError):  # the class is no model, but its module has been run by then
        model(pretrained=str(checkpoint), device="cpu", trust_remote_code=True)
    assert (tmp_path / "it-ran").exists()
