"""An answer names an option, and our reader does not see it or sees another, if this fails."""

from __future__ import annotations

import pytest
from text_readers import (
    CAPTIONS,
    FIVE,
    FOUR,
    INVENTED,
    IRONY,
    NINE,
    NUMBERS,
    PICTURES,
    PLATE,
    STORM,
    TEN,
    THREE,
    TWELVE,
    TWO,
    UNREAD,
    name_read,
)

from figlang_tasks.answers.choices import Choices


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("I", TEN, "I"),
        ("(I)", TEN, "I"),
        ("Answer: I", TEN, "I"),
        ("I think the answer is C.", TEN, "C"),
        ("The answer is I.", TEN, "I"),
        ("The answer is (I).", TEN, "I"),
        ("I.", NINE, "I"),
        ("I would choose B.", NINE, "B"),
        ("I am not able to see the image.", TEN, None),
        ("I can't tell.", NINE, None),
        ("I believe the phrase is figurative.", NINE, None),
        ("**I**", TEN, "I"),
        ("I. The man is on top of the world.", TEN, "I"),
        ("I don't know.", TWELVE, None),
        ("If I had to choose, I'd choose H.", NINE, "H"),
        ("Answer: J. I am sure.", TEN, "J"),
        ("The best one is I, because the lion wears a crown.", NINE, "I"),
        ("I'm sure that it's D", NINE, "D"),
        ("Option I", TEN, "I"),
        ("Image I shows it best.", NINE, "I"),
        ("The answer is A. I hope this helps.", TEN, "A"),
        ("What I see is a man who is angry. I would say he's furious.", TEN, None),
    ],
)
def test_i_is_told_from_the_pronoun(output: str, choices: Choices, right: str | None) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("2", NUMBERS, "2"),
        ("2.", NUMBERS, "2"),
        ("(2)", NUMBERS, "2"),
        ("**2**", NUMBERS, "2"),
        ("Caption 2", NUMBERS, "2"),
        ("The answer is 3.", NUMBERS, "3"),
        ("Answer: 4", NUMBERS, "4"),
        ("Statement 1", NUMBERS, "1"),
        ("Option 3 is the best.", NUMBERS, "3"),
        ("#4", NUMBERS, "4"),
        ("No. 2", NUMBERS, "2"),
        ("No. 2 is the funniest one.", NUMBERS, "2"),
        ("The second statement.", NUMBERS, "2"),
        ("The third one", NUMBERS, "3"),
        ("I'd choose number 1.", NUMBERS, "1"),
        ("2 people sit in a boat.", NUMBERS, None),
        ("There are 3 people in the picture.", NUMBERS, None),
        ("The picture shows 2 dogs and 1 cat.", NUMBERS, None),
        ("1. A man\n2. A woman\n3. A dog\n4. A cat", NUMBERS, None),
        pytest.param("Two.", NUMBERS, "2", marks=UNREAD),
        pytest.param("two", NUMBERS, "2", marks=UNREAD),
        pytest.param("Statement two", NUMBERS, "2", marks=UNREAD),
        ("The answer is 7.", NUMBERS, None),
        ("I count 4 words. The answer is 2.", NUMBERS, "2"),
        ("3: The surgeon is a butcher.", NUMBERS, "3"),
    ],
)
def test_options_are_read_by_their_numbers(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("The second image.", PICTURES, "B"),
        ("The second image shows the idiom best.", PICTURES, "B"),
        ("The answer is the third picture.", PICTURES, "C"),
        ("The first image", PICTURES, "A"),
        ("I would pick the fourth one.", PICTURES, "D"),
        ("The last image.", PICTURES, "D"),
        ("Image 2", PICTURES, "B"),
        ("Picture 3", PICTURES, "C"),
        ("The 2nd image", PICTURES, "B"),
        ("The image on the left", PICTURES, None),
        (
            "The first image is literal. The second image is figurative, so it's the answer.",
            PICTURES,
            "B",
        ),
        ("Second", PICTURES, "B"),
        ("third", PICTURES, "C"),
        ("It's the first.", PICTURES, "A"),
        ("Not the first image, but the second one.", PICTURES, "B"),
        ("First, let me look at the images.", PICTURES, None),
        ("The first thing I see is a man.", PICTURES, None),
        ("Second, the man is angry.", PICTURES, None),
        ("The third image, since it shows a party.", PICTURES, "C"),
        ("The answer is image 4.", PICTURES, "D"),
        pytest.param("Image three", PICTURES, "C", marks=UNREAD),
        ("The fifth image", PICTURES, None),
        ("Of the four images, the second one best illustrates the metaphor.", PICTURES, "B"),
        pytest.param("第二张图片", PICTURES, "B", marks=UNREAD),
        pytest.param("A segunda imagem", PICTURES, "B", marks=UNREAD),
        pytest.param("The image in the second position", PICTURES, "B", marks=UNREAD),
    ],
)
def test_ordinals_name_options_only_where_these_are_pictures(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("after the storm", STORM, "C"),
        ("After the storm.", STORM, "C"),
        ('"After the storm"', STORM, "C"),
        ('The phrase is "weather the storm".', STORM, "D"),
        ("This rebus shows *perfect storm*.", STORM, "B"),
        ('The word/phrase conveyed in this image is "a lot on my plate".', PLATE, "A"),
        ("The word LOT is written on a plate, therefore: a lot on my plate.", PLATE, "A"),
        ("The picture shows the word PLATE.", PLATE, None),
        ("storm", STORM, None),
        ('It isn\'t "storm off".', STORM, None),
        ('It\'s either "storm off" or "after the storm".', STORM, None),
        ("The answer is perfect storm, because the storm is drawn perfectly.", STORM, "B"),
        ('I think the rebus means "a bit too much".', PLATE, "D"),
        pytest.param('The phrase "storm off" would need OFF.', STORM, None, marks=INVENTED),
        ("Sorry, I thought it was casual Friday.", CAPTIONS, "A"),
        ('The funniest caption is "You should see the other guy."', CAPTIONS, "B"),
        (
            'I like "I\'m here about the position" the most, because it is unexpected.',
            CAPTIONS,
            "C",
        ),
        ("You should see the other guy", CAPTIONS, "B"),
        ("He is being ironic.", IRONY, "A"),
        ("He is tired of waiting", IRONY, "C"),
        ("He is sad.", IRONY, None),
        ("He is not being ironic.", IRONY, None),
        ('"in the heat of the storm"', STORM, None),
    ],
)
def test_options_are_read_by_their_texts(output: str, choices: Choices, right: str | None) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("E", FOUR, None),
        ("The answer is (E).", FOUR, None),
        ("Answer: F", FOUR, None),
        ("Image G", FOUR, None),
        ("(E) none of these", FOUR, None),
        ("Answer: 5", NUMBERS, None),
        ("The answer is Z.", FOUR, None),
        ("C", TWO, None),
        ("The answer is (D).", THREE, None),
        ("Option E is best.", FOUR, None),
        ("Answer: E. Option A is literal.", FOUR, None),
        ("The fifth image", PICTURES, None),
        ("0", NUMBERS, None),
        ("Answer: 0", NUMBERS, None),
        ("\\boxed{F}", FOUR, None),
        ("Caption 9", NUMBERS, None),
        ("X", FOUR, None),
        ("**E**", FOUR, None),
        ("The correct choice is E, not A.", FOUR, None),
        ("The man wears a T-shirt.", FOUR, None),
        ("He got an A in the exam and celebrates.", FOUR, None),
        ("The letter A is drawn upside down.", FOUR, None),
    ],
)
def test_what_was_not_offered_or_is_no_name_is_not_read(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right


@pytest.mark.parametrize(
    ("output", "choices", "right"),
    [
        ("I'd say either (A), (B) or (D), but I can't decide.", FOUR, None),
        ('The image shows a letter B made of bees. It could stand for "be".', PLATE, None),
        (
            'The rebus shows the letter C above the word SIGHT, which gives "out of sight".',
            FOUR,
            None,
        ),
        ("The rebus has three letters: A, B and D. The C is missing.", FOUR, None),
        ('We have the text "I" before the letter C, i.e. "I see".', FOUR, None),
        ("The cartoon shows a doctor and a patient. Patient A tells patient B a joke.", FOUR, None),
        ("Panel A shows the man before lunch, panel B after lunch.", FOUR, None),
        ("The figure shows a group B of people.", FOUR, None),
        ("The man thinks about plan B. The metaphor is that life is chess.", FOUR, None),
        ("The sarcasm is rated C on a scale from A to E.", FIVE, None),
        ("Answer: None of the options", FOUR, None),
        ("Answer: none", FOUR, None),
        ("Answer: unclear", FOUR, None),
        ("N/A", FOUR, None),
        (
            "The answer is (A) if we take it literally and (B) if we take it figuratively.",
            FOUR,
            None,
        ),
        ("Depending on the reading it's A or C.", FOUR, None),
        ("Answer: B. Although A would be an option as well, it is too literal.", FOUR, "B"),
        ("Answer: B (A is a close second)", FOUR, "B"),
        ("B is the best, followed by A.", FOUR, "B"),
        ("The best caption is C, with A as the runner-up.", FOUR, "C"),
        pytest.param("I'd rank them C > A > B > D, so C.", FOUR, "C", marks=UNREAD),
        ("My answer is C and not A.", FOUR, "C"),
        ("Answer: C, not A.", FOUR, "C"),
        ("Answer: not A.", FOUR, None),
        ("The answer should not be B.", FOUR, None),
        ("It's definitely not C.", FOUR, None),
        ("I would not choose D.", FOUR, None),
        ("Anything but B.", FOUR, None),
        ("The wrong answer is A.", FOUR, None),
        ("The least fitting option is D.", FOUR, None),
        pytest.param("A common mistake would be to choose (A).", FOUR, None, marks=INVENTED),
        ("Many people would choose A, but the correct answer is C.", FOUR, "C"),
        ("One might think that the answer is A. However, it's C.", FOUR, "C"),
        ("You might say B, but B is literal. The answer: D.", FOUR, "D"),
        ("The literal meaning is shown in A, the figurative meaning in B.", FOUR, None),
        pytest.param("The figurative meaning is shown in B.", FOUR, "B", marks=UNREAD),
        ("The idiom isn't shown in A, B or C, only in D.", FOUR, "D"),
        ("All but C are literal.", FOUR, None),
        ("All the captions except B are funny.", FOUR, None),
        ("The answer is A because (B), (C), and (D) are all literal.", FOUR, "A"),
        ("The answer is (C), since (A) and (B) lack humour and (D) is off-topic.", FOUR, "C"),
        ("Answer: B\nConfidence: 80%\nSecond choice: C", FOUR, "B"),
        pytest.param("First choice: A\nSecond choice: D", FOUR, "A", marks=UNREAD),
        ("The top choice is B. The second-best choice is A.", FOUR, "B"),
        ("Literal: A\nFigurative: B\nPartially literal: C\nDistractor: D", FOUR, None),
        ("A) 0.1\nB) 0.7\nC) 0.1\nD) 0.1", FOUR, None),
        ("Question: Which image shows the idiom? Options: A, B, C, D. Answer: D", FOUR, "D"),
        ("USER: which one?\nASSISTANT: (B)", FOUR, "B"),
        ("My guess would be B, though D comes close.", FOUR, "B"),
        ("I'm leaning towards C, but A is possible as well.", FOUR, "C"),
        ("Out of the four captions, I find C the funniest.", FOUR, "C"),
        ("If I must choose: C.", FOUR, "C"),
        ("A和B都不对，C才是正确的。", FOUR, "C"),
        pytest.param(
            "Die Bilder A und B sind wörtlich, daher ist C richtig.", FOUR, "C", marks=UNREAD
        ),
        ("It would be A if the man were sad, but he's laughing, so it's B.", FOUR, "B"),
        ("The statement that isn't true is 3.", NUMBERS, None),
        ("The man's grade is a B.", FOUR, None),
        ('Caption D: "You should see the other guy."', CAPTIONS, None),
    ],
)
def test_names_in_sentences_of_many_kinds_are_read(
    output: str, choices: Choices, right: str | None
) -> None:
    assert name_read(output, choices) == right
