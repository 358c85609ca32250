"""`figlang_vlm` on tiny models of seven families, by itself and through the harness."""

from __future__ import annotations

import copy
import functools
import json
import math
import shutil
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lmms_eval.api.instance import Instance
from lmms_eval.evaluator import simple_evaluate
from marks import slow_unless
from models.tiny_vlms import FAMILIES, write
from PIL import Image

import figlang_tasks
from figlang_tasks import FigLangError
from figlang_tasks.core.score_requests import KEY, read_answer
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models import vlm, vlm_scoring
from figlang_tasks.models.vlm import FigLangBlind, FigLangVLM, VLMError, cut_at, generation_settings, stop_strings
from figlang_tasks.models.vlm_scoring import SharedPrefix, answer_tokens, joiner

GREEDY: dict[str, Any] = {
    "max_new_tokens": 6,
    "do_sample": False,
    "temperature": 0,
    "top_p": None,
    "num_beams": 1,
    "until": [],
}
CANDIDATES = ["yes", "a burning house that nobody sees", "the mule is stubborn", "no", "image"]


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    folder = tmp_path_factory.mktemp("checkpoints")
    return functools.cache(lambda family: str(write(family, folder)))


@pytest.fixture(scope="session")
def built(checkpoint: Callable[[str], str]) -> Callable[[str], FigLangVLM]:
    """A model of each family that tests ask and leave as it is."""
    return functools.cache(lambda family: FigLangVLM(checkpoint(family), device="cpu"))


@pytest.fixture
def build(checkpoint: Callable[[str], str]) -> Callable[..., FigLangVLM]:
    def build(family: str = "llava", **arguments: Any) -> FigLangVLM:
        return FigLangVLM(**{"pretrained": checkpoint(family), "device": "cpu", **arguments})

    return build


def image(seed: int, width: int = 56) -> dict[str, Any]:
    pixels = np.random.default_rng(seed).integers(0, 255, (32 + 8 * (seed % 4), width, 3), dtype="uint8")
    return {"type": "image", "url": Image.fromarray(pixels)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(parts)}


def asked(lm: FigLangVLM, conversations: Sequence[list[dict]], settings: dict[str, Any], doc: Any = None) -> list[str]:
    """The answers to conversations, asked as the harness asks."""
    lm.task_dict = {"probe": {"test": [doc or {}] * len(conversations)}}
    requests = [
        Instance(
            request_type="generate_until",
            arguments=(str(messages), lambda doc, m=messages: m, settings, i, "probe", "test"),
            idx=0,
            metadata={"task": "probe", "doc_id": i, "repeats": 1},
        )
        for i, messages in enumerate(conversations)
    ]
    return [answer.text for answer in lm.generate_until(requests)]


def scores(lm: FigLangVLM, messages: list[dict], **request: Any) -> list[float]:
    [answer] = asked(lm, [messages], GREEDY | {KEY: request})
    found = read_answer(answer)
    assert found is not None
    return found


CONVERSATIONS = [
    [user(image(1), text("What is it?"))],
    [user(image(2), text("Which of the two"), image(3), text("shows a mule and not a house?"))],
    [user(text("Nothing to see."))],
    [{"role": "system", "content": [text("Be brief.")]}, user(image(4), text("A longer question, what can it mean?"))],
    [
        user(image(5), text("First.")),
        {"role": "assistant", "content": [text("A snail.")]},
        user(image(6), image(7), text("And now?")),
    ],
    [user(image(8), text("Is it so?"))],
]

EACH = slow_unless({"llava", "qwen2_5_vl", "idefics3"}, FAMILIES)


