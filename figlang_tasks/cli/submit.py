"""``figlang submit``: files for leaderboards, registries and the hub from saved samples."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import typer.core

from figlang_tasks.cli import failing, own_commands, say, say_json
from figlang_tasks.cli.scorer_options import BertscoreLayer, BertscoreModel, Cache, Dtype
from figlang_tasks.core.benchmark import benchmarks, names
from figlang_tasks.core.text import printable
from figlang_tasks.scoring import explanations


class _Verbs(typer.core.TyperGroup):
    """Takes a verb's name with ``_`` for ``-`` too: ``every_eval_ever``, as the module and its schema are called.

    Each benchmark that declares a submission is a verb of its own.
    """

    # Any: typer may bring its own copy of click.
    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *(name for name, each in benchmarks().items() if each.submission)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        found = super().get_command(ctx, cmd_name.replace("_", "-"))
        if found is None and cmd_name in names() and benchmarks()[cmd_name].submission:
            return own_commands.single(cmd_name, _board(cmd_name))
        return found

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return (command.name if command else name), command, rest  # so help shows the one name


app = typer.Typer(cls=_Verbs, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

RunArgument = Annotated[
    str, typer.Argument(metavar="RUN", help="A samples or results file, or the folder of a run.", show_default=False)
]
RunArguments = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Samples or results files, or folders of runs; of one model.", show_default=False
    ),
]
Fallback = Annotated[
    Literal["entailment", "contradiction"] | None,
    typer.Option(help="Label for outputs without one. By default such outputs are an error.", show_default=False),
]


@app.callback()
def submit() -> None:
    """Make files for leaderboards, registries or the hub.

    The commands write files; they do not upload them.

    \b
    figlang submit figlang2024 results/MODEL -o figlang2024.zip
    figlang submit score2024 figlang2024.zip
    figlang submit figlang2022 results/MODEL -o submission.jsonl
    figlang submit irfl results/MODEL
    figlang submit hub results/MODEL --repo ORG/MODEL
    figlang submit every-eval-ever results/MODEL -o eee --organization ME --relationship third_party
    """


@app.command()
def figlang2024(
    run: RunArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The zip to write.")] = Path("figlang2024.zip"),
    task: Annotated[
        str | None, typer.Option(help="The task, if the run has several on that split.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Make the zip of the FigLang 2024 shared task.

    The run is one of vflute. The zip contains pred.csv with id, label (1 or 0) and explanation. An output without a
    label gets an empty label, which the board counts as wrong.

    \b
    figlang submit figlang2024 results/MODEL -o figlang2024.zip
    figlang submit figlang2024 results/MODEL/DATE_samples_vflute.jsonl
    """
    with failing("submit figlang2024"):
        from figlang_tasks.results import runs
        from figlang_tasks.submit import figlang2024 as target

        written = target.write(runs.read(run), output, task)
    report = {"written": str(output), **written, "upload": target.UPLOAD}
    _say(report, as_json, _written_text(report))


