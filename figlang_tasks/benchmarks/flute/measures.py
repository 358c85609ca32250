"""The measures of FLUTE: arXiv 2205.12404 and its first version (v1), and the FigLang 2022 shared task."""

from __future__ import annotations

from figlang_tasks.benchmarks.flute.rows import PARAPHRASE_AND_SARCASM
from figlang_tasks.scoring import Measure, Measures, Record, Scopes
from figlang_tasks.scoring.explained import PARSE_DISAGREEMENT, SCHEMES, explained_measures, parse_rate


def _scopes(record: Record) -> tuple[str, ...]:
    """The parts that a row counts for: its type, and the paper's "Paraphrase + Sarcasm"."""
    group = record["report_group"]
    return (group, PARAPHRASE_AND_SARCASM) if group in ("sarcasm", "creative_paraphrase") else (group,)


_TYPES = Scopes(("sarcasm", PARAPHRASE_AND_SARCASM, "simile", "metaphor", "idiom", "creative_paraphrase"), _scopes)

_ACC_OFFICIAL = Measure(
    "acc_official",
    # what task versions before 4-0 read by the released rule alone
    each=lambda record: float(record.get("predicted_official", record["predicted"]) == record["gold"]),
    headline=False,
    scopes=_TYPES,
)

V1 = Measures.of(*explained_measures(SCHEMES["contradiction"], _TYPES), _ACC_OFFICIAL)
V2 = Measures.of(*explained_measures(SCHEMES["all"], _TYPES), _ACC_OFFICIAL)
BLIND = Measures.of(parse_rate(), PARSE_DISAGREEMENT)
"""Of rows without a published answer."""
