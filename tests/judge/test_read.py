"""A model's readings count wrongly, or its answers are lost or paid twice, if these tests fail."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import warm
from commands import done, figlang, refused
from demo_runs import FixedAnswers, evaluate
from misbehaving_replies import CASES, Case, body, saying
from misbehaving_replies import MODEL as SERVED
from openai_server import JUDGE_MODEL, BodiesServer, JudgeServer
from PIL import Image
from saved_runs import sample_lines, write_run

from figlang_tasks.judge.server import ModelServer, ask_all
from figlang_tasks.judge.server import Reply as ServerReply
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run, outputs
from figlang_tasks.scoring import OVERALL, flat

READABLE = {
    "figlang_mini": ("LABEL: entailment", "f1@0"),
    "figlang_mini_flute": ("Entails.", "acc@0"),
    "figlang_mini_irfl_detect_idiom": ("A", "acc"),
    "figlang_mini_irfl_retrieve_metaphor": ("Yes", "p@k"),
    "figlang_mini_metaclue_classify_literal": ("Yes", "acc"),
    "figlang_mini_metaclue_retrieve_swap": ("1", "p@1"),
    "figlang_mini_nykms_metaphor": ("1. Yes", "mc_macro_f1"),
}
"""By task: a plain answer that chooses the first option, and the headline metric without scores."""
HEADLINES = {task: metric for task, (_, metric) in READABLE.items()}
LEFT_OUT = "figlang_mini_metaclue_localize"
UNREAD = "Hm, let me look again."
HOPELESS = "Well, well."
EMPTY = ("", "<think>It may be the first one")
OPTIONS = ("--model", JUDGE_MODEL, "--concurrency", "2", "--max-tokens", "64")
SMALL = "figlang_mini_metaclue_classify_literal"


class Mumbles(FixedAnswers):
    """Gives the first option plainly, nothing that can be read, or nothing, in turn."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        answers: list[str] = []
        for number, request in enumerate(requests):
            plain_answer, _ = READABLE.get(request.args[4], ("nothing", ""))
            turns = (UNREAD, plain_answer, UNREAD, HOPELESS, *EMPTY)
            answers.append(turns[number % len(turns)])
        return answers


