"""The kinds of tasks of FLUTE, and what its task files of both harnesses name: documents, prompts,
scoring.

The first version of arXiv 2205.12404 (v1) and the EMNLP version with its shared task (v2) differ in
prompt and metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import Field

from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.thoughts import explanation_in_thought
from figlang_tasks.benchmarks.flute import measures, rows
from figlang_tasks.benchmarks.flute.parse import parse_careful, parse_official
from figlang_tasks.benchmarks.flute.records import BlindRecord, FluteRecord
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task, explanations
from figlang_tasks.scoring.explained import Explained, explained_record
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, process_results_for_lm_eval
from figlang_tasks.scoring.task import Document, MetricValues

if TYPE_CHECKING:
    import datasets

PROMPTS: Final = ("v1", "v2")
BLIND = "codalab"
WITH_EXEMPLARS = ("heldout", BLIND)

_LABEL_WORDS: Final = 8
"""So many words may say the label alone, as in "So my final answer to this is entailment."."""


class Options(TaskOptions):
    """Options of a FLUTE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        num_shots: exemplars before the question (`rows.exemplars`).
        scorer: explanation scorer (`scoring.explanations`); None takes what the task file's
            ``dataset_name`` says.
    """

    OF: ClassVar[str] = "FLUTE"

    num_shots: int = Field(default=0, ge=0)
    scorer: explanations.ScorerOption = None


# --- data ---


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The documents for a request, as ``FLUTE,part=heldout,prompt=v2``."""
    if request["part"] == BLIND:
        return rows.load_blind()
    return rows.load(request.dataset, request["part"], _prompt(request), request.get("scorer", ""))


def _prompt(request: Request) -> str:
    prompt = request.get("prompt", "v2")
    if prompt not in PROMPTS:
        raise ValueError(f"prompt={prompt!r} of a FLUTE task; valid: {', '.join(PROMPTS)}")
    return prompt


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Draw the exemplars and fetch the scorer's weights; see `Task.preflight`."""
    blocks = Options.blocks(config)
    named = Options.of({"scorer": request.get("scorer")}).scorer
    for count in {options.num_shots for options in blocks if options.num_shots}:
        if request["part"] not in WITH_EXEMPLARS:
            raise ValueError(
                f"FLUTE task option num_shots={count}: exemplars are rows of the part rest, so"
                f" part={request['part']} would ask them too; valid parts:"
                f" {', '.join(WITH_EXEMPLARS)}"
            )
        rows.exemplars(request.dataset, count, _prompt(request))
    if request["part"] == BLIND:
        return
    for scorer in {options.scorer for options in blocks}:
        chosen = named if scorer is None else scorer
        explanations.preflight(request.dataset, chosen, required=config.get("needs_scorer", False))


# --- prompts ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; exemplars, each with its answer below it, are paragraphs before the
    question.
    """
    shots = [
        f"{_question(shot)}\n{doc_to_target(shot)}"
        for shot in _shots(doc, lmms_eval_specific_kwargs)
    ]
    return "\n\n".join([*shots, _question(doc)])


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order."""
    return [doc["premise"], doc["hypothesis"]]


def _question(doc: Document) -> str:
    return render(
        f"flute/{doc['prompt']}.jinja", premise=doc["premise"], hypothesis=doc["hypothesis"]
    )


def _shots(doc: Document, kwargs: Kwargs) -> tuple[Document, ...]:
    count = doc.get("num_shots") or Options.of(kwargs).num_shots  # in lm-eval documents have it
    return rows.exemplars(doc["dataset"], count, doc["prompt"]) if count else ()


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Any]:
    """No pictures: FLUTE is text."""
    return []


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as chat turns of text: a question as user and its answer as assistant, last the
    open one.
    """
    messages = []
    for shot in _shots(doc, lmms_eval_specific_kwargs):
        answer = {"role": "assistant", "content": [{"type": "text", "text": doc_to_target(shot)}]}
        messages += [user_turn([], _question(shot)), answer]
    return [*messages, user_turn([], _question(doc))]


def _answer(doc: Document, label: str, explanation: str) -> str:
    return render(f"flute/answer_{doc['prompt']}.jinja", label=label, explanation=explanation)


def doc_to_target(doc: Document) -> str:
    """The reference answer in the form of the paper's training data; "" for a blind row."""
    return _answer(doc, doc["label"], doc["explanation"]) if "label" in doc else ""


