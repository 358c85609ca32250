"""MetaCLUE's tasks: what a model is asked about visual metaphors (arXiv 2212.09898).

"[We] perform comprehensive evaluations on four sets of tasks" (section 1): Classification,
Localization, Understanding and gEneration. A metaphor is a statement "(primary concept) is as
(relationship) as (secondary concept)".

Where the paper says what, and where it is done here:

- Sections 3.1 and 3.2, images and their annotations, which were not released:
  `figlang_tasks.benchmarks.metaclue.annotations`.
- Section 3.1, metaphors against symbolic and literal negatives; section 3.2, two questions for each
  part of a metaphor; section 3.4, 300 samples: `figlang_tasks.benchmarks.metaclue.rows`.
- Section 3.2 and Table 2, random and hard negative candidates:
  `figlang_tasks.benchmarks.metaclue.candidates`.
- Section 3.2, the parsing of captions: `figlang_tasks.benchmarks.metaclue.captions`.
- Section 3.3, boxes of the primary and the secondary concept:
  `figlang_tasks.benchmarks.metaclue.boxes`.
- How an answer becomes a record: `figlang_tasks.benchmarks.metaclue.judging`.
- Tables 1 to 5, the metrics: `figlang_tasks.benchmarks.metaclue.measures`.

The paper tests classifiers, dual encoders and fine-tuned models. Of prompts it shows that of
text-to-image models (section 3.4) and some questions (Figures 1 and 4); the other words of
``prompts/metaclue`` are ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

from PIL import Image

from figlang_tasks.benchmarks.metaclue import generated, judging, measures, rows
from figlang_tasks.core import images, status
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import caption_java
from figlang_tasks.scoring import Task
from figlang_tasks.scoring.task import Document, MetricValues, task_of

CLASSIFICATION_LABELS = ("No", "Yes")
"""The answers to "Does this image contain a visual metaphor?", by whether the image has one."""


class Options(TaskOptions):
    """Options of a MetaCLUE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        prompt: the name of a template in ``prompts/metaclue``. For retrieval it is ``choose`` (all
            candidates, numbered) or ``state`` (asks for a statement, whose probability is the
            score).
        convention: localization only: how this model writes the numbers of boxes (a value of
            `rows.BOX_CONVENTIONS`); None if that is not known. A task that reads another convention
            is refused.
    """

    OF: ClassVar[str] = "MetaCLUE"

    prompt: Literal["ask", "caption", "choose", "classify", "draw", "locate", "state"]
    convention: Literal["thousand", "unit", "pixel", "pixel28", "thousand_yx", "loc1024"] | None = (
        None
    )


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Log if Java is missing, and refuse boxes of another convention (`Task.preflight`).

    Args:
        config: the task file as a dict, with the ``model`` of the run.
        request: its parsed ``dataset_name``.

    Raises:
        ValueError: an option is not valid, or the task reads boxes in another convention.
    """
    task = request["task"]
    if task.startswith(("caption", "vqa")) and status.in_first_process():
        # Logs now, not after hours, that METEOR or SPICE will be missing.
        caption_java.available_java_metrics()

    # The options of the run's model, else those of all models.
    options_by_model = config.get("lmms_eval_specific_kwargs") or {}
    kwargs = options_by_model.get(str(config.get("model"))) or options_by_model.get("default")
    model_convention = Options.of(kwargs).convention
    task_convention = rows.BOX_CONVENTIONS.get(task)
    if model_convention is None or task_convention is None:
        return
    if model_convention != task_convention:
        raise ValueError(
            f"this model gives boxes in the convention {model_convention}, but metaclue_{task}"
            f" reads {task_convention}: run a task file of your own with `include:"
            " metaclue_localize.yaml` and `dataset_name:"
            f" MetaCLUE,task={_task_of_convention(model_convention)}` (docs/cards/metaclue.md)"
        )


