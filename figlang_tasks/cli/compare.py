"""``figlang compare``: differences between runs with paired tests, and the papers' rows beside them."""

from __future__ import annotations

import itertools
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from figlang_tasks.cli import failing, say, say_json
from figlang_tasks.core.text import csv_text, latex, printable
from figlang_tasks.scoring import OVERALL, Estimates, full_name

if TYPE_CHECKING:
    import pandas as pd

    from figlang_tasks.results.comparison import Difference
    from figlang_tasks.results.runs import Run, TaskRun

Format = Literal["md", "csv", "latex"]

_SECONDS_BEFORE_A_BAR = 2
_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"


def compare(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN RUN...",
            help="Two runs or more: the samples file, results file or folder of each; NAME=PATH gives it a "
            'name. Runs of one name are repeats (other seeds): "NAME=runs/a_seed*".',
            show_default=False,
        ),
    ],
    task: Annotated[
        list[str] | None, typer.Option(help="Compare only this task; may be repeated.", show_default="all shared")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            help="Test this metric, with all sources (f1@60) or for one (f1@60_muse); may be repeated.",
            show_default="the main metric of each task, over all rows",
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Test all metrics, with all sources.")] = False,
    overall: Annotated[bool, typer.Option("--overall", help="Test all rows together, not each source.")] = False,
    paper: Annotated[bool, typer.Option("--paper", help="Also show the papers' results.")] = False,
    resamples: Annotated[
        int, typer.Option(min=100, help="Number of bootstrap resamples and of random swaps.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of resamples and swaps.")] = 20240501,
    style: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="md: tables in Markdown. csv: all numbers of the differences, on the metric's own scale. latex: "
            "tables for a paper (booktabs).",
            show_default="md",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
) -> None:
    """Compare runs on the same rows: is one model better than another?

    For each pair of runs, the command tests the main metric of each task: it prints the difference with its 95 %
    interval, p of the two-sided test of approximate randomization, and p after Holm's adjustment for all tests of the
    command. * marks adjusted p below .05. Each further test (--metric, --all) costs power. The last lines say which run
    is better, or rank the runs if there are more than two.

    Runs of one name are repeats that differ in the seed alone. The command compares their mean, and the test is over
    rows and seeds.

    \b
    figlang compare results/model_a results/model_b --paper
    figlang compare base=a_samples_vflute.jsonl tuned=b_samples_vflute.jsonl --metric f1@0 --metric f1@60
    figlang compare image=x_samples_vflute.jsonl no_image=x_samples_vflute_blind.jsonl
    figlang compare results/model_a results/model_b --all --overall --format latex > table.tex
    figlang compare "probe=runs/probe_seed*" "base=runs/base_seed*"

    Exit status: 0 compared, 1 not comparable or not readable, 2 wrong usage.
    """
    if as_json and style is not None:
        raise typer.BadParameter("--json and --format are two formats: name one")
    if paper and (as_json or style == "csv"):
        raise typer.BadParameter("--paper goes with --format md and --format latex")
    if metric and every:
        raise typer.BadParameter("--all tests all metrics: leave out --metric")
    from tqdm import tqdm

    from figlang_tasks.results.comparison import compare as compare_runs
    from figlang_tasks.results.runs import read_all

    with failing("compare"):
        found = read_all(runs, repeats=True)
        with tqdm(
            total=1, desc="comparing", delay=_SECONDS_BEFORE_A_BAR, leave=False, disable=None, bar_format=_BAR
        ) as bar:
            differences = compare_runs(found, metric, task, overall, resamples, seed, bar.update, every=every)
    made = _Comparison(found, differences, paper, resamples, seed, is_short=not (metric or every))
    if as_json:
        say_json(made.content())
    elif style == "csv":
        say("\n".join([*made.caveats(), *made.verdicts()]), err=True)
        say(made.csv(), nl=False)
    else:
        say(made.latex() if style == "latex" else made.markdown())


