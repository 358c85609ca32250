"""Hostile and half-sensible texts for every parser of model text: none may raise, break its promises, or take long.

    python benchmarks/fuzz_parsers.py [--inputs 1000000] [--seed 0] [--parsers vflute.official ...]
    python benchmarks/fuzz_parsers.py --times [--megabytes 10]

The first gives each input to one parser after the other (`--inputs` is the sum over all of them), mutated from answers
as models give them: pieces cut, doubled, swapped and repeated, signs of every script, halves of surrogate pairs,
Markdown, JSON that is almost right. What must hold is in `Target.fault`. Equal seeds give equal inputs and equal
outcomes, whatever the hash seed: the digest at the end tells.

The second measures strings that are one piece again and again, a million characters of it and `--megabytes` millions
of it, and just within the 64 KiB that most parsers read: time must grow no faster than the string. (A string of
millions no longer fits into the processor's cache, and its memory comes from the system anew: copying alone takes up to
2.6 times as long for each character. A time that grows with the square takes 10 times as long.)
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

from loguru import logger

from figlang_tasks.answers.echo import before_echo
from figlang_tasks.answers.entailment import entailment
from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Status
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.flute import parse as flute
from figlang_tasks.benchmarks.irfl import task as irfl
from figlang_tasks.benchmarks.metaclue import boxes, captions, generate
from figlang_tasks.benchmarks.nykms import parse as nykms
from figlang_tasks.benchmarks.vflute import parse as vflute
from figlang_tasks.core import score_requests
from figlang_tasks.judge import llm as judge
from figlang_tasks.results import runs, samples

Fault = str | None
"""What is wrong with a result, in words; None: nothing."""

AIM_RATIO = 1.5  # of the growth of the time to that of the string, within 64 KiB
AIM_BEYOND = 3.0  # the same from a million characters to ten millions
WIDTH, HEIGHT = 640, 480


@dataclass(frozen=True)
class Target:
    """A parser of model text.

    Attributes:
        read: the parser, of one text.
        fault: what a result of it must hold, given the text.
    """

    read: Callable[[str], Any]
    fault: Callable[[str, Any], Fault]


# --- what must hold --------------------------------------------------------------------------------------------------


def _rules(*parsers: Callable[..., Any]) -> frozenset[str]:
    """The rules that the documentation of parsers names; those that say why there is no answer may stand elsewhere."""
    return frozenset(rule for parser in parsers for rule in re.findall(r"``([a-z][a-z-]*)``", parser.__doc__ or ""))


def _common(text: str, found: Any, statuses: Sequence[str], rules: frozenset[str]) -> Fault:
    if found.status not in statuses:
        return f"unknown status {found.status!r}"
    if found.rule not in rules:
        return f"rule {found.rule!r} is not documented"
    span = getattr(found, "span", None)
    if span is not None and not (0 <= span[0] < span[1] <= len(text)):
        return f"span {span} is not in the text of {len(text)} characters"
    return None


def _read(values: Sequence[Any], rules: frozenset[str], text: str, found: Any) -> Fault:
    if (found.status == "read") != (found.value is not None):
        return f"status {found.status} with value {found.value!r}"
    if found.value is not None and (type(found.value) is not type(values[0]) or found.value not in values):
        return f"value {found.value!r}, not one of {values!r:.40}"
    return _common(text, found, get_args(Status), rules)


def _entailment(explained: Callable[[Any], bool], rules: frozenset[str], text: str, found: Any) -> Fault:
    if (found.status == "read") != (found.value is not None) or found.value not in (0, 1, None):
        return f"status {found.status} with label {found.value!r}"
    if (found.explanation is None) == explained(found):
        return f"explanation {found.explanation!r:.40}"
    if found.status == "empty" and Answer(text).text:
        return "empty, but there are words"
    return _common(text, found, get_args(Status), rules)


def _answers(question: nykms.Question, text: str, found: Any) -> Fault:
    if tuple(found.values) != nykms.FIELDS[question]:
        return f"fields {tuple(found.values)}"
    for name, value in found.values.items():
        if value not in (0, 1) if name in ("MC", "SC") else not isinstance(value, str):
            return f"{name}={value!r:.40}"
    if (found.status == "read") != (found.value is not None) or (found.value is None and any(found.values.values())):
        return f"status {found.status} with {found.values!r:.80}"
    return _common(text, found, get_args(Status), _NYKMS_RULES)


def _caption(rules: frozenset[str], text: str, found: Any) -> Fault:
    parts = () if found.value is None else (found.value.primary, found.value.relationship, found.value.secondary)
    if (found.status == "read") != bool(parts) or not all(parts):
        return f"status {found.status} with parts {parts!r:.80}"
    return _common(text, found, get_args(Status), rules)


def _boxes(text: str, found: Any) -> Fault:
    if (found.status == "read") != (found.value is not None):
        return f"status {found.status} with value {found.value!r:.80}"
    for box in found.value.primary + found.value.secondary if found.value else ():
        if len(box) != 4 or not all(math.isfinite(edge) for edge in box):
            return f"box {box}"
        if not (0 <= box[0] < box[2] <= WIDTH and 0 <= box[1] < box[3] <= HEIGHT):
            return f"box {box} is not in the picture"
    if found.value and found.value.dropped < 0:
        return f"dropped {found.value.dropped}"
    return _common(text, found, get_args(Status), _BOX_RULES)


def _scores(text: str, found: Any) -> Fault:
    if found is None:
        return None
    if not all(type(score) is float and math.isfinite(score) for score in found):
        return f"scores {found!r:.80}"
    # What is read is what another reader of JSON finds in it.
    return None if [float(score) for score in json.loads(text)["scores"]] == found else "not the scores in the text"


def _judged(asked: str, text: str, found: Any) -> Fault:
    known: Mapping[str, Sequence[str]] = {
        "label": ("entailment", "contradiction"),
        "adequate": ("yes", "no"),
        "preferred": ("A", "B", "tie", "none"),
    }
    unknown = asked in found and found[asked] not in known[asked]
    if unknown or not all(isinstance(value, str) for value in found.values()):
        return f"cells {found!r:.80}"
    return None if not found or asked in found else f"cells without {asked}"


def _no_picture(text: str, found: Any) -> Fault:
    return None if found is None else f"{found!r:.80} is no picture"


def _text(text: str, found: Any) -> Fault:
    return None if isinstance(found, str) else f"{type(found).__name__} instead of a text"


def _mark(text: str, found: Any) -> Fault:
    words, marked = found
    return None if isinstance(words, str) and isinstance(marked, bool) else f"{found!r:.80}"


def _annotation(text: str, found: Any) -> Fault:
    return None if found is None or (found.text.strip() and found.kind in get_args(nykms.Kind)) else f"{found!r:.80}"


def _read_annotation(field: str, text: str) -> Any:
    try:
        return nykms.read_annotation(text, field)
    except nykms.AnnotationError:  # its one error, by which the reader of the file names the row
        return None


_NYKMS_RULES = _rules(nykms.parse_official)
_BOX_RULES = _rules(boxes.parse_boxes) | {"box_2d"}


def _always(found: Any) -> bool:
    return True


def _not_of_v1_entailment(found: Any) -> bool:
    return not (found.value == 1)


RECORD = {
    "doc_id": 0,
    "target": "It is a shark.",
    "filtered_resps": ["LABEL: entailment"],
    "sample": {
        "id": "vismet-test-0",
        "data": "V-FLUTE/test:0123456789ab",
        "gold": 1,
        "predicted": None,
        "explanation": "It is a shark.",
        "status": "unreadable",
        "rule": "none",
        "predicted_strict": None,
        "report_group": "vismet",
        "unit": "vismet-test-0",
        "reference": "It is a shark.",
    },
    "acc": 0.0,
}
"""A line of a samples file."""


PLACES = ("alone", "as an answer", "as key and value", "in a line")


def _file(folder: Path, text: str, place: int) -> Path:
    """A samples file that a text is in, at one of `PLACES` (`place` modulo 4)."""
    line = json.dumps(RECORD)
    values = json.loads(line)
    if place % 4 == 1:
        values["filtered_resps"] = values["sample"]["explanation"] = text
    elif place % 4 == 2:
        values["sample"] = {**values["sample"], sorted(values["sample"])[place % 10]: text, text: 1}
    edge = place % len(line)
    content = {0: text, 3: f"{line[:edge]}{text}{line[edge:]}"}.get(place % 4, json.dumps(values))
    path = folder / "2026-01-02T03-04-05_samples_vflute.jsonl"
    path.write_bytes((content + "\n" + line * (place % 3)).encode("utf-8", "surrogatepass"))
    return path


def hash_of(text: str) -> int:
    """A number that is the same for the same text in every process."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big")


