"""What the FLUTE task files of both harnesses name: documents, prompts, scoring.

The first version of arXiv 2205.12404 (v1) and the EMNLP version with its shared task (v2) differ in prompt and metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pydantic import Field

from figlang_tasks.answers.next_question import whole, without_next_questions
from figlang_tasks.answers.thoughts import explanation_in_thought
from figlang_tasks.benchmarks.flute import measures, rows
from figlang_tasks.benchmarks.flute.parse import parse_careful, parse_official
from figlang_tasks.core.benchmark import Asked
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render, user_turn
from figlang_tasks.scoring import explanations, judged, judged_for_lm_eval
from figlang_tasks.scoring.explained import SCHEMES, Explained, record_of

if TYPE_CHECKING:
    import datasets

Document = Mapping[str, Any]

SCHEME_OF_PROMPT: Final = {"v1": "contradiction", "v2": "all"}
BLIND = "codalab"
WITH_EXEMPLARS = ("heldout", BLIND)

_LABEL_WORDS: Final = 8
"""So many words may say the label alone, as in "So my final answer to this is entailment."."""


class Options(TaskOptions):
    """Options of a FLUTE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        num_shots: exemplars before the question (`rows.exemplars`).
        scorer: explanation scorer (`scoring.explanations`); None takes what the task file's ``dataset_name`` says.
    """

    OF: ClassVar[str] = "FLUTE"

    num_shots: int = Field(default=0, ge=0)
    scorer: explanations.Choice = None


# --- data ---


def documents(asked: Mapping[str, str]) -> datasets.Dataset:
    """The documents that a task file asks for, as ``FLUTE,part=heldout,prompt=v2``."""
    if asked["part"] == BLIND:
        return rows.load_blind()
    return rows.load(asked["dataset"], asked["part"], _prompt(asked), asked.get("scorer", ""))


def _prompt(asked: Mapping[str, str]) -> str:
    prompt = asked.get("prompt", "v2")
    if prompt not in SCHEME_OF_PROMPT:
        raise ValueError(f"prompt={prompt!r} of a FLUTE task; valid: {', '.join(SCHEME_OF_PROMPT)}")
    return prompt


def preflight(config: Mapping[str, Any], asked: Asked) -> None:
    """Draw the exemplars and fetch the scorer's weights; see `Benchmark.preflight`."""
    blocks = Options.blocks(config)
    named = Options.of({"scorer": asked.get("scorer")}).scorer
    for count in {options.num_shots for options in blocks if options.num_shots}:
        if asked["part"] not in WITH_EXEMPLARS:
            raise ValueError(
                f"FLUTE task option num_shots={count}: exemplars are rows of the part rest, so part={asked['part']} "
                f"would ask them too; valid parts: {', '.join(WITH_EXEMPLARS)}"
            )
        rows.exemplars(asked["dataset"], count, _prompt(asked))
    if asked["part"] == BLIND:
        return
    paper = SCHEMES[SCHEME_OF_PROMPT[_prompt(asked)]].scorer
    for scorer in {each.scorer for each in blocks}:
        explanations.preflight(named if scorer is None else scorer, paper, required=config.get("needs_scorer", False))


# --- prompts ---


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; exemplars, each with its answer below it, are paragraphs before the question."""
    shots = [f"{_question(shot)}\n{doc_to_target(shot)}" for shot in _shots(doc, lmms_eval_specific_kwargs)]
    return "\n\n".join([*shots, _question(doc)])


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its prompt, in this order."""
    return [doc["premise"], doc["hypothesis"]]


def _question(doc: Document) -> str:
    return render(f"flute/{doc['prompt']}.jinja", premise=doc["premise"], hypothesis=doc["hypothesis"])


def _shots(doc: Document, kwargs: Kwargs) -> tuple[Document, ...]:
    count = doc.get("num_shots") or Options.of(kwargs).num_shots  # in lm-eval documents have it
    return rows.exemplars(doc["dataset"], count, doc["prompt"]) if count else ()


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Any]:
    """No pictures: FLUTE is text."""
    return []


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """The prompt as chat turns of text: a question as user and its answer as assistant, last the open one."""
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
    """The reading that counts, by the released rule or else a careful reader's, and the labels of both.

    Where no explanation stands outside of thoughts, it is what a thought says that is meant for a reader.
    """
    official = parse_official(whole(output), doc["prompt"])
    careful = parse_careful(output, doc["prompt"], (doc["premise"], doc["hypothesis"]))
    found = official
    if official.status == "unreadable":
        is_explained = doc["prompt"] == "v2" or careful.value != 1
        found = Explained(careful.value, careful.status, careful.rule, official.explanation if is_explained else None)
    if output is not None and found.explanation is not None:
        # The careful reader does not part the label from the explanation.
        label_words = _LABEL_WORDS if official.status == "unreadable" else 0
        if len(found.explanation.split()) <= label_words:
            found = replace(found, explanation=explanation_in_thought(output) or found.explanation)
    return found, official.value, careful.value


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of one output and its numbers; of a blind row the label is read and not judged."""
    record = _record(doc, results[0])
    return judged(record, measures.of_records([record]))


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of one output and its numbers for lm-eval."""
    (output,) = without_next_questions(doc, results, doc_to_text, shown_texts)
    record = _record(doc, output)
    return judged_for_lm_eval(record, measures.of_records([record]), results)


def _record(doc: Document, output: str | None) -> dict[str, Any]:
    """The record of one output; of a blind row what is handed in."""
    found, official, careful = _read(doc, output)
    if "label" not in doc:
        known = ("id", "data", "codalab_id", "source_id", "premise", "hypothesis")  # what is handed in
        return {name: doc[name] for name in known} | found.fields(careful)
    more = {
        "explained": SCHEME_OF_PROMPT[doc["prompt"]],
        "revision": doc["revision"],
        "predicted_official": official,
    }
    chosen = {"scorer": doc["scorer"]} if doc["scorer"] else {}
    return record_of(doc, rows.LABELS[doc["label"]], found, careful) | more | chosen


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label.

    A blind row has no label; it is taken for a contradiction, as most training rows are (4,350 of 7,534).
    """
    text = "The two sentences go together, or they do not."
    return {label: _answer(doc, label, text) for label in rows.LABELS}, doc.get("label", "Contradiction")
