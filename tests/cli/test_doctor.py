"""``figlang doctor``: what is missing is named with its remedy, over real HTTP and in real processes."""

from __future__ import annotations

import importlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hub_server import Fault, HubServer, Response
from huggingface_hub import close_session, constants
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks.cli.figlang import app
from figlang_tasks.core import hub

TOKEN = "hf_a_secret_that_must_not_be_shown"
doctor_module = importlib.import_module("figlang_tasks.cli.doctor")
Findings = dict[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No token, no settings and no cache of whoever runs the tests; the hub's client is not used again."""
    for name in os.environ:
        if name.startswith(("HF_", "HUGGING", "FIGLANG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "scores"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield
    close_session()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub with all our datasets; V-FLUTE is gated, and TOKEN has access to it."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "README.md").write_text("a card")
    with HubServer() as found:
        monkeypatch.setattr(constants, "ENDPOINT", found.url)
        for source in hub.sources().values():
            if source.repository is not None:
                found.add_repo(
                    source.repository,
                    tmp_path / "files",
                    commit=source.revision,
                    gated=source.gated,
                    granted_tokens={TOKEN} if source.gated else (),
                    known_tokens={"hf_of_another_account"},
                )
        yield found


LINE = re.compile(r"  (ok|warning|problem) +(.+?)(?: \[(.+?)\])?: (.*)")


def run(*arguments: str) -> tuple[int, Findings]:
    done = CliRunner().invoke(app, ["doctor", *arguments])
    assert TOKEN not in done.output
    found: Findings = {}
    for line in done.stdout.splitlines():
        if told := LINE.fullmatch(line):
            status, name, concerns, text = told.groups()
            found[name] = {"status": status, "concerns": (concerns or "").split(", "), "text": text, "remedy": ""}
        elif line.startswith("           -> "):
            found[name]["remedy"] = line.strip()
    counts = [sum(each["status"] == status for each in found.values()) for status in ("problem", "warning")]
    assert "{} problem(s), {} warning(s)".format(*counts) in done.stdout
    assert done.exit_code == (1 if counts[0] else 0)
    return done.exit_code, found


@pytest.mark.parametrize(
    ("token", "hub_says", "vflute", "ends"),
    [
        (TOKEN, "the account of the token is tester", ("ok", "not cached; gated, access granted"), 0),
        ("hf_of_another_account", "is tester", ("warning", "not cached; gated, access is not granted"), 0),
        ("", "no token: open datasets alone", ("warning", "not cached; gated, access is not granted"), 0),
        ("hf_wrong", "refuses the token", ("warning", "not cached; the token is refused"), 1),
    ],
)
def test_access(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, token: str, hub_says: str, vflute: tuple[str, str], ends: int
) -> None:
    monkeypatch.setenv("HF_TOKEN", token)
    status, found = run("hub")
    assert status == ends and hub_says in found["hub"]["text"] and "hf_wrong" not in found["hub"]["text"]
    assert (found["V-FLUTE"]["status"], found["V-FLUTE"]["text"]) == vflute
    if "not granted" in vflute[1]:
        assert hub.source("V-FLUTE").page in found["V-FLUTE"]["remedy"] and "HF_TOKEN" in found["V-FLUTE"]["remedy"]
    if not ends:
        assert found["IRFL"]["text"] == "not cached; open" and "data prefetch irfl" in found["IRFL"]["remedy"]
    assert found["MetaCLUE"]["status"] == "warning" and "docs/cards/metaclue.md" in found["MetaCLUE"]["remedy"]
    assert found["NewYorkerCaptionContest"]["concerns"] == ["nykms"]
    assert not any("/resolve/" in request.path for request in server.requests)  # nothing is downloaded


def test_a_dead_server_is_one_problem(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", server.url.replace("//", "//user:swordfish@"))
    server.stop()
    status, found = run("hub")
    assert "swordfish" not in str(found)
    assert status == 1 and "cannot be reached (Connect" in found["hub"]["text"]
    assert "HF_HUB_OFFLINE=1" in found["hub"]["remedy"]
    assert {name for name, each in found.items() if each["status"] == "problem"} == {"hub"}
    assert found["FLUTE"]["text"] == "not cached; the hub cannot be reached"


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_module, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        status, found = run("hub")
    assert status == 1 and "Timeout" in found["hub"]["text"]


@pytest.mark.parametrize(("part", "name"), [("whoami", "hub"), ("V-FLUTE/auth-check", "V-FLUTE")])
def test_a_question_without_an_answer_is_given_up(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, part: str, name: str
) -> None:
    def late(response: Response) -> Response:
        time.sleep(2)
        return response

    server.faults.append(Fault(part, late))
    monkeypatch.setattr(doctor_module, "TIMEOUT", 0.5)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    status, found = run("hub")
    assert status == 1 and "Timeout" in found[name]["text"]


def test_offline_is_no_error(server: HubServer) -> None:
    status, found = run("hub", "--offline")
    assert status == 0 and "offline" in found["hub"]["text"]
    assert found["IRFL"]["status"] == "warning" and "$FIGLANG_DATA_DIR/IRFL" in found["IRFL"]["remedy"]
    assert server.requests == []


def test_a_pin_that_does_not_exist(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_REVISION_IRFL", "0" * 40)
    status, found = run("hub")
    assert status == 1 and "0" * 40 in found["IRFL"]["text"] and "FIGLANG_REVISION_IRFL" in found["IRFL"]["remedy"]


def test_local_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data" / "NYK-MS").mkdir(parents=True)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "data"))
    found = run("hub", "--offline")[1]
    assert found["NYK-MS"]["text"] == f"in {tmp_path / 'data' / 'NYK-MS'}"
    assert found["MetaCLUE"]["status"] == "warning"
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "typo"))
    status, found = run("hub", "--offline")
    assert status == 1 and "typo is not a folder" in found[hub.DATA_DIR_VARIABLE]["text"]


def install(folder: Path, name: str, version: str, more: str = "") -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}")


@pytest.mark.parametrize(
    ("name", "version", "status", "remedy"),
    [
        ("lmms-eval", "0.8.1", "problem", "0.7.3"),
        ("num2words", "0.4.0", "warning", ">=0.5.10"),  # an extra
    ],
)
def test_a_version_that_does_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, version: str, status: str, remedy: str
) -> None:
    install(tmp_path, name, version)
    monkeypatch.syspath_prepend(tmp_path)
    ends, found = run("versions")
    assert (ends, found[name]["status"]) == (int(status == "problem"), status)
    assert version in found[name]["text"] and "pip install" in found[name]["remedy"] and remedy in found[name]["remedy"]


def test_a_check_that_fails_is_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "figlang-tasks", figlang_tasks.__version__, "Requires-Dist: ==damaged==\n")
    monkeypatch.syspath_prepend(tmp_path)
    status, found = run("versions")
    assert status == 1 and "InvalidRequirement" in found["packages"]["text"]


