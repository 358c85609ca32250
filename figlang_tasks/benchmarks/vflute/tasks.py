"""V-FLUTE's tasks: what a model is asked, and how its answer is judged (arXiv 2405.01474).

The task is explainable visual entailment: "given an image (premise) p and a caption (hypothesis) h,
output a textual explanation justifying whether the premise entails or contradicts the hypothesis
and assign a label" (section 3). Prompts and data call the hypothesis a claim.

Where the paper says what, and where it is done here:

- Section 3.4, sizes of the splits: `figlang_tasks.benchmarks.vflute.benchmark`.
- Section 3, the labels (numbers in records): `figlang_tasks.benchmarks.vflute.rows.LABELS`.
- Table 3, the groups of rows that results are reported for: `figlang_tasks.benchmarks.vflute.rows`;
  their row counts: `figlang_tasks.benchmarks.vflute.reproduced`.
- Table 8 and Appendix D, one of 21 instructions for each row (Table 8 and section 4.1 have 21,
  Appendix D says 20): `question`, and `figlang_tasks.benchmarks.vflute.rows.instruction_numbers`.
- Table 4, few-shot prompting: `Options.num_shots`. The paper's exemplars were not released.
- Sections 4.1 and 4.3, a white square instead of the image: `Options.blind`.
- Appendix G, a scene graph first (compositional chain-of-thought): `scene_graph_doc_to_text`.
- Appendix J, the label alone: `Options.label_only`. The paper gives no wording.
- Appendix D, beam search and at most 256 new tokens: the task files ``vflute*.yaml``. The label
  alone gets 16, which is ours. The paper ran API models with their default settings.
- Appendix D, rules that extract label and explanation: `figlang_tasks.benchmarks.vflute.parse`.
- Appendix D, "that label would likely be incorrect": an answer without a readable label counts as
  one with the wrong label (`figlang_tasks.scoring.explained.is_right`, and
  `figlang_tasks.metrics.classification.confusion_cells`).
- Section 4.2 and Appendix D, ExplanationScore, the mean of BERTScore and BLEURT:
  `figlang_tasks.metrics.explanation`, the scorer ``vflute25``.
- Section 4.2, F1@ExplanationScore: `figlang_tasks.benchmarks.vflute.measures` names the thresholds.
  `figlang_tasks.metrics.classification` counts a label with a bad explanation as wrong
  (`counts_as_right`) and computes the macro F1.
- Table 7 and Figure 11, values by source and phenomenon:
  `figlang_tasks.benchmarks.vflute.measures.VFLUTE`, by the groups in
  `figlang_tasks.benchmarks.vflute.rows.REPORT_GROUPS`.
- Table 6 and section 5.3, what people said about explanations:
  `figlang_tasks.benchmarks.vflute.agreement`.
- The paper's results, of all tables: ``published.json`` beside this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from loguru import logger
from PIL import Image

from figlang_tasks.answers.next_question import before_next_question
from figlang_tasks.answers.wordings import Wordings
from figlang_tasks.benchmarks.vflute import measures, rows
from figlang_tasks.benchmarks.vflute.judging import record, record_of_label
from figlang_tasks.benchmarks.vflute.options import Options, names_instructions, preflight
from figlang_tasks.benchmarks.vflute.scene_graph import NextCall, stages_from_json, stages_to_json
from figlang_tasks.core import hub, images
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document, MetricValues, task_of

if TYPE_CHECKING:
    import datasets


# --- rows ---


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The rows for a request such as ``V-FLUTE,split=test`` (see `rows.load`).

    A request with ``instructions=all`` gets each row 21 times, once with each instruction.

    Args:
        request: what a task file asks for.
        check_images: whether to decode every picture, which finds damaged ones.
    """
    if names_instructions(request) and request["instructions"] != "all":
        raise DataError(
            f"dataset_name: instructions={request['instructions']}; it must be all, or be left out"
        )
    split_rows = rows.load(request.dataset, request["split"], check_images=check_images)
    if names_instructions(request):
        return rows.with_all_instructions(split_rows)
    return split_rows


# --- the question ---


def question(doc: Document, options: Options) -> str:
    """The instruction of Table 8 with the row's claim in it, without the image.

    It is ``Does the image entail or contradict the claim "..."? Explain your reasoning and provide
    a label between entailment or contradiction.``, for example. All 21 texts are in
    ``prompts/vflute/question.jinja``. With ``label_only`` a request for one word replaces what
    follows the last question mark. The last one is the instruction's own, which stands after the
    claim; the claim may hold others.
    """
    instruction = options.instruction
    if instruction is None:
        instruction = doc["instruction"]
    before_claim, after_claim = _instruction_around_claim(instruction)
    text = f"{before_claim}{doc['claim']}{after_claim}"
    if options.label_only:
        return render("vflute/label_only.jinja", question=text)
    return text


