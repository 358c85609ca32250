"""``figlang compare``: differences between runs, with paired tests and the papers' results."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from figlang_tasks.cli import say_json, say_tables
from figlang_tasks.cli.comparison_text import ComparisonText
from figlang_tasks.cli.judged import (
    Judged,
    comments_of,
    json_of,
    paragraphs_of,
    read_judged,
)
from figlang_tasks.cli.options import AsJson, Runs
from figlang_tasks.results import comparison
from figlang_tasks.results.runs import read_all

Tasks: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(help="Compare only this task; may be repeated.", show_default="all shared"),
]
Metrics: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help=(
            "Test this metric over all rows and in each scope (f1@60), or in one scope"
            " (f1@60_muse); may be repeated."
        ),
        show_default="the main metric of each task, over all rows",
    ),
]
Overall: TypeAlias = Annotated[
    bool, typer.Option("--overall", help="Test over all rows, not in each scope.")
]
Resamples: TypeAlias = Annotated[
    int, typer.Option(min=100, help="Number of bootstrap resamples and of random swaps.")
]
Style: TypeAlias = Annotated[
    Literal["md", "latex"],
    typer.Option(
        "--format", help="md: tables in Markdown. latex: the same for a paper (booktabs)."
    ),
]


def compare(
    runs: Runs,
    task: Tasks = None,
    metric: Metrics = None,
    every: Annotated[
        bool, typer.Option("--all", help="Test all metrics, over all rows and in each scope.")
    ] = False,
    overall: Overall = False,
    paper: Annotated[bool, typer.Option("--paper", help="Also show the papers' results.")] = False,
    resamples: Resamples = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of resamples and swaps.")] = 20240501,
    judged: Judged = None,
    style: Style = "md",
    as_json: AsJson = False,
) -> None:
    """Test whether one model is better than another.

    The runs have the same rows. For each pair of them, the command tests the main metric of each
    task: it prints the difference with its 95 % interval, p of the two-sided test of approximate
    randomization, and p after Holm's adjustment for all tests of the command. * marks adjusted p
    below .05. Each further test (--metric, --all) costs power. The last lines say which run is
    better, or rank them if there are more than two, and what the pictures add if a run is blind.

    Runs of one name are repeats, which differ in the seed alone. The command compares their means,
    and the test is over rows and seeds. If a run has several answers to a row (--repeats), it
    compares the mean of each row.

    \b
    figlang compare results/model_a results/model_b --paper
    figlang compare base=a_samples_vflute.jsonl tuned=b_samples_vflute.jsonl --metric f1@60
    figlang compare SG=results/sg GPT=results/gpt --judged human/key.json
    figlang compare results/model_a results/model_b --all --overall --format latex > table.tex
    figlang compare "probe=runs/probe_seed*" "base=runs/base_seed*"
    """
    compared_runs = read_all(runs, repeats=True)
    differences = comparison.compare(
        compared_runs,
        metrics=metric,
        tasks=task,
        only_overall=overall,
        all_metrics=every,
        resamples=resamples,
        seed=seed,
    )
    text = ComparisonText(
        compared_runs,
        differences,
        shows_papers=paper,
        resamples=resamples,
        seed=seed,
        has_main_metrics_alone=not (metric or every),
    )
    judgements = None if judged is None else read_judged(judged, compared_runs)
    if as_json:
        say_json({**text.json_content(), **json_of(judgements)})
    elif style == "latex":
        say_tables("\n\n".join([text.latex(), *comments_of(judgements)]))
    else:
        say_tables("\n\n".join([text.markdown(), *paragraphs_of(judgements)]))
