"""All five folds through the real harnesses: the mean of them, matching scores, exemplars, and what
is downloaded.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import nycc_release as release
import pytest
import warm
from demo_runs import DEMO, evaluate
from hub_server import HubServer
from judging import measures_of
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks.benchmarks.nycc import configurations, counts
from figlang_tasks.benchmarks.nycc.benchmark import BENCHMARK
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.results import runs
from figlang_tasks.scoring import evaluate as computed
from figlang_tasks.scoring import process_results

KINDS = {"match": "matching", "rank": "ranking", "explain": "explanation"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def five_folds(folder: Path, config: str = "ranking", test: int = 60) -> None:
    """Fold by fold as few rows as the reader takes: it refuses other numbers than the hub shows,
    not than inferred.
    """
    for name in configurations.fold_names({"config": config, "fold": "all"}):
        release.release(folder, name, test=None if name in counts.SEEN else test)


def mover(values: list[float], ends: list[tuple[float, float]]) -> tuple[float, float]:
    """The interval of an unweighted mean of independent values (Zou & Donner 2008)."""
    mean, n = sum(values) / len(values), len(values)
    below = sum((value - low) ** 2 for value, (low, _) in zip(values, ends, strict=True)) ** 0.5 / n
    above = (
        sum((high - value) ** 2 for value, (_, high) in zip(values, ends, strict=True)) ** 0.5 / n
    )
    return mean - below, mean + above


@pytest.mark.long
def test_the_value_is_the_unweighted_mean_of_five_folds(folder: Path, tmp_path: Path) -> None:
    """What was the group of `nycc_rank_description_0` to `_4` is one task, and each of these a
    scope of it.
    """
    task = "nycc_rank_description"
    five_folds(folder)
    saved = [tmp_path / "saved" / name for name in ("one", "two")]
    other, results = (
        evaluate(task, "figlang_random", f"seed={2 - n}", saved=saved[n]) for n in (1, 0)
    )
    hits: dict[int, list[bool]] = {}
    for sample in results["samples"][task]:
        record = sample["sample"]
        hits.setdefault(record["fold"], []).append(record["predicted"] == record["gold"])
    assert {fold: len(of) for fold, of in hits.items()} == {0: 60, 1: 507, 2: 60, 3: 60, 4: 60}
    shares = [sum(of) / len(of) for of in hits.values()]
    reported = results["configs"][task]["metadata"]["measures"]["values"]["acc"]
    assert [reported[f"fold_{fold}"]["value"] for fold in hits] == pytest.approx(shares, abs=1e-12)
    assert reported["all"]["value"] == pytest.approx(sum(shares) / 5, abs=1e-12)
    ends = [(reported[f"fold_{fold}"]["low"], reported[f"fold_{fold}"]["high"]) for fold in hits]
    low, high = mover(shares, ends)
    assert (reported["all"]["low"], reported["all"]["high"]) == pytest.approx(
        (low, high), abs=1e-12
    )
    assert results["results"][task]["acc,none"] == reported["all"]["value"]

    text = f"{100 * sum(shares) / 5:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
    shown = summary_table(results)
    assert text in shown and "published:" in shown and "Random" in shown
    (there,) = figlang_tasks.compare(*saved, metrics=["acc"], resamples=200).to_dict("records")
    assert (there["scope"], there["baseline_value"]) == ("all", pytest.approx(sum(shares) / 5))
    assert (
        there["candidate_value"] == pytest.approx(other["results"][task]["acc,none"])
        and there["p_randomization"] > 0
    )
    assert len(figlang_tasks.compare(*saved, metrics=["acc_fold_3"], resamples=200)) == 1
    found = (
        CliRunner()
        .invoke(app, ["compare", *map(str, saved), "--overall", "--resamples", "200", "--paper"])
        .stdout
    )
    assert text in found.replace("**", "") and " (published, Table 2)" in found
    page = tmp_path / "report.html"
    assert (
        CliRunner().invoke(app, ["report", str(saved[0]), "-o", str(page), "--no-images"]).exit_code
        == 0
    )
    assert "Published, not measured here" in page.read_text(encoding="utf-8")


def test_one_fold_is_asked_by_an_option_and_not_beside_the_paper(
    folder: Path, tmp_path: Path
) -> None:
    release.release(folder, "ranking_4", test=20)
    task = tmp_path / "tasks" / "one.yaml"
    task.parent.mkdir()
    task.write_text(
        f"include: {tasks_dir()}/nycc/nycc_rank_description.yaml\ntask: one\ndataset_name:"
        " NYCC,config=ranking,fold=4\n"
    )
    results = evaluate("one", "figlang_random", "seed=1", include_path=str(task.parent))
    found = results["configs"]["one"]["metadata"]["measures"]["values"]["acc"]
    assert found["all"]["value"] == found["fold_4"]["value"] and set(found) == {"all", "fold_4"}
    assert "published" not in summary_table(results)


def test_samples_of_a_task_of_one_fold_are_read(folder: Path, tmp_path: Path) -> None:
    """Its records name the request, by which its documents are found again."""
    release.release(folder, "ranking_4", test=20)
    request = Request.of("NYCC", config="ranking", fold="4")
    docs = BENCHMARK.documents(request)
    lines = [
        process_results(doc, [f"Answer: {letter}"])
        for doc, letter in zip(docs, "ABBA" * 5, strict=True)
    ]
    path = tmp_path / "2026-01-02T03-04-05_samples_nycc_rank_description_4.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (task,) = runs.read(str(path)).tasks.values()
    right = sum(doc["label"] == letter for doc, letter in zip(docs, "ABBA" * 5, strict=True))
    assert {scope: each.value for scope, each in task.estimates["acc"].items()} == {
        "all": right / 20,
        "fold_4": right / 20,
    }
    assert (task.kind.name, task.request) == ("nycc_rank", request)
    assert len(BENCHMARK.documents(task.request)) == 20


@pytest.mark.slow
@pytest.mark.parametrize("task", ["nycc_match", "nycc_rank_5shot", "nycc_explain"])
def test_the_demo_model_answers(folder: Path, task: str) -> None:
    five_folds(folder, f"{KINDS[task.split('_')[1]]}_from_pixels", test=2)
    results = evaluate(task, "figlang_vlm", DEMO, limit=2, gen_kwargs="max_new_tokens=8")
    records = [sample["sample"] for sample in results["samples"][task]]
    assert len(records) == 2 and all(
        "scores" not in record or record["scores"] is None for record in records
    )
    assert set(results["results"][task]) > {
        f"{name},none" for name in ("parse_rate", *(["bleu4"] * ("ex" in task)))
    }


LOAD = """
import json
import figlang_tasks
from figlang_tasks.benchmarks.nycc import rows
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.harness.plugin import tasks_dir
found = rows.load("NYCC", "ranking", "1")
shots = rows.exemplars("NYCC", "ranking_1", found[0]["id"], 5, 42)
from figlang_tasks.core import hub
with hub.downloading_nothing():  # `figlang data check` of what has been downloaded, a part of the repository
    here = hub.snapshot(benchmarks()["nycc"].source).revision
