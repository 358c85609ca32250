"""``figlang compare`` as a user sees it."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import varied_runs
from typer.testing import CliRunner, Result

from figlang_tasks.cli.figlang import app
from figlang_tasks.metrics.significance import holm
from figlang_tasks.results.verdict import p_text

MINI = ("--task", "figlang_mini", "--resamples", "200")
SOURCES = {
    "vismet": 14,
    "irfl_metaphor_simile": 14,
    "irfl_idiom": 12,
    "muse": 12,
    "memecap": 16,
    "nycartoons": 8,
}  # rows of figlang_mini


def compare(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, arguments)])


@pytest.fixture
def both() -> tuple[str, str]:
    return f"weak={varied_runs.weak()}", f"strong={varied_runs.strong()}"


def test_tables_say_what_is_better_and_how_sure_that_is(both: tuple[str, str]) -> None:
    result = compare(*both, *MINI, "--metric", "f1@60", "--metric", "acc_muse")
    assert result.exit_code == 0, result.output
    assert "## figlang_mini\n" in result.stdout and "\n\nstrong against weak\n\n" in result.stdout
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]] for line in result.stdout.splitlines() if line.startswith("|")
    ]
    assert rows[0] == ["", "n", "f1@60 ↑"] and [row[:2] for row in rows[2:4]] == [["weak", "76"], ["strong", "76"]]
    assert [row[:3] for row in rows[6:]] == [
        ["f1@60 ↑", "all", "76"],
        *(["f1@60 ↑", source, str(SOURCES[source])] for source in SOURCES),
        ["acc ↑", "muse", str(SOURCES["muse"])],
    ]
    weak, strong, difference = float(rows[6][3]), float(rows[6][4]), float(rows[6][5].split()[0])
    assert strong - weak == pytest.approx(difference, abs=0.11) and difference > 0
    *_, footer, sentence = result.stdout.rstrip().split("\n\n")
    assert footer.endswith("adjusted for the 8 tests shown; * below 0.05.")
    adjusted = float(rows[6][8].rstrip("*"))
    assert sentence == (
        f"strong is better than weak on figlang_mini: f1@60 {rows[6][5]}, p {p_text(adjusted)} (adjusted for 8 tests)"
    )


@pytest.mark.parametrize(
    ("first", "second", "metrics", "sentence"),
    [
        (
            "weak",
            "strong",
            "acc",
            r"strong is better than weak on figlang_mini: acc \+21\.1 \[\d+\.\d, \d+\.\d\], p = \.0\d+$",
        ),
        (
            "strong",
            "weak",
            "acc",
            r"weak is worse than strong on figlang_mini: acc -21\.1 \[-\d+\.\d, -\d+\.\d\], p = \.0\d+$",
        ),
        ("strong", "weak", "acc_muse", r"cannot tell weak from strong on figlang_mini with 12 rows: acc_muse 0\.0 \["),
        ("weak", "strong", "f1@0 f1@60 acc", r"strong is better than weak on figlang_mini: f1@60 "),  # the main one
        ("weak", "strong", "parse_rate", r"no test of strong against weak on figlang_mini: parse_rate [-+]?\d+\.\d$"),
    ],
)
def test_the_last_line_says_which_run_is_better(first: str, second: str, metrics: str, sentence: str) -> None:
    folders = {"weak": varied_runs.weak(), "strong": varied_runs.strong()}
    options = [f"--metric={name}" for name in metrics.split()]
    overall = ["--overall"] * ("_" not in metrics)
    result = compare(*(f"{name}={folders[name]}" for name in (first, second)), *MINI, *options, *overall)
    assert re.match(sentence, result.stdout.splitlines()[-1]), result.stdout[-300:]


def test_table_and_verdict_have_one_p_for_each_pair_and_task(both: tuple[str, str]) -> None:
    tasks = ("--task", "figlang_mini", "--task", "figlang_mini_irfl_retrieve_metaphor")
    result = compare(*both, *tasks, "--resamples", 1000)
    told = result.stdout.splitlines()[-2:]
    content = json.loads(compare(*both, *tasks, "--resamples", 1000, "--json").stdout)
    assert content["headlines"] == told
    for line, metric in zip(told, ("f1@60", "p@k"), strict=True):
        (each,) = [each for each in content["differences"] if each["name"] == metric]
        assert f", p {p_text(each['p_holm'])} (adjusted for {content['tests']} tests)" in line


def test_no_p_value_reads_as_0(tmp_path: Path) -> None:
    named = [
        labelled(tmp_path / "a", range(40), lambda row: False),
        labelled(tmp_path / "b", range(40), lambda row: True),
    ]
    shown = compare(*named, "--metric", "acc", "--overall", "--all-tests", "--resamples", 25_000).stdout
    assert shown.splitlines()[-1].endswith(", p < .0001")
    assert "| <0.0001 | <0.0001* | " in shown and "0.0000" not in shown


def test_csv_holds_plain_numbers(both: tuple[str, str]) -> None:
    result = compare(*both, *MINI, "--metric", "f1@60", "--metric", "parse_rate", "--format", "csv")
    found = json.loads(compare(*both, *MINI, "--metric", "f1@60", "--metric", "parse_rate", "--json").stdout)
    read = list(csv.DictReader(io.StringIO(result.stdout)))
    assert len(read) == len(found["differences"]) == 14
    for row, each in zip(read, found["differences"], strict=True):
        assert list(row) == list(each)
        assert list(row.values()) == ["" if value is None else str(value) for value in each.values()]
    first, *_, sentence = result.stderr.splitlines()
    assert first.startswith("weak, figlang_mini: 5 of 76 answers are empty")
    assert sentence.startswith("strong is better than weak on figlang_mini: f1@60 ")


def test_a_name_is_no_formula_in_csv() -> None:
    result = compare(f"@SUM(A1)={varied_runs.weak()}", f"strong={varied_runs.strong()}", *MINI, "--format", "csv")
    assert {row["first"] for row in csv.DictReader(io.StringIO(result.stdout))} == {"'@SUM(A1)"}


NASTY = "*[a_%&$#{}~^\\<|é"


def test_latex_is_balanced_and_escaped(both: tuple[str, str], tmp_path: Path) -> None:
    shutil.copytree(varied_runs.weak(), tmp_path / "again")
    options = ["--metric", "f1@60", "--metric", "acc_muse", "--format", "latex", "--resamples", "1000"]
    result = compare(*both, f"{NASTY}={tmp_path / 'again'}", "--task", "figlang_mini", *options)
    assert result.exit_code == 0, result.output
    code = [line for line in result.stdout.splitlines() if not line.startswith("%")]
    text = "\n".join(code)
    assert text.count("\\begin{tabular}") == text.count("\\end{tabular}") == text.count("\\toprule") == 3
    bare = re.sub(r"\\[&%$#_{}\\]", "", text)  # without what is escaped
    assert bare.count("{") == bare.count("}") and bare.count("$") == 2 + 3 * 4 and not set("%#_~^") & set(bare)
    rows = [line for line in code if line.endswith(r" \\")]
    columns = {len(re.sub(r"\\&", "", row).split("&")) for row in rows}
    assert columns == {2, 7}  # f1@60 of all and of six sources, acc of one
    assert r"c: {*}[a\_\%\&\$\#\{\}\textasciitilde{}\textasciicircum{}\textbackslash{}$<$$|$é & 25.0 " in text
    assert r"b: strong & \textbf{65.4}\textsuperscript{a,c} {\footnotesize [" in text
    assert r"by source (rows of each)" in text and "(n 12)" not in text
    assert result.stdout.splitlines()[-3].startswith("% strong is better than weak on figlang_mini: f1@60 ")


def test_in_latex_ties_are_bold_and_a_row_of_a_paper_stands_below(tmp_path: Path) -> None:
    runs = [tmp_path / name / "x_samples_vflute.jsonl" for name in "ab"]
    for path in runs:
        path.parent.mkdir()
        as_vflute(varied_runs.weak(), path, 723, "vflute25")
    named = [f"{path.parent.name}={path}" for path in runs]
    result = compare(*named, "--overall", "--paper", "--format", "latex", "--resamples", 100)
    lines = result.stdout.splitlines()
    assert all(next(line for line in lines if line.startswith(f"{name}: ")).count(r"\textbf") == 5 for name in "ab")
    (gpt,) = [line for line in lines if line.startswith("GPT-4o, zero-shot")]
    assert gpt.split(" & ")[1:4] == ["75.41", "60.97", "37.20"] and r"\textbf" not in gpt  # Table 18
    assert lines[lines.index(r"\bottomrule") - 1].endswith(r"\\")
    assert any(line.startswith("% published: ") and "2405.01474" in line for line in lines)


@pytest.mark.parametrize("options", [("--json", "--format", "md"), ("--paper", "--format", "csv")])
def test_formats_that_exclude_each_other(both: tuple[str, str], options: tuple[str, ...]) -> None:
    assert compare(*both, *options).exit_code == 2


def test_the_papers_own_test_is_shown_where_it_is_asked_for(both: tuple[str, str]) -> None:
    def head(*options: str) -> list[str]:
        lines = compare(*both, *MINI, "--metric", "f1@60", "--overall", *options).stdout.splitlines()
        row = next(line for line in lines if line.startswith("| metric"))
        return [cell.strip() for cell in row.split("|")[6:-1]]

    assert head() == ["difference", "smallest", "p", "p Holm"]
    assert head("--all-tests") == ["difference", "smallest", "p", "p Holm", "p bootstrap"]


def labelled(folder: Path, rows: Iterable[int], right: Callable[[int], bool]) -> str:
    """A run of some rows of figlang_mini whose labels are right where `right` says so."""
    folder.mkdir()
    lines = next(varied_runs.weak().glob("*_samples_figlang_mini.jsonl")).read_text(encoding="utf-8").splitlines()
    with (folder / "x_samples_figlang_mini.jsonl").open("w", encoding="utf-8") as file:
        for number in rows:
            line = json.loads(lines[number])
            line["sample"]["predicted"] = abs(line["sample"]["gold"] - (not right(number)))
            file.write(json.dumps(line) + "\n")
    return f"{folder.name}={folder}"


def test_where_no_difference_was_found_the_last_line_says_what_the_rows_can_show(tmp_path: Path) -> None:
    runs = [labelled(tmp_path / "even", range(76), lambda row: row % 2 == 0)]
    runs += [labelled(tmp_path / "odd", range(76), lambda row: row % 2 == 1)]
    shown = compare(*runs, "--metric", "acc", "--overall").stdout.splitlines()
    smallest = next(line for line in shown if line.startswith("| acc")).split("|")[7].strip()
    assert re.fullmatch(
        r"cannot tell odd from even on figlang_mini with 76 rows: acc 0\.0 \[.*\], p = 1\.000; differences below "
        rf"{smallest} points do not show",
        shown[-1],
    )


def test_a_pattern_behind_a_name_stands_for_repeats(tmp_path: Path) -> None:
    for seed, period in enumerate((3, 4, 5)):
        labelled(tmp_path / f"a_seed{seed}", range(76), set(range(76)).difference(range(0, 76, period)).__contains__)
    other = labelled(tmp_path / "b", range(76), lambda row: row % 2 == 0)
    options = [f"a={tmp_path / 'a_seed*'}", other, "--metric", "acc", "--overall"]
    shown = compare(*options).stdout
    assert (
        "| a (3 runs) | 76 |        73.2 ± 6.8 |" in shown
        and "Runs with repeats: mean ± sd; t over rows and seeds" in shown
    )
    assert shown.splitlines()[-1].startswith("b is worse than a on figlang_mini: acc -23.2 [")
    content = json.loads(compare(*options, "--json").stdout)
    assert [run["name"] for run in content["runs"]] == ["a", "a", "a", "b"] and content["tests"] == 1
    assert (
        r"a: a & \textbf{73.2}\textsuperscript{b} {\footnotesize ± 6.8}"
        in compare(*options, "--format", "latex").stdout
    )
    missing = compare(f"a={tmp_path / 'c_seed*'}", other)
    assert missing.exit_code == 1 and "c_seed* does not exist" in missing.stderr


def test_two_rows_are_no_evidence(tmp_path: Path) -> None:
    """Both better: the one-sided bootstrap has p = .0001."""
    named = [
        labelled(tmp_path / "weak", range(2), lambda number: False),
        labelled(tmp_path / "strong", range(2), lambda number: True),
    ]
    (found,) = json.loads(compare(*named, "--metric", "acc", "--overall", "--json").stdout)["differences"]
    assert found["difference"] == 1 and found["p_bootstrap"] < 0.001
    assert 0.45 < found["p_randomization"] <= 1
    shown = compare(*named, "--metric", "acc", "--overall", "--all-tests").stdout
    assert "*" not in shown.partition("strong against weak")[2].partition("Shares")[0]


def test_json_holds_all_numbers(both: tuple[str, str]) -> None:
    result = compare(*both, *MINI, "--json")
    assert result.exit_code == 0, result.output
    content: dict[str, Any] = json.loads(result.stdout)
    assert [run["name"] for run in content["runs"]] == ["weak", "strong"]
    found = content["differences"]
    assert content["tests"] == len(found) == 5 * 7
    assert [each["p_holm"] for each in found] == holm([each["p_randomization"] for each in found])
    assert all(0 < each["p_bootstrap"] <= 1 for each in found)
    assert json.loads(compare(*both, *MINI, "--json").stdout) == content


def as_vflute(folder: Path, path: Path, rows: int, scorer: str) -> Path:
    """A samples file of figlang_mini as if it were of `rows` rows of vflute, scored by `scorer`."""
    text = next(folder.glob("*_samples_figlang_mini.jsonl")).read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.split("\n") if line]
    with path.open("w", encoding="utf-8") as file:
        for number in range(rows):
            sample = lines[number % len(lines)]["sample"]
            scores = sample["explanation_scores"] | {"scorer": scorer}
            changed = {"id": f"{sample['id']}-{number}", "explanation_scores": scores}
            file.write(json.dumps(lines[number % len(lines)] | {"sample": sample | changed}) + "\n")
    return path


@pytest.mark.slow
def test_the_papers_rows_stand_beside_the_runs(both: tuple[str, str], tmp_path: Path) -> None:
    def named(rows: int, scorer: str) -> list[str]:
        folders = {"weak": varied_runs.weak(), "strong": varied_runs.strong()}
        return [
            f"{name}={as_vflute(of, tmp_path / f'{name}_samples_vflute.jsonl', rows, scorer)}"
            for name, of in folders.items()
        ]

    runs = named(723, "vflute25")
    result = compare(*runs, "--paper", "--overall", "--resamples", 200)
    assert result.exit_code == 0, result.output
    line = next(line for line in result.stdout.splitlines() if line.startswith("| GPT-4o"))
    assert [cell.strip() for cell in line.split("|")[2:6]] == ["", "75.41", "60.97", "37.20"]  # Table 4
    assert "| GPT-4o, zero-shot (published, Table 18) " in result.stdout
    assert "published: V-FLUTE, arXiv 2405.01474" in result.stdout and "left out" not in result.stdout
    content = json.loads(compare(*runs, "--paper", "--overall", "--json", "--resamples", 200).stdout)
    (gpt,) = (row for row in content["published"]["vflute"] if row["model"] == "GPT-4o")
    assert (gpt["values"]["f1@0"], gpt["setting"].split(";")[0]) == (0.7541, "zero-shot")
    assert content["published_left_out"] == {}
    without = compare(*both, *MINI, "--paper", "--overall")
    assert "published: we know of no published figures for this task and these metrics" in without.stdout

    # Scored by another scorer the figures of the labels alone stand there; of other rows none.
    result = compare(*named(723, "embedded"), "--paper", "--overall", "--resamples", 200)
    line = next(line for line in result.stdout.splitlines() if line.startswith("| GPT-4o"))
    assert [cell.strip() for cell in line.split("|")[2:6]] == ["", "75.41", "", ""]
    told = "published f1@53, f1@60 are left out: explanations scored by vflute25, in a run by embedded"
    assert f"\n\n{told}\n\n" in result.stdout
    runs = named(152, "vflute25")
    result = compare(*runs, "--paper", "--overall", "--resamples", 200)
    told = "published figures are left out: they are of 723 rows, a run has 152"
    assert f"\n\n{told}\n\n" in result.stdout and "GPT-4o" not in result.stdout
    content = json.loads(compare(*runs, "--paper", "--overall", "--json", "--resamples", 200).stdout)
    assert (content["published"], content["published_left_out"]) == ({"vflute": []}, {"vflute": told})


def test_a_name_cannot_break_the_table_nor_steer_the_terminal() -> None:
    result = compare(f"a|b\n\x1b[31m={varied_runs.weak()}", f"strong={varied_runs.strong()}", *MINI, "--metric", "acc")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout and "\nstrong against a|b [31m\n" in result.stdout
    assert "| a\\|b [31m |" in result.stdout


def test_a_run_that_was_cut_short_is_said(both: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    shutil.copytree(varied_runs.strong(), folder)
    (results,) = folder.glob("*_results.json")
    content = json.loads(results.read_text(encoding="utf-8"))
    content["config"]["limit"] = content["n-samples"]["figlang_mini"]["effective"] = 8
    results.write_text(json.dumps(content), encoding="utf-8")
    result = compare(both[0], f"cut={folder}", *MINI, "--metric", "acc", "--overall")
    assert "\ncut was cut short: limit 8 in figlang_mini\n" in result.stdout, result.output
    assert "figlang_mini_flute" not in result.stdout, "no task that is not compared"
    assert "weak was cut short" not in result.stdout
    shown = json.loads(compare(both[0], f"cut={folder}", *MINI, "--metric", "acc", "--json").stdout)
    assert [run["limited"] for run in shown["runs"]] == [None, "limit 8 in figlang_mini"]


def test_an_interval_stands_beside_its_own_value_alone(both: tuple[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "other"
    shutil.copytree(varied_runs.strong(), folder)
    (results,) = folder.glob("*_results.json")
    content = json.loads(results.read_text(encoding="utf-8"))
    content["configs"]["figlang_mini"]["metadata"]["measures"]["values"]["acc"]["all"]["value"] = 0.123
    results.write_text(json.dumps(content), encoding="utf-8")
    result = compare(both[0], f"other={folder}", *MINI, "--metric", "acc", "--overall")
    line = next(line for line in result.stdout.splitlines() if line.startswith("| other "))
    assert "[" not in line and "[" in next(line for line in result.stdout.splitlines() if line.startswith("| weak "))


def test_a_full_disk_is_no_traceback(both: tuple[str, str]) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "figlang_tasks.cli.figlang", "tasks"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, ended.stderr) == (1, "figlang: the output cannot be written: No space left on device\n")


@pytest.mark.parametrize("verb", ["", "tasks", "doctor", "data", "data check", "data prefetch", "score", "compare"])
def test_help_has_examples_and_exit_status(verb: str) -> None:
    text = " ".join(CliRunner().invoke(app, [*verb.split(), "--help"]).stdout.split())
    assert f"figlang {verb}".rstrip() in text.partition("Usage:")[2].partition("Options:")[0].partition("]")[2], text
    assert "exit status" in text.lower()


def test_three_runs_make_three_pairs(both: tuple[str, str], tmp_path: Path) -> None:
    shutil.copytree(varied_runs.weak(), tmp_path / "again")
    result = compare(*both, f"again={tmp_path / 'again'}", *MINI, "--metric", "acc", "--overall")
    assert result.exit_code == 0, result.output
    pairs = [line for line in result.stdout.splitlines() if " against " in line]
    assert pairs == ["strong against weak", "again against weak", "again against strong"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("nowhere", "nowhere2"), 1, "figlang compare: nowhere does not exist"),
        ((), 2, "Missing argument"),
        (("{weak}",), 1, "figlang compare: only one run: give at least two"),
        (("{weak}", "{strong}", "--metric", "f2", *MINI), 1, "no metric 'f2' in these runs; there are: "),
        (("{weak}", "{strong}", "--resamples", "10"), 2, "Invalid value"),
    ],
)
def test_mistakes(arguments: tuple[str, ...], status: int, message: str) -> None:
    result = compare(*(each.format(weak=varied_runs.weak(), strong=varied_runs.strong()) for each in arguments))
    assert (result.exit_code, message in result.stderr) == (status, True), result.stderr
    assert not result.stdout


def test_unequal_rows_are_listed(both: tuple[str, str], tmp_path: Path) -> None:
    cut = tmp_path / "x_samples_figlang_mini.jsonl"
    lines = next(varied_runs.strong().glob("*_samples_figlang_mini.jsonl")).read_bytes().splitlines(keepends=True)
    cut.write_bytes(b"".join(lines[1:]))
    result = compare(both[0], f"cut={cut}", *MINI)
    assert result.exit_code == 1
    assert f"only in weak: 1 ({json.loads(lines[0])['sample']['id']})" in result.stderr
    assert "--json" not in result.stderr

    cut.write_bytes(b"".join(lines[17:]))
    result = compare(both[0], f"cut={cut}", *MINI)
    ids = sorted(json.loads(line)["sample"]["id"] for line in lines[:17])
    assert f"only in weak: 17 ({', '.join(ids[:5])}, and 12 more)" in result.stderr
    assert result.stderr.endswith("(--json lists all ids)\n")
    result = compare(both[0], f"cut={cut}", *MINI, "--json")
    assert result.exit_code == 1 and json.loads(result.stdout)["ids"] == {"weak": ids, "cut": []}
