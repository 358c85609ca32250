"""The per-sample records that ``process_results`` returns and the harness writes to ``samples.jsonl``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class EntailmentRecord:
    """What was judged for one document of an explainable-entailment task.

    The harness drops the document itself from ``samples.jsonl``, so the id has to be here.

    Attributes:
        id: released id, ``{source_dataset}-{split}-{row}``.
        data: dataset, split and a digest of its texts (``figlang_tasks.vflute.rows.load``).
        gold: 1 entailment, 0 contradiction.
        predicted: label by the official rules; None if they find none.
        explanation: explanation by the official rules; None only if there was no output at all.
        status: outcome of the official rules (``figlang_tasks.vflute.parse``).
        rule: the rule that decided.
        predicted_strict: label as a careful reader takes it; None if there is none.
        report_group: the paper's source group of the row.
        reference: the reference explanation.
    """

    id: str
    data: str
    gold: int
    predicted: int | None
    explanation: str | None
    status: str
    rule: str
    predicted_strict: int | None
    report_group: str
    reference: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
