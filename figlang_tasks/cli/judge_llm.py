"""``figlang judge llm``: a language model judges explanations as an annotator does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

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
    from figlang_tasks.judge.asking import AskAll, Usage
    from figlang_tasks.judge.llm import JudgedSheet
    from figlang_tasks.judge.llm_runs import JudgedRuns
    from figlang_tasks.judge.questions import AnsweredQuestion, JudgeQuestion

    Subject: TypeAlias = JudgedSheet | JudgedRuns


Judged: TypeAlias = Annotated[
    list[str],
    typer.Argument(
        metavar="SHEET|[NAME=]RUN...",
        help="An empty sheet of the export (NAME.csv), or runs with explanations.",
        show_default=False,
    ),
]
JudgeModel: TypeAlias = Annotated[
    str, typer.Option(help="Name of the model at the server, or with --local.", show_default=False)
]
Output: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        help="The filled sheet (NAME.csv), or the verdicts (NAME.jsonl).",
        show_default=False,
    ),
]
TaskName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Task of the runs, if several have explanations.", show_default=False
    ),
]
Local: TypeAlias = Annotated[
    bool,
    typer.Option("--local", help="MODEL is a hub id or a folder, and runs here, by figlang_vlm."),
]
ModelArgs: TypeAlias = Annotated[
    str,
    typer.Option(
        help="With --local: arguments of figlang_vlm, such as batch_size=8,dtype=bfloat16.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class _Judge:
    """The model that judges, and its settings: the options of the command."""

    model: str
    is_local: bool
    model_args: str
    concurrency: int
    max_tokens: int
    prices: Prices

    def connect(self, kept_in: Path) -> AskAll[JudgeQuestion]:
        """Connect to the server, or load the model; return a function that asks it."""
        from figlang_tasks.judge import asking, local_model

        if self.is_local:
            return local_model.load(self.model, self.model_args, self.max_tokens)
        return asking.connect(
            self.model,
            self.max_tokens,
            concurrency=self.concurrency,
            title="figlang judge llm",
            kept_in=kept_in,
        )


def llm(
    judged: Judged,
    model: JudgeModel,
    output: Output,
    task: TaskName = None,
    local: Local = False,
    model_args: ModelArgs = "",
    dry_run: DryRun = False,
    concurrency: Concurrency = 4,
    max_tokens: MaxTokens = 1024,
    price_read: PriceRead = None,
    price_written: PriceWritten = None,
) -> None:
    """Let a language model judge explanations: those of a sheet, or all of some runs.

    Runs of vflute, flute, nycc_explain, nykms and metaclue_caption have explanations. The output
    has a line of JSON for each: id, system, verdict (1 adequate, 0 not, null unreadable), error.
    The model gets the picture, the reference and the benchmark's rubric, but no system's name, gold
    label or score. Of several runs, it also says which explanation it prefers, in both orders.

    The server speaks OpenAI's protocol; OPENAI_API_KEY and OPENAI_BASE_URL name the key and the
    server. If the command is interrupted, run it again: it keeps the answers so far beside the
    output, and asks nothing twice.

    \b
    OPENAI_API_KEY=... figlang judge llm human/annotator1.csv --model gpt-4o -o gpt-4o.csv
    figlang judge llm A=results/a B=results/b --model gpt-4o -o verdicts.jsonl --dry-run
    figlang judge llm results/a --model Qwen/Qwen2.5-VL-7B-Instruct --local -o verdicts.jsonl
    """
    from figlang_tasks.judge.asking import unanswered

    if model_args and not local:
        raise typer.BadParameter("it needs --local", param_hint="--model-args")
    prices = Prices(price_read, price_written)
    language_model = _Judge(model, local, model_args, concurrency, max_tokens, prices)
    subject = _read(judged, task, output, model)
    questions = unanswered(subject.questions, subject.kept_answers, max_tokens)
    say(_plan_text(subject, len(questions), model))
    if dry_run:
        pictures = sum(question.item.read_picture is not None for question in questions)
        say(estimated_cost_text(questions, max_tokens, prices, pictures))
        return
    with saying_new_folder(output):
        usage = _ask_and_write(subject, questions, language_model)
    if usage.failed:
        raise requests_failed(usage.failed, usage.error)


def _read(judged: Sequence[str], task: str | None, output: Path, model: str) -> Subject:
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


def _ask_and_write(subject: Subject, questions: Sequence[JudgeQuestion], judge: _Judge) -> Usage:
    """Ask the open questions, write what the model said, and print a summary.

    Raises:
        FigLangError: the model cannot be asked, or gave no answer at all.
    """
    from figlang_tasks.judge.questions import read_answers

    kept_answers = subject.kept_answers
    connect = partial(judge.connect, kept_answers.path)
    usage = ask(questions, connect, kept_answers, judge.prices, judge.max_tokens)
    if kept_answers.is_empty:  # every request failed: there is nothing to write
        raise requests_failed(usage.failed, usage.error)
    answered = read_answers(subject.questions, kept_answers)
    subject.write(answered)
    say(_summary_text(subject, answered, judge.max_tokens))
    if usage.requests:
        say(cost_text(usage, judge.prices))
    say(f"written: {subject.output}\nwritten: {kept_answers.path}")
    return usage


# --- what is printed ---


def _plan_text(subject: Subject, request_count: int, model: str) -> str:
    """What is judged, and how many requests that takes."""
    kept_count = len(subject.questions) - request_count
    kept = f" ({kept_count} answers are kept from before)" if kept_count else ""
    return f"{subject.plan}\n{request_count} requests to {model}{kept}"


def _summary_text(subject: Subject, answered: Sequence[AnsweredQuestion], max_tokens: int) -> str:
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


def _preference_text(subject: Subject, answered: Sequence[AnsweredQuestion]) -> str:
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
