"""``figlang cite``: what a paper with our numbers cites, and the signatures of its runs."""

from __future__ import annotations

from typing import Annotated

import typer

import figlang_tasks
from figlang_tasks.cli import say, warn
from figlang_tasks.core.benchmark import benchmarks, names
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import printable
from figlang_tasks.report.verdict import contradicted
from figlang_tasks.results.provenance import harness, option_text
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run, TaskRun

_UNKNOWN = "unknown"

# As CITATION.cff has it, which a wheel does not hold.
SOFTWARE = rf"""@misc{{figlang-tasks,
  title = {{figlang\_tasks: figurative-language benchmarks for vision-language models}},
  author = {{{{The figlang\_tasks authors}}}},
  year = {{2026}},
  note = {{Version {figlang_tasks.__version__}}}
}}"""


def cite(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="BENCHMARK|RUN",
            help=(
                f"A benchmark ({', '.join(names())}), or a run: samples file, results file or"
                " folder. [default: all "
                "benchmarks]"
            ),
            show_default=False,
        ),
    ] = None,
) -> None:
    """Print BibTeX, and a signature for each task of a run.

    BibTeX: of the benchmarks and of this software. A signature is a line that names all that a
    number depends on: task and its version, data, prompts, --gen_kwargs, harness, version of this
    package, and scorer of explanations. Publish it with the number, like the signature of
    sacreBLEU.

    \b
    figlang cite vflute
    figlang cite results/MODEL
    """
    cited = dict.fromkeys(each for each in what or names() if each in names())
    signatures = []
    for path in (each for each in what or () if each not in cited):
        try:
            run = read(path, require_samples=True)
        except RunError as error:
            raise RunError(f"{error} (benchmarks: {', '.join(names())})") from error
        for each in contradicted((run, task) for task in run.tasks.values()):
            warn(each)
        signatures += [signature(run, task) for task in run.tasks.values()]
        cited |= dict.fromkeys(task.benchmark.name for task in run.tasks.values())
    papers = [benchmarks()[name].citation for name in cited]
    comments = "\n".join(f"% {printable(each)}" for each in signatures)
    say("\n\n".join(filter(None, [comments, *papers, SOFTWARE])))


def signature(run: Run, task: TaskRun) -> str:
    """What the numbers of a task depend on, in one line; ``unknown`` where the files do not
    tell.
    """
    versions = task.metadata.get("versions") or {}
    name, version = harness(run)
    parts = {
        "data": str(task.data),
        "rows": "own" if task.has_user_rows else None,
        "prompt": task.metadata.get("prompt_hash", _UNKNOWN),
        "template": (
            run.results.get("chat_template_sha")
            or ("none" if run.results.get("lm_eval_version") else None)
        ),
        "generation": option_text(run, "gen_kwargs") or None,
        "harness": " ".join(dict.fromkeys([name.replace("_", "-"), version])),
        "figlang-tasks": versions.get("figlang-tasks", _UNKNOWN),
        "cut": task.partial,
        "scorer": (task.signature or task.scorer or "none") if task.has_explanations else None,
    }
    named = [f"{name}:{value}" for name, value in parts.items() if value is not None]
    return "|".join([f"{task.task}@{task.version or _UNKNOWN}", *named])
