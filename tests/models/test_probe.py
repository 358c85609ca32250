"""figlang_probe: what a folder holds, what it is refused for, and that it answers as its network
computes.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_encoders
import torch
from demo_runs import answers, evaluate

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import rows, tasks
from figlang_tasks.core.images import content_key
from figlang_tasks.models import probe, probe_pair
from figlang_tasks.models.dual_encoder import FigLangCLIP

TASK = "figlang_mini_irfl_retrieve_metaphor"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoders.write("clip", tmp_path_factory.mktemp("clip"))


def write(
    folder: Path, clip: Path, seen: tuple[str, ...] = (), hidden: int = 4
) -> dict[int, probe.Weights]:
    """A probe of two seeds that was not trained."""
    settings = {"encoder": str(clip), "revision": None}
    weights: dict[int, probe.Weights] = {}
    for seed in (3, 5):
        torch.manual_seed(seed)
        weights[seed] = probe_pair.new_head(32, hidden).state_dict()
    probe.write(
        folder, "pair", settings=settings, trained_on={"data": "x"}, seen=seen, weights=weights
    )
    return weights


@pytest.mark.parametrize("hidden", [0, 4])
def test_it_answers_as_its_network_computes(clip: Path, tmp_path: Path, hidden: int) -> None:
    """By hand, in numpy, from the features that transformers gives."""
    weights = write(tmp_path / "probe", clip, hidden=hidden)
    found = answers(
        evaluate(TASK, "figlang_probe", f"probe={tmp_path / 'probe'},seed=5", limit=6), TASK
    )
    own = {name: value.double().numpy() for name, value in weights[5].items()}
    network = FigLangCLIP(str(clip)).network
    for number, doc in enumerate(
        rows.load("figlang_mini_irfl", "metaphor-retrieval-task").select(range(6))
    ):
        (picture,) = tasks.doc_to_visual(doc, {"prompt": "text"})
        layer = np.concatenate(
            [network.text_features([doc["phrase"]])[0], network.image_features([picture])[0]]
        )
        if hidden:
            layer = np.maximum(own["0.weight"] @ layer + own["0.bias"], 0)
        logit = own[f"{2 if hidden else 0}.weight"] @ layer + own[f"{2 if hidden else 0}.bias"]
        assert json.loads(found[number])["scores"] == pytest.approx(
            1 / (1 + np.exp(-logit)), abs=1e-5
        )


def test_it_is_not_asked_about_its_training_data(clip: Path, tmp_path: Path) -> None:
    doc = rows.load("figlang_mini_irfl", "metaphor-retrieval-task")[0]
    (picture,) = tasks.doc_to_visual(doc, {"prompt": "text"})
    for place, seen in (("text", doc["phrase"]), ("picture", content_key(picture))):
        write(tmp_path / place, clip, seen=(seen, "another"))
        with pytest.raises(
            FigLangError, match=r"figlang_probe: 1 of \d+ pictures and texts of this run were in"
        ):
            evaluate(TASK, "figlang_probe", f"probe={tmp_path / place}", limit=6)


def test_an_encoder_without_features_of_a_picture_alone(tmp_path: Path) -> None:
    with pytest.raises(
        FigLangError, match="BlipForImageTextRetrieval has no features of a picture alone"
    ):
        probe_pair.features(
            FigLangCLIP(str(tiny_encoders.write("blip", tmp_path / "blip"))),
            [],
            str,
            lambda doc: [],
        )


def test_it_answers_no_words(clip: Path, tmp_path: Path) -> None:
    write(tmp_path / "probe", clip)
    with pytest.raises(FigLangError, match="asks for an answer in words"):
        evaluate(
            "figlang_mini_irfl_detect_idiom",
            "figlang_probe",
            f"probe={tmp_path / 'probe'}",
            limit=1,
        )


def edited(**changes: Any) -> Any:
    def edit(folder: Path) -> None:
        path = folder / probe.FILE
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))

    return edit


@pytest.mark.parametrize(
    ("damage", "arguments", "message"),
    [
        (lambda folder: None, {"seed": 4}, r"seed=4; .*probe has: 3, 5"),
        (
            lambda folder: None,
            {"hidden": 4},
            "unknown argument hidden; valid: probe, seed, device, batch_size",
        ),
        (
            lambda folder: (folder / probe.FILE).unlink(),
            {},
            r"probe.json cannot be read \(No such file or directory\)",
        ),
        (
            lambda folder: (folder / "seed-3.safetensors").write_bytes(b"x"),
            {},
            "seed-3.safetensors is not what figlang",
        ),
        (edited(kind="../probe"), {}, "probe.json is not what figlang train writes"),
        (edited(seeds=["../3"]), {}, "probe.json is not what figlang train writes"),
    ],
)
def test_a_folder_that_will_not_do(
    clip: Path, tmp_path: Path, damage: Any, arguments: dict[str, Any], message: str
) -> None:
    write(tmp_path / "probe", clip)
    damage(tmp_path / "probe")
    with pytest.raises(FigLangError, match=message):
        probe.FigLangProbe(probe=str(tmp_path / "probe"), **arguments)


def test_training_learns_and_repeats_itself() -> None:
    """A rule that a linear network can follow; the same seed gives the same weights, another one
    others.
    """
    values = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
    gold = values[:, 1] > 0
    pairs: Any = SimpleNamespace(pairs=lambda: [(row[None], row[None, :0]) for row in values])

    def trained(seed: int) -> dict[str, torch.Tensor]:
        before = torch.get_rng_state()
        found = probe_pair.train(
            pairs, gold.tolist(), 0, seed=seed, epochs=30, batch_size=10, learning_rate=0.05
        )
        assert torch.equal(before, torch.get_rng_state())
        return found

    first, again, other = trained(1), trained(1), trained(2)
    assert torch.equal(first["0.weight"], again["0.weight"]) and not torch.equal(
        first["0.weight"], other["0.weight"]
    )
    logits = values @ first["0.weight"].numpy().T + first["0.bias"].numpy()
    assert ((logits[:, 0] > 0) == gold).mean() > 0.95


def test_the_printed_table() -> None:
    """Mean and sample standard deviation by hand; a seed without failures has no literal
    preference.
    """
    after = [{"acc": 0.5, "literal_preference": 0.25}, {"acc": 1.0}]
    assert probe.table_of_seeds(
        after, {"encoder": {"acc": "12.5"}}, {"paper": {"acc": "58 ± 4.2"}}
    ).splitlines() == [
        "| percent            | encoder |     2 seeds |    paper |",
        "|--------------------|--------:|------------:|---------:|",
        "| acc                |    12.5 | 75.0 ± 35.4 | 58 ± 4.2 |",
        "| literal_preference |         |        25.0 |          |",
    ]
