"""Checks whether the large libraries can be imported, and whether lmms-eval finds our tasks.

A broken library may end the interpreter. They are therefore imported in a child process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
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
_LOST_PLUGIN = (
    "repair or uninstall the plugin that `lmms-eval` warns of; `lmms_eval` finds our tasks all the"
    " same"
)


def check_libraries() -> Iterator[Finding]:
    """Import the large libraries in a child process, and yield what it finds."""
    child = subprocess.run(
        [sys.executable, "-c", _CHILD], capture_output=True, encoding="utf-8", errors="replace"
    )
    for line in child.stdout.splitlines():
        yield Finding(**json.loads(line))
    if child.returncode == 0:
        return
    ending = f"status {child.returncode}"
    if child.returncode < 0:  # A signal has ended it.
        ending = f"signal {-child.returncode}"
    error_lines = child.stderr.strip().splitlines() or ["no message"]
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
        remedy = (
            "install a torch built for the driver's CUDA (nvidia-smi); check CUDA_VISIBLE_DEVICES"
        )
        yield Finding("torch", "warning", text, remedy)
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
