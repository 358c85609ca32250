"""Runs, sheets and figures of ``figlang judge`` do not fit together, or a mistake is a traceback,
if this fails.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import commands
import pytest
from filled_sheets import right_label, save_run, save_sheet, sheet_of
from judge_server import MODEL, JudgeServer

figlang, done = partial(commands.figlang, "judge"), partial(commands.done, "judge")


@pytest.fixture
def exported(tmp_path: Path) -> list[Path]:
    """Key and two sheets of five items."""
    runs = []
    for name, score in (("Good", 0.6), ("Bad", 0.2)):
        path = tmp_path / name / "samples_vflute.jsonl"
        answer = f"{name} {{claim}}\nLABEL: {{label}}"
        runs.append(
            f"{name}={save_run(path, answer.format_map, dict.fromkeys(range(99), score).get)}"
        )
    output = done("export", *runs, "-o", tmp_path / "human", "--n", "5")
    *_, first, second, key, last = (line.removeprefix("written: ") for line in output.splitlines())
    assert last.endswith(f"figlang judge agree {key} {tmp_path}/human/annotator*.csv")
    return [Path(key), Path(first), Path(second)]


def fill_in(path: Path, key: Path) -> Path:
    """What an annotator does who finds all of "Good" adequate and best."""
    judgements = {"Good": ("yes", ""), "Bad": ("no", "hallucination")}
    made = json.loads(key.read_text())
    rows = sheet_of(
        made, path.stem, right_label, lambda item, name: judgements[name], lambda item: "Good"
    )
    return save_sheet(path, rows)


def test_from_runs_to_figures(exported: list[Path]) -> None:
    key, *sheets = exported
    empty = figlang("agree", key, *sheets)
    assert empty.exit_code == 1 and "annotator1.csv is empty" in empty.stderr
    for path in sheets:
        fill_in(path, key)
    report = json.loads(done("agree", key, *sheets, "--json"))
    assert [
        (each["name"], each["adequacy_rate"], each["preference_rate"]) for each in report["systems"]
    ] == [
        ("Good", 1.0, 1.0),
        ("Bad", 0.0, 0.0),
    ]
    assert report["explanation_score"]["average_precision"] == 1.0
    shown = done("agree", key, *sheets)
    for part in (
        "| Good ",
        "published: GPT-4 (5 shot)",
        " 50.67 |",
        "0.79",
        "best F1: 1.00",
        "annotator1 / annot",
    ):
        assert part in shown


def test_a_language_model_joins(exported: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, sheet, _ = exported
    llm = sheet.parent / "llm.csv"
    with JudgeServer(lambda prompt, pictures: "I like both.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        said = done("llm", sheet, "--model", MODEL, "-o", llm)
        assert (
            said.startswith(f"LLM judge {MODEL}, prompt ")
            and "20 requests; unreadable answers: 20, failed" in said
        )


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("agree", "k.json", "a.csv"), 2, "agreement needs two sheets or more"),
        (("export", "none.jsonl", "-o", "new"), 1, "figlang: none.jsonl does not exist"),
        (("llm", "none.csv", "--model", "m", "-o", "o.csv"), 1, "figlang: none.csv: No such file"),
        (("export", "--task", "irfl_generate", ".", "-o", "new"), 1, "has no prompts.jsonl"),
    ],
)
def test_mistakes(
    arguments: tuple[str, ...],
    status: int,
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = figlang(*arguments)
    assert (result.exit_code, result.stdout) == (status, "")
    assert says in result.stderr
    assert list(tmp_path.iterdir()) == []
