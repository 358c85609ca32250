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
from figlang_tasks.judge import llm as judge
from figlang_tasks.results import runs

ANSWERS = [
    json.loads(line)["output"]
    for path in sorted((Path(__file__).parents[1] / "answers").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """A text of pieces of real answers, signs of every script, halves of surrogate pairs, Markdown,
    broken JSON.
    """

    def part() -> str:
        if draw(st.booleans()):
            return draw(st.sampled_from(HOSTILE_PIECES) | st.text(max_size=4))
        answer = draw(st.sampled_from(ANSWERS)) or ""
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(answer))] * 2)))
        return answer[first:last]

    return "".join(part() for _ in range(draw(st.integers(0, 6))))


BOX_READERS = box_readers()
READERS = answer_readers()
TEXT_MAKERS = text_makers()


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150)
@given(text=hostile())
def test_a_parser_reads_or_says_why_not(name: str, text: str) -> None:
    found = READERS[name](text)
    assert found.status in get_args(Status) and found.rule
    assert (found.status == "read") == (found.value is not None)
    span = getattr(found, "span", None)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
    if name in BOX_READERS and found.value:
        for left, top, right, bottom in found.value.primary + found.value.secondary:
            assert 0 <= left < right <= PICTURE_WIDTH and 0 <= top < bottom <= PICTURE_HEIGHT


@pytest.mark.parametrize("name", TEXT_MAKERS)
@given(text=hostile())
def test_what_makes_a_text_of_a_text(name: str, text: str) -> None:
    assert isinstance(TEXT_MAKERS[name](text), str)


@settings(max_examples=150)
@given(text=hostile())
def test_scores_pictures_and_cells_of_a_judge(text: str) -> None:
    scores = score_requests.read_answer(text)
    assert scores is None or all(type(score) is float and math.isfinite(score) for score in scores)
    assert metaclue.generated_picture(text, number=3) is None
    for asked in ("label", "adequate", "preferred"):
        cells = judge.read_answer(asked, text, ("A", "B"))
        assert (not cells or asked in cells) and all(
            isinstance(value, str) for value in cells.values()
        )


# --- files of a run ---

NAME = "2026-01-02T03-04-05_samples_figlang_mini.jsonl"


@cache
def sample() -> dict[str, Any]:
    """A line of a run on figlang_mini."""
    return sample_lines("figlang_mini", 1)[0]


@settings(max_examples=60)
@given(text=hostile(), field=st.integers(0, 99), place=st.integers(0, 400))
def test_a_samples_file_is_read_or_named_in_one_line(text: str, field: int, place: int) -> None:
    record = sample()["sample"]
    line = json.dumps(sample())
    damaged = record | {sorted(record)[field % len(record)]: text}
    changed = json.dumps(sample() | {"filtered_resps": [text], "sample": damaged})
    with TemporaryDirectory() as folder:
        path = Path(folder) / NAME
        for content in (text, changed, line[:place] + text + line[place:]):
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
