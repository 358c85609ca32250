"""`tools/check_upstream.py`: it passes on the harnesses that are installed, and names what a changed one breaks."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from importlib.util import find_spec
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
PATCH = ROOT / "docs" / "upstream" / "lmms_eval_task_entry_points.patch"

# What a release of a harness could do: (file, before, after), and what the table must say then.
CHANGES = (
    ("lmms_eval/tasks/__init__.py", "def _get_task_and_group(self, task_dir", "def _find_tasks(self, task_dir"),
    ("lmms_eval/tasks/__init__.py", "self._get_task_and_group(", "self._find_tasks("),
    ("lmms_eval/api/instance.py", "    text: str\n", "    content: str\n    role: str\n    text: str\n"),
    ("lmms_eval/api/task.py", 'if "until" not in self.generation_kwargs', 'if not self.generation_kwargs.get("until")'),
    ("lmms_eval/loggers/evaluation_tracker.py", "_samples_{task_name}.jsonl", "_rows_{task_name}.jsonl"),
    ("lmms_eval/__main__.py", "return results, samples", "return results, samples, {}"),
    ("lm_eval/api/metrics.py", "return stderr.get(metric, None)", "return stderr.get(metric, lambda items: 0.0)"),
)


def run(path: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the tool, with a folder in front of what is installed."""
    command = [sys.executable, str(TOOL)]
    if path is None:
        return warm.run(command, cwd=ROOT)
    return warm.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(path)}, harness=False)


def changed_harnesses(folder: Path) -> Path:
    """Copies of the harnesses in which CHANGES are made; what they do not touch is linked."""
    contents: dict[str, str] = {}
    for file, before, after in CHANGES:
        text = contents.get(file) or (source(file).parent / file).read_text(encoding="utf-8")
        assert before in text, f"{file} no longer holds {before!r}: change this test"
        contents[file] = text.replace(before, after)
    for name in ("lmms_eval", "lm_eval"):
        own = {Path(file).parts[1:] for file in contents if file.startswith(f"{name}/")}
        link(source(name), folder / name, own)
    for file, text in contents.items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def source(file: str) -> Path:
    """The folder of the package that a file is of."""
    spec = find_spec(Path(file).parts[0])
    assert spec and spec.origin
    return Path(spec.origin).parent


def link(source: Path, copy: Path, left_out: set[tuple[str, ...]]) -> None:
    """Link what is in a folder, but for files that are left out."""
    copy.mkdir()
    for each in source.iterdir():
        below = {parts[1:] for parts in left_out if parts[0] == each.name}
        if not below:
            (copy / each.name).symlink_to(each)
        elif () not in below:
            link(each, copy / each.name, below)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> dict[str, subprocess.CompletedProcess[str]]:
    """The tool on what is installed and on the changed copy."""
    changed = changed_harnesses(tmp_path_factory.mktemp("changed"))
    with ThreadPoolExecutor(max_workers=2) as pool:
        return dict(zip(("installed", "changed"), pool.map(run, (None, changed)), strict=True))


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
def test_everything_is_as_we_use_it_in_the_installed_versions(
    done: dict[str, subprocess.CompletedProcess[str]],
) -> None:
    found = table(done["installed"].stdout)
    assert {name: each for name, each in found.items() if each[0] != "ok"} == {}
    assert done["installed"].returncode == 0, done["installed"].stderr[-2000:]
    assert len(found) == len(tool().HOOKS) + len(tool().PROBES)
    assert "lmms-eval 0." in done["installed"].stdout and "NOT of these versions" not in done["installed"].stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hook", "status", "detail"),
    [
        ("lmms_eval.tasks:TaskManager._get_task_and_group", "missing", "no TaskManager._get_task_and_group"),
        ("lmms_eval.api.instance:GenerationResult", "changed", "missing a required argument: 'text'"),
        ("lmms_eval.__main__:cli_evaluate_single", "changed", "no longer holds 'return results, samples\\n'"),
        ("tasks of chat and simple models", "changed", "an empty until became"),
        ("a run and its files", "changed", "_rows_probe.jsonl"),
        ("lmms_eval.tasks:TaskManager._get_config", "ok", ""),
        ("a run in lm eval", "changed", "a standard error of a metric of ours is 0.0"),
        ("keys of our text task files are known", "ok", ""),
    ],
)
def test_what_a_changed_harness_breaks_is_named(
    hook: str, status: str, detail: str, done: dict[str, subprocess.CompletedProcess[str]]
) -> None:
    assert done["changed"].returncode == 1, done["changed"].stderr[-2000:]
    found = table(done["changed"].stdout)
    assert found[hook][0] == status, found[hook]
    assert detail in found[hook][1]


# --- what we ask of lmms-eval ----------------------------------------------------------------------------------------

OUR_TASKS_WITHOUT_OUR_HOOK = """
import runpy, sys

from lmms_eval.tasks import TaskManager

from figlang_tasks.harness.task_index import tasks_dir

found = TaskManager().task_index
ours = TaskManager(include_defaults=False, include_path=str(tasks_dir())).task_index
assert {"vflute", "irfl_match", "figlang_mini"} <= set(ours) and set(ours) < set(found)
assert {name: found[name] for name in ours} == ours
assert "figlang_tasks.harness.plugin" not in sys.modules
runpy.run_path("test/eval/test_task_entry_points.py", run_name="__main__")
"""


@pytest.mark.slow
def test_with_our_patch_lmms_eval_finds_our_tasks_without_our_hook(tmp_path: Path) -> None:
    """The patch for lmms-eval, on a copy of the installed version; then the unit tests that it brings.

    Without our hook all its task files take ten seconds each time: some are enough.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        of_other_tasks = [name for name in names if Path(folder, name).is_dir() and not name.startswith(("_", "mm"))]
        return {"__pycache__", *(of_other_tasks if folder == str(source("lmms_eval") / "tasks") else [])}

    shutil.copytree(source("lmms_eval"), tmp_path / "lmms_eval", ignore=left_out)
    applied = subprocess.run(["git", "apply", str(PATCH)], cwd=tmp_path, capture_output=True, text=True)
    assert applied.returncode == 0, (
        f"{PATCH.name} does not apply to lmms-eval {metadata.version('lmms-eval')}: make it anew from that version; "
        "if it has the entry points lmms_eval.tasks by now, use them in place of task_index.initialize_tasks\n"
        f"{applied.stderr}"
    )
    info = tmp_path / "figlang_entry_point-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: figlang-entry-point\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[lmms_eval.tasks]\nours = figlang_tasks.harness.task_index:tasks_dir\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-c", OUR_TASKS_WITHOUT_OUR_HOOK]
    done = warm.run(command, cwd=tmp_path, env=environment, harness=False)
    assert done.returncode == 0 and "Ran 4 tests" in done.stderr, done.stderr[-2000:]


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
