"""Verdicts of a language model stand for scores of other rows, or people see another question."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import rows_with_images
from commands import figlang
from filled_sheets import right_label, save_sheet, sheet_of
from saved_runs import sample_lines, write_run

from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge import draw, judged_runs, sheet, verdicts
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.explained import ExplainedTask, read_explained
from figlang_tasks.judge.export import export
from figlang_tasks.judge.llm import JudgedSheet
from figlang_tasks.judge.llm_runs import JudgedRuns
from figlang_tasks.results.runs import read_all
from figlang_tasks.scoring import process_results

MINI = "figlang_mini"
FLUTE = "figlang_mini_flute"
METAPHOR = "figlang_mini_nykms_metaphor"
CAPTION = "figlang_mini_metaclue_caption"
ANSWERS = {
    MINI: "Because {}.\n\nLABEL: entailment",
    FLUTE: "Entails. Because {}.",
    METAPHOR: "1. Yes\n2. cage\n3. Because {}.",
    CAPTION: "Number {} is as strong as a bull.",
}
OPTIONS: dict[str, Any] = {"count": 500, "seed": 3, "annotators": 2}
JUDGE = "LLM judge a-model, prompt 0123456789"


def run_of(folder: Path, task: str, count: int | None = None) -> Path:
    """A run of a task, with another explanation for each row, of all rows or some."""
    lines = sample_lines(task, count, lambda doc, number: ANSWERS[task].format(number))
    return write_run(folder, {task: lines})


def caption_contest_run(folder: Path, data: Path, config: str) -> Path:
    """A run with explanations of three captions."""
    rows_with_images.write_valid_nycc(data, **{f"{config}_1": 3})
    benchmark, request = parse_request(f"NYCC,config={config},fold=1")
    lines: list[dict[str, Any]] = []
    for number, document in enumerate(benchmark.documents(request, check_images=True)):
        output = f"Explanation: Because {number}."
        record = process_results(dict(document), [output])["sample"]
        lines.append({"doc_id": number, "filtered_resps": [output], "sample": record})
    return write_run(folder, {"nycc_explain": lines})


def verdict_lines(explained: ExplainedTask, system: str) -> list[dict[str, Any]]:
    """Verdicts on the explanations of a system: of ten, seven are adequate and one is unread."""
    lines: list[dict[str, Any]] = []
    for number, row_id in enumerate(sorted(explained.explanations)):
        line = dict.fromkeys(verdicts.Verdict.__annotations__)
        verdict = None if number % 10 == 9 else int(number % 10 < 7)
        line |= {"id": row_id, "system": system, "verdict": verdict, "judge": JUDGE}
        line |= {"task": explained.task.task, "data": str(explained.task.data)}
        lines.append(line)
    return lines


def save_verdicts(path: Path, lines: list[dict[str, Any]]) -> Path:
    """Write verdicts into a file."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def fill(key: Mapping[str, Any], folder: Path, wanted: Mapping[str, int | None]) -> list[Path]:
    """Two equal sheets, in which an explanation is adequate where the verdict of its row is 1."""
    columns = [column for column in sheet.COLUMNS if column != "label" or key["asks_label"]]

    def judgement(item: Mapping[str, Any], system: str) -> tuple[str, str]:
        return ("yes", "") if wanted[item["id"]] else ("no", "unsound")

    paths: list[Path] = []
    for name in ("ann", "bob"):
        rows = sheet_of(key, name, right_label, judgement)
        paths.append(save_sheet(folder / f"{name}.csv", rows, columns))
    return paths


# --- what people and the judge are asked ---