def first_option(prompt: str, pictures: list[Image.Image]) -> str:
    """Reads one of the unread answers as the first option, and the other as none."""
    assert pictures == []
    if HOPELESS in prompt:
        return '{"option": "none"}'
    _, _, options = prompt.partition("Options:\n")
    first_line, _, _ = options.partition("\n")
    label, _, _ = first_line.partition(":")
    return json.dumps({"option": label})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A server whose model reads the first option in unread answers."""
    with JudgeServer(first_option) as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


# --- what is written about a run of the harness ---


@dataclass(frozen=True)
class ReadOnce:
    """A run of the harness before and after a model has read it, and what the command printed."""

    before: Run
    after: Run
    printed: str
    prompts: list[str]


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> ReadOnce:
    """A run over all tasks that a model has read."""
    folder = tmp_path_factory.mktemp("read")
    with pytest.MonkeyPatch.context() as patch, JudgeServer(first_option) as running:
        patch.setenv("FIGLANG_SCORER", "off")
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setenv("OPENAI_BASE_URL", running.url)
        evaluate([*READABLE, LEFT_OUT], Mumbles(), saved=folder / "run", limit=20)
        printed = done("judge", "read", folder / "run", *OPTIONS)
        before = read(str(folder / "run"))
        after = read(str(folder / "run_read"))
        return ReadOnce(before, after, printed, running.prompts)


def values_of(run: Run) -> dict[tuple[str, str, str], float]:
    """All values of a run, by task, metric and scope."""
    values = {}
    for name, task in run.tasks.items():
        for metric, scope, estimate in flat(task.estimates):
            values[name, metric, scope] = estimate.value
    return values


def test_equal_answers_are_asked_once_and_the_cost_is_told(read_once: ReadOnce) -> None:
    assert len(read_once.prompts) == len(set(read_once.prompts))
    unread = 0
    for name in READABLE:
        unread += read_once.after.tasks[name].metadata["read_by_model"]["unread"]
    assert 2 * len(READABLE) <= len(read_once.prompts) < unread / 2
    assert f"{LEFT_OUT}: left out, because its answers choose nothing" in read_once.printed
    count = len(read_once.prompts)
    assert f"{count} requests: {count} tokens read, {count} written\n" in read_once.printed


def test_all_our_values_stay_and_each_main_metric_is_there_once_more(read_once: ReadOnce) -> None:
    before = values_of(read_once.before)
    after = values_of(read_once.after)
    assert before.items() <= after.items()
    new_metrics: dict[str, set[str]] = {}
    for task, metric, _ in after.keys() - before.keys():
        new_metrics.setdefault(task, set()).add(metric)
    assert new_metrics.keys() == HEADLINES.keys()
    for name, metric in HEADLINES.items():
        assert new_metrics[name] == {f"{metric}_read_by_model"}
        table = read_once.after.results["results"][name]
        assert read_once.before.results["results"][name].items() <= table.items()
        by_model = f"{metric}_read_by_model"
        assert table[f"{by_model},none"] == after[name, by_model, OVERALL]
        assert read_once.after.tasks[name].contradictions == ()


@pytest.mark.parametrize("name", READABLE)
def test_a_reading_stands_beside_each_answer_that_we_left(name: str, read_once: ReadOnce) -> None:
    samples_before = read_once.before.tasks[name].samples
    samples_after = read_once.after.tasks[name].samples
    for before, after in zip(samples_before, samples_after, strict=True):
        record = dict(after["sample"])
        reading = record.pop("read_by")
        assert {**after, "sample": record} == before
        (output,) = outputs(before)
        is_left = output in (UNREAD, HOPELESS)
        assert (reading is not None) == is_left
        if reading is not None:
            is_hopeless = output == HOPELESS
            assert reading["model"] == JUDGE_MODEL
            assert reading["status"] == ("none" if is_hopeless else "read")
            assert (reading["value"] is None) == is_hopeless
            assert (reading["fields"] == {}) == is_hopeless


@pytest.mark.parametrize("name", READABLE)
def test_the_counts_of_a_task_are_those_of_its_readings(name: str, read_once: ReadOnce) -> None:
    statuses: list[str] = []
    for sample in read_once.after.tasks[name].samples:
        reading = sample["sample"]["read_by"]
        if reading is not None:
            statuses.append(reading["status"])
    metadata = read_once.after.tasks[name].metadata["read_by_model"]
    assert metadata["unread"] == len(statuses)
    assert metadata["read"] == statuses.count("read") > 0
    assert metadata["none"] == statuses.count("none") > 0
    assert metadata["unreadable"] == metadata["failed"] == 0
    assert metadata["model"] == JUDGE_MODEL
    assert metadata["served_by"] == [f"{JUDGE_MODEL}-2026"]


@pytest.mark.parametrize("name", READABLE)
def test_the_value_is_that_of_a_model_that_says_it_plainly(
    name: str, read_once: ReadOnce, tmp_path: Path
) -> None:
    plain_answer, metric = READABLE[name]
    plain_outputs: dict[int, str] = {}
    for sample in read_once.before.tasks[name].samples:
        plain_outputs[sample["doc_id"]] = outputs(sample)[0].replace(UNREAD, plain_answer)
    samples = sample_lines(name, len(plain_outputs), lambda doc, number: plain_outputs[number])
    plain_run = read(str(write_run(tmp_path / "plain", {name: samples})))
    expected = plain_run.tasks[name].estimates[metric]
    estimates = read_once.after.tasks[name].estimates[f"{metric}_read_by_model"]
    assert estimates.keys() == expected.keys()
    for scope, estimate in estimates.items():
        assert estimate.value == pytest.approx(expected[scope].value)
        assert estimate.rows == expected[scope].rows
        assert estimate.low == pytest.approx(expected[scope].low)
        assert estimate.high == pytest.approx(expected[scope].high)
    if metric != "p@k":  # all pictures of a row are read alike
        ours = read_once.before.tasks[name].estimates[metric]
        assert estimates[OVERALL].value != ours[OVERALL].value


def test_other_commands_take_the_new_run(read_once: ReadOnce, tmp_path: Path) -> None:
    folder = read_once.after.path
    runs = json.loads(done("runs", folder, "--json"))["runs"]
    headlines = {run["task"]: run["metric"] for run in runs}
    assert HEADLINES.items() <= headlines.items()

    sides = (f"one={folder}", f"two={copy_run(folder, tmp_path)}")
    comparison = json.loads(done("compare", *sides, "--metric", "acc_read_by_model", "--json"))
    tasks_with_acc = {name for name, metric in HEADLINES.items() if metric == "acc"}
    assert {difference["task"] for difference in comparison["differences"]} == tasks_with_acc
    for difference in comparison["differences"]:
        assert difference["difference"] == 0
        assert difference["p_randomization"] == 1
    done("report", folder, "-o", tmp_path / "report.html", "--max-samples", "0")
    assert "f1@0_read_by_model" in (tmp_path / "report.html").read_text()


def copy_run(folder: Path, into: Path) -> Path:
    """Copy the files of a run into another folder."""
    for path in folder.iterdir():
        (into / path.name).write_bytes(path.read_bytes())
    return into


def test_with_explanation_scores_f1_at_60_is_read_too(tmp_path: Path, server: JudgeServer) -> None:
    """A label that the model reads counts only if the explanation is good enough, as any other."""
    samples = sample_lines("figlang_mini", 8, lambda doc, number: UNREAD)
    for number, sample in enumerate(samples):
        score = 0.7 if number % 2 else 0.5
        scores = {"scorer": "embedded", "bertscore": score, "mean": score}
        sample["sample"]["explanation_scores"] = scores
    done("judge", "read", write_run(tmp_path / "run", {"figlang_mini": samples}), *OPTIONS)
    task = read(str(tmp_path / "run_read")).tasks["figlang_mini"]
    for number, sample in enumerate(samples):
        sample["sample"]["predicted"] = 1 if number % 2 else 1 - sample["sample"]["gold"]
    expected_run = read(str(write_run(tmp_path / "expected", {"figlang_mini": samples})))
    expected = expected_run.tasks["figlang_mini"].estimates["f1@0"][OVERALL].value
    value = task.estimates["f1@60_read_by_model"][OVERALL].value
    assert value == pytest.approx(expected)
    assert value > 0
    assert "f1@0_read_by_model" not in task.estimates


# --- nothing is asked twice, nothing is lost ---


def small_run(folder: Path, count: int = 12) -> Path:
    """A run of classification: every third answer is unread, each in words of its own."""

    def answer(doc: Mapping[str, Any], number: int) -> str:
        return ("Yes", "No", f"{UNREAD} {number}")[number % 3]

    return write_run(folder, {SMALL: sample_lines(SMALL, count, answer)})


def kept_answers(folder: Path) -> list[dict[str, Any]]:
    """The answers that a folder keeps."""
    _, *answers = (folder / "model_answers.jsonl").read_text().splitlines()
    return [json.loads(answer) for answer in answers]


def run_files(folder: Path) -> dict[str, bytes]:
    """The content of the files of a run by name, without the model's answers."""
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    files.pop("model_answers.jsonl", None)
    return files


