"""``figlang train nykms`` learns nothing, or trains on test cartoons, if this fails."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny_models
import warm
from demo_runs import evaluate, metrics
from hub_server import HubServer
from PIL import Image
from rows_with_images import drawing
from typer.testing import CliRunner

from figlang_tasks.cli.figlang import app
from figlang_tasks.core import hub
from figlang_tasks.core.errors import FigLangError

WORDS = "they say the house is warm this snail slow we are a b c d e f".split()
RUN = CliRunner()


@pytest.fixture(scope="module")
def learnable_rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with annotations of 40 cartoons that can be learnt, and tiny encoders.

    A red shape, or a caption with "warm", is a metaphor: one row in two.
    """
    data_folder = tmp_path_factory.mktemp("learnable")
    folder = data_folder / "NYK-MS"
    (folder / "images").mkdir(parents=True)
    json_lines: list[str] = []
    for number in range(40):
        label = number % 2
        color = "red" if label else "green"
        drawing(number, 64, color).save(folder / "images" / f"{number}.png")
        json_lines.append(json.dumps(learnable_row(number, label)) + "\n")
    (folder / "nyk_m.jsonl").write_text("".join(json_lines), encoding="utf-8")
    tiny_models.write_towers(data_folder, WORDS)
    return data_folder


def learnable_row(number: int, label: int) -> dict[str, Any]:
    """The annotated row of a cartoon: 24 are training rows, 8 validation and 8 test rows."""
    sentence = "the house is warm" if label else "this snail is slow"
    split = "test"
    if number < 24:
        split = "train"
    elif number < 32:
        split = "validation"
    row = {
        "id": f"NYK_{number}_1",
        "image": f"images/{number}.png",
        "caption": f"{WORDS[number % 3]} {sentence} {WORDS[-number % 6]}",
        "MC": label,
        "split": split,
        "description": "A drawing.",
    }
    if label:
        row["MW"] = "warm"
        row["ME"] = "in ruins"
    return row


