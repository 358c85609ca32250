"""Where an answer ends: before a next question, with which a model that was not tuned for chats goes on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from figlang_tasks.answers.text import span

_FEWEST_WORDS = 3
_WORD = re.compile(r"\w+")


def without_echoes(
    doc: Mapping[str, Any], results: Sequence[Any], doc_to_text: Callable[[Mapping[str, Any]], str]
) -> list[Any]:
    """The outputs, each up to where the model goes on with a next question (`before_echo`); None stays None."""
    if not any(isinstance(each, str) and "\n" in each for each in results):
        return list(results)
    prompt, own = doc_to_text(doc), [each for each in doc.values() if isinstance(each, str) and each.strip()]
    return [before_echo(each, prompt, own) if isinstance(each, str) else each for each in results]


def before_echo(output: str, prompt: str, own: Sequence[str]) -> str:
    """The part of an output before a line that begins as the question does, or with the mark of a picture.

    Lines of thoughts do not count. The words of the question are those with which the prompt or its last paragraph
    begins, up to a text of the row. The row's own question behind a colon is quoted, and is no echo.

    Args:
        output: the model's output.
        prompt: what it was asked.
        own: the texts of the row; others stand in their places where a model invents a question.
    """
    raw, start, end = span(output)
    picture = output.find("\n<image>")
    ends = [picture] if picture >= 0 and output[:picture].strip() else []
    for words, behind in _openings(prompt, own):
        for found in _line(words).finditer(raw, start, end):
            before = raw[start : found.start()]
            is_quoted = before.rstrip().endswith(":") and raw.startswith(behind, found.end())
            if _WORD.search(before) and not is_quoted:
                ends.append(found.start())
                break
    return output[: min(ends)].rstrip() if ends else output


def _openings(prompt: str, own: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Words that begin a question, and what follows them in the prompt."""
    heads = [each.strip().partition("\n")[0] for each in own]
    for paragraph in dict.fromkeys((prompt.strip(), prompt.strip().rpartition("\n\n")[2])):
        for line in paragraph.splitlines():
            end = min((at for head in heads if (at := line.find(head)) >= 0), default=len(line))
            if len(_WORD.findall(line, 0, end)) >= _FEWEST_WORDS:
                yield line[:end], line[end:][:20]
                break


@lru_cache(maxsize=64)
def _line(words: str) -> re.Pattern[str]:
    """A pattern of a line that begins with these words, perhaps behind "Question 2:"."""
    plain = r"[^\w\n]+".join(_WORD.findall(words))
    quote = r"[^\w\n]*[\"'\u201c\u2018\u00ab]" if words.rstrip().endswith('"') else r"(?!\w)"
    return re.compile(rf"(?<=\n)[^\w\n]*(?:\w{{1,9}} ?\d{{0,3}}[:.)][^\w\n]*)?{plain}{quote}", re.I)
