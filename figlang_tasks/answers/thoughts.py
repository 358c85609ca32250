"""What of an output is thought, and what stands outside of the tags of thoughts.

"<think>A or B?</think>The answer is B." has the thought "A or B?", and outside of it "The answer is
B.". Tags and their roles are those of `thought_tags`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, TypeAlias

from figlang_tasks.answers.thought_tags import EXPLAINING, Tag, find_tags, may_have_tags

EXPLAINED: Final = "reasoning"
"""The rule of a reading that is an explanation in a thought (`explanation_in_thought`)."""

_Span: TypeAlias = tuple[int, int]
_STRAY_WORDS: Final = 2
"""So few words are no thought but an answer: "B</reason>", "Answer: B</reason>"."""
_INDENT: Final = 9  # characters before an answer tag that may be white space of its line
_LAST_CHARACTERS: Final = 300  # of an output: an answer tag among them may be its last word
_OTHER_TAG: Final = re.compile(r"<[^<>\n]{1,40}>")  # of any name, such as "</s>"
_HAS_WORD: Final = re.compile(r"\w")


def without_thoughts(output: str) -> str:
    """The output, with a line end in place of each character of thoughts and their tags.

    So a position in the result is the same position in the output.

    A closing tag alone ends a thought that the prompt opened: all before it is thought. An opening
    tag alone begins a thought that was cut off: all after it is thought, unless an answer tag ends
    it.
    """
    if not may_have_tags(output):
        return output
    characters = ["\n"] * len(output)
    for start, end in _Thoughts(output).outside:
        characters[start:end] = output[start:end]
    return "".join(characters)


def explanation_in_thought(output: str) -> str | None:
    """The text in the closed tags of an output that are `EXPLAINING`; None if there is none.

    "<reason>The boat is a debt.</reason>B" gives "The boat is a debt.". For tasks that ask for an
    explanation, where none stands outside of thoughts. Labels in it are not read.
    """
    parts = [output[start:end].strip() for start, end in _Thoughts(output).explaining]
    return "\n".join(filter(None, parts)) or None


def open_thought(prompt: str) -> str:
    """The tag with which a prompt ends and opens a thought, "<think>"; "" if it opens none."""
    last_characters = prompt.rstrip()[-2 * _LAST_CHARACTERS :]
    tags = find_tags(last_characters)
    if not tags or tags[-1].role != "opens" or tags[-1].end < len(last_characters):
        return ""
    return last_characters[tags[-1].start :]


# --- thoughts, tag by tag ---


class _Thoughts:
    """Tells what of an output is thought, by one pass over its tags.

    A *stretch* is the text between two tags that begin or end thoughts. At each such tag the
    stretch before it is put where it belongs, by the thoughts that are open there. So
    "One <think>two <reason>three</reason> four</think> five" is read:

    ================ ================== ===================== ============================
    tag              stretch before it  open thoughts before  the stretch is
    ================ ================== ===================== ============================
    ``<think>``      "One "             none                  outside
    ``<reason>``     "two "             think                 dropped: thought
    ``</reason>``    "three"            think, reason         dropped: "think" explains nothing
    ``</think>``     " four"            think                 dropped: thought
    end of output    " five"            none                  outside
    ================ ================== ===================== ============================

    Without the outer tags, "three" would explain: ``explaining`` has it once ``</reason>`` comes.

    A plain ``<answer>`` in an open thought is only noted. If nothing closes the thought ("<think>A?
    B!\\n<answer>B"), the answer begins there; if a tag does, it was a word of the thought.

    Attributes:
        outside: the stretches of the output that are no thought.
        explaining: those of closed thoughts that are `EXPLAINING`, without thoughts of other names
            in them.
    """

    def __init__(self, output: str) -> None:
        """Read all tags of an output; the two lists of spans are whole afterwards."""
        self.outside: list[_Span] = []
        self.explaining: list[_Span] = []
        self._output = output
        # The names of the open thoughts, from the outermost to the innermost: `_open` adds one,
        # `_close` removes one and those in it, `_leave_all` removes all.
        self._open_names: list[str] = []
        # Where the stretch begins that the next tag will end: set by `_end_stretch`.
        self._stretch_start = 0
        # The stretches of open thoughts that explain: they count once these are closed.
        self._unclosed_explaining: list[_Span] = []
        # Where the noted ``<answer>`` stands; None while no thought is open. Set by `_note_answer`.
        self._answer_start: int | None = None
        self._tag_counts: Counter[tuple[str, str]] = Counter()  # so far, by role and name
        self._read()

    def _read(self) -> None:
        """Go through the tags, and set `outside` and `explaining`."""
        tags = find_tags(self._output)
        for number, tag in enumerate(tags, start=1):
            if tag.role == "opens":
                self._open(tag)
            elif tag.role == "closes":
                self._close(tag, is_last=number == len(tags))
            elif tag.role == "final":
                self._begin_answer(tag)
            elif tag.role == "empty":  # It opens a thought and closes it: no thought changes.
                self._end_stretch(tag)
            elif tag.role == "answer":
                self._note_answer(tag)
            self._tag_counts[tag.role, tag.name] += 1

        # The last stretch ends with the output. In a thought that nothing closed it is outside from
        # the noted answer on; without one (None) all of it is thought.
        last_start = self._answer_start if self._open_names else self._stretch_start
        if last_start is not None:
            self.outside.append((last_start, len(self._output)))

    def _open(self, tag: Tag) -> None:
        """Begin a thought, perhaps in another one."""
        if self._answer_start is not None:  # The thought before had no end, then came the answer.
            self._stretch_start = self._answer_start
            self._leave_all(is_closed=False)
        self._end_stretch(tag)
        if tag.name not in self._open_names:  # Models open a thought twice and close it once.
            self._open_names.append(tag.name)

    def _close(self, tag: Tag, *, is_last: bool) -> None:
        """End the thought of this name and those in it; ignore a stray tag (`_is_stray`).

        Where no thought is open, all before the tag becomes thought: the prompt opened it.

        Args:
            tag: the closing tag.
            is_last: whether it is the last tag of the output.
        """
        is_stray = not self._open_names and is_last and self._is_stray(tag)
        self._end_stretch(tag)
        if is_stray:
            return
        if not self._open_names:  # The prompt opened the thought.
            if tag.name in EXPLAINING:
                self.explaining += self.outside
            self.outside = []
        elif tag.name in self._open_names[1:]:
            del self._open_names[self._open_names.index(tag.name) :]
            self._answer_start = None  # It stood in the thought that ends here.
        else:  # The outermost thought, or by a slip another name: <think>...</thinking>
            self._leave_all(is_closed=True)

    def _begin_answer(self, tag: Tag) -> None:
        """End all thoughts at a "final" tag; all before the first such tag is thought."""
        is_first = not any(role == "final" for role, _ in self._tag_counts)
        self._end_stretch(tag)
        if self._open_names:
            self._leave_all(is_closed=True)
        elif is_first:  # The prompt opened the thought.
            self.outside = []
        # else no thought stands between two answers: both stay outside.

    def _note_answer(self, tag: Tag) -> None:
        """Keep where the first ``<answer>`` in open thoughts stands; it ends no stretch."""
        if self._open_names and self._answer_start is None and _is_answer(self._output, tag):
            self._answer_start = tag.start

    def _end_stretch(self, tag: Tag) -> None:
        """Put the stretch before a tag where it belongs; the next begins after the tag."""
        stretch = self._stretch_start, tag.start
        if not self._open_names:
            self.outside.append(stretch)
        elif all(name in EXPLAINING for name in self._open_names):
            self._unclosed_explaining.append(stretch)
        # else it is thought, and belongs nowhere.
        self._stretch_start = tag.end

    def _leave_all(self, *, is_closed: bool) -> None:
        """Forget all open thoughts; those that were not closed explain nothing."""
        if is_closed:
            self.explaining += self._unclosed_explaining
        self._open_names = []
        self._unclosed_explaining = []
        self._answer_start = None

    def _is_stray(self, tag: Tag) -> bool:
        """Whether a last closing tag, with no thought open, follows the answer and no thought.

        So it is if its thought was closed before ("<think>A?</think>B</think>"), or after a word or
        two, which are no reason ("B</reason>"). Else the prompt opened the thought, and nothing
        follows it.
        """
        if _HAS_WORD.search(_OTHER_TAG.sub("", self._output[tag.end :])):
            return False  # The answer follows the tag.
        n_opened = self._tag_counts["opens", tag.name]
        n_closed = self._tag_counts["closes", tag.name]
        if n_closed:
            return n_closed >= n_opened
        if n_opened or tag.name not in EXPLAINING:
            return False
        stretches_before = [*self.outside, (self._stretch_start, tag.start)]
        words = " ".join(self._output[start:end] for start, end in stretches_before).split()
        return len(words) <= _STRAY_WORDS


def _is_answer(output: str, tag: Tag) -> bool:
    """Whether an answer tag in a thought begins the answer, and is not just mentioned.

    It does if it begins a line, or if the output ends with it: with "<answer>The boat.</answer>",
    or with the tag and a word or two where nothing closes it.
    """
    before = output[max(0, tag.start - _INDENT) : tag.start]
    if tag.start < _INDENT:
        before = "\n" + before  # The output begins a line.
    _, line_end, indent = before.rpartition("\n")
    if line_end and not indent.strip():
        return True
    if len(output) - tag.end > _LAST_CHARACTERS:
        return False
    answer, closing, after_closing = output[tag.end :].partition("</")
    if "<" in answer:
        return False
    if closing:
        # "<" makes the closing tag, now "answer>", a tag again, which is then left out.
        return not _HAS_WORD.search(_OTHER_TAG.sub("", f"<{after_closing}"))
    return len(answer.split()) <= _STRAY_WORDS
