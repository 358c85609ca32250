"""The shipped demo model, and the script that trains it."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from PIL import Image
from transformers import AutoProcessor, LlavaForConditionalGeneration

from figlang_tasks.core.prompting import render
from figlang_tasks.mini import DEMO_MODEL_DIR
from tools.mini.build import picture
from tools.mini.texts import rows

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "train_demo_model.py"


@pytest.fixture(scope="module")
def trainer() -> ModuleType:
    """`tools/train_demo_model.py` as a module; `tools` is no package."""
    spec = importlib.util.spec_from_file_location("train_demo_model", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["train_demo_model"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def model() -> LlavaForConditionalGeneration:
    return LlavaForConditionalGeneration.from_pretrained(DEMO_MODEL_DIR, dtype="auto")


@pytest.fixture(scope="module")
def processor() -> Any:
    return AutoProcessor.from_pretrained(DEMO_MODEL_DIR)


def _question(claim: str, instruction: int = 1) -> str:
    return render("vflute/question.jinja", instruction=instruction, claim=claim)


def _user(claim: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": _question(claim)}]}


def _generate(model: Any, processor: Any, messages: list[Any], images: list[Image.Image], **kwargs: Any) -> list[int]:
    """New token ids, generated with the arguments that the harness passes."""
    text = processor.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    inputs = processor(images=images, text=text, return_tensors="pt")
    eos = processor.tokenizer.eos_token_id
    settings = {"do_sample": False, "max_new_tokens": 100, "pad_token_id": eos, "eos_token_id": eos, **kwargs}
    with torch.inference_mode():
        ids = model.generate(**inputs, **settings)
    return ids[0, inputs["input_ids"].shape[1] :].tolist()


def test_folder_is_small_and_carries_a_card() -> None:
    assert sum(path.stat().st_size for path in DEMO_MODEL_DIR.rglob("*") if path.is_file()) <= 8_000_000
    card = (DEMO_MODEL_DIR / "README.md").read_text(encoding="utf-8")
    assert "license: apache-2.0" in card
    assert "held-out synthetic examples" in card


def test_weights_are_half_on_disk_and_single_in_memory(model: LlavaForConditionalGeneration) -> None:
    config = json.loads((DEMO_MODEL_DIR / "config.json").read_text(encoding="utf-8"))
    assert config["dtype"] == "float32"
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    count = sum(p.numel() for p in model.parameters())
    assert (DEMO_MODEL_DIR / "model.safetensors").stat().st_size < 2.1 * count


@pytest.mark.slow
def test_accuracy_on_the_benchmark(trainer: ModuleType, model: LlavaForConditionalGeneration, processor: Any) -> None:
    """Greedy answers on every other test row: they parse, and they beat the majority label by 15 points."""
    test = rows("test")[::2]
    texts = trainer.answer(
        model,
        processor,
        [picture(row) for row in test],
        [_question(row.claim, 1 + i % 21) for i, row in enumerate(test)],
    )
    labels = [trainer.predicted_label(text) for text in texts]
    assert sum(label is not None for label in labels) / len(test) >= 0.95
    majority = max(Counter(row.label for row in test).values()) / len(test)
    accuracy = sum(label == row.label for label, row in zip(labels, test, strict=True)) / len(test)
    assert accuracy > majority + 0.15
    # and it looks at the picture: it names the pictured thing nearly always
    named = sum(trainer.MEANINGS[row.concept].noun in text for text, row in zip(texts, test, strict=True))
    assert named / len(test) >= 0.9


def test_answer_stops_by_itself_and_has_the_form(model: LlavaForConditionalGeneration, processor: Any) -> None:
    row = rows("test")[0]
    ids = _generate(model, processor, [_user(row.claim)], [picture(row)])
    assert ids[-1] == processor.tokenizer.eos_token_id
    text = processor.tokenizer.decode(ids, skip_special_tokens=True)
    explanation, _, last = text.rpartition("\n")
    assert explanation
    assert last in ("LABEL: entailment", "LABEL: contradiction")


def test_beam_search_of_the_paper(model: LlavaForConditionalGeneration, processor: Any) -> None:
    row = rows("test")[1]
    ids = _generate(model, processor, [_user(row.claim)], [picture(row)], num_beams=3, max_new_tokens=256)
    assert "LABEL: " in processor.tokenizer.decode(ids)


def test_chat_and_plain_string_prompts_are_the_same(processor: Any) -> None:
    """The chat backend sends content lists, the simple one a string that starts with the image token."""
    question = _question("Time is a thief.")
    chat = processor.apply_chat_template([_user("Time is a thief.")], tokenize=False, add_generation_prompt=True)
    plain = processor.tokenizer.apply_chat_template(
        [{"role": "user", "content": f"<image>\n{question}"}], tokenize=False, add_generation_prompt=True
    )
    assert chat == plain
    assert chat.count("<image>") == 1
    inputs = processor(images=[Image.new("RGB", (10, 10))], text=chat, return_tensors="pt")
    assert (inputs["input_ids"] == processor.tokenizer.convert_tokens_to_ids("<image>")).sum() == 36
    assert (inputs["input_ids"] == processor.tokenizer.bos_token_id).sum() == 1


def test_five_pictures_in_several_turns(model: LlavaForConditionalGeneration, processor: Any) -> None:
    shots = rows("train")[:4]
    messages: list[Any] = []
    for row in shots:
        said = f"{row.explanation}\nLABEL: {row.label}"
        messages += [_user(row.claim), {"role": "assistant", "content": [{"type": "text", "text": said}]}]
    last = rows("test")[0]
    images = [picture(row) for row in [*shots, last]]
    assert _generate(model, processor, [*messages, _user(last.claim)], images, max_new_tokens=20)


@pytest.mark.parametrize("claim", ["", "\U0001f525\U0001f434 is 头疼 \x00 \u202e!", "word " * 400])
def test_any_claim_can_be_asked(model: LlavaForConditionalGeneration, processor: Any, claim: str) -> None:
    assert _generate(model, processor, [_user(claim)], [Image.new("RGB", (20, 20))], max_new_tokens=10)


@pytest.mark.parametrize("size", [(1, 1), (3000, 3000), (3000, 2)])
@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA"])
def test_any_picture_can_be_shown(
    model: LlavaForConditionalGeneration, processor: Any, size: tuple[int, int], mode: str
) -> None:
    if size == (1, 1) and int(version("transformers").partition(".")[0]) < 5:
        pytest.skip("transformers 4 takes 1 x 1 x 3 for a picture of one channel, and refuses it")
    assert _generate(model, processor, [_user("It is a mule.")], [Image.new(mode, size)], max_new_tokens=5)


@pytest.mark.parametrize("text", ["plain words", "\U0001f525 naïve 中文 \u0000\u202e", "  two  blanks\n\n", "<s> </s"])
def test_tokenizer_gives_back_any_text(processor: Any, text: str) -> None:
    ids = processor.tokenizer(text, add_special_tokens=False)["input_ids"]
    assert processor.tokenizer.decode(ids, clean_up_tokenization_spaces=False) == text


def test_training_data_keeps_off_the_benchmark(trainer: ModuleType) -> None:
    stream = list(itertools.islice(trainer.examples(7, 0, 120), 20_000))
    claims = {example.claim.casefold() for example in stream}
    pictures = {(example.concept, example.seed) for example in stream}
    for split in ("train", "test"):
        assert not claims & {row.claim.casefold() for row in rows(split)}
        used = {(row.concept, row.seed) for row in rows(split)}
        assert not pictures & used
        assert not set(trainer.training_pictures(120)) & used
    entailed = sum(example.label == "entailment" for example in stream) / len(stream)
    assert 0.45 < entailed < 0.55
    assert len(claims) > 10_000


def test_training_data_is_seeded(trainer: ModuleType) -> None:
    first, again, other = (list(itertools.islice(trainer.examples(seed, 0, 9), 50)) for seed in (3, 3, 4))
    assert first == again != other


def test_a_claim_of_the_benchmark_is_thrown_away(trainer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = trainer.examples(3, 0, 9)
    first = next(stream)
    monkeypatch.setattr(trainer, "benchmark_claims", lambda: frozenset({first.claim.casefold()}))
    assert first.claim.casefold() not in {e.claim.casefold() for e in itertools.islice(trainer.examples(3, 0, 9), 200)}


def test_labels_of_the_training_answers(trainer: ModuleType) -> None:
    for example in itertools.islice(trainer.examples(5, 0, 9), 300):
        assert example.answer.endswith(f"\nLABEL: {example.label}")
        assert trainer.predicted_label(example.answer) == example.label
    assert trainer.predicted_label("no label here") is None
    assert trainer.predicted_label("LABEL: neither") is None


@pytest.mark.slow
def test_script_trains_and_its_result_loads(trainer: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    assert (
        trainer.main(["--output", str(folder), "--steps", "2", "--pictures", "1", "--held-out", "4", "--seed", "1"])
        == 0
    )
    model = LlavaForConditionalGeneration.from_pretrained(folder, dtype="auto")
    processor = AutoProcessor.from_pretrained(folder)
    assert _generate(model, processor, [_user("Hello.")], [Image.new("RGB", (9, 9))], max_new_tokens=3)
    assert "4 steps of picture naming, 4 steps of short lessons" in (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", ["chat", "simple"])
def test_backend_of_the_harness_answers(path: str) -> None:
    """lmms-eval's own LLaVA classes load the folder and answer a test row."""
    pytest.importorskip("decord")  # imported by the harness's backend
    backend = importlib.import_module(f"lmms_eval.models.{path}.llava_hf").LlavaHf
    instance = importlib.import_module("lmms_eval.api.instance").Instance
    row = rows("test")[0]
    image, question = picture(row), _question(row.claim)
    message = {"role": "user", "content": [{"type": "image", "url": image}, {"type": "text", "text": question}]}
    settings = {"max_new_tokens": 100, "temperature": 0, "do_sample": False, "top_p": None, "num_beams": 1}
    arguments = {
        "chat": ("", lambda doc: [message], settings, 0, "task", "test"),
        "simple": (question, settings, lambda doc: [image], 0, "task", "test"),
    }[path]
    lm = backend(pretrained=str(DEMO_MODEL_DIR), device="cpu", device_map="cpu")
    lm.task_dict = {"task": {"test": [None]}}
    metadata = {"task": "task", "doc_id": 0, "repeats": 1}
    [answer] = lm.generate_until(
        [instance(request_type="generate_until", arguments=arguments, idx=0, metadata=metadata)]
    )
    text = answer if isinstance(answer, str) else answer.text
    assert text.startswith("The image shows a mule")
    assert text.rpartition("\n")[2] in ("LABEL: entailment", "LABEL: contradiction")