@hub.cached(maxsize=32)
def _instruction_around_claim(instruction: int) -> tuple[str, str]:
    """The text of an instruction before and after the claim."""
    mark = "\0"  # is in no instruction
    text = render("vflute/question.jinja", instruction=instruction, claim=mark)
    before_claim, after_claim = text.split(mark)
    return before_claim, after_claim


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The whole prompt as one text; with exemplars, ``<image>`` marks where each picture belongs.

    It serves models that take no chat turns; `doc_to_messages` serves the others.
    """
    options = Options.of(lmms_eval_specific_kwargs)
    row_question = question(doc, options)
    shots = _shots(doc, options)
    if not shots:
        return row_question
    shot_texts = [(shot.question, shot.answer) for shot in shots]
    return render("vflute/few_shot.jinja", shots=shot_texts, question=row_question)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures of the prompt as RGB: those of the exemplars in their order, then the row's."""
    options = Options.of(lmms_eval_specific_kwargs)
    pictures = [shot.picture for shot in _shots(doc, options)]
    pictures.append(_picture(doc, options))
    return pictures


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as chat turns.

    Each exemplar is a turn of the user (picture and question) and one of the assistant (reference
    answer). The last turn is the row's picture and question.
    """
    options = Options.of(lmms_eval_specific_kwargs)
    turns: list[dict[str, Any]] = []
    for shot in _shots(doc, options):
        answer = {"type": "text", "text": shot.answer}
        turns.append(user_turn([shot.picture], shot.question))
        turns.append({"role": "assistant", "content": [answer]})
    turns.append(user_turn([_picture(doc, options)], question(doc, options)))
    return turns


def doc_to_target(doc: Document) -> str:
    """The reference answer, as in the released training data: explanation, then ``LABEL: ...``."""
    before_explanation, before_label, after_label = _around_explanation_and_label()
    return f"{before_explanation}{doc['explanation']}{before_label}{doc['label']}{after_label}"


@hub.cached(maxsize=1)
def _around_explanation_and_label() -> tuple[str, str, str]:
    """The text of an answer before its explanation, between that and its label, and after it."""
    mark = "\0"  # is in no template
    text = render("vflute/answer.jinja", explanation=mark, label=mark)
    before_explanation, before_label, after_label = text.split(mark)
    return before_explanation, before_label, after_label


def doc_to_label(doc: Document) -> str:
    """The reference answer of a task that asks for the label alone: ``entailment``, say."""
    return str(doc["label"])


class _Shot(NamedTuple):
    """An exemplar: its picture, its question, and its reference answer."""

    picture: Image.Image
    question: str
    answer: str


def _shots(doc: Document, options: Options) -> list[_Shot]:
    """The exemplars that stand before a row's question; empty for a zero-shot task."""
    if not options.num_shots:
        return []
    reference_answer = doc_to_label if options.label_only else doc_to_target
    exemplars = rows.exemplars(doc["dataset"], options.num_shots, options.fewshot_seed)
    shots: list[_Shot] = []
    for exemplar in exemplars:
        shot_question = question(exemplar, options)
        shots.append(_Shot(exemplar["image"], shot_question, reference_answer(exemplar)))
    return shots


def _picture(doc: Document, options: Options) -> Image.Image:
    """The picture of a row as RGB; a white square if the model must not see it."""
    if options.blind:
        return images.white_square()
    location = f"{doc['dataset']} {doc['id']}"
    return images.decode(doc["image"], location, doc["dataset"])


# --- compositional chain-of-thought (Appendix G) ---


