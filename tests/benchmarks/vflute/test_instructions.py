"""The task that asks each row with each of the 21 instructions of Table 8: if this fails, a row is
asked with other instructions, or their mean and spread are wrong.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from demo_runs import evaluate
from sklearn.metrics import f1_score

from figlang_tasks import scoring
from figlang_tasks.benchmarks.vflute import rows, tasks
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.report import sections
from figlang_tasks.report.charts.chart import Chart
from figlang_tasks.results import runs
from figlang_tasks.scoring import process_results

REQUEST = Request.of("figlang_mini", split="test", instructions="all")
ROWS = 20  # of 76, each asked with all instructions: enough for values that differ


class InstructionsRun(NamedTuple):
    """A run of the task: its folder, its records by instruction, its values by metric and scope."""

    folder: Path
    records: dict[int, list[dict[str, Any]]]
    values: dict[str, dict[str, dict[str, float]]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> InstructionsRun:
    folder = tmp_path_factory.mktemp("instructions")
    (folder / "every.yaml").write_text(
        f"include: {tasks_dir()}/vflute/vflute_instructions.yaml\ntask: every\n"
        f"dataset_name: {REQUEST}\n"
        "lmms_eval_specific_kwargs: {default: {scorer: 'off'}}\n"
    )
    results = evaluate(
        "every",
        "figlang_random",
        include_path=str(folder),
        saved=folder / "run",
        limit=21 * ROWS,
    )
    records: dict[int, list[dict[str, Any]]] = {number: [] for number in range(1, 22)}
    for sample in results["samples"]["every"]:
        records[sample["sample"]["instruction"]].append(sample["sample"])
    values = results["configs"]["every"]["metadata"]["measures"]["values"]
    return InstructionsRun(folder / "run", records, values)


def macro_f1(records: list[dict[str, Any]]) -> float:
    """Macro F1 by scikit-learn; an answer without a label counts as the wrong label."""
    gold = [record["gold"] for record in records]
    predicted: list[int] = []
    for record in records:
        is_read = record["predicted"] is not None
        predicted.append(record["predicted"] if is_read else 1 - record["gold"])
    return float(f1_score(gold, predicted, average="macro"))


def test_each_instruction_has_a_value_and_an_interval_of_its_own(run: InstructionsRun) -> None:
    for number, records in run.records.items():
        scope = run.values["f1@0"][f"instruction_{number:02}"]
        assert len(records) == ROWS
        assert scope["value"] == pytest.approx(macro_f1(records), abs=1e-12)
        alone = scoring.evaluate(records, tasks.VFLUTE.measures, 0)["f1@0"]["all"]
        assert (scope["low"], scope["high"], scope["rows"]) == (alone.low, alone.high, ROWS)


def test_the_values_of_all_rows_are_mean_and_spread_over_instructions(run: InstructionsRun) -> None:
    f1_by_instruction = [macro_f1(records) for records in run.records.values()]
    overall = run.values["f1@0"]["all"]
    spread = run.values["f1@0_sd"]["all"]
    assert overall["rows"] == ROWS
    assert overall["value"] == pytest.approx(np.mean(f1_by_instruction), abs=1e-12)
    assert spread["value"] == pytest.approx(np.std(f1_by_instruction, ddof=1), abs=1e-12)


def test_the_mean_is_less_sure_than_that_of_independent_instructions(run: InstructionsRun) -> None:
    """All instructions ask the same rows, which are fewer than 21 times as many."""
    scopes = run.values["f1@0"]
    overall = scopes["all"]
    mean_width = np.mean([scope["high"] - scope["low"] for scope in scopes.values()])
    width_if_independent = mean_width / 21**0.5
    assert overall["low"] < overall["value"] < overall["high"]
    assert overall["high"] - overall["low"] > width_if_independent


def test_the_report_draws_f1_by_instruction(run: InstructionsRun) -> None:
    charts: list[Chart] = []
    for group in sections.build([runs.read(str(run.folder))]):
        for section in group.sections:
            if section.id.endswith("-instructions"):
                charts += section.charts
    (chart,) = charts
    percentages = [float(row["value"]) for row in csv.DictReader(io.StringIO(chart.csv))]
    expected = [100 * macro_f1(records) for records in run.records.values()]
    assert percentages == pytest.approx(expected, abs=1e-9)


def test_each_row_is_asked_with_each_instruction() -> None:
    documents = BENCHMARK.documents(REQUEST, check_images=True)
    first_row, second_row, *_ = rows.load("figlang_mini", "test")
    first_id, second_id = first_row["id"], second_row["id"]
    assert documents["id"][20:22] == [f"{first_id}-instruction21", f"{second_id}-instruction1"]
    assert documents["row"][:22] == [first_id] * 21 + [second_id]
    assert documents["data"][0] == first_row["data"]
    for doc in list(documents)[:21]:
        options = {"instruction": doc["instruction"]}
        assert tasks.doc_to_text(doc) == tasks.doc_to_text(first_row, options)


def test_a_record_names_the_task_and_the_request_of_all_instructions() -> None:
    documents = BENCHMARK.documents(REQUEST, check_images=True)
    record = process_results(documents[5], ["LABEL: entailment"])["sample"]
    assert record["task"] == "vflute_instructions"
    assert Request.parse(record["request"]) == REQUEST
