"""Every metric of every task in the files for registries: its direction, rows and interval; and what is no result."""

from __future__ import annotations

import inspect
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from lm_eval.tasks._yaml_loader import load_yaml
from lmms_eval import utils
from submit.published import WRITES_EVAL_RESULTS
from varied_runs import strong

from figlang_tasks import metric_names, plugin, runs
from figlang_tasks.metrics import boxes, intervals
from figlang_tasks.runs import Run, TaskRun
from figlang_tasks.submit import SubmissionError, every_eval_ever, hub_results, model_card, provenance
from figlang_tasks.submit.every_eval_ever import About
from figlang_tasks.submit.hub_results import Dataset

ABOUT = About("My Lab", "third_party", model="me/model")
FILES = sorted(path for path in plugin.tasks_dir().parent.rglob("*.yaml") if not path.name.startswith("_"))
ENDS = ("_ci_low", "_ci_high")
TEXTS = {"sample", "explanation_scorer", "bleu_signature"}  # lm-eval alone: what numbers come from
# Counted of the annotations: nothing of a model.
FACTS = {
    f"{field}_marked{kind}" for field in ("mw", "sw", "st") for kind in ("", "_word", "_object", "_image", "_free")
}


def load(path: Path) -> dict[str, Any]:
    return (
        load_yaml(path)
        if "lm_eval" in path.relative_to(plugin.tasks_dir().parent).parts
        else utils.load_yaml_config(str(path))
    )


def metrics_of(path: Path) -> dict[str, bool]:
    """Whether higher is better, by metric of a task file; the ends of intervals are among them."""
    return {entry["metric"]: entry["higher_is_better"] for entry in load(path).get("metric_list", ())}


TASKS = list({json.dumps(metrics_of(path)): path for path in FILES if metrics_of(path)}.values())
"""A task file for each list of metrics that there is."""


def name_of(path: Path) -> str:
    return "/".join(path.relative_to(plugin.tasks_dir().parent).parts)


def fabricated(path: Path) -> tuple[Run, Counter[str]]:
    """A run of a task whose every metric is 1, and how many of its rows carry each: not all carry all."""
    package = load(path)["process_results"].__module__.split(".")[1]
    dataset = next(dataset for dataset, of in runs.BENCHMARKS.items() if of == package and "mini" not in dataset)
    names = [name for name in metrics_of(path) if name not in TEXTS]
    lines, carried = [], Counter[str]()
    for number in range(7):
        sample = {"id": f"row-{number}", "data": f"{dataset}/a-part:0123456789ab"}
        line: dict[str, Any] = {"doc_id": number, "input": "?", "target": "!", "filtered_resps": "!", "sample": sample}
        for place, name in enumerate(name for name in names if not name.endswith(ENDS)):
            if number == 0 or (number * 7 + place) % 3:
                own = [each for each in (name, *(name + end for end in ENDS)) if each in names]
                line |= dict.fromkeys(own, 1.0)
                carried[name] += 1
        lines.append(line)
    reported = dict.fromkeys(names, 1.0)
    task = TaskRun(
        path.stem, package, path, "0" * 64, lines[0]["sample"]["data"], tuple(lines), reported, {}, None, None
    )
    return Run("model", path, {path.stem: task}, {}), carried


@pytest.mark.parametrize("path", TASKS, ids=name_of)
def test_every_metric_is_what_its_task_file_says(path: Path, tmp_path: Path) -> None:
    run, carried = fabricated(path)
    better = metrics_of(path)
    ours = {name for name in better if not name.endswith(ENDS)} - TEXTS - FACTS
    aggregate, *_ = (json.loads(file.read_text()) for file in every_eval_ever.write([run], tmp_path, ABOUT)[-1:])
    results = {each["metric_config"]["metric_name"]: each for each in aggregate["evaluation_results"]}
    assert results.keys() == ours
    for name, result in results.items():
        assert result["metric_config"]["lower_is_better"] is not better[name], name
        assert ("uncertainty" in result["score_details"]) == (f"{name}_ci_low" in better), name
        if f"{name}_ci_low" in better:
            uncertainty = result["score_details"]["uncertainty"]
            assert uncertainty["num_samples"] == carried[name], name
            assert uncertainty.get("num_bootstrap_samples") == resamples(name), name
    assert not any(f"| {name} " in model_card.section([run]) for name in FACTS)


RESAMPLED = ("explanation_score", "p@k", "expected_p@k", "rouge_l", "spice", "cider", "rank", "clip_similarity")


def resamples(name: str) -> int | None:
    """As the function that makes the metric's interval has it; None of one that resamples nothing."""
    if name.startswith("mAP"):
        return int(inspect.signature(boxes.bootstrap_average_precision).parameters["resamples"].default)
    if "bleu4" in name or any(name == each or name.startswith(f"{each}_") for each in RESAMPLED):
        return int(inspect.signature(intervals.bootstrap).parameters["resamples"].default)
    return None


@pytest.mark.skipif(not WRITES_EVAL_RESULTS, reason="huggingface_hub below 2.0")
@pytest.mark.parametrize("path", TASKS, ids=name_of)
def test_eval_results_hold_results_of_the_model_alone(path: Path) -> None:
    run, _ = fabricated(path)
    (dataset,) = {task.dataset for task in run.tasks.values()}
    made = hub_results.files([run], {dataset: Dataset("me/data", None)})
    told = {
        entry["dataset"]["task_id"].removeprefix(f"{path.stem}_")
        for text in made.results.values()
        for entry in yaml.safe_load(text)
    }
    assert not told & FACTS
    prefixes = ("parse_", "refusal_", "tie_", "yes_", "image_", "share_")  # how the outputs were, not how good
    assert not any(name.startswith(prefixes) for name in told)
    listed = [name for name in metrics_of(path) if not name.endswith(ENDS)]
    whole = [name for name in listed if not any(name.startswith(f"{other}_") for other in listed)]
    assert {name for name in whole if not name.startswith(prefixes)} - TEXTS - FACTS <= told


def test_rows_of_rankings_and_rotations_count_once() -> None:
    (folder,) = {path.parent for path in strong().rglob("*_results.json")}
    tasks = runs.read(str(folder)).tasks
    for task, name in (
        ("figlang_mini_irfl_retrieve_metaphor", "p@k"),
        ("figlang_mini_irfl_detect_idiom_circular", "acc"),
    ):
        (value,) = [value for value in provenance.values(tasks[task]) if value.name == name]
        assert value.rows == len({line["sample"]["row"] for line in tasks[task].lines}) < len(tasks[task].lines)


def test_a_score_of_a_row_that_is_no_number_is_refused(tmp_path: Path) -> None:
    (path,) = (path for path in FILES if path.stem == "irfl_match_simile")
    for damaged in ("1.0", [1.0], float("nan"), float("inf")):
        run, _ = fabricated(path)
        run.tasks[path.stem].lines[3]["acc"] = damaged  # type: ignore[index]
        with pytest.raises(SubmissionError, match="line 4: acc is .*, must be a finite number: get the file again"):
            every_eval_ever.write([run], tmp_path, ABOUT)
    run, carried = fabricated(path)
    run.tasks[path.stem].lines[0]["acc"] = None  # type: ignore[index]
    samples, _ = every_eval_ever.write([run], tmp_path, ABOUT)
    assert len(samples.read_text().splitlines()) == carried["acc"] - 1


def test_the_tables_of_names_are_about_metrics_that_there_are() -> None:
    listed = {name for path in TASKS for name in metrics_of(path)}
    assert {*metric_names.LOWER_IS_BETTER, *metric_names.FACTS, *metric_names.DIAGNOSTICS} <= listed
