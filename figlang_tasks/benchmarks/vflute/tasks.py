"""The kinds of tasks of V-FLUTE, and what its task files name: documents, prompts, scoring."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from loguru import logger
from PIL import Image
from pydantic import Field

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.next_question import before_next_question, whole
from figlang_tasks.benchmarks.vflute import measures, rows
from figlang_tasks.benchmarks.vflute.parse import parse_official
from figlang_tasks.core import images
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task, explanations
from figlang_tasks.scoring.explained import ExplainedRecord, explained_record
from figlang_tasks.scoring.task import Document, MetricValues, task_of

if TYPE_CHECKING:
    import datasets

BLIND_SIZE = (336, 336)  # the paper gives no size of its white square; this is LLaVA-1.5's input


class Options(TaskOptions):
    """Options of a V-FLUTE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        instruction: 1 to 21 asks every row with that instruction of Table 8; None takes the
            published one of the row.
        num_shots: exemplars before the question, drawn from the train split.
        fewshot_seed: seed of that draw.
        blind: show a white square instead of the picture (hypothesis-only baseline).
        label_only: ask for the label without an explanation (Appendix J).
        scorer: explanation scorer (`scoring.explanations`); None takes the paper's,
            ``$FIGLANG_SCORER`` any.
    """

    OF: ClassVar[str] = "V-FLUTE"

    instruction: int | None = Field(default=None, ge=1, le=rows.INSTRUCTION_COUNT)
    num_shots: int = Field(default=0, ge=0)
    fewshot_seed: int = Field(default=42, ge=0)
    blind: bool = False
    label_only: bool = False
    scorer: explanations.ScorerOption = None


# --- data ---


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``V-FLUTE,split=test,instructions=all``."""
    if request.get("instructions", "all") != "all":
        raise DataError(
            f"dataset_name: instructions={request['instructions']}; it must be all, or be left out"
        )
    documents = rows.load(request.dataset, request["split"], check_images=check_images)
    return rows.with_all_instructions(documents) if "instructions" in request else documents


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Draw the exemplars and fetch the scorer's weights; see `Task.preflight`."""
    blocks = Options.blocks(config)
    if "instructions" in request and any(options.instruction for options in blocks):
        raise ValueError(
            "V-FLUTE task option instruction: dataset_name asks with all; leave one out"
        )
    in_two_calls = config.get("output_type") == "generate_until_agentic"
    if in_two_calls and any(options.num_shots or options.label_only for options in blocks):
        raise ValueError(
            "V-FLUTE scene-graph tasks take neither num_shots nor label_only; valid: instruction,"
            " blind"
        )
    for count, seed in {
        (options.num_shots, options.fewshot_seed) for options in blocks if options.num_shots
    }:
        rows.exemplars(request.dataset, count, seed)
    for scorer in {options.scorer for options in blocks}:
        explanations.preflight(request.dataset, scorer)


# --- prompts ---


def question(doc: Document, options: Options) -> str:
    """The text of the question about `doc`, without its image."""
    text = render(
        "vflute/question.jinja",
        instruction=options.instruction or doc["instruction"],
        claim=doc["claim"],
    )
    return render("vflute/label_only.jinja", question=text) if options.label_only else text


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt."""
    return [doc["claim"]]


def other_wordings(doc: Document) -> list[str]:
    """The question about `doc` by each instruction; exemplars before it may have another one than
    its own.
    """
    return [
        question(doc, Options(instruction=number))
        for number in range(1, rows.INSTRUCTION_COUNT + 1)
    ]


def doc_to_target(doc: Document) -> str:
    """The reference answer in the released form: explanation, then ``LABEL: ...``."""
    return render("vflute/answer.jinja", explanation=doc["explanation"], label=doc["label"])


def doc_to_label(doc: Document) -> str:
    """The reference answer of a task that asks for the label alone."""
    return str(doc["label"])


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The whole prompt as one text; with exemplars, ``<image>`` marks the place of each picture."""
    options = Options.of(lmms_eval_specific_kwargs)
    text = question(doc, options)
    if not options.num_shots:
        return text
    shots = [texts for _, *texts in _shots(doc, options)]
    return render("vflute/few_shot.jinja", shots=shots, question=text)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The pictures in prompt order (exemplars first), each RGB."""
    options = Options.of(lmms_eval_specific_kwargs)
    return [*(picture for picture, _, _ in _shots(doc, options)), _picture(doc, options)]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as chat turns: image and question as user, answer as assistant, last the open
    question.
    """
    options = Options.of(lmms_eval_specific_kwargs)
    messages = []
    for picture, text, answer in _shots(doc, options):
        messages.append(user_turn([picture], text))
        messages.append({"role": "assistant", "content": [{"type": "text", "text": answer}]})
    return [*messages, user_turn([_picture(doc, options)], question(doc, options))]


