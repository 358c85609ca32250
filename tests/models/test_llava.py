"""llava and llava_hf as users type them: without a checkpoint, with LLaVA's own, with --force_simple."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import lmms_eval.models
import pytest
from demo_runs import DEMO, answers, evaluate, register

from figlang_tasks.models.vlm import FigLangLlava

SETTINGS: dict[str, Any] = {"limit": 1, "gen_kwargs": "num_beams=1"}


@pytest.mark.parametrize(("name", "more"), [("llava", ""), ("llava_hf", ",device_map=cpu,dtype=float32")])
def test_both_names_answer_as_figlang_vlm(name: str, more: str) -> None:
    task = "figlang_mini"
    expected = answers(evaluate(task, "figlang_vlm", DEMO, **SETTINGS), task)
    assert answers(evaluate(task, name, f"{DEMO}{more}", device="cpu", **SETTINGS), task) == expected
    assert all("LABEL:" in answer for answer in expected.values())


def test_the_default_checkpoint_is_the_published_one() -> None:
    assert inspect.signature(FigLangLlava).parameters["pretrained"].default == "llava-hf/llava-1.5-7b-hf"


def test_the_harness_own_class_is_still_there_for_video_and_log_likelihoods() -> None:
    register()
    found = lmms_eval.models.MODEL_REGISTRY_V2.resolve("llava_hf", force_simple=True)
    assert found.class_path == "lmms_eval.models.simple.llava_hf.LlavaHf"


def test_what_the_entry_point_imports_does_not_import_the_harness() -> None:
    program = "import sys, figlang_tasks.models; print([name for name in sys.modules if 'lmms_eval' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "[]\n"
