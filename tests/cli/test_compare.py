"""``figlang compare`` as a user sees it: if it fails, tables, verdict and files of one call say different things."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
import varied_runs

from figlang_tasks.metrics.significance import holm
from figlang_tasks.results.verdict import p_text

MINI = ("--task", "figlang_mini", "--resamples", "200")


compare = partial(commands.figlang, "compare")


def rows(text: str) -> list[list[str]]:
    """The cells of all tables."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]


@pytest.fixture
def both() -> tuple[str, str]:
    return f"weak={varied_runs.weak()}", f"strong={varied_runs.strong()}"


def labelled(folder: Path, chosen: Iterable[int], right: Callable[[int], bool]) -> str:
    """A run of some rows of figlang_mini whose labels are right where `right` says so."""
    folder.mkdir()
    lines = next(varied_runs.weak().glob("*_samples_figlang_mini.jsonl")).read_text(encoding="utf-8").splitlines()
    with (folder / "x_samples_figlang_mini.jsonl").open("w", encoding="utf-8") as file:
        for number in chosen:
            line = json.loads(lines[number])
            line["sample"]["predicted"] = abs(line["sample"]["gold"] - (not right(number)))
            file.write(json.dumps(line) + "\n")
    return f"{folder.name}={folder}"


def test_by_default_the_main_metric_of_each_task_is_tested(both: tuple[str, str]) -> None:
    tasks = ("--task", "figlang_mini", "--task", "figlang_mini_irfl_retrieve_metaphor")
    content = json.loads(compare(*both, *tasks, "--resamples", 1000, "--json").stdout)
    assert [each["name"] for each in content["differences"]] == ["f1@60", "p@k"] and content["tests"] == 2
    shown = compare(*both, *tasks, "--resamples", 1000).stdout
    assert shown.splitlines()[-2:] == content["headlines"]
    for line, each in zip(content["headlines"], content["differences"], strict=True):
        assert f", p {p_text(each['p_holm'])} (adjusted for 2 tests)" in line
        assert f"| {p_text(each['p_holm']).removeprefix('= ')}" in shown
    assert rows(shown)[0] == ["", "n", "f1@0 ↑", "f1@53 ↑", "f1@60 ↑", "explanation_score ↑", "acc ↑"], (
        "all values are shown"
    )
    assert "Tested: the main metric of each task over all rows (--metric and --all test others)" in shown
    every = json.loads(compare(*both, *MINI, "--all", "--json").stdout)
    assert every["tests"] == len(every["differences"]) == 5 * 7
    assert [each["p_holm"] for each in every["differences"]] == holm(
        [each["p_randomization"] for each in every["differences"]]
    )


def test_tables_say_what_is_better_and_how_sure_that_is(both: tuple[str, str]) -> None:
    shown = compare(*both, *MINI, "--metric", "f1@60", "--metric", "acc_muse").stdout
    assert "## figlang_mini\n" in shown and "\n\nstrong against weak\n\n" in shown
    found = rows(shown)
    assert found[0] == ["", "n", "f1@60 ↑"] and [row[:2] for row in found[2:4]] == [["weak", "76"], ["strong", "76"]]
    assert found[3][2].startswith("**") and not found[2][2].startswith("**"), "the best is bold"
    assert found[6][:3] == ["f1@60 ↑", "all", "76"] and found[-1][:3] == ["acc ↑", "MuSE", "12"]
    assert len(found[6:]) == 1 + 6 + 1, "all rows, each source; the one that was named"
    weak, strong, difference = float(found[6][3]), float(found[6][4]), float(found[6][5].split()[0])
    assert strong - weak == pytest.approx(difference, abs=0.11) and difference > 0
    *_, footer, sentence = shown.rstrip().split("\n\n")
    assert footer.endswith("Tested: p Holm is adjusted for all tests (8); * below 0.05.")
    adjusted = found[6][8].rstrip("*")
    assert sentence == (
        f"strong is better than weak on figlang_mini: f1@60 {found[6][5]}, p = {adjusted} (adjusted for 8 tests)"
    )


def test_parts_that_overlap_are_said_to(both: tuple[str, str]) -> None:
    """FLUTE's paraphrases of sarcasm count in two parts, a row of figlang_mini in one."""
    told = "Parts overlap: a row counts in each that it belongs to."
    flute = compare(*both, "--task", "figlang_mini_flute", "--metric", "acc", "--resamples", 100).stdout
    assert told in flute and told not in compare(*both, *MINI, "--metric", "acc", "--resamples", 100).stdout


