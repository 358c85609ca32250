"""Prompts and judgement of IRFL's tasks: if this fails, a model is asked something else, or its
answer is judged wrongly.
"""

from __future__ import annotations

from typing import Any

import pytest
import tasks_without_harness
from irfl_release import ROTATIONS, choice_doc, pair_doc, scores

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import measures, rows, tasks
from figlang_tasks.core import notes
from figlang_tasks.scoring import evaluate, process_results

IMAGE_NAMES = [
    "Image A: the first image",
    "Image B: the second image",
    "Image C: the third image",
    "Image D: the fourth image",
]


# --- prompts ---


def test_ordinal_says_which_picture_has_which_letter_behind_all_pictures() -> None:
    doc = rows.load("figlang_mini_irfl", "idiom-detection-task")[0]
    [message] = tasks.doc_to_messages(doc, {"prompt": "ordinal"})
    assert [part["type"] for part in message["content"]] == ["image"] * 4 + ["text"]
    text = message["content"][-1]["text"]
    assert text.splitlines()[2:6] == IMAGE_NAMES
    assert "<image>" not in text


def test_ordinal_and_choose_ask_the_same_beside_the_names_of_the_images() -> None:
    doc = rows.load("figlang_mini_irfl", "idiom-detection-task")[0]
    ordinal_lines = tasks.doc_to_text(doc, {"prompt": "ordinal"}).splitlines()
    choose_lines = tasks.doc_to_text(doc, {"prompt": "choose"}).splitlines()
    ordinal_question = [line for line in ordinal_lines if line not in IMAGE_NAMES]
    choose_question = [line for line in choose_lines if "<image>" not in line]
    assert ordinal_question == choose_question


# --- preflight ---

RETRIEVAL = "metaphor-retrieval-task"  # its first rows have 6 and 5 images
DETECTION = "idiom-detection-task"  # its rows have 4 rotations


def preflight(table: str, limit: int, offset: int) -> None:
    """Check a task on a table before a run with ``--limit`` and ``--offset``."""
    tasks_without_harness.check_task(
        {
            "dataset_name": f"figlang_mini_irfl,table={table}",
            "lmms_eval_specific_kwargs": {"prompt": "match"},
            "limit": limit,
            "offset": offset,
        }
    )


@pytest.mark.parametrize(
    ("table", "limit", "offset", "message"),
    [
        (RETRIEVAL, 5, 0, f"{RETRIEVAL}-0 has 6 documents, .*Use --limit 6, or"),
        (RETRIEVAL, 9, 1, f"{RETRIEVAL}-0 has 6 documents, .*Use --limit 6, or"),
        (RETRIEVAL, 4, 7, f"{RETRIEVAL}-1 has 5 documents, .*Use --limit 5 --offset 6, or"),
        (f"{DETECTION},rotations=true", 2, 0, f"{DETECTION}-0 has 4 documents, .*Use --limit 4, o"),
    ],
)
def test_a_limit_that_leaves_no_complete_row_is_refused(
    table: str, limit: int, offset: int, message: str
) -> None:
    with pytest.raises(FigLangError, match=f"leave no complete row: {message}"):
        preflight(table, limit, offset)


@pytest.mark.parametrize("table", [RETRIEVAL, f"{DETECTION},rotations=true"])
def test_a_limit_that_leaves_a_complete_row_is_accepted(table: str) -> None:
    preflight(table, limit=6, offset=0)


# --- the judgement of a choice ---


def test_a_choice_in_words_has_no_scores_and_no_tie() -> None:
    values = process_results(choice_doc(), ["The answer is (B)."])
    record = values["sample"]
    assert (values["acc"], values["parse_rate"]) == (1.0, 1.0)
    assert values["literal_preference"] is None
    assert values["tie_rate"] is None
    assert (record["chosen"], record["scores"]) == (1, None)


def test_rows_of_one_phrase_are_one_unit() -> None:
    record = process_results(choice_doc(), ["B"])["sample"]
    assert record["unit"] == choice_doc()["phrase"]


