"""Yes or no."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

from figlang_tasks.answers.checkboxes import Checkbox, checkboxes, ticked
from figlang_tasks.answers.statements import find_statements
from figlang_tasks.answers.text import Answer, Around
from figlang_tasks.answers.verdict import Evidence, Read, decide, read_marked_parts
from figlang_tasks.answers.words import (
    CJK,
    CORRECTION,
    IN_LOOPS,
    NEUTRAL,
    REFUSAL,
    is_announced,
    is_said,
)


def yes_no(
    output: str | None, about: str | None = None, prompt_texts: Sequence[str] = ()
) -> Read[bool]:
    """Yes or no; never a guess.

    The first of these tiers that has evidence decides; its name is the `rule`:

    - ``answer``: yes or no that is announced: "the answer is no", "I would say yes". The last
      announcement counts. "The answer is not no" is yes.
    - ``checked``: a box that is ticked: "[x] Yes [ ] No".
    - ``word``: yes or no, also in the other languages of the benchmarks, that opens a line or a
      sentence, or closes a clause ("Based on the image, yes."). "No" before a noun is a determiner;
      "yes or no" is the echo of the question.
    - ``phrase``: a sentence of its own that means yes or no: "Absolutely not."
    - ``statement``: with `about`, a sentence about the thing that is asked for: "the image contains
      no metaphor". Its subject is the image (it, this, there ...). Questions and hedges (may,
      whether ...) state nothing; "no doubt" and "not without" deny nothing.

    Different answers of one tier are ambiguous (``conflict``), and so is a word beside a statement
    of the contrary, unless the later corrects the earlier ("No, actually yes.", ``correction``).
    "Yes and no" is ambiguous (``either``).

    Args:
        output: the model's output; None if there is none.
        about: regular expression of the thing asked about, such as ``metaphors?``.
        prompt_texts: texts of the prompt, such as the caption; where the answer repeats them, and
            in quoted sentences, it says nothing.

    Returns:
        True for yes; with one of these rules, or ``either``, ``refusal``, ``nothing``, ``thought``,
        ``empty``, ``missing``.

    Raises:
        TypeError: `output` is neither str nor None.
    """
    topic = re.compile(rf"\b(?:{about})\b", re.I) if about is not None else None
    return read_marked_parts(output, partial(_read, topic=topic), prompt_texts)


def _read(answer: Answer, topic: re.Pattern[str] | None) -> Read[bool]:
    analysis = _Analysis(answer, topic)
    for tier in _TIERS:
        reading = tier(analysis)
        if reading is not None:
            return reading
    if REFUSAL.search(answer.text) or _NEITHER.search(answer.text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


# --- the words ---

_YES = r"(?:yes|yeah|yep|yup|sim|s[iíì]|oui|ja)"
_NO = r"(?:no|nope|nah|n[aã]o|non|nein)"
_CJK_YES = r"(?:是的?|[对對]的?|没错|沒錯|正[确確]|有|はい)"
_CJK_NO = r"(?:否|不|不是的?|不[对對]|不正[确確]|[没沒]有|错误|錯誤|いいえ)"
_IS_YES = re.compile(rf"(?:{_YES}|y|true|{_CJK_YES})\Z", re.I)

# "No people are in the image"; "Yes would need a second meaning"; '"No" would be the literal
# reading'
_FOLLOWS = (
    r"(?:it|the|this|that|there|these|those|they|because|as|since|i|we|but|and|not|in|for|from"
    r"|indeed|although|though)"
)
_IN_A_SENTENCE = (
    rf"(?:\x20(?!{_FOLLOWS}\b)\w|\x20{{2,4}}(?-i:[a-z])"
    r"|[\"')]{1,2}\x20(?:would|could|might|is|was|seems|means|reading)\b)"
)
# What stands before a Chinese word that answers, where no sign does.
_CJK_LEAD = (
    rf"(?:(?<![\w{CJK}])|(?<=答案是)|(?<=答案为)|(?<=答案為)|(?<=回答是)|(?<=应该是)"
    r"|(?<=所以)|(?<=因此))"
)

_BOTH_WAYS = (
    rf"(?:(?:{_YES},?\s(?:and|&|y|e|et|und)\s{_NO}|{_NO},?\s(?:and|&|y|e|et|und)\s{_YES})(?!-|\s?\w)"
    r"|yes\sand\sno(?=\s(?:because|since|as|depending|it|the|this)\b)"
    r"|yes,?\sbut\snot\s(?:really|quite|exactly)(?=\W*(?:[.\n]|\Z)))"
)
_WORD = re.compile(
    rf"(?<![\w-])(?<!\w')(?:(?P<both>{_BOTH_WAYS})"
    # "No. 2" is a number.
    rf"|(?:{_YES}|{_NO}(?!\.\x20?\d)|[yn](?=\W*\Z))(?![\w-])(?!{_IN_A_SENTENCE})"
    r"|(?P<truth>(?:true|false)(?!\w)))"
    rf"|{_CJK_LEAD}(?:{_CJK_NO}|{_CJK_YES})(?!\w)",
    re.I,
)
_SEPARATOR = r"[\"']?\s?(?:/|or|ou|oder|o)\s?[\"']?"
_EITHER = re.compile(
    rf"\b(?:{_YES}{_SEPARATOR}{_NO}|{_NO}{_SEPARATOR}{_YES}|y/n)\b|是\s?(?:/|或|还是|還是)\s?否",
    re.I,
)
_NEITHER = re.compile(r"\bneither\s[\"']?(?:an?\s)?(?:clear\s)?(?:yes|no)\b", re.I)

_LEAD_WORDS = (
    r"(?:so|therefore|thus|hence|then|well|okay|ok|i think|i believe|i"
    r" guess|wait|sorry|hmm|oh|and|but|overall|in short"
    r"|in conclusion|in summary|short"
    r" answer|correction|(?!hardly|barely|scarcely|possibly)\w{3,14}ly|所以|因此)"
)
_OPENS = re.compile(rf"[\W\d]*(?:[a-z]\)\s)?(?:{_LEAD_WORDS}[\s,:;.-]{{0,3}}){{0,3}}\Z", re.I)
_ALSO = r"(?:(?:also|then again|in a way|at the same time|\w{3,14}ly)\s)?"
_OPENS_CLAUSE = re.compile(
    r"(?:[,:>]\s|[.!?]|\s-\s|\(|\b(?:(?<!anything )(?<!nothing )but|or rather|rather|actually|i"
    r" meant?|make that|so"
    rf"|then|hence|thus|therefore|mas|pero|sino|mais|aber|ma)\s{_ALSO}"
    r"|所以|因此)[\"']?\Z",
    re.I,
)
# "Yes and also no."; "and yes, it is funny" is an aside.
_AND = re.compile(rf"\b(?:and|yet)\s{_ALSO}[\"']?\Z", re.I)
_WORD_SIGN = re.compile(r"\w")
_ENDS_CLAUSE = re.compile(r"[\"')\]]{0,2}\s?(?:[,:;!(]|-\s|\Z)")
_SPEECH = re.compile(
    r"\b(?:says?|said|saying|reads?|asks?|asked|shouts?|exclaims?|sign|bubble|caption|text|words?|written)\b"
    r"[^.!?\n]{0,40}[\"'(]\Z",
    re.I,
)
_CONDITIONAL_AFTER = re.compile(
    r"[\"')\]]{0,2},?\s(?:only\s)?(?:if|when|unless|provided|in case)\b", re.I
)
# "the answer is a resounding yes", "the answer is (B) no"
_BEFORE_WORD = re.compile(
    r"(?<=\bis )an? (?:resounding|clear|definite|firm|strong|emphatic|straightforward|big) \Z"
    r"|(?:\b(?:option|choice)\s)?\(?\b[a-z]\)\s{0,2}\Z",
    re.I,
)
_TAIL = 50  # signs before a word that tell whether a clause begins with it
# "Yes, it does not."
_ELLIPSIS = re.compile(
    r",?\s(?:(?:it|this|that|they|these|the"
    r" (?:image|picture|cartoon|caption|sentences|two))\s(?:do|does|is|are)"
    r"(?P<denied>\snot|n't)?|there\s(?:is|are)\s(?:one|some|(?P<none>none)))[.!]?\s?\Z",
    re.I,
)
# "it is a yes from me", "that's a no"; "it is not a no"
_IT_IS = re.compile(
    r"\b(?:it|this|that)(?:'s|\sis|\swould"
    r" be)\s(?P<denied>not\s)?(?:definitely\s|clearly\s)?(?:an?\s)?"
    r"(?:clear\s|definite\s)?[\"']?\Z",
    re.I,
)


@dataclass(frozen=True)
class _Mention:
    """A place where an answer says yes, no, or both.

    Attributes:
        value: None for "yes and no".
        start: where it begins.
        end: where it ends.
        around: the text around it.
        is_truth: whether it is "true" or "false", which answer where nothing else stands, or after
            an announcement.
    """

    value: bool | None
    start: int
    end: int
    around: Around
    is_truth: bool = False

    def evidence(self, rule: str) -> Evidence:
        return Evidence(self.value, self.start, self.end, rule)

    def announcement(self) -> Evidence | None:
        """What it answers where it is announced; "not no" is yes."""
        is_answer = _is_answer(self.around, self.is_truth)
        if is_answer is None:
            return None
        if is_answer:
            return self.evidence("answer")
        return (
            None if self.value is None else Evidence(not self.value, self.start, self.end, "answer")
        )

    def ellipsis(self) -> Evidence | None:
        """What the rest of its sentence states without naming the topic: "it does not"."""
        rest = _ELLIPSIS.match(self.around.sentence_after)
        if rest is None:
            return None
        is_denied = rest["denied"] is not None or rest["none"] is not None
        return Evidence(not is_denied, self.end + 1, self.end + rest.end(), "statement")

    @property
    def is_set_off(self) -> bool:
        """Whether it stands where an answer stands: at the head of a sentence, or as a clause of
        its own.
        """
        return _is_set_off(self.around, self.is_truth)


@lru_cache(maxsize=IN_LOOPS)
def _is_answer(around: Around, is_truth: bool) -> bool | None:
    """Whether what stands around a word announces it as the answer: False if it denies that, None
    if neither.
    """
    it_is = _IT_IS.search(around.sentence_before[-_TAIL:])
    is_answer = is_announced(
        _without_letter(around.text_before), _without_letter(around.sentence_before)
    )
    if it_is is not None and not is_truth:
        is_answer = it_is["denied"] is None
    return None if _CONDITIONAL_AFTER.match(around.sentence_after) else is_answer


@lru_cache(maxsize=IN_LOOPS)
def _is_set_off(around: Around, is_truth: bool) -> bool:
    before, after = around.sentence_before, around.sentence_after
    if is_truth:
        return not _WORD_SIGN.search(around.text_before + after)
    if _SPEECH.search(before):
        return False
    if _OPENS.match(before):
        return True
    if _AND.search(before[-_TAIL:]):
        return not _WORD_SIGN.search(after)
    is_clause = _ENDS_CLAUSE.match(after) and _OPENS_CLAUSE.search(before[-_TAIL:])
    return bool(is_clause) and is_said(before) is not None


@dataclass(frozen=True)
class _Analysis:
    """An answer, and the thing that was asked about."""

    answer: Answer
    topic: re.Pattern[str] | None

    @cached_property
    def words(self) -> list[tuple[re.Match[str], Around]]:
        """The words that may answer, and the text around them without the echo of the question."""
        words = list(self.answer.mentions(_WORD, _EITHER))
        if not _EITHER.search(self.answer.text):
            return words
        return [
            (word, around._replace(sentence_before=_EITHER.sub("", around.sentence_before)))
            for word, around in words
        ]

    @cached_property
    def boxes(self) -> list[Checkbox]:
        """The boxes beside words that answer; of "[x] No text in the picture" there is none."""
        starts = {word.start() for word, _ in self.words}
        boxes = checkboxes(self.answer.text, rf"(?:{_YES}|{_NO}|[是否对對])")
        return [box for box in boxes if box.word.start() in starts]

    @cached_property
    def mentions(self) -> list[_Mention]:
        """The words of an answer that say yes or no, without those of boxes that are not ticked."""
        unticked = set()
        for box in self.boxes:
            if box.mark == "empty" or (box.mark == "cross" and _is_yes(box.word)):
                unticked.add(box.word.start())

        mentions = []
        for word, around in self.words:
            is_struck_out = self.answer.raw.endswith("~~", 0, word.start())
            if word.start() not in unticked and not is_struck_out:
                value = None if word["both"] else _is_yes(word)
                mentions.append(
                    _Mention(value, *word.span(), around, is_truth=word["truth"] is not None)
                )
        return mentions

    @cached_property
    def announced(self) -> list[Evidence]:
        announcements = [mention.announcement() for mention in self.mentions]
        return [announcement for announcement in announcements if announcement is not None]

    @cached_property
    def set_off(self) -> list[Evidence]:
        return [mention.evidence("word") for mention in self.mentions if mention.is_set_off]

    @cached_property
    def statements(self) -> list[Evidence]:
        """What the answer states about the topic, and what it states of it in the rest of "Yes, it
        does".
        """
        ellipses = [mention.ellipsis() for mention in self.mentions if mention.is_set_off]
        statements = [ellipsis for ellipsis in ellipses if ellipsis is not None]
        if self.topic is not None:
            statements += find_statements(self.answer, self.topic)
        return sorted(statements, key=lambda statement: statement.start)

    def sentence_of(self, place: Evidence) -> int:
        """The number of the sentence in which something stands."""
        return bisect_left(self.answer.sentence_ends, place.start)

    def is_corrected(self, earlier: Evidence, later: Evidence) -> bool:
        return CORRECTION.search(self.answer.text, earlier.end, later.start) is not None


def _without_letter(text: str) -> str:
    """A text without the letter of an option, or the adjective, at its end."""
    return text[:-_TAIL] + _BEFORE_WORD.sub("", text[-_TAIL:])


def _is_yes(word: re.Match[str]) -> bool:
    return _IS_YES.match(word[0]) is not None


# --- the tiers ---

_CONFLICT: Read[bool] = Read(None, "ambiguous", "conflict")
_NEAR = 160  # signs before a statement in which a word corrects what was said before it
_BOTH: Read[bool] = Read(None, "ambiguous", "either")


def _answer(analysis: _Analysis) -> Read[bool] | None:
    """The last announcement, unless what follows takes it back or the first sentence states the
    contrary.
    """
    if not analysis.announced:
        return None
    last = analysis.announced[-1]
    if last.value is None:
        return _BOTH
    reading: Read[bool] = Read(last.value, "read", "answer")

    before = last
    for word in analysis.set_off:
        if word.start <= last.start:
            continue
        if word.value != reading.value:
            if word.value is not None and analysis.is_corrected(before, word):
                reading = Read(word.value, "read", "correction")
            elif analysis.sentence_of(word) == analysis.sentence_of(last):
                return _CONFLICT
        before = word

    if analysis.statements:
        first = analysis.statements[0]
        if analysis.sentence_of(first) == 0 and first.value != reading.value:
            return _CONFLICT
    return _against_statements(analysis, analysis.announced[-1:], reading)


def _checked(analysis: _Analysis) -> Read[bool] | None:
    """The box that is ticked."""
    return decide(analysis.answer, ticked(analysis.boxes, _is_yes))


def _word(analysis: _Analysis) -> Read[bool] | None:
    """The words that are set off, unless a statement says the contrary."""
    reading = decide(analysis.answer, analysis.set_off)
    if reading is None or reading.status != "read":
        return reading
    if reading.value is None:
        return _BOTH
    return _against_statements(analysis, analysis.set_off, reading)


def _against_statements(
    analysis: _Analysis, words: Sequence[Evidence], reading: Read[bool]
) -> Read[bool]:
    """A reading of yes or no, compared with what the answer states about the topic.

    "Yes, the image contains no metaphor." is ambiguous; "No. Actually, this is a metaphor." is
    corrected.
    """
    starts = [word.start for word in words]
    for statement in analysis.statements:
        number = bisect_left(starts, statement.start) - 1
        if number < 0 or words[number].value == statement.value:
            continue
        word = words[number]
        is_same_sentence = analysis.sentence_of(word) == analysis.sentence_of(statement)
        start = max(word.end, statement.start - _NEAR)
        if not is_same_sentence:
            start = max(start, analysis.answer.sentence_ends[analysis.sentence_of(statement) - 1])
        if CORRECTION.search(analysis.answer.text, start, statement.start):
            if number == len(words) - 1:
                return Read(statement.value, "read", "correction")
        elif is_same_sentence:
            return _CONFLICT
    return reading


def _neutral(analysis: _Analysis) -> Read[bool] | None:
    return Read(None, "refused", "refusal") if NEUTRAL.match(analysis.answer.text) else None


_IT_DOES = (
    r"(?:it|this|that|they|these|the (?:image|picture|cartoon|caption|sentences|two))"
    r" (?:do|does|is|are)"
)
_NO_PHRASE = (
    r"(?:(?:(?:absolutely|definitely|certainly|of course|clearly) not|not (?:at all|in the"
    r" least)|by no means|no way"
    r"|negative|incorrect|i (?:do not|don't) (?:think|believe) so)(?=\W{0,9}(?:[.,!\n]|\Z))"
    rf"|{_IT_DOES}(?: not|n't)(?=[.!](?!\.)))"
)
_YES_PHRASE = (
    r"(?:(?:undoubtedly|undeniably|affirmative|(?:without|beyond) (?:an?y? )?(?:shadow of a"
    r" )?(?:doubt|question)"
    r"|no (?:doubt|question)(?: about it)?|i (?:do )?(?:think|believe) so)(?=\W{0,9}(?:[.!\n]|\Z))"
    rf"|{_IT_DOES}(?=[.!](?!\.)))"
)
# "Sure! Here is ..." only begins to talk.
_YES_ALONE = (
    r"(?:absolutely|definitely|certainly|indeed|of course|sure|correct|exactly|unquestionably)"
)
_PHRASE = re.compile(
    rf"(?:\A|(?<=\n))\W{{0,9}}(?:(?P<no>{_NO_PHRASE})|{_YES_PHRASE})|\A\W*{_YES_ALONE}\W*\Z",
    re.I,
)


def _phrase(analysis: _Analysis) -> Read[bool] | None:
    """A line or a first sentence that means yes or no: "Absolutely not."."""
    phrases = []
    for phrase in _PHRASE.finditer(analysis.answer.text):
        phrases.append(Evidence(phrase["no"] is None, *phrase.span(), "phrase"))
    reading = decide(analysis.answer, phrases)
    if reading is not None and any(
        statement.value != reading.value for statement in analysis.statements
    ):
        return _CONFLICT
    return reading


def _statement(analysis: _Analysis) -> Read[bool] | None:
    """What the answer states about the topic."""
    return decide(analysis.answer, analysis.statements)


def _either(analysis: _Analysis) -> Read[bool] | None:
    """The echo of the question alone."""
    return _BOTH if _EITHER.search(analysis.answer.text) else None


_TIERS: tuple[Callable[[_Analysis], Read[bool] | None], ...] = (
    _answer,
    _checked,
    _word,
    _neutral,
    _phrase,
    _statement,
    _either,
)
