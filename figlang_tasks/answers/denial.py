"""Which denials of a relation are verdicts: "It does not support the claim", not "entails no risk".

The relation is that of image and claim, or of two sentences: a label (entails, contradicts) or a
stance (supports, refutes). A *denial* says that it is not there. It is a *verdict* if it denies the
whole relation ("The image does not support the claim."), not a part of it ("does not fully support
the claim"), another one ("entails no risk"), or what others say ("Critics say that it does not").
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from figlang_tasks.answers.text import QUOTED, Around
from figlang_tasks.answers.words import CONDITION, IN_LOOPS, is_said, last_clause, without_affirming

Form: TypeAlias = Literal["verb", "participle", "adjective", "noun"]
"""How the relation is named: "contradicts", "contradicted", "contradictory", "contradiction"."""

# Adjectives of an image or a claim: "the given image", "the second sentence"
_QUALITIES = (
    r"(?:original|given|other|first|second|literal|figurative|provided|following|above|overall|written|accompanying"
    r"|visual|actual)"
)
_IMAGE = (
    r"(?:images?|pictures?|photo(?:graph)?s?|illustration|cartoon|poster|drawing|visuals?|depiction|scene|meme|ad"
    r"|content)"
)
_SENTENCE = r"(?:claim|statement|assertion|sentence|hypothesis|premise|caption|text)"

# "the second" and "the other" without a noun after them
_ORDINAL = (
    r"(?:first|second|other|latter|former|one)\b"
    r"(?!\s(?!(?:because|since|as|but|and|or|in|at|either|here|when|if)\b)\w)"
)
# The claim itself follows, and not "the claim's tone" or "the image of a boat".
_OF_OTHERS = r"(?!'s|\s(?:of|by|from|made)\b)"

RELATED: Final = re.compile(
    r"\s(?:with\s|to\s)?(?:it\b(?!'s)|them\b|each other\b|one another\b"
    rf"|(?:the|this|that|its|either)\s(?:{_QUALITIES}\s){{0,2}}(?:(?:{_SENTENCE}s?|{_IMAGE})\b{_OF_OTHERS}|{_ORDINAL})"
    rf"|[\"']?{QUOTED}|[\"'](?:entail|contrad))",
    re.I,
)
"""After the name of a label: what the image or a sentence is related to, " the claim", " it"."""

TO_CLAIM: Final = re.compile(
    r"\s(?:with\s|to\s)?(?:it\b(?!'s)"
    rf"|(?:the|this|that)\s(?:{_QUALITIES}\s){{0,2}}(?:{_SENTENCE}s?\b{_OF_OTHERS}|{_ORDINAL})|[\"']?{QUOTED})",
    re.I,
)
"""After the name of a stance: the claim or sentence, " with the claim".

