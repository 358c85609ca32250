"""Files that could not be written: the harness logs a warning, leaves half a file and goes on."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core import notes, redaction
from figlang_tasks.core.errors import FigLangError

_written: list[Path] = []


def written() -> list[Path]:
    """Return the files that were written whole since the last call, the results first, and forget them."""
    found = list(_written)
    _written.clear()
    return found


def check_folder(option: str, given: str, folder: Path, files: Sequence[Path] = ()) -> None:
    """Write to a folder, or to the one it will be made in, before a model is loaded.

    Args:
        option, given: what names it on the command line.
        files: those that will be added to, if they are there.

    Raises:
        FigLangError: it cannot be written to, or there is no room for 64 KiB.
    """
    where = folder
    try:
        while not where.exists():
            where = where.parent
        with tempfile.TemporaryFile(dir=where) as file:
            file.write(bytes(1 << 16))
            file.flush()
            os.fsync(file.fileno())
        for where in files:
            if where.exists():
                where.open("ab").close()
    except OSError as error:
        raise FigLangError(
            f"figlang_tasks: {option} {given}: {error.strerror}: {where}. Name a folder that can be written to and has "
            "room"
        ) from error


def save_results(original: Callable[..., Any], tracker: Any, *args: Any, **kwargs: Any) -> Any:
    given = inspect.signature(original).bind(tracker, *args, **kwargs)
    if tracker.output_path:
        given.arguments["datetime_str"] = _free(tracker, given.arguments["datetime_str"])
    try:
        return original(*given.args, **given.kwargs)
    finally:  # also after an interrupt
        _check_written(tracker, "results.json", lambda path: isinstance(json.loads(path.read_bytes()), dict))


def _free(tracker: Any, date: str) -> str:
    """The date of a run, which its files are named by; with a number if they would replace another run's."""
    date = date.replace(":", "-")  # as the harness does
    dates = itertools.chain([date], (f"{date}-{number}" for number in itertools.count(2)))
    return next(each for each in dates if not os.path.exists(_folder(tracker) / f"{each}_results.json"))


def _folder(tracker: Any) -> Path:
    return Path(tracker.output_path) / tracker.general_config_tracker.model_name_sanitized


def save_samples(original: Callable[..., Any], tracker: Any, *args: Any, **kwargs: Any) -> Any:
    bound = inspect.signature(original).bind(tracker, *args, **kwargs).arguments
    samples = bound["samples"]
    # A server may repeat in its answer what it was sent.
    shown = redaction.without_secrets([{name: sample[name] for name in sample if name != "doc"} for sample in samples])
    for sample, fields in zip(samples, shown, strict=True):
        sample.update(fields)
    lines = len(samples)  # at least: a run of the same second adds to the file
    try:
        return original(tracker, *args, **kwargs)
    finally:
        _check_written(tracker, f"samples_{bound['task_name']}.jsonl", lambda path: _whole_lines(path) >= lines)


def _whole_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(line.endswith(b"\n") for line in file)


def _check_written(tracker: Any, name: str, is_whole: Callable[[Path], bool]) -> None:
    """Rename an incomplete file, so that nothing reads it, and note the failure."""
    if not tracker.output_path:
        return
    date = getattr(tracker, "date_id", None)  # none if the folder could not be made
    path = _folder(tracker) / (f"{date}_{name}" if date else name)
    try:
        if is_whole(path):
            _written.append(path)
            return
        reason = "no space left, or a limit of file sizes?"
    except (OSError, ValueError) as error:
        reason = str(error)
    kept = ""
    if path.exists():
        part = path.with_name(f"{path.name}.partial")
        path.replace(part)
        kept = f"; what could be written is in {part.name}"
    message = (
        f"{path} could not be written whole ({reason}){kept}. Make room and run the same command again "
        f"(with --use_cache no answer is computed twice)"
    )
    logger.error(f"figlang_tasks: {message}")
    notes.note(message)
