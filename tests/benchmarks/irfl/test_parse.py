"""Answers in words: what a careful reader takes them to say, and nothing where one would have to guess."""

from __future__ import annotations

import itertools
import re
import string
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from figlang_tasks.benchmarks.irfl.parse import (
    AMBIGUOUS,
    CHOSEN,
    EMPTY,
    NONE,
    OUT_OF_RANGE,
    REFUSED,
    STATUSES,
    Choice,
    YesNo,
    parse_choice,
    parse_yes_no,
)

relaxed = settings(deadline=None)
A, B, C, D = range(4)

# The statuses by their initials would hide what a case is about; so a case is (output, option or status).
CASES: list[tuple[str, int | str]] = [
    # --- an option alone, in every decoration
    ("A", A),
    ("B", B),
    ("c", C),
    ("a", A),
    ("b.", B),
    ("A.", A),
    ("A)", A),
    ("B)", B),
    ("(B)", B),
    ("[B]", B),
    ("(a)", A),
    ("{C}", C),
    ("**B**", B),
    ("__D__", D),
    ("`C`", C),
    ("'B'", B),
    ('"A"', A),
    (" \n B \n", B),
    ("B\n", B),
    ("B:", B),
    ("-> B", B),
    ("### B", B),
    ("$B$", B),
    ("\uff22", B),  # fullwidth B
    ("\uff08\uff22\uff09", B),
    ("\u24b8", C),  # circled C
    ("\uff13", C),  # fullwidth 3
    ("**\u201cB\u201d**", B),
    ("2", B),
    ("2.", B),
    ("(3)", C),
    ("#3", C),
    ("two", B),
    ("Option C", C),
    ("Image 2", B),
    ("image two", B),
    ("Image B", B),
    ("Image A", A),
    ("image a", A),
    ("picture #3", C),
    ("Picture no. 3", C),
    ("Image number 4", D),
    ("Image: 3", C),
    ("Image (B)", B),
    ("the second image", B),
    ("The second image.", B),
    ("2nd image", B),
    ("The 3rd picture", C),
    ("the last image", D),
    ("The fourth one.", D),
    ("second", B),
    ("B</s>", B),
    ("B<|im_end|>", B),
    ("<s> B <end_of_utterance>", B),
    ("ASSISTANT: B", B),
    ("Assistant: The second image", B),
    # --- an option at the head
    ("B.\n\nThe image shows a man under a pile of paper.", B),
    ("B. The image shows a man under a pile of paper.", B),
    ("B) A man under a pile of paper", B),
    ("(B) A man under a pile of paper", B),
    ("B: A man under a pile of paper", B),
    ("**B** - a man under a pile of paper", B),
    ("A. A man walks on thin ice.", A),
    ("A) a dog", A),
    ("A: because it shows the meaning.", A),
    ("B, because it shows relief.", B),
    ("B because it shows relief.", B),
    ("D The image shows a calm sea.", D),
    ("c) The picture of the clown", C),
    ("b. the one with the clown", B),
    ("B\n\nA: literal\nC: random\nD: random", B),
    ("**Answer**\n\nC\n\nIt shows a person in trouble.", C),
    ("Image B\n\nIt shows the idiom as it is meant.", B),
    # --- an answer that is named
    ("Answer: B", B),
    ("Answer: A", A),
    ("answer: a", A),
    ("Answer: (C)", C),
    ("Answer:\nB", B),
    ("Answer:\n\n**B**", B),
    ("### Answer: D", D),
    ("**Answer:** B", B),
    ("Answer - B", B),
    ("Answer B", B),
    ("Answer: 2", B),
    ("Answer: two", B),
    ("The answer is B", B),
    ("The answer is B.", B),
    ("The answer is (B).", B),
    ("The answer is:\n\nB", B),
    ("The answer is option C.", C),
    ("The answer is the third image.", C),
    ("The answer is A, since it shows fear.", A),
    ("The answer is A because the man is afraid.", A),
    ("The correct answer is therefore **D**.", D),
    ("The correct option is B: a man lost in papers.", B),
    ("My choice is image 3.", C),
    ("Choice: C", C),
    ("My selection would be B.", B),
    ("The best match is B.", B),
    ("The best image would be image 2.", B),
    ('The image that best visualizes the meaning of "break a leg" is image 4.', D),
    ('The picture that best represents the phrase "a piece of cake" is A.', A),
    ('The simile "as busy as a bee" is best represented by image B.', B),
    ("The idiom is best captured in the second image.", B),
    ("Final answer: B", B),
    ("**Final Answer:** C", C),
    ("Final Answer\nC", C),
    ("I choose B.", B),
    ("I would choose image C.", C),
    ("I'd go with option D.", D),
    ("I'd say B.", B),
    ("I would pick the second image.", B),
    ("I select A.", A),
    ("I prefer C over B.", C),
    ("Based on the images, I would select Image 1.", A),
    ("So the answer must be B.", B),
    ("Therefore, B.", B),
    ("I think it's B.", B),
    ("I believe the answer is C.", C),
    ("It is B.", B),
    # --- marked for machines
    ('{"answer": "B"}', B),
    ("{'answer': 'C'}", C),
    ('{"answer": 2}', B),
    ('{"answer": "Image 3"}', C),
    ('{"reason": "A man is lost", "answer": "A"}', A),
    ('```json\n{"answer": "B",\n "reason": "Image A shows a cat"}\n```', B),
    ('{"final_answer": "d"}', D),
    ('{"best_image": "B"}', B),
    (r"\boxed{B}", B),
    (r"The answer is $\boxed{\text{C}}$.", C),
    (r"Image A is close. \boxed{2}", B),
    ("<answer>B</answer>", B),
    ("<answer> (C) </answer>", C),
    ("Image A is close, image B is closer. <answer>B</answer>", B),
    ("<|begin_of_box|>B<|end_of_box|>", B),
    ("My verdict is [[B]]", B),
    # --- a letter inside an explanation
    ("I think B shows it best because the man is lost.", B),
    ("B shows the feeling of being lost.", B),
    ("A shows the feeling of being lost.", A),
    ("A is the best choice.", A),
    ("A best captures the meaning.", A),
    ("B best captures the meaning, while A shows a literal cake.", B),
    ("Image A shows a dog. Image B shows it best.", B),
    ("Image B, with the man under papers, fits best.", B),
    ("The man in image C looks relieved, as the idiom says.", C),
    ("Image C is the most appropriate. Image A shows a cat, image B a dog.", C),
    ("Option D comes closest to the meaning.", D),
    ("B is better than A.", B),
    ("I would go with B rather than A.", B),
    ("Unlike A and C, B conveys the feeling.", B),
    ("Image B's mood conveys the feeling.", B),
    ("A, C and D are literal; B is figurative.", B),
    ("A, C, and D are wrong. B conveys it.", B),
    ("Image 1 is literal. Image 2 is unrelated. Image 3 conveys the idea. Image 4 is unrelated.", C),
    ("It's not A, B or D, so C.", C),
    ("The answer is B, not A.", B),
    ("It is not A but C.", C),
    ("None of the images is perfect, but image B comes closest.", B),
    ("The first image is literal, the second conveys relief.", B),
    ("Neither A nor C conveys it. D conveys it.", D),
    ("A. a dog\nB. a cat\nC. a fish\nD. a bird\n\nThe answer is C.", C),
    ("A: a dog\nB: a cat\nC: a fish\nD: a bird\n\nB", B),
    ("1. The first image shows a dog.\n2. The second image shows a cat.\nThe best image is the second one.", B),
    ("Let's see. (A) shows ice, (B) a man, (C) a cake, (D) a sea. The correct answer is (B).", B),
    ("Vitamin C is shown in image B.", B),
    ("The correct image is B.\n\nPlan A was to run.", B),
    # --- corrections: the last one counts
    ("The answer is B. No wait, the answer is C.", C),
    ("Answer: A\n\nWait, I made a mistake. Answer: D", D),
    ("I choose A. On second thought, I choose B.", B),
    ("The answer is B. Actually, C.", C),
    ("The answer is B. Final answer: C", C),
    # --- answers as models of several families word them
    (
        'The image that best represents the phrase "to have a chip on one\'s shoulder" is:\n\n**C**\n'
        "\nExplanation: The phrase means to hold a grudge. Image A shows a potato chip, which is "
        "literal.",
        C,
    ),
    (
        "The best image is option **(D)**.\n\n### Reasoning\n1. Option A: literal chip.\n2. Option B: "
        "unrelated.\n3. Option C: a man on a bench.\n4. Option D: an angry man.",
        D,
    ),
    (
        "Let's analyze each image:\n\n- **Image A**: Shows a person on thin ice. This is a literal "
        "depiction.\n- **Image B**: Shows a person about to be fired, which fits the figurative "
        "meaning.\n- **Image C**: Shows a skating rink.\n- **Image D**: Shows a dog.\n\nTherefore, "
        "the correct answer is **Image B**.",
        B,
    ),
    (
        "Let's analyze each image:\n\n- **Image A**: Shows a person on thin ice.\n- **Image B**: "
        "Shows a person about to be fired.\n\nBased on this analysis, **Image B** is the most "
        "suitable choice.",
        B,
    ),
    (
        "To determine which image best visualizes the idiom, we need to understand its meaning.\n\n"
        "The idiom means to be in a risky situation. Image 3 best visualizes this because it shows a "
        "man near a cliff.",
        C,
    ),
    ('The metaphor "he is a lion" is best visualized by image D, which shows a brave fireman.', D),
    ("B, the picture of the busy office, best represents it.", B),
    ("Among the four images, the one that best conveys the meaning is the third one.", C),
    ("The third image (C) best conveys the meaning of the idiom.", C),
    ("I would choose the image on the top left.", NONE),
    ("Image A\n\nImage A shows a cheetah, and the car is as fast as a cheetah.", A),
    ("Based on the given phrase, the image that best matches it is **A**.", A),
    ("Option A: A man with an umbrella.", A),
    ("A: A man with an umbrella.", A),
    ("A. A man with an umbrella.", A),
    ("(A) A man with an umbrella.", A),
    ("A) The man with an umbrella", A),
    ("Sure! The answer is B.", B),
    ("Sure, here is my answer: B", B),
    ("Correct answer: [C]", C),
    ("The correct answer is: C) the angry man", C),
    ("The answer is C: the angry man.", C),
    ("The answer is: A. The man on ice.", A),
    ("My final answer is option B.", B),
    ("Final choice: 4", D),
    ("I'd rank them: B, C, A, D.", AMBIGUOUS),
    ("Ranking: B > C > A > D", NONE),
    ("The options are A, B, C and D. I choose C.", C),
    ("Among A, B, C and D, D is the best.", D),
    ("Out of the options, B seems to be the most fitting.", B),
    ("B seems to be the best match for the phrase.", B),
    ("Considering the meaning, B would be the most appropriate choice.", B),
    ("It would be B.", B),
    ("That would be image C.", C),
    ("The one in image C.", C),
    ("image_2", B),
    ("IMAGE B", B),
    ("<image 2>", B),
    ("Image-2", B),
    ("Option: B", B),
    ("Label: B", B),
    ("Prediction: C", C),
    ("Selected image: 2", B),
    ("Selected option: D", D),
    ("Best image: B", B),
    ("Best match: 3", C),
    ("Output: B", B),
    ("Response: A", A),
    ("Result: A", A),
    ("The photo of the man with the umbrella is the best.", NONE),
    ("A woman with a broken heart best represents the metaphor.", NONE),
    ("The image of a man walking on ice.", NONE),
    ("This image shows a man walking on thin ice. A dog is beside him.", NONE),
    ("The image shows two men in front of a D-shaped table.", NONE),
    ("In image A, a man is walking; in image B, a dog; in image C, a cake; in image D, a sea.", AMBIGUOUS),
    ("Image A depicts literal ice, image B depicts a risky business, so B is correct.", B),
    ("Image A and image C are literal depictions. Image D is unrelated. Thus, image B.", B),
    ("Image B is not only literal but also figurative.", B),
    ("I'm not sure, but I think B.", B),
    ("I'm not entirely sure, but image C seems closest.", C),
    ("Probably B.", B),
    ("Maybe B", B),
    ("Definitely C!", C),
    ("Hmm, B?", NONE),
    ("B or C? I'd say C.", C),
    ("It could be A or B, but B fits better.", B),
    ("A is close, but B is better.", B),
    ("While A is tempting, the answer is D.", D),
    ("At first I thought A, but the answer is D.", D),
    ("The image that is NOT literal is B.", B),
    ("The figurative image is C.", C),
    ("C is figurative.", C),
    ("C is the figurative one.", C),
    ("Only B conveys the figurative meaning.", B),
    ("Only image B conveys the figurative meaning.", B),
    ("The man in B looks lost.", B),
    ("The second and third images show it.", AMBIGUOUS),
    ("Images B and D.", AMBIGUOUS),
    ("All of the images show it.", NONE),
    ("All images are relevant, but image A is the best one.", A),
    ("None of the options.", REFUSED),
    ("I can't see any images.", REFUSED),
    ("There are no images attached.", REFUSED),
    ("I apologize, but I cannot view images.", REFUSED),
    ("Unable to determine.", REFUSED),
    ("It is not possible to say which.", REFUSED),
    ('{"answer": "B", "confidence": 0.9}', B),
    ('{"choice": "C"}', C),
    ('{\n  "reasoning": "Option A is literal.",\n  "answer": "D"\n}', D),
    ('["B"]', B),
    ("answer = B", B),
    ("ans: B", B),
    ("\\boxed{\\text{Image B}}", B),
    ("$\\boxed{C}$", C),
    ("<answer>Image 2</answer>", B),
    ("<answer>\nB\n</answer>", B),
    ("<think>\nHmm, A?\n</think>\n\n<answer>C</answer>", C),
    ("Answer: B. Explanation: The phrase 'plan B' means ...", B),
    ("Answer: A.\nExplanation: A picture speaks a thousand words.", A),
    ('The phrase "plan B" means a backup plan. The image is C.', C),
    ('The phrase "from A to B" is about moving. Image C shows a road.', NONE),  # may go on
    ("Grade A meat. The answer is D.", D),
    ("1", A),
    ("1.", A),
    ("[1]", A),
    ("Image 1", A),
    ("1. Image B", B),
    ("1) The first image shows a cat. 2) The second image shows a dog.", AMBIGUOUS),
    ("Step 1: Understand the phrase.\nStep 2: Look at images.\nAnswer: B", B),
    ("The answer is 2, because of the man.", B),
    ("The number of the best image is 3.", C),
    ("I choose number 3.", C),
    ("Number 2", B),
    ("No. 2", B),
    ("The correct letter is B", B),
    ("Letter B", B),
    ("letter c", C),
    ("option b", B),
    ("the answer is b", B),
    ("the answer is d because it shows anger", D),
    ("i think it is c", C),
    ("b) the man", B),
    ("Picture B is correct, picture A is wrong", B),
    ("Picture A is wrong, picture B is correct.", B),
    ("Not A. Not C. Not D. B!", B),
    ("A: No. B: Yes. C: No. D: No.", B),
    ("A - no\nB - yes\nC - no\nD - no", B),
    ("A: Literal\nB: Figurative\nC: Unrelated\nD: Unrelated", B),
    ("The fourth picture is the right one.", D),
    ("The last picture, of course.", D),
    ("the 4th", D),
    ("The first.", A),
    ("First image", A),
    ("first", A),
    ("The first one is literal, the last one is figurative.", D),
    ("Im Bild B", NONE),
    ("答案：C", C),
    ("Bild 2", NONE),
    ('The answer is "B".', B),
    ("The answer is 'C'", C),
    ("The answer is **B: a man**", B),
    ("**Image C** best illustrates the idiom.", C),
    ("**C.** The image of the angry man", C),
    ("C – the angry man", C),
    ("C—the angry man", C),
    ("C (the angry man)", C),
    ("C / the third image", C),
    ("C; it shows anger", C),
    ("C!", C),
    ("Option C (angry man) is the best, since A and B are literal and D is random.", C),
    ("I select option C over option A.", C),
    ("My pick: C", C),
    ("The winner is C", C),
    ("C wins.", C),
    ("Image C is the best fit. However, image A could also work.", C),
    ("The answer is C. A and B are literal and D is random.", C),
    ("The answer is B. Image C is also the best choice in some sense.", AMBIGUOUS),
    ("The correct answer is not A, it is B.", B),
    ("The correct answer isn't A. It's B.", B),
    ("B isn't right; C is.", C),
    ("The image is B, which isn't literal.", B),
    ("B, which does not show literal ice, conveys danger.", B),
    ("Image B doesn't show ice literally, but conveys danger best.", NONE),
    ("None of the above", REFUSED),
    # in other languages, and in words that may be something else: not read
    ("Im Bild B", NONE),
    ("\u7b54\u6848\u662fB", NONE),
    ("the image is a", NONE),
    ("E. None of the above", OUT_OF_RANGE),
    ("That's C.", C),
    ("[Answer] C", C),
    ("\u2234 C", C),
    ("Human: pick one.\nAssistant: C", C),
    ("I have to pick one.", NONE),
    ("Answer: third", C),
    ("3 (C)", C),
    ("C it is.", C),
    ("The one with the woman whispering (Image B).", B),
    ("A woman whispers in image B.", B),
    ("A and B are out. C is good, but D is best.", D),
    ("I'd eliminate A and C. Between B and D, B is stronger.", B),
    ("Image 1 - No\nImage 2 - Yes\nImage 3 - No\nImage 4 - No", B),
    ("The first image is sad. The phrase is about joy, so the second image.", B),
    ("The second image is the most appropriate since the first image is too literal.", B),
    ("The first thing I notice is a woman.", NONE),
    ("The second meaning of the phrase is to reveal.", NONE),
    ("The best image is A woman whispering.", NONE),
    ("She is second to none.", NONE),
    ("One of the images shows a woman.", NONE),
    ("The answer is", NONE),
    ("Answer: None of the above", REFUSED),
    ("There is not enough information to determine the answer.", REFUSED),
    ("The answer is 12.", OUT_OF_RANGE),
    # --- thinking first
    ("<think>Image A is it. The answer is A.</think>B", B),
    ("<think>The answer is A.</think>\n\nThe answer is C.", C),
    ("Maybe A? The answer is A.\n</think>\n\nB", B),
    ("<thinking>A or B</thinking> D", D),
    ("\u25c1think\u25b7The answer is A.\u25c1/think\u25b7C", C),
    ("B<think>or is it A", B),
    ("<think>A</think>", EMPTY),
    ("<think>The answer is A", EMPTY),
    # --- articles and other words that look like letters
    ("A picture of a dog", NONE),
    ("A picture of a dog on a lawn.", NONE),
    ("A man holding an umbrella.", NONE),
    ("A man is holding an umbrella.", NONE),
    ("A dress is red.", NONE),
    ("The answer is a picture of a dog.", NONE),
    ("The answer is A picture of a dog.", NONE),
    ("Answer: A man holding an umbrella", NONE),
    ("Image: A man holding an umbrella", NONE),
    ("I see a man and a dog.", NONE),
    ("In the picture I see a dog.", NONE),
    ("A", A),
    ("A clearly visible dog sits there.", NONE),
    ("A most beautiful scene.", NONE),
    ("a", A),
    ("This is a.", NONE),
    ("Vitamin C is good.", NONE),
    ("It is plan B.", NONE),
    ("The idiom means to go from A to Z.", NONE),
    ("He plays in C major.", NONE),
    ("An R&B singer and a B-movie", NONE),
    ("AC/DC", NONE),
    ("The U.S.A. flag", NONE),
    ("I don't know what A.D. means.", REFUSED),
    ("She got an A in school.", NONE),
    ("The image one would expect", NONE),
    ("At first glance it is calm.", NONE),
    ("There are 2 people and 3 dogs.", NONE),
    ("In 2023 he won.", NONE),
    ("The image is 1024x768.", NONE),
    ("The phrase means that someone is very busy.", NONE),
    ('{"answer": "A man"}', NONE),
    ('{"answer": null}', NONE),
    ("ABCD", NONE),
    ("...", NONE),
    ("I", NONE),
    ("\U0001f600", NONE),
    # --- negated, ruled out, asked about
    ("not B", NONE),
    ("It is not B.", NONE),
    ("B is wrong.", NONE),
    ("B is incorrect", NONE),
    ("B: wrong", NONE),
    ("Image B is too literal.", NONE),
    ("Image 2 does not show the idiom.", NONE),
    ("Image 2 doesn't fit.", NONE),
    ("I would not choose B.", NONE),
    ("I don't think the answer is B.", NONE),
    ("I don't think B is the best choice.", NONE),
    ("unlike C", NONE),
    ("something rather than B", NONE),
    ("We can rule out C.", NONE),
    ("Is it B?", NONE),
    ("If the answer is B, then he is lost.", NONE),
    ("B fails to show it.", NONE),
    ("Options A to D are given.", NONE),
    # --- several
    ("A or B", AMBIGUOUS),
    ("A and B", AMBIGUOUS),
    ("A, B", AMBIGUOUS),
    ("A/B", AMBIGUOUS),
    ("A B C D", AMBIGUOUS),
    ("Both A and C", AMBIGUOUS),
    ("Both A and C show it.", AMBIGUOUS),
    ("I choose A or B.", AMBIGUOUS),
    ("The answer is B and C.", AMBIGUOUS),
    ("The answer is A. The answer is B.", AMBIGUOUS),
    ("Image 1 and image 2 show it.", AMBIGUOUS),
    ("Images 1, 2 and 3 show it.", AMBIGUOUS),
    ("Image A shows a cat. Image B shows a dog.", AMBIGUOUS),
    ("A: a dog\nB: a cat\nC: a fish\nD: a bird", AMBIGUOUS),
    ("The first image shows a dog; the second shows a cat.", AMBIGUOUS),
    ("A: 10%\nB: 70%\nC: 10%\nD: 10%", AMBIGUOUS),
    ("B\nC", AMBIGUOUS),
    ('{"answer": "B"} {"answer": "C"}', AMBIGUOUS),
    # --- what is literal, worst or next is not the answer; what is cut is none
    ("The image that shows the literal meaning is A. Image C conveys the figurative meaning.", C),
    ("The literal image is image A. Image C conveys the idea of kindness.", C),
    ("The option with the literal depiction is A. D conveys the figurative one.", D),
    ("The best literal representation is image A, but figuratively, image D.", D),
    ("The least fitting image is A.", NONE),
    ("The image that does not fit is A.", NONE),
    ("The worst choice is D.", NONE),
    ("The correct answer is B. The literal image is A.", B),
    ("The incorrect answer is A; the correct answer is C.", C),
    ("The best image is B. The next best is C.", B),
    (
        "Let's analyze each image:\n\n**Image A:** A dog.\n**Image C:** Rain.\nSo, image C conveys the meaning.",
        C,
    ),
    ("Let's analyze each option:\n\n**Image A:** A dog.\n**Image C:** A nun.\nThe best choice is C.", C),
    ("Let's analyze each image:\n\n**Image A:**", NONE),
    ("Image A shows a dog while Image B captures the essence of loyalty.", B),
    ("Image A shows a person alone, whereas image C captures the figurative meaning.", C),
    ("Image A illustrates the literal meaning, whereas Image C illustrates the figurative meaning.", C),
    ("My ranking: B first, then C.", AMBIGUOUS),
    ("Let's go through the options one by one.\n\nImage A shows a man who is holding a large stone in", NONE),
    ("1. **Image A**: This image depicts", NONE),
    ("Let's analyze each option:\n\nA: The image shows a stone heart, which is a literal", NONE),
    ("A: The image shows a stone heart, which is a literal", NONE),
    ("A: 0.1, B: 0.7, C: 0.1, D: 0.1", AMBIGUOUS),
    ("Image A is not literal, it shows the figurative meaning.", A),
    ("Image C isn't literal. It is the figurative one.", C),
    ("Image B is less literal than the others, so it's the best.", B),
    ("The best visualization of the idiom comes from Image A.", A),
    ("The best visualization of the idiom comes from Image C.", C),
    ("Answer: D - A man on a boat", D),
    ("Answer: A - A man on a boat", A),
    ("Image A shows a stone heart, making it the best choice.", A),
    ("Image A shows a nurse. It is the best choice.", A),
    ("Literal: A. Figurative: C.", C),
    ("The answer depends. So far image A is the best candidate. Let me check image B", AMBIGUOUS),
    ("Image A is the best so far. Next, image B shows a man", AMBIGUOUS),
    ("Let me start with A. It's the best so far, but", NONE),
    ("Image A fits less well than image C.", NONE),
    ("C?", NONE),
    ("Answer with the letter: A, B, C or D.\nAnswer: D", D),
    ("The image that best visualizes barking up the wrong tree is C.", C),
    ("The right answer is B", B),
    # --- declined
    ("I cannot determine which image fits.", REFUSED),
    ("I'm sorry, but I can't help with that.", REFUSED),
    ("I am unable to see the images.", REFUSED),
    ("As an AI language model, I cannot view pictures.", REFUSED),
    ("I can't decide between A and C.", REFUSED),
    ("None of the images shows this.", REFUSED),
    ("None of them.", REFUSED),
    ("Neither image fits.", REFUSED),
    ("None", REFUSED),
    ("N/A", REFUSED),
    ("Please provide the images.", REFUSED),
    ("I cannot see all of it, but the answer is B.", B),
    # --- not offered
    ("E", OUT_OF_RANGE),
    ("Image 7", OUT_OF_RANGE),
    ("Image 0", OUT_OF_RANGE),
    ("Option E", OUT_OF_RANGE),
    ("The answer is F.", OUT_OF_RANGE),
    ("5", OUT_OF_RANGE),
    ("The fifth image", OUT_OF_RANGE),
    ('{"answer": "E"}', OUT_OF_RANGE),
    # --- nothing
    ("", EMPTY),
    (" \n\t ", EMPTY),
    ("\x00\x00", EMPTY),
    ("</s>", EMPTY),
    ("\u200b", EMPTY),
]


