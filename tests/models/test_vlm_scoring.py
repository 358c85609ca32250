"""Candidate scores, against one pass of Hugging Face's own model over prompt and answer for each candidate."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from marks import slow_unless
from PIL import Image
from tiny_vlms import FAMILIES, OTHER_CACHES, build

from figlang_tasks.models import vlm_scoring
from figlang_tasks.models.vlm_scoring import Scorer, SharedPrefix, answer_tokens, joiner

TEXTS = ["yes", "a burning house that nobody sees", "the mule is stubborn", "an </s> image"]
TOWERS = ("vision_tower", "visual", "vision_model", "vision_encoder", "vpm")
# Nats per token, in float32. What linear attention rounds depends on where its chunks begin, here and in a whole pass.
EXACT = {"qwen3_5": 1e-4, "minicpmv4_6": 1e-4}


def paligemma(model: Any) -> bool:
    return model.config.model_type == "paligemma"


@dataclass
class Asked:
    """A prompt with pictures, as the model of a family reads it."""

    model: Any
    processor: Any
    inputs: dict[str, torch.Tensor]
    prompt: str
    special: bool
    images: list[Image.Image]
    exact: float

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        prompt = self.prompt + "\n" if paligemma(self.model) else self.prompt  # as its processor does
        between = joiner(prompt, self.processor.tokenizer)
        return answer_tokens(self.processor.tokenizer, prompt, [between + text for text in texts], self.special)

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
        for name in {"token_type_ids", "mm_token_type_ids", "moe_mm_token_type_ids"} & set(inputs):
            inputs[name] = torch.cat([inputs[name], torch.zeros_like(added)], dim=1)  # 0 is text
        if paligemma(self.model):  # which reads what has type 0 in both directions, and without labels all of it
            read = torch.zeros_like(self.inputs["input_ids"])
            inputs["token_type_ids"] = torch.cat([read, torch.ones_like(added)], dim=1)
            inputs["labels"] = torch.full_like(inputs["input_ids"], -100)
        for name in {"cross_attention_mask", "image_attention_mask"} & set(inputs):  # looks at what its end looks at
            last = [inputs[name][:, -1:]] * len(ids)
            inputs[name] = torch.cat([inputs[name], *last], dim=1)
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
    return Asked(model, processor, dict(inputs), prompt, special, images, EXACT.get(family, 2e-5))


ALL = slow_unless(FAMILIES, [*FAMILIES, *OTHER_CACHES])
CASES = [(family, n) for family in [*FAMILIES, *OTHER_CACHES] for n in (0, 2) if n or family != "paligemma"]
CASES += [("idefics", 1)]  # its mask of pictures grows with each token
# Each has another kind of cache or mask.
FAST = [case for case in CASES if case[0] in ("llava", "qwen2_5_vl", "gemma3", "qwen3_5", "idefics")]


@pytest.mark.parametrize(("family", "pictures"), slow_unless(FAST, CASES))
def test_candidates_score_as_with_one_pass_each(family: str, pictures: int, warnings_of_loguru: list[str]) -> None:
    prompt = asked(family, pictures)
    scorer = Scorer(prompt.model, prompt.processor.tokenizer)
    asked(family, max(pictures, 1)).scores(TEXTS[:2], scorer)  # nothing may be left of its positions
    found = prompt.scores(TEXTS, scorer)
    expected = [prompt.naive(ids) for ids in prompt.tokens(TEXTS)]
    assert [len(values) for values in found] == [len(values) for values in expected]
    assert sum(found, []) == pytest.approx(sum(expected, []), abs=prompt.exact)
    assert scorer.shared and not warnings_of_loguru


def test_idefics_without_a_resampler_reads_several_pictures(
    monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setattr(asked("idefics").model.config, "use_resampler", False)
    test_candidates_score_as_with_one_pass_each("idefics", 2, warnings_of_loguru)


@pytest.mark.parametrize("family", ALL)
def test_decoding_token_by_token_scores_the_same(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the check compares with, and what is left where the cache cannot be shared; an end token ends nothing."""
    prompt = asked(family, 2)
    scorer = Scorer(prompt.model, prompt.processor.tokenizer)
    for name in ("_prefill", "_after"):
        monkeypatch.delattr(Scorer, name)
    ids = prompt.tokens(["an </s> image"])[0]
    assert 2 in ids
    with torch.inference_mode():
        assert scorer.decoded(prompt.inputs, ids) == pytest.approx(prompt.naive(ids), abs=prompt.exact)


@pytest.mark.parametrize("family", ALL)
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
    assert sum([found[i] for i in some], []) == pytest.approx(sum(expected, []), abs=prompt.exact)


def test_paligemma_answers_as_the_suffix_of_its_processor() -> None:
    """After the line break that ends its prompts, and read in one direction."""
    prompt = asked("paligemma")
    suffix = "the mule is stubborn"
    inputs = prompt.processor(text=[prompt.prompt], images=[prompt.images], suffix=[suffix], return_tensors="pt")
    answer = inputs["labels"][0] != -100
    answer[-1] = False  # the end of the sequence
    with torch.inference_mode():
        log_probs = prompt.model(**inputs).logits[0, :-1].log_softmax(-1)
    of_tokens = log_probs.gather(1, inputs["input_ids"][0, 1:, None])[:, 0]
    expected = of_tokens[answer[1:]]
    assert prompt.processor.tokenizer.decode(inputs["input_ids"][0][answer]) == suffix
    for without in ("", "labels"):
        prompt.inputs.pop(without, None)
        assert prompt.scores([suffix])[0] == pytest.approx(expected.tolist(), abs=prompt.exact)


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
        assert sum(prompt.scores(texts, scorer), []) == pytest.approx(sum(expected, []), abs=prompt.exact)
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
    assert sum(prompt.scores(TEXTS, scorer), []) == pytest.approx(sum(expected, []), abs=prompt.exact)
    assert scorer.shared
