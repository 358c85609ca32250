"""`figlang_vlm` answers and scores as transformers does, on each of some fifty architectures."""

from __future__ import annotations

import functools
import runpy
from pathlib import Path
from typing import Any

import pytest
import tiny_models
import torch
import transformers
from documents import ROOT
from PIL import Image
from tiny_models import FAMILIES, Family
from vlm_requests import CANDIDATES, GREEDY, asked, image, scores, text, user

from figlang_tasks import FigLangError
from figlang_tasks.models.vlm import FigLangVLM, VLMError
from figlang_tasks.models.vlm_answer_tokens import separator_before_answer

ONE_PICTURE = [
    [user(image(1), text("What is it?"))],
    [user(image(2, 40), text("A longer question about the picture: what can it mean?"))],
    [user(image(3, 88), text("Is it a mule?"))],
    [
        user(
            image(4),
            text("Which of the two, a house or a snail, is the one that nobody sees here?"),
        )
    ],
]
FOUR_PICTURES = [user(image(5), image(6), image(7), image(8), text("Which of them shows a mule?"))]
NO_PICTURE = [user(text("What is a mule, if nobody sees it?"))]
# Nats of a text's whole score, which is summed in another order in float32.
TOLERANCE = 2e-5


class Reference:
    """The same checkpoint by transformers alone."""

    def __init__(self, family: Family, folder: Path) -> None:
        self.mark = family.mark
        self.processor = transformers.AutoProcessor.from_pretrained(folder)
        template = self.processor.chat_template or self.processor.tokenizer.chat_template
        self.render = functools.partial(
            self.processor.apply_chat_template, chat_template=template, add_generation_prompt=True
        )
        config = transformers.AutoConfig.from_pretrained(folder)
        options = {"config": getattr(config, "thinker_config", config), "dtype": torch.float32}
        self.model = getattr(transformers, family.auto).from_pretrained(folder, **options).eval()

    def messages(self, messages: list[dict]) -> list[dict]:
        """The messages of a task in the form of transformers."""
        hf_messages: list[dict] = []
        for message in messages:
            content: list[dict] = []
            for part in message["content"]:
                if part["type"] == "image":
                    part = {"type": "image", "image": part["url"]}
                content.append(part)
            hf_messages.append({**message, "content": content})
        return hf_messages

    def pictures(self, messages: list[dict]) -> list[Image.Image]:
        """The pictures of messages, in their order."""
        pictures: list[Image.Image] = []
        for message in messages:
            for part in message["content"]:
                if part["type"] == "image":
                    pictures.append(part["url"])
        return pictures

    def inputs(self, messages: list[dict]) -> Any:
        """The model's inputs."""
        if self.mark:  # Idefics 1: texts and pictures stand in one list
            first_text, *later_texts = self.prompt(messages).split(self.mark)
            parts: list[str | Image.Image] = [first_text]
            for picture, later_text in zip(self.pictures(messages), later_texts, strict=True):
                parts += [picture, later_text]
            return self.processor(text=[parts])
        tensors = self.render(
            self.messages(messages), tokenize=True, return_dict=True, return_tensors="pt"
        )
        return tensors.to(dtype=torch.float32)

    def prompt(self, messages: list[dict]) -> str:
        return self.render(self.messages(messages), tokenize=False)

    def answer(self, messages: list[dict]) -> str:
        inputs = self.inputs(messages)
        generated = self.model.generate(
            **inputs, max_new_tokens=GREEDY["max_new_tokens"], do_sample=False
        )
        return self.processor.tokenizer.decode(
            generated[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True
        )

    def tokens(self, messages: list[dict], candidate: str) -> list[int]:
        prompt = self.prompt(messages)
        end = self.processor.tokenizer.decode(self.inputs(messages)["input_ids"][0, -1:])
        if end.isspace():  # PaliGemma's processor adds a line break
            prompt += end
        answer = separator_before_answer(prompt, self.processor.tokenizer) + candidate
        return self.processor.tokenizer(answer, add_special_tokens=False)["input_ids"]

    def step_by_step(self, messages: list[dict], tokens: list[int]) -> float:
        """The log-probability of an answer's tokens, which `generate` is made to give."""
        inputs = self.inputs(messages)
        start = inputs["input_ids"].shape[1]

        def next_token(batch_index: int, sequence: torch.Tensor) -> list[int]:
            return [tokens[len(sequence) - start]]

        output = self.model.generate(
            **inputs,
            max_new_tokens=len(tokens),
            do_sample=False,
            prefix_allowed_tokens_fn=next_token,
            output_logits=True,
            return_dict_in_generate=True,
        )
        assert output.sequences[0, start:].tolist() == tokens
        log_prob = 0.0
        for logits, token in zip(output.logits, tokens, strict=True):
            log_prob += logits[0].float().log_softmax(-1)[token].item()
        return log_prob


def inputs_of_generate(lm: FigLangVLM, messages: list[dict]) -> dict:
    """What the model's `generate` gets when the request is answered."""
    calls: list[dict] = []
    generate = lm.model.generate

    def generate_and_note(**options: object) -> torch.Tensor:
        calls.append(options)
        return generate(**options)

    lm.model.generate = generate_and_note
    try:
        asked(lm, [messages], GREEDY | {"max_new_tokens": 1})
    finally:
        del lm.model.generate
    return calls[0]


def check_family(family: Family, folder: Path) -> None:
    """Check what is declared of a family against what happens, and against transformers."""
    if "load" in family.refused:
        with pytest.raises(FigLangError, match=family.refused["load"]):
            FigLangVLM(str(folder), device="cpu")
        return
    lm = FigLangVLM(str(folder), device="cpu", batch_size=4)
    reference = Reference(family, folder)
    conversations = {
        "one picture": ONE_PICTURE[0],
        "four pictures": FOUR_PICTURES,
        "no picture": NO_PICTURE,
    }
    for name in set(conversations) & set(family.refused):
        with pytest.raises(VLMError, match=family.refused[name]):
            asked(lm, [conversations.pop(name)], GREEDY)
    if "one picture" not in conversations:
        return
    check_inputs(lm, reference, conversations)
    check_moves(reference, family)
    assert lm.batch_size == (1 if family.one_at_a_time else 4)
    check_answers(lm, reference, [*ONE_PICTURE, *list(conversations.values())[1:]])
    check_scores(lm, reference, conversations)
    assert lm.scorer.uses_shared_prefix == family.fast, "the path that candidates take"


def check_inputs(
    lm: FigLangVLM, reference: Reference, conversations: dict[str, list[dict]]
) -> None:
    """Check that the model gets the same tensors."""
    for name, messages in conversations.items():
        inputs = inputs_of_generate(lm, messages)
        for input_name, tensor in reference.inputs(messages).items():
            assert torch.equal(tensor, inputs[input_name]), f"{name}: {input_name}"


def check_moves(reference: Reference, family: Family) -> None:
    """Check whether the chat template moves a picture before the text that precedes it."""
    picture_first = [user(image(1), text("One."), text("Two."))]
    picture_between = [user(text("One."), image(1), text("Two."))]
    moves = reference.prompt(picture_first) == reference.prompt(picture_between)
    assert moves == bool(family.moves)


def check_answers(lm: FigLangVLM, reference: Reference, conversations: list[list[dict]]) -> None:
    """Check that the answers in words are the same."""
    answers = [reference.answer(messages) for messages in conversations]
    assert asked(lm, conversations, GREEDY) == answers
    assert len(set(answers)) > 2, f"a model that says one thing proves nothing: {answers}"


def check_scores(
    lm: FigLangVLM, reference: Reference, conversations: dict[str, list[dict]]
) -> None:
    """Check that candidates have the log-probabilities of a decoding token by token."""
    for name, messages in conversations.items():
        expected: list[float] = []
        for candidate in CANDIDATES:
            tokens = reference.tokens(messages, candidate)
            expected.append(reference.step_by_step(messages, tokens))
        candidate_scores = scores(lm, messages, kind="candidates", candidates=CANDIDATES)
        assert candidate_scores == pytest.approx(expected, abs=TOLERANCE), name


def marks(family: Family) -> list[pytest.MarkDecorator]:
    old = pytest.mark.skipif(
        tiny_models.IS_TRANSFORMERS_4, reason="many of these architectures came with transformers 5"
    )
    broken = pytest.mark.skipif(
        transformers.__version__ == family.broken_in, reason="transformers' own forward fails"
    )
    return [pytest.mark.slow if family.ci else pytest.mark.families, old, broken]


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=marks(family)) for key, family in FAMILIES.items()]
)
@torch.inference_mode()
def test_family(key: str, tmp_path: Path) -> None:
    if FAMILIES[key].needs:
        pytest.importorskip(FAMILIES[key].needs)
    check_family(FAMILIES[key], tiny_models.write_vlm(key, tmp_path, matrix=True))


def test_the_table_of_the_document_is_the_matrix() -> None:
    tool = runpy.run_path(str(ROOT / "tools" / "families_table.py"))
    assert tool["DOCUMENT"].read_text(encoding="utf-8") == tool["document"](), (
        "make families-table writes it anew"
    )
