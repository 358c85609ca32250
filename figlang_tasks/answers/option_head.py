"""Options in places of their own: alone, at the head of an answer, or in a line of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence

from figlang_tasks.answers.choices import OFFERED_FORMS, Mention, plain_text
from figlang_tasks.answers.option_analysis import (
    COLON,
    ENDS_A_HEAD,
    WORD,
    MentionGroup,
    OptionAnalysis,
)
from figlang_tasks.answers.option_lists import affirmed_option, begins_list
from figlang_tasks.answers.text import BLANK_LINE
from figlang_tasks.answers.verdict import Read, decide

# --- nothing but the option ---

_LONGEST_TEXT_ALONE = 1000  # characters of an answer that are compared with the texts of options


def lone_option(analysis: OptionAnalysis) -> Read[int] | None:
    """The option that is the whole answer, by name or text: "B", "Image B"; None in longer answers.

    Two options alone ("(A) (B)", "A and B") are ambiguous. A letter outranks a number or an ordinal
    beside it: "(A) the second image" is A.
    """
    reading_of_text = _lone_text(analysis)
    if reading_of_text is not None:
        return reading_of_text
    mentions = analysis.all_mentions
    if not mentions or analysis.text.rstrip().endswith("?"):
        return None
    if affirmed_option(analysis) is not None:
        return None  # "A - no, B - yes" chooses one of its options.
    if not (_has_no_other_words(analysis.text, mentions) or _is_one_group(analysis)):
        return None

    offered = [mention for mention in mentions if mention.form in OFFERED_FORMS]
    offers_texts = analysis.choices.texts is not None and not analysis.choices.are_pictures
    if not offered and offers_texts:
        return None  # "2", where texts such as "2 boats" are offered, may be meant for one of them.
    if offered:
        # Of the other forms only places stay: "A, top left" may contradict itself.
        mentions = [*offered, *(mention for mention in mentions if mention.form == "place")]
    return decide(analysis.answer, [mention.evidence("alone") for mention in mentions])


def _has_no_other_words(text: str, mentions: Sequence[Mention]) -> bool:
    """Whether a text has no words but its mentions of options: "(A)", "Image A. Image B."."""
    end_of_last = 0
    for mention in mentions:
        if WORD.search(text, end_of_last, mention.start):
            return False
        end_of_last = mention.end
    return not WORD.search(text, end_of_last)


def _is_one_group(analysis: OptionAnalysis) -> bool:
    """Whether an answer is one group of mentions and nothing else: "A and B"."""
    if len(analysis.groups) != 1:
        return False
    group = analysis.groups[0]
    has_words_before = WORD.search(analysis.text, 0, group.start) is not None
    return not has_words_before and not WORD.search(analysis.text, group.end)


def _lone_text(analysis: OptionAnalysis) -> Read[int] | None:
    """The option whose text is the whole answer; None if no option or several have this text."""
    texts = analysis.choices.texts
    if texts is None:
        return None
    answer_text = plain_text(analysis.text[:_LONGEST_TEXT_ALONE])
    values = [value for value, text in enumerate(texts) if plain_text(text) == answer_text]
    return Read(values[0], "read", "alone") if len(values) == 1 else None


# --- the head of the answer ---

# After a name that is the subject of a sentence: "B shows a man", "B, which shows"
_GOES_ON_AS_SENTENCE = re.compile(
    r"""[)\]"'}]{0,2}\s{0,3}(?:,\s?(?:which|who|where|with|while|showing|the|on)\b"""
    r"|(?:is|isn't|was|shows?|depicts|has|does|doesn't|seems|appears|represents|illustrates|conveys|and|or|while)\b)",
    re.I,
)


def leading_option(analysis: OptionAnalysis) -> Read[int] | None:
    """The option with which the answer begins, or in a first or last line of its own; else None.

    It is ambiguous if the answer begins with an option and the text of another: "(A) a dog".
    """
    if not analysis.groups:
        return None
    mention_in_own_line = _mention_in_own_line(analysis)
    if mention_in_own_line is not None:
        return Read(mention_in_own_line.value, "read", "head")

    first_group = analysis.groups[0]
    first = first_group.first
    if _is_verdict_above_list(analysis, first_group):
        return Read(first.value, "read", "head")
    if len(first_group.mentions) > 1 or WORD.search(analysis.text, 0, first.start):
        return None  # "A and B ...", or words before the option
    if analysis.around(first_group).is_in_question:
        return None
    # The first item of a list is no choice, unless it stands above the list and in it.
    if analysis.list_items and not _is_repeated_below(analysis, first):
        return None
    if analysis.contradicts_its_text(first):
        return Read(None, "ambiguous", "conflict")
    if not _is_set_off(analysis, first) or not analysis.is_evidence(first_group):
        return None
    return Read(first.value, "read", "head")


def _mention_in_own_line(analysis: OptionAnalysis) -> Mention | None:
    """The mention that is all of the first or the last line; None if other lines name others."""
    line_mentions: list[Mention] = []  # those that are all of their line
    for mention in analysis.mentions:
        is_line = analysis.opens_line(mention) and analysis.closes_line(mention)
        if is_line and not COLON.match(analysis.text, mention.end):
            line_mentions.append(mention)
    if len({mention.value for mention in line_mentions}) != 1:
        return None

    first = line_mentions[0]
    if not WORD.search(analysis.text, 0, first.start):
        return first
    last = line_mentions[-1]
    if begins_list(analysis, last) or WORD.search(analysis.text, last.end):
        return None
    # Without a blank line before it, the last may be an item of a list that is cut off.
    is_apart = BLANK_LINE.search(analysis.text, max(0, last.start - 12), last.start) is not None
    return last if is_apart or not analysis.list_items else None


def _is_set_off(analysis: OptionAnalysis, first: Mention) -> bool:
    """Whether signs or words such as "because" set the first mention off from what follows it."""
    text = analysis.text
    if _GOES_ON_AS_SENTENCE.match(text, first.end):
        return False
    if COLON.match(text, first.end):
        # "A: The image shows" may go on with B, and "Image A: ..." describes it.
        is_letter = first.form in ("bare", "bracketed")
        return analysis.choices.names == "numbers" or (is_letter and text[-1] in ".!")
    if first.form == "bracketed" or text[first.end - 1] == ")":
        return True
    return ENDS_A_HEAD.match(text, first.end) is not None


def _is_verdict_above_list(analysis: OptionAnalysis, group: MentionGroup) -> bool:
    """Whether the first paragraph names one option, and a list below explains them all.

    "I see (B) here.\\n\\n(A) a cat\\n(B) a dog"

    Args:
        analysis: of the answer.
        group: the first group of mentions.
    """
    items = analysis.list_items
    if not items or len(group.mentions) > 1 or analysis.is_in_list(group.first):
        return False
    if group.first.form not in ("bracketed", "labelled"):
        return False
    # The blank line that ends the first paragraph must stand before the first item.
    blank_line = BLANK_LINE.search(analysis.text, group.end)
    if blank_line is None or blank_line.start() > min(item.start for item in items):
        return False
    paragraph_end = blank_line.start()
    for mention in analysis.mentions:
        if group.end <= mention.start < paragraph_end:
            return False  # The paragraph names a second option.
    return analysis.is_evidence(group)


def _is_repeated_below(analysis: OptionAnalysis, first: Mention) -> bool:
    """Whether the first option opens a line again: as an item of a list below the verdict."""
    for mention in analysis.mentions:
        is_repetition = mention.start > first.end and mention.value == first.value
        if is_repetition and analysis.opens_line(mention):
            return True
    return False
