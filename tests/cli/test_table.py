"""``figlang table``: every cell is the value of a run, and bold ones stand out by a test."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from commands import cells, done, figlang, refused
from saved_runs import METADATA, sample_lines, write_run

import figlang_tasks

DETECT = "figlang_mini_irfl_detect_idiom"
FLUTE = "figlang_mini_flute"
Answer = Callable[[Mapping[str, Any], int], str]


def answer_first(count: int) -> Answer:
    """Gives A to the first documents, of which a few are right, and nothing to the others."""

    def answer(doc: Mapping[str, Any], number: int) -> str:
        right = "ABCD"[doc["answer"]]
        return right if number < count else "I would not say."

    return answer


def write_detection(
    folder: Path, right: int, model: str = "vlm", count: int | None = None, **results: Any
) -> str:
    """A run with some right answers; it is named like its folder."""
    lines = {DETECT: sample_lines(DETECT, count, answer_first(right))}
    return f"{folder.name}={write_run(folder, lines, {'model': model}, **results)}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Two good models, a bad one, and chance."""
    folder = tmp_path_factory.mktemp("runs")
    return [
        write_detection(folder / "bad", 1),
        write_detection(folder / "good", 12),
        write_detection(folder / "near", 11),
        write_detection(folder / "chance", 12, model="figlang_random"),
    ]


def values_of(runs: Sequence[str]) -> dict[str, float]:
    """The accuracy of each run over all rows, from the table of Python."""
    frame = figlang_tasks.table(runs)
    frame = frame[(frame["metric"] == "acc") & (frame["scope"] == "all")]
    return dict(zip(frame["run"], frame["value"], strict=True))


def test_the_best_models_that_cannot_be_told_apart_are_bold_and_chance_never(
    runs: list[str],
) -> None:
    head, _, *rows = cells(done("table", *runs))
    assert head == ["", f"{DETECT} acc ↑"]
    assert [row[0] for row in rows] == ["bad", "good", "near", "reference:", "chance"]
    values = values_of(runs)
    for name, cell in rows:
        if name != "reference:":
            assert cell.replace("*", "").startswith(f"{100 * values[name]:.1f} [")
    assert [row[0] for row in rows if row[1].startswith("**")] == ["good", "near"]
    alone = done("table", runs[0])
    assert "**" not in alone and "Bold" not in alone


def test_csv_has_the_numbers_of_python_in_columns_of_their_own(runs: list[str]) -> None:
    lines = list(csv.DictReader(io.StringIO(done("table", *runs, "--format", "csv"))))
    frame = figlang_tasks.table(runs)
    frame = frame[(frame["metric"] == "acc") & (frame["scope"] == "all")]
    assert [line["kind"] for line in lines] == ["model"] * 3 + ["reference"]
    for line, row in zip(lines, frame.itertuples(), strict=True):
        numbers = [line[f"{DETECT} acc{end}"] for end in ("", " low", " high")]
        assert [float(number) for number in numbers] == [row.value, row.low, row.high]
        assert line["run"] == row.run


