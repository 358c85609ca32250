"""``figlang compare``: the tables, the verdict and the JSON of one call agree."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import commands
import demo_runs
import pytest
from commands import cells

from figlang_tasks.metrics.significance import holm
from figlang_tasks.report.difference import p_text

MINI = ("--task", "figlang_mini", "--resamples", "200")

compare = partial(commands.figlang, "compare")


@pytest.fixture(scope="module")
def both() -> tuple[str, str]:
    """Two named runs, of which the second is better."""
    return f"weak={demo_runs.weak_run()}", f"strong={demo_runs.strong_run()}"


@pytest.fixture(scope="module")
def f1_and_muse(both: tuple[str, str]) -> str:
    """The output of a comparison by F1@60 in all scopes and by the accuracy of MuSE alone."""
    output: str = compare(*both, *MINI, "--metric", "f1@60", "--metric", "acc_muse").stdout
    return output


def only_file(folder: Path, pattern: str) -> Path:
    (path,) = folder.glob(pattern)
    return path


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_by_default_the_main_metric_of_each_task_is_tested(both: tuple[str, str]) -> None:
    tasks = ("--task", "figlang_mini", "--task", "figlang_mini_irfl_retrieve_metaphor")
    content = json.loads(compare(*both, *tasks, "--resamples", 1000, "--json").stdout)
    assert [difference["name"] for difference in content["differences"]] == ["f1@60", "p@k"]
    assert content["tests"] == 2

    output = compare(*both, *tasks, "--resamples", 1000).stdout
    assert output.splitlines()[-2:] == content["headlines"]
    for sentence, difference in zip(content["headlines"], content["differences"], strict=True):
        p = p_text(difference["p_holm"])
        assert f", p {p} (adjusted for 2 tests)" in sentence
        assert f"| {p.removeprefix('= ')}" in output
    all_metrics = ["f1@0 ↑", "f1@53 ↑", "f1@60 ↑", "explanation_score ↑", "acc ↑"]
    assert cells(output)[0] == ["", "n", *all_metrics]
    tested = "the main metric of each task over all rows (--metric and --all test others)."
    assert f"Tested: {tested}" in output


def test_all_metrics_with_all_parts_can_be_tested(both: tuple[str, str]) -> None:
    content = json.loads(compare(*both, *MINI, "--all", "--json").stdout)
    differences = content["differences"]
    assert content["tests"] == len(differences) == 5 * 7
    p_values = [difference["p_randomization"] for difference in differences]
    assert [difference["p_holm"] for difference in differences] == holm(p_values)


def test_tables_have_headings_and_the_printed_names_of_scopes(f1_and_muse: str) -> None:
    assert "## figlang_mini\n" in f1_and_muse
    assert "\n\nstrong against weak\n\n" in f1_and_muse
    assert "|---------|------" in f1_and_muse, "words stand at the left"
    assert "| MuSE  " in f1_and_muse


def test_the_better_value_is_bold(f1_and_muse: str) -> None:
    rows = cells(f1_and_muse)
    assert rows[0] == ["", "n", "f1@60 ↑"]
    weak_row, strong_row = rows[2:4]
    assert weak_row[:2] == ["weak", "76"]
    assert strong_row[:2] == ["strong", "76"]
    assert strong_row[2].startswith("**"), "the best is bold"
    assert not weak_row[2].startswith("**")


def test_a_difference_is_that_of_the_values_beside_it(f1_and_muse: str) -> None:
    differences = cells(f1_and_muse)[6:]
    assert len(differences) == 1 + 6 + 1, "all rows, each scope; the scope that was named"
    overall = differences[0]
    assert overall[:3] == ["f1@60 ↑", "all", "76"]
    assert differences[-1][:3] == ["acc ↑", "MuSE", "12"]
    weak_value = float(overall[3])
    strong_value = float(overall[4])
    difference = float(overall[5].split()[0])
    assert strong_value - weak_value == pytest.approx(difference, abs=0.11)
    assert difference > 0


def test_the_verdict_repeats_the_difference_and_p_of_all_rows(f1_and_muse: str) -> None:
    overall = cells(f1_and_muse)[6]
    *_, explanation, verdict = f1_and_muse.rstrip().split("\n\n")
    assert explanation.endswith("p Holm: adjusted for all tests (8); * below 0.05.")
    p = overall[8].rstrip("*")
    assert verdict == (
        f"strong is better than weak on figlang_mini: f1@60 {overall[5]}, p = {p}"
        " (adjusted for 8 tests)"
    )


def test_a_metric_of_one_part_has_the_name_of_the_part(both: tuple[str, str]) -> None:
    output = compare(*both, *MINI, "--metric", "acc_muse").stdout
    assert cells(output)[0] == ["", "n", "acc of MuSE ↑"]


def test_parts_that_overlap_are_said_to(both: tuple[str, str]) -> None:
    """FLUTE's paraphrases of sarcasm count in two parts, a row of figlang_mini in one."""
    sentence = "Parts overlap: a row counts in each that it belongs to."
    options = ("--metric", "acc", "--resamples", 100)
    assert sentence in compare(*both, "--task", "figlang_mini_flute", *options).stdout
    assert sentence not in compare(*both, "--task", "figlang_mini", *options).stdout


