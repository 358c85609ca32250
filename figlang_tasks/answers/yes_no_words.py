"""Words that say yes or no: which words of an answer do, and where they stand as its answer.

In "The answer is no." the word is *announced*. In "No, it is not" and "It has none, so no." it is
*set off*: at the head of a sentence, or as a clause of its own. In "There is no boat" it is
neither.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from figlang_tasks.answers.text import Around
from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.answers.words import CJK, IN_LOOPS, is_announced, is_said

# --- the words ---

_YES = r"(?:yes|yeah|yep|yup|sim|s[iíì]|oui|ja)"
_NO = r"(?:no|nope|nah|n[aã]o|non|nein)"
_CJK_YES = r"(?:是的?|[对對]的?|没错|沒錯|正[确確]|有|はい)"
_CJK_NO = r"(?:否|不|不是的?|不[对對]|不正[确確]|[没沒]有|错误|錯誤|いいえ)"
BOXED = rf"(?:{_YES}|{_NO}|[是否对對])"
"""The words that may stand beside a box, as a pattern without groups."""
_IS_YES = re.compile(rf"(?:{_YES}|y|true|{_CJK_YES})\Z", re.I)

# "No people are in the image"; "Yes would need a second meaning"; '"No" would be the literal
# reading'
_FOLLOWS = (
    r"(?:it|the|this|that|there|these|those|they|because|as|since|i|we|but|and|not|in|for|from"
    r"|indeed|although|though)"
)
_IN_A_SENTENCE = (
    rf"(?:\x20(?!{_FOLLOWS}\b)\w|\x20{{2,4}}(?-i:[a-z])"
    r"|[\"')]{1,2}\x20(?:would|could|might|is|was|seems|means|reading)\b)"
)
# What stands before a Chinese word that answers, where no sign does.
_CJK_LEAD = (
    rf"(?:(?<![\w{CJK}])|(?<=答案是)|(?<=答案为)|(?<=答案為)|(?<=回答是)|(?<=应该是)"
    r"|(?<=所以)|(?<=因此))"
)

_BOTH_WAYS = (
    rf"(?:(?:{_YES},?\s(?:and|&|y|e|et|und)\s{_NO}|{_NO},?\s(?:and|&|y|e|et|und)\s{_YES})(?!-|\s?\w)"
    r"|yes\sand\sno(?=\s(?:because|since|as|depending|it|the|this)\b)"
    r"|yes,?\sbut\snot\s(?:really|quite|exactly)(?=\W*(?:[.\n]|\Z)))"
)
# The group `both` is "yes and no"; `truth` is "true" or "false".
WORD = re.compile(
    rf"(?<![\w-])(?<!\w')(?:(?P<both>{_BOTH_WAYS})"
    # "No. 2" is a number.
    rf"|(?:{_YES}|{_NO}(?!\.\x20?\d)|[yn](?=\W*\Z))(?![\w-])(?!{_IN_A_SENTENCE})"
    r"|(?P<truth>(?:true|false)(?!\w)))"
    rf"|{_CJK_LEAD}(?:{_CJK_NO}|{_CJK_YES})(?!\w)",
    re.I,
)
_SEPARATOR = r"[\"']?\s?(?:/|or|ou|oder|o)\s?[\"']?"
EITHER = re.compile(
    rf"\b(?:{_YES}{_SEPARATOR}{_NO}|{_NO}{_SEPARATOR}{_YES}|y/n)\b|是\s?(?:/|或|还是|還是)\s?否",
    re.I,
)
NEITHER = re.compile(r"\bneither\s[\"']?(?:an?\s)?(?:clear\s)?(?:yes|no)\b", re.I)

_LEAD_WORDS = (
    r"(?:so|therefore|thus|hence|then|well|okay|ok|i think|i believe|i"
    r" guess|wait|sorry|hmm|oh|and|but|overall|in short"
    r"|in conclusion|in summary|short"
    r" answer|correction|(?!hardly|barely|scarcely|possibly)\w{3,14}ly|所以|因此)"
)
# All that stands before a word that opens its sentence: "", "1. ", "a) ", "So, I think "
_OPENS = re.compile(rf"[\W\d]*(?:[a-z]\)\s)?(?:{_LEAD_WORDS}[\s,:;.-]{{0,3}}){{0,3}}\Z", re.I)
_ALSO = r"(?:(?:also|then again|in a way|at the same time|\w{3,14}ly)\s)?"
# The end of what stands before a word that opens a clause: "Based on the image, ", " - ", "but "
_OPENS_CLAUSE = re.compile(
    r"(?:[,:>]\s|[.!?]|\s-\s|\(|\b(?:(?<!anything )(?<!nothing )but|or rather|rather|actually|i"
    r" meant?|make that|so"
    rf"|then|hence|thus|therefore|mas|pero|sino|mais|aber|ma)\s{_ALSO}"
    r"|所以|因此)[\"']?\Z",
    re.I,
)
# "Yes and also no."; "and yes, it is funny" is an aside.
_AND = re.compile(rf"\b(?:and|yet)\s{_ALSO}[\"']?\Z", re.I)
_WORD_SIGN = re.compile(r"\w")
_ENDS_CLAUSE = re.compile(r"[\"')\]]{0,2}\s?(?:[,:;!(]|-\s|\Z)")
# 'The man says "', "The sign reads ("
_SPEECH = re.compile(
    r"\b(?:says?|said|saying|reads?|asks?|asked|shouts?|exclaims?|sign|bubble|caption|text|words?|written)\b"
    r"[^.!?\n]{0,40}[\"'(]\Z",
    re.I,
)
_CONDITIONAL_AFTER = re.compile(
    r"[\"')\]]{0,2},?\s(?:only\s)?(?:if|when|unless|provided|in case)\b", re.I
)
# "the answer is a resounding yes", "the answer is (B) no"
_BEFORE_WORD = re.compile(
    r"(?<=\bis )an? (?:resounding|clear|definite|firm|strong|emphatic|straightforward|big) \Z"
    r"|(?:\b(?:option|choice)\s)?\(?\b[a-z]\)\s{0,2}\Z",
    re.I,
)
_TAIL = 50  # characters before a word that tell whether a clause begins with it
# After the word: ", it does.", ", there is none."; `denied` in ", it does not." beside "Yes"
_ELLIPSIS = re.compile(
    r",?\s(?:(?:it|this|that|they|these|the"
    r" (?:image|picture|cartoon|caption|sentences|two))\s(?:do|does|is|are)"
    r"(?P<denied>\snot|n't)?|there\s(?:is|are)\s(?:one|some|(?P<none>none)))[.!]?\s?\Z",
    re.I,
)
# "it is a yes from me", "that's a no"; "it is not a no"
_IT_IS = re.compile(
    r"\b(?:it|this|that)(?:'s|\sis|\swould"
    r" be)\s(?P<denied>not\s)?(?:definitely\s|clearly\s)?(?:an?\s)?"
    r"(?:clear\s|definite\s)?[\"']?\Z",
    re.I,
)


@dataclass(frozen=True)
class Mention:
    """A place where an answer says yes, no, or both.

    Attributes:
        value: whether it says yes; None for "yes and no".
        start: where it begins.
        end: where it ends.
        around: the text around it.
        is_truth: whether it is "true" or "false", which answer where nothing else stands, or after
            an announcement; "This is true of boats" says neither yes nor no.
    """

    value: bool | None
    start: int
    end: int
    around: Around
    is_truth: bool = False

    @classmethod
    def of(cls, word: re.Match[str], around: Around) -> Mention:
        """The mention that a match of `WORD` is."""
        value = None if word["both"] else is_yes(word)
        return cls(value, word.start(), word.end(), around, is_truth=word["truth"] is not None)

    def evidence(self, rule: str) -> Evidence:
        """The mention as evidence for what it says, by this rule."""
        return Evidence(self.value, self.start, self.end, rule)

    def announcement(self) -> Evidence | None:
        """What it answers where it is announced as the answer; None where it is not announced.

        "The answer is not no" is evidence for yes.
        """
        is_answer = _is_announced_as_answer(self.around, self.is_truth)
        if is_answer is None:
            return None
        if is_answer:
            return self.evidence("answer")
        if self.value is None:
            return None  # "The answer is not yes and no."
        return Evidence(not self.value, self.start, self.end, "answer")

    def ellipsis(self) -> Evidence | None:
        """What the rest of its sentence says of an unnamed topic: "Yes, it does."; else None.

        True for "it does", False for "it does not" and "there is none", whatever the word is.
        """
        rest = _ELLIPSIS.match(self.around.sentence_after)
        if rest is None:
            return None
        is_denied = rest["denied"] is not None or rest["none"] is not None
        # It begins after the comma, or the blank, that stands behind the word.
        return Evidence(not is_denied, self.end + 1, self.end + rest.end(), "statement")

    @property
    def is_set_off(self) -> bool:
        """Whether it stands at the head of a sentence, or as a clause of its own ("..., yes.")."""
        return _is_set_off(self.around, self.is_truth)


def is_yes(word: re.Match[str]) -> bool:
    """Whether a word of `WORD` means yes; else it means no."""
    return _IS_YES.match(word[0]) is not None


@lru_cache(maxsize=IN_LOOPS)
def _is_announced_as_answer(around: Around, is_truth: bool) -> bool | None:
    """Whether the text around a word announces it as the answer.

    False if it denies that it is the answer, None if it says neither.

    Args:
        around: the text around the word.
        is_truth: whether the word is "true" or "false".
    """
    if _CONDITIONAL_AFTER.match(around.sentence_after):
        return None  # "The answer is yes if ..."
    # "It is a yes" announces the word; "it is true" says only that something is.
    it_is = _IT_IS.search(around.sentence_before[-_TAIL:])
    if it_is is not None and not is_truth:
        return it_is["denied"] is None
    return is_announced(
        _without_qualifier(around.text_before), _without_qualifier(around.sentence_before)
    )


def _without_qualifier(text: str) -> str:
    """A text before a word, without an option's letter or an adjective at its end.

    "The answer is (B) " and "The answer is a resounding " give "The answer is ".
    """
    return text[:-_TAIL] + _BEFORE_WORD.sub("", text[-_TAIL:])


@lru_cache(maxsize=IN_LOOPS)
def _is_set_off(around: Around, is_truth: bool) -> bool:
    """Whether a word is the head of its sentence, or a clause of its own.

    Args:
        around: the text around the word.
        is_truth: whether the word is "true" or "false", which must be all that is said.
    """
    before, after = around.sentence_before, around.sentence_after
    if is_truth:
        return not _WORD_SIGN.search(around.text_before + after)
    if _SPEECH.search(before):
        return False
    if _OPENS.match(before):
        return True
    if _AND.search(before[-_TAIL:]):
        return not _WORD_SIGN.search(after)
    # "It has one, yes."; in "I doubt it, no." the sentence leaves open what the word says.
    is_clause = _ENDS_CLAUSE.match(after) and _OPENS_CLAUSE.search(before[-_TAIL:])
    return bool(is_clause) and is_said(before) is not None
