"""The section of a model card with a model's results, and how it takes its place in a README."""

from __future__ import annotations

from collections.abc import Sequence

import figlang_tasks
from figlang_tasks.core.text import printable, without_paths
from figlang_tasks.results import frame, measures, provenance, tables
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.submit import SubmissionError, all_rows, plain, released

BEGIN = (
    "<!-- figlang_tasks: begin; `figlang submit hub` replaces what stands up to the end mark -->"
)
END = "<!-- figlang_tasks: end -->"


def section(found: Sequence[Run], verdicts: Sequence[str] = ()) -> str:
    """The section: the verdicts, then for each task its metrics with intervals, and how to
    reproduce them.
    """
    whole = [all_rows(run) for run in found]
    count = sum(len(run.tasks) for run in whole)
    introduction = (
        f"{count} task{'s' * (count > 1)} of figlang_tasks, evaluated by the author of this"
        " section. Shares are in percent, with 95 % intervals; bold is the main metric of a task."
        f" Written by figlang_tasks {figlang_tasks.__version__}."
    )
    parts = [BEGIN, "## Figurative language", introduction]
    if verdicts:
        parts.append("\n".join(f"- {_code(without_paths(each))}" for each in verdicts))
    for run in whole:
        for task in run.tasks.values():
            parts += [f"### {_code(task.task)}", _table(task), _facts(run, task)]
    return "\n\n".join([*parts, END]) + "\n"


def placed(section: str, readme: str | None) -> str:
    """A README with `section` in place of an earlier one, else at its end; all else stays as it
    is.
    """
    if readme is None:
        return section
    before, begin, rest = readme.partition(BEGIN)
    old, end, after = rest.partition(END)
    if begin and end and BEGIN not in old + after and END not in before + after:
        return before + section.removesuffix("\n") + after
    if begin or END in readme:
        raise SubmissionError(
            "the marks of figlang_tasks in the README (<!-- figlang_tasks: ... -->) are not one"
            " begin and one end: correct them, or delete all of them"
        )
    gap = "\n" * (2 - (len(readme) - len(readme.rstrip("\n")))) if readme else ""
    return readme + gap + section


def _table(task: TaskRun) -> str:
    """A line for each scope, a column for each metric; that of the main one is bold."""
    found = frame.estimates_frame([("", {task.task: task.estimates})]).dropna(subset="value")
    scopes = {OVERALL, *task.benchmark.parts.in_short}
    found = found[found["scope"].isin(scopes)]
    headline = measures.headline_metric(
        found["metric"][found["scope"] == OVERALL], task.measures.by_name
    )
    main = measures.name_with_arrow(headline)
    shown = tables.wide_table(found, ["scope"], list(dict.fromkeys(found["metric"])))
    return tables.markdown(
        shown.rename(columns=measures.name_with_arrow).rename(columns={main: f"**{main}**"})
    )


def _facts(run: Run, task: TaskRun) -> str:
    repository, revision = released(task)
    facts = provenance.task_facts(task) | {
        name: fact
        for name, fact in provenance.run_facts(run).items()
        if name in (*provenance.OPTIONS, "harness", "date")
    }
    facts.pop("samples file")
    lines = [f"- {name}: {_code(fact)}" for name, fact in facts.items()]
    if task.has_user_rows:
        lines.append("- rows of the author's own in place of the release's")
    if repository:
        commit = f" at {_code(revision)}" if revision else ""
        lines.append(
            f"- dataset: [{repository}](https://huggingface.co/datasets/{repository}){commit}"
        )
    return "\n".join(lines)


def _code(text: str) -> str:
    """Untrusted text as a code span in one line; it cannot end the span, nor the section."""
    safe = printable(plain(text), limit=1000).replace("`", "'")
    return f"`{safe.replace('<!--', '<! --').replace('-->', '-- >')}`"
