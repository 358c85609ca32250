"""The harness's own API classes answer our tasks as the same model in this process does."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import warm
from demo_runs import DEMO, answers, evaluate, metrics, mini_tasks
from openai_server import OpenAIServer

from figlang_tasks import FigLangError
from figlang_tasks.core import notes
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


@pytest.mark.parametrize("server", [CONTENTS], indirect=True)
@pytest.mark.parametrize("model", ["figlang_openai", "async_openai", "openai"])
def test_what_says_nothing_is_no_answer_and_a_refusal_is_one(
    model: str, server: OpenAIServer, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    notes.take_failures()
    model_args = model_arguments(
        server, "num_cpus=1" if model == "async_openai" else "num_concurrent=1"
    )
    settings: dict = {"limit": len(CONTENTS), "use_cache": str(tmp_path / "cache")}
    results = evaluate(TASK, model, model_args, saved=tmp_path / "run", **settings)
    # None is tried again at once: it would be the same
    assert len(server.requests) == len(CONTENTS)
    texts = [text for text in answers(results, TASK).values() if not notes.is_no_answer(text)]
    refusal = "[FIGLANG_REFUSED: refusal] I can't help with that."
    assert sorted(texts) == sorted(["Yes.", "Yes \ufffd", refusal])
    warnings = "\n".join(warnings_of_loguru)
    assert "stands for half of a surrogate pair" in warnings
    assert "1 answers were refused by the server" in warnings
    assert f"{TASK}: {NO_ANSWERS} requests got no answer, that of row " in warnings
    metadata = results["configs"][TASK]["metadata"]
    assert (metadata["unanswered"], metadata["refused"]) == (NO_ANSWERS, 1)
    assert notes.take_failures() == [
        f"{TASK}: requests got no answer and count as wrong, see the log"
    ]
    records = [
        sample["sample"] for sample in results["samples"][TASK] if sample["resps"][0][0] == refusal
    ]
    (record,) = records
    reading = (record["status"], record["rule"], record["predicted"])
    assert reading == ("refused", "refusal", None)
    (path,) = tmp_path.rglob(f"*_samples_{TASK}.jsonl")
    assert path.read_text(encoding="utf-8").count("\n") == len(CONTENTS)

    # What got no answer is asked again, and nothing else; a run with a refusal alone has not
    # failed.
    results = evaluate(TASK, model, model_args, saved=tmp_path / "again", **settings)
    assert len(server.requests) == len(CONTENTS) + NO_ANSWERS
    assert refusal in answers(results, TASK).values()
    metadata = results["configs"][TASK]["metadata"]
    assert metadata["refused"] == 1
    assert "unanswered" not in metadata
    assert notes.take_failures() == []


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
