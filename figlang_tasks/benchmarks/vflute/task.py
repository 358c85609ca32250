"""What the V-FLUTE task files name: documents, prompts, scoring. Serves every dataset in V-FLUTE's schema.

V-FLUTE: Saakyan et al. 2025, "Understanding Figurative Meaning through Explainable Visual Entailment",
arXiv 2405.01474.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from loguru import logger
from PIL import Image

from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.benchmarks.vflute.measures import VFLUTE
from figlang_tasks.benchmarks.vflute.parse import parse_official, parse_strict
from figlang_tasks.core import hub, images
from figlang_tasks.core.prompting import render
from figlang_tasks.scoring import explanations, judged
from figlang_tasks.scoring.records import EntailmentRecord

if TYPE_CHECKING:
    import datasets

Document = Mapping[str, Any]
Kwargs = Mapping[str, Any] | None

BLIND_SIZE = (336, 336)  # the paper gives no size of its white square; this is LLaVA-1.5's input


@dataclass(frozen=True)
class Options:
    """Options of a V-FLUTE task: the keys of ``lmms_eval_specific_kwargs`` in its YAML file.

    Attributes:
        instruction: 1 to 21 asks every row with that instruction of Table 8; None takes the published one of the row.
        num_shots: exemplars before the question, drawn from the train split.
        fewshot_seed: seed of that draw.
        blind: show a white square instead of the picture (hypothesis-only baseline).
        label_only: ask for the label without an explanation (Appendix J).
        scorer: explanation scorer (`scoring.explanations`); None takes the paper's, ``$FIGLANG_SCORER`` any.
    """

    instruction: int | None = None
    num_shots: int = 0
    fewshot_seed: int = 42
    blind: bool = False
    label_only: bool = False
    scorer: str | Literal[False] | None = None

    @classmethod
    def of(cls, kwargs: Kwargs) -> Options:
        """Read the options from what the harness hands over.

        Raises:
            ValueError: unknown option, or a value out of range; the message lists the valid ones.
        """
        known = {field.name for field in fields(cls)}
        # The harness leaves the blocks for other models ("default", "qwen2_5_vl", ...) in the dict: they are dicts.
        given = {key: value for key, value in (kwargs or {}).items() if not isinstance(value, Mapping)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ValueError(f"unknown V-FLUTE task option(s) {', '.join(unknown)}; valid: {', '.join(sorted(known))}")
        options = cls(**given)
        options._check()
        return options

    def _check(self) -> None:
        count = rows.INSTRUCTION_COUNT
        checks = (
            (
                "instruction",
                self.instruction is None or _is_int(self.instruction, 1, count),
                f"a number from 1 to {count}, or null for the published one of each row",
            ),
            ("num_shots", _is_int(self.num_shots, 0), "0 or a positive whole number"),
            ("fewshot_seed", _is_int(self.fewshot_seed, 0), "0 or a positive whole number"),
            ("blind", isinstance(self.blind, bool), "true or false"),
            ("label_only", isinstance(self.label_only, bool), "true or false"),
            ("scorer", self.scorer in (None, False, *explanations.CHOICES), ", ".join(explanations.CHOICES)),
        )
        for name, fits, expected in checks:
            if not fits:
                raise ValueError(f"V-FLUTE task option {name}={getattr(self, name)!r}; valid: {expected}")


def _is_int(value: object, low: int, high: float = float("inf")) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


# --- data ------------------------------------------------------------------------------------------------------------


def process_docs(stub: datasets.Dataset) -> datasets.Dataset:
    """Return the documents that the task file names, as ``dataset_name: V-FLUTE,split=test``.

    The harness loads a stub, which has that name: it could not load gated or local data with clear errors itself.

    Raises:
        SystemExit: the data is missing or wrong. Not an Exception, because the harness would try those five times
            and then exit with status 0.
    """
    try:
        return rows.load(**_named(stub.config_name))
    except hub.DataError as error:
        raise SystemExit(f"figlang_tasks: {error}") from error


def preflight(config: Mapping[str, Any]) -> None:
    """Check the options and the data of a task before a model is loaded.

    Args:
        config: the task's YAML as a dict.

    Raises:
        SystemExit: as :func:`process_docs`; also for an invalid option.
    """
    kwargs = config.get("lmms_eval_specific_kwargs") or {}
    try:
        variants = [Options.of(block) for block in (kwargs, *kwargs.values()) if isinstance(block, Mapping)]
        if config.get("output_type") == "generate_until_agentic":
            for options in variants:
                _check_scene_graph_options(options)
        _check_data(_named(config.get("dataset_name")), variants)
        blocks = [name for name, block in kwargs.items() if isinstance(block, Mapping)]
        effective = variants if "default" not in blocks else variants[1:]  # the first is what stands outside of blocks
        for scorer in {options.scorer for options in effective}:
            explanations.preflight(scorer)
    except (hub.DataError, ValueError) as error:
        raise SystemExit(f"figlang_tasks: task {config.get('task')}: {error}") from error


def _named(dataset_name: object) -> dict[str, str]:
    """Dataset and split that a task file names.

    Raises:
        hub.DataError: it does not name both.
    """
    asked = hub.named(dataset_name, required=["split"])
    return {"name": asked["dataset"], "split": asked["split"]}


def _check_data(asked: Mapping[str, str], variants: Sequence[Options]) -> None:
    """Load what is asked and what exemplars are drawn from; of both, all that is wrong is told.

    Raises:
        hub.DataError: the message has a line for each fault.
    """
    faults = []
    shots = {(options.num_shots, options.fewshot_seed) for options in variants if options.num_shots}
    for load, wanted in [(rows.load, (asked["split"],)), *((rows.exemplars, each) for each in shots)]:
        try:
            load(asked["name"], *wanted)
        except hub.DataError as error:
            faults.append(str(error))
    if faults:
        raise hub.DataError("\n".join(dict.fromkeys(faults)))


# --- prompts ---------------------------------------------------------------------------------------------------------


def question(doc: Document, options: Options) -> str:
    """Return the text of the question about `doc`, without its image."""
    text = render("vflute/question.jinja", instruction=options.instruction or doc["instruction"], claim=doc["claim"])
    return render("vflute/label_only.jinja", question=text) if options.label_only else text


def doc_to_target(doc: Document) -> str:
    """Return the reference answer in the released form: explanation, then ``LABEL: ...``."""
    return render("vflute/answer.jinja", explanation=doc["explanation"], label=doc["label"])


def doc_to_text(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> str:
    """Return the whole prompt as one text; with exemplars, ``<image>`` marks the place of each picture."""
    options = Options.of(lmms_eval_specific_kwargs)
    text = question(doc, options)
    if not options.num_shots:
        return text
    return render("vflute/few_shot.jinja", shots=_shot_texts(doc, options), question=text)


def doc_to_visual(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[Image.Image]:
    """Return the pictures in prompt order (exemplars first), each RGB."""
    options = Options.of(lmms_eval_specific_kwargs)
    return [shot["image"] for shot in _shots(doc, options)] + [_picture(doc, options)]


def doc_to_messages(doc: Document, lmms_eval_specific_kwargs: Kwargs = None) -> list[dict[str, Any]]:
    """Return the prompt as chat turns: image and question as user, answer as assistant, last the open question."""
    options = Options.of(lmms_eval_specific_kwargs)
    messages = []
    for shot, (shot_question, shot_answer) in zip(_shots(doc, options), _shot_texts(doc, options), strict=True):
        messages.append(_user_turn(shot["image"], shot_question))
        messages.append({"role": "assistant", "content": [{"type": "text", "text": shot_answer}]})
    return [*messages, _user_turn(_picture(doc, options), question(doc, options))]


def scene_graph_doc_to_text(
    doc: Document,
    lmms_eval_specific_kwargs: Kwargs = None,
    previous_output: Sequence[str] | None = None,
    round_idx: int | None = None,
    previous_round_info: Any = None,
) -> str | tuple[list[Image.Image] | None, str | None, bool, list[str], None]:
    """Prompts of the two calls of compositional chain-of-thought, in the harness's protocol for agentic tasks.

    Without `previous_output` returns the scene-graph request. After one output returns
    ``(visuals, prompt, False, outputs, None)`` for the answer, after two ``(None, None, True, [final], None)`` with
    `final` a JSON object of ``scene_graph`` and ``answer``.
    """
    options = Options.of(lmms_eval_specific_kwargs)
    _check_scene_graph_options(options)
    text = question(doc, options)
    if not previous_output:
        return render("vflute/scene_graph.jinja", question=text)
    outputs = list(previous_output)
    if len(outputs) == 1:
        prompt = render("vflute/scene_graph_answer.jinja", scene_graph=outputs[0].strip(), question=text)
        return [_picture(doc, options)], prompt, False, outputs, None
    final = json.dumps({"scene_graph": outputs[0], "answer": outputs[-1]}, ensure_ascii=False)
    return None, None, True, [final], None


def _check_scene_graph_options(options: Options) -> None:
    if options.num_shots or options.label_only:
        raise ValueError("V-FLUTE scene-graph tasks take neither num_shots nor label_only; valid: instruction, blind")


def _shots(doc: Document, options: Options) -> tuple[Document, ...]:
    if not options.num_shots:
        return ()
    return rows.exemplars(doc["dataset"], options.num_shots, options.fewshot_seed)


def _shot_texts(doc: Document, options: Options) -> list[tuple[str, str]]:
    return [
        (question(shot, options), shot["label"] if options.label_only else doc_to_target(shot))
        for shot in _shots(doc, options)
    ]


def _picture(doc: Document, options: Options) -> Image.Image:
    if options.blind:
        return Image.new("RGB", BLIND_SIZE, "white")
    return images.decode(doc["image"], f"{doc['dataset']} {doc['id']}", doc["dataset"])


def _user_turn(image: Image.Image, text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "image", "url": image}, {"type": "text", "text": text}]}


# --- scoring ---------------------------------------------------------------------------------------------------------


def process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge one output: an :class:`EntailmentRecord` and its numbers (``figlang_tasks.scoring.judged``)."""
    return _judge(doc, results[0])


