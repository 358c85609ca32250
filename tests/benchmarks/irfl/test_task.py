"""What IRFL asks, or how its answers are judged, is wrong if this fails."""

from __future__ import annotations

from typing import Any

import pytest
import run_and_check
from irfl_docs import ROTATIONS, choice_doc, pair_doc, scores

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import measures, rows, tasks
from figlang_tasks.core import notes
from figlang_tasks.scoring import evaluate, process_results

ORDINALS = ("first", "second", "third", "fourth")


# --- prompts ---


def test_ordinal_says_which_picture_has_which_letter_behind_all_pictures() -> None:
    doc = rows.load("figlang_mini_irfl", "idiom-detection-task")[0]
    [message] = tasks.doc_to_messages(doc, {"prompt": "ordinal"})
    assert [part["type"] for part in message["content"]] == ["image"] * 4 + ["text"]
    words = message["content"][-1]["text"]
    lines = [
        f"Image {letter}: the {name} image" for letter, name in zip("ABCD", ORDINALS, strict=True)
    ]
    assert words.splitlines()[2:6] == lines and "<image>" not in words
    # Beside the places of the pictures, both prompts ask the same.
    choose = tasks.doc_to_text(doc, {"prompt": "choose"}).splitlines()
    assert [line for line in words.splitlines() if line not in lines] == [
        c for c in choose if "<image>" not in c
    ]


def preflight(config: dict[str, Any], table: str) -> None:
    named = {"dataset_name": f"figlang_mini_irfl,table={table}"}
    run_and_check.preflight(named | {"lmms_eval_specific_kwargs": {"prompt": "match"}} | config)


RANKS, TURNS = "metaphor-retrieval-task", "idiom-detection-task"


@pytest.mark.parametrize(
    ("table", "limit", "offset", "message"),
    [
        (RANKS, 5, 0, f"{RANKS}-0 has 6 documents, .*Use --limit 6, or"),
        (RANKS, 9, 1, f"{RANKS}-0 has 6 documents, .*Use --limit 6, or"),
        (RANKS, 4, 7, f"{RANKS}-1 has 5 documents, .*Use --limit 5 --offset 6, or"),
        (f"{TURNS},rotations=true", 2, 0, f"{TURNS}-0 has 4 documents, .*Use --limit 4, or"),
    ],
)
def test_a_part_holds_a_whole_row(table: str, limit: int, offset: int, message: str) -> None:
    """The first rows have 6 and 5 images, or 4 rotations."""
    with pytest.raises(FigLangError, match=f"leave no complete row: {message}"):
        preflight({"limit": limit, "offset": offset}, table)
    preflight({"limit": 6, "offset": 0}, table)


# --- judging ---


def test_an_answer_in_words() -> None:
    judged = process_results(choice_doc(), ["The answer is (B)."])
    assert (judged["acc"], judged["parse_rate"]) == (1.0, 1.0)
    assert judged["literal_preference"] is None and judged["tie_rate"] is None
    assert (judged["sample"]["chosen"], judged["sample"]["scores"]) == (1, None)
    assert judged["sample"]["unit"] == choice_doc()["phrase"], (
        "rows of one phrase are not independent"
    )
    for output, place in (
        ("The top-left image", 0),
        ("D (bottom right)", 3),
        ("the top image", None),
    ):
        assert tasks.grid_process_results(choice_doc(), [output])["sample"]["chosen"] == place
    assert process_results(choice_doc(), ["The top right image."])["parse_rate"] == 0, (
        "of several none is there"
    )


@pytest.mark.parametrize(
    ("output", "chosen", "literal"),
    [("A", 0, 1), ("C", 2, 1), ("D", 3, 0)]
    + [
        (unread, None, None)
        for unread in ("", "A or B", "E", '{"scores": [NaN, 1, 2, 3]}', '{"scores": [1, 2]}')
    ],
)
def test_a_failure_says_whether_it_was_literal(
    output: str, chosen: int | None, literal: int | None
) -> None:
    judged = process_results(choice_doc(), [output])
    assert (judged["acc"], judged["parse_rate"], judged["sample"]["chosen"]) == (
        0,
        chosen is not None,
        chosen,
    )
    assert judged["literal_preference"] == literal


def test_a_tie_at_the_top_is_wrong_and_chose_nothing() -> None:
    values = (0, 7, 0, 7)
    judged = tasks.match_process_results(choice_doc(), scores(*values))
    assert (judged["acc"], judged["tie_rate"], judged["parse_rate"]) == (0.0, 1.0, 1.0)
    assert judged["literal_preference"] is None
    record = judged["sample"]
    assert (record["chosen"], record["scores"]) == (None, list(values))
    assert (record["status"], record["rule"]) == ("scores", "argmax")
    turn = process_results(choice_doc(request=ROTATIONS, id="x-rotation0"), scores(*values))
    assert (turn["parse_rate"], turn["acc"]) == (1.0, 0.0)
    assert not [
        name for name in evaluate([turn["sample"]], measures.CIRCULAR) if name.startswith("share_")
    ]


def test_match_does_not_take_words(warnings_of_loguru: list[str]) -> None:
    notes.take_failures()
    for _ in range(2):
        judged = tasks.match_process_results(choice_doc(), ["B"])
    numbers = {
        name: number for name, number in judged.items() if name != "sample" and number is not None
    }
    assert numbers == {"parse_rate": 0.0} and judged["sample"]["status"] == "no_scores"
    assert len([each for each in warnings_of_loguru if "figlang_clip" in each]) == 1
    assert notes.take_failures() == [
        "irfl_match: answers without matching scores have no accuracy, see the log"
    ]


def test_retrieval_by_score_and_in_words() -> None:
    def value(output: list[str], positive: bool) -> tuple[float, float]:
        judged = process_results(pair_doc(positive), output)
        return judged["sample"]["value"], judged["parse_rate"]

    assert value(scores(0.25), True) == (0.25, 1.0)
    assert value(scores(-1.0), True) == (-1.0, 1.0)
    assert value(["Yes."], False) == (1.0, 1.0)
    assert value(["No, it does not."], True) == (0.0, 1.0)
    assert value(["The image visualizes the figurative meaning of the idiom."], True) == (1.0, 1.0)
    assert value(["The image does not visualize the figurative meaning."], False) == (0.0, 1.0)
    for unread in (
        "The picture conveys the literal meaning.",
        "The idiom has the figurative meaning of being busy.",
    ):
        assert value([unread], True) == (-1.0, 0.0)
    assert value(["perhaps"], True) == (-1.0, 0.0)
    assert value(["perhaps"], False) == (2.0, 0.0)
