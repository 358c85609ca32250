"""The demo model of `make demo` answers the prompts of figlang_mini, whatever the claim and the picture."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pyarrow.parquet as parquet
import pytest
import torch
from PIL import Image
from transformers import AutoProcessor, LlavaForConditionalGeneration

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.core.prompting import render
from figlang_tasks.mini import DATA_DIR, DEMO_MODEL_DIR

ROWS = parquet.read_table(DATA_DIR / "data" / "test-00000-of-00001.parquet").to_pylist()


@pytest.fixture(scope="module")
def model() -> LlavaForConditionalGeneration:
    return LlavaForConditionalGeneration.from_pretrained(DEMO_MODEL_DIR, dtype="auto")


@pytest.fixture(scope="module")
def processor() -> Any:
    return AutoProcessor.from_pretrained(DEMO_MODEL_DIR)


def picture(row: dict[str, Any]) -> Image.Image:
    return Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB")


def asked(claim: str, instruction: int = 1) -> dict[str, Any]:
    question = render("vflute/question.jinja", instruction=instruction, claim=claim)
    return {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}


def answer(model: Any, processor: Any, turns: list[Any], images: list[Image.Image], **settings: Any) -> str:
    """The text generated with the arguments that the harness passes."""
    text = processor.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    inputs = processor(images=images, text=text, return_tensors="pt")
    with torch.inference_mode():
        ids = model.generate(**inputs, **({"do_sample": False, "max_new_tokens": 100} | settings))
    return processor.tokenizer.decode(ids[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def test_weights_are_half_on_disk_and_single_in_memory(model: LlavaForConditionalGeneration) -> None:
    assert json.loads((DEMO_MODEL_DIR / "config.json").read_text(encoding="utf-8"))["dtype"] == "float32"
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    count = sum(parameter.numel() for parameter in model.parameters())
    assert (DEMO_MODEL_DIR / "model.safetensors").stat().st_size < 2.1 * count


@pytest.mark.slow
def test_it_beats_the_majority_label(model: LlavaForConditionalGeneration, processor: Any) -> None:
    rows = ROWS[::2]
    texts = [answer(model, processor, [asked(row["claim"], 1 + i % 21)], [picture(row)]) for i, row in enumerate(rows)]
    assert all(text.rpartition("\n")[2] in ("LABEL: entailment", "LABEL: contradiction") for text in texts)
    right = sum(
        ("entailment", "contradiction")[entailment(text).value == 0] == row["label"]
        for text, row in zip(texts, rows, strict=True)
    )
    assert right > max(Counter(row["label"] for row in rows).values()) + 0.15 * len(rows)


def test_beam_search_of_the_paper(model: LlavaForConditionalGeneration, processor: Any) -> None:
    turns, images = [asked(ROWS[1]["claim"])], [picture(ROWS[1])]
    assert "LABEL: " in answer(model, processor, turns, images, num_beams=3, max_new_tokens=256)


def test_chat_and_plain_string_prompts_are_the_same(processor: Any) -> None:
    """The chat backend sends lists of content, the simple one a string that starts with the image token."""
    turn = asked("Time is a thief.")
    chat = processor.apply_chat_template([turn], tokenize=False, add_generation_prompt=True)
    plain = [{"role": "user", "content": f"<image>\n{turn['content'][1]['text']}"}]
    assert chat == processor.tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True)
    ids = processor(images=[Image.new("RGB", (10, 10))], text=chat, return_tensors="pt")["input_ids"]
    assert (ids == processor.tokenizer.convert_tokens_to_ids("<image>")).sum() == 36
    assert (ids == processor.tokenizer.bos_token_id).sum() == 1


@pytest.mark.parametrize(("size", "mode"), [((3000, 2), "RGBA"), ((3000, 3000), "L")])
def test_any_claim_and_picture_can_be_shown(
    model: LlavaForConditionalGeneration, processor: Any, size: tuple[int, int], mode: str
) -> None:
    claim = "\U0001f525\U0001f434 is 头疼 \x00 \u202e!" + "word " * size[1]
    assert answer(model, processor, [asked(claim[:2000])], [Image.new(mode, size)], max_new_tokens=5)