@pytest.mark.parametrize(
    ("output", "chosen_index"),
    [("The top-left image", 0), ("D (bottom right)", 3), ("the top image", None)],
)
def test_an_image_of_a_grid_may_be_named_by_its_place(
    output: str, chosen_index: int | None
) -> None:
    record = tasks.grid_process_results(choice_doc(), [output])["sample"]
    assert record["chosen"] == chosen_index


def test_an_image_that_stands_apart_has_no_place() -> None:
    assert process_results(choice_doc(), ["The top right image."])["parse_rate"] == 0


@pytest.mark.parametrize(
    ("output", "chosen_index", "is_literal"),
    [
        ("A", 0, 1),  # the source concept
        ("C", 2, 1),  # the target concept
        ("D", 3, 0),  # a random image
        ("", None, None),
        ("A or B", None, None),
        ("E", None, None),
        ('{"scores": [NaN, 1, 2, 3]}', None, None),
        ('{"scores": [1, 2]}', None, None),
    ],
)
def test_a_wrong_choice_is_literal_or_not_and_no_choice_is_neither(
    output: str, chosen_index: int | None, is_literal: int | None
) -> None:
    values = process_results(choice_doc(), [output])
    assert values["sample"]["chosen"] == chosen_index
    assert values["acc"] == 0
    assert values["parse_rate"] == (chosen_index is not None)
    assert values["literal_preference"] == is_literal


def test_a_tie_of_the_highest_scores_chooses_nothing_and_is_wrong() -> None:
    values = tasks.match_process_results(choice_doc(), scores(0, 7, 0, 7))
    assert (values["acc"], values["tie_rate"], values["parse_rate"]) == (0.0, 1.0, 1.0)
    assert values["literal_preference"] is None
    record = values["sample"]
    assert (record["chosen"], record["scores"]) == (None, [0, 7, 0, 7])
    assert (record["status"], record["rule"]) == ("scores", "argmax")


def test_a_tie_counts_for_no_letter() -> None:
    doc = choice_doc(request=ROTATIONS, id="x-rotation0")
    values = process_results(doc, scores(0, 7, 0, 7))
    assert (values["parse_rate"], values["acc"]) == (1.0, 0.0)
    estimates = evaluate([values["sample"]], measures.CIRCULAR)
    assert not [metric for metric in estimates if metric.startswith("share_")]


def test_matching_gives_words_no_accuracy_and_the_run_fails(warnings_of_loguru: list[str]) -> None:
    notes.take_failures()  # forgets the failures of other tests
    for _ in range(2):
        values = tasks.match_process_results(choice_doc(), ["B"])
    record = values.pop("sample")
    numbers = {metric: number for metric, number in values.items() if number is not None}
    assert numbers == {"parse_rate": 0.0}
    assert record["status"] == "no_scores"
    assert len([warning for warning in warnings_of_loguru if "figlang_clip" in warning]) == 1
    failure = "irfl_match: answers without matching scores have no accuracy, see the log"
    assert notes.take_failures() == [failure]


# --- the judgement of an image of a ranking ---


@pytest.mark.parametrize(
    ("output", "positive", "value", "parse_rate"),
    [
        (scores(0.25), True, 0.25, 1.0),
        (scores(-1.0), True, -1.0, 1.0),
        (["Yes."], False, 1.0, 1.0),
        (["No, it does not."], True, 0.0, 1.0),
        (["The image visualizes the figurative meaning of the idiom."], True, 1.0, 1.0),
        (["The image does not visualize the figurative meaning."], False, 0.0, 1.0),
        # What was not read goes against the model.
        (["The picture conveys the literal meaning."], True, -1.0, 0.0),
        (["The idiom has the figurative meaning of being busy."], True, -1.0, 0.0),
        (["perhaps"], True, -1.0, 0.0),
        (["perhaps"], False, 2.0, 0.0),
    ],
)
def test_an_image_is_ranked_by_its_score_or_by_yes_and_no(
    output: list[str], positive: bool, value: float, parse_rate: float
) -> None:
    values: dict[str, Any] = process_results(pair_doc(positive), output)
    assert (values["sample"]["value"], values["parse_rate"]) == (value, parse_rate)
