"""The option ``--judged`` of ``figlang compare``, ``report`` and ``cite``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
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


def judged_text(key: Path, runs: Sequence[Run]) -> str:
    """The estimates of runs in Markdown, with the machine's numbers beside them."""
    from figlang_tasks.judge import judged_runs, powered_text

    judged = judged_runs.read(key, runs)
    text = powered_text.text(judged.report["all_rows"], judged.machine_text)
    return f"## {TITLE}\n\n{text}"


def judged_section(key: Path, runs: Sequence[Run]) -> Section:
    """The estimates of runs as a section of the report."""
    from figlang_tasks.judge import judged_runs, powered_text
    from figlang_tasks.report.sections.layout import Section, Table

    judged = judged_runs.read(key, runs)
    report = judged.report["all_rows"]
    tables: tuple[Table, ...] = ()
    if report["estimates"]:
        tables = (Table(TITLE, powered_text.table(report, judged.machine_text)),)
    return Section(
        id="judged-estimates",
        title=TITLE,
        tables=tables,
        notes=tuple(powered_text.notes(report)),
    )


def judged_json(key: Path, runs: Sequence[Run]) -> PoweredReport:
    """The estimates of runs as JSON."""
    from figlang_tasks.judge import judged_runs

    return judged_runs.read(key, runs).report["all_rows"]


def judged_signature(key: Path, runs: Sequence[Run]) -> str:
    """A line that says what of runs was judged, and by how many annotators."""
    from figlang_tasks.judge import judged_runs

    return judged_runs.read(key, runs).signature
