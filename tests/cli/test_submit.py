"""``figlang submit``: each target by its command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from flute_rows import blind_rows
from irfl_runs import ROWS, detection, write
from published_runs import README, WRITES_EVAL_RESULTS, records, results, rows, write_run
from vflute_hub import write_vflute_repo

from figlang_tasks import table
from figlang_tasks.benchmarks.flute.rows import blind_data
from figlang_tasks.cli.figlang import app
from figlang_tasks.core import hub
from figlang_tasks.core.errors import RunError

EEE = ("--organization", "My Lab", "--relationship", "other")


def figlang(*arguments: str | Path) -> typer.testing.Result:
    return typer.testing.CliRunner().invoke(app, ["submit", *map(str, arguments)])


def done(*arguments: str | Path) -> str:
    """Standard output of a call that went well."""
    result = figlang(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(*arguments: str | Path) -> str:
    """The one line on standard error that a call ended with."""
    result = figlang(*arguments)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    (line,) = result.stderr.splitlines()
    return line


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


def test_score2024_without_the_references(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done("figlang2024", run, "-o", tmp_path / "a.zip")
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "none"))
    message = refused("score2024", tmp_path / "a.zip", "--scorer", "embedded")
    assert message.startswith("figlang submit score2024: FIGLANG_DATA_DIR=") and "is not a folder" in message
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
    assert "2 outputs have no label (codalab-0, codalab-1)" in refused("figlang2022", run, "-o", target)
    assert not target.exists()
    result = figlang("figlang2022", run, "-o", target, "--fallback", "contradiction")
    text = result.stdout
    assert (result.exit_code, "may add up to 0.13 points to its Acc@0" in result.stderr) == (0, True)
    assert "1500 rows" in text and "2 with the fallback label" in text and "CodaLab, competition 5908" in text
    written = [json.loads(line) for line in target.read_text().splitlines()]
    assert [row["codalab_id"] for row in written] == list(range(1500))
    assert [row["predicted_label"] for row in written[:4]] == ["Contradiction"] * 3 + ["Entailment"]


def test_irfl(tmp_path: Path) -> None:
    for phrase in ROWS:
        write(tmp_path / "run", f"irfl_detect_{phrase}", detection(phrase, lambda number: number % 4 == 0))
    text = done("irfl", f"A model={tmp_path / 'run'}")
    assert "A model" in text and "four images, answers in words" in text
    assert f"{8400 / 333:.1f}" in text  # metaphors
    more = tmp_path / "more" / "run"
    more.mkdir(parents=True)
    (samples,) = (tmp_path / "run").glob("*_metaphor.jsonl")
    samples.rename(more / samples.name)
    assert done("irfl", f"A model={tmp_path / 'run'}", f"A model={more}") == text
    message = refused("irfl", tmp_path / "run", "--family", "match")
    assert message.startswith("figlang submit irfl: no task of irfl_match in the runs: lmms_eval --tasks irfl_match")


def test_every_eval_ever(run: Path, tmp_path: Path) -> None:
    result = figlang("every-eval-ever", run, "-o", tmp_path / "eee", *EEE)
    (path,) = (tmp_path / "eee").rglob("*.json")
    assert f"written: {path}\nto submit: " in result.stdout and result.exit_code == 0
    assert "texts of V-FLUTE, which are gated on the hub" in result.stderr
    assert figlang("every-eval-ever", run, "-o", tmp_path / "eee", *EEE, "--no-samples").stderr == ""
    assert figlang("every-eval-ever", run, "-o", tmp_path).exit_code == 2


ACC = 542 / 723  # of the records, 181 of which are wrong


@pytest.mark.parametrize(
    ("edited", "told"),
    [
        ("measures", "acc 0.900000 (its samples: 0.749654)"),
        ("sample", "acc 0.749654 (its samples: 0.748271)"),
        ("none", "f1@60 0.500000 (its samples: none)"),
    ],
)
def test_results_and_samples_that_contradict_each_other_are_not_published(
    edited: str, told: str, tmp_path: Path
) -> None:
    found = records()
    if edited == "sample":
        found[0]["predicted"] = 1 - found[0]["predicted"]
    values = {"acc": 0.9 if edited == "measures" else ACC} | ({"f1@60": 0.5} if edited == "none" else {})
    run = write_run(tmp_path / "run", found, results(values))
    message = refused("every-eval-ever", run, "-o", tmp_path / "eee", *EEE)
    assert f"samples_vflute.jsonl: the results file says {told}. Are these files of two runs" in message
    assert told in refused("figlang2024", run, "-o", tmp_path / "a.zip")
    if WRITES_EVAL_RESULTS:
        assert told in refused("hub", run, "--repo", "a/b", "-o", tmp_path / "hub")
    with pytest.raises(RunError, match=re.escape(told)):
        table(run)
    assert not any((tmp_path / name).exists() for name in ("eee", "a.zip", "hub"))


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
