"""Users are not warned of unread, disputed or empty outputs if these tests fail.

That the report warns of them too: tests/report/test_sections.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from commands import done
from demo_runs import FixedAnswers, evaluate

from figlang_tasks.benchmarks.flute.measures import V2
from figlang_tasks.core.benchmark import Benchmark
from figlang_tasks.scoring import Measures, parse_rate
from figlang_tasks.scoring import evaluate as evaluate_records
from figlang_tasks.scoring.output_warnings import output_warnings
from figlang_tasks.scoring.task_evaluation import JudgedAnswer

NOTHING = "these scores say nothing about the model"
HELP = (
    "The model's chat template (lm_eval: --apply_chat_template), a few-shot task or a larger model"
    " may help"
)
READ = "`figlang judge read RUN` has a language model read them"


def row(
    number: int, predicted: int | None, careful: int | None, status: str = "read"
) -> dict[str, Any]:
    """The record of a row: the label by the paper's rules, and by a careful reader."""
    return {
        "task": "flute",
        "request": "FLUTE,part=train",
        "id": f"r{number}",
        "predicted": predicted,
        "predicted_strict": careful,
        "status": status,
    }


@pytest.mark.parametrize(
    ("rows", "outputs", "expected"),
    [
        ([(1, 1, "read")] * 10, ["Entails."] * 10, []),
        # a twentieth, not more
        ([(None, None, "unreadable")] + [(1, 1, "read")] * 19, ["Hm."] * 20, []),
        (
            [(None, None, "unreadable")] * 2 + [(1, 1, "read")] * 18,
            ["Hm."] * 20,
            [
                "The score is a lower bound: 2 of 20 answers could not be read and count as wrong"
                f' (2 unreadable; for example "Hm."). {READ}'
            ],
        ),
        (
            [(None, None, "unreadable")] * 5 + [(1, 1, "read")] * 5,  # half is read
            [],
            [
                "The score is a lower bound: 5 of 10 answers could not be read and count as wrong"
                f" (5 unreadable). {READ}"
            ],
        ),
        (
            [
                (None, None, "refused"),
                (None, None, "ambiguous"),
                (None, None, "ambiguous"),
                (None, None, "out_of_range"),
                (None, None, "empty"),
                *[(1, 1, "read")] * 15,
            ],
            ["I cannot.", "A or B", "A/B", "Z", "", *["Entails."] * 15],
            [
                "1 of 20 answers are empty (rows r4)",
                (
                    "The score is a lower bound: 5 of 20 answers could not be read and count as"
                    ' wrong (2 ambiguous, 1 empty, 1 out of range, 1 refused; for example "I'
                    f' cannot.", "A or B", "A/B"). {READ}'
                ),
            ],
        ),
        (
            [(None, None, "missing")] * 2 + [(1, 1, "read")] * 8,  # no words that could be read
            ["[LMMS_EVAL_REQUEST_FAILED] no server"] * 2,
            ["2 of 10 answers are empty (rows r0, r1)"],
        ),
        ([(None, None, "unreadable")] + [(1, 1, "scores")] * 19, [], []),
        ([(None, None, "scores")] * 10, [], []),  # all tied
        (
            [(None, None, "unreadable")] * 6 + [(1, 1, "read")] * 4,
            ["Hm.", "Hm.", "Two\nlines", "x" * 99, "Who knows?", "No label", *["Entails."] * 4],
            [
                'No answer could be read in 6 of 10 outputs (for example "Hm.", "Two lines",'
                f' "{"x" * 77}..."): {NOTHING}. {READ}. {HELP}'
            ],
        ),
        (
            [(None, None, "unreadable")] * 3,
            [],
            [f"No answer could be read in 3 of 3 outputs: {NOTHING}. {READ}. {HELP}"],
        ),
        (
            [(None, None, "empty")] * 4,
            ["", " ", "", ""],
            [
                "4 of 4 answers are empty (rows r0, r1, r2, and 1 more)",
                f"No answer could be read in 4 of 4 outputs: {NOTHING}. {HELP}",
            ],
        ),
        (
            [(None, None, "empty")] + [(1, 1, "read")] * 3,
            ["<think>It may be A, or", *["<think>B?</think>Entails."] * 3],
            [
                "unfinished: 1 of 4 answers are a thought alone, with no answer after it (rows r0)."
                " Allow more tokens (--gen_kwargs max_new_tokens=4096), or turn thinking off"
            ],
        ),
        (
            [(None, 1, "unreadable")] * 3,  # no word about readers that differ
            [],
            [f"No answer could be read in 3 of 3 outputs: {NOTHING}. {READ}. {HELP}"],
        ),
        ([(1, 0, "read"), *[(1, 1, "read")] * 9], ["Odd."] * 10, []),  # a tenth, not more
        (
            [(1, 0, "read"), (1, None, "read"), *[(1, 1, "read")] * 8],
            ["Not so. Entails.", "Entails?", *["Entails."] * 8],
            [
                "its values depend on the reader: the paper's rules and a careful reader differ in"
                ' 2 of 10 outputs (parse_disagreement), such as "Not so. Entails.", "Entails?"'
            ],
        ),
    ],
)
def test_warnings_about_the_outputs_of_a_task(
    rows: list[tuple[int | None, int | None, str]], outputs: list[str], expected: list[str]
) -> None:
    records = [row(number, *labels_and_status) for number, labels_and_status in enumerate(rows)]
    for record, output in zip(records, outputs, strict=False):
        JudgedAnswer(record, output)
    assert output_warnings(V2.by_name, records, outputs) == expected

    share_unfinished = outputs.count("<think>It may be A, or") / len(records)
    expected_values: dict[str, float] = {}
    if share_unfinished:
        expected_values["all"] = share_unfinished
    estimates = evaluate_records(records, Measures.of(parse_rate()), 0).get("unfinished", {})
    assert {scope: estimate.value for scope, estimate in estimates.items()} == expected_values


