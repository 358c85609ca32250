"""What ``figlang data check irfl`` looks at beside what the tasks ask for."""

from __future__ import annotations

from collections.abc import Iterator

from figlang_tasks.benchmarks.irfl.archive import pictures
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.row_files import progress


def check() -> Iterator[DataError]:
    """The fault of every picture that cannot be shown; a run checks only the pictures that it
    shows.
    """
    store = pictures("IRFL")
    for uuid in progress(store.uuids, "IRFL"):
        try:
            store.read(uuid, "IRFL")
        except DataError as error:
            yield error
