"""Sentences that state or deny what was asked for: "the image contains no metaphor"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from figlang_tasks.answers.text import QUOTED, Answer, Around
from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.answers.words import (
    IN_LOOPS,
    NOTHING_AFTER,
    REFUSAL,
    is_said,
    without_affirming,
)

_SUBJECT = (
    r"(?:image|picture|photo(?:graph)?|poster|ad|advertisement|cartoon|drawing|illustration|meme|scene|caption|it|this"
    r"|there|these)"
)
# "contains", "these are", "it's"
_VERB = (
    r"(?:\b(?:is|(?<=\bthese\s)are|has|contains?|uses?|shows?|conveys?|visuali[sz]es?|illustrates?|captures?|represents?"
    r"|depicts?|presents?)|(?<=\bit)'s|(?<=\bthis)'s|(?<=\bthere)'s)"
)
_QUALITY = (
    r"(?:not|just|only|an?|the|clear|visual|indeed|\w{3,12}ly"
    r"|strong|powerful|clever|simple|obvious|good)"
)
# What stands before a topic that is stated:
_STATES = re.compile(
    # "The image clearly contains a visual"
    rf"(?:\b{_SUBJECT}\b[^,;:]{{0,40}}?{_VERB}\s(?:{_QUALITY}\s){{0,4}}"
    # "That's a clever"
    rf"|\A\W*that(?:'s|\sis)\s(?:{_QUALITY}\s){{0,4}}"
    # of what two sentences do, as in "they do contradict"
    rf"|(?:\b(?:sentences?|statements?|they|both|two|first|second)|{QUOTED})[\"')]{{0,2}}\s"
    r"(?:(?:do|does|are|seem to|\w+ly|indeed|in) ){0,3}"
    # "I can see a"
    r"|\bi\s(?:do\s|can\s|clearly\s)?(?:see|find)\s(?:(?:an?|the|clear|visual)\s){1,3})\Z",
    re.I,
)
# "The idiom is a metaphor", "To be a metaphor": this says nothing of the image.
_OTHER = re.compile(r"\b(?:idiom(?!')|phrase|should)\b|\A\W*to\b", re.I)
# "A clear visual" before a topic that is the whole sentence
_ALONE = re.compile(r"\W*(?:(?:an?|clear|visual|\w{3,14}ly)\W{1,3}){0,4}\Z", re.I)


def find_statements(answer: Answer, topic: re.Pattern[str]) -> Iterator[Evidence]:
    """Yield evidence for True where a sentence states the topic, for False where it denies it.

    Args:
        answer: the answer.
        topic: finds the thing that was asked for, such as "metaphor".
    """
    for mention, around in answer.mentions(topic):
        value = _stated(around)
        if value is not None:
            yield Evidence(value, *mention.span(), "statement")


@lru_cache(maxsize=IN_LOOPS)
def _stated(around: Around) -> bool | None:
    """Whether a sentence states what a word in it names: "this is a metaphor".

    False if it denies it, None if it does neither: "The metaphor is old".
    """
    before = without_affirming(around.sentence_before)
    is_affirmed = is_said(around.sentence_before)
    if is_affirmed is None or _OTHER.search(before) or REFUSAL.search(before):
        return None
    # "There is no metaphor", "It contradicts nothing in the claim"
    if not is_affirmed or NOTHING_AFTER.match(around.sentence_after):
        return False
    is_alone = _ALONE.match(before) and not around.sentence_after.strip(" .!")
    if is_alone or _STATES.search(before):
        return True
    return None