@pytest.mark.parametrize(
    "task", [FLUTE, METAPHOR, CAPTION, "explanation", "explanation_from_pixels"]
)
def test_a_sheet_asks_the_judge_what_the_run_asks_it(
    task: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if task in ANSWERS:
        run = run_of(tmp_path / "run", task, 4)
    else:
        monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
        run = caption_contest_run(tmp_path / "run", tmp_path / "data", task)
    human = tmp_path / "human"
    human.mkdir()
    export([str(run)], human, **OPTIONS)
    of_sheet = JudgedSheet(human / "annotator1.csv", human / "filled.csv", "m").questions
    of_run = JudgedRuns([str(run)], None, tmp_path / "verdicts.jsonl", "m").questions
    asked = [question for question in of_sheet if question.column == "adequate"]
    assert sorted(question.prompt for question in asked) == sorted(
        question.prompt for question in of_run
    )
    pictures = [question.item.read_picture is not None for question in of_run]
    assert [question.item.read_picture is not None for question in asked] == pictures
    # A label is asked for by benchmarks of entailment alone.
    assert (len(of_sheet) > len(asked)) == (task == FLUTE)
    assert ("label" in sheet.read(human / "annotator1.csv").rows) == (task == FLUTE)


def test_a_sheet_of_an_unknown_benchmark_is_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", CAPTION, 2)
    (tmp_path / "human").mkdir()
    export([str(run)], tmp_path / "human", **OPTIONS)
    path = tmp_path / "human" / "annotator1.csv"
    path.write_text(path.read_text().replace('"metaclue"', '"../judge"'))
    with pytest.raises(FigLangError, match=r"column benchmark: \.\./judge is none of .*nykms"):
        JudgedSheet(path, tmp_path / "out.csv", "m")


# --- verdicts in place of scores ---


@pytest.mark.parametrize("task", [MINI, CAPTION])
def test_the_labels_of_people_correct_the_verdicts(task: str, tmp_path: Path) -> None:
    """People contradict a third of the judge's verdicts on the drawn rows."""
    run = f"Shark={run_of(tmp_path / 'run', task)}"
    (explained,) = read_explained([run], None).values()
    lines = verdict_lines(explained, "Shark")
    path = save_verdicts(tmp_path / "verdicts.jsonl", lines)
    human = tmp_path / "human"
    human.mkdir()
    count = len(lines) // 2
    export([run], human, **{**OPTIONS, "count": count}, scores=path)
    key = json.loads((human / "key.json").read_text())
    verdict_of_row = {line["id"]: line["verdict"] for line in lines}
    assert {row["id"]: row["scores"]["Shark"] for row in key["rows"]} == verdict_of_row
    assert key["scorer"] == JUDGE

    people = dict(verdict_of_row)
    for item in key["items"][::3]:
        people[item["id"]] = 1
    report: Mapping[str, Any] = agree(human / "key.json", fill(key, human, people))
    assert f"{JUDGE} as a predictor of adequacy" in text(report)
    assert set(judged_runs.read(human / "key.json", read_all([run])).tasks) == {"Shark"}
    if count < 30:
        assert "fewer than the 30" in report["all_rows"]["refused"][0]
        return
    estimate = report["all_rows"]["estimates"][0]
    judged = [people[item["id"]] or 0 for item in key["items"]]
    assert estimate["labels_alone"]["value"] == pytest.approx(sum(judged) / count)
    assert estimate["labels"] == count
    assert estimate["effective_labels"] > count


def test_filled_sheets_belong_to_a_later_export_with_verdicts(tmp_path: Path) -> None:
    run = f"Shark={run_of(tmp_path / 'run', METAPHOR)}"
    (explained,) = read_explained([run], None).values()
    lines = verdict_lines(explained, "Shark")
    path = save_verdicts(tmp_path / "verdicts.jsonl", lines)
    for name in ("before", "after"):
        (tmp_path / name).mkdir()
        export([run], tmp_path / name, **OPTIONS, scores=path if name == "after" else None)
    key = json.loads((tmp_path / "before" / "key.json").read_text())
    wanted = {line["id"]: line["verdict"] for line in lines}
    sheets = fill(key, tmp_path / "before", wanted)
    report = agree(tmp_path / "after" / "key.json", sheets)
    assert report["explanation_score"]["scorer"] == JUDGE
    assert report["systems"][0]["adequate"] == sum(verdict == 1 for verdict in wanted.values())
    assert "labels right" not in text(report)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": "figlang_mini/test:0"}, "line 1 is of .* on 'figlang_mini/test:0', but the runs"),
        ({"task": "vflute"}, "line 1 is of 'vflute' on "),
        ({"system": "Whale"}, "has no verdict of row .* of Shark: give figlang judge llm all runs"),
        ({"id": "another"}, "has no verdict of row .* of Shark"),
        ({"verdict": 2}, "line 1 is no verdict"),
        ({"verdict": "yes"}, "line 1 is no verdict"),
        ({"judge": "LLM judge b"}, "verdicts of 2 judges, must be of one"),
    ],
)
def test_verdicts_of_something_else_are_refused(
    change: dict[str, Any], message: str, caption_run: ExplainedTask, tmp_path: Path
) -> None:
    lines = verdict_lines(caption_run, "Shark")
    lines[0] |= change
    path = save_verdicts(tmp_path / "verdicts.jsonl", lines)
    rows = draw.machine_rows({"Shark": caption_run})
    with pytest.raises(FigLangError, match=message):
        verdicts.replace_scores(rows, path, {"Shark": caption_run})


@pytest.fixture(scope="module")
def caption_run(tmp_path_factory: pytest.TempPathFactory) -> ExplainedTask:
    """A run of captions."""
    run = run_of(tmp_path_factory.mktemp("captions") / "run", CAPTION)
    (explained,) = read_explained([str(run)], None).values()
    return explained


def test_files_without_verdicts_are_one_message(caption_run: ExplainedTask, tmp_path: Path) -> None:
    path = tmp_path / "verdicts.jsonl"
    lines = verdict_lines(caption_run, "Shark")
    for content, message in (
        ("", "verdicts of 0 judges"),
        ("no JSON\n", "line 1 is not valid JSON"),
        ("{}\n", "line 1 has no column id"),
        (json.dumps(lines[0]) + "\n" + json.dumps(lines[0]) + "\n", "line 2 judges row"),
    ):
        path.write_text(content)
        with pytest.raises(FigLangError, match=message):
            verdicts.replace_scores([], path, {"Shark": caption_run})


def test_a_refused_export_writes_nothing(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", CAPTION, 2)
    output = tmp_path / "human"
    refused = figlang("judge", "export", run, "-o", output, "--scores", tmp_path / "none.jsonl")
    assert refused.exit_code == 1 and "none.jsonl" in refused.stderr
    assert not output.exists()
