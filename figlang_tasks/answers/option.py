"""Which of several options an answer chooses: "The answer is (B)." gives 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from figlang_tasks.answers.announced import announced_option, announced_text, best_option
from figlang_tasks.answers.chinese import is_chinese
from figlang_tasks.answers.choices import Choices
from figlang_tasks.answers.option_analysis import OptionAnalysis
from figlang_tasks.answers.option_chinese import option_in_chinese
from figlang_tasks.answers.option_head import leading_option, lone_option
from figlang_tasks.answers.option_lists import affirmed_option
from figlang_tasks.answers.option_named import (
    fitting_option,
    only_option,
    option_by_text,
    option_of_last_paragraph,
)
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read, read_marked_parts


def option(
    output: str | None,
    options: int | Choices,
    *,
    texts: Sequence[str] | None = None,
    letters: bool = True,
    pictures: bool | None = None,
    places: Sequence[str] = (),
) -> Read[int]:
    """The 0-based option that an answer chooses; no value where a careful reader would doubt it.

    The first of these tiers that has evidence decides; its name is the `rule`:

    - ``alone``: nothing but the option: "B", "(B)", "Image B", "(A) the second image".
    - ``announced``: "the answer is B", "Answer: B", "I would select B", "it corresponds to B", "B
      is the best choice", "Therefore, B.", LaTeX's ``\\boxed{B}``. The last announcement counts,
      whatever stands before it.
    - ``head``: the answer begins with the option: "B. The man ...", "(A) 50°"; or a line that has
      nothing else.
    - ``judged``: of a list in which each option is judged, the one that is affirmed: "A - no, B -
      yes".
    - ``last_paragraph``: the only option that the last paragraph names.
    - ``named``: an option that is said to be it: "Box B fits closely", "Point B is closer".
    - ``only``: the only option that the whole answer names.
    - ``text``: the text of one option, in the last sentence, or else in the first.

    What is denied, compared ("rather than B") or conditional is no evidence, nor are the items of a
    list. Two different options are ambiguous (rule ``conflict``): several after one announcement,
    two boxes, a letter with another option's text after it; two in any other tier too, unless the
    later corrects the earlier (``correction``).

    Args:
        output: the model's output; None if there is none.
        options: how many there are; or `Choices`, which say all that the arguments below do.
        texts: the text of each option, where the prompt shows them.
        letters: whether the options are called A, B, C ...; else they are called 1, 2, 3 ...
        pictures: whether the options are pictures, so that "the second image" names one; None if
            that is not known (`Choices.are_pictures`).
        places: regular expressions, without groups of their own, of the places of the options in
            one picture.

    Returns:
        The 0-based option; with one of these rules, or ``refusal``, ``nothing``, ``thought``,
        ``empty``, ``missing``. An option that was not offered has the status ``out_of_range``.

    Raises:
        TypeError: `output` is neither str nor None.
        ValueError: there are not as many texts as options.
    """
    if not isinstance(options, Choices):
        options = Choices(
            count=options,
            names="letters" if letters else "numbers",
            texts=None if texts is None else tuple(texts),
            are_pictures=pictures,
            places=tuple(places),
        )
    return read_marked_parts(output, partial(_read, choices=options), boxes=False)


def _read(answer: Answer, choices: Choices) -> Read[int]:
    """The option that the first tier with evidence gives, or why there is none.

    The tiers read options that were not offered too ("E" of four): they are out of range.
    """
    if choices.names == "letters" and is_chinese(answer.raw):
        reading_of_chinese = option_in_chinese(answer, choices)
        if reading_of_chinese is not None:
            return reading_of_chinese
    analysis = OptionAnalysis(answer, choices)
    for tier in _TIERS:
        reading = tier(analysis)
        if reading is None:
            continue
        if reading.value is not None and not 0 <= reading.value < choices.count:
            return Read(None, "out_of_range", reading.rule)
        return reading
    if analysis.declines:
        return Read(None, "refused", "refusal")
    return Read(None, "unreadable", "nothing")


_TIERS: tuple[Callable[[OptionAnalysis], Read[int] | None], ...] = (
    lone_option,
    announced_option,
    announced_text,
    affirmed_option,
    leading_option,
    best_option,
    option_of_last_paragraph,
    fitting_option,
    only_option,
    option_by_text,
)
"""The tiers of `option` in their order; each gives None where it has no evidence."""
