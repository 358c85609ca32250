"""`figlang_tasks.evaluate`: it saves what the command saves, and its errors are exceptions."""

from __future__ import annotations

import doctest
import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import lmms_eval.models
import pytest
import warm
from demo_runs import DEMO, FixedAnswers
from lmms_eval.models.registry_v2 import ModelManifest

import figlang_tasks
from figlang_tasks import DataError, FigLangError, from_python
from figlang_tasks.core.notes import failed_request
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.results import runs

OPTIONS = "figlang_mini_irfl_detect_idiom"
# What differs from run to run: dates, seconds, the folder, and addresses in memory. And the commit
# of the checkout, which may be another one by then.
CHANGING = (
    "date",
    "start_time",
    "end_time",
    "total_evaluation_time_seconds",
    "git_hash",
    "lmms_eval_version",
)


class Silent(FixedAnswers):
    """A model whose requests all fail, as the harness's API classes say it."""

    def __init__(
        self, batch_size: object = 1, max_batch_size: object = None, device: object = None
    ):
        super().__init__(failed_request("no server"))


def saved_results(folder: Path) -> dict[str, Any]:
    """The only results file in a folder, without what changes from run to run."""
    (path,) = folder.rglob("*_results.json")
    text = path.read_text().replace(str(folder), "FOLDER")
    results = json.loads(re.sub(r" at 0x[0-9a-f]+>", ">", text))
    for name in CHANGING:
        del results[name]
    return results


def saved_samples(folder: Path) -> dict[str, bytes]:
    """The samples files in a folder by their places, without the date in their names."""
    samples: dict[str, bytes] = {}
    for path in folder.rglob("*.jsonl"):
        name = path.name.partition("_samples_")[2]
        samples[f"{path.parent.relative_to(folder)}/{name}"] = path.read_bytes()
    return samples


@pytest.mark.slow
def test_it_saves_what_the_command_saves(tmp_path: Path) -> None:
    command_folder, python_folder = tmp_path / "command", tmp_path / "python"
    command = ["lmms_eval", "--model", "figlang_vlm", "--model_args", f"{DEMO},device=cpu"]
    command += ["--tasks", "figlang_mini", "--limit", "8", "--batch_size", "8", "--log_samples"]
    command += ["--gen_kwargs", "num_beams=1,max_new_tokens=8"]
    ended = warm.run([*command, "--output_path", str(command_folder)], cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr

    run = figlang_tasks.evaluate(
        "figlang_vlm",
        {"pretrained": DEMO_MODEL_DIR, "device": "cpu"},
        ["figlang_mini"],
        python_folder,
        limit=8,
        batch_size=8,
        gen_kwargs={"num_beams": 1, "max_new_tokens": 8},
    )
    assert saved_samples(python_folder) == saved_samples(command_folder) != {}
    assert saved_results(python_folder) == saved_results(command_folder)
    assert run is not None and run.name == "demo_model"
    assert run.estimates == runs.read(str(command_folder)).estimates


def test_without_a_folder_the_run_is_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = figlang_tasks.evaluate("figlang_random", None, OPTIONS)
    assert list(tmp_path.iterdir()) == []
    assert run is not None and run.tasks[OPTIONS].rows == 12
    saved = runs.read(str(run.save(tmp_path / "saved")))
    assert saved.estimates == run.estimates
    assert saved.results == run.results


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tasks": ["figlang_minni"]}, r"no task 'figlang_minni' \(did you mean `figlang_mini`"),
        ({"tasks": "list"}, "nothing was evaluated"),
        ({"tasks": []}, "name a task"),
        ({"model": "figlang_radnom"}, "no model class .*did you mean `figlang_random`"),
        ({"model_args": {"name": "a,b"}}, "model_args name=a,b: .* no value may hold"),
        ({"limit": -3}, "limit -3: must be a number of rows"),
        ({"limit": "many"}, "limit='many': could not convert"),
        ({"batchsize": 3}, r"no option batchsize \(did you mean `batch_size`"),
        ({"predict_only": True}, "no option predict_only"),
        ({"model": None}, "model must be the name of a model class"),
        ({"model_args": {"sead": 1}}, "figlang_random: unknown argument sead"),
        ({"offset": -1}, "--offset -1: must be the number of rows"),
        ({"include_path": "no/such"}, "--include_path no/such: there is no such folder"),
    ],
)
def test_a_mistake_is_an_exception_and_nothing_is_written(
    arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    call = {"model": "figlang_random", "model_args": None, "tasks": OPTIONS, **arguments}
    with pytest.raises(FigLangError, match=message):
        figlang_tasks.evaluate(**call, output=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_missing_data_is_a_data_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks end with an exit where the harness's command calls them."""
    monkeypatch.setenv("IRFL_DIR", str(tmp_path / "irfl"))
    with pytest.raises(DataError, match="irfl"):
        figlang_tasks.evaluate("figlang_random", None, "irfl_detect_idiom", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_requests_without_an_answer_are_a_warning_that_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = lmms_eval.models.MODEL_REGISTRY_V2
    monkeypatch.setattr(registry, "_manifests", dict(registry._manifests))
    manifest = ModelManifest("silent", simple_class_path=f"{__name__}.{Silent.__name__}")
    registry.register_manifest(manifest, overwrite=True)
    with pytest.warns(RuntimeWarning, match="requests got no answer .*saved to ") as warned:
        run = figlang_tasks.evaluate("silent", "", OPTIONS, tmp_path, limit=2)
    assert run is not None and run.tasks[OPTIONS].unanswered == 2
    messages = [str(warning.message) for warning in warned]
    assert any(str(next(tmp_path.rglob("*.jsonl")).parent) in message for message in messages)


IN_EACH_PROCESS = f"""
import os, figlang_tasks
run = figlang_tasks.evaluate("figlang_random", None, "{OPTIONS}", "out")
open(os.environ["RANK"], "w").write(str(run and run.tasks["{OPTIONS}"].rows))
"""


@pytest.mark.long
def test_of_several_processes_the_first_has_the_run(tmp_path: Path) -> None:
    command = [sys.executable, "-c", IN_EACH_PROCESS]
    ranks = warm.run_ranks(2, command, cwd=tmp_path, env={"ACCELERATE_USE_CPU": "true"})
    assert [rank.wait() for rank in ranks] == [0, 0]
    assert [(tmp_path / rank).read_text() for rank in ("0", "1")] == ["12", "None"]


def test_the_example_runs() -> None:
    assert doctest.testmod(from_python).failed == 0
