"""Checks which packages are installed, and in which versions."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from figlang_tasks.cli.doctor_checks import Finding, Status, benchmarks_in_need_of
from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.packages import installed_version, package_versions

if TYPE_CHECKING:
    from packaging.requirements import Requirement

LISTED_PACKAGES = (
    "lmms-eval",
    "transformers",
    "accelerate",
    "vllm",
    "sglang",
    "peft",
    "bitsandbytes",
)
"""Packages whose versions a bug report should name."""


def check_packages() -> Iterator[Finding]:
    """Yield the versions of Python, of this package and of others, and each requirement not met."""
    from packaging.requirements import Requirement

    import figlang_tasks

    python = f"{platform.python_version()}, {platform.system()} {platform.machine()}"
    yield Finding("python", "ok", python)
    folder = Path(figlang_tasks.__file__).parent
    yield Finding("figlang_tasks", "ok", f"{figlang_tasks.__version__} in {folder}")

    purpose_by_extra = _purpose_by_extra()
    for text in metadata.requires("figlang-tasks") or ():
        finding = _check_requirement(Requirement(text), purpose_by_extra)
        if finding is not None:
            yield finding

    versions = package_versions(LISTED_PACKAGES)
    text = ", ".join(f"{package} {version}" for package, version in versions.items())
    yield Finding("packages", "ok", text)


def _check_requirement(
    requirement: Requirement, purpose_by_extra: Mapping[str, str]
) -> Finding | None:
    """A finding if a required package is missing, too old or too new; None if all is well.

    None also if the package is required by an extra alone that no user needs.

    Args:
        requirement: what must be installed.
        purpose_by_extra: what `_purpose_by_extra` returns.
    """
    extra = _extra_of(requirement, list(purpose_by_extra))
    if extra is None:
        return None
    version = installed_version(requirement.name)
    if version is not None and requirement.specifier.contains(version, prereleases=True):
        return None

    installed = version or "not installed"
    text = f"{installed}, but {purpose_by_extra[extra]} needs {requirement.specifier}"
    without_marker = str(requirement).partition(";")[0].strip()  # name>=version; marker
    remedy = f"pip install '{without_marker}'"
    is_needed_by_all_runs = extra == ""
    status: Status = "problem" if is_needed_by_all_runs else "warning"
    return Finding(requirement.name, status, text, remedy, benchmarks_in_need_of(extra))


def _purpose_by_extra() -> dict[str, str]:
    """What each extra of this package is for; first "", which stands for the package itself."""
    purposes = {
        "": "figlang_tasks",
        "smolvlm": "the processor of SmolVLM",
        "demo": f"the scorer of {MINI}",
    }
    for benchmark in benchmarks().values():
        purposes.update(benchmark.needs)
    return purposes


def _extra_of(requirement: Requirement, extras: Sequence[str]) -> str | None:
    """The first of some extras that requires a package; None if none of them does.

    Args:
        requirement: what must be installed, perhaps with a marker: ``; extra == "demo"``.
        extras: first "", the package itself, since what it requires is required with each extra.
    """
    for extra in extras:
        if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
            return extra
    return None
