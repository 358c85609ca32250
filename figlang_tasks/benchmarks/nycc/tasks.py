"""The caption contest's tasks: what a model is asked, and how its answer is judged.

Matching asks which of five captions belongs to a cartoon, ranking which of two is funnier, and
explanation why a caption is funny. The model sees the cartoon ("from pixels") or reads what people
wrote about it ("from description").

Source: the New Yorker Caption Contest, arXiv 2209.06293, and the released scripts
(jmhessel/caption_contest_corpus at d5f68b6). Where they say what, and where it is done here:

- Section 2.1, the three tasks: `MATCHING`, `RANKING` and `EXPLANATION`.
- The prompts of the released scripts, a chat of several turns: `turns`, ``prompts/nycc``.
- Five training rows before the question: `Options.num_shots`.
- ``clip/README.md``, matching scores without training: `choice_record_of_scores`.
- The rules that read an answer: `figlang_tasks.benchmarks.nycc.parse`.
- Tables 2 and 5 and ``eval_crossval.py``, the mean of five folds:
  `figlang_tasks.benchmarks.nycc.measures`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, TypedDict

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
from figlang_tasks.scoring.rouge import rouge_l
from figlang_tasks.scoring.task import Document, MetricValues

EXEMPLAR_SEED = 42
"""The seed of the exemplars. The paper's were drawn in the order of its own run."""


class Options(TaskOptions):
    """Options of a task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        num_shots: how many exemplars stand before the question, drawn anew for each row. With them
            no reasoning is asked for.
        scorer: the name of the explanation scorer (`figlang_tasks.scoring.explanations`); None
            takes V-FLUTE's. The environment variable ``FIGLANG_SCORER`` overrides it.
    """

    OF: ClassVar[str] = "NYCC"

    num_shots: int = Field(default=0, ge=0)
    scorer: explanations.ScorerOption = None


def preflight(config: Mapping[str, Any], request: Request) -> None:
    """Check the options of a task file, its exemplars and its scorer (`Task.preflight`).

    Args:
        config: the task file as a dict.
        request: its parsed ``dataset_name``, whose keys are ``config`` (the name of a configuration
            of the dataset: ``matching``) and ``fold``.

    Raises:
        DataError: the training rows are missing, too few or have faults.
        ValueError: an option is not valid, there is no such scorer, or the task file says
            ``needs_scorer`` and its weights are missing.
    """
    asks_for_explanation = configurations.parse_name(request["config"]).task == "explanation"
    for options in Options.blocks(config):
        if options.num_shots:
            for name in configurations.fold_names(request):
                rows.check_exemplars(request.dataset, name)
                # Called for its error: too few contests are too few for any row id.
                rows.exemplars(
                    request.dataset, name, row_id="", shots=options.num_shots, seed=EXEMPLAR_SEED
                )
        if asks_for_explanation:
            needs_scorer = config.get("needs_scorer", False)
            explanations.preflight(request.dataset, options.scorer, required=needs_scorer)


# --- the question ---


class Turn(NamedTuple):
    """A turn of the chat that is the prompt.

    Attributes:
        role: ``system``, ``user`` or ``assistant``.
        text: what is said.
        pictured_row: the row whose cartoon follows the text; None if none does.
    """

    role: str
    text: str
    pictured_row: Document | None = None


class _PromptSettings(TypedDict):
    """What the templates in ``prompts/nycc`` depend on beside the row.

    Attributes:
        task: matching, ranking or explanation.
        pixels: whether the model sees the cartoon.
        direct: whether it is to answer without reasoning, as it is with exemplars.
    """

    task: str
    pixels: bool
    direct: bool


