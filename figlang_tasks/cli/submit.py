"""``figlang submit``: files for leaderboards, registries and the hub from saved samples."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from figlang_tasks.cli import say, say_json, saying_new_folder, warn
from figlang_tasks.cli.lazy import LazyCommand, LazyGroup
from figlang_tasks.cli.options import AsJson, Device, Dtype, Run, Runs
from figlang_tasks.cli.score import translated_errors
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.core.benchmark import benchmarks, names_with, source_of
from figlang_tasks.metrics.explanation import get_scorer
from figlang_tasks.report.verdict import verdicts_against
from figlang_tasks.results.runs import read, read_all
from figlang_tasks.results.task_run import Run as SavedRun
from figlang_tasks.submit import board, every_eval_ever, figlang2022, figlang2024, hub_results, irfl

ZipOutput: TypeAlias = Annotated[Path, typer.Option("-o", "--output", help="The zip to write.")]


class _SubmitCommands(LazyGroup):
    """The commands of ``figlang submit``, with one for each benchmark that has a leaderboard.

    A benchmark has one if its folder has a module ``submission``.
    """

    def lazy_commands(self) -> list[LazyCommand]:
        commands = []
        for name in names_with("submission"):
            help_text = partial(_help_of_board, name)
            commands.append(LazyCommand(name, help_text, partial(_board_command, name)))
        return commands


app = typer.Typer(cls=_SubmitCommands, no_args_is_help=True)


@app.callback()
def submit() -> None:
    """Make files for leaderboards, registries or the hub. Nothing is uploaded."""


def _say_written(output: Path, content: str, upload: str) -> None:
    """Print what was written, and where the user can upload it.

    Args:
        output: the file.
        content: what is in it, in a few words.
        upload: where and how the user uploads it.
    """
    say(f"written: {output} ({content})\nto upload: {upload}")


# --- leaderboards ---


def _help_of_board(benchmark: str) -> str:
    return f"Make the zip that the leaderboard of {benchmarks()[benchmark].source.name} takes."


def _board_command(name: str) -> Callable[..., None]:
    """Make the function of ``figlang submit BENCHMARK``, which writes the zip for its leaderboard.

    Typer makes the options of the command from its signature, and the help from its docstring.

    Args:
        name: of the benchmark.
    """
    benchmark = benchmarks()[name]

    def command(runs: Runs, output: ZipOutput = Path(f"{name}.zip")) -> None:
        saved_runs = read_all(runs, require_samples=True)
        with saying_new_folder(output):
            files, tasks = board.write_zip(benchmark, saved_runs, output)
        content = f"{', '.join(files)}, of {', '.join(tasks)}"
        _say_written(output, content, board.submission_of(benchmark).upload)

    command.__doc__ = _help_of_board(name)
    return command


@app.command("figlang2024")
def for_figlang2024(run: Run, output: ZipOutput = Path("figlang2024.zip")) -> None:
    """Make the zip of the FigLang 2024 shared task.

    The run is one of vflute. The zip contains pred.csv with id, label (1 or 0) and explanation. An
    output without a label gets an empty label, which the board counts as wrong.

    \b
    figlang submit figlang2024 results/MODEL -o figlang2024.zip
    """
    saved_run = read(run, require_samples=True)
    with saying_new_folder(output):
        counts = figlang2024.write(saved_run, output)
    content = (
        f"{counts['n']} rows of {counts['data']}, {counts['without_label']} without a label, "
        f"{counts['without_explanation']} without an explanation"
    )
    _say_written(output, content, figlang2024.UPLOAD)


@app.command()
def score2024(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="ZIP", help="A submission by any tool.", exists=True, dir_okay=False
        ),
    ],
    scorer: Annotated[
        Literal["figlang24", "embedded"],
        typer.Option(help="figlang24 is the board's scorer; embedded is for demos."),
    ] = "figlang24",
    dtype: Dtype = "fp32",
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Score a FigLang 2024 zip by the rules of its board.

    The score is macro F1 at 0, .50 and .60, with BERTScore F1 alone. The command needs V-FLUTE's
    test split (the hub, or $FIGLANG_DATA_DIR) and the weights of deberta-xlarge-mnli. The zip may
    come from any tool.

    \b
    figlang submit score2024 figlang2024.zip
    """
    # An invalid zip is refused before the scorer is loaded.
    load_scorer = partial(get_scorer, scorer, device=device, dtype=dtype)
    with translated_errors():
        report = figlang2024.score(file, load_scorer)
    if as_json:
        say_json(report)
        return
    # What `summary_table` needs of the results of a task.
    metadata = {"measures": report["measures"], "explanation_scorer": report["signature"]}
    results = {"configs": {"figlang2024": {"metadata": metadata}}}
    rows = report["n"]
    say(f"{report['file']}: {rows} rows of {report['data']}, in percent with 95 % intervals")
    say(f"\n{summary_table(results)}")
    say(f"without a label, which counts as wrong: {report['without_label']} of {rows}")
    say(
        "without an explanation, which is scored as the text nan:"
        f" {report['without_explanation']} of {rows}"
    )


