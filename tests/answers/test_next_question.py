"""An invented question is read as an answer, or an answer is cut short, if this fails."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from figlang_tasks.answers.next_question import Output, before_next_question, whole
from figlang_tasks.benchmarks.vflute import tasks as vflute

# --- the questions ---

FLUTE = (
    'Does the sentence "He is up." entail or contradict the sentence "He is down."? Please answer'
    ' between "Entails" or "Contradicts" and explain your decision in a sentence.'
)
SHE = FLUTE.replace("He is up.", "She sings.").replace("He is down.", "She hums.")
SHOT = f"{SHE}\nEntails. Both are music.\n\n"
VFLUTE = (
    'Does this image confirm or deny the claim "The boss is a shark."? Discuss your reasoning and'
    " determine a label: entailment or contradiction."
)
CAT = VFLUTE.replace("The boss is a shark.", "A cat sleeps on the roof.")
NYCC = (
    "You are an expert.\n\nOK. Here is a description of the cartoon followed by the two"
    " choices.\n\nscene location: a garden\ndescription: A snail wears a watch.\n\nChoices:\nA: I"
    " have no time.\nB: It is late.\n\nWhich of the 2 options (A or B) is funnier? Think"
    ' step-by-step and finish your response with "Answer: X" where X is either A or B.'
)
BAR = (
    NYCC[NYCC.index("OK.") :].replace("a garden", "a bar").replace("A snail wears", "Two dogs wear")
)
NYKMS = (
    "You are given a cartoon and its caption.\nCaption: The house is a little flat.\nPlease tell"
    " me:\n1. Does it contain metaphor?\n2. If so, which word or object contains metaphor?\nFor"
    " question 1, the answer must be Yes or No."
)
DOG = NYKMS.replace("The house is a little flat.", "Good dog.")
COLUMBUS = (
    "Which word/phrase is conveyed in this image from the following options (either A, B, C, or"
    " D)?\n(A) jet lag (B) jet set (C) jet stream (D) jet ski"
)
REBUS = "You are given a rebus puzzle. It needs to be solved through creative thinking. "
MOON = COLUMBUS.replace("jet lag", "half moon").replace("jet set", "over the moon")
IRFL = (
    "Idiom: cold feet\nDoes the image visualize the figurative meaning of this idiom? Answer Yes"
    " or No."
)
THUMB = IRFL.replace("cold feet", "green thumb")
ADMIRE = (
    'The sentence below uses the compound "elbow grease", either idiomatically or'
    " literally.\nSentence: It took elbow grease to win.\nRank the images by how well they show the"
    " meaning of the compound."
)
FEET = ADMIRE.replace("It took elbow grease to win.", "She got cold feet.").replace(
    "elbow grease", "cold feet"
)
ASK = (
    "This image is a visual metaphor. What is as bright as the sun?\nAnswer with a word or a short"
    " phrase alone."
)
LAMP = ASK.replace("bright as the sun", "dark as the night")
CLASSIFY = (
    "A visual metaphor compares one concept with another.\nDoes this image contain a visual"
    " metaphor? Answer Yes or No."
)

QUESTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "flute": (FLUTE, ("He is up.", "He is down.")),
    "flute 1-shot": (SHOT + FLUTE, ("He is up.", "He is down.")),
    "vflute": (VFLUTE, ("The boss is a shark.",)),
    "vflute 1-shot": (
        f"<image>\n{CAT}\nIt does.\nLABEL: entailment\n\n<image>\n{VFLUTE}",
        ("The boss is a shark.",),
    ),
    "nycc": (NYCC, ("a garden", "A snail wears a watch.", "I have no time.", "It is late.")),
    "nykms": (NYKMS, ("The house is a little flat.",)),
    "rebus": (REBUS + COLUMBUS, ("jet lag", "jet set", "jet stream", "jet ski")),
    "columbus": (COLUMBUS, ("jet lag", "jet set", "jet stream", "jet ski")),
    "irfl": (IRFL, ("cold feet",)),
    "admire": (ADMIRE, ("elbow grease", "It took elbow grease to win.")),
    "metaclue ask": (ASK, ("What is as bright as the sun?",)),
    "metaclue classify": (CLASSIFY, ()),
}

# --- where an answer ends ---

# The name of a question, the answer, and the continuation that is cut off
CUT = [
    ("flute", "Contradicts. Up is not down.", f"\n{SHE}\nEntails."),
    ("flute", "Contradicts. Up is not down.", f"\n\nQuestion: {SHE}\nAnswer: Entails."),
    ("flute", "Contradicts. Up is not down.", f"\n\n2. {SHE}\nEntails."),
    ("flute", "Contradicts. Up is not down.", f"\n**Q2:** {SHE}\nEntails."),
    (
        "flute",
        "Contradicts. Up is not down.",
        f"\n\n{SHE.replace(chr(34), chr(0x201C), 1)}\nEntails.",
    ),
    (
        "flute",
        "Contradicts. Up is not down.",
        f"\n\n{FLUTE.replace('down', 'under the roof')}\nEntails.",
    ),
    (
        "flute",
        "Contradicts. Up is not down.",
        f"\n\n{FLUTE.replace('is up.', 'is up there.')}\nEntails.",
    ),
    ("flute", "Contradicts. Up is not down.", f"\n\n{FLUTE}\nEntails."),
    ("flute", "Up is not down, and so on.", f"\n\n{FLUTE}\nUp is not down, and so on."),
    ("flute", f"{FLUTE}\n\nContradicts.", f"\n\n{SHE}\nEntails."),
    ("flute", "Contradicts.", "\n\nPremise: She sings.\nHypothesis: She hums.\nEntails."),
    (
        "flute",
        "<think>Question: is it?\nYes.</think>Contradicts.",
        "\n\nQuestion: Is it not?\nEntails.",
    ),
    ("flute", "<answer>Contradicts.</answer>", f"\n\n{SHE}\n<answer>Entails.</answer>"),
    ("flute", "Contradicts.", "\nUSER: Why?\nASSISTANT: It entails it."),
    ("flute", "Contradicts.", "\n\nHuman: Why?\n\nAssistant: It entails it."),
    ("flute", "Contradicts.", "\n### Instruction:\nNow the other way round."),
    ("flute", "Contradicts.", "\n\nQuestion 2:\nIs the earth flat?\nEntails."),
    ("flute", "Contradicts.", "\n\n### Question 2\nIs the earth flat?\nEntails."),
    ("flute", "Contradicts.", "\n\nQ: Is the earth flat?\nA: Entails."),
    ("flute", "Contradicts.\n\nHere is the next question:", f"\n{SHE}\nEntails."),
    ("flute 1-shot", "Contradicts.", f"\n\n{SHE}\nEntails. Both are music."),
    ("flute 1-shot", "Sure, let me look at it.", f"\n\n{SHE}\nEntails. Both are music."),
    ("flute 1-shot", f"{SHOT}{FLUTE}\nContradicts.", f"\n\n{SHE}\nEntails."),
    ("flute 1-shot", "Let me restate it.", f"\n\n{SHOT}{FLUTE}\nContradicts."),
    ("vflute 1-shot", "It bites.\nLABEL: entailment", f"\n\n<image>\n{CAT}\nLABEL: contradiction"),
    (
        "vflute 1-shot",
        "It bites.\nLABEL: entailment",
        f"\n\n{CAT.replace('cat', 'dog')}\nLABEL: contradiction",
    ),
    ("vflute", "It bites.\nLABEL: entailment", f"\n\n{CAT}\nIt does not.\nLABEL: contradiction"),
    ("vflute", "It bites.\nLABEL: entailment", f"\n\n<image>\n{CAT}\nLABEL: contradiction"),
    ("vflute", "It bites.\nLABEL: entailment", f"\n\n<image>\n{VFLUTE}\nLABEL: contradiction"),
    ("vflute", "It bites.\nLABEL: entailment", f"\n\nQuestion:\n{VFLUTE}\nLABEL: contradiction"),
    (
        "vflute",
        "It bites.\nLABEL: entailment",
        "\n\nClaim: A cat sleeps on the roof.\nLABEL: contradiction",
    ),
    (
        "vflute",
        "It bites.\nLABEL: entailment",
        "\n\n**Claim 2:** A cat sleeps on the roof.\nLABEL: contradiction",
    ),
    ("nycc", "Snails are slow. Answer: B", f"\n\n{BAR}\n\nAnswer: A"),
    ("nycc", "Snails are slow. Answer: B", f"\n\n{BAR[BAR.index('scene') :]}\n\nAnswer: A"),
    ("nykms", "1. Yes\n2. flat", f"\n\n{DOG}\n1. No"),
    ("nykms", "Yes", "\n\nCaption: Good dog, bad cat.\nNo"),
    ("columbus", "(B) jet set", f"\n\n{MOON}\n(A)"),
    ("irfl", "Yes.", f"\n\n{THUMB}\nNo."),
    ("rebus", "(B) jet set", f"\n\n{REBUS}{MOON}\n(A)"),
    ("rebus", "(B) jet set", f"\n\n{MOON}\n(A)"),
    (
        "vflute",
        "It bites.\nLABEL: entailment",
        "\n\nClaim: The boss is a lion.\nLABEL: contradiction",
    ),
    ("admire", "B, A, C", f"\n\n{FEET}\nC, A, B"),
    ("admire", "B, A, C", "\n\nSentence: She got cold feet.\nC, A, B"),
    ("metaclue ask", "a lamp", f"\n\n{LAMP}\nink"),
    ("metaclue classify", "Yes.", f"\n\n{CLASSIFY}\nNo."),
]


@pytest.mark.parametrize(("question", "answer", "continuation"), CUT)
def test_an_answer_ends_where_the_model_goes_on(
    question: str, answer: str, continuation: str
) -> None:
    prompt, shown_texts = QUESTIONS[question]
    output = before_next_question(answer + continuation, prompt, shown_texts)
    assert (output, whole(output)) == (answer, answer + continuation)


@pytest.mark.parametrize(("question", "answer", "continuation"), CUT)
def test_the_first_of_several_next_questions_ends_an_answer(
    question: str, answer: str, continuation: str
) -> None:
    prompt, shown_texts = QUESTIONS[question]
    output = f"{answer}{continuation}\n\nUSER: And this one?\nASSISTANT: Yes.{continuation}"
    assert before_next_question(output, prompt, shown_texts) == answer


UNCUT = [
    ("flute", f"{FLUTE}\n\nContradicts."),
    ("flute", f"\n{SHE}\nEntails."),  # nothing stands before it
    ("flute", f"Sure!\n\n{FLUTE}\n\nContradicts."),
    ("flute", f"Both sentences are about a man.\n\n{FLUTE}\n\nContradicts."),
    ("flute", f"Let me restate the task.\n\nQuestion: {FLUTE}\n\nAnswer: Contradicts."),
    ("flute", f"Let me restate the task.\n\nQuestion:\n{FLUTE}\n\nAnswer: Contradicts."),
    ("flute", f"The question is:\n\n{SHE}\n\nContradicts."),
    ("flute", f"You asked:\n{FLUTE}\n\nContradicts."),
    ("flute", f"<think>Let me see.\n{SHE}\nThey differ.</think>Contradicts."),
    ("flute", "Contradicts.\nDoes the sentence make sense? It does."),
    ("flute", f"Contradicts. {SHE}"),
    ("flute", "Contradicts.\n\nPremise: He is up.\nHypothesis: He is down."),
    ("flute", "I compare them.\nPremise: The sentence says where he is.\nContradicts."),
    ("flute", "Let me think.\nQuestion: what is up?\n<answer>Contradicts.</answer>"),
    ("flute 1-shot", f"{SHOT}{FLUTE}\nContradicts."),
    ("flute 1-shot", f"Sure!\n{FLUTE}\nContradicts."),
    ("vflute", f"A man in a suit bites.\n\n{VFLUTE}\n\nHe does.\nLABEL: entailment"),
    ("vflute", f"Yes, I can help with that.\n\n{VFLUTE}\n\nHe does.\nLABEL: entailment"),
    ("vflute", "A man bites.\n\nClaim: The boss is like a shark.\nLABEL: entailment"),
    ("vflute", "A man bites.\n\nClaim: supported by the image.\nLABEL: entailment"),
    ("vflute", "A man bites.\n\nClaim: entailment"),
    ("vflute", "The meme has a caption.\nCaption: Monday again, and no coffee.\nLABEL: entailment"),
    (
        "nycc",
        "It shows a snail.\n\nWhich of the 2 options is funnier? A plays on time.\n\nAnswer: A",
    ),
    ("nycc", "It shows a snail.\n\nWhich of the 2 options (A or B) is funnier?\n\nAnswer: A"),
    (
        "nycc",
        (
            "Let me see.\n\nOK. Here is a description of the cartoon followed by the two choices. I"
            " like A.\nAnswer: A"
        ),
    ),
    ("nykms", "Here goes.\nQuestion 1: Yes\nQuestion 2: flat"),
    (
        "nykms",
        "You see a house.\nYou are given a cartoon and its caption. It contains metaphor.\nYes",
    ),
    (
        "nykms",
        "You see a house.\nYou are given a cartoon and its caption.\nThe caption is dull.\nYes",
    ),
    ("columbus", "A plane sits.\nWhich word/phrase is conveyed in this image? It is (B) jet set."),
    ("columbus", f"A plane sits on chairs.\n\n{COLUMBUS}\n\n(B) jet set"),
    ("irfl", f"A man shivers at an altar.\n\n{IRFL}\nYes."),
    ("irfl", "A man shivers.\n\nIdiom: cold feet means to be afraid of a wedding.\n\nYes."),
    ("vflute", f"No text is visible.\n\n{VFLUTE}\n\nHe does.\nLABEL: entailment"),
    (
        "admire",
        (
            "Sentence: It took elbow grease to win.\nSentence: the compound is used"
            " idiomatically.\nB, A, C"
        ),
    ),
    ("metaclue ask", "a lamp\nThis image is a visual metaphor. It compares a lamp with the sun."),
    ("metaclue classify", f"Let me look at the picture.\n\n{CLASSIFY}\n\nYes."),
    ("metaclue classify", "It is an ad.\n\nDoes this image contain a visual metaphor?\n\nYes."),
]


@pytest.mark.parametrize(("question", "output"), UNCUT)
def test_an_answer_does_not_end_at_what_is_no_next_question(question: str, output: str) -> None:
    prompt, shown_texts = QUESTIONS[question]
    assert before_next_question(output, prompt, shown_texts) is output


LEADS = (
    "",
    "Sure!\n",
    "A man bites.\n\n",
    "The question is:\n\n",
    "The task.\n\nQuestion: ",
    "Hm.\n> ",
)


def test_the_own_question_in_each_wording_of_vflute_ends_nothing() -> None:
    claim = "The boss is a shark."
    wordings = vflute.other_wordings().questions(claim)
    assert len(set(wordings)) == 21
    for wording in wordings:
        for lead in LEADS:
            output = f"{lead}{wording}\n\nHe bites.\nLABEL: entailment"
            assert before_next_question(output, wording, shown_texts=[claim]) is output


def test_the_question_of_another_row_in_each_wording_of_vflute_ends_an_answer() -> None:
    claim = "The boss is a shark."
    wordings = vflute.other_wordings()
    next_questions = wordings.questions("A cat sleeps on the roof.")
    assert len(next_questions) == 21
    for next_question in next_questions:
        output = f"LABEL: entailment\n{next_question}"
        assert before_next_question(output, VFLUTE, [claim], wordings) == "LABEL: entailment"


def test_a_copy_has_all_of_an_output() -> None:
    output = Output("B", "B\n\nQuestion: and now?")
    for copied in (copy.deepcopy(output), pickle.loads(pickle.dumps(output))):
        assert (copied, copied.whole) == ("B", "B\n\nQuestion: and now?")
    assert json.dumps([output]) == '["B"]'
    assert (whole("B"), whole(None)) == ("B", None)
