"""Yes or no: "Overall, no. The image shows a plain boat." is False.

An answer says so in *words* ("no"), which may be announced or set off (`yes_no_words`), or in
*statements* about the topic, the thing that was asked about: "It contains no metaphor."
(`statements`). They are compared: "Yes, it contains no metaphor." is ambiguous.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from figlang_tasks.answers.checkboxes import Checkbox, checkboxes, ticked
from figlang_tasks.answers.statements import find_statements
from figlang_tasks.answers.text import Answer, Around
from figlang_tasks.answers.verdict import Evidence, Read, decide, read_marked_parts
from figlang_tasks.answers.words import CORRECTION, NEUTRAL, REFUSAL
from figlang_tasks.answers.yes_no_words import BOXED, EITHER, NEITHER, WORD, Mention, is_yes


def yes_no(
    output: str | None, about: str | None = None, prompt_texts: Sequence[str] = ()
) -> Read[bool]:
    """Whether an answer says yes; no value where a careful reader would doubt it.

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
    """What the first tier with evidence gives, or why there is no yes or no."""
    analysis = _Analysis(answer, topic)
    for tier in _TIERS:
        reading = tier(analysis)
        if reading is not None:
            return reading
    if REFUSAL.search(answer.text) or NEITHER.search(answer.text):
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


# --- what an answer says ---


@dataclass(frozen=True)
class _Analysis:
    """An answer, and what it says of yes and no.

    The value of all evidence is True for yes, False for no, None for "yes and no".

    Attributes:
        answer: the answer.
        topic: finds the thing that was asked about; None if that is not known.
    """

    answer: Answer
    topic: re.Pattern[str] | None

    @cached_property
    def words(self) -> list[tuple[re.Match[str], Around]]:
        """The words that may answer, and the text around them without the echo of the question."""
        words = list(self.answer.mentions(WORD, EITHER))
        if not EITHER.search(self.answer.text):
            return words
        # `mentions` left out the words of "yes or no"; here it goes out of the text before others.
        words_without_echo = []
        for word, around in words:
            sentence_before = EITHER.sub("", around.sentence_before)
            words_without_echo.append((word, around._replace(sentence_before=sentence_before)))
        return words_without_echo

    @cached_property
    def boxes(self) -> list[Checkbox]:
        """The boxes beside words that answer; none for "[x] No text in the picture"."""
        word_starts = {word.start() for word, _ in self.words}
        boxes = checkboxes(self.answer.text, BOXED)
        return [box for box in boxes if box.word.start() in word_starts]

    @cached_property
    def mentions(self) -> list[Mention]:
        """The words that say yes or no, without those struck out or beside a box not ticked."""
        starts_of_unticked = set()
        for box in self.boxes:
            if box.mark == "empty" or (box.mark == "cross" and is_yes(box.word)):
                starts_of_unticked.add(box.word.start())

        mentions = []
        for word, around in self.words:
            is_struck_out = self.answer.raw.endswith("~~", 0, word.start())  # "~~Yes"
            if word.start() not in starts_of_unticked and not is_struck_out:
                mentions.append(Mention.of(word, around))
        return mentions

    @cached_property
    def announcements(self) -> list[Evidence]:
        """What the words that are announced as the answer say, in their order."""
        announcements = [mention.announcement() for mention in self.mentions]
        return [announcement for announcement in announcements if announcement is not None]

    @cached_property
    def set_off_words(self) -> list[Evidence]:
        """What the words say that stand where an answer stands, in their order."""
        return [mention.evidence("word") for mention in self.mentions if mention.is_set_off]

    @cached_property
    def statements(self) -> list[Evidence]:
        """What it states about the topic, or without naming it ("Yes, it does"), in their order."""
        ellipses = [mention.ellipsis() for mention in self.mentions if mention.is_set_off]
        statements = [ellipsis for ellipsis in ellipses if ellipsis is not None]
        if self.topic is not None:
            statements += find_statements(self.answer, self.topic)
        return sorted(statements, key=lambda statement: statement.start)

    def sentence_of(self, evidence: Evidence) -> int:
        """The 0-based number of the sentence in which something stands."""
        return bisect_left(self.answer.sentence_ends, evidence.start)

    def is_corrected(self, earlier: Evidence, later: Evidence) -> bool:
        """Whether words between two pieces of evidence take the earlier one back."""
        return CORRECTION.search(self.answer.text, earlier.end, later.start) is not None


# --- the tiers ---

_NEAR = 160  # characters before a statement in which a word corrects what was said before it
_CONFLICT: Read[bool] = Read(None, "ambiguous", "conflict")
_BOTH: Read[bool] = Read(None, "ambiguous", "either")


