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

if TYPE_CHECKING:
    from huggingface_hub import EvalResultEntry

FOLDER = ".eval_results"
README = "README.md"


def write(
    runs: Sequence[Run], folder: Path, verdicts: Sequence[str] = ()
) -> tuple[list[Path], list[str]]:
    """Write ``.eval_results`` and the model card of a model, in the layout of its repository.

    Args:
        runs: of one model, without a task that two of them have.
        folder: a README in it gets the section of the model card, in place of an earlier one.
        verdicts: sentences for the model card.

    Returns:
        The paths of the files; and the datasets that have no repository on the hub, and so no
        entries.
    """
    try:
        from huggingface_hub import eval_result_entries_to_yaml
    except ImportError as error:
        raise SubmissionError(
            "this huggingface_hub cannot write .eval_results: pip install --upgrade huggingface_hub"
            " (2.0 or newer, which needs transformers 5)"
        ) from error
    tasks_by_name(runs)  # refuses two of one name
    section = model_card.make_section(runs, verdicts)  # refuses partial runs
    entries_by_dataset: dict[str, list[EvalResultEntry]] = {}
    for run in runs:
        for task in run.tasks.values():
            entries = entries_by_dataset.setdefault(task.data.dataset, [])
            entries += _entries(run, task)

    readme = folder / README
    old_readme = read_card(readme) if readme.exists() else None
    contents = {README: model_card.place_section(section, old_readme)}
    without_entries = []
    for dataset, entries in entries_by_dataset.items():
        if entries:
            contents[f"{FOLDER}/{dataset}.yaml"] = _to_yaml(eval_result_entries_to_yaml(entries))
        else:
            without_entries.append(dataset)
    for path, text in contents.items():
        write_whole(folder / path, text.encode("utf-8"))
    return [folder / path for path in contents], without_entries


def _to_yaml(content: object) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)


def read_card(readme: Path) -> str:
    """Read a model card; its line ends stay as they are."""
    try:
        return files.read_file(readme).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SubmissionError(f"{readme} cannot be read: {error}") from error


def _entries(run: Run, task: TaskRun) -> list[EvalResultEntry]:
    """Make an entry for each metric of a task; none if its dataset is not on the hub."""
    from huggingface_hub import EvalResultEntry

    repository, revision = hub_source(task)
    if repository is None:
        return []
    date = provenance.evaluated_at(run)
    entries = []
    for reported in reported_values(task):
        name, measure, estimate = reported
        if measure.is_diagnostic:
            continue
        value = round(estimate.value, 4)
        if measure.percent:
            value = round(100 * estimate.value, 2)
        notes = [_value_note(reported), *_task_notes(run, task)]
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
    """Describe a value: its metric, unit and interval."""
    name, measure, estimate = reported
    note = f"{name}, {'percent' if measure.percent else 'points'}"
    if estimate.low is not None and estimate.high is not None:
        low = measure.text(estimate.low)
        high = measure.text(estimate.high)
        note += f", 95 % interval {low} to {high}"
    return note


def _task_notes(run: Run, task: TaskRun) -> list[str]:
    """Name what the values of a task depend on: data, prompts, scorer and versions."""
    notes = [f"{task.data.name}, {len(task.samples)} rows, digest {task.data.digest}"]
    if task.version:
        notes.append(f"task version {task.version}")
    prompt_hash = task.metadata.get("prompt_hash")
    if prompt_hash:
        notes.append(f"prompt {prompt_hash}")
    if task.signature:
        notes.append(f"explanation scorer {task.signature}")
    notes.append(" ".join(provenance.harness(run)))
    notes.append(f"figlang_tasks {figlang_tasks.__version__}")
    return notes
