"""Every parser of model text and every maker of texts, and pieces of hostile texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_args

from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.next_question import before_next_question
from figlang_tasks.answers.option import option
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.admire import parse as admire
from figlang_tasks.benchmarks.flute import parse as flute
from figlang_tasks.benchmarks.irfl import tasks as irfl
from figlang_tasks.benchmarks.metaclue import boxes, captions
from figlang_tasks.benchmarks.nykms import parse as nykms
from figlang_tasks.benchmarks.vflute import parse as vflute

WIDTH, HEIGHT = 640, 480
NAMES: dict[str, boxes.Role] = {"car": "primary", "Storm": "secondary"}
BOXES = {
    f"metaclue.boxes, {each}": partial(
        boxes.parse_boxes, convention=each, width=WIDTH, height=HEIGHT, names=NAMES
    )
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
    **{
        f"flute, {prompt}": partial(flute.parse_official, prompt=prompt)
        for prompt in get_args(flute.Prompt)
    },
    **{
        f"nykms, {one}": partial(nykms.parse_official, question=one)
        for one in ("metaphor", "sarcasm", "mw", "st")
    },
    **{
        f"nykms.first, {one}": partial(nykms.first_answer, question=one)
        for one in ("metaphor", "sarcasm")
    },
    **BOXES,
}
TEXTS: dict[str, Callable[[str], Any]] = {
    "answers.next question": partial(
        before_next_question,
        prompts=['Does the image entail the claim "a b"?'],
        shown_texts=("a b",),
    ),
    "vflute.scene graph talk": vflute.rewrite_scene_graph_talk,
    "nykms.place": nykms.named_whole_image,
    "metaclue.in one line": captions.in_one_line,
}

# fmt: off
PIECES = (
    "entails", "contradiction", "neither", "LABEL:", "answer is ", "not ", "yes ", "No, ", "A",
    "(C)", "last one", "is as ", "[I]", "primary", "<think>", "</think>", "<answer>", "</box>",
    "<loc0012>", "```json", "**", "1. ", "\\boxed{",
    "{{", "{%", "{", "}", "[", "]", "(", '"', ":", ", ", ". ", "?", "-", "\\", "999999999", "1e999",
    "NaN", "\u0663", "\u00b2", "\n", "\r", "\x1c", "\u2028", "\u00a0", "\ufeff", "\x00", "\x1b[31m",
    "\u202e", "e\u0301", "\u0130", "\ufb03", "\ud800",
    "\U0001d400", "\uff21", "\u4e0d", "Therefore,", '{"scores": [', '"label": ', "[[1, 2, 3, 4]]",
    '{"bbox_2d": [1, 2, 3, 4',
    '{"x1": 1, ', '"w": 20', "left: ", "12%, ", "(1, 2) to ", "top-left ", "x, y, w, h", "@",
    "image ", "B > ", "\u227b", '{"B": 1, ', "1. B ", "B is best. ", "Then D, ",
)
# fmt: on
