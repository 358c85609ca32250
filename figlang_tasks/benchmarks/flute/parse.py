"""From a model's words to a label and an explanation, for both prompts of FLUTE.

`parse_official` reads the form in which the papers' models answer. For prompt v2 that is what the released code does
(``generateLabel&Explanations.py`` of tuhinjubcse/model-in-the-loop-fig-lang at 44bd0de); models that were not trained
on it answer in looser forms, which that code does not foresee (it would repeat the answer of the row before): there the
word that opens the answer decides. `parse_strict` is ours: what a careful reader takes the answer to be.

Both are pure, take any string in linear time, and never raise on what a model wrote.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Label", "Parsed", "Prompt", "Status", "parse_official", "parse_strict"]

Label: TypeAlias = Literal[0, 1]
"""1 entailment, 0 contradiction."""

Prompt: TypeAlias = Literal["v1", "v2"]

Status: TypeAlias = Literal["labelled", "refused", "ambiguous", "unlabelled", "empty", "missing"]
"""Outcome of parsing; `labelled` if and only if there is a label.

- labelled: a label was found.
- refused: the model declines to choose.
- ambiguous: both labels are there and nothing tells which one is meant.
- unlabelled: words, but no label in them.
- empty: nothing but white space.
- missing: no output at all (None).
"""


@dataclass(frozen=True)
class Parsed:
    """What was read from one output.

    Attributes:
        label: 1 entailment, 0 contradiction, None if no label was found.
        explanation: the explanation, possibly empty; None where none is given or asked for: a missing output, and an
            entailment by prompt v1 ("No.").
        status: see `Status`.
        rule: stable name of the rule that decided; listed at each parser.
        span: start and end, in the output, of the words that decided; None where no words did.
    """

    label: Label | None
    explanation: str | None
    status: Status
    rule: str
    span: tuple[int, int] | None = None

    @property
    def value(self) -> str | None:
        """The label as FLUTE's files spell it: ``Entailment``, ``Contradiction``, or None."""
        return None if self.label is None else ("Contradiction", "Entailment")[self.label]


def _check(output: object, prompt: object) -> None:
    if output is not None and not isinstance(output, str):
        raise TypeError(f"output must be str or None, got {type(output).__name__}")
    if prompt not in ("v1", "v2"):
        raise ValueError(f"prompt is {prompt!r}; valid: v1, v2")


# --- the papers' form ------------------------------------------------------------------------------------------------

# What may stand before the word that opens an answer: quotation marks, emphasis, list marks, "Answer:".
_LEAD = r"[\s\"'“”‘’*_#>`(\[-]{0,16}(?:(?:final |my )?(?:answer|label|verdict)(?: is)?[\s*_\"'“”:]{1,8})?"
# What may stand behind it. A quotation mark after a space is not its end: it may open the explanation.
_CLOSE = r"[\"'”’*_`)\]]{0,4}[.:;,!]*[\"'”’*_`)\]]{0,4}[\s:;,*_–—-]*"
_ENTAILS = r"entail(?:s|ed|ment)?"
_CONTRADICTS = r"contradict(?:s|ed|ion|ory)?"
_OPENING = {
    "v1": re.compile(rf"\A{_LEAD}(?:(?P<zero>yes)|(?P<one>no))\b{_CLOSE}", re.I),
    "v2": re.compile(rf"\A{_LEAD}(?:(?P<one>{_ENTAILS})|(?P<zero>{_CONTRADICTS}))\b{_CLOSE}", re.I),
}
# The option list said again, not an answer: "Entails or Contradicts", "Yes/No".
_ECHO = re.compile(r"\A[\s\"'“”‘’*_]{0,4}(?:or|/|and|\|)[\s\"'“”‘’*_]{0,4}(?:yes|no|entail|contradict)", re.I)


def parse_official(output: str | None, prompt: Prompt = "v2", *, released_case: bool = False) -> Parsed:
    """Label and explanation by the papers' form of answer.

    Prompt v2, in this order:

    - ``released-entails``: "Entails." stands anywhere, in this spelling. The explanation is what follows it, up to the
      next "Entails.", without the end of quotation marks or emphasis around the word. So "Contradicts. It never says
      Entails." is an entailment.
    - ``released-contradicts``: the same with "Contradicts.".
    - ``opening-entails``, ``opening-contradicts``: the answer begins with a form of either word ("Contradicts, since",
      "**Entailment**: ..."); the explanation is the rest.

    Prompt v1:

    - ``opening-yes``: the answer begins with "Yes": a contradiction; the explanation is the rest.
    - ``opening-no``: it begins with "No": an entailment, which is not explained.

    Otherwise ``missing``, ``empty`` or ``none``.

    Args:
        output: the model's output; None if there is none.
        prompt: the prompt that was answered.
        released_case: as the released code, make the explanation's first letter a capital and *all others small*.
            Off: names and "I" stay as the model wrote them.

    Raises:
        TypeError: `output` is neither str nor None. Never raises on any str.
        ValueError: unknown prompt.
    """
    _check(output, prompt)
    if output is None:
        return Parsed(None, None, "missing", "missing")
    if not output.strip():
        return Parsed(None, "", "empty", "empty")
    found = _released(output) if prompt == "v2" else None
    if found is None:
        found = _opening(output, prompt)
    if found is None:
        return Parsed(None, output.strip(), "unlabelled", "none")
    if released_case and found.explanation is not None:
        return Parsed(found.label, found.explanation.capitalize(), found.status, found.rule, found.span)
    return found


