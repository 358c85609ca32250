"""Where an answer names a label or a stance for or against a claim, and what it says of it.

Labels are those of the task, "entails" and "contradiction"; a *stance* is another word that stands
for one of them, "supports" for 1 and "refutes" for 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from figlang_tasks.answers.denial import (
    BY_IMAGE,
    CLAIM_IS,
    RELATED,
    TO_CLAIM,
    TO_IMAGE,
    Form,
    is_verdict,
)
from figlang_tasks.answers.text import QUOTED, Answer, Around
from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.answers.words import (
    CONDITION,
    DENIAL,
    IN_LOOPS,
    NOTHING_AFTER,
    is_announced,
    is_hedged,
    is_said,
    last_clause,
)

Label: TypeAlias = Literal[0, 1]
"""1 entailment, 0 contradiction."""

Standing: TypeAlias = Literal["said", "denied", "partly denied", "named"]
"""What a sentence says of a label or a stance.

- said: it is so: "The image entails the claim."
- denied: it is not so, and that is the verdict: "It does not entail the claim."
- partly denied: it is not so in part, or of something else: "It does not fully entail it."
- named: it is named, but not of the image or the sentences: "Contradiction means ..."
"""


@dataclass(frozen=True)
class Remark:
    """What a sentence says of a label, or of a stance that stands for it.

    Attributes:
        label: the label.
        start: where its name begins.
        end: where its name ends.
        standing: what is said of it.
        is_predicate: whether it is named after "is", "are" or "as": "It is a contradiction."
    """

    label: Label
    start: int
    end: int
    standing: Standing
    is_predicate: bool = False

    @property
    def is_denied(self) -> bool:
        """Whether the sentence denies the label, wholly or in part."""
        return self.standing in ("denied", "partly denied")

    def evidence(self, rule: str) -> Evidence:
        """Evidence for the label that the remark leaves: the other one if its own is denied."""
        label = other_label(self.label) if self.is_denied else self.label
        return Evidence(label, self.start, self.end, rule)


def other_label(label: Label) -> Label:
    return 0 if label else 1


# --- the names of labels ---

NAMES = r"(?:entail\w{0,9}|contradict\w{0,9})"
"""The words that name labels, as a pattern without groups."""

# In long patterns the letters that a word may begin with stand first: with them the search passes
# over most words at once.

# "entails": `word` and `one`; "non-contradiction": `non`, `word`, `zero` and, as it is a noun,
# `zero_noun`
_LABEL = re.compile(
    r"\b(?=[nec])(?P<non>non[\s-]?)?(?P<word>(?P<one>entail(?P<one_noun>ment)?\w*)|(?P<zero>contrad(?P<zero_noun>iction)?\w*))",
    re.I,
)
_LONGEST_NON = len("non-")  # before a label
_OR = r"[\"')]{0,2}\s?(?:or|/|and/or|and|vs\.?|versus)\s?[\"'(]{0,2}(?:an?\s)?"
EITHER = re.compile(rf"\b(?:entail\w*{_OR}contrad\w*|contrad\w*{_OR}entail\w*)", re.I)
"""The echo of the options: "entailment or contradiction"."""

# "I would label this as ", "I categorize it under ", "I lean towards "
_GIVEN = re.compile(
    r"\b(?:label|identif|categori|classif|lean)\w*\b[^.?!\n]{0,60}?\b(?:as|under|of|towards?)"
    r"(?:\s(?:an?\b)?|[\"'])*\Z|\bchoose\s[\"']?\Z",
    re.I,
)
_NOT_DIRECTLY = re.compile(r"(?:\bnot|n't)\s(?:be\s)?\Z", re.I)
_IF_AFTER = re.compile(
    r"[^,;:.!?\n]{0,60}\b(?:if|unless|provided that)\b|\s(?:the )?(?:opposite|contrary|negation)\b",
    re.I,
)
# "The critics say that the image entails it" is not what the answer says.
_REPORTED = re.compile(
    r"\b(?:some|people|critics|viewers|others|many)(?:\s\w+){0,2}\s(?:say|claim|think|argue|believe)\b",
    re.I,
)

# All that stands before a label that is alone: "", "1. ", "No wait, "
_ALONE_BEFORE = re.compile(
    r"(?:[\W\d]|\b(?:correction|wait|no|oops|sorry|actually|rather|i (?:mean|meant))\b){0,40}\Z",
    re.I,
)
_ALONE_AFTER = re.compile(r"""["')\]]*\s*(?:[.:,;(-]|\Z)""")
# "Entailment: no"
_SAYS_NO = re.compile(
    r"[\"')\]]{0,2}\s{0,2}[:=-]\s{0,2}(?:no|false)\b(?=\s{0,2}(?:[.,;\n)]|\Z))", re.I
)

