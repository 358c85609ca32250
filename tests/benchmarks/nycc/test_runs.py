"""NYCC's folds, exemplars or downloads are wrong in the real harnesses if this fails."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import rows_with_images
import warm
from demo_runs import DEMO, evaluate
from hub_server import HubServer
from tasks_without_harness import measures_of
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks.benchmarks.nycc import configurations, counts
from figlang_tasks.benchmarks.nycc.benchmark import BENCHMARK
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.results import runs
from figlang_tasks.scoring import evaluate as recompute
from figlang_tasks.scoring import process_results

KINDS = {"match": "matching", "rank": "ranking", "explain": "explanation"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def five_folds(folder: Path, config: str = "ranking", test: int = 60) -> None:
    """Write five folds with few test rows, or with all where the hub shows their number.

    The reader refuses another number than the hub's, but not another than an inferred one.
    """
    for name in configurations.fold_names({"config": config, "fold": "all"}):
        rows_with_images.write_nycc(folder, name, test=None if name in counts.SEEN else test)


def mover(values: list[float], limits: list[tuple[float, float]]) -> tuple[float, float]:
    """The interval of an unweighted mean of independent values (Zou & Donner 2008)."""
    mean = sum(values) / len(values)
    below = math.dist(values, [low for low, _ in limits]) / len(values)
    above = math.dist(values, [high for _, high in limits]) / len(values)
    return mean - below, mean + above


@pytest.mark.long
def test_the_value_is_the_unweighted_mean_of_five_folds(folder: Path, tmp_path: Path) -> None:
    """The value, its interval and its scopes in results, tables, comparisons and reports."""
    task = "nycc_rank_description"
    five_folds(folder)
    baseline_folder = tmp_path / "saved" / "one"
    candidate_folder = tmp_path / "saved" / "two"
    candidate = evaluate(task, "figlang_random", "seed=1", saved=candidate_folder)
    results = evaluate(task, "figlang_random", "seed=2", saved=baseline_folder)

    shares = check_folds(results, task)
    low, high = check_interval(results, task, shares)
    text = f"{100 * sum(shares) / 5:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
    table = summary_table(results)
    assert text in table
    assert "published:" in table
    assert "Random" in table

    candidate_value = candidate["results"][task]["acc,none"]
    check_comparison(baseline_folder, candidate_folder, sum(shares) / 5, candidate_value, text)
    page = tmp_path / "report.html"
    report = ["report", str(baseline_folder), "-o", str(page), "--no-images"]
    assert CliRunner().invoke(app, report).exit_code == 0
    assert "Published, not measured here" in page.read_text(encoding="utf-8")


def check_folds(results: Any, task: str) -> list[float]:
    """Check the values of all folds and their mean; return the share of right rows of each fold."""
    hits_by_fold: dict[int, list[bool]] = {}
    for sample in results["samples"][task]:
        record = sample["sample"]
        is_right = record["predicted"] == record["gold"]
        hits_by_fold.setdefault(record["fold"], []).append(is_right)
    row_counts = {fold: len(hits) for fold, hits in hits_by_fold.items()}
    assert row_counts == {0: 60, 1: 507, 2: 60, 3: 60, 4: 60}
    shares = [sum(hits) / len(hits) for hits in hits_by_fold.values()]
    reported = results["configs"][task]["metadata"]["measures"]["values"]["acc"]
    values = [reported[f"fold_{fold}"]["value"] for fold in hits_by_fold]
    assert values == pytest.approx(shares, abs=1e-12)
    assert reported["all"]["value"] == pytest.approx(sum(shares) / 5, abs=1e-12)
    assert results["results"][task]["acc,none"] == reported["all"]["value"]
    return shares


def check_interval(results: Any, task: str, shares: list[float]) -> tuple[float, float]:
    """Check the interval of the mean, which is that of independent folds; return its limits."""
    reported = results["configs"][task]["metadata"]["measures"]["values"]["acc"]
    limits: list[tuple[float, float]] = []
    for fold in range(5):
        estimate = reported[f"fold_{fold}"]
        limits.append((estimate["low"], estimate["high"]))
    low, high = mover(shares, limits)
    interval = (reported["all"]["low"], reported["all"]["high"])
    assert interval == pytest.approx((low, high), abs=1e-12)
    return low, high


def check_comparison(
    baseline: Path, candidate: Path, baseline_value: float, candidate_value: float, text: str
) -> None:
    """Check that runs are compared by the mean of the folds, and by a fold if it is named.

    Args:
        baseline, candidate: the folders of the runs.
        baseline_value, candidate_value: their values.
        text: the value and the interval of the baseline, as ``figlang compare`` prints them.
    """
    compare = figlang_tasks.compare
    (acc,) = compare(baseline, candidate, metrics=["acc"], resamples=200).to_dict("records")
    assert acc["scope"] == "all"
    assert acc["baseline_value"] == pytest.approx(baseline_value)
    assert acc["candidate_value"] == pytest.approx(candidate_value)
    assert acc["p_randomization"] > 0
    assert len(compare(baseline, candidate, metrics=["acc_fold_3"], resamples=200)) == 1
    command = ["compare", str(baseline), str(candidate)]
    options = ["--overall", "--resamples", "200", "--paper"]
    table = CliRunner().invoke(app, [*command, *options]).stdout
    assert text in table.replace("**", "")
    assert " (published, Table 2)" in table


def test_one_fold_is_asked_by_an_option_and_not_beside_the_paper(
    folder: Path, tmp_path: Path
) -> None:
    rows_with_images.write_nycc(folder, "ranking_4", test=20)
    task_file = tmp_path / "tasks" / "one.yaml"
    task_file.parent.mkdir()
    task_file.write_text(
        f"include: {tasks_dir()}/nycc/nycc_rank_description.yaml\n"
        "task: one\n"
        "dataset_name: NYCC,config=ranking,fold=4\n"
    )
    results = evaluate("one", "figlang_random", "seed=1", include_path=str(task_file.parent))
    estimates = results["configs"]["one"]["metadata"]["measures"]["values"]["acc"]
    assert set(estimates) == {"all", "fold_4"}
    assert estimates["all"]["value"] == estimates["fold_4"]["value"]
    assert "published" not in summary_table(results)


def test_samples_of_a_task_of_one_fold_are_read(folder: Path, tmp_path: Path) -> None:
    """Its records name the request, by which its documents are found again."""
    rows_with_images.write_nycc(folder, "ranking_4", test=20)
    request = Request.of("NYCC", config="ranking", fold="4")
    json_lines: list[str] = []
    right = 0
    for doc, letter in zip(BENCHMARK.documents(request), "ABBA" * 5, strict=True):
        judged = process_results(doc, [f"Answer: {letter}"])
        json_lines.append(json.dumps(judged) + "\n")
        right += doc["label"] == letter
    path = tmp_path / "2026-01-02T03-04-05_samples_nycc_rank_description_4.jsonl"
    path.write_text("".join(json_lines), encoding="utf-8")
    (task,) = runs.read(str(path)).tasks.values()
    values = {scope: estimate.value for scope, estimate in task.estimates["acc"].items()}
    assert values == {"all": right / 20, "fold_4": right / 20}
    assert (task.kind.name, task.request) == ("nycc_rank", request)
    assert len(BENCHMARK.documents(task.request)) == 20


@pytest.mark.slow
@pytest.mark.parametrize("task", ["nycc_match", "nycc_rank_5shot", "nycc_explain"])
def test_the_demo_model_answers(folder: Path, task: str) -> None:
    five_folds(folder, f"{KINDS[task.split('_')[1]]}_from_pixels", test=2)
    results = evaluate(task, "figlang_vlm", DEMO, limit=2, gen_kwargs="max_new_tokens=8")
    records = [sample["sample"] for sample in results["samples"][task]]
    assert len(records) == 2
    assert all(record.get("scores") is None for record in records)
    assert "parse_rate,none" in results["results"][task]
    assert ("bleu4,none" in results["results"][task]) == (task == "nycc_explain")


LOAD = """
import json
import figlang_tasks
from figlang_tasks.benchmarks.nycc import rows
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.harness.plugin import tasks_dir
documents = rows.load("NYCC", "ranking", "1")
shots = rows.exemplars("NYCC", "ranking_1", documents[0]["id"], 5, 42)
from figlang_tasks.core import hub
with hub.downloading_nothing():  # `figlang data check` of what has been downloaded, a part of the repository
    revision = hub.snapshot(benchmarks()["nycc"].source).revision
