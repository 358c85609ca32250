"""Where an answer ends: before a question or a turn that the model invents.

A model that was not tuned for chats goes on after its answer: with a question about another row,
or with the next turn of a chat. What stands there answers another question. These begin it, each at
the start of a line:

* the words with which the prompt's last question begins, and then another text than the row's;
* "Question:", "Question 2:", "Q:", "USER:", "Human:", and the mark of a picture, ``<image>``;
* the name of a text, such as "Claim:", "Premise:" or one that the prompt has, and then another text
  than the row's.

The prompt's last question itself ends an answer only if that stands before it; repeated before the
answer it ends nothing. Nor does anything inside a thought, after "The question is:", or where no
word stands before. The prompt alone decides, with the texts of the row that it shows.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from figlang_tasks.answers.first_words import first_words, may_begin_question
from figlang_tasks.answers.output import answer_span
from figlang_tasks.answers.prompt_question import COLON, LINE_START, WORD, PromptQuestion, plain
from figlang_tasks.answers.wordings import Wordings, match_lines, word_lines

Row: TypeAlias = Mapping[str, Any]
ShownTexts: TypeAlias = Callable[[Row], Sequence[str]]
"""Gives the texts of a row that its prompt may show, in the order of the prompt."""

# Characters that are looked at
_LONGEST_INTRODUCTION: Final = 300  # of the words before a question
_LONGEST_QUOTING: Final = 120  # of "The question is:" among them
_LONGEST_TEXT: Final = 2000  # of a line
# Fields of a row that no prompt shows (`texts_of_row`)
_NEVER_SHOWN: Final = frozenset(
    "id data dataset config label answer gold target reference references explanation".split()
)


# --- an output, and the part of it that answers ---


class Output(str):
    """What a model said up to the next question that it invented; `whole` is all that it said.

    Of "B\\nQuestion: What is next?" the string itself is "B". Readers take it for a plain string. A
    paper's own rule reads `whole`, as the released code did.
    """

    whole: str

    def __new__(cls, answer: str, whole: str) -> Output:
        output = super().__new__(cls, answer)
        output.whole = whole
        return output

    def __reduce__(self) -> tuple[type[Output], tuple[str, str]]:
        """How pickle makes a copy, also in another process: both texts are kept."""
        return Output, (str(self), self.whole)


def whole(output: Any) -> Any:
    """All that a model said, its invented questions too; else the value as it is."""
    return output.whole if isinstance(output, Output) else output


def without_next_questions(
    row: Row,
    outputs: Sequence[Any],
    doc_to_text: Callable[[Row], Any],
    shown_texts: ShownTexts,
    other_wordings: Wordings | None = None,
) -> list[Any]:
    """The outputs of a row, each up to the next question that the model invents.

    Outputs that are no text, such as scores, stay as they are.

    Args:
        row: the document.
        outputs: what the model said about it.
        doc_to_text: gives the prompt.
        shown_texts: gives the texts of the row that the prompt may show.
        other_wordings: the question in other words, where the benchmark has several.
    """
    if not any(isinstance(output, str) and "\n" in output for output in outputs):
        return list(outputs)
    prompt = doc_to_text(row)
    if not isinstance(prompt, str):  # of a user's own task
        return list(outputs)
    texts = shown_texts(row)
    answers: list[Any] = []
    for output in outputs:
        if isinstance(output, str):
            output = before_next_question(output, prompt, texts, other_wordings)
        answers.append(output)
    return answers


def texts_of_row(row: Row) -> list[str]:
    """The texts of a row that a prompt may show, where the benchmark does not declare them."""
    texts = []
    for name, text in row.items():
        if isinstance(text, str) and name not in _NEVER_SHOWN:
            texts.append(text)
    return texts


def before_next_question(
    output: str, prompt: str, shown_texts: Sequence[str], other_wordings: Wordings | None = None
) -> str:
    """The part of an output before the next question or turn that the model invents.

    Args:
        output: what the model said.
        prompt: what it was asked; of several questions in it the last is the row's.
        shown_texts: the row's texts, in the order in which they stand in the prompt; those that do
            not are left out.
        other_wordings: other wordings of the question, where the benchmark has several; the row
            then shows one text.

    Returns:
        an `Output` if something is cut off, else `output` itself.
    """
    if "\n" not in output:
        return output
    end = _end_of_answer(output, prompt, shown_texts, other_wordings)
    if end is None:
        return output
    return Output(output[:end].rstrip(), whole(output))


# --- what begins a question or a turn ---

_QUESTION = re.compile(
    rf"{LINE_START}(?:(?:the )?(?:next|another|new|second|follow-up)"
    r" )?(?:question|q|pergunta|\u95ee\u9898)"
    rf"(?: ?#?(?P<number>\d{{1,3}}))?(?:{COLON}|(?<=\d)[^\w\n]{{0,4}}(?=\n))",
    re.I,
)
# "USER:", "<image>", "[INST]", "<|user|>"; `LINE_START` takes the signs before the word
_TURN = re.compile(
    rf"{LINE_START}(?:(?:USER|User|HUMAN|Human|Instruction){COLON}|(?<=<)image>|(?<=\[)INST\]|(?<=<\|)user\|>)"
)
_ANSWER_END = re.compile(r"</(?:answer|response|conclusion)>|<\|end_of_box\|>", re.I)

# "The question is:", but not "The next question is:"
_QUOTES_A_QUESTION = re.compile(
    r"\b(?:the|your|this|our)(?! (?:next|new|other|second|following)\b)(?: \w{1,12})?"
    r" question\b[^\n:?]{0,60}:\W*\Z"
    r"|\b(?:asked|asks):\W*\Z",
    re.I,
)
# "Sure! Let me carefully look at the image.", "Here is my answer"
_INTRODUCTION = re.compile(
    r"\W*(?:(?:sure|certainly|of course|absolutely|okay|ok|alright|great|hello|hi|thank"
    r" you|thanks)\b\W*)?"
    r"(?:(?:(?:let me|let's|let us|i will|i'll|i am going to|i'm going to|i need to|we need"
    r" to|first) (?:\w{1,12}ly )?"
    r"(?:think|look|see|analy[sz]e|examine|consider|read|break|answer|restate|repeat|start|begin|explain|go|take"
    r"|work|reason|describe)|here(?:'s| is) (?:my|the|an?) (?:\w{1,12}"
    r" )?(?:answer|analysis|explanation|response)"
    r"|to answer|looking at)\b[^.:?!,\n]{0,120})?\W*",
    re.I,
)
# A name of an option, "Yes" or a label may be an answer already.
_NO_INTRODUCTION = re.compile(r"\b(?:[A-HJ-Z]|[Yy]es|[Nn]o|next|another)\b|[Ee]ntail|[Cc]ontradict")

# "B.", "1. Yes,", "Contradiction", or JSON
_ANSWER_AT_START = re.compile(
    r"\W*(?:\d{1,2}[.)]\s*)?(?:[A-HJ-Z](?=[.,:;)\]>]|\W*(?:\n|\Z))|\d{1,2}\W*\Z"
    r"|(?i:(?:yes|no)\b(?=[.,:;!]|\W*(?:\n|\Z))(?!, (?:i|we)\b)|entail|contradict))|\s*[\[{]"
)
# "The answer is B", "Label: contradiction", anywhere
_GIVES_ANSWER = re.compile(
    r"(?i:\b(?:answer|label|choice|verdict|image)\b\W{0,6}(?:is\b|[:=])\W{0,6})"
    r"(?:[A-HJ-Z]|\d{1,2}|(?i:yes|no|entail\w{0,5}|contradict\w{0,4}))\b(?! or\b)"
)

_BeginningKind: TypeAlias = Literal["repetition", "other", "fixed", "announced", "turn"]
"""What begins.

