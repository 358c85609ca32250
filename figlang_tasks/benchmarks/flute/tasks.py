"""FLUTE's tasks: what a model is asked, and how its answer is judged (arXiv 2205.12404).

Given a literal premise and a figurative hypothesis, does the premise entail or contradict the
hypothesis, and why? The paper's first version (v1) and the EMNLP version with its shared task (v2)
differ in prompt and metric.

Where the papers say what, and where it is done here:

- v1, section 3, the instruction "Do the sentences "P" and "H", contradict each other?": the prompt
  ``v1``, which asks for an explanation of contradictions alone.
- The released ``generateLabel&Explanations.py``: the prompt ``v2``, and the rule that reads its
  answers (`figlang_tasks.benchmarks.flute.parse`).
- v1, section 3, and the shared task, accuracy at thresholds of the explanation score:
  `figlang_tasks.benchmarks.flute.measures`.
- v1, section 2 and Table 1, the types of rows: `figlang_tasks.benchmarks.flute.pairs`.
- The shared task's test set, whose answers are not published:
  `figlang_tasks.benchmarks.flute.blind`, and in its stead `figlang_tasks.benchmarks.flute.heldout`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from pydantic import Field

from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.thoughts import explanation_in_thought
from figlang_tasks.benchmarks.flute import blind, measures, rows
from figlang_tasks.benchmarks.flute.pairs import LABELS
from figlang_tasks.benchmarks.flute.parse import Prompt, parse_careful, parse_official
from figlang_tasks.benchmarks.flute.records import BlindRecord, FluteRecord
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import Task, explanations
from figlang_tasks.scoring.explained import Explained, explained_record
from figlang_tasks.scoring.given_labels import label_as_given
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, process_results_for_lm_eval
from figlang_tasks.scoring.task import Document, MetricValues

if TYPE_CHECKING:
    import datasets
    from PIL import Image

PROMPTS: Final[tuple[Prompt, ...]] = ("v1", "v2")
BLIND = "codalab"
"""The part whose rows are those of the shared task, without answers."""

WITH_EXEMPLARS = ("heldout", BLIND)
"""The parts that exemplars, which are rows of ``rest``, may stand before."""

_LABEL_WORDS: Final = 8
"""An answer of so many words may say the label and explain nothing: "My answer is: entailment."."""


class Options(TaskOptions):
    """Options of a FLUTE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        num_shots: how many exemplars stand before the question (`rows.exemplars`).
        scorer: the name of the explanation scorer (`figlang_tasks.scoring.explanations`); None
            takes what the task file's ``dataset_name`` says.
    """

    OF: ClassVar[str] = "FLUTE"

    num_shots: int = Field(default=0, ge=0)
    scorer: explanations.ScorerOption = None


# --- rows ---


def documents(request: Request, check_images: bool) -> datasets.Dataset:
    """The rows for a request such as ``FLUTE,part=heldout,prompt=v2`` (see `rows.load`)."""
    if request["part"] == BLIND:
        return blind.load_blind()
    prompt = _prompt(request)
    return rows.load(request.dataset, request["part"], prompt, request.get("scorer", ""))


def _prompt(request: Request) -> str:
    """The prompt of a request, ``v2`` unless it names one; raises a `ValueError` for others."""
    prompt = request.get("prompt", "v2")
    if prompt not in PROMPTS:
        raise ValueError(f"prompt={prompt!r} of a FLUTE task; valid: {', '.join(PROMPTS)}")
    return prompt


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check the options of a task file, draw its exemplars and fetch its scorer (`Task.preflight`).

    Args:
        config: the task file as a dict.
        request: its parsed ``dataset_name``.

    Raises:
        DataError: the exemplars cannot be drawn.
        ValueError: an option is not valid, there is no such scorer, or the task file says
            ``needs_scorer`` and its weights are missing.
    """
    options_of_models = Options.blocks(config)
    # `Options` raises an error for an unknown scorer; None if the request names none.
    requested_scorer = Options.of({"scorer": request.get("scorer")}).scorer
    shot_counts = {options.num_shots for options in options_of_models if options.num_shots}
    for count in shot_counts:
        if request["part"] not in WITH_EXEMPLARS:
            raise ValueError(
                f"FLUTE task option num_shots={count}: exemplars are rows of the part rest, so"
                f" part={request['part']} would ask them too; valid parts:"
                f" {', '.join(WITH_EXEMPLARS)}"
            )
        # The loader keeps the exemplars for the prompts.
        rows.exemplars(request.dataset, count, _prompt(request))
    if request["part"] == BLIND:  # its answers are handed in, not scored
        return

    # A scorer in the options of a task file goes before one in its ``dataset_name``.
    needs_scorer = config.get("needs_scorer", False)
    for scorer in {options.scorer for options in options_of_models}:
        chosen_scorer = requested_scorer if scorer is None else scorer
        explanations.preflight(request.dataset, chosen_scorer, required=needs_scorer)