def scene_graph_process_results(doc: Document, results: Sequence[str]) -> dict[str, Any]:
    """Judge the answer of a two-stage run (see :func:`scene_graph_doc_to_text`)."""
    try:
        stages = json.loads(results[0])
    except (ValueError, RecursionError):  # of a run that was cut short it is what the model wrote
        stages = None
    if not (isinstance(stages, dict) and set(stages) == {"scene_graph", "answer"}):
        # The run was cut short (max_agentic_steps below 2): what there is, is no answer.
        if results[0]:  # else the request failed, which is told
            logger.error(f"figlang_tasks: {doc['id']}: the output has no second stage; judged as no answer")
        return _judge(doc, "", scene_graph=True)
    return _judge(doc, str(stages["answer"]), scene_graph=True)


def _judge(doc: Document, output: str, scene_graph: bool = False) -> dict[str, Any]:
    official = parse_official(output, scene_graph=scene_graph)
    strict = parse_strict(output)
    gold = rows.LABELS[doc["label"]]
    record = EntailmentRecord(
        id=doc["id"],
        data=doc["data"],
        gold=gold,
        predicted=official.label,
        explanation=official.explanation,
        status=official.status,
        rule=official.rule,
        predicted_strict=strict.label,
        report_group=doc["report_group"],
        reference=doc["explanation"],
        unit=doc["family"],
    )
    return judged(record.as_dict(), VFLUTE)


def chance_answers(doc: Document) -> tuple[dict[str, str], str]:
    """Return the possible answers to `doc` by label, and its label (for ``figlang_tasks.models.baselines``)."""
    # Not the claim: one released claim begins with "Label: entailment".
    text = "The picture and the claim belong together, or they do not."
    return {label: render("vflute/answer.jinja", explanation=text, label=label) for label in rows.LABELS}, doc["label"]