def turns(doc: Document, kwargs: Kwargs) -> list[Turn]:
    """The prompt as the released scripts build it, turn by turn; the last one is the question.

    Without exemplars the task is a turn of its own, which the assistant accepts. With exemplars the
    task stands before the first of them, and each is followed by its answer.

    Args:
        doc: the row.
        kwargs: the options of the task file.
    """
    configuration = configurations.parse_name(doc["config"])
    # In lm-eval documents hold the option, as task functions get nothing else.
    num_shots = doc.get("num_shots") or Options.of(kwargs).num_shots
    settings = _PromptSettings(
        task=configuration.task, pixels=configuration.from_pixels, direct=bool(num_shots)
    )
    chat = [Turn("system", render("nycc/system.jinja", **settings))]
    task_text = render("nycc/task.jinja", **settings)
    if not num_shots:
        chat.append(Turn("user", task_text))
        chat.append(Turn("assistant", render("nycc/reply.jinja", **settings)))
        chat.append(_question(doc, settings))
        return chat

    exemplars = rows.exemplars(doc["dataset"], doc["config"], doc["id"], num_shots, EXEMPLAR_SEED)
    for index, exemplar in enumerate(exemplars):
        question = _question(exemplar, settings, has_exemplars_before=index > 0)
        if index == 0:
            question = question._replace(text=f"{task_text}\n\n{question.text}")
        answer = render("nycc/answer.jinja", **settings, label=exemplar["label"])
        chat.append(question)
        chat.append(Turn("assistant", answer))
    chat.append(_question(doc, settings, has_exemplars_before=True))
    return chat


def _question(
    doc: Document, settings: _PromptSettings, *, has_exemplars_before: bool = False
) -> Turn:
    """The question about a row, with its cartoon if the model sees it.

    With exemplars before it the question begins with "Thanks! How about this one?".
    """
    texts: dict[str, Any] = {}
    for name in ("captions", *configurations.DESCRIPTION, "entities"):
        if name in doc:
            texts[name] = doc[name]
    text = render("nycc/question.jinja", **settings, **texts, another=has_exemplars_before)
    return Turn("user", text, pictured_row=doc if settings["pixels"] else None)


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """The whole prompt as one text; ``<image>`` marks where each picture belongs, if several."""
    return render("nycc/text.jinja", turns=turns(doc, lmms_eval_specific_kwargs))


def shown_texts(doc: Document) -> list[str]:
    """The texts of a row in its question, in this order, by which a next question is recognized.

    What describes the cartoon comes first, if anything does, and then the captions.
    """
    texts = [doc[name] for name in configurations.DESCRIPTION if name in doc]
    if "entities" in doc:
        texts.append(", ".join(doc["entities"]))
    return [*texts, *doc["captions"]]


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """The cartoons as RGB in prompt order; none if descriptions stand in the prompt."""
    pictures: list[Image.Image] = []
    for turn in turns(doc, lmms_eval_specific_kwargs):
        if turn.pictured_row is not None:
            pictures.append(_picture(turn.pictured_row))
    return pictures


def doc_to_messages(
    doc: Document, lmms_eval_specific_kwargs: Kwargs = None
) -> list[dict[str, Any]]:
    """The prompt as chat turns of system, user and assistant; a cartoon follows its question."""
    messages: list[dict[str, Any]] = []
    for turn in turns(doc, lmms_eval_specific_kwargs):
        content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}]
        if turn.pictured_row is not None:
            content.append({"type": "image", "url": _picture(turn.pictured_row)})
        messages.append({"role": turn.role, "content": content})
    return messages


def _picture(doc: Document) -> Image.Image:
    """The cartoon of a row as RGB."""
    return images.decode(doc["image"], f"NYCC {doc['id']}")


def doc_to_target(doc: Document, label: str = "") -> str:
    """The right answer, or one with another label: ``Answer: B``, ``Explanation: ...``.

    From pixels it is ``Final Answer: B``. The answers of exemplars may differ from it (`turns`).

    Args:
        doc: the row.
        label: the letter, or the explanation, that the answer gives; "" for the right one.
    """
    configuration = configurations.parse_name(doc["config"])
    settings = _PromptSettings(
        task=configuration.task,
        pixels=configuration.from_pixels,
        direct=False,  # as without exemplars, also in tasks that have some
    )
    return render("nycc/answer.jinja", **settings, label=label or doc["label"])


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """The labels that a chance model picks from, each with its answer's text; and the right label.

    Returns:
        ``{letter: text of the answer}`` for ``figlang_random`` and ``figlang_majority``, and the
        right letter. Explanations have no chance level: their only answer is "", by the label "",
        and scores 0.
    """
    letters = rows.OPTIONS[configurations.parse_name(doc["config"]).task]
    if not letters:
        return {"": ""}, ""
    return {letter: doc_to_target(doc, letter) for letter in letters}, doc["label"]


# --- the judgement ---


def lm_eval_process_results(doc: Document, results: Sequence[str]) -> MetricValues:
    """Judge an answer for lm-eval: its record, and its number for each metric.

    Args:
        doc: the row.
        results: the outputs of the model, of which the first one is read.
    """
    return process_results_for_lm_eval(doc, results, doc_to_text, shown_texts)