def readings_of(folder: Path) -> list[dict[str, Any]]:
    """The model's readings in a run of `small_run`."""
    readings: list[dict[str, Any]] = []
    for record in read(str(folder)).tasks[SMALL].records:
        if record["read_by"] is not None:
            readings.append(record["read_by"])
    return readings


def test_a_second_call_asks_nothing_and_writes_the_same(
    tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")
    first = done("judge", "read", run, *OPTIONS)
    assert "4 requests to judge-1 (equal answers are asked once)" in first
    assert len(server.prompts) == 4
    files = run_files(tmp_path / "run_read")
    second = done("judge", "read", run, *OPTIONS)
    assert "0 requests to judge-1 (equal answers are asked once;" in second
    assert "; 4 answers are kept from before)" in second
    assert len(server.prompts) == 4
    assert run_files(tmp_path / "run_read") == files


def test_a_dry_run_asks_and_writes_nothing(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    prices = ("--price-read", "1000", "--price-written", "10000")
    printed = done("judge", "read", small_run(tmp_path / "run"), *OPTIONS, "--dry-run", *prices)
    assert f"{SMALL}: our readers left 4 of 12 answers\n4 requests to judge-1" in printed
    assert "at most 256 to write; price " in printed
    assert printed.endswith("nothing was asked or written\n")
    assert server.prompts == []
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_price_is_of_the_tokens_that_the_server_reports(
    tmp_path: Path, server: JudgeServer
) -> None:
    prices = ("--price-read", "1000000", "--price-written", "500000")
    printed = done("judge", "read", small_run(tmp_path / "run"), *OPTIONS, *prices)
    assert "4 requests: 4 tokens read, 4 written; price 6.0000" in printed


def test_a_server_that_goes_away_loses_nothing(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run", 30)

    def four_answers(prompt: str, pictures: list[Image.Image]) -> str | None:
        if len(server.prompts) > 4:
            return None
        return first_option(prompt, pictures)

    server.answer = four_answers
    result = figlang("judge", "read", run, "--model", JUDGE_MODEL, "--concurrency", "1")
    assert result.exit_code == 1
    failures = "judge-1: 3 requests failed one after the other, the last with BadRequestError"
    assert failures in result.stderr
    assert "run_read/model_answers.jsonl: run the command again to continue" in result.stderr
    assert "requests: 4 tokens read, 4 written" in result.stderr
    assert [path.name for path in (tmp_path / "run_read").iterdir()] == ["model_answers.jsonl"]
    assert len(kept_answers(tmp_path / "run_read")) == 4

    server.answer = first_option
    server.prompts = []
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 6
    assert len(kept_answers(tmp_path / "run_read")) == 10


def test_single_failures_are_told_and_asked_again(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run")

    def all_answers_but_one(prompt: str, pictures: list[Image.Image]) -> str | None:
        if f"{UNREAD} 5" in prompt:
            return None
        return first_option(prompt, pictures)

    server.answer = all_answers_but_one
    result = figlang("judge", "read", run, *OPTIONS)
    assert result.exit_code == 1
    assert "1 requests failed, the last with BadRequestError: " in result.stderr
    assert "judge-1 read 3 of the 4 answers, could not be asked about 1" in result.stdout
    statuses = [reading["status"] for reading in readings_of(tmp_path / "run_read")]
    assert statuses.count("failed") == 1

    server.answer = first_option
    server.prompts = []
    done("judge", "read", run, *OPTIONS)
    (prompt,) = server.prompts
    assert f"{UNREAD} 5" in prompt
    assert {reading["status"] for reading in readings_of(tmp_path / "run_read")} == {"read"}


def test_without_any_answer_no_run_is_written(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run", 6)
    server.answer = lambda prompt, pictures: None
    result = figlang("judge", "read", run, *OPTIONS)
    assert result.exit_code == 1
    assert "2 requests failed, the last with BadRequestError: " in result.stderr
    assert run_files(tmp_path / "run_read") == {}


def test_rubbish_is_kept_counted_and_not_paid_for_again(
    tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")

    def rubbish(prompt: str, pictures: list[Image.Image]) -> str:
        return '\ud800 \x1b[31m {"option": "C"} {' if "2" in prompt else ""

    server.answer = rubbish
    for count in (4, 0):
        printed = done("judge", "read", run, *OPTIONS)
        assert "judge-1 read 0 of the 4 answers, gave no readable reply to 4" in printed
        assert "\x1b" not in printed
        assert len(server.prompts) == 4
        assert f"{count} requests to judge-1" in printed
    task = read(str(tmp_path / "run_read")).tasks[SMALL]
    assert task.estimates["acc_read_by_model"] == task.estimates["acc"]


def test_a_reply_that_was_cut_short_is_asked_again_with_more_tokens(
    tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")
    server.answer = lambda prompt, pictures: "<think>It says"
    server.finish_reason = "length"
    printed = done("judge", "read", run, *OPTIONS)
    assert "4 replies ended at 64 tokens: ask them again with a larger --max-tokens" in printed
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 4
    server.answer = first_option
    server.finish_reason = "stop"
    done("judge", "read", run, "--model", JUDGE_MODEL, "--max-tokens", "128")
    assert len(server.prompts) == 8
    assert {reading["status"] for reading in readings_of(tmp_path / "run_read")} == {"read"}


def test_a_call_after_a_kill_asks_only_the_answer_that_was_cut(
    tmp_path: Path, server: JudgeServer
) -> None:
    """The last line of the answers may be cut off anywhere."""
    run = small_run(tmp_path / "run")
    done("judge", "read", run, *OPTIONS)
    folder = tmp_path / "run_read"
    files = run_files(folder)
    answers = folder / "model_answers.jsonl"
    answers.write_bytes(answers.read_bytes()[:-30])
    for name in files:
        (folder / name).unlink()
    server.prompts = []
    result = figlang("judge", "read", run, *OPTIONS)
    assert result.exit_code == 0
    assert len(server.prompts) == 1
    assert run_files(folder) == files
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 1


@pytest.mark.slow
def test_a_killed_command_continues(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run", 48)

    def slow_answer(prompt: str, pictures: list[Image.Image]) -> str:
        time.sleep(0.3)
        return first_option(prompt, pictures)

    server.answer = slow_answer
    command = ["figlang", "judge", "read", "run", "--model", JUDGE_MODEL, "--concurrency", "1"]
    process = warm.Process(command, cwd=tmp_path)
    folder = tmp_path / "run_read"

    def has_three_answers() -> bool:
        return (folder / "model_answers.jsonl").exists() and len(kept_answers(folder)) >= 3

    deadline = time.monotonic() + 120
    while not has_three_answers() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    before = len(kept_answers(folder))
    assert 3 <= before < 16
    assert not list(folder.glob("*samples*"))
    server.answer = first_option
    server.prompts = []
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 16 - before
    assert len(kept_answers(folder)) == 16


@dataclass(frozen=True)
class Numbered:
    """A question with a number."""

    number: int
    content: list[dict[str, Any]]


class SlowModel:
    """Answers after a while; the first question at once."""

    model = JUDGE_MODEL

    def ask(self, content: list[dict[str, Any]]) -> ServerReply:
        time.sleep(0.2 * content[0]["number"])
        return ServerReply("said")


def test_an_interrupt_keeps_what_is_on_its_way() -> None:
    numbers: list[int] = []

    def keep(question: Numbered, reply: ServerReply) -> None:
        numbers.append(question.number)
        if question.number == 0:
            raise KeyboardInterrupt

    questions = [Numbered(number, [{"number": number}]) for number in range(6)]
    server: Any = SlowModel()
    with pytest.raises(KeyboardInterrupt):
        ask_all(server, questions, keep, concurrency=3, title="test", kept_in="nowhere")
    assert {0, 1, 2} <= {*numbers}
    assert len(numbers) == len(set(numbers)) < 6


# --- a server that misbehaves ---


@pytest.mark.parametrize(
    "case", [case for case in CASES if len(case.body) < 10_000_000], ids=lambda case: case.name
)
def test_a_reply_of_any_form_is_an_answer_or_an_error(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BodiesServer(lambda prompt: case.body) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        reply = ModelServer(SERVED, 64).ask([{"type": "text", "text": "Which?"}])
        assert len(running.requests) == 1
    if case.text is None:
        assert running.url in reply.error
        assert reply.error.isprintable()
        assert reply.text == ""
    else:
        assert reply.text == case.text
        assert reply.error == ""
        for count in (reply.tokens_read, reply.tokens_written):
            assert count is None or 0 <= count < 100


def test_one_reply_that_is_none_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row of the reply is named, and asked again by the next call."""
    run = small_run(tmp_path / "run")
    good_reply = body({**saying('{"option": "Yes"}'), "usage": "none"})
    other_replies = {
        f"{UNREAD} 5": b"<html>",
        f"{UNREAD} 8": body(saying([{"type": "text", "text": '{"option": "No"}'}])),
    }

    def reply_to(prompt: str) -> bytes:
        for words, reply in other_replies.items():
            if words in prompt:
                return reply
        return good_reply

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BodiesServer(reply_to) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        result = figlang("judge", "read", run, "--model", SERVED, "--concurrency", "1")
        assert result.exit_code == 1
        assert "Traceback" not in result.stderr
        record = read(str(run)).tasks[SMALL].records[5]
        assert "sent no chat completion (it is no JSON)" in result.stderr
        assert f"({SMALL}, row {record['id']})" in result.stderr
        assert len(kept_answers(tmp_path / "run_read")) == 3
        other_replies.clear()
        done("judge", "read", run, "--model", SERVED)
        assert len(running.requests) == 5


# --- mistakes ---


def test_a_run_without_unread_answers_is_written_all_the_same(
    tmp_path: Path, server: JudgeServer
) -> None:
    """So it can be compared with others."""
    samples = sample_lines(SMALL, 4, lambda doc, number: ("Yes", "")[number % 2])
    run = write_run(tmp_path / "run", {SMALL: samples})
    printed = done("judge", "read", run, *OPTIONS)
    assert "nothing is left to ask: our readers have read every answer that has words" in printed
    assert server.prompts == []
    task = read(str(tmp_path / "run_read")).tasks[SMALL]
    assert task.estimates["acc_read_by_model"] == task.estimates["acc"]


OTHER_MODEL = json.dumps({"model": "gpt-9", "samples": {}}) + "\n"
OTHER_RUN = json.dumps({"model": JUDGE_MODEL, "samples": {"x": "1"}}) + "\n"
EXISTS = "run_read exists already and is not overwritten: remove it, or choose another name"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        (
            "run_read/model_answers.jsonl",
            OTHER_MODEL,
            "model_answers.jsonl holds answers of gpt-9, not of judge-1: choose another --output",
        ),
        (
            "run_read/model_answers.jsonl",
            OTHER_RUN,
            "model_answers.jsonl holds answers about another run or sheet: choose another --output",
        ),
        (
            "run_read/model_answers.jsonl",
            "",
            "model_answers.jsonl does not begin with the model that answered: choose another",
        ),
        ("run_read/notes.txt", "mine", EXISTS),
        ("run_read", "mine", EXISTS),
    ],
)
def test_files_are_not_overwritten(
    file: str, content: str, message: str, tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")
    path = tmp_path / file
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    assert message in refused("judge", "read", run, *OPTIONS)
    assert server.prompts == []


def test_other_mistakes(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "run")
    assert "none does not exist" in refused("judge", "read", tmp_path / "none", *OPTIONS)
    task = "figlang_mini_metaclue_caption"
    captions = write_run(tmp_path / "caption", {task: sample_lines(task, 3)})
    message = f"has no task whose answers choose something in words ({task}: its answers choose"
    assert message in refused("judge", "read", captions, *OPTIONS)
    done("judge", "read", run, *OPTIONS)
    message = "a language model has read this run: give the run that it was made from"
    assert message in refused("judge", "read", tmp_path / "run_read", *OPTIONS)
    monkeypatch.delenv("OPENAI_API_KEY")
    result = figlang("judge", "read", run, *OPTIONS, "-o", tmp_path / "new")
    assert result.exit_code == 1
    assert "OPENAI_API_KEY" in result.stderr
    assert not (tmp_path / "new").exists()
