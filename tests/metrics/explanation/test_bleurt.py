"""BLEURT is not that of bleurt-pytorch if this fails.

Values of transformers 4.57, with a small random checkpoint.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from figlang_tasks.metrics.explanation import WeightsError, compute, kernels
from figlang_tasks.metrics.explanation.bleurt import MAX_TOKENS, Bleurt, PairTokenizer
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.weights import Located

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "bleurt"
LOCATED = Located(FOLDER, "tiny")

Pair = tuple[str, str]


def text(value: str | dict[str, Any]) -> str:
    return value if isinstance(value, str) else value["repeat"][0] * value["repeat"][1]


def golden() -> list[dict[str, Any]]:
    cases = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))["cases"]
    return [
        case | {"reference": text(case["reference"]), "candidate": text(case["candidate"])}
        for case in cases
        if "error" not in case  # half a surrogate pair: the original refuses it
    ]


def bleurt(token_budget: int | None = None, folder: Path = FOLDER) -> Bleurt:
    model = Bleurt(Located(folder, "tiny"), "cpu", "fp32", ScoreCache(None))
    model.runner.tokens = token_budget
    return model


def test_ids_and_token_types_equal_the_original_tokenizer() -> None:
    tokenizer = PairTokenizer(LOCATED)
    for case in golden():
        ids, types = tokenizer.join(
            tokenizer.ids(case["reference"]), tokenizer.ids(case["candidate"])
        )
        assert ids == case["input_ids"], (case["reference"], case["candidate"])
        assert types == case["token_type_ids"]
        assert len(ids) <= MAX_TOKENS
    assert sum(len(case["input_ids"]) == MAX_TOKENS for case in golden()) >= 5, "some are cut"


@pytest.mark.parametrize("token_budget", [1, 2048, 40_000])
def test_scores_equal_bleurt_pytorch(token_budget: int) -> None:
    """Within 1e-5, from one pair a batch to all, short ones padded beside those of 512 tokens."""
    expected = {(case["reference"], case["candidate"]): case["logit"] for case in golden()}
    assert max(expected.values()) - min(expected.values()) > 0.2, "the checkpoint tells pairs apart"
    scores = bleurt(token_budget).score(list(expected))
    worst = max(expected, key=lambda pair: abs(scores[pair] - expected[pair]))
    assert scores[worst] == pytest.approx(expected[worst], abs=1e-5), worst


def test_order_and_duplicates_never_change_a_score() -> None:
    pairs = [(case["reference"], case["candidate"]) for case in golden()][:40]
    scores = bleurt(300).score(pairs)
    assert bleurt(300).score(random.Random(0).sample(pairs * 2, 2 * len(pairs))) == scores


def test_half_a_surrogate_pair_is_scored_as_the_replacement_character() -> None:
    scores = bleurt().score([("a \ud800", "b"), ("a \ufffd", "b")])
    assert scores["a \ud800", "b"] == pytest.approx(scores["a \ufffd", "b"], abs=1e-6)


# --- the checkpoint ---


def unchanged(state: dict[str, torch.Tensor]) -> None:
    """Leave the weights as they are."""


def copy(folder: Path, change: Any = unchanged, config: dict[str, Any] | None = None) -> Path:
    """A copy of the checkpoint, with changed weights and options of its configuration."""
    for path in FOLDER.iterdir():
        if path.name != "golden.json":
            (folder / path.name).write_bytes(path.read_bytes())
    state = torch.load(FOLDER / "pytorch_model.bin", weights_only=True)
    change(state)
    torch.save(state, folder / "pytorch_model.bin")
    options = json.loads((FOLDER / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(options | (config or {})))
    return folder


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (
            lambda state: state.pop("bleurt.pooler.dense.bias"),
            WeightsError,
            r"it lacks rembert\.pooler\.dense\.bias",
        ),
        (
            lambda state: state.update({"classifier.bias": torch.ones(2)}),
            WeightsError,
            r"not fit its config\.json",
        ),
        (lambda state: state["classifier.bias"].fill_(torch.nan), ArithmeticError, "not finite"),
    ],
)
def test_weights_that_do_not_fit_or_give_no_numbers_are_refused(
    change: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        bleurt(folder=copy(tmp_path, change)).score([("He is calm.", "A storm")])


def test_another_architecture_or_tokenizer_is_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="model_type 'bert', not 'bleurt'"):
        bleurt(folder=copy(tmp_path, config={"model_type": "bert"}))
    folder = copy(tmp_path)
    (folder / "spm.model").unlink()
    with pytest.raises(WeightsError, match=r"spm\.model is missing"):
        bleurt(folder=folder)


@pytest.mark.parametrize("choice", kernels.choices(torch.bfloat16))
def test_fast_is_close_to_fp32(
    choice: str, warnings_of_loguru: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the kernels of bfloat16, and in float32 as on a processor that is quicker so."""
    pairs = [(case["reference"], case["candidate"]) for case in golden()][:30]
    exact = bleurt().score(pairs)
    model = Bleurt(LOCATED, "cpu", "fast", ScoreCache(None))
    monkeypatch.setattr(
        compute, "choose", lambda dtype: choice if dtype == torch.bfloat16 else "torch"
    )
    fast = model.score(pairs)
    difference = max(abs(fast[pair] - exact[pair]) for pair in pairs)
    assert 0 < difference < 0.1
    assert len(warnings_of_loguru) == (choice == kernels.FLOAT32)
    assert all("no faster than 'fp32'" in message for message in warnings_of_loguru)
