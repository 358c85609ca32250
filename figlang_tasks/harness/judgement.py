"""From the answers of a task to its results: judged one by one, then all measures at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from loguru import logger

from figlang_tasks.answers.echo import without_echoes
from figlang_tasks.core import interrupts, notes, status
from figlang_tasks.core.text import whole_characters
from figlang_tasks.harness import versions
from figlang_tasks.harness.task_index import is_ours
from figlang_tasks.scoring import OVERALL, Estimate, Estimates, evaluate, explained, to_json
from figlang_tasks.scoring.evaluation import STDERR_RESAMPLES, evaluated, guarded
from figlang_tasks.scoring.explanations import OFF, Session, choose
from figlang_tasks.scoring.notices import notices

_UNANSWERED = "_figlang_tasks_unanswered"  # of a task: how many requests got no answer in this process
_COUNTING = threading.Lock()  # the harness judges the documents of a task in several threads


@contextmanager
def answering_in_texts(lm: Any, ours: Container[str]) -> Iterator[None]:
    """Stand around an evaluation: what any model class answers to the tasks `ours` is a text that can be stored.

    What is no text is a failed request. Half a surrogate pair, which JSON can spell and no file of UTF-8 holds, is
    U+FFFD.
    """
    from lmms_eval.api.instance import GenerationResult, unwrap_generation_output

    generate, own, halves = lm.generate_until, vars(lm).get("generate_until"), 0  # own: of the object, not its class

    def text_of(answer: Any) -> GenerationResult:
        nonlocal halves
        found, counts = (None, None) if answer is None else unwrap_generation_output(answer)
        text = notes.text_of(found)
        whole = whole_characters(text)
        halves += whole != text
        return GenerationResult(whole, counts)

    def generate_until(requests: Sequence[Any]) -> list[Any]:
        with interrupts.time_to_keep(0):  # also where others get time to wait for the first process
            answers = generate(requests)
        pairs = zip(requests, answers, strict=False)  # the harness takes what is too much for nothing too
        return [text_of(answer) if request.task_name in ours else answer for request, answer in pairs]

    lm.generate_until = generate_until
    try:
        yield
    finally:
        if own is None:
            del lm.generate_until
        else:
            lm.generate_until = own
        if halves:
            logger.warning(
                f"figlang_tasks: {halves} answers with half of a surrogate pair, which is no character: U+FFFD stands "
                "in its place"
            )


def process_results(
    task: Any, original: Callable[..., Any], doc: Any, results: Sequence[Any], *args: Any, **kwargs: Any
) -> Any:
    """Judge an answer, up to where it goes on with a next question.

    An error message of the harness counts as no answer, even if it contains "yes".

    The run has then failed, whatever its numbers are. Each process reports its own documents.
    """
    failed = [each for each in results if notes.is_no_answer(each)]
    if failed:
        with _COUNTING:
            before = getattr(task, _UNANSWERED, 0)
            setattr(task, _UNANSWERED, before + len(failed))
        if not before:
            logger.error(
                f"figlang_tasks: {task.config.task}: a request got no answer: {failed[0][:300]}. Such requests count "
                "as wrong answers. Repair the cause and type the same command again; with --use_cache FOLDER they "
                "alone are asked again"
            )
            notes.note(f"{task.config.task}: requests got no answer and count as wrong, see the log")
        results = ["" if notes.is_no_answer(each) else each for each in results]
    return original(doc, without_echoes(doc, results, task.doc_to_text), *args, **kwargs)


def aggregate_task(original: Callable[..., Any], task_output: Any, *args: Any, **kwargs: Any) -> Any:
    """Aggregate a task; of ours all measures at once, of the records that its documents left under ``sample``."""
    if not is_ours(task_output.task.config.process_docs):
        return original(task_output, *args, **kwargs)
    status.tell("computing the metrics and their intervals ...")
    try:
        estimates = _estimates(task_output, kwargs.get("bootstrap_iters", args[0] if args else STDERR_RESAMPLES))
    except Exception:  # a user's own process_results may return other records: no reason to lose a run
        logger.exception("figlang_tasks: the results could not be completed")
        notes.note("the results could not be completed, see the log")
        estimates = {}
    overall = {name: scopes[OVERALL] for name, scopes in estimates.items() if OVERALL in scopes}
    _complete(task_output, overall)
    _put_in_order(task_output)
    with evaluated({name: estimate.value for name, estimate in overall.items()}):
        result = original(task_output, *args, **kwargs)
    for name, filter_key in list(task_output.sample_metrics):
        if task_output.agg_metrics.get(f"{name},{filter_key}") is None:  # of a measure without a value
            del task_output.sample_metrics[name, filter_key]
            for suffix in ("", "_stderr"):
                task_output.agg_metrics.pop(f"{name}{suffix},{filter_key}", None)
        elif name in overall and overall[name].stderr is not None:
            task_output.agg_metrics[f"{name}_stderr,{filter_key}"] = overall[name].stderr
    _add_metadata(task_output, {"versions": versions.recorded(), **_unanswered(task_output)})
    if estimates:
        _add_metadata(task_output, {"measures": to_json(estimates)})
    return result


def _complete(task_output: Any, overall: Mapping[str, Estimate]) -> None:
    """Let the harness ask for every listed measure that has a value: a user's list may have more than ours return."""
    for name, filter_key in list(task_output.sample_metrics):
        if name == "sample":
            rows = len(task_output.sample_metrics[name, filter_key])
            for metric in task_output.task.config.metric_list or []:
                if metric["metric"] in overall:
                    task_output.sample_metrics.setdefault((metric["metric"], filter_key), [None] * rows)


