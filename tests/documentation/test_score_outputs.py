"""A user who types the round trip of prompts and outputs from the documents gets other values than
the run had, or an error, if this fails.
"""

from __future__ import annotations

import json
import runpy
import shlex
from pathlib import Path

import pytest
from commands import done
from demo_runs import FixedAnswers, evaluate
from documents import ROOT, blocks

from figlang_tasks.results import runs

TASK = "figlang_mini"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a run as `make demo` leaves it, of a model with three answers."""
    monkeypatch.chdir(tmp_path)
    answers = ("It is so.\nLABEL: entailment", "It is not.\nLABEL: contradiction", "Who knows?")
    evaluate(TASK, FixedAnswers(*answers), saved=tmp_path / "results" / "demo")
    return tmp_path


def scripts(document: str, language: str, word: str) -> list[str]:
    """The blocks of a document in a language that have a word."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        block.text for block in blocks(text) if block.language == language and word in block.text
    ]


def type_commands(script: str) -> None:
    """Run the commands of a script in this process, in their order."""
    for line in script.splitlines():
        program, *arguments = shlex.split(line)
        assert program == "figlang"
        done(*arguments)


def values(run: Path) -> dict[str, float]:
    """The values over all rows of a run, by metric."""
    reported = runs.read(str(run)).tasks[TASK].reported
    return {metric: scopes["all"].value for metric, scopes in reported.items()}


def test_the_round_trip_of_the_readme(folder: Path) -> None:
    (script,) = scripts("README.md", "sh", "figlang score")
    type_commands(script)
    assert values(folder / "results/demo_outputs") == pytest.approx(
        values(folder / "results/demo"), abs=1e-5
    )
    prompts = [json.loads(line) for line in (folder / "prompts.jsonl").read_text().splitlines()]
    answered_ids = runs.read(str(folder / "results/demo_outputs")).tasks[TASK].ids
    assert [prompt["id"] for prompt in prompts] == list(answered_ids)


def test_the_commands_of_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shell_scripts = scripts("docs/score_outputs.md", "sh", "figlang")
    (json_line,) = scripts("docs/score_outputs.md", "json", '"output"')
    (python_script,) = scripts("docs/score_outputs.md", "python", "figlang_tasks.score")
    type_commands("".join(shell_scripts))
    expected = values(folder / "results/demo")
    assert values(folder / "results/demo_outputs") == pytest.approx(expected, abs=1e-5)
    assert not (folder / "results/demo_scored").exists(), "the demo run has its scores"

    # A table with the line of the page for each of the prompts.
    lines: list[str] = []
    for prompt in (folder / "prompts.jsonl").read_text().splitlines():
        lines.append(json.dumps({**json.loads(json_line), "id": json.loads(prompt)["id"]}))
    (folder / "answers.jsonl").write_text("\n".join(lines))
    (folder / "script.py").write_text(python_script)
    runpy.run_path("script.py", run_name="__main__")
    assert "my-model" in capsys.readouterr().out
    records = runs.read(str(folder / "results/my-model")).tasks[TASK].records
    assert {record["predicted"] for record in records} == {1}
