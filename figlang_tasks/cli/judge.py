"""``figlang judge``: people or a language model judge what finished runs answered (docs/judge.md).

``figlang judge llm`` and ``read`` are in `figlang_tasks.cli.judge_llm` and `judge_read`.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from figlang_tasks.cli import say, say_json
from figlang_tasks.cli.judge_llm import llm
from figlang_tasks.cli.judge_read import read
from figlang_tasks.cli.options import AsJson, Runs
from figlang_tasks.core.whole_paths import new_folder

app = typer.Typer(no_args_is_help=True)


@app.callback()
def judge() -> None:
    """Let people or a language model judge explanations, or a model read what our readers left.
    See docs/judge.md.
    """


ExportFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Folder to write into: annotator1.csv, ..., images and key.json.",
        show_default=False,
    ),
]
ExportTask: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Task of the runs, if several have explanations. irfl_generate: sort pictures.",
        show_default=False,
    ),
]
Scores: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="VERDICTS",
        help="Verdicts of figlang judge llm on these runs, in place of ExplanationScores.",
        show_default=False,
    ),
]
Count: TypeAlias = Annotated[
    int,
    typer.Option("--n", min=1, help="Samples to draw, or all if there are fewer; 95 in the paper."),
]
BySource: TypeAlias = Annotated[
    bool, typer.Option("--by-source", help="Draw from each source in proportion to its rows.")
]
Power: TypeAlias = Annotated[
    bool,
    typer.Option("--power", help="Only say how many labels give an interval of a wanted width."),
]


@app.command()
def export(
    runs: Runs,
    output: ExportFolder = None,
    task: ExportTask = None,
    count: Count = 95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampling and of the letters.")] = 0,
    annotators: Annotated[int, typer.Option(min=1, max=99, help="Sheets to write.")] = 2,
    by_source: BySource = False,
    scores: Scores = None,
    power: Power = False,
) -> None:
    """Write blind sheets for annotators, and pictures.

    The runs have explanations of the same rows. A sheet has one row for each explanation, with
    letters in place of the systems' names. Keep the key secret: it says which letter is which
    system and contains gold labels and scores. Give each annotator a sheet and the folder of
    pictures. docs/judge.md explains how to fill in a sheet.

    With --task irfl_generate, RUN is a folder of pictures that a text-to-image model generated, and
    annotators sort each picture into a category.

    \b
    figlang judge export SG=results/llava --power
    figlang judge export SG=results/llava GPT=results/gpt -o human --n 50
    figlang judge export SG=results/llava GPT=results/gpt -o human --scores verdicts.jsonl
    figlang judge export --task irfl_generate SDXL=pictures/sdxl FLUX=pictures/flux -o human
    """
    from figlang_tasks.judge import export as explanations
    from figlang_tasks.judge import pictures

    is_of_pictures = task in pictures.benchmarks_of_tasks()
    if is_of_pictures and (power or by_source or scores is not None):
        raise typer.BadParameter(
            f"--power, --by-source and --scores are of explanations: leave out --task {task}"
        )
    if power:
        _say_power(runs, task, output)
        return
    if output is None:
        raise typer.BadParameter("name a folder: -o human", param_hint="--output")
    with new_folder(output) as folder:
        # Both return the names of the files in the folder.
        if task is None or not is_of_pictures:
            written = explanations.export(
                runs,
                folder,
                count=count,
                seed=seed,
                annotators=annotators,
                by_source=by_source,
                task=task,
                scores=scores,
            )
        else:
            written = pictures.export(runs, folder, task=task, seed=seed, annotators=annotators)
    _say_written(output, written)


def _say_power(runs: list[str], task: str | None, output: Path | None) -> None:
    """Print how many labels runs need; the option --output is a mistake then."""
    if output is not None:
        raise typer.BadParameter("--power writes nothing: leave out --output")
    from figlang_tasks.judge import power

    say(power.text(runs, task))


def _say_written(output: Path, written: list[str]) -> None:
    """Name the files of an export and the next command."""
    for name in written:
        say(f"written: {output / name}")
    quoted_folder = shlex.quote(str(output))
    say(
        f"next: fill in the sheets, then figlang judge agree {quoted_folder}/key.json"
        f" {quoted_folder}/annotator*.csv"
    )


@app.command()
def agree(
    key: Annotated[
        Path, typer.Argument(metavar="KEY", help="The key.json of the export.", show_default=False)
    ],
    sheets: Annotated[
        list[Path],
        typer.Argument(
            metavar="SHEET SHEET...", help="Filled sheets, two or more.", show_default=False
        ),
    ],
    any_label: Annotated[
        bool,
        typer.Option(
            "--any-label",
            help=(
                "Also count explanations of rows with a wrong label. The paper did not judge them."
            ),
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare sheets that annotators have filled in.

    The command prints their missing judgements, their agreement (Cohen's kappa), the adequacy,
    errors and preferences that they marked, and how well ExplanationScore predicts their judgement,
    beside the paper's figures. Sheets may be saved by a spreadsheet program. For sheets of
    pictures, it prints the share of each category for each system and kind of prompt.

    \b
    figlang judge agree human/key.json ann.csv bob.csv gpt-4o.csv
    """
    if len(sheets) < 2:
        raise typer.BadParameter("agreement needs two sheets or more", param_hint="SHEET")

    from figlang_tasks.judge import agree as agreement

    report = agreement.agree(key, sheets, any_label=any_label)
    if as_json:
        say_json(report)
    else:
        say(agreement.text(report).rstrip("\n"))


app.command()(llm)
app.command()(read)
