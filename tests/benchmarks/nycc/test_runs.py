"""Generated folds through the real harnesses: chance, the demo model, matching scores, exemplars, the mean of five."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import warm
from benchmarks.nycc import release
from demo_runs import DEMO, evaluate
from hub_server import HubServer
from marks import slow_unless
from models import tiny_encoders
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks.benchmarks.nycc import measures, rows
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.judge.export import export
from figlang_tasks.results import published, runs
from figlang_tasks.scoring import evaluate as computed
from figlang_tasks.submit import model_card

FIVE = ["", *(f"_{fold}" for fold in range(1, 5))]
KINDS = {"match": "matching", "rank": "ranking", "explain": "explanation"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def five_folds(folder: Path) -> None:
    """Ranking by descriptions: a large fold, and small ones, whose numbers of rows were inferred: others will do."""
    release.release(folder, "ranking_1")
    release.release(folder, *(f"ranking{fold}" for fold in FIVE if fold != "_1"), test=60)


@pytest.mark.slow
def test_a_group_is_the_unweighted_mean_of_five_folds(folder: Path, tmp_path: Path) -> None:
    group = "nycc_rank_description"
    five_folds(folder)
    saved = [tmp_path / "saved" / name for name in ("one", "two")]
    other, results = (evaluate(group, "figlang_random", f"seed={2 - n}", saved=saved[n]) for n in (1, 0))
    folds = [results["results"][f"{group}_{fold}"]["acc,none"] for fold in range(5)]
    found = results["results"][group]
    assert found["acc,none"] == pytest.approx(sum(folds) / 5, abs=1e-12) and "unweighted mean" in found["alias"]
    shown = summary_table(results)
    mean = next(line for line in shown.splitlines() if "mean, unweighted" in line)
    assert f"{100 * found['acc,none']:.1f}" in mean and "published:" in shown and "Random" in shown
    interval = f"{100 * found['acc,none']:.1f} {_mover(results, [f'{group}_{fold}' for fold in range(5)])}"
    assert interval in mean
    (there,) = figlang_tasks.compare(*saved, metrics=["acc"], overall=True, resamples=200).to_dict("records")
    assert (there["task"], there["value_first"]) == (group, pytest.approx(found["acc,none"]))
    assert there["value_second"] == pytest.approx(other["results"][group]["acc,none"]) and 0 < there["p_randomization"]
    assert len(figlang_tasks.compare(*saved, tasks=[f"{group}_0"], metrics=["acc"], resamples=200)) == 1
    for given in (results, saved[0]):
        numbers = figlang_tasks.table(given).query("task == @group and metric == 'acc'").to_dict("records")
        assert [(each["scope"], each["value"], each["n"]) for each in numbers] == [
            ("all", pytest.approx(found["acc,none"]), 747)
        ]
    card = model_card.section([runs.read(str(saved[0]))])
    assert "\n1 task of " in card and f"### `{group}`" in card and f" {100 * found['acc,none']:.1f} | " in card
    assert f"- mean: unweighted, of `{group}_0`, `{group}_1`, " in card and card.count("SHA-256") == 1
    asked = ["compare", *map(str, saved), "--overall", "--resamples", "200"]
    table = CliRunner().invoke(app, [*asked, "--paper"]).stdout
    assert f"## {group}\n" in table and interval in table and " (published, Table 2)" in table
    assert f" {group}: unweighted mean of 5 folds." in table
    page = tmp_path / "report.html"
    assert CliRunner().invoke(app, ["report", str(saved[0]), "-o", str(page), "--no-images"]).exit_code == 0
    shown = re.sub('<wbr>|<span class="interval">', "", page.read_text(encoding="utf-8")).replace("\xa0", " ")
    assert interval in shown and f"{group}: unweighted mean of 5 folds." in shown and "2209.06293 (ACL 2023)" in shown


@pytest.mark.parametrize(
    ("task", "config", "chance"),
    [("nycc_rank_description_1", "ranking_1", 0.5), ("nycc_match_0", "matching_from_pixels", 0.2)],
)
def test_one_fold_is_at_chance_and_never_beside_the_paper(folder: Path, task: str, config: str, chance: float) -> None:
    release.release(folder, config)
    results = evaluate(task, "figlang_random", "seed=1")
    assert results["results"][task]["acc,none"] == pytest.approx(chance, abs=0.06)
    assert "published" not in summary_table(results)


def _mover(results: Any, tasks: list[str]) -> str:
    """The interval of an unweighted mean, from those of its folds."""
    found = [results["configs"][task]["metadata"]["measures"]["values"]["acc"]["all"] for task in tasks]
    value = sum(each["value"] for each in found) / 5
    below, above = (sum((each["value"] - each[end]) ** 2 for each in found) ** 0.5 / 5 for end in ("low", "high"))
    return f"[{100 * (value - below):.1f}, {100 * (value + above):.1f}]"


def test_five_folds_that_are_cut_are_not_beside_the_paper(folder: Path) -> None:
    five_folds(folder)
    shown = summary_table(evaluate("nycc_rank_description", "figlang_random", limit=2))
    assert "mean, unweighted" in shown and "they are of all rows, and a run was cut short" in shown


@pytest.mark.parametrize("task", slow_unless({"nycc_match_0"}, ["nycc_match_0", "nycc_rank_5shot_0", "nycc_explain_0"]))
def test_the_demo_model_answers(folder: Path, task: str) -> None:
    kind = KINDS[task.split("_")[1]]
    release.release(folder, f"{kind}_from_pixels")
    results = evaluate(task, "figlang_vlm", DEMO, limit=2, gen_kwargs="max_new_tokens=8")
    records = [sample["sample"] for sample in results["samples"][task]]
    assert len(records) == 2 and all("scores" not in record or record["scores"] is None for record in records)
    assert set(results["results"][task]) > {f"{name},none" for name in ("parse_rate", *(["bleu4"] * ("ex" in task)))}


@pytest.mark.parametrize("task", ["nycc_match_0", "nycc_rank_0"])
def test_a_dual_encoder_takes_the_most_similar_caption(folder: Path, task: str, tmp_path: Path) -> None:
    release.release(folder, f"{KINDS[task.split('_')[1]]}_from_pixels")
    checkpoint = tiny_encoders.write("clip", tmp_path / "clip")
    results = evaluate(task, "figlang_clip", f"pretrained={checkpoint},device=cpu", limit=3)
    for sample in results["samples"][task]:
        record = sample["sample"]
        best = [
            letter for letter, score in zip("ABCDE", record["scores"], strict=False) if score == max(record["scores"])
        ]
        assert record["status"] == "scores" and best == [record["predicted"]]


@pytest.mark.slow
def test_records_give_what_was_reported_and_sheets_for_judges(folder: Path, tmp_path: Path) -> None:
    """Saved samples of both forms are read again, and `figlang judge export` makes sheets of their explanations."""
    release.release(folder, "explanation", "explanation_from_pixels")
    for number, task in enumerate(("nycc_explain_0", "nycc_explain_description_0")):
        saved = [tmp_path / f"{number}{name}" for name in "ab"]
        for path in saved:
            results = evaluate(task, "figlang_random", limit=4, saved=path, log_samples=True)
        records = [sample["sample"] for sample in results["samples"][task]]
        assert measures.of_records(records) is measures.EXPLANATION
        reported = results["configs"][task]["metadata"]["measures"]["values"]
        assert {"bleu4", "rouge_l", "explanation_score", "explained@53"} <= reported.keys()
        assert set(computed(records, measures.EXPLANATION.sums, 0)) == set(reported)
        output = tmp_path / f"{number}.csv"
        written = export(
            [f"{name}={path}" for name, path in zip("ab", saved, strict=True)], output, count=2, seed=1, annotators=3,
        )  # fmt: skip
        assert [path.name for path in written[1:]] == [
            *(f"{number}.annotator{each}.csv" for each in (1, 2, 3)), f"{number}.key.json",
        ]  # fmt: skip
        sheet = written[1].read_text(encoding="utf-8")
        assert "I have no time." in sheet and "preferred" in sheet.splitlines()[0]


LOAD = """
import json
import figlang_tasks
from figlang_tasks.benchmarks.nycc import rows
from figlang_tasks.core.benchmark import benchmarks
found = rows.load("NYCC", "ranking_1")
shots = rows.exemplars("NYCC", "ranking_1", found[0]["id"], 5, 42)
from figlang_tasks.core import checks, hub
with checks.downloading_nothing():  # `figlang data check` of what has been downloaded, a part of the repository
    here = checks.on_this_machine("nycc", hub.source("NYCC")).revision
