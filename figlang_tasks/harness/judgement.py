"""From answers to results: each is judged, and what the harness made of all is completed at the end."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from loguru import logger

from figlang_tasks.answers.next_question import texts_of_row, without_next_questions
from figlang_tasks.core import notes, redaction
from figlang_tasks.harness.identity import PACKAGES, package_versions
from figlang_tasks.scoring import OVERALL, Measures, judged, to_json
from figlang_tasks.scoring.evaluation import Answers, Evaluation, Judged, Number, Source, Value, facts, with_source
from figlang_tasks.scoring.measure import REPEAT

_PACKAGES = (*PACKAGES, "torch")  # that a result depends on
_KINDS = ("", "_stderr", "_stderr_clt", "_stderr_clustered")  # of numbers that the harness has of a metric


def process_results(task: Any, original: Callable[..., Any], doc: Any, results: Sequence[Any]) -> Any:
    """Judge the answer to a document, or the several answers of ``--repeats``, each with a record of its own."""
    if not (results and isinstance(results[0], list)):
        return _judged(task, original, doc, results)
    texts = [*results[0], *[""] * (task.config.repeats - len(results[0]))]  # --max_tokens may be spent before the last
    found = [_judged(task, original, doc, [text]) for text in texts]
    ours = {name for name, value in found[0].items() if isinstance(value, Number | Judged)}
    for number, each in enumerate(found if ours else (), start=1):
        each["sample"][REPEAT] = number
    several = {name: Answers(each[name] for each in found) for name in [*ours, *(["sample"] if ours else [])]}
    return {**found[0], **several}


def _judged(task: Any, original: Callable[..., Any], doc: Any, results: Sequence[Any]) -> Any:
    """Judge an answer: readers see it up to the next question that it invents, papers' own rules all of it.

    An error message of the harness counts as no answer, even if it contains "yes". So does a refusal of a server, but
    the record says that it is one.
    """
    is_refused = any(map(notes.is_refusal, results))
    said = ["" if is_refused or notes.is_no_answer(each) else each for each in results]
    shown_texts = _declared(task, "shown_texts") or texts_of_row
    outputs = without_next_questions(doc, said, task.doc_to_text, shown_texts, _declared(task, "other_wordings"))
    found = original(doc, outputs)
    ours = [name for name, aggregate in task.aggregation().items() if hasattr(aggregate, "measures")]
    if not isinstance(found.get("sample"), dict):  # of another process_results than ours
        return {name: value for name, value in found.items() if name not in ours}
    if is_refused and ours and found["sample"].get("status") == "empty":
        found = _as_refused(found, task.aggregation()[ours[0]].measures)
    option = (task.lmms_eval_specific_kwargs or {}).get("scorer")
    return with_source(found, ours, Source(found["sample"], next(iter(results), None), option, task.config.task))


def _as_refused(numbers_by_metric: Mapping[str, Any], measures: Measures) -> dict[str, Any]:
    """What a document has for each metric, once its record says that the server refused an answer."""
    record = {**numbers_by_metric["sample"], "status": "refused", "rule": "refusal"}
    refused = judged(record, measures)
    return {name: refused.get(name, number) for name, number in numbers_by_metric.items()}


def _declared(task: Any, name: str) -> Any:
    """The function of this name in the module that makes a task's prompts, or judges its answers; None without one."""
    for function in (task.config.doc_to_text, task.config.process_results):
        module = sys.modules.get(getattr(function, "__module__", ""))
        if hasattr(module, name):
            return getattr(module, name)
    return None


