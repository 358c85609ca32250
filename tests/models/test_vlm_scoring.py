"""Images and prompt run once for all candidates; a model for which that goes wrong is noticed.

`test_families.py` compares the scores of each architecture with transformers itself; here the
reference is the way in which a model goes that shares nothing: each text token by token.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from vlm_requests import CONVERSATIONS, Build, image, made, scores, text, user

from figlang_tasks.models import vlm_scoring
from figlang_tasks.models.vlm import FigLangVLM, VLMError
from figlang_tasks.models.vlm_cache import SharedPrefix

TEXTS = ["yes", "a burning house that nobody sees", "the mule is stubborn", "an </s> image"]
QUESTION = text("Which of them shows a mule?")
TOWERS = ("visual", "vision_model")
EXACT = 5e-5  # nats of a text, in float32


def score(lm: FigLangVLM, texts: list[str], pictures: int = 1) -> list[float]:
    """The scores of texts as answers to a question about so many pictures."""
    messages = [user(*map(image, range(pictures)), QUESTION)]
    return scores(lm, messages, kind="candidates", candidates=texts)


def token_by_token(lm: FigLangVLM, texts: list[str]) -> list[float]:
    """The scores of texts without the shared prefix."""
    lm.scorer.uses_shared_prefix = False
    scores_of_texts = score(lm, texts)
    lm.scorer.uses_shared_prefix = True
    return scores_of_texts


PHRASES = ["a mule", "the house burns", "snail", "nobody sees it"]
SIXTEEN_TEXTS = [" ".join(pair) for pair in itertools.product(PHRASES, repeat=2)]


def vision_tower(lm: FigLangVLM) -> torch.nn.Module:
    """The part of a model that reads pictures."""
    for name, module in lm.model.named_modules():
        if name.split(".")[-1] in TOWERS:
            return module
    raise AssertionError("the model has no vision tower")


def counted_rows(lm: FigLangVLM, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets the number of rows of each forward pass from now on."""
    rows_of_passes: list[int] = []
    forward = lm.model.forward

    def count_rows(input_ids: torch.Tensor, **inputs: object) -> object:
        rows_of_passes.append(input_ids.shape[0])
        return forward(input_ids=input_ids, **inputs)

    monkeypatch.setattr(lm.model, "forward", functools.wraps(forward)(count_rows))
    return rows_of_passes


# The two differ in positions, caches and masks.
@pytest.mark.parametrize("family", ["qwen2_5_vl", "mllama"])
def test_pictures_are_read_once_for_all_candidates(
    family: str, build: Build, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    lm = build(family)
    score(lm, TEXTS[:2])  # with its check; nothing may be left of its positions
    tower = vision_tower(lm)
    tower_runs: list[object] = []
    rows_of_passes = counted_rows(lm, monkeypatch)
    monkeypatch.setattr(vlm_scoring, "MAX_TOKENS", 40)
    with tower.register_forward_hook(lambda *call: tower_runs.append(call)):
        scores_of_texts = score(lm, SIXTEEN_TEXTS)
    assert len(tower_runs) == 1
    assert 2 < len(rows_of_passes) < 12
    assert max(rows_of_passes) > 4
    # The prefix is as it was after each batch.
    indices = [0, 7, len(SIXTEEN_TEXTS) - 1]
    expected = token_by_token(lm, [SIXTEEN_TEXTS[index] for index in indices])
    assert [scores_of_texts[index] for index in indices] == pytest.approx(expected, abs=EXACT)
    reversed_scores = score(lm, SIXTEEN_TEXTS[::-1])
    assert reversed_scores == pytest.approx(scores_of_texts[::-1], abs=EXACT)
    assert not warnings_of_loguru


@pytest.mark.parametrize("family", ["qwen2_5_vl", "mllama"])
def test_texts_run_one_by_one_where_there_is_room_for_no_more(
    family: str, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = build(family)
    scores_in_a_batch = score(lm, SIXTEEN_TEXTS[:4])
    monkeypatch.setattr(vlm_scoring, "MAX_POSITIONS", 1)
    rows_of_passes = counted_rows(lm, monkeypatch)
    scores_one_by_one = score(lm, SIXTEEN_TEXTS[:4])
    assert scores_one_by_one == pytest.approx(scores_in_a_batch, abs=EXACT)
    assert max(rows_of_passes) == 1


def shift_positions(inputs: dict[str, torch.Tensor], cache: SharedPrefix) -> None:
    inputs["position_ids"] = inputs["position_ids"] + 9


def spoil_last_row(inputs: dict[str, torch.Tensor], cache: SharedPrefix) -> None:
    layer: Any = cache.layers[0]
    layer.keys = layer.keys.clone()
    layer.keys[-1] *= -1


def raise_error(inputs: dict[str, torch.Tensor], cache: SharedPrefix) -> None:
    raise KeyError("a cache of its own")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (shift_positions, "nats per token"),
        (spoil_last_row, "nats per token"),
        (raise_error, "KeyError: 'a cache of its own'"),
    ],
)
def test_a_model_that_cannot_go_on_from_its_cache_is_noticed(
    damage: Callable[[dict[str, torch.Tensor], SharedPrefix], None],
    reason: str,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
    warnings_of_loguru: list[str],
) -> None:
    lm = build("qwen2_5_vl")
    texts = ["yes", "the mule is slow", "the mule is stubborn"]
    expected = token_by_token(lm, texts)
    prepare = lm.model.prepare_inputs_for_generation

    def prepare_and_damage(ids: torch.Tensor, **state: object) -> dict[str, torch.Tensor]:
        inputs = prepare(ids, **state)
        cache = inputs.get("cache") or inputs.get("past_key_values")
        if isinstance(cache, SharedPrefix):
            damage(inputs, cache)
        return inputs

    monkeypatch.setattr(
        lm.model, "prepare_inputs_for_generation", functools.wraps(prepare)(prepare_and_damage)
    )
    for _ in range(2):
        assert score(lm, texts) == pytest.approx(expected, abs=EXACT)
    (warning,) = warnings_of_loguru
    assert reason in warning


