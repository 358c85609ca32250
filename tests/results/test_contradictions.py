"""A results file that does not fit its samples is named, with its number and theirs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import commands
import pytest
from published_runs import estimates_of, records, results, write_run
from saved_runs import DATE, sample_lines
from saved_runs import write_run as write_report_run

from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.results.contradictions import is_possible
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.scoring import OVERALL, Estimate, Measure, to_json
from figlang_tasks.scoring.readings import count_readings

ROWS = 24
RIGHT = 18  # of 24 records, 3 of 4
DATA = "figlang_mini/test:fe9a"
REQUEST = "figlang_mini,split=test"
SIGNATURE = "embedded (not a published metric)|bertscore:minilm"


@lru_cache(maxsize=1)
def scored_records() -> list[dict[str, Any]]:
    """The first records of the run on V-FLUTE, with explanation scores, as of figlang_mini."""
    some_records = records()[:ROWS]
    for number, record in enumerate(some_records):
        score = 0.4 + number % 7 * 0.05
        record |= {"data": DATA, "request": REQUEST}
        record["explanation_scores"] = {"scorer": "embedded", "bertscore": score, "mean": score}
    return some_records


@lru_cache(maxsize=1)
def _whole_results() -> dict[str, Any]:
    """The results file of a run as the harness and this package leave it."""
    content = results(estimates=estimates_of(scored_records()))
    metadata = content["configs"]["vflute"]["metadata"]
    metadata |= {
        "explanation_scorer": SIGNATURE,
        "data": DATA,
        "readings": count_readings(scored_records()),
    }
    acc = metadata["measures"]["values"]["acc"][OVERALL]
    content["results"] = {
        "vflute": {"alias": "vflute", "acc,none": acc["value"], "acc_stderr,none": acc["stderr"]}
    }
    content["results"]["vflute"]["acc_stderr_clt,none"] = 0.5  # of the harness, unread
    return content


Results = dict[str, Any]
"""The content of a results file."""

Edit = Callable[[Results], None]
"""Changes the content of a results file in place."""


def values(content: Results) -> dict[str, Any]:
    """The saved estimates of vflute, by metric and scope."""
    estimates: dict[str, Any] = content["configs"]["vflute"]["metadata"]["measures"]["values"]
    return estimates


def unchanged(content: Results) -> None:
    """Leave the results as they are."""


def saved(folder: Path, edit: Edit = unchanged) -> Path:
    """Write a run whose results file is edited."""
    content = copy.deepcopy(_whole_results())
    edit(content)
    return write_run(folder, scored_records(), content)


def read(folder: Path, edit: Edit = unchanged) -> TaskRun:
    """Write and read a run whose results file is edited."""
    return runs.read(str(saved(folder, edit))).tasks["vflute"]


def test_files_that_fit_together(tmp_path: Path) -> None:
    task = read(tmp_path)
    assert task.contradictions == ()
    assert task.estimates == task.reported


def set_interval(metric: str, low: float | None, high: float | None, scope: str = OVERALL) -> Edit:
    """Set the limits of an interval; None removes a limit."""

    def edit(content: Results) -> None:
        estimate = values(content)[metric][scope]
        for key, limit in (("low", low), ("high", high)):
            del estimate[key]
            if limit is not None:
                estimate[key] = limit

    return edit


def set_number(metric: str, key: str, number: float, scope: str = OVERALL) -> Edit:
    """Set a number of an estimate, such as its value or its rows."""

    def edit(content: Results) -> None:
        values(content)[metric].setdefault(scope, {})[key] = number

    return edit


def set_in_table(column: str, number: float) -> Edit:
    """Set a number in the harness's own table."""

    def edit(content: Results) -> None:
        content["results"]["vflute"][column] = number

    return edit


def set_fact(name: str, fact: object) -> Edit:
    """Set an entry of the task's metadata."""

    def edit(content: Results) -> None:
        content["configs"]["vflute"]["metadata"][name] = fact

    return edit


