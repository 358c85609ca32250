"""``figlang-score``: files of texts in, the numbers of `get_scorer` out; a fault of a file is said
in one line.
"""

from __future__ import annotations

import csv
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
    """Explanations of figlang_mini, each against the next; then what a reader of files can trip
    over, without \\n.
    """
    rows = pyarrow.parquet.read_table(
        next(DATA_DIR.glob("**/test-*.parquet")), columns=["explanation"]
    )
    texts = rows["explanation"].to_pylist()[:6]
    odd = [
        ('He said "no", and left.', "He\u2028left,\vhe said."),
        (texts[0], ""),
        ("\ufeffÉté\rda", " été\t"),
    ]
    return (*zip(texts, texts[1:], strict=False), *odd)


@cache
def expected() -> ExplanationScores:
    references, candidates = zip(*pairs(), strict=True)
    return get_scorer("embedded", device="cpu", cache=False).score(references, candidates)


def write_table(path: Path) -> Path:
    if path.suffix == ".jsonl":
        rows = [json.dumps({"id": 7, "gold": gold, "said": said or None}) for gold, said in pairs()]
        path.write_text("\n\n".join(rows), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
            writer.writerows([["said", "id", "gold"], *([said, 7, gold] for gold, said in pairs())])
    return path


@pytest.mark.parametrize(("end", "last"), [("\r\n", "\r\n"), ("\n", "")])
def test_a_text_a_line(
    end: str, last: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, texts in zip(("refs.txt", "hyps.txt"), zip(*pairs(), strict=True), strict=True):
        (tmp_path / name).write_bytes((end.join(texts) + last).encode("utf-8"))
    assert (
        main(["-r", str(tmp_path / "refs.txt"), "-c", str(tmp_path / "hyps.txt"), *EMBEDDED]) == 0
    )
    mean = f"{expected().mean.mean():.6f}"
    told = {
        "pairs": str(len(pairs())),
        "bertscore": mean,
        "mean": mean,
        "signature": expected().signature,
    }
    assert dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()) == told


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.TSV", "pairs.jsonl"])
def test_columns_of_a_table(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_table(tmp_path / name)
    output = tmp_path / "scores.csv"
    output.write_text("of an earlier run")
    assert (
        main(
            [
                str(path),
                "--reference=gold",
                "--candidate=said",
                *EMBEDDED,
                "--output",
                str(output),
                "--json",
            ]
        )
        == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "pairs": len(pairs()),
        "bertscore": pytest.approx(expected().bertscore.mean(), abs=1e-12),
        "mean": pytest.approx(expected().mean.mean(), abs=1e-12),
        "signature": expected().signature,
    }
    rows = list(csv.DictReader(output.read_text().splitlines()))
    assert [list(row) for row in rows] == [["bertscore", "mean"]] * len(pairs())
    assert [float(row["mean"]) for row in rows] == expected().mean.tolist()
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([path.name, output.name])


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
def test_faults_of_a_table(
    name: str,
    content: str | bytes | None,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path, output = tmp_path / name, tmp_path / "scores.csv"
    if content is not None:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert main([str(path), *EMBEDDED, "--output", str(output)]) == 1
    told = capsys.readouterr()
    (line,) = told.err.splitlines()
    assert line.startswith("figlang-score: ") and message in line
    assert not told.out and not output.exists()


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
    assert ended.value.code == 2 and message in capsys.readouterr().err


def test_help_is_quick_and_names_the_distribution() -> None:
    """In a process of its own: torch takes seconds."""
    code = (
        "import runpy, sys; sys.argv[0:] = ['', sys.argv[1]]\n"
        "try: runpy.run_module('figlang_tasks.metrics.explanation', run_name='__main__')\n"
        "finally: print({'torch', 'transformers'} & set(sys.modules))\n"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code, option],
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
        )
        for option in ("--help", "--version")
    ]
    assert all(each.stdout.endswith("set()\n") for each in told)
    assert "figlang-score -r refs.txt -c hyps.txt" in told[0].stdout and told[1].stdout.startswith(
        "figlang-tasks "
    )
