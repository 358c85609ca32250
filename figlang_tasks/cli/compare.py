"""``figlang compare``: differences between runs with paired tests, and the papers' rows beside
them.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from figlang_tasks.cli import say_json
from figlang_tasks.cli.options import AsJson, Runs
from figlang_tasks.core.text import alignment, latex, printable, printable_lines
from figlang_tasks.report import verdict
from figlang_tasks.results import comparison, frame, measures, published, tables
from figlang_tasks.results.comparison import Difference
from figlang_tasks.results.runs import read_all
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL, full_name

if TYPE_CHECKING:
    import pandas as pd


def compare(
    runs: Runs,
    task: Annotated[
        list[str] | None,
        typer.Option(help="Compare only this task; may be repeated.", show_default="all shared"),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Test this metric, with all sources (f1@60) or for one (f1@60_muse); may be"
                " repeated."
            ),
            show_default="the main metric of each task, over all rows",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Test all metrics, with all sources.")
    ] = False,
    overall: Annotated[
        bool, typer.Option("--overall", help="Test all rows together, not each source.")
    ] = False,
    paper: Annotated[bool, typer.Option("--paper", help="Also show the papers' results.")] = False,
    resamples: Annotated[
        int, typer.Option(min=100, help="Number of bootstrap resamples and of random swaps.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of resamples and swaps.")] = 20240501,
    style: Annotated[
        Literal["md", "latex"],
        typer.Option(
            "--format", help="md: tables in Markdown. latex: the same for a paper (booktabs)."
        ),
    ] = "md",
    as_json: AsJson = False,
) -> None:
    """Test whether one model is better than another.

    The runs have the same rows. For each pair of them, the command tests the main metric of each
    task: it prints the difference with its 95 % interval, p of the two-sided test of approximate
    randomization, and p after Holm's adjustment for all tests of the command. * marks adjusted p
    below .05. Each further test (--metric, --all) costs power. The last lines say which run is
    better, or rank the runs if there are more than two.

    Runs of one name are repeats that differ in the seed alone. The command compares their mean, and
    the test is over rows and seeds. Of several answers to a row in one run (--repeats) it compares
    the mean of each row.

    \b
    figlang compare results/model_a results/model_b --paper
    figlang compare base=a_samples_vflute.jsonl tuned=b_samples_vflute.jsonl --metric f1@60
    figlang compare results/model_a results/model_b --all --overall --format latex > table.tex
    figlang compare "probe=runs/probe_seed*" "base=runs/base_seed*"
    """
    found = read_all(runs, repeats=True)
    differences = comparison.compare(found, metric, task, overall, resamples, seed, every=every)
    made = _Comparison(found, differences, paper, resamples, seed, is_short=not (metric or every))
    if as_json:
        say_json(made.content())
    else:
        shown = printable_lines(made.latex() if style == "latex" else made.markdown())
        if sys.stdout.isatty():
            shown = re.sub(
                r"\*\*(\S+)\*\*", lambda found: "    " + typer.style(found[1], bold=True), shown
            )
        typer.echo(shown)


_VALUES = "Shares in percent, with 95 % intervals. Bold: best."


@dataclass(frozen=True)
class _Comparison:
    """Compared runs, as the formats of the command show them; `is_short` if only the main metrics
    were tested.
    """

    runs: Sequence[Run]
    differences: Sequence[Difference]
    paper: bool
    resamples: int
    seed: int
    is_short: bool

    def content(self) -> dict[str, Any]:
        """The object of ``--json``."""
        return {
            "runs": [
                {"name": run.name, "path": str(run.path), "limited": run.partial}
                for run in self.runs
            ],
            "resamples": self.resamples,
            "seed": self.seed,
            "tests": verdict.count_tests(self.differences),
            "differences": [asdict(each) for each in self.differences],
            "headlines": verdict.verdicts(self.differences),
        }

    def markdown(self) -> str:
        """For each task a table of the runs, and one of each pair; then how it was tested, and the
        verdicts.
        """
        parts = self.caveats()
        for task in self.by_task:
            shown, told = self.values(task)
            parts += [f"## {task}", tables.markdown(shown), *told]
            parts += [f"{title}\n\n{tables.markdown(pair)}" for title, pair in self.pairs(task)]
        return "\n\n".join([*parts, self.how(), "\n".join(verdict.verdicts(self.differences))])

    def latex(self) -> str:
        """The same tables for a paper, what is said beside them as comments."""
        parts = [_comments([r"\usepackage{booktabs}", self.how(), *self.caveats()])]
        for task in self.by_task:
            shown, told = self.values(task)
            parts += [_latex(shown, f"{task}. {_VALUES}"), _comments(told)]
            parts += [
                _latex(pair, f"{task}: {title}. * p Holm < {verdict.ALPHA}.")
                for title, pair in self.pairs(task)
            ]
        return "\n\n".join(filter(None, [*parts, _comments(verdict.verdicts(self.differences))]))

    def values(self, task: str) -> tuple[pd.DataFrame, list[str]]:
        """The table of the runs, best values as ``**57.0**``, with what was published beneath; what
        is said below.
        """
        import pandas as pd

        of_runs = self.compared(task)
        numbers = frame.estimates_frame((run.name, {task: own.estimates}) for run, own in of_runs)
        numbers["metric"] = [
            full_name(*place) for place in zip(numbers["metric"], numbers["scope"], strict=True)
        ]
        with_value = set(numbers["metric"])  # without explanation scores f1@53 has none
        columns = [name for name in self.columns(task) if name in with_value]
        shown = tables.wide_table(numbers, ["run"], columns)
        repeats = Counter(run.name for run, _ in of_runs)
        means = numbers.groupby(["run", "metric"])["value"].agg(["mean", "std"])
        for column in columns:
            best = _best(means["mean"].xs(column, level="metric"), column)
            cells = []
            for name, cell in zip(shown["run"], shown[column], strict=True):
                if repeats[name] > 1 and cell:
                    cell = " ± ".join(
                        measures.value_text(column, number) for number in means.loc[(name, column)]
                    )
                cells.append(re.sub(r"^\S+", r"**\g<0>**", cell) if name in best else cell)
            shown[column] = cells
        shown["run"] = [self.label(task, name) for name in shown["run"]]
        scorers = dict.fromkeys(own.signature or own.scorer for _, own in of_runs)
        told = [f"explanation scorer: {each}" for each in scorers if each]
        if self.paper:
            comparable, left_out = published.comparable_metrics(
                task, columns, [own.conditions for _, own in of_runs]
            )
            rows, protocol = (
                published.published_rows(task, comparable),
                published.protocol_text(task, comparable),
            )
            lines = [(f"{row.label} (published, {row.table})", row.values) for row in rows]
            shown = pd.concat([shown, tables.published_table(lines, shown)])
            about = list(filter(None, [protocol and f"published: {protocol}", left_out]))
            told = [*(about or [f"published: nothing for {', '.join(columns)} of {task}"]), *told]
        return shown.rename(columns={"run": ""}).rename(columns=measures.name_with_arrow), told

    def label(self, task: str, name: str) -> str:
        """The name of a run in the table, with the number of runs of this name, or of answers to
        each row.
        """
        runs = [task_run for run, task_run in self.compared(task) if run.name == name]
        if len(runs) > 1:
            return f"{name} ({len(runs)} runs)"
        answers = comparison.answers_per_row(task, name, runs[0])
        return f"{name} ({answers} answers to a row)" if answers > 1 else name

    def pairs(self, task: str) -> Iterator[tuple[str, pd.DataFrame]]:
        """A title, and the table of the differences, for each pair of runs."""
        for (baseline, candidate), pair in itertools.groupby(
            self.by_task[task], key=lambda each: (each.baseline, each.candidate)
        ):
            yield (
                f"{printable(candidate)} against {printable(baseline)}",
                verdict.of_differences(list(pair)),
            )

    def columns(self, task: str) -> list[str]:
        """The columns of the table of the runs: with the main metric all that stands in the
        harness's table.
        """
        if self.is_short:
            _, run = self.compared(task)[0]
            return [
                each.name for each in run.measures.all if each.in_table and not each.is_diagnostic
            ]
        own = self.by_task[task]
        return list(
            dict.fromkeys(
                [each.name for each in own if each.scope == OVERALL] or [each.name for each in own]
            )
        )

    @cached_property
    def by_task(self) -> dict[str, list[Difference]]:
        return {
            task: list(own)
            for task, own in itertools.groupby(self.differences, key=lambda each: each.task)
        }

    def compared(self, task: str) -> list[tuple[Run, TaskRun]]:
        """The runs that were compared on a task, each repeat on its own; across tasks a run has a
        single one.
        """
        names = {name for each in self.by_task[task] for name in (each.baseline, each.candidate)}
        found = [run for run in self.runs if run.name in names]
        return [(run, run.tasks.get(task) or next(iter(run.tasks.values()))) for run in found]

    def caveats(self) -> list[str]:
        found = verdict.contradicted(pair for task in self.by_task for pair in self.compared(task))
        names = {name for each in self.differences for name in (each.baseline, each.candidate)}
        found += [
            caveat
            for run in self.runs
            if run.name in names
            for caveat in verdict.caveats(run, self.by_task)
        ]
        return list(dict.fromkeys(map(printable, found)))

    def how(self) -> str:
        """How it was tested, and what the columns of the tables are."""
        count = verdict.count_tests(self.differences)
        what = (
            "the main metric of each task over all rows (--metric and --all test others); "
            * self.is_short
        )
        told = (
            f"{_VALUES} p: approximate randomization, two-sided, {self.resamples:,} random swaps,"
            f" seed {self.seed}. smallest: with these rows, less of a difference has p below"
            f" {verdict.ALPHA} in fewer than four of five samples. Tested: {what}p Holm is adjusted"
            f" for all tests ({count}); * below {verdict.ALPHA}."
        )
        if any(each.p_repeats is not None for each in self.differences):
            told += (
                " Runs with repeats: mean ± sd; t over rows and seeds, standard error by a"
                " hierarchical bootstrap."
            )
        of_parts = {each.task for each in self.differences if each.scope != OVERALL}
        if any(
            measures.scopes_overlap(own.estimates)
            for task in of_parts
            for _, own in self.compared(task)
        ):
            told += " Parts overlap: a row counts in each that it belongs to."
        return told


def _best(values: pd.Series, metric: str) -> set[Any]:
    """The runs with the best value of a metric, as it is printed."""
    if len(values) < 2:
        return set()
    best = values.max() if measures.measure_of(metric).higher_is_better else values.min()
    return {
        name
        for name, value in values.items()
        if measures.value_text(metric, value) == measures.value_text(metric, best)
    }


def _comments(lines: Iterable[str]) -> str:
    return "\n".join(f"% {printable(line)}" for line in lines)


def _latex(shown: pd.DataFrame, caption: str) -> str:
    escaped = shown.map(latex).rename(columns=latex)
    escaped = escaped.replace(r"^\*\*(\S+)\*\*", r"\\textbf{\1}", regex=True)
    aligned = alignment([list(shown.columns), *shown.to_numpy().tolist()])
    return escaped.to_latex(
        index=False, escape=False, column_format=aligned, caption=latex(caption)
    ).rstrip()
