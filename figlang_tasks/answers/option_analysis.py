"""An answer to a question with options: its mentions of them, its lists, and what it denies.

In "A: a cat\\nB: a dog\\nA and B are cute. I choose B, not A." the mentions are A, B, A, B, B, A.
The first two begin items of a list. The next two are joined and make one group. The last B is
evidence, and the last A is none, since it is denied.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import itemgetter

from figlang_tasks.answers.choices import (
    OFFERED_FORMS,
    Choices,
    Mention,
    find_mentions,
    find_texts,
    plain_text,
)
from figlang_tasks.answers.text import BLANK_LINE, Answer, Around
from figlang_tasks.answers.verdict import Evidence
from figlang_tasks.answers.words import ANNOUNCED_NONE, IN_LOOPS, NONE_OF, REFUSAL

WORD = re.compile(r"\w")
"""A sign of a word: where none follows, only punctuation does."""
COLON = re.compile(r"""[)\]"'}]{0,2}\s{0,3}(?::|-\s)""")
"""After the name of an option: what follows is its text or its description."""

ENDS_A_HEAD = re.compile(
    r"""[)\]"'}]{0,2}\s{0,3}(?:[.,;)\n-]|\((?!\w\))|\Z"""
    r"|(?:rather than|instead of|and not|not|because|since)\b)",
    re.I,
)
"""After the name of an option that heads an answer: "B.", "B because", "B (a boat)"."""
HEDGED = re.compile(r"\b(?:may|might|could)\b", re.I)

_MOST_OPTIONS = 2  # More in one enumeration are the echo of the question: "A, B, C or D".
_LINE_HEAD = 24  # Signs and numbers before a mention that opens its line: "  - **2.** (".
_SIGNS_ALONE = re.compile(r"[\W\d]*\Z")

# Between two mentions that are joined: "A and B", "(A), or perhaps (B)", "A & B"
_JOIN = re.compile(
    r"[\s)\]\"'}]{0,3}(?:[,;/&+]|,?\s?\(?(?:\b(?:and|or|as well as|but also|e|o|ou)\b|[和或与及]))"
    r"(?:\s(?:perhaps|possibly|maybe)\b)?"
    r"[\s(\[\"'{]{0,3}(?:(?:also|the|image|option)\s){0,2}[(\[\"'{]{0,2}",
    re.I,
)
# "A to D", "(A)-(D)"
_RANGE = re.compile(r"[\s)\]\"'}]{0,3}(?:to|through|-)[\s(\[\"'{]{0,3}", re.I)
# "(B) 13 and (C) 26"
_JOIN_AFTER_TEXT = re.compile(
    r"\s(?:(?!because|since|which|that|is|are|as)[^\s.;:]{1,20}[\s,]{1,2}){1,5}(?:and|or)\s(?:also\s)?",
    re.I,
)
_NEW_CLAUSE = re.compile(r"[\s)\]\"']{0,3},\s(?!or\b)(?:and\s|but\s)?.{0,8}", re.I)  # ", and image"
_VERB = re.compile(r"\s(?:is|isn't|was|shows|depicts|has|does|doesn't|seems|appears)\b", re.I)
# "(A) the second image", "A is the first image"
_BESIDE = re.compile(r"\W{0,4}(?:(?:the|is|or)\W{1,3})?", re.I)


@dataclass(frozen=True)
class MentionGroup:
    """Mentions that belong together, as in "A and B"; mostly a single one.

    The first mention stands for the group where only one option counts.

    Attributes:
        mentions: in the order of the answer, at least one.
        is_range: whether some of them are the ends of a range, as in "A to D".
    """

    mentions: tuple[Mention, ...]
    is_range: bool = False

    @property
    def first(self) -> Mention:
        return self.mentions[0]

    @property
    def start(self) -> int:
        return self.mentions[0].start

    @property
    def end(self) -> int:
        return self.mentions[-1].end

    @property
    def n_options(self) -> int:
        """How many different options are mentioned."""
        return len({mention.value for mention in self.mentions})

    @property
    def has_brackets(self) -> bool:
        """Whether an option is named in brackets: "(B)"."""
        return any(mention.form == "bracketed" for mention in self.mentions)

    @property
    def is_echo(self) -> bool:
        """Whether the group repeats what was offered and chooses nothing: "A, B, C or D", "A to D".

        A range, or three mentions and more.
        """
        return self.is_range or len(self.mentions) > _MOST_OPTIONS

    def evidence(self, rule: str) -> list[Evidence]:
        """Each mention as evidence for its option, by this rule."""
        return [mention.evidence(rule) for mention in self.mentions]


