"""README's table of models that this package has run says what their saved figures say."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from types import ModuleType
from typing import Any

import pytest
from documents import ROOT

from figlang_tasks.core.task_files import read as read_task_file

FIGURES = json.loads((ROOT / "tools" / "models_run.json").read_text("utf-8"))
EXAMPLE = ROOT / "examples" / "stratified_rows"
PUBLISHED_FILES = {"flute": "flute", "columbus_text": "columbus"}


def cells_of_readme(task: str) -> list[list[str]]:
    """The cells of the two lines of README's table that a task has."""
    text = (ROOT / "README.md").read_text("utf-8")
    (lines,) = re.findall(rf"^\| `{task}`, .+\n\|.+\n", text, re.MULTILINE)
    return [line.strip("| ").split(" | ") for line in lines.splitlines()]


@pytest.mark.parametrize("task", PUBLISHED_FILES)
def test_readme_has_the_saved_figures(task: str) -> None:
    scores, remarks = cells_of_readme(task)
    runs = {run["model"]: run for run in FIGURES["runs"] if run["task"] == task}
    for column, model in enumerate(("smollm2", "gemma3"), start=1):
        if model not in runs:
            assert (scores[column], remarks[column]) == ("–", "–")
            continue
        run = runs[model]
        value, low, high = (f"{100 * run[key]:.1f}" for key in ("value", "low", "high"))
        assert scores[column] == f"{value} [{low}, {high}]"
        remark = f"{run['rows']}; {100 * run['read']:.1f} %"
        if run["cpu_seconds"] is not None:
            remark += f"; {run['cpu_seconds'] / 60:.0f} min"
        assert remarks[column] == remark
    assert (
        scores[3] == f"{100 * runs['random']['value']:.1f}, {100 * runs['majority']['value']:.1f}"
    )
    for row in FIGURES["published"]:
        if row["task"] == task:
            assert f"{100 * row['value']:.1f}" in scores[4]


@pytest.mark.parametrize("task", PUBLISHED_FILES)
def test_published_figures_are_those_of_the_data_file(task: str) -> None:
    path = ROOT / "figlang_tasks" / "benchmarks" / PUBLISHED_FILES[task] / "published.json"
    records = json.loads(path.read_text("utf-8"))["records"]
    rows = [row for row in FIGURES["published"] if row["task"] == task]
    assert rows
    for row in rows:
        assert any(row.items() <= record.items() for record in records), row


@pytest.mark.parametrize("task", PUBLISHED_FILES)
def test_all_runs_are_partial_and_those_of_as_many_rows_have_the_same(task: str) -> None:
    runs = [run for run in FIGURES["runs"] if run["task"] == task]
    assert {"random", "majority"} <= {run["model"] for run in runs}
    ids_by_rows: dict[int, set[str]] = {}
    for run in runs:
        assert run["partial"] == f"limit {run['rows']}"
        ids_by_rows.setdefault(run["rows"], set()).add(run["ids_sha256"])
    assert 300 in ids_by_rows
    assert all(len(ids) == 1 for ids in ids_by_rows.values())


# --- examples/stratified_rows ---


def stratified_rows() -> ModuleType:
    """The module of the example, imported from its file as the harness does."""
    path = EXAMPLE / "stratified_rows.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stub(request: str) -> Any:
    """What the harness hands to ``process_docs``: a dataset of one row, named by the request."""
    import datasets

    return datasets.Dataset.from_list([{"stub": 1}], info=datasets.DatasetInfo(config_name=request))


def test_the_first_half_of_the_rows_has_half_of_each_stratum() -> None:
    """FLUTE's rows of our own: a stratum has half of its rows there, give or take one."""
    module = stratified_rows()
    request = "figlang_mini_flute,part=train,prompt=v2,scorer=embedded"
    given = module.process_docs(stub(request))
    drawn = module.flute(stub(request))
    strata = list(zip(drawn["report_group"], drawn["label"], strict=True))
    count_in_half = Counter(strata[: len(strata) // 2])
    assert sorted(drawn["id"]) == sorted(given["id"])
    assert len(set(strata)) > 2
    for stratum, size in Counter(strata).items():
        assert abs(count_in_half[stratum] - size / 2) <= 1, stratum


@pytest.mark.parametrize("name", ["flute", "columbus_text"])
def test_the_task_files_differ_from_ours_in_order_alone(name: str) -> None:
    (path,) = (ROOT / "task_yamls" / "lmms_eval").rglob(f"{name}.yaml")
    ours = read_task_file(path)
    example = read_task_file(EXAMPLE / f"{name}_stratified.yaml")
    differing = {key for key in ours if str(ours[key]) != str(example.get(key))}
    assert differing == {"task", "process_docs"}
