"""Checks which packages are installed, and in which versions."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import figlang_tasks
from figlang_tasks.cli.doctor_checks import Finding, Status, benchmarks_in_need_of
from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.packages import installed_version, package_versions

if TYPE_CHECKING:
    from packaging.requirements import Requirement

LISTED_PACKAGES = (
    "lmms-eval",
    "lm-eval",
    "torch",
    "transformers",
    "datasets",
    "huggingface-hub",
    "accelerate",
    "vllm",
    "sglang",
    "peft",
    "bitsandbytes",
)
"""Packages whose versions a bug report should name."""


def check_packages() -> Iterator[Finding]:
    """Yield the versions of Python, of this package and of others, and each requirement not met.

    One line more names those that are newer than what this package was tested with.
    """
    from packaging.requirements import Requirement

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
    newer_texts = _newer_than_tested(versions)
    if newer_texts:
        yield Finding("newer than tested", "ok", ", ".join(newer_texts))


def _newer_than_tested(versions: Mapping[str, str]) -> list[str]:
    """The packages that are newer than what the tests ran with: ``torch 2.16.0 (tested: 2.15.0)``.

    Args:
        versions: the version of each installed package.
    """
    from packaging.version import InvalidVersion, Version

    tested_versions = _tested_versions()
    texts = []
    for package, version in versions.items():
        tested = tested_versions.get(package)
        if tested is None:  # vllm, say, which the tests do not need
            continue
        # A version that is none, of a build by hand, cannot be compared.
        with suppress(InvalidVersion):
            # The build, +cu130 in 2.15.0+cu130, makes no version newer.
            if Version(Version(version).public) > Version(tested):
                texts.append(f"{package} {version} (tested: {tested})")
    return texts


def _tested_versions() -> dict[str, str]:
    """The version of each package that the tests ran with, by its canonical name."""
    from packaging.utils import canonicalize_name

    path = Path(figlang_tasks.__file__).with_name("constraints.txt")
    versions = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        name, _, version = line.partition("==")
        versions[str(canonicalize_name(name))] = version
    return versions


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
