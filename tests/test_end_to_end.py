"""The whole path: from V-FLUTE on a stand-in for the hub to files, and from Python to results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm
from demo_runs import FixedAnswers
from flute_rows import (
    VFLUTE_REPO_ID,
    VFLUTE_REVISION,
    VFLUTE_SPLIT_SIZES,
    VFluteRow,
    invented_vflute_rows,
    released_vflute_csv,
    released_vflute_rows,
    write_vflute_repo,
)
from hub_server import HubServer
from lmms_eval.evaluator import simple_evaluate
from sklearn.metrics import f1_score

from figlang_tasks.mini import DEMO_MODEL_DIR

DEMO_ARGS = f"pretrained={DEMO_MODEL_DIR},device=cpu,device_map=cpu"
TOKEN = "hf_good"


@pytest.fixture(scope="module")
def test_rows() -> list[VFluteRow]:
    """The 723 test rows; invented ones unless the released file is beside the checkout."""
    if released_vflute_csv().is_file():
        return released_vflute_rows(released_vflute_csv())
    return invented_vflute_rows("test", VFLUTE_SPLIT_SIZES["test"])


@pytest.fixture(scope="module")
def hub(
    test_rows: list[VFluteRow], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HubServer]:
    """V-FLUTE with all its test rows and drawn pictures."""
    folder = tmp_path_factory.mktemp("data") / "V-FLUTE"
    write_vflute_repo(folder, {"test": test_rows})
    with HubServer() as server:
        server.add_repo(
            VFLUTE_REPO_ID,
            folder,
            repo_type="dataset",
            commit=VFLUTE_REVISION,
            gated=True,
            granted_tokens={TOKEN},
        )
        yield server


def test_the_python_api_needs_nothing_but_the_name() -> None:
    results = simple_evaluate(
        model=FixedAnswers("LABEL: entailment"), tasks=["figlang_mini"], limit=2
    )
    assert results is not None and len(results["samples"]["figlang_mini"]) == 2


@pytest.mark.slow
def test_all_723_rows_from_the_gated_hub_dataset(
    test_rows: list[VFluteRow], hub: HubServer, tmp_path: Path
) -> None:
    environment: dict[str, str] = {}
    for name, value in os.environ.items():
        if not name.startswith(("HF_", "FIGLANG_")):
            environment[name] = value
    environment |= hub.env(home=tmp_path, token=TOKEN)
    environment |= {"ACCELERATE_USE_CPU": "true", "FIGLANG_SCORER": "off"}
    command = "lmms_eval --tasks vflute --model figlang_random --log_samples --output_path out"
    done = warm.run(command.split(), env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (results_file,) = tmp_path.rglob("*_results.json")
    (samples_file,) = tmp_path.rglob("*_samples_vflute.jsonl")
    samples = [json.loads(line) for line in samples_file.read_text(encoding="utf-8").splitlines()]
    assert [sample["sample"]["id"] for sample in samples] == [row.id for row in test_rows]
    if released_vflute_csv().is_file():
        assert [sample["input"] for sample in samples] == [row.prompt for row in test_rows]
    gold_labels = [int(row.label == "entailment") for row in test_rows]
    predicted_labels: list[int] = []
    for sample, gold in zip(samples, gold_labels, strict=True):
        predicted = sample["sample"]["predicted"]
        # An unread answer is wrong.
        predicted_labels.append(1 - gold if predicted is None else predicted)
    reported = json.loads(results_file.read_text(encoding="utf-8"))["results"]["vflute"]
    macro_f1 = f1_score(gold_labels, predicted_labels, average="macro")
    assert reported["f1@0,none"] == pytest.approx(macro_f1)
    assert "figlang tasks, shares in percent" in done.stdout
    paths = [request.path for request in hub.requests]
    assert any(VFLUTE_REVISION in path and "test-00000" in path for path in paths)


def test_without_a_token_the_run_ends_with_the_page_to_accept(
    hub: HubServer, tmp_path: Path
) -> None:
    command = ["lmms-eval", "--tasks", "vflute", "--model", "llava_hf", "--model_args", DEMO_ARGS]
    environment = dict(hub.env(home=tmp_path))
    environment.pop("FIGLANG_DATA_DIR", None)
    done = warm.run(command, cwd=tmp_path, env=environment)
    assert done.returncode == 1
    assert "https://huggingface.co/datasets/ColumbiaNLP/V-FLUTE" in done.stderr
    assert "HF_TOKEN" in done.stderr
