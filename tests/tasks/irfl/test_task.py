"""Prompts, judging and measures of IRFL, without a model."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import pytest
import run_and_check

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import measures, rows, task
from figlang_tasks.core import notes, score_requests
from figlang_tasks.scoring import Estimate, Measures, evaluate

LETTERS = rows.LETTERS
ORDINALS = ("first", "second", "third", "fourth")


SHARED = {"dataset": "figlang_mini_irfl", "phrase": "He is a fox", "definitions": [], "type": "figurative"}


def choice_doc(**changed: Any) -> dict[str, Any]:
    doc = {
        "data": "figlang_mini_irfl/simile-detection-task@package:0",
        "id": "simile-detection-task-0",
        "row": "simile-detection-task-0",
        "figurative_type": "simile",
        "candidates": ["1", "2", "3", "4"],
        "roles": ["source", "answer", "target", "random"],
        "answer": 1,
    }
    return SHARED | doc | changed


def pair_doc(positive: bool, place: int = 0, images: int = 2, row: str = "r0", **changed: Any) -> dict[str, Any]:
    doc = {
        "data": "figlang_mini_irfl/metaphor-retrieval-task@package:0",
        "id": f"{row}-{place}",
        "row": row,
        "figurative_type": "metaphor",
        "candidates": [str(place)],
        "role": "answer" if positive else "literal",
        "positive": positive,
        "images": images,
    }
    return SHARED | doc | changed


def scores(*values: float) -> list[str]:
    return [score_requests.answer(values)]


# --- prompts ---


def test_ordinal_says_which_picture_has_which_letter_behind_all_pictures() -> None:
    doc = rows.load("figlang_mini_irfl", "idiom-detection-task")[0]
    [message] = task.doc_to_messages(doc, {"prompt": "ordinal"})
    assert [part["type"] for part in message["content"]] == ["image"] * 4 + ["text"]
    words = message["content"][-1]["text"]
    lines = [f"Image {letter}: the {name} image" for letter, name in zip("ABCD", ORDINALS, strict=True)]
    assert words.splitlines()[2:6] == lines and "<image>" not in words
    # Beside the places of the pictures, both prompts ask the same.
    choose = task.doc_to_text(doc, {"prompt": "choose"}).splitlines()
    assert [line for line in words.splitlines() if line not in lines] == [c for c in choose if "<image>" not in c]


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


def order(doc: dict[str, Any], *values: float) -> list[float | None]:
    """Of matching scores: whether the figurative image is above the source's, and that above the target's."""
    record = task.match_process_results(doc, scores(*values))["sample"]
    both = (measures.DETECT.by_name[name].each for name in ("figurative_over_source", "source_over_target"))
    return [each(record) for each in both if each]


def test_an_answer_in_words() -> None:
    judged = task.process_results(choice_doc(), ["The answer is (B)."])
    assert (judged["acc"], judged["parse_rate"]) == (1.0, 1.0)
    assert "literal_preference" not in judged and "tie_rate" not in judged
    assert (judged["sample"]["chosen"], judged["sample"]["scores"]) == (1, None)
    assert judged["sample"]["unit"] == choice_doc()["phrase"], "rows of one phrase are not independent"
    for output, place in (("The top-left image", 0), ("D (bottom right)", 3), ("the top image", None)):
        assert task.grid_process_results(choice_doc(), [output])["sample"]["chosen"] == place
    assert task.process_results(choice_doc(), ["The top right image."])["parse_rate"] == 0, "of several none is there"


@pytest.mark.parametrize(
    ("output", "chosen", "literal"),
    [("A", 0, 1), ("C", 2, 1), ("D", 3, 0)]
    + [(unread, None, None) for unread in ("", "A or B", "E", '{"scores": [NaN, 1, 2, 3]}', '{"scores": [1, 2]}')],
)
def test_a_failure_says_whether_it_was_literal(output: str, chosen: int | None, literal: int | None) -> None:
    judged = task.process_results(choice_doc(), [output])
    assert (judged["acc"], judged["parse_rate"], judged["sample"]["chosen"]) == (0, chosen is not None, chosen)
    assert judged.get("literal_preference") == literal


def test_a_tie_at_the_top_is_wrong_and_chose_nothing() -> None:
    values = (0, 7, 0, 7)
    judged = task.match_process_results(choice_doc(), scores(*values))
    assert (judged["acc"], judged["tie_rate"], judged["parse_rate"]) == (0.0, 1.0, 1.0)
    assert "literal_preference" not in judged
    record = judged["sample"]
    assert (record["chosen"], record["scores"]) == (None, list(values))
    assert (record["status"], record["rule"]) == ("scores", "argmax")
    turn = task.process_results(choice_doc(id="x-rotation0"), scores(*values))
    assert (turn["parse_rate"], turn["acc"]) == (1.0, 0.0)
    assert not [name for name in found([turn["sample"]], measures.CIRCULAR) if name.startswith("share_")]


def test_the_order_of_a_simile_needs_three_roles() -> None:
    assert order(choice_doc(), 0.1, 0.4, 0.2, 0.3) == order(choice_doc(), 3, 4, 3, 0) == [1, 0]
    assert order(choice_doc(), 0.5, 0.4, 0.2, 0.3) == order(choice_doc(), 3, 3, 1, 0) == [0, 1]
    roles = ["answer", "source", "target"]
    assert order(choice_doc(candidates=["1", "2", "3"], roles=roles, answer=0), 3, 2, 1) == [1, 1]
    assert order(choice_doc(roles=[*roles[:2], "random", "random"]), 3, 2, 1, 0) == [None, None]


def test_match_does_not_take_words(warnings_of_loguru: list[str]) -> None:
    task._report_no_scores.cache_clear()
    notes.noted()
    for _ in range(2):
        judged = task.match_process_results(choice_doc(), ["B"])
    assert set(judged) == {"sample", "parse_rate"}
    assert (judged["parse_rate"], judged["sample"]["status"]) == (0.0, "no_scores")
    assert len([each for each in warnings_of_loguru if "figlang_clip" in each]) == 1
    assert notes.noted() == ["irfl_match: answers without matching scores have no accuracy, see the log"]


def test_retrieval_by_score_and_in_words() -> None:
    def value(output: list[str], positive: bool) -> tuple[float, float]:
        judged = task.retrieve_process_results(pair_doc(positive), output)
        return judged["sample"]["value"], judged["parse_rate"]

    assert value(scores(0.25), True) == (0.25, 1.0)
    assert value(scores(-1.0), True) == (-1.0, 1.0)
    assert value(["Yes."], False) == (1.0, 1.0)
    assert value(["No, it does not."], True) == (0.0, 1.0)
    assert value(["The image visualizes the figurative meaning of the idiom."], True) == (1.0, 1.0)
    assert value(["The image does not visualize the figurative meaning."], False) == (0.0, 1.0)
    for unread in ("The picture conveys the literal meaning.", "The idiom has the figurative meaning of being busy."):
        assert value([unread], True) == (-1.0, 0.0)
    assert value(["perhaps"], True) == (-1.0, 0.0)
    assert value(["perhaps"], False) == (2.0, 0.0)


# --- measures ---

Records = list[dict[str, Any]]


def found(records: Records, of: Measures) -> dict[str, Estimate]:
    """All measures of all records, as a run has them."""
    return {name: scopes["all"] for name, scopes in evaluate(records, of, 1000, in_run=True).items()}


def ranked(*table: Sequence[tuple[bool, float]], **changed: Any) -> Records:
    """Records of rows given as (positive, score) of each image."""
    return [
        task.retrieve_process_results(
            pair_doc(positive, place, len(row), f"r{number}", **{"phrase": f"phrase {number}"} | changed), scores(value)
        )["sample"]
        for number, row in enumerate(table)
        for place, (positive, value) in enumerate(row)
    ]


def turns(*table: str) -> Records:
    """Records of rows given by what was answered in each rotation, whose answers stand at A, B, C, D."""
    return [
        task.process_results(
            choice_doc(id=f"r{number}-rotation{turn}", row=f"r{number}", phrase=f"phrase {number}", answer=turn), [said]
        )["sample"]
        for number, row in enumerate(table)
        for turn, said in enumerate(row)
    ]


HIT, MISS, TIE = [[(True, 0.9), (False, 0.1)], [(True, 0.1), (False, 0.9)], [(True, 0.5), (False, 0.5)]]
ONE_OF_THREE = [(True, 0.9), (True, 0.2), (True, 0.1), (False, 0.8), (False, 0.7)]  # k = 3, one found (by hand)


@pytest.mark.parametrize(
    ("of", "records", "expected"),
    [
        (
            measures.RETRIEVE,
            ranked(HIT, ONE_OF_THREE),
            {"p@k": 2 / 3, "expected_p@k": 2 / 3, "pooled_p@k": 2 / 4, "tie_rate": 0, "parse_rate": 1},
        ),
        (measures.RETRIEVE, ranked(HIT, MISS, phrase="one phrase"), {"p@k": 0.5}),  # are ranked apart
        (measures.RETRIEVE, ranked(TIE, HIT), {"p@k": 0.5, "expected_p@k": 0.75, "tie_rate": 0.5}),  # against the model
        (
            measures.CIRCULAR,
            turns("ABCD", "AAAA", "AB??"),
            {
                "acc": 7 / 12,
                "all_rotations_acc": 1 / 3,
                **{"share_A": 6 / 10, "share_B": 2 / 10, "share_C": 1 / 10, "share_D": 1 / 10},
                "parse_rate": 10 / 12,
            },
        ),
        (
            measures.RANDOM,
            [task.process_results(choice_doc(data="IRFL/random4-simile@0123:4567"), ["A"])["sample"]],
            {"acc": 0, "parse_rate": 1},
        ),
    ],
)
def test_values(of: Measures, records: Records, expected: dict[str, float], warnings_of_loguru: list[str]) -> None:
    assert measures.of_records(records) is of
    values = {name: estimate.value for name, estimate in found(records, of).items()}
    assert {name: values[name] for name in expected} == pytest.approx(expected)
    random.Random(0).shuffle(records)
    assert {name: estimate.value for name, estimate in found(records, of).items()} == values
    assert warnings_of_loguru == []


@pytest.mark.parametrize("kind", ["idiom", "simile", "open-simile"])
def test_idioms_alone_are_told_apart_by_type(kind: str) -> None:
    changed = {"data": f"IRFL/{kind}-detection-task@0123:4567", "type": "figurative_literal"}
    record = task.process_results(choice_doc(**changed), ["B"])["sample"]
    for records, of, name in (([record], measures.DETECT, "acc"), (ranked(HIT, **changed), measures.RETRIEVE, "p@k")):
        scopes = evaluate(records, of)[name]
        assert list(scopes) == (["all", "figurative_literal"] if kind == "idiom" else ["all"])


CUT = "rows are not complete (--limit?) and left out of"
NONE_WHOLE = "could not be computed: no row is complete (--limit?)"


@pytest.mark.parametrize(
    ("of", "records", "metric", "value", "warning"),
    [
        (measures.RETRIEVE, ranked(HIT, MISS)[:3], "p@k", 1.0, f"1 of 2 {CUT} p@k"),
        (measures.RETRIEVE, ranked(HIT)[:1], "p@k", None, f"1 of 1 {CUT} p@k"),
        (measures.CIRCULAR, turns("ABCD", "AB"), "all_rotations_acc", 1.0, f"1 of 2 {CUT} all_rotations_acc"),
        (measures.CIRCULAR, turns("AB"), "all_rotations_acc", None, f"1 of 1 {CUT} all_rotations_acc"),
    ],
)
def test_rows_cut_by_a_limit_are_left_out(
    of: Measures, records: Records, metric: str, value: float | None, warning: str, warnings_of_loguru: list[str]
) -> None:
    """It is told once, not by each scope, and in a run alone; where nothing is left, the run has failed."""
    notes.noted()
    records = [record | {"data": "IRFL/idiom-retrieval-task@0123:4567"} for record in records]
    estimates = found(records, of)
    assert warnings_of_loguru == [f"figlang_tasks: {warning}"]
    assert notes.noted() == ([f"{metric} {NONE_WHOLE}"] if value is None else [])
    assert (estimates[metric].value if metric in estimates else None) == value
    assert "parse_rate" in estimates
    if value is None and of is measures.RETRIEVE:
        assert set(estimates) == {"parse_rate"}
    evaluate(records, of)
    assert len(warnings_of_loguru) == 1 and not notes.noted()
