"""Keys and tokens are in no file and no stream that a run, a report or a submission leaves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from loguru import logger

from figlang_tasks import redaction
from figlang_tasks.redaction import HIDDEN

HUB = "hf_" + "SentinelHub" + "0123456789abcdefghij"
API = "sk-proj-SentinelApi-0123456789_abcdefghij"
JUDGE = "SentinelJudge0123456789"
SENTINEL = re.compile(rb"(?i)sentinel")


# --- a real run, against a server that refuses whatever it is asked ---------------------------------------------------


class _Refuses(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(503)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_POST = do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def dead_hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refuses)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def run(folder: Path, hub: str, *arguments: str, module: str = "figlang_tasks.cli.lmms_eval") -> int:
    """Run a command with secrets in the environment; what it says goes into files of the folder, too."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    env |= {"HOME": str(folder), "HF_ENDPOINT": hub, "HF_TOKEN": HUB, "OPENAI_API_KEY": API, "FIGLANG_SCORER": "off"}
    env |= {"FIGLANG_CACHE": str(folder / "cache"), "ANTHROPIC_API_KEY": JUDGE, "OPENAI_API_BASE": f"{hub}/v1"}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, cwd=folder, env=env, timeout=500)
    (folder / f"{len(list(folder.glob('*.stdout')))}.stdout").write_bytes(done.stdout)
    (folder / f"{len(list(folder.glob('*.stderr')))}.stderr").write_bytes(done.stderr)
    return done.returncode


def leaks(folder: Path) -> list[str]:
    """Files below a folder that hold a secret, with the line."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            lines = path.read_bytes().split(b"\n")
            found += [f"{path.relative_to(folder)}: {line[:300]!r}" for line in lines if SENTINEL.search(line)]
    return found


EVALUATE = ("--tasks", "figlang_mini_flute", "--limit", "2", "--log_samples", "--output_path", "out")


@pytest.mark.slow
def test_a_run_and_what_is_made_of_it(tmp_path: Path, dead_hub: str) -> None:
    arguments = f"seed=1,api_key={API},hub_token={HUB}"  # the class refuses the names it does not know
    assert run(tmp_path, dead_hub, "--model", "figlang_random", "--model_args", arguments, *EVALUATE) != 0
    assert run(tmp_path, dead_hub, "--model", "figlang_random", *EVALUATE) == 0
    (results,) = {path.parent for path in (tmp_path / "out").rglob("*_samples_*.jsonl")}
    assert list(results.glob("*_results.json"))
    for verb in (("report", str(results), "-o", "report.html"), ("data", "status"), ("doctor",), ("tasks",)):
        run(tmp_path, dead_hub, *verb, module="figlang_tasks.cli.figlang")
    assert (tmp_path / "report.html").is_file()
    # The hub is asked with the token, and refuses.
    assert run(tmp_path, dead_hub, "--model", "figlang_random", "--tasks", "flute", "--limit", "1") != 0
    assert not leaks(tmp_path)


@pytest.mark.slow
def test_an_api_with_its_key_in_the_arguments(tmp_path: Path, dead_hub: str) -> None:
    from judge.judge_server import MODEL, JudgeServer

    with JudgeServer(lambda prompt, pictures: "Entails. They say the same.") as server:
        arguments = f"model_version={MODEL},base_url={server.url},api_key={API}-in-arguments"
        command = ("--model", "figlang_openai", "--model_args", arguments, "--verbosity", "DEBUG", *EVALUATE)
        assert run(tmp_path, dead_hub, *command, "--use_cache", "answers") == 0
        assert len(server.prompts) == 2
    assert HIDDEN.encode() in (tmp_path / "0.stdout").read_bytes()
    assert (tmp_path / "answers" / "cache.db").is_file()
    assert not leaks(tmp_path)


# --- what is hidden --------------------------------------------------------------------------------------------------


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(redaction, "_given", set())
    monkeypatch.setenv("HF_TOKEN", HUB)
    monkeypatch.setenv("MY_SERVICE_API_KEY", JUDGE)
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false-and-longer")
    monkeypatch.setenv("PWD", "/the/working/directory")
    before = logger._core.patcher  # type: ignore[attr-defined]
    yield
    logger.configure(patcher=before)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"token: {HUB}.", f"token: {HIDDEN}."),
        (f"{JUDGE}{JUDGE}", HIDDEN * 2),
        ("pretrained=a,api_key=x,dtype=b", f"pretrained=a,api_key={HIDDEN},dtype=b"),
        ("API_KEY=x hub-token=y", f"API_KEY={HIDDEN} hub-token={HIDDEN}"),
        ("max_new_tokens=8,tokenizer=t,keyword=k,monkey=1", "max_new_tokens=8,tokenizer=t,keyword=k,monkey=1"),
        ("false-and-longer", "false-and-longer"),
        ("the key is joy", "the key is joy"),
        ("/the/working/directory/results", "/the/working/directory/results"),
    ],
)
def test_hidden(clean: None, text: str, shown: str) -> None:
    assert redaction.hidden(text) == shown


OWN = "of-a-service-that-nobody-knows"


@pytest.mark.parametrize("given", [f"a=b,api_key={OWN},c=d", {"a": "b", "api_key": OWN}])
def test_arguments_of_a_model_are_remembered(clean: None, given: Any) -> None:
    assert redaction.hidden(f"refused: {OWN}") == f"refused: {OWN}"
    redaction.remember(given)
    assert redaction.hidden(f"refused: {OWN}") == f"refused: {HIDDEN}"
    redaction.remember(None)
    redaction.remember({"key": 3, "api_key": "short"})
    assert redaction.hidden("short 3") == "short 3"


def test_logs_of_every_handler(clean: None) -> None:
    seen: list[str] = []
    logger.configure(patcher=lambda record: record["extra"].update(own=1))
    redaction.hide_in_logs()
    redaction.hide_in_logs()
    handlers = [logger.add(seen.append, format="{message} {extra[own]}") for _ in range(2)]
    logger.info("tracker: {}", {"token": HUB})
    logger.opt(colors=True).info("<red>{}</red>", HUB)
    for handler in handlers:
        logger.remove(handler)
    assert len(seen) == 4 and all(HIDDEN in each and HUB not in each and each.endswith(" 1\n") for each in seen)