def outcome(choice: Choice | YesNo) -> Any:
    return choice.status if choice.value is None else choice.value


@pytest.mark.parametrize(("output", "expected"), CASES)
def test_table(output: str, expected: int | str) -> None:
    choice = parse_choice(output, 4)
    assert outcome(choice) == expected, choice
    assert (choice.status == CHOSEN) == (choice.value is not None)


def test_the_table_is_large() -> None:
    assert len(CASES) >= 120
    assert {expected for _, expected in CASES} >= {A, B, C, D, AMBIGUOUS, REFUSED, NONE, OUT_OF_RANGE, EMPTY}


@pytest.mark.parametrize(
    ("output", "options", "expected"),
    [
        ("B", 2, B),
        ("C", 2, OUT_OF_RANGE),
        ("the last image", 2, B),
        ("The last one.", 3, C),
        ("Image 3", 2, OUT_OF_RANGE),
        ("the third image", 2, OUT_OF_RANGE),
        ("D", 3, OUT_OF_RANGE),
        ("The second-to-last image", 4, NONE),
        ("the last but one", 4, NONE),
        ("The second image from the right", 4, NONE),
        ("the second image from the left", 4, B),
        ("my first choice was hard", 4, NONE),
    ],
)
def test_number_of_options(output: str, options: int, expected: int | str) -> None:
    assert outcome(parse_choice(output, options)) == expected


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("the top-left image", A),
        ("Top right", B),
        ("The image in the bottom left corner.", C),
        ("the lower right picture", D),
        ("Upper-right", B),
        ("I choose the picture on the bottom-right.", D),
        ("The answer is the top left.", A),
        ("Image B (top right)", B),
        ("the top left and the top right", AMBIGUOUS),
        ("The bottom left image is too literal, the top right image conveys it.", B),
        ("C", C),
        ("the top image", NONE),
        ("second row, first image", NONE),
        ("The first image in the second row", NONE),
        ("the second image of the top row", NONE),
        ("row 2, first image", NONE),
    ],
)
def test_places_in_a_grid(output: str, expected: int | str) -> None:
    assert outcome(parse_choice(output, 4, grid=True)) == expected


