"""``figlang judge``: its runs, sheets and figures fit together, and a mistake is one message."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import commands
import pytest
from filled_sheets import right_label, save_run, save_sheet, sheet_of
from openai_server import JUDGE_MODEL, JudgeServer
from PIL import Image

figlang = partial(commands.figlang, "judge")
done = partial(commands.done, "judge")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A key and two empty sheets of five items, for explanations of "Good" and of "Bad"."""
    folder = tmp_path_factory.mktemp("exported")
    runs = []
    for name, score in (("Good", 0.6), ("Bad", 0.2)):
        path = folder / name / "samples_vflute.jsonl"
        answer = f"{name} {{claim}}\nLABEL: {{label}}"
        scores = dict.fromkeys(range(99), score)
        runs.append(f"{name}={save_run(path, answer.format_map, scores.get)}")
    output = done("export", *runs, "-o", folder / "human", "--n", "5")
    lines = [line.removeprefix("written: ") for line in output.splitlines()]
    *_, first_sheet, second_sheet, key, last_line = lines
    assert last_line.endswith(f"figlang judge agree {key} {folder}/human/annotator*.csv")
    return [Path(key), Path(first_sheet), Path(second_sheet)]


@pytest.fixture
def filled(exported: list[Path], tmp_path: Path) -> list[Path]:
    """The key, and the two sheets as annotators fill them in."""
    key, *sheets = exported
    return [key, *(fill_in(tmp_path / sheet.name, key) for sheet in sheets)]


def fill_in(path: Path, key: Path) -> Path:
    """Write a sheet of an annotator who finds all of "Good" adequate and best."""
    judgements = {"Good": ("yes", ""), "Bad": ("no", "hallucination")}

    def judge(item: object, name: str) -> tuple[str, str]:
        return judgements[name]

    def prefer(item: object) -> str:
        return "Good"

    rows = sheet_of(json.loads(key.read_text()), path.stem, right_label, judge, prefer)
    return save_sheet(path, rows)


def test_empty_sheets_are_refused(exported: list[Path]) -> None:
    result = figlang("agree", *exported)
    assert result.exit_code == 1
    assert "annotator1.csv is empty" in result.stderr


def test_json_has_the_rates_of_each_system(filled: list[Path]) -> None:
    report = json.loads(done("agree", *filled, "--json"))
    rates = []
    for system in report["systems"]:
        rates.append((system["name"], system["adequacy_rate"], system["preference_rate"]))
    assert rates == [("Good", 1.0, 1.0), ("Bad", 0.0, 0.0)]
    assert report["explanation_score"]["average_precision"] == 1.0


def test_figures_are_printed_beside_the_published_ones(filled: list[Path]) -> None:
    text = done("agree", *filled)
    assert "| Good " in text
    assert "published: GPT-4 (5 shot)" in text
    assert " 50.67 |" in text
    assert "0.79" in text
    assert "best F1: 1.00" in text
    assert "annotator1 / annot" in text


def undecided(prompt: str, pictures: list[Image.Image]) -> str:
    """An answer without a judgement."""
    return "I like both."


def test_a_language_model_joins(exported: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, sheet, _ = exported
    output = sheet.parent / "llm.csv"
    with JudgeServer(undecided) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        text = done("llm", sheet, "--model", JUDGE_MODEL, "-o", output)
    assert f"\nLLM judge {JUDGE_MODEL}, prompt " in text
    assert "unreadable answers: 25, failed requests: 0" in text
    assert "\n25 requests: " in text


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
