"""Hostile texts for every parser of model text and every reader of runs: none raises, or breaks what it promises."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_runs import lines_of

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.next_question import before_next_question
from figlang_tasks.answers.option import option
from figlang_tasks.answers.verdict import Status
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.admire import parse as admire
from figlang_tasks.benchmarks.flute import parse as flute
from figlang_tasks.benchmarks.irfl import task as irfl
from figlang_tasks.benchmarks.metaclue import boxes, captions
from figlang_tasks.benchmarks.metaclue import task as metaclue
from figlang_tasks.benchmarks.nykms import parse as nykms
from figlang_tasks.benchmarks.vflute import parse as vflute
from figlang_tasks.core import score_requests
from figlang_tasks.judge import llm as judge
from figlang_tasks.results import runs

WIDTH, HEIGHT = 640, 480
NAMES: dict[str, boxes.Role] = {"car": "primary", "Storm": "secondary"}
BOXES = {
    f"metaclue.boxes, {each}": partial(boxes.parse_boxes, convention=each, width=WIDTH, height=HEIGHT, names=NAMES)
    for each in get_args(boxes.Convention)
}
READERS: dict[str, Callable[[str], Any]] = {
    "answers.yes no": partial(yes_no, about=irfl.FIGURATIVE),
    "answers.option": partial(option, options=4),
    "answers.option, grid": partial(option, options=4, places=irfl.PLACES),
    "answers.option, numbers": partial(option, options=50, letters=False),
    "answers.entailment": partial(entailment, prompt_texts=("The claim.", "a b a b")),
    "admire": partial(admire.ranking, count=5),
    "vflute": vflute.parse_official,
    "vflute, scene graph": partial(vflute.parse_official, scene_graph=True),
    "metaclue.official": captions.parse_official,
    "metaclue.caption": captions.parse_caption,
    **{f"flute, {prompt}": partial(flute.parse_official, prompt=prompt) for prompt in get_args(flute.Prompt)},
    **{f"nykms, {one}": partial(nykms.parse_official, question=one) for one in ("metaphor", "sarcasm", "mw", "st")},
    **{f"nykms.first, {one}": partial(nykms.first_answer, question=one) for one in ("metaphor", "sarcasm")},
    **BOXES,
}
TEXTS: dict[str, Callable[[str], Any]] = {
    "answers.next question": partial(
        before_next_question, prompts=['Does the image entail the claim "a b"?'], shown_texts=("a b",)
    ),
    "vflute.scene graph talk": vflute.rewrite_scene_graph_talk,
    "nykms.place": nykms.same_place,
    "metaclue.in one line": captions.in_one_line,
}

ANSWERS = [
    json.loads(line)["output"]
    for path in sorted((Path(__file__).parents[1] / "readings").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]
# fmt: off
PIECES = (
    "entails", "contradiction", "neither", "LABEL:", "answer is ", "not ", "yes ", "No, ", "A", "(C)", "last one",
    "is as ", "[I]", "primary", "<think>", "</think>", "<answer>", "</box>", "<loc0012>", "```json", "**", "1. ",
    "\\boxed{",
    "{{", "{%", "{", "}", "[", "]", "(", '"', ":", ", ", ". ", "?", "-", "\\", "999999999", "1e999", "NaN", "\u0663",
    "\u00b2", "\n", "\r", "\x1c", "\u2028", "\u00a0", "\ufeff", "\x00", "\x1b[31m", "\u202e", "e\u0301", "\u0130",
    "\ufb03", "\ud800",
    "\U0001d400", "\uff21", "\u4e0d", "Therefore,", '{"scores": [', '"label": ', "[[1, 2, 3, 4]]",
    '{"bbox_2d": [1, 2, 3, 4',
    '{"x1": 1, ', '"w": 20', "left: ", "12%, ", "(1, 2) to ", "top-left ", "x, y, w, h", "@", "image ", "B > ",
    "\u227b", '{"B": 1, ', "1. B ", "B is best. ", "Then D, ",
)
# fmt: on


@st.composite
def hostile(draw: st.DrawFn) -> str:
    """A text of pieces of real answers, signs of every script, halves of surrogate pairs, Markdown, broken JSON."""

    def part() -> str:
        if draw(st.booleans()):
            return draw(st.sampled_from(PIECES) | st.text(max_size=4))
        answer = draw(st.sampled_from(ANSWERS)) or ""
        first, last = sorted(draw(st.tuples(*[st.integers(0, len(answer))] * 2)))
        return answer[first:last]

    return "".join(part() for _ in range(draw(st.integers(0, 6))))


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=150)
@given(text=hostile())
def test_a_parser_reads_or_says_why_not(name: str, text: str) -> None:
    found = READERS[name](text)
    assert found.status in get_args(Status) and found.rule
    assert (found.status == "read") == (found.value is not None)
    span = getattr(found, "span", None)
    assert span is None or 0 <= span[0] < span[1] <= len(text)
    if name in BOXES and found.value:
        for left, top, right, bottom in found.value.primary + found.value.secondary:
            assert 0 <= left < right <= WIDTH and 0 <= top < bottom <= HEIGHT


@pytest.mark.parametrize("name", TEXTS)
@given(text=hostile())
def test_what_makes_a_text_of_a_text(name: str, text: str) -> None:
    assert isinstance(TEXTS[name](text), str)


@settings(max_examples=150)
@given(text=hostile())
def test_scores_pictures_and_cells_of_a_judge(text: str) -> None:
    scores = score_requests.read_answer(text)
    assert scores is None or all(type(score) is float and math.isfinite(score) for score in scores)
    assert metaclue.generated_picture(text, number=3) is None
    for asked in ("label", "adequate", "preferred"):
        cells = judge.read_answer(asked, text, ("A", "B"))
        assert (not cells or asked in cells) and all(isinstance(value, str) for value in cells.values())


# --- files of a run ---

NAME = "2026-01-02T03-04-05_samples_figlang_mini.jsonl"


@cache
def sample() -> dict[str, Any]:
    """A line of a run on figlang_mini."""
    return lines_of("figlang_mini", 1)[0]


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
                    assert task.estimates and task.explained
            except runs.RunError as error:
                assert str(error).startswith(str(path))  # noqa: PT017  (most contents are read)


# --- what is nested without end, and long strings ---


def test_the_answer_of_a_cut_off_scene_graph_run() -> None:
    from figlang_tasks.benchmarks.vflute import rows, task

    doc = rows.load("figlang_mini", "test")[0]
    for output in ("[" * 200_000, '{"scene_graph":' * 200_000, "1" * 5_000, "\ud800"):
        judged = task.scene_graph_process_results(doc, [output])
        assert judged["sample"]["status"] == "empty" and judged["acc"] == 0.0


def test_a_results_file(tmp_path: Path) -> None:
    samples_file = tmp_path / NAME
    samples_file.write_text(json.dumps(sample()) + "\n")
    (tmp_path / "2026-01-02T03-04-05_results.json").write_text('{"config":' * 200_000)
    with pytest.raises(runs.RunError, match="results.json cannot be read"):
        runs.read(str(samples_file))


@pytest.mark.slow
def test_long_strings_are_read_before_the_clock_stops() -> None:
    """64,000 characters of each fifth piece by each parser: a minute on a busy machine; by squares it would be days."""
    folders = [str(Path(__file__).parent), *sys.path]
    script = (
        f"import sys; sys.path[:0] = {folders!r}; import test_parsers as t\n"
        "for piece in t.PIECES[::5]:\n"
        "    text = piece * (64_000 // len(piece))\n"
        "    for read in (t.READERS | t.TEXTS).values(): read(text)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)
