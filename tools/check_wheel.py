"""Run by .ci/run with the Python of an environment that holds one of our wheels: what landed in
site-packages is right.

    python tools/check_wheel.py figlang-tasks
    python tools/check_wheel.py figlang-tasks --surplus

With ``--surplus`` it prints the packages of the environment that the wheel does not ask for, itself
or through others.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

INSTALLER = {"pip", "setuptools"}  # of each new environment
HARNESSES = ("lmms_eval", "lm_eval")


def needed(root: str) -> set[str]:
    """The packages that a distribution asks for, itself or through others, by their canonical
    names.
    """
    pending, seen = [(root, "")], set()
    while pending:
        name, extra = wanted = pending.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:  # `pip check` says so if it must be there
            continue
        for requirement in map(Requirement, lines):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                pending += [
                    (canonicalize_name(requirement.name), each)
                    for each in ("", *requirement.extras)
                ]
    return {name for name, _ in seen}


def check(name: str) -> None:
    """End with a message if anything is wrong."""
    module = name.replace("-", "_")
    package = importlib.import_module(module)
    files = distribution(name).files or []
    top = {Path(str(file)).parts[0] for file in files}
    if unexpected := {
        name for name in top if name not in {module, ".."} and not name.endswith(".dist-info")
    }:
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
        module += ".metrics"
    elif found := [harness for harness in HARNESSES if importlib.util.find_spec(harness)]:
        sys.exit(f"{found} are here: {name} is to be checked without a harness")

    # Only now known to be the installed one
    metrics = importlib.import_module(f"{module}.classification")
    if metrics.macro_f1_of_labels([1, 0], [1, 0]) != 1.0:
        sys.exit("metrics do not work")
    print(f"wheel {name} {package.__version__}: {len(files)} files")


if __name__ == "__main__":
    if sys.argv[2:] == ["--surplus"]:
        print(
            *sorted(
                {canonicalize_name(each.name) for each in distributions()}
                - needed(sys.argv[1])
                - INSTALLER
            )
        )
    else:
        check(sys.argv[1])