def test_latex_is_balanced_and_escaped(both: tuple[str, str], tmp_path: Path) -> None:
    shutil.copytree(demo_runs.weak_run(), tmp_path / "again")
    special_name = "a_%&$#{}~^\\é"
    metrics = ("--metric", "f1@60", "--metric", "acc_muse")
    options = ("--task", "figlang_mini", "--format", "latex", "--resamples", "1000")
    output = compare(*both, f"{special_name}={tmp_path / 'again'}", *metrics, *options).stdout
    assert "smallest: the true difference that these rows detect with 80 % power" in output

    lines = output.splitlines()
    code = "\n".join(line for line in lines if not line.startswith("%"))
    for command in ("\\begin{tabular}", "\\end{tabular}", "\\toprule"):
        assert code.count(command) == 1 + 3
    without_escapes = re.sub(r"\\[&%$#_{}\\]", "", code)
    assert without_escapes.count("{") == without_escapes.count("}")
    assert not set("%#_~^") & set(without_escapes)
    assert (
        r"\caption{figlang\_mini. Shares in percent, with 95 \% intervals. Bold: best, with" in code
    )
    labels = re.findall(r"\\label\{(.*)\}", code)
    assert len(set(labels)) == 1 + 3 and "tab:figlang-mini-strong-against-weak" in labels
    assert "--all" not in code
    escaped_name = r"a\_\%\&\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}é"
    assert f"{escaped_name} & 76 & 25.0 " in code
    rows = r"strong & 76 & \\textbf\{65\.4\} \[.*\nf1@60 \$\\uparrow\$ & MuSE & 12 & "
    assert re.search(rows, code, re.DOTALL)


def test_a_pattern_behind_a_name_stands_for_repeats(tmp_path: Path) -> None:
    accuracies = []
    for seed, folder in enumerate((demo_runs.weak_run(), demo_runs.strong_run())):
        (tmp_path / f"a_seed{seed}").symlink_to(folder)
        results = read_json(only_file(folder, "*_results.json"))["results"]
        accuracies.append(100 * results["figlang_mini"]["acc,none"])
    repeats = f"a={tmp_path / 'a_seed*'}"
    single = f"b={shutil.copytree(demo_runs.strong_run(), tmp_path / 'b')}"
    options = (*MINI, "--metric", "acc", "--overall")
    output = compare(repeats, single, *options).stdout
    mean_and_deviation = f"{mean(accuracies):.1f} ± {stdev(accuracies):.1f}"
    name, n, value = cells(output)[2][:3]
    assert (name, n, value.replace("*", "")) == ("a (2 runs)", "76", mean_and_deviation)
    assert "Runs with repeats: mean ± sd; t test over rows and seeds" in output
    content = json.loads(compare(repeats, single, *options, "--json").stdout)
    assert [run["name"] for run in content["runs"]] == ["a", "a", "b"]