def _read_file(read: Callable[[Path], Any], folder: Path, text: str, place: int | None = None) -> Any:
    try:
        read(_file(folder, text, hash_of(text) if place is None else place))
    except runs.RunError as error:  # the only ones, and in one line that can be printed
        return str(error).replace(str(folder), "")
    return None


def _message(text: str, found: Any) -> Fault:
    return None if found is None or found.startswith("/") else f"a message without the file: {found!r:.80}"


def file_targets(folder: Path, each_place: bool = False) -> dict[str, Target]:
    """The readers of samples files, each of which gets a file with the text in it; its digest says where.

    With `each_place` there is a target for each of `PLACES`: files that are to be compared hold their text at the same.
    """
    readers: dict[str, Callable[[Path], Any]] = {
        "samples": lambda path: samples.explained(path, samples.read(path).lines),
        "samples without answers": lambda path: samples.blind(path, samples.read(path).lines),
        "runs": lambda path: runs.read(str(path)),
    }
    if each_place:
        return {
            f"{name}, {where}": Target(partial(_read_file, read, folder, place=place), _message)
            for name, read in readers.items()
            for place, where in enumerate(PLACES)
        }
    return {name: Target(partial(_read_file, read, folder), _message) for name, read in readers.items()}


def targets() -> dict[str, Target]:
    """Every parser of what a model writes, by name."""
    found = {
        "answers.yes no": Target(partial(yes_no, about=irfl.FIGURATIVE), partial(_read, (False, True), _rules(yes_no))),
        "answers.option": Target(partial(option, options=4), partial(_read, range(4), _rules(option))),
        "answers.option, grid": Target(
            partial(option, options=4, places=irfl.PLACES), partial(_read, range(4), _rules(option))
        ),
        "answers.option, numbers": Target(
            partial(option, options=50, letters=False), partial(_read, range(50), _rules(option))
        ),
        "answers.entailment": Target(
            partial(entailment, own=("The claim.", "a b a b")), partial(_read, (0, 1), _rules(entailment))
        ),
        "answers.echo": Target(
            partial(before_echo, prompt='Does the image entail the claim "a b"?', own=("a b",)), _text
        ),
        "vflute.official": Target(vflute.parse_official, partial(_entailment, _always, _rules(vflute.parse_official))),
        "vflute.official, scene graph": Target(
            partial(vflute.parse_official, scene_graph=True),
            partial(_entailment, _always, _rules(vflute.parse_official)),
        ),
        "vflute.scene graph talk": Target(vflute.rewrite_scene_graph_talk, _text),
        "nykms.mark": Target(nykms.without_mark, _mark),
        "nykms.place": Target(nykms.same_place, _text),
        "nykms.annotation": Target(partial(_read_annotation, "MW"), _annotation),
        "metaclue.official": Target(captions.parse_official, partial(_caption, _rules(captions.parse_official))),
        "metaclue.caption": Target(captions.parse_caption, partial(_caption, _rules(captions.parse_caption))),
        "metaclue.in one line": Target(captions.in_one_line, _text),
        "score requests": Target(score_requests.read_answer, _scores),
        "metaclue.generated picture": Target(partial(generate._generated, number=3), _no_picture),
    }
    for prompt in get_args(flute.Prompt):
        explained = _not_of_v1_entailment if prompt == "v1" else _always
        found[f"flute.official, {prompt}"] = Target(
            partial(flute.parse_official, prompt=prompt),
            partial(_entailment, explained, _rules(flute.parse_official)),
        )
    questions: tuple[nykms.Question, ...] = ("metaphor", "sarcasm", "mw", "st")
    for question in questions:
        found[f"nykms.official, {question}"] = Target(
            partial(nykms.parse_official, question=question), partial(_answers, question)
        )
        if question in ("metaphor", "sarcasm"):
            found[f"nykms.first answer, {question}"] = Target(
                partial(nykms.first_answer, question=question), partial(_read, (False, True), _rules(yes_no))
            )
    for convention in get_args(boxes.Convention):
        read = partial(
            boxes.parse_boxes,
            convention=convention,
            width=WIDTH,
            height=HEIGHT,
            names={"car": "primary", "Storm": "secondary"},
        )
        found[f"metaclue.boxes, {convention}"] = Target(read, _boxes)
    for asked in ("label", "adequate", "preferred"):
        found[f"judge.{asked}"] = Target(
            partial(_read_judge, asked),
            partial(_judged, asked),
        )
    return found


