"""Candidate scores, against one pass of Hugging Face's own model over prompt and answer for each candidate."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_vlms import build

from figlang_tasks.models import vlm_scoring
from figlang_tasks.models.vlm_scoring import Scorer, SharedPrefix, answer_tokens, joiner

TEXTS = ["yes", "a burning house that nobody sees", "the mule is stubborn", "an </s> image"]
TOWERS = ("vision_tower", "visual", "vision_model", "vision_encoder", "vpm")
EXACT = 2e-5  # nats per token, in float32


@dataclass
class Asked:
    """A prompt with pictures, as the model of a family reads it."""

    model: Any
    processor: Any
    inputs: dict[str, torch.Tensor]
    prompt: str
    special: bool

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        between = joiner(self.prompt, self.processor.tokenizer)
        return answer_tokens(self.processor.tokenizer, self.prompt, [between + text for text in texts], self.special)

    def scores(self, texts: Sequence[str], scorer: Scorer | None = None) -> list[list[float]]:
        scorer = scorer or Scorer(self.model, self.processor.tokenizer)
        with torch.inference_mode():
            return scorer.candidates(self.inputs, self.prompt, texts, self.special)

    def naive(self, ids: Sequence[int]) -> list[float]:
        """One pass over prompt and candidate, without a cache; what an input says of text is written by hand."""
        added = torch.tensor([list(ids)])
        inputs = dict(self.inputs)
        inputs["input_ids"] = torch.cat([inputs["input_ids"], added], dim=1)
        inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
        for name in {"token_type_ids", "mm_token_type_ids"} & set(inputs):
            inputs[name] = torch.cat([inputs[name], torch.zeros_like(added)], dim=1)  # 0 is text
        if "cross_attention_mask" in inputs:  # looks at what its end looks at
            seen = inputs["cross_attention_mask"]
            inputs["cross_attention_mask"] = torch.cat([seen, *[seen[:, -1:]] * len(ids)], dim=1)
        with torch.inference_mode():
            log_probs = self.model(**inputs, use_cache=False).logits[0, -len(ids) - 1 : -1].log_softmax(-1)
        return log_probs.gather(1, added[0, :, None])[:, 0].tolist()


tiny = functools.cache(build)


def asked(family: str, pictures: int = 1) -> Asked:
    model, processor = tiny(family)
    pixels = np.random.default_rng(pictures).integers(0, 255, (pictures, 40, 56, 3), dtype="uint8")
    images = [Image.fromarray(picture) for picture in pixels]
    content = [*({"type": "image"} for _ in images), {"type": "text", "text": "Which of them shows a mule?"}]
    prompt = (processor if processor.chat_template else processor.tokenizer).apply_chat_template(
        [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
    )
    special = not prompt.startswith("<s>")
    given = {"images": [images]} if images else {}
    inputs = processor(text=[prompt], return_tensors="pt", add_special_tokens=special, **given)
    return Asked(model, processor, dict(inputs), prompt, special)


# Each has another kind of cache or mask; all others are in test_families.py.
KINDS = ("llava", "qwen2_5_vl", "gemma3", "mllama")


@pytest.mark.parametrize(("family", "pictures"), [(family, count) for family in KINDS for count in (0, 2)])
def test_candidates_score_as_with_one_pass_each(family: str, pictures: int, warnings_of_loguru: list[str]) -> None:
    prompt = asked(family, pictures)
    scorer = Scorer(prompt.model, prompt.processor.tokenizer)
    asked(family, max(pictures, 1)).scores(TEXTS[:2], scorer)  # nothing may be left of its positions
    found = prompt.scores(TEXTS, scorer)
    expected = [prompt.naive(ids) for ids in prompt.tokens(TEXTS)]
    assert [len(values) for values in found] == [len(values) for values in expected]
    assert sum(found, []) == pytest.approx(sum(expected, []), abs=EXACT)
    assert scorer.shared and not warnings_of_loguru


@pytest.mark.parametrize("family", KINDS)
def test_pictures_are_read_once_for_all_candidates(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = asked(family)
    scorer = Scorer(prompt.model, prompt.processor.tokenizer)
    prompt.scores(TEXTS[:2], scorer)  # with its check
    towers = [m for name, m in prompt.model.named_modules() if name.split(".")[-1] in TOWERS]
    readings: list[Any] = []
    rows: list[int] = []
    forward = prompt.model.forward

    def count(**inputs: Any) -> Any:
        rows.append(inputs["input_ids"].shape[0])
        return forward(**inputs)

    monkeypatch.setattr(prompt.model, "forward", functools.wraps(forward)(count))
    monkeypatch.setattr(vlm_scoring, "MAX_TOKENS", 40)
    words = ["a mule", "the house burns", "snail", "nobody sees it"]
    texts = [f"{a} {b}" for a in words for b in words]
    with towers[0].register_forward_hook(lambda *_: readings.append(1)):
        found = prompt.scores(texts, scorer)
    assert len(readings) == 1
    assert 2 < len(rows) < 12 and max(rows) > 4
    # The prefix is as it was after each batch.
    some = [0, 7, len(texts) - 1]
    expected = [prompt.naive(ids) for ids in prompt.tokens([texts[i] for i in some])]
    assert sum([found[i] for i in some], []) == pytest.approx(sum(expected, []), abs=EXACT)


@pytest.mark.parametrize("wrong", ["positions", "the last row", "an exception"])
def test_a_model_that_cannot_go_on_from_its_cache_is_noticed(
    wrong: str, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    prompt = asked("qwen2_5_vl")
    texts = ["yes", "the mule is slow", "the mule is stubborn"]
    expected = [prompt.naive(ids) for ids in prompt.tokens(texts)]
    prepare = prompt.model.prepare_inputs_for_generation

    def prepared(ids: torch.Tensor, **state: Any) -> dict[str, Any]:
        inputs = prepare(ids, **state)
        if isinstance(rows := inputs.get("cache") or inputs.get("past_key_values"), SharedPrefix):
            if wrong == "an exception":
                raise KeyError("a cache of its own")
            if wrong == "positions":
                inputs["position_ids"] = inputs["position_ids"] + 9
            else:
                layer: Any = rows.layers[0]
                layer.keys = layer.keys.clone()
                layer.keys[-1] *= -1
        return inputs

    monkeypatch.setattr(prompt.model, "prepare_inputs_for_generation", functools.wraps(prepare)(prepared))
    scorer = Scorer(prompt.model, prompt.processor.tokenizer)
    for _ in range(2):
        assert sum(prompt.scores(texts, scorer), []) == pytest.approx(sum(expected, []), abs=EXACT)
    assert not scorer.shared
    (told,) = warnings_of_loguru
    assert ("KeyError: 'a cache of its own'" if wrong == "an exception" else "nats per token") in told


def test_each_kind_of_prompt_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    model, processor = tiny("qwen2_5_vl")
    scorer = Scorer(model, processor.tokenizer)
    checked: list[bool] = []
    decoded = scorer.decoded

    def noted(prefix: dict[str, Any], ids: Sequence[int]) -> list[float]:
        checked.append("pixel_values" in prefix)
        return decoded(prefix, ids)

    monkeypatch.setattr(scorer, "decoded", noted)
    for pictures in (0, 1, 2, 0):
        asked("qwen2_5_vl", pictures).scores(["the mule is slow", "a"], scorer)
    assert checked == [False, True]


def test_settings_that_a_checkpoint_brings_for_its_answers_change_no_score(monkeypatch: pytest.MonkeyPatch) -> None:
    prompt = asked("mllama")
    expected = prompt.scores(TEXTS)
    settings = {"use_cache": False, "num_beams": 3, "do_sample": True, "repetition_penalty": 1.7, "min_new_tokens": 4}
    for name, value in {**settings, "eos_token_id": [2, 7], "suppress_tokens": [5]}.items():
        monkeypatch.setattr(prompt.model.generation_config, name, value)
    scorer = Scorer(prompt.model, prompt.processor.tokenizer)
    assert sum(prompt.scores(TEXTS, scorer), []) == pytest.approx(sum(expected, []), abs=EXACT)
    assert scorer.shared
