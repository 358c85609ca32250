"""NYK-MS's tasks: what a model is asked, and how its answer is judged (arXiv 2409.01037).

A caption of a cartoon is asked for metaphor in three tasks and for sarcasm in four: is there any
(MC, SC), in which word or object (MW, SW), what does it satirize (ST), and why (ME, SE)?

Where the paper says what, and where it is done here:

- Introduction, Q2, the seven tasks: `TASKS`, and `figlang_tasks.benchmarks.nykms.parse.FIELDS`.
- Table 4, the joint prompts: the questions ``metaphor`` and ``sarcasm``. The prompts that ask for a
  single answer are ours.
- Section 4.1, a description instead of the image for text-only models: the modality ``text``.
- Section 3.4, the post-processing of answers: `figlang_tasks.benchmarks.nykms.parse`.
- Appendix C, the marks of annotated answers:
  `figlang_tasks.benchmarks.nykms.parse.read_annotation`.
- Section 4.1 and Tables 8 to 10, the metrics: `figlang_tasks.benchmarks.nykms.measures`.
- Section 3.1, where the cartoons are from: `figlang_tasks.benchmarks.nykms.contests`.
- Section 4.2 and Table 11, trained baselines: `figlang_tasks.benchmarks.nykms.training`.
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
    JOINT_QUESTIONS,
    LABELS,
    MARKED_FIELDS,
    Annotation,
    Answers,
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

# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The question about a row, with the caption and, in the modality ``text``, the description."""
    question = doc["question"]
    topic = "metaphor" if file_stem(question) == "nyk_m" else "sarcasm"
    description = doc["description"] if doc["modality"] == "text" else None
    caption = doc["caption"]
    if question in JOINT_QUESTIONS:
        return render("nykms/joint.jinja", topic=topic, caption=caption, description=description)
    return render(
        "nykms/single.jinja",
        question=question,
        topic=topic,
        caption=caption,
        description=description,
    )


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order, by which a next question is recognized."""
    if doc["modality"] == "text":
        return [doc["description"], doc["caption"]]
    return [doc["caption"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The cartoon as RGB; no picture if its description stands in the prompt."""
    if doc["modality"] == "text":
        return []
    location = f"{doc['dataset']} {doc['id']}"
    return [images.decode(doc["image"], location, doc["dataset"])]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one turn of the user: the cartoon, if it is shown, and the question."""
    return [user_turn(doc_to_visual(doc), doc_to_text(doc))]


def doc_to_target(doc: Document) -> str:
    """The annotated answers, without marks, in the form that the prompt asks for."""
    lines: list[str] = []
    for field in FIELDS[doc["question"]]:
        if field in LABELS:
            lines.append("Yes" if doc["label"] else "No")
        elif doc["label"]:
            lines.append(read_annotation(doc[field], field).text)
    return _answer(doc, lines)


def _answer(doc: Document, lines: list[str]) -> str:
    """An answer from its lines, which are numbered if the question is a joint one."""
    is_numbered = doc["question"] in JOINT_QUESTIONS
    return render("nykms/answer.jinja", lines=lines, numbered=is_numbered)


# --- the judgement ---


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge an answer for lm-eval: its record, and its number for each metric.

    Args:
        doc: the row.
        results: the outputs of the model, of which the first one is read.
    """
    return process_results_for_lm_eval(doc, results, doc_to_text, shown_texts)


