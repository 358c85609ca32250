"""If these fail, a model's readings change our numbers or count wrongly, or its answers are lost or
paid for twice.
"""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import warm
from commands import done, figlang, refused
from demo_runs import Says, evaluate
from judge_server import MODEL, JudgeServer
from misbehaving_replies import CASES, Case, body, saying
from misbehaving_replies import MODEL as SERVED
from openai_server import BodiesServer
from PIL import Image
from report_runs import lines_of, write_run

from figlang_tasks.judge.server import ModelServer, ask_all
from figlang_tasks.judge.server import Reply as ServerReply
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run, outputs
from figlang_tasks.scoring import OVERALL, flat

# By task: a plain answer that chooses the first of the options, and the main metric without
# explanation scores.
READABLE = {
    "figlang_mini": ("LABEL: entailment", "f1@0"),
    "figlang_mini_flute": ("Entails.", "acc@0"),
    "figlang_mini_irfl_detect_idiom": ("A", "acc"),
    "figlang_mini_irfl_retrieve_metaphor": ("Yes", "p@k"),
    "figlang_mini_metaclue_classify_literal": ("Yes", "acc"),
    "figlang_mini_metaclue_retrieve_swap": ("1", "p@1"),
    "figlang_mini_nykms_metaphor": ("1. Yes", "mc_macro_f1"),
}
LEFT_OUT = "figlang_mini_metaclue_localize"
UNREAD = "Hm, let me look again."
HOPELESS = "Well, well."
EMPTY = ("", "<think>It may be the first one")
OPTIONS = ("--model", MODEL, "--concurrency", "2", "--max-tokens", "64")
SMALL = "figlang_mini_metaclue_classify_literal"