@app.command("figlang2022")
def for_figlang2022(
    run: Run,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path(
        "submission.jsonl"
    ),
    fallback: Annotated[
        Literal["Entailment", "Contradiction"] | None,
        typer.Option(
            help="Label for outputs without one. By default such outputs are an error.",
            case_sensitive=False,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make the JSON lines of the FigLang 2022 shared task.

    The run is one of flute_codalab. The lines have the order of the task's blind file.

    \b
    figlang submit figlang2022 results/MODEL -o submission.jsonl
    """
    saved_run = read(run, require_samples=True)
    with saying_new_folder(output):
        task, fallback_count = figlang2022.write_lines(saved_run, output, fallback)
    rows = len(task.samples)
    if fallback_count > 0:
        most_points = 100 * fallback_count / rows  # if each of them is right
        warn(
            f"{fallback_count} labels are the fallback, not the model's: they may add up to"
            f" {most_points:.2f} points to its Acc@0. Say so next to its scores"
        )
    _say_written(output, f"{rows} rows of {task.data}", figlang2022.UPLOAD)


@app.command("irfl")
def for_irfl(runs: Runs) -> None:
    """Print the e-mail with a row for IRFL's leaderboard.

    It has detection accuracies in percent, and precision at k if the run has it.

    \b
    figlang submit irfl "CLIP ViT-L/14=results/MODEL" > irfl.txt
    """
    say(irfl.email(_read_runs_of_one_model(runs)).rstrip("\n"))
    say(f"to submit: {irfl.UPLOAD}", err=True)


def _read_runs_of_one_model(paths: Iterable[str]) -> list[SavedRun]:
    """Read the runs of one model at some paths.

    `read_all` would refuse runs that share a name.
    """
    return [read(path, require_samples=True) for path in paths]


# --- the hub and registries ---


def _valid_repository(name: str) -> str:
    """Check that the hub allows the name of a repository, such as ORG/MODEL, and return the name.

    The last part becomes the name of a folder, and that of "ORG/.." would be the folder above.

    Raises:
        BadParameter: it has no owner, or the hub does not allow it.
    """
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    if "/" not in name:
        raise typer.BadParameter(f"{name!r} must be ORG/MODEL, the owner and the model")
    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise typer.BadParameter(str(error)) from error
    return name


@app.command("hub")
def for_hub(
    runs: Runs,
    repo: Annotated[
        str,
        typer.Option(
            parser=_valid_repository,
            help="The model's repository on the hub, ORG/MODEL.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write into.", show_default="MODEL"),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Run of another model: the model card says which is better.", show_default=False
        ),
    ] = None,
) -> None:
    """Make results files for a model's repository on the hub.

    The command writes a section of the model card into a folder, and .eval_results/*.yaml for
    datasets that have leaderboards on the hub. It prints the command that uploads the folder. If
    README.md exists there, only this section is replaced.

    \b
    figlang submit hub results/MODEL --repo ORG/MODEL
    """
    model_name = repo.rpartition("/")[2]
    folder = output or Path(model_name)
    readme_is_new = not (folder / hub_results.README).exists()
    saved_runs = _read_runs_of_one_model(runs)
    baseline_sentences = []
    if baseline:
        baseline_sentences = verdicts_against(read(baseline, require_samples=True), saved_runs)
    written, reasons_by_dataset = hub_results.write(saved_runs, folder, baseline_sentences)

    for path in written:
        say(f"written: {path}")
    for dataset, reason in reasons_by_dataset.items():
        warn(f"no .eval_results of {dataset}: {reason}. The model card has its results")
    quoted_folder = shlex.quote(str(folder))
    if readme_is_new:
        warn(
            "README.md is new, and would replace one of the repository. If it has one: "
            f"hf download {repo} README.md --local-dir {quoted_folder}, then this command again"
        )
    say(f"to upload as a pull request: hf upload {repo} {quoted_folder} . --create-pr")


@app.command("every-eval-ever")
def for_every_eval_ever(
    runs: Runs,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder to write data/... into.", show_default=False),
    ],
    organization: Annotated[str, typer.Option(help="Who evaluated.", show_default=False)],
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        typer.Option(
            help="Relationship of the evaluator to the model's developers.", show_default=False
        ),
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="DEVELOPER/MODEL of all runs; for each run: DEVELOPER/MODEL=RUN. [default: as the"
            " run's --model_args name it]"
        ),
    ] = None,
    no_samples: Annotated[
        bool,
        typer.Option(
            "--no-samples",
            help="Do not write samples; they contain prompts, references and outputs.",
        ),
    ] = False,
) -> None:
    """Write runs in the form of Every Eval Ever, schema 0.3.0.

    It writes aggregate results as JSON, and samples as JSON lines.

    \b
    figlang submit every-eval-ever results/MODEL -o eee --organization "My Lab" \\
      --relationship third_party
    """
    saved_runs = read_all(runs, require_samples=True)
    written = every_eval_ever.write(
        saved_runs, output, organization, relationship, model=model, with_samples=not no_samples
    )
    for path in written:
        say(f"written: {path}")
    gated_datasets = _gated_datasets(saved_runs)
    if gated_datasets and not no_samples:
        warn(
            f"the samples hold texts of {', '.join(gated_datasets)}, which are gated on the hub:"
            " --no-samples leaves them out"
        )
    say(f"to submit: a pull request with the folder data to {every_eval_ever.DATASTORE}")


def _gated_datasets(runs: Iterable[SavedRun]) -> list[str]:
    """The names of the datasets in some runs that are gated on the hub, sorted."""
    names = set()
    for run in runs:
        for task in run.tasks.values():
            if source_of(task.data.dataset).gated:
                names.add(task.data.dataset)
    return sorted(names)
