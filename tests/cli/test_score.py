"""``figlang score``: the run that it writes equals a run that scored its explanations itself."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, TypeAlias

import demo_runs
import pytest
from commands import done, refused
from demo_runs import SAMPLES_NAME, run_figlang_mini
from flute_rows import write_lines
from saved_runs import sample_lines

from figlang_tasks.metrics.explanation import get_scorer
from figlang_tasks.metrics.explanation.weights import locate
from figlang_tasks.results import runs

RESULTS = SAMPLES_NAME.replace("samples_figlang_mini.jsonl", "results.json")
EMBEDDED = ("--scorer", "embedded")

Sample: TypeAlias = dict[str, Any]
"""A line of a samples file."""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty score cache."""
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def samples_file(tmp_path: Path) -> Path:
    """What the harness wrote for the first 10 rows, in a run without a scorer."""
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / SAMPLES_NAME
    path.write_bytes(b"".join(run_figlang_mini()[0].splitlines(keepends=True)[:10]))
    return path


def read_samples(path: Path) -> list[Sample]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def assert_equal_but_for_digits_of_scores(samples: list[Sample], expected: list[Sample]) -> None:
    """Scores of two processes may differ in the sixth digit.

    Each process chooses the kernel that is quickest at that moment.
    """
    assert len(samples) == len(expected)
    for sample, expected_sample in zip(samples, expected, strict=True):
        scores = sample["sample"].pop("explanation_scores", {})
        expected_scores = expected_sample["sample"].pop("explanation_scores", {})
        assert scores.pop("scorer", None) == expected_scores.pop("scorer", None)
        assert scores == pytest.approx(expected_scores, abs=2e-6)
        assert sample == expected_sample


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_new_run_equals_one_that_scores(samples_file: Path) -> None:
    samples_file.write_bytes(run_figlang_mini()[0])
    samples_with_scores, values_with_scores = run_figlang_mini("embedded")
    done("score", samples_file, *EMBEDDED)
    folder = samples_file.with_name(f"{samples_file.stem}_scored")
    assert (folder / SAMPLES_NAME).read_bytes() == samples_with_scores
    task = runs.read(str(folder)).tasks["figlang_mini"]
    metrics_of_explanations = ["f1@0", "f1@53", "f1@60", "explanation_score"]
    assert list(task.reported) == [
        *metrics_of_explanations,
        "acc",
        "parse_rate",
        "parse_disagreement",
    ]
    table = json.loads((folder / RESULTS).read_text())["results"]["figlang_mini"]
    for metric, scopes in task.reported.items():
        assert table[f"{metric},none"] == scopes["all"].value
        assert table[f"{metric},none"] == values_with_scores[metric]
        assert table[f"{metric}_stderr,none"] == scopes["all"].stderr
    assert task.signature == get_scorer("embedded", cache=False).signature


def test_a_run_that_has_these_scores_stays_as_it_is(samples_file: Path) -> None:
    done("score", samples_file, *EMBEDDED)
    folder = samples_file.with_name(f"{samples_file.stem}_scored")
    signature = get_scorer("embedded", cache=False).signature
    output = done("score", folder, *EMBEDDED)
    reason = f"{folder} stays as it is: figlang_mini has these scores: {signature}"
    assert output == f"{reason}\nnothing is written\n"
    assert names(samples_file.parent) == {SAMPLES_NAME, folder.name}

    results_file = folder / RESULTS  # The scores of another version are made again.
    text = results_file.read_text()
    assert text.count(signature) > 0
    results_file.write_text(text.replace(signature, f"{signature}-old"))
    assert "written: " in done("score", folder, *EMBEDDED)


def test_the_new_run_is_printed_and_stands_beside_the_old_one(samples_file: Path) -> None:
    output = done("score", samples_file, *EMBEDDED)
    folder = samples_file.with_name(f"{samples_file.stem}_scored")
    task = runs.read(str(folder)).tasks["figlang_mini"]
    for text in ("| HAIVMet ", "f1@53", str(task.signature), f"written: {folder}"):
        assert text in output
    assert names(samples_file.parent) == {SAMPLES_NAME, folder.name}
    assert names(folder) == {SAMPLES_NAME, RESULTS}


def without_errors(table: dict[str, Any]) -> dict[str, Any]:
    """The values of a task in the harness's table, without their standard errors."""
    return {name: value for name, value in table.items() if "_stderr" not in name}


