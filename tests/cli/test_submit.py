"""``figlang submit``: each target by its command line."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from flute_rows import blind_rows
from irfl_runs import ROWS, detection, write
from published_runs import README, WRITES_EVAL_RESULTS, records, results, rows, write_run
from vflute_hub import write_vflute_repo

from figlang_tasks import table
from figlang_tasks.benchmarks.flute.rows import blind_data
from figlang_tasks.core import hub
from figlang_tasks.core.errors import RunError

EEE = ("--organization", "My Lab", "--relationship", "other")


figlang, done = partial(commands.figlang, "submit"), partial(commands.done, "submit")
refused = partial(commands.refused, "submit")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", records(), results())


def test_figlang2024_and_its_score(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "figlang2024.zip"
    text = done("figlang2024", run, "-o", target)
    empty = sum(not record["explanation"] for record in records())
    assert text.startswith(f"written: {target} (723 rows of V-FLUTE/test:0123456789ab, {empty} without an explanation)")
    assert "to upload: CodaBench" in text
    write_vflute_repo(tmp_path / "data" / "V-FLUTE", {"test": rows()}, image_size=2)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "data"))
    scores = json.loads(done("score2024", target, "--scorer", "embedded", "--json"))
    assert scores["measures"]["values"].keys() == {"f1@0", "f1@50", "f1@60", "acc", "explanation_score"}
    right = sum(record["predicted"] == record["gold"] for record in records())
    assert scores["measures"]["values"]["acc"]["all"]["value"] == pytest.approx(right / 723)
    table = done("score2024", target, "--scorer", "embedded")
    assert f"{100 * scores['measures']['values']['f1@50']['all']['value']:.1f} [" in table and "f1@50" in table
    assert "explanation scorer: embedded (not a published metric)|" in table


def test_score2024_of_something_else(run: Path) -> None:
    assert "is not a readable zip" in refused("score2024", run / "2026-01-02T03-04-05_samples_vflute.jsonl")


def test_figlang2022(tmp_path: Path) -> None:
    asked = blind_rows()
    data = blind_data(asked)
    found: list[dict[str, Any]] = [
        {
            "id": f"codalab-{row['codalab_id']}",
            "data": data,
            "codalab_id": row["codalab_id"],
            "source_id": row["id"],
            "premise": row["premise"],
            "hypothesis": row["hypothesis"],
            "predicted": None if number < 2 else number % 2,
            "explanation": "Because.",
            "status": "read",
            "rule": "marker",
            "predicted_strict": None,
        }
        for number, row in enumerate(asked)
    ]
    run = tmp_path / "samples_flute_codalab.jsonl"
    run.write_text("".join(json.dumps({"sample": record}) + "\n" for record in reversed(found)))
    target = tmp_path / "submission.jsonl"
    result = figlang("figlang2022", run, "-o", target, "--fallback", "contradiction")
    text = result.stdout
    assert (result.exit_code, "may add up to 0.13 points to its Acc@0" in result.stderr) == (0, True)
    assert "1500 rows" in text and "2 with the fallback label" in text and "CodaLab, competition 5908" in text
    assert len(target.read_text().splitlines()) == 1500


def test_irfl(tmp_path: Path) -> None:
    for phrase in ROWS:
        write(tmp_path / "run", f"irfl_detect_{phrase}", detection(phrase, lambda number: number % 4 == 0))
    text = done("irfl", f"A model={tmp_path / 'run'}")
    assert "A model" in text and "four images, answers in words" in text
    assert f"{8400 / 333:.1f}" in text  # metaphors
    message = refused("irfl", tmp_path / "run", "--family", "match")
    assert message.startswith("figlang submit irfl: no task of irfl_match in the runs: lmms_eval --tasks irfl_match")


def test_every_eval_ever(run: Path, tmp_path: Path) -> None:
    result = figlang("every-eval-ever", run, "-o", tmp_path / "eee", *EEE)
    (path,) = (tmp_path / "eee").rglob("*.json")
    assert f"written: {path}\nto submit: " in result.stdout and result.exit_code == 0
    assert "texts of V-FLUTE, which are gated on the hub" in result.stderr
    assert figlang("every-eval-ever", run, "-o", tmp_path / "eee", *EEE, "--no-samples").stderr == ""
    assert figlang("every-eval-ever", run, "-o", tmp_path).exit_code == 2


@pytest.mark.parametrize(
    ("measured", "told"),
    [
        ({"acc": 0.9}, "acc 0.900000 (its samples: 0.749654)"),
        ({"acc": 542 / 723, "f1@60": 0.5}, "f1@60 0.500000 (its samples: none)"),  # 181 of the records are wrong
    ],
)
def test_results_and_samples_that_contradict_each_other_are_not_published(
    measured: dict[str, float], told: str, tmp_path: Path
) -> None:
    run = write_run(tmp_path / "run", records(), results(measured))
    message = f"samples_vflute.jsonl: the results file says {told}. Are these files of two runs"
    assert message in refused("every-eval-ever", run, "-o", tmp_path / "eee", *EEE)
    assert message in refused("figlang2024", run, "-o", tmp_path / "a.zip")
    if WRITES_EVAL_RESULTS:
        assert message in refused("hub", run, "--repo", "a/b", "-o", tmp_path / "hub")
    with pytest.raises(RunError, match=re.escape(told)):
        table(run)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


needs_eval_results = pytest.mark.skipif(not WRITES_EVAL_RESULTS, reason="huggingface_hub below 2.0")


@pytest.mark.skipif(WRITES_EVAL_RESULTS, reason="huggingface_hub 2.0 or newer")
def test_hub_needs_a_newer_client(run: Path, tmp_path: Path) -> None:
    told = refused("hub", run, "--repo", "org/model", "-o", tmp_path / "model")
    assert "this huggingface_hub cannot write .eval_results: pip install --upgrade huggingface_hub" in told
    assert not (tmp_path / "model").exists()


@needs_eval_results
def test_hub_writes_a_folder_and_how_to_upload_it(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = done("hub", run, "--repo", "org/model")
    assert text.splitlines() == [
        "written: model/README.md",
        "written: model/.eval_results/V-FLUTE.yaml",
        "to upload as a pull request: hf upload org/model model . --create-pr",
    ]
    (tmp_path / "model" / "README.md").write_text(README)
    again = figlang("hub", run, "--repo", "org/model")
    assert "README.md is new" not in again.stderr and (tmp_path / "model" / "README.md").read_text().startswith("---")
    assert (tmp_path / "model" / ".eval_results" / "V-FLUTE.yaml").exists()
    assert "'repo_name' or 'namespace/repo_name'" in refused("hub", run, "--repo", "a/b/c")
