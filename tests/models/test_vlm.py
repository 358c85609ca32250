"""`figlang_vlm` on two tiny models (the others: test_families.py): answers in words and in numbers,
and trouble.
"""

from __future__ import annotations

import copy
import functools
import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import demo_runs
import pytest
import torch
from lmms_eval.models import MODEL_REGISTRY_V2
from PIL import Image
from vlm_requests import (
    CANDIDATES,
    CONVERSATIONS,
    GREEDY,
    Build,
    answers,
    asked,
    image,
    instance,
    made,
    scores,
    text,
    user,
)

import figlang_tasks
from figlang_tasks import FigLangError
from figlang_tasks.core.score_requests import KEY
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models import vlm
from figlang_tasks.models.vlm import FigLangBlind, FigLangVLM, VLMError
from figlang_tasks.models.vlm_generation import cut_at, generation_settings, stop_strings
from figlang_tasks.models.vlm_scoring import answer_tokens, joiner

EMPTY_FILE = str(Path(figlang_tasks.__file__).with_name("py.typed"))

# --- answers in words ---


def test_batches_answer_as_single_requests_and_leave_the_settings_alone(build: Build) -> None:
    settings = GREEDY | {"until": ["\n\n"], "num_beams": 3}
    given = copy.deepcopy(settings)
    one_by_one = asked(build(), CONVERSATIONS, settings)
    lm = build(batch_size=4)
    assert asked(lm, CONVERSATIONS, settings) == one_by_one
    assert len(set(one_by_one)) == len(CONVERSATIONS)
    assert settings == given
    assert one_by_one != asked(lm, CONVERSATIONS, GREEDY), "of beams"


def test_requests_of_several_settings_come_back_in_their_order(build: Build) -> None:
    lm = build(batch_size=2)
    candidates = {KEY: {"kind": "candidates", "candidates": ["a", "b"]}}
    variants = [GREEDY, GREEDY | {"max_new_tokens": 3}, GREEDY | candidates]
    expected = [asked(lm, CONVERSATIONS, settings) for settings in variants]
    order = [(i, j) for i in range(6) for j in (1, 0, 2)]
    found = answers(lm, [instance(CONVERSATIONS[i], dict(variants[j]), i) for i, j in order])
    assert found == [expected[j][i] for i, j in order]


def test_stop_strings_cut_the_answer_and_end_its_generation(build: Build) -> None:
    settings = GREEDY | {"max_new_tokens": 40}
    lm = build()
    whole = asked(lm, CONVERSATIONS, settings)
    lengths = []
    generate = lm.model.generate

    def measured(**options: Any) -> torch.Tensor:
        generated = generate(**options)
        lengths.append(generated.shape[1] - options["input_ids"].shape[1])
        return generated

    lm.model.generate = measured
    stop = whole[0][5:8]
    cut = [cut_at(answer, [stop]) for answer in whole]
    assert asked(lm, CONVERSATIONS, settings | {"until": [stop, ""]}) == cut and len(cut[0]) <= 5
    assert lengths[0] < 10


def test_settings_of_generate(warnings_of_loguru: list[str]) -> None:
    greedy = {"max_new_tokens": 6, "do_sample": False, "num_beams": 1}
    assert generation_settings({**GREEDY, KEY: {"kind": "match"}, "max_agentic_steps": 3}) == greedy
    sampled = {"temperature": 0.7, "top_p": 0.9, "top_k": None}
    settings = {"max_new_tokens": 1024, "do_sample": True, "temperature": 0.7, "top_p": 0.9}
    assert generation_settings(sampled) == settings
    assert generation_settings({"do_sample": True, "max_new_tokens": 1}) == {
        "do_sample": True,
        "max_new_tokens": 1,
    }
    assert stop_strings({"until": "\n\n"}) == ["\n\n"] and stop_strings({}) == []
    assert cut_at("one two three", ["three", "two"]) == "one "
    assert warnings_of_loguru == []
    assert (
        generation_settings(sampled | {"do_sample": True, "temperature": 0})["do_sample"] is False
    )
    assert generation_settings(GREEDY | {"temperature": 0.7})["do_sample"] is False
    assert "max_pixels" not in generation_settings({"max_pixels": 5})
    (told,) = warnings_of_loguru
    assert "max_pixels" in told


def test_the_blind_model_sees_white_pictures_of_the_same_size() -> None:
    blind = FigLangBlind(pretrained=str(DEMO_MODEL_DIR), device="cpu")
    seeing = FigLangVLM(pretrained=str(DEMO_MODEL_DIR), device="cpu")
    picture = image(1)
    question = text("Does the image entail or contradict the claim?")
    white = {"type": "image", "url": Image.new("RGB", picture["url"].size, "white")}
    assert asked(blind, [[user(picture, question)]], GREEDY) == asked(
        seeing, [[user(white, question)]], GREEDY
    )


def test_llava_and_llava_hf_are_ours() -> None:
    """Their answers are those of `figlang_vlm`: test_api_server.py."""
    demo_runs.register()
    found = {MODEL_REGISTRY_V2.get_model_class(name) for name in ("llava", "llava_hf")}
    assert found == {vlm.FigLangLlava}


# --- trouble ---


