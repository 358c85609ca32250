"""``figlang doctor`` overlooks a version, library or weights that do not work, or names no remedy,
if this fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import doctor

import figlang_tasks

pytestmark = pytest.mark.usefixtures("nothing_set")


def install(folder: Path, name: str, version: str, more: str = "") -> None:
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{more}"
    )


def test_versions_that_do_not_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "lmms-eval", "0.8.1")
    install(tmp_path, "num2words", "0.4.0")  # of an extra
    monkeypatch.syspath_prepend(tmp_path)
    status, found = doctor("versions")
    harness, extra = found["lmms-eval"], found["num2words"]
    assert (status, harness["status"], extra["status"]) == (1, "problem", "warning")
    assert (
        "0.8.1" in harness["text"]
        and "pip install 'lmms-eval" in harness["remedy"]
        and "0.7.3" in harness["remedy"]
    )
    assert "0.4.0" in extra["text"] and "pip install 'num2words>=0.5.10'" in extra["remedy"]


def test_a_check_that_fails_is_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(tmp_path, "figlang-tasks", figlang_tasks.__version__, "Requires-Dist: ==damaged==\n")
    monkeypatch.syspath_prepend(tmp_path)
    status, found = doctor("versions")
    assert status == 1 and "InvalidRequirement" in found["packages"]["text"]


def test_what_lacks_java_is_named_with_our_own_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A run of `figlang_mini_metaclue_caption` ends with status 1."""
    monkeypatch.setenv("PATH", str(tmp_path))
    java = doctor("scorers")[1]["Java"]
    assert java["concerns"] == ["metaclue", "figlang_mini"] and "end with status 1" in java["text"]
    assert (
        "metaclue_caption* and metaclue_vqa*" in java["text"]
        and "install a Java runtime" in java["remedy"]
    )


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
        ("import os, sys\nprint('no libcudart', file=sys.stderr, flush=True)\nos.abort()",
         "libraries", "importing them ended with signal 6: no libcudart", ""),
        (CPU_ONLY, "torchvision",
         "does not import: RuntimeError: operator torchvision::nms does not exist",
         "torch 2.15.0+cpu and torchvision"),
    ],
)  # fmt: skip
def test_libraries_that_do_not_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, torch: str, name: str, text: str, remedy: str
) -> None:
    fake(tmp_path, "torch", torch)
    fake(
        tmp_path, "torchvision", "raise RuntimeError('operator torchvision::nms does not exist')\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    status, found = doctor("libraries")
    assert status == 1 and found[name]["text"] == text and remedy in found[name]["remedy"]


def test_weights_that_are_here_and_that_are_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "BLEURT-20").mkdir()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    status, found = doctor("scorers")
    assert status == 1 and "none of model.safetensors" in found["lucadiliello/BLEURT-20"]["text"]
    (tmp_path / "BLEURT-20" / "model.safetensors").write_bytes(b"")
    status, found = doctor("scorers")
    assert status == 0 and found["lucadiliello/BLEURT-20"]["status"] == "ok"
    missing = found["microsoft/deberta-xlarge-mnli"]
    assert missing["status"] == "warning" and missing["concerns"] == ["nycc", "vflute"]
    assert "figlang data prefetch --scorers" in missing["remedy"]


@pytest.mark.slow
def test_all_of_it_in_a_fresh_interpreter(tmp_path: Path) -> None:
    """What lmms-eval finds of ours is all there, wherever one stands; it ends with what can be
    run.
    """
    fake(tmp_path, "figlang_tasks", "raise SystemExit('not the one that is installed')")
    environment = os.environ | {"FIGLANG_DATA_DIR": str(tmp_path)}
    (tmp_path / "FLUTE").mkdir()
    command = [str(Path(sys.executable).with_name("figlang")), "doctor", "--offline"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0 and "\n0 problem(s)" in done.stdout, done.stdout
    assert "plugin: lmms-eval finds all " in done.stdout
    assert "Can run now: figlang_mini, flute (" in done.stdout  # without a hub
    assert "Cannot run yet: admire, columbus, irfl, metaclue, nycc, nykms, vflute\n" in done.stdout
