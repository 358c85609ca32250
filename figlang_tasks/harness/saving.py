"""Files that could not be written: the harness logs a warning, leaves half a file and goes on."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from loguru import logger

from figlang_tasks.core import notes, redaction

_written: list[Path] = []


def written() -> list[Path]:
    """Return the files that were written whole since the last call, the results first, and forget them."""
    found = list(_written)
    _written.clear()
    return found


def save_results(original: Callable[..., Any], tracker: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return original(tracker, *args, **kwargs)
    finally:  # also after an interrupt
        _check_written(tracker, "results.json", lambda path: isinstance(json.loads(path.read_bytes()), dict))


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
    folder = Path(tracker.output_path) / tracker.general_config_tracker.model_name_sanitized
    date = getattr(tracker, "date_id", None)  # none if the folder could not be made
    path = folder / (f"{date}_{name}" if date else name)
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