def test_places_mean_nothing_without_a_grid() -> None:
    assert outcome(parse_choice("the top-left image", 4)) == NONE
    assert outcome(parse_choice("bottom left", 4)) == NONE
    assert outcome(parse_choice("the bottom right image", 2, grid=True)) == OUT_OF_RANGE


@pytest.mark.parametrize(
    ("output", "words", "rule"),
    [
        ("**B**", "B", "alone"),
        ("The answer is the second image.", "second image", "verdict"),
        ("<think>A</think> It is \uff22.", "\uff22", "verdict"),
        ('{"answer": "C"}', "C", "final"),
        ("B. It shows a man.", "B", "head"),
        ("Hard. C is sad.\nC\n", "C", "line"),
        ("The figure of speech means cold.\n\nC", "C", "line"),
        ("The person who climbs fits best, since it means to be promoted.\n\n**B**", "B", "line"),
        ("A stone heart stands for cruelty.\n\n(D).", "D", "line"),
        ("The answer is A. No wait, the answer is B.", "B", "correction"),
        ("The man in image 3 looks lost.", "image 3", "mention"),
        ("Image 9", "9", "alone"),
    ],
)
def test_span_and_rule(output: str, words: str, rule: str) -> None:
    choice = parse_choice(output, 4)
    assert choice.span is not None
    assert (output[slice(*choice.span)], choice.rule) == (words, rule)


