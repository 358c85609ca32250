"""The row of IRFL's leaderboard, from runs with as many rows as the release has."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import commands
import pytest
from irfl_runs import REVISION, ROWS, ROWS_OF_RETRIEVAL, Lines, detection, retrieval, write
from results_files import measures_of

from figlang_tasks.core.errors import RunError
from figlang_tasks.results import runs
from figlang_tasks.submit import SubmissionError, irfl


def write_results(folder: Path, results: dict[str, Any]) -> None:
    (folder / "2026-01-02T03-04-05_results.json").write_text(json.dumps(results))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of all of irfl_match."""
    rights: dict[str, Callable[[int], bool]] = {
        "idiom": lambda number: number < 100 or number >= 180,
        "metaphor": lambda number: number % 3 == 0,
        "open_simile": lambda number: number < 100,
        "simile": lambda number: number != 0,
    }
    for phrase, right in rights.items():
        write(tmp_path / "run", f"irfl_match_{phrase}", detection(phrase, right))
    return tmp_path / "run"


def row(*folders: Path, family: str | None = None) -> irfl.BoardRow:
    return irfl.row(runs.read_all([str(folder) for folder in folders]), family)


def test_the_row_counts_the_rows(folder: Path) -> None:
    found = row(folder)
    assert found.detection == {
        "Idiom-Figurative": 100 / 131,
        "Idiom-Figurative-Literal": 20 / 69,
        "Metaphor": 111 / 333,
        "Open Simile": 100 / 277,
        "Closed Simile": 276 / 277,
    }
    assert (found.family, found.retrieval, found.revision) == ("match", None, REVISION)


def test_retrieval_stands_below_where_all_of_it_was_run(folder: Path) -> None:
    hits: dict[str, Callable[[int], int]] = {
        "idiom": lambda number: 2 if number % 2 else 1,
        "metaphor": lambda number: 0,
        "open_simile": lambda number: number % 2,
        "simile": lambda number: 2,
    }
    for phrase, found in hits.items():
        assert row(folder).retrieval is None
        write(folder, f"irfl_retrieve_{phrase}", retrieval(phrase, found))
    assert irfl.as_email(row(folder)).partition("precision@k:")[2].count("25.0") == 1
    assert row(folder).retrieval == {
        "Idiom-Figurative": 1.0,
        "Idiom-Figurative-Literal": 0.5,
        "Metaphor": 0.0,
        "Open Simile": 0.25,
        "Closed Simile": 1.0,
    }


def test_the_email_has_the_row_in_percent(folder: Path) -> None:
    text = commands.done("submit", "irfl", f"cmd|'x'\x1b={folder}")
    assert "\x1b" not in text and REVISION in text and "matching scores" in text
    places = [text.index(percent) for percent in ("76.3", "29.0", "33.3", "36.1", "99.6")]
    assert places == sorted(places)
    assert r"| cmd\|'x'  |" in text and "IRFL leaderboard" in text.splitlines()[0]


def test_one_family_is_named_where_there_are_two(folder: Path) -> None:
    for phrase in ROWS:
        write(folder, f"irfl_detect_{phrase}_grid", detection(phrase, lambda number: True))
    with pytest.raises(SubmissionError, match="the runs have match and detect_grid, .* choose it with --family"):
        row(folder)
    assert row(folder, family="detect_grid").detection == dict.fromkeys(irfl.COLUMNS, 1.0)
    assert row(folder, family="match").detection["Metaphor"] == pytest.approx(1 / 3)
    told = commands.refused("submit", "irfl", folder, "--family", "detect")
    assert told.startswith("figlang submit irfl: no task of irfl_detect in the runs: lmms_eval --tasks irfl_detect")


def test_tasks_may_lie_in_several_runs_of_one_model(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (moved,) = folder.glob("*match_metaphor*")
    moved.rename(other / moved.name)
    with pytest.raises(SubmissionError, match="the runs lack irfl_match_metaphor: a row needs all of irfl_match"):
        row(folder)
    assert row(folder, other).detection["Metaphor"] == pytest.approx(1 / 3)
    write_results(other, {"model_source": "hf", "config": {"model_args": "pretrained=b,api_key=abc123"}})
    with pytest.raises(SubmissionError, match=r"several models \(.*pretrained=b,api_key=\[REDACTED\]\)"):
        row(folder, other)
    write(other, "irfl_match_simile", detection("simile", lambda number: True))
    write_results(other, {})
    with pytest.raises(SubmissionError, match="irfl_match_simile is in .* and in .*: give one run"):
        row(folder, other)


def change(lines: Lines, **values: Any) -> Lines:
    lines[5] |= values
    return lines


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda lines: lines[:-2],
            r"198 rows, idiom-detection-task has 200 \(missing: idiom-detection-task-198, idiom-",
        ),
        (lambda lines: change(lines, row="x-1"), "missing: idiom-detection-task-5; not in it: x-1"),
        (lambda lines: change(lines, scores=None), "1 rows have no matching scores .idiom-detection-task-5.: use a"),
        (lambda lines: [{**each, "data": f"IRFL/x@{REVISION}:0"} for each in lines], "rows of IRFL/x@0.*not of IRFL's"),
        (lambda lines: [{**each, "data": "figlang_mini_irfl/x@package:0"} for each in lines], "not of IRFL's release"),
    ],
)
def test_what_is_wrong_with_the_samples(damage: Callable[[Lines], Lines], message: str, folder: Path) -> None:
    write(folder, "irfl_match_idiom", damage(detection("idiom", lambda number: True)))
    with pytest.raises(SubmissionError, match=message):
        row(folder)


def test_the_tables_are_of_one_revision(folder: Path) -> None:
    for number, phrase in enumerate(ROWS):
        lines = detection(phrase, lambda number: True)
        write(
            folder,
            f"irfl_match_{phrase}",
            [{**each, "data": each["data"].replace("@0", "@" + "9321"[number])} for each in lines],
        )
    told = ", ".join(start + REVISION[1:] for start in "1239")
    with pytest.raises(SubmissionError, match=rf"several revisions of IRFL \({told}\): evaluate them on one"):
        row(folder)


def test_rows_and_results_must_agree(folder: Path) -> None:
    for small, agree in ((1e-12, True), (2e-6, False), (-2e-6, False)):  # one row of 277 makes .0036
        measures = measures_of({"acc": 276 / 277 + small})
        write_results(folder, {"configs": {"irfl_match_simile": {"metadata": {"measures": measures}}}})
        with nullcontext() if agree else pytest.raises(RunError, match=r"says acc 0.99\d* \(its samples: 0.996390\)"):
            row(folder)


def test_a_retrieval_row_without_all_its_images(folder: Path) -> None:
    for phrase in ROWS_OF_RETRIEVAL:
        lines = retrieval(phrase, lambda number: 1)
        write(folder, f"irfl_retrieve_{phrase}", lines[1:] if phrase == "simile" else lines)
    with pytest.raises(SubmissionError, match="row simile-retrieval-task-0 has 4 of 5 images"):
        row(folder)
