"""If these fail, a row of IRFL's board has other numbers than the runs, or is of half a run."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path

import commands
import pytest
from saved_runs import (
    DETECTION_ROWS,
    IRFL_REVISION,
    RETRIEVAL_ROWS,
    detection_records,
    retrieval_records,
    write_irfl_samples,
)

from figlang_tasks.results import runs
from figlang_tasks.submit import SubmissionError, irfl

RIGHT_ROWS: dict[str, Collection[int]] = {
    "idiom": {*range(100), *range(180, 1000)},
    "metaphor": range(0, 1000, 3),
    "open_simile": range(100),
    "simile": range(1, 1000),
}
"""The numbers of the rows that the run is right about, by the kind of phrase."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of all of irfl_match."""
    for phrase, right_rows in RIGHT_ROWS.items():
        records = detection_records(phrase, right_rows.__contains__)
        write_irfl_samples(tmp_path / "run", f"irfl_match_{phrase}", records)
    return tmp_path / "run"


def all_right(number: int) -> bool:
    """That a row has a right answer, whatever its number."""
    return True


def no_hit(number: int) -> int:
    """The hits of a row of retrieval: none, whatever its number."""
    return 0


def one_hit(number: int) -> int:
    """The hits of a row of retrieval: one, whatever its number."""
    return 1


def two_hits(number: int) -> int:
    """The hits of a row of retrieval: both images, whatever its number."""
    return 2


def one_hit_in_odd_rows(number: int) -> int:
    """The hits of a row of retrieval: one if its number is odd, else none."""
    return number % 2


def one_or_two_hits(number: int) -> int:
    """The hits of a row of retrieval: two if its number is odd, else one."""
    return 1 + number % 2


