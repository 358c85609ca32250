"""Keys and tokens are in no file and no stream that a run, a report or a submission leaves."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import warm
from hub_server import HubServer
from loguru import logger
from openai_server import OpenAIServer, Refused, Reply

from figlang_tasks.core import redaction
from figlang_tasks.core.redaction import HIDDEN

HUB = "hf_" + "SentinelHub" + "0123456789abcdefghij"
API = "sk-proj-SentinelApi-0123456789_abcdefghij"
JUDGE = "SentinelJudge0123456789"
SENTINEL = re.compile(rb"(?i:sentinel)")


# --- a real run, with a hub that refuses whatever it is asked ---


@pytest.fixture(scope="module")
def no_hub() -> Iterator[str]:
    with HubServer() as server:
        yield server.url


def run(folder: Path, hub: str, *arguments: str, command: str = "lmms_eval") -> int:
    """Run a command with secrets in the environment, and return its exit status.

    What it prints is written to files of the folder, too.
    """
    env: dict[str, str] = {}
    for name, value in os.environ.items():
        if not name.startswith(("HF_", "HUGGING")):
            env[name] = value
    env |= {
        "HOME": str(folder),
        "HF_ENDPOINT": hub,
        "HF_TOKEN": HUB,
        "OPENAI_API_KEY": API,
        "FIGLANG_SCORER": "off",
        "FIGLANG_CACHE": str(folder / "cache"),
        "ANTHROPIC_API_KEY": JUDGE,
        "OPENAI_API_BASE": f"{hub}/v1",
    }
    number = len(list(folder.glob("*.stdout")))
    with (
        open(folder / f"{number}.stdout", "w") as out,
        open(folder / f"{number}.stderr", "w") as err,
    ):
        return warm.Process(
            [command, *arguments], cwd=folder, env=env, stdout=out, stderr=err
        ).wait(300)


def leaks(folder: Path) -> list[str]:
    """Files below a folder that hold a secret, each with the line."""
    leaking_lines: list[str] = []
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        for line in path.read_bytes().split(b"\n"):
            if SENTINEL.search(line):
                leaking_lines.append(f"{path.relative_to(folder)}: {line[:300]!r}")
    return leaking_lines


DOCTOR = ("doctor", "versions", "hub", "scorers")  # the others ask the harness, for many seconds
EVALUATE = (
    "--tasks",
    "figlang_mini_flute",
    "--limit",
    "2",
    "--log_samples",
    "--output_path",
    "out",
)


@pytest.mark.slow
def test_a_run_and_what_is_made_of_it(tmp_path: Path, no_hub: str) -> None:
    model = ("--model", "figlang_random")
    # The class refuses the names that it does not know.
    arguments = f"seed=1,api_key={API},hub_token={HUB}"
    assert run(tmp_path, no_hub, *model, "--model_args", arguments, *EVALUATE) != 0
    assert run(tmp_path, no_hub, *model, *EVALUATE) == 0
    (results,) = {path.parent for path in (tmp_path / "out").rglob("*_samples_*.jsonl")}
    assert list(results.glob("*_results.json"))
    for verb in (("report", str(results), "-o", "report.html"), DOCTOR, ("tasks",)):
        run(tmp_path, no_hub, *verb, command="figlang")
    assert (tmp_path / "report.html").is_file()
    # The hub is asked with the token, and refuses.
    assert run(tmp_path, no_hub, *model, "--tasks", "flute", "--limit", "1") != 0
    assert not leaks(tmp_path)


class _Echoes(OpenAIServer):
    """A server that repeats the key that it was sent: in an error to the first requests, in answers
    to the others.
    """

    def __init__(self, key: str, refusals: int) -> None:
        """Repeat a key; the first requests, as many as `refusals`, are refused."""
        super().__init__("m")
        self.key = key
        self.refusals = refusals

    def reply(self, body: Mapping[str, Any]) -> Reply:
        """An answer or an error with the key."""
        if len(self.requests) <= self.refusals:
            # Long, so that the harness cuts the key when it cuts the message.
            raise Refused(400, f"Incorrect key Bearer {self.key}, {'x' * 100} Bearer {self.key}")
        return Reply(f"Entails. You sent Bearer {self.key}.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "tasks", "refusals", "key"),
    [
        ("openai", "figlang_mini_flute", 1, API),
        ("figlang_openai", "figlang_mini", 1, "from-the-Sentinel-service1+2/3"),
        # Ends with an error
        ("figlang_openai", "figlang_mini_irfl_match_idiom", 9, "from-the-Sentinel-service1+2/3"),
    ],
)
def test_a_server_that_repeats_the_key(
    tmp_path: Path, no_hub: str, model: str, tasks: str, refusals: int, key: str
) -> None:
    with _Echoes(key, refusals) as server:
        arguments = (
            f"model_version=m,base_url={server.url},api_key={key},max_retries=1,num_concurrent=1"
        )
        command = (
            "--model",
            model,
            "--model_args",
            arguments,
            "--use_cache",
            "answers",
            "--verbosity",
            "DEBUG",
        )
        assert run(tmp_path, no_hub, *command, *EVALUATE[2:], "--tasks", tasks) == 1
    printed = b"".join(path.read_bytes() for path in tmp_path.glob("*.std*"))
    assert printed.count(HIDDEN.encode()) >= 2
    assert b"Incorrect key" in printed
    if refusals == 1:
        (samples,) = (tmp_path / "out").rglob("*_samples_*.jsonl")
        lines = samples.read_text(encoding="utf-8").splitlines()
        assert len(lines) == 2
        assert all(HIDDEN in line for line in lines)
        assert HIDDEN.encode() in (tmp_path / "answers" / "figlang_0.db").read_bytes()
    assert not leaks(tmp_path)


# --- what is hidden ---


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Secrets in the environment alone, and the loggers as they were after the test."""
    monkeypatch.setattr(redaction, "given_secrets", set())
    monkeypatch.setenv("HF_TOKEN", HUB)
    monkeypatch.setenv("MY_SERVICE_API_KEY", JUDGE)
    monkeypatch.setenv("TOKENIZERS_PARALLELISM", "false-and-longer")
    monkeypatch.setenv("PWD", "/the/working/directory")
    before = logger._core.patcher  # type: ignore[attr-defined]
    yield
    logger.configure(patcher=before)