@pytest.mark.parametrize(
    ("output", "status", "rule"),
    [
        ("I cannot say.", REFUSED, "refusal"),
        ("None of the images", REFUSED, "none-of-them"),
        ("It is not B.", NONE, "rejected"),
        ("A dog", NONE, "nothing"),
        ("", EMPTY, "empty"),
        ("A or B", AMBIGUOUS, "conflict"),
    ],
)
def test_reasons(output: str, status: str, rule: str) -> None:
    assert parse_choice(output, 4) == Choice(None, status, rule)


def test_what_is_no_text_and_what_is_no_number_of_options() -> None:
    assert parse_choice(None, 4) == Choice(None, EMPTY, "empty")
    assert parse_yes_no(None) == YesNo(None, EMPTY, "empty")
    with pytest.raises(TypeError, match="int"):
        parse_choice(3, 4)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="bytes"):
        parse_yes_no(b"yes")  # type: ignore[arg-type]
    for options in (1, 5, 0, -1):
        with pytest.raises(ValueError, match="must be 2, 3 or 4"):
            parse_choice("A", options)


# --- a chain of thought -----------------------------------------------------------------------------------------------

INTROS = [
    "Let's analyze each image:",
    "To decide which image best visualizes the figurative meaning, I will go through the options one by one.",
    'The idiom "to have a heart of stone" means to feel no pity for others.',
    "First, let me examine every picture carefully in order to find the best answer:",
    "We need to find the correct answer. The phrase is about someone who is cold.\n\nLet's evaluate the options:",
    "### Analysis of the images",
    "The figurative meaning of the phrase is to be without any pity. Before giving the final answer, here is what the "
    "images show:",
    "<think>Image {other} could be it. The answer is {other}.</think>\n\nLooking at the images, I see the following:",
]  # fmt: skip
STYLES = [
    "**Image {x}:** {Y}.",
    "{n}. **Image {x}**: This image shows {y}.",
    "{x}: {Y}.",
    "{x}. {Y}.",
    "({x}) The picture depicts {y}.",
    "* Option {x} - {y}",
    "### Image {x}\n{Y}.",
    "Image {x} shows {y}.",
    "**{x}**\nThis picture shows {y}.",
]
ENDINGS = [
    "The best choice is {x}.",
    "Thus, Image {x} captures the figurative meaning.",
    "Image {x} best visualizes the figurative meaning of the idiom, since the others are too literal.",
    "Based on this, I would choose option {x}, not {other}.",
    "The literal image is {other}, so the answer is {x}.",
    "So the image that best conveys the figurative meaning is:\n\n**{x}**",
    "Final answer: {x}",
    "While image {other} is tempting, image {x} is the most fitting choice.",
]
BARE_ENDINGS = ["{x}", "Image {x} conveys the figurative meaning.", "It's hard to say, but image {x} looks sad."]
DESCRIPTIONS = [
    ["a dog that runs over a lawn", "a heart made of stone, which is a literal depiction", "two people on a bench"],
    ["a man with a best-of-show ribbon", "a rock in a river", "a literal stone heart in the hand of a woman"],
]
RIGHT = [
    "a man who walks past a beggar without a look",
    "a judge who frowns, which fits the figurative meaning of the idiom",
]


