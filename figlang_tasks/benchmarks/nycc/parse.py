"""From a model's words to a letter or an explanation, by the rules of the released scripts.

Source: jmhessel/caption_contest_corpus at d5f68b6, ``gpt4/gpt4_from_description.py`` (from a
description) and ``lite_llm_leaderboard/run_leaderboard_inference.py`` (from pixels), with their
defects. What they do last is left out: a letter that no rule finds is asked of a second model and
then drawn at random (description), or is E of five and B of two (pixels, :data:`DEFAULTS`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.thoughts import EXPLAINED, explanation_in_thought
from figlang_tasks.answers.verdict import Read, find_answer

DEFAULTS = {5: "E", 2: "B"}
"""What the script for pixels takes where it finds no letter, by the number of options."""

_AT_THE_END = (
    "Answer:\\s*",
    "(?:My final answer is|I finally choose|In conclusion, [^.!?]*answer is)\\s+",
    "(?:Therefore|Thus|So|Hence|Ultimately),\\s+(?:the answer is|I choose|I select)\\s+",
)


def parse_official(output: str, options: int, pixels: bool) -> str | None:
    """The letter that the released rules find.

    From a description: the one of "Answer: A" to "Answer: E" that occurs, of two options too; none
    where several do. From pixels: the first "Final Answer: X"; else, at the end of the last
    paragraph, "Answer: X" or "Therefore, the answer is X" and the like.
    """
    if not pixels:
        found = [letter for letter in "ABCDE" if f"Answer: {letter}" in output]
        return found[0] if len(found) == 1 else None
    letter, last = "([A-E])" if options == 5 else "([AB])", output.split("\n\n")[-1]
    rules = [(f"Final Answer: {letter}", output)]
    rules += [(rf"(?:^|[.!?]\s+){words}{letter}(?:\s*[.!?]?)?$", last) for words in _AT_THE_END]
    return next((match[1] for pattern, text in rules if (match := re.search(pattern, text))), None)


def letter(
    output: str | None, options: int, pixels: bool, captions: Sequence[str] | None = None
) -> Read[str]:
    """The letter of an answer: by the released rules, else as the readers of all benchmarks find
    it; never a guess.

    The readers stand in the place of the released script's second model. Thoughts are left out.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):
        return answer
    official = parse_official(answer.raw, options, pixels)
    final_answers = set(re.findall("Final Answer: ([A-E])", answer.raw))
    if len(final_answers) > 1:
        official = None  # The first may be the prompt's, repeated; our reader takes the last.
    if official is not None and ord(official) - ord("A") < options:
        return Read(official, "read", "official")
    return common(output, options, captions)


def common(output: str | None, options: int, captions: Sequence[str] | None = None) -> Read[str]:
    """The letter of an answer by :func:`figlang_tasks.answers.option.option`, which also knows the
    captions.
    """
    reading = option(output, options, texts=captions)
    letter_read = None if reading.value is None else "ABCDE"[reading.value]
    return Read(letter_read, reading.status, reading.rule)


def explanation(output: str | None) -> Read[str]:
    """The explanation in an answer, by the released rules: what stands behind the first
    "Explanation:", up to a second.

    Without one it is the whole answer. Where that is nothing, it is what a thought says that is
    meant for a reader.
    """
    answer = find_answer(output)
    found = answer if isinstance(answer, Read) else _released_explanation(answer)
    if output is None or found.value:
        return found
    in_thought = explanation_in_thought(output)
    return Read(in_thought, "read", EXPLAINED) if in_thought else found


def _released_explanation(answer: Answer) -> Read[str]:
    text = answer.raw
    for mark in (
        "Here's my best explanation:",
        "Step 3: Explanation -",
        "Summary:",
        "explanation:",
    ):
        text = text.replace(mark, "Explanation:")
    _, marked, behind = text.partition("Explanation:")
    if not marked:
        return Read(text, "read", "whole")
    found = " ".join(behind.split("Explanation:")[0].split())
    return Read(found, "read", "explanation") if found else Read(None, "unreadable", "explanation")