def remove_fact(name: str) -> Edit:
    """Remove an entry of the task's metadata."""

    def edit(content: Results) -> None:
        del content["configs"]["vflute"]["metadata"][name]

    return edit


def remove_metric(metric: str) -> Edit:
    """Remove all estimates of a metric."""

    def edit(content: Results) -> None:
        del values(content)[metric]

    return edit


def remove_scope(metric: str, scope: str) -> Edit:
    """Remove the estimate of a metric in one scope."""

    def edit(content: Results) -> None:
        del values(content)[metric][scope]

    return edit


ACC = f"{RIGHT / ROWS:.6f}"


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (set_number("acc", "value", 0.751), f"acc 0.751000 (its samples: {ACC})"),
        (set_number("acc", "value", 0.749), f"acc 0.749000 (its samples: {ACC})"),
        (set_number("acc", "rows", 700), f"rows of acc 700 (its samples: {ROWS})"),
        (set_number("f1@53", "stderr", 0.9), "standard error of f1@53 0.900000 (its samples: 0."),
        (set_number("f1@0", "rows", 1, "muse"), "rows of f1@0_muse 1 (its samples: "),
        (
            set_interval("f1@60", 0.9, 0.1),
            "interval of f1@60 [0.900000, 0.100000] (its samples: [0.",
        ),
        (
            set_interval("f1@60", 0.28, 0.29),
            "interval of f1@60 [0.280000, 0.290000] (its samples: [0.",
        ),
        (
            set_interval("f1@0", None, None, scope="muse"),
            "interval of f1@0_muse none (its samples: [0.",
        ),
        (set_interval("acc", 0.1, None), "interval of acc [0.100000, none] (its samples: [0."),
        (remove_metric("f1@60"), "f1@60 none (its samples: 0."),
        (remove_scope("f1@0", "muse"), "f1@0_muse none (its samples: 0."),
        (
            set_number("acc", "value", 0.5, scope="there"),
            "acc_there 0.500000 (its samples: none)",
        ),
        (set_in_table("acc,none", 0.9), f"acc in the table 0.900000 (its samples: {ACC})"),
        (
            set_in_table("acc_stderr,none", 0.9),
            "standard error of acc in the table 0.900000 (its samples: 0.0",
        ),
        (
            set_fact("explanation_scorer", "vflute25|sig"),
            "explanation scorer vflute25 (its samples: embedded)",
        ),
        (
            set_fact("explanation_scorer", "none (f1@0 counts labels alone)"),
            "scorer none (its samples: embedded)",
        ),
        (
            remove_fact("explanation_scorer"),
            "explanation scorer none (its samples: embedded)",
        ),
        (set_fact("data", "V-FLUTE/test:0123"), f"data V-FLUTE/test:0123 (its samples: {DATA})"),
        (
            set_fact(
                "readings", {"read": {"x": 60}, "left": {}, "scores": 0, "left_count_as": "wrong"}
            ),
            "readings, read: {'x': 60} (its samples: {'marker-entail': 24})",
        ),
    ],
)
def test_what_was_edited_is_named_with_both_numbers(edit: Edit, text: str, tmp_path: Path) -> None:
    (contradiction,) = read(tmp_path, edit).contradictions
    assert text in contradiction


def test_the_samples_are_used(tmp_path: Path) -> None:
    """A difference in the third digit is one: what is to be handed in is refused."""
    task = read(tmp_path, set_number("acc", "value", 0.751))
    assert task.estimates["acc"][OVERALL].value == RIGHT / ROWS
    with pytest.raises(RunError, match="Are these files of two runs, or was one changed"):
        task.check_consistent()


