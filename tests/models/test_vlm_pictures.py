"""Options of image processors, and pictures that are too large, or that a processor refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import demo_runs
import numpy as np
import pytest
from PIL import Image
from transformers import AutoProcessor
from vlm_requests import GREEDY, Build, asked, instance, made, scores, text, user

from figlang_tasks import FigLangError
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.models.vlm import VLMError
from figlang_tasks.models.vlm_pictures import context_of, with_margin

QUESTION = text("What is it?")


def picture(width: int, height: int) -> dict[str, Any]:
    pixels = np.random.default_rng(width).integers(0, 255, (height, width, 3), dtype="uint8")
    return {"type": "image", "url": Image.fromarray(pixels)}


def tensors(lm: Any, width: int, height: int) -> Any:
    return made(lm, [user(picture(width, height), QUESTION)])[1]


# --- options ---


def test_bounds_of_pixels(build: Build) -> None:
    """As smart_resize of Qwen2-VL does: sides are multiples of two merged patches of 8 pixels."""
    grids = [
        tensors(build("qwen2_vl", **options), 200, 100)["image_grid_thw"].tolist()
        for options in (
            {},  # of the checkpoint, 1,024 to 4,096 pixels: 80 x 32, as 96 x 48 are too many
            {"max_pixels": 2048},  # 200 / 3.125 = 64 and 100 / 3.125 = 32 pixels
            {"max_pixels": 1024, "min_pixels": 256},  # 45 x 22, to multiples of 16 below
            # 192 x 96, the nearest multiples, are too few
            {"min_pixels": 20000, "max_pixels": 10**6},
        )
    ]
    assert grids == [[[1, 4, 10]], [[1, 4, 8]], [[1, 2, 4]], [[1, 14, 26]]]


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
    family: str, option: str, value: Any, build: Build
) -> None:
    given = json.loads(value) if isinstance(value, str) else value
    lm, plain = build(family, **{option: value}), build(family)
    prompt, inputs = made(lm, [user(picture(900, 300), QUESTION)])
    processor = AutoProcessor.from_pretrained(lm.processor.tokenizer.name_or_path)
    processor.chat_template = lm.processor.chat_template
    expected = processor(
        text=[prompt.text],
        images=[prompt.images],
        return_tensors="pt",
        add_special_tokens=False,
        **{option: given},
    )
    assert inputs["pixel_values"].tolist() == expected["pixel_values"].tolist()
    assert inputs["input_ids"].tolist()[0][-8:] == expected["input_ids"].tolist()[0][-8:]
    assert inputs["pixel_values"].tolist() != tensors(plain, 900, 300)["pixel_values"].tolist()


@pytest.mark.parametrize(
    ("family", "options", "message"),
    [
        (
            "llava",
            {"max_pixels": 3, "dtpye": "auto"},
            r"unknown argument dtpye, max_pixels; valid: pretrained, revision, .*; of the"
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
            "Qwen2VLImageProcessor, does not take max_pixels='many'. Correct the val",
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
def test_options_that_are_refused(
    family: str, options: dict[str, Any], message: str, build: Build
) -> None:
    with pytest.raises(FigLangError, match=f"figlang_vlm: .*{message}"):
        build(family, **options)


# --- pictures that are too large ---


def test_a_prompt_that_is_longer_than_the_context_says_how_to_go_on(build: Build) -> None:
    lm = build("qwen2_vl", batch_size=2, max_pixels=4_000_000)
    small, large = (
        [user(picture(40, 30), QUESTION)],
        [user(picture(1600, 1280), picture(40, 30), QUESTION)],
    )
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


def test_the_context_of_a_model() -> None:
    from transformers import FalconConfig, GPT2Config, LlamaConfig

    def llama(**rope: Any) -> Any:
        return LlamaConfig(
            max_position_embeddings=1000, rope_parameters={"rope_theta": 10000.0, **rope}
        )

    assert context_of(llama(rope_type="default")) == 1000
    assert context_of(llama(rope_type="linear", factor=4.0)) == 4000
    stretched = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 250}
    assert context_of(llama(**stretched)) == 1000
    assert context_of(GPT2Config(n_positions=77)) == 77
    # As Falcon-RW: it reads prompts of any length
    assert context_of(FalconConfig(alibi=True)) is None
    assert context_of(FalconConfig(alibi=False, max_position_embeddings=50)) == 50


# --- pictures that a processor refuses ---


@pytest.mark.parametrize(
    ("family", "size", "padded"),
    [
        ("qwen2_vl", (1000, 1), (1000, 5)),  # 200 to 1 is the limit
        ("qwen2_vl", (7, 2001), (11, 2001)),
        ("qwen2_5_vl", (1001, 5), (1001, 6)),
        ("pixtral", (900, 1), None),
        ("phi4_multimodal", (1, 900), None),
        ("video_llava", (1, 1), None),
        ("emu3", (300, 1), None),
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
    given = picture(*size)
    lm.task_dict = {"probe": {"test": [{}]}}
    (prompt,), _ = lm.tensors_of(lm.prompts_of(0, instance([user(given, QUESTION)], GREEDY)))
    (shown,) = prompt.images
    if padded is not None:
        assert shown.size == padded
    left, top = (shown.width - size[0]) // 2, (shown.height - size[1]) // 2
    assert (
        shown.crop((left, top, left + size[0], top + size[1])).tobytes() == given["url"].tobytes()
    )
    assert np.asarray(shown).sum() == np.asarray(given["url"]).sum() + 3 * 255 * (
        shown.width * shown.height - size[0] * size[1]
    )
    assert lm.padded_pictures == {"probe": {0}}
    told = warnings_of_loguru[-1]
    assert (
        f"task probe, doc 0: {type(lm.processor).__name__} refuses a picture of this shape" in told
    )
    assert (
        f"of {size[0]} x {size[1]} pixels became 1 picture of {shown.width} x {shown.height} pixels"
        in told
    )
    # As little as is taken.
    with pytest.raises(Exception, match=r".+"):
        lm.processor.image_processor(
            images=[with_margin(given["url"], min(shown.size) - 1)],
            return_tensors="pt",
            **lm.pictures.call_options,
        )


def test_batches_and_scores_with_a_picture_that_is_refused(build: Build) -> None:
    lm = build("qwen2_vl", batch_size=3)
    narrow, other = picture(1, 1000), picture(50, 40)
    by_hand = {"type": "image", "url": with_margin(narrow["url"], 5)}
    conversations = [[user(shown, QUESTION)] for shown in (other, narrow, other)]
    found = asked(lm, conversations, GREEDY)
    assert lm.padded_pictures == {"probe": {1}}
    assert found[1:2] == asked(build("qwen2_vl"), [[user(by_hand, QUESTION)]], GREEDY)
    assert scores(lm, [user(narrow, other, QUESTION)], kind="match") == pytest.approx(
        scores(lm, [user(by_hand, other, QUESTION)], kind="match"), abs=1e-5
    )


@pytest.mark.slow
def test_the_results_tell_of_it_also_with_answers_from_the_cache(
    checkpoint: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data" / "V-FLUTE"
    folder.mkdir(parents=True)
    rows = []
    for number, size in enumerate([(40, 30), (1000, 2), (30, 40)]):
        picture(*size)["url"].save(folder / f"{number}.png")
        words = {"claim": f"It is {number}.", "label": "entailment", "explanation": "So it is."}
        rows.append({"id": f"row{number}", "image": f"{number}.png", **words})
    (folder / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    task = {
        "include": f"{tasks_dir()}/vflute/vflute.yaml",
        "task": "mine",
        "dataset_name": "V-FLUTE,split=test",
    }
    options = {"lmms_eval_specific_kwargs": {"default": {"scorer": "off"}}}
    (tmp_path / "mine.yaml").write_text(json.dumps(task | options))
    arguments: dict[str, Any] = {"include_path": str(tmp_path), "gen_kwargs": "max_new_tokens=2"}
    found = []
    for cache in (None, str(tmp_path / "cache"), str(tmp_path / "cache")):
        model_args = f"pretrained={checkpoint('qwen2_vl')},device=cpu,max_pixels=2048"
        found.append(
            demo_runs.evaluate("mine", "figlang_vlm", model_args, use_cache=cache, **arguments)
        )
    for results in found:
        assert results["configs"]["mine"]["metadata"]["padded_pictures"] == [1]
        assert "max_pixels=2048" in str(results["config"]["model_args"])
        assert demo_runs.answers(results, "mine") == demo_runs.answers(found[0], "mine")


def test_a_text_with_the_placeholder_of_the_model_is_named(build: Build) -> None:
    message = (
        r"doc 0: ValueError: a text contains <\|image_pad\|>, which this model takes for .* leave"
        r" the row out"
    )
    with pytest.raises(VLMError, match=message):
        asked(build("qwen2_vl"), [[user(picture(40, 30), text("Is it <|image_pad|>?"))]], GREEDY)