def choice_record(doc: Document, output: str | None) -> RankingRecord:
    """The record of a choice in words; no answer is a wrong answer.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    from_pixels = configurations.parse_name(doc["config"]).from_pixels
    captions = doc["captions"]
    options = len(captions)
    letter = parse.letter(output, options, from_pixels, captions)
    # The released rules read all that a model wrote, also behind the next question that it
    # invents.
    official_letter = parse.parse_official(whole(output) or "", options, from_pixels)
    if official_letter is None and from_pixels:
        official_letter = parse.DEFAULTS[options]  # the released script's guess: "E" of five

    record = _choice_record(doc, letter.status, letter.rule)
    record["predicted"] = letter.value
    record["predicted_strict"] = parse.common(output, options, captions).value
    record["predicted_official"] = official_letter
    return record


def choice_record_of_scores(doc: Document, scores: list[float]) -> RankingRecord:
    """The record of a choice by the highest matching score; a tie at the top is a wrong answer.

    Args:
        doc: the row.
        scores: the score of each caption, in their order.
    """
    best_index = ranking.index_of_best(scores)  # None if several captions have the highest score
    letter = None if best_index is None else "ABCDE"[best_index]
    record = _choice_record(doc, "scores", "argmax")
    # Without words to read, no two readers can differ.
    record["predicted"] = letter
    record["predicted_strict"] = letter
    record["predicted_official"] = letter
    record["scores"] = scores
    return record


def _choice_record(doc: Document, status: Status, rule: str) -> RankingRecord:
    """The record of a choice, whose letters and scores are None until the caller sets them."""
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
    """The record of an explanation, with its ROUGE-L and what BLEU-4 needs.

    No label is asked for: the predicted label is 1 if there is an explanation, and 1 is right.

    Args:
        doc: the row.
        output: the model's answer; None if there is none.
    """
    # The released rules read all that a model wrote, also behind the next question that it
    # invents.
    explanation = parse.explanation(whole(output))
    predicted = 1 if explanation.value else None
    reading = Explained(
        predicted, explanation.status, explanation.rule, explanation=explanation.value
    )
    text = explanation.value or ""
    return {
        **explained_record(doc, gold=1, reading=reading, strict_label=predicted),
        "revision": doc["revision"],
        "fold": doc["fold"],
        "bleu_sums": overlap.bleu_statistics(text, doc["label"]),
        "rouge_l": rouge_l(text, doc["label"]),
        "bleu": overlap.signature(corpus=True),  # how BLEU is computed; no value
    }


# --- the three tasks ---


def _is_for(task: str) -> Callable[[Request], bool]:
    """Make the function that tells whether a request is for a task such as ``matching``."""

    def is_for(request: Request) -> bool:
        """Whether the request is for the task."""
        return configurations.parse_name(request["config"]).task == task

    return is_for


_task = partial(Task, documents=rows.documents, options=Options, preflight=preflight)
_choice_task = partial(
    _task, record=choice_record, record_of_scores=choice_record_of_scores, candidates="captions"
)

MATCHING = _choice_task(
    name="nycc_match",
    description="Which of five captions belongs to the cartoon?",
    is_for=_is_for("matching"),
    measures=measures.MATCHING,
)
RANKING = _choice_task(
    name="nycc_rank",
    description="Which of two captions of a cartoon is funnier?",
    is_for=_is_for("ranking"),
    measures=measures.RANKING,
)
EXPLANATION = _task(
    name="nycc_explain",
    description="Why is the caption of a cartoon funny?",
    is_for=_is_for("explanation"),
    record=explanation_record,
    measures=measures.EXPLANATION,
    scheme=measures.SCHEME,
)
TASKS = (MATCHING, RANKING, EXPLANATION)

# What the task files of lmms-eval and lm-eval name.
MATCHING_METRICS = MATCHING.metric_list
RANKING_METRICS = RANKING.metric_list
EXPLANATION_METRICS = EXPLANATION.metric_list

MATCHING_LM_EVAL = metric_list_for_lm_eval(MATCHING)
RANKING_LM_EVAL = metric_list_for_lm_eval(RANKING)
EXPLANATION_LM_EVAL = metric_list_for_lm_eval(EXPLANATION)
