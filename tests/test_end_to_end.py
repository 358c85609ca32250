"""The whole path: the demo model, llava_hf, and V-FLUTE served by the hub stand-in."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import warm
from demo_runs import Says, task_manager
from hub_server import HubServer
from lmms_eval.evaluator import simple_evaluate
from sklearn.metrics import f1_score
from vflute_hub import (
    REPO_ID,
    REVISION,
    SPLIT_SIZES,
    VFluteRow,
    released_csv,
    released_test_rows,
    synthetic_rows,
    write_vflute_repo,
)

from figlang_tasks.benchmarks.vflute import rows, task
from figlang_tasks.core.documents import asked_for
from figlang_tasks.mini import DEMO_MODEL_DIR

DEMO_ARGS = f"pretrained={DEMO_MODEL_DIR},device=cpu,device_map=cpu"
TOKEN = "hf_good"


@pytest.fixture(scope="session")
def test_rows() -> list[VFluteRow]:
    """The real 723 test rows where the released file is beside the checkout, else as many invented ones."""
    if released_csv().is_file():
        return released_test_rows(released_csv())
    return synthetic_rows("test", SPLIT_SIZES["test"])


@pytest.fixture(scope="session")
def repository(test_rows: list[VFluteRow], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """V-FLUTE with all its rows and drawn pictures, in the hub's layout; the folder above serves as data directory."""
    folder = tmp_path_factory.mktemp("data") / "V-FLUTE"
    others = {split: synthetic_rows(split, SPLIT_SIZES[split]) for split in ("train", "validation")}
    write_vflute_repo(folder, others | {"test": test_rows})
    return folder


def evaluate(tasks: list[str], model: Any = "llava_hf", **arguments: Any) -> dict[str, Any]:
    results = simple_evaluate(
        model=model,
        model_args=DEMO_ARGS if model == "llava_hf" else None,
        tasks=tasks,
        batch_size=1,
        task_manager=task_manager(),
        **arguments,
    )
    assert results is not None
    return results


@pytest.mark.slow
@pytest.mark.parametrize("force_simple", [False, True], ids=["chat", "simple"])
def test_every_variant_runs_on_chat_and_on_simple_backends(
    force_simple: bool, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(repository.parent))
    names = ["vflute_val", "vflute_5shot", "vflute_10shot", "vflute_sg", "vflute_blind", "vflute_label"]
    names.append("vflute_instructions")
    settings = "num_beams=1,max_new_tokens=12"
    results = evaluate(names, limit=2, force_simple=force_simple, gen_kwargs=settings)
    assert set(results["samples"]) == set(names)
    for name, samples in results["samples"].items():
        _, asked = asked_for(results["configs"][name]["dataset_name"])
        assert [sample["sample"]["id"] for sample in samples] == task.documents(asked, True)["id"][:2], name
    assert results["n-shot"]["vflute_5shot"] == 5
    stages = json.loads(results["samples"]["vflute_sg"][0]["filtered_resps"][0])
    assert set(stages) == {"scene_graph", "answer"}


def test_the_python_api_needs_nothing_but_the_name() -> None:
    results = simple_evaluate(model=Says("LABEL: entailment"), tasks=["figlang_mini"], limit=2)
    assert results is not None and len(results["samples"]["figlang_mini"]) == 2


@pytest.mark.parametrize(
    ("answer", "accuracy", "parse_rate"),
    [
        ("", 0.0, 0.0),
        ("\x00\ud800 🤷 <script>", 0.0, 0.0),
        ("It is.\n\nLABEL: entailment", "entailment", 1.0),
    ],
    ids=["nothing", "odd characters", "entailment"],
)
def test_any_answer_is_scored(answer: str, accuracy: float | str, parse_rate: float) -> None:
    results = evaluate(["figlang_mini"], model=Says(answer), limit=8)
    gold = [sample["sample"]["gold"] for sample in results["samples"]["figlang_mini"]]
    if isinstance(accuracy, str):
        accuracy = sum(label == rows.LABELS[accuracy] for label in gold) / len(gold)
    assert results["results"]["figlang_mini"]["acc,none"] == accuracy
    assert results["results"]["figlang_mini"]["parse_rate,none"] == parse_rate


# --- all 723 rows, from the hub, by the command line -----------------------------------------------------------------


@pytest.fixture(scope="module")
def hub(repository: Path) -> Iterator[HubServer]:
    with HubServer() as server:
        server.add_repo(REPO_ID, repository, repo_type="dataset", commit=REVISION, gated=True, granted_tokens={TOKEN})
        yield server


@pytest.mark.slow
def test_all_723_rows_from_the_gated_hub_dataset(test_rows: list[VFluteRow], hub: HubServer, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("HF_", "FIGLANG_"))}
    environment |= hub.env(home=tmp_path, token=TOKEN) | {"ACCELERATE_USE_CPU": "true", "FIGLANG_SCORER": "off"}
    command = ["lmms_eval", "--tasks", "vflute", "--model", "figlang_random", "--log_samples", "--output_path", "out"]
    done = warm.run(command, env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (results_file,) = tmp_path.rglob("*_results.json")
    (samples_file,) = tmp_path.rglob("*_samples_vflute.jsonl")
    samples = [json.loads(line) for line in samples_file.read_text(encoding="utf-8").splitlines()]
    assert [sample["sample"]["id"] for sample in samples] == [row.id for row in test_rows]
    if released_csv().is_file():
        assert [sample["input"] for sample in samples] == [row.prompt for row in test_rows]
    gold = [int(row.label == "entailment") for row in test_rows]
    predicted = [sample["sample"]["predicted"] for sample in samples]
    wrong_if_none = [1 - g if p is None else p for g, p in zip(gold, predicted, strict=True)]
    reported = json.loads(results_file.read_text(encoding="utf-8"))["results"]["vflute"]
    assert reported["f1@0,none"] == pytest.approx(f1_score(gold, wrong_if_none, average="macro"))
    assert "figlang tasks, shares in percent" in done.stdout
    assert any(REVISION in request.path and "test-00000" in request.path for request in hub.requests)


def test_without_a_token_the_run_ends_with_the_page_to_accept(hub: HubServer, tmp_path: Path) -> None:
    command = ["lmms-eval", "--tasks", "vflute", "--model", "llava_hf", "--model_args", DEMO_ARGS]
    environment = {key: value for key, value in hub.env(home=tmp_path).items() if key != "FIGLANG_DATA_DIR"}
    done = warm.run_from_the_start(command, cwd=tmp_path, env=environment)
    assert done.returncode == 1
    assert "https://huggingface.co/datasets/ColumbiaNLP/V-FLUTE" in done.stderr
    assert "HF_TOKEN" in done.stderr