_MARKUP = re.compile(r"[*_`\"'“‘]\Z")


def _released(output: str) -> Parsed | None:
    for word, label, rule in (("Entails.", 1, "released-entails"), ("Contradicts.", 0, "released-contradicts")):
        start = output.find(word)
        if start >= 0:
            end = start + len(word)
            again = output.find(word, end)
            explanation = output[end : again if again >= 0 else len(output)]
            if _MARKUP.search(output[max(0, start - 4) : start]):  # **Entails.** It ..., which T5 never writes
                explanation = explanation.lstrip("*_`\"'”’")
            explanation = explanation.strip()
            return Parsed(1 if label else 0, explanation, "labelled", rule, (start, end))
    return None


def _opening(output: str, prompt: Prompt) -> Parsed | None:
    found = _OPENING[prompt].match(output)
    if found is None:
        return None
    label: Label = 1 if found["one"] else 0
    span = found.span("one" if label else "zero")
    if _ECHO.match(output[span[1] : span[1] + 40]):
        return None
    rest = output[found.end() :].strip()
    if prompt == "v1":
        return Parsed(label, None if label else rest, "labelled", "opening-no" if label else "opening-yes", span)
    return Parsed(label, rest, "labelled", "opening-entails" if label else "opening-contradicts", span)


# --- a careful reader ------------------------------------------------------------------------------------------------

_READ = 32_768  # characters at each end of an output that are searched for a label
_MARKED = {
    "v1": re.compile(
        r"\b(?:answer|label|verdict)(?: is)?[\s*_\"'“”:]{1,6}(?:(?P<zero>yes)|(?P<one>no))\b(?!\s*(?:or|/))", re.I
    ),
    "v2": re.compile(
        rf"\b(?:answer|label|verdict|relation(?:ship)?)(?: is)?(?: an?)?[\s*_\"'“”:]{{1,6}}"
        rf"(?:(?P<one>{_ENTAILS})|(?P<zero>{_CONTRADICTS}))\b(?![\s\"'“”]*(?:or|/))",
        re.I,
    ),
}
_SUBJECT = (
    r"(?:sentences?|premise|hypothesis|statements?|former|latter|first|second|one|they|it|this|that|other"
    r"|[\"”’'])"
)
_SAID = re.compile(
    rf"\b{_SUBJECT}[\"”’',]{{0,2}}\s+(?:(?P<aux>do(?:es)?|would|can|could|may|might|must|will|is|are|in|clearly"
    rf"|directly|therefore|actually|really|both)\s+)*(?P<no>not\s+|n[o’']t\s+|never\s+|neither\s+|hardly\s+)?"
    rf"(?:(?:an?|in|clearly|directly|actually|really|necessarily|entirely)\s+){{0,2}}"
    rf"(?:(?P<one>{_ENTAILS})|(?P<zero>{_CONTRADICTS}))\b",
    re.I,
)
_NEGATED_AUX = re.compile(
    rf"\b(?:don[’']?t|doesn[’']?t|cannot|can[’']?t|isn[’']?t|aren[’']?t|won[’']?t|wouldn[’']?t)\s+(?:\w+\s+)?"
    rf"(?:(?P<one>{_ENTAILS})|(?P<zero>{_CONTRADICTS}))\b",
    re.I,
)
_HEDGED = re.compile(
    r"\b(?:may|might|could|whether|if|unless|would(?! (?:say|argue|conclude|choose|answer|call)\b))\b", re.I
)
_SENTENCE_END = re.compile(r"[.!?\n]")
_REFUSAL = re.compile(
    r"\b(?:neither (?:entail|contradict)|cannot (?:be determined|determine|decide|tell|say)"
    r"|can[’']t (?:tell|say|decide)|not possible to|impossible to|unable to|not enough (?:information|context)"
    r"|i (?:refuse|won[’']t|will not))\b",
    re.I,
)
_CLOSING = {
    "v1": re.compile(r"(?:\A|[\n.!?]\s*)[\s\"'“”*_]{0,4}(?:(?P<zero>yes)|(?P<one>no))[\s\"'“”*_.!]{0,6}\Z", re.I),
    "v2": re.compile(
        rf"(?:\A|[\n.!?]\s*)[\s\"'“”*_]{{0,4}}(?:(?P<one>{_ENTAILS})|(?P<zero>{_CONTRADICTS}))[\s\"'“”*_.!]{{0,6}}\Z",
        re.I,
    ),
}