def scene_graph_doc_to_text(
    doc: Document,
    lmms_eval_specific_kwargs: Kwargs = None,
    previous_output: Sequence[str] | None = None,
    round_idx: int | None = None,
    previous_round_info: object = None,
) -> str | NextCall:
    """The prompt of the next call of compositional chain-of-thought (Appendix G).

    "The method prompts the model zero-shot to generate a scene graph in JSON format and then
    utilizes that scene graph in another prompt to answer the relevant question."

    The first prompt has the question up to its last question mark, but not this mark, and so no
    request for a label and an explanation. Question marks in the claim become blanks, as in the
    released runs. The second prompt has the whole question.

    Args:
        doc: the row.
        lmms_eval_specific_kwargs: the options of the task file.
        previous_output: what the model wrote so far, one output for each call; None or empty before
            the first.
        round_idx: how many calls were made, which lmms-eval passes and nothing here needs.
        previous_round_info: the state of the last call, which nothing here needs.

    Returns:
        The first prompt as a text, for which lmms-eval takes the picture from `doc_to_visual`. Then
        the second prompt with the row's picture. After both calls no prompt, and the output that is
        judged: a JSON object of both outputs (`stages_to_json`).
    """
    options = Options.of(lmms_eval_specific_kwargs)
    row_question = question(doc, options)
    if not previous_output:
        # The template cuts the question.
        return render("vflute/scene_graph.jinja", question=row_question)

    outputs = list(previous_output)
    scene_graph = outputs[0]
    if len(outputs) == 1:
        prompt = render(
            "vflute/scene_graph_answer.jinja",
            scene_graph=scene_graph.strip(),
            question=row_question,
        )
        pictures = [_picture(doc, options)]
        return NextCall(pictures, prompt, is_finished=False, outputs=outputs)

    # Both calls were made: the second output is the answer.
    judged_output = stages_to_json(scene_graph, answer=outputs[-1])
    return NextCall(pictures=None, prompt=None, is_finished=True, outputs=[judged_output])


def scene_graph_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge the answer of a scene-graph run: its record, and its number for each metric.

    The answer is the second of the two outputs, cut before a next question that the model invents.
    For other tasks `figlang_tasks.scoring.judging` does the cutting. Here it cannot: it gets the
    JSON object of both outputs, in which line breaks are escaped, and looks for questions at the
    start of a line.

    Args:
        doc: the row.
        results: one text, the last output of `scene_graph_doc_to_text`.
    """
    task = task_of(doc)
    output = results[0]
    stages = stages_from_json(output)
    if stages is None:
        # The generation setting max_agentic_steps=1 ends a run before the second call. An empty
        # output is that of a failed or refused request, which is reported elsewhere.
        if output:
            logger.error(
                f"figlang_tasks: {doc['id']}: the output has no second stage: it counts as no"
                " answer"
            )
        # No answer is "" in all tasks, with the status "empty": in a record of that status the
        # judge then says where a server refused. None would be "missing".
        return task.values(doc, record(doc, output="", scene_graph=True))
    # A run with the option `instruction` asked another question than the row's own, and options are
    # not at hand here.
    row_question = question(doc, Options())
    answer = before_next_question(
        stages["answer"], row_question, shown_texts(doc), other_wordings()
    )
    return task.values(doc, record(doc, answer, scene_graph=True))


# --- the judgement ---


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt shows.

    A question in an output that shows another text is about another row: the model invented it.
    `figlang_tasks.scoring.judging.AnswerJudge` finds this function by its name.
    """
    return [doc["claim"]]


@hub.cached(maxsize=1)
def other_wordings() -> Wordings:
    """The question with each of the 21 instructions, that of the row among them.

    A model that invents a next question may use the instruction of an exemplar. All of these ask
    for an explanation, also where the task asks for the label alone: such a question is recognised
    by the words before its claim and by the claim, which are the same in both.
    `figlang_tasks.scoring.judging.AnswerJudge` finds this function by its name.
    """
    frames = [_instruction_around_claim(number) for number in rows.INSTRUCTION_NUMBERS]
    return Wordings(tuple(frames))


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right label.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts.

    Returns:
        ``{label: text of the answer}``, such as
        ``{"entailment": "... LABEL: entailment", ...}``; and the right label.
    """
    # An explanation must not quote the claim: one released claim begins with "Label: entailment".
    explanation = "The picture and the claim belong together, or they do not."
    answers: dict[str, str] = {}
    for label in rows.LABELS:
        answer = render("vflute/answer.jinja", explanation=explanation, label=label)
        answers[label] = answer
    return answers, doc["label"]


# --- the two tasks ---

INSTRUCTIONS = Task(
    name="vflute_instructions",
    description="Each row is asked with each of the 21 instructions of Table 8.",
    is_for=names_instructions,
    documents=documents,
    options=Options,
    preflight=preflight,
    record=record,
    record_of_label=record_of_label,
    measures=measures.INSTRUCTIONS,
    scheme=measures.SCHEME,
)
VFLUTE = Task(
    name="vflute",
    description="Does a picture entail or contradict a figurative claim, and why?",
    documents=documents,
    options=Options,
    preflight=preflight,
    record=record,
    record_of_label=record_of_label,
    measures=measures.VFLUTE,
    boards=(measures.FIGLANG24,),
    scheme=measures.SCHEME,
)
TASKS = (INSTRUCTIONS, VFLUTE)
"""The first task whose `Task.is_for` accepts a request gets it. `VFLUTE` accepts every request."""

INSTRUCTIONS_METRICS = INSTRUCTIONS.metric_list
VFLUTE_METRICS = VFLUTE.metric_list
