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
                " flute22-xlarge, or embedded (demo). This command ignores $FIGLANG_SCORER."
                " [default: the paper's: flute22 for flute*, else vflute25]"
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
    with translated_errors():
        saved_run = runs.read(run)
        folder = output or folder_beside(saved_run.path, scorer or "scored")
        scorer_name_by_task = {}
        for task in _tasks_to_score(saved_run):
            papers_scorer = explanations.default_scorer(task.data.dataset)
            scorer_name_by_task[task.task] = scorer or papers_scorer
        with new_folder(folder) as partial_folder:
            # All scorers are made first: one that is not available costs no scoring by another.
            scorers = {}
            for name in dict.fromkeys(scorer_name_by_task.values()):
                scorers[name] = get_scorer(name, device=device, dtype=dtype)
            scored_tasks = {}
            for task_name, name in scorer_name_by_task.items():
                scored_tasks[task_name] = _score_task(saved_run.tasks[task_name], scorers[name])
            results = write_run(saved_run, scored_tasks, partial_folder)

    say("shares in percent, with 95 % intervals:")
    for content in results:
        say(f"\n{summary_table(content)}\n")
    say(f"written: {folder}\n{next_commands(results, folder)}")


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn errors of explanation scorers in a block into `FigLangError`, printed as one line."""
    try:
        yield
    except (WeightsError, ValueError, ArithmeticError, MemoryError) as error:
        raise FigLangError(str(error)) from error


def _tasks_to_score(run: Run) -> list[TaskRun]:
    """The tasks of a run that have explanations, at least one.

    Raises:
        RunError: the files of any task contradict each other, or a row cannot be scored.
        FigLangError: no task has explanations.
    """
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
    return tasks


def _score_task(task: TaskRun, scorer: Scorer) -> ChangedTask:
    """Score the explanations of a task, and compute its metrics again; the task stays as it is.

    Args:
        task: one that has explanations.
        scorer: the scorer of explanations.

    Returns:
        A copy of the task with the scores in its records, its estimates, and the scorer's signature
        and kernel as metadata.
    """
    scheme = task.kind.scheme
    assert scheme is not None, "such a task has no explanations"
    records = [dict(record) for record in task.records]
    # The dicts in this list are those in `records`, so both get the scores.
    records_to_score = [record for record in records if scheme.needs_score(record)]
    text_pairs = [explained.text_pair(record) for record in records_to_score]
    scores = explanations.score_pairs(text_pairs, scorer)
    for record, text_pair in zip(records_to_score, text_pairs, strict=True):
        record["explanation_scores"] = {"scorer": scorer.name, **scores.details[text_pair]}

    samples = []
    for sample, record in zip(task.samples, records, strict=True):
        samples.append({**sample, "sample": record})  # The record of a sample is under this key.
    scored_task = replace(task, samples=tuple(samples), signature=scores.signature)
    # The measures depend on the kind of task and the records, not on the signature.
    estimates = evaluate(records, scored_task.measures)
    metadata = {"explanation_scorer": scores.signature, "explanation_kernel": scores.kernel}
    return ChangedTask(replace(scored_task, reported=estimates), estimates, metadata)
