"""The harness's own API classes answer our tasks as the same model in this process does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import warm
from commands import logged_warnings
from demo_runs import DEMO, answers, evaluate, metrics, mini_tasks
from openai_server import OpenAIServer, without_proxies

from figlang_tasks import FigLangError
from figlang_tasks.core import notes
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.results.runs import read
from figlang_tasks.submit import check_answers

pytestmark = pytest.mark.slow  # it waits for a server

TASK = "figlang_mini"
LIMIT = 2


@pytest.fixture(scope="module")
def expected() -> dict:
    return evaluate(TASK, "llava_hf", DEMO, limit=LIMIT, gen_kwargs="num_beams=1")


def model_arguments(server: OpenAIServer, options: str) -> str:
    """The text after ``--model_args`` for a server."""
    return f"model={server.name},base_url={server.url},api_key=none,retry_backoff_s=0.1,{options}"


def run_command(
    server: OpenAIServer, folder: Path, options: Sequence[str]
) -> subprocess.CompletedProcess[str]:
    """Run ``lmms_eval`` on two documents, with its results in a folder."""
    model_args = model_arguments(server, "num_concurrent=1,max_retries=1")
    command = ["lmms_eval", "--tasks", TASK, "--limit", "2", "--model", "openai"]
    command += ["--model_args", model_args, "--output_path", str(folder), *options]
    return warm.run(command, cwd=folder)


# The faults come in a row, so that the OpenAI client (two retries of its own) gives up twice and
# the harness has to try again.
@pytest.mark.parametrize("server", [["429"] * 3 + ["drop"] * 3], indirect=True)
@pytest.mark.parametrize(
    ("model", "options"), [("openai", "num_concurrent=1"), ("async_openai", "num_cpus=1")]
)
def test_the_answers_are_those_of_the_same_model_in_process(
    model: str, options: str, server: OpenAIServer, expected: dict
) -> None:
    results = evaluate(TASK, model, model_arguments(server, options), limit=LIMIT)
    assert answers(results, TASK) == answers(expected, TASK)
    assert metrics(results, TASK) == pytest.approx(metrics(expected, TASK), abs=0, nan_ok=True)
    assert [request.status for request in server.requests] == [429] * 3 + [None] * 3 + [200] * LIMIT
    sent = server.requests[-1].body
    assert (sent["max_tokens"], sent["temperature"]) == (256, 0)
    assert [part["type"] for part in sent["messages"][0]["content"]] == ["image_url", "text"]


@pytest.mark.parametrize(
    ("model", "name", "images"),
    [
        ("async_openai", "mini_2shot", [3, 3]),
        # Not async_openai: it gives the same answers, but sends most requests twice
        # (docs/models.md).
        ("openai", "mini_sg", [1, 1, 1, 1]),
    ],
)
def test_several_pictures_and_two_rounds_are_answered_as_in_process(
    model: str, name: str, images: list[int], server: OpenAIServer
) -> None:
    settings: dict = {
        "include_path": mini_tasks(),
        "limit": 2,
        "gen_kwargs": "num_beams=1,max_new_tokens=30",
    }
    in_process = evaluate(name, "llava_hf", DEMO, **settings)
    by_server = evaluate(name, model, model_arguments(server, "timeout=600"), **settings)
    assert answers(by_server, name) == answers(in_process, name)
    assert [request.images for request in server.requests] == images


# The client asks three times, the harness once
@pytest.mark.parametrize("server", [["429"] * 3], indirect=True)
@pytest.mark.parametrize("model", ["figlang_openai", "async_openai"])
def test_a_request_that_fails_to_the_end_is_a_failure_and_is_asked_again(
    model: str, server: OpenAIServer, expected: dict, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    notes.take_failures()
    concurrent = "num_cpus=1" if model == "async_openai" else "num_concurrent=1"
    model_args = model_arguments(server, f"{concurrent},max_retries=1")
    settings: dict = {"limit": LIMIT, "use_cache": str(tmp_path / "cache")}
    results = evaluate(TASK, model, model_args, **settings)
    # The harness (0.7.3) takes its own words for the model's answer.
    failed_docs: list[int] = []
    for doc, answer in answers(results, TASK).items():
        if answer.startswith("[LMMS_EVAL_REQUEST_FAILED"):
            failed_docs.append(doc)
    (failed_doc,) = failed_docs
    assert results["samples"][TASK][failed_doc]["sample"]["status"] == "empty"
    assert results["configs"][TASK]["metadata"]["unanswered"] == 1
    assert notes.take_failures() == [
        f"{TASK}: requests got no answer and count as wrong, see the log"
    ]
    assert any("type the same command again" in message for message in warnings_of_loguru)

    request_count = len(server.requests)
    results = evaluate(TASK, model, model_args, **settings)
    assert len(server.requests) == request_count + 1
    assert answers(results, TASK) == answers(expected, TASK)
    assert "unanswered" not in results["configs"][TASK]["metadata"]
    assert not notes.take_failures()


# --- answers that say nothing, and refusals ---

CONTENTS: list[dict] = [
    {"content": None},
    {"content": ""},
    {"content": " \n"},
    {"content": 5},
    {"content": [{"type": "text", "text": "Yes."}]},
    {"content": "Yes \ud83d"},
    {"content": None, "refusal": "I can't help with that."},
]
NO_ANSWERS = 4
REFUSAL = "[FIGLANG_REFUSED: refusal] I can't help with that."


class LoggedRun(NamedTuple):
    """A run on a server.

    Attributes:
        results: the results of the harness.
        samples: the text of its samples file.
        request_count: how many requests the server had got when it ended, of earlier runs too.
        warnings: all warnings that it logged, one a line.
        failures: what it reported as failed.
    """

    results: dict
    samples: str
    request_count: int
    warnings: str
    failures: list[str]

    @property
    def metadata(self) -> dict:
        return dict(self.results["configs"][TASK]["metadata"])


class RepeatedRun(NamedTuple):
    """A run whose server answers with `CONTENTS`, and the same command again, with its cache."""

    first: LoggedRun
    second: LoggedRun


@pytest.fixture(scope="module", params=["figlang_openai", "async_openai", "openai"])
def repeated_run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> RepeatedRun:
    """The two runs of a class of models."""
    model: str = request.param
    folder = tmp_path_factory.mktemp(model)
    concurrent = "num_cpus=1" if model == "async_openai" else "num_concurrent=1"
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(DEMO_MODEL_DIR, CONTENTS) as server:
        without_proxies(patch)
        model_args = model_arguments(server, concurrent)

        def run(saved: Path) -> LoggedRun:
            """Evaluate the model, and collect what the run reports."""
            notes.take_failures()  # forgets those of earlier runs
            with logged_warnings() as warnings:
                results = evaluate(
                    TASK,
                    model,
                    model_args,
                    saved=saved,
                    limit=len(CONTENTS),
                    use_cache=str(folder / "cache"),
                )
            (path,) = saved.rglob(f"*_samples_{TASK}.jsonl")
            samples = path.read_text(encoding="utf-8")
            failures = notes.take_failures()
            return LoggedRun(results, samples, len(server.requests), "\n".join(warnings), failures)

        return RepeatedRun(first=run(folder / "run"), second=run(folder / "again"))


def test_an_answer_is_a_text_or_a_refusal(repeated_run: RepeatedRun) -> None:
    texts: list[str] = []
    for text in answers(repeated_run.first.results, TASK).values():
        if not notes.is_no_answer(text):
            texts.append(text)
    assert sorted(texts) == sorted(["Yes.", "Yes \ufffd", REFUSAL])


def test_the_record_of_a_refusal_says_that_it_is_one(repeated_run: RepeatedRun) -> None:
    refused_records: list[dict] = []
    for sample in repeated_run.first.results["samples"][TASK]:
        if sample["resps"][0][0] == REFUSAL:
            refused_records.append(sample["sample"])
    (record,) = refused_records
    reading = (record["status"], record["rule"], record["predicted"])
    assert reading == ("refused", "refusal", None)


def test_no_answer_is_not_tried_again_within_a_run(repeated_run: RepeatedRun) -> None:
    """The answer would be the same."""
    run = repeated_run.first
    assert run.request_count == len(CONTENTS)
    assert run.samples.count("\n") == len(CONTENTS)


def test_the_user_hears_of_missing_refused_and_damaged_answers(repeated_run: RepeatedRun) -> None:
    run = repeated_run.first
    assert "stands for half of a surrogate pair" in run.warnings
    assert "1 answers were refused by the server" in run.warnings
    assert f"{TASK}: {NO_ANSWERS} requests got no answer, that of row " in run.warnings
    assert (run.metadata["unanswered"], run.metadata["refused"]) == (NO_ANSWERS, 1)
    assert run.failures == [f"{TASK}: requests got no answer and count as wrong, see the log"]


def test_the_same_command_asks_again_what_got_no_answer_and_nothing_else(
    repeated_run: RepeatedRun,
) -> None:
    run = repeated_run.second
    assert run.request_count == len(CONTENTS) + NO_ANSWERS
    assert REFUSAL in answers(run.results, TASK).values()


def test_a_run_with_a_refusal_alone_has_not_failed(repeated_run: RepeatedRun) -> None:
    run = repeated_run.second
    assert run.metadata["refused"] == 1
    assert "unanswered" not in run.metadata
    assert run.failures == []


# --- the command ---


@pytest.mark.parametrize(
    ("server", "options"),
    [
        (["429"] * 100, ("--log_samples",)),
        ([{"content": ""}] * 2, ("--log_samples",)),
        # The first request is answered, and spends all tokens.
        ([], ("--max_tokens", "1", "--force_simple")),
    ],
    ids=["refused", "empty", "budget"],
    indirect=["server"],
)
def test_a_command_without_all_answers_ends_with_status_1(
    options: tuple[str, ...], server: OpenAIServer, tmp_path: Path
) -> None:
    done = run_command(server, tmp_path, options)
    assert done.returncode == 1, done.stderr[-2000:]
    (path,) = tmp_path.rglob("*_results.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    if "--max_tokens" in options:
        assert "--max_tokens is spent" in done.stdout + done.stderr
        assert results["usage"]["budget_exceeded"] is True  # Run.partial
    else:
        assert results["configs"][TASK]["metadata"]["unanswered"] == 2
        assert "requests got no answer and count as wrong" in done.stdout + done.stderr


@pytest.mark.parametrize(
    "server", [[{"content": None, "refusal": "I can't help with that."}] * 2], indirect=True
)
def test_a_command_whose_answers_are_refused_ends_with_status_0(
    server: OpenAIServer, tmp_path: Path
) -> None:
    done = run_command(server, tmp_path, ["--log_samples"])
    assert done.returncode == 0, done.stderr[-2000:]
    (task,) = read(str(tmp_path)).tasks.values()
    assert [record["status"] for record in task.records] == ["refused"] * 2
    assert not task.unanswered
    check_answers(replace(task, partial=""))  # it can be submitted


@pytest.mark.parametrize("server", [["hang"] * 100], indirect=True)
def test_a_request_of_figlang_openai_has_a_time_limit(server: OpenAIServer) -> None:
    model_args = model_arguments(server, "num_concurrent=1,max_retries=1,timeout=0.3")
    results = evaluate(TASK, "figlang_openai", model_args, limit=1)
    assert results["configs"][TASK]["metadata"]["unanswered"] == 1
    assert notes.take_failures() == [
        f"{TASK}: requests got no answer and count as wrong, see the log"
    ]
    score_task = "figlang_mini_irfl_match_idiom"
    with pytest.raises(FigLangError, match=rf"task {score_task}, doc 0: .*timed out.*"):
        evaluate(score_task, "figlang_openai", model_args, limit=1)
