"""Which files NYK-MS's tasks read."""

from __future__ import annotations

from figlang_tasks.benchmarks.nykms.contests import CONTEST_CONFIG, CONTESTS
from figlang_tasks.benchmarks.nykms.counts import file_stem
from figlang_tasks.core.request import Request


def needed_files(request: Request) -> tuple[str, ...]:
    """Patterns of the files that a request reads, or that the rows of the contest dataset are in.

    Pictures are not among them: a row may take its cartoon from the contest dataset.
    """
    if request.dataset == CONTESTS:
        return (f"{CONTEST_CONFIG}/*.parquet",)
    return (f"{file_stem(request['question'])}.jsonl",)
