"""`evaluate`: an evaluation that a script starts, saved like the command's."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from figlang_tasks.core import notes, redaction
from figlang_tasks.core.errors import FigLangError, RunError
from figlang_tasks.harness.command_in_python import evaluate_and_save, text_of_pairs
from figlang_tasks.results import runs
from figlang_tasks.results.task_run import Run


def evaluate(
    model: str,
    model_args: str | Mapping[str, Any] | None,
    tasks: str | Sequence[str],
    output: str | os.PathLike[str] | None = None,
    *,
    limit: float | None = None,
    batch_size: int | str | None = None,
    device: str | None = None,
    gen_kwargs: str | Mapping[str, Any] | None = None,
    repeats: int | None = None,
    use_cache: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Run | None:
    """Check, evaluate and save as ``lmms_eval --log_samples --output_path OUTPUT`` does.

    Args:
        model: the name of a model class, ``figlang_vlm``.
        model_args: its arguments, ``pretrained=ORG/NAME`` or ``{"pretrained": "ORG/NAME"}``.
        tasks: the names of tasks or groups.
        output: the folder for the files; None saves nothing (`Run.save` can, later).
        limit: how many rows of each task, or a share below 1; default all.
        batch_size: how many prompts the model gets at once; default 1.
        device: ``cuda:0``, ``cpu``, ...; default what the class chooses.
        gen_kwargs: settings of generation, as text or by name.
        repeats: how many answers to each row; default 1.
        use_cache: the folder that keeps answers, so that no row is asked twice.
        options: other long options of ``lmms_eval``, such as ``include_path`` or ``seed``.

    Returns:
        The run. With ``torchrun`` or ``accelerate``, None in all processes but the first.

    Raises:
        DataError: the data of a task is missing.
        FigLangError: a name or an option is wrong, the model cannot do the tasks, or the files
            could not be written.

    Warns:
        RuntimeWarning: the run is saved, but a metric failed or requests got no answer.

    Examples:
        >>> import figlang_tasks
        >>> run = figlang_tasks.evaluate(
        ...     "figlang_random", None, "figlang_mini_irfl_detect_idiom", limit=4
        ... )
        >>> run.tasks["figlang_mini_irfl_detect_idiom"].rows
        4
    """
    if not model or not isinstance(model, str):
        raise FigLangError("figlang_tasks: model must be the name of a model class: figlang_vlm")
    task_names = [tasks] if isinstance(tasks, str) else list(tasks)
    if not task_names:
        raise FigLangError("figlang_tasks: name a task (`figlang tasks '*'` lists ours)")
    with ExitStack() as stack:
        if output is None:
            output = stack.enter_context(tempfile.TemporaryDirectory(prefix="figlang-"))
        notes.take_failures()  # of what this process has evaluated before
        tracker = evaluate_and_save(
            {
                "model": model,
                "model_args": text_of_pairs("model_args", model_args),
                "tasks": ",".join(task_names),
                "output_path": os.fspath(output),
                "log_samples": True,
                "limit": limit,
                "batch_size": batch_size,
                "device": device,
                "gen_kwargs": text_of_pairs("gen_kwargs", gen_kwargs),
                "repeats": repeats,
                "use_cache": None if use_cache is None else os.fspath(use_cache),
                **options,
            }
        )
        failures = [redaction.redacted(failure) for failure in notes.take_failures()]
        if tracker is None:
            _warn_of_failures(failures, "")
            return None
        results_files = [path for path in tracker.written if path.suffix == ".json"]
        if not results_files:
            raise RunError("\n".join(["figlang_tasks: the run could not be saved", *failures]))
        _warn_of_failures(failures, f" (the run is saved to {results_files[0].parent})")
        return runs.read(str(results_files[0]))


def _warn_of_failures(failures: Sequence[str], where: str) -> None:
    """Warn the caller of `evaluate` of what failed, if anything did.

    Args:
        failures: a sentence for each.
        where: where the files are, behind the sentences; "" if this process has none.
    """
    if failures:
        warnings.warn(f"figlang_tasks: {'; '.join(failures)}{where}", RuntimeWarning, stacklevel=3)
