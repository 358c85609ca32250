"""Options that an answer names in its sentences: by their names, or by their texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from figlang_tasks.answers.option_analysis import (
    COLON,
    HEDGED,
    WORD,
    MentionGroup,
    OptionAnalysis,
)
from figlang_tasks.answers.option_lists import begins_list
from figlang_tasks.answers.text import BLANK_LINE
from figlang_tasks.answers.verdict import Evidence, Read, decide

# --- the last paragraph, and the whole answer ---

_LONGEST_TEXT_WITHOUT_END = 40  # characters after an option that may be its text: "(C) The boat"
_ENDS_WITHIN_A_SENTENCE = re.compile(
    r"\b(?:is|are|was|has|the|an?|of|at|on|in|to|and|that|for|with|which)\s?\Z", re.I
)
_COURTESY = re.compile(
    r"\n\s{0,3}(?:i hope|hope (?:this|that)|(?:please )?let me know|did i|feel free|is there"
    r" anything)\b[^\n]{0,200}\Z",
    re.I,
)


def option_of_last_paragraph(analysis: OptionAnalysis) -> Read[int] | None:
    """The only option that the last paragraph names; None if it names none.

    Several are ambiguous or give None (`_only_option_in`). Options in brackets count alone where
    there are any. Without them the paragraph must end in a sentence, below another paragraph.
    """
    # "I hope this helps!" is no paragraph of its own.
    paragraphs = _COURTESY.sub("", analysis.text).rstrip()
    breaks = list(BLANK_LINE.finditer(paragraphs))
    start = breaks[-1].end() if breaks else 0
    groups = [group for group in analysis.groups if group.start >= start]
    bracketed_groups = [group for group in groups if group.has_brackets]
    if bracketed_groups:
        first, last = bracketed_groups[0], bracketed_groups[-1]
        if begins_list(analysis, first.first) or _is_cut_off_after(analysis, last):
            return None
        return _only_option_in(analysis, bracketed_groups, rule="last_paragraph")
    if not breaks or analysis.declines or not analysis.is_finished:
        return None
    return _only_option_in(analysis, groups, rule="last_paragraph")


def _is_cut_off_after(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether the answer breaks off in a sentence about an option: "(C) shows a man who is".

    "(C) About the same" is whole: a line with the text of an option needs no full stop.
    """
    text = analysis.text
    if analysis.is_finished or not WORD.search(text, group.end):
        return False
    if _ENDS_WITHIN_A_SENTENCE.search(text, len(text) - 12):  # The last word is "is", "the", ...
        return True
    if not analysis.opens_line(group.first):
        return True
    return len(text) - group.end > _LONGEST_TEXT_WITHOUT_END


def only_option(analysis: OptionAnalysis) -> Read[int] | None:
    """Read the one option that a finished answer names (denied ones do not count).

    Several give an ambiguous reading, or none where so many are only described
    (`_only_option_in`). None too if no option is named, or if the answer is unfinished, declines or
    is a list: a list names each option only to describe it.
    """
    if not analysis.is_finished or analysis.declines or analysis.list_items:
        return None
    return _only_option_in(analysis, analysis.groups, rule="only")


def _only_option_in(
    analysis: OptionAnalysis, groups: Sequence[MentionGroup], rule: str
) -> Read[int] | None:
    """The one option of some groups that is neither denied nor in a list.

    Two options are ambiguous. None if there are none, or more than two.

    Args:
        analysis: of the answer.
        groups: some of its groups.
        rule: the rule of the reading.
    """
    evidence: list[Evidence] = []
    for group in groups:
        if analysis.is_in_list(group.first) or not analysis.is_evidence(group):
            continue
        if group.is_echo:
            if group.is_range or group.n_options >= analysis.choices.count:
                continue  # "A, B, C or D" repeats the question.
            return Read(None, "ambiguous", "conflict")  # "either (A), (B) or (D)"
        is_offered = 0 <= group.first.value < analysis.choices.count
        if not is_offered or not _is_name_of_option(analysis, group):
            continue
        if group.first.form != "bracketed" and COLON.match(analysis.text, group.end):
            continue  # "Image A: a man" describes it.
        if analysis.contradicts_its_text(group.first):
            return Read(None, "ambiguous", "conflict")
        evidence += group.evidence(rule)
    if len({mention.value for mention in evidence}) > 2:
        return None  # So many are described.
    return decide(analysis.answer, evidence)


_AFTER_A_WORD = re.compile(r"\w[\s(]{0,2}\Z")  # any word: "vitamin ", "the ("
_IN_A_PICTURE = re.compile(r"\W*in\s", re.I)  # all that stands before "the first image"
_AFTER_A_CONJUNCTION = re.compile(r"\b(?:that|only|because|and|but|so|while|whereas)\s\Z", re.I)


def _is_name_of_option(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether a group names an option, and is not part of another name: "vitamin C"."""
    if analysis.text.startswith(("letter", "Letter"), group.start):
        return False  # "The letter A stands in a circle.": a mention begins with its noun
    before = analysis.around(group).sentence_before
    if _IN_A_PICTURE.fullmatch(before):
        return False  # "In the first image, the man smiles."
    if group.first.form != "bare":
        return True
    if _AFTER_A_CONJUNCTION.search(before):
        return True  # "because B"
    return not _AFTER_A_WORD.search(before)  # "vitamin C" names no option


# --- an option that is said to fit ---

# After the name: " fits", " is the closest", " (the boat) clearly matches", " best shows"
_FITS = re.compile(
    r"""[)\]"'\s]{0,3}(?:\([^()\n]{1,60}\)\s)?(?:(?:clearly|also|\w+ly|most|more|best|better)\s){0,3}"""
    r"(?:(?:is|seems|appears|looks)(?: to be)?\s(?:(?:the|a|slightly|much|clearly|\w+ly)\s){0,3}"
    r"(?:closer|closest|darker|darkest|best|more|most|similar|nearest|nearer|\w{3,12}est)\b"
    r"|fits?\b|match(?:es)?\b|corresponds?\b|(?:best|better|more \w+ly|most \w+ly)\s\w+s\b)",
    re.I,
)


def fitting_option(analysis: OptionAnalysis) -> Read[int] | None:
    """The option that is said to fit or to be "closer", "the best" and the like; None without one.

    Two are ambiguous, unless the later corrects the earlier.
    """
    evidence: list[Evidence] = []
    for group in analysis.groups:
        is_said_to_fit = _FITS.match(analysis.around(group).sentence_after) is not None
        is_evidence = is_said_to_fit and analysis.is_evidence(group)
        if is_evidence and _is_name_of_option(analysis, group):
            evidence += group.evidence("named")
    return decide(analysis.answer, evidence)


# --- the text of an option ---

_SENTENCE_END = re.compile(r"[.!?](?=\s)|\n")


def option_by_text(analysis: OptionAnalysis) -> Read[int] | None:
    """The option whose text stands in the last sentence, or else in the first.

    The texts of two options in one sentence are ambiguous. None if neither sentence has any.
    """
    if analysis.declines:
        return None
    for start, end in _concluding_sentences(analysis.text):
        evidence: list[Evidence] = []
        for group in analysis.text_groups:
            is_hedged = HEDGED.search(analysis.around(group).sentence_before) is not None
            if start <= group.start < end and analysis.is_evidence(group) and not is_hedged:
                evidence += group.evidence("text")
        reading = decide(analysis.answer, evidence)
        if reading is not None:
            return reading
    return None


def _concluding_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the last sentence, and then of the first if there are two."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text.rstrip())]
    yield max(ends, default=0), len(text)
    if ends:
        yield 0, ends[0]
