"""Run by .ci/run with the Python of an environment that holds our wheel: what landed in site-packages is right.

With ``--surplus`` it prints the packages of the environment that the wheel does not ask for, itself or through others.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

NAME = "figlang-tasks"
INSTALLER = {"pip", "setuptools"}  # of each new environment


def needed() -> set[str]:
    """The packages that the wheel asks for, itself or through others, by their canonical names."""
    pending, seen = [(NAME, "")], set()
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
                pending += [(canonicalize_name(requirement.name), each) for each in ("", *requirement.extras)]
    return {name for name, _ in seen}


def check() -> None:
    """End with a message if anything is wrong."""
    import figlang_tasks
    from figlang_tasks import resource_dir

    files = distribution(NAME).files or []
    top = {Path(str(file)).parts[0] for file in files}
    unexpected = {name for name in top if name not in {"figlang_tasks", ".."} and not name.endswith(".dist-info")}
    if unexpected:
        sys.exit(f"the wheel puts {sorted(unexpected)} at the top of site-packages")

    package = Path(figlang_tasks.__file__).parent
    for folder in ("task_yamls", "prompts"):
        if resource_dir(folder) != package / folder:
            sys.exit(f"{folder} was found in {resource_dir(folder)}, not in the installed package")

    if not (package / "py.typed").is_file():
        sys.exit("py.typed is missing: type checkers ignore our types")

    from figlang_tasks.metrics.entailment import macro_f1  # only now known to be the installed one

    if macro_f1([1, 0], [1, 0]) != 1.0:
        sys.exit("metrics do not work")
    print(f"wheel {figlang_tasks.__version__}: {len(files)} files, all in figlang_tasks/")


if __name__ == "__main__":
    if sys.argv[1:] == ["--surplus"]:
        print(*sorted({canonicalize_name(each.name) for each in distributions()} - needed() - INSTALLER))
    else:
        check()
