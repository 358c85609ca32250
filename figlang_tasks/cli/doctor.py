"""``figlang doctor``: what can be run now, what is missing, and what to do about it.

No check ends the others: an exception inside one is a finding. Libraries that may crash the
interpreter are imported in a child process.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Literal

import typer

from figlang_tasks.cli import say
from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core import hub
from figlang_tasks.core.benchmark import benchmarks, of_dataset, sources
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.redaction import redacted
from figlang_tasks.core.text import printable
from figlang_tasks.metrics.explanation.scorers import scorer_weights
from figlang_tasks.metrics.explanation.weights import WEIGHTS_DIR_VARIABLE, WeightsError, locate


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    `status` is ``ok``, ``problem`` (runs fail, or give other numbers) or ``warning`` (some tasks or
    metrics do not work); `concerns` names the benchmarks that it is for, and is empty where it is
    for all, or for none.
    """

    name: str
    status: str
    text: str
    remedy: str = ""
    concerns: tuple[str, ...] = ()


Check = Callable[[], Iterator[Finding]]


def _guarded(check: Check) -> Iterator[Finding]:
    try:
        yield from check()
    except Exception as error:  # whatever a broken installation raises
        name = check.__name__.strip("_")
        yield Finding(
            name, "problem", f"does not work: {_cause(error)}", "repair or reinstall what it names"
        )