def email(*folders: Path) -> str:
    """The e-mail with the rows of some runs."""
    return irfl.email([runs.read(str(folder)) for folder in folders])


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in a text, without the head and the column of the model."""
    return [line[1:] for line in commands.cells(text)[2::3]]


def refused(match: str, *folders: Path) -> None:
    """Check that runs are refused with this message."""
    with pytest.raises(SubmissionError, match=match):
        email(*folders)


def test_the_row_counts_the_rows(folder: Path) -> None:
    # 100 of 131, 20 of 69, 111 of 333, 100 of 277, 276 of 277
    assert rows(email(folder)) == [["76.3", "29.0", "33.3", "36.1", "99.6"]]
    data = f"all rows of the four detection tables, IRFL revision {IRFL_REVISION};"
    assert f"matching scores; {data}" in email(folder)


def test_retrieval_stands_below_where_all_of_it_was_run(folder: Path) -> None:
    hits_by_phrase: dict[str, Callable[[int], int]] = {
        "idiom": one_or_two_hits,
        "metaphor": no_hit,
        "open_simile": one_hit_in_odd_rows,
        "simile": two_hits,
    }
    for phrase, hits in hits_by_phrase.items():
        assert len(rows(email(folder))) == 1
        write_irfl_samples(folder, f"irfl_retrieve_{phrase}", retrieval_records(phrase, hits))
    assert rows(email(folder))[1] == ["100.0", "50.0", "0.0", "25.0", "100.0"]


def test_the_command_prints_the_email(folder: Path) -> None:
    text = commands.done("submit", "irfl", f"cmd|'x'\x1b={folder}")
    assert "IRFL leaderboard" in text.splitlines()[0]
    assert "\x1b" not in text
    assert r"| cmd\|'x'  |" in text


def test_a_row_is_of_one_family(folder: Path) -> None:
    for phrase in DETECTION_ROWS:
        records = detection_records(phrase, all_right)
        write_irfl_samples(folder, f"irfl_detect_{phrase}_grid", records)
    message = (
        "the runs have tasks of irfl_match and irfl_detect_grid, but a row is of one of irfl_m"
    )
    assert message in commands.refused("submit", "irfl", folder)
    files = sorted(folder.glob("*_grid.jsonl"))
    assert rows(email(*files)) == [["100.0"] * 5]
    lack = "lack irfl_detect_metaphor_grid: a row needs all of irfl_detect_grid"
    refused(lack, files[0], *files[2:])
    retrieval_alone = folder / "other"
    records = retrieval_records("simile", two_hits)
    write_irfl_samples(retrieval_alone, "irfl_retrieve_simile", records)
    refused("the runs have tasks of other benchmarks or prompts, but", retrieval_alone)


def test_tasks_may_lie_in_several_runs_of_one_model(folder: Path, tmp_path: Path) -> None:
    metaphors = move_metaphors(folder, tmp_path)
    assert rows(email(folder, metaphors))[0][2] == "33.3"
    results = {"model_source": "hf", "config": {"model_args": "pretrained=b,api_key=abc123"}}
    (metaphors / "2026-01-02T03-04-05_results.json").write_text(json.dumps(results))
    refused(r"several models \(.*pretrained=b,api_key=\[REDACTED\]\)", folder, metaphors)


def move_metaphors(run: Path, parent: Path) -> Path:
    """Move the samples of irfl_match_metaphor to a run of their own, and return its folder."""
    (samples,) = run.glob("*match_metaphor*")
    (parent / "other").mkdir()
    samples.rename(parent / "other" / samples.name)
    return parent / "other"


@pytest.mark.parametrize(
    ("other_run", "are_one_model"),
    [
        ({"model_source": "hf", "config": {"model_args": "pretrained=org/a"}}, True),
        # Of the same class
        ({"model_source": "hf", "config": {"model_args": "pretrained=org/b"}}, False),
        ({"model_source": "vllm", "config": {"model_args": "pretrained=org/a"}}, False),
        ({"model_source": "hf"}, False),
    ],
)
def test_two_checkpoints_of_one_class_are_two_models(
    other_run: dict[str, object], are_one_model: bool, folder: Path, tmp_path: Path
) -> None:
    metaphors = move_metaphors(folder, tmp_path)
    first_run = {"model_source": "hf", "config": {"model_args": "pretrained=org/a"}}
    for run, results in ((folder, first_run), (metaphors, other_run)):
        (run / "2026-01-02T03-04-05_results.json").write_text(json.dumps(results))
    if are_one_model:
        assert len(rows(email(folder, metaphors))) == 1
    else:
        refused("the runs are of several models", folder, metaphors)


def test_samples_that_lack_rows_or_scores_are_refused(folder: Path) -> None:
    lines = detection_records("idiom", all_right)
    write_irfl_samples(folder, "irfl_match_idiom", lines[2:])
    refused("198 of the 200 rows of idiom-detection-task: evaluate all rows", folder)
    for phrase in RETRIEVAL_ROWS:
        images = retrieval_records(phrase, one_hit)
        if phrase == "simile":
            del images[0]
        write_irfl_samples(folder, f"irfl_retrieve_{phrase}", images)
    write_irfl_samples(folder, "irfl_match_idiom", lines)
    refused("141 of the 142 rows of simile-retrieval-task: evaluate all", folder)
    unscored, *_ = lines
    unscored["scores"] = None
    write_irfl_samples(folder, "irfl_match_idiom", lines)
    refused(f"1 rows have no matching scores .{unscored['id']}.: use a", folder)


def test_all_revisions_of_the_tables_are_named(folder: Path) -> None:
    for number, phrase in enumerate(DETECTION_ROWS):
        records = detection_records(phrase, all_right)
        for record in records:
            record["data"] = record["data"].replace("@0", "@" + "9321"[number])
        write_irfl_samples(folder, f"irfl_match_{phrase}", records)
    revisions = ", ".join(first_digit + IRFL_REVISION[1:] for first_digit in "1239")
    assert f"IRFL revision {revisions};" in email(folder)
