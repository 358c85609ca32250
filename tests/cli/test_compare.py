"""``figlang compare`` as a user sees it: if it fails, tables, verdict and files of one call say
different things.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from statistics import mean, stdev

import commands
import pytest
import varied_runs
from commands import cells

from figlang_tasks.metrics.significance import holm
from figlang_tasks.report.verdict import p_text

MINI = ("--task", "figlang_mini", "--resamples", "200")


compare = partial(commands.figlang, "compare")


@pytest.fixture
def both() -> tuple[str, str]:
    return f"weak={varied_runs.weak()}", f"strong={varied_runs.strong()}"


def test_by_default_the_main_metric_of_each_task_is_tested(both: tuple[str, str]) -> None:
    tasks = ("--task", "figlang_mini", "--task", "figlang_mini_irfl_retrieve_metaphor")
    content = json.loads(compare(*both, *tasks, "--resamples", 1000, "--json").stdout)
    assert [each["name"] for each in content["differences"]] == ["f1@60", "p@k"] and content[
        "tests"
    ] == 2
    shown = compare(*both, *tasks, "--resamples", 1000).stdout
    assert shown.splitlines()[-2:] == content["headlines"]
    for line, each in zip(content["headlines"], content["differences"], strict=True):
        assert f", p {p_text(each['p_holm'])} (adjusted for 2 tests)" in line
        assert f"| {p_text(each['p_holm']).removeprefix('= ')}" in shown
    assert cells(shown)[0] == [
        "",
        "n",
        "f1@0 ↑",
        "f1@53 ↑",
        "f1@60 ↑",
        "explanation_score ↑",
        "acc ↑",
    ], "all values are shown"
    assert (
        "Tested: the main metric of each task over all rows (--metric and --all test others)"
        in shown
    )
    every = json.loads(compare(*both, *MINI, "--all", "--json").stdout)
    assert every["tests"] == len(every["differences"]) == 5 * 7
    assert [each["p_holm"] for each in every["differences"]] == holm(
        [each["p_randomization"] for each in every["differences"]]
    )


def test_tables_say_what_is_better_and_how_sure_that_is(both: tuple[str, str]) -> None:
    shown = compare(*both, *MINI, "--metric", "f1@60", "--metric", "acc_muse").stdout
    assert "## figlang_mini\n" in shown and "\n\nstrong against weak\n\n" in shown
    found = cells(shown)
    assert found[0] == ["", "n", "f1@60 ↑"] and [row[:2] for row in found[2:4]] == [
        ["weak", "76"],
        ["strong", "76"],
    ]
    assert found[3][2].startswith("**") and not found[2][2].startswith("**"), "the best is bold"
    assert "|---------|------" in shown and "| MuSE  " in shown, "words stand at the left"
    assert found[6][:3] == ["f1@60 ↑", "all", "76"] and found[-1][:3] == ["acc ↑", "MuSE", "12"]
    assert len(found[6:]) == 1 + 6 + 1, "all rows, each source; the one that was named"
    assert cells(compare(*both, *MINI, "--metric", "acc_muse").stdout)[0] == [
        "",
        "n",
        "acc of MuSE ↑",
    ]
    weak, strong, difference = float(found[6][3]), float(found[6][4]), float(found[6][5].split()[0])
    assert strong - weak == pytest.approx(difference, abs=0.11) and difference > 0
    *_, footer, sentence = shown.rstrip().split("\n\n")
    assert footer.endswith("Tested: p Holm is adjusted for all tests (8); * below 0.05.")
    adjusted = found[6][8].rstrip("*")
    assert (
        sentence
        == f"strong is better than weak on figlang_mini: f1@60 {found[6][5]}, p = {adjusted}"
        " (adjusted for 8 tests)"
    )


def test_parts_that_overlap_are_said_to(both: tuple[str, str]) -> None:
    """FLUTE's paraphrases of sarcasm count in two parts, a row of figlang_mini in one."""
    told = "Parts overlap: a row counts in each that it belongs to."
    flute = compare(
        *both, "--task", "figlang_mini_flute", "--metric", "acc", "--resamples", 100
    ).stdout
    assert (
        told in flute
        and told not in compare(*both, *MINI, "--metric", "acc", "--resamples", 100).stdout
    )


