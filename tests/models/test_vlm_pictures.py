"""Options of image processors, and pictures that are too large, or that a processor refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import demo_runs
import numpy as np
import pytest
import tiny_models
import torch
from PIL import Image
from transformers import AutoProcessor
from vlm_requests import GREEDY, Build, asked, made, scores, text, user

from figlang_tasks import FigLangError
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.models.vlm import FigLangVLM, VLMError
from figlang_tasks.models.vlm_loading import context_length_of
from figlang_tasks.models.vlm_pictures import PictureProcessing, with_margin

QUESTION = text("What is it?")
NEEDS_TRANSFORMERS_5 = pytest.mark.skipif(
    tiny_models.IS_TRANSFORMERS_4, reason="transformers 4 has no such checkpoint for figlang_vlm"
)


def picture(width: int, height: int) -> dict:
    pixels = np.random.default_rng(width).integers(0, 255, (height, width, 3), dtype="uint8")
    return {"type": "image", "url": Image.fromarray(pixels)}


def tensors(lm: FigLangVLM, width: int, height: int) -> Mapping[str, torch.Tensor]:
    """The model's inputs for a picture of a size, with a question."""
    _, inputs = made(lm, [user(picture(width, height), QUESTION)])
    return inputs


# --- options ---


@pytest.mark.parametrize(
    ("options", "grid"),
    [
        # The checkpoint's own bounds are 1,024 to 4,096 pixels: 80 x 32, as 96 x 48 are too many.
        ({}, [1, 4, 10]),
        ({"max_pixels": 2048}, [1, 4, 8]),  # 200 / 3.125 = 64 and 100 / 3.125 = 32 pixels
        ({"max_pixels": 1024, "min_pixels": 256}, [1, 2, 4]),  # 45 x 22, to multiples of 16 below
        # 192 x 96, the nearest multiples, are too few.
        ({"min_pixels": 20000, "max_pixels": 10**6}, [1, 14, 26]),
    ],
)
def test_bounds_of_pixels_are_those_of_smart_resize(
    options: dict[str, int], grid: list[int], build: Build
) -> None:
    """As smart_resize of Qwen2-VL does: sides are multiples of two merged patches of 8 pixels."""
    inputs = tensors(build("qwen2_vl", **options), 200, 100)
    assert inputs["image_grid_thw"].tolist() == [grid]


def test_a_processor_that_declares_no_defaults_gets_the_options_at_each_call(build: Build) -> None:
    processor = build("llava").processor

    class SilentProcessor(type(processor)):  # type: ignore[misc]
        valid_processor_kwargs = None

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return super().__call__(*args, **kwargs)

    # As code of a checkpoint is annotated that does not use the types of transformers.
    SilentProcessor.__call__.__annotations__["kwargs"] = dict[str, Any]
    processor.__class__ = SilentProcessor
    pictures = PictureProcessing(processor)
    pictures.set({"do_normalize": False})
    assert pictures.call_options == {"do_normalize": False}


