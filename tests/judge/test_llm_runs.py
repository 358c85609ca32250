"""Explanations of runs are judged wrongly or twice, or a bias is hidden, if these tests fail."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rows_with_images
from commands import done, figlang
from misbehaving_replies import MODEL as SERVED
from misbehaving_replies import NO_COMPLETION, body, saying
from openai_server import JUDGE_MODEL, BodiesServer, JudgeServer, OpenAIServer
from PIL import Image
from saved_runs import sample_lines, write_run
from scipy.stats import spearmanr

from figlang_tasks.core import images
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.judge.documents import RunDocuments
from figlang_tasks.judge.llm_runs import JudgedRuns
from figlang_tasks.judge.local_model import turn_of
from figlang_tasks.judge.questions import Item, questions_of
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.results.runs import read
from figlang_tasks.scoring import process_results

OPTIONS = ("--model", JUDGE_MODEL, "--concurrency", "2", "--max-tokens", "64")
EXPLAINED = {
    "figlang_mini": ("{}\nLABEL: entailment", 1),
    "figlang_mini_flute": ("Entails. {}", 0),
    "figlang_mini_nykms_metaphor": ("1. Yes\n2. cage\n3. {}", 1),
    "figlang_mini_metaclue_caption": ("{}", 1),
}
"""By task: an answer with a place for its explanation, and the pictures that a judge sees."""
FLUTE = "figlang_mini_flute"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A server whose judge finds all explanations adequate."""
    with JudgeServer(lenient) as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def lenient(prompt: str, pictures: list[Image.Image]) -> str:
    """A judge who likes everything, and the explanation that stands first."""
    return '{"preferred": "A"}' if '{"preferred"' in prompt else '{"adequate": "yes"}'


def by_length(prompt: str, pictures: list[Image.Image]) -> str:
    """A judge who likes explanations of five words and more, and the longest one best."""
    if '{"preferred"' in prompt:
        lengths = {letter: len(shown(prompt, f" {letter}").split()) for letter in "AB"}
        return json.dumps({"preferred": max(lengths, key=lengths.__getitem__)})
    if len(shown(prompt).split()) >= 5:
        return '{"adequate": "yes"}'
    return '{"adequate": "no", "error": "incomplete"}'


def shown(prompt: str, letter: str = "") -> str:
    """The explanation that a prompt shows."""
    _, _, rest = prompt.partition(f"<explanation{letter}>\n")
    return rest.partition(f"\n</explanation{letter}>")[0]


def run_of(folder: Path, task: str, explain: Callable[[int], str], count: int = 6) -> Path:
    """A run of a task, with the explanation that a function gives for the number of a row."""
    form, _ = EXPLAINED[task]
    lines = sample_lines(task, count, lambda doc, number: form.format(explain(number)))
    return write_run(folder, {task: lines})


def words(count: int) -> str:
    """An explanation of so many words."""
    return " ".join(f"word{number}" for number in range(count))


def verdicts(path: Path) -> list[dict[str, Any]]:
    """The lines of an output."""
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- what a judge sees ---


@pytest.mark.parametrize("task", EXPLAINED)
def test_each_explanation_of_a_run_is_judged_once_by_its_rubric(
    task: str, tmp_path: Path, server: JudgeServer
) -> None:
    count = 12 if "nykms" in task else 6  # the last rows of NYK-MS have no metaphor
    run = run_of(tmp_path / "secret-name", task, lambda number: words(number + 2), count)
    server.answer = by_length
    printed = done("judge", "llm", run, "-o", tmp_path / "verdicts.jsonl", *OPTIONS)
    lines = verdicts(tmp_path / "verdicts.jsonl")
    judged = {line["id"]: line["verdict"] for line in lines}
    expected: dict[str, int] = {}
    for number, record in enumerate(read(str(run)).tasks[task].records):
        has_explanation = "nykms" not in task or record["gold"]["MC"] == 1
        if has_explanation:
            expected[record["id"]] = int(number + 2 >= 5)
    assert judged == expected and len(lines) == len(judged)
    assert server.pictures == [EXPLAINED[task][1]] * len(lines)
    assert not any("secret-name" in prompt for prompt in server.prompts)
    assert {line["error"] for line in lines} == {None, "incomplete"}
    assert lines[0]["judge"].startswith(f"LLM judge {JUDGE_MODEL}, prompt ")
    assert f"{sum(expected.values())} of {len(expected)} adequate" in printed