print(json.dumps([len(found), found[0]["data"], len(shots), here]))
"""  # noqa: E501


def test_only_what_is_needed_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_DATA_DIR")
    repository = release.release(tmp_path / "repository", "ranking_1", "matching")
    source = BENCHMARK.source
    with HubServer() as hub:
        hub.add_repo(str(source.repository), repository, commit=source.revision)
        done = warm.run([sys.executable, "-c", LOAD], env=hub.env(tmp_path), cwd=tmp_path)
        asked = {
            request.path.rpartition("/resolve/")[2]
            for request in hub.requests
            if "/resolve/" in request.path
        }
    assert done.returncode == 0, done.stderr[-2000:]
    rows_found, data, shots, here = json.loads(done.stdout)
    assert (rows_found, shots, here) == (507, 5, source.revision) and data.startswith(
        f"NYCC/ranking_1@{source.revision}:"
    )
    assert {path.partition("/")[2] for path in asked} == {
        f"ranking_1/{split}-00000-of-00001.parquet" for split in ("test", "train")
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
    own = computed(records, measures_of(records).recomputable, 0)
    shared = [name for name in own if f"{name},none" in results["results"][task]]
    assert len(shared) >= 3 and {record["fold"] for record in records} == set(range(5))
    for name in shared:
        assert results["results"][task][f"{name},none"] == pytest.approx(
            own[name]["all"].value, abs=1e-12
        )
    text = results["samples"][task][0]["arguments"][0][0]
    shots = 5 if "5shot" in task else 0
    assert (
        text.count("Thanks! How about this one?") == shots
        and results["configs"][task]["num_fewshot"] == 0
    )
