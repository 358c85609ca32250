"""The words by which every reader tells what is announced, denied, left open or corrected.

Of a word such as "yes", "B" or "metaphor" in an answer, the text before it says whether it is

* *announced* as the answer: "The answer is", "I would say" (`is_announced`);
* *said* or *denied*: "This is a", "There is no" (`is_said`);
* *hedged*, that is left open: "This may be a", "whether it is a" (`is_hedged`);
* a *correction* of what was read before it: "No wait," (`CORRECTION`).

Patterns that end in ``\\Z`` are searched in that text, and so end where the word begins.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from figlang_tasks.answers.any_case import AnyCase

IN_LOOPS: Final = 128
"""How many results functions keep: a model in a loop writes the same around each word."""

CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Signs of Chinese, Japanese and Korean, to stand in the square brackets of a pattern.

Python takes them for letters of one word, so that ``\\b`` does not match before the B of "\u9009B".
"""

AFTER_NO_WORD: Final = rf"(?<![^\W{CJK}])"
r"""As ``\b`` before a word, but it also matches after a sign of Chinese, Japanese or Korean."""
BEFORE_NO_WORD: Final = rf"(?![^\W{CJK}])"
r"""As ``\b`` after a word, but it also matches before a sign of Chinese, Japanese or Korean."""

REFUSAL: Final = re.compile(
    r"\b(?:sorry|unable|not sure|maybe|please provide|not possible|impossible)\b"
    r"|\bi (?:cannot|can't|do not) (?!(?:see|find) an?y?\b)|\bcannot (?:be )?determine",
    re.I,
)
NONE_OF: Final = re.compile(r"\bnone of the\b", re.I)
ANNOUNCED_NONE: Final = re.compile(
    r"\b(?:answer|(?:correct|right|best)"
    r" (?:option|choice))\b[^.?!\n]{0,40}?(?:\b(?:is|be)\b|:)\W{0,3}"
    r"(?:not (?:in|among"
    r" (?:the|these|those)|listed|available|given|provided)|none\b|n/a\b|unknown\b|unclear\b)",
    re.I,
)
"""An announcement that no option is the answer: "the correct option is not among the choices"."""

NEUTRAL: Final = re.compile(r"\A\W*neutral\b", re.I)
_CLAUSE_STARTS = r"""(?:\A|(?<=[.!?;:,-]\s)|(?<=[\n("])|\b(?:but|hmm|it is|no|oh|or|so)\s)"""
CORRECTION: Final = re.compile(
    r"\b(?:correction|correct this|overlooked|second thought|final answer|scratch that|i meant?|or"
    r" rather|my mistake"
    r"|oops|on (?:reflection|second look|closer (?:look|inspection|examination))"
    r"|i (?:was wrong|misread|misspoke|take that back|stand corrected)"
    r"|let me (?:correct|rephrase|reconsider|revise))\b"
    # "The man actually wears a hat" and "people wait for a bus" correct nothing.
    rf"|{_CLAUSE_STARTS}(?:wait|actually|sorry|hold on)\b|\b(?:wait|actually)[\s,:;.!-]{{0,4}}\Z",
    re.I,
)
"""Words that take back what was said before them."""

# --- what announces an answer ---