def parse_strict(output: str | None, prompt: Prompt = "v2") -> Parsed:
    """Label and explanation as a careful reader takes them; never a guess.

    Text up to a closing ``</think>`` is not part of the answer. The first of these that is found decides:

    - ``marker``: a declared label, "Answer: Contradicts", "the label is entailment". The last one wins.
    - ``opening``: the word that opens the answer, unless what is said about the two sentences is the opposite of it
      (``conflict``): by prompt v2 within the opening sentence, since later ones explain ("the first sentence entails
      sadness"); by prompt v1 anywhere, since a bare yes is easily meant for another question.
    - ``closing``: the label word alone at the end.
    - ``statement``: "the premise contradicts the hypothesis", "they do not contradict each other". Statements for
      both sides give no label (``conflict``). "Does not entail" is no contradiction, and by prompt v2 "does not
      contradict" no entailment (``negated``); by prompt v1, which asks whether they contradict, it is.

    Otherwise ``missing``, ``empty``, ``refusal`` or ``none``.

    Args:
        output: the model's output; None if there is none. Of one longer than 65,536 characters only the first and
            last 32,768 are searched for a label; the explanation is cut from the whole.
        prompt: the prompt that was answered.

    Raises:
        TypeError: `output` is neither str nor None. Never raises on any str.
        ValueError: unknown prompt.
    """
    _check(output, prompt)
    if output is None:
        return Parsed(None, None, "missing", "missing")
    closing_tag = output.rfind("</think>")
    base = closing_tag + len("</think>") if closing_tag >= 0 and output[closing_tag + 8 :].strip() else 0
    answer = output[base:]
    if not answer.strip():
        return Parsed(None, "", "empty", "empty")
    read = answer if len(answer) <= 2 * _READ else answer[:_READ] + "\n" + answer[-_READ:]
    gap = len(answer) - len(read)

    def place(span: tuple[int, int]) -> tuple[int, int]:
        shift = base + (gap if gap and span[0] >= _READ else 0)
        return span[0] + shift, span[1] + shift

    def decided(match: re.Match[str], rule: str, explanation: str) -> Parsed:
        label: Label = 1 if match["one"] else 0
        given = None if prompt == "v1" and label == 1 else explanation.strip()
        return Parsed(label, given, "labelled", rule, place(match.span("one" if label else "zero")))

    said, negated = _statements(read, prompt)
    marked = list(_MARKED[prompt].finditer(read))
    opening = _OPENING[prompt].match(read)
    if opening is not None and _ECHO.match(read[opening.end("one" if opening["one"] else "zero") :][:40]):
        opening = None
    if marked:
        last = marked[-1]
        before, after = read[: last.start()].strip(), answer[_end(last, read, answer) :].lstrip(" .:;,*_\"'”\n-")
        return decided(last, "marker", after if after.strip() else before)
    if opening is not None:
        label = 1 if opening["one"] else 0
        if prompt == "v2":
            stop = _SENTENCE_END.search(read, opening.end("one" if label else "zero"))
            said, _ = _statements(read[: stop.start()] if stop is not None else read, prompt)
        if said and said <= {1 - label}:
            return Parsed(
                None, answer.strip(), "ambiguous", "conflict", place(opening.span("one" if label else "zero"))
            )
        return decided(opening, "opening", answer[opening.end() :])
    closing = _CLOSING[prompt].search(read[-200:]) if len(read) > 200 else _CLOSING[prompt].search(read)
    if closing is not None:
        shift = max(0, len(read) - 200)
        label = 1 if closing["one"] else 0
        start, end = closing.span("one" if label else "zero")
        given = None if prompt == "v1" and label else answer[: len(answer) - (len(read) - shift - start)].strip()
        return Parsed(1 if label else 0, given, "labelled", "closing", place((start + shift, end + shift)))
    if len(said) > 1:
        return Parsed(None, answer.strip(), "ambiguous", "conflict")
    if said:
        found = 1 if 1 in said else 0
        given = None if prompt == "v1" and found else answer.strip()
        return Parsed(1 if found else 0, given, "labelled", "statement")
    if _REFUSAL.search(read):
        return Parsed(None, answer.strip(), "refused", "refusal")
    return Parsed(None, answer.strip(), "unlabelled", "negated" if negated else "none")


def _end(match: re.Match[str], read: str, answer: str) -> int:
    """Where a match ends in the whole answer."""
    return match.end() + (len(answer) - len(read) if match.start() >= _READ and len(answer) > len(read) else 0)


def _statements(read: str, prompt: Prompt) -> tuple[set[int], bool]:
    """Labels that sentences about the two sentences state, and whether any only denies one."""
    said: set[int] = set()
    negated = False
    denials = [(found, True) for found in _NEGATED_AUX.finditer(read)]
    for found, denied in [*denials, *((found, found["no"] is not None) for found in _SAID.finditer(read))]:
        sentence = max(read.rfind(mark, max(0, found.start() - 200), found.start()) for mark in ".!?\n")
        before = read[max(0, sentence + 1, found.start() - 200) : found.end()]
        asked = re.match(r"[^.!\n]{0,200}\?", read[found.end() : found.end() + 201]) is not None
        if asked or _HEDGED.search(before) or _ECHO.match(read[found.end() : found.end() + 40]):
            continue
        label = 1 if found["one"] else 0
        if not denied:
            said.add(label)
        elif prompt == "v1" and label == 0:
            said.add(1)
        else:
            negated = True
    return said, negated
