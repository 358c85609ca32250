"""Which option a Chinese answer chooses: "因此答案为B。" gives 1.

Its tiers are those of `figlang_tasks.answers.option`, and so are the names of their rules. What
differs is the grammar: sentences end without blanks, "A不符合" denies what stands before the words
of denial, and no "A" is an article.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from figlang_tasks.answers import chinese, words
from figlang_tasks.answers.choices import Choices, Mention, plain_text
from figlang_tasks.answers.option_analysis import MentionGroup
from figlang_tasks.answers.text import BLANK_LINE, QUOTED, Answer, plain_signs
from figlang_tasks.answers.verdict import Read

_CONFLICT: Read[int] = Read(None, "ambiguous", "conflict")
_UNREAD: Read[int] = Read(None, "unreadable", "nothing")
_REFUSED: Read[int] = Read(None, "refused", "refusal")

_APART = r"(?<![A-Za-z0-9&.\\_-])(?<!N/)(?<!\w')"
# "B", "BC"; "A man" and "I am" are English, "A4" and "AI" are words
_LETTERS = re.compile(
    rf"{_APART}(?:(?P<one>[B-HJ-Z]|[AI](?!\x20[a-z]))|(?P<several>[A-H]{{2,8}}))(?![A-Za-z0-9'&_])"
    rf"|{_APART}(?P<small>[a-h])(?=[)\"'\]]?\s?(?:[。.,;:!\n]|选?项|\Z))"
)
_QUOTATION = re.compile(r'"[^"\n]{2,}"')
_ANSWERS = re.compile(r"(?:答案|选)\W{0,4}[A-Za-z]\W*\Z")
_LONG_TEXT = 6  # characters of an option's text that is found also within a sentence
_WORD = re.compile(rf"[\w{QUOTED}]")
_BESIDE_TEXT = re.compile(r"[)\]\"'\s。.,:、;(]{0,6}(?:(?:选项|项)[\s:,]?)?[\s(\"'\[]{0,3}")
_SET_OFF = re.compile(rf"\s*(?:[.。,:、;(\n{QUOTED}]|\Z)|\s")
# "答案是：" and a line end, then signs up to the option
_LEADS_ON = re.compile(r"(?:[:是为]|选择?)[\s\"'(\[]*\n[\s\"'(\[\u3000]*\Z")
_SIGNS_OF_LEAD = " \n\t\"'([\u3000"
_DESCRIBES = re.compile(
    r"\W*(?:这个|这一|该|此)?(?:选项|项)|\s(?:描述|讲|说|提|表|强调|指|认为|展示|的|是|虽|看|也|与|和)"
)
_LINE_LEAD = 12  # signs and numbers before an option that opens its line


@dataclass(frozen=True)
class ChineseAnswer:
    """An answer in Chinese to a question with options called A, B, C ...

    Attributes:
        answer: the answer.
        choices: what its question offered.
    """

    answer: Answer
    choices: Choices

    # --- its text ---

    @cached_property
    def signs(self) -> str:
        """The answer in the signs that `chinese` knows."""
        return chinese.chinese_signs(self.answer)

    @cached_property
    def text(self) -> str:
        """The same with `QUOTED` for each sign of an option's text and of what is quoted.

        So the "不" in the text of an option denies nothing.
        """
        text = self.signs
        for mention in self.texts:
            text = _masked(text, mention.start, mention.end)
        for quotation in _QUOTATION.finditer(text):
            is_all = quotation.end() - quotation.start() >= len(text) - 1
            if not is_all and not _ANSWERS.search(quotation[0][:-1]):
                text = _masked(text, quotation.start() + 1, quotation.end() - 1)
        return text

    @cached_property
    def texts(self) -> list[Mention]:
        """The places where the answer repeats the text of an option, none of which overlap."""
        mentions: list[Mention] = []
        option_texts = self._plain_option_texts
        for value in sorted(range(len(option_texts)), key=lambda value: -len(option_texts[value])):
            option_text = option_texts[value]
            if not option_text or option_texts.count(option_text) > 1:
                continue
            for match in re.finditer(re.escape(option_text), self.signs, re.I):
                start, end = match.span()
                is_apart = all(end <= other.start or other.end <= start for other in mentions)
                is_found = len(option_text) >= _LONG_TEXT or _is_set_apart(self.signs, start, end)
                if is_apart and is_found:
                    mentions.append(Mention(value, start, end, "text"))
        return sorted(mentions, key=lambda mention: mention.start)

    @cached_property
    def _plain_option_texts(self) -> list[str]:
        """The texts of the options in the signs of the answer, without signs at their ends."""
        option_texts: list[str] = []
        for option_text in self.choices.texts or ():
            answer = Answer(plain_signs(option_text), option_text, has_thought=False)
            option_texts.append(chinese.chinese_signs(answer).strip(" \"'.,;:!()[]。、\n"))
        return option_texts

    # --- its options ---

    @cached_property
    def mentions(self) -> list[Mention]:
        """The letters that name options, in their order; those that were not offered too."""
        mentions: list[Mention] = []
        for match in _LETTERS.finditer(self.text):
            if match["several"]:
                letters = match["several"]
                is_word = len(set(letters)) < len(letters)
                if is_word or any(ord(sign) - 65 >= self.choices.count for sign in letters):
                    continue  # "CD" and "GDP" are words, if they are not all options.
            letters = match[0]
            for offset, letter in enumerate(letters):
                value = ord(letter.upper()) - ord("A")
                start = match.start() + offset
                if value < self.choices.count or letter.isupper():
                    mentions.append(Mention(value, start, start + 1, "bare"))
        return mentions

    @cached_property
    def groups(self) -> list[MentionGroup]:
        """The mentions in groups: those that are joined, as in "B和C"."""
        groups: list[list[Mention]] = []
        for mention in self.mentions:
            if groups and self._is_joined(groups[-1][-1], mention):
                groups[-1].append(mention)
            else:
                groups.append([mention])
        return [MentionGroup(tuple(group)) for group in groups]

    def _is_joined(self, before: Mention, mention: Mention) -> bool:
        """Whether no more than a word such as "和" stands between two mentions."""
        between = self.text[before.end : mention.start]
        if not between or chinese.JOIN.fullmatch(between):
            return True
        if not chinese.COMMA.fullmatch(between):
            return False
        rest = chinese.NOUN_AFTER.match(self.text, mention.end)
        end = rest.end() if rest else mention.end
        return chinese.CLAUSE_END.match(self.text, end) is not None or end == len(self.text)

    # --- what is said of an option ---

    def sentence_before(self, group: MentionGroup) -> str:
        """The text before a group in its sentence; with the line above that leads on to it."""
        text_before = self.text[: group.start]
        is_led = self.opens_line(group.first) and _LEADS_ON.search(text_before)
        search_to = group.start
        if is_led and not self._begins_list(group.first):
            search_to = len(text_before.rstrip(_SIGNS_OF_LEAD))
        start = 0
        for end in chinese.SENTENCE_END.finditer(self.text, 0, search_to):
            start = end.end()
        return text_before[start:]

    def _begins_list(self, mention: Mention) -> bool:
        """Whether another option opens the line after that of an item of a list."""
        if mention not in self.items:
            return False
        line_end = self.text.find("\n", mention.end)
        following = [item for item in self.items if item.start > mention.end]
        return bool(following) and not _WORD.search(self.text[line_end : following[0].start])

    def clause_before(self, group: MentionGroup) -> str:
        """The text before a group in its clause, from the last option or sign on; not from ":"."""
        before = self.sentence_before(group)
        start = max(before.rfind(","), before.rfind(";")) + 1
        for mention in self.mentions:
            offset = mention.end - (group.start - len(before))
            if mention.end <= group.start and offset > start:
                start = offset
        return before[start:]

    def after(self, group: MentionGroup, *, is_item: bool = False) -> str:
        """The text after a group, up to the next option or the end of the sentence.

        Args:
            group: a group of mentions.
            is_item: whether it is an item of a list, of which all sentences in the line count.
        """
        start = group.end
        noun = chinese.NOUN_AFTER.match(self.text, start)
        if noun is not None:
            start = noun.end()
        pattern = re.compile(r"\n") if is_item else chinese.SENTENCE_END
        sentence_end = pattern.search(self.text, start)
        end = sentence_end.start() if sentence_end else len(self.text)
        for other in self.groups:
            if start <= other.start < end:
                return chinese.DENIES_NEXT.sub("", self.text[start : other.start])
        return self.text[start:end]

    def is_in_question(self, group: MentionGroup) -> bool:
        """Whether the sentence of a group is a question."""
        end = chinese.SENTENCE_END.search(self.text, group.end)
        return end is not None and end[0] == "?"

    def is_evidence(self, group: MentionGroup) -> bool:
        """Whether a group is not denied or compared before its name, conditional or asked."""
        clause = self.clause_before(group)
        if self.is_in_question(group) or chinese.is_compared(clause, self.after(group)):
            return False
        return not chinese.is_denied_before(clause, self.sentence_before(group))

    def opens_line(self, mention: Mention) -> bool:
        """Whether no word stands before a mention in its line, but a noun such as "选项"."""
        line_start = self.text.rfind("\n", 0, mention.start) + 1
        before = self.text[line_start : mention.start]
        return len(before) <= _LINE_LEAD and not re.search(r"[^\W\d]", before.replace("选项", ""))

    @cached_property
    def items(self) -> list[Mention]:
        """The first mention of each option that opens a line; [] if there are not two."""
        items: dict[int, Mention] = {}
        for mention in self.mentions:
            if self.opens_line(mention):
                items.setdefault(mention.value, mention)
        return list(items.values()) if len(items) > 1 else []

    def has_other_text(self, mention: Mention) -> bool:
        """Whether the text of another option stands right after a letter."""
        for text in self.texts:
            if text.value == mention.value:
                continue
            if _BESIDE_TEXT.fullmatch(self.text, mention.end, text.start):
                return True
        return False

    @property
    def is_finished(self) -> bool:
        """Whether it ends with a sign that ends a sentence."""
        return self.text.rstrip()[-1:] in tuple("。.!)\"'\ufffc")


def _masked(text: str, start: int, end: int) -> str:
    """A text with `QUOTED` for each sign from `start` to `end`."""
    return text[:start] + QUOTED * (end - start) + text[end:]


def _is_set_apart(text: str, start: int, end: int) -> bool:
    """Whether signs, or "是" and the like, stand on both sides of a stretch of a text."""
    before, after = text[start - 1 : start], text[end : end + 1]
    is_apart_before = not _WORD.match(before) or before in "是为选"
    return is_apart_before and (not _WORD.match(after) or after in "最更才")


# --- tiers ---


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
    rest = analysis.text
    for mention in analysis.texts or analysis.mentions:
        rest = _masked(rest, mention.start, mention.end)
    rest = re.sub(rf"选项|项|图片?|{QUOTED}", "", rest)
    if _WORD.search(rest) or analysis.text.rstrip().endswith("?"):
        return None
    values = [mention.value for mention in analysis.texts or analysis.mentions]
    return _of_values(values, "alone")


def _announced(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is announced last, by its letter or its text: "答案：B"."""
    groups = [group for group in analysis.groups if _is_announced(analysis, group)]
    groups += [group for group in _text_groups(analysis) if _is_announced(analysis, group)]
    if not groups:
        return None
    last = max(groups, key=lambda group: group.start)
    if last.n_options > 1 or analysis.has_other_text(last.first):
        return _CONFLICT
    if last.first.form == "text":
        for mention in analysis.mentions:
            is_beside = _BESIDE_TEXT.fullmatch(analysis.text, last.end, mention.start)
            if is_beside and mention.value != last.first.value:
                return _CONFLICT
    return Read(last.first.value, "read", "announced")


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
    if not is_announced and not _WORD.match(after.lstrip()):
        is_announced = any(
            pattern.search(sentence) for pattern in (chinese.CONCLUDES, chinese.IT_IS)
        )
    if not is_announced or chinese.is_only_analysed(clause) or not analysis.is_evidence(group):
        return False
    return not chinese.is_taken_back(after)


