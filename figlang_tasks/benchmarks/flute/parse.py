"""From a model's words to a label and an explanation, for both prompts of FLUTE.

The released code (``generateLabel&Explanations.py`` of tuhinjubcse/model-in-the-loop-fig-lang at
44bd0de) reads prompt v2 alone, and does not foresee the looser forms of models that were not
trained on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from figlang_tasks.answers.entailment import Label, entailment
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.scoring.explained import Explained

Prompt: TypeAlias = Literal["v1", "v2"]

# What may stand before the word that opens an answer: quotation marks, emphasis, list marks,
# "Answer:".
_LEAD = (
    r"[\s\"'“”‘’*_#>`(\[-]{0,16}(?:(?:final |my )?(?:answer|label|verdict)(?:"
    r" is)?[\s*_\"'“”:]{1,8})?"
)
# What may stand behind it. A quotation mark after a space is not its end: it may open the
# explanation.
_CLOSE = r"[\"'”’*_`)\]]{0,4}[.:;,!]*[\"'”’*_`)\]]{0,4}[\s:;,*_–—-]*"
_ENTAILS = r"entail(?:s|ed|ment)?"
_CONTRADICTS = r"contradict(?:s|ed|ion|ory)?"
_OPENING = {
    "v1": re.compile(rf"\A{_LEAD}(?:(?P<zero>yes)|(?P<one>no))\b{_CLOSE}", re.I),
    "v2": re.compile(rf"\A{_LEAD}(?:(?P<one>{_ENTAILS})|(?P<zero>{_CONTRADICTS}))\b{_CLOSE}", re.I),
}
# The option list said again, not an answer: "Entails or Contradicts", "Yes/No".
_ECHO = re.compile(
    r"\A[\s\"'“”‘’*_]{0,4}(?:or|/|and|\|)[\s\"'“”‘’*_]{0,4}(?:yes|no|entail|contradict)", re.I
)


def parse_official(output: str | None, prompt: Prompt = "v2") -> Explained:
    """Label and explanation by the papers' form of answer.

    Prompt v2: "Entails." anywhere, else "Contradicts." anywhere, as released (so "Contradicts. It
    never says Entails." is an entailment); else the word that opens the answer. Prompt v1: "Yes" at
    the start is a contradiction, "No" an entailment, which is not explained. The explanation is
    None there, and without an output.
    """
    found = _released(output) if prompt == "v2" and isinstance(output, str) else None
    if found is not None:
        return found
    answer = find_answer(output)
    if isinstance(answer, Read):
        return Explained(None, answer.status, answer.rule, None if output is None else "")
    return _opening(answer, prompt) or Explained(None, "unreadable", "none", answer.raw)


_MARKUP = re.compile(r"[*_`\"'“‘]\Z")


def _released(output: str) -> Explained | None:
    for word, label, rule in (
        ("Entails.", 1, "released-entails"),
        ("Contradicts.", 0, "released-contradicts"),
    ):
        start = output.find(word)
        if start >= 0:
            end = start + len(word)
            again = output.find(word, end)
            explanation = output[end : again if again >= 0 else len(output)]
            if _MARKUP.search(
                output[max(0, start - 4) : start]
            ):  # **Entails.** It ..., which T5 never writes
                explanation = explanation.lstrip("*_`\"'”’")
            return Explained(label, "read", rule, explanation.strip())
    return None


def _opening(answer: Answer, prompt: Prompt) -> Explained | None:
    found = _OPENING[prompt].match(answer.raw)
    if found is None:
        return None
    label = 1 if found["one"] else 0
    end = found.end("one" if label else "zero")
    if _ECHO.match(answer.raw[end : end + 40]):
        return None
    rest = answer.raw[found.end() :].strip()
    if prompt == "v1":
        return Explained(
            label, "read", "opening-no" if label else "opening-yes", None if label else rest
        )
    return Explained(label, "read", "opening-entails" if label else "opening-contradicts", rest)


CONTRADICT = r"contradict\w*(?! (?:itself|themselves)\b)"
"""What an answer to prompt v1 speaks of."""


def parse_careful(
    output: str | None, prompt: Prompt, prompt_texts: Sequence[str] = ()
) -> Read[Label]:
    """The label as a careful reader takes it; `prompt_texts` are premise and hypothesis.

    Prompt v1 asks whether the sentences contradict.
    """
    if prompt == "v2":
        return entailment(output, prompt_texts)
    found = yes_no(output, CONTRADICT, prompt_texts)
    return Read(None if found.value is None else 0 if found.value else 1, found.status, found.rule)