class _Cells(HTMLParser):
    """The tags of a text, and the texts of its cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_html_is_one_escaped_table(runs: list[str], tmp_path: Path) -> None:
    named = runs[1].partition("=")[2]
    odd_name = "<script>&\"'"
    options = ("--format", "html", "--caption", "a < b")
    text = done("table", runs[0], f"{odd_name}={named}", *options)
    parsed = _Cells(text)
    assert text.startswith("<table>") and text.rstrip().endswith("</table>")
    assert parsed.tags.count("table") == 1 and "script" not in parsed.tags
    assert odd_name in parsed.texts and "a < b" in parsed.texts
    assert parsed.tags.count("b") == 1, "the better run is bold"
    assert parsed.tags.count("td") == 2


def test_latex_has_a_label_a_caption_and_escaped_names(runs: list[str]) -> None:
    path = runs[1].partition("=")[2]
    options = ("--format", "latex", "--label", "tab:a_b", "--caption", "5 % & more")
    text = done("table", runs[0], f"a_%={path}", runs[3], *options)
    assert "\\caption{5 \\% \\& more}\n\\label{tab:a_b}\n" in text
    assert re.search(r"\na\\_\\% & \\textbf\{100\.0\} \{\\scriptsize \[.*\]\} \\\\\n", text)
    head = DETECT.replace("_", r"\_")
    assert f"\n & {head} acc $\\uparrow$ \\\\\n\\midrule\n" in text
    assert text.count("\\midrule") == 2, "chance stands below a rule"
    assert "\\label{tab:results}" in done("table", *runs, "--format", "latex")
    wrong = figlang("table", *runs, "--format", "latex", "--label", "a}b")
    assert wrong.exit_code == 2 and "is no label" in wrong.output


def test_runs_that_are_not_comparable_have_a_mark_and_a_footnote(
    runs: list[str], tmp_path: Path
) -> None:
    sizes: dict[str, Any] = {"n-samples": {DETECT: {"original": 12, "effective": 8}}}
    cut = write_detection(tmp_path / "cut", 8, count=8, **sizes)
    configs = {DETECT: {"task": DETECT, "metadata": METADATA | {"version": "9-0"}}}
    newer = write_detection(tmp_path / "newer", 12, configs=configs)
    output = done("table", *runs, cut, newer)
    cell_by_run = dict(row for row in cells(output)[2:] if row[0] in ("cut", "newer", "good"))
    assert cell_by_run["cut"].startswith("100.0‡ ["), "not in bold"
    assert cell_by_run["newer"].startswith("100.0† [")
    assert cell_by_run["good"].startswith("**100.0** [")
    reason = "not compared with the other runs of the task"
    assert f"\n\n† {reason}: task version 9-0, not 2-0\n" in output
    assert f"\n\n‡ {reason}: partial (8 of 12 rows)\n" in output
    lines = list(csv.DictReader(io.StringIO(done("table", *runs, newer, "--format", "csv"))))
    assert [line[f"{DETECT} note"] for line in lines] == [
        *[""] * 3,
        "task version 9-0, not 2-0",
        "",
    ]


def test_repeats_have_their_mean_and_deviation(runs: list[str]) -> None:
    paths = [run.partition("=")[2] for run in runs]
    values = list(values_of(runs).values())
    output = done("table", f"m={paths[0]}", f"m={paths[1]}", runs[2])
    name, cell = cells(output)[2]
    mean = 100 * (values[0] + values[1]) / 2
    deviation = 100 * abs(values[0] - values[1]) / 2**0.5
    assert name == "m (2 runs)"
    assert cell.replace("*", "") == f"{mean:.1f} ± {deviation:.1f}"


def test_a_mean_of_some_repeats_alone_is_told_below_the_table(
    runs: list[str], tmp_path: Path
) -> None:
    lines = {FLUTE: sample_lines(FLUTE, 6)}
    other = write_run(tmp_path / "other", lines, {"model": "vlm"})
    paths = [run.partition("=")[2] for run in runs]
    output = done("table", f"m={paths[0]}", f"m={paths[1]}", f"m={other}", runs[2])
    assert cells(output)[2][0] == "m (3 runs)"
    assert f"m on {DETECT}: only 2 of the 3 runs, the others lack the task" in output
    assert f"m on {FLUTE}: only 1 of the 3 runs" in output


@pytest.mark.parametrize("command", ["table", "compare"])
def test_a_name_that_latex_would_read_as_an_argument_of_the_line_above_stays_a_name(
    command: str, runs: list[str]
) -> None:
    bad, good = (run.partition("=")[2] for run in runs[:2])
    text = done(command, f"[local]/a={bad}", f"*b<c={good}", "--format", "latex")
    assert not re.search(r"^[\[*]", text, re.MULTILINE)
    assert "{}[local]/a" in text
    assert r"{}*b\textless{}c" in text


def test_a_table_of_many_tasks_has_them_in_rows(tmp_path: Path) -> None:
    lines = {f"task_{number}": sample_lines(DETECT, None, answer_first(12)) for number in range(9)}
    paths = []
    for name, model in (("a", "vlm"), ("b", "figlang_blind")):
        paths.append(write_run(tmp_path / name, lines, {"model": model}))
    arguments = [f"a={paths[0]}", f"b={paths[1]}"]
    head, _, *rows = cells(done("table", *arguments))
    assert head == ["", "a", "b (reference)"]
    assert [row[0] for row in rows] == [f"task_{number} acc ↑" for number in range(9)]
    few = cells(done("table", *arguments, "--task", "task_3", "--task", "task_1"))
    assert few[0] == ["", "task_1 acc ↑", "task_3 acc ↑"]
    assert "task_3" in refused("table", *arguments, "--task", "task_33")


def test_a_run_without_a_task_has_an_empty_cell(runs: list[str], tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", {FLUTE: sample_lines(FLUTE, 6)}, {"model": "vlm"})
    output = done("table", runs[0], other)
    rows = cells(output)[2:]
    assert [row[0] for row in rows] == ["bad", "other"]
    assert rows[0][2] == "" and rows[1][1] == ""


def test_published_figures_stand_below_only_beside_comparable_runs(tmp_path: Path) -> None:
    lines = sample_lines("figlang_mini_metaclue_retrieve_swap")
    for task in ("whole", "cut"):
        folder = tmp_path / task
        folder.mkdir()
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / "x_samples_metaclue_retrieve_swap.jsonl").write_text(text, encoding="utf-8")
    output = done("table", tmp_path / "whole", "--paper")
    assert any(row[0].startswith("ALBEF") and row[0].endswith(")") for row in cells(output))
    assert "ALBEF" not in done("table", tmp_path / "whole")
    nothing = done("table", write_detection(tmp_path / "mini", 3), "--paper")
    assert f"{DETECT}: nothing was published that is comparable" in nothing


def test_a_folder_of_several_runs_is_refused_with_the_pattern(runs: list[str]) -> None:
    folder = Path(runs[0].partition("=")[2]).parent
    message = refused("table", folder)
    assert f"{folder} holds several runs: name each of them" in message
    assert message.endswith(f"or {folder}/* for all of them")