@pytest.fixture
def towers(learnable_rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The options for the encoders, which are copied with the rows to a folder of the test."""
    shutil.copytree(learnable_rows, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path))
    encoders = ["--text-encoder", str(tmp_path / "bert"), "--image-encoder", str(tmp_path / "vit")]
    return [*encoders, "--epochs", "5", "--learning-rate", "0.0003"]


def change(folder: Path, new: Callable[[int], dict[str, Any]]) -> None:
    """Change each row of NYK-MS: `new` gives the changes by the index of the row."""
    path = folder / "NYK-MS" / "nyk_m.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "".join(json.dumps(json.loads(line) | new(n)) + "\n" for n, line in enumerate(lines)),
        "utf-8",
    )


@pytest.mark.parametrize(
    "options",
    [pytest.param(["--alignment", "ot"], marks=pytest.mark.long), ["--modality", "text"]],
)
def test_a_probe_answers_about_the_test_rows_and_beats_the_majority(
    options: list[str], towers: list[str], tmp_path: Path
) -> None:
    done = RUN.invoke(
        app,
        ["train", "nykms", *towers, *options, "--seeds", "2", "--output", str(tmp_path / "probe")],
    )
    assert done.exit_code == 0, done.output
    assert "rows: train 24, validation 8, test 8\n" in done.output
    assert {"ot": "64.33", "text": "64.31"}[options[1]] in done.output, "Table 11"

    probe = f"probe={tmp_path / 'probe'}"
    results = evaluate("nykms_mc_test", "figlang_probe", f"{probe},seed=1")
    accuracy = metrics(results, "nykms_mc_test")["mc_acc,none"]
    majority_results = evaluate("nykms_mc_test", "figlang_majority")
    assert metrics(majority_results, "nykms_mc_test")["mc_acc,none"] == 0.5
    assert accuracy > 0.7
    check_probe_file(tmp_path / "probe" / "probe.json", accuracy, done.output)
    check_refusals(probe)
    if "text" not in options:
        change(tmp_path, lambda _: {"caption": "New."})
        with pytest.raises(FigLangError, match="reads a picture, and this task shows none"):
            evaluate("nykms_mc_text", "figlang_probe", probe)


def check_probe_file(path: Path, accuracy: float, output: str) -> None:
    """Check what ``probe.json`` holds, and that the training printed its accuracies.

    Args:
        path: the file.
        accuracy: that of the network with seed 1 in the harness.
        output: what the training printed.
    """
    probe_json = json.loads(path.read_text())
    assert probe_json["settings"]["network"]["temperature"] == 0.1
    assert probe_json["seeds"] == [0, 1]
    assert re.fullmatch(r"NYK-MS/nyk_m:[0-9a-f]{12}", probe_json["trained_on"]["data"])
    accuracies = [probe_json["measured"][seed]["mc_acc"] for seed in "01"]
    assert accuracies[1] == accuracy, "what the training prints is what the harness gives"
    spread = 100 * abs(accuracies[0] - accuracies[1]) / 2**0.5
    assert f"{50 * sum(accuracies):.1f} ± {spread:.1f}" in output


def check_refusals(probe: str) -> None:
    """Check that a probe answers neither about its training data nor other questions."""
    with pytest.raises(FigLangError, match=r"32 of 40 .* were in the probe's training data"):
        evaluate("nykms_mc", "figlang_probe", probe)
    with pytest.raises(
        FigLangError,
        match=r"task nykms_mw: .* trained for the questions mc, metaphor of NYK-MS/nyk_m:",
    ):
        evaluate("nykms_mw", "figlang_probe", probe)


@pytest.mark.parametrize("shared", ["contest", "pixels"])
def test_a_cartoon_of_the_test_among_the_others_is_refused(
    shared: str, towers: list[str], tmp_path: Path
) -> None:
    if shared == "contest":
        change(tmp_path, lambda number: {"id": f"NYK_30_{number}"} if number in (0, 39) else {})
    else:  # in another file
        folder = tmp_path / "NYK-MS" / "images"
        Image.open(folder / "24.png").save(folder / "39.png", dpi=(72, 72))
    done = RUN.invoke(app, ["train", "nykms", *towers, "--output", str(tmp_path / "probe")])
    assert done.exit_code == 1
    assert (
        "1 rows of the split test show a cartoon that is also in train or validation, such as "
        in done.output
    )
    assert (
        "such as NYK_30_39 (contest 30)" if shared == "contest" else "such as NYK_39_1 ("
    ) in done.output
    assert not (tmp_path / "probe").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--topic", "irony"], "topic is 'irony'; valid: metaphor, sarcasm"),
        # Before anything is read
        (["--output", ".", "--topic", "sarcasm"], "already exists and is not overwritten"),
    ],
)
def test_what_cannot_be_trained(
    options: list[str], message: str, towers: list[str], tmp_path: Path
) -> None:
    arguments = ["train", "nykms", *towers, "--output", str(tmp_path / "probe"), *options]
    result = RUN.invoke(app, arguments)
    assert result.exit_code == 1
    assert message in result.output
    assert not (tmp_path / "probe").exists()


@pytest.mark.slow
def test_encoders_come_from_the_hub_and_their_commits_are_kept(
    towers: list[str], tmp_path: Path
) -> None:
    with HubServer() as server:
        bert_commit = server.add_repo("tiny/bert", tmp_path / "bert", repo_type="model")
        vit_commit = server.add_repo("tiny/vit", tmp_path / "vit", repo_type="model")
        environment = server.env(home=tmp_path / "home") | {"CUDA_VISIBLE_DEVICES": ""}
        environment[hub.DATA_DIR_VARIABLE] = str(tmp_path)
        train = ["figlang", "train", "nykms", "--seeds", "1", "--epochs", "1"]
        train += ["--output", str(tmp_path / "probe"), "--image-encoder", "tiny/vit"]
        train += ["--text-encoder"]
        failed = warm.run([*train, "tiny/none"], cwd=tmp_path, env=environment)
        done = warm.run([*train, "tiny/bert"], cwd=tmp_path, env=environment)
    assert failed.returncode == 1
    assert "tiny/none" in failed.stderr
    assert "Check the name and the rev" in failed.stderr
    assert "Traceback" not in failed.stderr
    assert done.returncode == 0, done.stderr[-3000:]
    network = json.loads((tmp_path / "probe" / "probe.json").read_text())["settings"]["network"]
    assert network["text_revision"] == bert_commit
    assert network["image_revision"] == vit_commit
