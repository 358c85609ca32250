"""`figlang_vlm` answers or scores in another way than transformers on some architecture if this
fails.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import families
import pytest
import tiny_vlms
import torch
import transformers
from families import FAMILIES, Family
from vlm_requests import CANDIDATES, GREEDY, asked, image, scores, text, user

from figlang_tasks import FigLangError
from figlang_tasks.models.vlm import FigLangVLM, VLMError
from figlang_tasks.models.vlm_answer_tokens import joiner

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
# Nats, of a text's whole score: float32, summed in another order.
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
        return [
            {
                **m,
                "content": [
                    {"type": "image", "image": p["url"]} if p["type"] == "image" else p
                    for p in m["content"]
                ],
            }
            for m in messages
        ]

    def pictures(self, messages: list[dict]) -> list[Any]:
        return [
            part["url"]
            for message in messages
            for part in message["content"]
            if part["type"] == "image"
        ]

    def inputs(self, messages: list[dict]) -> Any:
        if self.mark:
            texts, pictures = self.prompt(messages).split(self.mark), self.pictures(messages)
            parts = [
                texts[0],
                *(part for pair in zip(pictures, texts[1:], strict=True) for part in pair),
            ]
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
        answer = joiner(prompt, self.processor.tokenizer) + candidate
        return self.processor.tokenizer(answer, add_special_tokens=False)["input_ids"]

    def step_by_step(self, messages: list[dict], tokens: list[int]) -> float:
        """The log-probability of tokens that `generate` is made to give: what the model answers
        by.
        """
        inputs = self.inputs(messages)
        start = inputs["input_ids"].shape[1]
        out = self.model.generate(
            **inputs,
            max_new_tokens=len(tokens),
            do_sample=False,
            prefix_allowed_tokens_fn=lambda _, given: [tokens[len(given) - start]],
            output_logits=True,
            return_dict_in_generate=True,
        )
        assert out.sequences[0, start:].tolist() == tokens
        return sum(
            step[0].float().log_softmax(-1)[i].item()
            for step, i in zip(out.logits, tokens, strict=True)
        )


def given_to_the_model(lm: FigLangVLM, messages: list[dict]) -> dict[str, Any]:
    """What the model's `generate` gets when the request is answered."""
    given: list[dict[str, Any]] = []
    generate = lm.model.generate

    def noted(**options: Any) -> Any:
        given.append(options)
        return generate(**options)

    lm.model.generate = noted
    try:
        asked(lm, [messages], GREEDY | {"max_new_tokens": 1})
    finally:
        del lm.model.generate
    return given[0]


def check(family: Family, folder: Path) -> None:
    """Compare what is declared of the family with what happens.

    Raises:
        AssertionError: it is otherwise.
    """
    if "load" in family.refused:
        with pytest.raises(FigLangError, match=family.refused["load"]):
            FigLangVLM(str(folder), device="cpu")
        return
    lm = FigLangVLM(str(folder), device="cpu", batch_size=4)
    reference = Reference(family, folder)
    prompts = {
        "one picture": ONE_PICTURE[0],
        "four pictures": FOUR_PICTURES,
        "no picture": NO_PICTURE,
    }
    for kind in set(prompts) & set(family.refused):
        with pytest.raises(VLMError, match=family.refused[kind]):
            asked(lm, [prompts.pop(kind)], GREEDY)
    if not prompts.get("one picture"):
        return

    for kind, messages in prompts.items():
        expected, given = reference.inputs(messages), given_to_the_model(lm, messages)
        for name, value in expected.items():
            assert torch.equal(value, given[name]), f"{kind}: {name}"
    before, after = (
        [user(*parts)]
        for parts in (
            (image(1), text("One."), text("Two.")),
            (text("One."), image(1), text("Two.")),
        )
    )
    assert (reference.prompt(before) == reference.prompt(after)) == bool(family.moves), (
        "where pictures stand"
    )

    rows = [*ONE_PICTURE, *list(prompts.values())[1:]]
    answers = [reference.answer(messages) for messages in rows]
    assert lm.batch_size == (1 if family.one_at_a_time else 4)
    assert asked(lm, rows, GREEDY) == answers
    assert len(set(answers)) > 2, f"a model that says one thing proves nothing: {answers}"

    for kind, messages in prompts.items():
        found = scores(lm, messages, kind="candidates", candidates=CANDIDATES)
        by_steps = [
            reference.step_by_step(messages, reference.tokens(messages, each))
            for each in CANDIDATES
        ]
        assert found == pytest.approx(by_steps, abs=TOLERANCE), kind
    assert lm.scorer.shared == family.fast, "the path that candidates take"


def marks(family: Family) -> list[Any]:
    old = pytest.mark.skipif(
        tiny_vlms.OLD, reason="many of these architectures came with transformers 5"
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
    check(FAMILIES[key], tiny_vlms.write(key, tmp_path, matrix=True))


def test_the_table_of_the_document_is_the_matrix() -> None:
    assert families.DOCUMENT.read_text(encoding="utf-8") == families.document(), (
        "make families-table writes it anew"
    )
