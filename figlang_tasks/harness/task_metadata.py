"""What results say of a task beside its values: version, prompts, rows and examples.

Each of these is declared once: version and prompt hash in ``benchmarks/NAME/benchmark.py``, the
revision of the rows with their source (`figlang_tasks.core.hub.Source`), the number of examples in
the options of the task file. They are put into the metadata of the task, from which lmms-eval 0.7.3
copies them into its results.
"""

from __future__ import annotations

from figlang_tasks.core.benchmark import parse_request, source_of
from figlang_tasks.core.data_id import DataId, shipped_revision
from figlang_tasks.harness.harness_types import HarnessTask


def complete_metadata(task: HarnessTask) -> None:
    """Complete the ``metadata`` of a task of ours; but for ``data``, what its file says stays.

    lmms-eval 0.7.3 takes the number of examples in its table from there, as ``num_fewshot``, and
    the version from the attribute ``VERSION``.

    Args:
        task: the harness's task. Metadata of a user that is a text or a list is left as it is.
    """
    config = task.config
    if not isinstance(config.metadata, dict | None):
        return
    data_ids = data_of(task)
    benchmark, request = parse_request(config.dataset_name)
    source = source_of(request.dataset)
    metadata = benchmark.metadata(source)
    is_shipped = source.folder is not None  # with this package
    if is_shipped and data_ids:
        metadata["data_revision"] = shipped_revision(map(DataId.parse, data_ids))
    options = task.lmms_eval_specific_kwargs or {}
    if "num_shots" in options:
        metadata["num_fewshot"] = options["num_shots"]

    metadata |= config.metadata or {}  # The file has the last word, ...
    if data_ids:  # ... but not about the rows that were loaded.
        metadata["data"] = ", ".join(data_ids)
    config.metadata = metadata
    task.VERSION = metadata["version"]


def data_of(task: HarnessTask) -> list[str]:
    """The identities of the data that a task holds, from the column ``data`` of its documents."""
    data_ids: set[str] = set()
    for documents in task.dataset_no_image.values():
        if "data" in documents.column_names:
            data_ids.update(documents.unique("data"))
    return sorted(data_ids)
