"""``figlang judge llm``: a language model judges explanations as an annotator does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from figlang_tasks.cli import say, saying_new_folder
from figlang_tasks.cli.judge_costs import (
    Concurrency,
    DryRun,
    MaxTokens,
    PriceRead,
    Prices,
    PriceWritten,
    ask,
    cost_text,
    estimated_cost_text,
    requests_failed,
)

if TYPE_CHECKING:
    from figlang_tasks.judge.asking import AskAll
    from figlang_tasks.judge.llm import JudgedSheet
    from figlang_tasks.judge.llm_runs import JudgedRuns
    from figlang_tasks.judge.questions import AnsweredQuestion, JudgeQuestion


def llm(
    judged: Annotated[
        list[str],
        typer.Argument(
            metavar="SHEET|[NAME=]RUN...",
            help="An empty sheet of the export (NAME.csv), or runs with explanations.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str,
        typer.Option(help="Name of the model at the server, or with --local.", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="The filled sheet (NAME.csv), or the verdicts (NAME.jsonl).",
            show_default=False,
        ),
    ],
    task: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Task of the runs, if several have explanations.",
            show_default=False,
        ),
    ] = None,
    local: Annotated[
        bool,
        typer.Option(
            "--local", help="MODEL is a hub id or a folder, and runs here, by figlang_vlm."
        ),
    ] = False,
    model_args: Annotated[
        str,
        typer.Option(
            help="With --local: arguments of figlang_vlm, such as batch_size=8,dtype=bfloat16.",
            show_default=False,
        ),
    ] = "",
    dry_run: DryRun = False,
    concurrency: Concurrency = 4,
    max_tokens: MaxTokens = 1024,
    price_read: PriceRead = None,
    price_written: PriceWritten = None,
) -> None:
    """Let a language model judge explanations: those of a sheet, or all of some runs.

    Runs of vflute, flute, nycc_explain, nykms and metaclue_caption have explanations. The output
    has a line of JSON for each: id, system, verdict (1 adequate, 0 not, null unreadable), error.
    With several runs of the same rows, the model also says which explanation it prefers, in both
    orders.

    The model gets the picture, the reference and the rubric of the benchmark, but no system's name,
    gold label or score. What it says unreadably stays empty and is counted. The command prints how
    far the verdict goes with the length of an explanation, and how often the preference changes
    with the order.

    The server speaks OpenAI's protocol; OPENAI_API_KEY and OPENAI_BASE_URL name the key and the
    server. If the command is interrupted, run it again: it keeps the answers so far beside the
    output, and asks nothing twice.

    \b
    OPENAI_API_KEY=... figlang judge llm human/annotator1.csv --model gpt-4o -o gpt-4o.csv
    figlang judge llm A=results/a B=results/b --model gpt-4o -o verdicts.jsonl --dry-run
    figlang judge llm results/a --model Qwen/Qwen2.5-VL-7B-Instruct --local -o verdicts.jsonl
    """
    if model_args and not local:
        raise typer.BadParameter("it needs --local", param_hint="--model-args")
    subject = _read(judged, task, output, model)

    from figlang_tasks.judge import asking, local_model

    kept_answers = subject.kept_answers
    questions = asking.unanswered(subject.questions, kept_answers, max_tokens)
    prices = Prices(price_read, price_written)
    say(_plan_text(subject, len(questions), model))
    if dry_run:
        pictures = sum(question.item.read_picture is not None for question in questions)
        say(estimated_cost_text(questions, max_tokens, prices, pictures))
        return

    def connect() -> AskAll[JudgeQuestion]:
        """Connect to the server, or load the model."""
        if local:
            return local_model.load(model, model_args, max_tokens)
        return asking.connect(
            model,
            max_tokens,
            concurrency=concurrency,
            title="figlang judge llm",
            kept_in=kept_answers.path,
        )

    with saying_new_folder(output):
        usage = ask(questions, connect, kept_answers, prices, max_tokens)
        if kept_answers.is_empty:  # every request failed: there is nothing to write
            raise requests_failed(usage.failed, usage.error)
        _write(subject, max_tokens)
    if usage.requests:
        say(cost_text(usage, prices))
    say(f"written: {output}\nwritten: {kept_answers.path}")
    if usage.failed:
        raise requests_failed(usage.failed, usage.error)


def _read(
    judged: Sequence[str], task: str | None, output: Path, model: str
) -> JudgedSheet | JudgedRuns:
    """Read what is to be judged: a sheet, which has the ending ``.csv``, or runs."""
    sheets = [argument for argument in judged if argument.casefold().endswith(".csv")]
    if not sheets:
        from figlang_tasks.judge.llm_runs import JudgedRuns

        return JudgedRuns(judged, task, output, model)
    if len(judged) > 1:
        raise typer.BadParameter("name one sheet, or runs alone", param_hint="SHEET")
    if task is not None:
        raise typer.BadParameter("a sheet has no tasks: leave it out", param_hint="--task")
    from figlang_tasks.judge.llm import JudgedSheet

    return JudgedSheet(Path(judged[0]), output, model)


def _write(subject: JudgedSheet | JudgedRuns, max_tokens: int) -> None:
    """Write what the model said, and print a summary."""
    from figlang_tasks.judge.questions import read_answers

    answered = read_answers(subject.questions, subject.kept_answers)
    subject.write(answered)
    say(_summary_text(subject, answered, max_tokens))


# --- what is printed ---


def _plan_text(subject: JudgedSheet | JudgedRuns, request_count: int, model: str) -> str:
    """What is judged, and how many requests that takes."""
    kept_count = len(subject.questions) - request_count
    kept = f" ({kept_count} answers are kept from before)" if kept_count else ""
    return f"{subject.plan}\n{request_count} requests to {model}{kept}"


def _summary_text(
    subject: JudgedSheet | JudgedRuns, answered: Sequence[AnsweredQuestion], max_tokens: int
) -> str:
    """Lines on what the judge said of each system, and on its biases."""
    unreadable = sum(answer.status == "unreadable" for answer in answered)
    failed = sum(answer.status == "failed" for answer in answered)
    lines = [
        f"{subject.annotator}: unreadable answers: {unreadable}, failed requests: {failed} (they"
        " stay empty)"
    ]
    truncated = 0
    for answer in answered:
        kept = subject.kept_answers.get_latest(answer.question.key)
        if answer.status == "unreadable" and kept is not None and kept.is_truncated:
            truncated += 1
    if truncated:
        lines.append(
            f"  {truncated} of them ended at {max_tokens} tokens: ask again with a larger"
            " --max-tokens"
        )
    for system, answers in subject.answers_by_system(answered).items():
        lines.append(_system_text(system, answers))
    preference_text = _preference_text(subject, answered)
    if preference_text:
        lines.append(preference_text)
    return "\n".join(lines)


def _system_text(system: str, answered: Sequence[AnsweredQuestion]) -> str:
    """How many explanations of a system are adequate, and the bias of length."""
    from figlang_tasks.judge.bias import length_bias, verdict_of

    adequate = 0
    for answer in answered:
        if "adequate" in answer.cells:
            adequate += verdict_of(answer.cells)
    verdicts, correlation = length_bias(answered)
    coefficient = "undefined" if correlation is None else f"{correlation:.2f}"
    share = f" ({100 * adequate / verdicts:.1f} %)" if verdicts else ""
    return (
        f"{system}: {adequate} of {verdicts} adequate{share}; rank correlation of the verdict with"
        f" the number of words: {coefficient}"
    )


def _preference_text(
    subject: JudgedSheet | JudgedRuns, answered: Sequence[AnsweredQuestion]
) -> str:
    """Which system is preferred, and how often that changes with the order; "" if not asked for."""
    from figlang_tasks.judge.bias import position_bias, settled_preferences

    bias = position_bias(answered)
    if bias is None:
        return ""
    text = f"preference, read in both orders for {bias.items} items"
    if bias.items:
        changed = f"{bias.changed} ({100 * bias.changed / bias.items:.1f} %)"
        first = f"{100 * bias.first / (2 * bias.items):.1f} %"
        text += f": {changed} change with the order; the first is preferred in {first} of answers"
    preferred = list(settled_preferences(answered).values())
    for letter, system in subject.system_of_letter.items():
        text += f"; {system} is best in {preferred.count(letter)}"
    return text
