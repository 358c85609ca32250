"""What AdMIRe declares of itself (SemEval-2025 Task 1, arXiv 2503.15358)."""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.benchmarks.admire import measures, rows, submission
from figlang_tasks.core.benchmark import Benchmark, Submission
from figlang_tasks.core.card import Answer, Record, outcome
from figlang_tasks.core.hub import Source


def _answer(records: Sequence[Record]) -> Answer:
    """The answer for a card of the report; the outcome is that of the first picture, as in ``acc``."""
    record, predicted = records[0], records[0]["predicted"] or []
    names = [predicted] if isinstance(predicted, str) else predicted
    letters = ", ".join(rows.LETTERS[record["names"].index(name)] for name in names)
    return {"predicted": letters or "none", "outcome": outcome(bool(measures.is_right(record)), bool(letters))}


BENCHMARK = Benchmark(
    name="admire",
    version="4-0",
    prompt_hash="094b9c167cde",
    about="which picture shows this compound?",
    citation="""\
@inproceedings{pickard-etal-2025-admire,
  title = {{SemEval}-2025 Task 1: {AdMIRe} - Advancing Multimodal Idiomaticity Representation},
  author = {Pickard, Thomas and Villavicencio, Aline and Mi, Maggie and He, Wei and Phelps, Dylan and Idiart, Marco and
    Scarton, Carolina},
  booktitle = {Proceedings of the 19th International Workshop on Semantic Evaluation (SemEval-2025)},
  year = {2025},
  eprint = {2503.15358},
  url = {https://arxiv.org/abs/2503.15358},
  archivePrefix = {arXiv}
}""",
    sources=(Source(name="AdMIRe", bring=f"unpack the archives of {rows.ARCHIVES} (docs/cards/admire.md)"),),
    keys=("table", "shown"),
    count=lambda request: rows.ROWS.get(request["table"]),
    answer=_answer,
    submission=Submission(submission.FILES, submission.files, submission.UPLOAD),
)