def _cause(error: BaseException) -> str:
    return str(
        redacted(
            f"{type(error).__name__}: {next(iter(str(error).strip().splitlines()), 'no message')}"
        )
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _packages() -> Iterator[Finding]:
    """Python, and every requirement of ours against what is installed."""
    from packaging.requirements import Requirement

    import figlang_tasks

    yield Finding(
        "python", "ok", f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    )
    yield Finding(
        "figlang_tasks",
        "ok",
        f"{figlang_tasks.__version__} in {Path(figlang_tasks.__file__).parent}",
    )
    needs = {name: text for each in benchmarks().values() for name, text in each.needs.items()}
    purposes = {
        "": "figlang_tasks",
        "smolvlm": "the processor of SmolVLM",
        "demo": f"the scorer of {MINI}",
    } | needs
    for wanted in map(Requirement, metadata.requires("figlang-tasks") or ()):
        extra = next(
            (
                name
                for name in purposes
                if not wanted.marker or wanted.marker.evaluate({"extra": name})
            ),
            None,
        )
        version = _version(wanted.name)
        is_good = version is not None and wanted.specifier.contains(version, prereleases=True)
        if extra is not None and not is_good:
            text = f"{version or 'not installed'}, but {purposes[extra]} needs {wanted.specifier}"
            install = f"pip install '{str(wanted).partition(';')[0].strip()}'"
            yield Finding(
                wanted.name, "warning" if extra else "problem", text, install, _in_need_of(extra)
            )
    telling = ("lmms-eval", "transformers", "accelerate", "vllm", "sglang", "peft", "bitsandbytes")
    shown = [f"{name} {version}" for name in telling if (version := _version(name))]
    yield Finding("packages", "ok", ", ".join(shown))


def _in_need_of(need: str) -> tuple[str, ...]:
    """The benchmarks that need something, and :data:`MINI` if it has tasks of one of them."""
    found = [each for each in benchmarks().values() if need in each.needs]
    mini = need == "demo" or any(source.folder for each in found for source in each.sources)
    return (*(each.name for each in found), *[MINI] * mini)


def _libraries() -> Iterator[Finding]:
    # What is installed: -m, and -c too, would look into the working directory first.
    code = (
        f"import sys; sys.path = [*filter(None, sys.path)]; from {__name__} import in_child;"
        " in_child()"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace")
    for line in done.stdout.splitlines():
        yield Finding(**json.loads(line))
    if done.returncode:
        how = f"status {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        said = (done.stderr.strip().splitlines() or ["no message"])[-1]
        yield Finding(
            "libraries", "problem", f"importing them ended with {how}: {said}", "see the cause"
        )


def in_child() -> None:
    """Write what is found of the libraries to standard output, as JSON lines."""
    findings = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # libraries print while they are imported
    for check in (_torch, _plugin):
        for finding in _guarded(check):
            print(json.dumps(asdict(finding)), file=findings, flush=True)


def _torch() -> Iterator[Finding]:
    """torch with its GPUs, torchvision, transformers: do they import, and together?"""
    import torch

    name = (
        f"{torch.__version__}, built with"
        f" {f'CUDA {torch.version.cuda}' if torch.version.cuda else 'no CUDA'}"
    )
    gpus = [
        torch.cuda.get_device_name(at)
        for at in range(torch.cuda.device_count() * torch.cuda.is_available())
    ]
    if not gpus and Path("/dev/nvidia0").exists():
        remedy = (
            "install a torch built for the driver's CUDA (nvidia-smi); check CUDA_VISIBLE_DEVICES"
        )
        yield Finding("torch", "warning", f"{name}, sees no GPU, but this machine has one", remedy)
    else:
        yield Finding(
            "torch", "ok", f"{name}, sees {', '.join(gpus) or 'no GPU: everything runs on the CPU'}"
        )
    builds = (
        f"torch {torch.__version__} and torchvision {_version('torchvision')} may be of different"
        " builds"
    )
    remedies = {
        "torchvision": (
            f"{builds}: install both in one command from one index, or uninstall torchvision"
        ),
        "transformers.modeling_utils": "install transformers again",
    }
    for module, remedy in remedies.items():
        try:
            if find_spec(module):
                import_module(module)
                yield Finding(module, "ok", "imports")
        except Exception as error:  # a broken library may raise anything
            yield Finding(module, "problem", f"does not import: {_cause(error)}", remedy)


def _plugin() -> Iterator[Finding]:
    """Whether lmms-eval finds our tasks: by the entry point that it loads with its models."""
    import_module("lmms_eval.models")
    from lmms_eval.tasks import TaskManager

    from figlang_tasks.cli.tasks import definitions

    ours = [name for name, each in definitions().items() if "lmms_eval" in each.harnesses]
    lost = len(set(ours) - set(TaskManager("ERROR").task_index))
    remedy = (
        "repair or uninstall the plugin that `lmms-eval` warns of; `lmms_eval` finds our tasks all"
        " the same"
    )
    told = (
        f"lmms-eval finds all {len(ours)} tasks"
        if not lost
        else f"lmms-eval does not find {lost} of our tasks"
    )
    yield Finding("plugin", "problem" if lost else "ok", told, remedy * bool(lost))


def _hub() -> Iterator[Finding]:
    from huggingface_hub import constants

    account = _account()
    yield account
    is_asked = account.status == "ok" and not constants.HF_HUB_OFFLINE
    elsewhere = [source for source in sources().values() if source.folder is None]
    try:
        local = {source.name: hub.local_folder(source) for source in elsewhere}
    except DataError as error:
        local = {}
        yield Finding(
            hub.DATA_DIR_VARIABLE,
            "problem",
            str(error),
            "correct it, or unset it to load from the hub",
        )
    for source in elsewhere:
        folder = local.get(source.name)
        yield Finding(source.name, "ok", f"in {folder}") if folder else _dataset(source, is_asked)


def _account() -> Finding:
    """Whether the hub answers, and whom."""
    from huggingface_hub import HfApi, constants, errors, get_session

    if constants.HF_HUB_OFFLINE:
        return Finding(
            "hub",
            "ok",
            "offline (--offline, HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE): only what is cached",
        )
    endpoint = redacted(constants.ENDPOINT)  # a proxy's password may stand in it
    asked = next(
        each.repository for each in sources().values() if each.repository and not each.gated
    )
    account = "no token: open datasets alone"
    get_session().timeout = constants.HF_HUB_ETAG_TIMEOUT  # whoami has no parameter for it
    try:
        HfApi().dataset_info(asked, timeout=constants.HF_HUB_ETAG_TIMEOUT, token=False)
        account = f"the account of the token is {HfApi().whoami()['name']}"
    except errors.LocalTokenNotFoundError:
        pass
    except (
        Exception
    ) as error:  # the HTTP library of the hub's client differs by version, and so do its errors
        what = f"{endpoint} cannot be reached"
        remedy = (
            "check the connection, HF_ENDPOINT and proxies; HF_HUB_OFFLINE=1 where only the cache"
            " is to be used"
        )
        if "Invalid user token" in str(error):
            what = f"{endpoint} refuses the token, for open datasets too"
            remedy = "put a valid one into HF_TOKEN, run `hf auth login`, or remove it"
        return Finding("hub", "problem", f"{what} ({_cause(error)})", remedy)
    return Finding("hub", "ok", f"{endpoint} answers; {account}")


def _dataset(source: hub.Source, is_asked: bool) -> Finding:
    """Whether a dataset that is not in a local folder is in the cache, or may be loaded from the
    hub.
    """
    from huggingface_hub import HfApi, constants, errors, snapshot_download

    name, concerns = source.name, (of_dataset(source.name).name,)
    place = f"${hub.DATA_DIR_VARIABLE}/{name}"
    if source.repository is None:
        return Finding(
            name, "warning", f"is not on the hub, and {place} is not there", source.bring, concerns
        )
    pin = os.environ.get(source.pin_variable)
    revision = pin or source.revision or "main"
    status, access = "warning", "the hub was not asked"
    remedy = f"figlang data prefetch {concerns[0]}, or put its files into {place}"
    try:
        if is_asked:
            HfApi().dataset_info(
                source.repository, revision=revision, timeout=constants.HF_HUB_ETAG_TIMEOUT
            )
            if refused := hub.refusal(source.repository):
                raise refused
            status, access = "ok", "gated, access granted" if source.gated else "open"
    except errors.GatedRepoError:
        access = "gated, access is not granted"
        remedy = (
            f"accept the conditions on {source.page} and set HF_TOKEN, or put its files into"
            f" {place}"
        )
    except Exception as error:  # as in _account
        status, access = "problem", f"{source.repository} at {revision}: {_cause(error)}"
        remedy = f"correct or unset {source.pin_variable}" if pin else f"see {source.page}"
    try:
        here = snapshot_download(
            source.repository, repo_type="dataset", revision=revision, local_files_only=True
        )
        return Finding(name, "ok", f"cached, commit {Path(here).name[:12]}; {access}")
    except OSError:  # not there
        return Finding(name, status, f"not cached; {access}", remedy, concerns)


def _weights() -> Iterator[Finding]:
    """Where the weights of the scorers are; nothing is downloaded."""
    for weights, users in scorer_weights().items():
        name, place = weights.name, f"${WEIGHTS_DIR_VARIABLE}/{weights.name.rpartition('/')[2]}"
        concerns = tuple(
            each.name for each in benchmarks().values() if each.scorer in users.split(", ")
        )
        try:
            with hub.downloading_nothing():
                yield Finding(name, "ok", f"{locate(weights).folder}, for {users}")
        except WeightsError as error:
            text = (
                f"not here; for {users}. A run downloads it first, or leaves the explanations"
                " unscored"
            )
            remedy = (
                f"figlang data prefetch --scorers, or put its files into {place}, or"
                " FIGLANG_SCORER=off"
            )
            status = "warning"
            if error.__cause__ is None:  # it is about files that are there
                status, text, remedy = (
                    "problem",
                    str(error),
                    f"complete the folder, or unset {WEIGHTS_DIR_VARIABLE}",
                )
            yield Finding(name, status, text, remedy, concerns)


def _java() -> Iterator[Finding]:
    from figlang_tasks.metrics import captions

    tasks = " and ".join(
        each.needs["java"] for each in benchmarks().values() if "java" in each.needs
    )
    java, concerns, ends = captions.java(), _in_need_of("java"), "; their runs end with status 1"
    if java is None:
        text = f"there is none that runs: {tasks} leave out METEOR and SPICE{ends}"
        yield Finding("Java", "warning", text, "install a Java runtime (8 or newer)", concerns)
        return
    yield Finding("Java", "ok", f"{java}, for METEOR of {tasks}")
    if not captions.has_spice():
        text = (
            f"two files of Stanford CoreNLP 3.6.0 are not here (400 MB): {tasks} leave it out{ends}"
        )
        yield Finding("SPICE", "warning", text, captions.SPICE_COMMAND, concerns)


SECTIONS: dict[str, tuple[Check, ...]] = {
    "versions": (_packages,),
    "libraries": (_libraries,),
    "hub": (_hub,),
    "scorers": (_weights, _java),
}


def doctor(
    section: Annotated[
        Literal["versions", "libraries", "hub", "scorers"] | None,
        typer.Argument(help="Check only this.", show_default="all"),
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not contact any server.")] = False,
) -> None:
    """Check what this machine can run, and say what is missing.

    A warning: some tasks, models or metrics are not available; the benchmarks that lack it stand in
    brackets. A problem: runs fail, and the exit status is 1. Without a section, the last lines name
    the benchmarks that you can run now. Tokens are never shown.
    """
    findings: list[Finding] = []
    broken = False
    with hub.downloading_nothing() if offline else nullcontext():
        for name in [section] if section else SECTIONS:
            say(name)
            for finding in (each for check in SECTIONS[name] for each in _guarded(check)):
                say(_line(finding))
                findings.append(finding)
                broken = broken or (
                    finding.status == "problem" and name in ("versions", "libraries")
                )
    counts = Counter(each.status for each in findings)
    say(f"\n{counts['problem']} problem(s), {counts['warning']} warning(s)")
    if section is None:
        lacking = {each.name for each in findings if each.status != "ok"}
        complete = [each.name for each in benchmarks().values() if each.source.name not in lacking]
        ready = [] if broken else [MINI, *complete]
        say(f"Can run now: {', '.join(ready) or 'nothing'} (`figlang tasks NAME` lists the tasks)")
        say(
            "Cannot run yet:"
            f" {', '.join(name for name in benchmarks() if name not in ready) or 'none'}"
        )
    if counts["problem"]:
        raise typer.Exit(1)


def _line(finding: Finding) -> str:
    concerns = f" [{', '.join(finding.concerns)}]" * bool(finding.concerns)
    remedy = f"\n{' ' * 11}-> {printable(finding.remedy)}" * bool(finding.remedy)
    return (
        f"  {finding.status:8} {printable(finding.name)}{concerns}:"
        f" {printable(finding.text)}{remedy}"
    )
