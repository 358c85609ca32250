"""`tools/check_upstream.py`: it passes on the harnesses that are installed; other versions are told."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.testing
import warm

from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.tasks import folder
from figlang_tasks.harness import versions

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "check_upstream.py"


def table(printed: str) -> dict[str, tuple[str, str]]:
    """Status and detail by hook."""
    found: dict[str, tuple[str, str]] = {}
    name = ""
    for line in printed.splitlines():
        status, _, rest = line.partition(" ")
        if status in ("ok", "changed", "missing"):
            name = rest.strip().rsplit("  ", 1)[0].strip()
            found[name] = (status, "")
        elif line.startswith("         ") and name:
            found[name] = (found[name][0], line.strip())
    return found


@pytest.mark.slow
def test_everything_is_as_we_use_it_in_the_installed_versions() -> None:
    done = warm.run([sys.executable, str(TOOL)], cwd=ROOT)
    found = table(done.stdout)
    assert {name: each for name, each in found.items() if each[0] != "ok"} == {}
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(found) == len(tool().HOOKS) + len(tool().PROBES)
    assert "lmms-eval 0." in done.stdout and "NOT of these versions" not in done.stdout


# --- other versions at run time --------------------------------------------------------------------------------------


def installed(site: Path, name: str, number: str) -> Path:
    """A folder whose metadata say that a harness is there in some version, and figlang_tasks as it is declared."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    declared = re.findall(r'^  "(lm(?:ms)?-eval[^"]*)",', project, re.MULTILINE)
    assert len(declared) == 2
    ours = "".join(f"Requires-Dist: {each}\n" for each in declared)
    for package, version, more in ((name, number, ""), ("figlang-tasks", "0.1.0", ours)):
        info = site / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n{more}")
    return site


@pytest.mark.parametrize(
    ("name", "number", "known"),
    [
        *(("lmms-eval", number, True) for number in ("0.7.3", "0.7.9")),
        *(("lmms-eval", number, False) for number in ("0.7.2", "0.8.0", "0.8.0rc1")),
        *(("lm-eval", number, True) for number in ("0.4.13", "0.4.20")),
        *(("lm-eval", number, False) for number in ("0.4.12", "0.5.0.dev1", "0.5.0")),
    ],
)
def test_a_version_that_is_not_declared_is_named_with_what_to_do(
    name: str, number: str, known: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(installed(tmp_path, name, number)))
    message = versions.unknown_harness(name)
    # What `lm_eval --include_path "$(figlang tasks --path lm_eval)"` shows before lm-eval fails.
    harness: Any = name.replace("-", "_")
    asked = typer.testing.CliRunner().invoke(app, ["tasks", "--path", harness])
    assert asked.exit_code == 0 and asked.stdout == f"{folder(harness)}\n"
    if known:
        assert message is None and asked.stderr == ""
    else:
        assert message and f"and {number} is installed" in message
        assert "tools/check_upstream.py" in message and f"pip install '{name}" in message
        assert message in asked.stderr


# --- the list is complete --------------------------------------------------------------------------------------------


def tool() -> ModuleType:
    from importlib.util import module_from_spec, spec_from_file_location

    if "check_upstream" not in sys.modules:
        spec = spec_from_file_location("check_upstream", TOOL)
        assert spec and spec.loader
        sys.modules["check_upstream"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["check_upstream"])
    return sys.modules["check_upstream"]


def imported(path: Path) -> set[str]:
    """What a file imports from the harnesses, as ``module:name`` or ``module``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("lmms_eval", "lm_eval"):
            found |= {f"{node.module}:{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] in ("lmms_eval", "lm_eval")}
    return found


def listed() -> set[str]:
    """All beginnings of the names in the list: of ``a.b:C.d`` also ``a.b:C``, ``a:b``, ``a.b`` and ``a``."""
    found = set()
    for hook in tool().HOOKS:
        module, _, qualified = hook.name.partition(":")
        parts = qualified.split(".")
        found |= {f"{module}:{'.'.join(parts[: count + 1])}" for count in range(len(parts))}
        names = module.split(".")
        found |= {".".join(names[: count + 1]) for count in range(len(names))}
        found |= {":".join((".".join(names[:count]), names[count])) for count in range(1, len(names))}
    return found


def test_everything_that_we_import_from_a_harness_is_in_the_list() -> None:
    files = [path for folder in ("figlang_tasks", "metrics") for path in (ROOT / folder).rglob("*.py")]
    used = {name: path.name for path in files for name in imported(path)}
    assert len(used) > 20
    assert {name: file for name, file in used.items() if name not in listed()} == {}
