"""The released rules that extract a letter or an explanation from a model's output.

Source: jmhessel/caption_contest_corpus at d5f68b6, ``gpt4/gpt4_from_description.py`` (from a
description) and ``lite_llm_leaderboard/run_leaderboard_inference.py`` (from pixels), with their
defects. What they do last is left out: a letter that no rule finds is asked of a second model and
then drawn at random (description), or is E of five and B of two (pixels, `DEFAULTS`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from figlang_tasks.answers.option import option
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.thoughts import EXPLAINED, explanation_in_thought
from figlang_tasks.answers.verdict import Read, find_answer

_LETTERS = "ABCDE"

DEFAULTS = {5: "E", 2: "B"}
"""The letter that the script for pixels takes if it finds none, by the number of options."""

_ANNOUNCEMENTS = (
    r"Answer:\s*",
    r"(?:My final answer is|I finally choose|In conclusion, [^.!?]*answer is)\s+",
    r"(?:Therefore|Thus|So|Hence|Ultimately),\s+(?:the answer is|I choose|I select)\s+",
)
"""Words before the letter at the end of an output, in the order in which the script for pixels
looks for them.
"""

_EXPLANATION_MARK = "Explanation:"
_OTHER_EXPLANATION_MARKS = (
    "Here's my best explanation:",
    "Step 3: Explanation -",
    "Summary:",
    "explanation:",
)
"""Words that the released script replaces by `_EXPLANATION_MARK`, in this order."""


# --- letters ---


def parse_official(output: str, options: int, pixels: bool) -> str | None:
    """The letter that the released rules find; None if they find none.

    From a description: the one of "Answer: A" to "Answer: E" that occurs, of two options too; none
    if several do. From pixels: the first "Final Answer: X"; else, at the end of the last paragraph,
    "Answer: X" or "Therefore, the answer is X" and the like.

    Args:
        output: the model's output.
        options: the number of options, 5 or 2.
        pixels: whether the model saw the cartoon; otherwise its description.
    """
    return _letter_from_pixels(output, options) if pixels else _letter_from_description(output)


def _letter_from_description(output: str) -> str | None:
    """The only letter that stands behind "Answer: "; None if there is none, or if several do."""
    letters = [letter for letter in _LETTERS if f"Answer: {letter}" in output]
    return letters[0] if len(letters) == 1 else None


def _letter_from_pixels(output: str, options: int) -> str | None:
    """The letter of the first rule that finds one in an output; None if none does."""
    letter_pattern = "([A-E])" if options == 5 else "([AB])"
    # "Final Answer: B" counts anywhere, even in "Final Answer: Because".
    final_answer = re.search(f"Final Answer: {letter_pattern}", output)
    if final_answer is not None:
        return final_answer[1]
    # The other announcements must begin a sentence, and their letter must end the last paragraph.
    last_paragraph = output.split("\n\n")[-1]
    for announcement in _ANNOUNCEMENTS:
        announced_answer = re.search(
            rf"(?:^|[.!?]\s+){announcement}{letter_pattern}(?:\s*[.!?]?)?$", last_paragraph
        )
        if announced_answer is not None:
            return announced_answer[1]
    return None


def letter(
    output: str | None, options: int, pixels: bool, captions: Sequence[str] | None = None
) -> Read[str]:
    """The letter of an answer by the released rules, else by the common reader; never a guess.

    The common reader (`common`) stands in for the released script's second model. Thoughts are left
    out.

    Args:
        output: the model's output; None if there is none.
        options: the number of options, 5 or 2.
        pixels: whether the model saw the cartoon; otherwise its description.
        captions: the options, by which the common reader also knows an answer.
    """
    answer = find_answer(output)
    if isinstance(answer, Read):  # no output, or none outside of thoughts: its status says which
        return answer
    official_letter = parse_official(answer.raw, options, pixels)
    final_answers = set(re.findall("Final Answer: ([A-E])", answer.raw))
    if len(final_answers) > 1:
        # An output may repeat "Final Answer: A" from the prompt before its own. The released rules
        # take the first one, so the common reader decides.
        official_letter = None
    # The rules for a description look for A to E, also if only A and B are offered.
    if official_letter is not None and official_letter in _LETTERS[:options]:
        return Read(official_letter, "read", "official")
    return common(output, options, captions)


def common(output: str | None, options: int, captions: Sequence[str] | None = None) -> Read[str]:
    """The letter of an answer by `figlang_tasks.answers.option`; no value if it reads none.

    Args:
        output: the model's output; None if there is none.
        options: the number of options, 5 or 2.
        captions: the options, by which the reader also knows an answer.
    """
    reading = option(output, options, texts=captions)
    if reading.value is None:
        return Read(None, reading.status, reading.rule)
    return Read(_LETTERS[reading.value], reading.status, reading.rule)


# --- explanations ---


def explanation(output: str | None) -> Read[str]:
    """The explanation in an answer by the released rules; its value is None or "" if there is none.

    It is what stands between the first "Explanation:" and a second one, or the whole answer without
    one. If that is nothing, it is the explanation that a thought holds for a reader.

    Args:
        output: the model's output; None if there is none.
    """
    answer = find_answer(output)
    # `find_answer` gives a `Read` without a value if nothing stands outside of thoughts.
    reading = answer if isinstance(answer, Read) else _read_explanation(answer)
    if output is None or reading.value:
        return reading
    thought_explanation = explanation_in_thought(output)
    if thought_explanation is None:
        return reading
    return Read(thought_explanation, "read", EXPLAINED)


def _read_explanation(answer: Answer) -> Read[str]:
    """The explanation in an answer that is not empty, by the released rules."""
    text = answer.raw
    for mark in _OTHER_EXPLANATION_MARKS:
        text = text.replace(mark, _EXPLANATION_MARK)
    if _EXPLANATION_MARK not in text:
        return Read(text, "read", "whole")
    behind_first_mark = text.split(_EXPLANATION_MARK)[1]  # up to the second one, if there is one
    explanation = " ".join(behind_first_mark.split())
    if not explanation:
        return Read(None, "unreadable", "explanation")
    return Read(explanation, "read", "explanation")