def complete(results: dict[str, Any], tasks: Mapping[str, Any], padded: Mapping[str, Collection[Any]]) -> None:
    """Complete what the harness's ``evaluate`` returned, in place: values, standard errors, scopes, signatures.

    `padded`: by task, the documents of which a picture was padded, because the model's processor refuses its shape.
    """
    for name, task in tasks.items():
        row, samples = results["results"].get(name, {}), results.get("samples", {}).get(name, [])
        evaluation = next((value.evaluation for value in row.values() if isinstance(value, Value)), None)
        found: dict[str, Any] = {"versions": package_versions(_PACKAGES), **_without_answers(name, evaluation, samples)}
        if name in padded:
            found["padded_pictures"] = sorted(padded[name])
        measures = [metric for metric, each in task.aggregation().items() if hasattr(each, "measures")]
        _complete_row(row, task, measures, evaluation)
        if evaluation:
            found |= facts(evaluation)
            if evaluation.estimates:
                found["measures"] = to_json(evaluation.estimates)
            if evaluation.repeats:
                found["repeats"] = evaluation.repeats
        elif measures:
            logger.error(
                f"figlang_tasks: {name}: its process_results returns no record under `sample`, of which "
                f"{', '.join(measures)} are made: let it return figlang_tasks.scoring.judged(record, MEASURES), or "
                "give the task file a metric_list of its own"
            )
            notes.note(f"{name}: no records, so that its metrics are missing, see the log")
        config = results["configs"][name]
        before = config.get("metadata") or {}
        config["metadata"] = {**before, **found} if isinstance(before, Mapping) else [*before, found]
        samples.sort(key=lambda sample: sample["doc_id"])  # of several processes it is one after the other
        samples[:] = [each for sample in samples for each in _of_each_answer(sample)]
        for sample in samples:
            _complete_sample(sample, evaluation)


def _complete_row(row: dict[str, Any], task: Any, measures: Sequence[str], evaluation: Evaluation | None) -> None:
    """Give a row of the table the values of our metrics, and leave out what has none, or is no metric of the task."""
    known = {f"{metric}{kind}": metric for metric in task.aggregation() for kind in _KINDS}
    for key in [key for key in row if "," in key]:
        name, _, of = key.rpartition(",")
        metric = known.get(name, "")
        own = evaluation.estimates.get(metric, {}).get(OVERALL) if evaluation and metric in measures else None
        if not metric or (metric in measures and own is None):
            del row[key]
        elif own is not None and name == metric:
            row[key] = float(own.value)
            row[f"{metric}_stderr,{of}"] = "N/A" if own.stderr is None else own.stderr


def _of_each_answer(sample: dict[str, Any]) -> list[dict[str, Any]]:
    """The samples of the several answers to a document; the sample itself where there is one answer."""
    if not isinstance(sample.get("sample"), Answers):
        return [sample]
    texts = sample["filtered_resps"][0]
    made = []
    for number in range(len(sample["sample"])):
        own = {name: value[number] if isinstance(value, Answers) else value for name, value in sample.items()}
        text = texts[number] if number < len(texts) else ""
        made.append({**own, "resps": [[text]], "filtered_resps": [text]})
        if number:  # the harness keeps those of the first
            made[-1]["token_counts"] = [None]
    return made


def _complete_sample(sample: dict[str, Any], evaluation: Evaluation | None) -> None:
    """Take from a sample what was for the aggregators, and what a server repeats of the keys that it was sent."""
    for name, value in list(sample.items()):
        if isinstance(value, Number):
            sample[name] = float(value)
        elif isinstance(value, Judged):
            if value.counts:
                sample[name] = None
            else:
                del sample[name]
    if evaluation and evaluation.scored and "sample" in sample:
        evaluation.scored.add_to([sample["sample"]])
    sample.update(redaction.without_secrets({field: value for field, value in sample.items() if field != "doc"}))


def _without_answers(name: str, evaluation: Evaluation | None, samples: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many requests got no answer, if any: the run has failed, whatever its numbers are; how many were refused."""
    from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded

    if is_budget_exceeded():
        notes.note("--max_tokens is spent: what was left got no answer and counts as wrong")
    outputs: list[tuple[Any, Any]] = []  # each with the row that it is of
    if evaluation:
        ids = [record["id"] for record in evaluation.records]
        outputs += zip(ids, evaluation.outputs, strict=True)
    else:
        outputs += [(sample["doc_id"], text) for sample in samples for text in sample["filtered_resps"]]

    counts: dict[str, int] = {}
    if refused := sum(notes.is_refusal(text) for _, text in outputs):
        logger.warning(f"figlang_tasks: {name}: {refused} answers were refused by the server and count as wrong")
        counts["refused"] = refused
    failed = [(row, text) for row, text in outputs if notes.is_no_answer(text)]
    if failed:
        row, text = failed[0]
        logger.error(
            f"figlang_tasks: {name}: {len(failed)} requests got no answer, that of row {row} for example: {text:.400}. "
            "They count as wrong answers. Repair the cause and type the same command again; with --use_cache FOLDER "
            "they alone are asked again"
        )
        notes.note(f"{name}: requests got no answer and count as wrong, see the log")
        counts["unanswered"] = len(failed)
    return counts