def test_what_lacks_java_is_named_with_our_own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run of `figlang_mini_metaclue_caption` ends with status 1."""
    monkeypatch.setenv("PATH", str(tmp_path))
    java = run("scorers")[1]["Java"]
    assert java["concerns"] == ["metaclue", "figlang_mini"] and "end with status 1" in java["text"]
    assert "metaclue_caption* and metaclue_vqa*" in java["text"] and "install a Java runtime" in java["remedy"]


def fake(folder: Path, name: str, code: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(code)


CPU_ONLY = """
__version__ = "2.15.0+cpu"
class version: cuda = None
class cuda:
    is_available = staticmethod(lambda: False)
    device_count = staticmethod(lambda: 0)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("torch", "name", "text", "remedy"),
    [
        ("import os, sys\nprint('no libcudart', file=sys.stderr, flush=True)\nos.abort()", "libraries",
         "importing them ended with signal 6: no libcudart", ""),
        (CPU_ONLY, "torchvision", "does not import: RuntimeError: operator torchvision::nms does not exist",
         "torch 2.15.0+cpu and torchvision"),
    ],
)  # fmt: skip
def test_libraries_that_do_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torch: str, name: str, text: str, remedy: str
) -> None:
    fake(tmp_path, "torch", torch)
    fake(tmp_path, "torchvision", "raise RuntimeError('operator torchvision::nms does not exist')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, found = run("libraries")
    assert status == 1 and found[name]["text"] == text and remedy in found[name]["remedy"]


def test_weights_that_are_here_and_that_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "BLEURT-20").mkdir()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    status, found = run("scorers")
    assert status == 1 and "none of model.safetensors" in found["lucadiliello/BLEURT-20"]["text"]
    (tmp_path / "BLEURT-20" / "model.safetensors").write_bytes(b"")
    status, found = run("scorers")
    assert status == 0 and found["lucadiliello/BLEURT-20"]["status"] == "ok"
    missing = found["microsoft/deberta-xlarge-mnli"]
    assert missing["status"] == "warning" and missing["concerns"] == ["nycc", "vflute"]
    assert "figlang data prefetch --scorers" in missing["remedy"]


DOCTOR = [str(Path(sys.executable).with_name("figlang")), "doctor", "--offline"]


@pytest.mark.slow
def test_all_of_it_in_a_fresh_interpreter(tmp_path: Path) -> None:
    """What lmms-eval finds of ours is all there, wherever one stands; it ends with what can be run."""
    fake(tmp_path, "figlang_tasks", "raise SystemExit('not the one that is installed')")
    environment = os.environ | {"FIGLANG_DATA_DIR": str(tmp_path)}
    (tmp_path / "FLUTE").mkdir()
    done = subprocess.run(DOCTOR, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0 and "\n0 problem(s)" in done.stdout, done.stdout
    assert "plugin: lmms-eval finds all " in done.stdout
    assert "Can run now: figlang_mini, flute (" in done.stdout  # without a hub
    assert "Cannot run yet: admire, columbus, irfl, metaclue, nycc, nykms, vflute\n" in done.stdout