def _estimates(task_output: Any, bootstrap_iters: int) -> Estimates:
    """All measures of a finished task; explanations are scored for them, and facts of the records become metadata."""
    named = [getattr(each.get("aggregation"), "measures", None) for each in task_output.task.config.metric_list or []]
    measures = next((found for found in named if found is not None), None)
    of_documents: Sequence[Any] = next(
        (own for (name, _), own in task_output.sample_metrics.items() if name == "sample"), ()
    )
    records = [record for record in of_documents if isinstance(record, dict)]
    if measures is None or not task_output.sample_metrics:
        return {}
    if not records:  # another process_results than ours
        names = ", ".join(measures.by_name)
        logger.error(
            f"figlang_tasks: {task_output.task_name}: its process_results returns no record under `sample`, of which "
            f"{names} are made: let it return figlang_tasks.scoring.judged(record, MEASURES), or give the task file a "
            f"metric_list of its own"
        )
        notes.note(f"{task_output.task_name}: no records, so that its metrics are missing, see the log")
        return {}
    samples = [sample for sample in task_output.logged_samples if isinstance(sample.get("sample"), dict)]
    logged = [sample["sample"] for sample in samples]
    option = (task_output.task.lmms_eval_specific_kwargs or {}).get("scorer")
    if scoring := score_task([*records, *logged], option):
        _add_metadata(task_output, {"explanation_scorer": scoring.provenance})
    for field, name in (("revision", "data_revision"), ("bleu", "bleu")):  # what a task file could not say
        if said := sorted({str(record[field]) for record in records if field in record}):
            _add_metadata(task_output, {name: ", ".join(said)})
    estimates = evaluate(records, measures, max(0, min(bootstrap_iters, STDERR_RESAMPLES)), guarded)
    outputs = [sample["filtered_resps"][0] for sample in samples]
    told: list[str] = guarded("parse_rate", lambda: notices(measures, logged or records, outputs), [])
    for notice in told:
        logger.warning(f"figlang_tasks: {task_output.task_name}: {notice}")
    return estimates


def score_task(records: Sequence[MutableMapping[str, Any]], option: str | Literal[False] | None) -> Session | None:
    """Score the explanations of a finished task and write the scores into its records; None if it has none.

    Args:
        records: of the task, each perhaps several times (the harness's metrics and its samples).
        option: the task's option `scorer`.
    """
    own = [record for record in records if explained.is_explained(record)]
    if not own:
        return None
    option = own[0].get("scorer") if option is None else option
    try:
        name = choose(option, explained.scheme_of(own[0]).scorer)
    except ValueError as error:  # preflight was not called
        logger.error(f"figlang_tasks: {error}; explanations are not scored")
        notes.note("explanations were not scored, see the log")
        name = OFF
    session = Session(name, own)
    session.add_to(own)
    if option in (OFF, False):
        for record in own:
            record["asks_for_explanation"] = False
    return session


def _add_metadata(task_output: Any, found: Mapping[str, Any]) -> None:
    """Add to what the results file holds under ``configs.<task>.metadata``."""
    metadata = task_output.task_config.get("metadata") or {}
    task_output.task_config["metadata"] = {**metadata, **found} if isinstance(metadata, Mapping) else [*metadata, found]


def _unanswered(task_output: Any) -> dict[str, int]:
    """How many requests got no answer, if any: of all processes with --log_samples, else of this one."""
    from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded

    if is_budget_exceeded():
        notes.note("--max_tokens is spent: what was left got no answer and counts as wrong")
    texts = (text for sample in task_output.logged_samples for text in sample["filtered_resps"])
    count = sum(map(notes.is_no_answer, texts)) or getattr(task_output.task, _UNANSWERED, 0)
    if count:
        logger.error(f"figlang_tasks: {task_output.task.config.task}: {count} requests got no answer")
    return {"unanswered": count} if count else {}


def _put_in_order(task_output: Any) -> None:
    """Put samples in the order of the documents and metrics in that of the task file, for any number of processes.

    The harness has samples process by process, and last the metrics that no document of the first process has.
    """
    task_output.logged_samples.sort(key=lambda sample: sample["doc_id"])
    places = {metric["metric"]: place for place, metric in enumerate(task_output.task.config.metric_list or [])}
    for key in sorted(task_output.sample_metrics, key=lambda key: places.get(key[0], len(places))):
        task_output.sample_metrics[key] = task_output.sample_metrics.pop(key)
