"""tools/readings.py makes a reader look better or worse, or reads a wrong file, if this fails."""

from __future__ import annotations

import gzip
import json
import runpy
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from commands import cells
from documents import ROOT

main: Callable[[list[str]], None] = runpy.run_path(str(ROOT / "tools" / "readings.py"))["main"]

READERS = """
from types import SimpleNamespace
def first_letter(output, options):
    letters = [letter for letter in "ABCD"[:options] if letter in output]
    return letters[0] if letters else None
def by_text(output, options, texts=()):
    return next((number for number, text in enumerate(texts) if text in output), None)
def always_second(output, options):
    return SimpleNamespace(value=1, rule="second")
def is_supported(output):
    return "supports" in output
def fails(output, options):
    return {}[output]
def finds_words(output, options):
    return "the second one"
"""

ANSWERS = (
    {"output": "B", "options": 4, "answer": "B", "count": 7, "model": "one"},
    {"output": "So (B) it is", "texts": ["a cat", "a dog"], "answer": 2, "model": "two"},
    {"output": "It is A or D", "options": 4, "answer": "several", "model": "one"},
    {
        "output": "The animal is a cat",
        "texts": ["a cat", "a dog"],
        "options": 2,
        "answer": "a",
        "model": "two",
    },
    {"output": "C, not A", "options": 4, "answer": "C", "model": "two"},
)