def test_latex_is_balanced_and_escaped(both: tuple[str, str], tmp_path: Path) -> None:
    shutil.copytree(varied_runs.weak(), tmp_path / "again")
    options = ["--metric", "f1@60", "--metric", "acc_muse", "--format", "latex", "--resamples", "1000"]
    nasty = "a_%&$#{}~^\\é"
    result = compare(*both, f"{nasty}={tmp_path / 'again'}", "--task", "figlang_mini", *options)
    code = [line for line in result.stdout.splitlines() if not line.startswith("%")]
    text = "\n".join(code)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == text.count("\\toprule") == 1 + 3
    bare = re.sub(r"\\[&%$#_{}\\]", "", text)  # without what is escaped
    assert bare.count("{") == bare.count("}") and not set("%#_~^") & set(bare)
    columns = {len(re.sub(r"\\&", "", row).split("&")) for row in code if row.endswith(r" \\")}
    assert columns == {3, 9}  # the runs; pairs of them
    assert r"a\_\%\&\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}é & 76 & 25.0 " in text
    assert re.search(r"strong & 76 & \\textbf\{65\.4\} \[.*\nf1@60 \$\\uparrow\$ & MuSE & 12 & ", text, re.DOTALL)
    assert result.stdout.splitlines()[-1].startswith("% ranking on figlang_mini by f1@60: strong 65.4; weak 25.0; ")
    of_a_part = ("--task", "figlang_mini", "--metric", "acc_muse", "--resamples", "100")
    shown = compare(*both, f"again={tmp_path / 'again'}", *of_a_part).stdout
    assert rows(shown)[0] == ["", "n", "acc of MuSE ↑"]


def test_a_pattern_behind_a_name_stands_for_repeats(tmp_path: Path) -> None:
    for seed, period in enumerate((3, 4, 5)):
        labelled(tmp_path / f"a_seed{seed}", range(76), set(range(76)).difference(range(0, 76, period)).__contains__)
    other = labelled(tmp_path / "b", range(76), lambda row: row % 2 == 0)
    options = [f"a={tmp_path / 'a_seed*'}", other, "--metric", "acc", "--overall"]
    shown = compare(*options).stdout
    assert rows(shown)[2:4] == [["a (3 runs)", "76", "**73.2** ± 6.8"], ["b", "76", "50.0 [39.0, 61.0]"]]
    assert "Runs with repeats: mean ± sd; t over rows and seeds" in shown
    assert shown.splitlines()[-1].startswith("b is worse than a on figlang_mini: acc -23.2 [")
    content = json.loads(compare(*options, "--json").stdout)
    assert [run["name"] for run in content["runs"]] == ["a", "a", "a", "b"] and content["tests"] == 1


def as_vflute(folder: Path, path: Path) -> Path:
    """A samples file of figlang_mini as if it were of all rows of vflute, scored by its scorer."""
    text = next(folder.glob("*_samples_figlang_mini.jsonl")).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line]
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        for number in range(723):
            sample = lines[number % len(lines)]["sample"]
            scores = sample["explanation_scores"] | {"scorer": "vflute25"}
            changed = {"id": f"{sample['id']}-{number}", "explanation_scores": scores}
            file.write(json.dumps(lines[number % len(lines)] | {"sample": sample | changed}) + "\n")
    return path


def test_the_papers_rows_stand_beside_the_runs(tmp_path: Path) -> None:
    runs = [
        as_vflute(varied_runs.weak(), tmp_path / "weak" / "x_samples_vflute.jsonl"),
        as_vflute(varied_runs.strong(), tmp_path / "strong" / "x_samples_vflute.jsonl"),
    ]
    shown = compare(*runs, "--paper", "--resamples", 100).stdout
    figures = ["75.41", "60.97", "37.20"]  # Table 4
    assert [row[2:5] for row in rows(shown) if row[0] == "GPT-4o, zero-shot (published, Table 18)"] == [figures]
    assert "\n\npublished: V-FLUTE, arXiv 2405.01474" in shown
    lines = compare(*runs, "--paper", "--resamples", 100, "--format", "latex").stdout.splitlines()
    assert [line.split(" & ")[2:5] for line in lines if line.startswith("GPT-4o, zero")] == [figures]


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of the strong run with another results file."""
    shutil.copytree(varied_runs.strong(), folder)
    (results,) = folder.glob("*_results.json")
    content = json.loads(results.read_text(encoding="utf-8"))
    change(content)
    results.write_text(json.dumps(content), encoding="utf-8")
    return folder


def test_a_run_that_was_cut_short_is_said(both: tuple[str, str], tmp_path: Path) -> None:
    def cut(content: dict[str, Any]) -> None:
        content["config"]["limit"] = content["n-samples"]["figlang_mini"]["effective"] = 8

    runs = (both[0], f"cut={changed(tmp_path / 'cut', cut)}")
    assert "\ncut was cut short: limit 8 in figlang_mini\n" in compare(*runs, *MINI).stdout
    content = json.loads(compare(*runs, *MINI, "--json").stdout)
    assert [run["limited"] for run in content["runs"]] == [None, "limit 8 in figlang_mini"]


def test_values_that_the_samples_do_not_give_are_not_shown(both: tuple[str, str], tmp_path: Path) -> None:
    def edit(content: dict[str, Any]) -> None:
        content["configs"]["figlang_mini"]["metadata"]["measures"]["values"]["acc"]["all"]["value"] = 0.123

    other = f"strong={changed(tmp_path / 'other', edit)}"
    told = "strong, results of figlang_mini: acc 0.123000 (its samples: 0.763158): are these files of two runs?"
    shown = compare(both[0], other, *MINI).stdout
    assert shown.startswith(told) and [line for line in shown.splitlines() if "two runs?" not in line and line] == [
        line for line in compare(*both, *MINI).stdout.splitlines() if line
    ]


def test_a_metric_that_no_run_has(both: tuple[str, str]) -> None:
    told = commands.refused("compare", *both, *MINI, "--metric", "f2")
    assert told.startswith("figlang compare: no metric 'f2' in these runs; there are: ")