@dataclass(frozen=True)
class OptionAnalysis:
    """An answer to a question with options, and what it says of them.

    Attributes:
        answer: the answer.
        choices: what its question offered.
    """

    answer: Answer
    choices: Choices

    @cached_property
    def text(self) -> str:
        return self.answer.text

    @cached_property
    def declines(self) -> bool:
        """Whether the answer says somewhere that it cannot choose."""
        patterns = (NONE_OF, REFUSAL, ANNOUNCED_NONE)
        return any(pattern.search(self.text) for pattern in patterns)

    @property
    def is_finished(self) -> bool:
        """Whether the answer ends in "." or "!"; one that is cut off might name more options."""
        return self.text[-1] in ".!"

    # --- mentions ---

    @cached_property
    def all_mentions(self) -> list[Mention]:
        """The mentions of options in every form, in their order."""
        return find_mentions(self.text, self.choices)

    @cached_property
    def mentions(self) -> list[Mention]:
        """The mentions that count in a sentence: offered names and places.

        Of pictures, ordinals and numbers too: "the second image" is one only where the options are
        known to be pictures. An offered name outranks a form of another kind beside it: "(A) the
        second image" is A.
        """
        mentions: list[Mention] = []
        for mention in self.all_mentions:
            is_offered = mention.form in OFFERED_FORMS
            counts_without_name = mention.form == "place" or self.choices.are_pictures is True
            if not is_offered and not counts_without_name:
                continue
            if not mentions or not self._is_beside(mentions[-1], mention):
                mentions.append(mention)
                continue

            previous_is_offered = mentions[-1].form in OFFERED_FORMS
            if previous_is_offered and not is_offered:
                continue  # "(A) the second image": the name before it outranks it.
            if is_offered and not previous_is_offered:
                mentions[-1] = mention  # "The second is (A)": it outranks the form before it.
                continue
            mentions.append(mention)  # Two names, or two other forms, are both mentioned.
        return mentions

    def _is_beside(self, before: Mention, mention: Mention) -> bool:
        """Whether no more than signs, or "the", "is" or "or", stand between two mentions."""
        return _BESIDE.fullmatch(self.text, before.end, mention.start) is not None

    @cached_property
    def groups(self) -> list[MentionGroup]:
        """All mentions in groups, in their order: those with "and", "or", "," or "to" between them.

        "A and B. I choose A." has the groups (A, B) and (A,).
        """
        groups: list[MentionGroup] = []
        mentions: list[Mention] = []  # of the group that the next mention may join
        is_range = False  # whether that group has the ends of a range
        for mention in self.mentions:
            if mentions:
                between = self.text[mentions[-1].end : mention.start]
                ends_range = _RANGE.fullmatch(between) is not None
                if ends_range or self._is_joined(mentions[-1], mention, between):
                    mentions.append(mention)
                    is_range = is_range or ends_range
                    continue
                groups.append(MentionGroup(tuple(mentions), is_range=is_range))
            mentions = [mention]
            is_range = False
        if mentions:
            groups.append(MentionGroup(tuple(mentions), is_range=is_range))
        return groups

    def _is_joined(self, before: Mention, mention: Mention, between: str) -> bool:
        """Whether the text between two mentions joins them: "A and B", "(B) 13 and (C) 26"."""
        if _JOIN.fullmatch(between):
            # "The answer is B, and C is too literal" begins a clause of its own.
            begins_clause = _NEW_CLAUSE.fullmatch(between) and _VERB.match(self.text, mention.end)
            return not begins_clause
        if before.form != "bracketed" or mention.form != "bracketed":
            return False
        return _JOIN_AFTER_TEXT.fullmatch(between) is not None

    # --- lines and lists ---

    def opens_line(self, mention: Mention) -> bool:
        """Whether only signs and an item's number stand before a mention in its line: "2. (B)"."""
        # 0 if no line ends within the characters before it
        line_start = self.text.rfind("\n", max(0, mention.start - _LINE_HEAD), mention.start) + 1
        if line_start == 0 and mention.start >= _LINE_HEAD:
            return False
        return _SIGNS_ALONE.match(self.text[line_start : mention.start]) is not None

    def closes_line(self, mention: Mention) -> bool:
        """Whether no word follows a mention in its line."""
        rest = self.text[mention.end : mention.end + _LINE_HEAD].partition("\n")[0]
        return not WORD.search(rest)

    @cached_property
    def list_items(self) -> list[Mention]:
        """The first mention of each item of a list of options; [] if there are not two items.

        An item opens its line ("A. A man") or has a colon ("Image A: a man"). Each option has one
        item at most.
        """
        items: list[Mention] = []
        values: set[int] = set()
        for mention in self.mentions:
            if mention.value in values:
                continue  # A verdict may stand below the list.
            if self.opens_line(mention) or COLON.match(self.text, mention.end):
                items.append(mention)
                values.add(mention.value)
        return items if len(items) > 1 else []

    @cached_property
    def _item_spans(self) -> list[tuple[int, int]]:
        """Start and end of each item in `list_items`.

        An item ends at a blank line or where the next begins; the last ends with its line.
        """
        spans = []
        items = self.list_items
        for item, following in itertools.pairwise(items):
            blank_line = BLANK_LINE.search(self.text, item.end, following.start)
            item_end = blank_line.start() if blank_line else following.start
            spans.append((item.start, item_end))
        if items:
            line_end = self.text.find("\n", items[-1].end)
            if line_end < 0:
                line_end = len(self.text)
            spans.append((items[-1].start, line_end))
        return spans

    def is_in_list(self, mention: Mention) -> bool:
        """Whether a mention stands in an item of the list of options."""
        # The last item that begins at or before the mention; -1 if none does
        number = bisect_right(self._item_spans, mention.start, key=itemgetter(0)) - 1
        return number >= 0 and mention.start < self._item_spans[number][1]

    # --- what is said of an option ---

    def around(self, group: MentionGroup) -> Around:
        """The text before and after a group of mentions, with its sentence told apart."""
        return self.answer.around(group.start, group.end)

    def is_evidence(self, group: MentionGroup) -> bool:
        """Whether a group is not denied, compared with others ("than B"), conditional or asked."""
        around = self.around(group)
        if around.is_in_question or _is_denied_before(around.sentence_before):
            return False
        if group.first.form != "bracketed" and _SAYS_NO.match(self.text, group.end):
            return False
        return not is_denied_after(around.sentence_after)

    @cached_property
    def text_groups(self) -> list[MentionGroup]:
        """The texts of options in the answer, each as a group of its own."""
        if self.choices.texts is None:
            return []
        return [MentionGroup((mention,)) for mention in find_texts(self.text, self.choices.texts)]

    def contradicts_its_text(self, mention: Mention) -> bool:
        """Whether the text of another option stands directly beside the name of an option.

        It does in "(A) a dog" if the text of A is "a cat" and that of B is "a dog". False where no
        texts are known.
        """
        texts = self.choices.texts
        if texts is None or not 0 <= mention.value < len(texts):
            return False
        its_text = plain_text(texts[mention.value])
        after = plain_text(self.text[mention.end : mention.end + _LONGEST_TEXT])
        before = plain_text(self.text[max(0, mention.start - _LONGEST_TEXT) : mention.start])
        if after.startswith(its_text) or before.endswith(its_text):
            return False
        for text in texts:
            other = plain_text(text)
            if other and after.startswith(other) and _ENDS_A_TEXT.match(after, len(other)):
                return True
            # The other text is all that stands before the name, or it is quoted. `plain_text` has
            # left out its closing quotation mark.
            if other and (before == other or before.endswith(f'"{other}')):
                return True
        return False