Not "each other", as in `RELATED`: people agree with each other, too.
"""

TO_IMAGE: Final = re.compile(
    rf"\s(?:with\s|to\s)?(?:the|this)\s(?:{_QUALITIES}\s){{0,2}}{_IMAGE}\b{_OF_OTHERS}", re.I
)
"""After the name of a stance that the claim has, as in "the claim agrees": " with the image"."""

BY_IMAGE: Final = re.compile(
    r"\s(?:by|in|from)\s(?:"
    rf"(?:(?:the|this|these)\s)?(?:{_QUALITIES}\s){{0,2}}(?:{_IMAGE}|{_SENTENCE}|first|second|other|latter|former)\b"
    r"(?!'s|\sof\s(?:an?|another)\b)"
    r"|(?:(?:the|any|this)\s)?visual"
    rf" evidence\b|(?:the|any)\s(?:visual\s)?evidence\sin\sthe\s{_IMAGE}\b"
    rf"|(?:it|what is shown)\b|[\"']?{QUOTED})",
    re.I,
)
"""After a participle: what supports, entails or contradicts the claim, " by the image"."""

_PART_OF = r"(?:part|aspect|element|detail)"
_I_DO_NOT_THINK = r"\bi\s(?:do not|don't)\s(?:think|believe)(?:\sthat)?"
# "does not support or contradict", "neither supported nor refuted"
_ALSO_BEFORE = (
    rf"(?:\w+\s(?:(?:the|it|this|{_SENTENCE}|{QUOTED})\s){{0,2}}(?:or|nor)\s(?:an?\s|\w+ly\s)?)?"
)
# Before a verb: "The image does not ", "It fails to ", "Nothing in it would ", "neither "
_DOES_NOT = re.compile(
    r"(?:\b(?:do|does|did)\snot|n't|\bneither|\bnor|\bnever|\bfails?\sto|\bby no means|\bin no"
    r" way|\bnothing"
    rf"|\b(?:nothing|no {_PART_OF})\s(?:of|in|about|here|that)\b[^,;:.]{{0,40}}"
    r"|\bneither\s(?:of the\s)?(?:two\s)?(?:sentences?|statements?)"
    rf"|(?:{_I_DO_NOT_THINK}|\bit is not (?:true|the case)"
    r" that)\s(?:the|this|it|these|they|either)\b[^,;:.]{0,40})"
    rf"\s(?:(?:actually|in any way|in fact|at all|seem to|appear to)\s)?{_ALSO_BEFORE}\Z",
    re.I,
)
# Before a participle or adjective: "It is not ", "They aren't ", "does not seem to be "
_IS_NOT = re.compile(
    r"(?:(?:\b(?:is|are|was|were)|'s|'re|\A\W*)\s?not|n't|\bneither|\bnor|\bby no means|\bin no way"
    r"|(?:\b(?:do|does)\snot|n't)\s(?:seem|appear)(?:\sto be)?)"
    rf"\s(?:(?:actually|in fact|at all|in)\s){{0,2}}{_ALSO_BEFORE}\Z",
    re.I,
)
# Before a noun: "It is not a ", "There is no ", "I see no ", "I don't think it is a "
_IS_NO = re.compile(
    r"(?:(?:\b(?:is|are|was)|'s|'re)\snot|n't|\b(?:there(?:'s|\sis|\sare)|i"
    r" (?:see|find)|is|are)\sno|\bnor"
    rf"|\A\W*(?:not|no|non)|{_I_DO_NOT_THINK}\s(?:it|this|that)(?:'s|\sis)"
    r"|\b(?:would not|wouldn't|do not|don't)\s(?:call|consider)\s(?:it|this))"
    rf"[\s-](?:(?:actually|an?|any|in|one of|an example of|a case of)\s){{0,3}}{_ALSO_BEFORE}\Z",
    re.I,
)
# After the word: the clause ends, ".", " because"
_ENDS = re.compile(
    r"""[)"']{0,2}\s?(?:[.,;:!\n)-]|\Z|(?:because|since|as|but|and|so|or|nor|here|either)\b)""",
    re.I,
)
# After a noun: " between", " of the claim", " in this image"
_NOUN_ENDS = re.compile(
    rf"\s(?:between|with|to|at all|relation(?:ship)?|of (?:the|this|it|{QUOTED})\b"
    rf"|in (?:the|this|these) (?:two )?(?:{_IMAGE}|{_SENTENCE}s?))\b",
    re.I,
)
# " or contradict" after "does not entail"
_ALSO_AFTER = re.compile(r",?\s(?:or|nor|and)\s(?:\w+ly\s)?\w+(?=\s)", re.I)

# A denial in part, or of some of the matter, may be neutral.
_IN_PART = re.compile(
    r"\b(?:fully|directly|explicitly|entirely|completely|necessarily|strictly|alone|by itself|on"
    r" (?:its|their) own"
    r"|in full|if|unless|until|without|yet|per se|either way|only|literally|in (?:an?|the|every)"
    r" \w+ sense)\b",
    re.I,
)
_FIRST_CLAUSE_ENDS = re.compile(r"[,;:]|\bthat\b", re.I)
# What others say, or some of it: "Critics say that", "some"
_REPORTED = re.compile(
    r"\b(?:says?|said|claims? that|argues?|states?"
    r" that|people|critics|viewers|believes|thinks|whether|some"
    r"|expect\w*)\b",
    re.I,
)

