"""The demo model of `make demo` looks at the pictures of figlang_mini, with each of the
instructions.
"""

from __future__ import annotations

import io
from collections import Counter

import pyarrow.parquet as parquet
import pytest
import torch
from PIL import Image
from transformers import AutoProcessor, LlavaForConditionalGeneration

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.core.prompting import render
from figlang_tasks.mini import DATA_DIR, DEMO_MODEL_DIR


@pytest.mark.slow
def test_it_beats_the_majority_label() -> None:
    model = LlavaForConditionalGeneration.from_pretrained(DEMO_MODEL_DIR, dtype="auto")
    processor = AutoProcessor.from_pretrained(DEMO_MODEL_DIR)
    rows = parquet.read_table(DATA_DIR / "data" / "test-00000-of-00001.parquet").to_pylist()[::2]
    right = 0
    for number, row in enumerate(rows):
        question = render("vflute/question.jinja", instruction=1 + number % 21, claim=row["claim"])
        turn = {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": question}]}
        prompt = processor.apply_chat_template([turn], tokenize=False, add_generation_prompt=True)
        picture = Image.open(io.BytesIO(row["image"]["bytes"])).convert("RGB")
        inputs = processor(images=[picture], text=prompt, return_tensors="pt")
        with torch.inference_mode():
            ids = model.generate(**inputs, do_sample=False, max_new_tokens=100)[
                0, inputs["input_ids"].shape[1] :
            ]
        text = processor.tokenizer.decode(ids, skip_special_tokens=True)
        assert text.rpartition("\n")[2] in ("LABEL: entailment", "LABEL: contradiction")
        right += ("contradiction", "entailment")[entailment(text).value or 0] == row["label"]
    assert right > max(Counter(row["label"] for row in rows).values()) + 0.15 * len(rows)