def test_prompts_with_and_without_pictures_are_each_checked_once(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = build("qwen2_5_vl")
    checks_with_pictures: list[bool] = []
    decoded = lm.scorer.log_probs_token_by_token

    def decode_and_note(prefix: dict[str, torch.Tensor], tokens: list[int]) -> list[float]:
        checks_with_pictures.append("pixel_values" in prefix)
        return decoded(prefix, tokens)

    monkeypatch.setattr(lm.scorer, "log_probs_token_by_token", decode_and_note)
    for pictures in (0, 1, 2, 0):
        score(lm, ["the mule is slow", "a"], pictures)
    assert checks_with_pictures == [False, True]


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
    assert lm.scorer.uses_shared_prefix


# --- match ---


def test_match_scores_each_image_alone(build: Build) -> None:
    lm = build("qwen2_5_vl", batch_size=2)
    question = text("Does it match?")
    pictures = [image(1), image(2), image(3, 40)]
    together = scores(lm, [user(*pictures, question)], kind="match")
    alone = [scores(lm, [user(picture, question)], kind="match")[0] for picture in pictures]
    assert together == pytest.approx(alone, abs=1e-5)
    assert 0 < min(together) < max(together) < 1
    assert len(set(together)) == 3
    turned = scores(lm, [user(image(1), question)], kind="match", yes="No", no="Yes")
    assert turned == pytest.approx([1 - alone[0]])


def first_token_probabilities(lm: FigLangVLM) -> torch.Tensor:
    """The probabilities of the first token of the answer to the first conversation."""
    _, inputs = made(lm, CONVERSATIONS[0])
    with torch.inference_mode():
        return lm.model(**inputs).logits[0, -1].softmax(-1)


def test_match_is_the_share_of_yes_among_the_first_tokens(build: Build) -> None:
    lm = build("qwen2_5_vl")
    [match_score] = scores(lm, CONVERSATIONS[0], kind="match", yes="the", no="and")
    probabilities = first_token_probabilities(lm)
    probability: dict[str, float] = {}
    for word in ("the", "and"):
        spellings = [lm.tokenizer(spelling)["input_ids"][0] for spelling in (word, f" {word}")]
        probability[word] = probabilities[spellings].sum().item()
    expected = probability["the"] / (probability["the"] + probability["and"])
    assert match_score == pytest.approx(expected, rel=1e-4)


def test_a_token_with_which_both_words_begin_counts_for_neither(build: Build) -> None:
    """The tiny tokenizer has a token of its own for a space before a word it does not know."""
    lm = build("qwen2_5_vl")
    tokens = {word: lm.tokenizer(word)["input_ids"][0] for word in ("Q", " Q", "Z", " Z")}
    assert tokens[" Q"] == tokens[" Z"]
    assert len(set(tokens.values())) == 3
    [match_score] = scores(lm, CONVERSATIONS[0], kind="match", yes="Q", no="Z")
    probabilities = first_token_probabilities(lm)
    yes = probabilities[tokens["Q"]].item()
    no = probabilities[tokens["Z"]].item()
    shared = probabilities[tokens[" Q"]].item()
    assert match_score == pytest.approx(yes / (yes + no), rel=1e-4)
    assert match_score != pytest.approx((yes + shared) / (yes + no + 2 * shared), rel=1e-2)


def test_a_score_request_that_cannot_be_answered_names_its_document(build: Build) -> None:
    lm = build("llava")
    with pytest.raises(VLMError, match=r"doc 0: ValueError: .*needs an image"):
        scores(lm, CONVERSATIONS[2], kind="match")
    with pytest.raises(VLMError, match=r"doc 0, image 0: ValueError: .*begin with the same token"):
        scores(lm, CONVERSATIONS[0], kind="match", yes="the mule", no="the house")