# What the relation may be of; "in the image" is no subject.
_SUBJECT = re.compile(
    r"(?<!\bin the )(?<!\bin this"
    rf" )\b(?:{_IMAGE}|{_SENTENCE}s?|evidence|message|it|they|two|both|first|second|former"
    rf"|latter|this|these|which|relation(?:ship)?|nothing|neither|no {_PART_OF})\b|{QUOTED}",
    re.I,
)
_CLAIM = re.compile(rf"\b(?:{_SENTENCE}|second|conclusion)\b|{QUOTED}", re.I)
# "There is no contradiction", "Does not entail."
_NEEDS_NO_SUBJECT = re.compile(
    r"\b(?:there|i (?:see|find))\b|\A\W*(?:not|no|non|do|does|doesn't|don't)\b|\b(?:call|consider)"
    r" (?:it|this)\b",
    re.I,
)
# "a beam that does not support it"
_OF_ANOTHER = re.compile(
    r"\b(?:that|who)\s(?:(?:do|does|did|is|are|was|were)\b|[dw]\w+n't)[^,;:.]{0,30}\Z", re.I
)

CLAIM_IS: Final = re.compile(
    r"\b(?:claim|statement|assertion|hypothesis|caption)\b[^,.;:]{0,40}\Z", re.I
)
"""Before the name of a stance: the claim has it."""


@lru_cache(maxsize=IN_LOOPS)
def is_verdict(around: Around, form: Form, *, is_stance: bool = False) -> bool:
    """Whether a sentence denies the relation that was asked about as a whole, in its own words.

    What stands before the word must deny it in a way that its form allows ("does not support", "is
    not supported"), and what stands after it must be the claim, the image or the clause's end.

    Args:
        around: the text around the word that names the relation.
        form: how this word names it.
        is_stance: whether the word names a stance (supports, refutes), whose object must be the
            claim.
    """
    before = without_affirming(around.sentence_before)
    after = around.sentence_after
    if _may_be_neutral(before, after):
        return False
    needs_no_subject = _NEEDS_NO_SUBJECT.search(before) is not None
    if not (needs_no_subject or _SUBJECT.search(before)):
        return False

    also = _ALSO_AFTER.match(after)
    if also is not None:  # "does not entail or contradict the claim": the claim follows both.
        after = after[also.end() :]
    ends = _ENDS.match(after) is not None
    if form == "noun":  # "There is no contradiction between the two."
        return bool(_IS_NO.search(before) and (ends or _NOUN_ENDS.match(after)))
    if form == "participle":  # "It is not supported by the image", "The claim is not supported."
        has_claim = needs_no_subject or _CLAIM.search(before) is not None
        return bool(_IS_NOT.search(before) and (BY_IMAGE.match(after) or (ends and has_claim)))

    denial = _DOES_NOT if form == "verb" else _IS_NOT
    denies = denial.search(before) is not None
    if is_stance:  # "does not support the claim", "The claim does not agree with the image"
        is_related = TO_CLAIM.match(after) or (CLAIM_IS.search(before) and TO_IMAGE.match(after))
        return denies and bool(is_related)
    if form == "verb" and not needs_no_subject:
        ends = ends and after[:1] in (".", ",", "!")  # An answer that is cut off ends anywhere.
    return denies and (ends or RELATED.match(after) is not None)


def _may_be_neutral(before: str, after: str) -> bool:
    """Whether a sentence does not deny what a word in it names, or perhaps not as its verdict.

    Its denial is conditional, reported, of something else, or in part.

    Args:
        before: the sentence up to the word, without phrases such as "no doubt".
        after: the sentence after the word.
    """
    if is_said(before) is not False or CONDITION.match(before):
        return True
    if _REPORTED.search(last_clause(before)) or _OF_ANOTHER.search(before):
        return True
    first_clause_after = _FIRST_CLAUSE_ENDS.split(after, maxsplit=1)[0]
    return _IN_PART.search(first_clause_after) is not None
