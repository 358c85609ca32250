"""The option ``--judged`` of ``figlang compare``, ``report`` and ``cite``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from figlang_tasks.core.text import printable

if TYPE_CHECKING:
    from figlang_tasks.judge.judged_runs import JudgedRuns
    from figlang_tasks.judge.reports import PoweredReport
    from figlang_tasks.report.sections.layout import Section
    from figlang_tasks.results.task_run import Run

Judged: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="KEY",
        help=(
            "key.json of figlang judge export: also say what people would say of all rows."
            " The filled sheets lie beside it."
        ),
        show_default=False,
    ),
]

TITLE = "What people say"

CITATION = r"""@misc{angelopoulos-2023-ppi,
  title = {{PPI++}: Efficient Prediction-Powered Inference},
  author = {Angelopoulos, Anastasios N. and Duchi, John C. and Zrnic, Tijana},
  year = {2023},
  eprint = {2311.01453},
  archivePrefix = {arXiv}
}

@misc{zrnic-2024-bootstrap,
  title = {A Note on the Prediction-Powered Bootstrap},
  author = {Zrnic, Tijana},
  year = {2024},
  eprint = {2405.18379},
  archivePrefix = {arXiv}
}"""
"""BibTeX for the method behind the estimates."""


def read_judged(key: Path, runs: Sequence[Run]) -> JudgedRuns:
    """What people say of runs, from the filled sheets beside a key.

    Raises:
        FigLangError: the key is of other runs, or fewer than two sheets are filled in.
    """
    from figlang_tasks.judge import judged_runs

    return judged_runs.read(key, runs)


def paragraphs_of(judged: JudgedRuns | None) -> list[str]:
    """The estimates in Markdown, with the machine's numbers beside them; [] without judgements."""
    if judged is None:
        return []
    from figlang_tasks.judge import powered_text

    text = powered_text.text(judged.report["all_rows"], judged.machine_text)
    return [f"## {TITLE}", text, judged.sheets_text]


def comments_of(judged: JudgedRuns | None) -> list[str]:
    """The paragraphs of `paragraphs_of` as comments of LaTeX."""
    lines = "\n\n".join(paragraphs_of(judged)).splitlines()
    return ["\n".join(f"% {printable(line)}".rstrip() for line in lines)] if lines else []


def json_of(judged: JudgedRuns | None) -> dict[str, PoweredReport]:
    """The estimates for ``--json``, under ``judged``; {} without judgements."""
    return {} if judged is None else {"judged": judged.report["all_rows"]}


def section_of(judged: JudgedRuns) -> Section:
    """The estimates as a section of the report."""
    from figlang_tasks.judge import powered_text
    from figlang_tasks.report.sections.layout import Section, Table

    report = judged.report["all_rows"]
    tables: tuple[Table, ...] = ()
    if report["estimates"]:
        tables = (Table(TITLE, powered_text.table(report, judged.machine_text)),)
    return Section(
        id="judged-estimates",
        title=TITLE,
        tables=tables,
        notes=(*powered_text.notes(report), judged.sheets_text),
    )