# --- scoring ---


def _read(doc: Document, output: str | None) -> tuple[Explained, int | None, int | None]:
    """The reading that counts, by the released rule or else a careful reader's, and the labels of
    both.

    Where no explanation stands outside of thoughts, it is what a thought says that is meant for a
    reader.
    """
    official = parse_official(whole(output), doc["prompt"])
    careful = parse_careful(output, doc["prompt"], (doc["premise"], doc["hypothesis"]))
    found = official
    if official.status == "unreadable":
        is_explained = doc["prompt"] == "v2" or careful.value != 1
        found = Explained(
            careful.value,
            careful.status,
            careful.rule,
            official.explanation if is_explained else None,
        )
    if output is not None and found.explanation is not None:
        # The careful reader does not part the label from the explanation.
        label_words = _LABEL_WORDS if official.status == "unreadable" else 0
        if len(found.explanation.split()) <= label_words:
            found = replace(found, explanation=explanation_in_thought(output) or found.explanation)
    return found, official.value, careful.value


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record of one output and its numbers for lm-eval."""
    return process_results_for_lm_eval(doc, results, doc_to_text, shown_texts)


def record(doc: Document, output: str | None) -> FluteRecord:
    """The record of one output."""
    reading, official, careful = _read(doc, output)
    record: FluteRecord = {
        **explained_record(doc, rows.LABELS[doc["label"]], reading, careful),
        "revision": doc["revision"],
        "predicted_official": official,
    }
    if doc["scorer"]:
        record["scorer"] = doc["scorer"]
    return record


def blind_record(doc: Document, output: str | None) -> BlindRecord:
    """The record of one output for a blind row: what is handed in."""
    reading, _, careful = _read(doc, output)
    return {
        "id": doc["id"],
        "data": doc["data"],
        "codalab_id": doc["codalab_id"],
        "source_id": doc["source_id"],
        "premise": doc["premise"],
        "hypothesis": doc["hypothesis"],
        "predicted": reading.value,
        "explanation": reading.explanation,
        "status": reading.status,
        "rule": reading.rule,
        "predicted_strict": careful,
    }


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label.

    A blind row has no label; it is taken for a contradiction, as most training rows are (4,350 of
    7,534).
    """
    text = "The two sentences go together, or they do not."
    return {label: _answer(doc, label, text) for label in rows.LABELS}, doc.get(
        "label", "Contradiction"
    )


# --- the kinds ---


def _is_blind(request: Request) -> bool:
    return request["part"] == BLIND


def _is_for_v1(request: Request) -> bool:
    return request.get("prompt") == "v1"


_task = partial(Task, documents=documents, options=Options, preflight=preflight)

BLIND_TASK = _task(
    name="flute_blind",
    description=(
        "As flute, of rows without a published answer: the output is handed in, and not judged."
    ),
    is_for=_is_blind,
    record=blind_record,
    measures=measures.BLIND,
)
V1 = _task(
    name="flute_v1",
    description="As flute by the paper's first version: contradictions alone are explained.",
    is_for=_is_for_v1,
    record=record,
    measures=measures.V1,
    scheme=measures.V1_SCHEME,
)
V2 = _task(
    name="flute",
    description="Does a sentence entail or contradict a figurative one, and why?",
    record=record,
    measures=measures.V2,
    scheme=measures.V2_SCHEME,
)
TASKS = (BLIND_TASK, V1, V2)
"""A request is for the first of them that takes it."""

V1_METRICS, V2_METRICS, BLIND_METRICS = V1.metric_list, V2.metric_list, BLIND_TASK.metric_list
V1_LM_EVAL, V2_LM_EVAL, BLIND_LM_EVAL = map(metric_list_for_lm_eval, (V1, V2, BLIND_TASK))
