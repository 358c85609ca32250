"""llava and llava_hf as users type them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from demo_runs import DEMO, answers, evaluate
from lmms_eval.models.chat.llava_hf import LlavaHf as HarnessChat

from figlang_tasks import FigLangError
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models import llava, llava_hf

TASK = "figlang_mini"
SETTINGS: dict[str, Any] = {"limit": 1, "gen_kwargs": "num_beams=1"}


@pytest.fixture(scope="module")
def expected() -> dict[int, str]:
    """Answers of the harness's own class, given the arguments that it needs."""
    model = HarnessChat(pretrained=str(DEMO_MODEL_DIR), device="cpu", device_map="cpu")
    return answers(evaluate(TASK, model, **SETTINGS), TASK)


def test_the_harness_own_class_still_needs_an_argument() -> None:
    with pytest.raises(ValueError, match="device_map"):
        HarnessChat(pretrained=str(DEMO_MODEL_DIR), device="cpu")


@pytest.mark.parametrize("name", ["llava", "llava_hf"])
@pytest.mark.parametrize("force_simple", [False, True], ids=["chat", "simple"])
def test_the_checkpoint_is_all_that_has_to_be_given(
    name: str, force_simple: bool, expected: dict[int, str], warnings_of_loguru: list[str]
) -> None:
    results = evaluate(TASK, name, DEMO, force_simple=force_simple, **SETTINGS)
    assert all("LABEL:" in answer for answer in answers(results, TASK).values())
    if not force_simple:
        assert answers(results, TASK) == expected
    told = [message for message in warnings_of_loguru if "the original LLaVA package is not installed" in message]
    assert len(told) == (name == "llava")


def test_device_and_device_map_are_still_taken(expected: dict[int, str]) -> None:
    results = evaluate(TASK, "llava", f"{DEMO},device_map=cpu,dtype=float32", device="cpu", **SETTINGS)
    assert answers(results, TASK) == expected


@pytest.mark.parametrize("force_simple", [False, True], ids=["chat", "simple"])
def test_out_of_memory_is_an_error_and_no_answer(force_simple: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def generate(*args: Any, **kwargs: Any) -> None:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(transformers.LlavaForConditionalGeneration, "generate", generate)
    with pytest.raises(torch.cuda.OutOfMemoryError, match="CUDA out of memory"):
        evaluate(TASK, "llava_hf", DEMO, force_simple=force_simple, **SETTINGS)


def test_the_default_checkpoint_is_the_published_one() -> None:
    for name in ("LlavaHfSimple", "LlavaHfChat", "LlavaSimple", "LlavaChat"):
        default = inspect.signature(getattr(llava_hf, name)).parameters["pretrained"].default
        assert default == "llava-hf/llava-1.5-7b-hf"


def test_an_original_checkpoint_is_refused_with_the_place_of_the_right_one() -> None:
    with pytest.raises(
        FigLangError, match="liuhaotian/llava-v1.5-7b has the format .* https://huggingface.co/llava-hf"
    ):
        llava_hf.LlavaChat(pretrained="liuhaotian/llava-v1.5-7b")


def test_the_harness_llava_stays_where_its_package_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [manifest.model_id for manifest in llava.manifests()] == ["llava_hf", "llava"]
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "llava").mkdir()  # some folder, not a package
    assert not llava.original_llava_installed()
    (tmp_path / "llava" / "__init__.py").touch()
    assert [manifest.model_id for manifest in llava.manifests()] == ["llava_hf"]


def test_what_the_entry_point_imports_does_not_import_the_harness() -> None:
    program = "import sys, figlang_tasks.models.llava; print([name for name in sys.modules if 'lmms_eval' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout == "[]\n"


def test_a_task_without_pictures() -> None:
    """The harness's chat class fails on it, its simple class gives "" or another request's answer."""
    name = "figlang_mini_nykms_sarcasm_text"
    few: dict[str, Any] = {"limit": 2, "gen_kwargs": "max_new_tokens=8"}
    ours = answers(evaluate(name, "llava_hf", DEMO, **few), name)
    assert ours == answers(evaluate(name, "figlang_vlm", DEMO, **few), name)
    assert all(ours.values())
    with pytest.raises(ValueError, match=f"the task {name} has no pictures; do not use --force_simple"):
        evaluate(name, "llava_hf", DEMO, force_simple=True, **few)
