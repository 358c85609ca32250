"""The measures of Emblems."""

from __future__ import annotations

from figlang_tasks.scoring import Measure, Measures

EMBLEMS = Measures.of(
    Measure("acc", each=lambda record: float(record["predicted"] == record["gold"])),
    Measure("parse_rate", each=lambda record: float(record["status"] == "read"), diagnostic=True),
)
