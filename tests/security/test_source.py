"""What the source may not do: run text as code, unpickle, trust code of others, go through a shell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for folder in ("figlang_tasks", "metrics", "tools", "benchmarks") for path in (ROOT / folder).rglob("*.py")
)

BUILT_IN = {"eval", "exec", "compile", "__import__"}
MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "joblib", "telnetlib"}
# Functions that unpickle, run code or go through a shell, by the end of their dotted name.
CALLS = {
    "os.system", "os.popen", "yaml.load_all", "yaml.unsafe_load", "yaml.full_load", "subprocess.getoutput",
    "subprocess.getstatusoutput", "tarfile.open", "read_pickle", "pd.eval", "pandas.eval", "hub.load",
    "extractall", "tempfile.mktemp",
}  # fmt: skip
ENDS = {call.rpartition(".")[2] for call in CALLS}
# What is known and harmless: file -> what is called there.
KNOWN = {
    "figlang_tasks/harness/task_index.py": {"yaml.full_load"},  # of a file that the harness was about to read so
    "tools/mutants.py": {"compile"},  # to see whether a mutant is Python; what runs it is pytest
}


def dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def dangers(source: str) -> Iterator[str]:
    """What in a source is not allowed, each with its line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"{node.lineno}: import {name}" for name in names if name.split(".")[0] in MODULES)
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            given = [*node.args.posonlyargs, *node.args.args]
            defaults: list[tuple[ast.arg, ast.expr | None]] = [
                *zip(reversed(given), reversed(node.args.defaults), strict=False)
            ]
            defaults += [pair for pair in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if pair[1]]
            for name, default in defaults:
                if name.arg in ("trust_remote_code", "allow_pickle", "shell") and not _is(default, False):
                    yield f"{node.lineno}: {name.arg} is not False by default"
        if isinstance(node, ast.Call):
            yield from (f"{node.lineno}: {what}" for what in _of_call(node))


def _of_call(node: ast.Call) -> Iterator[str]:
    name = dotted(node.func)
    last = name.rpartition(".")[2]
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if name in BUILT_IN:
        yield name
    if last in ENDS:
        yield from (call for call in CALLS if name == call or name.endswith(f".{call}"))
    if name == "torch.load" and not _is(keywords.get("weights_only"), True):
        yield "torch.load without weights_only=True"
    # A loader of our own that derives from yaml.SafeLoader is checked by its own test.
    if name == "yaml.load" and "Loader" not in keywords:
        yield "yaml.load without a loader"
    if name in ("np.load", "numpy.load") and not _is(keywords.get("allow_pickle", ast.Constant(False)), False):
        yield "numpy.load with allow_pickle"
    for option in ("shell", "trust_remote_code", "allow_pickle"):
        if _is(keywords.get(option), True):
            yield f"{option}=True"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_file_runs_text_or_unpickles(path: Path) -> None:
    name = path.relative_to(ROOT).as_posix()
    found = [
        what for what in dangers(path.read_text(encoding="utf-8")) if what.split(": ")[1] not in KNOWN.get(name, ())
    ]
    assert not found


@pytest.mark.parametrize(
    "source",
    [
        "eval(text)",
        "import pickle",
        "from dill import loads",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "yaml.load(text)",
        "yaml.unsafe_load(text)",
        "numpy.load(path, allow_pickle=True)",
        "subprocess.run(command, shell=True)",
        "AutoModel.from_pretrained(name, trust_remote_code=True)",
        "def load(name, trust_remote_code=True): ...",
        "def load(*, trust_remote_code=None): ...",
        "archive.extractall(folder)",
    ],
)
def test_each_of_them_would_be_seen(source: str) -> None:
    assert list(dangers(source))


@pytest.mark.parametrize(
    "source",
    [
        "model.eval()",
        "re.compile(text)",
        "torch.load(path, weights_only=True)",
        "yaml.safe_load(text)",
        "def load(name, trust_remote_code=False): ...",
        "AutoModel.from_pretrained(name, trust_remote_code=trust_remote_code)",
    ],
)
def test_what_is_allowed(source: str) -> None:
    assert not list(dangers(source))


def test_our_reader_of_task_files_builds_no_objects() -> None:
    import yaml

    from figlang_tasks.core.task_files import Loader

    assert issubclass(Loader, yaml.constructor.SafeConstructor)
    with pytest.raises(yaml.YAMLError):
        yaml.load("!!python/object/apply:os.getcwd []", Loader=Loader)