def _announced_answer(analysis: _Analysis) -> Read[bool] | None:
    """What the last announcement says, or a word that corrects it; None without an announcement.

    It is ambiguous beside a contrary word in its sentence, a contrary statement in the first
    sentence, or one that `_compare_with_statements` finds.
    """
    if not analysis.announcements:
        return None
    last = analysis.announcements[-1]
    if last.value is None:
        return _BOTH
    reading: Read[bool] = Read(last.value, "read", "answer")

    # The words after it: "The answer is yes. Wait, no." is no; "The answer is yes, no." is neither.
    previous = last
    for word in analysis.set_off_words:
        if word.start <= last.start:
            continue
        if word.value != reading.value:
            if word.value is not None and analysis.is_corrected(previous, word):
                reading = Read(word.value, "read", "correction")
            elif analysis.sentence_of(word) == analysis.sentence_of(last):
                return _CONFLICT
            # else a later sentence says the contrary of something else, and changes nothing.
        previous = word

    if analysis.statements:
        first = analysis.statements[0]
        if analysis.sentence_of(first) == 0 and first.value != reading.value:
            return _CONFLICT
    return _compare_with_statements(analysis, [last], reading)


def _ticked_word(analysis: _Analysis) -> Read[bool] | None:
    """The word whose box is ticked; None if no box is. Two different ones are ambiguous."""
    return decide(analysis.answer, ticked(analysis.boxes, is_yes))


def _set_off_word(analysis: _Analysis) -> Read[bool] | None:
    """What the words say that stand where an answer stands; None if no word does.

    It is ambiguous beside a statement that says the contrary, and where it is "yes and no".
    """
    reading = decide(analysis.answer, analysis.set_off_words)
    if reading is None or reading.status != "read":
        return reading
    if reading.value is None:  # "Yes and no" was read.
        return _BOTH
    return _compare_with_statements(analysis, analysis.set_off_words, reading)


def _compare_with_statements(
    analysis: _Analysis, words: Sequence[Evidence], reading: Read[bool]
) -> Read[bool]:
    """A reading of yes or no, unless a statement about the topic says the contrary.

    Each statement is compared with the last word before it. "Yes, the image contains no metaphor."
    is ambiguous; "No. Actually, this is a metaphor." is corrected; "No. This is a metaphor." is no,
    since the statement is of another sentence and corrects nothing.

    Args:
        analysis: of the answer.
        words: those that were read, in their order.
        reading: what they say; it is returned where no statement changes it.
    """
    starts = [word.start for word in words]
    for statement in analysis.statements:
        number = bisect_left(starts, statement.start) - 1  # of the last word before the statement
        if number < 0 or words[number].value == statement.value:
            continue
        word = words[number]
        sentence = analysis.sentence_of(statement)
        is_same_sentence = analysis.sentence_of(word) == sentence
        # A correction stands after the word, near the statement, and in its sentence.
        search_from = max(word.end, statement.start - _NEAR)
        if not is_same_sentence:
            sentence_start = analysis.answer.sentence_ends[sentence - 1]
            search_from = max(search_from, sentence_start)
        if CORRECTION.search(analysis.answer.text, search_from, statement.start):
            is_last_word = number == len(words) - 1  # A later word would take it back again.
            if is_last_word:
                return Read(statement.value, "read", "correction")
        elif is_same_sentence:
            return _CONFLICT
    return reading


def _neutral(analysis: _Analysis) -> Read[bool] | None:
    """A refusal where the answer begins with "neutral", else None."""
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
# "Absolutely not." or "No doubt." at the head of a line; "Absolutely!" as the whole answer
_PHRASE = re.compile(
    rf"(?:\A|(?<=\n))\W{{0,9}}(?:(?P<no>{_NO_PHRASE})|{_YES_PHRASE})|\A\W*{_YES_ALONE}\W*\Z",
    re.I,
)


def _phrase_for_yes_or_no(analysis: _Analysis) -> Read[bool] | None:
    """What a phrase at the start of a line means: "Absolutely not."; None without one.

    It is ambiguous beside a statement that says the contrary.
    """
    phrases = []
    for phrase in _PHRASE.finditer(analysis.answer.text):
        is_yes_phrase = phrase["no"] is None
        phrases.append(Evidence(is_yes_phrase, phrase.start(), phrase.end(), "phrase"))
    reading = decide(analysis.answer, phrases)
    if reading is None:
        return None
    for statement in analysis.statements:
        if statement.value != reading.value:
            return _CONFLICT
    return reading


def _stated_answer(analysis: _Analysis) -> Read[bool] | None:
    """What the answer states about the topic; None if it states nothing."""
    return decide(analysis.answer, analysis.statements)


def _echo_of_question(analysis: _Analysis) -> Read[bool] | None:
    """Ambiguous where the answer repeats "yes or no" and says nothing else, else None."""
    return _BOTH if EITHER.search(analysis.answer.text) else None


_TIERS: tuple[Callable[[_Analysis], Read[bool] | None], ...] = (
    _announced_answer,
    _ticked_word,
    _set_off_word,
    _neutral,
    _phrase_for_yes_or_no,
    _stated_answer,
    _echo_of_question,
)
"""The tiers of `yes_no` in their order; each gives None where it has no evidence."""
