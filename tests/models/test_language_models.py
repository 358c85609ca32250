"""``figlang_vlm`` with a language model answers tasks without pictures, and refuses others."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_models
import torch
import transformers as hf
from demo_runs import answers, evaluate, mini_tasks

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.models.vlm import FigLangVLM
from figlang_tasks.models.vlm_scoring import Scorer

# As SmolLM2's: a template that adds the content of a message to texts, and fails on a list of
# parts.
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content']"
    " + '<|im_end|>\\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n'"
    " }}{% endif %}"
)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.write_language_model(tmp_path_factory.mktemp("llama"), TEMPLATE)


def test_answers_are_those_of_transformers_in_batches_of_any_size(checkpoint: Path) -> None:
    task = "figlang_mini_flute"
    answers_by_size: dict[int, dict[int, str]] = {}
    for size in (1, 3):
        model = FigLangVLM(str(checkpoint), device="cpu", batch_size=size)
        results = evaluate(task, model, limit=4, gen_kwargs="max_new_tokens=6")
        answers_by_size[size] = answers(results, task)
    assert answers_by_size[1] == answers_by_size[3]
    assert len(set(answers_by_size[1].values())) > 1

    tokenizer = hf.AutoTokenizer.from_pretrained(checkpoint)
    reference = hf.AutoModelForCausalLM.from_pretrained(checkpoint)
    messages = [{"role": "user", "content": results["samples"][task][0]["arguments"][0]}]
    prompt = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    inputs = tokenizer(prompt, return_tensors="pt")
    output = reference.generate(**inputs, max_new_tokens=6, do_sample=False)
    answer_tokens = output[0, inputs["input_ids"].shape[1] :]
    assert tokenizer.decode(answer_tokens, skip_special_tokens=True) == answers_by_size[1][0]


def test_candidate_scores_are_those_of_one_pass(checkpoint: Path) -> None:
    model = FigLangVLM(str(checkpoint), device="cpu")
    texts = ["Entails", "It contradicts the claim"]
    prompt = model.processor.apply_chat_template(
        [{"role": "user", "content": "Which?"}], tokenize=False
    )
    inputs = dict(model.processor([prompt], return_tensors="pt"))
    with torch.inference_mode():
        scorer = Scorer(model.model, model.tokenizer)
        scores = scorer.candidate_log_probs(inputs, prompt, texts, add_special_tokens=True)
        for text, log_probs in zip(texts, scores, strict=True):
            tokens = model.processor([prompt + text], return_tensors="pt")["input_ids"]
            length = len(log_probs)
            logits = model.model(input_ids=tokens).logits[0, -length - 1 : -1]
            expected = logits.log_softmax(-1).gather(1, tokens[0, -length:, None])[:, 0]
            assert log_probs == pytest.approx(expected.tolist(), abs=2e-5)


def test_a_task_with_pictures_is_refused_before_the_model_is_loaded(
    checkpoint: Path, tmp_path: Path
) -> None:
    # There are no weights
    (tmp_path / "config.json").write_bytes((checkpoint / "config.json").read_bytes())
    with pytest.raises(
        FigLangError, match="task figlang_mini: shows pictures, and this language model reads text"
    ):
        evaluate("figlang_mini", "figlang_vlm", f"pretrained={tmp_path}", limit=1)
    with pytest.raises(FigLangError, match="task mini_sg: shows pictures"):  # a task in two calls
        evaluate(
            "mini_sg", "figlang_vlm", f"pretrained={tmp_path}", include_path=mini_tasks(), limit=1
        )
    suggestion = (
        r"task figlang_mini_nykms_metaphor: shows .* without pictures"
        r" \(figlang_mini_nykms_metaphor_text\)"
    )
    with pytest.raises(FigLangError, match=suggestion):
        evaluate("figlang_mini_nykms_metaphor", "figlang_vlm", f"pretrained={tmp_path}", limit=1)


def test_a_loaded_language_model_refuses_a_prompt_with_a_picture(checkpoint: Path) -> None:
    model = FigLangVLM(str(checkpoint), device="cpu")
    with pytest.raises(
        Exception, match="the prompt has pictures, and this language model reads text alone"
    ):
        evaluate("figlang_mini", model, limit=1)
