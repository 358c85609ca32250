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

from figlang_tasks.answers.output import answer_span
from figlang_tasks.answers.prompt_question import COLON, LINE_START, WORD, PromptQuestion, plain

Row: TypeAlias = Mapping[str, Any]
ShownTexts: TypeAlias = Callable[[Row], Sequence[str]]
"""Gives the texts of a row that its prompt may show, in the order of the prompt."""

# Characters that are looked at
_LONGEST_INTRODUCTION: Final = 300
_LONGEST_QUOTING: Final = 120
_LONGEST_TEXT: Final = 2000
_NEVER_SHOWN: Final = frozenset(
    (
        "id",
        "data",
        "dataset",
        "config",
        "label",
        "answer",
        "gold",
        "target",
        "reference",
        "references",
        "explanation",
    )
)


# --- an output, and the part of it that answers ---


class Output(str):
    """What a model said up to the next question that it invented; `whole` is all that it said.

    Readers take it for a plain string. A paper's own rule reads `whole`, as the released code did.
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
    """All that a model said, its invented questions too; anything but an `Output` as it is."""
    return output.whole if isinstance(output, Output) else output


def without_next_questions(
    row: Row,
    outputs: Sequence[Any],
    doc_to_text: Callable[[Row], Any],
    shown_texts: ShownTexts,
    other_wordings: Callable[[Row], Sequence[str]] | None = None,
) -> list[Any]:
    """The outputs of a row, each up to the next question that the model invents.

    Outputs that are no text, such as scores, stay as they are.

    Args:
        row: the document.
        outputs: what the model said about it.
        doc_to_text: gives the prompt.
        shown_texts: gives the texts of the row that the prompt may show.
        other_wordings: gives the question about the row in other words, where the benchmark has
            several.
    """
    if not any(isinstance(output, str) and "\n" in output for output in outputs):
        return list(outputs)
    prompt = doc_to_text(row)
    if not isinstance(prompt, str):  # of a user's own task
        return list(outputs)
    prompts = [prompt]
    if other_wordings is not None:
        prompts += other_wordings(row)
    texts = shown_texts(row)
    answers: list[Any] = []
    for output in outputs:
        if isinstance(output, str):
            output = before_next_question(output, prompts, texts)
        answers.append(output)
    return answers


def texts_of_row(row: Row) -> list[str]:
    """The texts of a row that a prompt may show, where the benchmark does not declare them."""
    texts = []
    for name, text in row.items():
        if isinstance(text, str) and name not in _NEVER_SHOWN:
            texts.append(text)
    return texts


def before_next_question(output: str, prompts: Sequence[str], shown_texts: Sequence[str]) -> str:
    """The part of an output before the next question or turn that the model invents.

    Args:
        output: what the model said.
        prompts: what it was asked, and other wordings of it; of several questions in a prompt the
            last is the row's.
        shown_texts: the row's texts, in the order in which they stand in a prompt; those that do
            not are left out.

    Returns:
        an `Output` if something is cut off, else `output` itself.
    """
    if "\n" not in output:
        return output
    end = _end_of_answer(output, [PromptQuestion(prompt, shown_texts) for prompt in prompts])
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
_NO_INTRODUCTION = re.compile(r"\b(?:[A-HJ-Z]|[Yy]es|[Nn]o|next|another)\b|[Ee]ntail|[Cc]ontradict")

_ANSWER_AT_START = re.compile(
    r"\W*(?:\d{1,2}[.)]\s*)?(?:[A-HJ-Z](?=[.,:;)\]>]|\W*(?:\n|\Z))|\d{1,2}\W*\Z"
    r"|(?i:(?:yes|no)\b(?=[.,:;!]|\W*(?:\n|\Z))(?!, (?:i|we)\b)|entail|contradict))|\s*[\[{]"
)
_GIVES_ANSWER = re.compile(
    r"(?i:\b(?:answer|label|choice|verdict|image)\b\W{0,6}(?:is\b|[:=])\W{0,6})"
    r"(?:[A-HJ-Z]|\d{1,2}|(?i:yes|no|entail\w{0,5}|contradict\w{0,4}))\b(?! or\b)"
)

_MarkKind: TypeAlias = Literal["repetition", "other", "fixed", "announced", "turn"]
"""What begins: the row's own question again · the question of another row · a question without
texts of a row, which is the same for all rows · one that "Question:" announces · a turn of a chat.
"""

_Before: TypeAlias = Literal["nothing", "quoting", "introduction", "answer", "words"]
"""What stands before: no word · "The question is:" · words that only lead to an answer · an answer
· words that may be an answer or not."""

_ENDS_AFTER: Final[Mapping[_MarkKind, Sequence[_Before]]] = {
    "repetition": ("answer",),
    "fixed": ("answer", "words"),
    "announced": ("answer", "words"),
    "other": ("answer", "words", "introduction"),
    "turn": ("answer", "words", "introduction"),
}
"""What must stand before a mark of each kind, so that it ends the answer."""


class _Mark(NamedTuple):
    """The words with which a question or a turn begins in an output.

    Attributes:
        start: where they begin.
        end: where they end.
        kind: what they begin.
    """

    start: int
    end: int
    kind: _MarkKind


def _end_of_answer(output: str, questions: Sequence[PromptQuestion]) -> int | None:
    """Where the first question or turn begins that the model invents; None if there is none.

    Args:
        output: what the model said.
        questions: the row's own question, in the wording of the prompt first.
    """
    output_without_thoughts, answer_start, _ = answer_span(output)
    text = plain(output_without_thoughts)
    search_from = answer_start
    # Of several tagged answers `answer_span` gives the last one, which may be that to an invented
    # question.
    first_answer = _ANSWER_END.search(text, 0, answer_start)
    if first_answer is not None:
        search_from = first_answer.end()
        answer_start = 0

    answer_start = questions[0].end_of_echo(text, answer_start)
    repeated_to = answer_start  # Marks before it belong to a repetition of the own question.
    for mark in _marks(text, search_from, questions):
        if mark.start < repeated_to:
            continue
        before = _what_stands_before(mark, text, answer_start)
        if before in _ENDS_AFTER[mark.kind]:
            return mark.start
        if mark.kind in ("repetition", "fixed"):
            repeated_to = mark.end
            if before != "words":
                answer_start = mark.end  # The answer comes after the repeated question.
    return None


def _what_stands_before(mark: _Mark, text: str, start: int) -> _Before:
    """What stands between the start of an answer and a mark."""
    if WORD.search(text, start, mark.start) is None:
        return "nothing"
    last_words = text[max(start, mark.start - _LONGEST_INTRODUCTION) : mark.start]
    if _QUOTES_A_QUESTION.search(last_words[-_LONGEST_QUOTING:]):
        return "quoting"
    is_all = mark.start - len(last_words) == start
    if is_all and _is_introduction(last_words):
        return "introduction"
    first_words = text[start : min(mark.start, start + _LONGEST_INTRODUCTION)]
    if _ANSWER_AT_START.match(first_words) or _GIVES_ANSWER.search(last_words):
        return "answer"
    return "answer" if _is_in_circle(mark, text, start) else "words"


def _is_in_circle(mark: _Mark, text: str, start: int) -> bool:
    """Whether the words before a repetition of the question follow it again: a model in a loop."""
    if mark.kind != "repetition":
        return False
    words = WORD.finditer(text, start, mark.start)
    words_again = WORD.finditer(text, mark.end)
    return all(word[0] == again[0] for word, again in zip(words, words_again, strict=False))


def _is_introduction(text: str) -> bool:
    """Whether a text says no more than that an answer follows: "Let me look at the image"."""
    if _NO_INTRODUCTION.search(text):
        return False
    return text.rstrip(" *\n").endswith(":") or _INTRODUCTION.fullmatch(text) is not None


def _marks(text: str, start: int, questions: Sequence[PromptQuestion]) -> list[_Mark]:
    """The marks of questions and turns, in the order of `_order`."""
    marks: list[_Mark] = []
    repetition_ends: dict[int, int] = {}  # where a repetition ends, by the start of its first word
    for opening in itertools.chain.from_iterable(question.openings for question in questions):
        for match in opening.pattern.finditer(text, start):
            kind, end = opening.compare(text, match.end())
            if kind == "unknown":
                continue
            if kind == "other" and opening.asks and "?" not in _line(text, match.end()):
                # "This image is a visual metaphor. It compares ...": the prompt asks there.
                continue
            marks.append(_Mark(match.start(), end, kind))
            if kind == "repetition":
                repetition_ends[match.start("words")] = end
    for mark in _announced(text, start, questions[0]):
        next_word = WORD.search(text, mark.end)
        if next_word is not None and next_word.start() in repetition_ends:
            # "Question:" and then the row's own question
            mark = _Mark(mark.start, repetition_ends[next_word.start()], "repetition")
        marks.append(mark)
    marks += _new_texts(text, start, questions[0])
    return sorted(marks, key=_order)


def _order(mark: _Mark) -> tuple[int, bool]:
    """Sort key that puts the question of another row first where several marks begin.

    So an exemplar is not taken for the row's own question, even if all of the prompt is repeated.
    """
    return mark.start, mark.kind != "other"


def _announced(text: str, start: int, question: PromptQuestion) -> Iterator[_Mark]:
    """Yield the marks of words that announce a question or a turn: "Question:", "USER:"."""
    for match in _QUESTION.finditer(text, start):
        if not (match["number"] and question.has_numbers):
            yield _Mark(match.start(), match.end(), "announced")
    for match in _TURN.finditer(text, start):
        yield _Mark(match.start(), match.end(), "turn")


def _new_texts(text: str, start: int, question: PromptQuestion) -> Iterator[_Mark]:
    """Yield the marks of names such as "Claim:" that another text than the row's follows."""
    if question.labels is None:
        return
    for match in question.labels.finditer(text, start):
        first_word = WORD.search(text, match.end())
        if first_word is not None and question.is_new_text(_line(text, first_word.start())):
            yield _Mark(match.start(), match.end(), "other")


def _line(text: str, start: int) -> str:
    """The rest of a line from `start` on, at most 2,000 characters."""
    return text[start : start + _LONGEST_TEXT].partition("\n")[0]
