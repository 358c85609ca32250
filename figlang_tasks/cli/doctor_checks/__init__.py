"""The checks of ``figlang doctor``, and the findings that they report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
    """Yield the findings of a check; an exception that it raises becomes its last finding."""
    try:
        yield from check()
    except Exception as error:  # A broken installation may raise anything.
        name = check.__name__.removeprefix("check_")
        text = f"does not work: {error_text(error)}"
        yield Finding(name, "problem", text, "repair or reinstall what it names")


def error_text(error: BaseException) -> str:
    """The type of an error and the first line of its message: ``OSError: no such file``.

    Secrets are hidden.
    """
    message_lines = str(error).strip().splitlines() or ["no message"]
    return str(redacted(f"{type(error).__name__}: {message_lines[0]}"))


def benchmarks_in_need_of(need: str) -> tuple[str, ...]:
    """The names of the benchmarks that need something beside the package; empty if none does.

    `MINI` is one of them if it has tasks of such a benchmark, or if `need` is ``demo``.

    Args:
        need: ``java``, or an extra of the package; "" is the package itself, and gives none.
    """
    names = []
    is_needed_by_mini = need == "demo"
    for benchmark in benchmarks().values():
        if need in benchmark.needs:
            names.append(benchmark.name)
            # The tasks of `MINI` read the data that is shipped in a folder of the package.
            ships_data = any(source.folder is not None for source in benchmark.sources)
            if ships_data and not benchmark.home.distribution:
                is_needed_by_mini = True
    if is_needed_by_mini:
        names.append(MINI)
    return tuple(names)
