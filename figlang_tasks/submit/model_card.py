"""The section of a model card with a model's results, and how it takes its place in a README."""

from __future__ import annotations

from collections.abc import Sequence

import figlang_tasks
from figlang_tasks.core.redaction import without_paths
from figlang_tasks.core.text import printable, table
from figlang_tasks.results import measures, provenance
from figlang_tasks.results.runs import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.submit import SubmissionError, all_rows, plain

BEGIN = "<!-- figlang_tasks: begin; `figlang submit hub` replaces what stands up to the end mark -->"
END = "<!-- figlang_tasks: end -->"


def section(found: Sequence[Run]) -> str:
    """Return the section: for each task its metrics with intervals, and how to reproduce them."""
    whole = [all_rows(run) for run in found]
    count = sum(len(run.tasks) for run in whole)
    introduction = (
        f"{count} task{'s' * (count > 1)} of figlang_tasks, evaluated by the author of this section. Shares are in "
        "percent, with 95 % intervals; bold is the main metric of a task. Written by figlang_tasks "
        f"{figlang_tasks.__version__}."
    )
    parts = [BEGIN, "## Figurative language", introduction]
    for run in whole:
        for task in run.tasks.values():
            parts += [f"### {_code(task.task)}", _table(task), _facts(run, task)]
    return "\n\n".join([*parts, END]) + "\n"


def placed(section: str, readme: str | None) -> str:
    """Return a README with `section` in place of an earlier one, else at its end; all else stays as it is."""
    if readme is None:
        return section
    before, begin, rest = readme.partition(BEGIN)
    old, end, after = rest.partition(END)
    if begin and end and BEGIN not in old + after and END not in before + after:
        return before + section.removesuffix("\n") + after
    if begin or END in readme:
        raise SubmissionError(
            "the marks of figlang_tasks in the README (<!-- figlang_tasks: ... -->) are not one begin and one end: "
            "correct them, or delete all of them"
        )
    gap = "\n" * (2 - (len(readme) - len(readme.rstrip("\n")))) if readme else ""
    return readme + gap + section


def _table(task: TaskRun) -> str:
    found = provenance.values(task)
    main = measures.headline(value.name for value in found if value.scope == OVERALL)
    rows = [(f"**{value.name}**" if value.name == main else value.name, *value.shown()) for value in found]
    return table([("metric", "value", "95 % interval"), *rows])


def _facts(run: Run, task: TaskRun) -> str:
    data = provenance.data(task)
    where = f"{_code(data.dataset)}, {_code(data.part)}, {len(task.lines)} rows, digest {_code(data.digest)}"
    if task.own:
        where += ", rows of the author's own in place of the release's"
    if data.repository:
        where += f", [{data.repository}](https://huggingface.co/datasets/{data.repository})"
    if data.revision:
        where += f" at {_code(data.revision)}"
    name, version = provenance.harness(run)
    date = provenance.evaluated_at(run)
    facts = {
        "data": where,
        "options": _code(provenance.options(run)),
        "task version": _code(task.version),
        "prompt hash": _code(provenance.metadata(task, "prompt_hash")),
        "explanation scorer": _code(task.signature),
        "harness": f"{_code(name)} {_code(version)}",
        "date": date.date().isoformat() if date else None,
        "samples": f"SHA-256 {_code(task.sha256)}",
    }
    return "\n".join(f"- {title}: {fact}" for title, fact in facts.items() if fact)


def _code(text: str | None) -> str:
    """Untrusted text as a code span in one line, without local paths; it cannot end the span, nor the section."""
    if not text:
        return ""
    safe = printable(plain(without_paths(text)), limit=1000).replace("`", "'")
    return f"`{safe.replace('<!--', '<! --').replace('-->', '-- >')}`"
