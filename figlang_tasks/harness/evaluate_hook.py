"""What stands in for the harness's ``evaluate``: prepares our tasks, and completes their results.

lmms-eval 0.7.3 calls ``evaluate`` within ``simple_evaluate``, once the model and the tasks are
built; users of its Python interface may also call it themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from figlang_tasks.harness import identity
from figlang_tasks.harness.answer_store import Store
from figlang_tasks.harness.answers import Answers
from figlang_tasks.harness.completed_results import complete_results
from figlang_tasks.harness.harness_types import Arguments, HarnessTask, Original, Results
from figlang_tasks.harness.judgement import JudgedTask
from figlang_tasks.harness.simple_evaluate_hook import running_model
from figlang_tasks.harness.task_index import is_ours, tasks_of
from figlang_tasks.harness.task_metadata import complete_metadata
from figlang_tasks.harness.task_preparation import choose_prompts, prepare_requests

if TYPE_CHECKING:
    from lmms_eval.caching.response_cache import ResponseCache


def prepare_and_evaluate(original: Original, arguments: Arguments) -> Results | None:
    """Evaluate tasks: ours with our prompts, store, judgement and results, others as always.

    Returns what the harness does; None in all processes but the first.
    """
    lm = arguments["lm"]
    our_tasks: dict[str, HarnessTask] = {}
    other_tasks: dict[str, HarnessTask] = {}
    for name, task in tasks_of(arguments["task_dict"]):
        if is_ours(task.config.process_docs, task.config.process_results):
            our_tasks[name] = task
        else:
            other_tasks[name] = task
    if not our_tasks:
        return original(**arguments)

    identity.require_loaded(lm, running_model().checkpoints)
    # In this order: a prompt is chosen after the metadata, because it may change the prompt hash.
    for task in our_tasks.values():
        complete_metadata(task)
    choose_prompts(lm, our_tasks)
    for task in our_tasks.values():
        prepare_requests(task)

    store = running_model().store
    judged_tasks = [JudgedTask(task) for task in our_tasks.values()]
    try:
        with (
            _cache_of_others(store, other_tasks, arguments) as cache_of_others,
            closing(Answers(our_tasks, store, cache_of_others)) as answers,
        ):
            results: Results | None = original(**{**arguments, "response_cache": answers})
    finally:
        for judged_task in judged_tasks:
            judged_task.restore()
    if results is not None:  # None in all processes but the first
        for judged_task in judged_tasks:
            padded_documents = answers.padded_pictures.get(judged_task.name, ())
            complete_results(results, judged_task, padded_documents)
    return results


@contextmanager
def _cache_of_others(
    store: Store | None, tasks: Mapping[str, HarnessTask], arguments: Arguments
) -> Iterator[ResponseCache | None]:
    """The harness's own cache, for the tasks of others; None if they are not to have one.

    Args:
        store: the store of our answers. With it the harness has made no cache, so one is made here
            if there are tasks of others. Without it, this is the cache that the caller of
            ``evaluate`` has handed over, or None.
        tasks: those of others, by name.
        arguments: of ``evaluate``.
    """
    if store is None:
        yield arguments["response_cache"]
        return
    if not tasks:
        yield None
        return
    from lmms_eval.caching.response_cache import ResponseCache

    cache = ResponseCache.create(
        cache_root=store.folder_name,
        # lmms-eval 0.7.3 writes this into its files: the key is a digest, from which no secret
        # among the arguments of the model can be read.
        model=store.model,
        task_dict=dict(tasks),
        world_size=int(os.environ.get("WORLD_SIZE", 1)),
        global_rank=int(os.environ.get("RANK", 0)),
    )
    is_complete = False
    try:
        yield cache
        is_complete = True
    finally:
        # `simple_evaluate` of lmms-eval 0.7.3 finalizes the caches that it has made itself alone.
        cache.finalize(
            success=is_complete,
            dist_backend=arguments["distributed_executor_backend"],
            accelerator=getattr(arguments["lm"], "accelerator", None),
        )
