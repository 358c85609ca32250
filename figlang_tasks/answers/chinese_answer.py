"""Where a Chinese answer names options, by letters or texts, and what stands beside them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from figlang_tasks.answers import chinese
from figlang_tasks.answers.choices import Choices, Mention
from figlang_tasks.answers.option_analysis import MentionGroup
from figlang_tasks.answers.text import QUOTED, Answer, plain_signs

WORD: Final = re.compile(rf"[\w{QUOTED}{chinese.TICKS}{chinese.CROSSES}]")
"""A sign of a word, a tick or cross, or a sign of an option's text or a quotation (masked)."""

_APART = r"(?<![A-Za-z0-9&.\\_-])(?<!N/)(?<!\w')"
# "B", "BC"; "A man" and "I am" are English, "A4" and "AI" are words
_LETTERS = re.compile(
    rf"{_APART}(?:(?P<one>[B-HJ-Z]|[AI](?!\x20[a-z]))|(?P<several>[A-H]{{2,8}}))(?![A-Za-z0-9'&_])"
    rf"|{_APART}(?P<small>[a-h])(?=[)\"'\]]?\s?(?:[。.,;:!\n]|选?项|\Z))"
)
_QUOTATION = re.compile(r'"[^"\n]{2,}"')
_ANSWERS = re.compile(r"(?:答案|选)\W{0,4}[A-Za-z]\W*\Z")
_SIGNS_AT_ENDS = " \"'.,;:!()[]。、\n"
_LONG_TEXT = 6  # characters of an option's text that is found also within a sentence
_BESIDE_TEXT = re.compile(r"[)\]\"'\s。.,:、;(]{0,6}(?:(?:选项|项)[\s:,]?)?[\s(\"'\[]{0,3}")
_LOOK = 160  # characters that are looked at before and after an option
_LOOK_IN_ITEM = 400  # the same after an option that begins an item of a list
_LINE_LEAD = 12  # signs and numbers before an option that opens its line
_LETTER_OF_WORD = re.compile(r"[^\W\d]")
# "答案是：" or "答案" and a line end, then signs up to the option
_LEADS_ON = re.compile(r"(?:[:是为]|选择?|答案)[\s\"'(\[]{0,6}\n[\s\"'(\[\u3000]{0,6}\Z")
_SIGNS_OF_LEAD = " \n\t\"'([\u3000"


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
        signs = list(self.signs)
        for mention in self.texts:
            signs[mention.start : mention.end] = QUOTED * (mention.end - mention.start)
        text = "".join(signs)
        for quotation in _QUOTATION.finditer(text):
            start, end = quotation.start() + 1, quotation.end() - 1
            is_all = end - start >= len(text) - 3  # A full stop may follow.
            if not is_all and not _ANSWERS.search(text, max(start, end - _LINE_LEAD), end):
                signs[start:end] = QUOTED * (end - start)
        return "".join(signs)

    @cached_property
    def texts(self) -> list[Mention]:
        """The places where the answer repeats the text of an option, none of which overlap."""
        option_texts: list[str] = []
        for option_text in self.choices.texts or ():
            answer = Answer(plain_signs(option_text), option_text, has_thought=False)
            option_texts.append(chinese.chinese_signs(answer).strip(_SIGNS_AT_ENDS))
        values: dict[str, int] = {}  # the 0-based option, by its text
        for value, option_text in enumerate(option_texts):
            if option_text and option_texts.count(option_text) == 1:
                values[option_text] = value
        if not values:
            return []

        longest_first = sorted(values, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, longest_first)))
        mentions: list[Mention] = []
        for match in pattern.finditer(self.signs):
            start, end = match.span()
            if end - start >= _LONG_TEXT or self._is_set_apart(start, end):
                mentions.append(Mention(values[match[0]], start, end, "text"))
        return mentions

    def _is_set_apart(self, start: int, end: int) -> bool:
        """Whether signs, or "是" and the like, stand on both sides of a stretch of the answer."""
        before, after = self.signs[max(0, start - 1) : start], self.signs[end : end + 1]
        is_apart_before = not WORD.match(before) or before in "是为选"
        return is_apart_before and (not WORD.match(after) or after in "最更才")

    def text_beside(self, mention: Mention) -> Mention | None:
        """The text of an option that stands right after a letter: "B. 选项的文字"; else None."""
        number = bisect_left(self._text_starts, mention.end)
        if number == len(self.texts):
            return None
        text = self.texts[number]
        is_beside = _BESIDE_TEXT.fullmatch(self.text, mention.end, text.start)
        return text if is_beside else None

    def letter_before(self, text: Mention) -> Mention | None:
        """The letter that stands right before the text of an option; else None."""
        number = bisect_right(self._mention_ends, text.start) - 1
        if number < 0:
            return None
        mention = self.mentions[number]
        is_beside = _BESIDE_TEXT.fullmatch(self.text, mention.end, text.start)
        return mention if is_beside else None

    def letter_after(self, text: Mention) -> Mention | None:
        """The letter that stands right after an option's text, as in "文字（B）"; else None."""
        number = bisect_left(self._mention_ends, text.end + 1)
        if number == len(self.mentions):
            return None
        mention = self.mentions[number]
        is_beside = _BESIDE_TEXT.fullmatch(self.text, text.end, mention.start)
        return mention if is_beside else None

    # --- its options ---

    @cached_property
    def mentions(self) -> list[Mention]:
        """The letters that name options, in their order; those that were not offered too."""
        mentions: list[Mention] = []
        for match in _LETTERS.finditer(self.text):
            letters = match[0]
            values = [ord(letter.upper()) - ord("A") for letter in letters]
            is_offered = max(values) < self.choices.count
            if match["several"] and (not is_offered or len(set(values)) < len(values)):
                continue  # A word such as "GDP" or "DAD": no list of options
            if match["small"] and not is_offered:
                continue
            for offset, value in enumerate(values):
                start = match.start() + offset
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
        if mention.start - before.end > _LINE_LEAD:
            return False
        between = self.text[before.end : mention.start]
        if not between or chinese.JOIN.fullmatch(between):
            return True
        if not chinese.COMMA.fullmatch(between):
            return False
        end = self._end_of_noun(mention.end)
        return end == len(self.text) or chinese.CLAUSE_END.match(self.text, end) is not None

    def _end_of_noun(self, end: int) -> int:
        """Where the noun after an option ends, "选项" of "B选项"; `end` if there is none."""
        noun = chinese.NOUN_AFTER.match(self.text, end)
        return noun.end() if noun else end

    # --- what stands beside an option ---

    @cached_property
    def _sentence_ends(self) -> list[tuple[int, int]]:
        """Start and end of each sign that ends a sentence."""
        return [match.span() for match in chinese.SENTENCE_END.finditer(self.text)]

    @cached_property
    def _text_starts(self) -> list[int]:
        return [text.start for text in self.texts]

    @cached_property
    def _mention_ends(self) -> list[int]:
        return [mention.end for mention in self.mentions]

    @cached_property
    def _group_starts(self) -> list[int]:
        return [group.start for group in self.groups]

    def sentence_before(self, group: MentionGroup) -> str:
        """The text before a group in its sentence; with the line above that leads on to it."""
        earliest = max(0, group.start - _LOOK)
        before = self.text[earliest : group.start]
        search_to = group.start
        is_led = self.opens_line(group.first) and _LEADS_ON.search(before)
        if is_led and not self._begins_list(group.first):
            search_to = earliest + len(before.rstrip(_SIGNS_OF_LEAD))
        number = bisect_left(self._sentence_ends, (search_to, 0)) - 1
        start = self._sentence_ends[number][1] if number >= 0 else 0
        return self.text[max(start, earliest) : group.start]

    def clause_before(self, group: MentionGroup) -> str:
        """The text before a group in its clause, from the last option or sign on; not from ":"."""
        before = self.sentence_before(group)
        start = max(before.rfind(","), before.rfind(";")) + 1
        number = bisect_right(self._mention_ends, group.start) - 1
        if number >= 0:
            offset_of_sentence = group.start - len(before)
            start = max(start, self._mention_ends[number] - offset_of_sentence)
        return before[start:]

    def after(self, group: MentionGroup, *, is_item: bool = False) -> str:
        """The text after a group, up to the next option or the end of the sentence.

        Args:
            group: a group of mentions.
            is_item: whether it is an item of a list, of which all sentences in the line count.
        """
        start = self._end_of_noun(group.end)
        if is_item:
            end = self.text.find("\n", start, start + _LOOK_IN_ITEM)
            end = end if end >= 0 else start + _LOOK_IN_ITEM
        else:
            end = min(self._sentence_end(start), start + _LOOK)
        number = bisect_left(self._group_starts, start)
        if number < len(self.groups) and self._group_starts[number] < end:
            up_to_next = self.text[start : self._group_starts[number]]
            return chinese.DENIES_NEXT.sub("", up_to_next[-_LOOK:])
        return self.text[start:end]

    def rest_after(self, group: MentionGroup) -> str:
        """The text after a group, whatever sentences, lines and options it has."""
        start = self._end_of_noun(group.end)
        return self.text[start : start + _LOOK]

    def next_group(self, group: MentionGroup) -> MentionGroup | None:
        """The group after a group; None after the last."""
        number = bisect_left(self._group_starts, group.end)
        return self.groups[number] if number < len(self.groups) else None

    def _sentence_end(self, position: int) -> int:
        """Where the sentence ends in which a position stands."""
        number = bisect_left(self._sentence_ends, (position, 0))
        is_last = number == len(self._sentence_ends)
        return len(self.text) if is_last else self._sentence_ends[number][0]

    def is_in_question(self, group: MentionGroup) -> bool:
        """Whether the sentence of a group is a question."""
        end = self._sentence_end(group.end)
        return self.text[end : end + 1] == "?"

    def is_evidence(self, group: MentionGroup) -> bool:
        """Whether a group is not denied or compared before its name, conditional or asked."""
        clause = self.clause_before(group)
        if self.is_in_question(group) or chinese.is_compared(clause, self.after(group)):
            return False
        return not chinese.is_denied_before(clause, self.sentence_before(group))

    # --- lists ---

    def opens_line(self, mention: Mention) -> bool:
        """Whether no word stands before a mention in its line, but a noun such as "选项"."""
        line_start = self.text.rfind("\n", max(0, mention.start - _LINE_LEAD), mention.start) + 1
        if line_start == 0 and mention.start >= _LINE_LEAD:
            return False
        before = self.text[line_start : mention.start].replace("选项", "")
        return not _LETTER_OF_WORD.search(before)

    @cached_property
    def items(self) -> list[Mention]:
        """The first mention of each option that opens a line; [] if there are not two."""
        items: dict[int, Mention] = {}
        for mention in self.mentions:
            if mention.value not in items and self.opens_line(mention):
                items[mention.value] = mention
        return list(items.values()) if len(items) > 1 else []

    def _begins_list(self, mention: Mention) -> bool:
        """Whether another option opens the line after that of an item of a list."""
        if mention not in self.items:
            return False
        line_end = self.text.find("\n", mention.end)
        for item in self.items:
            if item.start > mention.end:
                return not WORD.search(self.text, line_end, item.start)
        return False

    @property
    def is_finished(self) -> bool:
        """Whether it ends with a sign that ends a sentence."""
        return self.text.rstrip()[-1:] in tuple(f"。.!)\"'{QUOTED}")