def _task_of_convention(convention: str) -> str:
    """The localization task that reads a convention: ``localize_pixel28`` for ``pixel28``."""
    task_by_convention = {value: task for task, value in rows.BOX_CONVENTIONS.items()}
    return task_by_convention[convention]


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text, from the template that the option `prompt` names."""
    options = Options.of(lmms_eval_specific_kwargs)
    return render(f"metaclue/{options.prompt}.jinja", doc=doc)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The picture of a document, RGB and upright; none for text-to-image."""
    if DataId.parse(doc["data"]).part == "generate":
        return []
    location = f"{doc['dataset']} {doc['id']}"
    return [images.decode({"path": doc["image"]}, location, doc["dataset"])]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as one user turn, the picture before the text."""
    pictures = doc_to_visual(doc, lmms_eval_specific_kwargs)
    return [user_turn(pictures, doc_to_text(doc, lmms_eval_specific_kwargs))]


def doc_to_target(doc: Document) -> str:
    """The right answer to a document, as text.

    It is Yes or No, the right statement, the references (one a line), the boxes, or the path of the
    advertisement that a text-to-image model imitates.
    """
    if "metaphor" in doc:
        return CLASSIFICATION_LABELS[doc["metaphor"]]
    if "candidates" in doc:
        return str(doc["candidates"][doc["answer"]])
    if "references" in doc:
        return "\n".join(doc["references"])
    if "boxes" in doc:
        return str([[float(edge) for edge in box] for box in doc["boxes"]])
    return str(doc["image"])


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row that its prompt shows, by which an invented next question is found.

    They are the statements to choose from, the question, or the concept to localize.
    """
    texts = [*doc.get("candidates", ()), doc.get("question"), doc.get("concept")]
    return [text for text in texts if text]


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right label.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts.

    Returns:
        ``{label: text of the answer}``: here label and text are the same. And the right label.
        A task that offers no choice has "" as its only label, answer and right label, so that
        these models can run a group with such a task.
    """
    if "metaphor" in doc:
        return {label: label for label in CLASSIFICATION_LABELS}, doc_to_target(doc)
    if "candidates" in doc:
        numbers = [str(index + 1) for index in range(len(doc["candidates"]))]
        return {number: number for number in numbers}, numbers[doc["answer"]]
    return {"": ""}, ""


# --- the judgement ---


def careful_caption_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge a caption without the words around its statement: its record and its metrics.

    ``metaclue_caption_careful`` is judged by it, all other task files by `scoring.process_results`.

    Args:
        doc: the row.
        results: one text, the model's output.
    """
    return task_of(doc).values(doc, judging.careful_caption_record(doc, results[0]))


# --- the six tasks ---


def _task_begins_with(prefix: str, request: Request) -> bool:
    """Whether the task of a request begins so: ``MetaCLUE,task=vqa_best`` does with ``vqa``."""
    return request["task"].startswith(prefix)


_task = partial(Task, documents=rows.documents, options=Options, preflight=preflight)

CLASSIFY = _task(
    name="metaclue_classify",
    description="Is this picture a visual metaphor?",
    is_for=partial(_task_begins_with, "classify"),
    record=judging.classification_record,
    measures=measures.CLASSIFY,
)
RETRIEVE = _task(
    name="metaclue_retrieve",
    description="Which of K statements says what a visual metaphor says?",
    is_for=partial(_task_begins_with, "retrieve"),
    record=judging.retrieval_record,
    record_of_scores=judging.retrieval_record_of_scores,
    answer_field="chosen_text",
    measures=measures.RETRIEVE,
)
CAPTION = _task(
    name="metaclue_caption",
    description="State what is compared with what in a visual metaphor, and in what.",
    is_for=partial(_task_begins_with, "caption"),
    record=judging.caption_record,
    answer_field="caption",
    measures=measures.CAPTION,
)
VQA = _task(
    name="metaclue_vqa",
    description=(
        "Answer a question about the primary concept, the secondary concept or their relationship."
    ),
    is_for=partial(_task_begins_with, "vqa"),
    record=judging.vqa_record,
    answer_field="answer",
    measures=measures.VQA,
)
LOCALIZE = _task(
    name="metaclue_localize",
    description="Draw a box around what stands for a concept of a visual metaphor.",
    is_for=partial(_task_begins_with, "localize"),
    record=judging.localization_record,
    measures=measures.LOCALIZE,
)
GENERATE = _task(
    name="metaclue_generate",
    description="Draw a picture of a metaphor.",
    is_for=partial(_task_begins_with, "generate"),
    record=judging.generation_record,
    picture_location=generated.written_location,
    answer_field="file",
    measures=measures.GENERATE,
)
TASKS = (CLASSIFY, RETRIEVE, CAPTION, VQA, LOCALIZE, GENERATE)

CLASSIFY_METRICS = CLASSIFY.metric_list
RETRIEVE_METRICS = RETRIEVE.metric_list
CAPTION_METRICS = CAPTION.metric_list
VQA_METRICS = VQA.metric_list
LOCALIZE_METRICS = LOCALIZE.metric_list
GENERATE_METRICS = GENERATE.metric_list
