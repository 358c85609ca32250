"""From answers to results: each is judged, and what the harness made of all is completed at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loguru import logger

from figlang_tasks.answers.echo import without_echoes
from figlang_tasks.core import notes, redaction
from figlang_tasks.harness import versions
from figlang_tasks.scoring import OVERALL, Measures, to_json
from figlang_tasks.scoring.evaluation import Answers, Evaluation, Judged, Number, Source, Value, facts, with_source
from figlang_tasks.scoring.measure import REPEAT


def process_results(
    task: Any, original: Callable[..., Any], doc: Any, results: Sequence[Any], *args: Any, **kwargs: Any
) -> Any:
    """Judge the answer to a document, or the several answers of ``--repeats``, each with a record of its own."""
    if not (results and isinstance(results[0], list)):
        return _judged(task, original, doc, results, *args, **kwargs)
    texts = [*results[0], *[""] * (task.config.repeats - len(results[0]))]  # --max_tokens may be spent before the last
    found = [_judged(task, original, doc, [text], *args, **kwargs) for text in texts]
    ours = {name for name, value in found[0].items() if isinstance(value, Number | Judged)}
    for number, each in enumerate(found if ours else (), start=1):
        each["sample"][REPEAT] = number
    several = {name: Answers(each[name] for each in found) for name in [*ours, *(["sample"] if ours else [])]}
    return {**found[0], **several}


def _judged(
    task: Any, original: Callable[..., Any], doc: Any, results: Sequence[Any], *args: Any, **kwargs: Any
) -> Any:
    """Judge an answer, up to where it goes on with a next question.

    An error message of the harness counts as no answer, even if it contains "yes".
    """
    said = ["" if notes.is_no_answer(each) else each for each in results]
    found = original(doc, without_echoes(doc, said, task.doc_to_text), *args, **kwargs)
    ours = [name for name, aggregate in task.aggregation().items() if hasattr(aggregate, "measures")]
    if not isinstance(found.get("sample"), dict):  # of another process_results than ours
        return {name: value for name, value in found.items() if name not in ours}
    option = (task.lmms_eval_specific_kwargs or {}).get("scorer")
    return with_source(found, ours, Source(found["sample"], next(iter(results), None), option, task.config.task))


def complete(results: dict[str, Any], tasks: Mapping[str, Any], stderr: bool) -> None:
    """Complete what the harness's ``evaluate`` returned: standard errors, intervals, scopes, signatures.

    Args:
        results: changed in place.
        tasks: ours, by name.
        stderr: whether standard errors were asked for.
    """
    for name, task in tasks.items():
        row, samples = results["results"].get(name, {}), results.get("samples", {}).get(name, [])
        values = [value for value in row.values() if isinstance(value, Value)]
        evaluation = values[0].evaluation if values else None
        found: dict[str, Any] = {"versions": versions.recorded(), **_unanswered(name, evaluation, samples)}
        _complete_row(row, task, evaluation, stderr)
        if evaluation:
            found |= facts(evaluation)
            estimates = evaluation.estimates
            if not stderr:
                estimates = {
                    measure: {scope: estimate._replace(stderr=None) for scope, estimate in scopes.items()}
                    for measure, scopes in estimates.items()
                }
            if estimates:
                found["measures"] = to_json(estimates)
            if evaluation.repeats:
                found["repeats"] = evaluation.repeats
        elif not values:
            _tell_of_missing_records(name, task)
        config = results["configs"][name]
        before = config.get("metadata") or {}
        config["metadata"] = {**before, **found} if isinstance(before, Mapping) else [*before, found]
        samples.sort(key=lambda sample: sample["doc_id"])  # of several processes it is one after the other
        samples[:] = [each for sample in samples for each in _of_each_answer(sample)]
        for sample in samples:
            _complete_sample(sample, evaluation)
        # A server may repeat in its answer what it was sent.
        without_doc = [{field: sample[field] for field in sample if field != "doc"} for sample in samples]
        for sample, shown in zip(samples, redaction.without_secrets(without_doc), strict=True):
            sample.update(shown)


def _complete_row(row: dict[str, Any], task: Any, evaluation: Evaluation | None, stderr: bool) -> None:
    """Give a row of the table the metrics that have a value, in the order of the task file."""
    keys = [key for key in row if "," in key]
    filters = list(dict.fromkeys(key.rpartition(",")[2] for key in keys))
    given = {key: row.pop(key) for key in keys}
    for filter_key in filters:
        for metric in task.aggregation():
            key = f"{metric},{filter_key}"
            if key not in given:
                continue
            row[key], error = given[key], given.get(f"{metric}_stderr,{filter_key}", "N/A")
            if hasattr(task.aggregation()[metric], "measures"):
                own = evaluation.estimates.get(metric, {}).get(OVERALL) if evaluation else None
                if own is None:
                    del row[key]
                    continue
                row[key] = float(own.value)
                error = own.stderr if stderr and own.stderr is not None else "N/A"
            row[f"{metric}_stderr,{filter_key}"] = error
            for kind in ("_stderr_clt", "_stderr_clustered"):
                row[f"{metric}{kind},{filter_key}"] = given[f"{metric}{kind},{filter_key}"]


def _tell_of_missing_records(name: str, task: Any) -> None:
    measures: Measures | None = next(
        (found for each in task.aggregation().values() if (found := getattr(each, "measures", None))), None
    )
    if measures is not None:
        logger.error(
            f"figlang_tasks: {name}: its process_results returns no record under `sample`, of which "
            f"{', '.join(measures.by_name)} are made: let it return figlang_tasks.scoring.judged(record, MEASURES), "
            "or give the task file a metric_list of its own"
        )
        notes.note(f"{name}: no records, so that its metrics are missing, see the log")


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
    """Take from a sample what was for the aggregators."""
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


def _unanswered(name: str, evaluation: Evaluation | None, samples: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """How many requests got no answer, if any: the run has failed, whatever its numbers are."""
    from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded

    if is_budget_exceeded():
        notes.note("--max_tokens is spent: what was left got no answer and counts as wrong")
    outputs = evaluation.outputs if evaluation else [text for sample in samples for text in sample["filtered_resps"]]
    failed = [text for text in outputs if notes.is_no_answer(text)]
    if not failed:
        return {}
    logger.error(
        f"figlang_tasks: {name}: {len(failed)} requests got no answer: {failed[0]:.300}. They count as wrong answers. "
        "Repair the cause and type the same command again; with --use_cache FOLDER they alone are asked again"
    )
    notes.note(f"{name}: requests got no answer and count as wrong, see the log")
    return {"unanswered": len(failed)}
