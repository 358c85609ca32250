"""The kinds of tasks of the New Yorker Caption Contest, and what its task files name in both
harnesses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from PIL import Image
from pydantic import Field

from figlang_tasks.answers.next_question import whole
from figlang_tasks.answers.verdict import Status
from figlang_tasks.benchmarks.nycc import configurations, measures, parse, rows
from figlang_tasks.benchmarks.nycc.records import ExplanationRecord, RankingRecord
from figlang_tasks.core import images
from figlang_tasks.core.options import Kwargs
from figlang_tasks.core.options import Options as TaskOptions
from figlang_tasks.core.prompting import render
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import overlap, ranking
from figlang_tasks.scoring import Task, explanations
from figlang_tasks.scoring.explained import Explained, explained_record
from figlang_tasks.scoring.lm_eval import metric_list_for_lm_eval, process_results_for_lm_eval
from figlang_tasks.scoring.task import Document, MetricValues

SEED = 42  # of the exemplars; the paper's were drawn in the order of its own run


class Options(TaskOptions):
    """Options of a task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        num_shots: exemplars before the question, drawn anew for each row; with them no reasoning is
            asked for.
        scorer: explanation scorer (`scoring.explanations`); None takes ours for V-FLUTE,
            ``$FIGLANG_SCORER`` any.
    """

    OF: ClassVar[str] = "NYCC"

    num_shots: int = Field(default=0, ge=0)
    scorer: explanations.ScorerOption = None


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Draw exemplars and fetch the scorer's weights; see `Task.preflight`."""
    for options in Options.blocks(config):
        for name in configurations.configs(request) if options.num_shots else ():
            rows.check_exemplars(request.dataset, name)
            rows.exemplars(request.dataset, name, "", options.num_shots, SEED)
        if configurations.config(request["config"]).task == "explanation":
            explanations.preflight(
                request.dataset, options.scorer, required=config.get("needs_scorer", False)
            )


