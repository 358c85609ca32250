"""Checks the large libraries: quickly by what is installed, or by importing them.

A broken library may end the interpreter. They are therefore imported in a child process, which
takes some 20 seconds. It also asks lmms-eval whether it finds our tasks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from figlang_tasks.cli.doctor_checks import Finding, error_text, run_check
from figlang_tasks.core.packages import installed_version

# Both `python -m` and `python -c` look for modules in the working directory first. The package
# that is installed must be found, so the working directory is taken from the path.
_CHILD = (
    "import sys; sys.path = [*filter(None, sys.path)];"
    f" from {__name__} import report_from_child; report_from_child()"
)
_DRIVER_FOLDER = Path("/proc/driver/nvidia/gpus")
_OTHER_BUILD = (
    "install a torch built for the driver's CUDA (nvidia-smi); check CUDA_VISIBLE_DEVICES"
)
_LOST_PLUGIN = (
    "repair or uninstall the plugin that `lmms-eval` warns of; `lmms_eval` finds our tasks all the"
    " same"
)


# --- what is installed ---


def check_installed() -> Iterator[Finding]:
    """Check whether torch is built for the GPU that this machine has; nothing is imported."""
    version = installed_version("torch")
    if version is None:
        return  # `figlang doctor versions` says so.
    gpus = _gpu_names()
    text = f"{version} is installed; this machine has {', '.join(gpus) or 'no NVIDIA GPU'}"
    if gpus and version.endswith("+cpu"):  # The builds of PyTorch's own index have such versions.
        yield Finding("torch", "warning", f"{text}, but this torch is for CPUs", _OTHER_BUILD)
    else:
        yield Finding("torch", "ok", text)


def _gpu_names() -> list[str]:
    """The names of the NVIDIA GPUs, as the driver or else ``nvidia-smi`` has them."""
    names: list[str] = []
    for path in sorted(_DRIVER_FOLDER.glob("*/information")):
        match = re.search(r"^Model:\s*(.+)$", path.read_text(errors="replace"), re.MULTILINE)
        names.append(match[1] if match else "an NVIDIA GPU")
    command = shutil.which("nvidia-smi")
    if names or command is None:
        return names
    # Some containers hide the driver's folder.
    with suppress(OSError, subprocess.TimeoutExpired):
        query = [command, "--query-gpu=name", "--format=csv,noheader"]
        answer = subprocess.run(query, capture_output=True, text=True, timeout=10)
        if answer.returncode == 0:
            names = answer.stdout.splitlines()
    return names


# --- imports, in a child process ---


def check_libraries() -> Iterator[Finding]:
    """Import the large libraries in a child process, and yield each finding as it comes."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdout=subprocess.PIPE,
            stderr=errors,
            encoding="utf-8",
            errors="replace",
        )
        with child:
            assert child.stdout is not None
            for line in child.stdout:
                yield Finding(**json.loads(line))
        if child.returncode == 0:
            return
        errors.seek(0)
        error_lines = errors.read().strip().splitlines() or ["no message"]
    ending = f"status {child.returncode}"
    if child.returncode < 0:  # A signal has ended it.
        ending = f"signal {-child.returncode}"
    text = f"importing them ended with {ending}: {error_lines[-1]}"
    yield Finding("libraries", "problem", text, "see the cause")


def report_from_child() -> None:
    """Write findings about the libraries to standard output, as JSON lines."""
    findings = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Libraries print while they are imported. This goes to standard error from here on.
    os.dup2(2, 1)
    for check in (check_torch, check_plugin):
        for finding in run_check(check):
            # The next library may end the interpreter, so nothing is left in a buffer.
            print(json.dumps(asdict(finding)), file=findings, flush=True)


def check_torch() -> Iterator[Finding]:
    """Import torch, torchvision and transformers, and list the GPUs."""
    import torch  # `run_check` reports it if this fails.

    cuda = f"CUDA {torch.version.cuda}" if torch.version.cuda else "no CUDA"
    build = f"{torch.__version__}, built with {cuda}"
    gpus = []
    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            gpus.append(torch.cuda.get_device_name(number))
    if gpus:
        yield Finding("torch", "ok", f"{build}, sees {', '.join(gpus)}")
    elif Path("/dev/nvidia0").exists():
        text = f"{build}, sees no GPU, but this machine has one"
        yield Finding("torch", "warning", text, _OTHER_BUILD)
    else:
        yield Finding("torch", "ok", f"{build}, sees no GPU: everything runs on the CPU")

    yield from _import_module(
        "torchvision",
        f"torch {torch.__version__} and torchvision {installed_version('torchvision')} may be of"
        " different builds: install both in one command from one index, or uninstall torchvision",
    )
    yield from _import_module("transformers.modeling_utils", "install transformers again")


def _import_module(name: str, remedy: str) -> Iterator[Finding]:
    """Yield a finding that says whether a module can be imported; none if it is not installed.

    Args:
        name: of the module.
        remedy: what to do if it cannot be imported.
    """
    try:
        if find_spec(name):
            import_module(name)
            yield Finding(name, "ok", "imports")
    except Exception as error:  # A broken library may raise anything.
        yield Finding(name, "problem", f"does not import: {error_text(error)}", remedy)


def check_plugin() -> Iterator[Finding]:
    """Check that lmms-eval finds our tasks."""
    # When lmms-eval imports its models, it loads the entry point that registers our tasks.
    import_module("lmms_eval.models")
    from lmms_eval.tasks import TaskManager

    from figlang_tasks.cli.tasks import definitions

    our_tasks = set()
    for name, definition in definitions().items():
        if "lmms_eval" in definition.harnesses:
            our_tasks.add(name)
    tasks_in_harness = set(TaskManager(verbosity="ERROR").task_index)
    lost_tasks = our_tasks - tasks_in_harness
    if lost_tasks:
        text = f"lmms-eval does not find {len(lost_tasks)} of our tasks"
        yield Finding("plugin", "problem", text, _LOST_PLUGIN)
    else:
        yield Finding("plugin", "ok", f"lmms-eval finds all {len(our_tasks)} tasks")
