"""Which option a Chinese answer chooses: "因此答案为B。" gives 1.

Its rules have the names of those of `figlang_tasks.answers.option`, without ``only`` and in their
own order (`_TIERS`). What differs is the grammar: "A不符合" names an option before it denies it,
and "A" is no article.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from figlang_tasks.answers import chinese, words
from figlang_tasks.answers.chinese_answer import WORD, ChineseAnswer
from figlang_tasks.answers.choices import Choices, Mention
from figlang_tasks.answers.option_analysis import MentionGroup
from figlang_tasks.answers.text import BLANK_LINE, QUOTED, Answer
from figlang_tasks.answers.verdict import Read

_CONFLICT: Read[int] = Read(None, "ambiguous", "conflict")
_UNREAD: Read[int] = Read(None, "unreadable", "nothing")
_REFUSED: Read[int] = Read(None, "refused", "refusal")

_NO_WORDS = re.compile(rf"选项|项|图片?|{QUOTED}")  # what stands beside an option that is alone
# After the option that heads an answer: what sets it off, and what describes it
_SET_OFF = re.compile(rf"\s*(?:[.。,:、;(\n{QUOTED}]|\Z)|\s")
# "B 图中的人物透支健康": what follows is about the picture.
_PICTURE = re.compile(r"\s(?:图[中片里像]|画面|画中|漫画|这[张幅])")
_DESCRIBES = re.compile(
    r"\W*(?:这个|这一|该|此)?(?:选项|项)|\s(?:描述|讲|说|提|表|强调|指|认为|展示|的|是|虽|看|也|与|和)"
)
_CUT_OFF = re.compile(r"[,:、;]\s*\Z")
_COMPARES = ("比", "要比", "比起", "相比")
_MOST_ALONE = 8
_LOOK_BACK = 12  # characters before a line in which a blank line may stand


def option_in_chinese(answer: Answer, choices: Choices) -> Read[int] | None:
    """The option that an answer in Chinese chooses; None if it names none in a Chinese clause.

    Args:
        answer: an answer for which `chinese.is_chinese` is true.
        choices: options called by letters.
    """
    analysis = ChineseAnswer(answer, choices)
    for tier in _TIERS:
        reading = tier(analysis)
        if reading is None:
            continue
        if reading.value is not None and reading.value >= choices.count:
            return Read(None, "out_of_range", reading.rule)
        return reading
    if chinese.DECLINES.search(analysis.text):
        return _REFUSED
    for group in analysis.groups:
        is_denied = chinese.judgement(analysis.after(group)) == "denied"
        if group.n_options == 2 and analysis.is_evidence(group) and not is_denied:
            return _CONFLICT
        clause = analysis.clause_before(group) + analysis.after(group)
        if not chinese.has_chinese(clause) and not analysis.opens_line(group.first):
            return None  # "The answer is B" beside Chinese sentences
    return _UNREAD


def _of_values(values: Sequence[int], rule: str) -> Read[int] | None:
    """The reading of the options that have evidence: None without any, ambiguous if they differ."""
    if not values:
        return None
    return Read(values[0], "read", rule) if len(set(values)) == 1 else _CONFLICT


def _alone(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is the whole answer, by its letter or its text."""
    mentions = analysis.texts or analysis.mentions
    if len(mentions) > _MOST_ALONE or analysis.text.rstrip().endswith("?"):
        return None
    end_of_last = 0
    for mention in [*mentions, Mention(0, len(analysis.text), len(analysis.text), "bare")]:
        between = analysis.text[end_of_last : mention.start]
        if WORD.search(_NO_WORDS.sub("", between)):
            return None
        end_of_last = mention.end
    return _of_values([mention.value for mention in mentions], "alone")


