"""A server that others wrote gives other answers than the same model here, if these tests fail.

The server is ``transformers serve`` with the demo model. How requests fail, and what replies hold
that should not be there, is tested with servers of our own (tests/support/openai_server.py).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import socket
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import warm
from commands import done
from demo_runs import DEMO, answers, evaluate, metrics
from openai_server import without_proxies
from packaging.version import Version
from saved_runs import sample_lines, write_run

from figlang_tasks import FigLangError
from figlang_tasks.mini import DEMO_MODEL_DIR

pytestmark = pytest.mark.slow  # it waits for a server

TASK = "figlang_mini"
LIMIT = 2
MOST_SECONDS_TO_START = 300  # of a machine that does much else


@pytest.fixture(scope="module")
def server_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server, which ends with the last test."""
    if Version(importlib.metadata.version("transformers")).major < 5:
        pytest.skip("transformers 4 serves models by another command")
    if not all(map(importlib.util.find_spec, ("fastapi", "uvicorn"))):
        reason = "transformers serve needs FastAPI and Uvicorn: pip install 'transformers[serving]'"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = ["transformers", "serve", str(DEMO_MODEL_DIR), "--device", "cpu"]
    command += ["--host", "127.0.0.1", "--port", port]
    process = warm.Process(command, cwd=tmp_path_factory.mktemp("server"))
    try:
        wait_until_it_answers(process, f"http://127.0.0.1:{port}/health")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def wait_until_it_answers(process: warm.Process, url: str) -> None:
    """Return when the server of a process answers at an address; fail if the process ended."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + MOST_SECONDS_TO_START
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the server has ended: {process.communicate()}")
        try:
            with opener.open(url, timeout=10):
                return
        except OSError:  # no connection, an error status, or a connection that broke
            time.sleep(0.1)
    pytest.fail(f"no server at {url} after {MOST_SECONDS_TO_START} s")


@pytest.fixture(autouse=True)
def environment(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxies, and the server as the one that ``figlang judge llm`` asks."""
    without_proxies(monkeypatch)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", server_url)


@pytest.fixture(scope="module")
def expected() -> dict:
    """The results of the same model in this process."""
    return evaluate(TASK, "llava_hf", DEMO, limit=LIMIT, gen_kwargs="num_beams=1")


def model_arguments(server_url: str, options: str) -> str:
    """The text after ``--model_args``."""
    return f"model={DEMO_MODEL_DIR},base_url={server_url},api_key=none,max_retries=1,{options}"


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("figlang_openai", "num_concurrent=2"),
        ("openai", "num_concurrent=1"),
        ("async_openai", "num_cpus=1"),
    ],
)
def test_the_answers_are_those_of_the_same_model_in_process(
    model: str, options: str, server_url: str, expected: dict
) -> None:
    results = evaluate(TASK, model, model_arguments(server_url, options), limit=LIMIT)
    assert answers(results, TASK) == answers(expected, TASK)
    assert metrics(results, TASK) == pytest.approx(metrics(expected, TASK), abs=0, nan_ok=True)
    assert "unanswered" not in results["configs"][TASK]["metadata"]


def test_a_score_request_ends_the_run_with_servers_that_answer_it(server_url: str) -> None:
    """The server ignores that it is asked for logprobs, and says so in its own log alone."""
    task = "figlang_mini_irfl_match_idiom"
    model_args = model_arguments(server_url, "num_concurrent=1")
    message = rf"task {task}, doc 0: .*gives no logprobs.*vllm serve"
    with pytest.raises(FigLangError, match=message):
        evaluate(task, "figlang_openai", model_args, limit=1)


def test_a_judge_says_what_the_same_model_says_locally(tmp_path: Path) -> None:
    """It is shown the picture of each row."""
    explanation = "The cage stands for a job.\nLABEL: entailment"
    lines = sample_lines(TASK, LIMIT, lambda doc, number: explanation)
    run = write_run(tmp_path / "run", {TASK: lines})
    judge = ("judge", "llm", run, "--model", DEMO_MODEL_DIR, "--max-tokens", "16")
    printed = done(*judge, "-o", tmp_path / "served.jsonl")
    local = ("--local", "--model-args", "device=cpu")
    done(*judge, *local, "-o", tmp_path / "local.jsonl")
    texts: dict[str, list[str]] = {}
    for name in ("served", "local"):
        _, *kept_answers = (tmp_path / f"{name}.answers.jsonl").read_text().splitlines()
        texts[name] = sorted(json.loads(answer)["text"] for answer in kept_answers)
    assert texts["served"] == texts["local"] and len(texts["served"]) == LIMIT
    assert f"\n{LIMIT} requests: " in printed and "failed requests: 0" in printed
