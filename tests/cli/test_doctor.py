"""``figlang doctor`` finds versions, libraries, weights and Java that do not work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import doctor

import figlang_tasks

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("nothing_set")


def install(folder: Path, name: str, version: str, requirements: str = "") -> None:
    """Make a folder look as if a package was installed in it."""
    metadata_folder = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    metadata_folder.mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requirements}"
    (metadata_folder / "METADATA").write_text(text)


def test_versions_that_do_not_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "lmms-eval", "0.8.1")
    install(tmp_path, "num2words", "0.4.0")  # This one belongs to an extra.
    monkeypatch.syspath_prepend(tmp_path)
    status, findings = doctor("versions")
    assert status == 1
    harness = findings["lmms-eval"]
    assert harness["status"] == "problem"
    assert "0.8.1" in harness["text"]
    assert "pip install 'lmms-eval" in harness["remedy"]
    assert "0.7.3" in harness["remedy"]
    extra = findings["num2words"]
    assert extra["status"] == "warning"
    assert "0.4.0" in extra["text"]
    assert "pip install 'num2words>=0.5.10'" in extra["remedy"]


def test_versions_that_are_newer_than_what_was_tested(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tested = {}
    for line in (ROOT / "figlang_tasks" / "constraints.txt").read_text().splitlines():
        name, version = line.split("==")
        tested[name] = version
    same_but_for_the_build = f"{tested['torch']}+cu132"
    install(tmp_path, "torch", same_but_for_the_build)
    install(tmp_path, "huggingface-hub", tested["huggingface_hub"])
    install(tmp_path, "transformers", "99.0.0")
    install(tmp_path, "datasets", "4.0.0")
    install(tmp_path, "vllm", "99.0.0")
    monkeypatch.syspath_prepend(tmp_path)
    status, findings = doctor("versions")
    newer = findings["newer than tested"]
    assert (status, newer["status"]) == (0, "ok")
    named = f", {newer['text']}"
    assert f", transformers 99.0.0 (tested: {tested['transformers']})" in named
    for name in ("torch", "huggingface-hub", "datasets", "vllm"):
        assert f", {name} " not in named


def test_a_check_that_fails_is_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "figlang-tasks", figlang_tasks.__version__, "Requires-Dist: ==damaged==\n")
    monkeypatch.syspath_prepend(tmp_path)
    status, findings = doctor("versions")
    assert status == 1
    assert "InvalidRequirement" in findings["packages"]["text"]


def test_without_java_the_benchmarks_that_need_it_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The demo is one of them: a run of `figlang_mini_metaclue_caption` ends with status 1."""
    monkeypatch.setenv("PATH", str(tmp_path))
    _, findings = doctor("scorers")
    java = findings["Java"]
    assert java["concerns"] == ["metaclue", "figlang_mini"]
    assert "end with status 1" in java["text"]
    assert "metaclue_caption* and metaclue_vqa*" in java["text"]
    assert "install a Java runtime" in java["remedy"]


def write_module(folder: Path, name: str, code: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(code)


CRASHES = "import os, sys\nprint('no libcudart', file=sys.stderr, flush=True)\nos.abort()"
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
        (CRASHES, "libraries", "importing them ended with signal 6: no libcudart", ""),
        (
            CPU_ONLY,
            "torchvision",
            "does not import: RuntimeError: operator torchvision::nms does not exist",
            "torch 2.15.0+cpu and torchvision",
        ),
    ],
)
def test_libraries_that_do_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torch: str, name: str, text: str, remedy: str
) -> None:
    torchvision = "raise RuntimeError('operator torchvision::nms does not exist')\n"
    write_module(tmp_path, "torch", torch)
    write_module(tmp_path, "torchvision", torchvision)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, findings = doctor("libraries", "--deep")
    assert status == 1
    assert findings[name]["text"] == text
    assert remedy in findings[name]["remedy"]


def test_weights_that_are_here_and_that_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "BLEURT-20").mkdir()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    status, findings = doctor("scorers")
    assert status == 1
    assert "none of model.safetensors" in findings["lucadiliello/BLEURT-20"]["text"]
    (tmp_path / "BLEURT-20" / "model.safetensors").write_bytes(b"")
    status, findings = doctor("scorers")
    assert status == 0
    assert findings["lucadiliello/BLEURT-20"]["status"] == "ok"
    missing = findings["microsoft/deberta-xlarge-mnli"]
    assert missing["status"] == "warning"
    assert missing["concerns"] == ["nycc", "vflute"]
    assert "figlang data prefetch --scorers" in missing["remedy"]


def write_driver(folder: Path, name: str) -> None:
    """Write a command that answers as ``nvidia-smi`` does on a machine with this GPU."""
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\necho '{name}'\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("torch", "expected_status"), [("2.15.0+cpu", "warning"), ("2.15.0+cu132", "ok")]
)
def test_a_torch_that_cannot_use_the_gpu(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torch: str, expected_status: str
) -> None:
    write_driver(tmp_path, "NVIDIA H200")
    install(tmp_path, "torch", torch)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    status, findings = doctor("libraries")
    assert status == 0
    assert findings["torch"]["status"] == expected_status
    assert f"{torch} is installed; this machine has " in findings["torch"]["text"]
    assert "NVIDIA" in findings["torch"]["text"]


WITHOUT_LIBRARIES = """
import sys
from figlang_tasks.cli.figlang import app
app(["doctor", "--offline"], standalone_mode=False)
print("imported:", *{"torch", "transformers", "datasets", "lmms_eval", "pandas"} & {*sys.modules})
"""


def test_without_deep_no_library_is_imported(tmp_path: Path) -> None:
    """They take 20 seconds; what was checked before stands there meanwhile."""
    command = [sys.executable, "-c", WITHOUT_LIBRARIES]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ended.stdout.endswith("\nimported:\n"), ended.stderr
    assert "`figlang doctor --deep`" in ended.stdout


SLOW_TORCH = "import time\nprint('torch', flush=True)\ntime.sleep(60)\n"


@pytest.mark.slow
def test_a_line_appears_as_soon_as_its_check_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also if the output is no terminal, and while libraries are imported."""
    write_module(tmp_path, "torchvision", SLOW_TORCH)
    write_module(tmp_path, "torch", CPU_ONLY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    command = [sys.executable, "-m", "figlang_tasks.cli.figlang", "doctor", "libraries", "--deep"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(2)]
        is_running = process.poll() is None
        process.terminate()
    assert lines[0] == "libraries\n"
    assert lines[1].startswith("  ok       torch: 2.15.0+cpu, built with no CUDA")
    assert is_running


@pytest.mark.long
def test_all_of_it_in_a_fresh_interpreter(tmp_path: Path) -> None:
    """lmms-eval finds all our tasks from any folder; the last lines say what can be run."""
    write_module(tmp_path, "figlang_tasks", "raise SystemExit('not the one that is installed')")
    environment = os.environ | {"FIGLANG_DATA_DIR": str(tmp_path)}
    (tmp_path / "FLUTE").mkdir()
    (tmp_path / "FLUTE" / "train.jsonl").touch()
    command = [str(Path(sys.executable).with_name("figlang")), "doctor", "--offline", "--deep"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert ended.returncode == 0, ended.stdout
    assert "\n0 problem(s)" in ended.stdout
    assert "plugin: lmms-eval finds all " in ended.stdout
    assert "Can run now: figlang_mini, flute (" in ended.stdout  # without a hub
    lacking = "admire, ciibench, columbus, humordb, irfl, metaclue, nycc, nykms, vflute, yesbut"
    assert f"Cannot run yet: {lacking}\n" in ended.stdout