def test_the_papers_rows_stand_beside_the_runs(tmp_path: Path) -> None:
    """The number of rows of this task was not published."""
    folders = []
    for run in (demo_runs.weak_run(), demo_runs.strong_run()):
        samples = only_file(run, "*_samples_figlang_mini_metaclue_retrieve_swap.jsonl")
        folder = tmp_path / run.name
        folder.mkdir()
        shutil.copy(samples, folder / "x_samples_metaclue_retrieve_swap.jsonl")
        folders.append(folder)
    arguments = (*folders, "--paper", "--resamples", 100)

    output = compare(*arguments).stdout
    ranks = [row[3] for row in cells(output)[2:4]]

    def rank(cell: str) -> float:
        """The rank in a cell such as ``**1.50** [1.2, 1.8]``."""
        return float(cell.replace("*", "").split()[0])

    assert min(ranks, key=rank).startswith("**")
    assert ["ALBEF, zero-shot (published, Table 2)", "", "46.67", ""] in cells(output)
    assert "\n\npublished: MetaCLUE, arXiv 2212.09898: zero-shot, " in output
    unpublished = compare(*arguments, "--metric", "parse_rate").stdout
    assert "published: nothing for parse_rate of metaclue_retrieve_swap\n" in unpublished
    latex = compare(*arguments, "--format", "latex").stdout
    assert "ALBEF, zero-shot (published, Table 2) &  & 46.67 &  \\\\\n" in latex


def test_figures_that_were_published_for_scopes_alone_are_named_with_their_options(
    tmp_path: Path,
) -> None:
    """COLUMBUS has figures of 638 puzzles with text and of 370 with icons, in its first release."""
    folders = []
    for name, answer in (("a", "A"), ("b", "B")):
        lines = []
        for row in range(1008):
            record = {
                "task": "columbus",
                "request": "COLUMBUS,order=benchmark",
                "id": str(row),
                "data": "COLUMBUS/v1@local:0123456789ab",
                "unit": str(row),
                "kind": "text" if row < 638 else "icon",
                "overlap": False,
                "gold": "A",
                "predicted": answer,
                "predicted_official": answer,
                "status": "read",
                "rule": "alone",
                "scores": None,
            }
            lines.append(json.dumps({"doc_id": row, "sample": record}))
        (tmp_path / name).mkdir()
        (tmp_path / name / "x_samples_columbus.jsonl").write_text("\n".join(lines))
        folders.append(tmp_path / name)
    options = "--metric acc_official_text --metric acc_official_icon"
    output = compare(*folders, "--paper", "--resamples", 100).stdout
    assert f"columbus, but there are figures for {options}\n" in output
    output = compare(*folders, "--paper", "--resamples", 100, *options.split()).stdout
    assert ["GPT-4o (published, Table 2)", "", "81.4", "84.9"] in cells(output)


def test_warnings_stand_above_and_values_that_the_samples_contradict_are_not_shown(
    both: tuple[str, str], tmp_path: Path
) -> None:
    shutil.copytree(demo_runs.strong_run(), tmp_path / "other")
    results_file = only_file(tmp_path / "other", "*_results.json")
    content = read_json(results_file)
    content["config"]["limit"] = 8
    content["n-samples"]["figlang_mini"]["effective"] = 8
    measures = content["configs"]["figlang_mini"]["metadata"]["measures"]
    measures["values"]["acc"]["all"]["value"] = 0.123
    results_file.write_text(json.dumps(content), encoding="utf-8")
    edited = (both[0], f"strong={tmp_path / 'other'}")

    edited_paragraphs = paragraphs_without_paths(edited)
    unedited_paragraphs = paragraphs_without_paths(both)
    new_paragraphs = []
    old_paragraphs = []
    for paragraph in edited_paragraphs:
        if paragraph in unedited_paragraphs:
            old_paragraphs.append(paragraph)
        else:
            new_paragraphs.append(paragraph)
    assert new_paragraphs == [
        (
            "strong, results of figlang_mini: acc 0.123000 (its samples: 0.763158): are these files"
            " of two runs, or was one changed? The samples are used"
        ),
        "strong was cut short: limit 8 in figlang_mini",
    ]
    assert old_paragraphs == unedited_paragraphs
    content = json.loads(compare(*edited, *MINI, "--json").stdout)
    assert [run["partial"] for run in content["runs"]] == [None, "limit 8 in figlang_mini"]


def paragraphs_without_paths(runs: tuple[str, str]) -> list[str]:
    """The paragraphs of a comparison, without those that name the folder of a run."""
    paragraphs = compare(*runs, *MINI).stdout.split("\n\n")
    return [paragraph for paragraph in paragraphs if "figlang judge read" not in paragraph]