def _read_judge(asked: str, text: str) -> Any:
    return judge.read_answer(asked, text, ("A", "B"))


# --- texts -----------------------------------------------------------------------------------------------------------

ANSWERS = (
    "The image shows a shark in a suit, so the lawyer is ruthless.\nLABEL: entailment",
    "**Label:** Contradiction\n\n**Explanation:** The sea is calm while the claim speaks of a storm.",
    '{"label": "contradiction", "explanation": "It doesn\'t show joy."}',
    "The image neither entails nor contradicts the claim. It is not possible to definitively label it.",
    "The scene graph shows a red_dog, and the scene graph both support the claim. Therefore, it entails.",
    "<think>Is it entailment? Wait, no.</think>The label is contradiction.",
    "Does not entail; it contradicts the caption, doesn't it?",
    "Entails. The two sentences mean the same.",
    "Yes. The premise contradicts the hypothesis, they say opposite things.",
    "No.",
    "Contradicts, since the first sentence entails sadness. Answer: Contradicts",
    "The answer is B, because it shows the idiom best; A and C are literal.",
    "A. The second image, not the last one, conveys the figurative meaning.",
    "Top left is rejected. I would choose the bottom right image. Final answer: (D)",
    "\\boxed{C} [[C]] <answer>C</answer>",
    "No wait, yes: the image visualizes the figurative meaning of the phrase.",
    "It does not show that. Therefore no.",
    "1. Yes\n2. \u201cflat\u201d\n3. The word means both.\n4. It is funny.",
    "1. No, it doesn't contain sarcasm.\n2. None",
    "[I] horse",
    "[S] office life",
    "I'm sorry, but I can't provide assistance with that content.",
    "As an AI language model, I cannot see the images.",
    "This car is as fast as a cheetah.",
    "Metaphor: **The perfume** is as fresh as a spring morning, which shows that it smells good.",
    '{"primary": "car", "relationship": "fast", "secondary": "cheetah"}',
    "12. Smoking is as deadly as a gun.\n13. Beer is as cold as ice.",
    "The best option is 12, and the answer is statement 12.",
    '```json\n[{"bbox_2d": [12, 30, 400, 420], "label": "primary"}, {"bbox_2d": [1, 2, 3, 4], "label": "car"}]\n```',
    "<box>100,200,300,400</box> primary: [[0.1, 0.2, 0.3, 0.4]] secondary (1,2),(3,4)",
    "<loc0123><loc0000><loc1023><loc0500> secondary ; <loc0001><loc0002><loc0003><loc0004> car",
    '{"box_2d": [10, 20, 30, 40], "label": "Storm"}',
    '{"scores": [0.1, -2.5, 3e8, 0]}',
    '{"scores": [NaN, Infinity, 1e999]}',
    '{"adequate": "no", "error": "hallucination"} {"preferred": "A"} {"label": "entailment"}',
)
# fmt: off
PIECES = (
    "entail", "entails", "entailment", "contradict", "contradicts", "contradiction", "neither", "neutral", "label:",
    "LABEL:", "Label: ", "answer is ", "Answer:", "verdict", "the ", "claim", "image ", "is ", "not ", "does not ",
    "yes ", "no ", "Yes\n", "No, ", "or ", "and ", "A", "B. ", "(C)", "D) ", "first image", "last one", "best",
    "is as ", " as ", "metaphor ", "sarcasm ", "[I]", "[S] ", "primary", "secondary", "concept", "statement 3",
    "<think>", "</think>", "<answer>", "</answer>", "<box>", "</box>", "<loc0012>", "<|box_start|>", "</s>",
    "<image>", "```", "```json", "**", "__", "#", "- ", "1. ", "1) ", "\\boxed{", "\\text{", "$", "|", "&", "{{",
    "}}", "{%", "{", "}", "[", "]", "(", ")", '"', "'", ":", ",", ", ", ". ", "?", "!", ";", "...", "-", "/", "\\",
    "=", "<", ">", "0", "1", "12", "999999999", "1e999", "-1", "0.5", "NaN", "null", "true", "\u0663", "\u00b2",
    "\u2463", "\u216b", "\n", "\r", "\r\n", "\t", " ", "\v", "\f", "\x1c", "\x85", "\u2028", "\u2029", "\u00a0",
    "\u200b", "\ufeff", "\x00", "\x1b[31m", "\x07", "\u202e", "\u2066", "e\u0301", "\u0345", "\u0130", "\u0131",
    "\u00df", "\ufb03", "\u1e9e", "\u03a3", "\ud800", "\udfff", "\U0001f600", "\U0001f468\u200d\U0001f469",
    "\U0001d400", "\uff21", "\uff1a", "\u2019", "\u201c", "\u4e0d", "\u3002", "\u0645", "scene graph", "a_b",
    "Therefore,", "wait, ", "sorry", "cannot ", "none of them", '{"scores": [', '"label": ', '{"answer": "', "[[",
    "]]", "not possible to", "unclear", "while ", "but ",
)
# fmt: on