def turns(doc: Document, kwargs: Kwargs) -> list[tuple[str, str, Document | None]]:
    """The prompt as the released scripts build it: role, text, and the document whose cartoon
    follows, of each turn.
    """
    of = configurations.config(doc["config"])
    shots = doc.get("num_shots") or Options.of(kwargs).num_shots  # in lm-eval documents have it
    values = {"task": of.task, "pixels": of.pixels, "direct": bool(shots)}
    found: list[tuple[str, str, Document | None]] = [
        ("system", render("nycc/system.jinja", **values), None)
    ]
    task = render("nycc/task.jinja", **values)
    examples = (
        rows.exemplars(doc["dataset"], doc["config"], doc["id"], shots, SEED) if shots else []
    )
    if not shots:
        found += [("user", task, None), ("assistant", render("nycc/reply.jinja", **values), None)]
    for number, each in enumerate([*examples, doc]):
        told = {
            name: each[name]
            for name in ("captions", *configurations.DESCRIPTION, "entities")
            if name in each
        }
        text = render("nycc/question.jinja", **values, **told, another=number > 0)
        text = f"{task}\n\n{text}" if shots and not number else text
        found.append(("user", text, each if of.pixels else None))
        if each is not doc:
            found.append(
                ("assistant", render("nycc/answer.jinja", **values, label=each["label"]), None)
            )
    return found


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The prompt as one text; where there are several pictures ``<image>`` marks the place of
    each.
    """
    return render("nycc/text.jinja", turns=turns(doc, lmms_eval_specific_kwargs))


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its question, in this order: what describes the cartoon, if anything
    does, and captions.
    """
    described = [doc[name] for name in configurations.DESCRIPTION if name in doc]
    entities = [", ".join(doc["entities"])] if "entities" in doc else []
    return [*described, *entities, *doc["captions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The cartoons in prompt order, each RGB; none where descriptions stand in the prompt."""
    return [
        _picture(shown) for *_, shown in turns(doc, lmms_eval_specific_kwargs) if shown is not None
    ]


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
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
    of = configurations.config(doc["config"])
    return render(
        "nycc/answer.jinja",
        task=of.task,
        pixels=of.pixels,
        direct=False,
        label=label or doc["label"],
    )


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The possible answers to `doc` by label, and the right label.

    There is no chance level of explanations: the baselines say nothing, which scores 0.
    """
    letters = rows.OPTIONS[configurations.config(doc["config"]).task]
    return (
        ({letter: doc_to_target(doc, letter) for letter in letters}, doc["label"])
        if letters
        else ({"": ""}, "")
    )


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """The record of one output and its numbers for lm-eval."""
    return process_results_for_lm_eval(doc, results, doc_to_text, shown_texts)


def choice_record(doc: Document, output: str | None) -> RankingRecord:
    """The record of a choice in words; no answer is a wrong answer."""
    pixels, count = configurations.config(doc["config"]).pixels, len(doc["captions"])
    letter = parse.letter(output, count, pixels, doc["captions"])
    common = parse.common(output, count, doc["captions"]).value
    official = parse.parse_official(whole(output) or "", count, pixels)
    if official is None and pixels:
        official = parse.DEFAULTS[count]
    record = _choice_record(doc, letter.status, letter.rule)
    record["predicted"] = letter.value
    record["predicted_strict"] = common
    record["predicted_official"] = official
    return record


def choice_record_of_scores(doc: Document, scores: list[float]) -> RankingRecord:
    """The record of a choice by the highest matching score. A tie at the top is a wrong answer.

    Of captions that share the highest score none is the model's choice.
    """
    best = ranking.index_of_best(scores)
    letter = None if best is None else "ABCDE"[best]
    record = _choice_record(doc, "scores", "argmax")
    record["predicted"] = record["predicted_strict"] = record["predicted_official"] = letter
    record["scores"] = scores
    return record


def _choice_record(doc: Document, status: Status, rule: str) -> RankingRecord:
    """The record of a choice, as yet without any letter."""
    record: RankingRecord = {
        "id": doc["id"],
        "data": doc["data"],
        "fold": doc["fold"],
        "unit": doc["family"],
        "gold": doc["label"],
        "predicted": None,
        "predicted_strict": None,
        "predicted_official": None,
        "status": status,
        "rule": rule,
        "scores": None,
    }
    if "winner_source" in doc:
        record["winner_source"] = doc["winner_source"]
    return record


def explanation_record(doc: Document, output: str | None) -> ExplanationRecord:
    """The record of an explanation. Its label says whether there is one: no label is asked for."""
    from rouge_score.rouge_scorer import RougeScorer

    explanation = parse.explanation(whole(output))
    reading = Explained(
        1 if explanation.value else None, explanation.status, explanation.rule, explanation.value
    )
    text = explanation.value or ""
    rouge = RougeScorer(["rougeL"])  # without stemming, as `evaluate` has it
    return {
        **explained_record(doc, 1, reading, reading.value),
        "revision": doc["revision"],
        "fold": doc["fold"],
        "bleu_sums": overlap.bleu_statistics(text, doc["label"]),
        "rouge_l": rouge.score(doc["label"], text)["rougeL"].fmeasure,
        "bleu": overlap.signature(corpus=True),
    }


# --- the kinds ---


def _asks(task: str) -> Callable[[Request], bool]:
    """The function of a request that tells whether it is for one of the contest's tasks."""

    def is_for(request: Request) -> bool:
        return configurations.config(request["config"]).task == task

    return is_for


_task = partial(Task, documents=rows.documents, options=Options, preflight=preflight)
_choice = partial(
    _task, record=choice_record, record_of_scores=choice_record_of_scores, candidates="captions"
)

MATCHING = _choice(
    name="nycc_match",
    description="Which of five captions belongs to the cartoon?",
    is_for=_asks("matching"),
    measures=measures.MATCHING,
)
RANKING = _choice(
    name="nycc_rank",
    description="Which of two captions of a cartoon is funnier?",
    is_for=_asks("ranking"),
    measures=measures.RANKING,
)
EXPLANATION = _task(
    name="nycc_explain",
    description="Why is the caption of a cartoon funny?",
    is_for=_asks("explanation"),
    record=explanation_record,
    measures=measures.EXPLANATION,
    scheme=measures.SCHEME,
)
TASKS = (MATCHING, RANKING, EXPLANATION)

MATCHING_METRICS, RANKING_METRICS = MATCHING.metric_list, RANKING.metric_list
EXPLANATION_METRICS = EXPLANATION.metric_list
MATCHING_LM_EVAL, RANKING_LM_EVAL = map(metric_list_for_lm_eval, (MATCHING, RANKING))
EXPLANATION_LM_EVAL = metric_list_for_lm_eval(EXPLANATION)
