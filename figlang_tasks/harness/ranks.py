"""The processes of a run (``torchrun``, ``accelerate launch``) score explanations together.

The harness computes metrics in the first process, while the others wait for it at a barrier. So a barrier is where they
help: before they enter it, each executes what the first one orders, until that one comes to the barrier too.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from figlang_tasks.core import interrupts
from figlang_tasks.scoring import explanations

if TYPE_CHECKING:  # they import torch
    from figlang_tasks.metrics.explanation.scorers import Share
    from figlang_tasks.metrics.explanation.sharing import Sharing

_evaluations = 0  # of this process, as of all others
_inside = False
_sharing: Sharing | None = None  # of the evaluation that runs


def share(scorer: str) -> Share | None:
    """How all processes score with the scorer `scorer`; None where there is but one."""
    found = _of_this_evaluation()
    return None if found is None else functools.partial(found.lead, scorer)


@contextmanager
def scoring_together() -> Iterator[None]:
    """Stand around an evaluation, in every process of it."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    global _evaluations, _inside, _sharing
    from torch import distributed

    wait = distributed.barrier

    def help_and_wait(group: Any = None, async_op: bool = False, *args: Any, **kwargs: Any) -> Any:
        if group is None and not async_op:
            _before_barrier()
        return wait(group, async_op, *args, **kwargs)

    _evaluations += 1
    _inside = True
    setattr(distributed, "barrier", help_and_wait)  # noqa: B010
    try:
        yield
    except BaseException:
        with suppress(Exception):
            if distributed.is_initialized() and distributed.get_rank() == 0:
                _before_barrier()  # the others come to their barrier, and see that this process is gone
        raise
    finally:
        setattr(distributed, "barrier", wait)  # noqa: B010
        _inside, _sharing = False, None


def _of_this_evaluation() -> Sharing | None:
    """None outside of one, and before the harness has connected the processes."""
    global _sharing
    from torch import distributed

    if _sharing is None and _inside and distributed.is_initialized():
        from torch.distributed.distributed_c10d import _get_default_store

        from figlang_tasks.metrics.explanation.sharing import Sharing

        store = distributed.PrefixStore(f"figlang_tasks/{_evaluations}", _get_default_store())
        _sharing = Sharing(store, distributed.get_rank())
    return _sharing


def _before_barrier() -> None:
    """Let the others go if this is the first process; else do what it orders until it lets this one go."""
    sharing = _of_this_evaluation()
    if sharing is None:
        return
    if sharing.process == 0:
        sharing.dismiss()
        return
    while (scorer := sharing.order()) is not None:
        # After an interrupt the first process writes its results, for which it needs the others at its next barrier.
        with interrupts.time_to_keep(explanations.TIME_TO_WRITE):
            sharing.help(functools.partial(_models, scorer))


def _models(scorer: str) -> Sequence[Any]:
    return explanations.scorer(scorer).models
