"""A quick look at an output: whether one of its lines may begin a question or a turn.

Most outputs have several lines and no invented question. To analyse the prompt takes longer than to
read the answer.
"""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Sequence
from typing import Final

_FIRST_WORD = re.compile(r"(?:\A|\n|[.!?] )\W*(\w+)")  # of a text, a line or a sentence
_PICTURE: Final = "<image>"
# The words of a line by which an opening may begin, after "Question 2:" at most
_HEAD = re.compile(r"[^\w\n]*(\w+)(?:[^\w\n]+(\w+)(?:[^\w\n]+(\w+))?)?")
# The words that begin a question, a turn or the name of a text whatever the prompt is, without the
# number after them ("Claim 2:", "Q2:"). Some begin "The follow-up question:".
_ALWAYS: Final = frozenset(
    "question q pergunta follow user human instruction image inst"
    " claim statement premise hypothesis sentence".split()
)


def first_words(text: str) -> frozenset[str]:
    """The first word of a text, and of each line and sentence in it, in small letters.

    Args:
        text: a text in plain signs (`prompt_question.plain`); marks of pictures are passed over.
    """
    words = _FIRST_WORD.findall(text.replace(_PICTURE, " "))
    return frozenset(word.lower() for word in words)


def may_begin_question(
    text: str, line_starts: Sequence[int], question_words: Collection[str]
) -> bool:
    """Whether a line of an output may begin a question, a turn or a text of a question.

    If not, none of the patterns of `next_question` and `PromptQuestion` finds anything in it.

    Args:
        text: the output, in plain signs.
        line_starts: where its lines start that have a word (`wordings.word_lines`).
        question_words: the first words (`first_words`) of all texts that a question is made of.
    """
    if not all(map(str.isascii, question_words)):  # Patterns ignore case there in their own way.
        return True
    for start in line_starts:
        head = _HEAD.match(text, start)
        if head is None or not head[0].isascii():
            return True
        for word in filter(None, head.groups()):
            # "Claim2:" may be a text that the prompt calls "Claim", and "2" its number.
            word = word.lower()
            name = word.rstrip(string.digits)
            if word in question_words or name in question_words or name in _ALWAYS:
                return True
    return False