# "contradicts hardly anything"; 'contradicts "Entails"'; "a contradiction of itself"
_LITTLE_AFTER = re.compile(
    r"\s(?:hardly|barely|scarcely|almost|little|very little|few|only)\b", re.I
)
_OF_LABEL = re.compile(r"\b(?:contradicts?|entails?) [\"']\Z", re.I)
_OF_ITSELF = re.compile(r" (?:of )?\w+sel[fv]| in terms\b", re.I)

_SUBJECT = re.compile(
    rf"\b(?:image|picture|claim|statement|sentences?|premise|hypothesis|it|they|two|both|first|second|former)\b|{QUOTED}",
    re.I,
)
_SUBJECT_IF_RELATED = re.compile(
    r"\b(?:photo(?:graph)?|illustration|drawing|cartoon|poster|meme|scene|depiction|visuals?|this|these|caption|text)\b",
    re.I,
)
_ARE = re.compile(
    r"(?:\b(?:sentences?|statements?|they|it|both|two|first|second|claim|image|picture|hypothesis|premise)"
    rf"|{QUOTED})[\"']?(?: is| are| seems?| appears?)(?: to be)?(?: \w+ly)? \Z",
    re.I,
)
_THAT_IS = re.compile(r"\b(?:that|which) (?:is|are)(?: \w+ly)? \Z", re.I)
_IS = re.compile(
    r"(?:(?:\bis|'s) (?:an? |one of |an example of (?:an? )?)?(?:clear )?"
    r"|\b(?:is|are|stands?) in (?:direct |clear )?)\Z",
    re.I,
)
_PREDICATE = re.compile(r"(?:\b(?:is|are|as)|'s)\b[^.,;]{0,40}\Z", re.I)


class Mention(NamedTuple):
    """A place that names a label.

    Attributes:
        word: its match of the pattern of labels.
        around: the text around it.
    """

    word: re.Match[str]
    around: Around

    @property
    def start(self) -> int:
        return self.word.start()

    @property
    def end(self) -> int:
        return self.word.end()

    @property
    def label(self) -> Label:
        """The label that it names; "non-contradiction" names entailment."""
        label: Label = 1 if self.word["one"] else 0
        return other_label(label) if self.word["non"] else label

    @property
    def form(self) -> Form:
        """How it names the label, such as "adjective" for "contradictory"."""
        word = self.word["word"].lower()
        if self.word["one_noun"] or self.word["zero_noun"]:
            return "noun"
        if word == "contradictory":
            return "adjective"
        return "participle" if word.endswith("ed") else "verb"

    @property
    def is_alone(self) -> bool:
        """Whether it is a line, a heading or a sentence of its own."""
        after = self.around.sentence_after
        is_heading = _ALONE_BEFORE.match(self.around.sentence_before) and _ALONE_AFTER.match(after)
        return bool(is_heading) and not _SAYS_NO.match(after)

    def announcement(self) -> Evidence | None:
        """The label that is announced with it; None if it is not announced.

        "LABEL: not entailment" announces contradiction.
        """
        if _IF_AFTER.match(self.around.sentence_after):
            return None
        # Whether it is the label, or is said not to be: None if neither is announced.
        is_label = is_announced(self.around.text_before, self.around.sentence_before)
        if is_label is None:
            is_label = _is_given(self.around.sentence_before)
        if is_label is None:
            return None
        if NOTHING_AFTER.match(self.around.sentence_after):
            is_label = not is_label  # "LABEL: contradicts nothing"
        label = self.label if is_label else other_label(self.label)
        return Evidence(label, self.start, self.end, "label")

    def remark(self) -> Remark | None:
        """What its sentence says of it; None if it leaves it open."""
        standing = _standing(self.around, self.form)
        if standing is None:
            return None
        is_predicate = _PREDICATE.search(self.around.sentence_before) is not None
        return Remark(self.label, self.start, self.end, standing, is_predicate)


@lru_cache(maxsize=IN_LOOPS)
def _is_given(before: str) -> bool | None:
    """Whether a verb gives the label after it: "I label this as"; False for "I do not label it as".

    None if there is no such verb, or if the sentence leaves open what it gives.
    """
    given = _GIVEN.search(before)
    if given is None or CONDITION.match(before):
        return None
    lead = last_clause(before[: given.start()])
    if _NOT_DIRECTLY.search(lead):
        return False
    if DENIAL.search(lead) or DENIAL.search(given[0]) or is_hedged(lead):
        return None
    return True


@lru_cache(maxsize=IN_LOOPS)
def _standing(around: Around, form: Form) -> Standing | None:
    """What a sentence says of a label that it names in this form; None if it leaves it open.

    None also for a label that is no noun and whose subject is not the image or the sentences.
    """
    before, after = around.sentence_before, around.sentence_after
    if CONDITION.match(before) or _OF_LABEL.search(before):
        return None
    if _IF_AFTER.match(after) or _LITTLE_AFTER.match(after) or _REPORTED.search(before):
        return None
    is_affirmed = is_said(before)
    if is_affirmed is None:
        return None
    if not is_affirmed:
        return "denied" if is_verdict(around, form) else "partly denied"
    if _ALONE_BEFORE.match(before) and _SAYS_NO.match(after):
        return "denied"  # "Entailment: no"

    has_subject = _has_subject(around, form)
    if has_subject and NOTHING_AFTER.match(after):
        return "denied"
    if has_subject and not _OF_ITSELF.match(after):
        return "said"
    return "named" if form == "noun" else None