def record(doc: Document, output: str | None) -> CartoonRecord:
    """The record of an answer: the annotated answers, the predicted ones, and their scores.

    The published rules decide (section 3.4). A careful reader reads the label too, and the record
    shows where the two disagree.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    question = doc["question"]
    fields = FIELDS[question]
    asks_for_label = fields[0] in LABELS
    # The published rules read all that a model wrote, also behind the next question that it
    # invents.
    official_reading = parse_official(whole(output), question)
    predicted = official_reading.value or nothing(question)
    careful_label: int | None = None
    if asks_for_label:
        careful_reading = first_answer(output, question)
        careful_label = None if careful_reading.value is None else int(careful_reading.value)

    gold: Answers = {}
    for field in fields:
        gold[field] = doc["label"] if field in LABELS else doc[field]
    cartoon_record: CartoonRecord = {
        "id": doc["id"],
        "data": doc["data"],
        "unit": doc["cartoon"],
        "question": question,
        "modality": doc["modality"],
        "gold": gold,
        "predicted": predicted,
        "status": official_reading.status,
        "rule": official_reading.rule,
        "predicted_strict": careful_label,
        "kinds": {},  # `_judge_words` fills these three
        "words": {},
        "predicted_marks": [],
        "bleu": overlap.signature(),
    }
    for field in fields:
        if field not in LABELS:
            _judge_words(cartoon_record, field, doc)  # writes its scores into the record
    if official_reading.value is None and asks_for_label:
        cartoon_record[COUNTS_AS] = "No"  # `predicted` is `nothing` then
    return cartoon_record


def _judge_words(record: CartoonRecord, field: str, doc: Document) -> None:
    """Write what is known of an answer in words into its record: mark, referent and scores."""
    predicted = str(record["predicted"][field])
    has_mark = False
    if field in MARKED_FIELDS:
        predicted, has_mark = without_mark(predicted)
    if has_mark:
        record["predicted_marks"].append(field)

    is_positive = doc["label"] == 1
    # Scores of words are over all positives: 56 of 687 is the 8.15 of LLaVA's SW in Table 9.
    if is_positive:
        annotation = read_annotation(doc[field], field)
        if field in MARKED_FIELDS:
            record["kinds"][field] = annotation.referent
        record["words"][field] = _word_scores(field, predicted, annotation)


def _word_scores(field: str, predicted: str, annotation: Annotation) -> WordScores:
    """The scores of an answer in words, without its mark, against the annotated answer.

    Where the whole image is right, "this cartoon" and the like count as that.
    """
    if annotation.referent == "image":
        predicted = named_whole_image(predicted)
    scores: WordScores = {}
    if field in WORDS:
        scores["em"] = overlap.exact_match(predicted, annotation.text)
        scores["relaxed_em"] = overlap.relaxed_match(predicted, annotation.text)
    bleu_counts = overlap.bleu_statistics(predicted, annotation.text)
    scores["bleu4"] = overlap.sentence_bleu4(bleu_counts)
    scores["bleu4_sums"] = bleu_counts
    return scores


def answered_as_annotated(record: Record) -> bool:
    """Whether each predicted answer of a record is the annotated one without its mark."""
    for field, gold in record["gold"].items():
        has_words = field not in LABELS and bool(gold)  # "" for a negative
        right_answer = read_annotation(gold, field).text if has_words else gold
        if record["predicted"][field] != right_answer:
            return False
    return True


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right label.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts. Words have no
    chance level. So the models answer only the first of the joint questions, and a question in
    words with "", so that groups that hold both run to their end.

    Returns:
        ``{label: text of the answer}``, and the right label. A question in words has "" as its only
        label, answer and right label.
    """
    asks_for_label = FIELDS[doc["question"]][0] in LABELS
    if not asks_for_label:
        return {"": ""}, ""
    answers = {label: _answer(doc, [label]) for label in ("No", "Yes")}
    return answers, "Yes" if doc["label"] else "No"


# --- the nine tasks ---


def _task(question: str, description: str) -> Task:
    """The task that asks a question.

    Args:
        question: a key of `parse.FIELDS`.
        description: what the task asks, in a sentence.
    """

    def is_for(request: Request) -> bool:
        """Whether a request asks this question."""
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

# What the task files of lmms-eval and lm-eval name.
METAPHOR_METRICS = METAPHOR.metric_list
SARCASM_METRICS = SARCASM.metric_list
MC_METRICS = MC.metric_list
MW_METRICS = MW.metric_list
ME_METRICS = ME.metric_list
SC_METRICS = SC.metric_list
SW_METRICS = SW.metric_list
ST_METRICS = ST.metric_list
SE_METRICS = SE.metric_list

METAPHOR_LM_EVAL = metric_list_for_lm_eval(METAPHOR)
SARCASM_LM_EVAL = metric_list_for_lm_eval(SARCASM)
MC_LM_EVAL = metric_list_for_lm_eval(MC)
MW_LM_EVAL = metric_list_for_lm_eval(MW)
ME_LM_EVAL = metric_list_for_lm_eval(ME)
SC_LM_EVAL = metric_list_for_lm_eval(SC)
SW_LM_EVAL = metric_list_for_lm_eval(SW)
ST_LM_EVAL = metric_list_for_lm_eval(ST)
SE_LM_EVAL = metric_list_for_lm_eval(SE)