_NAME_OF_ANSWER = (
    r"(?=[abcdgijloprsv\u0627\u0909\u043e])"
    r"(?:answer|choice|letter|prediction|label|classification|response|conclusion|verdict|decision|solution"
    r"|selection|pick|(?:best|closest|selected|chosen|correct)"
    r" (?:image|picture|option|one|caption|statement|match|fit)"
    r"|ans|guess"
    r"|resposta|(?:op[cç][aã]o|alternativa|opci[oó]n|imagem|imagen) corre(?:ta|cta)"
    r"|respuesta|risposta|r[ée]ponse|antwort|l[öo]sung"
    r"|jawaban|ответ|الإجابة|उत्तर)"
)
_IS = r"(?:\b(?:is|are|be|was|é|es|è|est|ist)\b|[:=\n-])"
_IN_CHINESE = (
    r"(?:答案|回答|选项|结论|正确|应选|所以|因此)[^。.\n]{0,12}?(?:(?<!不)是|为|為|(?<!不)选|選|:)"
    r"|(?:答案】?|选择|应选|故选|(?<!不)选|正确)"
)
_IN_JAPANESE_OR_KOREAN = r"(?:(?:正解|答え|回答)(?:は|:)|(?:정답|답)(?:은|는|:))"
_I_SAY = r"\bi(?:'d| would) (?:say|answer)\b"
# Words between the announcement and the answer: "the answer is most likely (B)".
_BETWEEN = (
    r"(?:[\s:\"'(\[>\\\-]|\b(?:an?|the|therefore|thus|most likely|likely|option|choice|letter|one"
    r" labell?ed"
    r"|labell?ed|la|letra"
    r"|(?:candidate|caption|statement)(?= \d)|(?!hardly)\w+ly)\b)*"
)
ANNOUNCED: Final = AnyCase(
    rf"(?:\b{_NAME_OF_ANSWER}\b[^.?!\n]{{0,60}}?{_IS}|\bans\.|{_IN_CHINESE}|{_IN_JAPANESE_OR_KOREAN}"
    rf"|{_I_SAY}){_BETWEEN}\Z"
)
"""Text before a word that announces it as the answer: "The correct answer is", "I would say".

Three kinds of text: a name of the answer and "is" or ":" with at most 60 characters between them;
the same in Chinese, Japanese or Korean; "I would say". Words such as "most likely (" may follow.
"""

_SURELY = r"(?:certainly|clearly|definitely|thus|therefore|does|do)"
# "The answer is not", "The correct option isn't a", "The answer cannot be"
_DENIED_AS_ANSWER = AnyCase(
    rf"\b{_NAME_OF_ANSWER}\b[^.?!,;\n]{{0,40}}?"
    rf"(?:(?:\b(?:is|are|was)\b|[:=])\s{{0,2}}(?:{_SURELY}\s)?(?:not|non|no)[\s-]|\b(?:isn't|wasn't)\s"
    r"|(?:\b(?:cannot|can not|must not|should not)|n't)\sbe\s)(?:an?\s|the\s)?[\"'(\[]{0,2}\Z"
)
# "I choose", "I would definitely go with", "I'd say that it is"
_CHOSEN = re.compile(
    r"\bi(?:'d| would|'ll| will| must)?\s(?:(?:definitely|probably|still|therefore|have"
    r" to)\s)?(?:say"
    r"|answer|choose|pick|select|go (?:with|for)|opt for|vote(?: for)?|conclude|lean(?:ing)?"
    r" (?:to|towards?))"
    r"(?:[\s:,\"'(\[]|\b(?:an?|the|that|it is|it's)\b){1,8}\Z",
    re.I,
)
# "I do not think", "It is not true that": what follows is not held, even if it is "the answer is B"
_NOT_HELD = re.compile(
    r"(?:\b(?:not|never|cannot)|n't)\s(?:(?:true\s)?that\b|(?:\w+\s)?(?:think|believe|say|claim|mean|agree|sure)\b)"
    r"[^,;:.]{0,20}\Z",
    re.I,
)
CONDITION: Final = re.compile(
    r"\A\W*(?:(?:but|and|so|now|however),?\s)?(?:if|unless|assuming|suppose|supposing)\b"
    # "if I had to choose" and "if you look closely" are no conditions.
    r"(?!\s(?:i|we|you|one)\s(?:have|had|must|were|was|need|look)\b)",
    re.I,
)
"""The head of a sentence that says only what would be: "If it were a joke, ..."."""


@lru_cache(maxsize=IN_LOOPS)
def is_announced(text_before: str, sentence_before: str) -> bool | None:
    """Whether a text announces the word after it as the answer; False for "The answer is not ...".

    None if it does neither, or leaves it open: "The answer may be", "If ..., the answer is".

    Args:
        text_before: the text up to the word, which may begin in a sentence before.
        sentence_before: of that, what belongs to the sentence of the word.
    """
    if CONDITION.match(sentence_before):
        return None
    if _DENIED_AS_ANSWER.search(text_before):
        return False
    announcement = ANNOUNCED.search(text_before) or _CHOSEN.search(text_before)
    if announcement is None:
        return None

    # "I do not think that the answer is" is a lead, "I do not think that", and an announcement. The
    # announcement ends both texts; it may be the longer one, as in "The answer is:\n\n(".
    lead_end = max(0, len(sentence_before) - len(announcement[0]))
    lead = last_clause(sentence_before[:lead_end])
    announcing_words = without_affirming(announcement[0])
    if DENIAL.search(announcing_words) or _NOT_HELD.search(lead):
        return None
    if _MODAL.search(announcing_words) or _MODAL.search(lead):
        return None
    return True


