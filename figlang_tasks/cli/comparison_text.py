"""A comparison of runs as ``figlang compare`` prints it: Markdown, LaTeX or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from figlang_tasks.cli.compared_task import ComparedRun, ComparedTask
from figlang_tasks.core.text import alignment, latex, latex_label, latex_line_head, printable
from figlang_tasks.report.picture_gain import PictureGain, picture_gains
from figlang_tasks.report.run_warnings import contradiction_warnings, run_warnings
from figlang_tasks.report.verdict import verdicts
from figlang_tasks.results import tables
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.groups import ALPHA, BOLD_NOTE, count_tests
from figlang_tasks.results.task_run import Run

if TYPE_CHECKING:
    import pandas as pd

_TABLE_OF_RUNS = f"Shares in percent, with 95 % intervals. {BOLD_NOTE}."


@dataclass(frozen=True)
class ComparisonText:
    """A comparison of runs in the formats of the command.

    Attributes:
        runs: those that the user named; runs that share a name are repeats.
        differences: of all pairs of runs, task by task; some runs may have none.
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
        """The object that ``--json`` prints: runs, their differences and headlines, no warnings."""
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
            "picture_gains": [gain.json_content() for gain in self._picture_gains],
        }

    def markdown(self) -> str:
        """The comparison in Markdown: warnings, tables of each task, the tests, and verdicts."""
        paragraphs = self._warnings()
        for task in self._tasks:
            paragraphs.append(f"## {task.name}")
            paragraphs.append(tables.markdown(task.table_of_runs(self.shows_papers)))
            paragraphs += task.notes(self.shows_papers)
            for title, table in task.tables_of_pairs():
                paragraphs.append(f"{title}\n\n{tables.markdown(table)}")
        paragraphs.append(self._how_it_was_tested())
        paragraphs.append("\n".join(self._conclusions()))
        return "\n\n".join(paragraphs)

    def latex(self) -> str:
        """The tables of each task in LaTeX; the rest of the text stands in comments."""
        needed_package = r"\usepackage{booktabs}"
        paragraphs = [_comments([needed_package, self._how_it_was_tested(), *self._warnings()])]
        for task in self._tasks:
            table_of_runs = task.table_of_runs(self.shows_papers)
            caption = f"{task.name}. {_TABLE_OF_RUNS}"
            paragraphs.append(_latex_table(table_of_runs, caption, latex_label(task.name)))
            paragraphs.append(_comments(task.notes(self.shows_papers)))
            for title, table in task.tables_of_pairs():
                caption = f"{task.name}: {title}. * p Holm < {ALPHA}."
                label = latex_label(f"{task.name} {title}")
                paragraphs.append(_latex_table(table, caption, label))
        paragraphs.append(_comments(self._conclusions()))
        return "\n\n".join(paragraph for paragraph in paragraphs if paragraph)

    def _conclusions(self) -> list[str]:
        """The last lines: verdicts, and what the pictures add."""
        sentences_on_pictures = [gain.sentence for gain in self._picture_gains]
        return [*verdicts(self.differences), *sentences_on_pictures]

    @cached_property
    def _picture_gains(self) -> list[PictureGain]:
        """What the pictures add in the tasks that were compared."""
        tasks = {difference.task for difference in self.differences}
        return picture_gains(self.runs, tasks, resamples=self.resamples, seed=self.seed)

    @cached_property
    def _tasks(self) -> list[ComparedTask]:
        """The tasks that were compared, each with its runs and differences."""
        differences_by_task: dict[str, list[Difference]] = {}
        for difference in self.differences:
            differences_by_task.setdefault(difference.task, []).append(difference)
        tasks = []
        for name, differences in differences_by_task.items():
            task = ComparedTask(
                name,
                runs=self._runs_of(name, differences),
                differences=differences,
                has_main_metric_alone=self.has_main_metrics_alone,
            )
            tasks.append(task)
        return tasks

    def _runs_of(self, task: str, differences: Sequence[Difference]) -> list[ComparedRun]:
        """The runs that the differences of a task compare, each with its results of the task.

        Args:
            task: its name; in a comparison across tasks the names of both.
            differences: those of this task.
        """
        names = _names_of_runs(differences)
        compared_runs = []
        for run in self.runs:
            if run.name in names:
                task_run = run.tasks.get(task)
                if task_run is None:
                    # This is a comparison across tasks, and each run has one task alone.
                    task_run = next(iter(run.tasks.values()))
                compared_runs.append(ComparedRun(run, task_run))
        return compared_runs

    def _warnings(self) -> list[str]:
        """Sentences that a reader must know of the runs before the numbers, each once."""
        runs_with_task: list[ComparedRun] = []
        for task in self._tasks:
            runs_with_task += task.runs
        warnings = contradiction_warnings(runs_with_task)
        task_names = [task.name for task in self._tasks]
        # A run whose values could not be compared (all NaN, say) stands in no table of differences.
        names_of_compared_runs = _names_of_runs(self.differences)
        compared_runs = [run for run in self.runs if run.name in names_of_compared_runs]
        warnings += run_warnings(compared_runs, task_names)
        return list(dict.fromkeys(printable(warning) for warning in warnings))

    def _how_it_was_tested(self) -> str:
        """A paragraph on how the differences were tested, and on the columns of the tables."""
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
        test_count = count_tests(self.differences)
        sentences.append(f"p Holm: adjusted for all tests ({test_count}); * below {ALPHA}.")
        # Only runs with repeats have this p.
        if any(difference.p_repeats is not None for difference in self.differences):
            sentences.append(
                "Runs with repeats: mean ± sd; t test over rows and seeds, with the standard error"
                " of a hierarchical bootstrap."
            )
        if any(task.has_overlapping_scopes() for task in self._tasks):
            sentences.append("Parts overlap: a row counts in each that it belongs to.")
        return " ".join(sentences)


def _names_of_runs(differences: Iterable[Difference]) -> set[str]:
    """The names of the runs that some differences are between."""
    names = set()
    for difference in differences:
        names.add(difference.baseline)
        names.add(difference.candidate)
    return names


def _comments(lines: Iterable[str]) -> str:
    """Lines as comments of LaTeX."""
    return "\n".join(f"% {printable(line)}" for line in lines)


def _latex_table(table: pd.DataFrame, caption: str, label: str) -> str:
    """A table of texts in LaTeX; cells that begin with ``**57.0**`` have that word in bold."""
    escaped = table.map(latex).rename(columns=latex)
    # "**57.0** [55.1, 58.9]" becomes "\textbf{57.0} [55.1, 58.9]".
    escaped = escaped.replace(r"^\*\*(\S+)\*\*", r"\\textbf{\1}", regex=True)
    first_column = escaped.columns[0]
    escaped[first_column] = escaped[first_column].map(latex_line_head)
    # One letter for each column, as in ``lrr``.
    columns = alignment([list(table.columns), *table.to_numpy().tolist()])
    code: str = escaped.to_latex(
        index=False, escape=False, column_format=columns, caption=latex(caption), label=label
    )
    return code.rstrip()
