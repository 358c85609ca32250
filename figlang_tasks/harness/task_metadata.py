"""What results say of a task beside its values: version, prompts, revision and digest of the rows,
examples.

Each of these stands once. Version and prompt hash are declared in ``benchmarks/NAME/benchmark.py``,
the revision with the dataset (:class:`figlang_tasks.core.hub.Source`), the number of examples in
the options of the task file. The plugin puts them into the task, because lmms-eval reads them
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from figlang_tasks.core.benchmark import parse_request, source_of
from figlang_tasks.core.data_id import DataId


def complete_metadata(task: Any) -> None:
    """Complete the ``metadata`` of a task of ours; what its file says there stays, whoever wrote
    it.

    The harness takes the number of examples in its table from there, and the version from
    ``VERSION``.
    """
    config = task.config
    if not isinstance(config.metadata, dict | None):  # a user's text or list
        return
    data_ids = data_of(task)
    benchmark, request = parse_request(config.dataset_name)
    source = source_of(request.dataset)
    metadata = benchmark.metadata(source)
    if source.folder is not None and data_ids:
        metadata["data_revision"] = _shipped_revision(data_ids)
    options = task.lmms_eval_specific_kwargs or {}
    if "num_shots" in options:
        metadata["num_fewshot"] = options["num_shots"]

    metadata |= config.metadata or {}
    if data_ids:
        metadata["data"] = ", ".join(data_ids)
    config.metadata = metadata
    task.VERSION = metadata["version"]


def data_of(task: Any) -> list[str]:
    """The data that a task holds, by the column ``data`` of its documents."""
    data_ids: set[str] = set()
    for documents in task.dataset_no_image.values():
        if "data" in documents.column_names:
            data_ids.update(documents.unique("data"))
    return sorted(data_ids)


def _shipped_revision(data_ids: Sequence[str]) -> str:
    """The revision of rows that this package ships: where their data names none, the digest of
    their texts.
    """
    identities = [DataId.parse(data_id) for data_id in data_ids]
    revisions = {identity.revision or identity.digest for identity in identities}
    return ", ".join(sorted(revisions))
