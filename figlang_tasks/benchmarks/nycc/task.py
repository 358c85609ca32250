"""What the task files of the New Yorker Caption Contest name, in both harnesses: documents, prompts, scoring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from PIL import Image
from pydantic import Field

from figlang_tasks.answers.next_question import whole, without_next_questions
from figlang_tasks.answers.verdict import Read
from figlang_tasks.benchmarks.nycc import measures, parse, rows
from figlang_tasks.core import images, score_requests
from figlang_tasks.core.benchmark import Asked
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render
from figlang_tasks.metrics import overlap, ranking
from figlang_tasks.scoring import explanations, judged, judged_for_lm_eval
from figlang_tasks.scoring.explained import Explained, record_of

Document = Mapping[str, Any]

SEED = 42  # of the exemplars; the paper's were drawn in the order of its own run


class Options(TaskOptions):
    """Options of a task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        num_shots: exemplars before the question, drawn anew for each row; with them no reasoning is asked for.
        scorer: explanation scorer (`scoring.explanations`); None takes ours for V-FLUTE, ``$FIGLANG_SCORER`` any.
    """

    OF: ClassVar[str] = "NYCC"

    num_shots: int = Field(default=0, ge=0)
    scorer: explanations.Choice = None


def preflight(config: Mapping[str, Any], asked: Asked) -> None:
    """Draw exemplars and fetch the scorer's weights; see `Benchmark.preflight`."""
    for options in Options.blocks(config):
        for name in rows.configs(asked) if options.num_shots else ():
            rows.check_exemplars(asked["dataset"], name)
            rows.exemplars(asked["dataset"], name, "", options.num_shots, SEED)
        if rows.config(asked["config"]).task == "explanation":
            explanations.preflight(options.scorer, required=config.get("needs_scorer", False))


def turns(doc: Document, kwargs: Kwargs) -> list[tuple[str, str, Document | None]]:
    """The prompt as the released scripts build it: role, text, and the document whose cartoon follows, of each turn."""
    of = rows.config(doc["config"])
    shots = doc.get("num_shots") or Options.of(kwargs).num_shots  # in lm-eval documents have it
    values = {"task": of.task, "pixels": of.pixels, "direct": bool(shots)}
    found: list[tuple[str, str, Document | None]] = [("system", render("nycc/system.jinja", **values), None)]
    task = render("nycc/task.jinja", **values)
    examples = rows.exemplars(doc["dataset"], doc["config"], doc["id"], shots, SEED) if shots else []
    if not shots:
        found += [("user", task, None), ("assistant", render("nycc/reply.jinja", **values), None)]
    for number, each in enumerate([*examples, doc]):
        told = {name: each[name] for name in ("captions", *rows.DESCRIPTION, "entities") if name in each}
        text = render("nycc/question.jinja", **values, **told, another=number > 0)
        text = f"{task}\n\n{text}" if shots and not number else text
        found.append(("user", text, each if of.pixels else None))
        if each is not doc:
            found.append(("assistant", render("nycc/answer.jinja", **values, label=each["label"]), None))
    return found


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; where there are several pictures ``<image>`` marks the place of each."""
    return render("nycc/text.jinja", turns=turns(doc, lmms_eval_specific_kwargs))


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its question, in this order: what describes the cartoon, if anything does, and captions."""
    described = [doc[name] for name in rows.DESCRIPTION if name in doc]
    entities = [", ".join(doc["entities"])] if "entities" in doc else []
    return [*described, *entities, *doc["captions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The cartoons in prompt order, each RGB; none where descriptions stand in the prompt."""
    return [_picture(shown) for *_, shown in turns(doc, lmms_eval_specific_kwargs) if shown is not None]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """The prompt as chat turns of system, user and assistant; a cartoon follows its question."""
    messages = []
    for role, text, shown in turns(doc, lmms_eval_specific_kwargs):
        pictures = [] if shown is None else [{"type": "image", "url": _picture(shown)}]
        messages.append({"role": role, "content": [{"type": "text", "text": text}, *pictures]})
    return messages


def _picture(shown: Document) -> Image.Image:
    return images.decode(shown["image"], f"NYCC {shown['id']}")


def doc_to_target(doc: Document, label: str = "") -> str:
    """The right answer, or another one, in the form that is asked for."""
    of = rows.config(doc["config"])
    return render("nycc/answer.jinja", task=of.task, pixels=of.pixels, direct=False, label=label or doc["label"])


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label.

    There is no chance level of explanations: the baselines say nothing, which scores 0.
    """
    letters = rows.OPTIONS[rows.config(doc["config"]).task]
    return ({letter: doc_to_target(doc, letter) for letter in letters}, doc["label"]) if letters else ({"": ""}, "")


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of one output and its numbers."""
    record = _record(doc, results)
    return judged(record, measures.of_records([record]))


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """The record of one output and its numbers for lm-eval."""
    record = _record(doc, without_next_questions(doc, results, doc_to_text, shown_texts))
    return judged_for_lm_eval(record, measures.of_records([record]), results)


def _record(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    output = results[0] if results else None
    return _explained(doc, output) if "explanation" in doc else _chosen(doc, output)


def _chosen(doc: Document, output: str | None) -> dict[str, Any]:
    """The record of a choice: by the highest matching score where the backend gives scores, else by an answer in words.

    No answer, and a tie at the top, is a wrong answer.
    """
    pixels, count = rows.config(doc["config"]).pixels, len(doc["captions"])
    scores = score_requests.read_answer(output)
    if scores is not None and len(scores) == count:
        # Of captions that share the highest score none is the model's choice.
        best = None if ranking.tied_at_top(scores) else "ABCDE"[scores.index(max(scores))]
        found, common, official = Read(best, "read", "argmax"), best, best
    else:
        scores, found = None, parse.letter(output, count, pixels, doc["captions"])
        common = parse.common(output, count, doc["captions"]).value
        official = parse.parse_official(whole(output) or "", count, pixels)
        if official is None and pixels:
            official = parse.DEFAULTS[count]
    return {name: doc[name] for name in ("id", "data", "fold", "winner_source") if name in doc} | {
        "unit": doc["family"],
        "gold": doc["label"],
        "predicted": found.value,
        "predicted_strict": common,
        "predicted_official": official,
        "status": found.status if scores is None else "scores",
        "rule": found.rule,
        "scores": scores,
    }


def _explained(doc: Document, output: str | None) -> dict[str, Any]:
    """The record of an explanation. Its label says whether there is one: no label is asked for."""
    from rouge_score.rouge_scorer import RougeScorer

    found = parse.explanation(whole(output))
    said = Explained(1 if found.value else None, found.status, found.rule, found.value)
    text, rouge = found.value or "", RougeScorer(["rougeL"])  # without stemming, as `evaluate` has it
    return record_of(doc, 1, said, said.value) | {
        "explained": "alone",
        "revision": doc["revision"],
        "fold": doc["fold"],
        "bleu_sums": overlap.bleu_statistics(text, doc["label"]),
        "rouge_l": rouge.score(doc["label"], text)["rougeL"].fmeasure,
        "bleu": overlap.signature(corpus=True),
    }
