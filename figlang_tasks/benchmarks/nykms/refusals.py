"""Recognizes refusals: "I'm sorry, but I cannot discuss this image"."""

from __future__ import annotations

import re

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})
_CANNOT = (
    r"(?:can't|cannot|can not|could not|couldn't|won't|will not|(?:am |'m )(?:unable|not able) to)"
)
_SERVE = (
    r"(?:assist|help|provide|answer|comply|fulfil|do that|do"
    r" this|discuss|analy[sz]e|see|view|determine|process|comment"
    r"|respond|support|engage|identify|describe|access|continue|make|give)"
)
# Words for what is asked about, by topic.
TOPICS = {
    "metaphor": r"\bmetaphor(?:s|ical(?:ly)?)?\b",
    "sarcasm": r"\b(?:sarcasm|sarcastic(?:ally)?)\b",
}
_TOPIC = rf"(?:{TOPICS['metaphor']}|{TOPICS['sarcasm']})"
_BEGIN = r"\A\W*(?:\d{1,2}\W+)?(?:unfortunately,? |however,? )?"
_PICTURE = r"(?:images?|pictures?|cartoons?|photos?|drawings?)"
# What can only be a refusal, even where words are asked for: an apology with what cannot be done,
# an assistant that speaks of itself, or a refusal to help with what was asked.
_SURE_REFUSAL = re.compile(
    # "I'm very sorry, but I cannot", "I apologize, but I am unable to"
    rf"{_BEGIN}(?:(?:(?:i'?m |i am |we'?re |we are )?(?:very |really |so |terribly )?sorry\b"
    r"|(?:i |my |we )?apolog(?:ies|i[sz]e)\b)"
    rf"[^.\n]{{0,80}}?{_CANNOT}"
    # "As a large language model, I do not"
    r"|as an? (?:[\w-]+ ){0,3}?(?:ai|model|assistant)\b[^.\n]{0,80}"
    rf"\bi(?: do not| don't| {_CANNOT}|'m | am )"
    # "I can't help with this.", "We cannot discuss the content", "I cannot view images"
    rf"|(?:i |i|we ){_CANNOT} (?:\w+ ){{0,2}}?"
    r"(?:assist|help|provide|comply|fulfil|answer|discuss|analy[sz]e|process"
    r"|respond|support|engage|describe|view|access)\b(?: \w+){0,2}?(?:"
    r" (?:this|that|it)(?:\W*\Z|[.!\n])"
    r"| (?:this|that|the|your|such|any|these|those) "
    rf"(?:\w+ )?(?:{_PICTURE}|content|requests?|questions?|material)\b"
    rf"| {_PICTURE}\b)"
    # "I do not have the ability to"
    r"|i (?:do not|don't) have the (?:ability|capability) to"
    # "There is no image attached", "No picture was provided"
    rf"|(?:there (?:is|was) )?no {_PICTURE} (?:was |is |has been )?"
    r"(?:\w+ )?(?:provided|attached|given|visible|available|included|shown|uploaded)\b"
    # "I don't see an attached image"
    rf"|i (?:do not|don't) see an? (?:\w+ )?{_PICTURE}\b)",
    re.I,
)
# Words that begin many refusals. They begin many answers in words too, so that they serve questions
# of yes or no alone.
_REFUSAL = re.compile(
    # "I'm afraid I cannot"
    rf"{_BEGIN}(?:(?:(?:i'?m |i am |we'?re |we are )?(?:very |really |so |terribly )?afraid\b"
    r"|apolog(?:ies|i[sz]e)\b)"
    rf"[^.\n]{{0,80}}?{_CANNOT}"
    # "I cannot determine", "I'm not able to fully see"
    rf"|(?:i |i|we ){_CANNOT} (?:\w+ ){{0,3}}{_SERVE}\b"
    r"|i(?:'m| am) not comfortable|i must (?:decline|refuse)|i decline|i refuse)",
    re.I,
)
# "I cannot find any clear metaphor"
_SEES_NO_TOPIC = re.compile(
    rf"{_CANNOT} (?:\w+ ){{0,2}}(?:see|find|identify|detect|spot|discern|recogni[sz]e) (?:\w+"
    rf" ){{0,3}}{_TOPIC}",
    re.I,
)


def is_refusal_in_words(raw_answer: str) -> bool:
    """Whether the answer to a question in words is a refusal."""
    return _SURE_REFUSAL.match(_start_of(raw_answer)) is not None


def is_refusal_of_yes_or_no(raw_answer: str) -> bool:
    """Whether the answer to a question of yes or no is a refusal."""
    start = _start_of(raw_answer)
    # "I cannot see any metaphor" is an answer, though the published rules do not read it.
    if _SEES_NO_TOPIC.search(start[:200]):
        return False
    return _SURE_REFUSAL.match(start) is not None or _REFUSAL.match(start) is not None


def _start_of(raw_answer: str) -> str:
    """The first 1,000 characters, with straight apostrophes, in which a refusal stands."""
    return raw_answer.translate(_APOSTROPHES)[:1000]
