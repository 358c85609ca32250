"""The section of a model card with a model's results, and its place in a README."""

from __future__ import annotations

from collections.abc import Sequence

import figlang_tasks
from figlang_tasks.core.text import printable, without_paths
from figlang_tasks.results import frame, measures, provenance, tables
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import OVERALL
from figlang_tasks.submit import SubmissionError, check_whole, hub_source, utf8_text

BEGIN = (
    "<!-- figlang_tasks: begin; `figlang submit hub` replaces what stands up to the end mark -->"
)
END = "<!-- figlang_tasks: end -->"


# --- the section ---


def make_section(runs: Sequence[Run], verdicts: Sequence[str] = ()) -> str:
    """Write the section of a model card: verdicts, then the metrics of each task and their facts.

    Args:
        runs: whole runs of one model; others are an error.
        verdicts: sentences that compare the model with a baseline.
    """
    for run in runs:
        check_whole(run)
    count = sum(len(run.tasks) for run in runs)
    tasks = "1 task" if count == 1 else f"{count} tasks"
    introduction = (
        f"{tasks} of figlang_tasks, evaluated by the author of this section. Shares are in percent,"
        " with 95 % intervals; bold is the main metric of a task. Written by figlang_tasks"
        f" {figlang_tasks.__version__}."
    )
    paragraphs = [BEGIN, "## Figurative language", introduction]
    if verdicts:
        items = [f"- {_code_span(without_paths(verdict))}" for verdict in verdicts]
        paragraphs.append("\n".join(items))
    for run in runs:
        for task in run.tasks.values():
            paragraphs.append(f"### {_code_span(task.task)}")
            paragraphs.append(_metrics_table(task))
            paragraphs.append(_facts_list(run, task))
    return "\n\n".join([*paragraphs, END]) + "\n"


def _metrics_table(task: TaskRun) -> str:
    """Make a table with a line for each scope and a column for each metric, the main in bold."""
    numbers = frame.estimates_frame([("", {task.task: task.estimates})]).dropna(subset="value")
    numbers = numbers[numbers["scope"].isin({OVERALL, *task.benchmark.parts.in_short})]
    overall_metrics = numbers["metric"][numbers["scope"] == OVERALL]
    main_metric = measures.headline_metric(overall_metrics, task.measures.by_name)
    main_column = measures.name_with_arrow(main_metric)
    metrics = list(dict.fromkeys(numbers["metric"]))
    cells = tables.wide_table(numbers, ["scope"], metrics)
    cells = cells.rename(columns=measures.name_with_arrow)
    return tables.markdown(cells.rename(columns={main_column: f"**{main_column}**"}))


def _facts_list(run: Run, task: TaskRun) -> str:
    """List what reproduces the numbers: data, versions, prompts and options."""
    facts = provenance.task_facts(task)
    del facts["samples file"]
    for name, fact in provenance.run_facts(run).items():
        if name in (*provenance.OPTIONS, "harness", "date"):
            facts[name] = fact
    items = [f"- {name}: {_code_span(fact)}" for name, fact in facts.items()]
    if task.has_user_rows:
        items.append("- rows of the author's own in place of the release's")
    repository, revision = hub_source(task)
    if repository:
        commit = f" at {_code_span(revision)}" if revision else ""
        items.append(
            f"- dataset: [{repository}](https://huggingface.co/datasets/{repository}){commit}"
        )
    return "\n".join(items)


def _code_span(text: str) -> str:
    """Untrusted text as a code span in one line; it can end neither the span nor the section."""
    safe = printable(utf8_text(text), limit=1000)
    safe = safe.replace("`", "'").replace("<!--", "<! --").replace("-->", "-- >")
    return f"`{safe}`"


# --- its place ---


def place_section(section: str, readme: str | None) -> str:
    """Put a section into a README, in place of an earlier one or at the end; return the text.

    All else stays as it is. Without a README the section is the whole text.
    """
    if readme is None:
        return section
    before, begin, rest = readme.partition(BEGIN)
    old_section, end, after = rest.partition(END)
    is_one_pair = BEGIN not in old_section + after and END not in before + after
    if begin and end and is_one_pair:
        return before + section.removesuffix("\n") + after
    if begin or END in readme:
        raise SubmissionError(
            "the marks of figlang_tasks in the README (<!-- figlang_tasks: ... -->) are not one"
            " begin and one end: correct them, or delete all of them"
        )
    return readme + _missing_line_ends(readme) + section


def _missing_line_ends(readme: str) -> str:
    """The line ends that an empty line at the end of a README needs."""
    if not readme:
        return ""
    present = len(readme) - len(readme.rstrip("\n"))
    return "\n" * (2 - present)