@dataclass(frozen=True)
class _Comparison:
    """Compared runs, as the formats of the command show them.

    Attributes:
        is_short: whether only the main metrics were tested.
    """

    runs: Sequence[Run]
    differences: Sequence[Difference]
    paper: bool
    resamples: int
    seed: int
    is_short: bool

    def content(self) -> dict[str, Any]:
        """The object of ``--json``."""
        from figlang_tasks.results.runs import limited
        from figlang_tasks.results.verdict import count_tests

        return {
            "runs": [{"name": run.name, "path": str(run.path), "limited": limited(run)} for run in self.runs],
            "resamples": self.resamples,
            "seed": self.seed,
            "tests": count_tests(self.differences),
            "differences": [asdict(each) for each in self.differences],
            "headlines": self.verdicts(),
        }

    def csv(self) -> str:
        """A line for each difference: the fields of `Difference`, nothing where there is no number."""
        from figlang_tasks.results.comparison import Difference

        head = [field.name for field in fields(Difference)]
        return csv_text(head, [list(asdict(each).values()) for each in self.differences])

    def markdown(self) -> str:
        """Task by task a table of the runs, and one of each pair; then how it was tested, and the verdicts."""
        from figlang_tasks.cli.summary import scorer_line
        from figlang_tasks.results import tables
        from figlang_tasks.results.verdict import ALPHA

        parts = self.caveats()
        for task, own in self.by_task().items():
            shown, told = self.values(task, own, self.columns(task, own))
            parts += [f"## {task}", tables.markdown(tables.with_arrows(shown.rename(columns={"run": ""}))), *told]
            of_runs = [_of(run, task) for run in self.compared(own)]
            parts += [
                scorer_line(each) for each in dict.fromkeys(run.signature or run.scorer for run in of_runs) if each
            ]
            for (first, second), pair in itertools.groupby(own, key=lambda each: (each.first, each.second)):
                lines = tables.of_differences(list(pair))
                parts.append(f"{printable(second)} against {printable(first)}\n\n{tables.markdown(lines)}")
        what = "the main metric of each task over all rows (--metric and --all test others); " * self.is_short
        parts.append(
            f"Shares in percent, with 95 % intervals. Bold: best. p: approximate randomization, two-sided, "
            f"{self.resamples:,} random swaps, seed {self.seed}. smallest: with these rows, less of a difference has p "
            f"below {ALPHA} in fewer than four of five samples. Tested: {what}p Holm is adjusted for the "
            f"{self.tests()}; * below {ALPHA}.{self.remarks()}"
        )
        return "\n\n".join([*parts, "\n".join(self.verdicts())])

    def latex(self) -> str:
        """A table of each task, and of the sources of each metric where they were compared."""
        how = (
            f"95 % intervals. Best value bold. Superscripts: significantly better than that run (p < .05, approximate "
            f"randomization, two-sided, {self.resamples:,} swaps, seed {self.seed}; Holm's method for {self.tests()})."
            f"{self.remarks()}"
        )
        parts = ["\n".join(f"% {line}" for line in [r"\usepackage{booktabs}", *self.caveats()])]
        for task, own in self.by_task().items():
            counts = sorted({_of(run, task).rows for run in self.compared(own)})
            title = f"{task}, n = {' / '.join(map(str, counts))}. {how}"
            columns = self.columns(task, own)
            shown, told = self.values(task, own, columns, in_latex=True)
            parts += [_latex(shown.drop(columns="n"), title), *(f"% {printable(line)}" for line in told)]
            for metric in dict.fromkeys(each.metric for each in own):
                names = dict.fromkeys(each.name for each in own if each.metric == metric)
                if sources := [name for name in names if name not in columns]:
                    shown, _ = self.values(task, own, sources, in_latex=True, paper=False)
                    parts.append(_latex(shown.drop(columns="n"), f"{task}, {metric} by source."))
        return "\n\n".join([*parts, "\n".join(f"% {sentence}" for sentence in self.verdicts())])

    def values(
        self, task: str, own: Sequence[Difference], columns: Sequence[str], in_latex: bool = False, paper: bool = True
    ) -> tuple[pd.DataFrame, list[str]]:
        """The table of the runs with what was published beneath, and what is said of the latter."""
        import pandas as pd

        from figlang_tasks.results import frame, measures, published, runs, tables

        numbers = frame.values((run.name, {task: _estimates(_of(run, task))}) for run in self.compared(own))
        numbers["metric"] = [full_name(*place) for place in zip(numbers["metric"], numbers["scope"], strict=True)]
        columns = [name for name in columns if name in set(numbers["metric"])]  # an older version lacks some
        shown = tables.wide(numbers, "run", columns)
        repeats = {name: count for name, count in Counter(run.name for run in self.runs).items() if count > 1}
        means = numbers.groupby(["run", "metric"])["value"].agg(["mean", "std"])
        letters = dict(zip(shown["run"], string.ascii_letters, strict=False))
        for column in columns:
            best = _best(means["mean"].xs(column, level="metric"), column)
            cells = []
            for name, cell in zip(shown["run"], shown[column], strict=True):
                if name in repeats and cell:
                    cell = " ± ".join(measures.text(column, number) for number in means.loc[(name, column)])
                above = [letters[other] for other in _worse(own, column, name)]
                cells.append(_cell(cell, name in best, above, in_latex))
            shown[column] = cells
        of = {name: f"{name} ({repeats[name]} runs)" if name in repeats else name for name in shown["run"]}
        shown["run"] = [f"{letters[name]}: {latex(name)}" if in_latex else of[name] for name in shown["run"]]
        if not (self.paper and paper):
            return shown, []
        measured = [runs.measured(_of(run, task)) for run in self.compared(own)]
        comparable, left_out = published.comparable(task, columns, measured)
        rows, protocol = published.rows(task, comparable), published.protocol(task, comparable)
        beneath = tables.of_published([(f"{row.label} (published, {row.table})", row.values) for row in rows], shown)
        told = [f"published: {protocol}"] * bool(protocol) + [left_out] * bool(left_out)
        nothing = ["published: we know of no published figures for this task and these metrics"]
        return pd.concat([shown, beneath.map(latex) if in_latex else beneath]), told or nothing

    def columns(self, task: str, own: Sequence[Difference]) -> list[str]:
        """The columns of the table of the runs: with the main metric all that stands in the harness's table."""
        whole = [each.name for each in own if each.scope == OVERALL] or [each.name for each in own]
        if not self.is_short:
            return list(dict.fromkeys(whole))
        runs = [_of(run, task) for run in self.compared(own)]
        there = {name for run in runs for name, scopes in _estimates(run).items() if OVERALL in scopes}
        shown = [each for each in runs[0].measures.all if each.headline and not each.diagnostic and each.name in there]
        return [each.name for each in shown] or list(dict.fromkeys(whole))

    def by_task(self) -> dict[str, list[Difference]]:
        tasks = dict.fromkeys(each.task for each in self.differences)
        return {task: [each for each in self.differences if each.task == task] for task in tasks}

    def compared(self, own: Iterable[Difference]) -> list[Run]:
        """The runs of some differences, each repeat on its own."""
        names = {name for each in own for name in (each.first, each.second)}
        return [run for run in self.runs if run.name in names]

    def caveats(self) -> list[str]:
        from figlang_tasks.results.runs import caveats

        tasks = list(self.by_task())
        found = [caveat for run in self.compared(self.differences) for caveat in caveats(run, tasks)]
        return list(dict.fromkeys(map(printable, found)))

    def verdicts(self) -> list[str]:
        from figlang_tasks.results.verdict import verdicts

        return verdicts(self.differences)

    def tests(self) -> str:
        from figlang_tasks.results.verdict import count_tests

        count = count_tests(self.differences)
        return f"{count} test{'s' * (count != 1)}"

    def remarks(self) -> str:
        """Of repeats, and of sources that overlap, where there are any."""
        from figlang_tasks.results import measures

        told = []
        if any(each.p_repeats is not None for each in self.differences):
            told.append(
                "Runs with repeats: mean ± sd; t over rows and seeds, standard error by a hierarchical bootstrap."
            )
        counts: dict[tuple[str, ...], dict[str, int | None]] = {}
        for each in self.differences:
            counts.setdefault((each.task, each.metric, each.first, each.second), {})[each.scope] = each.n_first
        if any(measures.overlap(of.pop(OVERALL, None), of.values()) for of in counts.values()):
            told.append("Sources overlap: a row counts in each that it belongs to.")
        return "".join(f" {each}" for each in told)


