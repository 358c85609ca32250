"""What is compared with what? Judging of ``metaclue_caption`` and ``metaclue_vqa`` (paper, 3.2, Table 3).

Exact match is the maximum over the references, the other metrics are COCO's (``figlang_tasks.metrics.captions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from figlang_tasks.answers.verdict import Read
from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.benchmarks.metaclue.captions import Statement, in_one_line, parse_caption, parse_official
from figlang_tasks.benchmarks.metaclue.measures import CAPTION, VQA, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document, no_chance
from figlang_tasks.metrics import captions


@dataclass(frozen=True)
class CaptionRecord:
    """The record of one document of captioning.

    Attributes:
        id: the image's path.
        data: dataset, task, revision and digest.
        caption: the whole caption, as it is judged.
        primary, relationship, secondary: its parts; None if it could not be read: then they score 0.
        references: all statements of the image.
        references_primary, references_relationship, references_secondary: their parts.
        status, rule: outcome of reading (``figlang_tasks.benchmarks.metaclue.captions``).
        em: whether the caption is one of the references.
        em_primary, em_relationship, em_secondary: whether a part is one of its references.
    """

    id: str
    data: str
    caption: str
    primary: str | None
    relationship: str | None
    secondary: str | None
    references: list[str]
    references_primary: list[str]
    references_relationship: list[str]
    references_secondary: list[str]
    status: str
    rule: str
    em: bool
    em_primary: bool
    em_relationship: bool
    em_secondary: bool


@dataclass(frozen=True)
class AnswerRecord:
    """The record of one question.

    Attributes:
        id: ``{image}#{role}-{template}-{number}``.
        data: dataset, task, revision and digest.
        role: the part of the metaphor that is asked for.
        question: as asked.
        answer: the output without thoughts, in one line.
        references: all right answers.
        em: whether the answer is one of them.
    """

    id: str
    data: str
    role: str
    question: str
    answer: str
    references: list[str]
    em: bool


chance_answers = no_chance


def doc_to_target(doc: Document) -> str:
    """Return the references, one a line."""
    return "\n".join(doc["references"])


# --- scoring of one document -----------------------------------------------------------------------------------------


def caption_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Read a caption as the paper does: the whole answer is the statement."""
    return _captioned(doc, results[0], parse_official(results[0]))


def careful_caption_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Read a caption as a careful reader does: words around the statement are left out."""
    return _captioned(doc, results[0], parse_caption(results[0]))


def _captioned(doc: Document, output: str, found: Read[Statement]) -> dict[str, Any]:
    """Return the :class:`CaptionRecord` and its measures (``figlang_tasks.scoring.judged``)."""
    caption = found.value.text if found.value else in_one_line(output)
    of_parts: dict[str, Any] = {}
    for part in schema.PARTS:
        text, references = getattr(found.value, part, None), list(doc[f"references_{part}"])
        right = captions.exact_match(text or "", references)
        of_parts |= {part: text, f"references_{part}": references, f"em_{part}": right}
    record = CaptionRecord(
        id=doc["id"],
        data=doc["data"],
        caption=caption,
        references=list(doc["references"]),
        status=found.status,
        rule=found.rule,
        em=captions.exact_match(caption, doc["references"]),
        **of_parts,
    )
    return judged_of_image(asdict(record), CAPTION)


def vqa_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge an answer: the output without thoughts and special tokens.

    Returns:
        The :class:`AnswerRecord` and its measures (``figlang_tasks.scoring.judged``).
    """
    answer = in_one_line(results[0])
    shared = {name: doc[name] for name in ("id", "data", "role", "question")}
    right = captions.exact_match(answer, doc["references"])
    record = AnswerRecord(**shared, answer=answer, references=list(doc["references"]), em=right)
    return judged_of_image(asdict(record), VQA)