@pytest.mark.parametrize(
    ("family", "option", "value"),
    [
        ("llava", "do_normalize", False),
        ("llava", "image_mean", "[0.1, 0.2, 0.3]"),
        ("llava", "resample", 0),
        ("internvl", "max_patches", 1),
        ("internvl", "crop_to_patches", False),  # the whole processor has a default of its own
        ("aya_vision", "crop_to_patches", False),  # likewise
        ("gemma3", "do_pan_and_scan", True),  # likewise, and others that it takes with it
        ("idefics3", "do_image_splitting", False),
        ("qwen3_vl", "max_pixels", 1024),
    ],
)
def test_an_option_does_what_it_does_in_transformers(
    family: str, option: str, value: object, build: Build
) -> None:
    parsed_value = json.loads(value) if isinstance(value, str) else value
    lm = build(family, **{option: value})
    lm_without_option = build(family)
    conversation, inputs = made(lm, [user(picture(900, 300), QUESTION)])
    processor = AutoProcessor.from_pretrained(lm.processor.tokenizer.name_or_path)
    processor.chat_template = lm.processor.chat_template
    expected = processor(
        text=[conversation.prompt],
        images=[conversation.images],
        return_tensors="pt",
        add_special_tokens=False,
        images_kwargs={option: parsed_value},
    )
    assert inputs["pixel_values"].tolist() == expected["pixel_values"].tolist()
    assert inputs["input_ids"].tolist()[0][-8:] == expected["input_ids"].tolist()[0][-8:]
    inputs_without_option = tensors(lm_without_option, 900, 300)
    assert inputs["pixel_values"].tolist() != inputs_without_option["pixel_values"].tolist()


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        (
            "llava",
            {"max_pixels": 3, "dtpye": "auto"},
            r"unknown argument dtpye \(did you mean `dtype`\?\), max_pixels; valid: .*; of the"
            r" checkpoint's image "
            r"processor: crop_size, .*, size$",
        ),
        (
            "qwen2_vl",
            {"max_pixel": 3},
            "unknown argument max_pixel; .*, max_pixels, merge_size, min_pixels, ",
        ),
        (
            "qwen2_vl",
            {"max_pixels": "many"},
            "Qwen2VLImageProcessor(Fast)?, does not take max_pixels='many'. Correct the val",
        ),
        (
            "qwen2_vl",
            {"max_pixels": 0},
            "does not take max_pixels=0. Correct the value in --model_args",
        ),
        ("qwen2_vl", {"patch_size": -8}, "does not take patch_size=-8"),
        (
            "llava",
            {"size": "{224}"},
            r"size=\{224\} is not valid JSON .*: write size=\{\"height\":224,\"width\":224\}",
        ),
        ("llava", {"return_tensors": "np"}, "unknown argument return_tensors"),
    ],
)
def test_a_wrong_option_of_pictures_is_refused_with_what_is_valid(
    family: str, options: dict[str, object], message: str, build: Build
) -> None:
    with pytest.raises(FigLangError, match=f"figlang_vlm: .*{message}"):
        build(family, **options)


# --- pictures that are too large ---


def test_a_prompt_that_is_longer_than_the_context_says_how_to_go_on(build: Build) -> None:
    lm = build("qwen2_vl", batch_size=2, max_pixels=4_000_000)
    small = [user(picture(40, 30), QUESTION)]
    large = [user(picture(1600, 1280), picture(40, 30), QUESTION)]
    assert asked(lm, [small], GREEDY)
    message = (
        r"task probe, doc 1: the prompt has 8,0\d\d tokens, with 2 pictures of 1600 x 1280, 40 x 30"
        r" pixels, and the "
        r"context of the model has 4,096, .* make pictures smaller \(max_pixels or size in"
        r" --model_args\)"
    )
    with pytest.raises(VLMError, match=message):
        asked(lm, [small, large], GREEDY)
    assert asked(build("qwen2_vl", max_pixels=100_000), [small, large], GREEDY)
    long = [user(text("a snail " * 3000))]
    with pytest.raises(
        VLMError, match=r"doc 0: the prompt has .* tokens, with no picture, .* show fewer examples"
    ):
        asked(lm, [long], GREEDY)


def test_the_context_length_is_read_from_every_form_of_configuration() -> None:
    from transformers import FalconConfig, GPT2Config, LlamaConfig

    def llama(**rope: object) -> LlamaConfig:
        return LlamaConfig(
            max_position_embeddings=1000, rope_parameters={"rope_theta": 10000.0, **rope}
        )

    assert context_length_of(llama(rope_type="default")) == 1000
    assert context_length_of(llama(rope_type="linear", factor=4.0)) == 4000
    stretched = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 250}
    assert context_length_of(llama(**stretched)) == 1000
    assert context_length_of(GPT2Config(n_positions=77)) == 77
    # As Falcon-RW: it reads prompts of any length
    assert context_length_of(FalconConfig(alibi=True)) is None
    assert context_length_of(FalconConfig(alibi=False, max_position_embeddings=50)) == 50


# --- pictures that a processor refuses ---


def assert_is_in_the_middle_of_white(picture: Image.Image, padded: Image.Image) -> None:
    left = (padded.width - picture.width) // 2
    top = (padded.height - picture.height) // 2
    middle = padded.crop((left, top, left + picture.width, top + picture.height))
    assert middle.tobytes() == picture.tobytes()
    margin_pixels = padded.width * padded.height - picture.width * picture.height
    white = 3 * 255 * margin_pixels
    assert np.asarray(padded).sum() == np.asarray(picture).sum() + white


