"""``figlang cite``: what a paper with our numbers cites, and the signatures of its runs."""

from __future__ import annotations

from typing import Annotated

import typer

import figlang_tasks
from figlang_tasks.cli import say, warn
from figlang_tasks.cli.judged import CITATION, Judged, read_judged
from figlang_tasks.core.benchmark import benchmarks, names
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import did_you_mean, printable
from figlang_tasks.report.run_warnings import contradiction_warnings
from figlang_tasks.results.provenance import harness, option_text
from figlang_tasks.results.runs import name_and_path, read
from figlang_tasks.results.task_run import Run, TaskRun

_UNKNOWN = "unknown"

SOFTWARE = rf"""@misc{{figlang-tasks,
  title = {{figlang\_tasks: figurative-language benchmarks for vision-language models}},
  author = {{{{The figlang\_tasks authors}}}},
  year = {{2026}},
  note = {{Version {figlang_tasks.__version__}}}
}}"""
"""BibTeX for this software. CITATION.cff says the same, but is not part of an installation."""


def cite(
    benchmarks_or_runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BENCHMARK|RUN",
            help=(
                f"A benchmark ({', '.join(names())}), or a run: samples file, results file or"
                " folder. [default: all benchmarks]"
            ),
            show_default=False,
        ),
    ] = None,
    judged: Judged = None,
) -> None:
    """Print BibTeX, and a signature for each task of a run.

    The BibTeX is for the benchmarks and for this software. A signature is a line that names all
    that a number depends on: task and its version, data, prompts, --gen_kwargs, harness, version of
    this package, and scorer of explanations. Publish it with the number, like the signature of
    sacreBLEU.

    \b
    figlang cite vflute
    figlang cite results/MODEL
    figlang cite LLaVA=results/llava --judged human/key.json
    """
    arguments = benchmarks_or_runs or names()
    cited_benchmarks = [argument for argument in arguments if argument in names()]
    run_paths = [argument for argument in arguments if argument not in names()]
    signature_comments = []
    cited_runs: list[Run] = []
    for path in run_paths:
        run = _read_run(path)
        cited_runs.append(run)
        for task in run.tasks.values():
            signature_comments.append(f"% {printable(signature(run, task))}")
            cited_benchmarks.append(task.benchmark.name)

    if judged is not None:
        signature_comments.append(f"% {printable(read_judged(judged, cited_runs).signature)}")

    paragraphs = ["\n".join(signature_comments)]
    for name in dict.fromkeys(cited_benchmarks):  # each once
        paragraphs.append(benchmarks()[name].citation)
    if judged is not None:
        paragraphs.append(CITATION)
    paragraphs.append(SOFTWARE)
    say("\n\n".join(paragraph for paragraph in paragraphs if paragraph))


def _read_run(path: str) -> Run:
    """Read the run at a path, and warn if its results file contradicts its samples.

    Raises:
        RunError: there is no run; the message lists the benchmarks.
    """
    hint = did_you_mean(path, names())
    if hint and not name_and_path(path)[1].exists():
        raise RunError(f"no benchmark and no run {path!r}{hint}")
    try:
        run = read(path, require_samples=True)
    except RunError as error:
        # The argument may be a benchmark whose name is misspelt.
        raise RunError(f"{error} (benchmarks: {', '.join(names())})") from error
    for warning in contradiction_warnings((run, task) for task in run.tasks.values()):
        warn(warning)
    return run


def signature(run: Run, task: TaskRun) -> str:
    """All that the numbers of a task depend on: ``vflute@2|data:V-FLUTE/test:1c0f|...``.

    A part that does not apply is left out: the rows unless they are the user's own, a chat template
    unless the harness is lm-eval, generation without --gen_kwargs, and the scorer without
    explanations. ``unknown`` stands for what no file says.
    """
    versions = task.metadata.get("versions") or {}
    parts: dict[str, str | None] = {"data": str(task.data)}
    if task.has_user_rows:
        parts["rows"] = "own"
    parts["prompt"] = task.metadata.get("prompt_hash", _UNKNOWN)
    template = _chat_template(run)
    if template:
        parts["template"] = template
    generation = option_text(run, "gen_kwargs")
    if generation:
        parts["generation"] = generation
    parts["harness"] = _harness_text(run)
    parts["figlang-tasks"] = versions.get("figlang-tasks", _UNKNOWN)
    if task.partial is not None:
        parts["partial"] = task.partial
    if task.has_explanations:
        parts["scorer"] = task.signature or task.scorer or "none"

    texts = [f"{task.task}@{task.version or _UNKNOWN}"]
    for name, text in parts.items():
        if text is not None:  # A results file may hold null.
            texts.append(f"{name}:{text}")
    return "|".join(texts)


def _chat_template(run: Run) -> str:
    """The hash of lm-eval's chat template; "none" if it applied none; "" for another harness."""
    template_hash: str | None = run.results.get("chat_template_sha")
    if template_hash:
        return template_hash
    is_of_lm_eval = bool(run.results.get("lm_eval_version"))
    return "none" if is_of_lm_eval else ""


def _harness_text(run: Run) -> str:
    """Name and version of the harness, ``lmms-eval 0.7.3``; ``unknown`` if no file says it."""
    name, version = harness(run)
    if name == version:  # Both are unknown.
        return name
    return f"{name.replace('_', '-')} {version}"
