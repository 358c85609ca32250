# ruff: noqa: E501 (what models write stays on one line)
from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from figlang_tasks.benchmarks.metaclue import parse
from figlang_tasks.benchmarks.metaclue.parse import (
    Boxes,
    Caption,
    Convention,
    Number,
    Role,
    Status,
    YesNo,
    parse_boxes,
    parse_caption,
    parse_number,
    parse_official,
    parse_yes_no,
)
from figlang_tasks.metrics.entailment import accuracy


@pytest.mark.parametrize("marks", [".", "!", "?", "?!", ". ", ".)", '."'])
def test_runs_of_marks_take_linear_time(marks: str) -> None:
    start = time.process_time()
    assert parse_caption(f"a is as b as c{marks * (60_000 // len(marks))}a").status in get_args(Status)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("parser", [parse_official, parse_caption])
def test_of_long_captions_both_ends_are_read(parser: Callable[[str], Caption]) -> None:
    found = parser("a is as b as c " + "word " * 200_000 + "end")
    assert found.status == "parsed" and 30_000 < len(found.text) <= 65_537
    assert parser("word " * 200_000 + "\na is as b as the end").text.endswith(" is as b as the end")


relaxed = settings(deadline=None)
Parts = tuple[str, str, str] | None

# --- statements -------------------------------------------------------------------------------------------------------

PHONE = ("This phone", "fast", "a rocket")

OFFICIAL: list[tuple[str | None, Parts, str]] = [
    (None, None, "missing"),
    ("", None, "none"),
    (" \n", None, "none"),
    ("This phone is as fast as a rocket", PHONE, "statement"),
    ("  This phone  is as fast\nas a rocket.  ", PHONE, "statement"),
    ("this phone IS AS fast AS a rocket", ("this phone", "fast", "a rocket"), "statement"),
    # examples of the paper, figures 1 and 2
    ("Killing trees is as harmful as killing wildlife.", ("Killing trees", "harmful", "killing wildlife"), "statement"),
    (
        "Birds is as much a part of our world as used cans.",
        ("Birds", "much a part of our world", "used cans"),
        "statement",
    ),
    ("This car is as made for the beach as a crab.", ("This car", "made for the beach", "a crab"), "statement"),
    (
        "Getting two ice creams is as exciting as getting two movie tickets for one.",
        ("Getting two ice creams", "exciting", "getting two movie tickets for one"),
        "statement",
    ),
    (
        "This car is as out of this world as three dimensional.",
        ("This car", "out of this world", "three dimensional"),
        "statement",
    ),
    # the first "as" counts
    ("The pill is as safe as as talking people", ("The pill", "safe", "as talking people"), "statement"),
    ("A is as b as c as d", ("A", "b", "c as d"), "statement"),
    ("The road is as long as it is as wide as a sea", ("The road", "long", "it is as wide as a sea"), "statement"),
    # whatever stands around belongs to the parts
    ("Metaphor: This phone is as fast as a rocket", ("Metaphor: This phone", "fast", "a rocket"), "statement"),
    # no such form
    ("These donuts are as unique as talking people", None, "none"),
    ("This phone is as fast", None, "none"),
    ("This phone is a rocket", None, "none"),
    ("is as fast as a rocket", None, "none"),
    (" is as fast as a rocket", None, "none"),
    ("This phone is as fast as", None, "none"),
    ("This phone is as fast as .", None, "none"),
    ("This phone is as  as a rocket", None, "none"),
    ("This phone is asfast as a rocket", None, "none"),
    ("A phone and a rocket", None, "none"),
]


@pytest.mark.parametrize(("output", "parts", "rule"), OFFICIAL)
def test_official(output: str | None, parts: Parts, rule: str) -> None:
    found = parse_official(output)
    assert (found.primary, found.relationship, found.secondary) == (parts or (None, None, None))
    assert (found.status == "parsed") == (parts is not None)
    if output and output.strip():
        assert found.rule == rule
        assert found.text == " ".join(output.split())


