"""``figlang judge``: its runs, sheets and figures fit together, and a mistake is one message."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import commands
import pytest
from filled_sheets import right_label, save_run, save_sheet, sheet_of
from openai_server import JUDGE_MODEL, JudgeServer

figlang = partial(commands.figlang, "judge")
done = partial(commands.done, "judge")


@pytest.fixture
def exported(tmp_path: Path) -> list[Path]:
    """A key and two sheets of five items, for explanations of "Good" and of "Bad"."""
    runs = []
    for name, score in (("Good", 0.6), ("Bad", 0.2)):
        path = tmp_path / name / "samples_vflute.jsonl"
        answer = f"{name} {{claim}}\nLABEL: {{label}}"
        scores = dict.fromkeys(range(99), score)
        runs.append(f"{name}={save_run(path, answer.format_map, scores.get)}")
    output = done("export", *runs, "-o", tmp_path / "human", "--n", "5")
    lines = [line.removeprefix("written: ") for line in output.splitlines()]
    *_, first_sheet, second_sheet, key, last_line = lines
    assert last_line.endswith(f"figlang judge agree {key} {tmp_path}/human/annotator*.csv")
    return [Path(key), Path(first_sheet), Path(second_sheet)]


def fill_in(path: Path, key: Path) -> Path:
    """Fill in a sheet as an annotator who finds all of "Good" adequate and best."""
    judgements = {"Good": ("yes", ""), "Bad": ("no", "hallucination")}

    def judge(item: object, name: str) -> tuple[str, str]:
        return judgements[name]

    def prefer(item: object) -> str:
        return "Good"

    rows = sheet_of(json.loads(key.read_text()), path.stem, right_label, judge, prefer)
    return save_sheet(path, rows)


def test_from_runs_to_figures(exported: list[Path]) -> None:
    key, *sheets = exported
    empty = figlang("agree", key, *sheets)
    assert empty.exit_code == 1
    assert "annotator1.csv is empty" in empty.stderr
    for path in sheets:
        fill_in(path, key)

    report = json.loads(done("agree", key, *sheets, "--json"))
    rates = []
    for system in report["systems"]:
        rates.append((system["name"], system["adequacy_rate"], system["preference_rate"]))
    assert rates == [("Good", 1.0, 1.0), ("Bad", 0.0, 0.0)]
    assert report["explanation_score"]["average_precision"] == 1.0

    text = done("agree", key, *sheets)
    assert "| Good " in text
    assert "published: GPT-4 (5 shot)" in text
    assert " 50.67 |" in text
    assert "0.79" in text
    assert "best F1: 1.00" in text
    assert "annotator1 / annot" in text


def test_a_language_model_joins(exported: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, sheet, _ = exported
    output = sheet.parent / "llm.csv"
    with JudgeServer(lambda prompt, pictures: "I like both.") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        text = done("llm", sheet, "--model", JUDGE_MODEL, "-o", output)
    assert text.startswith(f"LLM judge {JUDGE_MODEL}, prompt ")
    assert "20 requests; unreadable answers: 20, failed" in text


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
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
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    result = figlang(*arguments)
    assert result.exit_code == status
    assert result.stdout == ""
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []
