"""Answers in numbers: images and prompt run once for all candidates, and a model for which that
goes wrong is noticed.

`test_families.py` compares the scores of each architecture with transformers itself; here the
reference is the way in which a model goes that shares nothing: each text token by token.
"""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from vlm_requests import CONVERSATIONS, Build, image, made, scores, text, user

from figlang_tasks.models import vlm_scoring
from figlang_tasks.models.vlm import VLMError
from figlang_tasks.models.vlm_cache import SharedPrefix

TEXTS = ["yes", "a burning house that nobody sees", "the mule is stubborn", "an </s> image"]
QUESTION = text("Which of them shows a mule?")
TOWERS = ("visual", "vision_model")
EXACT = 5e-5  # nats of a text, in float32


def score(lm: Any, texts: list[str], pictures: int = 1) -> list[float]:
    return scores(
        lm, [user(*map(image, range(pictures)), QUESTION)], kind="candidates", candidates=texts
    )


def token_by_token(lm: Any, texts: list[str]) -> list[float]:
    lm.scorer.shared = False
    found = score(lm, texts)
    lm.scorer.shared = True
    return found


# Kinds of positions, of caches and of masks
@pytest.mark.parametrize("family", ["qwen2_5_vl", "mllama"])
def test_pictures_are_read_once_for_all_candidates(
    family: str, build: Build, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    lm = build(family)
    score(lm, TEXTS[:2])  # with its check; nothing may be left of its positions
    towers = [m for name, m in lm.model.named_modules() if name.split(".")[-1] in TOWERS]
    readings: list[Any] = []
    rows: list[int] = []
    forward = lm.model.forward

    def count(**inputs: Any) -> Any:
        rows.append(inputs["input_ids"].shape[0])
        return forward(**inputs)

    monkeypatch.setattr(lm.model, "forward", functools.wraps(forward)(count))
    monkeypatch.setattr(vlm_scoring, "MAX_TOKENS", 40)
    words = ["a mule", "the house burns", "snail", "nobody sees it"]
    texts = [f"{a} {b}" for a in words for b in words]
    with towers[0].register_forward_hook(lambda *_: readings.append(1)):
        found = score(lm, texts)
    assert len(readings) == 1
    assert 2 < len(rows) < 12 and max(rows) > 4
    some = [0, 7, len(texts) - 1]  # the prefix is as it was after each batch
    assert [found[i] for i in some] == pytest.approx(
        token_by_token(lm, [texts[i] for i in some]), abs=EXACT
    )
    assert score(lm, texts[::-1]) == pytest.approx(found[::-1], abs=EXACT)
    monkeypatch.setattr(vlm_scoring, "MAX_POSITIONS", 1)
    rows.clear()
    assert score(lm, texts[:4]) == pytest.approx(found[:4], abs=EXACT) and max(rows) == 1
    assert not warnings_of_loguru


@pytest.mark.parametrize("wrong", ["positions", "the last row", "an exception"])
def test_a_model_that_cannot_go_on_from_its_cache_is_noticed(
    wrong: str, build: Build, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    lm, texts = build("qwen2_5_vl"), ["yes", "the mule is slow", "the mule is stubborn"]
    expected = token_by_token(lm, texts)
    prepare = lm.model.prepare_inputs_for_generation

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

    monkeypatch.setattr(
        lm.model, "prepare_inputs_for_generation", functools.wraps(prepare)(prepared)
    )
    for _ in range(2):
        assert score(lm, texts) == pytest.approx(expected, abs=EXACT)
    (told,) = warnings_of_loguru
    assert (
        "KeyError: 'a cache of its own'" if wrong == "an exception" else "nats per token"
    ) in told


def test_each_kind_of_prompt_is_checked(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = build("qwen2_5_vl")
    checked: list[bool] = []
    decoded = lm.scorer.decoded

    def noted(prefix: dict[str, Any], ids: list[int]) -> list[float]:
        checked.append("pixel_values" in prefix)
        return decoded(prefix, ids)

    monkeypatch.setattr(lm.scorer, "decoded", noted)
    for pictures in (0, 1, 2, 0):
        score(lm, ["the mule is slow", "a"], pictures)
    assert checked == [False, True]


def test_settings_that_a_checkpoint_brings_for_its_answers_change_no_score(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = build("mllama")
    expected = score(lm, TEXTS)
    settings = {
        "use_cache": False,
        "num_beams": 3,
        "do_sample": True,
        "repetition_penalty": 1.7,
        "min_new_tokens": 4,
    }
    for name, value in {**settings, "eos_token_id": [2, 7], "suppress_tokens": [5]}.items():
        monkeypatch.setattr(lm.model.generation_config, name, value)
    assert score(lm, TEXTS) == pytest.approx(expected, abs=EXACT)
    assert lm.scorer.shared


# --- match ---


def test_match_scores_each_image_alone(build: Build) -> None:
    lm = build("qwen2_5_vl", batch_size=2)
    question = text("Does it match?")
    pictures = [image(1), image(2), image(3, 40)]
    together = scores(lm, [user(*pictures, question)], kind="match")
    alone = [scores(lm, [user(picture, question)], kind="match")[0] for picture in pictures]
    assert together == pytest.approx(alone, abs=1e-5)
    assert all(0 < score < 1 for score in together) and len(set(together)) == 3
    turned = scores(lm, [user(image(1), question)], kind="match", yes="No", no="Yes")
    assert turned == pytest.approx([1 - alone[0]])


def test_match_is_the_share_of_yes_among_the_first_tokens(build: Build) -> None:
    lm = build("qwen2_5_vl")
    [found] = scores(lm, CONVERSATIONS[0], kind="match", yes="the", no="and")
    _, inputs = made(lm, CONVERSATIONS[0])
    with torch.inference_mode():
        probabilities = lm.model(**inputs).logits[0, -1].softmax(-1)
    yes, no = (
        sum(
            probabilities[lm.tokenizer(spelling)["input_ids"][0]].item()
            for spelling in (word, f" {word}")
        )
        for word in ("the", "and")
    )
    assert found == pytest.approx(yes / (yes + no), rel=1e-4)


def test_a_token_with_which_both_words_begin_counts_for_neither(build: Build) -> None:
    """The tiny tokenizer writes a space before a word that it does not know as a token of its
    own.
    """
    lm = build("qwen2_5_vl")
    tokens = {word: lm.tokenizer(word)["input_ids"][0] for word in ("Q", " Q", "Z", " Z")}
    assert tokens[" Q"] == tokens[" Z"] and len(set(tokens.values())) == 3
    [found] = scores(lm, CONVERSATIONS[0], kind="match", yes="Q", no="Z")
    _, inputs = made(lm, CONVERSATIONS[0])
    with torch.inference_mode():
        probabilities = lm.model(**inputs).logits[0, -1].softmax(-1)
    yes, no, shared = (probabilities[tokens[word]].item() for word in ("Q", "Z", " Q"))
    assert found == pytest.approx(yes / (yes + no), rel=1e-4)
    assert found != pytest.approx((yes + shared) / (yes + no + 2 * shared), rel=1e-2)


def test_score_requests_that_make_no_sense_name_their_document(build: Build) -> None:
    lm = build("llava")
    with pytest.raises(VLMError, match="doc 0: ValueError: .*needs an image"):
        scores(lm, CONVERSATIONS[2], kind="match")
    with pytest.raises(VLMError, match="doc 0, image 0: ValueError: .*begin with the same token"):
        scores(lm, CONVERSATIONS[0], kind="match", yes="the mule", no="the house")