def _announced(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is announced last, by its letter or its text: "答案：B"."""
    groups = [group for group in analysis.groups if _is_announced(analysis, group)]
    groups += [group for group in _text_groups(analysis) if _is_announced(analysis, group)]
    if not groups:
        return None
    last = max(groups, key=lambda group: group.start)
    beside = analysis.text_beside(last.first)
    if last.first.form == "text":
        beside = analysis.letter_after(last.first)
    if last.n_options > 1 or (beside is not None and beside.value != last.first.value):
        return _CONFLICT
    if _is_another_right(analysis, groups, last):
        return _CONFLICT
    return Read(last.first.value, "read", "announced")


def _is_another_right(
    analysis: ChineseAnswer, announced_groups: Sequence[MentionGroup], last: MentionGroup
) -> bool:
    """Whether an answer calls an option right beside the one that it announces last.

    It does where "C也可以。" or "两个都可以" follows, or in "前者选B，后者选C".
    """
    others = [group for group in announced_groups if group.first.value != last.first.value]
    if others and chinese.BOTH_RIGHT.search(analysis.text, last.end):
        return True
    sentence_start = last.start - len(analysis.sentence_before(last))
    for other in others:
        is_same_sentence = other.start >= sentence_start
        if is_same_sentence and not chinese.TURNS.search(analysis.text, other.end, last.start):
            return True

    for group in analysis.groups:
        is_another = group.start > last.start and group.first.value != last.first.value
        if is_another and chinese.ALSO_RIGHT.match(analysis.text, group.end):
            return True
    return False


def _text_groups(analysis: ChineseAnswer) -> list[MentionGroup]:
    """The texts of options in an answer, each as a group."""
    return [MentionGroup((mention,)) for mention in analysis.texts]


def _is_announced(analysis: ChineseAnswer, group: MentionGroup) -> bool:
    """Whether the words before a group announce it, and none deny it or take it back."""
    clause = analysis.clause_before(group)
    # "Answer: B" stands in English before Chinese reasons.
    clause = chinese.without_affirming(clause)
    pattern = chinese.ANNOUNCED if chinese.has_chinese(clause) else words.ANNOUNCED
    is_announced = pattern.search(clause) is not None
    after = analysis.after(group)
    sentence = analysis.sentence_before(group)
    if not is_announced and not WORD.match(after.lstrip()):
        is_announced = any(
            pattern.search(sentence)
            for pattern in (chinese.CONCLUDES, chinese.IT_IS, chinese.APPOSITION)
        )
    if not is_announced or chinese.is_only_analysed(clause) or not analysis.is_evidence(group):
        return False
    return not chinese.is_taken_back(after)


def _best(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is said to be the best or the right one: "B最符合"."""
    values: list[int] = []
    for number, group in enumerate(analysis.groups):
        if group.n_options > 1:
            continue
        clause = analysis.clause_before(group)
        if chinese.is_exception(clause, analysis.after(group)):
            values.append(group.first.value)
            continue
        verdict = chinese.judgement(_judged_text(analysis, group))
        is_only = chinese.ONLY.search(clause) is not None
        is_best = verdict == "best" or (is_only and verdict != "denied")
        if is_best and analysis.is_evidence(group):
            if number and chinese.ALSO_RIGHT.match(analysis.text, group.end):
                return _CONFLICT  # "B是对的。C也正确。"
            values.append(group.first.value)
    return _of_values(values, "named")


def _judged_text(analysis: ChineseAnswer, group: MentionGroup) -> str:
    """The text after a group that may judge it."""
    is_item = group.first in analysis.items
    after = analysis.after(group, is_item=is_item)
    if after.strip() in _COMPARES:  # "B比A更贴切"
        compared_group = analysis.next_group(group)
        if compared_group is not None:
            return analysis.after(compared_group)
    return after


def _head(analysis: ChineseAnswer) -> Read[int] | None:
    """The option with which an answer begins, or which is its first or last line."""
    groups = analysis.groups
    if not groups:
        return None
    lines = [group for group in groups if group.n_options == 1 and _is_line_apart(analysis, group)]
    if lines:
        return _of_values([group.first.value for group in lines], "head")
    first = groups[0].first
    starts = not WORD.search(analysis.text[: first.start].replace("选项", ""))
    if not starts or groups[0].n_options > 1 or analysis.items:
        return None
    text_beside = analysis.text_beside(first)
    if text_beside is not None and text_beside.value != first.value:
        return _CONFLICT
    after = analysis.after(groups[0], is_item=True)
    has_bracket = analysis.text[first.end : first.end + 2].lstrip()[:1] in tuple(")]")
    is_before_picture = _PICTURE.match(analysis.text, first.end) is not None
    is_set_off = has_bracket or is_before_picture or _SET_OFF.match(after) is not None
    if not is_set_off or not analysis.is_evidence(groups[0]):
        return None
    rest = after.lstrip(" .。,:、;)")
    # What follows "B。" or a line of its own is about the picture, if it is no bare denial.
    is_sentence_apart = after.lstrip().startswith("。") or after.startswith("\n")
    if chinese.is_denied_at_once(analysis.rest_after(groups[0])):
        return None
    if not is_sentence_apart and chinese.judgement(rest) == "denied":
        return None
    if _DESCRIBES.match(after) or _CUT_OFF.search(analysis.text):
        return None
    has_colon = after.lstrip(" )]").startswith(":")
    is_whole = analysis.is_finished and analysis.choices.texts is None
    if has_colon and text_beside is None and not is_whole:
        return None  # It is described: the first item of a list that is cut off.
    return Read(first.value, "read", "head")


def _is_line_apart(analysis: ChineseAnswer, group: MentionGroup) -> bool:
    """Whether a group is all of the first line, or of the last below a blank line."""
    rest = analysis.after(group, is_item=True).partition("\n")[0]
    if not analysis.opens_line(group.first) or WORD.search(rest) or ":" in rest:
        return False
    if analysis.is_in_question(group) or chinese.is_denied_at_once(analysis.rest_after(group)):
        return False
    before = analysis.text[max(0, group.start - _LOOK_BACK) : group.start]
    is_first = group.start < _LOOK_BACK and not WORD.search(before.replace("选项", ""))
    is_last = not WORD.search(analysis.text[group.end : group.end + _LOOK_BACK].replace("选项", ""))
    is_apart = is_last and BLANK_LINE.search(before) is not None
    return is_first or is_apart or group.first in analysis.items


def _fitting(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is said to fit, where all that are named are judged; else None.

    None too if a list does not name all options: it may be cut off.
    """
    fitting_values: list[int] = []
    judged_values: set[int] = set()
    is_listed = False
    for group in analysis.groups:
        values = [mention.value for mention in group.mentions]
        if chinese.is_one_of_several(analysis.clause_before(group), analysis.rest_after(group)):
            return None
        verdict = chinese.judgement(_judged_text(analysis, group))
        is_evidence = analysis.is_evidence(group)
        agrees = chinese.MATCHES.search(analysis.clause_before(group)) is not None
        if verdict is not None or agrees or not is_evidence:
            judged_values.update(values)
        if verdict == "denied":
            fitting_values = [value for value in fitting_values if value not in values]
        if is_evidence and (verdict == "fits" or (agrees and verdict != "denied")):
            fitting_values += values
            is_listed = is_listed or group.first in analysis.items
    named_values = {mention.value for mention in analysis.mentions}
    is_cut_off = is_listed and len(named_values) < analysis.choices.count
    if is_cut_off or judged_values != named_values:
        return None
    return _of_values(fitting_values, "judged")


def _in_last_sentence(analysis: ChineseAnswer) -> Read[int] | None:
    """The only option in brackets, or as the last clause, in the last sentence."""
    if len(analysis.groups) != 1 or not analysis.is_finished:
        return None
    group = analysis.groups[0]
    clause = analysis.clause_before(group)
    is_in_brackets = clause.rstrip().endswith("(") or not WORD.search(clause)
    ends = not WORD.search(analysis.text, group.end)
    if not is_in_brackets or not ends or not analysis.is_evidence(group):
        return None
    values = [mention.value for mention in group.mentions]
    return _of_values(values, "last_paragraph")


def _by_text(analysis: ChineseAnswer) -> Read[int] | None:
    """The only option whose text the answer repeats, and neither lists nor denies."""
    if chinese.DECLINES.search(analysis.text):
        return None
    values: list[int] = []
    for group in _text_groups(analysis):
        if not analysis.is_evidence(group):
            continue
        if analysis.letter_before(group.first) is not None:
            return None  # It stands beside a letter of which nothing was read.
        after = analysis.after(group)
        verdict = chinese.judgement(after)
        is_whole = analysis.is_finished and not WORD.match(after)
        if verdict in ("best", "fits") or (verdict is None and is_whole):
            values.append(group.first.value)
    return _of_values(values, "text")


_TIERS: tuple[Callable[[ChineseAnswer], Read[int] | None], ...] = (
    _alone,
    _announced,
    _best,
    _head,
    _fitting,
    _in_last_sentence,
    _by_text,
)
"""The tiers in their order; each gives None where it has no evidence."""