@app.command()
def score2024(
    file: Annotated[Path, typer.Argument(metavar="ZIP", help="A submission by any tool.", show_default=False)],
    scorer: Annotated[
        Literal["figlang24", "embedded"], typer.Option(help="figlang24 is the board's scorer; embedded is for demos.")
    ] = "figlang24",
    dtype: Dtype = "fp32",
    device: Annotated[
        str,
        typer.Option(envvar=explanations.DEVICE_VARIABLE, help="auto (the GPU, if the model fits), cpu, cuda:1, ..."),
    ] = "auto",
    cache: Cache = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no scores.")] = False,
    bertscore_model: BertscoreModel = None,
    bertscore_layer: BertscoreLayer = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Score a FigLang 2024 zip by the rules of its board.

    The score is macro F1 at 0, .50 and .60, with BERTScore F1 alone. The command needs V-FLUTE's test split (the hub,
    or $FIGLANG_DATA_DIR) and the weights of deberta-xlarge-mnli. The zip may come from any tool.

    \b
    figlang submit score2024 figlang2024.zip
    figlang submit score2024 theirs.zip --dtype fast --device cuda --json
    """
    if cache is not None and no_cache:
        raise typer.BadParameter("use either --cache or --no-cache")
    from figlang_tasks.metrics.explanation import WeightsError, get_scorer

    with failing("submit score2024", WeightsError, ValueError, ArithmeticError, MemoryError):
        from figlang_tasks.submit import figlang2024 as target

        target.answers(file)  # what is not valid, or not there, costs no fetching of models
        ready = get_scorer(
            scorer,
            device=device,
            dtype=dtype,
            cache=False if no_cache else cache or True,
            bertscore_model=bertscore_model,
            bertscore_layer=bertscore_layer,
        )
        report = target.score(file, ready)
    from figlang_tasks import scoring
    from figlang_tasks.cli.summary import estimates_table, scorer_line

    text = [
        f"{printable(report['file'])}: {report['n']} rows of {report['data']}, in percent with 95 % intervals",
        estimates_table("figlang2024", scoring.from_json(report["measures"])),
        f"{scorer_line(report['signature'])}\n"
        f"without a label, which counts as wrong: {report['without_label']} of {report['n']}\n"
        f"without an explanation, which is scored as the text nan: {report['without_explanation']} of {report['n']}",
    ]
    _say(report, as_json, "\n\n".join(text))


@app.command()
def figlang2022(
    run: RunArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write.")] = Path("submission.jsonl"),
    fallback: Fallback = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
) -> None:
    """Make the JSON lines of the FigLang 2022 shared task.

    The run is one of flute_codalab. The lines have the order of the task's blind file.

    \b
    figlang submit figlang2022 results/MODEL -o submission.jsonl
    """
    with failing("submit figlang2022"):
        from figlang_tasks.results import runs
        from figlang_tasks.submit import figlang2022 as target
        from figlang_tasks.submit import the_task

        read = runs.read(run)
        chosen = the_task(read, "flute_codalab", lambda each: each.data.name == "FLUTE/codalab")
        label = fallback.capitalize() if fallback else None
        fallbacks = target.write_lines(chosen, output, label)
        if fallbacks:
            say(
                f"figlang submit figlang2022: {fallbacks} labels are the fallback, not the model's: they may add up "
                f"to {100 * fallbacks / len(chosen.lines):.2f} points to its Acc@0. Say so next to its scores",
                err=True,
            )
    report = {
        "written": str(output),
        "data": str(chosen.data),
        "n": len(chosen.lines),
        "fallbacks": fallbacks,
        "upload": target.UPLOAD,
    }
    _say(report, as_json, _written_text(report))


@app.command()
def irfl(
    runs: RunArguments,
    family: Annotated[
        Literal["match", "detect", "detect_grid"] | None,
        typer.Option(help="The tasks of the row, if the runs have several kinds.", show_default=False),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="File to write instead of printing.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the values, 0 to 1, as JSON.")] = False,
) -> None:
    """Make the e-mail with a row for IRFL's leaderboard.

    It has detection accuracies in percent, and precision at k if the run has it.

    \b
    figlang submit irfl results/MODEL
    figlang submit irfl "CLIP ViT-L/14=results/MODEL" --family match -o irfl.txt
    """
    with failing("submit irfl"):
        from figlang_tasks.results.runs import read
        from figlang_tasks.submit import irfl as target
        from figlang_tasks.submit import write

        found = target.row([read(run) for run in runs], family)  # of one model: names need no paths
        text = target.as_email(found)
        if output is not None:
            write(output, text.encode("utf-8"))
    report = {
        "model": found.model,
        "family": found.family,
        "detection": found.detection,
        "retrieval": found.retrieval,
        "revision": found.revision,
        "upload": target.UPLOAD,
    }
    if as_json:
        say_json(report)
        return
    say(f"written: {printable(output)}" if output else text.rstrip("\n"))
    say(f"to submit: {target.UPLOAD}", err=output is None)


@app.command()
def hub(
    runs: RunArguments,
    repo: Annotated[str, typer.Option(help="The model's repository on the hub, ORG/MODEL.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder to write into.", show_default="MODEL"),
    ] = None,
    source_url: Annotated[
        str | None, typer.Option(help="Page with more about the runs, for the entries.", show_default=False)
    ] = None,
) -> None:
    """Make results files for a model's repository on the hub.

    The command writes .eval_results/*.yaml and a section of the model card into a folder, and prints the command that
    uploads it. If README.md exists there, only this section is replaced.

    \b
    figlang submit hub results/MODEL --repo ORG/MODEL
    """
    with failing("submit hub"):
        from huggingface_hub.utils import HFValidationError, validate_repo_id

        from figlang_tasks.results.runs import read_all
        from figlang_tasks.submit import hub_results as target

        try:
            validate_repo_id(repo)
        except HFValidationError as error:
            raise target.SubmissionError(f"--repo {error}") from error
        folder = output or Path(repo.rpartition("/")[2])
        made = target.files(read_all(runs), source_url)
        is_new = not (folder / target.README).exists()
        for path in target.write(made, folder):
            say(f"written: {printable(path)}")
    if made.without:
        say(
            f"figlang submit hub: no .eval_results entries for {', '.join(made.without)}, which the hub does not have; "
            "the model card has their results",
            err=True,
        )
    if is_new:
        say(
            "figlang submit hub: README.md is new, and would replace one of the repository. If it has one: "
            f"hf download {repo} README.md --local-dir {shlex.quote(printable(folder))}, then this command again",
            err=True,
        )
    say(f"to upload as a pull request: hf upload {repo} {shlex.quote(printable(folder))} . --create-pr")


@app.command("every-eval-ever")
def every_eval_ever(
    runs: RunArguments,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write data/... into.", show_default=False)],
    organization: Annotated[str, typer.Option(help="Who evaluated.", show_default=False)],
    relationship: Annotated[
        Literal["first_party", "third_party", "collaborative", "other"],
        typer.Option(help="Relationship of the evaluator to the model's developers.", show_default=False),
    ],
    model: Annotated[
        str | None, typer.Option(help="DEVELOPER/MODEL. [default: as the run's --model_args name it]")
    ] = None,
    deployment: Annotated[
        Literal["self_deployed", "externally_managed", "unknown"], typer.Option(help="Who ran the model.")
    ] = "unknown",
    availability: Annotated[
        Literal["open_weights", "closed_weights", "unknown"], typer.Option(help="Access to the model's weights.")
    ] = "unknown",
    no_samples: Annotated[
        bool, typer.Option("--no-samples", help="Do not write samples; they contain prompts, references and outputs.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths as JSON.")] = False,
) -> None:
    """Write runs in the form of Every Eval Ever, schema 0.3.0.

    It writes aggregate results as JSON, and samples as JSON lines.

    \b
    figlang submit every-eval-ever results/MODEL -o eee --organization "My Lab" --relationship third_party
    """
    with failing("submit every-eval-ever"):
        from figlang_tasks.core.hub import source
        from figlang_tasks.results.runs import read_all
        from figlang_tasks.submit import every_eval_ever as target

        about = target.About(organization, relationship, model, deployment, availability)
        found = read_all(runs)
        paths = target.write(found, output, about, samples=not no_samples)
    gated = sorted({each.dataset for run in found for each in run.tasks.values() if source(each.dataset).gated})
    if gated and not no_samples:
        say(
            f"figlang submit every-eval-ever: the samples hold texts of {', '.join(gated)}, which are gated on the "
            "hub: --no-samples leaves the samples out",
            err=True,
        )
    report = {"written": [str(path) for path in paths], "upload": target.DATASTORE}
    lines = [f"written: {printable(path)}" for path in paths]
    _say(report, as_json, "\n".join([*lines, f"to submit: a pull request with the folder data to {target.DATASTORE}"]))


def _board(name: str) -> Callable[..., None]:
    """The command that makes the zip of a benchmark's leaderboard."""

    def command(
        runs: RunArguments,
        output: Annotated[
            Path | None,
            typer.Option("-o", "--output", help="The zip to write. [default: NAME.zip]", show_default=False),
        ] = None,
        task: Annotated[
            list[str] | None,
            typer.Option(help="A task to hand in; again for others. [default: all]", show_default=False),
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print what was written as JSON.")] = False,
    ) -> None:
        with failing(f"submit {name}"):
            from figlang_tasks.results.runs import read_all
            from figlang_tasks.submit import board

            path = output or Path(f"{name}.zip")
            made = board.write_zip(benchmarks()[name], read_all(runs), path, task or ())
        submission = benchmarks()[name].submission
        assert submission is not None
        text = (
            f"written: {printable(path)} ({', '.join(made['files'])}, of {', '.join(made['tasks'])})"
            f"\nto upload: {submission.upload}"
        )
        _say({"written": str(path), **made, "upload": submission.upload}, as_json, text)

    command.__doc__ = f"""Make the zip that the leaderboard of {benchmarks()[name].source.name} takes.

    \b
    figlang submit {name} results/MODEL -o {name}.zip
    """
    return command


def _say(report: dict[str, Any], as_json: bool, text: str) -> None:
    if as_json:
        say_json(report)
    else:
        say(text)


def _written_text(report: dict[str, Any]) -> str:
    counts = [f"{report['n']} rows of {printable(report['data'])}"]
    told = {
        "without_label": "without a label: counted as wrong",
        "without_explanation": "without an explanation",
        "fallbacks": "with the fallback label",
    }
    for name, words in told.items():
        if report.get(name):
            counts.append(f"{report[name]} {words}")
    return f"written: {printable(report['written'])} ({', '.join(counts)})\nto upload: {report['upload']}"