print(json.dumps([len(found), found[0]["data"], len(shots), here]))
"""


def test_only_what_is_needed_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_DATA_DIR")
    repository = release.release(tmp_path / "repository", "ranking_1", "matching")
    source = benchmarks()["nycc"].source
    with HubServer() as hub:
        hub.add_repo(str(source.repository), repository, commit=source.revision)
        done = warm.run([sys.executable, "-c", LOAD], env=hub.env(tmp_path), cwd=tmp_path)
        asked = {request.path.rpartition("/resolve/")[2] for request in hub.requests if "/resolve/" in request.path}
    assert done.returncode == 0, done.stderr[-2000:]
    rows_found, data, shots, here = json.loads(done.stdout)
    assert (rows_found, shots, here) == (507, 5, source.revision) and data.startswith(
        f"NYCC/ranking_1@{source.revision}:"
    )
    assert {path.partition("/")[2] for path in asked} == {
        f"ranking_1/{split}-00000-of-00001.parquet" for split in ("test", "train")
    }


@pytest.mark.slow
@pytest.mark.parametrize("task", ["nycc_rank_description_0", "nycc_explain_description_5shot_0"])
def test_lm_eval_has_the_same_task(folder: Path, task: str) -> None:
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    from figlang_tasks.harness.plugin import tasks_dir

    release.release(folder, KINDS[task.split("_")[1]])
    manager = TaskManager(include_path=str(tasks_dir().parent / "lm_eval"), include_defaults=False)
    results: Any = simple_evaluate("dummy", tasks=[task], task_manager=manager, limit=3, bootstrap_iters=0)
    (config,) = [results["configs"][task]]
    assert results["samples"][task][0]["sample"]["id"].startswith("test")
    text = results["samples"][task][0]["arguments"][0][0]
    assert text.count("Thanks! How about this one?") == (5 if "5shot" in task else 0) and config["num_fewshot"] == 0


# --- the paper's numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared_file", ["facts/published_neighbours.json"], indirect=True)
def test_published_figures_are_the_collected_facts(shared_file: Path) -> None:
    """Tables 2, 4 and 5 but for perplexity; what is of one fold or of other rows is left out."""
    metrics = {
        "matching_accuracy": "acc", "ranking_CrowdAcc": "acc_crowd", "ranking_NYAcc": "acc_ny",
        "explanation_BLEU-4": "bleu4", "explanation_ROUGE-L": "rouge_l",
    }  # fmt: skip
    facts = [
        (fact["table"].partition(" (")[0], metrics[fact["metric"]], round(fact["value"] / 100, 9))
        for fact in json.loads(shared_file.read_text(encoding="utf-8"))
        if fact["benchmark"] == "newyorker_caption_contest" and fact["table"].startswith("Table")
        if fact["metric"] in metrics
    ]
    found = published.read_file(Path(rows.__file__).with_name("published.json")).figures
    assert sorted(facts) == sorted((each.table, each.metric, each.value) for each in found) and len(facts) == 97
    groups = {task for each in found for task in each.tasks}
    assert groups == {
        f"nycc_{kind}{form}" for kind in KINDS for form in ("", "_description", "_description_5shot", "_5shot")
    } - {"nycc_explain_5shot"}
    for model, task, metric, value in (
        ("GPT-4", "nycc_match_description_5shot", "acc", 0.845),
        ("GPT-4", "nycc_rank_description", "acc_crowd", 0.662),
        ("CLIP ViT-L/14@336px", "nycc_match", "acc", 0.566),
        ("Humans", "nycc_rank", "acc_ny", 0.646),
        ("GPT-4", "nycc_explain_description_5shot", "bleu4", 0.0499),
    ):
        own = [each for each in found if each.model == model and each.metric == metric and task in each.tasks]
        assert value in [each.value for each in own], (model, task)
