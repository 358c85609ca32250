"""`figlang_vlm` on two tiny models: answers in words and in numbers, arguments, and trouble.

The other models: test_families.py.
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
from figlang_tasks.models.vlm_answer_tokens import answer_tokens, separator_before_answer
from figlang_tasks.models.vlm_generation import cut_at, generation_settings, stop_strings
from figlang_tasks.models.vlm_loading import dtype_for, placement

EMPTY_FILE = str(Path(figlang_tasks.__file__).with_name("py.typed"))

# --- answers in words ---


def test_batches_answer_as_single_requests_and_leave_the_settings_alone(build: Build) -> None:
    settings = GREEDY | {"until": ["\n\n"], "num_beams": 3}
    settings_before = copy.deepcopy(settings)
    one_by_one = asked(build(), CONVERSATIONS, settings)
    lm = build(batch_size=4)
    assert asked(lm, CONVERSATIONS, settings) == one_by_one
    assert len(set(one_by_one)) == len(CONVERSATIONS)
    assert settings == settings_before
    assert one_by_one != asked(lm, CONVERSATIONS, GREEDY), "the beams made a difference"


def test_requests_of_several_settings_come_back_in_their_order(build: Build) -> None:
    lm = build(batch_size=2)
    candidates = {KEY: {"kind": "candidates", "candidates": ["a", "b"]}}
    variants = [GREEDY, GREEDY | {"max_new_tokens": 3}, GREEDY | candidates]
    answers_by_variant = [asked(lm, CONVERSATIONS, settings) for settings in variants]
    requests = []
    expected = []
    for number in range(6):
        for variant in (1, 0, 2):
            settings = dict(variants[variant])
            requests.append(instance(CONVERSATIONS[number], settings, number))
            expected.append(answers_by_variant[variant][number])
    assert answers(lm, requests) == expected


def test_stop_strings_cut_the_answer_and_end_its_generation(build: Build) -> None:
    settings = GREEDY | {"max_new_tokens": 40}
    lm = build()
    whole_answers = asked(lm, CONVERSATIONS, settings)
    lengths: list[int] = []
    generate = lm.model.generate

    def generate_and_measure(input_ids: torch.Tensor, **options: object) -> torch.Tensor:
        generated = generate(input_ids=input_ids, **options)
        lengths.append(generated.shape[1] - input_ids.shape[1])
        return generated

    lm.model.generate = generate_and_measure
    stop = whole_answers[0][5:8]
    cut_answers = [cut_at(answer, [stop]) for answer in whole_answers]
    assert asked(lm, CONVERSATIONS, settings | {"until": [stop, ""]}) == cut_answers
    assert len(cut_answers[0]) <= 5
    assert lengths[0] < 10


SAMPLED = {"temperature": 0.7, "top_p": 0.9, "top_k": None}


@pytest.mark.parametrize(
    ("generation_kwargs", "expected"),
    [
        (
            {**GREEDY, KEY: {"kind": "match"}, "max_agentic_steps": 3},
            {"max_new_tokens": 6, "do_sample": False, "num_beams": 1},
        ),
        (
            SAMPLED,
            {"max_new_tokens": 1024, "do_sample": True, "temperature": 0.7, "top_p": 0.9},
        ),
        ({"do_sample": True, "max_new_tokens": 1}, {"do_sample": True, "max_new_tokens": 1}),
        (
            SAMPLED | {"do_sample": True, "temperature": 0},
            {"max_new_tokens": 1024, "do_sample": False, "top_p": 0.9},
        ),
        (
            GREEDY | {"temperature": 0.7},
            {"max_new_tokens": 6, "do_sample": False, "temperature": 0.7, "num_beams": 1},
        ),
    ],
)
def test_settings_of_generate_follow_from_those_of_the_task(
    generation_kwargs: dict[str, object], expected: dict[str, object], warnings_of_loguru: list[str]
) -> None:
    assert generation_settings(generation_kwargs) == expected
    assert warnings_of_loguru == []


def test_a_setting_that_generate_does_not_have_is_left_out_with_a_warning(
    warnings_of_loguru: list[str],
) -> None:
    assert "max_pixels" not in generation_settings({"max_pixels": 5})
    (warning,) = warnings_of_loguru
    assert "max_pixels" in warning


def test_an_answer_is_cut_at_the_first_of_several_stop_strings() -> None:
    assert stop_strings({"until": "\n\n"}) == ["\n\n"]
    assert stop_strings({}) == []
    assert cut_at("one two three", ["three", "two"]) == "one "


def test_the_blind_model_sees_white_pictures_of_the_same_size() -> None:
    blind = FigLangBlind(pretrained=str(DEMO_MODEL_DIR), device="cpu")
    seeing = FigLangVLM(pretrained=str(DEMO_MODEL_DIR), device="cpu")
    picture = image(1)
    question = text("Does the image entail or contradict the claim?")
    white = {"type": "image", "url": Image.new("RGB", picture["url"].size, "white")}
    blind_answers = asked(blind, [[user(picture, question)]], GREEDY)
    assert blind_answers == asked(seeing, [[user(white, question)]], GREEDY)


def test_llava_and_llava_hf_are_ours() -> None:
    """Their answers are those of `figlang_vlm`: test_api_server.py."""
    demo_runs.register_models()
    for name in ("llava", "llava_hf"):
        assert MODEL_REGISTRY_V2.get_model_class(name) is vlm.FigLangLlava


# --- trouble ---


def test_a_request_with_a_video_is_an_error_that_names_it(build: Build) -> None:
    video = [user({"type": "video", "url": "a.mp4"}, text("?"))]
    with pytest.raises(VLMError, match=r"doc 1: ValueError: .*reads images and text"):
        asked(build(batch_size=2), [CONVERSATIONS[0], video], GREEDY)


def test_a_model_that_does_not_continue_its_prompt_is_an_error(build: Build) -> None:
    lm = build(batch_size=2)
    generate = lm.model.generate

    def generate_without_prompt(input_ids: torch.Tensor, **options: object) -> torch.Tensor:
        return generate(input_ids=input_ids, **options)[:, input_ids.shape[1] :]

    lm.model.generate = generate_without_prompt
    message = "doc 0: ValueError: the output of LlavaForCond.* does not begin with the prom"
    with pytest.raises(VLMError, match=message):
        asked(lm, CONVERSATIONS[:1], GREEDY)


def test_a_request_for_which_memory_does_not_suffice_is_named(build: Build) -> None:
    def run_out_of_memory(**options: object) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")

    lm = build(batch_size=2)
    lm.model.generate = run_out_of_memory
    lm.model.forward = functools.wraps(lm.model.forward)(run_out_of_memory)
    with pytest.raises(VLMError, match=r"task probe, doc 0: MemoryError"):
        asked(lm, CONVERSATIONS[:1], GREEDY)
    with pytest.raises(VLMError, match=r"task probe, doc 0: MemoryError"):
        scores(lm, CONVERSATIONS[0], kind="candidates", candidates=CANDIDATES)
    with pytest.raises(VLMError, match=r"task probe, doc 0, image 0: MemoryError"):
        scores(lm, CONVERSATIONS[0], kind="match")


# --- arguments ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"pretraind": "x", "pretrained": ""},
            "unknown argument pretraind (did you mean `pretrained`?); valid: pretrained, ",
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
def test_a_wrong_argument_is_refused_with_what_is_valid(
    arguments: dict[str, object], message: str, build: Build
) -> None:
    with pytest.raises(FigLangError) as raised:
        build(**arguments)
    assert message in str(raised.value)


def test_arguments_arrive_as_the_harness_passes_them(checkpoint: Callable[[str], str]) -> None:
    lm = FigLangVLM.create_from_arg_string(
        f"pretrained={checkpoint('llava')},dtype=bfloat16,attn_implementation=eager,device_map=cpu",
        {"batch_size": "2", "max_batch_size": None, "device": None},
    )
    assert (lm.batch_size, lm.model.dtype, lm.device.type) == (2, torch.bfloat16, "cpu")
    assert lm.model.config._attn_implementation == "eager"
    assert (lm.rank, lm.world_size, lm.is_simple) == (0, 1, False)


def test_a_model_is_let_go_of_when_the_harness_cleans_up(build: Build) -> None:
    lm = build()
    assert lm.scorer.model is lm.model
    lm.clean()
    assert not hasattr(lm, "model")
    assert not hasattr(lm, "scorer")


CUDA = torch.device("cuda")
CPU = torch.device("cpu")


@pytest.mark.parametrize(
    ("device", "device_map", "expected"),
    [
        (None, None, {"": CUDA}),
        ("cpu", "", {"": CPU}),
        (None, "cpu", {"": CPU}),
        ("cuda:1", None, {"": torch.device("cuda:1")}),
        ("cuda", "auto", "auto"),
    ],
)
def test_a_single_process_places_the_model_where_the_user_says(
    device: str | None, device_map: str | None, expected: object
) -> None:
    process: Any = SimpleNamespace(num_processes=1, device=CUDA)
    assert placement(process, device, device_map) == expected


def test_of_several_processes_each_places_the_model_on_its_own_device() -> None:
    process: Any = SimpleNamespace(num_processes=2, device=CUDA)
    assert placement(process, "cuda", None) == {"": CUDA}
    with pytest.raises(FigLangError, match="2 processes"):
        placement(process, None, "auto")


def test_the_dtype_is_float32_on_the_cpu_alone() -> None:
    assert dtype_for(None, {"": CUDA}) == "auto"
    assert dtype_for(None, "auto") == "auto"
    assert dtype_for(None, {"": CPU}) == "float32"


# --- answers in numbers ---


def test_the_prompt_keeps_its_tokens_before_a_candidate(build: Build) -> None:
    """The demo model's template ends in "ASSISTANT: ".

    As one text, its space would join the answer's first word.
    """
    lm = build(pretrained=str(DEMO_MODEL_DIR))
    conversation, _ = made(lm, CONVERSATIONS[0])
    prompt = conversation.prompt
    assert prompt.endswith("ASSISTANT: ")
    assert separator_before_answer(prompt, lm.tokenizer) == ""
    tokens = answer_tokens(
        lm.tokenizer, prompt, ["The image", "A mule", " mule"], add_special_tokens=False
    )
    assert [lm.tokenizer.decode(ids) for ids in tokens] == ["The image", "A mule", " mule"]
    likely, unlikely = scores(
        lm, CONVERSATIONS[0], kind="candidates", candidates=["The image", "A mule"]
    )
    assert likely > -0.5 > -5 > unlikely, "it learned to begin with: The image"
    with pytest.raises(ValueError, match="has no token"):
        answer_tokens(lm.tokenizer, prompt, ["The image", ""], add_special_tokens=False)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("ASSISTANT:", " "),
        ("assistant\n", ""),
        ("a ", ""),
        ("<|im_end|>", ""),
        ("", ""),
        ("x>", " "),
    ],
)
def test_a_space_stands_between_words_and_answer(prompt: str, expected: str, build: Build) -> None:
    assert separator_before_answer(prompt, build("qwen2_5_vl").tokenizer) == expected