def thoughts(intro: str, style: str, right: int, variant: int) -> str:
    """An introduction and a description of all four images; those of the wrong ones keep their order."""
    wrong = iter(DESCRIPTIONS[variant])
    lines = []
    for i, letter in enumerate("ABCD"):
        text = RIGHT[variant] if i == right else next(wrong)
        lines.append(style.format(x=letter, n=i + 1, y=text, Y=text[0].upper() + text[1:]))
    joint = " " if "\n" not in style and style.startswith("Image") else "\n"
    return named(intro, right) + "\n\n" + joint.join(lines) + "\n\n"


def named(text: str, right: int) -> str:
    return text.format(x="ABCD"[right], other="ABCD"[(right + 1) % 4])


def test_chains_of_thought() -> None:
    unread = total = 0
    for (i, intro), (j, style) in itertools.product(enumerate(INTROS), enumerate(STYLES)):
        for ending in ENDINGS + BARE_ENDINGS:
            texts = [thoughts(intro, style, x, (i + j) % 2) + named(ending, x) for x in range(4)]
            choices = [parse_choice(text, 4) for text in texts]
            for x, choice in enumerate(choices):
                assert choice.value in (x, None), (texts[x], choice)
            assert len({(c.value is None, c.status, c.rule) for c in choices}) == 1, (texts[0], choices)
            if ending in ENDINGS:
                total += 4
                unread += sum(c.value is None for c in choices)
    assert total >= 8 * 9 * 8 * 4 and unread < 0.05 * total, (unread, total)


