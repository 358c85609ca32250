"""``figlang judge``: people, or a language model, judge or read what finished runs answered
(docs/judge.md).
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from figlang_tasks.cli import folder_beside, new_folder, say, say_json
from figlang_tasks.cli.options import AsJson, Run, Runs
from figlang_tasks.core.errors import FigLangError

if TYPE_CHECKING:
    from figlang_tasks.judge.kept_answers import KeptAnswers
    from figlang_tasks.judge.read import TaskReading, Usage
    from figlang_tasks.judge.unread import UnreadAnswer, UnreadAnswers

app = typer.Typer(no_args_is_help=True)


@app.callback()
def judge() -> None:
    """Let people, or a language model, judge explanations, or a model read what our readers left.
    See docs/judge.md.
    """


Model: TypeAlias = Annotated[
    str, typer.Option(help="Name of the model at the server.", show_default=False)
]
Concurrency: TypeAlias = Annotated[
    int, typer.Option(min=1, max=64, help="Requests at the same time.")
]
MaxTokens: TypeAlias = Annotated[
    int, typer.Option(min=16, help="Tokens of an answer, with its thinking.")
]


@app.command()
def export(
    runs: Runs,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="Folder to write into: annotator1.csv, ..., images and key.json."
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Sort generated pictures: irfl_generate.", show_default=False
        ),
    ] = None,
    count: Annotated[
        int,
        typer.Option(
            "--n", min=1, help="Samples to draw, or all if there are fewer; 95 in the paper."
        ),
    ] = 95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sampling and of the letters.")] = 0,
    annotators: Annotated[int, typer.Option(min=1, max=99, help="Sheets to write.")] = 2,
) -> None:
    """Write blind sheets for annotators, and pictures.

    The runs have explanations of the same rows. A sheet has one row for each explanation, with
    letters in place of the systems' names. Keep the key secret: it says which letter is which
    system and contains gold labels and ExplanationScores. Give each annotator a sheet and the
    folder of pictures. docs/judge.md explains how to fill in a sheet.

    With --task, RUN is a folder of pictures that a text-to-image model generated, and annotators
    sort each picture into a category.

    \b
    figlang judge export SG=results/llava GPT=results/gpt -o human --n 50
    figlang judge export --task irfl_generate SDXL=pictures/sdxl FLUX=pictures/flux -o human
    """
    from figlang_tasks.judge import export as explanations
    from figlang_tasks.judge import pictures

    with new_folder(output) as made:
        if task is None:
            written = explanations.export(runs, made, count=count, seed=seed, annotators=annotators)
        else:
            written = pictures.export(runs, made, task=task, seed=seed, annotators=annotators)
    folder = shlex.quote(str(output))
    say("\n".join(f"written: {output / name}" for name in written))
    say(
        f"next: fill in the sheets, then figlang judge agree {folder}/key.json"
        f" {folder}/annotator*.csv"
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
    beside the paper's figures. Sheets may be saved by a spreadsheet program. Of a sheet of
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


@app.command()
def llm(
    sheet: Annotated[
        Path,
        typer.Argument(metavar="SHEET", help="An empty sheet of the export.", show_default=False),
    ],
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The filled sheet.", show_default=False)
    ],
    concurrency: Concurrency = 4,
    max_tokens: MaxTokens = 1024,
) -> None:
    """Let a language model fill in a sheet.

    The server speaks OpenAI's protocol; OPENAI_API_KEY and OPENAI_BASE_URL name the key and the
    server. The model gets the picture and the questions of an annotator. A cell stays empty if the
    answer is unreadable, and such cells are counted. If the command is interrupted, run it again:
    it keeps the answers so far. The sheet, and every result from it, says that a language model
    filled it in.

    \b
    OPENAI_API_KEY=... figlang judge llm human/annotator1.csv --model gpt-4o -o gpt-4o.csv
    OPENAI_BASE_URL=http://localhost:8000/v1 OPENAI_API_KEY=none \\
      figlang judge llm human/annotator1.csv --model Qwen/Qwen2.5-VL-7B-Instruct -o qwen.csv
    """
    from figlang_tasks.judge.llm import fill

    report = fill(sheet, output, model=model, concurrency=concurrency, max_tokens=max_tokens)
    say(
        f"{report['annotator']}: {report['asked']} requests; unreadable answers:"
        f" {report['unreadable']}, failed requests: {report['failed']} (their cells are empty)"
    )
    say("\n".join(f"written: {path}" for path in report["written"]))
    if report["failed"]:
        raise FigLangError(
            f"{report['failed']} requests failed, the last with {report['error']}: run the command"
            " again to ask them again"
        )


@app.command()
def read(
    run: Run,
    model: Model,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder of the new run. [default: RUN_read]", show_default=False
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked. Ask and write nothing.")
    ] = False,
    concurrency: Concurrency = 4,
    max_tokens: MaxTokens = 1024,
    price_read: Annotated[
        float | None,
        typer.Option(
            min=0, help="Price of a million tokens that the model reads.", show_default=False
        ),
    ] = None,
    price_written: Annotated[
        float | None,
        typer.Option(min=0, help="Price of a million tokens that it writes.", show_default=False),
    ] = None,
) -> None:
    """Let a language model read the answers that our readers left.

    The model gets the options and the answer, but not the gold label, and says which option the
    answer chooses, or none. It gets only answers in words that were not read. Empty answers and
    thoughts without an end are not asked.

    The command writes a new run: the samples with the model's readings beside ours (read_by), and
    the results with the main metric of each task once more, as METRIC_read_by_model. All other
    values are those of RUN. Give that folder to figlang compare and report.

    The server speaks OpenAI's protocol; OPENAI_API_KEY and OPENAI_BASE_URL name the key and the
    server. If the command is interrupted, run it again: it keeps the answers so far, and asks
    nothing twice.

    \b
    figlang judge read results/MODEL --model gpt-4o-mini --dry-run
    OPENAI_API_KEY=... figlang judge read results/MODEL --model gpt-4o-mini
    figlang compare a=results/a_read b=results/b_read --metric acc_read_by_model
    """
    from figlang_tasks.judge.kept_answers import KeptAnswers
    from figlang_tasks.judge.read import Usage, unanswered, write
    from figlang_tasks.judge.unread import find_unread
    from figlang_tasks.results import runs

    finished = runs.read(run)
    folder = output or folder_beside(finished.path, "read")
    unread = find_unread(finished, model)
    kept_answers = KeptAnswers(folder, unread.origin)
    prices = _Prices(price_read, price_written)
    questions = unanswered(unread, kept_answers, max_tokens)
    say(_plan(unread, len(questions)))
    if dry_run:
        say(_estimate(questions, max_tokens, prices))
        return

    usage = Usage()
    _ask(unread, kept_answers, usage, prices, concurrency, max_tokens)
    failure = (
        f"{usage.failed} requests failed, the last with {usage.error}: run the command again to ask"
        " them again"
    )
    if usage.failed and kept_answers.is_empty:
        raise FigLangError(failure)
    for task, reading in write(unread, kept_answers, folder).items():
        say(_told(task, reading, model, max_tokens))
    if usage.requests:
        say(_cost(usage, prices))
    say(f"written: {folder}\nnext: figlang report {shlex.quote(str(folder))} -o report.html")
    if usage.failed:
        raise FigLangError(failure)


class _Prices(NamedTuple):
    """What a million tokens cost; None where the user has not said."""

    read: float | None
    written: float | None

    def text(self, tokens_read: int, tokens_written: int) -> str:
        """The price of some tokens, behind a semicolon; "" without any price."""
        if self.read is None and self.written is None:
            return ""
        price = (tokens_read * (self.read or 0) + tokens_written * (self.written or 0)) / 1e6
        return f"; price {price:,.4f}"


def _plan(unread: UnreadAnswers, to_ask: int) -> str:
    """What our readers left in each task, and what is about to be asked."""
    lines = []
    for task, readable in unread.tasks.items():
        lines.append(
            f"{task}: our readers left {len(readable.unread)} of {len(readable.task.samples)}"
            " answers"
        )
    for task, reason in unread.left_out.items():
        lines.append(f"{task}: left out, because {reason}")
    different = len(unread.questions)
    if not different:
        lines.append("nothing is left to ask: our readers have read every answer that has words")
    else:
        known = f"; {different - to_ask} answers are kept from before" if to_ask < different else ""
        lines.append(f"{to_ask} requests to {unread.model} (equal answers are asked once{known})")
    return "\n".join(lines)


def _estimate(questions: Sequence[UnreadAnswer], max_tokens: int, prices: _Prices) -> str:
    """What the requests will cost, at most."""
    to_read = sum(question.estimated_tokens for question in questions)
    to_write = len(questions) * max_tokens
    cost = (
        f"about {to_read:,} tokens to read, at most {to_write:,} to"
        f" write{prices.text(to_read, to_write)}"
    )
    return f"{cost}\nnothing was asked or written"


def _ask(
    unread: UnreadAnswers,
    kept_answers: KeptAnswers,
    usage: Usage,
    prices: _Prices,
    concurrency: int,
    max_tokens: int,
) -> None:
    """Ask what is still to be asked; if that ends too early, say what it has cost."""
    from figlang_tasks.judge.read import ask

    try:
        ask(unread, kept_answers, usage, concurrency=concurrency, max_tokens=max_tokens)
    except (FigLangError, OSError, KeyboardInterrupt):
        if usage.requests:
            say(_cost(usage, prices), err=True)
        raise


def _told(task: str, reading: TaskReading, model: str, max_tokens: int) -> str:
    """What a model has read of a task, and what comes of it."""
    from figlang_tasks.results.measures import estimate_text
    from figlang_tasks.scoring.read_by_model import SUFFIX

    outcomes = [f"{model} read {reading.counts['read']} of the {reading.unread} answers"]
    if reading.counts["none"]:
        outcomes.append(f"found no option in {reading.counts['none']}")
    if reading.counts["unreadable"]:
        outcomes.append(f"gave no readable reply to {reading.counts['unreadable']}")
    if reading.counts["failed"]:
        outcomes.append(f"could not be asked about {reading.counts['failed']}")
    lines = [f"{task}: {', '.join(outcomes)}"]
    if reading.truncated:
        lines.append(
            f"  {reading.truncated} replies ended at {max_tokens} tokens: ask them again with a"
            " larger --max-tokens"
        )
    ours = estimate_text(reading.metric, reading.estimate)
    by_model = estimate_text(f"{reading.metric}{SUFFIX}", reading.estimate_by_model)
    lines.append(f"  {reading.metric} {ours}, {reading.metric}{SUFFIX} {by_model}")
    return "\n".join(lines)


def _cost(usage: Usage, prices: _Prices) -> str:
    """What a call has cost: tokens as the server reports them."""
    tokens = f"{usage.tokens_read:,} tokens read, {usage.tokens_written:,} written"
    if usage.unreported:
        tokens += f" (the server reported none of {usage.unreported} answers)"
    return (
        f"{usage.requests} requests: {tokens}{prices.text(usage.tokens_read, usage.tokens_written)}"
    )
