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

_SAMPLES_FILE = "samples file"
"""The fact about a task that the section leaves out: readers of the card do not have the file."""

_RUN_FACTS = (*provenance.OPTIONS, "harness", "date")
"""The facts about a run that the section has, by their names in `provenance.run_facts`."""


# --- the section ---


def make_section(runs: Sequence[Run], baseline_sentences: Sequence[str] = ()) -> str:
    """The section of a model card in Markdown: a comparison, then metrics and facts of each task.

    Args:
        runs: runs of one model.
        baseline_sentences: they compare the model with a baseline; none: no comparison.

    Raises:
        SubmissionError: a run is not whole.
    """
    for run in runs:
        check_whole(run)
    n_tasks = sum(len(run.tasks) for run in runs)
    tasks_text = "1 task" if n_tasks == 1 else f"{n_tasks} tasks"
    introduction = (
        f"{tasks_text} of figlang_tasks, evaluated by the author of this section. Shares are in"
        " percent, with 95 % intervals; bold is the main metric of a task. Written by figlang_tasks"
        f" {figlang_tasks.__version__}."
    )
    paragraphs = [BEGIN, "## Figurative language", introduction]
    if baseline_sentences:
        bullets = [f"- {_code_span(without_paths(sentence))}" for sentence in baseline_sentences]
        paragraphs.append("\n".join(bullets))
    for run in runs:
        for task in run.tasks.values():
            paragraphs.append(f"### {_code_span(task.task)}")
            paragraphs.append(_metrics_table(task))
            paragraphs.append(_facts_list(run, task))
    return "\n\n".join([*paragraphs, END]) + "\n"


def _metrics_table(task: TaskRun) -> str:
    """A Markdown table of a task's values: a line for each scope, a column for each metric.

    The name of the main metric is in bold.

    Scopes are all rows, and those of the paper's main table. A metric that failed has no column.
    """
    estimates_by_task = {task.task: task.estimates}
    unnamed_run = ""  # no column of the table names the run
    estimates = frame.estimates_frame([(unnamed_run, estimates_by_task)])
    main_scopes = {OVERALL, *task.benchmark.parts.in_short}
    is_shown = estimates["value"].notna() & estimates["scope"].isin(main_scopes)
    shown_estimates = estimates[is_shown]
    overall_metrics = shown_estimates["metric"][shown_estimates["scope"] == OVERALL]
    main_metric = measures.headline_metric(overall_metrics, task.measures.by_name)
    metrics = list(dict.fromkeys(shown_estimates["metric"]))

    # Its columns are the scope, n, and the metrics.
    table = tables.wide_table(shown_estimates, ["scope"], metrics)
    heads = {}
    for metric in metrics:
        head = measures.name_with_arrow(metric)
        heads[metric] = f"**{head}**" if metric == main_metric else head
    return tables.markdown(table.rename(columns=heads))


def _facts_list(run: Run, task: TaskRun) -> str:
    """A Markdown list of what reproduces the numbers: data, versions, prompts and options."""
    facts = {}
    # Of the task: data, versions, prompt, scorer.
    for name, fact in provenance.task_facts(task).items():
        if name != _SAMPLES_FILE:
            facts[name] = fact
    # Of the run: options of the harness, its version, and the date.
    for name, fact in provenance.run_facts(run).items():
        if name in _RUN_FACTS:
            facts[name] = fact
    bullets = [f"- {name}: {_code_span(fact)}" for name, fact in facts.items()]
    if task.has_user_rows:
        bullets.append("- rows of the author's own in place of the release's")
    repository, revision = hub_source(task)
    if repository:
        commit = f" at {_code_span(revision)}" if revision else ""
        bullets.append(
            f"- dataset: [{repository}](https://huggingface.co/datasets/{repository}){commit}"
        )
    return "\n".join(bullets)


def _code_span(text: str) -> str:
    """Untrusted text as a Markdown code span, which it cannot end; nor can it end the section."""
    safe = printable(utf8_text(text), limit=1000)
    safe = safe.replace("`", "'").replace("<!--", "<! --").replace("-->", "-- >")
    return f"`{safe}`"


# --- its place ---


def place_section(section: str, readme: str | None) -> str:
    """The text of a README with a section in place of the earlier one, else at its end.

    All else stays as it is.

    Args:
        section: from the mark `BEGIN` to the mark `END`, and a line end.
        readme: the text of the README; None if there is none, so that the section is all of it.

    Raises:
        SubmissionError: the marks in the README are not one `BEGIN` and then one `END`.
    """
    if readme is None:
        return section
    has_marks = BEGIN in readme or END in readme
    if not has_marks:
        return readme + _missing_line_ends(readme) + section
    before, _, from_begin = readme.partition(BEGIN)
    _, _, after = from_begin.partition(END)
    # One mark of each kind, and the end behind the beginning
    is_one_pair = readme.count(BEGIN) == 1 and readme.count(END) == 1 and END in from_begin
    if not is_one_pair:
        raise SubmissionError(
            "the marks of figlang_tasks in the README (<!-- figlang_tasks: ... -->) are not one"
            " begin and one end: correct them, or delete all of them"
        )
    # The line end after the old section is still there.
    return before + section.removesuffix("\n") + after


def _missing_line_ends(readme: str) -> str:
    """The line ends that a README lacks so that an empty line ends it; none for an empty one."""
    if not readme:
        return ""
    present = len(readme) - len(readme.rstrip("\n"))
    return "\n" * (2 - present)  # "" if there are two or more