@pytest.fixture
def measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[str]]:
    """Runs the tool on a file of lines beside READERS, and returns the parts that it prints."""
    (tmp_path / "rules.py").write_text(READERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def run_tool(lines: Iterable[object], *options: str) -> list[str]:
        (tmp_path / "answers.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        main(["answers.jsonl", *options])
        return capsys.readouterr().out.strip().split("\n\n")

    return run_tool


def test_shares_of_several_readers_by_hand(measure: Callable[..., list[str]]) -> None:
    readers = [
        "--reader",
        "rules:first_letter",
        "--peer",
        "rules:by_text",
        "--peer",
        "rules:always_second",
    ]
    title, table, by_rule = measure(ANSWERS, *readers)
    assert title == "## answers.jsonl"
    head, _, *lines = cells(table)
    assert head == [
        "reader",
        "answers",
        "right %",
        "wrong %",
        "unread %",
        "without answer",
        "invented %",
    ]
    assert lines == [
        ["rules:first_letter", "10", "80.00", "10.00", "10.00", "1", "100.00"],
        ["rules:by_text", "10", "10.00", "0.00", "90.00", "1", "0.00"],
        ["rules:always_second", "10", "80.00", "20.00", "0.00", "1", "100.00"],
    ]
    assert [line for line in cells(by_rule) if "second" in line] == [
        ["second", "11", "8", "2", "", "1", ""]
    ]


def test_a_line_for_each_value_of_a_field(measure: Callable[..., list[str]]) -> None:
    _, _, by_model = measure(ANSWERS, "--reader", "rules:first_letter", "--by", "model")
    assert cells(by_model)[2:] == [
        ["one", "rules:first_letter", "7", "100.00", "0.00", "0.00", "1", "100.00"],
        ["two", "rules:first_letter", "3", "33.33", "33.33", "33.33", "0", ""],
    ]


def test_rows_that_were_not_read_rightly_are_shown_wrong_ones_first(
    measure: Callable[..., list[str]],
) -> None:
    *_, unread_rows = measure(ANSWERS, "--reader", "rules:first_letter", "--show", "3")
    assert unread_rows.splitlines() == [
        "--- answers.jsonl, line 5: wrong: read A (rule unknown), answer C",
        "C, not A",
        "--- answers.jsonl, line 3: invented: read A (rule unknown), answer several",
        "It is A or D",
        "--- answers.jsonl, line 4: unread: read nothing (rule unknown), answer a",
        "The animal is a cat",
    ]


@pytest.mark.parametrize(
    ("kind", "lines", "options", "expected"),
    [
        (
            "option",
            [{"output": "B", "options": 4, "answer": "B"}],
            [],
            ["1", "100.00", "0.00", "0.00", "0", ""],
        ),
        (
            "entailment",
            [
                {"output": "LABEL: entailment", "answer": "entailment"},
                {"output": "Hm.", "answer": "both"},
            ],
            [],
            ["1", "100.00", "0.00", "0.00", "1", "0.00"],
        ),
        (
            "entailment",
            [
                {"output": "It supports it.", "answer": "contradiction"},
                {"output": "It supports it.", "answer": "none", "sure": False},
            ],
            ["--sure", "--reader", "rules:is_supported"],
            ["1", "0.00", "100.00", "0.00", "0", ""],
        ),
        (
            "yes_no",
            [
                {"output": "Yes.", "answer": "yes"},
                {
                    "output": "There is a visual metaphor in it.",
                    "answer": "yes",
                    "about": "metaphors?",
                },
                {"output": "No.", "answer": "yes", "count": 2},
            ],
            [],
            ["4", "50.00", "50.00", "0.00", "0", ""],
        ),
    ],
)
def test_our_readers_of_each_kind(
    kind: str,
    lines: list[object],
    options: list[str],
    expected: list[str],
    measure: Callable[..., list[str]],
) -> None:
    _, table, *_ = measure(lines, "--kind", kind, *options)
    assert cells(table)[2][1:] == expected


def test_accuracies_beside_those_of_the_authors(measure: Callable[..., list[str]]) -> None:
    lines = []
    for model, outputs, by_authors in (
        ("one", "ABBB", "ABAZ"),
        ("two", "BBBA", "BBBA"),
        ("three", "AAAA", "ABAA"),
    ):
        for output, reading, gold in zip(outputs, by_authors, "AABA", strict=True):
            line = {"output": output, "options": 2, "gold": gold, "by_authors": reading}
            lines.append({**line, "model": model})
    _, table, conclusion = measure(lines, "--accuracy", "--reader", "rules:first_letter")
    assert cells(table)[0] == ["model", "answers", "authors %", "rules:first_letter %"]
    assert cells(table)[2:] == [
        ["one", "4", "25.0", "50.0 (+25.0)"],
        ["three", "4", "50.0", "75.0 (+25.0)"],
        ["two", "4", "50.0", "50.0 (+0.0)"],
    ]
    # Of the three pairs of models one has the same order; each side has one tie: tau-b is 1 /
    # sqrt(2 * 2).
    assert (
        conclusion
        == "rules:first_letter: 16.7 points from the authors on average; Kendall's tau over 3"
        " models 0.50"
    )


def test_accuracies_alone(measure: Callable[..., list[str]]) -> None:
    lines = [
        {"output": "A", "options": 2, "gold": "A"},
        {"output": "?", "options": 2, "gold": "B", "count": 3},
    ]
    _, table = measure(lines, "--accuracy", "--reader", "rules:first_letter")
    assert cells(table)[2:] == [["all", "4", "25.0"]]


def test_a_compressed_file(
    tmp_path: Path, measure: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    plain = measure(ANSWERS)
    content = (tmp_path / "answers.jsonl").read_bytes()
    (tmp_path / "more.jsonl.gz").write_bytes(gzip.compress(content, mtime=0))
    main(["more.jsonl.gz"])
    assert capsys.readouterr().out.strip().split("\n\n")[1:] == plain[1:]


GOOD = {"output": "B", "options": 4, "answer": "B"}


@pytest.mark.parametrize(
    ("line", "options", "message"),
    [
        ("B", [], "line 2 is 'B', not a JSON object"),
        ({"options": 4, "answer": "B"}, [], "line 2: output: Field required"),
        (GOOD | {"output": None}, [], "line 2: output is None: must be a valid string"),
        (GOOD | {"options": 0}, [], "line 2: options is 0: must be greater than 0"),
        (GOOD | {"options": "4"}, [], "line 2: options is '4': must be a valid integer"),
        ({"output": "B", "answer": "B"}, [], "line 2 must have options, their number, or texts"),
        (
            GOOD | {"texts": ["a", "b"]},
            [],
            "line 2 must have options, their number, or texts; or as many texts",
        ),
        (GOOD | {"texts": "abcd"}, [], "line 2: texts is 'abcd': must be"),
        (
            GOOD | {"answer": "E"},
            [],
            "line 2: answer is 'E', must be a letter, or a number from 1, of 4 options, or none",
        ),
        (GOOD | {"answer": 0}, [], "line 2: answer is 0, must be a letter"),
        ({"output": "B", "options": 4}, [], "line 2: answer is None, must be a letter"),
        (GOOD | {"count": 0}, [], "line 2: count is 0: must be greater than 0"),
        (
            GOOD,
            ["--kind", "yes_no"],
            "line 1: answer is 'B', must be no or yes, or none, several, both",
        ),
        (GOOD, ["--accuracy"], "line 1: gold is None, must be a letter"),
        (
            GOOD,
            ["--reader", "rules:missing"],
            "no reader rules:missing (.*): name a function of Python",
        ),
        (GOOD, ["--reader", "nowhere:reader"], "no reader nowhere:reader"),
        (GOOD, ["--reader", "rules:fails"], "line 1: rules:fails failed: KeyError: 'B'"),
        (
            GOOD,
            ["--reader", "rules:finds_words"],
            "line 1: rules:finds_words returned 'the second one', which is no",
        ),
    ],
)
def test_what_is_wrong_is_named(
    line: object, options: list[str], message: str, measure: Callable[..., list[str]]
) -> None:
    with pytest.raises(SystemExit, match=f"^readings: .*{message}"):
        measure([GOOD, line], *options)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", None, "none.jsonl cannot be read"),
        ("empty.jsonl", b"", "empty.jsonl is empty"),
        (
            "cut.jsonl.gz",
            gzip.compress(b"{}" * 99, mtime=0)[:-9],
            "cut.jsonl.gz is no whole gzip file",
        ),
        ("plain.jsonl.gz", b"{}", "plain.jsonl.gz is no whole gzip file"),
    ],
)
def test_files_that_cannot_be_read(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SystemExit, match=message):
        main([str(tmp_path / name)])