# --- what a sentence says of a word in it ---

# Phrases that have a word of denial and deny nothing: `without_affirming` takes them out before
# `DENIAL` is searched.
_DOUBT = (
    r"(?:den(?:y|ied|ying)|doubt(?:s|ed|ing)?|disput(?:e|ed|ing)|miss(?:ed)?|overlook(?:ed|ing)?|ignor(?:e|ed|ing)"
    r"|question(?:ed|ing)?(?!\s(?:of|mark)))"
)
_BEFORE_DOUBT = (
    r"(?:an?y?|all|the|be|to|of|for|in|is|there|have|can|could|will|would|ever|anyone|possibly|seriously|really"
    r"|reasonably|real|reasonable|possible|absolutely|slightest|least|shadow|room|way|use|point|reason|need)"
)
# no doubt · without a doubt · there is no denying that · nobody can deny that · it is hard to miss
_NO_DOUBT = (
    rf"\bno\s(?:\w+\s){{1,3}}(?:can|could|would|will)\s(?:\w+ly\s)?{_DOUBT}\b(?:\sthat\b)?|"
    r"(?:\bthere(?:'s|\sis|\scan be)\s)?(?:\b(?:no|not|never|nobody|no["
    r" -]one|none|hardly|cannot|can't|little|without"
    rf"|beyond|impossible|hard|difficult)|n't)\s(?:{_BEFORE_DOUBT}\s){{0,6}}{_DOUBT}\b"
    r"(?:\s(?:about it|whatsoever|at all))?(?:\s(?:that|but)\b)?"
)
# no wonder · it is no surprise that · cannot but · hard not to see
_NO_WONDER = (
    r"\bno\s(?:mistaking|arguing|escaping|getting"
    r" around|wonder|surprise|secret|accident|coincidence|exaggeration"
    r"|matter\s(?:how|what|which))\b(?:\sthat\b)?|\b(?:cannot|can't|could"
    r" not|couldn't)\s(?:help\s)?but\b"
    r"|\b(?:hard|difficult|impossible)\snot\sto\s\w+|\bwithout\s(?:exception|hesitation|reservation|fail)\b"
)
# not without · does not lack · does not fail to · would not be wrong to say that
_NOT_WITHOUT = (
    r"(?:\b(?:not|never)|n't)\s(?:be\s)?(?:(?:entirely|completely|wholly|quite|totally)\s)?"
    r"(?:(?:without|devoid of|lack(?:ing)?(?:\sin)?|free (?:of|from)|bereft"
    r" of|fails?\s(?:to|in))\b(?:\san?y?\b)?"
    r"|(?:wrong|incorrect|false|untrue|inaccurate|a mistake|an"
    r" exaggeration|far-fetched|hard|difficult"
    r"|surprising(?:ly)?)\b(?:\s(?:to\s(?:say|see|claim|call|argue|find|spot)|that)\b){0,2})"
)
# nothing less than · none other than · no fewer than two · nothing but · no ordinary
_NOTHING_LESS = (
    r"\b(?:nothing|none|no)\s(?:(?:less|fewer|more|other)\sthan|less\san?|short\sof|but)\b"
    r"|\bno\s(?=(?:ordinary|mere|common|small)\s)|(?<=\bis\s)more than\b|(?<=\bdoes\s)more than\b"
)
# "It is, without a doubt, a metaphor."
_BETWEEN_COMMAS = r",\s(?:no|without (?:an?y?\s)?|beyond (?:an?y?\s)?)\s?(?:doubt|question),\s"
_AFFIRMING = re.compile(
    "|".join((_BETWEEN_COMMAS, _NO_DOUBT, _NO_WONDER, _NOT_WITHOUT, _NOTHING_LESS)), re.I
)
# One of these is in each of the phrases, and in few texts.
_MAY_AFFIRM = AnyCase(
    r"n(?:o|'t|ever)|without|beyond|hard|little|impossible|difficult|more than",
)
# "does not, however, support"
_ASIDE = re.compile(r"(\b(?:not|never|neither|cannot)|n't),\s[^,.;:]{1,40},(?=\s)", re.I)

