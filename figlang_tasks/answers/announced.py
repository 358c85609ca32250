"""Which option an answer announces: by its name, in a box of LaTeX, or by its text.

Words before an option announce it ("The answer is B", "I choose B") or say that it is the best
("The best one is B"), which is weaker; so do words after it ("B is the answer", "B is the best").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from figlang_tasks.answers.choices import Mention
from figlang_tasks.answers.option_analysis import (
    ENDS_A_HEAD,
    HEDGED,
    WORD,
    MentionGroup,
    OptionAnalysis,
    is_denied_after,
)
from figlang_tasks.answers.option_boxes import option_boxes
from figlang_tasks.answers.text import BLANK_LINE
from figlang_tasks.answers.verdict import Evidence, Read
from figlang_tasks.answers.words import ANNOUNCED, ANNOUNCED_NONE, CORRECTION, IN_LOOPS

# --- by its name ---

_CHOOSE = (
    r"(?:i(?:'d| would|'ll| will)? (?:\w+ly )?(?:choose|chose|pick|select|go with|say|opt for|vote"
    r" for|go for|settle on"
    r"|guess|think|believe|answer|prefer|lean(?:ing)? towards?)"
    # "Most people choose A" and "you might go with A" are no choices of the answer.
    r"|(?<!people )(?<!many )(?<!others )(?<!some )(?<!people would )(?<!many would )(?<!others"
    r" would )(?<!some would )"
    r"(?<!might )(?<!could )"
    r"(?:choose|pick|select|going (?:with|for)|go (?:with|for)|lean(?:ing)? towards?))"
)
_IT_IS = (
    r"(?:(?:it )?looks like|in my opinion is|it (?:has to|must|can only|should|would) be|it(?:'s|"
    r" is))"
    r"(?: \w+ly)?"
)
_BEST_IS = (
    r"(?:best|funniest|wittiest|closest|strongest|correct|most|metaphor"
    r"|(?:image|picture|option|statement|caption|one)\s(?:that|which|whose))\b[^.?!\n]{0,100}?\b(?:is|are|be)"
    r"|\bbest\s\w{3,12}(?:ed|n)\s(?:by|in)"
)
_HEADING = (
    r"\b(?:correct|right|final|best)\s?:"
    r"|(?:\A|(?<=[.\n]))\W*(?:image|picture|option|number|statement|caption)\s?:"
)
# Between an announcement and the name: "that the second option ("
_BEFORE_A_NAME = (
    r"(?:[\s:\"'(\[]|\b(?:that|the|option|only|one|labell?ed|therefore"
    r"|first|second|third|fourth|fifth|last)\b){0,8}"
)
# "I would choose option ", "It looks like ", "by elimination, ", "most likely ", "Final: "
_CHOSEN = re.compile(
    rf"(?:\b(?:{_CHOOSE}|{_IT_IS})\b|\b(?:actually|wait|by elimination),|\bmost"
    rf" likely|{_HEADING}){_BEFORE_A_NAME}\Z",
    re.I,
)
_SAID_TO_BE_BEST = re.compile(rf"\b(?:{_BEST_IS})\b{_BEFORE_A_NAME}\Z", re.I)
# "Therefore, ", "Thus the best match is " at the head of a line or sentence
_CONCLUDES = re.compile(
    r"(?:\A|(?<=[.\n]))\W*(?:therefore|thus|hence|so|consequently|in"
    r" conclusion|ultimately)\b[,:]?\s?"
    r"(?:[^.?!\n,]{0,40}\b(?:is|be|are)\b\s?|i would say\s|the\s)?\W{0,3}\Z",
    re.I,
)
_NOT_THIS_BUT = re.compile(r"\bnot\s[^.;\n]{1,100}\bbut\s(?:rather\s)?\W{0,3}\Z", re.I)
_ONLY_THIS = re.compile(r"\bonly\s(?:\w+\s)?\Z|只有\Z", re.I)
_SURELY = re.compile(
    r"(?:\A|(?<=[.!\n]))\W*(?:clearly|definitely|obviously|certainly|probably|surely)\b[,\s]{0,2}\W{0,3}\Z",
    re.I,
)
# What makes no announcement of the words before a name:
_NO_ANNOUNCEMENT = re.compile(
    # "I would not choose "
    r"\b(?:not|never|cannot|can't|couldn't|won't|wouldn't|don't|unable to)\s(?:\w+\s){0,2}"
    r"(?:choose|pick|select|go with|say|opt for|believe|think|be|answer)\b[^.,;\n]{0,40}\Z"
    # "The worst choice is "
    r"|\b(?:worst|wrong|incorrect|least \w+|poor|second[- ]best|other|tempting)\s(?:\w+\s)?"
    r"(?:answer|choice|option|image|one|picture)\b[^.,;\n]{0,40}\Z"
    # "It would be a mistake to choose ", "The most literal one is "
    r"|\b(?:mistake|error|second (?:choice|guess))\b[^.,;\n]{0,60}\Z"
    r"|\b(?:second|next|most|best) (?:best|literal)\b[^.,;\n]{0,60}\Z"
    # "Some people choose "
    r"|\b(?:doubt|unlikely|nobody|no one|people|friend|others|some say|literal)\b[^.;\n]{0,40}\Z"
    # "not" in other languages
    r"|\b(?:não|no es|nicht|n'est pas)\s[^.,;\n]{0,20}\Z|不是\W?\Z"
    # "The picture that does not fit is "
    r"|\b(?:that|which|who)\s(?:(?:does|do|did|is|are|was|would)(?:n't|\snot)|cannot|fails)\b[^.,;\n]{0,60}\Z"
    # "If it were a joke, the answer would be ", "If it is a joke the answer is "
    r"|\bif\b(?!\si\b)[^;.\n]{0,60}\b(?:were|had)\b[^;.\n]{0,60}\bwould\b[^,;.\n]{0,40}\Z"
    r"|\b(?:if(?!\si\s(?:had to|must|have"
    r" to)\b)|unless|whether|suppose|assuming)\b[^,;.\n]{0,100}\Z",
    re.I,
)
# After a name, before "the answer" or "the best": ") is clearly the "
_IS = (
    r"""[)\]"'\s]{0,3}(?:\s?\([^()\n]{1,60}\)\s|"[^"\n]{1,60}"\s)?"""
    r"(?:(?:is|are|was|would be|must be)\s)?"
    r"(?:(?:the|clearly|likely|most likely|definitely|therefore|my|only)\s){0,3}"
)
_IS_THE_ANSWER = re.compile(rf"{_IS}(?:(?:correct|right|final|answer|choice)\b|是?正确)", re.I)
_IS_THE_BEST = re.compile(
    rf"{_IS}(?:best|funniest|closest|most (?:suitable|fitting|appropriate|accurate|likely)|one that"
    r" best)\b",
    re.I,
)
_MOST_CORRECTIONS = 3  # groups after an announcement that may correct it
# How text ends that leads on to the next line: "The answer is:\n\n"
_LEADS_ON = (":", "is", "be", "=")
_LEAD_LINE = re.compile(r"\b(?:is|be|that|towards?)\s?:\s*\Z", re.I)
# "This corresponds to ", "The caption corresponding to the boat is "
_CORRESPONDS = re.compile(
    r"\b(?:corresponds? to|which"
    r" is|correspond(?:ing|s)?\b[^.?!\n]{0,80}?\b(?:is|be))(?:[\s:\"'(\[]|\bthe\b){0,8}\Z",
    re.I,
)


def announced_option(analysis: OptionAnalysis) -> Read[int] | None:
    """The option that the last announcement or box names: "The answer is B"; None without one.

    Where nothing else is announced, "it corresponds to B" announces B. It is ambiguous if it names
    two options ("The answer is A or B"), or if the text says another one; refused if a later
    announcement says that none fits.
    """
    boxes = list(option_boxes(analysis))
    last = _last_announcement(analysis, boxes)
    if last is None:
        return None
    for announced_none in ANNOUNCED_NONE.finditer(analysis.text):
        if announced_none.start() > last[-1].end:
            return Read(None, "refused", "refusal")

    values = {evidence.value for evidence in last}
    if last[0] in boxes:  # Boxes are equal, wherever they stand: all must hold one option.
        values.update(box.value for box in boxes)
    # A box has no form; only value and place count below.
    mention = Mention(last[0].value, last[0].start, last[0].end, "bare")
    is_contradicted = (
        len(values) > 1
        or analysis.contradicts_its_text(mention)
        or _goes_on_as_list(analysis, mention)
        or _is_of_other_text(analysis, mention)
    )
    if is_contradicted:
        return Read(None, "ambiguous", "conflict")
    return _corrected(analysis, last) or Read(last[0].value, "read", "announced")


def _last_announcement(analysis: OptionAnalysis, boxes: list[Evidence]) -> list[Evidence] | None:
    """The evidence of the last announcement: one box, or each option of a group; None without one.

    Args:
        analysis: of the answer.
        boxes: the options in boxes, in their order.
    """
    announced_group = _last_group(analysis, _is_announced)
    if announced_group is None and not boxes:
        announced_group = _corresponding_group(analysis)

    announcements = [[box] for box in boxes[-1:]]
    if announced_group is not None:
        announcements.append(announced_group.evidence("announced"))
    return max(announcements, key=lambda announcement: announcement[0].start, default=None)


def _corrected(analysis: OptionAnalysis, announcement: list[Evidence]) -> Read[int] | None:
    """The option that a correction puts in place of the announced one; None without a correction.

    "Answer: A. Wait, no, B." is B; two different corrections are ambiguous.
    """
    end = announcement[-1].end
    groups = [group for group in analysis.groups if group.start > end and not group.is_echo]
    corrections = []
    for group in groups[:_MOST_CORRECTIONS]:
        if analysis.is_evidence(group) and CORRECTION.search(analysis.text, end, group.start):
            corrections += group.evidence("correction")
    if not corrections:
        return None
    if len({evidence.value for evidence in corrections}) > 1:
        return Read(None, "ambiguous", "conflict")
    return Read(corrections[0].value, "read", "correction")


def _is_of_other_text(analysis: OptionAnalysis, mention: Mention) -> bool:
    """Whether an answer states the text of another option before a letter, and never its own.

    "It says a dog. Answer: A", where "a dog" is the text of B.
    """
    if mention.value in {group.first.value for group in analysis.text_groups}:
        return False
    for group in analysis.text_groups:
        # A text without letters, such as "50", may stand anywhere.
        has_letters = _LETTERS.search(analysis.text, group.start, group.end) is not None
        if group.end <= mention.start and has_letters and _is_text_said(analysis, group):
            return True
    return False


def _last_group(
    analysis: OptionAnalysis, is_announced: Callable[[OptionAnalysis, MentionGroup], bool]
) -> MentionGroup | None:
    """The last group of mentions for which `is_announced` is true; None without one.

    An echo of the question ("A, B, C or D") does not count.
    """
    for group in reversed(analysis.groups):
        if not group.is_echo and is_announced(analysis, group):
            return group
    return None


def _is_announced(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether options are announced as the answer, without a denial or a condition.

    They are by the words before them ("The answer is B"), by those after them ("B is the answer"),
    or as the last paragraph.
    """
    around = analysis.around(group)
    if around.is_in_question or is_denied_after(around.sentence_after):
        return False
    if _is_last_paragraph(analysis, group):
        return True
    before = around.sentence_before
    if analysis.opens_line(group.first) and around.text_before.rstrip().endswith(_LEADS_ON):
        before = around.text_before  # "The answer is:\n\n(B)": the line before belongs to it.
        if _LEAD_LINE.search(before) and not _NO_ANNOUNCEMENT.search(before.rstrip(": \n")):
            return True
    if _is_no_announcement(before):
        return False
    if _announces(before):
        return True
    return analysis.is_evidence(group) and _IS_THE_ANSWER.match(around.sentence_after) is not None


