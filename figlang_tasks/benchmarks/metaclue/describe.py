"""What is compared with what? Judging of ``metaclue_caption`` and ``metaclue_vqa`` (paper, 3.2, Table 3).

Exact match is the maximum over the references, the other metrics are COCO's (``figlang_tasks.metrics.captions``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from figlang_tasks.answers.verdict import Read
from figlang_tasks.benchmarks.metaclue import schema
from figlang_tasks.benchmarks.metaclue.captions import Statement, in_one_line, parse_caption, parse_official
from figlang_tasks.benchmarks.metaclue.measures import CAPTION, VQA, judged_of_image
from figlang_tasks.benchmarks.metaclue.task import Document, no_chance
from figlang_tasks.metrics import captions

chance_answers = no_chance


def doc_to_target(doc: Document) -> str:
    """Return the references, one a line."""
    return "\n".join(doc["references"])


def caption_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record and the numbers of a caption as the paper reads it: the whole answer is the statement."""
    return _captioned(doc, results[0], parse_official(results[0]))


def careful_caption_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record and the numbers of a caption without the words around the statement."""
    return _captioned(doc, results[0], parse_caption(results[0]))


def _captioned(doc: Document, output: str, found: Read[Statement]) -> dict[str, Any]:
    caption = found.value.text if found.value else in_one_line(output)
    record: dict[str, Any] = {
        "id": doc["id"],
        "data": doc["data"],
        "caption": caption,
        "references": list(doc["references"]),
        "status": found.status,
        "rule": found.rule,
        "em": captions.exact_match(caption, doc["references"]),
    }
    for part in schema.PARTS:
        text, references = getattr(found.value, part, None), list(doc[f"references_{part}"])
        right = captions.exact_match(text or "", references)
        record |= {part: text, f"references_{part}": references, f"em_{part}": right}
    return judged_of_image(record, CAPTION)


def vqa_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Return the record and the numbers of an answer: the output without thoughts and special tokens."""
    answer, references = in_one_line(results[0]), list(doc["references"])
    record = {name: doc[name] for name in ("id", "data", "role", "question")}
    record |= {"answer": answer, "references": references, "em": captions.exact_match(answer, references)}
    return judged_of_image(record, VQA)