def _has_subject(around: Around, form: Form) -> bool:
    """Whether a label is said of the image, the claim or the sentences.

    Args:
        around: the text around the label.
        form: "noun" ("This is a contradiction"), "adjective" ("They are contradictory"), or a form
            of the verb ("The image contradicts it").
    """
    before, after = around.sentence_before, around.sentence_after
    if form == "noun":
        return _IS.search(before) is not None
    is_related = RELATED.match(after) is not None
    if form == "adjective":
        return bool(_ARE.search(before) or (is_related and _THAT_IS.search(before)))
    return bool(_SUBJECT.search(before) or (is_related and _SUBJECT_IF_RELATED.search(before)))


def find_mentions(answer: Answer) -> Iterator[Mention]:
    """Yield the places that name a label, without the echo "entailment or contradiction"."""
    text = answer.text.lower()
    starts = [text.find(letters) for letters in ("enta", "contrad") if letters in text]
    if answer.text.isascii():
        if not starts:
            return
        start = max(0, min(starts) - _LONGEST_NON)
    else:  # Small letters may stand elsewhere: those of one capital can be two.
        start = 0
    echo = EITHER if len(starts) == 2 else None
    for word, around in answer.mentions(_LABEL, echo, start):
        yield Mention(word, around)


# --- stances ---

# "supports", "agrees with", "is in line with"
_FOR = re.compile(
    r"\b(?=[bceimsva])(?:(?:support|confirm|affirm|validat|corroborat|endors|align|agree|correspond)\w*|backs|backed|matches|matched"
    r"|(?<=not\s)match|(?<=n't\s)match|consistent|compatible|in"
    r" (?:harmony|line|accord(?:ance)?))(?!\w)",
    re.I,
)
# "refutes", "is at odds with"
_AGAINST = re.compile(
    r"\b(?=[acdinor])(?:(?:refut|disprov|negat|disput|oppos|counter|contest|challeng|disagree)\w*|denie[sd]|deny|adverse"
    r"|inconsistent|incompatible|in conflict|at odds)(?!\w)",
    re.I,
)
_ADJECTIVE = re.compile(
    r"(?:in)?(?:consistent|compatible)|in (?:harmony|line|accord(?:ance)?|conflict)|adverse|at"
    r" odds|aligned|opposed",
    re.I,
)
# The subject of a stance for or against the claim, and that of a stance which the claim has
_SHOWN = re.compile(
    r"\b(?:image|picture|depiction|content|illustration|portrayal|evidence|which|and|it|photo|cartoon|poster|scene"
    r"|first|sentence|premise)\b",
    re.I,
)
_CLAIMED = re.compile(
    rf"\b(?:claim|statement|assertion|hypothesis|sentence|it|which|second)\b|{QUOTED}", re.I
)


def find_stances(answer: Answer) -> Iterator[Remark]:
    """Yield what is said of stances, the words of the instructions: "supports the claim"."""
    patterns: tuple[tuple[re.Pattern[str], Label], ...] = ((_FOR, 1), (_AGAINST, 0))
    for pattern, label in patterns:
        for word, around in answer.mentions(pattern):
            standing = _standing_of_stance(word[0].lower(), around)
            if standing is not None:
                yield Remark(label, word.start(), word.end(), standing)


@lru_cache(maxsize=IN_LOOPS)
def _standing_of_stance(word: str, around: Around) -> Standing | None:
    """What a sentence says of a stance; None if it leaves it open, or says it of something else.

    Args:
        word: the name of the stance, in small letters.
        around: the text around it.
    """
    form: Form = "verb"
    if _ADJECTIVE.fullmatch(word):
        form = "adjective"
    elif word.endswith("ed"):
        form = "participle"

    is_affirmed = is_said(around.sentence_before)
    if is_affirmed is None:
        return None
    if not is_affirmed:
        return "denied" if is_verdict(around, form, is_stance=True) else "partly denied"
    if form == "participle" and BY_IMAGE.match(around.sentence_after):
        # "The claim is supported by the image."
        has_subject = _CLAIMED.search(around.sentence_before) is not None
    elif TO_CLAIM.match(around.sentence_after):
        # "The image supports the claim."
        has_subject = _SHOWN.search(around.sentence_before) is not None
    else:
        # "The claim agrees with the image."
        is_claim = CLAIM_IS.search(around.sentence_before) is not None
        has_subject = is_claim and TO_IMAGE.match(around.sentence_after) is not None
    return "said" if has_subject else None
