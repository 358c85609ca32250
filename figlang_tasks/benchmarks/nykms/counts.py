"""The files of NYK-MS, and how many rows they have in the paper."""

from __future__ import annotations

from figlang_tasks.core.request import Request

PAPER_ROWS = {"nyk_m": 1583, "nyk_s": 1578}  # Table 6, whose headings are shifted by one column
PAPER_POSITIVES = {"nyk_m": 692, "nyk_s": 687}  # with a metaphor, with sarcasm: as well
ASKED_OF_ALL = ("metaphor", "mc", "sarcasm", "sc")
"""Questions about every caption; the others presuppose a metaphor, or sarcasm."""


def file_stem(question: str) -> str:
    """The file (without ``.jsonl``) that holds the answers to a question."""
    return "nyk_m" if question in ("metaphor", "mc", "mw", "me") else "nyk_s"


def count(request: Request) -> int | None:
    """The number of rows for this request in the paper; None for a split, and for other
    datasets.
    """
    if "split" in request or request.dataset != "NYK-MS":
        return None
    question = request["question"]
    rows = PAPER_ROWS if question in ASKED_OF_ALL else PAPER_POSITIVES
    return rows[file_stem(question)]
