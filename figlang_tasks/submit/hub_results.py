"""Results for the Hugging Face hub: ``.eval_results/*.yaml``, and a section of the model card.

The form of the files and their writer are those of ``huggingface_hub``
(https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

import figlang_tasks
from figlang_tasks.core import files
from figlang_tasks.core.text import printable, without_paths
from figlang_tasks.metrics.files import write_whole
from figlang_tasks.results import provenance
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.submit import SubmissionError, model_card, released, tasks_of, values

FOLDER = ".eval_results"
README = "README.md"


def write(
    found: Sequence[Run], folder: Path, verdicts: Sequence[str] = ()
) -> tuple[list[Path], list[str]]:
    """Write the files of runs of one model into a folder in the layout of its repository.

    The model card has the `verdicts`. A README there gets or keeps its section. Return the paths,
    and the datasets that have no repository, and so no entry.
    """
    try:
        from huggingface_hub import eval_result_entries_to_yaml
    except ImportError as error:
        raise SubmissionError(
            "this huggingface_hub cannot write .eval_results: pip install --upgrade huggingface_hub"
            " (2.0 or newer, which needs transformers 5)"
        ) from error
    tasks_of(found)  # no two of one name
    section = model_card.section(found, verdicts)  # of whole runs
    by_dataset: dict[str, list[Any]] = {}
    for run in found:
        for task in run.tasks.values():
            by_dataset.setdefault(task.data.dataset, []).extend(_entries(run, task))
    readme = folder / README
    contents = {README: model_card.placed(section, read_card(readme) if readme.exists() else None)}
    for dataset, entries in by_dataset.items():
        if entries:
            contents[f"{FOLDER}/{dataset}.yaml"] = yaml.safe_dump(
                eval_result_entries_to_yaml(entries),
                sort_keys=False,
                allow_unicode=True,
                width=10_000,
            )
    for path, text in contents.items():
        write_whole(folder / path, text.encode("utf-8"))
    return [folder / path for path in contents], [
        name for name, entries in by_dataset.items() if not entries
    ]


def read_card(readme: Path) -> str:
    """The text of a model card, whose line ends stay as they are."""
    try:
        return files.read_file(readme).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SubmissionError(f"{readme} cannot be read: {error}") from error


def _entries(run: Run, task: TaskRun) -> list[Any]:
    """One entry for each metric of the whole benchmark; none where the dataset has no
    repository.
    """
    from huggingface_hub import EvalResultEntry

    repository, revision = released(task)
    if repository is None:
        return []
    date = provenance.evaluated_at(run)
    details = [
        f"{task.data.name}, {len(task.samples)} rows, digest {task.data.digest}",
        f"task version {task.version}" if task.version else None,
        f"prompt {hashed}" if (hashed := task.metadata.get("prompt_hash")) else None,
        f"explanation scorer {task.signature}" if task.signature else None,
        " ".join(provenance.harness(run)),
        f"figlang_tasks {figlang_tasks.__version__}",
    ]
    entries = []
    for name, measure, found in values(task):
        if measure.is_diagnostic:
            continue
        about = [name, "percent" if measure.percent else "points"]
        if found.low is not None and found.high is not None:
            about.append(f"95 % interval {measure.text(found.low)} to {measure.text(found.high)}")
        notes = [", ".join(about), *details]
        entries.append(
            EvalResultEntry(
                dataset_id=repository,
                task_id=f"{task.task}_{name}",
                value=round(100 * found.value, 2) if measure.percent else round(found.value, 4),
                dataset_revision=revision,
                date=date.strftime("%Y-%m-%dT%H:%M:%SZ") if date else None,
                notes="; ".join(
                    printable(without_paths(note), limit=300) for note in notes if note
                ),
            )
        )
    return entries