_LONGEST_TEXT = 400  # characters of an option's text that are compared
_ENDS_A_TEXT = re.compile(r"""[)\]"']?\s?(?:[.,;:!)](?!\d)|\Z)""")


# --- denied, compared, conditional ---

# "It is not", "We can eliminate", "It fits better than ("; a comma or a bracket ends a denial.
_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not(?! (?:only|just))|nothing|neither|nor|never|cannot|(?:any|every)thing but|all"
    r" but|except|without"
    r"|eliminat\w+|exclud\w+|reject\w*|rul\w+ out"
    r"|discard\w*|dismiss\w*|incorrect|wrong)\b|n't\b|não|nicht|no es|n'est"
    r" pas|不是|不选)[^,;:(.\n]{0,80}\Z"
    r"|\b(?:unlike|rather than|instead of|other than|than|over|as opposed to|compared"
    r" (?:to|with)|similar to)\b"
    r"\s(?:\w{1,12}\s){0,2}[(\[\"']{0,2}\Z",
    re.I,
)
_CONDITIONAL = re.compile(
    r"\b(?:so far|if|unless|whether|suppose|assuming)\b[^,;.\n]{0,100}\Z", re.I
)
_CLAUSE_END = re.compile(
    r"[,:;(]|\b(?:but|so(?! far)|because|since|and|as|while|whereas|that)\b", re.I
)
_BE = r"(?:is|are|was|were|seems?|looks?|appears?|would be|may be|might be|could be)"
# At the head of the clause: " does not fit", " can be ruled out", ": no". Anywhere: "literal"
_DENIED_AFTER = re.compile(
    r"(?:\A\W{0,3}(?:clearly\s|also\s|\w+ly\s)?"
    r"(?:(?:is|was|are|does|do|did|can|could|would|has|seems|looks|appears)(?:n't|\snot|\snever|\shardly)\b|cannot\b|never\b"
    r"|hardly\b|can(?: also)? be (?:eliminated|ruled out|excluded|discarded)|fails?\b|lacks?\b"
    rf"|{_BE}\s(?:\w+ly\s|too\s|just\s|only\s|merely\s|the\s|an?\s|more\s){{0,3}}"
    r"(?:incorrect|wrong|false|irrelevant|unrelated|worst|less|out\b|misleading|distractor"
    r"|eliminated|ruled out|excluded|farther|worse|tempting)\b)"
    r"|\A[:-]{1,2}\s?(?:no|incorrect|wrong|false|not)\b"
    r"|\b(?:literal(?:ly)?|less|worse|so far|unless)\b|\b(?:only )?if\b)",
    re.I,
)
# All that follows in "B. No."; "(B) No." is an option with its text.
_SAYS_NO = re.compile(
    r"\W{0,4}(?:no|nope|incorrect|wrong|false|not (?:this|correct|it))\b\W*\Z", re.I
)
# "A, which shows a man, is literal"
_ASIDE = re.compile(r"\A,\s(?:which|who|that)\s[^.,]{0,80},")
# "(B) the third image does not share it"
_NAMED_AGAIN = re.compile(
    r"\A\W{0,3}(?:the\s\w+\s(?:image|picture|one|option)|(?:image|picture|point|box|option)\s[A-Z\d])\b",
    re.I,
)


@lru_cache(maxsize=IN_LOOPS)
def _is_denied_before(before: str) -> bool:
    """Whether the text before an option denies it, compares it, or makes it conditional.

    "It is not", "It fits better than", "If we look at".
    """
    return bool(_DENIED_BEFORE.search(before) or _CONDITIONAL.search(before))


@lru_cache(maxsize=IN_LOOPS)
def is_denied_after(after: str) -> bool:
    """Whether the clause after an option denies it, or makes it conditional.

    ", which shows a man, is literal", " would fit if ...".
    """
    after = _NAMED_AGAIN.sub("", _ASIDE.sub("", after))
    # From 1 on: the sign right after the option, as in ": no", ends no clause.
    clause_end = _CLAUSE_END.search(after, 1)
    clause = after[: clause_end.start()] if clause_end else after
    return _DENIED_AFTER.search(clause) is not None
