"""What ``figlang data check irfl`` checks beside what the tasks ask for: every picture."""

from __future__ import annotations

from collections.abc import Iterator

from figlang_tasks.benchmarks.irfl.archive import pictures
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.row_files import progress


def check() -> Iterator[DataError]:
    """Yield the fault of every picture of the archive that is damaged.

    A run checks only the pictures that it shows.
    """
    archive = pictures("IRFL")
    for uuid in progress(archive.uuids, "IRFL"):
        try:
            archive.read(uuid, "IRFL")
        except DataError as error:
            yield error