_BLANKS = re.compile(r"\s{2,}")


@lru_cache(maxsize=IN_LOOPS)
def without_affirming(text: str) -> str:
    """A text without phrases whose word of denial denies nothing: "no doubt", "not without".

    An aside after a denial is left out, too: "does not, however, support" gives "does not support".
    """
    if _MAY_AFFIRM.search(text):
        text = _AFFIRMING.sub(" ", text)
    if "," in text:
        text = _ASIDE.sub(r"\1", text)
    return _BLANKS.sub(" ", text)


_CLAUSE = re.compile(r"[,:;(]|\b(?:(?<!anything )but|so(?! far)|because|and|as)\b", re.I)
DENIAL: Final = AnyCase(
    r"\b(?:not(?! (?:only|just|merely|simply|solely))|no(?!"
    r" (?:doubt|wait))|non|never|nobody|neither|cannot|nothing"
    r"|lacks?|without|fails? to|than(?! one)|unrelated|worst|incorrect|is wrong|far from|out of the"
    r" question"
    r"|anything but|instead of|devoid of|absence of|(?:false|untrue|wrong|mistaken?)"
    r" (?:that|to))\b|n't\b"
)
"""Words that deny what stands in their clause."""
NOTHING_AFTER: Final = re.compile(
    r"\A\s(?:absolutely\s)?(?:nothing|none of|neither"
    r"|no (?:part|element|aspect|detail|word|claim|statement|sentence))\b",
    re.I,
)
"""After a verb: its object denies it, as in "contradicts nothing in the claim"."""
_NOR = re.compile(r"\bnor\b", re.I)
_REJECTED = re.compile(r"\bliteral\b", re.I)  # "The metaphor is literal": it is none.
_MODAL = re.compile(r"\b(?:may|might|could)\b", re.I)  # what leaves an announcement open
_HEDGED = AnyCase(
    r"\b(?:may|might|could|whether|if|so"
    r" far|doubt(?:s|ed|ing|ful)?|unlikely|hardly|barely|scarcely|perhaps|possibly"
    r"|it is possible|questionable|debatable|(?:not|un)\s?(?:clear|certain|sure)"
    r"|maybe|never have i|only (?:partially|partly|in part))\b"
)


def last_clause(text: str) -> str:
    """The text after its last comma, colon, semicolon, "(", or conjunction such as "but"."""
    start = 0
    for clause_end in _CLAUSE.finditer(text):
        start = clause_end.end()
    return text[start:]


def is_hedged(clause: str) -> bool:
    """Whether a clause has a word that leaves open what it says: "may", "whether", "unlikely"."""
    return _HEDGED.search(clause) is not None


@lru_cache(maxsize=IN_LOOPS)
def is_said(before: str, after: str = "") -> bool | None:
    """Whether a sentence affirms what a word in it names; False if it denies it.

    It affirms whatever it neither denies nor leaves open, even if it has no verb: "A metaphor." is
    said. None if it leaves it open, or if it has two denials.

    Args:
        before: the sentence up to the word; its last clause counts.
        after: the sentence after it; its first clause counts.
    """
    # The signs right before the word ('It is not: "') begin no clause of their own.
    clause_before = last_clause(without_affirming(before).rstrip(" :,;\"'(["))
    # What "that" begins is another clause: "The metaphor says that she is not at home."
    clause_after = _CLAUSE.split(without_affirming(after).partition(" that ")[0], maxsplit=1)[0]

    if is_hedged(clause_before) or is_hedged(clause_after):
        return None
    denials = DENIAL.count(clause_before)
    if denials > 1:
        return None  # "I do not think that there is no metaphor"
    is_denied_before = denials == 1 or _NOR.search(clause_before) is not None
    is_denied_after = DENIAL.search(clause_after) or _REJECTED.search(clause_after)
    return not (is_denied_before or is_denied_after)
