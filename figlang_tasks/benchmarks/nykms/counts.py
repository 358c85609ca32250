"""NYK-MS's two files, and how many rows each has in the paper (arXiv 2409.01037, Table 6)."""

from __future__ import annotations

from figlang_tasks.core.request import Request

# The headings of Table 6 are shifted by one column.
PAPER_ROWS = {"nyk_m": 1583, "nyk_s": 1578}
"""All rows of NYK-M (metaphor) and NYK-S (sarcasm), by file."""

PAPER_POSITIVES = {"nyk_m": 692, "nyk_s": 687}
"""The rows with a metaphor, or with sarcasm, by file."""

ASKED_OF_ALL = ("metaphor", "mc", "sarcasm", "sc")
"""The questions about every caption. The others presuppose a metaphor, or sarcasm."""


def file_stem(question: str) -> str:
    """The file, without ``.jsonl``, that holds the answers to a question: ``nyk_m``, ``nyk_s``."""
    return "nyk_m" if question in ("metaphor", "mc", "mw", "me") else "nyk_s"


def count(request: Request) -> int | None:
    """The number of rows that the paper has for a request; None if it has none.

    It has none for a request with a split, since the paper's split is not published, and for other
    datasets than NYK-MS.
    """
    if "split" in request or request.dataset != "NYK-MS":
        return None
    question = request["question"]
    rows_by_file = PAPER_ROWS if question in ASKED_OF_ALL else PAPER_POSITIVES
    return rows_by_file[file_stem(question)]
