"""Entailment or contradiction: "LABEL: entailment" is 1, "The image contradicts it." is 0.

An answer may name a label ("contradiction", "entails") or a stance that stands for one ("supports",
"refutes"). What a sentence says of either is a *remark*, with a *standing*: it says the label, or
denies it as its verdict or in part, or only names it (`labels.Standing`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from figlang_tasks.answers.checkboxes import Checkbox, checkboxes, ticked
from figlang_tasks.answers.labels import (
    EITHER,
    NAMES,
    Label,
    Mention,
    Remark,
    find_mentions,
    find_stances,
)
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Evidence, Read, decide, read_marked_parts
from figlang_tasks.answers.words import CORRECTION, NEUTRAL, REFUSAL


def entailment(output: str | None, prompt_texts: Sequence[str] = ()) -> Read[Label]:
    """The label of an answer: 1 entailment, 0 contradiction; no value where it is doubtful.

    The first of these tiers that has evidence decides; its name is the `rule`:

    - ``label``: an announced label: "LABEL: entailment", "the answer is contradiction". The last
      announcement counts.
    - ``checked``: a box that is ticked: "[x] Entailment [ ] Contradiction".
    - ``word``: the label alone, as a line, a heading or a sentence.
    - ``statement``: a sentence that says it: "the image contradicts the claim", "this is an
      entailment".
    - ``denial``: one label is denied, which leaves the other: "the first sentence does not entail
      the second", "the claim is not supported by the image".
    - ``stance``: it says so in the words of the instructions: "supports the claim", "refutes it".

    A denial is read only as the verdict: of the claim or sentence as a whole, in the answer's own
    words, and without "necessarily", "fully", "if" and the like, since it may be neutral. Where
    both labels are denied, or the two are said to be unrelated, there is none (``neither``).

    Hedged and asked mentions, quoted sentences and the echo of the options say nothing. Different
    answers of one tier are ambiguous (``conflict``) unless the last corrects the others
    (``correction``): two labels after one announcement, a denial beside a stance of the contrary,
    and a statement that is denied, if both are about the same quoted sentences.

    Args:
        output: the model's output; None if there is none.
        prompt_texts: texts of the prompt, such as premise and hypothesis; where the answer repeats
            them, it says nothing.

    Returns:
        With one of these rules, or ``neither`` (`refused`), ``refusal``, ``either``, ``nothing``,
        ``thought``, ``empty``, ``missing``.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    return read_marked_parts(output, _read, prompt_texts)


def _read(answer: Answer) -> Read[Label]:
    """The label that the first tier with evidence gives, or why there is none."""
    names = _Names(answer)
    for tier_of_names in _TIERS_OF_NAMES:
        reading = tier_of_names(names)
        if reading is not None:
            return reading
    remarks = _Remarks(answer, names.mentions)
    for tier_of_remarks in _TIERS_OF_REMARKS:
        reading = tier_of_remarks(remarks)
        if reading is not None:
            return reading
    if REFUSAL.search(answer.text):
        return Read(None, "refused", "refusal")
    if EITHER.search(answer.text):
        return Read(None, "ambiguous", "either")
    return Read(None, "unreadable", "nothing")