@pytest.mark.parametrize(
    ("config", "pictures"), [("explanation_from_pixels", 1), ("explanation", 0)]
)
def test_a_judge_of_caption_contests_gets_the_cartoon_as_the_model_got_it(
    config: str,
    pictures: int,
    tmp_path: Path,
    server: JudgeServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    rows_with_images.write_valid_nycc(tmp_path / "data", **{f"{config}_1": 3})
    benchmark, request = parse_request(f"NYCC,config={config},fold=1")
    lines: list[dict[str, Any]] = []
    for number, document in enumerate(benchmark.documents(request, check_images=True)):
        output = f"Explanation: {words(4 + number)}"
        record = process_results(dict(document), [output])["sample"]
        lines.append({"doc_id": number, "filtered_resps": [output], "sample": record})
    run = write_run(tmp_path / "run", {"nycc_explain": lines})
    server.answer = by_length
    done("judge", "llm", run, "-o", tmp_path / "verdicts.jsonl", *OPTIONS)
    assert [line["verdict"] for line in verdicts(tmp_path / "verdicts.jsonl")] == [0, 1, 1]
    assert server.pictures == [pictures] * 3
    prompt = server.prompts[0]
    assert ("Snail 0 wears a watch." in " ".join(server.prompts)) == (pictures == 0)
    assert "Caption: I have no time." in prompt
    assert "snails have all of it." in prompt  # the reference


def test_rows_with_equal_texts_are_asked_one_by_one() -> None:
    """Their pictures may differ."""
    texts = {"claim": "A claim.", "reference": "A reference."}
    items = [Item(row, texts, {"A": "Why."}, None, asks_label=False) for row in ("1", "2")]
    first, second = questions_of(items, "judge/vflute.jinja", "a-model")
    assert first.prompt == second.prompt
    assert first.key != second.key


# --- two judges, two systems ---


@pytest.fixture
def two_runs(tmp_path: Path) -> list[str]:
    """Two runs of one task with explanations of 1 to 6, and of 6 to 1 words."""
    short_first = run_of(tmp_path / "one", FLUTE, lambda number: words(number + 1))
    long_first = run_of(tmp_path / "two", FLUTE, lambda number: words(6 - number))
    return [f"One={short_first}", f"Two={long_first}"]


def test_two_judges_differ_and_their_biases_are_printed(
    two_runs: list[str], tmp_path: Path, server: JudgeServer
) -> None:
    printed = done("judge", "llm", *two_runs, "-o", tmp_path / "a.jsonl", *OPTIONS)
    position = "in both orders for 6 items: 6 (100.0 %) change with the order; the first is"
    assert position in printed and "preferred in 100.0 % of answers; One is best in 0;" in printed
    assert "One: 6 of 6 adequate (100.0 %); rank correlation" in printed
    assert "number of words: undefined" in printed

    server.answer = by_length
    printed = done("judge", "llm", *two_runs, "-o", tmp_path / "b.jsonl", *OPTIONS)
    # Of 1 to 6 words, those with 5 and 6 are adequate.
    correlation = spearmanr([1, 2, 3, 4, 5, 6], [0, 0, 0, 0, 1, 1]).statistic
    assert "One: 2 of 6 adequate (33.3 %); rank correlation of the verdict with" in printed
    assert printed.count(f"number of words: {correlation:.2f}\n") == 2
    position = "6 items: 0 (0.0 %) change with the order; the first is preferred in 50.0 %"
    assert position in printed and "One is best in 3; Two is best in 3" in printed


def test_verdicts_name_the_system_and_its_preference(
    two_runs: list[str], tmp_path: Path, server: JudgeServer
) -> None:
    server.answer = by_length
    done("judge", "llm", *two_runs, "-o", tmp_path / "verdicts.jsonl", *OPTIONS)
    row_ids = [record["id"] for record in read(two_runs[0]).tasks[FLUTE].records]
    by_place = {
        (line["id"], line["system"]): line for line in verdicts(tmp_path / "verdicts.jsonl")
    }
    assert len(by_place) == 12
    for number, row_id in enumerate(row_ids):
        one = by_place[row_id, "One"]
        two = by_place[row_id, "Two"]
        assert (one["verdict"], two["verdict"]) == (int(number >= 4), int(number <= 1))
        assert (one["preferred"], two["preferred"]) == (int(number >= 3), int(number < 3))


# --- costs, failures ---


def test_a_dry_run_says_the_cost_and_writes_nothing(
    two_runs: list[str], tmp_path: Path, server: JudgeServer
) -> None:
    output = tmp_path / "new" / "verdicts.jsonl"
    prices = ("--price-read", "1", "--price-written", "2")
    printed = done("judge", "llm", *two_runs, "-o", output, *OPTIONS, *prices, "--dry-run")
    assert f"{FLUTE}: 12 explanations by One, Two\n24 requests to {JUDGE_MODEL}" in printed
    assert f"at most {24 * 64:,} to write; price 0.0" in printed
    assert "nothing was asked or written" in printed
    assert server.prompts == [] and not output.parent.exists()
    printed = done("judge", "llm", *two_runs, "-o", output, *OPTIONS, *prices)
    # The server counts a token for each prompt and each answer.
    assert "24 requests: 24 tokens read, 24 written; price 0.0001" in printed


def test_replies_that_are_none_are_asked_again_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = run_of(tmp_path / "run", FLUTE, lambda number: words(number + 1))
    output = tmp_path / "verdicts.jsonl"
    good = body(saying('{"adequate": "yes"}'))
    # Between two bad replies stands a good one: several in a row would end the work.
    bad = {words(2): NO_COMPLETION[2].body, words(4): NO_COMPLETION[4].body}

    def reply_to(prompt: str) -> bytes:
        return bad.get(shown(prompt), good)

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BodiesServer(reply_to) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        arguments = ("judge", "llm", run, "-o", output, "--model", SERVED, "--concurrency", "1")
        result = figlang(*arguments)
        assert result.exit_code == 1 and "2 requests failed, the last with" in result.stderr
        assert [line["verdict"] for line in verdicts(output)] == [1, None, 1, None, 1, 1]
        assert verdicts(output)[1]["status"] == "failed"
        sent = len(running.requests)
        bad.clear()
        done(*arguments)
        assert len(running.requests) == sent + 2
    assert [line["verdict"] for line in verdicts(output)] == [1] * 6


def test_what_cannot_be_read_is_null_and_is_counted(tmp_path: Path, server: JudgeServer) -> None:
    run = run_of(tmp_path / "run", FLUTE, lambda number: words(number + 1))
    server.answer = lambda prompt, pictures: "It is adequate: yes."
    printed = done("judge", "llm", run, "-o", tmp_path / "verdicts.jsonl", *OPTIONS)
    assert "unreadable answers: 6, failed requests: 0 (they stay empty)" in printed
    assert ": 0 of 0 adequate; rank correlation" in printed
    lines = verdicts(tmp_path / "verdicts.jsonl")
    assert [(line["verdict"], line["status"]) for line in lines] == [(None, "unreadable")] * 6


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (
            ("run", "--task", "vflute"),
            1,
            "run has no task vflute, but figlang_mini, figlang_mini_f",
        ),
        (("run",), 1, "holds explanations of figlang_mini, figlang_mini_flute: name one by --task"),
        (("boxes",), 1, "boxes has no explanations to judge: figlang_mini_metaclue_localize asks"),
        (("a.csv", "run"), 2, "name one sheet, or runs alone"),
        (("a.csv", "--task", "vflute"), 2, "a sheet has no tasks"),
        (("run", "--model-args", "batch_size=2"), 2, "it needs --local"),
        (("run", "--task", FLUTE, "--local", "--model", "none"), 1, "none"),
    ],
)
def test_mistakes_are_one_message(
    arguments: tuple[str, ...],
    status: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    tasks = ("figlang_mini", FLUTE)
    write_run(Path("run"), {task: sample_lines(task, 2) for task in tasks})
    boxes = "figlang_mini_metaclue_localize"
    write_run(Path("boxes"), {boxes: sample_lines(boxes, 2)})
    result = figlang("judge", "llm", "--model", "m", "-o", "new/out.jsonl", *arguments)
    assert result.exit_code == status
    assert message in " ".join(result.stderr.split())
    assert not Path("new").exists()


# --- a local model ---


@pytest.mark.slow
def test_a_local_model_says_what_it_says_at_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same model, once here and once behind a server: the texts are the same."""
    run = run_of(tmp_path / "run", FLUTE, lambda number: words(number + 1), count=2)
    common = ("judge", "llm", run, "--max-tokens", "16")
    local = ("--local", "--model", DEMO_MODEL_DIR, "--model-args", "batch_size=2,device=cpu")
    printed = done(*common, *local, "-o", tmp_path / "local.jsonl")
    with OpenAIServer(DEMO_MODEL_DIR) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        done(*common, "--model", server.name, "-o", tmp_path / "served.jsonl")
    texts: dict[str, list[str]] = {}
    for name in ("local", "served"):
        _, *answers = (tmp_path / f"{name}.answers.jsonl").read_text().splitlines()
        texts[name] = sorted(json.loads(answer)["text"] for answer in answers)
    assert texts["local"] == texts["served"] and len(texts["local"]) == 2
    assert "\n2 requests: " in printed
    assert len(verdicts(tmp_path / "local.jsonl")) == 2


def test_a_local_model_gets_the_picture_of_each_row(tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", "figlang_mini", lambda number: "The same words.", count=2)
    documents = RunDocuments(read(str(run)).tasks["figlang_mini"])
    questions = JudgedRuns([str(run)], None, tmp_path / "out.jsonl", "a-model").questions
    for question in questions:
        picture, text = turn_of(question)["content"]
        row = documents[question.item.id]
        expected = images.decode(row["image"], "a row", "figlang_mini")
        assert picture["url"].tobytes() == expected.tobytes()
        assert row["claim"] in text["text"]
    assert len(questions) == 2