def _of(run: Run, task: str) -> TaskRun:
    """Its run of the task; of a comparison across tasks the only one it has."""
    return run.tasks[task] if task in run.tasks else next(iter(run.tasks.values()))


def _estimates(run: TaskRun) -> Estimates:
    return run.of_samples if run.contradictions else run.estimates


def _best(values: pd.Series, metric: str) -> set[Any]:
    """The runs with the best value of a metric, as it is printed."""
    from figlang_tasks.results import measures

    found = measures.named(metric)
    best = values.max() if found is None or found[0].higher_is_better else values.min()
    return {name for name, value in values.items() if measures.text(metric, value) == measures.text(metric, best)}


def _worse(own: Sequence[Difference], metric: str, run: str) -> list[str]:
    """The runs that a run is significantly better than, by a metric."""
    from figlang_tasks.results.verdict import better

    pairs = [each for each in own if each.name == metric and better(each) == run]
    return [each.first if each.second == run else each.second for each in pairs]


def _cell(cell: str, is_best: bool, above: Sequence[str], in_latex: bool) -> str:
    """A value with its interval, the best one bold."""
    value, _, interval = cell.partition(" ")
    if not in_latex:
        return f"**{value}** {interval}".rstrip() if is_best and value else cell
    shown = rf"\textbf{{{latex(value)}}}" if is_best and value else latex(value)
    if above:
        shown += rf"\textsuperscript{{{','.join(above)}}}"
    return shown + (rf" {{\footnotesize{latex(f' {interval}')}}}" if interval else "")


def _latex(shown: pd.DataFrame, caption: str) -> str:
    from figlang_tasks.results import measures

    heads: Mapping[str, str] = {name: latex(measures.name_text(name)) for name in shown.columns} | {"run": ""}
    aligned = "l" + "r" * (len(heads) - 1)
    return (
        shown.rename(columns=heads)
        .to_latex(index=False, escape=False, column_format=aligned, caption=latex(caption))
        .rstrip()
    )
