"""Models, servers and data in place of those that the documents name and tests cannot have."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from benchmarks.flute.synthetic import blind_rows, released_shape, write_lines
from benchmarks.metaclue import generated
from judge.judge_server import JudgeServer
from models import tiny_encoders
from openai_server import OpenAIServer
from PIL import Image
from submit import published, test_irfl
from vflute_hub import write_vflute_repo

from figlang_tasks.benchmarks.flute.rows import BLIND_FILE
from figlang_tasks.mini import DEMO_MODEL_DIR


def model_server() -> OpenAIServer:
    """The demo model behind the protocol of OpenAI."""
    return OpenAIServer(DEMO_MODEL_DIR)


def judge_server() -> JudgeServer:
    """Says of everything that it is fine."""
    return JudgeServer(_judgement)


def _judgement(prompt: str, pictures: Sequence[Image.Image]) -> str:
    (asked,) = set(re.findall(r'\{"(label|adequate|preferred)"', prompt))
    return json.dumps({asked: {"label": "entailment", "adequate": "yes", "preferred": "none"}[asked]})


def write_clip(folder: Path) -> Path:
    return tiny_encoders.write("clip", folder)


def write_language_model(folder: Path) -> Path:
    """A causal language model of one layer with random weights, its tokenizer and a chat template."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(["Does the premise entail the hypothesis?"], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.chat_template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=4096, bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def write_data(folder: Path) -> None:
    """A folder for FIGLANG_DATA_DIR: invented rows with the sizes of the real ones."""
    write_vflute_repo(folder / "V-FLUTE", {"test": published.rows()}, image_size=8)
    write_lines(folder / "FLUTE" / "train.jsonl", released_shape())
    write_lines(folder / "FLUTE" / BLIND_FILE, blind_rows())
    rows = [generated.row(number) for number in range(310)]
    rows += [generated.negative(310 + number, kind) for number, kind in enumerate(("symbolic", "literal") * 4)]
    generated.write(folder, rows, same=True)


def add_irfl_run(folder: Path) -> None:
    """The samples of all four tasks of irfl_match."""
    for phrase in test_irfl.ROWS:
        lines = test_irfl.detection(phrase, lambda number: number % 3 == 0)
        test_irfl.write(folder, f"irfl_match_{phrase}", lines)
