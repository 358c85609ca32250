"""Results for the Hugging Face hub: ``.eval_results/*.yaml``, and a section of the model card.

The form of the files and their writer are those of ``huggingface_hub``
(https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

import figlang_tasks
from figlang_tasks.core import files
from figlang_tasks.core.benchmark import source_of
from figlang_tasks.core.text import printable, without_paths
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.submit import (
    ReportedValue,
    SubmissionError,
    hub_source,
    model_card,
    reported_values,
    tasks_by_name,
)
from figlang_tasks.submit.hub_leaderboards import DECLARATION, leaderboards_of

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

FOLDER = ".eval_results"
README = "README.md"


def write(
    runs: Sequence[Run], folder: Path, baseline_sentences: Sequence[str] = ()
) -> tuple[list[Path], dict[str, str]]:
    """Write a model's YAML files and README; return the paths, and datasets that have no YAML file.

    They are written into a copy of the model's repository. A YAML file has the results that the
    hub takes: those of tasks that the dataset's own ``eval.yaml`` on the hub names.

    Args:
        runs: whole runs of the model, no task of which is in two of them.
        folder: the copy of the repository. Its README gets the section of the model card, in place
            of an earlier one; it is made if there is none.
        baseline_sentences: for the model card; they compare the model with a baseline.

    Returns:
        The paths of the files that were written; and why a dataset has no YAML file, by the name
        of the dataset.

    Raises:
        SubmissionError: runs are partial or share a task, the README cannot be changed, or
            huggingface_hub is too old. No file is written then.
    """
    try:
        from huggingface_hub import eval_result_entries_to_yaml
    except ImportError as error:
        raise SubmissionError(
            "this huggingface_hub cannot write .eval_results: pip install --upgrade huggingface_hub"
            " (2.0 or newer, which needs transformers 5)"
        ) from error
    # Nothing is written before these two raise their errors.
    tasks_by_name(runs)  # an error if two runs have the same task
    section = model_card.make_section(runs, baseline_sentences)  # an error if a run is not whole
    entries_by_dataset: dict[str, list[EvalResultEntry]] = {}
    reasons_by_dataset: dict[str, str] = {}
    for run in runs:
        for task in run.tasks.values():
            entries, reason = _accepted_entries(run, task)
            if entries:
                entries_by_dataset.setdefault(task.data.dataset, []).extend(entries)
            else:
                reasons_by_dataset[task.data.dataset] = reason

    readme = folder / README
    old_readme = read_card(readme) if readme.exists() else None
    contents = {README: model_card.place_section(section, old_readme)}  # by path
    for dataset, entries in entries_by_dataset.items():
        contents[f"{FOLDER}/{dataset}.yaml"] = _to_yaml(eval_result_entries_to_yaml(entries))
        reasons_by_dataset.pop(dataset, None)  # of another task on the same dataset
    for path, text in contents.items():
        write_whole(folder / path, text.encode("utf-8"))
    return [folder / path for path in contents], reasons_by_dataset


def _to_yaml(content: object) -> str:
    one_line = 10_000  # columns, so that no text is broken into several lines
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=one_line)


def read_card(readme: Path) -> str:
    """The text of a model card, line ends as in the file; a `SubmissionError` if unreadable."""
    try:
        return files.read_file(readme).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SubmissionError(f"{readme} cannot be read: {error}") from error


def _accepted_entries(run: Run, task: TaskRun) -> tuple[list[EvalResultEntry], str]:
    """The entries of a task that the hub takes; if there are none, the reason, else "".

    The hub takes those of the leaderboards that the dataset declares.
    """
    repository, revision = hub_source(task)
    if repository is None:
        return [], "the hub does not have these rows"
    task_ids, reason = leaderboards_of(source_of(task.data.dataset))
    if not task_ids:
        return [], reason
    entries = []
    for entry in _entries(run, task, repository, revision):
        if entry.task_id in task_ids:
            entries.append(entry)
    if not entries:
        return [], f"{DECLARATION} of {repository} names no value of {task.task}"
    return entries, ""


def _entries(
    run: Run, task: TaskRun, repository: str, revision: str | None
) -> list[EvalResultEntry]:
    """The entries of a task in the hub's form, one for each value of a metric.

    Args:
        repository: the dataset on the hub.
        revision: its commit, if known.
    """
    from huggingface_hub import EvalResultEntry

    date = provenance.evaluated_at(run)
    task_notes = _task_notes(run, task)
    entries = []
    for reported in reported_values(task):
        name, measure, estimate, _ = reported
        if measure.percent:
            value = round(100 * estimate.value, 2)
        else:
            value = round(estimate.value, 4)
        notes = [_value_note(reported), *task_notes]
        entries.append(
            EvalResultEntry(
                dataset_id=repository,
                task_id=f"{task.task}_{name}",
                value=value,
                dataset_revision=revision,
                date=date.strftime("%Y-%m-%dT%H:%M:%SZ") if date else None,
                notes="; ".join(printable(without_paths(note), limit=300) for note in notes),
            )
        )
    return entries


def _value_note(reported: ReportedValue) -> str:
    """A value's metric, unit and interval: ``acc, percent, 95 % interval 40.1 to 61.0``."""
    name, measure, estimate, _ = reported
    note = f"{name}, {'percent' if measure.percent else 'points'}"
    limits = estimate.limits
    if limits is not None:
        low = measure.text(limits.low)
        high = measure.text(limits.high)
        note += f", 95 % interval {low} to {high}"
    return note


def _task_notes(run: Run, task: TaskRun) -> list[str]:
    """Notes on what the values of a task depend on: data, prompts, scorer and versions."""
    notes = [f"{task.data.name}, {len(task.samples)} rows, digest {task.data.digest}"]
    if task.version:
        notes.append(f"task version {task.version}")
    prompt_hash = task.metadata.get("prompt_hash")
    if prompt_hash:
        notes.append(f"prompt {prompt_hash}")
    scorer_signature = task.signature
    if scorer_signature:
        notes.append(f"explanation scorer {scorer_signature}")
    notes.append(" ".join(provenance.harness(run)))  # name and version
    notes.append(f"figlang_tasks {figlang_tasks.__version__}")
    return notes