class Mumbles(Says):
    """Gives the first option plainly, nothing that can be read, or nothing, in turn."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        said = []
        for place, request in enumerate(requests):
            plain, _ = READABLE.get(request.args[4], ("nothing", ""))
            said.append((UNREAD, plain, UNREAD, HOPELESS, *EMPTY)[place % 6])
        return said


def first_option(prompt: str, pictures: list[Image.Image]) -> str:
    """Reads one of the unread answers as the first option, and the other as none."""
    assert pictures == []
    if HOPELESS in prompt:
        return '{"option": "none"}'
    options = prompt.partition("Options:\n")[2]
    label = options.partition("\n")[0].partition(":")[0]
    return json.dumps({"option": label})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with JudgeServer(first_option) as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


# --- what is written of a run of the harness ---


@dataclass(frozen=True)
class ReadOnce:
    """A run of the harness before and after a model has read it, and what the command printed."""

    before: Run
    after: Run
    printed: str
    prompts: list[str]


@pytest.fixture(scope="module")
def read_once(tmp_path_factory: pytest.TempPathFactory) -> ReadOnce:
    folder = tmp_path_factory.mktemp("read")
    with pytest.MonkeyPatch.context() as patch, JudgeServer(first_option) as running:
        patch.setenv("FIGLANG_SCORER", "off")
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setenv("OPENAI_BASE_URL", running.url)
        evaluate([*READABLE, LEFT_OUT], Mumbles(), saved=folder / "run", limit=20)
        printed = done("judge", "read", folder / "run", *OPTIONS)
        return ReadOnce(
            read(str(folder / "run")), read(str(folder / "run_read")), printed, running.prompts
        )


def values_of(run: Run) -> dict[tuple[str, str, str], float]:
    """All values of a run, by task, metric and scope."""
    values = {}
    for name, task in run.tasks.items():
        for metric, scope, estimate in flat(task.estimates):
            values[name, metric, scope] = estimate.value
    return values


def test_equal_answers_are_asked_once_and_the_cost_is_told(read_once: ReadOnce) -> None:
    assert len(read_once.prompts) == len(set(read_once.prompts))
    unread = sum(
        read_once.after.tasks[name].metadata["read_by_model"]["unread"] for name in READABLE
    )
    assert 2 * len(READABLE) <= len(read_once.prompts) < unread / 2
    assert f"{LEFT_OUT}: left out, because its answers choose nothing" in read_once.printed
    count = len(read_once.prompts)
    assert f"{count} requests: {count} tokens read, {count} written\n" in read_once.printed


def test_all_our_values_stay_and_each_main_metric_is_there_once_more(read_once: ReadOnce) -> None:
    before, after = values_of(read_once.before), values_of(read_once.after)
    assert before.items() <= after.items()
    metrics = {place[:2] for place in after.keys() - before.keys()}
    assert metrics == {(name, f"{metric}_read_by_model") for name, (_, metric) in READABLE.items()}
    for name, (_, metric) in READABLE.items():
        table = read_once.after.results["results"][name]
        assert read_once.before.results["results"][name].items() <= table.items()
        assert (
            table[f"{metric}_read_by_model,none"] == after[name, f"{metric}_read_by_model", OVERALL]
        )
        assert read_once.after.tasks[name].contradictions == ()


@pytest.mark.parametrize("name", READABLE)
def test_readings_stand_beside_ours(name: str, read_once: ReadOnce) -> None:
    statuses = []
    for before, after in zip(
        read_once.before.tasks[name].samples, read_once.after.tasks[name].samples, strict=True
    ):
        reading = after["sample"]["read_by"]
        without = {field: value for field, value in after["sample"].items() if field != "read_by"}
        assert {**after, "sample": without} == before
        (output,) = outputs(before)
        is_asked = output in (UNREAD, HOPELESS)
        assert (reading is not None) == is_asked
        if reading is not None:
            assert (reading["model"], reading["status"]) == (
                MODEL,
                "none" if output == HOPELESS else "read",
            )
            assert (reading["value"] is None) == (reading["fields"] == {}) == (output == HOPELESS)
            statuses.append(reading["status"])
    about = read_once.after.tasks[name].metadata["read_by_model"]
    expected = {
        "unread": len(statuses),
        "read": statuses.count("read"),
        "none": statuses.count("none"),
    }
    assert expected.items() <= about.items() and about["read"] and about["none"]
    assert (about["model"], about["served_by"], about["unreadable"], about["failed"]) == (
        MODEL,
        [f"{MODEL}-2026"],
        0,
        0,
    )


@pytest.mark.parametrize("name", READABLE)
def test_the_value_is_that_of_a_model_that_says_it_plainly(
    name: str, read_once: ReadOnce, tmp_path: Path
) -> None:
    plain, metric = READABLE[name]
    lines = read_once.before.tasks[name].samples
    by_number = {line["doc_id"]: outputs(line)[0].replace(UNREAD, plain) for line in lines}
    written = write_run(
        tmp_path / "plain",
        {name: lines_of(name, len(lines), lambda doc, number: by_number[number])},
    )
    expected = read(str(written)).tasks[name].estimates[metric]
    estimates = read_once.after.tasks[name].estimates[f"{metric}_read_by_model"]
    assert estimates.keys() == expected.keys()
    for scope, estimate in expected.items():
        mine = estimates[scope]
        assert (mine.value, mine.rows) == (pytest.approx(estimate.value), estimate.rows)
        assert (mine.low, mine.high) == (pytest.approx(estimate.low), pytest.approx(estimate.high))
    if metric != "p@k":  # all pictures of a row are read alike
        assert (
            estimates[OVERALL].value
            != read_once.before.tasks[name].estimates[metric][OVERALL].value
        )


def test_other_commands_take_the_new_run(read_once: ReadOnce, tmp_path: Path) -> None:
    folder = read_once.after.path
    lines = json.loads(done("runs", folder, "--json"))["runs"]
    assert {line["task"]: line["metric"] for line in lines if line["task"] in READABLE} == {
        name: metric for name, (_, metric) in READABLE.items()
    }
    metric = ("--metric", "acc_read_by_model")
    compared = json.loads(
        done("compare", f"one={folder}", f"two={_copy(folder, tmp_path)}", *metric, "--json")
    )
    assert {each["task"] for each in compared["differences"]} == {
        name for name, (_, m) in READABLE.items() if m == "acc"
    }
    assert all(
        each["difference"] == 0 and each["p_randomization"] == 1 for each in compared["differences"]
    )
    done("report", folder, "-o", tmp_path / "report.html", "--max-samples", "0")
    assert "f1@0_read_by_model" in (tmp_path / "report.html").read_text()


def _copy(folder: Path, into: Path) -> Path:
    """The same run in another place."""
    for path in folder.iterdir():
        (into / path.name).write_bytes(path.read_bytes())
    return into


def test_with_explanation_scores_f1_at_60_is_read_too(tmp_path: Path, server: JudgeServer) -> None:
    """A label that the model reads counts only where the explanation is good enough, as any
    other.
    """
    lines = lines_of("figlang_mini", 8, lambda doc, number: UNREAD)
    for number, line in enumerate(lines):
        score = 0.7 if number % 2 else 0.5
        line["sample"]["explanation_scores"] = {
            "scorer": "embedded",
            "bertscore": score,
            "mean": score,
        }
    done("judge", "read", write_run(tmp_path / "run", {"figlang_mini": lines}), *OPTIONS)
    task = read(str(tmp_path / "run_read")).tasks["figlang_mini"]
    for number, line in enumerate(lines):
        line["sample"]["predicted"] = 1 if number % 2 else 1 - line["sample"]["gold"]
    expected = read(str(write_run(tmp_path / "expected", {"figlang_mini": lines}))).tasks[
        "figlang_mini"
    ]
    value = task.estimates["f1@60_read_by_model"][OVERALL].value
    assert value == pytest.approx(expected.estimates["f1@0"][OVERALL].value) and value > 0
    assert "f1@0_read_by_model" not in task.estimates


# --- nothing is asked twice, nothing is lost ---


def small_run(folder: Path, count: int = 12) -> Path:
    """A run of classification: every third answer is unread, each in words of its own."""

    def answer(doc: Mapping[str, Any], number: int) -> str:
        return ("Yes", "No", f"{UNREAD} {number}")[number % 3]

    return write_run(folder, {SMALL: lines_of(SMALL, count, answer)})


def kept(folder: Path) -> list[dict[str, Any]]:
    """The answers that a folder keeps."""
    return [
        json.loads(line) for line in (folder / "model_answers.jsonl").read_text().splitlines()[1:]
    ]


def written(folder: Path) -> dict[str, bytes]:
    """The files of a run, without the model's answers."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.name != "model_answers.jsonl"
    }


