"""Outputs that were not read, read in two ways or empty are named: on the screen, by compare and in the report.

That the report says so: tests/report/test_sections.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from commands import done
from demo_runs import Says, evaluate

from figlang_tasks.benchmarks.flute.measures import V2
from figlang_tasks.scoring import Measures
from figlang_tasks.scoring.evaluation import Source, with_source
from figlang_tasks.scoring.evaluation import evaluate as values
from figlang_tasks.scoring.explained import parse_rate
from figlang_tasks.scoring.notices import notices

UNREAD = "all its values rest on unread outputs: no answer was found in"
HELP = "the model's chat template (lm_eval: --apply_chat_template), a few-shot task, a larger model"


def row(number: int, predicted: int | None, careful: int | None, status: str = "read") -> dict[str, Any]:
    return {"id": f"r{number}", "predicted": predicted, "predicted_strict": careful, "status": status}


@pytest.mark.parametrize(
    ("rows", "outputs", "expected"),
    [
        ([(1, 1, "read")] * 10, ["Entails."] * 10, []),
        ([(None, None, "unreadable")] * 5 + [(1, 1, "read")] * 5, ["Hm."] * 10, []),  # half is read
        (
            [(None, None, "unreadable")] * 6 + [(1, 1, "read")] * 4,
            ["Hm.", "Hm.", "Two\nlines", "x" * 99, "Who knows?", "No label", *["Entails."] * 4],
            [f'{UNREAD} 6 of 10, such as "Hm.", "Two lines", "{"x" * 77}...". What may help: {HELP}'],
        ),
        ([(None, None, "unreadable")] * 3, [], [f"{UNREAD} 3 of 3. What may help: {HELP}"]),
        (
            [(None, None, "empty")] * 4,
            ["", " ", "", ""],
            [
                "4 of 4 answers are empty (rows r0, r1, r2, and 1 more)",
                f"{UNREAD} 4 of 4. What may help: {HELP}",
            ],
        ),
        (
            [(None, None, "empty")] + [(1, 1, "read")] * 3,
            ["<think>It may be A, or", *["<think>B?</think>Entails."] * 3],
            [
                "unfinished: 1 of 4 answers are a thought alone, with no answer after it (rows r0). Allow more tokens "
                "(--gen_kwargs max_new_tokens=4096), or turn thinking off"
            ],
        ),
        ([(None, 1, "unreadable")] * 3, [], [f"{UNREAD} 3 of 3. What may help: {HELP}"]),  # nothing of the readers
        ([(1, 0, "read"), *[(1, 1, "read")] * 9], ["Odd."] * 10, []),  # a tenth, not more
        (
            [(1, 0, "read"), (1, None, "read"), *[(1, 1, "read")] * 8],
            ["Not so. Entails.", "Entails?", *["Entails."] * 8],
            [
                "its values depend on the reader: the paper's rules and a careful reader differ in 2 of 10 outputs "
                '(parse_disagreement), such as "Not so. Entails.", "Entails?"'
            ],
        ),
    ],
)
def test_what_is_said_of_the_outputs_of_a_task(
    rows: list[tuple[int | None, int | None, str]], outputs: list[str], expected: list[str]
) -> None:
    records = [row(number, *each) for number, each in enumerate(rows)]
    for record, output in zip(records, outputs, strict=False):
        with_source({}, (), Source(record, output))
    assert notices(V2.by_name, records, outputs) == expected
    unfinished = values(records, Measures.of(parse_rate()), 0).get("unfinished", {})
    share = outputs.count("<think>It may be A, or") / len(records)
    assert {scope: estimate.value for scope, estimate in unfinished.items()} == ({"all": share} if share else {})


def test_screen_and_compare_say_which_values_rest_on_unread_outputs(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    task = "figlang_mini_flute"
    for name, words in (("a", "The weather is fine."), ("b", "")):
        evaluate(task, Says(words), saved=tmp_path / name, limit=12)
    unread = f'{UNREAD} 12 of 12, such as "The weather is fine.". What may help: {HELP}'
    assert [each for each in warnings_of_loguru if "unread" in each or "empty" in each] == [
        f"figlang_tasks: {task}: {unread}",
        f"figlang_tasks: {task}: 12 of 12 answers are empty (rows sarcasm-0-1d819c73, "
        "sarcasm-0-446e0337, sarcasm-1-cf9f3ee3, and 9 more)",
        f"figlang_tasks: {task}: {UNREAD} 12 of 12. What may help: {HELP}",
    ]
    runs = [f"{name}={tmp_path / name}" for name in ("a", "b")]
    top, _, rest = done("compare", *runs, "--resamples", 100).partition(f"## {task}")
    assert f"a, {task}: {unread}" in top and f"b, {task}: 12 of 12 answers are empty" in top
    assert "explanation scorer: embedded" in rest


def test_a_thought_that_holds_the_explanation_is_an_answer() -> None:
    output = "<reasoning>Snow is quiet.</reasoning>"
    for rule, is_unfinished in (("reasoning", False), ("thought", True)):
        record = row(0, 1, 1, "read") | {"rule": rule}
        with_source({}, (), Source(record, output))
        assert record.get("unfinished", False) == is_unfinished