def hostile(generator: random.Random) -> str:
    """Return a text: of pieces, or an answer with some of its parts changed."""
    if generator.random() < 0.25:
        text = "".join(generator.choices(PIECES, k=generator.randint(0, 24)))
    else:
        text = generator.choice(ANSWERS)
    for _ in range(generator.choice((0, 1, 1, 2, 3, 5, 8))):
        text = _mutated(text, generator)
    return text


def _mutated(text: str, generator: random.Random) -> str:
    first, last = sorted((generator.randint(0, len(text)), generator.randint(0, len(text))))
    cut = text[first:last]
    kind = generator.randrange(11)
    if kind < 3:
        return text[:first] + generator.choice(PIECES) + text[first:]
    if kind == 3:
        return text[:first] + text[last:]
    if kind == 4:
        return text[:first]
    if kind == 5:
        return text[:last] + cut[:200] * generator.choice((1, 2, 3, 17)) + text[last:]
    if kind == 6:
        return text[:first] + generator.choice((cut.upper(), cut.lower(), cut.title(), cut.swapcase())) + text[last:]
    if kind == 7:
        return text[last:] + cut + text[:first]
    if kind == 8:
        other = generator.choice(ANSWERS)
        return text[:first] + other[generator.randint(0, len(other)) :]
    if kind == 9:
        any_sign = chr(
            generator.choice((generator.randrange(0x80), generator.randrange(0x3000), generator.randrange(0x110000)))
        )
        return text[:first] + any_sign + text[first + 1 :]
    return generator.choice(
        ("<think>{}</think>", "```json\n{}\n```", '{{"answer": "{}"}}', "**{}**", "{}\n{}", "[{}]")
    ).replace("{}", text[:2000])