def test_latex_is_balanced_and_escaped(both: tuple[str, str], tmp_path: Path) -> None:
    shutil.copytree(varied_runs.weak(), tmp_path / "again")
    options = [
        "--metric",
        "f1@60",
        "--metric",
        "acc_muse",
        "--format",
        "latex",
        "--resamples",
        "1000",
    ]
    nasty = "a_%&$#{}~^\\é"
    result = compare(*both, f"{nasty}={tmp_path / 'again'}", "--task", "figlang_mini", *options)
    code = [line for line in result.stdout.splitlines() if not line.startswith("%")]
    text = "\n".join(code)
    assert (
        text.count("\\begin{tabular}")
        == text.count("\\end{tabular}")
        == text.count("\\toprule")
        == 1 + 3
    )
    bare = re.sub(r"\\[&%$#_{}\\]", "", text)  # without what is escaped
    assert bare.count("{") == bare.count("}") and not set("%#_~^") & set(bare)
    assert r"\caption{figlang\_mini. Shares in percent, with 95 \% intervals. Bold: best.}" in text
    assert "--all" not in text and "smallest: with these rows" in result.stdout
    assert (
        r"a\_\%\&\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}é & 76 & 25.0 " in text
    )
    assert re.search(
        r"strong & 76 & \\textbf\{65\.4\} \[.*\nf1@60 \$\\uparrow\$ & MuSE & 12 & ", text, re.DOTALL
    )


def test_a_pattern_behind_a_name_stands_for_repeats(tmp_path: Path) -> None:
    found = []
    for seed, folder in enumerate((varied_runs.weak(), varied_runs.strong())):
        (tmp_path / f"a_seed{seed}").symlink_to(folder)
        (results,) = folder.glob("*_results.json")
        found.append(
            100
            * json.loads(results.read_text(encoding="utf-8"))["results"]["figlang_mini"]["acc,none"]
        )
    runs = [
        f"a={tmp_path / 'a_seed*'}",
        f"b={shutil.copytree(varied_runs.strong(), tmp_path / 'b')}",
    ]
    options = [*MINI, "--metric", "acc", "--overall"]
    shown = compare(*runs, *options).stdout
    assert cells(shown)[2][:3] == ["a (2 runs)", "76", f"{mean(found):.1f} ± {stdev(found):.1f}"]
    assert "Runs with repeats: mean ± sd; t over rows and seeds" in shown
    content = json.loads(compare(*runs, *options, "--json").stdout)
    assert [run["name"] for run in content["runs"]] == ["a", "a", "b"]


def test_the_papers_rows_stand_beside_the_runs(tmp_path: Path) -> None:
    """On a task whose number of rows was not published."""
    for name, folder in (("weak", varied_runs.weak()), ("strong", varied_runs.strong())):
        (path,) = folder.glob("*_samples_figlang_mini_metaclue_retrieve_swap.jsonl")
        (tmp_path / name).mkdir()
        shutil.copy(path, tmp_path / name / "x_samples_metaclue_retrieve_swap.jsonl")
    asked = (tmp_path / "weak", tmp_path / "strong", "--paper", "--resamples", 100)
    shown = compare(*asked).stdout
    ranks = [row[3] for row in cells(shown)[2:4]]
    assert min(ranks, key=lambda cell: float(cell.replace("*", "").split()[0])).startswith("**")
    assert ["ALBEF, zero-shot (published, Table 2)", "", "46.67", ""] in cells(shown)
    other = compare(*asked, "--metric", "parse_rate").stdout
    assert "published: nothing for parse_rate of metaclue_retrieve_swap\n" in other
    assert "\n\npublished: MetaCLUE, arXiv 2212.09898: zero-shot, " in shown
    assert (
        "ALBEF, zero-shot (published, Table 2) &  & 46.67 &  \\\\\n"
        in compare(*asked, "--format", "latex").stdout
    )


def test_what_files_say_of_a_run_stands_above_and_values_that_the_samples_do_not_give_are_not_shown(
    both: tuple[str, str], tmp_path: Path
) -> None:
    shutil.copytree(varied_runs.strong(), tmp_path / "other")
    (results,) = (tmp_path / "other").glob("*_results.json")
    content = json.loads(results.read_text(encoding="utf-8"))
    content["config"]["limit"] = content["n-samples"]["figlang_mini"]["effective"] = 8
    content["configs"]["figlang_mini"]["metadata"]["measures"]["values"]["acc"]["all"]["value"] = (
        0.123
    )
    results.write_text(json.dumps(content), encoding="utf-8")
    runs = (both[0], f"strong={tmp_path / 'other'}")
    shown, unedited = (
        # With paths
        [
            part
            for part in compare(*each, *MINI).stdout.split("\n\n")
            if "figlang judge read" not in part
        ]
        for each in (runs, both)
    )
    assert [each for each in shown if each not in unedited] == [
        (
            "strong, results of figlang_mini: acc 0.123000 (its samples: 0.763158): are these files"
            " of two runs, or was one changed? The samples are used"
        ),
        "strong was cut short: limit 8 in figlang_mini",
    ]
    assert [each for each in shown if each in unedited] == unedited
    as_json = json.loads(compare(*runs, *MINI, "--json").stdout)
    assert [run["limited"] for run in as_json["runs"]] == [None, "limit 8 in figlang_mini"]
