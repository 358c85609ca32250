"""figlang_replay: saved answers scored again give the same numbers; whatever does not fit is
refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import demo_runs
import pytest
from demo_runs import FixedAnswers, answers, evaluate, metrics, mini_tasks

from figlang_tasks import FigLangError
from figlang_tasks.models import replay

TASK = "figlang_mini"
Line = dict[str, Any]


@pytest.fixture(scope="module")
def odd_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """76 answers, among them empty ones and some with line separators inside."""
    content, _ = demo_runs.run_figlang_mini()
    file = tmp_path_factory.mktemp("odd") / demo_runs.SAMPLES_NAME
    file.write_bytes(content)
    return file


def samples_file(folder: Path) -> Path:
    (file,) = folder.rglob("*_samples_*.jsonl")
    return file


def lines(file: Path) -> list[Line]:
    return [json.loads(line) for line in file.read_bytes().split(b"\n") if line]


def write(file: Path, values: list[Line]) -> Path:
    file.write_text("".join(json.dumps(value) + "\n" for value in values))
    return file


def replayed(samples: Path, **harness: Any) -> dict[str, Any]:
    with patch.dict(os.environ, {"FIGLANG_SCORER": "off"}):
        return evaluate(TASK, "figlang_replay", f"samples={samples}", **harness)


def require_same_numbers(results: dict[str, Any]) -> None:
    found = {name.partition(",")[0]: value for name, value in metrics(results, TASK).items()}
    assert found == pytest.approx(demo_runs.run_figlang_mini()[1], abs=0, nan_ok=True)


def test_a_replay_gives_the_numbers_and_the_samples_of_the_run(
    odd_file: Path, tmp_path: Path
) -> None:
    require_same_numbers(replayed(odd_file.parent, saved=tmp_path))
    saved, saved_again = lines(odd_file), lines(samples_file(tmp_path))
    for line in (*saved, *saved_again):
        del line["token_counts"]  # nothing was generated
    assert saved_again == saved


def test_a_predict_only_file_is_scored(odd_file: Path, tmp_path: Path) -> None:
    predicted = replayed(odd_file, saved=tmp_path, predict_only=True)
    assert "acc,none" not in predicted["results"][TASK]
    assert "sample" not in lines(samples_file(tmp_path))[0]
    require_same_numbers(replayed(tmp_path))


def test_part_of_the_documents_is_enough_for_limit_and_offset(
    odd_file: Path, tmp_path: Path
) -> None:
    file = write(tmp_path / odd_file.name, lines(odd_file)[10:14][::-1])
    results = replayed(file, limit=4, offset=10)
    assert answers(results, TASK) == {
        line["doc_id"]: line["filtered_resps"] for line in lines(file)
    }


def test_missing_answers_are_listed(odd_file: Path, tmp_path: Path) -> None:
    file = write(tmp_path / odd_file.name, [line for line in lines(odd_file) if line["doc_id"] % 5])
    listed = "figlang_mini doc_id 0; figlang_mini doc_id 5"
    with pytest.raises(
        FigLangError, match=f"16 answers are missing in .*: {listed}.* 45; and 6 more"
    ):
        replayed(file)
    other = file.rename(tmp_path / "now_samples_vflute.jsonl")
    with pytest.raises(FigLangError, match=r"76 answers are missing .*The files are of: vflute"):
        replayed(other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda line: line | {"sample": line["sample"] | {"data": "other"}},
            "76 answers belong to other documents",
        ),
        (
            lambda line: line | {"doc_id": 75 - line["doc_id"]},
            "76 answers belong to other documents",
        ),
        # As of --predict_only: without the record, which names the document.
        (
            lambda line: line | {"doc_id": 75 - line["doc_id"], "sample": None},
            "76 answers belong to other documents",
        ),
        (
            lambda line: line | {"doc_id": line["doc_id"] % 64},
            "12 answers occur twice; .*line 1 and .*line 65.*2 more",
        ),
        (lambda line: {"filtered_resps": line["filtered_resps"]}, "line 1 has no doc_id"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(
    change: Callable[[Line], Line], message: str, odd_file: Path, tmp_path: Path
) -> None:
    with pytest.raises(FigLangError, match=message):
        replayed(write(tmp_path / odd_file.name, list(map(change, lines(odd_file)))))


@pytest.mark.parametrize(("kept", "missing"), [((1, 3), 2), ((2, 3), 1), ((1, 2, 4), 3), ((2,), 1)])
def test_a_gap_in_the_answers_of_repeats_is_told(
    kept: tuple[int, ...], missing: int, odd_file: Path, tmp_path: Path
) -> None:
    """The answers after it would count as those before it."""
    (line,) = [line for line in lines(odd_file) if line["doc_id"] == 5]
    repeats = [line | {"sample": line["sample"] | {"repeat": number}} for number in kept]
    file = write(tmp_path / odd_file.name, repeats)
    where = kept.index(missing + 1) + 1
    told = (
        f"1 answers of --repeats are missing; .*doc_id 5: answer {missing}, before .*line {where}$"
    )
    with pytest.raises(FigLangError, match=told):
        replay.read([file])


def test_a_new_prompt_for_the_same_documents_is_told(
    odd_file: Path, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    file = write(
        tmp_path / odd_file.name, [line | {"input": "another"} for line in lines(odd_file)]
    )
    replayed(file, limit=3)
    assert any(
        "3 answers were given to another prompt" in message for message in warnings_of_loguru
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"samples": "/nowhere"}, "samples=/nowhere: no file .._samples_<task>.jsonl there"),
        ({}, "samples=FILE_OR_FOLDER"),
        ({"samples": "/nowhere", "pretrained": "x"}, "takes no argument pretrained"),
    ],
)
def test_wrong_arguments_end_before_anything_is_run(
    arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(FigLangError, match=message):
        replay.Replay(**arguments)


# --- several answers for a document: rounds and repeats ---


class Counting(FixedAnswers):
    """Never says the same twice."""

    def __init__(self) -> None:
        super().__init__()
        self.number = count()

    def generate_until(self, requests: list[Any]) -> list[str]:
        labels = ("entailment", "contradiction", "neither")
        numbers = [next(self.number) for _ in requests]
        return [f" It is {n}. “🫖”\nLABEL: {labels[n % 3]} " for n in numbers]


def test_the_rounds_of_a_scene_graph_run_are_replayed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"include_path": mini_tasks(), "limit": 10, "repeats": 2}
    first = evaluate("mini_sg", Counting(), saved=tmp_path / "run", **options)
    again = evaluate(
        "mini_sg",
        "figlang_replay",
        f"samples={tmp_path / 'run'}",
        saved=tmp_path / "again",
        **options,
    )
    assert metrics(again, "mini_sg") == pytest.approx(metrics(first, "mini_sg"), abs=0, nan_ok=True)
    saved = lines(samples_file(tmp_path / "run"))
    for line, line_again in zip(saved, lines(samples_file(tmp_path / "again")), strict=True):
        assert {**line_again, "token_counts": None} == {**line, "token_counts": None}
    assert [line["doc_id"] for line in saved[:4]] == [0, 0, 1, 1]
    assert json.loads(saved[1]["filtered_resps"]).keys() == {"scene_graph", "answer"}


def test_a_scene_graph_run_that_was_cut_off_lacks_its_second_round(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {"include_path": mini_tasks(), "limit": 3}
    evaluate(
        "mini_sg", Counting(), saved=tmp_path / "run", gen_kwargs="max_agentic_steps=1", **arguments
    )
    samples = f"samples={tmp_path / 'run'}"
    with pytest.raises(FigLangError, match="mini_sg doc_id 0, answer 2"):
        evaluate("mini_sg", "figlang_replay", samples, **arguments)
    again = evaluate(
        "mini_sg", "figlang_replay", samples, gen_kwargs="max_agentic_steps=1", **arguments
    )
    assert answers(again, "mini_sg")[2] == " It is 2. “🫖”\nLABEL: neither "


@pytest.mark.parametrize("final", ["no JSON", '{"a": "b"}', "[" * 100_000])
def test_what_is_no_record_of_rounds_is_one_output(final: str) -> None:
    assert replay.rounds(final) == [final]
