"""A named scorer is not the paper's, or hides what it is made of, if this fails."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from figlang_tasks.core.hub import downloading_nothing
from figlang_tasks.metrics.explanation import SCORERS, WeightsError, get_scorer
from figlang_tasks.metrics.explanation import weights as weights_module
from figlang_tasks.metrics.explanation.bertscore import LAYERS
from figlang_tasks.metrics.explanation.scorers import BLEURT_20, weights_named
from figlang_tasks.metrics.explanation.weights import Weights, find_on_hub, locate

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
TINY = {
    "bertscore_model": str(FIXTURES / "deberta"),
    "bertscore_layer": 4,
    "bleurt_model": str(FIXTURES / "bleurt"),
    "device": "cpu",
}
REFERENCES = ["The lawyer has fins.", "He is calm.", "", "He is calm."]
CANDIDATES = ["The man is like a shark.", "He is a storm.", "He is a storm.", None]


@pytest.fixture(autouse=True)
def forget_where_weights_are() -> None:
    locate.cache_clear()


def test_the_mean_of_bertscore_and_bleurt(tmp_path: Path) -> None:
    scores = get_scorer("vflute25", cache=tmp_path, **TINY).score(REFERENCES, CANDIDATES)
    assert scores.bleurt is not None
    assert scores.bertscore.dtype == scores.bleurt.dtype == scores.mean.dtype == np.float64
    assert scores.bertscore.shape == scores.bleurt.shape == scores.mean.shape == (4,)
    assert scores.mean.tolist() == ((scores.bertscore + scores.bleurt) / 2).tolist()
    assert scores.bertscore[2] == scores.bertscore[3] == 0, "an empty text, whichever side"
    assert scores.bleurt[2] != 0, "BLEURT scores an empty reference"
    assert scores.bleurt[3] != 0, "BLEURT scores an empty candidate"


def test_the_published_recipes() -> None:
    """datasets.md A and E of the project's facts; layers from bert-score's table."""
    assert (SCORERS["vflute25"].bertscore.name, SCORERS["vflute25"].layer) == (
        "microsoft/deberta-xlarge-mnli",
        40,
    )
    assert SCORERS["vflute25"].bleurt == SCORERS["flute22"].bleurt == BLEURT_20
    assert SCORERS["figlang24"] == replace(SCORERS["vflute25"], bleurt=None)
    # The organisers' notebook names this model, and no layer: bert-score takes its own.
    assert (SCORERS["flute22"].bertscore.name, SCORERS["flute22"].layer) == (
        "microsoft/deberta-large-mnli",
        18,
    )
    assert SCORERS["flute22-xlarge"] == SCORERS["vflute25"]
    # bert-score's own model for English, without BLEURT: facts of YesBut, section 4.
    assert SCORERS["yesbut24"].bertscore.name == "FacebookAI/roberta-large"
    assert (SCORERS["yesbut24"].layer, SCORERS["yesbut24"].bleurt) == (17, None)
    assert SCORERS["vflute25"].layer == LAYERS["deberta-xlarge-mnli"]
    assert SCORERS["flute22"].layer == LAYERS["deberta-large-mnli"]


def test_the_signature_names_all_that_decides_a_score() -> None:
    from figlang_tasks import __version__

    fast = get_scorer("vflute25", cache=False, dtype="fast", **TINY)
    digest = {
        name: locate(Weights(str(FIXTURES / name))).identity.rpartition(":")[2]
        for name in ("deberta", "bleurt")
    }
    assert (
        fast.signature == "vflute25 (with other"
        f" models)|bertscore:deberta@sha256:{digest['deberta']},layer:4,idf:no,rescale:no,max:512"
        f"|bleurt:bleurt@sha256:{digest['bleurt']},max:512|dtype:fast|version:{__version__}"
    )
    assert get_scorer("vflute25", cache=False, **TINY).signature != fast.signature
    assert "not a published metric" in get_scorer("embedded").signature
    with_its_own_layer = get_scorer("embedded", cache=False, bertscore_layer=6).signature
    assert with_its_own_layer == get_scorer("embedded", cache=False).signature


def test_a_second_scoring_comes_from_the_cache_and_models_can_be_released(tmp_path: Path) -> None:
    first, second = (get_scorer("vflute25", cache=tmp_path, **TINY) for _ in range(2))
    means = first.score(REFERENCES, CANDIDATES).mean.tolist()
    assert second.score(REFERENCES[::-1], CANDIDATES[::-1]).mean.tolist() == means[::-1]
    assert [model.runner.loaded for model in second.models] == [None, None]
    assert all(model.runner.loaded is not None for model in first.models)
    first.release()
    assert [model.runner.loaded for model in first.models] == [None, None]
    first.score(["He is a storm."], ["He is calm."])
    assert all(model.runner.loaded is not None for model in first.models), "loaded again"


@pytest.mark.parametrize(
    ("references", "candidates", "message"),
    [
        (["a"], [], "1 references but 0 candidates"),
        ("a b", "a c", "references is one text, must be a list"),
        (["a", 3], ["a", "b"], r"references\[1\] is 3"),
        (["a", None], ["a", "b"], r"references\[1\] is None"),
    ],
)
def test_what_is_no_text_is_named(references: list, candidates: list, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_scorer("embedded", cache=False).score(references, candidates)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"name": "bleu"},
            "valid: vflute25, figlang24, flute22, flute22-xlarge, yesbut24, embedded",
        ),
        ({"name": "embedded", "dtype": "fp16"}, "valid: 'fp32'"),
        ({"name": "embedded", "bleurt_model": "a/b"}, "no BLEURT in it"),
        (
            {"name": "figlang24", "bertscore_model": "org/own"},
            (
                r"give bertscore_layer for org/own, a BERT, DeBERTa \(version 1\) or RoBERTa: it"
                r" is known for deb"
            ),
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        get_scorer(**arguments)


def test_names_of_repositories_stand_for_pinned_weights(tmp_path: Path) -> None:
    """The published checkpoints come at the pinned commits unless another one is named."""
    assert weights_named("lucadiliello/BLEURT-20") == BLEURT_20
    assert weights_named("lucadiliello/BLEURT-20@main") == Weights("lucadiliello/BLEURT-20", "main")
    assert weights_named("org/own") == Weights("org/own", None)
    folder = tmp_path / "bert-base-uncased"
    shutil.copytree(FIXTURES / "deberta", folder)
    # 9 is bert-score's choice for that name.
    with pytest.raises(WeightsError, match="has layers 1 to 6, not 9"):
        get_scorer("figlang24", bertscore_model=str(folder))


# --- the published anchors, on the real weights ---


ANCHORS = [
    (
        "lucadiliello/BLEURT-20",
        "a bird chirps by the window",
        "a bird chirps by the window",
        0.99905,
    ),
    (
        "lucadiliello/BLEURT-20",
        "this is a random sentence",
        "this looks like a random sentence",
        0.79302,
    ),
    (
        "lucadiliello/BLEURT-20-D12",
        "a bird chirps by the window",
        "a bird chirps by the window",
        0.96044,
    ),
    (
        "lucadiliello/BLEURT-20-D12",
        "this is a random sentence",
        "this looks like a random sentence",
        0.80801,
    ),
]


@pytest.mark.weights
def test_the_published_deberta_loads_and_finds_a_text_equal_to_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(weights_module, "find_on_hub", from_cache)
    text = "The lawyer has fins, which says that he is as dangerous as a shark."
    scores = get_scorer("figlang24", cache=False).score([text, text], [text, "He is calm."])
    assert scores.bertscore[0] == pytest.approx(1, abs=1e-5)
    assert 0.2 < scores.bertscore[1] < 0.9


def from_cache(weights: Weights) -> Path:
    with downloading_nothing():
        try:
            return find_on_hub(weights)
        except WeightsError:
            pytest.skip(f"{weights.name} is neither in the hub's cache nor in $FIGLANG_WEIGHTS_DIR")


@pytest.mark.weights
@pytest.mark.parametrize(("checkpoint", "reference", "candidate", "published"), ANCHORS)
def test_published_scores_of_bleurt(
    checkpoint: str,
    reference: str,
    candidate: str,
    published: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The scores that the model cards and the package's README print."""
    from figlang_tasks.metrics.explanation.bleurt import Bleurt
    from figlang_tasks.metrics.explanation.cache import ScoreCache

    monkeypatch.setattr(weights_module, "find_on_hub", from_cache)
    model = Bleurt(locate(weights_named(checkpoint)), "auto", "fp32", ScoreCache(None))
    scores = model.score([(reference, candidate)])
    assert scores[reference, candidate] == pytest.approx(published, abs=1e-5)