CAPTIONS: list[tuple[str | None, Parts, str, str]] = [
    (None, None, "missing", "missing"),
    ("", None, "empty", "empty"),
    ("\n \t", None, "empty", "empty"),
    ("This phone is as fast as a rocket", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket.", PHONE, "parsed", "statement"),
    ('"This phone is as fast as a rocket."', PHONE, "parsed", "statement"),
    ("\u201cThis phone is as fast as a rocket.\u201d", PHONE, "parsed", "statement"),
    ("**This phone** is as **fast** as **a rocket**.", PHONE, "parsed", "statement"),
    ("- This phone is as fast as a rocket", PHONE, "parsed", "statement"),
    ("1. This phone is as fast as a rocket", PHONE, "parsed", "statement"),
    ("# This phone is as fast as a rocket", PHONE, "parsed", "statement"),
    ("<s>This phone is as fast as a rocket</s>", PHONE, "parsed", "statement"),
    ("<answer>This phone is as fast as a rocket</answer>", PHONE, "parsed", "statement"),
    ("<think>A car is as slow as a snail.</think>\nThis phone is as fast as a rocket.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket.</think>", PHONE, "parsed", "statement"),
    # headings
    ("Metaphor: This phone is as fast as a rocket.", PHONE, "parsed", "heading"),
    ("**Metaphor:** This phone is as fast as a rocket.", PHONE, "parsed", "heading"),
    ("The metaphor is: This phone is as fast as a rocket.", PHONE, "parsed", "heading"),
    ('The metaphor could be: "This phone is as fast as a rocket."', PHONE, "parsed", "heading"),
    ("The visual metaphor can be expressed as: This phone is as fast as a rocket.", PHONE, "parsed", "heading"),
    ("Caption: This phone is as fast as a rocket", PHONE, "parsed", "heading"),
    ("Final answer: This phone is as fast as a rocket", PHONE, "parsed", "heading"),
    ("Sure! Here is the metaphor:\n\nThis phone is as fast as a rocket.", PHONE, "parsed", "heading"),
    ("Here it is: This phone is as fast as a rocket.", PHONE, "parsed", "statement"),
    ("Sure, here you go:\n\n> This phone is as fast as a rocket.", PHONE, "parsed", "statement"),
    # lead-ins
    (
        "The image suggests that this phone is as fast as a rocket.",
        ("this phone", "fast", "a rocket"),
        "parsed",
        "statement",
    ),
    (
        "The ad implies that this phone is as fast as a rocket.",
        ("this phone", "fast", "a rocket"),
        "parsed",
        "statement",
    ),
    ("The metaphor is that this phone is as fast as a rocket.", ("this phone", "fast", "a rocket"), "parsed", "*"),
    (
        "This advertisement conveys the message that a phone is as fast as a rocket.",
        ("a phone", "fast", "a rocket"),
        "parsed",
        "statement",
    ),
    ('The ad says "This phone is as fast as a rocket" to its readers.', PHONE, "parsed", "statement"),
    ("The statement that describes it best is: 'This phone is as fast as a rocket'.", PHONE, "parsed", "statement"),
    ("In this ad, this phone is as fast as a rocket.", ("this phone", "fast", "a rocket"), "parsed", "statement"),
    # afterthoughts
    ("This phone is as fast as a rocket, suggesting speed and power.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket, clearly emphasizing speed.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket, which nobody believes.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket because both leave smoke.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket (both leave smoke).", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket \u2014 both leave smoke.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket. It leaves smoke. Buy one!", PHONE, "parsed", "statement"),
    ("I see a phone with flames. This phone is as fast as a rocket.", PHONE, "parsed", "statement"),
    (
        "This phone is as fast as a rocket.\n\nExplanation: the phone is shown with flames.",
        PHONE,
        "parsed",
        "statement",
    ),
    (
        "This juice is as fresh as apples, pears and plums.",
        ("This juice", "fresh", "apples, pears and plums"),
        "parsed",
        "statement",
    ),
    # verbs
    (
        "These donuts are as unique as talking people.",
        ("These donuts", "unique", "talking people"),
        "parsed",
        "statement",
    ),
    ("This phone is just as fast as a rocket.", PHONE, "parsed", "statement"),
    ("Smoking can be just as deadly as a gun.", ("Smoking", "deadly", "a gun"), "parsed", "statement"),
    # abbreviations and points inside
    ("Dr. Pepper is as wild as a river.", ("Dr. Pepper", "wild", "a river"), "parsed", "statement"),
    (
        "This phone by J. Smith is as fast as a rocket.",
        ("This phone by J. Smith", "fast", "a rocket"),
        "parsed",
        "statement",
    ),
    ("A 1.5 l bottle is as big as a car.", ("A 1.5 l bottle", "big", "a car"), "parsed", "statement"),
    # several
    ("This phone is as fast as a rocket. This phone is as fast as a rocket.", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket. Yes: this phone is as fast as a rocket!", PHONE, "parsed", "statement"),
    ("This phone is as fast as a rocket.\nThis phone is as red as a rose.", None, "ambiguous", "several"),
    ("1. This phone is as fast as a rocket.\n2. This phone is as red as a rose.", None, "ambiguous", "several"),
    (
        "It might be that it is as red as a rose.\nFinal answer: This phone is as fast as a rocket.",
        PHONE,
        "parsed",
        "heading",
    ),
    ("Answer: A is as b as c.\nFinal answer: D is as e as f.", None, "ambiguous", "several"),
    # echoes of the pattern
    ("{primary} is as {relationship} as {secondary}", None, "unparsable", "none"),
    ("<primary concept> is as <relationship> as <secondary concept>", None, "unparsable", "none"),
    ("primary concept is as relationship as secondary concept", None, "unparsable", "none"),
    ("[primary] is as [relationship] as [secondary]", None, "unparsable", "none"),
    (
        "Form: primary concept is as relationship as secondary concept.\nThis phone is as fast as a rocket.",
        PHONE,
        "parsed",
        "statement",
    ),
    ("____ is as ____ as ____", None, "unparsable", "none"),
    # JSON
    ('{"primary": "This phone", "relationship": "fast", "secondary": "a rocket"}', PHONE, "parsed", "json"),
    (
        '```json\n{"primary": "This phone", "relationship": "is as fast as", "secondary": "a rocket."}\n```',
        PHONE,
        "parsed",
        "json",
    ),
    ('{"metaphor": "This phone is as fast as a rocket."}', PHONE, "parsed", "json"),
    ('{"primary": "This phone", "secondary": "a rocket"}', None, "unparsable", "none"),
    ('{"primary": "", "relationship": "fast", "secondary": "a rocket"}', None, "unparsable", "none"),
    ("{" * 5000, None, "unparsable", "none"),
    # none
    ("A phone with flames.", None, "unparsable", "none"),
    ("This phone is not as fast as a rocket.", None, "unparsable", "none"),
    ("This phone is like a rocket.", None, "unparsable", "none"),
    ("The phone is faster than a rocket, as you see.", None, "unparsable", "none"),
    ("I'm sorry, I cannot help with that.", None, "refused", "refusal"),
    ("I can't identify a metaphor in this image.", None, "refused", "refusal"),
    ("Unfortunately, the image is too dark.", None, "refused", "refusal"),
    ("I'm sorry for the delay. This phone is as fast as a rocket.", PHONE, "parsed", "statement"),
]


@pytest.mark.parametrize(("output", "parts", "status", "rule"), CAPTIONS)
def test_caption(output: str | None, parts: Parts, status: str, rule: str) -> None:
    found = parse_caption(output)
    assert (found.primary, found.relationship, found.secondary) == (parts or (None, None, None))
    assert found.status == status
    assert rule in ("*", found.rule)
    if parts is not None:
        assert found.text.lower().startswith(parts[0].lower())
        assert parse_caption(found.text).text == found.text


concepts = st.lists(
    st.sampled_from("a the phone car smoking tree ice gold red sea fire his".split()), min_size=1, max_size=4
).map(" ".join)


@given(concepts, concepts, concepts)
@relaxed
def test_every_statement_comes_back(primary: str, relationship: str, secondary: str) -> None:
    statement = f"{primary} is as {relationship} as {secondary}"
    assert parse_official(statement) == Caption(primary, relationship, secondary, statement, "parsed", "statement")
    if primary == "a":
        return
    for output in (statement, f"{statement}.", f'"{statement}"', f"Metaphor: {statement}.", f"1. **{statement}**"):
        found = parse_caption(output)
        assert (found.primary, found.relationship, found.secondary, found.text) == (
            primary,
            relationship,
            secondary,
            statement,
        )


# --- yes or no --------------------------------------------------------------------------------------------------------

YES_NO: list[tuple[str | None, int | None, str, str]] = [
    (None, None, "missing", "missing"),
    ("", None, "empty", "empty"),
    ("\n", None, "empty", "empty"),
    *[
        (text, 1, "parsed", "word")
        for text in ("Yes", "yes", "YES", "Yes.", "yes!", " Yes ", "**Yes**", "Yes, it is.", "(Yes)", '"yes"', "- Yes")
    ],
    *[
        (text, 0, "parsed", "word")
        for text in ("No", "no", "NO.", "No, it is not.", "**No**", "'No'", "no\n\nIt is a car")
    ],
    ("<answer>Yes</answer>", 1, "parsed", "word"),
    ("<think>No, wait. Is it? No.</think>Yes", 1, "parsed", "word"),
    ("1. Yes", 1, "parsed", "word"),
    ("Yes, this is a visual metaphor. There is no text.", 1, "parsed", "word"),
    ("Yes. The answer to life is no secret.", 1, "parsed", "word"),
    ("Yeah, it is", 1, "parsed", "word"),
    ("Nope.", 0, "parsed", "word"),
    ("No metaphor is used.", 0, "parsed", "word"),
    ("No visual metaphor here", 0, "parsed", "word"),
    ("Is this a visual metaphor? Yes", 1, "parsed", "word"),
    ("Is this a visual metaphor?\nNo.", 0, "parsed", "word"),
    ("Does this image contain a visual metaphor? - NO", 0, "parsed", "word"),
    ("Answer: Yes", 1, "parsed", "marker"),
    ("**Answer:** No", 0, "parsed", "marker"),
    ("The answer is yes.", 1, "parsed", "marker"),
    ("The answer is: **No**.", 0, "parsed", "marker"),
    ("There is a car. It is shown as a shark. Final answer: yes", 1, "parsed", "marker"),
    ("No text is seen, but the car is a shark.\nAnswer: Yes", 1, "parsed", "marker"),
    ("\\boxed{Yes}", 1, "parsed", "marker"),
    ("So $\\boxed{\\text{No}}$", 0, "parsed", "marker"),
    ('{"answer": "yes"}', 1, "parsed", "marker"),
    ('{"answer": "No", "why": "it is literal"}', 0, "parsed", "marker"),
    ("Answer: yes. No, the answer is no.", None, "ambiguous", "conflict"),
    ("Answer: yes or no", None, "ambiguous", "echo"),
    ("Yes or No", None, "ambiguous", "echo"),
    ("Yes/No", None, "ambiguous", "echo"),
    ("YES NO", None, "ambiguous", "echo"),
    ("This is a visual metaphor for speed.", 1, "parsed", "statement"),
    ("The image contains a visual metaphor.", 1, "parsed", "statement"),
    ("The ad uses a clever metaphor: the car is a shark.", 1, "parsed", "statement"),
    ("There is a metaphorical comparison.", 1, "parsed", "statement"),
    ("No doubt, this is a visual metaphor.", 1, "parsed", "statement"),
    ("No other brand would do. The ad contains a metaphor.", 1, "parsed", "statement"),
    ("This image does not contain a visual metaphor.", 0, "parsed", "denial"),
    ("The image doesn\u2019t contain a visual metaphor.", 0, "parsed", "denial"),
    ("It isn't a metaphor.", 0, "parsed", "denial"),
    ("There is no metaphor in this image.", 0, "parsed", "denial"),
    ("This is a literal image of a car.", 0, "parsed", "denial"),
    ("This image is a visual metaphor, not a literal picture.", 1, "parsed", "statement"),
    ("It is not a literal picture but a metaphor.", 1, "parsed", "statement"),
    ("It is rather a metaphor than a literal picture.", 1, "parsed", "statement"),
    ("Not a visual metaphor", 0, "parsed", "denial"),
    ("I would say yes.", 1, "parsed", "closing"),
    ("Based on the image, no.", 0, "parsed", "closing"),
    ("The car has fins, so yes, it is.", 1, "parsed", "closing"),
    ("Is it? I say yes, you say no.", None, "unparsable", "none"),
    ("This might be a visual metaphor.", None, "unparsable", "none"),
    ("It is hard to say whether this is a metaphor.", None, "refused", "refusal"),
    ("A car on a road.", None, "unparsable", "none"),
    ("Nothing", None, "unparsable", "none"),
    ("Yesterday", None, "unparsable", "none"),
    ("Note: a car", None, "unparsable", "none"),
    ("I'm sorry, but I can't see the image.", None, "refused", "refusal"),
    ("I cannot determine that.", None, "refused", "refusal"),
    ("maybe", None, "unparsable", "none"),
    ("1", None, "unparsable", "none"),
]


@pytest.mark.parametrize(("output", "label", "status", "rule"), YES_NO)
def test_yes_no(output: str | None, label: Any, status: Status, rule: str) -> None:
    assert parse_yes_no(output) == YesNo(label, status, rule)


@pytest.mark.parametrize("shared_file", ["facts/published_results.json"], indirect=True)
def test_the_majority_answer_scores_what_is_published_as_random(shared_file: Path) -> None:
    """Table 1's "Random" on the test sets: 1331 metaphors with 1419 symbolic or 1000 literal negatives (section 3.1).

    57.12 is of 2330 images, one negative fewer than the text has, which would give 57.10. The numbers of the validation
    sets cannot be had from "20 % of the train splits": those would have 65.10 % metaphors.
    """
    published = {
        fact["setting"]: fact["value"]
        for fact in json.loads(shared_file.read_text(encoding="utf-8"))
        if (fact["benchmark"], fact["task"], fact["model"]) == ("MetaCLUE", "classification", "Random")
    }
    assert len(published) == 4

    def always(answer: str, negatives: int) -> float:
        label = parse_yes_no(answer).label
        return round(100 * accuracy([1] * 1331 + [0] * negatives, [label] * (1331 + negatives)), 2)

    assert always("No.", 1419) == 51.60 == published["symbolic neg / test"]
    assert always("Yes.", 999) == 57.12 == published["literal neg / test"]
    assert always("Yes.", 1000) == 57.10
    validation = [value for setting, value in published.items() if setting.endswith("val")]
    assert max(validation) == 63.10 < 65.10 == round(100 * 3730 / (3730 + 2000), 2)


# --- numbers ----------------------------------------------------------------------------------------------------------

NUMBERS: list[tuple[str | None, int | None, str, str]] = [
    (None, None, "missing", "missing"),
    ("", None, "empty", "empty"),
    (" \n", None, "empty", "empty"),
    *[
        (text, 12, "parsed", "bare")
        for text in (
            "12",
            "12.",
            "(12)",
            "[12]",
            "**12**",
            " 12\n",
            "#12",
            "12)",
            "Option 12",
            "option #12.",
            "Statement 12",
            "Answer: 12",
            "012",
            "<answer>12</answer>",
            "<think>3 or 4? No: 7.</think>\n12",
            '"12"',
        )
    ],
    ("1000", 1000, "parsed", "bare"),
    ("1,000", 1000, "parsed", "bare"),
    ("1", 1, "parsed", "bare"),
    # verdicts
    ("The answer is 12", 12, "parsed", "verdict"),
    ("The answer is 12.", 12, "parsed", "verdict"),
    ("The answer is (12).", 12, "parsed", "verdict"),
    ("The answer is **12**.", 12, "parsed", "verdict"),
    ("The correct answer is option 12.", 12, "parsed", "verdict"),
    ("The correct statement is number 12.", 12, "parsed", "verdict"),
    ("The best option is 12: Smoking is as deadly as 2 guns.", 12, "parsed", "verdict"),
    ("The most fitting statement is 12.", 12, "parsed", "verdict"),
    ("The statement that best matches the image is 12.", 12, "parsed", "verdict"),
    ("Answer: Option 12\n\nThe picture shows 3 cars.", 12, "parsed", "verdict"),
    ("I choose 12 because 3 cars are seen.", 12, "parsed", "verdict"),
    ("I would choose option 12, not 13.", 12, "parsed", "verdict"),
    ("There are 2 people and 3 cars.\nFinal answer: 12", 12, "parsed", "verdict"),
    ("So \\boxed{12} it is, of 50.", 12, "parsed", "verdict"),
    ("My answer: 12", 12, "parsed", "verdict"),
    ('{"answer": 12}', 12, "parsed", "bare"),
    ('{"reason": "2 cars", "answer": 12}', 12, "parsed", "verdict"),
    ("The number of cars is 3, so option 12 fits.", 12, "parsed", "mention"),
    ("The statement says that the car is 3 years old.", None, "unparsable", "none"),
    ("The answer is 3 cars.", None, "unparsable", "none"),
    ("Answer: 12. The answer is 12.", 12, "parsed", "verdict"),
    ("The answer is 3. No wait: final answer: 12", 12, "parsed", "verdict"),
    ("The answer is 3. The answer is 12.", None, "ambiguous", "conflict"),
    # the option repeated
    ("12. Smoking is as deadly as a gun.", 12, "parsed", "leading"),
    ("12) Smoking is as deadly as a gun.", 12, "parsed", "leading"),
    ("12: Smoking is as deadly as 3 guns.", 12, "parsed", "leading"),
    ("Option 12: Smoking is as deadly as 3 guns.", 12, "parsed", "leading"),
    ("**12.** Smoking is as deadly as a gun.\nThe image shows 2 guns.", 12, "parsed", "leading"),
    ("12 (the gun)", 12, "parsed", "leading"),
    ("12 \u2013 Smoking is as deadly as 3 guns", 12, "parsed", "leading"),
    ("12\nThe image shows 2 guns.", 12, "parsed", "leading"),
    ("12, because 2 guns are seen", 12, "parsed", "leading"),
    ("1. A is as b as c.\n2. D is as e as f.\n3. G is as h as i.", None, "ambiguous", "list"),
    # mentions
    ("Statement 12 fits the 3 cars best.", 12, "parsed", "mention"),
    ("It shows 3 cars, so I believe that option 12 fits.", 12, "parsed", "mention"),
    ("Both option 12 and option 13 fit.", None, "ambiguous", "several"),
    # the only number
    ("It's 12.", 12, "parsed", "only"),
    ("I think it is 12 because of the gun.", 12, "parsed", "only"),
    ("Definitely #12!", 12, "parsed", "only"),
    ("There are 12 guns.", None, "unparsable", "none"),
    ("The ad is from 2012.", None, "unparsable", "none"),
    ("It costs 12%", None, "unparsable", "none"),
    ("12 or 13", None, "ambiguous", "several"),
    ("12, 13", None, "ambiguous", "several"),
    ("12 and 13", None, "ambiguous", "several"),
    ("12. 3 cars are as red as a rose.", 12, "parsed", "leading"),
    # no number, or none of the options
    ("0", None, "out_of_range", "bare"),
    ("1001", None, "out_of_range", "bare"),
    ("999999999", None, "out_of_range", "bare"),
    ("Option 1001", None, "out_of_range", "bare"),
    ("The answer is 1001.", None, "out_of_range", "verdict"),
    ("1001. Smoking is as deadly as a gun.", None, "out_of_range", "leading"),
    ("-3", None, "unparsable", "none"),
    ("12.5", None, "unparsable", "none"),
    ("9" * 5000, None, "unparsable", "none"),
    ("twelve", None, "unparsable", "none"),
    ("\u0661\u0662", None, "unparsable", "none"),
    ("Smoking is as deadly as a gun.", None, "unparsable", "none"),
    ("None of the above.", None, "unparsable", "none"),
    ("I'm sorry, I can't tell.", None, "refused", "refusal"),
]


@pytest.mark.parametrize(("output", "number", "status", "rule"), NUMBERS)
def test_number(output: str | None, number: int | None, status: Any, rule: str) -> None:
    assert parse_number(output, 1000) == Number(number, status, rule)


@given(st.integers(1, 1000), st.integers(1, 1000))
@relaxed
def test_every_number_in_every_form(number: int, options: int) -> None:
    for form in (
        "{}",
        "{}.",
        "({})",
        "Option {}",
        "The answer is {}",
        "The answer is {}.",
        "{}. Love is as sweet as honey.",
    ):
        found = parse_number(form.format(number), options)
        assert found.number == (number if number <= options else None)
        assert found.status == ("parsed" if number <= options else "out_of_range")


def test_options_are_counted_from_one() -> None:
    with pytest.raises(ValueError, match="options is 0"):
        parse_number("1", 0)


# --- boxes ------------------------------------------------------------------------------------------------------------

A = (10.0, 20.0, 110.0, 220.0)
B = (200.0, 100.0, 300.0, 180.0)
NAMES: dict[str, Role] = {"The shoe": "primary", "feathers": "secondary"}
BOTH = ([A], [B])

# Pixels of an image of 400 x 300.
BOXES: list[tuple[str | None, tuple[list[Any], list[Any]], str, str]] = [
    (None, ([], []), "missing", "missing"),
    ("", ([], []), "empty", "empty"),
    ("  \n", ([], []), "empty", "empty"),
    # JSON
    ('[{"bbox_2d": [10, 20, 110, 220], "label": "primary"}, {"bbox_2d": [200, 100, 300, 180], "label": "secondary"}]', BOTH, "parsed", "json"),
    ('```json\n[{"bbox_2d": [10, 20, 110, 220], "label": "primary concept"},\n {"bbox_2d": [200, 100, 300, 180], "label": "Secondary concept"}]\n```', BOTH, "parsed", "json"),
    ('Here are the boxes:\n```json\n[{"bbox": [10, 20, 110, 220], "label": "the shoe"}, {"box": [200, 100, 300, 180], "label": "Feathers"}]\n```\nDone.', BOTH, "parsed", "json"),
    ('{"primary": [10, 20, 110, 220], "secondary": [200, 100, 300, 180]}', BOTH, "parsed", "json"),
    ('{"primary": [[10, 20, 110, 220]], "secondary": [[200, 100, 300, 180], [10, 20, 110, 220]]}', ([A], [B, A]), "parsed", "json"),
    ('{"primary concept": {"box": [10, 20, 110, 220]}, "secondary concept": {"boxes": [[200, 100, 300, 180]]}}', BOTH, "parsed", "json"),
    ('{"primary": {"label": "shoe", "bbox": [10, 20, 110, 220]}}', ([], []), "unlabelled", "json"),
    ('{"primary": {"label": "the shoe", "bbox": [10, 20, 110, 220]}}', ([A], []), "parsed", "json"),
    ('{"primary_bbox": [10, 20, 110, 220], "secondary_bbox": [200, 100, 300, 180]}', BOTH, "parsed", "json"),
    ('{"boxes": [{"role": "primary", "box": [10, 20, 110, 220]}, {"role": "secondary", "box": [200, 100, 300, 180]}]}', BOTH, "parsed", "json"),
    ('[{"label": "primary", "x0": 10, "y0": 20, "x1": 110, "y1": 220}]', ([A], []), "parsed", "json"),
    ('[{"label": "primary", "bbox": {"xmin": 10, "ymin": 20, "xmax": 110, "ymax": 220}}]', ([A], []), "parsed", "json"),
    ('{"primary": [[10, 20], [110, 220]]}', ([A], []), "parsed", "json"),
    ('{"primary": "[10, 20, 110, 220]", "secondary": "200, 100, 300, 180"}', BOTH, "parsed", "json"),
    ('{"primary": [], "secondary": []}', ([], []), "parsed", "json"),
    ('{"primary": null, "secondary": [200, 100, 300, 180]}', ([], [B]), "parsed", "json"),
    ("[]", ([], []), "parsed", "json"),
    ("```json\n[]\n```", ([], []), "parsed", "json"),
    ('{"primary": [10, 20, 110]}', ([], []), "unparsable", "none"),
    ('{"primary": [10, 20, 110, 220, 5]}', ([], []), "unparsable", "none"),
    ('{"primary": [true, false, 110, 220]}', ([], []), "unparsable", "none"),
    ('{"a": 1}', ([], []), "unparsable", "none"),
    # JSON that is broken, or one object a line
    ('[{"bbox_2d": [10, 20, 110, 220], "label": "primary"}, {"bbox_2d": [200, 100, 300', ([A], []), "parsed", "objects"),
    ('{"bbox_2d": [10, 20, 110, 220], "label": "primary"}\n{"bbox_2d": [200, 100, 300, 180], "label": "secondary"}', BOTH, "parsed", "objects"),
    ("{'primary': [10, 20, 110, 220], 'secondary': [200, 100, 300, 180]}", BOTH, "parsed", "brackets"),
    ('{"primary": [10, 20, 110, 220], "secondary": [200, 100, 300, 180],}', BOTH, "parsed", "brackets"),
    # tags
    ("<ref>primary</ref><box>10,20,110,220</box><ref>secondary</ref><box>200,100,300,180</box>", BOTH, "parsed", "brackets"),
    ("<ref>the shoe</ref><box>(10,20),(110,220)</box> <ref>feathers</ref><box>(200,100),(300,180)</box>", BOTH, "parsed", "brackets"),
    ("<ref>primary</ref><box>[[10, 20, 110, 220]]</box>\n<ref>secondary</ref><box>[[200, 100, 300, 180]]</box>", BOTH, "parsed", "brackets"),
    ("<ref>primary</ref><box>[[10, 20, 110, 220], [200, 100, 300, 180]]</box>", ([A, B], []), "parsed", "brackets"),
    ("primary <box>10 20 110 220</box>", ([A], []), "parsed", "brackets"),
    ("<|object_ref_start|>primary<|object_ref_end|><|box_start|>(10,20),(110,220)<|box_end|>", ([A], []), "parsed", "brackets"),
    ("<|object_ref_start|>the shoe<|object_ref_end|><|box_start|>(10,20),(110,220)<|box_end|><|box_start|>(200,100),(300,180)<|box_end|>", ([A, B], []), "parsed", "brackets"),
    ("<|ref|>feathers<|/ref|><|det|>[[200, 100, 300, 180]]<|/det|>", ([], [B]), "parsed", "brackets"),
    ("Primary: <|box|>10, 20, 110, 220<|/box|>", ([A], []), "parsed", "brackets"),
    ("primary: <|begin_of_box|>[10, 20, 110, 220]<|end_of_box|>", ([A], []), "parsed", "brackets"),
    # words
    ("Primary concept: [10, 20, 110, 220]\nSecondary concept: [200, 100, 300, 180]", BOTH, "parsed", "brackets"),
    ("The primary concept (the shoe) is at [10, 20, 110, 220] and the feathers are at [200, 100, 300, 180].", BOTH, "parsed", "brackets"),
    ("- **Primary**: [[10, 20, 110, 220]]\n- **Secondary**: [[200, 100, 300, 180]]", BOTH, "parsed", "brackets"),
    ("Primary: [10, 20, 110, 220] and [200, 100, 300, 180]", ([A, B], []), "parsed", "brackets"),
    ("Primary: 10, 20, 110, 220\nSecondary: 200, 100, 300, 180", BOTH, "parsed", "plain"),
    ("Primary: [10.0, 20.0, 110.0, 220.0]", ([A], []), "parsed", "brackets"),
    # nobody's
    ("[[10, 20, 110, 220]]", ([], []), "unlabelled", "json"),
    ("<box>10,20,110,220</box>", ([], []), "unlabelled", "brackets"),
    ("car <box>10,20,110,220</box>", ([], []), "unlabelled", "brackets"),
    ('[{"bbox_2d": [10, 20, 110, 220], "label": "a car"}]', ([], []), "unlabelled", "json"),
    ('[{"bbox_2d": [10, 20, 110, 220], "label": "primary and secondary"}]', ([], []), "unlabelled", "json"),
    # another convention
    ('{"primary": [10, 20, 110, 301]}', ([], []), "convention_mismatch", "json"),
    ('{"primary": [10, 20, 401, 220]}', ([], []), "convention_mismatch", "json"),
    ('{"primary": [-1, 20, 110, 220]}', ([], []), "convention_mismatch", "json"),
    ('{"primary": [10, 20, 110, 220], "secondary": [500, 100, 900, 180]}', ([], []), "convention_mismatch", "json"),
    ('{"primary": [0.1, 0.2, 0.5, 0.6]}', ([], []), "convention_mismatch", "json"),
    ('{"primary": [0, 0, 1, 1]}', ([], []), "convention_mismatch", "json"),
    ('{"primary": [10, 20, 110, 1' + "0" * 400 + "]}", ([], []), "convention_mismatch", "json"),
    ('{"primary": [10, 20, NaN, 220]}', ([], []), "convention_mismatch", "json"),
    ('[{"box_2d": [20, 10, 220, 110], "label": "primary"}]', ([], []), "convention_mismatch", "box_2d"),
    ("<loc0100><loc0200><loc0300><loc0400> primary", ([], []), "convention_mismatch", "loc"),
    # no area
    ('{"primary": [10, 20, 10, 220]}', ([], []), "degenerate", "json"),
    ('{"primary": [110, 220, 10, 20]}', ([], []), "degenerate", "json"),
    ('{"primary": [0, 0, 0, 0]}', ([], []), "degenerate", "json"),
    ('{"primary": [110, 220, 10, 20], "secondary": [200, 100, 300, 180]}', ([], [B]), "parsed", "json"),
    # none
    ("I see a shoe and feathers.", ([], []), "unparsable", "none"),
    ("I'm sorry, I cannot draw boxes.", ([], []), "refused", "refusal"),
    ("[10, 20, 110", ([], []), "unparsable", "none"),
    ("[" * 30_000, ([], []), "unparsable", "none"),
    ("Primary: 10, 20", ([], []), "unparsable", "none"),
    ("The whole image, 400 x 300", ([], []), "unparsable", "none"),
]  # fmt: skip


@pytest.mark.parametrize(("output", "boxes", "status", "rule"), BOXES)
def test_boxes(output: str | None, boxes: tuple[list[Any], list[Any]], status: str, rule: str) -> None:
    found = parse_boxes(output, "pixel", 400, 300, names=NAMES)
    assert (list(found.primary), list(found.secondary), found.status, found.rule) == (*boxes, status, rule)


def test_the_whole_image_is_a_box() -> None:
    found = parse_boxes('{"primary": [0, 0, 400, 300]}', "pixel", 400, 300)
    assert found == Boxes(((0, 0, 400, 300),), (), "parsed", "json")


@pytest.mark.parametrize(
    ("convention", "output", "expected"),
    [
        ("unit", '{"primary": [0.25, 0.5, 0.75, 1.0]}', (100, 150, 300, 300)),
        ("unit", '{"primary": [0, 0, 1, 1]}', (0, 0, 400, 300)),
        ("unit", '{"primary": [0.25, 0.5, 0.75, 1.01]}', None),
        ("unit", '{"primary": [25, 50, 75, 100]}', None),
        ("unit", "primary <box>0.25,0.5,0.75,1.0</box>", (100, 150, 300, 300)),
        ("thousand", '{"primary": [250, 500, 750, 1000]}', (100, 150, 300, 300)),
        ("thousand", "primary <|box_start|>(250,500),(750,1000)<|box_end|>", (100, 150, 300, 300)),
        ("thousand", '{"primary": [250, 500, 750, 1001]}', None),
        ("thousand", '{"primary": [0.25, 0.5, 0.75, 1.0]}', None),
        ("thousand", "<loc0100><loc0200><loc0300><loc0400> primary", None),
        ("thousand_yx", '[{"box_2d": [500, 250, 1000, 750], "label": "primary"}]', (100, 150, 300, 300)),
        (
            "thousand_yx",
            '[{"label": "primary", "ymin": 500, "xmin": 250, "ymax": 1000, "xmax": 750}]',
            (100, 150, 300, 300),
        ),
        ("thousand_yx", '[{"box_2d": [500, 250, 1001, 750], "label": "primary"}]', None),
        ("loc1024", "<loc0512><loc0256><loc1023><loc0768> primary", (100, 150, 300, 1023 / 1024 * 300)),
        ("loc1024", "<loc0512> <loc0256> <loc1023> <loc0768> the primary concept", (100, 150, 300, 1023 / 1024 * 300)),
        ("loc1024", "<loc0512><loc0256><loc1024><loc0768> primary", None),
        ("loc1024", '{"primary": [250, 500, 750, 1000]}', None),
        ("loc1024", "primary <box>1,2,3,4</box>", None),
        ("loc1024", "primary: 1, 2, 3, 4", None),
    ],
)
def test_conventions(convention: Convention, output: str, expected: tuple[float, ...] | None) -> None:
    found = parse_boxes(output, convention, 400, 300)
    if expected is None:
        assert (found.primary, found.secondary, found.status) == ((), (), "convention_mismatch")
    else:
        assert found.status == "parsed"
        assert found.primary == (pytest.approx(expected),)


def test_loc_with_labels_behind() -> None:
    output = (
        "<loc0512><loc0256><loc0600><loc0768> the shoe ; <loc0000><loc0000><loc0100><loc0100> feathers ;"
        " <loc0001><loc0001><loc0100><loc0100> car"
    )
    found = parse_boxes(output, "loc1024", 1024, 1024, names=NAMES)
    assert found == Boxes(((256, 512, 768, 600),), ((0, 0, 100, 100),), "parsed", "loc", dropped=1)
    assert parse_boxes("<loc0512><loc0256> shoe", "loc1024", 10, 10).status == "unparsable"


@pytest.mark.parametrize(
    "output",
    [
        "[10, 20, 110, 220]",
        "<box>10,20,110,220</box>",
        "car: [[10,20,110,220]]",
        '[{"bbox_2d": [10, 20, 110, 220], "label": "car"}]',
    ],
)
def test_one_concept_asked_for(output: str) -> None:
    assert parse_boxes(output, "pixel", 400, 300).status == "unlabelled"
    for role in get_args(Role):
        found = parse_boxes(output, "pixel", 400, 300, role=role)
        assert {"primary": found.primary, "secondary": found.secondary}[role] == (A,)
        assert len(found.primary) + len(found.secondary) == 1


def test_what_is_dropped_is_counted() -> None:
    output = '[{"box": [1,2,3,4], "label": "primary"}, {"box": [5,5,5,5], "label": "primary"}, {"box": [1,2,3,4], "label": "x"}]'
    assert parse_boxes(output, "pixel", 9, 9) == Boxes(((1, 2, 3, 4),), (), "parsed", "json", dropped=2)


@pytest.mark.parametrize(("convention", "width", "height"), [("pixels", 4, 3), ("pixel", 0, 3), ("unit", 4, -1)])
def test_box_refusals(convention: Any, width: int, height: int) -> None:
    with pytest.raises(ValueError, match="convention is|size of the image"):
        parse_boxes("[]", convention, width, height)


place, side = st.integers(0, 998), st.integers(2, 1000)
corners = st.tuples(place, place, side, side).map(
    lambda c: (c[0], c[1], min(1000, c[0] + c[2]), min(1000, c[1] + c[3]))
)


@given(
    st.lists(corners, min_size=1, max_size=3), st.lists(corners, max_size=3), st.integers(1, 3000), st.integers(1, 3000)
)
@relaxed
def test_every_box_in_every_form(primary: list[Any], secondary: list[Any], width: int, height: int) -> None:
    pairs = [("primary", box) for box in primary] + [("secondary", box) for box in secondary]
    as_list = [{"bbox_2d": box, "label": role} for role, box in pairs]
    as_dict: dict[str, Any] = {"primary": primary, "secondary": secondary}
    forms = [
        json.dumps(as_list),
        f"```json\n{json.dumps(as_list, indent=2)}\n```",
        json.dumps(as_dict),
        "\n".join(json.dumps(item) for item in as_list),
        "".join(f"<ref>{role}</ref><box>{a},{b},{c},{d}</box>" for role, (a, b, c, d) in pairs),
        "".join(f"<|object_ref_start|>{role}<|object_ref_end|><|box_start|>({a},{b}),({c},{d})<|box_end|>" for role, (a, b, c, d) in pairs),
        "\n".join(f"{role}: [[{a},{b},{c},{d}]]" for role, (a, b, c, d) in pairs),
        "\n".join(f"{role}: {a}, {b}, {c}, {d}" for role, (a, b, c, d) in pairs),
    ]  # fmt: skip
    expected = [
        tuple((a / 1000 * width, b / 1000 * height, c / 1000 * width, d / 1000 * height) for a, b, c, d in side)
        for side in (primary, secondary)
    ]
    for form in forms:
        found = parse_boxes(form, "thousand", width, height)
        assert (found.status, [found.primary, found.secondary]) == ("parsed", expected), form
        assert all(
            0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height for x0, y0, x1, y1 in (*found.primary, *found.secondary)
        )


# --- any text ---------------------------------------------------------------------------------------------------------

PARSERS: list[Callable[[str | None], Any]] = [
    parse_official,
    parse_caption,
    parse_yes_no,
    lambda output: parse_number(output, 1000),
    lambda output: parse_boxes(output, "pixel", 400, 300, names=NAMES),
    lambda output: parse_boxes(output, "unit", 400, 300, role="primary"),
    lambda output: parse_boxes(output, "thousand_yx", 400, 300),
    lambda output: parse_boxes(output, "loc1024", 400, 300),
]

pieces = st.sampled_from(
    " is as |as |phone|yes|no|Yes.|12|. |\n|: |answer|Option |(|)|[|]|{|}|\"|'|<box>|</box>|<loc0123>|,|0.5|-1|primary"
    "|secondary|label|bbox_2d|```json|\u0130|\ud800|**|</think>|<answer>|NaN|1e999|true|null".split("|")
)
texts = st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join))


@given(texts)
@example("\u0130 is as \u0130 as \u0130")
@example('{"primary": [1e999, 0, 1, 1]}')
@example('{"primary": {"primary": {"primary": [1, 2, 3, 4]}}}')
@settings(deadline=None, max_examples=300)
def test_no_text_raises(text: str) -> None:
    for parser in PARSERS:
        found = parser(text)
        assert found.status in get_args(Status)
        assert found.status != "missing"
        assert (found.status == "empty") == (not text.strip())
    caption = parse_caption(text)
    assert all(
        (part is not None) == (caption.status == "parsed")
        for part in (caption.primary, caption.relationship, caption.secondary)
    )
    assert (parse_yes_no(text).label is not None) == (parse_yes_no(text).status == "parsed")
    assert (parse_number(text, 9).number is not None) == (parse_number(text, 9).status == "parsed")
    boxes = parse_boxes(text, "pixel", 400, 300, role="primary")
    assert boxes.status == "parsed" or (boxes.primary, boxes.secondary) == ((), ())


@pytest.mark.parametrize("value", [3, b"yes", ["yes"]])
def test_what_is_no_text_is_refused(value: Any) -> None:
    for parser in PARSERS:
        with pytest.raises(TypeError, match="output must be str or None"):
            parser(value)


def test_the_constants_are_the_statuses() -> None:
    names = [name for name in parse.__all__ if name.isupper()]
    assert {getattr(parse, name) for name in names} == set(get_args(Status))


PATHOLOGICAL = [
    " is as ",
    "as ",
    "is as as ",
    "a is as b as c. ",
    "a is as b as c\n",
    "Metaphor: ",
    " ",
    "\n",
    "a",
    "(",
    "[",
    "{",
    '{"a":',
    "[[1,2,3,4],",
    "1, ",
    "1",
    "12 ",
    "option 12 ",
    "answer is ",
    "the answer ",
    "no metaphor ",
    "yes ",
    "<box>",
    "<box>1,2,3,4</box>",
    "<loc0123>",
    "primary: [1, 2, 3, 4] ",
    '"',
    "'",
    "-",
    "</think>",
    "<answer>",
    "?! ",
    "{}",
    "is metaphor ",
]


@pytest.mark.parametrize("piece", PATHOLOGICAL)
def test_a_megabyte_takes_little_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    for number, parser in enumerate(PARSERS):
        start = time.process_time()
        parser(text)
        assert time.process_time() - start < 1.0, number
