"""Hostile texts for every parser of model text and every reader of runs: none raises, or breaks
what it promises.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from saved_runs import sample_lines
from text_readers import (
    HOSTILE_PIECES,
    PICTURE_HEIGHT,
    PICTURE_WIDTH,
    answer_readers,
    box_readers,
    text_makers,
)

from figlang_tasks.answers.verdict import Status
from figlang_tasks.benchmarks.metaclue import generated as metaclue
from figlang_tasks.benchmarks.vflute import tasks as vflute
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.core import score_requests
from figlang_tasks.core.request import Request
from figlang_tasks.judge import questions as judge
from figlang_tasks.results import runs


def real_answers() -> list[str | None]:
    """The outputs of models in tests/answers; None for a model that gave none."""
    outputs: list[str | None] = []
    for path in sorted((Path(__file__).parents[1] / "answers").glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            outputs.append(json.loads(line)["output"])
    return outputs


ANSWERS = real_answers()


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """A text of pieces of real answers, signs of every script, halves of surrogate pairs, Markdown,
    broken JSON.
    """

    def draw_piece() -> str:
        """A hostile piece, a few characters, or a part of a real answer."""
        if draw(st.booleans()):
            return draw(st.sampled_from(HOSTILE_PIECES) | st.text(max_size=4))
        answer = draw(st.sampled_from(ANSWERS)) or ""
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(answer))] * 2)))
        return answer[first:last]

    count = draw(st.integers(0, 6))
    return "".join(draw_piece() for _ in range(count))


BOX_READERS = box_readers()
READERS = answer_readers()
TEXT_MAKERS = text_makers()


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=60)
@given(text=hostile())
def test_a_parser_reads_or_says_why_not(name: str, text: str) -> None:
    reading = READERS[name](text)
    assert reading.status in get_args(Status)
    assert reading.rule
    assert (reading.status == "read") == (reading.value is not None)
    span = getattr(reading, "span", None)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
    if name in BOX_READERS and reading.value:
        for x_min, y_min, x_max, y_max in reading.value.primary + reading.value.secondary:
            assert 0 <= x_min < x_max <= PICTURE_WIDTH
            assert 0 <= y_min < y_max <= PICTURE_HEIGHT


@pytest.mark.parametrize("name", TEXT_MAKERS)
@given(text=hostile())
def test_a_text_maker_returns_a_text(name: str, text: str) -> None:
    assert isinstance(TEXT_MAKERS[name](text), str)


@settings(max_examples=60)
@given(text=hostile())
def test_scores_pictures_and_cells_of_a_judge(text: str) -> None:
    scores = score_requests.read_answer(text)
    assert scores is None or all(type(score) is float and math.isfinite(score) for score in scores)
    assert metaclue.generated_picture(text, number=3) is None
    for column in ("label", "adequate", "preferred"):
        cells = judge.read_answer(column, text, ("A", "B"))
        assert not cells or column in cells
        assert all(isinstance(cell, str) for cell in cells.values())


# --- files of a run ---

NAME = "2026-01-02T03-04-05_samples_figlang_mini.jsonl"


@cache
def sample() -> dict[str, Any]:
    """A line of a run on figlang_mini."""
    return sample_lines("figlang_mini", 1)[0]


@settings(max_examples=60)
@given(text=hostile(), field=st.integers(0, 99), offset=st.integers(0, 400))
def test_a_samples_file_is_read_or_named_in_one_line(text: str, field: int, offset: int) -> None:
    record = sample()["sample"]
    line = json.dumps(sample())
    changed_field = sorted(record)[field % len(record)]
    changed_record = {**record, changed_field: text}
    changed_line = {**sample(), "filtered_resps": [text], "sample": changed_record}
    line_with_text = line[:offset] + text + line[offset:]
    with TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        for content in (text, json.dumps(changed_line), line_with_text):
            path.write_bytes(f"{content}\n{line}\n".encode("utf-8", "surrogatepass"))
            try:
                for task in runs.read(str(path)).tasks.values():
                    assert task.estimates and task.has_explanations
            except runs.RunError as error:
                assert str(error).startswith(str(path))


# --- what is nested without end, and long strings ---


def test_the_answer_of_a_cut_off_scene_graph_run() -> None:
    doc = BENCHMARK.documents(Request.of("figlang_mini", split="test"), check_images=True)[0]
    for output in ("[" * 200_000, '{"scene_graph":' * 200_000, "1" * 5_000, "\ud800"):
        judged = vflute.scene_graph_process_results(doc, [output])
        assert judged["sample"]["status"] == "empty" and judged["acc"] == 0.0


def test_a_results_file(tmp_path: Path) -> None:
    samples_file = tmp_path / NAME
    samples_file.write_text(json.dumps(sample()) + "\n")
    (tmp_path / "2026-01-02T03-04-05_results.json").write_text('{"config":' * 200_000)
    with pytest.raises(runs.RunError, match=r"results.json cannot be read"):
        runs.read(str(samples_file))
