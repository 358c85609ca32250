"""Every command names results whose samples are missing or not whole; it leaves none out."""

from __future__ import annotations

import json
import shutil
from functools import lru_cache
from pathlib import Path

import commands
import pytest
from saved_runs import sample_lines, write_run

from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.results.files import find_runs
from figlang_tasks.scoring import OVERALL, Estimate, to_json

IDIOM = "figlang_mini_irfl_detect_idiom"
CLASSIFY = "figlang_mini_metaclue_classify_literal"
DATE = "20260102_030405"
LATER = "20260103_030405"


@lru_cache(maxsize=2)
def _lines(task: str) -> list[dict[str, object]]:
    return sample_lines(task, 4)


def saved(folder: Path, date: str = DATE) -> Path:
    """A run of two tasks, with values in its results file."""
    written = write_run(folder / "written", {task: _lines(task) for task in (IDIOM, CLASSIFY)})
    for file in written.iterdir():
        shutil.move(file, folder / file.name.replace(DATE, date))
    written.rmdir()
    results = folder / f"{date}_results.json"
    content = json.loads(results.read_text())
    for config in content["configs"].values():
        config["metadata"] = {"measures": to_json({"parse_rate": {OVERALL: Estimate(1.0)}})}
    results.write_text(json.dumps(content))
    return folder


def samples(folder: Path, task: str, date: str = DATE) -> Path:
    return folder / f"{date}_samples_{task}.jsonl"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return saved(tmp_path / "results" / "model")


def test_a_samples_file_that_is_missing(folder: Path, warnings_of_loguru: list[str]) -> None:
    samples(folder, CLASSIFY).unlink()
    message = (
        f"{folder / f'{DATE}_results.json'}: results of {CLASSIFY} have no samples: restore the"
        " samples files"
    )
    for path in (folder, folder / f"{DATE}_results.json"):
        run = runs.read(str(path))
        assert list(run.tasks) == [IDIOM]
        assert [sentence.startswith(message) for sentence in run.missing] == [True]
        (warning,) = warnings_of_loguru
        assert message in warning
        warnings_of_loguru.clear()
        with pytest.raises(
            RunError,
            match=f"results of {CLASSIFY} have no samples: .*Or give the samples file of one",
        ):
            runs.read(str(path), require_samples=True)
    assert runs.read(str(samples(folder, IDIOM)), require_samples=True).missing == ()
    assert warnings_of_loguru == []


