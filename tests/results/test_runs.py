"""Finished runs are found, read and refused as a user would expect."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import demo_runs
import pytest
from demo_runs import SAMPLES_NAME, run_figlang_mini

from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.results.results_file import model_name, partial_reason
from figlang_tasks.results.task_run import Run

RESULTS = "2026-01-02T03-04-05_results.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of figlang_mini without explanation scores."""
    (tmp_path / SAMPLES_NAME).write_bytes(run_figlang_mini()[0])
    return tmp_path


@pytest.fixture(scope="module")
def whole_run() -> Run:
    """A run of several tasks, read from its folder."""
    return runs.read(str(demo_runs.weak_run()))


def test_a_whole_run_has_all_tasks_of_its_folder(whole_run: Run) -> None:
    assert set(whole_run.tasks) == set(demo_runs.VARIED_TASKS)
    assert whole_run.tasks["mini_irfl_match_simile"].benchmark.name == "irfl"
    assert not whole_run.tasks["mini_irfl_match_simile"].has_explanations
    assert whole_run.partial is None


def test_a_task_has_its_samples_and_names_their_data(whole_run: Run) -> None:
    mini = whole_run.tasks["figlang_mini"]
    assert (mini.benchmark.name, mini.data.dataset) == ("vflute", "figlang_mini")
    assert len(mini.samples) == len(set(mini.ids)) == 76
    assert mini.sha256 == hashlib.sha256(mini.path.read_bytes()).hexdigest()
    assert re.fullmatch(r"figlang_mini/test:[0-9a-f]{12}", str(mini.data))


def test_a_task_has_its_version_its_scorer_and_the_reported_values(whole_run: Run) -> None:
    mini = whole_run.tasks["figlang_mini"]
    assert mini.scorer == "embedded"
    assert mini.signature is not None and mini.signature.startswith("embedded")
    assert mini.version == "5-0" and mini.has_explanations
    value, low, high, *_ = mini.estimates["f1@60"]["muse"]
    assert low is not None and high is not None and 0 < low <= value <= high
    assert mini.reported == mini.estimates


def test_a_file_of_a_run_names_that_task_or_all_of_its_date() -> None:
    folder = demo_runs.weak_run()
    samples = next(folder.glob("*_samples_figlang_mini.jsonl"))
    assert list(runs.read(str(samples)).tasks) == ["figlang_mini"]
    assert runs.read(str(samples)).results["config"]["model"] == "PartlyRight"
    results = next(folder.glob("*_results.json"))
    assert set(runs.read(str(results)).tasks) == set(demo_runs.VARIED_TASKS)


def test_names(folder: Path, tmp_path: Path) -> None:
    assert runs.read(f"tuned={folder}").name == "tuned"
    assert runs.read(str(folder)).name == folder.name
    copied_run = tmp_path / "other"
    copied_run.mkdir()
    samples_file = folder / SAMPLES_NAME
    shutil.copy(samples_file, copied_run)
    two_names = [run.name for run in runs.read_all([f"a={samples_file}", f"b={copied_run}"])]
    assert two_names == ["a", "b"]
    one_name = [run.name for run in runs.read_all([f"a={samples_file}", f"a={copied_run}"])]
    assert one_name == [f"a ({SAMPLES_NAME})", "a (other)"], "the part of the path that differs"
    assert [run.name for run in runs.read_all([f"a={tmp_path}/oth*"])] == ["a"]
    # The folder, and what a shell makes of `folder/*`.
    for same_run in (copied_run, copied_run / SAMPLES_NAME):
        with pytest.raises(RunError, match="is given 2 times"):
            runs.read_all([str(copied_run), f"again={same_run}"])


def test_the_newest_of_several_runs_is_read_and_said(
    folder: Path, warnings_of_loguru: list[str]
) -> None:
    later = folder / SAMPLES_NAME.replace("2026-01-02", "2026-01-03")
    later.write_bytes(run_figlang_mini()[0])
    for name in (SAMPLES_NAME, later.name):  # a second task, named in the same line
        (folder / name.replace("figlang_mini", "vflute")).write_bytes(run_figlang_mini()[0])
    assert runs.read(str(folder)).tasks["figlang_mini"].path == later
    (warning,) = warnings_of_loguru
    assert "holds several runs of figlang_mini, vflute: the newest is used, 2026-01-03" in warning