def test_a_request_that_cannot_be_answered_is_an_error_that_names_it(build: Build) -> None:
    def full(**options: Any) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    lm = build(batch_size=2)
    with pytest.raises(VLMError, match="doc 1: ValueError: .*reads images and text"):
        asked(lm, [CONVERSATIONS[0], [user({"type": "video", "url": "a.mp4"}, text("?"))]], GREEDY)
    generate = lm.model.generate
    lm.model.generate = lambda **options: generate(**options)[:, options["input_ids"].shape[1] :]
    with pytest.raises(
        VLMError,
        match="doc 0: ValueError: the output of LlavaForCond.* does not begin with the prom",
    ):
        asked(lm, CONVERSATIONS[:1], GREEDY)
    lm.model.generate, lm.model.forward = full, functools.wraps(lm.model.forward)(full)
    with pytest.raises(VLMError, match=r"task probe, doc 0: MemoryError"):
        asked(lm, CONVERSATIONS[:1], GREEDY)
    with pytest.raises(VLMError, match=r"task probe, doc 0: MemoryError"):
        scores(lm, CONVERSATIONS[0], kind="candidates", candidates=CANDIDATES)
    with pytest.raises(VLMError, match=r"task probe, doc 0, image 0: MemoryError"):
        scores(lm, CONVERSATIONS[0], kind="match")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"pretraind": "x", "pretrained": ""},
            "unknown argument pretraind; valid: pretrained, revision, gguf_file",
        ),
        ({"pretrained": ""}, "pretrained=<hub id or folder>"),
        ({"batch_size": "auto"}, "batch_size='auto'; valid: a whole number from 1"),
        ({"dtype": "int8"}, "cannot load the model"),
        ({"trust_remote_code": "no"}, "trust_remote_code='no'; valid: True, False"),
        pytest.param(
            {"load_in_4bit": True},
            "Install the package that the message names",
            marks=pytest.mark.skipif(
                find_spec("bitsandbytes") is not None, reason="bitsandbytes is there"
            ),
        ),
        ({"peft": "/there/is/no/such/folder"}, "cannot load the adapter"),
        (
            {"chat_template": "/there/is/no/such/file"},
            "chat_template=/there/is/no/such/file: no file with a Jinja",
        ),
        ({"chat_template": os.devnull}, "this is a device, where a file is needed"),
        ({"chat_template": EMPTY_FILE}, "has no chat template"),
        ({"enable_thinking": "no"}, "enable_thinking='no'; valid: True, False"),
        (
            {"enable_thinking": False},
            "enable_thinking=False: the chat template does not have this option",
        ),
    ],
)
def test_arguments(arguments: dict[str, Any], message: str, build: Build) -> None:
    with pytest.raises(FigLangError) as caught:
        build(**arguments)
    assert message in str(caught.value)


def test_arguments_as_the_harness_passes_them(checkpoint: Callable[[str], str]) -> None:
    lm = FigLangVLM.create_from_arg_string(
        f"pretrained={checkpoint('llava')},dtype=bfloat16,attn_implementation=eager,device_map=cpu",
        {"batch_size": "2", "max_batch_size": None, "device": None},
    )
    assert (lm.batch_size, lm.model.dtype, lm.device.type) == (2, torch.bfloat16, "cpu")
    assert lm.model.config._attn_implementation == "eager"
    assert (lm.rank, lm.world_size, lm.is_simple) == (0, 1, False)
    lm.clean()
    assert not hasattr(lm, "model") and not hasattr(lm, "_scorer")


def test_device_map_and_dtype() -> None:
    place, dtype = vlm.vlm_loading.placement, vlm.vlm_loading.dtype_for
    process: Any = SimpleNamespace(num_processes=1, device=torch.device("cuda"))
    assert place(process, None, None) == {"": torch.device("cuda")}
    assert place(process, "cpu", "") == place(process, None, "cpu") == {"": torch.device("cpu")}
    assert place(process, "cuda:1", None) == {"": torch.device("cuda:1")}
    assert place(process, "cuda", "auto") == "auto"
    assert dtype(None, {"": torch.device("cuda")}) == dtype(None, "auto") == "auto"
    assert dtype(None, {"": torch.device("cpu")}) == "float32"
    process.num_processes = 2
    assert place(process, "cuda", None) == {"": torch.device("cuda")}
    with pytest.raises(FigLangError, match="2 processes"):
        place(process, None, "auto")


# --- answers in numbers ---


def test_the_prompt_keeps_its_tokens(build: Build) -> None:
    """The demo model's template ends in "ASSISTANT: "; as one text, its space would join the
    answer's first word.
    """
    lm = build(pretrained=str(DEMO_MODEL_DIR))
    prompt, _ = made(lm, CONVERSATIONS[0])
    assert prompt.text.endswith("ASSISTANT: ") and joiner(prompt.text, lm.tokenizer) == ""
    tokens = answer_tokens(lm.tokenizer, prompt.text, ["The image", "A mule", " mule"], False)
    assert [lm.tokenizer.decode(ids) for ids in tokens] == ["The image", "A mule", " mule"]
    found = scores(lm, CONVERSATIONS[0], kind="candidates", candidates=["The image", "A mule"])
    assert found[0] > -0.5 > -5 > found[1], "it learned to begin with: The image"
    with pytest.raises(ValueError, match="has no token"):
        answer_tokens(lm.tokenizer, prompt.text, ["The image", ""], False)


def test_a_space_stands_between_words_and_answer(build: Build) -> None:
    tokenizer = build("qwen2_5_vl").tokenizer
    prompts = {"ASSISTANT:": " ", "assistant\n": "", "a ": "", "<|im_end|>": "", "": "", "x>": " "}
    assert {prompt: joiner(prompt, tokenizer) for prompt in prompts} == prompts