def _best(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is said to be the best or the right one: "B最符合"."""
    values: list[int] = []
    for group in analysis.groups:
        if group.n_options > 1 or not analysis.is_evidence(group):
            continue
        verdict = chinese.judgement(_judged_text(analysis, group))
        is_only = chinese.ONLY.search(analysis.clause_before(group)) is not None
        if verdict == "best" or (is_only and verdict != "denied"):
            values.append(group.first.value)
    return _of_values(values, "named")


def _judged_text(analysis: ChineseAnswer, group: MentionGroup) -> str:
    """The text after a group that may judge it."""
    is_item = group.first in analysis.items
    after = analysis.after(group, is_item=is_item)
    if after.strip() in ("比", "要比", "比起", "相比"):  # "B比A更贴切"
        number = analysis.groups.index(group) + 1
        if number < len(analysis.groups):
            return analysis.after(analysis.groups[number])
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
    starts = not _WORD.search(analysis.text[: first.start].replace("选项", ""))
    if not starts or groups[0].n_options > 1 or analysis.items:
        return None
    if analysis.has_other_text(first):
        return _CONFLICT
    after = analysis.after(groups[0], is_item=True)
    has_bracket = analysis.text[first.end : first.end + 2].lstrip()[:1] in tuple(")]")
    is_set_off = has_bracket or _SET_OFF.match(after) is not None
    if not is_set_off or not analysis.is_evidence(groups[0]):
        return None
    rest = after.lstrip(" .。,:、;)")
    # What follows "B。" or a line of its own is about the picture, if it is no bare denial.
    is_sentence_apart = after.lstrip().startswith("。") or after.startswith("\n")
    if chinese.is_denied_at_once(rest):
        return None
    if not is_sentence_apart and chinese.judgement(rest) == "denied":
        return None
    if _DESCRIBES.match(after) or re.search(r"[,:、;]\s*\Z", analysis.text):
        return None
    has_colon = after.lstrip(" )]").startswith(":")
    if has_colon and not _has_its_text(analysis, first):
        return None  # It is described: the first item of a list that is cut off.
    return Read(first.value, "read", "head")


def _has_its_text(analysis: ChineseAnswer, mention: Mention) -> bool:
    """Whether the text of an option stands right after its letter."""
    for text in analysis.texts:
        is_beside = _BESIDE_TEXT.fullmatch(analysis.text, mention.end, text.start)
        if is_beside and text.value == mention.value:
            return True
    return False


def _is_line_apart(analysis: ChineseAnswer, group: MentionGroup) -> bool:
    """Whether a group is all of the first line, or of the last below a blank line."""
    line_end = analysis.text.find("\n", group.end)
    rest = analysis.text[group.end : line_end if line_end >= 0 else None]
    if not analysis.opens_line(group.first) or _WORD.search(rest.replace("选项", "")):
        return False
    if ":" in rest:
        return False
    before = analysis.text[: group.start]
    is_first = not _WORD.search(before.replace("选项", ""))
    is_last = not _WORD.search(analysis.text, group.end)
    is_item = group.first in analysis.items
    return is_first or (is_last and BLANK_LINE.search(before[-_LINE_LEAD:]) is not None) or is_item


def _fitting(analysis: ChineseAnswer) -> Read[int] | None:
    """The option that is said to fit, where all that are named are judged; else None.

    None too if a list does not name all options: it may be cut off.
    """
    fitting_values: list[int] = []
    judged_values: set[int] = set()
    is_listed = False
    for group in analysis.groups:
        values = [mention.value for mention in group.mentions]
        verdict = chinese.judgement(_judged_text(analysis, group))
        is_evidence = analysis.is_evidence(group)
        agrees = chinese.MATCHES.search(analysis.clause_before(group)) is not None
        if verdict is not None or agrees or not is_evidence:
            judged_values.update(values)
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
    is_in_brackets = clause.rstrip().endswith("(") or not _WORD.search(clause)
    ends = not _WORD.search(analysis.text, group.end)
    if is_in_brackets and ends and analysis.is_evidence(group):
        return Read(group.first.value, "read", "last_paragraph")
    return None


def _by_text(analysis: ChineseAnswer) -> Read[int] | None:
    """The only option whose text the answer repeats, and neither lists nor denies."""
    if chinese.DECLINES.search(analysis.text):
        return None
    values: list[int] = []
    for group in _text_groups(analysis):
        if not analysis.is_evidence(group):
            continue
        for mention in analysis.mentions:
            if _BESIDE_TEXT.fullmatch(analysis.text, mention.end, group.start):
                return None  # It stands beside a letter of which nothing was read.
        after = analysis.after(group)
        verdict = chinese.judgement(after)
        is_whole = analysis.is_finished and not _WORD.match(after)
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
