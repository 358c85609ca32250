"""The checks of ``figlang doctor``, and the findings that they report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from typing import Literal, TypeAlias

from figlang_tasks.cli.tasks import MINI
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.redaction import redacted

Status: TypeAlias = Literal["ok", "warning", "problem"]


@dataclass(frozen=True)
class Finding:
    """What a check found about one package, library, dataset or model.

    Attributes:
        name: of what was checked.
        status: ``problem`` if runs fail or give other numbers, ``warning`` if some tasks or metrics
            do not work.
        text: what was found.
        remedy: what to do about it; "" if nothing needs to be done.
        concerns: the benchmarks that do not work without it; empty if it concerns all or none.
    """

    name: str
    status: Status
    text: str
    remedy: str = ""
    concerns: tuple[str, ...] = ()


Check: TypeAlias = Callable[[], Iterator[Finding]]
"""A function ``check_NAME``, which yields one finding for each thing that it looks at."""


def run_check(check: Check) -> Iterator[Finding]:
    """Yield the findings of a check; if it raises an exception, that is its last finding."""
    try:
        yield from check()
    except Exception as error:  # A broken installation may raise anything.
        name = check.__name__.removeprefix("check_")
        text = f"does not work: {error_text(error)}"
        yield Finding(name, "problem", text, "repair or reinstall what it names")


def error_text(error: BaseException) -> str:
    """The type of an error and the first line of its message, without secrets."""
    message_lines = str(error).strip().splitlines() or ["no message"]
    return str(redacted(f"{type(error).__name__}: {message_lines[0]}"))


def installed_version(package: str) -> str | None:
    """The version of an installed package; None if it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def benchmarks_in_need_of(need: str) -> tuple[str, ...]:
    """The benchmarks that need Java or an extra.

    :data:`MINI` is one of them if it has tasks of such a benchmark, or if `need` is ``demo``.
    """
    names = []
    is_needed_by_mini = need == "demo"
    for benchmark in benchmarks().values():
        if need in benchmark.needs:
            names.append(benchmark.name)
            if any(source.folder is not None for source in benchmark.sources):
                is_needed_by_mini = True
    if is_needed_by_mini:
        names.append(MINI)
    return tuple(names)