@lru_cache(maxsize=IN_LOOPS)
def _is_no_announcement(before: str) -> bool:
    """Whether the text before an option denies that it is announced, or makes it conditional."""
    return _NO_ANNOUNCEMENT.search(before) is not None


@lru_cache(maxsize=IN_LOOPS)
def _announces(before: str) -> bool:
    """Whether the text before an option announces it as the answer."""
    return any(
        pattern.search(before) for pattern in (ANNOUNCED, _CHOSEN, _CONCLUDES, _NOT_THIS_BUT)
    )


def best_option(analysis: OptionAnalysis) -> Read[int] | None:
    """The last option that is said to be the best or the only one; None without one.

    Two options ("The best ones are A and B") are ambiguous, and so is one beside another's text.
    """
    group = _last_group(analysis, _is_said_to_be_best)
    if group is None:
        return None
    if group.n_options > 1 or analysis.contradicts_its_text(group.first):
        return Read(None, "ambiguous", "conflict")
    return Read(group.first.value, "read", "announced")


def _is_said_to_be_best(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether options are said to be the best or the only ones; weaker than an announcement."""
    around = analysis.around(group)
    before = around.sentence_before
    if not analysis.is_evidence(group) or _is_no_announcement(before):
        return False
    if _SURELY.search(before) and ENDS_A_HEAD.match(analysis.text, group.end):
        return True  # "Clearly, B."
    return _is_best_before(before) or _IS_THE_BEST.match(around.sentence_after) is not None


@lru_cache(maxsize=IN_LOOPS)
def _is_best_before(before: str) -> bool:
    """Whether the text before an option says that it is the best or the only one."""
    return bool(_SAID_TO_BE_BEST.search(before) or _ONLY_THIS.search(before))


def _is_last_paragraph(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether an option alone is the last paragraph, and no item of a list that is cut off."""
    if (
        WORD.search(analysis.text, group.end)
        or not analysis.opens_line(group.first)
        or analysis.is_in_list(group.first)
    ):
        return False
    return BLANK_LINE.search(analysis.text, max(0, group.start - 12), group.start) is not None


def _corresponding_group(analysis: OptionAnalysis) -> MentionGroup | None:
    """The last group of the one option that something "corresponds to"; None if none or several."""
    corresponding = [group for group in analysis.groups if _corresponds(analysis, group)]
    if len({group.first.value for group in corresponding}) != 1:
        return None
    return corresponding[-1]


def _corresponds(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether an offered option is what something corresponds to: "This corresponds to B"."""
    is_offered = 0 <= group.first.value < analysis.choices.count
    if not is_offered or group.is_echo or not analysis.is_evidence(group):
        return False
    return _CORRESPONDS.search(analysis.around(group).sentence_before) is not None


def _goes_on_as_list(analysis: OptionAnalysis, mention: Mention) -> bool:
    """Whether an option opens its line, and another one the next line: "Answer:\\nA. a\\nB. b"."""
    if not analysis.opens_line(mention):
        return False
    line_end = analysis.text.find("\n", mention.end)
    if line_end < 0:
        return False
    next_line_end = analysis.text.find("\n", line_end + 1)
    if next_line_end < 0:
        next_line_end = len(analysis.text)
    for other in analysis.list_items:
        is_in_next_line = line_end < other.start <= next_line_end
        if other.value != mention.value and is_in_next_line and analysis.opens_line(other):
            return True
    return False


# --- a text that is announced ---

_LETTERS = re.compile(r"[^\W\d]{2}")
_BESIDE_TEXT = re.compile(r"""[.,]?["']?\s?[,(]{0,2}\s?""")  # 'a dog", (B)', 'a dog (B)'
_SAYS = re.compile(r"\b(?:is|be|says?|conveys?)[\s:\"'(]*\Z")
_ENDS_A_TEXT = re.compile(
    r"""[.!]?["')\s]{0,3}(?:[.,;:!()\n]|\Z|\b(?:because|since|as|which|from|and)\b)""", re.I
)


def announced_text(analysis: OptionAnalysis) -> Read[int] | None:
    """The last option whose text is announced or follows "is" or "says"; None without one.

    "The caption says a dog." is the option with the text "a dog". It is ambiguous if the name of
    another option stands right after the text: "a dog (A)".
    """
    for group in reversed(analysis.text_groups):
        if not _is_text_said(analysis, group):
            continue
        beside = [
            mention
            for mention in analysis.mentions
            if _BESIDE_TEXT.fullmatch(analysis.text, group.end, mention.start)
        ]
        if any(mention.value != group.first.value for mention in beside):
            return Read(None, "ambiguous", "conflict")
        return Read(group.first.value, "read", "announced")
    return None


def _is_text_said(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether the answer states the text of an option as its choice, and denies nothing."""
    before = analysis.around(group).sentence_before
    if _NOT_THIS_BUT.search(before):
        return True
    if _NO_ANNOUNCEMENT.search(before) or HEDGED.search(before) or not analysis.is_evidence(group):
        return False
    is_announced = (
        ANNOUNCED.search(before)
        or _CHOSEN.search(before)
        or _SAID_TO_BE_BEST.search(before)
        or _SAYS.search(before)
    )
    return bool(is_announced and _ENDS_A_TEXT.match(analysis.text, group.end))