def scene_graph_doc_to_text(
    doc: Document,
    lmms_eval_specific_kwargs: Kwargs = None,
    previous_output: Sequence[str] | None = None,
    round_idx: int | None = None,
    previous_round_info: Any = None,
) -> str | tuple[list[Image.Image] | None, str | None, bool, list[str], None]:
    """The prompt of the next call of compositional chain-of-thought, as the harness takes it of
    agentic tasks.

    After both calls it is none, and the output is a JSON object of ``scene_graph`` and ``answer``.
    """
    options = Options.of(lmms_eval_specific_kwargs)
    text = question(doc, options)
    if not previous_output:
        return render("vflute/scene_graph.jinja", question=text)
    outputs = list(previous_output)
    if len(outputs) == 1:
        prompt = render(
            "vflute/scene_graph_answer.jinja", scene_graph=outputs[0].strip(), question=text
        )
        return [_picture(doc, options)], prompt, False, outputs, None
    final = json.dumps({"scene_graph": outputs[0], "answer": outputs[-1]}, ensure_ascii=False)
    return None, None, True, [final], None


def _shots(doc: Document, options: Options) -> list[tuple[Image.Image, str, str]]:
    """Picture, question and answer of each exemplar."""
    if not options.num_shots:
        return []
    answer = doc_to_label if options.label_only else doc_to_target
    shots = rows.exemplars(doc["dataset"], options.num_shots, options.fewshot_seed)
    return [(shot["image"], question(shot, options), answer(shot)) for shot in shots]


def _picture(doc: Document, options: Options) -> Image.Image:
    if options.blind:
        return Image.new("RGB", BLIND_SIZE, "white")
    return images.decode(doc["image"], f"{doc['dataset']} {doc['id']}", doc["dataset"])


# --- scoring ---


def scene_graph_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record of the answer in a two-stage run (:func:`scene_graph_doc_to_text`), and its
    numbers.
    """
    task = task_of(doc)
    stages = stages_of(results[0])
    if stages is None:
        # The run was cut short (max_agentic_steps below 2): what there is, is no answer.
        if results[0]:  # else the request failed, which is reported elsewhere
            logger.error(
                f"figlang_tasks: {doc['id']}: the output has no second stage; judged as no answer"
            )
        return task.values(doc, record(doc, "", scene_graph=True))
    answer = str(stages["answer"])
    answer = before_next_question(answer, other_wordings(doc), shown_texts(doc))
    return task.values(doc, record(doc, answer, scene_graph=True))


def stages_of(output: str) -> dict[str, Any] | None:
    """The two stages of an output, `scene_graph` and `answer`; None of any other output."""
    try:
        stages = json.loads(output)
    except (ValueError, RecursionError):  # of a run that was cut short it is what the model wrote
        return None
    is_whole = isinstance(stages, dict) and set(stages) == {"scene_graph", "answer"}
    return stages if is_whole else None


class VFluteRecord(ExplainedRecord, total=False):
    """The record of an answer.

    Attributes:
        instruction: number of the instruction of Table 8, where each row is asked with all of them.
    """

    instruction: int


def record(doc: Document, output: str | None, scene_graph: bool = False) -> VFluteRecord:
    """The record of one output; `scene_graph`: it is the second stage's."""
    official = parse_official(whole(output), scene_graph=scene_graph)
    careful = entailment(output, [doc["claim"]])
    record: VFluteRecord = {
        **explained_record(doc, rows.LABELS[doc["label"]], official, careful.value)
    }
    if "revision" in doc:  # of the user's rows
        record["revision"] = doc["revision"]
    if "row" in doc:  # it is asked with each instruction
        record["row"] = doc["row"]
        record["instruction"] = doc["instruction"]
    return record


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label."""
    # Not the claim: one released claim begins with "Label: entailment".
    text = "The picture and the claim belong together, or they do not."
    return {
        label: render("vflute/answer.jinja", explanation=text, label=label) for label in rows.LABELS
    }, doc["label"]


# --- the kinds ---


def _is_for_all_instructions(request: Request) -> bool:
    return "instructions" in request


_task = partial(
    Task,
    documents=documents,
    options=Options,
    preflight=preflight,
    record=record,
    scheme=measures.SCHEME,
)

INSTRUCTIONS = _task(
    name="vflute_instructions",
    description="Each row is asked with each of the 21 instructions of Table 8.",
    is_for=_is_for_all_instructions,
    measures=measures.INSTRUCTIONS,
)
VFLUTE = _task(
    name="vflute",
    description="Does a picture entail or contradict a figurative claim, and why?",
    measures=measures.VFLUTE,
    boards=(measures.FIGLANG24,),
)
TASKS = (INSTRUCTIONS, VFLUTE)
"""A request is for the first of them that takes it."""

INSTRUCTIONS_METRICS, VFLUTE_METRICS = INSTRUCTIONS.metric_list, VFLUTE.metric_list
