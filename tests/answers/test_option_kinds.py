"""An answer of these kinds is read otherwise than by a careful person, if this fails."""

from __future__ import annotations

import pytest
from text_readers import FIVE, FOUR, NUMBERS, PICTURES, PLATE, STORM, THREE, TWO, UNREAD, name_read

from figlang_tasks.answers.choices import Choices


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        (
            (
                "The image conveys **(A) a lot on my plate**.\n\nExplanation:\n- **(A) a lot on my"
                " plate**: the word LOT is on a plate.\n- **(B) platelayer**: a person who lays"
                " rails; no rails here.\n- **(C) step up to the plate**: nobody steps.\n- **(D) a"
                " bit too much**: there is no measure."
            ),
            PLATE,
            "A",
        ),
        (
            (
                "**B**\n\nLet me go through the options:\n\n**A:** The man is literally holding a"
                " cat, which is the literal sense of the words.\n**B:** The woman whispers a"
                ' secret, which fits the idiom "let the cat out of the bag".\n**C:** A dog plays'
                " with a ball.\n**D:** An empty bag."
            ),
            FOUR,
            "B",
        ),
        (
            (
                "Answer: C\n\nReasoning:\nA. A literal picture of raining cats and dogs.\n"
                "B. A sunny beach, unrelated.\nC. A heavy downpour with people running.\n"
                "D. A dog in a kennel."
            ),
            FOUR,
            "C",
        ),
        (
            (
                'The best caption is B.\n\nCaption A plays on the double meaning of "mouse", but'
                " the pun is weak.\nCaption B subverts what we expect from a job"
                " interview.\nCaption C is too long.\nCaption D does not have to do with the"
                " cartoon."
            ),
            FOUR,
            "B",
        ),
        (
            (
                "I'd go with option **D**.\n\nHere's a breakdown:\n\n* **Option A** – shows a real"
                " iceberg, so it is literal.\n* **Option B** – shows a glass with ice.\n* **Option"
                " C** – a man in a fridge.\n* **Option D** – two strangers laughing together at a"
                " party, i.e. the ice is broken."
            ),
            FOUR,
            "D",
        ),
        (
            (
                'The image that best represents the metaphor "time is money" is image C, in which a'
                " clock is made of coins. Image A only shows a clock, image B only shows coins, and"
                " image D shows a bank."
            ),
            FOUR,
            "C",
        ),
        (
            (
                'The correct answer is (B).\n\n(A) is the literal meaning of the phrase "spill the'
                ' beans".\n(C) and (D) are not related to the phrase at all.'
            ),
            FOUR,
            "B",
        ),
        (
            (
                "## Answer: D\n\n### Why not the others?\n- A: literal depiction\n"
                "- B: unrelated\n- C: the opposite meaning"
            ),
            FOUR,
            "D",
        ),
        (
            (
                "<answer>B</answer>\n\nA shows a couch potato literally, a potato on a couch. B"
                " shows a lazy man watching TV. C shows a farmer. D shows chips."
            ),
            FOUR,
            "B",
        ),
        (
            (
                'The rebus reads "after the storm", so the answer is (C).\n\n'
                "(A) storm off: would need the word OFF.\n(B) perfect storm: would need PERFECT.\n"
                "(C) after the storm: the word AFTER stands over STORM.\n"
                "(D) weather the storm: would need WEATHER."
            ),
            STORM,
            "C",
        ),
        (
            (
                "(D)\n\nExplanation: The idiom means to be in trouble. In (A) the man swims in hot"
                " water, in (B) a kettle boils, in (C) a bath is filled. Only in (D) does the boss"
                " shout at an employee."
            ),
            FOUR,
            "D",
        ),
        (
            (
                'The idiom "a piece of cake" is best illustrated by image (A): a student who'
                " finishes his exam smiling.\n\nImage (B): a slice of chocolate cake -"
                " literal.\nImage (C): a bakery.\nImage (D): a birthday party."
            ),
            FOUR,
            "A",
        ),
        (
            (
                "My choice is **C**.\n\n| Option | Assessment |\n|---|---|\n"
                "| A | literal |\n| B | partially literal |\n| C | figurative meaning |\n"
                "| D | distractor |"
            ),
            FOUR,
            "C",
        ),
        (
            (
                "The funniest caption is **C**. \n\n**Why C works:** it turns the doctor's words on"
                " their head.\n\n**Why the others fall short:**\n- **A** states the obvious.\n-"
                " **B** needs too much context.\n- **D** is a tired joke.\n- **E** is cute, but it"
                " isn't funny."
            ),
            FIVE,
            "C",
        ),
        (
            "C\n\nAnalysis\n--------\nA -> literal\nB -> literal\nC -> figurative\nD -> none",
            FOUR,
            "C",
        ),
    ],
)
def test_a_verdict_above_explained_options_is_read(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        (
            (
                "(A) is wrong because the man is really under the weather. (B) is wrong as well."
                " (D) is right: the woman is ill in bed."
            ),
            FOUR,
            "D",
        ),
        (
            (
                "A shows a fish out of the water, which is too literal; D shows a man who feels"
                " awkward at a party. The answer is D."
            ),
            FOUR,
            "D",
        ),
        (
            (
                "Image B, which shows a burning candle at both ends, is literal. The correct image"
                " is A."
            ),
            FOUR,
            "A",
        ),
        ("(C) is too literal.", FOUR, None),
        ("A. No.", FOUR, None),
        ("Not B.", FOUR, None),
        ("It is not (B), since nobody in the picture is sleeping.", FOUR, None),
        ("I don't think it's A.", FOUR, None),
        (
            (
                "Image A is literal. Image B is literal too. Image C is not related to the idiom."
                " That leaves image D."
            ),
            FOUR,
            "D",
        ),
        (
            (
                "Option A can be ruled out, because the idiom doesn't mean that someone is burning."
                " Option B can be ruled out too."
            ),
            FOUR,
            None,
        ),
        (
            (
                "(A) depicts a real elephant in a room. (B) depicts an awkward family dinner where"
                " nobody speaks about the divorce. So (B) is the figurative one and the correct"
                " choice."
            ),
            FOUR,
            "B",
        ),
        ("The answer is not A.", FOUR, None),
        ("The answer cannot be (C), because there's no clock.", FOUR, None),
        ("(D) isn't it.", FOUR, None),
        (
            "At first sight (A) seems right, but the man isn't cold. (B) is the correct answer.",
            FOUR,
            "B",
        ),
        (
            "While (C) contains a kettle and a pot, this is the literal reading. I choose (B).",
            FOUR,
            "B",
        ),
        ("A is incorrect, B is incorrect, C is incorrect, D is correct.", FOUR, "D"),
        ("(B) does not convey the meaning of the proverb; neither does (C).", FOUR, None),
        ("A and B are both literal. C is the only one showing the figurative meaning.", FOUR, "C"),
        (
            (
                "Although image (A) has the moon in it, it isn't about rarity. Image (D), on the"
                " other hand, shows a once in a lifetime event. Hence (D)."
            ),
            FOUR,
            "D",
        ),
        ("The picture isn't (A) or (B). It's (C).", FOUR, "C"),
        ("(A) is a red herring. (B) is the right one.", FOUR, "B"),
        ("B would be wrong.", FOUR, None),
        ("Neither A nor B fits.", FOUR, None),
        (
            (
                "I'd exclude A because of its literal nature, and I'd exclude C because it's off"
                " topic."
            ),
            FOUR,
            None,
        ),
        ("Caption A is not funny. Caption B made me laugh.", TWO, "B"),
        ("The caption that doesn't fit is C.", FOUR, None),
    ],
)
def test_options_denied_or_described_first_are_not_read(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("The image which conveys the meaning of the idiom best is a", FOUR, None),
        ("I would choose a", FOUR, None),
        ("The most fitting caption for the cartoon would be a", FOUR, None),
        ("Based on the picture, the phrase is a", FOUR, None),
        ("The correct answer is (C", FOUR, "C"),
        ("The correct answer is", FOUR, None),
        ("The correct answer is (", FOUR, None),
        ("The correct answer is **", FOUR, None),
        ("**Answer:**", FOUR, None),
        ("Answer:", FOUR, None),
        ("The idiom means that someone is very happy. In image A, a", FOUR, None),
        (
            (
                "To find the image, let me look at each of them.\n\n**Image A:** A man is standing"
                " in front of a"
            ),
            FOUR,
            None,
        ),
        ("Let's analyze the options:\n\n(A) shows a cat in a bag.\n(B) shows a", FOUR, None),
        ("(a)", FOUR, "A"),
        ("a", FOUR, "A"),
        ("'a'", FOUR, "A"),
        ("The answer is (a).", FOUR, "A"),
        ('The answer is "a".', FOUR, "A"),
        ("My choice is a picture with a", FOUR, None),
        ("Image", FOUR, None),
        ("Option", FOUR, None),
        ("The image that best depicts the metaphor is the one with a", FOUR, None),
        ("The rebus consists of the word STORM and a", FOUR, None),
        (
            (
                "Looking at the images:\n\n1. Image A - A woman holds an umbrella, it rains"
                " heavily.\n2. Image B - A"
            ),
            FOUR,
            None,
        ),
    ],
)
def test_an_answer_that_is_cut_off_is_not_guessed(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("Answer: A/C", FOUR, None),
        ("A & D", FOUR, None),
        ("B + C", FOUR, None),
        ("A; B", FOUR, None),
        ("C | D", FOUR, None),
        ("The answer is A as well as C.", FOUR, None),
        ("答案是 A 和 C", FOUR, None),
        ("1/2", NUMBERS, None),
        ("A, B", FOUR, None),
        ("A and B", FOUR, None),
        ("Both A and B.", FOUR, None),
        ("A or D", FOUR, None),
        ("The answer is (A) or (B).", FOUR, None),
        ("The answer is either B or C.", FOUR, None),
        ("Answer: A, C and D", FOUR, None),
        ("(A)(B)", FOUR, None),
        ("Answers: A, B", FOUR, None),
        ("Answer: B or D, depending on how you look at it.", FOUR, None),
        ("B / C", FOUR, None),
        ("AB", THREE, None),
        ("The images that fit are A and C.", FOUR, None),
        ("Image A and Image C", FOUR, None),
        ("I'd choose both (B) and (C).", FOUR, None),
        ("**A** and **B**", FOUR, None),
        ("Answer: \\boxed{A, B}", FOUR, None),
        ("A\nB\nC", FOUR, None),
    ],
)
def test_several_options_are_not_read_as_one(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("\\boxed{B}", FOUR, "B"),
        ("\\boxed{(C)}", FOUR, "C"),
        ("\\boxed{\\text{D}}", FOUR, "D"),
        ("$\\boxed{A}$", FOUR, "A"),
        ("The answer is $\\boxed{\\textbf{(B)}}$.", FOUR, "B"),
        ("\\boxed{B: the boat}", FOUR, "B"),
        ("\\fbox{C}", FOUR, "C"),
        ("\\boxed D", FOUR, "D"),
        ("\\boxed{\\frac{A}{C}}\n\nAnswer: D", FOUR, "D"),
        ("\\boxed{A} and \\boxed{B}", FOUR, None),
        ("The idiom is figurative.\n\n$$\\boxed{\\text{B. He is tired}}$$", FOUR, "B"),
        ("\\boxed{\\mathrm{C}}", FOUR, "C"),
        ("Final Answer: \\boxed{Image D}", FOUR, "D"),
        ("\\boxed{Option A}", FOUR, "A"),
        ("\\boxed{E}", FOUR, None),
        ("\\boxed{}", FOUR, None),
        ("\\boxed{A/B}", FOUR, None),
        ("\\boxed{\\text{(C) after the storm}}", STORM, "C"),
        ("\\boxed{after the storm}", STORM, "C"),
        ("Step 1: the plate.\nStep 2: the lot on it.\n\n\\[\n\\boxed{A}\n\\]", FOUR, "A"),
        ("\\boxed{2}", NUMBERS, "2"),
        ("\\boxed{\\text{Caption 3}}", NUMBERS, "3"),
        pytest.param("\\boxed{\\text{The second image}}", PICTURES, "B", marks=UNREAD),
    ],
)
def test_the_option_in_a_box_is_read(output: str, choices: Choices, right: str | None) -> None:
    assert name_read(output, choices) == right