def test_a_run_of_several_tasks_is_written_whole(tmp_path: Path) -> None:
    """A task without explanations stays as it was, and so does what the results say of the run."""
    tasks = ("figlang_mini", "mini_flute_v1", "mini_irfl_match_simile")
    scored_tasks = tasks[:2]
    unscored_task = tasks[2]
    run = tmp_path / "model"
    run.mkdir()
    for task in tasks:
        (samples_file,) = demo_runs.weak_run().glob(f"*_samples_{task}.jsonl")
        shutil.copy(samples_file, run)
    (results_file,) = demo_runs.weak_run().glob("*_results.json")
    results_with_scores = json.loads(results_file.read_text())
    results_without_scores = json.loads(results_file.read_text())
    results_without_scores["config"] = {**results_with_scores["config"], "limit": 8.0}
    for task in scored_tasks:
        results_without_scores["results"][task] = {}
        for name in ("measures", "explanation_scorer"):
            del results_without_scores["configs"][task]["metadata"][name]
    (run / results_file.name).write_text(json.dumps(results_without_scores))

    done("score", run, *EMBEDDED)
    folder = tmp_path / "model_scored"
    assert names(folder) == names(run)
    for name in names(run) - {results_file.name}:
        assert_equal_but_for_digits_of_scores(read_samples(folder / name), read_samples(run / name))
    written = json.loads((folder / results_file.name).read_text())
    for task in tasks:
        metadata = written["configs"][task]["metadata"]
        expected = results_with_scores["configs"][task]["metadata"]
        assert metadata["measures"]["values"].keys() == expected["measures"]["values"].keys()
        # Each process chooses its kernel by speed, unless it has the cache of another one.
        of_this_process = {"explanation_kernel": "any", "measures": {}}
        assert {**metadata, **of_this_process} == {**expected, **of_this_process}
        values = without_errors(results_with_scores["results"][task])
        written_values = without_errors(written["results"][task])
        assert {"alias": task, **written_values} == pytest.approx(values, abs=1e-5)
    assert written["results"][unscored_task] == results_with_scores["results"][unscored_task]
    saved_run = runs.read(str(folder))
    assert saved_run.partial is None
    assert saved_run.tasks["figlang_mini"].contradictions == ()


def test_texts_of_all_kinds(samples_file: Path) -> None:
    outputs = [None, " \n", "half a pair \ud800 of surrogates", "\x00\u2028\x85<b>", "🫖 茶"]
    samples = read_samples(samples_file)[: len(outputs)]
    for sample, output in zip(samples, outputs, strict=True):
        sample["filtered_resps"] = output
    write_lines(samples_file, samples)
    done("score", samples_file, *EMBEDDED, "-o", samples_file.parent / "new")
    written_file = samples_file.parent / "new" / SAMPLES_NAME
    scored_samples = read_samples(written_file)
    assert [sample["filtered_resps"] for sample in scored_samples] == outputs
    records = [sample["sample"] for sample in scored_samples]
    assert [record["explanation"] for record in records] == [None, "", *outputs[2:]]
    means = [record["explanation_scores"]["mean"] for record in records]
    assert [mean > 0 for mean in means] == [False, False, True, True, True]
    assert b"\\ud800" in written_file.read_bytes()
    assert "🫖 茶".encode() in written_file.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scorer", "vflute26"), "unknown scorer 'vflute26'; valid: vflute25"),
        (("--scorer", "vflute25"), "deberta-xlarge-mnli holds no weights"),
        ((*EMBEDDED, "-o", f"{__file__}/new"), "test_score.py: Not a directory"),
    ],
)
def test_a_failure_is_one_line(
    options: tuple[str, ...],
    message: str,
    samples_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "weights" / "deberta-xlarge-mnli").mkdir(parents=True)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path / "weights"))
    locate.cache_clear()
    line = refused("score", samples_file, *options)
    assert line.startswith("figlang: ")
    assert message in line
    assert names(samples_file.parent) == {SAMPLES_NAME}


def save_flute_samples(path: Path, **changes: Any) -> Path:
    """Save samples of FLUTE, with changes in the last record."""
    samples = sample_lines("figlang_mini_flute")
    samples[-1]["sample"] |= changes
    return write_lines(path, samples)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "no row", "reference": None}, " has no gold, reference and explanation"),
        ({"id": "no row", "explanation": 7}, " has an explanation that is no text"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """A record is taken as it was saved only where the data of its run is not here."""
    path = save_flute_samples(tmp_path / "samples_flute.jsonl", **changes)
    line = refused("score", path, *EMBEDDED)
    assert "samples_flute.jsonl has a record that is not as the task flute writes it" in line
    assert message in line
    assert names(tmp_path) == {"samples_flute.jsonl"}


@pytest.mark.parametrize(
    ("task", "scorer", "model"),
    [("figlang_mini", "vflute25", "xlarge-mnli"), ("flute", "flute22", "deberta-large-mnli")],
)
def test_by_default_the_papers_scorer_is_used(
    task: str, scorer: str, model: str, samples_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(samples_file.parent))
    locate.cache_clear()
    flute_file = save_flute_samples(
        samples_file.with_name("2026-01-02T03-04-05_samples_flute.jsonl")
    )
    flute_samples = read_samples(flute_file)
    for sample in flute_samples:
        # Rows of the mini data name a scorer; these are taken as they were saved.
        del sample["sample"]["scorer"]
        sample["sample"]["id"] = f"no row {sample['doc_id']}"
    write_lines(flute_file, flute_samples)
    (path,) = samples_file.parent.glob(f"*_samples_{task}.jsonl")
    assert f"the weights of {scorer} are not here" in refused("score", path)
    assert model in refused("score", path, "--scorer", scorer)
