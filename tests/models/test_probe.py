"""figlang_probe: what a folder holds, what it is refused for, and how its network answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tiny_models
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
    return tiny_models.write_encoder("clip", tmp_path_factory.mktemp("clip"))


def write(
    folder: Path, clip: Path, training_keys: tuple[str, ...] = (), hidden: int = 4
) -> dict[int, probe.Weights]:
    """A probe of two seeds that was not trained."""
    settings = {"encoder": str(clip), "revision": None}
    weights: dict[int, probe.Weights] = {}
    for seed in (3, 5):
        torch.manual_seed(seed)
        weights[seed] = probe_pair.new_head(32, hidden).state_dict()
    probe.write(
        folder,
        "pair",
        settings=settings,
        trained_on={"data": "x"},
        seen=training_keys,
        weights=weights,
    )
    return weights


@pytest.mark.parametrize("hidden", [0, 4])
def test_it_answers_as_its_network_computes(clip: Path, tmp_path: Path, hidden: int) -> None:
    """By hand, in numpy, from the features that transformers gives."""
    folder = tmp_path / "probe"
    weights = write(folder, clip, hidden=hidden)
    results = evaluate(TASK, "figlang_probe", f"probe={folder},seed=5", limit=6)
    probe_answers = answers(results, TASK)
    arrays = {name: weight.double().numpy() for name, weight in weights[5].items()}
    last_layer = 2 if hidden else 0
    network = FigLangCLIP(str(clip)).network
    docs = rows.load("figlang_mini_irfl", "metaphor-retrieval-task").select(range(6))
    for number, doc in enumerate(docs):
        (picture,) = tasks.doc_to_visual(doc, {"prompt": "text"})
        text_features = network.text_features([doc["phrase"]])[0]
        image_features = network.image_features([picture])[0]
        units = np.concatenate([text_features, image_features])
        if hidden:
            units = np.maximum(arrays["0.weight"] @ units + arrays["0.bias"], 0)
        logit = arrays[f"{last_layer}.weight"] @ units + arrays[f"{last_layer}.bias"]
        expected = 1 / (1 + np.exp(-logit))
        assert json.loads(probe_answers[number])["scores"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("part", ["text", "picture"])
def test_it_is_not_asked_about_its_training_data(part: str, clip: Path, tmp_path: Path) -> None:
    doc = rows.load("figlang_mini_irfl", "metaphor-retrieval-task")[0]
    (picture,) = tasks.doc_to_visual(doc, {"prompt": "text"})
    training_key = doc["phrase"] if part == "text" else content_key(picture)
    write(tmp_path / "probe", clip, training_keys=(training_key, "another"))
    message = r"figlang_probe: 1 of \d+ pictures and texts of this run were in"
    with pytest.raises(FigLangError, match=message):
        evaluate(TASK, "figlang_probe", f"probe={tmp_path / 'probe'}", limit=6)


def test_an_encoder_without_features_of_a_picture_alone_is_refused(tmp_path: Path) -> None:
    blip = FigLangCLIP(str(tiny_models.write_encoder("blip", tmp_path / "blip")))
    message = "BlipForImageTextRetrieval has no features of a picture alone"
    with pytest.raises(FigLangError, match=message):
        probe_pair.features(blip, [], text_of=str, pictures_of=lambda doc: [])


def test_it_answers_no_words(clip: Path, tmp_path: Path) -> None:
    write(tmp_path / "probe", clip)
    with pytest.raises(FigLangError, match="asks for an answer in words"):
        evaluate(
            "figlang_mini_irfl_detect_idiom",
            "figlang_probe",
            f"probe={tmp_path / 'probe'}",
            limit=1,
        )


# --- folders ---


def change_description(folder: Path, **changes: object) -> None:
    """Change fields of probe.json."""
    path = folder / probe.FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_kind(folder: Path) -> None:
    change_description(folder, kind="../probe")


def change_seeds(folder: Path) -> None:
    change_description(folder, seeds=["../3"])


def leave_as_it_is(folder: Path) -> None:
    pass


def remove_description(folder: Path) -> None:
    (folder / probe.FILE).unlink()


def spoil_weights(folder: Path) -> None:
    (folder / "seed-3.safetensors").write_bytes(b"x")


@pytest.mark.parametrize(
    ("damage", "arguments", "message"),
    [
        (leave_as_it_is, {"seed": 4}, r"seed=4; .*probe has: 3, 5"),
        (
            leave_as_it_is,
            {"hidden": 4},
            "unknown argument hidden; valid: probe, seed, device, batch_size",
        ),
        (remove_description, {}, r"probe.json cannot be read \(No such file or directory\)"),
        (spoil_weights, {}, "seed-3.safetensors is not what figlang"),
        (change_kind, {}, "probe.json is not what figlang train writes"),
        (change_seeds, {}, "probe.json is not what figlang train writes"),
    ],
)
def test_a_folder_that_cannot_answer_is_refused(
    clip: Path,
    tmp_path: Path,
    damage: Callable[[Path], None],
    arguments: dict[str, Any],
    message: str,
) -> None:
    write(tmp_path / "probe", clip)
    damage(tmp_path / "probe")
    with pytest.raises(FigLangError, match=message):
        probe.FigLangProbe(probe=str(tmp_path / "probe"), **arguments)


def test_training_learns_and_repeats_itself() -> None:
    """A linear network can follow the rule: a pair matches if its second number is positive."""
    numbers = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
    gold = numbers[:, 1] > 0
    pairs: Any = SimpleNamespace(pairs=lambda: [(row[None], row[None, :0]) for row in numbers])

    def train(seed: int) -> dict[str, torch.Tensor]:
        state = torch.get_rng_state()
        weights = probe_pair.train(
            pairs, gold.tolist(), 0, seed=seed, epochs=30, batch_size=10, learning_rate=0.05
        )
        assert torch.equal(state, torch.get_rng_state())
        return weights

    weights = train(1)
    assert torch.equal(weights["0.weight"], train(1)["0.weight"])
    assert not torch.equal(weights["0.weight"], train(2)["0.weight"])
    logits = numbers @ weights["0.weight"].numpy().T + weights["0.bias"].numpy()
    assert ((logits[:, 0] > 0) == gold).mean() > 0.95


def test_the_printed_table_has_mean_and_deviation_of_the_seeds_with_a_value() -> None:
    """Mean and sample standard deviation by hand.

    A seed without failures has no literal preference.
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
