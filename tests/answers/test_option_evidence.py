"""An answer is read by the wrong evidence, or by evidence that is none, if this fails."""

from __future__ import annotations

import pytest
from text_readers import (
    ANGLES,
    CAPTIONS,
    FOUR,
    IRONY,
    PICTURES,
    PLATE,
    STORM,
    THREE_NUMBERS,
    TWO,
    TWO_PICTURES,
    UNREAD,
    name_read,
)

from figlang_tasks.answers.choices import Choices


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("B", FOUR, "B"),
        ("(B)", FOUR, "B"),
        ("**B**", FOUR, "B"),
        ("B.", FOUR, "B"),
        ("b)", FOUR, "B"),
        ("Image B.", FOUR, "B"),
        ("[B]", FOUR, "B"),
        ("`C`", FOUR, "C"),
        ("<C>", FOUR, "C"),
        ("  D\n", FOUR, "D"),
        ("B</s>", FOUR, "B"),
        ("<s> B", FOUR, "B"),
        ("A<|im_end|>", FOUR, "A"),
        ("The phrase refers to a person who is lazy.\n\nB", FOUR, "B"),
        ("B. The man holds a mask.", FOUR, "B"),
        ("(C) 70°", ANGLES, "C"),
        ("Image C best captures the idea that love is a journey.", FOUR, "C"),
        ("Box B fits closely.", FOUR, "B"),
        ('The idiom "hit the sack" means to go to bed; this is what happens in (D).', FOUR, "D"),
        ("I would select C.", FOUR, "C"),
        ("I would say B is the best choice here.", FOUR, "B"),
        ("It corresponds to D.", FOUR, "D"),
        ("So the right one is A.", FOUR, "A"),
        ("My answer: C.", FOUR, "C"),
        ("This matches option (A).", FOUR, "A"),
        ("Therefore, B.", FOUR, "B"),
    ],
)
def test_an_announced_option_is_read(output: str, choices: Choices, right: str | None) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("(A) the second image", TWO_PICTURES, "A"),
        ("(D) 3", FOUR, "D"),
        ("C (0.75)", FOUR, "C"),
        ("(B) the third image is most similar.", TWO_PICTURES, "B"),
        ("The second image (A) matches the style best.", TWO_PICTURES, "A"),
        ("Answer: (B), the third image.", TWO_PICTURES, "B"),
        ("The answer is (C) 2.", FOUR, "C"),
        ("B. 4 apples", FOUR, "B"),
        ("A: 1", FOUR, "A"),
        ("B, i.e. picture number 3", PICTURES, "B"),
        ("D - the first one", FOUR, "D"),
        ("(B) two", FOUR, "B"),
        ("A. The second and the third image show the literal meaning.", FOUR, "A"),
        ("The answer is B, since the first picture is literal.", PICTURES, "B"),
        ("The third image, which is (B), is more similar to the first image.", TWO_PICTURES, "B"),
        ("(C) 0.9 confidence", FOUR, "C"),
        ("B (confidence: 4/5)", FOUR, "B"),
        ("C. 3 of the 4 people laugh.", FOUR, "C"),
        ("Answer: D (2 votes)", FOUR, "D"),
        pytest.param("**A** 95%", FOUR, "A", marks=UNREAD),
        ("(B) image 2 of the series", FOUR, "B"),
        ("In the second image we see a wolf. Answer: A", PICTURES, "A"),
        ("Answer: A. The second image is literal.", PICTURES, "A"),
    ],
)
def test_a_letter_outranks_what_stands_beside_it(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("(C) storm off", STORM, None),
        ("B: a lot on my plate", PLATE, None),
        ("The answer is (D) a lot on my plate.", PLATE, None),
        ("A. platelayer", PLATE, None),
        ("**C. perfect storm**", STORM, None),
        ("Answer: B) He is being ironic.", IRONY, None),
        ("(A) storm off", STORM, "A"),
        ("(B) perfect storm", STORM, "B"),
        ("C) after the storm", STORM, "C"),
        ("The answer is (D) weather the storm.", STORM, "D"),
        ('C. "after the storm"', STORM, "C"),
        ("C – after the storm", STORM, "C"),
        ("The answer is D: *a bit too much*.", PLATE, "D"),
        ("A\n\nA lot on my plate", PLATE, "A"),
        ('"platelayer" (B)', PLATE, "B"),
        ("platelayer (option B)", PLATE, "B"),
        ('"platelayer" (A)', PLATE, None),
        ("B. He is really happy. He isn't being ironic.", IRONY, "B"),
        ("A. Sorry, I thought it was casual Friday.", CAPTIONS, "A"),
        ("D. \"It's not you, it's the gravity.\"", CAPTIONS, "D"),
        ("B. I'm here about the position.", CAPTIONS, None),
        ("The word/phrase conveyed in this image is (C) step up to the plate.", PLATE, "C"),
    ],
)
def test_a_letter_beside_the_text_of_another_option_is_ambiguous(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("A - no\nB - yes\nC - no\nD - no", FOUR, "B"),
        ("A: ❌\nB: ❌\nC: ✅\nD: ❌", FOUR, "C"),
        ("- [ ] A\n- [ ] B\n- [x] C\n- [ ] D", FOUR, "C"),
        ("(A) incorrect\n(B) incorrect\n(C) incorrect\n(D) correct", FOUR, "D"),
        ("A. a man\nB. a woman\nC. a dog\nD. a cat", FOUR, None),
        ("(A) Image A\n(B) Image B\n(C) Image C\n(D) Image D", FOUR, None),
        ("A) yes\nB) no", TWO, "A"),
        ("A: literal\nB: literal\nC: unrelated\nD: literal", FOUR, None),
        ("A: False\nB: True\nC: False\nD: False", FOUR, "B"),
        ("- A ✗\n- B ✗\n- C ✗\n- D ✓", FOUR, "D"),
        (
            (
                "Image A: does not match\nImage B: matches\nImage C: does not match\nImage D: does"
                " not match"
            ),
            FOUR,
            "B",
        ),
        ("1. No\n2. Yes\n3. No", THREE_NUMBERS, "2"),
        ("Options:\nA. platelayer\nB. plate\nC. plates\nD. a lot", FOUR, None),
        (
            (
                "The options are (A) storm off, (B) perfect storm, (C) after the storm, (D) weather"
                " the storm."
            ),
            STORM,
            None,
        ),
        (
            (
                "Image A shows a cat. Image B shows a dog. Image C shows a mouse. Image D shows a"
                " bird."
            ),
            FOUR,
            None,
        ),
        ("A: no\nB: no\nC: no\nD: no", FOUR, None),
        ("A: yes\nB: yes\nC: no\nD: no", FOUR, None),
        (
            (
                "A. Incorrect - literal\nB. Correct - figurative\nC. Incorrect - literal\nD."
                " Incorrect - unrelated"
            ),
            FOUR,
            "B",
        ),
        (
            (
                "- Option A: Not suitable.\n- Option B: Not suitable.\n- Option C: Suitable.\n-"
                " Option D: Not suitable."
            ),
            FOUR,
            "C",
        ),
        (
            (
                "(A) No, since the man is outside.\n(B) No, since there is no rain.\n"
                "(C) No, it's literal.\n(D) Yes, this shows a person that is sad."
            ),
            FOUR,
            "D",
        ),
        ("**A:** Wrong\n**B:** Right\n**C:** Wrong\n**D:** Wrong", FOUR, "B"),
        (
            (
                "A. The man is holding a bag, so it is literal.\nB. The woman is telling a"
                " secret.\nC. The cat sleeps.\nD. The bag is empty."
            ),
            FOUR,
            None,
        ),
        ("A, B, C, D", FOUR, None),
        pytest.param(
            "Let me check each one.\n\n(A) The word STORM is after OFF: no match.\n"
            "(B) no PERFECT here: no match.\n(C) AFTER over STORM: match!\n"
            "(D) no WEATHER: no match.",
            STORM,
            "C",
            marks=UNREAD,
        ),
    ],
)
def test_items_of_a_list_are_no_choice(output: str, choices: Choices, right: str | None) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("B rather than A.", FOUR, "B"),
        ("I'd rather choose B than A.", FOUR, "B"),
        ("If the man were smiling, the answer would be A.", FOUR, None),
        ("It could be B if the idiom were literal.", FOUR, None),
        ("Instead of C, I choose D.", FOUR, "D"),
        ("A is better than B, C, and D.", FOUR, "A"),
        ("C is more fitting than A.", FOUR, "C"),
        ("Unlike image A, image B shows the figurative sense.", FOUR, "B"),
        ("Compared to A, B is a better fit.", FOUR, "B"),
        ("B is a better fit compared with D.", FOUR, "B"),
        ("The answer is B, not A.", FOUR, "B"),
        ("The answer is not B but D.", FOUR, "D"),
        ("Not C, but A.", FOUR, "A"),
        ("(B), as opposed to (A).", FOUR, "B"),
        ("The answer is B instead of C.", FOUR, "B"),
        ("It can't be A, so it must be B.", FOUR, "B"),
        ("I'm not sure whether it's A or B.", FOUR, None),
        ("I'm not sure, but I think it's C.", FOUR, "C"),
        ("I cannot see the image, so I can't say whether it's B.", FOUR, None),
        ("Without the image I cannot answer; A, B, C and D are all possible.", FOUR, None),
        ("Unless it's a literal image, it isn't C.", FOUR, None),
        ("None of the options (A, B, C, D) fits.", FOUR, None),
        pytest.param("I prefer D to B.", FOUR, "D", marks=UNREAD),
    ],
)
def test_what_is_denied_compared_or_conditional_is_not_read(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "right"),
    [
        ("The answer is B?", None),
        ("Answer: B?", None),
        ("Is the answer B?", None),
        ("Should I choose B?", None),
        ("Is B the correct answer?", None),
        ("Is B the best choice?", None),
        ("Could it be that the answer is (C)?", None),
        ("The answer is B? The answer is C.", "C"),
        ("The answer is B. Is it C?", "B"),
        ("Answer: D. Or is the answer A?", "D"),
    ],
)
def test_a_question_announces_nothing(output: str, right: str | None) -> None:
    assert name_read(output, FOUR) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        (
            "Answer: A\n\nWait, the idiom isn't meant literally. Let me reconsider.\n\nAnswer: B",
            FOUR,
            "B",
        ),
        ("I think it's A. Hmm, no, actually the man is laughing. The answer is C.", FOUR, "C"),
        ("The answer is A. Correction: the answer is D.", FOUR, "D"),
        ("I'm sorry, I can't see the image well. But the best answer is B.", FOUR, "B"),
        ("I can't determine it for sure. If I have to guess, answer: D", FOUR, "D"),
        ("As an AI, I can't feel humour, but I'd choose caption C.", FOUR, "C"),
        ("Initially I thought the answer was A, but on closer look the answer is B.", FOUR, "B"),
        ("The answer is B? No: the plate carries the word LOT. So the answer is A.", FOUR, "A"),
        ("My first guess was D. My final answer is C.", FOUR, "C"),
        ("Answer: B\n\nOn second thought, answer: C", FOUR, "C"),
        ("Answer: C\n\nLet me double-check: yes, C.\n\nFinal answer: C", FOUR, "C"),
        ("I'd say the answer is A... but looking again, it's definitely (D).", FOUR, "D"),
        (
            (
                "The answer is (A). Hmm, wait. Image B is actually better, because it shows the"
                " figurative sense. So I choose (B)."
            ),
            FOUR,
            "B",
        ),
        ("Unfortunately none of them is perfect. The closest one is A.", FOUR, "A"),
        ("It's hard to say which one is best. The answer is D.", FOUR, "D"),
        ("<think>The answer is A. No, B.</think>The answer is B.", FOUR, "B"),
        ("<think>The answer is A.", FOUR, None),
        ("<think>\nOK so C.\n</think>\n\n**C**", FOUR, "C"),
        ("Thought: A is literal.\nAnswer: B", FOUR, "B"),
        ("I apologize for the confusion. The correct answer is D.", FOUR, "D"),
        ("You are right, my previous answer B was wrong. The correct answer is A.", FOUR, "A"),
        ("I first considered (B), then (C). Final answer: (C).", FOUR, "C"),
        ("Final Answer: A\n\nCheck: A is figurative. Yes.", FOUR, "A"),
    ],
)
def test_the_last_announcement_counts(output: str, choices: Choices, right: str | None) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "right"),
    [
        ("Answer: A. Wait, no, B.", "B"),
        ("Answer: A. Sorry, I meant B.", "B"),
        ("Answer: A\n\nCorrection: B", "B"),
        ("The answer is A. On second thought, B is better.", "B"),
        ("Answer: A.\n\nWait, let me reconsider. B fits better.", "B"),
        ("Answer: B. Only A shows a man.", "B"),
        ("D. Only A is a photo.", "D"),
        ("The answer is B. The second best is A.", "B"),
        ("The answer is B. The best literal depiction is A.", "B"),
        ("The correct answer is D. C is the closest to it.", "D"),
        ("The answer is D. C is the most likely distractor.", "D"),
        ("Answer: D. A was the closest runner-up.", "D"),
        ("The answer is B. The most literal is C.", "B"),
        ("D is the answer. A is the funniest but off-topic.", "D"),
        ("Answer: D. Most people choose A.", "D"),
        ("Answer: D. Many would pick A.", "D"),
        ("Answer: D. You might go with A, though.", "D"),
        ("I doubt the answer is A.", None),
        ("It is unlikely that the answer is A.", None),
        ("Nobody would say the answer is A.", None),
        ("My friend says the answer is A.", None),
        ("Answer: D. The result is A.", "D"),
        ("Answer: D. The output: A", "D"),
        ("Answer: A (or B)", None),
        ("The answer is A, or perhaps B.", None),
        ("Not only C but also D", None),
        ("(A) no, (B) yes, (C) no, (D) no", "B"),
        ("A (no), B (yes)", "B"),
        ("A: Yes, but only literally\nB: No\nC: No", None),
        ("Answer: B. Choice: unknown", "B"),
        ("<answer></answer> B", "B"),
        ("B</answer>", "B"),
        ("The correct answer is (A). The bottom, which is B, would be something else.", "A"),
        ("It is (C), I think.\n\nB", "B"),
        ("We would lean towards B, whereas C is only a cat.", "B"),
    ],
)
def test_only_corrections_after_an_announcement_change_the_option(
    output: str, right: str | None
) -> None:
    assert name_read(output, FOUR) == right