- repetition: the row's own question again.
- other: the question of another row.
- fixed: a question without texts of a row, which is the same for all rows: "What is funny here?"
- announced: one after "Question:".
- turn: a turn of a chat: "USER:".
"""

_Before: TypeAlias = Literal["nothing", "quoting", "introduction", "answer", "words"]
"""What stands between the start of the answer and a beginning.

- nothing: no word.
- quoting: "The question is:".
- introduction: words that only lead to an answer: "Let me look at the image."
- answer: an answer: "B.", "The answer is yes".
- words: words that may be an answer or not.
"""

_ENDS_AFTER: Final[Mapping[_BeginningKind, Sequence[_Before]]] = {
    "repetition": ("answer",),
    "fixed": ("answer", "words"),
    "announced": ("answer", "words"),
    "other": ("answer", "words", "introduction"),
    "turn": ("answer", "words", "introduction"),
}
"""What must stand before a beginning of each kind, so that it ends the answer."""


class _Beginning(NamedTuple):
    """The words with which a question or a turn begins: "Question:", "USER:", "How about this".

    Attributes:
        start: where they begin.
        end: where they end; of the prompt's question, where the output stops repeating it.
        kind: what they begin.
    """

    start: int
    end: int
    kind: _BeginningKind


def _end_of_answer(
    output: str, prompt: str, shown_texts: Sequence[str], other_wordings: Wordings | None
) -> int | None:
    """Where the first question or turn begins that the model invents; None if there is none.

    It goes through the beginnings in their order. The first that has before it what `_ENDS_AFTER`
    names for its kind, mostly an answer, is invented. Others are passed over; where one is the
    row's own question, the answer is looked for after it. The arguments are those of
    `before_next_question`.
    """
    output_without_thoughts, answer_start, _ = answer_span(output)
    text = plain(output_without_thoughts)
    search_from = answer_start
    # Of several tagged answers `answer_span` gives the last one, which may be that to an invented
    # question. Then the first one is the answer, and all from the start on belongs to it.
    first_answer = _ANSWER_END.search(text, 0, answer_start)
    if first_answer is not None:
        search_from = first_answer.end()
        answer_start = 0

    line_starts = word_lines(text, search_from)
    if not line_starts:  # All that is looked for begins a line.
        return None
    question_words = first_words(plain(prompt))
    if other_wordings is not None:
        question_words |= other_wordings.first_words | first_words(plain(shown_texts[0]))
    if not may_begin_question(text, line_starts, question_words):
        return None
    questions = [PromptQuestion(prompt, shown_texts)]
    if other_wordings is not None:
        questions += other_wordings.questions_in(text, line_starts, shown_texts[0])

    answer_start = questions[0].end_of_echo(text, answer_start)
    repeated_to = answer_start  # Beginnings before it belong to a repetition of the own question.
    for beginning in _beginnings(text, line_starts, questions):
        if beginning.start < repeated_to:
            continue
        before = _what_stands_before(beginning, text, answer_start)
        if before in _ENDS_AFTER[beginning.kind]:
            return beginning.start
        if beginning.kind in ("repetition", "fixed"):
            repeated_to = beginning.end
            if before != "words":  # Words may be the answer, and then it stands before.
                answer_start = beginning.end  # The answer comes after the repeated question.
    return None


def _what_stands_before(beginning: _Beginning, text: str, start: int) -> _Before:
    """What stands between the start of an answer and the beginning of a question or turn."""
    if WORD.search(text, start, beginning.start) is None:
        return "nothing"
    last_words = text[max(start, beginning.start - _LONGEST_INTRODUCTION) : beginning.start]
    if _QUOTES_A_QUESTION.search(last_words[-_LONGEST_QUOTING:]):
        return "quoting"
    are_all_words = beginning.start - len(last_words) == start  # more are no introduction
    if are_all_words and _is_introduction(last_words):
        return "introduction"
    words_at_start = text[start : min(beginning.start, start + _LONGEST_INTRODUCTION)]
    if _ANSWER_AT_START.match(words_at_start) or _GIVES_ANSWER.search(last_words):
        return "answer"
    return "answer" if _is_in_circle(beginning, text, start) else "words"


def _is_in_circle(beginning: _Beginning, text: str, start: int) -> bool:
    """Whether the words before a repetition of the question follow it again: a model in a loop.

    "a boat" is such an answer in "a boat. What is it? a boat. What is it? a", where the output may
    be cut off: the fewer words are compared.
    """
    if beginning.kind != "repetition":
        return False
    words = WORD.finditer(text, start, beginning.start)
    words_again = WORD.finditer(text, beginning.end)
    return all(word[0] == again[0] for word, again in zip(words, words_again, strict=False))


def _is_introduction(text: str) -> bool:
    """Whether a text says no more than that an answer follows: "Let me look at the image"."""
    if _NO_INTRODUCTION.search(text):
        return False
    return text.rstrip(" *\n").endswith(":") or _INTRODUCTION.fullmatch(text) is not None


def _beginnings(
    text: str, line_starts: Sequence[int], questions: Sequence[PromptQuestion]
) -> list[_Beginning]:
    """The beginnings of questions and turns in lines of a text, in the order of `_order`.

    They come from three sources: the opening words of the prompt's question, "Question:" or
    "USER:", and the names of its texts, such as "Claim:".

    Args:
        text: the output.
        line_starts: where the lines start (`word_lines`).
        questions: the row's own question, in the wording of the prompt first.
    """
    beginnings: list[_Beginning] = []
    repetition_ends: dict[int, int] = {}  # where a repetition ends, by the start of its first word
    for first_word, beginning in _openings(text, line_starts, questions):
        beginnings.append(beginning)
        if beginning.kind == "repetition":
            repetition_ends[first_word] = beginning.end

    for announced in _announced(text, line_starts, questions[0]):
        next_word = WORD.search(text, announced.end)
        end = None if next_word is None else repetition_ends.get(next_word.start())
        if end is None:
            beginnings.append(announced)
        else:  # "Question:" and then the row's own question
            beginnings.append(_Beginning(announced.start, end, "repetition"))
    beginnings += _new_texts(text, line_starts, questions[0])
    return sorted(beginnings, key=_order)


def _openings(
    text: str, line_starts: Sequence[int], questions: Sequence[PromptQuestion]
) -> Iterator[tuple[int, _Beginning]]:
    """Yield the places where the prompt's question begins, each with the start of its first word.

    That first word may stand after a number: "2. Does the image ...".
    """
    for opening in itertools.chain.from_iterable(question.openings for question in questions):
        for match in match_lines(opening.pattern, text, line_starts):
            kind, end = opening.compare(text, match.end())
            if kind == "unknown":
                continue
            if kind == "other" and opening.asks and "?" not in _line(text, match.end()):
                # "This image is a visual metaphor. It compares ...": the prompt asks there.
                continue
            yield match.start("words"), _Beginning(match.start(), end, kind)


def _order(beginning: _Beginning) -> tuple[int, bool]:
    """Sort key: by place, and at one place the question of another row first.

    So an exemplar is not taken for the row's own question, even if all of the prompt is repeated.
    """
    return beginning.start, beginning.kind != "other"


def _announced(
    text: str, line_starts: Sequence[int], question: PromptQuestion
) -> Iterator[_Beginning]:
    """Yield the words that announce a question or a turn: "Question:", "USER:"."""
    for match in match_lines(_QUESTION, text, line_starts):
        # "Question 2:" heads an answer where the prompt numbers its questions.
        if not (match["number"] and question.has_numbers):
            yield _Beginning(match.start(), match.end(), "announced")
    for match in match_lines(_TURN, text, line_starts):
        yield _Beginning(match.start(), match.end(), "turn")


def _new_texts(
    text: str, line_starts: Sequence[int], question: PromptQuestion
) -> Iterator[_Beginning]:
    """Yield the names of texts, such as "Claim:", that another text than the row's follows."""
    if question.labels is None:
        return
    for match in match_lines(question.labels, text, line_starts):
        first_word = WORD.search(text, match.end())
        if first_word is not None and question.is_new_text(_line(text, first_word.start())):
            yield _Beginning(match.start(), match.end(), "other")


def _line(text: str, start: int) -> str:
    """The rest of a line from `start` on, at most 2,000 characters."""
    return text[start : start + _LONGEST_TEXT].partition("\n")[0]
