"""``figlang show``: a row in the terminal is the row of the benchmark and what the run answered."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from saved_runs import sample_lines, write_run

from figlang_tasks.benchmarks.vflute import rows as vflute_rows
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import source_of

figlang = partial(commands.figlang, "show")
done = partial(commands.done, "show")
refused = partial(commands.refused, "show")

ROWS = 12
OTHER_TASK = "figlang_mini_metaclue_classify_literal"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two tasks; in figlang_mini every third answer is the published one."""
    samples = {task: sample_lines(task, ROWS) for task in ("figlang_mini", OTHER_TASK)}
    for number, sample in enumerate(samples["figlang_mini"]):
        score = number / 100
        scores = {"scorer": "embedded", "bertscore": score, "mean": score}
        sample["sample"]["explanation_scores"] = scores
    return write_run(tmp_path_factory.mktemp("show") / "model", samples)


@pytest.fixture(scope="module")
def documents() -> list[dict[str, Any]]:
    """The rows of figlang_mini in the run."""
    return list(vflute_rows.load("figlang_mini", "test").select(range(ROWS)))


def shown_ids(run: Path, *options: str) -> list[str]:
    """The ids of the rows of figlang_mini that the command prints as JSON."""
    content = json.loads(done(run, "--task", "figlang_mini", "--n", 100, "--json", *options))
    (task,) = content["tasks"]
    return [card["id"] for card in task["cards"]]


def unwrapped(text: str) -> str:
    """A text in one line with single spaces."""
    return " ".join(text.split())


def test_a_card_has_the_row_and_the_answer(run: Path, documents: list[dict[str, Any]]) -> None:
    output = unwrapped(done(run, "--task", "figlang_mini", "--n", 4))
    row = documents[3]
    card = output.partition(f"── {row['id']} ")[2]
    assert output.startswith(f"figlang_mini: {ROWS} rows. The first 4 (--n shows more): ──")
    assert f"prompt What of {row['id']}? claim {row['claim']}" in card
    assert f"answer {unwrapped(row['explanation'])} LABEL: {row['label']} read as" in card
    assert f"read as {row['label']} (read, rule marker-" in card
    assert f"gold label: {row['label']} reference {unwrapped(row['explanation'])}" in card
    assert "score right: acc 1; explanation score 0.03; bertscore 0.03" in card


def test_wrong_rows_are_those_whose_label_is_wrong(
    run: Path, documents: list[dict[str, Any]]
) -> None:
    # The second answer of three is a contradiction, the third has no label.
    wrong = []
    for number, row in enumerate(documents):
        is_wrong_label = number % 3 == 1 and row["label"] == "entailment"
        if is_wrong_label or number % 3 == 2:
            wrong.append(row["id"])
    assert shown_ids(run, "--wrong") == wrong
    heading = f"figlang_mini: {len(wrong)} of {ROWS} rows: wrong. Right: the right label, whatever"
    assert unwrapped(done(run, "--wrong", "--task", "figlang_mini")).startswith(heading)


def test_unread_rows_are_those_without_a_label(run: Path, documents: list[dict[str, Any]]) -> None:
    unread = [row["id"] for row in documents[2::3]]
    assert shown_ids(run, "--unread") == unread
    output = done(run, "--unread", "--task", "figlang_mini", "--n", 1)
    assert f"figlang_mini: {len(unread)} of {ROWS} rows: not read" in output
    assert "answer        I would not say.\nread as       nothing (unreadable, rule none)" in output


def test_all_tasks_are_shown_unless_one_is_named(run: Path) -> None:
    headings = [line for line in done(run, "--n", 1).splitlines() if " rows. The first 1" in line]
    assert [heading.partition(":")[0] for heading in headings] == ["figlang_mini", OTHER_TASK]
    line = refused(run, "--task", "figlang_min")
    assert "has no task figlang_min (did you mean `figlang_mini`" in line


def test_an_id_is_found_in_any_task_and_a_wrong_one_has_a_suggestion(
    run: Path, documents: list[dict[str, Any]]
) -> None:
    row_id = documents[5]["id"]
    output = done(run, "--id", row_id)
    assert output.startswith(f"figlang_mini: 1 of {ROWS} rows\n\n── {row_id} ─")
    assert OTHER_TASK not in output
    line = refused(run, "--id", "vismet-tset-5")
    assert f"has no row vismet-tset-5: figlang_mini has {ROWS} rows (did you mean `vismet-" in line


@pytest.mark.parametrize(
    "options", [("--wrong", "--unread"), ("--wrong", "--id", "x"), ("--unread", "--id", "x")]
)
def test_options_that_exclude_each_other(run: Path, options: tuple[str, ...]) -> None:
    result = figlang(run, *options)
    assert result.exit_code == 2
    assert "--wrong, --unread and --id exclude each other" in result.stderr


def test_the_path_of_a_picture_is_that_of_its_file(run: Path) -> None:
    folder = source_of("figlang_mini_metaclue").folder
    assert folder is not None
    content = json.loads(done(run, "--task", OTHER_TASK, "--json"))
    cards = content["tasks"][0]["cards"]
    assert len(cards) == 5
    for card in cards:
        (picture,) = card["pictures"]
        path = Path(picture["path"])
        assert path.is_file()
        assert folder.resolve() in path.resolve().parents
        assert path.stem in card["id"]


def columns(line: str) -> int:
    """The columns of a line in a terminal, where wide characters take two (UAX 11)."""
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in line)


def test_a_terminal_gets_no_control_characters_and_no_line_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(doc: Mapping[str, Any], number: int) -> str:
        return "\x1b[31mred\x07 \u202e" + "茶は熱い。" * 40 + "[bold]no markup[/bold]" + "x" * 200

    samples = sample_lines("figlang_mini", 1, answer)
    run = write_run(tmp_path / "model", {"figlang_mini": samples})
    monkeypatch.setenv("COLUMNS", "60")
    output = done(run)
    assert not set(output) & set("\x1b\x07\u202e")
    assert max(map(columns, output.splitlines())) == 60
    letters = "".join(output.split())
    assert "茶は熱い。" * 40 + "[bold]nomarkup[/bold]" + "x" * 200 in letters


def test_without_the_data_the_record_is_shown_and_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(hub.DATA_DIR_VARIABLE, raising=False)
    samples = sample_lines("figlang_mini", 1)
    record = samples[0]["sample"]
    record |= {"data": "V-FLUTE/test:0123456789ab", "request": "V-FLUTE,split=test"}
    output = unwrapped(done(write_run(tmp_path / "model", {"vflute": samples})))
    assert "pictures and texts of V-FLUTE are not shown: " in output
    assert "`figlang data prefetch` gets the data. ──" in output
    assert "picture not on this machine" in output
    assert f"reference {unwrapped(record['reference'])}" in output


def test_of_repeats_each_answer_is_shown(tmp_path: Path) -> None:
    samples = sample_lines("figlang_mini", 1) + sample_lines(
        "figlang_mini", 1, lambda doc, number: "Who knows?"
    )
    for number, sample in enumerate(samples, start=1):
        sample["sample"]["repeat"] = number
    run = write_run(tmp_path / "model", {"figlang_mini": samples})
    output = done(run, "--unread")
    assert output.startswith("figlang_mini: 1 of 1 row: not read")
    first, second = output.partition("answer 2")[::2]
    assert "answer 1" in first and "right: acc 1" in first
    assert "Who knows?" in second and "wrong: acc 0" in second