@pytest.mark.parametrize(
    ("family", "size", "padded"),
    [
        ("qwen2_vl", (1000, 1), (1000, 5)),  # 200 to 1 is the limit
        ("qwen2_vl", (7, 2001), (11, 2001)),
        ("qwen2_5_vl", (1001, 5), (1001, 6)),
        ("pixtral", (900, 1), None),
        pytest.param("phi4_multimodal", (1, 900), None, marks=NEEDS_TRANSFORMERS_5),
        pytest.param("video_llava", (1, 1), None, marks=NEEDS_TRANSFORMERS_5),
        pytest.param("emu3", (300, 1), None, marks=NEEDS_TRANSFORMERS_5),
    ],
)
def test_a_picture_that_is_refused_gets_a_margin(
    family: str,
    size: tuple[int, int],
    padded: tuple[int, int] | None,
    build: Build,
    warnings_of_loguru: list[str],
) -> None:
    lm = build(family)
    narrow = picture(*size)
    conversation, _ = made(lm, [user(narrow, QUESTION)])
    (accepted,) = conversation.images
    if padded is not None:
        assert accepted.size == padded
    assert_is_in_the_middle_of_white(narrow["url"], accepted)
    assert lm.padded_pictures == {"probe": {0}}
    warning = warnings_of_loguru[-1]
    refusal = f"task probe, doc 0: {type(lm.processor).__name__} refuses a picture of this shape"
    assert refusal in warning
    sizes = f"{size[0]} x {size[1]} pixels became 1 picture of {accepted.width} x {accepted.height}"
    assert f"of {sizes} pixels" in warning
    # A margin of one pixel less is refused.
    with pytest.raises(Exception, match=r".+"):
        lm.processor.image_processor(
            images=[with_margin(narrow["url"], min(accepted.size) - 1)],
            return_tensors="pt",
            **lm.pictures.call_options,
        )


def test_batches_and_scores_with_a_picture_that_is_refused(build: Build) -> None:
    lm = build("qwen2_vl", batch_size=3)
    narrow = picture(1, 1000)
    other = picture(50, 40)
    by_hand = {"type": "image", "url": with_margin(narrow["url"], 5)}
    conversations = [[user(part, QUESTION)] for part in (other, narrow, other)]
    answers = asked(lm, conversations, GREEDY)
    assert lm.padded_pictures == {"probe": {1}}
    assert answers[1:2] == asked(build("qwen2_vl"), [[user(by_hand, QUESTION)]], GREEDY)
    assert scores(lm, [user(narrow, other, QUESTION)], kind="match") == pytest.approx(
        scores(lm, [user(by_hand, other, QUESTION)], kind="match"), abs=1e-5
    )


@pytest.mark.slow
def test_the_results_tell_of_it_also_with_answers_from_the_cache(
    checkpoint: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "V-FLUTE"
    folder.mkdir(parents=True)
    json_lines: list[str] = []
    for number, size in enumerate([(40, 30), (1000, 2), (30, 40)]):
        picture(*size)["url"].save(folder / f"{number}.png")
        words = {"claim": f"It is {number}.", "label": "entailment", "explanation": "So it is."}
        row = {"id": f"row{number}", "image": f"{number}.png", **words}
        json_lines.append(json.dumps(row) + "\n")
    (folder / "test.jsonl").write_text("".join(json_lines))
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    task = {
        "include": f"{tasks_dir()}/vflute/vflute.yaml",
        "task": "mine",
        "dataset_name": "V-FLUTE,split=test",
    }
    options = {"lmms_eval_specific_kwargs": {"default": {"scorer": "off"}}}
    (tmp_path / "mine.yaml").write_text(json.dumps(task | options))
    arguments: dict[str, Any] = {"include_path": str(tmp_path), "gen_kwargs": "max_new_tokens=2"}
    model_args = f"pretrained={checkpoint('qwen2_vl')},device=cpu,max_pixels=2048"
    answers_of_runs = []
    for cache in (None, str(tmp_path / "cache"), str(tmp_path / "cache")):
        results = demo_runs.evaluate(
            "mine", "figlang_vlm", model_args, use_cache=cache, **arguments
        )
        assert results["configs"]["mine"]["metadata"]["padded_pictures"] == [1]
        assert "max_pixels=2048" in str(results["config"]["model_args"])
        answers_of_runs.append(demo_runs.answers(results, "mine"))
    assert answers_of_runs[0] == answers_of_runs[1] == answers_of_runs[2]


def test_a_text_with_the_placeholder_of_the_model_is_named(build: Build) -> None:
    message = (
        r"doc 0: ValueError: a text contains <\|image_pad\|>, which this model takes for .* leave"
        r" the row out"
    )
    with pytest.raises(VLMError, match=message):
        asked(build("qwen2_vl"), [[user(picture(40, 30), text("Is it <|image_pad|>?"))]], GREEDY)
