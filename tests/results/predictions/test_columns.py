"""Columns of tables of predictions: which are taken for what, and which are not guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from figlang_tasks.core.errors import RunError
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile
from figlang_tasks.results.predictions.tables import read_table


def read(
    folder: Path, cells: Mapping[str, object], names: ColumnNames | None = None
) -> PredictionFile:
    """Read a table of one row."""
    path = folder / "answers.jsonl"
    path.write_text(json.dumps(cells))
    return read_table(path, names or ColumnNames())


def refused_row(folder: Path, cells: Mapping[str, object]) -> str:
    with pytest.raises(RunError) as error:
        read(folder, cells)
    return str(error.value)


@pytest.mark.parametrize("name", ["id", "sample_id", "question_id", "doc_id", " ID "])
@pytest.mark.parametrize("output", ["output", "prediction", "response", "completion", "answer"])
def test_usual_names_are_found(name: str, output: str, tmp_path: Path) -> None:
    file = read(tmp_path, {name: "7", output: "yes"})
    assert file.columns == {"id": name, "output": output}
    assert (file.predictions[0].id, file.predictions[0].output) == ("7", "yes")


def test_the_first_name_that_is_there_counts(tmp_path: Path) -> None:
    file = read(tmp_path, {"id": "7", "answer": "right", "response": "said"})
    assert file.predictions[0].output == "said"


def test_a_label_that_the_user_names_stands_for_words(tmp_path: Path) -> None:
    file = read(
        tmp_path, {"id": "7", "output": "said", "label": "entailment"}, ColumnNames(label="label")
    )
    assert (file.content, file.predictions[0].label) == ("labels", "entailment")


def test_a_column_that_is_not_there_is_named_with_one_that_is(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="has no column 'outptu' \\(did you mean `output`"):
        read(tmp_path, {"id": "7", "output": "yes"}, ColumnNames(output="outptu"))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"output": "a", "Output": "b"}, "'output', 'Output', which all may be the output"),
        ({"id": 1, "ID": 2, "output": "a"}, "'id', 'ID', which all may be the id"),
        ({"label": "a", "predicted": "b"}, "label, predicted, and one of them may be the right"),
        ({"score_1": 1, "score_3": 2}, "numbered from 1 without a gap"),
        ({"score_1": 1, "SCORE_1": 2}, "numbered from 1 without a gap"),
        ({"id;output": "a;b"}, "separated by semicolons: save it with commas"),
        ({"id": "a"}, "name your column with --output, or --label"),
        ({"output": "a" * (1 << 24) + "b"}, "line 1: output has 16,777,217 characters"),
        ({"output": ["a", "b"]}, "line 1: output is ['a', 'b'], must be a text"),
        ({"scores": [1, 10**400]}, "line 1: scores are"),
        ({"scores": "[0.1, NaN]"}, "line 1: scores are '[0.1, NaN]', must be a JSON list"),
        ({"scores": [True]}, "line 1: scores are [True], must be a JSON list"),
        ({"scores": None}, "line 1: scores are None, must be a JSON list"),
    ],
)
def test_what_may_mean_two_things_or_nothing_is_refused(
    cells: dict[str, object], message: str, tmp_path: Path
) -> None:
    assert message in refused_row(tmp_path, cells)


@pytest.mark.parametrize(
    ("written", "number"),
    [("12", 12), ("12.0", 12), (12, 12), (12.0, 12), ("1.5", None), ("-1", None), ("", None)],
)
def test_row_numbers_are_whole(written: object, number: int | None, tmp_path: Path) -> None:
    assert read(tmp_path, {"index": written, "output": "a"}).predictions[0].row_number == number


@pytest.mark.parametrize("written", ["", "  ", None])
def test_an_empty_id_is_none(written: object, tmp_path: Path) -> None:
    assert read(tmp_path, {"id": written, "output": "a"}).predictions[0].id is None