@pytest.mark.parametrize(
    ("settings", "sampling"),
    [
        ({"do_sample": False, "temperature": 0}, None),
        ({"temperature": 0.25}, "temperature 0.25"),  # servers draw by it alone
        ({"do_sample": True}, "do_sample"),
        ({"do_sample": True, "temperature": 0}, None),
        ({"temperature": "0.7"}, "temperature 0.7"),
        (None, None),
    ],
)
def test_answers_drawn_at_random(
    settings: dict[str, object] | None, sampling: str | None, folder: Path
) -> None:
    content = {"configs": {"figlang_mini": {"generation_kwargs": settings}}}
    (folder / RESULTS).write_text(json.dumps(content), encoding="utf-8")
    assert runs.read(str(folder)).tasks["figlang_mini"].sampling == sampling


def test_names_of_lm_eval(folder: Path) -> None:
    (folder / SAMPLES_NAME).rename(folder / "samples_figlang_mini_2026-01-02T03-04-05.123456.jsonl")
    content = {
        "results": {"figlang_mini": {"acc,none": 0.5}},
        "model_name": "org/tiny",
        "config": {"limit": 8.0},
    }
    (folder / "results_2026-01-02T03-04-05.123456.json").write_text(
        json.dumps(content), encoding="utf-8"
    )
    run = runs.read(str(folder))
    task = run.tasks["figlang_mini"]
    assert run.name == "tiny"
    assert task.reported == {}, "lm-eval has no place for scopes: they come from the records"
    assert {"all", "muse"} < task.estimates["acc"].keys()
    assert run.partial == "limit 8"


def test_a_very_long_name_is_cut(folder: Path) -> None:
    long_name = "org/" + "m" * 1_000_000
    (folder / RESULTS).write_text(json.dumps({"model_name": long_name}), encoding="utf-8")
    assert runs.read(str(folder)).name == "m" * 197 + "..."
    run = runs.read(f"{'n' * 300}={folder}")
    assert run.name == run.given_name == "n" * 197 + "..."
    assert model_name({"model_name": "m" * 200}) == "m" * 200


def test_a_limit_of_all_rows_is_no_cut() -> None:
    assert partial_reason({"config": {"limit": -1.0}}, "vflute") is None
    counts = {
        "vflute": {"original": 723, "effective": 723},
        "flute": {"original": 1500, "effective": 1000},
    }
    results = {"config": {"limit": 1000.0}, "n-samples": counts}
    assert partial_reason(results, "vflute") is None
    assert partial_reason(results, "flute") == "limit 1000"
    without_limit = results | {"config": {}}
    reason = partial_reason(without_limit, "vflute", 400)
    assert reason == "400 of 723 documents are in the samples"
    reason = partial_reason({"config": {"limit": 0.5, "offset": 4}}, "vflute")
    assert reason == "limit 0.5, offset 4"


def refused(path: Path | str, match: str) -> None:
    with pytest.raises(RunError, match=match):
        runs.read(str(path))


def test_what_cannot_be_read_is_named_with_a_remedy(folder: Path, tmp_path: Path) -> None:
    refused("nowhere", "nowhere does not exist: give a samples file")
    empty = tmp_path / "empty"
    empty.mkdir()
    above = tmp_path / "above"
    above.mkdir()
    refused(empty, "no samples files in .*empty .evaluate with --log_samples")
    shutil.copytree(folder, above / "model", ignore=shutil.ignore_patterns("above", "empty"))
    assert list(runs.read(str(above)).tasks) == ["figlang_mini"]
    shutil.copytree(above / "model", above / "other" / "model")
    refused(above, "holds several runs: name one of .*above/model, .*other/model")
    (empty / "notes.txt").write_text("x", encoding="utf-8")
    refused(empty / "notes.txt", "notes.txt is of no run with samples")
    (folder / RESULTS).write_text("{", encoding="utf-8")
    refused(folder, f"{RESULTS} cannot be read")
    (folder / RESULTS).unlink()
    line = json.loads(run_figlang_mini()[0].splitlines()[0])
    line["sample"]["explanation_scores"] = {"scorer": "vflute25", "mean": 85.0}  # of percent
    (folder / SAMPLES_NAME).write_text(json.dumps(line), encoding="utf-8")
    refused(folder, "line 1: explanation_scores are damaged: score the run again")
    (folder / SAMPLES_NAME).write_bytes(run_figlang_mini()[0][:-20])
    refused(folder, "line 76 is not valid JSON .*Was the file cut off")