class _Names:
    """Where an answer names labels.

    Attributes:
        answer: the answer.
        boxes: the boxes beside the names of labels: "[x] Entailment".
        mentions: the places that name a label, without boxes that are not ticked.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.boxes: list[Checkbox] = checkboxes(answer.text, NAMES)
        mentions = list(find_mentions(answer))
        if self.boxes:
            unticked = {box.word.start() for box in self.boxes if box.mark in ("empty", "cross")}
            mentions = [mention for mention in mentions if mention.start not in unticked]
        self.mentions: list[Mention] = mentions

    def last_announcement(self) -> tuple[int, Evidence | None]:
        """Where the last announced mention stands in `mentions`, and the evidence for its label.

        (0, None) if no mention is announced.
        """
        for number in reversed(range(len(self.mentions))):
            announcement = self.mentions[number].announcement()
            if announcement is not None:
                return number, announcement
        return 0, None


class _Remarks:
    """What an answer says of the labels, where none is announced, ticked or alone.

    Attributes:
        answer: the answer.
        of_labels: what is said of labels.
        of_stances: what is said of stances: "supports the claim".
        all: both.
    """

    def __init__(self, answer: Answer, mentions: Sequence[Mention]) -> None:
        """Find what is said of the labels.

        Args:
            answer: the answer.
            mentions: the places that name a label, none of which is announced or alone.
        """
        self.answer = answer
        self.of_labels: list[Remark] = []
        for mention in mentions:
            remark = mention.remark()
            if remark is not None:
                self.of_labels.append(remark)
        self.of_stances: list[Remark] = list(find_stances(answer))
        self.all = [*self.of_labels, *self.of_stances]

    def topic(self, remark: Remark) -> tuple[object, ...]:
        """What a remark is about: its label and the quoted sentences beside it.

        '"It rains" entails "It is wet"' has (1, "It rains", "It is wet").
        """
        return (remark.label, *self.answer.quoted_beside(remark.start, remark.end))

    def verdicts(self) -> list[Remark]:
        """The denials that are verdicts; [] if the text after one calls the two unrelated."""
        denials = [remark for remark in self.all if remark.standing == "denied"]
        for denial in denials:
            if _NEUTRAL.search(self.answer.text, denial.start, denial.end + _NEAR):
                return []
        return denials


# --- the tiers ---

_CONFLICT: Read[Label] = Read(None, "ambiguous", "conflict")
_NEITHER: Read[Label] = Read(None, "refused", "neither")

_ANNOUNCED_NEITHER = re.compile(
    r"\b(?=[aclprv])(?:label|answer|verdict|prediction|classification|conclusion|relationship)\b[^.?!\n]{0,20}?(?:\b(?:is|be)\b|:)"
    r"[\s\"'(]{0,4}(?:therefore\s)?(?:neither|neutral|none|n/a|undetermined|unknown|unclear|unrelated)\b",
    re.I,
)
_WORDS_FOR_NEITHER = (
    "neither",
    "neutral",
    "none",
    "n/a",
    "undetermined",
    "unknown",
    "unclear",
    "unrelated",
)
_OR_NEITHER = re.compile(r"[\"')\]]{0,2}\s?(?:[,;/]|\bor)\s?[\"'(]?(?:neutral|neither)\b", re.I)
_JOINED = re.compile(
    r"[^\S\n]?[\"')\]]{0,2}[^\S\n]?(?:[,;/&+]|[:>=-]{1,2}|\b(?:and|or)\b)?\s?(?:(?:also|an?)\s)?[\"'(\[]{0,2}",
    re.I,
)
"""What joins two labels after one announcement."""
_SAYS_NEITHER = re.compile(r"\bneither\b", re.I)
_NOT_EITHER = re.compile(
    r"(?:\b(?:not|neither|nor|never|cannot)|n't)\s(?:\w+ly\s)?(?:entail\w* (?:or|nor) contrad"
    r"|contrad\w* (?:or|nor) entail)",
    re.I,
)
_NEUTRAL = re.compile(
    r"\b(?:is|are|be|seem|remain|stay)s?\s(?:\w+ly\s)?(?:neutral|unrelated|independent|irrelevant|inconclusive)\b"
    r"|\bno\s(?:\w+\s)?(?:relation|relationship|connection|link|bearing)\b|\bnothing to do"
    r" with\b|\binsufficient\b"
    r"|\bnot (?:enough|sufficient)\b|\bcannot be determined\b"
    r"|\bneutral\b(?! (?:expression|face|tone|background|colou?rs?|pose|look))",
    re.I,
)
_NEAR = 200  # characters after a denial in which the answer may say that the two are unrelated


def _announced_label(names: _Names) -> Read[Label] | None:
    """The label of the last announcement, or one alone that corrects it; None without announcement.

    It is ambiguous if the other label or "or neutral" stands beside it, and a refusal if "neither"
    is announced last.
    """
    text = names.answer.text
    number, last = names.last_announcement()
    if _may_say_neither(text):
        neither_starts = [neither.start() for neither in _ANNOUNCED_NEITHER.finditer(text)]
        if neither_starts and (last is None or neither_starts[-1] > last.end):
            return _NEITHER
    if last is None:
        return None
    if _OR_NEITHER.match(text, last.end):
        return _CONFLICT

    reading: Read[Label] = Read(last.value, "read", "label")
    mentions = names.mentions[max(0, number - 1) :]  # from the one before the last announced
    for before, mention in itertools.pairwise(mentions):
        is_beside_last = last.start in (before.start, mention.start)
        if is_beside_last and before.label != mention.label:
            if _JOINED.fullmatch(text, before.end, mention.start):
                return _CONFLICT  # "LABEL: entailment, contradiction"
        if mention.start > last.start and mention.is_alone:
            if CORRECTION.search(text, before.end, mention.end):
                reading = Read(mention.label, "read", "correction")  # the last correction counts
    return reading


def _may_say_neither(text: str) -> bool:
    """Whether a text has one of the words by which `_ANNOUNCED_NEITHER` ends."""
    if not text.isascii():  # In other texts patterns take more letters for these.
        return True
    lowered = text.lower()
    for word in _WORDS_FOR_NEITHER:
        if word in lowered:
            return True
    return False


def _ticked_label(names: _Names) -> Read[Label] | None:
    """The label whose box is ticked; None if no box is. Two different ones are ambiguous."""
    if not names.boxes:
        return None
    return decide(names.answer, ticked(names.boxes, _label_of))


def _label_of(word: re.Match[str]) -> Label:
    """The label that a match of `NAMES` names."""
    return 1 if word[0].lower().startswith("entail") else 0


def _lone_label(names: _Names) -> Read[Label] | None:
    """The label that stands alone, as a line, a heading or a sentence; None without one."""
    alone = [mention for mention in names.mentions if mention.is_alone]
    evidence = [Evidence(mention.label, mention.start, mention.end, "word") for mention in alone]
    return decide(names.answer, evidence)


def _neither(remarks: _Remarks) -> Read[Label] | None:
    """A refusal where the answer begins with "neutral", or denies both labels and states none.

    Ambiguous where it says "not entail or contradict" and states a label; else None.
    """
    if NEUTRAL.match(remarks.answer.text):
        return _NEITHER
    denies_either = _NOT_EITHER.search(remarks.answer.text) is not None
    denied_labels = {remark.label for remark in remarks.all if remark.is_denied}
    if not denies_either and len(denied_labels) < 2:
        return None
    if not any(remark.standing == "said" for remark in remarks.all):
        return _NEITHER
    return _CONFLICT if denies_either else None


def _stated_label(remarks: _Remarks) -> Read[Label] | None:
    """The label that is said of the image or the sentences; None if none is said of them.

    It is ambiguous if the same label is denied of the same quoted sentences.
    """
    said = [remark for remark in remarks.of_labels if remark.standing == "said"]
    if not said:
        return None
    denied = [remark for remark in remarks.of_labels if remark.is_denied]
    contrary: list[Remark] = []
    if denied:
        topics = {remarks.topic(remark) for remark in said}
        contrary = [remark for remark in denied if remarks.topic(remark) in topics]
    # A denied remark is evidence for the other label.
    return decide(remarks.answer, [remark.evidence("statement") for remark in [*said, *contrary]])


def _label_left_by_denial(remarks: _Remarks) -> Read[Label] | None:
    """The label that a denial of the other leaves, or that a stance stands for; else None.

    It is ambiguous if a stance or the name of a label says the contrary.
    """
    verdicts = remarks.verdicts()
    denied_labels = {remark.label for remark in verdicts}
    # "It does not contradict the claim. It is a contradiction."
    contrary = []
    for remark in remarks.of_labels:
        if remark.standing == "named" and remark.is_predicate and remark.label in denied_labels:
            contrary.append(remark)

    evidence = [remark.evidence("denial") for remark in [*verdicts, *contrary]]
    evidence += [
        remark.evidence("stance") for remark in remarks.of_stances if remark.standing == "said"
    ]
    return decide(remarks.answer, evidence)


def _unrelated(remarks: _Remarks) -> Read[Label] | None:
    """A refusal where a denial is no verdict, or the answer says "neither"; else None.

    A denial is no verdict if the two are said to be unrelated. Where it is one, the tier before has
    read it.
    """
    has_denial = any(remark.standing == "denied" for remark in remarks.all)
    return _NEITHER if has_denial or _SAYS_NEITHER.search(remarks.answer.text) else None


_TIERS_OF_NAMES: tuple[Callable[[_Names], Read[Label] | None], ...] = (
    _announced_label,
    _ticked_label,
    _lone_label,
)
_TIERS_OF_REMARKS: tuple[Callable[[_Remarks], Read[Label] | None], ...] = (
    _neither,
    _stated_label,
    _label_left_by_denial,
    _unrelated,
)
"""The tiers of `entailment`: after those of names, these; each gives None without evidence."""
