"""The kinds of tasks of NYK-MS (arXiv 2409.01037), and what its task files name in lmms-eval and in
lm-eval.

A document carries its question and whether the cartoon is shown or told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PIL import Image

from figlang_tasks.answers.next_question import whole
from figlang_tasks.benchmarks.nykms import measures, rows
from figlang_tasks.benchmarks.nykms.counts import file_stem
from figlang_tasks.benchmarks.nykms.measures import WORDS
from figlang_tasks.benchmarks.nykms.parse import (
    FIELDS,
    LABELS,
    MARKED_FIELDS,
    Annotation,
    first_answer,
    named_whole_image,
    nothing,
    parse_official,
    read_annotation,
    without_mark,
)
from figlang_tasks.benchmarks.nykms.records import CartoonRecord, WordScores
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.record import Record
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, process_results_for_lm_eval
from figlang_tasks.scoring.readings import COUNTS_AS
from figlang_tasks.scoring.task import Document, MetricValues

# --- prompts ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The question about `doc`, without its image."""
    question = doc["question"]
    shown = {
        "topic": "metaphor" if file_stem(question) == "nyk_m" else "sarcasm",
        "caption": doc["caption"],
        "description": doc["description"] if doc["modality"] == "text" else None,
    }
    if question in ("metaphor", "sarcasm"):
        return render("nykms/joint.jinja", **shown)
    return render("nykms/single.jinja", question=question, **shown)


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order."""
    return [*([doc["description"]] if doc["modality"] == "text" else []), doc["caption"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The cartoon (RGB), or nothing where its description stands in the prompt."""
    if doc["modality"] == "text":
        return []
    return [images.decode(doc["image"], f"{doc['dataset']} {doc['id']}", doc["dataset"])]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one turn of the user: the cartoon, if it is shown, and the question."""
    return [user_turn(doc_to_visual(doc), doc_to_text(doc))]


def doc_to_target(doc: Document) -> str:
    """The annotated answers, without marks, in the form that the prompt asks for."""
    lines = []
    for field in FIELDS[doc["question"]]:
        if field in LABELS:
            lines.append("Yes" if doc["label"] else "No")
        elif doc["label"]:
            lines.append(read_annotation(doc[field], field).text)
    return render(
        "nykms/answer.jinja", lines=lines, numbered=doc["question"] in ("metaphor", "sarcasm")
    )


# --- scoring ---


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record of one output and its numbers for lm-eval."""
    return process_results_for_lm_eval(doc, results, doc_to_text, shown_texts)


def record(doc: Document, output: str | None) -> CartoonRecord:
    """The record of one output."""
    fields = FIELDS[doc["question"]]
    parsed = parse_official(whole(output), doc["question"])
    answers = parsed.value or nothing(doc["question"])
    careful = first_answer(output, doc["question"]).value if fields[0] in LABELS else None
    kinds: dict[str, str] = {}
    words: dict[str, WordScores] = {}
    predicted_marks: list[str] = []
    for field in fields:
        if field in LABELS:
            continue
        predicted = str(answers[field])
        text, has_mark = without_mark(predicted) if field in MARKED_FIELDS else (predicted, False)
        if has_mark:
            predicted_marks.append(field)
        if (
            doc["label"] == 1
        ):  # scores of words are over all positives (Table 9: 56 of 687 is the 8.15 of LLaVA's SW)
            annotated = read_annotation(doc[field], field)
            if field in MARKED_FIELDS:
                kinds[field] = annotated.referent
            words[field] = _scores(field, text, annotated)
    record: CartoonRecord = {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["cartoon"],
        "question": doc["question"],
        "modality": doc["modality"],
        "gold": {field: doc["label"] if field in LABELS else doc[field] for field in fields},
        "predicted": answers,
        "status": parsed.status,
        "rule": parsed.rule,
        "predicted_strict": None if careful is None else int(careful),
        "kinds": kinds,
        "words": words,
        "predicted_marks": predicted_marks,
        "bleu": overlap.signature(),
    }
    if parsed.value is None and fields[0] in LABELS:
        record[COUNTS_AS] = "No"
    return record


def _scores(field: str, predicted: str, annotated: Annotation) -> WordScores:
    """The scores of an answer in words."""
    text = named_whole_image(predicted) if annotated.referent == "image" else predicted
    scores: WordScores = {}
    if field in WORDS:
        scores["em"] = overlap.exact_match(text, annotated.text)
        scores["relaxed_em"] = overlap.relaxed_match(text, annotated.text)
    statistics = overlap.bleu_statistics(text, annotated.text)
    scores["bleu4"] = overlap.sentence_bleu4(statistics)
    scores["bleu4_sums"] = statistics
    return scores


def answered_as_annotated(record: Record) -> bool:
    """Whether each answer of a record is the annotated one, word for word."""
    return all(
        record["predicted"][field]
        == (gold if field in LABELS or not gold else read_annotation(gold, field).text)
        for field, gold in record["gold"].items()
    )


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label.

    There is no chance level of words: baselines answer the first of the joint questions only, and
    of a question in words nothing, so that groups that hold both kinds run to their end.
    """
    if FIELDS[doc["question"]][0] not in LABELS:
        return {"": ""}, ""
    numbered = doc["question"] in ("metaphor", "sarcasm")
    answers = {
        word: render("nykms/answer.jinja", lines=[word], numbered=numbered)
        for word in ("No", "Yes")
    }
    return answers, "Yes" if doc["label"] else "No"


# --- the kinds ---


def _task(question: str, description: str) -> Task:
    """The kind of task that asks a question of the paper, `question` a key of ``parse.FIELDS``."""

    def is_for(request: Request) -> bool:
        return request["question"] == question

    return Task(
        name=f"nykms_{question}",
        description=description,
        is_for=is_for,
        documents=rows.documents,
        record=record,
        measures=measures.BY_QUESTION[question],
    )


METAPHOR = _task(
    "metaphor",
    "The paper's joint prompt: is there a metaphor, in which word or object, and what does it"
    " mean?",
)
SARCASM = _task("sarcasm", "The paper's joint prompt: is there sarcasm, in what, of what, and why?")
MC = _task("mc", "Does a cartoon with its caption contain metaphor?")
MW = _task("mw", "Which word or object contains the metaphor?")
ME = _task("me", "What does the metaphor mean, and why?")
SC = _task("sc", "Does a cartoon with its caption contain sarcasm?")
SW = _task("sw", "Which word or object contains the sarcasm?")
ST = _task("st", "What does the sarcasm satirize?")
SE = _task("se", "Why is it sarcasm?")
TASKS = (METAPHOR, SARCASM, MC, MW, ME, SC, SW, ST, SE)

METAPHOR_METRICS, SARCASM_METRICS = METAPHOR.metric_list, SARCASM.metric_list
MC_METRICS, MW_METRICS, ME_METRICS = MC.metric_list, MW.metric_list, ME.metric_list
SC_METRICS, SW_METRICS, ST_METRICS, SE_METRICS = (
    SC.metric_list,
    SW.metric_list,
    ST.metric_list,
    SE.metric_list,
)
(
    METAPHOR_LM_EVAL,
    SARCASM_LM_EVAL,
    MC_LM_EVAL,
    MW_LM_EVAL,
    ME_LM_EVAL,
    SC_LM_EVAL,
    SW_LM_EVAL,
    ST_LM_EVAL,
    SE_LM_EVAL,
) = map(metric_list_for_lm_eval, TASKS)