# --- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fuzzed:
    """What a run of `fuzz` found.

    Attributes:
        inputs: texts given to parsers.
        faults: parser, text and fault of the first ones of each kind.
        outcomes: how often each parser came to each status (or other short result).
        digest: SHA-256 over all results in their order.
    """

    inputs: int
    faults: tuple[tuple[str, str, str], ...]
    outcomes: Mapping[str, Counter[str]]
    digest: str


def fuzz(inputs: int, seed: int, parsers: Mapping[str, Target]) -> Fuzzed:
    """Give `inputs` texts to parsers, each text to every one of them in turn; a tenth of them twice."""
    generator = random.Random(seed)
    digest = hashlib.sha256()
    faults: dict[tuple[str, str], tuple[str, str, str]] = {}
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in parsers}
    given, number = 0, 0
    while given < inputs:
        text = hostile(generator)
        number += 1
        for name, target in parsers.items():
            given += 1
            try:
                found = target.read(text)
                fault = target.fault(text, found)
                if fault is None and number % 10 == 0 and repr(target.read(text)) != repr(found):
                    fault = "another result the second time"
            except Exception as error:  # whatever it is, it is a fault
                found, fault = None, f"{type(error).__name__}: {error}"
            if fault is not None:
                faults.setdefault((name, re.sub(r"\d+|'.*'", "", fault)[:60]), (name, text, fault))
            outcomes[name][_outcome(found)] += 1
            digest.update(repr(found).encode("utf-8", "surrogatepass"))
    return Fuzzed(given, tuple(faults.values()), outcomes, digest.hexdigest())