def test_thoughts_that_were_cut_choose_nothing() -> None:
    for (i, intro), (j, style) in itertools.product(enumerate(INTROS), enumerate(STYLES)):
        for right in ((i + j) % 4, 0) if i % 2 else ((i + j) % 4,):
            text = thoughts(intro, style, right, (i + j + right) % 2)
            for cut in re.finditer(r"\s+|\Z", text):
                said = text[: cut.start()]
                if re.search(r"\n\W*[A-D][^\w:]*\Z", said):
                    continue  # a list that is cut after the letter of its first item reads like an answer
                choice = parse_choice(said, 4)
                assert choice.value is None, (said, choice)


# --- long answers -----------------------------------------------------------------------------------------------------


def test_an_answer_at_either_end_of_a_long_text() -> None:
    filler = "The man walks on and on. " * 60_000  # 1.5 MB
    assert outcome(parse_choice("B. " + filler, 4)) == B
    late = parse_choice(filler + "The answer is C.", 4)
    assert outcome(late) == C and late.span == (len(filler) + 14, len(filler) + 15)
    assert outcome(parse_yes_no(filler + "So the answer is no.")) is False
    assert outcome(parse_choice(f"<think>{filler}The answer is A.</think>D", 4)) == D


@pytest.mark.parametrize(
    "unit",
    [
        "A",
        "B ",
        "(",
        "\n",
        "image ",
        "the answer is ",
        "B, ",
        "<think>",
        "</think>",
        '{"answer": "',
        "not ",
        "2 ",
        "\\boxed{",
        "- ",
        "is B best ",
        "no, ",
        "yes ",
    ],
)
def test_a_megabyte_of_anything(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert parse_choice(text, 4, grid=True).status in STATUSES
    assert parse_yes_no(text).status in STATUSES


def test_a_letter_beside_what_was_left_out_is_not_read() -> None:
    half = "x" * 32_767
    text = half + " " + "y" * 10_000 + "B." + "z" * 32_766
    assert outcome(parse_choice(text, 4)) == NONE


# --- properties -------------------------------------------------------------------------------------------------------

words = st.sampled_from(
    "A B C D E I a b image Image picture option the The answer is not best shows first second last 1 2 3 7 one two "
    "yes No no maybe , . : ; ? ! ( ) [ ] ** \n { } \" ' <think> </think> <answer> \\boxed{ rather than and or because "
    "top left wait Final final choose I think don't literal None of images \ud800 \x00 \uff21 \u0130".split(" ")
)
noise = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(categories=["Cs", "Cc", "Lu", "Po", "Zs"]), max_size=40),
    st.lists(words, max_size=30).map(" ".join),
    st.lists(words, max_size=30).map("".join),
)


