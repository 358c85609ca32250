"""Keys and tokens are in no file and no stream that a run, a report or a submission leaves."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import warm
from loguru import logger

from figlang_tasks.core import redaction
from figlang_tasks.core.redaction import HIDDEN

HUB = "hf_" + "SentinelHub" + "0123456789abcdefghij"
API = "sk-proj-SentinelApi-0123456789_abcdefghij"
JUDGE = "SentinelJudge0123456789"
SENTINEL = re.compile(rb"(?i:sentinel)")


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


def run(folder: Path, hub: str, *arguments: str, command: str = "lmms_eval") -> int:
    """Run a command with secrets in the environment; what it says goes into files of the folder, too."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))}
    env |= {"HOME": str(folder), "HF_ENDPOINT": hub, "HF_TOKEN": HUB, "OPENAI_API_KEY": API, "FIGLANG_SCORER": "off"}
    env |= {"FIGLANG_CACHE": str(folder / "cache"), "ANTHROPIC_API_KEY": JUDGE, "OPENAI_API_BASE": f"{hub}/v1"}
    number = len(list(folder.glob("*.stdout")))
    with open(folder / f"{number}.stdout", "w") as out, open(folder / f"{number}.stderr", "w") as err:
        return warm.Process([command, *arguments], cwd=folder, env=env, stdout=out, stderr=err).wait(300)


