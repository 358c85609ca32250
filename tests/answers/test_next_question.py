"""A model's own next question is read as its answer, or a row's label decides what is read, if this
fails.
"""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import pytest
from demo_runs import mini_tasks, task_manager
from lmms_eval.tasks import get_task_dict

from figlang_tasks.answers.next_question import (
    Output,
    before_next_question,
    whole,
    without_next_questions,
)
from figlang_tasks.benchmarks.admire import tasks as admire
from figlang_tasks.benchmarks.columbus import tasks as columbus
from figlang_tasks.benchmarks.flute import tasks as flute
from figlang_tasks.benchmarks.nycc import tasks as nycc
from figlang_tasks.benchmarks.vflute import tasks as vflute
from figlang_tasks.harness.judgement import JudgedTask
from figlang_tasks.scoring import process_results

# --- where an answer ends ---

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

CUT = [  # prompt, answer, what the model goes on with
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


@pytest.mark.parametrize(("prompt", "answer", "more"), CUT)
def test_an_answer_ends_where_the_model_goes_on(prompt: str, answer: str, more: str) -> None:
    text, shown_texts = QUESTIONS[prompt]
    output = before_next_question(answer + more, [text], shown_texts)
    assert (output, whole(output)) == (answer, answer + more)


@pytest.mark.parametrize(("prompt", "answer", "more"), CUT)
def test_the_first_of_several_next_questions_ends_an_answer(
    prompt: str, answer: str, more: str
) -> None:
    text, shown_texts = QUESTIONS[prompt]
    output = f"{answer}{more}\n\nUSER: And this one?\nASSISTANT: Yes.{more}"
    assert before_next_question(output, [text], shown_texts) == answer


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


@pytest.mark.parametrize(("prompt", "output"), UNCUT)
def test_an_answer_does_not_end_at_what_is_no_next_question(prompt: str, output: str) -> None:
    text, shown_texts = QUESTIONS[prompt]
    assert before_next_question(output, [text], shown_texts) is output


def test_the_own_question_in_each_wording_of_vflute_ends_nothing() -> None:
    doc: dict[str, Any] = {"claim": "The boss is a shark.", "instruction": 2}
    wordings = vflute.other_wordings(doc)
    others = vflute.other_wordings({"claim": "A cat sleeps on the roof."})
    assert len(set(wordings)) == 21
    for number, wording in enumerate(wordings):
        for lead in (
            "",
            "Sure!\n",
            "A man bites.\n\n",
            "The question is:\n\n",
            "The task.\n\nQuestion: ",
            "Hm.\n> ",
        ):
            output = f"{lead}{wording}\n\nHe bites.\nLABEL: entailment"
            assert before_next_question(output, [wording], shown_texts=[doc["claim"]]) is output
        asked = [VFLUTE, *wordings]
        assert (
            before_next_question(f"LABEL: entailment\n{others[number]}", asked, [doc["claim"]])
            == "LABEL: entailment"
        )


# --- what readers and papers' own rules get ---


@cache
def mini(name: str) -> Any:
    return get_task_dict([name], task_manager(mini_tasks(), "figlang_random"), "simple")[name]


def first_row(name: str) -> dict[str, Any]:
    return dict(next(iter(mini(name).test_docs())))


def test_a_copy_has_all_of_an_output() -> None:
    output = Output("B", "B\n\nQuestion: and now?")
    for same in (copy.deepcopy(output), pickle.loads(pickle.dumps(output))):
        assert (same, same.whole) == ("B", "B\n\nQuestion: and now?")
    assert json.dumps([output]) == '["B"]'
    assert (whole("B"), whole(None)) == ("B", None)


def test_the_released_rule_reads_on_and_the_careful_reader_does_not() -> None:
    doc = first_row("figlang_mini_flute") | {"premise": "He is up.", "hypothesis": "He is down."}
    output = f"Contradicts. Up is not down.\n\n{SHE}\nEntails. Both are music."
    record = flute.lm_eval_process_results(doc, [output])["sample"]
    assert (record["predicted_official"], record["predicted_strict"]) == (1, 0)


def test_the_answer_of_two_calls_is_cut_in_each_wording() -> None:
    doc = first_row("figlang_mini") | {"claim": "The boss is a shark."}
    answer = f"He bites.\nLABEL: entailment\n\n{CAT}\nLABEL: contradiction"
    output = json.dumps({"scene_graph": "{}", "answer": answer})
    record = vflute.scene_graph_process_results(doc, [output])["sample"]
    assert (record["predicted"], record["predicted_strict"]) == (0, 1)


# --- of every benchmark ---


class Kind(NamedTuple):
    """A kind of task: how it is asked and judged, two answers to it, and two rows."""

    prompt: Callable[[Any], str]
    judge: Callable[[Any, str], dict[str, Any]]
    answers: tuple[str, str]
    docs: list[dict[str, Any]]


MINI = {
    "figlang_mini": ("It bites.\nLABEL: contradiction", "It does.\nLABEL: entailment"),
    "mini_2shot": ("It bites.\nLABEL: contradiction", "It does.\nLABEL: entailment"),
    "figlang_mini_flute": ("Contradicts. Both cannot hold.", "Entails. They say the same."),
    "mini_flute_v1": ("Yes. Both cannot hold.", "No."),
    "figlang_mini_nykms_metaphor": ("1. Yes\n2. flat\n3. It is dull.\n4. A pun.", "1. No"),
    "figlang_mini_nykms_metaphor_text": ("1. Yes\n2. flat\n3. It is dull.\n4. A pun.", "1. No"),
    "mini_nykms_mw": ("The lamp", "The bear"),
    "figlang_mini_irfl_detect_idiom": ("The answer is B.", "The answer is C."),
    "figlang_mini_irfl_retrieve_metaphor": ("Yes, it does.", "No, it does not."),
    "figlang_mini_metaclue_classify_literal": ("Yes.", "No."),
    "figlang_mini_metaclue_caption": (
        "the car is as fast as a cheetah",
        "the phone is as thin as paper",
    ),
    "figlang_mini_metaclue_vqa": ("a cheetah", "paper"),
    "figlang_mini_metaclue_retrieve_swap": ("2", "1"),
    "figlang_mini_metaclue_localize": (
        '[{"bbox_2d": [1, 2, 300, 400]}]',
        '[{"bbox_2d": [500, 600, 700, 800]}]',
    ),
}
DATA = {"dataset": "x", "unit": "u", "family": "u", "fold": "0", "sense": "literal"}
SNAIL = {
    **DATA, "request": "NYCC,config=ranking,fold=0", "id": "nycc-ranking-17",
    "data": "NYCC/ranking:0", "config": "ranking", "label": "A", "winner_source": "crowd_winner",
    "location": "a garden", "description": "A snail wears a watch.",
    "uncanny_description": "It has no wrist.", "entities": ["Snail", "Watch"],
    "captions": ["I have no time.", "It is late."],
}  # fmt: skip
BEAR = {
    "location": "a bar",
    "description": "A bear drinks.",
    "captions": ["Bear with me.", "Too cold?"],
    "label": "B",
}
JETS = {
    **DATA, "request": "COLUMBUS,order=benchmark", "id": "jet_set", "data": "COLUMBUS/benchmark:0",
    "kind": "text", "overlap": True, "answer": "B",
    "candidates": ["jet lag", "jet set", "jet stream", "jet ski"],
}  # fmt: skip
MOONS = {"candidates": ["half moon", "over the moon", "moon over", "moonlight"], "answer": "A"}
NAMES = [f"{number}.png" for number in range(5)]
GREASE = {
    **DATA, "request": "AdMIRe,table=en_test,shown=pictures", "id": "elbow grease",
    "data": "AdMIRe/en_test:0", "compound": "elbow grease", "shown": "pictures",
    "sentence": "It took elbow grease to win.", "captions": [], "paths": NAMES, "names": NAMES,
    "order": NAMES,
}  # fmt: skip
COLD = {"compound": "cold feet", "sentence": "She got cold feet.", "id": "cold feet"}
OTHERS: dict[str, tuple[Any, dict[str, Any], tuple[str, str], list[dict[str, Any]]]] = {
    "nycc": (
        nycc,
        {},
        ("Snails are slow. Answer: B", "It is a pun. Answer: A"),
        [SNAIL, SNAIL | BEAR],
    ),
    "columbus": (columbus, {"prompt": "rebus"}, ("(B)", "(C)"), [JETS, JETS | MOONS]),
    "admire": (
        admire,
        {"prompt": "rank"},
        ("B, A, C, E, D", "C, D, E, A, B"),
        [GREASE, GREASE | COLD],
    ),
}
KINDS = [*MINI, *OTHERS]


def record_in_a_run(task: Any, doc: Any, output: str) -> dict[str, Any]:
    """The record of an answer as a run makes it."""
    record: dict[str, Any] = (
        JudgedTask(copy.copy(task)).process_results(doc, [output])["sample"].record
    )
    return record


def kind(name: str) -> Kind:
    if name in MINI:
        task = mini(name)
        docs = [dict(doc) for doc in task.test_docs()]
        return Kind(task.doc_to_text, partial(record_in_a_run, task), MINI[name], docs)
    module, options, answers, docs = OTHERS[name]
    doc_to_text = partial(module.doc_to_text, lmms_eval_specific_kwargs=options)

    def judge(doc: Any, output: str) -> dict[str, Any]:
        outputs = without_next_questions(doc, [output], doc_to_text, module.shown_texts)
        record: dict[str, Any] = process_results(doc, outputs)["sample"]
        return record

    return Kind(doc_to_text, judge, answers, docs)


def other_row(asked: Kind) -> tuple[dict[str, Any], dict[str, Any]]:
    """A row, and one whose prompt is another, if there is one."""
    row = asked.docs[0]
    others = [doc for doc in asked.docs if asked.prompt(doc) != asked.prompt(row)]
    return row, [*others, asked.docs[1]][0]


@pytest.mark.parametrize("name", KINDS)
def test_the_answer_to_the_prompt_of_another_row_is_not_read(name: str) -> None:
    asked = kind(name)
    row, other = other_row(asked)
    answer, next_answer = asked.answers
    for more in (asked.prompt(other), f"Question: {asked.prompt(other)}\nAnswer:"):
        assert given(asked, name, row, f"{answer}\n\n{more}\n{next_answer}") == [answer]


def given(asked: Kind, name: str, row: dict[str, Any], output: str) -> list[str]:
    """What the benchmark's function gets of an output."""
    if name in OTHERS:
        return without_next_questions(row, [output], asked.prompt, OTHERS[name][0].shown_texts)
    outputs: list[str] = []

    def keep(_: object, results: list[str]) -> dict[str, Any]:
        outputs.extend(results)
        return {}

    task = copy.copy(mini(name))
    task.process_results = keep
    JudgedTask(task).process_results(row, [output])
    return outputs


def constructed(asked: Kind, row: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """Yield outputs that repeat the question, go on with another one, or do neither."""
    prompt, next_prompt = asked.prompt(row), asked.prompt(other)
    last_line = prompt.strip().splitlines()[-1]
    for answer, next_answer in (asked.answers, asked.answers[::-1]):
        for lead in (
            "",
            "Sure.\n\n",
            "It shows a snail.\n\n",
            "The question is:\n\n",
            "Again.\n\nQuestion: ",
        ):
            yield f"{lead}{prompt}\n\n{answer}"
            yield f"{lead}{last_line} A plays on time.\n\n{answer}"
        for lead in (
            "",
            "Question: ",
            "Question 2: ",
            "Q: ",
            "<image>\n",
            "USER: ",
            "2. ",
            "Claim: ",
        ):
            yield f"{answer}\n\n{lead}{next_prompt}\n{next_answer}"
            yield f"It shows a snail.\n{answer}\n{lead}{last_line}\n{next_answer}"
        for words in (
            "Which of the 2 options is funnier? A plays on time.",
            "Does the image help? It does.",
        ):
            yield f"It shows a snail.\n\n{words}\n\nAnswer: {answer}"


NOT_SHOWN: Mapping[str, tuple[Any, ...]] = {
    "id": ("A", "the", "image"),
    "explanation": ("the", "It is.", "contradict"),
    "references": (["the"], ["a cheetah"], ["is"]),
    "config": ("ranking", "ranking_1", "ranking_2"),
    "positive": (True, False),
    "metaphor": (True, False),
    "order": (NAMES, NAMES[::-1]),
    "winner_source": ("A", "the"),
}
LABELS = (
    ("A", "B"),
    (0, 1),
    (1, 2, 3),
    ("Entailment", "Contradiction"),
    ("entailment", "contradiction"),
)


def changed_rows(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row with other values in all columns that its prompt does not show."""
    columns = {column: values for column, values in NOT_SHOWN.items() if column in row}
    for column in {"label", "answer"} & row.keys():
        columns[column] = next(labels for labels in LABELS if row[column] in labels)
    for number in range(3):
        yield row | {column: values[number % len(values)] for column, values in columns.items()}


READINGS = (
    "predicted", "predicted_official", "predicted_strict", "status", "rule", "chosen", "caption",
    "answer", "predicted_sense",
)  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_what_the_prompt_does_not_show_decides_no_reading(name: str) -> None:
    asked = kind(name)
    row, other = other_row(asked)
    outputs = list(constructed(asked, row, other))
    assert len(outputs) >= 50
    for output in outputs:
        readings = [reading(asked.judge(changed, output)) for changed in (row, *changed_rows(row))]
        assert all(changed == readings[0] for changed in readings), output


def reading(record: Mapping[str, Any]) -> dict[str, Any]:
    """What a record says of the reading of an output, without the index of the right answer in
    it.
    """
    is_choice = "answer" in record and "candidates" in record
    return {
        name: record[name]
        for name in READINGS
        if name in record and not (name == "answer" and is_choice)
    }
