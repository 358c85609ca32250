"""``figlang leaderboard``: if these fail, runs are ranked wrongly, or texts of benchmarks leak."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import commands
import published_runs
import pytest
from saved_runs import METADATA, detection_records, sample_lines, write_run

from figlang_tasks.benchmarks.irfl.benchmark import BENCHMARK
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.leaderboard import board, page, site
from figlang_tasks.leaderboard.conditions import has_released_rows
from figlang_tasks.results.runs import read
from figlang_tasks.scoring import process_results

figlang = partial(commands.figlang, "leaderboard")
done = partial(commands.done, "leaderboard")
refused = partial(commands.refused, "leaderboard")

TASK = "irfl_detect_metaphor"
ROWS = 333  # of its released table
MINI = "figlang_mini_irfl_match_idiom"
MINI_FLUTE = "figlang_mini_flute"
MODEL_ARGS = {"model": "hf", "model_args": "pretrained=org/vlm", "model_num_parameters": 7_200_000}


def metadata(version: str = BENCHMARK.version) -> dict[str, str]:
    return {**METADATA, "version": version}


def write_irfl_run(
    folder: Path,
    is_right: Callable[[int], bool],
    version: str = BENCHMARK.version,
    config: dict[str, Any] | None = None,
    rows: int = ROWS,
    sections: Mapping[str, Any] | None = None,
) -> Path:
    """Write a run on IRFL's metaphors.

    Args:
        is_right: whether the row of a number is answered right.
        version: of the task.
        rows: how many it has, from the first.
        config: entries of the section ``config``.
        results: other sections of the results file.
    """
    lines = []
    for number, record in enumerate(detection_records("metaphor", is_right)[:rows]):
        lines.append({"doc_id": number, "filtered_resps": "A", "target": "", "sample": record})
    configs = {TASK: {"task": TASK, "metadata": metadata(version)}}
    all_sections = {"configs": configs, "date": "20260102_030405", **(sections or {})}
    return write_run(folder, {TASK: lines}, config or MODEL_ARGS, **all_sections)


def acc_measure(value: float) -> dict[str, Any]:
    """Estimates of a results file with an accuracy."""
    values = {"acc": {"all": {"value": value, "rows": ROWS}}}
    return {"format": 1, "failed": [], "values": values}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs to rank, with 200, 199 and 83 right answers, and four that cannot be compared."""
    path = tmp_path_factory.mktemp("runs")
    write_irfl_run(path / "good", lambda number: number < 200)
    write_irfl_run(path / "near", lambda number: 1 <= number < 200, config={"model": "hf"})
    write_irfl_run(path / "poor", lambda number: number >= 250)
    for name in ("old1", "old2", "old3", "old4"):  # more runs than of the version of today
        write_irfl_run(path / name, lambda number: True, version="1-0", rows=8)
    sizes = {TASK: {"original": ROWS, "effective": 8}}
    write_irfl_run(path / "part", lambda number: True, rows=8, sections={"n-samples": sizes})
    changed = {"task": TASK, "metadata": {**metadata(), "measures": acc_measure(0.99)}}
    sections = {"configs": {TASK: changed}}
    write_irfl_run(path / "changed", lambda number: number < 4, rows=8, sections=sections)
    return path