@pytest.mark.parametrize(
    "command",
    [
        ("cite",),
        ("submit", "irfl"),
        ("submit", "figlang2024"),
        ("submit", "figlang2022"),
        ("submit", "hub", "--repo", "a/b"),
        (
            "submit",
            "every-eval-ever",
            "-o",
            "eee",
            "--organization",
            "Lab",
            "--relationship",
            "other",
        ),
    ],
)
def test_what_others_rely_on_needs_all_samples(
    command: tuple[str, ...], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples(folder, CLASSIFY).unlink()
    monkeypatch.chdir(folder)
    assert f"results of {CLASSIFY} have no samples" in commands.refused(*command, folder)
    assert len(list(folder.iterdir())) == 2, "nothing was written"


def test_a_comparison_names_what_is_missing(folder: Path, tmp_path: Path) -> None:
    whole_run = saved(tmp_path / "other")
    samples(folder, CLASSIFY).unlink()
    output = commands.done("compare", f"a={folder / f'{DATE}_results.json'}", f"b={whole_run}")
    assert f"results of {CLASSIFY} have no samples" in output


def test_all_samples_are_missing(folder: Path) -> None:
    for task in (IDIOM, CLASSIFY):
        samples(folder, task).unlink()
    for path in (folder, folder.parent, folder / f"{DATE}_results.json"):
        with pytest.raises(
            RunError, match=f"results of {IDIOM}, {CLASSIFY} have no samples: .*evaluate again"
        ):
            runs.read(str(path))


def test_samples_that_could_not_be_written_whole(folder: Path) -> None:
    samples_path = samples(folder, CLASSIFY)
    partial = samples_path.rename(f"{samples_path}.partial")
    results = folder / f"{DATE}_results.json"
    assert find_runs(folder) == [results], "the results file tells of it"
    (sentence,) = runs.read(str(folder)).missing
    assert (
        f"results of {CLASSIFY} have no samples ({partial.name} is what could be written"
        in sentence
    )
    with pytest.raises(RunError, match=f"{partial} is what could be written of a file"):
        runs.read(str(partial))
    results.unlink()
    assert find_runs(folder) == [samples(folder, IDIOM), partial]
    listed = commands.figlang("runs", folder)
    assert listed.exit_code == 1 and f"figlang: {partial} is what could be written" in listed.stderr
    samples(folder, IDIOM).unlink()
    with pytest.raises(RunError, match=f"{partial} is what could be written of a file"):
        runs.read(str(folder))


@pytest.mark.parametrize("content", ["", '{"results": {', "[1]"])
@pytest.mark.parametrize("has_samples", [True, False])
def test_a_results_file_that_a_kill_has_cut_off(
    content: str, has_samples: bool, folder: Path
) -> None:
    results = folder / f"{DATE}_results.json"
    results.write_text(content)
    if not has_samples:
        for task in (IDIOM, CLASSIFY):
            samples(folder, task).unlink()
    listed = commands.figlang("runs", folder)
    assert listed.exit_code == 1 and listed.stdout == ""
    assert listed.stderr.startswith(f"figlang: {results} cannot be read (")
    assert (
        "Was the file cut off (a kill, a full disk)?" in listed.stderr
        and listed.stderr.count("\n") == 1
    )
    with pytest.raises(RunError, match="Was the file cut off"):
        runs.read(str(folder))


def test_a_results_file_that_could_not_be_written_whole(folder: Path) -> None:
    results = folder / f"{DATE}_results.json"
    partial = results.rename(f"{results}.partial")
    listed = commands.figlang("runs", folder)
    assert listed.exit_code == 1 and f"figlang: {partial} is what could be written" in listed.stderr
    assert len(commands.cells(listed.stdout)) == 4, (
        "the samples are whole: head, rule and two tasks"
    )


def test_runs_of_several_dates_in_a_folder(folder: Path) -> None:
    """Results that are older than the samples are of an earlier run; newer ones lack samples."""
    saved(folder, LATER)
    samples(folder, CLASSIFY).unlink()
    assert runs.read(str(folder), require_samples=True).missing == ()
    samples(folder, CLASSIFY, LATER).rename(samples(folder, CLASSIFY))
    run = runs.read(str(folder))
    assert run.tasks[CLASSIFY].path == samples(folder, CLASSIFY)
    (sentence,) = run.missing
    assert sentence.startswith(
        f"{folder / f'{LATER}_results.json'}: results of {CLASSIFY} have no samples"
    )
    (folder / f"{LATER}_results.json").write_text("{")
    with pytest.raises(RunError, match=f"{LATER}_results.json cannot be read"):
        runs.read(str(folder))


def test_a_later_results_file_that_a_kill_has_cut_off(folder: Path) -> None:
    (folder / f"{LATER}_results.json").write_text('{"results"')
    (sentence,) = runs.read(str(folder)).missing
    assert sentence.startswith(f"{folder / f'{LATER}_results.json'} cannot be read")


def test_what_a_command_is_writing_is_no_run(folder: Path) -> None:
    unfinished = folder / ".model_embedded.partial"
    unfinished.mkdir()
    (unfinished / "results.json").write_text("what a kill while writing leaves")
    assert find_runs(folder) == [folder / f"{DATE}_results.json"]


def test_fewer_documents_than_a_limit_has_left(folder: Path) -> None:
    results = folder / f"{DATE}_results.json"
    content = json.loads(results.read_text())
    content["config"]["limit"] = 8
    content["n-samples"][IDIOM] = {"original": 20, "effective": 8}
    results.write_text(json.dumps(content))
    partial = runs.read(str(folder)).tasks[IDIOM].partial
    assert partial == "limit 8, 4 of 8 documents are in the samples"