def test_a_folder_may_hold_a_run_of_each_task(folder: Path) -> None:
    """Each has a limit of its own."""
    later = SAMPLES_NAME.replace("2026-01-02", "2026-01-03").replace("figlang_mini", "vflute_sg")
    shutil.copy(folder / SAMPLES_NAME, folder / later)
    later_results = {"config": {"offset": 4}}
    (folder / RESULTS).write_text(json.dumps({"config": {}}), encoding="utf-8")
    (folder / RESULTS.replace("2026-01-02", "2026-01-03")).write_text(
        json.dumps(later_results), encoding="utf-8"
    )
    run = runs.read(str(folder))
    assert {name: task.partial for name, task in run.tasks.items()} == {
        "figlang_mini": None,
        "vflute_sg": "offset 4",
    }
    assert run.partial == "offset 4 in vflute_sg"
    assert run.tasks["figlang_mini"].conditions.partial is None


def test_tasks_of_others_are_passed_over(folder: Path) -> None:
    samples_of_mme = folder / SAMPLES_NAME.replace("figlang_mini", "mme")
    samples_of_mme.write_text('{"doc_id": 0, "mme_score": {"id": 1}}\n', encoding="utf-8")
    assert list(runs.read(str(folder)).tasks) == ["figlang_mini"]
    (folder / SAMPLES_NAME).unlink()
    refused(
        folder, "only samples of other tasks, or of --predict_only .mme.: .*figlang score SAMPLES"
    )


# --- lines ---


@pytest.fixture
def lines() -> list[Any]:
    """The lines of a real file."""
    return [json.loads(line) for line in run_figlang_mini()[0].split(b"\n")[:-1]]


def written(folder: Path, lines: list[Any]) -> str:
    content = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (folder / SAMPLES_NAME).write_bytes(content.encode("utf-8", "backslashreplace"))
    return str(folder / SAMPLES_NAME)


Lines = list[Any]
Damage = Callable[[Lines], object]
"""Changes lines in place."""


def set_fields(**fields: object) -> Damage:
    """Set fields of the record in line 5."""

    def damage(lines: Lines) -> None:
        lines[4]["sample"].update(fields)

    return damage


def set_fields_of_all(**fields: object) -> Damage:
    """Set fields of all records."""

    def damage(lines: Lines) -> None:
        for line in lines:
            line["sample"].update(fields)

    return damage


def remove_field(field: str) -> Damage:
    """Remove a field of the record in line 5."""

    def damage(lines: Lines) -> None:
        del lines[4]["sample"][field]

    return damage


def remove_record(lines: Lines) -> None:
    """Remove the record in line 5."""
    del lines[4]["sample"]


def repeat_line(lines: Lines) -> None:
    """Write line 7 a second time."""
    lines.append(lines[6])


