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


GOLD_AND_PREDICTED = {"id": "7", "claim": "c", "label": "a", "explanation": "b"}


@pytest.mark.parametrize(
    ("cells", "names", "message"),
    [
        (
            {**GOLD_AND_PREDICTED, "pred_label": "x", "pred_explanation": "y"},
            ColumnNames(),
            "has 'label' beside 'pred_label', 'pred_explanation', and one of them may be",
        ),
        (
            {"id": 1, "label": "a", "Gold Label": "b"},
            ColumnNames(),
            "name those of the model with --label COLUMN [--explanation COLUMN]",
        ),
        ({"label": "a", "gpt_hyp": "b"}, ColumnNames(), "has 'label' beside 'gpt_hyp'"),
        (
            {**GOLD_AND_PREDICTED, "pred_label": "x"},
            ColumnNames(label="pred_label"),
            "has 'explanation' beside 'label', and it may be the right explanation",
        ),
        (
            {"label": "a", "explanation": "b", "rationale": "c"},
            ColumnNames(),
            "has 'explanation' beside 'rationale'",
        ),
        ({"scores": [1], "words": "a"}, ColumnNames(explanation="words"), "name the label too"),
    ],
)
def test_labels_that_may_be_the_right_ones_are_refused(
    cells: dict[str, object], names: ColumnNames, message: str, tmp_path: Path
) -> None:
    with pytest.raises(RunError) as error:
        read(tmp_path, cells, names)
    assert message in str(error.value)


def test_labels_beside_what_a_dataset_has_are_taken(tmp_path: Path) -> None:
    cells = {**GOLD_AND_PREDICTED, "hypothesis": "c", "premise": "d"}
    assert read(tmp_path, cells).columns == {
        "id": "id",
        "label": "label",
        "explanation": "explanation",
    }


def test_labels_and_explanations_that_the_user_names_are_taken(tmp_path: Path) -> None:
    cells = {**GOLD_AND_PREDICTED, "pred_label": "x", "pred_explanation": "y"}
    names = ColumnNames(label="pred_label", explanation="pred_explanation")
    prediction = read(tmp_path, cells, names).predictions[0]
    assert (prediction.label, prediction.explanation) == ("x", "y")


@pytest.mark.parametrize(
    ("cells", "beside"),
    [
        ({"Index": 0, "Question": "q", "Answer": "a"}, "'Question'"),
        ({"id": 1, "answer": "a", "llm_pred": "b"}, "'llm_pred'"),
        ({"id": 1, "answer": "a", "scores": [1, 2]}, "scores"),
        ({"id": 1, "answer": "a", "score_1": 1}, "scores"),
    ],
)
def test_an_answer_that_may_be_the_right_one_is_refused(
    cells: dict[str, object], beside: str, tmp_path: Path
) -> None:
    assert f" beside {beside}, and no prediction" in refused_row(tmp_path, cells)
    answer = next(column for column in cells if column.lower() == "answer")
    assert read(tmp_path, cells, ColumnNames(output=answer)).predictions[0].output == "a"


def test_a_named_label_stands_beside_questions_and_answers(tmp_path: Path) -> None:
    cells = {"index": 0, "question": "q", "answer": "a", "said": "x"}
    assert read(tmp_path, cells, ColumnNames(label="said")).predictions[0].label == "x"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (ColumnNames(), "if prediction holds the label, give --label 'prediction'; if it holds"),
        (ColumnNames(explanation="explanation"), "has 'prediction' and 'explanation'"),
        (ColumnNames(output="prediction", explanation="explanation"), "Leave out --explanation"),
        (ColumnNames(output="prediction", label="id"), "Leave out --label"),
    ],
)
def test_an_explanation_beside_an_output_is_not_dropped(
    names: ColumnNames, message: str, tmp_path: Path
) -> None:
    cells = {"id": "7", "prediction": "entailment", "explanation": "b"}
    with pytest.raises(RunError) as error:
        read(tmp_path, cells, names)
    assert message in str(error.value)
    assert read(tmp_path, cells, ColumnNames(output="prediction")).content == "words"
    assert read(tmp_path, cells, ColumnNames(label="prediction")).predictions[0].explanation == "b"


@pytest.mark.parametrize("scores", [{"scores": [1, 2]}, {"score_1": 1, "score_2": 2}])
def test_a_label_that_the_user_names_stands_for_scores(
    scores: dict[str, object], tmp_path: Path
) -> None:
    cells = {"id": "7", "label": "entailment", **scores}
    assert read(tmp_path, cells).content == "scores"
    file = read(tmp_path, cells, ColumnNames(label="label"))
    assert (file.content, file.predictions[0].label) == ("labels", "entailment")


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('{"id": "7", "output": "a", "output": "b"}', "output"),
        ('{"id": "7", "output": "a", "more": [{"k": 1, "k": 2}]}', "k"),
    ],
)
def test_a_key_that_is_there_twice_in_a_line_is_named(line: str, key: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "6", "output": "a"}\n' + line)
    with pytest.raises(RunError, match=f"line 2 has '{key}' twice: rename or remove one"):
        read_table(path, ColumnNames())
