"""Whether the installed harness is one that figlang_tasks was made for."""

from __future__ import annotations

import functools
from importlib.metadata import PackageNotFoundError, requires, version

from loguru import logger

from figlang_tasks.core import status

HARNESS = "lmms-eval"
TOOL = "`make upstream`, in the repository of figlang_tasks, tells what is different"


def unknown_harness(name: str = HARNESS) -> str | None:
    """Return a message if the installed harness is outside of what figlang_tasks declares, else None.

    None too where no metadata tells a version (a checkout on PYTHONPATH).

    Args:
        name: ``lmms-eval`` or ``lm-eval``.
    """
    from packaging.requirements import Requirement

    installed = _installed(name)
    try:
        wanted = [Requirement(line) for line in requires("figlang-tasks") or []]
    except PackageNotFoundError:
        return None
    for each in wanted:
        if each.name == name and installed and not each.specifier.contains(installed, prereleases=True):
            return (
                f"figlang_tasks is made for {name} {each.specifier}, and {installed} is installed: {TOOL}; "
                f"pip install '{name}{each.specifier}' installs a version that it was tested with"
            )
    return None


@functools.cache
def warn_of_unknown_harness() -> None:
    """Log the message of :func:`unknown_harness`, once in a run."""
    if status.in_first_process() and (message := unknown_harness()):
        logger.warning(message)


def recorded() -> dict[str, str]:
    """Return the versions that a result depends on, by package; without those whose metadata is not there.

    The harness records none: what it calls its version is the git state of the folder above its package.
    """
    found = {name: _installed(name) for name in ("figlang-tasks", HARNESS, "torch", "transformers")}
    return {name: version for name, version in found.items() if version}


def _installed(name: str = HARNESS) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
