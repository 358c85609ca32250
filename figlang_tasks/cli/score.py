"""``figlang score``: writes a run again with explanation scores, and the metrics that need them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from figlang_tasks.cli import folder_beside, new_folder, say
from figlang_tasks.cli.options import Device, Dtype
from figlang_tasks.cli.options import Run as RunArgument
from figlang_tasks.cli.summary import next_commands, summary_table
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.text import listing
from figlang_tasks.metrics.explanation import Scorer, WeightsError, get_scorer
from figlang_tasks.results import runs
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.results.writing import ChangedTask, write_run
from figlang_tasks.scoring import evaluate, explained, explanations


def score(
    run: RunArgument,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder of the new run. [default: RUN_SCORER]",
            show_default=False,
        ),
    ] = None,
    scorer: Annotated[
        str | None,
        typer.Option(
            help=(
                "vflute25 (mean of BERTScore and BLEURT), figlang24 (BERTScore), flute22,"
                " flute22-xlarge, or embedded "
                "(demo). This command ignores $FIGLANG_SCORER. [default: the paper's: vflute25; of"
                " flute*, flute22]"
            ),
            show_default=False,
        ),
    ] = None,
    dtype: Dtype = "fp32",
    device: Device = "auto",
) -> None:
    """Score the explanations of a run. The model is not needed.

    The command writes a new run: the samples with their scores, and the results with f1@0, f1@53,
    f1@60 (acc@0, acc@50, acc@60 for flute*) and the mean score, with 95 % intervals and the
    scorer's signature. Give that folder to figlang compare, report and submit. If the command is
    interrupted, run it again: it continues, because scores are kept in $FIGLANG_CACHE, or your
    cache folder (off: nowhere).

    \b
    figlang score results/MODEL --scorer figlang24 --dtype fast --device cuda
    """
    with scoring():
        read = runs.read(run)
        folder = output or folder_beside(read.path, scorer or "scored")
        chosen = {task: scorer or papers for task, papers in _explained(read).items()}
        with new_folder(folder) as made:
            scorers = {
                name: get_scorer(name, device=device, dtype=dtype)
                for name in dict.fromkeys(chosen.values())
            }
            scored = {
                task: _score(read.tasks[task], scorers[name]) for task, name in chosen.items()
            }
            contents = write_run(read, scored, made)
    say("shares in percent, with 95 % intervals:")
    for content in contents:
        say(f"\n{summary_table(content)}\n")
    say(f"written: {folder}\n{next_commands(contents, folder)}")


@contextmanager
def scoring() -> Iterator[None]:
    """Turn the errors of scorers into ours."""
    try:
        yield
    except (WeightsError, ValueError, ArithmeticError, MemoryError) as error:
        raise FigLangError(str(error)) from error


def _explained(run: Run) -> dict[str, str]:
    """The tasks of a run that have explanations to score, with their papers' scorers."""
    for task in run.tasks.values():
        task.check_consistent()
    tasks = [task for task in run.tasks.values() if task.has_explanations]
    if not tasks:
        raise FigLangError(
            f"{run.path} has no explanations to score: its tasks ({listing(run.tasks)}) ask for"
            " none, or have no reference answers"
        )
    for task in tasks:
        task.check_explanations()
    return {task.task: explanations.default_scorer(task.data.dataset) for task in tasks}


def _score(task: TaskRun, scorer: Scorer) -> ChangedTask:
    """The task with scores in its records, and the values of these."""
    scheme = task.kind.scheme
    assert scheme is not None, "such a task has no explanations"
    records = [dict(record) for record in task.records]
    explained_records = [record for record in records if scheme.needs_score(record)]
    scores = explanations.score_pairs(list(map(explained.text_pair, explained_records)), scorer)
    for record in explained_records:
        record["explanation_scores"] = {
            "scorer": scorer.name,
            **scores.details[explained.text_pair(record)],
        }
    lines = tuple(
        {**line, "sample": record} for line, record in zip(task.samples, records, strict=True)
    )
    scored = replace(task, samples=lines, signature=scores.signature)
    estimates = evaluate(records, scored.measures)
    facts = {"explanation_scorer": scores.signature, "explanation_kernel": scores.kernel}
    return ChangedTask(replace(scored, reported=estimates), estimates, facts)
