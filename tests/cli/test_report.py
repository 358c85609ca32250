"""``figlang report``: what it writes, and what it refuses."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import commands
import pytest
import warm
from hub_server import HubServer
from report_runs import lines_of, write_run

from figlang_tasks import mini

TASKS = ("figlang_mini", "figlang_mini_irfl_match_idiom")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run."""
    path = tmp_path_factory.mktemp("runs") / "my_model"
    return write_run(path, {task: lines_of(task, 12) for task in TASKS})


figlang, refused = partial(commands.figlang, "report"), partial(commands.refused, "report")


def test_a_report_is_written(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "mine.html"
    result = figlang(f"tuned={folder}", "-o", output, "--title", "First <try> \udc00")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"written: {output} (24 samples, ") and "MB)" in result.stdout
    text = output.read_text(encoding="utf-8")
    assert (
        "<title>First &lt;try&gt; ?</title>" in text
        and "tuned" in text
        and "data:image/webp;base64," in text
    )
    assert list(tmp_path.iterdir()) == [output]
    # a report is made again
    result = figlang(folder, "-o", output, "--no-images", "--max-samples", "10")
    assert result.stdout.startswith(f"written: {output} (10 samples, 0 pictures, ")
    assert (
        "figlang: figlang_mini: 5 of 12 rows are in the gallery: those with unread answers, and the"
        " first others." in result.stderr
    )
    assert (
        "figlang: figlang_mini_irfl_match_idiom: the first 5 of 12 rows are in the gallery."
        in result.stderr
    )
    assert "data:image/webp;base64," not in output.read_text(encoding="utf-8")


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    lines = lines_of("figlang_mini", 2)
    for line in lines:
        line["sample"] |= {"data": "V-FLUTE/test:0123456789ab", "request": "V-FLUTE,split=test"}
    run = write_run(tmp_path / "run", {"vflute": lines})
    (tmp_path / "hub").mkdir()
    with HubServer() as hub:
        hub.add_repo("ColumbiaNLP/V-FLUTE", mini.DATA_DIR)
        command = ["figlang", "report", str(run), "-o", str(tmp_path / "r.html")]
        done = warm.run(command, cwd=tmp_path, env=hub.env(home=tmp_path / "hub"))
        assert done.returncode == 0 and "V-FLUTE" in done.stderr, done.stderr
        assert hub.requests == []


def test_other_files_are_not_replaced(folder: Path, tmp_path: Path) -> None:
    mine = tmp_path / "thesis.html"
    mine.write_text("years of work", encoding="utf-8")
    assert (
        "is not a report" in refused(folder, "-o", mine)
        and mine.read_text(encoding="utf-8") == "years of work"
    )
    assert f"{tmp_path}: Is a directory" in refused(folder, "-o", tmp_path)
    assert "thesis.html/x.html: " in refused(folder, "-o", mine / "x.html")
    assert "does not exist" in refused(tmp_path / "none", "-o", tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == [mine]
