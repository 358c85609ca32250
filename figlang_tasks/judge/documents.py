"""The documents of a finished run, by the ids in its samples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.results.task_run import TaskRun

if TYPE_CHECKING:
    import datasets


class RunDocuments:
    """The documents of one task of a run; they are loaded when the first one is asked for."""

    def __init__(self, task: TaskRun) -> None:
        self._task = task

    @cached_property
    def _documents(self) -> datasets.Dataset:
        """All documents of the task, after a check that they are those that the run was asked.

        Raises:
            FigLangError: the data here is not that of the run.
        """
        task = self._task
        documents = task.benchmark.documents(task.request)
        # Every document names its data in one text: dataset, part, revision and digest (`DataId`).
        data_here = documents["data"][0]
        data_of_run = str(task.data)
        if data_here != data_of_run:
            raise FigLangError(
                f"the samples are of {data_of_run}, but the data here is {data_here}:"
                " use the data of the run"
            )
        return documents

    @cached_property
    def _index_of_row(self) -> dict[str, int]:
        """The index of each document, by the id of its row."""
        return {row_id: index for index, row_id in enumerate(self._documents["id"])}

    def __getitem__(self, row_id: str) -> Mapping[str, Any]:
        """The document of a row.

        Raises:
            FigLangError: the data has no such row, or is not that of the run.
        """
        index = self._index_of_row.get(row_id)
        if index is None:
            raise FigLangError(
                f"{self._task.path}: row {row_id} is not in {self._task.data}:"
                " restore the file that the harness wrote"
            )
        document: Mapping[str, Any] = self._documents[index]
        return document