def test_a_second_call_asks_nothing_and_writes_the_same(
    tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")
    first = done("judge", "read", run, *OPTIONS)
    assert (
        "4 requests to judge-1 (equal answers are asked once)" in first and len(server.prompts) == 4
    )
    files = written(tmp_path / "run_read")
    second = done("judge", "read", run, *OPTIONS)
    assert (
        "0 requests to judge-1 (equal answers are asked once; 4 answers are kept from before)"
        in second
    )
    assert len(server.prompts) == 4 and written(tmp_path / "run_read") == files


def test_a_dry_run_asks_and_writes_nothing(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    prices = ("--price-read", "1000", "--price-written", "10000")
    printed = done("judge", "read", small_run(tmp_path / "run"), *OPTIONS, "--dry-run", *prices)
    assert f"{SMALL}: our readers left 4 of 12 answers\n4 requests to judge-1" in printed
    assert "at most 256 to write; price " in printed and printed.endswith(
        "nothing was asked or written\n"
    )
    assert server.prompts == [] and [path.name for path in tmp_path.iterdir()] == ["run"]


def test_the_price_is_of_the_tokens_that_the_server_reports(
    tmp_path: Path, server: JudgeServer
) -> None:
    prices = ("--price-read", "1000000", "--price-written", "500000")
    printed = done("judge", "read", small_run(tmp_path / "run"), *OPTIONS, *prices)
    assert "4 requests: 4 tokens read, 4 written; price 6.0000" in printed


def test_a_server_that_goes_away_loses_nothing(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run", 30)
    server.answer = lambda prompt, pictures: (
        first_option(prompt, pictures) if len(server.prompts) <= 4 else None
    )
    result = figlang("judge", "read", run, "--model", MODEL, "--concurrency", "1")
    assert result.exit_code == 1
    assert (
        "judge-1: 3 requests failed one after the other, the last with BadRequestError"
        in result.stderr
    )
    assert "run_read/model_answers.jsonl: run the command again to continue" in result.stderr
    assert "requests: 4 tokens read, 4 written" in result.stderr
    assert [path.name for path in (tmp_path / "run_read").iterdir()] == ["model_answers.jsonl"]
    assert len(kept(tmp_path / "run_read")) == 4

    server.answer, server.prompts = first_option, []
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 6 and len(kept(tmp_path / "run_read")) == 10


def test_single_failures_are_told_and_asked_again(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run")
    server.answer = lambda prompt, pictures: (
        None if f"{UNREAD} 5" in prompt else first_option(prompt, pictures)
    )
    result = figlang("judge", "read", run, *OPTIONS)
    assert result.exit_code == 1
    assert "1 requests failed, the last with BadRequestError: " in result.stderr
    assert "judge-1 read 3 of the 4 answers, could not be asked about 1" in result.stdout
    before = read(str(tmp_path / "run_read")).tasks[SMALL]
    assert [record["read_by"]["status"] for record in before.records if record["read_by"]].count(
        "failed"
    ) == 1

    server.answer, server.prompts = first_option, []
    done("judge", "read", run, *OPTIONS)
    (prompt,) = server.prompts
    assert f"{UNREAD} 5" in prompt
    after = read(str(tmp_path / "run_read")).tasks[SMALL]
    assert {record["read_by"]["status"] for record in after.records if record["read_by"]} == {
        "read"
    }


def test_without_any_answer_no_run_is_written(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run", 6)
    server.answer = lambda prompt, pictures: None
    result = figlang("judge", "read", run, *OPTIONS)
    assert (
        result.exit_code == 1
        and "2 requests failed, the last with BadRequestError: " in result.stderr
    )
    assert written(tmp_path / "run_read") == {}


def test_rubbish_is_kept_counted_and_not_paid_for_again(
    tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")
    server.answer = lambda prompt, pictures: (
        '\ud800 \x1b[31m {"option": "C"} {' if "2" in prompt else ""
    )
    for count in (4, 0):
        printed = done("judge", "read", run, *OPTIONS)
        assert (
            "judge-1 read 0 of the 4 answers, gave no readable reply to 4" in printed
            and "\x1b" not in printed
        )
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
    server.answer, server.finish_reason = first_option, "stop"
    done("judge", "read", run, "--model", MODEL, "--max-tokens", "128")
    assert len(server.prompts) == 8
    task = read(str(tmp_path / "run_read")).tasks[SMALL]
    assert {record["read_by"]["status"] for record in task.records if record["read_by"]} == {"read"}


def test_what_a_kill_leaves_is_taken_up(tmp_path: Path, server: JudgeServer) -> None:
    """The last line may be cut off anywhere: that answer alone is asked again."""
    run = small_run(tmp_path / "run")
    done("judge", "read", run, *OPTIONS)
    files, answers = written(tmp_path / "run_read"), tmp_path / "run_read" / "model_answers.jsonl"
    answers.write_bytes(answers.read_bytes()[:-30])
    for name in files:
        (tmp_path / "run_read" / name).unlink()
    server.prompts = []
    result = figlang("judge", "read", run, *OPTIONS)
    assert result.exit_code == 0 and len(server.prompts) == 1
    assert written(tmp_path / "run_read") == files
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 1


@pytest.mark.slow
def test_a_killed_command_continues(tmp_path: Path, server: JudgeServer) -> None:
    run = small_run(tmp_path / "run", 48)

    def slow_answer(prompt: str, pictures: list[Image.Image]) -> str:
        time.sleep(0.3)
        return first_option(prompt, pictures)

    server.answer = slow_answer
    process = warm.Process(
        ["figlang", "judge", "read", "run", "--model", MODEL, "--concurrency", "1"], cwd=tmp_path
    )
    answers = tmp_path / "run_read" / "model_answers.jsonl"
    deadline = time.monotonic() + 120
    while not (answers.exists() and len(kept(answers.parent)) >= 3) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    before = len(kept(answers.parent))
    assert 3 <= before < 16 and not list(answers.parent.glob("*samples*"))
    server.answer, server.prompts = first_option, []
    done("judge", "read", run, *OPTIONS)
    assert len(server.prompts) == 16 - before and len(kept(answers.parent)) == 16


@dataclass(frozen=True)
class Numbered:
    """A question with a number."""

    number: int
    content: list[dict[str, Any]]


class SlowModel:
    """Answers after a while; the first question at once."""

    model = MODEL

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
    assert {0, 1, 2} <= {*numbers} and len(numbers) == len(set(numbers)) < 6


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
        assert running.url in reply.error and reply.error.isprintable() and reply.text == ""
    else:
        assert (reply.text, reply.error) == (case.text, "")
        for count in (reply.tokens_read, reply.tokens_written):
            assert count is None or 0 <= count < 100


def test_one_reply_that_is_none_costs_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row is named, and asked again by the next call."""
    run = small_run(tmp_path / "run")
    good = body({**saying('{"option": "Yes"}'), "usage": "none"})
    replies = {
        f"{UNREAD} 5": b"<html>",
        f"{UNREAD} 8": body(saying([{"type": "text", "text": '{"option": "No"}'}])),
    }

    def choose(prompt: str) -> bytes:
        return next((reply for words, reply in replies.items() if words in prompt), good)

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with BodiesServer(choose) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        result = figlang("judge", "read", run, "--model", SERVED, "--concurrency", "1")
        assert result.exit_code == 1 and "Traceback" not in result.stderr
        record = read(str(run)).tasks[SMALL].records[5]
        assert "sent no chat completion (it is no JSON)" in result.stderr
        assert f"({SMALL}, row {record['id']})" in result.stderr
        assert len(kept(tmp_path / "run_read")) == 3
        replies.clear()
        done("judge", "read", run, "--model", SERVED)
        assert len(running.requests) == 5


# --- what cannot be done is one line ---


def test_everything_was_read(tmp_path: Path, server: JudgeServer) -> None:
    """The run is written all the same, so that it can be compared with others."""
    run = write_run(
        tmp_path / "run", {SMALL: lines_of(SMALL, 4, lambda doc, number: ("Yes", "")[number % 2])}
    )
    printed = done("judge", "read", run, *OPTIONS)
    assert "nothing is left to ask: our readers have read every answer that has words" in printed
    assert server.prompts == []
    task = read(str(tmp_path / "run_read")).tasks[SMALL]
    assert task.estimates["acc_read_by_model"] == task.estimates["acc"]


Change = Callable[[Path], None]


def _of_another_model(folder: Path) -> None:
    (folder / "run_read").mkdir()
    (folder / "run_read" / "model_answers.jsonl").write_text('{"model": "gpt-9", "samples": {}}\n')


def _of_another_run(folder: Path) -> None:
    (folder / "run_read").mkdir()
    (folder / "run_read" / "model_answers.jsonl").write_text(
        f'{{"model": "{MODEL}", "samples": {{"x": "1"}}}}\n'
    )


def _something_else(folder: Path) -> None:
    (folder / "run_read").mkdir()
    (folder / "run_read" / "notes.txt").write_text("mine")


def _a_file(folder: Path) -> None:
    (folder / "run_read").write_text("mine")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            _of_another_model,
            "model_answers.jsonl holds answers of gpt-9, not of judge-1: choose another --output",
        ),
        (
            _of_another_run,
            "model_answers.jsonl holds answers about another run: choose another --output",
        ),
        (
            _something_else,
            "run_read exists already and is not overwritten: remove it, or choose another --output",
        ),
        (
            _a_file,
            "run_read exists already and is not overwritten: remove it, or choose another --output",
        ),
    ],
)
def test_what_is_there_is_not_overwritten(
    change: Change, message: str, tmp_path: Path, server: JudgeServer
) -> None:
    run = small_run(tmp_path / "run")
    change(tmp_path)
    assert message in refused("judge", "read", run, *OPTIONS)
    assert server.prompts == []


def test_other_mistakes(
    tmp_path: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = small_run(tmp_path / "run")
    assert "none does not exist" in refused("judge", "read", tmp_path / "none", *OPTIONS)
    caption = write_run(
        tmp_path / "caption",
        {"figlang_mini_metaclue_caption": lines_of("figlang_mini_metaclue_caption", 3)},
    )
    message = (
        "has no task whose answers choose something in words (figlang_mini_metaclue_caption: its"
        " answers choose"
    )
    assert message in refused("judge", "read", caption, *OPTIONS)
    done("judge", "read", run, *OPTIONS)
    message = "a language model has read this run: give the run that it was made from"
    assert message in refused("judge", "read", tmp_path / "run_read", *OPTIONS)
    monkeypatch.delenv("OPENAI_API_KEY")
    result = figlang("judge", "read", run, *OPTIONS, "-o", tmp_path / "new")
    assert (
        result.exit_code == 1
        and "OPENAI_API_KEY" in result.stderr
        and not (tmp_path / "new").exists()
    )