# --- answers in words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", EACH)
def test_batches_answer_as_single_requests_and_leave_the_settings_alone(
    family: str, built: Callable[[str], FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = GREEDY | {"until": ["\n\n"]}
    given = copy.deepcopy(settings)
    lm = built(family)
    one_by_one = asked(lm, CONVERSATIONS, settings)
    monkeypatch.setattr(lm, "batch_size", 4)
    assert asked(lm, CONVERSATIONS, settings) == one_by_one
    assert len(set(one_by_one)) == len(CONVERSATIONS)
    assert settings == given


def test_requests_of_several_settings_come_back_in_their_order(build: Callable[..., FigLangVLM]) -> None:
    lm = build(batch_size=2)
    variants = [
        GREEDY,
        GREEDY | {"max_new_tokens": 3},
        GREEDY | {KEY: {"kind": "candidates", "candidates": ["a", "b"]}},
    ]
    expected = [asked(lm, CONVERSATIONS, settings) for settings in variants]
    lm.task_dict = {"probe": {"test": [{}] * 6}}
    order = [(i, j) for i in range(6) for j in (1, 0, 2)]
    requests = [
        Instance(
            request_type="generate_until",
            arguments=(str(i), lambda doc, i=i: CONVERSATIONS[i], dict(variants[j]), i, "probe", "test"),
            idx=0,
            metadata={"task": "probe", "doc_id": i, "repeats": 1},
        )
        for i, j in order
    ]
    assert [answer.text for answer in lm.generate_until(requests)] == [expected[j][i] for i, j in order]


@pytest.mark.parametrize("family", ["llava", pytest.param("qwen2_5_vl", marks=pytest.mark.slow)])
def test_beams(family: str, built: Callable[[str], FigLangVLM], monkeypatch: pytest.MonkeyPatch) -> None:
    settings = GREEDY | {"num_beams": 3}
    lm = built(family)
    one_by_one = asked(lm, CONVERSATIONS, settings)
    monkeypatch.setattr(lm, "batch_size", 4)
    assert asked(lm, CONVERSATIONS, settings) == one_by_one
    assert one_by_one != asked(lm, CONVERSATIONS, GREEDY)


@pytest.mark.parametrize("family", EACH)
def test_roles_and_several_images_reach_the_prompt_in_their_order(
    family: str, built: Callable[[str], FigLangVLM]
) -> None:
    lm = built(family)
    other_picture = [user(image(6), text("First.")), *CONVERSATIONS[4][1:]]
    found = [scores(lm, messages, kind="match") for messages in (CONVERSATIONS[4], other_picture)]
    assert found[0][0] != found[1][0] and found[0][1:] == found[1][1:]
    messages = [{"role": "system", "content": [text("Be brief.")]}, *CONVERSATIONS[4]]
    hf_messages = vlm.ChatMessages(messages=messages).to_hf_messages()
    prompt = lm._render("here", hf_messages)
    assert [picture.size for picture in prompt.images] == [part["url"].size for part in (image(5), image(6), image(7))]
    places = [prompt.text.index(words) for words in ("Be brief.", "First.", "A snail.", "And now?")]
    assert places == sorted(places)


@pytest.mark.parametrize("beams", [1, 3])
def test_stop_strings_cut_the_answer(
    beams: int, built: Callable[[str], FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = GREEDY | {"max_new_tokens": 8, "num_beams": beams}
    lm = built("llava")
    monkeypatch.setattr(lm, "batch_size", 4)
    whole = asked(lm, CONVERSATIONS, settings)
    stop = whole[0][5:8]
    assert asked(lm, CONVERSATIONS, settings | {"until": [stop, ""]}) == [cut_at(answer, [stop]) for answer in whole]


def test_generation_ends_at_a_stop_string(build: Callable[..., FigLangVLM]) -> None:
    lm = build()
    [whole] = asked(lm, CONVERSATIONS[:1], GREEDY | {"max_new_tokens": 40})
    lengths = []
    generate = lm.model.generate

    def measured(**options: Any) -> torch.Tensor:
        generated = generate(**options)
        lengths.append(generated.shape[1])
        return generated

    lm.model.generate = measured
    for until in ([], [whole[5:8]]):
        asked(lm, CONVERSATIONS[:1], GREEDY | {"max_new_tokens": 40, "until": until})
    assert lengths[1] <= lengths[0] - 30


def test_settings_of_generate() -> None:
    assert generation_settings({**GREEDY, KEY: {"kind": "match"}, "max_agentic_steps": 3}) == {
        "max_new_tokens": 6,
        "do_sample": False,
        "num_beams": 1,
    }
    sampled = {"temperature": 0.7, "top_p": 0.9, "top_k": None}
    assert generation_settings(sampled) == {
        "max_new_tokens": 1024,
        "do_sample": True,
        "temperature": 0.7,
        "top_p": 0.9,
    }
    assert generation_settings(sampled | {"do_sample": True, "temperature": 0})["do_sample"] is False
    assert generation_settings({"do_sample": True, "max_new_tokens": 1}) == {"do_sample": True, "max_new_tokens": 1}
    assert stop_strings({"until": "\n\n"}) == ["\n\n"] and stop_strings({}) == []


def test_settings_of_sampling_that_change_nothing_are_named(warnings_of_loguru: list[str]) -> None:
    generation_settings(GREEDY)
    assert warnings_of_loguru == []
    generation_settings(GREEDY | {"temperature": 0.7})
    assert "temperature ignored, because nothing is sampled" in warnings_of_loguru[0]


def test_unknown_settings_are_named(warnings_of_loguru: list[str]) -> None:
    assert "max_pixels" not in generation_settings({"max_pixels": 5})
    assert "max_pixels" in warnings_of_loguru[0]


def test_the_token_counts_leave_out_padding(build: Callable[..., FigLangVLM]) -> None:
    assert vlm._count([5, 6, 2, 0, 0], {2}, 0) == 3
    assert vlm._count([5, 6, 7, 0, 0], {2}, 0) == 3
    assert vlm._count([5, 2, 2], {2}, 2) == 2
    assert vlm._count([], {2}, 0) == 0


# --- trouble ---------------------------------------------------------------------------------------------------------


def limit_batch(lm: FigLangVLM, rows: int) -> None:
    """Let the model run out of memory with more than `rows` rows."""
    generate, forward = lm.model.generate, lm.model.forward

    def check(run: Callable, *args: Any, **options: Any) -> Any:
        if options["input_ids"].shape[0] > rows:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB")
        return run(*args, **options)

    lm.model.generate = functools.partial(check, generate)
    lm.model.forward = functools.wraps(forward)(functools.partial(check, forward))


def test_out_of_memory_halves_the_batch_and_goes_on(
    build: Callable[..., FigLangVLM], warnings_of_loguru: list[str]
) -> None:
    conversations = [[user(image(i), text("What is it?"))] for i in range(6)]
    expected = asked(build(), conversations, GREEDY)
    lm = build(batch_size=6)
    limit_batch(lm, 2)
    assert asked(lm, conversations, GREEDY) == expected
    assert lm.batch_size == 1
    told = [message for message in warnings_of_loguru if "going on with" in message]
    assert len(told) == 2 and "going on with 3" in told[0]


def test_a_request_that_does_not_fit_is_an_error_that_names_it(build: Callable[..., FigLangVLM]) -> None:
    lm = build(batch_size=2)
    limit_batch(lm, 0)
    with pytest.raises(VLMError, match=r"task probe, doc 0: MemoryError"):
        asked(lm, CONVERSATIONS[:1], GREEDY)
    with pytest.raises(VLMError, match=r"task probe, doc 0: MemoryError"):
        scores(lm, CONVERSATIONS[0], kind="candidates", candidates=CANDIDATES)
    with pytest.raises(VLMError, match=r"task probe, doc 0, image 0: MemoryError"):
        scores(lm, CONVERSATIONS[0], kind="match")


def test_other_errors_are_not_swallowed(build: Callable[..., FigLangVLM], monkeypatch: pytest.MonkeyPatch) -> None:
    lm = build()

    def broken(**options: Any) -> None:
        raise RuntimeError("a kernel is missing")

    monkeypatch.setattr(lm.model, "generate", broken)
    with pytest.raises(VLMError, match="task probe, doc 0: RuntimeError: a kernel is missing"):
        asked(lm, CONVERSATIONS[:1], GREEDY)


def test_the_last_prompt_is_checked_before_the_first_is_answered(
    build: Callable[..., FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = build()
    monkeypatch.setattr(lm.model, "generate", None)
    broken = [user(image(1), text(f"What is {lm.processor.image_token}?"))]
    with pytest.raises(VLMError, match="doc 3: ValueError: 1 images, but 2 image placeholders"):
        asked(lm, [*CONVERSATIONS[:3], broken], GREEDY)


def test_the_blind_model_sees_white_pictures_of_the_same_size() -> None:
    blind = FigLangBlind(pretrained=str(DEMO_MODEL_DIR), device="cpu")
    seeing = FigLangVLM(pretrained=str(DEMO_MODEL_DIR), device="cpu")
    picture = image(1)
    question = text("Does the image entail or contradict the claim?")
    white = Image.new("RGB", picture["url"].size, "white")
    (found,) = asked(blind, [[user(picture, question)]], GREEDY)
    assert found == asked(seeing, [[user({"type": "image", "url": white}, question)]], GREEDY)[0]


@pytest.mark.parametrize("family", EACH)
def test_a_placeholder_in_the_text_is_an_error_before_generation(
    family: str, built: Callable[[str], FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = built(family)
    monkeypatch.setattr(lm.model, "generate", None)
    placeholder = getattr(lm.processor, "boi_token", lm.processor.image_token)
    with pytest.raises(VLMError, match="doc 0: ValueError: 1 images, but 2 image placeholders"):
        asked(lm, [[user(image(1), text(f"What is {placeholder}?"))]], GREEDY)


def test_a_template_that_leaves_images_out_is_an_error(build: Callable[..., FigLangVLM]) -> None:
    lm = build()
    lm.processor.chat_template = "{{ messages[0]['content'][-1]['text'] }}"
    with pytest.raises(VLMError, match="1 images, but 0 image placeholders"):
        asked(lm, CONVERSATIONS[:1], GREEDY)


def test_video_is_refused(built: Callable[[str], FigLangVLM]) -> None:
    with pytest.raises(VLMError, match="reads images and text"):
        asked(built("llava"), [[user({"type": "video", "url": "a.mp4"}, text("?"))]], GREEDY)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_pixels": 3}, "unknown model_args: max_pixels; valid: pretrained, revision, dtype"),
        ({"pretrained": None}, "pretrained=<hub id or folder>"),
        ({"batch_size": "auto"}, "batch_size='auto'"),
        ({"dtype": "float"}, None),
        ({"dtype": "int8"}, "dtype='int8'; valid: auto"),
        ({"load_in_4bit": True, "load_in_8bit": True}, "use either load_in_4bit or load_in_8bit"),
        pytest.param(
            {"load_in_4bit": True},
            "Install the package that the message names",
            marks=pytest.mark.skipif(find_spec("bitsandbytes") is not None, reason="bitsandbytes is there"),
        ),
        ({"pretrained": "/there/is/no/such/folder"}, "there is no folder /there/is/no/such/folder"),
        ({"peft": "/there/is/no/such/folder"}, "cannot load the adapter"),
    ],
)
def test_arguments(arguments: dict[str, Any], message: str | None, build: Callable[..., FigLangVLM]) -> None:
    if message is None:
        assert build(**arguments).model.dtype == torch.float32
        return
    with pytest.raises(FigLangError) as caught:
        build(**arguments)
    assert message in str(caught.value)


def test_a_processor_without_template_is_named(
    checkpoint: Callable[[str], str], tmp_path: Path, build: Callable[..., FigLangVLM]
) -> None:
    processor = vlm.vlm_loading.load_processor(checkpoint("llava"))
    processor.chat_template = processor.tokenizer.chat_template = None
    processor.save_pretrained(tmp_path)
    shutil.copy(Path(checkpoint("llava")) / "config.json", tmp_path)
    with pytest.raises(FigLangError, match="has no chat template"):
        build(pretrained=str(tmp_path))


def test_arguments_as_the_harness_passes_them(checkpoint: Callable[[str], str]) -> None:
    lm = FigLangVLM.create_from_arg_string(
        f"pretrained={checkpoint('llava')},dtype=bfloat16,attn_implementation=eager,device_map=cpu",
        {"batch_size": "2", "max_batch_size": None, "device": None},
    )
    assert (lm.batch_size, lm.model.dtype, lm.device.type) == (2, torch.bfloat16, "cpu")
    assert lm.config._attn_implementation == "eager"
    assert (lm.rank, lm.world_size, lm.is_simple) == (0, 1, False)
    lm.clean()
    assert not hasattr(lm, "_model") and lm._scorer is None


def test_device_map_and_dtype() -> None:
    class Process:
        num_processes = 1
        device = torch.device("cuda")

    place, dtype = vlm.vlm_loading.placement, vlm.vlm_loading.dtype_for
    process: Any = Process()
    assert place(process, None, None) == {"": torch.device("cuda")}
    assert place(process, "cpu", "") == place(process, None, "cpu") == {"": torch.device("cpu")}
    assert place(process, "cuda:1", None) == {"": torch.device("cuda:1")}
    assert place(process, "cuda", "auto") == "auto"
    assert dtype(None, {"": torch.device("cuda")}) == dtype(None, "auto") == "auto"
    assert dtype(None, {"": torch.device("cpu")}) == torch.float32
    process.num_processes = 2
    assert place(process, "cuda", None) == {"": torch.device("cuda")}
    with pytest.raises(FigLangError, match="2 processes"):
        place(process, None, "auto")


# --- answers in numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["llava", "qwen2_5_vl", "gemma3", "mllama"])
def test_order_budget_and_number_of_candidates_are_irrelevant(
    family: str, build: Callable[..., FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = build(family)
    words = ["a mule", "the house", "snail and sun", "yes", "an image of nobody"]
    texts = [f"{a} {b}" for a in words for b in words] + words
    given = scores(lm, CONVERSATIONS[1], kind="candidates", candidates=texts)
    turned = scores(lm, CONVERSATIONS[1], kind="candidates", candidates=texts[::-1])
    assert turned[::-1] == pytest.approx(given, abs=1e-4)
    rows = []
    forward = lm.model.forward

    def count(*args: Any, **options: Any) -> Any:
        rows.append(options["input_ids"].shape[0])
        return forward(*args, **options)

    lm.model.forward = functools.wraps(forward)(count)
    monkeypatch.setattr(vlm_scoring, "MAX_TOKENS", 40)
    assert scores(lm, CONVERSATIONS[1], kind="candidates", candidates=texts) == pytest.approx(given, abs=1e-4)
    assert 1 < max(rows) <= 20 and len(rows) > 4
    monkeypatch.setattr(vlm_scoring, "MAX_POSITIONS", 1)
    rows.clear()
    assert scores(lm, CONVERSATIONS[1], kind="candidates", candidates=texts[:9]) == pytest.approx(given[:9], abs=1e-4)
    assert max(rows) == 1


def test_candidates_halve_their_batch_out_of_memory(
    build: Callable[..., FigLangVLM], warnings_of_loguru: list[str]
) -> None:
    lm = build()
    expected = scores(lm, CONVERSATIONS[0], kind="candidates", candidates=CANDIDATES * 3)
    limit_batch(lm, 1)
    assert scores(lm, CONVERSATIONS[0], kind="candidates", candidates=CANDIDATES * 3) == pytest.approx(
        expected, abs=1e-5
    )
    assert any(
        "out of memory with a batch of 3 (candidate of" in message and "going on with 1" in message
        for message in warnings_of_loguru
    )


def test_a_cache_of_another_kind_is_not_shared(build: Callable[..., FigLangVLM], warnings_of_loguru: list[str]) -> None:
    lm = build()
    expected = scores(lm, CONVERSATIONS[1], kind="candidates", candidates=CANDIDATES)
    lm = build()
    lm.model.generation_config.cache_implementation = "static"
    for _ in range(2):
        found = scores(lm, CONVERSATIONS[1], kind="candidates", candidates=CANDIDATES)
        assert found == pytest.approx(expected, abs=1e-4)
    assert len(warnings_of_loguru) == 1 and "StaticLayer cannot be shared" in warnings_of_loguru[0]
    with pytest.raises(TypeError, match="NoneType"):
        SharedPrefix(None, 2)


def test_the_prompt_keeps_its_tokens(build: Callable[..., FigLangVLM]) -> None:
    """The demo model's template ends in "ASSISTANT: "; as one text, its space would join the answer's first word."""
    lm = build(pretrained=str(DEMO_MODEL_DIR))
    prompt = lm._render("here", vlm.ChatMessages(messages=CONVERSATIONS[0]).to_hf_messages())
    assert prompt.text.endswith("ASSISTANT: ") and joiner(prompt.text, lm.tokenizer) == ""
    tokens = answer_tokens(lm.tokenizer, prompt.text, ["The image", "A mule", " mule"], False)
    assert [lm.tokenizer.decode(ids) for ids in tokens] == ["The image", "A mule", " mule"]
    found = scores(lm, CONVERSATIONS[0], kind="candidates", candidates=["The image", "A mule"])
    assert found[0] > -0.5 > -5 > found[1], "it learned to begin with: The image"
    with pytest.raises(ValueError, match="has no token"):
        answer_tokens(lm.tokenizer, prompt.text, ["The image", ""], False)


@pytest.mark.parametrize(
    ("prompt", "between"),
    [("ASSISTANT:", " "), ("assistant\n", ""), ("a ", ""), ("<|im_end|>", ""), ("", ""), ("x>", " ")],
)
def test_a_space_stands_between_words_and_answer(prompt: str, between: str, built: Callable[[str], FigLangVLM]) -> None:
    assert joiner(prompt, built("qwen2_5_vl").tokenizer) == between


@pytest.mark.parametrize("family", EACH)
def test_match_scores_each_image_alone(
    family: str, built: Callable[[str], FigLangVLM], monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = built(family)
    monkeypatch.setattr(lm, "batch_size", 2)
    question = text("Does it match?")
    pictures = [image(1), image(2), image(3, 40)]
    together = scores(lm, [user(*pictures, question)], kind="match")
    alone = [scores(lm, [user(picture, question)], kind="match")[0] for picture in pictures]
    assert together == pytest.approx(alone, abs=1e-5)
    assert all(0 < score < 1 for score in together) and len(set(together)) == 3
    turned = scores(lm, [user(image(1), question)], kind="match", yes="No", no="Yes")
    assert turned == pytest.approx([1 - alone[0]])


def test_match_is_the_share_of_yes_among_the_first_tokens(built: Callable[[str], FigLangVLM]) -> None:
    lm = built("qwen2_5_vl")
    [found] = scores(lm, CONVERSATIONS[0], kind="match", yes="the", no="and")
    prompt = lm._render("here", vlm.ChatMessages(messages=CONVERSATIONS[0]).to_hf_messages())
    with torch.inference_mode():
        probabilities = lm.model(**lm._inputs([prompt])).logits[0, -1].softmax(-1)
    yes, no = (
        sum(probabilities[lm.tokenizer(spelling)["input_ids"][0]].item() for spelling in (word, f" {word}"))
        for word in ("the", "and")
    )
    assert found == pytest.approx(yes / (yes + no), rel=1e-4)


def test_match_needs_an_image_and_two_different_words(built: Callable[[str], FigLangVLM]) -> None:
    lm = built("llava")
    with pytest.raises(VLMError, match="doc 0: ValueError: .*needs an image"):
        scores(lm, CONVERSATIONS[2], kind="match")
    with pytest.raises(VLMError, match="begin with the same token"):
        scores(lm, CONVERSATIONS[0], kind="match", yes="the mule", no="the house")


def test_a_wrong_score_request_names_its_document(built: Callable[[str], FigLangVLM]) -> None:
    with pytest.raises(VLMError, match="task probe, doc 0: ScoreRequestError: .*no column 'statements'"):
        scores(built("llava"), CONVERSATIONS[0], kind="candidates", candidates="statements")


# --- adapters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["llava", pytest.param("qwen2_5_vl", marks=pytest.mark.slow)])
def test_adapters(family: str, build: Callable[..., FigLangVLM], tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model

    plain = build(family)
    expected = asked(plain, CONVERSATIONS, GREEDY)
    exact = scores(plain, CONVERSATIONS[1], kind="candidates", candidates=CANDIDATES)
    adapted = get_peft_model(plain.model, LoraConfig(r=2, target_modules=r".*language_model.*\.[qv]_proj"))
    adapted.save_pretrained(str(tmp_path / "zero"))
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight.data, std=0.5)
    adapted.save_pretrained(str(tmp_path / "other"))
    zero, other = (build(family, peft=str(tmp_path / name)) for name in ("zero", "other"))
    assert asked(zero, CONVERSATIONS, GREEDY) == expected
    assert scores(zero, CONVERSATIONS[1], kind="candidates", candidates=CANDIDATES) == exact
    assert asked(other, CONVERSATIONS, GREEDY) != expected


# --- through the harness ---------------------------------------------------------------------------------------------


def evaluate(model: Any, tasks: list[str], include: Path | None = None, **options: Any) -> list[str]:
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=[str(include)] if include else None)
    results = simple_evaluate(model=model, tasks=tasks, task_manager=manager, bootstrap_iters=0, **options)
    assert results is not None
    answers = sorted((sample["doc_id"], sample["filtered_resps"][0]) for sample in results["samples"][tasks[0]])
    return [answer for _, answer in answers]


@pytest.mark.parametrize("beams", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_answers_of_the_demo_model_are_those_of_the_harness_class(beams: int) -> None:
    llava_hf = pytest.importorskip("lmms_eval.models.chat.llava_hf", exc_type=ImportError)  # it imports decord
    options: dict[str, Any] = {"limit": 4, "gen_kwargs": f"num_beams={beams}"}
    ours = FigLangVLM(str(DEMO_MODEL_DIR), device="cpu", batch_size=3)
    answers = evaluate(ours, ["figlang_mini"], **options)
    theirs = llava_hf.LlavaHf(pretrained=str(DEMO_MODEL_DIR), device="cpu", device_map="cpu")
    assert answers == evaluate(theirs, ["figlang_mini"], **options)
    assert len(answers) == 4 and all("LABEL:" in answer for answer in answers)


TASK = """
task: scored_probe
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: gold
doc_to_visual: !function scored_probe.doc_to_visual
doc_to_messages: !function scored_probe.doc_to_messages
process_results: !function scored_probe.process_results
num_fewshot: 0
generation_kwargs:
  max_new_tokens: 4
  num_beams: 1
  do_sample: false
  temperature: 0
  top_p: null
  until: []
  figlang_score: {kind: candidates, candidates: statements}
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
"""
FUNCTIONS = """
from PIL import Image
from figlang_tasks.core.score_requests import read_answer

def doc_to_visual(doc):
    return [Image.new("RGB", (40, 30), colour) for colour in doc["colours"]]

def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    return [{"role": "user", "content": [*images, {"type": "text", "text": doc["question"]}]}]

def process_results(doc, results):
    scores = read_answer(results[0])
    return {"acc": float(scores.index(max(scores)) == doc["gold"])}
"""


@pytest.fixture
def scored_task(tmp_path: Path) -> Path:
    folder = tmp_path / "task"
    folder.mkdir()
    (folder / "scored_probe.yaml").write_text(TASK)
    (folder / "scored_probe.py").write_text(FUNCTIONS)
    rows = [
        {"question": f"What fits, {name}?", "colours": colours, "statements": statements, "gold": 0}
        for name, colours, statements in (
            ("Ann", ["red"], ["the mule is stubborn", "no"]),
            ("Bob", ["red", "blue"], ["a burning house", "the sun", "the snail is slow"]),
            ("Cyd", ["green"], ["yes", "no"]),
        )
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def test_a_score_task_through_the_harness_and_its_cache(
    checkpoint: Callable[[str], str], scored_task: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_args = f"pretrained={checkpoint('qwen2_5_vl')},device=cpu"
    options: dict[str, Any] = {"include": scored_task, "use_cache": str(tmp_path / "cache"), "model_args": model_args}
    cached = functools.partial(evaluate, "figlang_vlm", ["scored_probe"], **options)
    answers = cached()
    found = [read_answer(answer) for answer in answers]
    assert [len(scores or []) for scores in found] == [2, 3, 2]
    assert all(math.isfinite(score) and score <= 0 for scores in found for score in scores or [])
    monkeypatch.setattr(FigLangVLM, "generate_until", None)
    assert cached() == answers, "the second run asks the cache alone"