# --- the question ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The whole prompt as one text: a paragraph for each exemplar, and one for the question."""
    paragraphs: list[str] = []
    for shot in _shots(doc, lmms_eval_specific_kwargs):
        paragraphs.append(f"{_question(shot)}\n{doc_to_target(shot)}")
    paragraphs.append(_question(doc))
    return "\n\n".join(paragraphs)


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order, by which a next question is recognized."""
    return [doc["premise"], doc["hypothesis"]]


def _question(doc: Document) -> str:
    """The question about a row, by its prompt ``v1`` or ``v2``."""
    template = f"flute/{doc['prompt']}.jinja"
    return render(template, premise=doc["premise"], hypothesis=doc["hypothesis"])


def _shots(doc: Document, kwargs: Kwargs) -> tuple[Document, ...]:
    """The exemplars that stand before a row's question; empty for a zero-shot task."""
    # In lm-eval documents hold the option, as task functions get nothing else.
    count = doc.get("num_shots") or Options.of(kwargs).num_shots
    if not count:
        return ()
    return rows.exemplars(doc["dataset"], count, doc["prompt"])


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """No pictures: FLUTE is text."""
    return []


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as chat turns of text.

    Each exemplar is a turn of the user (question) and one of the assistant (reference answer). The
    last turn is the row's question.
    """
    turns: list[dict[str, Any]] = []
    for shot in _shots(doc, lmms_eval_specific_kwargs):
        answer = {"type": "text", "text": doc_to_target(shot)}
        turns.append(user_turn([], _question(shot)))
        turns.append({"role": "assistant", "content": [answer]})
    turns.append(user_turn([], _question(doc)))
    return turns


def doc_to_target(doc: Document) -> str:
    """The reference answer in the form of the paper's training data; "" for a blind row."""
    if "label" not in doc:
        return ""
    return _answer(doc, doc["label"], doc["explanation"])


def _answer(doc: Document, label: str, explanation: str) -> str:
    """An answer in the form that the prompt of a row asks for: ``Entails. It is ...``."""
    return render(f"flute/answer_{doc['prompt']}.jinja", label=label, explanation=explanation)


# --- the judgement ---


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge an answer for lm-eval: its record, and its number for each metric.

    Args:
        doc: the row.
        results: the outputs of the model, of which the first one is read.
    """
    return process_results_for_lm_eval(doc, results, doc_to_text, shown_texts)


class _Readings(NamedTuple):
    """What the papers' rules and the careful reader read in an output.

    Attributes:
        reading: the label and explanation that count.
        official_label: the label by the papers' form of answer; None if they read none.
        careful_label: the label of the careful reader; None if it reads none.
    """

    reading: Explained
    official_label: int | None
    careful_label: int | None


def _read(doc: Document, output: str | None) -> _Readings:
    """Read an output by the papers' rules; where these find no label, the careful reader's counts.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    prompt = doc["prompt"]
    # The released rule reads all that a model wrote, also behind the next question that it
    # invents.
    official = parse_official(whole(output), prompt)
    careful = parse_careful(output, prompt, (doc["premise"], doc["hypothesis"]))
    if official.status == "unreadable":
        # The careful reader does not part the label from the explanation: that is all of the
        # answer, and a short one may be the label alone. Prompt v1 asks for no explanation of an
        # entailment.
        is_explained = prompt == "v2" or careful.value != 1
        explanation = official.explanation if is_explained else None
        reading = Explained(careful.value, careful.status, careful.rule, explanation)
        reading = _explained_in_thought(reading, output, max_label_words=_LABEL_WORDS)
    else:
        reading = _explained_in_thought(official, output, max_label_words=0)
    return _Readings(reading, official.value, careful.value)


