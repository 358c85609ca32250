"""``figlang score``: scores outputs that exist, in a file of any form or in a saved run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import typer

from figlang_tasks.cli import folder_beside, say, warn
from figlang_tasks.cli.options import Device, Dtype
from figlang_tasks.cli.summary import next_commands, summary_table
from figlang_tasks.core import notes
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.files import check_is_free
from figlang_tasks.core.whole_paths import new_folder
from figlang_tasks.results import runs
from figlang_tasks.results.explanation_scores import ScorerChoice
from figlang_tasks.results.predictions.columns_text import columns_text
from figlang_tasks.results.predictions.forms import read_predictions
from figlang_tasks.results.predictions.matching import MissingRows
from figlang_tasks.results.predictions.prediction import ColumnNames
from figlang_tasks.results.predictions.scored_run import ScoringOptions, score_predictions
from figlang_tasks.results.scored_again import HasTheseScores, score_again
from figlang_tasks.results.task_run import TaskRun
from figlang_tasks.results.writing import write_run
from figlang_tasks.scoring.output_warnings import unread_warning
from figlang_tasks.scoring.task_file import TaskFile

FileOrRun: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE|RUN",
        help="A file of predictions (with --task), or a saved run.",
        show_default=False,
    ),
]
TaskName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The task that a file answers: vflute, irfl_detect_idiom, ...", show_default=False
    ),
]
OutputFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output-path",
        "-o",
        help="Folder of the new run. [default: results/FILE, or RUN_scored]",
        show_default=False,
    ),
]
ModelName: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Name of the model. [default: that of the file]", show_default=False),
]
ScorerName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help=(
            "vflute25 (mean of BERTScore and BLEURT), figlang24 (BERTScore), flute22,"
            " flute22-xlarge, yesbut24, embedded (demo), or off. This command ignores"
            " $FIGLANG_SCORER. [default: the paper's, if its weights are here]"
        ),
        show_default=False,
    ),
]
IdColumn: TypeAlias = Annotated[
    str | None, typer.Option("--id", help="Column with the id of a row.", show_default=False)
]
OutputColumn: TypeAlias = Annotated[
    str | None,
    typer.Option("--output", help="Column with what the model said.", show_default=False),
]
LabelColumn: TypeAlias = Annotated[
    str | None,
    typer.Option("--label", help="Column with a label that needs no reading.", show_default=False),
]
ExplanationColumn: TypeAlias = Annotated[
    str | None,
    typer.Option("--explanation", help="Column with its explanation.", show_default=False),
]
InOrder: TypeAlias = Annotated[
    bool, typer.Option("--in-order", help="The file has a line for each row, in their order.")
]
Missing: TypeAlias = Annotated[
    Literal["wrong"] | None,
    typer.Option(help="Count rows without a prediction as wrong.", show_default=False),
]
Partial: TypeAlias = Annotated[
    bool,
    typer.Option("--partial", help="Leave out rows without a prediction, and mark the run."),
]
Columns: TypeAlias = Annotated[
    bool, typer.Option("--columns", help="Print which columns the task takes, and exit.")
]


def score(
    path: FileOrRun = None,
    task: TaskName = None,
    output_path: OutputFolder = None,
    model: ModelName = None,
    scorer: ScorerName = None,
    id_column: IdColumn = None,
    output_column: OutputColumn = None,
    label_column: LabelColumn = None,
    explanation_column: ExplanationColumn = None,
    in_order: InOrder = False,
    missing: Missing = None,
    partial: Partial = False,
    columns: Columns = False,
    dtype: Dtype = "fp32",
    device: Device = "auto",
) -> None:
    """Score outputs that you have; the model is not needed.

    FILE has the predictions of one model: CSV, TSV, JSON, JSON Lines, Parquet, Excel, or what
    another harness saved. The command finds the row of each prediction, reads the answers as a run
    does, computes all metrics with 95 % intervals, and saves a run for figlang compare, report,
    submit and judge.

    RUN is a run that was saved (--log_samples): its answers are read again by the readers of today,
    and its explanations are scored. Nothing is written if it has these scores already.

    \b
    figlang score --task vflute --columns
    figlang score answers.csv --task vflute --model my-model
    figlang score results/MODEL --scorer figlang24 --dtype fast --device cuda
    """
    if columns:
        if task is None:
            raise typer.BadParameter("--columns needs --task TASK")
        say(columns_text(TaskFile.read(task)))
        return
    if path is None:
        raise typer.BadParameter("name a file of predictions, or a run")
    names = ColumnNames(
        id=id_column, output=output_column, label=label_column, explanation=explanation_column
    )
    options = ScoringOptions(
        model=model,
        missing_rows=_missing_rows(missing, partial),
        in_order=in_order,
        scorer=ScorerChoice(scorer, device=device, dtype=dtype),
    )
    notes.take_failures()  # those of an earlier command in this process
    with translated_errors():
        if task is not None:
            scored = _score_file(Path(path), task, names, options, output_path)
        else:
            _refuse_options_of_files(names, options)
            try:
                scored = _score_run(path, options.scorer, output_path)
            except HasTheseScores as reason:
                say(f"{reason}\nnothing is written")
                return
    _say_results(scored)


def _missing_rows(missing: str | None, partial: bool) -> MissingRows:
    """What becomes of rows without a prediction, by two options that exclude each other."""
    if missing is not None and partial:
        raise typer.BadParameter("--missing and --partial exclude each other")
    if partial:
        return "partial"
    return "refuse" if missing is None else "wrong"


def _refuse_options_of_files(names: ColumnNames, options: ScoringOptions) -> None:
    """Raise `typer.BadParameter` for an option that a saved run does not take."""
    given_by_option = {
        "--model": options.model,
        "--id": names.id,
        "--output": names.output,
        "--label": names.label,
        "--explanation": names.explanation,
        "--in-order": options.in_order,
        "--missing and --partial": options.missing_rows != "refuse",
    }
    for option, given in given_by_option.items():
        if given:
            raise typer.BadParameter(f"{option}: of a file of predictions; add --task TASK")


class _Scored(NamedTuple):
    """A run that was scored and saved.

    Attributes:
        results: the contents of its results files.
        folder: where it was saved.
        remarks: what the user has to know, a line each.
    """

    results: Sequence[Mapping[str, Any]]
    folder: Path
    remarks: Sequence[str]


def _say_results(scored: _Scored) -> None:
    """Print the values of a run and what to do next; exit with status 1 if a measure failed."""
    for remark in scored.remarks:
        say(remark)
    say("shares in percent, with 95 % intervals:")
    for content in scored.results:
        say(f"\n{summary_table(content)}\n")
    say(f"written: {scored.folder}\n{next_commands(scored.results, scored.folder)}")
    failures = notes.take_failures()
    for failure in failures:
        warn(failure)
    if failures:
        raise typer.Exit(1)


def _warnings(
    tasks: Iterable[TaskRun], results: Sequence[Mapping[str, Any]], folder: Path
) -> list[str]:
    """What a user has to know of the outputs of tasks before their values, a line each.

    Without what `summary_table` says of `results` below the values: what unread answers mean for
    the score.
    """
    readings: dict[str, Any] = {}  # by task; old results files have none
    for content in results:
        for name, config in content.get("configs", {}).items():
            readings[name] = (config.get("metadata") or {}).get("readings")
    warnings: list[str] = []
    for task in tasks:
        said_below = unread_warning(readings.get(task.task)).partition(":")[0]
        for warning in task.warnings(str(folder)):
            if not said_below or not warning.text.startswith(said_below):
                warnings.append(f"{task.task}: {warning.text}")
    return warnings


@contextmanager
def translated_errors() -> Iterator[None]:
    """Turn errors of explanation scorers in a block into `FigLangError`, printed as one line."""
    from figlang_tasks.metrics.explanation.weights import WeightsError

    try:
        yield
    except (WeightsError, ValueError, ArithmeticError, MemoryError) as error:
        raise FigLangError(str(error)) from error


# --- a file of predictions ---


def _score_file(
    path: Path, task: str, names: ColumnNames, options: ScoringOptions, output_path: Path | None
) -> _Scored:
    """Score a file of predictions, and save the run."""
    task_file = TaskFile.read(task)
    folder = output_path or _folder_for(path)
    check_is_free(folder)  # before the work is done
    file = read_predictions(path, names, task_file.name)
    scored = score_predictions(file, task_file, options)
    scored.run.save(folder)
    remarks = [file.description, *scored.remarks]
    for scored_task in scored.run.tasks.values():
        if scored_task.unanswered:  # of a saved run, `runs.read` says so
            remarks.append(
                f"{scored_task.task}: {scored_task.unanswered:,} of"
                f" {len(scored_task.samples):,} rows have no answer and count as wrong"
            )
    remarks += _warnings(scored.run.tasks.values(), [scored.run.results], folder)
    return _Scored([scored.run.results], folder, remarks)


def _folder_for(path: Path) -> Path:
    """Where the run of a file or folder is saved by default: ``results/FILE``.

    ``results/NAME_scored`` for a folder, which may be a run in ``results`` itself, and for a file
    in the folder that would be taken.
    """
    folder = Path("results") / path.stem
    if path.is_dir() or folder.resolve() in path.resolve().parents:
        return Path("results") / folder_beside(path, "scored").name
    return folder


# --- a saved run ---


def _score_run(argument: str, scorer_choice: ScorerChoice, output_path: Path | None) -> _Scored:
    """Judge a saved run again, score its explanations, and save it as a new run."""
    saved_run = runs.read(argument)
    folder = output_path or folder_beside(saved_run.path, "scored")
    with new_folder(folder) as partial_folder:
        scored = score_again(saved_run, scorer_choice)
        results = write_run(saved_run, scored.tasks, partial_folder)
    tasks = [
        scored.tasks[name].task if name in scored.tasks else task
        for name, task in saved_run.tasks.items()
    ]
    return _Scored(results, folder, [*scored.remarks, *_warnings(tasks, results, folder)])