def insert_list(lines: Lines) -> None:
    """Insert a line 5 that is no JSON object."""
    lines.insert(4, [1, 2])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (set_fields(data="V-FLUTE/test:0123"), "has rows of figlang_mini/test:.*V-FLUTE"),
        (repeat_line, "has 2 lines of the row .*: are these several runs. Split the file"),
        (remove_record, "line 5 has no `sample` record of figlang_tasks .*but other lines"),
        (
            remove_field("task"),
            r"line 5 has no `sample` record of figlang_tasks \(task, request",
        ),
        (remove_field("request"), r"line 5 has no `sample` record .*\(task, request"),
        (
            set_fields(task="vflute_instructions"),
            "of several tasks .*vflute of .* in line 1, vflute_instructions of .* in line 5",
        ),
        (
            set_fields(request="figlang_mini,split=train"),
            (
                "of several tasks .*split=test in line 1, vflute of figlang_mini,split=train in"
                " line 5.*: split the file"
            ),
        ),
        (set_fields_of_all(task="flute"), "line 1: vflute has no task 'flute'; it has .*vflute"),
        (
            set_fields_of_all(request="figlang_mini"),
            r"line 1: request is 'figlang_mini'; it must be DATASET,split=",
        ),
        (
            set_fields_of_all(data="V-FLUTE/test:0123456789ab"),
            (
                "records are of V-FLUTE/test:0123456789ab, and their request is"
                " figlang_mini,split=test"
            ),
        ),
        (set_fields(status=["read"]), "line 5 has no `sample` record .*status: texts"),
        (set_fields(repeat="2"), "line 5 has no `sample` record .*repeat: a number"),
        (insert_list, r"line 5 is \[1, 2\], not a JSON object"),
        (list.clear, "is empty: .*--log_samples"),
        (set_fields_of_all(data="x: /test:ff\x1b[2J"), "does not name data"),
    ],
)
def test_what_is_wrong_with_the_lines(
    damage: Damage, message: str, folder: Path, lines: Lines
) -> None:
    damage(lines)
    path = written(folder, lines)
    with pytest.raises(RunError, match=message) as raised:
        runs.read(path)
    text = str(raised.value)
    assert text.startswith(path) and "\n" not in text and "\x1b" not in text


@pytest.mark.parametrize(
    "entry",
    [
        {"generation_kwargs": "temperature=0"},
        {"generation_kwargs": {"temperature": "hot"}},
        {"metadata": [{"version": 0}]},
        {"metadata": {"versions": "0.7.3"}},
        {"metadata": {"prompt_hash": ["x"]}},
        {"metadata": {"explanation_scorer": ["x"]}},
        {"metadata": {"measures": {"format": 1, "values": {"acc": 1}}}},
    ],
)
def test_a_damaged_results_file_is_named(folder: Path, entry: dict[str, Any]) -> None:
    (folder / RESULTS).write_text(
        json.dumps({"configs": {"figlang_mini": entry}}), encoding="utf-8"
    )
    with pytest.raises(RunError, match=f"{RESULTS}.*: (restore|evaluate again)") as raised:
        runs.read(str(folder))
    assert "\n" not in str(raised.value) and ".:" not in str(raised.value)


def test_a_damaged_record_is_named(folder: Path, lines: list[Any]) -> None:
    del lines[4]["sample"]["gold"]
    task = runs.read(written(folder, lines)).tasks["figlang_mini"]
    with pytest.raises(
        RunError,
        match=rf"{SAMPLES_NAME} has a record that is not as the task figlang_mini writes it .*gold",
    ):
        _ = task.estimates


@pytest.mark.parametrize("group", [None, 3, ["muse"], "\ud800"])
def test_a_part_that_is_no_text_is_named(group: object, folder: Path, lines: list[Any]) -> None:
    """It would be the name of a row in every table."""
    lines[4]["sample"]["report_group"] = group
    task = runs.read(written(folder, lines)).tasks["figlang_mini"]
    row = lines[4]["sample"]["id"]
    with pytest.raises(
        RunError,
        match=rf"{SAMPLES_NAME} has a record .* not as .*row {row} counts in the scope .* text",
    ):
        _ = task.estimates


@pytest.mark.parametrize("name", ["org/\ud800x", "\udcff"])
def test_a_name_with_half_a_surrogate_pair(name: str, folder: Path) -> None:
    """No table holds one, and no file in UTF-8."""
    replacement = "\N{REPLACEMENT CHARACTER}"
    (folder / RESULTS).write_text(json.dumps({"model_name": name}), encoding="utf-8")
    assert replacement in runs.read(str(folder)).name
    assert runs.read(f"{name}={folder}").name.count(replacement) == 1