@pytest.mark.parametrize(
    ("run", "command"),
    [
        ("results/a", "figlang judge read results/a"),
        ("my runs/a", "figlang judge read 'my runs/a'"),
    ],
)
def test_the_command_names_the_run(run: str, command: str) -> None:
    records = [row(number, None, None, "unreadable") for number in range(9)]
    (warning,) = output_warnings(V2.by_name, records, [], run)
    assert f"`{command}` has a language model read them" in warning


def test_unread_answers_that_count_as_a_label_are_no_lower_bound() -> None:
    unread = row(0, None, None, "unreadable") | {"unread_counts_as": "No"}
    records = [unread, row(1, 1, 1), row(2, 1, 1)]
    assert output_warnings(V2.by_name, records, ["Hm."]) == [
        "The score may be too high or too low: 1 of 3 answers could not be read and count as No (1"
        f' unreadable; for example "Hm."). {READ}'
    ]


def test_a_run_that_a_language_model_has_read_is_not_sent_to_it_again() -> None:
    records = [row(0, None, None, "unreadable") | {"read_by": {}}, row(1, 1, 1)]
    assert output_warnings(V2.by_name, records, []) == [
        "The score is a lower bound: 1 of 2 answers could not be read and count as wrong (1"
        " unreadable)"
    ]


def test_answers_that_choose_nothing_are_not_sent_to_a_language_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warning = (
        "The score is a lower bound: 1 of 2 answers could not be read and count as wrong (1"
        " unreadable)"
    )
    records = [row(0, None, None, "unreadable"), row(1, 1, 1)]
    fields = {"task": "metaclue_localize", "request": "MetaCLUE,task=localize"}
    boxes = [{**record, **fields} for record in records]
    assert output_warnings({}, boxes, []) == [warning]
    monkeypatch.setattr(Benchmark, "module", lambda benchmark, name: None)
    assert output_warnings({}, records, []) == [warning]


def test_screen_and_compare_warn_of_unread_outputs(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    task = "figlang_mini_flute"
    models = {
        "a": FixedAnswers("The weather is fine."),
        "b": FixedAnswers(""),
        "c": FixedAnswers("Hm.", "Entails. So.", "Contradicts. So."),
    }
    for name, model in models.items():
        evaluate(task, model, saved=tmp_path / name, limit=12)
    nothing = (
        'No answer could be read in 12 of 12 outputs (for example "The weather is fine."):'
        f" {NOTHING}. "
    )
    bound = (
        "The score is a lower bound: 4 of 12 answers could not be read and count as wrong (4"
        ' unreadable; for example "Hm."). '
    )
    about_outputs = [warning for warning in warnings_of_loguru if re.search("read|empty", warning)]
    assert about_outputs == [
        f"figlang_tasks: {task}: {nothing}{READ}. {HELP}",
        (
            f"figlang_tasks: {task}: 12 of 12 answers are empty (rows sarcasm-0-1d819c73, "
            "sarcasm-0-446e0337, sarcasm-1-cf9f3ee3, and 9 more)"
        ),
        f"figlang_tasks: {task}: No answer could be read in 12 of 12 outputs: {NOTHING}. {HELP}",
        f"figlang_tasks: {task}: {bound}{READ}",
    ]
    runs = [f"{name}={tmp_path / name}" for name in models]
    top, _, rest = done("compare", *runs, "--resamples", 100).partition(f"## {task}")
    unread = (
        "Most answers could not be read: the scores say nothing about the model (2 results):"
        f" a, {task} (12 of 12); b, {task} (12 of 12). {READ}. {HELP}"
    )
    assert unread in top, "one line for what two runs have"
    assert f"b, {task}: 12 of 12 answers are empty" in top
    assert (
        f"c, {task}: {bound}`figlang judge read {tmp_path / 'c'}` has a language model read them"
        in top
    )
    assert "explanation scorer: embedded" in rest


def test_a_thought_that_holds_the_explanation_is_an_answer() -> None:
    output = "<reasoning>Snow is quiet.</reasoning>"
    for rule, is_unfinished in (("reasoning", False), ("thought", True)):
        record = row(0, 1, 1, "read") | {"rule": rule}
        JudgedAnswer(record, output)
        assert record.get("unfinished", False) == is_unfinished
