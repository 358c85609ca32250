"""Results for the Hugging Face hub: ``.eval_results/*.yaml`` and a section of the model card; upload only when asked.

The files' form and their writer are those of ``huggingface_hub`` (https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import yaml

import figlang_tasks
from figlang_tasks.core import hub
from figlang_tasks.core.redaction import without_paths
from figlang_tasks.core.text import printable
from figlang_tasks.results.runs import Run, TaskRun, with_folds
from figlang_tasks.submit import SubmissionError, all_rows, brief, model_card, provenance, write_checked

if TYPE_CHECKING:
    from huggingface_hub import HfApi

FOLDER = ".eval_results"
README = "README.md"
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


@dataclass(frozen=True)
class Dataset:
    """Where on the hub a dataset is that has no repository known here.

    Attributes:
        repository: ``ORG/NAME``.
        revision: commit, None if it is not known.
    """

    repository: str
    revision: str | None


@dataclass(frozen=True)
class Files:
    """The files for a model repository.

    Attributes:
        results: content of each file of :data:`FOLDER`, by path in the repository.
        section: of the model card.
        without: datasets that no entry could be made for, as they have no repository.
    """

    results: Mapping[str, str]
    section: str
    without: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A file as it is to be in the repository, and as it is there now (None: it is not)."""

    path: str
    before: str | None
    after: str

    def diff(self) -> str:
        """The change as a unified diff; "" if there is none."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(),
            self.after.splitlines(),
            f"a/{self.path}" if self.before is not None else "/dev/null",
            f"b/{self.path}",
            lineterm="",
        )
        return "\n".join(printable(line, limit=2000) for line in lines)


@dataclass(frozen=True)
class Plan:
    """The changes that an upload would make.

    Attributes:
        repository: model repository.
        commit: what its main branch is at; the upload fails if it has moved since.
        changes: files that would change; none: there is nothing to do.
    """

    repository: str
    commit: str
    changes: tuple[Change, ...]


# --- the files -------------------------------------------------------------------------------------------------------


def files(found: Sequence[Run], datasets: Mapping[str, Dataset] | None = None, source_url: str | None = None) -> Files:
    """Make the files of runs of one model.

    Args:
        found: the runs.
        datasets: repositories of datasets that have none known here, by name (``MetaCLUE``), or to name instead.
        source_url: page that says more of the runs, e.g. a repository with the samples.

    Raises:
        SubmissionError: a run was cut short or reported no metrics, a task is there twice, or this
            ``huggingface_hub`` cannot write such files.
    """
    try:
        from huggingface_hub import eval_result_entries_to_yaml, parse_eval_result_entries
    except ImportError as error:
        raise SubmissionError(
            "this huggingface_hub cannot write .eval_results: pip install --upgrade huggingface_hub (2.0 or newer, "
            "which needs transformers 5)"
        ) from error
    named = dict(datasets or {})
    if unknown := sorted(set(named) - set(hub.sources())):
        raise SubmissionError(f"unknown dataset {unknown[0]!r} in --dataset; known: {', '.join(hub.sources())}")
    _check_tasks(found)
    by_dataset: dict[str, list[Any]] = {}
    without: dict[str, None] = {}
    for run in found:
        for task in with_folds(all_rows(run)).tasks.values():
            entries = _entries(run, task, named.get(task.dataset), source_url)
            if entries:
                by_dataset.setdefault(task.dataset, []).extend(entries)
            else:
                without[task.dataset] = None
    results = {}
    for dataset, entries in by_dataset.items():
        text = yaml.safe_dump(eval_result_entries_to_yaml(entries), sort_keys=False, allow_unicode=True, width=10_000)
        if parse_eval_result_entries(yaml.safe_load(text)) != entries:
            raise SubmissionError(f"the results on {dataset} changed while they were written")
        results[f"{FOLDER}/{dataset}.yaml"] = text
    return Files(results, model_card.section(found), tuple(without))


def _check_tasks(found: Sequence[Run]) -> None:
    seen: dict[str, Path] = {}
    for run in found:
        for task in run.tasks:
            if task in seen:
                raise SubmissionError(f"{task} is in {seen[task]} and in {run.path}: give one run for a model and task")
            seen[task] = run.path


def _entries(run: Run, task: TaskRun, named: Dataset | None, source_url: str | None) -> list[Any]:
    """One entry for each metric of the whole benchmark; none where the dataset has no repository."""
    from huggingface_hub import EvalResultEntry

    data = provenance.data(task)
    repository = named.repository if named else data.repository
    if repository is None:
        return []
    date = provenance.evaluated_at(run)
    details = [
        f"{data.dataset}/{data.part}, {len(task.lines)} rows, digest {data.digest}",
        f"unweighted mean of {len(task.folds)} folds" if task.folds else None,
        f"task version {task.version}" if task.version else None,
        f"prompt {hashed}" if (hashed := provenance.metadata(task, "prompt_hash")) else None,
        f"explanation scorer {task.signature}" if task.signature else None,
        " ".join(provenance.harness(run)),
        f"figlang_tasks {figlang_tasks.__version__}",
    ]
    entries = []
    for value in provenance.values(task):
        if value.measure.diagnostic:
            continue
        is_percent, number = value.measure.percent, value.estimate.value
        unit = "percent" if is_percent else "points"
        interval = value.shown()[1]
        notes = [f"{value.name}, {unit}" + (f", 95 % interval {interval}" if interval else ""), *details]
        entries.append(
            EvalResultEntry(
                dataset_id=repository,
                task_id=f"{task.task}_{value.name}",
                value=round(100 * number, 2) if is_percent else round(number, 4),
                dataset_revision=named.revision if named else data.revision,
                date=date.strftime("%Y-%m-%dT%H:%M:%SZ") if date else None,
                source_url=source_url,
                source_name="figlang_tasks" if source_url else None,
                notes="; ".join(printable(without_paths(note), limit=300) for note in notes if note),
            )
        )
    return entries


def write(made: Files, folder: Path) -> list[Path]:
    """Write the files into a folder in the layout of a model repository; a README there gets or keeps its section.

    Raises:
        SubmissionError: a file cannot be written, or a README there cannot take the section.
    """
    readme = folder / README
    try:
        before = readme.read_bytes().decode("utf-8") if readme.exists() else None  # its line ends stay as they are
        (folder / FOLDER if made.results else folder).mkdir(parents=True, exist_ok=True)
    except (OSError, UnicodeDecodeError) as error:
        raise SubmissionError(f"{folder} cannot be written: {error}") from error
    contents = {README: model_card.placed(made.section, before), **made.results}
    for path, text in contents.items():
        write_checked(folder / path, text.encode("utf-8"))
    return [folder / path for path in contents]


# --- the upload ------------------------------------------------------------------------------------------------------


def parse_dataset(text: str) -> tuple[str, Dataset]:
    """Read ``NAME=ORG/NAME`` or ``NAME=ORG/NAME@COMMIT``.

    Raises:
        ValueError: it is of another form.
    """
    name, equals, rest = text.partition("=")
    repository, at, revision = rest.partition("@")
    if not (name and equals and _REPOSITORY.fullmatch(repository)) or (at and not revision):
        raise ValueError(f"{text!r} must be of the form NAME=ORG/NAME or NAME=ORG/NAME@COMMIT")
    return name, Dataset(repository, revision or None)


def check_repository(name: str) -> None:
    """Check the form of a repository's name.

    Raises:
        SubmissionError: it is not ``ORG/MODEL``.
    """
    if not _REPOSITORY.fullmatch(name) or set(name.split("/")) & {".", ".."}:
        raise SubmissionError(f"--repo {brief(name)!r} must be of the form ORG/MODEL")


def plan(api: HfApi, repository: str, made: Files) -> Plan:
    """Compare the files with the present content of a model repository. Nothing is changed.

    Raises:
        SubmissionError: the repository cannot be read, or its README cannot take the section.
    """
    try:
        commit = api.model_info(repository).sha
        if not commit:
            raise SubmissionError(f"{repository} has no commit yet: create it with a first file")
        there = {path: _there(api, repository, path, commit) for path in (README, *made.results)}
    except SubmissionError:
        raise
    except Exception as error:  # those of the HTTP library have no base in common with huggingface_hub's
        raise _hub_error(api, f"{repository} cannot be read", error) from error
    after = {README: model_card.placed(made.section, there[README]), **made.results}
    changes = [Change(path, there[path], text) for path, text in after.items() if there[path] != text]
    return Plan(repository, commit, tuple(changes))


def push(api: HfApi, planned: Plan, pull_request: bool = False) -> str:
    """Upload the changes as one commit, or open a pull request with them; return its address.

    Raises:
        SubmissionError: it was refused, or the repository has changed since it was compared.
    """
    from huggingface_hub import CommitOperationAdd

    operations = [CommitOperationAdd(change.path, change.after.encode("utf-8")) for change in planned.changes]
    try:
        done = api.create_commit(
            planned.repository,
            operations,
            commit_message="Results on figurative language (figlang_tasks)",
            parent_commit=planned.commit,
            create_pr=pull_request,
        )
    except Exception as error:  # as in `plan`
        raise _hub_error(api, f"{planned.repository} cannot be written", error) from error
    return str(done.pr_url if pull_request else done.commit_url)


def _there(api: HfApi, repository: str, path: str, commit: str) -> str | None:
    from huggingface_hub import errors

    with TemporaryDirectory(prefix="figlang-tasks-") as folder:
        try:
            file = api.hf_hub_download(repository, path, revision=commit, local_dir=folder)
        except errors.EntryNotFoundError:
            return None
        try:
            return Path(file).read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise SubmissionError(f"{path} of {repository} is not UTF-8, so it is not changed") from error


def _hub_error(api: HfApi, what: str, error: Exception) -> SubmissionError:
    """The error in one line, without the token."""
    from huggingface_hub import get_token

    message = next(iter(str(error).strip().splitlines()), "no message")
    for token in (api.token, get_token()):
        if isinstance(token, str) and token:
            message = message.replace(token, "***")
    return SubmissionError(
        f"{what} ({type(error).__name__}: {printable(message, limit=300)}): check the name and the connection, and "
        "whether the account of HF_TOKEN may do this (for another's repository: --pr)"
    )
