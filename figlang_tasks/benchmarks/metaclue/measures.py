"""MetaCLUE's measures by task (arXiv 2212.09898, sections 3.1 to 3.4, Tables 1 to 5).

- Section 3.1 and Table 1, accuracy of classification: `CLASSIFY`.
- Section 3.2 and Table 2, precision at 1 and rank of retrieval: `RETRIEVE`.
- Section 3.2 and Table 3, captions and answers:
  `figlang_tasks.benchmarks.metaclue.text_measures`.
- Section 3.3 and Table 4, mAP50 and mAP70 of boxes:
  `figlang_tasks.benchmarks.metaclue.box_measures`.
- Section 3.4 and Table 5, FID and CLIP similarity of pictures:
  `figlang_tasks.benchmarks.metaclue.picture_measures`.

Intervals resample images, not the questions about an image.
"""

from __future__ import annotations

import math
from collections.abc import Hashable

from figlang_tasks.benchmarks.metaclue.box_measures import LOCALIZE_MEASURES
from figlang_tasks.benchmarks.metaclue.estimates import PAPER
from figlang_tasks.benchmarks.metaclue.picture_measures import GENERATE_MEASURES
from figlang_tasks.benchmarks.metaclue.records import (
    ClassificationRecord,
    RetrievalRecord,
    image_of,
)
from figlang_tasks.benchmarks.metaclue.text_measures import CAPTION_MEASURES, VQA_MEASURES
from figlang_tasks.scoring import BOOTSTRAP, Measure, Measures, Scopes, parse_rate, tie_rate

# --- Table 1: is this a metaphor? ---


def _is_right(record: ClassificationRecord) -> float:
    """1 if the answer is right, else 0."""
    return float(record["predicted"] == record["gold"])


def _is_yes(record: ClassificationRecord) -> float:
    """1 if the answer is Yes, else 0."""
    return float(record["predicted"] == 1)


def _predicted_label(record: ClassificationRecord) -> Hashable:
    """The label that was read from an answer; None if none was."""
    return record["predicted"]


def _class_of_image(record: ClassificationRecord) -> tuple[str]:
    """The only scope of a record: ``metaphor`` or ``negative``, whichever the image is."""
    return ("metaphor",) if record["gold"] else ("negative",)


CLASSIFY = Measures.of(
    Measure(
        "acc",
        description="Share of images that are rightly called a metaphor or none.",
        source=f"{PAPER}, section 3.1 and Table 1",
        value_of_record=_is_right,
        scopes=Scopes(("metaphor", "negative"), _class_of_image),
        answer=_predicted_label,
    ),
    Measure(
        "yes_rate",
        description="Share of outputs that call the image a metaphor.",
        source="figlang_tasks",
        value_of_record=_is_yes,
        role="diagnostic",
        in_table=False,
    ),
    parse_rate(),
    row_of=image_of,
)

# --- Table 2: which of K statements? ---


def _is_right_statement_chosen(record: RetrievalRecord) -> float:
    """1 if the right statement is chosen, else 0."""
    return float(record["chosen"] == record["answer"])


def _chosen_index(record: RetrievalRecord) -> Hashable:
    """The index of the chosen statement; None if none was chosen."""
    return record["chosen"]


def _rank(record: RetrievalRecord) -> float | None:
    """The rank of the right statement, 1 is the best; None for an answer in words."""
    rank = record["rank"]
    return None if rank is None else float(rank)


def _is_tied(record: RetrievalRecord) -> float | None:
    """1 if several statements share the best score, else 0; None for an answer in words."""
    if record["status"] != "scores":
        return None
    return float(record["chosen"] is None)


RETRIEVE = Measures.of(
    Measure(
        "p@1",
        description="Share of images whose own statement is chosen; a tie goes against the model.",
        source=f"{PAPER}, section 3.2 and Table 2",
        value_of_record=_is_right_statement_chosen,
        answer=_chosen_index,
    ),
    Measure(
        "rank",
        description="Mean rank of the right statement by scores; 1 is the best.",
        source=f"{PAPER}, section 3.2 and Table 2",
        value_of_record=_rank,
        interval=BOOTSTRAP,
        higher_is_better=False,
        percent=False,
        bounds=(1.0, math.inf),
    ),
    tie_rate(
        "Share of images by scores for which several statements have the best score.",
        _is_tied,
        in_table=False,
    ),
    parse_rate(),
    row_of=image_of,
)

# --- Tables 3, 4 and 5 ---

CAPTION = Measures.of(*CAPTION_MEASURES, parse_rate(), row_of=image_of)
VQA = Measures.of(*VQA_MEASURES, row_of=image_of)
LOCALIZE = Measures.of(*LOCALIZE_MEASURES, parse_rate(), row_of=image_of)
GENERATE = Measures.of(*GENERATE_MEASURES, row_of=image_of)