@given(noise, st.integers(2, 4), st.booleans())
@example("\ud800 B", 4, False)
@example("\x00B\x00", 4, False)
@example("\u0130mage B", 4, True)
@settings(deadline=None, max_examples=400)
def test_never_raises_and_stays_in_range(text: str, options: int, grid: bool) -> None:
    choice = parse_choice(text, options, grid=grid)
    assert choice == parse_choice(text, options, grid=grid)
    assert choice.status in STATUSES
    assert (choice.value is not None) == (choice.status == CHOSEN)
    assert choice.value is None or 0 <= choice.value < options
    if choice.span is not None:
        assert 0 <= choice.span[0] < choice.span[1] <= len(text)
    assert (choice.span is not None) == (choice.status in (CHOSEN, OUT_OF_RANGE))


@given(noise)
@settings(deadline=None, max_examples=300)
def test_yes_no_never_raises(text: str) -> None:
    answer = parse_yes_no(text)
    assert answer == parse_yes_no(text)
    assert answer.status in STATUSES and answer.status != OUT_OF_RANGE
    assert (answer.value is not None) == (answer.status == CHOSEN) == (answer.span is not None)
    assert answer.value in (True, False, None)


DECORATIONS = [
    ("", ""), ("**", "**"), ("(", ")"), ("[", "]"), ("", "."), ("", ")"), ('"', '"'), ("`", "`"), ("\n", "\n"),
    ("Answer: ", ""), ("The answer is ", "."), ("Option ", ""), ("Image ", "."), ("\\boxed{", "}"),
    ("<answer>", "</answer>"), ("<think>A or B?</think>", ""), ("Final answer: ", ""), ("> ", ""), ("### ", ""),
    ("", "</s>"), ("I choose ", "."), ('{"answer": "', '"}'), ("The correct answer is **", "**"),
    ("My answer: ", ""), ("", " because it fits."),
]  # fmt: skip


@given(st.sampled_from(DECORATIONS), st.integers(0, 3))
@relaxed
def test_decorations_keep_a_letter(decoration: tuple[str, str], index: int) -> None:
    before, after = decoration
    assert outcome(parse_choice(before + "ABCD"[index] + after, 4)) == index
    for plain in (("**", "**"), ("(", ")"), ("", "."), ("\n\n", " ")):
        text = before + plain[0] + "ABCD"[index] + plain[1] + after
        if decoration[0] != '{"answer": "' and plain[1] != "." or after in ("", "."):
            assert outcome(parse_choice(text, 4)) == index, text


@given(st.sampled_from(string.ascii_uppercase.replace("I", "")), st.integers(2, 4))
@relaxed
def test_a_bare_letter_is_an_option_or_out_of_range(letter: str, options: int) -> None:
    index = ord(letter) - ord("A")
    expected = index if index < options else OUT_OF_RANGE
    assert outcome(parse_choice(letter, options)) == expected
    assert outcome(parse_choice(f"Answer: {letter}", options)) == expected


@given(st.text(string.ascii_lowercase + " ,", max_size=80))
@relaxed
def test_lower_case_prose_has_no_option(text: str) -> None:
    prose = f"the scene shows {text} a quiet street with a dog"
    assert parse_choice(prose, 4).value in (None, *range(4))
    if not any(w in text for w in ("image", "pic", "option", "choice", "first", "second", "third", "last", "photo")):
        assert parse_choice(prose, 4).value is None


# --- yes and no -------------------------------------------------------------------------------------------------------

