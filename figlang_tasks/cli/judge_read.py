"""``figlang judge read``: a language model reads the answers that our readers left."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from figlang_tasks.cli import folder_beside, next_report_line, say
from figlang_tasks.cli.judge_costs import (
    Concurrency,
    DryRun,
    MaxTokens,
    Model,
    PriceRead,
    Prices,
    PriceWritten,
    ask,
    cost_text,
    estimated_cost_text,
    requests_failed,
)
from figlang_tasks.cli.options import Run

if TYPE_CHECKING:
    from figlang_tasks.judge.asking import AskAll, Usage
    from figlang_tasks.judge.kept_answers import KeptAnswers
    from figlang_tasks.judge.read import TaskReading
    from figlang_tasks.judge.unread import UnreadAnswer, UnreadAnswers


def read(
    run: Run,
    model: Model,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder of the new run. [default: RUN_read]", show_default=False
        ),
    ] = None,
    dry_run: DryRun = False,
    concurrency: Concurrency = 4,
    max_tokens: MaxTokens = 1024,
    price_read: PriceRead = None,
    price_written: PriceWritten = None,
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
    from figlang_tasks.judge import asking
    from figlang_tasks.judge.kept_answers import KeptAnswers
    from figlang_tasks.judge.unread import find_unread
    from figlang_tasks.results import runs

    saved_run = runs.read(run)
    folder = output or folder_beside(saved_run.path, "read")
    unread = find_unread(saved_run, model)
    # It holds what an interrupted command has kept. Answers of another model or run are an error.
    kept_answers = KeptAnswers.in_folder(folder, unread.origin)
    prices = Prices(price_read, price_written)
    questions = asking.unanswered(unread.questions, kept_answers, max_tokens)
    say(_plan_text(unread, len(questions)))
    if dry_run:
        say(estimated_cost_text(questions, max_tokens, prices))
        return
    connect = partial(_connect, model, max_tokens, concurrency, kept_answers.path)
    usage = ask(questions, connect, kept_answers, prices, max_tokens)
    has_only_failed = usage.failed > 0 and kept_answers.is_empty
    if not has_only_failed:  # Else there is no answer to write.
        _write_run(unread, kept_answers, folder, max_tokens)
        _say_next(usage, prices, folder)
    if usage.failed:
        raise requests_failed(usage.failed, usage.error)


def _connect(model: str, max_tokens: int, concurrency: int, kept_in: Path) -> AskAll[UnreadAnswer]:
    """Connect to the server; return a function that asks the model."""
    from figlang_tasks.judge import asking

    title = "figlang judge read"
    return asking.connect(model, max_tokens, concurrency=concurrency, title=title, kept_in=kept_in)


def _write_run(
    unread: UnreadAnswers, kept_answers: KeptAnswers, folder: Path, max_tokens: int
) -> None:
    """Write the run with the model's readings, and print what the model has read in each task."""
    from figlang_tasks.judge.read import write

    for task, reading in write(unread, kept_answers, folder).items():
        say(_reading_text(task, reading, unread.model, max_tokens))


# --- what is printed ---


def _say_next(usage: Usage, prices: Prices, folder: Path) -> None:
    """Print what the requests have cost, where the new run is, and what to type next."""
    if usage.requests:
        say(cost_text(usage, prices))
    say(f"written: {folder}\n{next_report_line(folder)}")


def _plan_text(unread: UnreadAnswers, request_count: int) -> str:
    """Lines that say what our readers left in each task, and how many requests will be sent."""
    lines = []
    for task, readable in unread.tasks.items():
        answer_count = len(readable.task.samples)
        lines.append(f"{task}: our readers left {len(readable.unread)} of {answer_count} answers")
    for task, reason in unread.left_out.items():
        lines.append(f"{task}: left out, because {reason}")

    question_count = len(unread.questions)
    if question_count == 0:
        lines.append("nothing is left to ask: our readers have read every answer that has words")
    else:
        details = "equal answers are asked once"
        kept_count = question_count - request_count
        if kept_count > 0:
            details += f"; {kept_count} answers are kept from before"
        lines.append(f"{request_count} requests to {unread.model} ({details})")
    return "\n".join(lines)


def _reading_text(task: str, reading: TaskReading, model: str, max_tokens: int) -> str:
    """Lines about a task: what the model has read, and the main metric without and with that."""
    from figlang_tasks.results.measures import estimate_text
    from figlang_tasks.scoring.read_by_model import SUFFIX

    answers_by_status = reading.counts
    outcomes = [f"{model} read {answers_by_status['read']} of the {reading.unread} answers"]
    if answers_by_status["none"]:
        outcomes.append(f"found no option in {answers_by_status['none']}")
    if answers_by_status["unreadable"]:
        outcomes.append(f"gave no readable reply to {answers_by_status['unreadable']}")
    if answers_by_status["failed"]:
        outcomes.append(f"could not be asked about {answers_by_status['failed']}")
    lines = [f"{task}: {', '.join(outcomes)}"]
    if reading.truncated:
        lines.append(
            f"  {reading.truncated} replies ended at {max_tokens} tokens: ask them again with a"
            " larger --max-tokens"
        )
    our_metric = reading.metric
    model_metric = f"{reading.metric}{SUFFIX}"
    our_value = estimate_text(our_metric, reading.estimate)
    model_value = estimate_text(model_metric, reading.estimate_by_model)
    lines.append(f"  {our_metric} {our_value}, {model_metric} {model_value}")
    return "\n".join(lines)
