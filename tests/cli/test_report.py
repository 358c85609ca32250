"""``figlang report``: what it writes, and what it refuses."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import commands
import pytest
import warm
from hub_server import HubServer
from saved_runs import sample_lines, write_run
from typer.testing import Result

from figlang_tasks import mini

TASKS = ("figlang_mini", "figlang_mini_irfl_match_idiom")

figlang = partial(commands.figlang, "report")
refused = partial(commands.refused, "report")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved run of two tasks."""
    path = tmp_path_factory.mktemp("runs") / "my_model"
    return write_run(path, {task: sample_lines(task, 12) for task in TASKS})


@pytest.fixture(scope="module")
def report(run: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """A report of the run with a title and all its pictures, and the result of the command."""
    output = tmp_path_factory.mktemp("report") / "new" / "mine.html"
    return output, figlang(f"tuned={run}", "-o", output, "--title", "First <try> \udc00")


def test_a_report_is_one_file_with_title_name_and_pictures(report: tuple[Path, Result]) -> None:
    output, result = report
    assert result.exit_code == 0, result.output
    written = f"new folder: {output.parent}\nwritten: {output} (24 samples, "
    assert result.stdout.startswith(written)
    assert "MB)" in result.stdout
    html = output.read_text(encoding="utf-8")
    assert "<title>First &lt;try&gt; ?</title>" in html
    assert "tuned" in html
    assert "data:image/webp;base64," in html
    assert list(output.parent.iterdir()) == [output]


def test_a_report_is_replaced_by_a_smaller_one_that_says_what_it_leaves_out(
    run: Path, report: tuple[Path, Result], tmp_path: Path
) -> None:
    output = tmp_path / "mine.html"
    shutil.copyfile(report[0], output)
    result = figlang(run, "-o", output, "--no-images", "--max-samples", "10")
    assert result.stdout.startswith(f"written: {output} (10 samples, 0 pictures, "), (
        "a report is replaced"
    )
    warnings = (
        "figlang: figlang_mini: 5 of 12 rows are in the gallery: those with unread answers, and the"
        " first others.",
        "figlang: figlang_mini_irfl_match_idiom: the first 5 of 12 rows are in the gallery.",
    )
    for warning in warnings:
        assert warning in result.stderr
    assert "data:image/webp;base64," not in output.read_text(encoding="utf-8")


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    samples = sample_lines("figlang_mini", 2)
    for sample in samples:
        sample["sample"]["data"] = "V-FLUTE/test:0123456789ab"
        sample["sample"]["request"] = "V-FLUTE,split=test"
    run = write_run(tmp_path / "run", {"vflute": samples})
    (tmp_path / "hub").mkdir()
    with HubServer() as hub:
        hub.add_repo("ColumbiaNLP/V-FLUTE", mini.DATA_DIR)
        command = ["figlang", "report", str(run), "-o", str(tmp_path / "r.html")]
        ended = warm.run(command, cwd=tmp_path, env=hub.env(home=tmp_path / "hub"))
        assert ended.returncode == 0, ended.stderr
        assert "V-FLUTE" in ended.stderr
        assert hub.requests == []


def test_other_files_are_not_replaced(run: Path, tmp_path: Path) -> None:
    thesis = tmp_path / "thesis.html"
    thesis.write_text("years of work", encoding="utf-8")
    assert "is not a report" in refused(run, "-o", thesis)
    assert thesis.read_text(encoding="utf-8") == "years of work"
    assert f"{tmp_path}: Is a directory" in refused(run, "-o", tmp_path)
    assert "thesis.html/x.html: " in refused(run, "-o", thesis / "x.html")
    assert "does not exist" in refused(tmp_path / "none", "-o", tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == [thesis]