def test_a_scorer_has_the_parts_of_its_recipe(tmp_path: Path) -> None:
    """vflute25 is the mean of BERTScore and BLEURT; figlang24 is BERTScore alone.

    Source: docs/cards/vflute.md.
    """
    for name in ("vflute25", "figlang24"):
        lines = copy.deepcopy(scored_records())
        for record in lines:
            record["explanation_scores"]["scorer"] = name
        content = copy.deepcopy(_whole_results())
        content["configs"]["vflute"]["metadata"]["explanation_scorer"] = f"{name}|sig"
        task = runs.read(str(write_run(tmp_path / name, lines, content))).tasks["vflute"]
        if name == "figlang24":
            assert task.contradictions == ()
        else:
            row = lines[0]["id"]
            assert task.contradictions == (
                f"explanation scorer vflute25 (its samples: BERTScore alone in row {row})",
            )


def test_the_list_of_runs_compares_what_it_shows(tmp_path: Path) -> None:
    """Intervals and standard errors of other metrics would take it seconds for each task."""
    with_interval = saved(tmp_path / "interval", set_interval("f1@60", 0.9, 0.1))
    listed = commands.figlang("runs", with_interval)
    assert listed.exit_code == 0 and "90.0, 10.0" not in listed.stdout
    text = "results of vflute: interval of f1@60 [0.900000, 0.100000] (its samples: [0."
    assert text in listed.stderr

    listed = commands.figlang("runs", saved(tmp_path / "removed", remove_metric("f1@60")))
    assert "results of vflute: f1@60 none (its samples: 0." in listed.stderr
    assert "| f1@60  | " in listed.stdout, "the samples have it"

    of_secondary_metric = saved(tmp_path / "secondary", set_interval("acc", 0.9, 0.1))
    assert commands.figlang("runs", of_secondary_metric).stderr == ""
    cited = commands.figlang("cite", of_secondary_metric)
    assert "interval of acc [0.900000, 0.100000]" in cited.stderr


def test_a_metric_that_is_not_computed_again(tmp_path: Path) -> None:
    """METEOR needs Java, but impossible values of it are seen without."""
    task = "figlang_mini_metaclue_caption"
    lines = sample_lines(task)
    task_run = runs.read(str(write_report_run(tmp_path / "run", {task: lines}))).tasks[task]
    rows = task_run.rows

    def contradictions(meteor: Estimate) -> Iterator[str]:
        """What is wrong with this estimate of METEOR in a results file."""
        measures = to_json({**task_run.estimates, "meteor": {OVERALL: meteor}})
        configs = {task: {"metadata": {"measures": measures}}}
        folder = write_report_run(tmp_path / "run", {task: lines}, configs=configs)
        changed = runs.read(str(folder / f"{DATE}_results.json")).tasks[task]
        return (text for text in changed.contradictions_with_intervals_of(()) if "meteor" in text)

    assert list(contradictions(Estimate(0.25, rows=rows))) == []
    assert list(contradictions(Estimate(0.25, rows=rows + 1))) == [
        f"rows of meteor {rows + 1} (its samples: {rows})"
    ]
    (contradiction,) = contradictions(Estimate(25.0, rows=rows))
    assert contradiction == "meteor 25.000000 none (must be 0 to 1 and in its interval)"


def test_a_task_file_may_name_fewer_metrics(tmp_path: Path) -> None:
    def keep_acc_alone(content: Results) -> None:
        """Leave accuracy alone in the task's metrics and in its estimates."""
        content["configs"]["vflute"]["metric_list"] = [{"metric": "acc"}]
        for name in list(values(content)):
            if name != "acc":
                del values(content)[name]

    assert read(tmp_path, keep_acc_alone).contradictions == ()


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (Estimate(0.5, 0.4, 0.6), True),
        (Estimate(0.5), True),
        (Estimate(1.0, 0.9, 1.0 + 1e-9), True),
        (Estimate(0.5, 0.6, 0.4), False),
        (Estimate(0.5, 0.51, 0.6), False),
        (Estimate(75.0), False),
        (Estimate(0.5, -0.1, 0.6), False),
    ],
)
def test_an_estimate_lies_in_its_interval_and_its_bounds(
    estimate: Estimate, expected: bool
) -> None:
    accuracy = Measure("acc", "Always right.", "this test", value_of_record=lambda record: 1.0)
    assert is_possible(accuracy, estimate) is expected
