"""From a model's words to a label and an explanation: the published rules, and a careful reader beside them.

`parse_official` follows the extraction rules behind the published V-FLUTE numbers (arXiv 2405.01474; Appendix D says
that such rules were made by hand from sample outputs), with their defects, since the numbers depend on them.
`parse_strict` is ours: it says what a careful reader takes the answer to be, and prefers no label to a guess.

Both are pure, take any string in linear time, and never raise on what a model wrote.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

__all__ = ["Label", "Parsed", "Status", "parse_official", "parse_strict", "rewrite_scene_graph_talk"]

Label: TypeAlias = Literal[0, 1]
"""1 entailment, 0 contradiction."""

Status: TypeAlias = Literal["labelled", "refused", "ambiguous", "unlabelled", "empty", "missing"]
"""Outcome of parsing; `labelled` if and only if there is a label.

- labelled: a label was found.
- refused: the model declines to choose (neither, cannot be determined ...).
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
        explanation: the explanation, possibly empty; None only for a missing output.
        status: see `Status`.
        rule: stable name of the rule that decided; listed at each parser.
        span: start and end, in the output, of the words that decided; None where no words did.
    """

    label: Label | None
    explanation: str | None
    status: Status
    rule: str
    span: tuple[int, int] | None = None


def _require_text(output: object) -> None:
    if output is not None and not isinstance(output, str):
        raise TypeError(f"output must be str or None, got {type(output).__name__}")


# ---------------------------------------------------------------------------------------------------------------------
# The published rules
# ---------------------------------------------------------------------------------------------------------------------

_OFFICIAL_MARKER = re.compile(r"LABEL:|Label:|label:")
_OFFICIAL_AFTER: Final = {
    1: re.compile(r"entailment|Entailment|entails|Entails"),
    0: re.compile(r"contradiction|Contradiction|contradicts|Contradicts"),
}
# In the order of the published rules: the first phrase of the first group that occurs decides, wherever it stands.
_OFFICIAL_REFUSALS = (
    "not possible to definitively label",
    "neither",
    "does not support or contradict",
    "entailment or contradiction",
)
_OFFICIAL_ENTAILS = (
    "entail",
    "supports the claim",
    "is consistent",
    "image can be seen as indirectly supporting",
    "appears to be consistent with the claim",
    "in harmony with",
    "is in agreement",
    "confirms the claim",
)
_OFFICIAL_CONTRADICTS = ("contradict", "appears to contest")


def parse_official(output: str | None, *, scene_graph: bool = False) -> Parsed:
    """Label and explanation by the published rules, quirks included.

    1. No output: no label, no explanation.
    2. Behind the first ``LABEL:`` / ``Label:`` / ``label:`` (these three spellings only): "neither" gives no label,
       else "contradict" gives 0, else "entail" gives 1, else there is none. So ``LABEL: entailment, does not
       contradict`` is a contradiction. The explanation is what precedes the marker; if that is blank, what follows
       the first label word of the output; if that is blank too, the whole output.
    3. Without a marker, over the whole output: phrases of refusal give no label; else "entail" or a phrase of
       agreement gives 1; else "contradict" or "appears to contest" gives 0. So "does not entail; it contradicts" is
       an entailment. The explanation is the whole output.
    4. From the explanation, always: ``Contradiction.`` / ``Entailment.``, then the same with ``:``, then with a
       newline are deleted wherever they stand; then everything from the last ``Therefore,`` on is dropped. Nothing
       may be left.

    Args:
        output: the model's output; None if there is none.
        scene_graph: the output is of a scene-graph run: apply `rewrite_scene_graph_talk` to the explanation (rule 5).

    Returns:
        `Parsed` with rule one of: ``missing``, ``marker-neither``, ``marker-contradict``, ``marker-entail``,
        ``marker-none``, ``phrase-refusal``, ``phrase-entail``, ``phrase-contradict``, ``none``. Status is never
        ``ambiguous`` except for the echo of "entailment or contradiction". The explanation of a blank output is "".

    Raises:
        TypeError: `output` is neither str nor None. Never raises on any str.

    Source: V-FLUTE, Appendix D ("we looked at the sample outputs of each model and designed rules").
    """
    _require_text(output)
    if output is None:
        return Parsed(None, None, "missing", "missing")
    marker = _OFFICIAL_MARKER.search(output)
    if marker is not None:
        parsed = _official_with_marker(output, marker)
    else:
        parsed = _official_without_marker(output)
    explanation = _official_cleaning(parsed.explanation or "")
    if scene_graph:
        explanation = rewrite_scene_graph_talk(explanation)
    status: Status = parsed.status if output.strip() else "empty"
    return Parsed(parsed.label, explanation, status, parsed.rule, parsed.span)


def _official_with_marker(output: str, marker: re.Match[str]) -> Parsed:
    after = output[marker.end() :].lower()
    label: Label | None = None
    status: Status = "unlabelled"
    rule, word = "marker-none", ""
    if "neither" in after:
        status, rule, word = "refused", "marker-neither", "neither"
    elif "contradict" in after:
        label, status, rule, word = 0, "labelled", "marker-contradict", "contradict"
    elif "entail" in after:
        label, status, rule, word = 1, "labelled", "marker-entail", "entail"
    explanation = output[: marker.start()].strip()
    if not explanation and label is not None:
        found = _OFFICIAL_AFTER[label].search(output)
        explanation = output[found.end() :].strip() if found else ""
    span = _span(output[marker.end() :], after, word, marker.end())
    return Parsed(label, explanation or output, status, rule, span)


def _official_without_marker(output: str) -> Parsed:
    lowered = output.lower()
    for phrase in _OFFICIAL_REFUSALS:
        if phrase in lowered:
            status: Status = "ambiguous" if phrase == "entailment or contradiction" else "refused"
            return Parsed(None, output, status, "phrase-refusal", _span(output, lowered, phrase))
    for phrase in _OFFICIAL_ENTAILS:
        if phrase in lowered:
            return Parsed(1, output, "labelled", "phrase-entail", _span(output, lowered, phrase))
    for phrase in _OFFICIAL_CONTRADICTS:
        if phrase in lowered:
            return Parsed(0, output, "labelled", "phrase-contradict", _span(output, lowered, phrase))
    return Parsed(None, output, "unlabelled", "none")


def _span(text: str, lowered: str, word: str, offset: int = 0) -> tuple[int, int] | None:
    """Where `word` stands in the output; None if lower-casing moved the characters (the capital I with a dot does)."""
    at = lowered.find(word) if word and len(lowered) == len(text) else -1
    return None if at < 0 else (offset + at, offset + at + len(word))


def _official_cleaning(explanation: str) -> str:
    for end in (".", ":", "\n"):
        explanation = explanation.replace(f"Contradiction{end}", "").replace(f"Entailment{end}", "").strip()
    head, found, _ = explanation.rpartition("Therefore,")
    return head.strip() if found else explanation


# Applied one after the other, each as often as it occurs; case matters.
_GRAPH_PHRASES = (
    ("and the scene graph's description", ""),
    ("and the scene graph both support", "supports"),
    ("and the scene graph together support", "supports"),
    ("and the scene graph", ""),
    ("or the scene graph", ""),
    ("n the scene graph", "n the image"),
    ("the scene graph shows", "the image shows"),
    ("the scene graph describes", "the image shows"),
    ("the scene graph indicates", "the image displays"),
    ("the scene graph states", "the image displays"),
    ("the scene graph explicitly states", "the image displays"),
    ("scene graph", "image"),
    ("  ", " "),
)
_MOST_NODE_NAMES: Final = 200
"""Different words with underscores that are rewritten; 256 new tokens cannot hold so many. Keeps the cost linear."""


def rewrite_scene_graph_talk(explanation: str) -> str:
    """Rewrite an explanation of a scene-graph run so that it speaks of the image (rule 5 of the published rules).

    Phrases around "scene graph" come to speak of the image; then, in words with an underscore (names of graph nodes)
    and without "emoji", underscores become blanks and double quotes go, wherever the word's letters stand in the
    text. A text that does not mention a scene graph, in any case, stays as it is, underscores included. Labels are
    not touched.

    Args:
        explanation: any text.

    Source: V-FLUTE's released `eval/extract_label_and_expl.py` (asaakyan/V-FLUTE at 053cba8).
    """
    if "scene graph" not in explanation.lower():
        return explanation
    for phrase, replacement in _GRAPH_PHRASES:
        explanation = explanation.replace(phrase, replacement)
    explanation = explanation.strip()
    node_names = dict.fromkeys(word for word in explanation.split() if "_" in word and "emoji" not in word)
    for word in islice(node_names, _MOST_NODE_NAMES):
        explanation = explanation.replace(word, word.replace("_", " ").replace('"', ""))
    return explanation


# ---------------------------------------------------------------------------------------------------------------------
# The careful reader
#
# Every word that may be a label ("entails", "contradiction", "neutral" ...) is a *mention*. Each mention is judged by
# a bounded stretch of text before and behind it, so the cost is linear whatever the output looks like, and no pattern
# below has an unbounded repetition in front of something that may fail to match.
# ---------------------------------------------------------------------------------------------------------------------

_READ: Final = 1 << 15
"""Characters read from each end of an output that is longer than twice that (some 8,000 tokens; answers of the task
have at most a few hundred). An answer stands at one of the ends, and a runaway repetition in between says nothing."""

_LOOK: Final = 160
"""Characters looked at before and behind a mention."""

_NEAR: Final = 48
"""Of these, the characters that may belong to an enumeration of the options."""

_INDENT: Final = 24
"""Characters of white space, bullets and brackets that may precede a label word which stands alone."""

_PLAIN = {ord(c): ord(" ") for c in "*`#~_\u00a0\u2007\u202f\u200b\ufeff"}
_PLAIN |= {ord(c): ord("'") for c in "\u2018\u2019\u02bc"}
_PLAIN |= {ord(c): ord('"') for c in "\u201c\u201d\u00ab\u00bb"}
_PLAIN |= {ord("\uff1a"): ord(":"), ord("\u2192"): ord(":"), ord("\u2014"): ord("-"), ord("\u2013"): ord("-")}
_PLAIN |= {ord("\u0130"): ord("I"), ord("\r"): ord("\n")}

_MENTION = re.compile(
    r"\b(?:(?P<one>(?:non-?)?entail(?P<one_form>ment|ments|s|ed|ing)?)"
    r"|(?P<zero>(?:non-?)?contradict(?P<zero_form>ion|ions|s|ed|ing|ory|s|ive)?)"
    r"|(?P<neither>neither|neutral|undetermined|indeterminate|inconclusive|undecided|uncertain|unclear|unknown"
    r"|unrelated|none|n/a|cannot be (?:determined|decided)|not (?:enough|sufficient) information"
    r"|insufficient(?: information)?))\b"
)
_BOUNDARY = re.compile(r"""[\n?!;]|\.(?=["')\]\s]|\Z)""")

_KEYS = (
    r"(?:label|answer|verdict|classification|prediction|judge?ment|decision|conclusion|relation|relationship|category"
    r"|determination|assessment|output|result|response|boxed"
    r"|(?:entailment|contradiction)[ ]?(?:/|\||or)[ ]?(?:entailment|contradiction))"
)
_FILLER = (
    r"(?:(?:an?|the|one|of|clear|clearly|direct|directly|strong|strongly|simple|simply|logical|obvious|obviously"
    r"|apparent|definite|definitely|most|more|likely|probably|best|therefore|thus|then|hence|so|indeed|being|as|in"
    r"|still|also|just|rather|instead|actually|case|label|option|class|category|type|relation|relationship"
    r"|not (?:an? )?(?:entailment|contradiction),? but)[\"',:]{0,2}[ \n]{1,3}[\"'(\[{<]{0,2}){0,6}"
)
_VISUAL = (
    r"(?:(?:the|this|that|it|image|picture|photo|cartoon|meme|claim|caption|statement|is|are|does|by|both)[ ]){0,6}"
)
_OPTION = r"(?:\(?[a-d1-4][).:][ ]{1,3})?"
_MARKED = re.compile(
    rf"\b{_KEYS}[\"'\s)\]]{{0,6}}(?:[:=>{{-])[\s:=>\"'({{\[<-]{{0,12}}(?:\\text[{{])?{_OPTION}{_FILLER}{_VISUAL}\Z"
)
_NAMED = re.compile(
    r"(?:\b(?:label\w{0,4}|answer|verdict|classif\w{0,8}|categori\w{0,5}|prediction|judge?ment|decision|conclu\w{0,5}"
    r"|relation|relationship|determination|select\w{0,3}|choos\w{0,3}|choice|chose|pick|(?:opt(?:ed)?|going|go) (?:for"
    r"|with))\b"
    r"(?:[^.?!\n]{0,80}[ ](?:is|are|be|was|as|under|for|with|of|to|towards?|it|this|that|them|claim|pair|label"
    r"|answer))?"
    # Words that say as much of other things ("describes the contradiction") need an "as" or the like.
    r"|\b(?:mark(?:ed)?|identif\w{0,7}|designat\w{0,4}|consider\w{0,4}|deem\w{0,3}|regard\w{0,4}|judg\w{0,3}"
    r"|assign\w{0,4}|tagg?(?:ed)?|characteri\w{0,5}|describ\w{0,3}|interpret\w{0,3})\b"
    r"[^.?!\n]{0,80}[ ](?:as|under|be|label|(?:it|this) an?))"
    rf"[ :\"'(\[]{{1,4}}{_FILLER}\Z"
)
_COPULA = re.compile(
    r"(?:\b(?:this|that|it|which|they|these|relationship|relation|claim|caption|statement|pair|image|answer)"
    r"(?:'s|[ ](?:is|are|was|be|would be|represents?|constitutes?|becomes?|remains?|seems? to be|appears? to be"
    r"|indicates?|suggests?|shows?|means?|makes? (?:this|it)|leads? to|points? to|results? in))[ ]"
    r"|\b(?:making (?:this|it)|resulting in|leading to|indicating|suggesting|pointing to|hence|thus|therefore"
    r"|so|yes|no|say|towards?|conclusion|finally|overall|ultimately|case of|relation of|relationship of)\b[, :]{1,3})"
    rf"[\"'(\[]{{0,2}}{_FILLER}\Z"
)
# What makes the sentence speak of the task and not of, say, a smile that contradicts somebody's words.
_CLAIM = re.compile(r"\b(?:claim|caption|statement|assertion|hypothesis|premise|sentence|text|phrase|label)")
_TASK = re.compile(
    r"\b(?:claim|caption|statement|assertion|hypothesis|premise|sentence|text|phrase|label|idea|notion|suggestion"
    r"|description|message|quote|image|picture|photo|cartoon|meme|illustration|visual|scene|depict|portray|drawing)"
)
_PRONOUN_OBJECT = re.compile(r"\A[ ](?:it|this|that|them|each other|one another|what)\b|\A[ ]{0,2}(?:[.,;!\n]|\Z)")

# Names of the two sides, for telling an echo of the options ("supports or contradicts") from a statement.
_SIDES: Final = {
    1: r"(?:entail|support|confirm|affirm|validat|agree)",
    0: r"(?:contradict|refut|disput|disprov|oppos|den[iy])",
}
_OR: Final = r"(?:\bor\b|/|\||\bvs\.?|\bversus\b|\bnor\b)"
_SMALL: Final = r"(?:(?:an?|it|they|the|does|do|is|not|with|rather)[ ]){0,3}"
_ECHO_AFTER: Final = {
    label: re.compile(
        rf"\A[\"')\]}}\s]{{0,4}}{_OR}[ ]{{0,3}}[\"'(\[{{]{{0,2}}{_SMALL}(?:{_SIDES[1 - label]}|neutral|neither)"
    )
    for label in (0, 1)
}
_ECHO_BEFORE: Final = {
    label: re.compile(rf"{_SIDES[1 - label]}\w{{0,6}}[\"')\]}}\s]{{0,4}}{_OR}[ ]{{0,3}}[\"'(\[{{]{{0,2}}{_SMALL}\Z")
    for label in (0, 1)
}
_PAIR_AFTER = re.compile(r"\A[\"')\]]{0,2}(?:,| and|, and)[ ]{1,2}[\"'(\[]{0,2}(?:an? )?(?:entailment|contradiction)\b")
_PAIR_BEFORE = re.compile(r"(?:entailment|contradiction)[\"')\]]{0,2}(?:,| and|, and)[ ]{1,2}[\"'(\[]{0,2}(?:an? )?\Z")

_CLAUSE = re.compile(
    r"[,:(]|-[ ]|\b(?:and|but|so|therefore|thus|hence|which|because|since|while|whereas|however|although|though|yet)\b"
    r"|\binstead\b(?! of)|\brather\b(?! than)"
)
_STRONG_CLAUSE = re.compile(r"[:(]|\b(?:but|so|therefore|thus|hence|which|because|while|whereas|however|yet)\b")
_NEGATION = re.compile(
    r"\b(?:not\b(?! (?:only|just|merely|simply)\b)|\w{1,7}n't\b|cannot\b|never\b|no\b(?! doubt\b)|nothing\b|none\b"
    r"|neither\b|nor\b|without\b(?! (?:a )?doubt\b)|hardly\b|barely\b|scarcely\b|fail\w{0,3} to\b|failure to\b"
    r"|unable to\b|rather than\b|instead of\b|far from\b|absence of\b|lack\w{0,3}\b|free of\b|avoids?\b|unlikely\b"
    r"|disagree\b|(?:incorrect|wrong|inaccurate|untrue|a mistake) to\b)"
)
_REJECTED = re.compile(
    r"""\A["')\]]{0,2}[ ](?:label[ ])?(?:(?:is|was|seems|would be)[ ](?:incorrect|wrong|inaccurate|mistaken|not\b)"""
    r"|(?:does not|doesn't|did not|didn't|cannot|can't)[ ](?:fit|apply|hold|work))"
)
_HEDGE = re.compile(r"\b(?:may|might|could|possibly|perhaps|maybe|whether|either|unclear|unsure|uncertain|between)\b")
_CONDITION = re.compile(r"\b(?:if\b(?<!\bas if)(?<!\beven if)|unless\b|whether\b|choose between\b|decide between\b)")
_RETRACTION = re.compile(
    r"\b(?:wait|correction|on second thought|scratch that|take that back|let me (?:correct|reconsider|revise)"
    r"|i made (?:a mistake|an error))\b"
)
_REFUSAL = re.compile(
    r"\bneither (?:(?:clearly|directly|fully|explicitly|necessarily|strictly)[ ])?(?:entail|contradict|support|confirm"
    r"|label|of (?:the|these))"
    r"|\b(?:not|n't|nor) (?:(?:clearly|directly|fully|explicitly|necessarily|definitively)[ ])?"
    r"(?:support|confirm|entail|validate|affirm|prove)\w{0,3}[ ](?:or|nor)[ ](?:contradict|refute|deny|disprove)"
    r"|\b(?:cannot|can't|can not|couldn't|unable to|(?:not|n't) possible to|impossible to|(?:difficult|hard) to)"
    r"[ ](?:be[ ])?(?:definitively|clearly|reliably|confidently|fully|directly|accurately)?[ ]?(?:be[ ])?"
    r"(?:determin|label|say|conclud|decid|assess|judg|classif|tell|see|view|assist|help|provide|access|analy|evaluat)"
    r"|\b(?:insufficient|not enough|not sufficient|isn't enough|no) (?:visual |clear )?(?:information|evidence|context)"
    r"|\b(?:unclear|uncertain|ambiguous) (?:whether|if)\b|\bi(?:'m| am) sorry\b|\bis neutral\b"
)

# Not "supports the statement that the claim is false", nor "supports the claim's opposite".
_OBJECT = (
    r"[^.?!\n]{0,24}?\b(?:claim|caption|statement|assertion|hypothesis)\b"
    r"(?![^.?!\n]{0,60}\b(?:false|untrue|incorrect|wrong|opposite|negation)\b)"
)
_FOR = re.compile(
    r"\b(?:(?:supports?|confirms?|affirms?|validates?|corroborates?|endorses?|supporting|confirming|affirming"
    r"|validating|corroborating|endorsing)|(?:aligns?|aligned|agrees?|consistent|compatible) with"
    r"|in (?:harmony|agreement|line) with|supportive of)(?:[ ]it\b|" + _OBJECT + ")"
)
_AGAINST = re.compile(
    r"\b(?:(?:refutes?|disproves?|negates?|disputes?|opposes?|counters?|contests?|challenges?|denies|deny|refuting"
    r"|disproving|negating|disputing|opposing|countering|contesting|challenging|denying)"
    r"|(?:disagrees?|conflicts?|inconsistent|incompatible|at odds|in conflict) with|contrary to|adverse to)"
    r"(?:[ ]it\b|" + _OBJECT + ")"
)
_HEADING = re.compile(
    r"\A[\s*_#>]{0,8}(?:explanation|reasoning|rationale|justification|reason|analysis)[*_]{0,3}:", re.I
)
_BARE_BEFORE = re.compile(r"""\A[\s"'(\[{<>.-]{0,12}(?:\(?[a-d1-4][).:][ ]{1,3})?["'(\[{]{0,2}\Z""")
_BARE_AFTER = re.compile(r"""\A[ \t"')\]}>]{0,8}(?:[.:,;!\n-]|\Z)(?![ ]{0,3}(?:no|false|none|not)\b)""")
_ENDS_LINE = re.compile(r"""\A[ \t"')\]}>.!]{0,8}(?:\n|\Z)""")
_NOTHING_MORE = re.compile(r"""\A[\s"')\]}>.!/<a-z]{0,12}\Z""")


@dataclass(frozen=True)
class _Mention:
    label: Label | None  # None: a word that declines to choose
    start: int
    end: int
    from_: int  # start of the words that declare it, for cutting the explanation
    in_prose: bool = False  # declared by a sentence, not by a marker or by standing alone


def parse_strict(output: str | None) -> Parsed:
    """Label and explanation as a careful reader takes them; never a guess.

    The first of these that is found decides:

    - ``json``: a JSON object with a key such as "label" or "answer", unless a marker follows it.
    - ``marker``: a declared label, ``LABEL: entailment``, ``**Answer:** Contradiction``, "the label is ...",
      "I would classify this as ...". The last one wins, also one that declines ("Label: neither" gives none).
    - ``bare``: the label word alone as a line, heading, or closing sentence. If they differ, the closing one wins.
    - ``declaration``: "this is a contradiction", "therefore, entailment". The last one wins.
    - ``statement``: "the image entails the claim", "contradicts it", about the task and not about something else.
    - ``stance``: the words in which the task's instructions ask: "supports / refutes the claim", "is consistent with
      the caption" (V-FLUTE, Table 8).

    Negated mentions declare nothing: "does not entail" is no contradiction, "does not contradict" no entailment.
    Conditions, questions, hedges (may, might, could, whether) and the echo of the options declare nothing either.
    Statements for both sides give no label. Text up to a closing ``</think>`` is not part of the answer.

    The explanation is what precedes the words that decided; if that is blank, what follows them (``Explanation:``
    headings removed); for statements it is the whole answer. It may be empty.

    Args:
        output: the model's output; None if there is none. Of one longer than 65,536 characters only the first and
            last 32,768 are searched for a label; the explanation is cut from the whole.

    Returns:
        `Parsed` with rule one of those above, or ``missing``, ``empty``, ``refusal``, ``conflict``, ``negated``
        (nothing but negated, hedged or asked mentions), ``echo`` (nothing but the options), ``none``.

    Raises:
        TypeError: `output` is neither str nor None. Never raises on any str.
    """
    _require_text(output)
    if output is None:
        return Parsed(None, None, "missing", "missing")
    closing = output.rfind("</think>")
    base = closing + len("</think>") if closing >= 0 and output[closing + len("</think>") :].strip() else 0
    if not output[base:].strip():
        return Parsed(None, "", "empty", "empty")
    return _Reader(output, base).read()


class _Reader:
    """Reads one answer: ``output[base:]``."""

    def __init__(self, output: str, base: int) -> None:
        self.output = output
        self.base = base
        size = len(output) - base
        self.skipped = max(0, size - 2 * _READ)
        read = output[base : base + _READ] + output[-_READ:] if self.skipped else output[base:]
        self.raw = read
        # Same length as what was read: each character is replaced by one. The capital I with a dot, the only one whose
        # lower case has two, is a plain I by then.
        self.text = read.translate(_PLAIN).lower()
        self.boundaries = [m.start() for m in _BOUNDARY.finditer(self.text)]

    def place(self, at: int) -> int:
        """Index into the output of an index into what was read."""
        return self.base + at + (self.skipped if self.skipped and at >= _READ else 0)

    def _at_the_gap(self, at: int) -> bool:
        """Whether the surroundings of a mention are torn, because the middle of a long output was left out."""
        return self.skipped > 0 and abs(at - _READ) <= _LOOK

    def read(self) -> Parsed:
        in_json = self._json()
        marked: list[_Mention] = []
        bare: list[_Mention] = []
        declared: list[_Mention] = []
        stated: list[_Mention] = []
        echoed = negated = False
        for m in _MENTION.finditer(self.text):
            start, end = m.span()
            if self._at_the_gap(start):
                continue
            sentence, stop = self._sentence(start, end)
            before = self.text[max(sentence, start - _LOOK) : start]
            after = self.text[end : min(stop, end + _LOOK)]
            label: Label | None = 1 if m["one"] else 0 if m["zero"] else None
            asked = stop < len(self.text) and self.text[stop] == "?"
            behind = self.text[end : end + _LOOK]
            back = self.text[max(0, start - _LOOK) : start]
            if label is None:
                # A word that declines counts only where a label would stand.
                mark = _MARKED.search(back)
                if (mark is not None or _NAMED.search(before)) and not asked:
                    from_ = sentence if mark is None else start - len(back) + mark.start()
                    marked.append(_Mention(None, start, end, from_, in_prose=mark is None))
                continue
            form = m["one_form"] or m["zero_form"]
            noun = form in ("ment", "ion")
            near, next_to = before[-_NEAR:], behind[:_NEAR]
            if m[0].startswith("non") or _REJECTED.search(next_to):
                negated = True
                continue
            if any(p.search(next_to) for p in (_ECHO_AFTER[label], _PAIR_AFTER)) or any(
                p.search(near) for p in (_ECHO_BEFORE[label], _PAIR_BEFORE)
            ):
                echoed = True
                continue
            mark = _MARKED.search(back)
            if mark is not None and not asked:
                marked.append(_Mention(label, start, end, start - len(back) + mark.start()))
                continue
            if asked or self._qualified(before, finite=form is not None):
                negated = True
                continue
            mention = _Mention(label, start, end, sentence, in_prose=True)
            if form not in (None, "s") and _NAMED.search(before):
                marked.append(mention)
            elif noun and self._is_bare(before, start, end):
                bare.append(_Mention(label, start, end, sentence))
            elif noun and not before.endswith("in ") and _COPULA.search(before):
                (marked if marked and _RETRACTION.search(before) else declared).append(mention)
            elif self._about_the_task(before, after, noun):
                stated.append(mention)
        if in_json is not None and (
            not marked or in_json.span is None or self.place(marked[-1].start) < in_json.span[1]
        ):
            return in_json
        if marked:
            return self._declared("marker", marked[-1])
        if bare:
            if len({b.label for b in bare}) == 1 or _NOTHING_MORE.search(self.text[bare[-1].end :][:40]):
                return self._declared("bare", bare[-1])
            return self._undecided("ambiguous", "conflict")
        if declared:
            return self._declared("declaration", declared[-1])
        return self._without_declaration(stated, echoed, negated)

    def _without_declaration(self, stated: list[_Mention], echoed: bool, negated: bool) -> Parsed:
        if _REFUSAL.search(self.text):
            return self._undecided("refused", "refusal")
        rule = "statement"
        if not stated and not echoed:
            rule = "stance"
            stances: tuple[tuple[Label, re.Pattern[str]], ...] = ((1, _FOR), (0, _AGAINST))
            for label, pattern in stances:
                for m in pattern.finditer(self.text):
                    if self._at_the_gap(m.start()):
                        continue
                    sentence, stop = self._sentence(*m.span())
                    before = self.text[max(sentence, m.start() - _LOOK) : m.start()]
                    asked = stop < len(self.text) and self.text[stop] == "?"
                    if asked or self._qualified(before, finite=True):
                        negated = True
                    else:
                        stated.append(_Mention(label, m.start(), m.end(), sentence))
        if len({s.label for s in stated}) > 1:
            return self._undecided("ambiguous", "conflict")
        if stated:
            last = stated[-1]
            span = (self.place(last.start), self.place(last.end - 1) + 1)
            return Parsed(last.label, self.output[self.base :].strip(), "labelled", rule, span)
        if echoed:
            return self._undecided("ambiguous", "echo")
        return self._undecided("unlabelled", "negated" if negated else "none")

    def _sentence(self, start: int, end: int) -> tuple[int, int]:
        """Start of the sentence that holds a stretch of text, and index of the sign that ends it."""
        i = bisect_left(self.boundaries, start)
        j = bisect_left(self.boundaries, end)
        first = self.boundaries[i - 1] + 1 if i else 0
        return first, self.boundaries[j] if j < len(self.boundaries) else len(self.text)

    @staticmethod
    def _qualified(before: str, finite: bool) -> bool:
        """Whether the words before a mention, in its sentence, negate, hedge or condition it."""
        if _CONDITION.search(before):
            return True
        cut = 0
        for m in _CLAUSE.finditer(before):
            cut = m.end()
        clause = before[cut:]
        if _NEGATION.search(clause) or _HEDGE.search(clause):
            return True
        if finite:
            return False
        # A bare infinitive may still hang on a "not" before the comma: "does not, in any way, contradict".
        cut = 0
        for m in _STRONG_CLAUSE.finditer(before):
            cut = m.end()
        return _NEGATION.search(before[cut:]) is not None

    def _is_bare(self, before: str, start: int, end: int) -> bool:
        """Whether a label word stands alone: as a heading or first word of a line, or as a sentence that ends one."""
        if not _BARE_BEFORE.search(before):
            return False
        behind = self.text[end : end + _LOOK]
        line = self.text.rfind("\n", max(0, start - _INDENT), start) + 1
        opens_line = (line > 0 or start <= _INDENT) and _BARE_BEFORE.search(self.text[line:start]) is not None
        return (_BARE_AFTER if opens_line else _ENDS_LINE).search(behind) is not None

    @staticmethod
    def _about_the_task(before: str, after: str, noun: bool) -> bool:
        if noun:
            return _CLAIM.search(before) is not None or _CLAIM.search(after) is not None
        clause = _CLAUSE.search(after)
        if clause is not None:  # "a shark entails danger while the image is calm"
            after = after[: clause.start()]
        return (
            _TASK.search(before) is not None
            or _TASK.search(after) is not None
            or _PRONOUN_OBJECT.search(after) is not None
        )

    def _json(self) -> Parsed | None:
        first, last = self.raw.find("{"), self.raw.rfind("}")
        if self.skipped or not 0 <= first < last:
            return None
        try:
            found = json.loads(self.raw[first : last + 1])
        except (ValueError, RecursionError):
            return None
        if not isinstance(found, dict):
            return None
        fields = {k.lower().strip(): v for k, v in found.items() if isinstance(v, str)}
        for key in ("label", "answer", "verdict", "classification", "prediction", "relationship", "relation"):
            value = fields.get(key, "").lower().strip(" .*_\"'\n")
            label: Label | None = (
                1
                if value in ("entailment", "entails", "entailed", "entail")
                else 0
                if value in ("contradiction", "contradicts", "contradicted", "contradict", "contradictory")
                else None
            )
            if label is None:
                continue
            explanation = self.output[self.base : self.place(first)].strip(" `\n").removesuffix("```json").strip()
            for name in ("explanation", "reasoning", "rationale", "justification", "reason", "analysis"):
                if name in fields:
                    explanation = fields[name].strip()
                    break
            return Parsed(label, explanation, "labelled", "json", (self.place(first), self.place(last) + 1))
        return None

    def _declared(self, rule: str, mention: _Mention) -> Parsed:
        span = (self.place(mention.start), self.place(mention.end - 1) + 1)
        before = self.output[self.base : self.place(mention.from_)].rstrip("*_#`~>([{-\"' \t\r\n")
        rest = self.output[span[1] :]
        after = rest.lstrip(".,:;*_`~)]}\"'- \t\r\n")
        heading = _HEADING.search(after)
        if heading is not None:
            explanation = after[heading.end() :].lstrip("*_ \t\r\n")
        elif re.search(r"\w", before):
            heading = _HEADING.search(before)
            explanation = before[heading.end() :].lstrip("*_ \t\r\n") if heading else before.lstrip("*_#`~> \t\r\n")
        elif mention.in_prose and re.match(r"""["')\]*_]{0,4} \w""", rest):
            # The sentence goes on behind the label; without its beginning the rest would be a torn clause.
            explanation = self.output[self.base :]
        else:
            explanation = after
        status: Status = "refused" if mention.label is None else "labelled"
        return Parsed(mention.label, explanation.strip(), status, rule, span)

    def _undecided(self, status: Status, rule: str) -> Parsed:
        return Parsed(None, self.output[self.base :].strip(), status, rule)