print(json.dumps([len(documents), documents[0]["data"], len(shots), revision]))
"""  # noqa: E501


def test_only_what_is_needed_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_DATA_DIR")
    repository = rows_with_images.write_nycc(tmp_path / "repository", "ranking_1", "matching")
    source = BENCHMARK.source
    with HubServer() as hub:
        hub.add_repo(str(source.repository), repository, commit=source.revision)
        done = warm.run([sys.executable, "-c", LOAD], env=hub.env(tmp_path), cwd=tmp_path)
        downloaded_files: set[str] = set()
        for request in hub.requests:
            _, resolve, revision_and_file = request.path.rpartition("/resolve/")
            if resolve:
                downloaded_files.add(revision_and_file.partition("/")[2])
    assert done.returncode == 0, done.stderr[-2000:]
    row_count, data, shot_count, revision = json.loads(done.stdout)
    assert (row_count, shot_count, revision) == (507, 5, source.revision)
    assert data.startswith(f"NYCC/ranking_1@{source.revision}:")
    assert downloaded_files == {
        "ranking_1/test-00000-of-00001.parquet",
        "ranking_1/train-00000-of-00001.parquet",
    }


@pytest.mark.slow
@pytest.mark.parametrize("task", ["nycc_rank_description", "nycc_explain_description_5shot"])
def test_lm_eval_has_the_same_task(folder: Path, task: str) -> None:
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    five_folds(folder, KINDS[task.split("_")[1]], test=3)
    manager = TaskManager(include_path=str(tasks_dir().parent / "lm_eval"), include_defaults=False)
    results: Any = simple_evaluate("dummy", tasks=[task], task_manager=manager, bootstrap_iters=0)
    records = [sample["sample"] for sample in results["samples"][task]]
    assert {record["fold"] for record in records} == set(range(5))
    values = results["results"][task]
    estimates = recompute(records, measures_of(records).recomputable, 0)
    shared_metrics = [name for name in estimates if f"{name},none" in values]
    assert len(shared_metrics) >= 3
    for name in shared_metrics:
        value = estimates[name]["all"].value
        assert values[f"{name},none"] == pytest.approx(value, abs=1e-12)
    prompt = results["samples"][task][0]["arguments"][0][0]
    shots = 5 if "5shot" in task else 0
    assert prompt.count("Thanks! How about this one?") == shots
    assert results["configs"][task]["num_fewshot"] == 0
