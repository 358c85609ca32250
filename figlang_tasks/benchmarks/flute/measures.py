"""The measures of FLUTE: arXiv 2205.12404 and its first version (v1), and the FigLang 2022 shared
task.
"""

from __future__ import annotations

from figlang_tasks.benchmarks.flute.records import FluteRecord
from figlang_tasks.benchmarks.flute.rows import PARAPHRASE_AND_SARCASM
from figlang_tasks.scoring import Measure, Measures, Scopes, parse_rate
from figlang_tasks.scoring.common_measures import PARSE_DISAGREEMENT
from figlang_tasks.scoring.explained import Scheme, explained_measures, has_label, thresholds


def _scopes(record: FluteRecord) -> tuple[str, ...]:
    """The parts that a row counts for: its type, and the paper's "Paraphrase + Sarcasm"."""
    group = record["report_group"]
    return (
        (group, PARAPHRASE_AND_SARCASM) if group in ("sarcasm", "creative_paraphrase") else (group,)
    )


_TYPES = Scopes(
    ("sarcasm", PARAPHRASE_AND_SARCASM, "simile", "metaphor", "idiom", "creative_paraphrase"),
    _scopes,
)


def _is_right_officially(record: FluteRecord) -> float:
    """Whether the label that the released rule reads is right."""
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
"""Of the paper's first version, in which entailments are answered "No." and have no explanation."""

V2_SCHEME = Scheme(
    (
        *thresholds("acc", _THRESHOLDS, "FigLang 2022 shared task, scoring script", "all"),
        *thresholds("v1_acc", _THRESHOLDS[1:], _V1, "contradiction"),
    ),
    headline="acc@60",
)
"""Of the FigLang 2022 shared task; beside it the definition of the paper's first version."""

V1 = Measures.of(*explained_measures(V1_SCHEME, _TYPES), _ACC_OFFICIAL)
V2 = Measures.of(*explained_measures(V2_SCHEME, _TYPES), _ACC_OFFICIAL)
BLIND = Measures.of(parse_rate(has_label), PARSE_DISAGREEMENT)
"""Of rows without a published answer."""
