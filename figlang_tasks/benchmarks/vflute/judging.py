"""The judgement of an answer: its record (arXiv 2405.01474, Appendix D)."""

from __future__ import annotations

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.next_question import whole
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.benchmarks.vflute.parse import parse_official
from figlang_tasks.benchmarks.vflute.records import VFluteRecord
from figlang_tasks.scoring.explained import ExplainedRecord, explained_record
from figlang_tasks.scoring.given_labels import label_as_given
from figlang_tasks.scoring.task import Document


def record(doc: Document, output: str | None, scene_graph: bool = False) -> VFluteRecord:
    """The record of an answer: gold label, predicted label and explanation.

    The authors' rules decide (Appendix D). A careful reader, this project's `entailment`, reads the
    label too. Its label is recorded for comparison (``predicted_strict``); F1 never counts it.

    Args:
        doc: the row.
        output: the model's answer, without any next question that the model invents; None if there
            is none. `whole` gives the uncut text (`figlang_tasks.answers.next_question.Output`).
        scene_graph: whether the answer is that of a scene-graph run.
    """
    # The authors' rules read all that the model wrote; the careful reader the cut text.
    official_reading = parse_official(whole(output), scene_graph=scene_graph)
    # The claim may itself contain a label, which is no answer.
    careful_label = entailment(output, [doc["claim"]]).value
    gold = rows.LABELS[doc["label"]]
    explained = explained_record(doc, gold, official_reading, careful_label)
    return _with_columns_of_row(doc, explained)


def record_of_label(doc: Document, label: str | None, explanation: str | None) -> VFluteRecord:
    """The record of a label with its explanation that a file has in place of words.

    Args:
        doc: the row.
        label: ``entailment`` (1) or ``contradiction`` (0); None if there is none.
        explanation: None if there is none.
    """
    gold = rows.LABELS[doc["label"]]
    given = label_as_given(label, explanation)
    return _with_columns_of_row(doc, explained_record(doc, gold, given, given.value))


def _with_columns_of_row(doc: Document, record: ExplainedRecord) -> VFluteRecord:
    """A record with what only some rows have: that they are the user's, or their instruction."""
    vflute_record = VFluteRecord(**record)
    has_user_rows = "revision" in doc  # "own", which rows of the release do not have
    if has_user_rows:
        vflute_record["revision"] = doc["revision"]
    is_asked_with_all_instructions = "row" in doc  # a column of `rows.with_all_instructions`
    if is_asked_with_all_instructions:
        vflute_record["row"] = doc["row"]
        vflute_record["instruction"] = doc["instruction"]
    return vflute_record
