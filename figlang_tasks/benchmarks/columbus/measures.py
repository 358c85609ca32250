"""The measures of COLUMBUS (arXiv 2409.04053, Table 2).

A record has ``id``, ``data``, ``unit`` (the phrase), ``kind`` (text or icon), ``overlap``, ``gold``, ``predicted`` and
``predicted_official`` (letters; None: no answer was read), ``status``, ``rule`` and ``scores`` (None: words).
"""

from __future__ import annotations

from figlang_tasks.scoring import Measure, Measures, Record, Scopes


def _kinds(record: Record) -> tuple[str, ...]:
    return (record["kind"], *([f"overlap_{record['kind']}"] if record["overlap"] else []))


_SCOPES = Scopes(("text", "icon", "overlap_text", "overlap_icon"), _kinds)

COLUMBUS = Measures.of(
    Measure(
        "acc",
        each=lambda record: float(record["predicted"] == record["gold"]),
        scopes=_SCOPES,
        answer=lambda record: record["predicted"],
    ),
    Measure("acc_official", each=lambda record: float(record["predicted_official"] == record["gold"]), scopes=_SCOPES),
    Measure("parse_rate", each=lambda record: float(record["predicted"] is not None), diagnostic=True),
    Measure(
        "parse_rate_official", each=lambda record: float(record["predicted_official"] is not None), diagnostic=True
    ),
)