def leaks(folder: Path) -> list[str]:
    """Files below a folder that hold a secret, with the line."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            lines = path.read_bytes().split(b"\n")
            found += [f"{path.relative_to(folder)}: {line[:300]!r}" for line in lines if SENTINEL.search(line)]
    return found


DOCTOR = ("doctor", "versions", "hub", "scorers")  # the others ask the harness, for many seconds
EVALUATE = ("--tasks", "figlang_mini_flute", "--limit", "2", "--log_samples", "--output_path", "out")


@pytest.mark.slow
def test_a_run_and_what_is_made_of_it(tmp_path: Path, dead_hub: str) -> None:
    arguments = f"seed=1,api_key={API},hub_token={HUB}"  # the class refuses the names it does not know
    assert run(tmp_path, dead_hub, "--model", "figlang_random", "--model_args", arguments, *EVALUATE) != 0
    assert run(tmp_path, dead_hub, "--model", "figlang_random", *EVALUATE) == 0
    (results,) = {path.parent for path in (tmp_path / "out").rglob("*_samples_*.jsonl")}
    assert list(results.glob("*_results.json"))
    for verb in (("report", str(results), "-o", "report.html"), ("data", "status"), DOCTOR, ("tasks",)):
        run(tmp_path, dead_hub, *verb, command="figlang")
    assert (tmp_path / "report.html").is_file()
    # The hub is asked with the token, and refuses.
    assert run(tmp_path, dead_hub, "--model", "figlang_random", "--tasks", "flute", "--limit", "1") != 0
    assert not leaks(tmp_path)


@pytest.mark.slow
def test_an_api_with_its_key_in_the_arguments(tmp_path: Path, dead_hub: str) -> None:
    from judge_server import MODEL, JudgeServer

    with JudgeServer(lambda prompt, pictures: "Entails. They say the same.") as server:
        arguments = f"model_version={MODEL},base_url={server.url},api_key={API}-in-arguments"
        command = ("--model", "figlang_openai", "--model_args", arguments, "--verbosity", "DEBUG", *EVALUATE)
        assert run(tmp_path, dead_hub, *command, "--use_cache", "answers") == 0
        assert len(server.prompts) == 2
    assert HIDDEN.encode() in (tmp_path / "0.stdout").read_bytes()
    assert (tmp_path / "answers" / "figlang_0.db").is_file()
    assert not leaks(tmp_path)


class _Echoes(BaseHTTPRequestHandler):
    """A server that repeats the key that it was sent: in an error to the first request, in answers to the others."""

    asked = 0
    refusals = 1

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        sent = self.headers["Authorization"]
        type(self).asked += 1
        if self.asked <= self.refusals:  # long, so that the harness cuts the key when it cuts the message
            status, message = 400, f"Incorrect key {sent}, {'x' * 100} {sent}"
            content: dict[str, Any] = {"error": {"message": message, "type": "error", "code": "400"}}
        else:
            said = {"role": "assistant", "content": f"Entails. You sent {sent}."}
            status, content = 200, {"id": "0", "object": "chat.completion", "created": 0, "model": "m"}
            content["choices"] = [{"index": 0, "finish_reason": "stop", "message": said}]
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "tasks", "refusals", "key"),
    [
        ("openai", "figlang_mini_flute", 1, API),
        ("figlang_openai", "figlang_mini", 1, "from-the-Sentinel-service1+2/3"),
        ("figlang_openai", "figlang_mini_irfl_match_idiom", 9, "from-the-Sentinel-service1+2/3"),  # ends with an error
    ],
)
def test_a_server_that_repeats_the_key(
    tmp_path: Path, dead_hub: str, model: str, tasks: str, refusals: int, key: str
) -> None:
    handler = type("Handler", (_Echoes,), {"refusals": refusals})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        arguments = f"model_version=m,base_url={url},api_key={key},max_retries=1,num_concurrent=1"
        command = ("--model", model, "--model_args", arguments, "--use_cache", "answers", "--verbosity", "INFO")
        assert run(tmp_path, dead_hub, *command, *EVALUATE[2:], "--tasks", tasks) == 1
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    said = b"".join(path.read_bytes() for path in tmp_path.glob("*.std*"))
    assert said.count(HIDDEN.encode()) >= 2 and b"Incorrect key" in said
    if refusals == 1:
        (samples,) = (tmp_path / "out").rglob("*_samples_*.jsonl")
        lines = samples.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 2 and all(HIDDEN in line for line in lines)
        assert HIDDEN.encode() in (tmp_path / "answers" / "figlang_0.db").read_bytes()
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
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: {HIDDEN}"),
        ("{'authorization': 'Bearer x1'}", f"{{'authorization': {HIDDEN}}}"),
        ("Bearer abcdefgh0123456789", f"Bearer {HIDDEN}"),
        ("https://user:pass@host/v1", f"https://{HIDDEN}@host/v1"),
        ("x-api-key: short, my-own-secret: y", f"x-api-key: {HIDDEN}, my-own-secret: {HIDDEN}"),
        ("--api-key short --password letmein", f"--api-key {HIDDEN} --password {HIDDEN}"),
    ],
)
def test_hidden(clean: None, text: str, shown: str) -> None:
    assert redaction.redacted(text) == shown


_36 = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG3iJ6"
# What services give out: the beginning as they write it, the rest of the length and letters that they use. In two
# pieces, so that no scanner for secrets takes them for real ones.
KEYS = {
    "OpenAI, of a project": ("sk-proj-", f"{_36}_{_36}-T3BlbkFJ{_36}"),
    "Hugging Face": ("hf_", "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),
    "GitHub": ("ghp_", _36),
    "GitHub, fine-grained": ("github_pat_", "11ABCDEFG0aBcDeFgHiJkL_" + _36 + _36[:23]),
    "Google": ("AIza", "SyA1b2C3d4E5f6G7h8I9j0K-l_M2n3O4p5Q"),
    "Google, OAuth": ("ya29.", "a0AfH6SM_" + _36),
    "Amazon": ("AKIA", "IOSFODNN7EXAMPLE"),
    "Perplexity": ("pplx-", "0a1b2c3d" * 6),
}  # fmt: skip


@pytest.mark.parametrize("service", KEYS)
def test_keys_of_well_known_services(clean: None, service: str) -> None:
    """Bare, as an argument under a name that says nothing, in an error of a server, and in what is saved."""
    key = "".join(KEYS[service])
    for text in ("{}", "model=m,extra={},seed=1", "Incorrect key provided: '{}'.", "https://host/v1?k={}&x=1"):
        assert redaction.redacted(text.format(key)) == text.format(HIDDEN)
        assert redaction.redacted({"args": text.format(key)}) == {"args": text.format(HIDDEN)}
        assert redaction.without_secrets([(text.format(key),)]) == [[text.format(HIDDEN)]]


INNOCENT = [
    "model=m,score_key='score',sort_key=name,image_key=images/0,group-by-key=col1,num_key=4",
    "end_token=word,stop_token=<|im_end|>,pad_token=0123456789abcdef,use_auth_token=True,token=none,max_token=1024",
    "keyboard=qwerty,tokenizer=bert-base-uncased-2024,monkey=0123456789abcdef0123,author=someone0123456789",
    "The bearer of bad news; Basic understanding; a Bearer is expected; the key: a hook for a hat",
    "hf_hub_download, hf_transfer, hf_xet_high_performance_mode_enabled_in_this_environment",
    "sk-learn, scikit-learn, sk-learn-compatible-estimators, task-0123456789-abcdefghijklmnop, risk-2024-01-01-of-fire",
    "figlang_mini_irfl_detect_idiom revision=d920d848e21b6aba96e03704b134c546f89b74f4 sha256=" + "0a" * 32,
    "Qwen/Qwen2.5-VL-7B-Instruct, llava-hf/llava-1.5-7b-hf, resnet50_v2, 2026-11-22T05:29:54",
    "git clone https://github.com/ORG/NAME@v1.2.3 and mail someone@example.org",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_words_are_shown(clean: None, text: str) -> None:
    assert redaction.redacted(text) == text
    assert redaction.redacted(text) == text and redaction.without_secrets(text) == text


def test_innocent_settings_are_shown_in_mappings() -> None:
    given = {"score_key": "score", "sort_key": "name", "key": 3, "use_auth_token": True, "pad_token": "<pad>"}
    assert redaction.redacted(given) == given
    assert redaction.redacted({"score_key": "score", "api_key": "x"}) == {"score_key": "score", "api_key": HIDDEN}


@pytest.mark.parametrize("length", [12, 20, 30])
def test_a_secret_that_is_cut_off(clean: None, length: int) -> None:
    """The harness keeps 200 characters of an error."""
    assert redaction.without_secrets(f"refused: {HUB[:length]}") == f"refused: {HIDDEN}"
    assert redaction.redacted(f"refused: {HUB[:length]}. And so on") == f"refused: {HIDDEN}. And so on"
    redaction.remember({"api_key": "from-the-service-1+2/3"})
    assert redaction.without_secrets("refused: from-the-serv") == f"refused: {HIDDEN}"


@pytest.mark.parametrize("placeholder", ["anything", "not-needed", "EMPTY"])
def test_the_placeholder_of_a_local_server_hides_no_word(clean: None, placeholder: str) -> None:
    redaction.remember(f"model=m,api_key={placeholder}")
    assert redaction.without_secrets(f"It is {placeholder} but a kettle.") == f"It is {placeholder} but a kettle."
    assert redaction.redacted(f"api_key={placeholder}") == f"api_key={HIDDEN}"


OWN = "of-a-service-that-nobody-knows"


@pytest.mark.parametrize("given", [f"a=b,api_key={OWN},c=d", {"a": "b", "api_key": OWN}])
def test_arguments_of_a_model_are_remembered(clean: None, given: Any) -> None:
    assert redaction.redacted(f"refused: {OWN}") == f"refused: {OWN}"
    redaction.remember(given)
    assert redaction.redacted(f"refused: {OWN}") == f"refused: {HIDDEN}"
    redaction.remember(None)
    redaction.remember({"key": 3, "api_key": "short"})
    assert redaction.redacted("short 3") == "short 3"


def test_logs_of_every_handler(clean: None) -> None:
    seen: list[str] = []
    redaction.clean_logs()
    handlers = [logger.add(seen.append, format="{message}") for _ in range(2)]
    logger.info("tracker: {}", {"token": HUB})
    logger.opt(colors=True).info("<red>{}</red>", HUB)
    for handler in handlers:
        logger.remove(handler)
    assert len(seen) == 4 and all(HIDDEN in each and HUB not in each for each in seen)
