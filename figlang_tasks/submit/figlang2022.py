"""The file that the FigLang 2022 shared task takes (CodaLab competition 5908), from samples of ``flute_codalab``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from figlang_tasks.benchmarks.flute.rows import BLIND_ROWS, LABELS, blind_data
from figlang_tasks.core.errors import RunError
from figlang_tasks.core.text import listing
from figlang_tasks.results import samples
from figlang_tasks.scoring.records import BlindRecord
from figlang_tasks.submit import SubmissionError, write_checked

UPLOAD = "CodaLab, competition 5908 (FigLang 2022 shared task on understanding figurative language)"
_SPELLED = {number: label for label, number in LABELS.items()}


def write_submission(samples_path: Path, output_path: Path, *, fallback: str | None = None) -> int:
    """Write the submission: JSON lines of codalab_id, id, premise, hypothesis, predicted_label, model_explanation.

    Args:
        samples_path: what ``--log_samples`` wrote for ``flute_codalab``, in either harness.
        output_path: the file to write; replaced whole or not at all.
        fallback: ``Entailment`` or ``Contradiction`` for outputs without a label, which are an error otherwise: after
            an empty label the organisers' script gives rows the explanation scores of other rows, and this package does
            not guess.

    Returns:
        How many rows got the fallback.

    Raises:
        SubmissionError: the samples are not those of one whole run, their questions are not those that the run's
            digest of the blind file names, an output has no label, or the file cannot be written.
        ValueError: unknown fallback.
    """
    if fallback is not None and fallback not in LABELS:
        raise ValueError(f"fallback is {fallback!r}; valid: {', '.join(LABELS)}")
    try:
        found = samples.read(Path(samples_path))
        rows = _complete(found.path, samples.blind(found.path, found.lines))
    except RunError as error:
        raise SubmissionError(str(error)) from error
    unlabelled = [row for row in rows if row.predicted is None]
    if unlabelled and fallback is None:
        raise SubmissionError(
            f"{samples_path}: {len(unlabelled)} outputs have no label ({listing([row.id for row in unlabelled])}): "
            "evaluate them again, or give them a label (--fallback)"
        )
    submitted = [_line(row, fallback) for row in rows]

    def check(path: Path) -> None:
        if [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()] != submitted:
            raise SubmissionError(f"{output_path} does not read back as it was written")

    write_checked(Path(output_path), "".join(json.dumps(line) + "\n" for line in submitted).encode("ascii"), check)
    return len(unlabelled)


def _complete(path: Path, rows: list[BlindRecord]) -> list[BlindRecord]:
    """The rows in order, all there."""
    by_id: dict[int, BlindRecord] = {}
    for row in rows:
        if row.codalab_id in by_id:
            raise SubmissionError(f"{path}: codalab_id {row.codalab_id} occurs twice: does the file have several runs?")
        by_id[row.codalab_id] = row
    missing = sorted(set(range(BLIND_ROWS)) - set(by_id))
    if missing:
        raise SubmissionError(
            f"{path}: {len(missing)} of {BLIND_ROWS} rows are missing (codalab_id {listing(missing)}): "
            f"evaluate flute_codalab again without --limit"
        )
    if foreign := sorted(set(by_id) - set(range(BLIND_ROWS))):
        raise SubmissionError(
            f"{path}: codalab_id {foreign[0]} is not one of the shared task's (0 to {BLIND_ROWS - 1})"
        )
    ordered = [by_id[number] for number in sorted(by_id)]
    # The digest is over the blind file's rows, so that nothing else is needed to see whether one was changed.
    asked = [
        {"codalab_id": row.codalab_id, "id": row.source_id, "premise": row.premise, "hypothesis": row.hypothesis}
        for row in ordered
    ]
    if (digest := blind_data(asked)) != rows[0].data:
        raise SubmissionError(
            f"{path}: ids, premises and hypotheses differ from those of the run ({digest}, not {rows[0].data}): "
            "restore the file that the harness wrote"
        )
    return ordered


def _line(row: BlindRecord, fallback: str | None) -> dict[str, Any]:
    return {
        "codalab_id": row.codalab_id,
        "id": row.source_id,
        "premise": row.premise,
        "hypothesis": row.hypothesis,
        "predicted_label": fallback if row.predicted is None else _SPELLED[row.predicted],
        "model_explanation": row.explanation or "",
    }