@pytest.fixture(scope="module")
def site_folder(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The leaderboard of these runs."""
    path = tmp_path_factory.mktemp("sites") / "site"
    done(folder, "-o", path)
    return path


@pytest.fixture(scope="module")
def ranking(site_folder: Path) -> dict[str, Any]:
    """What ``data.json`` says of the task."""
    (task,) = json.loads((site_folder / "data.json").read_text())["tasks"]
    assert task["task"] == TASK
    return task


# --- the ranking ---


def test_runs_have_the_rank_and_value_that_their_right_answers_give(
    ranking: dict[str, Any],
) -> None:
    places = [(run["run"], run["rank"], run["value"]) for run in ranking["ranked"]]
    assert places == [("good", 1, 200 / 333), ("near", 2, 199 / 333), ("poor", 3, 83 / 333)]
    assert all(run["low"] < run["value"] < run["high"] for run in ranking["ranked"])
    assert (ranking["metric"], ranking["is_share"], ranking["tests"]) == ("acc", True, 3)


def test_a_letter_is_shared_by_the_two_runs_that_differ_in_one_row_alone(
    ranking: dict[str, Any],
) -> None:
    assert [run["letters"] for run in ranking["ranked"]] == ["a", "a", "b"]


def test_runs_with_fewer_rows_than_the_release_do_not_outvote_whole_ones(tmp_path: Path) -> None:
    write_irfl_run(tmp_path / "whole", lambda number: number < 200)
    for name in ("short1", "short2"):
        write_irfl_run(tmp_path / name, lambda number: True, rows=8)
    runs = [read(f"{path.name}={path}") for path in sorted(tmp_path.iterdir())]
    (task,) = board.build(runs).tasks
    assert [run.run for run in task.ranked] == ["whole"]
    assert [run.reasons for run in task.not_compared] == [["other rows (8)"]] * 2


def test_a_copy_of_a_run_is_not_ranked_beside_it(tmp_path: Path) -> None:
    named = {"model_name": "m"}
    write_irfl_run(tmp_path / "a", lambda number: number < 4, rows=8, sections=named)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    write_irfl_run(tmp_path / "c", lambda number: number < 2, rows=8, sections=named)
    other_model = {"model_name": "other"}
    write_irfl_run(tmp_path / "d", lambda number: number < 4, rows=8, sections=other_model)
    runs = [read(f"{name}={tmp_path / name}") for name in "abcd"]
    (task,) = board.build(runs).tasks
    assert {run.run for run in task.ranked} == {"a", "c", "d"}
    assert task.tests == 3
    reasons = {run.run: run.reasons for run in task.not_compared}
    assert reasons == {"b": ["a copy: the model, its arguments and all answers of a"]}


def test_runs_of_one_value_share_a_rank_and_the_next_rank_is_skipped(tmp_path: Path) -> None:
    write_irfl_run(tmp_path / "a", lambda number: number < 4, rows=8)
    write_irfl_run(tmp_path / "b", lambda number: number >= 4, rows=8)
    write_irfl_run(tmp_path / "c", lambda number: number < 2, rows=8)
    runs = [read(f"{name}={tmp_path / name}") for name in "cba"]
    (task,) = board.build(runs).tasks
    assert {run.run: run.rank for run in task.ranked} == {"a": 1, "b": 1, "c": 3}


def test_runs_that_are_old_partial_or_contradict_their_samples_are_set_apart_with_the_reason(
    ranking: dict[str, Any],
) -> None:
    reasons = {run["run"]: run["reasons"] for run in ranking["not_compared"]}
    assert reasons["part"] == ["partial: 8 of 333 rows"]
    (contradiction,) = reasons["changed"]
    assert contradiction.startswith("contradicts its samples: acc 0.990000 (its samples: 0.5")
    # Four runs of an old version do not outvote the three of today.
    version_reason = f"task version 1-0, not {BENCHMARK.version}"
    assert reasons["old4"] == ["other rows (8)", version_reason]
    assert len(reasons) == 6


def test_published_results_are_those_of_the_paper_by_value_and_have_no_rank(
    ranking: dict[str, Any], site_folder: Path
) -> None:
    published = json.loads((BENCHMARK.folder / "published.json").read_text())
    printed_values = set()
    for record in published["records"]:
        tasks = record["task"] if isinstance(record["task"], list) else [record["task"]]
        if TASK in tasks and record["metric"] == "acc" and "value" in record:
            printed_values.add(record["value"])
    values = [result["value"] for result in ranking["published"]]
    assert values
    assert set(values) <= printed_values
    assert values == sorted(values, reverse=True)
    assert all("rank" not in result for result in ranking["published"])
    assert {result["paper"] for result in ranking["published"]} == {published["paper"]}


def test_facts_that_a_results_file_lacks_stay_unknown(site_folder: Path) -> None:
    runs = json.loads((site_folder / "data.json").read_text())["runs"]
    facts = {run["run"]: run for run in runs}
    assert facts["good"]["parameters"] == 7_200_000
    assert facts["near"]["parameters"] is None
    assert facts["good"]["date"] == "2026-01-01"  # 03:04 in Singapore, the zone of the harness
    assert facts["good"]["model"] == "good"
    assert facts["good"]["model_class"] == "hf"


@pytest.mark.parametrize("count", [-1, True, "7B", 10**400])
def test_a_number_of_parameters_that_is_none_is_unknown(count: object, tmp_path: Path) -> None:
    config = {**MODEL_ARGS, "model_num_parameters": count}
    path = write_irfl_run(tmp_path / "run", lambda number: True, rows=8, config=config)
    rankings = board.build([read(str(path))])
    assert rankings.runs[0].parameters is None
    assert b'data-size=""' in page.render(rankings)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [(None, "unknown"), (999, "999"), (135_000_000, "135M"), (7_241_000_000, "7.24B")],
)
def test_sizes_are_written_as_people_write_them(parameters: int | None, text: str) -> None:
    assert page.parameters_text(parameters) == text


# --- what the site holds ---


def texts_of_runs(lines_by_task: dict[str, list[dict[str, Any]]]) -> set[str]:
    """All texts of prompts, outputs and rows that are long enough to be told from figures."""
    texts: set[str] = set()
    for lines in lines_by_task.values():
        for line in lines:
            record = line["sample"]
            fields = [line["input"], line["filtered_resps"], record["id"], record.get("unit")]
            fields += [record.get(name) for name in ("explanation", "reference", "premise")]
            texts.update(field for field in fields if isinstance(field, str) and len(field) > 8)
    return texts


def test_a_site_holds_no_text_of_the_runs_unless_samples_are_asked_for(tmp_path: Path) -> None:
    lines = {task: sample_lines(task, 6) for task in (MINI, MINI_FLUTE)}
    for task_lines in lines.values():
        for line in task_lines:
            # Markup in a text would stand in another form in a page.
            line["filtered_resps"] = f"What a model says of row {line['doc_id']}"
    write_run(tmp_path / "runs/model", lines, MODEL_ARGS)
    done(tmp_path / "runs", "-o", tmp_path / "figures")
    done(tmp_path / "runs", "-o", tmp_path / "samples", "--with-samples")
    figures = {path.name: path.read_text() for path in (tmp_path / "figures").iterdir()}
    assert set(figures) == {"index.html", "data.json"}
    texts = texts_of_runs(lines)
    assert len(texts) > 20
    assert [text for text in texts for file in figures.values() if text in file] == []
    report = (tmp_path / "samples/reports/1.html").read_text()
    assert sum(text in report for text in texts) > 20
    assert 'href="reports/1.html"' in (tmp_path / "samples/index.html").read_text()


def test_reports_of_gated_data_need_the_option(tmp_path: Path) -> None:
    published_runs.write_run(tmp_path / "runs", published_runs.records()[:4])
    message = refused(tmp_path / "runs", "-o", tmp_path / "site", "--with-samples")
    assert "(V-FLUTE, gated): leave it out, or add --allow-gated" in message
    assert not (tmp_path / "site").exists()


def test_names_of_models_and_folders_are_text_in_the_page(tmp_path: Path) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    write_irfl_run(
        tmp_path / "runs" / "<b>&amp;" / "x",
        lambda number: True,
        rows=8,
        config={"model": evil, "model_args": ""},
        sections={"model_name": f"'\"{evil}".replace("/", "")},
    )
    done(tmp_path / "runs", "-o", tmp_path / "site")
    html = (tmp_path / "site/index.html").read_text()
    assert "<img" not in html
    assert html.count("</script>") == 1
    assert "<b>" not in html
    assert "&lt;b&gt;&amp;amp;/x" in html


# --- files ---


def test_a_damaged_run_is_named_with_its_reason_and_the_others_are_ranked(tmp_path: Path) -> None:
    write_irfl_run(tmp_path / "runs/good", lambda number: True, rows=8)
    damaged = write_irfl_run(tmp_path / "runs/damaged", lambda number: True)
    next(damaged.glob("*_results.json")).write_text("{")
    result = figlang(tmp_path / "runs", "-o", tmp_path / "site")
    assert result.exit_code == 1
    assert result.stderr.startswith("figlang: damaged: ")
    content = json.loads((tmp_path / "site/data.json").read_text())
    assert content["unreadable"] == ["damaged"]
    assert [run["run"] for run in content["runs"]] == ["good"]


def test_only_a_former_leaderboard_is_replaced(tmp_path: Path) -> None:
    folder = write_irfl_run(tmp_path / "runs", lambda number: True, rows=8)
    output = tmp_path / "site"
    output.mkdir()
    (output / "thesis.tex").write_text("mine")
    assert "holds no leaderboard" in refused(folder, "-o", output)
    (output / "data.json").write_text('{"generator": "figlang_tasks leaderboard 0"}')
    assert "thesis.tex beside a leaderboard" in refused(folder, "-o", output)
    assert (output / "thesis.tex").read_text() == "mine"
    (output / "thesis.tex").unlink()
    (output / "reports").mkdir()
    (output / "reports/notes.html").write_text("mine")
    assert "reports/notes.html beside" in refused(folder, "-o", output)
    (output / "reports/notes.html").unlink()
    done(folder, "-o", output)
    assert json.loads((output / "data.json").read_text())["format"] == board.FORMAT
    assert {path.name for path in tmp_path.iterdir()} == {"runs", "site"}


def test_the_former_site_stays_if_the_new_one_cannot_be_written(tmp_path: Path) -> None:
    rankings = board.build([])
    site.write(tmp_path / "site", rankings, [("reports/1.html", b"former")])

    def fail() -> Iterator[tuple[str, bytes]]:
        yield "reports/1.html", b"new"
        raise FigLangError("no report")

    with pytest.raises(FigLangError, match="no report"):
        site.write(tmp_path / "site", rankings, fail())
    assert (tmp_path / "site/reports/1.html").read_bytes() == b"former"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_a_folder_without_runs_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    assert "no run in" in refused(tmp_path / "runs", "-o", tmp_path / "site")
    assert not (tmp_path / "site").exists()


# --- the check ---


def test_a_good_run_passes_the_check_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_irfl_run(tmp_path / "runs/good", lambda number: number < 9)
    assert done("runs", "--check") == (
        f"ok    good ({TASK})\n1 of 1 runs can be added\n"
        "Not checked: whether the model wrote these outputs, and whether ids, texts and right"
        " answers are those of the release. A change in the samples is noticed only if it"
        " contradicts the values in the results file.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_the_name_of_a_folder_cannot_forge_a_line_of_the_check(tmp_path: Path) -> None:
    write_irfl_run(tmp_path / "bad\nok    good (all)", lambda number: True, rows=8)
    result = figlang(tmp_path, "--check")
    assert result.exit_code == 1
    assert not [line for line in result.stdout.splitlines() if line.startswith("ok")]
    assert "fail  bad ok    good (all)\n" in result.stdout


def test_folders_above_the_site_that_are_made_are_told(tmp_path: Path) -> None:
    write_irfl_run(tmp_path / "runs/a", lambda number: True, rows=8)
    output = done(tmp_path / "runs", "-o", tmp_path / "new/site")
    assert f"new folder: {tmp_path}/new\n" in output


def test_the_check_names_each_fault_of_each_run(folder: Path) -> None:
    result = figlang(folder, "--check")
    assert result.exit_code == 1
    assert f"fail  old1\n      {TASK}: 8 rows, and the release has 333" in result.stdout
    assert result.stdout.count(f"      {TASK}: task version 1-0, and today it is") == 4
    assert f"fail  part\n      {TASK}: only a part of the rows (8 of 333 rows)" in result.stdout
    assert f"fail  changed\n      {TASK}: the results file contradicts" in result.stdout
    assert f"ok    good ({TASK})\n" in result.stdout
    assert "\n3 of 9 runs can be added\n" in result.stdout


def test_the_check_finds_missing_rows_names_and_keys(tmp_path: Path) -> None:
    lines = []
    for number, record in enumerate(detection_records("metaphor", lambda number: True)[:150]):
        output = f"My key is hf_{'a1B2' * 9}." if number == 7 else "A"
        lines.append({"doc_id": number, "filtered_resps": output, "target": "", "sample": record})
    configs = {TASK: {"task": TASK, "metadata": metadata()}}
    config = {"model": "hf", "model_args": "api_key=s3cret-s3cret-s3cret"}
    write_run(tmp_path / "run", {TASK: lines}, config, configs=configs, model_name="")
    text = figlang(tmp_path, "--check").stdout
    assert "the results file names no model" in text
    assert "the results file has what looks like a key" in text
    assert "has what looks like a key or a token in line 8:" in text
    assert f"{TASK}: 150 rows, and the release has 333" in text
    assert "s3cret" not in text


def test_a_run_with_several_answers_to_some_rows_is_named_and_stops_no_other(
    tmp_path: Path,
) -> None:
    write_irfl_run(tmp_path / "runs/good", lambda number: True, rows=8)
    uneven = write_irfl_run(tmp_path / "runs/uneven", lambda number: True, rows=8)
    (samples,) = uneven.glob("*_samples_*")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    for line in lines:
        line["sample"]["repeat"] = 0
    lines.append({**lines[0], "sample": {**lines[0]["sample"], "repeat": 1}})
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done(tmp_path / "runs", "-o", tmp_path / "site")
    (task,) = json.loads((tmp_path / "site/data.json").read_text())["tasks"]
    assert [run["run"] for run in task["ranked"]] == ["good"]
    assert task["not_compared"][0]["reasons"] == ["some rows have fewer answers than others"]
    check = figlang(uneven, "--check").stdout
    assert f"{TASK}: some rows have fewer answers than others: restore" in check


def test_the_check_asks_for_the_scorer_of_the_task_file(tmp_path: Path) -> None:
    lines = sample_lines("figlang_mini")
    for line in lines:
        line["sample"]["explanation_scores"] = {"scorer": "vflute25", "mean": 0.7}
    run = write_run(tmp_path / "run", {"figlang_mini": lines}, MODEL_ARGS)
    text = figlang(run, "--check").stdout
    assert "explanations are scored by vflute25, the task asks for embedded" in text


def test_the_check_of_a_run_without_samples_says_that_it_needs_them(tmp_path: Path) -> None:
    run = write_irfl_run(tmp_path / "run", lambda number: True)
    (results_file,) = run.glob("*_results.json")
    content = json.loads(results_file.read_text())
    content["configs"][TASK]["metadata"]["measures"] = acc_measure(1.0)
    results_file.write_text(json.dumps(content))
    next(run.glob("*_samples_*")).unlink()
    result = figlang(tmp_path, "--check")
    assert result.exit_code == 1
    assert "have no samples: restore the samples files" in result.stdout


@pytest.mark.parametrize(("rows", "is_accepted"), [(1008, True), (1005, True), (1004, False)])
def test_the_check_accepts_whole_runs_of_each_release(
    rows: int, is_accepted: bool, tmp_path: Path
) -> None:
    doc = {
        "data": f"COLUMBUS/benchmark@{'0' * 40}:0123456789ab",
        "request": "COLUMBUS,order=benchmark",
        "kind": "text",
        "overlap": False,
        "candidates": ["up and about", "about to", "just about", "last"],
        "answer": "B",
    }
    lines = []
    for number in range(rows):
        row_id = f"row{number}"
        record = process_results({**doc, "id": row_id, "unit": row_id}, ["B"])["sample"]
        line = {"doc_id": number, "filtered_resps": "B", "target": "", "sample": record}
        lines.append(line)
    run = read(str(write_run(tmp_path / "run", {"columbus": lines}, MODEL_ARGS)))
    assert has_released_rows(run.tasks["columbus"]) == is_accepted


def test_check_and_output_together_are_wrong_usage(folder: Path, tmp_path: Path) -> None:
    assert figlang(folder, "--check", "-o", tmp_path / "site").exit_code == 2