def _outcome(found: Any) -> str:
    status = getattr(found, "status", None) or getattr(found, "rule", None)
    return str(status) if status else type(found).__name__


# fmt: off
UNITS = (
    "yes no ", "yes or no ", "yes metaphor ", "entailment or contradiction ", "entail", "entailment or ",
    "contradiction. ", "the label is ", "not ", "LABEL: ", "Label:neither ",
    "[", "]", "{", '{"a":', '{"label": "', "[1,", "((", "\\boxed{", "<think>", "</think>", "<answer>", "<box>",
    "<loc0123>", " ", "\n", "\t ", "\r\n", "\u2028", "\u00a0", "\x00", '"', '""', "'", "\u201c", "\u201d", "``` ",
    "*", "_ ", "a_b ", "0", "1 ", "1. ", "12, ", "0.1,", "999999999", "\u0663", "B", "B. ", "A, ", "(C) ", "image A ",
    "the first image ", "the answer is ", "the answer is B ", "is as ", " as ", "is as x as ", "metaphor ",
    "no metaphor ", "sarcasm is not ", "word ", "x", "I cannot ", "sorry ", "n't ", "if ", "?", "!", ".", ". ", ";",
    ",", ": ", "-", "- ", "/", "\\", "<", ">", "e\u0301", "\u0345", "\ud800", "\udfff", "\u0130", "\ufb03",
    "\U0001f600", "\uff21", "\u202e", "\x1b[31m", "scene graph ", "the scene graph a_b ", "Therefore, ",
    "Entailment. ", "Entails. ", "the premise ", "it does ", "primary: [1, 2, 3, 4] ", "1, 2, 3, 4, ",
    '{"bbox_2d": [1, 2, 3, 4]}, ', "statement 12 ", "option 3 or ", "[I] ", '{"scores": [', "1e9,",
    "the claim supports the ", "A or B ", "left ", "best ", "wait, no, ",
)
# fmt: on
SHORT = 6_400, 64_000
LONG = 1_000_000


