"""``figlang-score`` prints other numbers than `get_scorer`, or hides a fault, if this fails."""

from __future__ import annotations

import csv
import itertools
import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pyarrow.parquet
import pytest

from figlang_tasks.metrics.explanation import ExplanationScores, get_scorer
from figlang_tasks.metrics.explanation.__main__ import main
from figlang_tasks.mini import DATA_DIR

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
EMBEDDED = ("--scorer", "embedded", "--device", "cpu", "--no-cache")


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Explanations of figlang_mini, each against the next, and texts that readers may trip over."""
    rows = pyarrow.parquet.read_table(
        next(DATA_DIR.glob("**/test-*.parquet")), columns=["explanation"]
    )
    texts = rows["explanation"].to_pylist()[:6]
    odd_pairs = [
        ('He said "no", and left.', "He\u2028left,\vhe said."),
        (texts[0], ""),
        ("\ufeffÉté\rda", " été\t"),
    ]
    return (*itertools.pairwise(texts), *odd_pairs)


@cache
def expected() -> ExplanationScores:
    references, candidates = zip(*pairs(), strict=True)
    return get_scorer("embedded", device="cpu", cache=False).score(references, candidates)


def write_pairs(path: Path) -> Path:
    """Write the pairs in the format of the path's suffix, in columns gold and output."""
    if path.suffix == ".jsonl":
        objects: list[str] = []
        for reference, candidate in pairs():
            objects.append(json.dumps({"id": 7, "gold": reference, "output": candidate or None}))
        path.write_text("\n\n".join(objects), encoding="utf-8")
        return path
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        writer.writerow(["output", "id", "gold"])
        for reference, candidate in pairs():
            writer.writerow([candidate, 7, reference])
    return path


@pytest.mark.parametrize(("end", "last"), [("\r\n", "\r\n"), ("\n", "")])
def test_a_text_a_line(
    end: str, last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, texts in zip(("refs.txt", "hyps.txt"), zip(*pairs(), strict=True), strict=True):
        (tmp_path / name).write_bytes((end.join(texts) + last).encode("utf-8"))
    files = ["-r", str(tmp_path / "refs.txt"), "-c", str(tmp_path / "hyps.txt")]
    assert main([*files, *EMBEDDED]) == 0
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    mean = f"{expected().mean.mean():.6f}"
    assert printed == {
        "pairs": str(len(pairs())),
        "bertscore": mean,
        "mean": mean,
        "signature": expected().signature,
    }


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.TSV", "pairs.jsonl"])
def test_columns_of_a_table(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_pairs(tmp_path / name)
    output = tmp_path / "scores.csv"
    output.write_text("of an earlier run")
    columns = ["--reference=gold", "--candidate=output"]
    assert main([str(path), *columns, *EMBEDDED, "--output", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "pairs": len(pairs()),
        "bertscore": pytest.approx(expected().bertscore.mean(), abs=1e-12),
        "mean": pytest.approx(expected().mean.mean(), abs=1e-12),
        "signature": expected().signature,
    }
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert [list(row) for row in rows] == [["bertscore", "mean"]] * len(pairs())
    assert [float(row["mean"]) for row in rows] == expected().mean.tolist()
    assert {file.name for file in tmp_path.iterdir()} == {path.name, output.name}


FAULTS = {
    "no file": ("none.csv", None, "No such file or directory"),
    "no rows": ("a.csv", "reference,candidate\n", "a.csv has no pairs"),
    "no key": (
        "a.jsonl",
        '{"reference": "a", "candidate": "b"}\n{"gold": "a"}',
        "row 2 has no column 'reference'",
    ),
    "a number": (
        "a.jsonl",
        '{"reference": "a", "candidate": 7}',
        "candidates[0] is 7, must be a text",
    ),
    "a list": (
        "a.jsonl",
        '["a", "b"]',
        "row 1 has no column 'reference'; --reference names another one",
    ),
    "no JSON": ("a.jsonl", '\n{"reference": "a"', "a.jsonl, line 2 is not JSON"),
    "short": ("a.csv", 'reference,candidate\n"a\na",b\na\n', "row 2 has not as many cells"),
    "quote": (
        "a.csv",
        'reference,candidate\na,b\n"a,b\nc,d\n',
        "is not CSV (unexpected end of data)",
    ),
    "Latin-1": ("a.csv", "reference,candidate\na,b\né,b\n".encode("latin-1"), "a.csv is not UTF-8"),
}


@pytest.mark.parametrize(("name", "content", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_of_a_file_is_reported_in_one_line(
    name: str,
    content: str | bytes | None,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / name
    output = tmp_path / "scores.csv"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert main([str(path), *EMBEDDED, "--output", str(output)]) == 1
    printed = capsys.readouterr()
    (error_line,) = printed.err.splitlines()
    assert error_line.startswith("figlang-score: ")
    assert message in error_line
    assert not printed.out
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-r", "a.txt"], "give either -r FILE and -c FILE"),
        (["a.csv", "-r", "a.txt", "-c", "b.txt"], "give either -r FILE and -c FILE"),
        (["a.txt"], "a.txt must end in .csv, .tsv or .jsonl; for a text a line use -r and -c"),
        (["a.csv", "--output", "scores.xlsx"], "--output scores.xlsx must end in .csv"),
        (
            ["a.csv", "--output", "a.csv"],
            "--output a.csv: name another file than PAIRS, in a folder that is there",
        ),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


HELP = """
import runpy, sys
sys.argv[0:] = ["", sys.argv[1]]
try:
    runpy.run_module("figlang_tasks.metrics.explanation", run_name="__main__")
finally:
    print({"torch", "transformers"} & set(sys.modules))
"""


@pytest.mark.parametrize(
    ("option", "text"),
    [("--help", "figlang-score -r refs.txt -c hyps.txt"), ("--version", "figlang-tasks ")],
)
def test_help_is_quick_and_names_the_distribution(option: str, text: str) -> None:
    """In a process of its own, since torch, which takes seconds, must not be imported."""
    process = subprocess.run(
        [sys.executable, "-c", HELP, option],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    assert process.stdout.endswith("set()\n")
    assert text in process.stdout