@pytest.mark.parametrize(
    ("text", "redacted_text"),
    [
        (f"token: {HUB}.", f"token: {HIDDEN}."),
        (f"{JUDGE}{JUDGE}", HIDDEN * 2),
        ("pretrained=a,api_key=x,dtype=b", f"pretrained=a,api_key={HIDDEN},dtype=b"),
        ("Authorization: Basic dXNlcjpwYXNz", f"Authorization: {HIDDEN}"),
        ("{'authorization': 'Bearer x1'}", f"{{'authorization': {HIDDEN}}}"),
        ("https://user:pass@host/v1", f"https://{HIDDEN}@host/v1"),
        ("x-api-key: short, my-own-secret: y", f"x-api-key: {HIDDEN}, my-own-secret: {HIDDEN}"),
        ("--api-key short --password letmein", f"--api-key {HIDDEN} --password {HIDDEN}"),
        (
            "https://user:p@ss@host/v1?api_key=a&x=1",
            f"https://{HIDDEN}@host/v1?api_key={HIDDEN}&x=1",
        ),
        (
            "SOME_KEY=x DB_PASS='a b' clientSecret: y",
            f"SOME_KEY={HIDDEN} DB_PASS={HIDDEN} clientSecret: {HIDDEN}",
        ),
        (r'{"api_key": "a\"b, c", "model": "m"}', f'{{"api_key": {HIDDEN}, "model": "m"}}'),
        (
            r"{\"api_key\": \"short\", \"model\": \"m\"}",
            rf"{{\"api_key\": {HIDDEN}, \"model\": \"m\"}}",
        ),
        ("token='cut off, and never clo", f"token={HIDDEN}"),
        (
            "openai_api_key_2=x,api_keys=[a, b],seed=1",
            f"openai_api_key_2={HIDDEN},api_keys={HIDDEN},seed=1",
        ),
        (
            "[(b'Authorization', b'Bearer x1'), (b'Host', b'h')]",
            f"[(b'Authorization', {HIDDEN}), (b'Host', b'h')]",
        ),
        ("refused: Bearer of-somebody-else-1", f"refused: {HIDDEN}"),
        (
            "api_key: |\n  short\napi_keys:\n  - short",
            f"api_key: |\n  {HIDDEN}\napi_keys:\n  - {HIDDEN}",
        ),
        ("api_key=SecretStr('a b'), token=u'a b'", f"api_key={HIDDEN}, token={HIDDEN}"),
        ("api_key => 'a b' api_key := x", f"api_key => {HIDDEN} api_key := {HIDDEN}"),
        ("<api_key>short", f"<api_key>{HIDDEN}"),
        (
            "https://host/v1?key=a&sig=b&x=1&api_key%3Dc",
            f"https://host/v1?key={HIDDEN}&sig={HIDDEN}&x=1&api_key%3D{HIDDEN}",
        ),
        ("refresh_token=x,id_token=x", f"refresh_token={HIDDEN},id_token={HIDDEN}"),
        ("mistral_key=x", f"mistral_key={HIDDEN}"),
        (r"'first line\nMY_KEY=x1, second'", rf"'first line\nMY_KEY={HIDDEN}, second'"),
    ],
)
def test_secrets_are_hidden_and_nothing_else(clean: None, text: str, redacted_text: str) -> None:
    assert redaction.redacted(text) == redacted_text


