"""Check that a wheel of ours is installed correctly; .ci/run runs it with the environment's Python.

    python tools/check_wheel.py figlang-tasks
    python tools/check_wheel.py figlang-tasks --surplus

With ``--surplus``, print instead the packages of the environment that the wheel does not depend on,
directly or indirectly.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

INSTALLER = {"pip", "setuptools"}  # present in every new environment
HARNESSES = ("lmms_eval", "lm_eval")


def required_packages(root: str) -> set[str]:
    """Return the canonical names of a distribution and of all that it depends on."""
    pending = [(root, "")]  # a name and one of its extras; "" is the package without extras
    visited: set[tuple[str, str]] = set()
    while pending:
        name, extra = pending.pop()
        if (name, extra) in visited:
            continue
        visited.add((name, extra))
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:  # `pip check` says so if it must be there
            continue
        for requirement in map(Requirement, lines):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                required_name = canonicalize_name(requirement.name)
                pending.append((required_name, ""))
                pending += [(required_name, required) for required in requirement.extras]
    return {name for name, _ in visited}


def surplus_packages(root: str) -> list[str]:
    """Return the packages of the environment that a distribution does not require, sorted."""
    installed = {canonicalize_name(package.name) for package in distributions()}
    return sorted(installed - required_packages(root) - INSTALLER)


def check(name: str) -> None:
    """Exit with a message if anything is wrong with an installed distribution."""
    module = name.replace("-", "_")
    package = importlib.import_module(module)
    files = distribution(name).files or []
    unexpected: set[str] = set()
    for file in files:
        top = Path(str(file)).parts[0]
        if top not in {module, ".."} and not top.endswith(".dist-info"):
            unexpected.add(top)
    if unexpected:
        sys.exit(f"the wheel puts {sorted(unexpected)} at the top of site-packages")
    folder = Path(str(package.__file__)).parent
    if not (folder / "py.typed").is_file():
        sys.exit("py.typed is missing: type checkers ignore our types")

    if name == "figlang-tasks":
        for resources in ("task_yamls", "prompts"):
            if package.resource_dir(resources) != folder / resources:
                sys.exit(
                    f"{resources} was found in {package.resource_dir(resources)}, not in the"
                    " installed package"
                )
        if not (folder / "constraints.txt").is_file():
            sys.exit("constraints.txt is missing: figlang doctor cannot name untested versions")
        module += ".metrics"
    else:
        harnesses = [harness for harness in HARNESSES if importlib.util.find_spec(harness)]
        if harnesses:
            sys.exit(f"{harnesses} are here: {name} is to be checked without a harness")

    # Imported here, once it is known that the import finds the installed package
    metrics = importlib.import_module(f"{module}.classification")
    if metrics.macro_f1_of_labels([1, 0], [1, 0]) != 1.0:
        sys.exit("metrics do not work")
    print(f"wheel {name} {package.__version__}: {len(files)} files")


if __name__ == "__main__":
    if sys.argv[2:] == ["--surplus"]:
        print(*surplus_packages(sys.argv[1]))
    else:
        check(sys.argv[1])