def _explained_in_thought(
    reading: Explained, output: str | None, *, max_label_words: int
) -> Explained:
    """A reading, with the explanation of a thought in place of one that says nothing.

    It stays as it is if no thought holds an explanation for a reader (`explanation_in_thought`).

    Args:
        reading: the label and explanation that count. An explanation of None is none by right.
        output: the model's answer; None if there is none.
        max_label_words: an explanation of so many words, or fewer, says nothing.
    """
    if output is None or reading.explanation is None:
        return reading
    if len(reading.explanation.split()) > max_label_words:
        return reading
    explanation = explanation_in_thought(output) or reading.explanation
    return replace(reading, explanation=explanation)


def record(doc: Document, output: str | None) -> FluteRecord:
    """The record of an answer: gold and predicted labels, explanation and reference explanation.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    return _record_of_readings(doc, _read(doc, output))


def record_of_label(doc: Document, label: str | None, explanation: str | None) -> FluteRecord:
    """The record of a label with its explanation that a file has in place of words.

    Args:
        doc: the row.
        label: ``Entailment`` (1) or ``Contradiction`` (0); None if there is none.
        explanation: None if there is none.
    """
    reading = label_as_given(label, explanation)
    return _record_of_readings(doc, _Readings(reading, reading.value, reading.value))


def _record_of_readings(doc: Document, readings: _Readings) -> FluteRecord:
    """The record of what was read in an answer."""
    gold = LABELS[doc["label"]]
    record: FluteRecord = {
        **explained_record(doc, gold, readings.reading, readings.careful_label),
        "revision": doc["revision"],
        "predicted_official": readings.official_label,
    }
    if doc["scorer"]:  # "" is the benchmark's own
        record["scorer"] = doc["scorer"]
    return record


def blind_record(doc: Document, output: str | None) -> BlindRecord:
    """The record of an answer to a blind row, which is handed in.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    readings = _read(doc, output)
    return {
        "id": doc["id"],
        "data": doc["data"],
        "codalab_id": doc["codalab_id"],
        "source_id": doc["source_id"],
        "premise": doc["premise"],
        "hypothesis": doc["hypothesis"],
        "predicted": readings.reading.value,
        "explanation": readings.reading.explanation,
        "status": readings.reading.status,
        "rule": readings.reading.rule,
        "predicted_strict": readings.careful_label,
    }


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right label.

    The models ``figlang_random`` and ``figlang_majority`` answer with these texts. A blind row has
    no label. It is taken for a contradiction, as most training rows are (4,350 of 7,534).

    Returns:
        ``{label: text of the answer}``, and the right label.
    """
    explanation = "The two sentences go together, or they do not."
    answers = {label: _answer(doc, label, explanation) for label in LABELS}
    return answers, doc.get("label", "Contradiction")


# --- the three tasks ---


def _is_blind(request: Request) -> bool:
    """Whether a request is for the shared task's rows, whose answers are not published."""
    return request["part"] == BLIND


def _is_for_v1(request: Request) -> bool:
    """Whether a request is for the prompt of the paper's first version."""
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
    record_of_label=record_of_label,
    measures=measures.V1,
    scheme=measures.V1_SCHEME,
)
V2 = _task(
    name="flute",
    description="Does a sentence entail or contradict a figurative one, and why?",
    record=record,
    record_of_label=record_of_label,
    measures=measures.V2,
    scheme=measures.V2_SCHEME,
)
TASKS = (BLIND_TASK, V1, V2)
"""The first task whose `Task.is_for` accepts a request gets it. `V2` accepts every request."""

# What the task files of lmms-eval and lm-eval name.
V1_METRICS = V1.metric_list
V2_METRICS = V2.metric_list
BLIND_METRICS = BLIND_TASK.metric_list

V1_LM_EVAL = metric_list_for_lm_eval(V1)
V2_LM_EVAL = metric_list_for_lm_eval(V2)
BLIND_LM_EVAL = metric_list_for_lm_eval(BLIND_TASK)
