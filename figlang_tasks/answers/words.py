"""The words by which every reader tells what is announced, denied, compared, left open or corrected."""

from __future__ import annotations

import re
from typing import Final

CJK: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
"""Signs of Chinese, Japanese and Korean for a class of an expression: Python takes them for letters of one word."""

AFTER_NO_WORD: Final = rf"(?<![^\W{CJK}])"
BEFORE_NO_WORD: Final = rf"(?![^\W{CJK}])"

REFUSAL: Final = re.compile(
    r"\b(?:sorry|unable|not sure|maybe|please provide|not possible|impossible)\b"
    r"|\bi (?:cannot|can't|do not) (?!(?:see|find) an?y?\b)|\bcannot (?:be )?determine",
    re.I,
)
NONE_OF: Final = re.compile(r"\bnone of the\b", re.I)
ANNOUNCED_NONE: Final = re.compile(
    r"\b(?:answer|option|choice)\b[^.?!\n]{0,40}?(?:\b(?:is|be)\b|:)\W{0,3}"
    r"(?:not (?:in|among|listed|available|given|provided)|none\b|n/a\b|unknown\b|unclear\b)",
    re.I,
)
"""An announcement that no option is the answer: "the correct option is not among the choices"."""

NEUTRAL: Final = re.compile(r"\A\W*neutral\b", re.I)
CORRECTION: Final = re.compile(
    r"\b(?:wait|actually|correction|correct this|overlooked|second thought|final answer)\b", re.I
)

# --- what announces an answer ---

_NAME_OF_ANSWER = (
    r"(?:answer|choice|letter|prediction|label|classification|response|conclusion|verdict|decision|solution"
    r"|selection|pick|(?:best|closest|selected|chosen|correct) (?:image|picture|option|one|caption|statement|match|fit)"
    r"|ans|result|output|guess"
    r"|resposta|(?:op[cç][aã]o|alternativa|opci[oó]n|imagem|imagen) corre(?:ta|cta)"
    r"|respuesta|risposta|r[ée]ponse|antwort|l[öo]sung"
    r"|jawaban|ответ|الإجابة|उत्तर)"
)
_IS = r"(?:\b(?:is|are|be|was|é|es|è|est|ist)\b|[:=\n-])"
_IN_CHINESE = (
    r"(?:答案|选项|结论|正确|应选|所以|因此)[^。.\n]{0,12}?(?:(?<!不)是|为|為|(?<!不)选|選|:)"
    r"|(?:答案】?|选择|应选|故选|(?<!不)选|正确)"
)
_IN_JAPANESE_OR_KOREAN = r"(?:(?:正解|答え|回答)(?:は|:)|(?:정답|답)(?:은|는|:))"
_I_SAY = r"\bi(?:'d| would) (?:say|answer)\b"
# Words between the announcement and the answer: "the answer is most likely (B)".
_BETWEEN = (
    r"(?:[\s:\"'(\[>\\\-]|\b(?:an?|the|therefore|thus|most likely|likely|option|choice|letter|one labell?ed"
    r"|labell?ed|la|letra"
    r"|(?:candidate|caption|statement)(?= \d)|(?!hardly)\w+ly)\b)*"
)
ANNOUNCED: Final = re.compile(
    rf"(?:\b{_NAME_OF_ANSWER}\b[^.?!\n]{{0,60}}?{_IS}|\bans\.|{_IN_CHINESE}|{_IN_JAPANESE_OR_KOREAN}"
    rf"|{_I_SAY}){_BETWEEN}\Z",
    re.I,
)
"""Text before a word that announces it as the answer: "The correct answer is", "Label:", "I would say"."""

# --- what a sentence says of a word in it ---

_CLAUSE = re.compile(r"[,:;(]|\b(?:but|so(?! far)|because|and|as)\b", re.I)
_UNSAID = re.compile(
    r"\b(?:not(?! (?:only|just))|no(?! (?:doubt|wait))|non|never|neither|cannot|nothing|lacks?|without"
    r"|fails? to|than(?! one)|unrelated|worst|incorrect|is wrong)\b|n't\b",
    re.I,
)
_REJECTED = re.compile(r"\bliteral\b", re.I)
_HEDGED = re.compile(r"\b(?:may|might|could|whether|if|so far)\b", re.I)


def is_said(before: str, behind: str = "") -> bool | None:
    """Whether a sentence says what a word in it names: False if it denies it, None if it leaves it open.

    Args:
        before: the sentence up to the word; its last clause counts.
        behind: the sentence behind it; its first clause counts.
    """
    before = before.rstrip(" :,;\"'([")
    last_clause_start = 0
    for clause_end in _CLAUSE.finditer(before):
        last_clause_start = clause_end.end()
    clause_before = before[last_clause_start:]
    clause_behind = _CLAUSE.split(behind.partition(" that ")[0], maxsplit=1)[0]

    if _HEDGED.search(clause_before) or _HEDGED.search(clause_behind):
        return None
    is_denied = _UNSAID.search(clause_before) or _UNSAID.search(clause_behind) or _REJECTED.search(clause_behind)
    return not is_denied
