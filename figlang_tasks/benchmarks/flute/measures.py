"""FLUTE's measures: accuracy at thresholds of the explanation score, Acc@t.

Two definitions differ in which labels need a good explanation: the paper's first version (arXiv
2205.12404v1, section 3) asks for that of contradictions, the FigLang 2022 shared task for all.
"""

from __future__ import annotations

from figlang_tasks.benchmarks.flute.pairs import PARAPHRASE_AND_SARCASM
from figlang_tasks.benchmarks.flute.records import FluteRecord
from figlang_tasks.scoring import Measure, Measures, Scopes, parse_rate
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT
from figlang_tasks.scoring.explained import Scheme, explained_measures, has_label, thresholds


def _scopes_of_record(record: FluteRecord) -> tuple[str, ...]:
    """The scopes that a record counts in: its type, and the paper's "Paraphrase + Sarcasm"."""
    group = record["report_group"]
    if group in ("sarcasm", "creative_paraphrase"):
        return (group, PARAPHRASE_AND_SARCASM)
    return (group,)


_TYPES = Scopes(
    ("sarcasm", PARAPHRASE_AND_SARCASM, "simile", "metaphor", "idiom", "creative_paraphrase"),
    _scopes_of_record,
)


def _is_right_officially(record: FluteRecord) -> float:
    """1 if the label that the released rule reads is right, else 0."""
    return float(record["predicted_official"] == record["gold"])


_ACC_OFFICIAL = Measure(
    "acc_official",
    description="Share of outputs in which the released rule reads the right label.",
    source="FLUTE, arXiv 2205.12404, released code",
    value_of_record=_is_right_officially,
    scopes=_TYPES,
    in_table=False,
)

_THRESHOLDS = (0.0, 0.5, 0.6)
_V1 = "FLUTE, arXiv 2205.12404v1, section 3"

V1_SCHEME = Scheme(thresholds("acc", _THRESHOLDS, _V1, "contradiction"), headline="acc@60")
"""The paper's first version. Entailments are answered "No." there and have no explanation."""

V2_SCHEME = Scheme(
    (
        *thresholds("acc", _THRESHOLDS, "FigLang 2022 shared task, scoring script", "all"),
        *thresholds("v1_acc", _THRESHOLDS[1:], _V1, "contradiction"),
    ),
    headline="acc@60",
)
"""The FigLang 2022 shared task, and beside it the definition of the paper's first version."""

V1 = Measures.of(*explained_measures(V1_SCHEME, _TYPES), _ACC_OFFICIAL)
V2 = Measures.of(*explained_measures(V2_SCHEME, _TYPES), _ACC_OFFICIAL)
BLIND = Measures.of(parse_rate(has_label), PARSE_DISAGREEMENT)
"""The measures of rows without a published answer: how outputs were read."""
