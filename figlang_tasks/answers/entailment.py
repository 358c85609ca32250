"""Entailment or contradiction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from figlang_tasks.answers.text import ANNOUNCED, NEUTRAL, QUOTED, REFUSAL, Answer, is_said
from figlang_tasks.answers.verdict import Evidence, Read, by_marks, decide

Label: TypeAlias = Literal[0, 1]
"""1 entailment, 0 contradiction."""

_WORD = re.compile(r"\b(?:(?P<one>entail(?P<one_noun>ment)?\w*)|(?P<zero>contrad(?P<zero_noun>iction)?\w*))", re.I)
_NEITHER = re.compile(r"\bneither\b|\bnot (?:support|entail) or contradict", re.I)
_NOT_EITHER = re.compile(r"\bnot entail or contradict", re.I)
_EITHER = re.compile(r"entail\w*[\"')]{0,2}\s?(?:or|/)\s?[\"']?contrad\w*", re.I)
_GIVEN = re.compile(
    r"\b(?:label|identif|categori|lean)\w*\b[^.?!\n]{0,60}?\b(?:as|under|of|towards?)"
    r"(?:\s(?:an?\b)?|[\"'])*\Z|\bchoose\s[\"']?\Z",
    re.I,
)
_OPENS = re.compile(r"(?:[\W\d]|\bcorrection\b)*\Z", re.I)
_HEADS = re.compile(r"""["')\]]*\s*(?:[.:,;-]|\Z)""")
_SUBJECT = re.compile(
    rf"\b(?:image|picture|claim|statement|sentences?|premise|hypothesis|it|they|two|both|first|second|former)\b|{QUOTED}",
    re.I,
)
_OF_OTHER = re.compile(r"\bcontradicts? [\"']\Z", re.I)  # it contradicts "Entails"
_OF_ITSELF = re.compile(r" (?:of )?\w+sel[fv]", re.I)
_ARE = re.compile(rf"(?:\b(?:sentences?|statements?|they|it)|{QUOTED})[\"']?(?: is| are| seem)(?: \w+ly)? \Z", re.I)
_IS = re.compile(r"(?:(?:\bis|'s) (?:an? |one of |an example of (?:an? )?)?(?:clear )?|\b(?:are|stand) in )\Z", re.I)
_SHOWN = re.compile(r"\b(?:image|picture|depiction|content|illustration|portrayal|evidence|which|and|it)\b", re.I)
_OBJECT = r"\w* (?:with )?(?:it\b|the (?:claim|statement|assertion))"
_FOR = re.compile(
    rf"\b(?:support|confirm|affirm|validat|corroborat|endors|align|agree|consistent|compatible|in harmony){_OBJECT}",
    re.I,
)
_AGAINST = re.compile(
    rf"\b(?:refut|disprov|negat|disput|oppos|counter|contest|challeng|disagree|denies|adverse to"
    rf"|inconsistent|not (?:consistent|aligned)"
    rf"|in conflict){_OBJECT}",
    re.I,
)


def entailment(output: str | None, own: Sequence[str] = ()) -> Read[Label]:
    """Entailment (1) or contradiction (0); never a guess.

    The first of these that is found decides:

    - ``label``: an announced label: "LABEL: entailment", "the answer is contradiction".
    - ``word``: the label alone, as a line, a heading or a sentence.
    - ``statement``: a sentence that says it: "the image contradicts the claim", "this is an entailment".
    - ``denial``: one label is denied, and the other named: "it does not entail it. This is a logical contradiction".
    - ``stance``: it says so in the words of the instructions: "supports the claim", "refutes it".

    Hedged and asked mentions, quoted sentences, the echo of the options, and a denial alone, say nothing. Different
    answers of one kind are ambiguous (``conflict``) unless the last corrects the others (``correction``); so is a
    statement that is denied, if both are about the same quoted sentences.

    Args:
        output: the model's output; None if there is none.
        own: texts of the prompt, such as premise and hypothesis; where the answer repeats them it says nothing.

    Returns:
        With one of these rules, or ``neither`` (`refused`), ``refusal``, ``either``, ``nothing``, ``thought``,
        ``empty``, ``missing``.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    return by_marks(output, _read, own)


def _read(answer: Answer) -> Read[Label]:
    words = list(_words(answer))
    for rule in ("label", "word"):
        found = decide(answer, [word for word in words if word.rule == rule])
        if found is not None:
            return found
    if _NEITHER.search(answer.text) and all(word.rule == "denied" for word in words) or NEUTRAL.match(answer.text):
        return Read(None, "refused", "neither")
    if _NOT_EITHER.search(answer.text):
        return Read(None, "ambiguous", "conflict")
    found = _stated(answer, words) or decide(answer, [*_stances(answer, _FOR, 1), *_stances(answer, _AGAINST, 0)])
    if found is not None:
        return found
    if REFUSAL.search(answer.text):
        return Read(None, "refused", "refusal")
    if _EITHER.search(answer.text):
        return Read(None, "ambiguous", "either")
    return Read(None, "unreadable", "nothing")


def _words(answer: Answer) -> Iterator[Evidence]:
    for word, (back, before, behind, _) in answer.mentions(_WORD, _EITHER):
        label = int(word["one"] is not None)
        if ANNOUNCED.search(back) or _GIVEN.search(before):
            yield Evidence(label, *word.span(), "label")
        elif _OPENS.match(before) and _HEADS.match(behind):
            yield Evidence(label, *word.span(), "word")
        elif not (behind.startswith(" if") or _OF_OTHER.search(before)) and (said := is_said(before)) is not None:
            is_noun = word["one_noun"] or word["zero_noun"]
            subject = _IS if is_noun else _ARE if word[0].lower() == "contradictory" else _SUBJECT
            of_itself = _OF_ITSELF.match(behind) is not None
            if subject.search(before) and not of_itself:
                yield Evidence(label, *word.span(), "statement" if said else "denied")
            elif said and is_noun:
                yield Evidence(label, *word.span(), "denial")


def _stated(answer: Answer, words: Sequence[Evidence]) -> Read[Label] | None:
    def about(words: Sequence[Evidence]) -> set[tuple[int | str, ...]]:
        return {(word.value, *answer.quoted_beside(word.start, word.end)) for word in words}

    said = [word for word in words if word.rule == "statement"]
    denied = [word for word in words if word.rule == "denied"]
    named = [word for word in words if word.rule == "denial"]
    if denied and not about(said).isdisjoint(about(denied)):
        return Read(None, "ambiguous", "conflict")
    labels = {word.value for word in denied}
    return decide(answer, said) or decide(answer, [word for word in named if labels == {1 - word.value}])


def _stances(answer: Answer, words: re.Pattern[str], label: Label) -> Iterator[Evidence]:
    for word, (_, before, _, _) in answer.mentions(words):
        if is_said(before) and _SHOWN.search(before):
            yield Evidence(label, *word.span(), "stance")