YES_NO: list[tuple[str, bool | str]] = [
    ("Yes", True),
    ("yes", True),
    ("YES", True),
    ("No", False),
    ("no.", False),
    ("No.", False),
    ("**Yes**", True),
    ("**No**.", False),
    ("(Yes)", True),
    ("'No'", False),
    (" \nYes\n", True),
    ("Yes</s>", True),
    ("\uff39\uff45\uff53", True),  # fullwidth
    ("Yeah.", True),
    ("Nope", False),
    ("ASSISTANT: No", False),
    ("Yes, the image shows a man in trouble.", True),
    ("Yes the image shows it.", True),
    ("Yes! It does.", True),
    ("Yes - it does.", True),
    ("Yes, there is no doubt.", True),
    ("Yes, although no dog is visible.", True),
    ("Yes: no other image is needed.", True),
    ("No, the image shows a literal cake.", False),
    ("No. The image shows a cake.", False),
    ("No, it does not.", False),
    ("No it does not.", False),
    ("No\n\nThe image shows a cake.", False),
    ("No, but a yes would need a man.", False),
    ("Answer: Yes", True),
    ("Answer: no", False),
    ("**Answer:** No", False),
    ("The answer is no", False),
    ("The answer is yes.", True),
    ("The answer is clearly no.", False),
    ("The answer is **No**, because it is literal.", False),
    ("The answer to the question is yes.", True),
    ("I would say yes.", True),
    ("I'd say no.", False),
    ("I would answer no, because it is literal.", False),
    ("The image shows a cake. So no.", False),
    ("The image shows a man in trouble. Therefore, yes.", True),
    ("The image shows a man in trouble.\n\nYes.", True),
    ("The image shows a man in trouble. Yes, it fits.", True),
    ("Final answer: No", False),
    ('{"answer": "yes"}', True),
    ('{"match": false}', False),
    (r"\boxed{Yes}", True),
    ("<answer>No</answer>", False),
    ("<think>Yes, it fits. The answer is yes.</think>No", False),
    ("The answer is yes</think>No.", False),
    ("Well, yes.", True),
    ("No doubt, yes.", True),
    ("Definitely yes.", True),
    ("Yes/No: Yes", True),
    ("Yes or no? No.", False),
    ("Yes. No wait, no.", False),
    ("No. Actually, yes.", True),
    ("The answer is yes. Correction: the answer is no.", False),
    # --- as models of several families word it
    ("Yes, this image conveys the figurative meaning of the idiom.", True),
    ("No, this image does not convey it. It shows a literal chip.", False),
    ("**No.** The picture shows a literal chip on a shoulder, no grudge.", False),
    ("The image does convey the meaning, so the answer is yes.", True),
    ("Based on the image, I'd say **no**.", False),
    ("Answer: **Yes**\n\nExplanation: no one else is around.", True),
    ("Answer: No\nReason: Yes, there is a cake, but it is literal.", False),
    ("Yes\n\nNo further explanation is needed.", True),
    ("No further explanation.", NONE),
    ("No, no, no.", False),
    ("yes, yes", True),
    ("Yes. The man looks as if he has no idea.", True),
    ("No visible connection.", NONE),
    ("It's a yes.", True),
    ("It is a no from me.", False),
    ("That's a no.", False),
    ("My answer would be no.", False),
    ("In short, no.", False),
    ("Short answer: yes.", True),
    ("Short answer: No. Long answer: yes, but only literally.", False),
    ("Yes, but no.", AMBIGUOUS),
    ("Yes? No?", NONE),
    ("Is it? Yes.", True),
    ("Does the image show it? No.", False),
    ("Q: Does it? A: Yes", True),
    ("The picture clearly matches the phrase.", NONE),
    ("YES.", True),
    ("yes!", True),
    ("NO!!!", False),
    ("y", NONE),
    ("n", NONE),
    ("Y", NONE),
    ("True", NONE),
    ('{"answer": true}', True),
    ('{"answer": "No"}', False),
    ("Partially.", REFUSED),
    ("Yes, partially.", True),
    ("I don't think so.", False),
    ("Absolutely!", True),
    ("Absolutely not.", False),
    ("Of course, yes.", True),
    ("Without a doubt, yes.", True),
    ("No doubt about it: yes.", True),
    ("Yes, no doubt.", True),
    ("There's no doubt: the answer is yes.", True),
    ("No question about it, the image fits.", NONE),
    ("Well... no.", False),
    ("Hmm, yes.", True),
    ("Not really.", False),
    ('I would say that the answer is "No".', False),
    ("The correct answer is 'Yes'.", True),
    ("Conclusion: No", False),
    ("Verdict - yes", True),
    ("Output: no", False),
    ("Response: Yes.", True),
    ("Figurative: no\nLiteral: yes", False),
    ("<answer> yes </answer>", True),
    ("Yes, it is not literal but figurative. No doubt about it.", True),
    ('The word "yes" is written on the wall.', NONE),
    ('A sign that says "No parking".', NONE),
    ("The man says yes to life.", NONE),
    ("no image", NONE),
    ("No image", NONE),
    ("1. Yes", True),
    ("- Yes", True),
    ("Yes (confidence: 90%)", True),
    ("No—it shows", False),
    ("No – it shows", False),
    ("No.1 is the best", NONE),
    # behind a clause, in a statement, and about the literal meaning
    ("Based on the image, yes.", True),
    ("In this case, yes.", True),
    ("Based on the image, no, it doesn't visualize it.", False),
    ('I would answer "Yes" here.', True),
    ("It does, yes.", True),
    ("Literal: yes. Figurative: no.", False),
    ('{"answer": "Yes", "literal": "no"}', True),
    ("yes,no", AMBIGUOUS),
    ("Yes, literally. Figuratively, no.", False),
    ("The image visualizes the figurative meaning of the idiom.", True),
    ("The image does not visualize the figurative meaning of the idiom. It shows a literal cake.", False),
    ("The image does not fully capture it.", NONE),
    ("It does.", True),
    ("Yes, no.", AMBIGUOUS),
    ("If it were a dog, no.", NONE),
    ("The woman says, yes.", NONE),
    ("In the image, no people are visible.", NONE),
    # no answer
    ("", EMPTY),
    ("  ", EMPTY),
    ("<think>yes", EMPTY),
    ("Yes and no", AMBIGUOUS),
    ("Yes and no.", AMBIGUOUS),
    ("yes or no", AMBIGUOUS),
    ("Yes/No", AMBIGUOUS),
    ("Yes. No.", AMBIGUOUS),
    ("Yes\nNo", AMBIGUOUS),
    ("No, the answer is yes.", AMBIGUOUS),
    ("Image 1: Yes\nImage 2: No", AMBIGUOUS),
    ("not sure", REFUSED),
    ("I'm not sure.", REFUSED),
    ("maybe", REFUSED),
    ("Maybe, it is hard to say.", REFUSED),
    ("Perhaps", REFUSED),
    ("I cannot tell.", REFUSED),
    ("I'm sorry, I can't help with that.", REFUSED),
    ("No people are visible in the image.", NONE),
    ("No one is smiling.", NONE),
    ("No image is needed to say that.", NONE),
    ("There is no dog.", NONE),
    ("The image shows a man with no hat.", NONE),
    ("No doubt it is fine", NONE),
    ("It does not show that.", False),
    ("The answer is not yes.", NONE),
    ("I can't say yes.", REFUSED),
    ("If yes, the man would smile.", NONE),
    ("The man is a yes-man.", NONE),
    ("A dog on a lawn", NONE),
    ("Yesterday it rained.", NONE),
    ("Nothing of that kind.", NONE),
    ("Now it is clear.", NONE),
]


@pytest.mark.parametrize(("output", "expected"), YES_NO)
def test_yes_no_table(output: str, expected: bool | str) -> None:
    answer = parse_yes_no(output)
    assert outcome(answer) is expected or outcome(answer) == expected, answer
    assert type(outcome(answer)) is type(expected)


@pytest.mark.parametrize(
    ("output", "words", "rule"),
    [
        ("**Yes**, it is", "Yes", "head"),
        ("<think>yes</think>The answer is no.", "no", "verdict"),
        ('{"answer": "yes"}', "yes", "final"),
        ("Yes. Actually, no.", "no", "correction"),
    ],
)
def test_yes_no_span(output: str, words: str, rule: str) -> None:
    answer = parse_yes_no(output)
    assert answer.span is not None and output[slice(*answer.span)] == words
    assert answer.rule == rule


@given(st.sampled_from(["yes", "Yes", "YES", "no", "No", "NO"]), st.sampled_from(DECORATIONS))
@relaxed
def test_decorations_keep_yes_and_no(word: str, decoration: tuple[str, str]) -> None:
    if decoration[0] in ("Option ", "Image ", "I choose ") or "think" in decoration[0]:
        return
    assert outcome(parse_yes_no(decoration[0] + word + decoration[1])) is (word.lower() == "yes")
