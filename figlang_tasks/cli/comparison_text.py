"""A comparison of runs as ``figlang compare`` prints it: Markdown, LaTeX or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from figlang_tasks.cli.compared_task import ComparedRun, ComparedTask
from figlang_tasks.core.text import alignment, latex, printable
from figlang_tasks.report.difference import ALPHA, count_tests
from figlang_tasks.report.run_warnings import contradiction_warnings, run_warnings
from figlang_tasks.report.verdict import verdicts
from figlang_tasks.results import tables
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.task_run import Run

if TYPE_CHECKING:
    import pandas as pd

_TABLE_OF_RUNS = "Shares in percent, with 95 % intervals. Bold: best."


@dataclass(frozen=True)
class ComparisonText:
    """A comparison of runs in the formats of the command.

    Attributes:
        runs: those that the user named; runs that share a name are repeats.
        differences: of all pairs of runs, task by task.
        shows_papers: whether the papers' results stand below the runs.
        resamples, seed: of the tests.
        has_main_metrics_alone: whether only the main metric of each task was tested.
    """

    runs: Sequence[Run]
    differences: Sequence[Difference]
    shows_papers: bool
    resamples: int
    seed: int
    has_main_metrics_alone: bool

    def json_content(self) -> dict[str, Any]:
        """The object that ``--json`` prints."""
        runs = []
        for run in self.runs:
            runs.append({"name": run.name, "path": str(run.path), "partial": run.partial})
        return {
            "runs": runs,
            "resamples": self.resamples,
            "seed": self.seed,
            "tests": count_tests(self.differences),
            "differences": [asdict(difference) for difference in self.differences],
            "headlines": verdicts(self.differences),
        }

    def markdown(self) -> str:
        """Warnings, the tables of each task, how it was tested, and the verdicts."""
        paragraphs = self._warnings()
        for task in self._tasks:
            paragraphs.append(f"## {task.name}")
            paragraphs.append(tables.markdown(task.table_of_runs(self.shows_papers)))
            paragraphs += task.notes(self.shows_papers)
            for title, table in task.tables_of_pairs():
                paragraphs.append(f"{title}\n\n{tables.markdown(table)}")
        paragraphs.append(self._how_it_was_tested())
        paragraphs.append("\n".join(verdicts(self.differences)))
        return "\n\n".join(paragraphs)

    def latex(self) -> str:
        """The tables of each task for a paper; the rest of the text stands in comments."""
        package = r"\usepackage{booktabs}"
        paragraphs = [_comments([package, self._how_it_was_tested(), *self._warnings()])]
        for task in self._tasks:
            table = task.table_of_runs(self.shows_papers)
            paragraphs.append(_latex_table(table, f"{task.name}. {_TABLE_OF_RUNS}"))
            paragraphs.append(_comments(task.notes(self.shows_papers)))
            for title, table in task.tables_of_pairs():
                caption = f"{task.name}: {title}. * p Holm < {ALPHA}."
                paragraphs.append(_latex_table(table, caption))
        paragraphs.append(_comments(verdicts(self.differences)))
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)

    @cached_property
    def _tasks(self) -> list[ComparedTask]:
        """The tasks that were compared, each with its runs and differences."""
        differences_by_task: dict[str, list[Difference]] = {}
        for difference in self.differences:
            differences_by_task.setdefault(difference.task, []).append(difference)
        return [
            ComparedTask(
                name, self._runs_of(name, differences), differences, self.has_main_metrics_alone
            )
            for name, differences in differences_by_task.items()
        ]

    def _runs_of(self, task: str, differences: Sequence[Difference]) -> list[ComparedRun]:
        """The runs that some differences are between, with their results of a task."""
        names = _names(differences)
        compared_runs = []
        for run in self.runs:
            if run.name in names:
                # A comparison across tasks has the names of both; then each run has one task.
                task_run = run.tasks.get(task) or next(iter(run.tasks.values()))
                compared_runs.append(ComparedRun(run, task_run))
        return compared_runs

    def _warnings(self) -> list[str]:
        """What a reader must know of the runs before the numbers, each sentence once."""
        task_runs = []
        for task in self._tasks:
            task_runs += [(compared.run, compared.task_run) for compared in task.runs]
        warnings = contradiction_warnings(task_runs)
        task_names = [task.name for task in self._tasks]
        names = _names(self.differences)
        for run in self.runs:
            if run.name in names:
                warnings += run_warnings(run, task_names)
        return list(dict.fromkeys(printable(warning) for warning in warnings))

    def _how_it_was_tested(self) -> str:
        """How the differences were tested, and what the columns of the tables are."""
        tests = count_tests(self.differences)
        sentences = [
            _TABLE_OF_RUNS,
            f"p: approximate randomization, two-sided, {self.resamples:,} random swaps,"
            f" seed {self.seed}.",
            "smallest: the true difference that these rows detect with 80 % power.",
        ]
        if self.has_main_metrics_alone:
            sentences.append(
                "Tested: the main metric of each task over all rows (--metric and --all test"
                " others)."
            )
        sentences.append(f"p Holm: adjusted for all tests ({tests}); * below {ALPHA}.")
        if any(difference.p_repeats is not None for difference in self.differences):
            sentences.append(
                "Runs with repeats: mean ± sd; t test over rows and seeds, with the standard error"
                " of a hierarchical bootstrap."
            )
        if any(task.has_overlapping_parts() for task in self._tasks):
            sentences.append("Parts overlap: a row counts in each that it belongs to.")
        return " ".join(sentences)


def _names(differences: Iterable[Difference]) -> set[str]:
    """The names of the runs that some differences are between."""
    names = set()
    for difference in differences:
        names.add(difference.baseline)
        names.add(difference.candidate)
    return names


def _comments(lines: Iterable[str]) -> str:
    """Lines as comments of LaTeX."""
    return "\n".join(f"% {printable(line)}" for line in lines)


def _latex_table(table: pd.DataFrame, caption: str) -> str:
    """A table of texts in LaTeX; cells that begin with ``**57.0**`` have that word in bold."""
    escaped = table.map(latex).rename(columns=latex)
    escaped = escaped.replace(r"^\*\*(\S+)\*\*", r"\\textbf{\1}", regex=True)
    columns = alignment([list(table.columns), *table.to_numpy().tolist()])
    code: str = escaped.to_latex(
        index=False, escape=False, column_format=columns, caption=latex(caption)
    )
    return code.rstrip()