def test_a_secret_that_begins_another(clean: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shorter first would leave the rest of the longer one."""
    monkeypatch.setenv("FIRST_API_KEY", "of:service")
    monkeypatch.setenv("SECOND_API_KEY", "of:service:1:rest:2")
    assert redaction.redacted("of:service:1:rest:2, of:service") == f"{HIDDEN}, {HIDDEN}"


_36 = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0fG3iJ6"
# What services give out: the beginning as they write it, the rest of the length and letters that
# they use. In two pieces, so that no scanner for secrets takes them for real ones.
KEYS = {
    "OpenAI, of a project": ("sk-proj-", f"{_36}_{_36}-T3BlbkFJ{_36}"),
    "Hugging Face": ("hf_", "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH"),
    "GitHub": ("ghp_", _36),
    "GitHub, fine-grained": ("github_pat_", "11ABCDEFG0aBcDeFgHiJkL_" + _36 + _36[:23]),
    "Google": ("AIza", "SyA1b2C3d4E5f6G7h8I9j0K-l_M2n3O4p5Q"),
    "Slack": ("xoxb-", "123456789012-1234567890123-aBcDeFgHiJkLmNoPqRsTuVwX"),
    "Hugging Face, of a space": ("hf_oauth_", "eyJhbGciOiJFZERTQSJ9"),
    "Cerebras": ("csk-", _36),
    "Amazon": ("AKIA", "IOSFODNN7EXAMPLE"),
    "Amazon, for a session": ("ASIA", "IOSFODNN7EXAMPLE"),
    "a JSON Web Token":
        ("eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NSJ9.dBjftJeZ4CVP-mB92K27uhbUJU1p1r"),
}  # fmt: skip


@pytest.mark.parametrize("service", KEYS)
def test_keys_of_well_known_services(clean: None, service: str) -> None:
    """Bare, as an argument under a name that says nothing, in an error of a server, and in what is
    saved.
    """
    key = "".join(KEYS[service])
    for text in (
        "{}",
        "model=m,extra={},seed=1",
        r"two\n{}",
        "Incorrect key provided: '{}'.",
        "https://host/v1?k={}&x=1",
    ):
        assert redaction.redacted({"args": text.format(key)}) == {"args": text.format(HIDDEN)}
        assert redaction.without_secrets([(text.format(key),)]) == [[text.format(HIDDEN)]]


def test_a_private_key_of_several_lines(clean: None) -> None:
    first_words = "-----BEGIN "
    last_line = "-----END RSA PRIVATE KEY-----"
    text = f"{first_words}RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n{last_line} and so on"
    assert redaction.redacted(text) == f"{first_words}{HIDDEN}{last_line} and so on"


INNOCENT = [
    (
        "Unexpected token: the. Key: a hook, secret: love; PASS: 3; tokens=512, max_tokens: 512,"
        " KEY: acc"
    ),
    "model=m,score_key='score',sort_key=name,image_key=images/0,max_new_tokens=8,tokenizer=t,keyword=k,monkey=1",
    "end_token=word,stop_token=<|im_end|>,pad_token=0123456789abcdef,author=someone0123456789,false-and-longer",
    (
        "The bearer of bad news; Basic understanding; the key: a hook for a hat; hf_hub_download,"
        " hf_transfer"
    ),
    (
        "sk-learn, scikit-learn, sk-learn-compatible-estimators, task-0123456789-abcdefghijklmnop,"
        " risk-2024-01-01-of-fire"
    ),
    "figlang_mini_irfl_detect_idiom revision=d920d848e21b6aba96e03704b134c546f89b74f4 sha256="
    + "0a" * 32,
    "git clone https://github.com/ORG/NAME@v1.2.3 and mail someone@example.org",
]


@pytest.mark.parametrize("text", INNOCENT)
def test_innocent_words_are_shown(clean: None, text: str) -> None:
    assert redaction.redacted(text) == text
    assert redaction.without_secrets(text) == text


def test_values_of_mappings_are_hidden_by_their_keys() -> None:
    arguments = {
        "score_key": "score",
        "key": 3,
        "token": None,
        "api_key": "x",
        "all": [{"hf_token": 7}],
    }
    redacted_arguments = {
        "score_key": "score",
        "key": 3,
        "token": None,
        "api_key": HIDDEN,
        "all": [{"hf_token": HIDDEN}],
    }
    assert redaction.redacted(arguments) == redacted_arguments


@pytest.mark.parametrize("length", [12, 30])
def test_a_secret_that_is_cut_off(clean: None, length: int) -> None:
    """The harness keeps 200 characters of an error."""
    error = f"refused: {HUB[:length]}. And so on"
    assert redaction.without_secrets(error) == f"refused: {HIDDEN}. And so on"


SERVICE_KEY = "from-the-service-1+2/3"


@pytest.mark.parametrize(
    "arguments", [f"a=b,api_key={SERVICE_KEY},c=d", {"a": "b", "api_key": SERVICE_KEY}]
)
def test_arguments_of_a_model_are_remembered(clean: None, arguments: Any) -> None:
    error = f"refused: {SERVICE_KEY}"
    assert redaction.redacted(error) == error
    redaction.remember(arguments)
    assert redaction.redacted(f"{error}, {SERVICE_KEY[:13]}") == f"refused: {HIDDEN}, {HIDDEN}"


@pytest.mark.parametrize("placeholder", ["anything", "short"])
def test_the_placeholder_of_a_local_server_hides_no_word(clean: None, placeholder: str) -> None:
    redaction.remember(None)
    redaction.remember({"key": 3, "api_key": placeholder})
    assert redaction.redacted(f"It is {placeholder} 3") == f"It is {placeholder} 3"
    assert redaction.redacted(f"api_key={placeholder}") == f"api_key={HIDDEN}"