def repeated(unit: str, size: int) -> str:
    """Return `size` characters of one piece again and again."""
    return (unit * (size // len(unit) + 1))[:size]


def seconds(target: Target, text: str, repeats: int = 1) -> float:
    """Return the processor time of one reading, the least of some."""
    taken = []
    for _ in range(repeats):
        started = time.process_time()
        target.read(text)
        taken.append(time.process_time() - started)
    return min(taken)


@dataclass
class Growth:
    """How the time of a parser grows; each with the piece that it was measured on.

    Attributes:
        within: growth of the time over that of the string, up to 64,000 characters.
        beyond: the same from a million characters on.
        longest: the longest time, in seconds.
    """

    within: tuple[float, str] = (0.0, "")
    beyond: tuple[float, str] = (0.0, "")
    longest: tuple[float, str] = (0.0, "")


def times(parsers: Mapping[str, Target], longest: int, units: Sequence[str] = UNITS) -> dict[str, Growth]:
    """Measure each parser on each piece, repeated up to `longest` characters."""
    found = {name: Growth() for name in parsers}
    for unit in units:
        texts = [repeated(unit, size) for size in (*SHORT, LONG, longest)]
        for name, target in parsers.items():
            growth = found[name]
            within, _ = measured(target, texts[0], texts[1])
            beyond, taken = measured(target, texts[2], texts[3])
            growth.within = max(growth.within, (within, unit))
            growth.beyond = max(growth.beyond, (beyond, unit))
            growth.longest = max(growth.longest, (taken, unit))
    return found


def measured(target: Target, short: str, long: str) -> tuple[float, float]:
    """Growth of the time over that of the string, and the time; a growth of 0 where a time is too short to tell."""
    growth = full = 0.0
    for repeats in (1, 5):  # a second look, because another process may have been in the way
        full = seconds(target, long, repeats)
        if full < 0.05:
            return 0.0, full
        growth = full / max(seconds(target, short, repeats), 2e-4) / (len(long) / len(short))
        if growth < AIM_RATIO:
            break
    return growth, full


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 1 if a promise was broken, or a time grew faster than its string."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000, help="texts given to parsers (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parsers", nargs="+", metavar="NAME", help="those of the table (all)")
    parser.add_argument("--times", action="store_true", help="measure how the time grows instead")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="measure every Nth piece (%(default)s)")
    parser.add_argument("--megabytes", type=int, default=10, help="size of the longest string (%(default)s)")
    given = parser.parse_args(arguments)
    logger.remove()  # files of many runs are warned of
    with TemporaryDirectory() as folder:
        known = targets() | file_targets(Path(folder), each_place=given.times)
        if unknown := set(given.parsers or ()) - set(known):
            parser.error(f"no such parser: {'; '.join(sorted(unknown))}. There are: {'; '.join(known)}")
        return _run(given, {name: known[name] for name in given.parsers or known})


def _run(given: argparse.Namespace, chosen: Mapping[str, Target]) -> int:
    if given.times:
        within = beyond = 0.0
        print("| parser | within 64 KiB | beyond a million | longest, s |\n|---|---|---|---|")
        for name, growth in times(chosen, given.megabytes * LONG, UNITS[:: given.every]).items():
            within, beyond = max(within, growth.within[0]), max(beyond, growth.beyond[0])
            cells = [f"{value:.2f} {unit!r}" if value else "-" for value, unit in (growth.within, growth.beyond)]
            print(f"| {name} | {' | '.join(cells)} | {growth.longest[0]:.2f} {growth.longest[1]!r} |")
        print(
            f"\nGrowth of time over that of the string: at most {within:.2f} within 64 KiB (aim: below {AIM_RATIO}) "
            f"and {beyond:.2f} beyond (aim: below {AIM_BEYOND})"
        )
        return int(within >= AIM_RATIO or beyond >= AIM_BEYOND)
    started = time.perf_counter()
    found = fuzz(given.inputs, given.seed, chosen)
    for name, counts in found.outcomes.items():
        print(f"{name:32}  " + ", ".join(f"{outcome} {count}" for outcome, count in counts.most_common()))
    for name, text, fault in found.faults:
        print(f"FAULT {name}: {fault}\n  {text!r}")
    print(
        f"{found.inputs} inputs over {len(chosen)} parsers, seed {given.seed}, {time.perf_counter() - started:.0f} s: "
        f"{len(found.faults)} kinds of faults; results {found.digest[:16]}"
    )
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
